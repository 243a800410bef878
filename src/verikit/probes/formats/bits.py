"""Whole numbers packed into bits, as columns of tables have them: with numpy at memory speed, without it a group at a time."""

from verikit.probes.formats.layout import Broken

WIDEST = 56
"""Bits of a number: with up to 7 bits before it, it lies within 8 bytes."""


def packed(np, data, width, count):
    """`count` numbers of `width` bits each, the least significant bits first; groups of 8 numbers are `width` bytes."""
    groups = -(-count // 8)
    data = data[: groups * width]
    if not 0 <= width <= WIDEST or len(data) * 8 < count * width:
        raise Broken("bad_header", "packed numbers of %d bits are cut, or too wide" % width)
    data = bytes(data).ljust(groups * width, b"\0")
    if np is None:
        return _plain(data, width, groups)[:count]
    if not width:
        return np.zeros(count, "<i8")
    rows = np.frombuffer(data, "u1").reshape(groups, width)
    out = np.empty((groups, 8), "<i8")
    for place in range(8):
        first, shift = place * width >> 3, place * width & 7
        value = rows[:, first].astype("<u8")
        for more in range(1, shift + width + 7 >> 3):
            value |= rows[:, first + more].astype("<u8") << np.uint64(8 * more)
        out[:, place] = value >> np.uint64(shift) & np.uint64((1 << width) - 1)
    return out.reshape(-1)[:count]


def _plain(data, width, groups):
    out, mask = [], (1 << width) - 1
    for group in range(groups):
        value = int.from_bytes(data[group * width : (group + 1) * width], "little")
        for _ in range(8):
            out.append(value & mask)
            value >>= width
    return out


def flags(np, data, first, count):
    """`count` truths from bit `first` on, as a mask of numpy or a list of bools."""
    begin, spare = first >> 3, first & 7
    data = data[begin : first + count + 7 >> 3]
    if len(data) * 8 < spare + count:
        raise Broken("bad_header", "packed bits are cut")
    if np is None:
        return [bool(data[at >> 3] >> (at & 7) & 1) for at in range(spare, spare + count)]
    return np.unpackbits(np.frombuffer(data, "u1"), bitorder="little")[spare : spare + count].astype(bool)


class Hybrid:
    """Parquet's mix of runs and packed groups, read on: a run of 2^31 numbers is never unrolled as a whole.

    Source: Encodings.md of apache/parquet-format, "RLE".
    """

    def __init__(self, np, data, width):
        self.np, self.data, self.width, self.at = np, data, width, 0
        self.left, self.value, self.packed_at, self.taken = 0, None, 0, 0

    def read(self, count):
        """The next `count` numbers, as an array or a list."""
        parts = []
        while count > 0:
            if not self.left:
                self.next_run()
            take = min(count, self.left)
            parts.append(self.piece(take))
            self.left, self.taken, count = self.left - take, self.taken + take, count - take
        if self.np is None:
            return [value for part in parts for value in part]
        return parts[0] if len(parts) == 1 else self.np.concatenate(parts) if parts else self.np.zeros(0, "<i8")

    def next_run(self):
        head, self.at = _varint(self.data, self.at)
        self.left, self.taken, size = head >> 1, 0, (self.width + 7) // 8
        if head & 1:
            self.left, self.value, size = self.left * 8, None, self.left * self.width
            self.packed_at = self.at
            # The last group may be cut to the bytes that its numbers take.
            self.left = min(self.left, (len(self.data) - self.at) * 8 // self.width if self.width else self.left)
        else:
            self.value = int.from_bytes(self.data[self.at : self.at + size], "little")
        if not self.left or (not head & 1 and self.at + size > len(self.data)):
            raise Broken("bad_header", "a run of numbers is cut, or of none")
        self.at += size

    def piece(self, take):
        if self.value is not None:
            return [self.value] * take if self.np is None else self.np.full(take, self.value, "<i8")
        skip = self.taken % 8
        start = self.packed_at + self.taken // 8 * self.width
        return packed(self.np, self.data[start : start + -(-(skip + take) // 8) * self.width], self.width, skip + take)[
            skip:
        ]


def _varint(data, at):
    value = shift = 0
    while shift < 35:
        if at >= len(data):
            raise Broken("bad_header", "a run of numbers is cut")
        byte, at = data[at], at + 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at
    raise Broken("bad_header", "a length of more than 32 bits")
