"""JsonlValid: every line of a JSON-lines file is a whole record with what it needs."""

from __future__ import annotations

import os
from typing import Any

import attrs

from verikit.check import Check, Facts, Look
from verikit.errors import Cause
from verikit.finding import Finding
from verikit.probes import jsonl as probe
from verikit.text import count as counted
from verikit.values import path, whole
from verikit.verdict import FAIL, PASS, UNKNOWN

LOOK_SECONDS = 1800.0
"""Every line is parsed, at some 50 MB a second: half an hour is about 100 GB."""


def _names(value: Any) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else tuple(value)
    if not all(isinstance(name, str) and name for name in names):
        raise ValueError(f"required is names of fields, dotted for nested ones; got {value!r}")
    return names


def _pairs(value: Any) -> tuple[tuple[str, str], ...]:
    pairs = tuple(tuple(pair) for pair in value)
    for pair in pairs:
        if len(pair) != 2 or not all(isinstance(word, str) and word for word in pair) or pair[0] == pair[1]:
            raise ValueError(f'balanced is pairs of different words, such as ("<think>", "</think>"); got {pair!r}')
    return pairs


def _unique(value: Any) -> str | None:
    if value is not None and (not isinstance(value, str) or not value):
        raise ValueError(f"unique is the name of a field; got {value!r}")
    return value


def _count(value: Any) -> int | str | None:
    if value is None:
        return None
    if isinstance(value, (str, bytes, os.PathLike)):
        return path(value)
    return whole("count", value, unit="records")


@attrs.frozen(repr=False)
class JsonlValid(Check):
    """Each line of the file is one JSON value, whole, and has what is asked of it.

    required: fields that must be there and hold something: no null, blank text, empty list or object; dotted for nested ones.
    balanced: pairs of words, such as ("<think>", "</think>"), that must open and close in each text.
    unique: a field whose value no other record has.
    count: how many records there must be, or the path of a file on the same host that has a line for each.
    live: the file is being written: its last line may be cut while somebody has it open for writing, and it is judged up
    to its size at the opening.  Otherwise a change under the read is UNKNOWN.
    gzip is read through.  A blank line is a warning.  Reads the whole file, at about 50 MB a second.
    """

    path: str = attrs.field(converter=path)
    required: tuple[str, ...] = attrs.field(default=(), converter=_names, kw_only=True)
    balanced: tuple[tuple[str, str], ...] = attrs.field(default=(), converter=_pairs, kw_only=True)
    unique: str | None = attrs.field(default=None, converter=_unique, kw_only=True)
    count: int | str | None = attrs.field(default=None, converter=_count, kw_only=True)
    live: bool = attrs.field(default=False, converter=bool, kw_only=True)

    def look(self) -> Look:
        asked = {"required": self.required, "balanced": self.balanced, "unique": self.unique, "live": self.live}
        other = self.count if isinstance(self.count, str) else None
        return Look(probe.inspect, path=self.path, count=other, **asked).within(LOOK_SECONDS)

    def judge(self, facts: Facts) -> Finding:
        faults = {kind: row for kind, row in facts["faults"].items() if kind != "too_long"}
        excuse = self._excused(facts) if "cut_last" in faults else None
        if excuse is True:
            del faults["cut_last"]
        wanted = facts["expected"] if isinstance(self.count, str) else self.count
        records = facts["records"] - (excuse is True)
        words = [_said(kind, row) for kind, row in faults.items() if kind != "cut_last" or excuse is not None]
        if facts["broken"]:
            words.append(facts["broken"])
        if wanted is not None and records != wanted:
            words.append(f"{records:,} of {counted(wanted, 'record')} expected{self._by_file}")
        reason = f"{self.path}: {counted(records, 'record')}, {facts['good']:,} good"
        if "cut_last" in faults and excuse is None and not words:
            cut = f"{reason}; {_said('cut_last', faults['cut_last'])}; whether its writer lives can't be seen"
            return Finding(UNKNOWN, cut, facts=facts, cause=Cause.PERMISSION)
        if words:
            return Finding(FAIL, f"{reason}; " + "; ".join(words), facts=facts)
        if "too_long" in facts["faults"]:
            row = facts["faults"]["too_long"]
            long = f"{reason}; not parsed: {_said('too_long', row)}"
            return Finding(UNKNOWN, long, facts=facts, cause=Cause.BOUND_REACHED)
        if not records and wanted != 0:
            return Finding(UNKNOWN, f"{reason}: nothing to look at", facts=facts, cause=Cause.NOTHING_SEEN)
        if facts["ids_full"]:
            ids = f"{reason}; no {self.unique} twice among those kept in memory, but there are more"
            return Finding(UNKNOWN, ids, facts=facts, cause=Cause.BOUND_REACHED)
        return Finding(PASS, reason + self._claims(wanted), facts=facts, warnings=_warnings(facts, excuse))

    def _excused(self, facts: Facts) -> bool | None:
        """Whether the cut last line is a writer's at work; None where that can't be seen."""
        if not self.live:
            return False
        writers = facts["writers"]
        if facts["grew"] or (writers and writers["pids"]):
            return True
        return None if writers is None or writers["blind"] else False

    @property
    def _by_file(self) -> str:
        return f" by {self.count}" if isinstance(self.count, str) else ""

    def _claims(self, wanted: int | None) -> str:
        words = []
        if wanted is not None:
            words.append(f"as many as expected{self._by_file}")
        if self.unique:
            words.append(f"{self.unique} never twice")
        return "".join(f", {word}" for word in words)


SAYINGS = {
    "nul": "NUL bytes in {lines}",
    "bom": "a byte-order mark in {lines}",
    "not_utf8": "no UTF-8 in {lines}",
    "cut_last": "the last line is cut",
    "fused": "records fused in {lines}",
    "not_json": "no JSON in {lines}",
    "too_deep": "nested too deeply in {lines}",
    "not_object": "no object in {lines}",
    "missing_field": "a field missing {times}",
    "empty_field": "a field empty {times}",
    "unbalanced": "out of balance {times}",
    "duplicate_id": "an id repeated in {lines}",
    "too_long": "{lines}",
}


def _said(kind: str, row: Facts) -> str:
    words = SAYINGS[kind].format(lines=counted(row["count"], "line"), times=counted(row["count"], "time"))
    by = row.get("by", {})
    which = f" ({', '.join(f'{name} {n:,}' for name, n in list(by.items())[:5])})" if len(by) > 1 else ""
    return f"{words}{which}, first line {row['line']:,}: {row['what']}"


def _warnings(facts: Facts, excuse: bool | None) -> list[str]:
    warnings = []
    if facts["blank"]:
        warnings.append(f"{counted(facts['blank'], 'blank line')}, which some readers refuse")
    if excuse is True:
        pids = (facts["writers"] or {}).get("pids")
        who = f" by pid {pids[0]}" if pids else ""
        warnings.append(f"line {facts['faults']['cut_last']['line']:,} is being written{who}")
    return warnings
