"""FileMatches: a file is exactly the bytes that it should be."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import attrs

from verikit.check import Check, Facts, Look
from verikit.finding import Finding
from verikit.probes import matches as probe
from verikit.text import exact_size
from verikit.values import path, whole
from verikit.verdict import FAIL, PASS, Verdict

LOOK_SECONDS = 3600.0
"""A digest is computed at some 500 MB a second, a busy network file system gives a tenth of that: 180 GB."""


def _size(value: Any) -> int | None:
    return None if value is None else whole("size", value)


def _sha256(value: Any) -> str | None:
    if value is None:
        return None
    text = value.removeprefix("sha256:").lower() if isinstance(value, str) else ""
    if not re.fullmatch(r"[0-9a-f]{64}", text):
        raise ValueError(f"sha256 is 64 hexadecimal digits, as sha256sum prints them; got {value!r}")
    return text


@attrs.frozen(repr=False)
class FileMatches(Check):
    """The file has this size (bytes), this SHA-256, or both; the digest alone proves that it is the same file.

    A missing file is FAIL.  The size is read first, and a wrong one settles the matter; the digest reads the whole file,
    which loads the disk.  A size alone says nothing of the content, and the reason says so.
    """

    absent: ClassVar[Verdict] = FAIL

    path: str = attrs.field(converter=path)
    size: int | None = attrs.field(default=None, converter=_size, kw_only=True)
    sha256: str | None = attrs.field(default=None, converter=_sha256, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self.size is None and self.sha256 is None:
            raise ValueError("FileMatches takes size=, sha256=, or both; got neither")

    def look(self) -> Look:
        wanted = self.sha256 is not None
        look = Look(probe.inspect, path=self.path, size=self.size, sha256=wanted)
        return look.within(LOOK_SECONDS) if wanted else look

    def judge(self, facts: Facts) -> Finding:
        size, digest = facts["size"], facts["sha256"]
        if self.size is not None and size != self.size:
            reason = f"{self.path}: {exact_size(size)}, expected {exact_size(self.size)}"
            return Finding(FAIL, reason, facts=facts)
        if self.sha256 is None:
            return Finding(PASS, f"{self.path}: {exact_size(size)}, as expected; content not read", facts=facts)
        if digest != self.sha256:
            words = f"{self.path}: SHA-256 {digest[:12]}…, expected {self.sha256[:12]}…, over {exact_size(size)}"
            return Finding(FAIL, words, facts=facts)
        return Finding(PASS, f"{self.path}: SHA-256 {digest[:12]}… as expected, over {exact_size(size)}", facts=facts)
