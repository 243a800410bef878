"""DeepSpeed's universal checkpoints: `zero/PARAMETER/fp32.pt`, `exp_avg.pt`, …, each parameter whole, in a folder of its own.

Source: deepspeed/checkpoint/ds_to_universal.py (`merge_tp_slices`) and universal_checkpoint.py. It writes the folder
beside that of the step, most often as `global_stepN_universal`, and its name into `latest_universal`.
"""

import os
import re
from collections import Counter

from verikit.probes.formats import folders
from verikit.probes.formats.layout import plural

ZERO = "zero"
LATEST = "latest_universal"
VALUES = re.compile(r"(?:^|/)zero/(.+)/(?:fp32|exp_avg|exp_avg_sq)\.pt$")


def beside(place, folder, names, tag, layout):
    """The universal forms of the step `tag`: what `latest_universal` names, and what is called after it."""
    named = folders.text_of(place, folder, LATEST) if LATEST in names else ""
    for name in sorted({tag + "_universal", named} & set(names) - {tag}):
        if folders.is_folder(place, folder, name):
            inner = place.listdir(os.path.join(folder, name))
            folders.files(place, folder, inner, layout, name + "/")
            parameters(place, folder, inner, name + "/", layout)
    if named and named not in names:
        layout.warn("missing", "%s names %.80r, which is not there" % (LATEST, named))


def parameters(place, folder, names, prefix, layout):
    """The folder of each parameter has the files that the others have. names: those in the step's folder."""
    if ZERO not in names or not folders.is_folder(place, folder, prefix + ZERO):
        return
    kinds = {}
    for name in place.listdir(os.path.join(folder, prefix + ZERO)):
        inner = "%s%s/%s" % (prefix, ZERO, name)
        if not folders.is_folder(place, folder, inner):
            folders.everything([name], layout, "%s%s/" % (prefix, ZERO))
            continue
        found = place.listdir(os.path.join(folder, inner))
        folders.unfinished(found, layout, inner + "/")
        folders.files(place, folder, found, layout, inner + "/")
        kinds[inner] = {each for each in found if each.endswith(".pt")}
        if max(len(layout.members), len(kinds)) > folders.FILES:
            layout.unseen("bound_reached", "%s%s has more than %d files" % (prefix, ZERO, folders.FILES))
            return
    _alike(kinds, layout)


def _alike(kinds, layout):
    counts = Counter(name for found in kinds.values() for name in found)
    usual = {name for name, count in counts.items() if 2 * count > len(kinds)} | {"fp32.pt"}
    lacking = {inner: sorted(usual - found) for inner, found in kinds.items() if usual - found}
    for inner in sorted(lacking)[:4]:
        layout.fault("missing", "%s lacks %s" % (inner, ", ".join(lacking[inner])))
    if len(lacking) > 4:
        layout.fault("missing", "%s more lack files" % plural(len(lacking) - 4, "parameter", "parameters"))


def relate(layout, members):
    """The moments of a parameter are of its shape."""
    first = {}
    for path, part in sorted(members.items()):
        match = None if part.faults else VALUES.search(path)
        for row in part.tensors if match else ():
            shape, other = first.setdefault((os.path.dirname(path), row.name), (row.shape, path))
            if shape != row.shape:
                what = "%r in %s is of shape %s, in %s of %s"
                layout.fault("mismatch", what % (row.name, path, list(row.shape), other, list(shape)))
