"""NaN and Inf in tensors, and bytes of tensors that were never written, found in blocks that are in the cache anyway.

A block is cleared at the speed of the cache by whichever of these is the cheapest that does; any other block is looked at
element by element:
- no number in it reaches 2, as those of trained weights seldom do: the highest bit of an exponent is set nowhere;
- its sum of squares is finite, which no NaN and no Inf lets it be (32 and 64 bits);
- the greatest of its bit patterns, with the sign bit as a sign and without, is below that of Inf: they order as numbers do.
With numpy or, failing that, torch; without either it would take for ever, and is `unsupported`.
"""

import heapq
import re
import sys
import threading
from array import array
from contextlib import contextmanager, nullcontext
from functools import lru_cache, partial

from verikit.probes.formats.layout import BITS, MANY, elements
from verikit.probes.place import CannotSee

PAGE = 4096
INF = float("inf")
ZEROS = bytes(PAGE)
PLACES = 4096
"""Bad numbers of one block that are looked at one by one, where not every number of it is the tensor's own."""
WAIT = 64
"""Blocks, at most, after some with large numbers in which small ones are not counted on: twice as many each time."""
TRIES = 1 << 20
"""Steps that one file may take to find whose such numbers are."""
KINDS = {"bad": "nonfinite", "score": "nonfinite", "zero_tensor": "zero_tensor", "zero_page": "zero_page"}
"""What there is to tell of tensors, and the kind of fault or warning that it is."""

# Bytes of a number, and the bits that are all set in NaN and Inf.
EXPONENT = {
    "float64": (8, 0x7FF << 52), "float32": (4, 0x7F800000), "float16": (2, 0x7C00), "bfloat16": (2, 0x7F80),
    "float8_e5m2": (1, 0x7C), "complex32": (2, 0x7C00), "complex64": (4, 0x7F800000), "complex128": (8, 0x7FF << 52),
}  # fmt: skip
# Without Inf: the bits that are all set in NaN.
NO_INF = {"float8_e4m3fn": (1, 0x7F)}
# With one NaN, and no Inf: its pattern.
ONE_NAN = {"float8_e4m3fnuz": (1, 0x80), "float8_e5m2fnuz": (1, 0x80), "float8_e8m0fnu": (1, 0xFF)}
JUDGED = {**EXPONENT, **NO_INF, **ONE_NAN}
# Floats that have neither.
ALWAYS = frozenset(("float4_e2m1fn_x2", "float4_e2m1", "float6_e2m3", "float6_e3m2"))
# What is no float at all, in the names that torch and numpy have: whole numbers, truth values, text, times.
WHOLE = re.compile(r"(?:q?u?int|bool|string|[SaUMm])[0-9x]*(?:\[.*\])?$")


def judged(dtype):
    """Whether a dtype may hold NaN or Inf: True; False: it can't; None: what it holds is not known here."""
    if dtype in JUDGED:
        return True
    return False if dtype in ALWAYS or WHOLE.match(dtype) else None


class Area:
    """A stretch of the file, or of an unpacked record, that is full of numbers of one type: those of `rows`.

    Tensors that overlap (tied weights, views of one storage) are one area, so that every byte is looked at once.
    `left`: bytes of it that no thread has looked at yet.
    """

    __slots__ = ("bad", "begin", "dtype", "end", "kind", "left", "more", "nonzero", "record", "rows", "width", "zero")

    def __init__(self, row, begin, end, record=None):
        self.rows, self.begin, self.end, self.record = [row], begin, end, record
        self.dtype, self.width = row.dtype, BITS[row.dtype] // 8
        self.kind, self.nonzero, self.zero, self.bad, self.more = None, False, None, None, False

    @property
    def number(self):
        """Bytes of one number: complex elements are two."""
        return JUDGED[self.dtype][0]

    def cut(self, stop):
        """The last place up to there that lies between two elements."""
        return stop - (stop - self.begin) % self.width

    def whole(self, kind):
        """The area, when no more tensors join it, with what looks into it."""
        self.end = self.cut(self.end)
        self.kind, self.left = kind, self.end - self.begin
        return self


class First:
    """Of things that come in any order the `MANY` that lie first, and how many there were."""

    def __init__(self):
        self.count, self._heap = 0, []

    def add(self, place, thing):
        """One more; equal places in the order in which they come."""
        self.count += 1
        push = heapq.heappush if self.count <= MANY else heapq.heappushpop
        push(self._heap, (-place, -self.count, thing))

    def __iter__(self):
        """(place, thing) in order."""
        return ((-place, thing) for place, _, thing in sorted(self._heap, reverse=True))


class Tally:
    """What one thread has seen of an area."""

    __slots__ = ("area", "nbytes", "nonzero", "zero")

    def __init__(self, area):
        self.area, self.nbytes, self.nonzero, self.zero = area, 0, False, None


def scanner(place, layout):
    """What looks into blocks of this file's tensors; `unsupported` where neither numpy nor torch is there."""
    scan = Scanner(layout)
    if scan.here or scan.packed:
        scan.engage(*_engine(place))
    return scan


class Scanner:
    """What looks into the numbers of one file, and what was found in them.

    Areas come when it is their turn and go when they are done: of 10^5 tensors only those are kept that will be told.
    """

    def __init__(self, layout):
        self.layout, self.values, self.by, self.left = layout, 0, None, TRIES
        self.here, self.packed = _numbers_of(layout)
        self.begun, self.found = set(), {kind: First() for kind in KINDS}
        self.lock, self.quiet = threading.Lock(), nullcontext

    def engage(self, module, engine):
        """Takes what it looks with."""
        self.by, self.quiet = module.__name__, engine.quiet(module)
        self.kinds, self.new = {}, partial(engine, module)

    def _kind(self, area):
        order = self.layout.orders.get(area.rows[0].name, self.layout.byteorder)
        key = area.dtype, order != sys.byteorder
        known = self.kinds.get(key)
        if known is None:
            known = self.kinds[key] = self.new(*key)
        return known

    def areas(self):
        """The areas of the file, in its order."""
        tensors = self.layout.tensors
        rows = ((tensors[number].offset, tensors[number]) for number in self.here)
        return (area.whole(self._kind(area)) for area in _joined(rows, self.layout, self.layout.size))

    def unpacked(self, span):
        """What takes the bytes of a packed record as they come; None for one without numbers."""
        numbers = self.packed.get(span.name)
        if not numbers:
            return None
        rows = [self.layout.tensors[number] for number in numbers]
        pairs = sorted(((self.layout.packed[row.name][1], row) for row in rows), key=lambda p: (p[0], -p[1].nbytes))
        return Unpacked(self, [area.whole(self._kind(area)) for area in _joined(pairs, self.layout, span.size, span)])

    def tally(self, area):
        """What a thread counts in."""
        return Tally(area)

    def block(self, tally, at, data):
        """Looks into bytes of an area, which begin and end between two elements."""
        area = tally.area
        width = area.width
        if (at - area.begin) % width or len(data) % width:  # the border of a record lies within an element
            lead = (area.begin - at) % width
            at, data = at + lead, data[lead : len(data) - (len(data) - lead) % width]
            if not data:
                return
        suspicious, zero = area.kind.look(data)
        tally.nbytes += len(data)
        tally.nonzero = tally.nonzero or not zero
        if tally.zero is None:
            tally.zero = zero_page(data, at)
        if suspicious:
            self._judge(area, at, data)

    def add(self, tally):
        """Takes over what a thread has seen."""
        area = tally.area
        with self.lock:
            self.values += tally.nbytes // area.width
            area.nonzero = area.nonzero or tally.nonzero
            if tally.zero is not None:
                area.zero = tally.zero if area.zero is None else min(area.zero, tally.zero)
            area.left -= tally.nbytes
            if area.left > 0:
                self.begun.add(area)
                return
            self.begun.discard(area)
            self._done(area)

    # Whose a bad number is.

    def _judge(self, area, at, data):
        found = area.kind.where(data)
        plain = len(area.rows) == 1 and self._strides(area.rows[0]) is None
        with self.lock:
            for kind, (count, places) in enumerate(found):
                if plain and count:
                    self._count(area, area.rows[0], kind, count, at + places[0] * area.number)
                elif count:
                    area.more = area.more or count > len(places)
                    for place in places:
                        row = self._owner(area, at + place * area.number)
                        if row is not None:
                            self._count(area, row, kind, 1, at + place * area.number)

    def _count(self, area, row, kind, count, at):
        if area.bad is None:
            area.bad = {}
        tally = area.bad.setdefault((row.name, row.offset), [row, 0, 0, at])
        tally[1 + kind] += count
        tally[3] = min(tally[3], at)

    def _owner(self, area, at):
        """The first tensor one of whose elements is there; None: strides leave it out, and it is nobody's."""
        for row in area.rows:
            begin = self._begin(area, row)
            if begin <= at < begin + row.nbytes and self._index(area, row, at) is not None:
                return row
            self._step()
        return None

    def _step(self):
        self.left -= 1
        if self.left < 0:
            raise CannotSee(
                "bound_reached", "too many numbers that are not finite, in tensors that overlap, to say whose"
            )

    def _begin(self, area, row):
        return row.offset if area.record is None else self.layout.packed[row.name][1]

    def _strides(self, row):
        return self.layout.strides.get(row.name) if not self.layout.pieces else self._piece(row)[1]

    def _piece(self, row):
        """(where it begins in the whole tensor, its strides) of a piece of one."""
        return self.layout.pieces.get((row.name, row.offset), (None, self.layout.strides.get(row.name)))

    def _index(self, area, row, at):
        """The index of the element there, or None where it is none of the tensor's own."""
        strides = self._strides(row)
        index = coordinates(
            row.shape, strides or dense(row.shape), (at - self._begin(area, row)) // area.width, self._step
        )
        origin = self._piece(row)[0] if self.layout.pieces else None
        return index if index is None or origin is None else [a + b for a, b in zip(index, origin)]

    # What came of it.

    def _done(self, area):
        """Keeps what there is to tell of an area that is over."""
        place = self._where(area, area.begin)
        for row, nan, inf, at in (area.bad or {}).values():
            score = row.shape == () and beside_no_weights(self.layout.root, row.name)
            self.found["score" if score else "bad"].add(place, (area, row, nan, inf, at))
        if not area.nonzero and area.left <= 0:
            self.found["zero_tensor"].add(place, (area, area.rows[0].name))
        elif area.zero is not None:
            self.found["zero_page"].add(place, (area, area.rows[0].name))

    def tell(self):
        """Tells the layout the first of each kind that was found: values not finite are faults, zeros are signs."""
        for area in self.begun:
            self._done(area)
        rows = [(place, kind, thing) for kind, first in self.found.items() for place, thing in first]
        for _, kind, thing in sorted(rows, key=lambda row: row[0]):
            getattr(self, "_" + kind)(*thing)
        for kind, first in self.found.items():
            if first.count > MANY:
                self.layout.more[KINDS[kind]] = self.layout.more.get(KINDS[kind], 0) + first.count - MANY

    def _bad(self, area, row, nan, inf, at):
        self.layout.fault("nonfinite", self._words(area, row, nan, inf, at), self._where(area, at))

    def _score(self, area, row, nan, inf, at):
        said = self._words(area, row, nan, inf, at)
        said += "; it stands beside no weights: a score that nothing has beaten yet may be so"
        self.layout.warn("nonfinite", said, self._where(area, at))

    def _words(self, area, row, nan, inf, at):
        what = "tensor %r has %s%s, the first at %s"
        words = " and ".join("{:,} {}".format(n, word) for n, word in ((nan, "NaN"), (inf, "Inf")) if n)
        return what % (row.name, "at least " if area.more else "", words, self._index(area, row, at))

    def _zero_tensor(self, area, name):
        self.layout.warn("zero_tensor", "tensor %r is all zeros" % name, self._where(area, area.begin))

    def _zero_page(self, area, name):
        inside = "" if area.record is None else " of the unpacked record"
        what = "tensor %r has whole blocks of 4 KiB that are zeros, the first at byte %d%s"
        self.layout.warn("zero_page", what % (name, area.zero, inside), self._where(area, area.zero))

    def _where(self, area, at):
        return at if area.record is None else area.record.offset


def beside_no_weights(root, name):
    """Whether a number stands in a mapping that holds no tensor with an axis: `best_loss`, a callback's best score.

    A `logit_scale` beside weights is one of them, and so is the step of an optimizer beside its averages.
    """
    if type(root) is not dict:
        return False
    for key, value in root.items():
        key = str(key)
        if key == name:
            return not any(form.shape for form in (getattr(each, "form", None) for each in root.values()) if form)
        if name.startswith(key + ".") and beside_no_weights(value, name[len(key) + 1 :]):
            return True
    return False


class Unpacked:
    """Hands areas of a deflated record its bytes as they come, in whole elements."""

    def __init__(self, scan, areas):
        self.scan, self.areas, self.next, self.at = scan, areas, 0, 0
        self.tally, self.rest = None, bytearray()

    def feed(self, data):
        """The next bytes."""
        view, begin, self.at = memoryview(data), self.at, self.at + len(data)
        while self.next < len(self.areas):
            area = self.areas[self.next]
            low, high = max(area.begin, begin), min(area.end, self.at)
            if low < high:
                self._look(area, low, view[low - begin : high - begin])
            if area.end > self.at:
                return
            self.end()
            self.next += 1

    def _look(self, area, at, view):
        if self.tally is None:
            self.tally = Tally(area)
        data = self.rest + view
        at -= len(self.rest)
        whole = len(data) - len(data) % area.width
        if whole:
            self.scan.block(self.tally, at, memoryview(data)[:whole])
        self.rest = data[whole:]

    def end(self):
        """The area, or the record, is over."""
        if self.tally is not None:
            self.scan.add(self.tally)
        self.tally, self.rest = None, bytearray()


# Which numbers are where.


def _numbers_of(layout):
    """(numbers of the tensors that lie in the file, in order, {record: those in what it unpacks to}).

    What is in neither, and may not be finite, is told as unseen.
    """
    here, packed, missed, unknown = [], {}, [], []
    apart = {array.name for array in layout.arrays}  # looked into by `pickled`
    for number, row in enumerate(layout.tensors):
        if row.file is not None:
            continue
        known = judged(row.dtype) if elements(row.shape) else False
        if row.offset is None and row.name in apart:
            continue
        if row.offset is None and row.name not in layout.packed:
            missed.append((row.name, known))
        elif known is None:
            unknown.append(row)
        elif known and row.nbytes and row.offset is not None:
            here.append(number)
        elif known and row.nbytes:
            packed.setdefault(layout.packed[row.name][0], []).append(number)
    if layout.notes.get("meta") != len(missed):
        _missed([name for name, known in missed if known is not False], layout, "packed or elsewhere")
    _missed(
        [row.name for row in unknown], layout, "of a type that is not known here (%s)" % (unknown and unknown[0].dtype)
    )
    here.sort(key=lambda number: -layout.tensors[number].nbytes)
    here.sort(key=lambda number: layout.tensors[number].offset)
    return array("q", here), packed


def _missed(names, layout, what):
    if names:
        words = "the values of %r are %s" % (names[0], what)
        if len(names) > 1:
            words = "values of {:,} tensors are {}, {!r} first".format(len(names), what, names[0])
        layout.unseen("unsupported", words)


def _joined(rows, layout, size, record=None):
    """Areas of these (begin, row), which come in order: those that overlap are one."""
    last = None
    for begin, row in rows:
        end = min(begin + row.nbytes, size)
        if last is not None and begin < last.end:
            if row.dtype != last.dtype or (begin - last.begin) % last.width:
                what = "%r and %r share bytes, and are not of the same elements" % (last.rows[0].name, row.name)
                layout.unseen("unsupported", what)
                continue
            last.rows.append(row)
            last.end = max(last.end, end)
        elif begin < end:
            if last is not None:
                yield last
            last = Area(row, begin, end, record)
    if last is not None:
        yield last


def dense(shape):
    """The strides of a tensor that has none of its own, in elements."""
    strides, step = [0] * len(shape), 1
    for axis in reversed(range(len(shape))):
        strides[axis], step = step, step * shape[axis]
    return strides


def coordinates(shape, strides, index, step=lambda: None):
    """The coordinates of an element by its distance from the first, or None if it is none of the tensor's own.

    Axes are taken by the longest stride first, as many steps as fit; fewer are tried where the others can make up for it,
    as in windows that overlap.  step: called for each try.
    """
    axes = sorted((axis for axis in range(len(shape)) if strides[axis]), key=lambda axis: -strides[axis])
    reach = [0] * (len(axes) + 1)
    for at in reversed(range(len(axes))):
        reach[at] = reach[at + 1] + (shape[axes[at]] - 1) * strides[axes[at]]
    place = [0] * len(shape)

    def settle(at, left):
        step()
        if at == len(axes):
            return left == 0
        axis = axes[at]
        most = min(left // strides[axis], shape[axis] - 1)
        least = max(0, -(-(left - reach[at + 1]) // strides[axis]))
        for count in range(most, least - 1, -1):
            place[axis] = count
            if settle(at + 1, left - count * strides[axis]):
                return True
        return False

    return place if settle(0, index) else None


def zero_page(data, at):
    """The offset of the first page of the file (4 KiB, aligned) within these bytes that is all zeros, or None.

    A page of numbers mostly shows itself by one byte: the highest of its third, if those are of 32 bits.
    """
    first = -at % PAGE
    heads = data[first + 11 :: PAGE].tobytes()
    page = heads.find(0)
    while page >= 0:
        begin = first + page * PAGE
        if bytes(data[begin : begin + PAGE]) == ZEROS:
            return at + begin
        page = heads.find(0, page + 1)
    return None


# Engines.


def looker(place):
    """A function of (dtype, whether its bytes are the other way round) that gives what looks into numbers of that kind."""
    module, engine = _engine(place)
    return lru_cache(maxsize=None)(partial(engine, module))


def _engine(place):
    for name, kind in (("numpy", _Numpy), ("torch", _Torch)):
        module = place.accelerator(name)
        if module is not None:
            return module, kind
    raise CannotSee(
        "unsupported", "finite=True needs numpy or torch in the host's Python: python= may name one that has it"
    )


class _Numpy:
    """Numbers of one type, by numpy."""

    # Dot products of at most this many numbers are not given to BLAS's own threads, which all of ours would wait for.
    ROW = 8192

    @staticmethod
    def quiet(numpy):
        """What each thread works in: there an overflow in a sum of squares is no warning."""
        return partial(numpy.errstate, all="ignore")

    def __init__(self, numpy, dtype, swap):
        width, self.bits = JUDGED[dtype]
        self.dots = getattr(numpy, "vecdot", None) if width > 2 and not swap else None
        self.float, self.numpy, self.swap = numpy.dtype("f%d" % max(2, width)), numpy, swap and width > 1
        self.unsigned, self.signed = numpy.dtype("u%d" % width), numpy.dtype("i%d" % width)
        self.sign, self.one, self.inf = 1 << (8 * width - 1), dtype in ONE_NAN, dtype in EXPONENT
        self.rest = self.sign - 1 - self.bits
        self.greatest, self.least, self.union = numpy.maximum.reduce, numpy.minimum.reduce, numpy.bitwise_or.reduce
        self.wait = self.waited = 0

    def _numbers(self, data):
        numbers = self.numpy.frombuffer(data, self.unsigned)
        return numbers.byteswap() if self.swap else numbers

    def look(self, data):
        """(whether there may be a NaN or an Inf, whether all is zero)"""
        if self.wait:
            self.wait -= 1
        elif not self.one:
            union = int(self.union(self._numbers(data)))
            if not union & self.sign >> 1:
                self.waited = 0
                return False, union == 0
            self.wait = self.waited = min(2 * self.waited + 1, WAIT)
        total = self._squares(data) if self.dots is not None else 0
        return (not total < INF, False) if total else self._greatest(self._numbers(data))

    def _squares(self, data):
        """The sum of the squares; not finite where a number isn't, or where they are large."""
        numbers, total = self.numpy.frombuffer(data, self.float), 0
        rest = len(numbers) % self.ROW
        if rest:
            total = float(self.dots(numbers[-rest:], numbers[-rest:]))
            numbers = numbers[:-rest]
        if len(numbers):
            rows = numbers.reshape(-1, self.ROW)
            total += sum(self.dots(rows, rows).tolist())
        return total

    def _greatest(self, numbers):
        top = int(self.greatest(numbers))
        if self.one:
            seen = top >= self.bits if self.bits & 0x7F else int(self.least(numbers.view(self.signed))) == -self.sign
            return seen, top == 0
        return top >= self.sign + self.bits or int(self.greatest(numbers.view(self.signed))) >= self.bits, top == 0

    def where(self, data):
        """((how many NaN, their places), (how many Inf, their places)) among the numbers, up to 4,096 places."""
        numbers = self._numbers(data)
        if self.one:
            return self._places(numbers == self.bits), (0, ())
        full = (numbers & self.unsigned.type(self.bits)) == self.bits
        if not self.inf:
            return self._places(full), (0, ())
        inf = (numbers & self.unsigned.type(self.rest)) == 0
        return self._places(full & ~inf), self._places(full & inf)

    def _places(self, found):
        places = self.numpy.flatnonzero(found)
        return len(places), places[:PLACES].tolist()


@contextmanager
def _alone(torch, threads):
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


class _Torch:
    """Numbers of one type, by torch, where numpy is not there."""

    @staticmethod
    def quiet(torch):
        """What each thread works in: there torch has no threads of its own; afterwards as many as before."""
        return partial(_alone, torch, torch.get_num_threads())

    def __init__(self, torch, dtype, swap):
        self.width, self.bits = JUDGED[dtype]
        self.torch, self.swap = torch, swap and self.width > 1
        self.type = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[self.width]
        self.one, self.inf = dtype in ONE_NAN, dtype in EXPONENT
        self.rest = (1 << (8 * self.width - 1)) - 1 - self.bits

    def _numbers(self, data):
        torch = self.torch
        if not self.swap:
            return torch.frombuffer(data, dtype=self.type)
        octets = torch.frombuffer(data, dtype=torch.uint8).view(-1, self.width)
        return octets.flip(1).contiguous().view(self.type).flatten()

    def look(self, data):
        """(whether there may be a NaN or an Inf, whether all is zero)"""
        numbers = self._numbers(data)
        seen = numbers == self.bits if self.one else (numbers & self.bits) == self.bits
        return bool(seen.any()), not bool(numbers.any())

    def where(self, data):
        """((how many NaN, their places), (how many Inf, their places)) among the numbers, up to 4,096 places."""
        numbers = self._numbers(data)
        if self.one:
            return self._places(numbers == self.bits), (0, ())
        full = (numbers & self.bits) == self.bits
        if not self.inf:
            return self._places(full), (0, ())
        inf = (numbers & self.rest) == 0
        return self._places(full & ~inf), self._places(full & inf)

    def _places(self, found):
        places = self.torch.nonzero(found).flatten()
        return len(places), places[:PLACES].tolist()
