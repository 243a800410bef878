r"""Chat templates (Jinja2) as text: what one would reach for if rendered without a sandbox. Never rendered here.

A template walks out of its variables by Python's own attributes (`''.__class__.__mro__[1].__subclasses__()`,
`cycler.__init__.__globals__`), written plainly, as a string in `[…]` or `attr(…)`, escaped (`'\x5f\x5f'`), or joined
from parts. No honest template needs one of them. Precedent: CVE-2024-34359 (llama-cpp-python).
They are keys of a GGUF, entries of JSON files, or, since 2025, a file `chat_template.jinja` beside tokenizer_config.json.
"""

import re

_OPEN = re.compile(r"\{[{%]")
_STEP = re.compile(r"['\"\\]|\}\}|%\}")
_ESCAPE = re.compile(r"\\x([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\([0-7]{3})")
_JOINT = re.compile(r"['\"] ?[~+]? ?['\"]")
_REACHES = re.compile(
    r"__(?:class|mro|bases?|subclasses|globals|builtins|import|init|getattribute|getattr|dict|code|reduce|reduce_ex|call"
    r"|func|self|loader|spec|module|closure|new|wrapped|enter|exit|subclasshook|init_subclass|getitem|kwdefaults)__"
)
_LITERAL = r"(?!(?:'[^'\"]*'|\"[^'\"]*\") ?[,)])"
# What a sandbox refuses, or what no template of one piece can need: nobody can tell from the text what it comes to.
_DOUBTS = (
    (re.compile(r"\| ?attr ?\( ?" + _LITERAL + r"|\battribute ?= ?" + _LITERAL), "an attribute whose name is computed"),
    (re.compile(r"\[ ?(?:'[^']*'|\"[^\"]*\") ?[|%\[*+~]"), "an item whose name is computed"),
    (re.compile(r"[\w)\]] ?\. ?_[A-Za-z]"), "a private attribute"),
    (re.compile(r"^\{%[-+]? ?(?:include|import|extends|from)\b"), "another template"),
)


LIMIT = 4 << 20
"""Bytes of a template that are looked through."""


def structure(file, layout):
    """A template that is a file of its own."""
    layout.format = "plain"  # it stands beside a checkpoint and holds nothing of it
    layout.span("", 0, file.size)
    if file.size > LIMIT:
        layout.warn("bound_reached", "of its {:,} bytes only {:,} were looked through".format(file.size, LIMIT))
    tell(file.at(0, LIMIT).decode("utf-8", "replace"), "its text", layout)


def tell(text, where, layout):
    """Tells what the template at `where` reaches for."""
    reaches, doubt = judge(text)
    if reaches:
        layout.hidden.append({"what": reaches, "where": where, "kind": "chat template"})
    elif doubt:
        layout.unseen("ambiguous", "the chat template %s uses %s" % (where, doubt))


def judge(text):
    """(what it reaches for, what can't be told): names, each None if there is nothing of the kind."""
    reaches = doubt = None
    for code in _expressions(text):
        code = _JOINT.sub("", _ESCAPE.sub(_character, " ".join(code.split())))
        found = _REACHES.search(code)
        if found:
            reaches = reaches or found.group()
        else:
            doubt = doubt or next((what for sign, what in _DOUBTS if sign.search(code)), None)
    return reaches, doubt


def _expressions(text):
    """What stands between `{{ }}` and `{% %}`, the rest of the text where one is never closed. One pass, no backtracking."""
    at = 0
    while True:
        begin = _OPEN.search(text, at)
        if begin is None:
            return
        at = _end(text, begin.end(), "}}" if begin.group() == "{{" else "%}")
        yield text[begin.start() : at]


def _end(text, at, close):
    """Where an expression ends: at its mark, but for one within a string."""
    quote = None
    while True:
        step = _STEP.search(text, at)
        if step is None:
            return len(text)
        mark, at = step.group(), step.end()
        if mark == "\\":
            at += quote is not None
        elif quote is not None:
            quote = None if mark == quote else quote
        elif mark == close:
            return at
        elif mark in "'\"":
            quote = mark


def _character(match):
    one, two, octal = match.groups()
    return chr(int(one or two, 16) if one or two else int(octal, 8))
