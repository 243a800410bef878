"""ImportConflict: no import of a Python file, present or to be inserted, collides with anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from verikit.check import Check, Facts, Look
from verikit.errors import Cause
from verikit.finding import Finding
from verikit.probes.imports import look as probe
from verikit.probes.imports import placement
from verikit.text import count
from verikit.values import one_of, whole
from verikit.values import path as as_path
from verikit.verdict import FAIL, PASS, UNKNOWN

RUN_AS = ("auto", "import", "script", "module")


# A file takes milliseconds; a tree of 5,000 files about half a minute on two cores.
LOOK_SECONDS = 300.0


@attrs.frozen(repr=False)
class ImportConflict(Check):
    """No import of the file conflicts: it loads, every other name keeps its value where it is used, and each import's own
    name is bound to what it says where code relies on it.

    path: the file, or a folder of them; or `source`, its text.  name: only the import of that name.
    inject: text that is to become line `line`, or a unified diff: would it conflict, once there?
    run_as: how the file is started; "auto" tells a script by its shebang or `__main__`.
    root: the folder that a package or `-m` start is run from.
    python: "host", the path of an interpreter there, or a version such as "3.9".
    The file is read and parsed, never imported or run.
    """

    path: str | None = attrs.field(default=None, converter=attrs.converters.optional(as_path))
    name: str | None = attrs.field(default=None, kw_only=True)
    inject: str | None = attrs.field(default=None, kw_only=True)
    line: int | None = attrs.field(default=None, kw_only=True)
    run_as: str = attrs.field(default="auto", kw_only=True, validator=one_of(*RUN_AS))
    root: str | None = attrs.field(default=None, kw_only=True, converter=attrs.converters.optional(as_path))
    python: str = attrs.field(default="host", kw_only=True)
    source: str | None = attrs.field(default=None, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if (self.path is None) == (self.source is None):
            raise ValueError(
                f"ImportConflict takes a path or source=, one of them; got path={self.path!r}, source={self.source!r}"
            )
        if not isinstance(self.python, str) or not self.python:
            raise TypeError(f"python is 'host', an interpreter's path or a version such as '3.9'; got {self.python!r}")
        self._check_question()

    def _check_question(self) -> None:
        if self.name is not None and (not isinstance(self.name, str) or not self.name.isidentifier()):
            raise ValueError(f"name is one imported name; got {self.name!r}")
        if self.inject is None:
            if self.line is not None:
                raise ValueError(f"line says where inject= is put; got line={self.line!r} and nothing to inject")
            return
        if not isinstance(self.inject, str) or not self.inject.strip():
            raise ValueError(f"inject is the text of the new lines, or a unified diff; got {self.inject!r}")
        if self.name is not None:
            raise ValueError(f"name and inject are two questions; ask them with two checks; got name={self.name!r}")
        if placement.is_diff(self.inject):
            if self.line is not None:
                raise ValueError(f"a unified diff says where its lines go; got line={self.line!r}")
        elif self.line is None:
            raise ValueError(f"inject needs line=, the number that its first line gets; got {self.inject!r} alone")
        else:
            whole("line", self.line, least=1, unit="lines")

    def look(self) -> Look:
        words = {field.name: getattr(self, field.name) for field in attrs.fields(type(self))}
        return Look(probe.inspect, **words).within(LOOK_SECONDS)

    def judge(self, facts: Facts) -> Finding:
        subject = self.path or "the source"
        if "files" in facts:
            return _tree(subject, facts)
        if facts["findings"]:
            return Finding(
                FAIL, f"{subject}: {_worst(facts)}{_safe_words(facts)}", facts=facts, warnings=facts["notes"]
            )
        if facts["unknowns"]:
            first = facts["unknowns"][0]
            return Finding(
                UNKNOWN, f"{subject}: {first['message']}", facts=facts, cause=Cause.AMBIGUOUS, warnings=facts["notes"]
            )
        if facts.get("blank"):
            why = f"{subject} is empty: there is no import to judge, and perhaps it did not arrive whole"
            return Finding(UNKNOWN, why, facts=facts, cause=Cause.NOTHING_SEEN)
        if not facts["bound"]:
            return Finding(UNKNOWN, f"{subject}: no import binds {self.name}", facts=facts, cause=Cause.NOTHING_SEEN)
        return Finding(PASS, f"{subject}: {self._clean(facts)}{_unasked(facts)}", facts=facts, warnings=facts["notes"])

    def _clean(self, facts: Facts) -> str:
        seen = f"{count(facts['imports'], 'imported name')} in {count(facts['lines'], 'line')}"
        if self.name is not None:
            return f"the import of {self.name} keeps its name; {seen}"
        if self.inject is not None:
            what = (
                f"{self.inject.strip().splitlines()[0]!r} fits at line {self.line}" if self.line else "the patch fits"
            )
            return f"{what}{_safe_words(facts)}; {seen}"
        return f"no conflict; {seen}"


def _tree(subject: str, facts: Facts) -> Finding:
    seen = f"{count(facts['imports'], 'imported name')} in {count(facts['files'], 'file')}"
    if facts["findings"]:
        row = facts["findings"][0]
        rest = f"{count(facts['count'], 'conflict')} in {count(facts['failed'], 'file')} of {facts['files']:,}"
        return Finding(
            FAIL, f"{subject}: {rest}; the first: {row['file']}: {row['rule']}: {row['message']}", facts=facts
        )
    if facts["unknowns"]:
        row = facts["unknowns"][0]
        rest = f"{count(facts['untold'], 'file')} of {facts['files']:,} can't be told"
        rest += f"; the first: {row['file']}: {row['message']}"
        return Finding(UNKNOWN, f"{subject}: {rest}", facts=facts, cause=Cause(row.get("cause", Cause.AMBIGUOUS)))
    return Finding(PASS, f"{subject}: no conflict; {seen}{_unasked(facts)}", facts=facts)


def _unasked(facts: Facts) -> str:
    """What a PASS does not cover where the version that will run the file is not on the host."""
    target = facts.get("python")
    if not target or target["executable"]:
        return ""
    return f"; Python {target['version']} is not on this host: what is installed for it was not looked at"


def _worst(facts: Facts) -> str:
    rows = facts["findings"]
    first = next((row for row in rows if row["severity"] == "breaks"), rows[0])
    more = f" (and {facts['count'] - 1} more)" if facts["count"] > 1 else ""
    use = (
        f", first used on line {first['use']}"
        if first["use"] and f"line {first['use']}" not in first["message"]
        else ""
    )
    return f"{first['rule']}: {first['message']}{use}{more}"


def _safe_words(facts: Mapping[str, Any]) -> str:
    """`; safe at 22–26; line 24 lies inside`."""
    if facts.get("line") is None or "safe" not in facts:
        return ""
    line = facts["line"]
    ranges = placement.near([list(each) for each in facts["safe"]], line)
    if not ranges:
        return "; no line is safe for an import at column 0"
    words = " and ".join(f"{a}" if a == b else f"{a}–{b}" for a, b in ranges)
    inside = any(a <= line <= b for a, b in ranges)
    return f"; safe at {words}{f'; line {line} lies inside' if inside else ''}"
