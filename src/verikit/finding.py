"""What a judge decides (`Finding`) and the tree of findings that mirrors the tree of checks (`Result`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from verikit.errors import Cause
from verikit.text import clean, line
from verikit.values import Frozen, freeze, number
from verikit.verdict import FAIL, PASS, UNKNOWN, Verdict

Span = tuple[Verdict, Verdict]
"""(lowest, highest) verdict that a claim can still come to."""

OPEN: Span = (FAIL, PASS)

TOLD = 10
"""Leaves that decided, in one reason or one message."""

NAMED = 4
"""Hosts that are named before a reason which they share; the rest is counted."""

DEEPEST = 250
"""Levels of a stored result that are followed; no claim is as deep."""


def _warnings(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(map(str, value))


def _facts(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"facts is a mapping from names to JSON values; got {value!r:.200}")
    return freeze(value)  # type: ignore[no-any-return]


def _on(hosts: list[str]) -> str:
    """`on a: `, for a reason of one host or of several, of which the first few are named."""
    names = list(dict.fromkeys(hosts))
    more = len(names) - NAMED
    rest = f" and {more:,} more host{'s' * (more > 1)}" if more > 0 else ""
    return f"on {', '.join(names[:NAMED])}{rest}: " if names else ""


def _in_a_row(leaves: Iterable[Result], hosts: bool, most: int) -> str:
    """Each reason of these leaves once, with its hosts if they are to be told, up to so many."""
    hosts_of: dict[str, list[str]] = {}
    for leaf in leaves:
        reason = (
            leaf.reason.removeprefix(f"{leaf.host}: ") if hosts else leaf.reason
        )  # the host's own words begin with it
        hosts_of.setdefault(reason, []).extend([leaf.host] if leaf.host else [])
    told = [f"{_on(named) if hosts else ''}{reason}" for reason, named in hosts_of.items()]
    return "; ".join(told[:most]) + (f" (and {len(told) - most:,} more)" if len(told) > most else "")


def _line(value: str | None) -> str | None:
    return None if value is None else line(value)


@attrs.frozen
class Finding:
    """A verdict with its evidence.

    reason: one line, true whichever way the claim is folded: subject, expected, seen, with units.
    facts: JSON values; `coverage` among them says what was examined of how much.
    final: waiting longer can't change it.  Causes such as `host_key` are final by themselves.
    An UNKNOWN without a cause is `ambiguous`; a cause on any other verdict is refused (`ValueError`).
    """

    verdict: Verdict = attrs.field(validator=attrs.validators.instance_of(Verdict))
    reason: str = attrs.field(validator=attrs.validators.instance_of(str))
    facts: Mapping[str, Any] = attrs.field(factory=Frozen, converter=_facts, kw_only=True)
    warnings: tuple[str, ...] = attrs.field(default=(), converter=_warnings, kw_only=True)
    cause: Cause | None = attrs.field(default=None, kw_only=True)
    final: bool = attrs.field(default=False, kw_only=True, converter=bool)

    def __attrs_post_init__(self) -> None:
        if self.verdict is UNKNOWN:
            cause = Cause(self.cause or Cause.AMBIGUOUS)
            object.__setattr__(self, "cause", cause)
            object.__setattr__(self, "final", self.final or cause.final)
        elif self.cause is not None:
            raise ValueError(f"cause says why a claim is UNKNOWN; got {self.cause!r} on {self.verdict}")

    @property
    def can_become(self) -> Span:
        """What waiting could still make of it: nothing else when final, anything otherwise."""
        return (self.verdict, self.verdict) if self.final else OPEN

    def safe(self) -> Finding:
        """The same finding fit to be kept: a reason of one line, control characters escaped, secrets masked, all bounded."""
        return attrs.evolve(
            self, reason=line(self.reason), facts=clean(self.facts), warnings=tuple(map(line, self.warnings))
        )


@attrs.frozen(kw_only=True, repr=False)
class Result:
    """One node of the verified tree.

    kind: the class of the check, or `"host"` for one host of an `On`.  title: the claim as its author wrote it.
    finding: of a leaf, or of a node that speaks for itself (a deadline passed, a window not covered).
    parts: results of the parts, in their order.  host: where a leaf was looked at, or which host a part of `On` is.
    started: seconds since the epoch.  duration: seconds.
    earlier: looks of a waiting node that differed from the last: results, oldest first.
    note: what a waiting node says of its looks.
    """

    kind: str
    title: str = attrs.field(converter=line)
    verdict: Verdict
    can_become: Span
    finding: Finding | None = None
    parts: tuple[Result, ...] = ()
    host: str | None = attrs.field(default=None, converter=_line)
    started: float = 0.0
    duration: float = 0.0
    earlier: tuple[Result, ...] = ()
    note: str = attrs.field(default="", converter=line)

    @property
    def is_leaf(self) -> bool:
        """Whether it carries evidence of its own, rather than that of its parts."""
        return self.finding is not None or not self.parts

    @property
    def reason(self) -> str:
        """The leaf's reason; of a node that does not pass, those of all leaves that decided it, each once.

        Of a node that passes it is that of the first leaf, on all of its hosts.
        Where several hosts were looked at, each begins with its own: `on gpu02: …`, `on gpu02, gpu03: …`.
        """
        if self.is_leaf:
            return self.finding.reason if self.finding else self.note
        if self.verdict is PASS:
            return self._passed()
        return _in_a_row(self.deciders(), self.several_hosts, TOLD)

    def _passed(self) -> str:
        first = self.deciding
        alike = [leaf for leaf in self.deciders() if leaf.title == first.title]
        return _in_a_row(alike, True, NAMED) if len({leaf.host for leaf in alike if leaf.host}) > 1 else first.reason

    @property
    def several_hosts(self) -> bool:
        """Whether its leaves were looked at on more than one host."""
        return len({leaf.host for leaf in self.leaves() if leaf.host}) > 1

    @property
    def cause(self) -> Cause | None:
        """Why it is UNKNOWN, by the part which decided."""
        deciding = self.deciding
        return deciding.finding.cause if deciding.finding else None

    @property
    def deciding(self) -> Result:
        """The leaf that settled this verdict (the first of them, where several did)."""
        return next(self.deciders())

    def deciders(self) -> Iterator[Result]:
        """The leaves that settled this verdict: all of them, where several did, and none that was outvoted."""
        if self.is_leaf:
            yield self
            return
        wanted = ~self.verdict if self.kind == "Not" else self.verdict
        for part in [part for part in self.parts if part.verdict is wanted] or self.parts[:1]:
            yield from part.deciders()

    def __repr__(self) -> str:
        """One line: the verdict, where, of what, and why."""
        where = f"{self.host} · " if self.host else ""
        return f"<{type(self).__name__} {self.verdict.name}: {where}{self.title}: {self.reason}>"

    def leaves(self, verdict: Verdict | None = None) -> Iterator[Result]:
        """The results that carry evidence, in the order of the claim; of one verdict, if named."""
        if self.is_leaf:
            if verdict is None or self.verdict is verdict:
                yield self
        else:
            for part in self.parts:
                yield from part.leaves(verdict)

    def as_claimed(self, denied: bool = False) -> Iterator[Result]:
        """The leaves as the claim takes them: what stands beneath a `~` is `denied`, so that PASS is always as hoped."""
        if self.is_leaf:
            yield self.denied() if denied else self
        else:
            for part in self.parts:
                yield from part.as_claimed(denied != (self.kind == "Not"))

    def denied(self) -> Result:
        """The leaf as a `~` above it takes it: the mirror of its verdict, under a title that begins with `not`."""
        return attrs.evolve(self, title=f"not {self.title}", verdict=~self.verdict)

    def to_dict(self) -> dict[str, Any]:
        """JSON values; the form is that of `verikit.report/1`."""
        row: dict[str, Any] = {"kind": self.kind, "title": self.title, "verdict": self.verdict.name}
        row["can_become"] = [end.name for end in self.can_become]
        row["host"], row["started"], row["duration"] = self.host, self.started, self.duration
        if self.note:
            row["note"] = self.note
        if self.finding is not None:
            row["reason"] = self.finding.reason
            row["cause"] = self.finding.cause.value if self.finding.cause else None
            row["final"] = self.finding.final
            row["warnings"] = list(self.finding.warnings)
            row["facts"] = thaw_facts(self.finding.facts)
        row["parts"] = [part.to_dict() for part in self.parts]
        if self.earlier:
            row["earlier"] = [look.to_dict() for look in self.earlier]
        return row

    @classmethod
    def from_dict(cls, row: Mapping[str, Any], depth: int = 0) -> Result:
        """The result that `to_dict` wrote; unknown keys are left aside, as later versions only add."""
        if depth > DEEPEST:
            raise ValueError(f"a stored result is at most {DEEPEST} levels deep")
        low, high = row["can_become"]
        verdict = Verdict[row["verdict"]]
        return cls(
            kind=line(row["kind"]),
            title=row["title"],
            verdict=verdict,
            can_become=(Verdict[low], Verdict[high]),
            finding=_stored_finding(row, verdict) if "reason" in row else None,
            parts=tuple(cls.from_dict(part, depth + 1) for part in row.get("parts", ())),
            host=row.get("host"),
            started=number("started", row.get("started", 0.0)),
            duration=number("duration", row.get("duration", 0.0)),
            earlier=tuple(cls.from_dict(look, depth + 1) for look in row.get("earlier", ())),
            note=row.get("note", ""),
        )


def _stored_finding(row: Mapping[str, Any], verdict: Verdict) -> Finding:
    return Finding(
        verdict,
        row["reason"],
        facts=row.get("facts", {}),
        warnings=row.get("warnings", ()),
        cause=Cause(row["cause"]) if row.get("cause") else None,
        final=row.get("final", False),
    ).safe()


def thaw_facts(value: Any) -> Any:
    """Facts as plain lists and dicts, which `json` takes."""
    if isinstance(value, Mapping):
        return {key: thaw_facts(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [thaw_facts(item) for item in value]
    return value


def unseen(cause: Cause | str, reason: str, facts: Mapping[str, Any] | None = None) -> Finding:
    """UNKNOWN, with its cause."""
    return Finding(UNKNOWN, reason, cause=Cause(cause), facts=facts or {})
