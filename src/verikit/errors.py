"""What can be raised, and why something could not be seen.

    Exception
    └── VerikitError
        ├── Unseen                 a look that could not be answered, with its Cause; ends as UNKNOWN, never escapes `verify`
        ├── VerificationFailed     Report.raise_for_verdict() on FAIL
        └── Undecided              Report.raise_for_verdict() and bool(report) on UNKNOWN

Wrong use is `ValueError` or `TypeError`, raised where the check is built.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verikit.report import Report


class Cause(str, Enum):
    """Why a claim is UNKNOWN. The set is closed: tools may branch on it."""

    UNREACHABLE = "unreachable"
    AUTH_FAILED = "auth_failed"
    HOST_KEY = "host_key"
    CONNECTION_LOST = "connection_lost"
    TIMEOUT = "timeout"
    PERMISSION = "permission"
    MISSING = "missing"
    NOTHING_SEEN = "nothing_seen"
    AMBIGUOUS = "ambiguous"
    NO_PYTHON = "no_python"
    TOOL_MISSING = "tool_missing"
    UNSUPPORTED = "unsupported"
    TRUNCATED_REPLY = "truncated_reply"
    CHANGED_WHILE_READING = "changed_while_reading"
    BOUND_REACHED = "bound_reached"
    PROBE_ERROR = "probe_error"
    NOT_RUN = "not_run"
    CANCELLED = "cancelled"

    def __str__(self) -> str:
        return self.value

    def __repr__(self) -> str:
        return f"Cause.{self.name}"

    @property
    def final(self) -> bool:
        """Whether looking again can't help: nobody is retried into a ban."""
        return self in _FINAL


_FINAL = frozenset({Cause.AUTH_FAILED, Cause.HOST_KEY, Cause.NO_PYTHON, Cause.TOOL_MISSING, Cause.UNSUPPORTED})

# What the operating system says about a path, as the cause of not having seen it.
# Everything it can say beyond these is a fault of the probe's own making: probe_error, with the text kept.
_ERRNO = {
    errno.ENOENT: Cause.MISSING,
    errno.ENOTDIR: Cause.MISSING,
    errno.EACCES: Cause.PERMISSION,
    errno.EPERM: Cause.PERMISSION,
    errno.ELOOP: Cause.UNSUPPORTED,
    errno.ENAMETOOLONG: Cause.UNSUPPORTED,
    errno.EISDIR: Cause.UNSUPPORTED,
    errno.ENXIO: Cause.UNSUPPORTED,
    errno.ETIMEDOUT: Cause.TIMEOUT,
    errno.ESTALE: Cause.CHANGED_WHILE_READING,
    errno.EIO: Cause.UNSUPPORTED,
    errno.ENOMEM: Cause.BOUND_REACHED,
    errno.EMFILE: Cause.BOUND_REACHED,
    errno.ENFILE: Cause.BOUND_REACHED,
}


def cause_of_errno(number: int | None) -> Cause:
    """The Cause for an errno that a probe met on its host."""
    return _ERRNO.get(number or 0, Cause.PROBE_ERROR)


class VerikitError(Exception):
    """Base of what verikit itself raises."""


class Unseen(VerikitError):
    """A look that could not be answered. `cause` says which way, `facts` what is known all the same."""

    def __init__(self, cause: Cause | str, reason: str, facts: Mapping[str, Any] | None = None) -> None:
        super().__init__(reason)
        self.cause = Cause(cause)
        self.reason = reason
        self.facts: Mapping[str, Any] = facts or {}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.cause, self.reason, dict(self.facts))


class _Verdictive(VerikitError):
    """Carries the `report` that raised; the message is the deciding part of its tree."""

    def __init__(self, message: str, report: Report | None = None) -> None:
        super().__init__(message)
        self.report = report

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.report)


class VerificationFailed(_Verdictive):
    """The evidence shows that the claim is false."""


class Undecided(_Verdictive):
    """The evidence could not be had, so the claim is neither true nor false."""
