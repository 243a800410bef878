# ruff: noqa: E501
"""Good ends, and what looks like one."""

from __future__ import annotations

from logs.samples.kit import DOCS, LOGURU, NANO, SGL_UP, TITAN, VLLM_UP, add, bars, steps, trace

add(
    "lightning-done", "finished", bars("Epoch 1", 50, 50), "`Trainer.fit` stopped: `max_epochs=2` reached.", alive=False
)
add(
    "megatron-done",
    "finished",
    steps(" iteration {n:8d}/    1000 | consumed samples: 1 | lm loss: {loss} | loss scale: 1.0 | grad norm: 0.2 |"),
    "[after training is done] datetime: 2025-05-05 11:00:00",
    "saving checkpoint at iteration 30",
    "  successfully saved checkpoint at iteration 30",
    alive=False,
)
add(
    "ordered-stop-trace",
    "finished",
    VLLM_UP,
    "(APIServer pid=7) INFO 10-21 10:00:00 [launcher.py:99] Received SIGTERM, shutting down",
    "(APIServer pid=7) INFO:     Shutting down",
    "\n".join(
        "(EngineCore_DP0 pid=99) " + r
        for r in trace(
            "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause."
        )
        .replace("@@", "")
        .split("\n")
    ),
    alive=False,
)
add(
    "ctrl-c",
    "finished",
    SGL_UP,
    "[2025-05-05 10:00:24] The server is fired up and ready to roll!",
    "^C[2025-05-05 11:00:24] INFO:     Shutting down",
    trace("KeyboardInterrupt").replace("@@", ""),
    alive=False,
)
add(
    "exit-warnings",
    "finished",
    steps(TITAN),
    "Training finished, best loss 2.1",
    "[rank0]:[W505 11:00:00.1 ProcessGroupNCCL.cpp:1250] Warning: WARNING: destroy_process_group() was not called before program exit, which can leak resources.",
    "Exception ignored in: <function _ConnectionBase.__del__ at 0x7f>",
    trace("OSError: [Errno 9] Bad file descriptor").replace("@@", ""),
    alive=False,
)
add(
    "wandb-end",
    "finished",
    steps(NANO),
    "wandb: 🚀 View run vivid-sun-3 at: https://wandb.ai/x",
    "wandb: Find logs at: ./wandb/run-1/logs",
    alive=False,
)
add("job-completed", "finished", steps(NANO), "[2025-05-05 11:00:00] Job completed successfully", alive=False)
add(
    "saved-last",
    "finished",
    steps(TITAN, 1, 30),
    "Saving final model to /out",
    "Model saved to /out/final",
    "All done!",
    alive=False,
)
add(
    "sigterm-trainer",
    "finished",
    steps(LOGURU),
    "2025-05-05 10:03:00.1 | WARNING  | trainer:on_signal:3 - Received signal 15 (SIGTERM), checkpointing and exiting",
    "2025-05-05 10:03:09.1 | INFO     | trainer:save:9 - checkpoint saved to /ckpt/30",
    alive=False,
)
add(
    "finished-then-atexit",
    "finished",
    steps(NANO),
    "Done.",
    "Error in atexit._run_exitfuncs:",
    trace("BrokenPipeError: [Errno 32] Broken pipe").replace("@@", ""),
    alive=False,
)
add(
    "finished-then-tcpstore",
    "finished",
    steps(NANO),
    "training done, saved to /out",
    "[rank3]:[W505 11:00:00.1 TCPStore.cpp:125] [c10d] recvValue failed on SocketImpl(fd=70, addr=[n1]:4411, remote=[n0]:29500): failed to recv, got 0 bytes",
    '[rank3]:[W505 11:00:00.1 ProcessGroupNCCL.cpp:1653] [PG ID 0 PG GUID 0 Rank 3] Failed to check the "should dump" flag on TCPStore, (maybe TCPStore server has shut down too early), with error: failed to recv, got 0 bytes',
    alive=False,
)
add("healthy-exit-code-0", "finished", "starting", "work", "Process finished with exit code 0", alive=False)
add(
    "interrupted-at-the-keyboard",
    "finished",
    steps(NANO),
    "^CTraceback (most recent call last):",
    '  File "/w/train.py", line 300, in <module>',
    "KeyboardInterrupt",
    alive=False,
)
for number, line in enumerate(
    (
        "total size is 118,262,110,882  speedup is 1.00",
        "[100%] Built target _C",
        "#13 naming to docker.io/library/t:1 done",
        "INFO:hf-to-gguf:Model successfully exported to /m/f16.gguf",
        "2025-05-05 10:02:00 backup completed OK, 0 errors, 31 files, 1.2 GB",
        "[2025-05-05 10:02:00,101] [INFO] [axolotl.cli.preprocess] [PID:7] [RANK:0] Success! Preprocessed data path: `x`",
        "98 passed, 1 skipped, 1 xfailed in 31.44s",
        "Apply complete! Resources: 31 added, 0 changed, 0 destroyed.",
        "model written to /out/m.npz",
        "### DONE ###",
        "Total training time: 0:31:12",
        "copied 120 files, 31.2 GB, 0 errors",
        "early stopping: no improvement",
    )
):
    add(f"good-end-{number}", "finished", steps(DOCS), line, alive=False)
for number, line in enumerate(
    (
        "saving checkpoint to out/400",
        "2025-05-05 10:02:00 INFO checkpoint saved to out/400.pt",
        "2025-05-05 10:02:00 INFO epoch 3 finished, val loss 1.2",
        "2025-05-05 10:02:00 INFO wrote shard 00004 (3.0 GB, 0 errors)",
        "2025-05-05 10:02:00 INFO cuda graph capture finished",
        "2025-05-05 10:02:00 INFO phase 1 complete, starting phase 2",
        "2025-05-05 10:02:00 INFO Successfully loaded model",
    )
):
    add(f"no-end-{number}", "died_silently", steps(DOCS), line, alive=False, idle=600)
LEFT = "".join(f"step {n}/1000 loss {2.5 - n / 1000:.3f}\n" for n in range(0, 400, 10))
PLAIN = "".join(f"step {n} loss {2.5 - n / 1000:.3f}\n" for n in range(0, 400, 10))
NEARLY = "".join(f"step {n}/1000 loss {2.5 - n / 1000:.3f}\n" for n in range(0, 1000, 10))
for number, (before, line) in enumerate(
    (
        (LEFT, "early stopping triggered at step 390"),
        (LEFT, "2025-05-05 10:02:00 INFO Early stopping at epoch 9"),
        (LEFT, "EarlyStopping: Training stopped early as no improvement observed in last 100 epochs."),
        (LEFT, "Monitored metric val_loss did not improve in the last 3 records. Signaling Trainer to stop."),
        (LEFT, "early stopping triggered at step 390\nfinal eval_loss: 1.93"),
        (PLAIN, "final eval_loss: 1.93"),
        (PLAIN, "2025-05-05 10:02:00 INFO final perplexity: 12.3"),
        (PLAIN, "{'final_loss': 1.93}"),
        (NEARLY, "final eval_loss: 1.93, final eval_acc: 0.81"),
        ("fetching the archive\n", "Download complete."),
    )
):
    add(f"end-of-training-{number}", "finished", before, line, alive=False)
BEGUN = "INFO world size 8, optimizer AdamW\nINFO downloading the data set\n"
for number, (before, line) in enumerate(
    (
        (LEFT, "final eval_loss: 1.93"),
        (PLAIN, "eval_loss: 1.93"),
        (PLAIN, "early stopping patience: 5"),
        (PLAIN, "EarlyStopping counter: 3 out of 5"),
        (PLAIN, "final norm: 1.2"),
        (PLAIN, "early stopping triggered at step 390\nsaving final checkpoint"),
        (PLAIN, "final eval_loss: 1.93\nSaving model to out/final"),
        (PLAIN, "download complete"),
        (BEGUN, "download complete"),
        (BEGUN, "2025-05-05 10:02:00 INFO Successfully downloaded 3 files"),
        (BEGUN, "tokenization complete"),
        ("INFO vLLM API server version 0.9\n", "Download complete."),
    )
):
    add(f"no-end-of-training-{number}", "died_silently", before, line, alive=False, idle=600)
