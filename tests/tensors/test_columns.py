"""Values of the columns of Arrow and Parquet files, as pyarrow and datasets write them (`write_tables.py`)."""

from __future__ import annotations

import base64
import io
import json
import pathlib
import types
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verikit import FAIL, PASS, UNKNOWN, Cause, TensorShapeSane, suites
from verikit.probes import formats, scan, values
from verikit.probes.formats import bits, codecs
from verikit.probes.formats.layout import Broken, Layout, Window
from verikit.probes.place import CannotSee, Place
from verikit.probes.tensors import layout_of
from verikit.testing.here import examine_here

numpy = pytest.importorskip("numpy")

TABLES = json.loads(pathlib.Path(__file__).with_name("tables.json").read_text())
FILES = {name: zlib.decompress(base64.b64decode(text)) for name, text in TABLES["files"].items()}
UNPACKED_BY_NONE = {"brotli.parquet"}
NEED_NUMPY = {"optional", "nested", "part.a", "coded"}
PARTS = {"without numpy": None, "numpy": numpy}


@pytest.fixture(autouse=True)
def bare(monkeypatch):
    """No package but numpy helps: what is read here is read by the library itself."""
    monkeypatch.setattr(Place, "accelerator", lambda self, name: numpy if name == "numpy" else None)


def written(tmp_path, name, data=None):
    path = tmp_path / name
    path.write_bytes(FILES[name] if data is None else data)
    return path


def look(path, spec, **more):
    return examine_here(TensorShapeSane(path, spec, **more))


def elements(np, path, name):
    """The values of a column as a list, None where it is null, by its reader alone."""
    layout = layout_of(Place(), str(path))
    row = next(row for row in layout.tensors if row.name == name)
    with open(path, "rb") as file:
        tensor = values.stored_tensor(np, layout, row, file, None, Place())
        if isinstance(tensor, str):
            raise CannotSee("unsupported", tensor)
        out = [None] * tensor.count
        for start, data in tensor.blocks(64):
            piece = scan.plain_values(scan.Stored(tensor.dtype, (), lambda step, data=data: [(0, data)]))
            for k, value in enumerate(piece):
                at = start + k if isinstance(start, int) else int(start[k])
                assert out[at] is None
                out[at] = bool(value) if tensor.dtype == "bool" else value
        assert tensor.nulls.count == out.count(None)
        assert tensor.nulls.first == (out.index(None) if None in out else None)
    return out


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", sorted(set(FILES) - UNPACKED_BY_NONE))
def test_every_value_of_every_column(tmp_path, name, part):
    """
    Whatever the encoding, codec and version, a column has the very values that were written, each in its place.
    """
    path, seen = written(tmp_path, name), 0
    for row in layout_of(Place(), str(path)).tensors:
        if row.dtype == "string":
            continue
        if part == "without numpy" and name.endswith(".arrow") and row.name in NEED_NUMPY:
            with pytest.raises(CannotSee, match="without numpy on this host"):
                elements(None, path, row.name)
            continue
        seen += 1
        assert elements(PARTS[part], path, row.name) == TABLES["values"][row.name], row.name
    assert seen


@pytest.mark.parametrize("name", ["datasets.arrow", "datasets.parquet", *sorted(set(FILES) - UNPACKED_BY_NONE)])
def test_token_dataset(tmp_path, name):
    """
    Token ids pass or fail by their values in any table: the vocabulary is one too small, and each id beyond it is counted.
    """
    path = written(tmp_path, name)
    if name == "split.parquet":
        assert examine_here(suites.token_dataset(path, vocab=320).part).verdict is FAIL  # it has no ids
        return
    good, bad = (examine_here(suites.token_dataset(path, vocab=vocab).part) for vocab in (320, 319))
    ids = TABLES["values"]["input_ids"]

    assert good.verdict is PASS, good.reason
    assert bad.verdict is FAIL
    words = (
        f"{name}:input_ids: {ids.count(319)} of {len(ids)} values are not in 0..318, first at [{ids.index(319)}]; range"
    )
    by_statistics = f"{name}:input_ids: range {min(ids)}..319 by its statistics, expected in 0..318"
    assert words in bad.reason or by_statistics in bad.reason
    assert (by_statistics in bad.reason) == (name in ("stated.parquet", "datasets.parquet"))


@pytest.mark.parametrize("name", ["datasets.arrow", "datasets.parquet"])
def test_other_columns_are_not_ids(tmp_path, name):
    """
    Only the ids and labels of a table are held against the vocabulary; a label of -100 is none, an id of -100 is wrong.
    """
    path = written(tmp_path, name)

    assert examine_here(suites.token_dataset(path, vocab=320).part).facts["coverage"]["tensors"] == (2, 4)
    assert examine_here(suites.token_dataset(path, vocab=320, name="labels").part).verdict is FAIL
    missing = examine_here(suites.token_dataset(path, vocab=320, name="token_ids").part)
    assert missing.verdict is FAIL
    assert "token_ids: missing" in missing.reason


def test_what_no_one_can_unpack(tmp_path):
    """
    A codec that this host has nothing for is UNKNOWN, and the reason names it and what to install.
    """
    finding = look(written(tmp_path, "brotli.parquet"), {"input_ids": "i32[n] & in 0..319"})

    assert (finding.verdict, finding.cause) == (UNKNOWN, Cause.UNSUPPORTED)
    assert "brotli.parquet:input_ids: its values can't be told: its values are packed by Brotli" in finding.reason
    assert "install pyarrow there" in finding.reason


def test_a_package_of_the_host_unpacks(tmp_path, monkeypatch):
    """
    Where the host has pyarrow it is given each packed page with the size that it says, and its answer is believed.
    """
    asked = []

    def decompress(data, decompressed_size, codec, asbytes):
        asked.append(codec)
        return bytes(codecs.snappy(data, decompressed_size))

    package = types.SimpleNamespace(decompress=decompress)
    monkeypatch.setattr(Place, "accelerator", lambda self, name: {"numpy": numpy, "pyarrow": package}.get(name))

    assert look(written(tmp_path, "snappy.parquet"), {"input_ids": "i32[n] & in 0..319"}).verdict is PASS
    assert set(asked) == {"snappy"}


def test_much_by_hand_is_refused(tmp_path, monkeypatch):
    """
    What plain Python would unpack for minutes is UNKNOWN, and says what is missing.
    """
    monkeypatch.setitem(codecs.PATIENCE, "zstd", 100)
    finding = look(written(tmp_path, "zstd.parquet"), {"input_ids": "i32[n] & in 0..319"})

    assert finding.verdict is UNKNOWN
    assert "packed by Zstandard" in finding.reason
    assert "install pyarrow there" in finding.reason


@pytest.mark.parametrize(
    "name", ["kinds.parquet", "kinds-2.parquet", "kinds.arrow", "kinds-zstd.arrow", "delta.parquet"]
)
def test_nulls(tmp_path, name):
    """
    What has no value satisfies no word about elements, and leaves words about the whole open; a list of none is no null.
    """
    path = written(tmp_path, name)

    for word in ("in 0..59", ">= 0", "finite", "~(== 99)"):
        finding = look(path, {"optional": f"i64[60] & ({word})"})
        assert finding.verdict is FAIL
        assert finding.reason == f"{name}:optional: 6 of 60 values are null, first at [3]"
    both = look(path, {"optional": "i64[60] & < 30"})
    assert (
        f"{name}:optional: 27 of 54 values are not < 30, first at [30]; range 0..59; 6 of 60 values are null"
        in both.reason
    )
    for word in ("nonzero", "sum == 3", "step 1"):
        assert look(path, {"optional": f"i64[60] & {word}"}).verdict is UNKNOWN
    assert look(path, {"input_ids": "i32[n] & >= 0"}).verdict is PASS


@pytest.mark.parametrize("name", ["snappy.parquet", "datasets.arrow"])
@pytest.mark.parametrize("word", ["step 1", "rising", "first == 0", "rows distinct", "planes distinct(0)"])
def test_ragged_rows(tmp_path, name, word):
    """
    Words about rows are not told of lists of different lengths, which lie one after the other: UNKNOWN, either way round.
    """
    path = written(tmp_path, name)

    for claim in (word, f"~({word})"):
        finding = look(path, {"input_ids": f"integer[n] & {claim}"})
        assert finding.verdict is UNKNOWN
        assert "its rows are lists of different lengths" in finding.reason
    assert look(path, {"input_ids": "integer[n] & ~distinct & nonzero & max <= 319"}).verdict is PASS


@pytest.mark.parametrize("name", ["kinds.arrow", "kinds-file.arrow", "kinds-lz4.arrow"])
def test_lists_of_one_length_have_rows(tmp_path, name):
    """
    A column of fixed-size lists has two axes, and words about rows and places mean what they do in a tensor.
    """
    path = written(tmp_path, name)

    assert look(path, {"vector": "f32[60 2] & rows distinct & last == 1 & finite"}).verdict is PASS
    assert (
        "1 of 120 values is not < 59, first at [59, 0]; range 0..59"
        in look(path, {"vector": "f32[60 2] & < 59"}).reason
    )


def test_columns_are_not_compared(tmp_path):
    """
    Whether two columns are the same is not told: UNKNOWN.
    """
    finding = look(written(tmp_path, "datasets.arrow"), {"input_ids": "integer[n] & same(labels)"})

    assert finding.verdict is UNKNOWN
    assert "columns of tables are not compared" in finding.reason


# Damage.


def test_a_page_with_another_sum(tmp_path):
    """
    A page that has not the CRC-32 that it says is broken, whatever its values are.
    """
    data = bytearray(FILES["checked.parquet"])
    data[60] ^= 4

    finding = look(written(tmp_path, "checked.parquet", data), {"input_ids": "i32[n] & in 0..319"})

    assert finding.verdict is FAIL
    assert "checked.parquet:input_ids: its bytes are broken: the page at byte" in finding.reason


@pytest.mark.parametrize("name", ["snappy.parquet", "datasets.arrow", "kinds-file.arrow"])
def test_cut_anywhere(tmp_path, name):
    """
    A table that lacks its end does not pass by the values that are left.
    """
    data = FILES[name]
    for cut in range(9, len(data), 97):
        finding = look(written(tmp_path, name, data[:-cut]), {"input_ids": "integer[n] & in 0..319"})
        assert finding.verdict is not PASS, cut


@given(st.data())
@settings(deadline=None, max_examples=250)
def test_any_bytes(data):
    """
    However the bytes of a table are changed, each column is read to its end, broken, or not told, and nothing else; with and
    without numpy the same.
    """
    name = data.draw(st.sampled_from(sorted(set(FILES) - UNPACKED_BY_NONE)))
    changed = bytearray(FILES[name])
    for at, byte in data.draw(st.lists(st.tuples(st.integers(0, len(changed) - 1), st.integers(0, 255)), max_size=4)):
        changed[at] = byte
    changed = bytes(changed[: len(changed) - data.draw(st.sampled_from([0, 0, 0, 1, 50, 500]))])
    layout = Layout("x", len(changed), "arrow_ipc" if name.endswith(".arrow") else "parquet")
    try:
        formats.load(layout.format).structure(Window(io.BytesIO(changed), len(changed)), layout)
    except (Broken, CannotSee):
        return
    for row in layout.tensors:
        ends = []
        for np in (numpy, None):
            try:
                kind, column = values.TABLES[layout.format].column(
                    Place(), np, Window(io.BytesIO(changed), len(changed)), layout, row
                )
                ends.append(sum(memoryview(piece).nbytes for _, piece in column.blocks(4096)) // scan.WIDTH[kind])
            except (Broken, CannotSee) as why:
                ends.append(type(why))
        assert ends[0] == ends[1] or CannotSee in ends


def test_pages_that_the_footer_leaves_out(tmp_path):
    """
    A footer that tells fewer entries than its pages hold, or other rows than its row groups, is broken: nothing is left unseen.
    """
    from verikit.probes.formats import parquet_pages

    data = FILES["kinds.parquet"]
    path = written(tmp_path, "kinds.parquet")
    layout = layout_of(Place(), str(path))
    leaf, chunks = layout.columns["u8"]
    for fewer in (0, chunks[0][3][5] - 8):
        short = [{**chunks[0], 3: {**chunks[0][3], 5: fewer}}, *chunks[1:]]
        layout.columns["u8"] = leaf, short
        row = next(row for row in layout.tensors if row.name == "u8")
        _, column = parquet_pages.column(Place(), numpy, Window(io.BytesIO(data), len(data)), layout, row)
        with pytest.raises(Broken, match="by the footer"):
            list(column.blocks(1 << 20))
    inside = next(at for at in range(len(data)) if mismatched(data[:at] + b"\x16\x76" + data[at + 2 :]))

    assert data[inside : inside + 2] == b"\x16\x78"  # 60, as the footer has it
    changed = data[:inside] + b"\x16\x76" + data[inside + 2 :]
    finding = look(written(tmp_path, "kinds.parquet", changed), {"u8": "u8[n]"})
    assert finding.verdict is FAIL
    assert "59 rows by the footer, 60 in its row groups" in finding.reason


def mismatched(data):
    layout = Layout("x", len(data), "parquet")
    try:
        formats.load("parquet").structure(Window(io.BytesIO(data), len(data)), layout)
    except (Broken, CannotSee):
        return False
    return [fault["what"] for fault in layout.faults] == ["59 rows by the footer, 60 in its row groups"]


@given(st.data())
@settings(deadline=None, max_examples=60)
def test_damage_under_checksums(tmp_path_factory, data):
    """
    Where pages have checksums, no changed byte of one makes other values pass.
    """
    changed = bytearray(FILES["checked.parquet"])
    footer = len(changed) - 8 - int.from_bytes(changed[-8:-4], "little")
    changed[data.draw(st.integers(4, footer - 1))] ^= data.draw(st.integers(1, 255))
    path = tmp_path_factory.mktemp("t") / "checked.parquet"
    path.write_bytes(changed)

    if look(path, {"input_ids": "i32[n] & in 0..319"}).verdict is PASS:
        assert elements(numpy, path, "input_ids") == TABLES["values"]["input_ids"]


@given(st.sampled_from(["snappy", "lz4_raw", "lz4", "zstd", "gzip"]), st.binary(max_size=200), st.integers(0, 500))
@settings(deadline=None, max_examples=300)
def test_packed_noise(codec, data, size):
    """
    Noise unpacks to as many bytes as were told, or is broken; it never grows beyond them.
    """
    heads = {"lz4": b"\x04\x22\x4d\x18\x40\x40\xc0", "zstd": b"\x28\xb5\x2f\xfd\x20"}
    try:
        assert len(codecs.Unpacker(Place()).unpack(codec, heads.get(codec, b"") + data, size)) == size
    except (Broken, CannotSee):
        pass


@given(st.integers(0, 40), st.lists(st.integers(0, 2**40 - 1), max_size=40), st.integers(0, 5), st.booleans())
@settings(deadline=None, max_examples=150)
def test_packed_numbers(width, numbers, spare, runs):
    """
    Numbers of any width come out of their bits as they went in, in runs too, in whatever pieces they are asked for.
    """
    numbers = [number % (1 << width) if width else 0 for number in numbers]
    groups = -(-len(numbers) // 8)
    whole = sum(number << k * width for k, number in enumerate(numbers)).to_bytes(groups * width, "little")
    for np in (numpy, None):
        assert list(bits.packed(np, whole, width, len(numbers))) == numbers
        head = bytes([groups << 1 | 1]) if groups else b""
        run = bytes([9 << 1]) + (5 % (1 << width) if width else 0).to_bytes((width + 7) // 8, "little")
        mixed = bits.Hybrid(np, run + head + whole, width)
        first = list(mixed.read(9 + min(spare, len(numbers))))
        assert first == [5 % (1 << width) if width else 0] * 9 + numbers[: min(spare, len(numbers))]
        assert list(mixed.read(len(numbers) - min(spare, len(numbers)))) == numbers[min(spare, len(numbers)) :]


def test_a_run_of_two_thousand_million():
    """
    A run in a few bytes is read on piece by piece, never unrolled.
    """
    run = bits.Hybrid(numpy, b"\xfe\xff\xff\xff\x0f\x01", 1)

    assert run.read(5).tolist() == [1] * 5
    assert run.left == 2**31 - 1 - 5
