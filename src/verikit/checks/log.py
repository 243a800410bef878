"""LogHealthy: the job behind a log is starting, running, ready or finished, by its text, its process and the host's clock."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, ClassVar

import attrs

from verikit.check import Check, Facts, Host, Look
from verikit.errors import Cause
from verikit.finding import Finding
from verikit.mark import Mark
from verikit.probes.logs import tables, watch
from verikit.text import count, exact_size, seconds
from verikit.values import Frozen, number, path, regex
from verikit.verdict import FAIL, PASS, UNKNOWN, Verdict

STATES = (
    "starting",
    "running",
    "ready",
    "finished",
    "failed",
    "died_silently",
    "hung",
    "quiet_but_alive",
    "empty",
    "missing",
    "unreadable",
)
"""Where a job stands; the first four are healthy."""

LAST_RUN = "last-run"

# Seconds without a line (or without a completed step) after which a live job counts as hung.  A checkpoint, a
# compilation or a big model can be silent for minutes; NCCL itself gives up after ten.
STARTING_SILENCE = 1200.0
RUNNING_SILENCE = 600.0
STARTING_BUDGET = 3600.0
"""Seconds since the launch for which a job that talks, and counts nothing, is held to be starting."""

SLOW_STEPS = 20.0
"""How many times its usual step a job may be silent."""

SURRENDER_LINES = 5
"""Lines that may follow the words of a failure, where nobody says whether the process lives: leave, times, a script's end."""

FEW_STEPS, AVERAGE_STEPS, AVERAGE_MOST = 5, 3.0, 7200.0
"""The same where only the average of so many steps since the launch is known, and so many seconds at most."""

BUSY = 0.05
"""Cores in use from which a silent process counts as computing."""

OWN_LINES = ("mark", "time", "born")
"""Ties to a run by which no line that is judged is an earlier one's."""

ORDERED = (-15, -2, 143, 130)
"""Exit statuses of a process that was told to stop: SIGTERM and SIGINT, as the kernel and as shells tell them."""

LIVE = ("running", "sleeping", "disk_sleep")

READY_OF = sorted({row[3] for row in tables.MARKERS if row[1] == "ready" and row[3]})
_PROGRAMS: dict[str, Frozen] = {}


def register_program(
    name: str, *, ready: Any = (), progress: Any = (), finished: Any = (), failing: Any = (), ignore: Any = ()
) -> None:
    """Makes `program=name` known: regular expressions for its lines that mean ready, a step done (group `n`), the end,
    a failure, and what looks like one but is none.

    Raises ValueError for a name that the readiness table has, or a pattern that is none.
    """
    if name in READY_OF or name == "auto":
        raise ValueError(f"program {name!r} is built in; choose another name")
    rows = {"ready": ready, "progress": progress, "done": finished, "failing": failing, "ignore": ignore}
    _PROGRAMS[name] = Frozen({key: _patterns(key, value) for key, value in rows.items()})


def _patterns(name: str, value: Any) -> tuple[str, ...]:
    given = (value,) if isinstance(value, str) else tuple(value)
    return tuple(regex(name, pattern) for pattern in given)


def _ignore(value: Any) -> tuple[str, ...]:
    return _patterns("ignore", value)


def _failing(value: Any) -> tuple[str, ...]:
    return _patterns("failing", value)


def _since(value: Any) -> Any:
    """None for the last run, seconds since the epoch, or a Mark."""
    if value is None or value == LAST_RUN:
        return None
    if isinstance(value, datetime.datetime):
        return value.timestamp()
    if isinstance(value, Mark):
        return value
    if isinstance(value, str):
        raise ValueError(f"since is seconds since the epoch, a datetime, a Mark or {LAST_RUN!r}; got {value!r}")
    return number("since", value, least=0)


def _process(value: Any) -> int | str | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
        return value
    if isinstance(value, int):
        raise ValueError(f"process is a pid above 0, a pid file's path or a pattern of a command line; got {value!r}")
    return path(value)


@attrs.frozen(repr=False)
class LogHealthy(Check):
    """The job that writes this log is healthy: starting, running, ready or finished.

    ready: a regular expression, or a name from the readiness table (`vllm`, `sglang`, `llama.cpp`, …), that must have
        come; it needs something that ties it to this run (`since`, `process`, `fresh_within`), or is UNKNOWN.
    since: what counts as this run: a launch time (seconds since the epoch or a datetime), a `Mark`; by default the last
        run in the file.
    fresh_within: seconds since the last write, at most, by the host's clock.
    process: its pid, the path of its pid file, or a regular expression for its command line.
    failing, ignore: regular expressions for lines that are a failure, and for lines that are none.
    program: a name from the readiness table or from `register_program`; "auto" tells it from the text.

    Reads at most the first 64 KiB and the last 4 MiB of this run's text, and says what it skipped.  Of a log that was rotated
    the facts' `line` is counted in the file that holds it, and `line_of` is that file's path.
    """

    absent: ClassVar[Verdict] = FAIL

    path: str = attrs.field(converter=path)
    ready: str | None = attrs.field(default=None, kw_only=True)
    since: float | Mark | None = attrs.field(default=None, kw_only=True, converter=_since)
    fresh_within: float | None = attrs.field(default=None, kw_only=True)
    process: int | str | None = attrs.field(default=None, kw_only=True, converter=_process)
    ignore: tuple[str, ...] = attrs.field(default=(), kw_only=True, converter=_ignore)
    failing: tuple[str, ...] = attrs.field(default=(), kw_only=True, converter=_failing)
    program: str = attrs.field(default="auto", kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self.ready is not None:
            regex("ready", self.ready)
        if self.fresh_within is not None:
            number("fresh_within", self.fresh_within, above=0)
        if self.program != "auto" and self.program not in READY_OF and self.program not in _PROGRAMS:
            known = ", ".join(["auto", *READY_OF, *_PROGRAMS])
            raise ValueError(f"program is one of {known}, or one made known by register_program; got {self.program!r}")

    def look(self) -> Look:
        """The question without a mark's entry; `examine` adds the one of its host."""
        return self._look(None)

    def _look(self, mark: Mapping[str, Any] | None) -> Look:
        rows = _PROGRAMS.get(self.program, Frozen({}))
        own = (self.ready,) if self.ready is not None and self.ready not in READY_OF else ()
        named = self.ready if self.ready in READY_OF else self.program if self.program in READY_OF else ""
        return Look(
            watch.inspect,
            path=self.path,
            mark=mark,
            since=None if isinstance(self.since, Mark) else self.since,
            process=self.process,
            ready=own + rows.get("ready", ()),
            named=named,
            failing=self.failing + rows.get("failing", ()),
            ignore=self.ignore + rows.get("ignore", ()),
            done=rows.get("done", ()),
            progress=rows.get("progress", ()),
        ).resuming()

    async def examine(self, host: Host) -> Finding:
        """Asks with this host's own entry of the mark."""
        if not isinstance(self.since, Mark):
            return self.judge(await host.ask(self.look()))
        entry = self.since.for_host(str(host.address))
        if entry is None:
            noted = ", ".join(self.since.entries) or "none"
            reason = f"no mark of {self.path} was taken on {host.address} (on {noted}): what is new there can't be told"
            return Finding(UNKNOWN, reason, facts={"coverage": {"bytes": 0}}, cause=Cause.AMBIGUOUS)
        return self.judge(await host.ask(self._look(entry)))

    def judge(self, facts: Facts) -> Finding:
        """One state out of text, process and clock."""
        return _Case(self, facts).finding()


class _Case:
    """The facts of one look, with the questions that the judgement asks of them."""

    def __init__(self, check: LogHealthy, facts: Facts) -> None:
        self.check, self.facts = check, facts
        self.process: Mapping[str, Any] = facts["process"] or {}
        self.text: Mapping[str, Any] = facts.get("text") or {}
        state = self.process.get("state")
        self.alive = state in LIVE
        self.dead = state in ("gone", "zombie")
        self.stopped = state == "stopped"
        self.age = max(0.0, facts["file"]["age"]) if "file" in facts else 0.0
        self.warnings: list[str] = []

    @property
    def _over(self) -> bool:
        """Whether a job that has written nothing is over: one only named by a pattern or a pid file may be still to come."""
        return self.dead and self.process.get("how") == "pid"

    # The verdicts, in the order in which evidence outweighs other evidence.

    def finding(self) -> Finding:
        if self.facts["state"] == "missing":
            return self._missing()
        if self.facts["state"] == "unreadable":
            reason = f"{self.check.path} can't be read as a log: {self.facts['why']}"
            return self._say("unreadable", UNKNOWN, reason, cause=Cause(self.facts["cause"]))
        self._warn()
        for judged in (
            self._failed,
            self._stopped,
            self._empty,
            self._dead,
            self._hung,
            self._stale,
            self._unseen,
            self._healthy,
        ):
            found = judged()
            if found is not None:
                return found
        raise AssertionError("unreachable: _healthy always answers")

    def _missing(self) -> Finding:
        reason = f"there is no log {self.check.path}" + (f"; {self._process_words()}" if self.process else "")
        return self._say("missing", FAIL, reason, final=self._over)

    def _failed(self) -> Finding | None:
        failure = self.text["failure"]
        if failure is None and self.check.since is not None and self.facts["tied"] in OWN_LINES:
            failure = self.text["fallen"]  # by a supervisor, since the launch: no earlier run's
        fatal = not self.process and self.text["ending"].get("fatal")  # by that level programs end
        if failure is None and (self.dead or fatal) and not self._finished():
            failure = self.text["suspect"]
        if failure is None or self._of_earlier_run():
            return None
        if failure["kind"] == "killed":
            failure = self._confirmed(failure)
        return self._caused("failed", failure, self._failure_words(failure))

    def _stopped(self) -> Finding | None:
        if not self.stopped:
            return None
        return self._say("hung", FAIL, f"the process is stopped: {self._process_words()}", kind="killed")

    def _empty(self) -> Finding | None:
        if not self.facts["blank"]:
            return None
        subject = self._subject(
            "nothing has been written" if self.facts["tied"] in ("before", "mark") else "it holds no output"
        )
        if self.dead:
            words = f"{subject}; {self._process_words()}{self._full()}"
            return self._caused("empty", self._death(), words, final=self._over)
        if not self.alive:
            if self.process.get("unseen"):
                return self._unseen()
            return self._say("empty", FAIL, subject)
        busy = self._busy()
        hint = "; output may be buffered (python -u, PYTHONUNBUFFERED=1)" if busy or self.age > watch.QUIET else ""
        state = "quiet_but_alive" if busy else "empty"
        return self._say(state, UNKNOWN, f"{subject}; {self._process_words()}{hint}", cause=Cause.NOTHING_SEEN)

    def _dead(self) -> Finding | None:
        if not self.dead or self._finished():
            return None
        tail = f"last line: {self.text['last_line']!r}" + (
            ", cut off in the middle" if self.text["ends_in_line"] else ""
        )
        said = self.text["last_words"] or {}
        return self._caused(
            "died_silently",
            {**self._death(), **({"line": said["line"]} if said else {})},
            self._subject(f"it just ends; {self._process_words()}; {tail}{self._full()}"),
        )

    def _hung(self) -> Finding | None:
        """A live job whose counters stand still while it goes on logging, or whose log stands still."""
        retry, stats = self.text["retry"], self.text["stats"]
        if self.dead or (self._told_end() if self.alive else self._finished()) or self._of_earlier_run():
            return None
        seen_alive = self.alive or self.age < RUNNING_SILENCE
        if retry and retry["endless"] and seen_alive:
            return self._retrying(retry)
        if stats and seen_alive:
            line, excerpt = stats["since"]
            words = self._subject(
                f"the engine has work but moves none of it since {self._at(line)} ({stats['idle']} reports)"
            )
            return self._caused("hung", self._stuck("stuck_step", line, excerpt), words)
        if not self.alive:
            return None
        still, limit = self._still(), self._patience()
        if self.text["idle"] and self.age <= limit:
            return None
        if self._serving() or still <= limit:
            return None
        what = f"nothing has moved for {seconds(still)} ({self._usual()})"
        if self._busy() and self.age > limit:
            words = self._subject(
                f"{what}; {self._process_words()}; output may be buffered (python -u), or it computes"
            )
            return self._say("quiet_but_alive", UNKNOWN, words, cause=Cause.AMBIGUOUS)
        kind = {"saving": "stuck_checkpoint", "init": "stuck_init"}.get(self.text["phase"])
        kind = kind or ("stuck_step" if self._progress("work") else "stuck_init")
        words = self._subject(f"{what}; last line: {self.text['last_line'][:120]!r}; {self._process_words()}")
        return self._caused("hung", self._stuck(kind, None, None), words, final=False)

    def _stale(self) -> Finding | None:
        fresh = self.check.fresh_within
        if fresh is not None and self.age > fresh and not (self.dead and self._finished()):
            words = self._subject(f"last written {seconds(self.age)} ago, more than the {seconds(fresh)} allowed")
            if self.alive and self._busy():
                hint = "; the process computes: output may be buffered (python -u)"
                return self._say("quiet_but_alive", UNKNOWN, words + hint, cause=Cause.AMBIGUOUS)
            return self._say("hung", FAIL, words)
        return None

    def _unseen(self) -> Finding | None:
        if self.process.get("unseen"):
            reason = self._subject(f"the process can't be seen: {self.process['unseen']}")
            return self._say("quiet_but_alive", UNKNOWN, reason, cause=Cause(self.process["cause"]))
        patience = STARTING_SILENCE if self._serving() else self._patience()
        if not self.process and not self._finished() and self.age > patience:
            words = f"last written {seconds(self.age)} ago; whether it still runs needs process= or fresh_within="
            return self._say("hung", UNKNOWN, self._subject(words), cause=Cause.AMBIGUOUS)
        if not self.process and not self._finished() and self._surrendered():
            told = self.text["suspect"]
            words = f"its last words, {self._at(told['line'])}, speak of a failure: {told['excerpt'][:200]!r}"
            words += "; whether it still runs needs process="
            return self._say("quiet_but_alive", UNKNOWN, self._subject(words), cause=Cause.AMBIGUOUS)
        if self._of_earlier_run():
            words = (
                f"it ends in a crash written before its process began, and says nothing since; {self._process_words()}"
            )
            return self._say("quiet_but_alive", UNKNOWN, self._subject(words), cause=Cause.NOTHING_SEEN)
        return None

    def _healthy(self) -> Finding:
        state = self._state()
        if state == "finished" and not self.text["stop"]:
            self._doubt(self.text["done"] or {})
        if self.check.ready is None and state == "starting" and self._since_launch() > STARTING_BUDGET:
            words = f"it talks, but nothing it says counts as work, {seconds(self._since_launch())} after its launch"
            hint = "; name its lines by register_program(progress=…) or ready="
            return self._say("quiet_but_alive", UNKNOWN, self._subject(words + hint), cause=Cause.AMBIGUOUS)
        if self.check.ready is None:
            return self._say(state, PASS, self._subject(self._healthy_words(state)))
        line = self.text["asked_ready"] if self.check.ready not in READY_OF else (self.text["ready"] or {}).get("line")
        if line is None:
            words = self._subject(f"no line says {self._asked()} yet; {self._healthy_words(state)}")
            return self._say(
                state, FAIL, words, final=self.dead or (state == "finished" and not self.alive and bool(self.process))
            )
        tie = self._untied(line)
        if tie:
            words = self._subject(f"{self._at(line)} says {self._asked()}, but {tie}")
            return self._say(state, UNKNOWN, words, cause=Cause.AMBIGUOUS, more={"ready_line": self._place(line)[0]})
        state = "finished" if state == "finished" else "ready"
        words = self._subject(f"{self._at(line)} says {self._asked()}")
        return self._say(state, PASS, words, more={"ready_line": self._place(line)[0]})

    def _doubt(self, done: Mapping[str, Any]) -> None:
        """Warns where an end is told by less than a line that says so."""
        if done.get("ends") and done.get("prepared") and not self._progress("complete"):
            self.warnings.append(f"only a preparation is said to have ended: {done['excerpt'].strip()[:120]}")
        elif not done.get("ends"):
            shape = ", ".join(self.text["ending"]["for"]) if self.text["closed"] else ""
            told = f"its last words are those of an end ({shape})" if shape else "its counter is at its whole"
            self.warnings.append(f"no line of a known form says that it ended: only {told}, or its exit status is 0")

    def _asked(self) -> str:
        """The ready line that was asked for, as a person writes it: a pattern with its backslashes single."""
        return f"that {self.check.ready} is ready" if self.check.ready in READY_OF else f"`{self.check.ready}`"

    # What the evidence adds up to.

    def _finished(self) -> bool:
        """Whether the text tells a good end: a marker, a counter at its whole, an ordered stop."""
        if self.process.get("exit_status") is not None:
            return self._told_end()
        return self._told_end() or self._whole() or bool(self.dead and self.text["closed"])

    def _told_end(self) -> bool:
        """The same by what was said, or the exit status: a job that still lives is not over because a counter is."""
        status = self.process.get("exit_status")
        if status is not None:
            return status == 0 or (status in ORDERED and self.text["stop"] is not None)
        done = self.text["done"]
        return bool(self.text["stop"] or (done and done["ends"]))

    def _whole(self) -> bool:
        """Whether its counter reached its whole, and no last words of a dead job say that this was not all there was to do."""
        against = self.dead and (self.text.get("ending") or {}).get("against")
        return bool(self._progress("complete") and not against)

    def _state(self) -> str:
        if self._finished() and not self.alive:
            return "finished"
        if self.text["ready"] and not self.text["trains"]:
            return "ready"
        if self._finished() and self.text["done"]:
            return "finished" if not self.alive else "running"
        return "running" if self._progress("work") else "starting"

    def _progress(self, key: str) -> Any:
        return self.text["progress"].get(key)

    def _surrendered(self) -> bool:
        """Whether the very last words are of a failure, by no table's word: a job that goes on may have had it, too."""
        told, against = self.text["suspect"], self.text["ending"]["against"]
        near = told is not None and told["line"] is not None and told["line"] >= self.text["last"] - SURRENDER_LINES
        return near and "its last words speak of a failure" in against

    def _serving(self) -> bool:
        """Whether it is a server that has become ready: it may be silent for as long as nobody asks."""
        return self.text["ready"] is not None and not self.text["trains"] and not self.text["failure"]

    def _still(self) -> float:
        """Seconds since something moved: by the file's age, and by the log's own clock up to its last line."""
        inside = self._progress("still") if self._progress("work") else None
        return self.age + float(inside or 0.0)

    def _since_launch(self) -> float:
        """Seconds from the launch to now, by the host's clock; 0 where the launch isn't known."""
        begun = self.facts["since"]
        return 0.0 if begun is None else float(self.facts["file"]["mtime"]) + self.age - float(begun)

    def _patience(self) -> float:
        if not self._progress("work"):
            return STARTING_SILENCE
        if self.text["phase"] == "saving":
            return STARTING_SILENCE
        return max(RUNNING_SILENCE, SLOW_STEPS * float(self._progress("cadence") or 0.0), self._average_pace())

    def _average_pace(self) -> float:
        """Seconds that a few steps took on the average since the launch, where no times in the log tell it; else 0."""
        begun, counted = self.facts["since"], self._progress("work") or 0
        if begun is None or counted < FEW_STEPS or self._progress("cadence") is not None:
            return 0.0
        return min(AVERAGE_MOST, AVERAGE_STEPS * max(0.0, float(self.facts["file"]["mtime"]) - float(begun)) / counted)

    def _busy(self) -> bool:
        return float(self.process.get("cpu") or 0.0) >= BUSY

    def _of_earlier_run(self) -> bool:
        """Whether the log ends in a crash that was written before the process at hand began."""
        before = self.facts.get("tied") == "before" and self.check.since is None and self.alive
        return bool(before and self.text["failure"])

    def _untied(self, line: int) -> str:
        """Why a ready line may be another run's; empty if it is this one's."""
        earlier = line <= (self.facts.get("lines_before") or 0) and "tied_earlier" in self.facts
        tied = self.facts["tied_earlier" if earlier else "tied"]
        if tied in ("mark", "time", "born") or self.check.fresh_within is not None:
            return ""
        if self.check.since is None and self.check.process is None:
            return "nothing ties it to this run: give since=, process= or fresh_within="
        if self.text["runs"] > 1 and tied == "written":
            return ""
        if self.dead and self.check.since is None:
            return "whose it was can't be told from a process that is gone: give since="
        return "whether it was written since the launch can't be told: take a mark() before the launch"

    def _confirmed(self, failure: Mapping[str, Any]) -> Mapping[str, Any]:
        kills = (self.facts.get("oom") or {}).get("kills")
        if not kills:
            return failure
        return {**failure, "kind": "host_oom", "hint": tables.HINTS["host_oom"], "confirmed": kills[0]["line"]}

    def _death(self) -> Mapping[str, Any]:
        kills = (self.facts.get("oom") or {}).get("kills")
        kind = "host_oom" if kills else "no_space" if self._full() else "killed"
        hint = tables.HINTS[kind]
        return {
            "kind": kind,
            "line": None,
            "excerpt": kills[0]["line"] if kills else "",
            "hint": hint,
            "rank": None,
            "pid": self.process.get("pid"),
        }

    def _full(self) -> str:
        """Says that nothing can be written to the log any more, its last words either; empty where it can."""
        return "; no space left on the log's file system" if self.facts["file"].get("free") == 0 else ""

    @staticmethod
    def _stuck(kind: str, line: Any, excerpt: Any) -> Mapping[str, Any]:
        return {"kind": kind, "line": line, "excerpt": excerpt, "hint": tables.HINTS[kind], "rank": None, "pid": None}

    def _retrying(self, retry: Mapping[str, Any]) -> Finding:
        lasted = f" over {seconds(retry['seconds'])}" if retry["seconds"] else ""
        words = self._subject(
            f"the same words {count(retry['count'], 'time')}{lasted}, nothing else moves: "
            f"{self._at(retry['line'])}: {retry['excerpt'][:160]}"
        )
        kind = "retry_loop" if retry["failing"] else "stuck_step" if self._progress("work") else "stuck_init"
        return self._caused("hung", self._stuck(kind, retry["line"], retry["excerpt"]), words, final=False)

    # Words.

    def _subject(self, words: str) -> str:
        return f"{self.check.path}: {words}"

    def _failure_words(self, failure: Mapping[str, Any]) -> str:
        where = "".join(f", {name} {failure[name]}" for name in ("rank", "pid") if failure.get(name) is not None)
        words = failure.get("what") or failure["excerpt"][:240]
        frame = failure.get("frame")
        at = f" (at {frame['file']}:{frame['line']})" if frame else ""
        doubt = ""
        if failure["kind"] == "killed":
            doubt = "; by whom is not known"
        if failure.get("confirmed"):
            doubt = "; the kernel confirms: out of memory"
        return self._subject(
            f"{failure['kind']} at {self._at(failure['line'])}{where}: {words}{at}{doubt}; {failure['hint']}"
        )

    def _place(self, line: int | None) -> tuple[int | None, str]:
        """The number of a line in the file that holds it, and the path of that file if it is an earlier one, else ""."""
        begins = [("", self.facts.get("lines_before")), *(self.facts.get("begins") or ())]
        if line is None or any(number is None for _, number in begins):
            return line, ""
        before, path = max(((number, path) for path, number in begins if number < line), default=(0, ""))
        return line - before, path

    def _at(self, line: int | None) -> str:
        number, path = self._place(line)
        if number is None:
            return "a line of uncounted number"
        return f"line {number} of {path}" if path else f"line {number}"

    def _healthy_words(self, state: str) -> str:
        progress, words = self.text["progress"], [state]
        if self.text["ready"] and state == "ready":
            words.append(f"{self._at(self.text['ready']['line'])}: {self.text['ready']['excerpt'][:100].strip()}")
        elif progress["count"]:
            words.append(f"last counter at {self._at(progress['line'])}: {progress['excerpt'][:120]}")
        words.append(f"last written {seconds(self.age)} ago")
        if self.process:
            words.append(self._process_words())
        if self.facts["coverage"].get("skipped"):
            words.append(f"{exact_size(self.facts['coverage']['skipped'])} in the middle not read")
        return "; ".join(words)

    def _process_words(self) -> str:
        process = self.process
        name = f"process {process['pid']}" if process.get("pid") else f"the process {self.check.process!r}"
        if process.get("state") == "gone":
            return f"{name} is gone ({process.get('why') or 'no such process'})"
        status = process.get("exit_status")
        ended = f", exit status {status}" if status is not None else ""
        busy = f", using {process['cpu']:g} cores" if process.get("cpu") is not None else ""
        return f"{name} is {str(process.get('state')).replace('_', ' ')}{ended}{busy}"

    def _usual(self) -> str:
        cadence = self._progress("cadence")
        return f"a step takes {seconds(cadence)}" if cadence else f"up to {seconds(self._patience())} would be usual"

    def _warn(self) -> None:
        coverage = self.facts["coverage"]
        if coverage.get("skipped"):
            self.warnings.append(f"{exact_size(coverage['skipped'])} of this run's text not read")
        if self.facts["file"]["age"] < -60:
            self.warnings.append(
                f"the log was written {seconds(-self.facts['file']['age'])} in the future of the host's clock"
            )
        if self.facts["rotated"]:
            self.warnings.append(self._rotation())
        if self.facts.get("passed_over"):
            self.warnings.append(
                f"{self.facts['passed_over']} was written to since and ends in a failure; taken for an earlier run's"
            )
        if "written" in (self.facts["tied"], self.facts.get("tied_earlier")):
            self.warnings.append(
                "which lines are of this run can't be told by their times; mark() before a launch tells it"
            )

    def _rotation(self) -> str:
        began = "mark" if self.facts["tied"] == "mark" else "launch" if self.facts["since"] else "last run began"
        followed, lines = ", ".join(self.facts["followed"]), self.facts.get("lines_before")
        if not followed:
            return f"the log was {self.facts['rotated']} since the {began}; no predecessor was found"
        counting = (
            f"; lines of counters and markers count on: line {lines + 1} is the first of {self.check.path}"
            if lines
            else ""
        )
        return f"the log was {self.facts['rotated']} since the {began}; followed back to: {followed}{counting}"

    # Findings.

    def _caused(self, state: str, cause: Mapping[str, Any], reason: str, *, final: bool = True) -> Finding:
        return self._say(state, FAIL, reason, final=final, more=cause)

    def _say(
        self,
        state: str,
        verdict: Verdict,
        reason: str,
        *,
        cause: Cause | None = None,
        final: bool = False,
        kind: str | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> Finding:
        root = {"kind": kind, "line": None, "excerpt": None, "rank": None, "pid": None, "hint": None}
        facts = {"state": state, **root, **(more or {}), **self._kept()}
        facts["line"], earlier = self._place(facts["line"])
        facts["line_of"] = earlier or str(self.check.path)
        return Finding(verdict, " ".join(reason.split()), facts=facts, warnings=self.warnings, cause=cause, final=final)

    def _kept(self) -> dict[str, Any]:
        names = (
            "coverage",
            "file",
            "process",
            "mark",
            "tied",
            "tied_earlier",
            "since",
            "rotated",
            "followed",
            "lines_before",
            "passed_over",
            "encoding",
            "oom",
            "now",
        )
        kept = {name: self.facts[name] for name in names if name in self.facts}
        if self.text:
            kept |= {
                name: self.text[name]
                for name in (
                    "progress",
                    "training",
                    "ready",
                    "done",
                    "ending",
                    "retry",
                    "programs",
                    "signs",
                    "runs",
                    "run_start",
                )
            }
            kept["lines"], kept["last_line"] = self.text["lines"], self.text["last_line"]
        return kept
