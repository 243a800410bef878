"""A claim that is what its host says, and hosts that say it: for tests of how claims are run."""

from __future__ import annotations

import attrs

from verikit import FAIL, PASS, UNKNOWN, Check, Finding, Look
from verikit.testing import FakeHost

SAID = {"pass": PASS, "fail": FAIL, "gone": FAIL, "?": UNKNOWN}


def word(place, path):
    """Never run: hosts answer for it."""
    raise AssertionError("asked for real")


def other(place, path):
    """A second question."""
    raise AssertionError("asked for real")


@attrs.frozen(repr=False)
class Says(Check):
    """The host's word on a path is `pass`; `gone` is final."""

    path: str = "/x"

    def look(self):
        return Look(word, path=self.path)

    def judge(self, facts):
        return Finding(SAID[facts], f"{self.path} says {facts}", final=facts == "gone")


@attrs.frozen(repr=False)
class AlsoSays(Says):
    """The same by another question."""

    def look(self):
        return Look(other, path=self.path)


def host(name="gpu1", says="pass", also="pass", **options):
    """A made-up host that answers both questions."""
    return FakeHost(name, {word: says, other: also}, **options)
