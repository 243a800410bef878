"""From tensors to faults: which rule is for which tensor, what the dims are, and what does not fit.

Order-free: all sizes are gathered first.  A dim that stands alone is bound by the most frequent size within its scope
(so that one odd file among thousands is the odd one); arithmetic is turned round where only that can bind; then every
axis is compared, and every fault is kept.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import attrs

from verikit.spec import arithmetic, grammar, names, predicates
from verikit.spec.arithmetic import Expr, Inexact, Unbound
from verikit.spec.dtypes import BYTES, FLOATING
from verikit.spec.grammar import Axis, Rule, Spec, Value
from verikit.spec.names import Pattern


class Entry(NamedTuple):
    """A tensor as it was seen. file: relative to the subject, "" in memory. extra: how it is held, where that is known."""

    file: str
    name: str
    dtype: str
    shape: tuple[int, ...]
    extra: Mapping[str, Any] | None = None

    @property
    def where(self) -> str:
        return f"{self.file}:{self.name}" if self.file else self.name


class Absent(LookupError):
    """A relation names a tensor that is not there."""


class Bound(NamedTuple):
    """A value with its origin: `config.json hidden_size=64`, or where in the data it was seen."""

    value: Any
    origin: str
    votes: int = 1


PLAIN: Mapping[str, Any] = {"device": "file", "stride0": False, "contiguous": True, "storage": 0, "nbytes": 0}
"""How a tensor in a file is held, where its format says nothing else."""

PLACEHOLDER = "a ZeRO-3 placeholder: the data is in the partitioned files"

FINITE = predicates.Atom("finite")


@attrs.frozen
class Fault:
    """One thing that does not fit. `what` is the sentence without the place; equal ones are told together."""

    kind: str
    rule: int
    file: str
    name: str
    what: str
    seen: tuple[int, ...] | None = None
    wanted: tuple[int, ...] | None = None
    hint: str = ""

    @property
    def where(self) -> str:
        return f"{self.file}:{self.name}" if self.file and self.name else self.file or self.name


@attrs.define
class Want:
    """Values to be looked at: in these tensors, this predicate, its numbers put in."""

    predicate: list[Any]
    text: str
    entries: list[Entry]
    rule: int


@attrs.define
class Outcome:
    """What came of it. unknown: (cause, sentence) for what could not be told."""

    faults: list[Fault] = attrs.field(factory=list)
    unknown: list[tuple[str, str]] = attrs.field(factory=list)
    dims: dict[str, Bound] = attrs.field(factory=dict)
    wants: list[Want] = attrs.field(factory=list)
    examined: int = 0
    extra: int = 0
    lists: dict[tuple[str, str], list[float]] = attrs.field(factory=dict)
    """Rows of numbers out of metadata and configs, by (file, name): their values are here already."""


@attrs.frozen(eq=False)
class Compiled:
    """A spec made ready: parsed, its dims sorted into constants and bounds, every name known to be bindable."""

    spec: Spec
    exprs: Mapping[str, Expr]
    bounds: Mapping[str, Axis]
    scopes: Mapping[str, str]
    plans: tuple[Plan, ...]


@attrs.frozen(eq=False)
class Plan:
    """A rule with what is worked out once."""

    number: int
    rule: Rule
    regex: re.Pattern[str] | None
    file_regex: re.Pattern[str] | None
    digits: bool
    """Whether its name pattern has digits of its own, so that a number in a name decides whether it fits."""


@lru_cache(maxsize=64)
def compile_spec(spec: Any, dims: Any) -> Compiled:
    """The compiled form; raises ValueError for what is malformed or leaves a name that nothing can bind."""
    parsed = grammar.parse(spec)
    exprs, bounds, scopes = _dims_of({**_wheres(parsed), **(dims or {})}, parsed.scopes)
    plans = tuple(_plan(number, rule) for number, rule in enumerate(parsed.rules))
    compiled = Compiled(parsed, exprs, bounds, scopes, plans)
    _refuse_unbindable(compiled)
    return compiled


def _wheres(spec: Spec) -> dict[str, Any]:
    """Dims that the spec itself gives; dims= may give them otherwise."""
    return {name: int(text) if text.isdigit() else text for name, text in spec.where}


def _dims_of(
    dims: Mapping[str, Any], scopes: dict[str, str]
) -> tuple[dict[str, Expr], dict[str, Axis], dict[str, str]]:
    """Constants, bounds of free dims, and scopes: `"config.hidden_size"`, `"1<=seq@file"`, `"@file"`, `{"1,3"}`."""
    exprs: dict[str, Expr] = {}
    bounds: dict[str, Axis] = {}
    for name, value in dims.items():
        if not re.fullmatch(r"[A-Za-z_]\w*", str(name)):
            raise ValueError(f"dims names are words as in 'h'; got {name!r}")
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            raise ValueError(
                f"dims[{name!r}] is a number, an expression as in 'config.hidden_size', or bounds as in '1<={name}@file'; "
                f"got {value!r}"
            )
        if isinstance(value, int):
            exprs[name] = arithmetic.Num(value)
        elif value.startswith(("@", "{")) or _about_itself(name, value):
            word = name + value if value.startswith("@") else f"{name}={value}" if value.startswith("{") else value
            bounds[name] = grammar.parse_axis(word, scopes)
        else:
            exprs[name] = arithmetic.parse(value)
    return exprs, bounds, scopes


def _about_itself(name: str, value: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", value) is not None


def _plan(number: int, rule: Rule) -> Plan:
    name, file = rule.name, rule.file
    regex = re.compile(name.regex()) if name and rule.kind in ("tensor", "tensors") else None
    file_regex = re.compile(r"(?:.*/)?" + file.regex()) if file else None
    text = (
        "".join(piece if isinstance(piece, str) else ",".join(getattr(piece, "options", ())) for piece in name.pieces)
        if name
        else ""
    )
    return Plan(number, rule, regex, file_regex, any(c.isdigit() for c in text))


def all_axes(compiled: Compiled) -> Iterable[tuple[Rule, Axis]]:
    """Every axis of every rule, companions' too."""
    for rule in compiled.spec.rules:
        for value in values_of(rule.value):
            for axis in value.axes or ():
                yield rule, axis


def values_of(value: Value) -> Iterable[Value]:
    """A value and those of its companions."""
    yield value
    for atom in predicates.atoms(value.predicate) if value.predicate else ():
        if atom.word == "companion":
            yield from values_of(grammar.parse_value(atom.arguments[1]))


def _refuse_unbindable(compiled: Compiled) -> None:
    known = set(compiled.exprs)
    for name in compiled.exprs:
        _refuse_cycle(compiled, name, (name,))

    known |= {axis.dim for _, axis in all_axes(compiled) if axis.dim}
    while True:
        more = {name for rule, axis in all_axes(compiled) for name in _bindable(rule, axis, known)}
        if more <= known:
            break
        known |= more
    for place, name in _needed(compiled):
        if name not in known and not name.startswith("config."):
            raise ValueError(
                f"{name!r} in {place!r} is bound by nothing: it is in no dims=, and stands nowhere alone as an axis "
                f"(write dims={{{name!r}: 128}}, or dims={{{name!r}: 'config.…'}})"
            )


def _refuse_cycle(compiled: Compiled, name: str, path: tuple[str, ...]) -> None:
    for inner in arithmetic.names(compiled.exprs[name]):
        if inner in path:
            raise ValueError(f"dims go in a circle: {' -> '.join((*path, inner))}")
        if inner in compiled.exprs:
            _refuse_cycle(compiled, inner, (*path, inner))


def _bindable(rule: Rule, axis: Axis, known: set[str]) -> Iterable[str]:
    if axis.term is None:
        return
    inside = rule.name.variables if rule.name else ()
    unknown = {
        n for n in arithmetic.names(axis.term) if n not in known and n not in inside and not n.startswith("config.")
    }
    if len(unknown) == 1 and arithmetic.solvable(axis.term, next(iter(unknown))):
        yield from unknown


def _needed(compiled: Compiled) -> Iterable[tuple[str, str]]:
    """(where it stands, name) for every name that must get a value."""
    for name, expr in compiled.exprs.items():
        yield from ((f"dims[{name!r}]", inner) for inner in arithmetic.names(expr))
    for name, axis in compiled.bounds.items():
        yield from ((f"dims[{name!r}]", inner) for inner in axis.names() if inner != name)
    for rule in compiled.spec.rules:
        inside = rule.name.variables if rule.name else ()
        for pattern in (rule.name, rule.file):
            if pattern is not None and isinstance(pattern, Pattern):
                yield from ((str(rule.key), name) for name in pattern.names())
        for value in values_of(rule.value):
            found = [n for axis in value.axes or () for n in axis.names()]
            found += predicates.names(value.predicate) if value.predicate else ()
            yield from ((str(rule), name) for name in found if name not in inside)


# Constants.


class Constants:
    """Dims given by number or by config, each with where its number comes from."""

    def __init__(self, compiled: Compiled, config: Any, config_name: str) -> None:
        self._exprs, self._config, self._file = compiled.exprs, config, config_name
        self._known: dict[str, Bound] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._exprs or name.startswith("config.")

    def get(self, name: str) -> Bound:
        """Raises Unbound with the name, or with the config key that is not there; Inexact for a division that leaves a rest."""
        if name not in self._known:
            self._known[name] = self._key(name) if name.startswith("config.") else self._dim(name)
        return self._known[name]

    def _key(self, name: str) -> Bound:
        found = self._config
        for part in name.split(".")[1:]:
            if not isinstance(found, Mapping) or found.get(part) is None:
                raise Unbound(name)
            found = found[part]
        text = json.dumps(found, default=str) if not isinstance(found, (list, tuple)) else f"{len(found)} values"
        return Bound(found, f"{self._file} {name[7:]}={text}")

    def _dim(self, name: str) -> Bound:
        expr = self._exprs[name]
        value = arithmetic.evaluate(expr, lambda inner: self.get(inner).value)
        if isinstance(expr, arithmetic.Num):
            return Bound(value, f"{name}={value}")
        return Bound(value, ", ".join(dict.fromkeys(self.origins(expr))))

    def origins(self, expr: Expr) -> Iterable[str]:
        """Where the numbers of an expression come from."""
        if isinstance(expr, arithmetic.Op) and expr.op == "or":
            try:
                used = arithmetic.evaluate(expr.left, lambda inner: self.get(inner).value)
            except Unbound:
                used = None
            yield from self.origins(expr.left if used else expr.right)
            return
        for inner in arithmetic.names(expr):
            try:
                yield self.get(inner).origin
            except (Unbound, Inexact):
                continue


# Quick.


class Table(NamedTuple):
    """Every name that a plain spec stands for, with its axes (sizes, dims, None for any) and dtypes."""

    rows: dict[str, tuple[tuple[int | str | None, ...], frozenset[str] | None]]
    required: frozenset[str]


def quick(
    compiled: Compiled, entries: list[Entry], constants: Constants, strict: bool = False
) -> dict[str, Bound] | None:
    """The dims, if everything fits at first sight; None means "look properly", not "wrong".

    Nothing here builds a message.  For specs without stars, of plain axes: the checks inside a training loop.
    """
    try:
        env: dict[str, Any] = {name: constants.get(name).value for name in compiled.exprs}
    except (Unbound, Inexact):
        return None
    table = _table(compiled, env)
    if table is None:
        return None
    rows, bound = table.rows, env.setdefault
    met = {entry[1] for entry in entries}
    if len(met) != len(entries) or not table.required <= met or (strict and len(met) > len(rows)):
        return None
    for entry in entries:
        row = rows.get(entry[1])
        if row is None:
            if strict or not entry[1]:
                return None
            continue
        axes, dtypes = row
        shape = entry[3]
        if (dtypes is not None and entry[2] not in dtypes) or len(axes) != len(shape):
            return None
        for axis, size in zip(axes, shape):  # noqa: B905 - of one length, as the line before has it
            if axis.__class__ is int:
                if axis != size:
                    return None
            elif axis is not None and bound(axis, size) != size:  # type: ignore[arg-type]
                return None
    return {name: Bound(value, "") for name, value in env.items()}


_TABLES: dict[int, tuple[Compiled, dict[str, Any], Table | None]] = {}


def _table(compiled: Compiled, env: dict[str, Any]) -> Table | None:
    """The table for these constants, kept for the next time."""
    kept = _TABLES.get(id(compiled))
    if kept is not None and kept[0] is compiled and kept[1] == env:
        return kept[2]
    if len(_TABLES) > 64:
        _TABLES.clear()
    made = None if compiled.bounds else _made_table(compiled, env)
    _TABLES[id(compiled)] = (compiled, dict(env), made)
    return made


def _made_table(compiled: Compiled, env: dict[str, Any]) -> Table | None:
    rows: dict[str, Any] = {}
    required: list[str] = []

    def lookup(name: str) -> Any:
        if name in env:
            return env[name]
        raise Unbound(name)

    for plan in compiled.plans:
        rule, axes = plan.rule, _plain_axes(plan.rule, compiled.scopes, lookup)
        if axes is None or rule.name is None or rule.name.starred or rule.optional_if is not None:
            return None
        try:
            filled = [rule.name.filled(given) for given in rule.name.assignments(lookup)]
        except (Unbound, Inexact):
            return None
        if any(name in rows for name in filled):
            return None
        rows.update(dict.fromkeys(filled, (axes, rule.value.dtypes)))
        required += filled if not rule.optional else ()
    return Table(rows, frozenset(required)) if required else None


def _plain_axes(
    rule: Rule, scopes: Mapping[str, str], lookup: Callable[[str], Any]
) -> tuple[int | str | None, ...] | None:
    """Its axes as sizes, dims of the whole check, and None for any; None if it needs more than that."""
    value = rule.value
    if rule.kind != "tensor" or rule.forbidden or rule.when or rule.file or value.predicate or value.axes is None:
        return None
    out: list[int | str | None] = []
    for axis in value.axes:
        if attrs.evolve(axis, term=None, label=None) != Axis():
            return None
        try:
            out.append(None if axis.term is None else arithmetic.size(axis.term, lookup))
        except Inexact:
            return None
        except Unbound:
            if axis.dim is None or axis.dim in scopes or axis.dim in (rule.name.variables if rule.name else ()):
                return None
            out.append(axis.dim)
    return tuple(out)


# Properly.


class Solver:
    """One solving: the tensors of one host against one compiled spec."""

    def __init__(
        self,
        compiled: Compiled,
        entries: list[Entry],
        files: list[str],
        constants: Constants,
        strict: bool = False,
        ignore: tuple[str, ...] = (),
        finite: bool = False,
        metadata: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        self.finite, self.metadata = finite, metadata or {}
        self.compiled, self.files, self.constants, self.strict = compiled, files, constants, strict
        skip = [re.compile(names.parse(pattern).regex()) for pattern in ignore]
        self.entries = [e for e in entries if not any(each.fullmatch(e.name) for each in skip)] if skip else entries
        self.entries = [self.named(entry) if not entry.name else entry for entry in self.entries]
        self.out = Outcome(examined=len(entries))
        self.bound: dict[tuple[str, str], Bound] = {}
        self.unsolved: dict[tuple[int, str, int], str] = {}
        self.sized: list[tuple[Plan, Entry, dict[str, int], list[tuple[Axis, int, int]]]] = []
        self.by_name: dict[str, list[Entry]] = {}
        self.companions: list[Entry] = []
        self.lists: dict[tuple[str, str], list[float]] = self.out.lists
        for entry in self.entries:
            self.by_name.setdefault(entry.name, []).append(entry)

    def named(self, entry: Entry) -> Entry:
        """An array without a name, as npy has it, answers to the only name that the spec has, or to that of its file."""
        rules = [rule for rule in self.compiled.spec.rules if rule.kind == "tensor"]
        if len(rules) == 1 and rules[0].name is not None and rules[0].name.exact:
            return entry._replace(name=str(rules[0].name))
        stem = entry.file.rpartition("/")[2].rpartition(".")[0]
        return entry._replace(name=stem or "tensor")

    def run(self) -> Outcome:
        matches = self.match()
        self.counts()
        for plan in self.compiled.plans:
            for entry, captured in matches[plan.number]:
                self.measure(plan, entry, captured, plan.rule.value)
        self.bind()
        for plan in self.compiled.plans:
            if plan.rule.kind == "tensor":
                self.present(plan, matches[plan.number])
        self.compare()
        for plan in self.compiled.plans:
            self.values(plan, matches[plan.number])
            self.told(plan)
        self.extras(matches)
        self.out.dims = self.whole_check_dims()
        return self.out

    # Which rule for which tensor.

    def match(self) -> list[list[tuple[Entry, dict[str, str]]]]:
        found: list[list[tuple[Entry, dict[str, str]]]] = [[] for _ in self.compiled.plans]
        tensor_plans = [plan for plan in self.compiled.plans if plan.rule.kind == "tensor" and plan.regex]
        candidates: dict[str, list[Plan]] = {}
        digits = re.compile(r"\d+")
        for entry in self.entries:
            template = digits.sub("0", entry.name)
            plans = candidates.get(template)
            if plans is None:
                plans = candidates[template] = [
                    p for p in tensor_plans if p.digits or (p.regex and p.regex.fullmatch(entry.name))
                ]
            for plan in plans:
                match = plan.regex.fullmatch(entry.name) if plan.regex else None
                if match is None or (plan.rule.when is not None and entry.dtype not in plan.rule.when):
                    continue
                if plan.file_regex is not None and not self.in_file(plan, entry.file):
                    continue
                captured = match.groupdict()
                if self.in_range(plan.rule.name, captured):
                    found[plan.number].append((entry, captured))
        return found

    def in_file(self, plan: Plan, file: str) -> bool:
        match = plan.file_regex.fullmatch(file) if plan.file_regex else None
        return match is not None and self.in_range(plan.rule.file, match.groupdict())

    def in_range(self, pattern: Pattern | None, captured: dict[str, str]) -> bool:
        for piece in pattern.pieces if pattern else ():
            if isinstance(piece, names.Range):
                try:
                    first, last = (arithmetic.size(end, self.constant) for end in (piece.first, piece.last))
                except (Unbound, Inexact):
                    return True
                if not first <= int(captured[piece.name]) <= last:
                    return False
        return True

    # What the dims are.

    def constant(self, name: str) -> Any:
        return self.constants.get(name).value if name in self.constants else self.any_bound(name)

    def any_bound(self, name: str) -> Any:
        if (name, "") in self.bound:
            return self.bound[name, ""].value
        raise Unbound(name)

    def key(self, name: str, entry: Entry) -> tuple[str, str]:
        match self.compiled.scopes.get(name):
            case "file":
                return name, entry.file
            case "module":
                return name, entry.name.rpartition(".")[0]
            case "tensor":
                return name, f"{entry.file}\0{entry.name}"
        return name, ""

    def bound_for(self, name: str, entry: Entry, captured: Mapping[str, int]) -> Bound:
        if name in captured:
            return Bound(captured[name], f"{name}={captured[name]}")
        if name in self.constants:
            return self.constants.get(name)
        found = self.bound.get(self.key(name, entry))
        if found is None:
            raise Unbound(name)
        return found

    def lookup(self, entry: Entry, captured: Mapping[str, int]) -> Callable[[str], Any]:
        return lambda name: self.bound_for(name, entry, captured).value

    def measure(self, plan: Plan, entry: Entry, captured: dict[str, str], value: Value) -> None:
        """Its dtype, its rank, and which axis is which."""
        if plan.rule.forbidden:
            return
        if (value.dtypes is not None and entry.dtype not in value.dtypes) or entry.dtype.startswith("a "):
            self.dtype_fault(plan, entry, value.dtypes)
        if value.axes is None or entry.dtype.startswith("a "):  # a list, a str: no tensor, and told as such
            return
        numbers = {k: int(v) for k, v in captured.items() if v is not None and v.isdigit()}
        rows = laid_out(value.axes, entry.shape)
        if rows is None:
            self.rank_fault(plan, entry, value)
        else:
            self.sized.append((plan, entry, numbers, rows))

    def dtype_fault(self, plan: Plan, entry: Entry, wanted: frozenset[str] | None) -> None:
        shown = grammar.show_dtypes(wanted) or "a tensor"
        what = f"{entry.dtype}, expected {shown}"
        if entry.dtype not in BYTES:
            what = f"{entry.dtype}, not a tensor of {shown}" if wanted else f"{entry.dtype}, not a tensor"
        sizes = {BYTES.get(each, 0) for each in wanted or ()}
        hint = ""
        if len(sizes) == 1 and BYTES.get(entry.dtype, 0) == 2 * next(iter(sizes)):
            hint = "twice the bytes"
        self.fault("dtype", plan, entry, what, hint=hint)

    def rank_fault(self, plan: Plan, entry: Entry, value: Value) -> None:
        if entry.shape == (0,):
            self.fault("rank", plan, entry, "[0], empty, where values are expected", hint=PLACEHOLDER)
            return
        shown = " ".join(map(str, value.axes or ()))
        least = sum(axis.run is None and not axis.optional for axis in value.axes or ())
        most = least + sum(axis.optional for axis in value.axes or ())
        runs = any(axis.run is not None for axis in value.axes or ())
        wanted = f"at least {least}" if runs else str(least) if least == most else f"{least} to {most}"
        rank = f"{len(entry.shape)} {'axis' if len(entry.shape) == 1 else 'axes'}"
        what = f"{list(entry.shape)} has {rank}, expected {wanted}: [{shown}]"
        self.fault("rank", plan, entry, what, seen=entry.shape, hint=self.rank_hint(entry, value, least, most))

    def rank_hint(self, entry: Entry, value: Value, least: int, most: int) -> str:
        shape = entry.shape
        if len(shape) == most + 1 and shape[0] == 1:
            return "an extra batch axis in front"
        if len(shape) == 1 and least > 1:
            return "flattened"
        return ""

    def bind(self) -> None:
        votes: dict[tuple[str, str], Counter[Any]] = {}
        first: dict[tuple[tuple[str, str], Any], str] = {}
        for _, entry, captured, rows in self.sized:
            for axis, position, size in rows:
                name = f"*{axis.run}" if axis.run else axis.dim
                if not name or name in captured or name in self.constants or (axis.broadcast and size == 1):
                    continue
                key = self.key(name.lstrip("*"), entry)
                key = (name, key[1])
                votes.setdefault(key, Counter())[size] += 1
                first.setdefault((key, size), f"{entry.where} axis {position}")
        for key, counter in votes.items():
            value, n = counter.most_common(1)[0]
            self.bound[key] = Bound(value, first[key, value], n)
        self.turn_round()

    def turn_round(self) -> None:
        """Binds through arithmetic what stands nowhere alone: 3*h = 192 says h = 64."""
        waiting = [
            (plan, entry, captured, axis, position, size)
            for plan, entry, captured, rows in self.sized
            for axis, position, size in rows
            if axis.dim is None and axis.term is not None
        ]
        moved = True
        while moved:
            moved = any([self.turned(*row) for row in waiting])  # noqa: C419 - every row, in every round

    def turned(self, plan: Plan, entry: Entry, captured: dict[str, int], axis: Axis, position: int, size: int) -> bool:
        """Whether this axis binds a name; why it can't, though only this name is open, is kept for the comparison."""
        assert axis.term is not None
        unknown = {n for n in arithmetic.names(axis.term) if not self.is_bound(n, entry, captured)}
        if len(unknown) != 1:
            return False
        name = unknown.pop()
        where = plan.number, entry.where, position
        try:
            value = arithmetic.solve_for(axis.term, name, size, self.lookup(entry, captured))
        except Unbound:
            return False
        except Inexact as error:
            self.unsolved[where] = str(error)
            return False
        if value < 0:
            self.unsolved[where] = f"it leaves {name} = {value}"
            return False
        self.bound[self.key(name, entry)] = Bound(value, f"{entry.where} axis {position}, {axis.term}={size}")
        return True

    def is_bound(self, name: str, entry: Entry, captured: Mapping[str, int]) -> bool:
        return name in captured or name in self.constants or self.key(name, entry) in self.bound

    def whole_check_dims(self) -> dict[str, Bound]:
        dims: dict[str, Bound] = {}
        for name in self.compiled.exprs:
            try:
                dims[name] = self.constants.get(name)
            except (Unbound, Inexact):
                continue
        dims.update({name: bound for (name, scope), bound in self.bound.items() if scope == ""})
        return dims

    # What does not fit.

    def compare(self) -> None:
        for plan, entry, captured, rows in self.sized:
            expected = list(entry.shape)
            bad: list[tuple[str, int]] = []
            for axis, position, size in rows:
                try:
                    word = self.misfit(axis, position, size, entry, captured, expected)
                except Unbound as error:
                    why = self.unsolved.get((plan.number, entry.where, position))
                    if why is None:
                        self.cannot(error.name, plan)
                        continue
                    word = f"{label(axis, position, entry)}: {size}; {why}"
                except Inexact as error:
                    if self.given(axis, captured):  # the spec or the config is at odds with itself, not the data
                        self.tell("ambiguous", f"{plan.rule.key} axis {position} ({axis}): {error}")
                        continue
                    word = f"{label(axis, position, entry)}: {size}; {error}"
                if word:
                    bad.append((word, position))
            wanted = tuple(expected)
            for word, _ in merged(bad, plan, entry, wanted):
                self.fault(
                    "axis",
                    plan,
                    entry,
                    word,
                    seen=entry.shape,
                    wanted=wanted,
                    hint=self.hint(plan, entry, wanted, rows, captured),
                )

    def given(self, axis: Axis, captured: Mapping[str, int]) -> bool:
        """Whether its expectation is made of constants alone."""
        return axis.term is None or all(
            name in self.constants or name in captured for name in arithmetic.names(axis.term)
        )

    def misfit(
        self, axis: Axis, position: int, size: Any, entry: Entry, captured: Mapping[str, int], expected: list[int]
    ) -> str:
        """What is wrong with this size, or nothing."""
        lookup = self.lookup(entry, captured)
        if axis.run is not None:
            if not axis.run:
                return ""
            bound = self.bound[f"*{axis.run}", self.key(axis.run, entry)[1]]
            return (
                ""
                if bound.value == size
                else f"axes *{axis.run}: {list(size)}, expected {list(bound.value)} as in {bound.origin}"
            )
        if axis.broadcast and size == 1:
            return ""
        if axis.term is not None:
            wanted = arithmetic.size(axis.term, lookup)
            if wanted < 0:
                raise Inexact(f"{axis.term} = {arithmetic.substituted(axis.term, lookup)} = {wanted}, which is no size")
            if wanted != size:
                if 0 <= position < len(expected):
                    expected[position] = wanted
                because = self.because(axis.term, wanted, entry, captured)
                return f"{label(axis, position, entry)}: {size}, expected {because}"
        broken = broken_bound(axis, size, lookup)
        own = self.compiled.bounds.get(axis.dim or "")
        broken = broken or (broken_bound(own, size, lookup) if own else "")
        if not broken:
            return ""
        return f"{label(axis, position, entry)}: {size}, {broken}{self.because_of_bounds(axis, own, entry, captured)}"

    def because(self, term: Expr, wanted: int, entry: Entry, captured: Mapping[str, int]) -> str:
        """`256 = 2*128 [config.json num_key_value_heads=2, head_dim=128]`."""
        if isinstance(term, arithmetic.Num):
            return str(wanted)
        found = [self.bound_for(name, entry, captured) for name in dict.fromkeys(arithmetic.names(term))]
        worked = arithmetic.substituted(term, self.lookup(entry, captured))
        origins = list(dict.fromkeys(bound.origin for bound in found if bound.origin))
        told = f" [{self.joined(origins)}]" if origins and origins != [f"{term}={wanted}"] else ""
        return f"{wanted} = {term}{'' if worked in (str(wanted), str(term)) else f' = {worked}'}{told}"

    def joined(self, origins: list[str]) -> str:
        """Config keys behind one mention of their file."""
        out: list[str] = []
        file = ""
        for origin in dict.fromkeys(each for row in origins for each in row.split(", ")):
            head, _, rest = origin.partition(" ")
            same = bool(rest) and head == file and "=" in rest
            out.append(rest if same else origin)
            file = head if rest and "=" in rest else ""
        return ", ".join(dict.fromkeys(out))

    def because_of_bounds(self, axis: Axis, own: Axis | None, entry: Entry, captured: Mapping[str, int]) -> str:
        inner = {n for a in (axis, own) if a for n in a.names() if n != axis.dim}
        origins = [
            self.bound_for(n, entry, captured).origin for n in sorted(inner) if self.is_bound(n, entry, captured)
        ]
        return f" [{self.joined(origins)}]" if origins else ""

    def hint(
        self,
        plan: Plan,
        entry: Entry,
        wanted: tuple[int, ...],
        rows: list[tuple[Axis, int, int]],
        captured: Mapping[str, int],
    ) -> str:
        """A likely cause, where arithmetic supports it."""
        seen = entry.shape
        if seen == (0,) or (0 in seen and 0 not in wanted):
            return PLACEHOLDER
        if len(seen) > 1 and seen == wanted[::-1] and seen != wanted:
            return "transposed"
        if sorted(seen) == sorted(wanted) and seen != wanted:
            return "axes in another order"
        product = _product(seen)
        if product and product == _product(wanted) and seen != wanted:
            return "as many elements: reshaped"
        for axis, position, size in rows:
            if axis.run is None and 0 <= position < len(wanted) and size != wanted[position]:
                found = self.size_hint(axis, size, wanted[position], entry, captured)
                if found:
                    return found
        return ""

    def size_hint(self, axis: Axis, size: int, wanted: int, entry: Entry, captured: Mapping[str, int]) -> str:
        near = self.other_words(size, axis, entry, captured, near=True)
        if near:
            return f"equals {near}"
        factor = self.factor_hint(axis, size, entry, captured)
        if factor:
            return factor
        same = self.other_words(size, axis, entry, captured)
        if same:
            return f"equals {same}"
        if entry.dtype not in FLOATING and wanted in (2 * size, 8 * size):
            return (
                "eight 4-bit values packed into one int32?" if wanted == 8 * size else "two 4-bit values in one byte?"
            )
        steps = [step for step in (512, 256, 128, 64) if size % step == 0 and wanted % step]
        if steps and 0 < size - wanted < 512:
            return f"{wanted} rounded up to a multiple of {steps[0]}: padded"
        if size and wanted > size and wanted % size == 0:
            return f"1/{wanted // size} of it: one shard of {wanted // size}?"
        if wanted and size > wanted and size % wanted == 0:
            return f"{size // wanted} times as many"
        return ""

    def factor_hint(self, axis: Axis, size: int, entry: Entry, captured: Mapping[str, int]) -> str:
        """`taps*hidden` with another count of taps."""
        term = axis.term
        if not (isinstance(term, arithmetic.Op) and term.op == "*"):
            return ""
        for count, unit in ((term.left, term.right), (term.right, term.left)):
            try:
                each = arithmetic.size(unit, self.lookup(entry, captured))
                wanted = arithmetic.size(count, self.lookup(entry, captured))
            except (Unbound, Inexact):
                continue
            if each > 1 and size % each == 0 and 0 < size // each <= 64 and size // each != wanted:
                return f"{size // each}*{unit}, not {wanted}*{unit}"
        return ""

    def other_words(self, size: int, axis: Axis, entry: Entry, captured: Mapping[str, int], near: bool = False) -> str:
        """Other words of the spec that come to this size; `near`: arithmetic that shares a name with the axis."""
        mine = set(arithmetic.names(axis.term)) if axis.term is not None else set()
        found: list[str] = []
        for _, other in all_axes(self.compiled):
            if other.term is None or isinstance(other.term, arithmetic.Num) or other.term == axis.term:
                continue
            if near and (not isinstance(other.term, arithmetic.Op) or not mine & set(arithmetic.names(other.term))):
                continue
            try:
                if arithmetic.size(other.term, self.lookup(entry, captured)) == size:
                    found.append(str(other.term))
            except (Unbound, Inexact):
                continue
        return " or ".join(sorted(dict.fromkeys(found), key=len, reverse=True)[:2])

    def cannot(self, name: str, plan: Plan) -> None:
        """A name without a value: not a fault of the data, but no pass either."""
        if name.startswith("config."):
            sentence = f"{self.constants._file} has no key {name[7:]}, which {plan.rule.key} needs"
            self.tell("missing", sentence)
        else:
            self.tell("ambiguous", f"nothing in the data binds {name}, which {plan.rule.key} needs")

    def tell(self, cause: str, sentence: str) -> None:
        if (cause, sentence) not in self.out.unknown:
            self.out.unknown.append((cause, sentence))

    def fault(self, kind: str, plan: Plan, entry: Entry, what: str, **more: Any) -> None:
        self.out.faults.append(Fault(kind, plan.number, entry.file, entry.name, what, **more))

    # What must be there.

    def present(self, plan: Plan, found: list[tuple[Entry, dict[str, str]]]) -> None:
        rule = plan.rule
        if rule.forbidden:
            for entry, _ in found:
                self.fault("forbidden", plan, entry, "must not exist")
            return
        if rule.optional or rule.when is not None or self.excused(plan):
            return
        try:
            if rule.file is not None:
                self.present_in_files(plan, found)
            else:
                self.present_somewhere(plan, found)
        except Unbound as error:
            self.cannot(error.name, plan)
        except Inexact as error:
            self.tell("ambiguous", f"{rule.key}: {error}")

    def excused(self, plan: Plan) -> bool:
        condition = plan.rule.optional_if
        if condition is None:
            return False
        try:
            return bool(arithmetic.evaluate(condition, self.constant))
        except (Unbound, Inexact):  # the key is not there: what transformers would take as false
            return False

    def wanted_names(self, pattern: Pattern) -> list[tuple[tuple[str, ...], str]]:
        keys = [p.name for p in pattern.pieces if isinstance(p, (names.Range, names.Choice))]
        return [
            (tuple(row[k] for k in dict.fromkeys(keys)), pattern.filled(row))
            for row in pattern.assignments(self.constant)
        ]

    def present_somewhere(self, plan: Plan, found: list[tuple[Entry, dict[str, str]]]) -> None:
        pattern = plan.rule.name
        assert pattern is not None
        wanted = self.wanted_names(pattern)
        keys = tuple(dict.fromkeys(p.name for p in pattern.pieces if isinstance(p, (names.Range, names.Choice))))
        here = {tuple(captured[k] for k in keys) for _, captured in found}
        for row, filled in wanted:
            if row not in here:
                self.out.faults.append(Fault("missing", plan.number, "", filled, "missing"))
        self.present_in_collection(plan, {entry.file for entry, _ in found}, wanted, found, keys)

    def present_in_collection(
        self,
        plan: Plan,
        files: set[str],
        wanted: list[tuple[tuple[str, ...], str]],
        found: list[tuple[Entry, dict[str, str]]],
        keys: tuple[str, ...],
    ) -> None:
        """Files that are samples of one kind (the same names in several) must each hold what any of them holds."""
        for group in self.collections:
            if not group & files:
                continue
            here = {(entry.file, *(captured[k] for k in keys)) for entry, captured in found}
            for file in sorted(group - files if not keys else group):
                for row, filled in wanted:
                    if (file, *row) not in here:
                        self.out.faults.append(Fault("missing", plan.number, file, filled, "missing"))

    @property
    def collections(self) -> list[set[str]]:
        if not hasattr(self, "_collections"):
            groups: dict[str, set[str]] = {}
            for file in self.files:
                groups.setdefault(re.sub(r"\d+", "0", file), set()).add(file)
            repeated = {e.file for rows in self.by_name.values() if len({r.file for r in rows}) > 1 for e in rows}
            self._collections = [group for group in groups.values() if len(group & repeated) > 1]
        return self._collections

    def present_in_files(self, plan: Plan, found: list[tuple[Entry, dict[str, str]]]) -> None:
        file, pattern = plan.rule.file, plan.rule.name
        assert file is not None
        assert pattern is not None
        assert plan.file_regex is not None
        fitting = [
            (f, match.groupdict())
            for f in self.files
            if (match := plan.file_regex.fullmatch(f)) and self.in_range(file, match.groupdict())
        ]
        file_keys = tuple(dict.fromkeys(p.name for p in file.pieces if isinstance(p, (names.Range, names.Choice))))
        there = {tuple(captured[k] for k in file_keys) for _, captured in fitting}
        for given in file.assignments(self.constant):
            if tuple(given[k] for k in file_keys) not in there:
                self.out.faults.append(Fault("missing", plan.number, file.filled(given), "", "missing: no such file"))
        keys = tuple(dict.fromkeys(p.name for p in pattern.pieces if isinstance(p, (names.Range, names.Choice))))
        here = {(entry.file, *(captured[k] for k in keys)) for entry, captured in found}
        for name, _ in fitting:
            for row, filled in self.wanted_names(pattern):
                if (name, *row) not in here:
                    self.out.faults.append(Fault("missing", plan.number, name, filled, "missing"))

    def counts(self) -> None:
        """`files(…)` and `tensors(…)`: a number, told like the size of an axis."""
        for plan in self.compiled.plans:
            rule = plan.rule
            if rule.kind not in ("files", "tensors"):
                continue
            if rule.kind == "files":
                n = sum(self.in_file(plan, file) for file in self.files)
            else:
                n = sum(
                    plan.regex is not None
                    and plan.regex.fullmatch(e.name) is not None
                    and (plan.file_regex is None or self.in_file(plan, e.file))
                    for e in self.entries
                )
            if rule.value.axes:
                entry = Entry("", f"{rule.kind}({rule.file or rule.name})", "", (n,))
                self.sized.append((plan, entry, {}, [(rule.value.axes[0], 0, n)]))

    # What files and the config say of themselves.

    def told(self, plan: Plan) -> None:
        """`meta(key)` in every file that it is for, and `config(key)`."""
        rule = plan.rule
        key = str(rule.name)
        if rule.kind == "config":
            try:
                self.told_value(plan, self.constants._file, key, self.constants.get(f"config.{key}").value)
            except Unbound:
                self.not_told(plan, self.constants._file, f"config({key})", "has no such key")
        elif rule.kind == "meta":
            for file in self.files:
                if rule.file is not None and not self.in_file(plan, file):
                    continue
                text = self.metadata.get(file, {}).get(key)
                if text is None:
                    self.not_told(plan, file, f"meta({key})", "is not in its metadata")
                else:
                    self.told_value(plan, file, key, _parsed(text))

    def not_told(self, plan: Plan, file: str, name: str, what: str) -> None:
        if not plan.rule.optional and not self.excused(plan):
            self.out.faults.append(Fault("meta", plan.number, file, name, what))

    def told_value(self, plan: Plan, file: str, key: str, value: Any) -> None:
        """A value out of metadata or config: equal to what is wanted, or a row of numbers with a shape and words of its own."""
        rule, name = plan.rule, f"{plan.rule.kind}({key})"
        if rule.wanted is not None:
            if json.dumps(grammar._plain(value), sort_keys=True) != rule.wanted:
                seen = json.dumps(grammar._plain(value))[:200]
                self.out.faults.append(Fault("meta", plan.number, file, name, f"{seen}, expected {rule.wanted}"))
            return
        row = list(value) if isinstance(value, (list, tuple)) else [value]
        if not all(isinstance(each, (int, float)) for each in row):
            self.out.faults.append(Fault("meta", plan.number, file, name, "holds no numbers"))
            return
        entry = Entry(file, name, "i64", (len(row),) if isinstance(value, (list, tuple)) else ())
        self.lists[file, name] = row
        for axis, position, size in laid_out(rule.value.axes, entry.shape) or () if rule.value.axes is not None else ():
            word = self.misfit(axis, position, size, entry, {}, [size])
            if word:
                self.fault("axis", plan, entry, word)
        for part in predicates.conjuncts(rule.value.predicate):
            self.one_value(plan, entry, {}, part)

    def extras(self, matches: list[list[tuple[Entry, dict[str, str]]]]) -> None:
        named = {(entry.file, entry.name) for rows in matches for entry, _ in rows}
        named |= {(e.file, e.name) for e in self.companions}
        left = [entry for entry in self.entries if (entry.file, entry.name) not in named]
        self.out.extra = len(left)
        if self.strict:
            self.out.faults.extend(
                Fault("extra", len(self.compiled.plans), e.file, e.name, "unexpected: not in the spec") for e in left
            )

    # Values and relations.

    def values(self, plan: Plan, found: list[tuple[Entry, dict[str, str]]]) -> None:
        if plan.rule.kind == "tensor" and not plan.rule.forbidden:
            for entry, captured in found:
                numbers = {k: int(v) for k, v in captured.items() if v is not None and v.isdigit()}
                for part in predicates.conjuncts(plan.rule.value.predicate):
                    self.one_value(plan, entry, numbers, part)
                if self.finite and entry.dtype in FLOATING and not _speaks_of_values(plan.rule.value.predicate):
                    self.want(plan, entry, FINITE, ["finite"])

    def target(self, plan: Plan, entry: Entry, name: str) -> tuple[str, str]:
        """(name, file) of the tensor that a relation names: in the same file if it is there, else in any."""
        rows = self.by_name.get(name, [])
        near = [row for row in rows if row.file == entry.file] or rows
        if not near:
            raise Absent(name)
        return name, near[0].file

    def one_value(self, plan: Plan, entry: Entry, captured: dict[str, int], part: predicates.Predicate) -> None:
        try:
            if isinstance(part, predicates.Atom) and part.word == "companion":
                self.companion(plan, entry, captured, part)
            elif predicates.needs_values(part) or any(a.word in predicates.RELATIONS for a in predicates.atoms(part)):
                self.want(
                    plan,
                    entry,
                    part,
                    predicates.resolved(
                        part, self.lookup(entry, captured), lambda name: self.target(plan, entry, name)
                    ),
                )
            else:
                self.held(plan, entry, part)
        except Absent as error:
            self.out.faults.append(Fault("missing", plan.number, "", str(error), "missing"))
        except Unbound as error:
            self.cannot(error.name, plan)
        except Inexact as error:
            self.tell("ambiguous", f"{plan.rule.key}: {error}")

    def want(self, plan: Plan, entry: Entry, part: predicates.Predicate, resolved: list[Any]) -> None:
        key = json.dumps([plan.number, resolved])
        if not hasattr(self, "_wants"):
            self._wants: dict[str, Want] = {}
        if key not in self._wants:
            self._wants[key] = Want(resolved, str(part), [], plan.number)
            self.out.wants.append(self._wants[key])
        self._wants[key].entries.append(entry)

    def companion(self, plan: Plan, entry: Entry, captured: dict[str, int], atom: predicates.Atom) -> None:
        """`<name><suffix>` must exist, in any file of the check, with the shape that this tensor's dims give."""
        suffix, text = atom.arguments
        name = entry.name + suffix
        value = grammar.parse_value(text)
        rows = self.by_name.get(name, [])
        if not rows:
            self.out.faults.append(
                Fault("missing", plan.number, "", name, f"missing: the companion of {entry.dtype} {plan.rule.name}")
            )
            return
        self.companions += rows
        for other in rows:
            if value.dtypes is not None and other.dtype not in value.dtypes:
                self.dtype_fault(plan, other, value.dtypes)
            laid = laid_out(value.axes, other.shape) if value.axes is not None else []
            if laid is None:
                self.rank_fault(plan, other, value)
            for axis, position, size in laid or ():
                # Its dims are those of the tensor that it belongs to, so they are looked up there.
                wanted = arithmetic.size(axis.term, self.lookup(entry, captured)) if axis.term is not None else size
                if wanted != size:
                    worked = arithmetic.substituted(axis.term, self.lookup(entry, captured)) if axis.term else ""
                    self.fault(
                        "axis",
                        plan,
                        other,
                        f"axis {position} ({axis}): {size}, expected {wanted} = {worked} [{entry.name} is {list(entry.shape)}]",
                    )
            for part in predicates.conjuncts(value.predicate):
                self.want(
                    plan,
                    other,
                    part,
                    predicates.resolved(
                        part, self.lookup(entry, captured), lambda name: self.target(plan, entry, name)
                    ),
                )

    def held(self, plan: Plan, entry: Entry, part: predicates.Predicate) -> None:
        """Words about how a tensor is held: device, strides, storage."""
        verdict, words = held_as(part, PLAIN if entry.extra is None else entry.extra)
        if verdict is None:
            self.tell("unsupported", f"{entry.where}: can't tell whether it is {part}: {words}")
        elif not verdict:
            self.fault("held", plan, entry, f"{words}, expected {part}")


def _speaks_of_values(predicate: predicates.Predicate | None) -> bool:
    return predicate is not None and predicates.needs_values(predicate)


def _parsed(text: str) -> Any:
    """A metadata text as the JSON that it may be."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _product(shape: tuple[int, ...]) -> int:
    out = 1
    for n in shape:
        out *= n
    return out


def laid_out(axes: tuple[Axis, ...], shape: tuple[int, ...]) -> list[tuple[Axis, int, Any]] | None:
    """(axis, position, size) by axis, a run having a tuple of sizes; None where the rank does not fit.

    Optional axes fall away from the left, as many as are too many.
    """
    run = next((k for k, axis in enumerate(axes) if axis.run is not None), None)
    singles = [axis for axis in axes if axis.run is None]
    spare = len(singles) - len(shape)
    if spare > 0:
        dropped = [k for k, axis in enumerate(axes) if axis.optional][:spare]
        if len(dropped) < spare:
            return None
        return laid_out(tuple(axis for k, axis in enumerate(axes) if k not in dropped), shape)
    if run is None:
        return None if spare else [(axis, k, size) for k, (axis, size) in enumerate(zip(axes, shape, strict=True))]
    after = len(axes) - run - 1
    end = len(shape) - after
    rows: list[tuple[Axis, int, Any]] = [(axis, k, shape[k]) for k, axis in enumerate(axes[:run])]
    rows.append((axes[run], run, tuple(shape[run:end])))
    rows += [(axis, end + k, shape[end + k]) for k, axis in enumerate(axes[run + 1 :])]
    return rows


def merged(bad: list[tuple[str, int]], plan: Plan, entry: Entry, wanted: tuple[int, ...]) -> list[tuple[str, int]]:
    """Several axes that are off are one fault if the shape as a whole says more: transposed, reshaped."""
    whole = len(bad) > 1 and 0 not in wanted and _product(entry.shape) == _product(wanted)
    shown = " ".join(map(str, plan.rule.value.axes or ()))
    return [(f"{list(entry.shape)}, expected {list(wanted)}: [{shown}]", 0)] if whole else bad


def label(axis: Axis, position: int, entry: Entry) -> str:
    """`axis 0 (kv*d)`; a count of files or tensors has no axes."""
    return f"axis {position} ({axis.label or axis.term or axis})" if entry.dtype else f"count ({axis})"


def broken_bound(axis: Axis, size: int, lookup: Callable[[str], Any]) -> str:
    """Which bound of an axis a size breaks, in words, or nothing."""
    if axis.lower is not None:
        sign, bound = axis.lower
        least = arithmetic.evaluate(bound, lookup)
        if size < least or (sign == "<" and size == least):
            return f"expected {'more than' if sign == '<' else 'at least'} {_worked(bound, least)}"
    if axis.upper is not None:
        sign, bound = axis.upper
        most = arithmetic.evaluate(bound, lookup)
        if size > most or (sign == "<" and size == most):
            return f"expected {'less than' if sign == '<' else 'at most'} {_worked(bound, most)}"
    if axis.multiple is not None:
        step = arithmetic.size(axis.multiple, lookup)
        if step == 0 or size % step:
            return f"expected a multiple of {_worked(axis.multiple, step)}"
    if axis.choices is not None:
        allowed = [arithmetic.size(each, lookup) for each in axis.choices]
        if size not in allowed:
            return f"expected one of {', '.join(map(str, allowed))}"
    return ""


def _worked(expr: Expr, value: Any) -> str:
    return str(value) if isinstance(expr, arithmetic.Num) else f"{value} = {expr}"


def held_as(part: predicates.Predicate, extra: Mapping[str, Any]) -> tuple[bool | None, str]:
    """Whether a tensor is held so, and what was seen; None where that is not known."""
    match part:
        case predicates.Not(inner):
            verdict, words = held_as(inner, extra)
            return (None if verdict is None else not verdict), words
        case predicates.All(parts) | predicates.Any_(parts):
            found = [held_as(each, extra) for each in parts]
            verdicts = [verdict for verdict, _ in found]
            deciding = isinstance(part, predicates.Any_)
            verdict = deciding if deciding in verdicts else None if None in verdicts else not deciding
            return verdict, "; ".join(dict.fromkeys(words for _, words in found))
        case predicates.Atom("real"):
            return _on(extra, lambda device: device != "meta")
        case predicates.Atom("on", devices):
            return _on(extra, lambda device: device in devices or device.partition(":")[0] in devices)
        case predicates.Atom("dense"):
            return _flag(
                extra,
                "stride0",
                False,
                "an axis has stride 0: expanded, its elements share memory",
                "no axis has stride 0",
            )
        case predicates.Atom("contiguous"):
            return _flag(extra, "contiguous", True, "not contiguous", "contiguous")
        case predicates.Atom("owned"):
            whole, own = extra.get("storage"), extra.get("nbytes")
            if whole is None or own is None:
                return None, "its storage is not known"
            return whole <= own, f"{own:,} bytes of a storage of {whole:,}"
    return None, "not known"


def _on(extra: Mapping[str, Any], holds: Callable[[str], bool]) -> tuple[bool | None, str]:
    device = extra.get("device")
    return (None, "its device is not known") if device is None else (holds(device), f"on {device}")


def _flag(extra: Mapping[str, Any], key: str, wanted: bool, bad: str, good: str) -> tuple[bool | None, str]:
    value = extra.get(key)
    return (None, "its strides are not known") if value is None else (value is wanted, good if value is wanted else bad)
