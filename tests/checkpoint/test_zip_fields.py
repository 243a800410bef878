"""Every bit of a ZIP's headers: where the real loader refuses the file, or reads something else, verikit does not pass it."""

from __future__ import annotations

import io
import itertools
import shutil
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from verikit import FAIL, PASS
from verikit.checks.checkpoint import CheckpointIntact
from verikit.testing.here import examine_here

WEIGHTS = {"w": torch.arange(1.0, 13.0).reshape(3, 4), "b": torch.ones(5)}
ARRAYS = {"w": np.arange(1.0, 13.0), "模": np.ones(3)}


class Pipe(io.RawIOBase):
    """A file that can't seek: zipfile then writes descriptors behind the records."""

    def __init__(self):
        super().__init__()
        self.data = bytearray()

    def writable(self):
        return True

    def write(self, data):
        self.data += bytes(data)
        return len(data)


def saved():
    buffer = io.BytesIO()
    torch.save(WEIGHTS, buffer)
    return buffer.getvalue()


def of_numpy(arrays=ARRAYS):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def rezipped(data, method=zipfile.ZIP_DEFLATED, pipe=False):
    """The same records written by Python's zipfile."""
    target = Pipe() if pipe else io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(target, "w", method) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    return bytes(target.data) if pipe else target.getvalue()


def long(data):
    """With sizes in zip64 fields, as beyond 4 GiB, and all end records."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zipfile, "ZIP64_LIMIT", 40)
        patch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 1)
        return rezipped(data, zipfile.ZIP_STORED)


def by_zip(form, suffix):
    """Packed anew by Info-ZIP 3.0, with times and owners in extra fields, and records for folders: a file of `zip -r`."""
    return (Path(__file__).parent / "by_info_zip" / (form + suffix)).read_bytes()


def reads_torch(data):
    found = torch.load(io.BytesIO(data))
    return found.keys() == WEIGHTS.keys() and all(torch.equal(found[name], WEIGHTS[name]) for name in WEIGHTS)


def reads_numpy(data):
    found = np.load(io.BytesIO(data))
    return set(found.files) == set(ARRAYS) and all(np.array_equal(found[name], ARRAYS[name]) for name in ARRAYS)


FILES = {
    "torch": (saved, reads_torch, "/data/0"),
    "torch, packed": (lambda: rezipped(saved()), reads_torch, "/data/0"),
    "torch, packed into a pipe": (lambda: rezipped(saved(), pipe=True), reads_torch, "/data.pkl"),
    "torch, zip64": (lambda: long(saved()), reads_torch, "/data/0"),
    "numpy": (of_numpy, reads_numpy, "模.npy"),
    "numpy, packed into a pipe": (lambda: rezipped(of_numpy(), pipe=True), reads_numpy, "w.npy"),
    "numpy, zip64": (lambda: long(of_numpy()), reads_numpy, "w.npy"),
}


def headers(data, name):
    """Offsets of the bytes of that record's headers, in the directory and before it, and of the end records."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        at = archive.start_dir
        entry = next(entry for entry in archive.infolist() if entry.filename.endswith(name))
        count = archive.infolist().index(entry)
    for _ in range(count):
        at += 46 + sum(struct.unpack_from("<3H", data, at + 28))
    local = entry.header_offset
    yield from range(at, at + 46 + sum(struct.unpack_from("<3H", data, at + 28)))
    yield from range(local, local + 30 + struct.unpack_from("<H", data, local + 26)[0])
    end = data.rfind(b"PK\6\6")
    yield from range(end if end >= 0 else data.rfind(b"PK\5\6"), len(data))


def passes(folder, data, suffix=".pt"):
    (folder / f"model{suffix}").write_bytes(data)
    return examine_here(CheckpointIntact(folder / f"model{suffix}", depth="content")).verdict is PASS


def reads(loader, data):
    try:
        return loader(data)
    except Exception:
        return False


@pytest.mark.parametrize("name", FILES)
def test_what_the_loader_refuses_does_not_pass(tmp_path, name):
    """
    Whichever bit of a record's headers or of the end records is flipped: what passes, the loader reads as it was written.
    """
    make, loader, record = FILES[name]
    data, suffix = make(), ".npz" if loader is reads_numpy else ".pt"
    assert passes(tmp_path, data, suffix)
    assert loader(data)
    wrong = []

    for at, bit in itertools.product(headers(data, record), range(8)):
        flipped = bytearray(data)
        flipped[at] ^= 1 << bit
        if passes(tmp_path, flipped, suffix) and not reads(loader, bytes(flipped)):
            wrong.append((at, bit))

    assert not wrong


def by_shutil(data, folder):
    """Packed anew by shutil, which writes a record for each folder."""
    zipfile.ZipFile(io.BytesIO(data)).extractall(folder / "tree")
    return Path(shutil.make_archive(str(folder / "by_shutil"), "zip", folder / "tree")).read_bytes()


# Info-ZIP's options: none, -0, -fd, -fz, -D, -X.
FORMS = ("plain", "stored", "with-descriptors", "zip64", "no-folders", "no-extra-fields")


@pytest.mark.parametrize("packer", [*FORMS, "shutil"])
@pytest.mark.parametrize("make", [saved, lambda: of_numpy(WEIGHTS)], ids=["torch", "numpy"])
def test_packed_anew_by_other_programs(tmp_path, make, packer):
    """
    Attributes, times, owners and records for folders, as other programs write them, are no fault where the loader reads on.
    """
    suffix = ".pt" if make is saved else ".npz"
    data = by_shutil(make(), tmp_path) if packer == "shutil" else by_zip(packer, suffix)

    assert reads_torch(data) if make is saved else set(np.load(io.BytesIO(data)).files) == set(WEIGHTS)
    assert passes(tmp_path, data, suffix)


@pytest.mark.parametrize(("method", "word"), [(zipfile.ZIP_BZIP2, 12), (zipfile.ZIP_LZMA, 14)])
def test_methods_that_torch_does_not_unpack(tmp_path, method, word):
    """
    torch unpacks deflate alone; numpy reads through zipfile, which knows bzip2 and LZMA too.
    """
    (tmp_path / "model.pt").write_bytes(rezipped(saved(), method))

    found = examine_here(CheckpointIntact(tmp_path / "model.pt"))

    assert found.verdict is FAIL
    assert f"packed by ZIP method {word}, which torch can't unpack" in found.reason
    assert not reads(reads_torch, rezipped(saved(), method))
    assert passes(tmp_path, rezipped(of_numpy(), method), ".npz")


# Where in an entry of the directory a bit is set, and what is said then.
TOLD = {
    (38, 4): "is marked as a folder in the ZIP directory",
    (8, 5): "is a patch of other data, by its flags",
    (8, 6): "is encrypted strongly, by its flags",
    (9, 5): "is masked, by its flags",
    (35, 0): "is on disk 256 of a split archive",
}


@pytest.mark.parametrize("place", TOLD)
def test_what_the_loader_refuses_is_named(tmp_path, place):
    """
    The reason names the record, and what its header says of it.
    """
    data = bytearray(saved())
    at = next(iter(headers(data, "/data/0")))
    data[at + place[0]] |= 1 << place[1]
    (tmp_path / "model.pt").write_bytes(data)

    found = examine_here(CheckpointIntact(tmp_path / "model.pt"))

    assert found.verdict is FAIL
    assert f"record 'archive/data/0' {TOLD[place]}" in found.reason


def test_what_macos_puts_beside_a_folder(tmp_path):
    """
    torch opens no archive with records outside of its folder, such as the Finder adds: FAIL, and the record is named.
    """
    target = io.BytesIO(saved())
    with zipfile.ZipFile(target, "a") as archive:
        archive.writestr("__MACOSX/archive/._data", b"\0\5\x16\7\0\2\0\0Mac OS X")
    (tmp_path / "model.pt").write_bytes(target.getvalue())

    found = examine_here(CheckpointIntact(tmp_path / "model.pt"))

    assert not reads(reads_torch, target.getvalue())
    assert found.verdict is FAIL
    assert "record '__MACOSX/archive/._data' lies outside of 'archive/'" in found.reason
