"""Pickles walked as symbols: the walk sees what an unpickler would do, and does none of it."""

from __future__ import annotations

import io
import os
import pickle
import pickletools

import corpus
import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings

from verikit import FAIL, PASS, UNKNOWN, checkpoint_layout
from verikit.checks.checkpoint import CheckpointIntact
from verikit.probes.formats import pickle_names, torch_idiom
from verikit.probes.formats.layout import Broken, Layout
from verikit.probes.formats.pickle_walk import Call, Long, walk
from verikit.probes.place import CannotSee
from verikit.testing.here import examine_here

ATOMS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
KEYS = st.text() | st.integers() | st.tuples(st.integers(), st.text())
VALUES = st.recursive(
    ATOMS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=5) | st.tuples(inner, inner),
    max_leaves=30,
)


@settings(max_examples=300, deadline=None)
@given(value=VALUES, protocol=st.integers(3, 5))
def test_plain_values(value, protocol):
    """
    Plain values come out of the walk as they went into the pickle, up to its last byte.
    """
    data = pickle.dumps(value, protocol)

    found = walk(data)

    assert found.root == value
    assert found.end == len(data)
    assert not found.globals


@settings(max_examples=200, deadline=None)
@given(value=VALUES, protocol=st.integers(0, 5))
def test_names(value, protocol):
    """
    Every name that the opcodes hold is told, and no other: none hides behind the memo or the marks.
    """
    data = pickle.dumps([value, corpus.Config(3), {1, 2}, b"x"], protocol)
    strings, named = [], set()
    for opcode, arg, _ in pickletools.genops(data):
        if opcode.name == "GLOBAL":
            named.add(arg.replace(" ", ".").replace("__builtin__", "builtins").replace("copy_reg", "copyreg"))
        if opcode.name == "STACK_GLOBAL":
            named.add(f"{strings[-2]}.{strings[-1]}")
        if isinstance(arg, str) and "UNICODE" in opcode.name:
            strings.append(arg)

    assert set(walk(data).globals) >= {f"{corpus.__name__}.Config"}
    assert protocol >= 4 or set(walk(data).globals) == named


@settings(max_examples=300, deadline=None)
@given(data=st.binary(max_size=200))
def test_any_bytes(data):
    """
    Any bytes end in a walk or in a fault, never in another exception.
    """
    try:
        walk(data)
    except (Broken, CannotSee):
        pass


# Opcodes over plain values, and names that do nothing but hold some.
PLAIN = [
    b"K\1", b"K\0", b"J\xff\xff\xff\xff", b"N", b"\x88", b"X\1\0\0\0a", b"C\1b", b"G" + bytes(8), b")", b"]", b"}", b"\x8f",
    b"(", b"t", b"l", b"d", b"\x91", b"\x85", b"\x86", b"\x87", b"a", b"e", b"s", b"u", b"\x90", b"b", b"0", b"1", b"2", b"R",
    b"\x81", b"\x92", b"\x94", b"h\0", b"q\0", b"\x96\3" + bytes(7) + b"abc", b"\x97", b"\x98", b"o",
    b"ccollections\nOrderedDict\n", b"ccollections\nOrderedDict\n)R", b"ccollections\ndefaultdict\n)R",
    b"cbuiltins\nset\n", b"cbuiltins\nfrozenset\n", b"cbuiltins\nlist\n", b"cargparse\nNamespace\n)\x81",
]  # fmt: skip


@settings(max_examples=3000, deadline=None)
@given(opcodes=st.lists(st.sampled_from(PLAIN), min_size=1, max_size=10))
def test_what_an_unpickler_takes_the_walk_takes(opcodes):
    """
    Whatever Python's unpickler, in C or in Python, builds of plain opcodes is no fault for the walk.
    """
    data = b"\x80\5" + b"".join(opcodes) + b"."

    if any(loads(load, data) for load in (pickle.loads, pickle._loads)):
        walk(data, idioms=torch_idiom.TENSORS)


def loads(load, data):
    try:
        load(data)
    except Exception:
        return False
    return True


# What both refuse, whoever loads it.
SENSELESS = {
    "a number that is called": b"K\1)R",
    "a text that is called": b"X\1\0\0\0a)R",
    "a list that is made an object of": b"])\x81",
    "a call with a number for arguments": b"ccollections\nOrderedDict\nK\1R",
    "an item appended to a number": b"K\1K\2a",
    "items appended to a text": b"X\1\0\0\0a(K\1e",
    "an item appended to a dict": b"}K\1a",
    "an item of a tuple that is set": b"K\1\x85K\0K\2s",
    "items of a number that are set": b"K\1(K\0K\2u",
    "an item beyond a list": b"]K\5K\0s",
    "an item of a list by a name": b"]NaX\1\0\0\0aK\0s",
    "a dict that is a key": b"}}K\0s",
    "the state of a number": b"K\1}X\1\0\0\0aNsb",
    "the state of a list": b"]}X\1\0\0\0aNsb",
    "a number made read-only": b"K\1\x98",
    "a list made read-only": b"]\x98",
    "a buffer that no file has": b"\x97",
    "one within a list": b"]\x97a",
}


@pytest.mark.parametrize("name", SENSELESS)
def test_what_no_unpickler_takes(tmp_path, name):
    """
    Opcodes that Python and torch refuse are a fault in a file of torch's; buffers beside a plain pickle may be somewhere.
    """
    data = b"\x80\5" + SENSELESS[name] + b"."
    assert not any(loads(load, data) for load in (pickle.loads, pickle._loads))
    (tmp_path / "m.pkl").write_bytes(data)

    alone = examine_here(CheckpointIntact(tmp_path / "m.pkl"))
    within = examine_here(CheckpointIntact(corpus.rebuilt(lambda records: {**records, "data.pkl": data})(tmp_path)))

    assert alone.verdict is (UNKNOWN if "buffer that" in name or "one within" in name else FAIL), alone.reason
    assert within.verdict is FAIL, within.reason


@pytest.mark.parametrize("data", [b"\x96\3" + bytes(7) + b"abc\x98", b"C\1b\x98", b"N\x94h\0", b"]NaK\0K\5s"])
def test_rare_and_right(tmp_path, data):
    """
    A buffer within the pickle that is made read-only, None from the memo, an item of a list put in another's place.
    """
    (tmp_path / "m.pkl").write_bytes(b"\x80\5" + data + b".")

    assert examine_here(CheckpointIntact(tmp_path / "m.pkl")).verdict is PASS


def test_names_behind_a_buffer(tmp_path):
    """
    Whoever has the buffers would run what comes behind them.
    """
    (tmp_path / "m.pkl").write_bytes(b"\x80\5\x970cos\nsystem\n(X\4\0\0\0truetR.")

    assert "would call os.system" in examine_here(CheckpointIntact(tmp_path / "m.pkl")).reason


@settings(max_examples=200, deadline=None)
@given(cut=st.integers(0, 10_000), protocol=st.integers(0, 5))
def test_cut(cut, protocol):
    """
    A pickle that lacks its end breaks off.
    """
    data = pickle.dumps({"a": [1, 2.5, "x" * 40, b"y" * 300], "config": corpus.Config()}, protocol)

    with pytest.raises(Broken, match=r"breaks off|no sense"):
        walk(data[: cut % len(data)])


def test_names_before_the_break():
    """
    What stands before the break is told all the same: an unpickler would have run it by then.
    """
    layout = Layout()

    with pytest.raises(Broken):
        walk(corpus.call("os", "system", "true")[:-1], layout, "data.pkl")

    assert layout.globals == {"os.system": {"use": "called", "where": "data.pkl"}}


def test_memo_bomb():
    """
    A list of lists of the same list, 2^60 items if it were written out, takes no room here, and is refused.
    """
    data = b"\x80\x02]q\x00" + b"".join(b"](h%ch%ceq%c" % (n, n, n + 1) for n in range(60)) + b"."

    with pytest.raises(CannotSee, match="unfolds to more than"):
        walk(data)


@pytest.mark.parametrize("number", [300, 1000, 60_000])
def test_numbers_that_leave_gaps(number):
    """
    A short pickle may number a value as it likes: what it fetches is followed, and its name judged.
    """
    index = number.to_bytes(4, "little")
    layout = Layout("x", 0)

    walk(b"\x80\4\x8c\2osr" + index + b"0j" + index + b"\x8c\6system\x93X\2\0\0\0id\x85R.", layout, "x")

    assert layout.globals == {"os.system": {"use": "called", "where": "x"}}


NESTED_KEY = b")q\0" + b"".join(b"h%ch%c\x86q%c" % (n, n, n + 1) for n in range(60)) + b"0"
USES_OF_A_KEY = {
    "SETITEM": b"}h\x3cNs.",
    "SETITEMS": b"}(h\x3cNu.",
    "DICT": b"(h\x3cNd.",
    "ADDITEMS": b"\x8f(h\x3c\x90.",
    "FROZENSET": b"(h\x3c\x91.",
    "a set from a list": b"cbuiltins\nset\n](h\x3ce\x85R.",
    "pairs": b"ccollections\nOrderedDict\n](h\x3cN\x86e\x85R.",
    "a dict that is dropped again": b"}h\x3cNs0N.",
}


@pytest.mark.parametrize("use", USES_OF_A_KEY)
def test_keys_that_unfold(use):
    """
    A nest of empty tuples that is a key, or of a set, is small until it is hashed: 2^60 steps, whatever becomes of it then.
    """
    with pytest.raises(CannotSee, match="unfolds to more than"):
        walk(b"\x80\4" + NESTED_KEY + USES_OF_A_KEY[use])


def test_keys_that_are_tuples():
    """
    Tuples are keys as they stand; the same ones over and over are no bomb.
    """
    value = {(1, ("a", (None, 2))): 1, (3, 4): {5: (6, (7,))}, frozenset([(8, (9, 10))]): ()}

    assert walk(pickle.dumps([value] * 1000, 4)).end == len(pickle.dumps([value] * 1000, 4))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"(" * 30_000, "nested"),
        (b"\x80\x02" + b"N0" * 2000 + b"N.", "opcodes"),
        (b"\x80\x02\x8b\xff\xff\xff\x7f" + b"\xff" * 9, "number"),
    ],
    ids=["marks", "opcodes", "a number of 2 GiB"],
)
def test_bounds(data, words):
    """
    Too deep, too long or too large a pickle is a bound that was reached.
    """
    with pytest.raises(CannotSee, match=words):
        walk(data, opcodes=1000 if "opcodes" in words else 10_000_000)


@pytest.mark.parametrize(
    "claim", [b"B\xff\xff\xff\xff", b"\x8e" + b"\xff" * 8, b"\x8d" + b"\xff" * 8, b"X\xff\xff\xff\xff"]
)
def test_sizes_that_are_not_there(claim):
    """
    A text or bytes object that claims 2^64 bytes breaks off, and nothing is set aside for it.
    """
    with pytest.raises(Broken):
        walk(b"\x80\x04" + claim + b"x.")


def test_long_bytes_stay_in_the_file():
    """
    Bytes too long to copy are known by their offset and size.
    """
    data = pickle.dumps(b"x" * 100_000, 4)

    found = walk(data).root

    assert type(found) is Long
    assert data[found.offset : found.offset + found.nbytes] == b"x" * 100_000


def test_calls_are_symbols():
    """
    What an unpickler would call is there as a call: the name, the arguments, the state.
    """
    found = walk(pickle.dumps(corpus.Config(9), 2)).root

    assert type(found) is Call
    assert found.name == f"{corpus.__name__}.Config"
    assert found.state == {"width": 9}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("torch._utils._rebuild_tensor_v2", "harmless"),
        ("torch.cuda.FloatStorage", "harmless"),
        ("collections.OrderedDict", "harmless"),
        ("collections.OrderedDict.__init__", "other"),
        ("torch._utilsx", "other"),
        ("os.system", "harmful"),
        ("os.path.join", "harmful"),
        ("builtins.eval", "harmful"),
        ("subprocess", "harmful"),
        ("torch.load", "harmful"),
        ("torch.hub.load", "harmful"),
        ("torch.jit.unsupported_tensor_ops.execWrapper", "harmful"),
        ("torch.jit.annotations._eval_no_call", "harmful"),
        ("numpy.savetxt", "harmful"),
        ("numpy.savez_compressed", "harmful"),
        ("numpy.ndarray.tofile", "harmful"),
        ("numpy.ndarray", "harmless"),
        ("pandas.to_pickle", "harmful"),
        ("pandas.io.parquet.to_parquet", "harmful"),
        ("pandas.core.frame.DataFrame", "other"),
        ("scipy.io.savemat", "harmful"),
        ("torch.from_file", "harmful"),
        ("safetensors.torch.save_file", "harmful"),
        ("torch.jit.annotationsx", "other"),
        ("torch.distributed.elastic.multiprocessing.api.DefaultLogsSpecs", "harmful"),
        ("concurrent.futures.process.ProcessPoolExecutor", "harmful"),
        ("test.support.script_helper.assert_python_ok", "harmful"),
        ("test.Config", "other"),
        ("dataclasses._create_fn", "harmful"),
        ("dataclasses.Field", "other"),
        ("typing.get_type_hints", "harmful"),
        ("typing.Any", "other"),
        ("gzip.open", "harmful"),
        ("torch.loads", "other"),
        ("osx.system", "other"),
        ("myteam.config.Config", "other"),
    ],
)
def test_kinds_of_names(name, kind):
    """
    Harmless are exact names only; harmful are names and all beneath them; the rest is for the team to say.
    """
    assert pickle_names.kind(name) == kind


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_an_array_that_was_mapped(tmp_path, protocol):
    """
    An array of `numpy.memmap` names its class for numpy to make one, from the bytes at hand; a call of it opens a file.
    """
    mapped = np.memmap(tmp_path / "x", "f4", "w+", shape=(4,))
    torch.save({"a": mapped}, tmp_path / "m.pt", pickle_protocol=protocol)
    (tmp_path / "n.pkl").write_bytes(corpus.call("numpy", "memmap", str(tmp_path / "x")))

    assert examine_here(CheckpointIntact(tmp_path / "m.pt")).verdict is PASS
    assert "would call numpy.memmap" in examine_here(CheckpointIntact(tmp_path / "n.pkl")).reason


def test_nothing_is_both():
    """
    No name is on both lists.
    """
    assert {name for name in pickle_names.HARMLESS if pickle_names.kind(name) != "harmless"} == set()
    assert not pickle_names.HARMLESS & pickle_names.HARMFUL


def test_weights_only_names_are_harmless():
    """
    What torch's own weights_only unpickler allows is harmless here, but for what it adds for its own tests.
    """
    from torch._weights_only_unpickler import _get_allowed_globals

    names = {
        name for name in _get_allowed_globals() if name.startswith(("torch._utils", "torch._tensor", "collections"))
    }
    names |= {name for name in _get_allowed_globals() if name.endswith(("Storage", "Tensor"))}

    assert {name for name in names if pickle_names.kind(name) != "harmless"} == set()


class Within:
    """Pickles as storages do outside of torch.save: by a file that is an argument."""

    def __init__(self, data):
        self.data = data

    def __reduce__(self):
        return torch.storage._load_from_bytes, (self.data,)


def older(value):
    buffer = io.BytesIO()
    torch.save(value, buffer, _use_new_zipfile_serialization=False)
    return buffer.getvalue()


def newer(value):
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("size", [3, 70_000])
def test_tensors_in_a_plain_pickle(tmp_path, size):
    """
    A tensor that pickle.dump wrote brings its storage along as a file of torch's, which is walked too: no name to trust.
    """
    path = tmp_path / "x.pkl"
    path.write_bytes(pickle.dumps({"w": torch.arange(float(size)).reshape(1, size)}))

    found = examine_here(CheckpointIntact(path))

    assert found.verdict is PASS, found.reason
    row = checkpoint_layout(path)["w"]
    assert (row.shape, row.dtype) == ((1, size), "float32")


class Harm:
    def __reduce__(self):
        return os.system, ("true",)


INNER = {
    "harm in it": lambda: older(Harm()),
    "harm before it": lambda: older(torch.ones(2).untyped_storage()).replace(
        b"\x80\2}q\0(X\x10", b"\x80\2cos\nsystem\n0}q\0(X\x10"
    ),
    "harm, and then it breaks off": lambda: older(Harm())[:-20],
    "not a storage": lambda: older({"a": 1}),
    "another format": lambda: newer({"a": 1}),
    "one in another": lambda: older(Within(older(torch.ones(2).untyped_storage()))),
    "no file": lambda: b"cos\nsystem\n.",
}


@pytest.mark.parametrize("name", INNER)
def test_files_in_a_plain_pickle(tmp_path, name):
    """
    What is brought along as a storage and is none, or does harm on the way, is FAIL, and is not run.
    """
    path = tmp_path / "x.pkl"
    path.write_bytes(pickle.dumps(Within(INNER[name]())))

    found = examine_here(CheckpointIntact(path))

    assert found.verdict is FAIL
    assert "unsafe pickle" in found.reason


@pytest.mark.parametrize("array", [bytes(range(200, 256)) * 9, b"\x00" * 64, b"\xff" * 4000])
def test_arrays_of_joblib(tmp_path, array):
    """
    joblib writes arrays between opcodes: its files are UNKNOWN, neither unsafe nor broken, unless what comes before is.
    """
    wrapped = b"cjoblib.numpy_pickle\nNumpyArrayWrapper\n)\x81}X\5\0\0\0shapeK\7sb" + array + b"."
    (tmp_path / "x.pkl").write_bytes(b"\x80\2" + wrapped)
    (tmp_path / "y.pkl").write_bytes(b"\x80\2cos\nsystem\nX\2\0\0\0id\x85R0" + wrapped)

    good, evil = (examine_here(CheckpointIntact(tmp_path / name)) for name in ("x.pkl", "y.pkl"))

    assert good.verdict is UNKNOWN, good.reason
    assert "joblib" in good.reason
    assert evil.verdict is FAIL
    assert "would call os.system" in evil.reason
