# ruff: noqa: E501
"""What still moves in a log: counters, their pace, and the sentences that are all that is said where nothing does."""

import re

from verikit.probes.logs import clock, tables
from verikit.probes.logs.complaints import PLAIN, plainness
from verikit.probes.logs.ending import LAST_COUNTS, folded, left, nested
from verikit.probes.logs.envelopes import decode, plain
from verikit.probes.logs.rows import PHASES
from verikit.probes.logs.sentences import key_of

RETRY_SECONDS = 600.0
WAIT_SECONDS = 1200.0
RETRY_COUNT = 60
FAILING = re.compile(
    r"refused|[Ff]ail(?!(?:ed|ures?)?[ =:]*0\b)|rror(?!s?[ =:]*0\b)|timed? ?out|unreachable|[Rr]etr(?!\w*[ =:]*0\b)|unavailable|\b50[234]\b|[Ss]talled|[Ss]tuck|[Mm]issing|\bagain\b"
)
PART_BEGINS = re.compile(
    r"(?:\W{0,8}\[?|\W{0,4}\[(?:[Ss]tage|[Pp]hase|[Pp]art|[Tt]ask|[Jj]ob|[Rr]un) )\d+ ?/ ?\d+\]?:? +(?![^\n]{0,60}(?:\b(?:done|ok|OK)\b|✓|complete|written)|[^\n]{0,30}ed\b)[A-Za-z]"
)
IDLE = re.compile(tables.IDLE)

BEGUN_LINES = 5
"""How many lines may stand behind the header of a stage that has only begun."""

STANDING = 0.9
"""How much of the last lines must be one sentence, with the same figures each time, for it to be all that is said."""

STANDING_LINES = 200

RECENT = 20
"""The last counts of work before a line, of which most tell what was being done."""

CYCLE = 4
"""Sentences that may take turns in saying the same."""

IDLE_LINES = 5

DRAWN = 10
"""What a bar shows that was drawn more often than once, though its last drawing is all that is left."""

BLOCKED = re.compile(tables.BLOCKED)


def _text(raw):
    return plain(decode(raw))


def last_line(story):
    for raw in reversed(story.tail):
        text = _text(raw).strip()
        if text:
            return text[:300]
    return ""


def times(story):
    last = None
    for raw in reversed(story.tail):
        last = clock.stamp(_text(raw))
        if last:
            break
    return {"last": list(last) if last else None}


def moved(story, number, wanted, until=None, known=False, name=None, transfers=True):
    """Whether a counter of work went on behind a line (and before another): beyond what it had reached, or up again from below.

    known: only of counters that had counted before it; others may be another program's.  name: only of that one.
    transfers: also of those that only began behind it, which may be the dump of what died.
    """
    reached, later, only = {}, {}, name
    for event in story.progress:
        line, name, _role, value, whole, stage, _setup, _ = event
        if (until is not None and line >= until) or only not in (None, name):
            continue
        key = (name, whole)
        if line <= number:
            if value is not None:
                reached[key] = max(reached.get(key, (-1.0, -1.0)), (stage, value))
            continue
        if (known or _role == "said" or (name == "bytes-of" and not transfers)) and key not in reached:
            continue  # a sentence, or a transfer, that only came behind it is no work that went on
        later.setdefault(key, []).append((stage, value))
    moved = drawn = 0
    for key, values in later.items():
        best = reached.get(key)
        fresh, previous = 0, None
        for stage, value in values:
            if value is None:
                fresh += 1
            elif key[0] == "bar" and previous is best is None and value >= DRAWN:
                fresh, drawn = fresh + (not drawn), 1  # of the drawings of a bar in one line only the last is kept
            elif best is not None and (stage, value) > best:
                fresh, best = fresh + 1, (stage, value)
            elif previous is not None and (stage, value) > previous:
                fresh += 1
            previous = (stage, value) if value is not None else previous
        moved += fresh
    return moved >= wanted


def lead(story, number):
    """The name of the counter that most of the last work before a line was counted by; None where there was none."""
    before = [event[1] for event in story.progress if event[0] < number and not event[6]][-RECENT:]
    return max(reversed(before), key=before.count, default=None)


def progress(story):
    work = [event for event in story.progress if not event[6]]
    last, first = (story.progress[-1] if story.progress else None), (work[0] if work else None)
    if last is None:
        return {"count": 0, "work": 0}
    counted = work[-1] if work else last
    values = [event for event in story.progress if event[1] == counted[1] and event[4] == counted[4]]
    stamps = [clock.stamp(event[7]) for event in values[-12:]]
    gaps = [clock.between(one, two) for one, two in zip(stamps, stamps[1:])]
    gaps = sorted(gap for gap in gaps if gap is not None and gap >= 0)
    now = times(story)["last"]
    # Time by the log's own clock since anything moved: lines that came later are heartbeats.
    quiet = clock.between(clock.stamp(counted[7] if work else last[7]), tuple(now)) if now else None
    moved = _moved_last(values)
    steady = clock.between(clock.stamp(moved[7]), tuple(now)) if now else clock.bar(values[-1][7]) - clock.bar(moved[7])
    return {
        "count": story.progress.total,
        "work": len(work),
        "line": last[0],
        "first_line": first[0] if first else last[0],
        "counter": counted[1],
        "role": counted[2],
        "value": counted[3],
        "of": counted[4],
        "complete": _whole(story, work),
        "excerpt": counted[7].strip()[:160],
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
        if plainness(story.undress(0, event[7].encode("utf-8", "replace")).text.strip()) == PLAIN:
            continue  # it counts complaints
        if any(_short(one, line) for one in work[-LAST_COUNTS:]) or (name == "epoch" and _steps_behind(work, line)):
            continue  # it is the header of a part that has only begun
        if (name == "percent" and line < story.last - 2) or _begins(story, event, line >= story.last - 1):
            continue
        same = [event for event in work if event[1] == name and event[4] == whole]
        again = any(one[3] == whole and two[3] < whole for one, two in zip(same, same[1:]))
        again = again or _unmoved(story, same) or _begun(same)
        if not again and same[-1][3] == whole and line >= story.last - 40:
            return True
    return False


def _short(event, line):
    """Whether a step or bar behind a line is short of its whole."""
    number, _, role, value, whole = event[:5]
    return number > line and role in ("step", "bar") and None not in (value, whole) and value < whole


def _steps_behind(work, line):
    return any(one[0] > line and one[2] == "step" and one[1] != "epoch" for one in work[-LAST_COUNTS:])


def _begins(story, event, last):
    """Whether a counter names the part that begins, and no word says that it is done.

    `[3/3] training` in the last line, `[stage 3/3] training` where hardly anything was said behind it.
    """
    if event[1] != "of" or not (last or story.last - event[0] <= BEGUN_LINES):
        return False
    text = story.undress(0, event[7].encode("utf-8", "replace")).text.strip()
    return PART_BEGINS.match(text) is not None and (last or text.lstrip("-=* ")[1:2].isalpha())


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


def retry(story, ready):
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


def _standing(story, ready):
    """A sentence, or a few in turn, that have been all for long, no figure changing but for clocks; as `_retry`.

    A worker that has nothing to do may say so, and a server that is up wait in silence, unless the words are of a failure
    or of something that is stuck, or requests were in flight.
    """
    tail = [key_of(raw).decode("latin-1") for raw in story.tail if raw.strip()]
    cycle = {key for key in tail if tail.count(key) >= 3}
    if len(cycle) > CYCLE or sum(tail.count(key) for key in cycle) < max(5, STANDING * len(tail)):
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


def idle(story):
    """Whether a worker's last lines say that it has nothing to do, and nothing else."""
    last = [_text(raw) for raw in story.tail if raw.strip()][-IDLE_LINES:]
    if left(story, story.last + 1) or any(event[2] == "step" for event in story.progress[-LAST_COUNTS:]):
        return False  # its counter waits for somebody, or it trains
    return len(last) == IDLE_LINES and all(IDLE.search(text) and not FAILING.search(text) for text in last)


def phase(story):
    """What the log was about at its end: the stuck_* kind for silence there."""
    for raw in reversed(story.tail[-12:]):
        text = _text(raw)
        for name, _, pattern, _, _ in PHASES:
            if pattern.search(text):
                return name
    return ""
