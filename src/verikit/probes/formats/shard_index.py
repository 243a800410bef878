"""The index of a sharded checkpoint (`*.index.json`): `weight_map` says for each tensor which file has it.

Source: transformers, `sharding.py` of huggingface_hub (`split_torch_state_dict_into_shards`).  `metadata.total_size` is
advisory: writers have left it out, rounded it and counted tied weights twice.
"""

import posixpath
import re

from verikit.probes.formats import json_file
from verikit.probes.formats.layout import Broken, plural

LIMIT = 64 << 20
SHOWN = 4
KINDS = {list: "list", str: "text", int: "number", float: "number", bool: "truth value"}

OTHERS = re.compile(r"^(?:adapter_model|optimizer|scheduler|scaler|training_args|rng_state)\b")
"""Files of tensors that are no weights of the model, and that no loader of weights takes in."""

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
    if missing and _stale(layout, members):
        return
    if missing:
        what = "%d of %d shards are missing: %s" % (len(missing), len(files), _some(missing))
        layout.fault("missing", what)
    readable = {path: part for path, part in there.items() if not part.faults and not part.unknowns}
    names = {path: _names(part) for path, part in readable.items()}
    _each_where_told(layout, names, members)
    _each_told(layout, readable)
    _total(layout, readable, files)
    _strays(layout, files, members)


def _names(part):
    return {row.name for row in part.tensors} | set(part.root if type(part.root) is dict else ())


def _stale(layout, members):
    """Whether other files of the folder hold every tensor of the index: then it is the index that is out of date."""
    ending = posixpath.splitext(next(iter(layout.root.values())))[1]
    parts = [part for path, part in members.items() if path.endswith(ending) and not part.faults]
    found = [row.name for part in parts for row in part.tensors]
    if not parts or set(layout.root) - set(found) or len(set(found)) != len(found):
        return False
    layout.warn(
        "stale_index", "the index is out of date: it names other files, but those there hold all its tensors once"
    )
    return True


def _each_where_told(layout, names, members):
    lacks, elsewhere, tied = [], [], []
    config = members.get("config.json")
    ties = bool(config and config.notes.get("tied"))
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
    told = layout.notes.get("total_size")
    total = sum(row.nbytes for part in readable.values() for row in part.tensors)
    if told is not None and len(readable) == len(files) and told != total:
        layout.warn("total_size", "the index says {:,.0f} bytes in total, the shards have {:,}".format(told, total))


def _strays(layout, files, members):
    """Weights beside the shards that no index names."""
    ending, named = posixpath.splitext(files[0])[1], set(files)
    for part in members.values():
        named.update(part.root.values() if part.format == "shard_index" and type(part.root) is dict else ())
    strays = [path for path in members if path.endswith(ending) and "/" not in path and path not in named]
    strays = [path for path in strays if members[path].tensors and not OTHERS.match(path)]
    same = [path for path in strays if any(row.name in layout.root for row in members[path].tensors)]
    rest = [path for path in strays if path not in same]
    if same:
        layout.warn("stray", "%s has tensors of the same names: loaders differ in which they take" % _some(same))
    if rest:
        what = "%s: weights that the index does not name; loaders differ in whether they take them in"
        layout.warn("stray", what % _some(rest))


def _tensors(rows):
    return plural(len(rows), "tensor is", "tensors are")


def _some(items):
    more = " and %d more" % (len(items) - SHOWN) if len(items) > SHOWN else ""
    return ", ".join(str(item) for item in items[:SHOWN]) + more
