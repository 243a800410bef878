"""Text that a job wrote for somebody, a completion or a sample: between two fences nothing counts.

A fence belongs to whoever opened it: what others say meanwhile is said as ever.  One that is not closed, because the text
was cut or the program speaks again, was none: what stood behind it is read after all, so that no failure hides there.
"""

import re

from verikit.probes.logs import tables
from verikit.probes.logs.envelopes import OF_SPEAKERS, Line

LINES = 400
"""Lines behind an opening fence among which its end is looked for."""

OPEN, CLOSE = re.compile(tables.FENCE_OPEN + r"\s*$"), re.compile(tables.FENCE_CLOSE + r"\s*$")
TURN_BEGINS, TURN_ENDS = re.compile(tables.TURN_BEGINS), re.compile(tables.TURN_ENDS)
LED = re.compile(r"(\w[\w.-]{0,30}:? )(?=-{3,} .*-{3,}$|={3,} .*={3,}$)")
"""A program's name before a fence that is ruled on both sides, behind a time: what stands between comes without either."""

OF_A_MODEL = re.compile(r"(?i)\b(?:sample|completion|response|answer|model output)\b")
RULED, LANGUAGE = re.compile(r"(?:-{20,}|={20,})$"), re.compile(r"```+\w")
ENDS_ALONE = re.compile(r"(?i)[-=]{3,} ?end ?[-=]*$")
BOXES = "╭┌"
OF_TEXT = ("level", "basic")
"""Envelopes that may be the text's own words; a time or a rank is the program's."""


def opened(line, stripped):
    """The `Fence` that a line opens; None if it opens none."""
    bare, ruled, lead = all(name in OF_SPEAKERS for name in line.dressed), False, ""
    if not bare and stripped.endswith(("---", "===")):
        led = LED.match(stripped)
        lead = led.group(1) if led else ""
        stripped = stripped[len(lead) :]
        bare = ruled = stripped.startswith(("---", "==="))
    box = stripped[0] in BOXES  # drawn by a program, which may say when
    if bare and stripped.startswith(("[prompt] ", "[response] ")):
        return Fence(line, "[")  # verl prints a rollout so, up to its `[score]`
    named = stripped.endswith(">>>")  # as `sample 3 >>>`, and `<<<` behind the text
    if ruled and not OF_A_MODEL.search(stripped):
        return None
    if (box or named or (stripped[0] in "`~<-=>[" and bare)) and len(stripped) < 200 and OPEN.match(stripped):
        begins = ">" if named else stripped[:2] if stripped[:2] in tables.FENCE_ENDS else stripped[0]
        return Fence(line, tables.FENCE_ENDS[begins], lead, ruled)
    turn = "<" in stripped and TURN_BEGINS.search(stripped)
    return Fence(line, "") if turn and not TURN_ENDS.search(stripped, turn.end()) else None


class Fence:
    """An open fence: `first`, the line that opened it, and the `rows` behind it, to be read after all if nobody closes it."""

    def __init__(self, line, ends, lead="", ruled=False):
        self.lead, self.ruled = lead, ruled
        self.first, self.ends, self.dressed, self.rows = line.number, ends, list(line.dressed), []
        text = line.text.strip()
        turn = TURN_BEGINS.search(text)
        self.token, self.language = turn and turn.group(), LANGUAGE.match(text) is not None
        self.numbered = re.search(r"\d", text) is not None

    def closed_by(self, stripped):
        """Whether a line is the other fence. A ruled line closes what is named and numbered, no mere heading."""
        if not self.ends:
            return TURN_ENDS.search(stripped) is not None
        if RULED.match(stripped) and not self.numbered:
            return False
        if self.lead and not stripped.startswith(self.lead):
            return False
        stripped = stripped[len(self.lead) :]
        if self.ruled and not (OF_A_MODEL.search(stripped) or ENDS_ALONE.match(stripped)):
            return False
        return stripped.startswith(self.ends) and CLOSE.match(stripped) is not None

    def begins_again(self, stripped):
        """Whether what only opens a fence stands in it: the first was cut off, and not closed."""
        if not self.ends:
            return self.token is not None and self.token in stripped
        return self.ends == "`" and LANGUAGE.match(stripped) is not None and self.language

    def broken_by(self, line):
        """Whether the program speaks again."""
        others = any(name not in OF_TEXT and name not in self.dressed for name in line.dressed)
        others = others or (self.ruled and line.dressed == self.dressed)
        return others or line.number - self.first > LINES

    def add(self, line):
        """Takes a line of the text in."""
        row = [line.number, line.raw[:1000], line.text[:1000], line.rank, line.pid, line.source, line.level]
        self.rows.append([*row, list(line.dressed)])

    def lines(self):
        """What stood behind it."""
        return [Line(*row) for row in self.rows]
