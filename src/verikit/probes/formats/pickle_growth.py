"""How much a harmless call in a pickle would make of little: `list(range(10**12))`, `bytes(10**12)`, an array of 10^15.

A pickle of a hundred bytes may ask for more memory than there is, by names that every checkpoint has.  Nothing is made here:
the arguments, as the walk has them, say how many values or bytes there would be.
"""

import re

EXPONENT = re.compile(r"[eE]\+?(\d{1,18})")
ITEM = re.compile(r"[<>=|]?[A-Za-z?](\d{1,12})")


def _size(item):
    """Values that an argument comes to when it is gone through: of a container those it holds, of a call what it would make."""
    if hasattr(item, "size"):
        return item.size
    return len(item) if type(item) in (list, tuple, dict, str, bytes) else 0


def _args(args):
    """The arguments one by one, those by name too: NEWOBJ_EX has (args, kwargs)."""
    if type(args) is not tuple:
        return (args,)
    if len(args) == 2 and type(args[0]) is tuple and type(args[1]) is dict:
        return args[0] + tuple(args[1].values())
    return args


def _held(args):
    return sum(map(_size, _args(args)))


def _range(args):
    numbers = [item for item in _args(args) if type(item) is int]
    if not 1 <= len(numbers) <= 3 or (len(numbers) == 3 and not numbers[2]):
        return 0
    whole = range(*numbers)  # which may have more than len() can tell
    step = whole.step
    return max(0, (whole.stop - whole.start + step - (1 if step > 0 else -1)) // step)


def _product(item):
    """The elements of a shape, or of a number by itself; 0 for what is none."""
    items = item if type(item) in (tuple, list) else (item,)
    total = 1
    for length in items[:64]:
        if type(length) is not int:
            return 0
        total *= max(0, length)
    return total


def _zeros(args):
    """bytes(n), or of what goes through values."""
    args = _args(args)
    return _product(args[0]) if len(args) == 1 and type(args[0]) is int else _held(args)


def _numbers(args):
    """Storages and tensors by their sizes."""
    return _product(_args(args)) if args else 0


def _array(shape_at):
    """numpy's arrays, by the argument that is the shape, and the dtype after it."""

    def size(args):
        args = _args(args)
        if len(args) <= shape_at:
            return 0
        return _product(args[shape_at]) * _item(args[shape_at + 1] if len(args) > shape_at + 1 else None)

    return size


def _item(dtype):
    """Bytes of an element, by the code of a dtype such as `V1000000`; at least 1."""
    code = dtype if type(dtype) in (str, bytes) else next(iter(_args(getattr(dtype, "args", ()))), "")
    text = code.decode("latin-1") if type(code) is bytes else code
    match = ITEM.match(text) if type(text) is str else None
    return max(1, int(match.group(1))) if match else 1


def _scalar(args):
    args = _args(args)
    return _item(args[0]) if len(args) == 1 else 0


def _digits(args):
    """Digits of a number that is told by its exponent, or made of another that was."""
    texts = [item for item in _args(args) if type(item) is str]
    told = [int(found) for text in texts for found in EXPONENT.findall(text[:1000])]
    return sum(told) + sum(item.size for item in _args(args) if hasattr(item, "size"))


def _whole(args):
    """int(text) takes the square of its length."""
    long = [len(item) ** 2 for item in _args(args) if type(item) is str and len(item) > 4000]
    return sum(long) + sum(item.size for item in _args(args) if hasattr(item, "size"))


def _makes():
    walked = "list tuple set frozenset dict"
    found = dict.fromkeys(["builtins." + name for name in walked.split()], _held)
    found.update(dict.fromkeys(["collections." + name for name in ("deque", "Counter", "OrderedDict")], _held))
    found.update({"torch.Size": _held, "copyreg._reconstructor": _held, "copyreg.__newobj__": _held})
    found.update({"builtins.bytes": _zeros, "builtins.bytearray": _zeros})
    found.update({"builtins.range": _range, "decimal.Decimal": _digits})
    found.update({"fractions.Fraction": _digits, "builtins.int": _whole})
    found.update({"numpy.ndarray": _array(0), "numpy.ma.core._mareconstruct": _array(2)})
    for core in ("numpy.core.multiarray.", "numpy._core.multiarray."):
        found.update({core + "_reconstruct": _array(1), core + "scalar": _scalar})
    return found


class _Makes(dict):
    """The table, with torch's storages and tensors of all types and devices."""

    def __contains__(self, name):
        return dict.__contains__(self, name) or (name.startswith("torch.") and name.endswith(("Storage", "Tensor")))

    def __missing__(self, name):
        return _numbers


MAKES = _Makes(_makes())
"""{dotted name: a function of the arguments}: values or bytes that a call would make."""

MAKES_LATER = frozenset(("builtins.range", "decimal.Decimal"))
"""Those of them that make nothing by themselves, but let others make it."""
