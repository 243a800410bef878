"""TensorShapeSane as a claim: shapes, dims, names, relations, metadata, files and hosts."""

from __future__ import annotations

import json
import pickle
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verikit import FAIL, PASS, UNKNOWN, Cause, Check, TensorShapeSane, at_least, verify
from verikit.errors import Unseen
from verikit.probes import tensors as tensor_probe
from verikit.probes.place import Place
from verikit.spec.compiled import Constants, compile_spec
from verikit.spec.quick import quick
from verikit.spec.rows import Entry
from verikit.spec.solve import Solver
from verikit.testing import FakeHost
from verikit.testing.here import examine_here

torch = pytest.importorskip("torch")


def look(subject, spec, **more):
    return examine_here(TensorShapeSane(subject, spec, **more))


def zeros(**shapes):
    return {name: torch.zeros(shape) for name, shape in shapes.items()}


# Shapes and dims.


@pytest.mark.parametrize(
    ("shapes", "spec", "dims"),
    [
        ({"x": (3, 9, 64)}, "3 s 64", {}),
        ({"x": (9, 64), "y": (2, 9, 64)}, "b? s 64", {}),
        ({"x": (5, 9, 64), "y": (64,)}, "... 64", {}),
        ({"x": (5, 9, 64), "y": (5, 9, 3)}, "*b _", {}),
        ({"x": (192,), "y": (64,)}, {"x": "3*h", "y": "h"}, {}),
        ({"x": (96, 64)}, {"x": "(H+2*K)*d h"}, {"H": 8, "K": 2, "d": 8}),
        ({"x": (320,)}, {"x": "v<=rows%64<=v+63"}, {"v": 300}),
        ({"x": (3,), "y": (1,)}, "{1,3}", {}),
        ({"x": (1, 4), "y": (5, 4)}, "#b 4", {}),
        ({"x": (2, 3), "y": (3, 2)}, {"x": "a@tensor b@tensor", "y": "a b"}, {}),
        ({"x": (8, 4)}, "(a b) b", {"a": "a<=2"}),
        ({"x": ()}, "[]", {}),
    ],
)
def test_fits(shapes, spec, dims):
    """
    A shape that the spec describes passes, in any order of its equations.
    """
    finding = look(zeros(**shapes), spec, dims=dims)

    assert finding.verdict is PASS, finding.reason


@pytest.mark.parametrize(
    ("shapes", "spec", "reason"),
    [
        ({"x": (3, 9, 65)}, "3 s 64", "x axis 2 (64): 65, expected 64"),
        ({"x": (9, 8), "y": (8,)}, {"x": "s s", "y": "s"}, "x axis 0 (s): 9, expected 8 = s [x axis 1]"),
        ({"x": (1, 9, 64)}, "s 64", "x: [1, 9, 64] has 3 axes, expected 2: [s 64] (an extra batch axis in front)"),
        ({"x": (64, 160)}, "160 64", "x: [64, 160], expected [160, 64]: [160 64] (transposed)"),
        ({"x": (200,)}, "3*h", "x axis 0 (3*h): 200; 200 is not a multiple of 3"),
        (
            {"x": (0,)},
            "64 64",
            "x: [0], empty, where values are expected (a ZeRO-3 placeholder: the data is in the partitioned files)",
        ),
        ({"x": (5000,)}, "s<=4096", "x axis 0 (s): 5000, expected at most 4096"),
        ({"x": (100,)}, "s%64", "x axis 0 (s): 100, expected a multiple of 64"),
        ({"x": (2,)}, "{1,3}", "x axis 0 ({1,3}): 2, expected one of 1, 3"),
        (
            {"x": (320,), "y": (300,)},
            {"y": "v", "x": "v"},
            "x axis 0 (v): 320, expected 300 = v [y axis 0] (300 rounded up to a multiple of 64: padded)",
        ),
        ({"x": (256,)}, {"x": "5*64"}, "x axis 0 (5*64): 256, expected 320 = 5*64 (4*64, not 5*64)"),
        (
            {"x": (16, 64)},
            "128 64",
            "x axis 0 (128): 16, expected 128 (1/8 of it: one shard of 8?)",
        ),
        ({"x": (8, 12)}, "4 24", "x: [8, 12], expected [4, 24]: [4 24] (as many elements: reshaped)"),
        (
            {"x": (384,), "c": (320,)},
            {"c": "v", "x": "v"},
            "x axis 0 (v): 384, expected 320 = v [c axis 0] (320 rounded up to a multiple of 128: padded)",
        ),
    ],
)
def test_does_not_fit(shapes, spec, reason):
    """
    The reason says which axis, what was seen, what was expected and why, and a likely cause.
    """
    finding = look(zeros(**shapes), spec)

    assert (finding.verdict, finding.reason) == (FAIL, reason)


def test_config_keys_in_the_reason(tmp_path):
    """
    A number out of config.json is told with its key; layers that are alike are one line.
    """
    config = {"num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 128, "num_hidden_layers": 61}
    (tmp_path / "config.json").write_text(json.dumps(config))
    from safetensors.torch import save_file

    save_file(
        {f"model.layers.{i}.self_attn.k_proj.weight": torch.zeros(1024, 8) for i in range(61)},
        tmp_path / "m.safetensors",
    )
    dims = {
        "H": "config.num_attention_heads",
        "kv": "config.num_key_value_heads",
        "d": "config.head_dim or 8",
        "L": "config.num_hidden_layers",
    }
    spec = {
        "model.layers.{i:0..L-1}.self_attn.k_proj.weight": "f32[kv*d h]",
        "model.layers.{i}.self_attn.q_proj.weight?": "f32[H*d h]",
    }

    finding = look(tmp_path / "m.safetensors", spec, dims=dims)

    assert finding.reason == (
        "m.safetensors:model.layers.{0..60}.self_attn.k_proj.weight axis 0 (kv*d): 1024, expected 256 = kv*d = 2*128 "
        "[config.json num_key_value_heads=2, head_dim=128] (equals H*d); 61 alike"
    )


def test_odd_one_out():
    """
    The dim that one tensor of many has otherwise is that one's fault, even if it comes first.
    """
    finding = look(zeros(**{"l.0": (9, 4), "l.1": (8, 4), "l.2": (8, 4), "l.3": (8, 4)}), {"l.{i:0..3}": "h 4"})

    assert finding.reason.startswith("l.0 axis 0 (h): 9, expected 8 = h [l.1 axis 0]")


SHAPES = st.dictionaries(
    st.sampled_from("abcdef"), st.lists(st.integers(0, 4), max_size=3).map(tuple), min_size=1, max_size=5
)


@given(SHAPES, st.sampled_from(["h", "h h", "a b", "... h", "2*h", "h k@tensor", "h? k", "*b 2"]), st.randoms())
@settings(deadline=None)
def test_order_does_not_matter(shapes, spec, shuffle):
    """
    The verdict is the same in whatever order the tensors come.
    """
    entries = [Entry("", name, "f32", shape) for name, shape in shapes.items()]
    compiled = compile_spec(spec, None)

    def verdict(rows):
        outcome = Solver(compiled, rows, [""], Constants(compiled, None, "")).run()
        return bool(outcome.faults), bool(outcome.unknown)

    mixed = list(entries)
    shuffle.shuffle(mixed)

    assert verdict(entries) == verdict(mixed)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=6), st.integers(0, 5))
@settings(deadline=None)
def test_quick_agrees_with_proper(rows, odd):
    """
    The quick look passes nothing that the proper one does not, and the other way round for plain specs.
    """
    shapes = {f"l.{k}.w": (rows[0][0], b) if k != odd else (a, b) for k, (a, b) in enumerate(rows)}
    entries = [Entry("", name, "f32", shape) for name, shape in shapes.items()]
    compiled = compile_spec(f"l.{{i:0..{len(rows) - 1}}}.w: f32[h {rows[0][1]}]", None)
    constants = Constants(compiled, None, "")

    at_once = quick(compiled, entries, constants)
    proper = Solver(compiled, entries, [""], constants).run()

    assert (at_once is not None) == (not proper.faults and not proper.unknown)


# Names.


def test_range_means_each():
    """
    Of a range each one must exist; a star wants one at least; a mark makes it optional; a bang forbids it.
    """
    tensors = zeros(**{"l.0.w": (2,), "l.2.w": (2,)})

    assert look(tensors, {"l.{i:0..2}.w": "2"}).reason == "l.1.w: missing"
    assert look(tensors, {"l.*.w": "2"}).verdict is PASS
    assert look(tensors, {"m.*.w": "2"}).reason == "m.*.w: missing"
    assert look(tensors, {"l.*.w": "2", "m.*.w?": "2"}).verdict is PASS
    assert look(tensors, {"l.*.w": "2", "!l.2.w": ""}).reason == "l.2.w: unexpected: must not exist"
    assert look(tensors, {"l.0.w": "2"}, strict=True).reason == "l.2.w: unexpected: not in the spec"
    assert look(tensors, {"l.0.w": "2"}, strict=True, ignore="l.2.*").verdict is PASS


def test_prefix_hint():
    """
    Names that are all there under a wrapper's prefix are told so.
    """
    finding = look(zeros(**{"module.a": (2,), "module.b": (2,)}), {"a": "2", "b": "2"})

    assert finding.reason.startswith("every one is there with the prefix 'module.', which DataParallel or DDP leaves")


def test_optional_if():
    """
    A head may be missing only where the config ties it.
    """
    spec = {"emb": "v h", "head? if config.tie": "v h"}

    assert look(zeros(emb=(4, 2)), spec, config={"tie": True}).verdict is PASS
    assert look(zeros(emb=(4, 2)), spec, config={"tie": False}).reason == "head: missing"
    untold = look(zeros(emb=(4, 2)), spec, config={})
    assert untold.verdict is UNKNOWN
    assert "config has no key tie" in untold.reason
    assert look(zeros(emb=(4, 2), head=(4, 2)), spec, config={}).verdict is PASS


def test_all_faults_at_once():
    """
    Every fault is told, not the first one.
    """
    finding = look({**zeros(a=(3,), b=(4,)), "c": torch.zeros(2).half()}, {"a": "4", "b": "5", "c": "f32[2]", "d": "1"})

    for word in ("a axis 0", "b axis 0", "c: f16, expected f32", "d: missing"):
        assert word in finding.reason
    assert finding.facts["fault_count"] == 4


def test_reason_stays_short():
    """
    A thousand different faults are eight causes and a count; the facts keep 200.
    """
    finding = look(zeros(**{f"t{i}": (i + 1,) for i in range(1000)}), {f"t{i}": "f32[1001]" for i in range(1000)})

    assert "992 more causes" in finding.reason
    assert len(finding.reason) < 1500
    assert len(finding.facts["faults"]) == 200


# What can't be told.


def test_nothing_named_is_no_pass():
    """
    A spec that no tensor answers to is UNKNOWN, not passed over nothing.
    """
    finding = look(zeros(x=(2,)), {"y?": "2"})

    assert (finding.verdict, finding.cause) == (UNKNOWN, Cause.NOTHING_SEEN)


def test_missing_key_and_config(tmp_path):
    """
    A config key or a config that is not there is UNKNOWN, naming it; a live subject needs its config given.
    """
    torch.save(zeros(x=(2,)), tmp_path / "x.pt")
    dims = {"h": "config.hidden_size"}
    gone = look(tmp_path / "x.pt", {"x": "h"}, dims=dims)
    bare = look(tmp_path / "x.pt", {"x": "h"}, dims=dims, config={"a": 1})

    assert (gone.verdict, gone.cause) == (UNKNOWN, Cause.MISSING)
    assert "hidden_size" in gone.reason
    assert "config.json: No such file" in gone.reason
    assert (bare.verdict, bare.reason) == (UNKNOWN, "config has no key hidden_size, which x needs")
    with pytest.raises(ValueError, match="config="):
        TensorShapeSane({}, {"x": "h"}, dims=dims)


@pytest.mark.parametrize(
    ("spec", "dims", "word"),
    [
        ({"q": "heads*foo+foo//3"}, {"heads": 8}, "foo"),
        ({"q": "h", "l.{i:0..L-1}": "h"}, {}, "L"),
        ({"q": "n & in 0..v-1"}, {}, "v"),
        ({"q": "a"}, {"a": "b+1", "b": "a+1"}, "circle"),
        ({"q": "a"}, {"a": "unheard+1"}, "unheard"),
        ({"q": "a"}, {"a": 1.5}, "dims"),
        ({"q": "a"}, {"a b": 1}, "words"),
    ],
)
def test_unbindable(spec, dims, word):
    """
    A name that nothing can bind is refused where the check is built, by name.
    """
    with pytest.raises(ValueError, match=word):
        TensorShapeSane("x.pt", spec, dims=dims)


@pytest.mark.parametrize(
    ("axis", "dims", "config"),
    [
        ("h", {"h": "config.h"}, {"h": "two"}),
        ("h//K", {"h": 3, "K": 0}, None),
        ("h-9", {"h": 3}, None),
        ("d", {"d": "config.h//8"}, {"h": 12}),
    ],
)
def test_spec_at_odds_with_itself(axis, dims, config):
    """
    An expectation that can't be computed from what is given says nothing of the data: UNKNOWN, naming the word.
    """
    finding = look(zeros(w=(2,)), {"w": axis}, dims=dims, config=config)

    assert (finding.verdict, finding.cause) == (UNKNOWN, Cause.AMBIGUOUS)
    assert axis in finding.reason


def test_remainder_of_what_is_given():
    """
    `//` divides exactly: no size is twelve eighths, so a tensor that is to have it is at fault.
    """
    finding = look(zeros(w=(2,)), {"w": "h//8"}, dims={"h": "config.h"}, config={"h": 12})

    assert finding.verdict is FAIL
    assert finding.reason == "w axis 0 (h//8): 2; 12 is not a multiple of 8 (h//8) [config h=12]"


def test_unread_format_is_not_missing(tmp_path):
    """
    A tensor that is not found because its file could not be read is not told missing, so the denial does not pass either.
    """
    (tmp_path / "w.bin").write_bytes(b"no format at all")

    finding = look(tmp_path / "w.bin", {"w": "3"})

    assert (finding.verdict, finding.cause) == (UNKNOWN, Cause.UNSUPPORTED)


def test_other_files_in_a_folder(tmp_path):
    """
    A file of no known format in a folder is left out with a warning; what is then missing can't be told.
    """
    torch.save(zeros(w=(3,)), tmp_path / "w.pt")
    (tmp_path / "vocab.bin").write_bytes(b"no format at all")

    seen = look(tmp_path, {"w": "3"})
    unseen = look(tmp_path, {"w": "3", "v": "3"})

    assert (seen.verdict, seen.warnings) == (
        PASS,
        ("1 file of no format that is known here left out, vocab.bin first",),
    )
    assert (unseen.verdict, unseen.cause) == (UNKNOWN, Cause.UNSUPPORTED)
    assert look(tmp_path, {"w": "3"}, strict=True).verdict is UNKNOWN
    assert look(tmp_path / "*", {"w": "3"}).verdict is UNKNOWN


@pytest.mark.parametrize("more", [{"values": "some"}, {"seed": -1}, {"config": 3}, {"dims": [1]}, {"ignore": "{"}])
def test_refused_arguments(more):
    """
    Arguments that make no sense are refused where the check is built.
    """
    with pytest.raises((ValueError, TypeError)):
        TensorShapeSane("x.pt", "3", **more)


def test_missing_path_fails(tmp_path):
    """
    The claim includes existence: no file, no folder and no match are FAIL.
    """
    assert look(tmp_path / "no.safetensors", "3").verdict is FAIL
    assert look(tmp_path / "*.safetensors", {"x": "3"}).verdict is FAIL
    assert look(tmp_path, {"x": "3"}).verdict is FAIL


def test_broken_files(tmp_path):
    """
    A cut file, a header that claims too much and a file of no format never pass, and say what they are.
    """
    from safetensors.torch import save_file

    save_file(zeros(w=(64, 64)), tmp_path / "w.safetensors")
    whole = (tmp_path / "w.safetensors").read_bytes()
    for number, data in enumerate((whole[:-1], whole[:20], b"\xff" * 7 + b"\x0f" + whole[8:], b"", b"hello")):
        path = tmp_path / f"{number}.safetensors"
        path.write_bytes(data)

        assert look(path, {"w": "64 64"}).verdict is not PASS


# Files.


def dump(folder, n, width=8):
    for k in range(n):
        torch.save({"x": torch.randn(3, 5 + k, width), "ids": torch.arange(5 + k)}, folder / f"hs_{k}.pt")


def test_samples_in_files(tmp_path):
    """
    In a dump a dim may be one value a file, and every file must hold what the others hold.
    """
    dump(tmp_path, 6)
    spec = {"x": "f32[3 s@file h]", "ids": "i64[s] & step 1", "files(hs_*.pt)": "6"}
    assert look(tmp_path, spec).verdict is PASS

    torch.save({"x": torch.randn(3, 4, 8)}, tmp_path / "hs_6.pt")
    torch.save({"x": torch.randn(3, 4, 9), "ids": torch.arange(4)}, tmp_path / "hs_7.pt")
    finding = look(tmp_path, spec)

    assert "hs_6.pt:ids: missing" in finding.reason
    assert "hs_7.pt:x axis 2 (h): 9, expected 8 = h [hs_0.pt:x axis 2]" in finding.reason
    assert "files(hs_*.pt) count (6): 8, expected 6" in finding.reason


def test_file_patterns(tmp_path):
    """
    A range of files means each; what a pattern names must be in every file that fits.
    """
    dump(tmp_path, 3)

    assert look(tmp_path, {"hs_{k:0..2}.pt :: x": "3 _ 8"}).verdict is PASS
    assert look(tmp_path, {"hs_{k:0..3}.pt :: x": "3 _ 8"}).reason == "hs_3.pt:x: missing: no such file"
    assert look(tmp_path / "hs_[01].pt", {"hs_*.pt :: y": "3"}).reason == "missing, 2 tensors: hs_0.pt:y, hs_1.pt:y"


def test_metadata(tmp_path):
    """
    Metadata is compared as JSON, or looked at as a row of numbers.
    """
    from safetensors.torch import save_file

    save_file(zeros(w=(2,)), tmp_path / "w.safetensors", metadata={"layer_ids": "[3, 31, 59]", "format": "pt"})
    path = tmp_path / "w.safetensors"

    assert look(path, {"w": "2", "meta(layer_ids)": "== [3,31,59]", "meta(format)": "== pt"}).verdict is PASS
    assert look(path, {"w": "2", "meta(layer_ids)": "[3] & distinct & in 0..60"}).verdict is PASS
    assert "expected [3, 31, 58]" in look(path, {"w": "2", "meta(layer_ids)": "== [3,31,58]"}).reason
    assert (
        "1 of 3 values is not in 0..58, first at [2]"
        in look(path, {"w": "2", "meta(layer_ids)": "[3] & in 0..58"}).reason
    )
    assert (
        look(path, {"w": "2", "meta(taps)": "[3]"}).reason == "w.safetensors:meta(taps): missing: not in its metadata"
    )


def test_index(tmp_path):
    """
    `index: complete` holds the index of a sharded checkpoint against its shards.
    """
    from safetensors.torch import save_file

    save_file(zeros(a=(2,)), tmp_path / "m-1.safetensors")
    save_file(zeros(b=(2,), c=(2,)), tmp_path / "m-2.safetensors")
    index = tmp_path / "model.safetensors.index.json"
    spec = {"{p:a,b,c}": "2", "index": "complete"}
    index.write_text(
        json.dumps({"weight_map": {"a": "m-1.safetensors", "b": "m-2.safetensors", "c": "m-2.safetensors"}})
    )
    assert look(tmp_path, spec).verdict is PASS

    index.write_text(
        json.dumps({"weight_map": {"a": "m-2.safetensors", "b": "m-2.safetensors", "d": "m-3.safetensors"}})
    )
    finding = look(tmp_path, spec)

    assert "a said to be in m-2.safetensors, found in m-1.safetensors" in finding.reason
    assert "names the shard m-3.safetensors, which is missing" in finding.reason
    assert "c not in the index" in finding.reason


def test_relations(tmp_path):
    """
    same, tied and shared compare values and memory, in files and live.
    """
    emb = torch.randn(6, 4)
    other = emb.clone()
    other[2, 1] = 9
    torch.save({"emb": emb, "head": emb}, tmp_path / "tied.pt")
    for subject in ({"emb": emb, "head": emb}, tmp_path / "tied.pt"):
        assert look(subject, {"emb": "v h", "head": "v h & tied(emb) & shared(emb) & same(emb)"}).verdict is PASS
    assert (
        look({"emb": emb, "head": emb.clone()}, {"emb": "v h", "head": "v h & same(emb) & ~shared(emb)"}).verdict
        is PASS
    )
    assert (
        "differs from emb in 1 of 24 values, first at [2, 1]"
        in look({"emb": emb, "head": other}, {"head": "v h & tied(emb)"}).reason
    )
    assert look({"head": other}, {"head": "v h & same(emb)"}).reason == "emb: missing"


def test_companions():
    """
    A companion is asked of each tensor of its dtype, with the shape that this tensor's own dims give.
    """
    spec = {"**.weight when e4m3": "[r c] & companion(_scale_inv, f32[ceil(r/128) ceil(c/128)] & nonzero)"}
    fp8 = torch.zeros(256, 384).to(torch.float8_e4m3fn)
    scale = torch.ones(2, 3)
    tall = torch.zeros(129, 1).to(torch.float8_e4m3fn)
    right = {
        "a.weight": fp8,
        "a.weight_scale_inv": scale,
        "b.weight": tall,
        "b.weight_scale_inv": torch.ones(2, 1),
        "n.weight": scale,
    }

    assert look(right, spec).verdict is PASS
    assert (
        "b.weight_scale_inv: missing"
        in look({k: v for k, v in right.items() if k != "b.weight_scale_inv"}, spec).reason
    )
    assert "axis 1 (ceil(c/128)): 2, expected 3" in look({**right, "a.weight_scale_inv": torch.ones(2, 2)}, spec).reason
    assert "all 6 values are zero" in look({**right, "a.weight_scale_inv": torch.zeros(2, 3)}, spec).reason


def test_held(tmp_path):
    """
    Device, strides and storage are judged by what the tensor says of itself, in memory and in a .pt.
    """
    base = torch.zeros(1000)
    tensors = {
        "view": base[:4],
        "expanded": torch.zeros(1).expand(4),
        "meta": torch.zeros(4, device="meta"),
        "plain": torch.zeros(4),
    }

    assert look(tensors, {"plain": "4 & owned & dense & contiguous & real & on cpu|cuda"}).verdict is PASS
    assert "16 bytes of a storage of 4,000, expected owned" in look(tensors, {"view": "4 & owned"}).reason
    assert "stride 0" in look(tensors, {"expanded": "4 & dense"}).reason
    assert look(tensors, {"meta": "4 & real"}).reason == "meta: on meta, expected real"
    torch.save({"view": base[:4], "t": torch.zeros(2, 3).t()}, tmp_path / "v.pt")
    assert "16 bytes of a storage of 4,000" in look(tmp_path / "v.pt", {"view": "4 & owned"}).reason
    assert look(tmp_path / "v.pt", {"t": "3 2 & ~contiguous & dense"}).verdict is PASS


def test_under_and_nesting(tmp_path):
    """
    Names of nested state dicts are dotted; `under` takes those beneath a prefix.
    """
    torch.save({"model": zeros(w=(3,)), "epoch": 3}, tmp_path / "n.pt")

    assert look(tmp_path / "n.pt", {"model.w": "3", "meta(epoch)": "== 3"}).verdict is PASS
    assert look(tmp_path / "n.pt", {"w": "3"}, under="model.", strict=True).verdict is PASS
    assert "with the prefix 'model.'" in look(tmp_path / "n.pt", {"w": "3"}).reason


# As a value, and through `verify`.


def test_as_a_value():
    """
    A check on a path rebuilds from its repr, its pickle and its dict; one on an object is that object's.
    """
    check = TensorShapeSane(
        "a b.pt", {"x": "bf16[h 3]"}, config={"n": [1, 2]}, dims={"h": "config.k or 3"}, strict=True, ignore=("y",)
    )
    live = TensorShapeSane({"x": torch.zeros(2)}, "2")

    assert eval(repr(check)) == check
    assert pickle.loads(pickle.dumps(check)) == check
    assert Check.from_dict(json.loads(json.dumps(check.to_dict()))) == check
    assert hash(check) == hash(eval(repr(check)))
    assert repr(live) == "TensorShapeSane(<live dict, 1 tensor>, '2')"
    with pytest.raises(TypeError):
        pickle.dumps(live)


def test_jaxtyping_annotation_is_stored_as_text():
    """
    An annotation is taken for what it says, so the check can be stored.
    """

    class Float:
        dim_str, dtypes = "b s h", ["float32", "bfloat16"]

    check = TensorShapeSane("x.pt", {"x": Float})

    assert check.spec == {"x": "f32|bf16[b s h]"}
    assert look(zeros(x=(1, 2, 3)), {"x": Float}).verdict is PASS


def test_numpy_and_batches():
    """
    numpy arrays, batches and whatever has shape and dtype are subjects; a list among them is told as such.
    """
    np = pytest.importorskip("numpy")
    batch = {"input_ids": np.zeros((2, 5), dtype="i8"), "labels": torch.full((2, 5), -100), "extra": [1, 2]}
    spec = {"input_ids": "i64[b s] & in 0..v-1", "labels": "i64[b s] & (in 0..v-1 | == -100)"}

    assert look(batch, spec, dims={"v": 9}).verdict is PASS
    assert look(np.zeros((3, 4), dtype="f4"), "f32[3 n]").verdict is PASS
    assert look(batch, {"extra": "i64[2]"}).reason == "extra: a list, not a tensor of i64"


def test_verified_for_real(tmp_path):
    """
    Through `verify` the look runs in the agent, headers first and values second; what the check holds is never stored.
    """
    torch.save({"x": torch.ones(4)}, tmp_path / "x.pt")
    report = verify(
        TensorShapeSane(tmp_path / "x.pt", {"x": "f32[n] & finite & sum == n"})
        & TensorShapeSane({"y": torch.zeros(2)}, "f32[2]")
    )

    assert report.passed, str(report)
    assert "tensor(" not in report.to_json()


def test_across_hosts():
    """
    A dim of the whole check that differs between hosts is FAIL, naming dim, values, hosts and places.
    """
    check = TensorShapeSane("d", {"x": "h s@host"})
    a, b = (look(zeros(x=(n, 3 + n)), {"x": "h s@host"}) for n in (64, 72))

    finding = check.across({"a": a, "b": b})

    assert finding is not None
    assert (finding.verdict, finding.reason) == (
        FAIL,
        "h differs between hosts: 64 on a (x axis 0), 72 on b (x axis 0)",
    )
    assert check.across({"a": a, "c": a}) is None


@pytest.fixture
def three_hosts(tmp_path):
    """Hosts that hold 3, 4 and 5 sample files of one dump at the same path."""
    return [_holds(tmp_path / name, n) for name, n in (("a", 3), ("b", 4), ("c", 5))]


def _holds(folder, n):
    folder.mkdir()
    for k in range(n):
        torch.save({"x": torch.zeros(3, k + 1, 8)}, folder / f"hs_{k}.pt")

    def answer(**asked):
        return tensor_probe.inspect(Place(), **{**asked, "path": str(folder)})

    return FakeHost(folder.name, {tensor_probe.inspect: answer})


def samples(wanted, **more):
    return TensorShapeSane("/dump", {"x": "f32[3 s@file h]", "files(hs_*.pt)@check": wanted}, **more)


@pytest.mark.parametrize(
    ("wanted", "dims", "verdict", "words"),
    [
        ("12", {}, PASS, "files(hs_*.pt)@check: 12 over 3 hosts (a 3, b 4, c 5)"),
        ("3*k", {"k": 4}, PASS, "12 over 3 hosts"),
        ("n", {}, PASS, "12 over 3 hosts"),
        ("12<=n", {}, PASS, "12 over 3 hosts"),
        ("13", {}, FAIL, "files(hs_*.pt)@check count (13): 12, expected 13 over 3 hosts (a 3, b 4, c 5)"),
        ("3*k", {"k": 5}, FAIL, "count (3*k): 12, expected 15 = 3*k = 3*5 [k=5] over 3 hosts"),
        ("n<=11", {}, FAIL, "count (n<=11): 12, expected at most 11 over 3 hosts"),
    ],
)
def test_sums_over_hosts(three_hosts, wanted, dims, verdict, words):
    """
    A count `@check` is the sum over all hosts; each host tells its share, and the sum is judged once.
    """
    report = verify(samples(wanted, dims=dims), on=three_hosts)

    assert report.verdict is verdict, str(report)
    together = report.root.parts[-1]
    assert words in together.finding.reason
    assert {host: row["files(hs_*.pt)@check"]["n"] for host, row in together.finding.facts["shares"].items()} == {
        "a": 3,
        "b": 4,
        "c": 5,
    }
    assert "3 towards files(hs_*.pt)@check over 3 hosts" in report.root.parts[0].finding.reason


def test_sum_on_one_host(three_hosts):
    """
    On one host alone, the sum over all hosts is what is there.
    """
    assert verify(samples("4"), on=three_hosts[1]).passed
    assert verify(samples("12"), on=three_hosts[1]).deciding.reason == ("files(hs_*.pt) count (12): 4, expected 12")


def test_sum_with_a_host_unseen(three_hosts):
    """
    Where a host could not be seen, the sum is not told, be it too small or just right without it.
    """
    down = FakeHost("d", down=Unseen(Cause.UNREACHABLE, "no route to host"))
    report = verify(samples("7"), on=[*three_hosts[:2], down])

    assert (report.verdict, report.root.parts[-1].verdict) == (UNKNOWN, UNKNOWN)
    assert "seen on 2 of 3 hosts (a 3, b 4), so the total can't be told" in str(report)


@pytest.mark.parametrize("turn", [lambda a: a | a.named("again"), lambda a: ~a, lambda a: at_least(1, a, a.named("b"))])
def test_sums_are_not_made_beneath_choices(three_hosts, turn):
    """
    Beneath `|`, `~` and `at_least` hosts speak for themselves, so a sum is UNKNOWN there, with how to write it.
    """
    report = verify(turn(samples("12")), on=three_hosts)

    assert report.unknown
    assert "put .on(…) inside of it" in report.deciding.reason
    assert verify(turn(samples("12").on(*three_hosts)) & samples("12").on(*three_hosts)).verdict is not UNKNOWN


def test_many_experts():
    """
    46,848 tensors of a mixture of experts are held against their spec, and one that is off is named.
    """
    spec = "layers.{i:3..60}.experts.{e:0..255}.{p:gate,up,down}_proj.weight: bf16[m h]"
    compiled = compile_spec(spec, None)
    names = [
        f"layers.{i}.experts.{e}.{p}_proj.weight"
        for i in range(3, 61)
        for e in range(256)
        for p in ("gate", "up", "down")
    ]
    entries = [Entry("", name, "bf16", (2048, 7168)) for name in names]
    odd = random.Random(1).randrange(len(entries))
    entries[odd] = entries[odd]._replace(shape=(2048, 7167))

    outcome = Solver(compiled, entries, [""], Constants(compiled, None, "")).run()

    assert [fault.name for fault in outcome.faults] == [names[odd]]


@given(st.lists(st.text(st.sampled_from("ab.0123\x00"), max_size=8), unique=True, max_size=20))
def test_folded_rows_come_out_as_they_went_in(names):
    """
    Names lose nothing on the journey, with leading zeros and NULs in them, folded or not.
    """
    from verikit.probes import tensors

    for most in (0, 4096):
        fold = tensors.Fold()
        fold.file("m")
        for name in names:
            fold.tensor(0, name, "float32", (2, 3), {"device": "meta"} if len(name) % 2 else None)
        tensors.FOLDED_FROM, before = most, tensors.FOLDED_FROM
        facts = json.loads(json.dumps(fold.facts()))
        tensors.FOLDED_FROM = before

        rows = [(name, "float32", (2, 3), {"device": "meta"} if len(name) % 2 else None) for name in names]
        assert [row[1:] for row in tensors.unfolded_rows(facts)] == rows


def test_companions_by_another_end(tmp_path):
    """
    A companion's name may replace the end of a tensor's; one that lacks or has another shape is named, and `strict` knows it.
    """
    spec = {"**.qweight": "i32[r o] & companion(.qweight->.scales, f16[ceil(8*r/32) o] & nonzero)"}
    tensors = {}
    for n in range(3):
        tensors[f"l.{n}.qweight"] = torch.zeros(16, 6, dtype=torch.int32)
        tensors[f"l.{n}.scales"] = torch.ones(4, 6, dtype=torch.float16)
    good = examine_here(TensorShapeSane(tensors, spec, strict=True))
    del tensors["l.1.scales"]
    tensors["l.2.scales"] = torch.ones(1, 6, dtype=torch.float16)
    bad = examine_here(TensorShapeSane(tensors, spec, strict=True))

    assert PASS is good.verdict, good.reason
    assert FAIL is bad.verdict
    assert "l.1.scales: missing: the companion of i32" in bad.reason
    assert "l.2.scales axis 0 (ceil(8*r/32)): 1, expected 4" in bad.reason
    assert "l.0" not in bad.reason
    other = examine_here(TensorShapeSane({"w": torch.zeros(2, 2)}, "w: [r c] & companion(.weight -> .scale, [r])"))
    assert (UNKNOWN, Cause.AMBIGUOUS) == (other.verdict, other.cause)
    with pytest.raises(ValueError, match="is no suffix"):
        TensorShapeSane({}, "w: [r c] & companion(a -> b -> c, [r])")


def test_keys_that_the_config_lacks_are_told_once_each():
    """
    Each key that is not there is told once, for the first rule that needs it, and one that is null as null; no more than three
    are written out.
    """
    module = {"q": torch.zeros(8, 4), "k": torch.zeros(2, 4), "o": torch.zeros(4, 8)}
    dims = {"h": "config.hidden_size", "H": "config.heads", "d": "config.text.head_dim"}
    spec = {"q": "[H*d h]", "k": "[d h]", "o": "[h H*d]"}

    none = examine_here(TensorShapeSane(module, spec, dims=dims, config={}))
    null = examine_here(
        TensorShapeSane(module, spec, dims=dims, config={"hidden_size": None, "heads": 4, "text": None})
    )

    assert (UNKNOWN, Cause.MISSING) == (none.verdict, none.cause)
    assert {"hidden_size", "heads", "text.head_dim"} == set(re.findall(r"config has no key (\S+), which", none.reason))
    assert null.reason.startswith("config has no key text.head_dim, which q needs; config has hidden_size=null, which")

    many = {f"w{n}": f"[x{n}]" for n in range(7)}
    dims = {f"x{n}": f"config.x{n}" for n in range(7)}
    short = examine_here(TensorShapeSane({name: torch.zeros(3) for name in many}, many, dims=dims, config={}))
    assert 3 == short.reason.count("no key")
    assert short.reason.endswith("(and 4 more)")
