"""Zstandard, decompressed without help: for the small metadata that other formats pack with it.

Source: RFC 8878; the numbers of sections below are its.  About 1 MB/s, so it is for kilobytes; more is `bound_reached`.
"""

from verikit.probes.formats.layout import Broken
from verikit.probes.place import CannotSee

MAGIC = b"\x28\xb5\x2f\xfd"
LIMIT = 8 << 20
BLOCKS = 1 << 18
"""Of one frame, whose headers are looked at: 32 GiB, by most writers."""

# 3.1.1.3.2.1.1: base values and extra bits of the codes of lengths.
LITERALS = [(code, 0) for code in range(16)]
LITERALS += [
    (16, 1),
    (18, 1),
    (20, 1),
    (22, 1),
    (24, 2),
    (28, 2),
    (32, 3),
    (40, 3),
    (48, 4),
    (64, 6),
    (128, 7),
    (256, 8),
]
LITERALS += [(512, 9), (1024, 10), (2048, 11), (4096, 12), (8192, 13), (16384, 14), (32768, 15), (65536, 16)]
MATCHES = [(code + 3, 0) for code in range(32)]
MATCHES += [(35, 1), (37, 1), (39, 1), (41, 1), (43, 2), (47, 2), (51, 3), (59, 3), (67, 4), (83, 4), (99, 5), (131, 7)]
MATCHES += [(259, 8), (515, 9), (1027, 10), (2051, 11), (4099, 12), (8195, 13), (16387, 14), (32771, 15), (65539, 16)]

# 3.1.1.3.2.2: the tables that need not be told, as (accuracy, probabilities).
_LITERALS = [4, 3] + [2] * 11 + [1] * 3 + [2] * 9 + [3, 2] + [1] * 5 + [-1] * 4
_OFFSETS = [1] * 6 + [2] * 3 + [1] * 15 + [-1] * 5
_MATCHES = [1, 4, 3] + [2] * 6 + [1] * 37 + [-1] * 7
DEFAULTS = {"literals": (6, _LITERALS), "offsets": (5, _OFFSETS), "matches": (6, _MATCHES)}
MOST = {"literals": 9, "offsets": 8, "matches": 9}


def frame(data, limit=LIMIT):
    """What one frame at the start of `data` unpacks to; damage is `Broken`."""
    try:
        return _frame(data, limit)
    except (IndexError, KeyError, TypeError, ValueError):
        raise Broken("crc", "packed metadata can't be unpacked") from None


def extent(data):
    """(bytes of the frame at the start of `data`, bytes that it says it unpacks to or None), by the headers of its blocks."""
    return extent_within(lambda offset, nbytes: data[offset : offset + nbytes], len(data))


def extent_within(at, length):
    """The same of a frame at the start of `length` bytes, read by pieces: at(offset, nbytes)."""
    size, end, checksum = _header(at(0, 18))
    for _ in range(BLOCKS):
        if end + 3 > length:
            raise Broken("truncated", "a Zstandard frame is cut")
        block = int.from_bytes(at(end, 3), "little")
        last, kind = block & 1, block >> 1 & 3
        if kind == 3:
            raise Broken("bad_header", "a Zstandard block of no kind")
        end += 3 + (1 if kind == 1 else block >> 3)
        if last:
            break
    else:
        raise CannotSee("bound_reached", "a Zstandard frame of more than %d blocks" % BLOCKS)
    end += 4 * checksum
    if end > length:
        raise Broken("truncated", "a Zstandard frame is cut")
    return end, size


def _header(data):
    """(content size or None, where the blocks start, whether a checksum follows them)."""
    if data[:4] != MAGIC or len(data) < 6:
        raise Broken("bad_header", "no Zstandard frame")
    descriptor, at = data[4], 5
    single = descriptor >> 5 & 1
    at += (0 if single else 1) + (0, 1, 2, 4)[descriptor & 3]
    width = (single, 2, 4, 8)[descriptor >> 6]
    size = int.from_bytes(data[at : at + width], "little") + (256 if width == 2 else 0) if width else None
    return size, at + width, descriptor >> 2 & 1


def _frame(data, limit):
    size, at, _ = _header(data)
    if size is not None and size > limit:
        raise CannotSee("bound_reached", "packed metadata of %d bytes" % size)
    machine, last = _Machine(limit), False
    while not last:
        block = int.from_bytes(data[at : at + 3], "little")
        last, kind, length = block & 1, block >> 1 & 3, block >> 3
        at += 3
        if kind == 0:
            machine.out += data[at : at + length]
        elif kind == 1:
            machine.room(length)
            machine.out += data[at : at + 1] * length
            length = 1
        elif kind == 2:
            machine.block(data[at : at + length])
        else:
            raise Broken("bad_header", "a Zstandard block of no kind")
        at += length
        if at > len(data):
            raise Broken("truncated", "a Zstandard frame is cut")
    if size is not None and size != len(machine.out):
        raise Broken("crc", "packed metadata unpacks to another size")
    return bytes(machine.out)


class _Backward:
    """Bits from the end of a stretch of bytes, whose last set bit is a mark (4.1)."""

    def __init__(self, data):
        if not data or not data[-1]:
            raise Broken("crc", "packed metadata can't be unpacked")
        self.value = int.from_bytes(data, "little")
        self.left = self.value.bit_length() - 1

    def take(self, bits):
        """The next bits; past the beginning they are zeros, and `left` turns negative."""
        self.left -= bits
        if self.left >= 0:
            return self.value >> self.left & ((1 << bits) - 1)
        return (self.value << -self.left) & ((1 << bits) - 1)


class _Machine:
    """What is kept from block to block: output, tables, the three last offsets."""

    def __init__(self, limit):
        self.out, self.limit, self.tables, self.huffman, self.recent = bytearray(), limit, {}, None, [1, 4, 8]

    def room(self, length):
        if len(self.out) + length > self.limit:
            raise CannotSee("bound_reached", "packed metadata of more than %d bytes" % self.limit)

    def block(self, data):
        literals, at = self.literals(data)
        count = data[at]
        if count < 128:
            at += 1
        elif count < 255:
            count, at = (count - 128 << 8) + data[at + 1], at + 2
        else:
            count, at = data[at + 1] + (data[at + 2] << 8) + 0x7F00, at + 3
        if not count:
            self.room(len(literals))
            self.out += literals
            return
        modes, at = data[at], at + 1
        for name, shift in (("literals", 6), ("offsets", 4), ("matches", 2)):
            at = self.table(name, modes >> shift & 3, data, at)
        self.sequences(_Backward(data[at:]), count, literals)

    # Literals (3.1.1.3.1).

    def literals(self, data):
        kind, form = data[0] & 3, data[0] >> 2 & 3
        if kind < 2:
            width = (1, 2, 1, 3)[form]
            size = int.from_bytes(data[:width], "little") >> (3 if width == 1 else 4)
            self.room(size)
            stored = size if kind == 0 else 1
            piece = bytes(data[width : width + stored])
            return (piece if kind == 0 else piece * size), width + stored
        width, bits = ((3, 10), (3, 10), (4, 14), (5, 18))[form]
        header = int.from_bytes(data[:width], "little") >> 4
        size, packed = header & ((1 << bits) - 1), header >> bits
        self.room(size)
        stream = data[width : width + packed]
        if kind == 2:
            used = self.tree(stream)
            stream = stream[used:]
        if form == 0:
            return self.huffed(stream, size), width + packed
        sizes = [int.from_bytes(stream[at : at + 2], "little") for at in (0, 2, 4)]
        each, at, out = (size + 3) // 4, 6, b""
        for number, length in enumerate([*sizes, len(stream) - 6 - sum(sizes)]):
            out += self.huffed(stream[at : at + length], each if number < 3 else size - 3 * each)
            at += length
        return out, width + packed

    def huffed(self, stream, size):
        table, most = self.huffman
        bits, out = _Backward(stream), bytearray()
        state = bits.take(most)
        for _ in range(size):
            symbol, length = table[state]
            out.append(symbol)
            state = (state << length) & ((1 << most) - 1) | bits.take(length)
        if bits.left != -most:
            raise Broken("crc", "packed metadata can't be unpacked")
        return bytes(out)

    def tree(self, data):
        """Reads the weights of a Huffman tree (4.2.1); returns the bytes that they took."""
        head, weights = data[0], []
        if head >= 128:
            count = head - 127
            used = 1 + (count + 1) // 2
            for at in range(count):
                weights.append(data[1 + at // 2] >> (0 if at % 2 else 4) & 15)
        else:
            used = 1 + head
            self.weights(data[1:used], weights)
        total = sum(1 << weight >> 1 for weight in weights)
        most = total.bit_length()
        weights.append(((1 << most) - total).bit_length())
        if most > 11 or (1 << most) - total != 1 << weights[-1] >> 1:
            raise Broken("crc", "packed metadata can't be unpacked")
        table = []
        for weight in range(1, most + 1):
            for symbol, each in enumerate(weights):
                if each == weight:
                    table += [(symbol, most + 1 - weight)] * (1 << weight >> 1)
        self.huffman = table, most
        return used

    def weights(self, data, weights):
        accuracy, counts, at = _counts(data, 0, 6)
        table = _states(accuracy, counts)
        bits = _Backward(data[at:])
        states = [bits.take(accuracy), bits.take(accuracy)]
        while len(weights) < 256:
            for which in (0, 1):
                symbol, width, base = table[states[which]]
                weights.append(symbol)
                states[which] = base + bits.take(width)
                if bits.left < 0:
                    weights.append(table[states[1 - which]][0])
                    return
        raise Broken("crc", "packed metadata can't be unpacked")

    # Sequences (3.1.1.3.2).

    def table(self, name, mode, data, at):
        if mode == 0:
            self.tables[name] = (_states(*DEFAULTS[name]), DEFAULTS[name][0])
        elif mode == 1:
            self.tables[name], at = ([(data[at], 0, 0)], 0), at + 1
        elif mode == 2:
            accuracy, counts, at = _counts(data, at, MOST[name])
            self.tables[name] = (_states(accuracy, counts), accuracy)
        return at

    def sequences(self, bits, count, literals):
        tables = [self.tables[name] for name in ("literals", "offsets", "matches")]
        states = [bits.take(accuracy) for _, accuracy in tables]
        at = 0
        for number in range(count):
            rows = [table[state] for (table, _), state in zip(tables, states)]
            offset = (1 << rows[1][0]) + bits.take(rows[1][0])
            base, extra = MATCHES[rows[2][0]]
            match = base + bits.take(extra)
            base, extra = LITERALS[rows[0][0]]
            plain = base + bits.take(extra)
            self.room(plain + match)
            if at + plain > len(literals):
                raise Broken("crc", "packed metadata can't be unpacked")
            self.out += literals[at : at + plain]
            at += plain
            self.copy(self.offset(offset, plain), match)
            if number < count - 1:
                for which in (0, 2, 1):
                    _, width, base = rows[which]
                    states[which] = base + bits.take(width)
        if bits.left:
            raise Broken("crc", "packed metadata can't be unpacked")
        self.room(len(literals) - at)
        self.out += literals[at:]

    def offset(self, value, plain):
        """The distance that an offset's value stands for: 1 to 3 are recent ones (3.1.1.5)."""
        if value > 3:
            self.recent = [value - 3, *self.recent[:2]]
            return value - 3
        index = value - (1 if plain else 0)
        found = self.recent[0] - 1 if index == 3 else self.recent[index]
        self.recent = [found, *(each for at, each in enumerate(self.recent) if at != min(index, 2))][:3]
        return found

    def copy(self, distance, length):
        begin = len(self.out) - distance
        if distance < 1 or begin < 0:
            raise Broken("crc", "packed metadata can't be unpacked")
        while length > 0:
            piece = self.out[begin : begin + min(length, distance)]
            self.out += piece
            begin, length = begin + len(piece), length - len(piece)


def _counts(data, at, most):
    """(accuracy, probabilities, where they end): the description of an FSE table (4.1.1)."""
    value, place = int.from_bytes(data[at : at + 512], "little"), 4
    accuracy = (value & 15) + 5
    if accuracy > most:
        raise Broken("crc", "packed metadata can't be unpacked")
    left, counts = (1 << accuracy) + 1, []
    while left > 1 and len(counts) < 256:
        bits = left.bit_length()
        low = (1 << bits) - 1 - left
        short = value >> place & ((1 << bits - 1) - 1)
        if short < low:
            count, place = short, place + bits - 1
        else:
            full = value >> place & ((1 << bits) - 1)
            count, place = full - (low if full >= 1 << bits - 1 else 0), place + bits
        counts.append(count - 1)
        left -= abs(count - 1)
        while count == 1:
            repeat, place = value >> place & 3, place + 2
            counts += [0] * repeat
            if repeat < 3:
                break
    if left != 1:
        raise Broken("crc", "packed metadata can't be unpacked")
    return accuracy, counts, at + (place + 7) // 8


def _states(accuracy, counts):
    """[(symbol, bits, base)] of every state of an FSE table (4.1.1)."""
    size = 1 << accuracy
    symbols, high = [0] * size, size - 1
    for symbol, count in enumerate(counts):
        if count == -1:
            symbols[high] = symbol
            high -= 1
    at, step = 0, (size >> 1) + (size >> 3) + 3
    for symbol, count in enumerate(counts):
        for _ in range(max(count, 0)):
            symbols[at] = symbol
            at = at + step & size - 1
            while at > high:
                at = at + step & size - 1
    following, table = [max(count, 1) if count else 0 for count in counts], []
    for symbol in symbols:
        state = following[symbol]
        following[symbol] += 1
        bits = accuracy - (state.bit_length() - 1)
        table.append((symbol, bits, (state << bits) - size))
    return table
