"""External data of ONNX that are links: where they may lead."""

from __future__ import annotations

import format_writers as w
import pytest

from verikit.checks.checkpoint import CheckpointIntact
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS


def look(path):
    return examine_here(CheckpointIntact(str(path)))


def linked(folder, to):
    """A model whose data are moved to a path relative to its folder, and a link to them."""
    folder.mkdir(parents=True)
    w.onnx_external(folder / "x.onnx")
    data, target = folder / "model.data", (folder / to)
    target.parent.mkdir(parents=True, exist_ok=True)
    data.rename(target)
    data.symlink_to(to)
    return folder


@pytest.mark.parametrize("to", ["../elsewhere", "../m2/model.data", "../blobs/0"])
def test_out_of_the_folder(tmp_path, to):
    """
    A link out of the model's folder is as a location that leaves it: FAIL, for the model and for its folder.
    """
    folder = linked(tmp_path / "m", to)

    for path in (folder / "x.onnx", folder):
        found = look(path)
        assert found.verdict is FAIL
        assert "unsafe: model.data is a link that leads out of the folder, to /" in found.reason


def test_an_absolute_link(tmp_path):
    """
    So is one to an absolute path.
    """
    folder = linked(tmp_path / "m", str(tmp_path / "elsewhere"))

    assert look(folder / "x.onnx").verdict is FAIL


@pytest.mark.parametrize("to", ["beside", "inner/data"])
def test_within_the_folder(tmp_path, to):
    """
    A link to a file of the same folder is whole, also where the folder itself is reached by a link.
    """
    folder = linked(tmp_path / "m", to)
    (tmp_path / "by").symlink_to(folder)

    for path in (folder / "x.onnx", folder, tmp_path / "by", tmp_path / "by" / "x.onnx"):
        assert look(path).verdict is PASS, look(path).reason


def test_a_model_and_its_data_linked_alike(tmp_path):
    """
    A farm of links, to a model and to the data beside it, is that model.
    """
    w.onnx_external(tmp_path / "x.onnx")
    (tmp_path / "farm").mkdir()
    for name in ("x.onnx", "model.data"):
        (tmp_path / "farm" / name).symlink_to(tmp_path / name)

    assert look(tmp_path / "farm" / "x.onnx").verdict is PASS, look(tmp_path / "farm" / "x.onnx").reason


@pytest.mark.parametrize("inner", ["", "onnx/"])
def test_the_cache_of_a_hub(tmp_path, inner):
    """
    In a snapshot the data are a link to the blobs of its repository; those of another's are out of it.
    """
    own, other = tmp_path / "models--a--b", tmp_path / "models--c--d"
    folder = own / "snapshots" / ("c" * 40) / inner
    folder.mkdir(parents=True)
    w.onnx_external(folder / "x.onnx")
    for repository, name, blob in ((own, "x.onnx", "0" * 64), (own, "model.data", "1" * 64), (other, "", "1" * 64)):
        (repository / "blobs").mkdir(parents=True, exist_ok=True)
        if name:
            (folder / name).rename(repository / "blobs" / blob)
            (folder / name).symlink_to(repository / "blobs" / blob)
    assert look(folder / "x.onnx").verdict is PASS, look(folder / "x.onnx").reason

    (own / "blobs" / ("1" * 64)).rename(other / "blobs" / ("1" * 64))
    (folder / "model.data").unlink()
    (folder / "model.data").symlink_to(other / "blobs" / ("1" * 64))

    assert look(folder / "x.onnx").verdict is FAIL
