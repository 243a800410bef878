"""Flax's msgpack: one MessagePack value to the end of the file; arrays are extension 1, complex 2, numpy scalars 3.

Source: the MessagePack specification and flax/serialization.py (`msgpack_serialize`; arrays of more than 2^30 bytes are
cut into maps that are marked `__msgpack_chunked_array__`). An array is packed as (shape, dtype name, bytes), so its length
is known twice. There is no checksum. The dtype is a name looked up in a table, never an import.
The value is a map of names; a tree of nothing is an empty one, a single byte; an array without a tree is an extension.
"""

import re

from verikit.probes.formats import signs
from verikit.probes.formats.cursor import Cursor
from verikit.probes.formats.layout import BITS, MANY, Broken, elements
from verikit.probes.place import CannotSee

ITEMS = 4 << 20
WORD = re.compile(rb"^[\x20-\x7e]+$")
DEPTH = 512
LEAF = 1 << 16  # bytes of a key or of a scalar's extension; more is no name

# First byte: (what follows, bytes of its length or of itself), by the table of the specification.
NUMBERS = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q"}
NUMBERS.update({0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"})
LENGTHS = {0xC4: ("bin", ">B"), 0xC5: ("bin", ">H"), 0xC6: ("bin", ">I"), 0xD9: ("str", ">B"), 0xDA: ("str", ">H")}
LENGTHS.update({0xDB: ("str", ">I"), 0xDC: ("array", ">H"), 0xDD: ("array", ">I"), 0xDE: ("map", ">H")})
LENGTHS.update({0xDF: ("map", ">I"), 0xC7: ("ext", ">B"), 0xC8: ("ext", ">H"), 0xC9: ("ext", ">I")})
FIXED_EXT = {0xD4: 1, 0xD5: 2, 0xD6: 4, 0xD7: 8, 0xD8: 16}
ALIASES = {"float8_e4m3": "float8_e4m3fn", "bool_": "bool", "int4": "int4", "uint4": "uint4"}
WIDTHS = dict(BITS, int4=8, uint4=8, float8_e4m3=8, float8_e4m3b11fnuz=8, float8_e3m4=8)  # ml_dtypes: a byte each


def structure(file, layout):
    """Every value is walked; an array's bytes are as many as its shape and dtype say; nothing follows the value."""
    cursor = Cursor(file)
    walk = _Walk(cursor, layout)
    walk.value((), 0)
    walk.chunked()
    walk.strange()
    if cursor.offset != file.size:
        left = file.size - cursor.offset
        layout.fault("trailing", "{:,} bytes follow the value".format(left), cursor.offset)
    if file.size == 1:
        _one_byte(layout)


def _one_byte(layout):
    """80 alone is Flax's empty tree, and what is left of a pickle cut to its first byte: the name may tell which."""
    name = layout.path.lower()
    if name.endswith(signs.PICKLED):
        raise Broken("truncated", "its one byte, 80, is the first of a pickle")
    if not name.endswith(".msgpack"):
        what = "its one byte, 80, is a whole empty tree of Flax's, and also the first of a pickle that is cut"
        layout.unseen("ambiguous", what)


class _Walk:
    def __init__(self, cursor, layout):
        self.cursor, self.layout, self.items, self.others = cursor, layout, 0, []
        self.cut_up, self.parts = (
            set(),
            {},
        )  # paths of arrays kept in chunks; what is in maps called "shape" and "chunks"

    def kind(self):
        """(what comes next, its length or value)."""
        self.items += 1
        if self.items > ITEMS:
            raise CannotSee("bound_reached", "more than %d values" % ITEMS)
        first = self.cursor.take(1, "a value")[0]
        if first <= 0x7F or first >= 0xE0:
            return "number", first if first <= 0x7F else first - 256
        if first <= 0xBF:
            kind = "map" if first <= 0x8F else "array" if first <= 0x9F else "str"
            return kind, first & (0x1F if kind == "str" else 0x0F)
        if first in (0xC0, 0xC2, 0xC3):
            return "number", {0xC0: None, 0xC2: False, 0xC3: True}[first]
        if first in NUMBERS:
            return "number", self.cursor.number(NUMBERS[first], "a number")
        if first in LENGTHS:
            kind, form = LENGTHS[first]
            return kind, self.cursor.number(form, "the length of a value")
        if first in FIXED_EXT:
            return "ext", FIXED_EXT[first]
        raise Broken("bad_header", "no MessagePack value starts with 0x%02x" % first, self.cursor.offset - 1)

    def value(self, path, depth):
        """Walks one value; returns what a scalar is, for the chunked arrays."""
        if depth > DEPTH:
            raise CannotSee("bound_reached", "values nested more than %d deep" % DEPTH)
        kind, length = self.kind()
        if kind == "number":
            return length
        if kind in ("str", "bin"):
            self.cursor.skip(length, "text or bytes of %s" % _name(path))
        elif kind == "array":
            for index in range(length):
                self.value((*path, str(index)), depth + 1)
        elif kind == "map":
            self.map(path, length, depth)
        else:
            self.extension(path, length)
        return None

    def map(self, path, length, depth):
        seen, numbers = {}, 0
        for _ in range(length):
            key, number = self.key(path)
            numbers += number
            if key in seen:
                self.layout.fault("duplicate", "the key %.100r stands twice in %s" % (key, _name(path)))
            at = self.cursor.offset
            seen[key] = self.value((*path, key), depth + 1)
            if not path and len(self.layout.tree) < 256:
                self.layout.tree[key] = _words(self.cursor.window.at(at, 1))
        if 0 < numbers < length:
            what = "%s has %d keys that are numbers among %d: damaged, or meant so"
            self.layout.unseen("ambiguous", what % (_name(path), numbers, length))
        if "__msgpack_chunked_array__" in seen:
            self.cut_up.add(path)
        if path and path[-1] in ("shape", "chunks"):
            self.parts[path] = seen

    def key(self, path):
        """(its text, whether it is a number): `to_bytes` makes names of numbers, `msgpack_serialize` alone does not."""
        kind, length = self.kind()
        if kind == "number":
            return str(length), True
        if kind not in ("str", "bin") or length > LEAF:
            raise Broken("bad_header", "a key in %s is no text" % _name(path), self.cursor.offset)
        return self.cursor.take(length, "a key in %s" % _name(path)).decode("utf-8", "replace"), False

    def extension(self, path, length):
        code = self.cursor.number(">b", "the type of an extension")
        if code not in (1, 2, 3):
            if len(self.others) < MANY:
                self.others.append(("%s has the extension %d, which Flax does not write" % (_name(path), code), code))
            self.cursor.skip(length, "an extension")
            return
        end = self.cursor.offset + length
        if end > self.cursor.end:
            self.cursor.skip(length, "the array %s" % _name(path))
        self.array(path, end, code)
        if self.cursor.offset != end:
            raise Broken("bad_size", "%s is packed in %d bytes too many" % (_name(path), end - self.cursor.offset), end)

    def strange(self):
        """Values that Flax would hand on unread: damage beside arrays of its own, otherwise perhaps another's format.

        Negative extensions are MessagePack's own, such as times.
        """
        for what, code in self.others:
            if code >= 0 and len(self.layout.tensors):
                self.layout.fault("bad_header", what)
            else:
                self.layout.unseen("unsupported", what + ": what it holds is not known here")

    def array(self, path, end, code):
        """(shape, dtype, bytes), or (real, imaginary): a value of its own within the extension."""
        kind, length = self.kind()
        if code == 2:
            if (kind, length) != ("array", 2):
                raise Broken("bad_header", "%s is no complex number" % _name(path), self.cursor.offset)
            self.value(path, 0)
            self.value(path, 0)
            return
        if (kind, length) != ("array", 3):
            raise Broken("bad_header", "%s is not (shape, dtype, bytes)" % _name(path), self.cursor.offset)
        kind, axes = self.kind()
        if kind != "array" or axes > 64:
            raise Broken("bad_header", "%s has no shape" % _name(path), self.cursor.offset)
        shape = [self.kind() for _ in range(axes)]
        if any(kind != "number" or type(axis) is not int or axis < 0 for kind, axis in shape):
            raise Broken("bad_header", "%s has no shape" % _name(path), self.cursor.offset)
        shape = tuple(axis for _, axis in shape)
        kind, size = self.kind()
        if kind not in ("str", "bin") or size > 64:
            raise Broken("bad_header", "%s has no dtype" % _name(path), self.cursor.offset)
        dtype = self.cursor.take(size, "a dtype")
        if not WORD.match(dtype):  # of numpy and ml_dtypes, all of whose names are words of ASCII
            raise Broken(
                "bad_header", "%s has %.80r for a dtype, which is no name" % (_name(path), dtype), self.cursor.offset
            )
        dtype = dtype.decode("ascii")
        kind, nbytes = self.kind()
        if kind not in ("str", "bin"):
            raise Broken("bad_header", "%s has no bytes" % _name(path), self.cursor.offset)
        self.tensor(path, dtype, shape, nbytes)
        if self.cursor.offset + nbytes > end:
            raise Broken("bad_size", "%s claims more bytes than its packing has" % _name(path), self.cursor.offset)
        self.cursor.skip(nbytes, _name(path))

    def tensor(self, path, dtype, shape, nbytes):
        bits = WIDTHS.get(dtype)
        needed = elements(shape) * (bits or 0) // 8
        if bits is None:
            self.layout.unseen("unsupported", "%s has the unknown dtype %.40r" % (_name(path), dtype))
        elif needed != nbytes:
            what = "%s: %s%s takes %d bytes, %d are stored" % (_name(path), dtype, list(shape), needed, nbytes)
            self.layout.fault("bad_size", what, self.cursor.offset)
        self.layout.tensor("/".join(path), ALIASES.get(dtype, dtype), shape, self.cursor.offset, nbytes)

    def chunked(self):
        """The pieces of an array of more than 2^30 bytes are all there, with as many elements as its shape says."""
        arrays = {row.name: row for row in self.layout.tensors} if self.cut_up else {}
        for path in sorted(self.cut_up):
            shape = _in_order(self.parts.get((*path, "shape")))
            pieces, where = self.parts.get((*path, "chunks"), ()), "/".join((*path, "chunks"))
            lost = [number for number in range(len(pieces)) if "%s/%d" % (where, number) not in arrays]
            found = sum(elements(arrays["%s/%d" % (where, number)].shape) for number in range(len(pieces)) if not lost)
            if not pieces or shape is None:
                self.layout.fault("missing", "%s is kept in chunks, and has no shape or none of them" % _name(path))
            elif lost:
                what = "%s: the chunk %d is missing, of %d that are there" % (_name(path), lost[0], len(pieces))
                self.layout.fault("missing", what)
            elif found != elements(shape):
                what = "%s: shape %s, but its chunks hold %d elements" % (_name(path), list(shape), found)
                self.layout.fault("bad_size", what)


def _in_order(told):
    """What a map keeps under "0", "1" and so on; None where one of them is missing or no number."""
    values = [told.get(str(number)) for number in range(len(told))] if told is not None else [None]
    return tuple(values) if all(type(value) is int and value >= 0 for value in values) else None


def _name(path):
    return "%.200r" % "/".join(path) if path else "the value"


def _words(first):
    code = first[0] if first else 0
    if 0x80 <= code <= 0x8F or code in (0xDE, 0xDF):
        return "dict"
    if 0x90 <= code <= 0x9F or code in (0xDC, 0xDD):
        return "list"
    if 0xC7 <= code <= 0xC9 or code in FIXED_EXT:
        return "array"
    return "text" if 0xA0 <= code <= 0xBF or 0xD9 <= code <= 0xDB else "scalar"
