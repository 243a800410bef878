"""numpy's arrays as pickles hold them: their elements stand in the pickle itself, not beside it as torch's storages do.

Source: numpy/_core/src/multiarray/methods.c (`array_reduce`, `array_setstate`, `array_reduce_ex_picklebuffer`),
numpy/_core/numeric.py (`_frombuffer`), numpy/ma/core.py. Protocol 2 has no bytes: there they are text of Latin-1.
"""

import sys
from collections import namedtuple

from verikit.probes.formats import npy
from verikit.probes.formats.pickle_walk import Call, Global, Long

Array = namedtuple("Array", "name dtype shape fortran order raw origin masked")
"""An array: dtype in torch's spelling, or as numpy has it, None: not known; order: "little" or "big" bytes.

raw: its elements, bytes, text of Latin-1, or a `Long`, which counts from `origin`: where the pickle begins in the file, None:
nowhere, as it is packed.  masked: some may be nobody's.
"""

MASKED = frozenset(("numpy.ma.core._mareconstruct",))
MADE = MASKED | {"numpy.core.multiarray._reconstruct", "numpy._core.multiarray._reconstruct"}
BUFFERS = frozenset(("numpy.core.numeric._frombuffer", "numpy._core.numeric._frombuffer"))
MAKERS = MADE | BUFFERS


def array(item):
    """The `Array` without a name that a call would give; None for another call, and for one that holds objects."""
    if type(item) is not Call or item.name not in MAKERS:
        return None
    state = item.args if item.name in BUFFERS else item.state
    if item.name in MADE:  # version, shape, dtype, whether it is in Fortran's order, elements
        state = state[-4:] if type(state) is tuple and len(state) in (4, 5) else _unmasked(item)
    if type(state) is not tuple or len(state) != 4:
        return None
    shape, dtype, fortran, raw = state
    if item.name in BUFFERS:
        raw, dtype, shape, fortran = shape, dtype, fortran, raw == "F"
    name, order = _dtype(dtype)
    shape, raw = _shape(shape), _raw(raw)
    if shape is None or raw is None or name == "object":
        return None
    return Array("", name, shape, bool(fortran), order, raw, None, item.name in MASKED)


def _unmasked(item):
    """The same of a masked array, whose mask and fill value follow."""
    state = item.state
    return state[1:5] if item.name in MASKED and type(state) is tuple and len(state) == 7 else None


def _shape(item):
    item = (item,) if type(item) is int else item
    whole = type(item) in (tuple, list) and all(type(axis) is int and axis >= 0 for axis in item)
    return tuple(item) if whole else None


def _raw(item):
    """The elements: as they are, out of `_codecs.encode(text, "latin1")`, or of a bytearray around them."""
    while type(item) is Call and type(item.args) is tuple and item.args and item.name in _AROUND:
        item = item.args[0]
    return item if type(item) in (bytes, str, Long) else None


_AROUND = frozenset(("_codecs.encode", "builtins.bytearray", "builtins.bytes"))


def _dtype(item):
    """(name, order of the bytes) of what pickles as `numpy.dtype("f4", …)` and a state, whose second part is the order."""
    if type(item) is not Call or type(item.args) is not tuple or not item.args:
        return None, sys.byteorder
    code, state = item.args[0], item.state
    mark = state[1] if type(state) is tuple and len(state) > 1 else None
    order = {"<": "little", ">": "big"}.get(mark if type(mark) is str else None, sys.byteorder)
    if type(code) is Global:  # of ml_dtypes, or of another package
        return (code.attribute if code.module == "ml_dtypes" else None), order
    if type(code) is not str:
        return None, order
    return ("object" if code[:1] == "O" else npy.DTYPES.get(code, code)), order
