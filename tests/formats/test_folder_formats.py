"""Checkpoints that are folders: complete ones pass, and what is missing, short, mixed or foreign is named."""

from __future__ import annotations

import argparse
import json
import os
import pickle
import re
import shutil
import struct
import zipfile

import format_writers as w
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from verikit.checks.checkpoint import CheckpointIntact
from verikit.errors import Cause
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS, UNKNOWN


def look(path, **claims):
    return examine_here(CheckpointIntact(str(path), **claims))


GOOD = {
    "dcp": lambda p: w.dcp(p / "c"),
    "dcp of safetensors": lambda p: w.dcp_safetensors(p / "c"),
    "ranks of safetensors": lambda p: w.hugging_face_ranks(p / "c"),
    "shards": lambda p: w.sets_of_shards(p / "c"),
    "deepspeed": lambda p: w.deepspeed(p / "c"),
    "deepspeed, one rank": lambda p: w.deepspeed(p / "c", ranks=1, parallel=1),
    "deepspeed, last partition without padding": lambda p: w.deepspeed(p / "c", lean=True),
    "deepspeed, the step itself": lambda p: w.deepspeed(p / "c") / "global_step1000",
    "megatron": lambda p: w.megatron(p / "c"),
    "megatron, the iteration itself": lambda p: w.megatron(p / "c") / "iter_0000500",
    "megatron of ranks": lambda p: w.megatron_ranks(p / "c"),
    "trainer": lambda p: w.trainer(p / "checkpoint-500"),
    "trainer of 4 ranks": lambda p: w.trainer(p / "checkpoint-500", ranks=4),
    "trainer, weights only": lambda p: w.trainer(p / "checkpoint-500", only_model=True),
    "model": lambda p: w.model(p / "c"),
    "model of shards": lambda p: w.model(p / "c", shards=3),
    "model with a head that is tied": lambda p: w.model(p / "c", names=headless, config={"tie_word_embeddings": True}),
    "model whose config is silent about ties": lambda p: w.model(
        p / "c", names=headless, config={"tie_word_embeddings": None}
    ),
    "model that is no language model": lambda p: w.model(
        p / "c", names=headless, config={"architectures": ["LlamaForSequenceClassification"]}
    ),
    "model with more layers than its config says": lambda p: w.model(p / "c", layers=5),
    "model with layers that may be empty": lambda p: w.model(p / "c", layers=3, config={"block_configs": [{}] * 4}),
    "model of 10^9 layers": lambda p: w.model(p / "c", config={"num_hidden_layers": 10**9}),
    "draft model without a prefix": lambda p: draft(p / "c"),
    "pipeline": lambda p: w.pipeline(p / "c"),
    "peft": lambda p: w.peft(p / "c"),
    "peft with ranks of its own": lambda p: w.peft(p / "c", rank=8, rank_pattern={"v_proj": 8}),
    "hub snapshot": lambda p: w.hub_cache(p),
    "hub repository": lambda p: w.hub_cache(p).parent.parent,
    "hub file": lambda p: w.hub_cache(p) / "model.safetensors",
    "hub local_dir": lambda p: w.hub_local(p / "c"),
    "hub local_dir, a file": lambda p: w.hub_local(p / "c") / "model.safetensors",
}


@pytest.mark.parametrize("name", GOOD)
def test_good_folders_pass(tmp_path, name):
    """
    What the frameworks write passes at structure, and is no FAIL at content.
    """
    path = GOOD[name](tmp_path)

    found = look(path)

    assert (found.verdict, found.cause) == (PASS, None), found.reason
    assert look(path, depth="content").verdict is not FAIL


def headless(name):
    return not name.startswith("lm_head")


def draft(folder):
    """The draft of a larger model, whose head it uses: one layer, an embedding, no head of its own."""
    folder.mkdir()
    save_file(
        {"embed_tokens.weight": torch.randn(50, 8), "layers.0.mlp.weight": torch.randn(8, 8)},
        folder / "model.safetensors",
    )
    config = {"architectures": ["LlamaForCausalLM"], "tie_word_embeddings": False, "num_hidden_layers": 1}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def edit(path, change):
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))


def metadata(folder, change):
    """Rewrites `.metadata` after a change to what it holds: torch's own classes, loaded here since torch wrote them here."""
    path = folder / ".metadata"
    value = pickle.loads(path.read_bytes())
    change(value)
    path.write_bytes(pickle.dumps(value))


def piece(value, name):
    index = next(index for index in value.storage_data if index.fqn == name)
    return index, value.storage_data[index]


def move(value, name, offset=0, length=0, path=None):
    _, info = piece(value, name)
    info.offset, info.length = info.offset + offset, info.length + length
    info.relative_path = path or info.relative_path


def grow(value, name):
    size = value.state_dict_metadata[name].size
    value.state_dict_metadata[name].size = torch.Size((size[0] + 1, *size[1:]))


def shape(value, name, length):
    """The tensor and its one chunk of another length."""
    row = value.state_dict_metadata[name]
    row.size = row.chunks[0].sizes = torch.Size((length,))


D = "__0_0.distcp"
R = "shard-%05d-model-00001-of-00001.safetensors"
Z = "bf16_zero_pp_rank_%d_mp_rank_%02d_optim_states.pt"

BROKEN = {
    "dcp: no .metadata": ("dcp", lambda c: w.remove(c / ".metadata"), "no .metadata"),
    "dcp: died before the rename": ("dcp", lambda c: (c / ".metadata").rename(c / ".metadata.tmp"), "the save died"),
    "dcp: empty .metadata": ("dcp", lambda c: w.cut(c / ".metadata", 0), "empty"),
    "dcp: .metadata cut": ("dcp", lambda c: w.cut(c / ".metadata", 900), "breaks off"),
    "dcp: .metadata goes on": ("dcp", lambda c: w.append(c / ".metadata"), "follow the pickle"),
    "dcp: pieces not there": ("dcp", lambda c: w.remove(c / D), "missing"),
    "dcp: pieces empty": ("dcp", lambda c: w.cut(c / D, 0), "truncated"),
    "dcp: pieces cut": ("dcp", lambda c: w.cut(c / D, 5000), "truncated"),
    "dcp: one byte short": ("dcp", lambda c: w.cut(c / D, (c / D).stat().st_size - 1), "truncated"),
    "dcp: pieces go on": ("dcp", lambda c: w.append(c / D), "are expected"),
    "dcp: a piece moved": ("dcp", lambda c: metadata(c, lambda m: move(m, "model.layer.bias", offset=64)), "hole"),
    "dcp: a piece too long": ("dcp", lambda c: metadata(c, lambda m: move(m, "model.layer.bias", length=64)), "overlap"),
    "dcp: a piece outside": (
        "dcp",
        lambda c: metadata(c, lambda m: move(m, "step", path="../../elsewhere")),
        "unsafe",
    ),
    "dcp: a piece not stored": (
        "dcp",
        lambda c: metadata(c, lambda m: m.storage_data.pop(piece(m, "model.layer.bias")[0])),
        "no piece is stored",
    ),
    "dcp: bytes not stored": (
        "dcp",
        lambda c: metadata(c, lambda m: m.storage_data.pop(piece(m, "step")[0])),
        "nothing is stored",
    ),
    "dcp: a name dropped": (
        "dcp",
        lambda c: metadata(c, lambda m: m.state_dict_metadata.pop("model.layer.bias")),
        "no name of the state dict",
    ),
    "dcp: chunks do not cover": ("dcp", lambda c: metadata(c, lambda m: grow(m, "model.layer.bias")), "hold 8 of its 9"),
    "dcp: chunk twice": (
        "dcp",
        lambda c: metadata(c, lambda m: m.state_dict_metadata["model.layer.bias"].chunks.append(
            m.state_dict_metadata["model.layer.bias"].chunks[0])),
        "two chunks",
    ),
    "dcp: a piece of another shape": (
        "dcp",
        lambda c: metadata(c, lambda m: swap(m, "model.layer.weight", "model.head.weight")),
        "has the shape",
    ),
    "dcp: a piece's end zeroed": ("dcp", lambda c: zero_end(c, "model.layer.weight"), "model.layer.weight"),
    "dcp: bytes zeroed": ("dcp", lambda c: overwrite(c, "step", 0, None), "begins with zeros"),
    "dcp: the beginning of bytes zeroed": ("dcp", lambda c: overwrite(c, "step", 0, 200), "piece 'step'"),
    "dcp: the first bytes of bytes lost": ("dcp", lambda c: overwrite(c, "step", 0, 4, b"\xff"), "piece 'step'"),
    "dcp: the end of bytes zeroed": ("dcp", lambda c: overwrite(c, "step", -200, None), "the ZIP directory at the end"),
    "dcp of safetensors: cut": ("dcp of safetensors", lambda c: w.cut(c / D, -8), "truncated"),
    "dcp of safetensors: pieces not there": ("dcp of safetensors", lambda c: w.remove(c / D), "missing"),
    "dcp of safetensors: a piece less": (
        "dcp of safetensors",
        lambda c: save_file({"empty": torch.zeros(0, 3), "model.layer.bias": torch.ones(8)}, c / D),
        "lacks the piece",
    ),
    "dcp of safetensors: a piece of another shape": (
        "dcp of safetensors",
        lambda c: metadata(c, lambda m: shape(m, "model.layer.bias", 7)),
        "has the shape",
    ),
    "dcp of safetensors: saved from elsewhere": (
        "dcp of safetensors",
        lambda c: w.rewrite(
            c / D, b'model.layer.bias\\": {\\"saved_offsets\\": [0]', b'model.layer.bias\\": {\\"saved_offsets\\": [4]'
        ),
        "was saved from",
    ),
    "dcp of safetensors: a tensor that .metadata does not know": (
        "dcp of safetensors",
        lambda c: metadata(c, lambda m: (
            m.state_dict_metadata.pop("model.layer.bias"), m.storage_data.pop(piece(m, "model.layer.bias")[0]))),
        "says nothing",
    ),
    "ranks of safetensors: one lost": (
        "ranks of safetensors", lambda c: w.remove(c / (R % 2)), "1 of 3 shards is missing",
    ),
    "ranks of safetensors: one twice": (
        "ranks of safetensors", lambda c: (c / (R % 2)).write_bytes((c / (R % 1)).read_bytes()), "two pieces",
    ),
    "shards: one twice": (
        "shards",
        lambda c: (c / "model-00002-of-00002.safetensors").write_bytes((c / "model-00001-of-00002.safetensors").read_bytes()),
        "'a' is in model-00001-of-00002.safetensors and in",
    ),
    "deepspeed: no folder of that name": (
        "deepspeed", lambda c: (c / "latest").write_text("global_step2000"), "is not there",
    ),
    "deepspeed: latest empty": ("deepspeed", lambda c: (c / "latest").write_text(""), "names no folder"),
    "deepspeed: latest leaves": ("deepspeed", lambda c: (c / "latest").write_text("../x"), "names no folder"),
    "deepspeed: a rank lost": (
        "deepspeed", lambda c: w.remove(c / "global_step1000" / (Z % (1, 0))), "rank 1, model-parallel rank 0",
    ),
    "deepspeed: the last rank lost": (
        "deepspeed",
        lambda c: [w.remove(c / "global_step1000" / (Z % (3, model))) for model in (0, 1)],
        "speak of 4 data-parallel ranks",
    ),
    "deepspeed: model states lost": (
        "deepspeed", lambda c: w.remove(c / "global_step1000" / "mp_rank_00_model_states.pt"), "model states of rank 0",
    ),
    "deepspeed: a rank cut": (
        "deepspeed", lambda c: w.cut(c / "global_step1000" / (Z % (1, 1)), 300), "truncated",
    ),
    "deepspeed: two steps mixed": (
        "deepspeed",
        lambda c: torch.save(
            {"module": w.state(1), "global_steps": 900, "dp_world_size": 4, "mp_world_size": 2},
            c / "global_step1000" / "mp_rank_01_model_states.pt",
        ),
        "global_steps is 1000 and 900",
    ),
    "deepspeed: a partition too short": (
        "deepspeed",
        lambda c: torch.save(
            {"optimizer_state_dict": {"single_partition_of_fp32_groups": [torch.zeros(64)], "zero_stage": 2}},
            c / "global_step1000" / (Z % (1, 0)),
        ),
        "64 elements on rank 1, 100 on others",
    ),
    "deepspeed: a rank of another run": (
        "deepspeed", lambda c: cut_into(c / "global_step1000", {(1, 0): 4, (2, 1): 8}), "their partition_count is 4 and 8",
    ),
    "deepspeed: cut into more than are there": (
        "deepspeed", lambda c: cut_into(c / "global_step1000", {(0, 0): [2, 6]}), "cut into 6 parts (partition_count), 4 are",
    ),
    "megatron: the iteration is not there": (
        "megatron", lambda c: (c / "latest_checkpointed_iteration.txt").write_text("900"), "no iter_0000900",
    ),
    "megatron: no tracker": (
        "megatron", lambda c: w.remove(c / "latest_checkpointed_iteration.txt"), "by which loaders find iter_0000500",
    ),
    "megatron of ranks: no tracker": (
        "megatron of ranks",
        lambda c: w.remove(c / "latest_checkpointed_iteration.txt"),
        "by which loaders find iter_0000500",
    ),
    "megatron: the tracker is no number": (
        "megatron", lambda c: (c / "latest_checkpointed_iteration.txt").write_text("iter_0000500"), "neither a number",
    ),
    "megatron: no common.pt": ("megatron", lambda c: w.remove(c / "iter_0000500" / "common.pt"), "common.pt is missing"),
    "megatron: no metadata.json": ("megatron", lambda c: w.remove(c / "iter_0000500" / "metadata.json"), "metadata.json"),
    "megatron: no .metadata": ("megatron", lambda c: w.remove(c / "iter_0000500" / ".metadata"), "no .metadata"),
    "megatron: pieces cut": ("megatron", lambda c: w.cut(c / "iter_0000500" / D, 5000), "truncated"),
    "megatron of ranks: one lost": (
        "megatron of ranks", lambda c: w.remove(c / "iter_0000500" / "mp_rank_01_000"), "3 ranks are there of a grid of 2 x 2",
    ),
    "megatron of ranks: a file lost": (
        "megatron of ranks", lambda c: w.remove(c / "iter_0000500" / "mp_rank_01_001" / "model_optim_rng.pt"), "missing",
    ),
    "trainer: state cut": ("trainer", lambda c: w.cut(c / "trainer_state.json", 20), "trainer_state.json"),
    "trainer: step differs": (
        "trainer", lambda c: edit(c / "trainer_state.json", lambda v: v.update(global_step=400)), "of step 500",
    ),
    "trainer: no step": ("trainer", lambda c: edit(c / "trainer_state.json", lambda v: v.pop("global_step")), "no global_step"),
    "trainer: no weights": ("trainer", lambda c: w.remove(c / "model.safetensors"), "no weights"),
    "trainer: no optimizer": ("trainer", lambda c: w.remove(c / "optimizer.pt"), "optimizer.pt is missing"),
    "trainer: no scheduler": ("trainer", lambda c: w.remove(c / "scheduler.pt"), "scheduler.pt is missing"),
    "trainer: no random state": ("trainer", lambda c: w.remove(c / "rng_state.pth"), "rng_state.pth is missing"),
    "trainer: a rank's random state lost": (
        "trainer of 4 ranks", lambda c: w.remove(c / "rng_state_2.pth"), "rng_state_2.pth is missing",
    ),
    "trainer: optimizer cut": ("trainer", lambda c: w.cut(c / "optimizer.pt", 500), "truncated"),
    "trainer: weights of another model": (
        "trainer",
        lambda c: save_file({"layer.weight": torch.zeros(16, 4), "layer.bias": torch.zeros(16)}, c / "model.safetensors"),
        "moments for",
    ),
    "trainer: weights gathered from nothing": (
        "trainer", lambda c: save_file({name: torch.zeros(0) for name in w.state()}, c / "model.safetensors"), "no elements",
    ),
    "model: weights gathered from nothing": ("model", lambda c: ungathered(c, 3), "3 of "),
    "model of shards: weights gathered from nothing": ("model of shards", lambda c: ungathered(c, 1), "have no elements"),
    "model: a layer in the middle gone": (
        "model", lambda c: again(c, names=lambda name: ".layers.2." not in name), "number 2 is the first that lacks",
    ),
    "model: the last layer gone": ("model", lambda c: again(c, layers=3), "4 layers, the weights have 3"),
    "model of shards: a layer gone": ("model of shards", lambda c: again(c, layers=3, shards=3), "the weights have 3"),
    "model: no embedding": (
        "model", lambda c: again(c, names=lambda name: "embed" not in name), "no embedding beside 'lm_head.weight'",
    ),
    "model: no head": ("model", lambda c: again(c, names=headless), "no head beside 'model.embed_tokens.weight'"),
    "pipeline: a model not there": ("pipeline", lambda c: w.remove(c / "unet"), "the component 'unet'"),
    "pipeline: the scheduler not there": ("pipeline", lambda c: w.remove(c / "scheduler"), "the component 'scheduler'"),
    "pipeline: the scheduler's folder empty": (
        "pipeline", lambda c: w.remove(c / "scheduler" / "scheduler_config.json"), "'scheduler' is empty",
    ),
    "pipeline: no weights": (
        "pipeline", lambda c: w.remove(c / "text_encoder" / "model.safetensors"), "(CLIPTextModel) has no weights",
    ),
    "pipeline: no config": ("pipeline", lambda c: w.remove(c / "unet" / "config.json"), "unet/config.json is missing"),
    "pipeline: the index cut": ("pipeline", lambda c: w.cut(c / "model_index.json", -3), "no JSON"),
    "pipeline: weights cut": (
        "pipeline", lambda c: w.cut(c / "unet" / "diffusion_pytorch_model.safetensors", -3), "truncated",
    ),
    "model: no weights": ("model", lambda c: (c / "model.safetensors").rename(c / "generation_config.json"), "weights are not"),
    "pipeline: no index": ("pipeline", lambda c: w.remove(c / "model_index.json"), "model_index.json is missing"),
    "pipeline: aria2 not done": ("pipeline", lambda c: beside(c / "unet" / "diffusion_pytorch_model.safetensors"), "aria2"),
    "deepspeed: aria2 not done": ("deepspeed", lambda c: beside(c / "global_step1000" / (Z % (1, 0))), "aria2"),
    "megatron: aria2 not done": ("megatron", lambda c: beside(c / "iter_0000500" / D), "aria2"),
    "megatron of ranks: aria2 not done": (
        "megatron of ranks", lambda c: beside(c / "iter_0000500" / "mp_rank_01_000" / "model_optim_rng.pt"), "aria2",
    ),
    "trainer of 4 ranks: all but the first lost": (
        "trainer of 4 ranks", lambda c: [w.remove(c / f"rng_state_{n}.pth") for n in (1, 2, 3)], "rng_state_1.pth is missing",
    ),
    "trainer: state gone": ("trainer", lambda c: w.remove(c / "trainer_state.json"), "trainer_state.json is missing"),
    "trainer: generation config cut": (
        "trainer", lambda c: (c / "generation_config.json").write_text('{"eos'), "no JSON",
    ),
    "hub repository: the blobs are gone": ("hub repository", lambda c: w.remove(c / "blobs"), "`blobs`"),
    "hub snapshot: a link to nowhere": (
        "hub snapshot", lambda c: (w.remove(c / "config.json"), (c / "config.json").symlink_to("x")), "leads nowhere",
    ),
    "hub local_dir: a file of its own is cut": ("hub local_dir", lambda c: cut_adapter(c), "truncated"),
    "peft: no weights": ("peft", lambda c: w.remove(c / "adapter_model.safetensors"), "no weights"),
    "peft: config cut": ("peft", lambda c: w.cut(c / "adapter_config.json", 10), "adapter_config.json"),
    "peft: no tensors": ("peft", lambda c: save_file({}, c / "adapter_model.safetensors"), "no tensors"),
    "peft: an A without its B": (
        "peft",
        lambda c: save_file(
            {name: each for name, each in w.adapter_tensors().items() if "v_proj.lora_B" not in name},
            c / "adapter_model.safetensors",
        ),
        "v_proj.lora_A",
    ),
    "peft: a B without its A": (
        "peft",
        lambda c: save_file(
            {name: each for name, each in w.adapter_tensors().items() if "v_proj.lora_A" not in name},
            c / "adapter_model.safetensors",
        ),
        "v_proj.lora_B",
    ),
    "peft: ranks differ": (
        "peft",
        lambda c: save_file(
            {name: each[:2] if "q_proj.lora_A" in name else each for name, each in w.adapter_tensors().items()},
            c / "adapter_model.safetensors",
        ),
        "of rank 2",
    ),
    "peft: not the rank of the config": (
        "peft", lambda c: edit(c / "adapter_config.json", lambda v: v.update(r=16)), "says 16",
    ),
    "peft: empty under ZeRO-3": (
        "peft",
        lambda c: save_file({name: torch.zeros(0) for name in w.adapter_tensors()}, c / "adapter_model.safetensors"),
        "no elements",
    ),
    "hub snapshot: the blob is gone": (
        "hub snapshot", lambda c: (c / "model.safetensors").resolve().unlink(), "model.safetensors is missing",
    ),
    "hub snapshot: the blob is cut": (
        "hub snapshot", lambda c: w.cut((c / "model.safetensors").resolve(), 300), "truncated",
    ),
    "hub repository: refs/main leads nowhere": (
        "hub repository", lambda c: (c / "refs" / "main").write_text("f" * 40), "refs/main names",
    ),
    "hub repository: the snapshots are gone": ("hub repository", lambda c: shutil.rmtree(c / "snapshots"), "refs/main names"),
    "hub repository: nothing left but blobs": (
        "hub repository", lambda c: [shutil.rmtree(c / name) for name in ("snapshots", "refs")] and (c / "refs").mkdir(),
        "there is no snapshot",
    ),
    "hub local_dir: a download was not finished": (
        "hub local_dir",
        lambda c: (c / ".cache/huggingface/download" / f"{'x' * 28}.{'a' * 64}.incomplete").write_bytes(b"part"),
        "was not finished",
    ),
    "deepspeed: nothing says which step": ("deepspeed", lambda c: w.remove(c / "latest"), "`latest` is missing"),
    "deepspeed: optimizer states without their model states": (
        "deepspeed", lambda c: w.remove(c / "global_step1000/mp_rank_01_model_states.pt"), "but no model states",
    ),
    "deepspeed: a model-parallel rank is gone": (
        "deepspeed",
        lambda c: [path.unlink() for path in (c / "global_step1000").glob("*mp_rank_01*")],
        "speak of 2 model-parallel ranks",
    ),
    "deepspeed: a partition lacks more than padding": (
        "deepspeed", lambda c: short_partition(c / "global_step1000"), "more than padding",
    ),
    "megatron: common.pt of another iteration": (
        "megatron",
        lambda c: torch.save({"iteration": 400}, c / "iter_0000500/common.pt"),
        "is of iteration 400",
    ),
    "megatron: tensor-parallel ranks gone": (
        "megatron of ranks", lambda c: fewer_ranks(c / "iter_0000500"), "speak of 2 tensor-parallel ranks",
    ),
    "peft: no config": ("peft", lambda c: w.remove(c / "adapter_config.json"), "adapter_config.json is missing"),
    "peft: a module trained in full is not there": (
        "peft",
        lambda c: edit(c / "adapter_config.json", lambda j: j.update(modules_to_save=["lm_head"])),
        "which modules_to_save names",
    ),
    "hub local_dir: a file is gone": ("hub local_dir", lambda c: w.remove(c / "model.safetensors"), "missing"),
}  # fmt: skip


def beside(path):
    (path.parent / (path.name + ".aria2")).write_bytes(b"x")


def cut_adapter(folder):
    save_file(w.adapter_tensors(), folder / "more.safetensors")
    w.cut(folder / "more.safetensors", -4)


def cut_into(folder, counts):
    """Ranks (data-parallel, model-parallel) that say into how many parts the optimizer was cut."""
    for rank, count in counts.items():
        state = {"single_partition_of_fp32_groups": [torch.zeros(100)], "partition_count": count}
        torch.save({"optimizer_state_dict": state}, folder / (Z % rank))


def ungathered(folder, count):
    """The first weights as ZeRO-3 leaves them when it is not asked to gather."""
    path = sorted(folder.glob("*.safetensors"))[0]
    tensors = load_file(path)
    for name in [name for name in tensors if name.endswith(".weight")][:count]:
        tensors[name] = torch.zeros(0)
    save_file(tensors, path)


def again(folder, **options):
    """The same model written again, with less of it."""
    w.remove(folder)
    w.model(folder, **options)


def swap(value, one, other):
    """The places of two pieces exchanged."""
    (_, first), (_, second) = piece(value, one), piece(value, other)
    first.offset, second.offset = second.offset, first.offset
    first.length, second.length = second.length, first.length


def overwrite(folder, name, start, end, byte=b"\0"):
    """One byte over and over, within a piece."""
    _, info = piece(pickle.loads((folder / ".metadata").read_bytes()), name)
    data = bytearray((folder / D).read_bytes())
    span = range(info.offset, info.offset + info.length)[start:end]
    data[span.start : span.stop] = byte * len(span)
    (folder / D).write_bytes(data)


def zero_end(folder, name):
    """Zeros over the last bytes of a piece, where its ZIP directory is."""
    overwrite(folder, name, -200, None)


def short_partition(folder):
    """The last rank's flat partition a tenth of the others'."""
    for path in folder.glob("*zero_pp_rank_*"):
        rank = int(path.name.split("_rank_")[1].split("_")[0])
        part = {"single_partition_of_fp32_groups": [torch.zeros(100 if rank == 3 else 1000)], "zero_stage": 2}
        torch.save({"optimizer_state_dict": part}, path)


def fewer_ranks(folder):
    """The second tensor-parallel rank gone, the arguments of the first as they were."""
    for path in folder.glob("mp_rank_*/*.pt"):
        if path.parent.name.startswith("mp_rank_01"):
            path.unlink()
            path.parent.rmdir()
        else:
            torch.save({"args": argparse.Namespace(tensor_model_parallel_size=2), "iteration": 500}, path)


@pytest.mark.parametrize("name", BROKEN)
def test_broken_structure(tmp_path, name):
    """
    What structure can show is FAIL at structure, and the finding says what it is.
    """
    good, harm, words = BROKEN[name]
    path = GOOD[good](tmp_path)
    harm(path)

    found = look(path)

    assert found.verdict is FAIL, found.reason
    assert words in everything_said(found)


def everything_said(found):
    """The reason, and the faults of all files in the facts."""
    facts = found.facts
    rows = [row for file in facts.get("files", ()) for row in file["faults"]]
    rows += (facts.get("folder") or {}).get("faults", ())
    return "\n".join([found.reason, *(row["what"] for row in rows)])


def test_the_reason_names_the_first_fault(tmp_path):
    """
    The reason itself says which rank is missing.
    """
    path = w.deepspeed(tmp_path / "c")
    w.remove(path / "global_step1000" / (Z % (2, 1)))

    assert "the optimizer states of rank 2, model-parallel rank 1, are missing" in look(path).reason


CONTENT = {
    "dcp": lambda p: (w.dcp(p / "c"), p / "c" / D),
    "hub snapshot": lambda p: (w.hub_cache(p), blob(p, "model.safetensors")),
    "hub snapshot, small file": lambda p: (w.hub_cache(p), blob(p, "config.json")),
    "hub local_dir": lambda p: (w.hub_local(p / "c"), p / "c" / "model.safetensors"),
    "hub local_dir, one file": lambda p: (w.hub_local(p / "c") / "model.safetensors", p / "c" / "model.safetensors"),
    "hub file": lambda p: (w.hub_cache(p) / "model.safetensors", blob(p, "model.safetensors")),
}


def blob(path, name):
    """What a link of the snapshot leads to."""
    return (path / "models--org--name" / "snapshots" / w.COMMIT / name).resolve()


@pytest.mark.parametrize("name", CONTENT)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_flipped_bit_shows_at_content(tmp_path, name, data):
    """
    One bit of a record's bytes (dcp) or of any byte (the hub's files) is FAIL at content depth, offline.
    """
    w.remove(tmp_path)
    tmp_path.mkdir()
    path, file = CONTENT[name](tmp_path)
    at = data.draw(st.sampled_from(payload(file)) if name == "dcp" else st.integers(0, file.stat().st_size - 1))
    assert look(path, depth="content").verdict is PASS

    w.flip(file, at, data.draw(st.integers(0, 7)))

    assert look(path, depth="content").verdict is FAIL


def payload(file):
    """Offsets of the bytes of records in a .distcp: each piece is a ZIP of its own."""
    whole, offsets = file.read_bytes(), []
    value = pickle.loads((file.parent / ".metadata").read_bytes())
    for info in value.storage_data.values():
        part = whole[info.offset : info.offset + info.length]
        (file.parent.parent / "part.zip").write_bytes(part)
        with zipfile.ZipFile(file.parent.parent / "part.zip") as archive:
            for record in archive.infolist():
                start = record.header_offset + 30 + sum(struct.unpack_from("<HH", part, record.header_offset + 26))
                offsets += range(info.offset + start, info.offset + start + record.file_size)
    return offsets


def test_metadata_that_would_run(tmp_path):
    """
    A `.metadata` whose pickle would call something is FAIL, and is not called.
    """
    path = w.dcp(tmp_path / "c")

    class Boom:
        def __reduce__(self):
            return exec, ("raise SystemExit('ran')",)

    metadata(path, lambda value: setattr(value, "planner_data", Boom()))

    found = look(path)

    assert found.verdict is FAIL
    assert "unsafe pickle" in found.reason


@pytest.mark.parametrize("depth", ["structure", "content"])
def test_bytes_of_no_known_form(tmp_path, depth):
    """
    Bytes that a planner of somebody's own put there may be anything: UNKNOWN, at no depth a pass.
    """
    path = w.dcp(tmp_path / "c")
    overwrite(path, "step", 0, None, b"\x5a")

    found = look(path, depth=depth)

    assert (found.verdict, found.cause) == (UNKNOWN, Cause.UNSUPPORTED)
    assert "the piece 'step' is of no known form" in found.reason


def test_a_piece_zeroed_is_not_a_cut_file(tmp_path):
    """
    A piece whose end is gone in a file of the right length is told as that, and not as a truncated file.
    """
    path = w.dcp(tmp_path / "c")
    zero_end(path, "model.layer.weight")

    assert "truncated" not in look(path).reason


def test_a_piece_of_another_save(tmp_path):
    """
    A .distcp that .metadata does not name is a warning: a save of more ranks was there before.
    """
    path = w.dcp(tmp_path / "c")
    (path / "__9_0.distcp").write_bytes((path / D).read_bytes())

    found = look(path)

    assert found.verdict is PASS
    assert any("__9_0.distcp" in warning for warning in found.warnings)


def test_a_save_without_optimizer_says_so(tmp_path):
    """
    Weights only pass, and the warning says that training can't be resumed from them.
    """
    found = look(w.trainer(tmp_path / "checkpoint-500", only_model=True))

    assert found.verdict is PASS
    assert any("can't be resumed" in warning for warning in found.warnings)


@pytest.mark.parametrize("lost", [("latest",), ("latest", "zero_to_fp32.py")], ids=["latest", "all but steps"])
def test_steps_without_latest(tmp_path, lost):
    """
    Without `latest` DeepSpeed finds no step, whatever else lies beside them; the step's own folder is whole.
    """
    root = w.deepspeed(tmp_path / "c")
    for name in lost:
        w.remove(root / name)

    found = look(root)

    assert found.verdict is FAIL
    assert "`latest` is missing" in found.reason
    assert look(root / "global_step1000").verdict is PASS


def test_steps_of_another_framework(tmp_path):
    """
    Folders of DeepSpeed's names that hold none of its states want no `latest`.
    """
    w.dcp(tmp_path / "c" / "global_step10")

    assert look(tmp_path / "c").verdict is PASS


def test_a_step_under_another_name(tmp_path):
    """
    A folder called for another step than its states tell is UNKNOWN: renamed by hand, or states of another save.
    """
    root = w.deepspeed(tmp_path / "c")
    (root / "global_step1000").rename(root / "global_step1200")
    (root / "latest").write_text("global_step1200")

    found = look(root)

    assert (found.verdict, found.cause) == (UNKNOWN, Cause.AMBIGUOUS)
    assert "the folder global_step1200 has states of step 1000" in found.reason


def test_a_toy_beside_the_config_of_a_large_model(tmp_path):
    """
    Far fewer layers than the config says are those of another model, or meant: a warning.
    """
    found = look(w.model(tmp_path / "c", config={"num_hidden_layers": 32}))

    assert found.verdict is PASS
    assert any("32 layers, the weights have 4" in warning for warning in found.warnings)


def odd_layer(folder, change):
    """A model one tensor of one layer of which is changed: `change(name, tensor)`, None leaves it out."""
    path = w.model(folder, layers=6, config={"num_hidden_layers": 6}) / "model.safetensors"
    rows = {name: change(name, each) for name, each in load_file(path).items()}
    save_file({name: each for name, each in rows.items() if each is not None}, path)
    return folder


@pytest.mark.parametrize(
    ("layer", "change", "words"),
    [
        (3, lambda each: None, "lacks self_attn.q_proj.weight"),
        (3, lambda each: each[:, :-2].contiguous(), "has the shape [8, 6], in all other layers [8, 8]"),
        (0, lambda each: None, None),
        (5, lambda each: None, None),
    ],
)
def test_a_layer_unlike_all_others(tmp_path, layer, change, words):
    """
    A layer in the middle that lacks a tensor, or has it in another shape, where all others are alike: UNKNOWN. At either end
    it may be meant.
    """
    odd = f".{layer}.self_attn.q_proj.weight"

    found = look(odd_layer(tmp_path / "c", lambda name, each: change(each) if name.endswith(odd) else each))

    assert (found.verdict, found.cause) == ((UNKNOWN, Cause.AMBIGUOUS) if words else (PASS, None)), found.reason
    assert words is None or words in found.reason


def copied(folder, one, other):
    (folder / other).write_bytes((folder / one).read_bytes())
    return folder


def partitions(root, value):
    """DeepSpeed's states of two ranks, their partitions by `value(rank)`."""
    folder = w.deepspeed(root, ranks=2, parallel=1) / "global_step1000"
    for rank in range(2):
        states = {"single_partition_of_fp32_groups": [value(rank)], "zero_stage": 2}
        torch.save({"optimizer_state_dict": states}, folder / (Z % (rank, 0)))
    return root


def noise(rank):
    return torch.randn(100, generator=torch.Generator().manual_seed(rank))


COPIES = {
    "deepspeed: partitions": lambda p: partitions(p, lambda rank: noise(0)),
    "deepspeed: model-parallel ranks": lambda p: copied(
        w.deepspeed(p), "global_step1000/mp_rank_00_model_states.pt", "global_step1000/mp_rank_01_model_states.pt"
    ),
    "megatron": lambda p: copied(
        w.megatron_ranks(p),
        "iter_0000500/mp_rank_00_000/model_optim_rng.pt",
        "iter_0000500/mp_rank_01_001/model_optim_rng.pt",
    ),
}


@pytest.mark.parametrize("name", COPIES)
def test_copies_of_another_rank(tmp_path, name):
    """
    Two ranks with the same values in all of their records are a copy, or trained for nothing: UNKNOWN, at structure already.
    """
    found = look(COPIES[name](tmp_path / "c"))

    assert (found.verdict, found.cause) == (UNKNOWN, Cause.AMBIGUOUS), found.reason
    assert "record for record" in found.reason


@pytest.mark.parametrize(
    "value", [noise, lambda rank: torch.zeros(100), lambda rank: torch.ones(100)], ids=["own", "0", "1"]
)
def test_ranks_that_are_their_own(tmp_path, value):
    """
    Partitions that differ, and those of zeros or ones, which may be everywhere, are no copies.
    """
    assert look(partitions(tmp_path / "c", value)).verdict is PASS


FILES = ("optimizer.pt", "scheduler.pt", "rng_state.pth", "model.safetensors")


@pytest.mark.parametrize(("one", "other"), [(a, b) for a in FILES for b in FILES[:3] if a != b])
def test_files_in_the_place_of_others(tmp_path, one, other):
    """
    A whole file of a Trainer's folder under the name of another is FAIL: what it holds is told by its keys.
    """
    path = w.trainer(tmp_path / "checkpoint-500")
    assert look(path).verdict is PASS

    (path / other).write_bytes((path / one).read_bytes())

    found = look(path)
    assert found.verdict is FAIL, found.reason
    assert f"{other} holds" in everything_said(found)


LISTED = {"target_modules": ["q_proj", "v_proj"]}
LACKS = {
    "all of a layer in the middle": lambda name: ".2." in name,
    "one module of a layer": lambda name: ".1.self_attn.v_proj" in name,
    "one module of the last layer": lambda name: ".4.self_attn.v_proj" in name,
}


@pytest.mark.parametrize("what", LACKS)
def test_a_layer_of_an_adapter_gone(tmp_path, what):
    """
    An adapter in which one layer lacks what all others have is UNKNOWN, unless its config says that layers are chosen.
    """
    tensors = w.adapter_layers(5, LACKS[what])

    found = look(w.peft(tmp_path / "a", tensors=tensors, **LISTED))
    chosen = look(w.peft(tmp_path / "b", tensors=tensors, **LISTED, layers_to_transform=[0, 1, 3, 4]))
    pattern = look(w.peft(tmp_path / "c", tensors=tensors, target_modules=".*proj"))

    assert (found.verdict, found.cause) == (UNKNOWN, Cause.AMBIGUOUS)
    assert "of the adapter lacks" in found.reason
    assert (chosen.verdict, pattern.verdict) == (PASS, PASS)


@pytest.mark.parametrize(
    "lacks", [lambda name: False, lambda name: ".1." in name or ".3." in name, lambda name: ".4." in name]
)
def test_adapters_of_layers_of_two_kinds(tmp_path, lacks):
    """
    Every layer, every other one, or all up to some layer: as meant.
    """
    assert look(w.peft(tmp_path / "a", tensors=w.adapter_layers(5, lacks), **LISTED)).verdict is PASS


def test_a_rank_by_its_arguments(tmp_path):
    """
    Arguments of another tensor-parallel rank than the folder's are a warning: two folders were swapped, or a script set them.
    """
    path = w.megatron_ranks(tmp_path / "c", pipeline=1)
    for rank, folder in enumerate(sorted((path / "iter_0000500").iterdir())):
        args = argparse.Namespace(rank=1 - rank, tensor_model_parallel_size=2)
        torch.save({"args": args, "model": w.state(rank), "iteration": 500}, folder / "model_optim_rng.pt")

    found = look(path)

    assert found.verdict is PASS
    assert sum("by its arguments" in warning for warning in found.warnings) == 2


def test_iterations_of_another_framework(tmp_path):
    """
    Folders that are called as Megatron's and hold other checkpoints need no tracker.
    """
    (tmp_path / "iter_0000500").mkdir()
    torch.save(w.state(), tmp_path / "iter_0000500" / "model.pt")

    assert look(tmp_path).verdict is PASS


def test_a_download_of_the_past(tmp_path):
    """
    An unfinished download of a file that has since arrived whole is a warning.
    """
    import base64
    import hashlib

    path = w.hub_local(tmp_path / "c")
    short = base64.urlsafe_b64encode(hashlib.sha1(b"model.safetensors.metadata").digest()).decode()
    (path / ".cache/huggingface/download" / f"{short}.{'a' * 64}.incomplete").write_bytes(b"part")

    found = look(path)

    assert found.verdict is PASS
    assert any(re.search("not finished", warning) for warning in found.warnings)


def test_unknown_backend(tmp_path):
    """
    Megatron's zarr backend is UNKNOWN, unsupported.
    """
    path = w.megatron(tmp_path / "c")
    edit(path / "iter_0000500" / "metadata.json", lambda value: value.update(sharded_backend="zarr"))

    found = look(path)

    assert (found.verdict, found.cause) == (UNKNOWN, Cause.UNSUPPORTED)


HOSTILE = {
    "a FIFO for a member": (w.trainer, lambda c: fifo(c / "optimizer.pt")),
    "a FIFO for .metadata": (w.dcp, lambda c: fifo(c / ".metadata")),
    "a FIFO for the tracker": (w.megatron, lambda c: fifo(c / "latest_checkpointed_iteration.txt")),
    "/dev/zero for latest": (w.deepspeed, lambda c: device(c / "latest")),
    "/dev/zero for a JSON file": (w.trainer, lambda c: device(c / "trainer_state.json")),
    "JSON nested for ever": (w.trainer, lambda c: (c / "trainer_state.json").write_text("[" * 200_000)),
    "a rank of 10^9": (w.deepspeed, lambda c: (c / "global_step1000" / (Z % (0, 0))).rename(
        c / "global_step1000" / "bf16_zero_pp_rank_999999999_mp_rank_999999999_optim_states.pt")),
    "a random state of 10^9 ranks": (w.trainer, lambda c: (c / "rng_state.pth").rename(c / "rng_state_999999999.pth")),
    "a grid of 10^18": (w.megatron_ranks, lambda c: (c / "iter_0000500" / "mp_rank_999999999_999999999").mkdir()),
}  # fmt: skip


def fifo(path):
    path.unlink()
    os.mkfifo(path)


def device(path):
    path.unlink()
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_folders(tmp_path, name):
    """
    A FIFO, a device, a number without end: told at once, never a pass, nothing hangs.
    """
    build, harm = HOSTILE[name]
    path = build(tmp_path / "c")
    harm(path)

    assert look(path).verdict is not PASS


def test_a_loop_of_folders(tmp_path):
    """
    A link that leads back into its own folder is walked once.
    """
    path = w.hub_local(tmp_path / "c")
    (path / ".cache" / "huggingface" / "download" / "up").symlink_to("..")

    assert look(path, depth="content").verdict is PASS


def test_pieces_without_their_folder(tmp_path):
    """
    A .distcp by itself is UNKNOWN: where its pieces are stands in .metadata.
    """
    found = look(w.dcp(tmp_path / "c") / D)

    assert (found.verdict, found.cause) == (UNKNOWN, Cause.UNSUPPORTED)
