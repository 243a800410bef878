"""Hosts behind a command: it may run its words as they are, or join them for a shell; it may be missing, fail, or lie."""

from __future__ import annotations

import shlex
import shutil
import sys
import time

import pytest

import looks
from asking import ask, unseen
from verikit import Cause, Exec
from verikit.check import Look
from verikit.testing.sshd import real_sshd


@pytest.fixture
def command(tmp_path):
    """Makes an executable script, as a command that reaches something."""

    def make(name: str, text: str) -> str:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    return make


def test_words_as_they_are():
    """
    A command that runs the words that follow it (docker exec, kubectl exec, srun, sudo, env) serves looks.
    """
    assert ask(Exec(["env", "A=b c"]), Look(looks.echo, value=1)) == {"value": 1}


def test_words_joined_for_a_shell(command):
    """
    A command that joins its words for a shell, as ssh does, serves looks too; and one that does it twice.
    """
    once = command("once", 'shift; exec sh -c "$*"')
    twice = command("twice", f'exec {shlex.quote(once)} host "$@"')

    assert ask(Exec([once, "host"]), Look(looks.echo, value=1)) == {"value": 1}
    assert ask(Exec([twice]), Look(looks.echo, value=2)) == {"value": 2}


def test_ssh_itself(tmp_path, sshd_here):
    """
    The `ssh` program is such a command.
    """
    if not shutil.which("ssh"):
        pytest.skip("no ssh here")
    with real_sshd(tmp_path) as server:
        address = server.address
        argv = ["ssh", "-F", "none", "-i", address.keys[0], "-o", "BatchMode=yes"]
        argv += ["-o", f"UserKnownHostsFile={address.known_hosts}", f"{address.user}@127.0.0.1", "-p"]

        assert ask(Exec([*argv, str(address.port)], python=sys.executable), Look(looks.echo, value=1)) == {"value": 1}

    refused = unseen(Exec([*argv, str(address.port)]))

    assert refused.cause is Cause.UNREACHABLE
    assert "Connection refused" in refused.reason


def test_noise_first(command):
    """
    What the command prints first is no answer.
    """
    noisy = command("noisy", 'echo "Defaulted container \\"box\\""; exec "$@"')

    assert ask(Exec([noisy]), Look(looks.echo, value=1)) == {"value": 1}


def test_standard_error_held_open(command):
    """
    A helper that stays in the background with standard error open, as a persistent ssh does, delays nothing.
    """
    lingering = command("lingering", '(exec sleep 3 </dev/null >/dev/null) & exec "$@"')
    started = time.monotonic()

    assert ask(Exec([lingering]), Look(looks.echo, value=1)) == {"value": 1}
    assert time.monotonic() - started < 2


def test_command_missing():
    """
    A command that is not there is tool_missing, which is final.
    """
    error = unseen(Exec(["no-such-command-here", "box"]))

    assert error.cause is Cause.TOOL_MISSING
    assert "no-such-command-here" in error.reason


def test_command_not_allowed(tmp_path):
    """
    A command that may not be run is unreachable, with the reason.
    """
    (tmp_path / "locked").write_text("")

    assert unseen(Exec([str(tmp_path / "locked")])).cause is Cause.UNREACHABLE


def test_command_fails(command):
    """
    A command that fails before the agent starts is unreachable, with its status and its last words.
    """
    failing = command("docker", "echo 'Error response from daemon: No such container: box' >&2; exit 1")
    error = unseen(Exec([failing, "exec", "-i", "box"], name="box"))

    assert error.cause is Cause.UNREACHABLE
    assert error.reason.startswith("box: the command ended with status 1 before the agent started")
    assert "No such container: box" in error.reason


def test_no_shell_behind_it(command):
    """
    Where there is no `sh`, there is no_python.
    """
    bare = command("docker", "echo 'OCI runtime exec failed: exec: \"sh\": executable file not found' >&2; exit 127")

    assert unseen(Exec([bare])).cause is Cause.NO_PYTHON


def test_command_that_does_nothing(command):
    """
    A command that ends well without running anything has not answered.
    """
    error = unseen(Exec([command("nothing", "exit 0")]))

    assert error.cause is Cause.NO_PYTHON
    assert "status 0" in error.reason


def test_command_that_echoes():
    """
    A command that sends back what it is sent is no host.
    """
    error = unseen(Exec(["tee"]))

    assert error.cause in (Cause.NO_PYTHON, Cause.UNREACHABLE)
