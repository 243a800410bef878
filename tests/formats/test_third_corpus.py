"""What a third corpus found, by somebody who had read nothing: each case stands for a rule."""

from __future__ import annotations

import argparse
import functools
import io
import itertools
import json
import pickle
import shutil
import tarfile
import zipfile

import format_writers as w
import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from verikit import checkpoint_layout
from verikit.checks.checkpoint import CheckpointIntact
from verikit.errors import Cause
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS, UNKNOWN


def look(path, **claims):
    return examine_here(CheckpointIntact(str(path), **claims))


def doubted(found, words):
    """Whether it is a sign that settles nothing, with these words."""
    return (found.verdict, found.cause) == (UNKNOWN, Cause.AMBIGUOUS) and words in found.reason


def warned(found, words):
    return any(words in warning for warning in found.warnings)


# Megatron's folders of ranks.


def ranks(root, tensor=1, pipeline=1, expert=1, *, args=None, model=None, lost=lambda *rank: False):
    """The older layout as Megatron names it: a stage and an expert's group have a number where there are several."""
    sizes = {
        "tensor_model_parallel_size": tensor,
        "pipeline_model_parallel_size": pipeline,
        "expert_model_parallel_size": expert,
    }
    args = argparse.Namespace(**(sizes if args is None else args))
    for t, p, e in itertools.product(range(tensor), range(pipeline), range(expert)):
        if not lost(t, p, e):
            name = f"mp_rank_{t:02d}" + (f"_{p:03d}" if pipeline > 1 else "") + (f"_{e:03d}" if expert > 1 else "")
            folder = root / "iter_0000010" / name
            folder.mkdir(parents=True)
            weights = {"w": torch.randn(20, 20)} if model is None else model
            torch.save({"args": args, "iteration": 10, "model": weights}, folder / "model_optim_rng.pt")
    (root / "latest_checkpointed_iteration.txt").write_text("10")
    return root


LOST = {
    "tensor-parallel ranks": ((2, 2, 2), lambda t, p, e: t == 1),
    "pipeline stages": ((2, 2, 1), lambda t, p, e: p == 1),
    "pipeline stages, with experts": ((2, 3, 2), lambda t, p, e: p == 2),
    "expert-parallel ranks": ((1, 2, 2), lambda t, p, e: e == 1),
    "expert-parallel ranks, of one stage": ((2, 1, 4), lambda t, p, e: e == 3),
}


@pytest.mark.parametrize("what", LOST)
def test_all_ranks_of_a_kind_are_gone(tmp_path, what):
    """
    The grid of the folders that are left is complete; how large it was stands in the arguments within.
    """
    sizes, lost = LOST[what]
    assert look(ranks(tmp_path / "whole", *sizes)).verdict is PASS

    found = look(ranks(tmp_path / "lacking", *sizes, lost=lost))

    assert found.verdict is FAIL
    assert what.partition(",")[0] in found.reason


def test_stages_that_no_name_counts(tmp_path):
    """
    Arguments that speak of two stages, and folders that have no number for one: the second is nowhere.
    """
    found = look(ranks(tmp_path / "c", 2, args={"pipeline_model_parallel_size": 2}))

    assert found.verdict is FAIL
    assert "2 pipeline stages, 1 are there" in found.reason


def test_forks_that_do_not_name_experts(tmp_path):
    """
    Some forks keep all experts in the folders of tensor-parallel ranks; a converter may leave no arguments at all.
    """
    experts = look(ranks(tmp_path / "c", 2, args={"expert_model_parallel_size": 4}))
    nothing = look(ranks(tmp_path / "d", 2, args={}))

    assert (experts.verdict, nothing.verdict) == (PASS, PASS)


MODELS = {
    "one matrix": {"w": torch.randn(20, 20)},
    "a large matrix": {"w": torch.randn(300, 300)},
    "vectors": {"norm": torch.randn(100)},
    "many": {"a": torch.randn(20, 20), "b": torch.randn(20, 20), "norm": torch.ones(20)},
}


@pytest.mark.parametrize("depth", ["structure", "content"])
@pytest.mark.parametrize("name", MODELS)
def test_a_rank_that_is_a_copy(tmp_path, name, depth):
    """
    The file of one rank in the place of another's is UNKNOWN, however few tensors it holds.
    """
    path = ranks(tmp_path / "c", 2, model=MODELS[name])
    file = path / "iter_0000010" / "mp_rank_00" / "model_optim_rng.pt"
    shutil.copy(file, path / "iter_0000010" / "mp_rank_01" / file.name)

    assert doubted(look(path, depth=depth), "record for record")


def test_ranks_that_share_all_tensors(tmp_path):
    """
    A matrix of which each rank keeps the same values (a router's, positions) is no copy where anything else is its own.
    """
    path = ranks(tmp_path / "c", 2, model=MODELS["one matrix"])
    for rank in range(2):
        args = argparse.Namespace(rank=rank, tensor_model_parallel_size=2)
        folder = path / "iter_0000010" / f"mp_rank_{rank:02d}"
        torch.save({"args": args, "iteration": 10, "model": MODELS["one matrix"]}, folder / "model_optim_rng.pt")

    assert look(path).verdict is PASS


# JSON files beside weights.

MEMBERS = {
    "a model's config": "config.json",
    "another of its configs": "generation_config.json",
    "a tokenizer": "tokenizer.json",
    "a vocabulary": "vocab.json",
    "an index": "model.safetensors.index.json",
    "an adapter's config": "adapter_config.json",
    "a pipeline's index": "model_index.json",
    "a trainer's state": "trainer_state.json",
}


def beside_weights(folder, name, size, first=b"{", last=b"}"):
    """Weights, and a file of that size that is a hole between its ends."""
    folder.mkdir()
    save_file({"w": torch.ones(3)}, folder / "model.safetensors")
    (folder / "config.json").write_text("{}")
    with open(folder / name, "wb") as file:
        file.write(first)
        file.seek(size - len(last))
        file.write(last)
        file.truncate(size)
    return folder


@pytest.mark.parametrize("size", [70 << 20, 1 << 40])
@pytest.mark.parametrize("what", MEMBERS)
def test_a_member_too_big_to_be_read(tmp_path, what, size):
    """
    What is not read is said: UNKNOWN, or a warning where nothing in it is held against the weights.
    """
    found = look(beside_weights(tmp_path / "c", MEMBERS[what], size))

    if what in ("a tokenizer", "a vocabulary"):
        assert found.verdict is PASS, found.reason
        assert warned(found, "only the first and the last were looked at")
    else:
        assert (found.verdict, found.cause) == (UNKNOWN, Cause.BOUND_REACHED), found.reason


@pytest.mark.parametrize("ends", [(b"{", b""), (b"", b""), (b"{", b"<html>"), (b"{", b"]"), (b"\1", b"}")])
@pytest.mark.parametrize("what", ["a model's config", "a tokenizer", "an index"])
def test_a_big_member_that_is_no_json(tmp_path, what, ends):
    """
    However big, what does not begin and end as JSON does is FAIL.
    """
    found = look(beside_weights(tmp_path / "c", MEMBERS[what], 1 << 40, *ends))

    assert found.verdict is FAIL, found.reason
    assert "no JSON" in found.reason


# Shards.


def shards(folder, *numbers, total=5, name="model", index=True, ending="safetensors"):
    """Those of a set of `total` that are there; their index names all of them."""
    folder.mkdir(exist_ok=True)
    for number in numbers:
        shard(folder / f"{name}-{number:05d}-of-{total:05d}.{ending}", {f"w{number}": torch.ones(3) * number})
    if index:
        rows = {f"w{number}": f"{name}-{number:05d}-of-{total:05d}.{ending}" for number in range(1, total + 1)}
        (folder / f"{name}.{ending}.index.json").write_text(json.dumps({"metadata": {}, "weight_map": rows}))
    return folder


def shard(path, tensors):
    save_file(tensors, path) if path.suffix == ".safetensors" else torch.save(tensors, path)


@pytest.mark.parametrize("index", [True, False], ids=["index", "no index"])
@pytest.mark.parametrize("ending", ["safetensors", "bin"])
@pytest.mark.parametrize(
    ("there", "lost"), [((1, 3, 4, 5), 2), ((2, 3), 1), ((1, 2, 3, 4), 5), ((1, 2, 3, 4, 5), None)]
)
def test_shards_that_count_themselves(tmp_path, there, lost, ending, index):
    """
    A shard that their own names miss is FAIL, for the folder and for the glob that would match it.
    """
    folder = shards(tmp_path / "c", *there, index=index, ending=ending)

    for claim in (folder, folder / f"*.{ending}", folder / "model-*", tmp_path / "**" / f"*-of-*.{ending}"):
        found = look(claim)
        assert found.verdict is (PASS if lost is None else FAIL), (claim, found.reason)
        assert lost is None or f"model-{lost:05d}-of-00005.{ending}" in found.reason


PARTS = ("model-0000[12]-of-00005.safetensors", "model-00001-*", "*-0000?-of-00005.safetensors")


@pytest.mark.parametrize("index", [True, False], ids=["index", "no index"])
def test_a_glob_that_claims_a_part(tmp_path, index):
    """
    Shards that a pattern would not match are not claimed: a warning says that they were not judged.
    """
    folder = shards(tmp_path / "c", 1, 2, index=index)

    part, one, whole = (look(folder / pattern) for pattern in PARTS)

    assert (part.verdict, one.verdict, whole.verdict) == (PASS, PASS, FAIL)
    assert warned(part, "3 of 5 shards are not among the files that match")
    assert warned(one, "4 of 5 shards are not among the files that match")


def test_shards_of_another_set_beside_a_whole_one(tmp_path):
    """
    What is left of an older set, which the index does not name, is no fault of the set that it names.
    """
    folder = shards(tmp_path / "c", 1, 2, 3, total=3)
    shards(folder, 7, total=9, index=False)

    assert [look(folder).verdict, look(folder / "*.safetensors").verdict] == [PASS, PASS]
    assert warned(look(folder), "weights that the index does not name")
    assert warned(look(folder / "*.safetensors"), "8 of 9 shards are not among the files that match")


def test_ranks_of_a_glob(tmp_path):
    """
    The shards of ranks are counted under a glob as in a folder.
    """
    for rank in (1, 3):
        save_file({"w": torch.ones(2)}, tmp_path / f"shard-{rank:05d}-model-00001-of-00001.safetensors")

    assert "1 of 3 shards is missing, shard-00002" in look(tmp_path / "*.safetensors").reason


def test_names_that_claim_any_number(tmp_path):
    """
    A name of ten million shards, or one that a format would trip over, is told at once.
    """
    for name in ("m-000001-of-999999.bin", "shard-999999999-x.safetensors", "{0}%s-00001-of-00002.bin"):
        shard(tmp_path / name, {name: torch.ones(2)})

    for claim in (tmp_path, tmp_path / "*"):
        assert look(claim).verdict is FAIL


STRAYS = {
    "extra.safetensors": ({"other": torch.ones(3)}, "weights that the index does not name"),
    "model.safetensors": ({"other": torch.ones(3)}, "weights that the index does not name"),
    "model-00006-of-00006.safetensors": ({"w6": torch.ones(3)}, "weights that the index does not name"),
    "copy.safetensors": ({"w1": torch.ones(3)}, "tensors of the same names"),
    "optimizer.safetensors": ({"state.0.exp_avg": torch.ones(3, 2)}, None),
    "metadata-only.safetensors": ({}, None),
}


@pytest.mark.parametrize("name", STRAYS)
def test_a_stray_beside_an_index(tmp_path, name):
    """
    Weights that no index names are a warning: some loaders take in every file, some take `model.safetensors` first.
    """
    tensors, words = STRAYS[name]
    folder = shards(tmp_path / "c", 1, 2, 3, 4, 5)
    save_file(tensors, folder / name)

    found = look(folder)

    assert found.verdict is PASS, found.reason
    assert warned(found, "loaders differ") is (words is not None)
    assert words is None or warned(found, f"{name}: {words}") or warned(found, f"{name} has {words}")


def test_two_indexes_in_one_folder(tmp_path):
    """
    Shards that another index names are no strays.
    """
    folder = shards(shards(tmp_path / "c", 1, 2, total=2), 1, 2, total=2, name="variant")

    found = look(folder)

    assert found.verdict is PASS
    assert not warned(found, "variant-00001")


# ONNX.

FIELDS = {"float": 4, "int32": 5, "string": 6, "int64": 7, "raw": 9, "double": 10, "uint64": 11}
# data_type: the one field, beside raw_data, that onnx.proto gives to it; and the bits of an element.
KINDS = {
    1: ("float", 32), 2: ("int32", 8), 3: ("int32", 8), 4: ("int32", 16), 5: ("int32", 16), 6: ("int32", 32),
    7: ("int64", 64), 8: ("string", 8), 9: ("int32", 8), 10: ("int32", 16), 11: ("double", 64), 12: ("uint64", 32),
    13: ("uint64", 64), 14: ("float", 64), 15: ("double", 128), 16: ("int32", 16), 17: ("int32", 8), 18: ("int32", 8),
    19: ("int32", 8), 20: ("int32", 8), 21: ("int32", 4), 22: ("int32", 4), 23: ("int32", 4), 24: ("int32", 8),
    25: ("int32", 2), 26: ("int32", 2), 27: ("int32", 6), 28: ("int32", 6),
}  # fmt: skip


def filled(where, kind, count, loose=False):
    """The bytes of a field that holds `count` elements of a kind; loose: one by one, as older writers did."""
    number, bits = FIELDS[where], KINDS.get(kind, (None, 32))[1]
    values = count * (2 if kind in (14, 15) and where != "raw" else 1)
    if where == "raw":
        return w.field(number, bytes((count * bits + 7) // 8))
    if where == "string":
        return b"".join(w.field(number, "") for _ in range(count))
    each = {"float": bytes(4), "double": bytes(8)}.get(where, w.varint(300))
    if loose:
        wire = {"float": 5, "double": 1}.get(where, 0)
        return (w.varint(number << 3 | wire) + each) * values
    return w.field(number, each * values)


def model(path, kind, fields, dims=(5,)):
    return w.onnx_model(path / "x.onnx", [w.onnx_tensor("w", dims, kind) + fields])


@pytest.mark.parametrize("kind", KINDS)
def test_elements_in_every_field(tmp_path, kind):
    """
    Elements of a type are in raw_data or in the one field that the format gives to it; in any other no loader finds them.
    """
    right = {KINDS[kind][0], *(["raw"] if kind != 8 else [])}
    for where in FIELDS:
        found = look(model(tmp_path, kind, filled(where, kind, 5)))
        assert found.verdict is (PASS if where in right else FAIL), (where, found.reason)
        assert where in right or f"elements in {where}_data" in found.reason


@pytest.mark.parametrize("loose", [False, True], ids=["packed", "one by one"])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if KINDS[kind][1] >= 8])
def test_as_many_elements_as_the_shape_says(tmp_path, kind, loose):
    """
    One fewer or one more in the field of a type is FAIL, and so is one in a tensor of none; none there is right.
    """
    where = KINDS[kind][0]

    for dims, count in [((5,), 4), ((5,), 6), ((5,), 0), ((0, 3), 1)]:
        assert look(model(tmp_path, kind, filled(where, kind, count, loose), dims)).verdict is FAIL
    for dims, count in [((5,), 5), ((), 1), ((0, 3), 0)]:
        found = look(model(tmp_path, kind, filled(where, kind, count, loose), dims))
        assert found.verdict is PASS, found.reason


@pytest.mark.parametrize(("count", "verdict"), [(2, FAIL), (3, PASS), (5, PASS), (6, FAIL)])
def test_elements_that_share_their_bytes(tmp_path, count, verdict):
    """
    Elements of four bits are packed two to a number, or stand one to a number: writers did both.
    """
    assert look(model(tmp_path, 22, filled("int32", 22, count))).verdict is verdict


@pytest.mark.parametrize(("stored", "verdict"), [(5000, PASS), (400, FAIL), (60_000, FAIL)])
def test_many_numbers_of_any_width(tmp_path, stored, verdict):
    """
    Of many numbers whose width is their own it is known how many they may be: from a tenth of their bytes to all of them.
    """
    assert look(model(tmp_path, 7, filled("int64", 7, stored), (5000,))).verdict is verdict


@pytest.mark.parametrize(("kind", "verdict"), [(0, FAIL), (29, UNKNOWN), (99, UNKNOWN)])
def test_a_type_that_is_none(tmp_path, kind, verdict):
    """
    UNDEFINED is no type of a tensor; a number beyond the table may be one of a newer ONNX.
    """
    assert look(model(tmp_path, kind, filled("raw", kind, 5))).verdict is verdict


# Flax.


def chunked(*names, shape=None):
    """An array of 2 elements a chunk as Flax cuts it up, its chunks under these names."""
    shape = {"0": 2, "1": len(names)} if shape is None else shape
    return {
        "__msgpack_chunked_array__": True,
        "shape": shape,
        "chunks": {name: np.ones(2, np.float32) for name in names},
    }


CHUNKED = {
    "three": (chunked("0", "1", "2"), None),
    "three, in another order": (chunked("2", "0", "1"), None),
    "one": (chunked("0"), None),
    "a gap": (chunked("0", "2"), "the chunk 1 is missing"),
    "the first is gone": (chunked("1", "2"), "the chunk 0 is missing"),
    "other names": (chunked("00", "01"), "the chunk 0 is missing"),
    "a gap in the shape": (chunked("0", "1", shape={"0": 2, "2": 2}), "has no shape"),
    "a shape in another order": (chunked("0", "1", "2", shape={"1": 3, "0": 2}), None),
    "no shape": ({"__msgpack_chunked_array__": True, "chunks": {"0": np.ones(2)}}, "has no shape"),
    "no chunks": ({"__msgpack_chunked_array__": True, "shape": {"0": 2}}, "none of them"),
    "empty chunks": (chunked(shape={"0": 0}), "none of them"),
    "a chunk that is no array": (
        {**chunked("0", "1"), "chunks": {"0": np.ones(4), "1": "text"}},
        "the chunk 1 is missing",
    ),
    "too few elements": (chunked("0", "1", shape={"0": 5}), "chunks hold 4 elements"),
}


@pytest.mark.parametrize("where", ["in a tree", "alone"])
@pytest.mark.parametrize("name", CHUNKED)
def test_arrays_in_chunks(tmp_path, name, where):
    """
    Flax puts the chunks 0, 1, 2 … of an array together, and gives it the shape that is kept in the same way.
    """
    value, words = CHUNKED[name]

    found = look(w.flax(tmp_path / "x.msgpack", value if where == "alone" else {"params": {"w": value}}))

    assert found.verdict is (FAIL if words else PASS), found.reason
    assert words is None or words in found.reason


def test_trees_with_numbers_for_names(tmp_path):
    """
    `msgpack_serialize` keeps the keys of a tree that are numbers, and newer Flax takes them (lists of nnx); a number among
    names may be a damaged one.
    """
    layers = {0: {"w": np.ones(3)}, 1: {"w": np.ones(3)}}

    assert look(w.flax(tmp_path / "top.msgpack", layers)).verdict is PASS
    assert look(w.flax(tmp_path / "within.msgpack", {"layers": layers, "step": 1})).verdict is PASS
    assert "twice" in look(w.raw(tmp_path / "twice.msgpack", b"\x82\0\x81\1\1\0\x81\1\1")).reason
    assert doubted(look(w.flax(tmp_path / "mixed.msgpack", {"w": 1, 98: 2})), "keys that are numbers")


# torch's ZIP.


def zipped_anew(path, change, value=None):
    """A file of torch's whose records, {name without the folder: bytes}, went through `change`."""
    kept = io.BytesIO()
    torch.save({"w": torch.ones(3)} if value is None else value, kept)
    with zipfile.ZipFile(kept) as file:
        records = {name.partition("/")[2]: file.read(name) for name in file.namelist()}
    with zipfile.ZipFile(path, "w") as file:
        for name, data in change(records).items():
            file.writestr("m/" + name, data)
    return path


def without(*names):
    return lambda records: {name: data for name, data in records.items() if name not in names}


def versioned(text, name="version"):
    return lambda records: {name if each == "version" else each: text if each == "version" else data
                            for each, data in records.items()}  # fmt: skip


ID = ".data/serialization_id"
VERSIONS = {
    "none": (without("version", ID), FAIL),
    "none, with the id": (without("version"), FAIL),
    "none, no byte order": (without("version", "byteorder", ID), FAIL),
    "no id, as before torch 2.1": (without(ID, "byteorder", ".format_version", ".storage_alignment"), PASS),
    "as torch.package keeps it": (versioned(b"3\n", ".data/version"), PASS),
    "another word of it there": (lambda records: {**records, ".data/version": b"x"}, FAIL),
    "1": (versioned(b"1"), PASS),
    "10": (versioned(b"10\n"), PASS),
    "a space before it": (versioned(b" 3"), PASS),
    "something behind it": (versioned(b"3 of them"), PASS),
    "0": (versioned(b"0\n"), FAIL),
    "hexadecimal": (versioned(b"0x3"), FAIL),
    "less than none": (versioned(b"-1"), FAIL),
    "empty": (versioned(b""), FAIL),
    "no number": (versioned(b"three"), FAIL),
    "beyond all": (versioned(b"99999999999999999999"), FAIL),
    "one to come": (versioned(b"11\n"), UNKNOWN),
}


@pytest.mark.parametrize("name", VERSIONS)
def test_the_version_of_a_file(tmp_path, name):
    """
    What torch 2.13 does not open for its version is FAIL, what a newer one may is UNKNOWN; the id is not asked for.
    """
    change, verdict = VERSIONS[name]
    first = without(*([ID] if name != "none, with the id" else []))  # which tells that the records were changed
    path = zipped_anew(tmp_path / "m.pt", lambda records: change(first(records)))

    found = look(path)

    assert found.verdict is verdict, found.reason
    assert verdict is not FAIL or "version" in found.reason
    assert opens(path) is (verdict is PASS)


def opens(path):
    try:
        torch.load(path)
    except (RuntimeError, IndexError):
        return False
    return True


def test_the_version_of_a_package(tmp_path):
    """
    torch.package opens its archives by the same reader.
    """
    with torch.package.PackageExporter(tmp_path / "p.pt") as exporter:
        exporter.save_pickle("model", "w.pkl", {"w": torch.ones(3)})
    assert look(tmp_path / "p.pt").verdict is PASS

    with zipfile.ZipFile(tmp_path / "p.pt") as file:
        records = {name: file.read(name) for name in file.namelist() if not name.endswith("version")}
    with zipfile.ZipFile(tmp_path / "q.pt", "w") as file:
        for name, data in records.items():
            file.writestr(name, data)

    assert "no record `version`" in look(tmp_path / "q.pt").reason


# Models by their config.


def language_model(folder, lost, *, layers=4, tied=True, rename=lambda name: name, **config):
    """A small causal language model of which `lost(name)` tensors are missing."""
    path = w.model(folder, layers=layers, config={"num_hidden_layers": layers, "tie_word_embeddings": tied, **config})
    rows = load_file(path / "model.safetensors")
    rows["model.rotary_emb.inv_freq"] = torch.ones(4)
    rows["model.embed_positions.weight"] = torch.ones(16, 8)
    save_file({rename(name): each for name, each in rows.items() if not lost(name)}, path / "model.safetensors")
    return path


def gpt2(name):
    """Names as GPT-2 has them."""
    name = name.replace("model.layers", "transformer.h").replace("model.embed_tokens", "transformer.wte")
    return name.replace("model.norm", "transformer.ln_f").replace("model.embed_positions", "transformer.wpe")


def bare(name):
    """Names without what stands before `h`, as the first GPT-2 has them on the hub."""
    return gpt2(name).replace("transformer.", "")


SPELLINGS = {
    "as Llama": (lambda name: name, {}),
    "as GPT-2": (gpt2, {"architectures": ["GPT2LMHeadModel"]}),
    "bare": (bare, {"architectures": ["GPT2LMHeadModel"]}),
}


def nothing(name):
    return False


def head(name):
    return name.startswith("lm_head")


def head_and_embedding(name):
    return head(name) or "embed_tokens" in name


@pytest.mark.parametrize("tied", [True, False, None])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_language_model_without_its_tokens(tmp_path, spelling, tied):
    """
    A causal model with neither an embedding nor a head has lost both, tied or not; without a name before its layers it may be
    the draft of another, which uses theirs.
    """
    rename, config = SPELLINGS[spelling]
    sure = spelling != "bare"
    make = functools.partial(language_model, tied=tied, rename=rename, **config)

    assert look(make(tmp_path / "whole", nothing)).verdict is PASS
    assert look(make(tmp_path / "headless", head)).verdict is (FAIL if tied is False and sure else PASS)
    found = look(make(tmp_path / "lost", head_and_embedding))
    assert found.verdict is (FAIL if sure else UNKNOWN), found.reason
    assert "neither an embedding nor a head" in found.reason


@pytest.mark.parametrize("name", ["transformer.w.weight", "model.tok.weight", "backbone.embeddings.weight"])
def test_an_embedding_by_another_name(tmp_path, name):
    """
    What is called like one, or has as many rows as the config says there are tokens, is an embedding.
    """
    rename = lambda each: name if "embed_tokens" in each else each  # noqa: E731
    path = language_model(tmp_path / "c", head, rename=rename, architectures=["CTRLLMHeadModel"], vocab_size=50)

    assert look(path).verdict is PASS


@pytest.mark.parametrize("layers", [3, 4, 6])
@pytest.mark.parametrize("what", ["self_attn.q_proj.weight", "input_layernorm.weight"])
def test_a_middle_layer_of_a_few(tmp_path, what, layers):
    """
    One layer in the middle that lacks what those at both ends have is UNKNOWN, of three layers as of more.
    """
    path = language_model(tmp_path / "c", lambda name: name == f"model.layers.1.{what}", layers=layers)

    assert doubted(look(path), f"lacks {what}")


@pytest.mark.parametrize("layers", [3, 4, 6])
def test_layers_of_two_kinds(tmp_path, layers):
    """
    A first or last layer of its own kind, and kinds in turn, are as meant.
    """
    for odd in ((0,), (layers - 1,), range(0, layers, 2) if layers > 3 else (0, 1)):
        lost = [f"model.layers.{number}.self_attn.q_proj.weight" for number in odd]
        path = language_model(tmp_path / f"c{len(lost)}{lost[0][13]}", lost.__contains__, layers=layers)
        assert look(path).verdict is PASS


@pytest.mark.parametrize("layers", [3, 4, 6])
def test_a_layer_of_a_small_adapter(tmp_path, layers):
    """
    An adapter of few layers is told of like one of many; one of two, or of the first ones only, is as meant.
    """
    listed = {"target_modules": ["q_proj", "v_proj"]}
    gone = w.adapter_layers(layers, lambda name: ".1." in name)
    fewer = w.adapter_layers(layers, lambda name: f".{layers - 1}." in name)

    assert doubted(look(w.peft(tmp_path / "gone", tensors=gone, **listed)), "of the adapter lacks")
    assert look(w.peft(tmp_path / "fewer", tensors=fewer, **listed)).verdict is PASS
    assert look(w.peft(tmp_path / "two", tensors=w.adapter_layers(2), **listed)).verdict is PASS


# GGUF.


@pytest.mark.parametrize(("name", "long"), [("n" * 63, False), ("n" * 64, True), ("ü" * 32, True), ("ü" * 31, False)])
def test_names_too_long_for_llama(tmp_path, name, long):
    """
    A tensor's name of 64 bytes or more is one that llama.cpp refuses and builds for image models take: a warning.
    """
    path = w.gguf(tmp_path / "x.gguf", tensors=[(name, (4,), 0, bytes(16))])

    assert look(path).verdict is PASS
    assert warned(look(path), "64 bytes or more") is long


# Distributed checkpoints in safetensors.


def distributed(folder, state):
    """What FileSystemWriter leaves with SerializationFormat.SAFETENSORS."""
    import torch.distributed.checkpoint as checkpoint
    from torch.distributed.checkpoint.filesystem import SerializationFormat

    writer = checkpoint.FileSystemWriter(str(folder), serialization_format=SerializationFormat.SAFETENSORS)
    checkpoint.save(state, storage_writer=writer, no_dist=True)
    return folder


STATES = {
    "tensors": {"w": torch.ones(4, 4)},
    "a number beside them": {"w": torch.ones(4, 4), "step": 3},
    "much beside them": {
        "w": torch.ones(4, 4),
        "b": torch.full((2,), 2.0),
        "step": 3,
        "args": {"lr": 0.1},
        "names": ["a"] * 99,
    },
    "no tensor": {"step": 3},
}


@pytest.mark.parametrize("name", STATES)
def test_what_the_writer_writes(tmp_path, name):
    """
    What is no tensor stands before the file of safetensors: it is there, so it is right, and its tensors have no checksum.
    """
    path = distributed(tmp_path / "c", STATES[name])
    bare = name == "no tensor"

    content = look(path, depth="content")

    assert look(path).verdict is PASS, look(path).reason
    assert (content.verdict, content.cause) == ((PASS, None) if bare else (UNKNOWN, Cause.NOTHING_SEEN)), content.reason
    assert bare or look(path, depth="content", finite=True).verdict is PASS
    assert bare or checkpoint_layout(path)["w"].shape == (4, 4)


@pytest.mark.parametrize("name", ["a number beside them", "much beside them"])
def test_damage_to_both_parts(tmp_path, name):
    """
    A cut, bytes behind, a hole, zeros in what is no tensor, another shape: FAIL at structure; a NaN where values are looked at.
    """
    whole = (distributed(tmp_path / "c", STATES[name]) / "__0_0.distcp").read_bytes()
    begin = whole.index(b'{"__metadata__"') - 8

    for damaged in (whole[:-1], whole[: begin + 40], whole[:begin], whole[: begin // 2], whole + b"x", whole[begin:],
                    whole[:begin] + b"x" + whole[begin:], bytes(begin) + whole[begin:],
                    whole.replace(b"[4,4]", b"[2,8]"), whole.replace(b'"w"', b'"v"')):  # fmt: skip
        (tmp_path / "c" / "__0_0.distcp").write_bytes(damaged)
        assert look(tmp_path / "c").verdict is FAIL, damaged[:99]

    (tmp_path / "c" / "__0_0.distcp").write_bytes(
        whole.replace(np.ones(4, "<f4").tobytes(), np.full(4, np.nan, "<f4").tobytes())
    )
    found = look(tmp_path / "c", depth="content", finite=True)
    assert found.verdict is FAIL
    assert "'w' has 16 NaN" in found.reason


# The hub's local_dir.


@pytest.mark.parametrize("cut", [0, 20, 41, 60, 104, 105, 106])
def test_metadata_of_a_download_cut(tmp_path, cut):
    """
    Where the client's own metadata of a file are cut its hash is not known, or not sure: a warning, and no PASS at content.
    """
    path = w.hub_local(tmp_path / "c")
    notes = path / ".cache" / "huggingface" / "download" / "model.safetensors.metadata"
    assert not look(path).warnings
    w.cut(notes, cut)

    found, content = look(path), look(path, depth="content")

    assert found.verdict is PASS
    assert warned(found, "has not its three lines")
    assert content.verdict is (PASS if cut > 104 else UNKNOWN)  # the hash is whole


# torch's tar.


def tar(path, **members):
    """A file of torch's oldest kind, of one storage and one tensor."""
    rows = {
        "sys_info": pickle.dumps({"protocol_version": 1000}, 2),
        "pickle": pickle.dumps({}, 2),
        "storages": pickle.dumps(0, 2) + pickle.dumps([], 2),
        "tensors": pickle.dumps(0, 2),
    }
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as file:
        for name, data in {**rows, **members}.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            file.addfile(info, io.BytesIO(data))
    return path


EVIL = b"\x80\2cos\nsystem\nX\4\0\0\0true\x85R."


@pytest.mark.parametrize("name", ["sys_info", "more", "pickle", "storages", "tensors"])
def test_every_pickle_of_a_tar(tmp_path, name):
    """
    A member that torch does not read is a pickle all the same, for whoever opens the archive by other means.
    """
    assert look(tar(tmp_path / "good.pt")).verdict is PASS

    found = look(tar(tmp_path / "m.pt", **{name: EVIL}))

    assert found.verdict is FAIL
    assert "would call os.system" in found.reason


@pytest.mark.parametrize("data", [b"", b"text", b"\x80\2}", bytes(600)])
def test_sys_info_that_says_nothing(tmp_path, data):
    """
    torch reads nothing of sys_info, so what it holds is no fault.
    """
    assert look(tar(tmp_path / "m.pt", sys_info=data)).verdict is PASS


# numpy's arrays in pickles.

LARGE = np.ones((300, 300), "f4")  # more than the walk of a pickle keeps of a text or of bytes
SCATTERED = np.where(np.arange(90_000).reshape(300, 300) == 7 * 300 + 9, np.nan, LARGE).astype("f4")
ARRAYS = {
    "finite": (np.arange(3.0), None),
    "none": (np.zeros((0, 3)), None),
    "whole numbers": (np.arange(4), None),
    "text": (np.array(["nan"]), None),
    "dates": (np.array(["2020"], "M8[s]"), None),
    "large": (LARGE, None),
    "masked": (np.ma.masked_array([1.0, 2.0], [0, 1]), None),
    "NaN and Inf": (np.array([1, np.nan, np.inf]), "has 1 NaN and 1 Inf, the first at [1]"),
    "half": (np.array([1, np.nan], "f2"), "has 1 NaN, the first at [1]"),
    "the other byte order": (np.array([1, np.inf], ">f8"), "has 1 Inf, the first at [1]"),
    "complex": (np.array([1, complex(0, np.nan)]), "has 1 NaN, the first at [1]"),
    "large, one NaN": (SCATTERED, "has 1 NaN, the first at [7, 9]"),
    "large, in Fortran's order": (np.asfortranarray(SCATTERED), "has 1 NaN, the first at [7, 9]"),
    "large, big-endian": (SCATTERED.astype(">f4"), "has 1 NaN, the first at [7, 9]"),
    "within one of objects": (np.array(["a", np.array([np.nan])], object), "has 1 NaN"),
}


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_that_lie_in_a_pickle(tmp_path, name, protocol):
    """
    `finite=True` looks into numpy's arrays, whose elements are text of a pickle or bytes of it, in any file that has one.
    """
    array, words = ARRAYS[name]
    value = {"w": torch.ones(3), "scaler": [{"mean": array}]}
    torch.save(value, tmp_path / "m.pt", pickle_protocol=protocol)
    torch.save(value, tmp_path / "old.pt", pickle_protocol=protocol, _use_new_zipfile_serialization=False)
    (tmp_path / "m.pkl").write_bytes(pickle.dumps({"one": np.ones(2), "scaler": [{"mean": array}]}, protocol))

    for file in ("m.pt", "old.pt", "m.pkl"):
        found = look(tmp_path / file, depth="content", finite=True)
        assert found.verdict is (FAIL if words else PASS), (file, found.reason)
        assert words is None or f"array 'scaler.0.mean{'.4.1' if 'objects' in name else ''}' {words}" in found.reason


UNSEEN = {
    "a NaN that a mask may hide": np.ma.masked_array([1.0, np.nan], [0, 1]),
    "fields": np.zeros(2, [("a", "f4")]),
    "long doubles": np.ones(2, np.longdouble),
}


@pytest.mark.parametrize("name", UNSEEN)
def test_arrays_that_cannot_be_looked_at(tmp_path, name):
    """
    What is in no table of floats, or may be nobody's, is UNKNOWN, unless `keys=` is about something else.
    """
    torch.save({"w": torch.ones(3), "a": UNSEEN[name]}, tmp_path / "m.pt")

    found = look(tmp_path / "m.pt", depth="content", finite=True)

    assert (found.verdict, found.cause) == (UNKNOWN, Cause.UNSUPPORTED), found.reason
    assert "1 pickled arrays can't be looked at, 'a' first" in found.reason
    assert look(tmp_path / "m.pt", depth="content", finite=True, keys="w").verdict is PASS


def test_arrays_in_pickles_within(tmp_path):
    """
    Items of a distributed checkpoint, pickles of a package, a tar, records that are packed.
    """
    import torch.distributed.checkpoint as checkpoint

    bad = np.array([1.0, np.nan])
    checkpoint.save({"w": torch.ones(3), "scaler": {"mean": bad}}, checkpoint_id=tmp_path / "dcp", no_dist=True)
    with torch.package.PackageExporter(tmp_path / "p.pt") as exporter:
        exporter.extern("numpy.**")
        exporter.save_pickle("model", "w.pkl", {"w": torch.ones(3), "mean": bad})
    tar(tmp_path / "tar.pt", pickle=pickle.dumps({"mean": bad}, 2))
    kept = io.BytesIO()
    torch.save({"w": torch.ones(3), "mean": bad}, kept)
    with zipfile.ZipFile(kept) as file, zipfile.ZipFile(tmp_path / "m.pt", "w", zipfile.ZIP_DEFLATED) as packed:
        for name in file.namelist():
            packed.writestr(name, file.read(name))

    for path in ("dcp", "p.pt", "tar.pt", "m.pt"):
        found = look(tmp_path / path, depth="content", finite=True)
        assert found.verdict is FAIL, (path, found.reason)
        assert "has 1 NaN, the first at [1]" in found.reason


def test_a_large_array_in_a_record_that_is_packed(tmp_path):
    """
    An array further on in a pickle that is packed is UNKNOWN: it is nowhere in the file.
    """
    kept = io.BytesIO()
    torch.save({"w": torch.ones(3), "mean": LARGE}, kept)
    with zipfile.ZipFile(kept) as file, zipfile.ZipFile(tmp_path / "m.pt", "w", zipfile.ZIP_DEFLATED) as packed:
        for name in file.namelist():
            packed.writestr(name, file.read(name))

    assert look(tmp_path / "m.pt", depth="content", finite=True).cause is Cause.UNSUPPORTED


def test_a_number_of_numpy_beside_no_weights(tmp_path):
    """
    A best score that nothing has beaten yet may be Inf, as an array without axes too; among weights it is a fault.
    """
    torch.save({"w": {"a": torch.ones(3)}, "best": {"loss": np.array(np.inf)}}, tmp_path / "m.pt")
    torch.save({"w": {"a": torch.ones(3), "scale": np.array(np.inf)}}, tmp_path / "n.pt")

    best, scale = (look(tmp_path / name, depth="content", finite=True) for name in ("m.pt", "n.pt"))

    assert (best.verdict, scale.verdict) == (PASS, FAIL)
    assert warned(best, "a score that nothing has beaten yet")
