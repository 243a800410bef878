"""Patterns of tensor names and files: `model.layers.{i:0..L-1}.self_attn.{p:q,k,v}_proj.weight`, `*`, `**`.

A range or a choice in braces means that each one must exist; `{i}` is any number, and a star at least one.
`*` stays within one part (between dots in a name, between slashes in a path); `**.` is any number of parts, or none.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import attrs

from verikit.spec import arithmetic
from verikit.spec.arithmetic import Expr

MANY = 1_000_000
"""Names that one pattern may stand for; DeepSeek's 256 experts x 61 layers x 3 are 46,848."""


@attrs.frozen
class Range:
    """`{i:0..L-1}`, both ends included; `digits`: written with leading zeros to this width."""

    name: str
    first: Expr
    last: Expr
    digits: int = 0

    def __str__(self) -> str:
        first = f"{self.first!s:0>{self.digits}}" if self.digits else str(self.first)
        return f"{{{self.name}:{first}..{self.last}}}"

    def values(self, lookup: Callable[[str], Any]) -> list[str]:
        first, last = arithmetic.size(self.first, lookup), arithmetic.size(self.last, lookup)
        if last - first >= MANY:
            raise arithmetic.Inexact(f"{self} stands for {last - first + 1:,} names, more than {MANY:,}")
        return [f"{k:0{self.digits}d}" for k in range(first, last + 1)]


@attrs.frozen
class Choice:
    """`{p:q,k,v}`."""

    name: str
    options: tuple[str, ...]

    def __str__(self) -> str:
        return f"{{{self.name}:{','.join(self.options)}}}"

    def values(self, lookup: Callable[[str], Any]) -> list[str]:
        return list(self.options)


@attrs.frozen
class AnyNumber:
    """`{i}`: any number, known as i in the axes."""

    name: str

    def __str__(self) -> str:
        return f"{{{self.name}}}"


Piece = str | Range | Choice | AnyNumber
STARS = ("**", "*")
_NUMBER = re.compile(r"\d+")
_PIECE = re.compile(r"\{([A-Za-z_]\w*)(?::([^{}]*))?\}|(\*\*)|(\*)|([^{}*]+)")


@attrs.frozen
class Pattern:
    """A name with its wild parts. `separator`: "." for tensors, "/" for files."""

    pieces: tuple[Piece, ...]
    separator: str = "."

    def __str__(self) -> str:
        return "".join(map(str, self.pieces))

    @property
    def exact(self) -> bool:
        return all(isinstance(piece, str) and piece not in STARS for piece in self.pieces)

    @property
    def starred(self) -> bool:
        return any(isinstance(piece, AnyNumber) or piece in STARS for piece in self.pieces)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names that its numbers have in the axes."""
        return tuple(piece.name for piece in self.pieces if isinstance(piece, (Range, AnyNumber)))

    def names(self) -> Iterator[str]:
        """The dims that its ranges need."""
        for piece in self.pieces:
            if isinstance(piece, Range):
                yield from arithmetic.names(piece.first)
                yield from arithmetic.names(piece.last)

    def regex(self, given: dict[str, str] | None = None) -> str:
        """What it matches; `given` fixes ranges and choices by name, the others match any number or any option."""
        out, seen = [], set()
        wild = "[^" + re.escape(self.separator) + "]*"
        for k, piece in enumerate(self.pieces):
            if piece == "**":
                after = self.pieces[k + 1] if k + 1 < len(self.pieces) else ""
                whole_parts = isinstance(after, str) and after.startswith(self.separator)
                out.append(f"(?:.*{re.escape(self.separator)})?" if whole_parts else ".*")
            elif piece == "*":
                out.append(wild)
            elif isinstance(piece, str):
                before_whole = k and self.pieces[k - 1] == "**" and piece.startswith(self.separator)
                out.append(re.escape(piece[1:] if before_whole else piece))
            elif given and piece.name in given:
                out.append(re.escape(given[piece.name]))
            elif piece.name in seen:
                out.append(f"(?P={piece.name})")
            elif isinstance(piece, Choice):
                seen.add(piece.name)
                out.append(f"(?P<{piece.name}>{'|'.join(map(re.escape, piece.options))})")
            else:
                seen.add(piece.name)
                out.append(f"(?P<{piece.name}>\\d+)")
        return "".join(out)

    def combinations(self, lookup: Callable[[str], Any]) -> tuple[tuple[str, ...], Iterator[tuple[str, ...]]]:
        """(the names of its ranges and choices, every combination of what they stand for); one empty one if it has none."""
        wild = {piece.name: piece for piece in self.pieces if isinstance(piece, (Range, Choice))}
        spans = [piece.values(lookup) for piece in wild.values()]
        total = 1
        for span in spans:
            total *= len(span)
        if total > MANY:
            raise arithmetic.Inexact(f"{self} stands for {total:,} names, more than {MANY:,}")
        return tuple(wild), itertools.product(*spans)

    def assignments(self, lookup: Callable[[str], Any]) -> Iterator[dict[str, str]]:
        """Every combination of its ranges and choices, by name."""
        keys, rows = self.combinations(lookup)
        return (dict(zip(keys, row, strict=True)) for row in rows)

    def filled(self, given: dict[str, str]) -> str:
        """The pattern with these put in; what is not given stays as it is written."""
        return "".join(piece if isinstance(piece, str) else str(given.get(piece.name, piece)) for piece in self.pieces)


def parse(text: str, separator: str = ".") -> Pattern:
    """The pattern of a text; ValueError says what is wrong with it."""
    text = text.strip()
    if not text:
        raise ValueError("a name pattern is not empty")
    pieces: list[Piece] = []
    at = 0
    while at < len(text):
        match = _PIECE.match(text, at)
        if match is None:
            raise ValueError(
                f"{text!r}: a brace is {{i}}, {{i:0..L-1}} or {{p:q,k,v}}; see from character {at}: {text[at : at + 20]!r}"
            )
        name, body, double, star, plain = match.groups()
        pieces.append(double or star or plain or _braced(name, body, text))
        at = match.end()
    return Pattern(tuple(pieces), separator)


def _braced(name: str, body: str | None, text: str) -> Piece:
    if body is None:
        return AnyNumber(name)
    first, dots, last = body.partition("..")
    if dots:
        first = first.strip()
        digits = len(first) if re.fullmatch(r"0\d+", first) else 0
        return Range(name, arithmetic.parse(_unpadded(first)), arithmetic.parse(_unpadded(last)), digits)
    options = tuple(option.strip() for option in body.split(","))
    if not all(options):
        raise ValueError(f"{text!r}: {{{name}:{body}}} has an empty choice; write {{{name}:q,k,v}} or {{{name}:0..7}}")
    return Choice(name, options)


def _unpadded(text: str) -> str:
    """`00099` as 99: Python reads no number with leading zeros."""
    text = text.strip()
    return str(int(text)) if text.isdigit() else text


def collapsed(names: Iterable[str]) -> list[tuple[str, int]]:
    """Names folded over their numbers, with how many each stands for: `[("layers.{0..3}.w", 4)]`, in order of appearance.

    What is written stands for these names and no other: 1.w7 and 2.w9 are not `{1,2}.w{7,9}`.
    """
    groups: dict[str, dict[tuple[str, ...], None]] = {}
    for name in names:
        groups.setdefault(_NUMBER.sub("\0", name), {})[tuple(_NUMBER.findall(name))] = None
    folded = ((template.split("\0"), row, n) for template, rows in groups.items() for row, n in _rectangles(list(rows)))
    return [("".join(map("".join, itertools.zip_longest(parts, row, fillvalue=""))), n) for parts, row, n in folded]


def _rectangles(rows: list[tuple[str, ...]]) -> list[tuple[tuple[str, ...], int]]:
    """Rows of numbers as spans of each column, where every combination is there; else parted by that which varies least."""
    columns = [dict.fromkeys(column) for column in zip(*rows, strict=True)]
    if math.prod(map(len, columns)) == len(rows):
        return [(tuple(map(spans, columns)), len(rows))]
    k = min((k for k, column in enumerate(columns) if len(column) > 1), key=lambda k: len(columns[k]))
    rest_of: dict[str, list[tuple[str, ...]]] = {}
    for row in rows:
        rest_of.setdefault(row[k], []).append(row[:k] + row[k + 1 :])
    alike: dict[frozenset[tuple[str, ...]], list[str]] = {}
    for number, rest in rest_of.items():
        alike.setdefault(frozenset(rest), []).append(number)
    return [
        ((*inner[:k], spans(numbers), *inner[k:]), n * len(numbers))
        for numbers in alike.values()
        for inner, n in _rectangles(rest_of[numbers[0]])
    ]


def spans(numbers: Iterable[str], most: int = 5) -> str:
    """`7`, `{0..60}`, `{0,2..4,9}`, `{008..011}`; past `most` runs it says how many more there are."""
    values = sorted(dict.fromkeys(numbers), key=lambda text: (int(text), text))
    if len(values) == 1:
        return values[0]
    runs: list[list[str]] = []
    for text in values:
        if runs and _follows(runs[-1][-1], text):
            runs[-1] = [runs[-1][0], text]
        else:
            runs.append([text])
    words = [_run(run[0], run[-1]) for run in runs[:most]]
    return "{" + ",".join(words) + (f",… {len(runs) - most} more" if len(runs) > most else "") + "}"


def _run(first: str, last: str) -> str:
    if first == last:
        return first
    return f"{first},{last}" if int(last) == int(first) + 1 else f"{first}..{last}"


def _follows(one: str, other: str) -> bool:
    """Whether a number is the next, written alike: 9 and 10, 009 and 010, but not 09 and 10 beside 8."""
    padded = (one[0] == "0" and len(one) > 1) or other[0] == "0"
    return int(other) == int(one) + 1 and (len(one) == len(other) or not padded)
