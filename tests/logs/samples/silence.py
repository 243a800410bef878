# ruff: noqa: E501, UP031
"""Logs that only stop: gone without a word, stuck, waiting."""

from __future__ import annotations

from logs.samples.kit import ACCEL, JSONL, LOGURU, MAXTEXT, TITAN, VLLM_UP, add, bars, steps

add(
    "vanished-mid-line",
    "died_silently",
    steps(TITAN) + "\n[titan] 2025-05-05 10:01:02 - root - INFO - step: 3",
    alive=False,
    idle=900,
)
add(
    "vanished-loading",
    "died_silently",
    "INFO 10-21 09:11:09 [api_server.py:1839] vLLM API server version 0.11.0",
    bars("Loading safetensors checkpoint shards", 6, 17),
    alive=False,
    idle=900,
)
add(
    "vanished-after-epoch-bar", "died_silently", bars("Epoch 1", 50, 50), bars("Epoch 2", 12, 50), alive=False, idle=900
)
add("frozen-steps", "hung", steps(LOGURU), idle=7200)
add(
    "frozen-init",
    "hung",
    "node-1:70:71 [0] NCCL INFO Bootstrap : Using eth0",
    "node-1:70:71 [0] NCCL INFO ncclCommInitRank comm 0x55 rank 0 nranks 8 - Init START",
    idle=3000,
    kind="stuck_init",
)
add(
    "frozen-save",
    "hung",
    steps(LOGURU),
    "2025-05-05 10:01:02.123 | INFO     | trainer.ckpt:save:12 - saving checkpoint to /ckpt/step_30",
    idle=7200,
    kind="stuck_checkpoint",
)
add(
    "heartbeats-only",
    "hung",
    steps(LOGURU),
    *[
        f"2025-05-05 {11 + n // 60:02d}:{n % 60:02d}:00.123 | INFO     | monitor:beat:3 - heartbeat {n} ok, alive for {n} min"
        for n in range(90)
    ],
    kind="stuck_step",
)
add(
    "zero-throughput",
    "hung",
    VLLM_UP,
    *[
        "(APIServer pid=7) INFO 10-21 10:1%d:31 [loggers.py:127] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 0.0 tokens/s, Running: 12 reqs, Waiting: 3 reqs, GPU KV cache usage: 41.0%%"
        % n
        for n in range(10)
    ],
    '(APIServer pid=7) INFO:     10.0.0.1:1234 - "GET /health HTTP/1.1" 200 OK',
    kind="stuck_step",
)
add(
    "retry-no-times",
    "hung",
    *["connection to tracker failed, retrying (%d)" % n for n in range(1, 400)],
    kind="retry_loop",
)
add(
    "step-repeats",
    "hung",
    steps(LOGURU),
    *[
        f"2025-05-05 {10 + n // 60:02d}:{n % 60:02d}:30.123 | INFO     | trainer.loop:run:88 - step 30 | loss=2.7000"
        for n in range(2, 90)
    ],
    kind="stuck_step",
)
add("vanished-jsonl", "died_silently", steps(JSONL), alive=False, idle=600)
add(
    "vanished-with-warnings",
    "died_silently",
    steps(ACCEL),
    "2025-05-05 10:01:03,1 - WARNING - data - slow batch",
    alive=False,
    idle=600,
)
add(
    "vanished-saving",
    "died_silently",
    steps(ACCEL),
    "2025-05-05 10:01:03,1 - INFO - ckpt - saving checkpoint to /ckpt/30",
    alive=False,
    idle=600,
)
add("hung-bar-zero", "hung", "loading", "\rTraining:   0%|          | 0/1000 [00:00<?, ?it/s]", idle=5400)
add(
    "hung-elapsed-timer",
    "hung",
    steps(ACCEL),
    *[
        f"2025-05-05 {10 + n // 60:02d}:{n % 60:02d}:30,123 - INFO - monitor - elapsed: {n} min, gpu util 100%"
        for n in range(2, 90)
    ],
    kind="stuck_step",
)
add(
    "frozen-eval",
    "hung",
    steps(LOGURU),
    "2025-05-05 10:01:05.1 | INFO     | trainer.eval:run:9 - running evaluation",
    idle=7200,
)
add("vanished-done-phase", "died_silently", "Preprocessing done.", steps(LOGURU), alive=False, idle=900)
add("vanished-epoch-complete", "died_silently", "Epoch 1 complete", steps(LOGURU, 1, 20), alive=False, idle=900)
add("deadlock-py-spy", "hung", steps(LOGURU), idle=4000)
add(
    "stuck-with-utils-lines",
    "hung",
    steps(ACCEL),
    *[
        f"2025-05-05 {10 + n // 60:02d}:{n % 60:02d}:30,123 - INFO - gpu - mem 61.2GiB util 100% temp 61C"
        for n in range(2, 90)
    ],
    kind="stuck_step",
)
add("sigkill-at-eval", "died_silently", *[f"[{n}/900] ok" for n in range(1, 30)], "[30/9", alive=False, idle=900)
add(
    "vanish-press-ctrl-c",
    "died_silently",
    "Serving on port 8000, press ctrl-c to stop",
    "graceful shutdown timeout: 30 s",
    "loading model",
    alive=False,
    idle=600,
)
add(
    "vanish-after-total-time",
    "died_silently",
    "model loaded. Total time: 3.2 s",
    "starting generation",
    "prompt 1/900",
    alive=False,
    idle=600,
)
add("vanish-complete-shards", "died_silently", bars("Loading checkpoint shards", 4, 4), alive=False, idle=600)
add(
    "vanish-eval-epoch",
    "died_silently",
    *[f"epoch {e} step {n} loss 2.0" for e in range(2) for n in range(1, 9)],
    "epoch 1 done in 12.1s, val loss 2.1",
    "epoch 2 step 1 loss 1.9",
    alive=False,
    idle=600,
)
add(
    "vanish-after-save",
    "died_silently",
    steps(ACCEL),
    "2025-05-05 10:01:05,123 - INFO - ckpt - saved checkpoint to /out/30",
    alive=False,
    idle=600,
)
add("hung-gpu-100", "hung", "[rank0]: step 10 loss 2.1", "[rank0]: step 11 loss 2.1", idle=3600)
add("vanish-maxtext", "died_silently", steps(MAXTEXT), alive=False, idle=600)
add(
    "vanish-between-epochs",
    "died_silently",
    *[f"epoch {e} start\n" + "\n".join(f"  batch {n}/12 loss 0.{e}{n}" for n in range(1, 13)) for e in range(1, 8)],
    "epoch 7 complete, evaluating",
    alive=False,
    idle=600,
)
add(
    "vanish-on-the-tenth-of-october",
    "died_silently",
    *[
        f"10/10 06:01:{n:02d} - mmengine - INFO - Epoch(train)  [1][{n * 50:4d}/7330]  loss: 1.{n:02d}"
        for n in range(40)
    ],
    alive=False,
    idle=600,
)
