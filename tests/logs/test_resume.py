# ruff: noqa: E501
"""Looks that read on from the one before: what they tell is what one look at the whole would."""

from __future__ import annotations

import json
import os
import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from logs.samples import SAMPLES
from verikit import FAIL, LogHealthy, verify
from verikit.probes import files
from verikit.probes.logs import bookmark, reading, story, watch
from verikit.probes.place import Place
from verikit.testing import FakeHost, ManualClock

NEAR = 2000
FIXED = dict.fromkeys(("now", "mark", "resume", "file", "process"))
BITS = (
    *(f"2025-05-05 10:0{n}:00 INFO step {{n}}/9000 loss 2.{{n}}\n" for n in range(4)),
    '[rank1]: Traceback (most recent call last):\n[rank1]:   File "/w/a.py", line {n}, in f\n[rank1]: KeyError: {n}\n',
    'Traceback (most recent call last):\n  File "/w/b.py", line 3, in g\n    x()\n',
    "ValueError: row {n} is bad\n",
    "\nDuring handling of the above exception, another exception occurred:\n\n",
    "\rTraining: {n}%|###  | {n}/9000 [00:12<01:40,  1.20s/it]",
    "\n",
    "skipping a bad sample {n}\n",
    "Output:\n",
    "```\n",
    "sample: <|im_start|>assistant {n} is\n",
    "so it is {n}<|im_end|>\n",
    "steps: {n}%|##  | {n}/100 [00:01, avr_loss=0.1]\rsteps: {n}%|### | {n}/100 [00:01, avr_loss=nan]\n",
    "web-1  | GET /{n}\n",
    "waiting for free GPU ({n} busy)\n",
    "nohup: ignoring input\n",
    "(EngineCore_DP0 pid=7) INFO 10-21 09:20:01 [core.py:710] Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 0.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs\n",
    '{{"level": "info", "msg": "progress", "done": {n}}}\n',
    "Received SIGTERM, shutting down\n",
    "Training complete.\n",
    "Server is listening on 0.0.0.0:80\n",
    "früh {n} \x00\x00 \xe9\n",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {n} MiB\n",
    "srun: error: n1: task 0: Exited with exit code {n}\n",
)


def said(facts):
    """What a look told, less what differs from one look to the next anyway."""
    told = {name: value for name, value in facts.items() if name not in FIXED}
    told["coverage"] = {name: value for name, value in facts["coverage"].items() if name != "read"}
    return json.loads(json.dumps(told))


@pytest.fixture(autouse=True)
def near(monkeypatch):
    """Bounds small enough for short logs: what is near the end, and what counts as few forms."""
    monkeypatch.setattr(story, "NEAR_END", NEAR)
    monkeypatch.setattr(story, "SMALL", 6)


def grown(path, chunks, **asked):
    """Appends chunk after chunk; after each, the look that reads on and one that knows nothing must tell the same."""
    resume, read = {}, 0
    for chunk in chunks:
        with path.open("ab") as file:
            file.write(chunk)
        facts = watch.inspect(Place(), str(path), resume=resume, **asked)
        assert said(facts) == said(watch.inspect(Place(), str(path), **asked))
        resume = json.loads(json.dumps(facts["resume"]))
        read += facts["coverage"]["read"]
    return resume, read


def written(draw, bits=120):
    rng = draw(st.randoms(use_true_random=False))
    text = "".join(rng.choice(BITS).format(n=rng.randrange(1, 9000)) for _ in range(bits))
    return rng, text


def cut(rng, body, parts=8):
    """The body in chunks that end anywhere: within lines, characters, tracebacks."""
    places = sorted(rng.randrange(len(body)) for _ in range(parts - 1))
    return [body[a:b] for a, b in zip([0, *places], [*places, len(body)], strict=True)]


@settings(max_examples=30, deadline=None)
@given(data=st.data(), encoding=st.sampled_from(["utf-8", "latin-1", "utf-16"]))
def test_any_growth(tmp_path_factory, data, encoding):
    """
    A log that grows by chunks cut anywhere is told the same round for round, whatever its encoding.
    """
    rng, text = written(data.draw)
    path = tmp_path_factory.mktemp("logs") / "job.log"

    grown(path, cut(rng, text.encode(encoding, "replace")))


@pytest.mark.parametrize("sample", SAMPLES[:: max(1, len(SAMPLES) // 60)], ids=lambda sample: sample.name)
def test_samples_grow(tmp_path, monkeypatch, sample):
    """
    The labelled logs, behind 3,000 other lines, are told the same in any number of looks.
    """
    monkeypatch.setattr(story, "NEAR_END", 300)
    before = b"".join(b"2025-05-05 10:00:00 INFO loaded part %d of the cache\n" % n for n in range(3000))

    grown(tmp_path / "job.log", cut(random.Random(3), before + sample.raw, 5))


STEPS = b"".join(b"2025-05-05 10:00:00 INFO step %d/9000 loss 2.0\n" % n for n in range(300))
CRASH = b'Traceback (most recent call last):\n  File "/w/a.py", line 3, in f\nKeyError: 3\n'


def put_on_top(path):
    path.write_bytes(CRASH + STEPS)


def cut_off(path):
    """copytruncate, and the log has grown beyond its old size before the next look."""
    path.write_bytes(STEPS[:-1] + b" and another ending\n" + STEPS)


def renamed(path):
    path.rename(f"{path}.1")
    path.write_bytes(CRASH)


def shrunk(path):
    path.write_bytes(STEPS[: len(STEPS) // 2])


def vanished(path):
    path.unlink()


def filled(path):
    """More than one look reads."""
    with path.open("ab") as file:
        file.write(CRASH + STEPS * (1 + (reading.HEAD + reading.TAIL) // len(STEPS)))


@pytest.mark.parametrize("turn", [put_on_top, cut_off, renamed, shrunk, vanished, filled])
@pytest.mark.parametrize("tie", ["", "mark", "since"])
def test_file_changed_otherwise_than_by_growing(tmp_path, turn, tie):
    """
    Between two looks the log is rotated, truncated, replaced or outgrows a look: then it is read anew, as the tie says.
    """
    path = tmp_path / "job.log"
    path.write_bytes(b"before the run\n")
    asked = {"mark": {"mark": files.mark(Place(), str(path))}, "since": {"since": time.time() - 60}}.get(tie, {})
    path.write_bytes(b"before the run\n" + STEPS)
    first = watch.inspect(Place(), str(path), resume={}, **asked)

    turn(path)
    then = watch.inspect(Place(), str(path), resume=first["resume"], **asked)

    assert first["resume"]["offset"] > 0
    assert said(then) == said(watch.inspect(Place(), str(path), **asked))


def test_what_a_window_would_lose_is_kept(tmp_path, monkeypatch):
    """
    A log that outgrows one look's bound while it is watched is told as if the bound did not exist: nothing seen is forgotten.
    """
    monkeypatch.setattr(reading, "HEAD", 4000)
    monkeypatch.setattr(reading, "TAIL", 8000)
    path, resume = tmp_path / "job.log", {}
    body = STEPS + b"nccl: all ready\n" + STEPS + b"srun: error: n1: task 0: Out Of Memory\n" + b"lr warmed up\n" * 4000

    for start in range(0, len(body), 5000):
        with path.open("ab") as file:
            file.write(body[start : start + 5000])
        facts = watch.inspect(Place(), str(path), resume=resume)
        resume = facts["resume"]

    assert watch.inspect(Place(), str(path))["text"]["failure"] is None, "one look at the end no longer sees it"
    monkeypatch.setattr(reading, "TAIL", 1 << 20)
    assert said(facts) == said(watch.inspect(Place(), str(path)))
    assert facts["text"]["failure"]["kind"] == "host_oom"


def test_only_what_is_new_is_read(tmp_path):
    """
    Looks at a growing log read each byte once, but for those near the end.
    """
    rounds = 40
    resume, read = grown(tmp_path / "job.log", [STEPS] * rounds)

    assert read < rounds * (len(STEPS) + NEAR + 200)
    assert resume["offset"] > (rounds - 1) * len(STEPS)


def test_story_too_long_to_keep(tmp_path):
    """
    What would take more than its bound is not kept; the look after it reads anew, and says the same.
    """
    rng = random.Random(5)
    words = ["".join(rng.choice("abcdefghij") for _ in range(12)) for _ in range(20000)]
    text = "".join(f"{word} failed to parse, trying {other}\n" for word, other in zip(words, words[::-1], strict=True))

    resume, _ = grown(tmp_path / "job.log", [text.encode(), b"step 3\n"])

    assert resume == {}


def test_kept_is_small(tmp_path):
    """
    What a long training log leaves to keep has a few KB.
    """
    resume, _ = grown(tmp_path / "job.log", [STEPS * 100, STEPS])

    assert len(json.dumps(resume)) < 16384
    assert len(json.dumps(resume)) < bookmark.MOST + 2000


def test_stamped_since(tmp_path):
    """
    With a launch time, the lines before it stay out in each look.
    """
    now = time.time()
    rows = [now - 7200 + n * 12 for n in range(601)]
    lines = [time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when)) + f" step {n}\n" for n, when in enumerate(rows)]
    chunks = ["".join(lines[start : start + 100]).encode() for start in range(0, 601, 100)]
    path, resume, told = tmp_path / "job.log", {}, []

    for n, chunk in enumerate(chunks):
        with path.open("ab") as file:
            file.write(chunk)
        os.utime(path, (rows[min(600, 100 * n + 99)],) * 2)
        facts = watch.inspect(Place(), str(path), since=now - 3600, resume=resume)
        assert said(facts) == said(watch.inspect(Place(), str(path), since=now - 3600))
        resume, told = facts["resume"], [*told, (facts["tied"], bool(resume))]

    assert told[-1] == ("time", True)
    assert facts["text"]["progress"]["first_line"] == 302


def test_waiting_claim_reads_on(tmp_path):
    """
    The rounds of `.eventually` read what is new, see what came, and end with it; what they keep is in no report.
    """
    path, read = tmp_path / "job.log", []
    path.write_bytes(STEPS * 40)

    def inspect(**arguments):
        with path.open("ab") as file:
            file.write(STEPS if len(read) < 5 else b"Killed\n" + CRASH)
        facts = watch.inspect(Place(), **arguments)
        read.append(facts["coverage"]["read"])
        return facts

    claim = LogHealthy(path, ready="never", fresh_within=60).on(FakeHost("a", {watch.inspect: inspect}))
    result = verify(claim.eventually(within=600, every=10), clock=ManualClock())
    finding = result.leaves()[0].finding

    assert (finding.verdict, finding.facts["kind"], len(read)) == (FAIL, "python_exception", 6)
    assert finding.facts["line"] == 300 * 45 + 4
    assert read[0] == 41 * len(STEPS)
    assert max(read[1:]) < len(STEPS) + NEAR + 200
    assert "resume" not in finding.facts


def test_single_look_keeps_nothing(tmp_path):
    """
    A claim that does not wait asks for no bookmark.
    """
    path = tmp_path / "job.log"
    path.write_bytes(STEPS)
    host = FakeHost("a")

    verify(LogHealthy(path).on(host))

    assert [look.arguments.get("resume") for look in host.asked] == [None]


def test_staying_up_on_a_real_host(tmp_path, monkeypatch):
    """
    The same through the agent, whose looks are processes of their own.
    """
    path = tmp_path / "job.log"
    path.write_bytes(STEPS * 40)

    result = verify(LogHealthy(path, fresh_within=60).consistently(during=0.2, every=0.1))
    facts = result.leaves()[0].finding.facts

    assert result.passed
    assert facts["coverage"]["bytes"] == 40 * len(STEPS)
    assert facts["coverage"]["read"] < 70_000
