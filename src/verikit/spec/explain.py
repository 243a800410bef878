"""Faults as one line: equal causes together, each with its place, what was seen, what was expected, and why."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from verikit.spec.names import collapsed
from verikit.spec.rows import NO_FILE, Fault, Outcome

IN_FULL = 3
"""Names that are told in full, and causes that differ in numbers alone; more are folded."""

CAUSES = 8
"""Causes that a reason tells; the rest are counted, and are in the facts."""

# What explains most comes first: a prefix or a placeholder makes many others, a value only itself.
ORDER = ("file", "rank", "axis", "dtype", "missing", "forbidden", "extra", "held", "meta", "index", "value", "relation")

# Wrappers by the prefix that they leave on every name when the inner module was not unwrapped before saving.
WRAPPERS = {
    "module.": "DataParallel or DDP",
    "_orig_mod.": "torch.compile",
    "_fsdp_wrapped_module.": "FSDP",
    "base_model.model.": "PEFT",
    "_forward_module.": "DeepSpeed",
}


def lines(faults: Iterable[Fault]) -> list[str]:
    """One line a cause, the most telling first."""
    groups: dict[tuple[Any, ...], list[Fault]] = {}
    for fault in sorted(faults, key=lambda each: ORDER.index(each.kind)):
        alike = fault.kind in ("missing", "extra", "file")
        key = (fault.kind, fault.what) if alike else (fault.kind, fault.what, fault.hint)
        groups.setdefault(key, []).append(fault)
    return [_line(group) for group in _joined(list(groups.values()))]


def _joined(groups: list[list[Fault]]) -> list[list[Fault]]:
    """Groups of one cause, of which only the numbers differ, together, if there are more than a reader wants to hear of.

    One that has most of them, as 57 layers of 61, is a thing of its own.
    """
    families: dict[Any, list[list[Fault]]] = {}
    for number, group in enumerate(groups):
        cause = group[0].cause
        families.setdefault(number if cause is None else (group[0].kind, *cause), []).append(group)
    out: list[list[Fault]] = []
    for family in families.values():
        most = max(family, key=len)
        alone = [most] if 2 * len(most) > sum(map(len, family)) else []
        rest = [group for group in family if group not in alone]
        out += [*alone, [fault for group in rest for fault in group]] if len(rest) > IN_FULL else family
    return out


def _line(group: list[Fault]) -> str:
    first = group[0]
    if first.kind in ("missing", "extra") and len(group) > 1:
        return f"{first.what}, {len(group):,} tensors: {places(group, most=5)}"
    hint = f" ({first.hint})" if first.hint and all(fault.hint == first.hint for fault in group) else ""
    colon = ":" if first.kind not in ("axis", "index") or first.what.startswith("[") else ""
    alike = f"; {len(group):,} alike{_off(group)}" if len(group) > 1 else ""
    return f"{places(group)}{colon} {_what(group)}{hint}{alike}"


def _what(group: list[Fault]) -> str:
    """What is told of the first; that other numbers or origins follow."""
    first = group[0]
    if any(fault.what != first.what for fault in group):
        return f"{first.told}, and so on"
    others = any(fault.origin != first.origin for fault in group)
    return f"{first.what} [{first.origin}, and so on]" if first.origin and others else first.told


def _off(group: list[Fault]) -> str:
    """That sizes which differ are all off by the same."""
    off = group[0].off
    if not off or any(fault.off != off for fault in group) or all(fault.what == group[0].what for fault in group):
        return ""
    return f", each {abs(off):,} {'more' if off > 0 else 'less'} than expected"


def places(group: list[Fault], most: int = 3) -> str:
    """Where: a few in full, a file that all share said once; else numbers folded into ranges, and parts of the same blocks."""
    rows = list(dict.fromkeys((fault.file, fault.name, fault.where) for fault in group))
    files = dict.fromkeys(file for file, _, _ in rows)
    file = rows[0][0] if len(files) == 1 and rows[0][0] not in NO_FILE and rows[0][1] else ""
    head, named = f"{file}:" if file else "", [name if file else where for _, name, where in rows]
    if len(rows) > IN_FULL and len(files) > 1 and len({name for _, name, _ in rows}) == len(rows):
        head, named = (
            f"{_listed(list(files), most)}:",
            [name for _, name, _ in rows],
        )  # shards: each name is in one of them
    return head + _listed(named, most)


def _listed(named: list[str], most: int) -> str:
    if len(named) <= IN_FULL:
        return ", ".join(named)
    rows = _blocks(_worded(collapsed(named), most), most)
    shown = ", ".join(name for name, _ in rows[:most])
    left = sum(n for _, n in rows[most:])
    return f"{shown} and {left:,} more" if left else shown


PARTS = 8
"""Parts of a block that are named."""

FOLDED = 200
"""Rows that are searched for parts to be folded."""

_PART = re.compile(r"([.:/])(?![^{]*\})")


def _worded(rows: list[tuple[str, int]], most: int) -> list[tuple[str, int]]:
    """Too many rows, with those of numbered blocks that differ in one part folded: `layers.{0..3}.{q_proj,k_proj}.weight`."""
    while most < len(rows) <= FOLDED:
        alike: dict[tuple[str, str], list[tuple[str, int]]] = {}
        for at, (name, _) in enumerate(rows):
            parts = _PART.split(name)
            for k in range(0, len(parts), 2):
                before, after = "".join(parts[:k]), "".join(parts[k + 1 :])
                if re.search(r"\d", before + after):
                    alike.setdefault((before, after), []).append((parts[k], at))
        (before, after), members = max(alike.items(), key=lambda row: len(row[1]), default=(("", ""), []))
        if len(members) < 2:
            break
        here = [at for _, at in members]
        folded = f"{before}{_braced([part for part, _ in members])}{after}", sum(rows[at][1] for at in here)
        rows = [folded if at == here[0] else row for at, row in enumerate(rows) if at == here[0] or at not in here]
    return rows


def _braced(parts: list[str]) -> str:
    more = f",… {len(parts) - PARTS} more" if len(parts) > PARTS else ""
    return "{" + ",".join(parts[:PARTS]) + more + "}"


def _blocks(rows: list[tuple[str, int]], most: int) -> list[tuple[str, int]]:
    """Too many rows, with those in the same numbered blocks folded: `model.layers.{58..60}.(mlp.down_proj.weight, …)`."""
    if len(rows) <= most:
        return rows
    blocks: dict[str, list[tuple[str, int]]] = {}
    for name, n in rows:
        match = re.match(r"\D*?(\d+|\{[^}]*\})\.", name)
        blocks.setdefault(match[0] if match else name, []).append((name[len(match[0]) :] if match else "", n))
    folded = []
    for head, parts in blocks.items():
        inside = ", ".join(part for part, _ in parts[:PARTS]) + (
            f", {len(parts) - PARTS} more" if len(parts) > PARTS else ""
        )
        folded.append((f"{head}({inside})" if len(parts) > 1 else head + inside, sum(n for _, n in parts)))
    return folded


def wrapper_hint(outcome: Outcome, present: list[str]) -> str:
    """What the names that are there say about the names that are not."""
    missing = [fault.name for fault in outcome.faults if fault.kind == "missing" and fault.name]
    if not missing:
        return ""
    flat = next((name for name in present if "flat_param" in name), None)
    if flat:
        return f"{flat} is there: an FSDP flat parameter, saved without FULL_STATE_DICT"
    here = set(present)
    for prefix, wrapper in WRAPPERS.items():
        if all(prefix + name in here for name in missing):
            return f"every one is there with the prefix {prefix!r}, which {wrapper} leaves"
    return _common_prefix(missing, here)


def _common_prefix(missing: list[str], here: set[str]) -> str:
    tail = missing[0]
    for name in sorted(here):
        if name.endswith("." + tail):
            prefix = name[: -len(tail)]
            if all(prefix + other in here for other in missing):
                return f"every one is there with the prefix {prefix!r}"
    for cut in range(1, missing[0].count(".") + 1):
        parts = missing[0].split(".")
        prefix = ".".join(parts[:cut]) + "."
        if all(name.startswith(prefix) and name[len(prefix) :] in here for name in missing):
            return f"every one is there without the prefix {prefix!r}"
    return ""


def reason(faults: list[Fault], hint: str = "", prefix: str = "") -> str:
    """The line for a person: causes, the likely one in front."""
    told = lines(faults)
    shown = told[:CAUSES]
    if len(told) > CAUSES:
        shown.append(f"{len(told) - CAUSES} more causes")
    text = "; ".join(shown)
    return re.sub(r"\s+", " ", f"{prefix}{hint}; {text}" if hint else f"{prefix}{text}")
