"""What a PASS says that the bytes were held against, and of which format it calls a folder."""

from __future__ import annotations

import hashlib

import pytest
import torch
from safetensors.torch import save_file

from verikit.checks.checkpoint import CheckpointIntact
from verikit.testing.here import examine_here
from verikit.verdict import PASS


def git_id(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def local_dir(folder, hashes):
    """A folder as the hub's client leaves it, with a hash for some of its files."""
    where = folder / ".cache" / "huggingface" / "download"
    where.mkdir(parents=True)
    for name, hash_of in hashes.items():
        digest = hash_of((folder / name).read_bytes())
        (where / f"{name}.metadata").write_text(f"{'b' * 40}\n{digest}\n1700000000.5\n")
    return folder


def model(folder):
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    save_file({"w": torch.ones(3)}, folder / "model.safetensors")
    return folder


BY = {
    "both": ({"model.safetensors": sha256, "config.json": git_id}, "agree with their SHA-256 or git id"),
    "SHA-256": ({"model.safetensors": sha256}, "agree with their SHA-256"),
    "git ids": ({"model.safetensors": git_id, "config.json": git_id}, "agree with their git id"),
}


@pytest.mark.parametrize("by", BY)
def test_hashes_are_no_crc(tmp_path, by):
    """
    Files that only a hash was compared of are told by that hash.
    """
    hashes, words = BY[by]
    folder = local_dir(model(tmp_path / "m"), hashes)
    size = sum((folder / name).stat().st_size for name in hashes)

    found = examine_here(CheckpointIntact(str(folder), depth="content"))

    assert found.verdict is PASS, found.reason
    assert found.reason.endswith(f"{size:,} bytes {words}")


def test_hashes_beside_crcs(tmp_path):
    """
    Each is told of the bytes that it was compared of.
    """
    folder = model(tmp_path / "m")
    torch.save({"w": torch.ones(4)}, folder / "pytorch_model.bin")

    found = examine_here(CheckpointIntact(str(local_dir(folder, {"model.safetensors": sha256})), depth="content"))

    assert found.verdict is PASS, found.reason
    assert "bytes agree with their SHA-256; " in found.reason
    assert found.reason.endswith("bytes agree with their CRC-32")


def test_crcs_alone(tmp_path):
    """
    A file of torch's has its CRC-32s.
    """
    torch.save({"w": torch.ones(4)}, tmp_path / "w.pt")

    found = examine_here(CheckpointIntact(str(tmp_path / "w.pt"), depth="content"))

    assert "agree with their CRC-32" in found.reason
    assert "SHA-256" not in found.reason
