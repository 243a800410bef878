"""Sharded checkpoints: what their index says, what is in the shards, and what is in neither."""

from __future__ import annotations

import json

import pytest

from verikit import FAIL, PASS, UNKNOWN, Cause, TensorShapeSane
from verikit.probes import tensors as probe
from verikit.testing.here import examine_here

torch = pytest.importorskip("torch")
save_file = pytest.importorskip("safetensors.torch").save_file

ONE, TWO = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
INDEX = "model.safetensors.index.json"


def sharded(folder, shards, told):
    """Shards by file name, each with its tensors' sizes, beside an index that tells in which file each name is."""
    for file, sizes in shards.items():
        save_file({name: torch.zeros(size) for name, size in sizes.items()}, folder / file)
    (folder / INDEX).write_text(json.dumps({"weight_map": told}))
    return folder


def look(subject, spec, **more):
    return examine_here(TensorShapeSane(subject, spec, **more))


@pytest.mark.parametrize(
    "spec", ["index: complete; w: [_]", "index: complete; **: [_]", "index: complete; {p:a,b}: [2]"]
)
def test_a_name_in_two_shards(tmp_path, spec):
    """
    A tensor that a second shard has as well is a fault of a complete index, whatever else the spec names.
    """
    sharded(tmp_path, {ONE: {"w": 2, "a": 2}, TWO: {"w": 3, "b": 2}}, {"w": ONE, "a": ONE, "b": TWO})

    finding = look(tmp_path, spec)

    assert finding.verdict is FAIL
    assert finding.reason == f"{INDEX}:w said to be in {ONE}, but in {TWO} as well"


def test_shards_are_no_samples(tmp_path):
    """
    Files that an index names hold different tensors, though one name be in two of them; that is a warning without the rule.
    """
    sharded(tmp_path, {ONE: {"w": 2, "a": 2}, TWO: {"w": 3, "b": 2}}, {"w": ONE, "a": ONE, "b": TWO})

    right = look(tmp_path, "w: [_]; a: [2]; b: [2]")
    wrong = look(tmp_path, "w: [2]; a: [2]; b: [2]")

    assert right.verdict is PASS, right.reason
    assert right.warnings == (f"w is in {ONE} and in {TWO}",)
    assert wrong.reason == f"{TWO}:w axis 0 (2): 3, expected 2"


def test_samples_in_numbered_parts_are_samples(tmp_path):
    """
    Parts of a data set, which no index names, must each hold what one of them holds, however they are called.
    """
    for file, sizes in ((ONE, {"ids": 2, "mask": 2}), (TWO, {"ids": 2})):
        save_file({name: torch.zeros(size) for name, size in sizes.items()}, tmp_path / file)

    finding = look(tmp_path, "ids: [_]; mask: [_]")

    assert finding.verdict is FAIL
    assert finding.reason == f"{TWO}:mask: missing in a file of one kind with others: ids is in several"


@pytest.mark.parametrize("rule", ["", "; index: complete"])
def test_a_shard_that_is_not_there(tmp_path, rule):
    """
    What is missing is told with the shard that the index has it in, if that is not there, with or without a word of the index.
    """
    sharded(tmp_path, {ONE: {"a": 2}}, {"a": ONE, "b": TWO, "c": TWO})

    found = look(tmp_path, "{p:a,b,c}: [2]" + rule)

    assert found.verdict is FAIL
    assert found.reason.startswith(f"missing with the shard {TWO}, which {INDEX} names, 2 tensors: b, c")
    assert (f"{INDEX} names the shard {TWO}, which is missing" in found.reason) is bool(rule)
    assert look(tmp_path, "a: [2]").verdict is PASS
    assert look(tmp_path, "{p:a,x}: [2]").reason == "x: missing"


def test_a_shard_that_was_not_looked_at(tmp_path):
    """
    One shard by itself lacks what the others have, and none of them is said to be missing.
    """
    sharded(tmp_path, {ONE: {"a": 2}, TWO: {"b": 2}}, {"a": ONE, "b": TWO})

    alone = look(tmp_path / ONE, "a: [2]; b: [2]; index: complete")

    assert alone.reason == f"b: missing; {INDEX} says that it is in {TWO}, which was not looked at"
    assert look(tmp_path / ONE, "a: [2]; index: complete").verdict is PASS
    assert look(tmp_path / "model-*.safetensors", "{p:a,b}: [2]; index: complete").verdict is PASS


def test_an_index_of_names_with_a_prefix(tmp_path):
    """
    `under=` is said of the names in the index, too.
    """
    sharded(tmp_path, {ONE: {"model.a": 2}, TWO: {"model.b": 2}}, {"model.a": ONE, "model.b": TWO})

    assert look(tmp_path, "{p:a,b}: [2]; index: complete", under="model.").verdict is PASS


def test_an_index_of_many_megabytes(tmp_path, monkeypatch):
    """
    The index of a mixture of experts is longer than any config; one that is too long to be read is no fault.
    """
    told = {f"layers.{i}.w": ONE for i in range(40_000)} | {"a": ONE}
    sharded(tmp_path, {ONE: {"a": 2}}, {**told, **{f"x.{i}." + "y" * 90: ONE for i in range(30_000)}})
    assert (tmp_path / INDEX).stat().st_size > probe.CONFIG_LIMIT
    read = look(tmp_path, "a: [2]; index: complete")
    monkeypatch.setattr(probe, "INDEX_LIMIT", 1 << 20)
    unread = look(tmp_path, "a: [2]; index: complete")

    assert read.verdict is FAIL
    assert "missing there" in read.reason
    assert unread.verdict is UNKNOWN
    assert unread.cause is Cause.BOUND_REACHED
    assert unread.reason == f"{INDEX}: it is longer than 1 MiB"
