"""Opening an address: one file for each kind of host, and one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verikit.address import SSH, Address, Exec, Local
from verikit.clock import SYSTEM, Clock

if TYPE_CHECKING:
    from verikit.hosts.agent import Agent

# What opens each kind of address, by module and name: `async def open_…(address, pool) -> Agent`, imported when needed.
OPENERS: dict[type[Address], tuple[str, str]] = {
    Local: ("verikit.hosts.local", "open_local"),
    SSH: ("verikit.hosts.ssh", "open_ssh"),
    Exec: ("verikit.hosts.exec", "open_exec"),
}


async def open_host(address: Address, *, clock: Clock = SYSTEM, seconds: float | None = None) -> Agent:
    """The opened host. Raises `Unseen`, which names the host, the phase and the likely cause, if it can't be.

    seconds: to give up sooner than the address itself does.  Close it with `await host.close()`.
    """
    from verikit.hosts.pool import open_alone

    return await open_alone(address, clock, seconds)
