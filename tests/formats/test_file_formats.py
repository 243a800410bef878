"""Single-file formats other than torch's and safetensors: good ones pass, cut and broken ones do not, nothing is run."""

from __future__ import annotations

import hashlib
import io
import pickle
import re
import struct
import time
import zipfile

import format_writers as w
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from verikit.checks.checkpoint import CheckpointIntact
from verikit.errors import Cause
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS, UNKNOWN

quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def look(path, **claims):
    return examine_here(CheckpointIntact(str(path), **claims))


def npy(path, *arrays, **options):
    with open(path, "wb") as file:
        for array in arrays:
            np.save(file, array, **options)
    return path


def npz(path, packed=False, **arrays):
    arrays = arrays or {
        "a": np.arange(3000.0),
        "b": np.ones((4, 5), np.float32),
        "s": np.array(3),
        "e": np.zeros((0, 2)),
    }
    (np.savez_compressed if packed else np.savez)(path, **arrays)
    return path


STRUCTURED = np.zeros(2, dtype=[("a", "<f4"), ("b", "<U3", (2,)), ("t", "M8[ns]"), ("n", [("x", "<i2"), ("y", "?")])])

GOOD = {
    "npy": lambda p: npy(p / "x.npy", np.ones((3, 4), np.float32)),
    "npy scalar": lambda p: npy(p / "x.npy", np.array(3j)),
    "npy empty": lambda p: npy(p / "x.npy", np.zeros((0, 7), np.int16)),
    "npy of bool": lambda p: npy(p / "x.npy", np.ones(3, bool)),
    "npy of text": lambda p: npy(p / "x.npy", np.array(["ab", "c"])),
    "npy of times": lambda p: npy(p / "x.npy", np.zeros(2, "M8[us]")),
    "npy big-endian": lambda p: npy(p / "x.npy", np.arange(5, dtype=">i4")),
    "npy Fortran order": lambda p: npy(p / "x.npy", np.asfortranarray(np.ones((3, 4)))),
    "npy long double": lambda p: npy(p / "x.npy", np.ones(3, np.longdouble)),
    "npy structured": lambda p: npy(p / "x.npy", STRUCTURED),
    "npy of several arrays": lambda p: npy(p / "x.npy", np.ones(3), np.zeros(()), STRUCTURED, np.arange(4)),
    "npy of plain objects": lambda p: npy(p / "x.npy", np.array([1, "a", None], object), allow_pickle=True),
    "npy raw bfloat16": lambda p: npy(p / "x.npy", np.zeros(4, "V2")),
    "npz": lambda p: npz(p / "x.npz"),
    "npz deflated": lambda p: npz(p / "x.npz", packed=True),
    "npz of objects": lambda p: npz(p / "x.npz", o=np.array([1, None], object), x=np.ones(3)),
    "npz unicode names": lambda p: npz(p / "x.npz", gewicht_ä=np.ones(2), 重み=np.ones(2)),
    "gguf": lambda p: w.gguf(p / "x.gguf", tensors=w.gguf_tensors()),
    "gguf version 2": lambda p: w.gguf(p / "x.gguf", tensors=w.gguf_tensors(), version=2),
    "gguf aligned to 64": lambda p: w.gguf(p / "x.gguf", tensors=w.gguf_tensors(), align=64),
    "gguf vocabulary only": lambda p: w.gguf(p / "x.gguf", keys=[("tokenizer.ggml.tokens", 9, (8, ["a", "bb", ""]))]),
    "gguf with template": lambda p: w.gguf(
        p / "x.gguf", keys=[("tokenizer.chat_template", 8, HONEST)], tensors=w.gguf_tensors()
    ),
    "gguf of 123 tensors": lambda p: w.gguf(p / "x.gguf", tensors=[(f"t{i}", (4,), 0, bytes(16)) for i in range(123)]),
    "gguf without padding at its end": lambda p: w.gguf(p / "x.gguf", tensors=w.gguf_tensors(), pad_end=False),
    "gguf of every type": lambda p: w.gguf(p / "x.gguf", tensors=w.gguf_of_every_type()),
    "gguf nested arrays": lambda p: w.gguf(
        p / "x.gguf", keys=[("n", 9, (9, [(4, [1, 2]), (8, ["a"])]))], tensors=w.gguf_tensors()
    ),
    "onnx": lambda p: w.onnx_plain(p / "x.onnx"),
    "onnx external": lambda p: w.onnx_external(p / "x.onnx"),
    "onnx external, shared": lambda p: w.onnx_external(p / "x.onnx", offsets=(0, 0)),
    "flax": lambda p: w.flax(p / "x.msgpack"),
    "flax of empty trees": lambda p: w.flax(p / "x.msgpack", {"params": {"a": {}}, "": {}}),
    "flax, an empty tree in more bytes": lambda p: w.raw(p / "x.msgpack", b"\xdf\0\0\0\0"),
    "flax of one array": lambda p: w.flax(p / "x.msgpack", np.ones((3, 4), np.float32)),
    "flax of one number": lambda p: w.raw(p / "x", b"\xd8\3\x93\x90\xa7float32\xc4\4" + bytes(4)),
    "flax chunked": lambda p: w.flax(
        p / "x.msgpack",
        {
            "w": {
                "__msgpack_chunked_array__": True,
                "shape": {"0": 2, "1": 3},
                "chunks": {"0": np.ones(4), "1": np.ones(2)},
            }
        },
    ),
}

HONEST = (
    "{%- for message in messages %}{{- '<|im_start|>' + message['role'] + '\\n' + message.content | trim }}"
    "{%- if loop.index0 == 0 and message['role'] != 'system' %}{{ '__init__ of a class' }}{%- endif %}"
    "{{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | list }}{%- endfor %}"
).replace("__init__ of a class", "hello")


@pytest.mark.parametrize("name", GOOD)
def test_good_files_pass(tmp_path, name):
    """
    What the writers write passes at structure, which says that bytes were not compared, and is no FAIL at content.
    """
    path = GOOD[name](tmp_path)

    found = look(path)

    assert (found.verdict, found.cause) == (PASS, None), found.reason
    assert "not compared" in found.reason
    assert look(path, depth="content").verdict is not FAIL


@pytest.mark.parametrize("name", GOOD)
@quick
@given(data=st.data())
def test_cut_anywhere(tmp_path, name, data):
    """
    A file that lacks its last bytes, however few, does not pass at structure.
    """
    path = GOOD[name](tmp_path)
    size = path.stat().st_size
    legal = legal_ends(path, name)
    left = data.draw(st.integers(0, size - 1).filter(lambda end: end not in legal))

    w.cut(path, left)

    assert look(path).verdict is not PASS


@pytest.mark.parametrize(
    ("name", "verdict", "cause", "words"),
    [
        ("flax_model.msgpack", PASS, None, "0 tensors (msgpack), structure complete"),
        ("checkpoint_1000", UNKNOWN, Cause.AMBIGUOUS, "a whole empty tree of Flax's, and also"),
        ("state.ckpt", UNKNOWN, Cause.AMBIGUOUS, "a whole empty tree of Flax's, and also"),
        ("model.pt", FAIL, None, "its one byte, 80, is the first of a pickle"),
        ("state.pkl", FAIL, None, "its one byte, 80, is the first of a pickle"),
    ],
)
def test_one_byte_that_may_be_a_tree(tmp_path, name, verdict, cause, words):
    """
    The file of Flax's empty tree is one byte, with which a pickle begins too: the name tells, or it is UNKNOWN.
    """
    path = w.raw(tmp_path / name, b"\x80")

    found = look(path)

    assert (found.verdict, found.cause) == (verdict, cause)
    assert words in found.reason
    assert look(path, depth="content").verdict is (UNKNOWN if verdict is PASS else verdict)


@pytest.mark.parametrize("data", [b"\x81", b"\x80\x80", b"\x80\4", b"\xde\0"])
def test_less_or_more_than_a_tree(tmp_path, data):
    """
    What opens a tree and ends there, or goes on behind an empty one, is no checkpoint.
    """
    assert look(w.raw(tmp_path / "model.msgpack", data)).verdict is FAIL


def legal_ends(path, name):
    """Ends at which a shorter file is a whole one too: that of an array before others; padding after GGUF's keys."""
    if name == "npy of several arrays":
        ends, total = set(), 0
        for array in (np.ones(3), np.zeros(()), STRUCTURED):
            buffer = io.BytesIO()
            np.save(buffer, array)
            ends.add(total := total + len(buffer.getvalue()))
        return ends
    if name.startswith("gguf"):  # without the padding after the last tensor, all of whose bytes are there
        return {len(path.read_bytes().rstrip(b"\0"))}
    return set()


@pytest.mark.parametrize("name", [name for name in GOOD if "external" not in name])
@pytest.mark.parametrize("junk", [b"\0" * 64, b"\n", b"junk" * 20, "twice"])
def test_appended_bytes(tmp_path, name, junk):
    """
    A file that goes on behind its end does not pass, unless the format allows another array there.
    """
    path = GOOD[name](tmp_path)
    more = path.read_bytes() if junk == "twice" else junk

    w.append(path, more)

    found = look(path)
    if junk == "twice" and path.suffix == ".npy":
        assert found.verdict is PASS
    else:
        assert found.verdict is not PASS, found.reason


def folder_for(path):
    """A folder in the place of a file, beside the model."""
    path.unlink()
    path.mkdir()
    return path.parent / "x.onnx"


BROKEN = {
    "npy: shape of more than it has": (
        lambda p: w.rewrite(GOOD["npy"](p), b"(3, 4), }", b"(3, 5), }"),
        "is cut",
    ),
    "npy: header no literal": (lambda p: w.rewrite(GOOD["npy"](p), b"{'descr'", b"{[descr'"), "no literal"),
    "npy: header a call": (lambda p: w.rewrite(GOOD["npy"](p), b"'<f4', 'f", b"exit() , 'f"[:9]), "no literal"),
    "npy: negative axis": (lambda p: w.rewrite(GOOD["npy"](p), b"(3, 4)", b"(-3,4)"), "no shape"),
    "npy: no such dtype": (lambda p: w.rewrite(GOOD["npy"](p), b"'<f4'", b"'<f3'"), "no dtype"),
    "npy: version 9": (lambda p: w.rewrite(GOOD["npy"](p), b"NUMPY\x01", b"NUMPY\x09"), "no NPY version"),
    "npz: header of another size": (
        lambda p: zipped(p / "x.npz", array_bytes(np.ones(3))[:-8]),
        "takes",
    ),
    "gguf: hole": (lambda p: w.append(w.gguf(p / "x.gguf", tensors=two(), offsets=(0, 64)), bytes(32)), "hole"),
    "gguf: overlap": (lambda p: w.gguf(p / "x.gguf", tensors=two(), offsets=(0, 0)), "overlap"),
    "gguf: not aligned": (lambda p: w.gguf(p / "x.gguf", tensors=two(), offsets=(0, 33)), "no multiple of 32"),
    "gguf: overflow": (
        lambda p: w.gguf(p / "x.gguf", tensors=[("a", (1 << 40, 1 << 40), 0, bytes(16))]),
        "more elements than 63 bits",
    ),
    "gguf: rows of no whole blocks": (
        lambda p: w.gguf(p / "x.gguf", tensors=[("a", (33,), 8, bytes(34))]),
        "no whole Q8_0 blocks",
    ),
    "gguf: name twice": (
        lambda p: w.gguf(p / "x.gguf", tensors=[("a", (4,), 0, bytes(16))] * 2),
        "stands twice",
    ),
    "gguf: key twice": (lambda p: w.gguf(p / "x.gguf", keys=[("k", 4, 1), ("k", 4, 2)]), "stands twice"),
    "gguf: a tensor's name that is no UTF-8": (
        lambda p: w.gguf(p / "x.gguf", tensors=[(b"blk.0.q\xff", (4,), 0, bytes(16))]),
        "the name of a tensor is no UTF-8",
    ),
    "gguf: a key's name that is no UTF-8": (
        lambda p: w.gguf(p / "x.gguf", keys=[(b"\xc3\x28", 4, 1)]),
        "the name of a key is no UTF-8",
    ),
    "gguf: 2^60 tensors": (lambda p: w.gguf(p / "x.gguf", counts=(1 << 60, 1)), "can't stand in"),
    "gguf: 2^60 keys": (lambda p: w.gguf(p / "x.gguf", counts=(0, 1 << 60)), "can't stand in"),
    "gguf: five axes": (lambda p: w.gguf(p / "x.gguf", tensors=[("a", (1,) * 5, 0, bytes(4))]), "5 axes"),
    "gguf: alignment 24": (
        lambda p: w.gguf(p / "x.gguf", keys=[("general.alignment", 4, 24)], tensors=two()),
        "no power of two",
    ),
    "gguf: the padding at its end cut": (
        lambda p: w.cut(w.gguf(p / "x.gguf", tensors=w.gguf_tensors()), -1),
        "padding",
    ),
    "gguf: a type of another size": (
        lambda p: w.gguf(p / "x.gguf", tensors=[("a", (128,), 42, bytes(96)), ("b", (4,), 0, bytes(16))]),
        "hole",
    ),
    "gguf: parts that hold a tensor twice": (lambda p: parts(p, [0, 1], [("a",), ("a",)]), "in two parts"),
    "gguf: a part under another's name": (lambda p: parts(p, [0, 2, 1], [("a",), ("c",), ("b",)]), "by its split.no"),
    "gguf: unsafe template": (
        lambda p: w.gguf(p / "x.gguf", keys=[("tokenizer.chat_template", 8, EVIL[0])], tensors=two()),
        "unsafe chat template",
    ),
    "onnx: bytes of another size": (
        lambda p: w.onnx_model(p / "x.onnx", [w.onnx_tensor("w", (3, 4), 1, bytes(44))]),
        "takes 48 bytes, 44 are stored",
    ),
    "onnx: floats of another number": (
        lambda p: w.onnx_model(p / "x.onnx", [w.onnx_tensor("w", (3,), 1, floats=[1, 2])]),
        "takes 3 numbers, 2 are stored",
    ),
    "onnx: nothing stored": (lambda p: w.onnx_model(p / "x.onnx", [w.onnx_tensor("w", (3,), 1)]), "no elements stored"),
    "onnx: one name twice": (
        lambda p: w.onnx_model(p / "x.onnx", [w.onnx_tensor("w", (1,), 1, bytes(4))] * 2),
        "two initializers are called 'w'",
    ),
    "onnx: elements in two places": (
        lambda p: w.onnx_model(p / "x.onnx", [w.onnx_tensor("w", (1,), 1, bytes(4), floats=[1])]),
        "in 2 places",
    ),
    "onnx: elements inside and outside": (
        lambda p: w.onnx_model(p / "x.onnx", [w.onnx_tensor("w", (1,), 1, bytes(4), {"location": "d"})]),
        "in 2 places",
    ),
    "onnx: a folder for data": (
        lambda p: folder_for(w.onnx_external(p / "x.onnx").parent / "model.data"),
        "is a directory, not the file",
    ),
    "onnx: no opset": (lambda p: w.onnx_model(p / "x.onnx", [], opset=False), "no opset_import"),
    "onnx: data cut": (lambda p: w.onnx_external(p / "x.onnx", data=bytes(4100)), "truncated"),
    "onnx: data empty": (lambda p: w.onnx_external(p / "x.onnx", data=b""), "truncated"),
    "onnx: data not there": (lambda p: w.remove(w.onnx_external(p / "x.onnx").parent / "model.data"), "missing"),
    "onnx: length of another size": (lambda p: w.onnx_external(p / "x.onnx", length=40), "its length is 40"),
    "onnx: data crosses": (lambda p: w.onnx_external(p / "x.onnx", offsets=(0, 24)), "cross"),
    "onnx: leaves by ..": (lambda p: w.onnx_external(p / "x.onnx", location="../../etc/passwd"), "unsafe"),
    "onnx: leaves by inner ..": (lambda p: w.onnx_external(p / "x.onnx", location="a/../../x"), "unsafe"),
    "onnx: leaves by root": (lambda p: w.onnx_external(p / "x.onnx", location="/etc/passwd"), "unsafe"),
    "onnx: leaves by drive": (lambda p: w.onnx_external(p / "x.onnx", location="C:\\x"), "unsafe"),
    "onnx: a checksum that is none": (lambda p: w.onnx_external(p / "x.onnx", checksum="sha1:12"), "no SHA-1"),
    "flax: bytes of another size": (
        lambda p: (p / "x.msgpack").write_bytes(b"\x81" + w.pack("w") + w.packed_array((3, 4), "float32", bytes(44))),
        "takes 48 bytes, 44 are stored",
    ),
    "flax: a key twice": (
        lambda p: (p / "x.msgpack").write_bytes(b"\x82" + (w.pack("w") + w.pack(1)) * 2),
        "stands twice",
    ),
    "pickle: a frame that is short of a byte": (
        lambda p: (p / "x.pkl").write_bytes(pickle.dumps(["a" * 100, "b" * 100], 4).replace(b"aa", b"a", 1)),
        "breaks off",
    ),
    "gguf: version 0": (lambda p: w.gguf(p / "x.gguf", tensors=two(), version=0), "no GGUF version"),
    "gguf: version 120": (lambda p: w.gguf(p / "x.gguf", tensors=two(), version=120), "no GGUF version"),
    "flax: chunks of another shape": (
        lambda p: w.flax(
            p / "x.msgpack",
            {"w": {"__msgpack_chunked_array__": True, "shape": {"0": 7}, "chunks": {"0": np.ones(4), "1": np.ones(2)}}},
        ),
        "chunks hold 6 elements",
    ),
}


def parts(folder, numbers, names):
    """A split model, the first part of which sorts last among what is there."""
    count = len(numbers)
    for place, (number, own) in enumerate(zip(numbers, names, strict=True), 1):
        keys = [("split.no", 2, number), ("split.count", 2, count), ("split.tensors.count", 5, count)]
        tensors = [(name, (4,), 0, bytes(16)) for name in own]
        w.gguf(folder / f"m-{place:05d}-of-{count:05d}.gguf", keys=keys, tensors=tensors)


def two():
    return [("a", (4,), 0, bytes(16)), ("b", (4,), 0, bytes(16))]


def array_bytes(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def zipped(path, data):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", data)


@pytest.mark.parametrize("name", BROKEN)
def test_broken_structure(tmp_path, name):
    """
    What structure can show is FAIL at structure, and the reason says what it is.
    """
    build, words = BROKEN[name]
    build(tmp_path)

    paths = sorted(tmp_path.iterdir(), reverse=True)
    found = look(next((path for path in paths if "00001-of" in path.name), paths[0]))

    assert found.verdict is FAIL, found.reason
    assert words in found.reason


EVIL = [
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "{% set x = messages|attr('__class__') %}{{ x }}",
    "{{ messages['__class__'] }}",
    "{{ messages['\\x5f\\x5fclass\\x5f\\x5f'] }}",
    "{{ messages['__cla' ~ 'ss__'] }}",
    "{{ messages['__cla' + 'ss__'] }}",
    "{{ messages['__cla' 'ss__'] }}",
    "{{ '}}' ~ messages.__class__ }}",
    "{{ '\\'}}' ~ messages.__class__ }}",
    "{% if x == '%}' %}{{ ().__class__",
    "{% for x in ().__class__.__base__.__subclasses__() %}{{ x }}{% endfor %}",
]


@pytest.mark.parametrize("text", EVIL)
def test_templates_that_reach_out(tmp_path, text):
    """
    A chat template that would walk out of its variables is FAIL; `pickle="any"` claims the bytes only, and warns.
    """
    path = w.gguf(tmp_path / "x.gguf", keys=[("tokenizer.chat_template", 8, text)], tensors=w.gguf_tensors())

    found, bytes_only = look(path), look(path, pickle="any")

    assert found.verdict is FAIL
    assert "chat template" in found.reason
    assert bytes_only.verdict is PASS
    assert any("chat template" in warning for warning in bytes_only.warnings)


def test_template_with_a_computed_attribute(tmp_path):
    """
    An attribute whose name is computed can't be told: UNKNOWN, ambiguous.
    """
    path = w.gguf(
        tmp_path / "x.gguf", keys=[("tokenizer.chat_template", 8, "{{ x|attr(y) }}")], tensors=w.gguf_tensors()
    )

    assert look(path).cause is Cause.AMBIGUOUS


@pytest.mark.parametrize(
    "text", ["{{" * 400_000, "{{" + "'a' " * 200_000 + "}}", "{{ '" + "\\'" * 400_000, "{{ ' " + " " * 800_000]
)
def test_templates_made_to_take_for_ever(tmp_path, text):
    """
    A template is looked through in one pass, however it is made.
    """
    path = w.gguf(tmp_path / "x.gguf", keys=[("tokenizer.chat_template", 8, text)], tensors=w.gguf_tensors())

    began = time.process_time()
    look(path)

    assert time.process_time() - began < 5


def test_keys_without_an_architecture(tmp_path):
    """
    Tensors without general.architecture are a warning: loaders of models ask for it, other tools may do without.
    """
    path = w.gguf(tmp_path / "x.gguf", tensors=two())
    w.rewrite(path, b"general.arch", b"general.Arch")

    found = look(path)

    assert found.verdict is PASS
    assert "general.architecture" in found.warnings[0]


def test_later_parts_without_an_architecture(tmp_path):
    """
    Of a split model the first part says what it is; that later ones do not is no matter for a warning.
    """
    parts(tmp_path, [0, 1, 2], [("a",), ("b",), ("c",)])

    warnings = look(tmp_path).warnings

    assert [warning for warning in warnings if "general.architecture" in warning and "m-00001" not in warning] == []


def test_type_of_the_future(tmp_path):
    """
    A GGUF type that is not in the table is UNKNOWN, unsupported: newer than this table, or damage.
    """
    path = w.gguf(tmp_path / "x.gguf", tensors=[("a", (4,), 200, bytes(16))])

    found = look(path)

    assert (found.verdict, found.cause) == (UNKNOWN, Cause.UNSUPPORTED)


class Boom:
    def __reduce__(self):
        return exec, ("raise SystemExit('ran')",)


def test_objects_that_would_run(tmp_path):
    """
    An object array whose pickle would call something is FAIL and is not called, in npy and npz alike.
    """
    evil = np.array([Boom()], object)

    for path in (npy(tmp_path / "x.npy", evil, allow_pickle=True), npz(tmp_path / "x.npz", o=evil)):
        found = look(path)
        assert found.verdict is FAIL
        assert "unsafe pickle" in found.reason


@quick
@given(data=st.data())
def test_flipped_bits_of_an_npz(tmp_path, data):
    """
    Content depth passes no npz one of whose record's bits was turned.
    """
    path = npz(tmp_path / "x.npz", a=np.arange(300.0), b=np.ones(5))
    with zipfile.ZipFile(path) as archive:
        record = data.draw(st.sampled_from(archive.infolist()))
    start = record.header_offset + 30 + len(record.filename) + local_extra(path, record.header_offset)
    w.flip(path, data.draw(st.integers(start, start + record.compress_size - 1)), data.draw(st.integers(0, 7)))

    assert look(path, depth="content").verdict is not PASS


def local_extra(path, offset):
    return struct.unpack_from("<H", path.read_bytes(), offset + 28)[0]


@pytest.mark.parametrize(
    ("beside", "code", "verdict"),
    [(True, 9, FAIL), (True, 4, FAIL), (False, 9, UNKNOWN), (True, 0xFF, UNKNOWN)],
)
def test_flax_extension_of_another(tmp_path, beside, code, verdict):
    """
    An extension that Flax hands on unread is damage beside arrays of its own; without any, or as a time of MessagePack's,
    it is told as unknown.
    """
    strange = b"\xd6" + bytes([code]) + bytes(4)
    array = w.packed_array((2,), "float32", bytes(8)) if beside else w.pack(1)

    finding = look(w.raw(tmp_path / "x.msgpack", b"\x82" + w.pack("w") + array + w.pack("b") + strange))

    assert finding.verdict is verdict
    assert f"has the extension {code if code < 128 else -1}, which Flax does not write" in finding.reason


@pytest.mark.parametrize("name", ["npy", "npz", "gguf", "onnx", "flax"])
@quick
@given(data=st.data())
def test_any_bytes_after_the_magic(tmp_path, name, data):
    """
    Whatever the bytes are, a reader ends with a finding of its own: it never raises, and never runs out of bounds.
    """
    path = GOOD[name](tmp_path)
    whole = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at : at + 4] = data.draw(st.binary(min_size=4, max_size=4))
    path.write_bytes(whole)

    found = look(path)

    assert found.cause is not Cause.PROBE_ERROR, found.facts


@pytest.mark.parametrize(
    ("second", "size", "lost"), [(48, 96, 0), (64, 112, 0), (4096, 4144, 0), (96, 144, 1), (48, 500, 1)]
)
def test_bytes_of_no_tensor(tmp_path, second, size, lost):
    """
    What no tensor of the graph claims in an external file is a warning, unless it aligns the next one.
    """
    found = look(w.onnx_external(tmp_path / "x.onnx", offsets=(0, second), data=bytes(size)))

    assert found.verdict is PASS
    assert len([each for each in found.warnings if "of no tensor" in each]) == lost


def test_checksum_of_external_data(tmp_path):
    """
    A checksum that the model gives of its data is held against it at content depth, and is proof enough to pass.
    """
    data = np.random.default_rng(0).bytes(4096 + 48)
    path = w.onnx_external(tmp_path / "x.onnx", data=data, checksum=hashlib.sha1(data).hexdigest().upper())
    before = look(path, depth="content")

    w.flip(tmp_path / "model.data", 2000)

    assert before.facts["content"]["compared"] == len(data)
    assert look(path).verdict is PASS
    found = look(path, depth="content")
    assert found.verdict is FAIL
    assert "sha1" in found.reason


PACKINGS = {"deflate": zipfile.ZIP_DEFLATED, "bzip2": zipfile.ZIP_BZIP2, "LZMA": zipfile.ZIP_LZMA}


def packed_npz(path, method):
    """Arrays of noise and of zeros, the one longer than a block of bzip2, the other a thousand times shorter when packed."""
    arrays = {"noise": np.random.default_rng(0).random(200_000), "zeros": np.zeros(400_000), "s": np.array(3)}
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, array in arrays.items():
            archive.writestr(name + ".npy", array_bytes(array))
    return path


@pytest.mark.parametrize("how", PACKINGS)
def test_npz_packed_otherwise(tmp_path, how):
    """
    Arrays packed by any method that zipfile has are judged by header and by CRC-32; damage shows at content.
    """
    path = packed_npz(tmp_path / "x.npz", PACKINGS[how])
    found = look(path, depth="content")
    assert found.verdict is PASS, found.reason
    assert found.facts["tensors"] == 3
    assert found.facts["content"]["compared"] > 1_400_000

    w.flip(path, 700_000, 3)

    assert look(path, depth="content").verdict is FAIL


def test_lzma_with_a_dictionary_of_4_gib(tmp_path):
    """
    What a stream of LZMA asks for is not what it gets: bounded, and said.
    """
    path = packed_npz(tmp_path / "x.npz", zipfile.ZIP_LZMA)
    with zipfile.ZipFile(path) as archive:
        start = 30 + len("noise.npy") + local_extra(path, archive.infolist()[0].header_offset)
    data = bytearray(path.read_bytes())
    data[start + 5 : start + 9] = b"\xff" * 4
    path.write_bytes(data)

    assert look(path).cause is Cause.BOUND_REACHED


def test_npz_packed_in_ways_not_known(tmp_path):
    """
    A ZIP method that is not in the table (98, PPMd) is no damage: the array can't be seen.
    """
    path = packed_npz(tmp_path / "x.npz", zipfile.ZIP_BZIP2)
    data = path.read_bytes()
    for mark, at in ((b"PK\3\4", 8), (b"PK\1\2", 10)):
        data = re.sub(re.escape(mark) + b"(.{%d})\\x0c\0" % (at - 4), mark + b"\\1\x62\0", data, flags=re.S)
    path.write_bytes(data)

    found = look(path)

    assert found.cause is Cause.UNSUPPORTED, found.reason
    assert "ZIP method 98" in found.reason
