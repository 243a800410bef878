"""A channel through the pipes of a child process.

Not asyncio's own subprocesses: these need a child watcher (a thread for each child, up to Python 3.11), which is one
thing more that a fork or a loop outside the main thread would have to get right.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable, Sequence

from verikit.hosts import forks
from verikit.hosts.agent import Agent

HELD = 1 << 16


async def start(agent: Agent, argv: Sequence[str]) -> None:
    """Runs argv and attaches its pipes to the agent. Raises OSError if it can't be run."""
    # A session of its own: Ctrl-C in a terminal is for the process that asks, which then ends its looks in good order.
    child = subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
    )
    agent.attach(Pipes(agent, child))


class Pipes:
    """The three pipes of a child, read and written as the loop says they are ready."""

    def __init__(self, agent: Agent, child: subprocess.Popen[bytes]) -> None:
        self._agent, self._child = agent, child
        self._loop = asyncio.get_running_loop()
        self._unsent = bytearray()
        self._open = {pipe.fileno(): pipe for pipe in (child.stdin, child.stdout, child.stderr) if pipe}
        self._input, self._output, self._error = self._open
        for fd in self._open:
            os.set_blocking(fd, False)
            forks.guard(fd, self)
        self._loop.add_reader(self._output, self._read, self._output, agent.heard)
        self._loop.add_reader(self._error, self._read, self._error, agent.grumbled)

    def write(self, data: bytes) -> None:
        if self._input in self._open:
            self._unsent += data
            self._flush()

    def _flush(self) -> None:
        try:
            del self._unsent[: os.write(self._input, self._unsent)]
        except BlockingIOError:
            pass
        except OSError:  # it has ended; its output says how
            self._unsent.clear()
        if self._unsent:
            self._loop.add_writer(self._input, self._flush)
        else:
            self._loop.remove_writer(self._input)

    def _read(self, fd: int, take: Callable[[bytes], None]) -> None:
        try:
            data = os.read(fd, HELD)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            take(data)
            return
        self._close(fd)
        if fd == self._output:  # standard error may be held open for ever, as by an ssh that stays in the background
            self._loop.create_task(self._bury())

    def _close(self, fd: int) -> None:
        pipe = self._open.pop(fd, None)
        if pipe:
            self._loop.remove_reader(fd)
            self._loop.remove_writer(fd)
            forks.release(fd)
            pipe.close()

    async def _bury(self) -> None:
        """Waits for the end of a child whose output has ended, and tells the agent how it was."""
        status = await self._status()
        if self._error in self._open:
            self._read(self._error, self._agent.grumbled)  # its last words
        word = (
            f"its process was ended by {signal.Signals(-status).name}" if status and status < 0 else "the agent ended"
        )
        self._agent.lost(self._agent.ending(status if status is None or status >= 0 else None, word))

    async def _status(self, within: float = 1.0) -> int | None:
        for _ in range(int(within / 0.005)):
            if self._child.poll() is not None:
                break
            await asyncio.sleep(0.005)
        return self._child.poll()

    def end_input(self) -> None:
        self._close(self._input)

    def kill(self) -> None:
        for fd in list(self._open):
            self._close(fd)
        if self._child.poll() is None:  # not waited for yet, so its number is still its own
            try:
                os.killpg(self._child.pid, signal.SIGKILL)
            except OSError:
                pass  # another user's by now, as beneath sudo

    async def closed(self) -> None:
        await self._status()
