"""The grammar of specs: what parses, what it parses to, and what is refused with which words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verikit.spec import arithmetic, grammar, names, predicates
from verikit.spec.arithmetic import Call, Inexact, Name, Num, Op, Unbound
from verikit.spec.grammar import Axis, parse, parse_value

# Values of the grammar, generated; their text must parse to them.

DIM = st.sampled_from(["h", "s", "v", "rows", "config.text_config.hidden_size"])
WHOLE = st.integers(0, 10**6).map(Num)
EXPR = st.recursive(
    st.one_of(WHOLE, DIM.map(Name)),
    lambda inner: st.one_of(
        st.builds(Op, st.sampled_from(["+", "-", "*", "//", "/", "%", "or"]), inner, inner),
        st.builds(lambda a: Call("ceil", (a,)), inner),
        st.builds(lambda a, b: Call("min", (a, b)), inner, inner),
    ),
    max_leaves=6,
)


def flat_or(expr):
    """`a or (b or c)` and `(a or b) or c` are the same text; only the left one is what the parser builds."""
    match expr:
        case Op("or", _, Op("or", _, _)):
            return False
        case Op(_, left, right):
            return flat_or(left) and flat_or(right)
        case Call(_, arguments):
            return all(map(flat_or, arguments))
    return True


NO_OR = EXPR.filter(lambda expr: "or" not in str(expr).split())
TERM = NO_OR.filter(
    lambda expr: not (isinstance(expr, Op) and expr.op == "%") and not (isinstance(expr, Num) and expr.value < 0)
)
BOUND = st.tuples(st.sampled_from(["<", "<="]), NO_OR)
SIZED = st.builds(
    Axis,
    term=st.one_of(st.none(), TERM),
    lower=st.one_of(st.none(), BOUND),
    upper=st.one_of(st.none(), BOUND),
    multiple=st.one_of(st.none(), WHOLE, DIM.map(Name)),
    optional=st.booleans(),
).filter(lambda axis: not isinstance(axis.term, Num) or not (axis.lower or axis.upper))
AXIS = st.one_of(
    SIZED,
    st.builds(
        Axis, choices=st.lists(WHOLE, min_size=1, max_size=3).map(tuple), term=st.sampled_from([None, Name("n")])
    ),
    st.builds(Axis, term=WHOLE, label=st.just("rows"), broadcast=st.booleans()),
)
SHAPE = st.builds(
    lambda before, run, after: (*before, *run, *after),
    st.lists(AXIS, max_size=3),
    st.sampled_from([(), (Axis(run=""),), (Axis(run="b"),)]),
    st.lists(AXIS, max_size=2),
)
NUMBER = st.one_of(st.integers(-1000, 1000), st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 4))).map(Num)
STATISTIC = st.one_of(
    st.sampled_from(["nonzero", "constant"]).map(predicates.Atom),
    st.builds(lambda word, n: predicates.Atom(word, (">=", n)), st.sampled_from(["rms", "sum", "min"]), NUMBER),
    st.builds(lambda n, m: predicates.Atom("count", (n, "..", m, m)), NUMBER, NUMBER),
)
ATOM = st.one_of(
    st.sampled_from(
        [*"finite nonzero constant rising falling distinct real dense contiguous owned".split(), "rows distinct"]
    ).map(predicates.Atom),
    st.builds(lambda a, b: predicates.Atom("in", (a, b)), NUMBER, NUMBER),
    st.builds(lambda row: predicates.Atom("one of", tuple(row)), st.lists(NUMBER, min_size=1, max_size=3)),
    st.builds(
        lambda word, n: predicates.Atom(word, (n,)),
        st.sampled_from(["==", "!=", "<=", ">=", "<", ">", "abs<=", "abs<", "step"]),
        NUMBER,
    ),
    st.builds(
        lambda word, n, m: predicates.Atom(word, ("..", n, m)),
        st.sampled_from(["rms", "mean", "std", "sum", "min", "max"]),
        NUMBER,
        NUMBER,
    ),
    st.builds(lambda n, m: predicates.Atom("count", (n, "==", m)), NUMBER, NUMBER),
    st.just(predicates.Atom("on", ("cpu", "cuda"))),
    st.just(predicates.Atom("planes distinct", (Num(0),))),
    st.just(predicates.Atom("tied", ("model.embed_tokens.weight",))),
    st.just(predicates.Atom("companion", (".qweight -> .scales", "f16[ceil(8*r/g) o]"))),
    st.just(predicates.Atom("companion", ("_scale_inv", "f32[ceil(r/128) ceil(c/128)] & nonzero"))),
)


def joined(kind):
    """Parts joined by one sign, none of them joined by the same: that is how the parser builds them."""
    return lambda inner: st.lists(inner.filter(lambda part: not isinstance(part, kind)), min_size=2, max_size=3).map(
        lambda row: kind(tuple(row))
    )


def tree(leaf):
    """Predicates of leaves joined by &, |, ~."""
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            joined(predicates.All)(inner), joined(predicates.Any_)(inner), inner.map(predicates.Not)
        ),
        max_leaves=5,
    )


EACH = st.builds(predicates.Each, st.none() | st.integers(-3, 3).map(Num), tree(STATISTIC))
PREDICATE = tree(st.one_of(ATOM, EACH))


@given(EXPR.filter(flat_or))
def test_arithmetic_round_trip(expr):
    """
    An expression prints as a word that parses to it.
    """
    text = str(expr)
    if len(text) <= arithmetic.LONGEST_WORD:
        assert arithmetic.parse(text) == expr


@given(SHAPE)
@settings(deadline=None)
def test_shape_round_trip(axes):
    """
    A shape prints as a text that parses to it.
    """
    text = " ".join(map(str, axes))

    assert grammar.parse_axes(text)[0] == axes


@given(PREDICATE)
@settings(deadline=None)
def test_predicate_round_trip(predicate):
    """
    What is said of values prints as a text that parses to it.
    """
    assert predicates.parse(str(predicate)) == predicate


@given(SHAPE, st.one_of(st.none(), PREDICATE), st.sampled_from([None, "bf16", "bf16|f32", "int", "e4m3"]))
@settings(deadline=None)
def test_value_round_trip(axes, predicate, kinds):
    """
    A whole right side does, too.
    """
    made = grammar.Value(grammar.parse_dtypes(kinds) if kinds else None, axes, predicate)
    value = parse_value(str(made))

    assert parse_value(str(value)) == value
    assert (value.dtypes, value.predicate) == (made.dtypes, made.predicate)


@given(PREDICATE)
@settings(deadline=None)
def test_values_alone(predicate):
    """
    Whatever is said of values is read as that without a shape and without brackets, too.
    """
    text = str(predicate)

    assert parse_value(text) == parse_value(f"[...] & ({text})")
    assert parse_value(text).axes is None


HEADS = [
    *"finite nan inf nonzero constant rising falling distinct real dense contiguous owned rms mean std sum min max".split(),
    *"first last count step on abs same tied shared companion".split(),
    *("rows distinct", "planes distinct", "rows nonzero", "planes(0) sum", "rows max"),
]
AXES = st.lists(st.sampled_from(["h", "3", "_", "2*h", "{1,3}", "...", "h//8", "v%64"]), max_size=2)


@given(AXES, st.sampled_from(HEADS), st.sampled_from(["", " 1", " == 3", " 0..1", "(x)", " cpu"]), AXES)
@settings(deadline=None)
def test_words_of_values_are_never_axes(before, head, argument, after):
    """
    A word about values is read as such or refused: axes of its name stand in brackets.
    """
    if before.count("...") + after.count("...") > 1 or (head in arithmetic.FUNCTIONS and argument == "(x)"):
        return  # min(x) is arithmetic
    words = [*before, head + argument, *after]
    text, reads = " ".join(words), predicates_of(head + argument)
    try:
        value = parse_value(text)
    except ValueError:
        return

    assert value.axes is None or (before and not (reads and not after)), str(value)


def predicates_of(text):
    try:
        return predicates.parse(text)
    except ValueError:
        return None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("max 3", r"axes of such names stand in brackets: \[max 3\]"),
        ("step", r"in brackets: \[step\]"),
        ("step 1 h", r"in brackets: \[step 1 h\]"),
        ("rows distinct(0)", r"in brackets: \[rows distinct\(0\)\]"),
        ("tied embed.weight", r"in brackets: \[tied embed.weight\]"),
        ("b s finite", r"write \[b s\] & finite, or \[b s finite\]"),
        ("b s step 1 & first == 0", r"write \[b s\] & step 1, or \[b s step 1\]"),
        ("s max<=8", r"write \[s\] & max<=8, or \[s max<=8\]"),
        ("n rows distinct", r"write \[n\] & rows distinct"),
    ],
)
def test_words_of_values_among_axes(text, says):
    """
    A shape without brackets that may as well lack an & is refused, with both ways to write it.
    """
    with pytest.raises(ValueError, match=says):
        parse_value(text)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("rows 64", "[rows 64]"),
        ("rows cols", "[rows cols]"),
        ("max(a,b) 3", "[max(a,b) 3]"),
        ("1<=step<=8", "[1<=step<=8]"),
        ("[step 1]", "[step 1]"),
        ("[finite h]", "[finite h]"),
        ("count=4 h", "[count=4 h]"),
        ("{1,3}", "[{1,3}]"),
        ("& {1,3}", "[...] & in {1,3}"),
        ("step 1 & first == 0", "[...] & step 1 & first == 0"),
    ],
)
def test_axes_beside_words_of_values(text, same):
    """
    Axes that no word about values reads as are axes, and so is all within brackets.
    """
    assert str(parse_value(text)) == same


@pytest.mark.parametrize(
    "text",
    [
        "*b@file 3",
        "3*h@file",
        "h (0+h@tensor)%s",
        "s<=(v@file)",
        "s*(h@file)",
        "1<=s@file<=16",
        "s@file?",
        "s@host*(h@file)",
    ],
)
def test_scopes_round_trip(text):
    """
    A scope prints with the dim that it is of, and with no other of the same axis.
    """
    value = parse_value(text)

    assert value.scopes
    assert parse_value(str(value)) == value


RULES = """
where h: config.hidden_size
model.layers.{i:0..L-1}.self_attn.{p:q,k,v}_proj.weight: bf16[_ h]
lm_head.weight? if config.tie_word_embeddings: bf16[v h] & tied(model.embed_tokens.weight)
hs_{k:0000..9999}.pt :: hidden_states: bf16[3 s@file h] & finite & rms 1e-2..1e2 & planes distinct(0)
hs_*.pt :: loss_mask: i64|bool[s] & in {0,1} & nonzero
!**.bias
**.weight when e4m3: [r c] & companion(_scale_inv, f32[ceil(r/128) ceil(c/128)] & nonzero)
files(hs_*.pt): 1<=n
files(hs_{k:0..9999}.pt)@check: 10000
tensors(**.weight)@check: 2*n
tensors(hs_*.pt :: **): 3*n
meta(layer_ids): == [3, 31, 59]
hs_*.pt :: meta(layer_ids): [3] & distinct & in 0..60
config(dflash_config.target_layer_ids): [n] & distinct
index: complete
where L: config.num_hidden_layers
where v: 320
"""


def test_rules_round_trip():
    """
    A spec of every kind of rule prints as a text that parses to it.
    """
    spec = parse(RULES.replace("!**.bias\n", "!**.bias: \n"))

    assert parse(str(spec)) == spec
    assert len(spec.rules) == 14
    assert spec.scopes == {"c": "tensor", "r": "tensor", "s": "file"}


def test_mapping_and_text_agree():
    """
    A mapping and the same rules as lines, or separated by semicolons, are one spec.
    """
    pairs = {"input_ids": "i64[b s]", "labels": "i64[b s] & (in 0..9 | == -100)"}
    lines = "\n".join(f"{key}: {value}" for key, value in pairs.items())

    assert parse(pairs) == parse(lines) == parse(lines.replace("\n", "; "))


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("dim dim 7168", "[dim dim 7168]"),
        ("b s (h d)", "[b s h*d]"),
        ("*batch _ 3", "[*batch _ 3]"),
        ("... h", "[... h]"),
        ("float32[3]", "f32[3]"),
        ("fp8[r c]", "e4m3[r c]"),
        ("4096>=s>0", "[0<s<=4096]"),
        ("rows=4 h", "[rows=4 h]"),
        ("#b h", "[#b h]"),
        ("", "[]"),
    ],
)
def test_spellings(text, same):
    """
    Spellings of jaxtyping, einops and torch mean what their users mean by them.
    """
    assert str(parse_value(text)) == same


class Annotated:
    """As jaxtyping makes them: `Float[Tensor, "b s h"]` has these two attributes."""

    def __init__(self, dim_str, dtypes):
        self.dim_str, self.dtypes = dim_str, dtypes


def test_jaxtyping_annotation():
    """
    An annotation is its dims and its dtypes, float8 among them, as jaxtyping has it.
    """
    value = grammar.from_jaxtyping(Annotated("b s h", ["float16", "bfloat16", "float8_e4m3fn"]))

    assert value is not None
    assert value.dtypes == {"f16", "bf16", "e4m3"}
    assert [axis.dim for axis in value.axes] == ["b", "s", "h"]


@pytest.mark.parametrize(
    ("spec", "word"),
    [
        ("bf16", "bf16"),
        ("bf16[3", "not closed"),
        ("3 * h", r"'\*'"),
        ("... *b", "two runs"),
        ("bf17[3]", "bf17"),
        ("s@shard", "@file"),
        ("__import__('os')", "no"),
        ("f(h)", "ceil"),
        ("-3", "at least 0"),
        ("2.5", "whole number"),
        ("bf16[3] & fnite", "fnite"),
        ("bf16[3] & in 0-5", "low..high"),
        ("bf16[3] & (finite", "not closed"),
        ("bf16[3] finite", "after the shape comes &"),
        ("bf16[3] | f32[3]", "two checks"),
        ("bf16[3] & companion(_s)", "suffix and a spec"),
        ("bf16[3] & companion(_s, f32[)", "not closed"),
        ("h" * 500, "at most 400"),
        ({}, "at least one tensor"),
        ({"": "3"}, "not empty"),
        ({"l.{i:0}.w": "3"}, None),
        ({"l.{}.w": "3"}, "brace"),
        ({"l.{p:a,,b}.w": "3"}, "empty choice"),
        ({"w if config.x": "3"}, "optional name"),
        ({"w": "s@file", "x": "s@host"}, "say it once"),
        ({"files(*.pt)@file": "3"}, "counted @host, which is the default, or @check, over all hosts"),
        ({"meta(step)@check": "== 3"}, "counted @host, which is the default, or @check, over all hosts"),
        ({"files(*.pt)": "3 4"}, "a number, a name, or bounds"),
        ({3: "h"}, "text to text"),
        ({"w": 3}, "a shape is text"),
    ],
)
def test_malformed(spec, word):
    """
    What can't be meant is refused where it is built, with the word and what would be right.
    """
    if word is None:
        parse(spec)
        return
    with pytest.raises((ValueError, TypeError), match=word):
        parse(spec)


@given(st.text(max_size=40))
@settings(max_examples=300, deadline=None)
def test_any_text(text):
    """
    Any text at all parses or is a ValueError, never anything else.
    """
    for reader in (parse_value, predicates.parse, names.parse, lambda text: parse({text: text})):
        try:
            reader(text)
        except ValueError:
            continue


# Arithmetic.


@given(st.integers(1, 99), st.integers(1, 99), st.integers(0, 99))
def test_solve_undoes_evaluate(h, k, c):
    """
    What `solve_for` finds is what the expression was made from.
    """
    for word in ("k*h", "h*k+c", "(h+c)*k", "k*(h-c)", "c+h*k", "(h+h1)*k"):
        expr = arithmetic.parse(word)
        env = {"h": h, "k": k, "c": c, "h1": 3}
        size = arithmetic.size(expr, env.__getitem__)

        assert arithmetic.solve_for(expr, "h", size, {**env, "h": None}.__getitem__) == h


def test_remainders():
    """
    `//` and inversion leave no remainder silently; a name that stands twice can't be found.
    """
    with pytest.raises(Inexact, match="13 is not a multiple of 8"):
        arithmetic.size(arithmetic.parse("h//8"), {"h": 13}.__getitem__)
    with pytest.raises(Inexact, match="200 is not a multiple of 3"):
        arithmetic.solve_for(arithmetic.parse("3*h"), "h", 200, {}.__getitem__)
    with pytest.raises(Unbound):
        arithmetic.solve_for(arithmetic.parse("h+h"), "h", 200, {}.__getitem__)

    assert arithmetic.size(arithmetic.parse("ceil(h/8)"), {"h": 13}.__getitem__) == 2


# Names.


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("model.layers.{i:0..3}.w", "model.layers.2.w", "model.layers.x.w"),
        ("**.weight", "weight", "model.weights"),
        ("**.weight", "a.b.weight", "a.b.weight.x"),
        ("*.weight", "a.weight", "a.b.weight"),
        ("{p:q,k}_proj", "q_proj", "v_proj"),
        ("a+b", "a+b", "aab"),
        ("{i}.{i}", "3.3", "3.4"),
    ],
)
def test_patterns(pattern, yes, no):
    """
    A star stays within its part, two stars do not, and all else is itself.
    """
    import re

    regex = re.compile(names.parse(pattern).regex())

    assert regex.fullmatch(yes)
    assert not regex.fullmatch(no)


def test_collapsed():
    """
    Names fold over their numbers, runs as ranges.
    """
    rows = [f"layers.{i}.w" for i in (0, 1, 2, 5)] + ["norm"]

    assert names.collapsed(rows) == [("layers.{0..2,5}.w", 4), ("norm", 1)]
