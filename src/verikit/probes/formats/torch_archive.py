"""torch's ZIP archives without a data.pkl: torch.export (`.pt2`) and torch.package, and numpy's where the name misleads.

Source: torch/export/pt2_archive (`_package.py`, `pt2_archive_constants.h`): `archive_format` is `pt2`; a
`…_weights_config.json` gives for each name the record of its bytes, dtype, sizes, strides; before torch 2.8 there were
`serialized_…` records instead. torch/package/package_exporter.py: pickles anywhere, their storages in
`.data/N.storage`, and Python sources, which the loader runs. Records may be files themselves (see `torch_records`).
"""

import json

from verikit.probes.formats import torch_records, torch_tensors
from verikit.probes.formats import zipfile_directory as zip_
from verikit.probes.formats.layout import BITS, Broken, Layout
from verikit.probes.formats.pickle_walk import walk

LIMIT = 64 << 20
CONFIGS = ("_weights_config.json", "_constants_config.json")
# What `load_pt2` reads for each model, in the forms that it has had; the second, third and fourth are for other runtimes.
BESIDE = (
    ("data/weights/{}_weights_config.json", "data/weights/{}_model_param_config.json", "data/weights/{}.pt",
     "xl_model_weights/model_param_config"),
    ("data/constants/{}_constants_config.json", "data/constants/{}_model_constants_config.json", "data/constants/{}.pt"),
    ("data/sample_inputs/{}.pt", "extra/{}.forward.sample_input.pt"),
    ("archive_version", "version"),
)  # fmt: skip
BESIDE_OLDER = (("serialized_state_dict.pt", "serialized_state_dict.json"),)
# torch/_export/serde/schema.py, ScalarType.
DTYPES = {
    1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "float16", 7: "float32", 8: "float64",
    9: "complex32", 10: "complex64", 11: "complex128", 12: "bool", 13: "bfloat16", 28: "uint16", 29: "float8_e4m3fn",
    30: "float8_e5m2", 31: "float8_e4m3fnuz", 32: "float8_e5m2fnuz", 33: "float8_e8m0fnu", 34: "uint32", 35: "uint64",
}  # fmt: skip


def kind(names):
    """What an archive of these records is: "torch.export", "torch.package", "npz", "empty", or None."""
    marks = {name.rpartition("/")[2] for name in names}
    if not names:
        return "empty"
    if "archive_format" in marks or "serialized_exported_program.json" in marks:
        return "torch.export"
    if any(name.endswith(".data/extern_modules") for name in names):
        return "torch.package"
    return "npz" if any(name.endswith(".npy") for name in names) else None


def structure(file, directory, what, crcs, layout):
    """Tensors by the configs or the pickles, each with a record that holds it; records that are files are examined."""
    layout.notes["archive"] = what
    unpickled, raw, walked = set(), set(), set()
    try:
        if what == "torch.export":
            _exported(file, directory, crcs, layout, unpickled, raw)
        else:
            walked.update(name for name in directory.by_name if name.endswith((".pkl", ".storage")))
            _packaged(file, directory, crcs, layout)
    finally:  # what would run is told of a broken archive too
        if not layout.notes.get("within"):  # what lies within a file within a file is nobody's
            torch_records.judge(file, directory, layout, unpickled, raw, walked, crcs)


# torch.export.


def _exported(file, directory, crcs, layout, unpickled, raw):
    """unpickled, raw: filled with the names of the records that a config says to be so."""
    for name in directory.by_name:
        if name.endswith(".json"):
            value = _json(file, directory, name, crcs)
            _payloads(name, value, unpickled, raw)
            if name.endswith(CONFIGS):
                _config(file, directory, name, value, layout)
    models = [name for name in directory.by_name if "/models/" in name or "/data/aotinductor/" in name]
    older = "serialized_exported_program.json" in directory.by_name
    if not models and not older:
        layout.fault("missing", "the archive holds no model (models/ or data/aotinductor/)")
    if older:
        _beside("serialized_exported_program.json", BESIDE_OLDER, directory, layout)
    for name in models:
        top, inner, model = name.partition("/models/")
        if inner and model.endswith(".json"):
            _beside(name, [_named(forms, top, model[: -len(".json")]) for forms in BESIDE], directory, layout)
    if any(name.endswith((".so", ".wrapper.so")) for name in models):
        layout.warn("compiled", "the archive holds compiled code (AOTInductor), which its loader runs")


def _named(forms, top, model):
    return ["%s/%s" % (top, form.replace("{}", model)) for form in forms]


def _beside(name, wanted, directory, layout):
    """What the loader asks for beside a model: of each, one of several forms."""
    for forms in wanted:
        if not any(form in directory.by_name for form in forms):
            layout.fault("missing", "%s is there, but no %s, which torch.export.load asks for" % (name, forms[0]))


def _json(file, directory, name, crcs):
    try:
        return json.loads(zip_.content(file, directory, name, LIMIT, crcs).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise Broken("bad_header", "%s is no JSON: %s" % (name, error)) from None


def _payloads(name, value, unpickled, raw):
    """Which records the rows of any form of config name, as objects and as bare elements."""
    rows = value.get("config") if type(value) is dict else None
    for row in rows.values() if type(rows) is dict else ():
        if type(row) is dict and type(row.get("path_name")) is str:
            path = "%s/%s" % (name.rpartition("/")[0], row["path_name"])
            (unpickled if row.get("use_pickle") or not row.get("tensor_meta") else raw).add(path)


def _config(file, directory, name, value, layout):
    """Each tensor of a config has its record, which reaches as far as sizes and strides do."""
    folder = name.rpartition("/")[0]
    rows = value.get("config") if type(value) is dict else None
    if type(rows) is not dict:
        raise Broken("bad_header", "%s has no config" % name)
    for tensor, row in rows.items():
        try:
            path, meta = "%s/%s" % (folder, row["path_name"]), row.get("tensor_meta")
            view = None if row.get("use_pickle") or not meta else _view(meta)
        except (KeyError, TypeError, AttributeError):
            raise Broken("bad_header", "%s makes no sense for %.100r" % (name, tensor)) from None
        at = directory.by_name.get(path)
        if at is None:
            layout.fault("missing", "the record %.100r of %.100r is missing" % (path, tensor))
        elif view is not None:
            _raw(file, directory, at, tensor, view, layout)


def _view(meta):
    """(dtype, shape, strides, offset in elements); None for sizes that are symbols."""
    sizes, strides = ([item.get("as_int") for item in meta[key]] for key in ("sizes", "strides"))
    offset = (meta.get("storage_offset") or {}).get("as_int", 0)
    whole = all(type(number) is int and number >= 0 for number in (*sizes, *strides, offset))
    return (DTYPES.get(meta["dtype"]), tuple(sizes), tuple(strides), offset) if whole else None


def _raw(file, directory, at, tensor, view, layout):
    dtype, shape, strides, offset = view
    entry, start = directory.entries[at], directory.starts[at]
    if dtype is None:
        layout.unseen("unsupported", "%.100r is of a dtype that is not in the table" % tensor)
        return
    reach = 0 if 0 in shape else 1 + sum((length - 1) * stride for length, stride in zip(shape, strides))
    width = BITS[dtype] // 8
    if (offset + reach) * width > entry.size:
        what = "tensor {!r} reaches to byte {:,} of a record of {:,}"
        layout.fault("bad_size", what.format(tensor, (offset + reach) * width, entry.size))
    place = file.base + start + offset * width if entry.method == zip_.STORED else None
    layout.tensor(tensor, dtype, shape, place, reach * width)


# torch.package.


def _packaged(file, directory, crcs, layout):
    named = set()
    for name in directory.by_name:
        if name.endswith(".pkl"):
            named |= _pickle(file, directory, name, crcs, layout)
        elif name.endswith(".py") and directory.entries[directory.by_name[name]].size:
            module = name.partition("/")[2].replace("/", ".")
            layout.globals.setdefault(module, {"use": "named", "where": name})
    for name in directory.by_name:
        if name.endswith(".storage") and name.rpartition("/")[2][: -len(".storage")] not in named:
            layout.fault("mismatch", "no tensor is in record %r" % name)


def _pickle(file, directory, name, crcs, layout):
    """The keys of the storages that a pickle names; each has its record."""
    inner = Layout(layout.path, file.size)
    data = zip_.content(file, directory, name, LIMIT, crcs)
    found = walk(data, inner, name, build=torch_tensors.BUILD)
    if found.end < len(data):
        layout.fault("trailing", "{:,} bytes follow the pickle in {}".format(len(data) - found.end, name))
    records = "%s/.data/" % name.partition("/")[0]
    storages = torch_tensors.storages_of(found, inner)
    for key, storage in storages.items():
        at = directory.by_name.get("%s%s.storage" % (records, key))
        if at is None:
            inner.fault("missing", "there is no record for storage %s" % key)
        elif directory.entries[at].size != storage.nbytes:
            what = "record {}.storage has {:,} bytes, the pickle says {:,}"
            inner.fault("bad_size", what.format(key, directory.entries[at].size, storage.nbytes))

    def place_of(key):
        at = directory.by_name.get("%s%s.storage" % (records, key))
        return None if at is None or directory.entries[at].method else file.base + directory.starts[at]

    own = directory.by_name[name]
    packed = directory.entries[own].method != zip_.STORED
    torch_tensors.tell(found.root, inner, place_of, None if packed else file.base + directory.starts[own])
    torch_records.merge(inner, name.partition("/")[2], layout)
    return set(storages)
