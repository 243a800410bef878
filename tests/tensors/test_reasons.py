"""Reasons: what is told together, which names stand for how many, and which likely causes arithmetic supports."""

from __future__ import annotations

import itertools
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verikit import FAIL, PASS, TensorShapeSane
from verikit.spec import names
from verikit.testing.here import examine_here

torch = pytest.importorskip("torch")
save_file = pytest.importorskip("safetensors.torch").save_file


def of_shapes(shapes, dtype=torch.float32):
    return {name: torch.zeros(shape, dtype=dtype) for name, shape in shapes.items()}


def look(subject, spec, **more):
    finding = examine_here(TensorShapeSane(subject, spec, **more))
    assert finding.verdict is FAIL, finding.reason
    return finding.reason


# Names.


def written_out(text):
    """Every name that a folded one stands for."""
    parts = re.split(r"(\{[^}]*\})", text)
    return {"".join(row) for row in itertools.product(*(options(part) for part in parts))}


def options(part):
    if not part.startswith("{"):
        return [part]
    out = []
    for word in part[1:-1].split(","):
        first, dots, last = word.partition("..")
        out += [f"{n:0{len(first)}d}" for n in range(int(first), int(last) + 1)] if dots else [word]
    return out


NUMBERS = st.sampled_from(["0", "1", "2", "3", "7", "9", "10", "007", "008", "010"])


@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), NUMBERS, NUMBERS), max_size=30))
@settings(deadline=None)
def test_folded_names_stand_for_themselves_alone(rows):
    """
    Names that are folded over their numbers stand for these names and no others, leading zeros and all.
    """
    every = {f"{head}.{one}.w{other}" for head, one, other in rows}
    folded = names.collapsed(sorted(every))

    assert set().union(*(written_out(text) for text, _ in folded)) == every
    assert [n for _, n in folded] == [len(written_out(text)) for text, _ in folded]
    assert sum(n for _, n in folded) == len(every)


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        (["00003", "00007"], "{00003,00007}"),
        (["008", "009", "010", "011"], "{008..011}"),
        (["8", "9", "10", "11"], "{8..11}"),
        (["09", "10", "9"], "{09,9,10}"),
        ([str(n) for n in range(0, 20, 2)], "{0,2,4,6,8,… 5 more}"),
    ],
)
def test_spans(numbers, text):
    """
    Numbers are told as they are written.
    """
    assert names.spans(numbers) == text


def test_a_few_names_are_told_in_full(tmp_path):
    """
    Up to three places are named in full, so that their names can be searched for; more are folded.
    """
    for k in (3, 7, 20):
        save_file(of_shapes({"x": (3, 72)}), tmp_path / f"hs_{k:05d}.safetensors")
    reason = look(tmp_path, "x: [_ 64]")
    four = look(of_shapes({f"l.{k}.w": (5,) for k in (1, 2, 3, 7)}), "l.{i}.w: [4]")

    files = ", ".join(f"hs_{k:05d}.safetensors:x" for k in (3, 7, 20))
    assert reason == f"{files} axis 1 (64): 72, expected 64; 3 alike"
    assert four == "l.{1..3,7}.w axis 0 (4): 5, expected 4; 4 alike"


def test_many_names_of_shards(tmp_path):
    """
    Of the tensors of several shards the files and the names are told, each as they are.
    """
    for k in range(4):
        shapes = {f"layers.{2 * k + j}.{p}.weight": (5, 4) for j in range(2) for p in ("q_proj", "k_proj")}
        save_file(of_shapes(shapes), tmp_path / f"model-{k + 1:05d}-of-00004.safetensors")

    reason = look(tmp_path, "**.weight: [4 4]")

    place = "model-{00001..00004}-of-00004.safetensors:layers.{0..7}.k_proj.weight, layers.{0..7}.q_proj.weight"
    assert reason == f"{place} axis 0 (4): 5, expected 4; 16 alike"


def test_parts_of_the_same_blocks():
    """
    Parts of numbered blocks are folded where they are many; names without numbers are told whole.
    """
    blocks = {f"layers.{i}.self_attn.{p}_proj.weight": (5, 4) for i in range(4) for p in ("q", "k", "v", "o")}
    alone = {f"{name}.weight": (5, 4) for name in ("embed", "norm", "head", "fc")}

    assert look(of_shapes(blocks), "**: [4 4]") == (
        "layers.{0..3}.self_attn.{q_proj,k_proj,v_proj,o_proj}.weight axis 0 (4): 5, expected 4; 16 alike"
    )
    assert look(of_shapes(alone), "**: [4 4]").startswith("embed.weight, norm.weight, head.weight and 1 more axis 0")


# What is told together.


def test_one_cause_with_an_origin_for_each(tmp_path):
    """
    Equal faults whose numbers come from a tensor of their own each are told as one, with the first origin.
    """
    scales = {f"l.{i}.w_scale": torch.ones(1, 3) for i in range(40)}
    weights = {f"l.{i}.w": torch.zeros(200, 384) for i in range(40)}
    companions = look({**scales, **weights}, "**.w: [r c] & companion(_scale, f32[ceil(r/128) ceil(c/128)])")
    for k in range(2):
        torch.save(of_shapes({"hs": (5, 4), "ids": (4,)}), tmp_path / f"s_{k}.pt")
    files = look(tmp_path, "s_*.pt :: hs: [s@file 4]; s_*.pt :: ids: [s]")

    assert companions == (
        "l.{0..39}.w_scale axis 0 (ceil(r/128)): 1, expected 2 = ceil(200/128) [l.0.w is [200, 384], and so on]"
        " (rounded down); 40 alike"
    )
    assert files == "s_0.pt:ids, s_1.pt:ids axis 0 (s): 4, expected 5 = s [s_0.pt:hs axis 0, and so on]; 2 alike"


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (
            "hs: [3 s@file 8]; ids: [s]",
            "s_{0..29}.pt:ids axis 0 (s): 4, expected 5 = s [s_0.pt:hs axis 1], and so on; 30 alike, each 1 less than expected",
        ),
        ("hs: [4 s@file 8]", "s_{0..29}.pt:hs axis 0 (4): 3, expected 4; 30 alike"),
        ("hs: [s@file 8]", "s_{0..29}.pt:hs: [3, 5, 8] has 3 axes, expected 2: [s 8], and so on; 30 alike"),
        (
            "hs: > 0",
            "s_{0..29}.pt:hs: 120 of 120 values are not > 0, first at [0, 0, 0]; range 0..0, and so on; 30 alike",
        ),
        ("hs: [3 s@file 8]; ids: in 1..s", "s_{0..29}.pt:ids: 4 of 4 values are not in 1..5, first at [0]; range 0..0"),
        ("hs: [3 s@file 8]; meta(n): == 7", "s_{0..29}.pt:meta(n): 0, expected 7, and so on; 30 alike"),
    ],
)
def test_one_cause_in_many_files(tmp_path, spec, says):
    """
    What is off in many files in the same way is one cause, also where every file has numbers of its own.
    """
    for k in range(30):
        torch.save({"hs": torch.zeros(3, 5 + k, 8), "ids": torch.zeros(4 + k), "n": k % 7}, tmp_path / f"s_{k}.pt")

    reason = look(tmp_path, spec)

    assert reason.startswith(says)
    assert len(reason) < 200


def test_a_few_causes_are_told_one_by_one():
    """
    Up to three groups that differ in their numbers are told each by itself, and so is one that has most of the tensors.
    """
    sizes = dict.fromkeys(range(57), 9) | {57: 5, 58: 6, 59: 7}
    three = look(of_shapes({f"l.{i}.w": (n,) for i, n in sizes.items()}), "l.{i}.w: [4]")
    four = look(of_shapes({f"l.{i}.w": (n,) for i, n in (sizes | {60: 3}).items()}), "l.{i}.w: [4]")

    most = "l.{0..56}.w axis 0 (4): 9, expected 4; 57 alike; "
    others = [f"l.{i}.w axis 0 (4): {n}, expected 4" for i, n in ((57, 5), (58, 6), (59, 7))]
    assert three == most + "; ".join(others)
    assert four == most + "l.{57..60}.w axis 0 (4): 5, expected 4, and so on; 4 alike"


def test_causes_of_different_axes_stay_apart():
    """
    Two axes, and two rules, are causes of their own however many tensors each has.
    """
    shapes = {f"a.{i}": (4 + i, 4) for i in range(1, 9)} | {f"b.{i}": (4, 4 + i) for i in range(1, 9)}

    told = look(of_shapes(shapes), "a.{i}: [4 4]; b.{i}: [4 4]").split("; 8 alike")

    assert [line.partition(":")[0] for line in told] == ["a.{1..8} axis 0 (4)", "; b.{1..8} axis 1 (4)", ""]


def test_axes_that_are_off_alike():
    """
    Axes of one tensor with one word and one size are one cause.
    """
    config = {"hidden": 72}
    square = look(of_shapes({"w": (64, 64)}), "w: [h h]", dims={"h": "config.hidden"}, config=config)
    conv = look(of_shapes({"w": (8, 3, 5, 5)}), "w: [8 3 p p]", dims={"p": 4})
    two = look(of_shapes({"w": (64, 65)}), "w: [h h]", dims={"h": "config.hidden"}, config=config)

    assert square == "w axes 0 and 1 (h): 64, expected 72 = h [config hidden=72]"
    assert conv == "w axes 2 and 3 (p): 5, expected 4 = p"
    assert two == (
        "w axis 0 (h): 64, expected 72 = h [config hidden=72]; w axis 1 (h): 65, expected 72 = h [config hidden=72]"
    )


def test_a_dim_that_is_out_of_bounds_is_told_once(tmp_path):
    """
    That a sample is empty is one fault, not one of every tensor in it.
    """
    for k, tokens in enumerate((5, 0, 7)):
        torch.save(of_shapes({"hs": (3, tokens, 8), "ids": (tokens,), "mask": (tokens,)}), tmp_path / f"s_{k}.pt")

    reason = look(tmp_path, "hs: [3 s 8]; ids: [s]; mask: [s]", dims={"s": "1<=s@file"})

    assert reason == "s_1.pt:hs axis 1 (s): 0, expected at least 1"


def test_a_shape_in_another_order_tells_where_it_comes_from():
    """
    A shape that is told as a whole names the config keys and the other tensors that its numbers come from.
    """
    dims, config = {"v": "config.vocab", "h": "config.hidden"}, {"vocab": 160, "hidden": 64}
    head = look(of_shapes({"head": (64, 160)}), "head: [v h]", dims=dims, config=config)
    batch = look(of_shapes({"states": (5, 2, 8), "ids": (2, 5)}), "states: [b s 8]; ids: [b s]")

    assert head == "head: [64, 160], expected [160, 64]: [v h] [config vocab=160, hidden=64] (transposed)"
    assert batch == "ids: [2, 5], expected [5, 2]: [b s] [states axis 0, states axis 1] (transposed)"


# Likely causes.

CONFIG = {"h": 64, "H": 8, "K": 2, "d": 16, "m": 160, "v": 320, "n": 128, "o": 256, "r": 8, "kvo": 32, "E": 6, "L": 4}
LLAMA = "q: [H*d h]; o: [h H*d]; k: [K*d h]; gate: [m h]; emb: [v h]; head: [v h]"


@pytest.mark.parametrize(
    ("name", "shape", "dtype", "spec", "hint"),
    [
        # Axes in another order.
        ("w", (6, 40, 64), "f32", "w: [E h 40]", "axes 1 and 2 exchanged"),
        ("w", (6, 320, 64), "f32", "w: [E h 2*m]", "axes 1 and 2 exchanged"),
        ("w", (48, 4, 4, 3), "f32", "w: [48 3 4 4]", "axes 1 and 3 exchanged"),
        ("w", (3, 32, 40), "f32", "w: [40 32 3]", "transposed: axes 0 and 2 exchanged"),
        ("w", (4, 3, 2), "f32", "w: [2 4 3]", "axes in another order: permute(1, 2, 0) of what is expected"),
        ("w", (64, 320), "f32", "w: [v h]", "transposed"),
        ("w", (64, 9), "f32", "w: [_ h]", "transposed"),
        ("kv", (4, 31, 2, 16), "f16", "kv: [L K past d]", "axes 1 and 2 exchanged"),
        ("kv", (4, 31, 2, 16), "f16", "kv: [4 2 _ 16]", "axes 1 and 2 exchanged"),
        ("kv", (4, 31, 3, 16), "f16", "kv: [L K past d]", ""),
        # Axes merged, or not.
        ("q", (8, 16, 64), "f32", "q: [H*d h]", "axes 0 and 1 not merged: 8*16 = H*d"),
        ("q", (5, 8, 16), "f32", "q: [s H*d]", "axes 1 and 2 not merged: 8*16 = H*d"),
        ("q", (5, 128), "f32", "q: [s H d]", "axes 1 and 2 merged into one"),
        ("q", (128, 64), "f32", "q: [H d h]", "axes 0 and 1 merged into one"),
        ("w", (1024,), "f32", "w: [d h]", "flattened"),
        ("w", (1023,), "f32", "w: [d h]", ""),
        ("w", (6, 8, 17), "f32", "w: [H*d h]", ""),
        # Operands of the axis's own word come before what is equal by chance.
        ("w", (256, 128), "u8", "w: [o n//2]", "equals n: not packed, 2 to one u8"),
        ("w", (256, 128), "u8", "w: [o n//2]; z: [64 o*n//64]?", "equals n: not packed, 2 to one u8"),
        ("w", (4, 256), "i32", "w: [4 o//8]", "equals o: not packed, 8 to one i32"),
        ("w", (128, 4), "f32", "w: [n//2 4]", "equals n: not divided by 2"),
        ("w", (32, 64), "f32", "w: [kvo+r h]", "equals kvo"),
        ("w", (1, 64), "f32", "w: [ceil(n/100) h]", "rounded down"),
        ("w", (320, 64), "f32", "w: [round_up(v,256) h]", "equals v: not rounded up to a multiple of 256"),
        # Other words that share a dim, or stand in the same rule.
        ("k", (128, 64), "f32", LLAMA, "equals H*d"),
        ("o", (64, 64), "f32", LLAMA, "equals h; 4*d, not 8*d"),
        ("o", (64, 32), "f32", LLAMA, "equals K*d"),
        ("fc", (64, 320), "f32", "fc: [h 3*h]; " + LLAMA, "5*h, not 3*h"),
        ("head", (32, 64), "f32", "head: [v h]; dec: [kvo h]", "equals kvo"),
        # Words that do not belong there, and numbers that agree by chance.
        ("B", (128, 32), "f32", "B: [n r]; C: [kvo h]", "4 times as many"),
        ("k", (20, 64), "f32", LLAMA, ""),
        ("w", (3, 64), "f32", "w: [E h]", ""),
        ("w", (12, 64), "f32", "w: [E h]", ""),
        ("w", (8, 64), "f32", "w: [248 h]", ""),
        # What two numbers suggest.
        ("w", (64, 128), "u8", "w: [64 64]", "2 times as many"),
        ("w", (100, 4), "f32", "w: [200 4]", "1/2 of it: one shard of 2?"),
        ("w", (384, 4), "f32", "w: [v 4]", "320 rounded up to a multiple of 128: padded"),
        ("w", (330, 4), "f32", "w: [v 4]", ""),
        ("w", (448, 4), "f32", "w: [v 4]", ""),
        ("w", (4, 32), "i32", "w: [4 256]", "eight 4-bit values packed into one int32?"),
    ],
)
def test_likely_causes(name, shape, dtype, spec, hint):
    """
    A likely cause is the plainest that arithmetic supports; where only chance does, there is none.
    """
    kinds = {"f32": torch.float32, "f16": torch.float16, "u8": torch.uint8, "i32": torch.int32}
    rules = {key.strip(): value.strip() for key, _, value in (rule.partition(":") for rule in spec.split(";"))}
    optional = {key if key == name else f"{key}?": value.rstrip("?") for key, value in rules.items()}
    dims = {key: value for key, value in CONFIG.items() if re.search(rf"\b{key}\b", spec)}

    reason = look({name: torch.zeros(shape, dtype=kinds[dtype])}, optional, dims=dims)

    assert reason.startswith(name)
    told = re.search(r" \(([^()]*(?:\([^()]*\)[^()]*)*)\)$", reason)
    assert (told[1] if told else "") == hint, reason


def test_an_axis_that_another_rule_binds_is_not_exchanged():
    """
    A dim that other tensors agree on is no free one: exchanging it would put it at odds with them.
    """
    reason = look(of_shapes({"kv": (4, 31, 2, 16), "mask": (2,)}), "kv: [4 2 past 16]; mask: [past]")

    assert reason == "kv axis 1 (2): 31, expected 2"


def test_sizes_that_are_known_beside_a_wrong_rank(tmp_path):
    """
    A wrong number of axes is told with the sizes that are known, and where they come from.
    """
    config = {"H": 8, "d": 16}
    dims = {key: f"config.{key}" for key in config}
    reason = look(of_shapes({"q": (5, 8, 16)}), "q: [s H*d]", dims=dims, config=config)

    assert reason == (
        "q: [5, 8, 16] has 3 axes, expected 2: [s H*d] = [s 128] [config H=8, d=16] (axes 1 and 2 not merged: 8*16 = H*d)"
    )


def test_a_good_thing_has_no_reason_to_fail(tmp_path):
    """
    None of this makes a fault of what fits.
    """
    tensors = of_shapes({"q": (128, 64), "kv": (4, 2, 31, 16)})
    path = tmp_path / "model.safetensors"
    save_file(tensors, path)
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))

    check = TensorShapeSane(path, "q: [H*d h]; kv: [L K past d]", dims={key: f"config.{key}" for key in "HdhLK"})

    assert examine_here(check).verdict is PASS
