"""First drafts of specs: from a config.json, from a good checkpoint, or from a module."""

from __future__ import annotations

import itertools
import json
import math
import os
import re
from collections.abc import Mapping
from typing import Any

from verikit import values
from verikit.probes import tensors as probe
from verikit.probes.place import Place
from verikit.spec import dtypes, families


def spec_from_config(config: Any) -> dict[str, str]:
    """The spec of a checkpoint of this config's family, its sizes bound to config keys.

    config: a path of a config.json here, its content, or an object with `to_dict()`.  Use it with the same config:
    `TensorShapeSane(path, spec_from_config("config.json"))` reads the one beside the checkpoint.
    Raises ValueError for a model type of no known family.
    """
    if isinstance(config, (str, bytes, os.PathLike)):
        with open(values.path(config), encoding="utf-8") as file:
            config = json.load(file)
    elif not isinstance(config, Mapping):
        config = config.to_dict()
    return families.spec_of(config)


def spec_from(subject: Any, *, dims: Mapping[str, int] | None = None) -> dict[str, str]:
    """The spec that a good checkpoint (a path here) or an object in this process satisfies: every name, dtype and size.

    Names that differ in numbers alone become one pattern. Sizes that `dims` names are written by name, the largest
    product first left alone: `spec_from(model, dims={"h": 4096})` writes `bf16[h h]`.
    Raises ValueError where there is no tensor.
    """
    rows = list(_rows(subject))
    if not rows:
        raise ValueError(f"a spec is made from tensors; {subject!r} has none")
    words = {size: name for name, size in reversed(list((dims or {}).items()))}
    groups: dict[tuple[str, str, tuple[int, ...]], list[tuple[str, ...]]] = {}
    for name, dtype, shape in rows:
        template = re.sub(r"\d+", "\0", name)
        groups.setdefault((template, dtype, shape), []).append(tuple(re.findall(r"\d+", name)))
    spec = {f"where {name}": str(size) for name, size in (dims or {}).items()}
    for (template, dtype, shape), numbers in groups.items():
        axes = " ".join(words.get(size, str(size)) for size in shape)
        for pattern in _patterns(template, numbers):
            spec[pattern] = f"{dtype if dtype in dtypes.BYTES else ''}[{axes}]"
    return spec


def _rows(subject: Any) -> Any:
    if isinstance(subject, (str, bytes, os.PathLike)):
        facts = probe.inspect(Place(), values.path(subject))
        if facts["faults"] or facts["unknowns"]:
            raise ValueError(f"{subject!r} is no good example: {(facts['faults'] + facts['unknowns'])[0][2]}")
        for _, name, dtype, shape, _ in probe.unfolded_rows(facts):
            yield name, dtypes.short(dtype), shape
    else:
        for name, tensor in probe.live_tensors(subject):
            if hasattr(tensor, "shape"):
                yield name, dtypes.short(tensor.dtype), tuple(tensor.shape)


def _patterns(template: str, rows: list[tuple[str, ...]]) -> list[str]:
    """Patterns that stand for exactly these numbers: one if they are a full grid, else one for each first number."""
    if len(rows) == 1:
        return [_filled(template, rows[0])]
    ranges = [sorted({int(row[k]) for row in rows}) for k in range(len(rows[0]))]
    plain = all(each == str(int(each)) for row in rows for each in row)
    whole = plain and all(span == list(range(span[0], span[-1] + 1)) for span in ranges)
    if whole and math.prod(map(len, ranges)) == len(rows):
        return [_filled(template, [_word(k, span) for k, span in enumerate(ranges)])]
    if len(rows[0]) == 1 or not plain:
        return [pattern for run in _runs(rows, plain) for pattern in ([_filled(template, run)])]
    by_first = itertools.groupby(sorted(rows, key=lambda row: int(row[0])), key=lambda row: row[0])
    head, _, tail = template.partition("\0")
    return [f"{head}{first}{rest}" for first, inner in by_first for rest in _patterns(tail, [row[1:] for row in inner])]


def _runs(rows: list[tuple[str, ...]], plain: bool) -> list[list[str]]:
    if not plain:
        return [list(row) for row in rows]
    runs: list[list[int]] = []
    for number in sorted(int(row[0]) for row in rows):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return [[_word(0, run)] for run in runs]


def _word(k: int, span: list[int]) -> str:
    return str(span[0]) if len(span) == 1 else f"{{{'ijklmnop'[k % 8]}:{span[0]}..{span[-1]}}}"


def _filled(template: str, numbers: Any) -> str:
    parts = template.split("\0")
    return parts[0] + "".join(f"{number}{part}" for number, part in zip(numbers, parts[1:], strict=True))
