"""Files of a training state that are whole and hold nothing of what is loaded out of them; and forms of somebody's own."""

from __future__ import annotations

import json

import format_writers as w
import pytest
import torch
from safetensors.torch import save_file

from verikit.checks.checkpoint import CheckpointIntact
from verikit.errors import Cause
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS, UNKNOWN


def look(path, **claims):
    return examine_here(CheckpointIntact(str(path), **claims))


def with_file(folder, name, change):
    """A Trainer's folder, with one file changed."""
    w.trainer(folder)
    torch.save(change(torch.load(folder / name, weights_only=False)), folder / name)
    return folder


def without(*keys):
    return lambda value: {key: item for key, item in value.items() if key not in keys}


def ungrouped(value):
    return {**value, "param_groups": [{"lr": 0.1}]}


HOLLOW = {
    "an optimizer without states": ("optimizer.pt", without("state"), FAIL, "but no 'state'"),
    "an optimizer without groups": ("optimizer.pt", without("param_groups"), FAIL, "but no 'param_groups'"),
    "an optimizer of nothing": ("optimizer.pt", lambda value: {}, UNKNOWN, "holds no optimizer"),
    "an optimizer that is a list": ("optimizer.pt", lambda value: [1], UNKNOWN, "holds no optimizer"),
    "an optimizer of no groups": (
        "optimizer.pt",
        lambda value: {"state": {}, "param_groups": []},
        UNKNOWN,
        "that list none",
    ),
    "a group without parameters": ("optimizer.pt", ungrouped, UNKNOWN, "that list none"),
    "no random states": ("rng_state.pth", lambda value: {}, FAIL, "holds no random state"),
    "no random state of torch's": ("rng_state.pth", without("cpu"), FAIL, "lacks the random state of cpu"),
    "only one of torch's": (
        "rng_state.pth",
        without("python", "numpy"),
        FAIL,
        "lacks the random state of numpy and python",
    ),
    "random states that are a list": ("rng_state.pth", lambda value: [1], UNKNOWN, "holds none of the random states"),
    "other random states": ("rng_state.pth", lambda value: {"jax": 1}, UNKNOWN, "holds none of the random states"),
}


@pytest.mark.parametrize("name", HOLLOW)
def test_hollow_files_of_a_trainer(tmp_path, name):
    """
    What the Trainer would ask for and not find is FAIL; what may be of a form that somebody's own Trainer writes is UNKNOWN.
    """
    file, change, verdict, words = HOLLOW[name]

    found = look(with_file(tmp_path / "checkpoint-500", file, change))

    assert (found.verdict, found.cause) == (verdict, Cause.AMBIGUOUS if verdict is UNKNOWN else None), found.reason
    assert words in found.reason


def test_a_scheduler_of_nothing(tmp_path):
    """
    A scheduler may keep nothing, so an empty one is a sign only.
    """
    found = look(with_file(tmp_path / "checkpoint-500", "scheduler.pt", lambda value: {}))

    assert found.verdict is PASS
    assert any("scheduler.pt holds nothing" in warning for warning in found.warnings)


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=0.1).state_dict()


def eight_bits(parameters):
    """As bitsandbytes keeps its states: bytes, with scales for each block of them."""
    state = {
        "step": 3,
        "state1": torch.zeros(32, dtype=torch.uint8),
        "absmax1": torch.zeros(1),
        "qmap1": torch.zeros(256),
    }
    groups = [{"lr": 0.1, "betas": (0.9, 0.95), "params": list(range(len(parameters)))}]
    return {"state": {number: dict(state) for number in range(len(parameters))}, "param_groups": groups}


def by_names(parameters):
    """As FSDP gathers a whole optimizer: parameters by their names."""
    names = ["layer.bias", "layer.weight", "head.weight"]
    return {"state": {name: {"step": 1.0} for name in names}, "param_groups": [{"lr": 0.1, "params": names}]}


OPTIMIZERS = {
    "SGD without momentum": sgd,
    "8 bits": eight_bits,
    "names": by_names,
    "two of them, in a list": lambda parameters: [sgd(parameters[:1]), sgd(parameters[1:])],
    "two of them, by name": lambda parameters: {"muon": sgd(parameters[:1]), "adam": sgd(parameters[1:])},
    "of XLA's shards": lambda parameters: {"optimizer_state": sgd(parameters), "shard_metadata": {"rank": 0}},
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_of_all_kinds(tmp_path, name):
    """
    An optimizer may keep no states, or have parts: what torch's `state_dict` gives is found wherever it lies.
    """
    parameters = [torch.nn.Parameter(each.clone()) for each in w.state().values()]
    path = with_file(tmp_path / "checkpoint-500", "optimizer.pt", lambda value: OPTIMIZERS[name](parameters))

    found = look(path)

    assert found.verdict is PASS, found.reason


# DeepSpeed.

RANK = "bf16_zero_pp_rank_1_mp_rank_00_optim_states.pt"
MODEL = "mp_rank_00_model_states.pt"


def inner(*keys):
    return lambda value: {"optimizer_state_dict": without(*keys)(value["optimizer_state_dict"])}


RANKS = {
    "a rank without optimizer": (RANK, without("optimizer_state_dict"), f"{RANK} lacks 'optimizer_state_dict'"),
    "a rank that is a list": (RANK, lambda value: [1], f"{RANK} lacks 'optimizer_state_dict'"),
    "a rank of an empty optimizer": (RANK, lambda value: {"optimizer_state_dict": {}}, f"{RANK} has nothing in"),
    "a rank without its partition": (RANK, inner("single_partition_of_fp32_groups"), "which other ranks have"),
    "a model without module": (MODEL, without("module"), f"{MODEL} lacks 'module'"),
}


@pytest.mark.parametrize("name", RANKS)
def test_hollow_files_of_deepspeed(tmp_path, name):
    """
    Each rank's file has what DeepSpeed writes into it, and the states of no rank lack what those of the others have.
    """
    file, change, words = RANKS[name]
    root = w.deepspeed(tmp_path / "c", ranks=3, parallel=1)
    path = root / "global_step1000" / file
    torch.save(change(torch.load(path, weights_only=False)), path)

    found = look(root)

    assert found.verdict is FAIL, found.reason
    assert words in found.reason


# Adapters.

TARGETS = {"target_modules": ["q_proj"]}
SCORE = {"base_model.model.score.weight": torch.ones(2, 2)}
BASE = "base_model.model.model.layers.0.self_attn.q_proj."
ADAPTERS = {
    "a tensor of nobody's": ({"x": torch.ones(2)}, TARGETS, FAIL),
    "tensors of other modules": ({"mlp.weight": torch.ones(2, 2)}, TARGETS, FAIL),
    "weights of the module itself": ({BASE + "weight": torch.ones(2, 2)}, TARGETS, UNKNOWN),
    "a head in full, and targets": (
        SCORE,
        {**TARGETS, "modules_to_save": ["score"]},
        UNKNOWN,
    ),
    "a head in full, no targets": (
        SCORE,
        {"target_modules": [], "modules_to_save": ["score"]},
        PASS,
    ),
    "LoRA by other names": (
        {BASE + "lora_down.weight": torch.ones(4, 8), BASE + "lora_up.weight": torch.ones(8, 4)},
        TARGETS,
        PASS,
    ),
}


FACTORS = {BASE + "lora_A.weight": torch.ones(4, 8), BASE + "lora_B.weight": torch.ones(8, 4)}
SCALE = {BASE + "lora_magnitude_vector": torch.ones(8)}
METHODS = {
    "DoRA": ({**FACTORS, **SCALE}, {"use_dora": True}, PASS, ""),
    "DoRA by older names": (
        {**FACTORS, BASE + "lora_magnitude_vector.weight": torch.ones(8)},
        {"use_dora": True},
        PASS,
        "",
    ),
    "DoRA without magnitudes": (FACTORS, {"use_dora": True}, FAIL, "1 of 1 modules lack their lora_magnitude_vector"),
    "LoRA": (FACTORS, {"use_dora": False}, PASS, ""),
    "IA3": ({BASE + "ia3_l": torch.ones(8, 1)}, {"peft_type": "IA3"}, PASS, ""),
    "LoHa": ({BASE + "hada_w1_a": torch.ones(8, 4)}, {"peft_type": "LOHA"}, PASS, ""),
    "AdaLoRA": ({**FACTORS, BASE + "lora_E": torch.ones(4, 1)}, {"peft_type": "ADALORA"}, PASS, ""),
    "LoRA's tensors for IA3": (FACTORS, {"peft_type": "IA3"}, FAIL, "says IA3"),
    "IA3's tensors for LoRA": ({BASE + "ia3_l": torch.ones(8, 1)}, {}, FAIL, "those here are called ia3_"),
    "OFT's tensors for BOFT": ({BASE + "oft_R.weight": torch.ones(8, 1)}, {"peft_type": "BOFT"}, FAIL, "says BOFT"),
    "a method of names unknown here": (FACTORS, {"peft_type": "XLORA"}, PASS, ""),
}


@pytest.mark.parametrize("name", METHODS)
def test_the_method_of_an_adapter(tmp_path, name):
    """
    The tensors of an adapter are of the method that its config says; DoRA has a magnitude for each module.
    """
    tensors, config, verdict, words = METHODS[name]
    save_file(tensors, tmp_path / "adapter_model.safetensors")
    (tmp_path / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "r": 4, **TARGETS, **config}))

    found = look(tmp_path)

    assert found.verdict is verdict, found.reason
    assert words in found.reason


@pytest.mark.parametrize("name", ADAPTERS)
def test_an_adapter_without_lora(tmp_path, name):
    """
    Tensors none of which is of LoRA, or of a module that the config names, are no adapter of that config.
    """
    tensors, config, verdict = ADAPTERS[name]
    save_file(tensors, tmp_path / "adapter_model.safetensors")
    (tmp_path / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "r": 4, **config}))

    found = look(tmp_path)

    assert found.verdict is verdict, found.reason
    assert verdict is PASS or "LORA" in found.reason
