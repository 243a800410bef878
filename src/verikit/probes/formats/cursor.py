"""A reader that walks forward through a `Window`: small pieces out of one buffer, long ones skipped without reading."""

import struct

from verikit.probes.formats.layout import Broken

LEAST, MOST = 1 << 12, 1 << 18
"""Bytes read at once: few after a skip (10^5 small headers between large tensors), more while it goes on and on."""


class Cursor:
    """Reads on from `offset`; past the end of the file it is `Broken("truncated")`, naming what was being read."""

    def __init__(self, window, offset=0, end=None):
        self.window, self.offset = window, offset
        self.end = window.size if end is None else end
        self._data, self._base, self._ahead = b"", offset, LEAST

    def take(self, nbytes, what):
        """The next bytes."""
        begin = self.offset - self._base
        if begin < 0 or begin + nbytes > len(self._data):
            if self.offset + nbytes > self.end:
                left = max(0, self.end - self.offset)
                raise Broken("truncated", "%s needs %d bytes, %d are left" % (what, nbytes, left), self.offset)
            onward = 0 <= begin <= len(self._data) and self._data
            self._ahead = min(self._ahead * 2, MOST) if onward else LEAST
            self._base, begin = self.offset, 0
            self._data = self.window.at(self.offset, min(max(nbytes, self._ahead), self.end - self.offset))
            if len(self._data) < nbytes:
                raise Broken("truncated", "%s is cut" % what, self.offset)
        self.offset += nbytes
        return self._data[begin : begin + nbytes]

    def skip(self, nbytes, what):
        """Moves on over these bytes, which must be there."""
        if self.offset + nbytes > self.end:
            left = max(0, self.end - self.offset)
            raise Broken("truncated", "%s takes %d bytes, %d are left" % (what, nbytes, left), self.offset)
        self.offset += nbytes

    def number(self, form, what):
        """One number in a `struct` format that names its byte order."""
        return struct.unpack(form, self.take(struct.calcsize(form), what))[0]
