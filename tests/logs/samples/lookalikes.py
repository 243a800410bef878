# ruff: noqa: E501, UP031
"""Healthy logs that look ill: words of failure that are told, counted, generated, retried or lived through."""

from __future__ import annotations

from logs.samples.kit import ACCEL, GEN, KERAS, LOGURU, NANO, OOM, TITAN, add, steps, trace

add(
    "sample-trace-contained",
    "running",
    steps(GEN),
    "2025-05-05 10:01:03 ERROR gen: sample 31 failed, skipping",
    trace("ValueError: bad row").replace("@@", ""),
    steps(GEN, 31, 50, start="10:01:05"),
)
add(
    "generated-trace",
    "running",
    steps(GEN),
    "--- BEGIN completion 31 ---",
    trace("ZeroDivisionError: division by zero", own="main.py").replace("@@", ""),
    "Killed",
    "Segmentation fault (core dumped)",
    "--- END completion 31 ---",
    alive=True,
)
add(
    "generated-fence-at-end",
    "running",
    steps(GEN),
    "sample 31 completion:",
    "```python",
    trace("MemoryError").replace("@@", ""),
    "CUDA out of memory",
    "```",
)
add(
    "overflow-early",
    "running",
    "[INFO] [loss_scaler.py:183:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768",
    steps(
        "[2025-05-05 {t},123] [INFO] [logging.py:107:log_dist] [Rank 0] step={n}, skipped=1, lr=[1e-5], mom=[(0.9, 0.95)]"
    ),
)
add(
    "tf-factories",
    "running",
    "E0000 00:00:1736163964.081234    1234 cuda_dnn.cc:8310] Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one has already been registered",
    "2025-05-05 10:00:00.1: E external/local_xla/xla/stream_executor/cuda/cuda_fft.cc:477] Unable to register cuFFT factory: Attempting to register factory",
    steps(NANO),
)
add(
    "nccl-warn-cured",
    "running",
    "gpu-1:70:71 [0] NCCL WARN Call to ibv_modify_qp failed with error Connection timed out, retry 1",
    steps(TITAN),
)
add(
    "autotune-oom",
    "running",
    "AUTOTUNE mm(4096x4096, 4096x4096)",
    "Runtime error during autotuning: OutOfMemoryError: out of resource: shared memory, Required: 262144, Hardware limit: 232448. Reducing block sizes or `num_stages` may help. Ignoring this choice.",
    steps(NANO),
)
add(
    "nan-words",
    "running",
    "config: nan_to_num=True crash_dump_folder=None on_error=raise",
    "0 errors, 0 failed",
    steps(TITAN),
)
add(
    "gather-warn-rank",
    "running",
    "[rank0]:[W505 10:00:00.1 ProcessGroupNCCL.cpp:4718] [PG ID 0 PG GUID 0 Rank 0]  using GPU 0 as device used by this process is currently unknown. This can potentially cause a hang",
    steps(NANO),
)
add(
    "warnings-galore",
    "running",
    "/opt/py/lib/python3.11/site-packages/torch/utils/data/dataloader.py:557: UserWarning: This DataLoader will create 16 worker processes in total. Our suggested max number of worker in current system is 8, which is smaller than what this DataLoader is going to create. Please be aware that excessive worker creation might get DataLoader running slow or even freeze, lower the worker number to avoid potential slowness/freeze if necessary.",
    "  warnings.warn(",
    "fatal: not a git repository (or any of the parent directories): .git",
    "ERROR: pip's dependency resolver does not currently take into account all the packages that are installed.",
    "WARNING: could not find libnvrtc",
    steps(NANO),
)
add(
    "model-says-killed",
    "running",
    *[
        f'2025-05-05 10:00:{n:02d} INFO eval: [{n}/100] answer="Traceback (most recent call last): MemoryError" gold="Killed" ok=False'
        for n in range(1, 40)
    ],
)
add(
    "markdown-output-mid",
    "running",
    steps(GEN),
    "### Response:",
    "Here is the error you would see:",
    "    Traceback (most recent call last):",
    '      File "x.py", line 1, in <module>',
    "    RuntimeError: CUDA out of memory.",
    "Segmentation faults happen when",
    steps(GEN, 31, 34, start="10:01:10"),
)
add(
    "lm-output-last",
    "running",
    steps(GEN),
    "[sample 31] model output:",
    "Traceback (most recent call last):",
    '  File "solution.py", line 3, in <module>',
    "IndexError: list index out of range",
)
add("kl-inf-config", "running", "Namespace(clip=inf, nan_ok=False)", steps(ACCEL))
add("nan-one-step", "running", steps(NANO), "iter 31: loss nan, time 231.11ms, mfu 39.02%", steps(NANO, 32, 50))
add(
    "megatron-skip-first",
    "running",
    " iteration        1/    1000 | consumed samples: 1 | elapsed time per iteration (ms): 9000.0 | learning rate: 0.0 | loss scale: 4294967296.0 | number of skipped iterations:   1 | number of nan iterations:   0 |",
    " iteration        2/    1000 | consumed samples: 1 | elapsed time per iteration (ms): 9000.0 | learning rate: 0.0 | loss scale: 2147483648.0 | number of skipped iterations:   1 | number of nan iterations:   0 |",
    steps(
        " iteration {n:8d}/    1000 | lm loss: {loss} | loss scale: 65536.0 | grad norm: 0.2 | number of skipped iterations:   0 | number of nan iterations:   0 |",
        3,
        20,
    ),
)
add(
    "oom-retry-smaller",
    "running",
    steps(NANO),
    "WARNING: ran out of memory with exception: CUDA out of memory. Tried to allocate 2.00 GiB; retrying with batch size 8",
    steps(NANO, 31, 40),
)
add(
    "lightning-oom-skip",
    "running",
    steps(ACCEL),
    "2025-05-05 10:01:02,1 - WARNING - train - CUDA out of memory on batch 31, skipping batch",
    steps(ACCEL, 31, 44),
)
add(
    "tf-end-of-sequence",
    "running",
    "2025-05-05 10:00:00.1: I tensorflow/core/framework/local_rendezvous.cc:404] Local rendezvous is aborting with status: OUT_OF_RANGE: End of sequence",
    KERAS,
)
add(
    "overflow-midrun",
    "running",
    steps(LOGURU),
    "[2025-05-05 10:01:01,123] [INFO] [loss_scaler.py:183:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 32768, reducing to 16384",
    steps(LOGURU, 31, 40, start="10:01:10"),
)
add(
    "eval-prints-code",
    "running",
    *[f"[{n}/164] HumanEval/{n} pass=True" for n in range(1, 60)],
    "[60/164] HumanEval/60 pass=False: AssertionError",
)
add(
    "loguru-expected-trace",
    "running",
    steps(LOGURU),
    "2025-05-05 10:01:02.1 | WARNING | data:load:9 - corrupt record 17, skipping:",
    trace("json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)").replace("@@", ""),
    steps(LOGURU, 31, 33, start="10:01:10"),
)
add(
    "warn-trace-import",
    "running",
    "WARNING: apex not available, falling back to torch",
    trace("ModuleNotFoundError: No module named 'apex'").replace("@@", ""),
    steps(NANO),
)
add(
    "colour-level",
    "running",
    "\n".join(f"\x1b[32m2025-05-05 10:00:{n:02d}\x1b[0m \x1b[1mINFO\x1b[0m step {n}/500 loss 2.1" for n in range(50)),
)
add("stuck-after-overflow", "running", steps(LOGURU), idle=500)
add("oom-score-words", "running", "oom_score_adj set to -500", "max_oom_retries=3 kill_on_error=True", steps(NANO))
add(
    "traceback-in-config",
    "running",
    "config: {'on_error': 'Traceback (most recent call last)', 'retry': 3}",
    steps(NANO),
)
add(
    "bnb-warning",
    "running",
    "The installed version of bitsandbytes was compiled without GPU support. 8-bit optimizers, 8-bit multiplication, and GPU quantization are unavailable.",
    "'NoneType' object has no attribute 'cadam32bit_grad_fp32'",
    steps(NANO),
)
add(
    "failed-to-load-optional",
    "running",
    "Failed to load image Python extension: 'libjpeg.so.8: cannot open shared object file: No such file or directory'",
    steps(NANO),
)
add(
    "mid-log-connection-lost",
    "running",
    *[f"[{n}/900] ok" for n in range(1, 30)],
    trace(
        "requests.exceptions.ConnectionError: ('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))"
    ).replace("@@", ""),
    *[f"[{n}/900] ok" for n in range(30, 60)],
)
add(
    "grad-overflow-inf",
    "running",
    *[
        f"step {n}: loss 2.1 grad_norm inf scale 65536" if n < 4 else f"step {n}: loss 2.1 grad_norm 0.9 scale 32768"
        for n in range(1, 30)
    ],
)
add(
    "only-warnings-fresh",
    "starting",
    "/opt/py/lib/python3.11/site-packages/x.py:1: FutureWarning: y",
    "  warnings.warn(",
    idle=20,
)
add("inf-then-fine", "running", *[f"step {n} loss {'inf' if n == 1 else '2.1'} lr 1e-5" for n in range(1, 30)])
add("nan-in-eval-only", "running", *[f"step {n} loss 2.1 val_loss nan" for n in range(1, 30)])
add(
    "info-oom-words",
    "running",
    *[f"2025-05-05 10:00:{n:02d} INFO guard: memory ok, no OutOfMemoryError so far, step {n}" for n in range(1, 30)],
)
add(
    "uncaught-in-thread",
    "running",
    *[f"step {n} loss 2.1" for n in range(1, 9)],
    "Exception in thread Thread-3 (logger):",
    trace("ConnectionResetError: [Errno 104] Connection reset by peer").replace("@@", ""),
    *[f"step {n} loss 2.1" for n in range(9, 19)],
)
add(
    "wandb-network-error",
    "running",
    *[f"step {n} loss 2.1" for n in range(1, 9)],
    "wandb: Network error (ConnectionError), entering retry loop.",
    "wandb: ERROR Error while calling W&B API: <Response [502]>",
)
add(
    "nvidia-smi-table",
    "starting",
    "| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |",
    "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |",
    "|                                         |                      | Uncorr. ECC | ",
    "| N/A   31C    P0              61W / 700W |      0MiB / 81559MiB |      0%      Default |",
    "Loading model",
)
add(
    "healthy-nccl-debug",
    "running",
    *["gpu-1:70:71 [%d] NCCL INFO NET/IB : No device found." % n for n in range(4)],
    "gpu-1:70:71 [0] NCCL INFO Failed to open libibverbs.so[.1]",
    "gpu-1:70:71 [0] NCCL INFO NET/Plugin: Could not find: libnccl-net.so.",
    "gpu-1:70:71 [0] NCCL INFO comm 0x1 rank 0 nranks 8 - Init COMPLETE",
    steps(TITAN),
)
add(
    "healthy-ds-config-dump",
    "running",
    "[INFO] [config.py:988:print]   dump_state ................... False",
    "[INFO] [config.py:988:print]   error_on_overflow ............ False",
    "[INFO] [config.py:988:print]   loss_scale ................... 0",
    "[INFO] [config.py:988:print]   zero_force_ds_cpu_optimizer ... True",
    steps(ACCEL),
)
add(
    "healthy-argparse-dump",
    "running",
    "  exit_on_missing_checkpoint ...................... True",
    "  exit_signal_handler ............................. False",
    "  check_for_nan_in_loss_and_grad .................. True",
    "  error_injection_rate ............................ 0",
    "  kill_switch ..................................... None",
    steps(" iteration {n:8d}/    1000 | lm loss: {loss} | grad norm: 0.2 |"),
)
add(
    "healthy-exception-class-names",
    "running",
    "registered handlers: ValueErrorHandler, OOMHandler, KilledProcessHook",
    "catching (RuntimeError, CUDAError) around step",
    steps(NANO),
)
add(
    "healthy-dataloader-warn",
    "running",
    "W0505 10:00:00.1 77 torch/utils/data/dataloader.py:5] worker exited unexpectedly once, restarted",
    steps(NANO),
)
add(
    "healthy-429",
    "running",
    *[f"done={n}/900 failed=0" for n in range(1, 30)],
    "openai.RateLimitError: Error code: 429 - rate limit, retrying in 2s",
    *[f"done={n}/900 failed=0" for n in range(30, 50)],
)
add(
    "healthy-429-last",
    "running",
    *[f"done={n}/900 failed=0" for n in range(1, 30)],
    "WARNING openai: Error code: 429 - rate limit exceeded, retrying in 2s (attempt 1/8)",
)
add(
    "healthy-json-null-exc",
    "running",
    *[
        '{"ts":"2025-05-05T10:00:%02dZ","level":"INFO","event":"step","step":%d,"loss":2.1,"exc_info":null,"error":null}'
        % (n, n)
        for n in range(1, 50)
    ],
)
add(
    "healthy-json-error-field",
    "running",
    *[
        '{"ts":"2025-05-05T10:00:%02dZ","level":"INFO","event":"request","error":"","status":200,"done":%d}' % (n, n)
        for n in range(1, 50)
    ],
)
add(
    "healthy-quoted-json",
    "running",
    *[
        '{"step": %d, "sample": "Traceback (most recent call last):\\n  File \\"a.py\\"\\nRuntimeError: CUDA out of memory", "reward": 0.1}'
        % n
        for n in range(1, 40)
    ],
)
add(
    "healthy-dmesg-old",
    "running",
    "[    0.000000] Linux version 6.1",
    "[   12.3] pci 0000:00:1f.0: BAR 14: failed to assign",
    "[   13.3] EXT4-fs (sda1): mounted",
    steps(NANO),
)
add(
    "healthy-oom-fallback-batch",
    "running",
    "Trying batch size 64",
    trace(OOM).replace("@@", ""),
    "Trying batch size 32",
    steps(NANO),
)
add(
    "healthy-torch-compile",
    "running",
    "W0505 10:00:00.1 77 torch/_dynamo/convert_frame.py:844] [0/8] torch._dynamo hit config.recompile_limit (8)",
    "E0505 10:00:00.1 77 torch/_subclasses/fake_tensor.py:2388] [0/0] failed while attempting to run meta for aten.x",
    steps(NANO),
)
add(
    "healthy-checkpoint-retry",
    "running",
    steps(LOGURU),
    "2025-05-05 10:01:02.1 | ERROR | ckpt:up:3 - upload failed: ConnectionResetError(104), will retry at next checkpoint",
    steps(LOGURU, 31, 40, start="10:01:10"),
)
add(
    "healthy-many-error-levels",
    "running",
    steps(LOGURU),
    *[f"2025-05-05 10:01:0{n}.1 | ERROR | data:get:3 - could not decode image {n}.jpg" for n in range(5)],
    steps(LOGURU, 31, 40, start="10:01:10"),
)
add(
    "healthy-error-levels-last",
    "running",
    steps(LOGURU),
    *[f"2025-05-05 10:01:0{n}.1 | ERROR | data:get:3 - could not decode image {n}.jpg" for n in range(5)],
)
add("healthy-multi-epoch-done-lines", "running", *[f"epoch {e} done: loss 2.{e}" for e in range(1, 9)])
add("healthy-ends-with-done-alive", "running", steps(NANO), "Evaluation done.", alive=True)
add(
    "healthy-trl",
    "running",
    *[
        "{'loss': 0.%d, 'grad_norm': 0.3, 'rewards/accuracies': 0.5, 'kl': nan, 'epoch': 0.%02d}" % (90 - n, n)
        for n in range(1, 30)
    ],
)
add("healthy-inf-ppl", "running", *[f"step {n} loss 2.1 ppl inf" for n in range(1, 30)])
add("healthy-loss-words", "running", *[f"step {n} | loss 2.1 | aux_loss nan" for n in range(1, 30)])
add(
    "trainer-with-a-server-beside-it",
    "running",
    "mlflow-1   | [2025-03-03 10:00:18 +0000] [21] [INFO] Starting gunicorn 20.1.0",
    "mlflow-1   | [2025-03-03 10:00:18 +0000] [21] [INFO] Listening at: http://0.0.0.0:5000 (21)",
    *[f"trainer-1  | 2025-03-03 10:01:{n:02d} [train] step {n}/20000 loss=3.{n:02d}" for n in range(30)],
)
add("rank-that-caught-its-own", "running",
    *[f"[default{n % 8}]:step {n // 8 * 10}: train_loss 2.{n:02d}" for n in range(64)],
    "[default2]:Traceback (most recent call last):", '[default2]:  File "/w/eval.py", line 9, in score', "[default2]:ZeroDivisionError: division by zero",
    *[f"[default{n % 8}]:step {n // 8 * 10}: train_loss 2.{n % 100:02d}" for n in range(64, 130)])  # fmt: skip
for n, words in enumerate(
    (
        "Please open an issue at https://github.com/o/p/issues",
        "Docs are available at https://docs.example.org/errors",
        "To get access, open https://hub.example.org/o/m in your browser",
    )
):
    add(f"address-for-help-{n}", "failed", steps(NANO), trace("ValueError: bad shape 4 and 5"), words)
add(
    "tests-of-others-pass",
    "failed",
    "@@thread 'b' panicked at src/b.rs:8:9:",
    "assertion failed: left == right",
    "test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.11s",
    "test c ... ok",
    "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.83s",
    alive=False,
)
add(
    "killed-told-as-information",
    "failed",
    steps(NANO),
    "2025-05-05 10:01:00,100 - launcher - INFO - Worker process 881 was killed by signal 9",
    alive=None,
)
