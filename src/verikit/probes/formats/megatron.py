"""Megatron-LM: `latest_checkpointed_iteration.txt` names an iteration; its folder is a distributed checkpoint, or one of ranks.

Source: megatron/training/checkpointing.py (`get_checkpoint_name`, `read_metadata`) and
megatron/core/dist_checkpointing/core.py (`CheckpointingConfig`, metadata.json). Newer: `iter_0000500/` with metadata.json
(sharded_backend `torch_dist`), common.pt and what torch.distributed.checkpoint writes (see `dcp`). Older:
`iter_0000500/mp_rank_TT[_PPP][_EEE]/model_optim_rng.pt` for each tensor-, pipeline- and expert-parallel rank; PPP stands
there where there are several stages, EEE where there are several groups of experts. How many there were stand in `args`.
"""

import os
import re

from verikit.probes.formats import copies, dcp, folders
from verikit.probes.formats.layout import Broken, elements
from verikit.probes.formats.pickle_walk import Call

TRACKER = "latest_checkpointed_iteration.txt"
ITERATION = re.compile(r"^iter_\d{7}$")
RANK = re.compile(r"^mp_rank_(\d{1,9})(?:_(\d{1,9}))?(?:_(\d{1,9}))?$")
STAGES = "pipeline_model_parallel_size"
AXES = {
    "tensor_model_parallel_size": "tensor-parallel ranks",
    STAGES: "pipeline stages",
    "expert_model_parallel_size": "expert-parallel ranks",
}
"""The argument that says how many there were of each, in the order of the folders' names."""


def structure(place, folder, names, layout):
    """The tracker leads to an iteration, and that is whole."""
    if TRACKER not in names and any(map(ITERATION.match, names)):
        _untracked(place, folder, names, layout)
        return
    if TRACKER not in names:
        if "metadata.json" not in names and not any(map(RANK.match, names)):
            layout.warn("missing", "%s is missing" % TRACKER)
        _iteration(place, folder, names, "", layout)
        return
    folders.files(place, folder, names, layout)
    text = folders.said_in(place, folder, TRACKER)
    inner = "release" if text == "release" else "iter_%07d" % int(text) if text.isdigit() and len(text) < 12 else None
    if inner is None:
        layout.fault("bad_header", "%s says %.80r, which is neither a number nor `release`" % (TRACKER, text))
        return
    layout.notes["inner"] = inner
    if not folders.is_folder(place, folder, inner):
        layout.fault("missing", "%s says %s, but there is no %s" % (TRACKER, text, inner))
        return
    _iteration(place, folder, place.listdir(os.path.join(folder, inner)), inner, layout)


def _untracked(place, folder, names, layout):
    """Iterations without the tracker: no loader finds them. What is no iteration of Megatron's is looked at as it is."""
    inner = {name: place.listdir(os.path.join(folder, name)) for name in sorted(filter(ITERATION.match, names))}
    own = [name for name, found in inner.items() if "metadata.json" in found or any(map(RANK.match, found))]
    if own:
        layout.fault("missing", "%s is missing, by which loaders find %s" % (TRACKER, own[-1]))
        _iteration(place, folder, inner[own[-1]], own[-1], layout)
    for name in inner if not own else ():
        folders.all_within(place, folder, name, layout)


def _iteration(place, folder, names, inner, layout):
    where, prefix = os.path.join(folder, inner) if inner else folder, inner + "/" if inner else ""
    if inner:
        folders.unfinished(names, layout, prefix)
    if inner and inner.startswith("iter_"):
        layout.notes["step"] = int(inner[5:])
    folders.files(
        place, folder, [name for name in names if not name.endswith(".distcp")], layout, prefix
    )  # `dcp` has its say
    if any(map(RANK.match, names)):
        _ranks(place, folder, names, prefix, layout)
        return
    if "metadata.json" not in names:
        layout.fault("missing", "%smetadata.json is missing" % prefix)
        return
    backend = folders.json_of(place, where, "metadata.json").get("sharded_backend")
    if backend != "torch_dist":
        layout.unseen("unsupported", "the sharded backend %.40r is not known here; torch_dist is" % (backend,))
    layout.member(prefix + "common.pt")
    if backend == "torch_dist" and inner:  # without `inner` the row of `dcp` has its own say
        folders.within(place, folder, inner, dcp, layout)
    elif backend == "torch_dist" and ".metadata" not in names:
        layout.fault("missing", ".metadata is missing: the save died before its last step")


def _ranks(place, folder, names, prefix, layout):
    """Every rank of the grid is there, with the same files."""
    ranks = [match.group() for match in map(RANK.match, names) if match]
    _grid(ranks, layout)
    there = {name: place.listdir(os.path.join(folder, prefix + name)) for name in sorted(ranks)}
    for name, found in there.items():
        folders.unfinished(found, layout, "%s%s/" % (prefix, name))
        folders.files(place, folder, found, layout, "%s%s/" % (prefix, name))
    every = {each for found in there.values() for each in found if each.endswith(".pt")}
    if not every:
        layout.fault("missing", "the folders of the ranks hold nothing")
    for name in there:
        for file in sorted(every):
            # Only the first of the data-parallel ranks writes the distributed optimizer.
            layout.member("%s%s/%s" % (prefix, name, file), required=file != "distrib_optim.pt")


def _grid(ranks, layout):
    """The numbers in the names of ranks fill a grid, from 0 to the greatest along each axis."""
    cells = {tuple(int(part) for part in RANK.match(name).groups() if part is not None) for name in ranks}
    if len({len(cell) for cell in cells}) > 1:
        names = ", ".join(sorted(ranks)[:3])
        raise Broken("mismatch", "folders of ranks are named in different ways, such as %s" % names)
    sizes = [max(numbers) + 1 for numbers in zip(*cells)]
    if len(cells) != elements(sizes):
        layout.fault("missing", "%d ranks are there of a grid of %s" % (len(cells), " x ".join(map(str, sizes))))


def relate(layout, members):
    """Pieces are what `.metadata` says; the step inside is that of the folder, the ranks are those of the arguments."""
    folders.relate_inner(layout, members)
    step = layout.notes.get("step")
    copies.tell({path: part for path, part in members.items() if _of_rank(path)}, layout, matrices=2)
    for path, part in members.items():
        inside = part.tree.get("iteration", "")
        if step is not None and inside.isdigit() and int(inside) != step:
            layout.fault("mismatch", "%s is of iteration %s, its folder of %d" % (path, inside, step))
    for path, part in members.items():
        _by_its_name(path, _arguments(part), layout)
    _as_said(layout, [_arguments(part) for part in members.values()], list(filter(None, map(_of_rank, members))))


def _by_its_name(path, told, layout):
    """The tensor-parallel rank in a path is the one that its own arguments tell."""
    match, rank, wide = _of_rank(path), told.get("rank", -1), told.get("tensor_model_parallel_size", 0)
    if match and wide > 1 and rank >= 0 and rank % wide != int(match.group(1)):
        what = "%s was saved by rank %d by its arguments, which is tensor-parallel rank %d"
        layout.warn("mismatch", what % (path, rank, rank % wide))


def _as_said(layout, arguments, ranks):
    """As many ranks are there of each kind as the arguments say; forks do not give experts a number in the names."""
    said = {key: max((told.get(key, 1) for told in arguments), default=1) for key in AXES}
    cells = [[int(part) for part in match.groups() if part is not None] for match in ranks]
    named = [key for key in AXES if key == "tensor_model_parallel_size" or said[key] > 1]
    for axis, key in enumerate(named if cells else ()):
        there = 1 + max((cell[axis] for cell in cells if axis < len(cell)), default=0)
        counted = key == STAGES or axis < max(map(len, cells))
        if counted and there < said[key]:
            layout.fault("missing", "its arguments speak of %d %s, %d are there" % (said[key], AXES[key], there))


def _of_rank(path):
    return RANK.match(path.rpartition("/")[0].rpartition("/")[2])


def _arguments(part):
    """The whole numbers of the argparse.Namespace that Megatron keeps as `args`."""
    args = part.root.get("args") if type(part.root) is dict else None
    state = args.state if type(args) is Call and type(args.state) is dict else {}
    return {key: value for key, value in state.items() if type(value) is int}
