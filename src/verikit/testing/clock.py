"""A clock that tests turn by hand."""

from __future__ import annotations

import asyncio
import heapq
import itertools

STILL = 100
"""Turns of the loop without a new sleeper after which everything that can go on has gone on."""


class ManualClock:
    """Time that passes when told to, or, by default, as soon as everybody waits for it.

    start: what `now()` and `time()` say at first, in seconds.
    by_itself: once nothing else can go on, time jumps to the next moment for which somebody waits. With False, `advance`
    must be called, from a coroutine of the same loop.
    """

    def __init__(self, start: float = 1_000_000.0, *, by_itself: bool = True) -> None:
        self._now = start
        self._by_itself = by_itself
        self._waiting: list[tuple[float, int, asyncio.Future[None]]] = []
        self._turns = itertools.count()
        self._turner: asyncio.Task[None] | None = None

    def now(self) -> float:
        """The time by this clock, in seconds."""
        return self._now

    time = now

    async def sleep(self, seconds: float) -> None:
        """Returns once the clock stands that many seconds later."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        future = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (self._now + seconds, next(self._turns), future))
        if self._by_itself and (self._turner is None or self._turner.done()):
            self._turner = asyncio.ensure_future(self._turn())
        await future

    async def advance(self, seconds: float) -> None:
        """Lets that much time pass, waking sleepers in their order, each before the next."""
        end = self._now + seconds
        await self._still()
        while self._due(end):
            await self._wake()
        self._now = end
        await self._still()

    async def _turn(self) -> None:
        while self._due(float("inf")):
            await self._still()
            if self._due(float("inf")):
                await self._wake()

    def _due(self, end: float) -> bool:
        while self._waiting and self._waiting[0][2].done():
            heapq.heappop(self._waiting)  # nobody waits for it any more
        return bool(self._waiting) and self._waiting[0][0] <= end

    async def _wake(self) -> None:
        moment, _, future = heapq.heappop(self._waiting)
        self._now = max(self._now, moment)
        if not future.done():
            future.set_result(None)
        while self._waiting and self._waiting[0][0] <= self._now:
            _, _, also = heapq.heappop(self._waiting)
            if not also.done():
                also.set_result(None)
        await self._still()

    async def _still(self) -> None:
        for _ in range(STILL):
            await asyncio.sleep(0)
