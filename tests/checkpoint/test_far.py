"""CheckpointIntact on a host: facts travel, files do not."""

from __future__ import annotations

import json
import struct

import corpus

from verikit import FAIL, PASS, Session
from verikit.checks.checkpoint import CheckpointIntact
from verikit.hosts.packing import pack, shipment
from verikit.probes import checkpoint


def test_what_travels():
    """
    The modules of all formats are less than 176 KiB on the wire, once for a host; agent and answers come on top.
    """
    packed = pack(checkpoint.inspect)

    assert len(shipment(packed.modules)) < 176 * 1024
    assert {"verikit.probes.formats.torch_zip", "verikit.probes.content"} <= {module.name for module in packed.modules}


def test_over_ssh(tmp_path, loopback):
    """
    A large file on a host passes, and a cut one fails, by its metadata alone.
    """
    size = 8_000_000_000
    header = json.dumps({"w": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}).encode()
    with open(tmp_path / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(8 + len(header) + size)
    cut = corpus.torch_zip(corpus.tensors)(tmp_path)
    cut.write_bytes(cut.read_bytes()[:-500])

    with Session() as session:
        whole = session.verify(CheckpointIntact(tmp_path / "model.safetensors"), on=loopback.addresses[0])
        broken = session.verify(CheckpointIntact(cut, depth="content"), on=loopback.addresses[1])

    assert whole.verdict is PASS, str(whole)
    assert broken.verdict is FAIL, str(broken)
    assert "the ZIP directory at the end is missing" in next(iter(broken.leaves())).reason
