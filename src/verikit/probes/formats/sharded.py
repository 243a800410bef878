"""A folder of shards: an index with its files, or a set `NAME-00001-of-00004.EXT` that counts itself.

Source: transformers and huggingface_hub for the names; llama.cpp splits GGUF the same way.
What torch's HuggingFaceStorageWriter leaves of each rank is `shard-RRRRR-…`, pieces of tensors that say where they lie.
"""

import re

from verikit.probes.formats import dcp, json_file, signs
from verikit.probes.formats.layout import elements

RANK = re.compile(r"^shard-(\d{1,9})-.+\.safetensors$")
SHARD = re.compile(r"^(.+?)[-_.](\d{1,6})-of-(\d{1,6})((?:\.\w+)*)$")


def structure(place, folder, names, layout):
    """The indexes and the shards that are there; a set without an index has all its numbers."""
    for name in names:
        if name.endswith(".index.json"):
            layout.member(name, module="shard_index")
        elif name in json_file.NAMES:
            layout.member(name, module="json_file")
        elif signs.wanted(name):
            layout.member(name)
    _sets(names, layout)


def _sets(names, layout):
    sets = {}
    for match in filter(None, map(SHARD.match, names)):
        if signs.wanted(match.group()):
            start, number, total, ending = match.groups()
            sets.setdefault((start, int(total), ending), set()).add(int(number))
    for (start, total, ending), numbers in sets.items():
        indexed = any(name.startswith(start) and name.endswith(".index.json") for name in names)
        if len(numbers) < total and not indexed:
            first = min(set(range(min(1, *numbers), total + min(1, *numbers))) - numbers)
            what = "{} of {} shards are missing, {}-{:05d}-of-{:05d}{} first"
            layout.fault("missing", what.format(total - len(numbers), total, start, first, total, ending))
        elif not indexed and total > 1 and ending in (".safetensors", ".bin"):
            layout.warn("missing", "%d shards without an index, which loaders ask for" % total)
    ranks = {int(match.group(1)) for match in map(RANK.match, names) if match}
    if ranks and len(ranks) < max(ranks):
        lost = next(rank for rank in range(1, max(ranks)) if rank not in ranks)
        layout.fault("missing", "the shard of rank %d is missing: ranks up to %d have theirs" % (lost, max(ranks)))
    if ranks:
        layout.warn("unchecked", "how many ranks there were is written nowhere: a lost last one does not show")


def relate(layout, members):
    """No tensor is in two shards of a set without an index; the pieces of ranks tile their tensors."""
    sets, pieces = {}, {}
    for path, part in members.items():
        offsets = dcp.saved_offsets(part)
        match = SHARD.match(path)
        if part.faults or "/" in path or part.format == "gguf":  # whose first part speaks of the others
            continue
        if offsets and RANK.match(path):
            for row in part.tensors:
                pieces.setdefault(row.name, []).append((offsets.get(row.name), tuple(row.shape), path))
        elif match:
            start, _, total, ending = match.groups()
            if not any(other.startswith(start) and other.endswith(".index.json") for other in members):
                sets.setdefault((start, total, ending), []).append((path, part))
    for parts in sets.values():
        _once(parts, layout)
    for name, rows in pieces.items():
        _pieces(name, rows, layout)


def _once(parts, layout):
    holder = {}
    for path, part in parts:
        twice = next((row.name for row in part.tensors if holder.setdefault(row.name, path) != path), None)
        if twice is not None:
            layout.fault("duplicate", "the tensor %.100r is in %s and in %s" % (twice, holder[twice], path))


def _pieces(name, rows, layout):
    """Pieces of a tensor whose own shape is written nowhere: they fill the least box that holds them."""
    if any(offset is None or len(offset) != len(shape) for offset, shape, _ in rows):
        layout.fault("bad_header", "a piece of %.100r does not say where it lies" % name)
        return
    chunks = {}
    for offset, shape, path in rows:
        if offset in chunks and elements(shape):
            layout.fault(
                "duplicate", "two pieces of %.100r begin at %s, one of them in %s" % (name, list(offset), path)
            )
            return
        chunks[offset] = shape
    ends = [[at + length for at, length in zip(offset, shape)] for offset, shape in chunks.items()]
    whole = tuple(map(max, zip(*ends)))
    dcp.tiles(name, whole, chunks, layout)
