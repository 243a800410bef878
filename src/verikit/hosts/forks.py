"""What a fork must not share: in the child, every descriptor of an open host is turned into one of /dev/null.

So nothing the child does, nor its garbage collector, says a word on a connection of the parent, holds an agent's input
open past the parent's end, or takes a socket out of the epoll set that both would share.
"""

from __future__ import annotations

import functools
import os
from typing import Any

_OPEN: dict[int, tuple[Any, tuple[int, int]]] = {}
_LOOPS: dict[int, int] = {}
_KEPT: list[Any] = []


def guard(fd: int, owner: object) -> None:
    """From now on a forked child gets /dev/null in place of this descriptor; its owner is never collected there."""
    _register()
    _OPEN[fd] = owner, _identity(fd)


def release(fd: int) -> None:
    """The descriptor is about to be closed."""
    _OPEN.pop(fd, None)


def guard_loop(loop: Any) -> None:
    """Guards what an event loop polls with; a loop that has it elsewhere (uvloop) is left alone."""
    _LOOPS[id(loop)] = _LOOPS.get(id(loop), 0) + 1
    for part in (getattr(loop, name, None) for name in ("_selector", "_ssock", "_csock")):
        fd = _fileno(part)
        if fd >= 0:
            guard(fd, loop)


def release_loop(loop: Any) -> None:
    """Once for each `guard_loop`: forgets a loop in which no host is open any more."""
    _LOOPS[id(loop)] = _LOOPS.get(id(loop), 1) - 1
    if not _LOOPS[id(loop)]:
        del _LOOPS[id(loop)]
        for fd in [fd for fd, (owner, _) in _OPEN.items() if owner is loop]:
            release(fd)


def _fileno(part: Any) -> int:
    try:
        return int(part.fileno())
    except (AttributeError, ValueError, OSError):
        return -1


def _identity(fd: int) -> tuple[int, int]:
    """What the descriptor stands for, so that a number which was closed and given out again is left alone."""
    try:
        info = os.fstat(fd)
        return info.st_dev, info.st_ino
    except OSError:
        return (-1, -1)


@functools.lru_cache(maxsize=1)
def _register() -> None:
    os.register_at_fork(after_in_child=_sever)


def _sever() -> None:
    if not _OPEN:
        return
    nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for fd, (_, identity) in _OPEN.items():
        if _identity(fd) == identity != (-1, -1):
            os.dup2(nothing, fd, inheritable=False)
    os.close(nothing)
    # Kept for the life of the child: collecting a transport or a loop here would close numbers that mean nothing now.
    _KEPT.append(dict(_OPEN))
    _OPEN.clear()
    _LOOPS.clear()
