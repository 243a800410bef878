"""What a second corpus found, by somebody who had not read the first: each case stands for a rule."""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import struct
import tarfile
import zipfile

import corpus
import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from verikit.checks.checkpoint import CheckpointIntact
from verikit.errors import Cause
from verikit.probes.manifest import seal
from verikit.probes.place import Place
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS, UNKNOWN


def look(path, **claims):
    return examine_here(CheckpointIntact(str(path), **claims))


# Good ones.


def npy(path, header, data=bytes(8), version=1):
    head = header.encode() + b" " * 20 + b"\n"
    path.write_bytes(b"\x93NUMPY%c\0" % version + struct.pack("<H" if version == 1 else "<I", len(head)) + head + data)


def module(path):
    torch.save(torch.nn.Linear(2, 3), path, _use_new_zipfile_serialization=False)


def packed_quantized(path):
    scales, zeros = torch.ones(4) * 0.1, torch.zeros(4)
    torch.save({"w": torch.quantize_per_channel(torch.randn(4, 5), scales, zeros, 0, torch.quint4x2)}, path)


def placeholders(path):
    """What a rank of DeepSpeed's ZeRO-3 leaves as model states: shapes; the elements are in its optimizer states."""
    empty = {f"{n}.weight": torch.empty(0) for n in range(4)}
    torch.save({"module": empty, "param_shapes": [{name: torch.Size([4]) for name in empty}]}, path)


GOOD = {
    "an NPY header of 90 KB": ("x.npy", lambda p: np.save(p, np.zeros(1, [(f"field_{n}", "f4") for n in range(4000)]))),
    "whole numbers of Python 2": (
        "x.npy",
        lambda p: npy(p, "{'descr': '<f4', 'fortran_order': False, 'shape': (2L,)}"),
    ),
    "two values to a byte": ("x.pt", packed_quantized),
    "ZeRO-3": ("zero_pp_rank_0_mp_rank_00_model_states.pt", placeholders),
}


@pytest.mark.parametrize("name", GOOD)
def test_good(tmp_path, name):
    """
    Rare, and right.
    """
    file, write = GOOD[name]
    write(tmp_path / file)

    assert look(tmp_path / file).verdict is PASS


def test_a_class_with_its_source(tmp_path):
    """
    The older torch format keeps classes of modules under ids that are no storages: theirs are names to be trusted.
    """
    module(tmp_path / "m.pt")

    found = look(tmp_path / "m.pt", pickle="any")

    assert found.verdict is PASS, found.reason


# Evil ones.

OS = b"\x80\x02" + corpus.call("os", "system", "true")[2:]
HARMLESS = b"\x80\x02}."


def archive(path, **members):
    with zipfile.ZipFile(path, "w") as file:
        for name, data in {"data.pkl": HARMLESS, "version": b"3\n", **members}.items():
            file.writestr("m/" + name, data)


EVIL = {
    "another record": ({"extra/x.pkl": OS}, FAIL, "os.system"),
    "another record, by its first bytes": ({"extra/x": OS}, FAIL, "os.system"),
    "behind the constants": ({"constants.pkl": HARMLESS + OS}, FAIL, "follow the pickle"),
    "its own __setstate__": (
        {
            "data.pkl": b"\x80\x02cargparse\nNamespace\n)\x81}X\x0c\0\0\0__setstate__ctorch._utils\n_rebuild_tensor\nsbNb."
        },
        FAIL,
        "__setstate__",
    ),
    "a number that takes 16 GiB": ({"data.pkl": b"\x80\x02}r\xff\xff\xff\x7f."}, UNKNOWN, "numbers a value"),
    "a hundred thousand levels": ({"data.pkl": b"\x80\x02N" + b"\x85" * 100_000 + b"."}, UNKNOWN, "deep"),
    "a million levels": (
        {"data.pkl": b"\x80\x02N" + b"\x85" * 1_000_000 + b"."},
        UNKNOWN,
        "values take more than 31 MiB",
    ),
    "a partial": ({"data.pkl": corpus.call("functools", "partial", 1)}, UNKNOWN, "functools.partial"),
    "arguments that are called": (
        {"data.pkl": corpus.call("transformers.training_args", "TrainingArguments", "/x")},
        UNKNOWN,
        "TrainingArguments",
    ),
}


@pytest.mark.parametrize("name", EVIL)
def test_evil(tmp_path, name):
    """
    What a loader might run or choke on does not pass.
    """
    members, verdict, words = EVIL[name]
    archive(tmp_path / "m.pt", **members)

    found = look(tmp_path / "m.pt")

    assert found.verdict is verdict, found.reason
    assert words in found.reason


# Broken ones.


def test_a_shard_of_a_snapshot_is_gone(tmp_path):
    """
    An index within the hub's cache is an index, though all that the hub knows of it is its hash.
    """
    snapshot = tmp_path / "models--a--b" / "snapshots" / ("c" * 40)
    blobs = tmp_path / "models--a--b" / "blobs"
    (tmp_path / "source").mkdir()
    corpus.sharded()(tmp_path / "source")
    os.makedirs(snapshot)
    os.makedirs(blobs)
    for file in (tmp_path / "source").iterdir():
        blob = blobs / hashlib.sha256(file.read_bytes()).hexdigest()
        file.rename(blob)
        (snapshot / file.name).symlink_to(blob)
    assert look(snapshot).verdict is PASS

    next(path for path in snapshot.iterdir() if path.name.endswith(".safetensors")).unlink()

    assert look(snapshot).verdict is FAIL


def test_seal_holds_what_a_file_brings_along(tmp_path):
    """
    The seal of an index is of its shards too.
    """
    (tmp_path / "m").mkdir()
    corpus.sharded()(tmp_path / "m")
    index = tmp_path / "m" / "model.safetensors.index.json"
    sealed = seal(Place(), str(index))
    assert look(index, manifest=sealed).verdict is PASS

    shard = next(path for path in (tmp_path / "m").iterdir() if path.name.endswith(".safetensors"))
    data = bytearray(shard.read_bytes())
    data[-1] ^= 1
    shard.write_bytes(data)

    assert look(index, manifest=sealed).verdict is FAIL


def test_a_product_that_overflows_on_its_way(tmp_path):
    """
    2^63 x 2 x 0 elements are none, but no loader that multiplies in 64 bits takes them.
    """
    header = b'{"a":{"dtype":"F32","shape":[9223372036854775808,2,0],"data_offsets":[0,0]}}'
    (tmp_path / "x.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)

    assert look(tmp_path / "x.safetensors").verdict is FAIL


def adam(states):
    group = {"lr": 0.1, "betas": (0.9, 0.999), "params": [0, 1]}
    return {"state": {n: {"step": 1, "exp_avg": torch.zeros(2)} for n in range(states)}, "param_groups": [group]}


@pytest.mark.parametrize(("states", "verdict"), [(2, PASS), (1, UNKNOWN), (0, FAIL)])
def test_states_of_an_optimizer(tmp_path, states, verdict):
    """
    Adam without any state has lost them; with some of them, only its owner can tell.
    """
    folder = tmp_path / "checkpoint-5"
    folder.mkdir()
    save_file({"a": torch.zeros(2), "b": torch.zeros(2)}, folder / "model.safetensors")
    (folder / "trainer_state.json").write_text('{"global_step": 5}')
    states_of = {"optimizer.pt": adam(states), "scheduler.pt": {"last_epoch": 5}, "rng_state.pth": corpus.rng()}
    for name, value in states_of.items():
        torch.save(value, folder / name)

    found = look(folder)

    assert found.verdict is verdict, found.reason
    assert found.cause is (Cause.AMBIGUOUS if verdict is UNKNOWN else None)


def test_tar_with_extended_headers(tmp_path):
    """
    Python writes a header of its own before each member of a tar; torch's are found behind it.
    """
    with tarfile.open(tmp_path / "m.pt", "w", format=tarfile.PAX_FORMAT) as file:
        for name in ("sys_info", "pickle", "storages", "tensors"):
            data = pickle.dumps({} if name in ("sys_info", "pickle") else 0, 2)
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(data), 0.5
            file.addfile(info, io.BytesIO(data))

    assert "torch's" not in look(tmp_path / "m.pt").reason


def test_a_folder_before_its_renaming(tmp_path):
    """
    A Trainer's folder that still has the name of its making may lack what was to come: a warning.
    """
    folder = tmp_path / "tmp-checkpoint-5"
    folder.mkdir()
    save_file({"a": torch.zeros(2)}, folder / "model.safetensors")
    (folder / "trainer_state.json").write_text('{"global_step": 5}')

    assert any("once its save is complete" in warning for warning in look(folder).warnings)


def test_a_dtype_of_the_future(tmp_path):
    """
    A dtype that torch has and the table has not is UNKNOWN, never damage.
    """
    torch.save({"w": torch.empty(9, dtype=torch.bits8)}, tmp_path / "m.pt", pickle_protocol=2)
    with zipfile.ZipFile(tmp_path / "m.pt") as file:
        pickled = file.read("m/data.pkl").replace(b"bits8", b"bits9")
    archive(tmp_path / "n.pt", **{"data.pkl": pickled, "data/0": bytes(9)})

    found = look(tmp_path / "n.pt")

    assert found.cause is Cause.UNSUPPORTED, found.reason
    assert "torch.bits9" in found.reason
