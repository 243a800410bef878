"""Text made fit for people: sizes with units, control characters escaped, secrets masked, excerpts bounded."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Mapping
from typing import Any

DIGITS = 4096
"""Bits of a whole number that a report keeps; Python refuses to write out much longer ones."""

LIMIT = 4096
"""Characters of one string that a report keeps; what a person needs of a log line or traceback fits."""

# Control characters, line and paragraph separators, marks and overrides of direction, what no XML document may hold.
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)

# Shapes of secrets that turn up in logs and command lines.  Prefixes are those their issuers document:
# Hugging Face hf_, OpenAI sk-, GitHub ghp_/gho_/ghs_/github_pat_, GitLab glpat-, AWS AKIA/ASIA, Slack xox?-.
_SECRET = re.compile(
    r"(?:\b(?:hf_|sk-|ghp_|gho_|ghs_|github_pat_|glpat-|xox[abpr]-)[A-Za-z0-9_\-]{16,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"
    r"|\beyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{5,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|(?<=://)[^\s/:@]+:[^\s/@]+(?=@)"
    r"|(?i:(?<=bearer )|(?<=basic ))[A-Za-z0-9._~+/\-]{12,}=*)"
)
_NAMED_SECRET = re.compile(
    r"(?i)((?:password|passwd|secret|api[_-]?key|access[_-]?key|auth[_-]?token|access[_-]?token|_token)\b[\"']?\s*[=:]\s*[\"']?)"
    r"([^\s\"',;)}\]]{6,})"
)
MASK = "••••"


def escape(text: str) -> str:
    """The text with control characters (ESC and NUL among them), bidi overrides and undecodable bytes written out."""
    return _CONTROL.sub(_written_out, text)


def _written_out(match: re.Match[str]) -> str:
    code = ord(match.group())
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def mask(text: str) -> str:
    """The text with what looks like a key, password or token replaced."""
    return _NAMED_SECRET.sub(rf"\1{MASK}", _SECRET.sub(MASK, text))


def bounded(text: str, limit: int = LIMIT) -> str:
    """At most `limit` characters: the beginning and the end, and how much is left out between."""
    return text if len(text) <= limit else _ends(text, text, len(text), limit)


def _ends(head: str, tail: str, n: int, limit: int) -> str:
    half = (limit - len(f" … {n:,} characters … ")) // 2
    return f"{head[:half]} … {n - 2 * half:,} characters … {tail[-half:]}"


def fit(text: str) -> str:
    """The text as a report keeps it: secrets masked, then control characters escaped, then bounded.

    In this order, so that no secret is cut before it is known for one; of a long text, both ends are read so far that
    what is cut here does not come to be shown.
    """
    if len(text) <= 4 * LIMIT:
        return bounded(escape(mask(text)))
    head, tail = (escape(mask(part)) for part in (text[: 2 * LIMIT], text[-2 * LIMIT :]))
    return _ends(head, tail, len(text), LIMIT)


def line(text: str) -> str:
    """The text fit for a report, on one line."""
    return fit(text).replace("\n", "\\n").replace("\t", "\\t")


def clean(value: Any) -> Any:
    """The value as JSON carries it, with every string in it bounded, masked and escaped.

    Bytes become `{"bytes": base64}`, numbers that JSON lacks (NaN, infinities) and whatever else become text.
    """
    if isinstance(value, str):
        return fit(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if value.bit_length() <= DIGITS else f"about {'-' * (value < 0)}2^{value.bit_length() - 1}"
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {clean(str(key)): clean(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return tuple(clean(item) for item in value)
    if isinstance(value, (bytes, bytearray)):
        return {"bytes": base64.b64encode(value[: LIMIT // 2]).decode()}
    if getattr(value, "shape", None) == () and type(item := value.item()) is not type(value):
        return clean(item)  # a scalar of numpy or torch
    return clean(str(value))


def count(n: int, noun: str, plural: str | None = None) -> str:
    """`1 file`, `2,000 files`."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def size(n: int) -> str:
    """A number of bytes as a person reads it: `512 bytes`, `12.4 GiB`."""
    value, units = float(n), iter(("bytes", "KiB", "MiB", "GiB", "TiB", "PiB"))
    unit = next(units)
    while abs(value) >= 1024 and unit != "PiB":
        value, unit = value / 1024, next(units)
    return f"{n} bytes" if unit == "bytes" else f"{value:.1f} {unit}"


def exact_size(n: int) -> str:
    """`16.6 GiB (17,852,470,761 bytes)`."""
    return size(n) if abs(n) < 1024 else f"{size(n)} ({n:,} bytes)"


def seconds(value: float) -> str:
    """`35 ms`, `2.4 s`, `3 min 10 s`, `2 h 05 min`."""
    if value < 1:
        return f"{value * 1000:.0f} ms"
    if value < 120:
        return f"{value:.1f}".rstrip("0").rstrip(".") + " s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest:02d} s" if minutes < 120 else f"{minutes // 60} h {minutes % 60:02d} min"
