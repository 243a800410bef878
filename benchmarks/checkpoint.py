"""CheckpointIntact beside what people use: loaders, scanners, sums. `python benchmarks/checkpoint.py`

1. structure of sparse 16 GiB files: milliseconds and bytes read, Python being up;
2. structure by number of tensors;
3. every byte of 1 GiB in the page cache: GB per second of wall and of CPU, beside reading + CRC alone, unzip -t and sums;
   with and without the scan for NaN and Inf, and with a SHA-256 in the same pass;
4. peak memory of a look, above the interpreter's.

Peers that are not installed are left out with a line.  Ratios are of one run; on a shared machine only they mean something.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from verikit.probes import checkpoint, content, crc, manifest
from verikit.probes.formats import zipfile_directory
from verikit.probes.formats.layout import Layout, Window
from verikit.probes.formats.torch_zip import fold
from verikit.probes.place import Place

GIB = 1 << 30
PLACE = Place()


# Files.


def sparse_safetensors(path: Path, gib: int) -> Path:
    """`gib` tensors of 1 GiB each, of zeros that take no room."""
    rows = {
        f"layers.{n}.weight": {"dtype": "BF16", "shape": [1 << 14, 1 << 15], "data_offsets": [n * GIB, n * GIB + GIB]}
        for n in range(gib)
    }
    header = json.dumps(rows).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(8 + len(header) + gib * GIB)
    return path


def sparse_torch(path: Path, gib: int) -> Path:
    """torch's own file of `gib` tensors of 1 GiB, its records holes; the CRCs are put in as torch would have for zeros."""
    state = {f"layers.{n}.weight": torch.empty(1 << 14, 1 << 15, dtype=torch.bfloat16) for n in range(gib)}
    with torch.serialization.skip_data():
        torch.save({"model_state_dict": state, "step": 20000}, path)
    _sign(path)
    return path


def _sign(path: Path) -> None:
    """Fills in the CRCs of records that are holes, and the fold over them."""
    with open(path, "r+b") as file:
        size = file.seek(0, 2)
        found = zipfile_directory.directory(Window(file, size), Layout(str(path), size))
        crcs = [entry.crc or (zero_crc(entry.size) if entry.size else 0) for entry in found.entries]
        identity = next(at for at, entry in enumerate(found.entries) if entry.name.endswith("serialization_id"))
        rest = [
            each
            for at, (entry, each) in enumerate(zip(found.entries, crcs, strict=True))
            if entry.size and at != identity
        ]
        file.seek(found.starts[identity])
        text = file.read(40)[:20] + b"%020d" % fold(rest)
        file.seek(found.starts[identity])
        file.write(text)
        crcs[identity] = zlib.crc32(text)
        by_name = dict(zip([entry.name for entry in found.entries], crcs, strict=True))
        for entry, start in zip(found.entries, found.starts, strict=True):
            if entry.size:
                file.seek(start + entry.stored + 4)
                file.write(struct.pack("<I", by_name[entry.name]))
        file.seek(found.offset)
        table = bytearray(file.read(sum(46 + len(entry.name.encode()) + 64 for entry in found.entries)))
        at = 0
        while table[at : at + 4] == b"PK\1\2":
            n, m, k = struct.unpack_from("<3H", table, at + 28)
            struct.pack_into("<I", table, at + 16, by_name[table[at + 46 : at + 46 + n].decode()])
            at += 46 + n + m + k
        file.seek(found.offset)
        file.write(table)


def zero_crc(size: int) -> int:
    """The CRC-32 of so many zeros."""
    value, block, power = 0, zlib.crc32(b"\0"), 1
    while size:
        if size & 1:
            value = crc.combine(value, block, power)
        block, power, size = crc.combine(block, block, power), power * 2, size >> 1
    return value


# Measuring.


def best(act: Callable[[], object], repeats: int = 5) -> tuple[float, float]:
    """(seconds of wall, seconds of CPU): the medians of so many runs."""
    walls, cpus = [], []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        act()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return statistics.median(walls), statistics.median(cpus)


def row(name: str, *columns: str) -> None:
    print(f"  {name:<46}" + "".join(f"{column:>16}" for column in columns))


def looked(path: Path, depth: str = "structure", **options: object) -> dict:
    facts = checkpoint.inspect(PLACE, str(path), depth, **options)
    assert not facts["faults"], facts["files"]
    return facts


def structure(folder: Path) -> None:
    print("\nstructure of sparse files (goal: ≤ 50 ms, ≤ 1 MiB read)")
    row("", "ms", "bytes read")
    for make, suffix in ((sparse_torch, ".pt"), (sparse_safetensors, ".safetensors")):
        for gib in (1, 16):
            path = make(folder / f"sparse{gib}{suffix}", gib)
            wall, _ = best(lambda path=path: looked(path))
            row(f"verikit, {gib} GiB {suffix}", f"{wall * 1e3:.1f}", f"{looked(path)['read']:,}")
    wall, _ = best(lambda: torch.load(folder / "sparse16.pt", mmap=True, weights_only=True))
    row("torch.load(mmap, weights_only), 16 GiB .pt", f"{wall * 1e3:.1f}")
    wall, _ = best(lambda: list(safe_open(folder / "sparse16.safetensors", "pt").keys()))
    row("safe_open().keys(), 16 GiB .safetensors", f"{wall * 1e3:.1f}")
    _scanners(folder / "sparse16.pt")


def _scanners(path: Path) -> None:
    for tool in ("picklescan", "modelscan"):
        beside = Path(sys.executable).parent / tool
        program = str(beside) if beside.exists() else shutil.which(tool)
        if program:
            began = time.perf_counter()
            subprocess.run([program, "-p", str(path)], capture_output=True, check=False)
            row(f"{tool}, 16 GiB .pt (with its start)", f"{(time.perf_counter() - began) * 1e3:.0f}")
        else:
            print(f"  {tool} is not installed: left out")


def by_tensors(folder: Path) -> None:
    print("\nstructure by number of tensors (goal: 100,000 in ≤ 2 s)")
    row("", ".pt ms", "CPU ms", "legacy ms", "CPU ms", ".safetensors ms", "CPU ms")
    for count in (1_000, 10_000, 100_000):
        state = {f"model.layers.{n}.mlp.down_proj.weight": torch.zeros(2, 3) for n in range(count)}
        torch.save({"model_state_dict": state}, folder / "many.pt")
        torch.save({"model_state_dict": state}, folder / "legacy.pt", _use_new_zipfile_serialization=False)
        save_file(state, folder / "many.safetensors")
        columns = []
        for name in ("many.pt", "legacy.pt", "many.safetensors"):
            wall, cpu = best(lambda name=name: looked(folder / name), 3)
            columns += [f"{wall * 1e3:.0f}", f"{cpu * 1e3:.0f}"]
        row(f"{count:,}", *columns)


def every_byte(folder: Path) -> None:
    print("\nevery byte of 1 GiB in the page cache (goal: ≥ 0.8 × reading + CRC alone on one thread, ≥ 1.6 × on two)")
    function, by = crc.fastest(PLACE)
    row(f"CRC-32 by {by}", "GB/s", "GB/CPU-s", "× the floor")
    torch.save({f"w{n}": torch.randn(16, 1 << 20) for n in range(16)}, folder / "full.pt")
    torch.save({f"w{n}": (0.02 * torch.randn(32, 1 << 20)).bfloat16() for n in range(16)}, folder / "weights.pt")
    for name, words in (("full.pt", "float32"), ("weights.pt", "bfloat16 weights")):
        path = folder / name
        acts = {"reading + CRC alone, one thread": lambda path=path: _floor(path, function)}
        acts["reading + CRC alone, two threads"] = lambda path=path: _floor_by_halves(path, function)
        for threads in (1, 2):
            for finite in (False, True):
                title = f"verikit, {words}, {threads} thread{'s' * (threads > 1)}{', finite' * finite}"
                acts[title] = lambda path=path, threads=threads, finite=finite: _on(threads, path, finite=finite)
        _beside_each_other(path, acts)
    print("\nthe same with a SHA-256 of the whole (goal: one read, and no slower than the SHA-256 alone)")
    path = folder / "full.pt"
    acts = {"hashlib.sha256 alone, one thread": lambda: _hash(path)}
    acts["verikit, digest=, 1 thread"] = lambda: _sealed(1, path)
    acts["verikit, digest=, finite, 2 threads"] = lambda: _sealed(2, path, finite=True)
    _beside_each_other(path, acts)
    for argv in (["unzip", "-tqq"], ["sha256sum"], ["b3sum"]):
        if not shutil.which(argv[0]):
            print(f"  {argv[0]} is not installed: left out")
            continue
        wall, _ = best(lambda argv=argv: subprocess.run([*argv, str(path)], capture_output=True, check=False), 3)
        row(" ".join(argv), f"{path.stat().st_size / wall / 1e9:.2f}")


def _beside_each_other(path: Path, acts: dict[str, Callable[[], object]], rounds: int = 7) -> None:
    """Rows of medians; each act once a round, so that a neighbour's load falls on all of them. The first is the floor."""
    walls: dict[str, list[float]] = {name: [] for name in acts}
    cpus: dict[str, list[float]] = {name: [] for name in acts}
    for _ in range(rounds):
        for name, act in acts.items():
            wall, cpu = best(act, 1)
            walls[name].append(wall)
            cpus[name].append(cpu)
    size, floor = path.stat().st_size / 1e9, statistics.median(next(iter(walls.values())))
    for name in acts:
        wall, cpu = statistics.median(walls[name]), statistics.median(cpus[name])
        row(name, f"{size / wall:.2f}", f"{size / cpu:.2f}", f"{floor / wall:.2f}")


def _on(threads: int, path: Path, **options: object) -> dict:
    content.THREADS = threads
    return looked(path, "content", **options)


def _sealed(threads: int, path: Path, **options: object) -> dict:
    content.THREADS = threads
    own = {"path": "", "size": None, "digests": {"sha256": "0" * 64}}
    form = {"schema": manifest.SCHEMA, "source": "digest", "files": [own], "complete": False}
    facts = manifest.inspect(PLACE, str(path), "content", expected=[{"manifest": form}], **options)
    assert facts["measured"][0]["read"] == 0  # in the one pass
    return facts


def _hash(path: Path) -> str:
    buffer, digest = memoryview(bytearray(content.block_of(PLACE))), hashlib.sha256()
    with open(path, "rb", buffering=0) as file:
        while got := file.readinto(buffer):
            digest.update(buffer[:got])
    return digest.hexdigest()


def _floor(path: Path, function: Callable[..., int], first: int = 0, last: int = sys.maxsize) -> int:
    block, value, at = content.block_of(PLACE), 0, first
    buffer = content.Buffer(block)
    fd = os.open(path, os.O_RDONLY)
    try:
        while at < last and (got := os.preadv(fd, [view := buffer.part(at, min(block, last - at))], at)):
            value, at = function(view[:got], value), at + got
    finally:
        os.close(fd)
    return value


def _floor_by_halves(path: Path, function: Callable[..., int]) -> None:
    """The same by two threads, a half each: what the machine has to give, whoever asks."""
    half = path.stat().st_size // 2
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda part: _floor(path, function, *part), [(0, half), (half, 2 * half)]))


MEMORY = """
import sys
from verikit.probes import checkpoint
from verikit.probes.place import Place
if sys.argv[3] == "finite":
    Place().accelerator("numpy")
def peak():  # ru_maxrss starts with that of whoever forked
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
before = peak()
checkpoint.inspect(Place(), sys.argv[1], sys.argv[2], finite=sys.argv[3] == "finite")
print((peak() - before) / 1024)
"""


def memory(folder: Path) -> None:
    print("\npeak memory above the interpreter (goal: ≤ 64 MiB at any size)")
    row("", "MiB")
    for name, depth, finite in (
        ("sparse16.pt", "structure", ""),
        ("full.pt", "content", ""),
        ("full.pt", "content", "finite"),
        ("many.pt", "structure", ""),
        ("many.pt", "content", "finite"),
        ("legacy.pt", "structure", ""),
        ("legacy.pt", "content", "finite"),
        ("many.safetensors", "structure", ""),
    ):
        argv = [sys.executable, "-c", MEMORY, str(folder / name), depth, finite]
        out = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
        row(f"{name}, {depth} {finite}", f"{float(out):.0f}")


def main() -> None:
    print(
        f"Python {sys.version.split()[0]}, torch {torch.__version__}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        structure(folder)
        by_tensors(folder)
        every_byte(folder)
        memory(folder)


if __name__ == "__main__":
    main()
