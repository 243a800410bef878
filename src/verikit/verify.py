"""Verification: `verify`, `verify_async`, `Session`, `mark`.

`verify` opens what it needs and closes it again; a `Session` keeps hosts open between verifications, as `httpx.Client`
does for requests.  Both forms of each take the same claims and give the same reports.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import TYPE_CHECKING, Any

from verikit import values
from verikit.across import across, held_together
from verikit.address import Address, Local, hosts
from verikit.check import Check, Facts, Look, On, parts_of
from verikit.clock import SYSTEM, Clock
from verikit.errors import Unseen
from verikit.finding import Result
from verikit.mark import Mark
from verikit.report import Report
from verikit.walk import Asking, Cell, Shared, Walk, examine_live, in_memory, run_without_loop

if TYPE_CHECKING:
    from verikit.loops import Caller, LoopThread

Progress = Callable[[str, str, float, "float | None"], None]
"""Called as `progress(host, look, done, total)` while looks that take long go on; total is None where it is not known."""


def verify(
    check: Check,
    *,
    on: Any = None,
    short_circuit: bool = False,
    clock: Clock | None = None,
    progress: Progress | None = None,
) -> Report:
    """The report on a claim: in a plain script, in a notebook cell, or inside a running event loop.

    on: a host or hosts for the parts that do not say where; without it they are looked at on this machine.
    short_circuit: stop as soon as the verdict is settled; what was not looked at is UNKNOWN, cause `cancelled`.
    clock: what everything that waits asks; tests give one that they turn by hand.  progress: see `Progress`.
    Leaves no thread, process or connection behind. Raises only for wrong use: ValueError, TypeError.
    """
    claim = claimed(check, on)
    if in_memory(claim):
        return run_without_loop(_in_memory(claim, short_circuit, clock or SYSTEM))  # type: ignore[no-any-return]
    from verikit import loops

    return loops.run(lambda live: _once(claim, short_circuit, clock or SYSTEM, progress, live))  # type: ignore[no-any-return]


async def verify_async(
    check: Check,
    *,
    on: Any = None,
    short_circuit: bool = False,
    clock: Clock | None = None,
    progress: Progress | None = None,
) -> Report:
    """`verify` for coroutines: runs in the loop that awaits it."""
    claim = claimed(check, on)
    if in_memory(claim):
        return await _in_memory(claim, short_circuit, clock or SYSTEM)
    return await _once(claim, short_circuit, clock or SYSTEM, progress, examine_live)


def ask(look: Look, *, on: Any = None) -> dict[str, Facts]:
    """The facts for one look, by host name. Raises Unseen for the first host that could not answer."""
    return _all_seen(ask_each(look, on=on))


def ask_each(look: Look, *, on: Any = None) -> dict[str, Any]:
    """The facts for one look, by host name; where a host could not answer, the `Unseen` that says why."""
    from verikit import loops

    where = hosts(on) if on is not None else (Local(),)
    return loops.run(lambda _: _with_pool(SYSTEM, lambda pool: _answers(pool, SYSTEM, look, where)))  # type: ignore[no-any-return]


def mark(path: Any, *, on: Any = None) -> Mark:
    """Where a file stands now on each host: inode, size and host clock. Give it as `since=` after launching a job.

    A file that does not exist yet is marked as such. A host that can't be reached is kept as its cause, and a claim that
    needs its entry is UNKNOWN with it.
    """
    return _mark(path, ask_each(_mark_look(path), on=on))


class Session:
    """Hosts that stay open between verifications: `with Session() as session: session.verify(claim)`; `async with` too.

    It owns one loop thread, to which both forms submit, and may be used from several threads. After a fork, the child
    can't use its parent's session: RuntimeError.
    """

    def __init__(self, *, clock: Clock | None = None) -> None:
        self._clock = clock or SYSTEM
        self._thread: LoopThread | None = None
        self._pool: Any = None
        self._pid = os.getpid()
        self._closed = False
        self._lock = threading.Lock()

    def verify(
        self, check: Check, *, on: Any = None, short_circuit: bool = False, progress: Progress | None = None
    ) -> Report:
        """The report on a claim; see `verikit.verify`."""
        claim = claimed(check, on)
        if in_memory(claim):
            return run_without_loop(_in_memory(claim, short_circuit, self._clock))  # type: ignore[no-any-return]
        return self._loop().call(lambda live: self._verify(claim, short_circuit, progress, live))  # type: ignore[no-any-return]

    async def verify_async(
        self, check: Check, *, on: Any = None, short_circuit: bool = False, progress: Progress | None = None
    ) -> Report:
        """`verify` for coroutines of any loop."""
        claim = claimed(check, on)
        if in_memory(claim):
            return await _in_memory(claim, short_circuit, self._clock)
        return await self._loop().call_async(  # type: ignore[no-any-return]
            lambda live: self._verify(claim, short_circuit, progress, live)
        )

    def stream(self, check: Check, *, on: Any = None, progress: Progress | None = None) -> Stream:
        """The result of each host as it finishes: `for result in …` or `async for result in …`.

        What hosts that hold by themselves say together (a dim that differs between them) comes last, with host None.
        A claim that is not quantified over hosts at its top gives one result. Leaving the loop early ends the rest.
        """
        return Stream(self, claimed(check, on), progress)

    def mark(self, path: Any, *, on: Any = None) -> Mark:
        """`verikit.mark` over the open hosts."""
        return _mark(path, self._answers(_mark_look(path), on))

    def ask(self, look: Look, *, on: Any = None) -> dict[str, Facts]:
        """The facts for one look, by host name. Raises Unseen for the first host that could not answer."""
        return _all_seen(self._answers(look, on))

    @property
    def moved(self) -> int:
        """Bytes that went to and came from the hosts that are open now: code, questions and facts."""
        return self._pool.moved if self._pool is not None else 0

    def close(self) -> None:
        """Closes every host. A session that was closed, or made in another process, has nothing to close."""
        thread = self._shut()
        if thread is not None:
            try:
                _warn(thread.call(lambda _: self._pool.close()))
            finally:
                thread.stop()

    def __enter__(self) -> Session:
        self._loop()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Session:
        self._loop()
        return self

    async def __aexit__(self, *_: object) -> None:
        thread = self._shut()
        if thread is not None:
            try:
                _warn(await thread.call_async(lambda _: self._pool.close()))
            finally:
                thread.stop()

    def _shut(self) -> LoopThread | None:
        """The thread to be ended, if this is the one call that does it."""
        if self._pid != os.getpid():
            return None
        if self._thread is not None:
            self._thread.refuse_itself()
        with self._lock:
            thread, self._thread, self._closed = self._thread, None, True
        return thread

    def _answers(self, look: Look, on: Any) -> dict[str, Any]:
        where = hosts(on) if on is not None else (Local(),)
        return self._loop().call(lambda _: _answers(self._pool, self._clock, look, where))  # type: ignore[no-any-return]

    def _loop(self) -> LoopThread:
        if self._pid != os.getpid():
            raise RuntimeError("this Session belongs to the process that made it; after a fork, make a new one")
        from verikit.loops import CLOSED, LoopThread

        with self._lock:
            if self._closed:
                raise RuntimeError(CLOSED)
            if self._thread is None:
                thread = LoopThread("verikit-session")
                self._pool = thread.call(lambda _: _pool_here(self._clock))
                self._thread = thread
            return self._thread

    async def _verify(self, claim: Check, short_circuit: bool, progress: Progress | None, live: Any) -> Report:
        walk = Walk(self._pool, self._clock, short_circuit=short_circuit, examine_live=live, progress=progress)
        return _report(await walk.run(claim))


class Stream:
    """Results by host, in the order in which hosts finish."""

    def __init__(self, session: Session, claim: Check, progress: Progress | None) -> None:
        self._session, self._claim, self._progress = session, claim, progress

    def __iter__(self) -> Iterator[Result]:
        from verikit.loops import Caller

        caller, thread = Caller(), self._session._loop()
        tasks = thread.begin(self._run(caller, caller.examine_live), caller.end)
        try:
            yield from caller.items()
        finally:
            if tasks and not tasks[0].done():
                thread.cancel(tasks)
                caller.serve()
        thread.result(tasks)

    async def __aiter__(self) -> AsyncIterator[Result]:
        import asyncio

        home: Any = asyncio.get_running_loop()
        queue: asyncio.Queue[Any] = asyncio.Queue()

        class Given:
            @staticmethod
            def give(item: Any) -> None:
                home.call_soon_threadsafe(queue.put_nowait, item)

        work = asyncio.ensure_future(self._session._loop().call_async(lambda live: self._run(Given, live)))
        work.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (item := await queue.get()) is not None:
                yield item
            await work
        finally:
            work.cancel()

    async def _run(self, to: Caller | Any, live: Any) -> None:
        import asyncio

        session, claim = self._session, self._claim
        walk = Walk(session._pool, session._clock, examine_live=live, progress=self._progress)
        due, shared = (session._clock.now(), 0), Shared()
        if isinstance(claim, On):
            parts = [walk.on_host(claim, host, due, Cell(), shared) for host in claim.hosts]
        else:
            parts = [walk.run(claim)]
        tasks = [asyncio.ensure_future(part) for part in parts]
        try:
            results = []
            for task in asyncio.as_completed(tasks):
                results.append(await task)
                to.give(results[-1])
            if isinstance(claim, On) and held_together(claim):
                for together in across(claim.part, results):
                    to.give(together)
        finally:
            for each in tasks:
                each.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def claimed(check: Check, on: Any) -> Check:
    """The claim with its outermost `.on`; wrong use raises."""
    if not isinstance(check, Check):
        raise TypeError(f"verify takes one check, several combined as `a & b`; got {check!r}")
    claim = check if on is None else check.on(on)
    _warn_ranks(claim)
    return claim


async def _in_memory(claim: Check, short_circuit: bool, clock: Clock) -> Report:
    walk = Walk(None, clock, short_circuit=short_circuit, concurrent=False)
    return _report(await walk.run(claim))


async def _once(claim: Check, short_circuit: bool, clock: Clock, progress: Progress | None, live: Any) -> Report:
    pool = _pool(clock)
    left: list[str] = []
    try:
        walk = Walk(pool, clock, short_circuit=short_circuit, examine_live=live, progress=progress)
        root = await walk.run(claim)
    finally:
        left = await pool.close() or []
    return _report(root, left)


async def _with_pool(clock: Clock, main: Callable[[Any], Coroutine[Any, Any, Any]]) -> Any:
    pool = _pool(clock)
    try:
        return await main(pool)
    finally:
        _warn(await pool.close())


async def _answers(pool: Any, clock: Clock, look: Look, where: tuple[Address, ...]) -> dict[str, Any]:
    import asyncio

    names = [str(address) for address in where]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(
            f"two hosts are called {twice!r}, so their answers can't be told apart; name one of them otherwise"
        )
    walk, due = Walk(pool, clock), (clock.now(), 0)

    async def answer(address: Address) -> Any:
        try:
            return await walk.ask(Asking(walk, address, due), look)
        except Unseen as error:
            return error

    answers = await asyncio.gather(*(answer(address) for address in where))
    return dict(zip(names, answers, strict=True))


def _all_seen(answers: dict[str, Any]) -> dict[str, Facts]:
    """The answers, if every host gave one; else raises the first `Unseen` among them."""
    for facts in answers.values():
        if isinstance(facts, Unseen):
            raise facts
    return answers


def _mark_look(path: Any) -> Look:
    from verikit.probes import files

    return Look(files.mark, path=values.path(path))


def _mark(path: Any, answers: dict[str, Any]) -> Mark:
    def entry(facts: Any) -> Any:
        return {"unseen": facts.cause.value, "reason": facts.reason} if isinstance(facts, Unseen) else facts

    return Mark(path, {host: entry(facts) for host, facts in answers.items()})


def _pool(clock: Clock) -> Any:
    from verikit.hosts.pool import HostPool

    return HostPool(clock)


async def _pool_here(clock: Clock) -> Any:
    return _pool(clock)


def _report(root: Result, left: list[str] | None = None) -> Report:
    return Report(root, warnings=tuple(left or ()))


def _warn(left: list[str] | None) -> None:
    for line in left or ():
        warnings.warn(line, RuntimeWarning, stacklevel=4)


_ranks_warned = False


def _warn_ranks(claim: Check) -> None:
    global _ranks_warned
    ranks = os.environ.get("WORLD_SIZE", "")
    if _ranks_warned or not ranks.isdecimal() or int(ranks) <= 1 or "RANK" not in os.environ:
        return
    if any(not isinstance(host, Local) for node in _nodes(claim) if isinstance(node, On) for host in node.hosts):
        _ranks_warned = True
        warnings.warn(
            f"verify runs in each of {ranks} ranks, and every one would open its own connections; "
            "verify on one rank and share the verdict",
            RuntimeWarning,
            stacklevel=4,
        )


def _nodes(check: Check) -> Iterator[Check]:
    yield check
    for part in parts_of(check):
        yield from _nodes(part)
