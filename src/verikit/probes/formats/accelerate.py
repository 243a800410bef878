"""The folder that `save_state` of accelerate writes: weights, optimizer, scheduler, samplers, random states.

Source: accelerate/checkpointing.py (`save_accelerator_state`, `save_custom_state`), accelerator.py (`save_state`) and
utils/fsdp_utils.py.  `random_states_N.pkl` of each process is always there.  Weights are `model.safetensors` or
`pytorch_model.bin`, of further models with `_1`, …; under FSDP `pytorch_model_fsdp_0/` and `optimizer_0/` (see `dcp`), under
DeepSpeed `pytorch_model/` (see `deepspeed`), under Megatron-LM what that writes.  A hook of the program may keep
weights under names of its own, most often in a folder (`unet/` of diffusers' scripts), so only none at all are missed.
"""

import os
import re

from verikit.probes.formats import dcp, folders, random_state, signs

RANDOM = re.compile(r"^random_states_(\d{1,9})\.pkl$")
SCHEDULER = re.compile(r"^scheduler(?:_\d+)?\.bin$")
OPTIMIZER = re.compile(r"^optimizer(?:_\d+)?(?:_rank\d+)?(?:\.bin)?$")
REST = re.compile(r"^(?:sampler(?:_\d+)?\.bin|dl_state_dict(?:_\d+)?\.bin|scaler\.pt)$")
CUSTOM = re.compile(r"^custom_checkpoint_\d+\.pkl$")
SHARDED = re.compile(r"^(?:pytorch_model_fsdp|optimizer)_\d+$")
DEEPSPEED = re.compile(r"^pytorch_model(?:_\d+)?$")
OTHERS = ("latest", "latest_checkpointed_iteration.txt")
"""By which DeepSpeed and Megatron-LM find what they keep by themselves, optimizer and scheduler among it."""


def structure(place, folder, names, layout):
    """Weights and an optimizer are there, if there was a scheduler; random states are numbered without a gap."""
    folders.everything(names, layout)
    inner = [name for name in names if _holds(place, folder, name)]
    for name in inner:
        if SHARDED.match(name):
            folders.within(place, folder, name, dcp, layout)
        elif DEEPSPEED.match(name) and "latest" not in names:  # which is DeepSpeed's to judge
            folders.all_within(place, folder, name, layout)
    _complete(names, inner, layout)
    _ranks(names, layout)


def _holds(place, folder, name):
    """Whether it is a folder with anything of a checkpoint in it, or in the folders there."""
    if name.startswith(".") or not folders.is_folder(place, folder, name):
        return False
    names = place.listdir(os.path.join(folder, name))
    deeper = (each for each in names if folders.is_folder(place, os.path.join(folder, name), each))
    return any(map(_of_checkpoint, names)) or any(
        any(map(_of_checkpoint, place.listdir(os.path.join(folder, name, each)))) for each in deeper
    )


def _of_checkpoint(name):
    return bool(signs.wanted(name)) or name == ".metadata"


def _complete(names, inner, layout):
    saved = any(RANDOM.match(name) or SCHEDULER.match(name) for name in names)
    elsewhere = any(name in names for name in OTHERS)
    weights = elsewhere or any(not OPTIMIZER.match(name) for name in inner) or any(map(_weights, names))
    optimizer = elsewhere or any(map(OPTIMIZER.match, names)) or any(map(DEEPSPEED.match, inner))
    if not weights and any(map(CUSTOM.match, names)):
        what = "there are no weights, unless an object that the program registered (custom_checkpoint_N.pkl) has them"
        layout.unseen("ambiguous", what)
    elif not weights:
        what = "there are no weights (model.safetensors, pytorch_model.bin, or a folder of them)"
        tell = layout.fault if saved else layout.warn
        tell("missing", what + (", though accelerate's save_state left the rest" if saved else ": an optimizer alone"))
    if not optimizer and any(map(SCHEDULER.match, names)):
        layout.fault("missing", "optimizer.bin is missing, though scheduler.bin is there")
    if not any(map(RANDOM.match, names)):
        layout.warn("missing", "no random_states_N.pkl, which accelerate's save_state leaves of each process")


def _weights(name):
    """Whether it may hold weights, by any name but those of the rest."""
    return bool(signs.wanted(name)) and not any(
        each.match(name) for each in (RANDOM, SCHEDULER, OPTIMIZER, REST, CUSTOM)
    )


def _ranks(names, layout):
    """Processes are counted from 0; a node that saves by itself has those of its own, and how many is written nowhere."""
    ranks = sorted(int(match.group(1)) for match in map(RANDOM.match, names) if match)
    if ranks and ranks[-1] - ranks[0] >= len(ranks):
        lost = next(rank for rank, there in enumerate(ranks, ranks[0]) if rank != there)
        layout.fault("missing", "random_states_%d.pkl is missing, of processes up to %d at least" % (lost, ranks[-1]))
    elif ranks and ranks[0]:
        layout.warn(
            "missing", "the random states begin at process %d: those before it are of another node, or lost" % ranks[0]
        )


def relate(layout, members):
    """What the folders within say; random states are of a size that torch takes."""
    folders.relate_inner(layout, members)
    for path, part in members.items():
        if RANDOM.match(path) and not part.faults:
            random_state.judge(path, part, "torch_manual_seed", layout)
