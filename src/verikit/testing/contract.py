"""What every kind of host must keep to, whoever wrote it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from verikit.address import Address
from verikit.check import Facts, Look
from verikit.clock import SYSTEM
from verikit.errors import Cause, Unseen
from verikit.hosts.pool import HostPool

# Probes for the contract. They travel by their own source, so each imports what it needs.


def read(place: Any, path: str) -> Facts:
    """The text of a file."""
    with place.open(path) as file:
        return file.read().decode()


def echo(place: Any, value: Any) -> Facts:
    """The argument, after a journey there and back."""
    return value


def breaks(place: Any) -> Facts:
    """A bug."""
    return {"a": 1}["no such key"]


def prints(place: Any) -> Facts:
    """Disturbs standard output and error."""
    import os

    os.write(1, b"\0" * 300 + b"noise\n")
    os.write(2, b"more noise\n")
    print("and more")  # noqa: T201
    return "still here"


def refuses(place: Any) -> Facts:
    """Knows why it can't see."""
    from verikit.probes.place import CannotSee

    raise CannotSee("nothing_seen", "nothing to look at", looked=0)


def long_answer(place: Any, size: int) -> Facts:
    """An answer of so many characters."""
    return "x" * size


def sleeps(place: Any, path: str) -> Facts:
    """Says its process id in a file, then never ends."""
    import os
    import time

    with open(path + ".new", "w") as file:
        file.write(str(os.getpid()))
    os.rename(path + ".new", path)
    time.sleep(3600)


def check_host(address: Address, folder: str | os.PathLike[str]) -> None:
    """Opens the host and holds it to the contract of `hosts.base.Host`; raises AssertionError where it falls short.

    folder: an empty folder that this process and the host both see.
    """
    asyncio.run(_check(address, Path(folder)))


async def _check(address: Address, folder: Path) -> None:
    pool = HostPool(SYSTEM)
    try:
        host = await pool.host(address)
        assert await pool.host(address) is host, "an address is opened once"
        assert str(host.address) == str(address), "it keeps its name"
        await _answers(host, folder)
        await _faults(host, folder)
        await _concurrent(host)
        await _ends(host, folder)
    finally:
        left = await pool.close()
    assert not left, f"everything was let go of; got {left}"


async def _answers(host: Any, folder: Path) -> None:
    (folder / "a file").write_text("text")
    assert await host.probe(read, path=str(folder / "a file")) == "text"
    odd = [None, True, 1.5, -(2**60), "\udce9 \n ' \" é", {"k": [1, {}]}]
    assert await host.probe(echo, value=odd) == odd, "JSON survives the journey"
    assert await host.probe(prints) == "still here", "what a probe prints disturbs nothing"
    assert len(await host.probe(long_answer, size=3_000_000)) == 3_000_000, "long answers arrive whole"


async def _faults(host: Any, folder: Path) -> None:
    fifo = folder / "fifo"
    os.mkfifo(fifo)
    expected: list[tuple[Cause, Callable[..., Any], dict[str, Any]]] = [
        (Cause.MISSING, read, {"path": str(folder / "absent")}),
        (Cause.UNSUPPORTED, read, {"path": str(fifo)}),
        (Cause.UNSUPPORTED, read, {"path": str(folder)}),
        (Cause.NOTHING_SEEN, refuses, {}),
        (Cause.PROBE_ERROR, breaks, {}),
    ]
    for cause, probe, arguments in expected:
        error = await _unseen(host, Look(probe, **arguments))
        assert error.cause is cause, f"{probe.__name__}: expected {cause}, got {error.cause}: {error.reason}"
    assert "KeyError" in (await _unseen(host, Look(breaks))).facts["traceback"], "a bug brings its traceback"


async def _concurrent(host: Any) -> None:
    answers = await asyncio.gather(*(host.probe(echo, value=n) for n in range(40)))
    assert answers == list(range(40)), "concurrent looks get their own answers"


async def _ends(host: Any, folder: Path) -> None:
    late = await _unseen(host, Look(sleeps, path=str(folder / "late")).within(0.5))
    assert late.cause is Cause.TIMEOUT, f"a look has its deadline; got {late.cause}"
    given_up = asyncio.ensure_future(host.ask(Look(sleeps, path=str(folder / "given up"))))
    while not (folder / "given up").exists():
        await asyncio.sleep(0.01)
    given_up.cancel()
    await asyncio.gather(given_up, return_exceptions=True)
    assert await host.probe(echo, value="on") == "on", "after a look was given up, the host goes on"
    for name in ("late", "given up"):
        if (folder / name).exists():
            assert await _gone(int((folder / name).read_text())), f"the process of a look that was {name} is gone"


async def _unseen(host: Any, look: Look) -> Unseen:
    try:
        answer = await host.ask(look)
    except Unseen as error:
        return error
    raise AssertionError(f"{look!r} should not have been answered; got {answer!r}")


async def _gone(pid: int) -> bool:
    for _ in range(200):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        await asyncio.sleep(0.01)
    return False
