# ruff: noqa: E501
"""What a look at a log costs, beside scanners that only search: `python benchmarks/logs.py`.

CPU time of one process on a synthetic healthy log (Megatron steps, rank prefixes, access lines, throughput lines, bars
drawn with carriage returns, near misses) with one true failure at its end.  Peers search the same bytes for 60 literals in
the same run; those not installed are skipped.
"""

from __future__ import annotations

import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from verikit.probes.logs import watch
from verikit.probes.place import Place

LITERALS = [
    "Traceback (most recent call last)", "CUDA out of memory", "OutOfMemoryError", "ModuleNotFoundError", "ImportError",
    "No space left on device", "Disk quota exceeded", "Permission denied", "Address already in use", "Connection refused",
    "Segmentation fault", "core dumped", "Killed process", "oom_kill", "oom-kill", "Bus error", "NVRM: Xid", "fallen off the bus",
    "uncorrectable ECC", "illegal memory access", "device-side assert", "unspecified launch failure", "ncclSystemError",
    "ncclRemoteError", "Watchdog caught collective", "DistBackendError", "ChildFailedError", "EngineDeadError", "ActorDiedError",
    "RayTaskError", "DUE TO TIME LIMIT", "DUE TO PREEMPTION", "DUE TO NODE FAILURE", "command not found", "undefined symbol",
    "cannot open shared object", "Too many open files", "size mismatch for", "Missing key(s)", "401 Client Error", "GatedRepoError",
    "loss: nan", "grad norm: nan", "Current loss scale already at minimum", "RESOURCE_EXHAUSTED", "DEADLINE_EXCEEDED",
    "PermissionError", "FileNotFoundError", "MemoryError", "RuntimeError:", "ValueError:", "KeyError:", "AssertionError",
    "EADDRINUSE", "RendezvousConnectionError", "client socket has timed out", "Shard process was signaled", "panicked at",
    "GGML_ASSERT", "SafetensorError",
]  # fmt: skip
FAILURE = b"""Traceback (most recent call last):
  File "/home/u/train.py", line 88, in <module>
    main()
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.
"""


def healthy(size: int, seed: int = 7) -> bytes:
    """A log of about `size` bytes as a trainer and a server beside it would write it."""
    rng, rows, total, n = random.Random(seed), [], 0, 0
    while total < size:
        n += 1
        loss, tokens = 3 - n % 1000 / 1000 + rng.random() / 9, rng.randrange(1000, 9000)
        clock = f"{n // 3600 % 24:02d}:{n // 60 % 60:02d}:{n % 60:02d}"
        forms = (
            f" [2025-10-02 {clock}.466077] iteration {n:8d}/  500000 | consumed samples: {n * 1024:12d} | elapsed time per iteration (ms): {2300 + rng.random() * 30:.1f} | learning rate: 2.987123E-04 | global batch size:  1024 | lm loss: {loss:.6E} | loss scale: 1.0 | grad norm: {rng.random():.3f} | number of skipped iterations:   0 | number of nan iterations:   0 |",
            f"[rank{n % 8}]: step {n} loss {loss:.4f} mem 71.3GiB tok/s {tokens}",
            f'(APIServer pid=1) INFO:     10.4.0.{n % 250}:{tokens} - "POST /v1/chat/completions HTTP/1.1" 200 OK',
            f"INFO 10-30 {clock} [loggers.py:127] Engine 000: Avg prompt throughput: {tokens}.6 tokens/s, Avg generation throughput: 688.3 tokens/s, Running: 4 reqs, Waiting: 0 reqs",
            "".join(f"\rTraining:  {k}%|##   | {n + k}/50000 [00:12<01:40,  1.20s/it]" for k in range(4)),
            f"2025-10-02 {clock} INFO gen: done={n}/10000 failed=0 error_rate=0.0 nan_to_num=True errors=0",
        )
        row = forms[rng.choices(range(6), (30, 30, 15, 10, 10, 5))[0]]
        rows.append(row)
        total += len(row) + 1
    return "\n".join(rows).encode() + b"\n"


def cpu(job: Callable[[], object], rounds: int = 5) -> float:
    """Seconds of CPU, the median of some rounds."""
    spent = []
    for _ in range(rounds):
        start = time.process_time()
        job()
        spent.append(time.process_time() - start)
    return statistics.median(spent)


def child_cpu(argv: list[str]) -> float:
    """Seconds of CPU that a program takes."""
    before = os.times()
    subprocess.run(
        argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, env={**os.environ, "LC_ALL": "C"}
    )
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def look(path: pathlib.Path) -> dict[str, object]:
    """One look as LogHealthy asks for it."""
    facts: dict[str, object] = watch.inspect(Place(), str(path))
    return facts


def peak(path: pathlib.Path) -> int:
    """MiB that a look adds to a bare interpreter, in a process of its own."""
    code = (
        "import re, sys; from verikit.probes.logs import watch; from verikit.probes.place import Place\n"
        "peak = lambda: int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read()).group(1))\n"
        "before = peak(); watch.inspect(Place(), sys.argv[1]); print((peak() - before) // 1024)"
    )
    return int(
        subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True).stdout
    )


def peers(path: pathlib.Path, folder: pathlib.Path) -> list[tuple[str, float]]:
    """CPU seconds of scanners that search the whole file for the literals."""
    words = folder / "words"
    words.write_text("\n".join(LITERALS))
    rows = [("grep -F -f 60", child_cpu(["grep", "-a", "-n", "-F", "-f", str(words), str(path)]))]
    if shutil.which("rg"):
        rows.append(("ripgrep -F -f 60", child_cpu(["rg", "-a", "-n", "-F", "-j1", "-f", str(words), str(path)])))
    else:
        print("ripgrep: not installed, skipped")
    pattern = re.compile("|".join(map(re.escape, LITERALS)).encode())
    data = path.read_bytes()[: 16 << 20]
    scale = path.stat().st_size / len(data)
    rows.append(("re alternation of 60", scale * cpu(lambda: sum(1 for _ in pattern.finditer(data)), 1)))
    return rows


def waiting(path: pathlib.Path, reads_on: bool, rounds: int = 40) -> tuple[float, int, int]:
    """CPU seconds and bytes read of one round at a log that grows by 20 kB a round, and the bytes kept for the next one."""
    body = healthy(4 << 20)
    path.write_bytes(body[: 3 << 20])
    resume: dict[str, object] | None = {} if reads_on else None
    read, begun = 0, time.process_time()
    for n in range(rounds):
        with path.open("ab") as file:
            file.write(body[(3 << 20) + n * 20_000 : (3 << 20) + (n + 1) * 20_000])
        facts = watch.inspect(Place(), str(path), resume=resume)
        read, resume = read + facts["coverage"]["read"], facts["resume"] if reads_on else None
    return (time.process_time() - begun) / rounds, read // rounds, len(json.dumps(resume))


def main() -> None:
    """Prints the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        print("one round of a waiting claim, a log of 3 to 4 MB:")
        for words, reads_on in (("read anew", False), ("read on", True)):
            spent, read, kept = waiting(folder / "growing.log", reads_on)
            print(f"  {words:32} {spent * 1000:9.1f} ms   {read:,} bytes read, {kept if reads_on else 0:,} kept")
        for label, body, goal in (
            ("1 MiB", healthy(1 << 20), 0.030),
            ("64 MiB", healthy(4 << 20) * 16, 1.0),
            ("one 5 MB line", b"x step 3 " * 555_555, 0.100),
        ):
            path = folder / "job.log"
            path.write_bytes(body + b"\n" + FAILURE)
            failure = look(path)["text"]["failure"]  # type: ignore[index]
            assert failure["kind"] == "cuda_oom", failure
            ours = cpu(lambda path=path: look(path))  # type: ignore[misc]
            print(f"\n{label}: {len(body):,} bytes, {body.count(10):,} lines; memory {peak(path)} MiB")
            print(f"  {'LogHealthy (verdict and cause)':32} {ours * 1000:9.1f} ms   goal {goal * 1000:.0f} ms")
            for peer, spent in peers(path, folder):
                print(f"  {peer:32} {spent * 1000:9.1f} ms   {spent / ours:6.2f} x")


if __name__ == "__main__":
    main()
