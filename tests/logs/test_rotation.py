"""Logs that were rotated more than once while their job ran: how far back, and by which names, they are followed."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import shutil
import time
from datetime import datetime, timezone

import pytest

from verikit import FAIL, PASS, UNKNOWN, LogHealthy, Mark
from verikit.probes import files
from verikit.probes.logs import reading
from verikit.probes.place import Place
from verikit.testing.here import examine_here

PACK = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
NAMES = {
    "numbers": ("job.log.1", "job.log.2", "job.log.10"),
    "numbers, packed but for the newest": ("job.log.1", "job.log.2.gz", "job.log.3.gz"),
    "packed by three programs": ("job.log.1.xz", "job.log.2.bz2", "job.log.3.gz"),
    "dates": ("job.log-20261130", "job.log-20261129", "job.log-20261128.gz"),
    "dates with the epoch": (
        "job.log-20261130-1796026800",
        "job.log-20261130-1796023200.gz",
        "job.log-20261130-1796019600.gz",
    ),
    "TimedRotatingFileHandler by days": ("job.log.2026-11-30", "job.log.2026-11-29", "job.log.2026-11-28"),
    "TimedRotatingFileHandler by hours": ("job.log.2026-11-30_11", "job.log.2026-11-30_10", "job.log.2026-11-30_09"),
    "before the extension": ("job-20261130.log", "job-20261129.log", "job-20261128.log.gz"),
    "loguru": (
        "job.2026-11-30_11-00-00_000001.log",
        "job.2026-11-30_10-00-00_000001.log",
        "job.2026-11-29_10-00-00_000001.log",
    ),
}
READY = "all ranks are up"


def stamped(when, words):
    return f"{datetime.fromtimestamp(when, timezone.utc):%Y-%m-%dT%H:%M:%SZ} {words}\n"


def put(path, text, when):
    body = text.encode()
    pack = PACK.get(path.suffix)
    path.write_bytes(pack(body) if pack else body)
    os.utime(path, (when,) * 2)
    return path


def look(path, **more):
    return examine_here(LogHealthy(path, ready=READY, **more))


def marked(path):
    return Mark(path, {"local": files.mark(Place(), str(path))})


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_followed_back_by_any_names(tmp_path, names):
    """
    From a launch time a run is followed through every file that holds some of it, oldest last, whatever rotated it.
    """
    now = time.time()
    (tmp_path / "job.logs").write_text(READY)
    put(tmp_path / "job.log.example", READY, now)
    put(
        tmp_path / names[2],
        stamped(now - 9000, READY) + stamped(now - 900, "loading") + stamped(now - 800, READY),
        now - 800,
    )
    put(tmp_path / names[1], stamped(now - 700, "step 1"), now - 700)
    put(tmp_path / names[0], stamped(now - 600, "step 2"), now - 600)
    path = put(tmp_path / "job.log", stamped(now, "step 3"), now)

    found = look(path, since=now - 1000)

    assert (found.verdict, found.facts["ready_line"]) == (PASS, 3)
    assert found.facts["followed"] == tuple(str(tmp_path / name) for name in names)
    assert (found.facts["progress"]["count"], found.facts["progress"]["line"], found.facts["lines_before"]) == (3, 6, 5)


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_no_further_than_the_launch(tmp_path, names):
    """
    Files that nobody wrote to since the launch stay out, and so do lines from before it.
    """
    now = time.time()
    put(tmp_path / names[2], stamped(now - 5000, READY), now - 5000)
    put(tmp_path / names[1], stamped(now - 4000, READY) + stamped(now - 700, "step 1"), now - 700)
    put(tmp_path / names[0], stamped(now - 600, "step 2"), now - 600)
    path = put(tmp_path / "job.log", stamped(now, "step 3"), now)

    found = look(path, since=now - 1000)

    assert (found.verdict, found.facts["followed"]) == (FAIL, tuple(str(tmp_path / name) for name in names[:2]))
    assert found.facts["progress"]["count"] == 3


@pytest.mark.parametrize("packed", ["", ".gz", ".xz"])
@pytest.mark.parametrize("copies", [False, True], ids=["renamed", "copied and truncated"])
def test_mark_before_several_rotations(tmp_path, packed, copies):
    """
    From a mark the run is followed through each file since, and the marked one from the very byte; without any times.
    """
    path = tmp_path / "job.log"
    path.write_text(f"{READY}\n")
    mark = marked(path)
    for n in range(3):
        with path.open("a") as file:
            file.write(f"step {n}\n" + (f"{READY}\n" if n == 0 else ""))
        for older in (2, 1):
            for suffix in ("", packed):
                if (tmp_path / f"job.log.{older}{suffix}").exists():
                    os.replace(tmp_path / f"job.log.{older}{suffix}", tmp_path / f"job.log.{older + 1}{suffix}")
        body = path.read_text()
        if copies or packed:
            put(tmp_path / f"job.log.1{packed}", body, time.time())
            path.write_text("") if copies else path.unlink()
        else:
            os.replace(path, tmp_path / "job.log.1")
        path.touch()
    path.write_text("step 3\n")

    found = look(path, since=mark)

    assert (found.verdict, found.facts["ready_line"]) == (PASS, 3)
    assert len(found.facts["followed"]) == 3
    assert (found.facts["progress"]["count"], found.facts["progress"]["value"]) == (4, 3.0)


def test_mark_before_the_log_was(tmp_path):
    """
    A mark of a log to come, which was then rotated: all that was written since is new.
    """
    put(tmp_path / "job.log.3", f"{READY}\n", time.time() - 900)
    path = tmp_path / "job.log"
    mark = marked(path)
    put(tmp_path / "job.log.2", f"loading\n{READY}\n", time.time())
    put(tmp_path / "job.log.1", "step 1\n", time.time())
    put(path, "step 2\n", time.time())

    found = look(path, since=mark)

    assert (found.verdict, found.facts["ready_line"], len(found.facts["followed"])) == (PASS, 2, 2)


def test_two_looks_around_rotations(tmp_path):
    """
    A look that goes on from another's mark finds what was written in the files between.
    """
    path = put(tmp_path / "job.log", "step 1\n", time.time())
    first = examine_here(LogHealthy(path))
    with path.open("a") as file:
        file.write("step 2\n")
    os.replace(path, tmp_path / "job.log.2")
    put(tmp_path / "job.log.1", "step 3\nRuntimeError: the 3rd file\n", time.time())
    put(path, "leaving\n", time.time())

    then = examine_here(LogHealthy(path, since=Mark(path, {"local": first.facts["mark"]})))

    assert (then.verdict, then.facts["line"], then.facts["progress"]["count"]) == (FAIL, 2, 2)
    assert then.facts["line_of"] == str(tmp_path / "job.log.1")


@pytest.mark.parametrize("times", [True, False])
def test_copied_and_truncated_twice(tmp_path, times):
    """
    copytruncate keeps the inode, so the file is older than the run: times tell whose a line is, and without them nothing does.
    """
    now = time.time()
    say = stamped if times else lambda when, words: f"{words}\n"
    path = put(tmp_path / "job.log", say(now - 90, READY), now)
    since = os.stat(path).st_ctime + 5 if not times else now - 100
    shutil.copy(path, tmp_path / "job.log.2")
    put(tmp_path / "job.log.1", say(now - 50, "step 1"), since + 55)
    os.utime(tmp_path / "job.log.2", (since + 10 if not times else now - 90,) * 2)
    os.utime(tmp_path / "job.log.1", (since + 55 if not times else now - 50,) * 2)
    path.write_text(say(now, "step 2"))
    os.utime(path, (since + 100 if not times else now,) * 2)

    found = look(path, since=since)

    assert (found.verdict, found.facts["tied_earlier"]) == ((PASS, "time") if times else (FAIL, "written"))
    assert len(found.facts["followed"]) == (2 if times else 1)


def test_chain_is_bounded(tmp_path, monkeypatch):
    """
    All the files of a run together are read within the bound of one, from the newest back; the rest counts as skipped.
    """
    monkeypatch.setattr(reading, "HEAD", 1000)
    monkeypatch.setattr(reading, "TAIL", 4000)
    now, lines = time.time(), 60
    for n in range(9, 0, -1):
        put(tmp_path / f"job.log.{n}", stamped(now - n * 10, "step 1") * lines, now - n * 10)
    path = put(tmp_path / "job.log", stamped(now, "step 1") * lines, now)

    found = look(path, since=now - 1000)

    assert found.facts["coverage"]["bytes"] <= 5000
    assert found.facts["coverage"]["skipped"] >= 28 * lines
    assert len(found.facts["followed"]) == 2


def test_xz_that_asks_for_much_memory(tmp_path):
    """
    A packed file that would take more memory to unpack than a look may have is not followed.
    """
    now = time.time()
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 256 << 20}]
    (tmp_path / "job.log.1.xz").write_bytes(lzma.compress(stamped(now - 9, READY).encode(), filters=filters))
    path = put(tmp_path / "job.log", stamped(now, "step 1"), now)

    assert look(path, since=now - 100).facts["followed"] == ()


@pytest.mark.parametrize("name", ["job.log.1.gz", "job.log.1.bz2", "job.log.1.xz"])
def test_damaged_predecessor(tmp_path, name):
    """
    A packed file that ends too early, or is none, is not followed, and stops nothing.
    """
    now = time.time()
    path = put(tmp_path / "job.log", stamped(now, READY), now)
    for body in (
        PACK[path.parent.joinpath(name).suffix](stamped(now - 5, "step 1").encode() * 99)[:-9],
        b"no such format",
        b"",
    ):
        (tmp_path / name).write_bytes(body)
        found = look(path, since=now - 100)
        assert (found.verdict, found.facts["followed"]) == (PASS, ()), body


def test_unknown_verdict_stays_for_lines_of_nobody(tmp_path):
    """
    A ready line in a rotated file that no times tie to the run is UNKNOWN.
    """
    now = time.time()
    put(tmp_path / "job.log.1", f"{READY}\n", now - 20)
    path = put(tmp_path / "job.log", "step 2\n", now)

    found = look(path, since=now - 60)

    assert found.verdict in (UNKNOWN, PASS)
    assert found.facts["tied_earlier"] in ("written", "born")
    assert (found.verdict is PASS) == (found.facts["tied_earlier"] == "born")
