"""What no writer writes and the reference's reader takes all the same: it passes; what that refuses does not."""

from __future__ import annotations

import json
import struct
import warnings

import numpy as np
import pytest
from safetensors import SafetensorError
from safetensors.torch import load_file

from verikit import checkpoint_layout
from verikit.checks.checkpoint import CheckpointIntact
from verikit.probes.formats import npy
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS


def look(path, **claims):
    return examine_here(CheckpointIntact(str(path), **claims))


# safetensors.

ENTRY = '"dtype":"F32","shape":[2],"data_offsets":[0,8]'


def headed(path, header, data=bytes(8)):
    raw = header.encode()
    path.write_bytes(struct.pack("<Q", len(raw)) + raw + data)
    return path


def one(*more, metadata=None):
    """The header of one tensor, with more fields than it needs, and metadata."""
    entry = "{" + ",".join([ENTRY, *more]) + "}"
    return "{" + ("" if metadata is None else f'"__metadata__":{metadata},') + f'"a":{entry}' + "}"


TAKEN = {
    "a field more": one('"note":"x"'),
    "fields more": one('"stride":[1]', '"note":null'),
    "a field with an entry in it": one(f'"note":{one()}'),
    "a field more, twice": one('"note":1', '"note":2'),
    "a field of many levels": one('"note":' + "[" * 125 + "]" * 125),
    "a field of a pair of surrogates": one('"note":"\\ud83d\\ude00 \\\\ud83d"'),
}
METADATA = {"none": "null", "empty": "{}", "a key twice": '{"a":"x","a":"y"}'}


@pytest.mark.parametrize("what", TAKEN)
def test_fields_that_the_format_does_not_have(tmp_path, what):
    """
    The reference passes over them, so they are a warning that names the field; the tensor is read as ever.
    """
    path = headed(tmp_path / "x.safetensors", TAKEN[what])

    found = look(path)

    assert load_file(path)["a"].shape == (2,)
    assert found.verdict is PASS, found.reason
    assert any(
        "a field that the format does not have" in warning and "'a' first" in warning for warning in found.warnings
    )
    assert checkpoint_layout(str(path))["a"].shape == (2,)


@pytest.mark.parametrize("what", METADATA)
def test_metadata_that_the_reference_takes(tmp_path, what):
    """
    `null` stands for no metadata.
    """
    path = headed(tmp_path / "x.safetensors", one(metadata=METADATA[what]))

    assert load_file(path)["a"].shape == (2,)
    assert look(path).verdict is PASS, look(path).reason


REFUSED = {
    "dtype twice": (one('"dtype":"F32"'), "once each"),
    "shape twice": (one('"shape":[2]', '"note":1'), "once each"),
    "no offsets": ('{"a":{"dtype":"F32","shape":[2],"note":[0,8]}}', "once each"),
    "offsets of another size": ('{"a":{"note":1,"dtype":"F32","shape":[3],"data_offsets":[0,8]}}', "takes 12 bytes"),
    "NaN in a field": (one('"note":NaN'), "NaN"),
    "a number too large in a field": (one('"note":[1e999]'), "a number beyond"),
    "digits too many in a field": (one('"note":' + "9" * 400), "a number beyond"),
    "half a pair in a field": (one('"note":"\\ud83d"'), "half a surrogate pair"),
    "half a pair in the metadata": (one(metadata='{"a":"\\ude00"}'), "half a surrogate pair"),
    "levels too many in a field": (one('"note":' + "[" * 126 + "]" * 126), "levels"),
    "metadata that is a number": (one(metadata="1"), "__metadata__"),
    "metadata that is a list": (one(metadata="[]"), "__metadata__"),
    "null in the metadata": (one(metadata='{"a":null}'), "__metadata__"),
    "a number in the metadata": (one(metadata='{"a":1}'), "__metadata__"),
    "no metadata, twice": (one(metadata='null,"__metadata__":null'), "twice"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_headers_that_the_reference_refuses(tmp_path, what):
    """
    They are FAIL, fields of their own or not.
    """
    header, words = REFUSED[what]
    path = headed(tmp_path / "x.safetensors", header)

    found = look(path)

    with pytest.raises(SafetensorError):
        load_file(path)
    assert found.verdict is FAIL, found.reason
    assert words in found.reason


def test_many_entries_with_a_field_of_their_own(tmp_path):
    """
    They are one warning, with their number.
    """
    rows = {f"t{n}": {"dtype": "U8", "shape": [1], "data_offsets": [n, n + 1], "note": n} for n in range(300)}

    found = look(headed(tmp_path / "x.safetensors", json.dumps(rows), bytes(300)))

    assert found.verdict is PASS
    assert sum("300 entries have a field that the format does not have" in warning for warning in found.warnings) == 1


# npy.


def described(path, descr, nbytes, shape="(2,)"):
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\0" + struct.pack("<H", len(text)) + text + bytes(nbytes))
    return path


def marked(name):
    return [name] if len(name) > 1 else [name, "<" + name, ">" + name, "=" + name, "|" + name]


SPELT = [each for names in npy.SPELLINGS.values() for name in names.split() for each in marked(name)]


def of_numpy(descr):
    """What numpy makes of it; None for what this one does not take (names of numpy 1, sizes of other platforms)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.dtype(descr)
        except TypeError:
            return None


@pytest.mark.parametrize("descr", SPELT)
def test_dtypes_by_their_other_names(tmp_path, descr):
    """
    A dtype by a name or letter that numpy's own `dtype` takes is as long as numpy says, to the byte.
    """
    dtype = of_numpy(descr)
    if dtype is None:
        pytest.skip("not of this numpy")
    whole = described(tmp_path / "x.npy", repr(descr), 2 * dtype.itemsize)

    found = look(whole)

    assert found.verdict is PASS or dtype.hasobject, found.reason
    if dtype.itemsize and not dtype.hasobject:
        assert np.load(whole).shape == (2,)
        assert look(described(tmp_path / "x.npy", repr(descr), 2 * dtype.itemsize - 1)).verdict is FAIL


@pytest.mark.parametrize(
    ("descr", "nbytes"),
    [("'datetime64[ns]'", 16), ("[('a', 'float32'), ('b', 'i', (3,))]", 32), ("'half'", 4), ("'complex64'", 16)],
)
def test_dtypes_by_their_other_names_within_others(tmp_path, descr, nbytes):
    """
    So are units and fields.
    """
    path = described(tmp_path / "x.npy", descr, nbytes)

    assert np.load(path).nbytes == nbytes
    assert look(path).verdict is PASS, look(path).reason


@pytest.mark.parametrize(
    "descr", ["<float64", "|half", "float 64", "d8", "F8", "u", "k", "bfloat16", "d[ns]", "float64 "]
)
def test_names_that_numpy_does_not_take(tmp_path, descr):
    """
    What numpy refuses is FAIL.
    """
    path = described(tmp_path / "x.npy", repr(descr), 16)

    with pytest.raises((TypeError, ValueError)):
        np.load(path)
    assert look(path).verdict is FAIL


def test_the_names_that_layouts_give(tmp_path):
    """
    However it is spelt, a layout gives the dtype in torch's words, and the byte order of a marked letter.
    """
    path = described(tmp_path / "x.npy", "'>d'", 16)

    assert [row.dtype for row in checkpoint_layout(str(path)).values()] == ["float64"]
    assert [row.dtype for row in checkpoint_layout(str(described(path, "'half'", 4))).values()] == ["float16"]
