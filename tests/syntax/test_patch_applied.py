"""PatchApplied: lines, and hunks of a unified diff, exactly once and where they belong."""

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verikit.checks.patch import PatchApplied
from verikit.errors import Cause
from verikit.probes import patch as probe
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS, UNKNOWN

OLD = "".join(f"line {n}\n" for n in range(1, 31))
NEW = OLD.replace("line 10\n", "line 10\nimport os as _os_hs\n").replace("line 20\n", "line twenty\n")
DIFF = "".join(difflib.unified_diff(OLD.splitlines(True), NEW.splitlines(True), "a/model.py", "b/model.py"))


def judged(tmp_path, data, *patch, **options):
    (tmp_path / "model.py").write_bytes(data.encode())
    return examine_here(PatchApplied(tmp_path / "model.py", *patch, **options))


@pytest.mark.parametrize(
    ("data", "line", "verdict", "words"),
    [
        (NEW, None, PASS, "once, at line 11"),
        (NEW, 11, PASS, "once, at line 11"),
        (NEW, 12, FAIL, "at line 11; line 12 expected"),
        (OLD, None, FAIL, "has no line `import os as _os_hs` among its 30"),
        (NEW + "import os as _os_hs\n", None, FAIL, "2 times, at lines 11, 32"),
        (OLD + "    import os as _os_hs\n", None, FAIL, "line 31 has it with other indentation"),
        (OLD + "import os as _os_hs  # patched\n", None, FAIL, "line 31 has it inside a longer line"),
        (NEW.replace("\n", "\r\n"), 11, PASS, "once, at line 11"),
        ("\ufeffimport os as _os_hs\n", 1, PASS, "once, at line 1"),
        ("", None, FAIL, "among its 0"),
    ],
)
def test_a_line_is_there_once(tmp_path, data, line, verdict, words):
    """
    The text is there as whole lines, once, at its line; what comes near is said.
    """
    found = judged(tmp_path, data, "import os as _os_hs", line=line)

    assert found.verdict is verdict
    assert words in found.reason


def test_several_lines_stand_in_a_row(tmp_path):
    """
    A text of several lines is there only if they follow one another.
    """
    assert judged(tmp_path, NEW, "line 10\nimport os as _os_hs\n").verdict is PASS
    assert judged(tmp_path, NEW, "line 10\nline 11\n").verdict is FAIL


@pytest.mark.parametrize(
    ("data", "verdict", "words"),
    [
        (NEW, PASS, "2 hunks of the diff in place, once each, at line 8, 18"),
        (OLD, FAIL, "hunk 1 is not applied: its old lines stand at line 8 (1 more hunk too)"),
        (NEW.replace("line twenty", "line 20"), FAIL, "of 2 hunks, hunk 2 is not applied"),
        (NEW.replace("_os_hs\n", "_os_hs\nimport os as _os_hs\n"), FAIL, "hunk 1 has its new lines there 2 times"),
        (NEW.replace("line 11\n", "line eleven\n"), FAIL, "in a context that differs"),
        ("x\n", FAIL, "hunk 1 is not there, and neither are its old lines"),
        (NEW + NEW, FAIL, "is there 2 times"),
    ],
)
def test_a_diff_is_applied(tmp_path, data, verdict, words):
    """
    Every hunk of a diff stands in the file once; what is not applied, applied twice, or applied elsewhere is told apart.
    """
    found = judged(tmp_path, data, diff=DIFF)

    assert found.verdict is verdict
    assert words in found.reason
    assert examine_here(PatchApplied(tmp_path / "model.py", DIFF)).verdict is verdict


def test_a_hunk_that_moved_is_a_warning(tmp_path):
    """
    A file that grew above the patch keeps it applied; where each hunk stands now is said.
    """
    found = judged(tmp_path, "new first line\n" + NEW, diff=DIFF)

    assert found.verdict is PASS
    assert found.warnings[0] == "hunk 1 stands at line 9; the diff puts it at 8"


def test_a_diff_of_several_files(tmp_path):
    """
    Of a diff about several files the part about this one counts; if none is clearly about it, that is UNKNOWN.
    """
    both = DIFF + DIFF.replace("model.py", "other.py").replace("_os_hs", "_os_other")
    assert judged(tmp_path, NEW, diff=both).verdict is PASS
    found = judged(tmp_path, NEW, diff=both.replace("model.py", "third.py"))
    assert (found.verdict, found.cause) == (UNKNOWN, Cause.AMBIGUOUS)


def test_a_missing_file_is_unknown(tmp_path):
    """
    A patch in a file that is not there can't be judged.
    """
    assert examine_here(PatchApplied(tmp_path / "none.py", "x")).cause is Cause.MISSING


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"text": "x", "diff": DIFF},
        {"text": ""},
        {"diff": "no diff"},
        {"text": "x", "line": 0},
        {"diff": DIFF, "line": 3},
    ],
)
def test_wrong_use_is_told_at_once(wrong):
    """
    Neither text nor diff, both, or a diff without hunks is a ValueError when the check is built.
    """
    with pytest.raises(ValueError):
        PatchApplied("a.py", **wrong)


def test_a_cut_diff_is_refused():
    """
    A hunk that is shorter than it says is refused when the check is built.
    """
    with pytest.raises(ValueError, match="is cut"):
        PatchApplied("a.py", diff=DIFF[: DIFF.rindex("@@") + 10])


def test_the_claim_round_trips():
    """
    repr rebuilds the claim; to_dict carries it.
    """
    for check in (PatchApplied("a.py", "x = 1"), PatchApplied("a.py", "x", line=3), PatchApplied("a.py", diff=DIFF)):
        assert eval(repr(check)) == check
        assert PatchApplied.from_dict(check.to_dict()) == check


LINES = st.lists(st.text("ab(", min_size=1, max_size=3), min_size=1, max_size=25)


@given(LINES, LINES)
def test_what_difflib_writes_is_read(old, new):
    """
    A unified diff of any two texts has its new lines in the new one and its old lines in the old one.
    """
    diff = "\n".join(difflib.unified_diff(old, new, "a", "b", lineterm=""))
    for hunk in probe.hunks_for(diff, "b") if old != new else ():
        assert not hunk["new"] or probe.starts([each.encode() for each in new], hunk["new"])
        assert not hunk["old"] or probe.starts([each.encode() for each in old], hunk["old"])
