"""SyntaxValid on what is not Python: notebooks, JSON, JSON lines, TOML, YAML, shell."""

import json
import shutil
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from places import Bare
from verikit.checks.syntax import SyntaxValid
from verikit.errors import Cause
from verikit.probes.place import Place
from verikit.probes.syntax import data as texts
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS, UNKNOWN

TOML = pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib came with 3.11")
BASH = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not here")

# (file, bytes, verdict, what the reason or a warning says)
ROWS = [
    ("a.json", b'{"a": [1, 2.5e3, null, "\\u00e4"]}\n', PASS, ""),
    ("trailing_comma.json", b'{"a": 1,}', FAIL, "trailing_comma.json:1:"),
    ("cut.json", b'{"a": [1, 2', FAIL, "cut short"),
    ("cut_string.json", b'{"a": "bc', FAIL, "cut short"),
    ("quotes.json", b"{'a': 1}", FAIL, "JSONDecodeError"),
    ("comment.json", b"// no\n{}", FAIL, "JSONDecodeError"),
    ("two.json", b"{} {}", FAIL, "Extra data"),
    ("control.json", b'"a\nb"', FAIL, "control character"),
    ("latin.json", b'"gr\xfc"', FAIL, "UnicodeDecodeError"),
    ("empty.json", b"", FAIL, "there is no value at all"),
    ("nan.json", b'{"loss": NaN}', PASS, "NaN is no JSON by RFC 8259"),
    ("bom.json", b"\xef\xbb\xbf{}", PASS, "byte-order mark"),
    ("utf16.json", "{}".encode("utf-16"), PASS, "RFC 8259 wants UTF-8"),
    ("twice.json", b'{"a": 1, "a": 2}', PASS, 'the key "a" is there twice'),
    ("a.jsonl", b'{"a": 1}\n{"b": 2}\n', PASS, ""),
    ("no_end.jsonl", b'{"a": 1}\n{"b": 2}', PASS, ""),
    ("cut.jsonl", b'{"a": 1}\n{"b": ', FAIL, "cut.jsonl:2:7: JSONDecodeError"),
    ("blank.jsonl", b'{"a": 1}\n\n{"b": 2}\n', PASS, "a blank line"),
    ("empty.jsonl", b"", PASS, "it holds no record"),
    ("crlf.jsonl", b'{"a": 1}\r\n{"b": 2}\r\n', PASS, ""),
    pytest.param("a.toml", b'[a]\nb = 1\nc = "d"\n', PASS, "", marks=TOML),
    pytest.param("no_value.toml", b"[a]\nb = \n", FAIL, ":2:5: TOMLDecodeError: Invalid value", marks=TOML),
    pytest.param("twice.toml", b"a = 1\na = 2\n", FAIL, "overwrite", marks=TOML),
    pytest.param("latin.toml", b'a = 1\nb = "\xfc"\n', FAIL, "latin.toml:2: UnicodeDecodeError", marks=TOML),
    pytest.param("cut.toml", b"a = [1,\n2", FAIL, "cut short", marks=TOML),
    pytest.param("empty.toml", b"", PASS, "is empty", marks=TOML),
    pytest.param("a.sh", b"#!/bin/bash\nif true; then echo; fi\n", PASS, "", marks=BASH),
    pytest.param("cut.sh", b"if true; then echo\n", FAIL, "the file ends in the middle", marks=BASH),
    pytest.param("quote.sh", b"echo 'abc\n", FAIL, "the file ends in the middle", marks=BASH),
    pytest.param("bracket.sh", b"echo )\n", FAIL, "bracket.sh:1: bash -n: syntax error", marks=BASH),
    pytest.param("crlf.sh", b"echo a\r\n", PASS, "CR LF", marks=BASH),
    pytest.param("crlf_if.sh", b"if true; then\r\n  echo\r\nfi\r\n", FAIL, "lines end in CR LF", marks=BASH),
    pytest.param("here.sh", b"cat <<EOF\nabc\n", PASS, "here-document", marks=BASH),
    pytest.param("extglob.sh", b"shopt -s extglob\nls !(a|b)\n", PASS, "", marks=BASH),
    pytest.param("-rf.sh", b"rm -- x\n", PASS, "", marks=BASH),
    ("fish.sh", b"#!/usr/bin/fish\nif true; end\n", UNKNOWN, "names fish"),
]


@pytest.mark.parametrize(("name", "data", "verdict", "words"), ROWS)
def test_each_kind_by_its_own_parser(tmp_path, name, data, verdict, words):
    """
    A file is judged by its own parser; what stricter readers refuse is a warning.
    """
    (tmp_path / name).write_bytes(data)
    found = examine_here(SyntaxValid(tmp_path / name))

    assert found.verdict is verdict, found.reason
    assert words in found.reason + " ".join(found.warnings)


def test_warnings_can_fail_other_kinds_too(tmp_path):
    """
    With warnings="fail" a NaN is refused.
    """
    (tmp_path / "a.json").write_text("[NaN]")

    assert examine_here(SyntaxValid(tmp_path / "a.json", warnings="fail")).verdict is FAIL


def test_too_deep_is_not_judged(tmp_path):
    """
    JSON nested deeper than its reader goes is UNKNOWN: the text may be valid.
    """
    (tmp_path / "a.json").write_bytes(b"[" * 200_000 + b"]" * 200_000)

    assert examine_here(SyntaxValid(tmp_path / "a.json")).cause is Cause.BOUND_REACHED


@BASH
def test_a_shell_script_is_not_run(tmp_path, monkeypatch):
    """
    bash -n runs nothing, and BASH_ENV of the environment is not read.
    """
    (tmp_path / "env.sh").write_text(f"touch {tmp_path}/ran\n")
    (tmp_path / "a.sh").write_text(f"touch {tmp_path}/ran\n$(touch {tmp_path}/ran)\n")
    monkeypatch.setenv("BASH_ENV", str(tmp_path / "env.sh"))

    assert examine_here(SyntaxValid(tmp_path / "a.sh")).verdict is PASS
    assert not (tmp_path / "ran").exists()


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda each: st.lists(each, max_size=3)
    )
)
def test_json_is_what_json_loads_takes(value):
    """
    Every JSON text is taken, and no list is taken once its last byte is cut.
    """
    data = json.dumps([value]).encode()

    assert texts.read_json(Place(), "x", data)["ok"]
    assert not texts.read_json(Place(), "x", data[:-1])["ok"]


# YAML, where PyYAML is.


@pytest.mark.parametrize(
    ("data", "verdict", "words"),
    [
        ("a: 1\nb: [1, 2]\n", PASS, ""),
        ("a: 1\n---\nb: 2\n", PASS, "2 documents"),
        ("a: !model {x: 1}\n", PASS, "custom tags: !model"),
        ("a: !!python/object/apply:os.system ['touch ran']\n", PASS, ""),
        ("a: 1\na: 2\n", PASS, "the key 'a' is there twice"),
        ("a: &x 1\nb: *x\n", PASS, ""),
        ("a: *x\n", FAIL, "undefined alias"),
        ("a: [1, 2\n", FAIL, "cut short"),
        ("a:\n\t- b\n", FAIL, ":2:"),
        ("a: b: c\n", FAIL, "mapping values are not allowed"),
        ("", PASS, "is empty"),
        ("a: &a [*a]\n", PASS, ""),
    ],
)
def test_yaml_by_events(tmp_path, monkeypatch, data, verdict, words):
    """
    YAML is judged by its events: several documents, tags and double keys are said, and nothing is constructed.
    """
    pytest.importorskip("yaml")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(data)
    found = examine_here(SyntaxValid(tmp_path / "a.yaml"))

    assert found.verdict is verdict, found.reason
    assert words in found.reason + " ".join(found.warnings)
    assert not (tmp_path / "ran").exists()


def test_yaml_without_a_reader(tmp_path):
    """
    A host without PyYAML answers that YAML is unsupported there.
    """

    from verikit.probes.place import CannotSee

    with pytest.raises(CannotSee, match="no reader of YAML") as raised:
        texts.read_yaml(Bare("yaml"), "a.yaml", b"a: 1\n")
    assert raised.value.cause == "unsupported"


# Notebooks.


def code(source):
    return {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}


def notebook(path, *cells, **metadata):
    path.write_text(json.dumps({"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}))
    return SyntaxValid(path)


def test_a_notebook_with_magics_parses(tmp_path):
    """
    Magics, shell lines, questions and a top-level await are a notebook's own syntax; cells of other languages are passed over.
    """
    cells = [
        code("import os\n%matplotlib inline\n!ls {x}\nfiles = !ls\nt = %timeit -o 1\nos?\n"),
        code(["await run()\n", "async for x in y:\n", "    pass\n"]),
        code("%%bash\nif then"),
        code("%%time\nx = 1\n"),
        code("%load_ext autoreload\nif x:\n    %autoreload 2\n    !echo $x\n"),
        {"cell_type": "markdown", "source": "def ("},
    ]
    found = examine_here(notebook(tmp_path / "a.ipynb", *cells))

    assert found.verdict is PASS, found.reason
    assert any("passed over: cell 3 (%%bash)" in words for words in found.warnings)


@pytest.mark.parametrize(
    "source", ["def f(:\n", "return 1", "x = (1,\n", "%%time\nx = = 1\n", "%pip install x\ny = = 2\n"]
)
def test_a_bad_cell_is_named(tmp_path, source):
    """
    A cell that does not compile fails the notebook, by its number.
    """
    found = examine_here(notebook(tmp_path / "a.ipynb", code("x = 1"), code(source)))

    assert found.verdict is FAIL
    assert "a.ipynb:cell 2:" in found.reason


def test_what_is_no_notebook(tmp_path):
    """
    JSON without cells is no notebook; a cut one is cut; another kernel's is not judged; one without code says so.
    """
    (tmp_path / "a.ipynb").write_text("{}")
    assert "no list of cells" in examine_here(SyntaxValid(tmp_path / "a.ipynb")).reason
    (tmp_path / "a.ipynb").write_text('{"cells": [')
    assert "cut short" in examine_here(SyntaxValid(tmp_path / "a.ipynb")).reason
    found = examine_here(notebook(tmp_path / "a.ipynb", code("x <- 1"), kernelspec={"language": "R"}))
    assert (found.verdict, found.cause) == (UNKNOWN, Cause.UNSUPPORTED)
    found = examine_here(notebook(tmp_path / "a.ipynb"))
    assert any("no cell of Python" in words for words in found.warnings)
