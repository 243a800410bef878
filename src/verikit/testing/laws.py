"""The laws of the algebra, as properties over generated trees: for verdicts and for what they can become.

`check_laws()` proves them for verikit's own walk; give it another `evaluate` to hold a different one to them.
Each law is also a row of `LAWS`, so that a test list can name them one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import attrs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from verikit.check import Check, Facts, Look, at_least, fields_of, parts_of
from verikit.clock import SYSTEM
from verikit.finding import Span
from verikit.probes.place import Place
from verikit.testing.fake import Stated
from verikit.testing.strategies import leaves, trees
from verikit.verdict import FAIL, PASS, UNKNOWN, Verdict
from verikit.walk import Asking, Walk, run_without_loop

Outcome = tuple[Verdict, Span]
Evaluate = Callable[[Check], Outcome]


class _Direct(Walk):
    """The walk without hosts or loop: each look is answered on the spot."""

    async def ask(self, asking: Asking, look: Look) -> Facts:
        return look.function(Place(), **look.arguments)


def evaluate(check: Check) -> Outcome:
    """(verdict, can_become) of a tree of `Stated` leaves, by verikit's own walk."""
    result = run_without_loop(_Direct(None, SYSTEM, concurrent=False).run(check))
    return result.verdict, result.can_become


def _equal(evaluate: Evaluate, left: Check, right: Check) -> None:
    assert evaluate(left) == evaluate(right), f"{left!r}\n  is {evaluate(left)}, but\n{right!r}\n  is {evaluate(right)}"


_part = trees(depth=6)
_LAW: list[tuple[str, int, Callable[..., None]]] = []


def _law(n: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    def enter(function: Callable[..., None]) -> Callable[..., None]:
        _LAW.append((function.__name__, n, function))
        return function

    return enter


def _apart(check: Check) -> Check:
    """Under a title, so that it does not flatten into the node around it."""
    return check.named("part")


@_law(2)
def commutativity_of_and(ev: Evaluate, a: Check, b: Check) -> None:
    _equal(ev, a & b, b & a)


@_law(2)
def commutativity_of_or(ev: Evaluate, a: Check, b: Check) -> None:
    _equal(ev, a | b, b | a)


@_law(3)
def associativity_of_and(ev: Evaluate, a: Check, b: Check, c: Check) -> None:
    _equal(ev, _apart(a & b) & c, a & _apart(b & c))
    _equal(ev, (a & b) & c, a & (b & c))


@_law(3)
def associativity_of_or(ev: Evaluate, a: Check, b: Check, c: Check) -> None:
    _equal(ev, _apart(a | b) | c, a | _apart(b | c))
    _equal(ev, (a | b) | c, a | (b | c))


@_law(1)
def idempotence_of_and(ev: Evaluate, a: Check) -> None:
    _equal(ev, a & a, a)


@_law(1)
def idempotence_of_or(ev: Evaluate, a: Check) -> None:
    _equal(ev, a | a, a)


@_law(2)
def absorption_of_and(ev: Evaluate, a: Check, b: Check) -> None:
    _equal(ev, a & (a | b), a)


@_law(2)
def absorption_of_or(ev: Evaluate, a: Check, b: Check) -> None:
    _equal(ev, a | (a & b), a)


@_law(3)
def distributivity_of_and(ev: Evaluate, a: Check, b: Check, c: Check) -> None:
    _equal(ev, a & (b | c), (a & b) | (a & c))


@_law(3)
def distributivity_of_or(ev: Evaluate, a: Check, b: Check, c: Check) -> None:
    _equal(ev, a | (b & c), (a | b) & (a | c))


@_law(2)
def de_morgan_of_and(ev: Evaluate, a: Check, b: Check) -> None:
    _equal(ev, ~(a & b), ~a | ~b)


@_law(2)
def de_morgan_of_or(ev: Evaluate, a: Check, b: Check) -> None:
    _equal(ev, ~(a | b), ~a & ~b)


@_law(1)
def double_negation(ev: Evaluate, a: Check) -> None:
    _equal(ev, ~~a, a)


@_law(3)
def at_least_one_is_any(ev: Evaluate, a: Check, b: Check, c: Check) -> None:
    _equal(ev, at_least(1, a, b, c), a | b | c)


@_law(3)
def at_least_all_is_all(ev: Evaluate, a: Check, b: Check, c: Check) -> None:
    _equal(ev, at_least(3, a, b, c), a & b & c)


@_law(1)
def verdict_lies_within_what_it_can_become(ev: Evaluate, a: Check) -> None:
    verdict, (low, high) = ev(a)
    assert low <= verdict <= high, f"{a!r} is {verdict}, which is not within {low}..{high}"


def monotonicity_of_verdicts(ev: Evaluate, tree: Check, choose: Callable[[list[Any]], Any], verdict: Verdict) -> None:
    """Turning an UNKNOWN leaf into PASS or FAIL never flips a decided root."""
    before, _ = ev(tree)
    paths = [path for path, leaf in _leaves_at(tree) if leaf.verdict is UNKNOWN]
    if before is UNKNOWN or not paths:
        return
    after, _ = ev(_with_leaf(tree, choose(paths), lambda leaf: attrs.evolve(leaf, verdict=verdict)))
    assert after is before, f"{tree!r} was {before}; with one more leaf known it is {after}"


def monotonicity_of_can_become(ev: Evaluate, tree: Check, choose: Callable[[list[Any]], Any], verdict: Verdict) -> None:
    """Making an open leaf final, whichever way, leaves the root within what it could become."""
    _, (low, high) = ev(tree)
    paths = [path for path, leaf in _leaves_at(tree) if not leaf.final and leaf.verdict is UNKNOWN]
    if not paths:
        return
    _, (lower, higher) = ev(
        _with_leaf(tree, choose(paths), lambda leaf: attrs.evolve(leaf, verdict=verdict, final=True))
    )
    assert low <= lower <= higher <= high, f"{tree!r}: {low}..{high} became {lower}..{higher}"


def _leaves_at(check: Check, path: tuple[Any, ...] = ()) -> Iterable[tuple[tuple[Any, ...], Stated]]:
    if isinstance(check, Stated):
        yield path, check
    for n, part in enumerate(parts_of(check)):
        yield from _leaves_at(part, (*path, n))


def _with_leaf(check: Check, path: tuple[int, ...], change: Callable[[Any], Check]) -> Check:
    if not path:
        return change(check)
    parts = list(parts_of(check))
    parts[path[0]] = _with_leaf(parts[path[0]], path[1:], change)
    fields = {field.name: getattr(check, field.name) for field in fields_of(type(check))}
    left = iter(parts)
    for name, value in fields.items():
        if isinstance(value, Check):
            fields[name] = next(left)
        elif isinstance(value, tuple) and value and isinstance(value[0], Check):
            fields[name] = tuple(left)
    return type(check)(**fields)


def _proof(n: int, law: Callable[..., None]) -> Callable[[Evaluate, int], None]:
    def prove(evaluate: Evaluate = evaluate, examples: int = 150) -> None:
        @_settings(examples)
        @given(st.tuples(*[_part] * n))
        def holds(parts: tuple[Check, ...]) -> None:
            law(evaluate, *parts)

        holds()

    return prove


def _monotone_proof(law: Callable[..., None]) -> Callable[[Evaluate, int], None]:
    def prove(evaluate: Evaluate = evaluate, examples: int = 300) -> None:
        @_settings(examples)
        @given(trees(leaves(), depth=6), st.data(), st.sampled_from([PASS, FAIL]))
        def holds(tree: Check, data: st.DataObject, verdict: Verdict) -> None:
            law(evaluate, tree, lambda paths: data.draw(st.sampled_from(paths)), verdict)

        holds()

    return prove


def _settings(examples: int) -> settings:
    return settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None)


LAWS: dict[str, Callable[..., None]] = {name: _proof(n, law) for name, n, law in _LAW}
LAWS["monotonicity_of_verdicts"] = _monotone_proof(monotonicity_of_verdicts)
LAWS["monotonicity_of_can_become"] = _monotone_proof(monotonicity_of_can_become)
"""Name of each law -> `prove(evaluate, examples)`, which raises AssertionError with a smallest counterexample."""


def check_laws(evaluate: Evaluate = evaluate, *, examples: int = 150) -> None:
    """Proves every law of `LAWS` on generated trees; raises AssertionError with a smallest counterexample.

    evaluate: from a tree of `Stated` leaves to `(verdict, can_become)`; by default verikit's own walk.
    """
    for prove in LAWS.values():
        prove(evaluate, examples)
