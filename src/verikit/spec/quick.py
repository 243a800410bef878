"""The quick look: a plain spec as a table of names, for checks inside a training loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import attrs

from verikit.spec import arithmetic
from verikit.spec.arithmetic import Inexact, Unbound
from verikit.spec.compiled import Compiled, Constants
from verikit.spec.grammar import Axis, Rule
from verikit.spec.rows import Bound, Entry


class Table(NamedTuple):
    """Every name that a plain spec stands for, with its axes (sizes, dims, None for any) and dtypes."""

    rows: dict[str, tuple[tuple[int | str | None, ...], frozenset[str] | None]]
    required: frozenset[str]


def quick(
    compiled: Compiled, entries: list[Entry], constants: Constants, strict: bool = False
) -> tuple[dict[str, Bound], int] | None:
    """(the dims, how many tensors no rule names), if everything fits at first sight; None means "look properly", not "wrong".

    Nothing here builds a message.  For specs without stars, of plain axes: the checks inside a training loop.
    """
    try:
        env: dict[str, Any] = {name: constants.get(name).value for name in compiled.exprs}
    except (Unbound, Inexact):
        return None
    table = _table(compiled, env)
    if table is None:
        return None
    rows, bound, extra = table.rows, env.setdefault, 0
    met = {entry[1] for entry in entries}
    if len(met) != len(entries) or not table.required <= met or (strict and len(met) > len(rows)):
        return None
    for entry in entries:
        row = rows.get(entry[1])
        if row is None:
            if strict or not entry[1]:
                return None
            extra += 1
            continue
        axes, dtypes = row
        shape = entry[3]
        if (dtypes is not None and entry[2] not in dtypes) or len(axes) != len(shape):
            return None
        for axis, size in zip(axes, shape):  # noqa: B905 - of one length, as the line before has it
            if axis.__class__ is int:
                if axis != size:
                    return None
            elif axis is not None and bound(axis, size) != size:  # type: ignore[arg-type]
                return None
    return {name: Bound(value, "") for name, value in env.items()}, extra


_TABLES: dict[int, tuple[Compiled, dict[str, Any], Table | None]] = {}


def _table(compiled: Compiled, env: dict[str, Any]) -> Table | None:
    """The table for these constants, kept for the next time."""
    kept = _TABLES.get(id(compiled))
    if kept is not None and kept[0] is compiled and kept[1] == env:
        return kept[2]
    if len(_TABLES) > 64:
        _TABLES.clear()
    made = None if compiled.bounds else _made_table(compiled, env)
    _TABLES[id(compiled)] = (compiled, dict(env), made)
    return made


def _made_table(compiled: Compiled, env: dict[str, Any]) -> Table | None:
    rows: dict[str, Any] = {}
    required: list[str] = []

    def lookup(name: str) -> Any:
        if name in env:
            return env[name]
        raise Unbound(name)

    for plan in compiled.plans:
        rule, axes = plan.rule, _plain_axes(plan.rule, compiled.scopes, lookup)
        if axes is None or rule.name is None or rule.name.starred or rule.optional_if is not None:
            return None
        try:
            filled = [rule.name.filled(given) for given in rule.name.assignments(lookup)]
        except (Unbound, Inexact):
            return None
        if any(name in rows for name in filled):
            return None
        rows.update(dict.fromkeys(filled, (axes, rule.value.dtypes)))
        required += filled if not rule.optional else ()
    return Table(rows, frozenset(required)) if required else None


def _plain_axes(
    rule: Rule, scopes: Mapping[str, str], lookup: Callable[[str], Any]
) -> tuple[int | str | None, ...] | None:
    """Its axes as sizes, dims of the whole check, and None for any; None if it needs more than that."""
    value = rule.value
    if rule.kind != "tensor" or rule.forbidden or rule.when or rule.file or value.predicate or value.axes is None:
        return None
    out: list[int | str | None] = []
    for axis in value.axes:
        if attrs.evolve(axis, term=None, label=None) != Axis():
            return None
        try:
            out.append(None if axis.term is None else arithmetic.size(axis.term, lookup))
        except Inexact:
            return None
        except Unbound:
            if axis.dim is None or axis.dim in scopes or axis.dim in (rule.name.variables if rule.name else ()):
                return None
            out.append(axis.dim)
    return tuple(out)
