"""The names of hosts that a launcher puts before each line, learned from the log."""

from __future__ import annotations

import pytest

from verikit.probes.logs.hosts import learned
from verikit.probes.logs.story import Story

MESSAGES = (
    "step {n} | loss 2.{n}",
    "[INFO] saving at {n}",
    "Traceback (most recent call last):",
    "    main()",
    "eta {n} s",
)


def lines(*names: str, rounds: int = 8) -> bytes:
    said = [message.format(n=n) for n in range(rounds) for message in MESSAGES]
    return "\n".join(f"{names[n % len(names)]}: {words}" for n, words in enumerate(said)).encode()


@pytest.mark.parametrize(
    "names", [("n00", "n04"), ("10.4.0.4", "10.4.0.9"), ("c1.cluster.local",), ("atlas",), ("gpu-b3",)]
)
def test_learned(names):
    """
    A name before `: ` on most lines is an envelope, whatever its spelling, and the line's source.
    """
    story = Story()
    story.feed(1, lines(*names))

    line = story.undress(1, f"{names[0]}: ValueError: no".encode())

    assert (line.text, line.source, line.dressed) == ("ValueError: no", names[0], ["host"])


def test_of_the_same_shape():
    """
    A host that has said little has its name taken off as well, where others are spelled as it is.
    """
    story = Story()
    story.feed(1, lines("n00", "n01") + b"\nn77: the only line of it")

    assert story.undress(1, b"n77: x").text == "x"


@pytest.mark.parametrize(
    "text",
    [
        b"\n".join(b"wandb: step %d" % n for n in range(40)),
        b"\n".join(b"INFO: step %d\nINFO: saved\nINFO: eta\nINFO: lr" % n for n in range(40)),
        b"\n".join(b"%05d.jsonl: %d documents kept" % (n, n) for n in range(40)),
        b"\n".join(b"loss: %d\nlr: 1\nacc: 2\ntime: 3" % n for n in range(40)),
        b"\n".join(b"llama_model_loader: - kv %d\nprint_info: n_layer = %d\nload_tensors: %d" % (n, n, n) for n in range(40)),
        b"\n".join(b"0.%d: kept" % n for n in range(40)),
        b"\n".join(b"step %d loss 1" % n for n in range(40)) + b"\nn01: a\nn01: b\nn01: c",
        b"",
    ],
    ids=["tool", "level", "files", "figures", "functions", "numbers", "few", "empty"],
)  # fmt: skip
def test_not_learned(text):
    """
    Names of tools, levels, files, figures and functions stay: they are part of what is said.
    """
    story = Story()
    story.feed(1, text)

    assert story.hosts == []


def test_looks_at_the_beginning_only():
    """
    What is learned costs the same, however long the log is: its first 64 KiB are looked at.
    """
    asked = []

    learned(lines("n00", rounds=20000), lambda name: bool(asked.append(name)))

    assert len(asked) < 5000
