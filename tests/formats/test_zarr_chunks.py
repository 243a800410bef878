"""Chunks of zarr arrays as files: what their packing says of their size, version 2 and 3, shards and what is in them.

By hand, from the specifications: none of the packers is needed to run these.
"""

from __future__ import annotations

import gzip
import json
import struct

import pytest

from verikit.checks.checkpoint import CheckpointIntact
from verikit.probes.formats import ocdbt
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS

DATA = bytes(range(128))  # of 4 x 8 floats
NOWHERE = (1 << 64) - 1


def look(path):
    return examine_here(CheckpointIntact(str(path)))


def zstd(data, size=True):
    """A frame of one block that is not compressed, with or without the size of its content."""
    head = b"\xa0" + struct.pack("<I", len(data)) if size else b"\x00\x58"
    return b"\x28\xb5\x2f\xfd" + head + (len(data) << 3 | 1).to_bytes(3, "little") + data


def blosc(data):
    return struct.pack("<4B3I", 2, 1, 2, 4, len(data), len(data), 16 + len(data)) + data


def crc(data):
    return data + struct.pack("<I", ocdbt.crc32c(data))


def shard(*chunks, first=False, checked=True):
    """Chunks one after the other, None for one of fill values, and their index before or behind them."""
    length = 16 * len(chunks) + 4 * checked
    at, index = length if first else 0, b""
    for chunk in chunks:
        index += struct.pack("<QQ", *((NOWHERE, NOWHERE) if chunk is None else (at, len(chunk))))
        at += len(chunk or b"")
    index, body = crc(index) if checked else index, b"".join(chunk or b"" for chunk in chunks)
    return index + body if first else body + index


LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
ZSTD = {"name": "zstd", "configuration": {"level": 3, "checksum": False}}
GZIP = {"name": "gzip", "configuration": {"level": 5}}
CRC = {"name": "crc32c"}


def sharded(codecs, *, index=(LITTLE, CRC), **more):
    inner = {"chunk_shape": [2, 8], "codecs": codecs, "index_codecs": list(index), **more}
    return [{"name": "sharding_indexed", "configuration": inner}]


def version2(compressor, **more):
    return {"chunks": [4, 8], "compressor": compressor, "dtype": "<f4", "filters": None, "shape": [4, 8], **more}


def version3(codecs, dtype="float32"):
    grid = {"name": "regular", "configuration": {"chunk_shape": [4, 8]}}
    return {"chunk_grid": grid, "codecs": codecs, "data_type": dtype, "node_type": "array", "shape": [4, 8]}


def stored(path, described, chunk):
    """A checkpoint of one array, in one file."""
    old = "chunks" in described
    file = path / "w" / ("0.0" if old else "c/0/0")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(chunk)
    described = {**described, "zarr_format": 2 if old else 3}
    (path / "w" / (".zarray" if old else "zarr.json")).write_text(json.dumps(described))
    told = {"key_metadata": [{"key": "w"}], "value_metadata": {"value_type": "jax.Array"}}
    (path / "_METADATA").write_text(json.dumps({"tree_metadata": {"('w',)": told}, "use_ocdbt": False}))
    done = {"item_handlers": "x.PyTreeCheckpointHandler", "commit_timestamp_nsecs": 5}
    (path / "_CHECKPOINT_METADATA").write_text(json.dumps(done))
    return path


HALF = DATA[:64]
GOOD = {
    "2, plain": (version2(None), DATA),
    "2, zstd": (version2({"id": "zstd", "level": 1}), zstd(DATA)),
    "2, zstd of no told size": (version2({"id": "zstd", "level": 1}), zstd(DATA, size=False)),
    "2, gzip": (version2({"id": "gzip", "level": 1}), gzip.compress(DATA)),
    "2, blosc": (version2({"id": "blosc", "cname": "lz4"}), blosc(DATA)),
    "2, packed in a way that is not known": (version2({"id": "lzma"}), b"x"),
    "2, bfloat16": (version2(None, dtype="bfloat16"), HALF),
    "2, filtered": (version2({"id": "zstd"}, filters=[{"id": "delta"}]), zstd(b"x")),
    "3, plain": (version3([LITTLE]), DATA),
    "3, plain, turned": (version3([{"name": "transpose", "configuration": {"order": [1, 0]}}, LITTLE]), DATA),
    "3, a name for a codec": (version3(["bytes"]), DATA),
    "3, plain with a CRC": (version3([LITTLE, CRC]), crc(DATA)),
    "3, zstd": (version3([LITTLE, ZSTD]), zstd(DATA)),
    "3, zstd with a CRC": (version3([LITTLE, ZSTD, CRC]), crc(zstd(DATA))),
    "3, gzip": (version3([LITTLE, GZIP]), gzip.compress(DATA)),
    "3, of a type that is not known": (version3([LITTLE], dtype="int2"), b"x"),
    "3, packed in a way that is not known": (version3([LITTLE, {"name": "of-tomorrow"}]), b"x"),
    "shard": (version3(sharded([LITTLE])), shard(HALF, HALF)),
    "shard of zstd": (version3(sharded([LITTLE, ZSTD])), shard(zstd(HALF), zstd(HALF))),
    "shard with a chunk of fill values": (version3(sharded([LITTLE])), shard(None, HALF)),
    "shard, its index first": (
        version3(sharded([LITTLE], index_location="start")), shard(HALF, HALF, first=True),
    ),
    "shard, its index without a CRC": (version3(sharded([LITTLE], index=[LITTLE])), shard(HALF, HALF, checked=False)),
    "shard, its index packed": (version3(sharded([LITTLE], index=[LITTLE, ZSTD])), b"x"),
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_whole(tmp_path, name):
    """
    A chunk that is as long as its packing and its array say passes; of ways that are not known nothing is said.
    """
    found = look(stored(tmp_path / "c", *GOOD[name]))

    assert found.verdict is PASS, found.reason


@pytest.mark.parametrize("name", GOOD)
def test_empty(tmp_path, name):
    """
    No chunk is of 0 bytes, however it is packed.
    """
    found = look(stored(tmp_path / "c", GOOD[name][0], b""))

    assert found.verdict is FAIL, found.reason
    assert "it is empty" in found.reason


BLIND = ("not known", "filtered", "its index packed")


@pytest.mark.parametrize("name", [name for name in GOOD if not any(word in name for word in BLIND)])
def test_cut_anywhere(tmp_path, name):
    """
    A chunk that lacks its end is FAIL, wherever it was cut.
    """
    described, chunk = GOOD[name]

    for length in range(1, len(chunk)):
        found = look(stored(tmp_path / "c", described, chunk[:length]))
        assert found.verdict is FAIL, (length, found.reason)


BROKEN = {
    "plain, too long": (version3([LITTLE]), DATA + b"x", "129 bytes, 128 expected"),
    "plain, of another type": (version3([LITTLE], dtype="bfloat16"), DATA, "128 bytes, 64 expected"),
    "zstd, of another size": (version3([LITTLE, ZSTD]), zstd(HALF), "unpacks to 64 bytes, 128 are expected"),
    "zstd, with more behind it": (version3([LITTLE, ZSTD]), zstd(DATA) + b"x", "follow the chunk"),
    "gzip, of another size": (version3([LITTLE, GZIP]), gzip.compress(HALF), "unpacks to 64 bytes"),
    "gzip that is none": (version3([LITTLE, GZIP]), DATA, "no gzip"),
    "blosc, of another size": (version2({"id": "blosc"}), blosc(HALF), "unpacks to 64 bytes"),
    "shard, a chunk empty": (version3(sharded([LITTLE])), shard(HALF, b""), "it is empty"),
    "shard, a chunk too short": (version3(sharded([LITTLE])), shard(HALF, HALF[1:]), "63 bytes, 64 expected"),
    "shard, a chunk of zstd cut": (version3(sharded([LITTLE, ZSTD])), shard(zstd(HALF), zstd(HALF)[:-1]), "is cut"),
    "shard, its index of another": (version3(sharded([LITTLE])), shard(HALF, HALF)[:-5] + b"xxxxx", "CRC-32C"),
    "shard, its index beyond it": (
        version3(sharded([LITTLE])), crc(struct.pack("<4Q", 0, 64, 64, 64)), "chunk 0 ends at 64",
    ),
    "no codec's name": (version3([{"configuration": {}}]), DATA, "makes no sense"),
    "a codec that is a number": (version3([5]), DATA, "makes no sense"),
    "a chunk of no length": (version3(sharded([LITTLE], chunk_shape=[0, 8])), DATA, "makes no sense"),
    "chunks of text": ({**version2(None), "chunks": ["4", 8]}, DATA, "makes no sense"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_broken(tmp_path, name):
    """
    What contradicts itself or its array is FAIL, and the reason says what is seen and what was expected.
    """
    *case, words = BROKEN[name]

    found = look(stored(tmp_path / "c", *case))

    assert found.verdict is FAIL, found.reason
    assert words in found.reason


def test_shards_in_shards_without_end(tmp_path):
    """
    However deep shards are nested, a look comes to its end.
    """
    codecs = [LITTLE]
    for _ in range(60):
        codecs = sharded(codecs)

    assert look(stored(tmp_path / "c", version3(codecs), shard(HALF, HALF))).verdict in (PASS, FAIL)
