"""The real interpreters on this machine, and what they say of a source: the truth that the checks are held against."""

from __future__ import annotations

import glob
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

VERSIONS = ("2.7", "3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")

# Compiles each file named on standard input, one a line: what an import would compile.
COMPILES = r"""
import sys, json
for path in sys.stdin.read().split("\n"):
    data = open(path, "rb").read()
    try:
        compile(data, path, "exec", 0, True)
        said = "ok"
    except BaseException as error:
        said = type(error).__name__
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()
"""


def executable(version: str) -> str | None:
    """An interpreter of that version, or None."""
    if version == f"{sys.version_info[0]}.{sys.version_info[1]}":
        return sys.executable
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    found = sorted(glob.glob(f"{root}/versions/{version}.*/bin/python{version}"))
    return found[0] if found else _on_path(version)


def _on_path(version: str) -> str | None:
    named = shutil.which(f"python{version}")
    if named is None:
        return None
    said = subprocess.run([named, "-c", "import sys; print(sys.version[:4])"], capture_output=True, text=True)
    return named if said.returncode == 0 and said.stdout.startswith(version) else None


def imports(python: str, paths: list[Path]) -> list[bool]:
    """Whether compile() takes each file."""
    text = "\n".join(map(str, paths))
    ran = subprocess.run(
        [python, "-S", "-W", "ignore", "-B", "-c", COMPILES], input=text, capture_output=True, text=True
    )
    return [json.loads(line) == "ok" for line in ran.stdout.splitlines()]


def starts(python: str, path: Path) -> bool:
    """Whether the file is taken when it is started: it may raise as it runs, as long as it is not refused."""
    ran = subprocess.run([python, "-S", "-W", "ignore", "-B", str(path)], capture_output=True, stdin=subprocess.DEVNULL)
    if ran.returncode == 0:
        return True
    lines = ran.stderr.decode("utf-8", "replace").strip().splitlines()
    refused = re.match(r"(Syntax|Indentation|Tab|Memory|Recursion|Overflow|System)Error", lines[-1] if lines else "")
    return lines[:1] == ["Traceback (most recent call last):"] and refused is None
