"""What travels to a host: the agent's core, and the sources of the modules that a probe needs.

A probe of verikit travels as its module with the probes modules that it imports.  A probe from elsewhere travels as its
module, if that imports only the standard library and probes; otherwise (`__main__`, a notebook, a module that imports
more, a function that a decorator replaced) as its own source, and any name it would miss there is refused.
"""

from __future__ import annotations

import ast
import builtins
import dis
import functools
import hashlib
import importlib.util
import inspect
import json
import re
import sys
import textwrap
import zlib
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FunctionType
from typing import Any

import attrs

PROBES = "verikit.probes"

CORE = tuple(f"{PROBES}.{name}" for name in ("frames", "lean_json", "place", "agent"))
"""Modules that every agent is started with."""


@attrs.frozen
class Module:
    """One module's source, ready to travel. package: whether it may have modules beneath it."""

    name: str
    package: bool
    file: str
    source: str


@attrs.frozen
class Packed:
    """A probe ready to travel: where it is found at the far end, and the modules to send before it."""

    module: str
    function: str
    modules: tuple[Module, ...]


def shipment(modules: Iterable[Module]) -> bytes:
    """The payload of a MODULE frame."""
    return zlib.compress(json.dumps([attrs.asdict(module) for module in modules]).encode(), 9)


@functools.lru_cache(maxsize=1)
def core() -> bytes:
    """The agent, compressed: what the stub reads and executes; `start(sources, nonce)` is called by `START`."""
    loader = _source(f"{PROBES}.loader").source
    sources = {module.name: (module.package, module.file, module.source) for module in map(_source, CORE)}
    return zlib.compress(f"{loader}\nstart({sources!r}, nonce)\n".encode(), 9)


@functools.lru_cache(maxsize=1024)
def pack(function: Callable[..., Any]) -> Packed:
    """What must travel for this probe.

    Raises TypeError for what is no plain function, ValueError for one that needs more than it can take along.
    """
    if not isinstance(function, FunctionType):
        raise TypeError(f"a probe is a plain function `def inspect(place, …)`; got {function!r}")
    name = function.__module__
    if name == PROBES or name.startswith(f"{PROBES}."):
        return Packed(name, function.__qualname__, _with_imports(_source(name)))
    return _whole_module(function) or _alone(function)


# Modules.


@functools.lru_cache(maxsize=1024)
def _source(name: str) -> Module:
    spec = importlib.util.find_spec(name)
    loader = spec and spec.loader
    text = loader.get_source(name) if hasattr(loader, "get_source") else None  # type: ignore[union-attr]
    if spec is None or text is None:
        raise ValueError(f"the source of {name} can't be had, so it can't travel to a host")
    return Module(name, spec.submodule_search_locations is not None, spec.origin or f"<{name}>", text)


def _with_imports(module: Module) -> tuple[Module, ...]:
    """The module and every probes module that it imports, directly or not; what is in the core is not sent again."""
    found: dict[str, Module] = {}
    waiting = [module]
    while waiting:
        here = waiting.pop()
        if here.name not in found and here.name not in CORE:
            found[here.name] = here
            waiting += [_source(name) for name in sorted(_probes_imported(here))]
    return tuple(found.values())


def _probes_imported(module: Module) -> set[str]:
    """The probes modules among the imports, wherever they stand, with the packages that hold them."""
    names = set()
    for name in _imported(module):
        parts = name.split(".")
        names |= {".".join(parts[:end]) for end in range(3, len(parts) + 1)} if name.startswith(f"{PROBES}.") else set()
    if module.name.startswith(f"{PROBES}."):
        parts = module.name.split(".")
        names |= {".".join(parts[:end]) for end in range(3, len(parts))}
    return {name for name in names if _exists(name)}


@functools.lru_cache(maxsize=4096)
def _exists(name: str) -> bool:
    """Whether it is a module: `from package import name` may mean one, or something inside the package."""
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


# Found by their lines, as parsing all of it would be most of the time that a first look takes. A line of a docstring that
# looks the same does no harm: at most one module more travels.
_IMPORT = re.compile(r"^[ \t]*((?:from[ \t]+[\w.]+[ \t]+)?import[ \t]*(?:\([^)]*\)|(?:\\\n|[^\n;#])+))", re.MULTILINE)


def _imported(module: Module) -> Iterator[str]:
    """What the module imports, anywhere in it."""
    for match in _IMPORT.finditer(module.source):
        try:
            tree = ast.parse(match[1].strip())
        except SyntaxError:
            continue
        for node in tree.body:
            yield from _names(node, module.name, module.package)


def _names(node: ast.AST, name: str, package: bool) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = _absolute(node, name, package)
        yield base
        yield from (f"{base}.{alias.name}" for alias in node.names)


def _absolute(node: ast.ImportFrom, name: str, package: bool) -> str:
    """The module that `from … import` names, its leading dots resolved."""
    if not node.level:
        return node.module or ""
    parts = name.split(".")
    here = parts[: len(parts) - node.level + package]
    return ".".join([*here, *([node.module] if node.module else [])])


# Probes from elsewhere.


def _whole_module(function: FunctionType) -> Packed | None:
    """Its module, if that can stand alone on a host."""
    name = function.__module__
    module = sys.modules.get(name)
    if name == "__main__" or getattr(module, function.__qualname__, None) is not function:
        return None
    try:
        source = _source(name)
    except (ValueError, ImportError):
        return None
    wanted = {item for node in _at_import(ast.parse(source.source)) for item in _names(node, name, source.package)}
    return _sent(function, source) if all(map(_travels, wanted)) else None


def _sent(function: FunctionType, module: Module) -> Packed:
    """The probe in a module of its own name over there, which hides neither the host's packages nor its standard library."""
    digest = hashlib.sha256(f"{module.file}\n{module.source}".encode("utf-8", "surrogatepass")).hexdigest()[:12]
    sent = attrs.evolve(module, name=f"verikit.sent_{digest}", package=False)
    return Packed(sent.name, function.__name__, _with_imports(sent))


def _at_import(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes that run when the module is imported: all but the bodies of functions and what only type checkers see."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting += node.orelse
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            waiting += ast.iter_child_nodes(node)


def _travels(name: str) -> bool:
    top = name.partition(".")[0]
    return name == PROBES or name.startswith(f"{PROBES}.") or (top in sys.stdlib_module_names and top != "")


def _alone(function: FunctionType) -> Packed:
    """The function's own source, as a module of its own."""
    where = f"{function.__module__}.{function.__qualname__}"
    tree = _definition(function, where)
    text = ast.unparse(tree)
    _refuse_missing(text, function, where)
    return _sent(function, Module(where, False, f"<{where}>", text))


def _definition(function: FunctionType, where: str) -> ast.Module:
    """Its `def` alone, without decorators and annotations, which mean nothing over there."""
    if hasattr(function, "__wrapped__"):
        # Its source would be found without the wrapper: another function than the one that was given.
        raise ValueError(f"{where} is wrapped by a decorator, which can't travel: give the look the plain function")
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        tree = ast.Module([], [])
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef):
        raise ValueError(f"the source of {where} can't be had, so it can't travel: write it as a `def` in a file")
    definition = tree.body[0]
    definition.decorator_list, definition.returns = [], None
    arguments = definition.args
    for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        each.annotation = None
    return tree


def _refuse_missing(text: str, function: FunctionType, where: str) -> None:
    """Raises ValueError if the text, alone, would miss a name: its globals and closure stay here."""
    missing = {name for name in _globals_of(compile(text, where, "exec")) if not hasattr(builtins, name)}
    missing |= set(function.__code__.co_freevars)
    missing -= {function.__name__}
    if missing:
        names = ", ".join(f"`{name}`" for name in sorted(missing))
        raise ValueError(
            f"{where} travels to the host by its own source, without {names}: import modules inside the function, "
            "pass values as arguments, or move it to a module that imports only the standard library"
        )


_LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")


def _globals_of(code: CodeType) -> Iterator[str]:
    """The names that code and what is defined in it look up outside of functions."""
    steps = list(dis.get_instructions(code))
    here = {step.argval for step in steps if step.opname == "STORE_NAME"}
    yield from {str(step.argval) for step in steps if step.opname in _LOADS} - here
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _globals_of(constant)
