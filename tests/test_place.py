"""Place: a program runs to its end within its bounds, whatever it does with its pipes; an error of the system has one cause."""

import errno
import os
import signal

import pytest

from verikit.errors import Cause, cause_of_errno
from verikit.probes.place import CannotSee, Place, cause_of

RUN = Place().run


def test_what_goes_in_comes_out():
    """
    Input of any size goes in while output comes out, each pipe larger than its buffer.
    """
    ran = RUN(["sh", "-c", "cat; echo done >&2"], input=b"x" * 3_000_000, limit=1 << 22)

    assert (ran.status, ran.stdout, ran.stderr) == (0, b"x" * 3_000_000, b"done\n")
    assert not ran.cut
    assert not ran.late


@pytest.mark.parametrize("stream", ["", " >&2"])
def test_output_is_cut_at_its_limit(stream):
    """
    A program that says more than the limit, on either stream, is killed, and what it said is kept up to there.
    """
    ran = RUN(["sh", "-c", f"exec yes{stream}"], limit=1000)

    assert (ran.status, ran.cut, ran.late) == (-signal.SIGKILL, True, False)
    assert (ran.stdout or ran.stderr) == b"y\n" * 500


@pytest.mark.parametrize("script", ["exec sleep 1000", "exec >&- 2>&-; exec sleep 1000"])
def test_what_is_late_is_killed(script):
    """
    A program that does not end in time is killed, also one that has closed what it writes to.
    """
    ran = RUN(["sh", "-c", script], timeout=0.1)

    assert (ran.status, ran.cut, ran.late) == (-signal.SIGKILL, False, True)


def test_a_program_need_not_read_its_input():
    """
    Input that nobody takes is no fault.
    """
    assert RUN(["true"], input=b"x" * 1_000_000).status == 0


def test_a_grandchild_that_keeps_the_pipes_is_not_waited_for():
    """
    The end of the program is the end, though another process still holds its output open.
    """
    ran = RUN(["sh", "-c", "sleep 1000 & echo $!"])

    os.kill(int(ran.stdout), signal.SIGKILL)
    assert (ran.status, ran.late) == (0, False)


def test_no_program_and_no_folder(tmp_path):
    """
    A missing program is `tool_missing`; a missing folder to run it in is what the system says of it.
    """
    with pytest.raises(CannotSee) as raised:
        RUN(["no-such-program"])
    assert (raised.value.cause, raised.value.facts) == ("tool_missing", {"tool": "no-such-program"})
    with pytest.raises(FileNotFoundError):
        RUN(["true"], cwd=str(tmp_path / "none"))


def test_arguments_meet_no_shell():
    """
    Arguments arrive as they are.
    """
    words = ["a b", "$HOME", "`id`", "'", '"', "-n", "*", "x\ny"]

    assert RUN(["printf", "%s\\0", *words]).stdout.decode().split("\0")[:-1] == words


@pytest.mark.parametrize("number", sorted(errno.errorcode))
def test_an_error_of_the_system_has_one_cause(number):
    """
    What a probe tells of a path it could not read is what the near end would say; what it would call a fault is unsupported.
    """
    near = cause_of_errno(number)

    assert cause_of(OSError(number, "")) == ("unsupported" if near is Cause.PROBE_ERROR else near)
