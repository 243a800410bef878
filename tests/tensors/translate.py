"""The cases' plain-data specs, written in the grammar."""

from __future__ import annotations

import json
import re

from verikit import TensorShapeSane

SHORT = {
    "float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2",
    "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8", "uint8": "u8",
    "uint16": "u16", "uint32": "u32", "bool": "bool", "complex64": "c64",
}  # fmt: skip


def dims_of(spec):
    """`dims=` of a case."""
    return {name: dim_of(name, row) for name, row in spec.get("dims", {}).items()}


def dim_of(name, row):
    if "value" in row:
        return row["value"]
    if not row.get("free"):
        return row.get("from") or row["expr"]
    word = name
    if "multiple_of" in row:
        word += f"%{row['multiple_of']}"
    if "min" in row:
        word = f"{row['min']}<={word}"
    if "max" in row:
        word += f"<={row['max']}"
    scope = {"file": "@file", "host": "@host"}.get(row.get("scope"), "@check")
    return word.replace(" ", "") + scope


WORDS = {
    "finite": "finite", "not_all_zero": "nonzero", "not_constant": "~constant", "no_nan": "~nan", "distinct": "distinct",
    "rows_unique": "rows distinct", "no_stride_zero": "dense", "owns_storage": "owned",
}  # fmt: skip


def predicate_of(row):
    """A predicate of a case in the grammar."""
    ((word, value),) = row.items() if isinstance(row, dict) else ((row, True),)
    if word in WORDS:
        return WORDS[word]
    match word:
        case "int_range":
            return f"in {value[0]}..{value[1]}"
        case "values_in":
            return f"in {{{','.join(map(str, value))}}}"
        case "rms":
            return f"rms {value[0]}..{value[1]}"
        case "planes_unique":
            return f"planes distinct({value})"
        case "abs_max":
            return f"abs<={value}"
        case "sum" | "first":
            return f"{word} == {value}"
        case "step":
            return f"step {value}"
        case "count":
            return f"count({value['value']}) {value['op']} {value['n']}"
        case "any":
            return f"({' | '.join(map(predicate_of, value))})"
    raise KeyError(word)


def spread(text, loops):
    """A name or file with its loops in the grammar: `{i}` as `{i:0..L-1}`, `{k:05d}` as `{k:00000..00009}`."""
    for variable, span in loops.items():
        options = ",".join(map(str, span["in"])) if isinstance(span, dict) else f"{span[0]}..{span[1]}"
        text = text.replace(f"{{{variable}}}", f"{{{variable}:{options}}}")
        if f"{{{variable}:05d}}" in text:
            text = text.replace(f"{{{variable}:05d}}", f"{{{variable}:{span[0]:05d}..{span[1]:05d}}}")
    return text


def rule_of(expect):
    """`key: value` of one expected tensor."""
    loops = expect.get("for") or {}
    name = spread(expect["name"], loops)
    if "file" in expect:
        name = f"{spread(expect['file'], loops)} :: {name}"
    if expect.get("optional_if"):
        name += f"? if {expect['optional_if']}"
    elif expect.get("optional"):
        name += "?"
    axes = " ".join(re.sub(r"\s", "", str(axis)) for axis in expect["shape"])
    words = [predicate_of(row) for row in expect.get("values", ())]
    if expect.get("device"):
        words.append("on " + "|".join(expect["device"]))
    dtypes = "|".join(SHORT.get(dtype, dtype) for dtype in expect["dtype"])
    return f"{name}: {dtypes}[{axes}]" + "".join(f" & {word}" for word in words)


def relation_of(relation, expects):
    match relation["kind"]:
        case "companion":
            dtypes = "|".join(SHORT[dtype] for dtype in relation["when_dtype"])
            inner = f"{SHORT[relation['dtype'][0]]}[{' '.join(relation['shape'])}]"
            inner += "".join(f" & {predicate_of(row)}" for row in relation.get("values", ()))
            return f"*{relation['of']} when {dtypes}: [rows cols] & companion({relation['suffix']}, {inner})"
        case "count_files" if "total" in relation:
            return f"files({relation['pattern']})@check: {relation['total']}"
        case "count_files":
            return f"files({relation['pattern']}): {relation['per_host']}"
        case "count_tensors":
            return f"tensors({relation['pattern']}): {relation['n']}"
        case "same" | "tied" | "shared" as kind:
            condition = next((row.get("optional_if") for row in expects if row["name"] == relation["a"]), None)
            return f"{relation['a']}{f'? if {condition}' if condition else ''}: {kind}({relation['b']})"
        case "meta":
            return f"{relation['file']} :: meta({relation['key']}): == {json.dumps(relation['equals'])}"
        case "config":
            return f"config({relation['key']}): {' & '.join(map(predicate_of, relation['values']))}"
        case "absent":
            return f"!*{relation['pattern']}"
        case "index_complete":
            return "index: complete"
    raise KeyError(relation["kind"])


def checks_of(case, subject):
    """The alternatives of a case, one of which must hold."""
    spec = case["spec"]
    ignore = [re.sub(r"\*+", "**", pattern) for pattern in spec.get("ignore", ())]
    more = {"dims": dims_of(spec), "strict": spec.get("closed", False), "ignore": ignore}
    if case.get("pt_nest"):
        more["under"] = case["pt_nest"] + "."
    if not isinstance(subject, str) and "config" in spec:
        more["config"] = spec["config"]
    relations = [relation_of(each, spec.get("expect", ())) for each in spec.get("relations", ())]
    alternatives = [[*spec.get("expect", ()), *rows] for rows in spec.get("any_of", [[]])]
    return [TensorShapeSane(subject, "\n".join([*map(rule_of, rows), *relations]), **more) for rows in alternatives]
