"""torch's ZIP archives that `torch.save` did not write: torch.export and torch.package; and archives zipped anew."""

from __future__ import annotations

import enum
import io
import json
import warnings
import zipfile

import format_writers as w
import pytest
import torch

from verikit import checkpoint_layout
from verikit.checks.checkpoint import CheckpointIntact
from verikit.errors import Cause
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS, UNKNOWN


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.shift = torch.nn.Linear(4, 3), torch.ones(3)

    def forward(self, x):
        return self.layer(x) + self.shift


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The bytes of an exported model, as torch.export.save writes them."""
    path = tmp_path_factory.mktemp("exported") / "m.pt2"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.export.save(torch.export.export(Net(), (torch.randn(2, 4),)), path)
    return path.read_bytes()


def packaged(path, sources=False):
    with torch.package.PackageExporter(str(path)) as exporter:
        exporter.save_pickle("model", "model.pkl", {"w": torch.randn(3, 2), "v": torch.randn(2).bfloat16()})
        exporter.save_text("notes", "a.txt", "of no matter")
        if sources:
            exporter.save_source_string("own.net", "x = 1\n")
    return path


def rewritten(path, change, order=list, method=zipfile.ZIP_STORED):
    """Zipped anew with right CRCs: `change(name, data)` gives the new data, None leaves a record out."""
    with zipfile.ZipFile(path) as archive:
        records = [(name, change(name, archive.read(name))) for name in order(archive.namelist())]
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in records:
            if data is not None:
                archive.writestr(name, data)
    return path


def look(path, **claims):
    return examine_here(CheckpointIntact(str(path), **claims))


def test_exported(tmp_path, exported):
    """
    An exported model passes at every depth; its weights, constants and sample inputs are tensors.
    """
    (tmp_path / "m.pt2").write_bytes(exported)

    found = look(tmp_path / "m.pt2", depth="content")

    assert (found.verdict, found.warnings) == (PASS, ()), found.reason
    assert found.facts["tensors"] == 4


def test_exported_zipped_anew(tmp_path, exported):
    """
    In its old order it is what it was, packed or not.
    """
    (tmp_path / "m.pt2").write_bytes(exported)

    found = look(rewritten(tmp_path / "m.pt2", lambda name, data: data, method=zipfile.ZIP_DEFLATED), depth="content")

    assert found.verdict is PASS, found.reason


def test_exported_within_exported(tmp_path, exported):
    """
    Files within files are examined one level deep, however deep they nest.
    """
    data = exported
    for _ in range(40):
        with zipfile.ZipFile(tmp_path / "m.pt2", "w") as archive:
            archive.writestr("m/archive_format", "pt2")
            archive.writestr("m/archive_version", "0")
            archive.writestr("m/models/model.json", "{}")
            archive.writestr("m/data/weights/model_weights_config.json", '{"config": {}}')
            archive.writestr("m/data/constants/model_constants_config.json", '{"config": {}}')
            archive.writestr("m/data/sample_inputs/model.pt", b"")
            archive.writestr("m/data/inner.pt2", data)
        data = (tmp_path / "m.pt2").read_bytes()

    found = look(tmp_path / "m.pt2")

    assert found.verdict is PASS, found.reason


def smaller(name, data):
    return data[:-4] if name.endswith("weight_0") else data


def elsewhere(name, data):
    if not name.endswith("weights_config.json"):
        return data
    value = json.loads(data)
    value["config"]["layer.weight"]["path_name"] = "weight_7"
    return json.dumps(value).encode()


EXPORTED = {
    "a weight too short": (smaller, "reaches to byte 48 of a record of 44"),
    "a weight without its record": (elsewhere, "weight_7"),
    "a config cut": (lambda name, data: data[:-9] if name.endswith("weights_config.json") else data, "no JSON"),
    "no model": (lambda name, data: None if "/models/" in name else data, "no model"),
    "sample inputs cut": (lambda name, data: data[:-30] if name.endswith("model.pt") else data, "sample_inputs"),
}


@pytest.mark.parametrize("name", EXPORTED)
def test_exported_and_broken(tmp_path, exported, name):
    """
    What its own configs and files contradict is FAIL at structure.
    """
    change, words = EXPORTED[name]
    (tmp_path / "m.pt2").write_bytes(exported)

    found = look(rewritten(tmp_path / "m.pt2", change))

    assert found.verdict is FAIL, found.reason
    assert words in "\n".join(row["what"] for row in found.facts["files"][0]["faults"])


@pytest.mark.parametrize(
    "record", ["weights_config.json", "constants_config.json", "inputs/model.pt", "archive_version"]
)
def test_exported_without_a_record(tmp_path, exported, record):
    """
    Of the records that the loader asks for beside each model, none may lack; without one, loading fails.
    """
    (tmp_path / "m.pt2").write_bytes(exported)
    path = rewritten(tmp_path / "m.pt2", lambda name, data: None if name.endswith(record) else data)

    found = look(path)

    assert found.verdict is FAIL, found.reason
    assert any("asks for" in row["what"] and record in row["what"] for row in found.facts["files"][0]["faults"])
    with pytest.raises(Exception):  # noqa: B017 (whatever torch raises)
        torch.export.load(path)


@pytest.mark.parametrize("folder", ["weights", "constants"])
def test_exported_by_an_older_torch(tmp_path, exported, folder):
    """
    Weights and constants of a model may be one file of torch.save, as they were before there were configs.
    """
    stream = io.BytesIO()
    torch.save({"layer.weight": torch.ones(3, 4)}, stream)
    (tmp_path / "m.pt2").write_bytes(exported)
    path = rewritten(tmp_path / "m.pt2", lambda name, data: None if f"{folder}/" in name else data)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(f"m/data/{folder}/model.pt", stream.getvalue())

    found = look(path)

    assert "asks for" not in found.reason, found.reason


@pytest.mark.parametrize("size", [0, 100, 4000, -1, -300])
def test_exported_and_cut(tmp_path, exported, size):
    """
    A cut shows, wherever it is.
    """
    (tmp_path / "m.pt2").write_bytes(exported)
    w.cut(tmp_path / "m.pt2", size)

    assert look(tmp_path / "m.pt2").verdict is FAIL


def test_packaged(tmp_path):
    """
    A package of tensors passes; the names of its tensors have that of their pickle before them.
    """
    found = look(packaged(tmp_path / "p.pt"), depth="content")

    assert (found.verdict, found.warnings) == (PASS, ()), found.reason
    assert found.facts["tensors"] == 2


def test_tensors_of_a_package(tmp_path):
    """
    The layout of a package says where the bytes of its tensors are.
    """
    path = packaged(tmp_path / "p.pt")
    with open(path, "rb") as file:
        row = checkpoint_layout(path)["model/model.pkl:w"]
        file.seek(row.offset)
        values = torch.frombuffer(bytearray(file.read(row.nbytes)), dtype=torch.float32).reshape(row.shape)

    assert torch.equal(values, torch.package.PackageImporter(str(path)).load_pickle("model", "model.pkl")["w"])


def test_packaged_sources(tmp_path):
    """
    The sources in a package are run when it is loaded: names to be trusted, and nothing else.
    """
    path = packaged(tmp_path / "p.pt", sources=True)

    found = look(path)

    assert (found.verdict, found.cause) == (UNKNOWN, Cause.AMBIGUOUS)
    assert "own.net.py" in found.reason
    assert look(path, allow="own.net.py").verdict is PASS


PACKAGED = {
    "a storage too short": (
        lambda name, data: data[:-4] if name.endswith("0.storage") else data,
        "0.storage has 20 bytes, the pickle says 24",
    ),
    "a storage gone": (lambda name, data: None if name.endswith("1.storage") else data, "no record for storage 1"),
    "a pickle cut": (lambda name, data: data[:-9] if name.endswith(".pkl") else data, "breaks off"),
    "a storage of no tensor": (
        lambda name, data: None if name.endswith(".pkl") else data,
        "no tensor is in record",
    ),
}


@pytest.mark.parametrize("name", PACKAGED)
def test_packaged_and_broken(tmp_path, name):
    """
    Storages and pickles of a package must agree.
    """
    change, words = PACKAGED[name]

    found = look(rewritten(packaged(tmp_path / "p.pt"), change))

    assert found.verdict is FAIL, found.reason
    assert words in "\n".join(row["what"] for row in found.facts["files"][0]["faults"])


def saved(path):
    torch.save({f"layers.{n}": torch.randn(30, 20) for n in range(13)}, path)
    return path


ORDERS = {"as they were": list, "by name": sorted, "in reverse": lambda names: names[::-1]}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED], ids=["stored", "deflated"])
def test_zipped_anew(tmp_path, order, method):
    """
    The same records in any order give the writer's own serialization_id again: PASS. One bit of one record: FAIL.
    """

    def flip(name, data):
        return bytes([data[0] ^ 1]) + data[1:] if name.endswith("data/3") else data

    same = look(rewritten(saved(tmp_path / "a.pt"), lambda name, data: data, ORDERS[order], method))
    other = look(rewritten(saved(tmp_path / "b.pt"), flip, ORDERS[order], method))

    assert same.verdict is PASS, same.reason
    assert other.verdict is FAIL, other.reason
    assert "serialization_id" in other.reason


class Inner(torch.nn.Module):
    def forward(self, x):
        return x + 1


class Scripted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.other, self.layer = Inner(), Inner(), torch.nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(self.one(x) + self.other(x))


@pytest.fixture(scope="module")
def scripted(tmp_path_factory):
    """The bytes of a TorchScript module of several classes."""
    path = tmp_path_factory.mktemp("scripted") / "m.pt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.script(Scripted()), str(path))
    return path.read_bytes()


SCRIPT = {
    "constants": (lambda name: name.endswith("constants.pkl"), "without constants.pkl"),
    "all code": (lambda name: "/code/" in name, "without the code of __torch__."),
    "the code of one class": (
        lambda name: "/nn/modules/linear" in name,
        "there is no code/__torch__/torch/nn/modules/linear",
    ),
    "constants and code": (lambda name: "/code/" in name or name.endswith("constants.pkl"), "without constants.pkl"),
}


@pytest.mark.parametrize("name", SCRIPT)
def test_script_without_a_record(tmp_path, scripted, name):
    """
    TorchScript without its constants, or without the source of a class that its data are of, can't be loaded: FAIL.
    """
    lost, words = SCRIPT[name]
    path = tmp_path / "m.pt"
    path.write_bytes(scripted)
    rewritten(path, lambda record, data: None if lost(record) or "serialization_id" in record else data)

    found = look(path)

    assert found.verdict is FAIL, found.reason
    assert words in "\n".join(row["what"] for row in found.facts["files"][0]["faults"])
    with pytest.raises(RuntimeError):
        torch.jit.load(str(path))


class Colour(enum.Enum):
    RED = 1


class Coloured(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.colour, self.weight = Colour.RED, torch.ones(3)

    def forward(self, x):
        return x + self.weight if self.colour == Colour.RED else x


def test_script_with_an_enum(tmp_path):
    """
    TorchScript keeps a member of an enum as a call without a tuple, which only its own unpickler takes: PASS.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.script(Coloured()), str(tmp_path / "m.pt"))

    found = look(tmp_path / "m.pt", depth="content")

    assert found.verdict is PASS, found.reason


def test_script(tmp_path, scripted):
    """
    A module of several classes passes.
    """
    (tmp_path / "m.pt").write_bytes(scripted)

    assert look(tmp_path / "m.pt", depth="content").verdict is PASS


def test_a_call_of_too_few_arguments_in_a_package(tmp_path):
    """
    The pickles of a package are held to what torch's rebuilders take, as those of `torch.save` are.
    """
    call = b"\x80\2ctorch._utils\n_rebuild_parameter\n(NNtR."
    with zipfile.ZipFile(tmp_path / "m.pt", "w") as archive:
        archive.writestr("m/.data/extern_modules", b"")
        archive.writestr("m/.data/version", b"3\n")
        archive.writestr("m/model/model.pkl", call)

    found = examine_here(CheckpointIntact(tmp_path / "m.pt"))

    assert found.verdict is FAIL
    assert "_rebuild_parameter with 2 arguments, of which it takes 3" in found.reason
