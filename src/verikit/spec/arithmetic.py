"""Arithmetic in a spec: `3*h`, `(heads+2*kv)*d`, `ceil(r/128)`, `config.head_dim or hidden//heads`.

A word is read with Python's own expression grammar and kept as a small tree of its own; nothing is ever executed.
`//` means "divides exactly": a remainder is an error that says so.  Write `ceil(a/b)` or `floor(a/b)` to round.
"""

from __future__ import annotations

import ast
import keyword
import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import attrs

LONGEST_WORD = 400
"""Characters of one word; a shape that needs more is generated, and better given as a number."""


class Unbound(LookupError):
    """A name that has no value (yet)."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class Inexact(ArithmeticError):
    """A division that was to leave no remainder, or a size that is no whole number; the message says which."""


class Remainder(Inexact):
    """A `//` that does not divide exactly."""


@attrs.frozen
class Num:
    value: int | float

    def __str__(self) -> str:
        return str(self.value)


@attrs.frozen
class Name:
    """A dim (`h`), or a dotted key of the config (`config.text_config.hidden_size`)."""

    name: str

    def __str__(self) -> str:
        return self.name


@attrs.frozen
class Op:
    """Two operands and one of `+ - * // / %`, or `or`: the first that is there."""

    op: str
    left: Expr
    right: Expr

    def __str__(self) -> str:
        level = LEVEL[self.op]
        left = _bracketed(self.left, level)
        right = _bracketed(self.right, level + 1)
        return f"{left} or {right}" if self.op == "or" else f"{left}{self.op}{right}"


@attrs.frozen
class Call:
    """One of `FUNCTIONS` with its arguments."""

    function: str
    arguments: tuple[Expr, ...]

    def __str__(self) -> str:
        return f"{self.function}({','.join(map(str, self.arguments))})"


Expr = Num | Name | Op | Call
LEVEL = {"or": 0, "+": 1, "-": 1, "*": 2, "//": 2, "/": 2, "%": 2}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "ceil": math.ceil,
    "floor": math.floor,
    "len": len,
    "min": min,
    "max": max,
    "round_up": lambda n, step: -(-n // step) * step,
    "distinct": lambda row: len(set(row)),
}
_SYMBOL = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Div: "/", ast.Mod: "%"}


def _bracketed(part: Expr, level: int) -> str:
    return f"({part})" if isinstance(part, Op) and LEVEL[part.op] < level else str(part)


def parse(word: str) -> Expr:
    """The tree of a word; ValueError says what is wrong with it."""
    return from_ast(tree(word), word)


def tree(word: str) -> ast.expr:
    """Python's tree of a word."""
    if len(word) > LONGEST_WORD:
        raise ValueError(f"a word has at most {LONGEST_WORD} characters; got {len(word)}: {word[:40]}…")
    try:
        return ast.parse(word.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        if keyword.iskeyword(word.strip()):
            raise ValueError(f"{word!r} is a word of Python's, which no dim can be called: write {word}_") from None
        raise ValueError(
            f"{word!r} is no axis: write a number, a name, or arithmetic without blanks, as in (h+2*kv)*d"
        ) from None


def from_ast(node: ast.expr, word: str) -> Expr:
    """The spec's tree for Python's; anything beyond arithmetic is a ValueError."""
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int() | float() as value):
            return Num(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return Num(-value)
        case ast.Name(id=name):
            return Name(name)
        case ast.Attribute():
            return Name(_dotted(node, word))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _SYMBOL:
            return Op(_SYMBOL[type(op)], from_ast(left, word), from_ast(right, word))
        case ast.BoolOp(op=ast.Or(), values=[first, *rest]):
            out = from_ast(first, word)
            for part in rest:
                out = Op("or", out, from_ast(part, word))
            return out
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS and arguments:
            return Call(name, tuple(from_ast(each, word) for each in arguments))
    raise ValueError(
        f"{word!r} takes numbers, names, + - * // / %, or, and {', '.join(FUNCTIONS)}; not {ast.unparse(node)!r}"
    )


def _dotted(node: ast.expr, word: str) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr):
            return f"{_dotted(value, word)}.{attr}"
    raise ValueError(f"{word!r}: a key is dotted names, as in config.text_config.hidden_size")


def names(expr: Expr) -> Iterator[str]:
    """The names in it, from left to right."""
    match expr:
        case Name(name):
            yield name
        case Op(_, left, right):
            yield from names(left)
            yield from names(right)
        case Call(_, arguments):
            for each in arguments:
                yield from names(each)


def replaced(expr: Expr, by: Mapping[str, Expr]) -> Expr:
    """The expression with other ones for some of its names, and for names in those; `by` goes in no circle."""
    match expr:
        case Name(name) if name in by:
            return replaced(by[name], by)
        case Op(op, left, right):
            return Op(op, replaced(left, by), replaced(right, by))
        case Call(function, arguments):
            return Call(function, tuple(replaced(each, by) for each in arguments))
    return expr


def evaluate(expr: Expr, lookup: Callable[[str], Any]) -> Any:
    """Its value. `lookup` raises `Unbound`; a division with a remainder raises `Inexact`."""
    match expr:
        case Num(value):
            return value
        case Name(name):
            return lookup(name)
        case Call(function, arguments):
            values = [evaluate(each, lookup) for each in arguments]
            try:
                return FUNCTIONS[function](*values)
            except (TypeError, ZeroDivisionError, OverflowError) as error:
                raise Inexact(f"{expr} of {', '.join(map(repr, values))}: {error}") from None
        case Op("or", left, right):
            return _first(left, right, lookup)
        case Op(op, left, right):
            return _apply(op, evaluate(left, lookup), evaluate(right, lookup), expr)


def _first(left: Expr, right: Expr, lookup: Callable[[str], Any]) -> Any:
    try:
        value = evaluate(left, lookup)
    except Unbound:
        return evaluate(right, lookup)
    return value if value else evaluate(right, lookup)


def _apply(op: str, a: Any, b: Any, expr: Op) -> Any:
    for side in (a, b):
        if isinstance(side, bool) or not isinstance(side, (int, float, Fraction)):
            raise Inexact(f"{expr}: {side!r} is no number")
    try:
        match op:
            case "+":
                return a + b
            case "-":
                return a - b
            case "*":
                return a * b
            case "%":
                return a % b
            case "/":
                return Fraction(a) / Fraction(b)
    except (ZeroDivisionError, OverflowError) as error:
        raise Inexact(f"{expr}: {error}") from None
    if b == 0:
        raise Inexact(f"{expr}: division by zero")
    if a % b:
        raise Remainder(f"{a} is not a multiple of {b} ({expr})")
    return a // b


def size(expr: Expr, lookup: Callable[[str], Any]) -> int:
    """Its value as a size: a whole number; anything else raises `Inexact`."""
    return whole(evaluate(expr, lookup), expr)


def whole(value: Any, expr: Expr) -> int:
    """The value as an int; `Inexact` if it is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Fraction)) or value != value or value % 1:
        raise Inexact(f"{expr} is {value!r}, not a whole number")
    return int(value)


def solve_for(expr: Expr, unknown: str, target: int, lookup: Callable[[str], Any]) -> int:
    """What `unknown` must be for the expression to come to `target`.

    Raises `Unbound(unknown)` where the form can't be turned round (it stands there twice, or under ceil, %, …),
    `Inexact` where no whole number fits, as 3*h = 200.
    """
    match expr:
        case Name(name) if name == unknown:
            return target
        case Op(op, left, right) if op in ("+", "-", "*", "//"):
            in_left, in_right = unknown in names(left), unknown in names(right)
            if in_left == in_right:
                raise Unbound(unknown)
            other = size(right if in_left else left, lookup)
            return solve_for(left if in_left else right, unknown, _undone(op, target, other, in_left, unknown), lookup)
    raise Unbound(unknown)


def _undone(op: str, target: int, other: int, in_left: bool, unknown: str) -> int:
    if op == "+":
        return target - other
    if op == "-":
        return target + other if in_left else other - target
    if op == "//":
        if not in_left:
            raise Unbound(unknown)
        return target * other
    if other == 0:
        raise Unbound(unknown)
    if target % other:
        raise Inexact(f"{target} is not a multiple of {other}")
    return target // other


def solvable(expr: Expr, unknown: str) -> bool:
    """Whether `solve_for` can turn it round for this name."""
    match expr:
        case Name(name):
            return name == unknown
        case Op(op, left, right) if op in ("+", "-", "*", "//"):
            in_left, in_right = unknown in names(left), unknown in names(right)
            if in_left == in_right or (op == "//" and in_right):
                return False
            return solvable(left if in_left else right, unknown)
    return False


def substituted(expr: Expr, lookup: Callable[[str], Any]) -> str:
    """The expression with numbers for its names: `2*128` for `kv*d`."""
    match expr:
        case Name(name):
            try:
                return str(lookup(name))
            except Unbound:
                return name
        case Op(op, left, right):
            level = LEVEL[op]
            parts = [substituted(left, lookup), substituted(right, lookup)]
            for k, (part, least) in enumerate(((left, level), (right, level + 1))):
                if isinstance(part, Op) and LEVEL[part.op] < least:
                    parts[k] = f"({parts[k]})"
            return f"{parts[0]} or {parts[1]}" if op == "or" else f"{parts[0]}{op}{parts[1]}"
        case Call(function, arguments):
            return f"{function}({','.join(substituted(each, lookup) for each in arguments)})"
    return str(expr)
