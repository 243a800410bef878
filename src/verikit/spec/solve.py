"""From tensors to faults: which rule is for which tensor, what the dims are, and what does not fit.

Order-free: all sizes are gathered first.  A dim that stands alone is bound by the most frequent size within its scope
(so that one odd file among thousands is the odd one); arithmetic is turned round where only that can bind; then every
axis is compared, and every fault is kept.

A mixture of experts has 10^5 tensors, but few shapes: tensors of one rule with one shape are `Alike`, are laid out and
counted once, and what fits one of them is not compared again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from verikit.spec import arithmetic
from verikit.spec.alike import Alike
from verikit.spec.arithmetic import Expr, Inexact, Unbound
from verikit.spec.compiled import Plan
from verikit.spec.fit import laid_out
from verikit.spec.grammar import Value
from verikit.spec.presence import counts, present, share
from verikit.spec.rows import Bound, Entry, Fault, Outcome
from verikit.spec.solving import Solving, numbers_of
from verikit.spec.told import told
from verikit.spec.unfit import compare, dtype_fault, rank_fault
from verikit.spec.wanted import values

KEYS = 4
"""Keys that are named of a config that is not there."""

NO_TENSOR = ("a ", "an ")
"""How the dtype begins of what is none: a list, an int."""


class Solver(Solving):
    """A solving from its tensors to its outcome."""

    def run(self) -> Outcome:
        matches = self.match()
        counts(self)
        for plan in self.compiled.plans:
            for entry, captured in matches[plan.number]:
                self.measure(plan, entry, captured, plan.rule.value)
        self.bind()
        for plan, entry, captured in self.misranked:
            rank_fault(self, plan, entry, plan.rule.value, entry, numbers_of(captured))
        for plan, n in self.shares:
            share(self, plan, n)
        for plan in self.compiled.plans:
            if plan.rule.kind == "tensor":
                present(self, plan, matches[plan.number])
        compare(self)
        for plan in self.compiled.plans:
            values(self, plan, matches[plan.number])
            told(self, plan)
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

    def measure(self, plan: Plan, entry: Entry, captured: dict[str, str], value: Value) -> None:
        """Its dtype, its rank, and which axis is which."""
        if plan.rule.forbidden:
            return
        if (value.dtypes is not None and entry.dtype not in value.dtypes) or entry.dtype.startswith(NO_TENSOR):
            dtype_fault(self, plan, entry, value.dtypes)
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

    # What the dims are.

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

    def whole_check_dims(self) -> dict[str, Bound]:
        dims: dict[str, Bound] = {}
        for name in self.compiled.exprs:
            try:
                dims[name] = self.constants.get(name)
            except (Unbound, Inexact):
                continue
        dims.update({name: bound for (name, scope), bound in self.bound.items() if scope == ""})
        return dims
