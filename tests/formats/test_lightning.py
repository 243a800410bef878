"""Lightning's `.ckpt`: torch's file with the keys of a whole run."""

from __future__ import annotations

import format_writers as w
import pytest
import torch

from verikit.checks.checkpoint import CheckpointIntact
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS


def lightning(path, **changes):
    """What `Trainer.save_checkpoint` writes, with AdamW's real state; a key changed to None is left out."""
    weights = w.state()
    parameters = [torch.nn.Parameter(each.clone()) for each in weights.values()]
    optimizer = torch.optim.AdamW(parameters)
    sum(each.sum() for each in parameters).backward()
    optimizer.step()
    tree = {
        "epoch": 3,
        "global_step": 400,
        "pytorch-lightning_version": "2.4.0",
        "state_dict": weights,
        "loops": {"fit_loop": {"state_dict": {}}},
        "callbacks": {},
        "optimizer_states": [optimizer.state_dict()],
        "lr_schedulers": [],
        **changes,
    }
    torch.save({key: value for key, value in tree.items() if value is not None}, path)
    return path


def look(path):
    return examine_here(CheckpointIntact(str(path)))


def test_whole(tmp_path):
    """
    A whole one passes, and its step is known.
    """
    found = look(lightning(tmp_path / "last.ckpt"))

    assert (found.verdict, found.warnings) == (PASS, ())
    assert found.facts["files"][0]["notes"]["step"] == 400


def test_weights_only(tmp_path):
    """
    Weights only pass, with a warning.
    """
    found = look(lightning(tmp_path / "x.ckpt", optimizer_states=None, lr_schedulers=None, callbacks=None))

    assert found.verdict is PASS
    assert "can't be resumed" in found.warnings[0]


@pytest.mark.parametrize("key", ["epoch", "global_step", "state_dict"])
def test_keys_missing(tmp_path, key):
    """
    Without one of the keys that Lightning always writes it is broken.
    """
    found = look(lightning(tmp_path / "x.ckpt", **{key: None}))

    assert found.verdict is FAIL
    assert repr(key) in found.reason


def test_optimizer_of_another_model(tmp_path):
    """
    Moments of shapes that no weight has are those of another model.
    """
    found = look(lightning(tmp_path / "x.ckpt", state_dict={"layer.weight": torch.zeros(16, 4)}))

    assert found.verdict is FAIL
    assert "moments for" in found.reason
