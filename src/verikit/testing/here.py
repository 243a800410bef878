"""Findings without a host: a check examined in this process, for tests of probes and judges."""

from __future__ import annotations

from verikit.address import Local
from verikit.check import Check, Look
from verikit.errors import Cause, Unseen
from verikit.finding import Finding, unseen
from verikit.hosts.base import HereHost, as_json
from verikit.verdict import FAIL


class _JsonHost(HereHost):
    async def ask(self, look: Look) -> object:
        return as_json(await super().ask(look))


def examine_here(check: Check) -> Finding:
    """The finding of a leaf whose probe runs right here, its facts having been through JSON as on the wire."""
    step = check.examine(_JsonHost(Local()))
    try:
        step.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    except Unseen as error:
        if error.cause is Cause.MISSING and check.absent is FAIL:
            return Finding(FAIL, error.reason, facts=dict(error.facts))
        return unseen(error.cause, error.reason, error.facts)
    raise RuntimeError(f"{check!r} waits for something else than its host")
