"""The handed cases' plain-data specs, written in the grammar."""

from __future__ import annotations

import re

from verikit import TensorShapeSane

SHORT = {
    "float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2",
    "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8", "uint8": "u8",
    "uint16": "u16", "uint32": "u32", "bool": "bool",
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


def predicate_of(row):
    """A predicate of a case in the grammar."""
    ((word, value),) = row.items()
    match word:
        case "finite":
            return "finite"
        case "not_all_zero":
            return "nonzero"
        case "int_range":
            return f"in {value[0]}..{value[1]}"
        case "values_in":
            return f"in {{{','.join(map(str, value))}}}"
        case "rms":
            return f"rms {value[0]}..{value[1]}"
        case "rows_unique":
            return "rows distinct"
        case "no_stride_zero":
            return "dense"
    raise KeyError(word)


def rule_of(expect):
    """`key: value` of one expected tensor."""
    name = expect["name"]
    for variable, span in (expect.get("for") or {}).items():
        options = ",".join(map(str, span["in"])) if isinstance(span, dict) else f"{span[0]}..{span[1]}"
        name = name.replace(f"{{{variable}}}", f"{{{variable}:{options}}}")
    if "file" in expect:
        name = f"{expect['file']} :: {name}"
    if expect.get("optional_if"):
        name += f"? if {expect['optional_if']}"
    elif expect.get("optional"):
        name += "?"
    axes = " ".join(re.sub(r"\s", "", str(axis)) for axis in expect["shape"])
    words = [predicate_of(row) for row in expect.get("values", ())]
    if expect.get("device"):
        words.append("on " + "|".join(expect["device"]))
    dtypes = "|".join(SHORT[dtype] for dtype in expect["dtype"])
    return f"{name}: {dtypes}[{axes}]" + "".join(f" & {word}" for word in words)


def relation_of(relation):
    match relation["kind"]:
        case "companion":
            dtypes = "|".join(SHORT[dtype] for dtype in relation["when_dtype"])
            inner = f"{SHORT[relation['dtype'][0]]}[{' '.join(relation['shape'])}]"
            return f"*{relation['of']} when {dtypes}: [rows cols] & companion({relation['suffix']}, {inner})"
        case "count_files":
            return f"files({relation['pattern']}): {relation['per_host']}"
    raise KeyError(relation["kind"])


def checks_of(case, subject):
    """The alternatives of a case, one of which must hold."""
    spec = case["spec"]
    more = {"dims": dims_of(spec), "strict": spec.get("closed", False), "ignore": spec.get("ignore", ())}
    if not isinstance(subject, str) and "config" in spec:
        more["config"] = spec["config"]
    relations = [relation_of(each) for each in spec.get("relations", ())]
    alternatives = spec.get("any_of") or [spec["expect"]]
    return [TensorShapeSane(subject, "\n".join([*map(rule_of, rows), *relations]), **more) for rows in alternatives]
