"""From tensors to faults: which rule is for which tensor, what the dims are, and what does not fit.

Order-free: all sizes are gathered first.  A dim that stands alone is bound by the most frequent size within its scope
(so that one odd file among thousands is the odd one); arithmetic is turned round where only that can bind; then every
axis is compared, and every fault is kept.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from verikit.spec import arithmetic, grammar, hints, names, predicates
from verikit.spec.arithmetic import Expr, Inexact, Remainder, Unbound
from verikit.spec.compiled import Compiled, Constants, Plan
from verikit.spec.dtypes import BYTES, FLOATING
from verikit.spec.fit import broken_bound, label, laid_out, merged
from verikit.spec.grammar import Axis, Value
from verikit.spec.held import PLAIN, held_as
from verikit.spec.names import Pattern
from verikit.spec.rows import Absent, Bound, Entry, Fault, Outcome, Want

FINITE = predicates.Atom("finite")


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
        metadata: Mapping[str, Mapping[str, str | None] | None] | None = None,
        together: int = 1,
    ) -> None:
        self.together = together
        self.finite, self.metadata = finite, metadata or {}
        self.compiled, self.files, self.constants, self.strict = compiled, files, constants, strict
        skip = [re.compile(names.parse(pattern).regex()) for pattern in ignore]
        self.entries = [e for e in entries if not any(each.fullmatch(e.name) for each in skip)] if skip else entries
        self.entries = [self.named(entry) if not entry.name else entry for entry in self.entries]
        self.out = Outcome(examined=len(entries))
        self.bound: dict[tuple[str, str], Bound] = {}
        self.ends: dict[names.Range, tuple[float, float]] = {}
        self.hinted: dict[tuple[Any, ...], str] = {}
        self.unsolved: dict[tuple[int, str, int], str] = {}
        self.sized: list[tuple[Plan, Entry, dict[str, int], list[tuple[Axis, int, int]]]] = []
        self.shares: list[tuple[Plan, int]] = []
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
        for plan, n in self.shares:
            self.share(plan, n)
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
                first, last = self.ends_of(piece)
                if not first <= int(captured[piece.name]) <= last:
                    return False
        return True

    def ends_of(self, piece: names.Range) -> tuple[float, float]:
        """Both ends of a range; as wide as can be while the data has not said what they are."""
        if piece not in self.ends:
            try:
                first, last = (arithmetic.size(end, self.constant) for end in (piece.first, piece.last))
            except (Unbound, Inexact):
                return -math.inf, math.inf
            self.ends[piece] = first, last
        return self.ends[piece]

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
        if re.fullmatch(r"v\d+|void\d*", entry.dtype) and wanted:  # what numpy writes for dtypes that it does not know
            self.tell("unsupported", f"{entry.where}: {entry.dtype}, bytes that may be {shown} or not")
            return
        if entry.dtype not in BYTES:
            what = f"{entry.dtype}, not a tensor of {shown}" if wanted else f"{entry.dtype}, not a tensor"
        sizes = {BYTES.get(each, 0) for each in wanted or ()}
        hint = ""
        if len(sizes) == 1 and BYTES.get(entry.dtype, 0) == 2 * next(iter(sizes)):
            hint = "twice the bytes"
        self.fault("dtype", plan, entry, what, hint=hint)

    def rank_fault(self, plan: Plan, entry: Entry, value: Value) -> None:
        if entry.shape == (0,):
            self.fault("rank", plan, entry, "[0], empty, where values are expected", hint=hints.PLACEHOLDER)
            return
        shown = " ".join(map(str, value.axes or ()))
        least = sum(axis.run is None and not axis.optional for axis in value.axes or ())
        most = least + sum(axis.optional for axis in value.axes or ())
        runs = any(axis.run is not None for axis in value.axes or ())
        wanted = f"at least {least}" if runs else str(least) if least == most else f"{least} to {most}"
        rank = f"{len(entry.shape)} {'axis' if len(entry.shape) == 1 else 'axes'}"
        what = f"{list(entry.shape)} has {rank}, expected {wanted}: [{shown}]"
        self.fault("rank", plan, entry, what, seen=entry.shape, hint=hints.of_rank(entry.shape, least, most))

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
                first.setdefault((key, size), f"{entry.where} axis {position}" if entry.dtype else entry.where)
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
                    origins = self.origins(axis, entry, captured)
                    # What is given is at odds with itself, not the data; but a remainder leaves no size that would do.
                    if self.given(axis, captured) and not isinstance(error, Remainder):
                        self.tell("ambiguous", f"{plan.rule.key} axis {position} ({axis}): {error}{origins}")
                        continue
                    word = f"{label(axis, position, entry)}: {size}; {error}{origins}"
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

    def hint(
        self,
        plan: Plan,
        entry: Entry,
        wanted: tuple[int, ...],
        rows: list[tuple[Axis, int, int]],
        captured: Mapping[str, int],
    ) -> str:
        """The likely cause; tensors that are off alike are asked about once."""
        key = (plan.number, entry.dtype, entry.shape, wanted)
        if key not in self.hinted:
            self.hinted[key] = hints.of_shape(self.compiled, entry, wanted, rows, self.lookup(entry, captured))
        return self.hinted[key]

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
        return self.told_origins({n for a in (axis, own) if a for n in a.names() if n != axis.dim}, entry, captured)

    def origins(self, axis: Axis, entry: Entry, captured: Mapping[str, int]) -> str:
        return self.told_origins(set(axis.names()), entry, captured)

    def told_origins(self, inner: set[str], entry: Entry, captured: Mapping[str, int]) -> str:
        found = []
        for name in sorted(inner):
            try:
                found.append(self.bound_for(name, entry, captured).origin)
            except (Unbound, Inexact):
                continue
        return f" [{self.joined(found)}]" if any(found) else ""

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
        if rule.optional or rule.when is not None:
            return
        before = len(self.out.faults)
        try:
            if rule.optional_if is not None and self.excused(plan):
                return
        except (Unbound, Inexact) as error:
            self.required(plan, found)
            if len(self.out.faults) > before:  # whether it may be absent is what the config does not say
                del self.out.faults[before:]
                self.not_known(plan, error)
            return
        self.required(plan, found)

    def not_known(self, plan: Plan, error: Exception) -> None:
        if isinstance(error, Unbound):
            self.cannot(error.name, plan)
        else:
            self.tell("ambiguous", f"{plan.rule.key}: {error}")

    def required(self, plan: Plan, found: list[tuple[Entry, dict[str, str]]]) -> None:
        rule = plan.rule
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
        """Whether its condition allows it to be absent; raises if the config does not say (defaults are not in its file)."""
        condition = plan.rule.optional_if
        return condition is not None and bool(arithmetic.evaluate(condition, self.constant))

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
        file = self.files[0] if len(self.files) == 1 and "-of-" not in self.files[0] else ""
        for row, filled in wanted:
            if row not in here:
                self.out.faults.append(Fault("missing", plan.number, file, filled, "missing"))
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
            if rule.value.axes and rule.scope == "check" and self.together != 1:
                self.shares.append((plan, n))
            elif rule.value.axes:
                entry = Entry("", f"{rule.kind}({rule.file or rule.name})", "", (n,))
                self.sized.append((plan, entry, {}, [(rule.value.axes[0], 0, n)]))

    def share(self, plan: Plan, n: int) -> None:
        """Puts down this host's share of a count over all hosts, with what its names stand for here."""
        if not self.together:
            why = f"{plan.rule.key} is a sum over hosts, which is not made beneath |, ~ or at_least: put .on(…) inside of it"
            self.tell("ambiguous", why)
        axis, nowhere = (plan.rule.value.axes or ())[0], Entry("", "", "", ())
        own = self.compiled.bounds.get(axis.dim or "")
        given = {}
        for name in {*axis.names(), *(own.names() if own else ())}:
            try:
                bound = self.bound_for(name, nowhere, {})
                given[name] = [bound.value, bound.origin]
            except Unbound as error:
                if name != axis.dim:
                    self.cannot(error.name, plan)
            except Inexact as error:
                self.not_known(plan, error)
        self.out.shares[plan.rule.key] = {"n": n, "hosts": self.together, "given": given}

    # What files and the config say of themselves.

    def told(self, plan: Plan) -> None:
        """`meta(key)` in every file that it is for, and `config(key)`."""
        rule = plan.rule
        key = str(rule.name)
        if rule.kind == "config":
            try:
                self.told_value(plan, self.constants._file, key, self.constants.get(f"config.{key}").value)
            except Unbound as error:
                if not rule.optional:
                    self.cannot(error.name, plan)
        elif rule.kind == "meta":
            for file in self.files:
                if rule.file is not None and not self.in_file(plan, file):
                    continue
                row = self.metadata.get(file, {})
                if row is None:  # a file that could not be read is told as such
                    self.tell("unsupported", f"{file}: its metadata can't be told")
                elif key not in row:
                    self.not_told(plan, file, f"meta({key})", "is not in its metadata")
                elif (text := row[key]) is None:
                    self.tell("unsupported", f"{Entry(file, key, '', ()).where}: no plain value, nor a tensor of few")
                else:
                    self.told_value(plan, file, key, _parsed(text))

    def not_told(self, plan: Plan, file: str, name: str, what: str) -> None:
        try:
            if not plan.rule.optional and not self.excused(plan):
                self.out.faults.append(Fault("meta", plan.number, file, name, what))
        except (Unbound, Inexact) as error:
            self.not_known(plan, error)

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
        said = {str(plan.rule.name) for plan in self.compiled.plans if plan.rule.kind == "meta"}
        named |= {(e.file, e.name) for e in self.entries if e.name in said} if said else set()
        left = [entry for entry in self.entries if (entry.file, entry.name) not in named]
        self.out.extra = len(left) + self.out.examined - len(self.entries)  # what is ignored is named by nobody either
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
