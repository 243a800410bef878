"""Opening an address: one file for each kind of host, and one line here."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from verikit.address import SSH, Address, Exec, Local
from verikit.clock import SYSTEM, Clock

if TYPE_CHECKING:
    from verikit.hosts.agent import Agent
    from verikit.hosts.pool import HostPool

Opener = Callable[[Any, "HostPool"], Coroutine[Any, Any, "Agent"]]
"""`async def open_…(address, pool)`: the host, its agent started; raises `Unseen` if it can't be had."""

OPENERS: dict[type[Address], Opener | tuple[str, str]] = {
    Local: ("verikit.hosts.local", "open_local"),
    SSH: ("verikit.hosts.ssh", "open_ssh"),
    Exec: ("verikit.hosts.exec", "open_exec"),
}
"""What opens each kind of address; verikit's own by module and name, imported when first needed."""


def opener(address: Address) -> Opener:
    """What opens this address. TypeError for a kind that has no row."""
    row = OPENERS.get(type(address))
    if row is None:
        raise TypeError(
            f"{address!r} is of no kind that can be opened; give {type(address).__name__} a row in verikit.hosts.OPENERS"
        )
    return getattr(importlib.import_module(row[0]), row[1]) if isinstance(row, tuple) else row


async def open_host(address: Address, *, clock: Clock = SYSTEM, seconds: float | None = None) -> Agent:
    """The opened host. Raises `Unseen`, which names the host, the phase and the likely cause, if it can't be.

    seconds: to give up sooner than the address itself does.  Close it with `await host.close()`.
    """
    from verikit.hosts.pool import open_alone

    return await open_alone(address, clock, seconds)
