"""ModuleResolves: a module would come from where it is believed to come from."""

from __future__ import annotations

import os.path
import re
from typing import Any

import attrs

from verikit.check import Check, Facts, Look
from verikit.errors import Cause
from verikit.finding import Finding
from verikit.probes import modules as probe
from verikit.values import freeze
from verikit.values import path as as_path
from verikit.verdict import FAIL, PASS, UNKNOWN

NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*\Z")


def _module(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
    if not isinstance(value, str) or not NAME.match(value):
        raise ValueError(f'module is a dotted name such as "sglang.srt"; got {value!r}')


def _words(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
    if value is not None and (not isinstance(value, str) or not value.strip()):
        raise ValueError(f"{field.name} is a non-empty string; got {value!r}")


def _env(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
    if not all(isinstance(key, str) and isinstance(item, str) for key, item in value.items()):
        raise ValueError(f"env is a mapping of names to strings; got {value!r}")


@attrs.frozen(repr=False)
class ModuleResolves(Check):
    """Under that interpreter of the host, importing `module` would be answered by the file or folder `to`, in that version.

    Found on disk, as the import system would, without importing it.
    to: its file, its package's folder, or any folder above it (links are resolved).
    version: of the distribution that owns the file, `"2.1.0"` taking `"2.1.0+cu121"` too; else of its `__version__`.
    python: as for SyntaxValid.  cwd: the folder that the program is started in by `-m`, or that holds its script: it comes
    first on the path.  env: variables added to the host's environment, such as PYTHONPATH.

    What else is true is a warning: a second distribution that owns the file, a copy further down the path.
    """

    module: str = attrs.field(validator=_module)
    to: str | None = attrs.field(default=None, kw_only=True, converter=attrs.converters.optional(as_path))
    version: str | None = attrs.field(default=None, kw_only=True, validator=_words)
    python: str = attrs.field(default="host", kw_only=True, validator=_words)
    cwd: str | None = attrs.field(default=None, kw_only=True, converter=attrs.converters.optional(as_path))
    env: Any = attrs.field(factory=dict, kw_only=True, converter=freeze, validator=_env)

    def look(self) -> Look:
        return Look(probe.resolve, module=self.module, to=self.to, python=self.python, cwd=self.cwd, env=self.env)

    def judge(self, facts: Facts) -> Finding:
        more = {**facts, "coverage": {"path_entries": {"examined": facts["entries"], "of": facts["entries"]}}}
        told = _told(facts)
        for rule in (_not_found, _elsewhere, _version):
            found = rule(self, facts)
            if found is not None:
                verdict, reason, cause = found
                return Finding(verdict, f"{reason} [{_who(self, facts)}]", facts=more, warnings=told, cause=cause)
        owner = f", {_owner(facts['owners'][0])}" if facts["owners"] else ""
        return Finding(PASS, f"{_from(self, facts)}{owner} [{_who(self, facts)}]", facts=more, warnings=told)


def _not_found(claim: ModuleResolves, facts: Facts) -> Any:
    if facts["kind"] is not None:
        return None
    reason = f"{claim.module} is found in none of {facts['entries']} entries of sys.path"
    if facts["unknown"]:
        return UNKNOWN, f"{reason}, but {facts['unknown'][0]} may find it by its own means", Cause.AMBIGUOUS
    if facts.get("open"):
        return UNKNOWN, f"{reason}, but its package changes its own __path__", Cause.AMBIGUOUS
    return FAIL, reason, None


def _elsewhere(claim: ModuleResolves, facts: Facts) -> Any:
    if claim.to is None:
        return None
    if facts["real"] is not None and _beneath(facts["real"], facts["file"], claim.to, facts.get("real_to")):
        return None
    loses = [other for other in facts["others"] if _beneath(other, other, claim.to, None)]
    why = f"; {loses[0]} is there too, and comes later on the path" if loses else ""
    return FAIL, f"{_from(claim, facts)}, not from {claim.to}{why}", None


def _beneath(real: str, file: str, to: str, real_to: str | None) -> bool:
    ends = {os.path.normpath(each) for each in (to, real_to) if each}
    return any(
        (os.path.normpath(each) + "/").startswith(end.rstrip("/") + "/") for each in (real, file) for end in ends
    )


def _version(claim: ModuleResolves, facts: Facts) -> Any:
    if claim.version is None:
        return None
    owners = [each for each in facts["owners"] if each["content"] is not False] or facts["owners"]
    seen = {each["version"] for each in owners} or ({facts["literal"]} if facts["literal"] else set())
    if not seen:
        return (
            UNKNOWN,
            f"{_from(claim, facts)}, which no installed distribution owns: its version can't be told",
            Cause.AMBIGUOUS,
        )
    fits = {each for each in seen if each == claim.version or each.partition("+")[0] == claim.version}
    if fits == seen:
        return None
    if fits:
        names = " and ".join(_owner(each) for each in owners[:3])
        return (
            UNKNOWN,
            f"{_from(claim, facts)}, which is owned by {names}: whose content it is can't be told",
            Cause.AMBIGUOUS,
        )
    shown = _owner(owners[0]) if owners else f"__version__ {facts['literal']}"
    return FAIL, f"{_from(claim, facts)}, {shown}; {claim.version} expected", None


def _from(claim: ModuleResolves, facts: Facts) -> str:
    where = facts["file"] or f"the interpreter itself ({facts['kind']})"
    return f"{claim.module} comes from {where}"


def _owner(row: Any) -> str:
    return f"{row['name']} {row['version']}" + (" (editable)" if row["editable"] else "")


def _who(claim: ModuleResolves, facts: Facts) -> str:
    who = facts["interpreter"]
    stated = ", default, not stated" if claim.python == "host" else ""
    return f"Python {'.'.join(map(str, who['version']))}, {who['executable']}{stated}"


def _told(facts: Facts) -> tuple[str, ...]:
    """What a person should know beside the answer."""
    told = []
    if len(facts["owners"]) > 1:
        names = " and ".join(_owner(each) for each in facts["owners"][:3])
        theirs = [_owner(each) for each in facts["owners"] if each["content"]]
        told.append(
            f"{names} both own {facts['file']}" + (f"; the content is that of {theirs[0]}" if len(theirs) == 1 else "")
        )
    for row in facts["stale"][:3]:
        told.append(f"{_owner(row)} has a copy at {row['file']}, which is not used")
    if facts["kind"] not in ("namespace", "frozen", "built-in") and facts["others"] and not facts["stale"]:
        told.append(f"{facts['others'][0]} has the name too, and is not used")
    if facts["owners"] and facts["owners"][0]["content"] is False:
        told.append(f"{facts['file']} was changed since {_owner(facts['owners'][0])} was installed")
    if facts["unknown"]:
        told.append(f"{facts['unknown'][0]} may answer imports by its own means")
    return tuple(told)
