"""What a fork must not share: in the child, every descriptor of an open host is turned into one of /dev/null.

So nothing the child does, nor its garbage collector, says a word on a connection of the parent, holds an agent's input
open past the parent's end, or takes a socket out of the epoll set that both would share.
"""

from __future__ import annotations

import os
from typing import Any

_OPEN: dict[int, Any] = {}
_KEPT: list[Any] = []


def guard(fd: int, owner: object) -> None:
    """From now on a forked child gets /dev/null in place of this descriptor; its owner is never collected there."""
    if not _OPEN and not _KEPT:
        _register()
    _OPEN[fd] = owner


def release(fd: int) -> None:
    """The descriptor is closed, or about to be."""
    _OPEN.pop(fd, None)


def guard_loop(loop: Any) -> None:
    """Guards what an event loop polls with; a loop that has it elsewhere (uvloop) is left alone."""
    for part in (getattr(loop, "_selector", None), getattr(loop, "_ssock", None), getattr(loop, "_csock", None)):
        try:
            fd = part.fileno()  # type: ignore[union-attr]
        except (AttributeError, ValueError, OSError):
            continue
        if fd >= 0:
            guard(fd, loop)


def release_loop(loop: Any) -> None:
    """Forgets an event loop in which no host is open any more."""
    for fd in [fd for fd, owner in _OPEN.items() if owner is loop]:
        release(fd)


_registered = False


def _register() -> None:
    global _registered
    if not _registered:
        _registered = True
        os.register_at_fork(after_in_child=_sever)


def _sever() -> None:
    if not _OPEN:
        return
    nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for fd in _OPEN:
        try:
            os.dup2(nothing, fd, inheritable=False)
        except OSError:
            pass
    os.close(nothing)
    # Kept for the life of the child: collecting a transport or a loop here would close numbers that mean nothing now.
    _KEPT.append(dict(_OPEN))
    _OPEN.clear()
