"""ZIP archives by their directory: every record's place, size and CRC-32, from both ends, without reading the records.

The directory at the end, the header before each record and the descriptor after it say the same thing thrice; a writer
that died, a page that was zeroed and a record that was put in by hand show where they differ.
Source: PKWARE's APPNOTE.TXT, sections 4.3 and 4.4; torch writes through miniz, numpy through zipfile.
"""

import struct
import zlib
from collections import namedtuple

from verikit.probes import packing
from verikit.probes.formats.layout import Broken
from verikit.probes.place import CannotSee

Entry = namedtuple("Entry", "name method flags crc stored size offset")
"""A record as the directory has it: `stored` bytes in the file, `size` bytes unpacked, local header at `offset`."""

Directory = namedtuple("Directory", "entries starts offset by_name")
"""Entries in the order of the file, where the data of each starts, where the directory starts."""

TAIL = 22 + 65535
STORED, DEFLATED = 0, 8
SMALL, STRETCH = 512, 1 << 16
"""Bytes of a record that it costs more to skip than to read, and most bytes of headers that are read at once."""
ENCRYPTED, DESCRIPTOR = 0x1, 0x8
# A deflate stream gives at most 1,032 bytes for each of its own (zlib's technical notes).
DEFLATE_RATIO = 1032

_END = struct.Struct("<4s4H2IH")
_END64 = struct.Struct("<4sQ2H2I4Q")
_ENTRY = struct.Struct("<4s6H3I5H2I")
_LOCAL = struct.Struct("<4s5H3I2H")
_DESCRIPTOR, _DESCRIPTOR64 = struct.Struct("<3I"), struct.Struct("<I2Q")


def directory(file, layout):
    """The `Directory` of the archive, every record held against its local header and its neighbours.

    None, with the fault told, where there is no directory: the usual sign of a file that was cut.
    """
    end = _end(file, layout)
    if end is None:
        return None
    count, size, offset = end
    entries = _entries(file.exactly(offset, size, "the ZIP directory"), count, offset)
    _names(entries, layout)
    entries.sort(key=lambda entry: entry.offset)
    starts = _walk_records(file, entries, offset, layout)
    return Directory(entries, starts, offset, {entry.name: at for at, entry in enumerate(entries)})


def _end(file, layout):
    """(records, size of the directory, its offset), by the end record; None if there is none."""
    begin = max(0, file.size - TAIL)
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
        place, count, size, offset = _end64(file, place, count, size, offset)
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
    return count, size, offset


def _end64(file, end, count, size, offset):
    """The same by the zip64 end record, whose locator stands before the plain one; the two must agree."""
    _, disk, place, disks = struct.unpack("<4sIQI", file.exactly(end - 20, 20, "the zip64 locator"))
    row = _END64.unpack(file.exactly(place, _END64.size, "the zip64 end record"))
    if row[0] != b"PK\6\6" or place + 12 + row[1] != end - 20:
        raise Broken("bad_header", "the zip64 end record is not where its locator says", end - 20)
    if disk or disks > 1 or row[4] or row[5] or row[6] != row[7]:
        raise Broken("bad_header", "a ZIP archive split over several disks", place)
    for plain, limit, long in ((count, 0xFFFF, row[7]), (size, 0xFFFFFFFF, row[8]), (offset, 0xFFFFFFFF, row[9])):
        if plain not in (limit, long):
            raise Broken("mismatch", "the two end records of the ZIP archive differ: %d and %d" % (plain, long), place)
    return place, row[7], row[8], row[9]


def _entries(data, count, offset):
    entries, at, end = [], 0, len(data)
    unpack, length = _ENTRY.unpack_from, _ENTRY.size
    while at < end:
        if at + length > end or data[at : at + 4] != b"PK\1\2":
            raise Broken(
                "bad_header", "the ZIP directory is damaged after %d of %d records" % (len(entries), count), offset + at
            )
        (_, _, _, flags, method, _, _, crc, stored, size, n, m, k, _, _, _, local) = unpack(data, at)
        raw = data[at + length : at + length + n]
        if 0xFFFFFFFF in (stored, size, local):
            extra = data[at + length + n : at + length + n + m]
            stored, size, local = _zip64(extra, stored, size, local, offset + at)
        entries.append(Entry(_name(raw), method, flags, crc, stored, size, local))
        at += length + n + m + k
    if at != end or len(entries) != count:
        raise Broken(
            "mismatch", "the ZIP directory has %d records, its end record says %d" % (len(entries), count), offset
        )
    return entries


def _name(raw):
    """The name as text; bytes that are no UTF-8 (old archives have code pages) stay told apart, and can be had back."""
    return raw.decode("utf-8", "surrogateescape")


def _zip64(extra, stored, size, local, where):
    """The three numbers with those that are 0xFFFFFFFF taken from the zip64 field, in its fixed order."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
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


def _names(entries, layout):
    seen = set()
    for entry in entries:
        if entry.name in seen:
            layout.fault("duplicate", "two records are called %r" % entry.name)
        seen.add(entry.name)
        parts = entry.name.replace("\\", "/").split("/")
        if ".." in parts or entry.name.startswith("/"):
            layout.fault("escapes", "record %r leaves the folder" % entry.name)


def _walk_records(file, entries, end, layout):
    """Where each record's data starts; header, data and descriptor of all records must cover the file up to `end`."""
    starts, at, before = [], 0, None
    stretch, begin = b"", 0
    for number, entry in enumerate(entries):
        gap = entry.offset - at
        near = 0 <= gap <= 24
        raw = entry.name.encode("utf-8", "surrogateescape")
        first, last = at if near else entry.offset, entry.offset + _LOCAL.size + len(raw)
        if not begin <= first <= last <= begin + len(stretch):
            stretch, begin = file.at(first, max(last, _reach(entries, number)) - first), first
        data = stretch[first - begin : last - begin]
        _between(before, gap, data[:gap] if near else b"", entry.name, layout)
        at = _local(data[gap if near else 0 :], entry, raw, layout)
        starts.append(at)
        if at + entry.stored > end:
            layout.fault("overlap", "record %r reaches into the ZIP directory" % entry.name, at)
        at, before = at + entry.stored, entry
    gap = end - at
    _between(before, gap, file.at(at, gap) if 0 <= gap <= 24 else b"", "the ZIP directory", layout)
    return starts


def _reach(entries, number):
    """Where a read of this record's header may end: behind the headers of the small records that follow, at once."""
    begin, last = entries[number].offset, len(entries) - 1
    while number < last and entries[number].stored <= SMALL and entries[number + 1].offset - begin < STRETCH:
        number += 1
    return entries[number].offset + _LOCAL.size


def _local(data, entry, raw, layout):
    """Where the data starts, by the local header, which must say what the directory says."""
    if len(data) < _LOCAL.size or data[:4] != b"PK\3\4":
        layout.fault("mismatch", "record %r has no header where the directory says" % entry.name, entry.offset)
        return entry.offset + _LOCAL.size + len(raw)
    _, _, flags, method, _, _, crc, stored, size, n, m = _LOCAL.unpack_from(data)
    if data[_LOCAL.size : _LOCAL.size + n] != raw or n != len(raw):
        layout.fault("mismatch", "record %r has another name in its own header" % entry.name, entry.offset)
    if (flags ^ entry.flags) & (ENCRYPTED | DESCRIPTOR) or method != entry.method:
        layout.fault("mismatch", "record %r has other flags in its own header" % entry.name, entry.offset)
    if entry.flags & ENCRYPTED:
        layout.fault("bad_header", "record %r is encrypted" % entry.name, entry.offset)
    said = (crc, stored, size)
    known = (entry.crc, entry.stored, entry.size)
    # With a descriptor zeros stand here; beyond 4 GiB the sizes are all ones and stand in an extra field.
    if any(one not in (other, 0xFFFFFFFF) for one, other in zip(said, known)) and not (
        flags & DESCRIPTOR and not any(said)
    ):
        layout.fault("mismatch", "record %r has another size or CRC in its own header" % entry.name, entry.offset)
    _sizes(entry, layout)
    return entry.offset + _LOCAL.size + n + m


def _sizes(entry, layout):
    if entry.method == STORED and entry.stored != entry.size:
        layout.fault("bad_size", "record %r is stored, but has two sizes" % entry.name, entry.offset)
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
    row = (entry.crc, entry.stored, entry.size)
    short = max(row) <= 0xFFFFFFFF and _DESCRIPTOR.pack(*row)
    if short and data == b"PK\x07\x08" + short:
        return True
    long = _DESCRIPTOR64.pack(*row)
    return data in (b"PK\x07\x08" + long, long) or bool(short and data == short)


def content(file, directory, name, limit, compare=True):
    """The bytes of one record, unpacked, which must be those its CRC-32 was made of."""
    at = directory.by_name[name]
    entry = directory.entries[at]
    if max(entry.size, entry.stored) > limit:
        raise CannotSee(
            "bound_reached", "record %r has %d bytes, more than %d" % (name, max(entry.size, entry.stored), limit)
        )
    data = file.exactly(directory.starts[at], entry.stored, "record %r" % name)
    if entry.method in packing.KNOWN:
        data = _unpacked(data, entry)
    elif entry.method != STORED:
        raise CannotSee("unsupported", "record %r is packed by ZIP method %d" % (name, entry.method))
    if compare and zlib.crc32(data) != entry.crc:
        raise Broken("crc", "record %r is not what its CRC-32 says" % name, directory.starts[at])
    return data


def _unpacked(data, entry):
    try:
        return packing.whole(entry.method, data, entry.size)
    except packing.Damaged as error:
        raise Broken("crc", "record %r can't be unpacked: %s" % (entry.name, error)) from None
