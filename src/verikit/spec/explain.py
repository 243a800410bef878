"""Faults as one line: equal causes together, each with its place, what was seen, what was expected, and why."""

from __future__ import annotations

import re
from collections.abc import Iterable

from verikit.spec.names import collapsed
from verikit.spec.rows import NO_FILE, Fault, Outcome

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
    groups: dict[tuple[str, ...], list[Fault]] = {}
    for fault in sorted(faults, key=lambda each: ORDER.index(each.kind)):
        alike = fault.kind in ("missing", "extra", "file")
        key = (fault.kind, fault.what) if alike else (fault.kind, fault.what, fault.hint)
        groups.setdefault(key, []).append(fault)
    return [_line(group) for group in groups.values()]


def _line(group: list[Fault]) -> str:
    first = group[0]
    if first.kind in ("missing", "extra") and len(group) > 1:
        return f"{first.what}, {len(group):,} tensors: {places(group, most=5)}"
    hint = f" ({first.hint})" if first.hint and all(fault.hint == first.hint for fault in group) else ""
    colon = ":" if first.kind not in ("axis", "index") or first.what.startswith("[") else ""
    alike = f"; {len(group):,} alike" if len(group) > 1 else ""
    return f"{places(group)}{colon} {first.what}{hint}{alike}"


def places(group: list[Fault], most: int = 3) -> str:
    """Where: numbers folded into ranges, a file that all share said once, many parts of the same blocks together."""
    files = {fault.file for fault in group}
    file = files.pop() if len(files) == 1 else ""
    file = "" if file in NO_FILE else file
    named = [fault.name if file and fault.name else fault.where for fault in group]
    rows = _blocks(collapsed(named), most)
    shown = ", ".join(name for name, _ in rows[:most])
    left = sum(n for _, n in rows[most:])
    head = f"{file}:" if file and group[0].name else ""
    return f"{head}{shown} and {left:,} more" if left else f"{head}{shown}"


PARTS = 8
"""Parts of a block that are named."""


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
