"""From tensors to faults: which rule is for which tensor, what the dims are, and what does not fit.

Order-free: all sizes are gathered first.  A dim that stands alone is bound by the most frequent size within its scope
(so that one odd file among thousands is the odd one); arithmetic is turned round where only that can bind; then every
axis is compared, and every fault is kept.

A mixture of experts has 10^5 tensors, but few shapes: tensors of one rule with one shape are `Alike`, are laid out and
counted once, and what fits one of them is not compared again.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from operator import itemgetter
from typing import Any

from verikit.spec import alike, arithmetic, grammar, hints, names, predicates
from verikit.spec.alike import Alike, Speech
from verikit.spec.arithmetic import Expr, Inexact, Remainder, Unbound
from verikit.spec.compiled import Compiled, Constants, Plan
from verikit.spec.dtypes import BYTES, is_inexact
from verikit.spec.fit import Misfit, bracketed, broken_bound, label, laid_out, merged, sentence
from verikit.spec.grammar import Axis, Value
from verikit.spec.held import PLAIN, held_as
from verikit.spec.names import Pattern
from verikit.spec.rows import Absent, Bound, Entry, Fault, Outcome, Want, joined

FINITE = predicates.Atom("finite")

KEYS = 4
"""Keys that are named of a config that is not there."""


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
        shards: frozenset[str] = frozenset(),
        left: frozenset[str] = frozenset(),
    ) -> None:
        """shards: files that an index names, each with tensors of its own; others of one kind are samples of it.

        left: files of no known format, which are left out.
        """
        self.together, self.shards, self.left = together, shards, left
        self.finite, self.metadata = finite, metadata or {}
        self.compiled, self.files, self.constants, self.strict = compiled, files, constants, strict
        skip = [re.compile(names.parse(pattern).regex()) for pattern in ignore]
        self.entries = [e for e in entries if not any(each.fullmatch(e.name) for each in skip)] if skip else entries
        self.entries = [self.named(entry) if not entry.name else entry for entry in self.entries]
        self.out = Outcome(examined=len(entries))
        self.bound: dict[tuple[str, str], Bound] = {}
        self.ends: dict[int, tuple[float, float]] = {}
        self.hinted: dict[tuple[Any, ...], str] = {}
        self.unsolved: dict[tuple[int, str, int], str] = {}
        self.about: dict[tuple[str, str, str], tuple[str, int | None]] = {}
        self.speeches = [alike.speech(plan, compiled) for plan in compiled.plans]
        self.alikes: dict[tuple[Any, ...], Alike | None] = {}
        self.sized: list[tuple[Entry, dict[str, str], Alike]] = []
        self.misranked: list[tuple[Plan, Entry, dict[str, str]]] = []
        self.voters: dict[tuple[str, str], set[int]] = {}
        self.shares: list[tuple[Plan, int]] = []
        self.companions: list[Entry] = []
        self.wanted: dict[str, Want] = {}
        self.unbound: set[str] = set()
        self.lacking: list[str] = []
        self.wanted_alike: dict[tuple[Any, ...], Want] = {}
        self.fitting: dict[tuple[Any, ...], list[Want]] = {}
        self.spoken: dict[int, Speech] = {}
        self.lists: dict[tuple[str, str], list[float]] = self.out.lists

    @cached_property
    def by_name(self) -> dict[str, list[Entry]]:
        found: dict[str, list[Entry]] = {}
        for entry in self.entries:
            found.setdefault(entry.name, []).append(entry)
        return found

    def named(self, entry: Entry) -> Entry:
        """An array without a name, as npy has it, answers to the only name that must be there, or to that of its file."""
        every = [rule for rule in self.compiled.spec.rules if rule.kind == "tensor"]
        rules = [rule for rule in every if not rule.optional and not rule.forbidden] or every
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
        for plan, entry, captured in self.misranked:
            self.rank_fault(plan, entry, plan.rule.value, entry, numbers_of(captured))
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
        if self.lacking:  # one thing is missing, however many keys it has
            more = f" and {len(self.lacking) - KEYS} more keys" if len(self.lacking) > KEYS else ""
            needs = f"{self.constants.missing}, of which the spec needs {', '.join(self.lacking[:KEYS])}{more}"
            self.out.unknown.insert(0, ("missing", needs))
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
        found = self.ends.get(id(piece))
        if found is None:
            try:
                first, last = (arithmetic.size(end, self.constant) for end in (piece.first, piece.last))
            except (Unbound, Inexact):
                return -math.inf, math.inf
            found = self.ends[id(piece)] = first, last
        return found

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
        if (value.dtypes is not None and entry.dtype not in value.dtypes) or entry.dtype.startswith(NO_TENSOR):
            self.dtype_fault(plan, entry, value.dtypes)
        if value.axes is None or entry.dtype.startswith(NO_TENSOR):  # a list, a str: no tensor, and told as such
            return
        key = (plan.number, entry.shape, *[captured[name] for name in self.speeches[plan.number].inner])
        if key not in self.alikes:
            rows = laid_out(value.axes, entry.shape)
            self.alikes[key] = None if rows is None else self.alike(plan, entry, captured, rows)
        found = self.alikes[key]
        if found is None:
            self.misranked.append((plan, entry, captured))
        else:
            found.count += 1
            self.sized.append((entry, captured, found))

    def alike(self, plan: Plan, entry: Entry, captured: Mapping[str, str], rows: list[tuple[Axis, int, Any]]) -> Alike:
        numbers = numbers_of(captured)
        return Alike(plan, rows, entry, lambda name: name in numbers or name in self.constants, self.compiled.scopes)

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

    def rank_fault(self, plan: Plan, entry: Entry, value: Value, asker: Entry, captured: Mapping[str, int]) -> None:
        """asker: the tensor whose dims its axes have: itself, or the one that it is a companion of."""
        if entry.shape == (0,):
            self.fault("rank", plan, entry, "[0], empty, where values are expected", hint=hints.of_nothing(entry))
            return
        axes = value.axes or ()
        least = sum(axis.run is None and not axis.optional for axis in axes)
        most = least + sum(axis.optional for axis in axes)
        runs = any(axis.run is not None for axis in axes)
        wanted = f"at least {least}" if runs else str(least) if least == most else f"{least} to {most}"
        rank = f"{len(entry.shape)} {'axis' if len(entry.shape) == 1 else 'axes'}"
        sizes = [self.known_size(axis, asker, captured) for axis in axes]
        origin = self.origins(
            (n for axis, size in zip(axes, sizes, strict=True) if size for n in axis.names()), asker, captured
        )
        what = f"{list(entry.shape)} has {rank}, expected {wanted}: {_sizes_of(axes, sizes)}"
        hint = hints.of_rank(entry.shape, axes, sizes, least, most)
        self.fault("rank", plan, entry, what, origin=origin, cause=(plan.number, len(entry.shape)), hint=hint)

    def known_size(self, axis: Axis, entry: Entry, captured: Mapping[str, int]) -> int | None:
        """What size it should have, as far as anything says so."""
        try:
            return None if axis.term is None else arithmetic.size(axis.term, self.lookup(entry, captured))
        except (Unbound, Inexact):
            return None

    def bind(self) -> None:
        votes: dict[tuple[str, str], dict[Any, int]] = {}
        first: dict[tuple[tuple[str, str], Any], str] = {}

        def vote(key: tuple[str, str], size: Any, n: int, entry: Entry, position: int, plan: Plan) -> None:
            self.voters.setdefault(key, set()).add(plan.number)
            counter = votes.setdefault(key, {})
            if size not in counter:
                counter[size] = 0
                first[key, size] = f"{entry.where} axis {position}" if entry.dtype else entry.where
            counter[size] += n

        for group in filter(None, self.alikes.values()):
            for name, position, size in group.wide:
                vote((name, ""), size, group.count, group.first, position, group.plan)
        for entry, _, group in self.sized:
            for name, position, size in group.narrow:
                vote((name, self.key(name.lstrip("*"), entry)[1]), size, 1, entry, position, group.plan)
        for key, counter in votes.items():
            value = max(counter, key=counter.__getitem__)
            self.bound[key] = Bound(value, first[key, value], counter[value])
        self.turn_round()

    def turn_round(self) -> None:
        """Binds through arithmetic what stands nowhere alone: 3*h = 192 says h = 64."""
        waiting = [(entry, captured, group) for entry, captured, group in self.sized if group.turning]
        moved = bool(waiting)
        while moved:
            known = {id(group) for _, _, group in waiting if group.known(self.bound)}
            waiting = [row for row in waiting if id(row[2]) not in known]
            moved = any([self.turned_any(*row) for row in waiting])  # noqa: C419 - every row, in every round

    def turned_any(self, entry: Entry, captured: Mapping[str, str], group: Alike) -> bool:
        """Whether one of its axes binds a name."""
        numbers, moved = numbers_of(captured), False
        for term, position, size, inside in group.turning:
            open_ = {name for name in inside if not self.is_bound(name, entry, numbers)}
            if len(open_) == 1:
                where = group.plan.number, entry.where, position
                moved = self.turned(where, entry, numbers, term, size, open_.pop()) or moved
        return moved

    def turned(
        self, where: tuple[int, str, int], entry: Entry, captured: dict[str, int], term: Expr, size: int, name: str
    ) -> bool:
        """Whether this axis binds its only open name; why it can't is kept for the comparison."""
        try:
            value = arithmetic.solve_for(term, name, size, self.lookup(entry, captured))
        except Unbound:
            return False
        except Inexact as error:
            self.unsolved[where] = str(error)
            return False
        if value < 0:
            self.unsolved[where] = f"it leaves {name} = {value}"
            return False
        self.bound[self.key(name, entry)] = Bound(value, f"{entry.where} axis {where[2]}, {term}={size}")
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
        for entry, captured, group in self.sized:
            dims = self.narrow_dims(self.speeches[group.plan.number], entry)
            if dims not in group.fitting and self.fits(group.plan, entry, numbers_of(captured), group.rows):
                group.fitting.add(dims)

    def narrow_dims(self, speech: Speech, entry: Entry) -> tuple[Any, ...]:
        """What the dims that are not the same everywhere are for this tensor: where they agree, so does all else."""
        if not speech.narrow:
            return ()
        found = (self.bound.get((name, self.key(name.lstrip("*"), entry)[1])) for name in speech.narrow)
        return tuple(None if bound is None else bound.value for bound in found)

    def fits(self, plan: Plan, entry: Entry, captured: dict[str, int], rows: list[tuple[Axis, int, Any]]) -> bool:
        """Whether its axes are all as expected; what is not is told."""
        expected, known = list(entry.shape), True
        bad: list[Misfit] = []
        for axis, position, size in rows:
            try:
                misfit = self.misfit(axis, position, size, entry, captured, expected)
            except Unbound as error:
                why = self.unsolved.get((plan.number, entry.where, position))
                if why is None:
                    known = False
                    self.cannot(error.name, plan)
                    continue
                misfit = Misfit(*label(axis, position, entry), f"{size}; {why}")
            except Inexact as error:
                origins = "" if str(error).endswith("]") else self.origins(axis.names(), entry, captured)
                # What is given is at odds with itself, not the data; but a remainder leaves no size that would do.
                if self.given(axis, captured) and not isinstance(error, Remainder):
                    known = False
                    sentence = f"{plan.rule.key} axis {position} ({axis}): {error}{bracketed(origins)}"
                    self.tell("ambiguous", sentence)
                    continue
                misfit = Misfit(*label(axis, position, entry), f"{size}; {error}", origins)
            if misfit is not None:
                bad.append(misfit)
        self.misfits(plan, entry, captured, rows, bad, tuple(expected))
        return known and not bad

    def misfits(
        self,
        plan: Plan,
        entry: Entry,
        captured: Mapping[str, int],
        rows: list[tuple[Axis, int, Any]],
        bad: list[Misfit],
        wanted: tuple[int, ...],
    ) -> None:
        """Tells what is wrong with the axes of a tensor."""
        if not bad:
            return
        free = frozenset(position for axis, position, _ in rows if self.is_free(axis, plan, entry))
        for same in merged([each for each in bad if self.is_news(each, entry)], plan, entry, wanted, free):
            off = hints.Off(self.compiled, plan, entry, wanted, rows, free, self.lookup(entry, captured))
            cause = plan.number, same[0].name, *(each.number for each in same)
            more = {"origin": same[0].origin, "off": same[0].off, "cause": cause, "hint": self.hint(off)}
            self.fault("axis", plan, entry, sentence(same), **more)

    def is_news(self, misfit: Misfit, entry: Entry) -> bool:
        """Whether it has not been told of another axis: that a dim is out of its bounds is one fault."""
        if not misfit.about:
            return True
        called = misfit.name, misfit.number
        return called == self.about.setdefault((*self.key(misfit.about, entry), misfit.what), called)

    def hint(self, off: hints.Off) -> str:
        """The likely cause; tensors that are off alike are asked about once."""
        key = (off.plan.number, off.entry.dtype, off.entry.shape, off.wanted)
        if key not in self.hinted:
            self.hinted[key] = hints.of_shape(off)
        return self.hinted[key]

    def is_free(self, axis: Axis, plan: Plan, entry: Entry) -> bool:
        """Whether nothing but tensors of this rule says what size it has, and that by this axis."""
        if axis.term is None:
            return axis.run is None and axis.choices is None
        name = axis.dim
        return (
            name is not None and name not in self.constants and self.voters.get(self.key(name, entry)) == {plan.number}
        )

    def given(self, axis: Axis, captured: Mapping[str, int]) -> bool:
        """Whether its expectation is made of constants alone."""
        return axis.term is None or all(
            name in self.constants or name in captured for name in arithmetic.names(axis.term)
        )

    def misfit(
        self, axis: Axis, position: int, size: Any, entry: Entry, captured: Mapping[str, int], expected: list[int]
    ) -> Misfit | None:
        """What is wrong with this size."""
        lookup = self.lookup(entry, captured)
        if axis.run is not None:
            return self.misfit_of_run(axis.run, size, entry) if axis.run else None
        if axis.broadcast and size == 1:
            return None
        if axis.term is not None:
            wanted = arithmetic.size(axis.term, lookup)
            if wanted < 0:
                raise Inexact(f"{axis.term} = {arithmetic.substituted(axis.term, lookup)} = {wanted}, which is no size")
            if wanted != size:
                if 0 <= position < len(expected):
                    expected[position] = wanted
                because, origin = self.because(axis.term, wanted, entry, captured)
                return Misfit(*label(axis, position, entry), f"{size}, expected {because}", origin, size - wanted)
        own = self.compiled.bounds.get(axis.dim or "")
        for bounds in filter(None, (axis, own)):
            broken = broken_bound(bounds, size, lookup)
            if broken:
                inner = sorted({n for a in (axis, own) if a for n in a.names() if n != axis.dim})
                origin, about = self.origins(inner, entry, captured), (axis.dim or "") if bounds is own else ""
                return Misfit(*label(axis, position, entry), f"{size}, {broken}", origin, about=about)
        return None

    def misfit_of_run(self, run: str, sizes: Any, entry: Entry) -> Misfit | None:
        bound = self.bound[f"*{run}", self.key(run, entry)[1]]
        what = f"{list(sizes)}, expected {list(bound.value)}"
        return None if bound.value == sizes else Misfit(f"axes *{run}", None, what, bound.origin)

    def because(self, term: Expr, wanted: int, entry: Entry, captured: Mapping[str, int]) -> tuple[str, str]:
        """`256 = kv*d = 2*128`, and where that comes from: `config.json num_key_value_heads=2, head_dim=128`."""
        if isinstance(term, arithmetic.Num):
            return str(wanted), ""
        worked = arithmetic.substituted(term, self.lookup(entry, captured))
        origin = self.origins(arithmetic.names(term), entry, captured)
        steps = "" if worked in (str(wanted), str(term)) else f" = {worked}"
        return f"{wanted} = {term}{steps}", "" if origin == f"{term}={wanted}" else origin

    def origins(self, inner: Iterable[str], entry: Entry, captured: Mapping[str, int]) -> str:
        """Where the values of names come from, in a row; those that have none are left out."""
        found = []
        for name in dict.fromkeys(inner):
            try:
                found.append(self.bound_for(name, entry, captured).origin)
            except (Unbound, Inexact):
                continue
        return joined(filter(None, found))

    def cannot(self, name: str, plan: Plan) -> None:
        """A name without a value: not a fault of the data, but no pass either. Told for the first rule that needs it."""
        if name in self.unbound:
            return
        self.unbound.add(name)
        if name.startswith("config.") and self.constants.missing:
            self.lacking.append(name.removeprefix("config."))
        elif name.startswith("config."):
            self.tell("missing", f"{self.constants.lack(name)}, which {plan.rule.key} needs")
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
                self.fault("forbidden", plan, entry, "unexpected: must not exist")
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
        value = arithmetic.evaluate(condition, self.constant) if condition is not None else False
        if isinstance(value, str):  # "false" is not false to Python
            raise Inexact(f"{condition} is {value!r}, neither true nor false")
        return bool(value)

    def absent_names(self, pattern: Pattern, found: list[tuple[Entry, dict[str, str]]]) -> list[str]:
        """Names that its ranges and choices stand for and that no tensor has, in order."""
        keys, rows = pattern.combinations(self.constant)
        here = set(map(picked(keys), (captured for _, captured in found)))
        return [pattern.filled(dict(zip(keys, row, strict=True))) for row in rows if row not in here]

    def present_somewhere(self, plan: Plan, found: list[tuple[Entry, dict[str, str]]]) -> None:
        assert plan.rule.name is not None
        file = self.files[0] if len(self.files) == 1 and "-of-" not in self.files[0] else ""
        for name in self.absent_names(plan.rule.name, found):
            self.out.faults.append(Fault("missing", plan.number, file, name, "missing"))
        if self.collections:
            self.present_in_collection(plan, plan.rule.name, found)

    def present_in_collection(self, plan: Plan, pattern: Pattern, found: list[tuple[Entry, dict[str, str]]]) -> None:
        """Files that are samples of one kind (the same names in several) must each hold what any of them holds."""
        by_file: dict[str, list[tuple[Entry, dict[str, str]]]] = {}
        for row in found:
            by_file.setdefault(row[0].file, []).append(row)
        for group, common in self.collections:
            if group & by_file.keys():
                # Parts of a data set are called like the shards of a checkpoint; which they are an index would say.
                why = f" in a file of one kind with others: {common} is in several" if "-of-" in min(group) else ""
                self.present_in_each(plan, pattern, sorted(group), by_file, why)

    def present_in_each(
        self,
        plan: Plan,
        pattern: Pattern,
        files: list[str],
        by_file: dict[str, list[tuple[Entry, dict[str, str]]]],
        why: str = "",
    ) -> None:
        for file in files:
            for name in self.absent_names(pattern, by_file.get(file, [])):
                self.out.faults.append(Fault("missing", plan.number, file, name, f"missing{why}"))

    @cached_property
    def collections(self) -> list[tuple[set[str], str]]:
        """Files of one kind, with the first name that several of them have."""
        if len(self.files) < 2:
            return []
        kinds = {file: re.sub(r"\d+", "0", file) for file in self.files if file not in self.shards}
        groups: dict[str, set[str]] = {}
        for file, kind in kinds.items():
            groups.setdefault(kind, set()).add(file)
        repeated: dict[str, str] = {}  # a whole copy beside its shards makes no samples of them
        for name, rows in self.by_name.items():
            if len(rows) > 1:
                n = Counter(kinds[file] for file in {entry.file for entry in rows} if file in kinds)
                for kind in (kind for kind in n if n[kind] > 1):
                    repeated.setdefault(kind, name)
        return [(group, repeated[kind]) for kind, group in groups.items() if kind in repeated]

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
        keys, rows = file.combinations(self.constant)
        there = set(map(picked(keys), (captured for _, captured in fitting)))
        for row in rows:
            if row not in there:
                name = file.filled(dict(zip(keys, row, strict=True)))
                self.out.faults.append(Fault("missing", plan.number, name, str(pattern), "missing: no such file"))
        by_file: dict[str, list[tuple[Entry, dict[str, str]]]] = {}
        for each in found:
            by_file.setdefault(each[0].file, []).append(each)
        self.present_in_each(plan, pattern, [name for name, _ in fitting], by_file)

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
                found = self.alike(plan, entry, {}, [(rule.value.axes[0], 0, n)])
                found.count = 1
                self.alikes[plan.number, "count"] = found
                self.sized.append((entry, {}, found))

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
            asked = [f for f in self.files if (f not in self.left if rule.file is None else self.in_file(plan, f))]
            if not asked and not rule.optional:
                self.tell("nothing_seen", f"{rule.key}: there is no file that could say it")
            for file in asked:
                row = self.metadata.get(file, {})
                if row is None or file in self.left:  # a file that could not be read is told as such
                    self.tell("unsupported", f"{file}: its metadata can't be told")
                elif key not in row:
                    self.not_told(plan, file, f"meta({key})", "missing: not in its metadata")
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
                what = f"{json.dumps(grammar._plain(value))[:200]}, expected {rule.wanted}"
                self.out.faults.append(Fault("meta", plan.number, file, name, what, cause=(plan.number,)))
            return
        row = list(value) if isinstance(value, (list, tuple)) else [value]
        if not all(isinstance(each, (int, float)) for each in row):
            self.out.faults.append(Fault("meta", plan.number, file, name, "holds no numbers"))
            return
        entry = Entry(file, name, "i64", (len(row),) if isinstance(value, (list, tuple)) else ())
        self.lists[file, name] = row
        for axis, position, size in laid_out(rule.value.axes, entry.shape) or () if rule.value.axes is not None else ():
            misfit = self.misfit(axis, position, size, entry, {}, [size])
            if misfit is not None:
                self.misfits(plan, entry, {}, [], [misfit], entry.shape)
        for part in predicates.conjuncts(rule.value.predicate):
            self.one_value(plan, entry, {}, part)

    def extras(self, matches: list[list[tuple[Entry, dict[str, str]]]]) -> None:
        met = {id(entry) for rows in matches for entry, _ in rows}
        left = [entry for entry in self.entries if id(entry) not in met]
        if left:
            named = {(entry.file, entry.name) for rows in matches for entry, _ in rows}
            named |= {(e.file, e.name) for e in self.companions}
            said = {str(plan.rule.name) for plan in self.compiled.plans if plan.rule.kind == "meta"}
            left = [e for e in left if (e.file, e.name) not in named and e.name not in said]
        self.out.extra = len(left) + self.out.examined - len(self.entries)  # what is ignored is named by nobody either
        if self.strict:
            self.out.faults.extend(
                Fault("extra", len(self.compiled.plans), e.file, e.name, "unexpected: not in the spec") for e in left
            )

    # Values and relations.

    def values(self, plan: Plan, found: list[tuple[Entry, dict[str, str]]]) -> None:
        parts = predicates.conjuncts(plan.rule.value.predicate)
        finite = self.finite and not _speaks_of_values(plan.rule.value.predicate)
        if plan.rule.kind != "tensor" or plan.rule.forbidden or not (parts or finite):
            return
        speeches = [self.asked(plan, part) for part in parts]
        for entry, captured in found:
            for number, (part, speech) in enumerate(zip(parts, speeches, strict=True)):
                key = speech and (plan.number, number, *self.differing(speech, entry, captured))
                want = self.wanted_alike.get(key) if key else None
                if want is None:
                    want = self.one_value(plan, entry, numbers_of(captured), part)
                    if want is not None and key:
                        self.wanted_alike[key] = want
                else:
                    want.entries.append(entry)
            if finite and is_inexact(entry.dtype):
                self.want(plan, entry, FINITE, ["finite"])

    def asked(self, plan: Plan, part: predicates.Predicate) -> Speech | None:
        """What a word about values speaks of that may differ; None for words that look at more than values."""
        if not predicates.needs_values(part) or predicates.relates(part):
            return None
        return alike.speech_of(predicates.names(part), plan, self.compiled)

    def differing(self, speech: Speech, entry: Entry, captured: Mapping[str, str]) -> tuple[Any, ...]:
        """What these are for this tensor: where they agree, so does all that is asked."""
        return *(captured[name] for name in speech.inner), *self.narrow_dims(speech, entry)

    def target(self, entry: Entry, name: str) -> tuple[str, str]:
        """(name, file) of the tensor that a relation names: in the same file if it is there, else in any."""
        rows = self.by_name.get(name, [])
        near = [row for row in rows if row.file == entry.file] or rows
        if not near:
            raise Absent(name)
        return name, near[0].file

    def one_value(self, plan: Plan, entry: Entry, captured: dict[str, int], part: predicates.Predicate) -> Want | None:
        """What is to be looked at, if it is values."""
        try:
            if isinstance(part, predicates.Atom) and part.word == "companion":
                self.companion(plan, entry, captured, part)
            elif predicates.needs_values(part) or predicates.relates(part):
                return self.want(plan, entry, part, self.resolved(entry, captured, part))
            else:
                self.held(plan, entry, part)
        except Absent as error:
            self.out.faults.append(Fault("missing", plan.number, "", str(error), "missing"))
        except Unbound as error:
            self.cannot(error.name, plan)
        except Inexact as error:
            self.tell("ambiguous", f"{plan.rule.key}: {error}")
        return None

    def resolved(self, entry: Entry, captured: Mapping[str, int], part: predicates.Predicate) -> list[Any]:
        return predicates.resolved(part, self.lookup(entry, captured), lambda name: self.target(entry, name))

    def want(self, plan: Plan, entry: Entry, part: predicates.Predicate, resolved: list[Any], suffix: str = "") -> Want:
        """suffix: of a companion, whose numbers are those of the tensor that it belongs to."""
        key = json.dumps([plan.number, resolved])
        if key not in self.wanted:
            whence = partial(self.whence, plan, part, suffix)
            self.wanted[key] = Want(resolved, str(part), [], plan.number, whence)
            self.out.wants.append(self.wanted[key])
        self.wanted[key].entries.append(entry)
        return self.wanted[key]

    def whence(self, plan: Plan, part: predicates.Predicate, suffix: str, file: str, name: str) -> str:
        """Where the numbers of a word come from: a config key, or the value of a dim and the axis that bound it."""
        owner = predicates.owner_of(name, suffix) if suffix else name
        rows = self.by_name.get(owner, ())
        entry = next((row for row in rows if row.file == file), rows[0] if rows else Entry(file, owner, "", ()))
        match = plan.regex.fullmatch(owner) if plan.regex else None
        captured = numbers_of(match.groupdict()) if match else {}
        return joined(self.sourced(inner, entry, captured) for inner in predicates.names(part))

    def sourced(self, name: str, entry: Entry, captured: Mapping[str, int]) -> str:
        """`config.json vocab_size=320`, or `v=320, embed.weight axis 0`."""
        bound = self.bound_for(name, entry, captured)
        given = name in self.constants or name in captured
        return bound.origin if given else f"{name}={bound.value}, {bound.origin}"

    def companion(self, plan: Plan, entry: Entry, captured: dict[str, int], atom: predicates.Atom) -> None:
        """Its companion must exist, in any file of the check, with the shape that this tensor's dims give."""
        suffix, text = atom.arguments
        name = predicates.companion_of(entry.name, suffix)
        value = grammar.parse_value(text)
        rows = self.by_name.get(name, [])
        if not rows:
            self.out.faults.append(
                Fault("missing", plan.number, "", name, f"missing: the companion of {entry.dtype} {plan.rule.name}")
            )
            return
        self.companions += rows
        speech = self.companion_speech(plan, atom, value)
        dims = tuple(captured.get(name) for name in speech.inner) + self.narrow_dims(speech, entry)
        for other in rows:
            key = (id(atom), other.dtype, other.shape, dims)
            if key in self.fitting:
                for want in self.fitting[key]:
                    want.entries.append(other)
                continue
            before = len(self.out.faults), len(self.out.unknown)
            wants = self.companion_wants(plan, entry, captured, value, other, suffix)
            related = value.predicate is not None and predicates.relates(value.predicate)
            if before == (len(self.out.faults), len(self.out.unknown)) and not related:
                self.fitting[key] = wants

    def companion_speech(self, plan: Plan, atom: predicates.Atom, value: Value) -> Speech:
        if id(atom) not in self.spoken:
            found = [name for axis in value.axes or () for name in axis.names()]
            found += predicates.names(value.predicate) if value.predicate else ()
            self.spoken[id(atom)] = alike.speech_of(found, plan, self.compiled)
        return self.spoken[id(atom)]

    def companion_wants(
        self, plan: Plan, entry: Entry, captured: dict[str, int], value: Value, other: Entry, suffix: str
    ) -> list[Want]:
        """What is to be looked at in a companion; where its dtype or shape does not fit, that is told."""
        if value.dtypes is not None and other.dtype not in value.dtypes:
            self.dtype_fault(plan, other, value.dtypes)
        laid = laid_out(value.axes, other.shape) if value.axes is not None else []
        if laid is None:
            self.rank_fault(plan, other, value, entry, captured)
        for axis, position, size in laid or ():
            # Its dims are those of the tensor that it belongs to, so they are looked up there.
            wanted = arithmetic.size(axis.term, self.lookup(entry, captured)) if axis.term is not None else size
            if wanted != size and axis.term is not None:
                lookup = self.lookup(entry, captured)
                worked = arithmetic.substituted(axis.term, lookup)
                what = f"axis {position} ({axis}): {size}, expected {wanted} = {worked}"
                origin, cause = f"{entry.name} is {list(entry.shape)}", (plan.number, suffix, position)
                hint = hints.of_parts(axis.term, size, lookup, other.dtype)
                self.fault("axis", plan, other, what, origin=origin, cause=cause, off=size - wanted, hint=hint)
        parts = predicates.conjuncts(value.predicate)
        return [self.want(plan, other, part, self.resolved(entry, captured, part), suffix) for part in parts]

    def held(self, plan: Plan, entry: Entry, part: predicates.Predicate) -> None:
        """Words about how a tensor is held: device, strides, storage."""
        verdict, words = held_as(part, PLAIN if entry.extra is None else entry.extra)
        if verdict is None:
            self.tell("unsupported", f"{entry.where}: can't tell whether it is {part}: {words}")
        elif not verdict:
            self.fault("held", plan, entry, f"{words}, expected {part}")


NO_TENSOR = ("a ", "an ")
"""How the dtype begins of what is none: a list, an int."""


def numbers_of(captured: Mapping[str, str]) -> dict[str, int]:
    """What a name says in numbers, to be used in the axes."""
    return {name: int(text) for name, text in captured.items() if text is not None and text.isdigit()}


def _sizes_of(axes: tuple[Axis, ...], sizes: list[int | None]) -> str:
    """`[H*d h] = [64 64]`: the axes as they are written, and with what is known of their sizes."""
    shown = [str(axis) for axis in axes]
    known = [text if size is None else str(size) for text, size in zip(shown, sizes, strict=True)]
    return f"[{' '.join(shown)}]" + (f" = [{' '.join(known)}]" if known != shown else "")


def picked(keys: tuple[str, ...]) -> Callable[[Mapping[str, str]], tuple[str, ...]]:
    """What takes these out of a mapping, as a tuple."""
    if len(keys) > 1:
        return itemgetter(*keys)
    return (lambda found: (found[keys[0]],)) if keys else (lambda found: ())


def _speaks_of_values(predicate: predicates.Predicate | None) -> bool:
    return predicate is not None and predicates.needs_values(predicate)


def _parsed(text: str) -> Any:
    """A metadata text as the JSON that it may be."""
    try:
        return json.loads(text)
    except ValueError:
        return text
