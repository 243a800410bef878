"""Time as a parameter: everything that waits asks a clock, which tests turn by hand."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """What waiting asks. `verikit.testing.ManualClock` is the other one."""

    def now(self) -> float:
        """Seconds since any fixed moment; never goes back."""

    def time(self) -> float:
        """Seconds since the epoch."""

    async def sleep(self, seconds: float) -> None:
        """Returns once this many seconds have passed."""


class SystemClock:
    """The machine's clocks."""

    now = staticmethod(time.monotonic)
    time = staticmethod(time.time)

    async def sleep(self, seconds: float) -> None:
        import asyncio

        await asyncio.sleep(seconds)


SYSTEM = SystemClock()
