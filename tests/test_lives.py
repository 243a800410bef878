"""What a verification leaves behind, in scripts that are interrupted, forked, or run in a notebook's loop: nothing."""

import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

import verikit
from verikit import Local, Session, verify
from verikit.testing import embedded_ssh_hosts

# A look that would go on for an hour, and says where it runs.
HANGS = """
import os, sys, time
import attrs
from verikit import *
from verikit import check

@check
def hangs(place, path):
    import os, time
    with open(path, "w") as out:
        out.write(str(os.getpid()))
    os.rename(path, path + ".pid")
    time.sleep(3600)
    return True, "never"

@check
def pid(place):
    import os
    return True, str(os.getppid())
"""


@pytest.fixture
def script(tmp_path):
    """Starts a script that runs in this interpreter; its standard output can be read line by line."""
    started = []

    def start(body):
        file = tmp_path / "script.py"
        file.write_text(HANGS + textwrap.dedent(body))
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        started.append(subprocess.Popen([sys.executable, str(file)], text=True, **pipes))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def line_from(process, seconds=20):
    """The next line of a process's output."""
    ready, _, _ = select.select([process.stdout], [], [], seconds)
    assert ready, "nothing was said"
    return process.stdout.readline().strip()


def gone(pid, seconds=5.0):
    """Whether a process ends within so many seconds; its parent may be another one."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        poll = select.poll()
        poll.register(watched, select.POLLIN)
        return bool(poll.poll(seconds * 1000))
    finally:
        os.close(watched)


def wait_for(path, process, seconds=20):
    """The content of a file that a process will make."""
    for _ in range(int(seconds / 0.02)):
        if path.exists():
            return path.read_text()
        if process.poll() is not None:
            break
        select.select([], [], [], 0.02)
    raise AssertionError(f"{path.name} never came: {process.communicate()}")


@pytest.mark.parametrize(
    "call", ["verify(claim)", "asyncio.run(verify_async(claim))", "session.verify(claim)", "in_loop()"]
)
def test_ctrl_c_ends_a_run_promptly(script, tmp_path, call):
    """
    Ctrl-C raises KeyboardInterrupt within a second or two, and the look's process is gone.
    """
    process = script(
        f"""
        import asyncio
        claim = hangs({str(tmp_path / "look")!r})
        session = Session()
        async def cell():
            verify(claim)
        def in_loop():
            asyncio.run(cell())
        try:
            {call}
        except KeyboardInterrupt:
            session.close()
            print("interrupted", flush=True)
        """,
    )
    looking = int(wait_for(tmp_path / "look.pid", process))
    process.send_signal(signal.SIGINT)

    assert line_from(process, 5) == "interrupted"
    assert process.wait(5) == 0, process.stderr.read()
    assert gone(looking)


def test_a_killed_script_leaves_no_look(script, tmp_path):
    """
    When the script itself is killed outright, its agent and the look end by themselves.
    """
    process = script(f"verify(hangs({str(tmp_path / 'look')!r}))")
    looking = int(wait_for(tmp_path / "look.pid", process))
    process.kill()
    process.wait()

    assert gone(looking)


def test_a_deadline_ends_the_look_here(script, tmp_path):
    """
    A time-out ends the process that looks, not only the waiting for it.
    """
    process = script(
        f"""
        report = verify(hangs({str(tmp_path / "look")!r}).timeout(1))
        print(report.verdict, report.deciding.cause, flush=True)
        """,
    )
    looking = int(wait_for(tmp_path / "look.pid", process))

    assert line_from(process) == "UNKNOWN timeout"
    assert process.wait(10) == 0, process.stderr.read()
    assert gone(looking)


def test_verify_leaves_no_process_thread_or_descriptor(tmp_path):
    """
    After `verify`, threads, children and open descriptors are as before.
    """

    def state():
        return threading.active_count(), len(os.listdir("/proc/self/fd")), children()

    claim = there(str(tmp_path))
    verify(claim)
    before = state()
    for _ in range(3):
        assert verify(claim).passed

    assert state() == before


def children():
    return pathlib.Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split()


class TestForks:
    """A training script forks data-loader workers."""

    def test_verify_in_a_forked_child(self, tmp_path):
        """
        `verify` works in a child that was forked from a process with an open session, and the session goes on after it.
        """
        claim = there(str(tmp_path))
        with embedded_ssh_hosts(1, tmp_path / "ssh") as hosts, Session() as session:
            where = [Local(), *hosts.addresses]
            assert session.verify(claim, on=where)
            assert in_child(lambda: bool(verify(claim))) == "True"
            assert session.verify(claim, on=where)

    def test_the_parents_session_is_refused(self, tmp_path):
        """
        Using the parent's session in the child is a RuntimeError that says what to do.
        """
        with Session() as session:
            session.verify(there(str(tmp_path)))
            said = in_child(lambda: session.verify(there(str(tmp_path))))

        assert said.startswith("RuntimeError: this Session belongs to the process that made it")

    def test_a_child_keeps_no_agent_alive(self, script):
        """
        A child that outlives its parent's session holds no end of the agent's pipes.
        """
        process = script(
            """
            session = Session()
            agent = int(session.verify(pid()).deciding.reason)
            if os.fork() == 0:
                sys.stdin.read()  # until the test is over
                os._exit(0)
            print(agent, flush=True)
            os._exit(0)
            """,
        )
        assert gone(int(line_from(process)))

    def test_inside_a_running_loop(self, tmp_path):
        """
        A child forked inside a running event loop verifies, too.
        """
        import asyncio

        async def cell():
            return in_child(lambda: bool(verify(there(str(tmp_path)))))

        assert asyncio.run(cell()) == "True"


def in_child(call):
    """What a call says in a forked child."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = str(call())
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(write, json.dumps(said).encode())
        os._exit(0)
    os.close(write)
    with open(read) as answer:
        said = json.loads(answer.read() or '"died"')
    os.waitpid(child, 0)
    return said


@verikit.check
def there(place, path):
    """The path is there."""
    import os

    return os.path.exists(path), f"{path} is there"
