"""Tensors in what `torch.save` pickles: storages by their persistent ids, tensors by the calls that would rebuild them.

Source: torch/serialization.py (persistent ids), torch/_utils.py (the rebuilders), torch/_tensor.py (`__reduce_ex__`).
A tensor is a view: a storage, an offset, sizes and strides in elements.  It must lie within its storage, and a storage
must have one size however often it is named.
"""

from collections import namedtuple

from verikit.probes.formats import numpy_pickle
from verikit.probes.formats.layout import BITS as COMMON
from verikit.probes.formats.layout import SHARED, Broken
from verikit.probes.formats.pickle_walk import SMALL, Call, Global, Long, Persistent
from verikit.probes.place import CannotSee

LONG_NAME = 1000
"""Letters that the name of what lies deep may have before its last part."""

View = namedtuple("View", "key form")
"""What a rebuilder would give: a `Form`, over the storage of that key; None: a tensor without data (meta)."""

Form = namedtuple("Form", "dtype shape strides offset storage reach dense negated")
"""What tensors of a kind have in common, kept once for all of them: sizes, strides and offset in elements, the `Storage`.

`reach`: the elements from the first to the last that it touches, None where its numbers make no sense; `dense`: whether
these are all its elements, in order; `negated`: whether it is a negative view, whose values are its memory's turned round.
"""

Storage = namedtuple("Storage", "dtype nbytes location view")
"""A storage as a whole. view: (first element, elements) of the part of it that is meant; () where the whole is, in the older
format, whose ids have six items; None in ZIP files, whose ids have five."""

FIVE, SIX = 5, 6
"""Items of a persistent id in a ZIP file, and in the older format."""

# Bits without a meaning of their own, and integers of fewer bits than a byte: each element takes one, but for bits16.
BITS = dict(COMMON, bits16=16, **dict.fromkeys(("bits8", "bits1x8", "bits2x4", "bits4x2", "bit"), 8))
BITS.update(("%sint%d" % (sign, bits), 8) for sign in ("", "u") for bits in range(1, 8))

# torch.FloatStorage, torch.cuda.FloatStorage: the element types of typed storages.
TYPED = {
    "Double": "float64", "Float": "float32", "Half": "float16", "BFloat16": "bfloat16", "Long": "int64", "Int": "int32",
    "Short": "int16", "Char": "int8", "Byte": "uint8", "Bool": "bool", "ComplexDouble": "complex128",
    "ComplexFloat": "complex64", "QInt8": "qint8", "QUInt8": "quint8", "QInt32": "qint32", "QUInt4x2": "quint4x2",
    "QUInt2x4": "quint2x4", "Untyped": "uint8",
}  # fmt: skip

PACKED = {"quint4x2": 2, "quint2x4": 4}
"""Elements to a byte of the quantized types that count them so in shapes, not in storages."""

REUSED = 100000
"""Times that containers of tensors are entered again: a nest of lists that hold each other has names without end."""

NESTED = 64
"""How deep a name may go: `model.layers.0.…`; what lies deeper has no tensors that people name."""


def storage_of(item):
    """(key, `Storage`) that a persistent id names: ("storage", type, key, location, elements, …)."""
    if item.storage is None:
        item.storage, item.id = storage_named(item.id), None
    return item.storage


def storage_named(pid):
    """The same, by the id alone: five items, six in the older format, which says of what a storage is a view."""
    if type(pid) is not tuple or len(pid) not in (5, 6) or pid[0] != "storage" or type(pid[1]) is not Global:
        raise Broken("bad_pickle", "a persistent id that names no storage")
    kind = pid[1].attribute
    dtype = TYPED.get(kind[:-7]) if kind.endswith("Storage") else None
    if dtype is None or type(pid[2]) not in (str, int) or type(pid[4]) is not int or pid[4] < 0:
        raise Broken("bad_pickle", "a storage of an unknown kind, %s" % pid[1].name)
    view = None if len(pid) == FIVE else _part(pid[5])
    return str(pid[2]), _once(Storage(dtype, pid[4] * (BITS[dtype] // 8), str(pid[3])[:32], view))


def _part(view):
    """What is said of a view: (key, first element, elements) as (first element, elements); () for None."""
    if view is None:
        return ()
    if type(view) is not tuple or len(view) != 3 or not all(type(number) is int and number >= 0 for number in view[1:]):
        raise Broken("bad_pickle", "a view of a storage without offset and size")
    return view[1:]


def _end(storage):
    """The byte of a storage at which the part ends that is meant."""
    return sum(storage.view) * BITS[storage.dtype] // 8 if storage.view else storage.nbytes


def storages_of(walk, layout, items=None):
    """{key: Storage} of every storage that the pickle names; items: how many an id of one has in this format, if told."""
    storages = {}
    for item in walk.persistent:
        if type(item) is View:
            key, storage = item.key, item.form.storage
        elif _module_class(item.id):
            continue
        else:
            key, storage = storage_of(item)
        if items is not None and items != (FIVE if storage.view is None else SIX):
            what = "storage %s has an id of %d items, of which torch takes just %d here"
            raise Broken("bad_pickle", what % (key, FIVE + SIX - items, items))
        if _end(storage) > storage.nbytes:
            what = "a view of storage {} reaches to byte {:,} of {:,}"
            layout.fault("bad_size", what.format(key, _end(storage), storage.nbytes))
        known = storages.setdefault(key, storage)
        if known.nbytes != storage.nbytes:
            what = "storage {} has {:,} bytes in one place of the pickle and {:,} in another"
            layout.fault("mismatch", what.format(key, known.nbytes, storage.nbytes))
    return storages


_KNOWN = {}


def _once(item):
    """The item, or its like that was met before: most storages, and most views, differ from others in their key alone."""
    if len(_KNOWN) >= SHARED:
        _KNOWN.clear()
    return _KNOWN.setdefault(item, item)


def _module_class(pid):
    """Whether it names a class with its source, ("module", class, file, source), as the older format keeps modules."""
    return type(pid) is tuple and len(pid) == 4 and pid[0] == "module" and type(pid[1]) is Global


def tell(root, layout, place_of, origin=None):
    """Tells `layout` the tree of top-level keys and every tensor; `place_of(key)` says where a storage's bytes are.

    It gives their offset, the name of the record that unpacks to them, or None.  origin: where the pickle begins in the
    file, None: nowhere, as it is packed.
    """
    layout.root = root
    if type(root) is dict:
        for key, value in root.items():
            if len(layout.tree) >= 256:
                layout.more["tree"] = len(root) - 256
                break
            layout.tree[_word(key)] = describe(value)
    else:
        layout.notes["root"] = describe(root)
    for under, name, view in named_views(root):
        _tell_one(under, name, view, layout, place_of)
    if layout.more.get("globals") or not numpy_pickle.MAKERS.isdisjoint(layout.globals):
        layout.arrays += [array._replace(origin=origin) for array in arrays(root)]


def arrays(root):
    """numpy's arrays under the root, each once, by a name of its own: `numpy_pickle.Array`."""
    seen, path = set(), [("", iter([("", root)]))]
    while path:
        under, parts = path[-1]
        for key, item in parts:
            array = numpy_pickle.array(item)
            if array is not None:
                yield array._replace(name=(under + _word(key))[: 2 * LONG_NAME])
            elif type(item) in _ENTERED and id(item) not in seen and not _holds_nothing(item):
                seen.add(id(item))
                name = under + _word(key)[:LONG_NAME]
                path.append(((name + "." if name else "")[:LONG_NAME], _parts(item)))
                break
        else:
            path.pop()


def _tell_one(under, name, view, layout, place_of):
    dtype, shape, strides, offset, storage, reach, dense, negated = view.form
    if reach is None:
        layout.fault("bad_size", "tensor %r has sizes or strides that make no sense" % (under + name))
        return
    width = BITS[dtype] // 8
    if storage is None:
        layout.notes["meta"] = layout.notes.get("meta", 0) + 1
        layout.tensors.add(under, name, dtype, shape, None, reach * width)
        return
    if (offset + reach) * width > min(_end(storage), storage.nbytes):
        what = "tensor {!r} reaches to byte {:,} of a storage of {:,}"
        layout.fault("bad_size", what.format(under + name, (offset + reach) * width, _end(storage)))
    start = place_of(view.key)
    if not dense:
        layout.strides[under + name] = strides
    if negated:
        layout.negated.add(under + name)
    if type(start) is str:
        layout.packed[under + name] = start, offset * width
        start = None
    elif start is not None:
        start += offset * width
    layout.tensors.add(under, name, dtype, shape, start, reach * width)


def view_of(dtype, shape, strides, storage, offset, negated=False):
    """The view; storage: as `storage_of` gives it, or (None, None)."""
    reach, dense = _reach(shape, strides, offset)
    if reach is not None:
        reach = -(-reach // PACKED.get(dtype, 1))
    key, storage = storage
    if storage is not None and storage.view:
        offset += storage.view[0] * BITS[storage.dtype] // BITS[dtype]
    return View(key, _once(Form(dtype, _once(shape), _once(strides), offset, storage, reach, dense, negated)))


def _reach(shape, strides, offset):
    """(elements from the first to the last that a view touches, whether it is dense and in order)."""
    if len(shape) != len(strides) or offset < 0 or min(shape + strides, default=0) < 0:
        return None, False
    if 0 in shape:
        return 0, True
    last, dense, wanted = 0, True, 1
    for length, stride in zip(reversed(shape), reversed(strides)):
        last += (length - 1) * stride
        dense = dense and (stride == wanted or length == 1)
        wanted *= length
    return last + 1, dense


def named_views(root):
    """(what the name begins with, the rest of the name, View) of each tensor under the root; names are joined by dots,
    as state dicts do.

    A tensor is told under each of its names: tied weights, and those of a container that is used twice. One that holds no
    tensors is entered once, and none from within itself.
    """
    seen, bearing, again, todo = set(), set(), [0], [("", iter([("", root)]), None)]
    while todo:
        under, parts, here = todo[-1]
        for key, item in parts:
            views = [("", item)] if type(item) is View else _views(item)
            for suffix, view in views or ():
                yield under, _word(key) + suffix, view
                bearing.add(here)
            if views is None and type(item) in _ENTERED and len(todo) <= NESTED + 1 and not _holds_nothing(item):
                if id(item) in seen and not _enters_again(item, bearing, todo, again):
                    continue
                seen.add(id(item))
                name = under + _word(key)
                todo.append((name + "." if name else "", _parts(item), id(item)))
                break
        else:
            if todo.pop()[2] in bearing and todo:
                bearing.add(todo[-1][2])


def _enters_again(item, bearing, todo, again):
    """Whether a container that was entered before is entered once more: for its tensors, and not from within itself."""
    if id(item) not in bearing or any(here == id(item) for _, _, here in todo):
        return False
    again[0] += 1
    if again[0] > REUSED:
        raise CannotSee("bound_reached", "containers of tensors are used again more than {:,} times".format(REUSED))
    return True


_ENTERED = frozenset((dict, list, tuple, Call))
_BEARING = _ENTERED | {View, Persistent}


def _holds_nothing(item):
    """Whether a container is a small one of plain values: most are, and need be neither entered nor remembered."""
    if type(item) is Call:
        return item.state is None and item.items is None and type(item.args) is tuple and _holds_nothing(item.args)
    return len(item) <= SMALL and not any(
        type(part) in _BEARING for part in (item.values() if type(item) is dict else item)
    )


def _views(item):
    """[(suffix of the name, View)] of what a call or a bare storage stands for; None for what is no tensor."""
    if type(item) is Call:
        return rebuilt(item)
    if type(item) is Persistent and (
        item.storage is not None or (type(item.id) is tuple and not _module_class(item.id))
    ):
        key, storage = storage_of(item)
        count = storage.view[1] if storage.view else storage.nbytes * 8 // BITS[storage.dtype]
        return [("", view_of(storage.dtype, (count,), (1,), (key, storage), 0))]
    return None


def _parts(item):
    """What lies directly in a container, in turn: (key or index, value)."""
    if type(item) is dict:
        return iter(item.items())
    if type(item) is not Call:
        return enumerate(item)
    parts = []
    for beneath in (item.args, item.state, item.items):
        if type(beneath) is tuple and beneath is item.state and len(beneath) == 2:
            parts += [pair for half in beneath if type(half) is dict for pair in half.items()]
        elif type(beneath) is dict:
            parts += list(beneath.items())
        elif type(beneath) in (list, tuple):
            pairs = beneath is item.items and all(type(pair) is tuple and len(pair) == 2 for pair in beneath)
            parts += list(beneath) if pairs else list(enumerate(beneath))
    return iter(parts)


def _word(key):
    return key if type(key) is str else str(key)[:200] if type(key) in (int, float, bool, tuple) else "?"


def describe(item):
    """A value in a few words: `mapping of 391`, `float32[3, 4]`, `20000`, `'adamw'`, `[3, 31, 59]`."""
    kind = type(item)
    if (
        kind in (list, tuple)
        and 0 < len(item) <= 16
        and all(type(each) is int and abs(each) < 1 << 64 for each in item)
    ):
        return repr(list(item))  # layer ids and the like: few, and asked for
    if kind in (dict, list, tuple):
        return "%s of %d" % ({dict: "mapping", list: "list", tuple: "tuple"}[kind], len(item))
    if kind in (int, float, bool, type(None)) or (kind is str and len(item) <= 80):
        return repr(item) if kind is not int or abs(item) < 1 << 64 else "a long number"
    if kind is View or kind is Call:
        views = rebuilt(item)
        if views:
            form = views[0][1].form
            return "%s%s" % (form.dtype, list(form.shape))
        return item.name
    if kind is Long:
        return "%s of %d bytes" % (item.kind, item.nbytes)
    return item.name if kind is Global else "a storage" if kind is Persistent else kind.__name__


# The rebuilders.


def rebuilt(call):
    """[(suffix of the name, View)] of what a call would give; None where it would give no tensor."""
    if type(call) is View:
        return [("", call)]
    if type(call) is not Call or type(call.args) is not tuple:
        return None
    rebuild = _REBUILD.get(call.name)
    if rebuild is None:
        return None
    try:
        return rebuild(call.args)
    except (IndexError, TypeError, ValueError, AttributeError, KeyError):
        raise Broken("bad_pickle", "%s with arguments that it does not take" % call.name) from None


def _storage(item):
    if type(item) is not Persistent:
        raise TypeError
    return storage_of(item)


_WHOLE = frozenset((int,))


def _ints(items):
    if type(items) is Call and items.name == "torch.Size":
        items = items.args[0]
    if type(items) not in (tuple, list) or not _WHOLE.issuperset(map(type, items)):
        raise TypeError
    return tuple(items)


def _offset(item):
    if type(item) is not int:
        raise TypeError
    return item


def _plain(args):
    storage = _storage(args[0])
    said = args[6] if len(args) > 6 else None  # what torch says of a tensor beside its memory
    negated = type(said) is dict and bool(said.get("neg"))
    return [("", view_of(storage[1].dtype, _ints(args[2]), _ints(args[3]), storage, _offset(args[1]), negated))]


def _with_dtype(args):
    # _rebuild_tensor_v3: element types that have no storage class of their own.
    return [("", view_of(_dtype(args[6]), _ints(args[2]), _ints(args[3]), _storage(args[0]), _offset(args[1])))]


def _dtype(item):
    if type(item) is not Global or item.module != "torch":
        raise TypeError
    if item.attribute not in BITS:
        raise CannotSee("unsupported", "torch.%s is no dtype that is known here" % item.attribute)
    return item.attribute


def _first(args):
    views = rebuilt(args[0])
    if views is None:
        raise TypeError
    return views


def _by_type(args):
    # _rebuild_from_type_v2(function, type, args, state)
    return rebuilt(Call(args[0], args[2]))


def _sparse(args):
    # (layout, (indices, values, size, …)) for COO, (…, (compressed, plain, values, size)) for the others
    parts = [(".%d" % at, part) for at, part in enumerate(args[1]) if rebuilt(part)]
    return [(suffix + inner, view) for suffix, part in parts for inner, view in rebuilt(part)]


def _nested(args):
    return [(".%d" % at + inner, view) for at, part in enumerate(args) for inner, view in rebuilt(part) or ()]


def _meta(args):
    return [("", view_of(_dtype(args[0]), _ints(args[1]), _ints(args[2]), (None, None), 0))]


_REBUILD = {
    "torch._utils._rebuild_tensor": _plain,
    "torch._utils._rebuild_tensor_v2": _plain,
    "torch._utils._rebuild_tensor_v3": _with_dtype,
    "torch._utils._rebuild_qtensor": _plain,
    "torch._utils._rebuild_parameter": _first,
    "torch._utils._rebuild_parameter_with_state": _first,
    "torch._utils._rebuild_device_tensor_from_cpu_tensor": _first,
    "torch.nn.parameter.Parameter": _first,
    "torch._tensor._rebuild_from_type_v2": _by_type,
    "torch._tensor._rebuild_from_type": _by_type,
    "torch._utils._rebuild_sparse_tensor": _sparse,
    "torch._utils._rebuild_sparse_csr_tensor": _sparse,
    "torch._utils._rebuild_nested_tensor": _nested,
    "torch._utils._rebuild_meta_tensor_no_storage": _meta,
}


def _built(args):
    """The `View` in place of a call of _rebuild_tensor_v2; None, and so the call itself, where its arguments are odd."""
    try:
        if type(args) is type(args[2]) is type(args[3]) is tuple:  # else a torch.Size, perhaps
            return _plain(args)[0][1]
    except (Broken, IndexError, KeyError, TypeError, ValueError, AttributeError):
        pass
    return None


def _same(args):
    """The `View` that a parameter is made of."""
    return args[0] if type(args) is tuple and args and type(args[0]) is View else None


# How many arguments the rebuilders have had since each was first given out: torch 0.4 (_rebuild_tensor_v2, with metadata
# from 1.12 on), 1.1 (_rebuild_qtensor, of 8 until 1.3), 1.7 (_rebuild_from_type), 1.11 to 2.13. Source: torch/_utils.py,
# torch/_tensor.py.
ARGUMENTS = {
    "torch._utils._rebuild_tensor": (4, 4),
    "torch._utils._rebuild_tensor_v2": (6, 7),
    "torch._utils._rebuild_tensor_v3": (7, 8),
    "torch._utils._rebuild_qtensor": (7, 8),
    "torch._utils._rebuild_parameter": (3, 3),
    "torch._utils._rebuild_parameter_with_state": (4, 4),
    "torch._utils._rebuild_sparse_tensor": (2, 2),
    "torch._utils._rebuild_sparse_csr_tensor": (2, 2),
    "torch._utils._rebuild_nested_tensor": (4, 4),
    "torch._utils._rebuild_meta_tensor_no_storage": (4, 4),
    "torch._utils._rebuild_wrapper_subclass": (8, 8),
    "torch._utils._rebuild_xla_tensor": (4, 4),
    "torch._utils._rebuild_device_tensor_from_numpy": (4, 4),
    "torch._utils._rebuild_device_tensor_from_cpu_tensor": (4, 4),
    "torch._tensor._rebuild_from_type": (4, 4),
    "torch._tensor._rebuild_from_type_v2": (4, 4),
}


def _counted(name, build):
    """`build`, or what gives no smaller form, for arguments as many as that rebuilder takes; others raise."""

    def counted(args):
        _count(name, args)
        if name.startswith("torch._tensor.") and type(args[0]) is Global:  # function, type, its arguments, state
            _count(args[0].name, args[2])
        return build(args) if build else None

    return counted


def _count(name, args):
    least, most = ARGUMENTS.get(name, (0, 1 << 30))
    if type(args) in (tuple, list) and not least <= len(args) <= most:
        what = "%s with %d arguments, of which it takes %s"
        raise ValueError(what % (name, len(args), least if least == most else "%d or %d" % (least, most)))


_SMALLER = {
    "torch._utils._rebuild_tensor_v2": _built,
    "torch._utils._rebuild_parameter": _same,
}
BUILD = {name: _counted(name, _SMALLER.get(name)) for name in ARGUMENTS}
"""For `walk(…, build=BUILD)`: 10^5 tensors as views, not as calls with all their arguments; calls that can't be are refused."""
