"""Values of an Arrow column, batch by batch: where its buffers lie, which elements its lists have, which of them are null.

Source: the Apache Arrow columnar format, "Physical Memory Layout" and "Buffer Listing for Each Layout"; format/Message.fbs.
A buffer that is not packed is looked at where it lies in the file; a packed one is unpacked whole.  What a null list covers is
no element; a null in a list, or under a null struct, is one without a value.
"""

import struct

from verikit.probes import scan
from verikit.probes.formats import bits
from verikit.probes.formats.arrow_ipc import (
    BATCH,
    BOOL,
    DICTIONARY,
    FIXED,
    FLOAT,
    INT,
    LISTS,
    UNREAD,
    WIDE,
    messages,
)
from verikit.probes.formats.codecs import MOST, Unpacker
from verikit.probes.formats.layout import Broken
from verikit.probes.place import CannotSee
from verikit.probes.tensors import dtype_name

CODECS = {0: "lz4", 1: "zstd"}
PIECE = 1 << 17  # elements with nulls among them that are put in order at a time
DAMAGED = (struct.error, IndexError, KeyError, TypeError, ValueError, OverflowError)


def column(place, np, file, layout, row, chosen=None):
    """(how its values are looked at, a reader of them) for a tensor that `arrow_ipc` told."""
    leaf = layout.columns[row.name]
    dtype = dtype_name(leaf.dtype)
    kinds = {parent.kind for parent in leaf.parents} | {leaf.kind}
    if layout.byteorder == "big":
        raise CannotSee("unsupported", "the buffers are big-endian, which is not read")
    if kinds & UNREAD:
        raise CannotSee("unsupported", "it lies in unions, runs or list views, which are not read")
    if leaf.kind not in (INT, FLOAT, BOOL) or dtype not in scan.WIDTH:
        raise CannotSee("unsupported", "values of %s can't be read here" % leaf.dtype)
    return dtype, Column(place, np, file, leaf, dtype, chosen)


class Column:
    """`blocks(step)` of one column; `nulls` are counted as they are met."""

    def __init__(self, place, np, file, leaf, dtype, chosen=None):
        self.np, self.file, self.leaf, self.dtype, self.chosen = np, file, leaf, dtype, chosen
        self.width = scan.WIDTH[dtype]
        self.unpacker, self.nulls, self.done = Unpacker(place), scan.Nulls(), 0
        self.ragged = any(parent.kind in LISTS for parent in leaf.parents)
        self.meanings = None

    def blocks(self, step):
        """(first element or the numbers of all, buffer) of each piece."""
        number = -1
        try:
            for kind, header, body in messages(self.file):
                if (
                    kind == DICTIONARY
                    and self.leaf.dictionary is not None
                    and header.number(0, "q") == self.leaf.dictionary
                ):
                    self.meaning(header, body)
                number += kind == BATCH
                if kind == BATCH and (self.chosen is None or number in self.chosen):
                    yield from self.batch(Batch(self, header, body), step)
        except DAMAGED as error:
            raise Broken("bad_header", "a batch makes no sense: %s" % error) from None

    def batch(self, batch, step):
        """Blocks of one batch: down from the top, the stretch of elements that belongs to each level."""
        first = (self.leaf.parents or [self.leaf])[0]
        low, high, gone, null = 0, batch.nodes[first.node][0], None, None
        for parent in self.leaf.parents:
            low, high, gone, null = self.below(batch, parent, low, high, gone, null)
        absent = batch.absent(self.leaf, low, high)
        null = absent if null is None else null if absent is None else null | absent
        start, self.done = self.done, self.done + high - low - (0 if gone is None else int(gone.sum()))
        if high > batch.nodes[self.leaf.node][0]:
            raise Broken("bad_header", "lists have more elements than there are")
        if self.leaf.dictionary is None and gone is None and null is None:
            yield from self.plain(batch, low, high, start, step)
        else:
            yield from self.sorted_out(batch, low, high, gone, null, start, step)

    def below(self, batch, parent, low, high, gone, null):
        """(first, end, not in any list, null) of the elements that these of a parent have."""
        absent = batch.absent(parent, low, high)
        if parent.kind in LISTS:
            ends = batch.offsets(parent, low, high)
            if absent is not None:
                gone = absent if gone is None else gone | absent
            if gone is None and null is None:
                return int(ends[0]), int(ends[-1]), None, None
            lengths = self.np.diff(ends)
            gone = None if gone is None else self.np.repeat(gone, lengths)
            null = None if null is None else self.np.repeat(null, lengths)
            return int(ends[0]), int(ends[-1]), gone if gone is not None and gone.any() else None, null
        null = absent if null is None else null if absent is None else null | absent
        if parent.kind == FIXED:
            size = parent.size
            gone = None if gone is None else self.np.repeat(gone, size)
            return low * size, high * size, gone, None if null is None else self.np.repeat(null, size)
        return low, high, gone, null

    def plain(self, batch, low, high, start, step):
        """Elements that all have a value, where they lie."""
        if self.leaf.kind == BOOL:
            for at in range(low, high, PIECE):
                truths = bits.flags(self.np, batch.whole(self.leaf.buffer + 1, self.leaf), at, min(PIECE, high - at))
                yield from self.pieces(start + at - low, self.truths(truths), step)
            return
        offset, length, packed = batch.place(self.leaf.buffer + 1, self.leaf)
        if packed:
            data = batch.whole(self.leaf.buffer + 1, self.leaf)[low * self.width : high * self.width]
            if len(data) < (high - low) * self.width:
                raise Broken("truncated", "a buffer of values is cut")
            yield from self.pieces(start, data, step)
            return
        if high * self.width > length:
            raise Broken("truncated", "a buffer of {:,} bytes has no {:,} values".format(length, high))
        for at in range(low * self.width, high * self.width, step):
            data = self.file.exactly(offset + at, min(step, high * self.width - at), "a buffer of values")
            yield start + at // self.width - low, data

    def sorted_out(self, batch, low, high, gone, null, start, step):
        """Elements of which some have no value, or none of their own: those are left out, and the rest keep their numbers."""
        np = self.np
        if np is None:
            raise CannotSee("unsupported", "a column with nulls or a dictionary is not read without numpy on this host")
        values, foreign = self.values(batch, low, high)
        if foreign is not None:
            null = foreign if null is None else null | foreign
        for at in range(0, high - low, PIECE):
            part = slice(at, min(at + PIECE, high - low))
            lost = None if gone is None else gone[part]
            numbers = start + np.arange(part.stop - at)
            kept = values[part]
            if lost is not None:
                numbers, kept = start + np.arange(int((~lost).sum())), kept[~lost]
            start += len(numbers)
            if null is not None:
                empty = null[part] if lost is None else null[part][~lost]
                self.nulls.note(numbers[empty])
                numbers, kept = numbers[~empty], kept[~empty]
            yield from self.pieces(numbers, np.ascontiguousarray(kept), step)

    def values(self, batch, low, high):
        """(all values of a stretch as an array, which of them a dictionary leaves null or None)."""
        np = self.np
        data = batch.whole(self.leaf.buffer + 1, self.leaf)
        if self.leaf.dictionary is not None:
            numbers = cut(np, data, self.leaf.index, low, high).astype("<i8")
            return self.looked_up(numbers, batch.absent(self.leaf, low, high))
        if self.leaf.kind == BOOL:
            return bits.flags(np, data, low, high - low).astype("u1"), None
        return cut(np, data, "V%d" % self.width, low, high), None

    def looked_up(self, numbers, absent):
        if self.meanings is None:
            raise CannotSee("unsupported", "the dictionary of the column does not come before its numbers")
        values, null = self.meanings
        numbers = numbers if absent is None else self.np.where(absent, 0, numbers)
        if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < max(1, len(values)):
            raise Broken("bad_header", "a number beyond the end of the dictionary")
        if not len(values):
            return self.np.zeros(len(numbers), "V%d" % self.width), self.np.ones(len(numbers), bool)
        return values[numbers], None if null is None else null[numbers]

    def meaning(self, header, body):
        """Takes a dictionary, or more of it."""
        if self.np is None:
            raise CannotSee("unsupported", "a column with nulls or a dictionary is not read without numpy on this host")
        batch = Batch(self, header.table(1), body)
        count, leaf = batch.nodes[0][0], self.leaf._replace(node=0, buffer=0, dictionary=None, views=0)
        absent, data = batch.absent(leaf, 0, count), batch.whole(1, leaf)
        values = (
            bits.flags(self.np, data, 0, count).astype("u1")
            if leaf.kind == BOOL
            else cut(self.np, data, "V%d" % self.width, 0, count)
        )
        if header.number(2, "?") and self.meanings is not None:
            before, null = self.meanings
            absent = joined(self.np, null, absent, len(before), count)
            values = self.np.concatenate([before, values])
        if values.nbytes > MOST:
            raise CannotSee("bound_reached", "a dictionary of more than {:,} bytes".format(MOST))
        self.meanings = values, absent

    def truths(self, truths):
        return bytes(map(int, truths)) if self.np is None else truths.astype("u1")

    def pieces(self, start, data, step):
        """The values as buffers of at most `step` bytes."""
        view = memoryview(data.view("u1") if hasattr(data, "dtype") else data).cast("B")
        for at in range(0, len(view), step):
            first = (
                start + at // self.width
                if isinstance(start, int)
                else start[at // self.width : (at + step) // self.width]
            )
            yield first, view[at : at + step]


def joined(np, null, absent, before, count):
    """Which of the old and the new values are null, or None."""
    if null is None and absent is None:
        return None
    old, new = np.zeros(before, bool) if null is None else null, np.zeros(count, bool) if absent is None else absent
    return np.concatenate([old, new])


def cut(np, data, code, low, high):
    """Elements low to high of a buffer of numbers."""
    width = np.dtype(code).itemsize
    if high * width > len(data):
        raise Broken("truncated", "a buffer of {:,} bytes has no {:,} values".format(len(data), high))
    return np.frombuffer(data, code, high - low, low * width) if high > low else np.zeros(0, code)


class Batch:
    """The nodes and buffers of one record batch; `body` is where its bytes begin, and how many there are."""

    def __init__(self, column, header, body):
        self.column, (self.begin, self.size) = column, body
        self.nodes, self.buffers = header.structs(1, 16), header.structs(2, 16)
        self.codec = (
            CODECS.get(header.table(3).number(0, "b"), "a codec that is not known") if header.field(3) else None
        )
        self.views = header.numbers(4) if header.field(4) else ()
        if any(not 0 <= nulls <= length for length, nulls in self.nodes):
            raise ValueError("a column of a negative length, or of more nulls than elements")

    def place(self, number, part):
        """(offset in the file, bytes, whether they are packed) of a buffer; those of views before it come in between."""
        offset, length = self.buffers[number + sum(self.views[: part.views])]
        if offset < 0 or length < 0 or offset + length > self.size:
            raise Broken("bad_header", "a buffer runs over the end of its batch")
        if self.codec is None or length < 8:
            return self.begin + offset, length, False
        told = int.from_bytes(self.column.file.exactly(self.begin + offset, 8, "a buffer"), "little", signed=True)
        return (self.begin + offset + 8, length - 8, False) if told == -1 else (self.begin + offset, length, True)

    def whole(self, number, part):
        """The bytes of a buffer, unpacked."""
        offset, length, packed = self.place(number, part)
        if length > MOST:
            raise CannotSee("bound_reached", "a buffer of {:,} bytes in one batch, more than {:,}".format(length, MOST))
        data = self.column.file.exactly(offset, length, "a buffer") if length else b""
        if not packed:
            return data
        return self.column.unpacker.unpack(self.codec, data[8:], int.from_bytes(data[:8], "little", signed=True))

    def absent(self, part, low, high):
        """Which elements of a level are null, or None if all are there."""
        if not self.nodes[part.node][1]:
            return None
        if self.column.np is None:
            raise CannotSee("unsupported", "a column with nulls or a dictionary is not read without numpy on this host")
        data = self.whole(part.buffer, part)
        absent = ~bits.flags(self.column.np, data, low, high - low)
        return absent if absent.any() else None

    def offsets(self, parent, low, high):
        """Where each list begins, and where the last one ends: never before the one in front of it."""
        code = "<i8" if parent.kind in WIDE else "<i4"
        data, width = self.whole(parent.buffer + 1, parent), int(code[-1])
        if high == low and len(data) < width:  # of no lists, there may be no offsets
            return [0] if self.column.np is None else self.column.np.zeros(1, "<i8")
        if (high + 1) * width > len(data):
            raise Broken("truncated", "the offsets of lists are cut")
        if self.column.np is None:
            form = "<%d%s" % (high + 1 - low, "q" if width == 8 else "i")
            ends = struct.unpack_from(form, data, low * width)
            if ends[0] < 0 or any(b < a for a, b in zip(ends, ends[1:])):
                raise Broken("bad_header", "a list ends before it begins")
            return ends
        ends = cut(self.column.np, data, code, low, high + 1).astype("<i8")
        if int(ends[0]) < 0 or (len(ends) > 1 and bool((self.column.np.diff(ends) < 0).any())):
            raise Broken("bad_header", "a list ends before it begins")
        return ends
