"""Parquet: row groups of column chunks, then a footer that describes them, its length, and the magic again.

Source: the apache/parquet-format repository (README and parquet.thrift); the footer is Thrift in its compact protocol.
Read is the footer alone. Each leaf column is told as a tensor: `input_ids` of a list column has as many values as all its
lists together, a flat one as many as there are rows. Row groups state the least and the greatest value of a column, so the
range of token ids is known without reading one (`layout.ranges`), if none of its values is null; the pages themselves are
read by `parquet_pages`, where a claim asks for more.
"""

from collections import namedtuple

from verikit.probes.formats.layout import Broken

MAGIC = b"PAR1"
FOOTER_LIMIT = 64 << 20
DEEP = 32
# parquet.Type, and the bytes of its integers
TYPES = {0: "bool", 1: "int32", 2: "int64", 3: "int96", 4: "float32", 5: "float64", 6: "string", 7: "bytes"}
# ConvertedType of the integers narrower than their storage, and those without sign
CONVERTED = {11: "uint8", 12: "uint16", 13: "uint32", 14: "uint64", 15: "int8", 16: "int16", 17: "int32", 18: "int64"}
# LogicalType of integers and of half floats: their fields in the union.
INTEGER, HALF = 10, 15
WIDTH = {1: 4, 2: 8}
# How values are looked at, by parquet.Type: narrower integers as what they are stored as.
LOOKED_AT = {0: "bool", 1: "i32", 2: "i64", 4: "f32", 5: "f64"}
OPTIONAL, REPEATED = 1, 2

Leaf = namedtuple("Leaf", "path dtype type defined repeated element")
"""A column that holds values. defined, repeated: its greatest levels; element: the level of definition from which on an
entry is an element of a list, though it may be null."""
BOOLEAN_TRUE, BOOLEAN_FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)


def structure(file, layout):
    """Columns by the footer, and that row groups lie within the file."""
    if file.size < 12 or file.at(file.size - 4, 4) != MAGIC:
        raise Broken("truncated", "the footer at the end is missing", file.size)
    length = int.from_bytes(file.at(file.size - 8, 4), "little")
    if length > FOOTER_LIMIT or length + 12 > file.size:
        raise Broken("bad_header", "the footer claims {:,} bytes".format(length), file.size - 8)
    try:
        footer = Compact(file.exactly(file.size - 8 - length, length, "the footer")).struct()
        _columns(footer, file.size - 8 - length, layout)
    except (IndexError, KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise Broken("bad_header", "the footer makes no sense: %s" % error, file.size - 8 - length) from None


def _columns(footer, end, layout):
    leaves = {leaf.path: leaf for leaf in _leaves(footer[2])}
    counts, ranges, rows = dict.fromkeys(leaves, 0), {}, footer.get(3, 0)
    chunks = {path: [] for path in leaves}
    inside = sum(group.get(3, 0) for group in footer.get(4, ()))
    if inside != rows:
        layout.fault("mismatch", "{:,} rows by the footer, {:,} in its row groups".format(rows, inside))
    for group in footer.get(4, ()):
        for chunk in group[1]:
            data = chunk[3]
            path = tuple(part.decode("utf-8", "replace") for part in data[3])
            chunks[path].append(chunk)
            elements, nulls = _elements(data, leaves[path])
            counts[path] += elements
            _widen(ranges, path, data, leaves[path].dtype, nulls)
            begin = data.get(11) or data[9]
            if begin + data[7] > end:
                layout.shortfall(begin + data[7], "column %s is cut" % ".".join(path))
    layout.notes["keys"] = {"rows": rows, "row_groups": len(footer.get(4, ()))}
    layout.ranges, layout.columns = {}, {}
    for path, leaf in leaves.items():
        name = ".".join(part for part in path if part not in ("list", "element", "item", "bag", "array")) or path[-1]
        layout.tensor(name, leaf.dtype, (counts[path],), None, 0)
        layout.columns[name] = leaf, chunks[path]
        if ranges.get(path) is not None and footer.get(7):  # without an order said, ends mean nothing
            layout.ranges[name] = ranges[path]


def _leaves(schema):
    """Each column that holds values; the schema is a tree told in order of depth."""
    todo, path, kinds = [schema[0].get(5, 0)], [], []
    for element in schema[1:]:
        while todo and todo[-1] == 0:
            todo.pop()
            path.pop()
            kinds.pop()
        todo[-1] -= 1
        path.append(element[4].decode("utf-8", "replace"))
        kinds.append(element.get(3, 0))
        if element.get(5):
            todo.append(element[5])
            if len(todo) > DEEP:
                raise ValueError("columns nested deeper than %d" % DEEP)
            continue
        levels = [kind in (OPTIONAL, REPEATED) for kind in kinds]
        inner = max((at + 1 for at, kind in enumerate(kinds) if kind == REPEATED), default=0)
        yield Leaf(
            tuple(path), _dtype(element), element.get(1), sum(levels), kinds.count(REPEATED), sum(levels[:inner])
        )
        path.pop()
        kinds.pop()


def _dtype(element):
    """The dtype of a column in torch's spelling: by its logical type, the older converted one, or how it is stored."""
    logical = element.get(10) or {}
    if INTEGER in logical:
        return "%sint%d" % ("" if logical[INTEGER].get(2) else "u", logical[INTEGER][1])
    if HALF in logical:
        return "float16"
    return CONVERTED.get(element.get(6), TYPES.get(element.get(1), "unknown"))


def _elements(data, leaf):
    """(how many values a chunk has, how many of them are null or None): an entry of an empty list is none.

    Newer writers tell how many entries there are of each level of definition (SizeStatistics); older ones only how many
    are null in any way, which settles it where there are none, or where only a list can be.
    """
    levels = (data.get(16) or {}).get(3)
    if levels and len(levels) == leaf.defined + 1 and sum(levels) == data[5]:
        return sum(levels[leaf.element :]), sum(levels[leaf.element : leaf.defined])
    nulls = 0 if not leaf.defined else (data.get(12) or {}).get(3)
    if nulls is not None and (nulls == 0 or leaf.defined == leaf.element):
        return data[5] - nulls, 0
    return data[5], nulls if not leaf.repeated else None


def _widen(ranges, path, data, dtype, nulls):
    """Takes a chunk's least and greatest value into the column's range; None for a column with a chunk that tells none.

    nulls: its values that are null: where there may be any, or none but those, its ends are not all there is to say.
    """
    statistics = data.get(12) or {}
    if statistics.get(3) == data[5] and nulls == 0:  # nothing but empty lists
        return
    low, high, width = statistics.get(6), statistics.get(5), WIDTH.get(data[1])
    known = nulls == 0 and len(low or b"") == len(high or b"") == width
    if not dtype.lstrip("u").startswith("int") or width is None or not known:
        ranges[path] = None
        return
    signed = not dtype.startswith("u")
    ends = int.from_bytes(low, "little", signed=signed), int.from_bytes(high, "little", signed=signed)
    before = ranges.get(path, ends)
    ranges[path] = None if before is None else (min(before[0], ends[0]), max(before[1], ends[1]))


class Compact:
    """Thrift's compact protocol: structs as {field number: value}, lists as lists, texts as bytes."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return value
            if shift > 63:
                raise ValueError("a number of more than 64 bits")

    def zigzag(self):
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def struct(self, depth=0):
        if depth > DEEP:
            raise ValueError("structs nested deeper than %d" % DEEP)
        fields, number = {}, 0
        while True:
            head = self.byte()
            if head == 0:
                return fields
            number = number + (head >> 4) if head >> 4 else self.zigzag()
            fields[number] = self.value(head & 15, depth)

    def value(self, kind, depth, element=False):
        if kind in (BOOLEAN_TRUE, BOOLEAN_FALSE):
            return self.byte() == 1 if element else kind == BOOLEAN_TRUE
        if kind == BYTE:
            return self.byte()
        if kind in (I16, I32, I64):
            return self.zigzag()
        if kind == DOUBLE:
            self.at += 8
            return self.data[self.at - 8 : self.at]
        if kind == BINARY:
            length = self.varint()
            self.at += length
            if self.at > len(self.data):
                raise ValueError("a text runs past the end")
            return self.data[self.at - length : self.at]
        if kind in (LIST, SET):
            return self.row(depth)
        if kind == STRUCT:
            return self.struct(depth + 1)
        raise ValueError("a field of kind %d" % kind)

    def row(self, depth):
        head = self.byte()
        count = head >> 4 if head >> 4 < 15 else self.varint()
        if count > len(self.data):
            raise ValueError("a list of more entries than bytes")
        return [self.value(head & 15, depth + 1, element=True) for _ in range(count)]
