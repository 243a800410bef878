"""Arrow IPC: a schema, then record batches, as a stream (what `datasets` writes) or as a file with a footer (Feather 2).

Source: the Apache Arrow specification, "Serialization and Interprocess Communication", and format/Schema.fbs and
Message.fbs; metadata is FlatBuffers. Read are the messages' metadata alone, one small read for each batch. Each leaf column
is told as a tensor of one axis: a list column has as many values as all its lists together; a column of fixed-size lists
has two. Its bytes lie in pieces, a buffer in each batch, and are read by `arrow_columns`, where a claim asks for values.
"""

import struct
from collections import namedtuple

from verikit.probes.formats.layout import Broken, Layout
from verikit.probes.place import CannotSee

MAGIC, CONTINUED = b"ARROW1", b"\xff\xff\xff\xff"
METADATA_LIMIT = 16 << 20
MOST_BATCHES = 1_000_000
DEEP, MOST_FIELDS = 32, 100_000
SCHEMA, DICTIONARY, BATCH = 1, 2, 3
INT, FLOAT, BOOL, STRUCT, UNION, FIXED, MAP, ENDED = 2, 3, 6, 13, 14, 16, 17, 22
LISTS, WIDE = frozenset([12, 17, 21]), frozenset([21])
"""Lists of lengths of their own, and those of them whose offsets take 64 bits."""
# Buffers of each kind; a view has more, which its batch counts.
BUFFERS = {1: 0, STRUCT: 1, FIXED: 1, ENDED: 0, 4: 3, 5: 3, 19: 3, 20: 3, 25: 3, 26: 3}
VIEWS, UNREAD = frozenset([23, 24]), frozenset([UNION, ENDED, 25, 26])
TYPES = {1: "null", 4: "bytes", 5: "string", 6: "bool", 19: "bytes", 20: "string"}
FLOATS = {0: "float16", 1: "float32", 2: "float64"}
DAMAGED = (struct.error, IndexError, ValueError, UnicodeDecodeError)

Leaf = namedtuple("Leaf", "name kind dtype node buffer views each parents dictionary index")
"""A column that holds values. node, buffer, views: how many come before it in a batch; each: of lists of a fixed size.
dictionary: the number of its dictionary, and `index` numpy's code of the numbers that stand for its values."""
Parent = namedtuple("Parent", "kind node buffer views size")


def structure(file, layout):
    """Columns by the schema, their lengths by the batches, and that the last batch lies within the file."""
    footed = file.at(0, 6) == MAGIC
    at, leaves, counts, batches, rows = 8 if footed else 0, None, [], 0, 0
    while True:
        start, size = _message_at(file, at, layout)
        if size is None:
            break
        try:
            kind, header, body = _message(file.exactly(start, size, "the metadata of a message"))
            if kind == SCHEMA and leaves is None:
                leaves = list(Schema(header, layout).leaves())
                counts = [0] * len(leaves)
            elif kind == BATCH and leaves is not None:
                batches, rows = batches + 1, rows + header.number(0, "q")
                nodes = header.structs(1, 16)
                if any(length < 0 for length, _ in nodes):
                    raise ValueError("a column of a negative length")
                counts = [n + nodes[leaf.node][0] for n, leaf in zip(counts, leaves)]
        except DAMAGED as error:
            raise Broken("bad_header", "the message at byte %d makes no sense: %s" % (at, error), at) from None
        at = start + size + body
        if at > file.size:
            layout.shortfall(at, "the batch that begins at byte %d is cut" % start)
            break
        if batches > MOST_BATCHES:
            raise CannotSee("bound_reached", "more than {:,} record batches".format(MOST_BATCHES))
    if leaves is None:
        raise Broken("bad_header", "there is no schema", 0)
    if footed and not layout.faults and file.at(file.size - 6, 6) != MAGIC:
        layout.shortfall(file.size + 1, "the footer at the end is missing")
    layout.notes["keys"] = {"rows": rows, "record_batches": batches}
    layout.columns = {leaf.name: leaf for leaf in leaves}
    for n, leaf in zip(counts, leaves):
        layout.tensor(leaf.name, leaf.dtype, (n // leaf.each, leaf.each) if leaf.each else (n,), None, 0)


def messages(file):
    """(kind, its header, (where its body begins, its bytes)) of each message."""
    at, silent = 8 if file.at(0, 6) == MAGIC else 0, Layout()
    while True:
        start, size = _message_at(file, at, silent)
        if size is None:
            if silent.faults:
                raise Broken("truncated", silent.faults[0]["what"], at)
            return
        kind, header, body = _message(file.exactly(start, size, "the metadata of a message"))
        if start + size + body > file.size:
            raise Broken("truncated", "the batch that begins at byte %d is cut" % start, start)
        yield kind, header, (start + size, body)
        at = start + size + body


def _message_at(file, at, layout):
    """(where the metadata begins, its size), or None for its size at the end of the stream."""
    if at == file.size:
        layout.warn(
            "unended", "no mark of its end, which streams may lack: cut between two batches it would look the same"
        )
        return at, None
    head = file.at(at, 8)
    start = at + 8 if head[:4] == CONTINUED else at + 4  # before Arrow 0.15 there was no mark
    if len(head) < start - at:
        layout.shortfall(start, "it ends inside a message")
        return at, None
    size = int.from_bytes(head[start - at - 4 : start - at], "little")
    if size > METADATA_LIMIT:
        raise Broken("bad_header", "the message at byte {} claims {:,} bytes of metadata".format(at, size), at)
    return start, size or None


def _message(data):
    """(kind, its header, bytes of its body)."""
    message = Table.root(data)
    body = message.number(3, "q")
    if body < 0:
        raise ValueError("a body of %d bytes" % body)
    return message.number(1, "B"), message.table(2), body


class Schema:
    """The columns of a schema, and which node and which buffers of a batch are whose."""

    def __init__(self, header, layout):
        self.header, self.node, self.buffer, self.views = header, 0, 0, 0
        layout.byteorder = "big" if header.number(0, "h") else "little"

    def leaves(self):
        return self.within(self.header.tables(1), "", 0, (), 0)

    def within(self, fields, prefix, depth, parents, each):
        """Each `Leaf` in order, as nodes and buffers are."""
        if depth > DEEP:
            raise ValueError("columns nested deeper than %d" % DEEP)
        for field in fields:
            if self.node > MOST_FIELDS:
                raise ValueError("more than %d columns" % MOST_FIELDS)
            own, kind, children = field.text(0), field.number(2, "B"), field.tables(5)
            # The one child of a list is called item, element or as the list itself; it has no name of its own.
            name = prefix if depth and len(fields) == 1 and own in ("item", "element", "list") else _joined(prefix, own)
            dictionary = field.table(4) if field.field(4) else None
            node, buffer, views = self.take(field, kind if dictionary is None else INT)
            if children and dictionary is None:
                size = field.table(3).number(0, "i") if kind == FIXED else 0
                if size < 0:
                    raise ValueError("lists of %d values" % size)
                parent = Parent(kind, node, buffer, views, size)
                once = size if not depth and not children[0].tables(5) else 0
                yield from self.within(children, name, depth + 1, (*parents, parent), once)
            else:
                number, index = (None, None) if dictionary is None else _dictionary(dictionary)
                dtype = "unknown" if children else _dtype(field, kind)
                yield Leaf(name, kind, dtype, node, buffer, views, each, parents, number, index)

    def take(self, field, kind):
        """(node, first buffer, views before) of a field, which takes its own."""
        row = self.node, self.buffer, self.views
        self.node += 1
        count = BUFFERS.get(kind, 2)
        if kind == UNION:  # a sparse one has no offsets
            count = 1 + field.table(3).number(0, "h")
        self.buffer += count
        self.views += kind in VIEWS
        return row


def _dictionary(encoding):
    """(the number of a dictionary, numpy's code of the numbers that stand for its values)."""
    index = encoding.table(1) if encoding.field(1) else None
    bits, signed = (32, True) if index is None else (index.number(0, "i"), index.number(1, "?"))
    if bits not in (8, 16, 32, 64):
        raise ValueError("numbers of %d bits" % bits)
    return encoding.number(0, "q"), "<%s%d" % ("i" if signed else "u", bits // 8)


def _joined(prefix, own):
    return "%s.%s" % (prefix, own) if prefix else own


def _dtype(field, kind):
    if kind == INT:
        detail = field.table(3)
        return "%sint%d" % ("" if detail.number(1, "?") else "u", detail.number(0, "i"))
    if kind == FLOAT:
        return FLOATS.get(field.table(3).number(0, "h"), "unknown")
    return TYPES.get(kind, "unknown")


class Table:
    """A FlatBuffers table: fields by number, found through its vtable; what is not there has its default."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.vtable = at - struct.unpack_from("<i", data, at)[0]
        if self.vtable < 0:
            raise ValueError("a table without a vtable")
        self.size = struct.unpack_from("<H", data, self.vtable)[0]

    @classmethod
    def root(cls, data):
        return cls(data, struct.unpack_from("<I", data, 0)[0])

    def field(self, number):
        """Where a field is, or 0."""
        slot = 4 + 2 * number
        inside = struct.unpack_from("<H", self.data, self.vtable + slot)[0] if slot < self.size else 0
        return inside and self.at + inside

    def number(self, number, code):
        at = self.field(number)
        return struct.unpack_from("<" + code, self.data, at)[0] if at else 0

    def target(self, number):
        at = self.field(number)
        return at + struct.unpack_from("<I", self.data, at)[0] if at else 0

    def table(self, number):
        at = self.target(number)
        if not at:
            raise ValueError("field %d is missing" % number)
        return Table(self.data, at)

    def text(self, number):
        at, length = self.vector(number, 1)
        return bytes(self.data[at : at + length]).decode("utf-8", "replace")

    def vector(self, number, width):
        """(where it begins, how many there are), which must lie within the data."""
        at = self.target(number)
        length = struct.unpack_from("<I", self.data, at)[0] if at else 0
        if at + 4 + length * width > len(self.data):
            raise ValueError("a list runs past the end")
        return at + 4, length

    def tables(self, number):
        at, length = self.vector(number, 4)
        places = struct.unpack_from("<%dI" % length, self.data, at) if length else ()
        return [Table(self.data, at + 4 * k + place) for k, place in enumerate(places)]

    def numbers(self, number):
        """Numbers of 64 bits."""
        at, length = self.vector(number, 8)
        return struct.unpack_from("<%dq" % length, self.data, at)

    def structs(self, number, width):
        """Structs of 64-bit numbers."""
        at, length = self.vector(number, width)
        return [struct.unpack_from("<%dq" % (width // 8), self.data, at + width * k) for k in range(length)]
