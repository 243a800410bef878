"""What verikit costs before it does anything: its import beside others', and `verify` of an object in memory.

    python benchmarks/start.py

CPU time of `import X` in a fresh interpreter, less the bare interpreter's; then microseconds of `verify` for a leaf whose
probe does nothing. Medians; goals: import <= 60 ms, overhead <= 200 us.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time

RUNS = 15
MODULES = ["verikit", "attrs", "asyncio", "asyncssh", "rich.console", "numpy"]
MEASURE = """
import resource, sys, json
for name in sys.argv[1:]:
    __import__(name)
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, len(sys.modules)]))
"""


def cost(*names: str) -> list[float]:
    """Medians of CPU seconds, MiB and modules of an interpreter that imports these."""
    runs = []
    for _ in range(RUNS):
        done = subprocess.run([sys.executable, "-c", MEASURE, *names], capture_output=True, check=True, text=True)
        runs.append(json.loads(done.stdout))
    return [statistics.median(column) for column in zip(*runs, strict=True)]


def imports() -> None:
    bare, memory, count = cost()
    floor = cost("attrs")[0] - bare
    print(f"{'import':<14}{'CPU ms':>8}{'x attrs':>9}{'MiB':>7}{'modules':>9}")
    for name in MODULES:
        cpu, used, modules = cost(name)
        ratio = (cpu - bare) / floor
        print(f"{name:<14}{(cpu - bare) * 1000:>8.1f}{ratio:>9.2f}{used - memory:>7.1f}{modules - count:>9.0f}")


def overhead() -> None:
    import attrs

    from verikit import PASS, Check, Finding, Look, verify
    from verikit.values import Live

    def nothing(place, subject):
        return True

    @attrs.frozen(repr=False)
    class Trivial(Check):
        subject: object = attrs.field(converter=Live)

        def look(self):
            return Look(nothing, subject=self.subject)

        def judge(self, facts):
            return Finding(PASS, "fine")

    leaf = Trivial([])
    both = Trivial([]) & Trivial([])
    many = Trivial([])
    for _ in range(99):
        many = many & Trivial([])
    print(f"\n{'verify in memory':<24}{'us':>9}{'us a leaf':>11}")
    for title, check, leaves in [("one leaf", leaf, 1), ("two, with &", both, 2), ("a hundred, with &", many, 100)]:
        runs = []
        for _ in range(300):
            started = time.perf_counter()
            verify(check)
            runs.append((time.perf_counter() - started) * 1e6)
        print(f"{title:<24}{statistics.median(runs):>9.1f}{statistics.median(runs) / leaves:>11.1f}")


if __name__ == "__main__":
    imports()
    overhead()
