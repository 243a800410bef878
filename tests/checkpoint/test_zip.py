"""torch's ZIP files: no flip, cut, zeroed page or swapped record passes where it should show."""

from __future__ import annotations

import io
import re
import struct
import zipfile

import corpus
import hypothesis.strategies as st
import pytest
import torch
from hypothesis import HealthCheck, given, settings

from verikit import FAIL, PASS, UNKNOWN
from verikit.checks.checkpoint import CheckpointIntact
from verikit.testing.here import examine_here

SMALL = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

# Bytes of a header with bits that nobody who loads the file reads, by their offsets: what made it, when, flags, attributes.
# Which bits of them are read after all, test_zip_fields.py finds out from the loaders.
UNREAD = {
    b"PK\1\2": {4, 5, 6, 7, 8, 9, 12, 13, 14, 15, 34, 36, 37, 38, 39, 40, 41},
    b"PK\3\4": {4, 5, 6, 7, 10, 11, 12, 13},
    b"PK\6\6": {12, 13, 14, 15},
    b"PK\6\7": {4, 5, 6, 7},
    b"PK\5\6": {4, 5, 6, 7, 8, 9},  # the zip64 record before it has the same
}


def small():
    torch.manual_seed(0)
    return {"w": torch.randn(30, 40), "b": torch.randn(5).bfloat16(), "e": torch.zeros(0), "step": 3}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return corpus.torch_zip(small)(tmp_path_factory.mktemp("zip")).read_bytes()


def unread(data):
    """Offsets of bytes that no loader reads: those above, and the padding that aligns a record."""
    found, archive = set(), zipfile.ZipFile(io.BytesIO(data))
    for entry in archive.infolist():
        at = entry.header_offset
        n, m = struct.unpack_from("<2H", data, at + 26)
        found |= {at + each for each in UNREAD[b"PK\3\4"]} | set(range(at + 30 + n, at + 30 + n + m))
    at = archive.start_dir
    while data[at : at + 4] == b"PK\1\2":
        found |= {at + each for each in UNREAD[b"PK\1\2"]}
        at += 46 + sum(struct.unpack_from("<3H", data, at + 28))
    for magic in (b"PK\6\6", b"PK\6\7", b"PK\5\6"):
        found |= {data.rindex(magic) + each for each in UNREAD[magic]}
    return found


def filled_in(data):
    """
    Whether a size that a local header leaves to the descriptor behind the record stands there after all, and is right:
    of a record of 1 or 2 bytes one bit does that.
    """
    for entry in zipfile.ZipFile(io.BytesIO(data)).infolist():
        sizes = struct.unpack_from("<2L", data, entry.header_offset + 18)
        if entry.flag_bits & 8 and any(sizes) and set(sizes) <= {0, entry.file_size}:
            return True
    return False


def examine(folder, data, **options):
    (folder / "model.pt").write_bytes(data)
    return examine_here(CheckpointIntact(folder / "model.pt", **options))


@SMALL
@given(data=st.data())
def test_flip(tmp_path, whole, data):
    """
    With any bit flipped in a record, or in a field that a loader reads, it does not pass at content depth,
    unless the field is right then.
    """
    at = data.draw(st.sampled_from(sorted(set(range(len(whole))) - unread(whole))))
    bit = data.draw(st.integers(0, 7))
    flipped = bytearray(whole)
    flipped[at] ^= 1 << bit

    assert examine(tmp_path, flipped, depth="content").verdict is not PASS or filled_in(bytes(flipped))


@SMALL
@given(data=st.data())
def test_cut(tmp_path, whole, data):
    """
    Cut at any byte it fails at structure, and says that it is truncated.
    """
    finding = examine(tmp_path, whole[: data.draw(st.integers(0, len(whole) - 1))])

    assert finding.verdict is FAIL
    assert any(word in finding.reason for word in ("truncated", "empty", "begins with"))


@SMALL
@given(data=st.data())
def test_zeroed_page(tmp_path, whole, data):
    """
    With a stretch of any record zeroed it fails at content depth.
    """
    entry = data.draw(st.sampled_from([e for e in zipfile.ZipFile(io.BytesIO(whole)).infolist() if e.file_size > 8]))
    at = whole.index(entry.filename.encode()) + len(entry.filename)
    at += struct.unpack_from("<H", whole, entry.header_offset + 28)[0]
    size = data.draw(st.integers(1, entry.file_size))
    zeroed = whole[:at] + bytes(size) + whole[at + size :]

    if zeroed != whole:
        assert examine(tmp_path, zeroed, depth="content").verdict is FAIL


@pytest.mark.parametrize(
    ("change", "words"), [(3, ": 3 bytes too many before it"), (-5, ": 5 bytes are lost before it")]
)
def test_bytes_put_in_or_lost(tmp_path, whole, change, words):
    """
    Bytes put in before the end, or taken out, fail at structure, and the reason counts them.
    """
    data, middle = whole, len(whole) // 2
    data = data[:middle] + bytes(change) + data[middle:] if change > 0 else data[: middle + change] + data[middle:]

    finding = examine(tmp_path, data)

    assert finding.verdict is FAIL
    assert words in finding.reason


def test_swapped_records(tmp_path):
    """
    Two records of one size that changed places fail at content by their CRCs, and at structure once those are swapped too.
    """
    torch.save({"a": torch.full((64,), 1.0), "b": torch.full((64,), 2.0)}, tmp_path / "first.pt")
    whole = (tmp_path / "first.pt").read_bytes()
    one, two = (whole.index(struct.pack("<f", value) * 64) for value in (1.0, 2.0))
    swapped = bytearray(whole)
    swapped[one : one + 256], swapped[two : two + 256] = whole[two : two + 256], whole[one : one + 256]

    finding = examine(tmp_path, swapped, depth="content")
    crcs = [entry.CRC for entry in zipfile.ZipFile(io.BytesIO(whole)).infolist() if "/data/" in entry.filename]
    first, second = (struct.pack("<I", crc) for crc in crcs)
    hidden = bytes(swapped).replace(first, b"????").replace(second, first).replace(b"????", second)

    assert finding.verdict is FAIL
    assert "is not what its CRC-32 says" in finding.reason
    assert "not those that its writer listed" in examine(tmp_path, hidden).reason


def test_crc_off_is_told_from_corruption(tmp_path):
    """
    CRCs that are all zero with the fold of zeros are a file written without; zeroed by somebody they are a fault.
    """
    good = corpus.crc_off(tmp_path)
    off = examine_here(CheckpointIntact(good))
    whole = corpus.torch_zip(small)(tmp_path).read_bytes()
    for entry in zipfile.ZipFile(io.BytesIO(whole)).infolist():
        whole = whole.replace(struct.pack("<I", entry.CRC), bytes(4)) if entry.CRC else whole

    zeroed = examine(tmp_path, whole)

    assert off.verdict is PASS
    assert any("CRCs switched off" in warning for warning in off.warnings)
    assert zeroed.verdict is FAIL
    assert "not those that its writer listed" in zeroed.reason


def test_crc_off_is_compared_by_digest_only(tmp_path):
    """
    A file without CRCs is UNKNOWN at content depth: its bytes were read, but there is nothing to hold them against.
    """
    finding = examine_here(CheckpointIntact(corpus.crc_off(tmp_path), depth="content"))

    assert finding.verdict is UNKNOWN
    assert "digest=" in finding.reason


def test_skipped_data_is_a_hole(tmp_path):
    """
    A checkpoint saved under skip_data has records that were never filled, and fails at structure.
    """
    with torch.serialization.skip_data():
        torch.save(small(), tmp_path / "model.pt")

    finding = examine_here(CheckpointIntact(tmp_path / "model.pt"))

    assert finding.verdict is FAIL
    assert "never filled" in finding.reason


def test_edited_record_shows_in_the_fold(tmp_path):
    """
    A parameter renamed in data.pkl, with all CRCs put right, contradicts the fold in .data/serialization_id.
    """
    path = corpus.torch_zip(small)(tmp_path)
    with zipfile.ZipFile(path) as old:
        records = {name: old.read(name) for name in old.namelist()}
    name = next(name for name in records if name.endswith("data.pkl"))
    records[name] = records[name].replace(b"X\x01\x00\x00\x00w", b"X\x01\x00\x00\x00v")
    with zipfile.ZipFile(path, "w") as new:
        for each, data in records.items():
            new.writestr(each, data)

    finding = examine_here(CheckpointIntact(path))
    assert finding.verdict is FAIL
    assert "not those that its writer listed" in finding.reason

    # within torch's own archive, where nobody but torch writes
    whole = corpus.torch_zip(small)(tmp_path).read_bytes()
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        entry = archive.getinfo(name)
    edited = whole.replace(b"X\x01\x00\x00\x00w", b"X\x01\x00\x00\x00v")
    crc = struct.pack("<I", __import__("zlib").crc32(records[name]))
    finding = examine(tmp_path, edited.replace(struct.pack("<I", entry.CRC), crc))
    assert finding.verdict is FAIL
    assert "not those that its writer listed" in finding.reason


def test_cut_file_says_how_much_there_must_have_been(tmp_path, whole):
    """
    A file without its directory says how many bytes its data.pkl counts on.
    """
    finding = examine(tmp_path, whole[:3000])

    assert finding.verdict is FAIL
    assert "the ZIP directory at the end is missing" in finding.reason
    assert "of at least 5." in finding.reason


def test_truncated_of_a_known_size(tmp_path, whole):
    """
    With size= the reason says how much is there of how much, in the words of the issue.
    """
    finding = examine(tmp_path, whole[:3000], size=17_852_470_761)

    assert finding.reason.endswith(
        "truncated: 2.9 KiB of 16.6 GiB (17,852,470,761 bytes expected); the ZIP directory at the end is missing"
    )


def test_more_in_a_storage_than_its_five(tmp_path):
    """
    torch unpacks what names a storage into just so many names: with more behind it no loader gets on.
    """

    # BININT1 or BININT2 with the number of elements, TUPLE; then twice None before the TUPLE.
    def change(records):
        return {**records, "data.pkl": re.sub(rb"([KM].{1,2})(tq.Q)", rb"\1NN\2", records["data.pkl"], count=1)}

    finding = examine_here(CheckpointIntact(corpus.rebuilt(change)(tmp_path)))

    assert finding.verdict is FAIL
    assert "a persistent id that names no storage" in finding.reason


def test_view_outside_of_its_storage(tmp_path):
    """
    A tensor that reaches beyond its storage fails at structure, named.
    """
    # BININT1 30, BININT1 40, TUPLE2 are the sizes of "w"; 31 rows do not fit.
    change = lambda records: {**records, "data.pkl": records["data.pkl"].replace(b"K@K0\x86", b"KAK0\x86", 1)}  # noqa: E731

    finding = examine_here(CheckpointIntact(corpus.rebuilt(change)(tmp_path)))

    assert finding.verdict is FAIL
    assert "tensor 'embed.weight' reaches to byte" in finding.reason


@pytest.mark.parametrize(("text", "verdict"), [(b"zz\n", FAIL), (b"", FAIL), (b"2", PASS), (b" 10\n", PASS)])
def test_version_is_a_number(tmp_path, text, verdict):
    """
    torch reads a number from the record `version`, and refuses a file in which there is none.
    """
    change = lambda records: {**records, "version": text}  # noqa: E731

    finding = examine_here(CheckpointIntact(corpus.rebuilt(change)(tmp_path)))

    assert finding.verdict is verdict, finding.reason
    assert verdict is PASS or "version holds no number" in finding.reason


def test_zip_bomb(tmp_path):
    """
    A packed record that claims more than deflate can hold fails; one that unpacks to more than it says is stopped there.
    """
    with zipfile.ZipFile(tmp_path / "model.pt", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model/data.pkl", b"N.")
        archive.writestr("model/data/0", bytes(50_000_000))
    data = (tmp_path / "model.pt").read_bytes()

    lying = examine(tmp_path, data.replace(struct.pack("<I", 50_000_000), struct.pack("<I", 1000)), depth="content")
    huge = examine(tmp_path, data.replace(struct.pack("<I", 50_000_000), struct.pack("<I", 4_000_000_000)))

    assert lying.verdict is FAIL
    assert huge.verdict is FAIL
    assert "more than deflate can hold" in huge.reason


def test_names_that_leave_the_folder(tmp_path):
    """
    A record whose name leads out of the archive fails.
    """
    with zipfile.ZipFile(tmp_path / "model.pt", "w") as archive:
        archive.writestr("model/data.pkl", b"N.")
        archive.writestr("../../etc/cron.d/x", b"x")

    finding = examine_here(CheckpointIntact(tmp_path / "model.pt"))

    assert finding.verdict is FAIL
    assert "leaves the folder" in finding.reason


def test_two_records_of_one_name(tmp_path):
    """
    Two records of one name fail: loaders differ in which they take.
    """
    with zipfile.ZipFile(tmp_path / "model.pt", "w") as archive:
        archive.writestr("model/data.pkl", b"N.")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("model/data.pkl", b"N.")

    finding = examine_here(CheckpointIntact(tmp_path / "model.pt"))

    assert finding.verdict is FAIL
    assert "two records are called 'model/data.pkl'" in finding.reason
