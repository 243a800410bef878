"""Encodings, ends of lines, and files that are no log."""

from __future__ import annotations

import random

from logs.samples.kit import NANO, OOM, TITAN, add, steps, trace

UTF_16 = (
    "\ufeff"
    + "\r\n".join(trace("ModuleNotFoundError: No module named 'deepspeed'").replace("@@", "").split("\n"))
    + "\r\n"
)
FRENCH = "démarrage\n" + steps(NANO)
CUT_DOWN = steps(NANO) + "\n" + trace(OOM)
COLOURED = "\n".join("\x1b[36m" + row + "\x1b[0m" for row in steps(TITAN).split("\n"))

add(
    "utf-16",
    "failed",
    trace("ModuleNotFoundError: No module named 'deepspeed'"),
    alive=False,
    kind="import_error",
    data=UTF_16.encode("utf-16-le"),
)
add("utf-16-no-bom", "running", steps(NANO), data=steps(NANO).encode("utf-16-le"))
add("crlf", "running", steps(TITAN), data=steps(TITAN).replace("\n", "\r\n").encode())
add("latin-1", "running", FRENCH, data=FRENCH.encode("latin-1"))
add("nul-hole", "running", "x", steps(NANO), data=b"\0" * 50000 + b"x\n" + steps(NANO).encode())
add(
    "crlf-trace",
    "failed",
    CUT_DOWN,
    alive=False,
    kind="cuda_oom",
    data=CUT_DOWN.replace("@@", "").replace("\n", "\r\n").encode(),
)
add("elf", "unreadable", "", data=b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 20)
add("ansi", "running", steps(TITAN), data=COLOURED.encode())
add("nohup-only", "empty", "nohup: ignoring input", alive=False)
add("random-bytes", "unreadable", "", data=random.Random(4).randbytes(40000))
add(
    "safetensors-over-the-log",
    "unreadable",
    "",
    data=(40).to_bytes(8, "little") + b'{"__metadata__": {"format": "pt"}}      ' + b"text " * 99,
)
