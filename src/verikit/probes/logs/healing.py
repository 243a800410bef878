# ruff: noqa: E501
"""What a job has got over: which of its signs of failure still count, and which something behind them heals.

Work that goes on, a server that is up, a supervisor that starts anew what had died: each heals what it can speak for, and
no more.  A tool's end heals no crash, another program's counters none of this one's, and what dies again and again is up
at no time.
"""

import re

from verikit.probes.logs import tables
from verikit.probes.logs.complaints import TOOL
from verikit.probes.logs.ending import folded
from verikit.probes.logs.motion import lead, moved
from verikit.probes.logs.outcome import same_unit
from verikit.probes.logs.roots import EXITED, can_do_without, caught, went_on
from verikit.probes.logs.story import FALLS
from verikit.probes.logs.tracebacks import CAUSES, EFFECTS, STICKY, by_exit, sign_of

HEALS_FATAL = 20
"""Completed steps behind a death that only the other ranks can have made, before it counts as healed (by a restart)."""

HEALS_RESUMED = 3
"""The same where the log says that the job was resumed."""

HEALS_MAIN = 2
"""Such steps behind a traceback that seems to have ended a program: the number of the next part of a script is one."""

HEALS_BEGUN = 5
"""Such steps behind a launcher's word that all ranks begin again."""

ORDERED = re.compile(r"\b(?:Terminated|signal (?:15|2)|SIGTERM|SIGINT)\b")
DIED = re.compile(
    r"\b(?:[Dd]ied|[Kk]illed|[Cc]rash\w*|[Ee]xited|exit (?:code|status)|[Ss]ignal|SIG(?:KILL|SEGV|ABRT)|[Tt]erminated unexpectedly)\b"
)
AGAIN = {"replaced": 5, "restarted": 4}
"""How often a child must have been replaced, or a service started anew, behind a death each time, to be in a crash loop."""

SUPERVISORS = ("supervisor-gone", "systemd", "systemd-start", "k8s")
"""Signs by which supervisors tell, at whatever level, that what they run has ended by a failure."""

END_LINES = 60
SCHEDULED = ("time_limit", "preempted", "node_failure", "host_oom")

KEPT_BACK = ("no_space", "quota", "permission_denied", "auth")
"""Kinds that keep a job from bringing out what it made, at whatever time they come."""

PUT_BACK_LINES = 5

BUFFERED = 5
"""Counters of a rank behind its traceback that its output buffer alone would not hold."""

WHOLE_JOB = ("failing", "dagster-failure", "scheduler-memory", "lsf-exit")
"""Signs that nothing behind them heals: what the caller named, and what LSF reports above the output of the job."""

CONTAINER = re.compile(r"(\[pod/[^\]\n]{1,120}\]|[A-Za-z][\w.-]{0,60}(?= +\| ))")
"""The name of a container, or its pod, before a line."""

OF_TOOLS = ("rsync", "ssh", "curl", "scp", "wget", "aws", "git", "pip")
"""How the ids of signs begin that a tool of a script gives: the script's own last word tells whether they matter."""

TRAP_LINES = 15
"""Lines within which a bare "done" behind an uncaught crash is a shell's trap speaking, not the job."""


def counts(story, sign, ready, done, stop):
    """Whether a sign is a failure of this run, as far as its text tells."""
    if sign["role"] in ("soft", "weak") or sign["contained"]:
        return False
    if _every_part(story, sign):
        return True
    if _lived_without(story, sign):
        return False
    if sign["id"].startswith("slurm-") and sign["role"] == "root":
        again = any(row[1] == "resumed" and row[0] > sign["end"] for row in story.markers)
        return not moved(story, sign["end"], HEALS_RESUMED if again else HEALS_FATAL)
    if (sign["level"] >= 40 or sign["trace"]) and _survived(story, sign, ready):
        return False
    if stop is not None and sign["line"] >= stop and sign["kind"] not in SCHEDULED:
        return sign["main"] and sign["kind"] in KEPT_BACK  # what was to be saved is lost
    if resolved(story, sign, ready):
        return False
    if done is None:
        return True
    if sign["line"] < done["line"] and (sign["id"] == "child-code" or _put_back(story, sign)):
        return False  # a program that runs others may have lived with it
    if sign["line"] > done["line"]:
        if sign["thread"]:
            return sign["kind"] in KEPT_BACK  # else one that was left behind, while the program was torn down
        ended = sign["main"] and sign["role"] != "cascade"
        killed = sign["role"] == "unclear" and not ORDERED.search(sign["text"])
        return ended or killed or sign["role"] not in EFFECTS or sign["id"] in EXITED
    if done["marker"] == "last-words":
        return sign["trace"] or sign["level"] >= 40 or sign["role"] == "fatal" or not TOOL.match(sign["text"])
    return sign["uncaught"] or _trapped(sign, done) or _hard(story, sign, done) or _passed_on(story, sign, done)


def _every_part(story, sign):
    """Whether each part of a script ended by the very same exception: that the next one began, and was called done, heals none."""
    if not sign["trace"] or sign["contained"]:
        return False
    same = [one for one in story.signs if one["trace"] and one["id"] == sign["id"] and one["text"] == sign["text"]]
    wholes = [event[4] for event in story.progress if event[1] == "of" and event[4] is not None]
    return 3 <= max(wholes, default=0) <= len(same)


def _passed_on(story, sign, done):
    """Whether others of the program told that they fell with it, and the end is only that of what runs it (`exited with 0`)."""
    behind = [one for one in story.signs if sign["line"] <= one["line"] < done["line"] and one["level"] >= 40]
    return done["marker"] in tables.OF_SCRIPTS and any(one["role"] == "messenger" for one in behind)


def _lived_without(story, sign):
    """Whether a job goes on without what a small tool or another program's warning complained of."""
    warned = sign["role"] == "cascade" and 0 < sign["level"] < 40 and not sign["trace"]
    if not (warned or caught(sign) or (sign["role"] in CAUSES and can_do_without(sign))):
        return False
    return went_on(story, sign["end"]) and not any(_ends(one) for one in story.signs if one["line"] > sign["end"])


def _ends(sign):
    """Whether a sign tells that something ended by a failure."""
    told = sign["role"] in ("messenger", "cascade", "fatal") and not 0 < sign["level"] < 40
    told = told or sign["id"] in SUPERVISORS
    return told or sign["main"] or sign["uncaught"] or sign["level"] >= 50


def _hard(story, sign, done):
    """Whether a sign is of a program that ended by it: no end of the script around heals it, and none of a tool of it."""
    before = sign["main"] and not 0 < story.tests < sign["line"]  # a program that ended before the tests began
    proved = done["marker"] in tables.PROVES and (done["marker"] != "status-ok" or sign["id"].startswith(OF_TOOLS))
    if ORDERED.search(sign["text"]) or (proved and not before):
        return False
    if sign["id"] == "not-found" and not can_do_without(sign):
        return True
    if sign["role"] == "unclear":
        return done["marker"] in tables.OF_SCRIPTS
    ended = sign["main"] and sign["role"] in CAUSES
    return ended or sign["role"] == "fatal" or sign["id"] == "shell" or sign["id"] in EXITED


def _survived(story, sign, ready):
    """Whether the program has logged this very error before, and work went on behind it."""
    form = folded(sign["text"][:300])
    same = [
        one
        for one in story.signs
        if one["line"] < sign["line"] and one["id"] == sign["id"] and folded(one["text"][:300]) == form
    ]
    if sign["level"] >= 40:
        return any(one["level"] >= 40 and resolved(story, one, ready) for one in same)
    # A bare traceback may be the last of those that were caught: it has been lived through more than once.
    return sum(1 for one in same if one["trace"] and resolved(story, one, ready)) >= 2


def _trapped(sign, done):
    """Whether the end that follows a crash is only that of the script around it."""
    if done["marker"] in tables.TIDYING:
        return sign["role"] not in ("weak", "cascade")
    if sign["id"] in ("container-status", "make-stop", "cargo-failed"):
        return True  # the good end of another container, of another recipe or of other tests heals none
    if done["marker"] != "generic-done":
        return False
    near = sign["trace"] and not sign["level"] and done["line"] - sign["end"] <= TRAP_LINES
    return near or sign["id"] in EXITED


def resolved(story, sign, ready):
    """Whether work was completed behind the sign, or the server became ready."""
    if sign["id"] in WHOLE_JOB:
        return False
    if _replaced(story, sign, ready) or _restarted(story, sign) or met(story, sign):
        return True
    if ready is not None and ready["line"] > sign["end"] and _heals_by_being_up(story, sign, ready):
        return True
    if sign["uncaught"] and _counts_on(story, sign):
        return True
    if sign["role"] == "fatal" or sign["uncaught"] or sign["id"] in ("make-stop", "hydra-error"):
        begun = any(row[2] == "elastic-again" and row[0] > sign["end"] for row in story.markers)
        return moved(story, sign["end"], HEALS_BEGUN if begun else HEALS_FATAL)
    if sign["main"]:
        # Of a program among others: what counts on is hardly ever itself.
        among = set(story.undress(0, sign["text"].encode("utf-8", "replace")).dressed) & {"compose", "host", "pod"}
        enough = HEALS_FATAL if among else HEALS_MAIN
        if sign["frame"] and sign["frame"]["file"] in ("<string>", "<stdin>"):
            return moved(story, sign["end"], enough)  # a question that a script asks of an interpreter (`python -c`)
        own = lead(story, sign["first"])  # the parts of the script around it go on without it
        return moved(story, sign["end"], enough, known=True, name=own) or moved(story, sign["end"], HEALS_FATAL)
    # That a script counts the next of its parts says nothing of the program that was not there.
    enough = HEALS_RESUMED if sign["id"] == "not-found" and not can_do_without(sign) else 1
    return moved(story, sign["end"], enough, transfers=sign["role"] in ("weak", "messenger"))


def _heals_by_being_up(story, sign, ready):
    """Whether what is up is what the sign was of: the same container, and for a program that ended, a server that is known."""
    texts = sign["text"], ready["excerpt"]
    one, two = (CONTAINER.match(text) for text in texts)
    if one and two and sign["main"] and not sign["uncaught"]:
        return one.group(1) == two.group(1)  # its program had ended: it was started anew
    one, two = (story.undress(0, text.encode()).source for text in texts)
    if sign["uncaught"] and sign["rank"] is None:
        return False  # the process behind the door is gone
    known = ready["marker"] not in ("own-ready", "event-ready")
    healed = known or not (sign["main"] or sign["kind"] in STICKY)
    return (one is None or two is None or one == two) and healed


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


def met(story, sign):
    """Whether the ranks found each other behind a warning that they had not."""
    if sign["role"] != "cascade" or sign["level"] >= 40 or sign["kind"] not in ("rendezvous", "connection_refused"):
        return False
    return any(row[1] == "met" and row[0] > sign["end"] for row in story.markers)


def _restarted(story, sign):
    """Whether a supervisor has started anew what had died, and none has ended by a failure since."""
    since = [row for row in story.markers if row[1] == "restarted" and row[0] > sign["end"]]
    since = [row[0] for row in since if same_unit(row[4], sign["text"])]
    return bool(since) and not any(one["line"] > since[-1] and _ends(one) for one in story.signs)


def _counts_on(story, sign):
    """Whether the rank of a traceback itself counts on behind it: it caught what it printed. What a buffer held is not enough."""
    later = [event for event in story.progress if event[0] > sign["end"]]
    own = {event[1:6] for event in later if story.undress(0, event[7].encode()).rank == sign["rank"]}
    return sign["rank"] is not None and len(own) >= BUFFERED


def crash_loop(story):
    """A child, or what a supervisor runs, that died and was started anew again and again, with no work between."""
    deaths = [row for row in story.markers if row[1] in AGAIN and _of_a_death(story, row)]
    for role, enough in AGAIN.items():
        told = [row for row in deaths if row[1] == role][-enough:]
        if len(told) == enough and not _came_to_something(story, told):
            return _first_death(story, told)
    return None


def fallen(story):
    """What the runs before this one died of, each of the same and again, where this one has not come further."""
    if len(story.fell) < FALLS or any(event[2] != "said" and not event[6] for event in story.progress):
        return None
    words = "%s; so ended each of the last %d starts" % (story.fell[-1]["text"].strip()[:240], len(story.fell))
    return dict(story.fell[-1], what=words)


def _came_to_something(story, told):
    """Whether anything was done since the first of some restarts, or what was started last is up or long past."""
    worked = any(event[2] != "said" and event[0] > told[0][0] for event in story.progress)
    up = told[0][1] == "restarted" and any(row[1] == "ready" and row[0] > told[-1][0] for row in story.markers)
    return worked or up or story.last - told[-1][0] > END_LINES


def _first_death(story, told):
    """The sign of what a supervisor's service died of first; of a server's children, the first line that tells of one."""
    died = [sign for sign in story.signs if sign["role"] in CAUSES and sign["line"] < told[-1][0]]
    if told[0][1] == "restarted" and died:
        return died[0]
    first = story.undress(told[0][0], told[0][4].encode())
    words = f"a child died {len(told)} times and more, nothing was done between"
    return sign_of(first, "crash-loop", "fatal", by_exit(told[0][4], "retry_loop"), what=words)


def _of_a_death(story, row):
    """Whether a marker of a new child tells of the old one's death, or stands right behind one."""
    near = [sign for sign in story.signs if 0 <= row[0] - sign["end"] <= PUT_BACK_LINES]
    return DIED.search(row[4]) is not None or any(_ends(sign) or DIED.search(sign["text"]) for sign in near)
