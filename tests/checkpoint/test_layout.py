"""checkpoint_layout: the tensors of a checkpoint without loading it, as torch and safetensors have them."""

from __future__ import annotations

import corpus
import pytest
import torch

from verikit.layout import checkpoint_layout, layout_of
from verikit.manifest import seal
from verikit.probes import checkpoint
from verikit.probes.place import Place

WRITERS = {
    "ZIP": corpus.torch_zip(corpus.tensors),
    "legacy": corpus.legacy(corpus.tensors),
    "safetensors": corpus.safe(corpus.tensors),
    "views": corpus.torch_zip(corpus._views),
    "floats": corpus.torch_zip(corpus._floats),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_same_as_loaded(tmp_path, kind):
    """
    Names, dtypes and shapes are those of the loaded tensors, and the bytes at the offset are theirs.
    """
    path = WRITERS[kind](tmp_path)
    state = {"views": corpus._views, "floats": corpus._floats}.get(kind, corpus.tensors)()
    loaded = torch.load(path) if path.suffix == ".pt" else state

    layout = checkpoint_layout(path)
    data = path.read_bytes()

    assert set(layout) == set(state)
    for name, tensor in loaded.items():
        told = layout[name]
        assert (told.dtype, told.shape) == (str(tensor.dtype)[6:], tuple(tensor.shape))
        if tensor.is_contiguous():
            raw = tensor.reshape(-1).view(torch.uint8).numpy().tobytes()
            assert data[told.offset : told.offset + told.nbytes] == raw


def test_tree(tmp_path):
    """
    The top-level keys are told, each with what it is in a few words.
    """
    layout = checkpoint_layout(corpus.torch_zip(corpus._training)(tmp_path))

    assert dict(layout.tree) == {
        "model_state_dict": "mapping of 4",
        "optimizer_state_dict": "mapping of 2",
        "step": "20000",
    }
    assert layout["model_state_dict.0.weight"].shape == (16, 8)
    assert repr(layout) == f"<layout of {tmp_path}/model.pt: 16 tensors in 1 file>"


def test_shards(tmp_path):
    """
    Tensors of shards say which file they are in.
    """
    layout = checkpoint_layout(corpus.sharded()(tmp_path))

    assert layout["embed.weight"].file == "model-00001-of-00003.safetensors"
    assert set(layout) == set(corpus.tensors())


def test_in_pieces(tmp_path, monkeypatch):
    """
    Many tensors come in several answers, none of them left out.
    """
    monkeypatch.setattr(checkpoint, "LAYOUT_BYTES", 500)
    path = str(corpus.torch_zip(lambda: {f"w{n}": torch.ones(n) for n in range(40)})(tmp_path))
    answers, start = [], 0
    while start is not None:
        answers.append(checkpoint.layout(Place(), path, start))
        start = answers[-1]["next"]

    assert len(answers) > 3
    assert list(layout_of(answers)) == [f"w{n}" for n in range(40)]


def test_relay_is_proved_by_its_seal(tmp_path):
    """
    A copy passes against the seal of the original; with one bit flipped anywhere it does not, though it has no checksum.
    """
    from verikit import verify
    from verikit.checks.checkpoint import CheckpointIntact

    path = corpus.safe(corpus.tensors)(tmp_path)
    manifest = seal(path)
    claim = CheckpointIntact(path, depth="content", manifest=manifest)
    whole = verify(claim)
    data = bytearray(path.read_bytes())
    data[-5] ^= 8
    path.write_bytes(data)
    broken = verify(claim)

    assert whole.passed, str(whole)
    assert broken.failed, str(broken)
    assert eval(repr(claim), {"CheckpointIntact": CheckpointIntact}) == claim
