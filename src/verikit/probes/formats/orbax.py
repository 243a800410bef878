"""Orbax: a folder with `_CHECKPOINT_METADATA` and one item or several, each a tree of arrays in OCDBT or in zarr folders.

Source: orbax-checkpoint (`CheckpointMetadata`, `_METADATA` of the PyTree handler) and its pages on finalization. A save
writes into `NAME.orbax-checkpoint-tmp…` and renames it at the end. Arrays are zarr (version 2 or 3): a description, and
a value for each chunk. With OCDBT (see `ocdbt`) these are keys of a store; without, files: `NAME/.zarray`, `NAME/0.0`.
"""

import itertools
import math
import os
import re

from verikit.probes.formats import folders, ocdbt, signs, zarr_chunk
from verikit.probes.formats.layout import Broken, elements
from verikit.probes.place import CannotSee

TEMPORARY = re.compile(r"\.orbax-checkpoint-tmp(?:-\d+)?$")
CHUNKS = 1 << 20
KNOWN = ("PyTreeCheckpointHandler", "StandardCheckpointHandler", "JsonCheckpointHandler", "ArrayCheckpointHandler")
DTYPES = {"f2": "float16", "f4": "float32", "f8": "float64", "c8": "complex64", "c16": "complex128", "b1": "bool"}
DTYPES.update(
    ("%s%d" % (kind, bits // 8), name + str(bits))
    for kind, name in (("i", "int"), ("u", "uint"))
    for bits in (8, 16, 32, 64)
)


def structure(place, folder, names, layout):
    """It was committed, its items are there, and every array has all its chunks."""
    name = os.path.basename(os.path.normpath(folder))
    if TEMPORARY.search(name):
        layout.fault("temporary", "%s was not committed: the save died, or goes on" % name)
    folders.files(place, folder, names, layout)  # of others, who may have put a pickle there
    items = _items(place, folder, names, layout)
    for item in items:
        path = os.path.join(folder, item) if item else folder
        inner = place.listdir(path) if item else names
        prefix = item + "/" if item else ""
        if item:
            folders.unfinished(inner, layout, prefix)
            folders.files(place, folder, inner, layout, prefix)
        _beside(place, path, inner, prefix, layout)
        if "manifest.ocdbt" in inner:
            _store(place, path, prefix, layout)
            _tree(place, path, inner, prefix, layout)
        elif "_METADATA" in inner:
            _folders(place, path, prefix, layout)
            _tree(place, path, inner, prefix, layout)
        elif "metadata" in inner:  # of the handler for JSON
            layout.tree[item] = "JSON"
            json_of = folders.said_in(place, path, "metadata", folders.TEXT_LIMIT)
            ocdbt.parsed(json_of, prefix + "metadata")
        elif any(word in layout.notes.get("handlers", {}).get(item, "") for word in KNOWN):
            layout.fault("missing", "the item %r holds nothing of what its handler writes" % item)
        else:
            layout.warn("unchecked", "the item %r is of a kind that is not known here" % item)
    if not layout.tensors and not layout.tree:
        layout.fault("missing", "no item holds arrays")


def _items(place, folder, names, layout):
    """The folders of the items; `""` where the checkpoint is one item itself."""
    if "_CHECKPOINT_METADATA" not in names:
        if "_METADATA" in names or "manifest.ocdbt" in names:
            if not _above(place, folder):
                what = "no _CHECKPOINT_METADATA, here or one folder up: lost, or left away by an Orbax of before 2024"
                layout.warn("missing", what)
            return [""]  # an item by itself, or one of an older Orbax
        raise Broken("missing", "_CHECKPOINT_METADATA is missing")
    metadata = folders.json_of(place, folder, "_CHECKPOINT_METADATA")
    if "commit_timestamp_nsecs" in metadata and not metadata["commit_timestamp_nsecs"]:
        layout.fault("temporary", "_CHECKPOINT_METADATA says when it was begun, but not that it was committed")
    handlers = metadata.get("item_handlers")
    if not isinstance(handlers, dict):
        return [""]
    layout.notes["handlers"] = {item: str(handler)[-80:] for item, handler in list(handlers.items())[:64]}
    for item in sorted(handlers):
        if item not in names:
            layout.fault("missing", "the item %.100r is missing" % item)
    return sorted(item for item in handlers if item in names)


def _beside(place, path, names, prefix, layout):
    """The small JSON files that go with the arrays: how they were spread over devices, and what each process wrote."""
    for name in names:
        if name == "_sharding":
            layout.member(prefix + name, module="json_file")
        elif name == "array_metadatas" and folders.is_folder(place, path, name):
            inner = place.listdir(os.path.join(path, name))
            folders.unfinished(inner, layout, "%s%s/" % (prefix, name))
            for each in inner:
                if each.startswith("process_") and not each.lower().endswith(signs.UNFINISHED):
                    layout.member("%s%s/%s" % (prefix, name, each), module="json_file")


def _above(place, folder):
    """Whether the folder above is the checkpoint that this item belongs to."""
    try:
        place.stat(os.path.join(folder, os.pardir, "_CHECKPOINT_METADATA"))
    except OSError:
        return False
    return True


def _tree(place, path, names, prefix, layout):
    """Top-level keys by `_METADATA`, each array of which must be stored."""
    if "_METADATA" not in names:
        layout.fault("missing", "%s_METADATA is missing" % prefix)
        return
    told = folders.json_of(place, path, "_METADATA").get("tree_metadata")
    stored = {row.name for row in layout.tensors}
    for entry in told.values() if isinstance(told, dict) else ():
        keys = [str(key.get("key")) for key in entry.get("key_metadata") or ()]
        kind = (entry.get("value_metadata") or {}).get("value_type")
        if keys:
            layout.tree.setdefault(prefix + keys[0], str(kind) if len(keys) == 1 else "mapping")
        if (
            kind in ("jax.Array", "np.ndarray", "scalar")
            and keys
            and prefix + ".".join(keys) not in stored
            and not layout.unknowns
        ):
            layout.fault("missing", "the array %.100r is not stored" % ".".join(keys))


# In a store.


def _store(place, path, prefix, layout):
    try:
        _read_store(place, path, prefix, layout)
    except FileNotFoundError as error:
        raise Broken(
            "missing", "%s is missing" % (prefix + os.path.relpath(os.fsdecode(error.filename), path))
        ) from None


def _read_store(place, path, prefix, layout):
    reach = {}
    keys = ocdbt.read(place, path, lambda file, end: reach.__setitem__(file, max(end, reach.get(file, 0))))
    for file in sorted(reach):
        layout.member(prefix + file, least=reach[file], module="raw")
    described = {}
    for key, value in keys.items():
        name, _, last = os.fsdecode(key).rpartition("/")
        if last in (".zarray", "zarr.json"):
            described[name] = _value(place, path, value)
    texts = {os.fsdecode(key) for key in keys}
    for name, text in sorted(described.items()):
        _array(prefix + name.replace("/", "."), name, ocdbt.parsed(text, name), texts.__contains__, layout)


def _value(place, path, value):
    if isinstance(value, bytes):
        return value
    file, offset, length = value
    if length > 1 << 20:
        raise CannotSee("bound_reached", "the description of an array has %d bytes" % length)
    with place.steady(os.path.join(path, file)) as opened:
        opened.seek(offset)
        return opened.read(length)


# In folders.


def _folders(place, path, prefix, layout):
    if folders.json_of(place, path, "_METADATA").get("use_ocdbt"):
        raise Broken("missing", "%smanifest.ocdbt is missing" % prefix)
    for inner in place.listdir(path):
        where = os.path.join(path, inner)
        if not folders.is_folder(place, path, inner) or inner in ("array_metadatas", "d") or inner.startswith("ocdbt."):
            continue
        names = place.listdir(where)
        described = next((name for name in (".zarray", "zarr.json") if name in names), None)
        if described is None:
            layout.fault("missing", "the array %.100r has no description (.zarray)" % inner)
            continue
        value = folders.json_of(place, where, described)
        there = set(names)
        chunks = _array(
            prefix + inner,
            inner,
            value,
            lambda key, inner=inner, there=there: _exists(place, path, key, inner, there),
            layout,
        )
        how = _sensible(zarr_chunk.described, prefix + inner, value) if chunks else None
        for key in chunks:
            layout.member(prefix + key, module="zarr_chunk", parts=how)


def _exists(place, path, key, inner, there):
    rest = key[len(inner) + 1 :]
    if "/" not in rest:
        return rest in there
    try:
        place.stat(os.path.join(path, key))
    except OSError:
        return False
    return True


# One array.


def _array(name, key, value, there, layout):
    """Tells the array, and which of its chunks are missing; the keys of those that are there."""
    shape, dtype, key_of, grid = _sensible(_of_version, name, value, key)
    bits = re.search(r"\d+$", dtype.split("_")[0].replace("e4m3fn", "").replace("bool", "bool8"))
    nbytes = elements(shape) * (int(bits.group()) if bits else 0) // 8
    layout.tensor(name, dtype, shape, None, nbytes)
    if math.prod(grid) > CHUNKS:
        layout.unseen("bound_reached", "the array %.100r has more than %d chunks" % (name, CHUNKS))
        return []
    keys = [key_of(index) for index in itertools.product(*map(range, grid))] if elements(shape) else []
    lost = [each for each in keys if not there(each)]
    if lost:
        layout.fault(
            "missing",
            "%d of the %d chunks of %.100r are missing, such as %.100s" % (len(lost), len(keys), name, lost[0]),
        )
    return [each for each in keys if each not in set(lost)]


def _sensible(read, name, *args):
    """What a function reads from the description of an array; `Broken` where that is not what it must be."""
    try:
        return read(*args)
    except (KeyError, IndexError, TypeError, AttributeError, ZeroDivisionError, ValueError):
        raise Broken("bad_header", "the description of the array %.100r makes no sense" % name) from None


def _of_version(value, key):
    """(shape, dtype, the key of each chunk by its index, chunks along each axis)."""
    shape, chunk, dtype, key_of = (_version2 if value.get("zarr_format") == 2 else _version3)(value, key)
    return shape, dtype, key_of, [-(-length // size) for length, size in zip(shape, chunk)]


def _version2(value, key):
    mark = value.get("dimension_separator", ".")
    dtype = value["dtype"]
    plain = DTYPES.get(dtype.lstrip("<>|"), dtype)
    return value["shape"], value["chunks"], plain, lambda index: key + "/" + (mark.join(map(str, index)) or "0")


def _version3(value, key):
    chunk = value["chunk_grid"]["configuration"]["chunk_shape"]
    encoding = value.get("chunk_key_encoding") or {}
    mark = (encoding.get("configuration") or {}).get("separator", "/")
    dtype = value["data_type"]
    dtype = str(dtype["name"] if type(dtype) is dict else dtype)
    return value["shape"], chunk, dtype, lambda index: key + "/" + mark.join(["c", *map(str, index)])
