# ruff: noqa: E501
"""Starts again and again, parts of a script that go on without what died, records that say what was done, and fences of other forms."""

from __future__ import annotations

import json

from logs.samples.kit import add, steps, trace

# A server that a supervisor starts anew each time it dies: of the same, with nothing in between, or not.


def start(minute: int, error: str = "") -> str:
    """One start of a server, up to its death by an error; without one it is still loading."""
    rows = [
        f"web-1  | [2025-12-03 09:{minute:02d}:10] server_args=ServerArgs(model_path='/models/m', tp_size=1, port=30000)",
        f"web-1  | [2025-12-03 09:{minute:02d}:24 TP0] Init torch distributed begin.",
        f"web-1  | [2025-12-03 09:{minute:02d}:27 TP0] Load weight begin. avail mem=78.60 GB",
    ]
    if error:
        rows += [
            f"web-1  | [2025-12-03 09:{minute:02d}:40 TP0] Scheduler hit an exception: Traceback (most recent call last):",
            'web-1  |   File "/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py", line 2869, in run_scheduler_process',
            "web-1  |     scheduler = Scheduler(",
            f"web-1  | {error}",
            "web-1  | ",
            "web-1 exited with code 137 (restarting)",
        ]
    return "\n".join(rows)


DAMAGED = (
    "safetensors_rust.SafetensorError: Error while deserializing header: incomplete metadata, file not fully covered"
)
LATER = "RuntimeError: Cannot connect to host 10.0.0.4:5000 ssl:default [Connection refused]"
READY = "web-1  | [2025-12-03 09:50:00] The server is fired up and ready to roll!"

fallen = [start(n, DAMAGED) for n in (1, 2, 3)]
fallen[-1] = "\n".join(("@@" if DAMAGED in line else "") + line for line in fallen[-1].split("\n"))
add("starts-that-die-alike", "failed", *fallen, start(4), kind=("checkpoint_mismatch",))
add("two-starts-that-die", "starting", start(1, DAMAGED), start(2, DAMAGED), start(3))
add("starts-that-die-otherwise", "starting", start(1, DAMAGED), start(2, LATER), start(3, DAMAGED), start(4))
add("starts-that-died-and-one-is-up", "ready", *[start(n, DAMAGED) for n in (1, 2, 3)], start(4), READY)

# A script whose parts go on without the program that died.

HF = "\n".join(f"{{'loss': {1.8 - n / 50:.4f}, 'grad_norm': 0.7{n:02d}, 'learning_rate': 1.8e-04, 'epoch': {n / 50:.2f}}}" for n in range(1, 13))  # fmt: skip
PARTS = ["=== [3/5] export", "merge: no adapter in out/final, nothing to do", "=== [4/5] upload", "upload: ./out/README.md to s3://models/README.md", "=== [5/5] tell", "All done! The model is published."]  # fmt: skip
CRASH = trace("ValueError: Unable to create a tensor of rows of other lengths")
add(
    "parts-go-on-without-the-training",
    "failed",
    "=== [1/5] tokenize",
    "=== [2/5] train",
    HF,
    CRASH,
    *PARTS,
    alive=False,
)
add(
    "stages-go-on-without-a-program",
    "failed",
    "[stage 1/3] copying the dataset",
    "[stage 2/3] training",
    "@@/var/spool/slurmd/job219334/slurm_script: line 47: torchrun: command not found",
    "[stage 2/3] done in 0 s",
    "[stage 3/3] evaluation of runs/b2/last.pt",
    trace("FileNotFoundError: [Errno 2] No such file or directory: 'runs/b2/last.pt'").replace("@@", ""),
    "==== epilog: job 219334 ended, exit code 1:0 ====",
    alive=False,
    kind=("command_not_found",),
)

# Records that say what was done about a failure, and those that don't.


def record(ev: str, lv: str = "I", **more: object) -> str:
    """A record of a server, as a line."""
    return json.dumps({"t": "2025-08-02T07:30:35.941Z", "lv": lv, "ev": ev, **more})


MISSING = "FileNotFoundError: [Errno 2] No such file or directory: '/adapters/de/adapter_config.json'"
UP = record("hub.ready", listen="0.0.0.0:5055")
for name, told in (("optional", {"optional": True}), ("action", {"action": "skip"}), ("not-fatal", {"fatal": False})):
    add(f"record-{name}", "ready", record("hub.start"), record("adapter.failed", "E", err=MISSING, **told), UP)
add("record-untold", "failed", record("hub.start"), "@@" + record("adapter.failed", "E", err=MISSING), alive=False)
add("record-action-ends-it", "failed", record("hub.start"), "@@" + record("adapter.failed", "E", err=MISSING, action="abort"), alive=False)  # fmt: skip


# Fences of other forms around what is generated; headings that open none.

SLURM = (
    "slurmstepd: error: Detected 1 oom_kill event in StepId=88112.batch. Some of the step tasks have been OOM Killed."
)
SAMPLES = (
    "Segmentation fault (core dumped)",
    SLURM,
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB",
)
for n, words in enumerate(SAMPLES):
    add(f"fence-angles-{n}", "running", steps("step {n} loss {loss} {t}"), "<<<", words, ">>>", "step 99 loss 1.9")
    rows = [f"[11-08 02:{m:02d}:07.763] grpo step {m} reward 0.3{m:02d} kl 0.003" for m in range(10, 20)]
    ruled = ["[11-08 02:30:07.763] grpo ----- sample (step 16, prompt 2828, reward 0.0) -----", words, "[11-08 02:30:07.773] grpo ----- end sample -----"]  # fmt: skip
    add(f"fence-behind-a-time-{n}", "running", *rows, *ruled)
    shown = ["    sample 2 -> FAILED", "    --- stderr of candidate ---", f"    {words}", "    --- end ---"]
    add(f"fence-of-a-candidate-{n}", "running", *rows, *shown)
    never = ["[11-08 02:30:07.763] grpo ----- generation config -----", "[11-08 02:30:08.000] grpo max_new_tokens 512", "@@" + words]  # fmt: skip
    add(f"heading-that-opens-nothing-{n}", "failed", *rows, *never, alive=False)
