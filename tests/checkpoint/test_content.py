"""Content depth: CRC-32 by pieces and threads, and values that are not finite, wherever they hide."""

from __future__ import annotations

import ctypes
import io
import zlib

import corpus
import hypothesis.strategies as st
import pytest
import safetensors.torch
import torch
from hypothesis import HealthCheck, given, settings

from places import Bare
from verikit import FAIL, PASS, UNKNOWN, Cause
from verikit.checks.checkpoint import CheckpointIntact
from verikit.probes import checkpoint, content, crc
from verikit.probes import finite as values
from verikit.probes.place import Place
from verikit.testing.here import examine_here

FLOATS = (
    torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.complex64, torch.complex128,
    torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz,
)  # fmt: skip


@given(first=st.binary(max_size=300), second=st.binary(max_size=300))
def test_combine(first, second):
    """
    The CRC of two pieces is that of the whole.
    """
    assert crc.combine(zlib.crc32(first), zlib.crc32(second), len(second)) == zlib.crc32(first + second)


@given(at=st.integers(0, 1 << 50), nbytes=st.integers(1, 3 << 16))
def test_where_blocks_lie(at, nbytes):
    """
    Bytes of a file never come to lie less than a line of the cache further on in a page than there, where copies are slow.
    """
    part = content.Buffer(3 << 16).part(at, nbytes)
    address = ctypes.addressof(ctypes.c_char.from_buffer(part))

    assert len(part) == nbytes
    assert not 0 < (address - at) % 4096 < 64


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (b"512K\n", 1 << 20),
        (b"48K\n", 1 << 19),
        (b"1024K\n", 1 << 21),
        (b"4096K\n", 1 << 21),
        (b"", 1 << 19),
        (b"2M?", 1 << 19),
    ],
)
def test_size_of_blocks(text, wanted):
    """
    A block is twice the level-2 cache, within bounds, and the least of them where its size can't be read.
    """

    class Told(Place):
        def open(self, path):
            return io.BytesIO(text)

    assert content.block_of(Told()) == wanted


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("engine", ["numpy", "torch"])
def test_finite(tmp_path, dtype, engine):
    """
    NaN and Inf of every floating type are found as torch's own isfinite finds them; the greatest numbers are not.
    """
    raw = torch.arange(256, dtype=torch.uint8).repeat(64 if dtype.itemsize > 1 else 1)
    if dtype.itemsize > 1:
        generator = torch.Generator().manual_seed(1)
        raw = torch.randint(0, 256, (4096,), dtype=torch.uint8, generator=generator)
    tensor = raw.view(dtype)
    wide = tensor.to(torch.complex128 if dtype.is_complex else torch.float64)
    bad = (~torch.isfinite(wide.real) | ~torch.isfinite(wide.imag)) if dtype.is_complex else ~torch.isfinite(wide)
    torch.save({"w": tensor}, tmp_path / "model.pt")

    facts = checkpoint.inspect(
        Bare("torch" if engine == "numpy" else "numpy"), str(tmp_path / "model.pt"), "content", finite=True
    )
    faults = [fault["what"] for fault in facts["files"][0]["faults"]]

    if bad.any():
        assert len(faults) == 1
        assert f"the first at [{int(bad.nonzero()[0])}]" in faults[0]
    else:
        assert not faults


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_largest_numbers_are_finite(tmp_path, dtype):
    """
    A tensor whose sum overflows is finite as long as its numbers are.
    """
    torch.save({"w": torch.full((70_000,), torch.finfo(dtype).max, dtype=dtype)}, tmp_path / "model.pt")

    assert examine_here(CheckpointIntact(tmp_path / "model.pt", depth="content", finite=True)).verdict is PASS


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 299_999), value=st.sampled_from([float("nan"), float("inf"), float("-inf")]))
def test_located(tmp_path, at, value):
    """
    One bad value anywhere is located by tensor and index, in torch's files and in safetensors.
    """
    weights = torch.ones(500, 600)
    weights.view(-1)[at] = value
    state = {"first": torch.ones(7).half(), "layers.0.weight": weights}
    torch.save(state, tmp_path / "model.pt")
    safetensors.torch.save_file(state, tmp_path / "model.safetensors")

    for name in ("model.pt", "model.safetensors"):
        finding = examine_here(CheckpointIntact(tmp_path / name, depth="content", finite=True))
        assert finding.verdict is FAIL
        assert f"tensor 'layers.0.weight' has 1 {'NaN' if value != value else 'Inf'}" in finding.reason
        assert f"the first at [{at // 600}, {at % 600}]" in finding.reason


def test_nobodys_values(tmp_path):
    """
    A NaN that strides leave out belongs to no tensor; one within them is found at its index in the view.
    """
    base = torch.ones(50, 60)
    base[1, 1] = float("nan")
    torch.save({"even": base[::2, ::2]}, tmp_path / "outside.pt")
    torch.save({"turned": base.t()}, tmp_path / "turned.pt")
    base[4, 2] = float("nan")
    torch.save({"even": base[::2, ::2]}, tmp_path / "inside.pt")

    outside, inside, turned = (
        examine_here(CheckpointIntact(tmp_path / f"{name}.pt", depth="content", finite=True))
        for name in ("outside", "inside", "turned")
    )

    assert outside.verdict is PASS
    assert "1 NaN, the first at [2, 1]" in inside.reason
    assert "1 NaN, the first at [1, 1]" in turned.reason


def test_tied_weights_are_judged_once(tmp_path):
    """
    A fault in weights that two names share is told once.
    """
    weights = torch.full((9,), float("nan"))
    torch.save({"embed": weights, "head": weights}, tmp_path / "model.pt")

    finding = examine_here(CheckpointIntact(tmp_path / "model.pt", depth="content", finite=True))

    assert finding.facts["faults"] == 1


def test_zeros_are_signs(tmp_path):
    """
    All-zero tensors, and whole 4 KiB blocks of zeros within others, are warnings that say where.
    """
    holed = torch.ones(10_000)
    holed[2048:6144] = 0
    torch.save({"bias": torch.zeros(30), "holed": holed, "whole": torch.ones(5000)}, tmp_path / "model.pt")

    finding = examine_here(CheckpointIntact(tmp_path / "model.pt", depth="content", finite=True))

    assert finding.verdict is PASS
    assert "tensor 'bias' is all zeros" in finding.warnings
    assert any("'holed' has whole blocks of 4 KiB that are zeros" in warning for warning in finding.warnings)
    assert not any("'whole'" in warning for warning in finding.warnings)


def test_without_numpy_and_torch(tmp_path):
    """
    A host with neither numpy nor torch compares CRCs all the same, and answers `unsupported` for values.
    """
    path = corpus.torch_zip(corpus.tensors)(tmp_path)

    facts = checkpoint.inspect(Bare("numpy", "torch", "isal", "zlib_ng"), str(path), "content", finite=True)

    assert facts["content"]["compared"] > 10_000
    assert [row["kind"] for row in facts["files"][0]["unknowns"]] == ["unsupported"]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_agree(tmp_path, threads, monkeypatch):
    """
    However a record is cut among threads, its CRC is the same, and so is what is found in it.
    """
    monkeypatch.setattr(content, "SEGMENT", 10_000)
    monkeypatch.setattr(content, "block_of", lambda place: 1000)
    monkeypatch.setattr(content, "THREADS", threads)
    monkeypatch.setattr(content, "cores", lambda: 8)
    weights = torch.ones(40_000)
    weights[30_001] = float("inf")
    torch.save({"w": weights, "b": torch.ones(3)}, tmp_path / "model.pt")

    finding = examine_here(CheckpointIntact(tmp_path / "model.pt", depth="content", finite=True))

    assert finding.reason.endswith("tensor 'w' has 1 Inf, the first at [30001]")
    assert finding.facts["faults"] == 1


def test_only_what_is_under_the_keys(tmp_path):
    """
    With keys= a flip elsewhere is not read, a flip beneath them is found, and the reason says what was read.
    """
    torch.save({"model": {"w": torch.ones(999)}, "optimizer": {"m": torch.full((999,), 2.0)}}, tmp_path / "model.pt")
    whole = (tmp_path / "model.pt").read_bytes()
    at = whole.index(b"\0\0\0@" * 9) + 400
    (tmp_path / "model.pt").write_bytes(whole[:at] + b"?" + whole[at + 1 :])

    model, optimizer = (
        examine_here(CheckpointIntact(tmp_path / "model.pt", depth="content", keys=key))
        for key in ("model", "optimizer")
    )

    assert model.verdict is PASS
    assert "only what is under model was read" in model.reason
    assert model.facts["content"]["bytes"] < 8000
    assert optimizer.verdict is FAIL


def test_safetensors_alone_has_nothing_to_compare(tmp_path):
    """
    safetensors has no checksum: content depth is UNKNOWN until a digest, a manifest or finite= gives it something to judge.
    """
    path = corpus.safe(corpus.tensors)(tmp_path)
    digest = __import__("hashlib").sha256(path.read_bytes()).hexdigest()

    alone, sealed, finite = (
        examine_here(CheckpointIntact(path, depth="content", **more))
        for more in ({}, {"digest": digest}, {"finite": True})
    )

    assert (alone.verdict, alone.cause) == (UNKNOWN, Cause.NOTHING_SEEN)
    assert (sealed.verdict, finite.verdict) == (PASS, PASS)
    assert "no checksum is there for the bytes themselves" in finite.reason


def test_named_types():
    """
    Every floating type that a format may name is judged, or is known to have neither NaN nor Inf.
    """
    from verikit.probes.formats.layout import BITS

    floats = {name for name in BITS if name.startswith(("float", "bfloat", "complex"))}

    assert {name for name in BITS if values.judged(name)} | values.ALWAYS == floats
    assert all(values.judged(name) is False for name in {*BITS} - floats)


@pytest.mark.parametrize(
    ("saved", "verdict"),
    [
        ({"state_dict": {"w": torch.ones(3)}, "best_loss": torch.tensor(float("inf"))}, PASS),
        (
            {
                "state_dict": {"w": torch.ones(3)},
                "callbacks": {"Best{'a.b': 1}": {"score": torch.tensor(-float("inf"))}},
            },
            PASS,
        ),
        ({"state_dict": {"w": torch.ones(3)}, "scores": {"best": torch.tensor([float("inf")])}}, FAIL),
        ({"state_dict": {"w": torch.ones(3), "logit_scale": torch.tensor(float("inf"))}}, FAIL),
        ({"a.weight": torch.ones(3), "a.scale": torch.tensor(float("nan"))}, FAIL),
        ({"state": {0: {"step": torch.tensor(float("nan")), "exp_avg": torch.ones(3)}}}, FAIL),
    ],
)
def test_scores_that_nothing_has_beaten(tmp_path, saved, verdict):
    """
    A number by itself, beside no weights, may be Inf: Lightning's callbacks begin with it. A parameter may not.
    """
    torch.save(saved, tmp_path / "last.ckpt")
    finding = examine_here(CheckpointIntact(tmp_path / "last.ckpt", depth="content", finite=True))

    assert finding.verdict is verdict, finding.reason
    told = finding.warnings if verdict is PASS else [finding.reason]
    assert any("has 1 Inf" in each or "has 1 NaN" in each for each in told)
    assert (verdict is PASS) == any("beside no weights" in each for each in told)
