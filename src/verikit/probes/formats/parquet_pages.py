"""Values of a Parquet column, page by page, for claims that its statistics don't settle.

Source: README.md, Encodings.md, Compression.md and parquet.thrift of apache/parquet-format.  Read are PLAIN, dictionary,
BYTE_STREAM_SPLIT and DELTA_BINARY_PACKED pages of numbers and truths, one page at a time; a page's own CRC-32 is compared
where it has one.  An entry of a list column is a value, a null in a list, or a list without values: only the last is no
element.
"""

import zlib
from collections import namedtuple

from verikit.probes import scan
from verikit.probes.formats import bits
from verikit.probes.formats.codecs import MOST, Unpacker
from verikit.probes.formats.layout import Broken
from verikit.probes.formats.parquet import LOOKED_AT, Compact
from verikit.probes.place import CannotSee

DATA, DICTIONARY, DATA_2 = 0, 2, 3
CODECS = {
    0: "none",
    1: "snappy",
    2: "gzip",
    3: "lzo",
    4: "brotli",
    5: "lz4 in Hadoop's framing",
    6: "zstd",
    7: "lz4_raw",
}
PLAIN, PLAIN_DICTIONARY, RLE, DELTA, RLE_DICTIONARY, SPLIT = 0, 2, 3, 5, 8, 9
ENCODINGS = {4: "BIT_PACKED", 6: "DELTA_LENGTH_BYTE_ARRAY", 7: "DELTA_BYTE_ARRAY"}
BOOLEAN = 0
# parquet.Type: (numpy's code, bytes).  A narrower integer is stored as one of these, and looked at as that.
STORED = {BOOLEAN: ("u1", 1), 1: ("<i4", 4), 2: ("<i8", 8), 4: ("<f4", 4), 5: ("<f8", 8), 7: ("<f2", 2)}
PIECE = 1 << 17  # entries of a page that are looked at at a time: a megabyte of levels
HEADER = 1 << 13

DAMAGED = (IndexError, KeyError, TypeError, ValueError, AttributeError, OverflowError)

Page = namedtuple("Page", "kind count encoding levels values")


def column(place, np, file, layout, row, chosen=None):
    """(how its values are looked at, a reader of them) for a tensor that `parquet` told."""
    leaf, chunks = layout.columns[row.name]
    if leaf.dtype == "float16":
        kind = "f16"
    else:
        kind = {"uint32": "u32", "uint64": "u64"}.get(leaf.dtype, LOOKED_AT.get(leaf.type))
    if kind is None or leaf.dtype == "unknown":
        raise CannotSee("unsupported", "values of %s can't be read here" % leaf.dtype)
    if any(chunk.get(8) or chunk.get(1) or 3 not in chunk for chunk in chunks):
        raise CannotSee("unsupported", "its pages are encrypted, or lie in another file")
    return kind, Column(place, np, file, [chunk[3] for chunk in chunks], leaf, chosen)


class Column:
    """`blocks(step)` of one column; `nulls` are counted as they are met."""

    def __init__(self, place, np, file, chunks, leaf, chosen=None):
        self.np, self.file, self.chunks, self.leaf, self.chosen = np, file, chunks, leaf, chosen
        self.unpacker, self.nulls, self.done = Unpacker(place), scan.Nulls(), 0
        self.ragged = leaf.repeated > 0

    def blocks(self, step):
        """(first element or the numbers of all, buffer) of each piece."""
        try:
            for number, chunk in enumerate(self.chunks):
                if self.chosen is None or number in self.chosen:
                    yield from self.chunk(chunk, step)
        except DAMAGED as error:
            raise Broken("bad_header", "a page makes no sense: %s" % error) from None

    def chunk(self, meta, step):
        """One row group's part, to its end: a dictionary first, if it has one, then pages with all entries."""
        begin = min(at for at in (meta.get(11), meta[9]) if at)
        end, at, told, dictionary = begin + meta[7], begin, 0, None
        while at < end:
            header, at = self.header(at, end)
            packed, size = header[3], header[2]
            if not 0 <= packed <= end - at or size < 0:
                raise Broken("bad_header", "the page at byte %d runs over its end" % at)
            if max(packed, size) > MOST:
                raise CannotSee("bound_reached", "a page of {:,} bytes, more than {:,}".format(max(packed, size), MOST))
            data = self.file.exactly(at, packed, "a page")
            if header.get(4) is not None and zlib.crc32(data) != header[4] & 0xFFFFFFFF:
                raise Broken("crc", "the page at byte %d has another CRC-32 than it says" % at)
            at += packed
            if header[1] == DICTIONARY:
                dictionary = self.dictionary(header[7], CODECS.get(meta[4], "codec %s" % meta[4]), data, size)
            elif header[1] in (DATA, DATA_2):
                page = self.page(header, CODECS.get(meta[4], "codec %s" % meta[4]), data, size)
                told += page.count
                yield from self.entries(page, dictionary, step)
        if told != meta[5]:
            raise Broken("bad_header", "{:,} entries, {:,} by the footer".format(told, meta[5]))

    def header(self, at, end):
        """(the page's header, where its bytes begin)."""
        for size in (HEADER, 1 << 20):
            reader = Compact(self.file.at(at, min(size, end - at)))
            try:
                return reader.struct(), at + reader.at
            except IndexError:
                continue
        raise Broken("bad_header", "the page at byte %d has no header" % at)

    def dictionary(self, told, codec, data, size):
        if told[2] not in (PLAIN, PLAIN_DICTIONARY):
            raise CannotSee("unsupported", "a dictionary that is not PLAIN but of encoding %s" % told[2])
        return self.plain(self.unpacker.unpack(codec, data, size), told[1])

    def page(self, header, codec, data, size):
        """A data page: its levels of definition, if it has any, and its values, unpacked."""
        if header[1] == DATA_2:
            told = header[8]
            repeats, defines = told[6], told[5]
            if min(repeats, defines) < 0 or repeats + defines > min(len(data), size):
                raise Broken("bad_header", "levels run over the end of their page")
            levels, rest = data[repeats : repeats + defines], data[repeats + defines :]
            if told.get(7, True) and codec != "none":
                rest = self.unpacker.unpack(codec, rest, size - repeats - defines)
            return Page(DATA_2, told[1], told[4], levels if self.leaf.defined else None, rest)
        told, data = header[5], self.unpacker.unpack(codec, data, size)
        if self.leaf.repeated:
            _, data = level_bytes(data, told[4])
        levels = None
        if self.leaf.defined:
            levels, data = level_bytes(data, told[3])
        return Page(DATA, told[1], told[2], levels, data)

    def entries(self, page, dictionary, step):
        """Blocks of the values of a page; its levels say which entries are values, nulls, or lists without any."""
        if page.count < 0:
            raise Broken("bad_header", "a page of %d entries" % page.count)
        values = self.values(page, dictionary)
        levels = page.levels and bits.Hybrid(self.np, page.levels, self.leaf.defined.bit_length())
        for start in range(0, page.count, PIECE):
            count = min(PIECE, page.count - start)
            if page.levels is None:
                yield from self.pieces(self.done, values(count), step)
                self.done += count
            else:
                yield from self.defined(levels.read(count), values, step)

    def defined(self, levels, values, step):
        full, element = self.leaf.defined, self.leaf.element
        present, slots = _count(self.np, levels, full), _least(self.np, levels, element)
        first, self.done = self.done, self.done + slots
        if present == slots:
            yield from self.pieces(first, values(present), step)
            return
        places = [level for level in levels if level >= element] if self.np is None else levels[levels >= element]
        if self.np is None:
            self.nulls.note([first + at for at, level in enumerate(places) if level != full])
            where = [first + at for at, level in enumerate(places) if level == full]
        else:
            self.nulls.note(first + self.np.flatnonzero(places != full))
            where = first + self.np.flatnonzero(places == full)
        yield from self.pieces(where, values(present), step)

    def pieces(self, start, data, step):
        """The values as buffers of at most `step` bytes."""
        width = STORED[self.leaf.type][1]
        view = memoryview(data).cast("B")
        for at in range(0, len(view), step):
            first = start + at // width if isinstance(start, int) else start[at // width : (at + step) // width]
            yield first, view[at : at + step]

    def values(self, page, dictionary):
        """A function that gives the next so many values, as their bytes."""
        kind, data, encoding = self.leaf.type, page.values, page.encoding
        if not len(data):  # of nulls alone: not even the width of their numbers
            return Slices(self, data).take
        if encoding in (PLAIN_DICTIONARY, RLE_DICTIONARY):
            if dictionary is None:
                raise Broken("bad_header", "a page without its dictionary")
            numbers = bits.Hybrid(self.np, data[1:], data[0])
            return lambda count: self.looked_up(dictionary, numbers.read(count))
        if kind == BOOLEAN and encoding == RLE:
            truths = bits.Hybrid(self.np, level_bytes(data, RLE)[0], 1)
            return lambda count: _bytes(self.np, truths.read(count))
        if encoding == PLAIN:
            return Slices(self, data).take
        if encoding == SPLIT and kind != BOOLEAN:
            return Slices(self, self.joined(data)).take
        if encoding == DELTA and kind in (1, 2):
            return Slices(self, delta(self.np, data, STORED[kind][0])).take
        name = ENCODINGS.get(encoding, "number %s" % encoding)
        raise CannotSee("unsupported", "its pages are encoded as %s, which is not read here" % name)

    def plain(self, data, count):
        """So many values that lie one after the other, as their bytes."""
        if self.leaf.type == BOOLEAN:
            return _bytes(self.np, bits.flags(self.np, data, 0, count))
        width = STORED[self.leaf.type][1]
        if count < 0 or len(data) < count * width:
            raise Broken("truncated", "a page of {:,} bytes has no {:,} values".format(len(data), count))
        return bytes(data[: count * width])

    def looked_up(self, dictionary, numbers):
        code, width = STORED[self.leaf.type]
        if self.np is None:
            rows = [dictionary[at : at + width] for at in range(0, len(dictionary), width)]
            if any(number >= len(rows) for number in numbers):
                raise Broken("bad_header", "a number beyond the end of the dictionary")
            return b"".join(rows[number] for number in numbers)
        rows = self.np.frombuffer(dictionary, code)
        if len(numbers) and int(numbers.max()) >= len(rows):
            raise Broken("bad_header", "a number beyond the end of the dictionary")
        return rows[numbers].view("u1")

    def joined(self, data):
        """Numbers whose first bytes come first, then all second ones: BYTE_STREAM_SPLIT."""
        width = STORED[self.leaf.type][1]
        count = len(data) // width
        if self.np is None:
            return b"".join(data[at : count * width : count] for at in range(count))
        rows = self.np.frombuffer(data[: count * width], "u1").reshape(width, count)
        return rows.T.tobytes()


class Slices:
    """Values that lie one after the other, handed out in turn."""

    def __init__(self, column, data):
        self.column, self.data, self.at = column, data, 0
        self.kind, self.width = column.leaf.type, STORED[column.leaf.type][1]

    def take(self, count):
        first, self.at = self.at, self.at + count
        if self.kind == BOOLEAN:
            return _bytes(self.column.np, bits.flags(self.column.np, self.data, first, count))
        if len(self.data) < self.at * self.width:
            raise Broken("truncated", "a page of {:,} bytes has no {:,} values".format(len(self.data), self.at))
        return self.data[first * self.width : self.at * self.width]


def _bytes(np, truths):
    return bytes(map(int, truths)) if np is None else np.asarray(truths).astype("u1")


def _count(np, levels, full):
    return sum(level == full for level in levels) if np is None else int((levels == full).sum())


def _least(np, levels, least):
    return sum(level >= least for level in levels) if np is None else int((levels >= least).sum())


def level_bytes(data, encoding):
    """(the bytes of levels, what follows them): their length comes first."""
    if encoding != RLE:
        raise CannotSee("unsupported", "levels encoded as %s are not read here" % ENCODINGS.get(encoding, encoding))
    length = int.from_bytes(data[:4], "little")
    if length + 4 > len(data):
        raise Broken("bad_header", "levels run over the end of their page")
    return data[4 : 4 + length], data[4 + length :]


def delta(np, data, code):
    """DELTA_BINARY_PACKED: a first number, then blocks of differences in miniblocks of a width each; as bytes.

    Source: Encodings.md, "Delta Encoding".
    """
    reader = Compact(data)
    block, minis, count, value = reader.varint(), reader.varint(), reader.varint(), signed(reader)
    each = block // minis if minis else 0
    if not each or each % 8 or count > MOST // 8 or block > MOST // 8:
        raise Broken("bad_header", "differences in blocks of {:,} in {:,} pieces".format(block, minis))
    parts, left = [[value]] if count else [], count - 1
    while left > 0:
        least, widths = signed(reader), data[reader.at : reader.at + minis]
        reader.at += minis
        if len(widths) < minis:
            raise Broken("truncated", "blocks of differences are cut")
        for width in widths[: -(-left // each)]:
            if width > bits.WIDEST:
                raise CannotSee("unsupported", "differences of %d bits are not read here" % width)
            take, size = min(each, left), each * width // 8
            more = bits.packed(np, data[reader.at : reader.at + size], width, take)
            parts.append([least + number for number in more] if np is None else more + np.int64(least))
            reader.at, left = reader.at + size, left - take
    return _summed(np, parts, code)


def signed(reader):
    """A number that 64 bits hold."""
    number = reader.zigzag()
    if not -(1 << 63) <= number < 1 << 63:
        raise Broken("bad_header", "a difference of more than 64 bits")
    return number


def _summed(np, parts, code):
    """Running sums, which wrap around as the type does."""
    if np is not None:
        return np.cumsum(np.concatenate([np.asarray(part, "<i8") for part in parts] or [[]])).astype(code).tobytes()
    size, value, out = 8 * int(code[-1]), 0, bytearray()
    for part in parts:
        for difference in part:
            value = value + difference & (1 << size) - 1
            out += value.to_bytes(size // 8, "little")
    return bytes(out)
