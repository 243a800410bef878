"""Statistics of each slice of a tensor along one axis, gathered block by block: `planes(0) rms 1e-2..1e2`, `rows nonzero`.

In the order of its elements a tensor is a sequence of runs, one after the other: `inner` elements of slice 0, as many of
slice 1, … and after the last slice again of slice 0.  A block is cut where a run ends, and each piece is reduced by itself.
"""

MOST = 1 << 18
"""Slices that are told apart: more rows than any vocabulary has."""


def laid_out(shape, axis):
    """(number of slices, elements of a run) along an axis; None if there is no such axis.

    axis: None for rows, which are vectors along the last axis.
    """
    count = 1
    for length in shape:
        count *= length
    if axis is None:
        inner = shape[-1] if shape else 1
        return (count // inner if inner else 0), inner
    if not -len(shape) <= axis < len(shape):
        return None
    axis %= len(shape)
    inner = 1
    for length in shape[axis + 1 :]:
        inner *= length
    return shape[axis], inner


class Tally:
    """Arrays, one place a slice: how many elements, of them NaN, Inf and each counted value; ends, sum and sum of squares."""

    def __init__(self, np, slices, inner, counted, floating, kind):
        self.np, self.slices, self.inner, self.floating = np, slices, inner, floating
        ends = (np.inf, -np.inf) if floating else (np.iinfo(kind).max, np.iinfo(kind).min)
        self.low, self.high = (np.full(slices, end, dtype="f8" if floating else kind) for end in ends)
        self.total, self.nans, self.infs = (np.zeros(slices, dtype="i8") for _ in range(3))
        self.sum = np.zeros(slices, dtype="f8" if floating else "i8")
        self.squares = np.zeros(slices, dtype="f8")
        self.counts = {value: np.zeros(slices, dtype="i8") for value in counted}

    def add(self, start, values):
        """Takes the next elements, the first of which is number `start` of all."""
        np = self.np
        cuts = np.arange(-start % self.inner, len(values), self.inner)
        if not len(cuts) or cuts[0]:
            cuts = np.concatenate([np.zeros(1, dtype=cuts.dtype), cuts])
        at = (start + cuts) // self.inner % self.slices
        np.add.at(self.total, at, np.diff(np.append(cuts, len(values))))
        low, high = self._numbers(at, values, cuts) if self.floating else (values, values)
        np.minimum.at(self.low, at, np.minimum.reduceat(low, cuts))
        np.maximum.at(self.high, at, np.maximum.reduceat(high, cuts))
        for value, counts in self.counts.items():
            self._sum(counts, at, values == value, cuts)
        wide = values.astype("f8")
        with np.errstate(over="ignore", invalid="ignore"):
            np.add.at(self.sum, at, np.add.reduceat(wide if self.floating else values.astype("i8"), cuts))
            np.add.at(self.squares, at, np.add.reduceat(wide * wide, cuts))

    def _numbers(self, at, values, cuts):
        """The values with NaN out of the way of the least and of the greatest; NaN and Inf are counted."""
        nan, inf = self.np.isnan(values), self.np.isinf(values)
        if not nan.any() and not inf.any():
            return values, values
        self._sum(self.nans, at, nan, cuts)
        self._sum(self.infs, at, inf, cuts)
        return self.np.where(nan, self.np.inf, values), self.np.where(nan, -self.np.inf, values)

    def _sum(self, into, at, flags, cuts):
        self.np.add.at(into, at, self.np.add.reduceat(flags.astype("i8"), cuts))

    def rows(self):
        """(total, low, high, nans, infs, sum, squares, {value: count}) of each slice; of NaN alone low and high are None."""
        columns = (self.total, self.low, self.high, self.nans, self.infs, self.sum, self.squares)
        counts = [(value, row.tolist()) for value, row in self.counts.items()]
        for number, (total, low, high, *more) in enumerate(zip(*(column.tolist() for column in columns))):
            only_nan = more[0] == total
            ends = (None, None) if only_nan else (low, high)
            yield (total, *ends, *more, {value: row[number] for value, row in counts})


def split(values, slices, inner):
    """The values of each slice, from a plain list of all."""
    turn = slices * inner
    for number in range(slices):
        yield [
            value
            for start in range(number * inner, len(values), turn or 1)
            for value in values[start : start + inner]
        ]  # fmt: skip
