"""Dtypes by short name, as jaxtyping prints them (`bf16`, `i64`, `bool`), and the spellings that come in."""

from __future__ import annotations

BYTES = {
    "f64": 8, "f32": 4, "f16": 2, "bf16": 2, "e4m3": 1, "e5m2": 1, "e4m3fnuz": 1, "e5m2fnuz": 1, "e8m0": 1, "f4": 0.5,
    "i64": 8, "i32": 4, "i16": 2, "i8": 1, "u64": 8, "u32": 4, "u16": 2, "u8": 1, "bool": 1,
    "c32": 4, "c64": 8, "c128": 16, "str": 0,
}  # fmt: skip
_LONG = {
    "float64": "f64", "double": "f64", "float32": "f32", "float16": "f16", "half": "f16", "bfloat16": "bf16",
    "float8_e4m3fn": "e4m3", "float8_e4m3": "e4m3", "f8_e4m3": "e4m3", "f8_e4m3fn": "e4m3", "fp8": "e4m3", "e4m3fn": "e4m3",
    "float8_e5m2": "e5m2", "f8_e5m2": "e5m2", "float8_e4m3fnuz": "e4m3fnuz", "float8_e5m2fnuz": "e5m2fnuz",
    "float8_e8m0fnu": "e8m0", "f8_e8m0": "e8m0", "float4_e2m1fn_x2": "f4", "float4_e2m1": "f4",
    "int64": "i64", "long": "i64", "int32": "i32", "int16": "i16", "int8": "i8", "uint64": "u64", "uint32": "u32",
    "uint16": "u16", "uint8": "u8", "byte": "u8", "bool_": "bool", "boolean": "bool",
    "complex32": "c32", "chalf": "c32", "complex64": "c64", "complex128": "c128",
    "string": "str", "large_string": "str", "utf8": "str",
    "fp32": "f32", "fp16": "f16",
}  # fmt: skip
# `float` leaves the 8-bit ones out: who writes float means something to compute in (jaxtyping's Float takes them).
CLASSES = {
    "float": frozenset({"f64", "f32", "f16", "bf16"}),
    "f8": frozenset({"e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz", "e8m0"}),
    "int": frozenset({"i64", "i32", "i16", "i8"}),
    "uint": frozenset({"u64", "u32", "u16", "u8"}),
    "integer": frozenset({"i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8"}),
    "complex": frozenset({"c32", "c64", "c128"}),
}
FLOATING = CLASSES["float"] | CLASSES["f8"]
INEXACT = FLOATING | CLASSES["complex"] | {"f4"}
QUANTISED = ("q", "iq", "tq", "i2_s", "mxfp", "nvfp")
"""How the names of types begin whose numbers lie in blocks with a scale."""
_short: dict[object, str] = {}


def is_inexact(dtype: str) -> bool:
    """Whether NaN or Inf can be asked of a dtype; of quantised blocks it can, as their scales are floats."""
    return dtype in INEXACT or (dtype not in BYTES and dtype.startswith(QUANTISED))


def short(dtype: object) -> str:
    """The short name of a dtype, whatever library it is from; one that nobody knows keeps its own, in lower case."""
    try:
        return _short[dtype]
    except KeyError:
        name = _short[dtype] = _named(dtype)
        return name
    except TypeError:  # not hashable
        return _named(dtype)


def _named(dtype: object) -> str:
    text = getattr(dtype, "name", None) or str(dtype)
    text = str(text).rpartition(".")[2].strip("<>|='").lower()
    return text if text in BYTES else _LONG.get(text, text)


def known(word: str) -> frozenset[str] | None:
    """The dtypes that a word of a spec stands for, or None: `bf16`, `bfloat16`, `int`."""
    word = word.lower() if word not in CLASSES else word
    if word in CLASSES:
        return CLASSES[word]
    name = _LONG.get(word, word)
    return frozenset({name}) if name in BYTES else None
