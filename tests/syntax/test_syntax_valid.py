"""SyntaxValid on files, trees and texts: verdict, reason, and what is said beside."""

import asyncio
import os
import pickle
import stat
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from interpreters import executable
from syntax_cases import CASES

from verikit import Local, verify
from verikit.checks.syntax import SyntaxValid, excerpt
from verikit.errors import Cause, Unseen
from verikit.hosts.base import HereHost
from verikit.probes.place import CannotSee
from verikit.probes.syntax import look, workers
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS, UNKNOWN

HERE = ".".join(map(str, sys.version_info[:3]))


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def judged(path, data, **options):
    return examine_here(SyntaxValid(write(path, data), **options))


# Python.


def test_a_valid_file_passes(tmp_path):
    """
    A file that compiles passes; the reason names the interpreter, that it was not stated, and what a PASS does not prove.
    """
    found = judged(tmp_path / "a.py", "import os\n")

    assert found.verdict is PASS
    assert f"import under Python {HERE}" in found.reason
    assert "default, not stated" in found.reason
    assert "FileMatches(size=, sha256=)" in found.reason
    assert found.facts["coverage"] == {"files": {"examined": 1, "of": 1}, "bytes": 10}


def test_a_stated_interpreter_is_named(tmp_path):
    """
    With python= the reason says which was asked for, and not that it is a default.
    """
    found = judged(tmp_path / "a.py", "import os\n", python=sys.executable)

    assert found.verdict is PASS
    assert "not stated" not in found.reason
    assert sys.executable in found.reason


def test_a_refusal_says_where(tmp_path):
    """
    A syntax error fails with file, line, column, message; the facts keep the line.
    """
    found = judged(tmp_path / "a.py", "x = 1\ny = 2)\n")

    assert found.verdict is FAIL
    assert f"{tmp_path}/a.py:2:6: SyntaxError: unmatched ')'" in found.reason
    (row,) = found.facts["bad"]
    assert (row["line"], row["column"], row["text"].strip()) == (2, 6, "y = 2)")
    assert found.facts["excerpts"] == (excerpt(row),) == ("y = 2)\n     ^",)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (
            "x = 1\n<<<<<<< HEAD\ny = 1\n=======\ny = 2\n>>>>>>> topic\n",
            "merge-conflict marker in line 2 (3 in the file)",
        ),
        ("x = (1,\n2,\n", "the file ends in the middle of something"),
        ('"""never closed\n', "the file ends in the middle of something"),
        ("x = 1\r\r\ny = 1 + \\\r\r\n2\r\r\n", "lines end in CR CR LF"),
        (b"x = 1\n" + b"\0" * 4096, "4096 NUL bytes to the end of the file"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", "a Git LFS pointer"),
        ("<!DOCTYPE html>\n<html></html>\n", "an HTML page"),
        (b"\x1f\x8b\x08\x00data", "gzip data"),
        ("x = 1\n".encode("utf-16"), "UTF-16"),
        ("diff --git a/x b/x\n--- a/x\n+++ b/x\n", "a patch, not the patched file"),
        ("x = 1\n%matplotlib inline\n", "IPython syntax in a plain file"),
        ("print 'x'\n", "Python 2 syntax"),
    ],
)
def test_a_likely_cause_is_named(tmp_path, data, words):
    """
    Where the bytes show why a file does not parse, the reason says so.
    """
    found = judged(tmp_path / "a.py", data)

    assert found.verdict is FAIL
    assert words in found.reason


@pytest.mark.parametrize(
    ("name", "version", "words"),
    [
        ("match", "3.8", "syntax of Python 3.10: the `match` statement"),
        ("except_star", "3.9", "syntax of Python 3.11: `except*`"),
        ("type_parameters", "3.11", "syntax of Python 3.12: type parameters"),
        ("fstring_backslash_field", "3.10", "syntax of Python 3.12: f-strings"),
        ("walrus", "3.7", "syntax of Python 3.8: `:=`"),
        ("decorator_lambda", "3.8", "syntax of Python 3.9: decorators"),
        ("with_parens_as", "3.8", "syntax of Python 3.9: `with` items"),
    ],
)
def test_syntax_of_a_later_version_is_named(tmp_path, name, version, words):
    """
    An interpreter that refuses what a later one brought: the reason says which one did.
    """
    python = executable(version) or pytest.skip(f"no Python {version} here")
    found = judged(tmp_path / "a.py", dict(CASES)[name], python=python)

    assert found.verdict is FAIL
    assert words in found.reason


def test_a_conflict_marker_in_a_string_is_text(tmp_path):
    """
    Lines that look like conflict markers inside a string are no fault.
    """
    assert judged(tmp_path / "a.py", 'x = """\n<<<<<<< HEAD\n=======\n>>>>>>> b\n"""\n').verdict is PASS


def test_import_and_script_are_two_axes(tmp_path):
    """
    A byte that is no UTF-8 in a comment: an import takes it up to 3.13, a script start never does.
    """
    path = write(tmp_path / "a.py", b"x = 1  # gr\xfc\n")

    assert examine_here(SyntaxValid(path)).verdict is (PASS if sys.version_info < (3, 14) else FAIL)
    refused = examine_here(SyntaxValid(path, run_as="script"))
    assert refused.verdict is FAIL
    assert f"{path}:1: SyntaxError: Non-UTF-8 code starting with '\\xfc' in line 1" in refused.reason
    assert "script under Python" in refused.reason


def test_the_limits_of_the_compiler_are_refusals(tmp_path):
    """
    A sum of 40,000 terms and 100,000 minus signs end in an exception of the compiler's: FAIL, never a crash of the look.
    """
    for data in ("x = " + "-" * 100_000 + "1\n", "def f():\n    return " + "+".join(["a"] * 40_000) + "\n"):
        found = judged(tmp_path / "a.py", data)
        assert found.verdict is FAIL
        assert "MemoryError" in found.reason or "RecursionError" in found.reason


def test_a_crash_of_the_compiler_is_a_finding(tmp_path):
    """
    An interpreter that dies over the source is said to have died; the look lives on, and judges the other files.
    """
    dies = 'for each in "$@"; do if [ "${#each}" -gt 200 ]; then kill -SEGV $$; fi; done'
    script = f'#!/bin/sh\n{dies}\nexec {sys.executable} "$@"\n'
    python = write(tmp_path / "bin" / "python", script)
    python.chmod(0o755)
    write(tmp_path / "tree" / "b.py", "x = 1\n")
    found = judged(tmp_path / "tree" / "a.py", "x = 1\n", python=str(python))

    assert found.verdict is FAIL
    assert "the interpreter was ended by SIGSEGV while it compiled this" in found.reason
    assert examine_here(SyntaxValid(tmp_path / "tree", python=str(python))).facts["bad_count"] == 2


def test_a_lack_of_memory_is_no_refusal():
    """
    A compiler that runs out of memory over a large source has not refused it; over a small one its stack is full.
    """

    class Poor:
        def outcome(self, data, run_as):
            return {"ok": False, "error": "MemoryError", "message": "MemoryError"}

    ask = look.asker("a.py", Poor(), "import")
    assert ask(b"x" * 1000)["message"] == "nested deeper than the parser's stack"
    with pytest.raises(CannotSee, match="more memory than a look is given") as raised:
        ask(b"x" * (2 << 20))
    assert raised.value.cause == "bound_reached"


def test_a_look_that_dies_is_asked_again(tmp_path):
    """
    Should the look's own process die over a source, the compiler is given a process of its own, and the answer is a finding.
    """
    asked = []

    class Mortal(HereHost):
        async def ask(self, look):
            asked.append(look.arguments.get("alone"))
            if len(asked) == 1:
                raise Unseen(Cause.PROBE_ERROR, "the look's process was ended by SIGSEGV")
            return await super().ask(look)

    found = asyncio.run(SyntaxValid(write(tmp_path / "a.py", "x = 1\n")).examine(Mortal(Local())))

    assert found.verdict is PASS
    assert asked == [None, True]


def test_work_is_shared_out_in_order():
    """
    Several hands give the results in the order of the items, and an error of one is not lost.
    """
    assert workers.share_out(range(100), lambda item: item * 2, 4) == list(range(0, 200, 2))
    with pytest.raises(ZeroDivisionError):
        workers.share_out(range(10), lambda item: 1 // (item - 5), 3)


def test_through_the_agent(tmp_path):
    """
    A tree judged by the agent has the same finding as one judged here.
    """
    for index in range(20):
        write(tmp_path / f"m{index}.py", "x = 1\n" if index else "x = (\n")
    report = verify(SyntaxValid(tmp_path))

    assert report.failed
    assert report.root.reason == examine_here(SyntaxValid(tmp_path)).reason
    assert "1 of 20 files refused" in report.root.reason
    assert not list(tmp_path.rglob("__pycache__"))


def test_warnings_are_told_apart(tmp_path):
    """
    Warnings of the compiler leave the verdict alone, unless they are asked to fail.
    """
    path = write(tmp_path / "a.py", "x = '\\d'\ny = x is 1\n")
    found = examine_here(SyntaxValid(path))

    assert found.verdict is PASS
    assert found.facts["warning_count"] == 2
    assert any("invalid escape sequence" in words for words in found.warnings)
    failed = examine_here(SyntaxValid(path, warnings="fail"))
    assert failed.verdict is FAIL
    assert "2 warnings of the parser, none allowed" in failed.reason


def test_an_empty_file_parses(tmp_path):
    """
    An empty Python file is valid, and is said to be empty.
    """
    found = judged(tmp_path / "a.py", "")

    assert found.verdict is PASS
    assert "is empty, which parses" in found.reason


def test_a_version_that_is_not_here_is_never_guessed(tmp_path):
    """
    Where newer syntax could explain an error, a version without its interpreter is UNKNOWN; what needs no guess is decided.
    """
    unsure = judged(tmp_path / "a.py", "x = = 1\n", python="3.99")
    assert (unsure.verdict, unsure.cause) == (UNKNOWN, Cause.TOOL_MISSING)
    assert "no Python 3.99 on this host" in unsure.reason


def test_a_named_interpreter_that_is_not_there(tmp_path):
    """
    A path that holds no interpreter is tool_missing, named.
    """
    found = judged(tmp_path / "a.py", "x = 1\n", python="/no/such/python")

    assert (found.verdict, found.cause) == (UNKNOWN, Cause.TOOL_MISSING)
    assert "no interpreter /no/such/python" in found.reason


def test_a_source_is_judged_before_it_is_written():
    """
    source= text is judged as the file would be.
    """
    assert examine_here(SyntaxValid(source="x = 1\n")).verdict is PASS
    found = examine_here(SyntaxValid("model.py", source="x = (1]\n"))
    assert found.verdict is FAIL
    assert found.reason.startswith("model.py:1:")
    assert examine_here(SyntaxValid("a.json", source="{}")).verdict is PASS


def test_nothing_is_written_and_nothing_runs(tmp_path):
    """
    The examined file is neither run nor cached: no __pycache__ appears, by the host's interpreter or a named one.
    """
    path = write(tmp_path / "tree" / "a.py", f"open({str(tmp_path / 'ran')!r}, 'w').close()\nimport a\n")
    write(tmp_path / "tree" / "json.py", "raise SystemExit('the project was imported')\n")
    before = sorted(os.walk(tmp_path))

    for options in ({}, {"python": sys.executable}, {"run_as": "script"}):
        assert examine_here(SyntaxValid(path, **options)).verdict is PASS
        assert examine_here(SyntaxValid(tmp_path / "tree", **options)).verdict is PASS
    assert sorted(os.walk(tmp_path)) == before


# Trees and globs.


def test_a_tree_names_every_bad_file(tmp_path):
    """
    A tree is judged whole: bad files are counted and named, tool folders are passed over and said.
    """
    for index in range(60):
        write(tmp_path / f"m{index:02}.py", "x = 1\n" if index % 3 else "x = (\n")
    write(tmp_path / "pkg" / "b.py", "x = 1]\n")
    write(tmp_path / ".git" / "c.py", "x = (\n")
    write(tmp_path / "notes.txt", "no source")
    found = examine_here(SyntaxValid(tmp_path))

    assert found.verdict is FAIL
    assert "21 of 61 files refused; first" in found.reason
    assert len(found.facts["bad"]) == found.facts["bad_count"] == 21
    assert (found.facts["others"], found.facts["skipped"]) == (1, (".git",))


def test_bad_files_are_bounded_and_counted(tmp_path):
    """
    Of very many bad files the first 50 are told, and all are counted.
    """
    for index in range(120):
        write(tmp_path / f"m{index:03}.py", "x = (\n")
    facts = examine_here(SyntaxValid(tmp_path)).facts

    assert (facts["bad_count"], len(facts["bad"])) == (120, 50)


@pytest.mark.parametrize("pattern", ["", "*.py", "**/*.py"])
def test_nothing_seen_is_no_pass(tmp_path, pattern):
    """
    An empty tree, and a glob that matches nothing, are UNKNOWN: nothing was looked at.
    """
    (tmp_path / "empty").mkdir()
    found = examine_here(SyntaxValid(os.path.join(tmp_path, "empty", pattern) if pattern else tmp_path / "empty"))

    assert (found.verdict, found.cause) == (UNKNOWN, Cause.NOTHING_SEEN)


def test_a_glob_takes_what_it_matches(tmp_path):
    """
    A glob judges the files it matches, and no others.
    """
    write(tmp_path / "a.py", "x = 1\n")
    write(tmp_path / "b" / "c.py", "x = 1\n")
    write(tmp_path / "d.pyi", "x = (\n")

    assert examine_here(SyntaxValid(tmp_path / "**" / "*.py")).facts["examined"] == 2
    assert examine_here(SyntaxValid(tmp_path / "*.py*")).verdict is FAIL


def test_a_name_that_looks_like_a_glob_is_a_name_first(tmp_path):
    """
    A file whose name holds glob characters is meant by its name, if it is there.
    """
    assert judged(tmp_path / "a[1].py", "x = (\n").verdict is FAIL


def test_kind_narrows_a_tree(tmp_path):
    """
    With kind= only files of that kind are judged in a tree.
    """
    write(tmp_path / "a.py", "x = (\n")
    write(tmp_path / "b.json", "{}")

    assert examine_here(SyntaxValid(tmp_path, kind="json")).verdict is PASS
    assert examine_here(SyntaxValid(tmp_path, kind="python")).verdict is FAIL


# What can't be seen.


def test_a_missing_file_is_unknown(tmp_path):
    """
    A missing file is UNKNOWN, so that the negated claim does not pass on nothing.
    """
    found = examine_here(SyntaxValid(tmp_path / "a.py"))

    assert (found.verdict, found.cause) == (UNKNOWN, Cause.MISSING)


def test_what_is_no_file_is_not_opened(tmp_path):
    """
    A FIFO with a Python name is refused without being opened.
    """
    os.mkfifo(tmp_path / "a.py")

    assert examine_here(SyntaxValid(tmp_path / "a.py")).cause is Cause.UNSUPPORTED


def test_a_file_of_no_known_kind_is_asked_about(tmp_path):
    """
    Where neither the name nor the first line tells the kind, nothing is guessed.
    """
    assert judged(tmp_path / "train", "x = 1\n").cause is Cause.UNSUPPORTED
    assert judged(tmp_path / "train", "x = 1\n", kind="python").verdict is PASS
    assert judged(tmp_path / "start", "#!/usr/bin/env python3\nx = (\n").verdict is FAIL


def test_a_dangling_link_is_no_pass(tmp_path):
    """
    A link to nowhere with a Python name can't be judged; a glob's other files of no kind are passed over.
    """
    write(tmp_path / "a.py", "x = 1\n")
    write(tmp_path / "README", "text")
    assert examine_here(SyntaxValid(tmp_path / "*")).verdict is PASS
    (tmp_path / "b.py").symlink_to("nowhere.py")

    assert examine_here(SyntaxValid(tmp_path)).cause is Cause.MISSING


def test_a_file_too_large_is_said(tmp_path):
    """
    A source past the bound is UNKNOWN bound_reached; its refusal or pass is not guessed.
    """
    path = tmp_path / "a.py"
    with open(path, "wb") as file:
        file.truncate((16 << 20) + 1)

    assert examine_here(SyntaxValid(path)).cause is Cause.BOUND_REACHED


# The claim as a value.


@pytest.mark.parametrize(
    "wrong",
    [{}, {"run_as": "module"}, {"kind": "c"}, {"warnings": "error"}, {"python": ""}, {"python": "-c"}, {"source": 3}],
)
def test_wrong_use_is_told_at_once(wrong):
    """
    A value outside what the claim takes is a ValueError or TypeError when the check is built.
    """
    with pytest.raises((ValueError, TypeError)):
        SyntaxValid(*([] if not wrong else ["a.py"]), **wrong)


def test_the_claim_round_trips():
    """
    repr rebuilds the claim, pickle and to_dict carry it.
    """
    for check in (SyntaxValid("a.py"), SyntaxValid("a b", python="3.9", run_as="script"), SyntaxValid(source="x\n")):
        assert eval(repr(check)) == check
        assert pickle.loads(pickle.dumps(check)) == check
        assert SyntaxValid.from_dict(check.to_dict()) == check


@given(st.binary(max_size=300))
def test_any_bytes_get_a_verdict(data):
    """
    Whatever the bytes, both axes answer, and a refusal has a message.
    """
    from verikit.probes.syntax import driver

    for run_as in ("import", "script"):
        said = driver.outcome(data, "x", run_as)
        assert said["ok"] or said["message"]


def test_mode_and_times_are_left_alone(tmp_path):
    """
    Looking changes neither content nor times of the file.
    """
    path = write(tmp_path / "a.py", "x = 1\n")
    path.chmod(0o600)
    before = path.stat()
    examine_here(SyntaxValid(path, python=sys.executable))

    assert (path.stat().st_mtime_ns, stat.S_IMODE(path.stat().st_mode)) == (before.st_mtime_ns, 0o600)
