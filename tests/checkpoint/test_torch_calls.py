"""torch's own calls in pickles, and the ids of its storages: as the loaders of both formats take them, and no others."""

from __future__ import annotations

import inspect
import io
import pickle
import struct
import warnings
import zipfile

import corpus
import pytest
import torch

from verikit import FAIL, PASS, checkpoint_layout
from verikit.checks.checkpoint import CheckpointIntact
from verikit.probes.formats import torch_tensors
from verikit.testing.here import examine_here


def test_arguments_are_those_of_torch():
    """
    The rebuilders of this torch take as many arguments as the table says, or fewer kinds of them.
    """
    found = {}
    for module in (torch._utils, torch._tensor):
        for name in filter(lambda name: name.startswith("_rebuild"), dir(module)):
            taken = inspect.signature(getattr(module, name)).parameters.values()
            least = sum(each.default is each.empty for each in taken)
            found[f"{module.__name__}.{name}"] = least, len(taken)

    assert set(found) <= set(torch_tensors.ARGUMENTS)
    for name, (least, most) in found.items():
        low, high = torch_tensors.ARGUMENTS[name]
        assert low <= least <= most <= high, name


@pytest.mark.parametrize("more", [False, True])
@pytest.mark.parametrize("name", torch_tensors.ARGUMENTS)
def test_calls_of_too_few_or_too_many_arguments(tmp_path, name, more):
    """
    A call that torch's rebuilder refuses for the number of its arguments is FAIL, wherever it stands in the pickle.
    """
    least, most = torch_tensors.ARGUMENTS[name]
    count = most + 1 if more else least - 1
    data = b"\x80\2}(K\1K\2K\3" + corpus.call(*name.rsplit(".", 1), *[None] * count)[2:-1] + b"u."
    path = corpus.rebuilt(lambda records: {**records, "data.pkl": data})(tmp_path)

    found = examine_here(CheckpointIntact(path))

    assert found.verdict is FAIL
    assert f"{name} with {count} arguments, of which it takes" in found.reason


def test_a_call_within_a_call(tmp_path):
    """
    What `_rebuild_from_type_v2` hands on is counted too.
    """
    inner = b"ctorch._utils\n_rebuild_tensor_v2\nctorch\nTensor\n(K\1K\2ttNtR"
    data = b"\x80\2ctorch._tensor\n_rebuild_from_type_v2\n(" + inner.replace(b"ttNtR", b"tNtR") + b"."
    path = corpus.rebuilt(lambda records: {**records, "data.pkl": data})(tmp_path)

    assert "_rebuild_tensor_v2 with 2 arguments" in examine_here(CheckpointIntact(path)).reason


# Views of storages, in the older format.


class Storage:
    def __init__(self, *items):
        self.items = items


class Pickler(pickle._Pickler):
    def persistent_id(self, item):
        return ("storage", torch.FloatStorage, *item.items) if isinstance(item, Storage) else None


class Tensor:
    """Pickled as a tensor of `count` numbers from `offset` on of that storage."""

    def __init__(self, storage, offset, count):
        self.args = storage, offset, (count,), (1,), False, {}

    def __reduce__(self):
        return torch._utils._rebuild_tensor_v2, self.args


def dumped(value):
    buffer = io.BytesIO()
    Pickler(buffer, 2).dump(value)
    return buffer.getvalue()


def older(view, count, numbers):
    """A file of the older format: `b` is all of a storage, `a` some numbers of a view of it."""
    system = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
    head = b"".join(pickle.dumps(each, 2) for each in (0x1950A86A20F9469CFC6C, 1001, system))
    state = {"b": Tensor(Storage("1", "cpu", len(numbers), None), 0, len(numbers))}
    state["a"] = Tensor(Storage("1", "cpu", len(numbers), view), 0, count)
    return head + dumped(state) + pickle.dumps(["1"], 2) + struct.pack(f"<q{len(numbers)}f", len(numbers), *numbers)


def loaded(data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.load(io.BytesIO(data), weights_only=False)


def test_a_view_lies_where_it_is_said(tmp_path):
    """
    Old files say of a storage that it is a part of another: its tensors begin there.
    """
    numbers = [float(n) for n in range(100)]
    numbers[33] = float("nan")  # of both tensors; told of the one that begins first
    data = older(("2", 30, 20), 20, numbers)
    (tmp_path / "x.pt").write_bytes(data)

    rows = checkpoint_layout(tmp_path / "x.pt")
    found = examine_here(CheckpointIntact(tmp_path / "x.pt", depth="content", finite=True))

    assert examine_here(CheckpointIntact(tmp_path / "x.pt")).verdict is PASS
    assert rows["a"].offset - rows["b"].offset == 120
    assert loaded(data)["a"][0] == 30
    assert "has 1 NaN, the first at [33]" in found.reason


@pytest.mark.parametrize(
    ("view", "count", "words"),
    [
        (("2", 90, 20), 20, "a view of storage 1 reaches to byte 440 of 400"),
        (("2", 30, 20), 21, "tensor 'a' reaches to byte 204 of a storage of 200"),
        ((30, 20), 20, "a view of a storage without offset and size"),
        (("2", -1, 20), 20, "a view of a storage without offset and size"),
    ],
)
def test_a_view_beyond_its_storage(tmp_path, view, count, words):
    """
    A view that reaches beyond the storage, or a tensor beyond the view, is FAIL; torch refuses it as well.
    """
    data = older(view, count, [1.0] * 100)
    (tmp_path / "x.pt").write_bytes(data)

    found = examine_here(CheckpointIntact(tmp_path / "x.pt"))

    assert found.verdict is FAIL
    assert words in found.reason
    with pytest.raises((RuntimeError, ValueError, TypeError, IndexError)):
        loaded(data)


@pytest.mark.parametrize("items", [4, 6])
def test_ids_of_another_format(tmp_path, items):
    """
    torch unpacks the id of a storage into five names in its ZIP files, and into six in the older ones.
    """
    rest = ("cpu", 2, None)[: items - 3]
    data = dumped(Tensor(Storage("0", *rest), 0, 2))
    path = corpus.rebuilt(lambda records: {**records, "data.pkl": data})(tmp_path)
    whole = older(None, 3, [1.0] * 3)
    (tmp_path / "old.pt").write_bytes(whole.replace(b"K\3Ntq", b"K\3tq"))

    found, old = examine_here(CheckpointIntact(path)), examine_here(CheckpointIntact(tmp_path / "old.pt"))

    assert found.verdict is FAIL
    assert old.verdict is FAIL
    assert "a persistent id that names no storage" in found.reason or "of which torch takes just 5" in found.reason
    assert "storage 1 has an id of 5 items, of which torch takes just 6 here" in old.reason


# CRCs that are not the writer's.


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_without_crcs_and_zipped_anew(tmp_path, method):
    """
    A file written without CRCs and zipped anew has the fold of none beside real ones: it passes, and a warning tells.
    """
    path = corpus.crc_off(tmp_path)
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as old:
        rows = [(entry.filename, stored(path, entry)) for entry in old.infolist()]
    with zipfile.ZipFile(path, "w", method) as new:
        for name, data in rows:
            new.writestr(name, data)

    found = examine_here(CheckpointIntact(path, depth="content"))

    assert found.verdict is PASS, found.reason
    assert any("CRCs switched off, and zipped anew" in warning for warning in found.warnings)
    assert torch.load(path).keys() == corpus.tensors().keys()


def stored(path, entry):
    """The bytes of a stored record, which zipfile does not give: their CRC is wrong."""
    data = path.read_bytes()
    n, m = struct.unpack_from("<2H", data, entry.header_offset + 26)
    begin = entry.header_offset + 30 + n + m
    return data[begin : begin + entry.file_size]


@pytest.mark.parametrize("wrong", ["data.pkl", ".data/serialization_id", "byteorder", "version", "data/0"])
def test_what_a_broken_file_would_run(tmp_path, wrong):
    """
    torch compares no CRC: what the pickle of a file would run is told beside whatever else is wrong with it.
    """
    change = lambda records: {**records, "data.pkl": corpus.call("os", "system", "true")}  # noqa: E731
    path = corpus.rebuilt(change)(tmp_path)
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        at, entry = archive.start_dir, archive.getinfo(f"model/{wrong}")
        for each in archive.infolist():
            if each is entry:
                break
            at += 46 + len(each.filename) + len(each.extra)
    for where in (entry.header_offset + 14, at + 16):
        data[where] ^= 1
    path.write_bytes(data)

    found = examine_here(CheckpointIntact(path))

    assert found.verdict is FAIL
    assert "unsafe pickle: would call os.system" in found.reason
    assert found.facts["pickle"]["globals"]["os.system"]["use"] == "called"
