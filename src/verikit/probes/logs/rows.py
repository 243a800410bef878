"""The tables, compiled once: what the readers of a log share."""

import re

from verikit.probes.logs import tables

HEAD = 3
"""Characters by which rows are looked up."""

_WORD = re.compile(r"(?<![\w./-])\S")
_LITERAL = re.compile(r"((?:[^\\\[\](){}.*+?^$|]|\\[^\w\s])+)([*?{]?)")
_GROUP = re.compile(r"\(\?:((?:[^()\\\[]|\\.|\[\^?\]?(?:\\.|[^\\\]])*\])*)\)(?![*?{])")
_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\\\]])*\]|.", re.DOTALL)


def heads_of(pattern):
    """The fixed words that each alternative of an anchored pattern begins with; () where one of them has fewer than HEAD."""
    heads = []
    for part in _alternatives(pattern):
        group = _GROUP.match(part)
        words = heads_of(group.group(1)) if group else _words(part)
        if not words:
            return ()
        heads.extend(words)
    return tuple(heads)


def _words(part):
    found = _LITERAL.match(part)
    words = re.sub(r"\\(.)", r"\1", found.group(1)) if found else ""
    words = words[:-1] if found and found.group(2) else words
    return (words,) if len(words) >= HEAD else ()


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


class AtWords:
    """A pattern that begins with anything: it is searched where words begin, or it would take the square of a long word."""

    __slots__ = ("match",)

    def __init__(self, pattern):
        self.match = re.compile(pattern).match

    def search(self, text):
        """The first match that begins where a word does; None without one."""
        return next(filter(None, (self.match(text, word.start()) for word in _WORD.finditer(text))), None)


class Index:
    """Rows by the characters that a text must begin with for them to match: most texts are spared most rows.

    heads: of each row's id the fixed words that its pattern begins with, where it has such.
    """

    def __init__(self, rows, heads):
        self.rows, self.of, self.ids, self.known = rows, heads, {}, {}
        for name, words in heads.items():
            for head in words:
                self.ids.setdefault(head[:HEAD], set()).add(name)

    def __iter__(self):
        return iter(self.rows)

    def at(self, text, *positions):
        """The rows that may match at one of these places of a text, in the table's order."""
        keys = tuple([key for key in [text[at : at + HEAD] for at in positions] if key in self.ids])
        if keys not in self.known:
            wanted = set().union(*[self.ids[key] for key in keys])
            self.known[keys] = [row for row in self.rows if not self.of.get(row[0]) or row[0] in wanted]
        return self.known[keys]


def _rows(rows):
    return [(row[0], row[1], re.compile(row[2]), row[3], row[4]) for row in rows]


def index_of(rows):
    """Rows that are looked up by their first words, where they have such."""
    heads = {row[0]: heads_of(row[2]) for row in rows}
    ready = [(*row[:2], Lazy(row[2], heads[row[0]]) if heads[row[0]] else AtWords(row[2]), *row[3:5]) for row in rows]
    return Index(ready, heads)


def _gated(rows, column):
    """Rows whose patterns are searched: (id, role, search, words, program); one that begins with ^ is only matched."""
    gated, heads = [], {}
    for row in rows:
        anchored = row[2].startswith("^")
        heads[row[0]] = heads_of(row[2][1:]) if anchored else ()
        pattern = Lazy(row[2], heads[row[0]]) if heads[row[0]] else re.compile(row[2])
        words = () if heads[row[0]] else tuple(word for word in row[column].split("|") if word)
        gated.append((row[0], row[1], pattern.match if anchored else pattern.search, words, row[3]))
    return Index(gated, heads)


def may(words, text):
    """Whether a text has one of the words that a row needs."""
    for word in words:  # a comprehension costs three times as much, and this is asked of every row
        if word in text:
            return True
    return not words


EXCEPTIONS, BENIGN, PHASES = _rows(tables.EXCEPTIONS), _gated(tables.BENIGN, 3), _rows(tables.PHASES)
SIGNS, PROGRESS = index_of(tables.SIGNS), _gated(tables.PROGRESS, 3)
BANNERS = [re.compile(row[2]) for row in tables.MARKERS if row[1] == "start"]
SAID = index_of([row for row in tables.MARKERS if row[1] not in ("program", "start")])
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
