"""DeepSpeed: `latest` names a folder in which every rank has left its part of weights and optimizer.

Source: deepspeed/runtime/engine.py (`_get_ckpt_name`, `_get_zero_ckpt_name`, `save_checkpoint`) and zero_to_fp32.py:
`mp_rank_MM_model_states.pt` for each model-parallel rank, `[bf16_]zero_pp_rank_D_mp_rank_MM_optim_states.pt` for each
data-parallel rank of it; under ZeRO-3 also `zero_pp_rank_D_mp_rank_MM_model_states.pt`.  Pipelines write `layer_LL-…`
(`deepspeed_layers`), experts `layer_L_expert_E_…`; `zero/` is a universal form (`deepspeed_universal`).  How many ranks
there were stands inside (`dp_world_size`), so a lost last one shows (`deepspeed_zero`).  Flat partitions are of one length
on all ranks, but for the last, which may lack the padding.
"""

import itertools
import os
import re
from collections import Counter

from verikit.probes.formats import copies, deepspeed_layers, deepspeed_universal, deepspeed_zero, folders

MODEL = re.compile(r"^(?:zero_pp_rank_(\d{1,9})_)?mp_rank_(\d{1,9})_model_states\.pt$")
OPTIM = re.compile(
    r"^(?:bf16_|fp16_)?zero_pp_rank_(\d{1,9})_mp_rank_(\d{1,9})_?optim_states\.pt$"
)  # early ones without "_"
LAYER = deepspeed_layers.LAYER
EXPERT = re.compile(r"^layer_(\d{1,9})_expert_(\d{1,9})_mp_rank_(\d{1,9})_model_states\.pt$")
TAG = re.compile(r"^global_step(\d{1,18})$")
PADDING = 64
LOST = "`latest` is missing, so no loader finds the step: look at the step's own folder"
STATES = re.compile(r"(?:[_-]model|optim)_states\.pt$")


def structure(place, folder, names, layout):
    """`latest` leads to a folder; in it no rank is missing."""
    if any(STATES.search(name) for name in names):
        _step(place, folder, names, "", layout)
        return
    if all(TAG.match(name) for name in names):
        _bare(place, folder, names, layout)
        return
    if "latest" not in names:
        layout.fault("missing", LOST)
        return
    tag = folders.said_in(place, folder, "latest")
    if not tag or "/" in tag or tag in (".", "..") or "\0" in tag:
        layout.fault("bad_header", "`latest` names no folder: %.80r" % tag)
        return
    layout.notes["tag"] = tag
    if not folders.is_folder(place, folder, tag):
        layout.fault("missing", "`latest` names %s, which is not there" % tag)
        return
    inner = place.listdir(os.path.join(folder, tag))
    if not any(STATES.search(name) for name in inner):
        layout.fault("missing", "%s, which `latest` names, holds no states" % tag)
    folders.unfinished(inner, layout, tag + "/")
    folders.files(place, folder, names, layout)
    _step(place, folder, inner, tag + "/", layout)
    deepspeed_universal.beside(place, folder, names, tag, layout)


def _bare(place, folder, names, layout):
    """Steps and nothing beside them: a run that has lost its `latest`, or somebody else's steps of that name."""
    for name in names:
        if folders.is_folder(place, folder, name):
            folders.all_within(place, folder, name, layout)
    if any(STATES.search(member.path) for member in layout.members):
        layout.fault("missing", LOST)


def _step(place, folder, names, prefix, layout):
    """Whatever lies in the folder of a step is read; the ranks, layers and experts of its states are complete."""
    folders.files(place, folder, names, layout, prefix)
    deepspeed_universal.parameters(place, folder, names, prefix, layout)
    optim = [match.groups() for match in map(OPTIM.match, names) if match]
    parted = [match.groups() for match in map(MODEL.match, names) if match]
    _grid(optim, "optimizer states", layout)
    _grid([pair for pair in parted if pair[0] is not None], "model states", layout)
    _grid([("0", model) for rank, model in parted if rank is None], "model states", layout)
    deepspeed_layers.complete(names, layout)
    _experts(names, layout)
    universal = deepspeed_universal.ZERO in names
    _halves(optim, parted, any(map(LAYER.match, names)), universal, layout)


def _halves(optim, parted, layers, universal, layout):
    """Model states and optimizer states are there together, of the same ranks."""
    if not parted and (optim or not layers):
        what = "there are %s, but no model states" % ("layers and optimizer states" if layers else "optimizer states")
        layout.fault("missing", what)
    elif not parted:
        layout.warn("missing", "layers only: without the model states of the ranks DeepSpeed finds no checkpoint")
    elif not optim and not universal:
        layout.warn("missing", "weights only: without optimizer states training can't be resumed")
    elif optim and any(rank is not None for rank, _ in parted):  # ZeRO-3: each rank leaves both
        for rank, model in sorted(set(optim) - set(parted))[:4]:
            what = "the optimizer states of rank %s, model-parallel rank %s, are there, its model states are not"
            layout.fault("missing", what % (rank, model))
    lost = {model for _, model in optim} - {model for _, model in parted} if parted else ()
    for model in sorted(lost)[:4]:
        layout.fault("missing", "there are optimizer states of model-parallel rank %s, but no model states" % model)


def _experts(names, layout):
    """Of each layer of experts, counted from 0, every expert up to the last has its part of every model-parallel rank."""
    layers = {}
    for layer, expert, model in (match.groups() for match in map(EXPERT.match, names) if match):
        layers.setdefault(int(layer), []).append((expert, model))
    lost = [layer for layer in range(min(max(layers, default=0), folders.FILES)) if layer not in layers]
    if lost:
        layout.fault("missing", "the experts of layer %d are missing, of layers up to %d" % (lost[0], max(layers)))
    for layer, pairs in sorted(layers.items()):
        _grid(pairs, "experts of layer %d" % layer, layout, one="expert")


def _grid(pairs, what, layout, one="rank"):
    """Every rank from 0 on has its part for every other coordinate."""
    cells = {(int(first), int(other)) for first, other in pairs}
    if not cells:
        return
    rows = range(1 + max(first for first, _ in cells))
    columns = range(1 + max(other for _, other in cells))
    # Lazily: a name may claim any rank, and then the first gaps are near.
    gaps = ((first, other) for first in rows for other in columns if (first, other) not in cells)
    for first, other in itertools.islice(gaps, 4):
        layout.fault("missing", "the %s of %s %d, model-parallel rank %d, are missing" % (what, one, first, other))
    lost = len(rows) * len(columns) - len(cells)
    if lost > 4:
        layout.fault("missing", "the {} of {:,} more {}s are missing".format(what, lost - 4, one))


def relate(layout, members):
    """As many ranks as the model states say; one step; partitions of one length."""
    folders.relate_inner(layout, members)
    prefix = layout.notes.get("tag", "")
    parts = folders.inside(prefix, members) if prefix else members
    states = {name: part for name, part in parts.items() if STATES.search(name)}
    _world(layout, states)
    _tag(layout, states)
    for key in ("global_steps", "dp_world_size", "mp_world_size"):
        values = {part.tree[key] for part in states.values() if key in part.tree}
        if len(values) > 1:
            layout.fault(
                "mismatch", "parts of different runs or times: %s is %s" % (key, " and ".join(sorted(values)[:4]))
            )
    optim = {name: part for name, part in states.items() if OPTIM.match(name) and not part.faults}
    _held(layout, states)
    ranks = {(OPTIM.match(name).group(2), name): part for name, part in optim.items()}
    deepspeed_zero.alike(layout, ranks)
    deepspeed_zero.one_save(layout, ranks)
    _partitions(layout, optim)
    copies.tell(optim, layout)
    whole = {name: part for name, part in states.items() if MODEL.match(name) and MODEL.match(name).group(1) is None}
    copies.tell(whole, layout, matrices=2)
    models = {name: part for name, part in states.items() if MODEL.match(name)}
    if not any(path.startswith(deepspeed_universal.ZERO + "/") for path in parts):
        there = {OPTIM.match(name).group(2) for name in states if OPTIM.match(name)}
        deepspeed_zero.lost(layout, {(MODEL.match(name).group(2), name): each for name, each in models.items()}, there)
    deepspeed_zero.hollow(layout, whole, deepspeed_zero.stage(states))
    deepspeed_layers.relate(layout, states, models)
    deepspeed_universal.relate(layout, members)


# By whom it is written, `_save_zero_checkpoint` and `save_checkpoint`, and asked for when it is loaded.
HOLDS = ((OPTIM, "optimizer_state_dict"), (MODEL, "module"))


def _held(layout, states):
    """Every file has what is loaded out of it."""
    for name, part in states.items():
        if part.faults or part.unknowns or type(part.root) not in (dict, list, tuple):
            continue
        for form, key in HOLDS:
            if form.match(name) and (type(part.root) is not dict or key not in part.root):
                layout.fault("missing", "%s lacks %r, which is loaded from it" % (name, key))
            elif form is OPTIM and form.match(name) and part.root[key] in ({}, None):
                layout.fault("empty", "%s has nothing in %r" % (name, key))


def _world(layout, states):
    wide = {int(part.tree["mp_world_size"]) for part in states.values() if part.tree.get("mp_world_size", "").isdigit()}
    models = {int(match.group(2)) for match in map(MODEL.match, states) if match}
    if len(wide) == 1 and models and max(models) + 1 < max(wide):
        what = "the model states speak of %d model-parallel ranks, states are there of %d"
        layout.fault("missing", what % (max(wide), max(models) + 1))
    said = {int(part.tree["dp_world_size"]) for part in states.values() if part.tree.get("dp_world_size", "").isdigit()}
    ranks = {int(match.group(1)) for match in map(OPTIM.match, states) if match}
    if len(said) == 1 and ranks and max(ranks) + 1 < max(said):
        what = "the model states speak of %d data-parallel ranks, optimizer states are there of %d"
        layout.fault("missing", what % (max(said), max(ranks) + 1))
    _cut_alike(layout, states, max(ranks, default=0) + 1)


def _cut_alike(layout, states, ranks):
    """All ranks were cut into as many parts, and as many are there. The model states may count other ranks as well."""
    counts = {_partition_count(part) for name, part in states.items() if OPTIM.match(name)} - {None}
    if len(counts) > 1:
        what = "parts of different runs: their partition_count is %s"
        layout.fault("mismatch", what % " and ".join(map(str, sorted(counts)[:4])))
    elif counts and ranks < max(counts):
        what = "the optimizer was cut into %d parts (partition_count), %d are there"
        layout.fault("missing", what % (max(counts), ranks))


def _partition_count(part):
    """Into how many parts a rank's optimizer was cut: a number for each group, of which those of experts have fewer."""
    states = part.root.get("optimizer_state_dict") if type(part.root) is dict else None
    told = states.get("partition_count") if type(states) is dict else None
    counts = [count for count in (told if type(told) is list else [told]) if type(count) is int]
    return max(counts, default=None)


def _tag(layout, states):
    """A folder that has a step's name, as the default tag has, is of that step."""
    folder = layout.notes.get("tag") or os.path.basename(os.path.normpath(layout.path))
    named = TAG.match(folder)
    steps = {part.tree["global_steps"] for part in states.values() if part.tree.get("global_steps", "").isdigit()}
    if named and len(steps) == 1 and int(named.group(1)) != int(*steps):
        what = "the folder %s has states of step %s: copied or named by hand, or of another save"
        layout.unseen("ambiguous", what % (folder, *steps))


def _partitions(layout, states):
    """Flat tensors of one name are of one length; the last rank's may be shorter by its padding."""
    by_rank = {}
    for name, part in states.items():
        rank, model = (int(group) for group in OPTIM.match(name).groups())
        for row in part.tensors:
            if len(row.shape) == 1:
                by_rank.setdefault((model, row.name), {})[rank] = row.shape[0]
    for (_, name), lengths in sorted(by_rank.items()):
        last = max(lengths)
        full = Counter(length for rank, length in lengths.items() if rank != last)
        if len(full) > 1:
            usual = Counter(lengths.values()).most_common(1)[0][0]
            odd = min(rank for rank, length in lengths.items() if length != usual and rank != last)
            what = "the partition %.100r has %d elements on rank %d, %d on others"
            layout.fault("mismatch", what % (name, lengths[odd], odd, usual))
        elif full and 2 * lengths[last] < max(full) and max(full) - lengths[last] > 4 * len(lengths) + PADDING:
            what = "the partition %.100r of the last rank has %d elements, of the others %d: more than padding"
            layout.fault("mismatch", what % (name, lengths[last], max(full)))
        elif full and lengths[last] > max(full):
            layout.fault("mismatch", "the partition %.100r of the last rank is longer than the others" % name)
