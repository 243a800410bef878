"""Whole logs that tell what failed in words of their own, or in those of a program no table has; and such as only sound so.

`in_own_words.txt` has them as they are written; `behind_a_crash.txt` what looks like progress, an end, an excuse or a fence
beside a crash; `no_pass.txt` and `no_pass_again.txt` what once passed and must not.  A heading
`##### name | state | alive | idle`, then the lines.  Marks of root lines as in `kit`; `<steps FIRST LAST> form` stands for
that many lines of a counter, with {n}, {t} (a clock) and {loss}.
"""

from __future__ import annotations

import re
from pathlib import Path

from logs.samples.kit import add, steps

STEPS = re.compile(r"<steps (\d+) (\d+)(?: @([\d:]+)\+(\d+))?> (.*)")
ALIVE = {"1": True, "0": False, "?": None}


def _lines(body: str) -> list[str]:
    rows: list[str] = []
    for row in body.split("\n"):
        found = STEPS.match(row)
        if found:
            first, last, start, every, form = found.groups()
            rows += steps(form, int(first), int(last), start=start or "10:00:00", every=int(every or 3)).split("\n")
        else:
            rows.append(row)
    return rows


def _load(path: Path, prefix: str) -> None:
    for part in re.split(r"(?m)^##### ", path.read_text(encoding="utf-8"))[1:]:
        heading, text = part.split("\n", 1)
        name, state, alive, idle = (word.strip() for word in heading.split("|"))
        add(prefix + name, state, *_lines(text.rstrip("\n")), alive=ALIVE[alive], idle=float(idle))


_load(Path(__file__).with_suffix(".txt"), "words-")
_load(Path(__file__).with_name("behind_a_crash.txt"), "behind-")
_load(Path(__file__).with_name("no_pass.txt"), "no-pass-")
_load(Path(__file__).with_name("no_pass_again.txt"), "no-pass-again-")
