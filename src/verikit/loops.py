"""Where coroutines run: a loop of one call, or the loop thread of a Session; and how the caller waits meanwhile.

The calling thread is not idle while it waits: claims about objects in its memory are examined there, so that a live tensor
is never touched from another thread.
"""

from __future__ import annotations

import asyncio
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from verikit.check import Check
from verikit.finding import Finding
from verikit.walk import examine_live, run_without_loop

_DONE = object()


def _give(answer: asyncio.Future[Finding], finding: Finding) -> None:
    if not answer.done():  # whoever waited may have been cancelled
        answer.set_result(finding)


class Caller:
    """The thread that called: does small jobs for the loop until the answer is there."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Any] = queue.SimpleQueue()

    async def examine_live(self, check: Check) -> Finding:
        """The finding of a claim about an object in memory, made in the calling thread."""
        loop, answer = asyncio.get_running_loop(), asyncio.get_running_loop().create_future()

        def job() -> None:
            finding = run_without_loop(examine_live(check))
            loop.call_soon_threadsafe(_give, answer, finding)

        self._jobs.put(job)
        return await answer  # type: ignore[no-any-return]

    def give(self, item: Any) -> None:
        """Hands over an item to `items`, from any thread."""
        self._jobs.put(lambda: item)

    def end(self) -> None:
        """No more jobs or items will come."""
        self._jobs.put(_DONE)

    def items(self) -> Iterator[Any]:
        """Does the jobs as they come and yields the items that were given, until the end."""
        while (job := self._jobs.get()) is not _DONE:
            item = job()
            if item is not None:
                yield item

    def serve(self) -> None:
        """Does the jobs until the end."""
        for _ in self.items():
            pass


Main = Callable[[Callable[[Check], Coroutine[Any, Any, Finding]]], Coroutine[Any, Any, Any]]
"""A coroutine function that is told how live claims are examined."""


def run(main: Main) -> Any:
    """The coroutine's result, whether this thread has a loop running (a notebook cell) or not; leaves nothing behind."""
    if not loop_is_running():
        return _run(main(examine_live))
    thread = LoopThread("verikit-verify")
    try:
        return thread.call(main)
    finally:
        thread.stop()


def _run(coro: Coroutine[Any, Any, Any]) -> Any:
    """`asyncio.run`, which from Python 3.11 on leaves alone the loop that the caller has set for this thread."""
    if sys.version_info < (3, 11):
        return asyncio.run(coro)
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        return runner.run(coro)


def loop_is_running() -> bool:
    """Whether this thread is inside a running event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C raises here at once, also inside `asyncio.run`.

    There it would only cancel the task that is blocked right here, and which can't notice (Python 3.11 and newer).
    """
    handler = signal.getsignal(signal.SIGINT)
    owner = getattr(getattr(handler, "func", None), "__self__", None)
    runner = getattr(asyncio, "Runner", ())
    if not isinstance(owner, runner) or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


CLOSED = "this Session was closed; make a new one"

LAST_WORDS = 5.0
"""Seconds for what is cancelled at the end of a loop to have ended."""


def _end_all(loop: asyncio.AbstractEventLoop) -> None:
    """Cancels what still runs, so that nobody waits for it for ever."""

    async def end() -> None:
        await asyncio.sleep(0)  # what was handed over just before becomes a task here
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        if others:
            await asyncio.wait(others, timeout=LAST_WORDS)
        await asyncio.sleep(0)  # whoever waited for them is told

    loop.run_until_complete(end())
    loop.run_until_complete(loop.shutdown_asyncgens())


class LoopThread:
    """An event loop in a thread of its own, which any thread may ask."""

    def __init__(self, name: str) -> None:
        self.pid = os.getpid()
        self.loop = asyncio.new_event_loop()
        self._ending = False
        self._gate = threading.Lock()  # what got in before the end is ended by it, nothing gets in after
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            while not self._ending:
                self._turn()
            _end_all(self.loop)
        finally:
            asyncio.set_event_loop(None)
            self.loop.close()

    def _turn(self) -> None:
        """Runs until told to stop. A task that raises KeyboardInterrupt ends the turn: whoever called it gets that."""
        with suppress(KeyboardInterrupt, SystemExit):
            self.loop.run_forever()

    def _submit(self, act: Callable[[], Any]) -> Any:
        """Does what hands something to the loop, if that still takes anything."""
        with self._gate:
            if self._ending:
                raise RuntimeError(CLOSED)
            return act()

    def begin(self, coro: Coroutine[Any, Any, Any], ended: Callable[[], None]) -> list[asyncio.Task[Any]]:
        """Starts a coroutine in the loop, in the caller's context; the list holds its task as soon as there is one."""
        tasks: list[asyncio.Task[Any]] = []

        def start() -> None:
            tasks.append(self.loop.create_task(coro))
            tasks[0].add_done_callback(lambda _: ended())

        try:
            self._submit(lambda: self.loop.call_soon_threadsafe(start))  # takes along this thread's context variables
        except RuntimeError:
            coro.close()
            raise
        return tasks

    def cancel(self, tasks: list[asyncio.Task[Any]]) -> None:
        """Cancels what `begin` started, however early; at its end the loop does so by itself."""
        with suppress(RuntimeError):
            self._submit(lambda: self.loop.call_soon_threadsafe(lambda: [task.cancel() for task in tasks]))

    def refuse_itself(self) -> None:
        """RuntimeError in its own thread, where whoever waits for the loop stops it."""
        if threading.current_thread() is self._thread:
            raise RuntimeError("a check that runs over a Session can't use that Session: it would wait for itself")

    def call(self, main: Main) -> Any:
        """The coroutine's result. Ctrl-C ends it in the loop first, then raises."""
        self.refuse_itself()
        caller = Caller()
        with _interruptible():
            tasks = self.begin(main(caller.examine_live), caller.end)
            try:
                caller.serve()
            except BaseException:
                self.cancel(tasks)
                caller.serve()
                raise
        return self.result(tasks)

    def result(self, tasks: list[asyncio.Task[Any]]) -> Any:
        """What a task that has ended came to; RuntimeError if it was ended together with the loop."""
        if tasks[0].cancelled() and self._ending:
            raise RuntimeError(CLOSED)
        return tasks[0].result()

    async def call_async(self, main: Main) -> Any:
        """The same from a coroutine of another loop, where live claims are then examined."""
        home = asyncio.get_running_loop()

        async def live(check: Check) -> Finding:
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(examine_live(check), home))

        coro = main(live)
        try:
            work = self._submit(lambda: asyncio.run_coroutine_threadsafe(coro, self.loop))
        except RuntimeError:
            coro.close()
            raise
        try:
            return await asyncio.wrap_future(work)
        except asyncio.CancelledError:
            if work.cancelled() and self._ending:
                raise RuntimeError(CLOSED) from None
            raise

    def stop(self) -> None:
        """Ends what still runs, the loop and its thread; in a forked child, where none exists, does nothing."""
        if self.pid != os.getpid() or not self._thread.is_alive():
            return
        with self._gate:
            if not self._ending:
                self._ending = True
                self.loop.call_soon_threadsafe(self.loop.stop)
        if self._thread is not threading.current_thread():
            self._thread.join()
