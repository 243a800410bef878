"""Where an import can be put into a Python file."""

from __future__ import annotations

from typing import Any

from verikit.check import Look
from verikit.probes.imports import look as probe
from verikit.values import path as as_path


def safe_lines(path: Any, *, on: Any = None) -> Any:
    """Where an import can go: the (first, last) ranges of lines at which one at column 0 leaves everything else as it is.

    A list for this host; with `on`, a dict of lists by host name.  Computed once from the file's tree, which is not run.
    Raises Unseen where a host or the file can't be seen, or the file does not parse.
    """
    from verikit.verify import ask

    answers = {
        host: [tuple(each) for each in rows]
        for host, rows in ask(Look(probe.safe_lines, path=as_path(path)), on=on).items()
    }
    return answers if on is not None else next(iter(answers.values()))
