"""The house as DESIGN draws it: which way imports point, what travels, what `import verikit` costs."""

import ast
import json
import pathlib
import subprocess
import sys

import pytest

import verikit

HOUSE = pathlib.Path(verikit.__file__).parent
STDLIB = sys.stdlib_module_names | {"tomllib"}  # 3.11 and newer have it; probes ask before they use it
MODULES = sorted(path for path in HOUSE.rglob("*.py"))

# What each room may import from, besides itself. Rooms are the first name after `verikit`.
GROUND = {"verdict", "errors", "values", "text", "_version"}
VALUES = GROUND | {"finding", "address", "mark"}
CORE = VALUES | {"check", "probes"}
MAY = {
    "_version": set(),
    "verdict": set(),
    "values": set(),
    "text": set(),
    "errors": {"report"},  # for type checkers only: what an exception carries
    "finding": GROUND,
    "address": GROUND,
    "mark": GROUND,
    "check": VALUES | {"stored"},
    "stored": VALUES | {"check"},
    "clock": set(),
    "probes": set(),
    "spec": GROUND,
    "checks": CORE | {"spec"},
    "manifest": CORE | {"verify", "checks"},
    "layout": CORE | {"verify"},
    "insertion": CORE | {"verify"},
    "hosts": CORE | {"clock"},
    "report": VALUES,
    "across": CORE | {"hosts"},
    "walk": CORE | {"hosts", "clock", "across"},
    "loops": CORE | {"walk"},
    "verify": CORE | {"hosts", "clock", "report", "walk", "loops", "across"},
    "suites": CORE | {"checks", "verify"},
    "integrations": CORE | {"checks", "verify", "report"},
}


def room(path):
    return path.relative_to(HOUSE).parts[0].removesuffix(".py")


def imports_of(path):
    """(module, line) of each import of verikit's own in a file, also inside functions."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names if alias.name.split(".")[0] == "verikit")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "verikit":
            names = [node.module] if node.module.count(".") else [f"verikit.{alias.name}" for alias in node.names]
            yield from ((name, node.lineno) for name in names)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(HOUSE)))
def test_imports_point_one_way(path):
    """
    A module imports only from its own room and the rooms beneath it; nobody sees `testing`.
    """
    here = room(path)
    if here in ("__init__", "testing"):
        return
    allowed = MAY[here] | {here}

    for module, line in imports_of(path):
        there = module.split(".")[1] if "." in module else "verikit"
        known = there if there in MAY or there == "testing" else "verikit"
        if known == "verikit":
            assert here in ("stored", "suites", "integrations"), f"{path.name}:{line} imports the whole package"
            continue
        assert there in allowed, f"{path.name}:{line}: {here} may not import {module}"


@pytest.mark.parametrize(
    "path", [p for p in MODULES if room(p) == "probes"], ids=lambda path: str(path.relative_to(HOUSE))
)
def test_probes_travel_light(path):
    """
    A probe module parses as Python 3.8 and imports only probes and the standard library; accelerators are asked for.
    """
    tree = ast.parse(path.read_bytes(), feature_version=(3, 8))
    outside = set()
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}:{node.lineno}: relative imports don't travel"
            names = [node.module]
        outside |= {n for n in names if n.split(".")[0] not in STDLIB and not n.startswith("verikit.probes")}

    assert not outside, f"{path.name} imports {outside}"


def test_import_is_light():
    """
    `import verikit` loads neither torch, asyncssh, asyncio, numpy nor rich.
    """
    code = "import sys, json, verikit; print(json.dumps(sorted(sys.modules)))"
    loaded = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout)

    assert not {"torch", "asyncssh", "asyncio", "numpy", "rich", "safetensors", "hypothesis", "pytest"} & set(loaded)


def test_nothing_speaks_of_a_machine():
    """
    No module holds the absolute path of this checkout, of the home folder, or of the interpreter that made it.
    """
    private = {str(pathlib.Path(__file__).parents[1]), str(pathlib.Path.home()) + "/.", sys.prefix}
    for path in MODULES:
        text = path.read_text()
        assert not any(place in text for place in private), path
