"""What torch's optimizers save of themselves: `state`, {number: {"step": …, …}}, and `param_groups`, which list the numbers.

Source: `Optimizer.state_dict` in torch/optim/optimizer.py.  Signs only: a parameter that never had a gradient has no
state, and one that was unfrozen later has a lower step.  Where `step` is a tensor its bytes are not read: equal numbers
have equal CRC-32s, which a ZIP holds.
"""

import re
from collections import Counter

STEP = re.compile(r"^(?:(.*)\.)?state\.([^.]+)\.step$")
DEEP = 3
MOST = 1 << 19  # states and parameters of all groups together: ten times as many as the largest models have


def judge(layout):
    """Each optimizer of a file has a state for every parameter, with the same entries and one step within a group."""
    optimizers = list(found(layout.root))
    steps, left = _tensor_steps(layout) if optimizers else {}, MOST
    for where, item in optimizers:
        left -= _size(item)
        if left < 0:
            layout.warn("unchecked", "optimizers of more than {:,} parameters: not all were looked at".format(MOST))
            return
        numbers = dict(steps.get(where, {}))
        numbers.update(
            (str(key), value["step"])
            for key, value in item["state"].items()
            if type(value) is dict and type(value.get("step")) in (int, float)
        )
        name = where or "the optimizer"
        for group in item["param_groups"]:
            if type(group) is dict and type(group.get("params")) is list:
                params = [str(key) for key in group["params"] if type(key) in (int, str)]
                _one_step(name, {key: numbers[key] for key in params if key in numbers}, layout)
                _same_entries(
                    name, [item["state"].get(key) for key in group["params"] if type(key) in (int, str)], layout
                )
        lacks, wanted = lacking(item)
        if lacks and lacks < wanted:
            what = "%s has no state for %d of its %d parameters: lost, unless those never had a gradient"
            layout.warn("missing", what % (name, lacks, wanted))
        _strangers(name, item, layout)


def _size(item):
    """States and listed parameters, counted each time that they are listed."""
    return len(item["state"]) + sum(
        1 + len(group["params"]) if type(group) is dict and type(group.get("params")) is list else 1
        for group in item["param_groups"]
    )


def found(root, where="", depth=0, seen=None):
    """(dotted name, the dict) of each optimizer beneath; what stands in several places is told once."""
    seen = set() if seen is None else seen
    if id(root) in seen:
        return
    if type(root) in (dict, list):
        seen.add(id(root))
    if type(root) is dict and type(root.get("state")) is dict and type(root.get("param_groups")) is list:
        yield where, root
    elif type(root) in (dict, list) and depth < DEEP and len(root) <= 4096:
        for key, value in root.items() if type(root) is dict else enumerate(root):
            if type(value) in (dict, list):
                yield from found(value, "%s.%s" % (where, key) if where else str(key), depth + 1, seen)


def lacking(item):
    """(parameters of Adam and its kin, which have `betas`, that have no state; all of theirs)."""
    if _size(item) > MOST:
        return 0, 0
    groups = [group for group in item["param_groups"] if type(group) is dict and "betas" in group]
    params = [key for group in groups if type(group.get("params")) is list for key in group["params"]]
    params = [key for key in params if type(key) in (int, str)]
    return sum(key not in item["state"] for key in params), len(params)


def each_once(rows, layout):
    """These tensors without those that lie where another does: of a state that two parameters share, or two names have."""
    places = {}
    for row in rows:
        place = layout.packed.get(row.name, row.offset)
        places.setdefault((row.name if place is None else place, row.shape), row)
    return list(places.values())


def _tensor_steps(layout):
    """{name of the optimizer: {parameter: the CRC-32 of its step}}."""
    rows = [
        (STEP.match(row.name), row) for row in layout.tensors if row.name.endswith(".step") and row.offset is not None
    ]
    rows = [(match, row) for match, row in rows if match and not row.shape]
    if not rows:
        return {}
    crcs, told = {span.offset: span.crc for span in layout.spans if span.nbytes <= 8}, {}
    for match, row in rows:
        if crcs.get(row.offset):
            told.setdefault(match.group(1) or "", {})[match.group(2)] = "crc %08x" % crcs[row.offset]
    return told


def steps(layout):
    """((name of the optimizer, parameter), what its step is told by) for each that is a tensor with a CRC-32."""
    for name, told in _tensor_steps(layout).items():
        for parameter, step in told.items():
            yield (name, parameter), step


def _one_step(name, numbers, layout):
    counts = Counter(numbers.values())
    if len(counts) < 2:
        return
    usual = counts.most_common(1)[0][0]
    others = [key for key, value in numbers.items() if value != usual]
    what = "%s: parameters of one group are at different steps, %d of %d (such as %s) not at that of the others"
    layout.warn("steps", what % (name, len(others), len(numbers), others[0]))


def _same_entries(name, states, layout):
    """Fewer entries than others, or more. Other ones are a form of their own: Adafactor's of a matrix, its rows and columns."""
    kinds = Counter(frozenset(map(str, state)) for state in states if type(state) is dict)
    usual = kinds.most_common(1)[0][0] if kinds else frozenset()
    odd = min((kind for kind in kinds if kind < usual or kind > usual), key=kinds.get, default=None)
    if odd is not None:
        what = "%s: the states of %d parameters have other entries than the rest (%s)"
        layout.warn("mismatch", what % (name, sum(kinds.values()) - kinds[usual], ", ".join(sorted(usual ^ odd)[:4])))


def _strangers(name, item, layout):
    """States of parameters that no group lists."""
    listed = {key for group in item["param_groups"] if type(group) is dict for key in _keys(group.get("params"))}
    strangers = [key for key in _keys(list(item["state"])) if key not in listed]
    if listed and strangers:
        what = "%s has states for %d parameters that no group lists, such as %s"
        layout.warn("mismatch", what % (name, len(strangers), strangers[0]))


def _keys(items):
    return [key for key in items if type(key) in (int, str)] if type(items) is list else []
