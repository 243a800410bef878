"""NPY: a magic, a version, a Python literal that describes an array, then its bytes; several may follow one another.

Source: NEP 1 and numpy/lib/_format_impl.py. `np.save` into an open file appends, so a file of many arrays is legal;
anything else behind the last array is not. The header is read as a literal, never evaluated. An object dtype is
followed by a pickle, which is walked and not loaded. There is no checksum.
"""

import re

from verikit.probes.formats.layout import Broken, elements
from verikit.probes.place import CannotSee

MAGIC = b"\x93NUMPY"
HEADER_LIMIT = 1 << 18  # numpy reads 10,000 unless told more
PICKLE_LIMIT = 16 << 20  # bytes of a pickled object array that are walked
LONG_INT = re.compile(r"(?<=\d)L(?=\s*[,)\]])")  # Python 2 wrote (3L, 4L)
FIELDS = 1 << 13
PLAIN = re.compile(r"[<>|=]?([biufcSaUVMmO?])(\d{0,9})(?:\[[\w/]{1,16}\])?$")
DTYPES = {
    "b1": "bool", "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "u1": "uint8", "u2": "uint16",
    "u4": "uint32", "u8": "uint64", "f2": "float16", "f4": "float32", "f8": "float64", "c8": "complex64",
    "c16": "complex128",
}  # fmt: skip
# What numpy's own `dtype` takes beside what its writer writes: names, and letters, which may have an order before them.
# Sizes that differ between platforms are those of 64-bit Linux and macOS. The names of numpy 1 are among them.
SPELLINGS = {
    "b1": "bool bool_ bool8", "i1": "b byte int8", "i2": "h short int16", "i4": "i intc int32",
    "i8": "l q p n int int_ long longlong intp int64", "u1": "B ubyte uint8", "u2": "H ushort uint16",
    "u4": "I uintc uint32", "u8": "L Q P N uint ulong ulonglong uintp uint64", "f2": "e half float16",
    "f4": "f single float32", "f8": "d double float float_ float64", "f16": "g longdouble longfloat float128",
    "c8": "F csingle singlecomplex complex64", "c16": "D cdouble cfloat complex complex_ complex128",
    "c32": "G clongdouble clongfloat longcomplex complex256", "S1": "c", "S": "bytes bytes_ string_",
    "U": "str str_ unicode unicode_", "V": "void", "O": "object object_", "M8": "datetime64", "m8": "timedelta64",
}  # fmt: skip
_CODES = {name: code for code, names in SPELLINGS.items() for name in names.split()}


def structure(file, layout):
    """The arrays, one after another, to the end of the file."""
    offset = 0
    while offset < file.size or not offset:
        name = "" if not offset else "[%d]" % len(layout.tensors)
        if offset and file.at(offset, 6) != MAGIC:
            layout.fault("trailing", "{:,} bytes follow the last array".format(file.size - offset), offset)
            return
        array = header(_head(file, offset), offset)
        begin = offset + array.length
        if array.objects:
            offset = _pickle(file, begin, layout)
            layout.tensor(name, "object", array.shape, None, 0)
        else:
            offset = begin + array.nbytes
            layout.tensor(name, array.dtype, array.shape, begin, array.nbytes)
            if array.strides:
                layout.strides[name] = array.strides
        if array.big:
            layout.byteorder = "big"
        layout.orders[name] = "big" if array.big else "little"
        if offset > file.size:
            layout.shortfall(offset, "the array %s%s is cut" % (array.dtype, list(array.shape)))
            return
        if len(layout.tensors) > 1000000:
            raise CannotSee("bound_reached", "more than 1,000,000 arrays in one file", offset)


def _head(file, offset):
    """The first bytes of an array: 64 KiB, or what its header says that it needs."""
    data = file.at(offset, 1 << 16)
    size = int.from_bytes(data[8:12] if data[6:7] > b"\1" else data[8:10], "little")
    return file.at(offset, size + 12) if len(data) < size <= HEADER_LIMIT else data


def _pickle(file, offset, layout):
    """The offset after the pickle of an object array."""
    from verikit.probes.formats import pickle_walk

    data = file.at(offset, min(file.size - offset, PICKLE_LIMIT))
    return offset + pickle_walk.walk(data, layout, "the object array at %d" % offset).end


class Array:
    """What one header says. `length`: bytes of the header; `nbytes`: of the elements; `objects`: they are pickled.

    `strides`, in elements: of an array in Fortran's order, the first axis being the fastest; None in C's.
    """

    def __init__(self, length, dtype, itemsize, shape, objects, big, fortran):
        self.length, self.dtype, self.shape, self.objects, self.big = length, dtype, shape, objects, big
        self.nbytes = itemsize * elements(shape)
        self.strides = (
            tuple(elements(shape[:axis]) for axis in range(len(shape))) if fortran and len(shape) > 1 else None
        )


def header(data, where=0):
    """The `Array` that these first bytes describe; `Broken` if they describe none."""
    if data[:6] != MAGIC:
        raise Broken("bad_header", "no NPY magic", where)
    if len(data) < 10:
        raise Broken("truncated", "it ends inside its header", where)
    wide = {1: 2, 2: 4, 3: 4}.get(data[6])
    if wide is None or data[7]:
        raise Broken("bad_header", "no NPY version: %d.%d" % (data[6], data[7]), where + 6)
    size = int.from_bytes(data[8 : 8 + wide], "little")
    if size > HEADER_LIMIT:
        raise Broken("bad_header", "the header claims {:,} bytes".format(size), where + 8)
    raw = data[8 + wide : 8 + wide + size]
    if len(raw) < size:
        raise Broken("truncated", "it ends inside its header", where)
    text = raw.decode("utf-8" if data[6] == 3 else "latin-1", "replace")
    described = _literal(text if data[6] == 3 else LONG_INT.sub("", text), where)
    shape = described["shape"]
    itemsize, objects = _itemsize(described["descr"], where)
    if itemsize * elements(shape) >= 1 << 63:
        raise Broken("bad_size", "an array of %s has more bytes than 63 bits count" % (list(shape),), where)
    descr = described["descr"]
    return Array(8 + wide + size, _dtype(descr), itemsize, shape, objects, _big(descr), described["fortran_order"])


def _literal(text, where):
    import ast

    try:
        found = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise Broken("bad_header", "the header is no literal: %.80r" % text, where) from None
    if type(found) is not dict or set(found) != {"descr", "fortran_order", "shape"}:
        raise Broken("bad_header", "the header has not just descr, fortran_order and shape", where)
    shape = found["shape"]
    if type(shape) is not tuple or not all(type(axis) is int and axis >= 0 for axis in shape) or len(shape) > 64:
        raise Broken("bad_header", "no shape: %.80r" % (shape,), where)
    if type(found["fortran_order"]) is not bool:
        raise Broken("bad_header", "fortran_order is no truth value: %.40r" % (found["fortran_order"],), where)
    return found


def _itemsize(descr, where, left=None):
    """(bytes of one element, whether objects are in it) of a dtype as numpy writes it."""
    left = [FIELDS] if left is None else left
    left[0] -= 1
    if left[0] < 0:
        raise Broken("bad_header", "a dtype of more than %d fields" % FIELDS, where)
    if type(descr) is str:
        match = PLAIN.match(_written(descr))
        if not match:
            raise Broken("bad_header", "no dtype: %.80r" % descr, where)
        kind, digits = match.groups()
        size = int(digits) if digits else 0
        if kind == "O":
            return 8, True
        if kind in "Mm":
            size = 8
        elif kind in "biufc" and kind + digits not in DTYPES and digits not in ("12", "16", "24", "32"):  # long doubles
            raise Broken("bad_header", "no dtype: %.80r" % descr, where)
        return (1 if kind == "?" else size * 4 if kind == "U" else size), False
    if type(descr) is tuple and len(descr) == 2:  # a dtype with a shape of its own
        return _times(_itemsize(descr[0], where, left), descr[1], where)
    if type(descr) is list:
        total, objects = 0, False
        for field in descr:
            if type(field) is not tuple or len(field) not in (2, 3):
                raise Broken("bad_header", "no field of a dtype: %.80r" % (field,), where)
            size, inner = _itemsize(field[1], where, left)
            size, _ = _times((size, inner), field[2] if len(field) == 3 else (), where)
            total, objects = total + size, objects or inner
        return total, objects
    raise Broken("bad_header", "no dtype: %.80r" % (descr,), where)


def _times(item, shape, where):
    shape = (shape,) if type(shape) is int else shape
    if type(shape) is not tuple or not all(type(axis) is int and axis >= 0 for axis in shape):
        raise Broken("bad_header", "no shape in a dtype: %.80r" % (shape,), where)
    return item[0] * elements(shape), item[1]


def _written(descr):
    """A dtype as numpy writes it, of one that it takes under another name: `<d`, `double` and `float64` are `f8`."""
    mark = descr[:1] if descr.startswith(("<", ">", "|", "=")) else ""
    name, bracket, unit = descr[len(mark) :].partition("[")
    code = _CODES.get(name)
    if code is None or (mark and len(name) > 1) or (bracket and code not in ("M8", "m8")):
        return descr
    return mark + code + bracket + unit


def _dtype(descr):
    """Torch's name where it has one; numpy's otherwise (`V2` is how numpy writes the bfloat16 of ml_dtypes)."""
    if type(descr) is not str:
        return "structured"
    descr = _written(descr)
    return DTYPES.get(descr.lstrip("<>|="), "bool" if descr.lstrip("<>|=") == "?" else descr.lstrip("<>|="))


def _big(descr):
    return descr[:1] == ">" if type(descr) is str else type(descr) is list and any(_big(field[1]) for field in descr)
