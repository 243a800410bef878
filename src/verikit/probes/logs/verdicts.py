# ruff: noqa: E501
"""What the told adds up to: which sign is the cause, what still moves, where the job stands. Text only: no clock, no process."""

import re

from verikit.probes.logs import clock, tables
from verikit.probes.logs.complaints import PLAIN, THROWN, named, root_of, vague
from verikit.probes.logs.ending import (
    ANNOUNCED,
    BYE,
    CLOSING,
    LAST_COUNTS,
    LEAVING,
    PREPARED,
    end_of,
    folded,
    last_counted,
    left,
    more_to_come,
    nested,
)
from verikit.probes.logs.envelopes import Line
from verikit.probes.logs.rows import BEGINS_AGAIN, PHASES
from verikit.probes.logs.sentences import key_of
from verikit.probes.logs.tracebacks import ROLES, by_exit, kind_of_exception, sign_of

HEALS_FATAL = 20
"""Completed steps behind a death that only the other ranks can have made, before it counts as healed (by a restart)."""

HEALS_RESUMED = 3
"""The same where the log says that the job was resumed."""

HEALS_MAIN = 2
"""Such steps behind a traceback that seems to have ended a program: the number of the next part of a script is one."""

HEALS_BEGUN = 5
"""Such steps behind a launcher's word that all ranks begin again."""

RETRY_SECONDS = 600.0
WAIT_SECONDS = 1200.0
RETRY_COUNT = 60
FAILING = re.compile(
    r"refused|[Ff]ail(?!(?:ed|ures?)?[ =:]*0\b)|rror(?!s?[ =:]*0\b)|timed? ?out|unreachable|[Rr]etr(?!\w*[ =:]*0\b)|unavailable|\b50[234]\b|[Ss]talled|[Mm]issing|\bagain\b"
)
IDLE_STATS = 6
STOP_LINES = 400
DRAINED = 20
SENTENCES = 10
IDLE = re.compile(tables.IDLE)
TOOL = re.compile(
    r"(?:ls|cp|mv|rm|ln|cat|grep|sed|awk|find|mkdir|rmdir|touch|chmod|chown|wget|curl|rsync|ssh|scp|test|stat|du|df|kill|which|git): "
)
"""What a small tool of a script complains of: the script may do without it, and say so by going on to its end."""

END_LINES = 60
"""Lines that may follow the marker of an end: summaries, warnings of libraries being torn down."""


def tell(story, forced=""):
    """JSON facts of what a `Story` tells of the last run."""
    story.finish()
    ready, done = _ready(story, forced), _last(story, "done")
    signs = [sign for sign in story.signs if sign["role"] != "stopped"]
    stop = _ordered_stop(story, signs, ready)
    end = end_of(story)
    good = end.good if ready is None else end.leaves and end.line > ready["line"]
    ended = done or ({"line": end.line, "marker": "last-words"} if good else None)
    counting = [sign for sign in signs if _counts(story, sign, ready, ended, stop)]
    failure = _nan(story) or _accused(story, counting) or _first(counting)
    failure = _behind(signs, failure, lambda sign: _resolved(story, sign, ready))
    failure = _said_first(signs, _innermost(signs, _in_own_words(story, signs, failure, end)))
    failure = _first_copy(story, signs, failure)
    failure = _lived_with(story, signs, failure)
    return {
        "failure": _shown(story, failure),
        "suspect": None if failure else _shown(story, _suspect(story, signs, stop, done, end)),
        "last_words": _last_said(story, end),
        "signs": {"seen": story.signs.total, "resolved": sum(1 for sign in signs if _resolved(story, sign, ready))},
        "ready": ready,
        "trains": _trains(story, ready),
        "done": dict(done, ends=_end(story, done) and not _belied(story, done, end), prepared=_prepared(story, done))
        if done
        else None,
        "closed": failure is None and good,
        "ending": end.told(),
        "stop": stop,
        "progress": _progress(story),
        "training": _training(story),
        "retry": _retry(story, None if _trains(story, ready) else ready),
        "idle": _idle(story),
        "stats": story.figures.stats if story.figures.stats["idle"] >= IDLE_STATS else None,
        "phase": _phase(story),
        "run_start": story.run_start,
        "runs": story.runs,
        "programs": sorted(story.programs),
        "asked_ready": story.wanted_ready,
        "lines": story.lines,
        "last": story.last,
        "ends_in_line": not story.at_end,
        "last_line": _last_line(story),
        "times": _times(story),
    }


def _text(raw):
    from verikit.probes.logs.envelopes import decode, plain

    return plain(decode(raw))


def _last_line(story):
    for raw in reversed(story.tail):
        text = _text(raw).strip()
        if text:
            return text[:300]
    return ""


def _times(story):
    last = None
    for raw in reversed(story.tail):
        last = clock.stamp(_text(raw))
        if last:
            break
    return {"last": list(last) if last else None}


# Ready and end.


def _ready(story, forced):
    programs = (
        {forced}
        if forced
        else {name for name in story.programs if any(row[3] == name for row in tables.MARKERS if row[1] == "ready")}
    )
    own = programs - {"ray"} or programs
    found = None
    for number, role, name, program, raw in story.markers:
        if role != "ready":
            continue
        if name == "asked" or program in own or not own:
            found = {"line": number, "marker": name, "excerpt": raw[:200]}
    return found


def _trains(story, ready):
    """Whether work went on behind a server's marker: it is a part of another job then (a tracker, a database, an engine of rollouts)."""
    if ready is None:
        return False
    if _beside(story, ready):
        return True
    behind = {event[1:6] for event in story.progress if event[2] == "step" and event[0] > ready["line"]}
    return len(behind) >= 3


def _beside(story, ready):
    """Whether a service beside the job is what is up: other sources count behind its line, or it is one that others work with."""
    source = story.undress(0, ready["excerpt"].encode()).source
    up = {story.undress(0, row[4].encode()).source for row in story.markers if row[1] == "ready"}
    behind = [event for event in story.progress if event[0] > ready["line"] and event[2] != "serve"]
    if source is not None:
        others = {story.undress(0, event[7].encode()).source for event in behind} - up - {None}
        return bool(others)
    return ready["marker"] in tables.SIDECARS and len({event[1:6] for event in behind if not event[6]}) >= 3


def _last(story, wanted):
    for number, role, name, _program, raw in reversed(story.markers):
        if role == wanted and not (name in tables.TOOL_ENDS and _others_speak(story, number, raw)):
            return {"line": number, "marker": name, "excerpt": raw[:200]}
    return None


def _others_speak(story, number, raw):
    """Whether behind the end of a tool somebody else speaks, who takes no leave."""
    tool = _first_word(story.undress(0, raw.encode()).text)
    behind = story.tail[number - story.last :] if number < story.last else []
    texts = [story.undress(0, one).text for one in behind]
    others = [text.strip() for text in texts if text.strip() and not DETAIL.match(text) and _first_word(text) != tool]
    return story.last - number > END_LINES or any(not (CLOSING.match(text) or LEAVING.match(text)) for text in others)


DETAIL = re.compile(r"[ \t]*[-+~*#] |[ \t]")


def _first_word(text):
    return folded(text.strip().split(" ", 1)[0])


def _end(story, done):
    """Whether a marker of the end stands at the end: hardly anything was counted behind it, and nothing begun."""
    if done is None or _moved(story, done["line"], 3) or story.last - done["line"] > END_LINES:
        return False
    begun = [event for event in story.progress if event[6] or (event[2] == "bar" and event[3] == 0)]
    if any(event[0] > done["line"] for event in begun):
        return False
    if _said_before(story, done) or _goes_on(story, done["line"]) or (_prepared(story, done) and more_to_come(story)):
        return False
    behind = story.tail[-(story.last - done["line"]) :] if story.last > done["line"] else []
    return not any(BEGINS_AGAIN.match(story.undress(0, raw).text) for raw in behind)


def _belied(story, done, end):
    """Whether the last words speak of a failure, and a marker only takes leave, or stands before them."""
    leave = BYE.match(story.undress(0, done["excerpt"].encode()).text.strip())
    behind = [line for line in _spoken(story.signs, end.lines) if line.number > done["line"] and not line.level]
    return end.failed and bool(leave or any(THROWN.search(line.text) for line in behind))


def _prepared(story, done):
    """Whether a marker is the end of what often comes before the work itself: a download, a conversion."""
    return bool(PREPARED.match(story.undress(0, done["excerpt"].encode()).text.strip()))


def _goes_on(story, number):
    """Whether one sentence with other and other numbers fills the lines behind: work in words of no table."""
    behind = [
        story.undress(0, raw).text.strip()[:300]
        for raw in (story.tail[number - story.last :] if number < story.last else ())
    ]
    forms = {}
    for text in behind:
        forms.setdefault(folded(text), set()).add(text)
    return any(len(texts) >= SENTENCES for texts in forms.values())


def _said_before(story, done):
    """Whether the same words have come again and again, long before the end: the end of a part then."""
    form = folded(done["excerpt"])
    same = [row[0] for row in story.markers if row[1] == "done" and folded(row[4][:200]) == form]
    return len(same) >= 3 and story.last - same[0] > END_LINES


def _ordered_stop(story, signs, ready):
    """The first ordered stop that no real failure went before and no service or work came behind."""
    for number in story.stops:
        earlier = [
            sign for sign in signs
            if sign["line"] < number and sign["role"] in ("root", "fatal", "plain", "bare") and not sign["contained"]
            and not _moved(story, sign["end"], 1)
        ]  # fmt: skip
        again = (ready is not None and ready["line"] > number) or _moved(story, number, _drain(story, number))
        if not earlier and not again and story.last - number <= STOP_LINES:
            return number
    return None


def _drain(story, number):
    """How much work behind an ordered stop says that it was none: a server or a queue's worker ends what it has begun."""
    served = all(event[2] == "serve" for event in story.progress if event[0] > number)
    return DRAINED if served else 3


# Failures.


NO_CAUSE = re.compile(tables.NO_CAUSE)
CAUSES = ("root", "fatal", "plain", "bare")
SCHEDULED = ("time_limit", "preempted", "node_failure", "host_oom")
EFFECTS = ("weak", "cascade", "messenger", "unclear")
TIDYING = ("wandb-done", "spark-done", "elapsed-done", "torchserve-done")
"""Ends that a tracker, a session or a shell also writes behind a crash."""

EXITED = ("exit-code", "elastic", "container-status", "rsync-end", "make-stop", "cargo-failed")
"""Signs that tell of an exit status: no "finished" of the script around heals them."""

PUT_BACK_LINES = 5
BUFFERED = 5
"""Counters of a rank behind its traceback that its output buffer alone would not hold."""

TRAP_LINES = 15
"""Lines within which a bare "done" behind an uncaught crash is a shell's trap speaking, not the job."""


def _counts(story, sign, ready, done, stop):
    """Whether a sign is a failure of this run, as far as its text tells."""
    if sign["role"] in ("soft", "weak") or sign["contained"]:
        return False
    if sign["id"].startswith("slurm-") and sign["role"] == "root":
        again = any(row[1] == "resumed" and row[0] > sign["end"] for row in story.markers)
        return not _moved(story, sign["end"], HEALS_RESUMED if again else HEALS_FATAL)
    if (sign["level"] >= 40 or sign["trace"]) and _survived(story, sign, ready):
        return False
    if stop is not None and sign["line"] >= stop and sign["kind"] not in SCHEDULED:
        return False
    if _resolved(story, sign, ready):
        return False
    if done is None:
        return True
    if sign["line"] < done["line"] and (sign["id"] == "child-code" or _put_back(story, sign)):
        return False  # a program that runs others may have lived with it
    if sign["line"] > done["line"]:
        ended = sign["main"] and sign["role"] != "cascade"
        return ended or sign["role"] not in EFFECTS or sign["id"] in EXITED
    if done["marker"] == "last-words":
        return sign["trace"] or sign["level"] >= 40 or sign["role"] == "fatal" or not TOOL.match(sign["text"])
    return sign["uncaught"] or _trapped(sign, done)


def _survived(story, sign, ready):
    """Whether the program has logged this very error before, and work went on behind it."""
    form = folded(sign["text"][:300])
    same = [
        one
        for one in story.signs
        if one["line"] < sign["line"] and one["id"] == sign["id"] and folded(one["text"][:300]) == form
    ]
    if sign["level"] >= 40:
        return any(one["level"] >= 40 and _resolved(story, one, ready) for one in same)
    # A bare traceback may be the last of those that were caught: it has been lived through more than once.
    return sum(1 for one in same if one["trace"] and _resolved(story, one, ready)) >= 2


def _trapped(sign, done):
    """Whether the end that follows a crash is only that of the script around it."""
    if done["marker"] in TIDYING:
        return sign["role"] not in ("weak", "cascade")
    if sign["id"] in ("container-status", "make-stop", "cargo-failed"):
        return True  # the good end of another container, of another recipe or of other tests heals none
    if done["marker"] != "generic-done":
        return False
    near = sign["trace"] and not sign["level"] and done["line"] - sign["end"] <= TRAP_LINES
    return near or sign["id"] in EXITED


def _resolved(story, sign, ready):
    """Whether work was completed behind the sign, or the server became ready."""
    if sign["id"] in ("failing",):
        return False
    if _replaced(story, sign, ready):
        return True
    if ready is not None and ready["line"] > sign["end"]:
        return True
    if sign["uncaught"] and _counts_on(story, sign):
        return True
    if sign["role"] == "fatal" or sign["uncaught"] or sign["id"] == "make-stop":
        begun = any(row[2] == "elastic-again" and row[0] > sign["end"] for row in story.markers)
        return _moved(story, sign["end"], HEALS_BEGUN if begun else HEALS_FATAL)
    return _moved(story, sign["end"], HEALS_MAIN if sign["main"] else 1)


def _put_back(story, sign):
    """Whether a supervisor told of a child's end, and at once that it puts another in its place."""
    told = [row[0] for row in story.markers if row[1] == "replaced"]
    return sign["id"] == "exit-code" and any(0 < line - sign["end"] <= PUT_BACK_LINES for line in told)


def _replaced(story, sign, ready):
    """Whether a server that was up put another in the place of a child that died, and that one has not died of the same."""
    if ready is None or ready["line"] > sign["line"]:
        return False
    since = [row[0] for row in story.markers if row[1] == "replaced" and row[0] > sign["end"]]
    return bool(since) and not any(one["line"] > since[0] and one["kind"] == sign["kind"] for one in story.signs)


def _counts_on(story, sign):
    """Whether the rank of a traceback itself counts on behind it: it caught what it printed. What a buffer held is not enough."""
    later = [event for event in story.progress if event[0] > sign["end"]]
    own = {event[1:6] for event in later if story.undress(0, event[7].encode()).rank == sign["rank"]}
    return len(own) >= BUFFERED


def _moved(story, number, wanted, until=None):
    """Whether a counter of work went on behind a line (and before another): beyond what it had reached, or up again from below."""
    reached, later = {}, {}
    for event in story.progress:
        line, name, _role, value, whole, stage, _setup, _ = event
        if until is not None and line >= until:
            continue
        key = (name, whole)
        if line <= number:
            if value is not None:
                reached[key] = max(reached.get(key, (-1.0, -1.0)), (stage, value))
            continue
        if _role == "said" and key not in reached:
            continue  # a sentence that only came behind it is no work that went on
        later.setdefault(key, []).append((stage, value))
    moved = 0
    for key, values in later.items():
        best = reached.get(key)
        fresh, previous = 0, None
        for stage, value in values:
            if value is None:
                fresh += 1
            elif best is not None and (stage, value) > best:
                fresh, best = fresh + 1, (stage, value)
            elif previous is not None and (stage, value) > previous:
                fresh += 1
            previous = (stage, value) if value is not None else previous
        moved += fresh
    return moved >= wanted


def _first(signs):
    """The cause among the signs that count: best role, then first line; of the last episode."""
    if not signs:
        return None
    echoed = min((sign["line"] for sign in signs if sign["role"] in ("cascade", "messenger")), default=None)

    def rank(sign):
        late = sign["role"] == "unclear" and echoed is not None and echoed < sign["line"]
        # A bare order to end that comes behind others' failures is their effect; a script may do without its small tools.
        small = sign["role"] in CAUSES and TOOL.match(sign["text"]) is not None
        return ROLES["messenger"] if late else ROLES["unclear"] if small else ROLES.get(sign["role"], 4), sign["line"]

    return min(signs, key=rank)


def _accused(story, signs):
    """The launcher's word on the rank that was killed first, where the others only tell that it was gone."""
    first = _first(signs)
    accused = story.elastic.get("rank")
    if (
        first is None
        or first["role"] != "cascade"
        or accused in (None, first["rank"])
        or story.elastic.get("exitcode", 0) >= 0
    ):
        return None
    return next(
        (
            sign
            for sign in signs
            if sign["id"] == "elastic" and "exitcode: %d" % story.elastic["exitcode"] in sign["text"]
        ),
        None,
    )


BUILT = re.compile(r"Error building|Failed (?:to build|building)|failed-wheel-build")
BEHIND = (
    ("nccl-warn", lambda sign: sign["kind"] == "nccl_system"),
    ("compile", lambda sign: sign["id"] in ("build-stop", "make-stop") or BUILT.search(sign["text"])),
    ("assert-device", lambda sign: "device-side assert" in sign["text"]),
)
"""The sign that is the cause of another: its id, and whether a sign is such another."""


def _behind(signs, failure, cured):
    """The sign behind another that is none alone: NCCL's own warning, the compiler's error that other files outlived."""
    if failure is not None and failure["id"] in (*EXITED, "child-code"):
        causes = [sign for sign in signs if sign["line"] < failure["line"] and sign["role"] not in (*EFFECTS, "soft")]
        container = failure["text"].split()[0] if failure["id"] == "container-status" else None
        own = [sign for sign in causes if container and sign["trace"] and sign["text"].lstrip().startswith(container)]
        if own:
            return _first(own[-1:])  # its own last words, whatever was said around them
        return (
            _first([sign for sign in causes if not sign["contained"] and (sign["id"] == "compile" or not cured(sign))])
            or failure
        )
    wanted = None if failure is None else next((name for name, tells in BEHIND if tells(failure)), None)
    if wanted is None:
        return failure
    earlier = [sign for sign in signs if sign["id"] == wanted and sign["line"] < failure["line"]]
    return next((sign for sign in earlier if wanted != "nccl-warn" or not cured(sign)), failure)


def _suspect(story, signs, stop, done, end):
    """What would explain a death that the text alone does not call one."""
    if stop is not None:
        return None
    last = last_counted(story)
    near = [
        sign for sign in signs
        if (sign["role"] in ("fatal",) or sign["uncaught"] or sign["end"] >= last or not _moved(story, sign["end"], 5))
        and not (done is not None and done["line"] > sign["end"])
    ]  # fmt: skip
    # What was called contained and stands at the very end was not.
    hard = [
        sign for sign in near
        if sign["role"] not in ("soft", "weak") and (not sign["contained"] or sign["end"] >= story.last - 1)
    ]  # fmt: skip
    if hard:
        return _in_own_words(story, signs, _first(hard), end)
    told = root_of(_spoken(signs, end.lines))
    first = _first(near)
    if first is not None and first["role"] == "weak":
        return _in_own_words(story, signs, first, end)
    if told is None or (first is not None and (told[1] < PLAIN or vague(told[0].text.strip()))):
        return first
    return _words_of(told[0])


def _spoken(signs, lines):
    """The lines that stand in no traceback."""
    within = [(sign["first"], sign["end"]) for sign in signs if sign["trace"]]
    return [line for line in lines if not any(first <= line.number <= last for first, last in within)]


SIGNALS = ("killed", "segfault", "bus_error_shm")
ABORTED, EFFECT = re.compile(tables.ABORTED), re.compile(tables.EFFECT)
OF_OTHERS = ("connection_refused", "rendezvous", "nccl_timeout", "nccl_system")
"""Kinds that tell of another who was not there: it may have said before why not."""

SHARP = ("auth", "no_space", "quota", "permission_denied", "cuda_oom", "host_oom", "import_error", "address_in_use")
"""Kinds that are causes, whatever they were met in."""

SECOND_HAND = ("watchdog", "trtllm-assert", "mpi-start", "triton-model")
"""Signs that sum up what a line before them said of its cause."""

QUOTING = ("pip-end",)
"""Messengers behind which what they pass on is quoted, up to the last of them."""

STACK_LINES, REPEATS = 400, 12
TOLD = ("messenger", "weak")
"""Signs that only pass on that something failed, or are known by their level alone: what was said before may tell more."""


def _in_own_words(story, signs, failure, end):
    """The sentence before a sign that only passes on a failure, in which the job itself says what failed; else the sign."""
    if failure is None or not _passes_on(failure):
        return failure
    if _waited(failure) and any(_ended_thread(sign, failure) for sign in signs):
        return next(sign for sign in reversed(signs) if _ended_thread(sign, failure))
    held = _held(story, signs, failure)
    if held:
        return _in_own_words(story, signs, dict(_first(held), contained=False), end)
    endured = _endured(story, signs, failure)
    if failure["role"] == "messenger" and endured:
        return _first(endured)
    told = root_of(_before(story, signs, failure, end))
    if told is None or told[0].number == failure["line"]:
        return failure
    line, how = told
    if _second_hand(failure) and how < PLAIN:
        return failure  # it has words of its own: only plain ones outweigh them
    return _words_of(line)


def _passes_on(failure):
    """Whether a sign may have its cause in words before it; of a kill nobody says beforehand."""
    if by_exit(failure["text"], "") in SIGNALS and not ABORTED.search(failure["text"]):
        return False
    return failure["role"] in TOLD or _second_hand(failure)


def _endured(story, signs, failure):
    """The causes that had been lived through before, and once too often: hardly anything moved between them and the end."""
    before = [
        sign for sign in signs
        if (sign["role"] in CAUSES or sign["mild"]) and not sign["contained"] and sign["line"] < failure["line"]
    ]  # fmt: skip
    before = [sign for sign in before if not _moved(story, sign["end"], 3, failure["line"])]
    return [sign for sign in before if not sign["mild"]] or before


def _held(story, signs, failure):
    """The causes that were called contained and were not: behind them came only an effect and the end."""
    if failure["role"] not in EFFECTS and not ABORTED.search(failure["text"]):
        return []
    contained = [sign for sign in signs if sign["contained"] and sign["trace"] and sign["role"] in CAUSES]
    return [sign for sign in contained if not _moved(story, sign["end"], 1)]


def _before(story, signs, failure, end):
    """What was said before a sign and not outlived by work: by its own container where it is one's end, else by all."""
    last = failure["line"] - (failure["role"] == "messenger")
    if failure["id"] in QUOTING:
        last = max(sign["line"] for sign in signs if sign["id"] == failure["id"]) - 1
    spoken = _spoken(signs, _said_until(story, signs, last, end))
    before = [line for line in spoken if not _moved(story, line.number, 1, failure["line"])]
    before = [line for line in before if not (failure["trace"] and _announces(line, failure))]
    same = [line for line in before if line.source and line.source in failure["text"]]
    return before if failure["trace"] else same or before


def _announces(line, failure):
    """Whether a line only says that an exception came, whose traceback is right behind it."""
    return line.number == failure["first"] - 1 and vague(line.text.strip())


def _lived_with(story, signs, failure):
    """The exception that was called contained, where the abort behind it has no cause of its own and nothing moved between them; else the sign."""
    if failure is None or failure["kind"] != "python_exception" or not NO_CAUSE.search(failure["text"]):
        return failure
    before = [
        sign for sign in signs
        if sign["contained"] and sign["role"] in CAUSES and sign["end"] < failure["line"] and not _moved(story, sign["end"], 1)
    ]  # fmt: skip
    return _first(before) or failure


def _innermost(signs, failure):
    """The last `Caused by:` of an exception of the JVM, which stands behind it; else the sign."""
    if failure is None or failure["trace"] or failure["id"] not in ("java", "exception"):
        return failure
    causes = [one for one in signs if one["id"] == "caused-by" and 0 < one["line"] - failure["line"] < STACK_LINES]
    return dict(causes[-1], role=failure["role"]) if causes else failure


def _second_hand(failure):
    """Whether a sign quotes another's words, waited for one that had failed, or only ends: a line of failure before it is nearer the root."""
    text = failure["text"]
    return bool(
        failure["inside"]
        or failure["id"] in SECOND_HAND
        or failure["role"] == "cascade"
        or failure["kind"] in OF_OTHERS
        or (failure["kind"] == "segfault" and ABORTED.search(text))
        or _waited(failure)
    )


def _waited(failure):
    """Whether an exception tells of something that was not there, or did not come: another may have said why."""
    if failure["kind"] in SHARP:
        return False
    return (failure["trace"] or failure["id"].startswith("exc-")) and EFFECT.search(failure["text"]) is not None


def _ended_thread(sign, failure):
    """Whether a sign is the end of a thread of the same process, on which a later one may have waited."""
    return sign["thread"] and not sign["contained"] and sign["end"] < failure["line"]


def _said_until(story, signs, last, end):
    """The lines up to one that were said for the first time in this run, or among the last words; none that only passes on a failure."""
    told = {sign["line"] for sign in signs if sign["role"] in ("messenger", "cascade") or ABORTED.search(sign["text"])}
    lines = {number: story.undress(number, raw) for number, raw in story.heard if number >= story.run_start}
    lines.update((line.number, line) for line in end.lines)
    return [
        lines[number]
        for number in sorted(lines)
        if number <= last and number not in told and lines[number].text.strip()
    ]


def _said_first(signs, failure):
    """The first line of level ERROR that says word for word what a program repeats in its last breath (Go's `panic: …`)."""
    if failure is None or failure["trace"] or failure["role"] not in ("fatal", "root", "bare") or failure["level"]:
        return failure
    words = failure["text"].strip().partition(": ")[2][:80]
    same = [one for one in signs if one["level"] >= 40 and one["line"] < failure["line"] and words in one["text"]]
    return same[0] if len(words) > REPEATS and same else failure


def _first_copy(story, signs, failure):
    """The first that told the very same, where nothing moved since: what was logged where it was caught, and is raised again."""
    if failure is None or not failure["trace"]:
        return failure
    same = [sign for sign in signs if sign["id"] == failure["id"] and sign["text"] == failure["text"] and sign["trace"]]
    return next((sign for sign in same if not _moved(story, sign["end"], 1)), failure)


def _words_of(line):
    """A sentence in a job's own words, as a sign."""
    return sign_of(line, "last-words", "weak", kind_of_exception(line.text.strip())[0])


def _last_said(story, end):
    """The last sentence that tells something and is no copy: of a job that just ends, it is as near to a cause as one gets."""
    for line in reversed(end.lines):
        text = line.text.strip()
        if named(text) and not ANNOUNCED.match(text):
            return {"line": line.number if story.counted else None, "excerpt": line.raw.strip()[:400]}
    return None


def _nan(story):
    return _nan_loss(story) or _nan_figures(story)


def _nan_figures(story):
    """Figures of a sentence in its own words that were numbers, and are nan in each copy since."""
    first = story.lost.at_end(story.tail)
    if first is None:
        return None
    number, raw = first
    line = Line(number, raw, raw, None, None, None, 0, ())
    what = "figures that were numbers are nan since: " + raw.strip()[:200]
    return sign_of(line, "figures", "fatal", "nan_loss", what=what)


def _nan_loss(story):
    state, since = story.figures.losses, story.figures.grads["since"]
    enough = 2 if state["bad_grad"] or "vanished" not in state["kind"] else 5
    lost = story.figures.lost()
    if state["bad_since"] and state["bad"] >= enough:
        told, times = min(state["bad_since"], since or state["bad_since"], key=lambda row: row[0]), state["bad"]
        words = "%s in the last %d losses logged" % (state["kind"], times)
    elif lost is not None:
        told, words = lost[0], "the gradient norm is nan in the last %d steps logged" % lost[1]
    else:
        return None
    number, raw, rank = told
    return sign_of(Line(number, raw, raw, rank, None, None, 0, ()), "loss", "fatal", "nan_loss", what=words)


def _shown(story, sign):
    if sign is None:
        return None
    rank, pid = sign["rank"], sign["pid"]
    if rank is None and story.elastic.get("rank") is not None:
        rank, pid = story.elastic["rank"], pid or story.elastic.get("pid")
    elif rank is not None and story.elastic.get("rank") == rank:
        pid = pid or story.elastic.get("pid")
    return {
        "kind": sign["kind"],
        "line": sign["line"] if story.counted else None,
        "excerpt": sign["text"].strip()[:400],
        "rank": rank,
        "pid": pid,
        "hint": sign["hint"] or tables.HINTS[sign["kind"]],
        "pattern": sign["id"],
        "role": sign["role"],
        "frame": sign["frame"],
        "headline": sign["head"],
        "what": sign.get("what", ""),
        "contained": bool(sign.get("contained")),
    }


# Progress.


def _progress(story):
    work = [event for event in story.progress if not event[6]]
    last, first = (story.progress[-1] if story.progress else None), (work[0] if work else None)
    if last is None:
        return {"count": 0, "work": 0}
    lead = work[-1] if work else last
    values = [event for event in story.progress if event[1] == lead[1] and event[4] == lead[4]]
    stamps = [clock.stamp(event[7]) for event in values[-12:]]
    gaps = [clock.between(one, two) for one, two in zip(stamps, stamps[1:])]
    gaps = sorted(gap for gap in gaps if gap is not None and gap >= 0)
    now = _times(story)["last"]
    # Time by the log's own clock since anything moved: lines that came later are heartbeats.
    quiet = clock.between(clock.stamp(lead[7] if work else last[7]), tuple(now)) if now else None
    moved = _moved_last(values)
    steady = clock.between(clock.stamp(moved[7]), tuple(now)) if now else clock.bar(values[-1][7]) - clock.bar(moved[7])
    return {
        "count": story.progress.total,
        "work": len(work),
        "line": last[0],
        "first_line": first[0] if first else last[0],
        "counter": lead[1],
        "role": lead[2],
        "value": lead[3],
        "of": lead[4],
        "complete": _whole(story, work),
        "excerpt": lead[7].strip()[:160],
        "cadence": gaps[len(gaps) // 2] if gaps else None,
        "quiet": max(0.0, quiet) if quiet is not None else None,
        "still": max(0.0, steady) if steady is not None else None,
    }


def _whole(story, work):
    """Whether a counter reached its whole at the end. One that has begun again since an earlier whole (epochs) says nothing."""
    for event in work[-LAST_COUNTS:]:
        line, name, role, value, whole = event[:5]
        if whole is None or value != whole or whole <= 1 or role == "bar" or nested(story, event):
            continue
        if name == "percent" and line < story.last - 2:
            continue
        same = [event for event in work if event[1] == name and event[4] == whole]
        again = any(one[3] == whole and two[3] < whole for one, two in zip(same, same[1:]))
        again = again or _unmoved(story, same) or _begun(same)
        if not again and same[-1][3] == whole and line >= story.last - 40:
            return True
    return False


def _unmoved(story, same):
    """Whether a counter says the same again and again: a level that is full, and no work that was done."""
    last = [story.undress(0, event[7].encode("utf-8", "replace")).text for event in same[-3:]]
    return len(last) == 3 and len(set(last)) == 1


def _begun(same):
    """Whether each part was told of in two forms, as `stage 4/5 tokenize` and `stage 4/5 ok`, and the last in one."""
    forms = {}
    for event in same:
        forms.setdefault(event[3], set()).add(_form(event))
    *before, last = list(forms.values())
    return len(before) > 1 and all(len(one) > 1 for one in before) and len(last) < min(len(one) for one in before)


def _form(event):
    """The words behind a counter, by which the lines of one part differ."""
    return folded(re.sub(r"[^\W\d_]\w{8,}", "", event[7]))


def _moved_last(values):
    """The event at which a counter last changed."""
    last = values[0]
    for event in values[1:]:
        if event[3] is None or (event[5], event[3]) != (last[5], last[3]):
            last = event
    return last


def _training(story):
    facts = dict(story.figures.training)
    if story.figures.losses["bad"]:
        facts["bad_losses"] = story.figures.losses["bad"]
    return facts


def _retry(story, ready):
    """The endless waiting at the end of the log, if that is what it is: no counter moves any more, one sentence repeats."""
    last = _last_move(story)
    forms = [form for form in story.retry_forms.values() if form[4] > last and form[1] >= 3]
    forms = [form for form in forms if FAILING.search(form[2]) or not IDLE.search(form[2])]
    if not forms:
        return _standing(story, ready)
    first, count, excerpt, stamp_first, _end, stamp_last = max(forms, key=lambda form: form[1])
    seconds = clock.between(clock.stamp(stamp_first), clock.stamp(stamp_last))
    spent = clock.own(stamp_last) - clock.own(stamp_first)
    seconds = spent if seconds is None and spent > 0 else seconds
    steps = [clock.stamp(event[7]) for event in list(story.progress)[-12:] if not event[6]]
    gaps = [clock.between(one, two) or 0.0 for one, two in zip(steps, steps[1:])]
    patience = max([RETRY_SECONDS if FAILING.search(excerpt) else WAIT_SECONDS, *(5 * gap for gap in gaps)])
    return {
        "line": first,
        "count": count,
        "excerpt": excerpt.strip()[:300],
        "failing": bool(FAILING.search(excerpt)),
        "seconds": seconds,
        "endless": seconds >= patience if seconds is not None else count >= RETRY_COUNT,
    }


STANDING = 0.9
"""How much of the last lines must be one sentence, with the same figures each time, for it to be all that is said."""

STANDING_LINES = 200
CYCLE = 4
"""Sentences that may take turns in saying the same."""

IDLE_LINES = 5
BLOCKED = re.compile(tables.BLOCKED)


def _standing(story, ready):
    """A sentence, or a few in turn, that have been all for long, no figure changing but for clocks; as `_retry`.

    A worker that has nothing to do may say so, and a server that is up wait in silence, unless the words are of a failure
    or of something that is stuck, or requests were in flight.
    """
    tail = [key_of(raw).decode("latin-1") for raw in story.tail if raw.strip()]
    cycle = {key for key in tail if tail.count(key) >= 3}
    if len(cycle) > CYCLE or sum(tail.count(key) for key in cycle) < max(20, STANDING * len(tail)):
        return None
    runs = [run for run in (_copies(story, key) for key in sorted(cycle)) if run is not None]
    failing = any(FAILING.search(run["raw"]) for run in runs)
    up = ready is not None or story.wanted_ready
    held = any(story.figures.working.values()) or any(BLOCKED.search(run["raw"]) for run in runs)
    if not failing and ((up and not held) or any(IDLE.search(_text(raw)) for raw in story.tail)):
        return None
    moved = _last_move(story)
    timed = [(_lasted(run), run) for run in runs if run["line"] >= moved]
    if not timed:
        return None
    seconds, run = max(timed, key=lambda pair: (pair[0], -pair[1]["line"]))
    if seconds > 0:
        enough = seconds >= (RETRY_SECONDS if failing else WAIT_SECONDS)
    else:
        enough = run["count"] >= (STANDING_LINES // 2 if failing else STANDING_LINES)
    return {
        "line": run["line"], "count": run["count"], "excerpt": run["since"].strip()[:300], "failing": failing,
        "seconds": seconds if seconds > 0 else None, "endless": enough,
    }  # fmt: skip


def _lasted(run):
    """Seconds from the first copy of a sentence to the last, by the log's clock or by the sentence's own; 0 without either."""
    seconds = clock.between(clock.stamp(run["since"]), clock.stamp(run["raw"]))
    return clock.own(run["raw"]) - clock.own(run["since"]) if seconds is None else seconds


def _copies(story, key):
    """The copies of a sentence since a figure of it last changed: its first line, their number, the first's and last's text."""
    one = story.sentences.get(key)
    if one is not None:
        return {"line": one.changed, "count": one.last - one.changed + 1, "since": one.since, "raw": one.raw}
    events = [event for event in story.progress if key_of(event[7].encode("utf-8", "replace")).decode("latin-1") == key]
    same = []
    for event in reversed(events):
        if event[1:6] != events[-1][1:6]:
            break
        same.append(event)
    if not same or same[0][3] is None:
        return None
    return {"line": same[-1][0], "count": same[0][0] - same[-1][0] + 1, "since": same[-1][7], "raw": same[0][7]}


def _last_move(story):
    """The line of the last event at which a counter was not where it had been."""
    reached, line = {}, 0
    for event in story.progress:
        key, place = (event[1], event[4]), (event[5], event[3])
        if event[3] is None or reached.get(key) != place:
            line = event[0]
        reached[key] = place
    return line


def _idle(story):
    """Whether a worker's last lines say that it has nothing to do, and nothing else."""
    last = [_text(raw) for raw in story.tail if raw.strip()][-IDLE_LINES:]
    if left(story, story.last + 1):
        return False  # its counter waits for somebody
    return len(last) == IDLE_LINES and all(IDLE.search(text) and not FAILING.search(text) for text in last)


def _phase(story):
    """What the log was about at its end: the stuck_* kind for silence there."""
    for raw in reversed(story.tail[-12:]):
        text = _text(raw)
        for name, _, pattern, _, _ in PHASES:
            if pattern.search(text):
                return name
    return ""
