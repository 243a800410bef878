"""Frames: how the two ends of an agent talk. No I/O here; both ends use this file.

A frame is a header of 9 bytes (length of the payload, kind, request; big-endian) and its payload.  A reply is CHUNKs
closed by one END, which states their number, their bytes and their CRC-32: what does not add up was no answer.
"""

import struct
import zlib

HEAD = struct.Struct(">IBI")
TOTALS = struct.Struct(">IQI")

MAX_FRAME = 1 << 20
MAX_REPLY = 8 << 20  # facts are kilobytes; a probe that gathers more has lost its bound
CHUNK_SIZE = 1 << 16  # small enough that a long reply does not hold up the others

# From the near end to the far one.
MODULE, ASK, CANCEL, PING = 1, 2, 3, 4
# From the far end to the near one.
HELLO, CHUNK, END, FAULT, PROGRESS, PONG, GONE = 11, 12, 13, 14, 15, 16, 17

KINDS = frozenset((MODULE, ASK, CANCEL, PING, HELLO, CHUNK, END, FAULT, PROGRESS, PONG, GONE))


class BadFrame(Exception):
    """The stream is no stream of frames (any more): something else wrote into it, or the ends differ."""


class BadReply(Exception):
    """The chunks are not what the END says."""


def frame(kind, request=0, payload=b""):
    """The bytes of one frame."""
    if len(payload) > MAX_FRAME:
        raise ValueError("a frame holds at most %d bytes; got %d" % (MAX_FRAME, len(payload)))
    return HEAD.pack(len(payload), kind, request) + payload


def reply(request, data):
    """The bytes of a whole reply: chunks, then what they must add up to."""
    if len(data) > MAX_REPLY:
        raise ValueError("a reply holds at most %d bytes; got %d" % (MAX_REPLY, len(data)))
    chunks = [data[start : start + CHUNK_SIZE] for start in range(0, len(data), CHUNK_SIZE)]
    totals = TOTALS.pack(len(chunks), len(data), zlib.crc32(data))
    return b"".join([frame(CHUNK, request, chunk) for chunk in chunks] + [frame(END, request, totals)])


class Decoder:
    """Frames out of bytes that arrive in pieces of any size."""

    def __init__(self):
        self._held = bytearray()

    def feed(self, data):
        """The (kind, request, payload) that are complete by now; what is not is held. Raises BadFrame."""
        self._held += data
        frames, start = [], 0
        while len(self._held) - start >= HEAD.size:
            length, kind, request = HEAD.unpack_from(self._held, start)
            if length > MAX_FRAME or kind not in KINDS:
                raise BadFrame("no frame starts with %r" % bytes(self._held[start : start + 16]))
            end = start + HEAD.size + length
            if end > len(self._held):
                break
            frames.append((kind, request, bytes(self._held[start + HEAD.size : end])))
            start = end
        del self._held[:start]
        return frames

    @property
    def partial(self):
        """(kind, request) of a frame that has begun and not ended, or None."""
        if len(self._held) < HEAD.size:
            return None
        return HEAD.unpack_from(self._held)[1:]


class Assembler:
    """One reply out of its chunks."""

    def __init__(self):
        self.begun = False
        self._chunks, self._size = [], 0

    def add(self, chunk):
        """Takes the next chunk. Raises BadReply past the bound."""
        self.begun = True
        self._size += len(chunk)
        if self._size > MAX_REPLY:
            raise BadReply("longer than %d bytes" % MAX_REPLY)
        self._chunks.append(chunk)

    def end(self, totals):
        """The whole reply. Raises BadReply if it is not what was counted at the other end."""
        data = b"".join(self._chunks)
        if totals != TOTALS.pack(len(self._chunks), len(data), zlib.crc32(data)):
            raise BadReply("%d chunks, %d bytes came, which is not what was sent" % (len(self._chunks), len(data)))
        return data
