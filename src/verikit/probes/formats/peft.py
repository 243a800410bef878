"""An adapter as PEFT saves it: adapter_config.json, and adapter_model.safetensors or .bin with what was trained.

Source: peft/utils/save_and_load.py and peft/tuners/lora/layer.py. LoRA keeps for each layer `lora_A` [r, in] and `lora_B`
[out, r] (`lora_embedding_A` [r, vocabulary], `lora_embedding_B` [dim, r]); convolutions have further axes of their own.
DoRA (`use_dora`) keeps `lora_magnitude_vector` beside them. Other methods have names of their own (`PREFIXES`).
An adapter of no tensors, or of tensors without elements, is what a save under ZeRO-3 leaves that gathered nothing.
"""

import re

from verikit.probes.formats import folders
from verikit.probes.formats.layout import elements, plural

LAYER = re.compile(r"^(.*?\b(?:layers?|h|blocks?)\.)(\d{1,4})\.(.+)$")
FILES = ("adapter_model.safetensors", "adapter_model.bin")

# Of the methods whose names are theirs alone: PEFT_TYPE_TO_PREFIX_MAPPING, in peft/mapping.py, by `peft_type`.
PREFIXES = {
    "LORA": "lora_", "ADALORA": "lora_", "IA3": "ia3_", "LOHA": "hada_", "LOKR": "lokr_",
    "OFT": "oft_", "BOFT": "boft_", "VERA": "vera_lambda_", "HRA": "hra_",
}  # fmt: skip
FACTOR = re.compile(r"^(.*\.)lora_(?:embedding_)?A(?:\.|$)")
MAGNITUDE = "lora_magnitude_vector"


def structure(place, folder, names, layout):
    """There are weights, and a config that says what they are."""
    if "adapter_config.json" not in names:
        layout.notes.update(modules_to_save=[], target_modules=[])
        layout.fault("missing", "adapter_config.json is missing: what the adapter's tensors belong to is not known")
        folders.everything(names, layout)
        return
    layout.notes.update(modules_to_save=[], target_modules=[])
    config = folders.json_of(place, folder, "adapter_config.json")
    for key in ("modules_to_save", "target_modules"):
        layout.notes[key] = [str(name)[:80] for name in config[key][:64]] if type(config.get(key)) is list else []
    layout.notes["peft_type"] = str(config.get("peft_type"))[:40]
    # By a pattern, or a list of layers, some may be meant to have none.
    some = any(config.get(key) for key in ("layers_to_transform", "layers_pattern", "exclude_modules"))
    layout.notes["every layer"] = type(config.get("target_modules")) is list and not some
    layout.notes["dora"] = config.get("use_dora") is True
    rank = config.get("r")
    plain = not config.get("rank_pattern") and not config.get("megatron_config")
    layout.notes["r"] = rank if type(rank) is int and plain else None
    found = [name for name in FILES if name in names]
    if not found:
        layout.fault("missing", "there are no weights: neither %s nor %s" % FILES)
    folders.everything(names, layout)


def relate(layout, members):
    """Every A has its B, of the same rank, and nothing is empty."""
    for path in FILES:
        part = members.get(path)
        if part is None or part.faults:
            continue
        if not part.tensors:
            layout.fault("empty", "%s holds no tensors at all" % path)
        for row in part.tensors:
            if not elements(row.shape):
                layout.fault("empty", "the adapter tensor %.100r has no elements: %s" % (row.name, list(row.shape)))
        if part.tensors:
            _modules(layout, part)
            _method(layout, part)
        if layout.notes.get("peft_type") == "LORA":
            _any(layout, part)
            _pairs(layout, part)
            _magnitudes(layout, part)
            if layout.notes.get("every layer"):
                _layers(layout, part)


def _method(layout, part):
    """Tensors of another method than the config's, and none of its own, are another adapter's."""
    said = layout.notes.get("peft_type")
    words = {word for row in part.tensors for word in row.name.split(".")}
    found = {prefix for prefix in PREFIXES.values() if any(word.startswith(prefix) for word in words)}
    if said in PREFIXES and found and PREFIXES[said] not in found:
        what = "adapter_config.json says %s, whose tensors are called %s…; those here are called %s…"
        layout.fault("mismatch", what % (said, PREFIXES[said], "…, ".join(sorted(found))))


def _magnitudes(layout, part):
    """DoRA scales what LoRA adds by a magnitude for each module, without which it would be set anew when loaded."""
    scaled = {row.name[: row.name.index(MAGNITUDE)] for row in part.tensors if MAGNITUDE in row.name}
    factors = [match.group(1) for match in (FACTOR.match(row.name) for row in part.tensors) if match]
    lost = [name for name in factors if name not in scaled]
    if layout.notes.get("dora") and lost:
        what = "adapter_config.json says use_dora, and %s of %d modules lack their %s, %.100r first"
        layout.fault("missing", what % (len(lost), len(factors), MAGNITUDE, lost[0].rstrip(".")))
    elif scaled and not layout.notes.get("dora"):
        layout.warn(
            "mismatch", "there are tensors of DoRA, such as %.100r…, and no use_dora in the config" % min(scaled)
        )


def _any(layout, part):
    """Some tensor is LoRA's, by its name. Without one, what was trained is modules in full, or tokens by their number."""
    if not part.tensors or any("lora" in row.name.lower() for row in part.tensors):
        return
    parts = {word for row in part.tensors for word in row.name.split(".")}
    whole = any(parts.issuperset(name.split(".")) for name in layout.notes["modules_to_save"])
    targets = [name for name in layout.notes["target_modules"] if parts.issuperset(name.split("."))]
    if not (whole or targets or "token_adapter" in parts):
        what = "adapter_config.json says LORA, and none of the %s is of LoRA or of a module that it names, %.100r first"
        layout.fault("mismatch", what % (plural(len(part.tensors), "tensor", "tensors"), part.tensors[0].name))
    elif targets or layout.notes["target_modules"]:
        layout.unseen("ambiguous", "adapter_config.json says LORA, but no tensor has a name of LoRA's")


def _modules(layout, part):
    """What the config says was trained in full is there; a module of which no tensor is, may have matched nothing."""
    parts = {word for row in part.tensors for word in row.name.split(".")}
    whole = [name for name in layout.notes["modules_to_save"] if not parts.issuperset(name.split("."))]
    if whole:
        layout.fault("missing", "no tensor of %.100r is there, which modules_to_save names" % whole[0])
    lost = [name for name in layout.notes["target_modules"] if not parts.issuperset(name.split("."))]
    if lost and layout.notes["peft_type"] == "LORA":
        layout.warn("missing", "no tensor is of %.100r, which target_modules names" % lost[0])


def _layers(layout, part):
    """One layer of many that lacks what all others have; hybrid models, whose layers are of several kinds, are let alone."""
    groups = {}
    for match in filter(None, (LAYER.match(row.name) for row in part.tensors)):
        before, number, after = match.groups()
        groups.setdefault(before, {}).setdefault(int(number), set()).add(after)
    for before, layers in groups.items():
        usual = set.union(*layers.values())
        lacking = [number for number in range(max(layers)) if layers.get(number) != usual] if len(layers) > 1 else []
        lacking += [max(layers)] if layers[max(layers)] != usual else []
        if len(lacking) == 1 and 2 <= max(layers) <= 4096:
            what = "%s%d of the adapter lacks %s, which the %d other layers have: lost, or meant by who made it"
            lost = sorted(usual - layers.get(lacking[0], set()))
            layout.unseen(
                "ambiguous", what % (before, lacking[0], ", ".join(lost[:3]), len(layers) - (lacking[0] in layers))
            )


def _pairs(layout, part):
    shapes = {row.name: tuple(row.shape) for row in part.tensors}
    for name, shape in sorted(shapes.items()):
        for one, other in (("lora_A", "lora_B"), ("lora_embedding_A", "lora_embedding_B")):
            if one + "." in name or name.endswith(one):
                _pair(name, shape, name.replace(one, other), shapes, layout)
            elif other + "." in name or name.endswith(other):
                partner = name.replace(other, one)
                if partner not in shapes and not name.endswith(".bias"):
                    layout.fault("missing", "%.100r has no %.100r" % (name, partner))


def _pair(name, shape, partner, shapes, layout):
    other = shapes.get(partner)
    if name.endswith(".bias"):
        return
    if other is None:
        layout.fault("missing", "%.100r has no %.100r" % (name, partner))
        return
    if len(shape) < 2 or len(other) < 2 or not elements(shape) or not elements(other):
        return
    rank = layout.notes.get("r")
    if shape[0] != other[1]:
        what = "%.100r is of rank %d, its partner of rank %d" % (name, shape[0], other[1])
        layout.fault("mismatch", what)
    elif rank is not None and shape[0] != rank:
        layout.fault("mismatch", "%.100r is of rank %d, adapter_config.json says %d" % (name, shape[0], rank))
