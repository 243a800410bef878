"""What PyTorch Lightning puts into its `.ckpt`, a file of torch's: the keys of a whole run, and what they say of each other.

Source: lightning/pytorch/trainer/connectors/checkpoint_connector.py, `dump_checkpoint`: epoch, global_step,
pytorch-lightning_version, state_dict and loops always; optimizer_states, lr_schedulers and callbacks unless
`save_weights_only`.  Under the strategies for FSDP and DeepSpeed a `.ckpt` is a folder (see `dcp`, `deepspeed`).
"""

import re
from collections import Counter

from verikit.probes.formats import optimizer

MARK = "pytorch-lightning_version"
ALWAYS = ("epoch", "global_step", "state_dict")
MOMENT = re.compile(r"^optimizer_states\.\d+\.state\.[^.]+\.(exp_avg|momentum_buffer)$")


def judge(layout):
    """The keys are complete, and the optimizer's moments have shapes that the weights have."""
    layout.notes["lightning"] = layout.tree[MARK]
    for key in ALWAYS:
        if key not in layout.tree:
            layout.fault("missing", "a checkpoint of Lightning without %r" % key)
    if str(layout.tree.get("global_step", "")).isdigit():
        layout.notes["step"] = int(layout.tree["global_step"])
    if layout.tree.get("state_dict") == "mapping of 0":
        layout.fault("empty", "its state_dict is empty")
    if "loops" not in layout.tree:
        layout.warn("missing", "without 'loops' a run goes on from the beginning of its epoch")
    if "optimizer_states" not in layout.tree:
        layout.warn("missing", "weights only: without optimizer_states training can't be resumed")
    weights = Counter(tuple(row.shape) for row in layout.tensors if row.name.startswith("state_dict."))
    moments = optimizer.each_once([row for row in layout.tensors if MOMENT.match(row.name)], layout)
    one = moments and MOMENT.match(moments[0].name).group(1)
    lacks = Counter(tuple(row.shape) for row in moments if row.name.endswith(one)) - weights if moments else {}
    if lacks and weights:
        shape, count = next(iter(lacks.items()))
        what = "the optimizer has moments for %d more tensors of shape %s than state_dict has" % (count, list(shape))
        layout.fault("mismatch", what)
