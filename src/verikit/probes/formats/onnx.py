"""ONNX: a protobuf message, walked field by field; large tensors may lie in other files of its folder.

Source: onnx/onnx.proto (ModelProto, GraphProto, NodeProto, TensorProto), docs/ExternalData.md, and the encoding page of
Protocol Buffers. Protobuf says nowhere where a message ends, so a cut between two top-level fields shows only by a
required field that is missing (graph, opset_import). There is no checksum, but for an optional SHA-1 of external files.
A location that leaves the folder of the model is `escapes`: a loader would read, and a converter write, what it names.
"""

import posixpath
import re

from verikit.probes.formats.cursor import Cursor
from verikit.probes.formats.layout import Broken, Window, elements, plural
from verikit.probes.formats.numpy_pickle import Array
from verikit.probes.place import CannotSee

# data_type: (torch's name, bits of an element); 8 is text.
TYPES = {
    1: ("float32", 32), 2: ("uint8", 8), 3: ("int8", 8), 4: ("uint16", 16), 5: ("int16", 16), 6: ("int32", 32),
    7: ("int64", 64), 8: ("string", 0), 9: ("bool", 8), 10: ("float16", 16), 11: ("float64", 64), 12: ("uint32", 32),
    13: ("uint64", 64), 14: ("complex64", 64), 15: ("complex128", 128), 16: ("bfloat16", 16),
    17: ("float8_e4m3fn", 8), 18: ("float8_e4m3fnuz", 8), 19: ("float8_e5m2", 8), 20: ("float8_e5m2fnuz", 8),
    21: ("uint4", 4), 22: ("int4", 4), 23: ("float4_e2m1", 4), 24: ("float8_e8m0fnu", 8), 25: ("uint2", 2),
    26: ("int2", 2), 27: ("float6_e2m3", 6), 28: ("float6_e3m2", 6),
}  # fmt: skip

# Where elements are: the field, its name, and the data_types whose elements it takes.
RAW, STRINGS = 9, 6
FIELDS = {
    4: ("float_data", (1, 14)), 5: ("int32_data", (2, 3, 4, 5, 6, 9, 10, 16, *range(17, 29))), STRINGS: ("string_data", (8,)),
    7: ("int64_data", (7,)), RAW: ("raw_data", (*range(1, 8), *range(9, 29))), 10: ("double_data", (11, 15)),
    11: ("uint64_data", (12, 13)),
}  # fmt: skip
COUNTED = 4096  # bytes of numbers of any width that are counted one by one; of more, that they may be as many

# Fields that lead to tensors: message: {field: message}.  The rest is walked over.
INNER = {
    "model": {7: "graph", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "function": {7: "node"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
}
MODEL_FIELDS = frozenset((1, 2, 3, 4, 5, 6, 7, 8, 14, 20, 25, 26))
VARINTS = frozenset((1, 5))  # of these: ir_version and model_version; the others are text, bytes or messages
DEPTH = 100  # protobuf's own
TENSORS = 1 << 20
SHA1 = re.compile(r"^[0-9a-f]{40}$")
ALIGNMENTS = (16, 32, 64, 4096, 65536)  # of tensors in external files: pages, on Windows granules, cache lines
PIECE = 1 << 16
JUDGED = re.compile("float|bfloat|complex")
PACKED = {4: 4, 10: 8}  # field of packed numbers of fixed width: bytes of each


def structure(file, layout):
    """Every tensor has as many bytes as its shape and type say, in the file or in the one that it names."""
    walk = _Walk(Cursor(file), layout)
    seen = walk.message("model", file.size, 0)
    for field, name in ((7, "graph"), (8, "opset_import")):
        if not seen.get(field):
            layout.fault("truncated", "the model has no %s; it is required, and written last" % name, file.size)
    for field, name in ((1, "ir_version"), (7, "graph")):
        if seen.get(field, 0) > 1:
            layout.fault("trailing", "the model has %d times %s: another one follows" % (seen[field], name))
    for field in sorted(set(seen) - MODEL_FIELDS):
        layout.unseen("unsupported", "the model has the field %d, which ONNX does not define" % field)
    _outside(walk.outside, layout)


class _Walk:
    def __init__(self, cursor, layout):
        self.cursor, self.layout, self.outside, self.tensors = cursor, layout, [], 0

    def varint(self):
        value = 0
        for shift in range(0, 70, 7):
            byte = self.cursor.take(1, "a field")[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value & 0xFFFFFFFFFFFFFFFF
        raise Broken("bad_header", "a number of more than 64 bits", self.cursor.offset)

    def field(self, end):
        """(number, wire type, its value or the offset where its bytes end)."""
        tag = self.varint()
        number, wire = tag >> 3, tag & 7
        if not number or number >= 1 << 29 or wire not in (0, 1, 2, 5):
            raise Broken("bad_header", "no field of a protobuf message: tag %d" % tag, self.cursor.offset)
        if wire == 0:
            value = self.varint()
        elif wire == 2:
            length = self.varint()
            value = self.cursor.offset + length
        else:
            value = self.cursor.offset + (8 if wire == 1 else 4)
        if wire and value > end:
            self.cut(value, end, number)
        return number, wire, value

    def top(self, end, seen):
        """A field of the model. Behind a whole model what is no field of one was appended, or is what is left of one."""
        where = self.cursor.offset
        try:
            return self.field(end)
        except Broken as error:
            if not (seen.get(7) and seen.get(8)) or _of_model(self.cursor.window.at(where, 2)):
                raise
            what = "{} last field, and {} no field of a model: appended, or left of something else"
            left = plural(end - where, "byte follows the", "bytes follow the"), "is" if end - where == 1 else "are"
            raise Broken("trailing", what.format(*left), where) from error

    def cut(self, needed, end, number):
        where = self.cursor.offset
        if needed > self.cursor.end:
            what = "field %d takes %d bytes, %d are left" % (number, needed - where, self.cursor.end - where)
            raise Broken("truncated", what, where)
        raise Broken("bad_header", "field %d reaches %d bytes beyond its message" % (number, needed - end), where)

    def over(self, wire, value):
        if wire:
            self.cursor.offset = value

    def message(self, name, end, depth):
        """How often each field stands in a message that reaches to `end`."""
        if depth > DEPTH:
            raise CannotSee("bound_reached", "messages nested more than %d deep" % DEPTH)
        seen, inner, named = {}, INNER[name], set()
        while self.cursor.offset < end:
            number, wire, value = self.field(end) if name != "model" else self.top(end, seen)
            seen[number] = seen.get(number, 0) + 1
            if wire != 2 or number not in inner:
                self.over(wire, value)
            elif inner[number] == "tensor":
                self.once(self.tensor(value), named if name == "graph" else set())
            else:
                self.message(inner[number], value, depth + 1)
        if self.cursor.offset > end:
            raise Broken("bad_header", "a field reaches beyond its message", end)
        return seen

    def once(self, name, named):
        """An initializer has a name of its own in its graph; of two, loaders differ in which they take."""
        if name and name in named:
            self.layout.fault("duplicate", "two initializers are called %.100r" % name)
        named.add(name)

    def tensor(self, end):
        """The name of one TensorProto, whose shape, type, and elements' place are told."""
        self.tensors += 1
        if self.tensors > TENSORS:
            raise CannotSee("bound_reached", "more than %d tensors" % TENSORS)
        dims, kind, name, external, pairs, stored, begin = [], 0, "", False, {}, {}, self.cursor.offset
        while self.cursor.offset < end:
            number, wire, value = self.field(end)
            if number == 1 and wire == 2:
                while self.cursor.offset < value:
                    dims.append(self.varint())
                    if len(dims) > 64:
                        raise Broken("bad_header", "a tensor of more than 64 axes", self.cursor.offset)
            elif number == 1 and wire == 0 and len(dims) < 64:
                dims.append(value)
            elif number == 2 and wire == 0:
                kind = value
            elif number == 8 and wire == 2:
                name = self.text(value, 65535)
            elif number == 13 and wire == 2:
                key, text = self.pair(value)
                pairs[key] = text
            elif number == 14 and wire == 0:
                external = value == 1
            elif number in FIELDS:
                self.store(stored.setdefault(number, Stored(self.cursor.offset)), number, wire, value)
            self.over(wire, value)
        self.judge(name, dims, kind, external, pairs, stored, (begin, end))
        return name

    def store(self, field, number, wire, value):
        """Notes elements: bytes, packed numbers, a number by itself as proto2 wrote them, or a text."""
        nbytes = value - self.cursor.offset if wire == 2 else 0
        field.nbytes += nbytes
        field.times += 1 if wire == 2 else 2
        if number == STRINGS or wire != 2:
            field.count(1, 1)
        elif number in PACKED:
            field.count(nbytes / PACKED[number], nbytes / PACKED[number])
        elif number != RAW and nbytes <= COUNTED:
            last = sum(byte < 0x80 for byte in self.cursor.take(nbytes, "numbers"))
            field.count(last, last)
        elif number != RAW:
            field.count(-(-nbytes // 10), nbytes)

    def text(self, end, most):
        if end - self.cursor.offset > most:
            raise Broken("bad_header", "a name of %d bytes" % (end - self.cursor.offset), self.cursor.offset)
        return self.cursor.take(end - self.cursor.offset, "a name").decode("utf-8", "surrogateescape")

    def pair(self, end):
        """key and value of a StringStringEntryProto."""
        key = text = ""
        while self.cursor.offset < end:
            number, wire, value = self.field(end)
            if wire == 2 and number == 1:
                key = self.text(value, 4096)
            elif wire == 2 and number == 2:
                text = self.text(value, 65535)
            self.over(wire, value)
        return key, text

    def judge(self, name, dims, kind, external, pairs, stored, where):
        layout, what = self.layout, "tensor %.100r" % name
        if not kind:
            layout.fault("bad_header", "%s has no data_type, or that which is called UNDEFINED" % what)
            return
        if kind not in TYPES:
            layout.unseen("unsupported", "%s has the data_type %d, which is not in the table" % (what, kind))
            return
        dtype, bits = TYPES[kind]
        if any(axis >= 1 << 63 for axis in dims) or elements(dims) * max(bits, 1) >= 1 << 63:
            dims = [axis - (1 << 64) if axis >= 1 << 63 else axis for axis in dims]  # int64, as protobuf writes it
            why = "an axis is negative" if min(dims) < 0 else "more bits than 63 bits count"
            layout.fault("bad_size", "%s has no size: %s %s: %s" % (what, dtype, dims, why))
            return
        nbytes = (elements(dims) * bits + 7) // 8
        full = [number for number, field in stored.items() if field.nbytes or field.most]
        if external + len(full) > 1:
            layout.fault("mismatch", "%s has its elements in %d places; one is allowed" % (what, external + len(full)))
        if external:
            self.outside.append((name, dtype, dims, nbytes, pairs))
            return
        wrong = [FIELDS[number][0] for number in full if kind not in FIELDS[number][1]]
        if wrong:
            layout.fault("mismatch", "%s has elements in %s, where none of %s may be" % (what, wrong[0], dtype))
        elif bits and RAW in stored and full in ([], [RAW]):
            self.expect(what, dtype, dims, nbytes, stored[RAW].nbytes)
        elif full:
            self.count(what, kind, dims, stored[full[0]])
        elif elements(dims):
            layout.fault("missing", "%s %s%s has no elements stored" % (what, dtype, dims))
        at = stored[full[0]].whole(full[0]) if len(full) == 1 else None
        layout.tensor(name, dtype, dims, at, nbytes)
        if at is None and full and JUDGED.match(dtype):
            numbers = Numbers(*where, full[0], bits // 8)
            layout.arrays.append(Array(name, dtype, tuple(dims), False, "little", numbers, 0, False))

    def count(self, what, kind, dims, field):
        """As many numbers as the shape has elements: two for a complex one, one for several that share its bytes."""
        dtype, bits = TYPES[kind]
        most = elements(dims) * (2 if kind in (14, 15) else 1)
        least = (most * bits + 7) // 8 if 0 < bits < 8 else most
        if field.most < least or field.least > most:
            found = "%g" % field.most if field.least == field.most else "%d to %d" % (field.least, field.most)
            self.layout.fault("bad_size", "%s %s%s takes %d numbers, %s are stored" % (what, dtype, dims, most, found))

    def expect(self, what, dtype, dims, nbytes, found):
        if nbytes != found:
            self.layout.fault("bad_size", "%s %s%s takes %d bytes, %d are stored" % (what, dtype, dims, nbytes, found))


def _of_model(data):
    """Whether a field that begins with these bytes, a tag, is one of a model's."""
    tag = data[0] & 0x7F | ((data[1] if len(data) > 1 else 0) << 7 if data[0] > 0x7F else 0)
    return tag >> 3 in MODEL_FIELDS and tag & 7 == (0 if tag >> 3 in VARINTS else 2)


class Stored:
    """A field of a tensor's elements: where it begins, its bytes, and at least and at most how many numbers these are.

    times: how often it stands there, 2 for a number that does so by itself.
    """

    __slots__ = ("begin", "least", "most", "nbytes", "times")

    def __init__(self, begin):
        self.begin, self.nbytes, self.least, self.most, self.times = begin, 0, 0, 0, 0

    def count(self, least, most):
        """So many more."""
        self.least, self.most = self.least + least, self.most + most

    def whole(self, number):
        """Where all its elements lie as their bytes, one behind the other; None where they do not."""
        return self.begin if number == RAW or (number in PACKED and self.times == 1) else None


class Numbers:
    """The elements of a tensor that stand in its message as numbers: of any width, or each as a field, or in several pieces."""

    def __init__(self, begin, end, field, width):
        self.begin, self.end, self.field, self.width = begin, end, field, width

    def pieces(self, file):
        """Their bytes, little-endian, in turn."""
        walk, room = _Walk(Cursor(Window(file, self.end), self.begin), None), bytearray()
        while walk.cursor.offset < self.end:
            number, wire, value = walk.field(self.end)
            if number != self.field:
                walk.over(wire, value)
            elif wire == 0:
                room += self._bytes(value)
            while number == self.field and wire and walk.cursor.offset < value:
                fixed = number in PACKED
                left = min(value - walk.cursor.offset, PIECE)
                room += walk.cursor.take(left, "numbers") if fixed else self._bytes(walk.varint())
                if len(room) >= PIECE:
                    yield bytes(room)
                    del room[:]
        yield bytes(room)

    def _bytes(self, number):
        return (number & (1 << 8 * self.width) - 1).to_bytes(self.width, "little")


def escapes(location):
    """Whether a location leads out of the folder that it is relative to."""
    plain = posixpath.normpath(location.replace("\\", "/"))
    return plain.startswith(("/", "../")) or plain == ".." or "\0" in location or location[1:2] == ":"


def _outside(rows, layout):
    """External files are long enough, and no two tensors share a part of one."""
    ends, ranges, sums, parts = {}, {}, {}, {}
    for name, dtype, dims, nbytes, pairs in rows:
        location = pairs.get("location", "")
        if not location:
            layout.fault("bad_header", "tensor %.100r is external without a location" % name)
            continue
        if escapes(location):
            layout.fault("escapes", "unsafe: tensor %.100r lies outside of the folder, in %.200r" % (name, location))
            continue
        offset, length = _natural(pairs.get("offset", "0")), _natural(pairs.get("length", str(nbytes)))
        if offset is None or length is None:
            layout.fault("bad_header", "tensor %.100r: offset and length are no whole numbers" % name)
            continue
        if length != nbytes:
            what = "tensor %.100r %s%s takes %d bytes, its length is %d" % (name, dtype, dims, nbytes, length)
            layout.fault("bad_size", what)
        location = posixpath.normpath(location)
        parts.setdefault(location, []).append((name, dtype, dims, offset, nbytes))
        ends[location] = max(ends.get(location, 0), offset + max(length, nbytes))
        ranges.setdefault(location, {})[(offset, offset + nbytes)] = name
        sums.setdefault(location, set()).add(pairs.get("checksum"))
    for location in sorted(ends):
        told = _sums(location, sums[location], layout)
        layout.member(location, least=ends[location], module="raw", parts=parts[location], sha1=told)
        _apart(location, ranges[location], layout)
    layout.parts = ranges


def _sums(location, sums, layout):
    """The one SHA-1 that the tensors give for a file, None where they give none."""
    told = {text.lower() for text in sums if text}
    wrong = next((text for text in told if not SHA1.match(text)), None)
    if wrong is not None:
        layout.fault("bad_header", "the checksum of %.100r is no SHA-1: %.60r" % (location, wrong))
    elif len(told) > 1:
        layout.fault("mismatch", "the tensors in %.100r give %d checksums of it" % (location, len(told)))
    return next(iter(told)) if len(told) == 1 and wrong is None else None


def relate(layout, members):
    """Bytes of an external file that no tensor is in: padding that aligns, or tensors that the graph has lost."""
    for location, ranges in (layout.parts or {}).items():
        part, end, holes = members.get(location), 0, []
        for first, last in [*sorted(ranges), (part.size, part.size)] if part else ():
            if first > end and not _aligned(first, first - end):
                holes.append((first - end, end))
            end = max(end, last)
        if holes:
            size, at = max(holes)
            what = "{} in {}, such as {:,} bytes at {:,}, {} of no tensor"
            layout.warn(
                "hole",
                what.format(
                    plural(len(holes), "stretch", "stretches"), location, size, at, "is" if len(holes) == 1 else "are"
                ),
            )


def _aligned(place, gap):
    """Whether so many bytes before a place are no more than what aligns it."""
    return any(gap < unit and not place % unit for unit in ALIGNMENTS)


def _apart(location, ranges, layout):
    """Equal ranges are one tensor stored once; ranges that cross are a fault."""
    end, before = 0, ""
    for (first, last), name in sorted(ranges.items()):
        if first < end and last > first:
            layout.fault("overlap", "tensors %.100r and %.100r cross in %.100r" % (before, name, location), first)
        if last > end:
            end, before = last, name


def _natural(text):
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None
