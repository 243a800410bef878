"""Specs by config against real shape tables: transformers' own modules on the meta device, with small configs."""

from __future__ import annotations

import pytest

from verikit import FAIL, PASS, TensorShapeSane
from verikit.checks.spec_from import spec_from, spec_from_config
from verikit.testing.here import examine_here

torch = pytest.importorskip("torch")

SMALL = {
    "hidden_size": 64,
    "num_hidden_layers": 3,
    "vocab_size": 320,
    "intermediate_size": 160,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
}
CONFIGS = {
    "llama": {},
    "mistral": {},
    "qwen2": {},
    "qwen3": {"head_dim": 16},
    "gemma": {"head_dim": 16},
    "gemma2": {"head_dim": 16},
    "gemma3_text": {"head_dim": 16},
    "gpt_neox": {},
    "mixtral": {"num_local_experts": 4},
    "qwen3_moe": {"head_dim": 16, "num_experts": 4, "moe_intermediate_size": 48, "decoder_sparse_step": 1},
    "deepseek_v3": {
        "num_key_value_heads": 8,
        "n_routed_experts": 4,
        "n_shared_experts": 1,
        "moe_intermediate_size": 48,
        "first_k_dense_replace": 1,
        "q_lora_rank": 24,
        "kv_lora_rank": 32,
        "qk_nope_head_dim": 16,
        "qk_rope_head_dim": 8,
        "v_head_dim": 16,
        "n_group": 1,
        "topk_group": 1,
    },
}


def module_and_config(model_type):
    transformers = pytest.importorskip("transformers")
    config = transformers.AutoConfig.for_model(model_type, **{**SMALL, **CONFIGS[model_type]})
    with torch.device("meta"):
        return transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16), config.to_dict()


def as_published(state, model_type):
    """The state dict under the names that checkpoints have: transformers 5 fuses experts in memory."""
    out = {}
    for name, tensor in state.items():
        head, _, last = name.rpartition(".")
        if model_type == "mixtral":
            head, name = head.replace("mlp", "block_sparse_moe"), name.replace("mlp.gate", "block_sparse_moe.gate")
        names = ("w1", "w3", "w2") if model_type == "mixtral" else ("gate_proj", "up_proj", "down_proj")
        if last == "gate_up_proj":
            for number, both in enumerate(tensor):
                for part, half in zip(names[:2], both.chunk(2), strict=True):
                    out[f"{head}.{number}.{part}.weight"] = half
        elif last == "down_proj" and head.endswith("experts"):
            out.update({f"{head}.{number}.{names[2]}.weight": each for number, each in enumerate(tensor)})
        else:
            out[name] = tensor
    return out


@pytest.mark.parametrize("model_type", CONFIGS)
def test_family(model_type):
    """
    The spec of a family names every tensor of transformers' own module, with its shape, and no other.
    """
    module, config = module_and_config(model_type)
    state = as_published(module.state_dict(), model_type)

    finding = examine_here(TensorShapeSane(state, spec_from_config(config), config=config, strict=True))

    assert finding.verdict is PASS, finding.reason


@pytest.mark.parametrize("model_type", ["llama", "mixtral", "deepseek_v3"])
def test_family_refuses(model_type):
    """
    One tensor more, one less, or one axis off by one is not the family's.
    """
    module, config = module_and_config(model_type)
    state = as_published(module.state_dict(), model_type)
    spec = spec_from_config(config)
    name = next(name for name in state if name.endswith("o_proj.weight"))
    for broken in (
        {key: tensor for key, tensor in state.items() if key != name},
        {**state, "model.layers.9.stray": state[name]},
        {
            **state,
            name: torch.empty(state[name].shape[0] + 1, state[name].shape[1], dtype=torch.bfloat16, device="meta"),
        },
    ):
        finding = examine_here(TensorShapeSane(broken, spec, config=config, strict=True))

        assert finding.verdict is FAIL


EAGLE3 = {
    **SMALL,
    "model_type": "llama",
    "architectures": ["LlamaForCausalLMEagle3"],
    "draft_vocab_size": 100,
    "num_hidden_layers": 1,
}
DFLASH = {
    **SMALL,
    "model_type": "qwen3",
    "head_dim": 16,
    "dflash_config": {"target_layer_ids": [1, 9, 17]},
    "num_target_layers": 20,
}


def drafter(config, taps):
    """A drafter's tensors as their authors publish them."""
    h, m, d = 64, 160, config.get("head_dim", 8)
    wide, layer = (2 * h, "midlayer.") if "draft_vocab_size" in config else (h, "layers.0.")
    tensors = {
        "fc.weight": torch.zeros(h, taps * h),
        "norm.weight": torch.zeros(h),
        f"{layer}self_attn.q_proj.weight": torch.zeros(8 * d, wide),
        f"{layer}self_attn.k_proj.weight": torch.zeros(2 * d, wide),
        f"{layer}self_attn.v_proj.weight": torch.zeros(2 * d, wide),
        f"{layer}self_attn.o_proj.weight": torch.zeros(h, 8 * d),
        f"{layer}mlp.gate_proj.weight": torch.zeros(m, h),
        f"{layer}mlp.up_proj.weight": torch.zeros(m, h),
        f"{layer}mlp.down_proj.weight": torch.zeros(h, m),
        f"{layer}input_layernorm.weight": torch.zeros(h),
        f"{layer}post_attention_layernorm.weight": torch.zeros(h),
    }
    if "draft_vocab_size" in config:
        kept = torch.zeros(320, dtype=torch.bool)
        kept[:100] = True
        more = {"midlayer.hidden_norm.weight": torch.zeros(h), "lm_head.weight": torch.zeros(100, h)}
        return {**tensors, **more, "t2d": kept, "d2t": torch.arange(100)}
    norms = {f"{layer}self_attn.{p}_norm.weight": torch.zeros(d) for p in "qk"}
    return {**tensors, **norms, "hidden_norm.weight": torch.zeros(h)}


def test_eagle3():
    """
    An EAGLE-3 drafter takes three states, and its t2d keeps as many tokens as its own vocabulary has.
    """
    right = examine_here(TensorShapeSane(drafter(EAGLE3, 3), spec_from_config(EAGLE3), config=EAGLE3, strict=True))
    tensors = drafter(EAGLE3, 2)
    tensors["t2d"][0] = False
    wrong = examine_here(TensorShapeSane(tensors, spec_from_config(EAGLE3), config=EAGLE3, strict=True))

    assert right.verdict is PASS, right.reason
    assert wrong.verdict is FAIL
    assert "128, expected 192 = 3*ht" in wrong.reason
    assert "t2d: sum 99, expected == 100" in wrong.reason


def test_dflash():
    """
    A DFlash drafter takes as many states as its config lists layers, each once and of the target.
    """
    two = {**DFLASH, "num_hidden_layers": 1}
    right = examine_here(TensorShapeSane(drafter(two, 3), spec_from_config(two), config=two, strict=True))
    bad = {**two, "dflash_config": {"target_layer_ids": [1, 1, 20]}}
    wrong = examine_here(TensorShapeSane(drafter(two, 2), spec_from_config(bad), config=bad))

    assert right.verdict is PASS, right.reason
    assert wrong.verdict is FAIL
    assert "1 of 3 values is a repeat, first at [1], which equals that at [0]" in wrong.reason
    assert "not in 0..19" in wrong.reason
    assert "2*ht, not 3*ht" in wrong.reason


def test_fp8_scales():
    """
    A config that says fp8 asks a block scale for each fp8 matrix, in any shard.
    """
    config = {**SMALL, "model_type": "llama", "dtype": "bfloat16", "quantization_config": {"quant_method": "fp8"}}
    spec = spec_from_config(config)

    assert spec["**.weight when e4m3"] == "[r c] & companion(_scale_inv, f32[ceil(r/128) ceil(c/128)])"
    assert spec["model.layers.{i:0..L-1}.mlp.down_proj.weight"] == "bf16|e4m3[h m]"


def test_unknown_family():
    """
    A model type of no known family is refused by name.
    """
    with pytest.raises(ValueError, match="mamba"):
        spec_from_config({"model_type": "mamba"})


def test_spec_from_module():
    """
    The spec written from an object is one that it satisfies, strictly, and one that its neighbour does not.
    """
    layers = torch.nn.ModuleList([torch.nn.Linear(8, 4) for _ in range(12)])
    spec = spec_from(layers, dims={"h": 8})

    assert spec == {"where h": "8", "{i:0..11}.weight": "f32[4 h]", "{i:0..11}.bias": "f32[4]"}
    assert examine_here(TensorShapeSane(layers, spec, strict=True)).verdict is PASS
    assert examine_here(TensorShapeSane(layers[:11], spec, strict=True)).verdict is FAIL


def test_spec_from_ragged(tmp_path):
    """
    Numbers that are no full grid come out as patterns that stand for just them, also from a file.
    """
    from safetensors.torch import save_file

    tensors = {f"l.{i}.e.{e}.w": torch.zeros(2) for i, e in [(0, 0), (0, 1), (3, 0), (3, 1), (3, 2)]}
    save_file(tensors, tmp_path / "m.safetensors")
    spec = spec_from(tmp_path / "m.safetensors")

    assert spec == {"l.0.e.{i:0..1}.w": "f32[2]", "l.3.e.{i:0..2}.w": "f32[2]"}
    assert examine_here(TensorShapeSane(tmp_path / "m.safetensors", spec, strict=True)).verdict is PASS
