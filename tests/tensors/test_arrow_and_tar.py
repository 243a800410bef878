"""Arrow by its messages and WebDataset by its members' headers: columns, arrays, lengths, and what is cut."""

from __future__ import annotations

import base64
import io
import tarfile
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verikit import FAIL, PASS, UNKNOWN, TensorShapeSane
from verikit.probes.formats import arrow_ipc, webdataset
from verikit.probes.formats.layout import Broken, Layout, Window
from verikit.probes.place import CannotSee
from verikit.testing.here import examine_here

numpy = pytest.importorskip("numpy")

# pyarrow 26.0.1, two batches: input_ids list<int32> [[1, 2, 319], [4], []], loss_mask list<int64> alike,
# emb fixed_size_list<float>[2] of three rows, text string, n uint16; as a stream and as a file.
STREAM = (
    "eNqtVDtOw0AQHX9ilsiFiwi5SOGCIgVFDoCUHIEDIEUJREpEEpBspJQpKTgCRWpOQElByQEoOQnL2/VYWY1inEiMNDM7O2/e/sbWWusvjyghI22KKaIWKY"
    "wgXoiYECnYkC0hT9RDzQf8NbTP828/WqPIN1wdnrM00BX0FWuZ3HeJa5lx6uCML6brwoxjYJW2uMRwZZw3XF1oAJ0uJ7AR9hXCEvnQy7ImSBjncs+L6bLE"
    "RxZv2BYlPpZrmH2dQhf3eT5ajvM7jLfAvujdGdO9/ETPFkPeEObT4T93+C+Yf756eCxG89vc5kKbT3B7Zo8n9vYTfptyzaxmTQWsQoXiK88Yo/l9OxzHdM"
    "YvHFt2CkJ7jieqpI04tq9teqDLveHTThKql7gGkwifiXwm6vsi3xe4K5Gvi1P2M5GfifXW7AP2G4Gv4siZU+JeyHmbSv477++580B8awYz8HZzwR5er8bj"
    "pAMYtO4QuoFuoe/DClPdz3hyw3W+nTu0z3oNfeYd2GdKeDoyVg19emysRL+RiFVD38vYF3v26G85Nu835Jv43L5wvxtd/vvoF7PnXoU="
)
FILE = (
    "eNrtVr1OAkEQnvvhXMkVVxBDQXGFBYUF9ibAE0hobEwIKAlEQBMwoaS08BEsqH0CSwtLH8CS0qfw/HZvLpwj50FiY+Iks7Oz8+3s3uy3d9dst0/PjokiyJ"
    "tFFJCWIvnkUYEUehDLhU/wFFqXW0KcqIo5L7Dn0BqPP31EESbZOleJx0wa6AT6iLV0bBXjCrpfTuG0nfXnM933gVWRwQU6V8hxnasCdaD9cQ+th325aIls"
    "6Ek8xwkYl849nPXHMd4zeJ1tFON9uYbe1z50dD2ddsbd6RX6S2AfovUzljfmJ7o3GLIaaF5T+Q9T+Y84/3ByczvrDC+nJuaaeIDq6T3umeoHfDbxmmHGmg"
    "pYhRmKSx4yJjnfEvs+HfAJ+yY7Oa55jjtKpAjfN6etOVBhbti0loCyxc/ABMKGIh6K+TURrwlcS8Sz/DLbgYgPxHpztg7bhcAnvpcaU6IulDqbRH47bm+o"
    "uSPumsbUrfWYsyGvlWHxpHU0oG4DuoAuoc+NBJPUp9u74Hm2GduWZ9Ucnllb8kwJSzv6Koenu/pK8I2Er3J4L31b7Nmin2XXuJ0Tz8uX5kX63kTxu8/UxQ"
    "cbPMOAgO+Za+5lg/mo9/DOC63YJu+hlvt1vPrtHP+/SX/xm1RGQZrm3+MTcemigA=="
)
WRITTEN = {name: zlib.decompress(base64.b64decode(text)) for name, text in (("stream", STREAM), ("file", FILE))}
SPEC = "input_ids: i32[n]; loss_mask: i64[n]; emb: f32[r 2]; n: u16[r]; text: str[_]; meta(rows): == 3"


def look(path, spec, **more):
    return examine_here(TensorShapeSane(path, spec, **more))


@pytest.mark.parametrize("form", WRITTEN)
def test_columns(tmp_path, form):
    """
    Columns have the lengths of all their batches; lists of a fixed size have two axes; values are those of all batches.
    """
    path = tmp_path / "data.arrow"
    path.write_bytes(WRITTEN[form])

    assert look(path, SPEC, strict=True).reason == "5 tensors as specified (n=4, r=3)"
    assert "data.arrow:input_ids axis 0 (5): 4, expected 5" in look(path, "input_ids: i32[5]").reason
    finding = look(path, "input_ids: i32[n] & in 0..9")
    assert finding.reason == "data.arrow:input_ids: 1 of 4 values is not in 0..9, first at [2]; range 1..319"


@pytest.mark.parametrize("form", WRITTEN)
def test_cut_anywhere(tmp_path, form):
    """
    A file that lacks its end does not pass; a stream neither, unless it was cut between two batches, which is a warning.
    """
    path, data = tmp_path / "data.arrow", WRITTEN[form]
    for cut in range(1, len(data), 41):
        path.write_bytes(data[:-cut])
        assert look(path, SPEC).verdict is not PASS, cut


@given(st.data())
@settings(deadline=None, max_examples=150)
def test_hostile_arrow(data):
    """
    Whatever the bytes are, the reader tells a fault or an unknown, and raises nothing else.
    """
    written = bytearray(WRITTEN[data.draw(st.sampled_from(sorted(WRITTEN)))])
    for at, byte in data.draw(st.lists(st.tuples(st.integers(0, len(written) - 1), st.integers(0, 255)), max_size=6)):
        written[at] = byte
    assert read(arrow_ipc, bytes(written)) is not None


def read(module, data):
    layout = Layout("x", len(data), "x")
    try:
        module.structure(Window(io.BytesIO(data), len(data)), layout)
    except (Broken, CannotSee):
        pass
    assert all(length >= 0 for row in layout.tensors for length in row.shape)
    return layout


def npy(array):
    stream = io.BytesIO()
    numpy.save(stream, array)
    return stream.getvalue()


def shard(path, members, form=tarfile.USTAR_FORMAT):
    with tarfile.open(path, "w", format=form) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def samples(lengths, short=None):
    members = {}
    for k, length in enumerate(lengths):
        members[f"{k:06d}.input_ids.npy"] = npy(numpy.arange(length))
        members[f"{k:06d}.mask.npy"] = npy(numpy.ones(length - (k == short), "i1"))
        members[f"{k:06d}.json"] = b"{}"
    return members


IDS = "*.input_ids: i64[s@module] & in 0..9"


def test_samples(tmp_path):
    """
    Each array of a WebDataset shard is a tensor of its sample, whose values are looked at where they lie.
    """
    path = shard(tmp_path / "shard-000000.tar", samples([4, 5, 6]))

    assert look(path, f"{IDS} & step 1; *.mask: i8[s] & == 1; meta(samples): == 3", strict=True).verdict is PASS
    finding = look(path, "*.input_ids: i64[_] & in 0..4")
    assert "shard-000000.tar:000002.input_ids: 1 of 6 values is not in 0..4, first at [5]" in finding.reason
    short = shard(tmp_path / "shard-000001.tar", samples([4, 5, 6], short=1))
    assert "000001.mask axis 0 (s): 4, expected 5 = s" in look(short, f"{IDS}; *.mask: i8[s]").reason


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_names(tmp_path, form):
    """
    Names of more than a hundred letters are read as GNU tar and pax write them.
    """
    name = "part/" + "x" * 120 + ".ids"
    path = shard(tmp_path / "s.tar", {name + ".npy": npy(numpy.arange(3))}, form)

    assert look(path, {name: "i64[3] & step 1"}).verdict is PASS


def test_layouts_of_arrays(tmp_path):
    """
    Big-endian arrays, and those whose first axis runs fastest, have the values that numpy gives them, beside others too.
    """
    rows = numpy.arange(6, dtype=">i4").reshape(2, 3)
    plain = {"0.b.npy": npy(numpy.arange(6, dtype="<i4"))}
    path = shard(tmp_path / "s.tar", {"0.a.npy": npy(numpy.asfortranarray(rows)), **plain})

    assert look(path, "0.a: i32[2 3] & step 1 & in 0..5; 0.b: i32[6] & step 1 & in 0..5").verdict is PASS


def test_cut_shard(tmp_path):
    """
    A shard that lacks its end, or an array that is longer than its member, is broken.
    """
    path = shard(tmp_path / "s.tar", samples([4, 5]))
    whole = path.read_bytes()
    for keep in (600, 1500, 3000, 512 * 9):
        path.write_bytes(whole[:keep])
        assert look(path, IDS).verdict is FAIL, keep
    shard(path, {"0.input_ids.npy": npy(numpy.arange(9))[:-8]})
    assert "0.input_ids.npy has 192 bytes, its header says 200" in look(path, IDS).reason


def test_other_archives(tmp_path):
    """
    A tar without arrays is none that is known here.
    """
    assert look(shard(tmp_path / "s.tar", {"a.txt": b"x"}), IDS).verdict is UNKNOWN


@given(st.data())
@settings(deadline=None, max_examples=100)
def test_hostile_tar(data):
    """
    Whatever the bytes are, the reader tells a fault or an unknown, and raises nothing else.
    """
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in samples([3]).items():
            info = tarfile.TarInfo("ü" + name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    written = bytearray(stream.getvalue())
    for at, byte in data.draw(st.lists(st.tuples(st.integers(0, len(written) - 1), st.integers(0, 255)), max_size=6)):
        written[at] = byte
    read(webdataset, bytes(written))
