"""The tables, compiled once: what the readers of a log share."""

import re

from verikit.probes.logs import tables

HEAD = 3
"""Characters by which rows are looked up."""

_LITERAL = re.compile(r"((?:[^\\\[\](){}.*+?^$|]|\\[^\w\s])+)([*?{]?)")
_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\\\]])*\]|.", re.DOTALL)


def heads_of(pattern):
    """The fixed words that each alternative of an anchored pattern begins with; () where one of them has fewer than HEAD."""
    heads = []
    for part in _alternatives(pattern):
        found = _LITERAL.match(part)
        words = re.sub(r"\\(.)", r"\1", found.group(1)) if found else ""
        words = words[:-1] if found and found.group(2) else words
        if len(words) < HEAD:
            return ()
        heads.append(words)
    return tuple(heads)


def _alternatives(pattern):
    """A pattern cut at the bars that stand in no bracket."""
    depth, parts = 0, [""]
    for piece in _PIECE.findall(pattern):
        depth += (piece == "(") - (piece == ")")
        if piece == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += piece
    return parts


class Lazy:
    """A pattern that begins with fixed words: compiled when a text first has them."""

    __slots__ = ("compiled", "heads", "pattern")

    def __init__(self, pattern, heads):
        self.pattern, self.heads, self.compiled = pattern, heads, None

    def match(self, text, position=0):
        """As of a compiled pattern."""
        if self.compiled is None:
            self.compiled = re.compile(self.pattern)
        return self.compiled.match(text, position)

    def search(self, text):
        """As of a compiled pattern."""
        if not any(head in text for head in self.heads):
            return None
        if self.compiled is None:
            self.compiled = re.compile(self.pattern)
        return self.compiled.search(text)


class Index:
    """Rows by the characters that a text must begin with for them to match: most texts are spared most rows."""

    def __init__(self, rows):
        self.rows, self.heads = rows, {}
        for row in rows:
            for head in getattr(row[2], "heads", ()):
                self.heads.setdefault(head[:HEAD], set()).add(row[0])
        self.known = {}

    def at(self, text, *positions):
        """The rows that may match at one of these places of a text, in the table's order."""
        keys = tuple([key for key in [text[at : at + HEAD] for at in positions] if key in self.heads])
        if keys not in self.known:
            wanted = set().union(*[self.heads[key] for key in keys])
            self.known[keys] = [row for row in self.rows if not getattr(row[2], "heads", ()) or row[0] in wanted]
        return self.known[keys]


def _rows(rows):
    return [(row[0], row[1], re.compile(row[2]), row[3], row[4]) for row in rows]


def index_of(rows):
    """Rows that are looked up by their first words, where they have such."""
    ready = []
    for row in rows:
        heads = heads_of(row[2])
        ready.append((row[0], row[1], Lazy(row[2], heads) if heads else re.compile(row[2]), row[3], row[4]))
    return Index(ready)


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


EXCEPTIONS, BENIGN, PHASES = _rows(tables.EXCEPTIONS), _gated(tables.BENIGN, 3), _rows(tables.PHASES)
SIGNS, PROGRESS = index_of(tables.SIGNS), _gated(tables.PROGRESS, 3)
BANNERS = [re.compile(row[2]) for row in tables.MARKERS if row[1] == "start"]
SAID = index_of([row for row in tables.MARKERS if row[1] in ("ready", "done", "began", "replaced")])
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
