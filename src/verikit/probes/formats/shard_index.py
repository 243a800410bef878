"""The index of a sharded checkpoint (`*.index.json`): `weight_map` says for each tensor which file has it.

Source: transformers, `sharding.py` of huggingface_hub (`split_torch_state_dict_into_shards`).  `metadata.total_size` is
advisory: writers have left it out, rounded it and counted tied weights twice.
"""

import posixpath
import re
from collections import Counter

from verikit.probes.formats import json_file, sharded
from verikit.probes.formats.layout import Broken, plural

LIMIT = 64 << 20
SHOWN = 4
BESIDE = 2048
"""Files of a set that counts itself, up to which those that the index does not name are looked for beside it."""
KINDS = {list: "list", str: "text", int: "number", float: "number", bool: "truth value"}

OTHERS = re.compile(r"^(?:adapter_model|optimizer|scheduler|scaler|training_args|rng_state)\b")
"""Files of tensors that are no weights of the model, and that no loader of weights takes in."""

VARIANT = re.compile(r"^[^.]+\.[^.]+\.(?:safetensors|bin)\.index\.json$")

# What a config with tie_word_embeddings leaves out: one of the two tensors that are the same.
TIED = ("lm_head.weight", "embed_out.weight", "decoder.weight", "embed_tokens.weight", "shared.weight", "output.weight")


def structure(file, layout):
    """It is JSON with a map of names to files within the folder, none of them empty."""
    objects = _Objects()
    value = json_file.parsed(file, LIMIT, objects.made)
    named = value.get("weight_map") if type(value) is dict else None
    if named is None:
        raise Broken("bad_header", "the index has no weight_map")
    if type(named) is not dict:
        what = "its weight_map is a %s, where a map of names to files is expected"
        raise Broken("bad_header", what % KINDS.get(type(named), "value"))
    if not named:
        raise Broken("bad_header", "its weight_map is empty")
    if not all(type(path) is str and path for path in named.values()):
        raise Broken("bad_header", "the weight_map has a name without a file")
    if any(each is named for each in objects.twice):  # JSON keeps the last, silently
        layout.fault("duplicate", "the weight_map has a name twice")
    layout.root = named
    layout.tree["weight_map"] = "mapping of %d" % len(named)
    total = (value.get("metadata") or {}).get("total_size") if type(value.get("metadata")) is dict else None
    layout.notes["total_size"] = total if type(total) in (int, float) else None
    for path in sorted(set(named.values())):
        if posixpath.isabs(path) or posixpath.normpath(path).startswith(".."):
            layout.fault("escapes", "the index names %r, outside of the folder" % path)
        else:
            layout.member(path, required=False)  # `relate` says which are missing, all in one sentence
    for lost in sharded.incomplete(set(named.values())):
        for path in lost.names if lost.total <= BESIDE else ():
            layout.member(path, required=False)
    layout.member("config.json", required=False, module="json_file")


class _Objects:
    """Makes JSON objects; names of files, each of which stands there a thousand times, are kept once.

    `twice`: the objects that have a name twice.
    """

    def __init__(self):
        self._texts, self.twice = {}, []

    def made(self, pairs):
        """An object of its pairs."""
        keep = self._texts.setdefault
        found = {name: keep(value, value) if type(value) is str else value for name, value in pairs}
        if len(found) < len(pairs):
            self.twice.append(found)
        return found


def relate(layout, members):
    """Every name is in the file that the index says, every tensor of those files is in the index, and none is in two."""
    if type(layout.root) is not dict or any(row["kind"] == "escapes" for row in layout.faults):
        return
    files = sorted(set(layout.root.values()))
    there = {path: members[path] for path in files if path in members}
    missing = [path for path in files if path not in there]
    others = _others(files, members)
    if missing:
        held = _held(layout, missing, others)
        if not there and (_stale(layout, held, others, members) or _passed_over(layout, files, members)):
            return
        _missing(layout, missing, files, held)
    readable = {path: part for path, part in there.items() if not part.faults and not part.unknowns}
    names = {path: _names(part) for path, part in readable.items()}
    _each_where_told(layout, names, members)
    _each_told(layout, readable)
    exact = _total(layout, readable, files)
    left = _sets(layout, files, others, members, exact)
    _strays(layout, {path: part for path, part in others.items() if path not in left})


def _others(files, members, endings=None):
    """{path: Layout} of the weights beside the shards that no index of the folder names, by default of their kind."""
    endings = endings or posixpath.splitext(files[0])[1]
    named, folders = set(files), {posixpath.dirname(path) for path in files}
    named.update(path for root in _indexes(members) for path in root.values())
    found = {}
    for path, part in members.items():
        folder, name = posixpath.split(path)
        if name.endswith(endings) and folder in folders and path not in named:
            found.update({path: part} if part.tensors and not OTHERS.match(name) else {})
    return found


def _indexes(members):
    """The maps of the other indexes."""
    return [part.root for part in members.values() if part.format == "shard_index" and type(part.root) is dict]


def _names(part):
    return {row.name for row in part.tensors} | set(part.root if type(part.root) is dict else ())


def _held(layout, missing, others):
    """{tensor that the index has in a file that is missing: the other files that hold it}"""
    gone = set(missing)
    held = {name: [] for name, path in layout.root.items() if path in gone}
    for path, part in others.items():
        for row in part.tensors:
            if row.name in held:
                held[row.name].append(path)
    return held


def _stale(layout, held, others, members):
    """Whether it is the index that is out of date: none of its files is there, and a whole other set has its tensors once.

    Whole is a single file, or a set that counts itself and has all its numbers.  (Where some of its files are there,
    the index is of this set, and loaders ask for the rest of it.)
    """
    if any(len(paths) != 1 for paths in held.values()):
        return False
    holders = {paths[0] for paths in held.values()}
    if any(others[path].faults for path in holders) or not _whole(holders, members):
        return False
    layout.warn(
        "stale_index", "the index is out of date: it names other files, but those there hold all its tensors once"
    )
    return True


def _passed_over(layout, files, members):
    """Whether loaders never come to it: one file, or all files of another index, that they look for before, has its tensors.

    transformers looks for model.safetensors, its index, pytorch_model.bin and its index, and goes by the first that is there;
    for a variant (`model.fp16.…`) only where it is asked for.
    """
    if VARIANT.match(posixpath.basename(layout.path)):
        endings = (".safetensors", ".bin")
    elif files[0].endswith(".bin"):
        endings = (".safetensors",)
    else:  # which is of the kind that they prefer: `_stale` has judged it
        return False
    singles = [[path] for path in _others(files, members, endings) if not sharded.numbered([path])]
    sets = [sorted(set(root.values())) for root in _indexes(members)]
    rivals = [paths for paths in (*singles, *sets) if all(path.endswith(endings) for path in paths)]
    first = next((paths for paths in rivals if _holds_all(layout, paths, members)), None)
    if first is not None:
        what = "the index is out of date: none of its files is there, and %s%s, which loaders take instead, %s all its tensors"
        more = " and %d more" % (len(first) - 1) if len(first) > 1 else ""
        layout.warn("stale_index", what % (first[0], more, "have" if more else "has"))
    return first is not None


def _holds_all(layout, paths, members):
    """Whether these files are there and whole, and hold each tensor of the index once, but for what the config ties."""
    if any(path not in members or members[path].faults for path in paths):
        return False
    held = Counter(row.name for path in paths for row in members[path].tensors)
    ties = _ties(members)
    return all(held[name] == 1 or (ties and not held[name] and name.endswith(TIED)) for name in layout.root)


def _ties(members):
    config = members.get("config.json")
    return bool(config and config.notes.get("tied"))


def _whole(files, members):
    """Whether these are one file, or of one set that counts itself, all of whose numbers are there."""
    sets, there = sharded.numbered(files), sharded.numbered(members)
    if not sets:
        return len(files) == 1
    key = next(iter(sets))
    return len(sets[key]) == len(files) and len(there[key]) >= int(key[2])


def _missing(layout, missing, files, held):
    """Which files are missing, and where their tensors are instead, if others beside them have them."""
    where = {}
    for name, paths in held.items():
        where.setdefault(layout.root[name], set()).add(paths[0] if paths else None)
    rows = [path + _instead(where[path] - {None}) for path in missing]
    layout.fault("missing", "%s missing: %s" % (_of(len(missing), len(files)), _some(rows)))


def _instead(paths):
    return " (tensors of it are in %s)" % _some(sorted(paths)) if paths else ""


def _each_where_told(layout, names, members):
    lacks, elsewhere, tied = [], [], []
    ties = _ties(members)
    for name, path in layout.root.items():
        if path in names and name not in names[path]:
            other = next((at for at, have in names.items() if name in have), None)
            if other is not None:
                elsewhere.append("%r is in %s, not in %s" % (name, other, path))
            elif ties and name.endswith(TIED):
                tied.append(name)
            else:
                lacks.append("%s lacks %r" % (path, name))
    if elsewhere:
        layout.fault(
            "mismatch", "%s in another shard than the index says: %s" % (_tensors(elsewhere), _some(elsewhere))
        )
    if lacks:
        layout.fault("missing", "%s in the index and in no shard: %s" % (_tensors(lacks), _some(lacks)))
    if tied:
        layout.warn("tied", "%s: in the index but in no shard, as the config ties it" % _some(tied))


def _each_told(layout, readable):
    holder, twice, untold = {}, [], []
    for path, part in readable.items():
        for row in part.tensors:
            if row.name in holder and holder[row.name] != path:
                twice.append("%r in %s and %s" % (row.name, holder[row.name], path))
            holder.setdefault(row.name, path)
            if row.name not in layout.root:
                untold.append("%r in %s" % (row.name, path))
    if twice:
        layout.fault("duplicate", "%s in two shards: %s" % (_tensors(twice), _some(twice)))
    if untold:
        layout.fault("mismatch", "%s not in the index: %s" % (_tensors(untold), _some(untold)))


def _total(layout, readable, files):
    """Warns of a total that is not that of the shards; whether it is, to the byte."""
    told = layout.notes.get("total_size")
    total = sum(row.nbytes for part in readable.values() for row in part.tensors)
    if told is not None and len(readable) == len(files) and told != total:
        layout.warn("total_size", "the index says {:,.0f} bytes in total, the shards have {:,}".format(told, total))
    return told == total


def _sets(layout, files, others, members, exact):
    """A set that counts itself (`…-00002-of-00006`) is in the index as a whole; the files of one that are left out."""
    beside, there, left = sharded.numbered(others), sharded.numbered([*members, *files]), []
    for key, numbers in sharded.numbered(files).items():
        start, mark, total, ending = key
        of_set = [start + mark + number + "-of-" + total + ending for number in beside.get(key, ())]
        unnamed = sorted(path for path in of_set if any(row.name not in layout.root for row in others[path].tensors))
        if unnamed:
            what = "%s there but not in the index, %s first, and loaders take in only what it names"
            layout.fault("mismatch", what % (_of(len(unnamed), int(total)), unnamed[0]))
        if len(there[key]) < int(total) and all(path in members for path in files):
            _gone(layout, len(numbers), int(total), exact)
        left += unnamed
    return left


def _gone(layout, named, total, exact):
    """Shards that are neither in the index nor beside it: lost; or left out by whoever wrote its total anew as well."""
    what = "the index names %d of the %d shards that there are by their own counting, and others were not found"
    (layout.warn if exact else layout.fault)("missing", what % (named, total))


def _strays(layout, others):
    """Weights beside the shards that no index names."""
    same = [path for path, part in others.items() if any(row.name in layout.root for row in part.tensors)]
    rest = [path for path in others if path not in same]
    if same:
        layout.warn("stray", "%s has tensors of the same names: loaders differ in which they take" % _some(same))
    if rest:
        what = "%s: weights that the index does not name; loaders differ in whether they take them in"
        layout.warn("stray", what % _some(rest))


def _of(count, total):
    return "%d of %d shards %s" % (count, total, "is" if count == 1 else "are")


def _tensors(rows):
    return plural(len(rows), "tensor is", "tensors are")


def _some(items):
    more = " and %d more" % (len(items) - SHOWN) if len(items) > SHOWN else ""
    return ", ".join(str(item) for item in items[:SHOWN]) + more
