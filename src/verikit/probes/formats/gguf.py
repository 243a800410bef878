"""GGUF, versions 2 and 3: typed keys and values, a table of tensors, then their bytes, each aligned, in table order.

Source: docs/gguf.md of ggml-org/ggml and its reader, ggml/src/gguf.cpp: offsets count from the first aligned byte after
the table, every tensor starts where the one before it ends, padded to `general.alignment` (32 if not said). So is the
last by most writers; llama.cpp asks for its bytes only. Sizes come from the block table of ggml (ggml-common.h).
Version 3 may be big-endian. Version 1 counted in 32 bits and is told, not read. There is no checksum.
Shapes are given here as rows come (the slowest axis first), so they are those of torch, not of ggml.
"""

import re
import struct
from collections import namedtuple

from verikit.probes.formats import template
from verikit.probes.formats.cursor import Cursor
from verikit.probes.formats.layout import Broken, elements, plural
from verikit.probes.place import CannotSee

# Type id: (name, elements in a block, bytes of a block). Plain types carry torch's name of the dtype.
TYPES = {
    0: ("float32", 1, 4), 1: ("float16", 1, 2), 2: ("Q4_0", 32, 18), 3: ("Q4_1", 32, 20), 6: ("Q5_0", 32, 22),
    7: ("Q5_1", 32, 24), 8: ("Q8_0", 32, 34), 9: ("Q8_1", 32, 36), 10: ("Q2_K", 256, 84), 11: ("Q3_K", 256, 110),
    12: ("Q4_K", 256, 144), 13: ("Q5_K", 256, 176), 14: ("Q6_K", 256, 210), 15: ("Q8_K", 256, 292),
    16: ("IQ2_XXS", 256, 66), 17: ("IQ2_XS", 256, 74), 18: ("IQ3_XXS", 256, 98), 19: ("IQ1_S", 256, 50),
    20: ("IQ4_NL", 32, 18), 21: ("IQ3_S", 256, 110), 22: ("IQ2_S", 256, 82), 23: ("IQ4_XS", 256, 136),
    24: ("int8", 1, 1), 25: ("int16", 1, 2), 26: ("int32", 1, 4), 27: ("int64", 1, 8), 28: ("float64", 1, 8),
    29: ("IQ1_M", 256, 56), 30: ("bfloat16", 1, 2), 31: ("Q4_0_4_4", 32, 18), 32: ("Q4_0_4_8", 32, 18),
    33: ("Q4_0_8_8", 32, 18), 34: ("TQ1_0", 256, 54), 35: ("TQ2_0", 256, 66), 36: ("IQ4_NL_4_4", 32, 18),
    37: ("IQ4_NL_4_8", 32, 18), 38: ("IQ4_NL_8_8", 32, 18), 39: ("MXFP4", 32, 17), 40: ("NVFP4", 64, 36),
    41: ("Q1_0", 128, 18), 42: ("Q2_0", 64, 18),
}  # fmt: skip
# Ids that builds have given to blocks of another size, too: (name, elements, bytes, bytes after the last block).
# gguf-py counts 40 bytes to a Q8_1, where ggml has 36 since 2024; bitnet.cpp has its I2_S at 36, Q2_0 began with 128.
FORMS = {9: (("Q8_1", 32, 40, 0),), 36: (("I2_S", 4, 1, 32),), 42: (("Q2_0", 128, 34, 0),)}
# Taken back in December 2024: ggml packs Q4_0 and IQ4_NL so when it loads them.
REPACKED = frozenset(TYPES[kind][0] for kind in (31, 32, 33, 36, 37, 38))
# Ids below this that the table lacks are of forks or newer; ids above it were never given out.
GIVEN_OUT = 256
# GGML_MAX_NAME: llama.cpp refuses a file with a name so long; stable-diffusion.cpp is built to take 128 and more, and
# readers in Python take any, so it may be meant for them.
LONGEST = 64
VERSIONS = 16  # there have been 3 in three years

SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
KEPT = re.compile(r"general\.(?:alignment|architecture|name|file_type)$|split\.|tokenizer\.chat_template")
ITEMS = 8 << 20  # strings that are walked one by one; the largest vocabularies have about 2^18
SPLIT = re.compile(r"^(.*)-(\d{5})-of-(\d{5})\.gguf$")


def structure(file, layout):
    """Keys, the table of tensors, and that they tile the file."""
    order = _order(file, layout)
    if order is None:
        return
    walk = _Walk(Cursor(file, 8), order)
    tensors, pairs = walk.number("Q", "the number of tensors"), walk.number("Q", "the number of keys")
    for count, least, what in ((pairs, 13, "keys"), (tensors, 24, "tensors")):
        if count * least > file.size:
            raise Broken("bad_header", "%d %s can't stand in %d bytes" % (count, what, file.size), 8)
    metadata = _metadata(walk, pairs, layout)
    rows = [_row(walk, layout) for _ in range(tensors)]
    alignment = metadata.get("general.alignment", 32)
    if type(alignment) is not int or alignment < 1 or alignment & (alignment - 1):
        raise Broken("bad_header", "general.alignment is no power of two: %.40r" % (alignment,))
    _place(file, rows, walk.cursor.offset, alignment, layout)
    _long_names([row.name for row in rows if len(row.name.encode("utf-8")) >= LONGEST], layout)
    if "general.architecture" not in metadata and rows and not metadata.get("split.no"):  # the first part has it
        layout.warn("missing", "no general.architecture among the keys, which loaders of models ask for first")
    layout.notes["keys"] = pairs
    layout.notes.update((key, metadata[key]) for key in metadata if "chat_template" not in key)
    _templates(metadata, layout)
    _split(metadata, layout)


def _long_names(names, layout):
    if names:
        what = "%s of %d bytes or more, %.100r first: llama.cpp refuses those, unless it is built for longer ones"
        layout.warn("long_name", what % (plural(len(names), "name is", "names are"), LONGEST, names[0]))


def _order(file, layout):
    """The byte order, as `struct` writes it; None for a version that is not read."""
    head = file.exactly(0, 8, "the header")
    for order, name in (("<", "little"), (">", "big")):
        version = struct.unpack(order + "I", head[4:])[0]
        if version in (2, 3):
            layout.byteorder = name
            return order
        if version == 1:
            layout.unseen("unsupported", "GGUF version 1, of August 2023, is not read; llama.cpp dropped it too")
            return None
    version = struct.unpack("<I", head[4:])[0]
    if 0 < version <= VERSIONS:
        layout.unseen("unsupported", "GGUF version %d is not known; 2 and 3 are" % version)
        return None
    raise Broken("bad_header", "no GGUF version: %d" % version, 4)


class _Walk:
    """Values one after the other."""

    def __init__(self, cursor, order):
        self.cursor, self.order, self.items = cursor, order, 0

    def number(self, form, what):
        return self.cursor.number(self.order + form, what)

    def string(self, what, most=None):
        """Text, of which at most so many bytes are kept."""
        length = self.number("Q", "the length of " + what)
        kept = length if most is None else min(length, most)
        if most is None and length > 65535:
            raise Broken(
                "bad_header", "%s claims %d bytes; a name has at most 65,535" % (what, length), self.cursor.offset
            )
        data = self.cursor.take(kept, what)
        self.cursor.skip(length - kept, what)
        return data.decode("utf-8", "replace") if most is not None else self.name(data, what)

    def name(self, data, what):
        """Readers in Python take names as UTF-8 and nothing else; values are decoded when somebody asks for them."""
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            raise Broken("bad_header", "%s is no UTF-8: %r" % (what, data[:60]), self.cursor.offset) from None

    def value(self, kind, what, keep, depth=0):
        """A value that is kept, or None for one that is walked over."""
        if kind in SCALARS:
            return self.number(SCALARS[kind], what) if kind != 7 else self.number("B", what) != 0
        if kind == STRING:
            return self.string(what, template.LIMIT if keep else 0)
        if kind != ARRAY or depth > 4:
            raise Broken("bad_header", "%s has a value of no type: %d" % (what, kind), self.cursor.offset)
        inner, length = self.number("I", what), self.number("Q", what)
        if inner in SCALARS:
            self.cursor.skip(length * struct.calcsize(self.order + SCALARS[inner]), what)
            return None
        if length * 8 > self.cursor.end - self.cursor.offset:
            raise Broken("truncated", "%s claims %d items, more than the file can hold" % (what, length))
        self.items += length
        if self.items > ITEMS:
            raise CannotSee("bound_reached", "more than %d strings among the keys" % ITEMS)
        for _ in range(length):
            self.value(inner, what, False, depth + 1)
        return None


def _metadata(walk, pairs, layout):
    kept, seen = {}, set()
    for _ in range(pairs):
        key = walk.string("the name of a key")
        if key in seen:
            layout.fault("duplicate", "the key %.100r stands twice" % key)
        seen.add(key)
        keep = bool(KEPT.match(key))
        value = walk.value(walk.number("I", key), "the key %.100r" % key, keep)
        if keep and value is not None and len(kept) < 64:
            kept[key] = value
    return kept


Row = namedtuple("Row", "name kind shape offset forms")
"""A line of the table; `forms`: (dtype, bytes) that it may be, none for a type that is not known or rows that are no blocks."""


def _row(walk, layout):
    name = walk.string("the name of a tensor")
    axes = walk.number("I", name)
    if axes > 4:
        raise Broken("bad_header", "tensor %.100r has %d axes; ggml has at most 4" % (name, axes), walk.cursor.offset)
    shape = [walk.number("Q", name) for _ in range(axes)]
    kind, offset = walk.number("I", name), walk.number("Q", name)
    forms = ()
    if kind not in TYPES:
        what = "tensor %.100r has the type %d, which is not in the table" % (name, kind)
        if kind >= GIVEN_OUT:
            raise Broken("bad_header", what, walk.cursor.offset)
        layout.unseen("unsupported", what)
    elif elements(shape) >= 1 << 63:
        layout.fault("bad_size", "tensor %.100r has more elements than 63 bits count: %s" % (name, shape))
    else:
        forms = _forms(kind, shape)
        if not forms:
            what = "tensor %.100r: rows of %d are no whole %s blocks" % (name, shape[0] if shape else 1, TYPES[kind][0])
            layout.fault("bad_size", what)
    return Row(name, kind, shape[::-1], offset, forms)


def _forms(kind, shape):
    row = shape[0] if shape else 1
    rows = ((*TYPES[kind], 0), *FORMS.get(kind, ()))
    return [(name, elements(shape) // block * unit + more) for name, block, unit, more in rows if not row % block]


def _place(file, rows, table_end, alignment, layout):
    """Every tensor starts where the one before it ends, padded; the file ends with the last, or with its padding."""
    start = _up(table_end, alignment)
    end, last, seen, sure, before = 0, 0, set(), True, "the table"
    for at, row in enumerate(rows):
        if row.name in seen:
            layout.fault("duplicate", "the tensor %.100r stands twice" % row.name)
        seen.add(row.name)
        if row.offset % alignment:
            what = "tensor %.100r starts at %d, no multiple of %d" % (row.name, row.offset, alignment)
            layout.fault("bad_header", what, start + row.offset)
        if (sure and row.offset != end) or row.offset < end:
            kind_of = "hole" if row.offset > end else "overlap"
            what = "%s of %d bytes between %.100s and %.100r" % (kind_of, abs(row.offset - end), before, row.name)
            layout.fault(kind_of, what, start + row.offset)
        sure, before = bool(row.forms), repr(row.name)  # after a tensor of unknown size the next place can't be told
        follow = rows[at + 1].offset if at + 1 < len(rows) else layout.size - start
        dtype, nbytes = _fitting(row, follow, alignment)
        last = row.offset + nbytes
        end = _up(last, alignment)
        if row.forms:
            layout.tensor(row.name, dtype, row.shape, start + row.offset, nbytes)
        if start + last > layout.size and layout.needed is None:
            layout.shortfall(start + end, "the tensors from %.100r on are cut" % row.name)
    if layout.needed is None and sure:
        _end(file, rows, table_end, start, (last, end), layout)
    old = sum(row.dtype in REPACKED for row in layout.tensors)
    if old:
        layout.warn("superseded", "%s of a type that llama.cpp reads no more" % plural(old, "tensor is", "tensors are"))


def _fitting(row, follow, alignment):
    """(dtype, bytes) by the form that ends where the next tensor begins, or the file; the usual one, where none does."""
    for dtype, nbytes in row.forms:
        if follow in (_up(row.offset + nbytes, alignment), row.offset + nbytes):
            return dtype, nbytes
    return row.forms[0] if row.forms else ("unknown", 0)


def _end(file, rows, table_end, start, ends, layout):
    """After the last tensor: nothing, or its padding; after a table of none (a vocabulary) as well."""
    last, end = ends
    if not rows:
        if layout.size > start or file.at(table_end, start - table_end).strip(b"\0"):
            layout.fault("trailing", "%d bytes follow the keys" % (layout.size - table_end), table_end)
    elif layout.size == start + last < start + end:
        layout.warn(
            "unpadded", "no padding after the last tensor: left away by its writer, or cut, without a tensor's byte"
        )
    elif layout.size < start + end:
        layout.shortfall(start + end, "the padding after the last tensor is cut")
    elif layout.size > start + end:
        layout.fault("trailing", "{:,} bytes follow the last tensor".format(layout.size - start - end), start + end)
    elif file.at(start + last, end - last).strip(b"\0"):
        layout.warn("padding", "the padding after the last tensor is not of zeros")


def _up(offset, alignment):
    return (offset + alignment - 1) // alignment * alignment


def _templates(metadata, layout):
    for key in sorted(metadata):
        if key.startswith("tokenizer.chat_template") and type(metadata[key]) is str:
            template.tell(metadata[key], key, layout)


def _split(metadata, layout):
    """The first of a split model names the others by the number they bear."""
    count, number = metadata.get("split.count"), metadata.get("split.no")
    match = SPLIT.match(layout.path.rpartition("/")[2])
    if type(count) is not int or count < 2 or number != 0 or not match:
        return
    if int(match.group(3)) != count:
        layout.fault("mismatch", "the name says %d parts, split.count %d" % (int(match.group(3)), count))
    for each in range(2, min(count, 10000) + 1):
        layout.member("%s-%05d-of-%05d.gguf" % (match.group(1), each, count))


def relate(layout, members):
    """The parts are what their names say: each has its own number and tensors, and all have as many as the first says."""
    told = layout.notes.get("split.tensors.count")
    parts = {part.path: members[part.path] for part in layout.members if part.path in members}
    seen = len(layout.tensors) + sum(len(part.tensors) for part in parts.values())
    if parts and type(told) is int and told != seen:
        layout.fault("mismatch", "split.tensors.count is %d, the parts hold %d tensors" % (told, seen))
    names = {row.name for row in layout.tensors}
    for path, part in parts.items():
        match, number = SPLIT.match(path.rpartition("/")[2]), part.notes.get("split.no")
        if match and type(number) is int and number + 1 != int(match.group(2)):
            layout.fault("mismatch", "%s is part %d by its split.no" % (path, number + 1))
        twice = next((row.name for row in part.tensors if row.name in names), None)
        if twice is not None:
            layout.fault("duplicate", "the tensor %.100r is in two parts, one of them %s" % (twice, path))
        names.update(row.name for row in part.tensors)
