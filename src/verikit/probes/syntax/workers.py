"""Processes that compile for us, so that a compiler that crashes or overflows takes only its own process along.

The host's own interpreter is asked in forks of this process, a named one in children of its own.  One plain source is
compiled right here, since a fork costs as much as half of that: a look is a process of its own already, and should this
one die, the check asks again with `alone`.
What may be the doing of our circumstances rather than of the source (limits, depths, codecs that site-packages bring)
is asked again in a fresh child, started as a real start would be: with site, environment and an empty stack.
"""

import json
import os
import signal
import sys
import threading

from verikit.probes.syntax import driver

PLAIN_BYTES, PLAIN_LINE, PLAIN_STACK = 1 << 20, 4096, 8 << 20
"""What a source may hold, its longest line, and the stack that must be there, for it to be compiled in this process."""

MOST = 8
"""Workers at one time, however many cores there are: the host has other work."""

# After site has run, so that neither PYTHONPATH nor a .pth file can put a module of the project in the driver's way.
ONLY_STANDARD = """
import sys, os
home = os.path.dirname(os.__file__)
sys.path[:] = [p for p in sys.path if p == home or p.endswith(".zip") or (
    p.startswith(home + os.sep) and "-packages" not in p)]
"""

AGAIN_ERRORS = ("MemoryError", "RecursionError", "RuntimeError", "SystemError", "OverflowError", "LookupError")
AGAIN_WORDS = ("encoding problem", "unknown encoding", "not a text encoding", "integer string conversion")


class Died(Exception):
    """A worker ended without an answer; the text says how."""


class Worker:
    """A process that runs the driver: bytes in, an outcome out."""

    def __init__(self, to, answers, wait):
        self.to, self.answers, self.wait = to, answers, wait

    def ask(self, data, run_as):
        """The outcome; `Died` if the process ended over it."""
        try:
            self.to.write(("%d %s\n" % (len(data), run_as)).encode("ascii"))
            self.to.write(data)
            self.to.flush()
            line = self.answers.readline()
        except OSError:
            line = b""
        if not line.endswith(b"\n"):
            self.close()
            raise Died(ending(self.wait()))
        return json.loads(line.decode("ascii"))

    def close(self):
        """Ends it."""
        for pipe in (self.to, self.answers):
            try:
                pipe.close()
            except OSError:
                pass


def ending(status):
    """How a process ended, in words; status as subprocess gives it."""
    if status >= 0:
        return "ended with status %d" % status
    try:
        return "was ended by %s" % signal.Signals(-status).name
    except ValueError:
        return "was ended by signal %d" % -status


def forked(others=()):
    """A worker that is a fork of this process; `others` are the workers whose pipes it must not hold open."""
    import warnings

    heard, to = os.pipe()
    answers, said = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 3.12 warns of threads: the child only compiles, and ends without clean-up
        pid = os.fork()
    if not pid:
        try:
            quiet(to, answers, *[pipe.fileno() for each in others for pipe in (each.to, each.answers)])
            driver.serve(os.fdopen(heard, "rb"), os.fdopen(said, "wb"))
        finally:
            os._exit(0)
    os.close(heard)
    os.close(said)
    return Worker(os.fdopen(to, "wb"), os.fdopen(answers, "rb"), lambda: waited(pid))


def quiet(*fds):
    """In a fork: lets go of what is not its own. Old parsers print when their stack is full."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    for fd in (nowhere, *fds):
        os.close(fd)


def waited(pid):
    try:
        status = os.waitpid(pid, 0)[1]
    except ChildProcessError:
        return 0
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def started(executable, whole=False):
    """A worker of a named interpreter. whole: with site and environment, as a real start; else bare, which is quicker."""
    import subprocess

    text = driver.__spec__.loader.get_source(driver.__name__)
    argv = [executable, "-B", "-c", ONLY_STANDARD + text] if whole else [executable, "-E", "-S", "-B", "-c", text]
    child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/")
    return Worker(child.stdin, child.stdout, child.wait)


class Crew:
    """Workers for one interpreter; `outcome` may be called from several threads, one worker each.

    executable: of a named interpreter, None for the host's own.
    stands_for: (major, minor) of a version that the host lacks, and that rules stand in for.
    alone: nothing is compiled in this process.
    """

    def __init__(self, executable, own, size=1, stands_for=None, alone=True):
        self.executable, self.own, self.idle, self.lock = executable, own, [], threading.Lock()
        self.stands_for = stands_for and tuple(stands_for)
        self.here = size == 1 and not executable and not alone and roomy()
        for _ in range(0 if self.here else size):
            self.hire()

    def hire(self):
        self.idle.append(started(self.executable) if self.executable else forked(self.idle))

    def outcome(self, data, run_as):
        """What the interpreter makes of the bytes; a crash of it is an outcome too."""
        answer = driver.outcome(data, "<file>", run_as) if self.here and plain(data) else self.by_worker(data, run_as)
        if answer is None or doubtful(answer):
            answer = self.again(data, run_as)
        return self.translated(data, answer, run_as) if self.stands_for else answer

    def by_worker(self, data, run_as):
        """The outcome, None if the worker died over it."""
        with self.lock:
            if not self.idle:
                self.hire()
            worker = self.idle.pop()
        try:
            answer = worker.ask(data, run_as)
        except Died:
            answer, worker = None, started(self.executable or self.own)
        with self.lock:
            self.idle.append(worker)
        return answer

    def translated(self, data, answer, run_as):
        """What the version that is not here would answer."""
        from verikit.probes.syntax import features

        return features.stand_in(data, answer, tuple(sys.version_info[:2]), self.stands_for, run_as)

    def again(self, data, run_as):
        """The outcome in a fresh child under the conditions of a real start."""
        worker = started(self.executable or self.own, whole=True)
        try:
            return worker.ask(data, run_as)
        except Died as death:
            words = "the interpreter %s while it compiled this" % death
            return dict(
                driver.refusal(death, words, None, None, None), error="crash", warnings=[], warning_count=0, notes=[]
            )
        finally:
            worker.close()
            worker.wait()

    def close(self):
        for worker in self.idle:
            worker.close()
        for worker in self.idle:
            worker.wait()


def roomy():
    """Whether this thread has the stack that compilers are tested with."""
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_STACK)
    return threading.current_thread() is threading.main_thread() and (soft < 0 or soft >= PLAIN_STACK)


def plain(data):
    """Whether a source is of the usual kind: no size and no line that could mean a depth nobody has tried."""
    return len(data) <= PLAIN_BYTES and max(map(len, data.split(b"\n"))) <= PLAIN_LINE


def doubtful(answer):
    """Whether a refusal may be due to our stack, limits or missing codecs."""
    if answer["ok"]:
        return False
    return answer["error"] in AGAIN_ERRORS or any(words in answer["message"] for words in AGAIN_WORDS)


def cores():
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def share_out(items, work, hands):
    """`work(item)` for each item, by so many threads; the results in the order of the items."""
    if hands < 2:
        return [work(item) for item in items]
    results, waiting, lock = [None] * len(items), iter(range(len(items))), threading.Lock()
    failed = []

    def toil():
        while not failed:
            with lock:
                index = next(waiting, None)
            if index is None:
                return
            try:
                results[index] = work(items[index])
            except BaseException as error:
                failed.append(error)

    threads = [threading.Thread(target=toil) for _ in range(hands)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    return results
