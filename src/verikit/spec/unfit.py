"""What does not fit: a dtype, a rank, or the size of an axis against what the dims are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from verikit.spec import arithmetic, grammar, hints
from verikit.spec.arithmetic import Expr, Inexact, Remainder, Unbound
from verikit.spec.compiled import Plan
from verikit.spec.dtypes import BYTES
from verikit.spec.fit import Misfit, bracketed, broken_bound, label, merged, sentence
from verikit.spec.grammar import Axis, Value
from verikit.spec.rows import Entry
from verikit.spec.solving import Solving, numbers_of


def dtype_fault(solving: Solving, plan: Plan, entry: Entry, wanted: frozenset[str] | None) -> None:
    shown = grammar.show_dtypes(wanted) or "a tensor"
    what = f"{entry.dtype}, expected {shown}"
    if re.fullmatch(r"v\d+|void\d*", entry.dtype) and wanted:  # what numpy writes for dtypes that it does not know
        solving.tell("unsupported", f"{entry.where}: {entry.dtype}, bytes that may be {shown} or not")
        return
    if entry.dtype not in BYTES:
        what = f"{entry.dtype}, not a tensor of {shown}" if wanted else f"{entry.dtype}, not a tensor"
    sizes = {BYTES.get(each, 0) for each in wanted or ()}
    hint = ""
    if len(sizes) == 1 and BYTES.get(entry.dtype, 0) == 2 * next(iter(sizes)):
        hint = "twice the bytes"
    solving.fault("dtype", plan, entry, what, hint=hint)


def rank_fault(
    solving: Solving, plan: Plan, entry: Entry, value: Value, asker: Entry, captured: Mapping[str, int]
) -> None:
    """asker: the tensor whose dims its axes have: itself, or the one that it is a companion of."""
    if entry.shape == (0,):
        solving.fault("rank", plan, entry, "[0], empty, where values are expected", hint=hints.of_nothing(entry))
        return
    axes = value.axes or ()
    least = sum(axis.run is None and not axis.optional for axis in axes)
    most = least + sum(axis.optional for axis in axes)
    runs = any(axis.run is not None for axis in axes)
    wanted = f"at least {least}" if runs else str(least) if least == most else f"{least} to {most}"
    rank = f"{len(entry.shape)} {'axis' if len(entry.shape) == 1 else 'axes'}"
    sizes = [_known_size(solving, axis, asker, captured) for axis in axes]
    origin = solving.origins(
        (n for axis, size in zip(axes, sizes, strict=True) if size for n in axis.names()), asker, captured
    )
    what = f"{list(entry.shape)} has {rank}, expected {wanted}: {_sizes_of(axes, sizes)}"
    hint = hints.of_rank(entry.shape, axes, sizes, least, most)
    solving.fault("rank", plan, entry, what, origin=origin, cause=(plan.number, len(entry.shape)), hint=hint)


def _known_size(solving: Solving, axis: Axis, entry: Entry, captured: Mapping[str, int]) -> int | None:
    """What size it should have, as far as anything says so."""
    try:
        return None if axis.term is None else arithmetic.size(axis.term, solving.lookup(entry, captured))
    except (Unbound, Inexact):
        return None


def _sizes_of(axes: tuple[Axis, ...], sizes: list[int | None]) -> str:
    """`[H*d h] = [64 64]`: the axes as they are written, and with what is known of their sizes."""
    shown = [str(axis) for axis in axes]
    known = [text if size is None else str(size) for text, size in zip(shown, sizes, strict=True)]
    return f"[{' '.join(shown)}]" + (f" = [{' '.join(known)}]" if known != shown else "")


def compare(solving: Solving) -> None:
    for entry, captured, group in solving.sized:
        dims = solving.narrow_dims(solving.speeches[group.plan.number], entry)
        if dims not in group.fitting and _fits(solving, group.plan, entry, numbers_of(captured), group.rows):
            group.fitting.add(dims)


def _fits(
    solving: Solving, plan: Plan, entry: Entry, captured: dict[str, int], rows: list[tuple[Axis, int, Any]]
) -> bool:
    """Whether its axes are all as expected; what is not is told."""
    expected, known = list(entry.shape), True
    bad: list[Misfit] = []
    for axis, position, size in rows:
        try:
            misfit = misfit_of(solving, axis, position, size, entry, captured, expected)
        except Unbound as error:
            why = solving.unsolved.get((plan.number, entry.where, position))
            if why is None:
                known = False
                solving.cannot(error.name, plan)
                continue
            misfit = Misfit(*label(axis, position, entry), f"{size}; {why}")
        except Inexact as error:
            origins = "" if str(error).endswith("]") else solving.origins(axis.names(), entry, captured)
            # What is given is at odds with itself, not the data; but a remainder leaves no size that would do.
            if _given(solving, axis, captured) and not isinstance(error, Remainder):
                known = False
                sentence = f"{plan.rule.key} axis {position} ({axis}): {error}{bracketed(origins)}"
                solving.tell("ambiguous", sentence)
                continue
            misfit = Misfit(*label(axis, position, entry), f"{size}; {error}", origins)
        if misfit is not None:
            bad.append(misfit)
    misfits(solving, plan, entry, captured, rows, bad, tuple(expected))
    return known and not bad


def misfits(
    solving: Solving,
    plan: Plan,
    entry: Entry,
    captured: Mapping[str, int],
    rows: list[tuple[Axis, int, Any]],
    bad: list[Misfit],
    wanted: tuple[int, ...],
) -> None:
    """Tells what is wrong with the axes of a tensor."""
    if not bad:
        return
    free = frozenset(position for axis, position, _ in rows if _is_free(solving, axis, plan, entry))
    for same in merged([each for each in bad if _is_news(solving, each, entry)], plan, entry, wanted, free):
        off = hints.Off(solving.compiled, plan, entry, wanted, rows, free, solving.lookup(entry, captured))
        cause = plan.number, same[0].name, *(each.number for each in same)
        more = {"origin": same[0].origin, "off": same[0].off, "cause": cause, "hint": _hint(solving, off)}
        solving.fault("axis", plan, entry, sentence(same), **more)


def _is_news(solving: Solving, misfit: Misfit, entry: Entry) -> bool:
    """Whether it has not been told of another axis: that a dim is out of its bounds is one fault."""
    if not misfit.about:
        return True
    called = misfit.name, misfit.number
    return called == solving.about.setdefault((*solving.key(misfit.about, entry), misfit.what), called)


def _hint(solving: Solving, off: hints.Off) -> str:
    """The likely cause; tensors that are off alike are asked about once."""
    key = (off.plan.number, off.entry.dtype, off.entry.shape, off.wanted)
    if key not in solving.hinted:
        solving.hinted[key] = hints.of_shape(off)
    return solving.hinted[key]


def _is_free(solving: Solving, axis: Axis, plan: Plan, entry: Entry) -> bool:
    """Whether nothing but tensors of this rule says what size it has, and that by this axis."""
    if axis.term is None:
        return axis.run is None and axis.choices is None
    name = axis.dim
    return (
        name is not None
        and name not in solving.constants
        and solving.voters.get(solving.key(name, entry)) == {plan.number}
    )


def _given(solving: Solving, axis: Axis, captured: Mapping[str, int]) -> bool:
    """Whether its expectation is made of constants alone."""
    return axis.term is None or all(
        name in solving.constants or name in captured for name in arithmetic.names(axis.term)
    )


def misfit_of(
    solving: Solving,
    axis: Axis,
    position: int,
    size: Any,
    entry: Entry,
    captured: Mapping[str, int],
    expected: list[int],
) -> Misfit | None:
    """What is wrong with this size."""
    lookup = solving.lookup(entry, captured)
    if axis.run is not None:
        return _misfit_of_run(solving, axis.run, size, entry) if axis.run else None
    if axis.broadcast and size == 1:
        return None
    if axis.term is not None:
        wanted = arithmetic.size(axis.term, lookup)
        if wanted < 0:
            raise Inexact(f"{axis.term} = {arithmetic.substituted(axis.term, lookup)} = {wanted}, which is no size")
        if wanted != size:
            if 0 <= position < len(expected):
                expected[position] = wanted
            because, origin = _because(solving, axis.term, wanted, entry, captured)
            return Misfit(*label(axis, position, entry), f"{size}, expected {because}", origin, size - wanted)
    own = solving.compiled.bounds.get(axis.dim or "")
    for bounds in filter(None, (axis, own)):
        broken = broken_bound(bounds, size, lookup)
        if broken:
            inner = sorted({n for a in (axis, own) if a for n in a.names() if n != axis.dim})
            origin, about = solving.origins(inner, entry, captured), (axis.dim or "") if bounds is own else ""
            return Misfit(*label(axis, position, entry), f"{size}, {broken}", origin, about=about)
    return None


def _misfit_of_run(solving: Solving, run: str, sizes: Any, entry: Entry) -> Misfit | None:
    bound = solving.bound[f"*{run}", solving.key(run, entry)[1]]
    what = f"{list(sizes)}, expected {list(bound.value)}"
    return None if bound.value == sizes else Misfit(f"axes *{run}", None, what, bound.origin)


def _because(solving: Solving, term: Expr, wanted: int, entry: Entry, captured: Mapping[str, int]) -> tuple[str, str]:
    """`256 = kv*d = 2*128`, and where that comes from: `config.json num_key_value_heads=2, head_dim=128`."""
    if isinstance(term, arithmetic.Num):
        return str(wanted), ""
    worked = arithmetic.substituted(term, solving.lookup(entry, captured))
    origin = solving.origins(arithmetic.names(term), entry, captured)
    steps = "" if worked in (str(wanted), str(term)) else f" = {worked}"
    return f"{wanted} = {term}{steps}", "" if origin == f"{term}={wanted}" else origin
