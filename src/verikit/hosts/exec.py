"""Whatever a command reaches: `docker exec -i`, `kubectl exec -i`, `srun`, `sudo`, `ssh` itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verikit.address import Exec
from verikit.errors import Cause, Unseen
from verikit.hosts.agent import CRASHED, NONE_USABLE, Agent, start_command
from verikit.hosts.base import scarce
from verikit.hosts.pipes import start

if TYPE_CHECKING:
    from verikit.hosts.pool import HostPool

# What runs its words as they are gives sh one script, which does nothing (`:`) and then starts the agent.  What joins
# them by blanks for a shell (`ssh`) has that shell run `sh -c :`, which does nothing, and then start the agent.
NOTHING_FIRST = ":;"

NOT_FOUND = (126, 127)


class CommandAgent(Agent):
    """An agent behind a command, whose own failures are not those of a shell."""

    def unstarted(self, status: int | None, word: str) -> Unseen:
        if status in NOT_FOUND:
            return Unseen(
                Cause.NO_PYTHON, f"{self.address}: the command found no `sh` to run the agent with{self.said()}"
            )
        if status and status not in (NONE_USABLE, CRASHED):
            words = f"the command ended with status {status} before the agent started"
            return Unseen(Cause.UNREACHABLE, f"{self.address}: {words}{self.said()}")
        return super().unstarted(status, word)


async def open_exec(address: Exec, pool: HostPool) -> Agent:
    """An agent behind the command. A command that is not there is `tool_missing`."""
    agent = CommandAgent(address)
    try:
        argv = [*address.argv, "sh", "-c", NOTHING_FIRST + start_command(*agent.parameters, address.python)]
        await start(agent, argv)
    except (OSError, ValueError) as error:
        cause = Cause.TOOL_MISSING if isinstance(error, FileNotFoundError) else Cause.UNREACHABLE
        words = f"{address}: {address.argv[0]} can't be run: {getattr(error, 'strerror', None) or error}"
        raise scarce(error, str(address)) or Unseen(cause, words) from error
    return agent
