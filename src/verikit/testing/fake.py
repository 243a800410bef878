"""Made-up hosts: answers by hand, for faults and moments that can't be made for real."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from verikit.address import Address
from verikit.check import Check, Facts, Look
from verikit.clock import Clock
from verikit.errors import Cause, Unseen
from verikit.finding import Finding
from verikit.hosts import OPENERS
from verikit.hosts.base import BaseHost, as_json, unseen_from
from verikit.probes.place import Place
from verikit.verdict import UNKNOWN, Verdict


@attrs.frozen(eq=False, repr=False)
class FakeHost(Address):
    """A host that answers as it is told: give it wherever an address goes.

    answers: by probe function, what it answers: facts; an exception to raise; a list or iterator of these, one for each
    look, the last repeated; or a function of the look's arguments that returns any of them, which may be a coroutine
    function. A probe that is not named runs in this process, with `place`.
    latency: seconds by the verification's clock that each answer takes.  down: the `Unseen` that opening it raises.
    asked: the looks it has been asked, in order.  opened: how often it was opened.  cancelled: looks given up on.
    """

    name: str
    answers: Mapping[Callable[..., Any], Any] = attrs.field(factory=dict)
    place: Any = attrs.field(factory=Place, kw_only=True)
    latency: float = attrs.field(default=0.0, kw_only=True)
    down: Unseen | None = attrs.field(default=None, kw_only=True)
    asked: list[Look] = attrs.field(factory=list, init=False)
    cancelled: list[Look] = attrs.field(factory=list, init=False)
    openings: list[float] = attrs.field(factory=list, init=False)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"FakeHost({self.name!r})"

    @property
    def opened(self) -> int:
        """How often it was opened."""
        return len(self.openings)


class OpenFake(BaseHost):
    """A `FakeHost` that was opened."""

    def __init__(self, address: FakeHost, clock: Clock) -> None:
        super().__init__(address)
        self._fake, self._clock = address, clock

    async def ask(self, look: Look, **_: Any) -> Facts:
        import asyncio

        self._fake.asked.append(look)
        try:
            if self._fake.latency:
                await self._clock.sleep(self._fake.latency)
            return await self._answer(look)
        except asyncio.CancelledError:
            self._fake.cancelled.append(look)
            raise

    async def _answer(self, look: Look) -> Facts:
        if look.function not in self._fake.answers:
            try:
                return as_json(look.function(self._fake.place, **look.arguments))
            except Exception as error:
                raise unseen_from(error, look) from error
        answer = _next(self._fake.answers, look.function)
        if callable(answer) and not isinstance(answer, BaseException):
            answer = answer(**look.arguments)
            if inspect.isawaitable(answer):
                answer = await answer
        if isinstance(answer, Unseen):
            raise answer
        if isinstance(answer, BaseException):
            raise unseen_from(answer, look)
        return as_json(answer)


def _next(answers: Mapping[Any, Any], function: Any) -> Any:
    answer = answers[function]
    if isinstance(answer, list):
        return answer.pop(0) if len(answer) > 1 else answer[0]
    return next(answer) if hasattr(answer, "__next__") else answer


async def open_fake(address: FakeHost, pool: Any) -> OpenFake:
    """The opened host, or what it says of being down."""
    address.openings.append(pool.clock.now())
    if address.down is not None:
        raise address.down
    return OpenFake(address, pool.clock)


OPENERS[FakeHost] = (__name__, "open_fake")


def stated(place: Any, name: str, verdict: str, final: bool) -> list[Any]:
    """What a `Stated` claim says of itself."""
    return [verdict, final]


@attrs.frozen(repr=False)
class Stated(Check):
    """A leaf that comes to the verdict it is built with, for tests of what surrounds it."""

    name: str
    verdict: Verdict = attrs.field(default=UNKNOWN, kw_only=True)
    final: bool = attrs.field(default=False, kw_only=True)

    def look(self) -> Look:
        return Look(stated, name=self.name, verdict=self.verdict.name, final=self.final)

    def judge(self, facts: Facts) -> Finding:
        verdict, final = Verdict[facts[0]], facts[1]
        cause = Cause.AMBIGUOUS if verdict is UNKNOWN else None
        return Finding(verdict, f"{self.name} was built {verdict}", cause=cause, final=final)
