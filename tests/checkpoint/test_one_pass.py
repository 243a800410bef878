"""One pass: whatever is to be found out from the bytes comes from reading them once."""

from __future__ import annotations

import hashlib
import os
import threading
import tracemalloc
import zlib

import hypothesis.strategies as st
import numpy as np
import pytest
import safetensors.torch
import torch
from hypothesis import HealthCheck, given, settings

from verikit import FAIL, PASS, UNKNOWN, Cause
from verikit.checks.checkpoint import CheckpointIntact
from verikit.manifest import Manifest
from verikit.probes import checkpoint, content, digests
from verikit.probes import manifest as manifests
from verikit.probes.place import CannotSee, Place
from verikit.testing.here import examine_here

MIB = 1 << 20


def state():
    generator = torch.Generator().manual_seed(1)
    return {"w": torch.randn(700, 1000, generator=generator), "b": torch.randn(333, generator=generator).bfloat16()}


WRITERS = {
    "torch": lambda path: torch.save(state(), path),
    "legacy": lambda path: torch.save(state(), path, _use_new_zipfile_serialization=False),
    "safetensors": lambda path: safetensors.torch.save_file(state(), path),
    "npz": lambda path: arrays(path, np.savez),
    "npz, deflated": lambda path: arrays(path, np.savez_compressed),
}


def arrays(path, save):
    with open(path, "wb") as file:
        save(file, **{name: each.float().numpy() for name, each in state().items()})


def read_by(act):
    """What `act` gives, and how many bytes this process has read for it."""

    def count():
        with open("/proc/self/io") as file:
            return int(file.readline().split()[1])

    act()  # modules are imported by the first
    before = count()
    return act(), count() - before


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("finite", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
def test_bytes_are_read_once(tmp_path, monkeypatch, name, finite, threads):
    """
    CRC-32, values, the digest of the whole and those of its blocks: the file is read once for all of them.
    """
    monkeypatch.setattr(content, "cores", lambda: threads)
    path = tmp_path / "model"
    WRITERS[name](path)
    sealed = manifests.seal(Place(), str(path))
    expected = [{"manifest": sealed}, {"manifest": _digest(path, "sha512")}]

    facts, read = read_by(lambda: manifests.inspect(Place(), str(path), "content", finite=finite, expected=expected))

    size = path.stat().st_size
    assert [row["matched"] for row in facts["measured"]] == [1, 1]
    assert facts["content"]["bytes"] == size
    assert [row["read"] for row in facts["measured"]] == [0, 0]
    assert read < size * 1.1 + 100_000  # headers are looked at before, for the structure


def _digest(path, name):
    row = {"path": "", "size": None, "digests": {name: hashlib.new(name, path.read_bytes()).hexdigest()}}
    return {"schema": manifests.SCHEMA, "source": "digest", "files": [row], "complete": False}


def test_a_seal_reads_once(tmp_path):
    """
    Sealing reads a file once for its SHA-256 and the CRC-32 of its blocks.
    """
    path = tmp_path / "model.pt"
    torch.save(state(), path)

    sealed, read = read_by(lambda: manifests.seal(Place(), str(path)))

    assert sealed["files"][0]["digests"]["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert read < path.stat().st_size * 1.1 + 100_000


@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_digests_of_any_file(tmp_path, data):
    """
    Digests of the whole, of blocks and of shards are those of hashlib and zlib, however records, blocks and threads lie.
    """
    with pytest.MonkeyPatch.context() as patch:
        size = data.draw(st.sampled_from([300, 1000, 4096]))
        patch.setattr(content, "block_of", lambda place: size)
        patch.setattr(content, "SEGMENT", data.draw(st.sampled_from([1000, 5000, MIB])))
        patch.setattr(content, "cores", lambda: 3)
        path = tmp_path / "model"
        arrays = {"a": np.arange(data.draw(st.integers(0, 3000)), dtype="f4"), "b": np.ones((7, 11))}
        save = data.draw(st.sampled_from([np.savez, np.savez_compressed]))
        with open(path, "wb") as file:
            save(file, **arrays)
        whole = path.read_bytes()
        cuts = sorted(data.draw(st.sets(st.integers(1, len(whole) - 1), max_size=4)))
        ends = list(zip([0, *cuts], [*cuts, len(whole)], strict=True))
        block = data.draw(st.sampled_from([0, 1, 500, 65536]))
        names = data.draw(st.sampled_from([(), ("sha256",), ("sha1", "git-sha1")]))
        wanted = digests.Wanted(names, block, tuple((a, b, "sha256") for a, b in ends))

        with Place().steady(str(path)) as file:
            layout = checkpoint.Layout(str(path), len(whole))
            checkpoint._structure(checkpoint.Window(file, len(whole)), layout)
            found = content.compare(Place(), file, layout, finite=data.draw(st.booleans()), wanted=wanted)["digests"]

    assert not layout.faults
    assert set(found["digests"]) == set(names)
    for name, digits in found["digests"].items():
        data_ = b"blob %d\0" % len(whole) + whole if name == "git-sha1" else whole
        assert digits == hashlib.new(name.removeprefix("git-"), data_).hexdigest()
    assert found["blocks"] == [
        f"{zlib.crc32(whole[a : a + block]):08x}" for a in range(0, len(whole) * bool(block), block or 1)
    ]
    assert found["shards"] == {(a, b, "sha256"): hashlib.sha256(whole[a:b]).hexdigest() for a, b in ends}


def test_a_change_under_the_read(tmp_path, monkeypatch):
    """
    A file that is written to, or cut, while its one pass is under way is UNKNOWN, changed_while_reading.
    """
    for harm in (lambda path: os.truncate(path, 1000), lambda path: os.utime(path, (1, 1))):
        path = tmp_path / "model.pt"
        torch.save(state(), path)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        fill, once = content._Pass._fill, []

        def late(self, view, offset, path=path, harm=harm, fill=fill, once=once):
            if not once:
                once.append(harm(path))
            return fill(self, view, offset)

        with monkeypatch.context() as patch:
            patch.setattr(content._Pass, "_fill", late)
            finding = examine_here(CheckpointIntact(path, depth="content", digest=digest, finite=True))

        assert (finding.verdict, finding.cause) == (UNKNOWN, Cause.CHANGED_WHILE_READING)


def test_an_error_while_hashing_ends_the_pass(tmp_path, monkeypatch):
    """
    Trouble in the thread that hashes is raised where the pass was asked for, and no thread is left.
    """
    path = tmp_path / "model.pt"
    torch.save(state(), path)

    class Fails:
        def update(self, data):
            raise CannotSee("unsupported", "no more")

    monkeypatch.setattr(content, "cores", lambda: 2)
    monkeypatch.setattr(digests, "hasher", lambda place, name, length: Fails())
    threads = threading.active_count()

    with pytest.raises(CannotSee, match="no more"):
        content.digest_file(Place(), str(path), digests.Wanted(("sha256",), 0, ()))

    assert threading.active_count() == threads


def test_keys_and_a_digest(tmp_path):
    """
    With keys= and digest= all is hashed, and only what is beneath the keys is judged by its CRC-32.
    """
    path = tmp_path / "model.pt"
    torch.save({"model": {"w": torch.ones(999)}, "optimizer": {"m": torch.full((999,), 2.0)}}, path)
    whole = path.read_bytes()
    at = whole.index(b"\0\0\0@" * 9) + 400
    path.write_bytes(whole[:at] + b"?" + whole[at + 1 :])
    digest = hashlib.sha256(path.read_bytes()).hexdigest()

    model, both = (
        examine_here(CheckpointIntact(path, depth="content", digest=digest, keys=key))
        for key in ("model", ("model", "optimizer"))
    )

    assert model.verdict is PASS
    assert "digests as expected" in model.reason
    assert "only what is under model was compared with its CRC-32" in model.reason
    assert model.facts["coverage"]["bytes"] == (len(whole), len(whole))
    assert both.verdict is FAIL


def test_what_a_manifest_leaves_out(tmp_path):
    """
    A manifest of some of the files: at content depth the others are blind unless they have a CRC-32; a warning names them.
    """
    for name in ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"):
        safetensors.torch.save_file({name: torch.ones(30)}, tmp_path / name)
    first, second = sorted(tmp_path.iterdir())
    sums = {first.name: "sha256:" + hashlib.sha256(first.read_bytes()).hexdigest()}
    sums_of_all = {**sums, second.name: "sha256:" + hashlib.sha256(second.read_bytes()).hexdigest()}

    some = examine_here(CheckpointIntact(tmp_path, depth="content", manifest=sums))
    shallow = examine_here(CheckpointIntact(tmp_path, manifest=sums))
    every = examine_here(CheckpointIntact(tmp_path, depth="content", manifest=sums_of_all))

    assert (some.verdict, some.cause) == (UNKNOWN, Cause.NOTHING_SEEN)
    assert second.name in some.reason
    assert shallow.verdict is PASS
    assert "digests as expected of 1 of its 2 files" in shallow.reason
    assert "tensor bytes were not compared" in shallow.reason
    assert any(second.name in warning for warning in shallow.warnings)
    assert shallow.facts["coverage"]["compared"] == first.stat().st_size
    assert every.verdict is PASS


def test_a_manifest_that_is_not_there(tmp_path):
    """
    A manifest that is not on the host is UNKNOWN, missing, and hides no fault of the checkpoint itself.
    """
    path = tmp_path / "model.pt"
    torch.save(state(), path)

    whole = examine_here(CheckpointIntact(path, manifest=str(tmp_path / "none.sha256")))
    os.truncate(path, 1000)
    cut = examine_here(CheckpointIntact(path, manifest=str(tmp_path / "none.sha256")))
    gone = examine_here(CheckpointIntact(tmp_path / "other.pt", manifest=str(tmp_path / "none.sha256")))

    assert (whole.verdict, whole.cause) == (UNKNOWN, Cause.MISSING)
    assert "none.sha256" in whole.reason
    assert (cut.verdict, gone.verdict) == (FAIL, FAIL)


def test_shards_side_by_side(tmp_path):
    """
    Digests by shards, as model-signing makes them, are compared in the one pass too, also where records lie across them.
    """
    path = tmp_path / "model.pt"
    torch.save(state(), path)
    whole = path.read_bytes()
    rows = [[a, min(a + 100_000, len(whole))] for a in range(0, len(whole), 100_000)]
    shards = [[a, b, "sha256", hashlib.sha256(whole[a:b]).hexdigest()] for a, b in rows]
    form = {
        "schema": manifests.SCHEMA, "source": "x", "complete": True,
        "files": [{"path": "", "size": len(whole), "digests": {}, "shards": shards}],
    }  # fmt: skip

    for finite in (False, True):
        good = examine_here(CheckpointIntact(path, depth="content", finite=finite, manifest=Manifest(form)))
        assert good.verdict is PASS
        assert good.facts["measured"][0]["read"] == 0
    shards[7][3] = "0" * 64
    bad = examine_here(CheckpointIntact(path, depth="content", manifest=Manifest(form)))
    assert "the bytes from 700,000 to 800,000 differ" in bad.reason


def test_memory_does_not_grow_with_tensors(tmp_path):
    """
    The pass itself holds a few thousand segments at a time, however many tensors there are.
    """
    path = tmp_path / "model.safetensors"
    safetensors.torch.save_file({f"w{number}": torch.ones(3) for number in range(30_000)}, path)
    size = path.stat().st_size
    with Place().steady(str(path)) as file:
        layout = checkpoint.Layout(str(path), size)
        checkpoint._structure(checkpoint.Window(file, size), layout)
        content.compare(Place(), file, layout, finite=True)
        tracemalloc.start()
        found = content.compare(Place(), file, layout, finite=True)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert found["values"] == 90_000
    assert peak < 10 * MIB


def test_faults_come_in_the_order_of_the_file(tmp_path, monkeypatch):
    """
    Whichever thread comes first, faults are told in the order in which they lie.
    """
    path = tmp_path / "model.pt"
    torch.save({f"w{number}": torch.full((1000,), float("nan")) for number in range(12)}, path)
    monkeypatch.setattr(content, "SEGMENT", 4000)
    monkeypatch.setattr(content, "cores", lambda: 4)

    facts = checkpoint.inspect(Place(), str(path), "content", finite=True)

    assert [row["what"].split("'")[1] for row in facts["files"][0]["faults"]] == [f"w{number}" for number in range(12)]
