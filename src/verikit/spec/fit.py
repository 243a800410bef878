"""One shape against its axes: which size belongs to which axis, and which bound a size breaks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from verikit.spec import arithmetic
from verikit.spec.arithmetic import Expr
from verikit.spec.compiled import Plan
from verikit.spec.grammar import Axis
from verikit.spec.rows import Entry, joined


def laid_out(axes: tuple[Axis, ...], shape: tuple[int, ...]) -> list[tuple[Axis, int, Any]] | None:
    """(axis, position, size) by axis, a run having a tuple of sizes; None where the rank does not fit.

    Optional axes fall away from the left, as many as are too many.
    """
    run = next((k for k, axis in enumerate(axes) if axis.run is not None), None)
    singles = [axis for axis in axes if axis.run is None]
    spare = len(singles) - len(shape)
    if spare > 0:
        dropped = [k for k, axis in enumerate(axes) if axis.optional][:spare]
        if len(dropped) < spare:
            return None
        return laid_out(tuple(axis for k, axis in enumerate(axes) if k not in dropped), shape)
    if run is None:
        return None if spare else [(axis, k, size) for k, (axis, size) in enumerate(zip(axes, shape, strict=True))]
    after = len(axes) - run - 1
    end = len(shape) - after
    rows: list[tuple[Axis, int, Any]] = [(axis, k, shape[k]) for k, axis in enumerate(axes[:run])]
    rows.append((axes[run], run, tuple(shape[run:end])))
    rows += [(axis, end + k, shape[end + k]) for k, axis in enumerate(axes[run + 1 :])]
    return rows


class Misfit(NamedTuple):
    """What is wrong with an axis.

    name, number: `(K*d)` and 0, as in `axis 0 (K*d)`; no number for a run and for a count.  what: seen and expected.
    origin: where the numbers come from.  off: by how much.  about: the dim whose own bounds it breaks.
    """

    name: str
    number: int | None
    what: str
    origin: str = ""
    off: int | None = None
    about: str = ""

    def __str__(self) -> str:
        return sentence([self]) + bracketed(self.origin)


def sentence(alike: list[Misfit]) -> str:
    """`axis 0 (h): 64, expected 72`, or `axes 0 and 1 (h): …` of those that differ in their numbers alone."""
    first = alike[0]
    numbers = [str(each.number) for each in alike if each.number is not None]
    many = f"axes {', '.join(numbers[:-1])} and {numbers[-1]} " if len(numbers) > 1 else ""
    head = many or (f"axis {numbers[0]} " if numbers else "")
    return f"{head}{first.name}: {first.what}" if first.name else first.what


def bracketed(origin: str) -> str:
    return f" [{origin}]" if origin else ""


def merged(
    bad: list[Misfit], plan: Plan, entry: Entry, wanted: tuple[int, ...], free: frozenset[int]
) -> list[list[Misfit]]:
    """Several axes that are off are one fault if the shape as a whole says more (transposed, reshaped), or if they are alike.

    free: axes that only tensors of the same rule bind, which need not be named then.
    """
    if len(bad) > 1 and 0 not in wanted and product(entry.shape) == product(wanted):
        shown = " ".join(map(str, plan.rule.value.axes or ()))
        what = f"{list(entry.shape)}, expected {list(wanted)}: [{shown}]"
        return [
            [Misfit("", None, what, joined(each.origin for each in bad if each.origin and each.number not in free))]
        ]
    groups: dict[Misfit, list[Misfit]] = {}
    for each in bad:
        groups.setdefault(each._replace(number=None), []).append(each)
    return list(groups.values())


def label(axis: Axis, position: int, entry: Entry) -> tuple[str, int | None]:
    """`(kv*d)` and the number of the axis; a count of files or tensors has no axes."""
    return (f"({axis.label or axis.term or axis})", position) if entry.dtype else (f"count ({axis})", None)


def broken_bound(axis: Axis, size: int, lookup: Callable[[str], Any]) -> str:
    """Which bound of an axis a size breaks, in words, or nothing."""
    if axis.lower is not None:
        sign, bound = axis.lower
        least = arithmetic.evaluate(bound, lookup)
        if size < least or (sign == "<" and size == least):
            return f"expected {'more than' if sign == '<' else 'at least'} {_worked(bound, least)}"
    if axis.upper is not None:
        sign, bound = axis.upper
        most = arithmetic.evaluate(bound, lookup)
        if size > most or (sign == "<" and size == most):
            return f"expected {'less than' if sign == '<' else 'at most'} {_worked(bound, most)}"
    if axis.multiple is not None:
        step = arithmetic.size(axis.multiple, lookup)
        if step == 0 or size % step:
            return f"expected a multiple of {_worked(axis.multiple, step)}"
    if axis.choices is not None:
        allowed = [arithmetic.size(each, lookup) for each in axis.choices]
        if size not in allowed:
            return f"expected one of {', '.join(map(str, allowed))}"
    return ""


def _worked(expr: Expr, value: Any) -> str:
    return str(value) if isinstance(expr, arithmetic.Num) else f"{value} = {expr}"


def product(shape: tuple[int, ...]) -> int:
    out = 1
    for n in shape:
        out *= n
    return out
