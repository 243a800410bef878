"""What DeepSpeed, the Trainer under FSDP and accelerate leave: every file is read, and held against what the others say.

Handmade by what their writers do: deepspeed/runtime/engine.py, pipe/module.py and checkpoint/ds_to_universal.py;
accelerate/checkpointing.py and utils/fsdp_utils.py. Pieces of distributed checkpoints are by torch itself.
"""

from __future__ import annotations

import enum
import json
import os
import shutil
import sys
import types
from collections import OrderedDict

import format_writers as w
import pytest
import torch
from safetensors.torch import save_file

from verikit.checks.checkpoint import CheckpointIntact
from verikit.errors import Cause
from verikit.probes.formats import folders
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS, UNKNOWN


def look(path, **claims):
    return examine_here(CheckpointIntact(str(path), **claims))


class Evil:
    def __reduce__(self):
        return os.system, ("true",)


def evil(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save({"x": Evil()}, path)


def cut(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save({"w": torch.ones(50)}, path)
    w.cut(path, 300)


# DeepSpeed.

STEP = "global_step7"
WIDE = 64
Z = "zero_pp_rank_%d_mp_rank_%02d_optim_states.pt"
M = "mp_rank_%02d_model_states.pt"


def common(rank=0, **more):
    torch.manual_seed(rank)
    return {
        "module": {"a.weight": torch.randn(8, 8), "a.bias": torch.randn(8)},
        "optimizer": None,
        "param_shapes": [OrderedDict({"a.weight": torch.Size([8, 8]), "a.bias": torch.Size([8])})],
        "global_steps": 7,
        "dp_world_size": 2,
        "mp_world_size": 1,
        "ds_config": {"zero_optimization": {"stage": 2}},
        **more,
    }


def moments(rank, **more):
    torch.manual_seed(100 + rank)
    state = {"step": torch.tensor(7.0), "exp_avg": torch.randn(WIDE), "exp_avg_sq": torch.rand(WIDE)}
    return {
        "base_optimizer_state": {"state": {0: state}, "param_groups": [{"lr": 0.1, "params": [0]}]},
        "single_partition_of_fp32_groups": [torch.randn(WIDE)],
        "partition_count": [2],
        "zero_stage": 2,
        # Which slices of which parameters lie in a rank's partition: of each rank its own.
        "param_slice_mappings": [OrderedDict({"a.weight" if rank else "a.bias": 0})],
        **more,
    }


def zero(root, *, ranks=2, models=1, said=None, optim=lambda rank: moments(rank)):
    """ZeRO-2: model states of each model-parallel rank, and the optimizer's of each data-parallel rank of it."""
    folder = root / STEP
    folder.mkdir(parents=True)
    (root / "latest").write_text(STEP)
    for model in range(models):
        torch.save(common(model, dp_world_size=ranks, mp_world_size=models, **(said or {})), folder / (M % model))
        for rank in range(ranks):
            torch.save({"optimizer_state_dict": optim(10 * model + rank)}, folder / (Z % (rank, model)))
    return root


def zero3(root):
    """ZeRO-3: both kinds of every rank, weights as placeholders."""
    folder = root / STEP
    folder.mkdir(parents=True)
    (root / "latest").write_text(STEP)
    for rank in range(2):
        empty = {"module": {"a.weight": torch.zeros(0), "a.bias": torch.zeros(0)}, "ds_config": {}}
        torch.save(common(**empty), folder / (f"zero_pp_rank_{rank}_" + M % 0))
        inner = moments(rank)["base_optimizer_state"]
        parts = {"optimizer_state_dict": inner, "fp32_flat_groups": [torch.randn(WIDE)], "zero_stage": 3}
        torch.save({"optimizer_state_dict": parts}, folder / (Z % (rank, 0)))
    return root


def pipeline(root, *, layers=(0, 1, 3), models=0, told=True):
    """A pipeline of two stages: a file for each layer that is a module; no weights in the model states."""
    folder = root / STEP
    folder.mkdir(parents=True)
    (root / "latest").write_text(STEP)
    for layer in layers:
        for part in [f"-model_{model:02d}" for model in range(models)] or [""]:
            torch.save(OrderedDict(weight=torch.randn(4, 4)), folder / f"layer_{layer:02d}{part}-model_states.pt")
    for stage in range(2):
        own = layers[: len(layers) // 2] if stage == 0 else layers[len(layers) // 2 :]
        shapes = [OrderedDict({f"{layer}.weight": torch.Size([4, 4]) for layer in own})] if told else None
        states = common(module=None, param_shapes=shapes, dp_world_size=1, optimizer=None if told else {"state": {}})
        torch.save(states, folder / (M % stage))
        if told:
            torch.save({"optimizer_state_dict": moments(stage, partition_count=[1])}, folder / (Z % (0, stage)))
    return root


def layer(number, part=""):
    return f"layer_{number:02d}{part}-model_states.pt"


def universal(root, *, inside=False, params=("a.weight", "a.bias")):
    """What ds_to_universal.py leaves beside the step, or, when `latest` names that, as the step itself."""
    zero(root)
    folder = root / (STEP if inside else STEP + "_universal")
    for name in params:
        inner = folder / "zero" / name
        inner.mkdir(parents=True)
        for each in ("fp32", "exp_avg", "exp_avg_sq"):
            torch.save({"param": torch.randn(8, 8), "cat_dim": 0}, inner / f"{each}.pt")
        torch.save(torch.tensor(7.0), inner / "step.pt")
    torch.save({"param_groups": []}, folder / "zero" / "optimizer_state.pt")
    if inside:
        for rank in range(2):
            (folder / (Z % (rank, 0))).unlink()
    else:
        shutil.copy(root / STEP / (M % 0), folder / (M % 0))
        (root / "latest_universal").write_text(folder.name)
    return root


def experts(root, lost=()):
    """Experts of two layers, each in a file of its own."""
    zero(root)
    for number in range(2):
        for expert in range(4):
            if (number, expert) not in lost:
                path = root / STEP / f"layer_{number}_expert_{expert}_mp_rank_00_model_states.pt"
                torch.save({"w": torch.randn(4, 4)}, path)
    return root


def converted(root):
    """zero_to_fp32.py leaves a folder of that name, if it is asked for a file."""
    (zero(root) / "pytorch_model.bin").mkdir()
    save_file(w.state(), root / "pytorch_model.bin" / "model.safetensors")
    return root


def client(root):
    torch.save({"epoch": 3}, zero(root) / STEP / "client_state.pt")
    return root


def early(root):
    for rank in range(2):
        (zero(root) if rank == 0 else root).joinpath(STEP, Z % (rank, 0)).rename(
            root / STEP / f"zero_pp_rank_{rank}_mp_rank_00optim_states.pt"
        )
    return root


GOOD = {
    "ZeRO-2": zero,
    "ZeRO-2, the step itself": lambda root: zero(root) / STEP,
    "ZeRO-2 of two model-parallel ranks": lambda root: zero(root, models=2),
    "ZeRO-3": zero3,
    "a pipeline": pipeline,
    "a pipeline of two model-parallel ranks": lambda root: pipeline(root, models=2),
    "a pipeline without ZeRO": lambda root: pipeline(root, told=False),
    "layers of one number each": lambda root: pipeline(root, layers=(1, 3, 10, 12)),
    "a universal form beside": universal,
    "a universal form as the step": lambda root: universal(root, inside=True),
    "experts": experts,
    "a folder with the name of weights": converted,
    "states of the client": client,
    "optimizer states by their early name": early,
}


@pytest.mark.parametrize("name", GOOD)
def test_good_saves_of_deepspeed(tmp_path, name):
    """
    What DeepSpeed writes passes: layers with gaps in their numbers, universal forms, placeholders of ZeRO-3.
    """
    found = look(GOOD[name](tmp_path / "c"))

    assert found.verdict is PASS, found.reason


FILES = {
    "a layer": (pipeline, f"{STEP}/{layer(1)}"),
    "a layer beside whole weights": (zero, f"{STEP}/{layer(2)}"),
    "a layer of a model-parallel rank": (zero, f"{STEP}/{layer(2, '-model_00')}"),
    "an expert": (experts, f"{STEP}/layer_1_expert_2_mp_rank_00_model_states.pt"),
    "a client's state": (zero, f"{STEP}/client_state.pt"),
    "a scheduler": (zero, f"{STEP}/lr_scheduler.pt"),
    "a pickle of another name": (zero, f"{STEP}/notes.pkl"),
    "a file beside `latest`": (zero, "extra.pt"),
    "a parameter of a universal form": (universal, f"{STEP}_universal/zero/a.bias/fp32.pt"),
    "a universal form that nothing names": (zero, f"{STEP}_universal/zero/w/fp32.pt"),
    "model states of a universal form": (universal, f"{STEP}_universal/{M % 0}"),
    "a parameter within the step": (zero, f"{STEP}/zero/w/fp32.pt"),
    "the common state of a universal form": (universal, f"{STEP}_universal/zero/optimizer_state.pt"),
    "megatron: beside the ranks": (w.megatron_ranks, "iter_0000500/rerun.pt"),
    "megatron: a rank's pickle": (w.megatron_ranks, "iter_0000500/mp_rank_00_000/notes.pkl"),
    "megatron: beside the tracker": (w.megatron, "extra.pt"),
}


@pytest.mark.parametrize("name", FILES)
def test_every_file_of_a_step_is_read(tmp_path, name):
    """
    A pickle that would run code, and a file that is cut, fail under whatever name they lie in the folder of a step.
    """
    make, path = FILES[name]
    root = make(tmp_path / "c")
    assert look(root).verdict is PASS

    evil(root / path)
    found = look(root)
    assert (found.verdict, "would call" in found.reason) == (FAIL, True), found.reason

    cut(root / path)
    found = look(root)
    assert (found.verdict, "truncated" in found.reason) == (FAIL, True), found.reason


def without(path, *keys):
    """Rewrites a file without one key beneath others."""
    value = torch.load(path, weights_only=False)
    inner = value
    for key in keys[:-1]:
        inner = inner[key]
    del inner[keys[-1]]
    torch.save(value, path)


def put(path, value, *keys):
    whole = torch.load(path, weights_only=False)
    inner = whole
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    torch.save(whole, path)


def lose(pattern):
    return lambda root: [path.unlink() for path in sorted((root / STEP).glob(pattern))]


BASE = ("optimizer_state_dict", "base_optimizer_state")
INNER = ("optimizer_state_dict", "optimizer_state_dict")
EMPTY = {"a.weight": torch.zeros(0), "a.bias": torch.zeros(0)}

BROKEN = {
    "all layers lost": (pipeline, lose("layer_*"), "there are no layer files"),
    "all layers lost, no ZeRO": (lambda r: pipeline(r, told=False), lose("layer_*"), "there are no layer files"),
    "a layer lost that param_shapes names": (pipeline, lose(layer(1)), "no file of layer 1"),
    "a layer's part lost": (
        lambda r: pipeline(r, models=2), lose(layer(1, "-model_01")), "layer 1 lacks the part of model_01",
    ),
    "a model-parallel rank's layers lost": (
        lambda r: pipeline(r, models=3), lose("layer_*-model_01-*"), "lacks the part of model_01",
    ),
    "layers without model states": (pipeline, lose("mp_rank_*"), "layers and optimizer states, but no model states"),
    "an expert lost": (lambda r: experts(r, [(1, 2)]), None, "experts of layer 1 of expert 2"),
    "all experts of a layer lost": (
        lambda r: experts(r, [(0, each) for each in range(4)]), None, "experts of layer 0 are missing",
    ),
    "a moment lost": (zero, lambda r: without(r / STEP / (Z % (1, 0)), *BASE, "state", 0, "exp_avg"), "'state.0.exp_avg'"),
    "a moment lost on the first rank": (
        lambda r: zero(r, ranks=3), lambda r: without(r / STEP / (Z % (0, 0)), *BASE, "state", 0, "exp_avg_sq"),
        f"{Z % (0, 0)} lacks 'state.0.exp_avg_sq'",
    ),
    "all states lost": (zero, lambda r: put(r / STEP / (Z % (1, 0)), {}, *BASE, "state"), "lacks 'state.0'"),
    "groups lost": (zero, lambda r: without(r / STEP / (Z % (1, 0)), *BASE, "param_groups"), "lacks 'param_groups'"),
    "no groups": (zero, lambda r: put(r / STEP / (Z % (1, 0)), [], *BASE, "param_groups"), "lacks 'param_groups.0'"),
    "a moment lost under ZeRO-3": (
        zero3, lambda r: without(r / STEP / (Z % (0, 0)), *INNER, "state", 0, "exp_avg"), "'state.0.exp_avg'",
    ),
    "one of two ranks lacks all of it": (
        zero, lambda r: without(r / STEP / (Z % (0, 0)), *BASE), "lacks 'base_optimizer_state'",
    ),
    "a rank of another stage": (zero, lambda r: put(r / STEP / (Z % (1, 0)), 1, BASE[0], "zero_stage"), "is 1 and 2"),
    "a rank of another step": (
        zero, lambda r: put(r / STEP / (Z % (1, 0)), torch.tensor(9.0), *BASE, "state", 0, "step"), "of different times",
    ),
    "all optimizer states lost": (zero, lose("zero_*"), "the optimizer states of 2 ranks are missing"),
    "all optimizer states of one rank": (lambda r: zero(r, ranks=1), lose("zero_*"), "the optimizer states of 1 rank are"),
    "all optimizer states of one model-parallel rank": (
        lambda r: zero(r, models=2), lose("zero_*_mp_rank_01_*"), "the optimizer states of 2 ranks are missing",
    ),
    "all optimizer states under ZeRO-3": (zero3, lose("zero_*_optim_*"), "the optimizer states of 2 ranks are missing"),
    "weights without elements": (
        zero, lambda r: put(r / STEP / (M % 0), EMPTY, "module"), "2 of 2 weights have no elements",
    ),
    "one weight without elements": (
        zero, lambda r: put(r / STEP / (M % 0), torch.zeros(0), "module", "a.weight"), "1 of 2 weights have no elements",
    ),
    "no weights": (zero, lambda r: put(r / STEP / (M % 0), {}, "module"), "2 of 2 weights have no elements"),
    "a parameter's weights lost": (
        universal, lambda r: (r / (STEP + "_universal") / "zero/a.bias/fp32.pt").unlink(), "a.bias lacks fp32.pt",
    ),
    "a parameter's moments lost": (
        lambda r: universal(r, params=("a", "b", "c")),
        lambda r: (r / (STEP + "_universal") / "zero/b/exp_avg.pt").unlink(), "zero/b lacks exp_avg.pt",
    ),
    "moments of another parameter": (
        universal,
        lambda r: put(r / (STEP + "_universal") / "zero/a.bias/exp_avg.pt", torch.zeros(3), "param"), "is of shape",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_broken_saves_of_deepspeed(tmp_path, name):
    """
    What lacks in one file of a step, by what the others say or have, is FAIL and named.
    """
    make, change, words = BROKEN[name]
    root = make(tmp_path / "c")
    if change is not None:
        change(root)

    found = look(root)

    assert found.verdict is FAIL, found.reason
    assert words in found.reason or any(words in row["what"] for row in found.facts["folder"]["faults"])


def test_placeholders_of_a_stage_that_is_not_told(tmp_path):
    """
    Weights without elements are right under ZeRO-3 only: UNKNOWN where no file tells the stage.
    """
    silent = {"ds_config": {}, "module": EMPTY}
    root = zero(tmp_path / "c", said=silent, optim=lambda rank: moments(rank, zero_stage=None))

    found = look(root)

    assert (found.verdict, found.cause) == (UNKNOWN, Cause.AMBIGUOUS), found.reason
    assert "no file tells the stage" in found.reason


def test_a_stage_as_deepspeed_writes_it(tmp_path, monkeypatch):
    """
    The stage is a member of an enumeration of DeepSpeed's; its number is told all the same.
    """
    module = types.ModuleType("deepspeed.runtime.zero.config")
    module.ZeroStageEnum = enum.IntEnum("ZeroStageEnum", {"gradients": 2}, module=module.__name__)
    for name in ("deepspeed", "deepspeed.runtime", "deepspeed.runtime.zero"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    told = module.ZeroStageEnum.gradients
    root = zero(tmp_path / "c", said={"ds_config": {}}, optim=lambda rank: moments(rank, zero_stage=told))
    assert look(root).verdict is PASS

    put(root / STEP / (M % 0), EMPTY, "module")

    found = look(root)
    assert found.verdict is FAIL, found.reason
    assert "stage 2 keeps all weights there" in found.reason


def test_optimizer_states_that_nothing_tells_of(tmp_path):
    """
    Model states that say nothing of ZeRO may have been stripped on purpose: a warning.
    """
    root = zero(tmp_path / "c", said={"param_shapes": None})
    lose("zero_*")(root)

    found = look(root)

    assert found.verdict is PASS, found.reason
    assert any("training can't be resumed" in warning for warning in found.warnings)


def test_a_layer_that_may_have_no_weights(tmp_path):
    """
    Where nothing tells which layers have weights, a gap in their numbers is a warning.
    """
    found = look(pipeline(tmp_path / "c", told=False))

    assert found.verdict is PASS, found.reason
    assert any("no files of layers 2" in warning for warning in found.warnings)


def test_more_parameters_than_a_look_takes(tmp_path, monkeypatch):
    """
    A universal form of more files than the bound is UNKNOWN, bound_reached.
    """
    root = universal(tmp_path / "c")
    monkeypatch.setattr(folders, "FILES", 4)

    found = look(root)

    assert (found.verdict, found.cause) == (UNKNOWN, Cause.BOUND_REACHED), found.reason


# The Trainer under FSDP, and its random states.


def fsdp(folder, *, ranks=1, whole=False):
    """Weights and optimizer as distributed checkpoints, or whole, by FULL_STATE_DICT."""
    w.trainer(folder, ranks=ranks)
    (folder / "model.safetensors").unlink()
    (folder / "optimizer.pt").unlink()
    if whole:
        torch.save(w.state(), folder / "pytorch_model_fsdp.bin")
        torch.save({"state": {}, "param_groups": [{"params": []}]}, folder / "optimizer.bin")
    else:
        w.dcp(folder / "pytorch_model_fsdp_0")
        w.dcp(folder / "optimizer_0")
    return folder


@pytest.mark.parametrize("kind", [{}, {"ranks": 2}, {"whole": True}], ids=["sharded", "two ranks", "whole"])
def test_good_folders_of_fsdp(tmp_path, kind):
    """
    Both forms that the Trainer writes under FSDP pass.
    """
    found = look(fsdp(tmp_path / "checkpoint-500", **kind))

    assert found.verdict is PASS, found.reason


LOST = {
    "weights": ("pytorch_model_fsdp_0", "there are no weights"),
    "optimizer": ("optimizer_0", "optimizer_0 is missing"),
    "random state": ("rng_state.pth", "rng_state.pth is missing"),
    "scheduler": ("scheduler.pt", "scheduler.pt is missing"),
    "state": ("trainer_state.json", "trainer_state.json is missing"),
    "a piece": ("optimizer_0/__0_0.distcp", "__0_0.distcp is missing"),
    "metadata": ("pytorch_model_fsdp_0/.metadata", "no .metadata"),
}


@pytest.mark.parametrize("name", LOST)
def test_folders_of_fsdp_that_lack_a_part(tmp_path, name):
    """
    What lacks of a folder of the Trainer is missed in the layout of FSDP as in the plain one.
    """
    lost, words = LOST[name]
    folder = fsdp(tmp_path / "checkpoint-500")
    w.remove(folder / lost)

    found = look(folder)

    assert found.verdict is FAIL, found.reason
    assert words in found.reason


def test_a_random_state_beside_deepspeed(tmp_path):
    """
    Under DeepSpeed, too, the Trainer keeps the random state itself.
    """
    folder = zero(w.trainer(tmp_path / "checkpoint-7", step=7))
    for name in ("optimizer.pt", "scheduler.pt"):
        (folder / name).unlink()
    assert look(folder).verdict is PASS

    (folder / "rng_state.pth").unlink()

    found = look(folder)
    assert found.verdict is FAIL, found.reason
    assert "rng_state.pth is missing" in found.reason


@pytest.mark.parametrize(
    ("state", "verdict"),
    [
        (torch.zeros(5056, dtype=torch.uint8), PASS),
        (torch.zeros(5048, dtype=torch.uint8), PASS),  # CPUGeneratorImplStateLegacy, which set_state takes
        (torch.zeros(100, dtype=torch.uint8), FAIL),
        (torch.zeros(5057, dtype=torch.uint8), FAIL),
        (torch.zeros(0, dtype=torch.uint8), FAIL),
    ],
    ids=lambda value: str(len(value)) if isinstance(value, torch.Tensor) else "",
)
def test_the_size_of_a_random_state(tmp_path, state, verdict):
    """
    torch takes back a random state of the CPU of two sizes only; those of other devices are of their own.
    """
    folder = w.trainer(tmp_path / "checkpoint-500")
    torch.save({**w.random_state(), "cpu": state, "cuda": torch.zeros(16, dtype=torch.uint8)}, folder / "rng_state.pth")

    found = look(folder)

    assert found.verdict is verdict, found.reason
    assert verdict is PASS or "torch takes [5056] or [5048]" in found.reason


def test_torch_writes_such_a_random_state():
    """
    The size is that of the torch that runs here.
    """
    assert torch.get_rng_state().shape == (5056,)


# accelerate.


def save_state(folder, *, ranks=1):
    """What `Accelerator.save_state` leaves."""
    folder.mkdir(parents=True)
    save_file(w.state(), folder / "model.safetensors")
    parameters = [torch.nn.Parameter(each) for each in w.state().values()]
    optimizer = torch.optim.AdamW(parameters)
    sum(each.sum() for each in parameters).backward()
    optimizer.step()
    torch.save(optimizer.state_dict(), folder / "optimizer.bin")
    torch.save({"last_epoch": 1, "_step_count": 2}, folder / "scheduler.bin")
    for rank in range(ranks):
        states = w.random_state()
        states = {"step": 0, "random_state": states["python"], "torch_manual_seed": states["cpu"]}
        torch.save(states, folder / f"random_states_{rank}.pkl")
    return folder


def lacking(*names):
    def make(folder):
        for name in names:
            (save_state(folder) if not folder.exists() else folder).joinpath(name).unlink()
        return folder

    return make


def of_bin(folder):
    torch.save(w.state(), lacking("model.safetensors")(folder) / "pytorch_model.bin")
    return folder


def of_shards(folder):
    lacking("model.safetensors")(folder)
    names = {}
    for number, (name, tensor) in enumerate(w.state().items(), 1):
        names[name] = f"model-{number:05d}-of-00003.safetensors"
        save_file({name: tensor}, folder / names[name])
    index = {"metadata": {}, "weight_map": names}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder


def of_fsdp(folder):
    lacking("model.safetensors", "optimizer.bin")(folder)
    w.dcp(folder / "pytorch_model_fsdp_0")
    w.dcp(folder / "optimizer_0")
    return folder


def of_deepspeed(folder, latest=True):
    lacking("model.safetensors", "optimizer.bin")(folder)
    zero(folder)
    (folder / STEP).rename(folder / "pytorch_model")
    (folder / "latest").write_text("pytorch_model")
    (folder / "zero_to_fp32.py").write_text("#\n")
    if not latest:
        (folder / "latest").unlink()
    return folder


def of_megatron(folder):
    lacking("model.safetensors", "optimizer.bin", "scheduler.bin")(folder)
    other = w.megatron(folder.parent / "other")
    for each in other.iterdir():
        shutil.move(str(each), str(folder / each.name))
    return folder


def of_a_hook(folder):
    lacking("model.safetensors")(folder)
    (folder / "unet").mkdir()
    (folder / "unet" / "config.json").write_text("{}")
    save_file(w.state(), folder / "unet" / "diffusion_pytorch_model.safetensors")
    return folder


SAVED = {
    "weights and all": save_state,
    "of four processes": lambda folder: save_state(folder, ranks=4),
    "weights of torch": of_bin,
    "weights in shards": of_shards,
    "FSDP": of_fsdp,
    "DeepSpeed": of_deepspeed,
    "DeepSpeed without latest": lambda folder: of_deepspeed(folder, latest=False),
    "Megatron-LM": of_megatron,
    "a hook's folder": of_a_hook,
    "no scheduler": lacking("scheduler.bin"),
    "no optimizer and no scheduler": lacking("optimizer.bin", "scheduler.bin"),
}


@pytest.mark.parametrize("name", SAVED)
def test_good_folders_of_accelerate(tmp_path, name):
    """
    Whatever form accelerate keeps the weights in passes, and so do those that a program's hook keeps in a folder.
    """
    found = look(SAVED[name](tmp_path / "c"))

    assert found.verdict is PASS, found.reason


def gap(folder):
    (save_state(folder, ranks=3) / "random_states_1.pkl").unlink()
    return folder


def hollow_folder(folder):
    (lacking("model.safetensors")(folder) / "unet").mkdir()
    (folder / "unet" / "config.json").write_text("{}")
    return folder


def short(folder):
    put(save_state(folder) / "random_states_0.pkl", torch.zeros(100, dtype=torch.uint8), "torch_manual_seed")
    return folder


def torn(folder):
    w.cut(of_fsdp(folder) / "optimizer_0" / "__0_0.distcp", 5)
    return folder


def torn_deepspeed(folder):
    w.cut(of_deepspeed(folder, latest=False) / "pytorch_model" / (Z % (1, 0)), 5)
    return folder


LACKING = {
    "no weights": (lacking("model.safetensors"), "there are no weights"),
    "no weights and no scheduler": (lacking("model.safetensors", "scheduler.bin"), "there are no weights"),
    "a hook's folder without weights": (hollow_folder, "there are no weights"),
    "no weights beside a sharded optimizer": (
        lambda folder: w.remove(of_fsdp(folder) / "pytorch_model_fsdp_0") or folder, "there are no weights",
    ),
    "no sharded optimizer": (lambda folder: w.remove(of_fsdp(folder) / "optimizer_0") or folder, "optimizer.bin is missing"),
    "no optimizer": (lacking("optimizer.bin"), "optimizer.bin is missing"),
    "a process lost": (gap, "random_states_1.pkl is missing"),
    "a short random state": (short, "torch takes [5056] or [5048]"),
    "a piece that is cut": (torn, "truncated"),
    "DeepSpeed's states, cut": (torn_deepspeed, "truncated"),
}  # fmt: skip


@pytest.mark.parametrize("name", LACKING)
def test_folders_of_accelerate_that_lack_a_part(tmp_path, name):
    """
    A folder that save_state wrote, of which weights, optimizer or random states are gone, is FAIL.
    """
    make, words = LACKING[name]

    found = look(make(tmp_path / "c"))

    assert found.verdict is FAIL, found.reason
    assert words in found.reason


def test_weights_that_an_object_of_the_program_may_have(tmp_path):
    """
    Beside registered objects no weights are UNKNOWN: such an object may be the model.
    """
    folder = save_state(tmp_path / "c")
    torch.save({"epoch": 3}, folder / "custom_checkpoint_0.pkl")
    assert look(folder).verdict is PASS

    (folder / "model.safetensors").unlink()

    found = look(folder)
    assert (found.verdict, found.cause) == (UNKNOWN, Cause.AMBIGUOUS), found.reason


def test_an_optimizer_alone(tmp_path):
    """
    An optimizer without anything beside it passes, with a warning that names what lacks.
    """
    found = look(lacking("model.safetensors", "scheduler.bin", "random_states_0.pkl")(tmp_path / "c"))

    assert found.verdict is PASS, found.reason
    assert any("there are no weights" in warning for warning in found.warnings)
    assert any("random_states_N.pkl" in warning for warning in found.warnings)
