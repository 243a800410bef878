"""The folder that the Trainer of transformers writes: weights, optimizer, scheduler, random state, trainer_state.json.

Source: transformers/trainer.py (`_save_checkpoint`, `_save_optimizer_and_scheduler`, `_save_rng_state`) and
trainer_callback.py (`TrainerState`). Names are fixed; each rank keeps its random state as `rng_state_K.pth`, a single
process as `rng_state.pth`. With `save_only_model` there are weights and trainer_state.json only. With DeepSpeed optimizer
and scheduler lie in `global_stepN` (see `deepspeed`); with FSDP weights and optimizer in `pytorch_model_fsdp_0` and
`optimizer_0` (see `dcp`), or whole in `pytorch_model_fsdp.bin` and `optimizer.bin`.
"""

import os
import re
from collections import Counter

from verikit.probes.formats import dcp, folders, optimizer, random_state
from verikit.probes.formats.layout import elements

WEIGHTS = re.compile(
    r"^(?:model|pytorch_model|adapter_model|diffusion_pytorch_model|flax_model|tf_model)\b.*\.(?:safetensors|bin|msgpack|h5)$"
)
ELSEWHERE = re.compile(r"^(?:global_step\d+|.*distcp|latest)$")
"""What keeps weights, optimizer and scheduler in its own way: DeepSpeed, or pieces of a distributed checkpoint."""

SHARDED = re.compile(r"^(?:pytorch_model_fsdp|optimizer)_\d+$")
FSDP_WEIGHTS = re.compile(r"^pytorch_model_fsdp(?:_\d+)?(?:_rank\d+)?(?:\.bin)?$")
OPTIMIZER = re.compile(r"^(?:optimizer\.(?:pt|bin)|rank\d+-of-\d+-optimizer\.pt|optimizer_\d+(?:_rank\d+)?(?:\.bin)?)$")
RANK = re.compile(r"^rng_state_(\d{1,9})\.pth$")
MOMENTS = re.compile(r"^(?:optimizer\.|optimizer_state_dict\.)?state\.\d+\.(exp_avg|momentum_buffer)$")


def structure(place, folder, names, layout):
    """The set is complete, and the step in its name is that of trainer_state.json."""
    folders.everything(names, layout)
    if "trainer_state.json" in names:
        _step(place, folder, layout)
    else:
        layout.fault("missing", "trainer_state.json is missing, though optimizer and scheduler are there")
    elsewhere = any(ELSEWHERE.match(name) for name in names)
    weights = any(WEIGHTS.match(name) or FSDP_WEIGHTS.match(name) for name in names)
    if not weights and not elsewhere:
        what = "there are no weights (model.safetensors, pytorch_model.bin, an index, an adapter%s)"
        sharded = any(map(SHARDED.match, names))
        layout.fault("missing", what % (", or pytorch_model_fsdp_0 as beside optimizer_0" if sharded else ""))
    for inner in filter(SHARDED.match, names):
        if folders.is_folder(place, folder, inner):
            folders.within(place, folder, inner, dcp, layout)
    if not any(name.endswith(".distcp") for name in names):  # pieces right here are somebody's own way of saving
        _resumable(names, elsewhere, layout)
    if "training_args.bin" not in names and "optimizer.pt" in names:
        layout.warn("missing", "training_args.bin is missing, which the Trainer writes beside the rest")
    _ranks(names, layout)


def _step(place, folder, layout):
    state = folders.json_of(place, folder, "trainer_state.json")
    step = state.get("global_step")
    if type(step) is not int or step < 0:
        layout.fault("bad_header", "trainer_state.json has no global_step: %.40r" % (step,))
        return
    layout.tree["global_step"] = str(step)
    layout.notes["step"] = step
    name = os.path.basename(os.path.normpath(folder))
    if name.startswith("tmp-checkpoint-"):
        layout.warn("temporary", "the Trainer renames this folder once its save is complete; it has not")
    match = re.match(r"^(?:tmp-)?checkpoint-(\d+)$", name)
    if match and int(match.group(1)) != step:
        layout.fault("mismatch", "the folder is of step %s, its trainer_state.json of step %d" % (match.group(1), step))


def _resumable(names, elsewhere, layout):
    """Optimizer, scheduler and random state are there together, or none of them is."""
    sharded = any(FSDP_WEIGHTS.match(name) or SHARDED.match(name) for name in names)
    kinds = {
        "optimizer_0" if sharded else "optimizer.pt": elsewhere or any(map(OPTIMIZER.match, names)),
        "scheduler.pt": elsewhere or "scheduler.pt" in names,
        "rng_state.pth": "rng_state.pth" in names or any(RANK.match(name) for name in names),
    }
    if any(kinds.values()):
        for name in sorted(name for name, there in kinds.items() if not there):
            layout.fault("missing", "%s is missing, though the rest of the training state is there" % name)
    else:
        layout.warn("missing", "weights only: without optimizer, scheduler and random state training can't be resumed")


def _ranks(names, layout):
    """Ranks are counted from 0 without a gap; how many there were is written nowhere, so a lost last one does not show."""
    ranks = {int(match.group(1)) for match in map(RANK.match, names) if match}
    # One process alone writes rng_state.pth, so with rng_state_0.pth there was a second.
    lost = next((rank for rank in range(max(2, *ranks, 0)) if rank not in ranks), None) if ranks else None
    if lost is not None:
        layout.fault("missing", "rng_state_%d.pth is missing, of ranks up to %d at least" % (lost, max(1, *ranks, 0)))
    layout.notes["ranks"] = max(1, len(ranks))


def relate(layout, members):
    """The optimizer's moments have shapes that the weights have; no weight is empty."""
    folders.relate_inner(layout, members)
    weights = [row for path, part in members.items() if WEIGHTS.match(path) for row in part.tensors]
    for row in weights:
        if not elements(row.shape) and not layout.notes.get("sharded"):
            layout.fault(
                "empty", "the weight %.100r has no elements (%s): gathered from a shard?" % (row.name, list(row.shape))
            )
    for path, part in members.items():
        if (path == "rng_state.pth" or RANK.match(path)) and not part.faults:
            random_state.judge(path, part, "cpu", layout)
    misplaced = _roles(members, layout)
    _held({path: part for path, part in members.items() if path not in misplaced}, layout)
    file = members.get("optimizer.pt")
    if file is not None and layout.notes.get("step"):
        _states(file, layout)
    if file is not None and not any(members[path].faults for path in members if WEIGHTS.match(path)):
        adapter = any(path.startswith("adapter_model") for path in members)
        moments = optimizer.each_once([row for row in file.tensors if MOMENTS.match(row.name)], file)
        _moments(moments, weights, adapter, layout)


def _moments(moments, weights, adapter, layout):
    """The optimizer's moments have shapes that the weights have; of an adapter, every tensor has some."""
    if not weights or not moments:
        return
    kind = MOMENTS.match(moments[0].name).group(1)
    have = Counter(tuple(row.shape) for row in weights)
    want = Counter(tuple(row.shape) for row in moments if row.name.endswith(kind))
    for shape, count in list((want - have).items())[:1]:
        what = "the optimizer has moments for %d more tensors of shape %s than there are weights"
        layout.fault("mismatch", what % (count, list(shape)))
    rest = have - want
    if rest and adapter:
        shape, count = next(iter(rest.items()))
        what = "the optimizer has no moments for %d adapter tensors of shape %s"
        layout.fault("mismatch", what % (count, list(shape)))
    elif rest:
        layout.notes["without_moments"] = sum(rest.values())  # frozen, tied, or buffers


# What the keys of a file, or what it is made of, show that it holds.
MARKS = (
    ("the optimizer", lambda part: "param_groups" in part.tree and "state" in part.tree),
    ("the scheduler", lambda part: "last_epoch" in part.tree and "_step_count" in part.tree),
    ("the random state", lambda part: sum(key in part.tree for key in ("python", "numpy", "cpu")) > 1),
    ("the arguments", lambda part: str(part.notes.get("root", "")).endswith(("Arguments", "Config"))),
    ("weights", lambda part: part.format == "safetensors"),
)
ROLES = {"optimizer.pt": "the optimizer", "scheduler.pt": "the scheduler", "training_args.bin": "the arguments"}


def _roles(members, layout):
    """No file holds what another should; those that do."""
    misplaced = set()
    for path, part in members.items():
        wanted = "the random state" if path.startswith("rng_state") and "/" not in path else ROLES.get(path)
        found = next((what for what, shown in MARKS if shown(part)), None) if wanted and not part.faults else None
        if found and found != wanted:
            layout.fault("mismatch", "%s holds %s, not %s" % (path, found, wanted))
            misplaced.add(path)
    return misplaced


RANDOM = frozenset(("python", "numpy", "cpu"))
"""Of `_save_rng_state`, which puts a state of each into every file, and asks for each when it loads one."""


def _held(members, layout):
    """The files of the training state hold what is loaded out of them."""
    for path, part in members.items():
        if "/" in path or part.faults or part.unknowns or type(part.root) not in (dict, list, tuple):
            continue
        if path == "optimizer.pt":
            _optimizer(part.root, layout)
        elif path == "rng_state.pth" or RANK.match(path):
            _random(path, part.root, layout)
        elif path == "scheduler.pt" and not part.root:
            layout.warn("empty", "scheduler.pt holds nothing: the learning rate would begin anew")


def _optimizer(root, layout):
    """One of torch's, or several; what of such a one lacks its half can't be loaded. Others have forms of their own."""
    items = [item for _, item in optimizer.found(root)]
    half = {key for key in ("state", "param_groups") if type(root) is dict and key in root}
    if not items and len(half) == 1:
        other = ({"state", "param_groups"} - half).pop()
        layout.fault("missing", "optimizer.pt has %r, but no %r, of which it is one half" % (*half, other))
    elif not items:
        what = "optimizer.pt holds no optimizer (`state` and `param_groups`): lost, or of a form that is not known here"
        layout.unseen("ambiguous", what)
    elif not all(item["param_groups"] and all(map(_listing, item["param_groups"])) for item in items):
        layout.unseen(
            "ambiguous", "optimizer.pt has groups of parameters that list none: lost, or of a form of its own"
        )


def _listing(group):
    return type(group) is not dict or "params" in group


def _random(path, root, layout):
    lacks = sorted(RANDOM - set(root)) if type(root) is dict else []
    if not root:
        layout.fault("empty", "%s holds no random state" % path)
    elif lacks and len(lacks) < len(RANDOM):
        layout.fault(
            "missing", "%s lacks the random state of %s, which is loaded from it" % (path, " and ".join(lacks))
        )
    elif lacks or type(root) is not dict:
        layout.unseen("ambiguous", "%s holds none of the random states that the Trainer keeps there" % path)


def _states(file, layout):
    """Adam and its kin keep a state for each parameter that ever had a gradient; the Trainer gives them no frozen ones."""
    for _, item in optimizer.found(file.root):
        lacks, wanted = optimizer.lacking(item)
        if wanted and lacks == wanted:
            layout.fault("empty", "the optimizer has no state for any of its %d parameters" % wanted)
        elif lacks:
            what = "the optimizer has states for %d of its %d parameters: lost, unless the others never had a gradient"
            layout.unseen("ambiguous", what % (wanted - lacks, wanted))
