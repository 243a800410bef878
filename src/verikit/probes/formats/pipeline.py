"""A pipeline of diffusers: `model_index.json` names its components, each in a folder of its own.

Source: diffusers/pipelines/pipeline_utils.py (`save_pretrained`, `from_pretrained`). A component is [library, class], or
[null, null] where the pipeline goes without. Models have config.json and weights; schedulers, tokenizers and processors
a JSON file of their own and no weights.
"""

import os
import re

from verikit.probes.formats import folders, json_file, signs

INDEX = "model_index.json"
SETTINGS = re.compile(r"scheduler|tokenizer|processor|extractor|solver|guider", re.I)
WEIGHTS = re.compile(r"^(?:diffusion_pytorch_model|model|pytorch_model)\b.*\.(?:safetensors|bin)$")


def structure(place, folder, names, layout):
    """Every component that the index names is there, models with their weights; each folder is judged by what it is."""
    if INDEX in names:
        layout.member(INDEX, module="json_file")
    else:
        layout.fault("missing", "%s is missing, which names the components that are there" % INDEX)
    folders.everything(names, layout)
    inner = {name: place.listdir(os.path.join(folder, name)) for name in names if _folder(place, folder, name)}
    for name, found in inner.items():
        json_file.beside(place, os.path.join(folder, name), found, layout, name + "/")
        if INDEX not in found:  # a pipeline within is asked for by itself
            folders.all_within(place, folder, name, layout)
    for name, (library, kind) in _components(folders.json_of(place, folder, INDEX) if INDEX in names else {}):
        layout.tree[name] = "%s.%s" % (library, kind)
        if name not in inner:
            layout.fault("missing", "the component %.100r (%s) is missing, which %s names" % (name, kind, INDEX))
        else:
            _whole(name, kind, inner[name], layout)


def _folder(place, folder, name):
    return not name.startswith(".") and folders.is_folder(place, folder, name)


def _components(index):
    """(name, [library, class]) of each component that is set."""
    for name, value in index.items():
        pair = type(value) is list and len(value) == 2 and all(type(each) is str for each in value)
        if pair and not name.startswith("_"):
            yield name[:100], [each[:100] for each in value]


def _whole(name, kind, names, layout):
    if not names:
        layout.fault("missing", "the folder of the component %.100r is empty" % name)
    elif SETTINGS.search(kind):
        if not any(each.endswith((".json", ".txt", ".model")) for each in names):
            layout.fault("missing", "the component %.100r (%s) has no settings" % (name, kind))
    elif not any(signs.wanted(each) or each.endswith((".h5", ".index.json")) for each in names):
        layout.fault("missing", "the component %.100r (%s) has no weights" % (name, kind))
    elif "config.json" not in names and any(map(WEIGHTS.match, names)):
        layout.fault("missing", "%s/config.json is missing, without which its weights can't be loaded" % name)


def relate(layout, members):
    """What the formats within say of each other."""
    folders.relate_inner(layout, members)
