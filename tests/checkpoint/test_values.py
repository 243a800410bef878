"""Values that are not finite, wherever they hide: packed records, pieces, views, either byte order, every type of float."""

from __future__ import annotations

import threading
import zipfile

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings

from places import Bare
from verikit import FAIL, PASS, UNKNOWN, Cause
from verikit.checks.checkpoint import CheckpointIntact
from verikit.probes import checkpoint, content
from verikit.probes import finite as values
from verikit.probes.place import Place
from verikit.testing.here import examine_here

FLOATS = (
    torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.complex32, torch.complex64, torch.complex128,
    torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz, torch.float8_e8m0fnu,
)  # fmt: skip
NAN, INF = float("nan"), float("inf")

HOSTS = {"both": (), "numpy alone": ("torch",), "torch alone": ("numpy",)}


def look(path):
    return examine_here(CheckpointIntact(path, depth="content", finite=True))


def faults(path, place=None):
    facts = checkpoint.inspect(place or Place(), str(path), "content", finite=True)
    return [fault["what"] for row in facts["files"] for fault in row["faults"]]


def numbers_of(tensor):
    """Its elements as torch itself reads them: [elements, 1], or [elements, 2] of complex ones."""
    tensor = tensor.flatten()
    wide = tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)
    return torch.view_as_real(wide) if wide.is_complex() else wide[:, None]


def rezip(path, method=zipfile.ZIP_DEFLATED):
    """The same records, packed."""
    with zipfile.ZipFile(path) as whole:
        rows = [(info.filename, whole.read(info)) for info in whole.infolist()]
    with zipfile.ZipFile(path, "w", method) as packed:
        for name, data in rows:
            packed.writestr(name, data)
    return path


# Types.


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_every_pattern_of_every_type(tmp_path, dtype, host):
    """
    For every float type of torch, and any bits: counts of NaN and Inf and the first index are those that torch itself finds.
    """
    generator = torch.Generator().manual_seed(2)
    raw = torch.randint(0, 256, (256 * 16,), dtype=torch.uint8, generator=generator)
    if dtype.itemsize == 1:
        raw = torch.arange(256, dtype=torch.uint8).roll(100)
    tensor = raw.view(dtype)
    parts = numbers_of(tensor)
    nan, inf = torch.isnan(parts), torch.isinf(parts)
    torch.save({"w": tensor}, tmp_path / "model.pt")

    found = faults(tmp_path / "model.pt", Bare(*HOSTS[host]))

    if not (nan.any() or inf.any()):
        assert not found
        return
    words = " and ".join(f"{int(n.sum())} {word}" for n, word in ((nan, "NaN"), (inf, "Inf")) if n.any())
    first = int((nan | inf).any(dim=1).nonzero()[0])
    assert found == [f"tensor 'w' has {words}, the first at [{first}]"]


BLOCKS = {
    "small": lambda n: torch.linspace(-1.5, 1.5, n), "large": lambda n: torch.linspace(-9, 9, n),
    "huge": lambda n: torch.full((n,), 3e38), "tiny": lambda n: torch.full((n,), 1e-30), "zero": lambda n: torch.zeros(n),
    "NaN": lambda n: torch.full((n,), 0.5).index_fill_(0, torch.tensor(n // 3), NAN),
    "Inf": lambda n: torch.full((n,), 2.5).index_fill_(0, torch.tensor(n - 1), -INF),
}  # fmt: skip


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_one_kind_of_block_after_another(tmp_path, data):
    """
    Whatever kinds of numbers follow each other, each bad one is counted once, and nothing else is.
    """
    kinds = data.draw(st.lists(st.sampled_from(sorted(BLOCKS)), min_size=1, max_size=30))
    dtype = data.draw(st.sampled_from([torch.float64, torch.float32, torch.bfloat16]))
    count = data.draw(st.sampled_from([64, 200, 1000]))
    numbers = torch.cat([BLOCKS[kind](count) for kind in kinds]).to(dtype)
    torch.save({"w": numbers}, tmp_path / "model.pt")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(content, "block_of", lambda place: count * dtype.itemsize)
        patch.setattr(values._Numpy, "ROW", data.draw(st.sampled_from([16, 100, 8192])))
        found = faults(tmp_path / "model.pt")

    words = [f"{kinds.count(word)} {word}" for word in ("NaN", "Inf") if word in kinds]
    first = next((at for at, number in enumerate(numbers.tolist()) if number - number != 0), None)
    assert found == [f"tensor 'w' has {' and '.join(words)}, the first at [{first}]"] * bool(words)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_types_without_an_engine(tmp_path, dtype):
    """
    With neither numpy nor torch every float type is `unsupported`, and what else the bytes show is found all the same.
    """
    torch.save({"w": torch.ones(64, dtype=torch.uint8).view(dtype)}, tmp_path / "model.pt")

    facts = checkpoint.inspect(Bare("numpy", "torch"), str(tmp_path / "model.pt"), "content", finite=True)

    assert [row["kind"] for row in facts["files"][0]["unknowns"]] == ["unsupported"]
    assert facts["content"]["compared"] > 0


def test_torch_keeps_its_threads(tmp_path):
    """
    Where torch looks, it has as many threads afterwards as before, in the thread that asked and in those to come.
    """
    torch.save({"w": torch.ones(100_000)}, tmp_path / "model.pt")
    before, later = torch.get_num_threads(), []
    torch.set_num_threads(3)
    try:
        found = checkpoint.inspect(Bare("numpy"), str(tmp_path / "model.pt"), "content", finite=True)
        thread = threading.Thread(target=lambda: later.append(torch.get_num_threads()))
        thread.start()
        thread.join()
        after = torch.get_num_threads()
    finally:
        torch.set_num_threads(before)

    assert "torch" in found["content"]["by"]
    assert (after, later) == (3, [3])


def test_nothing_to_look_at_needs_no_engine(tmp_path):
    """
    Whole numbers, truth values and four-bit floats have neither NaN nor Inf: they pass without numpy or torch.
    """
    state = {"i": torch.ones(5, dtype=torch.int64), "b": torch.ones(5, dtype=torch.bool)}
    state["f4"] = torch.full((8,), 255, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
    torch.save(state, tmp_path / "model.pt")

    facts = checkpoint.inspect(Bare("numpy", "torch"), str(tmp_path / "model.pt"), "content", finite=True)

    assert not facts["files"][0]["unknowns"]
    assert not facts["faults"]


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "c8", "c16"])
def test_byte_orders(tmp_path, order, kind, host):
    """
    Both byte orders, beside each other in one archive, packed or not.
    """
    array = np.ones((40, 50), order + kind)
    array[3, 7] = INF
    other = np.full((9,), 1.5, ("<" if order == ">" else ">") + kind)
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "x.npz", w=array, other=other)
        assert faults(tmp_path / "x.npz", Bare(*HOSTS[host])) == ["tensor 'w' has 1 Inf, the first at [3, 7]"]
    np.save(tmp_path / "x.npy", array)
    assert faults(tmp_path / "x.npy", Bare(*HOSTS[host])) == ["tensor '' has 1 Inf, the first at [3, 7]"]


def test_big_endian_torch(tmp_path, monkeypatch):
    """
    A file that torch wrote on a big-endian machine: values are read as it wrote them.
    """
    weights = torch.ones(30, 40)
    weights[2, 3] = NAN
    torch.save({"w": weights}, tmp_path / "model.pt")
    with zipfile.ZipFile(tmp_path / "model.pt") as whole:
        rows = [(info.filename, whole.read(info)) for info in whole.infolist()]
    with zipfile.ZipFile(tmp_path / "big.pt", "w") as big:
        for name, data in rows:
            if name.endswith("byteorder"):
                data = b"big"
            elif name.endswith("data/0"):
                data = np.frombuffer(data, "<f4").astype(">f4").tobytes()
            if not name.endswith("serialization_id"):
                big.writestr(name, data)

    for host in HOSTS.values():
        assert faults(tmp_path / "big.pt", Bare(*host)) == ["tensor 'w' has 1 NaN, the first at [2, 3]"]


def test_types_that_are_not_known(tmp_path):
    """
    Values of records with fields, of long doubles and of pickled objects are UNKNOWN, not passed over.
    """
    rows = {
        "fields": np.zeros(3, [("a", "f4"), ("b", "i4")]),
        "long": np.zeros(3, "longdouble"),
        "objects": np.array([1.0, None]),
    }
    for name, array in rows.items():
        np.savez(tmp_path / "x.npz", w=np.ones(3), **{name: array})
        found = look(tmp_path / "x.npz")
        assert (found.verdict, found.cause) == (UNKNOWN, Cause.UNSUPPORTED), name
        assert repr(name) in found.reason
    np.savez(tmp_path / "x.npz", w=np.ones(3), text=np.array(["a"]), times=np.array(["2020"], "M8[Y]"), i=np.arange(3))
    assert look(tmp_path / "x.npz").verdict is PASS


# Packed.


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 299_999), value=st.sampled_from([NAN, INF]), data=st.data())
def test_packed_values_are_located(tmp_path, at, value, data):
    """
    A bad value in a deflated record, of torch or numpy, is located as in a plain one, however the unpacked bytes come.
    """
    weights = torch.ones(500, 600)
    weights.view(-1)[at] = value
    torch.save({"first": torch.ones(7).half(), "w": weights}, tmp_path / "x.pt")
    np.savez_compressed(tmp_path / "x.npz", first=np.ones(7, "f2"), w=weights.numpy())
    rezip(tmp_path / "x.pt", zipfile.ZIP_DEFLATED)
    rezip(tmp_path / "x.npz", data.draw(st.sampled_from([zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])))
    word = "NaN" if value != value else "Inf"
    wanted = f"tensor 'w' has 1 {word}, the first at [{at // 600}, {at % 600}]"

    with pytest.MonkeyPatch.context() as patch:
        size = data.draw(st.sampled_from([301, 4096, 1 << 18]))
        patch.setattr(content, "block_of", lambda place: size)
        assert faults(tmp_path / "x.npz") == [wanted]
        assert wanted in "".join(faults(tmp_path / "x.pt"))


def test_packed_values_pass(tmp_path):
    """
    Deflated records of good values pass, with the number of values that were looked at.
    """
    np.savez_compressed(tmp_path / "x.npz", w=np.ones((300, 1000), "f4"), b=np.ones(3))
    torch.save({"w": torch.ones(300, 1000), "b": torch.ones(3)}, tmp_path / "x.pt")
    rezip(tmp_path / "x.pt")

    for name in ("x.npz", "x.pt"):
        found = look(tmp_path / name)
        assert found.verdict is PASS
        assert "300,003 values are finite" in found.reason


def test_packed_zeros(tmp_path):
    """
    Zeros in packed records are told as in plain ones: a whole tensor, and whole blocks of 4 KiB.
    """
    holed = np.ones(10_000, "f4")
    holed[2048:6144] = 0
    np.savez_compressed(tmp_path / "x.npz", bias=np.zeros(30), holed=holed)

    found = look(tmp_path / "x.npz")

    assert found.verdict is PASS
    assert "tensor 'bias' is all zeros" in found.warnings
    assert any(
        "'holed' has whole blocks of 4 KiB that are zeros, the first at byte 12288 of" in row for row in found.warnings
    )


# Views and pieces.


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_views_of_one_storage(tmp_path, data):
    """
    Whatever views of a storage are saved, a file is at fault exactly if one of them has a bad value, and the index is its own.
    """
    base = torch.ones(60)
    bad = data.draw(st.integers(0, 59))
    base[bad] = NAN
    views = {}
    for name in "abc":
        shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
        strides = data.draw(st.lists(st.integers(0, 9), min_size=len(shape), max_size=len(shape)))
        offset = data.draw(st.integers(0, 20))
        assume(offset + sum((n - 1) * step for n, step in zip(shape, strides, strict=True)) < 60)
        views[name] = torch.as_strided(base, shape, strides, offset)
    torch.save(views, tmp_path / "model.pt")
    if data.draw(st.booleans()):
        rezip(tmp_path / "model.pt")

    found = faults(tmp_path / "model.pt")

    holders = {name for name, view in views.items() if view.isnan().any()}
    assert len(found) == bool(holders)
    for what in found:
        name = what.split("'")[1]
        index = tuple(int(n) for n in what.rpartition("[")[2].rstrip("]").split(","))
        assert views[name][index].isnan()


def test_even_and_odd(tmp_path):
    """
    Two views that lie between each other's elements are both looked at.
    """
    base = torch.ones(1000)
    base[501] = INF
    torch.save({"even": base[::2], "odd": base[1::2]}, tmp_path / "model.pt")

    assert faults(tmp_path / "model.pt") == ["tensor 'odd' has 1 Inf, the first at [250]"]


def test_many_bad_values_in_views(tmp_path, monkeypatch):
    """
    Where a view is full of bad values, not all of them are counted one by one, and the words say so.
    """
    torch.save({"w": torch.full((300, 100), NAN).t()}, tmp_path / "model.pt")

    assert faults(tmp_path / "model.pt") == ["tensor 'w' has at least 4,096 NaN, the first at [0, 0]"]

    monkeypatch.setattr(values, "TRIES", 100)
    found = look(tmp_path / "model.pt")
    assert (found.verdict, found.cause) == (UNKNOWN, Cause.BOUND_REACHED)


def test_fortran_order(tmp_path):
    """
    Arrays in Fortran's order: the index is that of the array.
    """
    array = np.asfortranarray(np.ones((30, 40, 5)))
    array[3, 17, 2] = NAN
    np.save(tmp_path / "x.npy", array)
    np.savez(tmp_path / "x.npz", w=array)

    assert faults(tmp_path / "x.npy") == ["tensor '' has 1 NaN, the first at [3, 17, 2]"]
    assert faults(tmp_path / "x.npz") == ["tensor 'w' has 1 NaN, the first at [3, 17, 2]"]


def test_pieces_of_a_distributed_checkpoint(tmp_path):
    """
    A value in a chunk of a distributed checkpoint has the index that it has in the whole tensor.
    """
    from verikit.probes.formats import distcp
    from verikit.probes.formats.dcp import Piece
    from verikit.probes.formats.layout import Layout, Window

    chunk = torch.ones(20, 30)
    chunk[4, 5] = NAN
    torch.save(chunk.t(), tmp_path / "piece")
    size = (tmp_path / "piece").stat().st_size
    with Place().steady(str(tmp_path / "piece")) as file:
        layout = Layout(str(tmp_path / "piece"), size, "distcp")
        layout.parts = [Piece("w", (60, 100), (30, 20), "piece", 0, size, False)]
        distcp.structure(Window(file, size), layout)
        content.compare(Place(), file, layout, finite=True)

    assert [row["what"] for row in layout.faults] == ["tensor 'w' has 1 NaN, the first at [65, 104]"]


def test_a_saved_distributed_checkpoint(tmp_path):
    """
    A distributed checkpoint by torch itself: values in it are looked at, and a bad one is located.
    """
    import torch.distributed.checkpoint as dcp

    weights = torch.ones(50, 60)
    dcp.save({"w": weights, "b": torch.ones(3)}, checkpoint_id=str(tmp_path / "good"), no_dist=True)
    weights[7, 8] = INF
    dcp.save({"w": weights, "b": torch.ones(3)}, checkpoint_id=str(tmp_path / "bad"), no_dist=True)

    good, bad = look(tmp_path / "good"), look(tmp_path / "bad")

    assert good.verdict is PASS
    assert "3,003 values are finite" in good.reason
    assert bad.verdict is FAIL
    assert "tensor 'w' has 1 Inf, the first at [7, 8]" in bad.reason


@given(data=st.data())
def test_coordinates(data):
    """
    The coordinates of any element of any view lead back to it, and places that no element has give none.
    """
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    strides = data.draw(st.lists(st.integers(0, 12), min_size=len(shape), max_size=len(shape)))
    places = {sum(i * step for i, step in zip(index, strides, strict=True)) for index in np.ndindex(*shape)}

    for index in range(max(places) + 2):
        found = values.coordinates(shape, strides, index)
        assert (found is not None) == (index in places)
        if found is not None:
            assert sum(i * step for i, step in zip(found, strides, strict=True)) == index
            assert all(0 <= i < n for i, n in zip(found, shape, strict=True))


@given(data=st.binary(min_size=0, max_size=300), at=st.integers(0, 10_000), hole=st.integers(0, 20_000))
def test_zero_pages(data, at, hole):
    """
    The first aligned page of zeros in a block is found, wherever the block lies, and none where there is none.
    """
    block = bytearray((data or b"\1") * 200)[:30_000]
    block[hole : hole + 6000] = bytes(len(block[hole : hole + 6000]))
    pages = [page for page in range(-at % 4096, len(block) - 4095, 4096) if not any(block[page : page + 4096])]

    assert values.zero_page(memoryview(block), at) == (at + pages[0] if pages else None)
