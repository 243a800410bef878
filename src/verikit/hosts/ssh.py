"""SSH hosts, on asyncssh: connecting, host keys, and one channel for the agent.

What asyncssh does by default and this file does not: `run()` (it takes a lost connection for an empty answer), text mode
(one byte that is no UTF-8 closes the connection), no keepalive, two minutes for a login, keys and known hosts read again
for each connection.  `StrictHostKeyChecking=no` is not obeyed: a host whose key is not known is not looked at.
"""

from __future__ import annotations

import asyncio
import copy
import random
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import asyncssh

from verikit.address import SSH
from verikit.errors import Unseen
from verikit.hosts import forks
from verikit.hosts.agent import BOOTSTRAP, Agent, start_command
from verikit.hosts.ssh_errors import Attempt, unseen_ssh
from verikit.hosts.ssh_settings import LOGIN, Settings, SettingsStore

if TYPE_CHECKING:
    from verikit.hosts.pool import HostPool

CONNECTS_PER_JUMP = 8
"""Connections being opened at one time through one jump host: below sshd's MaxStartups of 10."""

RETRY_WITHIN = (0.2, 1.0)
"""Seconds before the one retry of a connection that was dropped before authentication, at random between these."""

CLOSING = 1.0
"""Seconds for a connection to close in good order."""


async def open_ssh(address: SSH, pool: HostPool) -> Agent:
    """An agent on the host, through one channel of one connection."""
    shared = pool.shared.setdefault("ssh", Shared(pool))
    attempt = Attempt(address)
    agent = Agent(address)
    async with pool.connects:
        try:
            connection = await shared.connect(address, attempt)
            try:
                attempt.phase = "bootstrap"
                await asyncio.wait_for(_start(agent, address, connection), BOOTSTRAP)
            except BaseException:
                connection.abort()
                raise
        except Unseen:
            raise
        except Exception as error:  # whatever a server may make asyncssh stumble over
            raise unseen_ssh(error, attempt) from error
    return agent


class Shared:
    """What the SSH hosts of one pool have in common: settings read once, and jump connections."""

    def __init__(self, pool: HostPool) -> None:
        self._clock, self._loop = pool.clock, asyncio.get_running_loop()
        self._store = SettingsStore()
        self._jumps: dict[SSH, asyncio.Task[asyncssh.SSHClientConnection]] = {}
        self._slots: dict[SSH, asyncio.Semaphore] = {}

    async def connect(self, address: SSH, attempt: Attempt) -> asyncssh.SSHClientConnection:
        """An authenticated connection; a connection dropped before authentication is tried once more."""
        settings = attempt.settings = await self._store.of(address)
        jump = settings.jump_for(address)
        if jump is None:
            return await self._twice(address, settings, attempt, None)
        tunnel = await self._jump(jump, attempt)
        async with self._slots.setdefault(jump, asyncio.Semaphore(CONNECTS_PER_JUMP)):
            return await self._twice(address, settings, attempt, tunnel)

    async def _twice(
        self, address: SSH, settings: Settings, attempt: Attempt, tunnel: Any
    ) -> asyncssh.SSHClientConnection:
        ends = time.monotonic() + address.connect_timeout
        try:
            return await _connect(address, settings, attempt, tunnel, address.connect_timeout)
        except (ConnectionResetError, asyncssh.DisconnectError):
            if not attempt.dropped_early:
                raise
            await self._clock.sleep(random.uniform(*RETRY_WITHIN))
            if time.monotonic() >= ends:
                raise
            return await _connect(address, settings, attempt, tunnel, ends - time.monotonic())

    async def _jump(self, jump: SSH, attempt: Attempt) -> asyncssh.SSHClientConnection:
        """The connection to a jump host, opened once for all that go through it."""
        through = (*attempt.through, attempt.address.target)
        if jump.target in through:
            raise ValueError(f"ProxyJump goes in a circle: {' through '.join((*through, jump.target))}")
        task = self._jumps.get(jump)
        if task is None or (task.done() and (task.cancelled() or task.exception() or task.result().is_closed())):
            task = self._jumps[jump] = self._loop.create_task(self._open_jump(jump, through))
        try:
            return await asyncio.shield(task)
        except Unseen as error:
            raise Unseen(error.cause, f"{attempt.address}: through {error.reason}", error.facts) from error

    async def _open_jump(self, jump: SSH, through: tuple[str, ...]) -> asyncssh.SSHClientConnection:
        attempt = Attempt(jump, through)
        try:
            return await self.connect(jump, attempt)
        except Unseen:
            raise
        except Exception as error:
            raise unseen_ssh(error, attempt) from error

    async def close(self) -> None:
        """Closes the jump connections and the agent's."""
        tasks, self._jumps = list(self._jumps.values()), {}
        for task in tasks:
            task.cancel()
        for outcome in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(outcome, asyncssh.SSHClientConnection):
                await _close(outcome)
        await self._store.close()


async def _connect(
    address: SSH, settings: Settings, attempt: Attempt, tunnel: Any, within: float
) -> asyncssh.SSHClientConnection:
    attempt.begin()
    return await asyncssh.connect(
        address.host,
        address.port or (),
        options=settings.options,
        config=None,
        tunnel=tunnel,
        server_host_key_algs=settings.host_key_kinds(address),
        connect_timeout=within,
        login_timeout=LOGIN,
        client_factory=lambda: _Client(attempt, settings, tunnelled=tunnel is not None),
    )


class _Client(asyncssh.SSHClient):
    """Answers what the connection asks: keys one by one, and never a password; notes how far it came."""

    def __init__(self, attempt: Attempt, settings: Settings, tunnelled: bool) -> None:
        self._attempt, self._tunnelled = attempt, tunnelled
        self._keys: Iterator[asyncssh.SSHKeyPair] = iter(settings.keys)
        self._socket = -1

    def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
        self._attempt.connection, self._attempt.phase = conn, "version"
        sock = None if self._tunnelled else conn.get_extra_info("socket")
        if sock is not None and sock.fileno() >= 0:
            self._socket = sock.fileno()
            forks.guard(self._socket, conn)

    def connection_lost(self, exc: Exception | None) -> None:
        forks.release(self._socket)

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        self._attempt.phase, self._attempt.refused_key = "host key", key
        return False

    def public_key_auth_requested(self) -> Any:
        self._attempt.phase = "auth"
        key = next(self._keys, None)
        # A copy: a key notes the signature algorithm of the connection that uses it.
        return [copy.copy(key)] if key is not None else None

    def auth_completed(self) -> None:
        self._attempt.phase = "channel"


# The channel.


async def _start(agent: Agent, address: SSH, connection: asyncssh.SSHClientConnection) -> None:
    """Starts the agent on an authenticated connection: two round trips, and its core goes out with the third."""
    channel, _ = await connection.create_session(
        lambda: _Session(agent),
        start_command(*agent.parameters, address.python),
        encoding=None,
        env=None,
        send_env=None,
        request_pty=False,
        x11_forwarding=False,
    )
    agent.attach(SshChannel(connection, channel))


class _Session(asyncssh.SSHClientSession[bytes]):
    """Hands on what comes through the channel, and how it ended."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._status: int | None = None
        self._word = "the connection was lost"

    def data_received(self, data: bytes, datatype: int | None) -> None:
        if datatype == asyncssh.EXTENDED_DATA_STDERR:
            self._agent.grumbled(data)
        else:
            self._agent.heard(data)

    def exit_status_received(self, status: int) -> None:
        self._status, self._word = status, f"the agent ended with status {status}"

    def exit_signal_received(self, signal: str, core_dumped: bool, msg: str, lang: str) -> None:
        self._word = f"the agent was ended by SIG{signal}"

    def connection_lost(self, exc: Exception | None) -> None:
        word = f"{self._word}: {exc}" if exc and str(exc) else self._word
        self._agent.lost(self._agent.ending(self._status, word))


class SshChannel:
    """The channel of one agent, which owns its connection."""

    def __init__(self, connection: asyncssh.SSHClientConnection, channel: asyncssh.SSHClientChannel[bytes]) -> None:
        self._connection, self._channel = connection, channel

    def write(self, data: bytes) -> None:
        try:
            self._channel.write(data)
        except OSError:
            pass  # the session is told how it ended

    def end_input(self) -> None:
        try:
            self._channel.write_eof()
        except OSError:
            pass

    def kill(self) -> None:
        self._channel.abort()
        self._connection.close()

    async def closed(self) -> None:
        await _close(self._connection)


async def _close(connection: asyncssh.SSHClientConnection) -> None:
    connection.close()
    try:
        await asyncio.wait_for(connection.wait_closed(), CLOSING)
    except asyncio.TimeoutError:
        connection.abort()
