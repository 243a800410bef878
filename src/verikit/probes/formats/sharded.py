"""A folder of shards: an index with its files, or a set `NAME-00001-of-00004.EXT` that counts itself.

Source: transformers and huggingface_hub for the names; llama.cpp splits GGUF the same way.
"""

import re

from verikit.probes.formats import json_file, signs

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
