"""ProcessAlive and the process probe, on real processes; what Linux alone would tell is also tried by `ps`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verikit import verify
from verikit.checks.process import ProcessAlive
from verikit.errors import Cause
from verikit.probes import process
from verikit.probes.place import CannotSee, Place, Ran
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS, UNKNOWN

READY = "import sys; print('ready', flush=True); sys.stdin.read()"


def end(child):
    child.kill()
    child.stdin.close()
    child.stdout.close()
    child.wait()


@contextmanager
def running(*argv, code=READY):
    """A Python process that has said `ready` and waits for its standard input to end."""
    child = subprocess.Popen(
        [sys.executable, "-c", code, *argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout.readline() == "ready\n"
        yield child
    finally:
        end(child)


@contextmanager
def script(tmp_path, *argv, code=READY, name="train_job.py"):
    """The same from a script file, so that the name stands in the command line."""
    path = tmp_path / name
    path.write_text(code)
    child = subprocess.Popen(
        [sys.executable, str(path), *argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout.readline() == "ready\n"
        yield child, str(path)
    finally:
        end(child)


def ended(code):
    """A child that has ended and was not asked how: a zombie until `wait`."""
    child = subprocess.Popen([sys.executable, "-c", code])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    return child


class WithoutProc(Place):
    """A host without /proc, as macOS is."""

    def open(self, path, special=False):
        if os.fspath(path).startswith("/proc/"):
            raise FileNotFoundError(2, "No such file or directory", path)
        return super().open(path, special)


class Mute(WithoutProc):
    def run(self, argv, **options):
        raise CannotSee("tool_missing", "no program 'ps' on this host")


def test_a_live_process_passes():
    """
    A process that waits is alive; its command, start and age are told.
    """
    with running() as child:
        finding = examine_here(ProcessAlive(pid=child.pid))

    assert finding.verdict is PASS
    assert finding.reason.startswith(f"pid {child.pid} (")
    assert finding.facts["state"] in ("sleeping", "running")
    assert 0 <= finding.facts["age"] < 60
    assert abs(finding.facts["started"] - time.time()) < 60


def test_an_unused_number_fails_for_good():
    """
    A number that no process has is FAIL, final: a process never comes back.
    """
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()

    finding = examine_here(ProcessAlive(pid=child.pid))

    assert (finding.verdict, finding.final) == (FAIL, True)
    assert f"no process has the number {child.pid}" in finding.reason


def test_a_stopped_process_fails():
    """
    A stopped process is FAIL, not final: SIGCONT may come.
    """
    with running() as child:
        child.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WNOWAIT)
        finding = examine_here(ProcessAlive(pid=child.pid))
        child.send_signal(signal.SIGCONT)

    assert (finding.verdict, finding.final, finding.facts["state"]) == (FAIL, False, "stopped")
    assert "SIGCONT" in finding.reason


@pytest.mark.parametrize(
    ("code", "status", "words"),
    [("raise SystemExit(3)", 3, "exit status 3"), ("import os; os.kill(os.getpid(), 9)", -9, "SIGKILL ended it")],
)
def test_a_zombie_fails_with_its_exit_status(code, status, words):
    """
    A process that has ended but was not waited for is FAIL, and says how it ended.
    """
    child = ended(code)
    try:
        finding = examine_here(ProcessAlive(pid=child.pid))
    finally:
        child.wait()

    assert (finding.verdict, finding.final, finding.facts["state"]) == (FAIL, True, "zombie")
    assert finding.facts["exit_status"] == status
    assert words in finding.reason


def test_a_pattern_finds_the_job(tmp_path):
    """
    A pattern is searched in the whole command line, as `pgrep -f` does.
    """
    with script(tmp_path, "--lr", "3e-4") as (child, path):
        finding = examine_here(ProcessAlive(pattern=rf"{path} --lr 3e-\d"))

    assert (finding.verdict, finding.facts["pid"], finding.facts["matched"]) == (PASS, child.pid, 1)


@pytest.mark.parametrize(
    "argv",
    [
        ["tail", "-f", "/dev/null", "{}"],
        ["sh", "-c", "read line # {}"],
        ["bash", "-lc", "read line # {}"],
        ["grep", "{}"],
    ],
)
def test_who_only_mentions_the_pattern_is_not_the_job(tmp_path, argv):
    """
    A tail, a grep, or the shell that launched the job, holds its name too and outlives it.
    """
    path = str(tmp_path / "train_job.py")
    child = subprocess.Popen([word.format(path) for word in argv], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        finding = examine_here(ProcessAlive(pattern=path))
    finally:
        child.kill()
        child.communicate()

    assert finding.verdict is FAIL
    assert "no command line matches" in finding.reason


def test_a_pattern_that_names_the_tool_means_it():
    """
    `tail -f` as a pattern asks for tail itself.
    """
    child = subprocess.Popen(["tail", "-n", "0", "-f", "/dev/null"])
    try:
        finding = examine_here(ProcessAlive(pattern="^tail -n 0 -f"))
    finally:
        child.kill()
        child.wait()

    assert (finding.verdict, finding.facts["pid"]) == (PASS, child.pid)


def test_whoever_asks_is_not_the_job():
    """
    The asking process and its ancestors don't count, whatever their command lines hold.
    """
    facts = process.find(Place(), re.escape(" ".join(sys.orig_argv)), "pattern")

    assert os.getpid() not in [facts["pid"], *(row["pid"] for row in facts.get("others", ()))]


def test_pid_and_pattern_must_agree():
    """
    A number that was given to another program is not the job.
    """
    with running() as child:
        finding = examine_here(ProcessAlive(pid=child.pid, pattern="vllm serve"))

    assert finding.verdict is FAIL
    assert finding.facts["recycled"] is True
    assert "another process (" in finding.reason


def test_an_older_process_is_an_earlier_run():
    """
    What began before `started_after` does not count, by number or by pattern; what began after it does.
    """
    before = datetime.now(timezone.utc)
    with running() as child:
        assert examine_here(ProcessAlive(pid=child.pid, started_after=before)).verdict is PASS
        finding = examine_here(ProcessAlive(pid=child.pid, started_after=time.time() + 60))

    assert finding.verdict is FAIL
    assert "earlier run" in finding.reason


def test_an_older_match_is_an_earlier_run(tmp_path):
    """
    Yesterday's job with the same command line is not today's.
    """
    with script(tmp_path) as (_, path):
        finding = examine_here(ProcessAlive(pattern=path, started_after=time.time() + 60))

    assert finding.verdict is FAIL
    assert "earlier run" in finding.reason


def test_a_pid_file_leads_to_the_process(tmp_path):
    """
    The number in a pid file, with or without a newline and further lines, is the process.
    """
    with running() as child:
        for text in (f"{child.pid}", f"{child.pid}\n", f"{child.pid}\n/var/lib/data\n"):
            (tmp_path / "job.pid").write_text(text)
            assert examine_here(ProcessAlive(pidfile=tmp_path / "job.pid")).verdict is PASS


def test_a_pid_file_older_than_the_process_was_recycled(tmp_path):
    """
    A process that began after the pid file was written is another one.
    """
    file = tmp_path / "job.pid"
    with running() as child:
        file.write_text(str(child.pid))
        os.utime(file, (time.time() - 3600,) * 2)
        finding = examine_here(ProcessAlive(pidfile=file))

    assert finding.verdict is FAIL
    assert finding.facts["recycled"] is True
    assert "after the pid file was written" in finding.reason


def test_a_missing_pid_file_is_not_yet(tmp_path):
    """
    Without its pid file the process is not there, which may change.
    """
    finding = examine_here(ProcessAlive(pidfile=tmp_path / "job.pid"))

    assert (finding.verdict, finding.final) == (FAIL, False)
    assert "there is no pid file" in finding.reason


@pytest.mark.parametrize(
    ("text", "cause"), [("", Cause.NOTHING_SEEN), ("running", Cause.AMBIGUOUS), ("-1", Cause.AMBIGUOUS)]
)
def test_a_pid_file_without_a_number_settles_nothing(tmp_path, text, cause):
    """
    An empty pid file, or one that holds something else, is UNKNOWN.
    """
    (tmp_path / "job.pid").write_text(text)

    finding = examine_here(ProcessAlive(pidfile=tmp_path / "job.pid"))

    assert (finding.verdict, finding.cause) == (UNKNOWN, cause)


def test_a_thread_is_no_process():
    """
    The number of a thread answers as a process's does, yet is none: a recycled pid may well be one.
    """
    ready, done = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: (ready.set(), done.wait()))
    thread.start()
    ready.wait()
    try:
        finding = examine_here(ProcessAlive(pid=thread.native_id))
    finally:
        done.set()
        thread.join()

    assert finding.verdict is FAIL
    assert f"a thread of process {os.getpid()}" in finding.reason


def test_children_are_counted():
    """
    Live direct children count, ended ones do not and are told.
    """
    code = (
        "import os, subprocess, sys\n"
        "live = [subprocess.Popen(['sleep', '60']) for _ in range(2)]\n"
        "dead = subprocess.Popen(['true'])\n"
        "os.waitid(os.P_PID, dead.pid, os.WEXITED | os.WNOWAIT)\n"
        "print('ready', flush=True)\n"
        "sys.stdin.read()\n"
        "[child.kill() for child in live]\n"
    )
    with running(code=code) as child:
        two = examine_here(ProcessAlive(pid=child.pid, children=2))
        three = examine_here(ProcessAlive(pid=child.pid, children=3))
        child.stdin.close()
        child.wait()

    assert two.verdict is PASS
    assert "children have ended" in two.warnings[0]
    assert three.verdict is FAIL
    assert "2 of 3 children" in three.reason


def test_ranks_of_one_job_count_once(tmp_path):
    """
    Forks that share their parent's command line are the parent's, not matches of their own.
    """
    code = (
        "import os, sys\n"
        "forks = []\n"
        "for _ in range(2):\n"
        "    pid = os.fork()\n"
        "    if not pid:\n"
        "        sys.stdin.read()\n"
        "        os._exit(0)\n"
        "    forks.append(pid)\n" + READY
    )
    with script(tmp_path, code=code) as (child, path):
        facts = process.find(Place(), path, "pattern")
        child.stdin.close()
        child.wait()

    assert (facts["pid"], facts["matched"], facts["children"]) == (child.pid, 1, 2)


def test_a_secret_after_its_flag_is_not_told(tmp_path):
    """
    `vllm serve … --api-key VALUE` shows the flag and hides the value.
    """
    with script(tmp_path, "--api-key", "hunter2", "--hf-token", "abc") as (child, _):
        facts = process.find(Place(), child.pid)

    assert "--api-key ••••" in facts["command"]
    assert "hunter2" not in str(facts)
    assert "abc" not in facts["command"].split()


@pytest.mark.parametrize("place", [Place(), WithoutProc()])
def test_proc_and_ps_agree(place, tmp_path):
    """
    /proc and ps find the same process, with start times a second apart at most.
    """
    with script(tmp_path) as (child, path):
        by_pid, by_pattern = process.find(place, child.pid), process.find(place, path)

    assert by_pid["pid"] == by_pattern["pid"] == child.pid
    assert by_pid["parent"] == os.getpid()
    assert abs(by_pid["started"] - time.time()) < 60
    assert path in by_pid["command"]


class Hidden(Place):
    """A host whose /proc is mounted with hidepid=2: others' processes are not listed, and their folders not there."""

    def listdir(self, path):
        return [str(os.getpid())] if path == "/proc" else super().listdir(path)

    def open(self, path, special=False):
        parts = str(path).split("/")
        if parts[1] == "proc" and parts[2].isdigit() and int(parts[2]) != os.getpid():
            raise FileNotFoundError(2, "No such file or directory", path)
        return super().open(path, special)


@pytest.mark.parametrize("asked", ["pid", "pattern"])
def test_a_hidden_process_may_be_there(tmp_path, asked):
    """
    Where the kernel hides others' processes, one that is not seen is UNKNOWN, so that `~` does not pass on it.
    """
    with script(tmp_path) as (child, path), pytest.raises(CannotSee) as raised:
        process.find(Hidden(), child.pid if asked == "pid" else path, asked)

    assert raised.value.cause == "permission"


def test_neither_proc_nor_ps_is_unsupported():
    """
    Where nothing tells of processes the claim is UNKNOWN, whoever is asked for.
    """
    with pytest.raises(CannotSee) as raised:
        process.find(Mute(), os.getpid())

    assert raised.value.cause == "unsupported"


@pytest.mark.parametrize(("text", "value"), [("0:01.50", 1.5), ("01:02:03", 3723), ("2-01:00:00", 176400)])
def test_cpu_times_of_ps(text, value):
    """
    CPU times are read as macOS, BSD and procps print them.
    """
    assert process._clock_seconds(text) == value


@given(st.text(st.characters(codec="ascii", exclude_characters="\0"), max_size=15))
def test_a_name_of_any_kind_does_not_shift_the_fields(name):
    """
    A program may call itself `x) Z 1 (y`: the fields are counted from the last bracket.
    """
    rest = " ".join(["S", "7", *map(str, range(48))])

    assert process._stat_fields(f"42 ({name}) {rest}".encode())[:2] == ["S", "7"]


class Told(Place):
    """A host whose files and programs say what the test gives."""

    def __init__(self, programs=(), files=(), folder=None):
        super().__init__()
        self.programs, self.files, self.folder = dict(programs), dict(files), folder

    def run(self, argv, **options):
        if argv[0] not in self.programs:
            raise CannotSee("tool_missing", f"no program {argv[0]!r} on this host")
        return Ran(0, self.programs[argv[0]].encode(), b"", False, False)

    def open(self, path, special=False):
        if path not in self.files:
            raise FileNotFoundError(2, "No such file or directory", path)
        copy = self.folder / path.replace("/", "_")
        copy.write_text(self.files[path])
        return copy.open("rb")

    def now(self):
        return 1_790_000_000.0


OOM_LINES = {
    "dmesg": "[  12.5] Out of memory: Killed process 4242 (python) total-vm:9kB, anon-rss:8kB, file-rss:0kB",
    "group": "[  12.5] Memory cgroup out of memory: Killed process 4242 (python3) total-vm:9kB",
    "old": "[  12.5] Killed process 4242, UID 1000, (python) total-vm:9kB",
    "reaper": "[  12.5] oom_reaper: reaped process 4242 (python), now anon-rss:0kB",
}


@pytest.mark.parametrize("line", OOM_LINES.values(), ids=OOM_LINES)
def test_the_kernels_word_is_read(line):
    """
    Each spelling of an OOM kill gives the process's number and name.
    """
    facts = process.oom_kills(Told({"dmesg": line}))

    (kill,) = facts["kills"]
    assert (kill["pid"], kill["source"]) == (4242, "dmesg")
    assert kill["name"].startswith("python")
    assert facts["readable"]


def test_nothing_readable_is_no_error():
    """
    Where the kernel may not be asked there are no kills, and the facts say that nothing could be read.
    """
    facts = process.oom_kills(Told())

    assert (facts["kills"], facts["cgroup"], facts["readable"]) == ([], None, False)


@pytest.mark.parametrize(
    ("stamp", "when"),
    [
        ("2026-09-21T16:26:40+02:00 gpu01", 1_790_000_800.0),
        ("2026-09-21T14:26:40Z gpu01", 1_790_000_800.0),
        ("1790000800.250000 gpu01", 1_790_000_800.25),
    ],
)
def test_times_of_kernel_lines(tmp_path, stamp, when):
    """
    A line's own time is read; a kill before `since` is left out.
    """
    line = f"{stamp} kernel: Out of memory: Killed process 7 (python)"
    place = Told(files={"/var/log/kern.log": line}, folder=tmp_path)

    assert process.oom_kills(place)["kills"][0]["when"] == when
    assert process.oom_kills(place, since=when - 5)["count"] == 1
    assert process.oom_kills(place, since=when + 5)["count"] == 0


def test_a_log_line_that_only_quotes_the_kernel_is_not_its_word(tmp_path):
    """
    Anybody may write "Killed process" into the system's log; only lines of the kernel count.
    """
    line = "Sep 21 14:26:40 gpu01 myapp[3]: Out of memory: Killed process 7 (python)"
    place = Told(files={"/var/log/syslog": line}, folder=tmp_path)

    assert process.oom_kills(place)["kills"] == []


@pytest.mark.parametrize(
    ("group", "file", "text"),
    [
        ("0::/job\n", "/sys/fs/cgroup/job/memory.events", "low 0\noom 3\noom_kill 2\n"),
        ("9:memory:/job\n0::/\n", "/sys/fs/cgroup/memory/job/memory.oom_control", "under_oom 0\noom_kill 2\n"),
        ("0::/\n", "/sys/fs/cgroup/memory.events", "oom_kill 2\n"),
    ],
)
def test_the_counter_of_the_memory_group(tmp_path, group, file, text):
    """
    Kills within the process's memory group are counted in both versions of control groups.
    """
    place = Told(files={"/proc/77/cgroup": group, file: text}, folder=tmp_path)

    assert process.oom_kills(place, pid=77)["cgroup"] == {"path": file, "oom_kill": 2, "of": "77"}


def facts_of(**more):
    """What the probe tells of a sleeping process, changed as the test wants."""
    now = 1_790_000_000.0
    told = {"state": "sleeping", "pid": 42, "command": "python train.py", "started": now - 90, "age": 90.0, "now": now}
    return {**told, "tree_cpu_seconds": 75.0, "children": 0, "child_list": [], "exit_status": None, "why": "", **more}


def test_state_d_is_alive_with_a_warning():
    """
    A process in the kernel is alive, and is said to be one that can't be killed.
    """
    finding = ProcessAlive(pid=42).judge(facts_of(state="disk_sleep"))

    assert finding.verdict is PASS
    assert "state D" in finding.warnings[0]


def test_several_jobs_that_match_are_a_warning():
    """
    Where several jobs match a pattern the youngest is judged, and that there are others is told.
    """
    finding = ProcessAlive(pattern="train.py").judge(facts_of(matched=2))

    assert finding.verdict is PASS
    assert finding.warnings == ("2 processes match; judged by the youngest, pid 42",)


def test_an_unknown_beginning_does_not_pass_for_a_late_one():
    """
    Where it is not told when the process began, `started_after` is UNKNOWN.
    """
    finding = ProcessAlive(pid=42, started_after=1.0).judge(facts_of(started=None, age=None))

    assert (finding.verdict, finding.cause) == (UNKNOWN, Cause.AMBIGUOUS)


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({}, "named by pid"),
        ({"pid": 1, "pidfile": "/run/x.pid"}, "named by pid"),
        ({"pid": 0}, "at least 1"),
        ({"pattern": "("}, "unterminated"),
        ({"pid": 1, "children": -1}, "at least 0"),
        ({"pid": 1, "started_after": datetime(2026, 1, 1)}, "time zone"),
    ],
)
def test_wrong_use_is_refused_where_it_is_built(fields, word):
    """
    A process named twice or not at all, or by something malformed, is a ValueError.
    """
    with pytest.raises(ValueError, match=word):
        ProcessAlive(**fields)


def test_through_the_agent(tmp_path):
    """
    Through the host's agent the job is found, and neither the agent nor what launched it is taken for it.
    """
    with script(tmp_path) as (child, path):
        report = verify(ProcessAlive(pattern=path, children=0))
        assert report.passed
        assert report.root.finding.facts["pid"] == child.pid
    assert verify(ProcessAlive(pattern=path)).failed
