"""LogHealthy: what ties a log to a run, where it may not judge, and what is refused."""

from __future__ import annotations

import gzip
import os
import pickle
import subprocess
import sys
import time
from datetime import datetime, timezone

import pytest

from verikit import FAIL, PASS, UNKNOWN, Cause, Check, LogHealthy, Mark
from verikit.checks.log import register_program
from verikit.probes import files
from verikit.probes.logs import reading, watch
from verikit.probes.place import Place
from verikit.testing.here import examine_here

READY = r"\d+/\d+ samples"
CRASH = """Traceback (most recent call last):
  File "/x.py", line 3, in <module>
ModuleNotFoundError: No module named 'zstd'
"""


def log(tmp_path, text="", age=0.0, name="job.log"):
    path = tmp_path / name
    path.write_text(text) if isinstance(text, str) else path.write_bytes(text)
    os.utime(path, (time.time() - age,) * 2)
    return path


def noted(path):
    return Mark(path, {"local": files.mark(Place(), str(path))})


def look(path, **more):
    return examine_here(LogHealthy(path, **more))


@pytest.fixture
def sleeper():
    """The pid of a live process that does nothing."""
    with subprocess.Popen(["sleep", "60"]) as child:
        yield child.pid
        child.kill()


# What ties a ready line to this run.


def test_ready_alone_is_ambiguous(tmp_path):
    """
    Yesterday's ready line proves nothing: without since, process or fresh_within it is UNKNOWN.
    """
    found = look(log(tmp_path, "12/100 samples\n"), ready=READY)

    assert (found.verdict, found.cause) == (UNKNOWN, Cause.AMBIGUOUS)
    assert "give since=" in found.reason


def test_patterns_are_told_as_they_are_written(tmp_path):
    """
    The reason has the pattern with its backslashes single, and of a name from the table the name.
    """
    log(tmp_path, "12/100 samples\n")

    assert (
        "line 1 says `\\d+/\\d+ samples`"
        in look(tmp_path / "job.log", ready=r"\d+/\d+ samples", fresh_within=60).reason
    )
    assert "no line says that vllm is ready yet" in look(tmp_path / "job.log", ready="vllm").reason


def test_ready_fresh(tmp_path):
    """
    A log written a moment ago ties its last run to now.
    """
    assert look(log(tmp_path, "12/100 samples\n"), ready=READY, fresh_within=60).verdict is PASS


def test_ready_before_the_mark_does_not_count(tmp_path):
    """
    A ready line from before the mark is another run's; one after it is this run's.
    """
    path = log(tmp_path, "12/100 samples\n")
    mark = noted(path)
    with path.open("a") as file:
        file.write("loading\n")

    assert look(path, ready=READY, since=mark).verdict is FAIL
    with path.open("a") as file:
        file.write("13/100 samples\n")
    found = look(path, ready=READY, since=mark)
    assert (found.verdict, found.facts["ready_line"]) == (PASS, 3)


def test_mark_of_a_log_to_come(tmp_path):
    """
    A mark can be taken before the log exists; then all of it is new.
    """
    path = tmp_path / "job.log"
    mark = noted(path)
    path.write_text("1/9 samples\n")

    assert look(path, ready=READY, since=mark).verdict is PASS


def test_mark_of_another_host(tmp_path):
    """
    A mark taken elsewhere tells nothing about this host's file.
    """
    path = log(tmp_path, "1/9 samples\n")
    found = look(path, since=Mark(path, {"root@a": files.mark(Place(), str(path))}))

    assert (found.verdict, found.cause) == (UNKNOWN, Cause.AMBIGUOUS)
    assert "root@a" in found.reason


def test_launch_time_before_the_file(tmp_path):
    """
    A file that is younger than the launch is this run's, times or not.
    """
    since = time.time()

    assert look(log(tmp_path, "1/9 samples\n"), ready=READY, since=since).verdict is PASS


def test_launch_time_splits_an_appended_log(tmp_path):
    """
    Where lines bear this host's times, those before the launch are left out.
    """
    now = time.time()
    rows = [(now - 7200 + n * 60, f"{n}/200 samples") for n in range(120)]
    text = "".join(f"{datetime.fromtimestamp(when, timezone.utc):%Y-%m-%dT%H:%M:%SZ} {words}\n" for when, words in rows)
    path = log(tmp_path, text, age=now - rows[-1][0])

    found = look(path, ready=r"\b2/200 samples", since=now - 3600)
    assert (found.verdict, found.facts["tied"]) == (FAIL, "time")
    assert look(path, ready=r"\b80/200 samples", since=now - 3600).facts["ready_line"] == 81


def test_nothing_written_since_the_launch(tmp_path, sleeper):
    """
    An old log with an old ready line and a live process: this run has said nothing yet.
    """
    found = look(log(tmp_path, "1/9 samples\n", age=3600), ready=READY, since=time.time() - 60, process=sleeper)

    assert (found.verdict, found.facts["state"]) == (UNKNOWN, "empty")


def test_old_crash_is_not_the_new_run(tmp_path, sleeper):
    """
    A traceback written before the live process began is not held against it.
    """
    found = look(log(tmp_path, CRASH, age=3600), process=sleeper)

    assert found.verdict is UNKNOWN


# Rotation.


@pytest.mark.parametrize("name", ["job.log.1", "job.log.1.gz"])
def test_renamed_log_is_followed(tmp_path, name):
    """
    A log that was renamed after the mark is read on from the mark, then the new file.
    """
    path = log(tmp_path, "old\n" * 400)
    mark = noted(path)
    body = path.read_bytes() + b"7/9 samples\n"
    path.unlink()
    (tmp_path / name).write_bytes(gzip.compress(body) if name.endswith("gz") else body)
    log(tmp_path, "next file\n")

    found = look(path, ready=READY, since=mark)
    assert (found.verdict, found.facts["ready_line"]) == (PASS, 401)
    assert found.facts["followed"] == (str(tmp_path / name),)


def test_truncated_log_is_read_anew(tmp_path):
    """
    copytruncate: same inode, smaller; what is there now is new.
    """
    path = log(tmp_path, "old line\n" * 400)
    mark = noted(path)
    path.write_text("1/9 samples\n")

    found = look(path, ready=READY, since=mark)
    assert (found.verdict, found.facts["rotated"]) == (PASS, "truncated")


def stamped(when, words):
    return f"{datetime.fromtimestamp(when, timezone.utc):%Y-%m-%dT%H:%M:%SZ} {words}\n"


def rotated(tmp_path, name, text, age=0.0):
    """A predecessor, as it is left by logrotate: gzip keeps the time of the last write."""
    body = text.encode()
    return log(tmp_path, gzip.compress(body) if name.endswith("gz") else body, age, name)


@pytest.mark.parametrize("name", ["job.log.1", "job.log.1.gz"])
def test_rotation_since_a_launch_time(tmp_path, name):
    """
    A log rotated after the launch is followed back to the launch by the times in it; lines count on through both files.
    """
    now = time.time()
    before = "".join(stamped(now - 9000 + n, f"{n}/9 samples") for n in range(5))
    since = "".join(stamped(now - 300 + n, f"epoch {n}") for n in range(20)) + stamped(now - 200, "7/8 samples")
    rotated(tmp_path, name, before + since, age=200)
    path = log(tmp_path, stamped(now - 100, "epoch 21") + stamped(now - 1, "epoch 22"))

    found = look(path, ready=r"\d/[89] samples", since=now - 1000)
    assert (found.verdict, found.facts["ready_line"]) == (PASS, 26)
    assert (found.facts["followed"], found.facts["lines_before"]) == ((str(tmp_path / name),), 26)
    assert any("line 27 is the first of" in warning for warning in found.warnings)
    assert look(path, ready=r"\d/9 samples", since=now - 1000).verdict is FAIL
    assert not look(path, since=now - 150).facts["followed"]


def test_crash_rotated_away(tmp_path):
    """
    A crash whose log was rotated right behind it fails the run; so does one in the new file that only old work follows.
    """
    now = time.time()
    steps = "".join(stamped(now - 300 + n, f"step {n}") for n in range(60))
    rotated(tmp_path, "job.log.1", steps + stamped(now - 200, "end") + CRASH, age=200)
    path = log(tmp_path, stamped(now, "tidying up"))

    found = look(path, since=now - 1000)
    assert (found.verdict, found.final, found.facts["kind"], found.facts["line"]) == (FAIL, True, "import_error", 64)
    assert found.facts["line_of"] == str(tmp_path / "job.log.1")
    assert "line 64 of " in found.reason

    rotated(tmp_path, "job.log.1", steps, age=200)
    path = log(tmp_path, stamped(now - 1, "going on") + CRASH)
    found = look(path, since=now - 1000)
    assert (found.verdict, found.facts["kind"], found.facts["line"]) == (FAIL, "import_error", 4)
    assert found.facts["line_of"] == str(path)
    assert "at line 4" in found.reason


@pytest.mark.parametrize("behind", [-200 * 86400, 40 * 86400], ids=["in the past", "in the future"])
def test_times_of_another_clock(tmp_path, behind):
    """
    Where a log's clock is months from the host's, its own times still tell which lines an earlier run wrote: the last
    line was written no later than the file. Lines that bear no time at its end move nothing out of the run.
    """
    now = time.time()
    there = now + behind
    past = stamped(there - 90000, "step 1") + CRASH + stamped(there - 89000, "cleaning up")
    this = "".join(stamped(there - 60 + n, f"step {n}") for n in range(5, 60))

    found = look(log(tmp_path, past + this), since=now - 100)
    assert (found.verdict, found.facts["state"]) == (PASS, "running")
    assert found.facts["progress"]["first_line"] == 6

    old = stamped(now - 90000, "step 1") + "".join(f"warming up {n}\n" for n in range(40))
    found = look(log(tmp_path, old + CRASH), since=now - 100)
    assert (found.verdict, found.facts["line"]) == (FAIL, 44)


def test_copytruncate_since_a_launch_time(tmp_path):
    """
    A log copied and truncated after the launch has the inode of old; without times, whose a line of the copy is can't be told.
    """
    path = log(tmp_path, "loading\n7/9 samples\n")
    since = os.stat(path).st_ctime + 5
    rotated(tmp_path, "job.log.1", path.read_text(), age=-10)
    path.write_text("still at it\n")
    os.utime(path, (since + 7,) * 2)

    found = look(path, ready=READY, since=since)
    assert (found.verdict, found.cause, found.facts["ready_line"]) == (UNKNOWN, Cause.AMBIGUOUS, 2)
    assert found.facts["followed"]
    with path.open("a") as file:
        file.write("8/9 samples\n")
    os.utime(path, (since + 8,) * 2)
    assert look(path, ready=READY, since=since).facts["ready_line"] == 2


def test_last_run_goes_on_in_the_next_file(tmp_path):
    """
    The last run in a log began in the file before, if that was written to until this one began; a crash there is past.
    """
    rotated(tmp_path, "job.log.1", "step 1\nstep 2\n", age=1)
    path = log(tmp_path, "a word\n")

    assert look(path).facts["progress"]["count"] == 2
    rotated(tmp_path, "job.log.1", "step 1\nstep 2\n", age=600)
    assert look(path).facts["progress"]["count"] == 0
    rotated(tmp_path, "job.log.1", "step 1\n" + CRASH, age=1)
    found = look(path)
    assert (found.verdict, found.facts["passed_over"]) == (PASS, str(tmp_path / "job.log.1"))
    assert any("earlier run's" in warning for warning in found.warnings)


def test_old_predecessor_is_left_alone(tmp_path):
    """
    A predecessor that nobody wrote to since the launch is another run's.
    """
    rotated(tmp_path, "job.log.1", CRASH, age=600)

    assert look(log(tmp_path, "step 1\n"), since=time.time() - 60).facts["followed"] == ()


def test_what_is_read_of_a_predecessor_is_bounded(tmp_path):
    """
    Of a rotated file, packed or not, as much is read as the bound leaves, and the rest is said to be unread.
    """
    now = time.time()
    body = stamped(now - 300, "x" * 60) * 400_000
    path = log(tmp_path, stamped(now, "step 7"))
    for name in ("job.log.1.gz", "job.log.1"):
        rotated(tmp_path, name, body + stamped(now - 200, "step 6"), age=200)
        found = look(path, since=now - 1000)
        assert (found.facts["followed"], found.facts["lines_before"]) == ((str(tmp_path / name),), 400_001)
        coverage = found.facts["coverage"]
        assert coverage["bytes"] in (reading.HEAD + reading.TAIL, reading.HEAD + reading.TAIL - 1)
        assert coverage["skipped"] == len(body) + 2 * len(stamped(now, "step 6")) - coverage["bytes"]


def goes_on(path, found):
    """The mark of where a look ended."""
    return Mark(path, {"local": found.facts["mark"]})


def test_state_to_go_on_from(tmp_path):
    """
    The facts carry a mark: a later look from it reads only what is new, and numbers its lines as before.
    """
    path = log(tmp_path, "step 1\nstep 2\n")
    first = look(path)
    with path.open("a") as file:
        file.write("step 3\n")
    second = look(path, since=goes_on(path, first))
    with path.open("a") as file:
        file.write(CRASH)
    third = look(path, since=goes_on(path, second))

    assert (second.verdict, second.facts["coverage"]["bytes"]) == (PASS, len("step 3\n"))
    assert (third.verdict, third.facts["line"], third.facts["coverage"]["bytes"]) == (FAIL, 6, len(CRASH))
    assert goes_on(path, look(path, since=goes_on(path, third))) != goes_on(path, third)  # the clock goes on


class Counting(Place):
    """A place that counts the bytes that are read from files."""

    def __init__(self):
        super().__init__()
        self.bytes = 0

    def open(self, path, special=False):
        place, file = self, super().open(path, special)

        class Counted(type(file)):
            def read(self, size=-1):
                data = super().read(size)
                place.bytes += len(data)
                return data

        return Counted(file.detach())


def test_bytes_read_from_a_resumed_state(tmp_path):
    """
    A look that goes on from another's mark touches a few KiB of a log of any size: not even its lines are counted again.
    """
    path = log(tmp_path, "step 7 loss 2.0\n" * 300_000)
    place = Counting()
    first = watch.inspect(place, str(path))
    whole, place.bytes = place.bytes, 0
    with path.open("a") as file:
        file.write("step 8 loss 1.9\n")
    again = watch.inspect(place, str(path), mark=first["mark"])

    assert whole > 4_000_000
    assert place.bytes < 8192
    assert (again["coverage"]["bytes"], again["text"]["progress"]["line"]) == (16, 300_001)


def test_state_outlives_a_rotation(tmp_path):
    """
    A resumed look follows the file that it knew to where it was renamed, and counts lines in the new file from one.
    """
    path = log(tmp_path, "step 1\nstep 2\n")
    mark = goes_on(path, look(path))
    with path.open("a") as file:
        file.write("step 3\n")
    path.rename(tmp_path / "job.log.1")
    log(tmp_path, "step 4\n")

    found = look(path, since=mark)
    assert (found.verdict, found.facts["coverage"]["bytes"], found.facts["progress"]["line"]) == (PASS, 14, 4)
    assert found.facts["mark"]["line"] == 2


# Where text alone does not decide.


def test_missing_log(tmp_path):
    """
    A log that is not there is FAIL, and may still come.
    """
    found = look(tmp_path / "none.log")

    assert (found.verdict, found.final, found.facts["state"]) == (FAIL, False, "missing")


def test_missing_log_of_a_dead_process(tmp_path):
    """
    Nobody will write it any more.
    """
    child = subprocess.Popen(["true"])
    child.wait()

    assert look(tmp_path / "none.log", process=child.pid).final


@pytest.mark.parametrize("text", ["", "\n \t\n", b"\0" * 5000])
def test_empty_log(tmp_path, text):
    """
    Nothing looked at is never a pass.
    """
    found = look(log(tmp_path, text))

    assert (found.verdict, found.facts["state"]) == (FAIL, "empty")


def test_stale_log_without_a_process(tmp_path):
    """
    Whether a silent job still runs, its text can't tell.
    """
    found = look(log(tmp_path, "step 1\nstep 2\n", age=9000))

    assert (found.verdict, found.cause) == (UNKNOWN, Cause.AMBIGUOUS)


def test_ready_line_of_a_server_long_silent(tmp_path):
    """
    That a server became ready an hour ago does not say that it still runs.
    """
    path = log(tmp_path, "INFO:     Application startup complete.\n", age=3600)

    assert look(path).cause is Cause.AMBIGUOUS
    assert look(path, since=time.time() - 4000).cause is Cause.AMBIGUOUS


def test_reassuring_words_of_a_process_that_failed(tmp_path):
    """
    An exit status that the kernel still has outweighs what the log says.
    """
    with subprocess.Popen(["sh", "-c", "exit 3"]) as child:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        found = look(log(tmp_path, "step 1\nTraining finished.\n"), process=child.pid)

    assert (found.verdict, found.facts["state"]) == (FAIL, "died_silently")
    assert "exit status 3" in found.reason


def test_end_by_a_counter_alone(tmp_path):
    """
    A counter at its whole is an end, and the finding says that nothing else tells it.
    """
    child = subprocess.Popen(["true"])
    child.wait()
    found = look(log(tmp_path, "wrote 1/2 shards\nwrote 2/2 shards\n"), process=child.pid)

    assert (found.verdict, found.facts["state"]) == (PASS, "finished")
    assert any("counter" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("early stopping triggered at step 2", "last words"),
        ("final eval_loss: 1.93", "last words"),
        ("Download complete.", "only a preparation"),
    ],
)
def test_end_by_last_words_alone(tmp_path, line, words):
    """
    An end that only reads like one is a pass with a warning that says by what it was told.
    """
    child = subprocess.Popen(["true"])
    child.wait()
    found = look(log(tmp_path, f"fetching\n{line}\n"), process=child.pid)

    assert (found.verdict, found.facts["state"]) == (PASS, "finished")
    assert any(words in warning for warning in found.warnings)


def test_fresh_within(tmp_path):
    """
    A log that is older than was asked for fails, and may be written to again.
    """
    found = look(log(tmp_path, "step 1\nstep 2\n", age=90), fresh_within=30)

    assert (found.verdict, found.final) == (FAIL, False)
    assert "1.5" in found.reason or "90 s" in found.reason


def test_folder_is_no_log(tmp_path):
    """
    A folder can't be read as a log.
    """
    found = look(tmp_path)

    assert (found.verdict, found.cause) == (UNKNOWN, Cause.UNSUPPORTED)


def test_failure_is_final(tmp_path):
    """
    Waiting does not heal a crash: the claim can't become true any more.
    """
    found = look(log(tmp_path, "loading\n" + CRASH))

    assert (found.verdict, found.final, found.facts["kind"], found.facts["line"]) == (FAIL, True, "import_error", 4)
    assert found.facts["frame"] == {"file": "/x.py", "line": 3, "function": "<module>"}


def test_not_ready_yet_is_not_final(tmp_path):
    """
    "Not yet" is FAIL and may change.
    """
    found = look(log(tmp_path, "loading\n"), ready=READY, fresh_within=60)

    assert (found.verdict, found.final) == (FAIL, False)


# What the caller adds.


def test_failing_and_ignore(tmp_path):
    """
    The caller's patterns make a line a failure, or none.
    """
    path = log(tmp_path, "step 1\nBAD BATCH 7\nstep 2\n")

    assert look(path).verdict is PASS
    assert look(path, failing=r"BAD BATCH \d").facts["line"] == 2
    assert look(path, failing=r"BAD BATCH \d", ignore="BATCH 7").verdict is PASS
    assert look(log(tmp_path, CRASH + "\n"), ignore="zstd").verdict is PASS


def test_registered_program(tmp_path):
    """
    A program of the user's own has its own markers.
    """
    register_program("forge", ready=r"^forge lit$", progress=r"ingot (?P<n>\d+)", finished="^cold$", failing="^cracked")

    assert look(log(tmp_path, "forge lit\n"), program="forge").facts["state"] == "ready"
    assert look(log(tmp_path, "ingot 3\n"), program="forge").facts["state"] == "running"
    assert look(log(tmp_path, "cracked\n"), program="forge").verdict is FAIL
    with pytest.raises(ValueError, match="built in"):
        register_program("vllm")


def test_ready_by_name(tmp_path):
    """
    A name from the readiness table stands for that program's own marker.
    """
    path = log(tmp_path, "INFO:     Application startup complete.\n")

    assert look(path, ready="vllm", fresh_within=60).verdict is PASS
    assert look(path, ready="sglang", fresh_within=60).verdict is FAIL


@pytest.mark.parametrize(
    "more",
    [
        {"ready": "("},
        {"failing": ["[a"]},
        {"since": "yesterday"},
        {"since": -1},
        {"process": 0},
        {"process": True},
        {"fresh_within": 0},
        {"program": "nothing-known"},
    ],
)
def test_wrong_use(more):
    """
    What can't be meant is refused where the check is built.
    """
    with pytest.raises((ValueError, TypeError)):
        LogHealthy("/x", **more)


def test_check_is_a_value(tmp_path):
    """
    It compares, hashes, pickles, and is rebuilt by its repr and its dict.
    """
    check = LogHealthy("/x", ready=READY, since=datetime(2025, 1, 1, tzinfo=timezone.utc), failing=["a"], process=7)

    assert eval(repr(check)) == check
    assert pickle.loads(pickle.dumps(check)) == check
    assert Check.from_dict(check.to_dict()) == check
    marked = LogHealthy("/x", since=noted(log(tmp_path, "x")))
    assert eval(repr(marked), {"LogHealthy": LogHealthy, "Mark": Mark}) == marked
    assert Check.from_dict(marked.to_dict()) == marked


# Bounds.


def test_long_log_is_read_at_its_ends(tmp_path):
    """
    Of a long log the first 64 KiB and the last 4 MiB are read; the rest is counted, and said to be unread.
    """
    body = b"".join(b"step %d loss 2.0\n" % n for n in range(400_000))
    found = look(log(tmp_path, body + CRASH.encode()))

    assert (found.facts["kind"], found.facts["line"]) == ("import_error", 400_003)
    assert found.facts["coverage"]["skipped"] == len(body) + len(CRASH) - reading.HEAD - reading.TAIL
    assert any("not read" in warning for warning in found.warnings)


def test_line_of_five_megabytes(tmp_path):
    """
    One endless line is cut to its ends, and costs little.
    """
    path = log(tmp_path, b"x" * 5_000_000 + b"\n" + CRASH.encode())
    start = time.process_time()

    assert look(path).facts["line"] == 4
    assert time.process_time() - start < 2


def test_facts_are_small(tmp_path):
    """
    However much a log has to say, the facts stay kilobytes.
    """
    import json

    from verikit.finding import thaw_facts

    found = look(log(tmp_path, "ERROR a\n" * 5_000 + CRASH * 500))

    assert len(json.dumps(thaw_facts(found.facts))) < 20_000


# Real processes.


def test_stopped_process(tmp_path, sleeper):
    """
    A stopped process is FAIL, whatever its log says.
    """
    import signal

    os.kill(sleeper, signal.SIGSTOP)
    os.waitid(os.P_PID, sleeper, os.WSTOPPED)  # the signal takes effect when the process is next scheduled
    found = look(log(tmp_path, "step 1\nstep 2\n"), process=sleeper)
    os.kill(sleeper, signal.SIGCONT)

    assert (found.verdict, found.facts["state"]) == (FAIL, "hung")
    assert "stopped" in found.reason


@pytest.mark.parametrize(("text", "age"), [("", 100), ("step 1\nstep 2\n", 9000)])
def test_buffering_process(tmp_path, text, age):
    """
    A silent log beside a process that computes is UNKNOWN, with the hint that output may be buffered.
    """
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as child:
        found = look(log(tmp_path, text, age=age), process=child.pid, since=time.time() - 10000)
        child.kill()

    assert (found.verdict, found.facts["state"]) == (UNKNOWN, "quiet_but_alive")
    assert "python -u" in found.reason


def test_killed_process(tmp_path):
    """
    A job that just ends is a death; who killed it is not made up.
    """
    with subprocess.Popen(["sleep", "60"]) as child:
        child.kill()
    found = look(log(tmp_path, "step 1\nstep 2\nste"), process=child.pid)

    assert (found.verdict, found.final, found.facts["state"]) == (FAIL, True, "died_silently")
    assert "cut off in the middle" in found.reason


@pytest.mark.parametrize(
    "words",
    [
        "CRITICAL:root:lost the parameter server, terminating\nINFO:     Shutting down",
        "fatal: batch 31 has 0 tokens, cannot go on\n\nreal\t1m9.120s\nuser\t0m58.001s\nsys\t0m4.220s",
        "2025-05-05 10:01:02,331 ERROR load: checksum mismatch of shard_3.bin (expected 9f2a, got 77b1)",
    ],
)
def test_last_words_of_a_failure_without_a_process(tmp_path, words):
    """
    A failure in the last words that no table knows is not known to have ended the job, nor to have been lived with.
    """
    path = tmp_path / "job.log"
    path.write_text("".join(f"step {n}0/1000 loss {9 - n}\n" for n in range(8)) + words + "\n")

    found = examine_here(LogHealthy(path))

    assert (found.verdict, found.cause) == (UNKNOWN, Cause.AMBIGUOUS)
    assert "line 9" in found.reason
    assert "needs process=" in found.reason
