"""torch's oldest files: members, storages, views, tensors and the numbers that the pickle has for them, as torch reads them."""

from __future__ import annotations

import io
import pickle
import struct
import tarfile
import warnings

import numpy as np
import pytest
import torch

from verikit import FAIL, PASS, UNKNOWN, Cause
from verikit.checks.checkpoint import CheckpointIntact
from verikit.testing.here import examine_here

COUNT = 12
STORAGE = b"\x80\2(KdX\3\0\0\0cpuctorch\nFloatStorage\nt."


def storages(views=()):
    numbers = np.arange(COUNT, dtype="<f4").tobytes()
    return pickle.dumps(1, 2) + STORAGE + struct.pack("<q", COUNT) + numbers + pickle.dumps(list(views), 2)


def tensors(*rows):
    """Rows of (number, that of the storage, shape, strides, offset)."""
    data = pickle.dumps(len(rows), 2)
    for key, storage, shape, strides, offset in rows:
        numbers = struct.pack(f"<{2 * len(shape) + 1}q", *shape, *strides, offset)
        data += pickle.dumps((key, storage, None), 2) + struct.pack("<i4x", len(shape)) + numbers
    return data


class Number(str):
    """A number that stands in the pickle for a tensor or storage."""


class Pickler(pickle._Pickler):
    def persistent_id(self, item):
        return str(item) if type(item) is Number else None


def pickled(*numbers):
    buffer = io.BytesIO()
    Pickler(buffer, 2).dump({f"w{at}": Number(number) for at, number in enumerate(numbers)})
    return buffer.getvalue()


def members(**changes):
    found = {"sys_info": pickle.dumps({"protocol_version": 1000}, 2), "storages": storages()}
    found.update(tensors=tensors((101, 100, (3, 4), (4, 1), 0)), pickle=pickled("101", "100"))
    return {**found, **changes}


def tar(rows, form=tarfile.PAX_FORMAT, links=(), skip=""):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as archive:
        for name, data in rows.items():
            if name == skip:
                continue
            info = tarfile.TarInfo(name)
            info.size = len(data)
            if name in links:
                info.type, info.size, info.linkname = tarfile.SYMTYPE, 0, "/etc/hostname"
            archive.addfile(info, io.BytesIO(b"" if name in links else data))
    return buffer.getvalue()


def pax():
    """With an extended header before each member, as tars of other programs have them."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in members().items():
            info = tarfile.TarInfo(name)
            info.size, info.pax_headers = len(data), {"mtime": "1700000000.25", "comment": "x"}
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


VIEW = [(200, 100, 4, 5)]
GOOD = {
    "plain": lambda: tar(members()),
    "GNU": lambda: tar(members(), tarfile.GNU_FORMAT),
    "ustar": lambda: tar(members(), tarfile.USTAR_FORMAT),
    "extended headers": pax,
    "without sys_info": lambda: tar({name: data for name, data in members().items() if name != "sys_info"}),
    "another member": lambda: tar(members(notes=b"x" * 600)),
    "a view": lambda: tar(
        members(storages=storages(VIEW), tensors=tensors((1, 200, (5,), (1,), 0)), pickle=pickled("1", "200"))
    ),
}
BROKEN = {
    "an absent tensor": (lambda: tar(members(pickle=pickled("99"))), "the pickle names '99', which is no tensor"),
    "no number": (lambda: tar(members(pickle=pickled("a"))), "the pickle names 'a', which is no tensor"),
    "an absent storage": (lambda: tar(members(tensors=tensors((101, 99, (3,), (1,), 0)))), "of a storage that is not there"),
    "a view of nothing": (lambda: tar(members(storages=storages([(200, 99, 0, 1)]))), "a view of storage 99, which is not"),
    "a tensor beyond a view": (
        lambda: tar(members(storages=storages(VIEW), tensors=tensors((101, 200, (6,), (1,), 0)))),
        "tensor 101 reaches beyond its storage of 5 elements",
    ),
    "another name": (lambda: tar(members(**{"./pickle": b"N."}), skip="pickle"), "the member 'pickle' is missing"),
    "a link": (lambda: tar(members(), links=("storages",)), "the member 'storages' is no file"),
}  # fmt: skip


def reads(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            torch.load(path, weights_only=False)
        except Exception:
            return False
    return True


def look(folder, data):
    (folder / "x.pt").write_bytes(data)
    return examine_here(CheckpointIntact(folder / "x.pt"))


@pytest.mark.parametrize("name", GOOD)
def test_what_torch_reads_passes(tmp_path, name):
    """
    Whoever wrote the archive, with views of storages or without: what torch reads passes.
    """
    found = look(tmp_path, GOOD[name]())

    assert reads(tmp_path / "x.pt")
    assert found.verdict is PASS, found.reason


@pytest.mark.parametrize("name", BROKEN)
def test_what_torch_refuses_fails(tmp_path, name):
    """
    Where the members speak of what is not there, or are not what torch looks for, it is FAIL, and the reason names it.
    """
    make, words = BROKEN[name]
    found = look(tmp_path, make())

    assert not reads(tmp_path / "x.pt")
    assert found.verdict is FAIL
    assert words in found.reason


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/etc/x", "..\\x"])
def test_a_member_that_leaves_the_folder(tmp_path, name):
    """
    A member whose name leads out of the archive fails, as a record of a ZIP does.
    """
    found = look(tmp_path, tar(members(**{name: b"x"})))

    assert found.verdict is FAIL
    assert "leaves the folder" in found.reason


def test_without_padding(tmp_path):
    """
    With no more zeros than the two blocks that end an archive it is another program's, or cut where tar pads: UNKNOWN.
    """
    data = tar(members())
    blocks = -(-len(data.rstrip(b"\0")) // 512)
    trimmed, found = data[: (blocks + 2) * 512], look(tmp_path, data[: (blocks + 2) * 512])

    assert reads(tmp_path / "x.pt")
    assert (found.verdict, found.cause) == (UNKNOWN, Cause.AMBIGUOUS)
    assert "by another program, or cut" in found.reason
    assert look(tmp_path, trimmed[:-512]).verdict is FAIL
    assert look(tmp_path, trimmed + bytes(512)).verdict is FAIL
