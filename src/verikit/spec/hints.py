"""Likely causes of a shape that does not fit, where arithmetic supports one; nothing where it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from verikit.spec import arithmetic
from verikit.spec.arithmetic import Inexact, Unbound
from verikit.spec.compiled import Compiled, all_axes
from verikit.spec.dtypes import FLOATING
from verikit.spec.fit import product
from verikit.spec.grammar import Axis
from verikit.spec.rows import Entry

PLACEHOLDER = "a ZeRO-3 placeholder: the data is in the partitioned files"
PADDINGS = (512, 256, 128, 64)
"""What vocabularies are padded to."""

Lookup = Callable[[str], Any]


def of_rank(shape: tuple[int, ...], least: int, most: int) -> str:
    """Why there are other than from `least` to `most` axes."""
    if len(shape) == most + 1 and shape[0] == 1:
        return "an extra batch axis in front" if most else "a single value, but not a scalar"
    return "flattened" if len(shape) == 1 and least > 1 else ""


def of_nothing(entry: Entry) -> str:
    """Why it is empty: parameters that ZeRO-3 left elsewhere are [0]; an empty sample or count is what it is."""
    return PLACEHOLDER if entry.shape == (0,) and entry.dtype in FLOATING else ""


def of_shape(
    compiled: Compiled, entry: Entry, wanted: tuple[int, ...], rows: list[tuple[Axis, int, int]], lookup: Lookup
) -> str:
    """Why a tensor has this shape instead of the one that is wanted."""
    seen = entry.shape
    if 0 in seen and 0 not in wanted:
        return of_nothing(entry)
    if seen == wanted:
        return ""
    if len(seen) > 1 and seen == wanted[::-1]:
        return "transposed"
    if sorted(seen) == sorted(wanted):
        return "axes in another order"
    packed = packed_otherwise(seen, wanted) if entry.dtype not in FLOATING else ""
    if packed:
        return packed
    if product(seen) and product(seen) == product(wanted):
        return "as many elements: reshaped"
    off = (row for row in rows if row[0].run is None and row[1] < len(wanted) and row[2] != wanted[row[1]])
    found = (of_size(compiled, axis, size, wanted[position], entry, lookup) for axis, position, size in off)
    return next(filter(None, found), "")


def of_size(compiled: Compiled, axis: Axis, size: int, wanted: int, entry: Entry, lookup: Lookup) -> str:
    """Why one axis has this size: another word of the spec, another factor, packing, padding, a shard."""
    near = other_words(compiled, axis, size, lookup, near=True)
    factor = near or other_factor(axis, size, lookup)
    if factor and not near:
        return factor
    same = near or other_words(compiled, axis, size, lookup)
    return f"equals {same}" if same else of_numbers(size, wanted, entry.dtype)


def packed_otherwise(seen: tuple[int, ...], wanted: tuple[int, ...]) -> str:
    """Several values in one integer along another axis than is wanted: GPTQ packs the input, AWQ the output."""
    off = [axis for axis in range(len(wanted)) if len(seen) == len(wanted) and seen[axis] != wanted[axis]]
    for k in (8, 4, 2):
        for a, b in ((off[0], off[1]), (off[1], off[0])) if len(off) == 2 else ():
            if seen[a] * k == wanted[a] and seen[b] == wanted[b] * k:
                return f"{k} values packed into one along axis {a}, not axis {b}"
    return ""


PACKED = {
    "i32": (8, "eight 4-bit values packed into one int32?"),
    "u32": (8, "eight 4-bit values packed into one int32?"),
}
PACKED.update(dict.fromkeys(("u8", "i8"), (2, "two 4-bit values in one byte?")))


def of_numbers(size: int, wanted: int, dtype: str) -> str:
    """What the two numbers alone suggest."""
    if not size or not wanted:
        return ""
    if dtype in PACKED and wanted == PACKED[dtype][0] * size and wanted >= 16:
        return PACKED[dtype][1]
    steps = [step for step in PADDINGS if size % step == 0 and wanted % step]
    if steps and 0 < size - wanted < max(PADDINGS):
        return f"{wanted} rounded up to a multiple of {steps[0]}: padded"
    if wanted % size == 0:
        return f"1/{wanted // size} of it: one shard of {wanted // size}?"
    return f"{size // wanted} times as many" if size % wanted == 0 else ""


def other_factor(axis: Axis, size: int, lookup: Lookup) -> str:
    """`taps*hidden` with another count of taps."""
    term = axis.term
    if not (isinstance(term, arithmetic.Op) and term.op == "*"):
        return ""
    for count, unit in ((term.left, term.right), (term.right, term.left)):
        try:
            each, wanted = arithmetic.size(unit, lookup), arithmetic.size(count, lookup)
        except (Unbound, Inexact):
            continue
        if each > 1 and size % each == 0 and 0 < size // each <= 64 and size // each != wanted:
            return f"{size // each}*{unit}, not {wanted}*{unit}"
    return ""


def other_words(compiled: Compiled, axis: Axis, size: int, lookup: Lookup, near: bool = False) -> str:
    """Other words of the spec that come to this size; `near`: arithmetic that shares a name with the axis."""
    mine = set(arithmetic.names(axis.term)) if axis.term is not None else set()
    found: list[str] = []
    for _, other in all_axes(compiled):
        term = other.term
        if term is None or isinstance(term, arithmetic.Num) or term == axis.term:
            continue
        if near and (not isinstance(term, arithmetic.Op) or not mine & set(arithmetic.names(term))):
            continue
        try:
            if arithmetic.size(term, lookup) == size:
                found.append(str(term))
        except (Unbound, Inexact):
            continue
    return " or ".join(sorted(dict.fromkeys(found), key=len, reverse=True)[:2])
