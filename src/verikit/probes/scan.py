"""What holds of the values of tensors, read in blocks: one pass for everything that is asked of one tensor.

A block is judged by two reductions: of 32 and 64 bits its least and greatest number, of fewer bits the greatest of its
bits as signed and as unsigned number. IEEE 754 orders magnitudes as integers, so either pair tells NaN, Inf, both ends of
the range, all-zero and constant at once. Only a block that these do not settle is decoded and looked at. Where nothing
but `finite` is asked, one reduction does: no sum of squares is finite that has a NaN or an Inf in it.
A complex number is as large as its modulus: that is its range, and what `abs` and `rms` are about.  It has no order, so
words that need one are refused in words, as are those that a dtype or a ragged column gives no meaning.
numpy does it if this host's interpreter has it; without it small tensors are read in plain Python, large ones are
`unsupported`.

A predicate is ["all" | "any" | "not", parts…] or [word, arguments…], as `verikit.spec.predicates.resolved` writes it.
Words about elements combine element by element; an answer names counts, the first index and the range, never the values.
"""

import cmath
import math
import operator
import os
import random

from verikit.probes import packing, slices
from verikit.probes.place import CannotSee

BLOCK = (
    1 << 20
)  # bytes: stays in the second-level cache between the reductions; larger and smaller ones measured slower
WINDOW = 1 << 22  # bytes mapped at a time, by each of several threads
PIECE = 1 << 16  # numbers that are widened at a time: half a megabyte
WHOLE = 64 << 20  # bytes of a tensor that may be held at once, for words that need all of it
SLOW = 1 << 21  # elements that plain Python looks at; about two seconds
ROWS = 4_000_000  # rows whose digests are kept, 16 bytes each
DRAWN = 16  # blocks drawn from a large tensor by a sample

ELEMENT = frozenset(["finite", "nan", "inf", "in", "one of", "==", "!=", "<=", ">=", "<", ">", "abs<=", "abs<"])
NEED_ALL = frozenset(["rising", "falling", "step", "distinct", "first", "last"])
DIGESTS = frozenset(["rows distinct", "planes distinct"])
RELATIONS = frozenset(["same", "tied", "shared"])
SLICES = frozenset(["rows", "planes"])
"""Words about each slice by itself: ["rows", predicate], ["planes", axis, predicate]."""

# name: (bytes, numpy's unsigned, its signed, the bits of Inf; what is above them is NaN). e4m3fn has no Inf; of the
# "fnuz" types, which have neither Inf nor -0, the bits of -0 are the only NaN.  Complex: of its two parts.
FLOATS = {
    "f64": (8, "<u8", "<i8", 0x7FF0000000000000), "f32": (4, "<u4", "<i4", 0x7F800000), "f16": (2, "<u2", "<i2", 0x7C00),
    "bf16": (2, "<u2", "<i2", 0x7F80), "e5m2": (1, "u1", "i1", 0x7C), "e4m3": (1, "u1", "i1", 0x7E),
    "e4m3fnuz": (1, "u1", "i1", 0x80), "e5m2fnuz": (1, "u1", "i1", 0x80), "e8m0": (1, "u1", "u1", 0xFE),
    "c128": (16, "<u8", "<i8", 0), "c64": (8, "<u4", "<i4", 0), "c32": (4, "<u2", "<i2", 0),
}  # fmt: skip
# Bits of the mantissa, bias of the exponent.
TABLED = {"e4m3": (3, 7), "e5m2": (2, 15), "e4m3fnuz": (3, 8), "e5m2fnuz": (2, 16), "e8m0": (0, 127)}
ONE_NAN = frozenset(["e4m3fnuz", "e5m2fnuz"])
COMPLEX = {"c128": "<f8", "c64": "<f4", "c32": "<f2"}
SUMMED = frozenset(["f32", "f64", "c64", "c128"])
NEVER_ODD = frozenset(["f4", "float6_e2m3", "float6_e3m2"])
"""Packed floats of fewer than 8 bits: they have neither NaN nor Inf, whatever their bits."""
QUANTISED = ("q", "iq", "tq", "i2_s", "mxfp", "nvfp")
"""How the names of types begin whose numbers lie in blocks with a scale: GGUF's, and torch's qint8."""
ORDERED = frozenset(["in", "<=", ">=", "<", ">", "min", "max", "rising", "falling", "step", "first", "last"])
SUMS = frozenset(["sum", "mean", "std"])
ROWED = NEED_ALL - {"distinct"} | DIGESTS | SLICES
"""Words about rows along the last axis."""
ONCE_EACH = (NEED_ALL | DIGESTS | SLICES | {"sum", "count"}) - {"first", "last"}
"""Words that are not told by a part of the tensor that stands for all of it."""
INTS = {
    "i64": "<i8",
    "i32": "<i4",
    "i16": "<i2",
    "i8": "i1",
    "u64": "<u8",
    "u32": "<u4",
    "u16": "<u2",
    "u8": "u1",
    "bool": "u1",
}
WIDTH = {name: row[0] for name, row in FLOATS.items()}
WIDTH.update({name: int(code[-1]) for name, code in INTS.items()})
COMPARE = {"==": "eq", "!=": "ne", "<=": "le", ">=": "ge", "<": "lt", ">": "gt"}
UNPACK = {
    "f64": "d",
    "f32": "f",
    "f16": "e",
    "i64": "q",
    "i32": "i",
    "i16": "h",
    "i8": "b",
    "u64": "Q",
    "u32": "I",
    "u16": "H",
    "u8": "B",
    "bool": "B",
    "c128": "d",
    "c64": "f",
    "c32": "e",
}


def words_of(predicate):
    """Every word in a predicate."""
    if predicate[0] in ("all", "any", "not"):
        for part in predicate[1:]:
            yield from words_of(part)
    else:
        yield predicate[0]
        if predicate[0] in SLICES:
            yield from words_of(predicate[-1])


def about_elements(predicate):
    return all(word in ELEMENT for word in words_of(predicate))


def atoms(predicate):
    """The parts that are answered by themselves: a tree of element words is one, every other word is one."""
    if predicate[0] in ("all", "any", "not") and not about_elements(predicate):
        for part in predicate[1:]:
            yield from atoms(part)
    else:
        yield predicate


class Stored:
    """A tensor as its bytes: dtype (short name), shape, and `blocks(step)`, which yields (first element, buffer).

    swap: its numbers are big-endian.  ragged: its rows lie in lists of lengths of their own, one after the other.
    nulls: `Nulls` that the blocks count as they leave them out; a block's first element is then the numbers of all.
    once: axes of stride 0 are there with one place each, the tensor being too large to be written out.
    """

    def __init__(self, dtype, shape, blocks, swap=False, ragged=False, nulls=None, once=False):
        self.dtype, self.shape, self.blocks, self.swap = dtype, tuple(shape), blocks, swap
        self.ragged, self.nulls, self.once = ragged, nulls, once
        self.count = 1
        for length in shape:
            self.count *= length
        self.read = 0


class Nulls:
    """Places of a column that have no value: how many, and the first of them."""

    def __init__(self):
        self.count, self.first = 0, None

    def note(self, places):
        """Takes the numbers of such places, in order."""
        if len(places):
            self.count += len(places)
            self.first = int(places[0]) if self.first is None else self.first


def unreadable(dtype):
    """Why values of such a dtype are not looked at."""
    if dtype in NEVER_ODD:
        return "%s packs several numbers into a byte, of which only `finite` is known" % dtype
    if dtype.startswith(QUANTISED):
        return "values of %s lie in quantised blocks, which are not unpacked here" % dtype
    return "values of %s can't be read here" % dtype


def refused(tensor, atom):
    """Why a word has no meaning for the numbers of this tensor, or None."""
    words = set(words_of(atom))
    if tensor.dtype in COMPLEX and words & ORDERED:
        word = sorted(words & ORDERED)[0]
        return "%s: complex numbers have no order; `abs<=` is about their modulus" % word
    if tensor.dtype in COMPLEX and words & SUMS:
        word = sorted(words & SUMS)[0]
        return "%s: that of complex numbers is complex, and in no order; `rms` is about their modulus" % word
    if tensor.dtype in COMPLEX and words & SLICES:
        return "%s: slices of complex numbers are not looked at" % atom[0]
    if tensor.once and words & (ONCE_EACH | RELATIONS):
        word = sorted(words & (ONCE_EACH | RELATIONS))[0]
        return "%s: an axis of stride 0 repeats its memory, which would be more than 64 MiB written out" % word
    if tensor.ragged and words & ROWED:
        return "%s: its rows are lists of different lengths, which are looked at as one" % sorted(words & ROWED)[0]
    return None


def judge(np, tensor, predicates, relate=None):
    """[(verdict, words)] for the predicates: True, False, or None for what can't be told. `relate` answers for relations."""
    wanted = {repr(atom): atom for predicate in predicates for atom in atoms(predicate)}
    answers = {key: (None, why) for key, why in ((key, refused(tensor, atom)) for key, atom in wanted.items()) if why}
    left = [atom for key, atom in wanted.items() if key not in answers]
    if tensor.dtype not in WIDTH:
        answers.update((repr(atom), packed_answer(tensor, atom, relate)) for atom in left)
    elif np is None:
        if left:
            answers.update(list_answers(tensor, left, relate))
    else:
        answers.update(Looked(np, tensor).answers(left, relate))
    if tensor.nulls is not None and tensor.nulls.count:
        answers.update((repr(atom), null_answer(tensor, atom, answers[repr(atom)])) for atom in left)
    return [folded(predicate, answers) for predicate in predicates]


def packed_answer(tensor, atom, relate):
    """Floats that have no NaN are finite without a look; nothing else is known of them, but that they are the same."""
    if atom[0] in RELATIONS and relate:
        return relate(atom)
    known = tensor.dtype in NEVER_ODD and set(words_of(atom)) <= {"finite", "nan", "inf"}
    if not known:
        return None, unreadable(tensor.dtype)
    words = "%s has neither NaN nor Inf" % tensor.dtype
    return holds(atom, 0.0) or not tensor.count, words


def null_answer(tensor, atom, answer):
    """What has no value satisfies no word about elements, and leaves words about the whole open."""
    nulls = tensor.nulls
    words = "{:,} of {:,} values {} null, first at {}".format(
        nulls.count, tensor.count, "is" if nulls.count == 1 else "are", index_of(nulls.first, tensor.shape)
    )
    if not about_elements(atom):
        return None, words
    return False, words if answer[0] else "%s; %s" % (answer[1], words)


def folded(predicate, answers):
    """(verdict, words) of a predicate from those of its atoms: strong Kleene logic."""
    if repr(predicate) in answers:
        return answers[repr(predicate)]
    parts = [folded(part, answers) for part in predicate[1:]]
    if predicate[0] == "not":
        verdict, words = parts[0]
        return (None if verdict is None else not verdict), words
    deciding = predicate[0] == "any"
    verdicts = [verdict for verdict, _ in parts]
    verdict = deciding if deciding in verdicts else None if None in verdicts else not deciding
    return verdict, "; ".join(dict.fromkeys(words for each, words in parts if each is verdict or deciding))


class Looked:
    """One tensor being looked at, block by block."""

    def __init__(self, np, tensor):
        self.np, self.tensor = np, tensor
        self.floating = tensor.dtype in FLOATS
        self.complex = tensor.dtype in COMPLEX
        self.low = self.high = self.ranges = None
        self.nans = self.infs = self.total = 0
        self.sum = self.squares = 0
        self.counts, self.bad = {}, {}
        self.only_finite = False

    def answers(self, wanted, relate):
        """{repr(atom): (verdict, words)}."""
        elements = {repr(each): each for each in wanted if about_elements(each)}
        counted = {repr(each): each[1] for each in wanted if each[0] == "count"}
        sums = any(each[0] in ("rms", "mean", "std", "sum") for each in wanted)
        whole = [each for each in wanted if each[0] in NEED_ALL]
        digests = [each for each in wanted if each[0] in DIGESTS]
        relations = [each for each in wanted if each[0] in RELATIONS]
        sliced = [each for each in wanted if each[0] in SLICES]
        others = [
            each
            for each in wanted
            if repr(each) not in elements and each[0] not in NEED_ALL | DIGESTS | RELATIONS | SLICES
        ]
        self.bad = {key: [0, None, None, None] for key in elements}
        self.counts = dict.fromkeys(counted, 0)
        self.only_finite = self.tensor.dtype in SUMMED and not others and set(elements) == {"['finite']"}
        if elements or others:
            for start, block in self.tensor.blocks(BLOCK):
                self.block(start, block, elements, counted, sums)
        out = {key: self.element_answer(key, each) for key, each in elements.items()}
        out.update((repr(each), self.whole_answer(each)) for each in others)
        if whole:
            array = self.everything()
            out.update((repr(each), ordered_answer(self.np, each, array)) for each in whole)
        out.update((repr(each), self.digest_answer(each)) for each in digests)
        out.update((repr(each), self.slices_answer(each)) for each in sliced)
        out.update((repr(each), relate(each)) for each in relations)
        return out

    # One block.

    def block(self, start, data, elements, counted, sums):
        np, dtype = self.np, self.tensor.dtype
        bits = np.frombuffer(data, dtype=FLOATS[dtype][1] if self.floating else INTS[dtype])
        if not len(bits):
            return
        if self.tensor.swap:
            bits = bits.byteswap()
        self.tensor.read += bits.nbytes
        self.total += bits.nbytes // WIDTH[dtype]
        if self.only_finite and self.squared(bits):
            return
        low, high, odd = self.ends(bits)
        decoded = None
        if odd:
            decoded = self.decoded(bits)
            low, high = self.odd(decoded)
        if low is not None:
            self.low = low if self.low is None else min(self.low, low)
            self.high = high if self.high is None else max(self.high, high)
        for key, predicate in elements.items():
            if odd or not self.surely(predicate, low, high):
                decoded = self.decoded(bits) if decoded is None else decoded
                self.note(key, predicate, decoded, start)
        if counted or sums:
            self.tallies(self.decoded(bits) if decoded is None else decoded, counted, sums)

    def squared(self, bits):
        """Whether the sum of its squares is finite; one that overflows settles nothing."""
        values = bits.view(COMPLEX.get(self.tensor.dtype) or "<f%d" % WIDTH[self.tensor.dtype])
        with self.np.errstate(over="ignore", invalid="ignore"):
            return math.isfinite(self.np.dot(values, values))

    def surely(self, predicate, low, high):
        """Whether the ends of a block settle that all of it holds; those of complex numbers are of their modulus."""
        if self.complex and not set(words_of(predicate)) <= {"finite", "nan", "inf", "abs<=", "abs<"}:
            return False
        return surely(predicate, low, high, not self.floating)

    def ends(self, bits):
        """(low, high, whether there may be NaN or Inf) of a block, by two reductions alone."""
        if not self.floating:
            return int(bits.min()), int(bits.max()), False
        if self.complex:
            return self.moduli(bits)
        if self.tensor.dtype in ("f32", "f64"):
            values = self.decoded(bits)
            with self.np.errstate(invalid="ignore"):
                low, high = float(values.min()), float(values.max())
            return (low, high, False) if math.isfinite(low) and math.isfinite(high) else (None, None, True)
        width, _, signed, inf = FLOATS[self.tensor.dtype]
        if self.tensor.dtype == "e8m0":  # an exponent without a sign; 0xFF is NaN
            low, high = int(bits.min()), int(bits.max())
            return (None, None, True) if high > inf else (self.number(low), self.number(high), False)
        sign = 1 << (8 * width - 1)
        most, top = int(bits.view(signed).max()), int(bits.max())
        magnitude = max(most, top & (sign - 1) if top >= sign else 0)
        if magnitude >= inf and not (self.tensor.dtype == "e4m3" and magnitude == inf):
            return None, None, True
        if self.tensor.dtype in ONE_NAN and int(bits.view(signed).min()) == -sign:
            return None, None, True
        high = most if most >= 0 else int(bits.min())
        low = top if top >= sign else int(bits.view(signed).min())
        return self.number(low), self.number(high), False

    def moduli(self, bits):
        """The ends of a block of complex numbers; beside them those of both parts are kept, which say whether all are one."""
        values = self.decoded(bits)
        ends = [float(end) for part in (values.real, values.imag) for end in (part.min(), -part.max())]
        self.ranges = ends if self.ranges is None else list(map(min, self.ranges, ends))
        with self.np.errstate(over="ignore", invalid="ignore"):
            size = self.np.abs(values)
        low, high = float(size.min()), float(size.max())
        return (low, high, False) if all(map(math.isfinite, ends)) else (None, None, True)

    def number(self, bits):
        np, row = self.np, FLOATS[self.tensor.dtype]
        return float(self.decoded(np.array([bits], dtype=row[1]))[0])

    def odd(self, values):
        """The ends of a block with NaN or Inf in it, which are counted."""
        np = self.np
        nan = np.isnan(values)
        self.nans += int(nan.sum())
        self.infs += int(np.isinf(values).sum())
        rest = self.np.abs(values[~nan]) if self.complex else values[~nan]
        return (float(rest.min()), float(rest.max())) if len(rest) else (None, None)

    def decoded(self, bits):
        """The block as numbers that numpy computes with."""
        np, dtype = self.np, self.tensor.dtype
        if dtype in ("f64", "f32"):
            return bits.view("<f8" if dtype == "f64" else "<f4")
        if dtype == "f16":
            return bits.view("<f2").astype("f4")
        if dtype == "bf16":
            return (bits.astype("<u4") << np.uint32(16)).view("<f4")
        if dtype in TABLED:
            return np.array(table(dtype), dtype="f4")[bits]
        if self.complex:  # as double, in which no modulus of a smaller type overflows
            return bits.view(COMPLEX[dtype]).astype("<f8").view("<c16")
        return bits

    def note(self, key, predicate, values, start):
        np = self.np
        with np.errstate(invalid="ignore"):
            bad = ~mask(np, predicate, values)
        n = int(bad.sum())
        if n:
            row = self.bad[key]
            row[0] += n
            if row[1] is None:
                at = int(bad.argmax())
                row[1] = start + at if isinstance(start, int) else int(start[at])
            odd = np.abs(values[bad]) if self.complex else values[bad]
            for end, pick in ((2, min), (3, max)):
                value = getattr(odd, pick.__name__)().item()
                row[end] = value if row[end] is None else pick(row[end], value)

    def tallies(self, decoded, counted, sums):
        for key, value in counted.items():
            self.counts[key] += int((decoded == value).sum())
        for start in range(0, len(decoded) if sums else 0, PIECE):
            part = decoded[start : start + PIECE]
            wide = part.view("<f8") if self.complex else part.astype("f8")
            self.sum += float(wide.sum()) if self.floating else int(part.sum(dtype="i8"))
            self.squares += float(self.np.dot(wide, wide))

    # Answers.

    def element_answer(self, key, predicate):
        n, first, least, most = self.bad[key]
        shown = range_of(self.low, self.high, self.complex)
        if n and self.low is not None and self.low < least <= most < self.high:  # the range alone does not show them
            shown += ", of those {}..{}".format(number_text(least), number_text(most))
        if not n:
            return True, "%s values %s%s" % ("{:,}".format(self.total), described(predicate), shown)
        what = self.odd_words() if predicate[0] == "finite" else broken_words(predicate)
        odd = ", {:,} NaN, {:,} Inf".format(self.nans, self.infs) if self.nans + self.infs else ""
        rest = "" if predicate[0] == "finite" else shown + odd
        return False, bad_words(n, self.total, what, first, self.tensor.shape) + rest

    def odd_words(self):
        if self.nans and self.infs:
            return "are NaN or Inf ({:,} NaN, {:,} Inf)".format(self.nans, self.infs)
        return "are NaN" if self.nans else "are Inf"

    def whole_answer(self, atom):
        stats = Stats(self.total, self.low, self.high, self.nans, self.infs, self.sum, self.squares)
        if self.complex and self.ranges:
            stats.complex = True
            low, high, down, up = self.ranges
            stats.same = low == -high and down == -up and not self.nans
        return whole_answer(atom, stats, self.counts.get(repr(atom)))

    def everything(self):
        """All values at once, in their shape."""
        np, tensor = self.np, self.tensor
        if tensor.count * WIDTH[tensor.dtype] > WHOLE:
            raise CannotSee("bound_reached", "{:,} values are more than are held at once (64 MiB)".format(tensor.count))
        parts = [values.copy() for _, values in self.pieces()]
        values = np.concatenate(parts) if parts else np.zeros(0)
        return values.reshape(tensor.shape)

    def pieces(self):
        """(number of the first element, values) of each block."""
        np, tensor = self.np, self.tensor
        for start, data in tensor.blocks(BLOCK):
            bits = np.frombuffer(data, dtype=FLOATS[tensor.dtype][1] if self.floating else INTS[tensor.dtype])
            tensor.read += bits.nbytes
            yield start, self.decoded(bits.byteswap() if tensor.swap else bits)

    def slices_answer(self, atom):
        """Of each slice by itself, in one pass."""
        found = slices.laid_out(self.tensor.shape, atom[1] if atom[0] == "planes" else None)
        if found is None:
            return None, "it has no axis %d" % atom[1]
        number, inner = found
        if number > slices.MOST:
            raise CannotSee("bound_reached", "{:,} {} are more than are told apart".format(number, atom[0]))
        counted = {each[1] for each in atoms(atom[-1]) if each[0] == "count"}
        tally = None
        for start, values in self.pieces() if number and inner else ():
            if tally is None:
                tally = slices.Tally(self.np, number, inner, counted, self.floating, values.dtype)
            if len(values):
                tally.add(start if isinstance(start, int) else int(start[0]), values)
        rows = tally.rows() if tally else [(0, None, None, 0, 0, 0, 0, dict.fromkeys(counted, 0))] * number
        return sliced_answer(atom, (slice_answer(atom[-1], *row) for row in rows))

    def digest_answer(self, atom):
        tensor = self.tensor
        axis = atom[1] if atom[0] == "planes distinct" else max(len(tensor.shape) - 2, 0)
        noun = "plane" if atom[0] == "planes distinct" else "row"
        rows = atom[0] == "rows distinct"
        return distinct_answer(tensor, axis, noun, rows)


def slice_answer(predicate, total, low, high, nans, infs, sum, squares, counts):
    """(verdict, words) for one slice, from what was gathered of it."""
    stats = Stats(total, low, high, nans, infs, sum, squares)
    found = {
        repr(each): whole_answer(each, stats, counts.get(each[1]) if len(each) > 1 else None)
        for each in atoms(predicate)
    }
    return folded(predicate, found)


def sliced_answer(atom, answers):
    """(verdict, words) for all slices, from those of each: how many do not hold, and the first of them."""
    noun, bad, total, first, untold = atom[0][:-1], 0, 0, None, None
    for number, (verdict, words) in enumerate(answers):
        total += 1
        if verdict is None:
            untold = untold or words
        elif not verdict:
            bad += 1
            first = first or "%s %d: %s" % (noun, number, words)
    if bad:
        return False, "{:,} of {:,} {}: {}{}".format(bad, total, atom[0], "" if bad == 1 else "first ", first)
    return (None, untold) if untold else (True, "each of {:,} {}".format(total, atom[0]))


class Stats:
    """What one pass gathers of a tensor."""

    def __init__(self, total, low, high, nans, infs, sum, squares):
        self.total, self.low, self.high, self.nans, self.infs = total, low, high, nans, infs
        self.sum, self.squares = sum, squares
        self.same, self.complex = low == high and not nans, False


def whole_answer(atom, stats, count):
    """(verdict, words) for a word about the whole tensor."""
    word = atom[0]
    if not stats.total:
        return (
            word == "constant" or (word in ("sum", "count") and compared(0, atom[-2:] if len(atom) < 5 else atom[-3:]))
        ), "it has no values"
    if word == "nonzero":
        zero = stats.low == 0 and stats.high == 0 and not stats.nans
        return not zero, "all {:,} values are zero".format(stats.total) if zero else "not all zero"
    if word == "constant":
        same = stats.same
        shown = range_of(stats.low, stats.high, stats.complex)
        return same, "all {:,} values are the same".format(stats.total) if same else "not constant" + shown
    value = statistic(word, stats, count)
    test = atom[2:] if word == "count" else atom[1:]
    verdict = compared(value, test)
    label = "count(%s) is" % number_text(atom[1]) if word == "count" else word
    odd = odd_among(stats) if isinstance(value, float) and not math.isfinite(value) else ""
    return verdict, "%s %s, expected %s%s" % (label, number_text(value), test_text(test), odd)


def odd_among(stats):
    """How many NaN and Inf made a statistic what it is."""
    told = ["{:,} {}".format(n, word) for n, word in ((stats.nans, "NaN"), (stats.infs, "Inf")) if n]
    return " ({} among {:,} values)".format(" and ".join(told), stats.total) if told else ""


def statistic(word, stats, count):
    if word == "count":
        return count
    if stats.nans:
        return math.nan
    if word in ("min", "max"):
        return stats.low if word == "min" else stats.high
    if word == "sum":
        return stats.sum
    mean = stats.sum / stats.total
    if word == "mean":
        return mean
    square = stats.squares / stats.total
    return math.sqrt(square) if word == "rms" else math.sqrt(max(0.0, square - mean * mean))


def compared(value, test):
    """Whether a number passes [op, bound] or ["..", low, high]."""
    if value is None:
        return None
    op = test[0]
    if op == "..":
        return test[1] <= value <= test[2]
    bound = test[1]
    return bool(getattr(operator, COMPARE[op])(value, bound))


def test_text(test):
    return (
        "%s..%s" % (number_text(test[1]), number_text(test[2]))
        if test[0] == ".."
        else "%s %s" % (test[0], number_text(test[1]))
    )


def number_text(value):
    if isinstance(value, float):
        return "%d" % value if value == value and abs(value) < 1e15 and value == int(value) else "%.4g" % value
    return str(value)


def range_of(low, high, modulus=False):
    word = "modulus" if modulus else "range"
    return "" if low is None else "; %s %s..%s" % (word, number_text(low), number_text(high))


def described(predicate):
    """An element predicate in words, to follow "are" or "are not"."""
    word, rest = predicate[0], predicate[1:]
    if word in ("all", "any"):
        return (" and " if word == "all" else " or ").join(described(part) for part in rest)
    if word == "not":
        return "not (%s)" % described(rest[0])
    if word == "in":
        return "in %s..%s" % (number_text(rest[0]), number_text(rest[1]))
    if word == "one of":
        return "in {%s}" % ", ".join(number_text(value) for value in rest)
    return word if not rest else "%s%s%s" % (word, "" if word.startswith("abs") else " ", number_text(rest[0]))


def bad_words(n, total, what, first, shape):
    """How many values are what they should not be, and the index of the first; a scalar has none."""
    if not len(shape):
        return "its value " + what.replace("are ", "is ", 1)
    are = what.replace("are ", "is ", 1) if n == 1 else what
    return "{:,} of {:,} values {}, first at {}".format(n, total, are, index_of(first, shape))


def broken_words(predicate):
    """What elements are that do not hold."""
    return "are " + described(predicate[1]) if predicate[0] == "not" else "are not " + described(predicate)


def index_of(flat, shape):
    """The index of an element by its place in order: [5, 7]."""
    out = []
    for length in reversed(shape):
        flat, rest = divmod(flat, length)
        out.append(rest)
    return out[::-1]


# Element predicates.


def surely(predicate, low, high, whole):
    """Whether every number from low to high holds; False for "look closer"."""
    word, rest = predicate[0], predicate[1:]
    if word == "all":
        return all(surely(part, low, high, whole) for part in rest)
    if word == "any":
        return any(surely(part, low, high, whole) for part in rest)
    if word == "not":
        return rest[0][0] in ("nan", "inf")
    if word in ("finite", "nan", "inf"):
        return word == "finite"
    if word == "in":
        return rest[0] <= low and high <= rest[1]
    if word == "one of":
        return whole and high - low < 64 and all(value in rest for value in range(low, high + 1))
    if word == "!=":
        return rest[0] < low or rest[0] > high
    if word.startswith("abs"):
        most = max(abs(low), abs(high))
        return most <= rest[0] if word == "abs<=" else most < rest[0]
    return bool(compared(low, [word, rest[0]]) and compared(high, [word, rest[0]]))


def mask(np, predicate, x):
    """Which elements hold."""
    word, rest = predicate[0], predicate[1:]
    if word == "not":
        return ~mask(np, rest[0], x)
    if word in ("all", "any"):
        out = mask(np, rest[0], x)
        for part in rest[1:]:
            out = (out & mask(np, part, x)) if word == "all" else (out | mask(np, part, x))
        return out
    if word in ("finite", "nan", "inf"):
        return {"finite": np.isfinite, "nan": np.isnan, "inf": np.isinf}[word](x)
    if word == "in":
        return (x >= rest[0]) & (x <= rest[1])
    if word == "one of":
        return np.isin(x, np.array(rest))
    if word.startswith("abs"):
        if x.dtype.kind == "c":
            return np.abs(x) <= rest[0] if word == "abs<=" else np.abs(x) < rest[0]
        return (x <= rest[0]) & (x >= -rest[0]) if word == "abs<=" else (x < rest[0]) & (x > -rest[0])
    return getattr(operator, COMPARE[word])(x, rest[0])


def table(dtype):
    """The 256 numbers of an 8-bit floating type."""
    if dtype == "e8m0":
        return [math.ldexp(1.0, byte - 127) for byte in range(255)] + [math.nan]
    bits, bias = TABLED[dtype]
    return [small_float(byte, bits, bias, dtype) for byte in range(256)]


def small_float(byte, bits, bias, dtype):
    """The number of one byte: sign, exponent, `bits` of mantissa."""
    exponent, mantissa = (byte & 0x7F) >> bits, byte & ((1 << bits) - 1)
    if (dtype in ONE_NAN and byte == 0x80) or (dtype == "e4m3" and byte & 0x7F == 0x7F):
        return math.nan
    sign = -1.0 if byte & 0x80 else 1.0
    if dtype == "e5m2" and exponent == 31:
        return math.nan if mantissa else sign * math.inf
    whole = mantissa + (1 << bits if exponent else 0)
    return sign * math.ldexp(whole, max(exponent, 1) - bias - bits)


# Words that need the order, or all values.


def ordered_answer(np, atom, array):
    """rising, falling, step: along the last axis; distinct: over all."""
    word = atom[0]
    if word == "distinct":
        return distinct_values(np, array)
    if word in ("first", "last"):
        return end_answer(
            atom,
            (array.reshape(1) if array.ndim == 0 else array)[..., 0 if word == "first" else -1].reshape(-1).tolist()
            if array.size
            else [],
        )
    if array.ndim == 0 or array.shape[-1] < 2:
        return True, "fewer than two values along the last axis"
    steps = np.diff(array.astype("f8") if array.dtype.kind == "f" else array.astype("i8"), axis=-1)
    good = steps == atom[1] if word == "step" else steps >= 0 if word == "rising" else steps <= 0
    bad = int((~good).sum())
    what = "step %s" % number_text(atom[1]) if word == "step" else word
    if not bad:
        return True, what
    first = [int(n) for n in np.unravel_index(int((~good).argmax()), good.shape)]
    first[-1] += 1
    got = steps.reshape(-1)[int((~good).argmax())].item()
    return False, "not {}: {:,} of {:,} steps differ, first at {}, a step of {}".format(
        what, bad, good.size, first, number_text(got)
    )


def end_answer(atom, ends):
    """first and last: of every row along the last axis."""
    bad = [at for at, value in enumerate(ends) if not compared(value, atom[1:])]
    if not ends:
        return False, "it has no values"
    if not bad:
        return True, "%s %s" % (atom[0], test_text(atom[1:]))
    of = "" if len(ends) == 1 else " in {:,} of {:,} rows, the first of them {}".format(len(bad), len(ends), bad[0])
    return False, "%s %s%s, expected %s" % (atom[0], number_text(ends[bad[0]]), of, test_text(atom[1:]))


def distinct_values(np, array):
    values, firsts, places = np.unique(array.reshape(-1), return_index=True, return_inverse=True)
    spare = array.size - len(values)
    if not spare:
        return True, "all values differ"
    twins = firsts[places.reshape(-1)]
    later = int((twins != np.arange(array.size)).argmax())
    ends = values[values == values].tolist() if array.dtype.kind != "c" else []
    shown = range_of(ends[0], ends[-1]) if ends else ""
    return False, repeats(spare, array.size, later, int(twins[later]), array.shape) + shown


def repeats(spare, total, later, first, shape):
    """How many values were there before, and the first of them with its twin, by their places in order."""
    are = "is a repeat" if spare == 1 else "are repeats"
    pair = index_of(later, shape), index_of(first, shape)
    return "{:,} of {:,} values {}, first at {}, which equals that at {}".format(spare, total, are, *pair)


def distinct_answer(tensor, axis, noun, rows):
    """Whether the slices along an axis differ, by 128-bit digests; for `rows` over all axes but the last."""
    import hashlib

    shape, width = tensor.shape, WIDTH[tensor.dtype]
    if not len(shape) or not -len(shape) <= axis < len(shape):
        return None, "it has no axis %d" % axis
    axis %= len(shape)
    outer = 1
    for length in shape[: axis + 1] if rows else shape[:axis]:
        outer *= length
    inner = tensor.count // max(1, outer if rows else outer * shape[axis])
    slices = outer if rows else shape[axis]
    if len(shape) == 1:
        slices, inner = tensor.count, 1
    if slices > ROWS:
        raise CannotSee("bound_reached", "{:,} {}s are more than are compared at once".format(slices, noun))
    if rows or axis == 0:
        digests = row_digests(tensor, inner * width, hashlib)
    else:
        digests = plane_digests(tensor, slices, inner * width, hashlib)
    seen, pairs, more = {}, [], 0
    for number, digest in enumerate(digests):
        if digest in seen:
            more += 1
            if len(pairs) < 3:
                pairs.append((seen[digest], number))
        else:
            seen[digest] = number
    if not more:
        return True, "{:,} {}s, all distinct".format(slices, noun)
    told = ", ".join("%s %d equals %s %d" % (noun, later, noun, first) for first, later in pairs)
    return False, "{:,} duplicate {}{} of {:,}: {}".format(more, noun, "" if more == 1 else "s", slices, told)


def row_digests(tensor, size, hashlib):
    """One digest for every `size` bytes, in order."""
    if size == 0:
        return
    rest = b""
    for _, data in tensor.blocks(BLOCK):
        tensor.read += len(data)
        view = memoryview(data).cast("B") if not isinstance(data, bytes) else memoryview(data)
        at = 0
        if rest:
            take = size - len(rest)
            rest += bytes(view[:take])
            at = take
            if len(rest) < size:
                continue
            yield hashlib.blake2b(rest, digest_size=16).digest()
        end = at + (len(view) - at) // size * size
        for start in range(at, end, size):
            yield hashlib.blake2b(view[start : start + size], digest_size=16).digest()
        rest = bytes(view[end:])


def plane_digests(tensor, slices, size, hashlib):
    """One digest for each slice along an inner axis: its pieces come round by round."""
    hashes = [hashlib.blake2b(digest_size=16) for _ in range(slices)]
    at = 0
    for _, data in tensor.blocks(BLOCK):
        tensor.read += len(data)
        view = memoryview(data).cast("B") if not isinstance(data, bytes) else memoryview(data)
        start = 0
        while start < len(view):
            take = min(size - at % size, len(view) - start)
            hashes[at // size % slices].update(view[start : start + take])
            start += take
            at += take
    return [each.digest() for each in hashes]


# Plain Python: hosts without numpy, and lists out of configs and metadata.


def plain_values(tensor):
    import struct

    out = []
    for _, data in tensor.blocks(BLOCK):
        data = bytes(data)
        tensor.read += len(data)
        mark = ">" if tensor.swap else "<"
        if tensor.dtype == "bf16":
            numbers = struct.unpack("%s%dH" % (mark, len(data) // 2), data)
            out += struct.unpack("<%df" % len(numbers), struct.pack("<%dI" % len(numbers), *(n << 16 for n in numbers)))
        elif tensor.dtype in TABLED:
            numbers = table(tensor.dtype)
            out += [numbers[byte] for byte in data]
        elif tensor.dtype in COMPLEX:
            code = UNPACK[tensor.dtype]
            parts = struct.unpack("%s%d%s" % (mark, len(data) // struct.calcsize("<" + code), code), data)
            out += map(complex, parts[::2], parts[1::2])
        else:
            out += struct.unpack("%s%d%s" % (mark, len(data) // WIDTH[tensor.dtype], UNPACK[tensor.dtype]), data)
    return out


def list_answers(tensor, wanted, relate):
    """{repr(atom): (verdict, words)} without numpy, which only small tensors get."""
    if tensor.count > SLOW:
        raise CannotSee("unsupported", "{:,} values are too many without numpy on this host".format(tensor.count))
    values = plain_values(tensor)
    stats = list_stats(values)
    return {repr(atom): list_answer(atom, values, tensor.shape, stats, relate) for atom in wanted}


def judge_list(values, shape, predicates, relate=None):
    """The same answers for a plain list of numbers."""
    answers = {}
    stats = list_stats(values)
    for predicate in predicates:
        for atom in atoms(predicate):
            if repr(atom) not in answers:
                answers[repr(atom)] = list_answer(atom, values, shape, stats, relate)
    return [folded(predicate, answers) for predicate in predicates]


def list_stats(values):
    odd = [value for value in values if isinstance(value, (float, complex))]
    nans, infs = sum(map(cmath.isnan, odd)), sum(map(cmath.isinf, odd))
    numbers = [value for value in values if not (isinstance(value, (float, complex)) and cmath.isnan(value))]
    sizes = list(map(modulus, numbers)) if any(isinstance(value, complex) for value in odd) else numbers
    row = (min(sizes), max(sizes)) if sizes else (None, None)
    stats = Stats(len(values), row[0], row[1], nans, infs, sum(numbers), sum(n * n for n in sizes))
    stats.same = not nans and all(value == values[0] for value in values)
    stats.complex = sizes is not numbers
    return stats


def modulus(value):
    """Of a complex number with an infinite part infinity, also where the other part is NaN, as IEEE 754 has it."""
    return math.hypot(value.real, value.imag)


def list_answer(atom, values, shape, stats, relate):
    word = atom[0]
    if about_elements(atom):
        bad = [at for at, value in enumerate(values) if not holds(atom, value)]
        if not bad:
            return True, "{:,} values {}{}".format(
                len(values), described(atom), range_of(stats.low, stats.high, stats.complex)
            )
        what = broken_words(atom)
        if atom[0] == "finite":
            what = "are NaN" if stats.nans and not stats.infs else "are Inf" if not stats.nans else "are NaN or Inf"
        shown = "" if atom[0] == "finite" else range_of(stats.low, stats.high, stats.complex)
        return False, bad_words(len(bad), len(values), what, bad[0], shape) + shown
    if word == "distinct":
        return listed_distinct(values, shape, stats)
    if word in NEED_ALL:
        return list_ordered(atom, values, shape)
    if word in SLICES:
        return list_sliced(atom, values, shape)
    if word in DIGESTS or word in RELATIONS:
        return relate(atom) if relate and word in RELATIONS else (None, "%s needs numpy on this host" % word)
    return whole_answer(atom, stats, sum(value == atom[1] for value in values) if word == "count" else None)


def listed_distinct(values, shape, stats):
    seen, pairs = {}, []
    for at, value in enumerate(values):
        first = seen.setdefault(value if value == value else None, at)  # one NaN is as good as another
        pairs += [(at, first)] if first != at else []
    if not pairs:
        return True, "all values differ"
    return False, repeats(len(pairs), len(values), *pairs[0], shape) + range_of(stats.low, stats.high, stats.complex)


def list_sliced(atom, values, shape):
    found = slices.laid_out(shape, atom[1] if atom[0] == "planes" else None)
    if found is None:
        return None, "it has no axis %d" % atom[1]
    return sliced_answer(atom, (judge_list(part, [len(part)], [atom[-1]])[0] for part in slices.split(values, *found)))


def list_ordered(atom, values, shape):
    length = shape[-1] if shape else 1
    if atom[0] in ("first", "last"):
        return end_answer(atom, values[0 if atom[0] == "first" else length - 1 :: max(1, length)])
    for at in range(1, len(values)):
        step = values[at] - values[at - 1]
        good = step == atom[1] if atom[0] == "step" else step >= 0 if atom[0] == "rising" else step <= 0
        if at % length and not good:
            return False, "not %s: first at %s, a step of %s" % (atom[0], index_of(at, shape), number_text(step))
    return True, atom[0]


def holds(predicate, value):
    """Whether one number satisfies an element predicate."""
    word, rest = predicate[0], predicate[1:]
    if word == "not":
        return not holds(rest[0], value)
    if word in ("all", "any"):
        return (all if word == "all" else any)(holds(part, value) for part in rest)
    if word in ("finite", "nan", "inf"):
        test = {"finite": cmath.isfinite, "nan": cmath.isnan, "inf": cmath.isinf}[word]
        return test(value) if isinstance(value, (float, complex)) else word == "finite"
    if word == "in":
        return rest[0] <= value <= rest[1]
    if word == "one of":
        return value in rest
    if word.startswith("abs"):
        return abs(value) <= rest[0] if word == "abs<=" else abs(value) < rest[0]
    return compared(value, [word, rest[0]])


# Where the bytes come from.


def drawn(seed, name, nbytes):
    """Sorted offsets of the blocks that a sample reads of a large tensor."""
    generator = random.Random("%s %s" % (seed, name))
    blocks = (nbytes + BLOCK - 1) // BLOCK
    return sorted(number * BLOCK for number in generator.sample(range(blocks), min(DRAWN, blocks)))


def file_blocks(file, offset, nbytes, width, offsets=None):
    """`blocks(step)` over bytes of a file, mapped a window at a time: faults happen inside the reductions, which have
    let go of the interpreter, so several files are read at once. A file that has shrunk is seen before it is mapped."""

    def blocks(step):
        starts = offsets if offsets is not None else range(0, nbytes, WINDOW)
        for start in starts:
            size = min(WINDOW if offsets is None else step, nbytes - start)
            for at, view in mapped(file, offset + start, size, step):
                yield (start + at) // width, view

    return blocks


def mapped(file, offset, size, step):
    """(bytes from the window's beginning, buffer) of each block of a window; by plain reading where nothing can be mapped."""
    import mmap

    end = os.fstat(file.fileno()).st_size
    if end < offset + size:
        raise CannotSee("unsupported", "the file ends within the tensor, at byte {:,}".format(end))
    spare = offset % mmap.ALLOCATIONGRANULARITY
    try:
        window = mmap.mmap(file.fileno(), size + spare, prot=mmap.PROT_READ, offset=offset - spare)
    except (OSError, ValueError):
        file.seek(offset)
        for at in range(0, size, step):
            yield at, file.read(min(step, size - at))
        return
    if hasattr(window, "madvise"):
        window.madvise(mmap.MADV_SEQUENTIAL)
    view = memoryview(window)
    for at in range(0, size, step):
        yield at, view[spare + at : spare + min(at + step, size)]


def unpacked_blocks(file, span, skip, nbytes, width):
    """`blocks(step)` over `nbytes` of what a packed record unpacks to, after `skip` bytes of it; fewer are `Damaged`."""

    def blocks(step):
        unpack, rest, done = packing.Unpacker(span.method), b"", -skip
        at, end, step = span.offset, span.offset + span.nbytes, max(width, step // width * width)
        while done < nbytes and not unpack.over and (at < end or not unpack.hungry):
            data = b""
            if unpack.hungry:
                file.seek(at)
                data = file.read(min(end - at, 1 << 16))
                at = at + len(data) if data else end
            data = unpack.pull(data, step)
            rest += data[max(0, -done) :] if done < 0 else data
            done += len(data)
            while len(rest) >= step:
                yield (done - len(rest)) // width, rest[:step]
                rest = rest[step:]
        if done < nbytes:
            raise packing.Damaged("it unpacks to {:,} bytes, {:,} expected".format(done + skip, nbytes + skip))
        rest = rest[: nbytes - (done - len(rest))]
        if rest:
            yield (nbytes - len(rest)) // width, rest

    return blocks


def buffer_blocks(data, width):
    """`blocks(step)` over a buffer in memory."""
    view = memoryview(data).cast("B")

    def blocks(step):
        for start in range(0, len(view), step):
            yield start // width, view[start : start + step]

    return blocks
