# ruff: noqa: E501
"""Where a job stands by its own markers: a server that is up, an end that is the end, an order to stop."""

import re

from verikit.probes.logs import tables
from verikit.probes.logs.complaints import LOOKED_AT, THROWN, excused, handled
from verikit.probes.logs.ending import BYE, CLOSING, EARLY, LEAVING, PREPARED, folded, left, more_to_come
from verikit.probes.logs.motion import moved
from verikit.probes.logs.roots import spoken
from verikit.probes.logs.rows import BEGINS_AGAIN
from verikit.probes.logs.tracebacks import CAUSES

STOP_LINES, NEAR = 400, 5
OF_THE_LAST, LAST_LINES = ("status-ok", "own-done", "exit-zero", "pbs-exit"), 6
"""Ends in words that are said of any part as well: only where hardly anything stands behind them."""

SAY_LESS = (*tables.TIDYING, "exit-zero", "slurm-done")
"""Ends of the script around a program: the program's own, just before, tells more."""

RELOAD_LINES = 8
"""How far behind the word of a reload the server's words of stopping may stand."""
DRAINED = 20
SENTENCES = 10

END_LINES = 60
"""Lines that may follow the marker of an end: summaries, warnings of libraries being torn down."""

UNIT, SPEAKER = (
    re.compile(r"([\w@.-]+)\.service\b"),
    re.compile(r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)? \S+ ([\w@.-]+)\[\d+\]: "),
)
LOST, CUT_OFF = re.compile(tables.LOST), re.compile(r"BrokenPipe|ConnectionReset|EOFError|Bad file descriptor")
NOUGHT = re.compile(r"\b(?:status|code|rc|exit)[ =:]+0(?:\W*$|, )")
DETAIL = re.compile(r"[ \t]*[-+~*#] |[ \t]")


def done_of(story, end):
    """The last marker of an end, whether it stands at the end, and whether it may be that of a preparation; None without one."""
    done = last_marker(story, "done")
    if done is None:
        return None
    ends = _stands_at_end(story, done) and not _belied(story, done, end)
    return dict(done, ends=ends, prepared=_prepared(story, done))


def same_unit(one, two):
    """Whether two lines are not of two different units of systemd, as far as they name them."""
    first, second = UNIT.search(one), UNIT.search(two) or SPEAKER.search(two)
    if first is None or second is None:
        return True
    return first.group(1)[:8] == second.group(1)[:8]


def ready_of(story, forced):
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


def trains(story, ready):
    """Whether work went on behind a server's marker: it is a part of another job then (a tracker, a database, an engine of rollouts)."""
    if ready is None:
        return False
    if _beside(story, ready):
        return True
    behind = [event for event in story.progress if event[0] > ready["line"] and not event[6]]
    steps = {event[1:6] for event in behind if event[2] == "step"}
    parts = {event[1:6] for event in behind if event[2] in ("item", "bar") and event[4] is not None}
    return len(steps) >= 3 or (
        ready["marker"] in ("own-ready", "event-ready", "address-ready", "grpc-ready") and len(parts) >= 3
    )


def _beside(story, ready):
    """Whether a service beside the job is what is up: other sources count behind its line, or it is one that others work with."""
    source = story.undress(0, ready["excerpt"].encode()).source
    up = {story.undress(0, row[4].encode()).source for row in story.markers if row[1] == "ready"}
    behind = [event for event in story.progress if event[0] > ready["line"] and event[2] != "serve"]
    if source is not None:
        others = {story.undress(0, event[7].encode()).source for event in behind} - up - {None}
        return bool(others)
    return ready["marker"] in tables.SIDECARS and len({event[1:6] for event in behind if not event[6]}) >= 3


def last_marker(story, wanted):
    found = [
        {"line": number, "marker": name, "excerpt": raw[:200]}
        for number, role, name, _program, raw in reversed(story.markers)
        if role == wanted and not (name in tables.TOOL_ENDS and _others_speak(story, number, raw))
        and (name != "unit-done" or all(same_unit(raw, sign["text"]) for sign in story.signs))
    ]  # fmt: skip
    plain = [one for one in found if one["marker"] not in SAY_LESS and found[0]["line"] - one["line"] <= END_LINES]
    return next(iter(plain or found), None)  # what only tidies up says less than the end before it


def _others_speak(story, number, raw):
    """Whether behind the end of a tool somebody else speaks, who takes no leave."""
    tool = _first_word(story.undress(0, raw.encode()).text)
    behind = story.tail[number - story.last :] if number < story.last else []
    texts = [story.undress(0, one).text for one in behind]
    others = [text.strip() for text in texts if text.strip() and not DETAIL.match(text) and _first_word(text) != tool]
    return story.last - number > END_LINES or any(not (CLOSING.match(text) or LEAVING.match(text)) for text in others)


def _first_word(text):
    return folded(text.strip().split(" ", 1)[0])


def _stands_at_end(story, done):
    """Whether a marker of the end stands at the end: hardly anything was counted behind it, and nothing begun."""
    if done is None or moved(story, done["line"], 3) or story.last - done["line"] > END_LINES:
        return False
    if done["marker"] in OF_THE_LAST and (moved(story, done["line"], 1) or story.last - done["line"] > LAST_LINES):
        return False
    begun = [event for event in story.progress if event[6] or (event[2] == "bar" and event[3] == 0)]
    if any(event[0] > done["line"] for event in begun):
        return False
    if (
        done["marker"] == "generic-done"
        and left(story, done["line"], paces=1)
        and not EARLY.match(_done_text(story, done))
    ):
        return False
    if _said_before(story, done) or _goes_on(story, done["line"]) or (_prepared(story, done) and more_to_come(story)):
        return False
    behind = story.tail[-(story.last - done["line"]) :] if story.last > done["line"] else []
    return not any(BEGINS_AGAIN.match(story.undress(0, raw).text) for raw in behind)


def _done_text(story, done):
    return story.undress(0, done["excerpt"].encode()).text.strip()


def _belied(story, done, end):
    """Whether the last words speak of a failure, and a marker only takes leave, or what was made is lost behind it."""
    near = [row[4] for row in story.markers if row[1] == "done" and 0 <= done["line"] - row[0] <= SENTENCES]
    proved = any(NOUGHT.search(story.undress(0, raw.encode()).text.strip()) for raw in near)
    leave = BYE.match(_done_text(story, done)) and not proved
    leave = leave or done["marker"] in tables.TIDYING
    lived_with = {sign["line"] for sign in story.signs if sign["contained"]}
    behind = [line for line in spoken(story.signs, end.lines) if line.number > done["line"]]
    told = [(line.text[:LOOKED_AT], line.level) for line in behind if line.number not in lived_with]
    lost = any(
        LOST.search(text) or (not level and THROWN.search(text) and not CUT_OFF.search(text)) for text, level in told
    )
    fatal = any(level >= 50 and not (excused(text) or handled(text)) for text, level in told)
    return lost or fatal or bool(end.failed and leave)


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


def ordered_stop(story, signs, ready):
    """The first ordered stop that no real failure went before and no service or work came behind."""
    reloads = [row[0] for row in story.markers if row[2] == "uvicorn-reload"]
    for number in story.stops:
        if any(0 <= number - line <= RELOAD_LINES for line in reloads):
            continue  # it stops to begin anew
        earlier = [
            sign for sign in signs
            if sign["line"] < number and not sign["contained"] and not moved(story, sign["end"], 1)
            and (sign["role"] in CAUSES or sign["level"] >= 50 or (sign["level"] >= 40 and number - sign["line"] <= NEAR))
        ]  # fmt: skip
        again = (ready is not None and ready["line"] > number) or moved(story, number, _drain(story, number))
        again = again or any(row[1] == "restarted" and row[0] > number for row in story.markers)
        if not earlier and not again and story.last - number <= STOP_LINES:
            return number
    return None


def _drain(story, number):
    """How much work behind an ordered stop says that it was none: a server or a queue's worker ends what it has begun."""
    served = all(event[2] == "serve" for event in story.progress if event[0] > number)
    return DRAINED if served else 3
