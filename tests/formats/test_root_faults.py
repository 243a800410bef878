"""The reason names the fault that the others come of: what stands in a file's place, what lacks, what was done to its bytes."""

from __future__ import annotations

import io
import json
import os
import tarfile
import zipfile

import format_writers as w
import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from verikit.checks.checkpoint import CheckpointIntact
from verikit.errors import Cause
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, UNKNOWN

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 4976698672\n" % (b"cd" * 32)
INSTEAD = {
    "a pointer": (POINTER, "it is a Git-LFS pointer, not the file itself: that has 4,976,698,672 bytes"),
    "an HTML page": (b"<!DOCTYPE html>\n<html><head><title>403</title></head></html>", "it is an HTML page"),
    "an XML answer": (b'<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', "it is an XML document"),
}

UNREAD = ("zero_to_fp32.py",)
FOLDERS = {
    "dcp": lambda p: w.dcp(p / "c"),
    "dcp of safetensors": lambda p: w.dcp_safetensors(p / "c"),
    "deepspeed": lambda p: w.deepspeed(p / "c", ranks=2, parallel=1),
    "megatron": lambda p: w.megatron(p / "c"),
    "megatron of ranks": lambda p: w.megatron_ranks(p / "c"),
    "trainer": lambda p: w.trainer(p / "checkpoint-500"),
    "model in shards": lambda p: w.model(p / "c", shards=2),
    "shards without an index": lambda p: w.sets_of_shards(p / "c"),
    "pipeline": lambda p: w.pipeline(p / "c"),
    "peft": lambda p: w.peft(p / "c"),
}


def look(path, **claims):
    return examine_here(CheckpointIntact(str(path), **claims))


def files_of(folder):
    found = (os.path.join(inner, name) for inner, _, names in os.walk(folder) for name in names)
    return sorted(path for path in found if not path.endswith(UNREAD))


@pytest.mark.parametrize("what", INSTEAD)
@pytest.mark.parametrize("kind", FOLDERS)
def test_something_else_in_the_place_of_a_file(tmp_path, kind, what):
    """
    Whichever file of a checkpoint is a pointer or a page of a server, the reason says so: a size or a parser would mislead.
    """
    folder, (data, words) = FOLDERS[kind](tmp_path), INSTEAD[what]

    for path in files_of(folder):
        with open(path, "rb+") as file:
            kept = file.read()
            file.seek(0)
            file.truncate()
            file.write(data)
        found = look(folder)
        with open(path, "wb") as file:
            file.write(kept)

        assert found.verdict is FAIL, path
        assert os.path.basename(path) in found.reason, path
        assert words in found.reason, path


@pytest.mark.parametrize("what", INSTEAD)
@pytest.mark.parametrize("size", [60, 16_640], ids=["of fewer bytes", "of more bytes"])
def test_something_else_in_the_place_of_external_data(tmp_path, what, size):
    """
    Data of an ONNX model may be any bytes, fewer than a pointer has; a pointer or a page in their place is told all the same.
    """
    data, words = INSTEAD[what]
    (tmp_path / "model.data").write_bytes(data)
    external = {"location": "model.data", "offset": 0, "length": size}
    path = w.onnx_model(tmp_path / "m.onnx", [w.onnx_tensor("w", (size // 4,), 1, external=external)])

    found = look(path)

    assert found.verdict is FAIL, found.reason
    assert f"model.data: {words}" in found.reason


# What lacks comes before what that leads to.


def test_a_part_that_lacks_comes_first(tmp_path):
    """
    Where a part of a split GGUF is not there, the count of tensors that is wrong for it is not the reason.
    """
    for number in (0, 2):
        keys = [("split.no", 2, number), ("split.count", 2, 3), ("split.tensors.count", 5, 3)]
        w.gguf(
            tmp_path / f"m-{number + 1:05d}-of-00003.gguf",
            keys,
            [(f"t{number}", (32,), 0, np.ones(32, "<f4").tobytes())],
        )

    assert "m-00002-of-00003.gguf" in look(tmp_path).reason.partition("; and")[0]
    assert "m-00002-of-00003.gguf is missing" in look(tmp_path / "m-00001-of-00003.gguf").reason.partition("; and")[0]


def test_a_shard_that_lacks_comes_first(tmp_path):
    """
    Layers that the config counts and that were in the last shard are not the reason, where that shard lacks; no index tells.
    """
    for number in (1, 2):
        tensors = {f"model.layers.{number - 1}.w": torch.ones(4, 4), f"model.embed_{number}": torch.ones(4)}
        save_file(tensors, tmp_path / f"model-{number:05d}-of-00003.safetensors")
    (tmp_path / "config.json").write_text(json.dumps({"num_hidden_layers": 3, "model_type": "llama"}))

    found = look(tmp_path)

    assert found.verdict is FAIL
    assert "1 of 3 shards is missing, model-00003-of-00003.safetensors first" in found.reason


def test_weights_that_were_never_gathered_come_first(tmp_path):
    """
    Weights of the shape [0], as ZeRO-3 leaves them, are the reason, and not that the optimizer's moments have other shapes.
    """
    names = [f"layers.{number}.weight" for number in range(4)]
    torch.save(
        {
            "pytorch-lightning_version": "2.5.0",
            "epoch": 1,
            "global_step": 10,
            "loops": {},
            "state_dict": {name: torch.zeros(0) for name in names},
            "optimizer_states": [{"state": {0: {"exp_avg": torch.ones(4, 4)}}, "param_groups": [{"params": [0]}]}],
        },
        tmp_path / "a.ckpt",
    )

    found = look(tmp_path / "a.ckpt")

    assert found.verdict is FAIL
    assert "4 of 4 weights have no elements" in found.reason


# What was done to the bytes.


def numbers(count=512):
    return np.random.default_rng(0).normal(size=count).astype("<f4").tobytes()


def in_latin_1(data):
    return data.decode("latin-1").encode("utf-8")


def in_text_mode(data):
    return data.replace(b"\n", b"\r\n")


BYTES = {
    "npy": lambda p: np.save(p, np.frombuffer(numbers(), "<f4").reshape(16, 32)) or p,
    "gguf": lambda p: w.gguf(p, [("general.name", 8, "x\ny\nz\n")], [("t", (32, 16), 0, numbers())]),
    "msgpack": lambda p: w.flax(p),
    "pt": lambda p: torch.save({"w": torch.frombuffer(bytearray(numbers()), dtype=torch.float32)}, p) or p,
    "safetensors": lambda p: save_file({"w": torch.frombuffer(bytearray(numbers()), dtype=torch.float32)}, p) or p,
}


@pytest.mark.parametrize("kind", BYTES)
@pytest.mark.parametrize(
    ("change", "words"), [(in_latin_1, "taken for Latin-1 text and written as UTF-8"), (in_text_mode, "text-mode copy")]
)
def test_bytes_that_were_taken_for_text(tmp_path, kind, change, words):
    """
    Bytes that went through an encoding, or had their line feeds changed, are told by what is left of every one of them.
    """
    path = BYTES[kind](tmp_path / f"model.{kind}")
    data = path.read_bytes() if b"\n" in path.read_bytes() else path.read_bytes() + b"\n" * 4
    path.write_bytes(change(data))

    found = look(path)

    assert found.verdict is FAIL
    assert words in found.reason


def test_text_of_other_languages_is_not_mangled(tmp_path):
    """
    Letters with accents in the metadata of a file that is cut are no sign that its bytes were taken for text.
    """
    path = tmp_path / "m.safetensors"
    save_file({"w": torch.zeros(64)}, path, metadata={"description": "größere Übung für Ärzte, déjà vu"})
    w.cut(path, -8)

    found = look(path)

    assert found.verdict is FAIL
    assert "Latin-1" not in found.reason


# Words.


def test_a_link_that_points_to_nothing(tmp_path):
    """
    A link whose target is gone is told as that, not as a file that is not there; so is one in a folder.
    """
    folder = w.sets_of_shards(tmp_path / "c")
    (folder / "model-00002-of-00002.safetensors").unlink()
    (folder / "model-00002-of-00002.safetensors").symlink_to("gone.safetensors")

    alone, within = look(folder / "model-00002-of-00002.safetensors"), look(folder)

    assert (alone.verdict, within.verdict) == (FAIL, FAIL)
    assert "is a link that points to nothing: gone.safetensors is not there" in alone.reason
    assert "model-00002-of-00002.safetensors is missing: it is a link that points to nothing, gone" in within.reason
    assert look(tmp_path / "not_there.pt").reason.startswith("there is no")


@pytest.mark.parametrize(
    ("value", "words"), [([], "is a list"), ("x", "is a text"), (3, "is a number"), ({}, "is empty")]
)
def test_a_weight_map_that_is_none(tmp_path, value, words):
    """
    A weight_map of another type is told as that, an empty one as empty.
    """
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": value}))

    assert f"its weight_map {words}" in look(tmp_path).reason


def test_an_axis_that_is_negative(tmp_path):
    """
    An axis of ONNX is a number with a sign, and is shown so.
    """
    path = w.onnx_model(tmp_path / "m.onnx", [w.onnx_tensor("w", ((1 << 64) - 64, 4), 1, numbers(4))])

    found = look(path)

    assert found.verdict is FAIL
    assert "[-64, 4]: an axis is negative" in found.reason


@pytest.mark.parametrize("tail", [b"x", b"\0", b"\n\n\n", b"junk" * 5, bytes(64)], ids=repr)
def test_bytes_behind_a_model(tmp_path, tail):
    """
    What follows a whole ONNX model and is no field of one was appended: the model was not cut.
    """
    path = w.onnx_model(tmp_path / "m.onnx", [w.onnx_tensor("w", (4,), 1, numbers(4))], tail=tail)

    found = look(path)

    assert found.verdict is FAIL, found.reason
    assert "the last field, and" in found.reason
    assert "truncated" not in found.reason


@pytest.mark.parametrize("field", [14, 20, 25])
@pytest.mark.parametrize("left", [1, 2, 3])
def test_a_field_behind_the_graph_that_is_cut(tmp_path, field, left):
    """
    A last field of ONNX's own that has not all its bytes was cut.
    """
    tail = w.field(field, w.field(1, "k") + w.field(2, "v"))
    path = w.onnx_model(tmp_path / "m.onnx", [w.onnx_tensor("w", (4,), 1, numbers(4))], tail=tail[:-left])

    found = look(path)

    assert found.verdict is FAIL, found.reason
    assert "the last field, and" not in found.reason


@pytest.mark.parametrize("lengths", [(100, 60, 100, 100), (100, 100, 40, 100), (60, 100, 100)], ids=str)
def test_a_partition_of_another_length(tmp_path, lengths):
    """
    The rank whose flat partition is not as long as the others' is named, with both numbers.
    """
    root = w.deepspeed(tmp_path / "c", ranks=len(lengths), parallel=1)
    for rank, length in enumerate(lengths):
        part = {"optimizer_state_dict": {"single_partition_of_fp32_groups": [torch.zeros(length)], "zero_stage": 2}}
        torch.save(part, root / "global_step1000" / f"bf16_zero_pp_rank_{rank}_mp_rank_00_optim_states.pt")
    odd = min(range(len(lengths)), key=lengths.__getitem__)

    found = look(root)

    assert found.verdict is FAIL, found.reason
    assert f"has {lengths[odd]} elements on rank {odd}, 100 on others" in found.reason


# Archives around a file.


def tarred(path, name, data):
    with tarfile.open(path, "w") as archive:
        for each, content in (("README.txt", b"weights"), (name, data)):
            info = tarfile.TarInfo(each)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def zipped(path, name, data):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("README.txt", "weights")
        archive.writestr(name, data)
    return path


AROUND = {"tar": tarred, "ZIP": zipped}


@pytest.mark.parametrize("kind", AROUND)
@pytest.mark.parametrize("suffix", ["pt", "pth", "ckpt", "bin", "safetensors", "gguf", "onnx", "msgpack"])
def test_an_archive_around_a_file(tmp_path, kind, suffix):
    """
    An archive under the name of the file that it holds is told as one, with that file's name.
    """
    path = AROUND[kind](tmp_path / f"model.{suffix}", f"inner/model.{suffix}", numbers())

    found = look(path)

    assert found.verdict is FAIL, found.reason
    assert f"it is a {kind} archive around 'inner/model.{suffix}', and must be unpacked first" in found.reason


@pytest.mark.parametrize("kind", AROUND)
def test_an_archive_of_other_files(tmp_path, kind):
    """
    Under a name that is torch's alone it is none of torch's, whatever it holds.
    """
    found = look(AROUND[kind](tmp_path / "model.pt", "weights.txt", b"1 2 3"))

    assert found.verdict is FAIL, found.reason
    assert f"it is a {kind} archive around 'README.txt'" in found.reason


def test_an_archive_by_its_own_name(tmp_path):
    """
    What is called a tar may be one: it is no checkpoint that is known here, and what it holds is named.
    """
    found = look(tarred(tmp_path / "model.pth.tar", "model.pth", numbers()))

    assert (found.verdict, found.cause) == (UNKNOWN, Cause.UNSUPPORTED), found.reason
    assert "it holds 'model.pth'" in found.reason


@pytest.mark.parametrize("name", [b"f\xc1oat32", b"float\x0032", b"fl\xc3\xb6at32", b"\x7f"], ids=repr)
def test_a_dtype_that_is_no_word(tmp_path, name):
    """
    A dtype of Flax's is a name of numpy's, which are all of ASCII; another can't be restored. An unknown word is UNKNOWN.
    """
    path = tmp_path / "m.msgpack"
    path.write_bytes(b"\x81\xa1w" + w.packed_array((4,), name, numbers(4)))
    damaged = look(path)
    path.write_bytes(b"\x81\xa1w" + w.packed_array((4,), b"float99", numbers(4)))
    unknown = look(path)

    assert damaged.verdict is FAIL, damaged.reason
    assert "for a dtype, which is no name" in damaged.reason
    assert (unknown.verdict, unknown.cause) == (UNKNOWN, Cause.UNSUPPORTED)
