"""SyntaxValid: files that their own parser takes."""

from __future__ import annotations

import re
from typing import Any

import attrs

from verikit.check import Check, Facts, Host, Look
from verikit.errors import Cause, Unseen
from verikit.finding import Finding
from verikit.probes.syntax import look as probe
from verikit.text import count
from verikit.values import one_of
from verikit.values import path as as_path
from verikit.verdict import FAIL, PASS, UNKNOWN

KINDS = ("auto", "python", "notebook", "json", "jsonl", "toml", "yaml", "shell")

SECONDS = 300.0
"""For one look: the Python files of a serving stack take about 10 s on two cores."""

NOT_PROVED = "no proof that it is whole: add `& FileMatches(size=, sha256=)`"


def _python(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
    if not isinstance(value, str) or not value.strip() or "\0" in value or value.startswith("-"):
        raise ValueError(f'python is "host", a version such as "3.9", or the path of an interpreter; got {value!r}')


def _source(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"source is the text to judge instead of a file; got {type(value).__name__}")


@attrs.frozen(repr=False)
class SyntaxValid(Check):
    """A file, the files of a glob, or those of a tree are taken by their own parser; no code runs, nothing is written.

    Python (also `.pyi`), notebooks, JSON, JSON lines, TOML, YAML and shell scripts, by name or by their first line;
    kind: says it for all, and narrows a tree to it.
    python: the interpreter that judges: `"host"`, the one that the host's agent runs under; the path of another on that
    host; or a version, `"3.9"`.  Without such an interpreter there, rules stand in for it, and what they can't tell is UNKNOWN.
    run_as: `"import"`, or `"script"` for a file that is started; they read bytes differently (see the reference).
    warnings: `"report"` them apart, or `"fail"` on any (invalid escapes, `is` with a literal).
    source: text to judge before it is written, instead of a file; `path` then only names it.

    A missing file is UNKNOWN.  A PASS does not prove that a file is whole: a cut between two statements parses.
    Raises ValueError for a value outside these, and when neither path nor source is given.
    """

    path: str | None = attrs.field(default=None, converter=attrs.converters.optional(as_path))
    python: str = attrs.field(default="host", kw_only=True, validator=_python)
    run_as: str = attrs.field(default="import", kw_only=True, validator=one_of("import", "script"))
    kind: str = attrs.field(default="auto", kw_only=True, validator=one_of(*KINDS))
    warnings: str = attrs.field(default="report", kw_only=True, validator=one_of("report", "fail"))
    source: str | None = attrs.field(default=None, kw_only=True, validator=_source)

    def __attrs_post_init__(self) -> None:
        if self.path is None and self.source is None:
            raise ValueError("SyntaxValid takes a path, a glob or a tree, or source= text; got neither")

    def look(self) -> Look:
        named = {name: getattr(self, name) for name in ("path", "source", "python", "run_as", "kind")}
        return Look(probe.inspect, **named).within(SECONDS)

    async def examine(self, host: Host) -> Finding:
        try:
            return self.judge(await host.ask(self.look()))
        except Unseen as error:
            # The look's process died: over the source, perhaps.  Then a process of the compiler's own shows it.
            if error.cause is not Cause.PROBE_ERROR or "process was ended by" not in error.reason:
                raise
            alone = Look(probe.inspect, **{**self.look().arguments, "alone": True}).within(SECONDS)
            return self.judge(await host.ask(alone))

    def judge(self, facts: Facts) -> Finding:
        more = {**facts, "coverage": _coverage(facts), "excerpts": [excerpt(row) for row in facts["bad"][:5]]}
        told = _told(facts)
        if facts["bad_count"]:
            return Finding(FAIL, _refused(facts, self), facts=more, warnings=told)
        if facts["unseen_count"]:
            first = facts["unseen"][0]
            rest = f" ({count(facts['unseen_count'], 'file')} not judged)" if facts["files"] > 1 else ""
            return Finding(UNKNOWN, first["reason"] + rest, facts=more, warnings=told, cause=Cause(first["cause"]))
        if facts["bound"]:
            words = f"{self.path}: only the first {count(facts['files'], 'file')} were parsed, and taken"
            return Finding(UNKNOWN, words, facts=more, warnings=told, cause=Cause.BOUND_REACHED)
        if not facts["examined"]:
            return Finding(UNKNOWN, _nothing(facts, self), facts=more, cause=Cause.NOTHING_SEEN)
        if facts["warning_count"] and self.warnings == "fail":
            return Finding(FAIL, _warned(facts, self), facts=more, warnings=told)
        return Finding(PASS, _taken(facts, self), facts=more, warnings=told)


# Sentences.


def _coverage(facts: Facts) -> dict[str, Any]:
    return {"files": {"examined": facts["examined"], "of": facts["files"]}, "bytes": facts["bytes"]}


def _told(facts: Facts) -> tuple[str, ...]:
    """Warnings of the parsers apart from the verdict: the first few, and the number of the rest."""
    rows = [f"{row['path']}:{row['line']}: {row['category']}: {row['message']}" for row in facts["warned"][:5]]
    rest = facts["warning_count"] - len(rows)
    return (*facts["notes"][:5], *rows, *([f"{count(rest, 'more warning')}"] if rest > 0 else []))


def _asked(facts: Facts, claim: SyntaxValid) -> str:
    """Who said it: `import under Python 3.11.7 (/usr/bin/python3.11; default, not stated)`."""
    who = facts["interpreter"]
    if who is None:
        return ""
    version = ".".join(map(str, who["version"]))
    stated = "default, not stated" if claim.python == "host" else f"asked for as {claim.python}"
    if who["stands_for"]:
        return f"{claim.run_as} under Python {claim.python}, which this host lacks: by rules, on Python {version}"
    return f"{claim.run_as} under Python {version}, {who['executable']} ({stated})"


def _refused(facts: Facts, claim: SyntaxValid) -> str:
    first = facts["bad"][0]
    words = f"{_where(first)}: {first['error']}: {first['message']}"
    if first["cause"]:
        words += f"; likely cause: {first['cause']}"
    if facts["subject"] in ("tree", "glob"):
        words = f"{facts['bad_count']:,} of {count(facts['examined'], 'file')} refused; first {words}"
    who = _asked(facts, claim)
    return f"{words} [{who}]" if who and first["kind"] in ("python", "notebook") else words


def _where(row: Any) -> str:
    cell = f"cell {row['cell']}" if row.get("cell") else None
    return ":".join(str(part) for part in (row["path"], cell, row["line"], row["column"]) if part is not None)


def _warned(facts: Facts, claim: SyntaxValid) -> str:
    row = facts["warned"][0]
    first = f"{row['path']}:{row['line']}: {row['category']}: {row['message']}"
    return f"{count(facts['warning_count'], 'warning')} of the parser, none allowed; first {first} [{_asked(facts, claim)}]"


def _taken(facts: Facts, claim: SyntaxValid) -> str:
    if facts["subject"] in ("tree", "glob"):
        kinds = ", ".join(f"{number:,} {kind}" for kind, number in sorted(facts["kinds"].items()))
        words = f"{claim.path}: {count(facts['examined'], 'file')} parse ({kinds}; {facts['bytes']:,} bytes)"
    else:
        name = claim.path or "the source"
        words = f"{name} parses ({facts['bytes']:,} bytes)" if facts["bytes"] else f"{name} is empty, which parses"
    if facts["warning_count"]:
        words += f", with {count(facts['warning_count'], 'warning')}"
    who = _asked(facts, claim)
    return "; ".join([words + (f" [{who}]" if who else ""), NOT_PROVED])


def _nothing(facts: Facts, claim: SyntaxValid) -> str:
    what = "file" if claim.kind == "auto" else f"{claim.kind} file"
    beside = f" ({count(facts['others'], 'file')} of other kinds)" if facts["others"] else ""
    where = "matches" if facts["subject"] == "glob" else "is in"
    return f"no {what} to parse {where} {claim.path}{beside}"


def excerpt(row: Any, width: int = 100) -> str:
    """The refused line with a caret beneath, for people: at most so many characters of it, around the column."""
    text = (row["text"] or "").rstrip("\r\n")
    column = row["column"] or 0
    start = max(0, column - width // 2)
    shown = re.sub(r"\t", " ", text[start : start + width])
    return shown + ("\n" + " " * (column - 1 - start) + "^" if 0 < column <= len(text) + 1 else "")
