"""What went wrong on the way to an SSH host, as a Cause, in one table."""

from __future__ import annotations

import asyncio
import socket
import time
from typing import TYPE_CHECKING, Any

import asyncssh

from verikit.address import SSH
from verikit.errors import Cause, Unseen
from verikit.hosts.base import scarce

if TYPE_CHECKING:
    from verikit.hosts.ssh_settings import Settings

LOST = "lost"
"""Stands for what depends on how far the connection had come: unreachable before authentication, lost after it."""

# Every exception of asyncssh and the OS that can end an attempt; a test asks that asyncssh has none beside these.
# SFTP, processes and listeners are not used here: their rows only say that they would not be an answer either.
CAUSES: dict[type[BaseException], Cause | str] = {
    asyncssh.Error: LOST,
    asyncssh.DisconnectError: LOST,
    asyncssh.ConnectionLost: LOST,
    asyncssh.CompressionError: LOST,
    asyncssh.MACError: LOST,
    asyncssh.ProtocolError: LOST,
    asyncssh.ServiceNotAvailable: LOST,
    asyncssh.ProtocolNotSupported: Cause.UNSUPPORTED,
    asyncssh.KeyExchangeFailed: Cause.UNSUPPORTED,
    asyncssh.HostKeyNotVerifiable: Cause.HOST_KEY,
    asyncssh.IllegalUserName: Cause.AUTH_FAILED,
    asyncssh.PermissionDenied: Cause.AUTH_FAILED,
    asyncssh.PasswordChangeRequired: Cause.AUTH_FAILED,
    asyncssh.ChannelOpenError: Cause.UNREACHABLE,
    asyncssh.ChannelListenError: Cause.UNREACHABLE,
    asyncssh.SFTPError: LOST,
    asyncssh.ProcessError: LOST,
    asyncssh.TimeoutError: LOST,
    asyncssh.BreakReceived: LOST,
    asyncssh.SignalReceived: LOST,
    asyncssh.TerminalSizeChanged: LOST,
    asyncssh.ConfigParseError: Cause.UNSUPPORTED,
    asyncssh.KeyImportError: Cause.AUTH_FAILED,
    asyncssh.KeyExportError: Cause.AUTH_FAILED,
    asyncssh.KeyEncryptionError: Cause.AUTH_FAILED,
    asyncssh.KeyGenerationError: Cause.AUTH_FAILED,
    asyncio.TimeoutError: Cause.UNREACHABLE,
    socket.gaierror: Cause.UNREACHABLE,
    OSError: Cause.UNREACHABLE,
    ValueError: Cause.UNSUPPORTED,
    Exception: LOST,
}

# What is likely behind a connection that was dropped in this phase.
LIKELY = {
    "version": "dropped before the key exchange: MaxStartups, fail2ban, an overloaded or wrong host",
    "key exchange": "dropped during the key exchange: MaxStartups, fail2ban or an overloaded host",
    "auth": "dropped during authentication: too many keys tried, LoginGraceTime, or fail2ban",
}

# What is likely behind a time that was over in this phase.
LATE = {
    "tcp": "no answer: the host is down, or a firewall drops what is sent",
    "version": "it accepts connections and says nothing: no SSH server, or one that is stuck",
    "bootstrap": "it opens no session",
}


class Attempt:
    """One way to one host: how far it came, and when it began.

    phase: settings, tcp, version, key exchange, host key, auth, channel, bootstrap.
    through: the hosts for which this one is a jump host.
    """

    def __init__(self, address: SSH, through: tuple[str, ...] = ()) -> None:
        self.address = address
        self.through = through
        self.started = time.monotonic()
        self.phase = "settings"
        self.connection: Any = None
        self.refused_key: asyncssh.SSHKey | None = None
        self.settings: Settings | None = None

    def begin(self) -> None:
        """A connection is being tried, for the first time or again."""
        self.phase, self.connection = "tcp", None

    @property
    def reached(self) -> str:
        """The phase, told more exactly by what the connection knows."""
        if self.phase != "version" or self.connection is None:
            return self.phase
        if self.connection.get_server_host_key() is not None:
            return "auth"
        return "key exchange" if self.connection.get_extra_info("server_version") else "version"

    @property
    def dropped_early(self) -> bool:
        """Whether trying again can't count as another failed login."""
        return self.reached in ("tcp", "version", "key exchange")

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started


def unseen_ssh(error: BaseException, attempt: Attempt) -> Unseen:
    """Why a host could not be opened."""
    short = scarce(error, str(attempt.address))
    if short is not None:
        return short
    kind = next(kind for kind in type(error).__mro__ if kind in CAUSES)
    reached, cause = attempt.reached, CAUSES[kind]
    if reached == "bootstrap" and isinstance(error, asyncssh.ChannelOpenError):
        cause = Cause.UNSUPPORTED if "request failed" in str(error) else Cause.UNREACHABLE
    if isinstance(error, asyncssh.KeyExchangeFailed) and "host key" in str(error):
        cause = Cause.HOST_KEY
    if reached == "auth" and isinstance(error, asyncssh.DisconnectError) and "authentication" in str(error).lower():
        cause = Cause.AUTH_FAILED  # "Too many authentication failures": another round would be more of them
    if cause == LOST:
        cause = Cause.CONNECTION_LOST if reached in ("channel", "bootstrap") else Cause.UNREACHABLE
    facts = {"phase": reached, "seconds": round(attempt.seconds, 3), "error": type(error).__name__}
    return Unseen(cause, f"{attempt.address}: {_words(error, attempt, reached)}", facts)


def _words(error: BaseException, attempt: Attempt, reached: str) -> str:
    """What happened, as a person would say it, with the likely cause."""
    text = str(error) or type(error).__name__
    for kind, say in _SAY:
        if isinstance(error, kind):
            return say(text, attempt, reached)
    return f"{text} (phase: {reached})"


def _host_key(text: str, attempt: Attempt, reached: str) -> str:
    settings, key = attempt.settings, attempt.refused_key
    if settings is None or key is None:
        return f"the host key is refused: {text}"
    known = settings.known_keys(attempt.connection, attempt.address)
    shown = f"{key.get_algorithm()} {key.get_fingerprint()}"
    if known:
        seen = ", ".join(sorted({each.get_fingerprint() for each in known}))
        words = f"the host key has changed: it now shows {shown}, {settings.known_hosts_name} has {seen}"
        return f"{words}; the host was reinstalled, or this is another one"
    words = f"the host key is unknown: {shown} is not in {settings.known_hosts_name}; check it, then add it there"
    return words + settings.not_obeyed


def _permission(text: str, attempt: Attempt, reached: str) -> str:
    settings = attempt.settings
    if settings is None:
        return f"authentication refused: {text}"
    return f"authentication refused for user {settings.user_for(attempt.address)}: {settings.keys_tried}"


def _key_exchange(text: str, attempt: Attempt, reached: str) -> str:
    if "host key" in text:
        return f"the server does not offer a host key of a kind that is known for it: {text}"
    return f"no common algorithms: {text}"


def _dropped(text: str, attempt: Attempt, reached: str) -> str:
    if "Login timeout" in text:
        return _late(text, attempt, reached)
    return f"{text} after {attempt.seconds:.1f} s; {LIKELY.get(reached, f'phase: {reached}')}"


def _late(text: str, attempt: Attempt, reached: str) -> str:
    likely = LATE.get(reached, "the host is too slow")
    return f"not connected after {attempt.seconds:.1f} s (phase: {reached}); {likely}"


def _refused(text: str, attempt: Attempt, reached: str) -> str:
    return "connection refused: nothing listens on that port (sshd down, wrong port, or a firewall)"


def _resolve(text: str, attempt: Attempt, reached: str) -> str:
    return f"the name can't be resolved: {getattr(attempt.address, 'host', '')}: {text}"


def _channel(text: str, attempt: Attempt, reached: str) -> str:
    if reached != "bootstrap":
        return f"the jump host could not reach it: {text}"
    if "request failed" in text:
        return f"the server runs no commands (SFTP only, or commands forbidden): {text}"
    return f"the server opened no session (MaxSessions, or sessions forbidden): {text}"


def _config(text: str, attempt: Attempt, reached: str) -> str:
    return f"the OpenSSH configuration can't be used: {text}"


def _os(text: str, attempt: Attempt, reached: str) -> str:
    return f"{getattr(attempt.address, 'host', '')} can't be reached: {text} (phase: {reached})"


_SAY = (
    (asyncssh.HostKeyNotVerifiable, _host_key),
    (asyncssh.PermissionDenied, _permission),
    (asyncssh.KeyExchangeFailed, _key_exchange),
    (asyncssh.ChannelOpenError, _channel),
    (asyncssh.ConfigParseError, _config),
    (asyncssh.Error, _dropped),
    (asyncio.TimeoutError, _late),
    (TimeoutError, _late),
    (ConnectionRefusedError, _refused),
    (ConnectionResetError, _dropped),
    (socket.gaierror, _resolve),
    (OSError, _os),
)
