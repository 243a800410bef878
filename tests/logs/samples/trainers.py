# ruff: noqa: E501
"""Trainers that start, run and save: the frameworks' own lines."""

from __future__ import annotations

from logs.samples.kit import (
    ACCEL,
    FACTORY,
    FAIRSEQ,
    JSONL,
    KERAS,
    LOGURU,
    MAXTEXT,
    NANO,
    OOM,
    TITAN,
    VERL,
    add,
    bars,
    steps,
    trace,
)

add("titan", "running", steps(TITAN))
add("nanogpt", "running", steps(NANO))
add("verl", "running", steps(VERL))
add("maxtext", "running", steps(MAXTEXT))
add("factory", "running", "***** Running training *****", steps(FACTORY, last=60))
add("fairseq", "running", steps(FAIRSEQ))
add("axolotl-cr", "running", "loading", bars("train", 40, 1000))
add("jsonl", "running", steps(JSONL))
add("loguru", "running", steps(LOGURU))
add(
    "second-run-after-crash",
    "starting",
    "nohup: ignoring input",
    "loading",
    trace("ModuleNotFoundError: No module named 'peft'").replace("@@", ""),
    "nohup: ignoring input",
    "loading model",
    alive=True,
)
add(
    "checkpoint-pause",
    "running",
    steps(LOGURU),
    "2025-05-05 10:01:02.123 | INFO     | trainer.ckpt:save:12 - saving checkpoint to /ckpt/step_30",
    idle=300,
)
add("slow-steps", "running", steps(LOGURU, last=8, every=900), idle=1500)
add(
    "startup-compile",
    "starting",
    "INFO 10-21 09:11:09 [api_server.py:1839] vLLM API server version 0.11.0",
    "INFO 10-21 09:11:50 [backends.py:548] Compiling a graph for dynamic shape",
    idle=400,
)
add("unknown-process", "running", steps(TITAN), alive=None)
add("keras", "running", KERAS)
XGB = "\n".join(f"[{n}]\ttrain-rmse:0.{900 - n}\teval-rmse:0.{930 - n}" for n in range(60))
add("xgboost", "running", XGB)
NEMO = "Training epoch 0, iteration {n}/999 | lr: 0.0003 | global_batch_size: 512 | global_step: {n} | reduced_train_loss: {loss} | train_step_timing in s: 5.1"
add("nemo", "running", steps(NEMO))
ORLHF = "[36m(ActorModelRayActorBOX pid=3131)[0m \rTrain epoch [1/1]:  {pct}%|#  | {n}/1000 [00:11<10:00,  1.20s/it, pg=0.01, rm=0.3]"
add("openrlhf", "running", steps(ORLHF))
add("accelerate", "running", steps(ACCEL))
DIFF = "Steps:   {pct}%|▏         | {n}/1000 [00:31<10:00,  1.01s/it, lr=1e-5, step_loss=0.1]"
add("diffusers-cr", "running", steps(DIFF).replace("\n", "\r"))
YOLO = "      {n}/1000      7.1G      1.2      0.9      1.1         31        640: 100%|##########| 100/100 [00:10<00:00,  9.9it/s]"
add("yolo", "running", steps(YOLO))
SB3 = "| time/              |          |\n|    iterations      | {n}      |\n|    total_timesteps | {n}000    |"
add("sb3", "running", steps(SB3))
add(
    "long-eval-pause",
    "running",
    steps(LOGURU),
    "2025-05-05 10:01:05.1 | INFO     | trainer.eval:run:9 - running evaluation",
    idle=420,
)
add(
    "second-run-other-banner",
    "running",
    "==== run 1 started Sun Jun  1 11:00:00 UTC 2025 ====",
    "epoch 1 step 1 loss 2.0",
    trace(OOM).replace("@@", ""),
    "==== run 2 started Sun Jun  1 12:00:00 UTC 2025 ====",
    *[f"epoch 1 step {n} loss 2.0" for n in range(1, 9)],
)
add(
    "second-run-no-banner-restart-counter",
    "running",
    *[f"step {n} loss 2.0" for n in range(1, 30)],
    trace(OOM).replace("@@", ""),
    "Loading config train.yaml",
    *[f"step {n} loss 2.0" for n in range(1, 9)],
)
add(
    "second-run-same-first-line",
    "starting",
    "Loading config train.yaml",
    "Building model",
    trace(OOM).replace("@@", ""),
    "Loading config train.yaml",
    "Building model",
    alive=True,
)
add(
    "long-checkpoint-save",
    "running",
    steps(ACCEL),
    "2025-05-05 10:01:05,123 - INFO - trainer - Saving model checkpoint to /out/checkpoint-30",
    idle=700,
)
add(
    "xla-slow-compile",
    "running",
    steps(MAXTEXT),
    "2025-05-05 10:02:00.1: E external/xla/xla/service/slow_operation_alarm.cc:65] Constant folding an instruction is taking > 1s:",
    "2025-05-05 10:02:09.1: E external/xla/xla/service/slow_operation_alarm.cc:133] The operation took 9.1s",
    steps(MAXTEXT, 31, 32),
)
add("step-zero-only", "running", "step 0 loss 10.2", idle=20)
add("loss-zero-forever", "running", *[f"step {n} loss 0.0000 lr 1e-5" for n in range(1, 30)])
add("one-epoch-of-many-steps", "running", steps(FAIRSEQ, 1, 400, every=6))
