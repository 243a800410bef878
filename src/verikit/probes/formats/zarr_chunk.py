"""A chunk of a zarr array in a file of its own: what its packing, and its array's description, say of its size.

Source: the specifications of zarr, version 2, and version 3 with its codecs `sharding_indexed`, `gzip`, `zstd`, `blosc`
and `crc32c`; RFC 8878 (a frame of Zstandard says in the headers of its blocks where it ends, and mostly how much it
unpacks to), RFC 1952 (so does gzip, in its last bytes) and c-blosc's README_CHUNK_FORMAT (both, in its first).
A shard is chunks one after the other, and an index of where each begins and how long it is; chunks that are all the
fill value may be left out of it.
"""

import re
import struct
from collections import namedtuple

from verikit.probes.formats import ocdbt, zstd
from verikit.probes.formats.layout import BITS, Broken, elements

Chunk = namedtuple("Chunk", "codecs nbytes shard")
"""How it is packed: names of codecs, the last applied first; bytes that it unpacks to, or None; `Shard`, or None."""

Shard = namedtuple("Shard", "count first checked chunk")
"""How many chunks are in it; whether its index comes first, and has a CRC-32C; how each of its chunks is packed."""

NESTED = 3
LOOKED = 4096
"""Chunks of a shard that are looked at one by one; an index of more is held against the file's size only."""

NOWHERE = (1 << 64) - 1
WIDTH = re.compile(r"^[<>|]?[a-z](\d+)$")


def described(value):
    """The `Chunk` of an array, by its `.zarray` or `zarr.json`; KeyError, TypeError or the like where that makes no sense."""
    if value.get("zarr_format") == 2:
        how = (value.get("compressor") or {}).get("id")
        match = WIDTH.match(value["dtype"])
        bits = 8 * int(match.group(1)) if match else BITS.get(value["dtype"])
        nbytes = None if value.get("filters") else _nbytes(bits, _lengths(value["chunks"]))
        return Chunk((_name(how),) if how else (), nbytes, None)
    shape = value["chunk_grid"]["configuration"]["chunk_shape"]
    return _packed(value["codecs"], _lengths(shape), BITS.get(_name(value["data_type"])), NESTED)


def _lengths(value):
    if any(type(length) is not int or length < 1 for length in value):
        raise ValueError(value)
    return value


def _name(value):
    """The name of a codec or a type of data, of which one without settings may be just its name."""
    name = value["name"] if type(value) is dict else value
    if type(name) is not str:
        raise TypeError(name)
    return name


def _nbytes(bits, shape):
    return None if bits is None or bits % 8 else elements(shape) * bits // 8


def _packed(codecs, shape, bits, levels):
    """The `Chunk` of a list of codecs of version 3."""
    names = [_name(codec) for codec in codecs]
    if "sharding_indexed" in names and levels:
        at = names.index("sharding_indexed")
        return Chunk(tuple(names[:at:-1]), None, _shard(codecs[at]["configuration"], shape, bits, levels))
    if "bytes" not in names:
        return Chunk(("unknown",), None, None)
    at = names.index("bytes")
    plain = all(name == "transpose" for name in names[:at])
    return Chunk(tuple(names[:at:-1]), _nbytes(bits, shape) if plain else None, None)


def _shard(settings, shape, bits, levels):
    """The `Shard` of the settings of `sharding_indexed`; None where its index is packed in ways not read here."""
    index = [_name(codec) for codec in settings["index_codecs"]]
    inner = _lengths(settings["chunk_shape"])
    if index not in (["bytes"], ["bytes", "crc32c"]):
        return None
    count = elements([-(-length // size) for length, size in zip(shape, inner)])
    chunk = _packed(settings["codecs"], inner, bits, levels - 1)
    return Shard(count, settings.get("index_location") == "start", len(index) > 1, chunk)


def structure(file, layout):
    """As long as it says, and as its array says."""
    layout.span("", 0, file.size)
    _judge(file, layout.parts, layout)


def _judge(file, chunk, layout):
    if not file.size:
        raise Broken("empty", "it is empty")
    for name in chunk.codecs:
        if name != "crc32c":
            _unpacked(file, name, chunk.nbytes)
            return
        file = file.part(0, max(0, file.size - 4))
    if chunk.shard is not None:
        _within(file, chunk.shard, layout)
    elif chunk.nbytes is not None and file.size != chunk.nbytes:
        kind = "truncated" if file.size < chunk.nbytes else "trailing"
        raise Broken(kind, "{:,} bytes, {:,} expected".format(file.size, chunk.nbytes))


def _unpacked(file, name, wanted):
    """What a codec's own headers say: where it ends, and what it unpacks to."""
    end, size = SIZES[name](file) if name in SIZES else (file.size, None)
    if end > file.size:
        raise Broken("truncated", "{:,} bytes, {:,} by its own header".format(file.size, end))
    if end < file.size:
        raise Broken("trailing", "{:,} bytes follow the chunk".format(file.size - end), end)
    if size is not None and wanted is not None and (size - wanted) % (1 << 32):  # gzip tells 32 bits of it
        raise Broken("bad_size", "it unpacks to {:,} bytes, {:,} are expected".format(size, wanted))


def _zstd(file):
    return zstd.extent_within(file.at, file.size)


def _gzip(file):
    if file.at(0, 3) != b"\x1f\x8b\x08":
        raise Broken("bad_header", "no gzip")
    return file.size, int.from_bytes(file.exactly(file.size - 4, 4, "its end"), "little")


def _blosc(file):
    version, _, _, _, size, _, end = struct.unpack("<4B3I", file.exactly(0, 16, "its header"))
    return (end, size) if version in (1, 2) else (file.size, None)


SIZES = {"zstd": _zstd, "gzip": _gzip, "blosc": _blosc}
"""(where it ends, bytes that it unpacks to, or None)."""


def _within(file, shard, layout):
    """Each chunk of a shard lies in it, and is as long as it says itself."""
    length = 16 * shard.count + 4 * shard.checked
    start = 0 if shard.first else file.size - length
    if start < 0 or length > file.size:
        raise Broken("truncated", "{:,} bytes, the index of its chunks alone takes {:,}".format(file.size, length))
    if shard.count > LOOKED:
        return
    index = file.at(start, length)
    if shard.checked and ocdbt.crc32c(index[:-4]) != int.from_bytes(index[-4:], "little"):
        raise Broken("crc", "the index of its chunks is not what its CRC-32C says: damaged, or its end is another's")
    for number, (offset, nbytes) in enumerate(struct.iter_unpack("<QQ", index[: 16 * shard.count])):
        if (offset, nbytes) == (NOWHERE, NOWHERE):
            continue
        if offset + nbytes > file.size - (0 if shard.first else length):
            what = "chunk {:,} ends at {:,} of {:,} bytes"
            raise Broken("truncated", what.format(number, offset + nbytes, file.size))
        _judge(file.part(offset, nbytes), shard.chunk, layout)
