"""TensorShapeSane beside hand code, jaxtyping, chex and beartype; headers beside safetensors; values beside torch.

python benchmarks/tensors.py [megabytes of the value scan]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one thread is one thread

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from verikit import TensorShapeSane
from verikit.probes import scan, tensors
from verikit.probes.place import Place
from verikit.spec.compiled import Constants, compile_spec
from verikit.spec.quick import quick
from verikit.spec.rows import Entry

KNOWN = {torch.float32: "f32"}
MEGABYTES = int(sys.argv[1]) if len(sys.argv) > 1 else 512


def best(act: Callable[[], Any], repeats: int, inner: int = 1) -> float:
    """Seconds of one call, the least of several runs: other work on the machine only adds."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        for _ in range(inner):
            act()
        times.append((time.perf_counter() - started) / inner)
    return min(times)


def row(what: str, seconds: float, note: str = "", unit: str = "us") -> None:
    scale = {"us": 1e6, "ms": 1e3}[unit]
    print(f"  {what:<58}{seconds * scale:>9.2f} {unit}  {note}")


def peers(x: torch.Tensor) -> dict[str, Callable[[], Any]]:
    """What other libraries ask of one tensor, where they are installed."""
    found: dict[str, Callable[[], Any]] = {}
    try:
        from jaxtyping import Float

        named, fixed = Float[torch.Tensor, "b s h"], Float[torch.Tensor, "2 5 64"]
        found["jaxtyping isinstance, named dims"] = lambda: isinstance(x, named)
        found["jaxtyping isinstance, fixed dims"] = lambda: isinstance(x, fixed)
    except ImportError:
        print("  (jaxtyping is not installed)")
    try:
        import chex

        found["chex assert_shape"] = lambda: chex.assert_shape(x, (2, 5, 64))
    except ImportError:
        print("  (chex is not installed)")
    try:
        from typing import Annotated

        from beartype.door import is_bearable
        from beartype.vale import Is

        hint = Annotated[torch.Tensor, Is[lambda t: t.dtype is torch.float32] & Is[lambda t: t.ndim == 3]]
        found["beartype is_bearable, dtype and rank"] = lambda: is_bearable(x, hint)
    except ImportError:
        print("  (beartype is not installed)")
    try:
        import tensorguard  # noqa: F401
    except ImportError:
        print("  (tensorguard is not installed)")
    return found


def one_tensor() -> None:
    print("one [2, 5, 64] tensor that passes")
    x = torch.zeros(2, 5, 64)
    hand = best(lambda: x.shape == (2, 5, 64) and x.dtype is torch.float32, 200, 200)
    row("hand code, fixed dims", hand)
    for spec in ("f32[2 5 64]", "f32[b s h]"):
        compiled = compile_spec(f"x: {spec}", None)
        constants = Constants(compiled, None, "")

        def core(compiled: Any = compiled, constants: Any = constants) -> Any:
            return quick(compiled, [Entry("", "x", tensors.dtype_name(x.dtype), x.shape)], constants)

        assert core() is not None
        row(f"verikit, compiled spec {spec}", best(core, 200, 100), "goal: at most 10 us a tensor, with named dims")
    check = TensorShapeSane({"x": x}, {"x": "f32[b s h]"})
    look = check.look()
    row(
        "verikit, look and judge with its Finding",
        best(lambda: check.judge(look.function(None, **look.arguments)), 200, 50),
    )
    for name, act in peers(x).items():
        row(name, best(act, 100, 50))
    many = {f"t{k}": torch.zeros(2, 5, 64) for k in range(100)}
    for spec in ("f32[2 5 64]", "f32[b s h]"):
        compiled = compile_spec("\n".join(f"{name}: {spec}" for name in many), None)
        constants = Constants(compiled, None, "")

        def each(compiled: Any = compiled, constants: Any = constants) -> Any:
            entries = [Entry("", name, KNOWN[t.dtype], t.shape) for name, t in many.items()]
            return quick(compiled, entries, constants)

        assert each() is not None
        a_tensor = best(each, 100, 5) / 100
        note = (
            f"hand code + {(a_tensor - hand) * 1e6:.2f} us; goal: at most + 2" if "2 5" in spec else "goal: at most 10"
        )
        row(f"verikit, {spec}, a tensor of a hundred", a_tensor, note)


def state_dict() -> None:
    print("a state dict of 1,000 tensors, look and judge")
    state = {f"model.layers.{i}.w{j}.weight": torch.zeros(2, 64) for i in range(100) for j in range(10)}
    for name, spec in (
        ("a thousand names", dict.fromkeys(state, "f32[o h]")),
        ("one pattern", {"model.layers.{i:0..99}.w{j:0..9}.weight": "f32[o h]"}),
    ):
        check = TensorShapeSane(state, spec)
        look = check.look()
        row(
            name, best(lambda c=check, k=look: c.judge(k.function(None, **k.arguments)), 20), "goal: at most 5 ms", "ms"
        )


def headers(folder: Path) -> None:
    print("headers of 732 tensors")
    path = folder / "headers.safetensors"
    save_file({f"model.layers.{k}.weight": torch.zeros(64, 1024, dtype=torch.bfloat16) for k in range(732)}, path)

    def peer() -> None:
        with safe_open(path, "pt") as file:
            for name in file.keys():  # noqa: SIM118 - it is no mapping
                part = file.get_slice(name)
                part.get_shape(), part.get_dtype()

    theirs = best(peer, 15)
    ours = best(lambda: tensors.inspect(Place(), str(path)), 15)
    row("safe_open and get_slice", theirs, "", "ms")
    row("verikit's probe, facts folded", ours, f"{ours / theirs:.2f} x; goal: at most 3 x", "ms")
    print(f"  facts on the wire: {len(json.dumps(tensors.inspect(Place(), str(path)))):,} bytes of JSON")


def scanned(path: Path, offset: int, nbytes: int, dtype: str, predicate: list[Any], count: int) -> None:
    with open(path, "rb") as file:
        tensor = scan.Stored(dtype, (count,), scan.file_blocks(file, offset, nbytes, scan.WIDTH[dtype]))
        verdict, words = scan.judge(np, tensor, [predicate])[0]
        assert verdict, words


def values(folder: Path) -> None:
    print(f"values of {MEGABYTES} MiB, one thread, from the page cache; every run maps the file anew")
    torch.set_num_threads(1)
    for name, dtype in (("bf16", torch.bfloat16), ("f32", torch.float32), ("f16", torch.float16)):
        width = scan.WIDTH[name]
        count = (MEGABYTES << 20) // width
        path = folder / f"{name}.bin"
        block = torch.randn((64 << 20) // width).to(dtype).view(torch.uint8).numpy().tobytes()
        with open(path, "wb") as file:
            for start in range(0, count * width, len(block)):
                file.write(block[: count * width - start])

        def mapped(p: str = str(path), n: int = count, d: torch.dtype = dtype) -> torch.Tensor:
            return torch.from_file(p, shared=False, size=n, dtype=d)

        finite = best(lambda m=mapped: torch.isfinite(m()).all(), 3)
        # In turns, so that what else the machine does meets both alike.
        turns = [
            (
                best(lambda m=mapped: torch.aminmax(m()), 1),
                best(lambda p=path, d=name, n=count: scanned(p, 0, n * scan.WIDTH[d], d, ["finite"], n), 1),
            )
            for _ in range(15)
        ]
        reference, ours = map(min, zip(*turns, strict=True))
        rate = count * width / ours / 1e9
        row(f"{name}: torch.aminmax over the mapped bytes", reference, "", "ms")
        row(f"{name}: torch.isfinite().all()", finite, "", "ms")
        row(
            f"{name}: verikit, finite",
            ours,
            f"{rate:.1f} GB/s; {reference / ours:.2f} x aminmax (goal 0.8), {finite / ours:.1f} x isfinite (goal 15)",
            "ms",
        )


MEMORY = """
import json, sys, threading
from verikit.probes import values
from verikit.probes.place import Place
place = Place(); place.accelerator("numpy")


def resident():  # all of it, and what of it are pages of files, which the system takes back when it wants them
    rows = dict(line.split(":") for line in open("/proc/self/status") if ":" in line)
    return [int(rows[key].split()[0]) / 1024 for key in ("VmRSS", "RssFile")]


def watch():
    while not over.wait(0.0005):
        seen.append(resident())


# What is resident now, not the greatest that it ever was: the import's peak would hide what the scan takes.
before, seen, over = resident(), [resident()], threading.Event()
watcher = threading.Thread(target=watch)
watcher.start()
facts = values.stored(place, sys.argv[1], [[json.loads(sys.argv[2]), [["big.safetensors", name] for name in "abcd"]]])
over.set(); watcher.join()
assert facts["held"] == 4, facts
print(max(rss for rss, _ in seen) - before[0], max(rss - file for rss, file in seen) - before[0] + before[1], len(seen))
"""


def memory(folder: Path) -> None:
    print("memory: what is resident while a file is scanned, above what was before, by samples every half millisecond")
    part = torch.randn(MEGABYTES << 17).to(torch.bfloat16)
    save_file({name: part.clone() for name in "abcd"}, folder / "big.safetensors")
    for word, wanted in {"finite": ["finite"], "rms 0..9": ["rms", "..", 0, 9]}.items():
        command = [sys.executable, "-c", MEMORY, str(folder), json.dumps(wanted)]
        answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        rss, own = float(answer[0]), float(answer[1])
        print(
            f"  {word:<9} over {MEGABYTES} MiB: {rss:.1f} MiB, of which {own:.1f} are not pages of the file"
            f"   ({answer[2]} samples; goal: at most 64 and one block)"
        )


if __name__ == "__main__":
    print(
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; the least of several runs; torch {torch.__version__}"
    )
    one_tensor()
    state_dict()
    with tempfile.TemporaryDirectory() as name:
        headers(Path(name))
        values(Path(name))
        memory(Path(name))
