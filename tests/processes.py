"""Facts about real processes, for tests."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path


def until(holds: Callable[[], bool], seconds: float = 5.0) -> bool:
    """Whether it comes to hold: for facts about real processes, which no clock of ours can turn."""
    ends = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > ends:
            return False
        time.sleep(0.005)
    return True


def running(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def noted(note: str | os.PathLike[str]) -> list[int]:
    """The process numbers that a look has written, once it has."""
    assert until(lambda: os.path.exists(note)), "the look did not start"
    return [int(word) for word in Path(note).read_text().split()]
