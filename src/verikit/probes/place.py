"""The place where a probe stands: the file system, the clock and the programs of one host.

Probes ask a `Place` and nothing else, so that tests can give them a made-up one, and so that the rules hold in one spot:
nothing that can hang is opened, no child outlives its look, no output is read without a bound.
"""

import errno
import os
import stat as stat_module
import sys
import time

KINDS = (
    ("S_ISDIR", "a directory"),
    ("S_ISFIFO", "a FIFO"),
    ("S_ISSOCK", "a socket"),
    ("S_ISCHR", "a character device"),
    ("S_ISBLK", "a block device"),
)


class CannotSee(Exception):
    """Raised by a probe that knows why it can't answer: `cause` is a value of verikit.Cause."""

    def __init__(self, cause, reason, **facts):
        super().__init__(reason)
        self.cause, self.reason, self.facts = cause, reason, facts


class Ran:
    """A child that has ended: `status` (negative: the signal), `stdout` and `stderr` in bytes, `cut` if a bound was met,
    `late` if it was ended at its time limit."""

    def __init__(self, status, stdout, stderr, cut, late):
        self.status, self.stdout, self.stderr, self.cut, self.late = status, stdout, stderr, cut, late


def kind_of(mode):
    """What a stat mode says a thing is, in words; None for a regular file."""
    for test, words in KINDS:
        if getattr(stat_module, test)(mode):
            return words
    return None


def state_of(info):
    """What must stay the same while a file is read: device, inode, size, mtime_ns, ctime_ns."""
    return info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns


_CAUSES = {
    "missing": (errno.ENOENT, errno.ENOTDIR),
    "permission": (errno.EACCES, errno.EPERM),
    "timeout": (errno.ETIMEDOUT,),
    "changed_while_reading": (errno.ESTALE,),
    "bound_reached": (errno.ENOMEM, errno.EMFILE, errno.ENFILE),
}


def cause_of(error):
    """Why something was not seen, by the OSError that a path gave; `errors.cause_of_errno` says the same at the near end."""
    return next((cause for cause, numbers in _CAUSES.items() if error.errno in numbers), "unsupported")


class Place:
    """This host, as a probe may see it."""

    def __init__(self, report=None):
        self._report = report

    def open(self, path, special=False):
        """A seekable binary file, read-only and unbuffered by name; regular files only, unless `special`.

        A FIFO, a device or a directory is `CannotSee("unsupported")`, and is never opened: an open alone can hang.
        """
        if not special:
            self._refuse(path, os.stat(path).st_mode)
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
        try:
            if not special:  # what was a file at the stat may be a FIFO by now
                self._refuse(path, os.fstat(fd).st_mode)
            return open(fd, "rb")
        except BaseException:
            os.close(fd)
            raise

    @staticmethod
    def _refuse(path, mode):
        kind = kind_of(mode)
        if kind:
            raise CannotSee("unsupported", "%s is %s, not a regular file" % (os.fspath(path), kind), kind=kind)

    def steady(self, path):
        """The open file, of which size, inode, mtime_ns and ctime_ns must be the same at the end as at the beginning.

        A change is `CannotSee("changed_while_reading")`, also if what was read made no sense: it came from two moments.
        """
        return _Steady(self, path)

    def read(self, path, most, name=None):
        """The bytes of a regular file that stays as it is while it is read; more than `most` is `CannotSee("bound_reached")`.

        name: what the refusal calls it; by default its path.
        """
        with self.steady(path) as file:
            data = file.read(most + 1)
        if len(data) > most:
            words = "%s has more than the %d bytes that are read of such a file" % (name or os.fspath(path), most)
            raise CannotSee("bound_reached", words)
        return data

    def unchanged(self, path, before):
        """Raises `CannotSee("changed_while_reading")` unless the path still has that `state_of`."""
        try:
            after = state_of(self.stat(path))
        except OSError:
            after = None
        if after != before:
            raise CannotSee(
                "changed_while_reading",
                "%s changed while it was read: %s" % (os.fspath(path), _difference(before, after)),
                before=list(before),
                after=list(after or ()),
            )

    def stat(self, path, follow=True):
        """os.stat_result of the path, or of the link itself."""
        return os.stat(path, follow_symlinks=follow)

    def listdir(self, path):
        """The names in a folder, sorted."""
        return sorted(os.listdir(path))

    def realpath(self, path):
        """The path with every link resolved."""
        return os.path.realpath(path)

    def readlink(self, path):
        """Where a link points, as it is written."""
        return os.readlink(path)

    def now(self):
        """This host's clock, seconds since the epoch."""
        return time.time()

    def progress(self, done, total, unit="bytes"):
        """Tells whoever waits how far this look is."""
        if self._report:
            self._report(done, total, unit)

    def accelerator(self, name):
        """The module of that name if this host's interpreter has it (numpy, torch, isal, …), else None.

        The agent starts without site-packages (-I -S); they are added here, when a probe first asks for one.
        """
        if sys.flags.no_site and not getattr(sys, "_verikit_site", False):
            import site

            sys._verikit_site = True
            try:
                site.main()
            except Exception:  # a .pth file of the host may do anything; without it there is just no accelerator
                return None
        try:
            return __import__("importlib").import_module(name)
        except Exception:  # a broken install (wrong glibc, missing CUDA) is as good as none
            return None

    def run(self, argv, input=b"", timeout=30.0, limit=1 << 20, cwd=None, env=None):
        """A program run to its end, as `Ran`; argv is a list and no shell is involved.

        `timeout` in seconds and `limit` in bytes (stdout and stderr each) bound it: past either it is killed.
        A missing program is `CannotSee("tool_missing")`.
        """
        child = _started(argv, bool(input), cwd, env)
        return _Talk(child, input, timeout, limit).ran()


def _started(argv, talks, cwd, env):
    import subprocess

    try:
        return subprocess.Popen(
            argv,
            stdin=subprocess.PIPE if talks else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=env,
            bufsize=0,
        )
    except FileNotFoundError:
        if cwd is not None and not os.path.isdir(cwd):
            raise
        raise CannotSee("tool_missing", "no program %r on this host" % (argv[0],), tool=str(argv[0])) from None


class _Talk:
    """What goes into a child and what comes out of it, until it has ended, has said too much, or is late."""

    def __init__(self, child, input, timeout, limit):
        self.child, self.unsent, self.limit = child, memoryview(input), limit
        self.ends = time.monotonic() + timeout
        self.heard = {child.stdout: bytearray(), child.stderr: bytearray()}
        self.cut = self.late = False

    def ran(self):
        self.listen()
        status = self.end()
        out, err = (bytes(data[: self.limit]) for data in self.heard.values())
        return Ran(status, out, err, self.cut, self.late)

    def listen(self):
        import selectors

        with selectors.DefaultSelector() as waiting:
            for pipe in self.heard:
                waiting.register(pipe, selectors.EVENT_READ, self.hear)
            if self.unsent:
                os.set_blocking(self.child.stdin.fileno(), False)
                waiting.register(self.child.stdin, selectors.EVENT_WRITE, self.send)
            while waiting.get_map() and not self.cut and not self.late:
                self.late = time.monotonic() >= self.ends
                for key, _ in waiting.select(max(0.0, min(self.ends - time.monotonic(), 1.0))):
                    if not key.data(key.fileobj):
                        waiting.unregister(key.fileobj)
                        key.fileobj.close()
                if self.child.poll() is not None and not self.unsent and not waiting.select(0):
                    break  # it has ended; a grandchild may keep the pipes open for ever

    def send(self, pipe):
        """Whether there is more to send."""
        try:
            self.unsent = self.unsent[os.write(pipe.fileno(), self.unsent[:65536]) :]
        except BrokenPipeError:
            self.unsent = self.unsent[:0]
        return bool(self.unsent)

    def hear(self, pipe):
        """Whether there may be more to hear."""
        data = os.read(pipe.fileno(), 65536)
        self.heard[pipe] += data
        self.cut = self.cut or len(self.heard[pipe]) > self.limit
        return bool(data)

    def end(self):
        """The exit status, once it has ended; what was cut or is late is killed."""
        import subprocess

        if not (self.cut or self.late):
            try:
                self.child.wait(max(0.0, self.ends - time.monotonic()))
            except subprocess.TimeoutExpired:
                self.late = True
        if self.cut or self.late:
            self.child.kill()
        status = self.child.wait()
        for pipe in (self.child.stdin, self.child.stdout, self.child.stderr):
            if pipe:
                pipe.close()
        return status


class _Steady:
    """What `Place.steady` opens. A class, as contextlib takes longer to import than most looks take."""

    def __init__(self, place, path):
        self.place, self.path = place, path

    def __enter__(self):
        self.file = self.place.open(self.path)
        self.before = state_of(os.fstat(self.file.fileno()))
        return self.file

    def __exit__(self, *error):
        with self.file:
            self.place.unchanged(self.path, self.before)


def _difference(before, after):
    if after is None:
        return "it is gone"
    names = ("device", "inode", "size", "mtime_ns", "ctime_ns")
    return ", ".join("%s %s -> %s" % row for row in zip(names, before, after) if row[1] != row[2])
