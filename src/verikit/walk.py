"""The walk: a tree of checks in, the mirroring tree of results out.

One `match` over the closed set of nodes.  Every leaf becomes *due* at a moment `(clock time, turn)`; a question serves the
leaves that were due when it was asked, so equal looks on one host are asked once, and each round of a waiting node asks
anew.  With a loop, parts run concurrently; without one (`concurrent=False`: claims about objects in memory alone) the same
coroutines run to their end in the calling thread and never suspend.
"""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from verikit.across import across, held_together
from verikit.address import Address, Local
from verikit.check import (
    After,
    AllOf,
    AnyOf,
    AtLeast,
    Check,
    Consistently,
    Eventually,
    Facts,
    Host,
    Look,
    Named,
    Not,
    On,
    Then,
    Timeout,
    leaves,
    parts_of,
    unbound,
)
from verikit.clock import Clock
from verikit.errors import Cause, Unseen
from verikit.finding import OPEN, Finding, Result, Span, unseen
from verikit.hosts.base import HereHost, traceback_of
from verikit.text import count, line, seconds
from verikit.verdict import FAIL, PASS, UNKNOWN, Verdict, all_of, any_of, kth_highest

if TYPE_CHECKING:
    import asyncio

Due = tuple[float, int]
Fold = Callable[[Sequence[Verdict]], Verdict]
KEPT_LOOKS = 20
"""Earlier looks that differed, kept in a waiting node's result: the first and the last ten."""


class Hosts(Protocol):
    """Where opened hosts come from: a pool."""

    async def host(self, address: Address) -> Any:
        """The opened host; `Unseen` if it can't be had."""


Examine = Callable[[Check], Awaitable[Finding]]


@attrs.frozen
class Where:
    """Where unbound leaves are looked at. together: see `check.Host`."""

    address: Address
    together: int = 1

    def apart(self) -> Where:
        """The same place for a part whose findings are not held together with those of other hosts."""
        return self if self.together == 1 else Where(self.address, 0)


@attrs.define
class Walk:
    """One verification under way."""

    hosts: Hosts | None
    clock: Clock
    short_circuit: bool = False
    concurrent: bool = True
    examine_live: Examine | None = None
    progress: Callable[[str, str, float, float | None], None] | None = None
    _questions: dict[tuple[Address, Look], Question] = attrs.field(factory=dict)
    _resume: dict[tuple[Address, Look], Any] = attrs.field(factory=dict)
    _rounds: bool = False
    _turns: itertools.count[int] = attrs.field(factory=itertools.count)

    async def run(self, check: Check) -> Result:
        """The result of the whole claim, its unbound leaves looked at here."""
        return await self.node(check, Where(Local()), (self.clock.now(), 0), Cell(), None)

    # Nodes.

    async def node(self, check: Check, where: Where, due: Due, cell: Cell, shared: Shared | None) -> Result:
        """The result of one node, timed, with its verdict told to whoever folds it."""
        started, begun = self.clock.time(), self.clock.now()
        result = await self._evaluate(check, where, due, cell, shared)
        result = attrs.evolve(result, started=started, duration=self.clock.now() - begun)
        cell.settle((result.verdict, result.verdict))
        return result

    async def _evaluate(self, check: Check, where: Where, due: Due, cell: Cell, shared: Shared | None) -> Result:
        match check:
            case AllOf() | Named():
                return await self._parts(check, all_of, where, due, cell, shared)
            case AnyOf():
                return await self._parts(check, any_of, where.apart(), due, cell, shared)
            case AtLeast(k=k):
                return await self._parts(check, _at_least(k), where.apart(), due, cell, shared)
            case Not():
                return await self._parts(check, _mirror, where.apart(), due, cell, shared)
            case On():
                return await self._on(check, due, cell)
            case Then():
                return await self._then(check, where, due, shared)
            case After():
                return await self._after(check, where, shared)
            case Timeout():
                return await self._timeout(check, where, due, shared)
            case Eventually():
                return await self._eventually(check, where, due)
            case Consistently():
                return await self._consistently(check, where, due)
        return await self._leaf(check, where, due)

    async def _parts(
        self, check: Check, fold: Fold, where: Where, due: Due, cell: Cell, shared: Shared | None
    ) -> Result:
        parts = parts_of(check)
        cells = cell.split(fold, len(parts), self.short_circuit)
        coros = [self._part(part, where, due, own, shared) for part, own in zip(parts, cells, strict=True)]
        return _folded(check, fold, await self._gather(coros, cells, [(part, where.address) for part in parts]))

    async def _on(self, check: On, due: Due, cell: Cell) -> Result:
        fold = all_of if check.at_least is None else _at_least(check.at_least)
        together = held_together(check)
        # Where hosts are compared in the end, all of them passing settles nothing yet.
        cells = (Cell() if together else cell).split(fold, len(check.hosts), self.short_circuit)
        shared = Shared()
        coros = [self.on_host(check, host, due, own, shared) for host, own in zip(check.hosts, cells, strict=True)]
        parts = await self._gather(coros, cells, [(check.part, host) for host in check.hosts])
        found = [_at(host, part) for host, part in zip(check.hosts, parts, strict=True)]
        return _folded(check, fold, [*found, *across(check.part, parts)] if together else found)

    async def on_host(self, check: On, host: Address, due: Due, cell: Cell, shared: Shared | None) -> Result:
        """The part's result with its unbound leaves looked at on one host."""
        where = Where(host, len(check.hosts))
        where = where if held_together(check) else where.apart()
        return _at(host, await self.node(check.part, where, due, cell, shared))

    async def _part(self, check: Check, where: Where, due: Due, cell: Cell, shared: Shared | None) -> Result:
        if shared is None or unbound(check):
            return await self.node(check, where, due, cell, shared)
        # Bound beneath an outer `.on`: the same claim for every host of it, so it runs once for all that are due.
        start = functools.partial(self.node, check, where, due, Cell(), None)
        result = await (shared.once(check, due, self._now, start) if self.concurrent else shared.at_once(check, start))
        cell.settle((result.verdict, result.verdict))
        return result

    async def _then(self, check: Then, where: Where, due: Due, shared: Shared | None) -> Result:
        first = await self._part(check.first, where, due, Cell(), shared)
        if first.verdict is PASS:
            second = await self._part(check.second, where, self._now(), Cell(), shared)
        else:
            why = f"not run: {_short(check.first)} is {first.verdict}"
            second = blank(check.second, where.address, unseen(Cause.NOT_RUN, why))
        return _folded(check, all_of, [first, second])

    async def _after(self, check: After, where: Where, shared: Shared | None) -> Result:
        planned = self.clock.now() + check.seconds
        await self.clock.sleep(check.seconds)
        return _folded(check, all_of, [await self._part(check.part, where, (planned, 0), Cell(), shared)])

    async def _timeout(self, check: Timeout, where: Where, due: Due, shared: Shared | None) -> Result:
        part = await self._bounded(self._part(check.part, where, due, Cell(), shared), check.seconds)
        if part is None:
            late = unseen(Cause.TIMEOUT, f"no answer within {seconds(check.seconds)}: {_short(check.part)}")
            return _spoken(check, late, where=where.address)
        return _folded(check, all_of, [part])

    async def _eventually(self, check: Eventually, where: Where, due: Due) -> Result:
        start, looks, self._rounds = self.clock.now(), _Looks(), True
        end, half = start + check.within, start + check.within / 2
        planned = start
        while True:
            look = await self._bounded(self._part(check.part, where, due, Cell(), None), end - self.clock.now())
            if look is None:
                break
            looks.add(look, self.clock.now())
            if look.verdict is PASS or look.can_become[1] < PASS:
                return looks.result(check, look, self.clock.now() - start)
            planned = max(planned + check.every, self.clock.now())
            if planned >= end and looks.last_at < half:
                planned = max(half, self.clock.now())  # `every` may be longer than the window
            if planned >= end:
                await self.clock.sleep(max(0.0, end - self.clock.now()))
                break
            await self.clock.sleep(planned - self.clock.now())
            due = (planned, 0)
        if looks.last is not None and looks.last_at >= half:
            return looks.result(check, looks.last, self.clock.now() - start)
        why = f"no look was completed in the second half of {seconds(check.within)}: {_short(check.part)}"
        return attrs.evolve(_spoken(check, unseen(Cause.TIMEOUT, why), where=where.address), earlier=looks.all())

    async def _consistently(self, check: Consistently, where: Where, due: Due) -> Result:
        start, looks, self._rounds = self.clock.now(), _Looks(), True
        end, planned, doubt, span, gap = start + check.during, start, None, (PASS, PASS), 0.0
        before = None
        while True:
            begun = self.clock.now()
            gap = max(gap, begun - before) if before is not None else gap
            before = begun
            look = await self._part(check.part, where, due, Cell(), None)
            looks.add(look, self.clock.now())
            span = (min(span[0], look.can_become[0]), min(span[1], look.can_become[1]))
            if look.verdict is UNKNOWN and doubt is None:
                doubt = look
            if look.verdict is FAIL or begun >= end:
                break
            planned = min(max(planned + check.every, self.clock.now()), max(end, self.clock.now()))
            await self.clock.sleep(planned - self.clock.now())
            due = (planned, 0)
        chosen = look if look.verdict is FAIL else doubt or look
        window = f"{seconds(begun - start)} of {seconds(check.during)}"
        note = f"{count(looks.n, 'look')} over {window}, longest gap {seconds(gap)}"
        return attrs.evolve(_folded(check, all_of, [chosen]), can_become=span, earlier=looks.but(chosen), note=note)

    # Leaves.

    async def _leaf(self, check: Check, where: Where, due: Due) -> Result:
        if check.live:
            finding = await (self.examine_live or examine_live)(check)
            return _spoken(check, finding)
        asking = Asking(self, where.address, due, where.together)
        finding = await examined(check, asking)
        if asking.python and "interpreter" not in finding.facts:
            finding = attrs.evolve(finding, facts={**finding.facts, "interpreter": asking.python})
        return _spoken(check, finding, where=where.address)

    async def ask(self, asking: Asking, look: Look) -> Facts:
        """The answer to a question on a host; shared with every equal one that was due when it was asked."""
        key = (asking.address, look)
        question = self._questions.get(key)
        if question is None or not question.serves(asking.due):
            question = self._questions[key] = Question()
            question.begin(self._put(question, asking.address, look))
        try:
            facts = await question.answer()
        finally:
            asking.python = question.python or asking.python
        return facts

    async def _put(self, question: Question, address: Address, look: Look) -> Facts:
        assert self.hosts is not None
        try:
            host = await self.hosts.host(address)
        finally:
            question.asked = self._now()
        resuming = look.resumes and self._rounds
        asked = look.resumed(self._resume.get((address, look), {})) if resuming else look
        try:
            facts = await (host.ask(asked, **self._told(address, look)) if self.progress else host.ask(asked))
        finally:
            question.python = str(host.python)  # an agent says which it is with its first answer
        if resuming:
            facts = {**facts}
            self._resume[address, look] = facts.pop("resume", {})
        return facts

    def _told(self, address: Address, look: Look) -> dict[str, Any]:
        tell = self.progress
        assert tell is not None
        return {"progress": lambda done, total, unit="": tell(str(address), repr(look), done, total)}

    # Time.

    def _now(self) -> Due:
        """A moment after everything that was due or asked before."""
        return self.clock.now(), next(self._turns) + 1

    async def _bounded(self, part: Coroutine[Any, Any, Result], limit: float) -> Result | None:
        """The part's result, or None if it was not there in time; what still runs then is cancelled."""
        ends = self.clock.now() + limit

        async def in_time() -> Result | None:
            result = await part
            return result if self.clock.now() <= ends else None  # the alarm is not heard while a judge thinks

        if not self.concurrent:
            return await in_time()
        import asyncio

        work, alarm = asyncio.ensure_future(in_time()), asyncio.ensure_future(self.clock.sleep(max(0.0, limit)))
        try:
            await asyncio.wait({work, alarm}, return_when=asyncio.FIRST_COMPLETED)
            return work.result() if work.done() else None
        finally:
            await _end([work, alarm])
            part.close()  # if it had not begun

    async def _gather(
        self,
        coros: Sequence[Coroutine[Any, Any, Result]],
        cells: Sequence[Cell],
        parts: Sequence[tuple[Check, Address]],
    ) -> list[Result]:
        if not self.concurrent:
            return [
                _moot(coro, *part) if cell.moot else await coro
                for coro, cell, part in zip(coros, cells, parts, strict=True)
            ]
        if len(coros) == 1 and not self.short_circuit:
            return [await coros[0]]
        import asyncio

        tasks = [
            asyncio.ensure_future(_unless_moot(coro, cell, *part))
            for coro, cell, part in zip(coros, cells, parts, strict=True)
        ]
        try:
            return await asyncio.gather(*tasks)
        finally:
            await _end(tasks)
            for coro in coros:
                coro.close()  # one that had not begun


async def _end(tasks: Sequence[asyncio.Future[Any]]) -> None:
    """Cancels what is still running and waits until it has ended."""
    import asyncio

    running = [task for task in tasks if not task.done()]
    for task in running:
        task.cancel()
    if running:
        await asyncio.gather(*running, return_exceptions=True)
    for task in tasks:
        if task.done() and not task.cancelled():
            task.exception()  # taken note of: whoever awaited has it, or is being cancelled


async def _unless_moot(coro: Coroutine[Any, Any, Result], cell: Cell, check: Check, where: Address) -> Result:
    import asyncio

    if cell.moot:
        return _moot(coro, check, where)
    task = asyncio.current_task()
    assert task is not None
    cell.stop = task.cancel  # from now on: a task that is cancelled before it begins could not answer
    try:
        return await coro
    except asyncio.CancelledError:
        if not cell.moot:
            raise
        return blank(check, where, _CANCELLED)


def _moot(coro: Coroutine[Any, Any, Result], check: Check, where: Address) -> Result:
    coro.close()
    return blank(check, where, _CANCELLED)


_CANCELLED = unseen(Cause.CANCELLED, "cancelled: the verdict was settled without it")


# Leaves and what they ask.


class Asking:
    """The host as one leaf sees it: knows since when the leaf is due."""

    def __init__(self, walk: Walk, address: Address, due: Due, together: int = 1) -> None:
        self._walk, self.address, self.due, self.together, self.python = walk, address, due, together, ""

    async def ask(self, look: Look) -> Facts:
        """The facts; what could not be seen is raised as `Unseen`."""
        return await self._walk.ask(self, look)

    async def probe(self, function: Callable[..., Facts], /, **arguments: Any) -> Facts:
        """The facts of `Look(function, **arguments)`."""
        return await self.ask(Look(function, **arguments))


class Question:
    """One look under way or answered. `asked` is None until it has gone out: whoever comes before was due in time."""

    def __init__(self) -> None:
        self.asked: Due | None = None
        self.python = ""
        self._waiting = 0
        self._dropped = False
        self._task: asyncio.Future[Facts] | None = None

    def begin(self, coro: Coroutine[Any, Any, Facts]) -> None:
        """Starts to ask."""
        import asyncio

        self._task = asyncio.ensure_future(coro)

    def serves(self, due: Due) -> bool:
        """Whether its answer is one for what became due then."""
        return not self._dropped and (self.asked is None or self.asked >= due)

    async def answer(self) -> Facts:
        """The facts; when nobody waits for them any more, the look is ended where it runs."""
        import asyncio

        assert self._task is not None
        self._waiting += 1
        try:
            return await asyncio.shield(self._task)
        finally:
            self._waiting -= 1
            if not self._waiting and not self._task.done():
                self._dropped = True
                await _end([self._task])


class Shared:
    """Bound parts beneath one `.on`: each runs once for all hosts for which it was due when it began."""

    def __init__(self) -> None:
        self._begun: dict[Any, Question] = {}
        self._done: dict[Check, Result] = {}

    async def at_once(self, check: Check, start: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """The same in a walk without a loop, where nothing becomes due later."""
        if check not in self._done:
            self._done[check] = await start()
        return self._done[check]

    async def once(
        self, check: Check, due: Due, now: Callable[[], Due], start: Callable[[], Coroutine[Any, Any, Result]]
    ) -> Result:
        """The result of an equal check that began when this one was due; else it begins now."""
        key = _key(check)
        question = self._begun.get(key)
        if question is None or not question.serves(due):
            question = self._begun[key] = Question()
            question.asked = now()
            question.begin(start())
        return await question.answer()  # type: ignore[no-any-return]


def _key(check: Check) -> Any:
    """What stands for equal checks; its repr tells 1 from True. One that has neither hash nor repr stands for itself."""
    try:
        hash(check)
        return check, repr(check)
    except Exception:
        return id(check)


async def examined(check: Check, host: Host) -> Finding:
    """The leaf's finding; whatever goes wrong on the way is one, too, but for an order to stop."""
    try:
        return (await found(check, host)).safe()
    except BaseException as error:
        if _stops(error):
            raise
        if not isinstance(error, Exception) and _cancelled(error):
            return unseen(Cause.CANCELLED, f"{type(check).__name__}: what it asked was cancelled")
        why = f"{type(check).__name__} failed to judge: {_words(error)}"
        return unseen(Cause.PROBE_ERROR, why, traceback_of(error)).safe()


async def found(check: Check, host: Host) -> Finding:
    """The leaf's finding; what could not be seen is one, too. A fault of the check itself is raised as it comes."""
    try:
        finding = await check.examine(host)
    except Unseen as error:
        if error.cause is Cause.MISSING and check.absent is FAIL:
            return Finding(FAIL, error.reason, facts=error.facts)
        return unseen(error.cause, error.reason, error.facts)
    if not isinstance(finding, Finding):
        raise TypeError(f"{type(check).__name__}.judge returned {finding!r:.200}, not a Finding")
    return finding


def _stops(error: BaseException) -> bool:
    """Whether it orders the run to stop: Ctrl-C, or a cancellation that comes from outside of the check."""
    if isinstance(error, (KeyboardInterrupt, GeneratorExit)):
        return True
    if not _cancelled(error):
        return False
    import asyncio

    try:
        task = asyncio.current_task()
    except RuntimeError:  # no loop: nobody could have cancelled it
        return False
    # Before Python 3.11 a task does not say whether it was told to; then it counts as told.
    return task is not None and (not hasattr(task, "cancelling") or task.cancelling() > 0)


def _cancelled(error: BaseException) -> bool:
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and isinstance(error, asyncio.CancelledError)


def _words(error: BaseException) -> str:
    """The exception in words, also one that fails to say them."""
    import traceback

    return "".join(traceback.format_exception_only(type(error), error)).strip()


async def examine_live(check: Check) -> Finding:
    """The finding of a leaf about an object in memory, made in this very thread, without a loop."""
    try:
        return run_without_loop(examined(check, HereHost(Local())))  # type: ignore[no-any-return]
    except Waits as error:
        return unseen(Cause.PROBE_ERROR, f"{type(check).__name__}: {error}")


class Waits(RuntimeError):
    """A coroutine that should have run to its end waited."""


def run_without_loop(coro: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that never waits."""
    try:
        coro.send(None)
    except StopIteration as done:
        return done.value
    coro.close()
    raise Waits("a check that is examined in the calling thread may await its host, and nothing else")


# Folding.


def _at_least(k: int) -> Fold:
    return lambda verdicts: kth_highest(k, verdicts)


def _mirror(verdicts: Sequence[Verdict]) -> Verdict:
    return ~verdicts[0]


def fold_span(fold: Fold, spans: Sequence[Span]) -> Span:
    """What a node can become, from what its parts can: folded end by end."""
    low, high = fold([span[0] for span in spans]), fold([span[1] for span in spans])
    return (low, high) if low <= high else (high, low)  # a mirror turns the ends round


def _folded(check: Check, fold: Fold, parts: Sequence[Result]) -> Result:
    return Result(
        kind=type(check).__name__,
        title=_titled(check),
        verdict=fold([part.verdict for part in parts]),
        can_become=fold_span(fold, [part.can_become for part in parts]),
        parts=tuple(parts),
    )


def _spoken(check: Check, finding: Finding, where: Address | None = None) -> Result:
    return Result(
        kind=type(check).__name__,
        title=_titled(check),
        verdict=finding.verdict,
        can_become=finding.can_become,
        finding=finding,
        host=None if where is None else str(where),
    )


def _at(host: Address, part: Result) -> Result:
    """The part of an `On` for that host."""
    return part if part.host == str(host) else attrs.evolve(part, host=str(host))


def blank(check: Check, where: Address, finding: Finding) -> Result:
    """The result of a part that was not looked at: its whole tree, each leaf with that finding."""
    if isinstance(check, On):
        parts = [_at(host, blank(check.part, host, finding)) for host in check.hosts]
    else:
        parts = [blank(part, where, finding) for part in parts_of(check)]
    if not parts:
        return _spoken(check, finding, where=None if check.live else where)
    return attrs.evolve(_folded(check, all_of, parts), can_become=OPEN)


class Cell:
    """What is known so far of one node's verdict, while it is being settled; only `short_circuit` asks."""

    __slots__ = ("children", "fold", "moot", "parent", "span", "stop", "strict")

    def __init__(self, parent: Cell | None = None) -> None:
        self.parent, self.span, self.moot = parent, OPEN, False
        self.children: list[Cell] = []
        self.fold: Fold | None = None
        self.strict = False
        self.stop: Callable[[], object] | None = None

    def split(self, fold: Fold, n: int, strict: bool) -> list[Cell]:
        """Cells for n parts that this one folds."""
        self.fold, self.strict = fold, strict
        self.children = [Cell(self) for _ in range(n)] if strict else [Cell() for _ in range(n)]
        return self.children

    def settle(self, span: Span) -> None:
        """Takes note of a verdict, and ends what it makes pointless."""
        if span == self.span:
            return
        self.span = span
        if self.parent is not None:
            self.parent._refold()

    def _refold(self) -> None:
        assert self.fold is not None
        span = fold_span(self.fold, [child.span for child in self.children])
        if span[0] is span[1]:
            for child in self.children:
                child.drop()
        self.settle(span)

    def drop(self) -> None:
        """Ends this part, if it is still open."""
        if self.span[0] is not self.span[1] and not self.moot:
            self.moot = True
            if self.stop is not None:
                self.stop()


class _Looks:
    """The looks of a waiting node that differed from the one before."""

    def __init__(self) -> None:
        self.last: Result | None = None
        self.last_at = float("-inf")
        self.n = 0
        self._kept: list[Result] = []

    def add(self, look: Result, at: float) -> None:
        if self.last is not None and _said(self.last) != _said(look):
            self._kept.append(self.last)
            del self._kept[KEPT_LOOKS // 2 : -KEPT_LOOKS // 2]
        self.last, self.last_at, self.n = look, at, self.n + 1

    def all(self) -> tuple[Result, ...]:
        return (*self._kept, *([self.last] if self.last is not None else []))

    def but(self, chosen: Result) -> tuple[Result, ...]:
        return tuple(look for look in self.all() if look is not chosen and _said(look) != _said(chosen))

    def result(self, check: Eventually, look: Result, passed: float) -> Result:
        note = f"{count(self.n, 'look')} in {seconds(passed)} of {seconds(check.within)}"
        return attrs.evolve(_folded(check, all_of, [look]), earlier=tuple(self._kept), note=note)


def _said(result: Result) -> list[tuple[Verdict, str]]:
    return [(leaf.verdict, leaf.reason) for leaf in result.leaves()]


def _short(check: Check) -> str:
    text = line(_said_of(check, repr))
    return text if len(text) <= 80 else text[:79] + "…"


def _titled(check: Check) -> str:
    return _said_of(check, lambda check: check.title)


def _said_of(check: Check, say: Callable[[Check], str]) -> str:
    """What a check says of itself; one that fails to is called by its class."""
    try:
        return str(say(check))
    except Exception:
        return f"{type(check).__qualname__}(…)"


def waits(check: Check) -> bool:
    """Whether some node beneath waits for the clock."""
    return isinstance(check, (After, Eventually, Consistently)) or any(waits(part) for part in parts_of(check))


def in_memory(check: Check) -> bool:
    """Whether it needs neither host nor clock: every leaf is about an object of this process."""
    return not waits(check) and all(leaf.live for leaf in leaves(check))
