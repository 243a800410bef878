"""Counts over all hosts together (`files(hs_*.pt)@check: 10000`): each host tells its share, and their sum is judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from verikit.spec.arithmetic import Unbound
from verikit.spec.compiled import Compiled, Constants, Plan
from verikit.spec.rows import Bound, Entry
from verikit.spec.solving import Solving
from verikit.spec.unfit import misfit_of
from verikit.text import count

LISTED = 8
"""Hosts whose shares a sentence tells."""


class Total(NamedTuple):
    """What the shares come to. fits: None where that can't be told."""

    fits: bool | None
    sentence: str


def totals(compiled: Compiled, told: Mapping[str, Mapping[str, Any]]) -> Iterable[Total]:
    """The sum of each `@check` count. told: by host, the rows of `presence.share` by the key of their rule."""
    for plan in compiled.plans:
        rows = {host: shares[plan.rule.key] for host, shares in told.items() if plan.rule.key in shares}
        if rows:
            yield _total(compiled, plan, rows)


def _total(compiled: Compiled, plan: Plan, rows: Mapping[str, Mapping[str, Any]]) -> Total:
    hosts = next(iter(rows.values()))["hosts"]
    shares = ", ".join(f"{host} {row['n']:,}" for host, row in list(rows.items())[:LISTED])
    more = f" and {count(len(rows) - LISTED, 'more host')}" if len(rows) > LISTED else ""
    if len(rows) < hosts:
        seen = f"{plan.rule.key}: seen on {len(rows)} of {count(hosts, 'host')} ({shares}{more})"
        return Total(None, f"{seen}, so the total can't be told")
    total = sum(row["n"] for row in rows.values())
    word = _misfit(compiled, plan, total, [row["given"] for row in rows.values()])
    if word:
        return Total(False, f"{plan.rule.key} {word} over {count(hosts, 'host')} ({shares}{more})")
    return Total(True, f"{plan.rule.key}: {total:,} over {count(hosts, 'host')} ({shares}{more})")


def _misfit(compiled: Compiled, plan: Plan, total: int, given: Sequence[Mapping[str, Any]]) -> str:
    """What is wrong with the sum, or nothing; bounds may have come out differently by host, and each must hold."""
    entry = Entry("", plan.rule.key, "", (total,))
    for names in given:
        axis = (plan.rule.value.axes or ())[0]
        free = {axis.dim: (total, "")} if axis.dim else {}  # a name that nothing else binds is the sum
        solving = Solving(compiled, [], [], Given({**free, **names}))
        misfit = misfit_of(solving, axis, 0, total, entry, {}, [total])
        if misfit is not None:
            return str(misfit)
    return ""


class Given(Constants):
    """Names with the values that one host had for them."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._file, self.missing = "config", ""
        self._known = {name: Bound(value, origin) for name, (value, origin) in names.items()}

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def get(self, name: str) -> Bound:
        """Raises Unbound with the name."""
        if name not in self._known:
            raise Unbound(name)
        return self._known[name]
