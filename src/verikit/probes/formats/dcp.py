"""torch.distributed.checkpoint: `.metadata`, a pickle that says where each piece lies, and `__RANK_N.distcp` with the pieces.

Source: torch/distributed/checkpoint/metadata.py and filesystem.py of PyTorch. `.metadata` is walked, never unpickled.
`state_dict_metadata`: name -> size, dtype and chunks (offsets, sizes), or bytes; `storage_data`: (name, offset) -> file,
offset, length. A piece is what `torch.save` writes, a ZIP of its own (read by `distcp`), so its CRC-32s are at hand; or,
by SerializationFormat.SAFETENSORS, a tensor of a safetensors file, whose metadata say where it was saved from. What is no
tensor stands before that file, in the same one, as `torch.save` writes it; torch 2.13 writes this and does not read it.
The writer renames `.metadata.tmp` to `.metadata` when every rank is done: without it the save died on the way.
Megatron's `torch_dist` is the same with a `common.pt` and a `metadata.json` beside.
"""

import json
import os
import posixpath

from verikit.probes.formats import copies, folders, pickle_walk, signs
from verikit.probes.formats.layout import Broken, Window, elements, nbytes_of
from verikit.probes.place import CannotSee

METADATA_LIMIT = 64 << 20
PAIRS = 1 << 18  # comparisons of two chunks, for each tensor


def structure(place, folder, names, layout):
    """Chunks tile their tensors, every chunk has its piece, pieces tile their files; the files are members."""
    if ".metadata" not in names:
        if ".metadata.tmp" in names:
            layout.fault("missing", ".metadata.tmp, but no .metadata: the save died before its last step")
        else:
            layout.fault(
                "missing", "no .metadata: the save died before its last step, or this is not the folder of rank 0"
            )
        return
    state = _state(_metadata(place, folder, layout), "Metadata")
    wanted = _wanted(state.get("state_dict_metadata"), layout)
    pieces = _pieces(state.get("storage_data"), wanted, layout)
    _complete(wanted, pieces, layout)
    _files(place, folder, pieces, names, layout)
    folders.everything([name for name in names if not name.endswith(".distcp")], layout)
    _tree(state.get("planner_data"), wanted, layout)


def _as_safetensors(place, folder, path, begin):
    """Whether a file of pieces is one of safetensors from there on: SerializationFormat.SAFETENSORS."""
    try:
        with place.open(os.path.join(folder, path)) as file:
            file.seek(begin)
            return file.read(10)[4:] == b'\0\0\0\0{"'
    except (OSError, CannotSee):
        return False


def _metadata(place, folder, layout):
    with place.steady(os.path.join(folder, ".metadata")) as file:
        size = file.seek(0, 2)
        if size > METADATA_LIMIT:
            raise CannotSee("bound_reached", ".metadata has {:,} bytes".format(size))
        data = Window(file, size).at(0, size)
    if not data:
        raise Broken("truncated", ".metadata is empty", 0)
    signs.refuse(data, ".metadata")
    walk = pickle_walk.walk(data, layout, ".metadata")
    if walk.end != len(data):
        layout.fault("trailing", "{:,} bytes follow the pickle in .metadata".format(len(data) - walk.end))
    return walk.root


# What the dataclasses pickle as: a call without arguments, then a state.


def _state(item, what):
    """The fields of a dataclass, by name."""
    state = item.state if type(item) is pickle_walk.Call else None
    if type(state) is tuple and len(state) == 2 and type(state[1]) is dict:
        state = state[1]  # one with slots
    if type(state) is not dict:
        raise Broken("bad_pickle", ".metadata: no %s where one should be" % what)
    return state


def _is(item, name):
    return type(item) is pickle_walk.Call and item.name.rpartition(".")[2] == name


def size_of(item):
    """A torch.Size, or what stands for one, as a tuple; None for anything else."""
    if _is(item, "Size") and type(item.args) is tuple and len(item.args) == 1:
        item = item.args[0]
    if type(item) in (tuple, list) and all(type(axis) is int and axis >= 0 for axis in item):
        return tuple(item)
    return None


class Wanted:
    """What `state_dict_metadata` says of one name: dtype None for bytes; chunks: {offsets: sizes}."""

    def __init__(self, dtype, shape, chunks):
        self.dtype, self.shape, self.chunks = dtype, shape, chunks


def _wanted(table, layout):
    if type(table) is not dict:
        raise Broken("bad_pickle", ".metadata has no state_dict_metadata")
    found = {}
    for name, item in table.items():
        if _is(item, "BytesStorageMetadata"):
            found[name] = Wanted(None, (), {})
        elif _is(item, "TensorStorageMetadata"):
            found[name] = _tensor(name, _state(item, "TensorStorageMetadata"), layout)
        else:
            layout.unseen("unsupported", "%.100r is neither a tensor nor bytes in .metadata" % name)
    return found


def _tensor(name, state, layout):
    shape, chunks = size_of(state.get("size")), state.get("chunks")
    if shape is None or type(chunks) is not list:
        raise Broken("bad_pickle", ".metadata: the tensor %.100r has no size or no chunks" % name)
    rows = {}
    for chunk in chunks:
        fields = _state(chunk, "ChunkStorageMetadata")
        offsets, sizes = size_of(fields.get("offsets")), size_of(fields.get("sizes"))
        if offsets is None or sizes is None or not len(offsets) == len(sizes) == len(shape):
            raise Broken("bad_pickle", ".metadata: a chunk of %.100r makes no sense" % name)
        if offsets in rows and elements(sizes) and elements(rows[offsets]):
            layout.fault("duplicate", "two chunks of %.100r begin at %s" % (name, list(offsets)))
        if elements(sizes) or offsets not in rows:
            rows[offsets] = sizes
    tiles(name, shape, rows, layout)
    dtype = _dtype(state.get("properties"))
    layout.tensor(name, dtype or "unknown", shape, None, nbytes_of(dtype, shape) or 0)
    return Wanted(dtype, shape, rows)


def _dtype(properties):
    state = properties.state if type(properties) is pickle_walk.Call else None
    first = state[0] if type(state) is tuple and state else state.get("dtype") if type(state) is dict else None
    return first.attribute if type(first) is pickle_walk.Global and first.module == "torch" else None


def tiles(name, shape, rows, layout):
    """The chunks lie within the tensor, cross nowhere, and cover it."""
    covered, left, before = 0, PAIRS, []
    for offsets, sizes in sorted(rows.items()):
        if any(offset + size > length for offset, size, length in zip(offsets, sizes, shape)):
            what = "a chunk of %.100r reaches beyond it: %s + %s in %s" % (
                name,
                list(offsets),
                list(sizes),
                list(shape),
            )
            layout.fault("bad_size", what)
            return
        if not elements(sizes):
            continue
        covered += elements(sizes)
        # Sorted by the first axis: what ended before this one begins can't cross it, nor any later one.
        before = [row for row in before if not shape or row[0][0] + row[1][0] > offsets[0]]
        left -= len(before)
        for other in before if left > 0 else ():
            if all(a < b + n and b < a + m for a, m, b, n in zip(offsets, sizes, other[0], other[1])):
                layout.fault(
                    "overlap", "two chunks of %.100r cross, at %s and %s" % (name, list(other[0]), list(offsets))
                )
                return
        before.append((offsets, sizes))
    if covered != elements(shape):
        what = "the chunks of {!r} hold {:,} of its {:,} elements".format(name, covered, elements(shape))
        layout.fault("hole" if covered < elements(shape) else "overlap", what)


class Piece:
    """One entry of `storage_data`: the chunk of `name` at `at`, of `sizes` (None: bytes); `packed`: not as torch saves."""

    def __init__(self, name, at, sizes, path, offset, length, packed):
        self.name, self.at, self.sizes, self.path = name, at, sizes, path
        self.offset, self.length, self.packed = offset, length, packed


def _pieces(table, wanted, layout):
    if type(table) is not dict:
        raise Broken("bad_pickle", ".metadata has no storage_data")
    found = []
    for key, item in table.items():
        index = _state(key.id if type(key) is pickle_walk.Persistent else key, "MetadataIndex")
        if not _is(item, "_StorageInfo"):
            layout.unseen("unsupported", "pieces are stored in a way that is not known here: %.80r" % item)
            return found
        info = _state(item, "_StorageInfo")
        path, offset, length = (info.get(field) for field in ("relative_path", "offset", "length"))
        name = index.get("fqn")
        if (
            type(path) is not str
            or not all(type(n) is int and n >= 0 for n in (offset, length))
            or type(name) is not str
        ):
            raise Broken("bad_pickle", ".metadata: an entry of storage_data makes no sense")
        plain = posixpath.normpath(path)
        if plain.startswith(("/", "../")) or plain == ".." or "\0" in path:
            layout.fault("escapes", "unsafe: the piece %.100r lies outside of the folder, in %.200r" % (name, path))
            continue
        if name not in wanted:
            layout.fault("mismatch", "a piece of %.100r is stored, which no name of the state dict asks for" % name)
            continue
        at = size_of(index.get("offset"))
        sizes = wanted[name].chunks.get(at) if at is not None else None
        found.append(Piece(name, at, sizes, plain, offset, length, bool(info.get("transform_descriptors"))))
    return found


def _complete(wanted, pieces, layout):
    """Every chunk has its piece, and bytes have one."""
    stored = {}
    for piece in pieces:
        stored.setdefault(piece.name, set()).add(piece.at)
    for name, item in wanted.items():
        have = stored.get(name, set())
        if item.dtype is None and not item.chunks:
            if not have:
                layout.fault("missing", "nothing is stored for %.100r" % name)
            continue
        lacks = [at for at, sizes in item.chunks.items() if at not in have and elements(sizes)]
        # One chunk at the origin may be stored without its offset, by writers that know of whole tensors only.
        if lacks and not (len(item.chunks) == 1 and have == {None}):
            layout.fault("missing", "no piece is stored for the chunk of %.100r at %s" % (name, list(lacks[0])))
        more = [at for at in have if at is not None and at not in item.chunks]
        if more:
            layout.fault("mismatch", "a piece of %.100r is stored at %s, where no chunk is" % (name, list(more[0])))


def _files(place, folder, pieces, names, layout):
    """Pieces tile their files, which are as long as the last one reaches; a file of safetensors says so itself."""
    by_path = {}
    for piece in pieces:
        by_path.setdefault(piece.path, []).append(piece)
    layout.parts = {}
    for path in sorted(by_path):
        rows = sorted(by_path[path], key=lambda piece: (piece.offset, piece.length))
        others = [piece for piece in rows if piece.at is None]
        begin = max((piece.offset + piece.length for piece in others), default=0)
        if not _as_safetensors(place, folder, path, begin):
            layout.member(path, size=_tile(path, rows, layout), module="distcp", parts=rows)
            continue
        layout.parts[path] = [piece for piece in rows if piece.at is not None]
        if others:
            layout.member(path, least=_tile(path, others, layout), module="distcp", parts=others)
        else:
            layout.member(path, module="safetensors")
    stray = [name for name in names if name.endswith(".distcp") and name not in by_path]
    if stray:
        layout.warn(
            "temporary",
            "%d .distcp files that .metadata does not name, such as %s: of another save" % (len(stray), stray[0]),
        )


def _tile(path, pieces, layout):
    """Where the last of these pieces ends, each of which begins where the one before it does."""
    end, before = 0, "the beginning"
    for piece in pieces:
        if piece.offset != end:
            kind, off = "hole" if piece.offset > end else "overlap", abs(piece.offset - end)
            what = "%s of %d bytes in %s between %.100s and %.100r" % (kind, off, path, before, piece.name)
            layout.fault(kind, what, piece.offset)
        end, before = max(end, piece.offset + piece.length), repr(piece.name)
    return end


def _tree(planner, wanted, layout):
    """The top-level keys, by the paths that the planner flattened."""
    tops = {}
    for name in wanted:
        path = planner.get(name) if type(planner) is dict else None
        path = path if type(path) is tuple and path else (name,)
        key = str(path[0])
        if len(tops) < 256 or key in tops:
            tops.setdefault(key, [0, len(path), wanted[name].dtype])[0] += 1
    for key, (count, depth, dtype) in tops.items():
        layout.tree[key] = "dict of %d entries" % count if depth > 1 else "tensor" if dtype else "object"
    layout.notes["entries"] = len(wanted)


def relate(layout, members):
    """Each piece of a tensor has the dtype and sizes that `.metadata` says of its chunk."""
    for path, pieces in (layout.parts or {}).items():
        if path in members and not members[path].faults:
            _held(path, pieces, members[path], layout)
    copies.tell({path: part for path, part in members.items() if part.format == "distcp"}, layout)
    wanted = {row.name: row for row in layout.tensors}
    for path, part in members.items():
        for row in part.tensors:
            name = row.name
            if name in wanted and row.dtype != wanted[name].dtype and wanted[name].dtype != "unknown":
                what = "the piece of %.100r in %s is of %s, .metadata says %s" % (
                    name,
                    path,
                    row.dtype,
                    wanted[name].dtype,
                )
                layout.fault("mismatch", what)


def _held(path, pieces, part, layout):
    """A file of safetensors holds just these pieces, each by its name, of its size, saved from where its chunk lies."""
    held, told = {row.name: row for row in part.tensors}, saved_offsets(part)
    for piece in pieces:
        row = held.pop(piece.name, None)
        if row is None:
            layout.fault("missing", "%s lacks the piece of %.100r" % (path, piece.name))
        elif piece.sizes is not None and tuple(row.shape) != tuple(piece.sizes):
            what = "the piece of %.100r in %s has the shape %s, its chunk %s"
            layout.fault("mismatch", what % (piece.name, path, list(row.shape), list(piece.sizes)))
        elif piece.at is not None and told.get(piece.name, piece.at) != piece.at:
            what = "the piece of %.100r in %s was saved from %s, its chunk is at %s"
            layout.fault("mismatch", what % (piece.name, path, list(told[piece.name]), list(piece.at)))
    for name in sorted(held)[:1]:
        layout.fault("mismatch", "%s holds %.100r, of which .metadata says nothing there" % (path, name))


def saved_offsets(part):
    """{name: where in its tensor a piece lies}, as DCP writes it into the metadata of a safetensors file."""
    try:
        rows = json.loads(getattr(part, "metadata", {}).get("DCP_SHARDING_INFO", "{}"))
        return {name: tuple(row["saved_offsets"]) for name, row in rows.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
