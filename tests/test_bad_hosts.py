"""Hosts on which something is wrong: none passes, none hangs past its time, none leaves anything behind.

Each row of "bad input" that concerns the way to a host is here, or in `test_ssh.py` (keys, authentication), `test_agent.py`
(cuts at every byte, banners) and `test_local_host.py` (looks that do not end).
"""

from __future__ import annotations

import asyncio
import glob
import os
import random
import re
import socket
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import attrs
import pytest

import looks
from processes import noted, running, until
from verikit import SSH, Cause
from verikit.check import Look
from verikit.errors import Unseen
from verikit.hosts import agent as near_end
from verikit.hosts import open_host
from verikit.hosts.pool import HostPool
from verikit.testing.loopback import embedded_ssh_hosts
from verikit.testing.sshd import real_sshd

SHORT = 1.0
"""Seconds that a connection has in these tests."""


def outcome(address, look=None, within=10.0):
    """The facts, or the Unseen, of a look on a host; and the seconds that it took."""

    async def main():
        host = await open_host(address)
        try:
            return await host.ask(look or Look(looks.echo, value=1))
        finally:
            await host.close()

    started = time.monotonic()
    try:
        facts = asyncio.run(asyncio.wait_for(main(), within))
    except Unseen as error:
        facts = error
    return facts, time.monotonic() - started


def unseen(address, look=None, within=10.0) -> Unseen:
    facts, _ = outcome(address, look, within)
    assert isinstance(facts, Unseen), facts
    return facts


def at(port: int, **options) -> SSH:
    return SSH(f"me@127.0.0.1:{port}", config="", agent="", keys=[], known_hosts="/dev/null", **options)


@contextmanager
def server(act):
    """A port whose connections are given to `act`."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        stopping = threading.Event()

        def serve():
            while not stopping.is_set():
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    act(connection, stopping)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            stopping.set()
            with socket.create_connection(listener.getsockname()):
                pass
            thread.join()


# No way there.


def test_port_closed():
    """
    A closed port is unreachable at once: connection refused, with the likely causes.
    """
    facts, seconds = outcome(at(1))

    assert facts.cause is Cause.UNREACHABLE
    assert "connection refused: nothing listens on that port" in facts.reason
    assert facts.facts["phase"] == "tcp"
    assert seconds < 2


def test_host_down(monkeypatch):
    """
    A host that does not answer is unreachable when its time is over, in the words for that phase.
    """

    async def never(*args, **options):
        await asyncio.get_running_loop().create_future()

    monkeypatch.setattr(asyncio.base_events.BaseEventLoop, "create_connection", never)
    facts, seconds = outcome(SSH("me@10.255.255.1", config="", agent="", connect_timeout=0.3))

    assert facts.cause is Cause.UNREACHABLE
    assert "the host is down, or a firewall drops what is sent" in facts.reason
    assert seconds < SHORT + 1


def test_name_that_does_not_resolve():
    """
    A name that is not known is unreachable, and named.
    """
    error = unseen(SSH("nobody@no-such-host.invalid", config="", agent=""))

    assert error.cause is Cause.UNREACHABLE
    assert "the name can't be resolved: no-such-host.invalid" in error.reason


def test_silent_port():
    """
    A port that accepts and says nothing is unreachable when its time is over, and the reason says that it was silent.
    """
    with server(lambda connection, stopping: stopping.wait(10)) as port:
        facts, seconds = outcome(at(port, connect_timeout=0.5))

    assert facts.cause is Cause.UNREACHABLE
    assert "accepts connections and says nothing" in facts.reason
    assert facts.facts["phase"] == "version"
    assert 0.5 <= seconds < 0.5 + SHORT


def test_port_of_something_else():
    """
    A port of something that is no SSH server is no host.
    """
    with server(lambda connection, stopping: connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 99)) as port:
        error = unseen(at(port))

    assert error.cause in (Cause.UNREACHABLE, Cause.UNSUPPORTED)


@pytest.mark.parametrize("seed", range(6))
def test_server_that_talks_nonsense(seed):
    """
    A server that begins as SSH and goes on as noise is no host, whatever it makes of the client.
    """
    noise = random.Random(seed).randbytes(4000)
    start = b"SSH-2.0-OpenSSH_9.2\r\n" + (b"\0\0\x01\x0c\x0a\x14" if seed % 2 else b"")
    with server(lambda connection, stopping: connection.sendall(start + noise)) as port:
        error = unseen(at(port, connect_timeout=3))

    assert error.cause in (Cause.UNREACHABLE, Cause.UNSUPPORTED, Cause.CONNECTION_LOST)


def test_dropped_before_the_key_exchange():
    """
    A connection that is dropped before the key exchange is tried once more, and the reason names MaxStartups.
    """
    seen = []

    def drop(connection, stopping):
        if not stopping.is_set():
            seen.append(1)

    with server(drop) as port:
        error = unseen(at(port))

    assert error.cause is Cause.UNREACHABLE
    assert "MaxStartups, fail2ban" in error.reason
    assert len(seen) == 2


def test_seconds_of_the_asker():
    """
    The seconds that are left to open a host count, where they are fewer than its own.
    """

    async def main(port):
        return await open_host(at(port), seconds=0.2)

    with (
        server(lambda connection, stopping: stopping.wait(10)) as port,
        pytest.raises(Unseen, match=r"not connected within 0\.2 s"),
    ):
        asyncio.run(main(port))


def test_authentication_refused(tmp_path):
    """
    A host that accepts no key is auth_failed, and asked once.
    """
    with embedded_ssh_hosts(1, tmp_path, refuse=True) as hosts:
        error = unseen(hosts.addresses[0])
        seen = hosts.hosts[0].connections

    assert error.cause is Cause.AUTH_FAILED
    assert error.cause.final
    assert seen == 1


def test_dead_host_delays_nobody(loopback):
    """
    A host that does not answer costs its own time, and the others none.
    """

    async def main(port):
        pool = HostPool()
        slow = asyncio.create_task(pool.host(at(port, connect_timeout=5)))
        started = time.monotonic()
        host = await pool.host(loopback.addresses[0])
        answer = await host.ask(Look(looks.echo, value=1))
        seconds = time.monotonic() - started
        pending = not slow.done()
        await pool.close()
        await asyncio.gather(slow, return_exceptions=True)
        return answer, seconds, pending

    with server(lambda connection, stopping: stopping.wait(10)) as port:
        answer, seconds, pending = asyncio.run(main(port))

    assert answer == {"value": 1}
    assert pending
    assert seconds < 4


# Cut.


def test_cut_after_so_many_bytes(tmp_path):
    """
    A connection that is cut after any number of bytes gives the whole answer, or none.
    """
    answers = []
    for number, cut in enumerate([500, 2_000, 2_600, 3_000, 3_300, 3_400, 4_000, 5_000, 40_000, 60_000]):
        with embedded_ssh_hosts(1, tmp_path / str(number), cut=cut) as hosts:
            facts, _ = outcome(hosts.addresses[0], Look(looks.long, size=50_000))
        answers.append(facts.cause if isinstance(facts, Unseen) else len(facts))

    assert answers[0] is Cause.UNREACHABLE
    assert answers[-1] == 50_000
    assert answers[-2] is Cause.TRUNCATED_REPLY
    assert set(answers) <= {Cause.UNREACHABLE, Cause.CONNECTION_LOST, Cause.TRUNCATED_REPLY, 50_000}


# Shells.


@pytest.mark.parametrize(
    "noise",
    [b"Welcome to gpu01\n", b"\x00\xff" * 5000, b'\0\0\0\5\15\0\0\0\1{"facts": 1}' * 100, b"no newline at the end"],
    ids=["motd", "binary", "like a reply", "unended"],
)
def test_noisy_shell(tmp_path, noise):
    """
    Whatever a login shell prints first, the answer is the agent's.
    """
    with embedded_ssh_hosts(1, tmp_path, noise=noise) as hosts:
        assert outcome(hosts.addresses[0])[0] == {"value": 1}


def script(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("exit 0", "status 0 without running the command"),
        ("echo 'This account is currently not available.'; exit 1", "This account is currently not available."),
        ("echo forced command only >&2; exit 3", "forced command only"),
    ],
    ids=["exit 0", "nologin", "forced"],
)
def test_shell_that_runs_nothing(tmp_path, text, words):
    """
    A shell that ends without running the command is no_python, which is final, and its last words are told.
    """
    with embedded_ssh_hosts(1, tmp_path, shell=script(tmp_path / "shell", text)) as hosts:
        error = unseen(hosts.addresses[0])

    assert error.cause is Cause.NO_PYTHON
    assert words in error.reason


def test_shell_that_ends_by_a_signal(tmp_path):
    """
    A shell that is killed is connection_lost, with the signal.
    """
    with embedded_ssh_hosts(1, tmp_path, shell=script(tmp_path / "shell", "kill -9 $$")) as hosts:
        error = unseen(hosts.addresses[0])

    assert error.cause is Cause.CONNECTION_LOST
    assert "SIGKILL" in error.reason


def test_shell_that_hangs(tmp_path, monkeypatch):
    """
    A shell that neither runs the command nor ends is a timeout of the start.
    """
    monkeypatch.setattr(near_end, "BOOTSTRAP", 0.3)
    with embedded_ssh_hosts(1, tmp_path, shell=script(tmp_path / "shell", "echo thinking; sleep 100")) as hosts:
        facts, seconds = outcome(hosts.addresses[0])

    assert facts.cause is Cause.TIMEOUT
    assert "did not start within 0.3 s" in facts.reason
    assert "it said: thinking" in facts.reason
    assert seconds < 5


def test_full_standard_error_before_the_agent(tmp_path):
    """
    A shell that fills standard error before it runs the command does not stop it.
    """
    text = f'{sys.executable} -c "import os; os.write(2, b\'e\' * (1 << 20))"; exec /bin/sh "$@"'
    with embedded_ssh_hosts(1, tmp_path, shell=script(tmp_path / "shell", text)) as hosts:
        assert outcome(hosts.addresses[0])[0] == {"value": 1}


# Pythons.


def only(folder: Path, **programs: str) -> str:
    """A PATH on which there is a shell, and these programs alone."""
    folder.mkdir()
    for name, target in {"sh": "/bin/sh", **programs}.items():
        (folder / name).symlink_to(target)
    return str(folder)


@pytest.fixture
def no_places(monkeypatch):
    """The places where Python is looked for, cut down to the names on PATH; this machine has some in the others."""
    monkeypatch.setattr(near_end, "PLACES", "python3 python python3.9")


def python_or_skip(version: str) -> str:
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    for path in sorted(glob.glob(f"{root}/versions/{version}.*/bin/python")):
        return path
    pytest.skip(f"no Python {version} here")


def test_no_python(tmp_path, no_places):
    """
    A host without Python is no_python, which is final.
    """
    with embedded_ssh_hosts(1, tmp_path / "hosts", path=only(tmp_path / "bin")) as hosts:
        error = unseen(hosts.addresses[0])

    assert error.cause is Cause.NO_PYTHON
    assert "Python 3.8 or newer on the host; found none at all" in error.reason


@pytest.mark.parametrize("version", ["2.7", "3.6"])
def test_python_too_old(tmp_path, no_places, version):
    """
    A host with an old Python alone is no_python, and the reason says which it has.
    """
    path = only(tmp_path / "bin", python=python_or_skip(version))
    with embedded_ssh_hosts(1, tmp_path / "hosts", path=path) as hosts:
        error = unseen(hosts.addresses[0])

    assert error.cause is Cause.NO_PYTHON
    assert re.search(rf"found only: python is Python {version}\.\d+$", error.reason)


def test_old_python_first(tmp_path, no_places):
    """
    Where the first Python is too old or broken, the next one is taken.
    """
    broken = script(tmp_path / "broken", "echo 'Fatal Python error: init_fs_encoding' >&2; exit 1")
    path = only(tmp_path / "bin", python3=broken, python=python_or_skip("3.6"), **{"python3.9": sys.executable})
    with embedded_ssh_hosts(1, tmp_path / "hosts", path=path) as hosts:
        answer, _ = outcome(hosts.addresses[0], Look(looks.who))

    assert answer["python"] == list(sys.version_info[:2])


def test_python_that_prints(tmp_path, no_places):
    """
    A Python that prints when it starts, on both outputs, serves looks.
    """
    chatty = script(tmp_path / "chatty", f'echo "Python wrapper v1"; echo warning >&2; exec {sys.executable} "$@"')
    with embedded_ssh_hosts(1, tmp_path / "hosts", path=only(tmp_path / "bin", python3=chatty)) as hosts:
        assert outcome(hosts.addresses[0])[0] == {"value": 1}


def test_named_python_is_the_only_one(loopback):
    """
    The interpreter that an address names is taken, and no other in its place.
    """
    [address, _] = loopback.addresses
    error = unseen(attrs.evolve(address, python="/nowhere/python3"))

    assert outcome(attrs.evolve(address, python=sys.executable))[0] == {"value": 1}
    assert error.cause is Cause.NO_PYTHON


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.12", "3.13", "3.14"])
def test_each_interpreter_over_ssh(loopback, version):
    """
    Python 3.8 to 3.14 serve looks on a host.
    """
    address = attrs.evolve(loopback.addresses[0], python=python_or_skip(version))
    answer, _ = outcome(address, Look(looks.who))

    assert answer["python"] == [int(part) for part in version.split(".")]


# Servers.


def test_sftp_only(tmp_path, sshd_here):
    """
    A server that runs nothing but SFTP has not answered, and does not pass for one that has.
    """
    with real_sshd(tmp_path, {"ForceCommand": "internal-sftp", "Subsystem": "sftp internal-sftp"}) as server:
        facts, _ = outcome(server.address, within=20)

    assert isinstance(facts, Unseen)
    assert facts.cause in (Cause.NO_PYTHON, Cause.TIMEOUT)


def test_forced_command(tmp_path, sshd_here):
    """
    A server that runs another command in place of ours has not answered, though it ends well.
    """
    with real_sshd(tmp_path, {"ForceCommand": "echo all is well"}) as server:
        error = unseen(server.address)

    assert error.cause is Cause.NO_PYTHON
    assert "it said: all is well" in error.reason


def test_no_sessions(tmp_path, sshd_here):
    """
    A server that opens no session is named as such.
    """
    with real_sshd(tmp_path, {"MaxSessions": "0"}) as server:
        error = unseen(server.address)

    assert error.cause is Cause.UNREACHABLE
    assert "MaxSessions" in error.reason


def test_banner(tmp_path, sshd_here):
    """
    A banner before the login does no harm.
    """
    (tmp_path / "banner").write_text("Authorised use only.\n" * 50)
    with real_sshd(tmp_path / "server", {"Banner": str(tmp_path / "banner")}) as server:
        assert outcome(server.address)[0] == {"value": 1}


def test_server_dies_under_a_look(tmp_path, sshd_here):
    """
    When the server's process for a connection dies, the look is connection_lost, and nothing of it is left on the host.
    """
    note = str(tmp_path / "note")

    async def main(address):
        host = await open_host(address)
        await host.ask(Look(looks.echo))
        task = asyncio.create_task(host.ask(Look(looks.sleep, note=note)))
        started = await asyncio.to_thread(noted, note)
        os.kill(parent_of(host.pid), 9)
        outcome = await asyncio.gather(task, return_exceptions=True)
        await host.close()
        return outcome[0], [host.pid, *started]

    with real_sshd(tmp_path / "server") as server:
        error, processes = asyncio.run(main(server.address))
        gone = until(lambda: not any(map(running, processes)), 2)

    assert error.cause is Cause.CONNECTION_LOST
    assert gone


def parent_of(pid: int) -> int:
    """The sshd process above an agent."""
    while True:
        words = Path(f"/proc/{pid}/stat").read_text()
        name, pid = words.partition("(")[2].rpartition(")")[0], int(words.rpartition(")")[2].split()[1])
        if "sshd" in Path(f"/proc/{pid}/stat").read_text():
            return pid
        assert pid > 1, name
