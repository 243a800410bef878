# ruff: noqa: E501
"""Which of the signs of a failure is its root: causes before effects, the first before its copies, and what the job itself says.

A sign that only passes a failure on (a launcher's, a peer's, an exit status) is followed back: to the cause that had been
lived with, to the thread that had ended, to the sentence in the job's own words before it.
"""

import re

from verikit.probes.logs import tables
from verikit.probes.logs.complaints import (
    LOOKED_AT,
    PLAIN,
    TOOL,
    excused,
    kind_of_words,
    named,
    plainness,
    root_of,
    vague,
)
from verikit.probes.logs.ending import ANNOUNCED, folded, last_counted
from verikit.probes.logs.motion import moved
from verikit.probes.logs.tracebacks import CAUSES, EFFECTS, ROLES, by_exit, kind_of_exception, sign_of

NO_CAUSE = re.compile(tables.NO_CAUSE)

EXITED = (
    "exit-code",
    "elastic",
    "container-status",
    "rsync-end",
    "make-stop",
    "cargo-failed",
    "build-failure",
    "other-exit",
    "status-failed",
    "launcher-kills",
    "docker-port",
)
"""Signs that tell of an exit status: no "finished" of the script around heals them."""

PATHS = re.compile(r"(?:[\w.-]*/)+[\w.-]+\.(?!go\b|cc\b|py\b|rs\b)\w+")
BUILT = re.compile(r"Error (?:building|compiling objects)|Failed (?:to build|building)|failed-wheel-build")

BEHIND = (
    ("nccl-warn", lambda sign: sign["kind"] == "nccl_system"),
    ("compile", lambda sign: sign["id"] in ("build-stop", "make-stop") or BUILT.search(sign["text"])),
    ("snakemake-rule", lambda sign: sign["id"] == "snakemake-end"),
    ("assert-device", lambda sign: "device-side assert" in sign["text"]),
)
"""The sign that is the cause of another: its id, and whether a sign is such another."""

SIGNALS = ("killed", "segfault", "bus_error_shm")
TERMINATED = re.compile(r": line \d+: +\d+ Terminated\b")
ABORTED, EFFECT = re.compile(tables.ABORTED), re.compile(tables.EFFECT)

WENT_ON = 8
"""Ordinary sentences, new to the run, behind a complaint that nobody died of, from which it was lived with."""

SMALL_PROGRAM = re.compile(r"(?:: |^)(?:%s): (?:command )?not found" % tables.SMALL_PROGRAMS)
CLOSES = re.compile(
    r"%s|%s|[\W_]{0,12}(?:[\w./-]+:? ){0,3}(?:%s)(?:ing|ed)?\b" % (tables.CLOSING, tables.PRODUCT, tables.LEAVING)
)
DELIVERS = re.compile(r"(?:cp|mv|scp|rsync): ")

OF_OTHERS = ("connection_refused", "rendezvous", "nccl_timeout", "nccl_system")
"""Kinds that tell of another who was not there: it may have said before why not."""

SHARP = (
    "auth",
    "no_space",
    "quota",
    "permission_denied",
    "cuda_oom",
    "host_oom",
    "import_error",
    "address_in_use",
    "checkpoint_mismatch",
)
"""Kinds that are causes, whatever they were met in."""

SECOND_HAND = ("watchdog", "trtllm-assert", "mpi-start", "triton-model")
"""Signs that sum up what a line before them said of its cause."""

QUOTING = ("pip-end",)
"""Messengers behind which what they pass on is quoted, up to the last of them."""

STACK_LINES, REPEATS = 400, 12

EXHAUSTED = re.compile(
    r"(?i)\b(?:giving|gave) up\b|\b(?:retries|attempts|tries|retry (?:budget|limit)) (?:were |was |are )?(?:exhausted|exceeded|used up)|\b(?:after|all) \d+ (?:attempts|tries|retries)\b|\bmax(?:imum)? (?:number of )?retries\b|\b(?:on|in) (?:every|each) (?:attempt|try)\b|\b\d+ (?:re-?starts|attempts|retries|tries) (?:and|without|in a row)\b|\btoo many (?:re-?starts|attempts|retries)\b"
)
"""What a program says that has tried often enough: what it met each time stands before."""

QUOTED = re.compile(
    r"\b(?:[Ll]ast (?:words|line)|[Ss]aid|[Ss]ays|stderr|[Rr]eason|[Bb]ecause|[Cc]ause)\W{1,3}[\"'“][^\"'“”\n]{12,400}[\"'”]"
)
"""The words of a child, told with its end: they are the cause."""

TRIED_LINES = 3
"""How far above the word that no more is tried the last try may stand."""

AGAIN_AND_AGAIN = 3
"""Copies of a complaint of whatever level that a last word sums up."""

TOLD = ("messenger", "weak")
"""Signs that only pass on that something failed, or are known by their level alone: what was said before may tell more."""


def root(story, signs, counting, cured, end):
    """The sign that is the root of a failure, of those that count; None where none does.

    cured: says of a sign whether work went on behind it.
    """
    failure = _accused(story, counting) or _first(counting)
    failure = _behind(signs, failure, cured)
    failure = _said_first(signs, _innermost(signs, _in_own_words(story, signs, failure, end)))
    return _lived_with(story, signs, _first_copy(story, signs, failure))


def _first(signs):
    """The cause among the signs that count: best role, then first line; of the last episode."""
    if not signs:
        return None
    built = any(sign["id"] in ("build-stop", "make-stop") or BUILT.search(sign["text"]) for sign in signs)
    echoed = min((sign["line"] for sign in signs if sign["role"] in ("cascade", "messenger")), default=None)

    # Where a node was lost or a rank died of its own, what its peers noticed is the effect, in whatever order they say it.
    died = any(sign["kind"] == "node_failure" or _own_death(sign) for sign in signs)

    def rank(sign):
        if died and sign["kind"] in OF_OTHERS and not _own_death(sign):
            return ROLES["cascade"], sign["line"]
        late = sign["role"] == "unclear" and echoed is not None and echoed < sign["line"]
        # A bare order to end that comes behind others' failures is their effect; a script may do without its small tools.
        small = sign["role"] in CAUSES and can_do_without(sign)
        small = small or (sign["id"] == "compile" and not built)
        if sign["id"] == "launcher-kills":
            return ROLES["weak"], sign["line"]  # why, the launcher says behind it
        small = small or (sign["id"] == "exc-host-oom" and sign["text"].rstrip().endswith("MemoryError:"))
        return ROLES["messenger"] if late else ROLES["unclear"] if small else ROLES.get(sign["role"], 4), sign["line"]

    return min(signs, key=rank)


def _own_death(sign):
    """Whether a rank, thread or program died of something that no peer brought about."""
    died = sign["uncaught"] or sign["main"] or sign["thread"]
    return died and not sign["contained"] and sign["role"] in CAUSES and sign["kind"] not in OF_OTHERS


def went_on(story, number):
    """Whether behind a line a program goes on to say what it does, in sentences that it had not said before."""
    if story.ordinary is None:
        heard = spoken(story.signs, [story.undress(place, raw) for place, raw in story.heard])
        heard = [line for line in heard if not line.text.startswith((" ", "\t"))]
        story.ordinary = [line.number for line in heard if _ordinary(line.text.strip()[:LOOKED_AT], line.level)]
    return sum(1 for place in story.ordinary if place > number) >= WENT_ON


def _ordinary(text, level):
    """Whether a sentence names something, complains of nothing, and neither takes leave nor tidies up."""
    return bool(named(text)) and not (vague(text) or plainness(text, level) or CLOSES.match(text))


def caught(sign):
    """Whether a traceback is of an exception that somebody caught: it begins in no program, thread or rank."""
    return (
        sign["trace"] and not (sign["main"] or sign["thread"] or sign["uncaught"]) and sign["role"] in ("root", "plain")
    )


def can_do_without(sign):
    """Whether a sign is of a small tool or program, that a script may go on without; what brings a file somewhere is none."""
    if sign["id"] == "not-found":
        return SMALL_PROGRAM.search(sign["text"].strip()) is not None
    tool = TOOL.match(sign["text"]) is not None and not DELIVERS.match(sign["text"])
    return sign["kind"] not in SHARP and tool


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


def suspect(story, signs, stop, done, end):
    """What would explain a death that the text alone does not call one."""
    if stop is not None:
        return None
    last = last_counted(story)
    near = [
        sign for sign in signs
        if (sign["role"] in ("fatal",) or sign["uncaught"] or sign["end"] >= last or not moved(story, sign["end"], 5))
        and not (done is not None and done["ends"] and done["line"] > sign["end"])
    ]  # fmt: skip
    # What was called contained and stands at the very end was not.
    hard = [
        sign for sign in near
        if sign["role"] not in ("soft", "weak") and (not sign["contained"] or sign["end"] >= story.last - 1)
    ]  # fmt: skip
    if hard:
        return _in_own_words(story, signs, _first(hard), end)
    told = root_of(spoken(signs, end.lines))
    ended = [sign for sign in signs if sign["main"] and not sign["contained"] and sign["role"] in CAUSES]
    # What had been buffered came behind the traceback of a program that did not live.
    first = _loudest(near) or (ended[-1] if ended and told is None else None)
    if first is not None and first["role"] == "weak":
        return _tried(story, signs, _in_own_words(story, signs, first, end))
    if told is None or (first is not None and (told[1] < PLAIN or vague(told[0].text.strip()))):
        return first
    return _words_of(told[0])


def _tried(story, signs, failure):
    """The first of the same complaints, tried again each time and with nothing done between, that a last word sums up."""
    if failure is None or failure["trace"] or not EXHAUSTED.search(failure["text"]):
        return failure
    before = [sign for sign in signs if sign["line"] < failure["line"] and not sign["trace"]]
    before = [sign for sign in before if not moved(story, sign["end"], 1, failure["line"])]
    tries = [form for form in story.retry_forms.values() if form[1] >= AGAIN_AND_AGAIN]
    tries = [form for form in tries if 0 < failure["line"] - form[4] <= TRIED_LINES]
    if tries:
        return _words_of(story.undress(tries[0][0], tries[0][2].encode("utf-8", "replace")))
    same = [sign for sign in before if folded(sign["text"]) == folded(before[-1]["text"])]
    return same[0] if same and (same[0]["level"] >= 40 or len(same) >= AGAIN_AND_AGAIN) else failure


def _loudest(signs):
    """The cause among some signs, or where all are known by their level alone, the last of those that say that it was fatal."""
    plain = [sign for sign in signs if sign["role"] != "weak" or plainness(_said(sign), sign["level"])]
    signs = plain or signs  # what says that it is tried again is no cause
    first = _first(signs)
    fatal = [sign for sign in signs if sign["role"] == "weak" and sign["level"] >= 50]
    return fatal[-1] if fatal and first["role"] == "weak" else first


def _said(sign):
    return sign["text"].strip()[:LOOKED_AT]


def spoken(signs, lines):
    """The lines that stand in no traceback."""
    within = [(sign["first"], sign["end"]) for sign in signs if sign["trace"]]
    return [line for line in lines if not any(first <= line.number <= last for first, last in within)]


def _in_own_words(story, signs, failure, end):
    """The sentence before a sign that only passes on a failure, in which the job itself says what failed; else the sign."""
    if failure is None or not _passes_on(failure):
        return failure
    if failure["kind"] == "nccl_timeout" and any(_died(sign) for sign in signs):
        return _first([sign for sign in signs if _died(sign)])  # what a rank's buffer held comes late
    if _waited(failure) and any(_ended_thread(sign, failure) for sign in signs):
        return next(sign for sign in reversed(signs) if _ended_thread(sign, failure))
    held = _held(story, signs, failure)
    if held:
        others = [sign for sign in signs if not sign["contained"]]  # what was held back is asked for once
        return _in_own_words(story, others, dict(_first(held), contained=False), end)
    endured = _endured(story, signs, failure)
    if (failure["role"] == "messenger" or failure["kind"] == "nccl_timeout") and endured:
        return _first(endured)
    if failure["trace"] and failure["text"].rstrip().endswith(":"):
        return failure  # its message stands behind it
    told = root_of(_of_the_same(failure, _before(story, signs, failure, end)))
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
    if QUOTED.search(failure["text"]):
        return False
    if failure["kind"] == "killed" and TERMINATED.search(failure["text"]):
        return True  # a script that ends what it has started says why
    return failure["role"] in TOLD or _second_hand(failure)


def _endured(story, signs, failure):
    """The causes that had been lived through before, and once too often: hardly anything moved between them and the end."""
    before = [
        sign for sign in signs
        if (sign["role"] in CAUSES or sign["mild"]) and not sign["contained"] and sign["line"] < failure["line"]
    ]  # fmt: skip
    before = [sign for sign in before if not moved(story, sign["end"], 3, failure["line"])]
    return [sign for sign in before if not sign["mild"]] or before


def _held(story, signs, failure):
    """The causes that were called contained and were not: behind them came only an effect and the end."""
    if failure["role"] not in EFFECTS and not ABORTED.search(failure["text"]):
        return []
    contained = [sign for sign in signs if sign["contained"] and sign["trace"] and sign["role"] in CAUSES]
    return [sign for sign in contained if not moved(story, sign["end"], 1)]


def _before(story, signs, failure, end):
    """What was said before a sign and not outlived by work: by its own container where it is one's end, else by all."""
    last = failure["line"] - (failure["role"] == "messenger")
    if failure["id"] in QUOTING:
        last = max(sign["line"] for sign in signs if sign["id"] == failure["id"]) - 1
    said = spoken(signs, _said_until(story, signs, last, end))
    before = [line for line in said if not moved(story, line.number, 1, failure["line"])]
    before = [line for line in before if not (failure["trace"] and _announces(line, failure))]
    same = [line for line in before if line.source and line.source in failure["text"]]
    return before if failure["trace"] else same or before


def _of_the_same(failure, lines):
    """The lines that name a path that a fatal sentence names as well; where it names none all but what was tried again."""
    if failure["level"] < 50:
        return lines
    paths = set(PATHS.findall(failure["text"][:LOOKED_AT]))
    lines = [line for line in lines if not excused(line.text[:LOOKED_AT])]
    return [line for line in lines if paths & set(PATHS.findall(line.text[:LOOKED_AT]))] if paths else lines


def _announces(line, failure):
    """Whether a line only says that an exception came, whose traceback is right behind it."""
    return line.number == failure["first"] - 1 and vague(line.text.strip())


def _lived_with(story, signs, failure):
    """The exception that was called contained, where the abort behind it has no cause of its own and nothing moved between them; else the sign."""
    if failure is None or failure["kind"] != "python_exception" or not NO_CAUSE.search(failure["text"]):
        return failure
    before = [
        sign for sign in signs
        if sign["contained"] and sign["role"] in CAUSES and sign["end"] < failure["line"] and not moved(story, sign["end"], 1)
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
        (failure["inside"] and failure["kind"] not in SHARP)
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


def _died(sign):
    """Whether a sign is the end of a thread by a cause."""
    return sign["thread"] and not sign["contained"] and sign["role"] in CAUSES


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
    before = [one for one in signs if one["level"] >= 40 and one["line"] < failure["line"]]
    for words in (failure["text"].strip().partition(": ")[2][:80], failure["text"].strip().rpartition(": ")[2][:80]):
        same = [one for one in before if words in one["text"]]
        if len(words) > REPEATS and same:
            return same[0]
    return failure


def _first_copy(story, signs, failure):
    """The first that told the very same, where nothing moved since: what was logged where it was caught, and is raised again."""
    if failure is None or not failure["trace"]:
        return failure
    same = [sign for sign in signs if sign["id"] == failure["id"] and sign["text"] == failure["text"] and sign["trace"]]
    same = [sign for sign in same if sign["line"] <= failure["line"]]
    return next((sign for sign in same if not moved(story, sign["end"], 1)), failure)


def _words_of(line):
    """A sentence in a job's own words, as a sign."""
    text = line.text.strip()[:LOOKED_AT]
    kind = kind_of_exception(text)[0]
    if kind != "python_exception":
        return sign_of(line, "last-words", "weak", kind)
    kind = kind_of_words(text)
    hint = "the job says it in its own words: read the lines around it" if kind == "python_exception" else ""
    return sign_of(line, "last-words", "weak", kind, hint=hint)


def last_said(story, end):
    """The last sentence that tells something and is no copy: of a job that just ends, it is as near to a cause as one gets."""
    for line in reversed(end.lines):
        text = line.text.strip()
        if named(text) and not ANNOUNCED.match(text):
            return {"line": line.number if story.counted else None, "excerpt": line.raw.strip()[:400]}
    return None
