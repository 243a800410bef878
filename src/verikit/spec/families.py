"""Specs of checkpoints by their config: what the common families of models have on disk.

A family is a function from a config to rules, and one line in `FAMILIES`. Sizes are written as dims that `where` binds to
config keys, so that a reason can say which key gave a number. Names are those of checkpoints as they are published,
which for experts are not those of `transformers` 5 in memory (it fuses them when it loads).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from verikit.spec import dtypes, grammar

Rules = dict[str, str]

COMMON = {
    "h": "config.hidden_size",
    "L": "config.num_hidden_layers",
    "v": "config.vocab_size",
    "m": "config.intermediate_size",
    "H": "config.num_attention_heads",
    "K": "config.num_key_value_heads or H",
    "d": "config.head_dim or h//H",
}
LAYER = "model.layers.{i:0..L-1}."


def spec_of(config: Mapping[str, Any]) -> Rules:
    """The spec of a checkpoint with this config; ValueError names the model type if its family is not known here."""
    family = _special(config) or FAMILIES.get(str(config.get("model_type")))
    if family is None:
        raise ValueError(
            f"no spec is known for model_type {config.get('model_type')!r}; known are {', '.join(FAMILIES)}, eagle3, dflash"
        )
    rules = family(config)
    used = " ".join([*rules, *rules.values()])
    wheres = {f"where {name}": text for name, text in COMMON.items()}
    spec = {**wheres, **_typed(rules, config)}
    return {key: text for key, text in spec.items() if not key.startswith("where ") or _used(key[6:], used, spec)}


def _used(name: str, text: str, spec: Rules) -> bool:
    word = rf"(?<!\w)(?<!\w\.){name}(?![\w(])"  # h, and L in 0..L-1, but not the h of config.h
    return bool(re.search(word, text)) or any(
        re.search(word, other) and _used(key[6:], text, spec)
        for key, other in spec.items()
        if key.startswith("where ") and key[6:] != name
    )


def _special(config: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], Rules] | None:
    """Drafters say what they are by keys and architectures, not by model type."""
    architectures = " ".join(config.get("architectures") or ())
    if isinstance(config.get("dflash_config"), Mapping) or "DFlash" in architectures:
        return dflash
    if "draft_vocab_size" in config or "Eagle3" in architectures:
        return eagle3
    return None


def _typed(rules: Rules, config: Mapping[str, Any]) -> Rules:
    """Shapes without a dtype get the config's; with fp8 quantisation matrices may be fp8, each with its block scales."""
    name = str(config.get("dtype") or config.get("torch_dtype") or "any").rpartition(".")[2]
    dtype = "" if name == "any" or dtypes.known(name) is None else grammar.show_dtypes(dtypes.known(name))
    quantised = config.get("quantization_config") or {}
    fp8 = quantised.get("quant_method") == "fp8"
    out = {}
    for key, text in rules.items():
        plain = text.startswith("[")
        matrix = plain and " " in text.partition("]")[0]
        prefix = f"{dtype}|e4m3" if dtype and fp8 and matrix else dtype
        out[key] = prefix + text if plain and not key.startswith("where ") else text
    if fp8:
        rows, columns = quantised.get("weight_block_size") or (128, 128)
        out["**.weight when e4m3"] = f"[r c] & companion(_scale_inv, f32[ceil(r/{rows}) ceil(c/{columns})])"
    return out


# Parts.


def attention(layer: str = LAYER, bias: bool = False, output_bias: bool = False, width: str = "h") -> Rules:
    """Grouped-query attention: separate q, k, v, o."""
    part = layer + "self_attn."
    rules = {
        part + "q_proj.weight": f"[H*d {width}]",
        part + "{p:k,v}_proj.weight": f"[K*d {width}]",
        part + "o_proj.weight": "[h H*d]",
    }
    if bias:
        rules |= {part + "q_proj.bias": "[H*d]", part + "{p:k,v}_proj.bias": "[K*d]"}
    if output_bias:
        rules[part + "o_proj.bias"] = "[h]"
    return rules


def mlp(layer: str = LAYER, inner: str = "m", name: str = "mlp", bias: bool = False) -> Rules:
    """A gated feed-forward block."""
    part = f"{layer}{name}."
    rules = {part + "{p:gate,up}_proj.weight": f"[{inner} h]", part + "down_proj.weight": f"[h {inner}]"}
    if bias:
        rules |= {part + "{p:gate,up}_proj.bias": f"[{inner}]", part + "down_proj.bias": "[h]"}
    return rules


def norms(*names: str, layer: str = LAYER) -> Rules:
    return {f"{layer}{name}.weight": "[h]" for name in names}


def ends(config: Mapping[str, Any], tied: bool = False) -> Rules:
    """Embedding, last norm, and the head, which tied models may leave out."""
    head = "lm_head.weight?" if config.get("tie_word_embeddings", tied) else "lm_head.weight"
    return {"model.embed_tokens.weight": "[v h]", "model.norm.weight": "[h]", head: "[v h]"}


TWO = ("input_layernorm", "post_attention_layernorm")


# Families.


def llama(config: Mapping[str, Any]) -> Rules:
    bias = bool(config.get("attention_bias"))
    old = {LAYER + "self_attn.rotary_emb.inv_freq?": "any[...]"}  # saved by transformers before 4.32
    return {
        **ends(config),
        **attention(bias=bias, output_bias=bias),
        **mlp(bias=bool(config.get("mlp_bias"))),
        **norms(*TWO),
        **old,
    }


def qwen2(config: Mapping[str, Any]) -> Rules:
    return {**ends(config), **attention(bias=True), **mlp(), **norms(*TWO)}


def qwen3(config: Mapping[str, Any]) -> Rules:
    bias = bool(config.get("attention_bias"))
    return {**ends(config), **attention(bias=bias, output_bias=bias), **_qk_norms(), **mlp(), **norms(*TWO)}


def _qk_norms(layer: str = LAYER) -> Rules:
    return {layer + "self_attn.{p:q,k}_norm.weight": "[d]"}


def qwen3_moe(config: Mapping[str, Any]) -> Rules:
    rules = {**ends(config), **attention(bias=bool(config.get("attention_bias"))), **_qk_norms(), **norms(*TWO)}
    return {
        "where E": "config.num_experts or config.num_local_experts",
        "where mm": "config.moe_intermediate_size",
        **rules,
        LAYER + "mlp.gate.weight": "[E h]",
        **mlp(inner="mm", name="mlp.experts.{e:0..E-1}"),
    }


def mixtral(config: Mapping[str, Any]) -> Rules:
    part = LAYER + "block_sparse_moe."
    return {
        "where E": "config.num_local_experts",
        **ends(config),
        **attention(),
        **norms(*TWO),
        part + "gate.weight": "[E h]",
        part + "experts.{e:0..E-1}.{p:w1,w3}.weight": "[m h]",
        part + "experts.{e:0..E-1}.w2.weight": "[h m]",
    }


def deepseek_v3(config: Mapping[str, Any]) -> Rules:
    """MLA and experts: DeepSeek-V3 and R1, Kimi K2."""
    part = LAYER + "self_attn."
    dense, sparse = "model.layers.{i:0..k0-1}.", "model.layers.{i:k0..L-1}."
    rules = {
        "where E": "config.n_routed_experts",
        "where S": "config.n_shared_experts",
        "where mm": "config.moe_intermediate_size",
        "where k0": "config.first_k_dense_replace",
        "where ql": "config.q_lora_rank",
        "where kvl": "config.kv_lora_rank",
        "where nope": "config.qk_nope_head_dim",
        "where rope": "config.qk_rope_head_dim",
        "where vd": "config.v_head_dim",
        **ends(config),
        **norms(*TWO),
        part + "kv_a_proj_with_mqa.weight": "[kvl+rope h]",
        part + "kv_a_layernorm.weight": "[kvl]",
        part + "kv_b_proj.weight": "[H*(nope+vd) kvl]",
        part + "o_proj.weight": "[h H*vd]",
        **mlp(layer=dense),
        sparse + "mlp.gate.weight": "f32|bf16[E h]",
        sparse + "mlp.gate.e_score_correction_bias": "f32|bf16[E]",
        **mlp(layer=sparse, inner="S*mm", name="mlp.shared_experts"),
        **mlp(layer=sparse, inner="mm", name="mlp.experts.{e:0..E-1}"),
        part + "rotary_emb.inv_freq?": "any[...]",
    }
    if config.get("q_lora_rank"):
        rules |= {
            part + "q_a_proj.weight": "[ql h]",
            part + "q_a_layernorm.weight": "[ql]",
            part + "q_b_proj.weight": "[H*(nope+rope) ql]",
        }
    else:
        rules[part + "q_proj.weight"] = "[H*(nope+rope) h]"
    if config.get(
        "num_nextn_predict_layers"
    ):  # the multi-token prediction block comes as one more layer, or not at all
        rules["model.layers.{i:L..L+" + str(config["num_nextn_predict_layers"]) + "-1}.**?"] = "any[...]"
    return rules


def gemma(config: Mapping[str, Any]) -> Rules:
    return {**ends(config, tied=True), **attention(bias=bool(config.get("attention_bias"))), **mlp(), **norms(*TWO)}


def gemma2(config: Mapping[str, Any]) -> Rules:
    return {**gemma(config), **norms("pre_feedforward_layernorm", "post_feedforward_layernorm")}


def gemma3(config: Mapping[str, Any]) -> Rules:
    return {**gemma2(config), **_qk_norms()}


def gpt_neox(config: Mapping[str, Any]) -> Rules:
    layer = "gpt_neox.layers.{i:0..L-1}."
    head = "{p:embed_out,lm_head}.weight"  # transformers 5 renamed it
    biased = {
        "attention.query_key_value": ("[3*h h]", "[3*h]"),
        "attention.dense": ("[h h]", "[h]"),
        "mlp.dense_h_to_4h": ("[m h]", "[m]"),
        "mlp.dense_4h_to_h": ("[h m]", "[h]"),
        "input_layernorm": ("[h]", "[h]"),
        "post_attention_layernorm": ("[h]", "[h]"),
    }
    rules = {
        "gpt_neox.embed_in.weight": "[v h]",
        head + "?": "[v h]",
        f"tensors({head})": "_<=1" if config.get("tie_word_embeddings") else "1",
        "gpt_neox.final_layer_norm.{p:weight,bias}": "[h]",
    }
    for name, (weight, bias) in biased.items():
        rules |= {f"{layer}{name}.weight": weight, f"{layer}{name}.bias": bias}
    return {**rules, layer + "attention.{p:bias,masked_bias,rotary_emb.inv_freq}?": "any[...]"}


# Drafters.


def eagle3(config: Mapping[str, Any]) -> Rules:
    """One layer that takes an embedding and a state side by side, fed by three states of the target."""
    layer = "midlayer."
    return {
        "where dv": "config.draft_vocab_size or v",
        "where ht": "config.target_hidden_size or h",
        "fc.weight": "[h 3*ht]",
        **attention(layer=layer, width="2*h"),
        **mlp(layer=layer),
        **norms("hidden_norm", *TWO, layer=layer),
        "norm.weight": "[h]",
        "lm_head.weight": "[dv h]",
        "embed_tokens.weight?": "[v h]",
        "t2d": "bool[v] & sum == dv",
        "d2t": "i64[dv] & in 0..v-1",
    }


def dflash(config: Mapping[str, Any]) -> Rules:
    """Layers of the target's kind, fed by states of as many layers as the config lists, each once."""
    layer = "layers.{i:0..L-1}."
    ids = "config(dflash_config.target_layer_ids)"
    limit = " & in 0..T-1" if config.get("num_target_layers") else " & >= 0"
    rules = {
        "where n": "len(config.dflash_config.target_layer_ids)",
        "where ht": "config.target_hidden_size or h",
        **({"where T": "config.num_target_layers"} if config.get("num_target_layers") else {}),
        ids: f"[n] & distinct{limit}",
        "fc.weight": "[h n*ht]",
        "hidden_norm.weight": "[h]",
        **attention(layer=layer),
        **mlp(layer=layer),
        **norms(*TWO, layer=layer),
        "norm.weight": "[h]",
        "{p:embed_tokens,lm_head}.weight?": "[v h]",
    }
    return {**rules, **_qk_norms(layer)} if "qwen3" in str(config.get("model_type", "qwen3")) else rules


FAMILIES: dict[str, Callable[[Mapping[str, Any]], Rules]] = {
    "llama": llama,
    "mistral": llama,
    "qwen2": qwen2,
    "qwen3": qwen3,
    "qwen3_moe": qwen3_moe,
    "mixtral": mixtral,
    "deepseek_v3": deepseek_v3,
    "kimi_k2": deepseek_v3,
    "gemma": gemma,
    "gemma2": gemma2,
    "gemma3_text": gemma3,
    "gpt_neox": gpt_neox,
}
