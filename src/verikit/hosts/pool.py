"""Hosts opened once for a run, and what they share: bounds, keys, known hosts, jump connections."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from verikit.address import Address
from verikit.clock import SYSTEM, Clock
from verikit.errors import Cause, Unseen
from verikit.hosts import forks, opener

if TYPE_CHECKING:
    from verikit.hosts.agent import Agent

CONNECTS_AT_ONCE = 64
"""Connections being opened at one time: more would only run into each other's time limits on one core."""

CLOSING = 3.0
"""Seconds for all hosts of a pool to be closed; each takes at most 2 s for its agent to leave."""


class HostPool:
    """Opens each address once, within one event loop.

    `shared` is for the openers: what they keep for the run, by their own name (see `hosts.ssh`), with a `close()`.
    """

    def __init__(self, clock: Clock = SYSTEM) -> None:
        self.clock = clock
        self.connects = asyncio.Semaphore(CONNECTS_AT_ONCE)
        self.shared: dict[str, Any] = {}
        self._opening: dict[Address, asyncio.Task[Agent]] = {}
        self._closed = False
        self._warnings: list[str] = []
        self._loop = asyncio.get_running_loop()
        forks.guard_loop(self._loop)

    async def host(self, address: Address) -> Agent:
        """The opened host. All who wait for it share one attempt; raises `Unseen` if that fails.

        A failure with a final cause is the answer for as long as the pool lives; after any other, a later call tries again.
        """
        task = self._opening.get(address)
        if task is None or _worth_another(task):
            task = self._opening[address] = self._loop.create_task(self._open(address, task))
            task.add_done_callback(_retrieved)
        try:
            host = await asyncio.shield(task)
        except Unseen as error:
            raise Unseen(error.cause, error.reason, error.facts) from error
        if host.failure is not None:
            raise Unseen(host.failure.cause, host.failure.reason, host.failure.facts)
        return host

    async def _open(self, address: Address, before: asyncio.Task[Agent] | None) -> Agent:
        if before is not None and not before.cancelled() and before.exception() is None:
            self._warnings += await before.result().close()
        return await opener(address)(address, self)

    @property
    def moved(self) -> int:
        """Bytes that went to and came from the hosts that are open: code, questions and facts."""
        return sum(host.sent + host.received for host in self._opened(self._opening.values()))

    @staticmethod
    def _opened(tasks: Iterable[asyncio.Task[Agent]]) -> list[Agent]:
        return [task.result() for task in tasks if task.done() and not task.cancelled() and not task.exception()]

    async def close(self) -> list[str]:
        """Closes every host at once, within 3 s; what could not be confirmed gone, as warnings."""
        tasks, self._opening = list(self._opening.values()), {}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        opened = self._opened(tasks)
        closing = [self._loop.create_task(host.close()) for host in opened]
        started = time.monotonic()
        if closing:
            await asyncio.wait(closing, timeout=CLOSING)
        warnings, self._warnings = self._warnings, []
        for host, done in zip(opened, closing, strict=True):
            if done.done():
                warnings += done.result()
            else:
                done.cancel()
                warnings.append(f"{host.address}: not closed within {time.monotonic() - started:.1f} s")
        for kept in self.shared.values():
            await kept.close()
        self.shared.clear()
        if not self._closed:
            self._closed = True
            forks.release_loop(self._loop)
        return warnings


def _worth_another(task: asyncio.Task[Agent]) -> bool:
    """Whether an attempt has failed in a way that may pass, or its host was lost since."""
    if not task.done():
        return False
    if task.cancelled():
        return True
    error = task.exception()
    if error is None:
        failure = task.result().failure
        return failure is not None and not failure.cause.final
    return not (isinstance(error, Unseen) and error.cause.final)


def _retrieved(task: asyncio.Task[Agent]) -> None:
    """Looks at the outcome, so that one nobody waits for any more is not complained about."""
    if not task.cancelled():
        task.exception()


async def open_alone(address: Address, clock: Clock, seconds: float | None) -> Agent:
    """A host with a pool of its own, which is closed with it."""
    pool = HostPool(clock)
    try:
        host = await asyncio.wait_for(pool.host(address), seconds)
    except BaseException as error:
        await pool.close()
        if isinstance(error, asyncio.TimeoutError):
            raise Unseen(Cause.UNREACHABLE, f"{address}: not connected within {seconds:g} s") from None
        raise
    host.belongs_to = pool
    return host
