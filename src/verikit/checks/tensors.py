"""TensorShapeSane: the tensors of a file, folder, glob or live object have the names, dtypes, shapes and values of a spec."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, ClassVar

import attrs

from verikit import values as plain
from verikit.check import Check, Facts, Host, Look
from verikit.errors import Cause
from verikit.finding import Finding
from verikit.probes import tensors as probe
from verikit.spec import dtypes, explain, grammar, names, solve
from verikit.spec.solve import Bound, Constants, Entry, Outcome, Solver
from verikit.text import count
from verikit.values import Frozen, Live, freeze
from verikit.verdict import FAIL, PASS, UNKNOWN, Verdict

HEADERS_WITHIN = 300.0
"""Seconds for headers: 10,000 files on a network file system at 20 ms each."""


def _subject(value: Any) -> Any:
    if isinstance(value, Live):
        return value
    return plain.path(value) if isinstance(value, (str, bytes, os.PathLike)) else Live(value)


def _spec(value: Any) -> Any:
    return freeze(grammar.text_of(value))


def _as_config(value: Any) -> Any:
    if value is None or isinstance(value, Mapping):
        return freeze(value)
    if isinstance(value, (str, bytes, os.PathLike)):
        return plain.path(value)
    if callable(getattr(value, "to_dict", None)):  # a transformers config object
        return freeze(value.to_dict())
    raise TypeError(f"config is a path on the host, a mapping, or an object with to_dict(); got {value!r}")


def _dims(value: Any) -> Frozen:
    if not isinstance(value, Mapping):
        raise TypeError(
            f"dims is a mapping from names to numbers or expressions, as {{'h': 'config.hidden_size'}}; got {value!r}"
        )
    return Frozen(value)


def _no_dims(value: Any) -> Frozen:
    return Frozen() if value is None else _dims(value)


def _texts(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _values(_: Any, __: Any, value: Any) -> None:
    if value not in ("none", "sample", "all"):
        raise ValueError(f"values is 'none', 'sample' or 'all'; got {value!r}")


def _seed(_: Any, __: Any, value: Any) -> None:
    plain.whole("seed", value, unit="draws")


@attrs.frozen(repr=False)
class TensorShapeSane(Check):
    """Every tensor that the spec names is there with the dtype, shape and values that it states.

    subject: a path, folder or glob on the host (safetensors, .pt, npy, npz, GGUF, …), or an object in this process: a
        tensor, mapping, module or batch, of anything that has `.shape` and `.dtype`.
    spec: a shape, rules by name pattern (text or mapping), or a jaxtyping annotation; docs/reference/spec-grammar.md.
    config: a config.json (path, relative to the subject; or its content) for `config.…` in dims and specs.
    dims: what names stand for: numbers, expressions ("config.hidden_size"), or bounds ("1<=s@file").
    values: "none" reads only values that the spec speaks of; "all" also wants every floating tensor finite; "sample"
        looks at tensors drawn by `seed`, and says so.
    strict: a tensor that the spec does not name is a fault, except those that match `ignore`.
    under: only names with this prefix, without it: `state_dict.`.

    Headers are read, never the tensors, unless values are asked for: those are scanned where they are, by many files at
    a time, which loads the disk.  Raises ValueError for a malformed spec or a dim that nothing can bind.
    """

    absent: ClassVar[Verdict] = FAIL

    subject: Any = attrs.field(converter=_subject)
    spec: Any = attrs.field(converter=_spec)
    config: Any = attrs.field(default=None, converter=_as_config, kw_only=True)
    dims: Mapping[str, Any] = attrs.field(factory=Frozen, converter=_no_dims, kw_only=True)
    values: str = attrs.field(default="none", validator=_values, kw_only=True)
    strict: bool = attrs.field(default=False, converter=bool, kw_only=True)
    ignore: tuple[str, ...] = attrs.field(default=(), converter=_texts, kw_only=True)
    seed: int = attrs.field(default=0, validator=_seed, kw_only=True)
    under: str = attrs.field(default="", validator=attrs.validators.instance_of(str), kw_only=True)

    def __attrs_post_init__(self) -> None:
        compiled = self.compiled
        for pattern in self.ignore:
            names.parse(pattern)
        if self.live and not isinstance(self.config, Mapping) and _mentions_config(compiled):
            raise ValueError(
                "the spec speaks of config.…, so a live subject needs config={…}, as in config=model.config"
            )

    @property
    def compiled(self) -> solve.Compiled:
        return solve.compile_spec(self.spec, self.dims)

    def look(self) -> Look:
        if self.live:
            return Look(probe.live, subject=self.subject, under=self.under)
        config = self.config if isinstance(self.config, str) else "config.json"
        return Look(probe.inspect, path=self.subject, config=config, under=self.under).within(HEADERS_WITHIN)

    async def examine(self, host: Host) -> Finding:
        return self.judge(await host.ask(self.look()))

    def judge(self, facts: Facts) -> Finding:
        entries, files = _entries(facts)
        constants = self._constants(facts)
        dims = solve.quick(self.compiled, entries, constants)
        if dims is not None and self.values == "none" and not facts.get("faults") and not facts.get("unknowns"):
            return self._passed(entries, files, dims)
        outcome = Solver(self.compiled, entries, files, constants, self.strict, self.ignore).run()
        return self._decided(facts, entries, files, outcome)

    def _constants(self, facts: Facts) -> Constants:
        given = isinstance(self.config, Mapping)
        return Constants(
            self.compiled,
            self.config if given else facts.get("config"),
            "config" if given else facts.get("config_file", "config"),
        )

    def _decided(self, facts: Facts, entries: list[Entry], files: list[str], outcome: Outcome) -> Finding:
        _file_faults(facts, files, outcome)
        told = self._facts(entries, files, outcome.dims, outcome)
        if outcome.faults:
            present = [entry.name for entry in entries]
            return Finding(FAIL, explain.reason(outcome.faults, explain.wrapper_hint(outcome, present)), facts=told)
        if outcome.unknown:
            cause, sentence = outcome.unknown[0]
            more = f" (and {len(outcome.unknown) - 1} more)" if len(outcome.unknown) > 1 else ""
            why = f"; {facts['config_missing']}" if facts.get("config_missing") and "has no key" in sentence else ""
            return Finding(UNKNOWN, sentence + why + more, cause=Cause(cause), facts=told)
        if outcome.examined == outcome.extra and not any(
            rule.kind in ("files", "meta", "config") for rule in self.compiled.spec.rules
        ):
            return Finding(
                UNKNOWN,
                f"none of {count(len(entries), 'tensor')} is named by the spec",
                cause=Cause.NOTHING_SEEN,
                facts=told,
            )
        return self._passed(entries, files, outcome.dims, told)

    def _passed(self, entries: list[Entry], files: list[str], dims: Mapping[str, Bound], told: Any = None) -> Finding:
        shown = ", ".join(
            f"{name}={bound.value}" for name, bound in list(dims.items())[:6] if isinstance(bound.value, int)
        )
        of = f" of {count(len(files), 'file')}" if len(files) > 1 else ""
        reason = f"{count(len(entries), 'tensor')}{of} as specified{f' ({shown})' if shown else ''}"
        return Finding(PASS, reason, facts=told or self._facts(entries, files, dims, None))

    def _facts(
        self, entries: list[Entry], files: list[str], dims: Mapping[str, Bound], outcome: Outcome | None
    ) -> dict[str, Any]:
        named = len(entries) - (outcome.extra if outcome else 0)
        told: dict[str, Any] = {
            "coverage": {"tensors": [named, len(entries)], "files": len(files), "values": "none"},
            "dims": {name: {"value": bound.value, "origin": bound.origin} for name, bound in list(dims.items())[:64]},
        }
        if outcome and outcome.faults:
            told["faults"] = [
                {"kind": fault.kind, "file": fault.file, "tensor": fault.name, "what": fault.what, "hint": fault.hint}
                for fault in outcome.faults[:200]
            ]
            told["fault_count"] = len(outcome.faults)
        if outcome and outcome.unknown:
            told["unknown"] = [sentence for _, sentence in outcome.unknown[:50]]
        return told


def _mentions_config(compiled: solve.Compiled) -> bool:
    return any(name.startswith("config.") for _, name in solve._needed(compiled))


def _entries(facts: Facts) -> tuple[list[Entry], list[str]]:
    if facts.get("live"):
        short, make = dtypes.short, tuple.__new__
        rows = [
            make(Entry, ("", name, short(dtype), tuple(shape), tensor))
            for name, dtype, shape, tensor in facts["entries"]
        ]
        return rows, [""]
    files = list(facts["files"])
    rows = [
        Entry(files[file], name, dtypes.short(dtype), shape, extra)
        for file, name, dtype, shape, extra in probe.unfolded_rows(facts)
    ]
    return rows, files


def _file_faults(facts: Facts, files: list[str], outcome: Outcome) -> None:
    """What is wrong with the files themselves comes before what is wrong with their tensors."""
    for number, _, what in facts.get("faults", ()):
        outcome.faults.append(solve.Fault("file", -1, files[number], "", what))
    for number, cause, what in facts.get("unknowns", ()):
        outcome.unknown.append((cause, f"{files[number]}: {what}"))
