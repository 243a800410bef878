"""ImportConflict on released packages: what it says of code that works.

    python benchmarks/real_trees.py [sglang==0.5.23 transformers==5.24.0 …]

Downloads each package's wheel (`pip download --no-deps`), unpacks it into a temporary folder, judges the whole tree and
prints every finding and everything that can't be told. Neither the packages nor their dependencies are installed or imported.
Goal: at most 10 findings on sglang, each explainable by its rule; none on transformers.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from verikit import ImportConflict, verify

PACKAGES = ("sglang==0.5.23", "transformers==5.24.0")


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
        facts = next(report.leaves()).finding.facts
    print(f"\n{package}: {report.verdict}")
    if "files" not in facts:
        print(report)
        return
    print(
        f"  {facts['files']:,} files, {size:.1f} MB, {facts['imports']:,} imported names, {wall:.1f} s, {size / wall:.1f} MB/s"
    )
    print(f"  {facts['count']} conflicts in {facts['failed']} files; {facts['untold']} more files can't be told")
    for row in facts["findings"]:
        print(f"  {row['rule']:<4}{Path(row['file']).relative_to(tree)}: {row['message']}")
    for row in facts["unknowns"]:
        print(f"  ?   {Path(row['file']).relative_to(tree)}: {row['message']}")


if __name__ == "__main__":
    for each in sys.argv[1:] or PACKAGES:
        census(each)
