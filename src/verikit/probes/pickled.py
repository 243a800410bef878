"""NaN and Inf in arrays that do not lie as their bytes in the file: numpy's in a pickle, ONNX's as numbers in its message."""

import codecs
import math
import os
import sys

from verikit.probes import finite
from verikit.probes.formats.layout import BITS, elements
from verikit.probes.formats.pickle_walk import Long

PIECE = 1 << 18


def judge(place, file, layout, wanted):
    """Tells the layout of values that are not finite, and of those that can't be looked at; how many were looked at.

    wanted(name): whether an array is one of those that are to be judged.
    """
    values, missed, look = 0, [], None
    for array in layout.arrays:
        if not (wanted(array.name) and elements(array.shape)) or _whole(array.dtype):
            continue
        look = look or finite.looker(place)
        found = _look(look, file, array)
        if found is None or (array.masked and found[:2] != (0, 0)):
            missed.append(array.name)
            continue
        values += elements(array.shape)
        _tell(array, found, layout)
    if missed:
        what = "values of {:,} pickled arrays can't be looked at, {!r} first"
        layout.unseen("unsupported", what.format(len(missed), missed[0]))
    return values


def _whole(dtype):
    return dtype is not None and finite.judged(dtype) is False


def _look(look, file, array):
    """(NaN, Inf, number of the first) of an array; None where it can't be known, or its bytes are not as many as it has."""
    if array.dtype not in finite.JUDGED or (type(array.raw) is Long and array.origin is None):
        return None
    kind = look(array.dtype, array.order != sys.byteorder)
    width = BITS[array.dtype] // 8
    number = finite.JUDGED[array.dtype][0]
    nan = inf = at = 0
    first, rest = None, b""
    for piece in _pieces(file, array):
        data = bytearray(rest + piece)
        whole = len(data) - len(data) % width
        data, rest = memoryview(data)[:whole], bytes(data[whole:])
        if whole and kind.look(data)[0]:
            (a, ones), (b, others) = kind.where(data)
            nan, inf = nan + a, inf + b
            places = [*ones[:1], *others[:1]]
            if first is None and places:
                first = (at + min(places) * number) // width
        at += whole
    return (nan, inf, first) if at == elements(array.shape) * width and not rest else None


def _pieces(file, array):
    """The bytes of its elements, in turn."""
    raw = array.raw
    if type(raw) is bytes:
        yield raw
    elif type(raw) is str:
        yield raw.encode("latin-1", "replace")
    elif hasattr(raw, "pieces"):
        yield from raw.pieces(file)
    elif raw.kind == "bytes":
        yield from _stretch(file, array.origin + raw.offset, raw.nbytes)
    else:
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        for piece in _stretch(file, array.origin + raw.offset, raw.nbytes):
            yield decode(piece).encode("latin-1", "replace")


def _stretch(file, offset, nbytes):
    for at in range(offset, offset + nbytes, PIECE):
        yield os.pread(file.fileno(), min(PIECE, offset + nbytes - at), at)


def _tell(array, found, layout):
    nan, inf, first = found
    if first is None:
        return
    words = " and ".join("{:,} {}".format(n, word) for n, word in ((nan, "NaN"), (inf, "Inf")) if n)
    strides = _fortran(array.shape) if array.fortran else finite.dense(array.shape)
    where = finite.coordinates(array.shape, strides, first)
    said = "array %r has %s, the first at %s" % (array.name, words, where)
    if array.shape == () and finite.beside_no_weights(layout.root, array.name):
        layout.warn("nonfinite", said + "; it stands beside no weights: a score that nothing has beaten yet may be so")
    else:
        layout.fault("nonfinite", said)


def _fortran(shape):
    return [math.prod(shape[:axis]) for axis in range(len(shape))]
