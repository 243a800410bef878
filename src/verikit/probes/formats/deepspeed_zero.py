"""ZeRO's states in a DeepSpeed save: what model states say of the optimizer's, and what those of the ranks have alike.

Source: deepspeed/runtime/engine.py (`_common_checkpoint_state`: `optimizer` is None and `param_shapes` filled exactly
where ZeRO keeps the optimizer, and then every data-parallel rank writes its own file), runtime/zero/stage_1_and_2.py and
stage3.py (`state_dict`).  Below stage 3 the model states hold all weights whole.
"""

from verikit.probes.formats import dcp, optimizer
from verikit.probes.formats.layout import elements, plural
from verikit.probes.formats.pickle_walk import Call

PATHS = 1 << 16
"""Entries of an optimizer that are compared, of each rank: flat partitions, so a few for each group of parameters."""

DEEP = 3
WHOLE = 3
"""The first stage of ZeRO at which the model states hold no weights."""


def readable(part):
    """Whether what its pickle holds is known."""
    return not part.faults and not part.unknowns and type(part.root) is dict


def field(part, *keys):
    """What stands under these keys, one in the other; None where any is not there."""
    item = part.root
    for key in keys:
        item = item.get(key) if type(item) is dict else None
    return item


def shapes(part):
    """{name: shape} of the weights that ZeRO partitions, by `param_shapes`: a mapping for each group."""
    told = field(part, "param_shapes")
    groups = [group for group in (told if type(told) is list else [told]) if type(group) is dict]
    return {name: dcp.size_of(shape) for group in groups for name, shape in group.items() if type(name) is str}


def ranks(part):
    """How many data-parallel ranks left their optimizer states, as the model states say; None where ZeRO is not told."""
    wide = field(part, "dp_world_size")
    own = field(part, "optimizer") is None and bool(shapes(part))
    return wide if own and type(wide) is int and wide > 0 else None


def stage(states):
    """The stage of ZeRO that these files tell, if they agree on one; None otherwise."""
    told = {_number(field(part, *keys)) for part in states.values() if readable(part) for keys in STAGES} - {None}
    return told.pop() if len(told) == 1 else None


STAGES = (("optimizer_state_dict", "zero_stage"), ("ds_config", "zero_optimization", "stage"))


def _number(value):
    """A number, or what a member of an enumeration of numbers pickles as."""
    if type(value) is Call and type(value.args) is tuple and len(value.args) == 1:
        value = value.args[0]
    return value if type(value) is int else None


def one_save(layout, optim):
    """All ranks tell one stage, and, of one model-parallel rank, the optimizer of each is at one step.

    optim: {(model-parallel rank, name): Layout}.
    """
    stages = {_number(field(part, *STAGES[0])) for part in optim.values() if readable(part)} - {None}
    if len(stages) > 1:
        what = "parts of different runs: their zero_stage is %s"
        layout.fault("mismatch", what % " and ".join(map(str, sorted(stages)[:4])))
    first = {}
    for (model, name), part in sorted(optim.items()):
        for place, step in optimizer.steps(part):
            other = first.setdefault((model, place), (step, name))
            if other[0] != step:
                what = "%s and %s are of different times: the steps of their optimizers differ (%s)"
                layout.fault("mismatch", what % (other[1], name, ".".join(place)))
                break


def lost(layout, models, there):
    """No optimizer state is there of model-parallel ranks whose model states say that ZeRO left some.

    models: {(model-parallel rank, name): Layout}; there: the model-parallel ranks that have optimizer states.
    """
    said = {rank: ranks(part) for (rank, _), part in models.items() if rank not in there and readable(part)}
    said = {rank: wide for rank, wide in said.items() if wide}
    if said:
        what = "the optimizer states of %s are missing: by the model states ZeRO kept them (dp_world_size %s)"
        wide = ", ".join(map(str, sorted(set(said.values()))[:4]))
        layout.fault("missing", what % (plural(sum(said.values()), "rank", "ranks"), wide))


def hollow(layout, models, stage_told):
    """Below stage 3 no weight is a placeholder without elements.  models: {name: Layout} of the whole model states."""
    if stage_told is not None and stage_told >= WHOLE:
        return
    for name, part in models.items():
        wanted = {key: shape for key, shape in shapes(part).items() if shape is not None and elements(shape)}
        empty = _empty(part, wanted) if wanted and readable(part) else []
        if empty:
            what = "%s: %d of %d weights have no elements, %.100r first, which param_shapes says is %s" % (
                name, len(empty), len(wanted), empty[0], list(wanted[empty[0]]),
            )  # fmt: skip
            _tell(layout, what, stage_told)


def _empty(part, wanted):
    """The names of wanted weights that are there without elements; all of them, where `module` is empty."""
    if field(part, "module") == {}:
        return sorted(wanted)
    held = {row.name[len("module.") :] for row in part.tensors if not elements(row.shape)}
    return [key for key in wanted if key in held]


def _tell(layout, what, stage_told):
    if stage_told is None:
        layout.unseen("ambiguous", what + "; that is right under ZeRO-3 only, and no file tells the stage")
    else:
        layout.fault("empty", "%s; stage %d keeps all weights there" % (what, stage_told))


def alike(layout, optim):
    """One code writes the states of all ranks, so what any has, none lacks: in whole, and in the state of each partition.

    optim: {(model-parallel rank, name): Layout}.  Ranks of one model-parallel rank have the same groups of parameters.
    """
    groups = {}
    for (model, name), part in optim.items():
        states = field(part, "optimizer_state_dict")
        if type(states) is dict and states:
            groups.setdefault(model, {})[name] = states
    for found in groups.values():
        _same(layout, {name: _keys(states) for name, states in found.items()}, "")
    for key in ("base_optimizer_state", "optimizer_state_dict"):  # of stages 1 and 2; of stage 3
        for found in groups.values():
            inner = {name: states[key] for name, states in found.items() if key in states}
            _same(layout, {name: _paths(item, DEEP) for name, item in inner.items()}, key)


def _same(layout, rows, where):
    if any(len(found) > PATHS for found in rows.values()):
        layout.warn("unchecked", "optimizer states of more than {:,} entries are not compared".format(PATHS))
        return
    every = set().union(*rows.values())
    for name, found in sorted(rows.items()):
        lacks = sorted(every - found)
        if lacks:
            shown = ", ".join(repr(".".join(each)) for each in lacks[:3]) + (", …" if len(lacks) > 3 else "")
            what = "%s lacks %s in its %s, which other ranks have"
            layout.fault("missing", what % (name, shown, where or "optimizer_state_dict"))


def _keys(states):
    return {(key,) for key in states if type(key) is str}


def _paths(item, deep):
    """Where each entry of nested containers stands; the parameters that a group lists are not gone into."""
    found, waiting = set(), [((), item, deep)]
    while waiting and len(found) <= PATHS:
        above, each, left = waiting.pop()
        pairs = each.items() if type(each) is dict else enumerate(each) if type(each) in (list, tuple) else ()
        for key, value in pairs:
            if type(key) in (str, int):
                found.add((*above, str(key)))
                if left and key != "params":
                    waiting.append(((*above, str(key)), value, left - 1))
    return found
