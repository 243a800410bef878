"""Sphinx: `make docs`."""

import re

from verikit import __version__

project = "verikit"
author = "the verikit maintainers"
copyright = f"2026, {author}"
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "verikit"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say what each argument takes

# Docstrings are written for `help()`: code in single backticks, `name: meaning` for each argument, several of them on a
# line behind two spaces each, code set in.  What follows writes them as Sphinx reads them.
GIVEN = re.compile(r"(?:^|(?<=  ))([a-z_]+(?:, [a-z_]+)*): +(?=\S)")
CODE = re.compile(r"`+([^`]+)`+")


def docstring(app, what, name, obj, options, lines):
    """Rewrites a docstring in place, paragraph by paragraph."""
    paragraphs = "\n".join(lines).strip("\n").split("\n\n")
    lines[:] = "\n\n".join(
        literal(each) if each.startswith(" ") else "\n".join(prose(each)) for each in paragraphs
    ).split("\n")
    lines.append("")


def literal(paragraph):
    """What is set in is code."""
    return "::\n\n" + paragraph


def prose(paragraph):
    """A paragraph's lines, each argument that it explains as an entry of a definition list."""
    within, last = False, ""
    for line in paragraph.split("\n"):
        if within and last.endswith(".") and line[:1].isupper():  # a sentence about the whole again
            within = False
            yield ""
        before, *given = GIVEN.split(line)
        if before.strip():
            yield ("    " if within else "") + marked(before.strip())
        for names, meaning in zip(given[::2], given[1::2], strict=True):
            within = True
            yield from ("", ", ".join(f"``{each}``" for each in names.split(", ")), "    " + marked(meaning.strip()))
        last = line.rstrip()
    yield ""


def marked(text):
    """The line with code marked as such, and nothing else read as markup."""
    parts = CODE.split(text)
    return "".join(f"``{part}``" if n % 2 else re.sub(r"([*@|])", r"\\\1", part) for n, part in enumerate(parts))


def signature(app, what, name, obj, options, args, returns):
    """attrs writes a default that is made anew as NOTHING; a reader knows it as left out."""
    return (args and args.replace("=NOTHING", "=…"), returns)


def setup(app):
    app.connect("autodoc-process-docstring", docstring)
    app.connect("autodoc-process-signature", signature)
