"""ImportConflict on released packages: what it says of code that works.

    python benchmarks/real_trees.py [sglang==0.5.23 transformers==5.24.0 …]
    python benchmarks/real_trees.py --standard --site [FOLDER …]

The first form downloads each package's wheel (`pip download --no-deps`), unpacks it into a temporary folder and judges the
whole tree. The second judges what is on this machine, each top-level module or package of a folder by itself: `--standard`
is the standard library of this interpreter, `--site` its site-packages. Every finding and everything that can't be told is
printed, up to the 50 of each that a look names. Nothing is installed or imported.
Goal: at most 10 findings on sglang, each explainable by its rule; none on transformers.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from verikit import Finding, ImportConflict, verify

PACKAGES = ("sglang==0.5.23", "transformers==5.24.0")
COUNTED = {"files": "files", "imports": "imported names", "count": "conflicts", "untold": "files that can't be told"}


def unpacked(package: str, folder: Path) -> Path:
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "-q",
        "--no-deps",
        "--only-binary=:all:",
        "-d",
        str(folder),
        package,
    ]
    subprocess.run(command, check=True)
    tree = folder / "tree"
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(tree)
    return tree


def census(package: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        tree = unpacked(package, Path(name))
        size = sum(file.stat().st_size for file in tree.rglob("*.py")) / 1e6
        started = time.perf_counter()
        report = verify(ImportConflict(str(tree)))
        wall = time.perf_counter() - started
    facts = report.leaves()[0].finding.facts
    print(f"\n{package}: {report.verdict}")
    if "files" not in facts:
        print(report)
        return
    print(f"  {facts['imports']:,} imported names, {size:.1f} MB, {wall:.1f} s, {size / wall:.1f} MB/s")
    told(facts, tree)


def told(facts: Mapping[str, Any], tree: Path) -> None:
    print(
        f"  {facts['files']:,} files, {facts['count']} conflicts in {facts['failed']}; {facts['untold']} more can't be told"
    )
    for kind, rows in (("", facts["findings"]), ("?", facts["unknowns"])):
        for row in rows:
            print(f"  {kind or row['rule']:<4}{Path(row['file']).relative_to(tree)}: {row['message']}")


def installed(folder: Path) -> None:
    """Each module and package of a folder, judged alone; those with nothing to say are only counted."""
    sums, crashed = Counter[str](), []
    started = time.perf_counter()
    for each in sorted(folder.iterdir()):
        if each.name in ("__pycache__", "site-packages") or not (each.is_dir() or each.suffix == ".py"):
            continue
        if each.is_dir() and not any(each.rglob("*.py")):
            continue
        finding = verify(ImportConflict(str(each))).leaves()[0].finding
        facts = as_tree(finding, each)
        if "files" not in facts:
            crashed.append(f"{each.name}: {finding.reason}")
            continue
        sums.update({key: facts[key] for key in COUNTED})
        if facts["count"] or facts["untold"]:
            print(f"\n{each.name}")
            told(facts, folder)
    print(f"\n{folder.name}: {', '.join(f'{sums[key]:,} {words}' for key, words in COUNTED.items())}", end="; ")
    print(f"{len(crashed)} not judged; {time.perf_counter() - started:.0f} s", *crashed, sep="\n  ")


def as_tree(finding: Finding, path: Path) -> Mapping[str, Any]:
    """What the look at one file says, in the words of the look at a folder."""
    facts = finding.facts
    if "files" in facts or "findings" not in facts:
        return facts
    rows = {kind: [dict(row, file=str(path)) for row in facts[kind]] for kind in ("findings", "unknowns")}
    failed = bool(rows["findings"])
    return {**facts, **rows, "files": 1, "failed": int(failed), "untold": int(bool(rows["unknowns"]) and not failed)}


if __name__ == "__main__":
    paths = sysconfig.get_paths()
    folders = {"--standard": paths["stdlib"], "--site": paths["purelib"]}
    for each in sys.argv[1:] or PACKAGES:
        place = Path(folders.get(each, each))
        if place.is_dir():
            installed(place)
        else:
            census(each)
