# ruff: noqa: E501
"""What is let go of by the line behind it, what each part of a script died of, live jobs behind a full counter, and levels of other loggers."""

from __future__ import annotations

from logs.samples.kit import add, steps, trace

STEPS = steps("step {n} loss {loss} {t}")

# Let go of by the next line, and not.

CHOICE = (
    "OutOfMemoryError: out of resource: triton_mm Required: 147456 Hardware limit:101376 Reducing block sizes may help."
)
COMPILING = ["INFO 05-06 07:40:54 [backends.py:430] Dynamo bytecode transform time: 14.69 s", "AUTOTUNE mm(8192x2048, 2048x5120)"]  # fmt: skip
add("choice-that-is-ignored", "starting", *COMPILING, CHOICE, "Ignoring this choice.", "INFO 05-06 07:40:56 [backends.py:136] Cache the graph of shape None for later use")  # fmt: skip
MAKE = ["make[1]: Entering directory '/home/ml/bench'", "make[1]: *** [Makefile:7: gpu] Error 2", "make[1]: Leaving directory '/home/ml/bench'"]  # fmt: skip
DONE = ["train: done, model in out/model.safetensors", "[ci] make ended with 0"]
add(
    "make-recipe-that-may-fail",
    "finished",
    *MAKE,
    "make: [Makefile:33: bench] Error 2 (ignored)",
    STEPS,
    *DONE,
    alive=False,
)
add("make-recipe-that-may-not", "failed", STEPS, *MAKE, "make: *** [Makefile:33: bench] Error 2", alive=False)
PLOTS = trace("ModuleNotFoundError: No module named 'cartopy'", own="/srv/forecast/plots.py").replace("@@", "")
add("module-that-is-done-without", "running", PLOTS, "plots disabled (see above), going on without maps", STEPS)
add("module-that-is-not-there", "failed", trace("ModuleNotFoundError: No module named 'cartopy'"), "starting nothing", alive=False)  # fmt: skip

# The same in every part of a script, though each part is called done.

GATED = trace("huggingface_hub.errors.GatedRepoError: 401 Client Error: Cannot access gated repo", own="/opt/eval/run.py").replace("in <module>", "in main")  # fmt: skip
PART = "[22:05:{n:02d}] ({n}/4) running task{n} ...\n{trace}\n[22:05:{n:02d}] task{n} done in 16s"
ALL = [PART.format(n=n, trace=GATED if n == 1 else GATED.replace("@@", "")) for n in range(1, 5)]
add("every-part-dies-alike", "failed", *ALL, "All evaluations completed", alive=False, kind=("auth",))
ONE = [PART.format(n=n, trace=GATED.replace("@@", "") if n == 2 else "acc 0.5") for n in range(1, 5)]
add("one-part-of-four-dies", "finished", *ONE, "All evaluations completed", alive=False)

# What a model wrote, told in the lines that follow.

VERL = [f"(TaskRunner pid=4410) step:{n} - actor/pg_loss:0.003 - critic/rewards/mean:0.25{n}" for n in range(1, 9)]
for n, words in enumerate(
    ("Killed", "Segmentation fault (core dumped)", "RuntimeError: CUDA out of memory. Tried to allocate 4096.00 GiB")
):
    told = f"(RewardWorker pid=4502) [sandbox] sample {n}: tests 3/7 passed; stderr of the candidate follows"
    add(f"candidate-follows-{n}", "running", *VERL, told, f"(RewardWorker pid=4502) {words}")

# A live job is not over because its counter is at the whole; its log's own words say what it does.

EPOCH = "\n".join(f"epoch 3 batch {n}/1000 loss 1.{n}" for n in range(100, 1001, 100))
add("saves-for-hours-behind-a-full-counter", "hung", EPOCH, "validation epoch 3: loss 1.3000", "saving /ck/e3.ckpt (sharded, 16 ranks) ...", idle=10900, kind=("stuck_checkpoint",))  # fmt: skip
add("over-and-kept-alive", "running", EPOCH, "Training complete.", idle=10900)

# Levels of zap and spdlog: what is called fatal ends a program, whoever sees its process.

ZAP = [f"2025-06-11T02:{n:02d}:04.331Z\tINFO\tsync/scan.go:118\tcheckpoint complete on disk\t{{\"step\": {n}000}}" for n in range(1, 9)]  # fmt: skip
TRIES = [f"2025-06-11T02:43:{n:02d}.331Z\tWARN\tsync/put.go:164\tpart upload failed, retrying\t{{\"attempt\": {n}, \"error\": \"ExpiredToken\"}}" for n in range(1, 6)]  # fmt: skip
GAVE_UP = ["2025-06-11T02:44:42.331Z\tERROR\tsync/put.go:188\tgiving up on part\t{\"attempts\": 5}", "main.(*Uploader).putPart", "\t/src/put.go:188", "2025-06-11T02:44:43.531Z\tFATAL\tsync/main.go:140\tsync loop ended\t{\"error\": \"too many failed parts\"}", "main.main", "\t/src/main.go:140"]  # fmt: skip
add("fatal-of-whom-nobody-sees", "failed", *ZAP, "@@" + TRIES[0], *TRIES[1:], *GAVE_UP, alive=None)
SPD = [f"[2025-05-06 14:22:{n:02d}.731] [train] [info] step {n}50 nll 5.{n}" for n in range(10, 20)]
KERNEL = ["@@[2025-05-06 14:24:50.931] [engine] [error] rope.cu:214 cudaGetLastError(): an illegal memory access was encountered (700)", "[2025-05-06 14:24:50.971] [train] [critical] step 1862 not completed, shutting down", "terminate called after throwing an instance of 'lattice::CudaError'", "  what():  cudaFree: an illegal memory access was encountered (700)"]  # fmt: skip
add("said-first-by-a-logger", "failed", *SPD, *KERNEL, alive=False, kind=("cuda_error",))
