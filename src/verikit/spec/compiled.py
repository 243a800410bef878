"""A spec made ready to be held against tensors: its dims sorted into constants and bounds, every name known to be bindable."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import attrs

from verikit.spec import arithmetic, derived, grammar, predicates
from verikit.spec.arithmetic import Expr, Inexact, Unbound
from verikit.spec.grammar import Axis, Rule, Spec, Value
from verikit.spec.names import Pattern, Range
from verikit.spec.rows import Bound, joined


@attrs.frozen(eq=False)
class Compiled:
    """A spec made ready: parsed, its dims sorted into constants and bounds, every name known to be bindable."""

    spec: Spec
    exprs: Mapping[str, Expr]
    bounds: Mapping[str, Axis]
    scopes: Mapping[str, str]
    plans: tuple[Plan, ...]


@attrs.frozen(eq=False)
class Plan:
    """A rule with what is worked out once."""

    number: int
    rule: Rule
    regex: re.Pattern[str] | None
    file_regex: re.Pattern[str] | None
    digits: bool
    """Whether its name pattern has digits of its own, so that a number in a name decides whether it fits."""


@lru_cache(maxsize=64)
def compile_spec(spec: Any, dims: Any) -> Compiled:
    """The compiled form; raises ValueError for what is malformed or leaves a name that nothing can bind."""
    parsed = grammar.parse(spec)
    exprs, bounds, scopes = _dims_of({**_wheres(parsed), **(dims or {})}, parsed.scopes)
    _refuse_cycles(exprs)
    exprs, worked_out = derived.parted(exprs)
    _refuse_unbindable(Compiled(parsed, exprs, bounds, scopes, ()), worked_out)
    parsed = derived.without(parsed, worked_out)
    plans = tuple(_plan(number, rule) for number, rule in enumerate(parsed.rules))
    bounds = {name: derived.opened(axis, worked_out) for name, axis in bounds.items()}
    compiled = Compiled(parsed, exprs, bounds, scopes, plans)
    _refuse_empty_bounds(compiled)
    return compiled


def _wheres(spec: Spec) -> dict[str, Any]:
    """Dims that the spec itself gives; dims= may give them otherwise."""
    return {name: int(text) if text.isdigit() else text for name, text in spec.where}


def _dims_of(
    dims: Mapping[str, Any], scopes: dict[str, str]
) -> tuple[dict[str, Expr], dict[str, Axis], dict[str, str]]:
    """Constants, bounds of free dims, and scopes: `"config.hidden_size"`, `"1<=seq@file"`, `"@file"`, `{"1,3"}`."""
    exprs: dict[str, Expr] = {}
    bounds: dict[str, Axis] = {}
    for name, value in dims.items():
        if not re.fullmatch(r"[A-Za-z_]\w*", str(name)):
            raise ValueError(f"dims names are words as in 'h'; got {name!r}")
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            raise ValueError(
                f"dims[{name!r}] is a number, an expression as in 'config.hidden_size', or bounds as in '1<={name}@file'; "
                f"got {value!r}"
            )
        if isinstance(value, int):
            exprs[name] = arithmetic.Num(value)
        elif value.startswith(("@", "{")) or _about_itself(name, value):
            word = name + value if value.startswith("@") else f"{name}={value}" if value.startswith("{") else value
            bounds[name] = grammar.parse_axis(word, scopes, own=name)
            if bounds[name].dim != name:
                raise ValueError(f"dims[{name!r}] is about {name} alone, as in '1<={name}<=4096'; got {value!r}")
        else:
            exprs[name] = arithmetic.parse(value)
    return exprs, bounds, scopes


def _about_itself(name: str, value: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", value) is not None


def _plan(number: int, rule: Rule) -> Plan:
    name, file = rule.name, rule.file
    regex = re.compile(name.regex()) if name and rule.kind in ("tensor", "tensors") else None
    file_regex = re.compile(r"(?:.*/)?" + file.regex()) if file else None
    text = (
        "".join(piece if isinstance(piece, str) else ",".join(getattr(piece, "options", ())) for piece in name.pieces)
        if name
        else ""
    )
    return Plan(number, rule, regex, file_regex, any(c.isdigit() for c in text))


def all_axes(compiled: Compiled) -> Iterable[tuple[Rule, Axis]]:
    """Every axis of every rule, companions' too."""
    for rule in compiled.spec.rules:
        for value in values_of(rule.value):
            for axis in value.axes or ():
                yield rule, axis


def values_of(value: Value) -> Iterable[Value]:
    """A value and those of its companions."""
    yield value
    for atom in predicates.atoms(value.predicate) if value.predicate else ():
        if atom.word == "companion":
            yield from values_of(grammar.parse_value(atom.arguments[1]))


def _refuse_unbindable(compiled: Compiled, worked_out: Mapping[str, Expr]) -> None:
    known = set(compiled.exprs) | {axis.dim for _, axis in all_axes(compiled) if axis.dim}
    known -= set(worked_out)
    while True:
        more = {name for rule, axis in all_axes(compiled) for name in _bindable(rule, axis, known)} - set(worked_out)
        if more <= known:
            break
        known |= more
    inside = ((f"dims[{name!r}]", inner) for name, expr in worked_out.items() for inner in arithmetic.names(expr))
    for place, name in (*needed(compiled), *inside):
        if name not in known and name not in worked_out and not name.startswith("config."):
            raise ValueError(
                f"{name!r} in {place!r} is bound by nothing: it is in no dims=, and stands nowhere alone as an axis "
                f"(write dims={{{name!r}: 128}}, or dims={{{name!r}: 'config.…'}})"
            )


def _refuse_empty_bounds(compiled: Compiled) -> None:
    """`9<=n<=3` is within no bounds, whatever the data."""
    for axis in (*compiled.bounds.values(), *(axis for _, axis in all_axes(compiled))):
        if axis.lower and axis.upper:
            (least, low), (most, high) = axis.lower, axis.upper
            if isinstance(low, arithmetic.Num) and isinstance(high, arithmetic.Num):
                first, last = low.value + (least == "<"), high.value - (most == "<")
                if first > last:
                    raise ValueError(f"{str(axis)!r}: no size is at least {first} and at most {last}")
    for rule in compiled.spec.rules:
        pieces = [piece for pattern in (rule.file, rule.name) if pattern for piece in pattern.pieces]
        ends = [(str(rule.key), piece.first, piece.last) for piece in pieces if isinstance(piece, Range)]
        for value in values_of(rule.value):
            found = predicates.atoms(value.predicate) if value.predicate else ()
            ends += [(str(atom), *atom.arguments) for atom in found if atom.word == "in"]
        for where, low, high in ends:
            if isinstance(low, arithmetic.Num) and isinstance(high, arithmetic.Num) and low.value > high.value:
                raise ValueError(f"{where!r}: nothing lies in {low}..{high}")


def _refuse_cycles(exprs: Mapping[str, Expr]) -> None:
    for name in exprs:
        _refuse_cycle(exprs, name, (name,))


def _refuse_cycle(exprs: Mapping[str, Expr], name: str, path: tuple[str, ...]) -> None:
    for inner in arithmetic.names(exprs[name]):
        if inner in path:
            raise ValueError(f"dims go in a circle: {' -> '.join((*path, inner))}")
        if inner in exprs:
            _refuse_cycle(exprs, inner, (*path, inner))


def _bindable(rule: Rule, axis: Axis, known: set[str]) -> Iterable[str]:
    if axis.term is None:
        return
    inside = rule.name.variables if rule.name else ()
    unknown = {
        n for n in arithmetic.names(axis.term) if n not in known and n not in inside and not n.startswith("config.")
    }
    if len(unknown) == 1 and arithmetic.solvable(axis.term, next(iter(unknown))):
        yield from unknown


def needed(compiled: Compiled) -> Iterable[tuple[str, str]]:
    """(where it stands, name) for every name that must get a value."""
    for name, expr in compiled.exprs.items():
        yield from ((f"dims[{name!r}]", inner) for inner in arithmetic.names(expr))
    for name, axis in compiled.bounds.items():
        yield from ((f"dims[{name!r}]", inner) for inner in axis.names() if inner != name)
    for rule in compiled.spec.rules:
        inside = rule.name.variables if rule.name else ()
        for pattern in (rule.name, rule.file):
            if pattern is not None and isinstance(pattern, Pattern):
                yield from ((str(rule.key), name) for name in pattern.names())
        for value in values_of(rule.value):
            found = [n for axis in value.axes or () for n in axis.names()]
            found += predicates.names(value.predicate) if value.predicate else ()
            yield from ((str(rule), name) for name in found if name not in inside)


# Constants.

MISSING = object()


class Constants:
    """Dims given by number or by config, each with where its number comes from.

    missing: why there is no config, if it could not be read.
    """

    def __init__(self, compiled: Compiled, config: Any, config_name: str, missing: str = "") -> None:
        self._exprs, self._config, self._file, self.missing = compiled.exprs, config, config_name, missing
        self._known: dict[str, Bound] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._exprs or name.startswith("config.")

    def get(self, name: str) -> Bound:
        """Raises Unbound with the name, or with the config key that is not there; Inexact for a division that leaves a rest."""
        if name not in self._known:
            self._known[name] = self._key(name) if name.startswith("config.") else self._dim(name)
        return self._known[name]

    def _key(self, name: str) -> Bound:
        found = self._config
        for part in name.split(".")[1:]:
            if not isinstance(found, Mapping) or found.get(part) is None:
                raise Unbound(name)
            found = found[part]
        text = json.dumps(found, default=str) if not isinstance(found, (list, tuple)) else f"{len(found)} values"
        return Bound(found, f"{self._file} {name[7:]}={text}")

    def lack(self, name: str) -> str:
        """How the config lacks a key: `config.json has no key head_dim`, or `config.json has head_dim=null`."""
        parts, found = name.split(".")[1:], self._config
        for part in parts:
            found = found.get(part, MISSING) if isinstance(found, Mapping) else MISSING
        return (
            f"{self._file} has {'.'.join(parts)}=null"
            if found is None
            else f"{self._file} has no key {'.'.join(parts)}"
        )

    def _dim(self, name: str) -> Bound:
        expr = self._exprs[name]
        try:
            value = arithmetic.evaluate(expr, lambda inner: self.get(inner).value)
        except Inexact as error:  # of what is given, not of what was seen: the config is at odds with itself
            told = "" if " [" in str(error) else f" [{joined(self.origins(expr))}]"
            raise Inexact(f"{name}: {error}{told}") from None
        if isinstance(expr, arithmetic.Num):
            return Bound(value, f"{name}={value}")
        return Bound(value, ", ".join(dict.fromkeys(self.origins(expr))))

    def origins(self, expr: Expr) -> Iterable[str]:
        """Where the numbers of an expression come from."""
        if isinstance(expr, arithmetic.Op) and expr.op == "or":
            try:
                used = arithmetic.evaluate(expr.left, lambda inner: self.get(inner).value)
            except Unbound:
                used = None
            yield from self.origins(expr.left if used else expr.right)
            return
        for inner in arithmetic.names(expr):
            try:
                yield self.get(inner).origin
            except (Unbound, Inexact):
                continue
