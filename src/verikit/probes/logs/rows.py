"""The tables, compiled once: what the readers of a log share."""

import re

from verikit.probes.logs import tables


def _rows(rows):
    return [(row[0], row[1], re.compile(row[2]), row[3], row[4]) for row in rows]


def _gated(rows, column):
    """Rows whose patterns are searched: (id, role, search, words, program); one that begins with ^ is only matched."""
    gated = []
    for row in rows:
        pattern = re.compile(row[2])
        try_ = pattern.match if row[2].startswith("^") else pattern.search
        gated.append((row[0], row[1], try_, tuple(word for word in row[column].split("|") if word), row[3]))
    return gated


def may(words, text):
    """Whether a text has one of the words that a row needs."""
    return not words or any(word in text for word in words)


EXCEPTIONS, SIGNS, BENIGN = _rows(tables.EXCEPTIONS), _rows(tables.SIGNS), _gated(tables.BENIGN, 3)
MARKERS, PROGRESS, PHASES = _rows(tables.MARKERS), _gated(tables.PROGRESS, 3), _rows(tables.PHASES)
BANNERS = [row[2] for row in MARKERS if row[1] == "start"]
SAID = [row for row in MARKERS if row[1] in ("ready", "done", "began", "replaced")]
ANCHORED = {row[0] for row in tables.PROGRESS if row[2].startswith("^")}
PROGRAMS = _gated([row for row in tables.MARKERS if row[1] == "program"], 4)
NOT_DONE, BEGINS_AGAIN = re.compile(tables.NOT_DONE), re.compile(tables.BEGINS_AGAIN)
NOT_READY = re.compile(tables.NOT_READY)
PAST_STEP = re.compile(tables.PAST_STEP)
UNFINISHED = re.compile(tables.UNFINISHED)
SETUP, HEARTBEAT = re.compile(tables.SETUP), re.compile(tables.HEARTBEAT)


KEPT = 400
"""Events of one kind kept: the first and the last half."""


class Kept(list):
    """A list that keeps its first and last elements and counts them all."""

    total = 0

    def append(self, item):
        self.total += 1
        if len(self) >= KEPT:
            del self[KEPT // 2]
        list.append(self, item)
