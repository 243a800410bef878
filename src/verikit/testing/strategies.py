"""Hypothesis strategies for verdicts, findings and trees of checks."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from verikit.check import Check, at_least
from verikit.errors import Cause
from verikit.finding import Finding
from verikit.testing.fake import Stated
from verikit.verdict import UNKNOWN, Verdict

verdicts = st.sampled_from(Verdict)

NAMES = "abcdef"
HOSTS = ("gpu1", "gpu2", "root@gpu3:2222", "local")


def findings() -> st.SearchStrategy[Finding]:
    """Findings of every verdict, cause and finality."""

    def finding(verdict: Verdict, reason: str, cause: Cause, final: bool) -> Finding:
        return Finding(verdict, reason, cause=cause if verdict is UNKNOWN else None, final=final)

    return st.builds(finding, verdicts, st.text(min_size=1, max_size=40), st.sampled_from(Cause), st.booleans())


def leaves(names: str = NAMES) -> st.SearchStrategy[Check]:
    """Leaves that come to the verdict they are built with; equal names may differ in it."""
    return st.builds(
        lambda name, verdict, final: Stated(name, verdict=verdict, final=final),
        st.sampled_from(names),
        verdicts,
        st.booleans(),
    )


def trees(
    leaf: st.SearchStrategy[Check] | None = None, *, depth: int = 6, waits: bool = False
) -> st.SearchStrategy[Check]:
    """Trees of checks, at most `depth` nodes deep, over leaves without a host.

    waits: also `.after`, `.timeout`, `.eventually` and `.consistently`.
    """
    leaf = leaves() if leaf is None else leaf
    found = leaf
    for _ in range(depth - 1):
        found = st.one_of(leaf, _nodes(found, waits))
    return found


def _nodes(part: st.SearchStrategy[Check], waits: bool) -> st.SearchStrategy[Check]:
    some = st.lists(part, min_size=1, max_size=4)
    kinds: list[st.SearchStrategy[Any]] = [
        st.builds(lambda a, b: a & b, part, part),
        st.builds(lambda a, b: a | b, part, part),
        st.builds(lambda a: ~a, part),
        st.builds(lambda a, b: a.then(b), part, part),
        st.builds(lambda parts, k: at_least(1 + k % len(parts), *parts), some, st.integers(0, 3)),
        st.builds(lambda a, title: a.named(title), part, st.sampled_from(["ready", "a part"])),
        st.builds(
            lambda a, hosts, k: _on(a, hosts, k), part, st.sets(st.sampled_from(HOSTS), min_size=1), st.integers(0, 4)
        ),
    ]
    if waits:
        moments = st.sampled_from([0.5, 1.0, 3.0])
        kinds += [
            st.builds(lambda a, s: a.after(s), part, moments),
            st.builds(lambda a, s: a.timeout(s), part, moments),
            st.builds(lambda a, s, e: a.eventually(within=s, every=e), part, moments, moments),
            st.builds(lambda a, s, e: a.consistently(during=s, every=e), part, moments, moments),
        ]
    return st.one_of(kinds)


def _on(check: Check, hosts: set[str], k: int) -> Check:
    from verikit.check import unbound

    if not unbound(check):
        return check
    where = sorted(hosts)
    return check.on(*where, at_least=k) if 0 < k <= len(where) else check.on(*where)
