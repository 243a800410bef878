"""The far end: reads framed questions from its input, answers each from a process of its own, and ends with its input.

One thread, one poll.  A look runs in a forked child with its own process group, so that it can be ended whatever it
does; the child writes its reply into a pipe, and this loop hands it on frame by frame.

How nothing is left behind: at its end, deadline or CANCEL a look's group is killed; at the end of the input, or after 60
seconds without a word from the near end, all are.  Should the agent itself be killed, the kernel ends the groups: each
child holds a pipe whose other end is ours, and has asked for a signal when that closes (F_SETOWN on its group).
"""

# The C module beneath `signal`: that one would import enum, for names that are seldom told.
import _signal
import errno
import fcntl
import gc
import os
import resource
import select
import sys
import time
import zlib

from verikit.probes import frames, lean_json
from verikit.probes.place import CannotSee, Place

SILENCE = 60.0  # seconds; the near end sends a PING every 15
FAREWELL = 1.5  # seconds for killed groups to be gone; D state can last longer, and is reported
HELD_BACK = 1 << 20  # bytes not yet taken by the near end, past which no child is read
MEMORY = 1 << 30  # bytes of data of one look; probes promise 64 MiB, an accelerator needs room for its libraries
PROGRESS_EVERY = 0.1  # seconds
QUICK = 0.05  # seconds that a look may take before it gives way to everything else on the host
GIVING_WAY = 10  # its niceness then

# One thread for each library: a look must not take the cores of the job it looks at, nor their buffers' memory.
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def main(memory, nonce):
    """Serves fd 0 and fd 1 until the input ends, then ends this process. Never returns."""
    inbox, outbox = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)  # whatever is printed can't break the frames
    os.close(nothing)
    # Announced backwards, so that a shell which echoes what it is told can't be taken for the agent.
    os.write(outbox, nonce[::-1].encode())
    Agent(memory, inbox, outbox).serve()
    os._exit(0)


class Child:
    """One look under way: `pid` leads its process group, `pipe` carries its reply, `lifeline` is closed by our death."""

    def __init__(self, request, ask, pid, pipe, lifeline):
        self.request, self.pid, self.pipe, self.lifeline = request, pid, pipe, lifeline
        self.name, self.seconds = ask["function"], ask["seconds"]
        self.quick_until = time.monotonic() + QUICK
        self.ends = time.monotonic() + self.seconds
        self.decoder, self.closed, self.gone, self.niced = frames.Decoder(), False, False, False

    def next_due(self):
        return self.ends if self.niced else min(self.quick_until, self.ends)


class Agent:
    """The loop, the looks under way, and what is still to be said. memory: the modules that have come, by name."""

    def __init__(self, memory, inbox, outbox):
        self.memory, self.inbox, self.outbox = memory, inbox, outbox
        self.decoder, self.out = frames.Decoder(), bytearray()
        self.looks, self.dying, self.ready = {}, set(), set()
        self.heard, self.open = time.monotonic(), True
        self.woken, self.waker = os.pipe()
        for fd in (inbox, outbox, self.woken, self.waker):
            os.set_blocking(fd, False)
        _signal.signal(_signal.SIGCHLD, lambda *_: None)
        _signal.set_wakeup_fd(self.waker, warn_on_full_buffer=False)
        hello = {"python": sys.version.split()[0], "executable": sys.executable, "pid": os.getpid(), "now": time.time()}
        self.say(frames.HELLO, 0, hello)

    # The loop.

    def serve(self):
        while self.open:
            self.turn()
        self.leave()

    def turn(self):
        """Waits for whatever comes next, and handles it."""
        waiting = select.poll()
        waiting.register(self.inbox, select.POLLIN)
        waiting.register(self.woken, select.POLLIN)
        waiting.register(self.outbox, select.POLLOUT if self.out else 0)
        heeded = [] if len(self.out) > HELD_BACK else [look for look in self.looks.values() if not look.closed]
        pipes = {look.pipe: look for look in heeded}
        for pipe in pipes:
            waiting.register(pipe, select.POLLIN)
        for fd, event in waiting.poll(1000 * max(0.0, self.next_due() - time.monotonic()) + 1):
            if fd == self.inbox:
                self.hear()
            elif fd == self.outbox:
                self.flush(event)
            elif fd == self.woken:
                self.drain_wakeups()
            elif pipes[fd].request in self.looks:
                self.relay(pipes[fd])
        self.end_what_is_over()

    def next_due(self):
        return min([self.heard + SILENCE] + [look.next_due() for look in self.looks.values()])

    def hear(self):
        data = read(self.inbox)
        if data is None:
            return
        if not data:
            self.open = False
            return
        self.heard = time.monotonic()
        try:
            for kind, request, payload in self.decoder.feed(data):
                HANDLERS[kind](self, request, payload)
        except (frames.BadFrame, KeyError):
            self.open = False  # nothing that follows could be trusted

    def say(self, kind, request, row):
        self.out += frames.frame(kind, request, lean_json.dumps(row).encode())

    def flush(self, event):
        try:
            if self.out:
                del self.out[: os.write(self.outbox, self.out[:65536])]
            elif event & (select.POLLERR | select.POLLHUP | select.POLLNVAL):
                self.open = False
        except BlockingIOError:
            pass
        except OSError:
            self.open, self.out = False, bytearray()

    def drain_wakeups(self):
        read(self.woken)
        for pid in list(self.dying):
            self.reap(pid)

    def end_what_is_over(self):
        now = time.monotonic()
        if now > self.heard + SILENCE:
            self.open = False
        for look in list(self.looks.values()):
            if now >= look.ends:
                self.fault(look, "timeout", "no answer within %g s; it was killed" % look.seconds)
            elif has_ended(look):
                while look.request in self.looks and self.relay(look):
                    pass  # what it wrote last may still be in the pipe
                if look.request in self.looks:
                    self.fault(look, *self.fate(look))
            elif now >= look.quick_until and not look.niced:
                self.slow_down(look)

    # What the near end says.

    def take_modules(self, _, payload):
        for row in lean_json.loads(zlib.decompress(payload).decode()):
            self.memory.sources[row["name"]] = (row["package"], row["file"], row["source"])

    def begin(self, request, payload):
        try:
            ask = lean_json.loads(zlib.decompress(payload).decode())
            self.preload(ask["module"])
            self.looks[request] = self.fork(request, ask)
        except Exception as error:
            self.say(frames.FAULT, request, row_of(error))

    def cancel(self, request, _):
        look = self.looks.get(request)
        if look:
            self.fault(look, "cancelled", "cancelled; it was killed")

    def pong(self, request, _):
        self.say(frames.PONG, request, time.time())

    # Looks.

    def preload(self, name):
        """Imports verikit's own probes once, here; those of others are compiled here, and run in their look's process alone."""
        if name in self.ready:
            return
        if name.startswith("verikit.probes."):
            __import__(name)
        else:
            self.memory.code(name)
        self.ready.add(name)
        gc.freeze()  # so that a collection in a child does not copy every page that it shares with us

    def fork(self, request, ask):
        pipe, theirs = os.pipe()
        held, lifeline = os.pipe()
        try:
            pid = os.fork()
        except OSError as error:
            for fd in (pipe, theirs, held, lifeline):
                os.close(fd)
            raise CannotSee("bound_reached", "no process could be started for the look: %s" % error) from None
        if not pid:
            try:
                self.forget(pipe, lifeline)
                be_child(request, ask, theirs, held)
            finally:
                os._exit(70)
        os.close(theirs)
        os.close(held)
        try:
            os.setpgid(pid, pid)  # the child does it too: whoever comes first
        except OSError:
            pass
        os.set_blocking(pipe, False)
        return Child(request, ask, pid, pipe, lifeline)

    def forget(self, *more):
        """In a child: closes what is the agent's, so that no child holds up an end of input or output."""
        _signal.set_wakeup_fd(-1)
        _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
        held = [fd for look in self.looks.values() for fd in (look.pipe, look.lifeline)]
        for fd in (self.inbox, self.outbox, self.woken, self.waker, *held, *more):
            os.close(fd)

    def relay(self, look):
        """Hands on what a look has written; whether there was anything."""
        data = read(look.pipe)
        if not data:
            look.closed = data is not None  # its end comes next, and says how it was
            return False
        try:
            for kind, request, payload in look.decoder.feed(data):
                if request != look.request or kind not in (frames.CHUNK, frames.END, frames.PROGRESS):
                    raise frames.BadFrame
                self.out += frames.frame(kind, request, payload)
                if kind == frames.END:
                    self.settle(look)
                    break
        except frames.BadFrame:
            self.fault(look, "probe_error", "something else wrote into the reply of the look")
        return True

    def fate(self, look):
        """How a child that gave no answer ended."""
        self.end_group(look.pid)
        _, status = os.waitpid(look.pid, 0)
        look.gone = True
        if not os.WIFSIGNALED(status):
            return "probe_error", "the look's process ended with status %d, without an answer" % os.WEXITSTATUS(status)
        number = os.WTERMSIG(status)
        hint = "; the host may be out of memory" if number == _signal.SIGKILL else ""
        return "probe_error", "the look's process was ended by %s%s" % (name_of_signal(number), hint)

    def fault(self, look, cause, reason):
        """Closes a request for which no whole reply comes."""
        self.settle(look)
        self.say(frames.FAULT, look.request, ["unseen", cause, "%s: %s" % (look.name, reason), {}])

    def settle(self, look):
        if self.looks.pop(look.request, None):
            os.close(look.pipe)
            if not look.gone:
                self.end_group(look.pid)
                self.dying.add(look.pid)
                self.reap(look.pid)
            os.close(look.lifeline)

    def slow_down(self, look):
        """Nices a look with all its children: the job that it looks at goes first."""
        look.niced = True
        try:
            os.setpriority(os.PRIO_PGRP, look.pid, GIVING_WAY)
        except OSError:
            pass

    def end_group(self, pid):
        """Kills a look with all its children, also those that a finished one left running."""
        try:
            os.killpg(pid, _signal.SIGKILL)
        except OSError:
            pass

    def reap(self, pid):
        try:
            if os.waitpid(pid, os.WNOHANG)[0]:
                self.dying.discard(pid)
        except ChildProcessError:
            self.dying.discard(pid)

    def leave(self):
        """Kills what still runs, waits for it to be gone, and says what is not."""
        for look in list(self.looks.values()):
            self.settle(look)
        ends = time.monotonic() + FAREWELL
        while self.dying and time.monotonic() < ends:
            select.select([self.woken], [], [], 0.05)
            self.drain_wakeups()
        self.say(frames.GONE, 0, sorted(self.dying))
        while self.out and select.select([], [self.outbox], [], 0.2)[1]:
            self.flush(0)


HANDLERS = {
    frames.MODULE: Agent.take_modules,
    frames.ASK: Agent.begin,
    frames.CANCEL: Agent.cancel,
    frames.PING: Agent.pong,
}


def read(fd):
    """What there is to read; empty at the end, None if nothing has come."""
    try:
        return os.read(fd, 65536)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def name_of_signal(number):
    import signal

    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time one
        return "signal %d" % number


def has_ended(look):
    """Whether its process has ended; it stays to be waited for, so that its number can't become another's."""
    try:
        return os.waitid(os.P_PID, look.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except (AttributeError, ChildProcessError):  # no waitid on older macOS: the closed pipe tells
        return look.closed


# In the child.


def be_child(request, ask, pipe, held):
    """Answers one look and ends this process."""
    restrict(held)
    told = [0.0]

    def progress(done, total, unit):
        if time.monotonic() - told[0] >= PROGRESS_EVERY:
            told[0] = time.monotonic()
            write(pipe, frames.frame(frames.PROGRESS, request, lean_json.dumps([done, total, unit]).encode()))

    write(pipe, frames.reply(request, answer(ask, Place(progress))))
    os._exit(0)


def restrict(held):
    """A process group of its own that dies with the agent, few resources, and no core file."""
    os.setpgid(0, 0)
    tie(held)
    for name in ONE_THREAD:
        os.environ.setdefault(name, "1")
    for name, most in (("RLIMIT_DATA", MEMORY), ("RLIMIT_CORE", 0)):
        try:
            _, hard = resource.getrlimit(getattr(resource, name))
            resource.setrlimit(getattr(resource, name), (most if hard < 0 else min(most, hard), hard))
        except (AttributeError, OSError, ValueError):
            pass


def tie(held):
    """Has the kernel kill this group once the other end of the pipe is closed, by whatever death."""
    try:
        fcntl.fcntl(held, fcntl.F_SETOWN, -os.getpid())
        fcntl.fcntl(held, getattr(fcntl, "F_SETSIG", 10), _signal.SIGKILL)
        fcntl.fcntl(held, fcntl.F_SETFL, fcntl.fcntl(held, fcntl.F_GETFL) | os.O_ASYNC)
    except (AttributeError, OSError):
        return  # not on Linux: there the agent itself must see the end of its input
    if select.select([held], [], [], 0)[0]:
        os._exit(0)  # it died before we had asked


def answer(ask, place):
    """The reply to a look: its facts, or why there are none, as JSON."""
    try:
        if "cwd" in ask:
            os.chdir(ask["cwd"])
        function = find(ask["module"], ask["function"])
        facts = function(place, **ask["arguments"])
    except BaseException as error:
        return lean_json.dumps(row_of(error)).encode()
    try:
        data = lean_json.dumps(["facts", facts]).encode()
    except MemoryError as error:
        return lean_json.dumps(row_of(error)).encode()
    except (TypeError, ValueError, RecursionError) as error:
        reason = "%s: its facts are not JSON: %s" % (ask["function"], error)
        return lean_json.dumps(["unseen", "probe_error", reason, {}]).encode()
    if len(data) > frames.MAX_REPLY:
        reason = "%s: its facts take %d bytes, of at most %d" % (ask["function"], len(data), frames.MAX_REPLY)
        return lean_json.dumps(["unseen", "bound_reached", reason, {}]).encode()
    return data


def find(module, name):
    __import__(module)
    return getattr(sys.modules[module], name)


def row_of(error):
    """What was raised, as the near end takes it."""
    if isinstance(error, CannotSee):
        return ["unseen", error.cause, error.reason, plain(error.facts)]
    if isinstance(error, OSError) and error.errno is not None and error.filename is not None:
        return ["os", error.errno, error.strerror or "", name_of(error.filename)]
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return [
            "unseen",
            "bound_reached",
            "the look needs more memory than the %d MiB it is given" % (MEMORY >> 20),
            {},
        ]
    import traceback

    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))[-8000:]
    return ["raised", ("%s: %s" % (type(error).__name__, error))[:1000], text]


def plain(facts):
    """Facts as JSON takes them; what it can't carry is shown instead."""
    return lean_json.loads(lean_json.dumps(facts, default=repr))


def name_of(path):
    try:
        return os.fsdecode(path)
    except TypeError:
        return repr(path)


def write(fd, data):
    while data:
        data = data[os.write(fd, data) :]
