"""LogHealthy on labelled logs: what a person who reads them would say."""

from __future__ import annotations

import collections
import datetime
import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from logs.samples import SAMPLES
from verikit import FAIL, PASS, UNKNOWN, LogHealthy
from verikit.probes.logs import watch
from verikit.testing.here import examine_here

CASES, MISSED = Path(__file__).parent / "cases", Path(__file__).parent / "missed"
HEALTHY = {"starting", "running", "ready", "finished"}
STATES = {"healthy_starting": "starting", "healthy_running": "running", "finished_ok": "finished"}
LABELLED = [
    (folder, case) for folder in (CASES, MISSED) for case in json.loads((folder / "labels.json").read_text())["cases"]
]


@pytest.fixture(scope="module")
def alive():
    """The pid of a process that sleeps."""
    with subprocess.Popen(["sleep", "600"]) as child:
        yield child.pid
        child.kill()


@pytest.fixture(scope="module")
def dead():
    """The pid of a process that has ended."""
    child = subprocess.Popen(["true"])
    child.wait()
    return child.pid


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """A sleeping process shows that it does nothing in no time."""
    monkeypatch.setattr(watch, "SAMPLE", 0.01)


def written(path: Path, raw: bytes, idle: float) -> Path:
    """The file, last written `idle` seconds ago."""
    path.write_bytes(raw)
    os.utime(path, (time.time() - idle,) * 2)
    return path


def wanted(state):
    return PASS if state in HEALTHY else UNKNOWN if state in ("unreadable", "quiet_but_alive") else FAIL


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_sample(tmp_path, sample, alive, dead):
    """
    Each labelled log gets its verdict and state; a failure its kind and the line of its root.
    """
    path = written(tmp_path / "job.log", sample.raw, sample.idle)
    process = None if sample.alive is None else alive if sample.alive else dead

    ago = sample.idle + 1800 if sample.state == "starting" else 86400  # within the budget of a start
    found = examine_here(LogHealthy(path, since=time.time() - ago, process=process))

    assert (found.verdict, found.facts["state"]) == (wanted(sample.state), sample.state), found.reason
    assert not sample.kind or found.facts["kind"] in sample.kind, found.reason
    assert sample.state != "failed" or not sample.roots or found.facts["line"] in sample.roots, found.reason


def test_a_start_has_a_budget(tmp_path, alive):
    """
    A job that talks and counts nothing is starting for an hour; then whether it does anything can't be told.
    """
    talk = b"".join(b"trial status: 2 RUNNING, time is going by\nresources: all in use\n" for _ in range(40))
    path = written(tmp_path / "job.log", talk, 5)

    early = examine_here(LogHealthy(path, since=time.time() - 3000, process=alive))
    late = examine_here(LogHealthy(path, since=time.time() - 4000, process=alive))

    assert (early.verdict, early.facts["state"]) == (PASS, "starting")
    assert (late.verdict, late.facts["state"]) == (UNKNOWN, "quiet_but_alive")
    assert "nothing it says counts as work, 66 min 40 s after its launch" in late.reason


@pytest.mark.parametrize(("folder", "case"), LABELLED, ids=[case["file"] for _, case in LABELLED])
def test_labelled_case(tmp_path, folder, case, alive, dead):
    """
    Whole logs, and those that were once judged wrong: verdict, state and root line, with the label's clock.
    """
    observe = case["observe"]
    times = {
        key: datetime.datetime.fromisoformat(observe[key]).timestamp()
        for key in ("observed_at", "mtime", "launched_at")
    }
    raw = (folder / case["file"]).read_bytes()
    path = written(tmp_path / "job.log", raw, times["observed_at"] - times["mtime"])
    process = {True: alive, False: dead, None: None}[observe["process_alive"]]
    since = time.time() - times["observed_at"] + times["launched_at"]

    found = examine_here(LogHealthy(path, since=since, process=process))

    labels = [STATES.get(label, label) for label in (case["verdict"], *case["also_accepted_verdicts"])]
    assert found.facts["state"] in labels, found.reason
    assert found.verdict in {wanted(label) for label in labels} or found.facts["state"] == "empty"
    if case["verdict"] == "failed":
        assert found.facts["line"] in (case["root_line"], *case["also_accepted_lines"])
        assert found.facts["kind"] in (case["kind"], *case["also_accepted_kinds"])


def test_names_are_unique():
    """
    No two samples share a name.
    """
    assert [name for name, n in collections.Counter(sample.name for sample in SAMPLES).items() if n > 1] == []
