"""Host: an opened address that answers looks, and how what goes wrong on the way becomes a Cause."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from typing import Any

from verikit.address import Address
from verikit.check import Facts, Look
from verikit.errors import Cause, Unseen, cause_of_errno
from verikit.probes.place import CannotSee, Place


class BaseHost:
    """What every host has in common. A new kind defines `ask`, and `close` if it holds something.

    python: the interpreter that answered, version and path; empty where there is none to tell.
    failure: why it can't be asked any more, once that is so.
    together: a host asked by itself; the walk says otherwise to a leaf that it will hold together with those of others.
    """

    python: str = ""
    together: int = 1
    failure: Unseen | None = None

    def __init__(self, address: Address) -> None:
        self.address = address

    async def ask(self, look: Look) -> Facts:
        """The facts; what could not be seen is raised as `Unseen`."""
        raise NotImplementedError

    async def probe(self, function: Callable[..., Facts], /, **arguments: Any) -> Facts:
        """The facts of `Look(function, **arguments)`."""
        return await self.ask(Look(function, **arguments))

    async def close(self) -> list[str]:
        """Lets go of everything it holds, here and on the host; what could not be confirmed gone, as warnings."""
        return []


class HereHost(BaseHost):
    """This very process: looks run in the calling thread, without a loop or a child. Live subjects need it; tests like it."""

    async def ask(self, look: Look) -> Facts:
        try:
            return look.function(Place(), **look.arguments)
        except Exception as error:
            raise unseen_from(error, look) from error


def unseen_from(error: BaseException, look: Look) -> Unseen:
    """What a probe raised, as the Unseen it stands for."""
    if isinstance(error, CannotSee):
        return Unseen(cause_named(error.cause), error.reason, error.facts)
    if isinstance(error, MemoryError):
        return Unseen(Cause.BOUND_REACHED, f"{look.function.__qualname__}: out of memory")
    if isinstance(error, OSError) and error.errno is not None and error.filename is not None:
        return unseen_os(error.errno, error.strerror or "", error.filename)
    return Unseen(
        Cause.PROBE_ERROR, f"{look.function.__qualname__}: {type(error).__name__}: {error}", traceback_of(error)
    )


def cause_named(name: str) -> Cause:
    """The Cause of that value; a probe that names none of them has a fault of its own."""
    try:
        return Cause(name)
    except ValueError:
        return Cause.PROBE_ERROR


def unseen_os(number: int, text: str, path: Any) -> Unseen:
    """What the operating system answered about a path."""
    name = os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else repr(path)
    cause = cause_of_errno(number)
    words = {Cause.MISSING: "there is no", Cause.PERMISSION: "permission denied:"}.get(cause, f"{text}:")
    return Unseen(cause, f"{words} {name}", {"errno": number, "path": name})


SCARCE = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.ENOBUFS))


def scarce(error: BaseException, name: str) -> Unseen | None:
    """What this machine lacks to open a host, if that is what the error says: no fault of the host's, and it may pass."""
    if not isinstance(error, OSError) or error.errno not in SCARCE:
        return None
    hint = "; raise the limit (`ulimit -n`)" if error.errno == errno.EMFILE else ""
    return Unseen(Cause.BOUND_REACHED, f"{name}: this machine has no room to open it: {error.strerror}{hint}")


def traceback_of(error: BaseException) -> dict[str, str]:
    """The facts of a probe_error: its traceback."""
    import traceback

    return {"traceback": "".join(traceback.format_exception(type(error), error, error.__traceback__))[-8000:]}


def as_json(facts: Facts) -> Facts:
    """The facts as they look after a journey: what JSON can't carry is a fault of the probe, seen here as it is there."""
    return json.loads(json.dumps(facts))
