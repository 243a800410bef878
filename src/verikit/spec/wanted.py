"""What is wanted of tensors besides dtype and shape: words about values, relations, companions, how they are held."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from verikit.spec import alike, arithmetic, grammar, hints, predicates
from verikit.spec.alike import Speech
from verikit.spec.arithmetic import Inexact, Unbound
from verikit.spec.compiled import Plan
from verikit.spec.dtypes import is_inexact
from verikit.spec.fit import laid_out
from verikit.spec.grammar import Value
from verikit.spec.held import PLAIN, held_as
from verikit.spec.rows import Absent, Entry, Fault, Want, joined
from verikit.spec.solving import Solving, numbers_of
from verikit.spec.unfit import dtype_fault, rank_fault

FINITE = predicates.Atom("finite")


def values(solving: Solving, plan: Plan, found: list[tuple[Entry, dict[str, str]]]) -> None:
    parts = predicates.conjuncts(plan.rule.value.predicate)
    finite = solving.finite and not _speaks_of_values(plan.rule.value.predicate)
    if plan.rule.kind != "tensor" or plan.rule.forbidden or not (parts or finite):
        return
    speeches = [_asked(solving, plan, part) for part in parts]
    for entry, captured in found:
        for number, (part, speech) in enumerate(zip(parts, speeches, strict=True)):
            key = speech and (plan.number, number, *_differing(solving, speech, entry, captured))
            want = solving.wanted_alike.get(key) if key else None
            if want is None:
                want = one_value(solving, plan, entry, numbers_of(captured), part)
                if want is not None and key:
                    solving.wanted_alike[key] = want
            else:
                want.entries.append(entry)
        if finite and is_inexact(entry.dtype):
            _want(solving, plan, entry, FINITE, ["finite"])


def _asked(solving: Solving, plan: Plan, part: predicates.Predicate) -> Speech | None:
    """What a word about values speaks of that may differ; None for words that look at more than values."""
    if not predicates.needs_values(part) or predicates.relates(part):
        return None
    return alike.speech_of(predicates.names(part), plan, solving.compiled)


def _speaks_of_values(predicate: predicates.Predicate | None) -> bool:
    return predicate is not None and predicates.needs_values(predicate)


def _differing(solving: Solving, speech: Speech, entry: Entry, captured: Mapping[str, str]) -> tuple[Any, ...]:
    """What these are for this tensor: where they agree, so does all that is asked."""
    return *(captured[name] for name in speech.inner), *solving.narrow_dims(speech, entry)


def one_value(
    solving: Solving, plan: Plan, entry: Entry, captured: dict[str, int], part: predicates.Predicate
) -> Want | None:
    """What is to be looked at, if it is values."""
    try:
        if isinstance(part, predicates.Atom) and part.word == "companion":
            _companion(solving, plan, entry, captured, part)
        elif predicates.needs_values(part) or predicates.relates(part):
            return _want(solving, plan, entry, part, _resolved(solving, entry, captured, part))
        else:
            _held(solving, plan, entry, part)
    except Absent as error:
        solving.out.faults.append(Fault("missing", plan.number, "", str(error), "missing"))
    except Unbound as error:
        solving.cannot(error.name, plan)
    except Inexact as error:
        solving.tell("ambiguous", f"{plan.rule.key}: {error}")
    return None


def _resolved(solving: Solving, entry: Entry, captured: Mapping[str, int], part: predicates.Predicate) -> list[Any]:
    return predicates.resolved(part, solving.lookup(entry, captured), lambda name: _target(solving, entry, name))


def _target(solving: Solving, entry: Entry, name: str) -> tuple[str, str]:
    """(name, file) of the tensor that a relation names: in the same file if it is there, else in any."""
    rows = solving.by_name.get(name, [])
    near = [row for row in rows if row.file == entry.file] or rows
    if not near:
        raise Absent(name)
    return name, near[0].file


def _want(
    solving: Solving, plan: Plan, entry: Entry, part: predicates.Predicate, resolved: list[Any], suffix: str = ""
) -> Want:
    """suffix: of a companion, whose numbers are those of the tensor that it belongs to."""
    key = json.dumps([plan.number, resolved])
    if key not in solving.wanted:
        whence = partial(_whence, solving, plan, part, suffix)
        solving.wanted[key] = Want(resolved, str(part), [], plan.number, whence)
        solving.out.wants.append(solving.wanted[key])
    solving.wanted[key].entries.append(entry)
    return solving.wanted[key]


def _whence(solving: Solving, plan: Plan, part: predicates.Predicate, suffix: str, file: str, name: str) -> str:
    """Where the numbers of a word come from: a config key, or the value of a dim and the axis that bound it."""
    owner = predicates.owner_of(name, suffix) if suffix else name
    rows = solving.by_name.get(owner, ())
    entry = next((row for row in rows if row.file == file), rows[0] if rows else Entry(file, owner, "", ()))
    match = plan.regex.fullmatch(owner) if plan.regex else None
    captured = numbers_of(match.groupdict()) if match else {}
    return joined(_sourced(solving, inner, entry, captured) for inner in predicates.names(part))


def _sourced(solving: Solving, name: str, entry: Entry, captured: Mapping[str, int]) -> str:
    """`config.json vocab_size=320`, or `v=320, embed.weight axis 0`."""
    bound = solving.bound_for(name, entry, captured)
    given = name in solving.constants or name in captured
    return bound.origin if given else f"{name}={bound.value}, {bound.origin}"


def _companion(solving: Solving, plan: Plan, entry: Entry, captured: dict[str, int], atom: predicates.Atom) -> None:
    """Its companion must exist, in any file of the check, with the shape that this tensor's dims give."""
    suffix, text = atom.arguments
    name = predicates.companion_of(entry.name, suffix)
    value = grammar.parse_value(text)
    rows = solving.by_name.get(name, [])
    if not rows:
        solving.out.faults.append(
            Fault("missing", plan.number, "", name, f"missing: the companion of {entry.dtype} {plan.rule.name}")
        )
        return
    solving.companions += rows
    speech = _companion_speech(solving, plan, atom, value)
    dims = tuple(captured.get(name) for name in speech.inner) + solving.narrow_dims(speech, entry)
    for other in rows:
        key = (id(atom), other.dtype, other.shape, dims)
        if key in solving.fitting:
            for want in solving.fitting[key]:
                want.entries.append(other)
            continue
        before = len(solving.out.faults), len(solving.out.unknown)
        wants = _companion_wants(solving, plan, entry, captured, value, other, suffix)
        related = value.predicate is not None and predicates.relates(value.predicate)
        if before == (len(solving.out.faults), len(solving.out.unknown)) and not related:
            solving.fitting[key] = wants


def _companion_speech(solving: Solving, plan: Plan, atom: predicates.Atom, value: Value) -> Speech:
    if id(atom) not in solving.spoken:
        found = [name for axis in value.axes or () for name in axis.names()]
        found += predicates.names(value.predicate) if value.predicate else ()
        solving.spoken[id(atom)] = alike.speech_of(found, plan, solving.compiled)
    return solving.spoken[id(atom)]


def _companion_wants(
    solving: Solving, plan: Plan, entry: Entry, captured: dict[str, int], value: Value, other: Entry, suffix: str
) -> list[Want]:
    """What is to be looked at in a companion; where its dtype or shape does not fit, that is told."""
    if value.dtypes is not None and other.dtype not in value.dtypes:
        dtype_fault(solving, plan, other, value.dtypes)
    laid = laid_out(value.axes, other.shape) if value.axes is not None else []
    if laid is None:
        rank_fault(solving, plan, other, value, entry, captured)
    for axis, position, size in laid or ():
        # Its dims are those of the tensor that it belongs to, so they are looked up there.
        wanted = arithmetic.size(axis.term, solving.lookup(entry, captured)) if axis.term is not None else size
        if wanted != size and axis.term is not None:
            lookup = solving.lookup(entry, captured)
            worked = arithmetic.substituted(axis.term, lookup)
            what = f"axis {position} ({axis}): {size}, expected {wanted} = {worked}"
            origin, cause = f"{entry.name} is {list(entry.shape)}", (plan.number, suffix, position)
            hint = hints.of_parts(axis.term, size, lookup, other.dtype)
            solving.fault("axis", plan, other, what, origin=origin, cause=cause, off=size - wanted, hint=hint)
    parts = predicates.conjuncts(value.predicate)
    return [_want(solving, plan, other, part, _resolved(solving, entry, captured, part), suffix) for part in parts]


def _held(solving: Solving, plan: Plan, entry: Entry, part: predicates.Predicate) -> None:
    """Words about how a tensor is held: device, strides, storage."""
    verdict, words = held_as(part, PLAIN if entry.extra is None else entry.extra)
    if verdict is None:
        solving.tell("unsupported", f"{entry.where}: can't tell whether it is {part}: {words}")
    elif not verdict:
        solving.fault("held", plan, entry, f"{words}, expected {part}")
