# ruff: noqa: E501, UP031
"""Roots among much other talk: chains, woven ranks, boxes, what comes behind a death and what came before it."""

from __future__ import annotations

from logs.samples.kit import (
    ACCEL,
    FACTORY,
    FRAMES,
    GEN,
    JSONL,
    LOGURU,
    MAXTEXT,
    NANO,
    OOM,
    TITAN,
    add,
    bar,
    bars,
    steps,
    trace,
)

add(
    "chained-during",
    "failed",
    trace("FileNotFoundError: [Errno 2] No such file or directory: '/data/train.jsonl'"),
    "",
    "During handling of the above exception, another exception occurred:",
    "",
    trace("datasets.exceptions.DatasetGenerationError: An error occurred while generating the dataset").replace(
        "@@", ""
    ),
    kind=("data_error",),
    alive=False,
)
add(
    "chained-cause",
    "failed",
    steps(LOGURU),
    trace("ConnectionRefusedError: [Errno 111] Connection refused"),
    "",
    "The above exception was the direct cause of the following exception:",
    "",
    trace("openai.APIConnectionError: Connection error.").replace("@@", ""),
    kind="connection_refused",
    alive=False,
)
add(
    "exception-group",
    "failed",
    "starting",
    "  + Exception Group Traceback (most recent call last):",
    '  |   File "/home/u/run.py", line 12, in main',
    "  |     async with asyncio.TaskGroup() as tg:",
    "  | ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions)",
    "  +-+---------------- 1 ----------------",
    "    | Traceback (most recent call last):",
    '    |   File "/home/u/run.py", line 5, in fetch',
    "    |     raise PermissionError(13)",
    "@@    | PermissionError: [Errno 13] Permission denied: '/data/x'",
    "    +---------------- 2 ----------------",
    "    | Traceback (most recent call last):",
    '    |   File "/home/u/run.py", line 9, in other',
    "    |     await x",
    "    | asyncio.exceptions.CancelledError",
    "    +------------------------------------",
    kind="permission_denied",
    alive=False,
)
add(
    "rich-box",
    "failed",
    "╭───────────────────── Traceback (most recent call last) ──────────────────────╮",
    "│ /home/u/train.py:311 in main                                                  │",
    "│                                                                              │",
    "│ ❱ 311 │   model = load()                                                      │",
    "╰──────────────────────────────────────────────────────────────────────────────╯",
    "@@ImportError: cannot import name 'LlamaFlashAttention2' from 'transformers.models.llama'",
    kind="import_error",
    alive=False,
)
add(
    "woven-ranks",
    "failed",
    steps(NANO),
    "[rank0]: Traceback (most recent call last):",
    "[rank1]: Traceback (most recent call last):",
    '[rank0]:   File "/home/u/train.py", line 5, in <module>',
    '[rank1]:   File "/home/u/train.py", line 5, in <module>',
    "[rank1]:     main()",
    "[rank0]:     main()",
    "@@[rank1]: RuntimeError: CUDA error: an illegal memory access was encountered",
    "||[rank0]: RuntimeError: CUDA error: an illegal memory access was encountered",
    kind="cuda_error",
    alive=False,
)
add(
    "bar-glued-nccl",
    "failed",
    bars("Training", 60, 500)
    + "[rank2]:[E505 10:00:00.123456789 ProcessGroupNCCL.cpp:616] [Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=12, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.",
    "terminate called after throwing an instance of 'c10::DistBackendError'",
    kind="nccl_timeout",
    alive=False,
)
add(
    "exception-before-watchdog",
    "failed",
    steps(TITAN),
    trace("ValueError: could not broadcast input array from shape (3,224) into shape (3,256)", front="[rank5]: "),
    "[rank0]:[E505 10:20:00.1 ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=12, OpType=ALLREDUCE) ran for 600012 milliseconds before timing out.",
    kind="python_exception",
    alive=False,
)
add(
    "xid-then-steps",
    "failed",
    steps(TITAN),
    "@@[ 9412.301234] NVRM: Xid (PCI:0000:4f:00): 79, pid=4112, name=python, GPU has fallen off the bus.",
    steps(TITAN, 31, 34, start="10:01:02"),
    alive=False,
    kind="gpu_hardware",
)
add(
    "finish-then-save-fails",
    "failed",
    steps(TITAN),
    "Training finished.",
    "2025-05-05 11:00:00 saving final checkpoint",
    trace("OSError: [Errno 28] No space left on device"),
    kind="no_space",
    alive=False,
)
add(
    "loguru-trace",
    "failed",
    steps(LOGURU),
    "2025-05-05 10:02:00.123 | ERROR    | __main__:<module>:55 - An error has been caught in function '<module>', process 'MainProcess' (77):",
    trace("KeyError: 'input_ids'", header=""),
    kind="python_exception",
    alive=False,
)
add(
    "json-exc-info",
    "failed",
    steps(JSONL),
    '@@{"ts": "2025-05-05T10:05:00Z", "level": "ERROR", "msg": "training failed", "exc_info": "Traceback (most recent call last):\\n  File \\"/app/t.py\\", line 5, in <module>\\n    go()\\nOSError: [Errno 28] No space left on device"}',
    kind="no_space",
    alive=False,
)
add(
    "tqdm-redrawn-after-trace",
    "failed",
    bars("Training", 30, 1000),
    trace("KeyError: 'labels'"),
    bar("Training", 30, 1000).replace("\r", ""),
    kind="python_exception",
    alive=False,
)
add(
    "nccl-remote-then-root",
    "failed",
    steps(NANO),
    trace(
        "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1969, remote process exited or there was a network error, NCCL version 2.21.5",
        front="[rank2]: ",
    ).replace("@@", ""),
    "[rank2]: ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.",
    trace("IndexError: index out of range in self", front="[rank7]: "),
    kind="python_exception",
    alive=False,
)
add(
    "hf-import-chain",
    "failed",
    trace("ModuleNotFoundError: No module named 'flash_attn'"),
    "",
    "The above exception was the direct cause of the following exception:",
    "",
    trace(
        "RuntimeError: Failed to import transformers.models.llama.modeling_llama because of the following error (look up to see its traceback):"
    ).replace("@@", ""),
    "No module named 'flash_attn'",
    kind="import_error",
    alive=False,
)
add(
    "critical-logger",
    "failed",
    steps(ACCEL),
    "@@2025-05-05 10:03:00,123 - CRITICAL - trainer - Loss is nan, stopping training",
    alive=False,
    kind="nan_loss",
)
add(
    "mp-spawn",
    "failed",
    "W0505 10:00:00.1 77 torch/multiprocessing/spawn.py:169] Terminating process 101 via signal SIGTERM",
    "Traceback (most recent call last):",
    '  File "/home/u/t.py", line 9, in <module>',
    "    mp.spawn(main, nprocs=8)",
    "torch.multiprocessing.spawn.ProcessRaisedException: ",
    "",
    "-- Process 3 terminated with the following error:",
    trace("ZeroDivisionError: division by zero"),
    alive=False,
    kind="python_exception",
)
add(
    "multiprocessing-pool",
    "failed",
    steps(GEN),
    "multiprocessing.pool.RemoteTraceback: ",
    '"""',
    trace("UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"),
    '"""',
    "",
    "The above exception was the direct cause of the following exception:",
    "",
    trace("UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte").replace(
        "@@", "||"
    ),
    alive=False,
    kind="data_error",
)
add(
    "process-name-trace",
    "failed",
    steps(GEN),
    "Process SpawnProcess-1:",
    trace("PermissionError: [Errno 13] Permission denied: '/cache'"),
    alive=False,
    kind="permission_denied",
)
add(
    "crash-mid-traceback",
    "failed",
    steps(NANO),
    "Traceback (most recent call last):",
    '  File "/home/u/t.py", line 9, in <module>',
    "    main()",
    trace("OSError: [Errno 28] No space left on device"),
    "",
    "During handling of the above exception, another exception occurred:",
    "",
    "Traceback (most recent call last):",
    '  File "/home/u/t.py", line 1',
    alive=False,
    kind="no_space",
)
add(
    "rank-killed-others-step",
    "failed",
    "\n".join(f"[rank{n % 4}]: step {n // 4} loss 2.{n}" for n in range(40)),
    trace(OOM, front="[rank3]: "),
    "[rank0]: step 10 loss 2.1",
    "[rank1]: step 10 loss 2.1",
    kind="cuda_oom",
    alive=False,
)
add(
    "rank-killed-alive",
    "failed",
    "\n".join(f"[rank{n % 4}]: step {n // 4} loss 2.{n}" for n in range(40)),
    trace(OOM, front="[rank3]: "),
    "[rank0]: step 10 loss 2.1",
    "[rank1]: step 10 loss 2.1",
    kind="cuda_oom",
    alive=True,
)
add(
    "oom-in-eval-after-done",
    "failed",
    steps(ACCEL),
    "2025-05-05 10:02:00,123 - INFO - t - Training complete. Running final evaluation",
    trace(OOM),
    alive=False,
    kind="cuda_oom",
)
add(
    "second-run-crashes-too",
    "failed",
    "nohup: ignoring input",
    *[f"step {n} loss 2.0" for n in range(1, 9)],
    trace("KeyError: 'a'").replace("@@", ""),
    "nohup: ignoring input",
    "resuming",
    trace("FileNotFoundError: [Errno 2] No such file or directory: '/ckpt/last.pt'"),
    alive=False,
    kind="data_error",
)
add(
    "jax-separators",
    "failed",
    steps(MAXTEXT),
    "jax.errors.SimplifiedTraceback: For simplicity, JAX has removed its internal frames from the traceback of the following exception.",
    "",
    "The above exception was the direct cause of the following exception:",
    "",
    trace("jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory allocating 8589934592 bytes."),
    "-------------------------------------",
    "For simplicity, JAX has removed its internal frames",
    alive=False,
    kind="cuda_oom",
)
add(
    "bar-then-trace-same-line",
    "failed",
    bars("train", 40, 900) + "Traceback (most recent call last):",
    '  File "/home/u/t.py", line 5, in <module>',
    "    go()",
    "@@RuntimeError: stack expects each tensor to be equal size, but got [3, 224] at entry 0 and [1, 224] at entry 4",
    alive=False,
    kind="python_exception",
)
add(
    "bar-interleaved-trace",
    "failed",
    bars("train", 40, 900),
    trace(
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 23.6 GiB"
    ),
    bar("train", 40, 900).replace("\r", "\n"),
    alive=False,
    kind="cuda_oom",
)
add(
    "progress-other-rank-after-crash",
    "failed",
    *[f"[rank{n % 2}]: step {n // 2} loss 2.1" for n in range(20)],
    trace("ValueError: bad batch", front="[rank1]: "),
    "[rank0]: step 10 loss 2.1",
    alive=None,
    kind="python_exception",
)
add(
    "trace-then-heartbeats",
    "failed",
    steps(LOGURU),
    trace("KeyError: 'x'"),
    *[f"2025-05-05 10:{n:02d}:30.123 | INFO     | monitor:beat:3 - heartbeat {n}" for n in range(2, 30)],
    kind="python_exception",
)
add(
    "trace-then-retry-same",
    "failed",
    steps(GEN),
    *[
        part
        for n in range(3)
        for part in (
            f"2025-05-05 10:02:0{n} INFO attempt {n + 1} of 3",
            trace("ConnectionRefusedError: [Errno 111] Connection refused").replace("@@", "||"),
        )
    ],
    "2025-05-05 10:02:09 ERROR giving up after 3 attempts",
    alive=False,
    kind="connection_refused",
)
add(
    "one-rank-nan",
    "failed",
    *[f"step {n} loss 2.1" for n in range(1, 9)],
    "@@step 9 loss nan",
    "step 10 loss nan",
    "step 11 loss nan",
    alive=None,
    kind="nan_loss",
)
add(
    "root-two-ranks-order",
    "failed",
    steps(TITAN),
    trace(
        "torch.distributed.DistBackendError: [1] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got error: Connection reset by peer",
        front="[rank1]: ",
    ).replace("@@", ""),
    trace("FileNotFoundError: [Errno 2] No such file or directory: '/data/idx.bin'", front="[rank0]: "),
    alive=False,
    kind="data_error",
)
add(
    "root-vllm-api-before-engine",
    "failed",
    "INFO 10-21 09:11:09 [api_server.py:1839] vLLM API server version 0.11.0",
    "\n".join(
        "(EngineCore_DP0 pid=9) ERROR 10-21 09:12:00 [core.py:708] " + r
        for r in (
            "EngineCore failed to start.\n"
            + trace("huggingface_hub.errors.RepositoryNotFoundError: 401 Client Error. (Request ID: Root=1)").replace(
                "@@", ""
            )
        ).split("\n")[:-1]
    ),
    "@@(EngineCore_DP0 pid=9) ERROR 10-21 09:12:00 [core.py:708] huggingface_hub.errors.RepositoryNotFoundError: 401 Client Error. (Request ID: Root=1)",
    "(EngineCore_DP0 pid=9) ERROR 10-21 09:12:00 [core.py:708] ",
    "(EngineCore_DP0 pid=9) ERROR 10-21 09:12:00 [core.py:708] Repository Not Found for url: https://huggingface.co/x.",
    "\n".join(
        "(APIServer pid=7) " + r
        for r in trace(
            "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore_DP0': 1}"
        )
        .replace("@@", "")
        .split("\n")
    ),
    alive=False,
    kind="auth",
)
add(
    "root-chain-of-three",
    "failed",
    trace("KeyError: 'a'"),
    "",
    "During handling of the above exception, another exception occurred:",
    "",
    trace("AttributeError: b").replace("@@", ""),
    "",
    "The above exception was the direct cause of the following exception:",
    "",
    trace("RuntimeError: c").replace("@@", ""),
    alive=False,
    kind="python_exception",
)
add(
    "root-multiline-message",
    "failed",
    trace("RuntimeError: Error(s) in loading state_dict for Model:"),
    '\tMissing key(s) in state_dict: "a.weight", "b.weight".',
    '\tUnexpected key(s) in state_dict: "c".',
    alive=False,
    kind="checkpoint_mismatch",
)
add(
    "root-cuda-multiline",
    "failed",
    steps(NANO),
    trace("RuntimeError: CUDA error: an illegal memory access was encountered"),
    "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.",
    "For debugging consider passing CUDA_LAUNCH_BLOCKING=1",
    "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.",
    "",
    "terminate called after throwing an instance of 'c10::Error'",
    "Aborted (core dumped)",
    alive=False,
    kind="cuda_error",
)
add(
    "root-srun-many-ranks",
    "failed",
    *[
        "%d: %s" % (n, r)
        for n in (3,)
        for r in ("Traceback (most recent call last):", '  File "/home/u/t.py", line 9, in <module>', "    go()")
    ],
    "@@3: ValueError: num_samples should be a positive integer value, but got num_samples=0",
    *[
        "%d: %s" % (n, r)
        for n in (4, 5)
        for r in (
            "Traceback (most recent call last):",
            '  File "/home/u/t.py", line 9, in <module>',
            "    go()",
            "ValueError: num_samples should be a positive integer value, but got num_samples=0",
        )
    ],
    "srun: error: node-3: tasks 3-5: Exited with exit code 1",
    alive=False,
    kind=("python_exception", "data_error"),
)
add(
    "root-ray-actor-init",
    "failed",
    "2025-05-05 10:00:00,1 ERROR worker.py:422 -- Unhandled error (suppress with 'RAY_IGNORE_UNHANDLED_ERRORS=1'): ray::Worker.__init__() (pid=300, ip=10.0.0.2, actor_id=ab)",
    '  File "/home/u/w.py", line 9, in __init__',
    "    torch.cuda.set_device(3)",
    "@@RuntimeError: CUDA error: invalid device ordinal",
    alive=False,
    kind="cuda_error",
)
add(
    "root-xid-then-watchdog",
    "failed",
    steps(NANO),
    "@@May  5 10:01:00 gpu-b3 kernel: [123.4] NVRM: Xid (PCI:0000:4f:00): 79, pid=4112, GPU has fallen off the bus.",
    "[rank0]:[E505 10:31:00.1 ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9, OpType=ALLREDUCE) ran for 1800064 milliseconds before timing out.",
    alive=False,
    kind="gpu_hardware",
)
add(
    "root-oom-killer-after-steps",
    "failed",
    steps(NANO),
    "@@(raylet, ip=10.0.0.3) [2025-05-05 10:00:00,000 E 77 77] (raylet) node_manager.cc:3069: 1 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed due to other reasons at node (ID: ab, IP: 10.0.0.3)",
    alive=False,
    kind="host_oom",
)
add(
    "root-timeout-init",
    "failed",
    "[I505 10:00:00.1 TCPStore.cpp:274] [c10d - debug] started",
    trace(
        "torch.distributed.DistStoreError: wait timeout after 600000ms, keys: /default_pg/0//cpu//0/0",
        front="[rank0]: ",
    ),
    alive=False,
    kind="rendezvous",
)
add(
    "root-tokenizer",
    "failed",
    trace(
        "OSError: Can't load tokenizer for '/models/x'. If you were trying to load it from 'https://huggingface.co/models', make sure you don't have a local directory with the same name."
    ),
    alive=False,
)
add(
    "root-yaml",
    "failed",
    trace("yaml.scanner.ScannerError: mapping values are not allowed here"),
    '  in "cfg.yaml", line 3, column 9',
    alive=False,
    kind="config_error",
)
add(
    "root-deepspeed-config",
    "failed",
    trace(
        "AssertionError: Check batch related parameters. train_batch_size is not equal to micro_batch_per_gpu * gradient_acc_step * world_size 256 != 8 * 1 * 16",
        lib="deepspeed/runtime/config.py",
    ),
    alive=False,
    kind=("python_exception", "config_error"),
)
add(
    "root-datasets-chain",
    "failed",
    bars("Generating train split", 30, 90),
    trace(
        "pyarrow.lib.ArrowInvalid: JSON parse error: Missing a name for object member. in row 3",
        lib="datasets/packaged_modules/json/json.py",
    ),
    "",
    "The above exception was the direct cause of the following exception:",
    "",
    trace(
        "datasets.exceptions.DatasetGenerationError: An error occurred while generating the dataset",
        lib="datasets/builder.py",
    ).replace("@@", ""),
    alive=False,
    kind="data_error",
)
add(
    "root-lightning-exit",
    "failed",
    bars("Epoch 3", 20, 50),
    trace("RuntimeError: Trying to resize storage that is not resizable"),
    "Epoch 3:  40%|████      | 20/50 [00:10<00:15,  2.07it/s]",
    alive=False,
    kind="python_exception",
)
add(
    "root-jobset-pod",
    "failed",
    *[f"2025-05-05T10:00:{n:02d}Z stdout F step {n} loss 2" for n in range(1, 9)],
    "@@2025-05-05T10:00:10Z stderr F Fatal Python error: Segmentation fault",
    "2025-05-05T10:00:10Z stderr F ",
    "2025-05-05T10:00:10Z stderr F Thread 0x00007f (most recent call first):",
    alive=False,
    kind="segfault",
)
add(
    "root-gcs-auth",
    "failed",
    trace("google.auth.exceptions.DefaultCredentialsError: Your default credentials were not found."),
    alive=False,
    kind=("auth", "python_exception"),
)
add(
    "root-nfs-stale",
    "failed",
    steps(NANO),
    trace("OSError: [Errno 116] Stale file handle: '/nfs/ckpt/30.pt'"),
    alive=False,
)
add(
    "root-flash-arch",
    "failed",
    trace("RuntimeError: FlashAttention only supports Ampere GPUs or newer."),
    alive=False,
    kind=("driver_mismatch", "config_error", "python_exception"),
)
add(
    "root-ptxas",
    "failed",
    trace("triton.runtime.errors.PTXASError: PTXAS error: Internal Triton PTX codegen error"),
    alive=False,
    kind=("cuda_error", "python_exception", "driver_mismatch"),
)
add(
    "crash-under-wandb",
    "failed",
    steps(NANO),
    *FRAMES,
    "@@ValueError: Expected input batch_size (64) to match target batch_size (32).",
    "wandb: ",
    "wandb: Run summary:",
    "wandb: loss 2.3",
    "wandb: 🚀 View run x at: https://wandb.ai/x/y/runs/1",
    "wandb: Find logs at: ./wandb/run/logs",
    alive=False,
)
# What only passes a failure on, and who said before what it is.
add(
    "behind-peers-that-lost-one",
    "failed",
    "0: step 10/900 loss 2.31",
    "0: step 20/900 loss 2.30",
    "@@5: corpus/web-17.bin: size 4096 does not match the index (expected 8192), the file is truncated; rank 5 aborting",
    trace(
        "torch.distributed.DistBackendError: NCCL error: remote process exited or there was a network error",
        front="2: ",
    ).replace("@@", ""),
    "2: ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.",
    "srun: error: n07: task 5: Exited with exit code 3",
    alive=False,
)
add(
    "behind-an-exception-of-ranks",
    "failed",
    *(f"[rank0]: {row}" for row in (
        *FRAMES,
        "torch.distributed.checkpoint.api.CheckpointException: CheckpointException ranks:dict_keys([2])",
        "Traceback (most recent call last): (RANK 2)",
        '  File "/opt/planner.py", line 9, in plan',
    )),
    "@@[rank0]: RuntimeError: Missing key in checkpoint state_dict: optimizer.state.17.",
    alive=False,
)  # fmt: skip
for name, what in (
    ("own", "  what():  index build/ivf.idx: 'is_trained' failed"),
    ("told-by-systemd", "May 05 10:00:09 box serve[77]:   what():  vk::Queue::submit: ErrorDeviceLost"),
):
    add(
        f"uncaught-in-cpp-{name}",
        "failed",
        bars("adding vectors", 40, 400),
        what.replace(what.partition("what()")[2], "").replace(
            "  what()", "terminate called after throwing an instance of 'own::Error'"
        ),
        "@@" + what,
        "May 05 10:00:10 box systemd[1]: serve.service: Main process exited, code=dumped, status=6/ABRT"
        if "box" in what
        else "Aborted (core dumped)",
        alive=False,
    )
add(
    "rocm-memory-fault",
    "failed",
    steps(FACTORY),
    "@@Memory access fault by GPU node-3 (Agent handle: 0x55f3) on address 0x7ec3d0a00000. Reason: Unknown.",
    "W0505 10:01:01.811000 3270 torch/distributed/elastic/multiprocessing/api.py:900] Sending process 3311 closing signal SIGTERM",
    "E0505 10:01:03.020000 3270 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: -6) local_rank: 0 (pid: 3310) of binary: /opt/bin/python3",
    alive=False,
    kind=("cuda_error",),
)
add(
    "enroot-says-what-pyxis-passes-on",
    "failed",
    "slurmstepd: error: pyxis: failed to create container filesystem",
    "slurmstepd: error: pyxis: printing enroot log file:",
    "@@slurmstepd: error: pyxis:     [ERROR] No such file or directory: /images/train-25.sqsh",
    "slurmstepd: error: pyxis: couldn't start container",
    "srun: error: n07: task 0: Exited with exit code 1",
    alive=False,
    kind=("config_error",),
)
add(
    "extension-that-does-not-build",
    "failed",
    "[1/3] /usr/local/cuda/bin/nvcc -c scan.cu -o scan.cuda.o",
    "FAILED: scan.cuda.o",
    "@@nvcc fatal   : Unsupported gpu architecture 'compute_121'",
    "[2/3] c++ -c scan.cpp -o scan.o",
    "ninja: build stopped: subcommand failed.",
    trace("RuntimeError: Error building extension 'scan'").replace("@@", ""),
    alive=False,
    kind=("config_error",),
)
add(
    "first-container-then-server",
    "failed",
    "[pod/chat-0/stage] + aws s3 sync s3://models/chat /models/chat",
    "@@[pod/chat-0/stage] fatal error: An error occurred (AccessDenied) when calling the ListObjectsV2 operation: not authorized",
    "[pod/chat-0/stage] staged",
    "[pod/chat-0/server] INFO 05-05 10:00:21 [__init__.py:244] Automatically detected platform cuda.",
    "[pod/chat-0/server] INFO 05-05 10:00:22 [api_server.py:1287] vLLM API server version 0.9.1",
    trace(
        "ValueError: Invalid repository ID or local directory specified: '/models/chat'", front="[pod/chat-0/server] "
    ).replace("@@", ""),
    alive=False,
)
add(
    "backend-and-its-cause",
    "failed",
    *(f"2025-05-05T10:00:0{n}.1Z  WARN download: Download failed: 404 Not Found for url (https://hub/m/resolve/main/c{n}.json)" for n in range(4)),
    "2025-05-05T10:00:07.1Z  INFO router: Starting model backend",
    "Error: Could not create backend",
    "",
    "Caused by:",
    "@@    Could not start backend: compute cap 75 is not compatible with compile time compute cap 80",
    alive=False,
)  # fmt: skip
add(
    "one-recipe-of-many",
    "failed",
    "python tools/clean.py raw/fo.txt > clean/fo.txt",
    *FRAMES,
    "@@UnicodeDecodeError: 'utf-8' codec can't decode byte 0xf0 in position 5118: invalid continuation byte",
    "make: *** [Makefile:31: clean/fo.txt] Error 1",
    "make: *** Waiting for unfinished jobs....",
    "python tools/clean.py raw/is.txt > clean/is.txt",
    "cleaned 9812331 of 9812331 lines",
    "wrote clean/is.txt",
    alive=False,
)
add(
    "recipe-that-may-fail", "finished", "make: [Makefile:9: lint] Error 1 (ignored)", "all 12 targets done", alive=False
)
add(
    "leaves-with-a-code-behind-results",
    "failed",
    *FRAMES,
    "@@FileNotFoundError: [Errno 2] No such file or directory: 'data/cmmlu/dev/anatomy.csv'",
    "2025-05-05 10:00:02 - INFO - Task [law]: {'accuracy': 63.21}",
    "2025-05-05 10:00:02 - INFO - write summary to out/summary.txt",
    "run_eval.sh: 1 of 3 tasks has no result, leaving with code 1",
    alive=False,
)
add(
    "go-maps",
    "failed",
    *(f'time="2025-05-05T10:00:{n}+00:00" level=info msg="fetched={n * 90} queued=79400"' for n in range(10, 30)),
    "@@fatal error: concurrent map writes",
    "",
    "goroutine 86 [running]:",
    "crawl/frontier.(*Seen).Mark(0xc010a5bf40)",
    "exit status 2",
    alive=False,
)
add(
    "node-heap",
    "failed",
    *(f"embedded {n * 100} of 9000 chunks" for n in range(1, 20)),
    "<--- Last few GCs --->",
    "[1187:0x6f3b5b0]   189174 ms: Mark-Compact 4041.0 (4129.3) -> 4018.2 (4131.1) MB, allocation failure; scavenge might not succeed",
    "@@FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
    "----- Native stack trace -----",
    "Aborted (core dumped)",
    alive=False,
    kind=("host_oom",),
)
add(
    "all-ranks-begin-again",
    "running",
    steps(TITAN, 1, 40),
    trace("torch.AcceleratorError: CUDA error: unspecified launch failure", front="[rank6]: ").replace("@@", ""),
    "E0505 10:07:44.010000 88 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) local_rank: 6 (pid: 171) of binary: /usr/bin/python3",
    "I0505 10:07:44.300000 88 torch/distributed/elastic/agent/server/api.py:889] [default] Worker group FAILED. 3/3 attempts left; will restart worker group",
    steps(TITAN, 31, 52, start="10:09:00"),
)
add(
    "tests-that-should-panic",
    "finished",
    *(f"test shard::tests::roundtrip_{n} ... ok" for n in range(20)),
    "---- store::tests::corrupt_header_panics stdout ----",
    "thread 'store::tests::corrupt_header_panics' panicked at src/store.rs:88:9:",
    "corrupt header: expected CKPT",
    "test result: ok. 20 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.83s",
    alive=False,
)
add(
    "gated-behind-a-retry",
    "failed",
    "'(ReadTimeoutError(\"HTTPSConnectionPool(host='hub', port=443): Read timed out.\"))' thrown while requesting GET https://hub/d",
    "Retrying in 1s [Retry 1/5].",
    *FRAMES,
    "@@datasets.exceptions.DatasetNotFoundError: Dataset 'o/gpqa' is a gated dataset on the Hub. You must be authenticated to access it.",
    alive=False,
)
add(
    "requeued-and-restored",
    "running",
    *(f"I0502 18:0{n}:00.110022 139872 loop.py:88] step={n * 50} loss=4.{9 - n}00" for n in range(1, 9)),
    "slurmstepd: error: *** JOB 88121 ON a-19 CANCELLED AT 2025-05-02T18:08:41 DUE TO PREEMPTION ***",
    "=== requeued: restart count 1 on a-07 ===",
    "restored step=400",
    *(f"I0502 18:3{n}:00.110022 20871 loop.py:88] step={400 + n * 50} loss=3.{9 - n}00" for n in range(1, 9)),
)
add(
    "faults-put-in-and-caught",
    "finished",
    *(
        line
        for n, error in ((1, "OSError: [Errno 28] No space left on device"), (2, "FloatingPointError: loss is nan"))
        for line in (
            f"[case {n}/2] injecting",
            " caught as expected:",
            *FRAMES,
            error,
            f"[case {n}/2] recovered, loss as the reference's",
        )
    ),
    "drill summary: 2 injected, 2 survived, 0 failed",
    alive=False,
)
add(
    "workers-that-a-nanny-restarts",
    "finished",
    *(f"[dedup] {n}% buckets merged" for n in range(5, 95, 5)),
    "2025-05-05 10:02:55,738 - distributed.nanny - INFO - Worker process 881 was killed by signal 15",
    "2025-05-05 10:02:55,738 - distributed.nanny - WARNING - Restarting worker",
    "[dedup] 95% buckets merged",
    "[dedup] 100% buckets merged",
    "wrote 812 shards to /out/dedup",
    alive=False,
)
add(
    "container-by-its-own-last-words",
    "failed",
    "Attaching to api-1, cache-1, ocr-1",
    "cache-1     | 1:M 19 Aug 2025 07:00:03.019 * Ready to accept connections tcp",
    "api-1       | waiting for ocr: connect ECONNREFUSED 172.20.0.4:9000 (try 1)",
    *(f"ocr-1       | {row}" for row in FRAMES),
    "@@ocr-1       | ImportError: libGL.so.1: cannot open shared object file: No such file or directory",
    "ocr-1 exited with code 1",
    "api-1       | Error: ocr never became ready after 8 tries",
    "api-1 exited with code 1",
    alive=False,
)
