"""DeepSpeed's pipelines: a file for each layer, which hold all weights of the model; `module` in the model states is None.

Source: deepspeed/runtime/pipe/module.py (`ckpt_layer_path`, `save_state_dict`) and topology.py (`get_rank_repr`):
`layer_LL-model_states.pt`, or `layer_LL-model_MM-model_states.pt` for each model-parallel rank; other axes of a topology
stand in the place of `model`.  Layers that are functions are numbered and have no file, so numbers may have gaps.
"""

import re

from verikit.probes.formats import deepspeed_zero as zero

LAYER = re.compile(r"^layer_(\d{1,9})(?:-(.+))?-model_states\.pt$")
MODEL_PART = re.compile(r"^model_(\d{1,9})$")
OF_LAYER = re.compile(r"^(\d{1,9})\.")
"""A parameter of a layer, in `param_shapes`: layers are modules whose names are their numbers."""

MOST = 4096
TOLD = 4


def complete(names, layout):
    """Each layer has a part of every model-parallel rank of which any has one."""
    parts = {}
    for match in filter(None, map(LAYER.match, names)):
        parts.setdefault(int(match.group(1)), set()).add(match.group(2) or "")
    every = _ranks(set().union(*parts.values()))
    lost = [(layer, rank) for layer in sorted(parts) for rank in sorted(every - parts[layer])]
    for layer, rank in lost[:TOLD]:
        layout.fault("missing", "layer %d lacks the part of %s, which other layers have" % (layer, rank or "all ranks"))
    if len(lost) > TOLD:
        layout.fault("missing", "{:,} more parts of layers are missing".format(len(lost) - TOLD))


def _ranks(parts):
    """These, and the model-parallel ranks before the last of them: ranks are counted from 0."""
    numbers = [int(match.group(1)) for match in map(MODEL_PART.match, parts) if match]
    return parts | {"model_%02d" % number for number in range(min(MOST, max(numbers, default=0)))}


def relate(layout, states, models):
    """Where the model states hold no weights, layers do: those that `param_shapes` speaks of are all there.

    states: {name: Layout} of the step; models: those of the model states.
    """
    there = {int(match.group(1)) for match in map(LAYER.match, states) if match}
    whole = [part for part in models.values() if zero.readable(part)]
    if not whole or len(whole) < len(models) or any(zero.field(part, "module") is not None for part in whole):
        return
    if not there:
        what = "no weights: `module` is None in the model states, as pipelines write it, and there are no layer files"
        layout.fault("missing", what)
        return
    told = {int(match.group(1)) for part in whole for match in map(OF_LAYER.match, zero.shapes(part)) if match}
    for layer in sorted(told - there)[:TOLD]:
        layout.fault("missing", "no file of layer %d, of which param_shapes names weights" % layer)
    gaps = [] if told else [layer for layer in range(min(there), min(max(there), MOST)) if layer not in there]
    if gaps:
        shown = ", ".join(map(str, gaps[:TOLD])) + (", …" if len(gaps) > TOLD else "")
        layout.warn("missing", "no files of layers %s: lost, unless these have no weights" % shown)
