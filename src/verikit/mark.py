"""Mark: where a file stood, host by host, before something was launched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from verikit import values
from verikit.values import Frozen

ENTRY = ("device", "inode", "size", "now", "crc", "head")
"""What is noted for each host, as `verikit.probes.files.mark` answers it. A host that could not be asked has an entry
with `unseen` (the cause) and `reason` instead, so that a claim which needs it is UNKNOWN with that cause."""


def _entries(value: Any) -> Frozen:
    if not isinstance(value, Mapping) or not all(isinstance(entry, Mapping) for entry in value.values()):
        raise TypeError(f"entries is a mapping from host names to what `mark` noted there; got {value!r}")
    for name, entry in value.items():
        lacking = [] if "unseen" in entry else [key for key in ENTRY if key not in entry]
        if lacking:
            raise ValueError(f"the mark of host {name!r} lacks {', '.join(lacking)}")
    return Frozen(value)


@attrs.frozen
class Mark:
    """Where `path` stood on each host: device, inode, size in bytes, that host's clock, checksum of its first KiB.

    `mark(path, on=…)` takes it; `LogHealthy(path, since=…)` reads each host's own entry. Its `repr` rebuilds it.
    """

    path: str = attrs.field(converter=values.path)
    entries: Frozen = attrs.field(converter=_entries)

    @property
    def brief(self) -> str:
        """How a title calls it."""
        return f"<mark of {self.path}>"

    def for_host(self, name: str) -> Mapping[str, Any] | None:
        """What was noted on the host of that name; None where no mark was taken there."""
        entry: Mapping[str, Any] | None = self.entries.get(name)
        return entry
