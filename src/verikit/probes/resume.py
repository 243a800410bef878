"""The checkpoints of a training run: which entries of a folder are one, newest first.

The number in a name is believed over the clock, since copying changes times: `checkpoint-500`, `global_step1000`,
`iter_0000100`, `epoch=3-step=400.ckpt`, `checkpoint_step20k.pt`, and the plain numbers of Orbax.  What bears no number
(`last.ckpt`) comes before the first numbered one that is not younger than it.
"""

import os
import re

from verikit.probes.place import CannotSee, kind_of
from verikit.probes.stability import TEMPORARY

ENTRIES = 100000
LISTED = 500
STEP = re.compile(r"(?:step|iter|checkpoint|ckpt|update|batch|epoch)[-_=]?(\d{1,15})(k|m)?(?![\d])", re.I)
LAST = re.compile(r"(?:^|[-_.=])(\d{1,15})(k|m)?(?:\.[A-Za-z]\w*)*$", re.I)
SHARD = re.compile(
    r"-\d{5}-of-\d{5}\.|^pytorch_model|^model\.safetensors|^adapter_model|^optimizer|^scheduler|^rng_state|^training_args"
)
OTHER = re.compile(
    r"\.(?:json|jsonl|txt|md|ya?ml|toml|ini|cfg|log|csv|tsv|py|sh|png|jpg|svg|html|lock|sha256|b3|sum|sums|sig|index|out|err)$"
    r"|^(?:latest|latest_checkpointed_iteration\.txt|runs|wandb|logs|tensorboard|lightning_logs|README|LICENSE|events\.out.*)$",
    re.I,
)

WHOLE = frozenset(
    (
        "trainer_state.json",
        "adapter_config.json",
        "model.safetensors",
        "model.safetensors.index.json",
        "pytorch_model.bin",
        "pytorch_model.bin.index.json",
        "manifest.ocdbt",
        ".metadata",
        "_CHECKPOINT_METADATA",
        "_METADATA",
    )
)
"""Files of which a checkpoint that is a folder has one."""

NUMBERED = re.compile(r"(?:checkpoint|global_step|iter|step)[-_]?\d+$")


def candidates(place, folder):
    """{"rows": [{"name", "step", "mtime", "folder", "temporary"}] newest first, "more": n, "pointer": {name: text}}.

    A folder that holds one checkpoint rather than several gives itself, as `"."`.
    """
    names = place.listdir(folder)
    if len(names) > ENTRIES:
        raise CannotSee("bound_reached", "%s has more than %d entries" % (folder, ENTRIES))
    if _is_one(names):
        info = place.stat(folder)
        rows = [{"name": ".", "step": step_of(os.path.basename(os.path.normpath(folder))), "mtime": info.st_mtime}]
        rows[0].update(folder=True, temporary=False)
    else:
        rows = _newest_first([row for row in (_row(place, folder, name) for name in names) if row])
    return {"rows": rows[:LISTED], "more": max(0, len(rows) - LISTED), "pointer": _pointers(place, folder, names)}


def _is_one(names):
    """Whether a folder of these names is itself a checkpoint, rather than a folder of several."""
    return not WHOLE.isdisjoint(names) and not any(NUMBERED.match(name) for name in names)


def _row(place, folder, name):
    path = os.path.join(folder, name)
    try:
        info = place.stat(path)
    except OSError:
        return None  # a dangling link points to no checkpoint
    kind = kind_of(info.st_mode)
    partial = bool(TEMPORARY.search(name))
    if kind not in (None, "a directory") or (OTHER.search(name) and not partial) or name.startswith((".git", ".cache")):
        return None
    if kind is None and (SHARD.search(name) or (not info.st_size and not partial)) and step_of(name) is None:
        return None
    if kind and step_of(name) is None and not _is_one(place.listdir(path)):
        return None
    return {"name": name, "step": step_of(name), "mtime": info.st_mtime, "folder": bool(kind), "temporary": partial}


def step_of(name):
    """The step that a name bears, or None."""
    name = TEMPORARY.sub("", name)
    found = STEP.findall(name)
    steps = re.findall(r"(?:step|iter)[-_=]?(\d{1,15})(k|m)?", name, re.I)
    last = LAST.search(name)
    digits = steps[-1] if steps else found[-1] if found else last.groups() if last else None
    if digits is None:
        return None
    return int(digits[0]) * {"k": 1000, "m": 1000000}.get((digits[1] or "").lower(), 1)


def _newest_first(rows):
    numbered = sorted((row for row in rows if row["step"] is not None), key=lambda row: (row["step"], row["mtime"]))
    numbered.reverse()
    for row in sorted((row for row in rows if row["step"] is None), key=lambda row: row["mtime"]):
        at = next((i for i, other in enumerate(numbered) if other["mtime"] <= row["mtime"]), len(numbered))
        numbered.insert(at, row)
    return numbered


def _pointers(place, folder, names):
    """What the run's own note says is the last: DeepSpeed's and Megatron's."""
    found = {}
    for name in ("latest", "latest_checkpointed_iteration.txt"):
        if name in names and kind_of(place.stat(os.path.join(folder, name)).st_mode) is None:
            with place.open(os.path.join(folder, name)) as file:
                found[name] = file.read(200).decode("utf-8", "replace").strip()
    return found
