"""Plain values made hashable: what is given to a check is frozen when the check is built."""

from __future__ import annotations

import datetime
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Set
from typing import Any


class Frozen(Mapping[str, Any]):
    """A mapping that keeps its order, can't be changed, and hashes by its items whatever their order.

    Prints as the dict that rebuilds it, and equals any mapping with the same items.
    """

    __slots__ = ("_hash", "_items")

    def __init__(self, items: Any = ()) -> None:
        self._items = {key: freeze(value) for key, value in dict(items).items()}
        self._hash: int | None = None

    def __getitem__(self, key: str) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._items.items()))
        return self._hash

    def __repr__(self) -> str:
        return repr(self._items)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._items,)


def freeze(value: Any) -> Any:
    """The value with its dicts, lists and sets made immutable, all the way down."""
    if type(value) is Frozen:
        return value
    if isinstance(value, Mapping):
        return Frozen(value)
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return tuple(freeze(item) for item in value)
    if isinstance(value, (set, Set)) and not isinstance(value, frozenset):
        return frozenset(value)
    return value


def exact(value: Any) -> Any:
    """What stands for a frozen value where its type counts: Python calls 1, 1.0 and True equal, JSON does not."""
    if isinstance(value, Mapping):
        return Frozen, frozenset((exact(key), exact(item)) for key, item in value.items())
    if isinstance(value, tuple):
        return tuple(exact(item) for item in value)
    if isinstance(value, frozenset):
        return frozenset(exact(item) for item in value)
    return type(value), repr(value) if isinstance(value, float) else value


def path(value: Any) -> str:
    """A path as text (bytes that are no UTF-8 as surrogates), from str, bytes or os.PathLike; empty or NUL is refused."""
    try:
        text = os.fsdecode(value)
    except TypeError:
        raise TypeError(f"path is a str, bytes or os.PathLike; got {value!r}") from None
    if not text or "\0" in text:
        raise ValueError(f"path is a non-empty path without NUL; got {value!r}")
    return text


MOST = sys.float_info.max
"""The largest number; infinities and whole numbers beyond it are no number of anything."""


def number(
    name: str, value: Any, *, above: float | None = None, least: float | None = None, unit: str = "seconds"
) -> float:
    """A finite number within its bounds, or a ValueError that names the argument, its value and what it takes."""
    bound = f"above {above:g}" if above is not None else f"at least {least:g}" if least is not None else "finite"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} is a number of {unit}, {bound}; got {value!r}")
    if not abs(value) <= MOST or (above is not None and value <= above) or (least is not None and value < least):
        raise ValueError(f"{name} is a number of {unit}, {bound}; got {value!r}")
    return value


def whole(name: str, value: Any, *, least: int = 0, unit: str = "bytes") -> int:
    """A whole number, at least `least`; the error names the argument, its value and what it takes."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is a whole number of {unit}, at least {least}; got {value!r}")
    if value < least:
        raise ValueError(f"{name} is a number of {unit}, at least {least}; got {value!r}")
    return value


def moment(name: str, value: Any) -> float:
    """Seconds since the epoch, from such a number or a datetime with a time zone; without one it would mean two moments."""
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            raise ValueError(f"{name} is seconds since the epoch or a datetime with its time zone; got {value!r}")
        return value.timestamp()
    return number(name, value, least=0)


def one_of(*words: str) -> Callable[[Any, Any, Any], None]:
    """A validator for a field that holds one of these words."""

    def check(_: Any, field: Any, value: Any) -> None:
        if value not in words:
            raise ValueError(f"{field.name} is one of {', '.join(map(repr, words))}; got {value!r}")

    return check


def regex(name: str, value: Any) -> str:
    """A regular expression as text, compiled once to try it; the error names the argument and what is wrong."""
    if not isinstance(value, str) or not value:
        raise TypeError(f"{name} is a regular expression as a non-empty str; got {value!r}")
    try:
        re.compile(value)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"{name} is a regular expression; {value!r} is none: {error}") from error
    return value


class Live:
    """An object in the memory of this process: compared and hashed by identity, shown by kind, never stored."""

    __slots__ = ("subject",)

    def __init__(self, subject: Any) -> None:
        self.subject = subject

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Live) and other.subject is self.subject

    def __hash__(self) -> int:
        return id(self.subject)

    def __repr__(self) -> str:
        return f"<live {_described(self.subject)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(f"{self!r} belongs to this process and can't be pickled or stored; give a path instead")


def _described(subject: Any) -> str:
    kind = type(subject).__name__
    if isinstance(subject, Mapping):
        return f"{kind}, {len(subject)} {'tensor' if len(subject) == 1 else 'tensors'}"
    shape = getattr(subject, "shape", None)
    return f"{kind}{list(shape)}" if isinstance(shape, tuple) else kind
