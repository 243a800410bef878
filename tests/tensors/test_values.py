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
    "e4m3fnuz": "float8_e4m3fnuz",
    "e5m2fnuz": "float8_e5m2fnuz",
    "e8m0": "float8_e8m0fnu",
}
COMPLEX = {"c32": "complex32", "c64": "complex64", "c128": "complex128"}
NO_INF = {"e4m3", "e4m3fnuz", "e5m2fnuz", "e8m0"}
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
    x = tensor.float().double() if tensor.is_floating_point() else tensor.long()
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


ODD = [
    (dtype, odd)
    for dtype in FLOATS
    for odd in (math.nan, math.inf, -math.inf)
    if math.isnan(odd) or dtype not in NO_INF
]


@pytest.mark.parametrize(("dtype", "odd"), ODD)
def test_one_odd_value(dtype, odd):
    """
    One NaN or Inf among many is found, named, counted and placed, in any floating type that has it.
    """
    tensor = torch.randn(30, 40).clamp(-3, 3)
    tensor[17, 5] = odd
    tensor = tensor.to(getattr(torch, FLOATS[dtype]))

    verdict, words = scan.judge(np, stored(tensor, dtype, 64), [["finite"]])[0]

    assert verdict is False
    assert words == f"1 of 1,200 values is {'NaN' if math.isnan(odd) else 'Inf'}, first at [17, 5]"


@pytest.mark.parametrize("dtype", [name for name in FLOATS if scan.WIDTH[name] == 1])
def test_every_byte_of_a_small_float(dtype):
    """
    Each of the 256 bytes of an 8-bit float is the number that torch takes it for, and answers every word alone as torch would.
    """
    every = torch.arange(256, dtype=torch.uint8).view(getattr(torch, FLOATS[dtype]))
    wanted = every.float().tolist()

    for byte, value in enumerate(wanted):
        words = [["finite"], ["nonzero"], ["constant"], ["in", -1, 1], ["abs<=", 2], [">=", 0], ["max", "==", value]]
        answers = [verdict for verdict, _ in scan.judge(np, stored(every[byte : byte + 1], dtype), words)]
        plain = [verdict for verdict, _ in scan.judge(None, stored(every[byte : byte + 1], dtype), words)]
        known = math.isfinite(value)
        expected = [
            known,
            value != 0,
            not math.isnan(value),
            -1 <= value <= 1,
            abs(value) <= 2,
            value >= 0,
            value == value,
        ]

        assert answers == plain == expected, (byte, value)
    odd = sum(not math.isfinite(value) for value in wanted)
    whole = scan.judge(np, stored(every, dtype), [["finite"]])[0]
    assert whole[0] is False
    assert whole[1].startswith(f"{odd} of 256 values ")


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


ASKED_OF_COMPLEX = (
    ["finite"],
    ["nonzero"],
    ["constant"],
    ["abs<=", 5],
    ["abs<", 5],
    ["==", 0],
    ["!=", 1],
    ["one of", 0, 1],
    ["any", ["abs<=", 1], ["==", 2]],
    ["not", ["constant"]],
    ["rms", "..", 1, 5],
    ["count", 0, "<=", 1],
    ["distinct"],
    ["rows distinct"],
)


def complex_by_torch(predicate, x):
    word, rest = predicate[0], predicate[1:]
    if word == "not":
        return not complex_by_torch(rest[0], x)
    return {
        "finite": lambda: torch.isfinite(x).all(),
        "nonzero": lambda: (x != 0).any(),
        "constant": lambda: (x == x[0]).all(),
        "abs<=": lambda: (x.abs() <= rest[0]).all(),
        "abs<": lambda: (x.abs() < rest[0]).all(),
        "==": lambda: (x == rest[0]).all(),
        "!=": lambda: (x != rest[0]).all(),
        "one of": lambda: ((x == 0) | (x == 1)).all(),
        "any": lambda: ((x.abs() <= 1) | (x == 2)).all(),
        "rms": lambda: scan.compared((x.abs() ** 2).mean().sqrt().item(), rest),
        "count": lambda: (x == 0).sum() <= 1,
        "distinct": lambda: len(set(x.tolist())) == len(x),
        "rows distinct": lambda: len(set(x.tolist())) == len(x),
    }[word]()


@given(
    st.sampled_from(sorted(COMPLEX)),
    st.lists(
        st.tuples(*[st.one_of(st.integers(-4, 4), st.sampled_from([0.5, math.nan, math.inf]))] * 2),
        min_size=1,
        max_size=9,
    ),
    st.sampled_from([None, 16, 32]),
    st.booleans(),
)
@settings(deadline=None, max_examples=150)
def test_complex_numbers(dtype, numbers, step, swap):
    """
    Words about complex numbers mean what torch computes, `abs` and `rms` by their modulus, however bytes fall into blocks.
    """
    wide = torch.tensor([complex(*pair) for pair in numbers], dtype=torch.complex128)
    tensor = torch.view_as_complex(torch.view_as_real(wide).to(torch.float16)) if dtype == "c32" else wide
    tensor = tensor.to(getattr(torch, COMPLEX[dtype]))
    odd = not bool(torch.isfinite(wide).all())
    asked = [
        list(each) for each in ASKED_OF_COMPLEX if not odd or each[0] in ("finite", "nonzero", "abs<=", "==", "!=")
    ]
    data = stored(tensor, dtype, step)
    if swap:
        parts = torch.view_as_real(tensor).contiguous().numpy()
        data = scan.Stored(
            dtype, tensor.shape, scan.buffer_blocks(parts.byteswap().tobytes(), scan.WIDTH[dtype]), swap=True
        )

    answers = scan.judge(np, data, asked)
    plain = scan.judge(None, stored(tensor, dtype), [each for each in asked if each[0] != "rows distinct"])

    assert [bool(complex_by_torch(each, wide)) for each in asked] == [verdict for verdict, _ in answers]
    assert [verdict for verdict, _ in plain] == [
        v for each, (v, _) in zip(asked, answers, strict=True) if each[0] != "rows distinct"
    ]


@pytest.mark.parametrize(
    "word", ["in 0..9", "< 3", "step 1", "rising", "sum == 0", "mean 0..1", "std <= 3", "min >= 0", "first == 0"]
)
@pytest.mark.parametrize(
    ("place", "dtype"), [*(("live", each) for each in COMPLEX), ("npy", "c64"), ("npy", "c128"), ("safetensors", "c64")]
)
def test_complex_numbers_have_no_order(tmp_path, word, dtype, place):
    """
    What needs an order, or compares a complex sum, is UNKNOWN, says why and what to write, and so is its opposite.
    """
    tensor = torch.ones(3, dtype=getattr(torch, COMPLEX[dtype]))
    if place == "npy":
        np.save(tmp_path / "x.npy", tensor.numpy())
    subject = {"live": {"x": tensor}, "npy": tmp_path / "x.npy"}.get(place) or written(tmp_path, {"x": tensor})

    for claim in (word, f"~({word})"):
        finding = examine_here(TensorShapeSane(subject, {"x": f"{dtype}[3] & {claim}"}))

        assert (finding.verdict, finding.cause) == (UNKNOWN, Cause.UNSUPPORTED), finding.reason
        assert f"x: its values can't be told: {word.split()[0]}: " in finding.reason
        assert "modulus" in finding.reason


@pytest.mark.parametrize("place", ["live", "numpy", "npy", "safetensors", "pt"])
def test_complex_everywhere_alike(tmp_path, place):
    """
    Complex tensors give the same verdict and the same words in memory and in files, conjugate views too.
    """
    tensor = torch.ones(4, 3, dtype=torch.complex64)
    tensor[2, 1] = complex(3, 4)
    tensor[3, 0] = complex(0, math.nan)
    subject = {"x": tensor.conj() if place == "live" else tensor.numpy()}
    if place == "pt":
        subject = tmp_path / "m.pt"
        torch.save({"x": tensor}, subject)
    if place == "npy":
        subject = tmp_path / "x.npy"
        np.save(subject, tensor.numpy())
    if place == "safetensors":
        subject = written(tmp_path, {"x": tensor})

    good = examine_here(TensorShapeSane(subject, {"x": "complex[4 3] & nonzero & ~constant & (abs<=5 | nan)"}))
    bad = examine_here(TensorShapeSane(subject, {"x": "c64[4 3] & finite & (abs<=4 | nan)"}))
    every = examine_here(TensorShapeSane(subject, {"x": "c64[4 3]"}, values="all"))

    assert good.verdict is PASS, good.reason
    assert bad.verdict is FAIL
    assert "x: 1 of 12 values is NaN, first at [3, 0]" in bad.reason
    assert "x: 1 of 12 values is not abs<=4 or nan, first at [2, 1]; modulus 1..5, 1 NaN, 0 Inf" in bad.reason
    assert every.verdict is FAIL


@given(st.lists(st.integers(-3, 9), min_size=1, max_size=12), st.sampled_from(["f32", "i64"]), st.booleans())
@settings(deadline=None)
def test_the_first_value_that_was_there_before(numbers, dtype, square):
    """
    Of values that are not distinct the reason tells how many were there before, the place of the first and that of its twin.
    """
    flat = numbers * 2 if square else numbers
    tensor = torch.tensor(flat, dtype={"f32": torch.float32, "i64": torch.int64}[dtype])
    tensor = tensor.reshape(2, -1) if square else tensor
    late = next((at for at, n in enumerate(flat) if n in flat[:at]), None)
    spare, shape = len(flat) - len(set(flat)), tuple(tensor.shape)

    for library in (np, None):
        verdict, words = scan.judge(library, stored(tensor, dtype), [["distinct"]])[0]

        assert verdict is (late is None)
        if late is not None:
            twin = scan.index_of(flat.index(flat[late]), shape)
            assert words.startswith(f"{spare} of {len(flat)} values {'is a repeat' if spare == 1 else 'are repeats'}, ")
            assert f"first at {scan.index_of(late, shape)}, which equals that at {twin}; " in words
            assert words.endswith(f"range {min(flat)}..{max(flat)}")


@pytest.mark.parametrize("word", ["rms", "mean", "std", "sum", "min", "max"])
def test_a_statistic_of_what_is_not_finite(word):
    """
    A statistic that NaN or Inf made what it is tells how many there are of them.
    """
    inf = math.inf
    for numbers, odd in (
        ([1, math.nan, 3], "1 NaN among 3 values"),
        ([math.nan, inf, inf], "1 NaN and 2 Inf among 3 values"),
    ):
        for library in (np, None):
            verdict, words = scan.judge(library, stored(torch.tensor(numbers), "f32"), [[word, "..", 0, 1]])[0]

            assert verdict is False
            assert words == f"{word} nan, expected 0..1 ({odd})"


@pytest.mark.parametrize(
    ("number", "words", "says"),
    [
        (5, "== 3", "a: its value is not == 3; range 5..5"),
        (5, "~(in 0..9)", "a: its value is in 0..9; range 5..5"),
        (math.nan, "finite", "a: its value is NaN"),
        ([5], "== 3", "a: 1 of 1 values is not == 3, first at [0]; range 5..5"),
        ([7, 7], "count(7) == 3", "a: count(7) is 2, expected == 3"),
        ([7, 8], "abs<7.5", "a: 1 of 2 values is not abs<7.5, first at [1]; range 7..8"),
    ],
)
def test_words_of_answers(number, words, says):
    """
    An answer repeats the word as a spec writes it, and gives no index where there is none.
    """
    finding = examine_here(TensorShapeSane({"a": torch.tensor(number)}, {"a": f"[...] & {words}"}))

    assert finding.verdict is FAIL
    assert finding.reason == says


def test_packed_floats(tmp_path):
    """
    Packed 4-bit floats have neither NaN nor Inf, so they are finite without a look; of nothing else is there a verdict.
    """
    packed = torch.zeros(2, 8, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)

    for subject in ({"w": packed}, written(tmp_path, {"w": packed})):
        assert examine_here(TensorShapeSane(subject, {"w": "f4[...] & finite & ~nan"}, values="all")).verdict is PASS
        assert examine_here(TensorShapeSane(subject, {"w": "f4[...] & nan"})).verdict is FAIL
        for word in ("nonzero", "~constant", "abs<=6", "finite | in 0..1"):
            finding = examine_here(TensorShapeSane(subject, {"w": f"f4[...] & ({word})"}))

            assert (finding.verdict, finding.cause) == (UNKNOWN, Cause.UNSUPPORTED)
            assert "f4 packs several numbers into a byte, of which only `finite` is known" in finding.reason


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


def test_a_record_that_unpacks_to_less(tmp_path):
    """
    Where a packed record holds fewer values than the archive says, what is left of them is no pass.
    """
    import io
    import struct
    import zipfile

    stream = io.BytesIO()
    np.save(stream, np.arange(1000))
    whole, out = stream.getvalue(), io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ids.npy", whole[:-808])
    data = out.getvalue().replace(struct.pack("<L", len(whole) - 808), struct.pack("<L", len(whole)))
    (tmp_path / "z.npz").write_bytes(data)

    finding = examine_here(TensorShapeSane(tmp_path / "z.npz", {"ids": "i64[1000] & in 0..999"}))

    assert finding.verdict is FAIL
    assert "ids: its bytes are broken: it unpacks to 7,320 bytes, 8,128 expected" in finding.reason


def test_a_packed_checkpoint(tmp_path):
    """
    A .pt whose records were packed by another tool has the values that torch wrote, views into larger storages too.
    """
    import zipfile

    base = torch.arange(300_000)
    torch.save({"a": base[7:250_000], "b": base.view(300, 1000).t()}, tmp_path / "m.pt")
    with (
        zipfile.ZipFile(tmp_path / "m.pt") as plain,
        zipfile.ZipFile(tmp_path / "p.pt", "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        for name in plain.namelist():
            packed.writestr(name, plain.read(name))
    right = {"a": "i64[249993] & step 1 & first == 7", "b": "i64[1000 300] & step 1000 & min == 0 & max == 299999"}

    assert examine_here(TensorShapeSane(tmp_path / "p.pt", right)).verdict is PASS
    wrong = examine_here(TensorShapeSane(tmp_path / "p.pt", {"a": "i64[n] & != 200000"}))
    assert "a: 1 of 249,993 values is not != 200000, first at [199993]" in wrong.reason


def test_negative_views(tmp_path):
    """
    The imaginary part of a conjugate is its memory turned round: read so in memory, and not told in a file that says so.
    """
    x = torch.tensor([1 + 2j, 3 + 4j]).conj().imag
    torch.save({"x": x}, tmp_path / "x.pt")

    assert x.is_neg()
    assert examine_here(TensorShapeSane({"x": x}, {"x": "f32[2] & < 0"})).verdict is PASS
    for word in ("< 0", "> 0", "finite"):
        finding = examine_here(TensorShapeSane(tmp_path / "x.pt", {"x": f"f32[2] & {word}"}))
        assert finding.verdict is UNKNOWN
        assert "it is a negative view" in finding.reason


def test_quantised_blocks(tmp_path):
    """
    Numbers in blocks with a scale, as GGUF and torch's quantised tensors have them, are not told, and the reason says why.
    """
    from tests.formats.format_writers import gguf, gguf_tensors

    gguf(tmp_path / "m.gguf", tensors=gguf_tensors())

    plain = {"token_embd.weight": "f32[4 64] & in 0..255", "blk.0.norm": "f16[5] & constant"}
    assert examine_here(TensorShapeSane(tmp_path / "m.gguf", plain)).verdict is PASS
    for name, kind in {"blk.0.q": "q8_0", "blk.0.k": "q4_k"}.items():
        for word in ("finite", "~constant"):
            finding = examine_here(TensorShapeSane(tmp_path / "m.gguf", {name: f"[...] & {word}"}))
            assert (finding.verdict, finding.cause) == (UNKNOWN, Cause.UNSUPPORTED)
            assert f"values of {kind} lie in quantised blocks, which are not unpacked here" in finding.reason
    every = examine_here(TensorShapeSane(tmp_path / "m.gguf", {"blk.0.{p:norm,q,k}": "[...]"}, values="all"))
    assert every.verdict is UNKNOWN
    assert "blk.0.q: its values can't be told" in every.reason


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


SLICED = (
    ["nonzero"],
    ["not", ["constant"]],
    ["rms", "..", 0.5, 2],
    ["sum", ">=", 1],
    ["count", 0, "<=", 1],
    ["all", ["min", ">=", -3], ["max", "<", 4]],
    ["any", ["mean", "<", 0], ["std", "<=", 1]],
)


def slices_of(tensor, axis):
    """The rows or planes of a tensor, by torch."""
    rows = tensor.reshape(-1, tensor.shape[-1]) if axis is None else tensor.movedim(axis, 0)
    return [torch.clone(row.reshape(-1), memory_format=torch.contiguous_format) for row in rows]


@given(
    dtype=st.sampled_from(["f64", "f32", "bf16", "f16", "e5m2", "i64", "u8"]),
    shape=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    numbers=st.lists(st.integers(0, 3), min_size=64, max_size=64),
    nan=st.none() | st.integers(0, 63),
    step=st.sampled_from([8, 24, 4096]),
    part=st.sampled_from(SLICED),
    swap=st.booleans(),
    data=st.data(),
)
@settings(deadline=None)
def test_each_slice_is_told_as_by_itself(dtype, shape, numbers, nan, step, part, swap, data):
    """
    A word about rows or planes holds if it holds of each of them as of a tensor of its own, however the blocks lie; with
    numpy and without.
    """
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    tensor = torch.tensor(numbers[: math.prod(shape)], dtype=torch.float64).reshape(shape)
    if nan is not None and dtype in FLOATS and nan < tensor.numel():
        tensor.view(-1)[nan] = math.nan
    tensor = tensor.to(getattr(torch, {**FLOATS, **INTS}[dtype]))
    atom = ["rows", part] if axis is None else ["planes", axis, part]
    held = [scan.judge(np, stored(row, dtype), [part])[0][0] for row in slices_of(tensor, axis)]
    big = stored(tensor, dtype, step)
    if swap:
        raw = (
            tensor.contiguous().view(torch.uint8).reshape(-1, scan.WIDTH[dtype]).flip(1).contiguous().numpy().tobytes()
        )
        blocks = scan.buffer_blocks(raw, scan.WIDTH[dtype])
        big = scan.Stored(dtype, tuple(tensor.shape), lambda _: blocks(step), swap=scan.WIDTH[dtype] > 1)

    for numpy, seen in ((np, big), (None, stored(tensor, dtype))):
        verdict, words = scan.judge(numpy, seen, [atom])[0]

        assert verdict is all(held), words
        if not verdict:
            noun = "row" if axis is None else "plane"
            assert words.startswith(f"{held.count(False)} of {len(held)} {noun}s: ")
            assert f"{noun} {held.index(False)}: " in words


@pytest.mark.parametrize("place", ["live", "safetensors", "pt"])
def test_rows_and_planes(tmp_path, place):
    """
    One layer of a dump that is a thousand times larger than the others, and one sample without a label, are found and named.
    """
    states, mask = torch.ones(3, 5, 8), torch.ones(4, 6, dtype=torch.int64)
    states[1] *= 1000
    mask[2:] = 0
    tensors = {"states": states, "mask": mask}
    subject = tensors if place == "live" else written(tmp_path, tensors, f"m.{place}")
    spec = {"states": "[3 s 8] & planes(0) rms 1e-2..1e2", "mask": "[b s] & rows sum >= 1"}

    found = examine_here(TensorShapeSane(subject, spec))

    assert FAIL is found.verdict
    assert "1 of 3 planes: plane 1: rms 1000, expected 0.01..100" in found.reason
    assert "2 of 4 rows: first row 2: sum 0, expected >= 1" in found.reason
    good = {"states": "[3 s 8] & planes(-1) (rms 1e-2..1e3 & ~constant)", "mask": "[b t] & rows count(0) <= t"}
    assert PASS is examine_here(TensorShapeSane(subject, good)).verdict


def test_slices_that_can_not_be_told():
    """
    An axis that is not there, and complex numbers, are UNKNOWN; a tensor without rows has none that fails.
    """
    vector, empty, spiral = {"x": torch.ones(3)}, {"x": torch.ones(0, 3)}, {"x": torch.ones(2, 3) * 1j}

    assert "no axis 1" in examine_here(TensorShapeSane(vector, "x: [3] & planes(1) nonzero")).reason
    assert UNKNOWN is examine_here(TensorShapeSane(spiral, "x: [2 3] & rows nonzero")).verdict
    assert PASS is examine_here(TensorShapeSane(empty, "x: [n 3] & rows nonzero")).verdict


@pytest.mark.parametrize(
    "words", ["rows finite", "rows step 1", "rows rows nonzero", "planes(0) real", "planes() nonzero"]
)
def test_words_that_are_not_said_of_slices(words):
    """
    What is of elements, of the order along a row, or of how a tensor is held is not said of slices, and refused when built.
    """
    with pytest.raises(ValueError, match=r"rows|planes|missing"):
        TensorShapeSane({"x": torch.ones(2, 2)}, f"x: [2 2] & {words}")


def test_an_axis_called_rows():
    """
    A shape may begin with an axis called rows.
    """
    assert PASS is examine_here(TensorShapeSane({"x": torch.ones(2, 3)}, {"x": "rows hidden"})).verdict
