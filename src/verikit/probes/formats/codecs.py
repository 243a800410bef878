"""Buffers and pages of tables, unpacked: each is small, says how large it was, and is unpacked whole.

Source: the format descriptions of google/snappy (format_description.txt) and lz4/lz4 (lz4_Block_format.md,
lz4_Frame_format.md); gzip is zlib's; Zstandard has a reader of its own beside this.  A host whose Python has pyarrow, or a
package for one codec, lets it do the work; without, snappy and LZ4 come at some 10 MB/s and Zstandard at some 1 MB/s, and what
would take for ever is refused with the name of what is missing.
"""

import zlib

from verikit.probes.formats import zstd
from verikit.probes.formats.layout import Broken
from verikit.probes.place import CannotSee

MOST = 64 << 20
"""Bytes that one buffer or page may unpack to."""
# Bytes that are unpacked in plain Python in one look: up to a minute.
PATIENCE = {"zstd": 64 << 20, "snappy": 512 << 20, "lz4": 512 << 20, "lz4_raw": 512 << 20}
WORDS = {"zstd": "Zstandard", "snappy": "Snappy", "lz4": "LZ4", "lz4_raw": "LZ4", "gzip": "gzip", "brotli": "Brotli"}


class Unpacker:
    """Unpacks buffers of one column; what was unpacked in plain Python is counted for all columns of a look."""

    def __init__(self, place):
        self.place, self.spent, self.helpers = place, vars(place).setdefault("unpacked", {}), {}

    def unpack(self, codec, data, size):
        """The `size` bytes that `data` stands for.  Damage is `Broken`, what takes for ever or is unknown `CannotSee`."""
        if codec == "none":
            return data
        if not 0 <= size <= MOST:
            raise CannotSee("bound_reached", "{:,} bytes in one piece, more than {:,}".format(size, MOST))
        out = self.by_helper(codec, data, size) if codec != "gzip" else gzip(data, size)
        if out is None:
            out = self.by_hand(codec, data, size)
        if len(out) != size:
            raise Broken("crc", "packed bytes unpack to {:,} bytes, {:,} expected".format(len(out), size))
        return out

    def by_helper(self, codec, data, size):
        if codec not in self.helpers:
            self.helpers[codec] = helper(self.place, codec)
        if self.helpers[codec] is None:
            return None
        try:
            return bytes(self.helpers[codec](data, size))
        except MemoryError:
            raise
        except Exception as error:  # each package has errors of its own
            raise Broken("crc", "packed bytes can't be unpacked: %.80s" % error) from None

    def by_hand(self, codec, data, size):
        known = {"zstd": lambda: zstd.frame(data, size), "snappy": lambda: snappy(data, size)}
        known.update({"lz4_raw": lambda: lz4_block(data, size, bytearray()), "lz4": lambda: lz4_frame(data, size)})
        self.spent[codec] = self.spent.get(codec, 0) + size
        if codec not in known or self.spent[codec] > PATIENCE[codec]:
            why = "" if codec not in known else " but plain Python, which is left at %d MiB" % (PATIENCE[codec] >> 20)
            what = "its values are packed by %s, and this host's Python has nothing to unpack them%s: install pyarrow there"
            raise CannotSee("unsupported", what % (WORDS.get(codec, codec), why))
        try:
            return bytes(known[codec]())
        except IndexError:
            raise Broken("crc", "packed bytes end too early") from None


def helper(place, codec):
    """A function of (data, size) from a package of this host, or None."""
    arrow = place.accelerator("pyarrow")
    if arrow is not None and codec in ("zstd", "snappy", "lz4", "lz4_raw", "brotli"):
        return lambda data, size: arrow.decompress(data, decompressed_size=size, codec=codec, asbytes=True)
    package = place.accelerator("zstandard") if codec == "zstd" else None
    if package is not None:
        return lambda data, size: package.ZstdDecompressor().decompress(data, max_output_size=size)
    return None


def gzip(data, size):
    machine = zlib.decompressobj(47)  # with the header of gzip or that of zlib
    try:
        return machine.decompress(data, size + 1)
    except zlib.error as error:
        raise Broken("crc", "packed bytes can't be unpacked: %s" % error) from None


def snappy(data, size):
    """Snappy's raw format: a length, then literals and copies."""
    at = told = shift = 0
    while True:
        byte, at = data[at], at + 1
        told |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80 or shift > 35:
            break
    if told != size:
        raise Broken("crc", "packed bytes say that they are {:,}, {:,} expected".format(told, size))
    out, end = bytearray(), len(data)
    while at < end:
        tag = data[at]
        kind, length = tag & 3, tag >> 2
        at += 1
        if kind == 0:
            if length >= 60:
                extra = length - 59
                length, at = int.from_bytes(data[at : at + extra], "little"), at + extra
            length += 1
            grow(out, data[at : at + length], length, size)
            at += length
            continue
        width = (0, 1, 2, 4)[kind]
        distance = int.from_bytes(data[at : at + width], "little")
        if kind == 1:
            distance, length = distance | (tag >> 5) << 8, (length & 7) + 3
        at += width
        copy(out, distance, length + 1, size)
    return out


def lz4_block(data, size, out):
    """LZ4's block format: literals and a copy, in turns; the last has no copy. Written behind what `out` has."""
    at, end = 0, len(data)
    while at < end:
        token, at = data[at], at + 1
        length, at = lengthened(data, token >> 4, at)
        grow(out, data[at : at + length], length, size)
        at += length
        if at >= end:
            break
        distance, at = data[at] | data[at + 1] << 8, at + 2
        length, at = lengthened(data, token & 15, at)
        copy(out, distance, length + 4, size)
    return out


def lengthened(data, length, at):
    """A length of 15 goes on in bytes, as long as they are 255."""
    if length == 15:
        while True:
            byte, at = data[at], at + 1
            length += byte
            if byte != 255:
                break
    return length, at


def lz4_frame(data, size):
    """LZ4's frame: a descriptor, blocks with their lengths, an end mark. Checksums (xxHash) are not compared."""
    if data[:4] != b"\x04\x22\x4d\x18" or len(data) < 7 or data[4] >> 6 != 1:
        raise Broken("bad_header", "no LZ4 frame")
    flags = data[4]
    at, out = 7 + 8 * (flags >> 3 & 1) + 4 * (flags & 1), bytearray()
    while True:
        told = int.from_bytes(data[at : at + 4], "little")
        if at + 4 > len(data):
            raise Broken("truncated", "an LZ4 frame is cut")
        if not told:
            return out
        length, at = told & 0x7FFFFFFF, at + 4
        block = data[at : at + length]
        if len(block) < length:
            raise Broken("truncated", "an LZ4 frame is cut")
        if told >> 31:
            grow(out, block, length, size)
        else:
            lz4_block(block, size, out)
        at += length + 4 * (flags >> 4 & 1)


def grow(out, piece, length, size):
    """Literals: as many as were told, and no more than there is room for."""
    if len(piece) < length or len(out) + length > size:
        raise Broken("crc", "packed bytes end too early" if len(piece) < length else "packed bytes unpack to too many")
    out += piece


def copy(out, distance, length, size):
    """Bytes that stood before: those copied may be copied again."""
    begin = len(out) - distance
    if distance < 1 or begin < 0 or len(out) + length > size:
        raise Broken("crc", "packed bytes copy from where there is nothing, or too many")
    if distance >= length:
        out += out[begin : begin + length]
    else:
        out += (out[begin:] * (length // distance + 1))[:length]
