"""What is no tensor, no file of tensors, or no config: told as what it is, once."""

from __future__ import annotations

import os

import pytest

from verikit import FAIL, PASS, UNKNOWN, Cause, TensorShapeSane
from verikit.testing.here import examine_here

torch = pytest.importorskip("torch")
numpy = pytest.importorskip("numpy")
save_file = pytest.importorskip("safetensors.torch").save_file

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d7a" * 16 + b"\nsize 12345\n"


def look(subject, spec, **more):
    return examine_here(TensorShapeSane(subject, spec, **more))


@pytest.mark.parametrize("layout", ["sparse_coo", "sparse_csr"])
def test_sparse_tensors(layout):
    """
    A sparse tensor has a shape and a dtype; its values and strides are not told, and it stops no judgement of other tensors.
    """
    sparse = torch.eye(3).to_sparse() if layout == "sparse_coo" else torch.eye(3).to_sparse_csr()
    tensors = {"a": sparse, "b": torch.ones(2)}

    values = look(tensors, "a: f32[3 3] & finite; b: [2] & finite")
    held = look(tensors, "a: contiguous; b: [2]")
    other = look(tensors, "a: finite; b: < 1")

    assert look(tensors, "a: f32[3 3]").verdict is PASS
    assert (values.verdict, values.cause) == (UNKNOWN, Cause.UNSUPPORTED)
    assert values.reason == f"a: its values can't be told: its layout is {layout}, and it has no strides"
    assert held.reason == "a: can't tell whether it is contiguous: its strides are not known"
    assert other.verdict is FAIL
    assert other.reason.startswith("b: 2 of 2 values are not < 1")


def test_nested_tensors():
    """
    A nested tensor of torch has no shape, and is told as that.
    """
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])

    finding = look({"a": nested, "b": torch.ones(2)}, "a: f32[2 _]; b: [2]")

    assert finding.verdict is FAIL
    assert finding.reason == "a: a nested tensor, not a tensor of f32"


def test_what_is_no_tensor():
    """
    Plain values where tensors are expected are told by their types.
    """
    finding = look({"step": 3, "ids": [1], "e": None}, "{p:step,ids,e}: [2]")

    assert finding.verdict is FAIL
    assert finding.reason == "step: an int, not a tensor; ids: a list, not a tensor; e: a NoneType, not a tensor"


@pytest.mark.parametrize(
    ("name", "content", "verdict", "says"),
    [
        ("x.safetensors", POINTER, FAIL, "x.safetensors: it is a Git-LFS pointer, not the file itself: that has 12,345 bytes"),
        ("x.bin", POINTER, FAIL, "x.bin: it is a Git-LFS pointer"),
        ("x.parquet", POINTER, FAIL, "x.parquet: it is a Git-LFS pointer"),
        ("x.npy", b"<html>404</html>", FAIL, "x.npy: it is an HTML page: <html>404</html>"),
        ("x.safetensors", b'{"error": "Repository not found"}', FAIL, "x.safetensors: it is JSON"),
        ("x.npz", b"\x1f\x8b\x08\x00" + b"z" * 40, FAIL, "x.npz: it is packed by gzip"),
        ("x.bin", b"Entry not found, says the server", UNKNOWN, "x.bin: no format of tensors that is known here: it is plain"),
        ("notes", POINTER, UNKNOWN, "notes: no format of tensors that is known here: it is a Git-LFS pointer"),
        ("x.safetensors", b"\x01\x02\x03" * 9, UNKNOWN, "x.safetensors: no format of tensors that is known here"),
    ],
)  # fmt: skip
def test_what_lies_in_a_file_s_place(tmp_path, name, content, verdict, says):
    """
    What lies in the place of a file is told; a pointer, or anything else under a name that leaves no doubt, is FAIL.
    """
    (tmp_path / name).write_bytes(content)

    finding = look(tmp_path / name, "x: [2]")

    assert finding.verdict is verdict
    assert finding.reason.startswith(says)


def test_a_pointer_in_place_of_a_shard(tmp_path):
    """
    In a folder a pointer is a fault of its own, and what it would have held is not told as missing.
    """
    save_file({"a": torch.zeros(2)}, tmp_path / "model-00001-of-00002.safetensors")
    (tmp_path / "model-00002-of-00002.safetensors").write_bytes(POINTER)

    finding = look(tmp_path, "a: [2]; b: [2]")

    assert finding.verdict is FAIL
    assert finding.reason.startswith("model-00002-of-00002.safetensors: it is a Git-LFS pointer")
    assert "missing" not in finding.reason


@pytest.mark.parametrize("ending", ["pt", "safetensors", "npy"])
def test_a_cut_file_is_told_once(tmp_path, ending):
    """
    A file that is cut is told as cut, and not once more for its values and its metadata.
    """
    path, tensor = tmp_path / f"x.{ending}", torch.ones(100, 100)
    write = {
        "pt": lambda: torch.save({"x": tensor, "n": 3}, path),
        "safetensors": lambda: save_file({"x": tensor}, path, metadata={"n": "3"}),
        "npy": lambda: numpy.save(path, tensor.numpy()),
    }
    write[ending]()
    os.truncate(path, 20_000)

    finding = look(path, "x: [100 100] & finite; meta(n): == 3")

    assert finding.verdict is FAIL
    assert finding.reason.startswith(f"x.{ending}: truncated")
    assert "; " not in finding.reason.partition("missing (")[2]
    assert "could not tell" not in finding.reason


def test_a_config_that_is_not_there_is_told_once(tmp_path):
    """
    Without a config one thing is missing, whatever the number of keys; the first of them are named.
    """
    save_file({"w": torch.zeros(2, 3)}, tmp_path / "model.safetensors")
    dims = {name: f"config.{name}" for name in "abcdef"}

    finding = look(tmp_path, "w: [a b]; x?: [c d]; l.{i:0..f-1}.w: [a]", dims=dims)
    failed = look(tmp_path, "w: [a 4]; x: [b]", dims=dims)

    lacking = f"{tmp_path}/config.json: No such file or directory, of which the spec needs"
    assert (finding.verdict, finding.cause) == (UNKNOWN, Cause.MISSING)
    assert finding.reason == f"{lacking} f, a, b"
    assert failed.verdict is FAIL
    assert failed.reason == (
        f"model.safetensors:w axis 1 (4): 3, expected 4; model.safetensors:x: missing; could not tell: {lacking} a"
    )


def test_keys_of_a_config_that_is_not_there(tmp_path):
    """
    Of many keys the first are named, and the others counted.
    """
    save_file({"w": torch.zeros(1, 2, 3, 4, 5, 6)}, tmp_path / "model.safetensors")
    dims = {name: f"config.{name}" for name in "abcdef"}

    finding = look(tmp_path, "w: [a b c d e f]", dims=dims)

    assert (finding.verdict, finding.cause) == (UNKNOWN, Cause.MISSING)
    assert finding.reason == (
        f"{tmp_path}/config.json: No such file or directory, of which the spec needs a, b, c, d and 2 more keys"
    )


def test_metadata_that_no_file_could_say(tmp_path):
    """
    Metadata is asked of files of tensors: where there is none that is UNKNOWN, and what is left out is not asked.
    """
    asked = "x?: [2]; meta(a): == 1"
    empty = look(tmp_path, asked)
    (tmp_path / "notes.bin").write_text("some notes, " * 9)
    other = look(tmp_path, asked)
    save_file({"x": torch.zeros(2)}, tmp_path / "x.safetensors", metadata={"a": "1"})
    right = look(tmp_path, asked)
    none = look(tmp_path, "y_*.safetensors :: meta(a): == 1; x: [2]")
    named = look(tmp_path, "*.bin :: meta(a): == 1; x: [2]")

    assert {empty.verdict, other.verdict, none.verdict} == {UNKNOWN}
    assert {empty.cause, other.cause, none.cause} == {Cause.NOTHING_SEEN}
    assert empty.reason == "meta(a): there is no file that could say it"
    assert (named.verdict, named.reason) == (UNKNOWN, "notes.bin: its metadata can't be told")
    assert right.verdict is PASS
    assert right.warnings == ("1 file of no format that is known here left out, notes.bin first",)


@pytest.mark.parametrize("where", ["file", "live"])
def test_a_container_that_is_used_twice(tmp_path, where):
    """
    Tensors of a tuple or mapping that stands in several places have all their names, in a file as in memory.
    """
    pair = (torch.zeros(2, 5), torch.zeros(2, 5))
    block = {"w": torch.zeros(3), "betas": (0.9, 0.999)}
    subject = {"cache": (pair, pair, pair), "a": block, "b": {"inner": block}}
    if where == "file":
        torch.save(subject, tmp_path / "x.pt")
        subject = tmp_path / "x.pt"
    spec = "cache.{i:0..2}.{j:0..1}: [2 s]; a.w: [3]; b.inner.w: [3]"

    right = look(subject, spec, strict=True, ignore="**.betas")
    wrong = look(subject, spec.replace("b.inner.w: [3]", "b.inner.w: [4]"))

    assert right.verdict is PASS, right.reason
    assert wrong.verdict is FAIL
    assert "b.inner.w axis 0 (4): 3, expected 4" in wrong.reason


def test_containers_within_containers_without_end(tmp_path):
    """
    Lists that hold each other many times over have names without end: that is UNKNOWN, soon; one that holds itself is not.
    """
    nest = [torch.zeros(2)]
    for _ in range(9):
        nest = [nest] * 8
    torch.save({"x": nest}, tmp_path / "nest.pt")
    ring = [torch.zeros(2)]
    ring.append(ring)
    torch.save({"x": ring}, tmp_path / "ring.pt")

    nested = look(tmp_path / "nest.pt", "x.0.**: [2]")

    assert (nested.verdict, nested.cause) == (UNKNOWN, Cause.BOUND_REACHED)
    assert look(tmp_path / "ring.pt", "x.0: [2]").verdict is PASS
