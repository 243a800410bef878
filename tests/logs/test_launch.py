"""Launch, wait, verify: real processes, the real agent, here and under a real sshd; the verdict's time is asserted."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time

import pytest

from verikit import FAIL, PASS, LogHealthy, mark, verify

READY = r"\d+/\d+ samples"
GOOD = """
import time
print("loading", flush=True)
for n in range(200):
    print(f"{n}/200 samples", flush=True)
    time.sleep(0.05)
"""
DIES = "import time\nprint('loading', flush=True)\ntime.sleep(1)\nimport no_such_module_here\n"
HANGS = "import time\nprint('loading', flush=True)\ntime.sleep(60)\n"
FILLS = """
import os, sys
print("loading", flush=True)
with open(sys.argv[1], "wb", buffering=0) as out:
    for n in range(200):
        if out.write(os.urandom(8192)) != 8192:
            out.write(b"the rest")
        print(f"shard {n}/200 written", flush=True)
"""
LONG = 20.0
"""Seconds that a wait may take; each test ends long before."""


@pytest.fixture(params=["local", "sshd"])
def host(request):
    """This machine, and a real server on it."""
    return "local" if request.param == "local" else request.getfixturevalue("sshd")


@pytest.fixture
def launch(tmp_path):
    """Starts a script as `nohup python script > job.log 2>&1 &` does; ends what it started."""
    started = []

    def start(code, *arguments, log=tmp_path / "job.log"):
        script = tmp_path / "job.py"
        script.write_text(code)
        words = shlex.join(str(each) for each in (sys.executable, script, *arguments))
        command = f"exec nohup {words} > {shlex.quote(str(log))} 2>&1"
        started.append(subprocess.Popen(["sh", "-c", command], stdin=subprocess.DEVNULL))
        return started[-1]

    yield start
    for child in started:
        child.kill()
        child.wait()


@pytest.fixture
def small(tmp_path):
    """A file on a file system of 256 KiB, in a mount of its own; `/dev/full` for those who may not mount."""
    if os.geteuid():
        yield "/dev/full"
        return
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder], capture_output=True)
    try:
        yield folder / "out.bin" if mounted.returncode == 0 else "/dev/full"  # a container's root may not mount either
    finally:
        if mounted.returncode == 0:
            subprocess.run(["umount", "--lazy", folder], check=True)


def watched(tmp_path, host, before, **more):
    """The report on the log, and the seconds until it was there."""
    claim = LogHealthy(tmp_path / "job.log", ready=READY, since=before, **more)
    began = time.monotonic()
    report = verify(claim.eventually(within=LONG, every=0.2), on=host)
    return report, time.monotonic() - began


def facts(report):
    return report.leaves()[0].finding.facts


def test_good_start(tmp_path, host, launch):
    """
    A job that starts well passes as soon as it says so.
    """
    before = mark(tmp_path / "job.log", on=host)
    launch(GOOD)

    report, took = watched(tmp_path, host, before)
    assert report.verdict is PASS
    assert took < LONG / 2


def test_missing_module(tmp_path, host, launch):
    """
    A job that dies of a missing module ends the wait when it dies, not when the time is over.
    """
    before = mark(tmp_path / "job.log", on=host)
    launch(DIES)

    report, took = watched(tmp_path, host, before)
    assert (report.verdict, facts(report)["kind"]) == (FAIL, "import_error")
    assert "no_such_module_here" in report.root.reason
    assert took < LONG / 2


def test_killed(tmp_path, host, launch):
    """
    A job that is killed says nothing; its process tells, and the wait ends.
    """
    before = mark(tmp_path / "job.log", on=host)
    child = launch(HANGS)
    first = verify(
        LogHealthy(tmp_path / "job.log", since=before, process=child.pid).eventually(within=LONG, every=0.1), on=host
    )
    child.send_signal(signal.SIGKILL)

    report, took = watched(tmp_path, host, before, process=child.pid)
    assert first.verdict is PASS
    assert (report.verdict, facts(report)["state"]) == (FAIL, "died_silently")
    assert took < LONG / 2


def test_full_disk(tmp_path, host, launch, small):
    """
    A job that fills its file system dies of it; the line and the kind say so.
    """
    before = mark(tmp_path / "job.log", on=host)
    launch(FILLS, small)

    report = verify(LogHealthy(tmp_path / "job.log", ready="199/200", since=before).eventually(within=LONG), on=host)
    found = report.leaves()[0].finding
    assert (found.verdict, found.final, facts(report)["kind"]) == (FAIL, True, "no_space")
    assert "No space left on device" in facts(report)["excerpt"]


def test_log_on_the_full_disk(host, launch, small):
    """
    Where the log itself is on the full file system the last words are lost; that it is full is still there to see.
    """
    if small == "/dev/full":
        pytest.xfail("a log can't be on /dev/full, and no file system may be mounted here")
    log = small.with_name("job.log")
    before = mark(log, on=host)
    child = launch(FILLS.replace("written", "written " + "x" * 3000), small, log=log)
    child.wait()

    report = verify(LogHealthy(log, since=before, process=child.pid).eventually(within=LONG), on=host)
    found = report.leaves()[0].finding
    assert (found.verdict, found.final, facts(report)["kind"]) == (FAIL, True, "no_space")
    assert "no space left" in found.reason.lower()


def test_yesterdays_ready_line(tmp_path, host, launch):
    """
    What an earlier run wrote into the same log does not count for this one.
    """
    (tmp_path / "job.log").write_text("199/200 samples\n")
    before = mark(tmp_path / "job.log", on=host)

    report = verify(LogHealthy(tmp_path / "job.log", ready=READY, since=before), on=host)
    assert report.verdict is FAIL
