"""PortOpen: somebody listens on a TCP port, and it is who was meant. `~PortOpen(port)` says that it is free."""

from __future__ import annotations

from typing import Any

import attrs

from verikit.check import Check, Facts, Look
from verikit.errors import Cause
from verikit.finding import Finding
from verikit.probes import port as probe
from verikit.text import bounded, count, mask
from verikit.values import regex, whole
from verikit.verdict import FAIL, PASS, UNKNOWN


def _port(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"port is a TCP port, 1 to 65535; got {value!r}")
    if not 1 <= value <= 65535:
        raise ValueError(f"port is a TCP port, 1 to 65535; got {value!r}")
    return value


def _by(value: Any) -> int | str | None:
    if value is None:
        return None
    return whole("by", value, least=1, unit="a process") if isinstance(value, int) else regex("by", value)


@attrs.frozen(repr=False)
class PortOpen(Check):
    """A socket of the host listens on the TCP port.

    by: who must hold it, a pid or a pattern of the command line, of the holder or of a process above it; where the port
    is held on several addresses, on each of them.  `~PortOpen(8000)` claims that the port is free, and names the holder.
    Listening is not answering: `HttpHealthy` asks.
    """

    port: int = attrs.field(converter=_port)
    by: int | str | None = attrs.field(default=None, converter=_by, kw_only=True)

    def look(self) -> Look:
        return Look(probe.listeners, port=self.port, by=self.by)

    def judge(self, facts: Facts) -> Finding:
        if facts["forwarded"]:
            return self._forwarded(facts)
        if not facts["sockets"]:
            return Finding(FAIL, f"port {self.port}: nobody listens{_lingering(facts)}", facts=facts)
        reason = f"port {self.port}: " + "; ".join(_socket(socket) for socket in facts["sockets"])
        if self.by is None:
            return Finding(PASS, reason, facts=facts, warnings=_warnings(facts))
        strangers = [socket for socket in facts["sockets"] if not any(holder["meant"] for holder in socket["holders"])]
        if not strangers:
            return Finding(PASS, reason, facts=facts, warnings=_warnings(facts))
        if all(not socket["holders"] for socket in strangers):
            return Finding(UNKNOWN, f"{reason}; {self._wanted}", facts=facts, cause=Cause.PERMISSION)
        return Finding(FAIL, f"{reason}; {self._wanted}", facts=facts)

    @property
    def _wanted(self) -> str:
        return f"expected pid {self.by}" if isinstance(self.by, int) else f"expected {self.by!r}"

    def _forwarded(self, facts: Facts) -> Finding:
        reason = (
            f"port {self.port}: accepts connections, though no socket of this host listens (forwarded to a container?)"
        )
        if self.by is None:
            return Finding(PASS, reason, facts=facts)
        return Finding(UNKNOWN, f"{reason}; {self._wanted}", facts=facts, cause=Cause.UNSUPPORTED)


def _socket(socket: Facts) -> str:
    return f"{socket['address']} is held by {_holders(socket)}"


def _holders(socket: Facts) -> str:
    if not socket["holders"]:
        return "a process that this account may not look into" + (
            f" (user {socket['uid']})" if socket["uid"] is not None else ""
        )
    first, rest = socket["holders"][0], socket["holders"][1:]
    more = f" and {count(len(rest), 'other')}" if rest else ""
    return f"pid {first['pid']} ({bounded(mask(first['command']), 100)}){more}"


def _lingering(facts: Facts) -> str:
    if not facts["time_wait"]:
        return ""
    return (
        f"; {count(facts['time_wait'], 'closed connection')} in TIME_WAIT may still hinder a bind without SO_REUSEADDR"
    )


def _warnings(facts: Facts) -> list[str]:
    waiting = sum(socket["waiting"] or 0 for socket in facts["sockets"])
    return [f"{count(waiting, 'connection')} not yet accepted: the server may hang"] if waiting > 8 else []
