"""Every example of the documents is run, page by page; what a page says is printed must be printed.

A page's ```python blocks run one after another in one namespace and in an empty folder. A ```text block after one is
what was printed: its lines must come in that order, `…` standing for anything. A block in a comment `<!-- run … -->`
runs too but is not shown. Hosts in examples are agents on this machine, under the names that the example gives them.
"""

import contextlib
import io
import pathlib
import re

import pytest

import verikit
from verikit import SSH
from verikit.hosts import OPENERS

ROOT = pathlib.Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^(?:```(python|text)\n(.*?)^```|<!-- run\n(.*?)^-->)", re.DOTALL | re.MULTILINE)


async def open_here(address, pool):
    """An agent on this machine, under another name."""
    from verikit import Local
    from verikit.hosts.local import open_local

    host = await open_local(Local(), pool)
    host.address = address
    return host


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_run(page, tmp_path, monkeypatch):
    """
    The examples of the page run, and print what the page says.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(OPENERS, SSH, (__name__, "open_here"))
    space, out = {"__name__": f"example_{page.stem}"}, io.StringIO()
    text = page.read_text()
    for match in BLOCK.finditer(text):
        kind, shown, hidden = match.groups()
        line = text[: match.start()].count("\n") + 2
        if kind == "text":
            printed, out = out.getvalue(), io.StringIO()
            assert_printed(shown, printed)
            continue
        code = "\n" * (line - 1) + (hidden or shown)
        with contextlib.redirect_stdout(out):
            exec(compile(code, str(page), "exec"), space)


def assert_printed(shown, printed):
    """The lines shown are lines printed, in that order."""
    rest = [line.rstrip() for line in printed.splitlines()]
    for line in shown.rstrip("\n").split("\n"):
        if not line.strip() or line.strip() == "…":
            continue
        pattern = ".*".join(re.escape(part) for part in line.rstrip().split("…"))
        found = next((n for n, each in enumerate(rest) if re.fullmatch(pattern, each)), None)
        assert found is not None, f"not printed: {line!r}\nin:\n{printed}"
        del rest[: found + 1]


def test_links_lead_somewhere():
    """
    Every relative link of the documents names a file that exists.
    """
    for page in PAGES:
        for target in re.findall(r"\]\(((?!https?:|#)[^)#\s]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("name", verikit.__all__)
def test_the_reference_has_every_public_name(name):
    """
    What the package exports stands in the reference: as an entry of its own, or, of constants and modules, in its text.
    """
    reference = "".join(page.read_text() for page in PAGES if page.parent.name == "reference")
    made = isinstance(getattr(verikit, name), type) or callable(getattr(verikit, name))
    entry = rf"^\.\. auto\w+:: (?:verikit\.)?{name}$" if made else rf"\b{name.strip('_')}\b"

    assert re.search(entry, reference, re.MULTILINE), f"docs/reference has nothing about {name}"
