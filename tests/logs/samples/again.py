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

# Ends that are none, and ends that are.

DONE = [
    json.dumps({"level": "info", "msg": "shard done", "shard": n, "rows": 40000 + n, "errors": 0})
    for n in range(381, 400)
]
FULL = [json.dumps({"level": "error", "msg": "upload part failed", "shard": 400, "attempt": n, "error": "StorageFull: minimum free drive threshold reached"}) for n in (1, 2, 3)]  # fmt: skip
LATE = [
    json.dumps({"level": "error", "msg": "shard failed", "shard": 400, "error": "put part-400: retries exhausted"}),
    json.dumps({"level": "warn", "msg": "shard cancelled", "shard": 401, "error": "context canceled"}),
    json.dumps({"level": "info", "msg": "final metrics pushed", "shards_done": 399}),
    json.dumps({"level": "fatal", "msg": "export aborted", "error": "1 of 512 shards failed (first: 400)"}),
]
add(
    "fatal-behind-the-final-metrics", "failed", *DONE, "@@" + FULL[0], *FULL[1:], *LATE, alive=False, kind=("no_space",)
)

BARS = "\n".join(f"{n}|600|Loss: 2.{n}: 100%|##########| 600/600 [07:30<00:00, 1.33it/s]" for n in range(1, 7))
STAGES = ["[stage 1/2] warm: tune run", BARS, "[stage 1/2] warm: completed successfully", "[stage 2/2] anneal: tune run --config anneal.yaml", "INFO:torchtune.utils:Instantiating the model"]  # fmt: skip
add("last-stage-only-begun", "died_silently", *STAGES, alive=False)

UPLOADS = [f"[push 20:{n:02d}:00] processed {n * 4:2d}/96   failed this round: 0" for n in range(1, 25)]
TORN = ["Exception ignored in atexit callback: <function _exit_function at 0x7fa1c40a5ee0>", "ConnectionResetError: [Errno 104] Connection reset by peer"]  # fmt: skip
add(
    "ignored-at-exit-without-a-traceback",
    "finished",
    *UPLOADS,
    "[push 20:25:00] commit 77ac01e - finished",
    *TORN,
    alive=False,
)

COPY = ["sending incremental file list", "a/model.safetensors", "", "sent 7,686 bytes  received 9 bytes  85.1 bytes/sec", "total size is 82,749  speedup is 4.11"]  # fmt: skip
BROKEN = ["sending incremental file list", "rsync: [sender] write error: Broken pipe (32)", "rsync error: error in rsync protocol data stream (code 12) at io.c(848) [sender=3.2.7]"]  # fmt: skip
add("copied-again-and-status-ok", "finished", *COPY, *BROKEN, "backup: rc=12, going again", *COPY, "backup: 2 of 2 in sync", "backup: end, status OK", alive=False)  # fmt: skip
add("copied-again-and-status-failed", "failed", *COPY, *BROKEN, "backup: rc=12, going on", *COPY, "backup: end, status FAILED", alive=False)  # fmt: skip

ROWS = [
    f"   ERROR row {n}: score=nan -> quarantined\n06:0{n % 10}:00 {n * 1000} rows read, {n} bad" for n in range(1, 9)
]
add("verdict-pass-with-tallies-of-none", "finished", *ROWS, "   rows ok      8000", "   unreadable     0", "   exceptions     0", "verdict: PASS, manifest written to out/_VALIDATED", alive=False)  # fmt: skip

# Work that was taken up again counts from where it was saved, in a sentence of no table.

RANK = "[rank13]: Traceback (most recent call last):\n[rank13]:   File \"pretrain.py\", line 655, in <module>\n[rank13]:     main(cfg)\n[rank13]: torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:268, remote process exited"  # fmt: skip
AGENT = "I1016 22:07:11.577000 3310 torch/distributed/elastic/agent/server/api.py:893] [default] Worker group FAILED. 3/3 attempts left; will restart worker group"  # fmt: skip


def iterations(first: int, last: int) -> str:
    """Lines of a trainer, each ten iterations."""
    return "\n".join(f"22:05:{n % 60:02d}.200 | it {n:7d} | lm 2.6{n % 90:02d} | 0.42 s/it | skipped 0" for n in range(first, last, 10))  # fmt: skip


add("restarted-from-where-it-was-saved", "running", iterations(5010, 5230), RANK, AGENT, iterations(5210, 5500))
add("restarted-and-nothing-came", "failed", iterations(5010, 5230), RANK.replace("[rank13]: torch", "@@[rank13]: torch"), AGENT, alive=False)  # fmt: skip
