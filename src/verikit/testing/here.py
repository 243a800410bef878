"""Findings without a host: a check examined in this process, for tests of probes and judges."""

from __future__ import annotations

from verikit.address import Local
from verikit.check import Check, Look
from verikit.finding import Finding
from verikit.hosts.base import HereHost, as_json
from verikit.walk import found, run_without_loop


class _JsonHost(HereHost):
    async def ask(self, look: Look) -> object:
        return as_json(await super().ask(look))


def examine_here(check: Check) -> Finding:
    """The finding of a leaf whose probe runs right here, its facts having been through JSON as on the wire."""
    return run_without_loop(found(check, _JsonHost(Local())))  # type: ignore[no-any-return]
