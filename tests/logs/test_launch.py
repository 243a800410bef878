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
from verikit.testing.sshd import real_sshd, sshd_path

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
LONG = 20.0
"""Seconds that a wait may take; each test ends long before."""


@pytest.fixture(params=["local", "sshd"])
def host(request, tmp_path_factory):
    """This machine, and a real server on it."""
    if request.param == "local":
        yield "local"
        return
    if sshd_path() is None:
        if os.environ.get("CI"):
            pytest.fail("CI has no sshd")
        pytest.skip("no sshd here")
    with real_sshd(tmp_path_factory.mktemp("sshd")) as server:
        yield server.address


@pytest.fixture
def launch(tmp_path):
    """Starts a script as `nohup python script > job.log 2>&1 &` does; ends what it started."""
    started = []

    def start(code):
        script = tmp_path / "job.py"
        script.write_text(code)
        python, job, log = (shlex.quote(str(each)) for each in (sys.executable, script, tmp_path / "job.log"))
        command = f"exec nohup {python} {job} > {log} 2>&1"
        started.append(subprocess.Popen(["sh", "-c", command], stdin=subprocess.DEVNULL))
        return started[-1]

    yield start
    for child in started:
        child.kill()
        child.wait()


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


def test_yesterdays_ready_line(tmp_path, host, launch):
    """
    What an earlier run wrote into the same log does not count for this one.
    """
    (tmp_path / "job.log").write_text("199/200 samples\n")
    before = mark(tmp_path / "job.log", on=host)

    report = verify(LogHealthy(tmp_path / "job.log", ready=READY, since=before), on=host)
    assert report.verdict is FAIL
