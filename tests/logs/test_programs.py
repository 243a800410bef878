"""What known programs log: each row knows its program's line as the program writes it, and not what says the opposite."""

import pytest

from logs.program_lines import LINES, OPPOSITES
from verikit.probes.logs import programs, rows
from verikit.probes.logs.envelopes import undress
from verikit.probes.logs.story import Story

ALL = programs.SIGNS + programs.BENIGN + programs.MARKERS + programs.PROGRESS
HURTS = ("root", "fatal", "unclear", "messenger", "cascade", "bare", "plain")


def told(line):
    """The story of one line."""
    story = Story()
    story.feed(1, line.encode())
    story.finish()
    return story


def known_by(line):
    """The rows that know a line."""
    story, text = told(line), undress(1, line.encode()).text.strip()
    found = [row[2] for row in story.markers] + [row[1] for row in story.progress] + [one["id"] for one in story.signs]
    return found + [row[0] for row in rows.BENIGN if rows.may(row[3], text) and row[2](text)]


@pytest.mark.parametrize(("row", "line"), LINES)
def test_line_is_known(row, line):
    """
    The line is known by the row that was made for it, behind whatever envelope its program puts around it.
    """
    assert row in known_by(line)


@pytest.mark.parametrize(("what", "line"), OPPOSITES)
def test_opposite_is_not(what, line):
    """
    A line that shares words with a row, and does not say what it says, is not taken for it.
    """
    story = told(line)
    seen = {
        "failure": [one for one in story.signs if one["role"] in HURTS],
        "ready": [row for row in story.markers if row[1] == "ready"],
        "done": [row for row in story.markers if row[1] == "done"],
        "count": list(story.progress),
    }
    assert not seen[what]


def test_every_row_has_a_line():
    """
    No row without a line of its program.
    """
    assert {row[0] for row in ALL if row[1] != "program"} <= {row for row, _ in LINES}


def test_rows_are_looked_up():
    """
    Nearly every row of a program is found by the first words of a line, so that others cost nothing.
    """
    anchored = [row for row in programs.SIGNS + programs.MARKERS if row[1] != "program"]
    assert sum(1 for row in anchored if not rows.heads_of(row[2])) <= len(anchored) // 20
