"""Many tensors: what a look keeps of each is bounded, and a directory that claims many has none of them."""

from __future__ import annotations

import json
import struct
import tracemalloc

import pytest
import torch
from safetensors.torch import save_file

from verikit import FAIL
from verikit.checks.checkpoint import CheckpointIntact
from verikit.probes import checkpoint
from verikit.probes.place import Place
from verikit.testing.here import examine_here

COUNT = 10_000
EACH = (64 << 20) // 100_000
"""Bytes for each tensor: 64 MiB for 10^5 of them."""


def parameters(state, path):
    torch.save({key: torch.nn.Parameter(value) for key, value in state.items()}, path)


WRITERS = {
    "torch": (lambda state, path: torch.save({"model": state}, path), "x.pt"),
    "protocol 4": (lambda state, path: torch.save({"model": state}, path, pickle_protocol=4), "x.pt"),
    "parameters": (parameters, "x.pt"),
    "legacy": (
        lambda state, path: torch.save({"model": state}, path, _use_new_zipfile_serialization=False), "legacy.pt",
    ),
    "safetensors": (save_file, "x.safetensors"),
}  # fmt: skip


def looked(path, *depth, **options):
    """(facts, the most bytes that Python held at once)"""
    tracemalloc.start()
    try:
        return checkpoint.inspect(Place(), str(path), *depth, **options), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def of_many(value):
    return {f"model.layers.{n}.mlp.down_proj.weight": torch.full((2, 3), value) for n in range(COUNT)}


def sharded(folder, shards=16):
    """Experts' weights, some two words longer than others' names, and an index that has all of them."""
    names = [f"model.layers.{n % 61}.mlp.experts.{n // 61}.down_proj.weight_scale_inv" for n in range(COUNT)]
    where = {}
    for number in range(shards):
        name = f"model-{number + 1:05d}-of-{shards:05d}.safetensors"
        save_file({each: torch.zeros(2, 2) for each in names[number::shards]}, folder / name)
        where.update(dict.fromkeys(names[number::shards], name))
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": where}))


def test_memory_of_shards(tmp_path):
    """
    The same of a folder of shards, whose index has every name once more.
    """
    sharded(tmp_path)

    facts, peak = looked(tmp_path)

    assert facts["tensors"] == COUNT
    assert not facts["faults"]
    assert peak < EACH * COUNT


@pytest.mark.parametrize("writer", WRITERS)
def test_memory(tmp_path, writer):
    """
    A look keeps no more than 671 bytes of each tensor at once, its names and the bytes that it reads among them.
    """
    write, name = WRITERS[writer]
    write(of_many(0.0), tmp_path / name)

    facts, peak = looked(tmp_path / name)

    assert facts["tensors"] == COUNT
    assert not facts["faults"]
    assert peak - (1 << 20) < COUNT * EACH  # 1 MiB: buffers, and modules that are imported


@pytest.mark.parametrize("writer", ["torch", "legacy", "safetensors"])
@pytest.mark.parametrize("value", [0.0, 1.0, float("nan")])
def test_memory_of_values(tmp_path, writer, value):
    """
    Values of many tensors are looked into within the same bound, and whatever is wrong with all of them: the first are
    told in the order of the file, the others counted.
    """
    write, name = WRITERS[writer]
    write(of_many(value), tmp_path / name)

    facts, peak = looked(tmp_path / name, "content", finite=True)

    (row,) = facts["files"]
    told = row["faults"] + row["warnings"]
    assert facts["content"]["values"] == 6 * COUNT
    assert len(told) == 16 * (value != 1)
    assert [each["where"] for each in told] == sorted(each["where"] for each in told)
    assert sum(row["more"].values()) == (COUNT - 16) * (value != 1)
    assert peak - (4 << 20) < COUNT * EACH  # two blocks, and a thousand segments for each thread


def test_claims(tmp_path):
    """
    A directory that claims 10^12 records is held against the bytes that are there.
    """
    torch.save({"w": torch.zeros(2)}, tmp_path / "x.pt")
    data = bytearray((tmp_path / "x.pt").read_bytes())
    end = data.rindex(b"PK\6\6")
    struct.pack_into("<2Q", data, end + 24, 10**12, 10**12)
    last = data.rindex(b"PK\5\6")
    struct.pack_into("<2H", data, last + 8, 0xFFFF, 0xFFFF)
    (tmp_path / "x.pt").write_bytes(data)

    finding = examine_here(CheckpointIntact(tmp_path / "x.pt"))

    assert finding.verdict is FAIL
    assert "its end record says 1000000000000" in finding.reason
