"""Sets of shards that count themselves, and the index that speaks of them: what one leaves out, what it names in vain."""

from __future__ import annotations

import hashlib
import json

import pytest
import torch
from safetensors.torch import save_file

from verikit.checks.checkpoint import CheckpointIntact
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS

ENDINGS = ["safetensors", "bin"]


def look(path):
    return examine_here(CheckpointIntact(str(path)))


def warned(found, words):
    return any(words in warning for warning in found.warnings)


def name(number, total=6, ending="safetensors", start="model"):
    return f"{start}-{number:05d}-of-{total:05d}.{ending}"


def shard(path, *numbers):
    """A file with one tensor, of 12 bytes, for each number."""
    tensors = {f"w{number}": torch.ones(3) * number for number in numbers}
    save_file(tensors, path) if path.suffix == ".safetensors" else torch.save(tensors, path)


def written(folder, files, named, total_size=None):
    """A folder of `files` {name: numbers of its tensors}, and an index of `named` {number of a tensor: file}; its path."""
    folder.mkdir(exist_ok=True)
    for file, numbers in files.items():
        (folder / file).parent.mkdir(exist_ok=True)
        shard(folder / file, *numbers)
    ending = next(iter(named.values())).rpartition(".")[2]
    index = {"metadata": {} if total_size is None else {"total_size": total_size}}
    index["weight_map"] = {f"w{number}": file for number, file in named.items()}
    path = folder / f"model.{ending}.index.json"
    path.write_text(json.dumps(index))
    return path


def of_six(there=range(1, 7), named=range(1, 7), ending="safetensors"):
    files = {name(number, ending=ending): [number] for number in there}
    return files, {number: name(number, ending=ending) for number in named}


# What an index leaves out.

HALVES = {
    "its end": ((1, 2, 3), "3 of 6 shards are there but not in the index", 4),
    "one": ((1, 2, 4, 5, 6), "1 of 6 shards is there but not in the index", 3),
    "its beginning": ((4, 5, 6), "3 of 6 shards are there but not in the index", 1),
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("what", HALVES)
def test_shards_that_the_index_does_not_name(tmp_path, what, ending):
    """
    Shards of the index's own set that it does not name are FAIL, in the folder and by the index: loaders leave them.
    """
    named, words, first = HALVES[what]
    index = written(tmp_path / "c", *of_six(named=named, ending=ending))

    for path in (index.parent, index):
        found = look(path)
        assert found.verdict is FAIL, (path, found.reason)
        assert f"{words}, {name(first, ending=ending)} first" in found.reason


def test_a_set_in_a_folder_beneath_its_index(tmp_path):
    """
    The same where the index names files of a folder beneath.
    """
    files = {f"inner/{name(number)}": [number] for number in range(1, 7)}
    index = written(tmp_path / "c", files, {number: f"inner/{name(number)}" for number in (1, 2)})

    assert "4 of 6 shards are there but not in the index" in look(index).reason


def test_shards_that_are_neither_named_nor_there(tmp_path):
    """
    Numbers of the index's own set that are in it no more than in the folder are FAIL.
    """
    index = written(tmp_path / "c", *of_six(there=(1, 2, 3), named=(1, 2, 3)))

    for path in (index.parent, index):
        found = look(path)
        assert found.verdict is FAIL, found.reason
        assert "the index names 3 of the 6 shards" in found.reason


def test_parts_taken_out_with_care(tmp_path):
    """
    Whoever takes parts out of a model, and writes the total of the index anew, has meant it: a warning.
    """
    index = written(tmp_path / "c", *of_six(there=(1, 2, 3), named=(1, 2, 3)), total_size=36)

    assert look(index.parent).verdict is PASS
    assert warned(look(index), "the index names 3 of the 6 shards")


def test_a_set_of_as_many_as_a_name_can_say(tmp_path):
    """
    A name of a million shards is told at once.
    """
    index = written(tmp_path / "c", {name(1, 999999): [1]}, {1: name(1, 999999)})

    assert "the index names 1 of the 999999 shards" in look(index).reason


WHOLE = {
    "all named": of_six(),
    "a last shard of no tensor": ({**of_six(range(1, 6))[0], name(6): []}, of_six(named=range(1, 6))[1]),
    "a copy of some of it": ({**of_six()[0], "copy.safetensors": [1, 2]}, of_six()[1]),
    "weights of no set": ({**of_six()[0], "extra.safetensors": [9]}, of_six()[1]),
    "what is left of another set": ({**of_six()[0], name(2, 4): [2], name(3, 4): [7]}, of_six()[1]),
    "a shard twice, once not named": (
        {**of_six(range(1, 6))[0], name(6): [5]}, {**of_six(named=range(1, 6))[1]},
    ),
    "counted from 0": (
        {name(number, 3): [number] for number in range(3)}, {number: name(number, 3) for number in range(3)},
    ),
    "numbers without zeros": (
        {f"model-{number}-of-11.safetensors": [number] for number in range(1, 12)},
        {number: f"model-{number}-of-11.safetensors" for number in range(1, 12)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", WHOLE)
def test_nothing_left_out(tmp_path, what):
    """
    An index that has all its set's tensors passes; what is of no set of its own stays a warning.
    """
    index = written(tmp_path / "c", *WHOLE[what])

    assert look(index.parent).verdict is PASS, look(index.parent).reason
    assert look(index).verdict is PASS, look(index).reason


# What an index names in vain.

ALL = range(1, 7)
STALE = {
    "one file": {"model.safetensors": ALL},
    "a set of its own": {name(number, 2): ALL[3 * (number - 1) : 3 * number] for number in (1, 2)},
    "a set with more in it": {name(1, 2): [1, 2, 3, 9], name(2, 2): [4, 5, 6]},
    "a set, a part of which has none of them": {name(1, 2): ALL, name(2, 2): [9]},
    "a set by another name": {name(number, start="weights"): [number] for number in ALL},
}


@pytest.mark.parametrize("what", STALE)
def test_an_index_that_is_out_of_date(tmp_path, what):
    """
    None of its files is there, and another whole set holds all its tensors once: a warning that says so.
    """
    found = look(written(tmp_path / "c", STALE[what], of_six()[1]).parent)

    assert found.verdict is PASS, found.reason
    assert warned(found, "the index is out of date")


@pytest.mark.parametrize("ending", ENDINGS)
def test_half_as_many_files_as_the_index_names(tmp_path, ending):
    """
    The same of a model that was written anew in fewer shards.
    """
    files = {name(number, 3, ending): [2 * number - 1, 2 * number] for number in (1, 2, 3)}
    found = look(written(tmp_path / "c", files, of_six(ending=ending)[1]).parent)

    assert found.verdict is PASS, found.reason
    assert warned(found, "the index is out of date")


def moved(number, to):
    return {to if file == name(number) else file: numbers for file, numbers in of_six()[0].items()}


VAIN = {
    "a letter of another case": (
        of_six()[0], {**of_six()[1], 2: "Model-00002-of-00006.safetensors"},
        "Model-00002-of-00006.safetensors (tensors of it are in model-00002-of-00006.safetensors)",
    ),
    "of another total": (
        moved(2, name(2, 7)), of_six()[1], f"{name(2)} (tensors of it are in {name(2, 7)})",
    ),
    "of another number": (moved(6, name(7)), of_six()[1], f"{name(6)} (tensors of it are in {name(7)})"),
    "of a name of no set": (moved(2, "model-2.safetensors"), of_six()[1], "(tensors of it are in model-2.safetensors)"),
    "nowhere": (of_six((1, 2, 4, 5, 6))[0], of_six()[1], f"1 of 6 shards is missing: {name(3)}"),
    "in a set that lacks a number": (
        {name(1, 3): [1, 2, 3], name(2, 3): [4, 5, 6]}, of_six()[1], f"(tensors of it are in {name(1, 3)})",
    ),
    "in files of no set": (
        {"a.safetensors": [1, 2, 3], "b.safetensors": [4, 5, 6]}, of_six()[1], "(tensors of it are in a.safetensors)",
    ),
    "in a file, but for one": ({"model.safetensors": [1, 2, 3, 4, 5]}, of_six()[1], "6 of 6 shards are missing"),
    "twice": ({"model.safetensors": ALL, "copy.safetensors": [1]}, of_six()[1], "6 of 6 shards are missing"),
}  # fmt: skip


@pytest.mark.parametrize("what", VAIN)
def test_files_that_are_named_in_vain(tmp_path, what):
    """
    Where some of its files are there, or what is there is no whole set, an index that names others is FAIL.
    """
    files, named, words = VAIN[what]
    found = look(written(tmp_path / "c", files, named).parent)

    assert found.verdict is FAIL, found.reason
    assert words in found.reason


# An index of another kind or variant, none of whose files is there.

ALL = range(1, 7)
BESIDE = {
    "a set with its index": lambda: of_six(),
    "a single file": lambda: ({"model.safetensors": ALL}, None),
}
PASSED_OVER = {
    "of another kind": ("pytorch_model.bin.index.json", "pytorch_model", "bin"),
    "of a variant": ("model.fp16.safetensors.index.json", "model.fp16", "safetensors"),
    "of a variant of another kind": ("pytorch_model.fp16.bin.index.json", "pytorch_model.fp16", "bin"),
}


def with_index(folder, files, named, stale, numbers=ALL):
    """The files with their own index, if any, and the stale one beside; the folder."""
    index, start, ending = PASSED_OVER[stale]
    written(folder, files, named or {1: "x"}).unlink() if named is None else written(folder, files, named)
    shards = {f"w{number}": name(1 + number % 2, 2, ending, start) for number in numbers}
    (folder / index).write_text(json.dumps({"metadata": {}, "weight_map": shards}))
    return folder


@pytest.mark.parametrize("stale", PASSED_OVER)
@pytest.mark.parametrize("beside", BESIDE)
def test_an_index_that_loaders_pass_over(tmp_path, beside, stale):
    """
    It is a warning where what they take instead holds all its tensors once, and FAIL where that lacks one.
    """
    good = look(with_index(tmp_path / "good", *BESIDE[beside](), stale))
    lacks = look(with_index(tmp_path / "lacks", *BESIDE[beside](), stale, numbers=range(1, 8)))

    assert good.verdict is PASS, good.reason
    assert warned(good, "the index is out of date")
    assert lacks.verdict is FAIL
    assert f"{PASSED_OVER[stale][0]}: 2 of 2 shards are missing" in lacks.reason


@pytest.mark.parametrize("stale", PASSED_OVER)
def test_an_index_passed_over_beside_a_broken_set(tmp_path, stale):
    """
    What is there is judged all the same: a shard of it that is lost is FAIL.
    """
    files, named = of_six()
    folder = with_index(tmp_path / "c", files, named, stale)
    (folder / name(3)).unlink()

    assert "1 of 6 shards is missing" in "\n".join(
        row["what"] for file in look(folder).facts["files"] for row in file["faults"]
    )


def test_an_index_that_loaders_prefer(tmp_path):
    """
    The index of safetensors comes before any .bin: without its files loading fails, whatever is beside it.
    """
    folder = written(tmp_path / "c", {"pytorch_model.bin": ALL}, {number: name(number) for number in ALL}).parent

    found = look(folder)

    assert found.verdict is FAIL
    assert "6 of 6 shards are missing" in found.reason


def test_a_tied_head_in_an_index_passed_over(tmp_path):
    """
    A .bin keeps both of two tied tensors, safetensors one of them.
    """
    folder = with_index(tmp_path / "c", {"model.safetensors": ALL}, None, "of another kind")
    index = json.loads((folder / "pytorch_model.bin.index.json").read_text())
    index["weight_map"]["lm_head.weight"] = name(1, 2, "bin", "pytorch_model")
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps(index))

    for ties, verdict in ((True, PASS), (False, FAIL)):
        (folder / "config.json").write_text(json.dumps({"tie_word_embeddings": ties}))
        assert look(folder).verdict is verdict, look(folder).reason


def test_an_index_passed_over_in_a_snapshot(tmp_path):
    """
    So it is in the hub's cache, where a download left out the .bin files.
    """
    repository = tmp_path / "models--a--b"
    plain = with_index(tmp_path / "plain", *of_six(), "of another kind")
    snapshot = repository / "snapshots" / ("c" * 40)
    for inner in (snapshot, repository / "blobs", repository / "refs"):
        inner.mkdir(parents=True)
    (repository / "refs" / "main").write_text("c" * 40)
    for file in plain.iterdir():
        blob = repository / "blobs" / hashlib.sha256(file.read_bytes()).hexdigest()
        blob.write_bytes(file.read_bytes())
        (snapshot / file.name).symlink_to(blob)

    for path in (repository, snapshot):
        assert look(path).verdict is PASS, look(path).reason
