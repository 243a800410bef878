"""What it costs to judge code: SyntaxValid beside compile() and others, ImportConflict beside the parser and pyflakes.

    python benchmarks/code.py [a tree of Python files]

By default on the standard library's own modules. Medians of rounds in which every peer takes its turn; wall is what a person
waits, CPU what the host pays, children included. Goals: SyntaxValid <= 1.2 x bare compile();
ImportConflict <= 3 x ast.parse + walk on a model file, and faster than pyflakes on trees.
"""

from __future__ import annotations

import ast
import glob
import importlib.util
import os
import py_compile
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from verikit.checks.syntax import SyntaxValid
from verikit.testing.here import examine_here

ROUNDS = 7


def cpu() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def compare(title: str, peers: dict[str, Callable[[], object]], size: int) -> None:
    """A table of the peers; the first is the floor that ratios are of."""
    walls: dict[str, list[float]] = {name: [] for name in peers}
    works: dict[str, list[float]] = {name: [] for name in peers}
    for _ in range(ROUNDS):
        for name, run in peers.items():
            wall, work = time.perf_counter(), cpu()
            run()
            walls[name].append(time.perf_counter() - wall)
            works[name].append(cpu() - work)
    floor = statistics.median(walls[next(iter(peers))]), statistics.median(works[next(iter(peers))])
    print(f"\n{title}, {size / 1e6:.2f} MB")
    print(f"{'':<26}{'wall ms':>9}{'x':>7}{'CPU ms':>9}{'x':>7}{'MB/s':>8}")
    for name in peers:
        wall, work = statistics.median(walls[name]), statistics.median(works[name])
        row = f"{name:<26}{wall * 1000:>9.1f}{wall / floor[0]:>7.2f}{work * 1000:>9.0f}"
        print(row + f"{work / max(floor[1], 1e-9):>7.2f}{size / wall / 1e6:>8.1f}")


def repeated(run: Callable[[], object], times: int) -> Callable[[], object]:
    def several() -> None:
        for _ in range(times):
            run()

    return several


def syntax(tree: str) -> None:
    """SyntaxValid on one file and on a tree."""
    paths = [path for path in sorted(glob.glob(f"{tree}/**/*.py", recursive=True)) if parses(path)]
    one = max(paths, key=os.path.getsize)
    data, scratch = Path(one).read_bytes(), os.path.join(tempfile.mkdtemp(), "x.pyc")
    peers: dict[str, Callable[[], object]] = {
        "compile()": lambda: compile(data, one, "exec", dont_inherit=True),
        "SyntaxValid": lambda: examine_here(SyntaxValid(one)),
        "ast.parse": lambda: ast.parse(data),
        "py_compile, to a file": lambda: py_compile.compile(one, cfile=scratch, doraise=True),
    }
    several = {name: repeated(run, 5) for name, run in peers.items()}
    compare(f"five times {os.path.basename(one)}", several, 5 * len(data))
    blobs = [Path(path).read_bytes() for path in paths]
    trees: dict[str, Callable[[], object]] = {
        "compile()": lambda: [compile(blob, "x", "exec", dont_inherit=True) for blob in blobs],
        "SyntaxValid": lambda: examine_here(SyntaxValid(tree, kind="python")),
        "ast.parse": lambda: [ast.parse(blob) for blob in blobs],
    }
    if importlib.util.find_spec("ruff"):
        rules = ["--isolated", "--no-cache", "--select", "E9", "-q", "--exit-zero"]
        trees["ruff, E9, no cache"] = lambda: subprocess.run(
            [sys.executable, "-m", "ruff", "check", *rules, tree], check=True
        )
    else:
        print("ruff is not installed: skipped")
    compare(f"{len(paths)} files of {tree}", trees, sum(map(len, blobs)))


def parses(path: str) -> bool:
    try:
        compile(Path(path).read_bytes(), path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


MODEL = '''
def layer_{n}(hidden, mask=None, *, scale=1.0):
    """Layer {n}."""
    width = hidden.shape[-1]
    if mask is not None and os.environ.get("DUMP_{n}"):
        logger.info("layer %d: %s", {n}, json.dumps([int(each) for each in mask.shape]))
    for at, part in enumerate(partial(math.sqrt, width)() * scale for _ in range(3)):
        hidden = hidden + part * at
    return {{"hidden": hidden, "width": width, "root": os.path.join("a", str({n}))}}
'''
HEAD = "import json\nimport logging\nimport math\nimport os\nfrom functools import partial\n\n"
HEAD += "logger = logging.getLogger(__name__)\n"


def conflicts(tree: str) -> None:
    """ImportConflict beside the parser and pyflakes: one model file of 3,600 lines, then a tree."""
    from verikit.checks.imports import ImportConflict
    from verikit.probes.imports import tree as whole
    from verikit.probes.place import Place

    text = HEAD + "\n".join(MODEL.format(n=n) for n in range(327))
    files = sorted(glob.glob(os.path.join(tree, "**", "*.py"), recursive=True))
    texts = [Path(each).read_bytes() for each in files]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.py")
        path.write_text(text)
        one: dict[str, Callable[[], object]] = {
            "ast.parse + walk": lambda: sum(1 for _ in ast.walk(ast.parse(text))),
            "ImportConflict": lambda: examine_here(ImportConflict(path)),
            "ImportConflict, inject": lambda: examine_here(ImportConflict(path, inject="import os as _vk", line=24)),
        }
        many: dict[str, Callable[[], object]] = {
            "ast.parse + walk": lambda: [sum(1 for _ in ast.walk(ast.parse(each))) for each in texts],
            "ImportConflict, one core": lambda: whole.judged(Place(), files, "auto", None, "host"),
            "ImportConflict, tree": lambda: examine_here(ImportConflict(tree)),
        }
        try:
            from pyflakes.checker import Checker
        except ImportError:
            print("\npyflakes is not installed: skipped (pip install pyflakes)")
        else:
            one["pyflakes"] = lambda: Checker(ast.parse(text), filename="model.py")
            many["pyflakes"] = lambda: [Checker(ast.parse(each), filename="x.py") for each in texts]
        compare(f"ImportConflict, one file of {text.count(chr(10)):,} lines", one, len(text))
        compare(f"ImportConflict, {len(files)} files of {tree}", many, sum(map(len, texts)))


def main() -> None:
    tree = sys.argv[1] if len(sys.argv) > 1 else os.path.join(sysconfig.get_path("stdlib"), "asyncio")
    print(f"Python {sys.version.split()[0]}, {len(os.sched_getaffinity(0))} cores")
    syntax(tree)
    conflicts(tree)


if __name__ == "__main__":
    main()
