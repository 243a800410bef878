"""NaN and Inf in tensors, and bytes of tensors that were never written, found in blocks that are in the cache anyway.

A sum of squares is the filter and isfinite the judge: no sum with a NaN or an Inf in it comes back to a finite number, so
a finite one clears a block at the speed of the cache; any other block is looked at element by element.  Half, bfloat16 and
8-bit floats are judged by their bits, which order as whole numbers do: above those of Inf there is only NaN.
With numpy or, failing that, torch; without either it would take for ever, and is `unsupported`.
"""

import threading
from contextlib import nullcontext

from verikit.probes.formats.layout import BITS
from verikit.probes.place import CannotSee

PAGE = 4096
INF = float("inf")
LISTED = 16

# (bytes of an element, mask of the bits that are all set in NaN and Inf); for floats without Inf, of those set in NaN.
MASKED = {
    "float16": (2, 0x7C00),
    "bfloat16": (2, 0x7F80),
    "float8_e5m2": (1, 0x7C),
    "float8_e4m3fn": (1, 0x7F),
    "complex32": (2, 0x7C00),
}
SUMMED = {"float32": "f4", "float64": "f8", "complex64": "f4", "complex128": "f8"}
# These have one NaN, and no Inf.
ONE_NAN = {"float8_e4m3fnuz": 0x80, "float8_e5m2fnuz": 0x80, "float8_e8m0fnu": 0xFF}
NO_INF = ("float8_e4m3fn",)
# float4 and float6 have neither: nothing to look for.


class Area:
    """Bytes of one tensor that no tensor before it has; `name` is the first of those that share them."""

    __slots__ = ("bad", "base", "begin", "dtype", "end", "first", "nonzero", "row", "width", "zeros")

    def __init__(self, row, begin, end):
        self.row, self.begin, self.end, self.base = row, begin, end, row.offset
        self.dtype, self.width = row.dtype, max(1, BITS[row.dtype] // 8)
        self.bad, self.first, self.nonzero, self.zeros = {"nan": 0, "inf": 0}, None, False, []


def scanner(place, layout):
    """What looks into blocks of this file's tensors; `unsupported` where neither numpy nor torch is there."""
    numpy = place.accelerator("numpy")
    if numpy is not None:
        return Scanner(layout, _Numpy(numpy, layout.byteorder))
    torch = place.accelerator("torch")
    if torch is not None and layout.byteorder == "little":
        return Scanner(layout, _Torch(torch))
    raise CannotSee(
        "unsupported", "finite=True needs numpy or torch in the host's Python: python= may name one that has it"
    )


class Scanner:
    """Areas of one file, in its order, and what was found in them."""

    def __init__(self, layout, engine):
        self.layout, self.engine, self.by, self.values = layout, engine, engine.name, 0
        self.areas, self.lock = _areas(layout), threading.Lock()

    def block(self, area, offset, data):
        """Looks into bytes of an area; they hold whole elements."""
        suspicious, zero = self.engine.look(area.dtype, data)
        pages = self.engine.zero_pages(data, -offset % PAGE) if not zero else ()
        with self.lock:
            self.values += len(data) // area.width
            area.nonzero = area.nonzero or not zero
            if len(area.zeros) < LISTED:
                area.zeros += [offset + at for at in pages]
            if zero and area.end - area.begin > len(data) >= PAGE and len(area.zeros) < LISTED:
                area.zeros.append(offset)
        if suspicious:
            self._judge(area, offset, data)

    def _judge(self, area, offset, data):
        start = (offset - area.base) // (area.width // (2 if area.dtype.startswith("complex") else 1))
        for kind, (count, places) in zip(("nan", "inf"), self.engine.where(area.dtype, data)):
            if area.row.name in self.layout.strides:  # strides leave elements out, and those are nobody's
                places = [at for at in places if _coordinates(*self._view(area), at + start) is not None]
                count = len(places)
            with self.lock:
                area.bad[kind] += count
                if count and (area.first is None or places[0] + start < area.first):
                    area.first = places[0] + start

    def _view(self, area):
        shape, strides = area.row.shape, self.layout.strides.get(area.row.name)
        if strides is None:
            strides, step = [0] * len(shape), 1
            for axis in reversed(range(len(shape))):
                strides[axis], step = step, step * shape[axis]
        return shape, strides, area.dtype.startswith("complex")

    def tell(self):
        """Tells the layout what was found: values not finite are faults, zeros are signs."""
        for area in self.areas:
            nan, inf = area.bad["nan"], area.bad["inf"]
            if nan or inf:
                what = "tensor %r has %s, the first at %s"
                words = " and ".join("{:,} {}".format(n, word) for n, word in ((nan, "NaN"), (inf, "Inf")) if n)
                self.layout.fault(
                    "nonfinite", what % (area.row.name, words, _coordinates(*self._view(area), area.first)), area.base
                )
            self._zeros(area)

    def _zeros(self, area):
        if area.row.nbytes and not area.nonzero:
            self.layout.warn("zero_tensor", "tensor %r is all zeros" % area.row.name, area.base)
        elif area.zeros:
            what = "tensor %r has whole blocks of 4 KiB that are zeros, the first at byte %d"
            self.layout.warn("zero_page", what % (area.row.name, min(area.zeros)), min(area.zeros))


def _areas(layout):
    """Float tensors that lie in the file in one piece, cut where they overlap: every byte is looked at once."""
    rows = [row for row in layout.tensors if row.offset is not None and row.file is None and row.nbytes]
    floats = [row for row in rows if row.dtype in SUMMED or row.dtype in MASKED or row.dtype in ONE_NAN]
    floats.sort(key=lambda row: (row.offset, -row.nbytes))
    areas, end = [], 0
    for row in floats:
        begin = row.offset
        if begin < end:  # shared with a tensor before it
            width = BITS[row.dtype] // 8
            begin += -(-(end - begin) // width) * width
        stop = min(row.offset + row.nbytes, layout.size)
        if begin < stop:
            areas.append(Area(row, begin, stop))
            end = stop
    missed = [row.name for row in layout.tensors if row.offset is None and row.nbytes and row.dtype in BITS]
    if missed and layout.notes.get("meta") != len(missed):
        layout.unseen(
            "unsupported", "values of %d tensors are packed or elsewhere, %r first" % (len(missed), missed[0])
        )
    return areas


def _coordinates(shape, strides, halves, index):
    """The coordinates of a number by its distance from the first, or None if it is none of the tensor's own."""
    if halves:  # a complex element is two numbers
        index //= 2
    place = [0] * len(shape)
    for axis in sorted(range(len(shape)), key=lambda axis: -strides[axis]):
        if strides[axis]:
            place[axis] = min(index // strides[axis], shape[axis] - 1)
            index -= place[axis] * strides[axis]
    return None if index else place


class _Numpy:
    """Blocks by numpy."""

    name = "numpy"
    # Dot products of at most this many numbers are not given to BLAS's own threads, which all of ours would wait for.
    ROW = 8192

    def __init__(self, numpy, byteorder):
        self.numpy, self.order = numpy, ">" if byteorder == "big" else "<"
        self.dots = getattr(numpy, "vecdot", None)

    def quiet(self):
        """Within it an overflow in the filter is no warning."""
        return self.numpy.errstate(all="ignore")

    def _numbers(self, dtype, data):
        kind = SUMMED.get(dtype) or "u%d" % (MASKED.get(dtype) or (1,))[0]
        return self.numpy.frombuffer(data, self.order + kind)

    def look(self, dtype, data):
        """(whether there may be a NaN or an Inf, whether all is zero)"""
        numbers = self._numbers(dtype, data)
        if dtype in SUMMED:
            return self._summed(numbers, data)
        if dtype in ONE_NAN:
            return bool((numbers == ONE_NAN[dtype]).any()), not self._any(data)
        width, mask = MASKED[dtype]
        signed, sign = int(numbers.view(self.order + "i%d" % width).max()), 1 << (8 * width - 1)
        unsigned = int(numbers.max())
        return signed >= mask or unsigned >= sign + mask, unsigned == 0

    def _summed(self, numbers, data):
        rows = len(numbers) // self.ROW
        total = 0.0
        if self.dots is not None and rows:
            squares = numbers[: rows * self.ROW].reshape(rows, self.ROW)
            total, numbers = float(self.dots(squares, squares).sum()), numbers[rows * self.ROW :]
        if len(numbers):
            total += abs(float(numbers.min())) + abs(float(numbers.max()))
        return not total < INF, total == 0 and not self._any(data)

    def _any(self, data):
        return bool(self.numpy.frombuffer(data, "u1").any())

    def where(self, dtype, data):
        """((how many NaN, their places), (how many Inf, their places)) among the numbers, up to 4,096 places."""
        numpy, numbers = self.numpy, self._numbers(dtype, data)
        if dtype in SUMMED:
            return self._places(numpy.isnan(numbers)), self._places(numpy.isinf(numbers))
        if dtype in ONE_NAN:
            return self._places(numbers == ONE_NAN[dtype]), (0, ())
        width, mask = MASKED[dtype]
        full = (numbers & mask) == mask
        if dtype in NO_INF:
            return self._places(full), (0, ())
        mantissa = numbers & ((1 << (8 * width - 1)) - 1 - mask)
        return self._places(full & (mantissa != 0)), self._places(full & (mantissa == 0))

    def _places(self, found):
        places = self.numpy.flatnonzero(found)
        return len(places), [int(at) for at in places[:4096]]

    def zero_pages(self, data, first):
        """Offsets in the block of whole pages of zeros; `first`: where the first page of the file begins in it."""
        count = (len(data) - first) // PAGE
        if count <= 0:
            return ()
        heads = self.numpy.frombuffer(data, "u1")[first + 11 : first + count * PAGE : PAGE]
        if heads.all():  # a page of numbers shows itself by one byte: the highest of its third, if those are of 32 bits
            return ()
        pages = self.numpy.frombuffer(data, "u1", count * PAGE, first).reshape(count, PAGE)
        maybe = ~pages[:, :64].any(axis=1)
        return [first + int(at) * PAGE for at in self.numpy.flatnonzero(maybe) if not pages[at].any()]


class _Torch:
    """Blocks by torch, where numpy is not there."""

    name = "torch"

    def quiet(self):
        """torch warns of no overflow."""
        return nullcontext()

    def __init__(self, torch):
        self.torch = torch
        torch.set_num_threads(1)

    def _numbers(self, dtype, data):
        torch = self.torch
        kind = {"f4": torch.float32, "f8": torch.float64}.get(SUMMED.get(dtype))
        if kind is None:
            kind = torch.int16 if (MASKED.get(dtype) or (1,))[0] == 2 else torch.uint8
        return torch.frombuffer(data, dtype=kind)

    def look(self, dtype, data):
        """(whether there may be a NaN or an Inf, whether all is zero)"""
        numbers = self._numbers(dtype, data)
        if dtype in SUMMED:
            low, high = map(float, self.torch.aminmax(numbers))
            return not (low > -INF and high < INF), low == high == 0
        if dtype in ONE_NAN:
            return bool((numbers == ONE_NAN[dtype]).any()), not bool(numbers.any())
        mask = MASKED[dtype][1]
        return int((numbers & mask).max()) == mask, not bool(numbers.any())

    def where(self, dtype, data):
        """((how many NaN, their places), (how many Inf, their places)) among the numbers, up to 4,096 places."""
        numbers, torch = self._numbers(dtype, data), self.torch
        if dtype in SUMMED:
            return self._places(torch.isnan(numbers)), self._places(torch.isinf(numbers))
        if dtype in ONE_NAN:
            return self._places(numbers == ONE_NAN[dtype]), (0, ())
        width, mask = MASKED[dtype]
        full = (numbers & mask) == mask
        if dtype in NO_INF:
            return self._places(full), (0, ())
        mantissa = numbers & ((1 << (8 * width - 1)) - 1 - mask)
        return self._places(full & (mantissa != 0)), self._places(full & (mantissa == 0))

    def _places(self, found):
        places = self.torch.nonzero(found).flatten()
        return len(places), places[:4096].tolist()

    def zero_pages(self, data, first):
        """Offsets in the block of whole pages of zeros."""
        count = (len(data) - first) // PAGE
        if count <= 0:
            return ()
        pages = self.torch.frombuffer(data, dtype=self.torch.uint8, count=count * PAGE, offset=first).view(count, PAGE)
        empty = self.torch.nonzero(~pages.any(dim=1)).flatten().tolist()
        return [first + at * PAGE for at in empty]
