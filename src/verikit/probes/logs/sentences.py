"""Sentences in words of no table: lines that are copies of one another but for their figures, and what those figures do.

A figure that only ever grows, and is no clock, counts work, whatever the words around it are; a sentence that comes again
and again with every figure the same waits for something; and figures that were numbers and are nan tell of a run that is
lost.  Only the first few sentences of a run are followed.
"""

import re

from verikit.probes.logs import tables
from verikit.probes.logs.envelopes import LONGEST, last_drawn

MOST = 24
"""Sentences followed."""

GROWTHS = 4
"""How often a figure must have grown before it counts as a counter; as often again for each time that it has fallen."""

FALLS = 2
"""How often a counter may have fallen: work that was taken up again counts from where it was saved."""

GONE = 5
"""So many last copies must have nan where numbers stood."""

NAMED = 100
"""Sentences of which it is known what they say without nan."""

FIGURE = re.compile(rb"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|(?<![\w-])-?(?:nan|NaN|NAN|inf)(?!\w)")
SIGNED = re.compile(rb"[-+]?(?:%s)" % FIGURE.pattern)
BAR = re.compile(rb"\|(?:\xe2\x96[\x80-\x9f]|[ #=>.-])*\|")
BLANKS = re.compile(rb"[ \t]+")
UNIT = re.compile(rb" ?(?:[mun]?s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?:\b|(?=\d))")
NO_WORK = re.compile(tables.NO_WORK)
ILL = re.compile(
    rb"(?i)\b\w{0,24}(?:err|fail|retr|timeout|dead|died|kill|crash|drop|reject)\w{0,16}[\"']?[:= ][ \"']*$"
)
"""What names a tally of what went wrong: that it grows is no work."""

CLOCK, FLOAT, WHOLE = "clock", "float", "whole"


def key_of(raw):
    """What the copies of a sentence share."""
    return BLANKS.sub(b" ", BAR.sub(b"||", SIGNED.sub(b"0", raw[:1000]))).strip()


class Sentence:
    """One sentence: how often it came, when a figure of it last changed, which figures grow, and since when they are nan.

    kinds: of each figure, by the first copy: "clock" (a time, a duration, a tally of failures), "float" or "whole".
    """

    def __init__(self, number, raw, kinds, works):
        self.kinds, self.works = kinds, works
        self.first, self.last, self.changed = number, number, number
        self.count = self.same = 0
        self.since = self.raw = raw[:400].decode("utf-8", "replace")
        self.figures = []
        self.ups, self.downs = [0] * len(kinds), [0] * len(kinds)

    def read(self, number, raw):
        """Takes a copy in; answers the value of its counter if that has just grown."""
        figures = FIGURE.findall(raw[:1000])
        self.count, self.last, self.raw = self.count + 1, number, raw[:400].decode("utf-8", "replace")
        if len(figures) != len(self.kinds):
            return None
        values = [_value(figure) for figure in figures]
        grown = self._compare(values) if self.figures else None
        if self.figures and self._as_before(values):
            self.same += 1
        else:
            self.changed, self.since, self.same = number, self.raw, 1
        self.figures = values
        return grown

    def _as_before(self, values):
        return all(kind == CLOCK or one == two for kind, one, two in zip(self.kinds, self.figures, values))

    def _compare(self, values):
        grown = None
        for n, (kind, one, two) in enumerate(zip(self.kinds, self.figures, values)):
            if kind != WHOLE or one is None or two is None:
                continue
            self.ups[n] = self.ups[n] + (two > one) if two >= one else 0
            self.downs[n] += two < one
            counts = self.ups[n] >= GROWTHS * (1 + self.downs[n]) and self.downs[n] <= FALLS
            if grown is None and two > one and self.works and counts:
                grown = two
        return grown


class Lost:
    """Where figures that were numbers became nan: per sentence how many words of its first copy are nan (a column may be
    called so), and the first copy with more of them."""

    def __init__(self):
        self.named, self.first = {}, {}

    def note(self, number, raw):
        """Takes note of a form when it is met."""
        raw = last_drawn(raw) if b"\r" in raw else raw
        if len(raw) > 1000 or not FIGURE.search(raw):
            return
        key, lost = key_of(raw).decode("latin-1"), lost_in(raw)
        if key not in self.named and len(self.named) < NAMED:
            self.named[key] = lost
        elif lost > self.named.get(key, lost):
            self.first.setdefault(key, [number, raw[:1000].decode("utf-8", "replace")])

    def at_end(self, tail):
        """The first of these lines, [number, text], of a sentence whose last copies, among the last lines, all lack figures."""
        found = []
        drawn = [part for raw in tail for part in raw[-LONGEST:].split(b"\r")] if self.first else ()
        for key, first in self.first.items():
            copies = [raw for raw in drawn if key_of(raw).decode("latin-1") == key]
            if len(copies) >= GONE and all(self._gone(raw, self.named[key]) for raw in copies[-GONE:]):
                found.append(first)
        return min(found) if found else None

    @staticmethod
    def _gone(raw, named):
        lost = lost_in(raw) - named
        floats = sum(1 for kind in kinds_of(raw, 0) if kind == FLOAT)
        return lost >= 2 or (lost > 0 and 2 * lost >= floats)


def lost_in(raw):
    """How many words of a line are nan."""
    return sum(1 for figure in FIGURE.findall(raw[:1000]) if figure[-1:] in b"nNf")


def kinds_of(raw, prefix):
    """The kinds of a line's figures; those in its first `prefix` bytes are an envelope's."""
    kinds = []
    for found in FIGURE.finditer(raw[:1000]):
        start, end = found.span()
        before, behind = raw[max(0, start - 2) : start], raw[end : end + 2]
        dated = (before[-1:] in b":-" and before[:1].isdigit()) or (behind[:1] in b":-" and behind[1:].isdigit())
        if (
            start < prefix
            or (dated and before + behind)
            or UNIT.match(raw, end)
            or ILL.search(raw[max(0, start - 48) : start])
        ):
            kinds.append(CLOCK)
        else:
            kinds.append(WHOLE if found.group().isdigit() else FLOAT)
    return kinds


def _value(figure):
    try:
        value = float(figure)
    except ValueError:
        return None
    return value if abs(value) < 1e18 else None
