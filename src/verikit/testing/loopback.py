"""SSH hosts inside this process: real connections, real processes, no root, and faults on demand.

    with embedded_ssh_hosts(3, folder) as hosts:
        verify(CheckpointIntact("model.pt").on(*hosts.addresses))

Each host listens on a port of 127.0.0.1 and has a HOME of its own, in which its commands run.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import asyncssh
import attrs

from verikit.address import SSH

USER = "tester"


@attrs.frozen(kw_only=True)
class Faults:
    """What is wrong with a host.

    latency: seconds added in each direction.  cut: the connection is cut after this many bytes towards the client.
    noise: bytes that each command's output starts with, as from a `.bashrc`.  shell: the login shell.
    path: PATH of its commands.  env: more of their environment.  refuse: no key is accepted.
    """

    latency: float = 0.0
    cut: int | None = None
    noise: bytes = b""
    shell: str = "/bin/sh"
    path: str | None = None
    env: Mapping[str, str] = attrs.field(factory=dict)
    refuse: bool = False


class LoopbackHost:
    """One embedded host: its `address`, `port`, `home`, host `key`; `connections` and `commands` count what it has seen."""

    def __init__(self, home: Path, key: asyncssh.SSHKey, faults: Faults) -> None:
        self.home, self.key, self.faults = home, key, faults
        self.port = 0
        self.connections = 0
        self.commands: list[str] = []
        self.processes: set[int] = set()
        self.open: set[asyncssh.SSHServerConnection] = set()
        self.address = SSH("unset")

    def environment(self) -> dict[str, str]:
        """What its commands see."""
        path = self.faults.path if self.faults.path is not None else os.environ.get("PATH", os.defpath)
        return {"HOME": str(self.home), "PATH": path, "USER": USER, "LANG": "C.UTF-8", **self.faults.env}


class LoopbackHosts:
    """Embedded hosts, in a thread with a loop of its own, from `start` to `stop`."""

    def __init__(self, count: int, folder: str | os.PathLike[str], faults: Faults) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.client_key, self.known_hosts = self.folder / "client_key", self.folder / "known_hosts"
        self._client = asyncssh.generate_private_key("ssh-ed25519")
        self._client.write_private_key(str(self.client_key))
        self.client_key.chmod(0o600)
        self._client.write_public_key(f"{self.client_key}.pub")
        self.hosts = [self._prepare(number, faults) for number in range(1, count + 1)]
        self._servers: list[Any] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="loopback-ssh", daemon=True)

    def _prepare(self, number: int, faults: Faults) -> LoopbackHost:
        home = self.folder / f"host{number}"
        home.mkdir(exist_ok=True)
        return LoopbackHost(home, asyncssh.generate_private_key("ssh-ed25519"), faults)

    @property
    def addresses(self) -> list[SSH]:
        """How to reach each."""
        return [host.address for host in self.hosts]

    def start(self) -> None:
        """Listens."""
        self._thread.start()
        self.run(self._listen())
        self.known_hosts.write_text("".join(map(known_hosts_line, self.hosts)))

    def stop(self) -> None:
        """Closes every connection and kills whatever still runs."""
        self.run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def drop_connections(self) -> None:
        """Cuts every open connection without a word, as a dying network does."""
        self.run(self._abort())

    def run(self, coro: Coroutine[Any, Any, Any]) -> Any:
        """Runs a coroutine in the hosts' loop."""
        return asyncio.run_coroutine_threadsafe(coro, self._loop).result(30)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()

    async def _listen(self) -> None:
        for host in self.hosts:
            server = await asyncssh.listen(
                "127.0.0.1",
                0,
                server_factory=lambda host=host: _Server(host),
                server_host_keys=[host.key],
                authorized_client_keys=self._authorized(host),
                encoding=None,
                login_timeout=20,
            )
            self._servers.append(server)
            host.port = server.get_port()
            if host.faults.latency or host.faults.cut is not None:
                relay = await asyncio.start_server(_Relay(host.port, host.faults).serve, "127.0.0.1", 0)
                self._servers.append(relay)
                host.port = relay.sockets[0].getsockname()[1]
            host.address = SSH(
                f"{USER}@127.0.0.1:{host.port}",
                keys=[str(self.client_key)],
                known_hosts=str(self.known_hosts),
                config="",
                agent="",
            )

    def _authorized(self, host: LoopbackHost) -> asyncssh.SSHAuthorizedKeys:
        line = self._client.export_public_key().decode()
        return asyncssh.import_authorized_keys("" if host.faults.refuse else line)

    async def _abort(self) -> None:
        for host in self.hosts:
            for connection in list(host.open):
                connection.abort()

    async def _close(self) -> None:
        for server in self._servers:
            server.close()
        await self._abort()
        for host in self.hosts:
            for pid in host.processes:
                kill_group(pid)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        if others:
            await asyncio.wait(others, timeout=2)
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


@contextmanager
def embedded_ssh_hosts(count: int, folder: str | os.PathLike[str], **faults: Any) -> Iterator[LoopbackHosts]:
    """So many hosts for the length of a `with`; further arguments are `Faults` that all of them have."""
    hosts = LoopbackHosts(count, folder, Faults(**faults))
    hosts.start()
    try:
        yield hosts
    finally:
        hosts.stop()


def known_hosts_line(host: LoopbackHost) -> str:
    """The line of `known_hosts` that vouches for a host."""
    return f"[127.0.0.1]:{host.port} {host.key.export_public_key().decode().strip()}\n"


def kill_group(pid: int) -> None:
    """Kills a process and its group, if they still are."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass


class _Server(asyncssh.SSHServer):
    def __init__(self, host: LoopbackHost) -> None:
        self._host = host

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        self._host.connections += 1
        self._host.open.add(conn)

    def connection_lost(self, exc: Exception | None) -> None:
        self._host.open.discard(self._connection)

    def session_requested(self) -> _Session:
        return _Session(self._host)

    def connection_requested(self, dest_host: str, dest_port: int, orig_host: str, orig_port: int) -> bool:
        return True  # so that it can be a jump host


class _Session(asyncssh.SSHServerSession[bytes]):
    """One command, run by the login shell as sshd does."""

    def __init__(self, host: LoopbackHost) -> None:
        self._host, self._command = host, ""
        self._child: asyncio.subprocess.Process | None = None
        self._waiting, self._ended = bytearray(), False

    def connection_made(self, chan: asyncssh.SSHServerChannel[bytes]) -> None:
        self._channel = chan

    def exec_requested(self, command: str) -> bool:
        self._command = command
        self._host.commands.append(command)
        return True

    def session_started(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run())

    def data_received(self, data: bytes, datatype: int | None) -> None:
        if self._child and self._child.stdin:
            self._child.stdin.write(data)
        else:
            self._waiting += data

    def eof_received(self) -> bool:
        self._ended = True
        if self._child and self._child.stdin:
            self._child.stdin.close()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        self.eof_received()

    async def _run(self) -> None:
        faults = self._host.faults
        if faults.noise:
            self._channel.write(faults.noise)
        self._child = child = await asyncio.create_subprocess_exec(
            faults.shell,
            "-c",
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self._host.environment(),
            cwd=self._host.home,
            start_new_session=True,
        )
        self._host.processes.add(child.pid)
        assert child.stdin is not None
        child.stdin.write(bytes(self._waiting))
        if self._ended:
            child.stdin.close()
        await asyncio.gather(self._pump(child.stdout, None), self._pump(child.stderr, asyncssh.EXTENDED_DATA_STDERR))
        status = await child.wait()
        self._host.processes.discard(child.pid)
        if self._channel.is_closing():
            return
        if status < 0:
            self._channel.exit_with_signal(signal.Signals(-status).name.removeprefix("SIG"))
        else:
            self._channel.exit(status)

    async def _pump(self, source: asyncio.StreamReader | None, datatype: int | None) -> None:
        assert source is not None
        while data := await source.read(1 << 16):
            try:
                self._channel.write(data, datatype)
            except OSError:
                return


class _Relay:
    """A way to a port that is slow, or is cut after so many bytes towards the client."""

    def __init__(self, port: int, faults: Faults) -> None:
        self._port, self._faults = port, faults

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            await asyncio.gather(self._carry(reader, back, None), self._carry(there, writer, self._faults.cut))
        except (OSError, _Cut):
            pass
        finally:
            writer.transport.abort()
            back.transport.abort()

    async def _carry(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, cut: int | None) -> None:
        """Each piece is late by the latency, however many are on the way."""
        loop = asyncio.get_running_loop()
        left = cut
        while data := await source.read(1 << 16):
            if left is not None:
                data, left = data[:left], left - len(data)
            loop.call_later(self._faults.latency, _write, sink, data)
            if left is not None and left <= 0:
                await asyncio.sleep(self._faults.latency)
                raise _Cut
        loop.call_later(self._faults.latency, _end, sink)


class _Cut(Exception):
    pass


def _write(sink: asyncio.StreamWriter, data: bytes) -> None:
    if not sink.is_closing():
        sink.write(data)


def _end(sink: asyncio.StreamWriter) -> None:
    if not sink.is_closing() and sink.can_write_eof():
        sink.write_eof()
