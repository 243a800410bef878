"""What SyntaxValid's driver and rules say, beside the real interpreters."""

import sys

import pytest
from interpreters import VERSIONS, executable, imports, starts
from syntax_cases import CASES

from verikit.probes.syntax import driver, features, workers

# The cases that a script start may read otherwise than compile() does: bytes, not grammar.
BYTES = ("latin_", "utf8_", "cookie_", "nul_", "bom_", "cut_in_", "cp1252", "ascii_", "cr", "form_feed", "ctrl_z")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cases")
    for name, data in CASES:
        (folder / f"{name}.py").write_bytes(data)
    return {name: folder / f"{name}.py" for name, _ in CASES}


def python(version):
    found = executable(version)
    if found is None:
        pytest.skip(f"no Python {version} here")
    return found


def judged(version, run_as, cases):
    """The names that the check's own machinery takes under a real interpreter."""
    path = python(version)
    crew = workers.Crew(path if path != sys.executable else None, sys.executable)
    try:
        return {name: crew.outcome(data, run_as)["ok"] for name, data in cases}
    finally:
        crew.close()


@pytest.mark.parametrize("version", [each for each in VERSIONS if each != "2.7"])
def test_an_import_is_judged_as_the_interpreter_compiles(version, files):
    """
    Every source is taken or refused for an import exactly as compile() of that interpreter does.
    """
    truth = dict(zip(files, imports(python(version), list(files.values())), strict=True))

    assert judged(version, "import", CASES) == truth


@pytest.mark.parametrize("version", VERSIONS)
def test_a_script_is_judged_as_the_interpreter_starts_it(version, files):
    """
    Bytes that are no UTF-8, cookies, marks, NUL and line ends are judged for a script as that interpreter starts it.
    """
    cases = [(name, data) for name, data in CASES if name.startswith(BYTES)]
    truth = {name: starts(python(version), files[name]) for name, _ in cases}

    assert len(cases) > 60
    assert judged(version, "script", cases) == truth


def test_python_2_imports_as_it_starts(files):
    """
    Python 2 reads a module by lines, as a script: a byte that is no ASCII needs a cookie either way.
    """
    assert judged("2.7", "import", [("latin", b"# \xfc\n"), ("nul", b"x = 1\n\0"), ("plain", b"print 1\n")]) == {
        "latin": False,
        "nul": True,
        "plain": True,
    }


@pytest.mark.parametrize("version", [each for each in VERSIONS if each not in ("2.7", "3.6", "3.7", "3.14")])
def test_rules_that_stand_in_for_an_interpreter_are_never_wrong(version, files):
    """
    Without the interpreter, the rules say of every source what it would say, or that they can't tell.
    """
    truth = imports(python(version), list(files.values()))
    target = tuple(map(int, version.split(".")))
    here = sys.version_info[:2]
    if target == here:
        pytest.skip("that is this interpreter")
    rules = [features.stand_in(data, driver.outcome(data, "x"), here, target, "import")["ok"] for _, data in CASES]

    assert [] == [
        name for name, said, true in zip(files, rules, truth, strict=True) if said is not None and said != true
    ]
    assert rules.count(None) < len(rules) // 3


@pytest.mark.parametrize("target", [(3, 8), (3, 14)])
@pytest.mark.parametrize("data", [b"x = 1\n", b"def f(:\n  pass\n", b"return 1\n", b"x = (1,\n", b"print 1\n"])
def test_rules_decide_what_is_the_same_in_all_versions(data, target):
    """
    What no version reads otherwise is decided without the interpreter, at least by the host's side of it.
    """
    answer = driver.outcome(data, "x")
    said = features.stand_in(data, answer, sys.version_info[:2], target, "import")["ok"]

    assert said in (answer["ok"], None)
    if target < sys.version_info[:2] or data != b"def f(:\n  pass\n":
        assert said is answer["ok"]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="a host that has these features is needed")
@pytest.mark.parametrize("name", ["type_statement", "fstring_same_quotes", "fstring_comment", "type_parameters"])
def test_a_newer_feature_is_named(name):
    """
    A refusal by the rules names the feature and the version that brought it.
    """
    data = dict(CASES)[name]
    said = features.stand_in(data, driver.outcome(data, "x"), sys.version_info[:2], (3, 9), "import")

    assert said["ok"] is False
    assert "needs Python 3.12" in said["message"]


def test_a_match_statement_needs_3_10():
    """
    The rules know that `match` came with 3.10, and where it stands.
    """
    data = dict(CASES)["match"]
    said = features.stand_in(data, driver.outcome(data, "x"), sys.version_info[:2], (3, 9), "import")

    assert (said["ok"], said["message"], said["line"]) == (False, "a `match` statement needs Python 3.10", 2)
