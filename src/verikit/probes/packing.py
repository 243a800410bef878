"""What records of ZIP archives are packed by: deflate, bzip2 and LZMA, unpacked piece by piece in bounded memory.

Source: PKWARE's APPNOTE.TXT, 4.4.5 (methods) and 5.8 (LZMA: two bytes of version, two of the length of the properties, the
properties, the stream).  zlib hands unread input back, bz2 and lzma keep it: here all keep it.
"""

import zlib

from verikit.probes.place import CannotSee

STORED, DEFLATED, BZIP2, LZMA = 0, 8, 12, 14
KNOWN = frozenset((DEFLATED, BZIP2, LZMA))

DICTIONARY = 64 << 20
"""Bytes of the dictionary that an LZMA stream may ask for: what the highest preset takes."""


class Damaged(Exception):
    """A stream that can't be unpacked."""


class Unpacker:
    """`pull(data, most)` gives the next bytes, at most so many; `hungry`: it needs more input to go on."""

    def __init__(self, method):
        self.method, self.hungry, self.over, self._tail = method, True, False, b""
        self._machine = None if method == LZMA else _machine(method)

    def pull(self, data, most):
        data = self._tail + bytes(data) if self._tail or self._machine is None else data
        if self._machine is None:
            if len(data) < 9:
                self._tail = data
                return b""
            self._machine, data, self._tail = _lzma(data[:9]), data[9:], b""
        try:
            out = self._machine.decompress(data, most)
        except Exception as error:
            raise Damaged(str(error) or type(error).__name__) from None
        self._tail = getattr(self._machine, "unconsumed_tail", b"")
        self.hungry = not self._tail and len(out) < most
        self.over = self._machine.eof
        return out

    @property
    def extra(self):
        """Whether bytes were given that lie behind the end of the stream."""
        return bool(self._machine and self._machine.unused_data)

    @property
    def whole(self):
        """Whether the stream came to its end; one of LZMA need not have a mark of it."""
        return (self.over or self.method == LZMA) and not self.extra


def _machine(method):
    if method == DEFLATED:
        return zlib.decompressobj(-15)
    if method == BZIP2:
        return _module("bz2").BZ2Decompressor()
    raise CannotSee("unsupported", "ZIP method %d is not known here" % method)


def _lzma(head):
    size, properties, dictionary = int.from_bytes(head[2:4], "little"), head[4], int.from_bytes(head[5:9], "little")
    if size != 5 or properties >= 9 * 5 * 5:
        raise Damaged("no properties of LZMA")
    if dictionary > DICTIONARY:
        raise CannotSee("bound_reached", "an LZMA dictionary of {:,} bytes".format(dictionary))
    lzma = _module("lzma")
    row = {"id": lzma.FILTER_LZMA1, "dict_size": max(4096, dictionary), "lc": properties % 9}
    row.update(lp=properties // 9 % 5, pb=properties // 45)
    try:
        return lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=[row])
    except (lzma.LZMAError, ValueError) as error:
        raise Damaged(str(error)) from None


def _module(name):
    """bz2 or lzma, which an interpreter may have been built without."""
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise CannotSee("unsupported", "this interpreter has no %s, by which a record is packed" % name) from None


def first(method, data, most):
    """At most so many bytes of what `data`, the beginning of a record, unpacks to."""
    return Unpacker(method).pull(data, most)


def whole(method, data, size):
    """All that a record unpacks to; `Damaged` where that is not `size` bytes."""
    unpacker, parts, seen = Unpacker(method), [], 0
    while seen <= size and not unpacker.over:
        part = unpacker.pull(data, size + 1 - seen)
        parts.append(part)
        seen, data = seen + len(part), b""
        if unpacker.hungry:
            break
    if seen != size or not unpacker.whole:
        raise Damaged("it unpacks to %s bytes than %d" % ("more" if seen > size else "other", size))
    return b"".join(parts)
