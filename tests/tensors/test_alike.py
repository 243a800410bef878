"""Many tensors of few shapes: each shape is worked out once; what does not fit is told as if each were looked at alone."""

from __future__ import annotations

import pytest

from verikit import FAIL, PASS, TensorShapeSane
from verikit.spec import solve
from verikit.testing.here import examine_here

EXPERTS = "layers.{i:0..L-1}.experts.{e:0..E-1}.{p:gate,up,down}"


class Shaped:
    """Anything with a shape and a dtype is a tensor."""

    def __init__(self, *shape: int, dtype: str = "bfloat16") -> None:
        self.shape, self.dtype = shape, dtype


def experts(layers: int = 4, each: int = 50):
    """Weights of which gate and up are [m h] and down is [h m], and their scales, a block of 8 by 8 each."""
    sizes = {"gate": (16, 64), "up": (16, 64), "down": (64, 16)}
    out = {}
    for i in range(layers):
        for e in range(each):
            for p, (r, c) in sizes.items():
                out[f"layers.{i}.experts.{e}.{p}"] = Shaped(r, c)
                out[f"layers.{i}.experts.{e}.{p}_scale"] = Shaped(r // 8, c // 8, dtype="float32")
    return out


SPECS = {
    "module": {EXPERTS: "bf16[r@tensor c@tensor] & companion(_scale, f32[ceil(r/8) ceil(c/8)])"},
    "arithmetic": {
        EXPERTS.replace("gate,up,down", "gate,up"): "[m 4*m]",
        EXPERTS.replace("gate,up,down", "down"): "[h m]",
    },
}


@pytest.mark.parametrize("name", SPECS)
def test_the_odd_one(name):
    """
    One expert of another shape among hundreds alike is told by its name and its axis, and the others are not.
    """
    check = {"L": 4, "E": 50}
    tensors = experts()
    assert examine_here(TensorShapeSane(tensors, SPECS[name], dims=check)).verdict is PASS

    tensors["layers.2.experts.7.gate"] = Shaped(24, 64)
    finding = examine_here(TensorShapeSane(tensors, SPECS[name], dims=check))

    assert finding.verdict is FAIL
    assert "layers.2.experts.7.gate" in finding.reason
    assert {fault["tensor"].removesuffix("_scale") for fault in finding.facts["faults"]} == {"layers.2.experts.7.gate"}


def test_numbers_in_names_tell_tensors_apart():
    """
    Where the axes speak of a number in the name, tensors of one shape are not alike: each is held against its own number.
    """
    tensors = {f"layers.{i}.w": Shaped(8 * (i + 1), 4) for i in range(40)}
    tensors["layers.30.w"] = Shaped(8, 4)  # right for layer 0

    finding = examine_here(TensorShapeSane(tensors, {"layers.{i:0..39}.w": "[8*i+8 4]"}))

    assert finding.verdict is FAIL
    assert "layers.30.w axis 0 (8*i+8): 8, expected 248 = 8*i+8 = 8*30+8 [i=30]" in finding.reason
    assert finding.facts["fault_count"] == 1


def test_dims_of_a_module_tell_tensors_apart():
    """
    What fits in one module is no proof for another whose dims are others.
    """
    tensors = {}
    for k in range(30):
        tensors[f"m{k}.a"], tensors[f"m{k}.b"] = Shaped(k + 1), Shaped(2 * (k + 1))
    tensors["m9.b"] = Shaped(40)  # right for m19

    finding = examine_here(TensorShapeSane(tensors, {"*.a": "[n@module]", "*.b": "[2*n]"}))

    assert finding.verdict is FAIL
    assert "m9.b axis 0 (2*n): 40, expected 20" in finding.reason
    assert finding.facts["fault_count"] == 1


def test_each_shape_is_laid_out_once(monkeypatch):
    """
    However many tensors a rule is for, its axes are laid out once for each shape.
    """
    calls = []
    plain = solve.laid_out
    monkeypatch.setattr(solve, "laid_out", lambda axes, shape: calls.append(shape) or plain(axes, shape))

    finding = examine_here(TensorShapeSane(experts(), {"**.{p:gate,up,down}": "bf16[_ _]", "**_scale": "f32[_ _]"}))

    assert finding.verdict is PASS
    assert len(calls) == len(set(calls)) == 4
