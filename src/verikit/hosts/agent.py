"""The near end of an agent: starts it through a channel, asks it looks, and says what became of those it lost.

A channel is whatever carries bytes to and from the start command: pipes of a child (`local`, `exec`) or an SSH session
(`ssh`).  The agent's core, the modules and the first looks are written as soon as the channel is there, without waiting
for an answer: so the first facts come three round trips after authentication (open, exec, data), later ones after one.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import time
import zlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from verikit.address import Address
from verikit.check import Facts, Look
from verikit.errors import Cause, Unseen
from verikit.hosts.base import BaseHost, cause_named, unseen_os
from verikit.hosts.packing import core, pack, shipment
from verikit.probes import frames

if TYPE_CHECKING:
    from verikit.hosts.pool import HostPool

Progress = Callable[[float, float, str], None]

LOOKS_AT_ONCE = 8
"""Looks in flight on one host; the others queue here."""

BOOTSTRAP = 15.0
"""Seconds from the start command to the agent's first word."""

FIRST_LOOK = 0.005
"""Seconds that the core waits for a first look to go out with it: one write, one packet."""

GRACE = 2.0
"""Seconds that a host has, past a look's deadline, to say that it ended it; and, once told to leave, to be gone."""

PING_EVERY = 15.0
SILENCE = 60.0
"""Seconds without a word from an agent that is pinged, after which its connection counts as lost."""

KEPT = 4096
"""Bytes of noise and of standard error that are kept for messages."""


class Channel(Protocol):
    """Bytes to and from the start command. What comes is given to the `Agent` that it was opened for."""

    def write(self, data: bytes) -> None:
        """Sends, without waiting."""

    def end_input(self) -> None:
        """Ends the agent's input, upon which it leaves."""

    def kill(self) -> None:
        """Lets go at once, without a word."""

    async def closed(self) -> None:
        """Once nothing of it is left here."""


class Agent(BaseHost):
    """A host whose looks go to an agent.

    Made before its channel, which feeds it: `heard` (its output), `grumbled` (its standard error), `lost` (its end).
    """

    def __init__(self, address: Address) -> None:
        super().__init__(address)
        self.python = ""
        self.pid: int | None = None
        self.sent = self.received = 0
        self.gone = False
        self.failure: Unseen | None = None
        self.belongs_to: HostPool | None = None
        self._process = os.getpid()
        self._loop = asyncio.get_running_loop()
        self._channel: Channel | None = None
        self._unsent = b""
        self._nonce = secrets.token_hex(16)
        self._marker = self._nonce[::-1].encode()
        self._noise, self._grumble = bytearray(), bytearray()
        self._decoder = frames.Decoder()
        self._looks: dict[int, _Pending] = {}
        self._shipped: set[str] = set()
        self._numbers = iter(range(1, 1 << 32))
        self._slots = asyncio.Semaphore(LOOKS_AT_ONCE)
        self._greeted, self._ended = self._loop.create_future(), self._loop.create_future()
        self._left: list[int] | None = None
        self._last_word = time.monotonic()
        self._timer: asyncio.TimerHandle | None = None

    # Starting.

    @property
    def parameters(self) -> tuple[str, int]:
        """What the start command says to the stub: the nonce, and the bytes of the core that follow."""
        return self._nonce, len(core())

    def attach(self, channel: Channel) -> None:
        """The channel is there and its command started: the core goes out, together with the first look if that is near."""
        self._channel = channel
        self._unsent = core()
        self._loop.call_later(FIRST_LOOK, self._write, b"")
        self._timer = self._loop.call_later(BOOTSTRAP, self._silent_start)

    def _silent_start(self) -> None:
        self._fail(
            Unseen(Cause.TIMEOUT, f"{self.address}: its Python did not start within {BOOTSTRAP:g} s{self.said()}")
        )

    @property
    def alive(self) -> bool:
        """Whether looks can be asked."""
        return self.failure is None and not self._ended.done()

    # Asking.

    async def ask(self, look: Look, *, seconds: float | None = None, progress: Progress | None = None) -> Facts:
        """The facts, within the look's own seconds or these, whichever end sooner; else raises `Unseen`.

        progress: called with (done, total, unit) as the probe tells them.
        Cancelling it ends the look on the host as well. Raises TypeError or ValueError for a probe that can't travel.
        """
        if os.getpid() != self._process:
            raise RuntimeError(
                f"the connection to {self.address} belongs to the process that opened it, not to its fork"
            )
        packed = pack(look.function)
        arguments = json_of(look.arguments)
        allowed = look.seconds if seconds is None else min(look.seconds, seconds)
        async with self._slots:
            if self.failure is not None:
                raise again(self.failure)
            number = next(self._numbers)
            pending = self._looks[number] = _Pending(look, self._loop.create_future(), progress)
            try:
                self._send_question(number, packed, arguments, allowed)
                return await self._answer(pending, allowed)
            finally:
                if self._looks.pop(number, None) and self.alive:
                    self._write(frames.frame(frames.CANCEL, number))

    def _send_question(self, number: int, packed: Any, arguments: Any, allowed: float) -> None:
        question = {"module": packed.module, "function": packed.function, "arguments": arguments, "seconds": allowed}
        question |= self.told()
        payload = zlib.compress(json.dumps(question).encode(), 1)
        if len(payload) > frames.MAX_FRAME:
            raise ValueError(
                f"the arguments of a look take at most {frames.MAX_FRAME:,} bytes (compressed); these take {len(payload):,}"
            )
        new = [module for module in packed.modules if module.name not in self._shipped]
        self._shipped.update(module.name for module in new)
        modules = frames.frame(frames.MODULE, 0, shipment(new)) if new else b""
        self._write(modules + frames.frame(frames.ASK, number, payload))

    def told(self) -> dict[str, Any]:
        """What a kind of host says with each look, beside the question itself."""
        return {}

    async def _answer(self, pending: _Pending, allowed: float) -> Facts:
        if not self._greeted.done():  # the deadline is the look's, the start has its own
            await asyncio.wait({self._greeted, pending.future}, return_when=asyncio.FIRST_COMPLETED)
        done, _ = await asyncio.wait({pending.future}, timeout=allowed + GRACE)
        if not done:
            raise Unseen(
                Cause.TIMEOUT, f"{self.address}: no answer {GRACE:g} s after the {allowed:g} s of the look were over"
            )
        return facts_of(pending.look, pending.future.result(), self.address)

    # What the channel says.

    def heard(self, data: bytes) -> None:
        """Takes output of the command."""
        self.received += len(data)
        self._last_word = time.monotonic()
        if self.failure is not None:
            return  # nothing that still comes could be trusted, nor kept
        if self._marker:
            data = self._past_marker(data)
        try:
            for kind, number, payload in self._decoder.feed(data):
                _HANDLERS[kind](self, number, payload)
        except (frames.BadFrame, LookupError, TypeError, ValueError, RecursionError) as error:
            words = (
                f"something else than the agent wrote into its connection, or a terminal changed what it wrote: {error}"
            )
            self._fail(Unseen(Cause.CONNECTION_LOST, f"{self.address}: {words}"))

    def _past_marker(self, data: bytes) -> bytes:
        """What follows the marker, if it has come; whatever a login shell prints first is no answer."""
        self._noise += data
        noise, found, rest = bytes(self._noise).partition(self._marker)
        if found:
            self._marker = b""
        self._noise = bytearray(noise[-KEPT:])
        return rest

    def grumbled(self, data: bytes) -> None:
        """Takes standard error of the command; the last of it is kept for messages."""
        self.received += len(data)
        self._grumble += data
        del self._grumble[:-KEPT]

    def lost(self, reason: Unseen) -> None:
        """Takes the end of the channel."""
        self._fail(reason)
        if not self._ended.done():
            self._ended.set_result(None)

    def said(self) -> str:
        """The last lines that the host said beside the frames, as the end of a message."""
        lines = (self._noise + b"\n" + self._grumble).decode("utf-8", "replace").split("\n")
        last = [line.strip() for line in lines if line.strip()][-3:]
        return f"; it said: {' / '.join(last)}" if last else ""

    def ending(self, status: int | None, word: str) -> Unseen:
        """Why the channel ended, by the exit status of the command (None: there was none) and its own word for it."""
        self.gone = self.gone or status is not None
        if not self._marker:
            return Unseen(Cause.CONNECTION_LOST, f"{self.address}: {word}{self.said()}")
        return self.unstarted(status, word)

    def unstarted(self, status: int | None, word: str) -> Unseen:
        """Why the command ended before the agent's first word."""
        said, name = self.said(), str(self.address)
        if NONE_LEFT.encode() in self._grumble:
            tried = self._grumble.decode("utf-8", "replace").partition(NONE_LEFT)[2].strip().rstrip(",").strip()
            found = f"found only: {' '.join(tried.split())}" if tried else "found none at all"
            return Unseen(Cause.NO_PYTHON, f"{name}: looks need Python 3.8 or newer on the host; {found}")
        if status == CRASHED:
            return Unseen(Cause.NO_PYTHON, f"{name}: the host's Python could not run the agent{said}")
        if status is None:
            return Unseen(Cause.CONNECTION_LOST, f"{name}: {word} while the agent was starting{said}")
        hint = "its shell is no shell (nologin), a forced command stands before it, or its start-up files call `exit`"
        return Unseen(Cause.NO_PYTHON, f"{name}: ended with status {status} without running the command: {hint}{said}")

    # What the agent says.

    def _hello(self, _: int, payload: bytes) -> None:
        row = json.loads(payload)
        self.python = f"{row['python']} ({row['executable']})"
        self.pid = row["pid"]
        if not self._greeted.done():
            self._greeted.set_result(None)
        if self._timer:
            self._timer.cancel()
        self._timer = self._loop.call_later(PING_EVERY, self._ping)

    def _chunk(self, number: int, payload: bytes) -> None:
        pending = self._looks.get(number)
        if pending:
            pending.try_to(pending.reply.add, payload)

    def _end(self, number: int, payload: bytes) -> None:
        pending = self._looks.pop(number, None)
        if pending:
            pending.try_to(lambda totals: pending.settle(json.loads(pending.reply.end(totals))), payload)

    def _fault(self, number: int, payload: bytes) -> None:
        row = json.loads(payload)
        if not isinstance(row, list) or row[:1] == ["facts"]:
            raise ValueError("facts come in a reply that is counted, never so")
        pending = self._looks.pop(number, None)
        if pending:
            pending.settle(row)

    def _progress(self, number: int, payload: bytes) -> None:
        pending = self._looks.get(number)
        if pending and pending.progress:
            self._loop.call_soon(pending.progress, *json.loads(payload))

    def _pong(self, _: int, payload: bytes) -> None:
        pass  # that anything came is what counts

    def _gone(self, _: int, payload: bytes) -> None:
        self._left = json.loads(payload)

    def _ping(self) -> None:
        if time.monotonic() - self._last_word > SILENCE:
            self._fail(
                Unseen(Cause.CONNECTION_LOST, f"{self.address}: the agent has not said a word for {SILENCE:g} s")
            )
            return
        self._write(frames.frame(frames.PING))
        self._timer = self._loop.call_later(PING_EVERY, self._ping)

    # Ending.

    async def close(self) -> list[str]:
        """Ends the agent and all it runs; what could not be confirmed gone within 2 s, as warnings."""
        if self.belongs_to is not None:
            pool, self.belongs_to = self.belongs_to, None
            return await pool.close()
        if self._timer:
            self._timer.cancel()
        if os.getpid() != self._process or self._channel is None:
            return []
        for pending in list(self._looks.values()):
            pending.settle(["unseen", Cause.CANCELLED.value, f"{self.address}: closed before the answer came", {}])
        self._channel.end_input()
        await asyncio.wait({self._ended}, timeout=GRACE)
        warnings = self._farewell()
        self._channel.kill()
        await self._channel.closed()
        self._fail(Unseen(Cause.CONNECTION_LOST, f"{self.address}: closed"))
        return warnings

    def _farewell(self) -> list[str]:
        if self._left:
            return [f"{self.address}: looks could not be killed yet, processes {', '.join(map(str, self._left))}"]
        if self._left is None and not self.gone:
            which = f"the agent, process {self.pid}," if self.pid else "the agent"
            return [f"{self.address}: {which} could not be confirmed gone"]
        return []

    def _fail(self, reason: Unseen) -> None:
        """Ends every outstanding look: with what is known of each, never with less than a reason."""
        if self.failure is not None:
            return
        self.failure = reason
        if self._timer:
            self._timer.cancel()
        if not self._greeted.done():
            self._greeted.set_result(None)
        for number, pending in list(self._looks.items()):
            begun = pending.reply.begun or self._decoder.partial == (frames.CHUNK, number)
            pending.fail(cut(reason) if begun else reason)
        self._looks.clear()
        if self._channel and not self._ended.done():
            self._channel.end_input()

    def _write(self, data: bytes) -> None:
        data, self._unsent = self._unsent + data, b""
        if data and self._channel and self.failure is None:
            self.sent += len(data)
            self._channel.write(data)


_HANDLERS: dict[int, Callable[[Agent, int, bytes], None]] = {
    frames.HELLO: Agent._hello,
    frames.CHUNK: Agent._chunk,
    frames.END: Agent._end,
    frames.FAULT: Agent._fault,
    frames.PROGRESS: Agent._progress,
    frames.PONG: Agent._pong,
    frames.GONE: Agent._gone,
}


class _Pending:
    """A look that was asked and not answered yet."""

    def __init__(self, look: Look, future: asyncio.Future[Any], progress: Progress | None) -> None:
        self.look, self.future, self.progress = look, future, progress
        self.reply = frames.Assembler()

    def settle(self, row: list[Any]) -> None:
        if not self.future.done():
            self.future.set_result(row)

    def fail(self, reason: Unseen) -> None:
        self.settle(["unseen", reason.cause.value, reason.reason, dict(reason.facts)])

    def try_to(self, act: Callable[[bytes], None], payload: bytes) -> None:
        """Does it; a reply that does not add up is no answer, and the other looks are none the worse."""
        try:
            act(payload)
        except (frames.BadReply, ValueError, RecursionError) as error:
            self.fail(
                Unseen(Cause.TRUNCATED_REPLY, f"{self.look.function.__qualname__}: the reply was damaged: {error}")
            )


def facts_of(look: Look, row: Any, address: Address) -> Facts:
    """The facts in a reply; anything else in it is raised as `Unseen`, whatever a host may make of its rows."""
    match row:
        case ["facts", facts]:
            return facts
        case ["unseen", str(cause), str(reason), dict(facts)]:
            raise Unseen(cause_named(cause), reason, facts)
        case ["os", int(number), str(text), str(path)]:
            raise unseen_os(number, text, path)
        case ["raised", str(text), str(traceback)]:
            raise Unseen(Cause.PROBE_ERROR, f"{look.function.__qualname__}: {text}", {"traceback": traceback})
    raise Unseen(Cause.TRUNCATED_REPLY, f"{address}: a reply of unknown form: {str(row)[:80]}")


def cut(reason: Unseen) -> Unseen:
    """The same end of a connection, for a look whose answer had begun."""
    return Unseen(Cause.TRUNCATED_REPLY, f"the reply was cut: {reason.reason}", reason.facts)


def again(reason: Unseen) -> Unseen:
    """The same reason, as an exception of its own."""
    return Unseen(reason.cause, reason.reason, reason.facts)


def json_of(value: Any) -> Any:
    """A look's arguments as JSON carries them. TypeError for what it can't carry."""
    if isinstance(value, Mapping):
        return {str(key): json_of(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_of(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(json_of(item) for item in value)
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise TypeError(f"the arguments of a look are JSON values (text, numbers, lists, dicts); got {value!r}")


# The start command.

PLACES = (
    "python3 python /usr/bin/python3 /usr/local/bin/python3 /usr/libexec/platform-python "
    "python3.14 python3.13 python3.12 python3.11 python3.10 python3.9 python3.8 "
    "/opt/conda/bin/python3 /opt/venv/bin/python3 /venv/bin/python3 "
    "~/miniconda3/bin/python3 ~/miniforge3/bin/python3 ~/anaconda3/bin/python3 ~/.venv/bin/python3 ~/venv/bin/python3"
)

NONE_LEFT = "verikit-found-no-python:"
TOO_OLD, NONE_USABLE, CRASHED = 99, 96, 98

# Read by Python 2.7 and by 3.6 as well, on one line, without a single quote, a backslash or an exclamation mark: so that
# bash, dash, zsh, csh and fish all hand it on as it is. "@" stands for the line breaks.
STUB = (
    'import sys,os;exec(("os._exit(99)" if sys.version_info<(3,8) else "'
    "import zlib@nonce,left=sys.argv[1],int(sys.argv[2])@data=bytes()@"
    "while len(data)<left:@ more=os.read(0,left-len(data))@ more or os._exit(97)@ data+=more@"
    "try:@ exec(zlib.decompress(data))@except BaseException:@ sys.excepthook(*sys.exc_info())@"
    'os._exit(98)").replace("@",chr(10)))'
)

# $1: the stub, $2: the nonce, $3: the bytes of the core, then the interpreters to try. Statuses 1, 2, 99, 126 and 127 come
# from an interpreter that is too old, broken or missing, before it has read anything; the agent never ends with one.
SCRIPT = (
    "s=$1 n=$2 l=$3; shift 3; t=; "
    'for p in "$@"; do case $p in "~/"*) p=$HOME/${p#??};; esac; '
    'command -v "$p" >/dev/null 2>&1 || continue; '
    '"$p" -I -S -B -u -c "$s" "$n" "$l"; r=$?; '
    "case $r in 1|2|99|126|127) ;; *) exit $r;; esac; "
    't="$t $p is `"$p" -V 2>&1 </dev/null`,"; done; '
    f'echo "{NONE_LEFT}$t" >&2; exit {NONE_USABLE}'
)


def start_command(nonce: str, size: int, python: str | None = None) -> str:
    """The line that starts an agent, for whichever shell a login has. python: the one interpreter to try."""
    places = [_quoted(python)] if python else [_quoted(place) for place in PLACES.split()]
    return " ".join(["exec sh -c", f"'{SCRIPT}'", "sh", f"'{STUB}'", nonce, str(size), *places])


def _quoted(text: str) -> str:
    if any(ord(char) < 32 for char in text):
        raise ValueError(f"python is the path of an interpreter, without control characters; got {text!r}")
    return "'" + text.replace("'", "'\\''") + "'"
