"""ImportConflict as a check: its questions, its reasons, what it refuses and what it leaves alone."""

# ruff: noqa: E501 - sources are kept on one line each, as they are easier to compare so.

import ast
import gc
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verikit.checks.imports import ImportConflict
from verikit.errors import Cause
from verikit.probes.imports import look, placement, scopes, tree
from verikit.probes.imports.rules import RULES
from verikit.probes.place import Place
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS, UNKNOWN

MODEL = '"""A model."""\n\nimport logging\nimport os\nfrom typing import (\n    Any,\n)\n\nlogger = logging.getLogger(__name__)\n\n\ndef home() -> Any:\n    return os.sep\n'


def asked(text, **question):
    return examine_here(ImportConflict(source=text, **question))


def test_a_private_alias_fits_and_says_where():
    """
    The first real case: a private second alias fits, and the reason names the safe lines around it.
    """
    found = asked(MODEL, inject="import os as _os_hs", line=5)

    assert PASS is found.verdict
    assert "safe at 2–5; line 5 lies inside" in found.reason
    assert found.facts["coverage"]["lines"] == 13


def test_inside_a_bracket_names_the_nearest_safe_lines():
    """
    An insertion inside an import list breaks, and the reason says where it would have been safe.
    """
    found = asked(MODEL, inject="import os as _os_hs", line=6)

    assert FAIL is found.verdict
    assert "P2: line 6 lies inside the bracket that opens on line 5" in found.reason
    assert "safe at 2–5 and 8–12" in found.reason


@pytest.mark.parametrize(
    ("use", "verdict"),
    [
        ("", PASS),
        ("    return time.time()\n", FAIL),
        ("    return lambda: time.time()\n", FAIL),
        ("    return eval('time.time()')\n", FAIL),
        ("    return locals()\n", FAIL),
        ("\ndef other():\n    return eval('1')\n", PASS),
    ],
)
def test_a_local_name_that_nothing_reads_conflicts_with_nothing(use, verdict):
    """
    No code relies on a local that is never read; a text or a dict of the locals may read it.
    """
    found = asked(f"def clock():\n    import time\n    from time import time\n{use}")

    assert verdict is found.verdict


def test_a_later_rebinding_names_both_lines_and_the_use():
    """
    The second real case: the finding has the import's line, the line that takes the name, and the first use after it.
    """
    found = asked(MODEL + "_os_hs = 3\n\n\ndef late():\n    return _os_hs.sep\n", inject="import os as _os_hs", line=5)

    assert FAIL is found.verdict
    row = found.facts["findings"][0]
    assert (row["rule"], row["line"], row["other"], row["use"], row["name"]) == ("N2", 5, 15, 19, "_os_hs")


def test_a_unified_diff_is_judged_as_patched():
    """
    A diff is applied on paper, even where its lines have moved; its imports are judged there.
    """
    good = "--- a/m.py\n+++ b/m.py\n@@ -3,2 +3,3 @@\n import logging\n+import os as _os_hs\n import os\n"
    bad = "--- a/m.py\n+++ b/m.py\n@@ -1,2 +1,3 @@\n import logging\n+import re as logging\n import os\n"
    other = "--- a/m.py\n+++ b/m.py\n@@ -1,1 +1,2 @@\n import nothing_like_it\n+import re\n"

    assert PASS is asked(MODEL, inject=good).verdict
    assert FAIL is asked(MODEL, inject=bad).verdict
    assert Cause.AMBIGUOUS is asked(MODEL, inject=other).cause


def test_a_missing_file_is_unknown(tmp_path):
    """
    A file that is not there is UNKNOWN, so that `~ImportConflict("typo.py")` does not pass on nothing.
    """
    found = examine_here(ImportConflict(tmp_path / "typo.py"))

    assert (UNKNOWN, Cause.MISSING) == (found.verdict, found.cause)


@pytest.mark.parametrize(
    ("text", "question", "cause"),
    [
        ("import os\nx = (\n", {}, Cause.UNSUPPORTED),
        ("import os\n", {"name": "json"}, Cause.NOTHING_SEEN),
        ("import os\nfrom no_such_vk_module import *\ndef f():\n    return os.sep\n", {}, Cause.AMBIGUOUS),
        ("import os\nexec(input())\n", {}, Cause.AMBIGUOUS),
        ("import os\nfor k in 'ab':\n    globals()[k] = 1\n", {}, Cause.AMBIGUOUS),
        ("from vk_a import P\nfrom vk_a.b import P\ndef f():\n    return P\n", {}, Cause.AMBIGUOUS),
        ("import os\n", {"inject": "import re", "line": 40}, Cause.MISSING),
    ],
)
def test_what_cannot_be_told_is_unknown(text, question, cause):
    """
    What can't be told is UNKNOWN, never a pass, and its cause says which way.
    """
    found = asked(text, **question)

    assert (UNKNOWN, cause) == (found.verdict, found.cause)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({}, "a path or source="),
        ({"path": "a.py", "source": "x"}, "one of them"),
        ({"path": "a.py", "inject": "import os"}, "inject needs line="),
        ({"path": "a.py", "line": 3}, "nothing to inject"),
        ({"path": "a.py", "inject": "import os", "line": 0}, "at least 1"),
        ({"path": "a.py", "name": "a.b"}, "one imported name"),
        ({"path": "a.py", "run_as": "exe"}, "run_as is one of"),
        ({"path": "a.py", "name": "os", "inject": "import os", "line": 1}, "two questions"),
    ],
)
def test_wrong_use_raises_where_it_is_built(words, said):
    """
    A question that makes no sense is refused when the check is built, by name.
    """
    with pytest.raises((ValueError, TypeError), match=said):
        ImportConflict(**words)


def test_nothing_is_run_and_nothing_is_written(tmp_path):
    """
    The examined file and its neighbours are never run, and no __pycache__ appears.
    """
    for name in ("main.py", "helper.py"):
        (tmp_path / name).write_text(f"import helper\nopen({str(tmp_path / 'ran')!r}, 'w')\n")

    examine_here(ImportConflict(tmp_path / "main.py", root=tmp_path, inject="from helper import X", line=1))
    examine_here(ImportConflict(tmp_path))

    assert sorted(each.name for each in tmp_path.iterdir()) == ["helper.py", "main.py"]


def test_a_tree_counts_every_file(tmp_path):
    """
    A folder is judged file by file, on every core, and a conflict names its file.
    """
    for at in range(9):
        (tmp_path / f"m{at}.py").write_text("import os\nX = os.sep\n")
    (tmp_path / "bad.py").write_text("import os\nos = 1\nX = os\n")

    found = examine_here(ImportConflict(tmp_path))

    assert FAIL is found.verdict
    assert "1 conflict in 1 file of 10" in found.reason
    assert found.facts["coverage"]["files"] == 10
    assert Cause.NOTHING_SEEN is examine_here(ImportConflict(tmp_path / "bad.py", name="re")).cause


def test_every_rule_that_fires_is_in_the_table():
    """
    A finding's rule is a row of the table, with a meaning, a severity and a source.
    """
    assert all(len(row) == 3 and row[1] in ("breaks", "changes") for row in RULES.values())
    assert {f"N{n}" for n in range(1, 22)} <= RULES.keys()


# Where a line can go: on generated and on real files.

SIMPLE = st.sampled_from(
    [
        "x = 1",
        "y = [1,\n     2]",
        "z = '''a\nb'''",
        "# note",
        "",
        "w = 1 + \\\n    2",
        "print",
        "a = {\n}  # (",
        "# end \\",
        "b = 'q'; c = (3,\n)",
    ]
)
BLOCK = st.sampled_from(
    [
        "if x:\n    y = 2\nelse:\n    y = 3",
        "def f(\n    a=1,\n):\n    '''Doc.'''\n    return a",
        "class C:\n\n    @property\n    def p(self):\n        return 1",
        "try:\n    pass\nexcept ValueError:\n    pass\nfinally:\n    pass",
        "@print\ndef g(): pass",
        "for i in []:\n    pass\n    # deep",
        "with open('/dev/null') as h:\n    pass",
    ]
)
HEAD = st.sampled_from(
    [
        "",
        "#!/usr/bin/env python\n",
        "'''Doc.'''\n",
        "#!x\n'''D\n'''\nfrom __future__ import annotations\n",
        "# c\n'd'\n",
    ]
)


def loadable(data):
    try:
        return placement.parse(data)
    except placement.ERRORS:
        return None


@settings(max_examples=60, deadline=None)
@given(HEAD, st.lists(SIMPLE | BLOCK, max_size=6), st.booleans())
def test_safe_lines_and_no_others(head, parts, ended):
    """
    At a safe line an import changes nothing else; at any other the file breaks, its head is lost, or the import is inert.
    """
    data = (head + "\n".join(parts) + ("\n" if ended else "")).encode()
    tree = placement.parse(data)
    before = ast.dump(tree)
    ranges = placement.safe(tree, data)
    safe = {line for first, last in ranges for line in range(first, last + 1)}

    for line in range(1, data.count(b"\n") + 2):
        after = placement.insert(data, "import os as _vk_x", line)
        patched = loadable(after)
        found = (
            [n for n in ast.walk(patched) if isinstance(n, ast.Import) and n.names[0].asname == "_vk_x"]
            if patched
            else []
        )
        for node in ast.walk(patched) if patched else ():
            if found and isinstance(getattr(node, "body", None), list) and found[0] in node.body:
                node.body.remove(found[0])
        kept = bool(found) and before == ast.dump(patched) and after.startswith(b"#!") == data.startswith(b"#!")
        if kept:
            try:
                placement.compiles(after)
                kept = ast.get_docstring(tree) == ast.get_docstring(placement.parse(after))
            except SyntaxError:
                kept = False
        assert kept is (line in safe), (line, data)


def test_the_check_and_a_child_agree_on_every_line(tmp_path):
    """
    For every line of a file: the check passes exactly where a child that runs the patched file finds the name and the docstring.
    """
    text = '#!/usr/bin/env python\n"""Doc."""\nfrom __future__ import annotations\nimport os\nX = [\n    1,\n]\n\n@staticmethod\ndef f():\n    """In."""\n    return os.sep\n\nY = 1 + \\\n    2\n'
    lines = range(1, text.count("\n") + 2)
    script = "import sys\nfor n in sys.argv[1:]:\n    s = {'__name__': 'x'}\n    t = open(n).read()\n    try:\n        exec(compile(t, n, 'exec', dont_inherit=True), s)\n        print(int(s.get('__doc__') == 'Doc.' and '_vk' in s and t[:2] == '#!'))\n    except Exception:\n        print(0)\n"
    for line in lines:
        (tmp_path / f"{line}.py").write_bytes(placement.insert(text.encode(), "import os as _vk", line))

    ran = subprocess.run(
        [sys.executable, "-B", "-c", script, *[f"{line}.py" for line in lines]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )

    assert ran.stdout.split() == [
        str(int(asked(text, inject="import os as _vk", line=line).verdict is PASS)) for line in lines
    ]


def test_real_files_keep_their_tree_at_safe_lines():
    """
    On the standard library's own files an import at a safe line leaves every other statement as it was.
    """
    folder = Path(os.__file__).parent
    for name in ("argparse.py", "dataclasses.py", "typing.py", "subprocess.py"):
        data = (folder / name).read_bytes()
        tree = placement.parse(data)
        before = [ast.dump(node) for node in tree.body]
        ranges = placement.safe(tree, data)
        for first, _ in random.Random(7).sample(ranges, 3):
            after = placement.parse(placement.insert(data, "import os as _vk_x", first))
            assert before == [
                ast.dump(node)
                for node in after.body
                if getattr(getattr(node, "names", [None])[0], "asname", "") != "_vk_x"
            ]


@pytest.mark.parametrize(
    "name",
    [
        "ast.py",
        "inspect.py",
        "enum.py",
        "logging/__init__.py",
        "asyncio/__init__.py",
        "ctypes/__init__.py",
        "tkinter/__init__.py",
    ],
)
def test_the_standard_library_has_no_conflict(name):
    """
    Files that are known to work pass, or say what can't be told; asking twice gives the same answer.
    """
    path = str(Path(os.__file__).parent / name)
    if not os.path.exists(path):
        pytest.skip(f"no {name} here")

    first, second = (look.inspect(Place(), path) for _ in range(2))

    assert first == second
    assert first["findings"] == []


def test_safe_lines_of_a_file_and_of_hosts(tmp_path):
    """
    The safe lines can be asked for by themselves: a list here, a dict by host name with `on`.
    """
    from verikit.insertion import safe_lines

    path = tmp_path / "m.py"
    path.write_text('"""Docs."""\nfrom __future__ import annotations\nimport os\n')

    assert [(3, 4)] == safe_lines(path)
    assert {"local": [(3, 4)]} == safe_lines(path, on="local")


def test_what_was_judged_leaves_memory_at_once(tmp_path):
    """
    The tables of a judged file are freed by their own count: a tree's memory waits for no collection.
    """
    for name in "abc":
        (tmp_path / f"{name}.py").write_text(
            "import os\n\nclass A:\n    def f(self):\n        return [os.sep for _ in 'x']\n"
        )
    files = [str(path) for path in sorted(tmp_path.glob("*.py"))]
    gc.collect()
    gc.disable()
    try:
        tree.judged(Place(), files, "script", None, "host")
        left = sum(isinstance(each, scopes.Scope) for each in gc.get_objects())
    finally:
        gc.enable()

    assert 0 == left


def test_shares_are_runs_of_neighbours(tmp_path):
    """
    A tree's files are shared out in their order, alike in bytes, whatever their sizes.
    """
    sizes = (900, 10, 10, 10, 10, 800)
    for at, size in enumerate(sizes):
        (tmp_path / f"m{at}.py").write_bytes(b"#" * size)
    files = [str(path) for path in sorted(tmp_path.glob("*.py"))]

    shares = tree.shared_out(Place(), files, 2)

    assert files == [file for share in shares for file in share]
    assert [1, 5] == [len(share) for share in shares]


@pytest.mark.parametrize("tree", [False, True])
def test_a_version_that_is_not_here(tmp_path, tree):
    """
    Modules that the version has lost are M8, whatever this interpreter still has; else a PASS says what it did not look at.
    """
    path = tmp_path if tree else tmp_path / "a.py"
    (tmp_path / "a.py").write_text("import asynchat\nprint(asynchat)\n")
    lost = examine_here(ImportConflict(path, python="3.19"))
    (tmp_path / "a.py").write_text("import json\nprint(json)\n")
    fine = examine_here(ImportConflict(path, python="3.19"))

    assert lost.verdict is FAIL
    assert "M8: line 1 imports asynchat, which was removed in Python 3.12" in lost.reason
    assert fine.verdict is PASS
    assert "Python 3.19.0 is not on this host: what is installed for it was not looked at" in fine.reason
    assert "not on this host" not in examine_here(ImportConflict(path)).reason


@pytest.mark.parametrize("text", ["", "\n \n\n"])
def test_an_empty_file(tmp_path, text):
    """
    A file without a word is UNKNOWN, nothing_seen, also under `~`: it may be a copy that never came. In a tree it is fine.
    """
    (tmp_path / "model.py").write_text(text)
    found = examine_here(ImportConflict(tmp_path / "model.py"))
    (tmp_path / "main.py").write_text("import os\nprint(os)\n")

    assert (found.verdict, found.cause) == (UNKNOWN, Cause.NOTHING_SEEN)
    assert "model.py is empty" in found.reason
    assert examine_here(ImportConflict(tmp_path / "model.py", inject="import os", line=1)).verdict is PASS
    assert examine_here(ImportConflict(tmp_path)).verdict is PASS


TOLD = (
    "from numpy import abs, all, any, max, min, round, sum\n"
    "from nowhere import *\n"
    "def f():\n    global sum, min, max\n    sum = min = max = 1\n"
    "print(abs, all, any, max, min, round, sum)\ndel abs, all, any, round\n"
)


def test_what_is_told_does_not_hang_on_the_order_of_sets(tmp_path):
    """
    Findings, unknowns and notes come in the same order in every process.
    """
    (tmp_path / "a.py").write_text(TOLD)
    code = f"import json; from verikit.probes.imports import look; from verikit.probes.place import Place; print(json.dumps(look.inspect(Place(), {str(tmp_path / 'a.py')!r})))"

    said = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True
        ).stdout
        for seed in "123"
    }

    assert len(said) == 1
    assert b"findings" in said.pop()
