# ruff: noqa: E501, UP031
"""Failures of cards, memory, drivers, fabric and numbers."""

from __future__ import annotations

from logs.samples.kit import ACCEL, AXOLOTL, FACTORY, KERAS, MAXTEXT, NANO, OOM, TITAN, add, bar, steps, trace

add(
    "deepspeed-oom-prefix",
    "failed",
    "\n".join("worker-0: " + r for r in steps(NANO).split("\n")),
    trace(OOM, front="worker-1: [rank9]: "),
    "worker-1: [2025-05-05 10:02:00,100] [ERROR] [launch.py:325:sigkill_handler] ['/usr/bin/python', '-u', 'train.py'] exits with return code = 1",
    kind="cuda_oom",
    alive=False,
)
add(
    "jax-oom",
    "failed",
    steps(MAXTEXT),
    trace(
        "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 17179869184 bytes.",
        lib="jax/_src/api.py",
    ),
    "BufferAssignment OOM Debugging.",
    "BufferAssignment stats:",
    "    parameter allocation:   12.00GiB",
    "Peak buffers:",
    *["\tBuffer %d:\n\t\tSize: 1.00GiB\n\t\tXLA Label: fusion" % n for n in range(20)],
    "--------------------",
    "For simplicity, JAX has removed its internal frames from the traceback of the following exception. Set JAX_TRACEBACK_FILTERING=off to include these.",
    kind="cuda_oom",
    alive=False,
)
add(
    "device-assert",
    "failed",
    steps(NANO),
    *[
        "@@../aten/src/ATen/native/cuda/Indexing.cu:1289: indexSelectLargeIndex: block: [12,0,0], thread: [64,0,0] Assertion `srcIndex < srcSelectDimSize` failed."
    ],
    *[
        "../aten/src/ATen/native/cuda/Indexing.cu:1289: indexSelectLargeIndex: block: [12,0,0], thread: [%d,0,0] Assertion `srcIndex < srcSelectDimSize` failed."
        % n
        for n in range(65, 90)
    ],
    trace("RuntimeError: CUDA error: device-side assert triggered").replace("@@", ""),
    "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.",
    kind="cuda_error",
    alive=False,
)
add(
    "xid-syslog",
    "failed",
    steps(NANO),
    "@@May  5 10:01:00 gpu-b3 kernel: NVRM: Xid (PCI:0000:4f:00): 48, pid=4112, name=python, DBE (double bit error)",
    trace("RuntimeError: CUDA error: uncorrectable ECC error encountered").replace("@@", "||"),
    alive=False,
    kind="gpu_hardware",
)
add(
    "bus-shm",
    "failed",
    steps(NANO),
    "@@ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).",
    trace(
        "RuntimeError: DataLoader worker (pid 5123) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory."
    ).replace("@@", "||"),
    alive=False,
    kind="bus_error_shm",
)
add(
    "segfault",
    "failed",
    steps(NANO),
    "@@Fatal Python error: Segmentation fault",
    "",
    "Current thread 0x00007f (most recent call first):",
    '  File "/home/u/ext.py", line 12 in forward',
    "Segmentation fault (core dumped)",
    alive=False,
    kind="segfault",
)
add(
    "driver-old",
    "failed",
    trace("RuntimeError: The NVIDIA driver on your system is too old (found version 11040)."),
    alive=False,
    kind="driver_mismatch",
)
add(
    "loss-scale-min",
    "failed",
    steps(
        "[2025-05-05 {t},123] [INFO] [logging.py:107:log_dist] [Rank 0] step={n}, skipped=1, lr=[1e-5], mom=[(0.9, 0.95)]"
    ),
    trace("Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run."),
    alive=False,
    kind="loss_scale_min",
)
add(
    "nan-hf",
    "failed",
    steps(FACTORY, last=30),
    "@@{'loss': nan, 'grad_norm': nan, 'learning_rate': 1e-05, 'epoch': 0.31}",
    "{'loss': nan, 'grad_norm': nan, 'learning_rate': 1e-05, 'epoch': 0.32}",
    "{'loss': nan, 'grad_norm': nan, 'learning_rate': 1e-05, 'epoch': 0.33}",
    kind="nan_loss",
)
add(
    "nan-nano",
    "failed",
    steps(NANO),
    "@@iter 31: loss nan, time 231.11ms, mfu 39.02%",
    *["iter %d: loss nan, time 231.11ms, mfu 39.02%%" % n for n in range(32, 60)],
    kind="nan_loss",
)
add(
    "axolotl-oom",
    "failed",
    steps(AXOLOTL).replace("\n", "\r"),
    trace(
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB (GPU 0; 23.69 GiB total capacity)"
    ),
    bar("train", 31, 1000).replace("\r", "  "),
    "Traceback (most recent call last):",
    '  File "/opt/py/bin/accelerate", line 8, in <module>',
    "    sys.exit(main())",
    "subprocess.CalledProcessError: Command '['/opt/py/bin/python', '-m', 'axolotl.cli.train']' returned non-zero exit status 1.",
    kind="cuda_oom",
    alive=False,
)
add(
    "keras-oom",
    "failed",
    KERAS,
    "2025-05-05 10:00:00.123456: W tensorflow/core/common_runtime/bfc_allocator.cc:479] Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.0GiB (rounded to 2147483648)requested by op Conv2D",
    trace(
        "tensorflow.python.framework.errors_impl.ResourceExhaustedError: Graph execution error:",
        lib="keras/utils/traceback_utils.py",
    ),
    "OOM when allocating tensor with shape[64,64,512,512]",
    kind="cuda_oom",
    alive=False,
)
add(
    "nccl-ib-fatal",
    "failed",
    steps(NANO),
    "@@gpu-1:70:71 [0] NCCL WARN Call to ibv_modify_qp failed with error Connection timed out errno 110",
    "gpu-1:70:71 [0] NCCL INFO transport/net_ib.cc:780 -> 2",
    "gpu-1:70:71 [0] NCCL INFO transport.cc:33 -> 2",
    trace(
        "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1333, unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.18.1",
        front="[rank0]: ",
    ).replace("@@", "||"),
    "[rank0]: ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.",
    kind="nccl_system",
    alive=False,
)
add(
    "dataloader-killed",
    "failed",
    steps(NANO),
    trace(
        "RuntimeError: DataLoader worker (pid 4312) is killed by signal: Killed. ",
        lib="torch/utils/data/_utils/signal_handling.py",
    ),
    kind=("killed", "host_oom"),
    alive=False,
)
add(
    "nvml-mismatch",
    "failed",
    "@@Failed to initialize NVML: Driver/library version mismatch",
    alive=False,
    kind="driver_mismatch",
)
add(
    "inf-loss",
    "failed",
    steps(ACCEL),
    "@@2025-05-05 10:01:05,123 - INFO - accelerate.logging - Step 31: loss = inf",
    *[f"2025-05-05 10:01:0{n},123 - INFO - accelerate.logging - Step {n + 25}: loss = nan" for n in range(7, 10)],
    kind="nan_loss",
)
add(
    "lost-gpu-alive",
    "failed",
    steps(TITAN),
    "@@[Mon May  5 10:01:00 2025] NVRM: Xid (PCI:0000:4f:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
    kind="gpu_hardware",
)
add(
    "no-cuda-build",
    "failed",
    trace("AssertionError: Torch not compiled with CUDA enabled", lib="torch/cuda/__init__.py"),
    alive=False,
    kind="driver_mismatch",
)
add(
    "cublas",
    "failed",
    steps(NANO),
    trace("RuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx( handle, opa, opb`"),
    alive=False,
    kind="cuda_error",
)
add(
    "nvlink-ecc",
    "failed",
    steps(NANO),
    trace("torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered", front="[rank6]: "),
    alive=False,
    kind="gpu_hardware",
)
add(
    "heartbeat-monitor",
    "failed",
    steps(NANO),
    "[rank0]:[F505 10:30:00.1 ProcessGroupNCCL.cpp:1557] [PG ID 0 PG GUID 0(default_pg) Rank 0] [PG ID 0 PG GUID 0(default_pg) Rank 0] Terminating the process after attempting to dump debug info, due to collective timeout or exception.",
    "@@[rank1]:[E505 10:29:00.1 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9, OpType=BROADCAST, NumelIn=1, NumelOut=1, Timeout(ms)=1800000) ran for 1800064 milliseconds before timing out.",
    alive=False,
    kind="nccl_timeout",
)
add(
    "nul-bus",
    "failed",
    steps(NANO),
    "@@\0\0\0ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).\0\0",
    trace("RuntimeError: DataLoader worker (pid(s) 99) exited unexpectedly").replace("@@", ""),
    alive=False,
    kind="bus_error_shm",
)
add(
    "hf-nan-grad",
    "failed",
    steps(FACTORY),
    "@@{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 1e-05, 'epoch': 0.31}",
    *["{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 1e-05, 'epoch': 0.%d}" % n for n in range(32, 60)],
    kind="nan_loss",
)
add(
    "titan-nan",
    "failed",
    steps(TITAN),
    "@@[titan] 2025-05-05 10:01:00 - root - INFO - step: 31  loss:     nan  grad_norm:     nan  memory: 61.2GiB(77%)  tps: 7,021  mfu: 41.2%",
    *[
        "[titan] 2025-05-05 10:01:%02d - root - INFO - step: %d  loss:     nan  grad_norm:     nan  memory: 61.2GiB(77%%)  tps: 7,021  mfu: 41.2%%"
        % (n - 29, n)
        for n in range(32, 50)
    ],
    kind="nan_loss",
)
add(
    "megatron-nan-exit",
    "failed",
    steps(
        " iteration {n:8d}/    1000 | lm loss: {loss} | loss scale: 1.0 | grad norm: 0.2 | number of skipped iterations:   0 | number of nan iterations:   0 |"
    ),
    trace(
        "RuntimeError: Rank 3, node gpu-3, device 3, iteration 31: Unexpected result nan (message='found NaN in local grad norm for bucket #0 in backward pass before data-parallel communication collective')",
        front="[rank3]: ",
    ),
    alive=False,
    kind="nan_loss",
)
