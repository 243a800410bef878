"""Orbax: committed or not, OCDBT and folders; and the Zstandard that its metadata is packed with.

`orbax_0_12.json` was written once by orbax-checkpoint 0.12 (a bfloat16 array, a float32 vector, a number; base64), and
`zstd_vectors.json` by libzstd: neither package is needed to run these.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import pathlib
import pickle
import struct

import format_writers as w
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from verikit.checks.checkpoint import CheckpointIntact
from verikit.probes.formats import ocdbt, zstd
from verikit.probes.formats.layout import Broken
from verikit.probes.place import CannotSee
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS

HERE = pathlib.Path(__file__).parent
WRITTEN = json.loads((HERE / "orbax_0_12.json").read_text())
VECTORS = json.loads((HERE / "zstd_vectors.json").read_text())

quick = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def look(path, **claims):
    return examine_here(CheckpointIntact(str(path), **claims))


def orbax(path, form="ocdbt"):
    for name, text in WRITTEN[form].items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(base64.b64decode(text))
    return path


def data_file(path):
    return next((path / "d").iterdir())


def stored(entries, *, packed=0):
    """A store of one leaf node whose values are in a file of their own: manifest, node and values, by the specification."""
    keys, values, body = sorted(entries), b"", b""
    body += w.varint(0) + w.varint(1)  # height 0, one data file
    body += w.varint(len("d/v")) + w.varint(0) + b"d/v" + w.varint(len(keys))
    body += (
        b"".join(w.varint(0) for _ in keys[1:]) + b"".join(w.varint(len(key)) for key in keys) + "".join(keys).encode()
    )
    body += (
        b"".join(w.varint(len(entries[key])) for key in keys) + b"\1" * len(keys) + b"".join(w.varint(0) for _ in keys)
    )
    for key in keys:
        body += w.varint(len(values))
        values += entries[key]
    node = framed(ocdbt.NODE, body)
    head = bytes(16) + w.varint(0) + w.varint(1024) + w.varint(10**8) + b"\4" + w.varint(0)
    head += w.varint(1) + w.varint(len("d/n")) + w.varint(0) + b"d/n" + w.varint(1)
    numbers = (1, 0, 0, 0, len(node), len(keys), len(node), len(values))
    return framed(ocdbt.MANIFEST, head + b"".join(map(w.varint, numbers)) + bytes(8) + w.varint(0)), node, values


def framed(magic, body):
    whole = magic + struct.pack("<Q", len(body) + 18) + b"\0\0" + body
    return whole + struct.pack("<I", ocdbt.crc32c(whole))


def large(path):
    """Arrays whose chunks lie outside of the node."""
    describe = json.dumps(
        {"chunks": [4], "compressor": None, "dtype": "<f4", "filters": None, "shape": [8], "zarr_format": 2}
    )
    manifest, node, values = stored({"w/.zarray": describe.encode(), "w/0": bytes(16), "w/1": bytes(16)})
    (path / "d").mkdir(parents=True)
    (path / "manifest.ocdbt").write_bytes(manifest)
    (path / "d" / "n").write_bytes(node)
    (path / "d" / "v").write_bytes(values)
    meta = {"('w',)": {"key_metadata": [{"key": "w", "key_type": 2}], "value_metadata": {"value_type": "jax.Array"}}}
    (path / "_METADATA").write_text(json.dumps({"tree_metadata": meta}))
    (path / "_CHECKPOINT_METADATA").write_text(json.dumps({"item_handlers": "x", "commit_timestamp_nsecs": 5}))
    return path


GOOD = {
    "ocdbt": lambda p: orbax(p / "c"),
    "ocdbt, zarr 3": lambda p: orbax(p / "c", "ocdbt zarr3"),
    "folders": lambda p: orbax(p / "c", "folders"),
    "ocdbt, values outside": lambda p: large(p / "c"),
}


@pytest.mark.parametrize("name", GOOD)
def test_committed(tmp_path, name):
    """
    A committed checkpoint passes at structure, with its arrays counted, and is called by its format.
    """
    found = look(GOOD[name](tmp_path))

    assert found.verdict is PASS, found.reason
    assert ("3 tensors" in found.reason) or ("1 tensor" in found.reason)
    assert "orbax" in found.reason


def edit(path, change):
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))


BROKEN = {
    "not committed": ("ocdbt", lambda c: c.rename(c.parent / "c.orbax-checkpoint-tmp-17"), "not committed"),
    "no commit time": (
        "ocdbt",
        lambda c: edit(c / "_CHECKPOINT_METADATA", lambda value: value.update(commit_timestamp_nsecs=None)),
        "not that it was committed",
    ),
    "no manifest": ("ocdbt", lambda c: w.remove(c / "manifest.ocdbt"), "manifest.ocdbt"),
    "manifest empty": ("ocdbt", lambda c: w.cut(c / "manifest.ocdbt", 0), "manifest"),
    "manifest cut": ("ocdbt", lambda c: w.cut(c / "manifest.ocdbt", 60), "it says 113 itself"),
    "manifest goes on": ("ocdbt", lambda c: w.append(c / "manifest.ocdbt"), "it says 113 itself"),
    "manifest turned": ("ocdbt", lambda c: w.flip(c / "manifest.ocdbt", 40), "CRC-32C"),
    "data gone": ("ocdbt", lambda c: w.remove(data_file(c)), "missing"),
    "data cut": ("ocdbt", lambda c: w.cut(data_file(c), 200), "is cut"),
    "data turned": ("ocdbt", lambda c: w.flip(data_file(c), 250), "CRC-32C"),
    "data of zeros": ("ocdbt", lambda c: data_file(c).write_bytes(bytes(299)), "no OCDBT node"),
    "values gone": ("ocdbt, values outside", lambda c: w.remove(c / "d" / "v"), "missing"),
    "values cut": (
        "ocdbt, values outside", lambda c: w.cut(c / "d" / "v", (c / "d" / "v").stat().st_size - 1), "truncated",
    ),
    "no _METADATA": ("ocdbt", lambda c: w.remove(c / "_METADATA"), "_METADATA is missing"),
    "_METADATA cut": ("ocdbt", lambda c: w.cut(c / "_METADATA", 99), "no JSON"),
    "an item gone": (
        "ocdbt",
        lambda c: edit(c / "_CHECKPOINT_METADATA", lambda value: value.update(item_handlers={"state": "x"})),
        "the item 'state' is missing",
    ),
    "an array more in the tree": (
        "ocdbt, values outside",
        lambda c: edit(c / "_METADATA", lambda value: value["tree_metadata"].update(
            v={"key_metadata": [{"key": "v"}], "value_metadata": {"value_type": "jax.Array"}})),
        "'v' is not stored",
    ),
    "folders: a chunk gone": ("folders", lambda c: w.remove(c / "w" / "0.0"), "chunks of 'w' are missing"),
    "folders: a chunk cut": ("folders", lambda c: w.cut(c / "b" / "0", 20), "is cut"),
    "folders: a chunk goes on": ("folders", lambda c: w.append(c / "b" / "0"), "follow the chunk"),
    "folders: no description": ("folders", lambda c: w.remove(c / "w" / ".zarray"), "no description"),
    "folders: shape of more chunks": (
        "folders", lambda c: edit(c / "b" / ".zarray", lambda value: value.update(shape=[9])), "1 of the 2 chunks",
    ),
    "folders: chunk of another size": (
        "folders", lambda c: edit(c / "b" / ".zarray", lambda value: value.update(chunks=[7], shape=[7])), "expected",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_broken_structure(tmp_path, name):
    """
    What structure can show is FAIL at structure, and the finding says what it is.
    """
    good, harm, words = BROKEN[name]
    harm(GOOD[good](tmp_path))

    found = look(next(tmp_path.iterdir()))

    said = [row["what"] for file in found.facts["files"] for row in file["faults"]]
    said += [row["what"] for row in found.facts["folder"]["faults"]]
    assert found.verdict is FAIL, found.reason
    assert words in "\n".join([found.reason, *said])


@quick
@given(data=st.data())
def test_cut_anywhere(tmp_path, data):
    """
    No file of a store may lack its last bytes.
    """
    w.remove(tmp_path)
    path = large(tmp_path / "c")
    file = path / data.draw(st.sampled_from(["manifest.ocdbt", "d/n", "d/v"]))
    w.cut(file, data.draw(st.integers(0, file.stat().st_size - 1)))

    assert look(path).verdict is FAIL


@quick
@given(data=st.data())
def test_any_bit_of_the_metadata(tmp_path, data):
    """
    A turned bit in a manifest or node is FAIL at structure: they have a CRC-32C.
    """
    w.remove(tmp_path)
    path = orbax(tmp_path / "c")
    file = data.draw(st.sampled_from([path / "manifest.ocdbt", data_file(path)]))
    w.flip(file, data.draw(st.integers(0, file.stat().st_size - 1)), data.draw(st.integers(0, 7)))

    assert look(path).verdict is not PASS


def test_values_that_leave_the_folder(tmp_path):
    """
    A data file that a store names outside of its folder is unsafe, and not read.
    """
    path = large(tmp_path / "c")
    manifest, _, _ = stored({"w/.zarray": b"{}"})
    body = manifest[14:-4].replace(b"d/n", b"../")
    (path / "manifest.ocdbt").write_bytes(framed(ocdbt.MANIFEST, body))

    found = look(path)

    assert found.verdict is FAIL
    assert "unsafe" in found.reason


class Runs:
    """A pickle that would run a program."""

    def __reduce__(self):
        return os.system, ("true",)


@pytest.mark.parametrize("form", ["ocdbt", "folders"])
@pytest.mark.parametrize("name", ["extra.pkl", "rng.pt"])
def test_a_pickle_beside_the_arrays(tmp_path, form, name):
    """
    A pickle that somebody put into the folder is judged as anywhere else.
    """
    path = orbax(tmp_path / "c", form)
    (path / name).write_bytes(pickle.dumps(Runs()))

    found = look(path)

    assert found.verdict is FAIL
    assert "would call os.system" in found.reason
    assert name in found.reason


# Zstandard.


@pytest.mark.parametrize("row", VECTORS, ids=[row[0] for row in VECTORS])
def test_unpacked(row):
    """
    What libzstd packed unpacks to the same bytes, and its extent is known without unpacking.
    """
    _, text, digest, size = row
    data = base64.b64decode(text)

    out = zstd.frame(data + b"more")

    assert (len(out), hashlib.sha256(out).hexdigest()) == (size, digest)
    assert zstd.extent(data + b"more")[0] == len(data)


@given(data=st.data())
@settings(max_examples=300, deadline=None)
def test_damaged(data):
    """
    A damaged frame is Broken or unpacks to something; nothing else is raised, and no more than the limit is built.
    """
    whole = bytearray(base64.b64decode(data.draw(st.sampled_from(VECTORS))[1]))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))

    try:
        assert len(zstd.frame(bytes(whole), limit=1 << 16)) <= 1 << 16
    except (Broken, CannotSee):
        pass


def test_a_bomb():
    """
    A frame that claims a terabyte, or repeats a byte for ever, is refused before it is built.
    """
    claims = zstd.MAGIC + b"\xe0" + struct.pack("<Q", 1 << 40) + b"\1\0\0"
    repeats = zstd.MAGIC + b"\x00\x58" + b"\xfa\xff\xffa" * 100

    for data in (claims, repeats):
        with pytest.raises(CannotSee):
            zstd.frame(data, limit=1 << 20)


@pytest.mark.parametrize("name", ["ocdbt", "folders"])
def test_without_its_own_metadata(tmp_path, name):
    """
    Without _CHECKPOINT_METADATA, which no loader asks for, it passes with a warning; an item within a checkpoint needs none.
    """
    path = GOOD[name](tmp_path)
    (path / "_CHECKPOINT_METADATA").unlink()

    alone = look(path)
    (tmp_path / "_CHECKPOINT_METADATA").write_text("{}")
    within = look(path)

    assert (alone.verdict, within.verdict) == (PASS, PASS)
    assert any("no _CHECKPOINT_METADATA" in warning for warning in alone.warnings)
    assert not any("no _CHECKPOINT_METADATA" in warning for warning in within.warnings)


@pytest.mark.parametrize("name", ["_sharding", "array_metadatas/process_0"])
def test_what_goes_with_the_arrays(tmp_path, name):
    """
    The JSON files beside the arrays are read as a whole: one that was cut is FAIL.
    """
    path = orbax(tmp_path / "c")
    (path / name).parent.mkdir(exist_ok=True)
    (path / name).write_text('{"a": "b"}')
    assert look(path).verdict is PASS

    w.cut(path / name, 5)

    assert look(path).verdict is FAIL


def test_an_item_that_holds_nothing(tmp_path):
    """
    An item whose handler writes arrays or JSON, and of which only the folder is there, is FAIL.
    """
    orbax(tmp_path / "c" / "state")
    (tmp_path / "c" / "extra").mkdir()
    handlers = {"state": "x.StandardCheckpointHandler", "extra": "x.JsonCheckpointHandler"}
    text = json.dumps({"item_handlers": handlers, "commit_timestamp_nsecs": 5})
    (tmp_path / "c" / "_CHECKPOINT_METADATA").write_text(text)

    found = look(tmp_path / "c")

    assert found.verdict is FAIL
    assert "'extra' holds nothing" in found.reason
