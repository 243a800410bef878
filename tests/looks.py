"""Probes for the tests of the transport. This module imports nothing, so it travels whole."""


def echo(place, value=None):
    return {"value": value}


def who(place):
    import os
    import sys

    return {"pid": os.getpid(), "parent": os.getppid(), "python": list(sys.version_info[:2]), "cwd": os.getcwd()}


def size(place, path):
    with place.steady(path) as file:
        return {"size": len(file.read())}


def first_byte(place, path):
    import os

    return os.open(path, os.O_RDONLY)


def sleep(place, note):
    """Writes its number and that of a child into the file `note`, then neither ends by itself."""
    import os
    import subprocess
    import time

    child = subprocess.Popen(["sleep", "1000"])
    _tell(note, os.getpid(), child.pid)
    time.sleep(1000)


def deaf(place, note):
    import os
    import signal
    import time

    for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:
        try:
            signal.signal(number, signal.SIG_IGN)
        except OSError:
            pass
    _tell(note, os.getpid())
    while True:
        time.sleep(1000)


def backtrack(place, note):
    """A regular expression that never comes back, in C code that asks for no signals."""
    import os
    import re

    _tell(note, os.getpid())
    re.match("(a+)+$", "a" * 60 + "b")


def leave_a_child(place):
    """Answers, and leaves a process behind."""
    import subprocess

    return {"pid": subprocess.Popen(["sleep", "1000"]).pid}


def die(place, number):
    import os

    os.kill(os.getpid(), number)


def quit_at_once(place, status):
    import os

    os._exit(status)


def leave(place):
    raise SystemExit(3)


def fail(place, text):
    raise ValueError(text)


def cannot(place, cause):
    from verikit.probes.place import CannotSee

    raise CannotSee(cause, "told so", seen=3)


def eat(place, size):
    return len(bytearray(size))


def facts(place, kind):
    return {"set": {1, 2}, "loop": None, "tuple": (1, 2)}[kind]


def long(place, size):
    return "x" * size


def loud(place, size):
    """Prints more than a pipe holds, on both of what a process prints to."""
    import os
    import sys

    print("y" * size)
    sys.stdout.flush()
    os.write(2, b"z" * size)
    return {"printed": size}


def vandal(place, text):
    """Writes into every descriptor that it can find."""
    import os

    for fd in range(3, 64):
        try:
            os.write(fd, text.encode())
        except OSError:
            pass
    return {"value": "spoilt"}


def progressing(place, steps):
    import time

    for step in range(steps):
        place.progress(step, steps, "steps")
        time.sleep(0.11)  # progress is told ten times a second at most
    return steps


def mentions(place):
    import sys

    return {name: name in sys.modules for name in ("site", "verikit.check", "attrs")}


def _tell(note, *numbers):
    with open(note + ".part", "w") as file:
        file.write(" ".join(map(str, numbers)))
    import os

    os.rename(note + ".part", note)
