"""What travels to a host: modules of probes, whole or alone, and what is refused."""

from __future__ import annotations

import asyncio
import functools
import inspect
import json
import os
import sys
import textwrap
import zlib

import pytest

import looks
import verikit
from verikit import Local
from verikit.check import Look
from verikit.hosts import open_host
from verikit.hosts.packing import Packed, pack, shipment
from verikit.testing.here import examine_here

LIMIT = 3


def names(packed: Packed) -> list[str]:
    return sorted(module.name for module in packed.modules)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Writes modules that can be imported for the length of a test."""
    monkeypatch.syspath_prepend(tmp_path)
    written = []

    def write(name, text):
        path = tmp_path / (name.replace(".", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        written.append(name)
        return __import__(name, fromlist=["x"])

    yield write
    for name in written:  # but not the module of that name that was there before
        if str(tmp_path) in str(getattr(sys.modules.get(name), "__file__", "")):
            del sys.modules[name]


# Modules.


def test_probe_of_verikit():
    """
    A probe of verikit travels as its module, with every probes module that it imports in any of the ways there are; what
    is in the core already stays.
    """
    from verikit.probes import manifest

    packed = pack(
        next(each for each in vars(manifest).values() if callable(each) and each.__module__ == manifest.__name__)
    )

    assert packed.module == "verikit.probes.manifest"
    assert "verikit.probes.digests" in names(packed)
    assert "verikit.probes.place" not in names(packed)


def test_every_form_of_import(package):
    """
    Imports of probes count wherever they stand and however they are written.
    """
    module = package(
        "imports_of_all_forms",
        """
        import os, json
        from verikit.probes import digests

        def probe(place):
            from verikit.probes.files import (
                mark,
            )
            import verikit.probes.port
            return {}
        """,
    )
    packed = pack(module.probe)

    assert names(packed)[:-1] == [
        "verikit.probes.digests",
        "verikit.probes.files",
        "verikit.probes.port",
        "verikit.probes.process",
    ]


def test_module_of_the_standard_library_alone():
    """
    A probe of another package travels as its module, if that imports nothing else.
    """
    packed = pack(looks.size)
    [module] = packed.modules

    assert (module.file, packed.function) == (looks.__file__, "size")
    assert module.source == inspect.getsource(looks)


@pytest.mark.parametrize(
    "line",
    [
        "import attrs",
        "from verikit import Check",
        "from . import other",
        "try:\n    import numpy\nexcept ImportError:\n    pass",
    ],
)
def test_module_that_imports_more(package, line):
    """
    A probe in a module that imports more travels by its own source alone.
    """
    if line.startswith("from ."):
        package("holder.__init__", "")
        package("holder.other", "")
    name = "holder.imports_more" if line.startswith("from .") else "imports_more"
    module = package(name, line + "\n\ndef probe(place, x=1):\n    import os\n    return [x, os.sep]\n")
    packed = pack(module.probe)

    assert packed.module.startswith("verikit.sent_")
    assert packed.function == "probe"
    assert len(packed.modules) == 1
    assert "import os" in packed.modules[0].source


def test_type_checking_imports_do_not_count(package):
    """
    What only type checkers import does not keep a module from travelling whole.
    """
    module = package(
        "typed",
        """
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            import numpy
        HELPER = 1
        def probe(place):
            return HELPER
        """,
    )

    assert "HELPER = 1" in pack(module.probe).modules[0].source


@pytest.mark.parametrize("name", ["tokenize_", "json", "holding.inner"])
def test_name_over_there(package, monkeypatch, name):
    """
    Over there a module has a name of its own: it needs no package above it, and stands in nobody's place.
    """
    if "." in name:
        package("holding.__init__", "")
    monkeypatch.delitem(sys.modules, name, raising=False)
    module = package(name, "def probe(place):\n    import traceback, json\n    return json.dumps({'a': 1})\n")
    look = Look(module.probe)

    async def main():
        host = await open_host(Local())
        try:
            return await host.ask(look)
        finally:
            await host.close()

    assert pack(module.probe).module.startswith("verikit.sent_")
    monkeypatch.undo()
    assert asyncio.run(main()) == '{"a": 1}'


def test_main_never_travels(package):
    """
    A function of `__main__` travels by its own source.
    """
    module = package("script", "def probe(place):\n    return 1\n")
    module.probe.__module__ = "__main__"
    packed = pack(module.probe)

    assert packed.module.startswith("verikit.sent_")
    assert packed.modules[0].file == "<__main__.probe>"


def test_one_shipment_compressed():
    """
    Modules travel together, compressed.
    """
    packed = pack(looks.size)
    [row] = json.loads(zlib.decompress(shipment(packed.modules)))

    assert row["source"] == packed.modules[0].source
    assert len(shipment(packed.modules)) < len(row["source"]) / 2


# Alone.


def test_function_inside_a_function():
    """
    A function that is defined inside another travels alone, without its annotations and decorators.
    """

    def probe(place, n: int = 2) -> dict:
        def square(x):
            return x * x

        class Kept:
            first = 1
            second = first + 1

        return {"squares": [square(each) for each in range(n)], "second": Kept.second}

    packed = pack(probe)

    assert packed.modules[0].source.startswith("def probe(place, n=2):")


@pytest.mark.parametrize("kind", ["global", "closure", "default"])
def test_name_that_stays_here(kind):
    """
    A global, a name of the closure, and a name in a default are refused by name, with what to do instead.
    """
    here = 5

    def with_global(place):
        return LIMIT

    def with_closure(place):
        return here

    def with_default(place, n=LIMIT):
        return n

    probe = {"global": with_global, "closure": with_closure, "default": with_default}[kind]
    name = "here" if kind == "closure" else "LIMIT"
    with pytest.raises(ValueError, match=f"without `{name}`: import modules inside the function"):
        pack(probe)


def test_imported_module_that_stays_here():
    """
    A module that was imported outside of the function is refused by name as well.
    """

    def probe(place):
        return os.sep

    with pytest.raises(ValueError, match="without `os`"):
        pack(probe)


def test_builtins_and_recursion_are_no_matter():
    """
    Builtins and the function's own name are there on every host.
    """

    def probe(place, n):
        return n if n < 1 else probe(place, n - 1) + len([None])

    assert pack(probe).function == "probe"


def test_function_behind_a_decorator():
    """
    A function that `@verikit.check` has made a class of travels alone, and answers.
    """

    @verikit.check
    def is_even(place, n):
        "n is even."
        return n % 2 == 0, f"{n} is {'even' if n % 2 == 0 else 'odd'}"

    look = is_even(4).look()
    packed = pack(look.function)

    assert packed.modules[0].source.startswith("def is_even(place, n):")
    assert examine_here(is_even(4)).reason == "4 is even"


@pytest.mark.parametrize(
    ("probe", "error"),
    [
        (functools.partial(looks.echo, value=1), TypeError),
        (looks.echo.__get__(3), TypeError),
        (print, TypeError),
        (eval("lambda place: 1"), ValueError),
    ],
    ids=["partial", "method", "builtin", "lambda"],
)
def test_no_plain_function(probe, error):
    """
    What is no plain function with a source is refused.
    """
    with pytest.raises(error, match=r"function|source"):
        pack(probe)


def test_look_is_refused_where_it_is_asked():
    """
    `pack` is asked before anything is sent, so a probe that can't travel is an error of its author, not of the host.
    """
    with pytest.raises(TypeError, match="a look asks a probe"):
        Look("no function")


def test_a_wrapped_function_does_not_travel_without_its_wrapper(monkeypatch):
    """
    A decorator that keeps the name and leaves `__wrapped__` is refused: what would travel is another function.
    """

    def plain(place):
        return True

    @functools.wraps(plain)
    def wrapped(*arguments, **named):
        return False

    monkeypatch.setattr(wrapped, "__module__", "__main__")
    with pytest.raises(ValueError, match="wrapped by a decorator"):
        pack(wrapped)
