# ruff: noqa: E501
"""How a log ends that has no plainer sign: with last words, or in the middle of its work.

A person looks at the shape of the last lines.  What comes behind the last count of work, in forms that this run has not
had before, and sums up, names a product, or takes leave, is an end; what breaks off within the repeated pattern, before
the counter's whole, or behind words that announce the next piece of work, is none.  Each thing seen is a piece of
evidence with a weight, so that no single word decides against all others.
"""

import re

from verikit.probes.logs import tables
from verikit.probes.logs.complaints import (
    LOOKED_AT,
    MILD,
    PLAIN,
    TOOL,
    excused,
    excuses,
    handled,
    ill,
    named,
    plainness,
    untallied,
)
from verikit.probes.logs.rows import BEGINS_AGAIN, BENIGN, NOT_DONE, may

LINES = 40
"""Lines before the end that are looked at."""

ENOUGH = 2
"""The weight of the evidence from which a log has ended."""

NO_CURE = ("leave is taken", "how long it took", "it closes down", "totals", "a table", "a summary")
"""Evidence that a job which failed leaves as well: what it says of a failure before still counts."""

BLOCK = 3
"""Rows, or named figures, that make a table or a summary."""

SAYS_FATAL = re.compile(r"\bFATAL\b|\"fatal\"|(?:^|[\s\[])F\d{4} ")

WHOLE, SHORT = "its counter is at its whole", "its counter is short of its whole"
WORDS_OF_AN_END = "words of an end"
FAILED = "its last words speak of a failure"
VETO = -20
"""The weight of last words that speak of a failure: no table and no row of names and figures outweighs them."""

ADJACENT = 3
"""Last sentences among which a mild complaint is not yet forgotten."""

REPEATED = 10
"""Lines in forms that came before, among the last: a job at work, though nothing of it counts."""

LAST_COUNTS = 6
HEADS, WORDS = 600, 3
"""Beginnings of sentences that are remembered, by so many words."""

_WORD = re.compile(r"[^\W\d_]{2,}")
CLOSING, NO_CLOSING = re.compile(tables.CLOSING), re.compile(tables.NO_CLOSING)
FINAL, EARLY, UNDERWAY = (re.compile(one) for one in (tables.FINAL, tables.EARLY, tables.UNDERWAY))
SET_ASIDE = re.compile(
    r"\b(?:diff|args|arguments|config\w*|settings|split|env\w*|params|hparams|requirements|snapshot)\b"
)
"""What a job writes down before it begins."""

SET_UP = re.compile(tables.SET_UP)
PREPARED, TRAINER = (re.compile(one) for one in (tables.PREPARED, tables.TRAINER))
LEAVE = re.compile(r"\W*(?:[\w.-]+: )?(?:[Gg]ood ?bye|[Bb]ye(?: bye)?|[Ff]arewell|[Ff]in|[Ee]xit|[Ee]nd)\W*$")
WEAK = re.compile(r"\b(?:ok|OK)\W*$")
PATH = re.compile(r"(?:[A-Za-z]:\\|s3://|gs://|hf://|\.{0,2}/)[^\s:*?\"<>|]+$")
TOTALS, BYE, BEST, PRODUCT = (re.compile(one) for one in (tables.TOTALS, tables.BYE, tables.BEST, tables.PRODUCT))
LEAVING = re.compile(r"[\W_]{0,12}(?:[\w./-]+: ){0,2}(?:%s)ing\b" % tables.LEAVING)
MEASURES = re.compile(tables.MEASURES)
ANNOUNCED, TEARDOWN = re.compile(tables.ANNOUNCED), re.compile(tables.TEARDOWN)
SHARE = re.compile(
    r"\b(\d+) ?(?:of|/) ?(\d+) (?:\w+ ){0,2}(?:done|complete|completed|finished|written|processed|converted|uploaded|saved|ok|OK)\b"
    r"|\b(?P<none>0|[Nn]o|[Nn]othing|[Nn]one) (?:\w+ ){0,2}(?:done|completed?|finished|written|wrote|processed|converted|uploaded|saved)\b"
)
TOOK = re.compile(
    r"[\W_]{0,12}(?:[\w./-]+[: ]+){0,3}?(?:[Tt]ook \d|[Ee]lapsed\b|[Ww]all\b|[Tt]otal (?:time|runtime)\b|(?:[Oo]ver|[Ee]nded) at \d)"
)
SHARE_OF = re.compile(
    r"\b(?:[Dd]one|[Ww]rote|[Ww]ritten|[Ss]aved|[Cc]ompleted?|[Ff]inished|[Pp]rocessed|[Cc]onverted|[Uu]ploaded|[Ee]xported|[Ss]cored|[Jj]udged)"
    r"(?: only)? (\d+) ?(?:of|/) ?(\d+)\b"
)
NAMED = re.compile(
    r"[\w()/@%. -]{1,40}[:=]\s{1,20}\S.{0,80}$|[\w()/@%.-]{1,30}(?: [\w()/@%.-]{1,20}){0,3}(?: {2,}|\t)\S.{0,60}$"
)
ROW = re.compile(r"[|│┃├┡┏└+].*[|│┃┤┩┓┘+]$|[=\-─━ ]{8,}$|\S+(?: \S+)*(?: {2,}\S+(?: \S+)*){1,12}$")
PLURAL = re.compile(r"\b[2-9]\d*[\d,.]* (?:[a-z]+ )?[a-z]{2,}s\b|\b1\d[\d,.]* (?:[a-z]+ )?[a-z]{2,}s\b")
PART = re.compile(r"\W{0,4}([^\W\d_]{1,20})[ =:#]{1,3}\d")
OUTER = re.compile(
    r"\W{0,4}(?!(?:[Rr]ank|[Ww]orker|[Nn]ode|[Gg][Pp][Uu]|[Pp]rocess|[Pp]id|[Hh]ost)\b)[^\W\d_]{2,20}[ =:#]{1,3}(\d{1,9})[ ,|:;-]+[^\W\d_]{2,20}[ =:#]+\d"
)
STARTS = re.compile(r"(?:\]|\)|:| -| \|) +(?=\S)")


def head_of(text):
    """By what a sentence is known again: its first words."""
    return " ".join(_WORD.findall(text[:120])[:WORDS])


class End:
    """The evidence for an end (`signs`: names and weights), what stands against one, and the `line` that tells the most."""

    def __init__(self):
        self.signs, self.against, self.line, self.best = [], [], 0, 0
        self.fatal = False  # whether a line that is called fatal is among the last words: its program ended by it
        self.worked = 0  # how much work was counted; what repeats itself without a figure counts as little
        self.lines = []  # the last words: lines in forms new to this run, behind all that was counted

    def add(self, name, weight, number=0):
        """Takes a piece of evidence in; a second one of a name weighs nothing."""
        rows = self.signs if weight > 0 else self.against
        if not weight or name in [row[0] for row in rows]:
            return
        rows.append((name, weight))
        if weight > self.best or (weight == self.best and number):
            self.best, self.line = weight, number

    @property
    def score(self):
        return sum(weight for _, weight in self.signs + self.against)

    @property
    def failed(self):
        """Whether the last words speak of a failure that nothing behind them heals."""
        return any(name == FAILED for name, _ in self.against)

    @property
    def leaves(self):
        """Whether leave is taken: a server's end is told by nothing else."""
        return self.good and any(name == "leave is taken" for name, _ in self.signs)

    @property
    def good(self):
        return self.score >= ENOUGH

    def told(self):
        """As facts: the names of what speaks for an end and against one."""
        return {
            "line": self.line,
            "for": [name for name, _ in self.signs],
            "against": [name for name, _ in self.against],
            "fatal": self.fatal,
        }


def end_of(story):
    """The `End` of a story, by its last lines."""
    end, lines = End(), _rows(story)
    rows = [(line.number, line.text.strip()[:300]) for line in lines]
    behind = _behind(story, rows)
    if not behind:
        return end
    new = {number for number, _ in behind}
    end.lines = [line for line in lines if line.number in new]
    counted = sum(1 for event in story.progress if not event[6])
    end.worked = max(counted, BLOCK * (len(rows) - len(behind) >= REPEATED))
    _whole(story, end, behind)
    for number, text in behind:
        _weigh(story, end, number, text, behind[-1][0])
    _blocks(story, end, behind)
    closing = [number for number, text in behind if LEAVING.match(text) and not ill(text)]
    if closing:
        end.add("it closes down", min(2, len(closing)), closing[-1])
    _last(story, end, behind)
    return end


def _rows(story):
    """The last lines that are not blank."""
    first = story.last - len(story.tail) + 1
    lines = [story.undress(first + n, raw) for n, raw in enumerate(story.tail) if raw.strip()]
    return [line for line in lines if line.text.strip() and line.number >= story.run_start][-LINES:]


def _behind(story, rows):
    """The lines behind the last count of work, in forms new to this run; what a library says while it is torn down is none."""
    last = last_counted(story)
    found = []
    for number, text in rows:
        if number > last and not _again(story, rows, number, text, last):
            found.append((number, text))
    return [row for row in found if not _noise(row[1]) and not any(a <= row[0] <= b for a, b in story.torn)]


def last_counted(story):
    """The line of the last count of work; 0 without one."""
    event = _last_event(story)
    return event[0] if event else 0


def _last_event(story):
    """The last count of work; a figure in a last sentence that never counted before is none."""
    for place in range(len(story.progress) - 1, -1, -1):
        event = story.progress[place]
        if event[2] == "bar" and event[3] == 0 and not event[6]:
            return event  # a bar that is drawn at 0 begins a work
        if event[3] == event[4] or not _first_time(story, event, place):
            return event
    return None


def _first_time(story, event, place):
    """Whether no counter of that kind came before, or one without a whole in a sentence of its own."""
    like = any(one[1] == event[1] and one[4] == event[4] for n, one in enumerate(story.progress) if n != place)
    text = story.undress(0, event[7].encode("utf-8", "replace")).text.strip()
    new = story.heads.get(head_of(text)) == event[0]
    before = [
        one for one in story.progress[max(0, place - LAST_COUNTS) : place] if one[1] == event[1] and one[4] == event[4]
    ]
    if new and any((one[3] or 0) >= (event[3] or 0) for one in before):
        return True  # it says once more how far the work came
    alone = new or all(folded(one[7]) != folded(event[7]) for one in before)
    if (new and plainness(text)) or (alone and plainness(text) == PLAIN):
        return True  # a complaint that has a number counts nothing
    return not like or (event[4] is None and event[2] == "item" and new)


def _again(story, rows, number, text, last):
    """Whether a sentence has come before, and belongs to the repeated part of the log then."""
    first = story.heads.get(head_of(text), number)
    seen = first < number and (first <= last if last else number - first > LINES)
    if seen and plainness(text) < PLAIN:
        return True  # what begins as others did, and ends in a complaint, is none of them
    form = folded(text)
    return sum(1 for _, one in rows if folded(one) == form) > 1


def folded(text):
    """A sentence without its figures."""
    return re.sub(r"[\d.]+", "0", text)


def _noise(text):
    excused = any(
        may(words, text) and excuses(name, search, text)
        for name, role, search, words, _ in BENIGN
        if role in ("line", "trace")
    )
    return (excused or TEARDOWN.search(text)) and not CLOSING.match(text)


def starts(text):
    """The places at which a message may begin behind prefixes that no table knows."""
    return [0, *[found.end() for found in STARTS.finditer(text[:120])][:4]]


def _says(pattern, text):
    return any(pattern.match(text, place) for place in starts(text))


# The evidence.


def _whole(story, end, behind):
    """Where the counters stand before the last words."""
    number, final = behind[0][0], any(FINAL.match(text) for _, text in behind)
    if left(story, number, paces=1 if final else 0):
        early = any(EARLY.match(text) for _, text in behind)
        end.add("stopped early" if early else SHORT, 2 if early else -4, number)
    elif reached(story, number):
        end.add(WHOLE, 1)


def reached(story, number):
    """Whether the last counter before a line is at its whole."""
    counts = [event for event in story.progress if event[0] < number][-1:]
    if not counts or counts[0][4] is None or counts[0][3] != counts[0][4]:
        return False
    return not nested(story, counts[0])


def nested(story, event):
    """Whether a counter counts within the part of another: `ep 1 batch 100/100`, a bar of an epoch."""
    if event[1] == "epoch-batch" or (event[2] == "bar" and "poch" in event[7]):
        return True
    found = OUTER.match(story.undress(0, event[7].encode("utf-8", "replace")).text.strip())
    return found is not None and float(found.group(1)) != event[3]


def left(story, number, paces=0):
    """Whether the last counter before a line lacks more of its whole than so many paces: logged each tenth, 990 is the last of 1000."""
    counts = [event for event in story.progress if event[0] < number][-LAST_COUNTS:]
    if not counts or counts[-1][4] is None or counts[-1][3] is None:
        return False
    _, name, _, value, whole, *_ = counts[-1]
    if value == 0 and not any(event[1] == name and event[4] == whole for event in counts[:-1]):
        return False  # a share, as in `differs 0/4096`: nothing has counted there
    before = [event[3] for event in counts[:-1] if event[1] == name and event[4] == whole and event[3] is not None]
    if len(before) > 1 and not any(two > one for one, two in zip(before, [*before[1:], value])):
        return False  # a share that never grows counts nothing
    pace = value - before[-1] if before else 0.0
    return value + paces * max(1.0, pace) < whole


def _weigh(story, end, number, text, last):
    """Adds what one sentence speaks for."""
    if NOT_DONE.search(untallied(text)) or partly(text) or ill(text):
        return
    if WEAK.search(text) and number != last:
        return  # `ok` is said of many a thing
    part = _of_a_part(story, text)
    named = NO_CLOSING.search(PLURAL.sub("", text)) or part
    worked = end.worked
    prepared = PREPARED.match(text) and more_to_come(story)
    if EARLY.match(text):
        end.add("an early stop", 2, number)
    if number == last and SET_UP.match(text) and not _trainer(story):
        end.add(WORDS_OF_AN_END, 2, number)
    if FINAL.match(text):
        end.add("final measures", 2, number)
    if _says(CLOSING, text) and not prepared and not LEAVE.match(text):
        weight = 2 if worked or not SET_ASIDE.search(text) else 0
        words = "how long it took" if TOOK.match(text) else WORDS_OF_AN_END
        end.add(words if not named else "the end of a part", weight if not named else 0, number)
    if worked and _says(TOTALS, text):
        end.add("totals", 2 if not named else 0 if part else 1, number)
    if worked and _says(BEST, text):
        end.add("the best or the whole", 1, number)
    if _says(PRODUCT, text) and not prepared:
        weight = 2 if worked or not SET_ASIDE.search(text) else 0
        end.add("a product" if not named else "a product of a part", weight if not named else 0, number)
    if worked and not named and _says(MEASURES, text) and _last_event(story) and _last_event(story)[2] != "step":
        end.add("measures of what was counted", 1, number)
    if not named and _as_counted(story, text):
        end.add("as many as were counted", 2 if number == last else 1, number)
    if _says(BYE, text):
        end.add("leave is taken", 2 if not named else 0, number)
    if PATH.match(text) and reached(story, number):
        end.add("the path of what came", 2, number)


def _as_counted(story, text):
    """Whether a sentence repeats, as a number of its own, how far the last counter came."""
    last = _last_event(story)
    return last is not None and (last[3] or 0) >= 10 and re.search(r"(?<![\d.])%d(?![\d.])" % last[3], text) is not None


def _of_a_part(story, text):
    """Whether a sentence begins with the word and the number by which the last counter's begins, as `ep 3 took 12 s`."""
    last = _last_event(story)
    if last is None:
        return False
    mine, its = (PART.match(one) for one in (text, story.undress(0, last[7].encode("utf-8", "replace")).text.strip()))
    return bool(mine and its) and mine.group(1) == its.group(1)


def partly(text):
    """Whether a sentence says that only a part was done, or nothing."""
    found = SHARE.search(text)
    return short_of(text) or (found is not None and found.group("none") is not None)


def short_of(text):
    """Whether a sentence tells of a share of things done that is not the whole: `60 of 1200 written`, `wrote 60/1200`."""
    for found in (SHARE_OF.search(text), SHARE.search(text)):
        if found is not None and found.group(1) is not None and int(found.group(1)) < int(found.group(2)):
            return True
    return False


def more_to_come(story):
    """Whether the log is a trainer's or a server's, for which a download is only the beginning."""
    return bool(story.programs) or _trainer(story)


def _trainer(story):
    """Whether the log is a trainer's, by its steps or its words."""
    steps = any(event[2] == "step" for event in story.progress)
    return steps or any(TRAINER.search(story.undress(0, raw).text) for raw in story.tail)


def _blocks(story, end, behind):
    """A table, or named figures one below the other, behind work that was counted."""
    if end.worked < BLOCK:
        return
    crashes = [(sign["first"], sign["end"]) for sign in story.signs if sign["trace"]]
    behind = [row for row in behind if not any(first <= row[0] <= last for first, last in crashes)]
    for name, pattern in (("a table", ROW), ("a summary", NAMED)):
        run = 0
        for (number, text), before in zip(behind, [(0, ""), *behind]):
            near = number - before[0] <= 2
            run = (run + 1 if near else 1) if pattern.match(text) and not ill(text) else 0
            if run == BLOCK:
                end.add(name, 2 if pattern is ROW else 1, number)


def _last(story, end, behind):
    """What the very last sentence says of what comes next, and whether a failure is spoken of that nothing behind it heals."""
    number, text = behind[-1]
    if BEGINS_AGAIN.match(text) or UNDERWAY.match(text) or (ANNOUNCED.match(text) and number != end.line):
        end.add("its last words announce more", -4)
    if any(number > end.line and BEGINS_AGAIN.match(text) for number, text in behind):
        end.add("its last words announce more", -4)
    names = [name for name, weight in end.signs if weight >= 2 and name not in NO_CURE]
    cured = bool(names) and SHORT not in [name for name, _ in end.against]
    whole = WHOLE in [name for name, _ in end.signs]
    # A plain complaint is not healed by a polite end alone: a job that gave up says goodbye, too.
    healed = cured and (whole or any(name != WORDS_OF_AN_END for name in names))
    loud = {line.number for line, text in _texts(end, 40) if plainness(text, 40)}
    lived_with = {sign["line"] for sign in story.signs if sign["contained"]}
    told = [(number, text) for number, text in behind if number not in lived_with and (ill(text) or number in loud)]
    told = [(number, text) for number, text in told if not (whole and TOOL.match(text))]
    fatal = any(
        line.level >= 50 and (line.number in loud or not (excused(text) or handled(text)))
        for line, text in _texts(end, 50)
    )
    end.fatal = fatal and any(SAYS_FATAL.search(line.raw) for line, _ in _texts(end, 50))
    if fatal or any(number >= end.line or not healed for number, _ in told):
        end.add(FAILED, VETO)
    elif not cured and not whole and any(_complains(text) for _, text in behind[-ADJACENT:]):
        end.add("something is complained of just before", -2)


def _texts(end, level):
    """(line, its text) of the last words of such a level, or above."""
    return [(line, line.text.strip()[:LOOKED_AT]) for line in end.lines if line.level >= level]


def _complains(text):
    return plainness(text) == MILD and named(text) and not CLOSING.match(text) and not LEAVING.match(text)
