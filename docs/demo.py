"""The main job on real files: three stories over real SSH, on three embedded hosts that need no root.

`make demo` runs it. It ends with exit status 0 only if every verdict is the expected one, and leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import asyncssh
import torch
from safetensors.torch import save_file

from verikit import (
    FAIL,
    PASS,
    CheckpointIntact,
    ImportConflict,
    LogHealthy,
    Session,
    SyntaxValid,
    TensorShapeSane,
    mark,
)
from verikit.testing import embedded_ssh_hosts
from verikit.text import seconds
from verikit.text import size as show_size

surprises: list[str] = []


def expect(verdict, report, title):
    """Prints a report, and notes it if its verdict is not the one that was meant."""
    print(f"\n── {title}")
    report.show()
    if report.verdict is not verdict:
        surprises.append(f"{title}: expected {verdict}, got {report.verdict}")
    return report


# 1. A patch is injected into a model file before a server is restarted.


def model_file(lines=2000):
    """A model file of 2,000 lines: licence, docstring, imports up to line 23, then classes."""
    head = ["# Copyright of a made-up model."] * 12
    head += ['"""Inference-only model."""', "", "from __future__ import annotations", "", "import logging"]
    head += ["import math", "from typing import Optional", "", "import os.path", ""]
    head += ["logger = logging.getLogger(__name__)"]
    assert len(head) == 23
    body = []
    layer = 0
    while len(head) + len(body) < lines - 1:
        body += ["", "", f"class Layer{layer}:", '    """One layer."""', ""]
        body += ["    def forward(self, x: Optional[float]):"]
        body += [f"        return math.sqrt(x or {layer}.0)"]
        layer += 1
    return [*head, *body][: lines - 1]


def patched_file(session, host, folder):
    path = folder / "deepseek_like.py"
    lines = model_file()
    patched = [*lines[:23], "import os as _os_hs", *lines[23:]]
    path.write_text("\n".join(patched) + "\n")
    claim = ImportConflict(path.name) & ImportConflict(path.name, name="_os_hs") & SyntaxValid(path.name)
    expect(
        PASS,
        session.verify(claim, on=host),
        "1a. `import os as _os_hs` became line 24 of 2,000: clean, and valid there",
    )

    path.write_text("\n".join([*patched, "", "_os_hs = None", "", "", "def root():", "    return _os_hs.sep"]) + "\n")
    report = expect(FAIL, session.verify(ImportConflict(path.name), on=host), "1b. a later line rebinds _os_hs")
    if "24" not in report.deciding.reason or str(len(patched) + 2) not in report.deciding.reason:
        surprises.append(f"1b: both lines are named; got {report.deciding.reason}")


# 2. A data-generation script is launched, and its log watched.

STARTS = """
import time
print("loading tokenizer", flush=True)
for n in range(1, 200):
    print(f"{n}/200 samples", flush=True)
    time.sleep(0.1)
"""

DIES = """
import time
print("loading tokenizer", flush=True)
time.sleep(1.5)
import a_module_that_nobody_installed
"""


def launch(host, script, log):
    """Starts a script with nohup over SSH, as a person would, and gives its pid."""

    async def main():
        options = {"client_keys": list(host.keys), "known_hosts": host.known_hosts, "config": None}
        async with asyncssh.connect(host.host, host.port, username=host.user, **options) as connection:
            line = f"nohup {sys.executable} -u {script} > {log} 2>&1 < /dev/null & echo $!"
            return int((await connection.run(line, check=True)).stdout)

    return asyncio.run(main())


def watched_job(session, host, folder):
    for title, source, verdict in [
        ("2a. the job starts well", STARTS, PASS),
        ("2b. the job dies of a missing module: the verdict comes then, not at the deadline", DIES, FAIL),
    ]:
        script, log = folder / f"datagen_{verdict}.py".lower(), folder / f"inference_{verdict}.log".lower()
        script.write_text(source)
        before = mark(log.name, on=host)
        pid = launch(host, script.name, log.name)
        started = LogHealthy(log.name, ready=r"\d+/\d+ samples", since=before, process=pid)
        report = expect(verdict, session.verify(started.eventually(within=15, every=0.5), on=host), title)
        if report.root.duration > 12:
            surprises.append(f"{title}: it took {seconds(report.root.duration)}")


# 3. A checkpoint is relayed host A -> here -> host B; hidden states are dumped.


def relay(source, target, *, drop=0):
    """Copies a file as a pipe would, without its last `drop` bytes; gives the seconds it took."""
    started = time.monotonic()
    with source.open("rb") as read, target.open("wb") as write:
        left = source.stat().st_size - drop
        while left:
            write.write(block := read.read(min(1 << 20, left)))
            left -= len(block)
    return time.monotonic() - started


def relayed_checkpoint(session, a, b, folder_a, here, folder_b):
    script = here / "eval_drafter.py"
    script.write_text("import torch\n\n\ndef main(path):\n    return torch.load(path, weights_only=True)\n")
    original = folder_a / "checkpoint_step20k.pt"
    layers = {f"layers.{n}.weight": torch.randn(1024, 4096) for n in range(13)}
    torch.save({"model_state_dict": layers, "step": 20_000}, original)
    size = original.stat().st_size
    arrived = folder_b / "checkpoint_step20k.pt"
    for title, drop, verdict in [("3a. relayed whole", 0, PASS), ("3b. relayed, and cut on the way", 5_000_000, FAIL)]:
        took = relay(original, here / "relay.pt") + relay(here / "relay.pt", arrived, drop=drop)
        claim = SyntaxValid(script.name) & CheckpointIntact(arrived.name, size=size).on(b)
        before = session.moved
        report = expect(verdict, session.verify(claim), title)
        moved = session.moved - before
        print(f"{show_size(arrived.stat().st_size)} relayed in {seconds(took)}; ", end="")
        print(f"judged in {seconds(report.root.duration)} with {show_size(moved)} moved over SSH")

    states = folder_a / "hidden_states.safetensors"
    dump = {f"layer_{n}": torch.randn(37, 512).to(torch.bfloat16) for n in (3, 31, 59)}
    save_file(dump, states)
    spec = {f"layer_{n}": "bf16[tokens 512]" for n in (3, 31, 59)}
    expect(PASS, session.verify(TensorShapeSane(states.name, spec), on=a), "3c. hidden states of layers 3, 31 and 59")
    save_file({**dump, "layer_59": dump["layer_59"][:36].float()}, states)
    expect(FAIL, session.verify(TensorShapeSane(states.name, spec), on=a), "3d. one layer is a token short, and fp32")


def everywhere(session, embedded):
    """One claim, every place: the script in each host's own HOME."""
    for host in embedded.hosts:
        (host.home / "eval_drafter.py").write_text("def main(path):\n    return path\n")
    report = session.verify(SyntaxValid("eval_drafter.py"), on=embedded.addresses)
    expect(PASS, report, "3e. the same claim on all three hosts")


def main() -> int:
    folder, back = Path(tempfile.mkdtemp(prefix="verikit-demo-")), Path.cwd()
    try:
        os.chdir(folder)  # relative paths: each host's begin in its own home, this machine's here
        with embedded_ssh_hosts(3, folder / "hosts") as embedded, Session() as session:
            a, b, _ = embedded.addresses
            home_a, home_b, _ = (host.home for host in embedded.hosts)
            print(f"three embedded SSH hosts, {', '.join(map(str, embedded.addresses))}, in {folder}")
            patched_file(session, a, home_a)
            watched_job(session, a, home_a)
            relayed_checkpoint(session, a, b, home_a, folder, home_b)
            everywhere(session, embedded)
    finally:
        os.chdir(back)
        shutil.rmtree(folder, ignore_errors=True)
    for line in surprises:
        print(f"UNEXPECTED  {line}")
    print("\nevery verdict was the expected one" if not surprises else f"\n{len(surprises)} unexpected")
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
