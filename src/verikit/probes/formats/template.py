r"""Chat templates (Jinja2) as text: what one would reach for if rendered without a sandbox. Never rendered here.

A template walks out of its variables by Python's own attributes (`''.__class__.__mro__[1].__subclasses__()`,
`cycler.__init__.__globals__`), written plainly, as a string in `[…]` or `attr(…)`, escaped (`'\x5f\x5f'`), or joined
from parts. No honest template needs one of them. Precedent: CVE-2024-34359 (llama-cpp-python).
"""

import re

_EXPRESSION = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.S)
_ESCAPE = re.compile(r"\\x([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\([0-7]{3})")
_JOINT = re.compile(r"""(['"])\s*(?:~|\+|\s)\s*(['"])""")
_REACHES = re.compile(
    r"__(?:class|mro|bases?|subclasses|globals|builtins|import|init|getattribute|getattr|dict|code|reduce|reduce_ex|call"
    r"|func|self|loader|spec|module|closure|new|wrapped|enter|exit|subclasshook|init_subclass|getitem|kwdefaults)__"
)
_ATTRIBUTE = re.compile(r"\|\s*attr\s*\(\s*(?!['\"])|\bmap\s*\(\s*attribute\s*=\s*(?!['\"])")


def judge(text):
    """(what it reaches for, what can't be told): names, each None if there is nothing of the kind."""
    reaches = doubt = None
    for match in _EXPRESSION.finditer(text):
        code = _JOINT.sub("", _ESCAPE.sub(_character, match.group()))
        found = _REACHES.search(code)
        if found:
            reaches = reaches or found.group()
        elif _ATTRIBUTE.search(code):
            doubt = doubt or "an attribute whose name is computed"
    return reaches, doubt


def _character(match):
    one, two, octal = match.groups()
    return chr(int(one or two, 16) if one or two else int(octal, 8))
