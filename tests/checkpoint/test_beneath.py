"""Checkpoints beneath a folder that is judged by its own files."""

from __future__ import annotations

import os

import numpy as np
import pytest
import torch

from verikit import PASS
from verikit.checks.checkpoint import CheckpointIntact
from verikit.probes import beneath
from verikit.testing.here import examine_here


def save(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save({"w": torch.ones(3)}, path)


@pytest.mark.parametrize("depth", ["size", "structure", "content"])
def test_others_are_named(tmp_path, depth):
    """
    A PASS of a folder names the folders beneath that hold checkpoints which it does not speak of, though they be broken.
    """
    save(tmp_path / "model.pt")
    for name in ("step-500", "step-1000", "old/deep"):
        save(tmp_path / name / "model.pt")
    os.truncate(tmp_path / "step-500" / "model.pt", 300)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "x.txt").write_text("x")
    np.save(tmp_path / "logs" / "x.npy", np.ones(3))

    found = examine_here(CheckpointIntact(tmp_path, depth=depth))

    assert found.verdict is PASS
    wanted = "3 folders beneath hold checkpoints that this claim does not cover: step-1000, step-500, old/deep"
    assert list(found.warnings) == [wanted]


def test_what_is_judged_is_not_named(tmp_path):
    """
    Where nothing lies in the folder itself those beneath are judged, and no warning names them.
    """
    for name in ("a", "b/c"):
        save(tmp_path / name / "model.pt")

    found = examine_here(CheckpointIntact(tmp_path))

    assert found.verdict is PASS
    assert found.facts["count"] == 2
    assert not found.warnings


def test_a_file_has_nothing_beneath(tmp_path):
    """
    A claim about one file, or a glob, says nothing of folders.
    """
    save(tmp_path / "model.pt")
    save(tmp_path / "old" / "model.pt")

    for path in (tmp_path / "model.pt", tmp_path / "*.pt"):
        assert not examine_here(CheckpointIntact(path)).warnings


def test_bounds(tmp_path, monkeypatch):
    """
    Of very many folders some are looked at, and the words say "at least"; links and hidden folders are not gone into.
    """
    save(tmp_path / "model.pt")
    save(tmp_path / "a" / "model.pt")
    save(tmp_path / ".cache" / "model.pt")
    os.symlink(tmp_path, tmp_path / "loop")
    for number in range(30):
        (tmp_path / "b" / str(number)).mkdir(parents=True)
    monkeypatch.setattr(beneath, "FOLDERS", 10)

    found = examine_here(CheckpointIntact(tmp_path))

    assert list(found.warnings) == ["at least 1 folder beneath holds checkpoints that this claim does not cover: a"]
