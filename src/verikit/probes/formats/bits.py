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
    if np is None:
        return _plain(bytes(data).ljust(groups * width, b"\0"), width, groups)[:count]
    if not width or not groups:
        return np.zeros(count, "<i8")
    data, out = bytes(data).ljust(groups * width + 8, b"\0"), np.empty((groups, 8), "<i8")
    for place in range(8):
        # The 8 bytes around the number in this place of every group, wherever they begin.
        words = np.ndarray((groups,), "<u8", data, place * width >> 3, (width,))
        out[:, place] = words >> np.uint64(place * width & 7) & np.uint64((1 << width) - 1)
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
        parts, groups = [], []
        while count > 0:
            if not self.left:
                self.next_run()
            take = min(count, self.left)
            if self.value is None and self.taken % 8 == take % 8 == 0:  # runs are short: unpacked together
                groups.append(self.bytes_of(self.taken, take))
            else:
                parts += [*self.unpacked(groups), self.piece(take)]
                groups = []
            self.left, self.taken, count = self.left - take, self.taken + take, count - take
        parts += self.unpacked(groups)
        if self.np is None:
            return [value for part in parts for value in part]
        return parts[0] if len(parts) == 1 else self.np.concatenate(parts) if parts else self.np.zeros(0, "<i8")

    def unpacked(self, groups):
        data = b"".join(data for data, _ in groups)
        return [packed(self.np, data, self.width, sum(count for _, count in groups))] if groups else []

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
        return packed(self.np, self.bytes_of(self.taken - skip, skip + take)[0], self.width, skip + take)[skip:]

    def bytes_of(self, first, count):
        """(the bytes of a packed run that have these numbers, how many numbers)."""
        start = self.packed_at + first // 8 * self.width
        return self.data[start : start + -(-count // 8) * self.width], count


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
