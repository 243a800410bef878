"""What a saved optimizer says of itself: states of all parameters, of one kind, at one step. Signs, so warnings."""

from __future__ import annotations

import copy

import pytest
import torch

from verikit.checks.checkpoint import CheckpointIntact
from verikit.testing.here import examine_here
from verikit.verdict import PASS


def trained(kind=torch.optim.AdamW, frozen=(), **options):
    """(weights, the optimizer's state) after three steps; the gradients of `frozen` are None."""
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 2))
    optimizer = kind(model.parameters(), lr=0.1, **options)
    for _ in range(3):
        model(torch.randn(2, 4)).sum().backward()
        for at in frozen:
            list(model.parameters())[at].grad = None
        optimizer.step()
        optimizer.zero_grad()
    return model.state_dict(), copy.deepcopy(optimizer.state_dict())


def plain_steps(state):
    """As torch before 1.12 had it: steps that are numbers."""
    for value in state["state"].values():
        value["step"] = int(value["step"])
    return state


PLACES = {
    "by itself": lambda weights, state: state,
    "beside its weights": lambda weights, state: {"model": weights, "optimizer_state_dict": state},
    "of Lightning": lambda weights, state: {
        "state_dict": weights,
        "epoch": 1,
        "global_step": 3,
        "pytorch-lightning_version": "2.4.0",
        "loops": {},
        "optimizer_states": [state],
    },
}


def look(path, place, weights, state):
    torch.save(PLACES[place](weights, state), path)
    return examine_here(CheckpointIntact(str(path)))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", [torch.optim.AdamW, torch.optim.SGD, torch.optim.RMSprop, torch.optim.Adagrad])
def test_whole(tmp_path, place, kind):
    """
    A whole optimizer passes without a warning, whichever it is.
    """
    found = look(tmp_path / "x.ckpt", place, *trained(kind))

    assert (found.verdict, found.warnings) == (PASS, ())


def lose(state):
    del state["state"][1]


def lag(state):
    state["state"][1]["step"] = state["state"][1]["step"] - 1


def bare(state):
    del state["state"][1]["exp_avg_sq"]


def stranger(state):
    state["state"][9] = state["state"][0]


SIGNS = {
    "no state for 1 of its 4 parameters": lose,
    "at different steps, 1 of 4 (such as 1)": lag,
    "other entries than the rest (exp_avg_sq)": bare,
    "states for 1 parameters that no group lists, such as 9": stranger,
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("steps", [plain_steps, lambda state: state], ids=["numbers", "tensors"])
@pytest.mark.parametrize("words", SIGNS)
def test_signs(tmp_path, place, steps, words):
    """
    What may be a loss and may be meant is a warning that says what is odd; steps that are tensors are told by their CRC-32s.
    """
    weights, state = trained()
    SIGNS[words](steps(state))

    found = look(tmp_path / "x.ckpt", place, weights, state)

    assert found.verdict is PASS
    assert any(words in warning for warning in found.warnings), found.warnings


@pytest.mark.parametrize("place", PLACES)
def test_states_of_two_forms(tmp_path, place):
    """
    Adafactor keeps rows and columns of a matrix and all of a vector: other entries, and none of them lost.
    """
    model = torch.nn.Linear(8, 4)
    adafactor = torch.optim.Adafactor(model.parameters())
    model(torch.ones(2, 8)).sum().backward()
    adafactor.step()

    found = look(tmp_path / "x.pt", place, model.state_dict(), adafactor.state_dict())

    assert (found.verdict, found.warnings) == (PASS, ())


def test_never_stepped(tmp_path):
    """
    An optimizer saved before its first step has no states, and lacks none.
    """
    weights, state = trained()
    state["state"] = {}

    found = look(tmp_path / "x.pt", "beside its weights", weights, state)

    assert (found.verdict, found.warnings) == (PASS, ())


def test_parameters_without_gradients(tmp_path):
    """
    Parameters that never had a gradient pass, though it can't be told from a loss: a warning.
    """
    found = look(tmp_path / "x.pt", "beside its weights", *trained(frozen=(0, 1)))

    assert found.verdict is PASS
    assert "unless those never had a gradient" in found.warnings[0]


@pytest.mark.parametrize("how", ["groups", "optimizers"])
def test_one_list_many_times_over(tmp_path, how):
    """
    A list of parameters that stands in thousands of groups is told, not walked that often.
    """
    group = {"params": list(range(20_000)), "betas": (0.9, 0.99)}
    one = {"state": {n: {"step": 1} for n in range(20_000)}, "param_groups": [group]}
    many = dict(one, param_groups=[group] * 4000) if how == "groups" else [dict(one) for _ in range(4000)]

    found = look(tmp_path / "x.pt", "by itself", {}, {"o": many})

    assert found.verdict is PASS
    assert any("not all were looked at" in warning for warning in found.warnings)
