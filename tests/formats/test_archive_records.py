"""Records of torch's archives that are files of their own: what a loader unpickles is walked, whatever form it has."""

from __future__ import annotations

import io
import json
import pickle
import warnings
import zipfile

import pytest
import torch

from verikit.checks.checkpoint import CheckpointIntact
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS


class Runs:
    def __reduce__(self):
        import os

        return os.system, ("true",)


def look(path, **claims):
    return examine_here(CheckpointIntact(str(path), **claims))


def as_zip(value):
    data = io.BytesIO()
    torch.save(value, data)
    return data.getvalue()


def as_legacy(value):
    data = io.BytesIO()
    torch.save(value, data, _use_new_zipfile_serialization=False)
    return data.getvalue()


FORMS = {
    "ZIP": as_zip,
    "legacy": as_legacy,
    **{f"protocol {n}": lambda value, n=n: pickle.dumps(value, n) for n in (0, 1, 2, 4)},
}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """{name in the archive, without its top folder: bytes} of an exported model."""
    path = tmp_path_factory.mktemp("exported") / "m.pt2"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.export.save(torch.export.export(torch.nn.Linear(4, 3), (torch.randn(2, 4),)), path)
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if "serialization_id" not in name]
        return {name.partition("/")[2]: archive.read(name) for name in names}


def unpickled(records, data):
    """The first weight as an object of its own, by its row of the config."""
    name = "data/weights/model_weights_config.json"
    config = json.loads(records[name])
    row = next(iter(config["config"].values()))
    row["use_pickle"] = True
    return {**records, name: json.dumps(config).encode(), "data/weights/" + row["path_name"]: data}


PLACES = {
    "sample inputs": lambda records, data: {**records, "data/sample_inputs/model.pt": data},
    "a weight": unpickled,
    "a .pkl of the program": lambda records, data: {**records, "extra/x.pkl": data},
    "a constant": lambda records, data: {**records, "data/constants/x.pt": data},
}


def written(path, records, top="m/", method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in records.items():
            archive.writestr(top + name, data)
    return path


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("place", PLACES)
def test_what_an_exported_model_unpickles(tmp_path, exported, place, form):
    """
    A ZIP, a legacy stream or a bare pickle in its place is walked, packed or not, and names its record; a good one passes.
    """
    evil = PLACES[place](exported, FORMS[form](Runs()))
    good = PLACES[place](exported, FORMS[form](((torch.ones(2) if form in ("ZIP", "legacy") else 1.5,), {})))

    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        found = look(written(tmp_path / "m.pt2", evil, method=method))
        assert found.verdict is FAIL
        assert "unsafe pickle: would call os.system (m/" in found.reason
        found = look(written(tmp_path / "m.pt2", good, method=method), depth="content")
        assert found.verdict is PASS, found.reason


@pytest.mark.parametrize("form", ["ZIP", "legacy", "protocol 2", "protocol 4"])
def test_records_of_no_known_name(tmp_path, exported, form):
    """
    By its first bytes a pickle is known under any name.
    """
    records = {**exported, "data/constants/opaque_obj_0": FORMS[form](Runs()), "extra/notes.txt": b"of no matter"}

    assert "would call os.system (m/data/constants/opaque_obj_0" in look(written(tmp_path / "m.pt2", records)).reason


@pytest.mark.parametrize("form", FORMS)
def test_the_older_layout(tmp_path, form):
    """
    Before torch 2.8 an exported model lay in four records, three of them of `torch.save`.
    """
    records = {"version": b"8.7", "serialized_exported_program.json": b"{}"}
    good = FORMS[form]({"w": torch.ones(3) if form in ("ZIP", "legacy") else 1})
    others = {f"serialized_{name}.pt": good for name in ("state_dict", "constants", "example_inputs")}
    evil = {**records, **others, "serialized_state_dict.pt": FORMS[form](Runs())}

    assert look(written(tmp_path / "m.pt2", {**records, **others}, top="")).verdict is PASS
    assert "would call os.system (serialized_state_dict.pt" in look(written(tmp_path / "m.pt2", evil, top="")).reason


NOTHING = {"text": b"hello world, not a torch file", "a page": b"<html>403</html>", "zeros": b"\0" * 64}


@pytest.mark.parametrize("what", NOTHING)
def test_sample_inputs_that_are_neither(tmp_path, exported, what):
    """
    What is neither a file of torch's nor a pickle is FAIL, and told with its record.
    """
    found = look(written(tmp_path / "m.pt2", {**exported, "data/sample_inputs/model.pt": NOTHING[what]}))

    assert found.verdict is FAIL
    assert "m/data/sample_inputs/model.pt: it is neither a file of torch.save nor a pickle" in found.reason


def test_elements_that_begin_like_a_pickle(tmp_path, exported):
    """
    Bare elements are no pickle, whatever their first bytes.
    """
    records = {**exported, "data/weights/weight_0": b"\x80\2" + exported["data/weights/weight_0"][2:]}

    assert look(written(tmp_path / "m.pt2", records), depth="content").verdict is PASS


@pytest.mark.parametrize("form", ["legacy", "protocol 2", "protocol 4"])
def test_a_package(tmp_path, form):
    """
    In a torch.package, too, a record is walked that is a pickle by its first bytes.
    """
    with torch.package.PackageExporter(str(tmp_path / "p.pt")) as exporter:
        exporter.save_pickle("model", "model.pkl", {"w": torch.ones(3)})
        exporter.save_binary("model", "hook.bin", FORMS[form](Runs()))

    assert "would call os.system (p/model/hook.bin" in look(tmp_path / "p.pt").reason
