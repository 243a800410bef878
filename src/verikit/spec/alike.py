"""Tensors that a rule can't tell apart: one shape, one set of numbers in their names as far as the axes speak of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from verikit.spec import arithmetic
from verikit.spec.arithmetic import Expr
from verikit.spec.compiled import Compiled, Plan
from verikit.spec.grammar import Axis
from verikit.spec.rows import Bound, Entry

NARROW = ("file", "module", "tensor")
"""Scopes of dims that may differ between tensors of one rule on one host."""


@attrs.frozen
class Speech:
    """What the axes of a rule speak of that may differ from tensor to tensor."""

    inner: tuple[str, ...]
    """Parts of the name: `i` of `layers.{i}.w`."""
    narrow: tuple[str, ...]
    """Dims of a file, module or tensor; a run as `*b`."""


def speech(plan: Plan, compiled: Compiled) -> Speech:
    """Of the axes of a rule, with the bounds of its dims."""
    spoken: list[str] = []
    for axis in plan.rule.value.axes or ():
        own = compiled.bounds.get(axis.dim or "")
        spoken += [*axis.names(), *(own.names() if own else ()), *([f"*{axis.run}"] if axis.run else ())]
    return speech_of(spoken, plan, compiled)


def speech_of(spoken: Iterable[str], plan: Plan, compiled: Compiled) -> Speech:
    """Of these names."""
    every = dict.fromkeys(spoken)
    groups = plan.regex.groupindex if plan.regex else {}
    narrow = [name for name in every if compiled.scopes.get(name.lstrip("*")) in NARROW]
    return Speech(tuple(name for name in every if name in groups), tuple(narrow))


class Alike:
    """Tensors of one rule that are laid out alike.

    rows: (axis, position, size) of each axis.  first, count: the first such tensor, and how many there are.
    wide, narrow: (name, position, size) of each axis that binds a dim, of the whole check or of less.
    turning: (term, position, size, names) of each that only arithmetic can bind.  fitting: dims with which they fit.
    """

    __slots__ = ("count", "first", "fitting", "narrow", "plan", "rows", "scopes", "turning", "wide")

    def __init__(
        self,
        plan: Plan,
        rows: list[tuple[Axis, int, Any]],
        first: Entry,
        is_given: Callable[[str], bool],
        scopes: Mapping[str, str],
    ) -> None:
        self.plan, self.rows, self.first, self.scopes, self.count = plan, rows, first, scopes, 0
        self.fitting: set[tuple[Any, ...]] = set()
        self.wide: list[tuple[str, int, Any]] = []
        self.narrow: list[tuple[str, int, Any]] = []
        self.turning: list[tuple[Expr, int, int, tuple[str, ...]]] = []
        for axis, position, size in rows:
            name = f"*{axis.run}" if axis.run else axis.dim
            if name:
                if not is_given(name) and not (axis.broadcast and size == 1):
                    (self.narrow if self.is_narrow(name) else self.wide).append((name, position, size))
            elif axis.term is not None:
                inside = tuple(inner for inner in arithmetic.names(axis.term) if not is_given(inner))
                self.turning += [(axis.term, position, size, inside)] if inside else []

    def is_narrow(self, name: str) -> bool:
        return self.scopes.get(name.lstrip("*")) in NARROW

    def known(self, bound: Mapping[tuple[str, str], Bound]) -> bool:
        """Whether every name that arithmetic could bind is one of the whole check, and bound."""
        return all((name, "") in bound and not self.is_narrow(name) for row in self.turning for name in row[3])
