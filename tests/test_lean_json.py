"""The agent's JSON is JSON."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verikit.probes import lean_json

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None))
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=30)


def same(one, other) -> bool:
    return repr(one) == repr(other)  # NaN too


@given(values)
def test_as_the_package_does(value):
    """
    What it writes and reads is what the json package writes and reads, surrogates, NaN and large numbers included.
    """
    text = json.dumps(value)

    assert lean_json.dumps(value) == text
    assert same(lean_json.loads(text), json.loads(text))


@pytest.mark.parametrize("value", [{1, 2}, b"bytes", {"a": object()}, {(1, 2): 3}])
def test_what_json_can_not_carry(value):
    """
    What JSON can't carry is a TypeError, also after one before it.
    """
    for _ in range(2):
        with pytest.raises(TypeError):
            lean_json.dumps(value)


def test_circle():
    """
    A list that holds itself is a ValueError.
    """
    circle: list = []
    circle.append(circle)
    with pytest.raises(ValueError, match="ircular"):
        lean_json.dumps(circle)


def test_default():
    """
    `default` shows what JSON can't carry.
    """
    assert lean_json.loads(lean_json.dumps({"a": {1}}, default=repr)) == {"a": "{1}"}


def test_without_the_c_functions(monkeypatch):
    """
    Where the C functions are not there, or are others, the package serves.
    """
    for broken in (None, object()):
        monkeypatch.setattr(lean_json, "_json", broken)

        assert lean_json.loads(lean_json.dumps({"a": [1, None, 2.5]})) == {"a": [1, None, 2.5]}
        assert math.isnan(lean_json.loads(lean_json.dumps(float("nan"))))
