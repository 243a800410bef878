"""Paths that are strange, unreadable, endless or not there: each check, through the agent as people run it.

None passes, none hangs, and each says what it met.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import pytest
import torch
from safetensors.torch import save_file

from verikit import (
    FAIL,
    PASS,
    UNKNOWN,
    Cause,
    CheckpointIntact,
    Exec,
    FileMatches,
    ImportConflict,
    JsonlValid,
    Local,
    LogHealthy,
    Session,
    SyntaxValid,
    TensorShapeSane,
)

# How each claim is made about a path, and what it says of a good file.
CLAIMS = {
    "SyntaxValid": lambda path: SyntaxValid(path, kind="python"),
    "ImportConflict": ImportConflict,
    "CheckpointIntact": CheckpointIntact,
    "TensorShapeSane": lambda path: TensorShapeSane(path, {"w": "2 3"}),
    "LogHealthy": LogHealthy,
    "JsonlValid": JsonlValid,
    "FileMatches": lambda path: FileMatches(path, size=7),
}
EXISTS = {"CheckpointIntact", "TensorShapeSane", "LogHealthy", "FileMatches"}
"""Claims that include existence: a missing path is FAIL."""

SECONDS = 20.0


def good(name, path):
    """Writes a file of which the claim holds."""
    if name in ("CheckpointIntact", "TensorShapeSane"):
        save_file({"w": torch.ones(2, 3)}, "good.safetensors")
        shutil.move("good.safetensors", path)
        os.chmod(path, 0o644)  # its writer leaves it to its owner alone
    else:
        content = {"JsonlValid": '{"a":1}\n', "LogHealthy": "1/10 samples\n", "FileMatches": "x = 1 \n"}.get(
            name, "import os\n"
        )
        with open(path, "w") as file:
            file.write(content)


@pytest.fixture(scope="module")
def session():
    with Session() as session:
        yield session


@pytest.fixture(scope="module")
def nobody():
    """A host whose looks run as a user to whom files may be closed: this one, or with root's rights another."""
    if os.geteuid():
        return Local()
    drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    for python in ("/usr/bin/python3", sys.executable):
        if not subprocess.run([*drop, python, "-c", ""], capture_output=True, check=False).returncode:
            return Exec([*drop], name="nobody", python=python)
    raise AssertionError("no Python here that another user than root may run")


@pytest.fixture
def open_folder():
    """A folder that everybody may enter."""
    folder = pathlib.Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    for each in [each for each in folder.iterdir() if each.is_dir()]:
        each.chmod(0o755)
    shutil.rmtree(folder)


def looked(session, claim, on=None):
    """The deciding leaf, which must come well within the deadline."""
    started = time.monotonic()
    report = session.verify(claim.timeout(SECONDS), on=on or Local())
    assert time.monotonic() - started < SECONDS
    assert report.deciding.cause is not Cause.TIMEOUT
    return report.deciding


STRANGE = {
    "blanks": "a file with  blanks",
    "quotes": 'it\'s "quoted" `here` $HOME',
    "line break": "two\nlines",
    "option": "-rf",
    "not UTF-8": "caf\udce9",
    "emoji": "модель-🤖",
    "bracket": "step[20]*?",
    "semicolon": "a;touch pwned;b",
}


@pytest.mark.parametrize("name", CLAIMS)
@pytest.mark.parametrize("kind", STRANGE)
def test_strange_names(session, tmp_path, monkeypatch, name, kind):
    """
    A good file is good whatever it is called, and the name is never taken for anything else.
    """
    monkeypatch.chdir(tmp_path)
    file = STRANGE[kind]
    good(name, file)

    leaf = looked(session, CLAIMS[name](tmp_path / file))

    assert leaf.verdict is PASS, leaf.reason
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("name", CLAIMS)
def test_a_path_of_4000_characters(session, name):
    """
    A path longer than the system takes is not seen, and never passes.
    """
    leaf = looked(session, CLAIMS[name]("/tmp/" + "x" * 4000))

    assert leaf.verdict is not PASS
    assert leaf.reason


@pytest.mark.parametrize("name", CLAIMS)
def test_nothing_there(session, tmp_path, name):
    """
    A missing file is FAIL for a claim that includes existence, else UNKNOWN; a dangling link and a path beneath a file too.
    """
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "absent", tmp_path / "dangling", tmp_path / "file" / "beneath"):
        leaf = looked(session, CLAIMS[name](path))

        assert leaf.verdict is (FAIL if name in EXISTS else UNKNOWN), (path.name, leaf.reason)
        assert leaf.cause in (None, Cause.MISSING)
        turned = looked(session, ~CLAIMS[name](path))
        assert turned.verdict is leaf.verdict


@pytest.mark.parametrize("name", CLAIMS)
def test_what_is_no_file(session, tmp_path, name):
    """
    A FIFO, an endless device, a socket's folder, a link loop and an empty folder end at once, and never pass.
    """
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "folder").mkdir()
    (tmp_path / "ring").mkdir()
    (tmp_path / "ring" / "again").symlink_to("..", target_is_directory=True)
    places = [tmp_path / each for each in ("fifo", "loop", "folder", "ring")] + ["/dev/zero", "/dev/null"]
    for path in places:
        leaf = looked(session, CLAIMS[name](path))

        assert leaf.verdict is not PASS, (path, leaf.reason)
        assert str(path) in leaf.reason or os.path.basename(path) in leaf.reason


@pytest.mark.parametrize("name", CLAIMS)
def test_what_may_not_be_read(session, open_folder, monkeypatch, nobody, name):
    """
    An unreadable file, and a file in a folder that can't be entered, are UNKNOWN with cause permission, also under `~`.
    """
    monkeypatch.chdir(open_folder)
    good(name, "closed")
    (open_folder / "inside").mkdir()
    good(name, "inside/file")
    os.chmod("closed", 0)
    os.chmod("inside", 0o600)
    for path in (open_folder / "closed", open_folder / "inside" / "file"):
        for claim in (CLAIMS[name](path), ~CLAIMS[name](path)):
            leaf = looked(session, claim, nobody)

            assert (leaf.verdict, leaf.cause) == (UNKNOWN, Cause.PERMISSION), (path.name, leaf.verdict, leaf.reason)
            assert str(path) in leaf.reason


SEVERAL = {
    "SyntaxValid, tree": (SyntaxValid, "SyntaxValid", ".py", ""),
    "SyntaxValid, glob": (SyntaxValid, "SyntaxValid", ".py", "**/*.py"),
    "ImportConflict, tree": (ImportConflict, "ImportConflict", ".py", ""),
    "CheckpointIntact, folder": (CheckpointIntact, "CheckpointIntact", ".safetensors", ""),
    "CheckpointIntact, glob": (CheckpointIntact, "CheckpointIntact", ".safetensors", "*.safetensors"),
    "CheckpointIntact, deep glob": (CheckpointIntact, "CheckpointIntact", ".safetensors", "**/*.safe*"),
    "CheckpointIntact, two stars": (CheckpointIntact, "CheckpointIntact", ".safetensors", "*/*.safe*"),
    "TensorShapeSane, deep glob": (CLAIMS["TensorShapeSane"], "TensorShapeSane", ".safetensors", "**/*.safe*"),
    "TensorShapeSane, folder": (CLAIMS["TensorShapeSane"], "TensorShapeSane", ".safetensors", ""),
    "TensorShapeSane, glob": (CLAIMS["TensorShapeSane"], "TensorShapeSane", ".safetensors", "*.safetensors"),
}


# A checkpoint is its folder's own files; what lies beneath belongs to it only where its format says so.
ROWS = [
    (name, what)
    for name in SEVERAL
    for what in ("file", "folder")
    if (name, what) != ("CheckpointIntact, folder", "folder")
]


@pytest.mark.parametrize(("name", "what"), ROWS)
def test_one_of_several_that_may_not_be_read(session, open_folder, monkeypatch, nobody, name, what):
    """
    A tree, a folder or a glob of which one file, or a folder within it, can't be read never passes for the rest.
    """
    claim, kind, suffix, pattern = SEVERAL[name]
    monkeypatch.chdir(open_folder)
    os.mkdir("also")
    good(kind, f"also/a{suffix}")
    good(kind, f"a{suffix}")
    if what == "file":
        for place in (f"b{suffix}", f"also/b{suffix}"):
            good(kind, place)
            os.chmod(place, 0)
    elif pattern == "*.safetensors":
        os.chmod(open_folder, 0o311)  # may be entered, and not be listed
    else:
        (open_folder / "inner").mkdir()
        good(kind, f"inner/c{suffix}")
        os.chmod("inner", 0)
    leaf = looked(session, claim(os.path.join(open_folder, pattern) if pattern else open_folder), nobody)

    assert (leaf.verdict, leaf.cause) == (UNKNOWN, Cause.PERMISSION), (leaf.verdict, leaf.reason)
