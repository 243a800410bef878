"""Weights against the config.json beside them, as transformers reads it: layers by their number, the head that is not tied.

Source: transformers/modeling_utils.py (`tie_word_embeddings`) and the names of its models: `….layers.N.…`, `….h.N.…`.
Only what the config says in so many words is held against names: what shares, skips or renames layers has words of its own.
"""

import re

FILES = re.compile(r"^(?:model|pytorch_model)(?:[-.]\d{5}-of-\d{5})?\.(?:safetensors|bin)$")
LAYER = re.compile(r"^(.*?)\b(?:layers?|h|blocks?)\.(\d{1,5})\.")
OTHERS = re.compile(r"vis|image|audio|speech|adapter|head|mtp")
NUMBERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
SIDES = {"decoder": ("decoder_layers", "num_decoder_layers"), "encoder": ("encoder_layers", "num_encoder_layers")}
EMBEDDING = re.compile(r"^.+\.(?:embed_tokens|wte|word_embeddings|tok_embeddings|embed_in)\.weight$")
HEAD = re.compile(r"(?:^|\.)(?:lm_head|embed_out|output|head|output_layer)\.")
EMBEDS = re.compile(r"emb|wte")
TOKENS = re.compile(r"emb|wte|tok|vocab|head|output|shared")
PLACES = re.compile(r"pos|rotary|rope|wpe|inv_freq")
"""Names of what may be an embedding of tokens or a head, and among them of what is one of positions."""
CAUSAL = ("ForCausalLM", "LMHeadModel")
MOST = 10_000
OWN_WAYS = ("block_configs", "num_hidden_groups")
"""Keys of models whose layers may be empty, or are the same ones again."""


def noted(value):
    """What of a config is held against names."""
    inner = next((value[key] for key in ("text_config", "llm_config") if type(value.get(key)) is dict), {})
    keys = (*NUMBERS, *SIDES["decoder"], *SIDES["encoder"], "tie_word_embeddings", "vocab_size")
    row = {key: part[key] for part in (inner, value) for key in keys if type(part.get(key)) in (int, bool)}
    kinds = value.get("architectures")
    row["architecture"] = str(kinds[0])[:80] if type(kinds) is list and kinds else ""
    row["own ways"] = any(key in part for part in (inner, value) for key in OWN_WAYS)
    return row


def judge(layout, members):
    """`layout` is config.json; the weights are those of one set of files, all of which could be read."""
    config = layout.notes.get("held")
    for ending in ("safetensors", "bin"):
        parts = [part for path, part in members.items() if path.endswith(ending) and FILES.match(path)]
        whole = parts and not any(part.faults or part.unknowns for part in parts)
        index = next((part for path, part in members.items() if path.endswith("%s.index.json" % ending)), None)
        if index and type(index.root) is dict:
            whole = whole and all(path in members for path in index.root.values())
        if config and whole:
            shapes = {row.name: row.shape for part in parts for row in part.tensors}
            groups = _groups(shapes)
            _empty(shapes, layout)
            _layers(config, groups, layout)
            _alike(config, groups, layout)
            _head(config, shapes, groups, layout)
            return


def _empty(shapes, layout):
    """ZeRO-3 leaves a weight of the shape [0] in each rank's hands; one that was saved so was never gathered."""
    lost = [name for name, shape in shapes.items() if tuple(shape) == (0,) and name.endswith(".weight")]
    if lost:
        what = "%d of %d weights have no elements, %.100r first: saved before ZeRO-3 had gathered them?"
        layout.fault("empty", what % (len(lost), len(shapes), lost[0]))


def _groups(shapes):
    """{what stands before the number: {number of the layer: {what stands behind it: shape}}}"""
    groups = {}
    for name in shapes:
        match = LAYER.match(name)
        if match:
            layers = groups.setdefault(match.group(1), {})
            layers.setdefault(int(match.group(2)), {})[name[match.end() :]] = shapes[name]
    return groups


def _layers(config, groups, layout):
    told = set() if config["own ways"] else set(_told(config))
    for side, number in told:
        fitting = {name: found for name, found in groups.items() if side in name and not OTHERS.search(name)}
        if not fitting or not 2 <= number <= MOST:
            continue
        name = max(fitting, key=lambda name: len(fitting[name]))
        lost = sorted(set(range(number)) - set(fitting[name]))
        if not lost:
            continue
        what = "config.json says {} layers, the weights have {} of {!r}: number {} is the first that lacks"
        what = what.format(number, len(fitting[name]), name + "…", lost[0])
        (layout.fault if 2 * len(lost) <= number else layout.warn)("missing", what)


def _alike(config, groups, layout):
    """One layer in the middle that differs where all others are alike. The first and the last may be of their own kind."""
    for name, layers in groups.items() if not config["own ways"] else ():
        kinds = {}
        for number, rest in layers.items():
            kinds.setdefault(frozenset(rest.items()), []).append(number)
        one, usual = sorted(kinds.values(), key=len) if len(kinds) == 2 else ((), ())
        if len(one) == 1 and len(usual) > 1 and min(layers) < one[0] < max(layers):
            _odd("%s%d" % (name, one[0]), layers[one[0]], layers[usual[0]], layout)


def _odd(name, own, usual, layout):
    if set(own) - set(usual):
        return  # a layer of another kind, as hybrid models have them
    lacks = sorted(set(usual) - set(own))
    odd = sorted(key for key in own if own[key] != usual[key])
    if lacks:
        what = "layer %.100s lacks %.100s, which all other layers have" % (name, lacks[0])
    else:
        shapes = list(own[odd[0]]), list(usual[odd[0]])
        what = "%.100s of layer %.100s has the shape %s, in all other layers %s" % (odd[0], name, *shapes)
    layout.unseen("ambiguous", what + ": lost, or meant by who made it")


def _told(config):
    """(a word of the group's name, how many layers the config says) of each group that it speaks of."""
    for side, keys in SIDES.items():
        number = next((config[key] for key in keys if type(config.get(key)) is int), None)
        if number is not None:
            yield side, number
    number = next((config[key] for key in NUMBERS if type(config.get(key)) is int), None)
    if number is not None:
        yield "encoder" if any(config.get(key) for key in SIDES["decoder"]) else "", number


def _head(config, shapes, groups, layout):
    """A causal language model has an embedding or a head, and both where its config does not tie them.

    Drafts of other models, which use theirs, have no name before `layers`.
    """
    if not config["architecture"].endswith(CAUSAL) or not groups:
        return
    if not _tokens(config.get("vocab_size"), shapes):
        what = "neither an embedding nor a head is there: no tensor has the name of one, or rows for a vocabulary"
        layout.fault("missing", what) if any(groups) else layout.unseen("ambiguous", what)
        return
    if config.get("tie_word_embeddings") is not False or not any(groups):
        return
    embeddings = [name for name in shapes if EMBEDDING.match(name) and len(shapes[name]) == 2]
    heads = [name for name in shapes if HEAD.search(name)]
    if len(embeddings) == 1 and not heads and not _as_long(shapes, embeddings[0]):
        what = "no head beside %.100r, to which config.json does not tie one (tie_word_embeddings is false)"
        layout.fault("missing", what % embeddings[0])
    if len(heads) == 1 and not any(map(EMBEDS.search, shapes)) and not _as_long(shapes, heads[0]):
        what = "no embedding beside %.100r, to which config.json does not tie one (tie_word_embeddings is false)"
        layout.fault("missing", what % heads[0])


def _tokens(vocabulary, shapes):
    """Whether anything may stand for tokens, by its name or by its size."""
    outside = (name for name in shapes if not LAYER.match(name) and not PLACES.search(name))
    return any(map(TOKENS.search, outside)) or any(
        type(vocabulary) is int and vocabulary in shape for shape in shapes.values()
    )


def _as_long(shapes, one):
    """Whether another matrix has as many rows."""
    return any(shape[:1] == shapes[one][:1] and len(shape) == 2 for name, shape in shapes.items() if name != one)
