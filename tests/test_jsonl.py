"""JsonlValid on files as writers leave them: whole, cut, fused, with holes, and still being written."""

from __future__ import annotations

import gzip
import json
import os
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verikit import verify
from verikit.checks.jsonl import JsonlValid
from verikit.errors import Cause
from verikit.probes import jsonl
from verikit.probes.place import Place
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS, UNKNOWN

GOOD = [{"id": f"r{n}", "prompt": "Why?", "output": f"<think>a</think>b {n}"} for n in range(5)]
THINK = [("<think>", "</think>")]


def lines(*rows):
    return b"".join((row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows)


@pytest.fixture
def written(tmp_path):
    """Writes the bytes as a file, and gives its path."""

    def write(data, name="synth.jsonl"):
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    return write


def verdict_of(path, **fields):
    return examine_here(JsonlValid(path, **fields))


def test_whole_records_pass(written):
    """
    Records that are whole and have what is asked pass; the reason says how many there are.
    """
    finding = verdict_of(
        written(lines(*GOOD)), required=["id", "output"], balanced=THINK, unique="id", count=5, live=True
    )

    assert finding.verdict is PASS
    assert "5 records, 5 good, as many as expected, id never twice" in finding.reason
    assert finding.facts["coverage"]["lines"] == finding.facts["coverage"]["of"] == 5


def test_a_missing_file_is_unknown(tmp_path):
    """
    The claim is about content: without a file it is UNKNOWN, so that `~` does not pass on nothing.
    """
    finding = verdict_of(tmp_path / "typo.jsonl")

    assert (finding.verdict, finding.cause) == (UNKNOWN, Cause.MISSING)


@pytest.mark.parametrize("data", [b"", b"\n\n  \n"])
def test_an_empty_file_is_unknown(written, data):
    """
    Nothing looked at is never a pass; with a count it is short of it.
    """
    path = written(data)

    assert verdict_of(path).cause is Cause.NOTHING_SEEN
    assert verdict_of(path, count=3).verdict is FAIL
    assert verdict_of(path, count=0).verdict is PASS


FAULTS = {
    "cut": (lines(*GOOD) + b'{"id": "r9", "prom', "cut_last", 6, "the last line is cut"),
    "fused": (lines(GOOD[0], b'{"id": "x"}{"id": "y"}', GOOD[1]), "fused", 2, "2 records in one line"),
    "fused_comma": (lines(b'{"id": "x"},{"id": "y"}'), "fused", 1, "2 records in one line"),
    "fused_cut": (lines(GOOD[0], b'{"id": "x", "prompt": "Wh{"id": "y"}'), "fused", 2, "a cut record, and another"),
    "nul": (lines(GOOD[0]) + b"\0" * 4096 + lines(GOOD[1]), "nul", 2, "4096 NUL bytes"),
    "nul_end": (lines(GOOD[0]) + b"\0" * 100, "nul", 2, "100 NUL bytes"),
    "bom": (b"\xef\xbb\xbf" + lines(*GOOD), "bom", 1, "byte-order mark"),
    "bom_inside": (lines(GOOD[0]) + b"\xef\xbb\xbf" + lines(GOOD[1]), "bom", 2, "byte-order mark"),
    "utf16": (lines(*GOOD).decode().encode("utf-16"), "nul", 1, "UTF-16"),
    "latin1": (lines(GOOD[0], '{"id": "é"}'.encode("latin-1")), "not_utf8", 2, "byte 0xe9"),
    "wrong": (lines(GOOD[0], b"{'id': 'x'}"), "not_json", 2, "double quotes"),
    "nan": (lines(GOOD[0], b'{"loss": NaN}'), "not_json", 2, "NaN is no JSON"),
    "text": (lines(GOOD[0], b"Traceback (most recent call last):"), "not_json", 2, "no JSON in 1 line"),
    "deep": (lines(b"[" * 100_000 + b"]" * 100_000), "too_deep", 1, "nested"),
    "digits": (lines(b'{"n": ' + b"9" * 5000 + b"}"), "not_json", 1, "digits"),
    "pretty": (json.dumps(GOOD[0], indent=2).encode(), "not_json", 1, "no JSON in"),
}


@pytest.mark.parametrize(("data", "kind", "line", "words"), FAULTS.values(), ids=FAULTS)
def test_faults_of_lines(written, data, kind, line, words):
    """
    Each fault of a line is FAIL, counted by its kind, with the number of its first line.
    """
    finding = verdict_of(written(data))

    assert finding.verdict is FAIL
    assert finding.facts["faults"][kind]["line"] == line
    assert words in finding.reason


FIELDS = {
    "missing": ({"id": "a"}, {"required": ["output"]}, "a field missing 1 time, first line 2: no field output"),
    "null": ({"output": None}, {"required": ["output"]}, "a field empty 1 time, first line 2: field output is null"),
    "blank": ({"output": " \n"}, {"required": ["output"]}, "a field empty"),
    "empty": ({"output": []}, {"required": ["output"]}, "field output is []"),
    "nested": ({"meta": {"tokens": {}}}, {"required": ["meta.tokens"]}, "field meta.tokens is {}"),
    "scalar": ([1, 2], {"required": ["output"]}, "no object in 1 line, first line 2: a list"),
    "open": ({"output": "<think>on and on"}, {"balanced": THINK}, "1 <think> and 0 </think> in one text"),
    "close": ({"output": "so</think>yes"}, {"balanced": THINK}, "0 <think> and 1 </think>"),
    "order": ({"output": "</think><think>"}, {"balanced": THINK}, "</think> before its <think>"),
    "in_list": ({"messages": [{"content": "<think>"}]}, {"balanced": THINK}, "out of balance 1 time"),
    "repeated": ({"id": "r0"}, {"unique": "id"}, 'first line 2: id "r0" as in line 1'),
    "no_id": ({"output": "x"}, {"unique": "id"}, "no field id"),
}


@pytest.mark.parametrize(("row", "fields", "words"), FIELDS.values(), ids=FIELDS)
def test_faults_of_fields(written, row, fields, words):
    """
    A record without what is asked of it is FAIL, naming field and line.
    """
    first = {**GOOD[0], "meta": {"tokens": [1]}}
    finding = verdict_of(written(lines(first, row)), **fields)

    assert finding.verdict is FAIL
    assert words in finding.reason


def test_zero_and_false_are_no_empty_fields(written):
    """
    0 and false are values.
    """
    assert verdict_of(written(lines({"score": 0}, {"score": False})), required="score").verdict is PASS


def test_all_faults_are_told_at_once(written):
    """
    Faults of several kinds stand in one reason, each with its count and its first line.
    """
    rows = [GOOD[0], GOOD[0], b"nonsense", {"id": "z", "output": ""}, b"more nonsense"]
    finding = verdict_of(written(lines(*rows)), required=["output"], unique="id", count=9)

    assert finding.verdict is FAIL
    for words in (
        "no JSON in 2 lines, first line 3",
        "a field empty 1 time, first line 4",
        "first line 2: id",
        "5 of 9 records",
    ):
        assert words in finding.reason
    assert finding.facts["good"] == 1


def test_the_count_of_an_input_file(written):
    """
    `count` may be the file that the records were made from: a record for each of its lines.
    """
    prompts = written(lines(*[{"prompt": n} for n in range(5)]) + b"\n", "prompts.jsonl")

    assert verdict_of(written(lines(*GOOD)), count=prompts).verdict is PASS
    short = verdict_of(written(lines(*GOOD[:4])), count=prompts)
    assert short.verdict is FAIL
    assert f"4 of 5 records expected by {prompts}" in short.reason


def test_a_last_line_without_newline_is_whole(written):
    """
    A missing newline at the end alone is no cut.
    """
    assert verdict_of(written(lines(*GOOD)[:-1]), count=5).verdict is PASS


def test_a_cut_line_of_a_live_writer_is_excused(written):
    """
    With `live`, the line that a process is just writing does not count, and is a warning naming the writer.
    """
    path = written(lines(*GOOD))
    with path.open("ab") as writer:
        writer.write(b'{"id": "r5", "out')
        writer.flush()
        finding = verdict_of(path, live=True, count=5)
        strict = verdict_of(path)

    assert finding.verdict is PASS
    assert finding.warnings == (f"line 6 is being written by pid {os.getpid()}",)
    assert strict.verdict is FAIL


class Alone(Place):
    """A host on which nobody but this process runs, so that nobody may hide."""

    def listdir(self, path):
        return [str(os.getpid())] if path == "/proc" else super().listdir(path)


def test_a_cut_line_without_a_writer_is_a_fault(written):
    """
    With `live`, a cut line that nobody is writing is FAIL: the writer has died. Who merely reads it is no writer.
    """
    path = written(lines(*GOOD) + b'{"id": "r5", "out')
    with path.open("rb"):
        finding = JsonlValid(path, live=True).judge(jsonl.inspect(Alone(), str(path), live=True))

    assert finding.verdict is FAIL
    assert "the last line is cut" in finding.reason


def test_a_fault_before_the_end_is_never_excused(written):
    """
    A live writer excuses the last line only.
    """
    path = written(lines(GOOD[0], b'{"id": "r5", "out', GOOD[1]))
    with path.open("ab"):
        assert verdict_of(path, live=True).verdict is FAIL


class Closed(Place):
    """A host on which other processes may not be looked into."""

    def listdir(self, path):
        if str(path).endswith("/fd"):
            raise PermissionError(13, "Permission denied", path)
        return super().listdir(path)


def test_a_writer_that_may_not_be_seen_settles_nothing(written):
    """
    Where nobody may be looked into, a cut line of a live file is UNKNOWN.
    """
    path = written(lines(*GOOD) + b'{"id"')
    finding = JsonlValid(path, live=True).judge(jsonl.inspect(Closed(), str(path), live=True))

    assert (finding.verdict, finding.cause) == (UNKNOWN, Cause.PERMISSION)


@given(st.integers(1, 400))
def test_cut_anywhere(tmp_path_factory, drop):
    """
    A file that lacks its last bytes does not pass against its count, wherever it was cut.
    """
    data = lines(*GOOD)
    path = tmp_path_factory.mktemp("cut") / "a.jsonl"
    path.write_bytes(data[: max(0, len(data) - 1 - drop)])

    assert verdict_of(path, count=5).verdict is FAIL


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(JSON, min_size=1, max_size=6), st.sampled_from([b"\n", b"\r\n"]))
def test_whatever_json_writes_is_read(tmp_path_factory, values, ending):
    """
    Any JSON values, one a line, pass; the separators U+2028 and NEL within a text end no line.
    """
    path = tmp_path_factory.mktemp("any") / "a.jsonl"
    path.write_bytes(
        b"".join(json.dumps(v, ensure_ascii=False).encode("utf-8", "surrogatepass") + ending for v in values)
    )

    finding = verdict_of(path)

    assert finding.facts["records"] == len(values)
    assert finding.verdict is PASS


@pytest.mark.parametrize("size", [1, 7, 64])
def test_lines_across_reads(written, monkeypatch, size):
    """
    Where the reads end makes no difference.
    """
    monkeypatch.setattr(jsonl, "READ", size)
    finding = verdict_of(written(lines(*GOOD, b"bad")))

    assert finding.facts["faults"]["not_json"]["line"] == 6
    assert finding.facts["faults"]["not_json"]["offset"] == len(lines(*GOOD))


def test_gzip_is_read_through(written):
    """
    gzip, also several streams after each other, is read as what it holds; a cut one fails, a bomb takes no memory.
    """
    packed = gzip.compress(lines(*GOOD)) + gzip.compress(lines(*GOOD))
    assert verdict_of(written(packed), count=10).verdict is PASS
    cut = verdict_of(written(packed[:-12]))
    assert cut.verdict is FAIL
    assert "gzip stream is cut" in cut.reason
    big = lines(*[{"text": "x" * 1000}] * 3000)
    assert verdict_of(written(gzip.compress(big)), count=3000).verdict is PASS


def test_a_line_beyond_memory_is_not_decided(written, monkeypatch):
    """
    A line too long to be parsed is UNKNOWN, unless another line fails; memory stays bounded.
    """
    monkeypatch.setattr(jsonl, "LINE_LIMIT", 1 << 16)
    long = b'{"text": "' + b"x" * (1 << 22) + b'"}'
    tracemalloc.start()
    finding = verdict_of(written(lines(GOOD[0], long, GOOD[1])))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert (finding.verdict, finding.cause) == (UNKNOWN, Cause.BOUND_REACHED)
    assert finding.facts["coverage"]["lines"] == 2
    assert peak < 16 << 20
    assert verdict_of(written(lines(long, b"bad"))).verdict is FAIL


def test_a_line_of_many_small_values_is_not_decided(written):
    """
    Millions of empty lists in one line would take gigabytes once parsed: not parsed, UNKNOWN.
    """
    finding = verdict_of(written(lines(b"[" + b"[]," * 1_000_000 + b"[]]")))

    assert (finding.verdict, finding.cause) == (UNKNOWN, Cause.BOUND_REACHED)


def test_more_ids_than_memory_holds(written, monkeypatch):
    """
    Ids past the bound are not kept: without a repetition among the others the claim is UNKNOWN.
    """
    monkeypatch.setattr(jsonl, "SLOTS", 1 << 10)
    rows = [{"id": n} for n in range(1500)]

    finding = verdict_of(written(lines(*rows)), unique="id")
    repeated = verdict_of(written(lines(*rows, {"id": 3})), unique="id")

    assert (finding.verdict, finding.cause) == (UNKNOWN, Cause.BOUND_REACHED)
    assert repeated.verdict is FAIL


@given(st.lists(st.integers(1, 2**64 - 1), max_size=3000))
def test_the_set_of_digests_is_a_set(digests):
    """
    `add` says True for the first of each, as a set would.
    """
    mine, theirs = jsonl._Digests(), set()

    for digest in digests:
        assert mine.add(digest) is (digest not in theirs)
        theirs.add(digest)


def test_a_file_that_changes_under_the_read_is_unknown(written):
    """
    Without `live`, a file that grows while it is read is UNKNOWN.
    """
    path = written(lines(*GOOD))

    class Growing(Place):
        def progress(self, done, total, unit="bytes"):
            with path.open("ab") as file:
                file.write(lines(GOOD[0]))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonl, "EVERY", 1)
        with pytest.raises(Exception, match="changed while it was read"):
            jsonl.inspect(Growing(), str(path))


@pytest.mark.parametrize(
    "fields",
    [
        {"required": [""]},
        {"balanced": [("<a>",)]},
        {"balanced": [("x", "x")]},
        {"unique": ""},
        {"count": -1},
    ],
)
def test_wrong_use_is_refused(fields):
    """
    An empty name, half a pair, a negative count: ValueError where the check is built.
    """
    with pytest.raises(ValueError):
        JsonlValid("a.jsonl", **fields)


def test_through_the_agent(written):
    """
    Through the host's agent: the same verdicts, with the writer seen from outside.
    """
    path = written(lines(*GOOD))
    assert verify(JsonlValid(path, required=["id"], unique="id", balanced=THINK, count=5)).passed
    with path.open("ab") as writer:
        writer.write(b'{"id": "r5", "out')
        writer.flush()
        assert verify(JsonlValid(path, live=True)).passed
        assert verify(JsonlValid(path)).failed
