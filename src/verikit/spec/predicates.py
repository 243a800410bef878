"""What a spec says of values: `finite & abs<=1e4`, `in 0..v-1 | == -100`, `rms 1e-2..1e2`, `planes distinct(0)`.

Words about elements (`finite`, `in`, `==`, `abs<=`) combine element by element, and must hold for every one: so
`in 0..v-1 | == -100` takes labels where some are ids and the others -100.  All other words are about the whole tensor.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import attrs

from verikit.spec import arithmetic
from verikit.spec.arithmetic import Expr

ELEMENT = ("finite", "nan", "inf", "in", "one of", "==", "!=", "<=", ">=", "<", ">", "abs<=", "abs<")
"""Words about each element."""
WHOLE = (
    "nonzero", "constant", "rising", "falling", "distinct", "rows distinct", "planes distinct", "step",
    "rms", "mean", "std", "sum", "min", "max", "first", "last", "count",
)  # fmt: skip
"""Words about the tensor as a whole, which need its values too."""
SLICED = ("nonzero", "constant", "rms", "mean", "std", "sum", "min", "max", "count")
"""Those of them that may be said of each row or plane by itself."""
OUTSIDE = ("real", "dense", "contiguous", "owned", "on")
"""Words about how it is held, which need no values."""
RELATIONS = ("same", "tied", "shared", "companion")
"""Words about another tensor."""


@attrs.frozen
class Atom:
    """One word with its arguments: expressions, or texts for `on`, relations and companions.

    A range is ("..", low, high); a comparison (op, bound).
    """

    word: str
    arguments: tuple[Any, ...] = ()

    def __str__(self) -> str:
        words = self.arguments
        match self.word:
            case "in":
                return f"in {words[0]}..{words[1]}"
            case "one of":
                return f"in {{{','.join(map(str, words))}}}"
            case "==" | "!=" | "<=" | ">=" | "<" | ">":
                return f"{self.word} {words[0]}"
            case "abs<=" | "abs<":
                return f"{self.word}{words[0]}"
            case "step":
                return f"step {words[0]}"
            case "on":
                return f"on {'|'.join(words)}"
            case "planes distinct":
                return f"planes distinct({words[0]})"
            case "same" | "tied" | "shared":
                return f"{self.word}({words[0]})"
            case "companion":
                return f"companion({words[0]}, {words[1]})"
            case "rms" | "mean" | "std" | "sum" | "min" | "max" | "first" | "last":
                return f"{self.word} {_compared(words)}"
            case "count":
                return f"count({words[0]}) {_compared(words[1:])}"
        return self.word


@attrs.frozen
class All:
    parts: tuple[Predicate, ...]

    def __str__(self) -> str:
        return " & ".join(f"({part})" if isinstance(part, Any_) else str(part) for part in self.parts)


@attrs.frozen
class Any_:
    parts: tuple[Predicate, ...]

    def __str__(self) -> str:
        return " | ".join(str(part) for part in self.parts)


@attrs.frozen
class Not:
    part: Predicate

    def __str__(self) -> str:
        return f"~({self.part})" if isinstance(self.part, (All, Any_)) else f"~{self.part}"


@attrs.frozen
class Each:
    """What holds of each row (a vector along the last axis), or of each plane along an axis, by itself."""

    axis: Expr | None
    part: Predicate

    def __str__(self) -> str:
        part = f"({self.part})" if isinstance(self.part, (All, Any_)) else str(self.part)
        return f"rows {part}" if self.axis is None else f"planes({self.axis}) {part}"


Predicate = Atom | All | Any_ | Not | Each


def _compared(words: tuple[Any, ...]) -> str:
    return f"{words[1]}..{words[2]}" if words[0] == ".." else f"{words[0]} {words[1]}"


def atoms(predicate: Predicate) -> Iterator[Atom]:
    """Its words, from left to right."""
    match predicate:
        case Atom():
            yield predicate
        case All(parts) | Any_(parts):
            for part in parts:
                yield from atoms(part)
        case Not(part) | Each(_, part):
            yield from atoms(part)


def conjuncts(predicate: Predicate | None) -> tuple[Predicate, ...]:
    """The parts that must all hold, each of which can fail by itself."""
    if predicate is None:
        return ()
    return predicate.parts if isinstance(predicate, All) else (predicate,)


def companion_of(name: str, suffix: str) -> str:
    """The companion's name.  Raises Inexact if the name does not end as it should, to be replaced."""
    old, arrow, new = suffix.partition(" -> ")
    if not arrow:
        return name + suffix
    if not name.endswith(old):
        raise arithmetic.Inexact(f"the name of {name} does not end in {old}, which that of its companion has as {new}")
    return name.removesuffix(old) + new


def owner_of(companion: str, suffix: str) -> str:
    """The name of the tensor that a companion belongs to: what `companion_of` undoes."""
    old, arrow, new = suffix.partition(" -> ")
    return companion.removesuffix(new) + old if arrow else companion.removesuffix(suffix)


def needs_values(predicate: Predicate) -> bool:
    return any(atom.word in ELEMENT or atom.word in WHOLE for atom in atoms(predicate))


def relates(predicate: Predicate) -> bool:
    """Whether it speaks of another tensor."""
    return any(atom.word in RELATIONS for atom in atoms(predicate))


def names(predicate: Predicate) -> Iterator[str]:
    """The dims in it (those of a companion's own spec are seen to elsewhere)."""
    match predicate:
        case All(parts) | Any_(parts):
            for part in parts:
                yield from names(part)
        case Not(part):
            yield from names(part)
        case Each(axis, part):
            yield from arithmetic.names(axis) if axis is not None else ()
            yield from names(part)
        case Atom(_, arguments):
            for each in arguments:
                if isinstance(each, (arithmetic.Num, arithmetic.Name, arithmetic.Op, arithmetic.Call)):
                    yield from arithmetic.names(each)


def resolved(predicate: Predicate, lookup: Callable[[str], Any], relate: Callable[[str], tuple[str, str]]) -> list[Any]:
    """The predicate as JSON, with numbers for its expressions: what travels to the probe.

    ["all" | "any" | "not", parts…] or [word, arguments…].  Raises `Unbound`, `Inexact`.
    relate: (tensor, file) of the tensor that a relation names.
    """
    match predicate:
        case All(parts):
            return ["all", *(resolved(part, lookup, relate) for part in parts)]
        case Any_(parts):
            return ["any", *(resolved(part, lookup, relate) for part in parts)]
        case Not(part):
            return ["not", resolved(part, lookup, relate)]
        case Each(axis, part):
            where = ["rows"] if axis is None else ["planes", _number(axis, lookup)]
            return [*where, resolved(part, lookup, relate)]
        case Atom(word, (name,)) if word in RELATIONS:
            return [word, *relate(name)]
        case Atom(word, arguments):
            return [word, *(each if isinstance(each, str) else _number(each, lookup) for each in arguments)]


def _number(expr: Expr, lookup: Callable[[str], Any]) -> int | float:
    value = arithmetic.evaluate(expr, lookup)
    if isinstance(value, bool) or value is None or isinstance(value, (str, list, tuple, dict)):
        raise arithmetic.Inexact(f"{expr} is {value!r}, not a number")
    return (
        int(value)
        if value == value and abs(value) != float("inf") and value == int(value) and not isinstance(value, float)
        else float(value)
    )


# Reading.

_TOKEN = re.compile(r"\s*(?:(?P<and>&)|(?P<or>\|)|(?P<not>~|not\b)|(?P<open>\()|(?P<close>\)))")
_PLAIN_WORDS = "finite|nan|inf|nonzero|constant|rising|falling|distinct|real|dense|contiguous|owned"
_STAT_WORDS = "rms|mean|std|sum|min|max|first|last"
_PLAIN = re.compile(rf"(rows\s+distinct|{_PLAIN_WORDS})\b")
_CALL = re.compile(rf"({'|'.join(RELATIONS)}|planes\s+distinct)\s*\(")
_EACH = re.compile(r"rows\s+(?=[a-z~(])|planes\s*\(([^()]*)\)\s*")
_ON = re.compile(r"on\s+([\w:]+(?:\|[\w:]+)*)")
_SET = re.compile(r"(?:in\s*)?\{([^{}]*)\}")
_STAT = re.compile(rf"(?:({_STAT_WORDS})\b|count\s*\(\s*([^()]*?)\s*\))\s*")
_ABS = re.compile(r"abs\s*(<=|<)\s*")
_COMPARE = re.compile(r"(==|!=|<=|>=|<|>)\s*")
_HEAD = re.compile(
    rf"((?:rows|planes)\b(?:\s*\([^()]*\))?\s+)?(?:{_PLAIN_WORDS}|{_STAT_WORDS}|count|step|on|in|abs|{'|'.join(RELATIONS)})\b"
)
HELP = (
    "values take finite, nan, inf, nonzero, constant, in 0..v-1, in {0,1}, == x, <= x, abs<=1e4, rms 1e-2..1e2, mean, std, "
    "sum == n, min, max, first, last, count(v) == n, step 1, rising, falling, distinct, rows distinct, "
    "planes distinct(0), rows nonzero, planes(0) rms 1e-2..1e2, real, dense, contiguous, owned, on cpu|cuda, "
    "same(x), tied(x), shared(x), companion(suffix, spec), joined by & | ~"
)


class _Reader:
    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0
        self.within = False

    def wrong(self, why: str = "") -> ValueError:
        rest = self.text[self.at : self.at + 40].strip()
        return ValueError(f"{self.text.strip()!r}: {why or 'no such word'}{f' at {rest!r}' if rest else ''}; {HELP}")

    def token(self, kind: str) -> bool:
        match = _TOKEN.match(self.text, self.at)
        if match is None or match.lastgroup != kind:
            return False
        self.at = match.end()
        return True

    def any_of(self) -> Predicate:
        parts = [self.all_of()]
        while self.token("or"):
            parts.append(self.all_of())
        return (
            parts[0]
            if len(parts) == 1
            else Any_(tuple(q for p in parts for q in (p.parts if isinstance(p, Any_) else (p,))))
        )

    def all_of(self) -> Predicate:
        parts = [self.one()]
        while self.token("and"):
            parts.append(self.one())
        return (
            parts[0]
            if len(parts) == 1
            else All(tuple(q for p in parts for q in (p.parts if isinstance(p, All) else (p,))))
        )

    def one(self) -> Predicate:
        if self.token("not"):
            return Not(self.one())
        if self.token("open"):
            self.depth += 1
            if self.depth > 50:
                raise self.wrong("nested too deep")
            inner = self.any_of()
            self.depth -= 1
            if not self.token("close"):
                raise self.wrong("a bracket is not closed")
            return inner
        return self.atom()

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self.text, self.at)
        if match:
            self.at = match.end()
        return match

    def atom(self) -> Predicate:
        self.take(re.compile(r"\s+"))
        if match := self.take(_PLAIN):
            return Atom(" ".join(match[1].split()))
        if match := self.take(_EACH):
            return self.each(match[1])
        if match := self.take(_ON):
            return Atom("on", tuple(match[1].split("|")))
        if match := self.take(_CALL):
            return self.call(" ".join(match[1].split()))
        if match := self.take(_SET):
            return Atom("one of", tuple(self.expr(each) for each in match[1].split(",")))
        if match := self.take(_ABS):
            return Atom(f"abs{match[1]}", (self.operand(),))
        if match := self.take(_STAT):
            words = self.compared()
            return Atom(match[1], words) if match[1] else Atom("count", (self.expr(match[2]), *words))
        if match := self.take(re.compile(r"step\s+")):
            return Atom("step", (self.operand(),))
        if match := self.take(_COMPARE):
            return Atom(match[1], (self.operand(),))
        if match := self.take(re.compile(r"in\s+")):
            low, high = self.range()
            return Atom("in", (low, high))
        raise self.wrong()

    def each(self, axis: str | None) -> Each:
        if self.within:
            raise self.wrong("a row or plane has no rows or planes of its own here")
        self.within = True
        part = self.one()
        self.within = False
        word = next((atom.word for atom in atoms(part) if atom.word not in SLICED), None)
        if word is not None:
            raise self.wrong(f"{word!r} is not said of rows or planes; of each of them take {', '.join(SLICED)}")
        return Each(None if axis is None else self.expr(axis), part)

    def compared(self) -> tuple[Any, ...]:
        if match := self.take(_COMPARE):
            return (match[1], self.operand())
        return ("..", *self.range())

    def range(self) -> tuple[Expr, Expr]:
        text = self.operand_text()
        low, dots, high = text.partition("..")
        if not dots:
            raise self.wrong(f"{text.strip()!r} is no range; write low..high")
        return self.expr(low), self.expr(high)

    def operand(self) -> Expr:
        return self.expr(self.operand_text())

    def operand_text(self) -> str:
        """Up to the next & or |, or the bracket that closes what is around."""
        depth, start = 0, self.at
        while self.at < len(self.text):
            c = self.text[self.at]
            if depth == 0 and c in "&|)":
                break
            depth += (c == "(") - (c == ")")
            self.at += 1
        return self.text[start : self.at]

    def expr(self, text: str) -> Expr:
        text = text.strip()
        if not text:
            raise self.wrong("a number or an expression is missing")
        if text in ("inf", "-inf", "nan"):
            return arithmetic.Num(float(text))
        return arithmetic.parse(text)

    def call(self, word: str) -> Atom:
        depth, start = 1, self.at
        while self.at < len(self.text) and depth:
            depth += (self.text[self.at] == "(") - (self.text[self.at] == ")")
            self.at += 1
        if depth:
            raise self.wrong("a bracket is not closed")
        inside = self.text[start : self.at - 1].strip()
        if not inside:
            raise self.wrong(f"{word}(…) takes something in its brackets")
        if word == "planes distinct":
            return Atom(word, (self.expr(inside),))
        if word != "companion":
            return Atom(word, (inside,))
        suffix, comma, spec = inside.partition(",")
        if not comma:
            raise self.wrong("companion takes a suffix and a spec: companion(_scale_inv, f32[ceil(r/128) ceil(c/128)])")
        return Atom(word, (self.suffix(suffix), spec.strip()))

    def suffix(self, text: str) -> str:
        """`_scale_inv`, or `.qweight -> .scales`: what is put behind a name, or in place of its end."""
        ends = [end.strip() for end in text.split("->")]
        if len(ends) > 2 or not all(ends):
            raise self.wrong(f"{text.strip()!r} is no suffix; write _scale_inv, or .qweight -> .scales")
        return " -> ".join(ends)


def parse(text: str) -> Predicate:
    """The predicate of a text; ValueError says what is wrong with it."""
    reader = _Reader(text)
    predicate = reader.any_of()
    if reader.text[reader.at :].strip():
        raise reader.wrong()
    return predicate


def begins(text: str) -> bool:
    """Whether a text opens with a word about values that could be the name of an axis as well: `finite`, `step`, `rows sum`."""
    return _HEAD.match(text) is not None


def opens(text: str) -> bool:
    """Whether it does, and that word stands by itself, not in arithmetic or bounds of axes as in `max(a,b)` or `step<=8`."""
    found = _HEAD.match(text)
    after = r"[\s&|()]|$" if found and found[1] else r"[\s&|)]|$"  # `rows distinct(0)` is a slip, `min(a,b)` arithmetic
    return found is not None and re.match(after, text[found.end() :]) is not None
