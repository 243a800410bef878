"""What a format module reads from (`Window`) and what it tells (`Layout`): both count and bound.

Tensors are columns, and rows only when asked for: a checkpoint may have 10^5 of them, and a look has 64 MiB.
"""

import gc
import os
from array import array
from collections import namedtuple
from contextlib import contextmanager

from verikit.probes.place import CannotSee

MANY = 16
"""Faults and warnings of one kind that are kept; the rest are counted."""

Tensor = namedtuple("Tensor", "name dtype shape offset nbytes file")
"""A tensor whose bytes lie at `offset` of `file` (None: this file); offset None: not in one piece, or nowhere."""

Span = namedtuple("Span", "name offset nbytes crc method size")
"""Stored bytes: `crc` of the `size` bytes they are after unpacking (method 0: as they are, 8: deflate), or None."""

Member = namedtuple("Member", "path size least sha256 git_sha1 required module parts sha1")
"""A file that belongs to a checkpoint, and what is expected of it.

`module` reads it, where its content alone doesn't say how; `parts` is what that module is told, as `layout.parts`.
"""

SHARED = 4096
"""Different ones (shapes, storages and the like) that are kept once each, before those are forgotten for others."""

NOWHERE = -1
_row = tuple.__new__  # half of what Tensor(…) costs

# Bits of one element, by torch's name of the dtype.
BITS = {
    "float64": 64, "float32": 32, "float16": 16, "bfloat16": 16,
    "float8_e4m3fn": 8, "float8_e5m2": 8, "float8_e4m3fnuz": 8, "float8_e5m2fnuz": 8, "float8_e8m0fnu": 8,
    "float4_e2m1fn_x2": 8, "float4_e2m1": 4, "float6_e2m3": 6, "float6_e3m2": 6,
    "int64": 64, "int32": 32, "int16": 16, "int8": 8, "uint64": 64, "uint32": 32, "uint16": 16, "uint8": 8,
    "bool": 8, "complex32": 32, "complex64": 64, "complex128": 128,
    "qint8": 8, "quint8": 8, "qint32": 32, "quint4x2": 8, "quint2x4": 8,
}  # fmt: skip


class Broken(Exception):
    """Metadata that makes no further sense: a fault (kind, what, where) that ends the reading of a file."""

    def __init__(self, kind, what, where=None):
        super().__init__(what)
        self.kind, self.what, self.where = kind, what, where


class Window:
    """A seekable binary file, or `size` bytes of it from `base` on, read in bounded pieces.

    Offsets count from `base`; what a format tells of offsets in the file adds `base`.  `read`: bytes read so far.
    """

    def __init__(self, file, size, limit=64 << 20, path="", base=0):
        self._file, self.size, self.limit, self.path, self.base, self.read = file, size, limit, path, base, 0
        try:
            self._fd = file.fileno()  # by number: no seek, no buffer that is filled for 50 bytes
        except (OSError, AttributeError):
            self._fd = None

    def part(self, offset, nbytes):
        """The same for a stretch of it: a file within a file."""
        return Window(self._file, min(nbytes, self.size - offset), self.limit, self.path, self.base + offset)

    def at(self, offset, nbytes):
        """The bytes from there on, fewer at the end of the file; more than `limit` at once is refused."""
        nbytes = min(nbytes, self.size - offset)
        if offset < 0 or nbytes <= 0:
            return b""
        if nbytes > self.limit:
            raise CannotSee("bound_reached", "%d bytes of metadata at once, more than %d" % (nbytes, self.limit))
        if self._fd is not None:
            data = os.pread(self._fd, nbytes, self.base + offset)
        else:
            self._file.seek(self.base + offset)
            data = self._file.read(nbytes)
        self.read += len(data)
        return data

    def exactly(self, offset, nbytes, what):
        """These bytes, or `Broken("truncated")` that names what lies there."""
        data = self.at(offset, nbytes)
        if len(data) < nbytes:
            raise Broken("truncated", "%s is cut: %d of %d bytes at %d" % (what, len(data), nbytes, offset), offset)
        return data


def _longer(column, number):
    """The column of numbers with one more; a list, from where it holds a claim beyond any file."""
    try:
        column.append(number)
    except OverflowError:
        return [*column, number]
    return column


class Tensors:
    """The tensors of a layout, each a `Tensor` when asked for by number or in turn; kept in columns.

    Most tensors share their dtype and shape with many others, and their place in the tree: these are kept once.
    """

    __slots__ = ("_forms", "_known", "_names", "_offsets", "_under")

    def __init__(self):
        self._under, self._names, self._forms, self._offsets = [], [], [], array("q")
        self._known = {}

    def add(self, under, name, dtype, shape, offset, nbytes, file=None):
        """One more, called `under + name`; shape a tuple."""
        form = dtype, shape, nbytes, file
        self._under.append(under)
        self._names.append(name)
        self._forms.append(self._known.setdefault(form, form))
        if len(self._known) > SHARED:
            self._known.clear()
        self._offsets = _longer(self._offsets, NOWHERE if offset is None else offset)

    def __len__(self):
        return len(self._names)

    def __iter__(self):
        for under, name, (dtype, shape, nbytes, file), offset in zip(
            self._under, self._names, self._forms, self._offsets
        ):
            offset = None if offset == NOWHERE else offset
            yield _row(Tensor, (under + name, dtype, shape, offset, nbytes, file))

    def __getitem__(self, number):
        (dtype, shape, nbytes, file), offset = self._forms[number], self._offsets[number]
        offset = None if offset == NOWHERE else offset
        return Tensor(self._under[number] + self._names[number], dtype, shape, offset, nbytes, file)

    def shapes(self):
        """The shape of each, without its name."""
        return (form[1] for form in self._forms)

    def in_order(self):
        """(offset, nbytes, number) of each, by where it lies; for formats in which each lies somewhere."""
        offsets, forms = self._offsets, self._forms
        for number in sorted(range(len(self)), key=lambda number: (offsets[number], forms[number][2])):
            yield offsets[number], forms[number][2], number


class Spans:
    """The stored bytes of a layout, each a `Span` when asked for in turn; kept in columns."""

    __slots__ = ("_names", "_offsets", "_rest", "_sizes", "_under")

    def __init__(self):
        self._under, self._names, self._rest, self._offsets, self._sizes = [], [], [], array("q"), array("q")

    def add(self, under, name, offset, nbytes, crc=None, method=0, size=None):
        """One more, called `under + name`; size: where it is not `nbytes`."""
        self._under.append(under)
        self._names.append(name)
        self._rest.append(_PLAIN if crc is None and not method and size is None else (crc, method, size))
        self._offsets, self._sizes = _longer(self._offsets, offset), _longer(self._sizes, nbytes)

    def append(self, span):
        """One more, as `Span`."""
        self.add("", *span)

    @property
    def ordered(self):
        """Whether they come in the order of their offsets."""
        return all(map(int.__le__, self._offsets, self._offsets[1:]))

    def __len__(self):
        return len(self._names)

    def __iter__(self):
        for under, name, offset, nbytes, (crc, method, size) in zip(
            self._under, self._names, self._offsets, self._sizes, self._rest
        ):
            yield Span(under + name, offset, nbytes, crc, method, nbytes if size is None else size)


_PLAIN = (None, 0, None)


class Layout:
    """What is known of one file or folder, gathered by its format module."""

    def __init__(self, path="", size=0, format=None):
        self.path, self.size, self.format = path, size, format
        self.tensors, self.spans, self.members = Tensors(), Spans(), []
        self._places = {}
        self.tree, self.notes = {}, {}
        self.faults, self.warnings, self.unknowns = [], [], []
        self.more = {}
        self.needed = None
        self.globals, self.hidden = {}, []
        self.strides, self.root = {}, None
        # By the names of tensors: (record, offset in what it unpacks to); the byte order, where it is not the file's.
        self.packed, self.orders = {}, {}
        # Names of tensors whose values are those of their memory, turned round: torch's negative views.
        self.negated = set()
        # `numpy_pickle.Array`s: their elements lie in a pickle.
        self.arrays = []
        # By name and offset, of pieces of a tensor: (index at which they begin in it, strides or None).
        self.pieces = {}
        self.mtime, self.read, self.content, self.expected = None, 0, None, None
        self.byteorder = "little"
        self.parts, self.inner = None, []

    def tensor(self, name, dtype, shape, offset, nbytes, file=None):
        """A tensor: dtype in torch's spelling, shape a tuple, `nbytes` of its elements."""
        self.tensors.add("", name, dtype, tuple(shape), offset, nbytes, file)

    def span(self, name, offset, nbytes, crc=None, method=0, size=None):
        """Stored bytes to be read at content depth."""
        self.spans.add("", name, offset, nbytes, crc, method, size)

    def member(
        self, path, size=None, least=None, sha256=None, git_sha1=None, required=True, module=None, parts=None, sha1=None
    ):
        """Another file of the same checkpoint, relative to this one's folder, with what is known of it.

        Told twice, by two formats of one folder, it is one member, of which both are believed.
        """
        told = Member(path, size, least, sha256, git_sha1, required, module, parts, sha1)
        at = self._places.setdefault(path, len(self.members))
        if at == len(self.members):
            self.members.append(told)
            return
        known = self.members[at]
        known = known._replace(module=None) if known.module == "plain" else known  # whoever knows its format knows more
        merged = [new if old is None else old for old, new in zip(known, told)]
        self.members[at] = Member(*merged)._replace(required=known.required or required)

    def fault(self, kind, what, where=None):
        """Evidence that it is broken."""
        self._keep(self.faults, kind, what, where)

    def warn(self, kind, what, where=None):
        """A sign that settles nothing by itself."""
        self._keep(self.warnings, kind, what, where)

    def unseen(self, cause, what, where=None):
        """Something that could not be seen; `cause` is a value of verikit.Cause."""
        self._keep(self.unknowns, cause, what, where)

    def shortfall(self, needed, what):
        """The file ends before `needed` bytes; `what` says in a few words what is missing."""
        self.needed = needed
        self.fault("truncated", what, self.size)

    def pickled(self, walk, where):
        """What the pickle at `where` would import, and how it would use it, for the judge's allow-list."""
        for name, use in walk.globals.items():
            if name in self.globals or len(self.globals) < 256:
                self.globals.setdefault(name, {"use": use, "where": where})
            else:
                self.more["globals"] = self.more.get("globals", 0) + 1
        for way in walk.hidden:
            self.hidden.append({"what": way, "where": where})

    def _keep(self, rows, kind, what, where):
        if sum(row["kind"] == kind for row in rows) < MANY:
            rows.append({"kind": kind, "what": what, "where": where})
        else:
            self.more[kind] = self.more.get(kind, 0) + 1


@contextmanager
def uncollected():
    """Without the search for reference cycles: millions of small tuples, none of them garbage, cost a third of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def plural(n, one, many):
    """`1 tensor is`, `2,000 tensors are`."""
    return "{:,} {}".format(n, one if n == 1 else many)


def elements(shape):
    """The number of elements of a shape; 1 for []."""
    product = 1
    for length in shape:
        product *= length
    return product


def nbytes_of(dtype, shape):
    """Bytes that a dense tensor takes, or None for an unknown dtype; sub-byte elements must fill whole bytes."""
    bits = BITS.get(dtype)
    if bits is None:
        return None
    total = elements(shape) * bits
    return total // 8 if total % 8 == 0 else None
