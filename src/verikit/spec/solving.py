"""One solving: what is known of the tensors and the dims of one host, and what has been told of them.

All that a solving does asks it and tells it: `solve` in what order, `unfit`, `presence`, `wanted` and `told` what.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

from verikit.spec import alike, arithmetic, names
from verikit.spec.alike import Alike, Speech
from verikit.spec.arithmetic import Inexact, Unbound
from verikit.spec.compiled import Compiled, Constants, Plan
from verikit.spec.grammar import Axis
from verikit.spec.names import Pattern
from verikit.spec.rows import Bound, Entry, Fault, Outcome, Want, joined


class Solving:
    """The tensors of one host against one compiled spec."""

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

    # Its tensors and files.

    @cached_property
    def by_name(self) -> dict[str, list[Entry]]:
        found: dict[str, list[Entry]] = {}
        for entry in self.entries:
            found.setdefault(entry.name, []).append(entry)
        return found

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

    def named(self, entry: Entry) -> Entry:
        """An array without a name, as npy has it, answers to the only name that must be there, or to that of its file."""
        every = [rule for rule in self.compiled.spec.rules if rule.kind == "tensor"]
        rules = [rule for rule in every if not rule.optional and not rule.forbidden] or every
        if len(rules) == 1 and rules[0].name is not None and rules[0].name.exact:
            return entry._replace(name=str(rules[0].name))
        stem = entry.file.rpartition("/")[2].rpartition(".")[0]
        return entry._replace(name=stem or "tensor")

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

    def is_bound(self, name: str, entry: Entry, captured: Mapping[str, int]) -> bool:
        return name in captured or name in self.constants or self.key(name, entry) in self.bound

    def narrow_dims(self, speech: Speech, entry: Entry) -> tuple[Any, ...]:
        """What the dims that are not the same everywhere are for this tensor: where they agree, so does all else."""
        if not speech.narrow:
            return ()
        found = (self.bound.get((name, self.key(name.lstrip("*"), entry)[1])) for name in speech.narrow)
        return tuple(None if bound is None else bound.value for bound in found)

    def origins(self, inner: Iterable[str], entry: Entry, captured: Mapping[str, int]) -> str:
        """Where the values of names come from, in a row; those that have none are left out."""
        found = []
        for name in dict.fromkeys(inner):
            try:
                found.append(self.bound_for(name, entry, captured).origin)
            except (Unbound, Inexact):
                continue
        return joined(filter(None, found))

    def excused(self, plan: Plan) -> bool:
        """Whether its condition allows it to be absent; raises if the config does not say (defaults are not in its file)."""
        condition = plan.rule.optional_if
        value = arithmetic.evaluate(condition, self.constant) if condition is not None else False
        if isinstance(value, str):  # "false" is not false to Python
            raise Inexact(f"{condition} is {value!r}, neither true nor false")
        return bool(value)

    def alike(self, plan: Plan, entry: Entry, captured: Mapping[str, str], rows: list[tuple[Axis, int, Any]]) -> Alike:
        numbers = numbers_of(captured)
        return Alike(plan, rows, entry, lambda name: name in numbers or name in self.constants, self.compiled.scopes)

    # What is told.

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

    def not_known(self, plan: Plan, error: Exception) -> None:
        if isinstance(error, Unbound):
            self.cannot(error.name, plan)
        else:
            self.tell("ambiguous", f"{plan.rule.key}: {error}")

    def tell(self, cause: str, sentence: str) -> None:
        if (cause, sentence) not in self.out.unknown:
            self.out.unknown.append((cause, sentence))

    def fault(self, kind: str, plan: Plan, entry: Entry, what: str, **more: Any) -> None:
        self.out.faults.append(Fault(kind, plan.number, entry.file, entry.name, what, **more))


def numbers_of(captured: Mapping[str, str]) -> dict[str, int]:
    """What a name says in numbers, to be used in the axes."""
    return {name: int(text) for name, text in captured.items() if text is not None and text.isdigit()}
