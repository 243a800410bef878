"""Cases beyond the handed ones: what each spec says of a small folder, and what the reason must and must not name."""

from __future__ import annotations

import json
import struct

import pytest
from tests.tensors.case_files import facts_missing

from verikit import FAIL, PASS, UNKNOWN, Cause, TensorShapeSane
from verikit.testing.here import examine_here

torch = pytest.importorskip("torch")
numpy = pytest.importorskip("numpy")
save_file = pytest.importorskip("safetensors.torch").save_file

BF = torch.bfloat16


def ones(*shape, dtype=BF):
    return torch.ones(shape, dtype=dtype)


def put(value, *at):
    """A tensor of 0, 1, 0, 1, … of the shape [4], with one value changed."""
    tensor = torch.tensor([0.0, 1.0, 0.0, 1.0])
    tensor[at] = value
    return tensor


# title: (tensors, config, spec, dims, verdict, what the reason names, what it does not)
CASES = {
    "config's head_dim is not h//H": (
        {"q": ones(256, 64), "n": ones(32)},
        {"h": 64, "H": 8, "head_dim": 32},
        "q: [H*d h]; n: [d]",
        {"h": "config.h", "H": "config.H", "d": "config.head_dim or h//H"},
        PASS, (), (),
    ),
    "MLA without the rope rows": (
        {"kv_a": ones(16, 64), "kv_b": ones(56, 16)},
        {"kvl": 16, "rope": 4},
        "kv_a: [kvl+rope _]; kv_b: [_ kvl]",
        {"kvl": "config.kvl", "rope": "config.rope"},
        FAIL, ("kv_a", "16", "20", "kvl+rope", "rope=4"), ("kv_b",),
    ),
    "GPTQ where AWQ is expected": (
        {"q": torch.ones(16, 64, dtype=torch.int32)}, None, "q: i32[n o//8]", {"n": 128, "o": 64},
        FAIL, ("[16, 64]", "[128, 8]", "8 values packed into one along axis 0, not axis 1"), (),
    ),
    "features that 8 does not divide": (
        {"q": torch.ones(12, 64, dtype=torch.int32)}, {"width": 100}, "q: i32[n//8 64]", {"n": "config.width"},
        FAIL, ("q axis 0", "12", "100 is not a multiple of 8", "width=100"), (),
    ),
    "one of a kind among bounds": (
        {"emb": ones(320, 4), "head": ones(384, 4)}, {"v": 300}, "{p:emb,head}: [rows 4]",
        {"v": "config.v", "rows": "v<=rows%64"},
        FAIL, ("head", "384", "320", "rows"), ("at most",),
    ),
    "a scalar saved as [1]": (
        {"scale": torch.ones(1)}, None, "scale: f32[]", {}, FAIL, ("scale", "1 axis", "expected 0", "scalar"), (),
    ),
    "a value that the range hides": (
        {"m": put(0.5, 2)}, None, "m: f32[4] & in {0,1}", {}, FAIL, ("[2]", "of those 0.5..0.5"), (),
    ),
    "forbidden, on a line of its own": (
        {"a.weight": ones(4), "a.bias": ones(4)}, None, "*.weight: [4]; !**.bias", {}, FAIL, ("a.bias",), ("a.weight",),
    ),
    "a dim of the config that is text": (
        {"w": ones(4)}, {"h": "4"}, "w: [h]", {"h": "config.h"}, UNKNOWN, ("config.json", 'h="4"'), (),
    ),
    "no layers at all": (
        {"w": ones(4)}, {"L": 0}, "l.{i:0..L-1}.w: [4]", {"L": "config.L"}, UNKNOWN, ("0..L-1", "empty", "L=0"), (),
    ),
    "a head that the config does not speak of": (
        {"emb": ones(4, 2)}, {}, "emb: [_ 2]; head? if config.tie: [_ 2]", {}, UNKNOWN, ("tie", "head"), (),
    ),
    "taps that the config does not have": (
        {"fc": ones(4, 2)}, {}, "fc: [4 2]; config(taps.ids): [3]", {}, UNKNOWN, ("taps.ids", "config.json"), (),
    ),
}  # fmt: skip


@pytest.mark.parametrize("title", CASES)
def test_case(title, tmp_path):
    """
    A case comes out as expected, and its reason has what a person needs, and nobody innocent.
    """
    tensors, config, spec, dims, verdict, named, unnamed = CASES[title]
    save_file(tensors, tmp_path / "m.safetensors")
    if config is not None:
        (tmp_path / "config.json").write_text(json.dumps(config))

    finding = examine_here(TensorShapeSane(str(tmp_path), spec, dims=dims))

    case = {"reason_must_name": [[word] for word in named], "reason_must_not_name": unnamed}
    assert finding.verdict is verdict, finding.reason
    assert not facts_missing(case, finding.reason), finding.reason


def test_metadata_that_is_a_tensor(tmp_path):
    """
    A key of metadata may be that of a small tensor, or lie deeper; what is there but too large is not told missing.
    """
    ids = torch.tensor([3, 31, 59])
    saved = {"x": ones(2), "layer_ids": ids, "notes": {"seed": 7}, "large": torch.zeros(5000)}
    torch.save(saved, tmp_path / "a.pt")
    torch.save({**saved, "layer_ids": ids + 1}, tmp_path / "b.pt")

    def look(text, subject=tmp_path / "a.pt"):
        return examine_here(TensorShapeSane(subject, f"x: bf16[2]; {text}"))

    assert look("meta(layer_ids): == [3,31,59]").verdict is PASS
    assert look("meta(layer_ids): [3] & rising & in 0..59").verdict is PASS
    assert look("meta(notes.seed): == 7").verdict is PASS
    assert look("meta(layer_ids): == [3,31,59]", saved).verdict is PASS
    assert look("meta(layer_ids): == [3,31,59]", tmp_path).reason == (
        "b.pt:meta(layer_ids): [4, 32, 60], expected [3, 31, 59]"
    )
    assert look("meta(large): [5000]").verdict is UNKNOWN
    assert look("meta(taps): [3]").reason == "a.pt:meta(taps): missing: not in its metadata"


def test_metadata_of_a_broken_file(tmp_path):
    """
    What a file that is cut says of itself is not told missing: the file's own fault is the one cause.
    """
    for name in ("a.pt", "b.pt"):
        torch.save({"x": ones(2), "epoch": 3}, tmp_path / name)
    (tmp_path / "b.pt").write_bytes((tmp_path / "b.pt").read_bytes()[:-100])

    finding = examine_here(TensorShapeSane(tmp_path, "x: bf16[2]; meta(epoch): == 3"))

    assert finding.verdict is FAIL
    assert "b.pt: truncated: the ZIP directory" in finding.reason
    assert "is not in" not in finding.reason


@pytest.mark.parametrize("inside", ["", "hs_*.pt"])
def test_nothing_there(tmp_path, inside):
    """
    A folder without files of tensors, and a pattern that none fits, are named.
    """
    (tmp_path / "run.log").write_text("step 1")

    finding = examine_here(TensorShapeSane(tmp_path / inside, {"w": "2"}))

    assert finding.verdict is FAIL
    assert finding.reason.startswith(f"{tmp_path / inside}: no file")


def test_deep_folders(tmp_path):
    """
    Files lie as deep as they like within a bound, which is said where it is reached; hidden folders are left out.
    """
    for inside in ("a/" * 12, ".cache/"):
        (tmp_path / inside).mkdir(parents=True)
        save_file({"w": ones(2)}, tmp_path / inside / "w.safetensors")

    assert examine_here(TensorShapeSane(tmp_path, "w: [2]; files(**.safetensors): 1")).verdict is PASS
    (tmp_path / ("b/" * 34)).mkdir(parents=True)
    assert examine_here(TensorShapeSane(tmp_path, "w: [2]")).cause is Cause.BOUND_REACHED


def test_what_is_named(tmp_path):
    """
    A reason says how many of the tensors the spec names; where all others are ignored and it names none, that is no pass.
    """
    tensors = {"a": ones(2), "b": ones(3), "c": ones(4)}

    def look(spec, **more):
        return examine_here(TensorShapeSane(tensors, spec, **more))

    assert look("a: [2]").reason == "1 of 3 tensors as specified"
    assert look("a: [2]").facts["coverage"]["tensors"] == (1, 3)
    assert look("a: [2]; c?: [_]", strict=True, ignore="b").reason == "2 of 3 tensors as specified"
    assert look("z?: [2]", strict=True, ignore=["a", "b", "c"]).cause is Cause.NOTHING_SEEN


def test_hosts_that_differ_say_where(tmp_path):
    """
    A dim that differs between hosts is told with the tensor and axis it was seen at, and a count with its files.
    """
    for host, width in (("a", 8), ("b", 9), ("c", 8)):
        (tmp_path / host).mkdir()
        for k in range(2 if host == "b" else 3):
            save_file({"w": ones(2, width)}, tmp_path / host / f"s_{k}.safetensors")

    def across(spec):
        checks = {host: TensorShapeSane(tmp_path / host, spec) for host in "abc"}
        return checks["a"].across({host: examine_here(check) for host, check in checks.items()}).reason

    assert across("s_0.safetensors :: w: [2 h]") == (
        "h differs between hosts: 9 on b (s_0.safetensors:w axis 1), 8 on a and 1 more host (s_0.safetensors:w axis 1)"
    )
    assert across("w: [2 _]; files(s_*.safetensors): n") == (
        "n differs between hosts: 2 on b (files(s_*.safetensors)), 3 on a and 1 more host (files(s_*.safetensors))"
    )


def test_one_file_a_host(tmp_path):
    """
    The quick look, which a plain spec takes, says as much.
    """
    for host, width in (("a", 8), ("b", 9)):
        (tmp_path / host).mkdir()
        save_file({"w": ones(2, width)}, tmp_path / host / "m.safetensors")
    checks = {host: TensorShapeSane(tmp_path / host, "w: [2 h]") for host in "ab"}

    together = checks["a"].across({host: examine_here(check) for host, check in checks.items()})

    assert (
        together.reason == "h differs between hosts: 8 on a (m.safetensors:w axis 1), 9 on b (m.safetensors:w axis 1)"
    )


@pytest.mark.parametrize(("spec", "differ"), [("w: [*s]", True), ("w: [*s@host]", False), ("w: [2 h@host]", False)])
def test_hosts_and_scopes(tmp_path, spec, differ):
    """
    Runs of axes are held together over hosts as single ones are; what is @host may differ.
    """
    for host, width in (("a", 8), ("b", 9)):
        (tmp_path / host).mkdir()
        save_file({"w": ones(2, width)}, tmp_path / host / "m.safetensors")
    checks = {host: TensorShapeSane(tmp_path / host, spec) for host in "ab"}

    together = checks["a"].across({host: examine_here(check) for host, check in checks.items()})

    assert (together is not None) is differ


def test_scales_of_one_exponent(tmp_path):
    """
    e8m0, the scale of an mxfp4 block, is a power of two, and NaN at 0xFF.
    """
    path = tmp_path / "s.safetensors"
    head = json.dumps({"s": {"dtype": "F8_E8M0", "shape": [4], "data_offsets": [0, 4]}}).encode()
    for last, verdict in ((128, PASS), (255, FAIL)):
        path.write_bytes(struct.pack("<Q", len(head)) + head + bytes([127, 126, 128, last]))
        finding = examine_here(TensorShapeSane(path, "s: e8m0[4] & finite & in 0.5..2"))
        assert finding.verdict is verdict, finding.reason
        assert verdict is PASS or "1 of 4 values is NaN, first at [3]" in finding.reason


def test_bytes_that_numpy_has_no_name_for(tmp_path):
    """
    numpy writes bfloat16 as two bytes of anything, so whether it is bfloat16 can't be told.
    """
    numpy.save(tmp_path / "x.npy", numpy.zeros(4, dtype="V2"))

    finding = examine_here(TensorShapeSane(tmp_path / "x.npy", "x: bf16[4]"))

    assert finding.verdict is UNKNOWN
    assert "v2, bytes that may be bf16 or not" in finding.reason


def test_bounds_that_exclude_each_other():
    """
    Bounds that no size is within are refused where the spec is built, and so is a bound about another dim.
    """
    with pytest.raises(ValueError, match="no size is at least 9 and at most 3"):
        TensorShapeSane("x.pt", "a: [n]", dims={"n": "9<=n<=3"})
    with pytest.raises(ValueError, match=r"dims\['n'\] is about n alone"):
        TensorShapeSane("x.pt", "a: [n]; b: [m]", dims={"n": "m<=2*n"})
    for spec in ("l.{i:5..2}: [4]", "a: [4] & in 9..3"):
        with pytest.raises(ValueError, match="nothing lies in"):
            TensorShapeSane("x.pt", spec)


def test_dims_that_nothing_speaks_of():
    """
    A name in dims= that the spec does not use is a warning: a slip there leaves the claim wider than it was meant.
    """
    found = examine_here(TensorShapeSane({"w": torch.zeros(2, 4)}, {"w": "a h"}, dims={"hh": 4}))
    used = examine_here(TensorShapeSane({"w": torch.zeros(2, 4)}, {"w": "a h"}, dims={"h": "2*k", "k": 2}))

    assert found.warnings == ("dims= names hh, which the spec does not use",)
    assert used.warnings == ()


@pytest.mark.parametrize(
    ("told", "others", "verdict", "says"),
    [
        (["a"], {}, FAIL, "b not in the index, but in model-00002-of-00002.safetensors"),
        (["a", "b"], {}, PASS, ""),
        (["a", "b"], {"model.safetensors": ["a", "b"]}, PASS, ""),
        (["a", "b"], {"consolidated.safetensors": ["tok.weight"]}, PASS, ""),
        (["a", "b"], {"model-00003-of-00003.safetensors": ["c"]}, FAIL, "c not in the index"),
    ],
    ids=["a whole shard left out", "complete", "the same in one file", "another layout beside it", "a stale shard"],
)
def test_what_an_index_leaves_out(tmp_path, told, others, verdict, says):
    """
    A file that is of the shards' kind belongs to the index, named there or not; another file beside them does not.
    """
    shards = {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
    for file, names in {**{file: [name] for name, file in shards.items()}, **others}.items():
        save_file({name: ones(2) for name in names}, tmp_path / file)
    index = {"weight_map": {name: shards[name] for name in told}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))

    finding = examine_here(TensorShapeSane(tmp_path, {"{p:a,b}": "[2]", "index": "complete"}))

    assert finding.verdict is verdict, finding.reason
    assert says in finding.reason


def held(shapes, spec, **more):
    return examine_here(TensorShapeSane({name: torch.ones(shape) for name, shape in shapes.items()}, spec, **more))


@pytest.mark.parametrize("word", ["1<=s@file<=8", "1<=s<=8@file", "1<=s@file%4<=8", "1<=s%4@file<=8", "s@file={4,8}"])
def test_where_a_scope_stands(tmp_path, word):
    """
    A scope may stand behind the dim or behind its bounds, in an axis as in dims=, and is the same scope.
    """
    for file, n in (("s_0.pt", 4), ("s_1.pt", 8)):
        torch.save({"ids": ones(n), "mask": ones(n)}, tmp_path / file)
    torch.save({"ids": ones(8), "mask": ones(4)}, tmp_path / "odd.pt")
    specs = [("s_*.pt", "{p:ids,mask}: [s]", {"s": word}), ("s_*.pt", f"ids: [{word}]; mask: [s]", {})]

    for subject, spec, dims in specs if "{" not in word else specs[1:]:
        found = [examine_here(TensorShapeSane(tmp_path / each, spec, dims=dims)) for each in (subject, "odd.pt")]
        assert [finding.verdict for finding in found] == [PASS, FAIL], [finding.reason for finding in found]


def test_a_scope_that_there_is_not():
    """
    A scope of another name is refused wherever it stands.
    """
    for word in ("s@fil", "1<=s@fil<=8"):
        with pytest.raises(ValueError, match="a dim is @tensor, @module, @file, @host"):
            TensorShapeSane("x.pt", {"a": word})


@pytest.mark.parametrize(
    ("text", "verdict", "says"),
    [
        ("finite", FAIL, "1 of 4 values is NaN, first at [1]"),
        ("& finite", FAIL, "NaN"),
        ("~nan", FAIL, "nan, first at [1]"),
        ("nonzero & distinct", FAIL, "is a repeat"),
        ("in 0..9 | nan", PASS, ""),
        ("rows distinct", FAIL, "row 3 equals row 2"),
        ("rms 0..5", FAIL, "rms nan"),
        ("[finite]", PASS, ""),
        ("step 1", FAIL, "not step 1: 3 of 3 steps differ"),
        ("step 1 & first == 1", FAIL, "not step 1"),
        ("[step 1]", FAIL, "has 1 axis, expected 2"),
        ("{4,5}", PASS, ""),
        ("inf", FAIL, "are not inf"),
        ("[inf]", PASS, ""),
        ("~inf & ~nan", FAIL, "NaN"),
    ],
)
def test_words_of_values_alone(text, verdict, says):
    """
    Words of values without a shape are about the values, and never names of axes that anything fits.
    """
    values = torch.tensor([1.0, float("nan"), 3.0, 3.0])

    finding = examine_here(TensorShapeSane({"a": values}, {"a": text}))

    assert finding.verdict is verdict, finding.reason
    assert says in finding.reason


def test_rows_of_metadata_by_their_words_alone(tmp_path):
    """
    A row of a config or of metadata needs no length beside its words.
    """
    rows = {"config(taps)": "distinct & in 0..L-1", "w": "[2]"}
    for taps, says in (
        ([1, 2, 2], "1 of 3 values is a repeat"),
        ([1, 4], "1 of 2 values is not in 0..3, first at [1]"),
    ):
        check = TensorShapeSane({"w": ones(2)}, rows, config={"taps": taps}, dims={"L": 4})
        assert says in examine_here(check).reason
    right = TensorShapeSane({"w": ones(2)}, rows, config={"taps": [0, 3]}, dims={"L": 4})
    assert examine_here(right).verdict is PASS


@pytest.mark.parametrize("text", ["", "  \n", "# nothing\n"])
def test_a_spec_of_nothing(text):
    """
    A text without a word is no spec: not that of a scalar, which is `[]`.
    """
    with pytest.raises(ValueError, match="a spec names at least one tensor"):
        TensorShapeSane("x.pt", text)


def test_names_with_colons():
    """
    The colon before a blank ends a name, so that names of other frameworks can be written.
    """
    shapes = {"dense/kernel:0": (8, 4), "dense/bias:0": (4,)}

    assert held(shapes, "dense/kernel:0: [8 n]; dense/bias:0: [n]", strict=True).verdict is PASS
    assert "dense/bias:0 axis 0 (5): 4" in held(shapes, "dense/bias:0: [5]").reason
    assert held({"a": (3,)}, "a:[3]").verdict is PASS


def test_dims_worked_out_of_what_the_data_binds():
    """
    A dim may be an expression of one that the data binds; a reason has both the word and what it comes from.
    """
    spec = {"up": "inner h", "down": "h inner", "gate_up": "two h", "l.{i:0..n-1}": "1<=w<=two", "ids": "[_] & in 0..n"}
    dims = {"two": "2*inner", "n": "two//4", "w": "n<=w"}
    right = {"up": (4, 3), "down": (3, 4), "gate_up": (8, 3), "l.0": (5,), "l.1": (5,), "ids": (2,)}

    assert held(right, spec, dims=dims, strict=True).verdict is PASS
    reason = held({**right, "gate_up": (4, 3), "l.0": (9,), "l.1": (9,)}, spec, dims=dims).reason
    assert "gate_up axis 0 (two): 4, expected 8 = 2*inner = 2*4 [up axis 0]" in reason
    assert "expected at most 8 = 2*inner" in reason
    assert "l.2: missing" in held({**right, "up": (6, 3), "down": (3, 6), "gate_up": (12, 3)}, spec, dims=dims).reason


def test_what_dims_can_not_be_worked_out_of():
    """
    What a dim is worked out of stands somewhere as an axis, and has the scope.
    """
    with pytest.raises(ValueError, match=r"'inner' in .* is bound by nothing"):
        TensorShapeSane("x.pt", {"a": "two"}, dims={"two": "2*inner"})
    with pytest.raises(ValueError, match="the scope is that of inner"):
        TensorShapeSane("x.pt", {"a": "two@file inner"}, dims={"two": "2*inner"})


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"h": 64, "H": 0}, "division by zero"),
        ({"h": 100, "H": 8}, "100 is not a multiple of 8"),
        ({"h": "64", "H": 8}, "'64' is no number"),
    ],
)
def test_a_config_at_odds_with_itself(config, says):
    """
    Where a config's own numbers don't fit together nothing is said of the data, and the keys and their values are named.
    """
    dims = {"h": "config.h", "H": "config.H", "d": "h//H"}

    finding = held({"q": (16,)}, "q: [d]", dims=dims, config=config)

    assert finding.verdict is UNKNOWN
    for word in ("h//H", says, f"h={json.dumps(config['h'])}", f"H={config['H']}"):
        assert word in finding.reason


def test_what_is_empty_is_no_placeholder(tmp_path):
    """
    An empty parameter is what ZeRO-3 leaves behind; no file, no token and no id are simply none.
    """
    torch.save(
        {"ids": torch.zeros(0, dtype=torch.int64), "hs": torch.zeros(0, 4), "w": torch.zeros(0)}, tmp_path / "a.pt"
    )
    spec = "ids: [3]; hs: [3 4]; w: [3 4]; files(b_*.pt): 2; b_{k:0..1}.pt :: ids: [_]; b_{k:0..1}.pt :: hs: [_ 4]"

    told = examine_here(TensorShapeSane(tmp_path, spec)).reason.split("; ")

    assert [each for each in told if "ZeRO-3" in each] == [each for each in told if each.startswith("a.pt:w")]
    assert "files(b_*.pt) count (2): 0, expected 2" in told
    assert "missing: no such file, 4 tensors: b_{0,1}.pt:ids, b_{0,1}.pt:hs" in told


def test_where_the_bounds_of_values_come_from(tmp_path):
    """
    A reason about values names the config key or the dim behind a bound, in tensors, rows of a config, and statistics.
    """
    save_file({"ids": torch.tensor([1, 9, 17]), "mask": put(1.0, 0)}, tmp_path / "a.safetensors")
    (tmp_path / "config.json").write_text(json.dumps({"num_layers": 16, "taps": [1, 16]}))
    spec = "ids: [3] & in 0..L-1; mask: [_] & sum <= one; config(taps): in 0..L-1"

    reason = examine_here(TensorShapeSane(tmp_path, spec, dims={"L": "config.num_layers", "one": 1})).reason

    assert (
        "ids: 1 of 3 values is not in 0..15, first at [2]; range 1..17 [in 0..L-1: config.json num_layers=16]" in reason
    )
    assert "range 1..16, expected in 0..L-1 [config.json num_layers=16]" in reason
    assert "mask: sum 3, expected <= 1 [sum <= one: one=1]" in reason


@pytest.mark.parametrize("scope", ["@file", "@module", "@tensor"])
def test_bounds_of_values_that_a_file_binds(tmp_path, scope):
    """
    A bound that belongs to one file or tensor is told with that one, also where another has the same size.
    """
    for file, last in (("s_0.pt", 2), ("s_1.pt", 1), ("s_2.pt", 7)):
        torch.save({f"{file[2]}.ids": torch.tensor([0, 1, last])}, tmp_path / file)

    reason = examine_here(TensorShapeSane(tmp_path, f"*.ids: [s{scope}] & in 0..s-1")).reason

    assert reason == (
        "s_2.pt:2.ids: 1 of 3 values is not in 0..2, first at [2]; range 0..7 [in 0..s-1: s=3, s_2.pt:2.ids axis 0]"
    )


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("emb: [v _]; ids: [b s] & in 0..v-1", "not in 0..7, first at [0, 1]; range 1..9 [in 0..v-1: v=8, emb axis 0]"),
        ("emb: [v _]; ids: < v", "not < 8, first at [0, 1]; range 1..9 [< v: v=8, emb axis 0]"),
        ("emb: [v _]; ids: max < v", "max 9, expected < 8 [max < v: v=8, emb axis 0]"),
        (
            "emb: [_ w]; ids: sum == w*b-1; x.{i:4..4}: [b]",
            "sum 12, expected == 11 [sum == w*b-1: w=4, emb axis 1, b=3, x.4 axis 0]",
        ),
        ("emb: [2*v _]; ids: last == v", "last 2, expected == 4 [last == v: v=4, emb axis 0, 2*v=8]"),
        (
            "emb: [v _]; ids: in 0..v-k",
            "not in 0..6, first at [0, 1]; range 1..9 [in 0..v-k: v=8, emb axis 0, config k=2]",
        ),
        ("x.{i}: [n] & >= i", "x.4: 3 of 3 values are not >= 4, first at [0]; range 1..1 [>= i: i=4]"),
        (
            "x.4: [n] & companion(.s, [n] & < n)",
            "x.4.s: 1 of 3 values is not < 3, first at [2]; range 1..5 [< n: n=3, x.4 axis 0]",
        ),
    ],
)
def test_bounds_of_values_and_where_they_come_from(spec, says):
    """
    A number that the data gave is told with the dim, its value, and the tensor and axis that bound it.
    """
    tensors = {"emb": ones(8, 4), "ids": torch.tensor([[1, 9, 2]]), "x.4": ones(3), "x.4.s": torch.tensor([1, 1, 5])}
    config = {"k": 2}

    finding = examine_here(TensorShapeSane(tensors, spec, dims={"k": "config.k"}, config=config))

    assert finding.verdict is FAIL
    assert says in finding.reason


def test_rows_of_metadata_and_where_their_bounds_come_from(tmp_path):
    """
    What is said of a row of metadata is told with the tensor that gave its bound.
    """
    torch.save({"w": ones(5), "ids": [1, 7]}, tmp_path / "a.pt")

    reason = examine_here(TensorShapeSane(tmp_path / "a.pt", "w: [n]; meta(ids): in 0..n-1")).reason

    assert "meta(ids): 1 of 2 values is not in 0..4, first at [1]; range 1..7" in reason
    assert reason.endswith("[n=5, a.pt:w axis 0]")


@pytest.mark.parametrize("where", ["live torch", "live numpy", "pt"])
@pytest.mark.parametrize(
    ("words", "holds"),
    [
        ("rows distinct", False),
        ("distinct", False),
        ("planes distinct(0)", False),
        ("planes distinct(1)", True),
        ("sum == 24", True),
        ("sum == 6", False),
        ("count(2) == 4", True),
        ("step 1", True),
        ("mean 2..2 & in 1..3 & first == 1 & last == 3", True),
        ("same(whole)", True),
        ("same(other)", False),
    ],
)
def test_memory_that_is_repeated(tmp_path, where, words, holds):
    """
    Rows that are one row's memory over and over are as many values as the shape says.
    """
    row = torch.tensor([[1.0, 2.0, 3.0]])
    other = row.repeat(4, 1)
    other[2, 1] = 9.0
    tensors = {"w": row.expand(4, 3), "whole": row.repeat(4, 1), "other": other}
    subject = tensors if where == "live torch" else {name: each.numpy() for name, each in tensors.items()}
    if where == "live numpy":
        subject["w"] = numpy.broadcast_to(row.numpy(), (4, 3))
    if where == "pt":
        subject = tmp_path / "a.pt"
        torch.save(tensors, subject)

    finding = examine_here(TensorShapeSane(subject, f"w: [4 3] & {words}"))

    assert finding.verdict is (PASS if holds else FAIL), finding.reason


@pytest.mark.parametrize("words", ["rows distinct", "sum >= 0", "count(1) >= 1", "step 1", "same(b)"])
def test_memory_that_is_repeated_without_end(words):
    """
    A view of 4 TiB over one row is looked at once, and words that this does not answer are not told.
    """
    tensors = {"a": torch.ones(1, 2).expand(1 << 39, 2), "b": torch.ones(1, 2).expand(1 << 39, 2)}

    assert examine_here(TensorShapeSane(tensors, "a: [_ 2] & finite & in 1..1 & constant")).verdict is PASS
    finding = examine_here(TensorShapeSane(tensors, f"a: [_ 2] & {words}"))
    assert (finding.verdict, finding.cause) == (UNKNOWN, Cause.UNSUPPORTED)
    assert "an axis of stride 0 repeats its memory" in finding.reason


@pytest.mark.parametrize("save", [numpy.savez, numpy.savez_compressed])
def test_each_array_of_an_archive_by_itself(tmp_path, save):
    """
    Arrays of one npz may differ in byte order and in which axis is the fastest: values are those that numpy reads.
    """
    plain = numpy.arange(12, dtype="<i4").reshape(3, 4)
    big = plain.astype(">i4")
    arrays = {"a": plain, "F": numpy.asfortranarray(plain), "B": big, "FB": numpy.asfortranarray(big)}
    save(tmp_path / "x.npz", **arrays)

    def look(words):
        return examine_here(TensorShapeSane(tmp_path / "x.npz", f"{{p:a,F,B,FB}}: i32[3 4] & {words}"))

    assert look("step 1 & in 0..11 & rows distinct & planes distinct(1) & sum == 66").verdict is PASS
    assert "x.npz:a, F, B and 1 more: 1 of 12 values is not in 0..10, first at [2, 3]" in look("in 0..10").reason


def test_what_is_there_as_no_tensor(tmp_path):
    """
    A value that was saved as a list or a number is told as that, in a file as in memory, and is no stranger to `strict`.
    """
    saved = {"hs": ones(3), "ids": [1, 2, 3], "step": 7, "state": {"w": ones(2), "lr": 0.1}, "prompt": "hello"}
    torch.save(saved, tmp_path / "hs_0.pt")
    torch.save({**saved, "ids": torch.tensor([1, 2, 3])}, tmp_path / "hs_1.pt")

    for spec in ("ids: i64[3]; hs: [3]", "hs_*.pt :: ids: i64[3]"):
        assert examine_here(TensorShapeSane(tmp_path, spec)).reason == "hs_0.pt:ids: a list, not a tensor of i64"
    two = examine_here(TensorShapeSane(tmp_path / "hs_0.pt", "state.lr: [1]; step: i64[]; x: [2]"))
    assert (
        two.reason
        == "hs_0.pt:state.lr: a float, not a tensor; hs_0.pt:step: an int, not a tensor of i64; hs_0.pt:x: missing"
    )
    under = examine_here(TensorShapeSane(tmp_path / "hs_0.pt", "lr: f32[1]; w: [2]", under="state."))
    assert under.reason == "hs_0.pt:lr: a float, not a tensor of f32"
    assert (
        examine_here(TensorShapeSane(tmp_path / "hs_1.pt", "ids: [3]; hs: [3]; state.w: [2]", strict=True)).verdict
        is PASS
    )


@pytest.mark.parametrize(
    ("value", "verdict"), [(True, PASS), (False, FAIL), (0, FAIL), ("false", UNKNOWN), ("true", UNKNOWN)]
)
def test_a_condition_that_is_a_text(value, verdict):
    """
    Whether a tensor may be absent is not read out of a text, of which Python holds "false" for true.
    """
    finding = held({"b": (1,)}, "a? if config.tie: [4]; b: [1]", config={"tie": value})

    assert finding.verdict is verdict, finding.reason
    assert verdict is not UNKNOWN or f"config.tie is {value!r}, neither true nor false" in finding.reason


def test_words_of_python_are_no_dims():
    """
    A dim can't be called as Python's own words are, and the message says what to write.
    """
    with pytest.raises(ValueError, match="'in' is a word of Python's, which no dim can be called: write in_"):
        TensorShapeSane("x.pt", "a: [out in]")


def test_files_that_are_cut(tmp_path):
    """
    A file that is cut is told as truncated, with how much of it is there; many that are cut alike are told together.
    """
    for k, cut in enumerate((0, 10, 20, 30)):
        save_file({"w": ones(64)}, tmp_path / f"m_{k}.safetensors")
        whole = (tmp_path / f"m_{k}.safetensors").read_bytes()
        (tmp_path / f"m_{k}.safetensors").write_bytes(whole[: len(whole) - cut])

    one = examine_here(TensorShapeSane(tmp_path / "m_1.safetensors", "w: [64]"))
    all_ = examine_here(TensorShapeSane(tmp_path, "m_*.safetensors :: w: [64]"))

    size = len((tmp_path / "m_0.safetensors").read_bytes())
    assert (
        f"m_1.safetensors: truncated: the tensors from 'w' on are cut ({size - 10} of {size} bytes are there)"
        == one.reason
    )
    assert (
        all_.reason
        == "m_1.safetensors, m_2.safetensors, m_3.safetensors: truncated: the tensors from 'w' on are cut; 3 alike"
    )
