"""What a third corpus found, by somebody who had read nothing: each case stands for a rule."""

from __future__ import annotations

import argparse
import itertools
import shutil

import pytest
import torch
from safetensors.torch import save_file

from verikit.checks.checkpoint import CheckpointIntact
from verikit.errors import Cause
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS, UNKNOWN


def look(path, **claims):
    return examine_here(CheckpointIntact(str(path), **claims))


def doubted(found, words):
    """Whether it is a sign that settles nothing, with these words."""
    return (found.verdict, found.cause) == (UNKNOWN, Cause.AMBIGUOUS) and words in found.reason


def warned(found, words):
    return any(words in warning for warning in found.warnings)


# Megatron's folders of ranks.


def ranks(root, tensor=1, pipeline=1, expert=1, *, args=None, model=None, lost=lambda *rank: False):
    """The older layout as Megatron names it: a stage and an expert's group have a number where there are several."""
    sizes = {
        "tensor_model_parallel_size": tensor,
        "pipeline_model_parallel_size": pipeline,
        "expert_model_parallel_size": expert,
    }
    args = argparse.Namespace(**(sizes if args is None else args))
    for t, p, e in itertools.product(range(tensor), range(pipeline), range(expert)):
        if not lost(t, p, e):
            name = f"mp_rank_{t:02d}" + (f"_{p:03d}" if pipeline > 1 else "") + (f"_{e:03d}" if expert > 1 else "")
            folder = root / "iter_0000010" / name
            folder.mkdir(parents=True)
            weights = {"w": torch.randn(20, 20)} if model is None else model
            torch.save({"args": args, "iteration": 10, "model": weights}, folder / "model_optim_rng.pt")
    (root / "latest_checkpointed_iteration.txt").write_text("10")
    return root


LOST = {
    "tensor-parallel ranks": ((2, 2, 2), lambda t, p, e: t == 1),
    "pipeline stages": ((2, 2, 1), lambda t, p, e: p == 1),
    "pipeline stages, with experts": ((2, 3, 2), lambda t, p, e: p == 2),
    "expert-parallel ranks": ((1, 2, 2), lambda t, p, e: e == 1),
    "expert-parallel ranks, of one stage": ((2, 1, 4), lambda t, p, e: e == 3),
}


@pytest.mark.parametrize("what", LOST)
def test_all_ranks_of_a_kind_are_gone(tmp_path, what):
    """
    The grid of the folders that are left is complete; how large it was stands in the arguments within.
    """
    sizes, lost = LOST[what]
    assert look(ranks(tmp_path / "whole", *sizes)).verdict is PASS

    found = look(ranks(tmp_path / "lacking", *sizes, lost=lost))

    assert found.verdict is FAIL
    assert what.partition(",")[0] in found.reason


def test_stages_that_no_name_counts(tmp_path):
    """
    Arguments that speak of two stages, and folders that have no number for one: the second is nowhere.
    """
    found = look(ranks(tmp_path / "c", 2, args={"pipeline_model_parallel_size": 2}))

    assert found.verdict is FAIL
    assert "2 pipeline stages, 1 are there" in found.reason


def test_forks_that_do_not_name_experts(tmp_path):
    """
    Some forks keep all experts in the folders of tensor-parallel ranks; a converter may leave no arguments at all.
    """
    experts = look(ranks(tmp_path / "c", 2, args={"expert_model_parallel_size": 4}))
    nothing = look(ranks(tmp_path / "d", 2, args={}))

    assert (experts.verdict, nothing.verdict) == (PASS, PASS)


MODELS = {
    "one matrix": {"w": torch.randn(20, 20)},
    "a large matrix": {"w": torch.randn(300, 300)},
    "vectors": {"norm": torch.randn(100)},
    "many": {"a": torch.randn(20, 20), "b": torch.randn(20, 20), "norm": torch.ones(20)},
}


@pytest.mark.parametrize("depth", ["structure", "content"])
@pytest.mark.parametrize("name", MODELS)
def test_a_rank_that_is_a_copy(tmp_path, name, depth):
    """
    The file of one rank in the place of another's is UNKNOWN, however few tensors it holds.
    """
    path = ranks(tmp_path / "c", 2, model=MODELS[name])
    file = path / "iter_0000010" / "mp_rank_00" / "model_optim_rng.pt"
    shutil.copy(file, path / "iter_0000010" / "mp_rank_01" / file.name)

    assert doubted(look(path, depth=depth), "record for record")


def test_ranks_that_share_all_tensors(tmp_path):
    """
    A matrix of which each rank keeps the same values (a router's, positions) is no copy where anything else is its own.
    """
    path = ranks(tmp_path / "c", 2, model=MODELS["one matrix"])
    for rank in range(2):
        args = argparse.Namespace(rank=rank, tensor_model_parallel_size=2)
        folder = path / "iter_0000010" / f"mp_rank_{rank:02d}"
        torch.save({"args": args, "iteration": 10, "model": MODELS["one matrix"]}, folder / "model_optim_rng.pt")

    assert look(path).verdict is PASS


# JSON files beside weights.

MEMBERS = {
    "a model's config": "config.json",
    "another of its configs": "generation_config.json",
    "a tokenizer": "tokenizer.json",
    "a vocabulary": "vocab.json",
    "an index": "model.safetensors.index.json",
    "an adapter's config": "adapter_config.json",
    "a pipeline's index": "model_index.json",
    "a trainer's state": "trainer_state.json",
}


def beside_weights(folder, name, size, first=b"{", last=b"}"):
    """Weights, and a file of that size that is a hole between its ends."""
    folder.mkdir()
    save_file({"w": torch.ones(3)}, folder / "model.safetensors")
    (folder / "config.json").write_text("{}")
    with open(folder / name, "wb") as file:
        file.write(first)
        file.seek(size - len(last))
        file.write(last)
        file.truncate(size)
    return folder


@pytest.mark.parametrize("size", [70 << 20, 1 << 40])
@pytest.mark.parametrize("what", MEMBERS)
def test_a_member_too_big_to_be_read(tmp_path, what, size):
    """
    What is not read is said: UNKNOWN, or a warning where nothing in it is held against the weights.
    """
    found = look(beside_weights(tmp_path / "c", MEMBERS[what], size))

    if what in ("a tokenizer", "a vocabulary"):
        assert found.verdict is PASS, found.reason
        assert warned(found, "only the first and the last were looked at")
    else:
        assert (found.verdict, found.cause) == (UNKNOWN, Cause.BOUND_REACHED), found.reason


@pytest.mark.parametrize("ends", [(b"{", b""), (b"", b""), (b"{", b"<html>"), (b"{", b"]"), (b"\1", b"}")])
@pytest.mark.parametrize("what", ["a model's config", "a tokenizer", "an index"])
def test_a_big_member_that_is_no_json(tmp_path, what, ends):
    """
    However big, what does not begin and end as JSON does is FAIL.
    """
    found = look(beside_weights(tmp_path / "c", MEMBERS[what], 1 << 40, *ends))

    assert found.verdict is FAIL, found.reason
    assert "no JSON" in found.reason
