"""PatchApplied: a patch is in a file, exactly once, where it belongs."""

from __future__ import annotations

from typing import Any

import attrs

from verikit.check import Check, Facts, Look
from verikit.finding import Finding
from verikit.probes import patch as probe
from verikit.text import count
from verikit.values import path as as_path
from verikit.values import whole
from verikit.verdict import FAIL, PASS


def _text(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
    if value is not None and (not isinstance(value, str) or not value.strip("\r\n")):
        raise ValueError(f"{field.name} is the text of one or more lines; got {value!r}")


@attrs.frozen(repr=False)
class PatchApplied(Check):
    """The lines of a text stand in the file exactly once, one after the other; or every hunk of a unified diff does.

    text: lines as they must stand; indentation counts, line ends don't.  A unified diff is known by its `@@` and read as one.
    line: where the first of them must be, counted from 1; without it, anywhere.
    diff: a unified diff; of one about several files, the part about this file.  A hunk that has moved is a warning.

    FAIL: not there, there more than once, or elsewhere; and for a diff, if its old lines are still there.
    Raises ValueError for neither or both, and for a diff that is malformed.
    """

    path: str = attrs.field(converter=as_path)
    text: str | None = attrs.field(default=None, validator=_text)
    diff: str | None = attrs.field(default=None, kw_only=True, validator=_text)
    line: int | None = attrs.field(default=None, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self.text is not None and self.diff is None and probe.files_of(self.text):
            object.__setattr__(self, "diff", self.text)
            object.__setattr__(self, "text", None)
        if (self.text is None) is (self.diff is None):
            raise ValueError("PatchApplied takes text or diff=, one of them")
        if self.diff is not None and not probe.files_of(self.diff):
            raise ValueError("diff is a unified diff, with `@@ -1,2 +1,3 @@` lines; there is none in it")
        if self.line is not None:
            if self.diff is not None:
                raise ValueError("line goes with text: a diff says itself where its hunks belong")
            whole("line", self.line, least=1, unit="lines")

    def look(self) -> Look:
        if self.diff is not None:
            return Look(probe.hunks, path=self.path, diff=self.diff)
        return Look(probe.occurrences, path=self.path, text=self.text)

    def judge(self, facts: Facts) -> Finding:
        more = {**facts, "coverage": {"lines": {"examined": facts["lines"], "of": facts["lines"]}}}
        verdict, reason, warnings = _of_diff(self, facts) if self.diff is not None else _of_text(self, facts)
        return Finding(verdict, reason, facts=more, warnings=warnings)


def _of_text(claim: PatchApplied, facts: Facts) -> Any:
    text = claim.text or ""
    first = text.strip("\r\n").splitlines()[0].strip()
    what = f"`{first[:60]}`" + (f" and {count(text.count(chr(10)), 'more line')}" if "\n" in text.strip("\r\n") else "")
    if facts["count"] > 1:
        return FAIL, f"{claim.path} has {what} {facts['count']} times, at {_lines(facts['at'])}; once expected", ()
    if not facts["count"]:
        near = f"; {_lines(facts['loosely'])} has it with other indentation" if facts["loosely"] else ""
        near = near or (f"; {_lines(facts['inside'])} has it inside a longer line" if facts["inside"] else "")
        return FAIL, f"{claim.path} has no line {what} among its {facts['lines']:,}{near}", ()
    at = facts["at"][0]
    if claim.line is not None and at != claim.line:
        return FAIL, f"{claim.path} has {what} at line {at}; line {claim.line} expected", ()
    return PASS, f"{claim.path} has {what} once, at line {at}", ()


def _of_diff(claim: PatchApplied, facts: Facts) -> Any:
    faults, moved = [], []
    for number, hunk in enumerate(facts["hunks"], 1):
        fault = _fault(hunk)
        if fault:
            faults.append(f"hunk {number} {fault}")
        elif hunk["new"][0] != hunk["line"]:
            moved.append(f"hunk {number} stands at line {hunk['new'][0]}; the diff puts it at {hunk['line']}")
    total = count(len(facts["hunks"]), "hunk")
    if faults:
        rest = f" ({count(len(faults) - 1, 'more hunk')} too)" if len(faults) > 1 else ""
        return FAIL, f"{claim.path}: of {total}, {faults[0]}{rest}", moved
    places = ", ".join(str(hunk["new"][0]) for hunk in facts["hunks"][:5])
    return PASS, f"{claim.path}: {total} of the diff in place, once each, at line {places}", moved


def _fault(hunk: Any) -> str | None:
    """What is wrong with one hunk, or None."""
    if hunk["new_count"] > 1:
        return f"is there {hunk['new_count']} times, at {_lines(hunk['new'])}"
    if hunk["new_count"] == 1:
        return None
    if len(hunk["added"]) > 1:
        return (
            f"has its new lines there {len(hunk['added'])} times, at {_lines(hunk['added'])}, and its context differs"
        )
    if hunk["old"]:
        return f"is not applied: its old lines stand at {_lines(hunk['old'])}"
    if hunk["added"]:
        return f"has its new lines at {_lines(hunk['added'])}, in a context that differs from the diff's"
    return f"is not there, and neither are its old lines (line {hunk['line']} in the diff)"


def _lines(numbers: Any) -> str:
    return ("line " if len(numbers) == 1 else "lines ") + ", ".join(map(str, numbers[:5]))
