"""Every row of cases.py: ImportConflict says what a child interpreter shows."""

import glob
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from verikit.checks.imports import ImportConflict
from verikit.probes.imports.placement import insert
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS

from .cases import CASES

RUN = """
import sys
folder, target, probes = sys.argv[1], sys.argv[2], eval(sys.argv[3])
sys.path[0] = folder
if target.endswith(".py"):
    module = type(sys)("__main__")
    sys.modules["__main__"], space = module, module.__dict__
    module.__file__, module.__builtins__, module.__doc__ = folder + "/" + target, __builtins__, None
    sys.path[0] = (folder + "/" + target).rpartition("/")[0]
    exec(compile(open(module.__file__, "rb").read(), target, "exec", dont_inherit=True), space)
else:
    __import__(target)
    space = sys.modules[target].__dict__
for expression, wanted in probes:
    if repr(eval(expression, space)) != wanted:
        raise SystemExit("%s is not %s" % (expression, wanted))
"""


def lay(folder, row, patched):
    for name, text in row["files"].items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    if patched and row["inject"]:
        file = folder / row["into"]
        file.write_bytes(insert(file.read_bytes(), row["inject"], row["line"]))


def interpreter(version):
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    found = [shutil.which(f"python{version}"), *glob.glob(f"{root}/versions/{version}.*/bin/python")]
    for each in found:
        if each and not subprocess.run([each, "-c", ""], capture_output=True).returncode:
            return each
    return None


def told_by_this_build(row):
    """Which modules are built into an interpreter differs: Debian's has `select` inside, where no file can hide it."""
    inside = {pathlib.Path(name).stem for name in row["files"]} & set(sys.builtin_module_names)
    return not (row["rule"] == "M1" and row["conflict"] and inside)


CASES = [row for row in CASES if told_by_this_build(row)]
IDS = [f"{row['rule']}-{at}-{'conflict' if row['conflict'] else 'fine'}" for at, row in enumerate(CASES)]


@pytest.mark.parametrize("row", CASES, ids=IDS)
def test_what_the_check_says(tmp_path, row):
    """
    The check fails where running the file shows a conflict, and passes where it shows none.
    """
    lay(tmp_path, row, patched=False)
    root = None if len(row["files"]) == 1 else str(tmp_path)
    words = {"name": row["name"], "inject": row["inject"], "line": row["line"], "python": row["python"] or "host"}

    found = examine_here(ImportConflict(str(tmp_path / row["into"]), run_as=row["run_as"], root=root, **words))

    assert (FAIL if row["conflict"] else PASS) is found.verdict, found.reason
    assert not list(pathlib.Path(tmp_path).rglob("__pycache__"))


@pytest.mark.parametrize("row", CASES, ids=IDS)
def test_what_running_it_shows(tmp_path, row):
    """
    The label of the row is right: a child that runs the file raises, or a probe differs, exactly where it conflicts.
    """
    lay(tmp_path, row, patched=True)
    python = interpreter(row["python"]) if row["python"] else sys.executable
    if python is None:
        pytest.skip(f"no Python {row['python']} here")
    call = [python, "-E", "-S", "-B", "-c", RUN, str(tmp_path), row["target"], repr(row["probes"])]
    call[4:6] = [str(_runner(tmp_path))]

    ran = subprocess.run(call, capture_output=True, text=True, timeout=60, cwd=tmp_path)

    assert row["conflict"] is bool(ran.returncode), ran.stderr[-300:]


def _runner(folder):
    file = folder / ".run" / "zz_runner.py"
    file.parent.mkdir()
    file.write_text(RUN)
    return file
