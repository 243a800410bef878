"""This machine, through an agent in a child process: a look can't slow, hang or crash the process that asks."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from verikit.address import Address, Local
from verikit.errors import Cause, Unseen
from verikit.hosts.agent import STUB, TOO_OLD, Agent
from verikit.hosts.base import scarce
from verikit.hosts.pipes import start

if TYPE_CHECKING:
    from verikit.hosts.pool import HostPool


class LocalAgent(Agent):
    """An agent that is a child of this process, so its end is known for sure."""

    def told(self) -> dict[str, Any]:
        """Where this process is now, so that relative paths mean here what they mean to whoever asks."""
        try:
            return {"cwd": os.getcwd()}
        except OSError:  # the folder is gone; the look says so if it matters
            return {}

    def ending(self, status: int | None, word: str) -> Unseen:
        self.gone = True
        return super().ending(status, word)

    def unstarted(self, status: int | None, word: str) -> Unseen:
        name = interpreter(self.address)
        if status == TOO_OLD:
            return Unseen(Cause.NO_PYTHON, f"local: looks need Python 3.8 or newer; {name} is older{self.said()}")
        return Unseen(Cause.NO_PYTHON, f"local: {name} can't run the agent (needs Python 3.8 or newer){self.said()}")


def interpreter(address: Address) -> str:
    """The Python that looks on this machine."""
    return getattr(address, "python", None) or sys.executable or "python3"


async def open_local(address: Local, pool: HostPool) -> Agent:
    """An agent under this interpreter, or under the one that the address names."""
    agent = LocalAgent(address)
    nonce, size = agent.parameters
    argv = [interpreter(address), "-I", "-S", "-B", "-u", "-c", STUB, nonce, str(size)]
    try:
        await start(agent, argv)
    except (OSError, ValueError) as error:
        words = f"local: {argv[0]} can't be run: {getattr(error, 'strerror', None) or error}"
        raise scarce(error, "local") or Unseen(Cause.NO_PYTHON, words) from error
    return agent
