"""The near end of the agent, fed by hand: noise, cuts at every byte, damage, silence; and the start command."""

from __future__ import annotations

import ast
import asyncio
import json
import shutil
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import looks
from verikit import Cause, Local
from verikit.check import Look
from verikit.errors import Unseen
from verikit.hosts import agent as near_end
from verikit.hosts.agent import SCRIPT, STUB, Agent, start_command
from verikit.hosts.packing import core
from verikit.probes import frames

HELLO = {"python": "3.11.7", "executable": "/usr/bin/python3", "pid": 7, "now": 0.0}


class Wire:
    """A channel that keeps what is written."""

    def __init__(self):
        self.written, self.ended = bytearray(), False

    def write(self, data):
        self.written += data

    def end_input(self):
        self.ended = True

    def kill(self):
        pass

    async def closed(self):
        pass


def hello(agent: Agent) -> bytes:
    """The agent's first words."""
    return agent._nonce[::-1].encode() + frames.frame(frames.HELLO, 0, json.dumps(HELLO).encode())


def answer(request: int, facts: object) -> bytes:
    return frames.reply(request, json.dumps(["facts", facts]).encode())


def with_agent(steps):
    """Runs `steps(agent, wire)` on an agent whose host is this test."""

    async def main():
        agent, wire = Agent(Local()), Wire()
        agent.attach(wire)
        try:
            return await steps(agent, wire)
        finally:
            if agent._timer:
                agent._timer.cancel()

    return asyncio.run(main())


async def asked(agent, count=1):
    """So many looks under way."""
    tasks = [asyncio.create_task(agent.ask(Look(looks.echo, value=value))) for value in range(count)]
    await asyncio.sleep(0)
    return tasks


async def outcomes(tasks):
    """Facts, or causes of not having any."""
    results = await asyncio.gather(*tasks, return_exceptions=True)
    return [each.cause if isinstance(each, Unseen) else each for each in results]


def lost(agent):
    agent.lost(agent.ending(None, "the connection was lost"))


# Cuts.


FACTS = {"text": "x" * 100_000, "n": 1}


def cut_places() -> list[int]:
    """Every frame boundary of a long reply, the bytes around each, and some inside."""
    places, start = {0}, 0
    data = answer(1, FACTS)
    for kind, number, payload in frames.Decoder().feed(data):
        start += len(frames.frame(kind, number, payload))
        places |= {start - 1, start, start + 1, start + frames.HEAD.size - 1, start + frames.HEAD.size}
    return sorted(place for place in places | set(range(0, len(data), 9_973)) if place < len(data))


@pytest.mark.parametrize("place", cut_places())
def test_reply_cut(place):
    """
    A reply that is cut, at a frame's boundary or inside one, is truncated_reply if it had begun, else connection_lost;
    whoever was answered before keeps the answer, and whoever was not has none.
    """

    async def steps(agent, wire):
        tasks = await asked(agent, 3)
        agent.heard(hello(agent))
        agent.heard(answer(2, {"whole": True}))
        agent.heard(answer(1, FACTS)[:place])
        lost(agent)
        return await outcomes(tasks), agent.alive

    cut = Cause.TRUNCATED_REPLY if place >= frames.HEAD.size else Cause.CONNECTION_LOST

    assert with_agent(steps) == ([cut, {"whole": True}, Cause.CONNECTION_LOST], False)


def test_asked_after_the_loss():
    """
    A look that is asked of a lost host is connection_lost at once.
    """

    async def steps(agent, wire):
        agent.heard(hello(agent))
        lost(agent)
        return await outcomes(await asked(agent))

    assert with_agent(steps) == [Cause.CONNECTION_LOST]


@settings(max_examples=50, deadline=None)
@given(st.binary(min_size=1, max_size=64), st.integers(0, 10_000))
def test_bytes_that_do_not_belong(text, place):
    """
    Bytes of somebody else within the stream never make another answer: the reply is right, or there is none.
    """
    data = answer(1, {"n": list(range(500))})
    place %= len(data)

    async def steps(agent, wire):
        tasks = await asked(agent)
        agent.heard(hello(agent))
        agent.heard(data[:place] + text + data[place:])
        lost(agent)
        return await outcomes(tasks)

    [outcome] = with_agent(steps)

    assert outcome in ({"n": list(range(500))}, Cause.TRUNCATED_REPLY, Cause.CONNECTION_LOST)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "9" * 10_000,
        "not json",
        "{}",
        "[]",
        '["facts"]',
        '["facts", 1, 2]',
        '["unseen", ["x"], 3, null]',
        '["os", "a", 1, 2]',
        '["raised", null, null]',
        '{"facts": 1}',
        "\\ud800",
    ],
)
def test_reply_of_a_strange_form(text):
    """
    A reply that is whole but no reply is truncated_reply, whatever a host makes of it, and the host stays of use.
    """

    async def steps(agent, wire):
        tasks = await asked(agent, 2)
        agent.heard(hello(agent) + frames.reply(1, text.encode()) + answer(2, "fine"))
        return await outcomes(tasks)

    assert with_agent(steps) == [Cause.TRUNCATED_REPLY, "fine"]


def test_endless_nonsense():
    """
    What a host that has lost its thread goes on to say is not kept.
    """

    async def steps(agent, wire):
        tasks = await asked(agent)
        agent.heard(hello(agent) + b"\xff" * 100)
        for _ in range(50):
            agent.heard(bytes(1 << 20))
        return await outcomes(tasks), len(agent._decoder._held) + len(agent._noise)

    causes, kept = with_agent(steps)

    assert causes == [Cause.CONNECTION_LOST]
    assert kept < 1 << 20


def test_facts_outside_of_a_reply():
    """
    Facts that were not counted are no facts.
    """

    async def steps(agent, wire):
        tasks = await asked(agent)
        agent.heard(hello(agent) + frames.frame(frames.FAULT, 1, b'["facts", 1]'))
        return await outcomes(tasks)

    assert with_agent(steps) == [Cause.CONNECTION_LOST]


# Noise.


def test_noise_before_the_agent():
    """
    What a login shell prints first is no answer, also where it looks like one, or repeats what it was told.
    """

    async def steps(agent, wire):
        tasks = await asked(agent)
        agent.heard(b"Last login: today\n" + answer(1, {"forged": True}) + agent._nonce.encode() + b"\n")
        agent.heard(frames.frame(frames.HELLO, 0, json.dumps(HELLO).encode()) + b"x" * 50_000)
        for byte in hello(agent) + answer(1, {"real": True}):
            agent.heard(bytes([byte]))
        return await outcomes(tasks)

    assert with_agent(steps) == [{"real": True}]


def test_nonce_is_not_repeated_by_an_echo():
    """
    A host that sends back everything it is sent, command included, is never taken for an agent.
    """

    async def steps(agent, wire):
        tasks = await asked(agent)
        agent.heard(start_command(*agent.parameters).encode() + bytes(wire.written))
        lost(agent)
        return await outcomes(tasks), agent.python

    assert with_agent(steps) == ([Cause.CONNECTION_LOST], "")


@pytest.mark.parametrize(
    ("status", "said", "cause", "words"),
    [
        (0, b"", Cause.NO_PYTHON, "nologin"),
        (1, b"This account is currently not available.", Cause.NO_PYTHON, "account is currently not available"),
        (
            96,
            b"verikit-found-no-python: python3 is Python 3.6.15,\n",
            Cause.NO_PYTHON,
            "found only: python3 is Python 3.6.15",
        ),
        (96, b"verikit-found-no-python:\n", Cause.NO_PYTHON, "found none at all"),
        (98, b"ImportError: _posixsubprocess", Cause.NO_PYTHON, "could not run the agent; it said: ImportError"),
        (None, b"", Cause.CONNECTION_LOST, "while the agent was starting"),
    ],
)
def test_ended_before_the_first_word(status, said, cause, words):
    """
    A command that ends before the agent speaks says why: what was tried, what stands before it, what was said.
    """

    async def steps(agent, wire):
        tasks = await asked(agent)
        agent.grumbled(said)
        agent.lost(agent.ending(status, "the connection was lost"))
        with pytest.raises(Unseen) as caught:
            await tasks[0]
        return caught.value

    error = with_agent(steps)

    assert error.cause is cause
    assert words in error.reason


def test_standard_error_is_kept_short():
    """
    A host that floods standard error is heard, and the last of it kept.
    """

    async def steps(agent, wire):
        for _ in range(100):
            agent.grumbled(b"line\n" * 10_000)
        agent.grumbled(b"the last line\n")
        return agent.said(), len(agent._grumble)

    said, kept = with_agent(steps)

    assert said.endswith("the last line")
    assert kept <= 4096


# Order and bounds.


def test_first_look_goes_out_with_the_core():
    """
    Core, module and question are written at once, before the agent has said a word; a module goes out once.
    """

    async def steps(agent, wire):
        tasks = await asked(agent, 2)
        sent = frames.Decoder().feed(bytes(wire.written[len(core()) :]))
        agent.heard(hello(agent) + answer(1, 1) + answer(2, 2))
        return bytes(wire.written[: len(core())]), [kind for kind, *_ in sent], await outcomes(tasks)

    start, kinds, answers = with_agent(steps)

    assert start == core()
    assert kinds == [frames.MODULE, frames.ASK, frames.ASK]
    assert answers == [1, 2]


def test_eight_looks_in_flight():
    """
    Eight looks are in flight on one host; the ninth goes out when one is answered.
    """

    async def steps(agent, wire):
        tasks = await asked(agent, 9)
        agent.heard(hello(agent))
        before = len(agent._looks)
        agent.heard(answer(3, 3))
        await tasks[2]
        await asyncio.sleep(0)
        after = sorted(agent._looks)
        lost(agent)
        await outcomes(tasks)
        return before, after

    assert with_agent(steps) == (8, [1, 2, 4, 5, 6, 7, 8, 9])


def test_cancelled_look_is_told():
    """
    Cancelling tells the agent, and what it still sends for that look is left aside.
    """

    async def steps(agent, wire):
        tasks = await asked(agent, 2)
        agent.heard(hello(agent))
        sent = len(wire.written)
        tasks[0].cancel()
        await asyncio.gather(tasks[0], return_exceptions=True)
        told = frames.Decoder().feed(bytes(wire.written[sent:]))
        agent.heard(answer(1, "late") + answer(2, "right"))
        return told, await outcomes(tasks[1:])

    assert with_agent(steps) == ([(frames.CANCEL, 1, b"")], ["right"])


def test_silent_agent(monkeypatch):
    """
    An agent that answers no ping for 60 s (here: 0.1) is connection_lost.
    """
    monkeypatch.setattr(near_end, "PING_EVERY", 0.02)
    monkeypatch.setattr(near_end, "SILENCE", 0.1)

    async def steps(agent, wire):
        tasks = await asked(agent)
        agent.heard(hello(agent))
        return await outcomes(tasks), bytes(wire.written).count(frames.frame(frames.PING))

    causes, pings = with_agent(steps)

    assert causes == [Cause.CONNECTION_LOST]
    assert pings > 1


def test_core_is_small():
    """
    The core takes at most 20 kB on the wire.
    """
    assert len(core()) <= 20_000


# The start command.


def test_stub_is_old_python():
    """
    The stub is one line without single quotes, backslashes or exclamation marks, in the grammar of Python 3.6 (and 2.7:
    see the test with the real one).
    """
    ast.parse(STUB, feature_version=(3, 6))

    assert not set("'\\!\n") & set(STUB)
    assert not set("'!\n") & set(SCRIPT)


SHELLS = [
    shell for shell in ("sh", "bash", "dash", "zsh", "ksh", "csh", "tcsh", "fish", "busybox") if shutil.which(shell)
]


@pytest.mark.parametrize("shell", SHELLS)
def test_login_shells(shell):
    """
    The start command means the same to every login shell that is here.
    """
    size = str(len(core()))
    line = start_command("abc123", int(size), sys.executable)
    argv = [shutil.which(shell), *(["sh"] if shell == "busybox" else []), "-c", line]
    done = subprocess.run(argv, input=core(), capture_output=True, timeout=20)

    assert done.stdout.startswith(b"321cba")
    assert done.returncode == 0


def test_python_of_an_odd_name(tmp_path):
    """
    An interpreter may be named by a path with blanks and quotes, or from the home folder.
    """
    folder = tmp_path / "it's a $(home)"
    folder.mkdir()
    (folder / "py thon").symlink_to(sys.executable)
    for python in (str(folder / "py thon"), "~/py thon"):
        line = start_command("abc123", len(core()), python)
        done = subprocess.run(
            ["sh", "-c", line], input=core(), capture_output=True, timeout=20, env={"HOME": str(folder)}
        )

        assert done.stdout.startswith(b"321cba"), done.stderr


def test_python_with_a_line_break():
    """
    A line break in the name of an interpreter is refused.
    """
    with pytest.raises(ValueError, match="control characters"):
        start_command("abc", 1, "python\nrm")
