"""This machine, through an agent in a child process: a look can't slow, hang or crash the process that asks."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from verikit.address import Local
from verikit.errors import Cause, Unseen
from verikit.hosts.agent import STUB, Agent
from verikit.hosts.pipes import start

if TYPE_CHECKING:
    from verikit.hosts.pool import HostPool


async def open_local(address: Local, pool: HostPool) -> Agent:
    """An agent under this interpreter, or under the one that the address names."""
    agent = Agent(address)
    nonce, size = agent.parameters
    argv = [address.python or sys.executable, "-I", "-S", "-B", "-u", "-c", STUB, nonce, str(size)]
    try:
        await start(agent, argv)
    except OSError as error:
        raise Unseen(Cause.NO_PYTHON, f"local: {argv[0]} can't be run: {error.strerror}") from error
    return agent
