# ruff: noqa: E501
"""The tables behind LogHealthy: closed vocabularies, anchored patterns, no pattern that can be made to crawl."""

import json
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verikit.probes.logs import rows, tables
from verikit.probes.logs.story import Story
from verikit.probes.logs.verdicts import tell

SIGNS = tables.EXCEPTIONS + tables.SIGNS
ALL = SIGNS + tables.BENIGN + tables.MARKERS + tables.PROGRESS + tables.PHASES
HOSTILE = [
    unit * (4000 // len(unit))
    for unit in ("a", " ", "a.", "a ", "0", "1/2 ", "[", "(", '"', "error: ", "a: ", "-", "at 1 ", "A:", ": ")
]


def test_rows_have_six_columns_and_one_id():
    """
    Each row is (id, role, pattern, kind, hint, source), and no id comes twice in a table.
    """
    for table in (SIGNS, tables.BENIGN, tables.MARKERS, tables.PROGRESS, tables.PHASES):
        assert {len(row) for row in table} == {6}
        assert len({row[0] for row in table}) == len(table)


def test_kinds_are_closed():
    """
    Every sign names a kind of the closed list, and every kind has its hint.
    """
    assert {row[3] for row in SIGNS} <= set(tables.KINDS)
    assert all(tables.HINTS[kind] and "\n" not in tables.HINTS[kind] for kind in tables.KINDS)


def test_roles_are_known():
    """
    Roles are those that the judgement knows.
    """
    assert {row[1] for row in SIGNS} <= {"root", "fatal", "unclear", "messenger", "cascade", "weak", "soft", "stopped"}
    assert {row[1] for row in tables.BENIGN} <= {"line", "trace", "retry", "stop", "contain"}


@pytest.mark.parametrize("row", ALL, ids=lambda row: row[0])
def test_pattern_can_not_be_made_to_crawl(row):
    """
    No pattern ignores case, begins with `.*`, or takes more than a moment on a hostile line.
    """
    pattern = re.compile(row[2])
    assert not pattern.flags & re.IGNORECASE
    assert not row[2].startswith(".*")
    start = time.process_time()
    for text in HOSTILE:
        pattern.match(text)
        if row[0] not in {sign[0] for sign in tables.EXCEPTIONS}:
            pattern.search(text)
    assert time.process_time() - start < 5  # a pattern that crawls takes minutes


@pytest.mark.parametrize(
    "pattern",
    [
        tables.CLOSING,
        tables.NO_CLOSING,
        tables.LAST_WORDS,
        tables.TOTALS,
        tables.MEASURES,
        tables.BEST,
        tables.PRODUCT,
        tables.BYE,
        tables.ANNOUNCED,
        tables.TEARDOWN,
        tables.COMPLAINT,
        tables.HANDLED,
        tables.VAGUE,
        tables.MARK,
        tables.NEGATED,
        tables.STATUS,
        tables.EXITS_OF_JOBS,
    ],
)
def test_last_words_can_not_be_made_to_crawl(pattern):
    """
    What is asked of the last lines is asked of their first 300 characters, and takes no more than a moment there.
    """
    start = time.process_time()
    for text in HOSTILE:
        re.match(pattern, text[:300])
        re.search(pattern, text[:300])
        re.search(tables.LAST_WORDS, text[:1000])
    assert time.process_time() - start < 5  # a pattern that crawls takes minutes


@pytest.mark.parametrize("unit", ["a", "A", "0", "_", ".", ":", "(", "a.", "a: ", "/a ", "1/2 ", "error a "])
@pytest.mark.parametrize(
    "head",
    [
        "",
        "ERROR: ",
        "step 3\nCRITICAL ",
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: ',
    ],
    ids=["bare", "error", "critical", "traceback"],
)
def test_a_line_without_end_can_not_be_made_to_crawl(head, unit):
    """
    No search of any part takes the square of a line, as long as lines get: some logs carry base64 in their errors.
    """
    line = head + (unit * 16000)[:16000] + "\n"
    start = time.process_time()
    story = Story()
    story.feed(1, ("start\n" + line + line + "exited\n").encode())
    tell(story)
    assert time.process_time() - start < 5  # a pattern that crawls takes half a minute here


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([
    b"Traceback (most recent call last):", b'  File "a.py", line 1, in f', b"ValueError: x", b"", b"During handling of the above exception, another exception occurred:",
    b"step 3", b"step 4", b"[rank1]: Traceback (most recent call last):", b"[rank1]: KeyError: 1", b"```", b"  + Exception Group Traceback (most recent call last):",
    b"  | ExceptionGroup: x (1 sub-exception)", b"  +-+------- 1 -------", b"    | ValueError: y", b"Killed", b"nohup: ignoring input", b"\xff\xfe\x00", b"a\rb 3/4 [",
    b'{"msg": "x\\nTraceback (most recent call last):\\nKeyError: 1"}', b"loss: nan", b"Received SIGTERM", b"retrying (1/5)", b"Application startup complete.",
]), max_size=60))  # fmt: skip
def test_any_mixture_is_told(lines):
    """
    Any mixture of lines is told in facts that JSON carries, and a named line is one of them.
    """
    story = Story()
    story.feed(1, b"\n".join(lines))
    facts = tell(story)

    json.dumps(facts)
    assert facts["failure"] is None or 1 <= facts["failure"]["line"] <= len(lines)


@pytest.mark.parametrize(
    "data",
    [
        b"step " + b"9" * 6000,
        b"loss: 1.2.3 grad_norm: nan\n" * 9,
        b'{"step": 1e999, "loss": NaN}\n' * 5,
        b"{'loss': 1.2, 'epoch': 1..2}\n" * 3,
        b'Traceback (most recent call last):\n  File "a", line ' + b"9" * 5000 + b", in x\nValueError: x",
        b"iteration " + b"1" * 400 + b"/ " + b"2" * 400 + b" |\n",
        b"generation throughput: 1.2.3 tokens/s, Running: 4 reqs, Waiting: 5 reqs\n" * 9,
        b"failed (exitcode: -" + b"9" * 5000 + b") local_rank: 0",
        b"[2025-99-99 99:99:99] step 3\n" * 4,
        b"\x1b[" * 4000,
        b'{"a":' * 3000 + b"1" + b"}" * 3000,
        b"Killed process " + b"9" * 5000 + b" (x)",
        b"  rank      : " + b"7" * 9000,
        b"[rank" + b"1" * 5000 + b"]: x",
    ],
)
def test_hostile_figures(data):
    """
    Numbers without end, with two points, beyond floats: facts all the same, and JSON.
    """
    story = Story()
    story.feed(1, data)

    json.dumps(tell(story), allow_nan=False)


@pytest.mark.parametrize(
    ("pattern", "heads"),
    [
        (r"Done in \d+", ("Done in ",)),
        (r"foo\(x|bar\.\d", ("foo(x", "bar.")),
        (r"Foos?: |Bar+", ("Foo", "Bar")),
        (r"Foo(?:a|b)|bar[|(]x|baz", ("Foo", "bar", "baz")),
        (r"(?:foo|bar) x", ("foo", "bar")),
        (r"(?:foo|bar)? x", ()),
        (r"(?:foo|(?:bar|\d))x", ()),
        (r"(?:fo|bar) x", ()),
        (r"foobar|b\d", ()),
        (r"fo*bar", ()),
    ],
)
def test_heads_of_a_pattern(pattern, heads):
    """
    A row is looked up by the words that each of its alternatives begins with; where one has none, it is always tried.
    """
    assert rows.heads_of(pattern) == heads


def test_a_row_that_is_looked_up_matches_as_one_that_is_tried():
    """
    The rows found for a text are those whose patterns may match there, in the table's order.
    """
    index = rows.index_of(
        [
            ("a", "done", "All good", "", "", ""),
            ("b", "done", r"\w+ good", "", "", ""),
            ("c", "done", "Alas|good", "", "", ""),
        ]
    )
    found = [[row[0] for row in index.at(text, 0, 4)] for text in ("All good", "Alas", "x", "xxx good")]

    assert found == [["a", "b", "c"], ["b", "c"], ["b"], ["b", "c"]]
    assert index.rows[0][2].search("so All good")
    assert not index.rows[0][2].match("Almost")
    assert not index.rows[0][2].search("all good")
