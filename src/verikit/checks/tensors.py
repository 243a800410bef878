"""TensorShapeSane: the tensors of a file, folder, glob or live object have the names, dtypes, shapes and values of a spec."""

from __future__ import annotations

import math
import os
import random
import re
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any, ClassVar, NamedTuple

import attrs

from verikit import values as plain
from verikit.check import Check, Facts, Host, Look
from verikit.errors import Cause, Unseen
from verikit.finding import Finding
from verikit.probes import scan
from verikit.probes import tensors as probe
from verikit.probes import values as value_probe
from verikit.probes.formats.layout import uncollected
from verikit.spec import arithmetic, dtypes, explain, grammar, names, predicates
from verikit.spec import compiled as compiling
from verikit.spec.compiled import Compiled, Constants
from verikit.spec.quick import quick
from verikit.spec.rows import Bound, Entry, Fault, Outcome, Want
from verikit.spec.solve import Solver
from verikit.spec.totals import totals
from verikit.text import count, size
from verikit.values import Frozen, Live, freeze
from verikit.verdict import FAIL, PASS, UNKNOWN, Verdict

HEADERS_WITHIN = 300.0
"""Seconds for headers: 10,000 files on a network file system at 20 ms each."""


SLOWEST_DISK = 30e6
"""Bytes a second that values are given: a busy network file system."""

SAMPLED_FILES, SAMPLED_TENSORS = 20, 64

TOLD = 3
"""What could not be told, in one reason; the rest is counted."""

MANY = 20_000
"""Tensors from which on the search for reference cycles costs a third of the time, and finds none."""

SCANNED_ANYWAY = 1 << 30
"""Bytes of values that are looked at although the headers have already shown a fault: all faults at once, while it is cheap."""


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
    def compiled(self) -> Compiled:
        return compiling.compile_spec(self.spec, self.dims)

    def look(self) -> Look:
        if self.live:
            how = _asks_how(self.compiled)
            return Look(probe.live, subject=self.subject, under=self.under, how=how, **_asks_meta(self.compiled))
        config = self.config if isinstance(self.config, str) else "config.json"
        asked = Look(probe.inspect, path=self.subject, config=config, under=self.under, **_asks_meta(self.compiled))
        return asked.within(HEADERS_WITHIN)

    async def examine(self, host: Host) -> Finding:
        """Headers first; then, if the spec or `values` asks for it, the values of the tensors that it names."""
        facts = await host.ask(self.look())
        seen = self._seen(facts, host.together)
        if isinstance(seen, Finding):
            return seen
        wants, drawn = self._drawn(seen)
        if not wants:
            return self._decided(seen, drawn)
        nbytes = _nbytes_of(wants, seen)
        if seen.broken and nbytes > SCANNED_ANYWAY:
            return self._decided(seen, drawn)
        try:
            scanned = await host.ask(self._values_look(facts, wants, nbytes))
        except Unseen:
            if not seen.broken:
                raise
            return self._decided(seen, drawn)  # what the headers show is false, whatever the values are
        drawn.nbytes = scanned["read"], scanned["there"]
        return self._decided(seen, drawn, scanned)

    def judge(self, facts: Facts) -> Finding:
        """The finding for headers alone: what the spec says of values is then not told, and no pass."""
        seen = self._seen(facts)
        return seen if isinstance(seen, Finding) else self._decided(seen, Drawn())

    def across(self, findings: Mapping[str, Finding]) -> Finding | None:
        """What findings of several hosts say together: dims of the whole check are the same everywhere, and counts
        `@check` come to their sum, or it is FAIL.

        findings: of this check, by host.  None: nothing to add to what each host says.
        """
        differing = self._differing(findings)
        shares = {host: finding.facts["shares"] for host, finding in findings.items() if "shares" in finding.facts}
        sums = list(totals(self.compiled, shares))
        if not differing and not sums:
            return None
        wrong = [
            *(_disagreement(*row) for row in differing.items()),
            *(each.sentence for each in sums if each.fits is False),
        ]
        open_ = [each.sentence for each in sums if each.fits is None]
        told = [*wrong, *open_] or [each.sentence for each in sums]
        return Finding(
            FAIL if wrong else UNKNOWN if open_ else PASS,
            "; ".join(told),
            facts={
                "coverage": {"hosts": len(findings)},
                "dims": {name: list(rows) for name, rows in differing.items()},
                "shares": shares,
            },
            cause=Cause.NOTHING_SEEN if open_ and not wrong else None,
        )

    def _differing(self, findings: Mapping[str, Finding]) -> dict[str, dict[Any, list[tuple[str, str]]]]:
        """Dims of the whole check that are not the same on all hosts: by value, where each was seen."""
        scopes = self.compiled.scopes
        seen: dict[str, dict[Any, list[tuple[str, str]]]] = {}
        for host, finding in findings.items():
            for name, row in finding.facts.get("dims", {}).items():
                if name not in self.compiled.exprs and scopes.get(name.lstrip("*")) != "host":
                    seen.setdefault(name, {}).setdefault(row["value"], []).append((host, row["origin"]))
        return {name: rows for name, rows in seen.items() if len(rows) > 1}

    def _seen(self, facts: Facts, together: int = 1) -> Finding | Seen:
        with uncollected() if len(facts.get("rows", ())) > MANY else nullcontext():
            return self._held(facts, together)

    def _held(self, facts: Facts, together: int) -> Finding | Seen:
        entries, files = _entries(facts)
        constants = self._constants(facts)
        if (
            self.values == "none"
            and not self.ignore
            and not any(facts.get(key) for key in ("faults", "unknowns", "left"))
        ):
            seen = quick(self.compiled, entries, constants, self.strict)
            if seen is not None:
                dims = seen[0] if self.live else _located(seen[0], self.compiled, entries)
                return self._passed(entries, files, dims, Outcome(extra=seen[1]))
        solver = Solver(
            self.compiled,
            entries,
            files,
            constants,
            strict=self.strict,
            ignore=self.ignore,
            finite=self.values != "none",
            metadata=_metadata(facts, files),
            shards=frozenset((facts.get("index") or EMPTY)["files"]),
            left=frozenset(facts.get("left", ())),
            together=together,
        )
        outcome = solver.run()
        _by_statistics(outcome)
        return Seen(facts, entries, files, outcome)

    def _drawn(self, seen: Seen) -> tuple[list[Any], Drawn]:
        """What is to be looked at, as the probe takes it, and how much of it a sample is."""
        places = list(
            dict.fromkeys(
                (e.file, e.name)
                for want in seen.outcome.wants
                for e in want.entries
                if (e.file, e.name) not in seen.outcome.lists
            )
        )
        files = list(dict.fromkeys(file for file, _ in places))
        chosen, drawn = set(places), Drawn(tensors=(len(places), len(places)), files=(len(files), len(files)))
        if self.values == "sample":
            generator = random.Random(self.seed)
            some = set(generator.sample(files, min(SAMPLED_FILES, len(files))))
            within = [place for place in places if place[0] in some]
            chosen = set(generator.sample(within, min(SAMPLED_TENSORS, len(within))))
            drawn = Drawn((len(chosen), len(places)), (len({file for file, _ in chosen}), len(files)), sampled=True)
        wants = []
        for number, want in enumerate(seen.outcome.wants):
            rows = [[e.file, e.name] for e in want.entries if (e.file, e.name) in chosen]
            if rows:
                wants.append([want.predicate, rows])
                drawn.numbers.append(number)
        return wants, drawn

    def _values_look(self, facts: Facts, wants: list[Any], nbytes: float) -> Look:
        if self.live:
            return Look(value_probe.live, subject=self.subject, wants=wants, under=self.under)
        seed = self.seed if self.values == "sample" else None
        look = Look(value_probe.stored, root=facts["root"], wants=wants, under=self.under, seed=seed)
        return look.within(HEADERS_WITHIN + nbytes / SLOWEST_DISK)

    def _constants(self, facts: Facts) -> Constants:
        given = isinstance(self.config, Mapping)
        return Constants(
            self.compiled,
            self.config if given else facts.get("config"),
            "config" if given else facts.get("config_file", "config"),
            "" if given else facts.get("config_missing") or "",
        )

    def _decided(self, seen: Seen, drawn: Drawn, scanned: Facts = None) -> Finding:
        facts, entries, files, outcome = seen.facts, seen.entries, seen.files, seen.outcome
        _plain_faults(facts, files, outcome, self.compiled)
        _file_faults(facts, files, outcome, self.strict)
        _index_faults(facts, self.compiled, outcome)
        _lost_shards(facts, outcome)
        _list_faults(outcome)
        _value_faults(outcome, drawn, scanned)
        told = self._facts(entries, files, outcome.dims, outcome, drawn, scanned)
        if outcome.faults:
            present = [entry.name for entry in entries]
            reason = explain.reason(outcome.faults, self._nothing(files) or explain.wrapper_hint(outcome, present))
            if outcome.unknown:
                reason += f"; could not tell: {outcome.unknown[0][1]}"
            return Finding(FAIL, reason, facts=told)
        if outcome.unknown:
            sentence = "; ".join(words for _, words in outcome.unknown[:TOLD])
            left = len(outcome.unknown) - TOLD
            more = f" (and {left} more)" if left > 0 else ""
            return Finding(UNKNOWN, sentence + more, cause=Cause(outcome.unknown[0][0]), facts=told)
        if outcome.examined == outcome.extra and not any(
            rule.kind in ("files", "meta", "config") for rule in self.compiled.spec.rules
        ):
            return Finding(
                UNKNOWN,
                self._nothing(files)
                or f"none of {count(len(entries), 'tensor')} {_of(files)}is named by the spec{self._empty_ranges(facts)}",
                cause=Cause.NOTHING_SEEN,
                facts=told,
            )
        left = facts.get("left", ())
        finding = self._passed(entries, files, outcome.dims, outcome, told, drawn)
        warnings = [
            *(
                [f"{count(len(left), 'file')} of no format that is known here left out, {left[0]} first"]
                if left
                else []
            ),
            *(
                f"{name} is in {told} and in {found}"
                for name, told, found in (facts.get("index") or EMPTY)["twice"][:TOLD]
            ),
        ]
        return attrs.evolve(finding, warnings=[*finding.warnings, *warnings])

    def _idle_dims(self) -> list[str]:
        """Names in `dims` that nothing speaks of: mostly a slip, which leaves the claim wider than it was meant."""
        if not self.dims:
            return []
        spoken = set(re.findall(r"[A-Za-z_]\w*", f"{self.spec!r} {list(self.dims.values())!r}"))
        return sorted(name for name in self.dims if name not in spoken)

    def _nothing(self, files: list[str]) -> str:
        """That there was no file to look at, and where."""
        if self.live or files:
            return ""
        pattern = any(c in self.subject for c in "*?[")
        return f"{self.subject}: " + ("no file fits" if pattern else "no file of tensors is there")

    def _empty_ranges(self, facts: Facts) -> str:
        """Index ranges of names that hold no index, which is why nothing is named."""
        constants, told = self._constants(facts), []
        for rule in self.compiled.spec.rules:
            for piece in (piece for pattern in (rule.file, rule.name) if pattern for piece in pattern.pieces):
                if isinstance(piece, names.Range):
                    told += _empty_range(piece, constants)
        return f"; {'; '.join(dict.fromkeys(told))}" if told else ""

    def _passed(
        self,
        entries: list[Entry],
        files: list[str],
        dims: Mapping[str, Bound],
        outcome: Outcome,
        told: Any = None,
        drawn: Drawn | None = None,
    ) -> Finding:
        shown = ", ".join(
            f"{name}={bound.value}" for name, bound in list(dims.items())[:6] if isinstance(bound.value, int)
        )
        of = f" of {count(len(files), 'file')}" if len(files) > 1 else ""
        named = f"{len(entries) - outcome.extra:,} of " if outcome.extra else ""
        reason = f"{named}{count(len(entries), 'tensor')}{of} as specified{f' ({shown})' if shown else ''}"
        if drawn and drawn.sampled:
            reason += f"; values only in the sample: {drawn}, seed {self.seed}"
            if drawn.nbytes[0] < drawn.nbytes[1]:
                reason += f", {size(drawn.nbytes[0])} of {size(drawn.nbytes[1])}"
        for key, share in outcome.shares.items():
            reason += f"; {share['n']:,} towards {key} over {count(share['hosts'], 'host')}"
        facts = told or self._facts(entries, files, dims, outcome)
        idle = self._idle_dims()
        warning = f"dims= names {', '.join(idle)}, which the spec does not use"
        return Finding(PASS, reason, facts=facts, warnings=(warning,) if idle else ())

    def _told_dims(self, dims: Mapping[str, Bound]) -> list[tuple[str, Bound]]:
        """All that the data binds, which hosts are compared by, and some of what was given."""
        given = [row for row in dims.items() if row[0] in self.compiled.exprs]
        return [*given[:64], *(row for row in dims.items() if row[0] not in self.compiled.exprs)]

    def _facts(
        self,
        entries: list[Entry],
        files: list[str],
        dims: Mapping[str, Bound],
        outcome: Outcome,
        drawn: Drawn | None = None,
        scanned: Facts = None,
    ) -> dict[str, Any]:
        named = len(entries) - outcome.extra
        told: dict[str, Any] = {
            "coverage": {"tensors": [named, len(entries)], "files": len(files), "values": _coverage(drawn, scanned)},
            "dims": {name: {"value": bound.value, "origin": bound.origin} for name, bound in self._told_dims(dims)},
        }
        if outcome.shares:
            told["shares"] = outcome.shares
        if outcome.faults:
            told["faults"] = [
                {"kind": fault.kind, "file": fault.file, "tensor": fault.name, "what": fault.told, "hint": fault.hint}
                for fault in outcome.faults[:200]
            ]
            told["fault_count"] = len(outcome.faults)
        if outcome.unknown:
            told["unknown"] = [sentence for _, sentence in outcome.unknown[:50]]
        return told


def _disagreement(name: str, rows: Mapping[Any, list[tuple[str, str]]]) -> str:
    """`hidden: 72 on b (hs_0.pt:hidden_states axis 2), 64 on a (…)`, the odd one first."""
    ordered = sorted(rows.items(), key=lambda row: len(row[1]))
    words = []
    for value, places in ordered[:4]:
        more = len(places) - 1
        others = f" and {count(more, 'more host')}" if more else ""
        where = f" ({places[0][1]})" if places[0][1] else ""
        words.append(f"{value} on {places[0][0]}{others}{where}")
    left = f", {len(ordered) - 4} more values" if len(ordered) > 4 else ""
    return f"{name} differs between hosts: {', '.join(words)}{left}"


def _located(dims: Mapping[str, Bound], compiled: Compiled, entries: list[Entry]) -> dict[str, Bound]:
    """Dims with where each was first seen: what the quick look leaves out."""
    found: dict[str, Bound] = {}
    patterns = [(plan.regex, plan.rule.value.axes) for plan in compiled.plans if plan.regex and plan.rule.value.axes]
    for name, bound in dims.items():
        rows = [
            (regex, k) for regex, axes in patterns for k, axis in enumerate(axes or ()) if name in (axis.dim, axis.run)
        ]
        places = (f"{e.where} axis {k}" for regex, k in rows for e in entries if regex.fullmatch(e.name))
        found[name] = bound if name in compiled.exprs else bound._replace(origin=next(places, ""))
    return found


EMPTY: Mapping[str, Any] = probe.EMPTY_INDEX


class Seen(NamedTuple):
    """Headers, held against the spec."""

    facts: Facts
    entries: list[Entry]
    files: list[str]
    outcome: Outcome

    @property
    def broken(self) -> bool:
        """Whether the headers alone show that the claim is false."""
        return bool(self.outcome.faults or self.facts.get("faults"))


@attrs.define
class Drawn:
    """How many of the tensors and files with values to look at are looked at; `numbers`: of the wants."""

    tensors: tuple[int, int] = (0, 0)
    files: tuple[int, int] = (0, 0)
    sampled: bool = False
    numbers: list[int] = attrs.field(factory=list)
    nbytes: tuple[int, int] = (0, 0)

    def __str__(self) -> str:
        (some, of), (few, files) = self.tensors, self.files
        return f"{few:,} of {files:,} files" if files > 1 and few < files else f"{some:,} of {of:,} tensors"


def _of(files: list[str]) -> str:
    return (
        f"of {files[0]} " if len(files) == 1 and files[0] else f"of {count(len(files), 'file')} " if files[1:] else ""
    )


def _empty_range(piece: names.Range, constants: Constants) -> list[str]:
    try:
        first, last = (
            arithmetic.size(end, lambda name: constants.get(name).value) for end in (piece.first, piece.last)
        )
    except (arithmetic.Unbound, arithmetic.Inexact):
        return []
    if first <= last:
        return []
    origins = ", ".join(constants.origins(arithmetic.Op("+", piece.first, piece.last)))
    return [f"{piece.name} in {piece.first}..{piece.last} is empty: {first}..{last} [{origins}]"]


def _nbytes_of(wants: list[Any], seen: Seen) -> float:
    """Bytes of the tensors whose values are to be looked at."""
    named = {(file, name) for _, rows in wants for file, name in rows}
    found = (entry for entry in seen.entries if (entry.file, entry.name) in named)
    return sum(dtypes.BYTES.get(entry.dtype, 8) * math.prod(entry.shape) for entry in found)


def _coverage(drawn: Drawn | None, scanned: Facts) -> Any:
    if drawn is None or scanned is None:
        return "none"
    return {
        "tensors": list(drawn.tensors),
        "files": list(drawn.files),
        "bytes": [scanned["read"], scanned["there"]],
        "sampled": drawn.sampled,
    }


def _value_faults(outcome: Outcome, drawn: Drawn, scanned: Facts) -> None:
    """What the scan answered; wants that nobody looked at are no pass."""
    broken = {fault.file for fault in outcome.faults if fault.kind == "file"}
    left = sum((e.file, e.name) not in outcome.lists for want in outcome.wants for e in want.entries)
    if scanned is None:
        if left:
            outcome.unknown.append(("not_run", f"the values of {count(left, 'tensor')} were not looked at"))
        return
    for number, file, name, words in scanned["failed"]:
        want = outcome.wants[drawn.numbers[number]]
        outcome.faults.append(want.fault("value", file, name, _expected(want, words)))
    for _, file, name, words in (row for row in scanned["untold"] if row[1] not in broken):
        where = Entry(file, name, "", ()).where if name else file
        outcome.unknown.append(("unsupported", f"{where}: its values can't be told: {words}"))
    looked = scanned["held"] + len(scanned["failed"]) + len(scanned["untold"]) + scanned["more"]
    if not looked:
        outcome.unknown.append(("nothing_seen", "no values were looked at"))


def _by_statistics(outcome: Outcome) -> None:
    """What the least and greatest value, which parquet files state, settle without a look at the values."""
    for want in outcome.wants:
        left = []
        for entry in want.entries:
            low, high = (entry.extra or {}).get("low"), (entry.extra or {}).get("high")
            if low is None or high is None or not scan.about_elements(want.predicate):
                left.append(entry)
            elif not (scan.holds(want.predicate, low) and scan.holds(want.predicate, high)):
                words = f"range {low}..{high} by its statistics, expected {want.text}"
                outcome.faults.append(want.fault("value", entry.file, entry.name, words))
            elif not scan.surely(want.predicate, low, high, True):
                left.append(entry)
        want.entries = left
    outcome.wants[:] = [want for want in outcome.wants if want.entries]


def _expected(want: Want, words: str) -> str:
    if scan.about_elements(want.predicate) or "expected" in words:
        return words
    alone = want.predicate[0] not in ("all", "any", "not", "nonzero", "constant", "same", "tied", "shared")
    return words if alone else f"{words}, expected {want.text}"


def _list_faults(outcome: Outcome) -> None:
    """Rows of numbers out of metadata and configs are here already."""
    for want in outcome.wants:
        for entry in want.entries:
            row = outcome.lists.get((entry.file, entry.name))
            if row is not None:
                verdict, words = scan.judge_list(row, entry.shape, [want.predicate])[0]
                if verdict is False:
                    outcome.faults.append(want.fault("meta", entry.file, entry.name, f"{words}, expected {want.text}"))
                elif verdict is None:
                    outcome.unknown.append(("unsupported", f"{entry.where}: {words}"))


def _index_faults(facts: Facts, compiled: Compiled, outcome: Outcome) -> None:
    """`index: complete`: the index of a sharded checkpoint and its shards name the same tensors in the same files."""
    plan = next((plan for plan in compiled.plans if plan.rule.kind == "index"), None)
    if plan is None:
        return
    index = facts.get("index")
    if not index:
        outcome.faults.append(Fault("index", plan.number, "", "index", "missing: there is no *.index.json"))
        return
    file = index["file"]
    if index["broken"]:
        outcome.faults.append(Fault("index", plan.number, file, "", f"is no index: {index['broken']}"))
    if index.get("unseen"):
        outcome.unknown.append(("bound_reached", f"{file}: {index['unseen']}"))
    for shard in index["shards"]:
        what = f"names the shard {shard}, which is missing"
        outcome.faults.append(Fault("index", plan.number, file, "", what, cause=("shards",)))
    for name, told, found in index["wrong"]:
        if told not in index["shards"]:
            what = f"said to be in {told}, " + (f"found in {found}" if found else "missing there")
            outcome.faults.append(Fault("index", plan.number, file, name, what, cause=("wrong", not found)))
    for name, found in index["untold"]:
        what = f"not in the index, but in {found}: loaders will leave it out"
        outcome.faults.append(Fault("index", plan.number, file, name, what, cause=("untold",)))
    for name, told, found in index["twice"]:
        what = f"said to be in {told}, but in {found} as well"
        outcome.faults.append(Fault("index", plan.number, file, name, what, cause=("twice",)))


def _lost_shards(facts: Facts, outcome: Outcome) -> None:
    """What is missing is told with the shard that it should be in, where an index beside says so."""
    index = facts.get("index") or {}
    shard_of = {name: shard for shard, told in index.get("lost", {}).items() for name in told}
    for at, fault in enumerate(outcome.faults) if shard_of else ():
        shard = shard_of.get(fault.name) if fault.kind == "missing" else None
        if shard in index["shards"]:
            what = f"{fault.what} with the shard {shard}, which {index['file']} names"
            outcome.faults[at] = attrs.evolve(fault, what=what, file="")
        elif shard:
            what = f"{fault.what}; {index['file']} says that it is in {shard}, which was not looked at"
            outcome.faults[at] = attrs.evolve(fault, what=what)


def _asks_how(compiled: Compiled) -> bool:
    """Whether the spec speaks of devices, strides or storages."""
    found = (
        atom for rule in compiled.spec.rules if rule.value.predicate for atom in predicates.atoms(rule.value.predicate)
    )
    return any(atom.word in predicates.OUTSIDE for atom in found)


def _asks_meta(compiled: Compiled) -> dict[str, Any]:
    """The keys of metadata that the spec speaks of."""
    keys = sorted({str(rule.name) for rule in compiled.spec.rules if rule.kind == "meta"})
    return {"meta": keys} if keys else {}


def _metadata(facts: Facts, files: list[str]) -> dict[str, Mapping[str, str | None] | None]:
    """What each file says beside its tensors; None where that is not told."""
    unread = {files[row[0]] for row in (*facts.get("faults", ()), *facts.get("unknowns", ()))}
    rows = {files[int(n)]: facts["told"][k] if k >= 0 else None for n, k in facts.get("metadata", {}).items()}
    return {**rows, **dict.fromkeys(unread)}


def _mentions_config(compiled: Compiled) -> bool:
    return any(name.startswith("config.") for _, name in compiling.needed(compiled))


def _entries(facts: Facts) -> tuple[list[Entry], list[str]]:
    if facts.get("live"):
        make = tuple.__new__  # half of what Entry(…) costs
        rows = [make(Entry, ("", name, dtype, tuple(shape), how)) for name, dtype, shape, how in facts["entries"]]
        return rows, [""]
    files = list(facts["files"])
    rows = [
        Entry(files[file], name, dtypes.short(dtype), shape, extra)
        for file, name, dtype, shape, extra in probe.unfolded_rows(facts)
    ]
    return rows, files


def _plain_faults(facts: Facts, files: list[str], outcome: Outcome, compiled: Compiled) -> None:
    """What is missing as a tensor, but there as a list or a number, is told as that."""
    told = facts.get("plain_told", ())
    held = {files[int(n)]: told[k] for n, k in facts.get("plain", {}).items() if k >= 0 and told[k]}
    for at, fault in enumerate(outcome.faults) if held else ():
        file = fault.file or next((file for file in held if fault.name in held[file]), "")
        kind = held.get(file, {}).get(fault.name) if fault.kind == "missing" else None
        if kind:
            wanted = grammar.show_dtypes(compiled.plans[fault.rule].rule.value.dtypes)
            what = f"{probe.with_article(kind)}, not a tensor{f' of {wanted}' if wanted else ''}"
            outcome.faults[at] = Fault("dtype", fault.rule, file, fault.name, what)


def _file_faults(facts: Facts, files: list[str], outcome: Outcome, strict: bool) -> None:
    """What is wrong with the files themselves comes before what is wrong with their tensors."""
    broken = {files[row[0]] for row in facts.get("faults", ())}
    left = facts.get("left", ())
    if left and (strict or any(fault.kind == "missing" for fault in outcome.faults)):
        words = f"{', '.join(left[:3])}{f' and {len(left) - 3} more' if len(left) > 3 else ''}"
        outcome.unknown.append(("unsupported", f"files of no format that is known here may hold more: {words}"))
    if broken or left or facts.get("unknowns"):  # what is missing may be in what could not be read
        outcome.faults[:] = [fault for fault in outcome.faults if fault.kind != "missing"]
    told = {("unsupported", f"{file}: its metadata can't be told") for file in broken}
    outcome.unknown[:] = [row for row in outcome.unknown if row not in told]
    for number, kind, what, sizes in facts.get("faults", ()):
        told_what = f"truncated: {what}" if kind == "truncated" else what
        outcome.faults.append(Fault("file", -1, files[number], "", told_what, hint=sizes))
    for number, cause, what, _ in facts.get("unknowns", ()):
        outcome.unknown.append((cause, f"{files[number]}: {what}"))
