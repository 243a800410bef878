"""Parquet by its footer: columns, lengths, and ranges of token ids without a look at one."""

from __future__ import annotations

import base64
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verikit import FAIL, PASS, TensorShapeSane
from verikit.probes.formats import parquet
from verikit.probes.formats.layout import Broken, Layout, Window
from verikit.testing.here import examine_here

# pyarrow 26.0.1: input_ids list<int32> [[1, 2, 319], [4], []], loss_mask list<int64> [[0, 1, 1], [1], []], in two row groups.
WRITTEN = base64.b64decode(
    "UEFSMRUAFTgVOCwVCBUAFQYVBhwYBD8BAAAYBAEAAAAWACgEPwEAABgEAQAAABERAAAAAgAAAAMGAgAAAAgDAQAAAAIAAAA/AQAABAAAABUAFV"
    "gVWCwVCBUAFQYVBhwYCAEAAAAAAAAAGAgAAAAAAAAAABYAKAgBAAAAAAAAABgIAAAAAAAAAAAREQAAAAIAAAADBgIAAAAIAwAAAAAAAAAAAQAA"
    "AAAAAAABAAAAAAAAAAEAAAAAAAAAFQAVGBUYLBUCFQAVBhUGHDYCAAAAAgAAAAIAAgAAAAIBFQAVGBUYLBUCFQAVBhUGHDYCAAAAAgAAAAIAAg"
    "AAAAIBFQQZfDUAGAZzY2hlbWEVBAA1AhgJaW5wdXRfaWRzFQIVBkw8AAAANQQYBGxpc3QVAgAVAiUCGAdlbGVtZW50ADUCGAlsb3NzX21hc2sV"
    "AhUGTDwAAAA1BBgEbGlzdBUCABUEJQIYB2VsZW1lbnQAFgYZLBksJgAcFQIZJQYAGTgJaW5wdXRfaWRzBGxpc3QHZWxlbWVudBUAFggWlgEWlg"
    "EmCDwYBD8BAAAYBAEAAAAWACgEPwEAABgEAQAAABERABkcFQAVABUCADwpJgQEGUYAAAAIAAAAJgAcFQQZJQYAGTgJbG9zc19tYXNrBGxpc3QH"
    "ZWxlbWVudBUAFggW1gEW1gEmngE8GAgBAAAAAAAAABgIAAAAAAAAAAAWACgIAQAAAAAAAAAYCAAAAAAAAAAAEREAGRwVABUAFQIAPCkmBAQZRg"
    "AAAAgAAAAW7AIWBCYIFuwCABksJgAcFQIZJQYAGTgJaW5wdXRfaWRzBGxpc3QHZWxlbWVudBUAFgIWQhZCJvQCPDYCABkcFQAVABUCADwpJgIA"
    "GUYAAgAAAAAAJgAcFQQZJQYAGTgJbG9zc19tYXNrBGxpc3QHZWxlbWVudBUAFgIWQhZCJrYDPDYCABkcFQAVABUCADwpJgIAGUYAAgAAAAAAFo"
    "QBFgIm9AIWhAEAKCBwYXJxdWV0LWNwcC1hcnJvdyB2ZXJzaW9uIDI2LjAuMRksHAAAHAAAACACAABQQVIx"
)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "tokens.parquet"
    path.write_bytes(WRITTEN)
    return path


def test_columns(path):
    """
    A list column has as many values as its lists together; ids and mask must have the same.
    """
    finding = examine_here(TensorShapeSane(path, {"input_ids": "i32[n]", "loss_mask": "i64[n]"}, strict=True))

    assert finding.verdict is PASS, finding.reason


def test_range_by_statistics(path):
    """
    The footer's least and greatest value settle a range, both ways; for what they do not settle the pages are read.
    """
    spec = "i32[n] & in 0..v-1"
    right = examine_here(TensorShapeSane(path, {"input_ids": spec}, dims={"v": 320}))
    wrong = examine_here(TensorShapeSane(path, {"input_ids": spec}, dims={"v": 319}))
    read = examine_here(TensorShapeSane(path, {"input_ids": "i32[n] & nonzero & in {1,2,4,319}"}))
    other = examine_here(TensorShapeSane(path, {"input_ids": "i32[n] & in {1,4,319}"}))

    assert right.verdict is PASS
    assert wrong.verdict is FAIL
    assert "tokens.parquet:input_ids: range 1..319 by its statistics, expected in 0..v-1" in wrong.reason
    assert read.verdict is PASS
    words = "1 of 4 values is not in {1, 4, 319}, first at [1]; range 1..319, of those 2..2"
    assert other.reason == f"tokens.parquet:input_ids: {words}"


@pytest.mark.parametrize("cut", [1, 8, 100, len(WRITTEN) - 4])
def test_cut(tmp_path, cut):
    """
    A file that lacks its end has no footer, and does not pass.
    """
    (tmp_path / "cut.parquet").write_bytes(WRITTEN[:-cut])
    finding = examine_here(TensorShapeSane(tmp_path / "cut.parquet", {"input_ids": "i32[n]"}))

    assert finding.verdict is FAIL
    assert "the footer at the end is missing" in finding.reason


@given(st.lists(st.tuples(st.integers(0, len(WRITTEN) - 1), st.integers(0, 255)), max_size=4))
@settings(deadline=None, max_examples=200)
def test_any_bytes(changes):
    """
    However its bytes are changed, the reader tells a layout or what is broken, and nothing else.
    """
    data = bytearray(WRITTEN)
    for at, byte in changes:
        data[at] = byte
    try:
        parquet.structure(Window(io.BytesIO(bytes(data)), len(data)), Layout("x", len(data)))
    except Broken:
        pass
