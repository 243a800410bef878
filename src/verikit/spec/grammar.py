"""The grammar of specs: text to values and back. `docs/reference/spec-grammar.md` has every form.

key:    [!] [file ::] name [?] [if expr] [when dtypes]      value:  [dtypes] [ axes ] & predicate
        files(pattern)  tensors([file ::] pattern)  meta(key)  config(key)  index
"""

from __future__ import annotations

import ast
import itertools
import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import attrs

from verikit.spec import arithmetic, dtypes, names, predicates
from verikit.spec.arithmetic import Expr, Name, Num, Op
from verikit.spec.names import Pattern
from verikit.spec.predicates import Predicate

SCOPES = ("tensor", "module", "file", "host")
"""How far one value of a dim reaches, from near to far; without a word: over the whole check."""


@attrs.frozen
class Axis:
    """One axis: what size it has (`term`), within which bounds.

    term None: any size.  run: `...` is "", `*b` is "b", None for a single axis.  lower, upper: (`<=` or `<`, bound).
    """

    term: Expr | None = None
    run: str | None = None
    lower: tuple[str, Expr] | None = None
    upper: tuple[str, Expr] | None = None
    multiple: Expr | None = None
    choices: tuple[Expr, ...] | None = None
    optional: bool = False
    broadcast: bool = False
    label: str | None = None

    def __str__(self) -> str:
        if self.run is not None:
            return f"*{self.run}" if self.run else "..."
        core = "_" if self.term is None else str(self.term)
        if self.choices is not None:
            row = "{" + ",".join(map(str, self.choices)) + "}"
            core = row if self.term is None else f"{core}={row}"
        if self.multiple is not None:
            core = f"{_grouped(self.term)}%{_grouped(self.multiple)}"
        if self.label:
            core = f"{self.label}={core}"
        if self.lower and not self.upper and not isinstance(self.lower[1], Num):
            core = f"{core}{_FLIP[self.lower[0]]}{self.lower[1]}"  # of two words, the axis is the left one
        elif self.lower:
            core = f"{self.lower[1]}{self.lower[0]}{core}"
        if self.upper:
            core = f"{core}{self.upper[0]}{self.upper[1]}"
        return f"{'#' if self.broadcast else ''}{core}{'?' if self.optional else ''}"

    def names(self) -> Iterator[str]:
        bounds = [pair[1] for pair in (self.lower, self.upper) if pair]
        for expr in (self.term, self.multiple, *bounds, *(self.choices or ())):
            if expr is not None:
                yield from arithmetic.names(expr)

    @property
    def dim(self) -> str | None:
        """The name that its size binds, if it stands alone."""
        return self.term.name if isinstance(self.term, Name) and "." not in self.term.name else None


def _grouped(expr: Expr | None) -> str:
    if expr is None:
        return "_"
    return f"({expr})" if isinstance(expr, Op) else str(expr)


@attrs.frozen
class Value:
    """The right side: dtypes (None: any), axes (None: any shape), and what holds of the values."""

    dtypes: frozenset[str] | None = None
    axes: tuple[Axis, ...] | None = None
    predicate: Predicate | None = None
    scopes: tuple[tuple[str, str], ...] = ()
    """(dim, scope) as said here."""

    def __str__(self) -> str:
        scopes = dict(self.scopes)
        axes = "..." if self.axes is None else " ".join(_scoped(axis, scopes) for axis in self.axes)
        text = f"{show_dtypes(self.dtypes)}[{axes}]"
        if self.predicate is None:
            return text
        inner = str(self.predicate)
        return f"{text} & ({inner})" if isinstance(self.predicate, predicates.Any_) else f"{text} & {inner}"


def _scoped(axis: Axis, scopes: dict[str, str]) -> str:
    found = {name: scopes[name] for name in (axis.run or "", *axis.names()) if name in scopes}
    core, mark = (str(axis)[:-1], "?") if axis.optional else (str(axis), "")
    if not found:
        return core + mark
    if set(found) <= {axis.dim, axis.run}:
        return f"{core}@{next(iter(found.values()))}{mark}"
    for name, scope in found.items():  # each by itself: at the end it would be said of all names of the axis
        core = re.sub(rf"(?<![\w.@]){name}(?![\w.@])", f"{name}@{scope}", core)
    return re.sub(r"(?<![\w.@])(\w+@\w+)$", r"(\1)", core) + mark


@attrs.frozen
class Rule:
    """One entry of a spec."""

    kind: str
    """`tensor`, `files`, `tensors`, `meta`, `config` or `index`."""
    file: Pattern | None
    name: Pattern | None
    value: Value
    optional: bool = False
    optional_if: Expr | None = None
    forbidden: bool = False
    when: frozenset[str] | None = None
    wanted: str | None = None
    """JSON that a `meta` or `config` value must equal."""
    scope: str = "host"
    """Of `files` and `tensors`: what is counted on each host, or in the whole check, over all hosts together."""

    @property
    def key(self) -> str:
        inner = f"{self.file} :: {self.name}" if self.file and self.name else str(self.file or self.name or "")
        if self.kind in ("files", "tensors"):
            inner = f"{self.kind}({inner})" + (f"@{self.scope}" if self.scope != "host" else "")
        elif self.kind in ("meta", "config"):
            inner = f"{self.kind}({self.name})"
            inner = f"{self.file} :: {inner}" if self.file else inner
        elif self.kind == "index":
            inner = "index"
        mark = " ? if " + str(self.optional_if) if self.optional_if else "?" if self.optional else ""
        when = f" when {show_dtypes(self.when)}" if self.when else ""
        return f"{'!' if self.forbidden else ''}{inner}{mark}{when}"

    @property
    def body(self) -> str:
        if self.wanted is not None:
            return f"== {self.wanted}"
        if self.kind in ("files", "tensors"):
            return _scoped(self.value.axes[0], dict(self.value.scopes)) if self.value.axes else "_"
        return "complete" if self.kind == "index" else "" if self.forbidden else str(self.value)

    def __str__(self) -> str:
        return f"{self.key}: {self.body}"


@attrs.frozen
class Spec:
    """A parsed spec. `str` of it parses to an equal one."""

    rules: tuple[Rule, ...]
    where: tuple[tuple[str, str], ...] = ()
    """(dim, what it is) said in the spec itself, as in dims=."""

    def __str__(self) -> str:
        return "\n".join([*(f"where {name}: {text}" for name, text in self.where), *map(str, self.rules)])

    @property
    def scopes(self) -> dict[str, str]:
        """Scope by dim; a name whose scope is said once has it everywhere."""
        found: dict[str, str] = {}
        for rule in self.rules:
            for name, scope in rule.value.scopes:
                if found.setdefault(name, scope) != scope:
                    raise ValueError(
                        f"{name} is {name}@{found[name]} in one place and {name}@{scope} in another; say it once"
                    )
        return found


def show_dtypes(found: frozenset[str] | None) -> str:
    """`bf16|f32`, `int`, or nothing for any."""
    if found is None:
        return ""
    for word, members in dtypes.CLASSES.items():
        if found == members:
            return word
    return "|".join(sorted(found, key=list(dtypes.BYTES).index))


# Axes.

_FLIP = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_ORDER = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_SCOPE = re.compile(r"@(\w+)(?!\w)")
_SCOPE_OF = re.compile(r"(?<![\w.])([A-Za-z_]\w*)@(\w+)(?!\w|$)")


def parse_axes(text: str) -> tuple[tuple[Axis, ...], dict[str, str]]:
    """The axes of a shape, and the scopes said in it."""
    scopes: dict[str, str] = {}
    axes = tuple(parse_axis(word, scopes) for word in _words(text))
    if sum(axis.run is not None for axis in axes) > 1:
        raise ValueError(f"{text.strip()!r} has two runs of axes; only one of ... and *name can be told apart")
    return axes, scopes


def _words(text: str) -> list[str]:
    """Split on blanks outside brackets."""
    words, depth, word = [], 0, ""
    for c in text:
        depth += (c in "({") - (c in ")}")
        if c.isspace() and depth == 0:
            words.append(word)
            word = ""
        else:
            word += c
    if depth:
        raise ValueError(f"{text.strip()!r}: a bracket is not closed")
    return [each for each in (*words, word) if each]


def parse_axis(word: str, scopes: dict[str, str], own: str = "") -> Axis:
    """One axis word; what `@scope` it has goes into `scopes`.  own: the dim that it is about, if that is known.

    `1<=s@file<=16` says of s what `1<=s<=16@file` says of what the word is about.
    """
    whole = word
    optional = word.endswith("?")
    word = word[:-1] if optional else word
    for name, said in _SCOPE_OF.findall(word):
        _put_scope(name, said, whole, scopes)
    word = _SCOPE_OF.sub(r"\1", word)
    scope = _SCOPE.search(word)
    word = word[: scope.start()] + word[scope.end() :] if scope else word
    tree_path = word.startswith("?")  # jaxtyping: may differ from leaf to leaf
    broadcast = word.startswith("#")
    word = word[1:] if tree_path or broadcast else word
    axis = attrs.evolve(_sized(word, whole, own), optional=optional, broadcast=broadcast)
    if scope or tree_path:
        said = scope[1] if scope else "tensor"
        for name in [axis.run] if axis.run else list(axis.names())[:1] if axis.dim else axis.names():
            _put_scope(name, said, whole, scopes)
    return axis


def _put_scope(name: str, said: str, whole: str, scopes: dict[str, str]) -> None:
    if said not in (*SCOPES, "check"):
        raise ValueError(
            f"{whole!r}: a dim is {', '.join('@' + each for each in SCOPES)}, or without a word the same in the whole check"
        )
    if said != "check":
        scopes[name] = said


def _sized(word: str, whole: str, own: str) -> Axis:
    if word == "...":
        return Axis(run="")
    if word.startswith("*"):
        if not re.fullmatch(r"\*[A-Za-z_]\w*", word):
            raise ValueError(f"{whole!r}: a run of axes is ... or *name")
        return Axis(run="" if word.startswith("*_") else word[1:])
    if word.startswith("_") and re.fullmatch(r"_\w*", word):
        return Axis()
    if (dtypes.known(word) and not word.isdigit()) or word in ("any", "num"):
        raise ValueError(f"{whole!r} is a dtype, not an axis; write {word}[…]")
    if re.fullmatch(r"\{[^{}]*\}", word):
        return Axis(choices=_choices(word))
    named = re.fullmatch(r"([A-Za-z_]\w*)=(\{[^{}]*\}|(?!=).+)", word)
    if named and not re.search(r"[<>]", word):
        if named[2].startswith("{"):
            return Axis(term=Name(named[1]), choices=_choices(named[2]))
        return attrs.evolve(_term(_einops(named[2]), whole), label=named[1])
    return _term(_einops(word), whole, own)


def _choices(word: str) -> tuple[Expr, ...]:
    return tuple(arithmetic.parse(each) for each in word[1:-1].split(","))


def _einops(word: str) -> str:
    """`(h d)` is a product, as in einops."""
    if " " not in word:
        return word
    if not re.fullmatch(r"\(\s*\w+(\s+\w+)+\s*\)", word):
        raise ValueError(f"{word!r}: arithmetic has no blanks; (h d) alone means h*d")
    return "*".join(word[1:-1].split())


def _term(word: str, whole: str, own: str = "") -> Axis:
    node = arithmetic.tree(word)
    if not isinstance(node, ast.Compare):
        return _multiple(node, word)
    operands, order = [node.left, *node.comparators], [_ORDER.get(type(op)) for op in node.ops]
    if None in order or len(operands) > 3:
        raise ValueError(f"{whole!r}: bounds are s<=4096, 1<=s, or 1<=s<=4096")
    signs = [str(sign) for sign in order]
    if len(operands) == 2 and not _is_bound(operands[0], operands[1], own):
        return _bounded(_multiple(operands[0], word), signs[0], operands[1], word)
    axis = _bounded(_multiple(operands[1], word), _FLIP[signs[0]], operands[0], word)
    return _bounded(axis, signs[1], operands[2], word) if len(operands) == 3 else axis


def _is_bound(left: ast.expr, right: ast.expr, own: str) -> bool:
    """Whether of two words the left one is the bound: a number, or the right one has the dim that they are about."""
    mine, others = (own in (n.id for n in ast.walk(side) if isinstance(n, ast.Name)) for side in (right, left))
    return isinstance(left, ast.Constant) or (mine and not others)


def _multiple(node: ast.expr, word: str) -> Axis:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return attrs.evolve(_multiple(node.left, word), multiple=arithmetic.from_ast(node.right, word))
    expr = arithmetic.from_ast(node, word)
    if isinstance(expr, Num) and (not isinstance(expr.value, int) or expr.value < 0):
        raise ValueError(f"{word!r}: a size is a whole number, at least 0; got {expr}")
    return Axis(term=None if isinstance(expr, Name) and expr.name.startswith("_") else expr)


def _bounded(axis: Axis, sign: str, bound: ast.expr, word: str) -> Axis:
    side = "upper" if sign in ("<", "<=") else "lower"
    if getattr(axis, side) is not None:
        raise ValueError(f"{word!r} has two {side} bounds")
    expr = arithmetic.from_ast(bound, word)
    return attrs.evolve(axis, upper=(sign, expr)) if side == "upper" else attrs.evolve(axis, lower=(_FLIP[sign], expr))


# The right side.


@lru_cache(maxsize=1024)
def parse_value(text: str) -> Value:
    """`bf16|f32[3 s@file h] & finite`: dtypes, axes, predicate; words of values alone are about a tensor of any shape."""
    match = re.match(r"\s*([A-Za-z0-9_|]*)\[", text)
    if match:
        inside, rest = _bracket(text, match.end())
        found = parse_dtypes(match[1]) if match[1] else None
        axes, scopes = parse_axes(inside)
        if rest.strip() and not rest.lstrip().startswith("&"):
            raise ValueError(
                f"{text.strip()!r}: after the shape comes & and what holds of the values; "
                "for one shape or another write two checks, TensorShapeSane(…) | TensorShapeSane(…)"
            )
        rest = rest.strip()[1:]
    elif (words := _only_values(text)) is not None:
        return _check_companions(Value(predicate=words))
    else:
        shape, sign, rest = text.partition("&")
        found = None
        axes, scopes = parse_axes(shape)
        if sign and not rest.strip():
            raise ValueError(f"{text.strip()!r} ends in &")
    predicate = predicates.parse(rest) if rest.strip() else None
    only_dots = len(axes) == 1 and axes[0].run == ""
    value = Value(found, None if only_dots else axes, predicate, tuple(sorted(scopes.items())))
    return _check_companions(value)


def _only_values(text: str) -> Predicate | None:
    """The predicate of a text without a shape, or None for axes. What opens as words about values is never read as axes."""
    bare = text.strip().removeprefix("&").strip()
    shape = bare.partition("&")[0].strip()
    try:
        found = predicates.parse(bare)
    except ValueError as error:
        if predicates.opens(bare):
            raise ValueError(f"{error}; axes of such names stand in brackets: [{shape}]") from None
        _refuse_tail(shape)
        return None
    return None if text.lstrip().startswith("{") else found  # a set is an axis; of values it is `in {0,1}`


def _refuse_tail(shape: str) -> None:
    """`b s finite` may be three axes, or lack an &: so it is refused."""
    words = _words(shape)
    for k in range(1, len(words)):
        tail = " ".join(words[k:])
        if predicates.begins(tail) and _reads_as_values(tail):
            before = " ".join(words[:k])
            raise ValueError(
                f"{shape!r}: {tail!r} is said of values, and may be meant as axes; "
                f"write [{before}] & {tail}, or [{' '.join(words)}]"
            )


def _reads_as_values(text: str) -> bool:
    try:
        return predicates.parse(text) is not None
    except ValueError:
        return False


def _bracket(text: str, at: int) -> tuple[str, str]:
    depth = 1
    for k in range(at, len(text)):
        depth += (text[k] == "[") - (text[k] == "]")
        if depth == 0:
            return text[at:k], text[k + 1 :]
    raise ValueError(f"{text.strip()!r}: the [ is not closed")


def parse_dtypes(text: str) -> frozenset[str] | None:
    """`bf16|f32`, `int`, `any`."""
    out: frozenset[str] = frozenset()
    for word in text.split("|"):
        if word in ("any", "num"):
            return None
        found = dtypes.known(word)
        if found is None:
            raise ValueError(
                f"{word!r} is no dtype; they are {', '.join(dtypes.BYTES)}, {', '.join(dtypes.CLASSES)}, any"
            )
        out |= found
    return out


def _check_companions(value: Value) -> Value:
    """Companions are parsed once to be refused where the spec is built; their dims belong to one tensor."""
    scopes = dict(value.scopes)
    for atom in predicates.atoms(value.predicate) if value.predicate else ():
        if atom.word == "companion":
            parse_value(atom.arguments[1])
            for axis in value.axes or ():
                if axis.dim:
                    scopes.setdefault(axis.dim, "tensor")
        if atom.word in ("same", "tied", "shared"):
            names.parse(atom.arguments[0])
    return attrs.evolve(value, scopes=tuple(sorted(scopes.items())))


# The left side.

_KEY = re.compile(
    r"^(?P<not>!)?\s*(?P<core>.*?)\s*(?P<mark>\?)?(?:\s+if\s+(?P<cond>.+?))?(?:\s+when\s+(?P<when>[\w|]+))?$", re.S
)
_WHERE = re.compile(r"^\s*where\s+([A-Za-z_]\w*)\s*$")
_FUNCTION = re.compile(r"^(files|count|tensors|meta|config)\((.*)\)(?:@(\w+))?$", re.S)


def parse_rule(key: str, text: Any) -> Rule:
    """One entry of a mapping."""
    if not isinstance(key, str):
        raise TypeError(f"a spec maps name patterns to shapes, text to text; got the key {key!r}")
    match = _KEY.match(key.strip())
    assert match is not None  # every part is optional
    core, condition = match["core"], match["cond"]
    if condition and not match["mark"]:
        raise ValueError(
            f"{key!r}: a condition belongs to an optional name: `lm_head.weight? if config.tie_word_embeddings`"
        )
    common: dict[str, Any] = {
        "optional": bool(match["mark"]) and not condition,
        "optional_if": arithmetic.parse(condition) if condition else None,
        "forbidden": bool(match["not"]),
        "when": parse_dtypes(match["when"]) if match["when"] else None,
    }
    file, core = _file_of(core)
    function = _FUNCTION.match(core)
    if core == "index" and str(text).strip() == "complete":
        return Rule("index", file, None, Value(), **common)
    if function:
        common["scope"] = _count_scope(function[1], function[3], key)
        return _function_rule(function[1], function[2].strip(), file, text, key, common)
    value = Value() if match["not"] and not str(text or "").strip() else _value(text, key)
    return Rule("tensor", file, names.parse(core), value, **common)


def _file_of(core: str) -> tuple[Pattern | None, str]:
    file, colons, name = core.partition("::")
    return (names.parse(file, "/"), name.strip()) if colons else (None, core)


def _count_scope(kind: str, scope: str | None, key: str) -> str:
    if scope is not None and (kind in ("meta", "config") or scope not in ("host", "check")):
        raise ValueError(
            f"{key!r}: files(…) and tensors(…) are counted @host, which is the default, or @check, over all hosts together"
        )
    return scope or "host"


def _function_rule(kind: str, inside: str, file: Pattern | None, text: Any, key: str, common: dict[str, Any]) -> Rule:
    if kind in ("meta", "config"):
        wanted = _json_of(text)
        value = Value() if wanted is not None else _value(text, key)
        return Rule(kind, file, names.parse(inside), value, wanted=wanted, **common)
    scopes: dict[str, str] = {}
    words = _words(str(text).replace("==", "", 1) if str(text).lstrip().startswith("==") else str(text))
    if len(words) != 1:
        raise ValueError(f"{key!r} is a number, a name, or bounds, as in files(hs_*.pt): 1<=n; got {text!r}")
    value = Value(axes=(parse_axis(words[0], scopes),), scopes=tuple(sorted(scopes.items())))
    if kind == "tensors":
        inner, name = _file_of(inside)
        return Rule("tensors", inner, names.parse(name), value, **common)
    return Rule("files", names.parse(inside, "/"), None, value, **common)


def _json_of(text: Any) -> str | None:
    """What a metadata value must equal, as canonical JSON: `== [3,31,59]`, or a plain list, number or truth value."""
    if not isinstance(text, str):
        return json.dumps(_plain(text), sort_keys=True)
    if not text.lstrip().startswith("=="):
        return None
    raw = text.lstrip()[2:].strip()
    try:
        return json.dumps(json.loads(raw), sort_keys=True)
    except ValueError:
        return json.dumps(raw.strip("'\""))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def _value(text: Any, key: str) -> Value:
    annotation = from_jaxtyping(text)
    if annotation is not None:
        return annotation
    if isinstance(text, (tuple, list)) and all(isinstance(n, int) and not isinstance(n, bool) for n in text):
        return parse_value(f"[{' '.join(map(str, text))}]")
    if not isinstance(text, str):
        raise TypeError(f"{key!r}: a shape is text as in 'bf16[s h]', or a jaxtyping annotation; got {text!r}")
    try:
        return parse_value(text)
    except ValueError as error:
        raise ValueError(f"{key!r}: {error}") from None


def from_jaxtyping(annotation: Any) -> Value | None:
    """The value of `Float[Tensor, "b s h"]`, or None for anything else. What its dims mean there they mean here."""
    text, kinds = getattr(annotation, "dim_str", None), getattr(annotation, "dtypes", None)
    if not isinstance(text, str) or kinds is None or isinstance(annotation, str):
        return None
    value = parse_value(f"[{text}]")
    if not isinstance(kinds, (list, tuple, set, frozenset)):  # Shaped: any dtype
        return value
    found = frozenset(dtypes.short(kind) for kind in kinds if isinstance(kind, str))
    return attrs.evolve(value, dtypes=found & frozenset(dtypes.BYTES) or None)


def text_of(spec: Any) -> Any:
    """A spec as plain text or a mapping of texts, so that it can be stored: annotations are written out."""
    if isinstance(spec, Spec):
        return str(spec)
    annotation = from_jaxtyping(spec)
    if annotation is not None:
        return str(annotation)
    if isinstance(spec, Mapping):
        return {
            key: text if isinstance(text, str) else str(from_jaxtyping(text) or "") or text
            for key, text in spec.items()
        }
    return spec


def parse(spec: Any) -> Spec:
    """A spec from a text, a mapping, or a jaxtyping annotation.

    A text with a colon is rules, `name: shape`, on lines of their own or separated by `;`; one without is a shape that
    every tensor has.  Raises ValueError or TypeError, naming the word.
    """
    if isinstance(spec, Spec):
        return spec
    pairs: list[tuple[Any, Any]] = []
    if isinstance(spec, Mapping):
        pairs = list(spec.items())
    elif isinstance(spec, str) and (_has_rules(spec) or not _lines(spec)):
        pairs = [_colon(line) for line in _lines(spec)]
    else:
        return Spec((Rule("tensor", None, names.parse("**"), _value(spec, "spec")),))
    where = tuple((match[1], str(text).strip()) for key, text in pairs if (match := _WHERE.match(str(key))))
    rules = tuple(parse_rule(key, text) for key, text in pairs if not _WHERE.match(str(key)))
    if not rules:
        raise ValueError("a spec names at least one tensor; got an empty one, and nothing looked at is never a pass")
    made = Spec(rules, where)
    _ = made.scopes  # refuses contradictions now
    return made


def _outside(text: str, wanted: str) -> Iterator[int]:
    depth = 0
    for k, c in enumerate(text):
        depth += (c in "({[") - (c in ")}]")
        if depth == 0 and c in wanted:
            yield k


def _has_rules(text: str) -> bool:
    if any(line.startswith("!") for line in _lines(text)):
        return True
    return any(text[k : k + 2] != "::" and text[k - 1 : k + 1] != "::" for k in _outside(text, ":"))


def _lines(text: str) -> list[str]:
    cuts = [-1, *_outside(text, ";\n"), len(text)]
    lines = (text[a + 1 : b].strip() for a, b in itertools.pairwise(cuts))
    return [line for line in lines if line and not line.startswith("# ")]


def _colon(line: str) -> tuple[str, str]:
    colons = [k for k in _outside(line, ":") if line[k : k + 2] != "::" and line[k - 1 : k + 1] != "::"]
    if colons:  # a name may have colons of its own, as in `dense/kernel:0: f32[8 4]`
        k = next((k for k in colons if not line[k + 1 : k + 2].strip()), colons[0])
        return line[:k], line[k + 1 :].strip()
    if line.startswith("!"):
        return line, ""
    raise ValueError(f"{line!r}: a rule is `name: shape`, as in `input_ids: i64[b s]`")
