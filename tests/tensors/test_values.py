"""Values: the scan says what numpy and torch would say, whatever the dtype, the block and the place."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verikit import FAIL, PASS, UNKNOWN, Cause, TensorShapeSane
from verikit.probes import scan
from verikit.testing.here import examine_here

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")

FLOATS = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "bf16": "bfloat16",
    "e4m3": "float8_e4m3fn",
    "e5m2": "float8_e5m2",
}
INTS = {"i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8", "u8": "uint8"}
PREDICATES = (
    ["finite"],
    ["nonzero"],
    ["constant"],
    ["in", -1, 1],
    ["abs<=", 2],
    ["one of", 0, 1],
    ["any", ["in", 0, 3], ["==", -100]],
    ["not", ["constant"]],
    ["all", ["nonzero"], ["finite"]],
    ["min", ">=", -3],
    ["count", 0, "<=", 2],
    ["rising"],
    ["step", 1],
    ["distinct"],
    ["first", "==", 0],
    ["sum", "..", -10, 10],
)


def stored(tensor, dtype, step=None):
    data = tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""
    blocks = scan.buffer_blocks(data, scan.WIDTH[dtype])
    return scan.Stored(dtype, tuple(tensor.shape), (lambda _: blocks(step)) if step else blocks)


def by_torch(predicate, tensor):
    """What the predicate means, in torch's own words; fp8 by way of float32, which holds it exactly."""
    x = tensor.double() if tensor.is_floating_point() else tensor.long()
    word, rest = predicate[0], predicate[1:]
    flat = x.reshape(-1)
    if word in ("all", "any"):
        if scan.about_elements(predicate):
            return bool(elementwise(predicate, x).all())
        return (all if word == "all" else any)(by_torch(part, tensor) for part in rest)
    if word == "not":
        return not by_torch(rest[0], tensor)
    if word in scan.ELEMENT:
        return bool(elementwise(predicate, x).all())
    if word == "nonzero":
        return bool((flat != 0).any())
    if word == "constant":
        return bool((flat == flat[0]).all())
    if word in ("rising", "step"):
        steps = x.diff()
        return bool((steps >= 0).all() if word == "rising" else (steps == rest[0]).all())
    if word == "distinct":
        return len(set(flat.tolist())) == len(flat)
    value = {
        "min": lambda: flat.min().item(),
        "sum": lambda: flat.sum().item(),
        "first": lambda: flat[0].item(),
        "count": lambda: int((flat == rest[0]).sum()),
    }[word]()
    return scan.compared(value, rest[1:] if word == "count" else rest)


def elementwise(predicate, x):
    word, rest = predicate[0], predicate[1:]
    if word == "any":
        return elementwise(rest[0], x) | elementwise(rest[1], x)
    return {
        "finite": lambda: torch.isfinite(x),
        "in": lambda: (x >= rest[0]) & (x <= rest[1]),
        "abs<=": lambda: x.abs() <= rest[0],
        "one of": lambda: torch.isin(x, torch.tensor(rest, dtype=x.dtype)),
        "==": lambda: x == rest[0],
    }[word]()


@given(
    st.sampled_from([*FLOATS, *INTS]),
    st.lists(
        st.one_of(st.integers(-4, 4), st.sampled_from([-100, 0.5, math.nan, math.inf, -math.inf])),
        min_size=1,
        max_size=12,
    ),
    st.sampled_from([None, 8, 16]),
)
@settings(deadline=None, max_examples=150)
def test_scan_agrees_with_torch(dtype, numbers, step):
    """
    Every predicate on every dtype comes out as torch computes it, however the bytes fall into blocks.
    """
    if dtype in INTS:
        numbers = [
            int(n) % 5 if isinstance(n, float) and math.isfinite(n) else 1 if isinstance(n, float) else n
            for n in numbers
        ]
        numbers = [abs(n) if dtype == "u8" else n for n in numbers]
    tensor = torch.tensor(numbers, dtype=torch.float32 if dtype in FLOATS else torch.int64)
    tensor = tensor.to(getattr(torch, FLOATS.get(dtype) or INTS[dtype]))
    odd = bool((~torch.isfinite(tensor.float())).any()) if dtype in FLOATS else False
    predicates = [
        each
        for each in PREDICATES
        if not odd or each[0] in ("finite", "in", "abs<=", "one of", "any", "nonzero", "first")
    ]

    answers = scan.judge(np, stored(tensor, dtype, step), [list(each) for each in predicates])
    plain = scan.judge(None, stored(tensor, dtype), [list(each) for each in predicates])

    assert [verdict for verdict, _ in answers] == [by_torch(each, tensor) for each in predicates]
    assert [verdict for verdict, _ in plain] == [verdict for verdict, _ in answers]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_one_odd_value(dtype, odd):
    """
    One NaN or Inf among many is found, named, counted and placed, in any floating type that has it.
    """
    if dtype == "e4m3" and math.isinf(odd):
        pytest.skip("e4m3fn has no Inf")
    tensor = torch.randn(30, 40).clamp(-3, 3)
    tensor[17, 5] = odd
    tensor = tensor.to(getattr(torch, FLOATS[dtype]))

    verdict, words = scan.judge(np, stored(tensor, dtype, 64), [["finite"]])[0]

    assert verdict is False
    assert words == f"1 of 1,200 values is {'NaN' if math.isnan(odd) else 'Inf'}, first at [17, 5]"


@pytest.mark.parametrize("dtype", [*FLOATS, *INTS])
def test_every_byte_of_a_type(dtype):
    """
    Range, zero and constant come right from the bits alone: for tensors all below zero, all above, and -0.
    """
    make = getattr(torch, FLOATS.get(dtype) or INTS[dtype])
    for numbers in ([-3, -1, -2], [3, 1, 2], [-0.0, 0.0], [2, 2]):
        numbers = [abs(n) for n in numbers] if dtype == "u8" else numbers
        tensor = torch.tensor(numbers, dtype=torch.float32).to(make)
        wanted = tensor.float()

        (low, _), (high, _), (nonzero, _), (constant, _) = scan.judge(
            np,
            stored(tensor, dtype),
            [["min", "==", wanted.min().item()], ["max", "==", wanted.max().item()], ["nonzero"], ["constant"]],
        )

        assert (low, high, nonzero) == (True, True, bool((wanted != 0).any()))
        assert constant == bool((wanted == wanted[0]).all())


def test_duplicate_rows_and_planes():
    """
    Equal rows and planes are named by number, rows even where they fall across blocks.
    """
    x = torch.arange(60.0).reshape(3, 5, 4).clone()
    x[2] = x[0]
    x[1, 3] = x[1, 0]

    rows, planes, inner = scan.judge(
        np, stored(x, "f32", 24), [["rows distinct"], ["planes distinct", 0], ["planes distinct", 1]]
    )

    assert rows == (False, "6 duplicate rows of 15: row 8 equals row 5, row 10 equals row 0, row 11 equals row 1")
    assert planes == (False, "1 duplicate plane of 3: plane 2 equals plane 0")
    assert inner[0] is True


def written(tmp_path, tensors, name="m.safetensors"):
    from safetensors.torch import save_file

    save_file(tensors, tmp_path / name)
    return tmp_path / name


@pytest.mark.parametrize("place", ["live", "safetensors", "pt"])
def test_everywhere_alike(tmp_path, place):
    """
    The same tensors give the same verdict and the same words in memory and in files.
    """
    tensors = {"ids": torch.tensor([3, 9, 320]), "hs": torch.ones(2, 4).bfloat16()}
    tensors["hs"][1, 2] = math.nan
    if place == "safetensors":
        subject = written(tmp_path, tensors)
    elif place == "pt":
        subject = tmp_path / "m.pt"
        torch.save(tensors, subject)
    else:
        subject = tensors

    finding = examine_here(
        TensorShapeSane(subject, {"ids": "i64[n] & in 0..v-1", "hs": "bf16[2 4] & finite"}, dims={"v": 320})
    )

    assert finding.verdict is FAIL
    assert "ids: 1 of 3 values is not in 0..319, first at [2]; range 3..320" in finding.reason
    assert "hs: 1 of 8 values is NaN, first at [1, 2]" in finding.reason
    assert finding.facts["coverage"]["values"]["tensors"] == (2, 2)


def test_values_all_asks_finite(tmp_path):
    """
    `values="all"` wants every floating tensor finite without the spec saying so; "none" does not look.
    """
    path = written(tmp_path, {"w": torch.tensor([1.0, math.inf])})

    assert examine_here(TensorShapeSane(path, {"w": "f32[2]"})).verdict is PASS
    assert examine_here(TensorShapeSane(path, {"w": "f32[2]"}, values="all")).verdict is FAIL


def test_sample_says_so(tmp_path):
    """
    A sample is drawn by its seed, says how much it saw, and a fault outside it is not passed off as seen.
    """
    for k in range(30):
        torch.save({"x": torch.full((4,), math.nan if k == 3 else 1.0)}, tmp_path / f"hs_{k}.pt")
    spec = {"hs_*.pt :: x": "f32[4] & finite"}
    verdicts = {}
    for seed in range(6):
        finding = examine_here(TensorShapeSane(tmp_path, spec, values="sample", seed=seed))
        again = examine_here(TensorShapeSane(tmp_path, spec, values="sample", seed=seed))
        verdicts[finding.verdict] = finding

        assert finding == again

    assert set(verdicts) == {PASS, FAIL}
    assert f"values only in the sample: 20 of 30 files, seed {5}"[:-1] in verdicts[PASS].reason
    assert verdicts[PASS].facts["coverage"]["values"]["files"] == (20, 30)
    assert examine_here(TensorShapeSane(tmp_path, spec)).verdict is FAIL


def test_meta_has_no_values():
    """
    A tensor on meta has a shape to judge but no values: UNKNOWN, also turned round.
    """
    tensors = {"w": torch.empty(3, 4, device="meta")}

    assert examine_here(TensorShapeSane(tensors, {"w": "f32[3 4]"})).verdict is PASS
    for word in ("finite", "~constant"):
        finding = examine_here(TensorShapeSane(tensors, {"w": f"f32[3 4] & {word}"}))

        assert finding.verdict is UNKNOWN
        assert finding.cause is Cause.UNSUPPORTED
        assert "meta" in finding.reason


@pytest.mark.parametrize(
    "tensor",
    [
        torch.zeros(0, 4),
        torch.tensor(3.0),
        torch.randn(4, 6).t(),
        torch.randn(4, 6)[:, ::2],
        torch.randn(1).expand(1 << 40),
        torch.randn(4, 1).expand(4, 5),
        torch.nn.Parameter(torch.randn(3)),
    ],
    ids=["empty", "scalar", "transposed", "strided", "expanded 2^40", "expanded column", "parameter"],
)
def test_layouts(tensor):
    """
    Empty, scalar, transposed, strided and expanded tensors are looked at by what they hold, and no more is read.
    """
    finding = examine_here(TensorShapeSane({"w": tensor}, {"w": "f32[...] & finite"}))

    assert finding.verdict is PASS, finding.reason


def test_nonfinite_in_a_strided_view():
    """
    The index of an odd value is that in the tensor's own shape, however its memory lies.
    """
    tensor = torch.zeros(4, 6).t()
    tensor[5, 2] = math.inf

    finding = examine_here(TensorShapeSane({"w": tensor}, {"w": "f32[6 4] & finite"}))

    assert finding.reason == "w: 1 of 24 values is Inf, first at [5, 2]"


def test_npy_orders(tmp_path):
    """
    Fortran order and big-endian numbers are read as numpy reads them.
    """
    np.save(tmp_path / "f.npy", np.asfortranarray(np.arange(12).reshape(3, 4)))
    np.save(tmp_path / "b.npy", np.arange(12, dtype=">i4"))

    assert (
        examine_here(TensorShapeSane(tmp_path / "f.npy", "i64[3 4] & step 1 & in 0..11 & first 0..8")).verdict is PASS
    )
    assert examine_here(TensorShapeSane(tmp_path / "b.npy", "i32[12] & in 0..11 & step 1")).verdict is PASS


def test_deflated_npz(tmp_path):
    """
    A compressed archive is unpacked in blocks: the whole is looked at, and faults are placed.
    """
    ids = np.arange(2_000_000)
    ids[1_999_998] = -1
    np.savez_compressed(tmp_path / "z.npz", ids=ids)

    finding = examine_here(TensorShapeSane(tmp_path / "z.npz", {"ids": "i64[n] & >= 0"}))

    assert finding.verdict is FAIL
    assert "1 of 2,000,000 values is not >= 0, first at [1999998]" in finding.reason


def test_no_numpy(tmp_path, monkeypatch):
    """
    Without numpy on the host small tensors are read all the same, and large ones are UNKNOWN `unsupported`.
    """
    from verikit.probes.place import Place

    monkeypatch.setattr(Place, "accelerator", lambda self, name: None)
    small = written(tmp_path, {"w": torch.tensor([1.0, math.nan])})
    large = written(tmp_path, {"w": torch.zeros(3_000_000)}, "l.safetensors")

    seen = examine_here(TensorShapeSane(small, {"w": "f32[2] & finite"}))
    unseen = examine_here(TensorShapeSane(large, {"w": "f32[n] & finite"}))

    assert (seen.verdict, seen.reason) == (FAIL, "m.safetensors:w: 1 of 2 values is NaN, first at [1]")
    assert (unseen.verdict, unseen.cause) == (UNKNOWN, Cause.UNSUPPORTED)


def test_a_cut_file_fails(tmp_path):
    """
    A file that ends within its tensors is FAIL by its header, also where its values are asked for.
    """
    path = written(tmp_path, {"a": torch.ones(1000), "b": torch.ones(1000)})
    path.write_bytes(path.read_bytes()[:-2000])

    finding = examine_here(TensorShapeSane(path, {"{p:a,b}": "f32[1000] & finite"}))

    assert finding.verdict is FAIL
    assert "the tensors from 'b' on are cut" in finding.reason


def test_a_fault_stops_long_scans(tmp_path):
    """
    Where headers show a fault, gigabytes of values are not read to say more; the reason says so.
    """
    import json
    import struct

    head = json.dumps({"w": {"dtype": "BF16", "shape": [1 << 30], "data_offsets": [0, 1 << 31]}}).encode()
    path = tmp_path / "sparse.safetensors"
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head)
        file.truncate(8 + len(head) + (1 << 31))

    finding = examine_here(TensorShapeSane(path, {"w": "f32[n] & finite"}))

    assert finding.verdict is FAIL
    assert "w: bf16, expected f32" in finding.reason
    assert "the values of 1 tensor were not looked at" in finding.reason


def test_headers_alone_tell_nothing_of_values(tmp_path):
    """
    The judge of headers does not pass a claim about values that nobody looked at.
    """
    check = TensorShapeSane(written(tmp_path, {"w": torch.ones(2)}), {"w": "f32[2] & finite"})
    look = check.look()
    from verikit.probes.place import Place

    finding = check.judge(look.function(Place(), **look.arguments))

    assert (finding.verdict, finding.cause) == (UNKNOWN, Cause.NOT_RUN)
