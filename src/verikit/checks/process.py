"""ProcessAlive: a process is there, is the one that was meant, and can still do its work."""

from __future__ import annotations

import signal
from datetime import datetime, timezone
from typing import Any, ClassVar

import attrs

from verikit.check import Check, Facts, Look
from verikit.errors import Cause
from verikit.finding import Finding
from verikit.probes import process as probe
from verikit.text import bounded, count, mask, seconds
from verikit.values import moment, path, regex, whole
from verikit.verdict import FAIL, PASS, UNKNOWN, Verdict


def _started(value: Any) -> float | None:
    return None if value is None else moment("started_after", value)


def _pid(value: Any) -> int | None:
    return None if value is None else whole("pid", value, least=1, unit="a process")


def _pattern(value: Any) -> str | None:
    return None if value is None else regex("pattern", value)


def _children(value: Any) -> int:
    return whole("children", value, unit="processes")


@attrs.frozen(repr=False, kw_only=True)
class ProcessAlive(Check):
    """The process runs or sleeps: it is not stopped, not a zombie, and the number was not given to another meanwhile.

    Named by `pid`, by `pidfile` (an absolute path), or by `pattern`, a regular expression searched in command lines as
    `pgrep -f` does; beside one of the first two, a pattern is what the command line must hold.
    started_after: seconds since the epoch by the host's clock, or a datetime with a zone; what is older is another run's.
    children: at least so many live direct child processes, such as the workers of torchrun.
    Alive is not at work: `LogHealthy` and `HttpHealthy` tell that.
    """

    absent: ClassVar[Verdict] = FAIL

    pid: int | None = attrs.field(default=None, converter=_pid)
    pidfile: str | None = attrs.field(default=None, converter=attrs.converters.optional(path))
    pattern: str | None = attrs.field(default=None, converter=_pattern)
    started_after: float | None = attrs.field(default=None, converter=_started)
    children: int = attrs.field(default=0, converter=_children)

    def __attrs_post_init__(self) -> None:
        if (self.pid is None) == (self.pidfile is None) and (self.pid is not None or self.pattern is None):
            raise ValueError(f"a process is named by pid, by pidfile or by pattern; got {self!r}")

    def look(self) -> Look:
        how = "pid" if self.pid is not None else "pidfile" if self.pidfile is not None else "pattern"
        command = self.pattern if how != "pattern" else None
        named = getattr(self, how)
        return Look(probe.find, process=named, how=how, command=command, started_after=self.started_after)

    def judge(self, facts: Facts) -> Finding:
        state = facts["state"]
        verdict, words = VERDICTS[state]
        reason = f"{self._subject(facts)}: {words}{_ending(facts)}"
        # A number is given out once in a process's life; a pid file or a pattern may yet lead to the next process.
        final = verdict is FAIL and self.pid is not None and state in ("gone", "zombie")
        if verdict is FAIL:
            return Finding(FAIL, reason, facts=facts, final=final)
        if self.started_after is not None and facts["started"] is None:
            return Finding(UNKNOWN, f"{reason}; when it began is not told", facts=facts, cause=Cause.AMBIGUOUS)
        if facts["children"] < self.children:
            return Finding(
                FAIL, f"{reason}; {facts['children']} of {count(self.children, 'child', 'children')}", facts=facts
            )
        return Finding(PASS, f"{reason}; {_figures(facts)}", facts=facts, warnings=_warnings(facts))

    def _subject(self, facts: Facts) -> str:
        if facts["pid"] is not None:
            return f"pid {facts['pid']} ({_command(facts)})"
        if self.pid is not None:
            return f"pid {self.pid}"
        return f"pid file {self.pidfile}" if self.pidfile is not None else f"pattern {self.pattern!r}"


VERDICTS = {
    "running": (PASS, "running"),
    "sleeping": (PASS, "sleeping, as a process does that waits"),
    "disk_sleep": (PASS, "in the kernel (state D), waiting for a disk, a file server or a GPU"),
    "stopped": (FAIL, "stopped by a signal or a debugger; it does nothing until SIGCONT"),
    "zombie": (FAIL, "has ended, its parent has not asked how (zombie)"),
    "gone": (FAIL, "gone"),
}


def _command(facts: Facts) -> str:
    return bounded(mask(facts["command"]), 120)


def _ending(facts: Facts) -> str:
    """What is known of its end: why it counts as gone, how it ended."""
    status, found = facts.get("exit_status"), facts.get("found")
    if status is not None:
        return f"; {_signal(-status)} ended it" if status < 0 else f"; exit status {status}"
    if facts["state"] != "gone":
        return ""
    return f": {facts['why']}" + (f" ({_command(found)})" if found else "")


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _figures(facts: Facts) -> str:
    words = []
    if facts["started"] is not None:
        began = datetime.fromtimestamp(facts["started"], timezone.utc)
        words.append(f"began {began:%Y-%m-%d %H:%M:%S} UTC, {seconds(facts['age'])} ago")
    words.append(f"{seconds(facts['tree_cpu_seconds'])} of CPU with its children")
    if facts["children"]:
        words.append(count(facts["children"], "child", "children"))
    return ", ".join(words)


def _warnings(facts: Facts) -> list[str]:
    warnings = []
    if facts["state"] == "disk_sleep":
        warnings.append("in state D it can't be killed; a dead file server or driver looks like this")
    if facts.get("matched", 1) > 1:
        warnings.append(f"{facts['matched']} processes match; judged by the youngest, pid {facts['pid']}")
    dead = [row["pid"] for row in facts["child_list"] if row["state"] == "zombie"]
    if dead:
        warnings.append(f"children have ended without being asked how: {', '.join(map(str, dead))}")
    return warnings
