"""ModuleResolves: where a module would come from, found without importing it."""

import hashlib
import sys
from base64 import urlsafe_b64encode

import pytest
from interpreters import executable

from verikit.checks.modules import ModuleResolves
from verikit.errors import Cause
from verikit.probes import interpreter
from verikit.probes.place import Place
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS, UNKNOWN

BOOM = "raise SystemExit('imported')\n"


def write(path, text=BOOM):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def install(folder, name, version, *files):
    """A distribution in the folder, with a RECORD of these files, which are there already."""
    info = folder / f"{name}-{version}.dist-info"
    write(info / "METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    rows = []
    for file in files:
        digest = urlsafe_b64encode(hashlib.sha256(file.read_bytes()).digest()).rstrip(b"=").decode()
        rows.append(f"{file.relative_to(folder)},sha256={digest},{file.stat().st_size}")
    write(info / "RECORD", "\n".join([*rows, ""]))


@pytest.fixture
def site(tmp_path):
    """A folder on the path of the host's interpreter, by PYTHONPATH, which holds vkpkg 1.0."""
    folder = tmp_path / "site"
    install(folder, "vkpkg", "1.0", write(folder / "vkpkg" / "__init__.py"), write(folder / "vkpkg" / "sub.py"))
    return folder


def judged(site, module="vkpkg", **options):
    return examine_here(ModuleResolves(module, env={"PYTHONPATH": str(site)}, **options))


def test_where_it_comes_from(site):
    """
    The file, its owner and the interpreter are named; nothing is imported and nothing cached.
    """
    found = judged(site, to=site, version="1.0")

    assert found.verdict is PASS
    assert f"vkpkg comes from {site}/vkpkg/__init__.py, vkpkg 1.0 [Python" in found.reason
    assert "default, not stated" in found.reason
    assert not list(site.rglob("__pycache__"))


def test_a_module_inside_a_package(site):
    """
    A dotted name is followed into the package's folder.
    """
    assert judged(site, "vkpkg.sub", to=site / "vkpkg" / "sub.py").verdict is PASS
    assert judged(site, "vkpkg.none").verdict is FAIL


def test_another_version(site):
    """
    Another version than expected fails, and both are named; a local version fits its public one.
    """
    found = judged(site, version="2.0")
    assert found.verdict is FAIL
    assert "vkpkg 1.0; 2.0 expected" in found.reason
    install(site, "vklocal", "2.1.0+cu121", write(site / "vklocal.py"))
    assert judged(site, "vklocal", version="2.1.0").verdict is PASS


def test_a_local_file_shadows_it(site, tmp_path):
    """
    A file in the folder of the start comes first; the reason names the one that was meant.
    """
    write(tmp_path / "start" / "vkpkg.py")
    found = judged(site, to=site, cwd=tmp_path / "start")

    assert found.verdict is FAIL
    assert f"comes from {tmp_path}/start/vkpkg.py, not from {site}" in found.reason
    assert f"{site}/vkpkg/__init__.py is there too, and comes later" in found.reason


def test_a_folder_without_init_shadows_nothing(site, tmp_path):
    """
    A folder without __init__.py never wins against a later package.
    """
    write(tmp_path / "start" / "vkpkg" / "data.txt")

    assert judged(site, to=site, cwd=tmp_path / "start").verdict is PASS
    assert judged(site, "vkonly", cwd=tmp_path / "start").verdict is FAIL
    write(tmp_path / "start" / "vkonly" / "data.txt")
    assert judged(site, "vkonly", to=tmp_path / "start", cwd=tmp_path / "start").verdict is PASS


def test_what_start_up_has_loaded_is_not_shadowed(site, tmp_path):
    """
    A local file can't stand in for a module that is built in, frozen, or loaded before the program starts.
    """
    for name in ("sys", "os", "codecs"):
        write(tmp_path / "start" / f"{name}.py")
        assert judged(site, name, to=tmp_path / "start", cwd=tmp_path / "start").verdict is FAIL
    write(tmp_path / "start" / "colorsys.py")
    assert judged(site, "colorsys", to=tmp_path / "start", cwd=tmp_path / "start").verdict is PASS


def test_two_distributions_own_one_file(site):
    """
    Of two distributions that list one file, the one with its digest wrote it last; both are named.
    """
    file = site / "vkpkg" / "__init__.py"
    old = file.read_text()
    file.write_text("x = 2\n")
    install(site, "vkpkg-headless", "2.0", file)

    found = judged(site, version="2.0")
    assert found.verdict is PASS
    assert any("both own" in words and "the content is that of vkpkg-headless 2.0" in words for words in found.warnings)
    file.write_text(old)
    assert judged(site, version="2.0").verdict is FAIL
    file.write_text("x = 3\n")
    found = judged(site, version="2.0")
    assert (found.verdict, found.cause) == (UNKNOWN, Cause.AMBIGUOUS)


def test_an_editable_install_beside_a_stale_copy(site, tmp_path):
    """
    A stale copy on the path before an editable project wins, and the owner of the copy is said.
    """
    write(tmp_path / "project" / "vkpkg" / "__init__.py")
    (site / "vkpkg.pth").write_text(f"{tmp_path}/project\n")
    found = examine_here(
        ModuleResolves("vkpkg", to=tmp_path / "project", env={"PYTHONPATH": f"{site}:{tmp_path}/project"})
    )
    assert found.verdict is FAIL
    assert f"{tmp_path}/project/vkpkg/__init__.py is there too" in found.reason

    found = examine_here(
        ModuleResolves("vkpkg", to=tmp_path / "project", env={"PYTHONPATH": f"{tmp_path}/project:{site}"})
    )
    assert found.verdict is PASS
    assert any("vkpkg 1.0 has a copy at" in words for words in found.warnings)


def test_a_version_nobody_states(site):
    """
    A file that no distribution owns has the version of its own __version__, or none that can be told.
    """
    write(site / "vkfile.py", '__version__ = "3.1"\n')
    write(site / "vkbare.py", "x = 1\n")

    assert judged(site, "vkfile", version="3.1").verdict is PASS
    assert judged(site, "vkfile", version="3.2").verdict is FAIL
    assert judged(site, "vkbare", version="3.1").cause is Cause.AMBIGUOUS


def test_another_interpreter_is_asked(site):
    """
    The path is that of the interpreter named.
    """
    python = executable("3.9") or executable("3.12")
    if python is None:
        pytest.skip("no second interpreter here")
    found = judged(site, "json", python=python)

    assert found.verdict is PASS
    assert f"{python}" in found.reason
    assert examine_here(ModuleResolves("json", python="/no/such")).cause is Cause.TOOL_MISSING


@pytest.mark.parametrize(
    "name", ["json", "email.mime.text", "sys", "os", "encodings", "_json", "concurrent.futures", "pytest"]
)
def test_it_agrees_with_the_import_system(name):
    """
    For modules of the library and of site-packages the answer is importlib's own.
    """
    import importlib.util

    spec = importlib.util.find_spec(name)
    facts = examine_here(ModuleResolves(name)).facts

    assert facts["file"] == spec.origin or facts["kind"] == spec.origin


@pytest.mark.parametrize("wrong", [("a-b",), ("",), ("a..b",), (3,)])
def test_wrong_use_is_told_at_once(wrong):
    """
    What is no dotted name is a ValueError when the check is built.
    """
    with pytest.raises(ValueError):
        ModuleResolves(*wrong)


def test_the_claim_round_trips():
    """
    repr rebuilds the claim; to_dict carries it.
    """
    for check in (ModuleResolves("a.b"), ModuleResolves("a", to="/x", version="1", cwd="/y", env={"A": "b"})):
        assert eval(repr(check)) == check
        assert hash(eval(repr(check))) == hash(check)
        assert ModuleResolves.from_dict(check.to_dict()) == check


# The interpreter's own word.


def test_the_asking_child_imports_nothing_of_the_project(tmp_path):
    """
    Neither PYTHONPATH nor the working directory put a module into the child that asks.
    """
    for name in ("json", "runpy", "re", "warnings", "importlib"):
        write(tmp_path / f"{name}.py")
    known = interpreter.ask(
        Place(), cwd=str(tmp_path), env={"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": ""}
    )

    assert str(tmp_path) in known["path"]
    assert not list(tmp_path.rglob("__pycache__"))
    assert known["version"] == list(sys.version_info[:3])


@pytest.mark.parametrize("version", ["2.7", "3.6", "3.8", "3.10", "3.13"])
def test_every_interpreter_answers(version):
    """
    Interpreters from 2.7 on say their path, what is built in and frozen, and what is loaded at start.
    """
    python = executable(version) or pytest.skip(f"no Python {version} here")
    known = interpreter.ask(Place(), python)

    assert ".".join(map(str, known["version"][:2])) == version
    assert "sys" in known["builtin"]
    assert "os" in known["loaded"]
    assert {"json", "email"} <= set(known["stdlib"])
    assert known["version"] < [3, 11] or "os" in known["frozen"]


def test_a_version_is_found():
    """
    This interpreter's own version is itself; one that nobody has is None.
    """
    here = ".".join(map(str, sys.version_info[:2]))

    assert interpreter.find(Place(), here)["executable"] == sys.executable
    assert interpreter.find(Place(), "3.99") is None
