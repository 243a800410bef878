"""A folder of shards: an index with its files, or a set `NAME-00001-of-00004.EXT` that counts itself.

Source: transformers and huggingface_hub for the names; llama.cpp splits GGUF the same way.
What torch's HuggingFaceStorageWriter leaves of each rank is `shard-RRRRR-…`, pieces of tensors that say where they lie.
"""

import fnmatch
import itertools
import os
import re
from collections import namedtuple

from verikit.probes.formats import dcp, signs
from verikit.probes.formats.layout import elements

RANK = re.compile(r"^shard-(\d{1,9})-.+\.safetensors$")
SHARD = re.compile(r"^(.+?)([-_.])(\d{1,6})-of-(\d{1,6})((?:\.\w+)*)$")

Lost = namedtuple("Lost", "start count total names")
"""What lacks of a set: what its names begin with, how many of how many, and the first names that lack."""

NAMES = 4096


def structure(place, folder, names, layout):
    """The indexes and the shards that are there; a set without an index has all its numbers."""
    for name in names:
        if name.endswith(".index.json"):
            layout.member(name, module="shard_index")
        elif signs.wanted(name):
            layout.member(name)
    _sets(names, layout)


def incomplete(names):
    """The sets among these names of which numbers lack."""
    for (start, mark, total, ending), written in numbered(names).items():
        numbers, width = set(written.values()), len(next(iter(written)))
        form = start + mark, width, "-of-" + total + ending
        yield from _lost(start, form, numbers, min(1, *numbers), int(total))
    ranks = {int(match.group(1)): match.group() for match in map(RANK.match, names) if match}
    if ranks:  # how many there were is written nowhere
        rest = ranks[max(ranks)].partition("-")[2].partition("-")[2]
        yield from _lost("shard-", ("shard-", 5, "-" + rest), set(ranks), 1, max(ranks))


def _lost(start, form, numbers, first, total):
    lacking = (number for number in range(first, first + total) if number not in numbers)
    before, width, after = form
    names = ["%s%0*d%s" % (before, width, number, after) for number in itertools.islice(lacking, NAMES)]
    if names:
        yield Lost(start, total - len(numbers), total, names)


def numbered(names):
    """{(what it begins with, the mark behind that, the total as it is written, how it ends): {number as written: number}}"""
    sets = {}
    for match in filter(None, map(SHARD.match, names)):
        if signs.wanted(match.group()):
            start, mark, number, total, ending = match.groups()
            sets.setdefault((start, mark, total, ending), {})[number] = int(number)
    return sets


def index_of(start, names):
    """The name of the index that speaks of the shards whose names begin so, or None."""
    return next((name for name in names if name.startswith(start) and name.endswith(".index.json")), None)


def of_glob(place, pattern, files, layout, read):
    """Sets among the files that a pattern matches, as in a folder: by the index that is there, or by their own numbers.

    What the pattern would not have matched is not claimed.  read(path): the files that an index names; None: not known.
    """
    within, last = {}, pattern.rpartition("/")[2]
    for path in files:
        within.setdefault(os.path.dirname(path), []).append(os.path.basename(path))
    for folder, names in within.items():
        for lost in incomplete(names):
            index = index_of(lost.start, _beside(place, folder))
            named = None if index is None else read(os.path.join(folder, index))
            _of_pattern(lost, named, set(names), last, layout)


def _beside(place, folder):
    try:
        return place.listdir(folder or ".")
    except OSError:  # a folder that may be passed through but not listed
        return []


def _of_pattern(lost, named, names, pattern, layout):
    wanted = lost.names if named is None else named
    claimed = [name for name in wanted if name not in names and fnmatch.fnmatchcase(name, pattern)]
    if claimed:
        count, total = (lost.count, lost.total) if named is None else (len(claimed), len(named))
        layout.fault("missing", _missing(count, total, claimed[0]))
    else:
        what = "%d of %d shards are not among the files that match, %s first: they were not judged"
        layout.warn("missing", what % (lost.count, lost.total, lost.names[0]))


def _missing(count, total, first):
    return "%d of %d shards %s missing, %s first" % (count, total, "is" if count == 1 else "are", first)


def _sets(names, layout):
    for lost in incomplete(names):
        if index_of(lost.start, names) is None:
            layout.fault("missing", _missing(lost.count, lost.total, lost.names[0]))
    for (start, _, total, ending), numbers in numbered(names).items():
        whole = len(numbers) >= int(total) > 1 and index_of(start, names) is None
        if whole and ending in (".safetensors", ".bin"):
            layout.warn("missing", "%d shards without an index, which loaders ask for" % int(total))
    if any(map(RANK.match, names)):
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
            start, _, _, total, ending = match.groups()
            if index_of(start, members) is None:
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
