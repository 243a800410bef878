"""Dims that are worked out from dims that the data binds, as `gate_up` in {"gate_up": "2*inner"}.

They have no number before the tensors are seen.  So the spec is rewritten without them, and an axis that was called so
keeps the word for reasons: `gate_up` becomes `gate_up=2*inner`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from verikit.spec import arithmetic, grammar
from verikit.spec.arithmetic import Expr
from verikit.spec.grammar import Axis, Spec
from verikit.spec.predicates import Atom


def parted(exprs: Mapping[str, Expr]) -> tuple[dict[str, Expr], dict[str, Expr]]:
    """Dims that numbers and the config alone give, and those that also need one that the data binds."""
    derived = {
        name: expr
        for name, expr in exprs.items()
        if any(not inner.startswith("config.") for inner in arithmetic.names(arithmetic.replaced(expr, exprs)))
    }
    return {name: expr for name, expr in exprs.items() if name not in derived}, derived


def without(spec: Spec, derived: Mapping[str, Expr]) -> Spec:
    """The spec with what its derived dims are worked out from in their place.  Raises ValueError if one has a scope."""
    for name in derived:
        if name in spec.scopes:
            inner = ", ".join(dict.fromkeys(arithmetic.names(derived[name])))
            raise ValueError(f"{name}@{spec.scopes[name]}: {name} is {derived[name]}, so the scope is that of {inner}")
    return attrs.evolve(spec, rules=opened(spec.rules, derived)) if derived else spec


def opened(part: Any, derived: Mapping[str, Expr]) -> Any:
    """Any part of a spec, rewritten."""
    match part:
        case arithmetic.Num() | arithmetic.Name() | arithmetic.Op() | arithmetic.Call():
            return arithmetic.replaced(part, derived)
        case tuple():
            return tuple(opened(each, derived) for each in part)
        case Atom("companion", (suffix, text)):
            return attrs.evolve(part, arguments=(suffix, str(opened(grammar.parse_value(text), derived))))
        case Axis() if part.dim in derived and part.label is None:
            return attrs.evolve(_fields(part, derived), label=part.dim)
    return _fields(part, derived) if attrs.has(type(part)) else part


def _fields(part: Any, derived: Mapping[str, Expr]) -> Any:
    return attrs.evolve(part, **{f.name: opened(getattr(part, f.name), derived) for f in attrs.fields(type(part))})
