"""The three verdicts and their algebra: strong Kleene logic on FAIL < UNKNOWN < PASS.

`&` is the lower of two, `|` the higher, `~` the mirror image, and `kth_highest` lies between them:
"at least k of n" holds as firmly as the k-th highest of the n verdicts does.
Source: S. C. Kleene, Introduction to Metamathematics (1952), section 64, the strong tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NoReturn


class Verdict(Enum):
    """What the evidence says of a claim: `PASS` it holds, `FAIL` it does not, `UNKNOWN` it could not be seen."""

    FAIL = -1
    UNKNOWN = 0
    PASS = 1

    def __and__(self, other: Verdict) -> Verdict:
        return min(self, other) if isinstance(other, Verdict) else NotImplemented

    def __or__(self, other: Verdict) -> Verdict:
        return max(self, other) if isinstance(other, Verdict) else NotImplemented

    def __invert__(self) -> Verdict:
        return _MIRROR[self]

    def __lt__(self, other: Verdict) -> bool:
        return self._value_ < other._value_ if isinstance(other, Verdict) else NotImplemented

    def __le__(self, other: Verdict) -> bool:
        return self._value_ <= other._value_ if isinstance(other, Verdict) else NotImplemented

    def __gt__(self, other: Verdict) -> bool:
        return self._value_ > other._value_ if isinstance(other, Verdict) else NotImplemented

    def __ge__(self, other: Verdict) -> bool:
        return self._value_ >= other._value_ if isinstance(other, Verdict) else NotImplemented

    def __bool__(self) -> NoReturn:
        raise TypeError("a verdict has three values and no truth of its own; write `verdict is PASS`")

    def __repr__(self) -> str:
        return self._name_

    __str__ = __repr__


FAIL, UNKNOWN, PASS = Verdict.FAIL, Verdict.UNKNOWN, Verdict.PASS

_MIRROR = {FAIL: PASS, UNKNOWN: UNKNOWN, PASS: FAIL}


def all_of(verdicts: Iterable[Verdict]) -> Verdict:
    """The lowest of the verdicts, of which there must be at least one: nothing looked at is never a pass."""
    return min(verdicts)


def any_of(verdicts: Iterable[Verdict]) -> Verdict:
    """The highest of the verdicts, of which there must be at least one."""
    return max(verdicts)


def kth_highest(k: int, verdicts: Iterable[Verdict]) -> Verdict:
    """How firmly "at least k of these" holds: the k-th highest verdict, 1 <= k <= n."""
    return sorted(verdicts, reverse=True)[k - 1]
