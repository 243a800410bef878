"""Tensors taken from a pickle at once are those that opcode by opcode would have given; what differs is never taken so."""

from __future__ import annotations

import zipfile

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings

from verikit.probes.formats import torch_idiom, torch_tensors
from verikit.probes.formats.layout import Broken, Layout
from verikit.probes.formats.pickle_walk import walk
from verikit.probes.place import CannotSee


def many():
    """Enough tensors that most have numbers in the memo beyond 255, of every kind that torch pickles so."""
    rows = {}
    for n in range(40):
        rows |= {f"{n}.w": torch.zeros(3, 4), f"{n}.b": torch.zeros(5).bfloat16(), f"{n}.step": torch.tensor(1.0)}
        rows |= {f"{n}.e": torch.zeros(0), f"{n}.view": torch.zeros(6, 7)[2:, 1::2], f"{n}.c": torch.zeros(2, 3, 4, 5)}
        rows[f"{n}.large"] = torch.zeros(1).expand(70_000, 300)
    rows |= {"tied": rows["3.w"], "parameter": torch.nn.Parameter(torch.zeros(2)), "long": torch.arange(3)}
    return {"model": rows, "rest": [rows["5.view"], torch.zeros(3, dtype=torch.complex64)], "step": 3}


def pickle_of(folder, protocol):
    torch.save(many(), folder / "model.pt", pickle_protocol=protocol)
    with zipfile.ZipFile(folder / "model.pt") as archive:
        return archive.read("model/data.pkl")


@pytest.fixture(scope="module", params=[2, 3, 4, 5])
def pickled(request, tmp_path_factory):
    return pickle_of(tmp_path_factory.mktemp("idiom"), request.param)


def seen(data, idioms):
    """Everything that a walk of the pickle tells, or what it says is wrong."""
    layout = Layout()
    try:
        found = walk(data, layout, "here", build=torch_tensors.BUILD, idioms=idioms)
        storages = torch_tensors.storages_of(found, layout)
        torch_tensors.tell(found.root, layout, lambda key: 0)
    except (Broken, CannotSee) as error:
        return type(error), str(error), layout.globals, layout.hidden
    told = layout.tree, list(layout.tensors), layout.strides, layout.faults, layout.warnings
    return found.end, storages, layout.globals, layout.hidden, told


def test_all_are_taken(pickled):
    """
    Every tensor from the second on, once the memo counts beyond what one byte holds, is taken at once.
    """
    taken = []

    class Counted(torch_idiom.Tensor):
        def take(self, machine, at):
            end = super().take(machine, at)
            taken.append(end is not None)
            return end

    found = walk(pickled, build=torch_tensors.BUILD, idioms=dict.fromkeys(torch_idiom.TENSORS, Counted))

    assert len(found.persistent) == 283
    assert sum(taken) > 200


def test_the_same(pickled):
    """
    The walk tells the same of a good pickle, with and without.
    """
    assert seen(pickled, torch_idiom.TENSORS) == seen(pickled, {})
    assert len(seen(pickled, {})[-1][1]) == 285


@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_the_same_of_what_is_damaged(pickled, data):
    """
    The same of pickles that were changed anywhere: bytes put in, left out, or put for others.
    """
    at = data.draw(st.integers(len(pickled) // 2, len(pickled) // 2 + 600) | st.integers(0, len(pickled) - 1))
    gone = data.draw(st.integers(0, 6))
    new = b"".join(data.draw(st.lists(st.sampled_from(OPCODES) | st.binary(min_size=1, max_size=1), max_size=3)))
    changed = pickled[:at] + new + pickled[at + gone :]

    assert seen(changed, torch_idiom.TENSORS) == seen(changed, {})


OPCODES = [b"0", b"1", b"2", b"(", b"t", b")", b"\x85", b"\x86", b"\x87", b"N", b"Q", b"R", b"\x88", b"\x89", b"\x94"]
OPCODES += [
    b"K\7",
    b"M\7\1",
    b"J\xff\xff\xff\xff",
    b"h\5",
    b"h\6",
    b"h\x0c",
    b"j\5\0\0\0",
    b"j\x40\2\0\0",
    b"g300\n",
    b"q\5",
    b"q\6",
]
OPCODES += [b"r\5\0\0\0", b"r\x40\2\0\0", b"p5\n", b"cos\nsystem\n", b"ctorch\nLongStorage\n", b"X\1\0\0\x007"]


@pytest.mark.parametrize("again", [b"q\6", b"r\6\0\0\0", b"p6\n"], ids=["BINPUT", "LONG_BINPUT", "PUT"])
def test_a_number_given_out_anew(tmp_path, again):
    """
    Where a number of the memo comes to stand for another type, the tensors after it are of that type, taken at once or not.
    """
    pickled = pickle_of(tmp_path, 2)
    middle = pickled.index(b"X\4\0\0\x0020.w")
    changed = pickled[:middle] + b"ctorch\nLongStorage\n" + again + b"0" + pickled[middle:]

    with_idioms, without = seen(changed, torch_idiom.TENSORS), seen(changed, {})

    assert with_idioms == without
    assert {row.dtype for row in with_idioms[-1][1] if row.name == "model.30.w"} == {"int64"}


@pytest.mark.parametrize("number", [b"g300\n", b"g0300\n", b"g +3_0_0 \n", b"j\x2c\1\0\0"])
def test_what_is_fetched_is_kept(number):
    """
    A value is fetched again by its number, however that is written, from a memo that keeps only what is fetched.
    """
    numbered = b"".join(b"Nr%c%c\0\0" % (n % 256, n // 256) + b"0" for n in range(300))
    data = b"\x80\x02" + numbered + b"cos\nsystem\nr\x2c\1\0\0" + b"0" + number + b"(X\2\0\0\0lstR."

    assert walk(data).root.name == "os.system"
    assert walk(data).globals == {"os.system": "called"}


def test_arguments_of_other_kinds(tmp_path):
    """
    What a rebuilder would give for a mapping instead of its arguments is no tensor.
    """
    pickled = pickle_of(tmp_path, 2)
    end = pickled.index(b"\x89h", pickled.index(b"X\4\0\0\x0020.w"))
    changed = pickled[:end] + pickled[end:].replace(b"tr", b"dr", 1)

    told = seen(changed, torch_idiom.TENSORS)

    assert told == seen(changed, {})
    assert "model.20.w" not in {row.name for row in told[-1][1]}
