"""ZIP archives by their directory: every record's place, size and CRC-32, from both ends, without reading the records.

The directory at the end, the header before each record and the descriptor after it say the same thing thrice; a writer
that died, a page that was zeroed and a record that was put in by hand show where they differ.  What a loader refuses or
misreads though all three agree is told for the `Loader` that the format names.
Source: PKWARE's APPNOTE.TXT, sections 4.3 and 4.4; torch reads and writes through miniz (third_party/miniz of PyTorch,
`mz_zip_reader_read_central_dir`, `mz_zip_reader_extract_to_mem_no_alloc1`), numpy through zipfile (Lib/zipfile).
"""

import struct
import zlib
from array import array
from bisect import bisect_left
from collections import namedtuple

from verikit.probes import packing
from verikit.probes.formats.layout import Broken, Span
from verikit.probes.place import CannotSee

Entry = namedtuple("Entry", "name method flags crc stored size offset")
"""A record as the directory has it: `stored` bytes in the file, `size` bytes unpacked, local header at `offset`."""

TAIL = 22 + 65535
STORED, DEFLATED = 0, 8
SMALL, STRETCH = 512, 1 << 16
"""Bytes of a record that it costs more to skip than to read, and most bytes of headers that are read at once."""
ENCRYPTED, DESCRIPTOR, UTF8 = 0x1, 0x8, 0x800
FLAGS = {0x1: "encrypted", 0x20: "a patch of other data", 0x40: "encrypted strongly", 0x2000: "masked"}
"""Flags of a record that no loader here reads, in words."""
NO_LOADER = sum(FLAGS)
FOLDER = 0x10
"""The attribute by which a directory says, from the days of DOS on, that a record is a folder."""
NEWEST = 63
"""Ten times the version of ZIP that zipfile reads up to; it reads one byte of the field."""
ODD = 16
"""Oddities of one kind that are kept."""

Loader = namedtuple("Loader", "name methods refuses")
"""Who reads an archive: the methods that it unpacks, None: not judged here; the kinds of oddity that it refuses or misreads."""

MINIZ = Loader("torch", frozenset((0, 8)), frozenset(("flags", "disk", "folder")))
ZIPFILE = Loader("zipfile", None, frozenset(("flags", "version", "name", "extra")))

MOST = (1 << 64) - 1
# A deflate stream gives at most 1,032 bytes for each of its own (zlib's technical notes).
DEFLATE_RATIO = 1032

_END = struct.Struct("<4s4H2IH")
_END64 = struct.Struct("<4sQ2H2I4Q")
_ENTRY = struct.Struct("<4s6H3I5H2I")
_LOCAL = struct.Struct("<4s5H3I2H")
_DESCRIPTOR, _DESCRIPTOR64 = struct.Struct("<3I"), struct.Struct("<I2Q")


class Directory:
    """The records in the order of the file, each an `Entry` when asked for by number or in turn; kept in columns.

    `crcs`, `sizes` and the rest go by number, `starts` is where the data of each begins, `offset` where the directory
    itself does.  10^5 records take 8 MB.
    """

    def __init__(self):
        self.offset = 0
        self._text, self._ends = bytearray(), array("Q")
        self.methods, self.flags, self.crcs = array("H"), array("H"), array("I")
        self.stored, self.sizes, self.offsets, self.starts = array("Q"), array("Q"), array("Q"), array("Q")
        self._by_name, self.odd = None, {}

    def strange(self, kind, what):
        """An oddity, which some loaders mind."""
        rows = self.odd.setdefault(kind, [])
        if len(rows) < ODD:
            rows.append(what)

    def refused(self, loader, layout):
        """Tells what that loader refuses, or reads otherwise than it was written."""
        for kind in sorted(loader.refuses.intersection(self.odd)):
            for what in self.odd[kind]:
                layout.fault("bad_header", what)
        if loader.methods is not None and not loader.methods.issuperset(self.methods):
            at = next(at for at, method in enumerate(self.methods) if method not in loader.methods)
            what = "record %r is packed by ZIP method %d, which %s can't unpack: only stored and deflated records"
            layout.fault("bad_header", what % (self[at].name, self.methods[at], loader.name))

    def add(self, raw, method, flags, crc, stored, size, offset):
        """One more record, whose name is these bytes."""
        self._text += raw
        self._ends.append(len(self._text))
        self.methods.append(method)
        self.flags.append(flags)
        self.crcs.append(crc)
        self.stored.append(stored)
        self.sizes.append(size)
        self.offsets.append(offset)

    def sort(self):
        """Puts the records in the order in which they lie in the file."""
        order = sorted(range(len(self)), key=self.offsets.__getitem__)
        if order != list(range(len(self))):
            rows, odd = [(self.raw(at), *self[at][1:]) for at in order], self.odd
            self.__init__()
            self.odd = odd
            for row in rows:
                self.add(*row)

    def __len__(self):
        return len(self._ends)

    def __getitem__(self, at):
        row = self.methods[at], self.flags[at], self.crcs[at], self.stored[at], self.sizes[at], self.offsets[at]
        return Entry(_name(self.raw(at)), *row)

    def __iter__(self):
        return map(self.__getitem__, range(len(self)))

    @property
    def entries(self):
        """The records themselves, for whoever wants them as rows."""
        return self

    def raw(self, at):
        """The name of a record, as the bytes that stand in the file."""
        return bytes(self._text[self._ends[at - 1] if at else 0 : self._ends[at]])

    def raws(self):
        """These bytes for each record in turn."""
        text, begin = bytes(self._text), 0
        for end in self._ends:
            yield text[begin:end]
            begin = end

    def names(self):
        """The name of each record in turn."""
        return map(_name, self.raws())

    def at(self, name):
        """The number of the last record of that name, or None."""
        raw, end = name.encode("utf-8", "surrogateescape"), len(self._text)
        while raw and end > 0:
            begin = self._text.rfind(raw, 0, end)
            if begin < 0:
                break
            end = begin + len(raw)
            number = bisect_left(self._ends, end)
            if self._ends[number] == end and begin == (self._ends[number - 1] if number else 0):
                return number
            end -= 1
        return None

    @property
    def by_name(self):
        """{name: number}; for archives of few records."""
        if self._by_name is None:
            self._by_name = {name: at for at, name in enumerate(self.names())}
        return self._by_name


class Spans:
    """The bytes of the records that have any, as `layout.spans`: a `Span` each, made when asked for."""

    def __init__(self, directory, base, crcs):
        self._directory, self._base, self._crcs, self._more = directory, base, crcs, []
        self._count = sum(map(bool, directory.stored))

    @property
    def ordered(self):
        """Whether they come in the order of their offsets, as they do unless a record's header lies about itself."""
        starts = self._directory.starts
        return not self._more and all(map(int.__le__, starts, starts[1:]))

    def append(self, span):
        """One more, that is no record of the archive."""
        self._more.append(span)

    def __len__(self):
        return self._count + len(self._more)

    def __iter__(self):
        for entry, start in zip(self._directory, self._directory.starts):
            if entry.stored:
                crc = entry.crc if self._crcs else None
                yield Span(entry.name, self._base + start, entry.stored, crc, entry.method, entry.size)
        yield from self._more


def directory(file, layout):
    """The `Directory` of the archive, every record held against its local header and its neighbours.

    None, with the fault told, where there is no directory: the usual sign of a file that was cut.
    """
    end = _end(file, layout)
    if end is None:
        return None
    count, size, offset, disks = end
    found = _records(file.exactly(offset, size, "the ZIP directory"), count, offset)
    if disks != 1:
        found.strange("disk", "the zip64 locator says that the ZIP archive is split over %d disks" % disks)
    _names(found, layout)
    found.sort()
    found.offset = offset
    _walk_records(file, found, offset, layout)
    return found


def _end(file, layout):
    """(records, size of the directory, its offset, disks), by the end record; None if there is none."""
    disks, begin = 1, max(0, file.size - TAIL)
    tail = file.at(begin, TAIL)
    at = tail.rfind(b"PK\5\6")
    while at >= 0 and len(tail) - at < _END.size:
        at = tail.rfind(b"PK\5\6", 0, at)
    if at < 0:
        layout.fault("truncated", "the ZIP directory at the end is missing", file.size)
        return None
    _, disk, first, here, count, size, offset, comment = _END.unpack_from(tail, at)
    place, end = begin + at, begin + at
    if file.at(place - 20, 4) == b"PK\6\7":
        place, count, size, offset, disks = _end64(file, place, count, size, offset)
    elif disk or first or here != count:
        raise Broken("bad_header", "a ZIP archive split over several disks", place)
    extra = file.size - (end + _END.size + comment)
    if extra > 0:
        layout.fault("trailing", "{:,} bytes follow the end of the ZIP archive".format(extra), file.size - extra)
    elif extra < 0:
        layout.fault("truncated", "the comment at the end of the ZIP archive is cut", file.size)
    if offset + size < place:
        layout.fault(
            "trailing", "{:,} bytes between the ZIP directory and its end record".format(place - offset - size)
        )
        raise Broken("mismatch", "the ZIP directory is not where its end record says", place)
    if offset + size > place:
        raise Broken("mismatch", "the end record puts the ZIP directory beyond itself", place)
    return count, size, offset, disks


def _end64(file, end, count, size, offset):
    """The same by the zip64 end record, whose locator stands before the plain one; the two must agree."""
    _, disk, place, disks = struct.unpack("<4sIQI", file.exactly(end - 20, 20, "the zip64 locator"))
    row = _END64.unpack(file.exactly(place, _END64.size, "the zip64 end record"))
    if row[0] != b"PK\6\6" or place + 12 + row[1] != end - 20:
        raise Broken(
            "bad_header", "the zip64 end record is not where its locator says" + _moved(file, end, place), end - 20
        )
    if disk or disks > 1 or row[4] or row[5] or row[6] != row[7]:
        raise Broken("bad_header", "a ZIP archive split over several disks", place)
    for plain, limit, long in ((count, 0xFFFF, row[7]), (size, 0xFFFFFFFF, row[8]), (offset, 0xFFFFFFFF, row[9])):
        if plain not in (limit, long):
            raise Broken("mismatch", "the two end records of the ZIP archive differ: %d and %d" % (plain, long), place)
    return place, row[7], row[8], row[9], disks


def _moved(file, end, place):
    """By how much the record before the locator was moved, in words: bytes that were put in before it, or lost."""
    found = end - 20 - _END64.size
    if found == place or file.at(max(0, found), 4) != b"PK\6\6":
        return ""
    return ": {:,} {} before it".format(abs(found - place), "bytes too many" if found > place else "bytes are lost")


def _records(data, count, offset):
    found, at, end = Directory(), 0, len(data)
    unpack, length, add = _ENTRY.unpack_from, _ENTRY.size, found.add
    while at < end:
        if at + length > end or data[at : at + 4] != b"PK\1\2":
            raise Broken(
                "bad_header", "the ZIP directory is damaged after %d of %d records" % (len(found), count), offset + at
            )
        row = unpack(data, at)
        (_, _, needed, flags, method, _, _, crc, stored, size, n, m, k, disk, _, outer, local) = row
        raw = data[at + length : at + length + n]
        if flags & NO_LOADER or disk > 1 or outer & FOLDER or needed & 0xFF > NEWEST or m or not raw.isascii():
            _strange(found, raw, data[at + length + n : at + length + n + m], row)
        if 0xFFFFFFFF in (stored, size, local):
            extra = data[at + length + n : at + length + n + m]
            stored, size, local = _zip64(extra, stored, size, local, offset + at)
        add(raw, method, flags, crc, stored, size, local)
        at += length + n + m + k
    if at != end or len(found) != count:
        raise Broken(
            "mismatch", "the ZIP directory has %d records, its end record says %d" % (len(found), count), offset
        )
    return found


def _strange(found, raw, extra, row):
    """Tells the directory what is odd about a record, so that loaders refuse it or read nothing of it."""
    needed, flags, stored, disk, outer = row[2], row[3], row[8], row[13], row[15]
    name = "record %r" % _name(raw)
    for bit, word in FLAGS.items():
        if flags & bit:
            found.strange("flags", "%s is %s, by its flags" % (name, word))
    if disk > 1:
        found.strange("disk", "%s is on disk %d of a split archive" % (name, disk))
    if outer & FOLDER and stored and not raw.endswith(b"/"):
        found.strange("folder", name + " is marked as a folder in the ZIP directory: torch reads nothing of it")
    if needed & 0xFF > NEWEST:
        what = "%s asks for version %.1f of ZIP, which zipfile does not read"
        found.strange("version", what % (name, (needed & 0xFF) / 10))
    if flags & UTF8 and _name(raw).encode("utf-8", "replace") != raw:
        found.strange("name", name + " has a name that is no UTF-8, though marked as such")
    if not _fields(extra):
        found.strange("extra", name + " has an extra field that reaches beyond its end")


def _fields(extra):
    """Whether the fields end where the extra bytes do, or less than a header before."""
    at = 0
    while at + 4 <= len(extra):
        at += 4 + int.from_bytes(extra[at + 2 : at + 4], "little")
    return at <= len(extra)


def _name(raw):
    """The name as text; bytes that are no UTF-8 (old archives have code pages) stay told apart, and can be had back."""
    return raw.decode("utf-8", "surrogateescape")


def _zip64(extra, stored, size, local, where):
    """The three numbers with those that are 0xFFFFFFFF taken from the zip64 field, in its fixed order."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        if at + 4 + length > len(extra):
            raise Broken("bad_header", "a zip64 field is cut", where)
        if kind == 1:
            numbers = [number for (number,) in struct.iter_unpack("<Q", extra[at + 4 : at + 4 + length // 8 * 8])]
            try:
                size = numbers.pop(0) if size == 0xFFFFFFFF else size
                stored = numbers.pop(0) if stored == 0xFFFFFFFF else stored
                local = numbers.pop(0) if local == 0xFFFFFFFF else local
            except IndexError:
                raise Broken("bad_header", "a zip64 field is too short", where) from None
        at += 4 + length
    return stored, size, local


def _names(found, layout):
    seen = set(found.raws())
    if len(seen) == len(found) and not any(b".." in raw or raw[:1] == b"/" for raw in seen):
        return
    seen.clear()
    for name in found.names():
        if name in seen:
            layout.fault("duplicate", "two records are called %r" % name)
        seen.add(name)
        parts = name.replace("\\", "/").split("/")
        if ".." in parts or name.startswith("/"):
            layout.fault("escapes", "record %r leaves the folder" % name)


def _walk_records(file, found, end, layout):
    """Where each record's data starts; header, data and descriptor of all records must cover the file up to `end`."""
    at, expected, stretch, begin = 0, b"", b"", 0
    rows = zip(found.raws(), found.methods, found.flags, found.crcs, found.stored, found.sizes, found.offsets)
    for number, (raw, method, flags, crc, stored, size, offset) in enumerate(rows):
        gap = offset - at
        near = 0 <= gap <= 24
        first, last = at if near else offset, offset + _LOCAL.size + len(raw)
        if not begin <= first <= last <= begin + len(stretch):
            stretch, begin = file.at(first, max(last, _reach(found, number)) - first), first
        between, data = stretch[first - begin : offset - begin], stretch[offset - begin : last - begin]
        if not near or between != expected:
            before = found[number - 1] if number else None
            _between(before, gap, between if near else b"", _name(raw), layout)
        # What torch writes is known at a glance; all else is looked at closely.
        start = _start(data, raw, method, flags, (crc, stored, size), offset)
        if start is None:
            start = _local(data, found, number, layout)
        if start + stored > end:
            layout.fault("overlap", "record %r reaches into the ZIP directory" % _name(raw), start)
        found.starts.append(min(start, MOST))
        at = start + stored
        expected = _descriptor(crc, stored, size) if flags & DESCRIPTOR else b""
    gap = end - at
    between = file.at(at, gap) if 0 <= gap <= 24 else b""
    if between != expected or gap != len(between):
        _between(found[-1] if len(found) else None, gap, between, "the ZIP directory", layout)


def _reach(found, number):
    """Where a read of this record's header may end: behind the headers of the small records that follow, at once."""
    begin, last = found.offsets[number], len(found) - 1
    while number < last and found.stored[number] <= SMALL and found.offsets[number + 1] - begin < STRETCH:
        number += 1
    return found.offsets[number] + _LOCAL.size


def _start(data, raw, method, flags, known, offset):
    """Where the data of a stored record starts, if its own header says just what the directory does; else None."""
    if data[:4] != b"PK\3\4" or data[_LOCAL.size :] != raw:
        return None
    _, _, own_flags, own_method, _, _, crc, stored, size, n, m = _LOCAL.unpack_from(data)
    if n != len(raw) or method != STORED or own_method != STORED or own_flags != flags or flags & ENCRYPTED:
        return None
    said = crc, stored, size
    if known[1] != known[2] or not (said == known or (flags & DESCRIPTOR and said == (0, 0, 0))):
        return None
    return offset + _LOCAL.size + n + m


def _descriptor(crc, stored, size):
    """The descriptor of a record in its usual form; None where that has no room for the sizes."""
    return b"PK\x07\x08" + _DESCRIPTOR.pack(crc, stored, size) if max(stored, size) <= 0xFFFFFFFF else None


def _local(data, found, number, layout):
    """Where the data starts, by the local header, which must say what the directory says."""
    entry, raw = found[number], found.raw(number)
    if len(data) < _LOCAL.size or data[:4] != b"PK\3\4":
        layout.fault("mismatch", "record %r has no header where the directory says" % entry.name, entry.offset)
        return entry.offset + _LOCAL.size + len(raw)
    _, _, flags, method, _, _, crc, stored, size, n, m = _LOCAL.unpack_from(data)
    if data[_LOCAL.size : _LOCAL.size + n] != raw or n != len(raw):
        layout.fault("mismatch", "record %r has another name in its own header" % entry.name, entry.offset)
    if (flags ^ entry.flags) & (ENCRYPTED | DESCRIPTOR) or method != entry.method:
        layout.fault("mismatch", "record %r has other flags in its own header" % entry.name, entry.offset)
    if (flags ^ entry.flags) & UTF8 and not raw.isascii():
        found.strange("name", "record %r is marked as UTF-8 in one of its headers only" % entry.name)
    said = (crc, stored, size)
    known = (entry.crc, entry.stored, entry.size)
    # With a descriptor zeros stand here (in Info-ZIP but for the size, if known); beyond 4 GiB the sizes are all ones and
    # stand in an extra field.
    unsaid = (0xFFFFFFFF, 0) if flags & DESCRIPTOR else (0xFFFFFFFF,)
    if any(one != other and one not in unsaid for one, other in zip(said, known)):
        layout.fault("mismatch", "record %r has another size or CRC in its own header" % entry.name, entry.offset)
    _sizes(entry, layout)
    return entry.offset + _LOCAL.size + n + m


def _sizes(entry, layout):
    if entry.method == STORED and entry.stored != entry.size:
        layout.fault("bad_size", "record %r is stored, but has two sizes" % entry.name, entry.offset)
    if entry.size and not entry.stored:
        layout.fault("bad_size", "record %r unpacks to something, but has no bytes" % entry.name, entry.offset)
    if entry.method == DEFLATED and entry.size > DEFLATE_RATIO * entry.stored + 64:
        layout.fault("bad_size", "record %r claims to unpack to more than deflate can hold" % entry.name, entry.offset)


def _between(before, gap, data, name, layout):
    """What lies between two records: the descriptor of the one before, which must say what the directory says, or nothing."""
    where = "before %r" % name if before is None else "between %r and %r" % (before.name, name)
    if gap < 0:
        layout.fault("overlap", "{:,} bytes of overlap {}".format(-gap, where))
    elif before is None or not before.flags & DESCRIPTOR:
        if gap:
            layout.fault("hole", "{:,} bytes that belong to no record {}".format(gap, where))
    elif not _described(data, before):
        if gap in (12, 16, 20, 24):
            layout.fault("mismatch", "the descriptor after record %r differs from the directory" % before.name)
        else:
            layout.fault("hole", "{:,} bytes {} where a descriptor should be".format(gap, where))


def _described(data, entry):
    """Whether these bytes are the descriptor of that record, in one of its four forms: the usual one first."""
    row = entry.crc, entry.stored, entry.size
    short, long = _descriptor(*row), b"PK\x07\x08" + _DESCRIPTOR64.pack(*row)
    return data in (long, long[4:]) or (short is not None and data in (short, short[4:]))


def content(file, directory, name, limit, compare=True):
    """The bytes of one record, unpacked, which must be those its CRC-32 was made of."""
    at = directory.at(name)
    return bytes_of(file, directory[at], directory.starts[at], limit, compare)


def bytes_of(file, entry, start, limit, compare=True):
    """The same for an `Entry`, whose data begins there."""
    if max(entry.size, entry.stored) > limit:
        what = "record %r has %d bytes, more than %d"
        raise CannotSee("bound_reached", what % (entry.name, max(entry.size, entry.stored), limit))
    data = file.exactly(start, entry.stored, "record %r" % entry.name)
    if entry.method in packing.KNOWN:
        data = _unpacked(data, entry)
    elif entry.method != STORED:
        raise CannotSee("unsupported", "record %r is packed by ZIP method %d" % (entry.name, entry.method))
    if compare and zlib.crc32(data) != entry.crc:
        raise Broken("crc", "record %r is not what its CRC-32 says" % entry.name, start)
    return data


def _unpacked(data, entry):
    try:
        return packing.whole(entry.method, data, entry.size)
    except packing.Damaged as error:
        raise Broken("crc", "record %r can't be unpacked: %s" % (entry.name, error)) from None
