"""Which checkpoint to resume from, and whether one has come to rest."""

from __future__ import annotations

import os
import time

import format_writers as w
import pytest
import torch

from verikit.checks.checkpoint import CheckpointIntact
from verikit.errors import Cause, Unseen
from verikit.manifest import newest_intact
from verikit.probes import checkpoint, resume, stability
from verikit.probes.place import Place
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS

HOUR_AGO = time.time() - 3600


def save(path, step=0):
    torch.save({"model": w.state(), "step": step}, path)
    os.utime(path, (HOUR_AGO + step / 100, HOUR_AGO + step / 100))
    return path


def names(folder):
    return [row["name"] for row in resume.candidates(Place(), str(folder))["rows"]]


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("checkpoint-500", 500),
        ("global_step1000", 1000),
        ("iter_0000100", 100),
        ("epoch=3-step=400.ckpt", 400),
        ("checkpoint_step20k.pt", 20000),
        ("model_1M.safetensors", 1000000),
        ("step-300", 300),
        ("7", 7),
        ("ckpt_12.pth", 12),
        ("model-epoch-3.pt", 3),
        ("run2_step500.pt", 500),
        ("1.orbax-checkpoint-tmp-170", 1),
        ("last.ckpt", None),
        ("model.pt", None),
        ("llama3", None),
    ],
)
def test_step_of_a_name(name, step):
    """
    The step that a checkpoint's name bears, as the usual writers write it.
    """
    assert resume.step_of(name) == step


def test_newest_first(tmp_path):
    """
    Candidates come by the step in their names, not by the clock; what is no checkpoint is left out.
    """
    for step in (500, 1000, 1500):
        save(tmp_path / f"step_{step}.pt", step)
    os.utime(tmp_path / "step_500.pt")
    for name in ("train.log", "config.json", "latest", ".gitignore", "events.out.tfevents.1.host"):
        (tmp_path / name).write_text("x")
    (tmp_path / "logs").mkdir()

    assert names(tmp_path) == ["step_1500.pt", "step_1000.pt", "step_500.pt"]


def test_last_without_a_number(tmp_path):
    """
    `last.ckpt` comes before the numbered ones that are not younger than it.
    """
    save(tmp_path / "epoch=1-step=100.ckpt", 100)
    save(tmp_path / "epoch=2-step=200.ckpt", 200)
    save(tmp_path / "last.ckpt", 150)

    assert names(tmp_path) == ["epoch=2-step=200.ckpt", "last.ckpt", "epoch=1-step=100.ckpt"]


def test_newest_intact(tmp_path):
    """
    The last good checkpoint is named, and why each newer one is not taken.
    """
    for step in (500, 1000, 1500, 2000):
        save(tmp_path / f"checkpoint_{step}.pt", step)
    w.cut(tmp_path / "checkpoint_2000.pt", 900)
    w.cut(tmp_path / "checkpoint_1500.pt", 0)

    found = newest_intact(tmp_path)

    assert found.path == str(tmp_path / "checkpoint_1000.pt")
    assert (found.step, found.looked_at, found.found) == (1000, 3, 4)
    assert [(row.step, row.verdict) for row in found.newer] == [(2000, FAIL), (1500, FAIL)]
    assert "truncated" in found.newer[0].reason
    assert "not " + str(tmp_path / "checkpoint_2000.pt") in str(found)


def test_newest_of_folders(tmp_path):
    """
    Folders of the Trainer: the one whose save died is passed over.
    """
    for step in (500, 1000):
        w.trainer(tmp_path / f"checkpoint-{step}", step=step)
    w.remove(tmp_path / "checkpoint-1000" / "optimizer.pt")
    (tmp_path / "tmp-checkpoint-1500").mkdir()

    found = newest_intact(tmp_path)

    assert found.path == str(tmp_path / "checkpoint-500")
    assert "optimizer.pt is missing" in found.newer[-1].reason


def test_what_was_not_finished(tmp_path):
    """
    A name that a save in progress bears is no checkpoint, whatever is in it.
    """
    save(tmp_path / "step_100.pt", 100)
    save(tmp_path / "step_200.pt.tmp", 200)

    found = newest_intact(tmp_path)

    assert found.step == 100
    assert "not finished" in found.newer[0].reason


def test_undecided_is_not_taken(tmp_path):
    """
    A checkpoint that could not be decided on is not resumed from: its pickle names a class that only its owner knows.
    """
    save(tmp_path / "step_100.pt", 100)
    torch.save({"model": w.state(), "config": Own()}, tmp_path / "step_200.pt")

    assert newest_intact(tmp_path).step == 100
    assert newest_intact(tmp_path, allow=(f"{Own.__module__}.Own",)).step == 200


class Own:
    pass


def test_none_is_intact(tmp_path):
    """
    Where no checkpoint is good, none is named, and the answer is false.
    """
    save(tmp_path / "step_100.pt", 100)
    w.cut(tmp_path / "step_100.pt", 50)

    found = newest_intact(tmp_path)

    assert not found
    assert (found.path, len(found.newer)) == (None, 1)
    assert "no intact checkpoint" in str(found)


def test_a_folder_without_any(tmp_path):
    """
    An empty folder has none; a folder that is not there is Unseen.
    """
    assert not newest_intact(tmp_path)
    with pytest.raises(Unseen) as caught:
        newest_intact(tmp_path / "none")
    assert caught.value.cause is Cause.MISSING


def test_a_folder_that_is_one(tmp_path):
    """
    A folder that is one checkpoint gives itself.
    """
    path = w.trainer(tmp_path / "checkpoint-500")

    assert newest_intact(path).path == str(path)


def test_what_the_run_says(tmp_path):
    """
    What DeepSpeed's `latest` says is told beside.
    """
    w.deepspeed(tmp_path / "c")

    found = newest_intact(tmp_path / "c")

    assert found.path == str(tmp_path / "c" / "global_step1000")
    assert dict(found.pointer) == {"latest": "global_step1000"}


# At rest.


def rest(path, seconds=0.5, during=lambda: None):
    waited = []

    def wait(seconds):
        waited.append(seconds)
        during()

    return stability.rest(Place(), str(path), seconds, wait=wait), waited


def test_no_waiting_for_what_has_rested(tmp_path, monkeypatch):
    """
    A file whose ctime lies back far enough has had its rest: nobody waits.
    """
    path = save(tmp_path / "x.pt")

    place = Place()
    monkeypatch.setattr(place, "now", lambda: time.time() + 100)
    found = stability.rest(place, str(path), 30, wait=lambda seconds: pytest.fail("it waited"))

    assert found["rested"] > 30
    assert found["changed"] == []


CHANGES = {
    "grows": (lambda p: w.append(p / "x.pt"), "size"),
    "is touched": (lambda p: os.utime(p / "x.pt"), "touched"),
    "is replaced": (lambda p: (save(p / "y"), os.replace(p / "y", p / "x.pt")), "replaced"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changes_between_two_looks(tmp_path, name):
    """
    What changes between the looks is told, and how.
    """
    save(tmp_path / "x.pt")
    change, words = CHANGES[name]

    found, waited = rest(tmp_path / "x.pt", during=lambda: change(tmp_path))

    assert waited == [0.5]
    assert words in found["changed"][0][1]


def test_a_folder_that_grows(tmp_path):
    """
    A file that comes or goes within a folder is a change of it.
    """
    path = w.peft(tmp_path / "c")

    found, _ = rest(path, during=lambda: (path / "more.bin").write_bytes(b"x"))

    assert ["more.bin", "came"] in found["changed"]


def test_a_writer(tmp_path):
    """
    A process that holds the file open for writing is named; one that reads it is not.
    """
    path = save(tmp_path / "x.pt")

    with open(path, "rb"):
        assert rest(path)[0]["writers"] == []
    with open(path, "ab"):
        assert f"(pid {os.getpid()})" in rest(path)[0]["writers"][0]


@pytest.mark.parametrize("name", ["x.pt.tmp", "x.pt.incomplete", ".x.pt.Ab3dE9", "x.pt.aria2"])
def test_temporary_siblings(tmp_path, name):
    """
    The sibling that a download, rsync or a save leaves until it is done is told; that of another file is not.
    """
    path = save(tmp_path / "x.pt")
    (tmp_path / "other.pt.tmp").write_bytes(b"x")
    assert rest(path)[0]["temporary"] == []

    (tmp_path / name).write_bytes(b"x")

    assert rest(path)[0]["temporary"] == [name]


def test_stable_for(tmp_path):
    """
    The claim holds for a file at rest, and fails while somebody writes it.
    """
    path = save(tmp_path / "x.pt")
    claim = CheckpointIntact(str(path), stable_for=0.05)

    assert examine_here(claim).verdict is PASS
    with open(path, "ab"):
        found = examine_here(claim)
    assert found.verdict is FAIL
    assert "written by" in found.reason


class Closed(Place):
    """A host that hides what processes hold open: those of the file's owner, or /proc as a whole."""

    def __init__(self, proc=True):
        super().__init__()
        self.proc = proc

    def listdir(self, path):
        if str(path).endswith("/fd") or (path == "/proc" and not self.proc):
            raise PermissionError(13, "Permission denied", path)
        return super().listdir(path)


@pytest.mark.parametrize(
    ("proc", "words"), [(True, "of its owner could not be looked into"), (False, "does not tell who")]
)
def test_a_writer_that_may_not_be_seen_is_warned_of(tmp_path, proc, words):
    """
    Rest is judged by changes then, and the PASS warns that a writer could not have been seen.
    """
    path = str(save(tmp_path / "x.pt"))
    claim = CheckpointIntact(path, stable_for=0.05)
    facts = {"rest": stability.rest(Closed(proc), path, 0.05), **checkpoint.inspect(Place(), path)}

    found = claim.judge(facts)

    assert found.verdict is PASS
    assert words in found.warnings[0]
