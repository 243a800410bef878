"""OCDBT, the key-value store in which Orbax keeps its arrays: a manifest, B+tree nodes and values in data files.

Source: the page "OCDBT" of TensorStore's documentation (kvstore/ocdbt).  Manifest and node are framed alike: a magic
number, the length of all, a version, how the rest is packed, and at the end the CRC-32C of everything before it.
Nodes are read whole, since they say where values are; values are not, and have no checksum of their own here.
Numbers are varints unless said otherwise; columns of a table come one after another.
"""

import json
import os
import struct

from verikit.probes.formats import signs, zstd
from verikit.probes.formats.layout import Broken, Window
from verikit.probes.place import CannotSee

MANIFEST, NODE = b"\x0c\xdb\x3a\x2a", b"\x0c\xdb\x20\xde"
LIMIT = 16 << 20
KEYS = 1 << 20
NODES = 4096
DEPTH = 16


def read(place, folder, tell):
    """{key: inline value or (file, offset, length)} of the newest version in the store at `folder`.

    `tell(path, end)` is called with each data file and how far into it something reaches.
    """
    body = _Numbers(_framed(place, os.path.join(folder, "manifest.ocdbt"), 0, None, MANIFEST))
    body.skip(16)  # the id of the store
    if body.varint():
        raise CannotSee("unsupported", "an OCDBT store whose manifest is of several files")
    body.varint(), body.varint(), body.byte()
    if body.varint():
        body.skip(4)
    files = body.files()
    count = body.varint()
    columns = [body.column(count) for _ in range(8)] if count else []
    if not count:
        return {}
    # Of the columns: generation, height of the root, data file, offset, length, keys, bytes of nodes, bytes of values.
    height, file, offset, length = (column[count - 1] for column in columns[1:5])
    keys = columns[5][count - 1]
    found = {}
    if length and keys:
        _Tree(place, folder, tell, found).node(_of(files, file), offset, length, b"", height)
    if len(found) != keys:
        raise Broken("mismatch", "the manifest speaks of %d keys, the tree has %d" % (keys, len(found)))
    return found


def _of(files, number):
    if number >= len(files):
        raise Broken("bad_header", "a data file that the table lacks: %d" % number)
    return files[number]


def _framed(place, path, offset, length, magic):
    """What one manifest or node unpacks to; its magic, length and CRC-32C are right."""
    with place.steady(path) as file:
        window = Window(file, file.seek(0, 2))
        size = window.size if length is None else length
        name = os.path.basename(path)
        signs.refuse(window.at(0, 4096), name)
        if size > LIMIT:
            raise CannotSee("bound_reached", "%s has a node of %d bytes" % (name, size))
        data = window.exactly(offset, size, name)
    if data[:4] != magic or len(data) < 18:
        raise Broken("bad_header", "%s is no OCDBT %s" % (name, "manifest" if magic == MANIFEST else "node"))
    stated = struct.unpack_from("<Q", data, 4)[0]
    if stated != len(data):
        kind = "truncated" if stated > len(data) else "trailing"
        raise Broken(kind, "%s has %d bytes, it says %d itself" % (name, len(data), stated))
    if crc32c(data[:-4]) != struct.unpack("<I", data[-4:])[0]:
        raise Broken("crc", "%s is not what its CRC-32C says" % name)
    head = _Numbers(data[12:-4])
    version, packing = head.varint(), head.varint()
    if version or packing > 1:
        raise CannotSee("unsupported", "OCDBT of version %d, packed in the way %d" % (version, packing))
    return zstd.frame(head.rest()) if packing else head.rest()


class _Tree:
    def __init__(self, place, folder, tell, found):
        self.place, self.folder, self.tell, self.found, self.nodes = place, folder, tell, found, 0

    def node(self, file, offset, length, prefix, height):
        """Walks a node; keys within it are written without `prefix`."""
        self.nodes += 1
        if self.nodes > NODES or height > DEPTH:
            raise CannotSee("bound_reached", "an OCDBT tree of more than %d nodes" % NODES)
        self.tell(file, offset + length)
        body = _Numbers(_framed(self.place, os.path.join(self.folder, file), offset, length, NODE))
        if body.byte() != height:
            raise Broken("mismatch", "a node of another height than its parent says")
        files, count = body.files(), body.varint()
        prefixes = [0, *body.column(count - 1)]
        suffixes = body.column(count)
        common = body.column(count) if height else []
        keys, key = [], b""
        for shared, more in zip(prefixes, suffixes):
            key = key[:shared] + body.take(more)
            keys.append(key)
        if height:
            self.children(body, files, count, keys, common, prefix, height)
        else:
            self.values(body, files, count, keys, prefix)

    def children(self, body, files, count, keys, common, prefix, height):
        numbers, offsets, lengths = (body.column(count) for _ in range(3))
        for at, key in enumerate(keys):
            self.node(_of(files, numbers[at]), offsets[at], lengths[at], prefix + key[: common[at]], height - 1)

    def values(self, body, files, count, keys, prefix):
        lengths, kinds = body.column(count), body.take(count)
        outside = [at for at in range(count) if kinds[at]]
        numbers, offsets = body.column(len(outside)), body.column(len(outside))
        for at, number, offset in zip(outside, numbers, offsets):
            file = _of(files, number)
            self.tell(file, offset + lengths[at])
            self.found[prefix + keys[at]] = (file, offset, lengths[at])
        for at, key in enumerate(keys):
            if not kinds[at]:
                self.found[prefix + key] = body.take(lengths[at])
        if len(self.found) > KEYS:
            raise CannotSee("bound_reached", "an OCDBT store of more than %d keys" % KEYS)


class _Numbers:
    """Reads on through a body; past its end it is `Broken`."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        if size < 0 or self.at + size > len(self.data):
            raise Broken("bad_header", "an OCDBT node breaks off")
        self.at += size
        return bytes(self.data[self.at - size : self.at])

    def skip(self, size):
        self.take(size)

    def byte(self):
        return self.take(1)[0]

    def varint(self):
        value = 0
        for shift in range(0, 70, 7):
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise Broken("bad_header", "an OCDBT node with a number of more than 64 bits")

    def column(self, count):
        if count > len(self.data):
            raise Broken("bad_header", "an OCDBT node claims %d entries" % count)
        return [self.varint() for _ in range(count)]

    def rest(self):
        return self.take(len(self.data) - self.at)

    def files(self):
        """The table of data files: their paths, written as what differs from the one before."""
        count = self.varint()
        prefixes = [0, *self.column(count - 1)]
        suffixes = self.column(count)
        self.column(count)  # how much of each is the folder that it was taken over from
        found, path = [], b""
        for shared, more in zip(prefixes, suffixes) if count else ():
            path = path[:shared] + self.take(more)
            text = os.fsdecode(path)
            if text.startswith("/") or ".." in text.split("/"):
                raise Broken("escapes", "unsafe: the data file %.200r leaves the folder" % text)
            found.append(text)
        return found


def crc32c(data):
    """CRC-32 with Castagnoli's polynomial."""
    if not _TABLE:
        for byte in range(256):
            for _ in range(8):
                byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
            _TABLE.append(byte)
    value, table = 0xFFFFFFFF, _TABLE
    for byte in data:
        value = value >> 8 ^ table[(value ^ byte) & 255]
    return value ^ 0xFFFFFFFF


_TABLE = []


def parsed(value, key):
    """JSON that is stored under a key."""
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise Broken("bad_header", "%.100r holds no JSON" % key) from None
