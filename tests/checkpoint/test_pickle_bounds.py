"""Pickles that ask for much: what calls would make is counted, and what the walk holds is bounded by the pickle's size."""

from __future__ import annotations

import collections
import contextlib
import decimal
import fractions
import hashlib
import os
import pickle
import re
import tracemalloc

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings

from verikit import FAIL, UNKNOWN, Cause
from verikit.checks.checkpoint import CheckpointIntact
from verikit.probes.formats import pickle_walk, torch_tensors
from verikit.probes.formats.layout import Broken, Layout
from verikit.probes.formats.pickle_walk import EACH, _Machine, walk
from verikit.probes.place import CannotSee
from verikit.testing.here import examine_here


def named(module, name):
    return f"c{module}\n{name}\n".encode()


def number(value):
    return pickle.dumps(value, 2)[2:-1]


def call(function, *args):
    return function + b"(" + b"".join(args) + b"tR"


def many(n):
    return call(named("builtins", "range"), number(n))


def bombs(n):
    """Calls of names that every checkpoint may have, each of which makes `n` values, digits or bytes of a few bytes."""
    containers = "list set tuple frozenset".split()
    found = {f"{name} of a range": call(named("builtins", name), many(n)) for name in containers}
    for name in ("deque", "Counter"):
        found[f"{name} of a range"] = call(named("collections", name), many(n))
    found["Size of a range"] = call(named("torch", "Size"), many(n))
    found["a tuple by NEWOBJ"] = named("builtins", "tuple") + many(n) + b"\x85\x81"
    found["bytes"] = call(named("builtins", "bytes"), number(n))
    found["bytearray"] = call(named("builtins", "bytearray"), number(n))
    found["a list of a list"] = call(named("builtins", "list"), call(named("builtins", "list"), many(n // 2)))
    found["a reconstructed list"] = call(named("copyreg", "_reconstructor"), *[named("builtins", "list")] * 2, many(n))
    found["a storage"] = call(named("torch", "FloatStorage"), number(n))
    found["an untyped storage"] = call(named("torch.storage", "UntypedStorage"), number(n))
    array = named("numpy", "ndarray"), number((n // 10, 10)), b"C\1b"
    found["an array"] = call(named("numpy._core.multiarray", "_reconstruct"), *array)
    found["an array of wide items"] = call(named("numpy", "ndarray"), number(1000), number(f"V{n // 1000}"))
    found["a fraction"] = call(named("fractions", "Fraction"), number(f"1e{n}"))
    found["a number of a decimal"] = call(named("builtins", "int"), call(named("decimal", "Decimal"), number(f"1e{n}")))
    return found


def refusal(data):
    """What the walk says that it refuses; "" for what it walks to its end."""
    try:
        walk(data, build=torch_tensors.BUILD)
    except CannotSee as error:
        return error.reason
    return ""


@pytest.mark.parametrize("name", bombs(10))
def test_what_calls_would_make(name):
    """
    A call of a harmless name that would make 10^12 of little is a bound that was reached; one that makes 5,000 is walked.
    """
    assert "unfolds to more than 1,000,000,000 values" in refusal(b"\x80\3" + bombs(10**12)[name] + b".")
    assert refusal(b"\x80\3" + bombs(5000)[name] + b".") == ""


@pytest.mark.parametrize("name", ["list of a range", "bytes", "an array"])
def test_many_bombs_of_some_size(name):
    """
    Calls that make less than the bound are added up, whatever becomes of what they make.
    """
    one = bombs(10**8)[name]

    assert refusal(b"\x80\3" + (one + b"0") * 9 + b"N.") == ""
    assert "unfolds to more than" in refusal(b"\x80\3" + (one + b"0") * 11 + b"N.")


def test_copies_of_one_list():
    """
    A list of 100,000 that calls copy ten thousand times over is as much as one of 10^9.
    """
    one = b"]q\0(" + b"N" * 100_000 + b"e0"
    copies = b"cbuiltins\ntuple\nq\1" + b"h\1h\0\x85R0" * 11_000

    assert "unfolds to more than" in refusal(b"\x80\2" + one + copies + b"N.")
    assert refusal(b"\x80\2" + one + copies[: len(copies) // 2] + b"N.") == ""


@pytest.mark.parametrize("name", ["bytearray", "an array", "a storage"])
def test_a_bomb_in_a_file(tmp_path, name):
    """
    A file with one is UNKNOWN, `bound_reached`, at either depth: few bytes on disk are not few in memory.
    """
    path = tmp_path / "x.pkl"
    path.write_bytes(b"\x80\3" + bombs(10**12)[name] + b".")

    for depth in ("structure", "content"):
        found = examine_here(CheckpointIntact(path, depth=depth))
        assert (found.verdict, found.cause) == (UNKNOWN, Cause.BOUND_REACHED), found.reason


@settings(max_examples=200, deadline=None)
@given(sizes=st.lists(st.integers(0, 500), max_size=20), protocol=st.integers(2, 5))
def test_what_is_honest_is_walked(sizes, protocol):
    """
    Containers as programs pickle them, ranges too, are no bombs.
    """
    kinds = (list, tuple, set, frozenset, collections.deque, collections.Counter, bytearray, bytes, range)
    value = [kind(range(min(size, 255)) if kind is not range else size) for kind in kinds for size in sizes]
    value += [decimal.Decimal("1e3000000"), fractions.Fraction(1, 3), range(10**15), torch.Size([3, 4])]

    assert refusal(pickle.dumps(value, protocol)) == ""


# Memory.

MANY = 60_000
GREEDY = {
    "empty dicts": b"]" + b"(" + b"}" * MANY + b"e",
    "empty lists": b"](" + b"]" * MANY + b"e",
    "lists in lists": b"](" + b"]]a" * (MANY // 3) + b"e",
    "tuples in tuples": b"N" + b"\x85" * MANY,
    "tuples": b"](" + b"N\x85" * (MANY // 2) + b"e",
    "texts": b"](" + b"".join(b"\x8c\4%04x" % (n % 65536) for n in range(MANY // 6)) + b"e",
    "ids": b"](" + b"(X\1\0\0\0ntQ" * (MANY // 9) + b"e",
    "names": b"".join(b"ca\n%x\n0" % n for n in range(MANY // 8)) + b"N",
    "calls": b"cx\ny\nq\0](" + b"h\0)R" * (MANY // 4) + b"e",
    "items of a call": b"cx\ny\n)R(" + b"NN" * (MANY // 2) + b"u",
    "numbers of the memo": b"N" + b"".join(b"r" + (n * 7 % MANY).to_bytes(4, "little") for n in range(MANY // 5)),
    "fetches": b"N" + b"".join(b"j" + n.to_bytes(4, "little") for n in range(MANY // 5)),
    "kept": b"".join(
        b"]r" + n.to_bytes(4, "little") + b"j" + n.to_bytes(4, "little") + b"00" for n in range(MANY // 13)
    )
    + b"N",
    "sets": b"cbuiltins\nset\nq\0](" + b"N" * 10_000 + b"eq\1" + b"](" + b"h\0h\1\x85R" * (MANY // 6) + b"e",
    "keys": b"}(" + b"".join(b"K\0J" + n.to_bytes(4, "little") + b"\x86N" for n in range(MANY // 9)) + b"u",
    "nones": b"](" + b"N" * MANY + b"e",
}


@pytest.mark.parametrize("name", GREEDY)
def test_memory(monkeypatch, name):
    """
    Whatever a pickle is made of, it takes little more than it is allowed, from its bytes to the names in it.
    """
    monkeypatch.setattr(pickle_walk, "MEMORY", 1 << 20)
    data = b"\x80\4" + GREEDY[name] + b"."
    tracemalloc.start()
    try:
        with contextlib.suppress(Broken, CannotSee):
            torch_tensors.tell(walk(data, build=torch_tensors.BUILD).root, Layout("x.pkl", len(data)), lambda key: None)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < (1 << 20) + (EACH + 20) * len(data)


def test_memory_that_is_allowed_is_said(tmp_path):
    """
    What takes more is `bound_reached`, and the reason says of how many bytes it is made, and what they may come to.
    """
    (tmp_path / "x.pkl").write_bytes(b"\x80\4" + b"](" + b"}" * 400_000 + b"e.")

    found = examine_here(CheckpointIntact(tmp_path / "x.pkl"))

    assert (found.verdict, found.cause) == (UNKNOWN, Cause.BOUND_REACHED)
    assert "a pickle of 400,006 bytes whose values take more than 23 MiB" in found.reason


HONEST = {
    "a vocabulary": lambda: {f"word{n}": n for n in range(100_000)},
    "merges": lambda: [(f"a{n}", f"b{n % 99}") for n in range(100_000)],
    "an order of the data": lambda: list(range(40_000)) * 5,
    "a mask": lambda: [n % 3 == 0 for n in range(400_000)],
    "numbers": lambda: [n / 7 for n in range(200_000)],
    "pairs": lambda: [(n % 200, n % 100) for n in range(200_000)],
    "a history": lambda: [{"loss": n / 7, "step": n, "lr": 1e-4} for n in range(30_000)],
    "states": lambda: {n: {"step": float(n), "exp_avg": f"moment {n}", "lr": n / 7} for n in range(30_000)},
}


@pytest.mark.parametrize("protocol", [2, 4])
@pytest.mark.parametrize("name", HONEST)
def test_what_programs_keep_fits(name, protocol):
    """
    Tables as trainers keep them take less for each byte of their pickles than is allowed, however large they are.
    """
    data = pickle.dumps(HONEST[name](), protocol)
    machine = _Machine(data, 0, torch_tensors.BUILD)

    machine.run(10**9)

    assert machine.taken < EACH * len(data)


# Words.


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"N00N.", "at byte 4: it takes more from the stack than lies there"),
        (b"N0.", "at byte 4: it takes more from the stack than lies there"),
        (b"N\x87.", "it takes more from the stack than lies there"),
        (b"h\5.", "at byte 2: it fetches number 5 of the memo, which was never set"),
        (b"j\5\1\0\0.", "it fetches number 261 of the memo, which was never set"),
        (b"g7\n.", "it fetches number 7 of the memo, which was never set"),
        (b"N", "the pickle breaks off at byte 3"),
        (b"K", "the pickle breaks off at byte 2"),
        (b"X\5\0\0\0abc", "the pickle breaks off at byte 2"),
        (b"\x8c\5abc", "the pickle breaks off"),
    ],
)
def test_why_a_pickle_ends(data, words):
    """
    What takes from an empty stack, or fetches what was never kept, is told from what breaks off.
    """
    with pytest.raises(Broken, match=re.escape(words)):
        walk(b"\x80\2" + data)


def test_content_is_not_read_in_vain(tmp_path):
    """
    Where a bound was reached at structure, content depth reads no further, unless a digest of the whole is asked for.
    """
    path = tmp_path / "x.pkl"
    path.write_bytes(b"\x80\4\x8e" + (1 << 35).to_bytes(8, "little"))
    os.truncate(path, 1 << 36)

    found = examine_here(CheckpointIntact(path, depth="content"))

    assert (found.verdict, found.cause) == (UNKNOWN, Cause.BOUND_REACHED)
    assert found.facts["content"]["bytes"] == 0
    assert found.facts["coverage"]["bytes"][0] < 1 << 27


def test_a_digest_is_had_all_the_same(tmp_path):
    """
    What a bound hides from the walk, a digest shows.
    """
    path = tmp_path / "x.pkl"
    path.write_bytes(b"\x80\4](" + b"}" * 400_000 + b"e.")
    right = hashlib.sha256(path.read_bytes()).hexdigest()

    same, other = (examine_here(CheckpointIntact(path, digest=f"sha256:{hex_}")) for hex_ in (right, "0" * 64))

    assert (same.verdict, same.cause) == (UNKNOWN, Cause.BOUND_REACHED)
    assert other.verdict is FAIL
