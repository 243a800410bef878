"""PortOpen and its mirror, "free", on real sockets of the loopback."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from verikit import verify
from verikit.checks.port import PortOpen
from verikit.errors import Cause
from verikit.probes import port as probe
from verikit.probes.place import CannotSee, Place, Ran
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS, UNKNOWN


@pytest.fixture
def listener():
    """A listening socket of this very process."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def number(server):
    return server.getsockname()[1]


def test_a_listener_passes_and_is_named(listener):
    """
    A port that is listened on passes; address, process and command line are told.
    """
    finding = examine_here(PortOpen(number(listener)))

    assert finding.verdict is PASS
    assert f"127.0.0.1 is held by pid {os.getpid()} (" in finding.reason


def test_free_names_the_holder(listener):
    """
    The reason under `~`, for "free", is the same line: it names who holds the port.
    """
    finding = examine_here((~PortOpen(number(listener))).part)

    assert finding.verdict is PASS
    assert f"pid {os.getpid()}" in finding.reason


def test_nobody_listens():
    """
    A port on which nobody listens fails, also if it is bound or was in use a moment ago.
    """
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        finding = examine_here(PortOpen(number(bound)))

    assert finding.verdict is FAIL
    assert "nobody listens" in finding.reason


def test_ipv6_is_seen():
    """
    A listener on IPv6 alone counts.
    """
    try:
        server = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("no IPv6 here")
    with server:
        finding = examine_here(PortOpen(number(server)))

    assert finding.verdict is PASS
    assert "::1 is held by" in finding.reason


def test_by_tells_the_holder_from_a_stranger(listener):
    """
    `by` takes the holder's pid or a pattern of its command line; anybody else fails, named.
    """
    port = number(listener)

    assert examine_here(PortOpen(port, by=os.getpid())).verdict is PASS
    assert examine_here(PortOpen(port, by=os.path.basename(sys.orig_argv[0]))).verdict is PASS
    stranger = examine_here(PortOpen(port, by="vllm serve"))
    assert stranger.verdict is FAIL
    assert f"pid {os.getpid()}" in stranger.reason
    assert "expected 'vllm serve'" in stranger.reason


def test_a_child_holds_for_its_parent():
    """
    A worker that inherited or opened the socket holds it for the server above it.
    """
    code = (
        "import socket, sys\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "print(server.getsockname()[1], flush=True)\n"
        "sys.stdin.read()\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        port = int(child.stdout.readline())
        finding = examine_here(PortOpen(port, by=os.getpid()))
    finally:
        child.communicate()

    assert finding.verdict is PASS
    assert finding.facts["sockets"][0]["holders"][0]["pid"] == child.pid


@pytest.mark.skipif(not hasattr(socket, "SO_REUSEPORT"), reason="one socket a port here")
def test_a_stranger_on_one_of_two_sockets_fails(listener):
    """
    Where two processes share a port, `by` must hold for both: half the clients reach the stranger.
    """
    code = (
        "import socket, sys\n"
        "server = socket.create_server(('127.0.0.2', int(sys.argv[1])))\n"
        "print('ready', flush=True)\n"
        "sys.stdin.read()\n"
    )
    argv = [sys.executable, "-c", code, str(number(listener))]
    child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "ready\n"
        finding = examine_here(PortOpen(number(listener), by=child.pid))
    finally:
        child.communicate()

    assert finding.verdict is FAIL
    assert finding.facts["count"] == 2


class Told(Place):
    """A host whose socket table and programs say what the test gives."""

    def __init__(self, programs=(), blind=False):
        super().__init__()
        self.programs, self.blind = dict(programs), blind

    def open(self, path, special=False):
        if "/net/" in str(path) and not self.blind:
            raise FileNotFoundError(2, "No such file or directory", path)
        return super().open(path, special)

    def listdir(self, path):
        if str(path).endswith("/fd"):
            raise PermissionError(13, "Permission denied", path)
        return super().listdir(path)

    def run(self, argv, **options):
        if argv[0] not in self.programs:
            raise CannotSee("tool_missing", f"no program {argv[0]!r} on this host")
        return Ran(0, self.programs[argv[0]].encode(), b"", False, False)


NETSTAT = """\
Active Internet connections (including servers)
Proto Recv-Q Send-Q  Local Address          Foreign Address        (state)
tcp4       0      0  127.0.0.1.8000         *.*                    LISTEN
tcp46      0      0  *.9000                 *.*                    LISTEN
tcp4       0      0  127.0.0.1.9001         127.0.0.1.8000         ESTABLISHED
"""


@pytest.mark.parametrize(("port", "addresses"), [(8000, ["127.0.0.1"]), (9000, ["*"]), (9001, [])])
def test_netstat_of_macos_and_bsd(port, addresses):
    """
    Where there is no /proc/net/tcp, netstat tells the listeners; an established connection is none.
    """
    facts = probe.listeners(Told({"netstat": NETSTAT}), port)

    assert [socket["address"] for socket in facts["sockets"]] == addresses
    assert facts["source"] == "netstat"


def test_neither_table_nor_netstat_is_unsupported():
    """
    Where nothing tells of sockets the claim is UNKNOWN: neither open nor free.
    """
    with pytest.raises(CannotSee) as raised:
        probe.listeners(Told(), 8000)

    assert raised.value.cause == "unsupported"


def test_a_holder_that_may_not_be_seen_settles_only_half(listener):
    """
    Without the right to look into processes the port is open, yet by whom is UNKNOWN.
    """
    facts = probe.listeners(Told(blind=True), number(listener))

    assert facts["blind"] > 0
    assert PortOpen(number(listener)).judge(facts).verdict is PASS
    asked = PortOpen(number(listener), by="vllm").judge(facts)
    assert (asked.verdict, asked.cause) == (UNKNOWN, Cause.PERMISSION)


def test_a_forwarded_port_is_not_free(listener, monkeypatch):
    """
    A port that accepts connections without a listening socket, as container engines arrange it, is not free.
    """
    monkeypatch.setattr(probe, "_from_proc", lambda place, port: ([], 0))

    finding = examine_here(PortOpen(number(listener)))

    assert finding.verdict is PASS
    assert "forwarded" in finding.reason


@pytest.mark.parametrize("port", [0, 65536, -1])
def test_no_such_port(port):
    """
    A number that is no TCP port is a ValueError, and what is no number a TypeError.
    """
    with pytest.raises(ValueError, match="port is a TCP port, 1 to 65535; got"):
        PortOpen(port)
    with pytest.raises(TypeError, match="port is a TCP port, 1 to 65535; got '8000'"):
        PortOpen("8000")


def test_through_the_agent(listener):
    """
    Through the host's agent the holder is named, and `~` says that the port is not free.
    """
    port = number(listener)

    assert verify(PortOpen(port, by=os.getpid())).passed
    report = verify(~PortOpen(port))
    assert report.failed
    assert f"is held by pid {os.getpid()}" in str(report)
