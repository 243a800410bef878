"""What goes into a solving and what comes out: tensors as they were seen, faults, dims, and values to be looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import attrs

NO_FILE = ("", ".")
"""In memory, and in pieces over the files of a folder."""


class Entry(NamedTuple):
    """A tensor as it was seen. file: relative to the subject, "" in memory. extra: how it is held, where that is known."""

    file: str
    name: str
    dtype: str
    shape: tuple[int, ...]
    extra: Mapping[str, Any] | None = None

    @property
    def where(self) -> str:
        return f"{self.file}:{self.name}" if self.file not in NO_FILE else self.name


class Absent(LookupError):
    """A relation names a tensor that is not there."""


class Bound(NamedTuple):
    """A value with its origin: `config.json hidden_size=64`, or where in the data it was seen."""

    value: Any
    origin: str
    votes: int = 1


def joined(origins: Iterable[str]) -> str:
    """Origins in a row, config keys behind one mention of their file: `config.json heads=8, hidden_size=64`."""
    out: list[str] = []
    file = ""
    for origin in dict.fromkeys(each for row in origins for each in row.split(", ")):
        head, _, rest = origin.partition(" ")
        same = bool(rest) and head == file and "=" in rest
        out.append(rest if same else origin)
        file = head if rest and "=" in rest else ""
    return ", ".join(dict.fromkeys(out))


@attrs.frozen
class Fault:
    """One thing that does not fit. `what` is the sentence without the place; equal ones are told together.

    origin: where the numbers come from, to be put behind it; of equal ones the first is told.
    cause: what is common to faults of which only the numbers differ; many of them are told as one. None: only equal ones.
    off: by how much a size is off.
    """

    kind: str
    rule: int
    file: str
    name: str
    what: str
    origin: str = ""
    cause: tuple[Any, ...] | None = None
    off: int | None = None
    hint: str = ""

    @property
    def where(self) -> str:
        return f"{self.file}:{self.name}" if self.file not in NO_FILE and self.name else self.name or self.file

    @property
    def told(self) -> str:
        return f"{self.what} [{self.origin}]" if self.origin else self.what


@attrs.define
class Want:
    """Values to be looked at: in these tensors, this predicate, its numbers put in."""

    predicate: list[Any]
    text: str
    entries: list[Entry]
    rule: int
    whence: Callable[[str, str], str]
    """Of a file and a tensor of it: where the numbers that it is held against come from."""

    def fault(self, kind: str, file: str, name: str, words: str) -> Fault:
        """That a scan said this of a tensor, with where the numbers come from that it was held against."""
        origin = self.whence(file, name)
        where = f"{self.text}: {origin}" if origin and self.text not in words else origin
        return Fault(kind, self.rule, file, name, words, origin=where, cause=(self.rule, self.text))


@attrs.define
class Outcome:
    """What came of it. unknown: (cause, sentence) for what could not be told."""

    faults: list[Fault] = attrs.field(factory=list)
    unknown: list[tuple[str, str]] = attrs.field(factory=list)
    dims: dict[str, Bound] = attrs.field(factory=dict)
    wants: list[Want] = attrs.field(factory=list)
    examined: int = 0
    extra: int = 0
    lists: dict[tuple[str, str], list[float]] = attrs.field(factory=dict)
    """Rows of numbers out of metadata and configs, by (file, name): their values are here already."""
    shares: dict[str, dict[str, Any]] = attrs.field(factory=dict)
    """By rule, what this host has of a count over all hosts."""
