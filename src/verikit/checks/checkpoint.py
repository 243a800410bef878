"""CheckpointIntact: a checkpoint that arrived whole, is what its own metadata says, and would run nothing when loaded."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import attrs

from verikit.check import Check, Facts, Host, Look
from verikit.errors import Cause
from verikit.finding import Finding, thaw_facts, unseen
from verikit.probes import checkpoint as probe
from verikit.probes import manifest as manifests
from verikit.probes import stability
from verikit.probes.formats import pickle_names
from verikit.text import count, exact_size
from verikit.text import size as show
from verikit.values import Frozen, moment, number, one_of, whole
from verikit.values import path as as_path
from verikit.verdict import FAIL, PASS, UNKNOWN, Verdict

DEPTHS = ("size", "structure", "content")

SECONDS = {"size": 60.0, "structure": 120.0, "content": 86400.0}
"""For one look at that depth. Every byte of a terabyte on a slow disk takes hours: `.timeout()` says when to give up."""

_DOTTED = re.compile(r"^[^\W\d]\w*(\.[^\W\d]\w*)+$")


# Fields.


def _flag(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
    if not isinstance(value, bool):
        raise TypeError(f"{field.name} is True or False; got {value!r}")


def _size(value: Any) -> int | None:
    return None if value is None else whole("size", value)


def _digest(value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise TypeError(f"digest is text such as 'sha256:…'; got {value!r}")
    try:
        ((name, digits),) = manifests.digest_of(value).items()
    except ValueError as error:
        raise ValueError(f"digest: {error}") from None
    return digits if "|" in name else f"{name}:{digits}"


def _manifest(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, Mapping):
        try:
            return Frozen(manifests.of_json(thaw_facts(value)))
        except ValueError as error:
            raise ValueError(f"manifest: {error}") from None
    return as_path(value)


def _keys(value: Any) -> Any:
    """{name: what is beneath it}: None (anything), a number of entries, or again such a mapping."""
    if value is None:
        return None
    if isinstance(value, str):
        value = (value,)
    if isinstance(value, Mapping):
        named = {key: _beneath(key, item) for key, item in value.items()}
    elif isinstance(value, (list, tuple, set, frozenset)):
        named = dict.fromkeys(sorted(value) if isinstance(value, (set, frozenset)) else value)
    else:
        raise TypeError(f"keys is a name, names, or {{name: what is beneath it}}; got {value!r}")
    if not named or not all(isinstance(key, str) and key for key in named):
        raise ValueError(f"keys names at least one top-level key of the checkpoint, as text; got {value!r}")
    return Frozen(named)


def _beneath(key: str, value: Any) -> Any:
    if value is None or value is ...:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return whole(f"keys[{key!r}]", value, unit="entries")
    return _keys(value)


def _newer(value: Any) -> float | None:
    return None if value is None else moment("newer_than", value)


def _stable(value: Any) -> float | None:
    return None if value is None else number("stable_for", value, above=0)


def _allow(value: Any) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else tuple(value)
    for name in names:
        if not isinstance(name, str) or not _DOTTED.match(name):
            raise ValueError(f"allow takes full dotted names such as 'myteam.config.Config', no patterns; got {name!r}")
    return names


@attrs.frozen(repr=False)
class CheckpointIntact(Check):
    """A checkpoint (a file, a folder or a glob) is whole, agrees with its own metadata, and runs nothing when loaded.

    depth: `"size"` (the file system's word), `"structure"` (headers, directories and indexes; no tensor byte is read), or
    `"content"` (every byte, against CRC-32s and digests; it loads the disk). Each finding says which was reached.
    size: bytes, of all its files together.  digest: `"sha256:…"` of the one file, read whole at any depth.
    manifest: what `seal` returned, or the path on the host of a sums file, a hub's file list, a model-signing bundle.
    keys: top-level keys that must be there: a name, names, or `{name: …}` with `…` (anything), a number of entries, or
    keys again; at content depth only the bytes beneath them are read.
    newer_than: seconds since the epoch, or a datetime; every file was written after it.
    stable_for: seconds for which nothing of it has changed, and nobody is writing.
    finite: no NaN or Inf in any tensor; at content depth only.
    pickle: `"safe"`: only names known to be harmless, or in `allow`; `"any"`: other names are warnings.

    A missing file is FAIL, an unreadable one UNKNOWN.  Nothing found in a folder is never a PASS.  No name that a pickle
    holds is ever imported.  Raises ValueError or TypeError for a value outside these.
    """

    absent: ClassVar[Verdict] = FAIL

    path: str = attrs.field(converter=as_path)
    depth: str = attrs.field(default="structure", kw_only=True, validator=one_of(*DEPTHS))
    size: int | None = attrs.field(default=None, kw_only=True, converter=_size)
    digest: str | None = attrs.field(default=None, kw_only=True, converter=_digest)
    manifest: Any = attrs.field(default=None, kw_only=True, converter=_manifest)
    keys: Any = attrs.field(default=None, kw_only=True, converter=_keys)
    newer_than: float | None = attrs.field(default=None, kw_only=True, converter=_newer)
    stable_for: float | None = attrs.field(default=None, kw_only=True, converter=_stable)
    finite: bool = attrs.field(default=False, kw_only=True, validator=_flag)
    pickle: str = attrs.field(default="safe", kw_only=True, validator=one_of("safe", "any"))
    allow: tuple[str, ...] = attrs.field(default=(), kw_only=True, converter=_allow)

    def __attrs_post_init__(self) -> None:
        if self.finite and self.depth != "content":
            raise ValueError(f'finite=True reads every value: it takes depth="content"; got depth={self.depth!r}')
        if self.keys is not None and self.depth == "size":
            raise ValueError('keys are read from the checkpoint\'s metadata: they take depth="structure" or "content"')

    def look(self) -> Look:
        arguments: dict[str, Any] = {"path": self.path, "depth": self.depth}
        if self.keys is not None:
            arguments["keys"] = self.keys
        if self.finite:
            arguments["finite"] = True
        expected = list(self._expected())
        if expected:
            return Look(manifests.inspect, **arguments, expected=expected).within(SECONDS["content"])
        return Look(probe.inspect, **arguments).within(SECONDS[self.depth])

    def _expected(self) -> Iterator[dict[str, Any]]:
        """The manifests that the probe holds against the files, one of them made of the digest."""
        if self.digest is not None:
            own = {"path": "", "size": None, "digests": manifests.digest_of(self.digest)}
            form = {"schema": manifests.SCHEMA, "source": "digest", "files": [own], "complete": False}
            yield {"manifest": form}
        if self.manifest is not None:
            yield {"manifest_path" if isinstance(self.manifest, str) else "manifest": self.manifest}

    async def examine(self, host: Host) -> Finding:
        """Asks for what its fields claim: rest, the checkpoint itself and its digests."""
        facts: dict[str, Any] = {}
        if await self._is_glob(host):
            words = "stable_for=, digest= and manifest= are of one file or folder"
            return unseen(Cause.UNSUPPORTED, f"{words}; {self.path} matches several")
        if self.stable_for is not None:
            look = Look(stability.rest, path=self.path, stable_for=self.stable_for)
            facts["rest"] = await host.ask(look.within(self.stable_for + 60))
        facts.update(await host.ask(self.look()))
        return self.judge(facts)

    async def _is_glob(self, host: Host) -> bool:
        """Whether its path is a glob, where a claim is made that only one file or folder can bear."""
        single = self.stable_for is not None or self.digest is not None or self.manifest is not None
        if not single or not probe.MAGIC & set(self.path):
            return False
        facts = await host.ask(Look(probe.inspect, path=self.path, depth="size"))
        return bool(facts["kind"] == "glob")

    def judge(self, facts: Facts) -> Finding:
        told = {**facts, "coverage": coverage(facts)}
        warnings = tuple(_warnings(self, facts))
        faults = list(_faults(self, facts))
        if faults:
            return Finding(FAIL, _sentence(facts["path"], faults), facts=told, warnings=warnings)
        unknowns = list(_unknowns(self, facts))
        if unknowns:
            cause = Cause(unknowns[0][0])
            reason = _sentence(facts["path"], [words for _, words in unknowns], "doubt")
            return Finding(UNKNOWN, reason, facts=told, warnings=warnings, cause=cause)
        return Finding(PASS, _whole(self, facts), facts=told, warnings=warnings)


# What is wrong.


def _faults(check: CheckpointIntact, facts: Facts) -> Iterator[str]:
    """One sentence for each fault: what would run code first, then what others may follow from before these."""
    if check.pickle == "safe":
        yield from _unsafe(check, facts)
    cut = [row for row in facts["files"] if any(fault["kind"] == "truncated" for fault in row["faults"])]
    told = list(_told(check, facts)) + [(_RANKS["truncated"], words) for words in _size_fault(check, facts, cut)]
    yield from (words for _, words in sorted(told, key=lambda row: row[0]))
    yield from _unmet(check, facts)


def _told(check: CheckpointIntact, facts: Facts) -> Iterator[tuple[int, str]]:
    """Each fault that the probe has found, in words, with its rank: a file that a folder lacks comes before the rest."""
    for row in facts["files"]:
        for fault in row["faults"]:
            words = _truncated(check, facts, row) if fault["kind"] == "truncated" else fault["what"] + _hints(row)
            yield _rank(fault), _subject(facts, row, words)
    for fault in (facts["folder"] or {}).get("faults", ()):
        yield 2 if fault["kind"] == "missing" else _rank(fault), fault["what"]


# A file that is something else, or cut, or gone, or holds nothing, explains what is then amiss in others that speak of it.
_RANKS = {"pointer": 0, "error_page": 0, "packed": 0, "truncated": 1, "empty": 2}


def _rank(fault: Facts) -> int:
    return _RANKS.get(fault["kind"], 3)


def _subject(facts: Facts, row: Facts, words: str) -> str:
    return words if facts["kind"] == "file" and facts["count"] == 1 else f"{row['name']}: {words}"


def _truncated(check: CheckpointIntact, facts: Facts, row: Facts) -> str:
    missing = next(fault["what"] for fault in row["faults"] if fault["kind"] == "truncated")
    wanted, least = row["needed"], row["notes"].get("needed_is_least")
    if check.size is not None and facts["count"] == 1 and check.size > row["size"]:
        wanted, least = check.size, False
    if wanted is None:
        return f"truncated: {exact_size(row['size'])}; {missing}{_hints(row)}"
    expected = f"{wanted:,} bytes " + ("by its own data.pkl" if least else "expected")
    have, want = show(row["size"]), show(wanted)
    if have == want:
        return f"truncated: {row['size']:,} of {wanted:,} bytes; {missing}{_hints(row)}"
    return f"truncated: {have} of {'at least ' if least else ''}{want} ({expected}); {missing}{_hints(row)}"


def _hints(row: Facts) -> str:
    hints = row["notes"].get("hints") or ()
    return f" ({'; '.join(hints)})" if hints else ""


def _size_fault(check: CheckpointIntact, facts: Facts, cut: list[Facts]) -> Iterator[str]:
    if (
        check.size is None
        or facts["size"] == check.size
        or (cut and facts["count"] == 1 and check.size > facts["size"])
    ):
        return
    have = f"{facts['size']:,} bytes" + (f" in {facts['count']:,} files" if facts["count"] > 1 else "")
    if facts["size"] < check.size and facts["depth"] == "size":
        yield f"truncated: {show(facts['size'])} of {show(check.size)} ({check.size:,} bytes expected, {have} there)"
    else:
        yield f"{have}, {check.size:,} expected"


def _unsafe(check: CheckpointIntact, facts: Facts) -> Iterator[str]:
    for name, use in _globals(facts).items():
        if name not in check.allow and (pickle_names.kind(name, use["use"]) == "harmful" or use["use"] == "changed"):
            yield f"unsafe pickle: would {_WOULD[use['use']]} {_known_as(name)} ({use['where']})"
    trusted = {f"{name[at + 1 :]}, reached through {name[:at]}" for name in check.allow for at in _dots(name)}
    for row in facts["pickle"]["hidden"]:
        if row["what"] in trusted:  # a class within a class, pickled by protocol 4
            continue
        yield f"unsafe {row.get('kind', 'pickle')}: would reach {row['what']} ({row['where']})"


_WOULD = {"called": "call", "constructed": "construct", "named": "import", "changed": "change"}


def _dots(name: str) -> list[int]:
    return [at for at, letter in enumerate(name) if letter == "."]


def _known_as(name: str) -> str:
    """`os.system` is pickled by the name of the module that it is made in."""
    module, _, rest = name.partition(".")
    return f"os.{rest}" if module in ("posix", "nt") else name


def _globals(facts: Facts) -> Mapping[str, Any]:
    return facts["pickle"]["globals"]  # type: ignore[no-any-return]


def _unmet(check: CheckpointIntact, facts: Facts) -> Iterator[str]:
    """Expectations that the evidence contradicts."""
    if check.newer_than is not None and facts["oldest"] is not None and facts["oldest"] <= check.newer_than:
        yield f"last written {_time(facts['oldest'])}, not after {_time(check.newer_than)}"
    yield from _rest_faults(check, facts.get("rest"))
    for measured in facts.get("measured", ()):
        for row in measured["differ"]:
            yield f"{row['path'] or os.path.basename(facts['path'])}: {row['what']}"
        for name in measured["extra"] or ():
            yield f"{name}: not in the manifest, which lists all files"
    if check.keys is not None and not any(row["unknowns"] for row in facts["files"]):
        yield from _missing_keys(facts)


def _time(seconds: float) -> str:
    moment = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")


def _rest_faults(check: CheckpointIntact, rest: Facts) -> Iterator[str]:
    if rest is None:
        return
    for name, what in rest["changed"]:
        yield f"{name or 'it'} changed within {check.stable_for:g} s: {what}"
    for name in rest["temporary"]:
        yield f"{name}: a copy or download that is not finished"
    for writer in rest["writers"]:
        yield f"being written by {writer}"


def _missing_keys(facts: Facts) -> Iterator[str]:
    for name, wanted, found in facts["keys"]:
        if found is None:
            top = ", ".join(facts["top"][:8]) or "none"
            yield f"there is no key {name!r}; its top-level keys: {top}"
        elif wanted is not None and wanted != found:
            yield f"key {name!r} has {count(found, 'entry', 'entries')}, {wanted:,} expected"


# What could not be seen.


def _unknowns(check: CheckpointIntact, facts: Facts) -> Iterator[tuple[str, str]]:
    for row in facts["files"]:
        for unknown in row["unknowns"]:
            yield unknown["kind"], _subject(facts, row, unknown["what"])
    for unknown in (facts["folder"] or {}).get("unknowns", ()):
        yield unknown["kind"], unknown["what"]
    if not facts["weights"]:
        yield "nothing_seen", "nothing of a checkpoint was found"
    if facts["content"] and facts["content"]["blind"]:
        yield "nothing_seen", _blind(facts)
    for measured in facts.get("measured", ()):
        for row in measured["unseen"]:
            yield row["cause"], row["what"]
        if measured["matched"] + len(measured["differ"]) + len(measured["unseen"]) < measured["files"]:
            yield "bound_reached", "not all files of the manifest were compared"
    if check.pickle == "safe":
        others = sorted(_others(check, facts))
        if others:
            allow = f"allow=({', '.join(map(repr, others[:4]))}{',' if len(others) == 1 else ''})"
            yield (
                "ambiguous",
                f"the pickle names {', '.join(others[:4])}, which is for you to trust: {allow} settles it",
            )
        if facts["pickle"]["more"]:
            yield "bound_reached", f"pickles name {facts['pickle']['more']:,} more than could be listed"


def _blind(facts: Facts) -> str:
    """At content depth: bytes were read, and there was nothing to hold them against."""
    first = os.path.basename(facts["content"]["first_blind"] or "")
    where = "" if facts["count"] == 1 else f" in {count(facts['content']['blind'], 'file')}, {first} first,"
    return (
        f"all {facts['content']['bytes']:,} bytes were read, but{where} no checksum is there to compare them with: "
        "give digest=, manifest=seal(…) or finite=True, or ask for depth='structure'"
    )


def _others(check: CheckpointIntact, facts: Facts) -> Iterator[str]:
    names = _globals(facts).items()
    return (name for name, use in names if name not in check.allow and pickle_names.kind(name, use["use"]) == "other")


# What is well.


def _whole(check: CheckpointIntact, facts: Facts) -> str:
    return f"{facts['path']}: {', '.join(_seen(check, facts))}; {_limits(check, facts)}"


def _seen(check: CheckpointIntact, facts: Facts) -> Iterator[str]:
    if facts["count"] > 1:
        yield count(facts["count"], "file")
    yield f"{facts['size']:,} bytes"
    formats = sorted({row["format"] for row in facts["files"] if row["format"]} | _kinds(facts))
    if facts["depth"] != "size":
        yield f"{count(facts['tensors'], 'tensor')} ({', '.join(formats)})"
        yield "structure complete"
    if facts.get("measured"):
        loose = facts["loose"][0]
        yield "digests as expected" + (
            f" of {facts['count'] - loose:,} of its {facts['count']:,} files" if loose else ""
        )


def _kinds(facts: Facts) -> set[str]:
    """The formats that a folder has as a whole, which those of its pieces do not tell."""
    return set(facts["kind"].split("+")) - {"file", "folder", "glob", "hub", "sharded"}


def _limits(check: CheckpointIntact, facts: Facts) -> str:
    """What was looked at and what was not, in words."""
    if facts["depth"] == "size" and not _covered(facts):
        more = ", but for the digests" if facts.get("measured") else ""
        return f"only sizes were looked at, no byte was read{more}"
    content = facts["content"]
    if not content:
        return "every byte was read" if _covered(facts) else _uncompared(facts)
    told = list(_compared(content))
    told += [f"{content['values']:,} values are finite" if check.finite else ""]
    told += [
        "no checksum is there for the bytes themselves" if not (content["compared"] or facts.get("measured")) else ""
    ]
    how = "compared with its CRC-32" if facts.get("measured") else "read"
    told += [f"only what is under {', '.join(check.keys)} was {how}" if check.keys is not None else ""]
    return "; ".join(filter(None, told)) or "every byte was read"


def _compared(content: Facts) -> Iterator[str]:
    """What the bytes were held against: hashes of whole files, and CRC-32s in the others."""
    hashed, by = content.get("hashed", 0), content.get("hashes", ())
    if hashed:
        yield f"{hashed:,} bytes agree with their {' or '.join(told for name, told in _HASHES.items() if name in by)}"
    if content["compared"] > hashed:
        yield f"{content['compared'] - hashed:,} bytes agree with their CRC-32"


_HASHES = {"sha256": "SHA-256", "git-sha1": "git id", "sha1": "SHA-1"}


def _covered(facts: Facts) -> bool:
    """Whether every file of the checkpoint has a digest that was compared."""
    return bool(facts.get("measured")) and not facts["loose"][0]


def _uncompared(facts: Facts) -> str:
    return f"{'tensor bytes' if facts['tensors'] else 'its bytes'} were not compared ({show(facts['read'])} read)"


def coverage(facts: Facts) -> dict[str, Any]:
    """What was examined of how much."""
    content, measured = facts["content"] or {"bytes": 0, "compared": 0}, facts.get("measured", ())
    compared = max([content["compared"], *(row["bytes"] for row in measured)])
    return {
        "depth": facts["depth"],
        "bytes": [max(facts["read"], content["bytes"] + sum(row["read"] for row in measured)), facts["size"]],
        "files": [facts["count"], facts["count"]],
        "tensors": facts["tensors"],
        "compared": compared,
    }


def _warnings(check: CheckpointIntact, facts: Facts) -> Iterator[str]:
    for row in facts["files"]:
        yield from (_subject(facts, row, warning["what"]) for warning in row["warnings"])
    yield from (warning["what"] for warning in (facts["folder"] or {}).get("warnings", ()))
    if check.pickle == "any":
        for name, use in _globals(facts).items():
            if pickle_names.kind(name, use["use"]) != "harmless":
                yield f"the pickle would {_WOULD[use['use']]} {name}"
        for row in facts["pickle"]["hidden"]:
            yield f"the {row.get('kind', 'pickle')} would reach {row['what']}"
    yield from _unseen_writers(facts.get("rest"))
    for measured in facts.get("measured", ()):
        yield from measured["notes"]
    if facts.get("measured") and facts["loose"][0]:
        loose, first = facts["loose"]
        yield f"no digest is expected of {count(loose, 'file')} of the checkpoint, {first} first"


def _unseen_writers(rest: Facts) -> Iterator[str]:
    if rest is not None and rest["blind"] is None:
        yield "this host does not tell who holds it open for writing"
    elif rest is not None and rest["blind"]:
        yield f"{count(rest['blind'], 'process', 'processes')} of its owner could not be looked into: one may be writing it"


def _sentence(path: str, faults: list[str], noun: str = "fault") -> str:
    more = f"; and {count(len(faults) - 1, f'more {noun}')}" if len(faults) > 1 else ""
    return f"{path}: {faults[0]}{more}"
