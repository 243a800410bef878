"""Likely causes of a shape that does not fit, where arithmetic supports one; nothing where it does not.

The plainest comes first: axes exchanged, an operand of the axis's own word, another word of the spec that may be meant, another
factor, and then what two numbers alone suggest.  A word may be meant that shares a dim with the axis, or stands in the same
tensor, or at the same place of one that is else alike: of unrelated words some are equal by chance.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from verikit.spec import arithmetic
from verikit.spec.arithmetic import Call, Expr, Inexact, Name, Num, Op, Unbound
from verikit.spec.compiled import Compiled, Plan, all_axes, values_of
from verikit.spec.dtypes import FLOATING
from verikit.spec.fit import product
from verikit.spec.grammar import Axis
from verikit.spec.rows import Entry

PLACEHOLDER = "a ZeRO-3 placeholder: the data is in the partitioned files"
PADDINGS = (512, 256, 128, 64)
"""What vocabularies are padded to."""
PARTS = 64
"""Shards, taps and repetitions that are thought of."""
SMALL = 8
"""Sizes below it divide each other, and are equal, too often to say anything."""

Lookup = Callable[[str], Any]


class Off(NamedTuple):
    """A tensor of another shape than is wanted.

    rows: (axis, position, size).  free: positions of axes that nothing but this rule binds.  lookup: values of dims.
    """

    compiled: Compiled
    plan: Plan
    entry: Entry
    wanted: tuple[int, ...]
    rows: list[tuple[Axis, int, Any]]
    free: frozenset[int]
    lookup: Lookup


# Of whole shapes.


def of_rank(shape: tuple[int, ...], axes: tuple[Axis, ...], sizes: list[int | None], least: int, most: int) -> str:
    """Why there are other than from `least` to `most` axes. sizes: of each axis, as far as it is known."""
    if len(shape) == most + 1 and shape[0] == 1:
        return "an extra batch axis in front" if most else "a single value, but not a scalar"
    if any(axis.run is not None or axis.optional for axis in axes):
        return ""
    if len(shape) == most + 1:
        return next(_apart(shape, axes, sizes), "")
    if len(shape) == most - 1 and (at := next(_together(shape, sizes), None)) is not None:
        return f"axes {at} and {at + 1} merged into one" if most > 2 else "flattened"
    known = [size for size in sizes if size]
    return "flattened" if len(shape) == 1 and known and shape[0] % product(tuple(known)) == 0 else ""


def _apart(shape: tuple[int, ...], axes: tuple[Axis, ...], sizes: list[int | None]) -> Iterator[str]:
    """Two axes where their product is wanted."""
    for at, (axis, size) in enumerate(zip(axes, sizes, strict=True)):
        one, other = shape[at : at + 2]
        rest = zip((*shape[:at], *shape[at + 2 :]), (*sizes[:at], *sizes[at + 1 :]), strict=True)
        if one > 1 and other > 1 and one * other == size and all(want in (None, seen) for seen, want in rest):
            yield f"axes {at} and {at + 1} not merged: {one}*{other} = {axis.term}"


def _together(shape: tuple[int, ...], sizes: list[int | None]) -> Iterator[int]:
    """Where one axis is the product of the two that are wanted."""
    for at, size in enumerate(shape):
        one, other = sizes[at : at + 2]
        rest = zip((*shape[:at], *shape[at + 1 :]), (*sizes[:at], *sizes[at + 2 :]), strict=True)
        if one and other and one * other == size and all(want in (None, seen) for seen, want in rest):
            yield at


def of_nothing(entry: Entry) -> str:
    """Why it is empty: parameters that ZeRO-3 left elsewhere are [0]; an empty sample or count is what it is."""
    return PLACEHOLDER if entry.shape == (0,) and entry.dtype in FLOATING else ""


def of_shape(off: Off) -> str:
    """Why a tensor has this shape instead of the one that is wanted."""
    seen, wanted = off.entry.shape, off.wanted
    if 0 in seen and 0 not in wanted:
        return of_nothing(off.entry)
    if seen == wanted:
        return ""
    found = exchanged(off) or (packed_otherwise(seen, wanted) if off.entry.dtype not in FLOATING else "")
    if found:
        return found
    if product(seen) and product(seen) == product(wanted):
        return "as many elements: reshaped"
    rows = (row for row in off.rows if row[0].run is None and row[1] < len(wanted) and row[2] != wanted[row[1]])
    return next(filter(None, (of_size(off, *row) for row in rows)), "")


def exchanged(off: Off) -> str:
    """The order of axes that would fit: every axis that is not free then has the size that is wanted."""
    seen, wanted, free = off.entry.shape, off.wanted, off.free
    if len(off.rows) != len(seen) or any(axis.run is not None for axis, _, _ in off.rows):
        free = frozenset()
    if len(seen) == 2 and seen == wanted[::-1]:
        return "transposed"
    pairs = [pair for pair in itertools.combinations(range(len(seen)), 2) if _fits_with(pair, seen, wanted, free)]
    certain = [pair for pair in pairs if not free & set(pair)] or pairs
    if len(certain) == 1:
        (one, other), turned = certain[0], "transposed: " if seen == wanted[::-1] else ""
        return "transposed" if len(seen) == 2 else f"{turned}axes {one} and {other} exchanged"
    if len(seen) > 1 and seen == wanted[::-1]:
        return "transposed"
    if sorted(seen) != sorted(wanted):
        return ""
    order = ", ".join(str(wanted.index(size)) for size in seen)
    return "axes in another order" + (f": permute({order}) of what is expected" if len(set(seen)) == len(seen) else "")


def _fits_with(pair: tuple[int, int], seen: tuple[int, ...], wanted: tuple[int, ...], free: frozenset[int]) -> bool:
    """Whether the shape fits with two axes exchanged, of which one was off and not free."""
    one, other = pair
    turned = list(seen)
    turned[one], turned[other] = seen[other], seen[one]
    fixed = [at for at in range(len(wanted)) if at not in free]
    off = any(at in fixed and seen[at] != wanted[at] for at in pair)
    return off and all(turned[at] == wanted[at] for at in fixed)


def packed_otherwise(seen: tuple[int, ...], wanted: tuple[int, ...]) -> str:
    """Several values in one integer along another axis than is wanted: GPTQ packs the input, AWQ the output."""
    off = [axis for axis in range(len(wanted)) if len(seen) == len(wanted) and seen[axis] != wanted[axis]]
    for k in (8, 4, 2):
        for a, b in ((off[0], off[1]), (off[1], off[0])) if len(off) == 2 else ():
            if seen[a] * k == wanted[a] and seen[b] == wanted[b] * k:
                return f"{k} values packed into one along axis {a}, not axis {b}"
    return ""


# Of one axis.


def of_size(off: Off, axis: Axis, position: int, size: int) -> str:
    """Why one axis has this size."""
    wanted, dtype = off.wanted[position], off.entry.dtype
    if axis.term is not None and (own := of_parts(axis.term, size, off.lookup, dtype)):
        return own
    words = other_words(off, axis, size, near(off, axis))
    factor = other_factor(axis, size, off.lookup) if "*" not in words else ""
    told = "; ".join(filter(None, (words, factor)))
    return told or other_words(off, axis, size, beside(off, position)) or of_numbers(size, wanted, dtype)


PACKED = dict.fromkeys(("i32", "u32"), (8, "eight 4-bit values packed into one int32?"))
PACKED.update(dict.fromkeys(("u8", "i8"), (2, "two 4-bit values in one byte?")))


def of_parts(term: Expr, size: int, lookup: Lookup, dtype: str) -> str:
    """An operand of its own word, as where `n//2` is n: not packed; or `ceil(n/2)` rounded down."""
    match term:
        case Op("//", left, right) if _comes_to(left, size, lookup):
            packs = isinstance(right, Num) and right.value in (2, 4, 8) and dtype in PACKED
            return f"equals {left}: not {f'packed, {right} to one {dtype}' if packs else f'divided by {right}'}"
        case Op("+" | "-", left, right):
            parts = [part for part in (left, right) if _comes_to(part, size, lookup)]
            return f"equals {parts[0]}" if parts else ""
        case Call("ceil" | "floor" as name, (inner,)):
            turned, how = ("floor", "down") if name == "ceil" else ("ceil", "up")
            if _comes_to(inner, size, lookup) or _comes_to(Call(turned, (inner,)), size, lookup):
                return f"rounded {how}"
            left = inner.left if isinstance(inner, Op) else inner
            return f"equals {left}" if _comes_to(left, size, lookup) else ""
        case Call("round_up", (inner, step)) if _comes_to(inner, size, lookup):
            return f"equals {inner}: not rounded up to a multiple of {step}"
    return ""


def _comes_to(expr: Expr, size: int, lookup: Lookup) -> bool:
    try:
        return not isinstance(expr, Num) and arithmetic.size(expr, lookup) == size
    except (Unbound, Inexact):
        return False


def other_words(off: Off, axis: Axis, size: int, meant: Iterator[Expr]) -> str:
    """Other words of the spec that come to this size, the plainest first."""
    found = {
        str(term): isinstance(term, (Op, Call))
        for term in meant
        if term != axis.term and _comes_to(term, size, off.lookup)
    }
    words = sorted(found.items(), key=lambda row: (row[1], len(row[0])))
    return "equals " + " or ".join(word for word, _ in words[:2]) if words else ""


def near(off: Off, axis: Axis) -> Iterator[Expr]:
    """Words that share a dim with that of the axis, or stand in the same rule."""
    mine = _names_of(axis.term, off.compiled)
    for rule, other in all_axes(off.compiled):
        shares = mine & _names_of(other.term, off.compiled) and isinstance(_opened(other.term, off.compiled), Op)
        if other.term is not None and (shares or rule is off.plan.rule):
            yield other.term


def beside(off: Off, position: int) -> Iterator[Expr]:
    """Words that stand at the same place of tensors whose other axes are the same."""
    own = [axis.term for axis, _, _ in off.rows if axis.run is None]
    for rule in off.compiled.spec.rules:
        for value in values_of(rule.value):
            terms = [each.term for each in value.axes or ()]
            alike = len(terms) == len(own) > position and _but(terms, position) == _but(own, position)
            yield from filter(None, terms[position : position + 1] if alike else ())


def _but(terms: list[Any], position: int) -> list[Any]:
    return terms[:position] + terms[position + 1 :]


def _opened(term: Expr | None, compiled: Compiled) -> Expr | None:
    """A dim that is worked out from others as that."""
    return compiled.exprs.get(term.name, term) if isinstance(term, Name) else term


def _names_of(term: Expr | None, compiled: Compiled) -> set[str]:
    """The dims that it is made of."""
    return {name for each in (term, _opened(term, compiled)) if each is not None for name in arithmetic.names(each)}


def other_factor(axis: Axis, size: int, lookup: Lookup) -> str:
    """`taps*hidden` with another count of taps."""
    term = axis.term
    if not (isinstance(term, Op) and term.op == "*"):
        return ""
    for count, unit in ((term.left, term.right), (term.right, term.left)):
        try:
            each, wanted = arithmetic.size(unit, lookup), arithmetic.size(count, lookup)
        except (Unbound, Inexact):
            continue
        if each >= SMALL and size % each == 0 and 0 < size // each <= PARTS and size // each != wanted:
            return f"{size // each}*{unit}, not {wanted}*{unit}"
    return ""


def of_numbers(size: int, wanted: int, dtype: str) -> str:
    """What the two numbers alone suggest."""
    if not size or not wanted:
        return ""
    if dtype in PACKED and wanted == PACKED[dtype][0] * size and wanted >= 2 * SMALL:
        return PACKED[dtype][1]
    if size % wanted == 0:
        return f"{size // wanted} times as many" if wanted >= SMALL else ""
    if wanted % size == 0:
        parts = wanted // size
        likely = parts <= SMALL or (parts <= PARTS and not parts & (parts - 1))
        return f"1/{parts} of it: one shard of {parts}?" if size >= SMALL and likely else ""
    step = next((step for step in PADDINGS if wanted % step and size == -(-wanted // step) * step), 0)
    return f"{wanted} rounded up to a multiple of {step}: padded" if step else ""
