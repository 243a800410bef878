"""Many tensors: what a look keeps of each is bounded, and a directory that claims many has none of them."""

from __future__ import annotations

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


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (lambda state, path: torch.save({"model": state}, path), "x.pt"),
        (lambda state, path: torch.save({"model": state}, path, pickle_protocol=4), "x.pt"),
        (parameters, "x.pt"),
        (save_file, "x.safetensors"),
    ],
    ids=["torch", "protocol 4", "parameters", "safetensors"],
)
def test_memory(tmp_path, write, name):
    """
    A look keeps no more than 671 bytes of each tensor at once, its names and the bytes that it reads among them.
    """
    write({f"model.layers.{n}.mlp.down_proj.weight": torch.zeros(2, 3) for n in range(COUNT)}, tmp_path / name)

    tracemalloc.start()
    try:
        facts = checkpoint.inspect(Place(), str(tmp_path / name))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert facts["tensors"] == COUNT
    assert not facts["faults"]
    assert peak - (1 << 20) < COUNT * EACH  # 1 MiB: buffers, and modules that are imported


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
