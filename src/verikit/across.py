"""What hosts say together: claims that hold on each host by itself may still disagree with each other.

A leaf that has something to say of several hosts at once defines `across`; `.on` asks it once all hosts have answered, and
what it finds counts as one part more. Only leaves that the claim needs on every host are asked: beneath `|`, `~` or
`at_least`, a host that differs may be meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verikit.check import (
    After,
    AllOf,
    Check,
    Consistently,
    Eventually,
    Named,
    On,
    Then,
    Timeout,
    parts_of,
)
from verikit.errors import Cause
from verikit.finding import Finding, Result, unseen
from verikit.hosts.base import traceback_of

ALL_NEEDED = (AllOf, Named, Then, Timeout, After, Eventually, Consistently)


def held_together(check: On) -> bool:
    """Whether the findings of its hosts are held together in the end."""
    return check.at_least is None and len(check.hosts) > 1 and _compares(check.part)


def _compares(check: Check) -> bool:
    """Whether some leaf that is needed on every host has something to say of them together."""
    if isinstance(check, ALL_NEEDED):
        return any(_compares(part) for part in parts_of(check))
    return type(check).across is not Check.across


def across(check: Check, results: Sequence[Result]) -> list[Result]:
    """What the leaves of a claim find of its results on several hosts; nothing where they agree."""
    return [result for leaf, found in _needed(check, results) if (result := _compared(leaf, found)) is not None]


def _needed(check: Check, results: Sequence[Result]) -> Iterator[tuple[Check, Sequence[Result]]]:
    if not isinstance(check, ALL_NEEDED):
        yield check, results
        return
    for n, part in enumerate(parts_of(check)):
        yield from _needed(part, [result.parts[n] for result in results if n < len(result.parts)])


def _compared(leaf: Check, results: Sequence[Result]) -> Result | None:
    findings = {each.host: each.finding for each in results if each.host is not None and each.finding is not None}
    if type(leaf).across is Check.across or len(findings) < 2:
        return None
    try:
        finding = leaf.across(findings)
        if finding is not None and not isinstance(finding, Finding):
            raise TypeError(f"{type(leaf).__name__}.across returned {finding!r}, neither a Finding nor None")
    except Exception as error:
        why = f"{type(leaf).__name__} failed to compare hosts: {type(error).__name__}: {error}"
        finding = unseen(Cause.PROBE_ERROR, why, traceback_of(error))
    if finding is None:
        return None
    finding = finding.safe()
    return Result(
        kind=type(leaf).__name__,
        title=f"{leaf.title}, hosts together",
        verdict=finding.verdict,
        can_become=finding.can_become,
        finding=finding,
    )
