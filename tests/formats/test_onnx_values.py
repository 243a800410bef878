"""Values of ONNX tensors, wherever protobuf lets them stand: as bytes, as numbers in several fields, or in another file."""

from __future__ import annotations

import hashlib

import format_writers as w
import numpy as np
import pytest

from verikit.checks.checkpoint import CheckpointIntact
from verikit.errors import Cause
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS, UNKNOWN

GOOD, NAN = [1.0, -2.0, 0.5, 3.0], [1.0, -2.0, float("nan"), 3.0]


def look(path, **claims):
    return examine_here(CheckpointIntact(str(path), depth="content", **claims))


def tensor(kind, *fields, dims=(2, 2), name="w"):
    """A TensorProto with its elements in these fields, the name last."""
    return w.onnx_tensor("", dims, kind)[: -len(w.field(8, ""))] + b"".join(fields) + w.field(8, name)


def fixed(number, wire, data, width):
    """Each number as a field by itself, as proto2 wrote them."""
    tag = w.varint(number << 3 | wire)
    return b"".join(tag + data[at : at + width] for at in range(0, len(data), width))


def bits(values, dtype):
    return [int(each) for each in np.asarray(values, "<f4").astype(dtype).view(f"u{np.dtype(dtype).itemsize}")]


def bfloat16(values):
    return [int(each) >> 16 for each in np.asarray(values, "<f4").view("<u4")]


def e5m2(values):
    return [each >> 8 for each in bits(values, "<f2")]


def floats(values):
    return np.asarray(values, "<f4").tobytes()


def doubles(values):
    return np.asarray(values, "<f8").tobytes()


def varints(numbers):
    return b"".join(map(w.varint, numbers))


FORMS = {
    "float_data": lambda v: tensor(1, w.field(4, floats(v))),
    "float_data in two pieces": lambda v: tensor(1, w.field(4, floats(v[:3])), w.field(4, floats(v[3:]))),
    "float_data, a field each": lambda v: tensor(1, fixed(4, 5, floats(v), 4)),
    "double_data": lambda v: tensor(11, w.field(10, doubles(v))),
    "double_data, a field each": lambda v: tensor(11, fixed(10, 1, doubles(v), 8)),
    "float16 in int32_data": lambda v: tensor(10, w.field(5, varints(bits(v, "<f2")))),
    "float16, a field each": lambda v: tensor(10, b"".join(w.field(5, each) for each in bits(v, "<f2"))),
    "bfloat16 in int32_data": lambda v: tensor(16, w.field(5, varints(bfloat16(v)))),
    "float8 in int32_data": lambda v: tensor(19, w.field(5, varints(e5m2(v)))),
    "raw_data": lambda v: tensor(1, w.field(9, floats(v))),
}


@pytest.mark.parametrize("form", FORMS)
def test_values_in_every_field(tmp_path, form):
    """
    Values that are finite pass in whichever field they stand; one that is not is found, with its index.
    """
    good = look(w.onnx_model(tmp_path / "good.onnx", [FORMS[form](GOOD)]), finite=True)
    bad = look(w.onnx_model(tmp_path / "bad.onnx", [FORMS[form](NAN)]), finite=True)

    assert good.verdict is PASS, good.reason
    assert good.facts["content"]["values"] == 4 + 3  # and those of the constant
    assert bad.verdict is FAIL, bad.reason
    assert "'w' has 1 NaN, the first at [1, 0]" in bad.reason


@pytest.mark.parametrize("bad", [None, 2], ids=["finite", "NaN in an imaginary part"])
def test_complex_values(tmp_path, bad):
    """
    Complex numbers stand in float_data as two numbers each.
    """
    values = np.arange(8, dtype="<f4")
    values[[] if bad is None else 2 * bad + 1] = np.nan
    path = w.onnx_model(tmp_path / "m.onnx", [tensor(14, w.field(4, values.tobytes()))])

    found = look(path, finite=True)

    assert found.verdict is (PASS if bad is None else FAIL), found.reason
    assert bad is None or "the first at [1, 0]" in found.reason


def test_many_values_in_pieces(tmp_path):
    """
    Numbers of any width are put together in pieces; the index counts over all of them.
    """
    values = np.ones(200_000, "<f4")
    values[123_456] = np.inf
    path = w.onnx_model(tmp_path / "m.onnx", [tensor(10, w.field(5, varints(bits(values, "<f2"))), dims=(200_000,))])

    found = look(path, finite=True)

    assert found.verdict is FAIL, found.reason
    assert "'w' has 1 Inf, the first at [123456]" in found.reason


def outside(folder, values, *more, kind=1, checksum=None):
    """A model none of whose own bytes are a tensor's, but for `more`."""
    (folder / "model.data").write_bytes(values)
    external = {"location": "model.data", "offset": 0, "length": len(values)}
    if checksum:
        external["checksum"] = hashlib.sha1(values).hexdigest()
    width = 4 if kind == 1 else 8
    graph = w.field(2, "g") + w.field(5, w.onnx_tensor("w", (len(values) // width,), kind, external=external))
    graph += b"".join(w.field(5, each) for each in more)
    model = w.field(1, 10) + w.field(7, graph) + w.field(8, w.field(1, "") + w.field(2, 21))
    (folder / "m.onnx").write_bytes(model)
    return folder / "m.onnx"


SHAPE = tensor(7, w.field(9, np.ones(4, "<i8").tobytes()), name="shape")


@pytest.mark.parametrize("more", [(), (SHAPE,)], ids=["nothing", "a constant of whole numbers"])
def test_values_outside(tmp_path, more):
    """
    A model whose numbers are in another file is judged by these, as one that holds them is.
    """
    good = look(outside(tmp_path, floats(GOOD), *more), finite=True)
    bad = look(outside(tmp_path, floats(NAN), *more), finite=True)

    assert good.verdict is PASS, good.reason
    assert good.facts["content"]["values"] == 4
    assert bad.verdict is FAIL, bad.reason
    assert "tensor 'w' has 1 NaN, the first at [2]" in bad.reason


@pytest.mark.parametrize(
    ("more", "checksum", "verdict"),
    [((), True, PASS), ((), False, UNKNOWN), ((SHAPE,), True, UNKNOWN)],
    ids=["a checksum", "none", "a checksum, and bytes inside"],
)
def test_bytes_outside(tmp_path, more, checksum, verdict):
    """
    Without values to judge, bytes outside are compared with their SHA-1; bytes of a tensor inside have none, and are blind.
    """
    found = look(outside(tmp_path, floats(GOOD), *more, checksum=checksum))

    assert (found.verdict, found.cause) == (verdict, Cause.NOTHING_SEEN if verdict is UNKNOWN else None), found.reason


def test_whole_numbers_outside(tmp_path):
    """
    A file of whole numbers has no value to judge, so `finite` says nothing of its bytes.
    """
    found = look(outside(tmp_path, np.arange(4, dtype="<i8").tobytes(), kind=7), finite=True)

    assert (found.verdict, found.cause) == (UNKNOWN, Cause.NOTHING_SEEN), found.reason
