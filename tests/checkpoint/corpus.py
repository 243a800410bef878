"""A corpus of checkpoints, made anew for each run: good ones by torch and safetensors themselves, broken ones out of those.

    GOOD      {name: Good}     a writer, and what a team would allow of its own
    DAMAGE    {name: Damage}   a change of bytes, and the depth at which each format can show it
    FAULTS    {name: Fault}    a checkpoint that is wrong in one way, and the word its reason must have
    EVIL      {name: bytes}    pickles that would do harm; `marker` is what they would leave behind

"structure" and "content" are depths; "sealed": only a manifest or digest can show it.
"""

from __future__ import annotations

import argparse
import collections
import gzip
import io
import json
import pickle
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import safetensors.torch
import torch

from verikit.probes.formats.torch_zip import fold


class Config:
    """A team's own class, which verikit can't know."""

    def __init__(self, width: int = 64) -> None:
        self.width = width


class Outer:
    """Of a team's too, with a class within it."""

    class Mode:
        pass


class Good(NamedTuple):
    write: Callable[[Path], Path]
    allow: tuple[str, ...] = ()
    kind: str = "zip"


class Damage(NamedTuple):
    change: Callable[[bytes], bytes]
    shown: dict[str, str]


class Fault(NamedTuple):
    write: Callable[[Path], Path]
    word: str
    depth: str = "structure"


def tensors(seed: int = 0) -> dict[str, torch.Tensor]:
    """A small state dict with what real ones have: large and small, empty, 0-dim, shared, strided."""
    torch.manual_seed(seed)
    base = torch.randn(64, 48)
    return {
        "embed.weight": base,
        "layers.0.weight": torch.randn(32, 32),
        "layers.0.bias": torch.randn(32).bfloat16(),
        "layers.1.weight": torch.randn(40, 30).half(),
        "norm.count": torch.tensor(7),
        "mask": torch.tensor([True, False, True]),
    }


# torch, ZIP.


def torch_zip(value: Callable[[], object], name: str = "model.pt", **options: object) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        torch.save(value(), folder / name, **options)  # type: ignore[arg-type]
        return folder / name

    return write


def _training() -> dict[str, object]:
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Linear(16, 4))
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.randn(2, 8)).sum().backward()
    optimizer.step()
    return {"model_state_dict": model.state_dict(), "optimizer_state_dict": optimizer.state_dict(), "step": 20000}


def rng() -> dict[str, object]:
    import random

    return {"python": random.getstate(), "numpy": np.random.get_state(), "cpu": torch.random.get_rng_state()}


def _views() -> dict[str, torch.Tensor]:
    base = torch.randn(50, 60)
    return {
        "base": base,
        "row": base[3:7],
        "turned": base.t(),
        "step": base[::2, ::3],
        "spread": torch.randn(1, 5).expand(9, 5),
    }


def _floats() -> dict[str, torch.Tensor]:
    wide = torch.randn(6, 8)
    kinds = (torch.float64, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2, torch.complex64)
    return {str(kind): wide.to(kind) for kind in kinds}


def _ints() -> dict[str, torch.Tensor]:
    kinds = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.uint16, torch.uint32, torch.bool)
    return {str(kind): torch.arange(9).to(kind) for kind in kinds}


def _bits() -> dict[str, torch.Tensor]:
    kinds = (torch.bits8, torch.bits16, torch.bits2x4, torch.uint64)
    return {str(kind): torch.empty(9, dtype=kind) for kind in kinds}


def _quantized() -> dict[str, torch.Tensor]:
    return {"q": torch.quantize_per_tensor(torch.randn(4, 5), 0.1, 3, torch.qint8)}


def _sparse() -> dict[str, torch.Tensor]:
    dense = torch.eye(6)
    return {"coo": dense.to_sparse(), "csr": dense.to_sparse_csr()}


def _numpy() -> dict[str, object]:
    return {"array": np.arange(12.0).reshape(3, 4), "scalar": np.float64(2.5), "w": torch.ones(3)}


def crc_off(folder: Path) -> Path:
    torch.serialization.set_crc32_options(False)
    try:
        torch.save(tensors(), folder / "model.pt")
    finally:
        torch.serialization.set_crc32_options(True)
    return folder / "model.pt"


def torchscript(folder: Path) -> Path:
    torch.jit.script(torch.nn.Linear(3, 4)).save(str(folder / "script.pt"))
    return folder / "script.pt"


def rezipped(method: int, order: Callable[[list[str]], list[str]] = list) -> Callable[[Path], Path]:
    """The same records in an archive that another program wrote."""

    def write(folder: Path) -> Path:
        torch.save(tensors(), folder / "first.pt")
        with zipfile.ZipFile(folder / "first.pt") as old, zipfile.ZipFile(folder / "model.pt", "w", method) as new:
            for name in order(old.namelist()):
                new.writestr(name, old.read(name))
        (folder / "first.pt").unlink()
        return folder / "model.pt"

    return write


def rebuilt(change: Callable[[dict[str, bytes]], dict[str, bytes]]) -> Callable[[Path], Path]:
    """Records changed and put together again with right CRCs, and the fold over them too: what a careful tamperer does."""

    def write(folder: Path) -> Path:
        torch.save(tensors(), folder / "first.pt")
        with zipfile.ZipFile(folder / "first.pt") as old:
            records = change({name.split("/", 1)[1]: old.read(name) for name in old.namelist()})
        (folder / "first.pt").unlink()
        identity = records.pop(".data/serialization_id")
        crcs = [zlib.crc32(data) for data in records.values() if data]
        records[".data/serialization_id"] = identity[:20] + b"%020d" % fold(crcs)
        with zipfile.ZipFile(folder / "model.pt", "w") as new:
            for name, data in records.items():
                new.writestr("model/" + name, data)
        return folder / "model.pt"

    return write


def _with(name: str, data: Callable[[bytes], bytes]) -> Callable[[dict[str, bytes]], dict[str, bytes]]:
    return lambda records: {**records, name: data(records.get(name, b""))}


def _without(name: str) -> Callable[[dict[str, bytes]], dict[str, bytes]]:
    return lambda records: {key: data for key, data in records.items() if key != name}


# torch, older.


def legacy(value: Callable[[], object], protocol: int = 2) -> Callable[[Path], Path]:
    return torch_zip(value, _use_new_zipfile_serialization=False, pickle_protocol=protocol)


def tar(folder: Path) -> Path:
    """The oldest format, as torch 0.1 wrote it: nothing writes it any more."""
    members = {"sys_info": pickle.dumps({"protocol_version": 1000}, 2)}
    weights = np.arange(6, dtype="<f4")
    members["storages"] = b"".join(
        [pickle.dumps(1, 2), _storage_row(), struct.pack("<q", 6), weights.tobytes(), pickle.dumps([], 2)]
    )
    row = pickle.dumps((101, 100, None), 2)
    members["tensors"] = pickle.dumps(1, 2) + row + struct.pack("<i4x2q2qq", 2, 2, 3, 3, 1, 0)
    members["pickle"] = pickle.dumps({"w": 101}, 2)
    with tarfile.open(folder / "model.pt", "w") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return folder / "model.pt"


def _storage_row() -> bytes:
    return b"\x80\x02(KdX\x03\x00\x00\x00cpuctorch\nFloatStorage\nt."


def plain_pickle(protocol: int) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        value = {
            "names": ["a", "b"],
            "lr": 0.1,
            "args": argparse.Namespace(width=64),
            "seen": {1, 2},
            "raw": b"\x00\xff",
        }
        (folder / "state.pkl").write_bytes(pickle.dumps(value, protocol))
        return folder / "state.pkl"

    return write


# safetensors.


def safe(value: Callable[[], dict[str, torch.Tensor]], **options: object) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        own = {name: item.clone().contiguous() for name, item in value().items()}
        safetensors.torch.save_file(own, folder / "model.safetensors", **options)  # type: ignore[arg-type]
        return folder / "model.safetensors"

    return write


def header(change: Callable[[dict], object], data: bytes = b"\1" * 24, pad: int = 0) -> Callable[[Path], Path]:
    """A safetensors file out of a header of two tensors that `change` may change or replace."""

    def write(folder: Path) -> Path:
        rows = {
            "a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
            "b": {"dtype": "F16", "shape": [4], "data_offsets": [16, 24]},
        }
        text = change(rows)
        text = text if isinstance(text, bytes) else json.dumps(rows if text is None else text).encode()
        text += b" " * pad
        (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
        return folder / "model.safetensors"

    return write


def _set(name: str, **fields: object) -> Callable[[dict], object]:
    return lambda rows: rows[name].update(fields)


# Shards.


def sharded(
    change: Callable[[Path, dict], None] = lambda folder, index: None, **config: object
) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        state, parts = tensors(), {}
        names = list(state)
        for number, chosen in enumerate((names[:2], names[2:4], names[4:]), 1):
            parts[f"model-{number:05d}-of-00003.safetensors"] = {name: state[name] for name in chosen}
        for path, part in parts.items():
            safetensors.torch.save_file(part, folder / path)
        index = {
            "metadata": {"total_size": sum(each.nbytes for each in state.values())},
            "weight_map": {name: path for path, part in parts.items() for name in part},
        }
        (folder / "config.json").write_text(json.dumps({"model_type": "llama", **config}))
        change(folder, index)
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))
        return folder

    return write


def sharded_bin(folder: Path) -> Path:
    state = tensors()
    names, index = list(state), {}
    for number, chosen in enumerate((names[:3], names[3:]), 1):
        path = f"pytorch_model-{number:05d}-of-00002.bin"
        torch.save({name: state[name] for name in chosen}, folder / path)
        index.update(dict.fromkeys(chosen, path))
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps({"metadata": {}, "weight_map": index}))
    return folder


def _move(name: str, path: str) -> Callable[[Path, dict], None]:
    return lambda folder, index: index["weight_map"].update({name: path})


def _drop(path: str) -> Callable[[Path, dict], None]:
    return lambda folder, index: (folder / path).unlink()


def _swap(folder: Path, index: dict) -> None:
    one, two = folder / "model-00001-of-00003.safetensors", folder / "model-00002-of-00003.safetensors"
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)


def _copy_over(folder: Path, index: dict) -> None:
    (folder / "model-00002-of-00003.safetensors").write_bytes(
        (folder / "model-00001-of-00003.safetensors").read_bytes()
    )


def _stale(folder: Path, index: dict) -> None:
    for name, path in index["weight_map"].items():
        index["weight_map"][name] = path.replace("-of-00003", "-of-00007")


def _no_index(folder: Path) -> Path:
    sharded()(folder)
    (folder / "model.safetensors.index.json").unlink()
    return folder


def _beside(name: str, data: bytes = b"") -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        path = safe(tensors)(folder)
        (folder / (path.name + name)).write_bytes(data)
        return path

    return write


OWN = f"{__name__}.Config"

GOOD: dict[str, Good] = {
    "state dict": Good(torch_zip(tensors)),
    "training state": Good(torch_zip(_training)),
    "a step of training, as .ckpt": Good(torch_zip(_training, "last.ckpt")),
    "a .bin": Good(torch_zip(tensors, "pytorch_model.bin")),
    "a name without suffix": Good(torch_zip(tensors, "checkpoint")),
    "a name in Greek with blanks": Good(torch_zip(tensors, "μοντέλο τελικό.pt")),
    "tensor names in Chinese": Good(torch_zip(lambda: {"层.权重": torch.ones(3), "": torch.ones(2)})),
    "one bare tensor": Good(torch_zip(lambda: torch.randn(5))),
    "a list of tensors": Good(torch_zip(lambda: [torch.randn(5), torch.randn(0)])),
    "0-dim and empty tensors": Good(
        torch_zip(lambda: {"s": torch.tensor(1.5), "e": torch.zeros(0, 4), "n": torch.zeros(3, 0)})
    ),
    "nothing but numbers": Good(torch_zip(lambda: {"step": 3, "lr": 0.1, "name": "x"})),
    "views and expanded tensors": Good(torch_zip(_views)),
    "tied weights": Good(torch_zip(lambda: (lambda w: {"embed": w, "head": w})(torch.randn(9, 4)))),
    "parameters": Good(
        torch_zip(lambda: {"p": torch.nn.Parameter(torch.randn(4)), "b": torch.nn.Buffer(torch.ones(2))})
    ),
    "floats of every kind": Good(torch_zip(_floats)),
    "integers of every kind": Good(torch_zip(_ints)),
    "elements of bits": Good(torch_zip(_bits)),
    "quantized": Good(torch_zip(_quantized)),
    "sparse": Good(torch_zip(_sparse)),
    "on the meta device": Good(torch_zip(lambda: {"m": torch.empty(3, 4, device="meta")})),
    "random state": Good(torch_zip(rng)),
    "numpy inside": Good(torch_zip(_numpy)),
    "argparse.Namespace inside": Good(torch_zip(lambda: {"args": argparse.Namespace(lr=1), "w": torch.ones(2)})),
    "a counter, a deque, a set": Good(
        torch_zip(
            lambda: {"c": collections.Counter("aab"), "d": collections.deque([1, 2]), "s": {1}, "w": torch.ones(1)}
        )
    ),
    "a class of the team": Good(torch_zip(lambda: {"config": Config(), "w": torch.ones(2)}), (OWN,)),
    "a class within a class, protocol 4": Good(
        torch_zip(lambda: {"mode": Outer.Mode(), "w": torch.ones(2)}, pickle_protocol=4), (f"{__name__}.Outer.Mode",)
    ),
    "a whole module": Good(torch_zip(lambda: torch.nn.Linear(3, 4)), ("torch.nn.modules.linear.Linear",)),
    "pickle protocol 4": Good(torch_zip(tensors, pickle_protocol=4)),
    "pickle protocol 5": Good(torch_zip(_training, pickle_protocol=5)),
    "pickle protocol 3": Good(torch_zip(tensors, pickle_protocol=3)),
    "CRCs off": Good(crc_off, kind="zip without CRC"),
    "TorchScript": Good(torchscript, kind="script"),
    "zipped anew, stored": Good(rezipped(zipfile.ZIP_STORED), kind="rezipped"),
    "zipped anew, deflated": Good(rezipped(zipfile.ZIP_DEFLATED), kind="rezipped"),
    "zipped anew in another order": Good(rezipped(zipfile.ZIP_STORED, sorted), kind="rezipped"),
    "big-endian by its byteorder": Good(rebuilt(_with("byteorder", lambda data: b"big")), kind="rezipped"),
    "by torch 1.6: no serialization_id": Good(lambda folder: _without_identity(folder), kind="rezipped"),
    "10,000 scalars": Good(torch_zip(lambda: {str(n): n for n in range(10_000)})),
    "legacy": Good(legacy(tensors), kind="legacy"),
    "legacy, protocol 4": Good(legacy(tensors, 4), kind="legacy"),
    "legacy, views": Good(legacy(_views), kind="legacy"),
    "legacy, no tensors": Good(legacy(lambda: {"step": 3}), kind="legacy"),
    "legacy, training state": Good(legacy(_training), kind="legacy"),
    "tar": Good(tar, kind="tar"),
    **{f"pickle, protocol {n}": Good(plain_pickle(n), kind="pickle") for n in range(6)},
    "safetensors": Good(safe(tensors), kind="safetensors"),
    "safetensors with metadata": Good(safe(tensors, metadata={"format": "pt", "step": "3"}), kind="safetensors"),
    "safetensors, floats of every kind": Good(safe(_floats), kind="safetensors"),
    "safetensors, integers of every kind": Good(safe(_ints), kind="safetensors"),
    "safetensors, 0-dim and empty": Good(
        safe(lambda: {"s": torch.tensor(1.0), "e": torch.zeros(0, 9)}), kind="safetensors"
    ),
    "safetensors, only metadata": Good(safe(dict, metadata={"a": "b"}), kind="safetensors"),
    "safetensors, unicode names": Good(safe(lambda: {"权重": torch.ones(3), 'a"b': torch.ones(1)}), kind="safetensors"),
    "safetensors, header padded": Good(header(lambda rows: None, pad=13), kind="safetensors"),
    "safetensors, tensors in another order": Good(
        header(lambda rows: {"b": {**rows["b"], "data_offsets": [0, 8]}, "a": {**rows["a"], "data_offsets": [8, 24]}}),
        kind="safetensors",
    ),
    "safetensors, 4-bit": Good(
        header(lambda rows: {"q": {"dtype": "F4", "shape": [6, 8], "data_offsets": [0, 24]}}), kind="safetensors"
    ),
    "sharded": Good(sharded(), kind="folder"),
    "sharded .bin": Good(sharded_bin, kind="folder of ZIPs"),
    "sharded, a tied weight in the index only": Good(
        sharded(_move("lm_head.weight", "model-00003-of-00003.safetensors"), tie_word_embeddings=True), kind="folder"
    ),
    "sharded, the index out of date": Good(sharded(_stale), kind="folder"),
    "sharded, without an index": Good(_no_index, kind="folder"),
    "sharded, a wrong total": Good(
        sharded(lambda folder, index: index["metadata"].update(total_size=5.5)), kind="folder"
    ),
    "a pipeline of models in subfolders": Good(lambda folder: _pipeline(folder), kind="folder"),
    "JSON lines and notes beside it": Good(lambda folder: _with_notes(folder), kind="folder"),
    "an old .part beside it": Good(_beside(".part"), kind="safetensors"),
}


def _with_notes(folder: Path) -> Path:
    safe(tensors)(folder)
    (folder / "results.json").write_text('{"step": 1}\n{"step": 2}\n')
    (folder / "README.md").write_text("# A model")
    (folder / "config.json").write_text("{}")
    return folder


def _pipeline(folder: Path) -> Path:
    for name in ("unet", "vae", "text_encoder"):
        (folder / name).mkdir()
        safe(tensors)(folder / name)
        (folder / name / "config.json").write_text("{}")
    (folder / "model_index.json").write_text("{}")
    return folder


def _without_identity(folder: Path) -> Path:
    torch.save(tensors(), folder / "first.pt")
    with zipfile.ZipFile(folder / "first.pt") as old, zipfile.ZipFile(folder / "model.pt", "w") as new:
        for name in old.namelist():
            if name.rsplit("/", 1)[1] not in ("serialization_id", ".format_version", ".storage_alignment", "byteorder"):
                new.writestr(name, old.read(name))
    (folder / "first.pt").unlink()
    return folder / "model.pt"


# Damage to the bytes of any file.


def _everywhere(depth: str, **other: str) -> dict[str, str]:
    kinds = ("zip", "zip without CRC", "script", "rezipped", "legacy", "tar", "pickle", "safetensors")
    return {kind: other.get(kind.replace(" ", "_"), depth) for kind in kinds}


def _middle(data: bytes, change: Callable[[bytes], bytes], size: int = 1) -> bytes:
    at = len(data) * 2 // 3
    return data[:at] + change(data[at : at + size]) + data[at + size :]


DAMAGE: dict[str, Damage] = {
    "emptied": Damage(lambda data: b"", _everywhere("size")),
    "one byte kept": Damage(lambda data: data[:1], _everywhere("structure")),
    "the first 7 bytes kept": Damage(lambda data: data[:7], _everywhere("structure")),
    "a tenth kept": Damage(lambda data: data[: len(data) // 10], _everywhere("structure")),
    # Half of this tar is just what another program would have written.
    "half kept": Damage(lambda data: data[: len(data) // 2 - 9], _everywhere("structure")),
    "the last 100 bytes cut": Damage(lambda data: data[:-100], _everywhere("structure", pickle="structure")),
    "the last byte cut": Damage(lambda data: data[:-1], _everywhere("structure")),
    "junk appended": Damage(lambda data: data + b"junk" * 9, _everywhere("structure")),
    "one byte appended": Damage(lambda data: data + b"\1", _everywhere("structure")),
    "zeros appended": Damage(lambda data: data + bytes(4096), _everywhere("structure")),
    "written twice": Damage(lambda data: data + data, _everywhere("structure", pickle="sealed")),
    "junk before it": Damage(lambda data: b"\r\nHTTP/1.1 200 OK\r\n\r\n" + data, _everywhere("structure")),
    "its first page zeroed": Damage(lambda data: bytes(min(512, len(data))) + data[512:], _everywhere("structure")),
    "all zeros": Damage(lambda data: bytes(len(data)), _everywhere("structure")),
    "its first byte flipped": Damage(lambda data: bytes([data[0] ^ 1]) + data[1:], _everywhere("structure")),
    "packed by gzip": Damage(gzip.compress, _everywhere("structure")),
    "an LFS pointer": Damage(
        lambda data: b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 12345\n" % (b"ab" * 32),
        _everywhere("structure"),
    ),
    "an HTML page": Damage(
        lambda data: b"<!DOCTYPE html><html><body>404 Not Found</body></html>", _everywhere("structure")
    ),
    "an XML answer": Damage(
        lambda data: b'<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', _everywhere("structure")
    ),
    "a JSON answer": Damage(lambda data: b'{"error": "Repository not found"}', _everywhere("structure")),
    "a plain answer": Damage(lambda data: b"Entry not found. Please try again later.\n", _everywhere("structure")),
    "taken for UTF-8": Damage(
        lambda data: data.decode("utf-8", "replace").encode(), _everywhere("structure", pickle="sealed")
    ),
    "copied in text mode": Damage(lambda data: data.replace(b"\n", b"\r\n"), _everywhere("structure")),
    "its tail zeroed": Damage(
        lambda data: data[: len(data) * 9 // 10] + bytes(len(data) - len(data) * 9 // 10),
        _everywhere("structure", safetensors="sealed", legacy="sealed", tar="sealed"),
    ),
}


# One fault each.

FAULTS: dict[str, Fault] = {
    "header of 2^60 bytes": Fault(lambda folder: _raw(folder, struct.pack("<Q", 1 << 60) + b'{"a":1}'), "claims"),
    "header that ends outside": Fault(
        lambda folder: _raw(folder, struct.pack("<Q", 5000) + b'{"a":1}' * 9), "truncated"
    ),
    "header that is a list": Fault(header(lambda rows: b"[]"), "begins with"),
    "header that is no JSON": Fault(header(lambda rows: b'{"a": '), "no JSON"),
    "header in Latin-1": Fault(header(lambda rows: b'{"\xe9": 1}'), "no JSON"),
    "header nested deeply": Fault(header(lambda rows: b'{"a":' * 3000), "no JSON"),
    "dtype unknown": Fault(header(_set("a", dtype="F33")), "unknown dtype"),
    "dtype a number": Fault(header(_set("a", dtype=32)), "unknown dtype"),
    "shape negative": Fault(header(_set("a", shape=[-2, -2])), "whole numbers"),
    "shape of floats": Fault(header(_set("a", shape=[2.0, 2])), "whole numbers"),
    "shape of true": Fault(header(_set("a", shape=[True, 4])), "whole numbers"),
    "shape too large for its bytes": Fault(header(_set("a", shape=[2, 3])), "takes 24 bytes"),
    "shape that overflows": Fault(header(_set("a", shape=[1 << 32, 1 << 32])), "no size"),
    "shape that wraps round": Fault(header(_set("a", shape=[1 << 63, 2, 4])), "no size"),
    "offsets in reverse": Fault(header(_set("a", data_offsets=[16, 0])), "whole numbers"),
    "offsets of three": Fault(header(_set("a", data_offsets=[0, 16, 24])), "whole numbers"),
    "offsets beyond the file": Fault(header(_set("b", data_offsets=[16, 24]), data=b"\1" * 20), "truncated"),
    "a hole between tensors": Fault(header(_set("b", data_offsets=[20, 28]), data=b"\1" * 28), "hole"),
    "a hole before the first": Fault(header(lambda rows: {"a": {**rows["a"], "data_offsets": [8, 24]}}), "hole"),
    "tensors that overlap": Fault(header(_set("b", data_offsets=[8, 16]), data=b"\1" * 16), "overlap"),
    "tensors that are the same bytes": Fault(
        header(lambda rows: {"a": rows["a"], "c": rows["a"]}, data=b"\1" * 16), "overlap"
    ),
    "an entry without a shape": Fault(header(lambda rows: rows["a"].pop("shape") and None), "once each"),
    "an entry that is a list": Fault(header(lambda rows: rows.update(a=[])), "once each"),
    "a name twice": Fault(
        header(
            lambda rows: (
                b'{"a":{"dtype":"F32","shape":[6],"data_offsets":[0,24]},"a":{"dtype":"F32","shape":[6],"data_offsets":[0,24]}}'
            )
        ),
        "twice",
    ),
    "metadata of numbers": Fault(header(lambda rows: rows.update(__metadata__={"step": 3})), "__metadata__"),
    "half a byte": Fault(
        header(lambda rows: {"q": {"dtype": "F4", "shape": [3], "data_offsets": [0, 1]}}, data=b"\1"), "no size"
    ),
    "tensor bytes behind the last": Fault(header(lambda rows: None, data=b"\1" * 25), "follow"),
    "torch's ZIP under another name": Fault(torch_zip(tensors, "model.safetensors"), "its name says safetensors"),
    "aria2 not done": Fault(_beside(".aria2"), "aria2"),
    "no data.pkl": Fault(rebuilt(_without("data.pkl")), "data.pkl"),
    "a storage without its record": Fault(rebuilt(_without("data/0")), "no record"),
    "a record too short": Fault(rebuilt(_with("data/0", lambda data: data[:-4])), "data.pkl says"),
    "a record too long": Fault(rebuilt(_with("data/0", lambda data: data + b"\0" * 64)), "data.pkl says"),
    "a record emptied": Fault(rebuilt(_with("data/1", lambda data: b"")), "data.pkl says"),
    "a record that nothing names": Fault(rebuilt(_with("data/99", lambda data: b"1234")), "no tensor"),
    "byteorder nonsense": Fault(rebuilt(_with("byteorder", lambda data: b"middle")), "byteorder"),
    "data.pkl cut": Fault(rebuilt(_with("data.pkl", lambda data: data[:-9])), "breaks off"),
    "data.pkl with more behind it": Fault(rebuilt(_with("data.pkl", lambda data: data + b"N.")), "follow the pickle"),
    "data.pkl that is no pickle": Fault(rebuilt(_with("data.pkl", lambda data: b"\xff" * 20)), "no sense"),
    "sharded: a shard missing": Fault(sharded(_drop("model-00002-of-00003.safetensors")), "1 of 3 shards"),
    "sharded: all missing": Fault(
        sharded(lambda folder, index: [path.unlink() for path in folder.glob("*.safetensors")]), "3 of 3 shards"
    ),
    "sharded: two shards swapped": Fault(sharded(_swap), "another shard"),
    "sharded: a shard twice": Fault(sharded(_copy_over), "in no shard"),
    "sharded: a ghost in the index": Fault(
        sharded(_move("ghost", "model-00001-of-00003.safetensors")), "lacks 'ghost'"
    ),
    "sharded: a tensor not in the index": Fault(
        sharded(lambda folder, index: index["weight_map"].pop("mask") is None), "not in the index"
    ),
    "sharded: out of the folder": Fault(sharded(_move("mask", "../other.safetensors")), "outside"),
    "sharded: an empty map": Fault(sharded(lambda folder, index: index["weight_map"].clear()), "empty"),
    "sharded: no map": Fault(sharded(lambda folder, index: index.pop("weight_map") and None), "no weight_map"),
    "sharded: a shard cut": Fault(
        sharded(lambda folder, index: _cut(folder / "model-00001-of-00003.safetensors")), "truncated"
    ),
    "sharded: not all, and no index": Fault(lambda folder: _cut_set(folder), "1 of 3 shards"),
    "sharded: the index cut": Fault(lambda folder: _cut_index(folder), "no JSON"),
    "sharded: an answer behind the index": Fault(lambda folder: _answered(folder), "no JSON"),
    "a config that was cut": Fault(lambda folder: _cut_config(folder), "no JSON"),
    "an entry that is a number": Fault(header(lambda rows: rows.update(a=5)), "once each"),
    "a name of a download": Fault(lambda folder: _renamed(safe(tensors)(folder), ".incomplete"), "not finished"),
    "weights never gathered": Fault(
        safe(lambda: {f"layers.{n}.weight": torch.zeros(0) for n in range(3)}), "never gathered"
    ),
    "a subfolder with a cut file": Fault(lambda folder: _cut_pipeline(folder), "vae/model.safetensors: truncated"),
    "an empty folder": Fault(lambda folder: folder, "empty"),
}


def _raw(folder: Path, data: bytes, name: str = "model.safetensors") -> Path:
    (folder / name).write_bytes(data)
    return folder / name


def _cut_config(folder: Path) -> Path:
    _with_notes(folder)
    (folder / "config.json").write_text('{"model_type": "ll')
    return folder


def _renamed(path: Path, suffix: str) -> Path:
    return path.rename(path.with_name(path.name + suffix))


def _cut_pipeline(folder: Path) -> Path:
    _pipeline(folder)
    _cut(folder / "vae" / "model.safetensors")
    return folder


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-200])


def _cut_set(folder: Path) -> Path:
    _no_index(folder)
    (folder / "model-00002-of-00003.safetensors").unlink()
    return folder


def _cut_index(folder: Path) -> Path:
    sharded()(folder)
    path = folder / "model.safetensors.index.json"
    path.write_bytes(path.read_bytes()[:-3])
    return folder


def _answered(folder: Path) -> Path:
    sharded()(folder)
    path = folder / "model.safetensors.index.json"
    path.write_bytes(path.read_bytes() + b"416 Range Not Satisfiable")
    return folder


# Pickles that would do harm.


def call(module: str, name: str, *args: object, protocol: int = 2) -> bytes:
    """A pickle that would call a function, by opcode: the names are nothing here."""
    if protocol < 4:
        function = b"c%s\n%s\n" % (module.encode(), name.encode())
    else:
        function = b"\x8c%c%s\x8c%c%s\x93" % (len(module), module.encode(), len(name), name.encode())
    body = b"".join(pickle.dumps(arg, 2)[2:-1] for arg in args)
    return b"\x80%c" % protocol + function + b"(" + body + b"tR."


def evil(marker: str) -> dict[str, bytes]:
    """Pickles that would run code when loaded, most of them so as to create the file `marker`."""
    touch = f"touch {marker}"
    make = f"open({marker!r}, 'w')"
    return {
        "os.system": call("os", "system", touch),
        "posix.system": call("posix", "system", touch),
        "nt.system": call("nt", "system", touch),
        "os.popen": call("os", "popen", touch),
        "subprocess.Popen": call("subprocess", "Popen", ["touch", marker]),
        "subprocess.check_output": call("subprocess", "check_output", ["touch", marker]),
        "commands.getoutput, as Python 2 has it": call("commands", "getoutput", touch),
        "builtins.eval": call("builtins", "eval", make),
        "__builtin__.eval, as Python 2 has it": call("__builtin__", "eval", make),
        "builtins.exec": call("builtins", "exec", make),
        "builtins.open": call("builtins", "open", marker, "w"),
        "builtins.getattr": call("builtins", "getattr", 1, "real"),
        "builtins.__import__": call("builtins", "__import__", "antigravity"),
        "runpy.run_path": call("runpy", "run_path", marker),
        "pty.spawn": call("pty", "spawn", "/bin/true"),
        "webbrowser.open": call("webbrowser", "open", "http://127.0.0.1:1/"),
        "shutil.rmtree": call("shutil", "rmtree", marker),
        "socket.create_connection": call("socket", "create_connection", ("127.0.0.1", 1)),
        "pydoc.pipepager": call("pydoc", "pipepager", "x", touch),
        "timeit.timeit": call("timeit", "timeit", make),
        "torch.load": call("torch", "load", marker),
        "pickle.loads": call("pickle", "loads", b"N."),
        "operator.attrgetter": call("operator", "attrgetter", "system"),
        "importlib.import_module": call("importlib", "import_module", "os"),
        "numpy.load": call("numpy", "load", marker),
        "ctypes.CDLL": call("ctypes", "CDLL", "libc.so.6"),
        "a dotted name through a harmless module": call("torch.serialization", "os.system", touch, protocol=4),
        "a dotted name through torch._utils": call("torch._utils", "sys.modules", protocol=4),
        "an extension code": b"\x80\x02\x82\x01(tR.",
        "by INST": b"(S'%s'\nios\nsystem\n." % touch.encode(),
        "by OBJ": b"(cos\nsystem\nS'%s'\no." % touch.encode(),
        "by NEWOBJ": b"\x80\x02csubprocess\nPopen\n(]X\x04\x00\x00\x00truea\x85\x81.",
        "by BUILD on a class": b"\x80\x02ccollections\nOrderedDict\n(N}X\x01\x00\x00\x00aK\x01st" + b"b.",
        "before it breaks off": call("os", "system", touch)[:-1],
        "behind a harmless value": b"\x80\x02N0" + call("os", "system", touch)[2:],
        "named, not called": b"\x80\x02cos\nsystem\n.",
        "protocol 4": call("os", "system", touch, protocol=4),
        "a name that is put together": b"\x80\x04\x8c\x02oscbuiltins\nstr\n\x8c\x06system\x85R\x93)R.",
    }
