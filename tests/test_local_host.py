"""Looks on this machine, through the agent: what they answer, how they end, and what they leave behind (nothing)."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import glob
import os
import signal
import subprocess
import sys
import threading
import time
import zlib
from pathlib import Path

import pytest

import asking
import looks
from asking import on
from processes import noted, running, until
from verikit import Cause, Local
from verikit.check import Look
from verikit.errors import Unseen
from verikit.hosts import open_host
from verikit.hosts.packing import core


def on_local(steps, address=None):
    return on(address or Local(), steps)


def ask(look: Look, address=None):
    return asking.ask(address or Local(), look)


def unseen(look: Look, address=None) -> Unseen:
    return asking.unseen(address or Local(), look)


# Answers.


@pytest.mark.parametrize(
    "value", [None, 1, 2.5, "a\udcff\n'\"", "x" * 200_000, [1, [2]], {"a": {"b": None}}, True, "日本"]
)
def test_value_there_and_back(value):
    """
    What JSON carries goes there and back unchanged, text that is no UTF-8 and long text too.
    """
    assert ask(Look(looks.echo, value=value)) == {"value": value}


def test_arguments_that_are_no_json():
    """
    An argument that JSON can't carry is refused where the look is asked.
    """
    with pytest.raises(TypeError, match="JSON values"):
        ask(Look(looks.echo, value=b"bytes"))


def test_interpreter_named():
    """
    The host says which Python it is that looks; without its site-packages, and with nothing of verikit but the probes.
    """

    async def steps(host):
        answer = await host.ask(Look(looks.mentions))
        return host.python, answer

    python, answer = on_local(steps)

    assert python == f"{sys.version.split()[0]} ({sys.executable})"
    assert answer == {"site": False, "verikit.check": False, "attrs": False}


def test_own_process_for_each_look():
    """
    Looks run in processes of their own beneath one agent, none of them this one.
    """

    async def steps(host):
        answers = await asyncio.gather(*(host.ask(Look(looks.who)) for _ in range(20)))
        return host.pid, answers

    agent, answers = on_local(steps)

    assert len({each["pid"] for each in answers}) == 20
    assert {each["parent"] for each in answers} == {agent}
    assert os.getpid() not in {agent, *(each["pid"] for each in answers)}


@pytest.mark.parametrize("name", ["a b", "it's", 'a"b', "a\nb", "-rf", b"caf\xe9", "$(touch x)", "`id`", "ü"])
def test_odd_paths(tmp_path, name):
    """
    Paths with blanks, quotes, line breaks, a leading dash or bytes that are no UTF-8 name the file that they name.
    """
    path = os.path.join(os.fsencode(tmp_path), os.fsencode(name))
    with open(path, "wb") as file:
        file.write(b"12345")

    assert ask(Look(looks.size, path=os.fsdecode(path))) == {"size": 5}


def test_relative_paths(tmp_path, monkeypatch):
    """
    A relative path means what it means to the asker at that moment, also after the asker has moved.
    """
    here = os.getcwd()
    (tmp_path / "file").write_text("123")

    async def steps(host):
        before = await host.ask(Look(looks.who))
        monkeypatch.chdir(tmp_path)
        return before["cwd"], await host.ask(Look(looks.size, path="file"))

    assert on_local(steps) == (here, {"size": 3})


def test_progress():
    """
    How far a look is arrives while it runs.
    """
    told = []

    async def steps(host):
        return await host.ask(Look(looks.progressing, steps=3), progress=lambda *row: told.append(row))

    assert on_local(steps) == 3
    assert told == [(0, 3, "steps"), (1, 3, "steps"), (2, 3, "steps")]


# What can't be answered.


def test_missing_and_forbidden(tmp_path):
    """
    What the OS says of a path is the cause, and the path is in the reason.
    """
    missing = unseen(Look(looks.size, path=str(tmp_path / "none")))

    assert missing.cause is Cause.MISSING
    assert missing.reason == f"there is no {tmp_path}/none"


@pytest.mark.parametrize(
    ("path", "cause"), [("/dev/zero", Cause.UNSUPPORTED), ("/", Cause.UNSUPPORTED), ("x" * 4000, Cause.UNSUPPORTED)]
)
def test_no_regular_file(path, cause):
    """
    A device, a folder and a name of 4,000 characters are unsupported, and say so.
    """
    assert unseen(Look(looks.size, path=path)).cause is cause


def test_link_loop_and_dangling(tmp_path):
    """
    A link loop is unsupported, a dangling link is missing.
    """
    os.symlink(tmp_path / "loop", tmp_path / "loop")
    os.symlink(tmp_path / "nothing", tmp_path / "dangling")

    assert unseen(Look(looks.size, path=str(tmp_path / "loop"))).cause is Cause.UNSUPPORTED
    assert unseen(Look(looks.size, path=str(tmp_path / "dangling"))).cause is Cause.MISSING


def test_probe_raises():
    """
    A bug in a probe is probe_error, with the exception in the reason and the traceback, with its source, in the facts.
    """
    error = unseen(Look(looks.fail, text="odd"))

    assert error.cause is Cause.PROBE_ERROR
    assert error.reason == "fail: ValueError: odd"
    assert "raise ValueError(text)" in error.facts["traceback"]


def test_probe_cannot_see():
    """
    What a probe can name itself arrives as it was named; a cause that does not exist is the probe's own fault.
    """
    error = unseen(Look(looks.cannot, cause="nothing_seen"))

    assert (error.cause, error.reason, error.facts) == (Cause.NOTHING_SEEN, "told so", {"seen": 3})
    assert unseen(Look(looks.cannot, cause="bad luck")).cause is Cause.PROBE_ERROR


@pytest.mark.parametrize(
    ("look", "cause", "words"),
    [
        (Look(looks.die, number=int(signal.SIGSEGV)), Cause.PROBE_ERROR, "SIGSEGV"),
        (Look(looks.die, number=int(signal.SIGKILL)), Cause.PROBE_ERROR, "out of memory"),
        (Look(looks.die, number=int(signal.SIGRTMIN) + 3), Cause.PROBE_ERROR, "ended by signal"),
        (Look(looks.quit_at_once, status=0), Cause.PROBE_ERROR, "status 0, without an answer"),
        (Look(looks.quit_at_once, status=7), Cause.PROBE_ERROR, "status 7"),
        (Look(looks.leave), Cause.PROBE_ERROR, "SystemExit"),
        (Look(looks.facts, kind="set"), Cause.PROBE_ERROR, "not JSON"),
        (Look(looks.eat, size=8 << 30), Cause.BOUND_REACHED, "memory"),
        (Look(looks.long, size=9 << 20), Cause.BOUND_REACHED, "8388608"),
        (Look(looks.vandal, text="hello\n" * 9), Cause.PROBE_ERROR, "something else wrote"),
        (Look(looks.vandal, text="\0\0\0\2\14\0\0\0\1ok"), Cause.TRUNCATED_REPLY, "damaged"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_look_that_gives_no_answer(look, cause, words):
    """
    A look that crashes, leaves, or answers more than may be said is no answer; and the next look is none the worse.
    """

    async def steps(host):
        with pytest.raises(Unseen) as caught:
            await host.ask(look)
        assert await host.ask(Look(looks.echo, value=1)) == {"value": 1}
        return caught.value

    error = on_local(steps)

    assert error.cause is cause
    assert words in error.reason


def test_prints_do_no_harm():
    """
    A look that prints a megabyte on both outputs gives its answer all the same.
    """
    assert ask(Look(looks.loud, size=1 << 20)) == {"printed": 1 << 20}


def test_no_such_interpreter():
    """
    A Python that is not there is no_python, which is final.
    """
    error = unseen(Look(looks.echo), Local(python="/nowhere/python3"))

    assert error.cause is Cause.NO_PYTHON
    assert "/nowhere/python3" in error.reason


def test_no_room_here(monkeypatch):
    """
    A limit of this machine is bound_reached, which may pass, not the fault of a Python.
    """

    def full(*args, **options):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(subprocess, "Popen", full)
    error = unseen(Look(looks.echo))

    assert error.cause is Cause.BOUND_REACHED
    assert "Too many open files; raise the limit" in error.reason


def test_not_a_python():
    """
    A program that is no Python is no_python, with what it said.
    """
    error = unseen(Look(looks.echo), Local(python="/bin/ls"))

    assert error.cause is Cause.NO_PYTHON


# Looks that do not end by themselves.


@pytest.mark.parametrize("probe", [looks.sleep, looks.deaf, looks.backtrack])
def test_deadline(tmp_path, probe):
    """
    A look past its deadline is a timeout, and its processes are gone: also one in C code, or deaf to signals.
    """
    note = str(tmp_path / "note")
    error = unseen(Look(probe, note=note).within(0.5))

    assert error.cause is Cause.TIMEOUT
    assert "within 0.5 s" in error.reason
    assert until(lambda: not any(map(running, noted(note))))


def test_long_looks_give_way(tmp_path):
    """
    A look that takes longer than a moment is niced, with its children.
    """
    note = str(tmp_path / "note")

    def niceness(pid):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[16])

    async def steps(host):
        task = asyncio.create_task(host.ask(Look(looks.sleep, note=note)))
        started = await asyncio.to_thread(noted, note)
        niced = await asyncio.to_thread(until, lambda: [niceness(pid) for pid in started] == [10, 10])
        task.cancel()
        return niced

    assert on_local(steps)


def test_fifo_that_blocks(tmp_path):
    """
    A look that hangs in opening a FIFO is ended at its deadline; through `place.open` it is refused at once.
    """
    os.mkfifo(tmp_path / "fifo")

    assert unseen(Look(looks.first_byte, path=str(tmp_path / "fifo")).within(0.3)).cause is Cause.TIMEOUT
    assert unseen(Look(looks.size, path=str(tmp_path / "fifo"))).cause is Cause.UNSUPPORTED


@pytest.mark.parametrize("probe", [looks.sleep, looks.deaf, looks.backtrack])
def test_cancelled(tmp_path, probe):
    """
    A look whose asker is cancelled is gone within 2 s, and the connection stays of use.
    """
    note = str(tmp_path / "note")

    async def steps(host):
        task = asyncio.create_task(host.ask(Look(probe, note=note)))
        await asyncio.to_thread(noted, note)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        gone = await asyncio.to_thread(until, lambda: not any(map(running, noted(note))), 2)
        return gone, await host.ask(Look(looks.echo, value=2))

    assert on_local(steps) == (True, {"value": 2})


def test_shorter_deadline_of_the_asker(tmp_path):
    """
    The asker's seconds count where they are fewer than the look's.
    """

    async def steps(host):
        with pytest.raises(Unseen) as caught:
            await host.ask(Look(looks.sleep, note=str(tmp_path / "note")), seconds=0.2)
        return caught.value

    assert on_local(steps).cause is Cause.TIMEOUT


def test_what_a_look_leaves_running(tmp_path):
    """
    A process that a look has started and left is gone once the look has answered.
    """
    left = ask(Look(looks.leave_a_child))["pid"]

    assert until(lambda: not running(left))


def test_closed_while_looking(tmp_path):
    """
    Closing a host ends its looks (cancelled) and its agent; nothing is left, not even a zombie.
    """
    note = str(tmp_path / "note")

    async def main():
        host = await open_host(Local())
        task = asyncio.create_task(host.ask(Look(looks.sleep, note=note)))
        await asyncio.to_thread(noted, note)
        assert await host.close() == []
        with pytest.raises(Unseen) as caught:
            await task
        return host.pid, caught.value

    agent, error = asyncio.run(main())

    assert error.cause is Cause.CANCELLED
    assert until(lambda: not any(map(running, noted(note))), 2)
    assert not os.path.exists(f"/proc/{agent}")


def test_agent_killed(tmp_path):
    """
    An agent that is killed takes its looks along, also one that is deaf to signals, and fails exactly the outstanding ones.
    """
    notes = [str(tmp_path / "one"), str(tmp_path / "two")]

    async def main():
        host = await open_host(Local())
        answered = await host.ask(Look(looks.echo, value=3))
        tasks = [
            asyncio.create_task(host.ask(Look(looks.sleep, note=notes[0]))),
            asyncio.create_task(host.ask(Look(looks.deaf, note=notes[1]))),
        ]
        for note in notes:
            await asyncio.to_thread(noted, note)
        os.kill(host.pid, signal.SIGKILL)
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        with pytest.raises(Unseen) as later:
            await host.ask(Look(looks.echo))
        return answered, [*outcomes, later.value], host.alive, await host.close()

    answered, outcomes, alive, warnings = asyncio.run(main())

    assert answered == {"value": 3}
    assert [each.cause for each in outcomes] == [Cause.CONNECTION_LOST] * 3
    assert "SIGKILL" in outcomes[0].reason
    assert not alive
    assert until(lambda: not any(map(running, noted(notes[0]) + noted(notes[1]))))
    assert warnings == []  # its end was seen, and the kernel ended the rest


def test_silent_asker(tmp_path, monkeypatch):
    """
    An agent that hears nothing from its near end for 60 s (here: half of one) ends itself and its looks.
    """
    from verikit.hosts import agent as near_end

    text = zlib.decompress(core()).decode()
    short = zlib.compress(text.replace("SILENCE = 60.0", "SILENCE = 0.5").encode())
    assert short != core()
    monkeypatch.setattr(near_end, "core", lambda: short)
    note = str(tmp_path / "note")

    async def main():
        host = await open_host(Local())
        with pytest.raises(Unseen) as caught:
            await host.ask(Look(looks.deaf, note=note))
        await host.close()
        return caught.value, host.pid

    error, agent = asyncio.run(main())

    assert error.cause is Cause.CONNECTION_LOST
    assert until(lambda: not any(map(running, [agent, *noted(note)])), 2)


def test_asker_killed(tmp_path):
    """
    When the asking process is killed, agent and looks are gone within 2 s.
    """
    note = str(tmp_path / "note")
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        try:

            async def main():
                host = await open_host(Local())
                await host.ask(Look(looks.echo))
                os.write(writer, str(host.pid).encode())
                await host.ask(Look(looks.sleep, note=note))

            asyncio.run(main())
        finally:
            os._exit(1)
    agent = int(os.read(reader, 20))
    for fd in (reader, writer):
        os.close(fd)
    started = noted(note)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)

    assert until(lambda: not any(map(running, [agent, *started])), 2)


# Threads, loops, forks.


def children() -> set[int]:
    """The processes that this one has begun and not waited for; a server that tests share may be among them."""
    found = set()
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has gone meanwhile
            if int(status.read_text().rpartition(")")[2].split()[1]) == os.getpid():
                found.add(int(status.parent.name))
    return found


def test_no_thread_no_descriptor_left():
    """
    Opening, asking and closing leaves no thread, no descriptor and no child.
    """
    others = children()
    ask(Look(looks.echo))
    before = threading.active_count(), len(os.listdir("/proc/self/fd"))
    ask(Look(looks.echo))

    assert (threading.active_count(), len(os.listdir("/proc/self/fd"))) == before
    assert children() <= others


def test_from_another_thread():
    """
    It works from a thread that is not the main one, and from several at once.
    """
    answers = []
    threads = [
        threading.Thread(target=lambda value=value: answers.append(ask(Look(looks.echo, value=value))))
        for value in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(each["value"] for each in answers) == [0, 1, 2]


def in_child(act) -> int:
    """Runs act in a forked child; its exit status, 0 if it returned True."""
    pid = os.fork()
    if not pid:
        status = 1
        try:
            status = 0 if act() else 2
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_fork_while_open():
    """
    A fork while a host is open: the child may look by itself, may not use the parent's host, and however it ends, the
    parent's connection says and hears nothing of it.
    """

    async def refused(host):
        try:
            await host.ask(Look(looks.echo))
        except RuntimeError as error:
            return "not to its fork" in str(error)

    async def steps(host):
        await host.ask(Look(looks.echo))
        loop = asyncio.get_running_loop()

        def child():
            import gc

            asyncio.events._set_running_loop(None)
            coroutine = refused(host)
            try:
                coroutine.send(None)
            except StopIteration as done:
                denied = done.value
            loop._selector.close()
            gc.collect()
            return denied and ask(Look(looks.echo, value=5)) == {"value": 5}

        status = await asyncio.to_thread(in_child, child)
        return status, await host.ask(Look(looks.echo, value=6))

    assert on_local(steps) == (0, {"value": 6})


def test_fork_does_not_hold_the_agent():
    """
    A forked child that lives on does not keep the agent of its parent alive.
    """
    release, hold = os.pipe()

    async def main():
        host = await open_host(Local())
        await host.ask(Look(looks.echo))
        pid = os.fork()
        if not pid:
            os.close(hold)
            os.read(release, 1)
            os._exit(0)
        started = time.monotonic()
        assert await host.close() == []
        return pid, host.pid, time.monotonic() - started

    pid, agent, seconds = asyncio.run(main())
    gone = not running(agent)
    os.close(hold)
    os.close(release)
    os.waitpid(pid, 0)

    assert gone
    assert seconds < 1.5


def test_numbers_given_out_again():
    """
    A descriptor that was closed, and whose number is another file's by now, is left alone in a forked child.
    """
    ask(Look(looks.echo))
    files = [os.open("/dev/zero", os.O_RDONLY) for _ in range(12)]

    def child():
        return all(os.read(fd, 1) == b"\0" for fd in files)

    status = in_child(child)
    for fd in files:
        os.close(fd)

    assert status == 0


# Interpreters.


def pythons() -> dict[str, str]:
    """Interpreters by version: those of pyenv, if it is there, and this one."""
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    paths = glob.glob(f"{root}/versions/[0-9]*/bin/python")
    found = {".".join(path.split("/")[-3].split(".")[:2]): path for path in paths}
    return {f"{sys.version_info[0]}.{sys.version_info[1]}": sys.executable, **found}


def python_or_skip(version: str) -> str:
    if version not in pythons():
        pytest.skip(f"no Python {version} here")
    return pythons()[version]


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14"])
def test_each_interpreter(version):
    """
    Python 3.8 to 3.14 serve looks.
    """
    answer = ask(Look(looks.who), Local(python=python_or_skip(version)))

    assert answer["python"] == [int(part) for part in version.split(".")]


@pytest.mark.parametrize("version", ["2.7", "3.6", "3.7"])
def test_interpreter_too_old(version):
    """
    Older ones are no_python.
    """
    error = unseen(Look(looks.who), Local(python=python_or_skip(version)))

    assert error.cause is Cause.NO_PYTHON
    assert "3.8" in error.reason
