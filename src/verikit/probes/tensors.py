"""Which tensors are there: names, dtypes, shapes, from headers and attributes alone. Values: `verikit.probes.scan`.

Rows are folded for the journey: names without their numbers, dtypes and shapes once each, so that 10^5 tensors of a
mixture-of-experts checkpoint stay a few hundred kilobytes.
"""

import bisect
import fnmatch
import itertools
import json
import os
import re

from verikit.probes import formats
from verikit.probes.formats import signs
from verikit.probes.formats.layout import BITS, Broken, Layout, Window, elements, uncollected
from verikit.probes.place import CannotSee, kind_of

MOST_TENSORS = 400_000
MOST_FILES = 200_000
CONFIG_LIMIT = 4 << 20
INDEX_LIMIT = 64 << 20
"""Bytes of an index; that of 10^5 tensors has 10 MB."""
METADATA_LIMIT = 1 << 16
MOST_TOLD = 20_000
"""Different metadata that are told."""
MOST_PLAIN = 64
"""Values of a file that are told to be no tensors."""
PLAIN = (list, tuple, int, float, bool, str, type(None))
MOST_LOST = 2000
"""Names of shards that were not looked at."""
MOST_VALUES = 4096
"""Numbers of one value of metadata."""
DEEPEST = 32
# Files of a folder that may hold tensors; a file or glob that is named is read whatever its ending.
ENDINGS = (
    ".safetensors",
    ".pt",
    ".pth",
    ".bin",
    ".ckpt",
    ".npy",
    ".npz",
    ".gguf",
    ".parquet",
    ".arrow",
    ".tar",
    ".metadata",
)
SHORT = {
    "float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2",
    "float8_e4m3fnuz": "e4m3fnuz", "float8_e5m2fnuz": "e5m2fnuz", "float8_e8m0fnu": "e8m0",
    "float4_e2m1fn_x2": "f4", "float4_e2m1": "f4", "complex128": "c128", "complex64": "c64", "complex32": "c32",
    "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8",
    "uint64": "u64", "uint32": "u32", "uint16": "u16", "uint8": "u8",
}  # fmt: skip
_NUMBER = re.compile(r"(\d+)")


def inspect(place, path, config="config.json", under="", meta=()):
    """The tensors of a file, a folder or a glob, and the config beside them: folded rows.

    Reads headers only.  `config`: a path, relative to the folder of the subject; not there is None in the facts.
    `meta`: keys of what the files say beside their tensors; a key may be that of a small tensor, whose values are read.
    """
    with uncollected():
        return inspected(place, path, config, under, meta)


def inspected(place, path, config, under, meta):
    root, files = found_files(place, path)
    fold = Fold()
    facts = {
        "root": root,
        "config": None,
        "config_file": os.path.basename(config),
        "faults": [],
        "unknowns": [],
        "left": [],
        "metadata": {},
        "told": [],
        "plain": {},
        "plain_told": [],
    }
    told, plain_told = {}, {}
    for number, name in enumerate(files):
        layout = layout_of(place, os.path.join(root, name))
        fold.file(name)
        storages = storages_of(layout)
        plain = not storages and not layout.strides and not getattr(layout, "ranges", None)
        for row in layout.tensors:
            label = row[0]
            if under:
                if not label.startswith(under):
                    continue
                label = label[len(under) :]
            fold.tensor(number, label, row[1], row[2], None if plain else extra_of(layout, row, storages))
        if layout.format is None and root == path and not layout.faults:
            facts["left"].append(name)  # a folder has other things in it; what was named by itself is not left out
        else:
            tell_layout(facts, number, layout)
            if meta:
                tell_once(facts["metadata"], told, number, metadata_of(place, layout, meta, under))
            if type(layout.root) is dict:
                tell_once(facts["plain"], plain_told, number, plain_of(layout.root, under))
        if number % 256 == 255:
            place.progress(number + 1, len(files), "files")
    whole_folders(place, path, root, files, fold, facts, under)
    facts["told"] = [json.loads(row) for row in told]
    facts["plain_told"] = [json.loads(row) for row in plain_told]
    facts["config"], facts["config_missing"] = read_config(place, root, config)
    facts["index"] = index_of(place, root, files, fold, under)
    facts.update(fold.facts())
    return facts


def whole_folders(place, path, root, files, fold, facts, under):
    """Tensors that are the folder's, in pieces over its files: distributed checkpoints of torch, Megatron, Orbax."""
    if root != path or not set(formats.of_folder(place.listdir(root))) & {"dcp", "orbax"}:
        return
    from verikit.probes import checkpoint

    _, folder = checkpoint.gather(place, path, checkpoint.Depth("structure"))
    fold.forget(files)
    number = len(fold.files)
    fold.file(".")
    for row in folder.tensors:
        if row.name.startswith(under):
            fold.tensor(number, row.name[len(under) :], row.dtype, row.shape, None)
    facts["faults"], facts["unknowns"] = [], []
    tell_layout(facts, number, folder)


def found_files(place, path):
    """(folder, names in it). A single file is itself; a folder every file of known ending."""
    try:
        info = place.stat(path)
    except OSError:
        if not any(c in path for c in "*?["):
            raise
        return globbed(place, path)
    if kind_of(info.st_mode) == "a directory":
        files = list(itertools.islice(walk(place, path, "", 0), MOST_FILES + 1))
        if len(files) > MOST_FILES:
            raise CannotSee("bound_reached", "more than {:,} files under {}".format(MOST_FILES, path))
        return path, sorted(files, key=natural)
    return os.path.dirname(path) or ".", [os.path.basename(path)]


def natural(name):
    """hs_2 before hs_10."""
    return [(1, int(part), part) if part.isdigit() else (0, 0, part) for part in re.split(r"(\d+)", name)]


def walk(place, folder, inside, depth):
    """Names, relative to the folder, of what may hold tensors; links to folders are not followed."""
    for name in place.listdir(os.path.join(folder, inside) if inside else folder):
        relative = os.path.join(inside, name) if inside else name
        mode = place.stat(os.path.join(folder, relative), follow=False).st_mode
        if kind_of(mode) == "a directory":
            if name.startswith("."):
                continue
            if depth >= DEEPEST:
                raise CannotSee("bound_reached", "%s lies more than %d folders deep" % (relative, DEEPEST))
            yield from walk(place, folder, relative, depth + 1)
        elif name.endswith(ENDINGS):
            yield relative


def globbed(place, pattern):
    """Files by a pattern with *, ?, [ in any part, and ** over parts."""
    parts = pattern.split("/")
    first = next(k for k, part in enumerate(parts) if any(c in part for c in "*?["))
    root = "/".join(parts[:first]) or ("/" if pattern.startswith("/") else ".")
    files = sorted(matching(place, root, "", parts[first:], 0), key=natural)
    return root, list(dict.fromkeys(files))


def matching(place, root, inside, parts, depth):
    here = os.path.join(root, inside) if inside else root
    if not parts or depth > 64:
        return
    try:
        names = place.listdir(here)
    except NotADirectoryError:
        return
    if parts[0] == "**":
        yield from matching(place, root, inside, parts[1:], depth + 1)
        for name in names:
            if not os.path.islink(os.path.join(here, name)):
                yield from matching(place, root, os.path.join(inside, name), parts, depth + 1)
        return
    for name in names:
        if fnmatch.fnmatchcase(name, parts[0]) and not (name.startswith(".") and not parts[0].startswith(".")):
            relative = os.path.join(inside, name)
            if len(parts) > 1:
                yield from matching(place, root, relative, parts[1:], depth + 1)
            elif kind_of(place.stat(os.path.join(root, relative)).st_mode) is None:
                yield relative


def layout_of(place, path):
    """The `Layout` of one file; what could not be made out is in its faults and unknowns."""
    with place.steady(path) as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(formats.HEAD)
        module = formats.of_file(head, size)
        layout = Layout(path, size, module)
        if module is None:
            tell_what_it_is(layout, head)
            return layout
        try:
            formats.load(module).structure(Window(file, size, path=path), layout)
        except Broken as broken:
            if broken.kind in ("bound_reached", "unsupported"):
                layout.unseen(broken.kind, broken.what, broken.where)
            else:
                layout.fault(broken.kind, broken.what, broken.where)
    return layout


def tell_what_it_is(layout, head):
    """What a file is that holds no tensors: a fault where its name leaves no doubt, or a pointer to it lies in its place."""
    sign = signs.instead(head, layout.size)
    if layout.size == 0:
        layout.fault("empty", "empty file")
    elif sign and layout.path.endswith(ENDINGS if sign[0] == "pointer" else tuple(signs.STRICT)):
        layout.fault(*sign[:2])
    else:
        layout.unseen("unsupported", "no format of tensors that is known here" + (": " + sign[1] if sign else ""))


def dtype_name(dtype):
    """A dtype by its short name, as `verikit.spec.dtypes` has them: bf16, i64, e4m3."""
    text = getattr(dtype, "name", None) or str(dtype)
    text = str(text).rpartition(".")[2].lower()
    return SHORT.get(text, text)


def extra_of(layout, row, storages):
    """How a stored tensor is held, where it is not plain: strides, a larger storage, no bytes (meta), a range that is told."""
    if getattr(layout, "ranges", None):
        ends = layout.ranges.get(row.name)
        return {"low": ends[0], "high": ends[1]} if ends else None
    strides = layout.strides.get(row.name)
    if row.offset is None and layout.format == "torch_zip":
        return {"device": "meta"}
    width = BITS.get(row.dtype, 8) // 8 or 1
    own, whole = elements(row.shape) * width, storage_size(storages, row)
    if strides is None and (whole is None or whole <= own):
        return None
    plain = strides is None
    stride0 = not plain and any(step == 0 and length > 1 for step, length in zip(strides, row.shape))
    return {"stride0": stride0, "contiguous": plain, "storage": row.nbytes if whole is None else whole, "nbytes": own}


def storages_of(layout):
    """Sorted (offset, bytes) of the storages of a file in which several tensors may share one."""
    return sorted((span.offset, span.nbytes) for span in layout.spans) if layout.format == "torch_zip" else []


def storage_size(storages, row):
    at = bisect.bisect_right(storages, (row.offset, float("inf"))) - 1
    return storages[at][1] if at >= 0 and row.offset < sum(storages[at]) else None


def tell_layout(facts, number, layout):
    """A file's faults and unknowns into the facts, bounded."""
    for key, rows in (("faults", layout.faults), ("unknowns", layout.unknowns)):
        for row in rows[:4]:
            if len(facts[key]) < 200:
                facts[key].append([number, row["kind"], row["what"], sizes_of(layout, row)])
            else:
                facts[key + "_more"] = facts.get(key + "_more", 0) + 1


def sizes_of(layout, row):
    """Of a file that is cut: how much is there, of how much if that is known."""
    if row["kind"] != "truncated":
        return ""
    needed = getattr(layout, "needed", 0) or 0
    of = " of {:,}".format(needed) if needed > layout.size else ""
    return "{:,}{} bytes are there".format(layout.size, of)


def tell_once(places, told, number, row):
    """What a file says, once for all that say the same; `places`: {file: place in `told`}, -1 where there is no room."""
    text = json.dumps(row, sort_keys=True)
    if text in told or len(told) < MOST_TOLD:
        places[str(number)] = told.setdefault(text, len(told))
    else:
        places[str(number)] = -1


def plain_of(root, under=""):
    """{name: type} of the values of a file that are no tensors, at its top and one mapping below: the first of them."""
    found = {}
    for key, value in root.items():
        inner = value.items() if type(value) is dict else ()
        for name, each in ((key, value), *(("%s.%s" % (key, k), v) for k, v in inner)):
            if len(found) < MOST_PLAIN and type(each) in PLAIN and str(name).startswith(under):
                found[str(name)[len(under) :]] = type(each).__name__
    return found


def metadata_of(place, layout, keys, under=""):
    """{key: JSON or text, or None: there, but no plain value} of what a file says beside its tensors.

    safetensors' metadata, GGUF's keys, plain values of a .pt (nested ones by dotted keys), small tensors.
    """
    found = {}
    for key in keys:
        if key in (getattr(layout, "metadata", None) or ()):
            found[key] = layout.metadata[key]
        elif key in (layout.notes.get("keys") or ()):
            found[key] = str(layout.notes["keys"][key])
        else:
            there, value = nested_value(layout.root, key)
            if there:
                found[key] = json.dumps(value) if is_plain(value) else values_of(place, layout, key)
            elif any(row.name in (key, under + key) for row in layout.tensors):
                found[key] = values_of(place, layout, key, under)
    return {key: None if value is None or len(value) > METADATA_LIMIT else value for key, value in found.items()}


def nested_value(root, key):
    """(whether it is there, the value) under dotted keys."""
    for part in [key] if type(root) is dict and key in root else key.split("."):
        if type(root) is not dict or part not in root:
            return False, None
        root = root[part]
    return True, root


def values_of(place, layout, key, under=""):
    """The values of a small tensor, as JSON; None for any other."""
    from verikit.probes import scan, values

    row = next((row for row in layout.tensors if row.name in (key, under + key)), None)
    if row is None or elements(row.shape) > MOST_VALUES:
        return None
    with place.steady(layout.path) as file:
        tensor = values.stored_tensor(None, layout, row, file)
        if isinstance(tensor, str):
            return None
        flat = scan.plain_values(tensor)
    return json.dumps(folded_values([bool(each) for each in flat] if row.dtype == "bool" else flat, row.shape))


def folded_values(flat, shape):
    """A flat list as nested ones."""
    for length in shape[:0:-1]:
        flat = [flat[k : k + length] for k in range(0, len(flat), length)] if length else []
    return flat if shape else flat[0]


def is_plain(value, depth=0):
    """Whether it is a number, a text, nothing, or short rows and mappings of them."""
    if type(value) in (list, tuple):
        return depth < 4 and len(value) <= MOST_VALUES and all(is_plain(each, depth + 1) for each in value)
    if type(value) is dict:
        return (
            depth < 4 and len(value) <= 256 and all(type(k) is str and is_plain(v, depth + 1) for k, v in value.items())
        )
    return value is None or (
        type(value) in (int, float, bool, str) and (type(value) is not int or abs(value) < 1 << 63)
    )


def read_config(place, root, config, limit=CONFIG_LIMIT):
    """(the config as JSON, why not). A file that is longer than `limit` bytes is not read."""
    path = config if os.path.isabs(config) else os.path.join(root, config)
    try:
        with place.open(path) as file:
            data = file.read(limit + 1)
    except OSError as error:
        return None, "%s: %s" % (path, error.strerror)
    if len(data) > limit:
        return None, "%s is longer than %d MiB" % (path, limit >> 20)
    try:
        return json.loads(data.decode("utf-8")), None
    except (ValueError, RecursionError) as error:
        return None, "%s is no JSON: %s" % (path, error)


def index_of(place, root, files, fold, under=""):
    """What a `*.index.json` says against what the shards hold.

    wrong: names told to be in a file that lacks them.  twice: names that another of the shards has as well.  untold: names
    that it leaves out.  files: the shards that it names; shards: those that are not there.  lost: {shard that was not
    looked at: the names that are told to be in it}, the first of them.
    """
    index = next((name for name in place.listdir(root) if name.endswith(".index.json")), None)
    if index is None:
        return None
    if place.stat(os.path.join(root, index)).st_size > INDEX_LIMIT:
        return dict(EMPTY_INDEX, file=index, unseen="it is longer than %d MiB" % (INDEX_LIMIT >> 20))
    found, why = read_config(place, root, index, INDEX_LIMIT)
    if not isinstance(found, dict) or not isinstance(found.get("weight_map"), dict):
        return dict(EMPTY_INDEX, file=index, broken=why or "no weight_map")
    here = fold.files_by_name()
    told = {name[len(under) :]: str(file) for name, file in found["weight_map"].items() if name.startswith(under)}
    named, seen = sorted(set(told.values())), set(files)
    shards = [file for file in named if file not in seen and not is_there(place, os.path.join(root, file))]
    judged, kinds = seen.union(shards), {numberless(file) for file in named}
    wrong = [
        [name, file, first_of(here.get(name))]
        for name, file in told.items()
        if file in judged and file not in here.get(name, ())
    ]
    of_set = {name: [file for file in held if numberless(file) in kinds] for name, held in here.items()}
    twice = [
        [name, told[name], file]
        for name, held in of_set.items()
        if told.get(name) in held
        for file in held
        if file != told[name]
    ]
    untold = [[name, held[0]] for name, held in of_set.items() if held and name not in told]
    return {
        "file": index,
        "broken": None,
        "wrong": wrong[:100],
        "shards": shards[:100],
        "untold": untold[:100],
        "twice": twice[:100],
        "files": named[:MOST_FILES],
        "lost": lost_names(told, seen),
        "more": sum(max(0, len(rows) - 100) for rows in (wrong, untold, twice)),
        "told": len(told),
    }


EMPTY_INDEX = {"broken": None, "wrong": [], "shards": [], "untold": [], "twice": [], "files": [], "lost": {}}


def is_there(place, path):
    try:
        place.stat(path)
    except OSError:
        return False
    return True


def lost_names(told, seen):
    """{file: names} of what is told to be in files that were not looked at, bounded."""
    lost = {}
    for name, file in itertools.islice(((n, f) for n, f in told.items() if f not in seen), MOST_LOST):
        lost.setdefault(file, []).append(name)
    return lost


def numberless(name):
    """Shards of one set are of one name but for its numbers; one that the index leaves out is of the set all the same."""
    return _NUMBER.sub("0", name)


def first_of(files):
    return files[0] if files else None


FOLDED_FROM = 4096
"""Tensors from which on names are folded: below, that costs more time than it saves bytes."""


class Fold:
    """Rows of tensors with every repeated part kept once."""

    def __init__(self):
        self.files, self.rows = [], []
        self.dtypes, self.shapes, self.extras = {}, {}, {"null": 0}

    def file(self, name):
        self.files.append(name)

    def tensor(self, file, name, dtype, shape, extra):
        rows, dtypes, shapes = self.rows, self.dtypes, self.shapes
        if len(rows) >= MOST_TENSORS:
            raise CannotSee("bound_reached", "more than {:,} tensors".format(MOST_TENSORS))
        held = self.extras.setdefault(json.dumps(extra, sort_keys=True), len(self.extras)) if extra else 0
        rows.append((file, name, dtypes.setdefault(dtype, len(dtypes)), shapes.setdefault(shape, len(shapes)), held))

    def forget(self, files):
        """Drops the rows of these files, whose tensors are only pieces."""
        self.rows = [row for row in self.rows if self.files[row[0]] not in files]

    def files_by_name(self):
        """{tensor: the files that hold it}."""
        held = {}
        for row in self.rows:
            held.setdefault(row[1], []).append(self.files[row[0]])
        return held

    def facts(self):
        """`rows`: [file, name, dtype, shape, extra, numbers…], all but the numbers as places in the lists beside it."""
        names, folding = {}, len(self.rows) > FOLDED_FROM
        place = names.setdefault
        return {
            "files": self.files,
            "rows": [folded_row(row, names) for row in self.rows]
            if folding
            else [(file, place(name, len(names)), a, b, c) for file, name, a, b, c in self.rows],
            "names": list(names),
            "dtypes": list(self.dtypes),
            "shapes": [list(shape) for shape in self.shapes],
            "extras": [json.loads(extra) for extra in self.extras],
        }


def folded_row(row, names):
    name = row[1]
    if len(name) > 1000 or "\0" in name:
        return (row[0], names.setdefault(name, len(names)), *row[2:])
    parts = _NUMBER.split(name)
    # A number with leading zeros stays text, to come out as it went in.
    numbers = [int(n) if n[0] != "0" or n == "0" else n for n in parts[1::2]]
    return (row[0], names.setdefault("\0".join(parts[::2]), len(names)), *row[2:], *numbers)


def unfolded_rows(facts):
    """(file number, name, dtype, shape, extra) of each tensor."""
    templates = [name.replace("%", "%%").replace("\0", "%s") for name in facts["names"]]
    shapes = [tuple(shape) for shape in facts["shapes"]]
    for row in facts["rows"]:
        name = facts["names"][row[1]]
        if len(row) > 5:
            name = templates[row[1]] % tuple(row[5:])
        yield row[0], name, facts["dtypes"][row[2]], shapes[row[3]], facts["extras"][row[4]]


# In memory.


def live(place, subject, under="", how=False, meta=()):
    """(name, dtype, shape, extra) of each tensor of an object in this process, by its attributes; no value is touched.

    how: also how each is held (device, strides, storage), which costs more than all the rest.
    """
    facts = {"entries": list(live_rows(subject.subject, under, how)), "live": True}
    if meta:
        facts["metadata"], facts["told"] = {"0": 0}, [live_metadata(subject.subject, meta)]
    return facts


def live_metadata(subject, keys):
    """As `metadata_of`, of a mapping in this process."""
    found = {}
    for key in keys:
        there, value = nested_value(subject, key)
        if there and not is_plain(value) and callable(getattr(value, "tolist", None)):
            small = elements(tuple(getattr(value, "shape", (MOST_VALUES + 1,)))) <= MOST_VALUES
            value = value.tolist() if small and str(getattr(value, "device", "cpu")) != "meta" else value
        if there:
            found[key] = json.dumps(value) if is_plain(value) else None
    return found


def live_tensors(subject):
    """(name, tensor) of a tensor, a mapping (nested ones by dotted names), a sequence, or a module."""
    if hasattr(subject, "named_parameters") and hasattr(subject, "named_buffers"):
        yield from subject.named_parameters(remove_duplicate=False)
        passing = passing_buffers(subject)
        yield from (row for row in subject.named_buffers(remove_duplicate=False) if row[0] not in passing)
    elif hasattr(subject, "shape") and hasattr(subject, "dtype"):
        yield "", subject
    else:
        yield from nested(subject, "", 0)


def passing_buffers(module):
    """Names of buffers that a module keeps out of its state dict (rotary tables)."""
    return {
        prefix + "." + name if prefix else name
        for prefix, inner in module.named_modules()
        for name in getattr(inner, "_non_persistent_buffers_set", ())
    }


def nested(subject, prefix, depth):
    items = None
    if hasattr(subject, "keys") and hasattr(subject, "__getitem__"):
        items = [(str(key), subject[key]) for key in subject.keys()]  # noqa: SIM118 - a BatchEncoding iterates otherwise
    elif isinstance(subject, (list, tuple)):
        items = [(str(number), each) for number, each in enumerate(subject)]
    if items is None or depth > 8:
        yield prefix, subject
        return
    for key, value in items:
        name = prefix + "." + key if prefix else key
        if hasattr(value, "dtype") and (getattr(value, "is_nested", False) or hasattr(value, "shape")):
            yield name, value
        elif hasattr(value, "keys") or bears_tensors(value, depth + 1, set()):
            yield from nested(value, name, depth + 1)
        else:
            yield name, value


def bears_tensors(value, depth, seen):
    """Whether tensors lie in a list or tuple, at any depth that is entered. seen: containers that were searched."""
    if not isinstance(value, (list, tuple, dict)) or id(value) in seen or depth > 8:
        return False
    seen.add(id(value))
    parts = value.values() if isinstance(value, dict) else value
    return any(hasattr(each, "shape") or bears_tensors(each, depth + 1, seen) for each in parts)


def live_rows(subject, under, how):
    known = {}
    for name, tensor in live_tensors(subject):
        if under and not name.startswith(under):
            continue
        try:
            dtype = tensor.dtype
            short = known.get(dtype)
            if short is None:
                short = known[dtype] = dtype_name(dtype)
            yield name[len(under) :], short, tensor.shape, held(tensor) if how else None
        except AttributeError:
            yield name[len(under) :], with_article(type(tensor).__name__), (), None
        except RuntimeError:  # torch's nested tensors have no shape
            yield name[len(under) :], "a nested tensor", (), None


def with_article(kind):
    return ("an " if kind[:1].lower() in "aeiou" else "a ") + kind


def odd_layout(tensor):
    """The layout of a torch tensor without strides: sparse, nested; "" for all others."""
    if getattr(tensor, "is_nested", False):
        return "nested"
    layout = str(getattr(tensor, "layout", "") or "").rpartition(".")[2]
    return layout if layout.startswith(("sparse", "_mkldnn", "jagged")) else ""


def held(tensor):
    """How a live tensor is held: device, strides, storage; only what it tells."""
    out = {"device": str(getattr(tensor, "device", "cpu") or "cpu")}
    if odd_layout(tensor):
        return out
    strides = tensor.stride() if callable(getattr(tensor, "stride", None)) else getattr(tensor, "strides", None)
    shape = tuple(tensor.shape)
    if strides is not None:
        out["stride0"] = any(step == 0 and size > 1 for step, size in zip(strides, shape))
    if callable(getattr(tensor, "is_contiguous", None)):
        out["contiguous"] = bool(tensor.is_contiguous())
    elif hasattr(tensor, "flags"):
        out["contiguous"] = bool(tensor.flags["C_CONTIGUOUS"])
    if callable(getattr(tensor, "untyped_storage", None)) and out["device"] != "meta":
        out["storage"], out["nbytes"] = tensor.untyped_storage().nbytes(), tensor.numel() * tensor.element_size()
        out["pointer"] = tensor.untyped_storage().data_ptr()
    elif hasattr(tensor, "nbytes") and hasattr(tensor, "base"):
        base = tensor if tensor.base is None else tensor.base
        out["storage"], out["nbytes"] = getattr(base, "nbytes", tensor.nbytes), tensor.nbytes
    return out
