# ruff: noqa: E501, UP031
"""Labelled logs of programs, wordings and twists, as text: what a person who reads them would say.

A line that begins with `@@` is the root line; `||` other lines that may be named just as well.  `idle`: seconds since
the last write; `alive`: None where nobody says.  Shapes are those of the threads that the tables name.
"""

from __future__ import annotations

import random

import attrs

STEPS = "abcdefghijklmnopqrstuvwxyz"


@attrs.frozen
class Sample:
    """One log with its label. state: what LogHealthy should call it; kind: the causes that may be named."""

    name: str
    text: str
    state: str
    alive: bool | None = True
    idle: float = 3.0
    kind: tuple[str, ...] = ()
    data: bytes | None = None

    @property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @property
    def roots(self) -> list[int]:
        return [i for i, line in enumerate(self.lines, 1) if line.startswith(("@@", "||"))]

    @property
    def raw(self) -> bytes:
        if self.data is not None:
            return self.data
        return "\n".join(line[2:] if line.startswith(("@@", "||")) else line for line in self.lines).encode()


def trace(
    error: str,
    *,
    front: str = "",
    own: str = "/home/u/train.py",
    lib: str = "torch/nn/modules/module.py",
    header: str = "",
) -> str:
    """A traceback whose last line is the root."""
    rows = [
        (header or "") + "Traceback (most recent call last):",
        f'  File "{own}", line 88, in <module>',
        "    main()",
        f'  File "/opt/py/lib/python3.11/site-packages/{lib}", line 1501, in _call_impl',
        "    return forward_call(*args, **kwargs)",
        error,
    ]
    return "\n".join(("@@" if row is rows[-1] else "") + front + row for row in rows)


def steps(form: str, first: int = 1, last: int = 30, *, start: str = "10:00:00", every: int = 2, seed: int = 0) -> str:
    """Lines of a trainer: {n} the step, {loss} a falling loss, {t} the clock, {d} date and clock."""
    rng, rows = random.Random(seed), []
    hours, minutes, seconds = (int(part) for part in start.split(":"))
    base = hours * 3600 + minutes * 60 + seconds
    for n in range(first, last + 1):
        now = base + (n - first) * every
        clock = f"{now // 3600 % 24:02d}:{now // 60 % 60:02d}:{now % 60:02d}"
        loss = 3.0 - 0.01 * n + rng.random() / 50
        rows.append(form.format(n=n, loss=f"{loss:.4f}", t=clock, d=f"2025-05-05 {clock}", of=1000, pct=n // 10))
    return "\n".join(rows)


TITAN = "[titan] {d} - root - INFO - step: {n:2d}  loss:  {loss}  grad_norm:  0.31  memory: 61.2GiB(77%)  tps: 7,021  mfu: 41.2%"
NANO = "iter {n}: loss {loss}, time 231.11ms, mfu 39.02%"
VERL = "(TaskRunner pid=4242) step:{n} - global_seqlen/min:1203 - actor/entropy:0.41 - critic/score/mean:0.{n:03d} - timing_s/step:31.2"
MAXTEXT = "completed step: {n}, seconds: 2.113, TFLOP/s/device: 171.2, Tokens/s/device: 9311.0, total_weights: 65536, loss: {loss}"
FACTORY = "{{'loss': {loss}, 'grad_norm': 0.3, 'learning_rate': 1e-05, 'epoch': 0.{n:02d}}}"
FAIRSEQ = "{d} | INFO | train_inner | epoch 001: {n:6d} / 1000 loss={loss}, ppl=8.1, wps=51233, ups=3.2, gnorm=0.9"
AXOLOTL = "{pct}%|▏  | {n}/1000 [00:11<10:00,  1.20s/it]"
JSONL = '{{"ts": "2025-05-05T{t}Z", "level": "INFO", "msg": "train", "step": {n}, "loss": {loss}}}'
LOGURU = "{d}.123 | INFO     | trainer.loop:run:88 - step {n} | loss={loss}"
GEN = "{d} INFO gen: {n}/1000 samples, 12.2 samples/s, failed=0"


def bar(words: str, n: int, of: int) -> str:
    return f"\r{words}:  {100 * n // of}%|███       | {n}/{of} [00:12<01:40,  1.20s/it, loss=1.9]"


def bars(words: str, last: int, of: int) -> str:
    return "".join(bar(words, n, of) for n in range(1, last + 1))


OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB"
VLLM_UP = """INFO 10-21 09:11:02 [__init__.py:216] Automatically detected platform cuda.
(APIServer pid=7) INFO 10-21 09:11:09 [api_server.py:1839] vLLM API server version 0.11.0
(EngineCore_DP0 pid=99) INFO 10-21 09:11:31 [core.py:77] Initializing a V1 LLM engine (v0.11.0)
(APIServer pid=7) INFO 10-21 09:12:31 [api_server.py:1912] Starting vLLM API server 0 on http://0.0.0.0:8000
(APIServer pid=7) INFO:     Started server process [7]
(APIServer pid=7) INFO:     Waiting for application startup.
(APIServer pid=7) INFO:     Application startup complete."""
SGL_UP = """[2025-05-05 10:00:01] server_args=ServerArgs(model_path='/m', port=30000)
[2025-05-05 10:00:11 TP0] Load weight end. type=LlamaForCausalLM
[2025-05-05 10:00:21] INFO:     Started server process [77]
[2025-05-05 10:00:21] INFO:     Waiting for application startup.
[2025-05-05 10:00:21] INFO:     Application startup complete.
[2025-05-05 10:00:21] INFO:     Uvicorn running on http://0.0.0.0:30000 (Press CTRL+C to quit)"""

SAMPLES: list[Sample] = []


def add(name: str, state: str, *parts: str, **more: object) -> None:
    kind = more.pop("kind", ())
    kinds = (kind,) if isinstance(kind, str) else tuple(kind)  # type: ignore[arg-type]
    SAMPLES.append(Sample(name, "\n".join(parts), state, kind=kinds, **more))  # type: ignore[arg-type]


# Healthy: they run.
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
    "gen-retry-cured",
    "running",
    steps(GEN),
    "2025-05-05 10:01:03 WARNING gen: request 31 failed: ConnectionError: Connection refused; retrying in 2 s (attempt 1/5)",
    steps(GEN, 31, 44, start="10:01:05"),
)
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
    "elastic-recovered",
    "running",
    steps(NANO),
    trace("RuntimeError: NCCL communicator was aborted on rank 1.", front="[rank1]: ").replace("@@", ""),
    "[default0]:Restarting worker group",
    steps(NANO, 21, 60),
)
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
    "vllm-probe",
    "starting",
    "WARNING 10-21 09:11:02 [__init__.py:10] Failed to import from vllm._C with ModuleNotFoundError(\"No module named 'vllm._C'\")",
    "INFO 10-21 09:11:03 [importing.py:53] Triton module has been replaced with a placeholder.",
    "INFO 10-21 09:11:09 [api_server.py:1839] vLLM API server version 0.11.0",
)
add(
    "client-waits-a-little",
    "starting",
    *[
        f"2025-05-05 10:00:{n:02d} waiting for server to become ready (attempt {n}): Connection refused"
        for n in range(1, 20, 3)
    ],
)
add("compose-prefix", "running", "\n".join("trainer-1  | " + row for row in steps(TITAN).split("\n")))
add(
    "cri-prefix",
    "running",
    "\n".join(f"2025-05-05T10:00:{i:02d}.1Z stdout F " + row for i, row in enumerate(steps(NANO).split("\n"))),
)
add("srun-prefix", "running", "\n".join("%d: %s" % (i % 4, row) for i, row in enumerate(steps(LOGURU).split("\n"))))
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
add("map-bar", "starting", "loading dataset", bars("Map (num_proc=8)", 40, 900).replace("1.20s/it", "812 examples/s"))
add(
    "gather-warn-rank",
    "running",
    "[rank0]:[W505 10:00:00.1 ProcessGroupNCCL.cpp:4718] [PG ID 0 PG GUID 0 Rank 0]  using GPU 0 as device used by this process is currently unknown. This can potentially cause a hang",
    steps(NANO),
)

# Healthy: servers.
add("vllm-up", "ready", VLLM_UP, idle=4000)
add(
    "vllm-idle-stats",
    "ready",
    VLLM_UP,
    *[
        "(APIServer pid=7) INFO 10-21 09:1%d:31 [loggers.py:127] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 0.0 tokens/s, Running: 0 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.0%%"
        % n
        for n in range(3, 9)
    ],
)
add(
    "vllm-bad-last",
    "ready",
    VLLM_UP,
    '(APIServer pid=7) INFO:     10.0.0.1:1234 - "POST /v1/chat/completions HTTP/1.1" 200 OK',
    '(APIServer pid=7) INFO:     10.0.0.1:1234 - "POST /v1/chat/completions HTTP/1.1" 400 Bad Request',
    "(APIServer pid=7) ERROR 10-21 09:20:31 [serving_chat.py:245] Error in preprocessing prompt inputs",
    "\n".join(
        "(APIServer pid=7) ERROR 10-21 09:20:31 [serving_chat.py:245] " + r
        for r in trace("ValueError: This model's maximum context length is 8192 tokens").replace("@@", "").split("\n")
    ),
)
add(
    "sglang-up",
    "ready",
    SGL_UP,
    '[2025-05-05 10:00:24] INFO:     127.0.0.1:1 - "POST /generate HTTP/1.1" 200 OK',
    "[2025-05-05 10:00:24] The server is fired up and ready to roll!",
    idle=900,
)
add("sglang-warming", "starting", SGL_UP)
add(
    "llamacpp-up",
    "ready",
    "main: HTTP server is listening, hostname: 0.0.0.0, port: 8080, http threads: 63",
    "main: loading model",
    "srv  load_model: loading model '/m.gguf'",
    "main: model loaded",
    "main: server is listening on http://0.0.0.0:8080 - starting the main loop",
    "srv  update_slots: all slots are idle",
    idle=3000,
)
add(
    "triton-up",
    "ready",
    "I0505 10:00:00.123456 1 model_lifecycle.cc:839] successfully loaded 'ensemble'",
    "+----------+---------+--------+",
    "| Model    | Version | Status |",
    "| ensemble | 1       | READY  |",
    "W0505 10:00:01.000000 1 metrics.cc:831] Unable to get power limit for GPU 0. Status:Success, value:0.000000",
    "I0505 10:00:02.123456 1 grpc_server.cc:2558] Started GRPCInferenceService at 0.0.0.0:8001",
    "I0505 10:00:02.123456 1 http_server.cc:4725] Started HTTPService at 0.0.0.0:8000",
    "I0505 10:00:02.223456 1 http_server.cc:362] Started Metrics Service at 0.0.0.0:8002",
    idle=900,
)
add(
    "tensorboard-up",
    "ready",
    "2025-05-05 10:00:00.1: E tensorflow/stream_executor/cuda/cuda_driver.cc:271] failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",
    "TensorBoard 2.16.2 at http://0.0.0.0:6006/ (Press CTRL+C to quit)",
    idle=900,
)
add(
    "gunicorn-up",
    "ready",
    "[2025-05-05 10:00:00 +0000] [7] [INFO] Starting gunicorn 21.2.0",
    "[2025-05-05 10:00:00 +0000] [7] [INFO] Listening at: http://0.0.0.0:8000 (7)",
    "[2025-05-05 10:00:00 +0000] [8] [INFO] Booting worker with pid: 8",
    idle=900,
)
add(
    "tei-up",
    "ready",
    '{"timestamp":"2025-05-05T10:00:00Z","level":"INFO","message":"Starting model backend","target":"text_embeddings_backend","filename":"backends/src/lib.rs","line_number":55}',
    '{"timestamp":"2025-05-05T10:00:09Z","level":"INFO","message":"Ready","target":"text_embeddings_router::http::server","filename":"router/src/http/server.rs","line_number":1795}',
    idle=100,
)
add(
    "ollama-up",
    "ready",
    'time=2025-05-05T10:00:00.001+02:00 level=INFO source=routes.go:1205 msg="server config" env="map[OLLAMA_DEBUG:false]"',
    'time=2025-05-05T10:00:00.001+02:00 level=INFO source=routes.go:1238 msg="Listening on [::]:11434 (version 0.5.7)"',
    'time=2025-05-05T10:00:00.301+02:00 level=INFO source=types.go:131 msg="inference compute" id=GPU-1 library=cuda',
    idle=900,
)

# Healthy: they have ended well.
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
add("counter-at-whole", "finished", steps("{d} INFO gen: wrote {n}/30 shards"), alive=False)
add(
    "wandb-end",
    "finished",
    steps(NANO),
    "wandb: 🚀 View run vivid-sun-3 at: https://wandb.ai/x",
    "wandb: Find logs at: ./wandb/run-1/logs",
    alive=False,
)
add(
    "exported",
    "finished",
    "INFO Loading model",
    "INFO Exporting",
    "Successfully exported model to /out/model.onnx",
    alive=False,
)

# Failed.
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
    "xid-syslog",
    "failed",
    steps(NANO),
    "@@May  5 10:01:00 gpu-b3 kernel: NVRM: Xid (PCI:0000:4f:00): 48, pid=4112, name=python, DBE (double bit error)",
    trace("RuntimeError: CUDA error: uncorrectable ECC error encountered").replace("@@", "||"),
    alive=False,
    kind="gpu_hardware",
)
add("killed-bare", "failed", steps(LOGURU), "@@Killed", alive=False, kind="killed")
add(
    "killed-bash",
    "failed",
    steps(LOGURU),
    "@@run.sh: line 12: 33010 Killed                  python train.py --config x.yaml",
    alive=False,
    kind="killed",
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
    "quota",
    "failed",
    steps(TITAN),
    trace("OSError: [Errno 122] Disk quota exceeded: '/home/u/ckpt/optim.pt'"),
    alive=False,
    kind="quota",
)
add(
    "too-many-files",
    "failed",
    steps(NANO),
    trace("OSError: [Errno 24] Too many open files: '/data/s1.bin'"),
    alive=False,
    kind="too_many_files",
)
add(
    "undefined-symbol",
    "failed",
    trace(
        "ImportError: /opt/py/lib/python3.11/site-packages/flash_attn_2_cuda.so: undefined symbol: _ZN3c104cuda9SetDeviceEi"
    ),
    alive=False,
    kind="import_error",
)
add(
    "state-dict",
    "failed",
    trace("RuntimeError: Error(s) in loading state_dict for LlamaForCausalLM:"),
    "\tsize mismatch for model.embed_tokens.weight: copying a param with shape torch.Size([32001, 4096])",
    "\tYou may consider adding `ignore_mismatched_sizes=True` in the model `from_pretrained` method.",
    alive=False,
    kind="checkpoint_mismatch",
)
add(
    "gated",
    "failed",
    trace("huggingface_hub.errors.GatedRepoError: 401 Client Error."),
    "Cannot access gated repo for url https://huggingface.co/meta-llama/x/resolve/main/config.json.",
    alive=False,
    kind="auth",
)
add(
    "command-not-found",
    "failed",
    "Loading cuda/12.4",
    "@@/var/spool/slurmd/job771/slurm_script: line 22: torchrun: command not found",
    alive=False,
    kind="command_not_found",
)
add(
    "argparse",
    "failed",
    "usage: train.py [-h] [--config CONFIG]",
    "@@train.py: error: unrecognized arguments: --bacth-size 8",
    alive=False,
    kind="config_error",
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
    "engine-dead-alive",
    "failed",
    VLLM_UP,
    "(EngineCore_DP0 pid=99) ERROR 10-21 10:11:02 [core.py:720] EngineCore encountered a fatal error.",
    "\n".join(
        "@@(EngineCore_DP0 pid=99) ERROR 10-21 10:11:02 [core.py:720] " + r
        if i == 5
        else "(EngineCore_DP0 pid=99) ERROR 10-21 10:11:02 [core.py:720] " + r
        for i, r in enumerate(
            trace("RuntimeError: CUDA error: an illegal memory access was encountered").replace("@@", "").split("\n")
        )
    ),
    "(APIServer pid=7) ERROR 10-21 10:11:02 [async_llm.py:480] AsyncLLM output_handler failed.",
    "\n".join(
        "(APIServer pid=7) ERROR 10-21 10:11:02 [async_llm.py:480] " + r
        for r in trace("vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue.")
        .replace("@@", "")
        .split("\n")
    ),
    '(APIServer pid=7) INFO:     10.0.0.1:1234 - "GET /health HTTP/1.1" 200 OK',
    kind="cuda_error",
)
add(
    "ray-actor",
    "failed",
    "(TaskRunner pid=100) init",
    *("(WorkerDict pid=200) " + r for r in steps(NANO, 1, 3).split("\n")),
    "Traceback (most recent call last):",
    '  File "/home/u/main.py", line 9, in <module>',
    "    ray.get(runner.run.remote())",
    "ray.exceptions.RayTaskError(ValueError): ray::TaskRunner.run() (pid=100, ip=10.0.0.2)",
    '  File "/home/u/verl/trainer/ppo.py", line 77, in fit',
    "    raise ValueError('x')",
    "@@ValueError: Total training steps must be positive, got 0",
    kind=("python_exception", "config_error"),
    alive=False,
)
add(
    "raylet-oom",
    "failed",
    "(TaskRunner pid=100) step:1 - a",
    "(TaskRunner pid=100) step:2 - a",
    "@@(raylet) [2025-05-05 10:00:00,000 E 77 77] (raylet) node_manager.cc:3069: 1 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed due to other reasons at node (ID: ab)",
    trace("ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.").replace("@@", "||"),
    kind="host_oom",
    alive=False,
)
add(
    "slurm-preempt",
    "failed",
    steps(TITAN),
    "@@slurmstepd: error: *** JOB 771 ON node-3 CANCELLED AT 2025-05-05T11:00:00 DUE TO PREEMPTION ***",
    alive=False,
    kind="preempted",
)
add(
    "slurm-node",
    "failed",
    steps(TITAN),
    "@@slurmstepd: error: *** JOB 771 ON node-3 CANCELLED AT 2025-05-05T11:00:00 DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***",
    alive=False,
    kind="node_failure",
)
add(
    "time-limit-sigterm-trace",
    "failed",
    steps(TITAN),
    "@@slurmstepd: error: *** JOB 771 ON node-3 CANCELLED AT 2025-05-05T11:00:00 DUE TO TIME LIMIT ***",
    "Received SIGTERM, saving and exiting",
    trace("torch.distributed.elastic.multiprocessing.api.SignalException: Process 771 got signal: 15").replace(
        "@@", ""
    ),
    alive=False,
    kind="time_limit",
)
add(
    "tgi-json",
    "failed",
    '{"timestamp":"2025-05-05T10:00:00Z","level":"INFO","fields":{"message":"Waiting for shard to be ready..."},"target":"text_generation_launcher"}',
    '@@{"timestamp":"2025-05-05T10:00:09Z","level":"ERROR","fields":{"message":"Shard complete standard error output:\\n\\nTraceback (most recent call last):\\n  File \\"/usr/src/server.py\\", line 5, in serve\\n    serve()\\nRuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB"},"target":"text_generation_launcher"}',
    '{"timestamp":"2025-05-05T10:00:09Z","level":"ERROR","fields":{"message":"Shard 0 failed to start"},"target":"text_generation_launcher"}',
    "Error: ShardCannotStart",
    kind="cuda_oom",
    alive=False,
)
add(
    "llamacpp-oom",
    "failed",
    "main: loading model",
    "llama_model_load: loading",
    "@@ggml_backend_cuda_buffer_type_alloc_buffer: allocating 24000.00 MiB on device 0: cudaMalloc failed: out of memory",
    "||llama_model_load: error loading model: unable to allocate CUDA0 buffer",
    "llama_model_load_from_file_impl: failed to load model",
    "main: exiting due to model loading error",
    kind="cuda_oom",
    alive=False,
)
add(
    "syntax-error",
    "failed",
    '  File "/home/u/train.py", line 12',
    "    def f(:",
    "          ^",
    "@@SyntaxError: invalid syntax",
    kind="python_exception",
    alive=False,
)
add(
    "hydra",
    "failed",
    "@@Could not override 'trainer.lrr'.",
    "Key 'lrr' is not in struct",
    "    full_key: trainer.lrr",
    "Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.",
    kind="config_error",
    alive=False,
)
add(
    "rendezvous",
    "failed",
    "W0505 10:00:00.000000 77 torch/distributed/run.py:766] *****",
    trace("torch.distributed.DistStoreError: Timed out after 901 seconds waiting for clients. 1/2 clients joined."),
    kind="rendezvous",
    alive=False,
)
add(
    "port-torchrun",
    "failed",
    "[W505 10:00:00.1 socket.cpp:426] [c10d] The server socket cannot be initialized on [::]:29500 (errno: 97 - Address family not supported by protocol).",
    trace(
        "torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. port: 29500, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use"
    ),
    kind=("address_in_use", "rendezvous"),
    alive=False,
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
    "sgl-warmup-failed",
    "failed",
    SGL_UP,
    "@@[2025-05-05 10:00:41] Initialization failed. warmup error: Traceback (most recent call last):",
    '  File "/sgl-workspace/sglang/python/sglang/srt/server.py", line 577, in _wait_and_warmup',
    '    assert res.status_code == 200, f"{res}"',
    "||AssertionError: <Response [500]>",
    "Killed",
    kind=("engine_dead", "python_exception", "killed"),
    alive=False,
)
add(
    "kubelet-oomkilled",
    "failed",
    "\n".join("[pod/train-0/main] " + r for r in steps(NANO).split("\n")),
    "@@[pod/train-0/main] OOMKilled",
    kind="host_oom",
    alive=False,
)
add(
    "dataset-died",
    "failed",
    bars("Map (num_proc=64)", 30, 900),
    trace(
        "RuntimeError: One of the subprocesses has abruptly died during map operation.To debug the error, disable multiprocessing.",
        lib="datasets/arrow_dataset.py",
    ),
    kind=("host_oom", "killed"),
    alive=False,
)
add(
    "refused-final",
    "failed",
    "2025-05-05 10:00:00 connecting to http://10.0.0.1:8000",
    trace(
        "requests.exceptions.ConnectionError: HTTPConnectionPool(host='10.0.0.1', port=8000): Max retries exceeded with url: /v1/models (Caused by NewConnectionError(': Failed to establish a new connection: [Errno 111] Connection refused'))",
        lib="requests/adapters.py",
    ),
    kind="connection_refused",
    alive=False,
)

# Gone, stuck, nothing to see.
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
    "core-engine-wait",
    "hung",
    "INFO 10-21 09:11:09 [api_server.py:1839] vLLM API server version 0.11.0",
    *[
        f"(APIServer pid=7) DEBUG 10-21 {9 + n // 6:02d}:{n % 6}1:09 [utils.py:773] Waiting for 1 local, 0 remote core engine proc(s) to start."
        for n in range(2, 20)
    ],
    kind=("stuck_init", "retry_loop"),
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

# Encodings and ends of lines.
SAMPLES.append(
    Sample(
        "utf-16",
        trace("ModuleNotFoundError: No module named 'deepspeed'"),
        "failed",
        False,
        kind=("import_error",),
        data=(
            "\ufeff"
            + "\r\n".join(trace("ModuleNotFoundError: No module named 'deepspeed'").replace("@@", "").split("\n"))
            + "\r\n"
        ).encode("utf-16-le"),
    )
)
SAMPLES.append(Sample("utf-16-no-bom", steps(NANO), "running", data=steps(NANO).encode("utf-16-le")))
SAMPLES.append(Sample("crlf", steps(TITAN), "running", data=steps(TITAN).replace("\n", "\r\n").encode()))
SAMPLES.append(
    Sample(
        "latin-1", "d\xe9marrage\n" + steps(NANO), "running", data=("d\xe9marrage\n" + steps(NANO)).encode("latin-1")
    )
)
SAMPLES.append(Sample("nul-hole", "x\n" + steps(NANO), "running", data=b"\0" * 50000 + b"x\n" + steps(NANO).encode()))
SAMPLES.append(
    Sample(
        "crlf-trace",
        steps(NANO) + "\n" + trace(OOM),
        "failed",
        False,
        kind=("cuda_oom",),
        data=(steps(NANO) + "\n" + trace(OOM).replace("@@", "")).replace("\n", "\r\n").encode(),
    )
)
SAMPLES.append(Sample("elf", "", "unreadable", data=b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 20))
SAMPLES.append(
    Sample(
        "ansi",
        steps(TITAN),
        "running",
        data="\n".join("\x1b[36m" + row + "\x1b[0m" for row in steps(TITAN).split("\n")).encode(),
    )
)

# More programs.
KERAS = "\n".join(
    f"Epoch {e}/10\n"
    + "".join(
        f"\r{i * 100:4d}/1875 [{'=' * i}>{'.' * (18 - i)}] - ETA: 5s - loss: 0.{900 - e * 20 - i}" for i in range(1, 19)
    )
    + f"\n1875/1875 [==============================] - 9s 5ms/step - loss: 0.{880 - e * 20} - accuracy: 0.7{e}"
    for e in range(1, 6)
)
XGB = "\n".join(f"[{n}]\ttrain-rmse:0.{900 - n}\teval-rmse:0.{930 - n}" for n in range(60))
NEMO = "Training epoch 0, iteration {n}/999 | lr: 0.0003 | global_batch_size: 512 | global_step: {n} | reduced_train_loss: {loss} | train_step_timing in s: 5.1"
ORLHF = "[36m(ActorModelRayActorBOX pid=3131)[0m \rTrain epoch [1/1]:  {pct}%|#  | {n}/1000 [00:11<10:00,  1.20s/it, pg=0.01, rm=0.3]"
ACCEL = "{d},123 - INFO - accelerate.logging - Step {n}: loss = {loss}"
DIFF = "Steps:   {pct}%|▏         | {n}/1000 [00:31<10:00,  1.01s/it, lr=1e-5, step_loss=0.1]"
TRIAL = "[I 2025-05-05 {t},123] Trial {n} finished with value: 0.91 and parameters: {{'lr': 0.01}}. Best is trial 3 with value: 0.95."
DLPROG = "\rmodel-00001-of-00004.safetensors:  {pct}%|▏  | {n}.0M/4.98G [00:12<10:00, 121MB/s]"
WHISPER = "[00:{n:02d}.000 --> 00:{n:02d}.900]  and so it goes"
YOLO = "      {n}/1000      7.1G      1.2      0.9      1.1         31        640: 100%|##########| 100/100 [00:10<00:00,  9.9it/s]"
COMPILE = "[ {n}%] Building CUDA object CMakeFiles/k.dir/k{n}.cu.o"
DASK = "{d},123 - distributed.worker - INFO - completed task {n}"
SB3 = "| time/              |          |\n|    iterations      | {n}      |\n|    total_timesteps | {n}000    |"

add("keras", "running", KERAS)
add("xgboost", "running", XGB)
add("nemo", "running", steps(NEMO))
add("openrlhf", "running", steps(ORLHF))
add("accelerate", "running", steps(ACCEL))
add("diffusers-cr", "running", steps(DIFF).replace("\n", "\r"))
add("optuna", "running", steps(TRIAL, last=20))
add("yolo", "running", steps(YOLO))
add("cmake", "running", steps(COMPILE))
add("dask", "running", steps(DASK))
add("sb3", "running", steps(SB3))
add(
    "optuna-pruned-trial-trace",
    "running",
    steps(TRIAL, last=20),
    "[W 2025-05-05 10:02:00,1] Trial 21 failed with parameters: {'lr': 0.1} because of the following error: ValueError('x').",
    trace("ValueError: x").replace("@@", ""),
    "[W 2025-05-05 10:02:00,1] Trial 21 failed with value None.",
    steps(TRIAL, 22, 25, start="10:02:02"),
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
    "error-rate-words",
    "running",
    *[
        f"2025-05-05 10:00:{n:02d} eval batch {n}/400 errors=0 error_rate=0.0 failed=0 exc_info=None wer=0.12"
        for n in range(1, 50)
    ],
)
add(
    "failed-count-grows",
    "running",
    *[f"2025-05-05 10:00:{n:02d} done={n * 10}/1000 failed={n // 7} retried={n // 3}" for n in range(1, 50)],
)
add(
    "http-500-tolerated",
    "ready",
    VLLM_UP,
    *['(APIServer pid=7) INFO:     10.0.0.1:1234 - "POST /v1/chat/completions HTTP/1.1" 200 OK'] * 5,
    '(APIServer pid=7) INFO:     10.0.0.1:1234 - "POST /v1/chat/completions HTTP/1.1" 500 Internal Server Error',
    "\n".join(
        "(APIServer pid=7) " + r
        for r in (
            "ERROR:    Exception in ASGI application\n" + trace("ValueError: bad tool call").replace("@@", "")
        ).split("\n")
    ),
    *['(APIServer pid=7) INFO:     10.0.0.1:1234 - "POST /v1/chat/completions HTTP/1.1" 200 OK'] * 3,
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
add(
    "long-eval-pause",
    "running",
    steps(LOGURU),
    "2025-05-05 10:01:05.1 | INFO     | trainer.eval:run:9 - running evaluation",
    idle=420,
)
add(
    "torchrun-start",
    "starting",
    "W0505 10:00:00.100000 77 torch/distributed/run.py:766] ",
    "W0505 10:00:00.100000 77 torch/distributed/run.py:766] *****************************************",
    "W0505 10:00:00.100000 77 torch/distributed/run.py:766] Setting OMP_NUM_THREADS environment variable for each process to be 1 in default",
    idle=40,
)
add(
    "tgi-waiting",
    "starting",
    *[
        '{"timestamp":"2025-05-05T10:0%d:00Z","level":"INFO","fields":{"message":"Waiting for shard to be ready..."},"target":"text_generation_launcher","span":{"rank":0,"name":"shard-manager"}}'
        % n
        for n in range(8)
    ],
)
add(
    "ray-progress",
    "running",
    *[
        "\x1b[36m(train_fn pid=%d)\x1b[0m step: %d loss: 2.%d [repeated 3x across cluster]" % (50 + n % 4, n, 99 - n)
        for n in range(1, 40)
    ],
)
add(
    "spaced-sbatch-start",
    "running",
    "SLURM_JOB_ID=771",
    "+ srun python train.py",
    "+ export NCCL_ASYNC_ERROR_HANDLING=1",
    steps(ACCEL),
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
    "ssh-banner-first",
    "running",
    "Warning: Permanently added '10.0.0.3' (ED25519) to the list of known hosts.",
    "Welcome to Ubuntu 22.04 LTS",
    "*** System restart required ***",
    steps(NANO),
)

add(
    "bash-time-end",
    "finished",
    steps("{d} processed {n}/30 files"),
    "",
    "real\t12m3.1s",
    "user\t11m1.0s",
    "sys\t0m9.9s",
    alive=False,
)
add(
    "pip-install-done",
    "finished",
    "Collecting torch",
    "  Downloading torch-2.5.1-cp311.whl (906.4 MB)",
    "Installing collected packages: torch",
    "Successfully installed torch-2.5.1",
    alive=False,
)
add(
    "lm-eval-done",
    "finished",
    bars("Running loglikelihood requests", 30, 30),
    "hf (pretrained=/m), gen_kwargs: (None), limit: None, num_fewshot: 5, batch_size: 8",
    "|Tasks|Version|Filter|n-shot|Metric|   |Value |   |Stderr|",
    "|-----|------:|------|-----:|------|---|-----:|---|-----:|",
    "|mmlu |      2|none  |     5|acc   |↑  |0.6121|±  |0.0039|",
    alive=False,
)
add(
    "nccl-tests-done",
    "finished",
    "# nThread 1 nGpus 8 minBytes 8 maxBytes 134217728",
    "     1048576        262144     float     sum      -1    61.11   17.16   30.03      0    60.11   17.44   30.53      0",
    "# Out of bounds values : 0 OK",
    "# Avg bus bandwidth    : 31.2311 ",
    alive=False,
)
add(
    "tests-failed",
    "failed",
    "============================= test session starts ==============================",
    "tests/test_a.py::test_x PASSED [ 50%]",
    "tests/test_a.py::test_y FAILED [100%]",
    "=================================== FAILURES ===================================",
    "    def test_y():",
    "@@E       AssertionError: assert 1 == 2",
    "tests/test_a.py:12: AssertionError",
    "||=========================== short test summary info ============================",
    "||FAILED tests/test_a.py::test_y - AssertionError: assert 1 == 2",
    "||========================= 1 failed, 1 passed in 3.21s =========================",
    kind=("python_exception",),
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

# Failures, other wordings.
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
    "tqdm-redrawn-after-trace",
    "failed",
    bars("Training", 30, 1000),
    trace("KeyError: 'labels'"),
    bar("Training", 30, 1000).replace("\r", ""),
    kind="python_exception",
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
    "ninja",
    "failed",
    "[1/3] nvcc k.cu",
    "FAILED: k.cuda.o",
    '@@k.cu(12): error: identifier "undefined_thing" is undefined',
    "ninja: build stopped: subcommand failed.",
    trace("RuntimeError: Error compiling objects for extension").replace("@@", "||"),
    kind=("python_exception", "config_error", "import_error", "version_mismatch"),
    alive=False,
)
add("permission-shell", "failed", "@@bash: /opt/run.sh: Permission denied", kind="permission_denied", alive=False)
add(
    "mkdir-denied",
    "failed",
    "starting",
    "@@mkdir: cannot create directory '/scratch/out': Permission denied",
    kind="permission_denied",
    alive=False,
)
add(
    "no-such-module-m",
    "failed",
    "nohup: ignoring input",
    "@@/opt/py/bin/python3: No module named vllm.entrypoints",
    kind="import_error",
    alive=False,
)
add(
    "cannot-open-script",
    "failed",
    "@@python3: can't open file '/home/u/trian.py': [Errno 2] No such file or directory",
    kind=("command_not_found", "config_error", "data_error"),
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
    "jax-coordinator",
    "failed",
    "I0505 10:00:00.123456 77 distributed.py:106] Connecting to JAX distributed service on 10.0.0.1:1234",
    trace(
        "jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Id: initialize::[0]",
        lib="jax/_src/distributed.py",
    ),
    kind="rendezvous",
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
    "fork-bomb-chain",
    "failed",
    trace("queue.Empty").replace("@@", ""),
    "",
    "The above exception was the direct cause of the following exception:",
    "",
    trace("RuntimeError: DataLoader worker (pid(s) 5123, 5124) exited unexpectedly"),
    kind=("killed", "host_oom", "python_exception"),
    alive=False,
)
add(
    "worker-proc-vllm",
    "failed",
    "INFO 10-21 09:11:09 [api_server.py:1839] vLLM API server version 0.11.0",
    "\n".join(
        "(EngineCore_DP0 pid=9) (Worker_TP1 pid=12) ERROR 10-21 09:12:00 [multiproc_executor.py:597] " + r
        for r in (
            "WorkerProc failed to start.\n"
            + trace("ImportError: libcudart.so.12: cannot open shared object file: No such file or directory").replace(
                "@@", ""
            )
        ).split("\n")[:-1]
    ),
    "@@(EngineCore_DP0 pid=9) (Worker_TP1 pid=12) ERROR 10-21 09:12:00 [multiproc_executor.py:597] ImportError: libcudart.so.12: cannot open shared object file: No such file or directory",
    "\n".join(
        "(EngineCore_DP0 pid=9) ERROR 10-21 09:12:04 [core.py:708] " + r
        for r in (
            "EngineCore failed to start.\n"
            + trace(
                "Exception: WorkerProc initialization failed due to an exception in a background process. See stack trace for root cause."
            ).replace("@@", "")
        ).split("\n")
    ),
    "\n".join(
        "(APIServer pid=7) " + r
        for r in trace("RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}")
        .replace("@@", "")
        .split("\n")
    ),
    kind="import_error",
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
add("assert-tokens", "failed", steps(ACCEL), trace("AssertionError"), alive=False, kind="python_exception")
add(
    "go-panic",
    "failed",
    "time=2025-05-05T10:00:00.001Z level=INFO msg=starting",
    "@@panic: runtime error: invalid memory address or nil pointer dereference",
    "goroutine 1 [running]:",
    "main.main()",
    alive=False,
    kind=("python_exception", "segfault"),
)
add(
    "rust-panic",
    "failed",
    "2025-05-05T10:00:00.1Z  INFO text_generation_launcher: Starting",
    "@@thread 'main' panicked at router/src/main.rs:12:5:",
    "called `Result::unwrap()` on an `Err` value: Os { code: 98 }",
    "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
    alive=False,
    kind=("python_exception", "address_in_use"),
)
add(
    "docker-gpu",
    "failed",
    '@@docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].',
    alive=False,
    kind="driver_mismatch",
)
add(
    "nvml-mismatch",
    "failed",
    "@@Failed to initialize NVML: Driver/library version mismatch",
    alive=False,
    kind="driver_mismatch",
)
add("enospc-shell", "failed", steps(NANO), "@@tee: /scratch/log: No space left on device", alive=False, kind="no_space")
add(
    "elastic-exit-9",
    "failed",
    steps(NANO),
    "W0505 10:02:00.1 77 torch/distributed/elastic/multiprocessing/api.py:900] Sending process 101 closing signal SIGTERM",
    "@@E0505 10:02:04.1 77 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: -9) local_rank: 0 (pid: 100) of binary: /opt/py/bin/python",
    trace("torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ", own="/opt/py/bin/torchrun").replace(
        "@@", "||"
    ),
    "train.py FAILED",
    "Root Cause (first observed failure):",
    "[0]:",
    "  rank      : 0 (local_rank: 0)",
    "||  exitcode  : -9 (pid: 100)",
    "||  traceback : Signal 9 (SIGKILL) received by PID 100",
    alive=False,
    kind=("killed", "host_oom"),
)
add(
    "elastic-exit-11",
    "failed",
    steps(NANO),
    "@@E0505 10:02:04.1 77 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: -11) local_rank: 0 (pid: 100) of binary: /opt/py/bin/python",
    trace("torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ", own="/opt/py/bin/torchrun").replace(
        "@@", "||"
    ),
    "||traceback : Signal 11 (SIGSEGV) received by PID 100",
    alive=False,
    kind=("segfault",),
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
    "preempt-spot",
    "failed",
    steps(NANO),
    "@@Spot instance interruption notice received: this instance will be terminated in 2 minutes",
    "Received SIGTERM",
    alive=False,
    kind="preempted",
)
add(
    "s3-auth",
    "failed",
    steps(GEN),
    trace("botocore.exceptions.NoCredentialsError: Unable to locate credentials", lib="botocore/auth.py"),
    alive=False,
    kind="auth",
)
add(
    "numpy-abi",
    "failed",
    trace(
        "ValueError: numpy.dtype size changed, may indicate binary incompatibility. Expected 96 from C header, got 88 from PyObject"
    ),
    alive=False,
    kind="version_mismatch",
)
add(
    "kwarg",
    "failed",
    trace("TypeError: LlamaAttention.forward() got an unexpected keyword argument 'position_embeddings'"),
    alive=False,
    kind=("version_mismatch", "python_exception"),
)
add(
    "safetensors-cut",
    "failed",
    trace(
        "safetensors_rust.SafetensorError: Error while deserializing header: incomplete metadata, file not fully covered"
    ),
    alive=False,
    kind="checkpoint_mismatch",
)
add(
    "conda-run-error",
    "failed",
    trace("ModuleNotFoundError: No module named 'deepspeed'"),
    "",
    "ERROR conda.cli.main_run:execute(125): `conda run python train.py` failed. (See above for error)",
    alive=False,
    kind="import_error",
)
add(
    "tensor-device",
    "failed",
    steps(NANO),
    trace(
        "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cuda:1!"
    ),
    alive=False,
    kind="python_exception",
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
    "vllm-arg",
    "failed",
    "INFO 10-21 09:11:09 [api_server.py:1839] vLLM API server version 0.11.0",
    trace(
        "pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig", front="(APIServer pid=7) "
    ),
    "(APIServer pid=7)   Value error, User-specified max_model_len (262144) is greater than the derived max_model_len (max_position_embeddings=32768 or model_max_length=None in model's config.json).",
    alive=False,
    kind="config_error",
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
    "uvicorn-gone-port",
    "failed",
    "INFO:     Started server process [77]",
    "INFO:     Waiting for application startup.",
    "INFO:     Application startup complete.",
    "@@ERROR:    [Errno 98] error while attempting to bind on address ('127.0.0.1', 8000): [errno 98] address already in use",
    "INFO:     Waiting for application shutdown.",
    "INFO:     Application shutdown complete.",
    kind="address_in_use",
    alive=False,
)
add(
    "app-startup-failed",
    "failed",
    "INFO:     Started server process [77]",
    "INFO:     Waiting for application startup.",
    "\n".join(
        ("ERROR:    " if i == 0 else "") + r
        for i, r in enumerate(trace("FileNotFoundError: [Errno 2] No such file or directory: '/models/rm'").split("\n"))
    ),
    "",
    "ERROR:    Application startup failed. Exiting.",
    kind="data_error",
    alive=False,
)
add(
    "ollama-runner",
    "failed",
    'time=2025-05-05T10:00:00.001Z level=INFO source=server.go:376 msg="starting llama server"',
    '@@time=2025-05-05T10:00:05.001Z level=ERROR source=sched.go:455 msg="error loading llama server" error="llama runner process has terminated: cudaMalloc failed: out of memory"',
    kind="cuda_oom",
    alive=False,
)
add(
    "triton-bad-model",
    "failed",
    "I0505 10:00:00.123456 1 model_lifecycle.cc:472] loading: m:1",
    "@@E0505 10:00:01.123456 1 model_lifecycle.cc:642] failed to load 'm' version 1: Invalid argument: unable to find backend library for backend 'vllm'",
    "error: creating server: Internal - failed to load all models",
    kind=("checkpoint_mismatch", "config_error"),
    alive=False,
)
add(
    "lost-gpu-alive",
    "failed",
    steps(TITAN),
    "@@[Mon May  5 10:01:00 2025] NVRM: Xid (PCI:0000:4f:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
    kind="gpu_hardware",
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
    "pbs-walltime",
    "failed",
    steps(NANO),
    "@@=>> PBS: job killed: walltime 86412 exceeded limit 86400",
    kind="time_limit",
    alive=False,
)
add(
    "lsf-runlimit",
    "failed",
    steps(NANO),
    "@@TERM_RUNLIMIT: job killed after reaching LSF run time limit.",
    "Exited with exit code 140.",
    kind="time_limit",
    alive=False,
)
add(
    "cgroup-oom-dmesg",
    "failed",
    steps(NANO),
    "@@[91231.123] Memory cgroup out of memory: Killed process 4411 (python) total-vm:1kB",
    "Killed",
    kind="host_oom",
    alive=False,
)
add(
    "slurm-oom-after-killed",
    "failed",
    steps(NANO),
    "/var/spool/job/slurm_script: line 9: 4411 Killed                  python t.py",
    "@@slurmstepd: error: Detected 2 oom_kill events in StepId=771.batch. Some of the step tasks have been OOM Killed.",
    kind="host_oom",
    alive=False,
)

# Gone and stuck, other forms.
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
    "vanished-server",
    "died_silently",
    VLLM_UP,
    *['(APIServer pid=7) INFO:     10.0.0.1:1234 - "POST /v1/chat/completions HTTP/1.1" 200 OK'] * 5,
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
add(
    "vanished-download-done",
    "died_silently",
    "2025-05-05 10:01:03,1 - INFO - data - Download complete",
    "2025-05-05 10:01:04,1 - INFO - data - loading tokenizer",
    alive=False,
    idle=600,
)
add("hung-bar-zero", "hung", "loading", "\rTraining:   0%|          | 0/1000 [00:00<?, ?it/s]", idle=5400)
add(
    "hung-sglang-health",
    "hung",
    SGL_UP,
    "[2025-05-05 10:00:24] The server is fired up and ready to roll!",
    *[
        "[2025-05-05 10:%02d:24 TP0] Decode batch. #running-req: 8, #token: 9000, token usage: 0.10, cuda graph: True, gen throughput (token/s): 0.00, #queue-req: 5, "
        % n
        for n in range(5, 25)
    ],
    '[2025-05-05 10:30:24] INFO:     127.0.0.1:1 - "GET /health HTTP/1.1" 200 OK',
    kind=("stuck_step",),
)
add(
    "hung-tgi-wait",
    "hung",
    *[
        "2025-05-05T%02d:%02d:00.123Z  INFO shard-manager: text_generation_launcher: Waiting for shard to be ready... rank=0"
        % (10 + n // 6, n % 6 * 10)
        for n in range(30)
    ],
    kind=("stuck_init", "retry_loop"),
)
add(
    "hung-rendezvous",
    "hung",
    "[I505 10:00:00.1 TCPStore.cpp:274] [c10d - debug] The server has started on port = 29500.",
    "rendezvous: waiting for 1 more node to join",
    idle=3600,
    kind=("stuck_init",),
)
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

# A third round: more of what the field notes warn of.
add(
    "tf-end-of-sequence",
    "running",
    "2025-05-05 10:00:00.1: I tensorflow/core/framework/local_rendezvous.cc:404] Local rendezvous is aborting with status: OUT_OF_RANGE: End of sequence",
    KERAS,
)
add(
    "container-compat-banner",
    "ready",
    "ERROR: This container was built for NVIDIA Driver Release 550.54 or later, but",
    "       version 535.104.05 was detected and compatibility mode is UNAVAILABLE.",
    "",
    "       [[CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE: Forward compatibility was attempted on non supported HW]]",
    "I0505 10:00:02.123456 1 grpc_server.cc:2558] Started GRPCInferenceService at 0.0.0.0:8001",
    "I0505 10:00:02.123456 1 http_server.cc:4725] Started HTTPService at 0.0.0.0:8000",
)
add(
    "uvicorn-stopped",
    "finished",
    VLLM_UP,
    "(APIServer pid=7) INFO:     Shutting down",
    "(APIServer pid=7) INFO:     Waiting for application shutdown.",
    "(APIServer pid=7) INFO:     Application shutdown complete.",
    "(APIServer pid=7) INFO:     Finished server process [7]",
    alive=False,
)
add(
    "gunicorn-stopped",
    "finished",
    "[2025-05-05 10:00:00 +0000] [7] [INFO] Starting gunicorn 21.2.0",
    "[2025-05-05 10:00:00 +0000] [7] [INFO] Listening at: http://0.0.0.0:8000 (7)",
    "[2025-05-05 11:00:00 +0000] [7] [INFO] Handling signal: term",
    "[2025-05-05 11:00:00 +0000] [8] [INFO] Worker exiting (pid: 8)",
    "[2025-05-05 11:00:01 +0000] [7] [INFO] Shutting down: Master",
    alive=False,
)
add(
    "tgi-stopped",
    "finished",
    "2025-05-05T10:00:00.1Z  INFO text_generation_router::server: router/src/server.rs:2402: Connected",
    "2025-05-05T10:10:00.1Z  INFO text_generation_router::server: router/src/server.rs:2500: signal received, starting graceful shutdown",
    "2025-05-05T10:10:01.1Z ERROR text_generation_launcher: Webserver Crashed",
    alive=False,
)
add(
    "usr1-checkpoint-continues",
    "running",
    steps(LOGURU),
    "2025-05-05 10:01:01.1 | WARNING | trainer:sig:3 - Received SIGUSR1, saving checkpoint",
    steps(LOGURU, 31, 60, start="10:01:10"),
)
add(
    "overflow-midrun",
    "running",
    steps(LOGURU),
    "[2025-05-05 10:01:01,123] [INFO] [loss_scaler.py:183:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 32768, reducing to 16384",
    steps(LOGURU, 31, 40, start="10:01:10"),
)
add(
    "ray-node-lost-recovered",
    "running",
    *[f"(Trainer pid=100) step: {n} loss: 2.1" for n in range(20)],
    "(raylet) The node with node id: abc and address: 10.0.0.3 and node name: 10.0.0.3 has been marked dead because the detector has missed too many heartbeats from it.",
    "(Trainer pid=100) Attempting to recover from error, failure 1/3",
    *[f"(Trainer pid=101) step: {n} loss: 2.1" for n in range(15, 40)],
)
add(
    "task-error-retried-ray",
    "running",
    *[f"(map pid=100) done={n}/900" for n in range(20)],
    "(map pid=101) Traceback (most recent call last):",
    '(map pid=101)   File "/home/u/x.py", line 3, in f',
    "(map pid=101) TimeoutError: read timed out",
    "2025-05-05 10:00:00,1 INFO -- Task map failed, retrying (attempt 1 of 3)",
    *[f"(map pid=100) done={n}/900" for n in range(20, 40)],
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
    "kernel-noise",
    "running",
    "[ 12.301234] EDAC MC0: Giving out device to module",
    "[ 13.1] ACPI Error: No handler for Region (20210730/evregion-130)",
    steps(NANO),
)
add(
    "hf-hub-retry",
    "starting",
    "'(ReadTimeoutError(\"HTTPSConnectionPool(host='cdn-lfs.huggingface.co', port=443): Read timed out.\"), '(Request ID: 1)')' thrown while requesting GET https://cdn-lfs.huggingface.co/x",
    "Retrying in 1s [Retry 1/5].",
    bars("Downloading shards", 2, 8),
)
add(
    "warn-trace-import",
    "running",
    "WARNING: apex not available, falling back to torch",
    trace("ModuleNotFoundError: No module named 'apex'").replace("@@", ""),
    steps(NANO),
)
add("multi-node-srun", "running", "\n".join(f"{n % 8}: [rank{n % 8}]: step {n // 8} loss 2.{n}" for n in range(80)))
add(
    "colour-level",
    "running",
    "\n".join(f"\x1b[32m2025-05-05 10:00:{n:02d}\x1b[0m \x1b[1mINFO\x1b[0m step {n}/500 loss 2.1" for n in range(50)),
)
add("eta-percent", "running", *[f"10:00:{n:02d} {n}% done, eta 00:10:00" for n in range(1, 60)])
add("rsync", "running", *[f"\r    {n},234,567 {n}%  110.21MB/s    0:00:20" for n in range(1, 60)])
add(
    "hours-of-info",
    "running",
    *[f"2025-05-05 {10 + n // 60:02d}:{n % 60:02d}:00 INFO crawler: fetched page {n}" for n in range(120)],
)
add(
    "slurm-job-ok",
    "finished",
    "Job 771 on node-3 started 2025-05-05 10:00:00",
    steps(NANO),
    "Job 771 finished: exit 0, elapsed 01:00:12, state COMPLETED",
    alive=False,
)

add(
    "slurm-job-bad",
    "failed",
    "Job 771 on node-3 started 2025-05-05 10:00:00",
    steps(NANO),
    trace("KeyError: 'x'"),
    "Job 771 finished: exit 1, elapsed 01:00:12, state FAILED",
    alive=False,
    kind="python_exception",
)
add(
    "slurm-exit-only",
    "failed",
    steps(NANO),
    "@@srun: error: node-3: task 2: Exited with exit code 1",
    "srun: Terminating StepId=771.0",
    alive=False,
)
add("finished-with-errors", "failed", steps(NANO), "Job finished with exit code 2".join(["@@", ""]), alive=False)
add(
    "unbound-variable",
    "failed",
    "+ cd /srv/job",
    "@@train.sh: line 7: MASTER_ADDR: unbound variable",
    alive=False,
    kind="config_error",
)
add(
    "no-cuda-build",
    "failed",
    trace("AssertionError: Torch not compiled with CUDA enabled", lib="torch/cuda/__init__.py"),
    alive=False,
    kind="driver_mismatch",
)
add(
    "hub-offline",
    "failed",
    trace("socket.gaierror: [Errno -3] Temporary failure in name resolution", lib="urllib3/connection.py"),
    "",
    "During handling of the above exception, another exception occurred:",
    "",
    trace(
        "OSError: We couldn't connect to 'https://huggingface.co' to load the files, and couldn't find them in the cached files."
    ).replace("@@", ""),
    alive=False,
    kind=("connection_refused",),
)
add(
    "new-arch",
    "failed",
    trace("KeyError: 'qwen9'"),
    "",
    "During handling of the above exception, another exception occurred:",
    "",
    trace(
        "ValueError: The checkpoint you are trying to load has model type `qwen9` but Transformers does not recognize this architecture."
    ).replace("@@", "||"),
    alive=False,
    kind=("version_mismatch", "python_exception"),
)
add(
    "mpi-killed",
    "failed",
    steps(NANO),
    "--------------------------------------------------------------------------",
    "@@mpirun noticed that process rank 3 with PID 4411 on node n1 exited on signal 9 (Killed).",
    "--------------------------------------------------------------------------",
    alive=False,
    kind="killed",
)
add(
    "mpi-segv",
    "failed",
    steps(NANO),
    "@@[n1:04411] *** Process received signal ***",
    "||[n1:04411] Signal: Segmentation fault (11)",
    "[n1:04411] Failing at address: 0x8",
    alive=False,
    kind="segfault",
)
add("terminated", "failed", steps(NANO), "@@Terminated", alive=False, kind="killed")
add(
    "gloo-peer",
    "failed",
    steps(NANO),
    trace(
        "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.2]:4411",
        front="[rank1]: ",
    ).replace("@@", ""),
    trace("AttributeError: 'NoneType' object has no attribute 'shape'", front="[rank0]: "),
    alive=False,
    kind="python_exception",
)
add(
    "tgi-text",
    "failed",
    "2025-05-05T10:00:00.1Z  INFO text_generation_launcher: Sharding model on 2 processes",
    "2025-05-05T10:00:09.1Z ERROR shard-manager: text_generation_launcher: Shard complete standard error output:",
    "",
    trace("RuntimeError: weight lm_head.weight does not exist", lib="text_generation_server/utils/weights.py"),
    " rank=0",
    "2025-05-05T10:00:09.1Z ERROR text_generation_launcher: Shard 0 failed to start",
    "2025-05-05T10:00:09.1Z  INFO text_generation_launcher: Shutting down shards",
    "Error: ShardCannotStart",
    alive=False,
)
add(
    "gunicorn-boot",
    "failed",
    "[2025-05-05 10:00:00 +0000] [7] [INFO] Starting gunicorn 21.2.0",
    "[2025-05-05 10:00:00 +0000] [7] [INFO] Listening at: http://0.0.0.0:8000 (7)",
    "[2025-05-05 10:00:01 +0000] [8] [ERROR] Exception in worker process",
    trace("ModuleNotFoundError: No module named 'app'"),
    "[2025-05-05 10:00:01 +0000] [8] [INFO] Worker exiting (pid: 8)",
    "[2025-05-05 10:00:01 +0000] [7] [ERROR] Worker (pid:8) exited with code 3",
    "[2025-05-05 10:00:01 +0000] [7] [ERROR] Shutting down: Master",
    "[2025-05-05 10:00:01 +0000] [7] [ERROR] Reason: Worker failed to boot.",
    alive=False,
    kind="import_error",
)
add(
    "llama-file-gone",
    "failed",
    "build: 6432 (8ff20609) with cc (Ubuntu 13.3.0) 13.3.0 for x86_64-linux-gnu",
    "@@gguf_init_from_file: failed to open GGUF file '/m.gguf'",
    "||llama_model_load: error loading model: llama_model_loader: failed to load model from /m.gguf",
    "llama_model_load_from_file_impl: failed to load model",
    "srv    load_model: failed to load model, '/m.gguf'",
    "main: exiting due to model loading error",
    alive=False,
)
add(
    "jupyter-port",
    "failed",
    "[I 2025-05-05 10:00:00.1 ServerApp] The port 8888 is already in use, trying another port.",
    "[C 2025-05-05 10:00:01.1 ServerApp] ERROR: the Jupyter server could not be started because no available port could be found.",
    alive=False,
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
    "timestamped-frames",
    "failed",
    "\n".join(
        "2025-05-05 10:02:00 " + r if not r.startswith("@@") else "@@2025-05-05 10:02:00 " + r[2:]
        for r in trace("RuntimeError: CUDA error: unspecified launch failure").split("\n")
    ),
    alive=False,
    kind="cuda_error",
)
add(
    "cri-frames",
    "failed",
    "\n".join(
        "2025-05-05T10:00:00.123456789Z stderr F " + r
        if not r.startswith("@@")
        else "@@2025-05-05T10:00:00.123456789Z stderr F " + r[2:]
        for r in trace(OOM).split("\n")
    ),
    alive=False,
    kind="cuda_oom",
)
add(
    "syslog-frames",
    "failed",
    "\n".join(
        "May  5 10:02:00 gpu-7 train[4411]: " + r
        if not r.startswith("@@")
        else "@@May  5 10:02:00 gpu-7 train[4411]: " + r[2:]
        for r in trace("OSError: [Errno 28] No space left on device").split("\n")
    ),
    alive=False,
    kind="no_space",
)
add(
    "pod-frames",
    "failed",
    "\n".join(
        "[pod/train-0/main] " + r if not r.startswith("@@") else "@@[pod/train-0/main] " + r[2:]
        for r in trace("ConnectionRefusedError: [Errno 111] Connection refused").split("\n")
    ),
    alive=False,
    kind="connection_refused",
)
add(
    "docker-json",
    "failed",
    *[
        '{"log":"%s\\n","stream":"stderr","time":"2025-05-05T10:00:00Z"}' % r.replace('"', '\\"')
        if not r.startswith("@@")
        else '@@{"log":"%s\\n","stream":"stderr","time":"2025-05-05T10:00:00Z"}' % r[2:]
        for r in trace("PermissionError: [Errno 13] Permission denied: '/x'").split("\n")
    ],
    alive=False,
    kind="permission_denied",
)
add("win-utf16ish-quota", "failed", trace("OSError: [Errno 122] Disk quota exceeded"), alive=False, kind="quota")
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
    "ray-unschedulable",
    "hung",
    "2025-05-05 10:00:00,1 INFO worker.py:1879 -- Started a local Ray instance.",
    *[
        f"(autoscaler +{n}m) Warning: The following resource request cannot be scheduled right now: {{'GPU': 8.0}}. [{n}]"
        for n in range(1, 90)
    ],
    kind=("retry_loop", "stuck_init"),
)
add("srun-queued", "hung", "srun: job 771 queued and waiting for resources", idle=7200)
add("frozen-download", "hung", bars("model.safetensors", 40, 100), idle=5400)
add(
    "frozen-eval",
    "hung",
    steps(LOGURU),
    "2025-05-05 10:01:05.1 | INFO     | trainer.eval:run:9 - running evaluation",
    idle=7200,
)
add("vanished-done-phase", "died_silently", "Preprocessing done.", steps(LOGURU), alive=False, idle=900)
add("vanished-epoch-complete", "died_silently", "Epoch 1 complete", steps(LOGURU, 1, 20), alive=False, idle=900)

# A fourth round, by another hand.
NOW = "2025-06-01 12:"
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
add(
    "verl-ray-oom",
    "failed",
    steps(VERL),
    "\x1b[36m(WorkerDict pid=4300)\x1b[0m ERROR boom",
    *["Error executing job with overrides: ['data.train=x']"],
    "Traceback (most recent call last):",
    '  File "/home/u/verl/verl/trainer/main_ppo.py", line 25, in main',
    "    run_ppo(config)",
    "ray.exceptions.RayTaskError(OutOfMemoryError): ray::TaskRunner.run() (pid=4242, ip=10.0.0.2)",
    '  File "/home/u/verl/verl/workers/fsdp_workers.py", line 500, in update_actor',
    "    loss.backward()",
    "@@torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 79 GiB",
    "",
    "Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.",
    alive=False,
    kind="cuda_oom",
)
add(
    "accelerate-launch",
    "failed",
    steps(ACCEL),
    trace("ValueError: Expected input batch_size (32) to match target batch_size (31).", front="[rank0]: "),
    "E0505 10:02:04.1 77 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) local_rank: 0 (pid: 100) of binary: /opt/py/bin/python3.11",
    "Traceback (most recent call last):",
    '  File "/opt/py/bin/accelerate", line 8, in <module>',
    "    sys.exit(main())",
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
    alive=False,
    kind="python_exception",
)
add(
    "vllm-killed-worker",
    "failed",
    VLLM_UP,
    "@@(EngineCore_DP0 pid=99) ERROR 10-21 10:11:02 [multiproc_executor.py:230] Worker proc VllmWorker-1 died unexpectedly, shutting down executor.",
    "\n".join(
        "(EngineCore_DP0 pid=99) ERROR 10-21 10:11:03 [core.py:720] " + r
        for r in (
            "EngineCore encountered a fatal error.\n" + trace("RuntimeError: cancelled").replace("@@", "||")
        ).split("\n")
    ).replace(
        "(EngineCore_DP0 pid=99) ERROR 10-21 10:11:03 [core.py:720] ||",
        "||(EngineCore_DP0 pid=99) ERROR 10-21 10:11:03 [core.py:720] ",
    ),
    kind=("engine_dead", "killed", "python_exception"),
    alive=False,
)
add(
    "sglang-oom-scheduler",
    "failed",
    SGL_UP,
    "[2025-05-05 10:05:00 TP0] Scheduler hit an exception: Traceback (most recent call last):",
    '  File "/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py", line 1, in run',
    "    self.forward()",
    "@@torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 0 has",
    "",
    "[2025-05-05 10:05:00] Received sigquit from a child process. It usually means the child failed.",
    "Killed",
    alive=False,
    kind="cuda_oom",
)
add(
    "sglang-mem-fraction",
    "failed",
    "[2025-05-05 10:00:01] server_args=ServerArgs(model_path='/m')",
    "[2025-05-05 10:00:41 TP1] Scheduler hit an exception: Traceback (most recent call last):",
    '  File "/sgl/scheduler.py", line 1, in run',
    "    x()",
    "@@RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.",
    "",
    "[2025-05-05 10:00:42] Received sigquit from a child process. It usually means the child failed.",
    alive=False,
    kind="cuda_oom",
)
add(
    "triton-port",
    "failed",
    "I0505 10:00:00.123456 1 pinned_memory_manager.cc:277] Pinned memory pool is created",
    "@@E0505 10:00:02.123456 1 server.cc:300] Failed to start HTTP service: Unavailable - Socket '0.0.0.0:8000' already in use",
    alive=False,
)
add(
    "bind-errno",
    "failed",
    "Starting API",
    trace("OSError: [Errno 98] Address already in use", lib="asyncio/base_events.py"),
    alive=False,
    kind="address_in_use",
)
add(
    "flask-port",
    "failed",
    " * Serving Flask app 'x'",
    "@@Address already in use",
    "Port 5000 is in use by another program. Either identify and stop that program, or start the server with a different port.",
    alive=False,
    kind="address_in_use",
)
add(
    "ssh-launcher-refused",
    "failed",
    "@@ssh: connect to host gpu-4 port 22: Connection refused",
    "pdsh@head: gpu-4: ssh exited with exit code 255",
    alive=False,
)
add(
    "curl-refused",
    "failed",
    "@@curl: (7) Failed to connect to 10.0.0.1 port 8000 after 0 ms: Connection refused",
    alive=False,
    kind="connection_refused",
)
add("deadlock-py-spy", "hung", steps(LOGURU), idle=4000)
add("stuck-after-overflow", "running", steps(LOGURU), idle=500)
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
add(
    "long-checkpoint-save",
    "running",
    steps(ACCEL),
    "2025-05-05 10:01:05,123 - INFO - trainer - Saving model checkpoint to /out/checkpoint-30",
    idle=700,
)
add("download-quiet", "starting", "2025-05-05 10:01:05,123 - INFO - hub - Fetching 30 files", idle=500)
add("oom-score-words", "running", "oom_score_adj set to -500", "max_oom_retries=3 kill_on_error=True", steps(NANO))
add(
    "traceback-in-config",
    "running",
    "config: {'on_error': 'Traceback (most recent call last)', 'retry': 3}",
    steps(NANO),
)
add(
    "test-suite-prints-trace",
    "finished",
    "============================= test session starts ==============================",
    "collected 2 items",
    "tests/test_a.py::test_crash_is_caught ",
    "-------------------------------- live log call ---------------------------------",
    "ERROR    app:app.py:9 boom",
    trace("ValueError: boom", own="/ci/app.py").replace("@@", ""),
    "PASSED                                                                   [100%]",
    "============================== 2 passed in 0.12s ===============================",
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
add(
    "ray-job-done",
    "finished",
    "2025-05-05 10:00:00,1 INFO worker.py:1879 -- Started a local Ray instance.",
    *["(f pid=%d) done=%d/30" % (n % 4, n) for n in range(1, 31)],
    "(raylet) [2025-05-05 10:10:00,1 E 7 7] (raylet) file_system_monitor.cc:116: /tmp/ray is over 95% full, available space: 1 GB; capacity: 100 GB. Object creation will fail if spilling is required.",
    "all 30 tasks finished",
    alive=False,
)
add(
    "vllm-batch-done",
    "finished",
    "INFO 10-21 09:11:02 [llm.py:100] vLLM offline",
    bars("Processed prompts", 30, 30),
    "Wrote outputs to out.jsonl",
    "ERROR 10-21 09:20:02 [core_client.py:600] Engine core proc EngineCore_DP0 died unexpectedly, shutting down client.",
    alive=False,
)
add(
    "quiet-ready-llama",
    "ready",
    "main: server is listening on http://127.0.0.1:8080 - starting the main loop",
    "srv  log_server_r: request: GET /health 127.0.0.1 200",
    idle=50000,
)
add(
    "xla-slow-compile",
    "running",
    steps(MAXTEXT),
    "2025-05-05 10:02:00.1: E external/xla/xla/service/slow_operation_alarm.cc:65] Constant folding an instruction is taking > 1s:",
    "2025-05-05 10:02:09.1: E external/xla/xla/service/slow_operation_alarm.cc:133] The operation took 9.1s",
    steps(MAXTEXT, 31, 32),
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
    "killed-child-respawned",
    "running",
    *[f"done={n}/900 workers=8" for n in range(1, 30)],
    "worker 3 (pid 411) killed by signal 9, respawning",
    *[f"done={n}/900 workers=8" for n in range(30, 60)],
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
add("sigkill-at-eval", "died_silently", *[f"[{n}/900] ok" for n in range(1, 30)], "[30/9", alive=False, idle=900)
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
add(
    "exit-trap",
    "failed",
    steps(NANO),
    trace("IndexError: list index out of range"),
    "cleanup: removing /tmp/x",
    "exit status 1",
    "Job done.",
    alive=False,
    kind="python_exception",
)
add(
    "systemd-killed",
    "failed",
    "May  5 10:00:00 gpu-7 systemd[1]: Started train.service.",
    *["May  5 10:00:%02d gpu-7 train[4411]: step %d loss 2" % (n, n) for n in range(1, 20)],
    "@@May  5 10:02:00 gpu-7 kernel: Out of memory: Killed process 4411 (python) total-vm:1kB, anon-rss:2kB",
    "May  5 10:02:00 gpu-7 systemd[1]: train.service: Main process exited, code=killed, status=9/KILL",
    "May  5 10:02:00 gpu-7 systemd[1]: train.service: Failed with result 'oom-kill'.",
    alive=False,
    kind="host_oom",
)
add(
    "systemd-exit",
    "failed",
    *["May  5 10:00:%02d gpu-7 train[4411]: step %d loss 2" % (n, n) for n in range(1, 20)],
    "@@May  5 10:02:00 gpu-7 systemd[1]: train.service: Main process exited, code=exited, status=1/FAILURE",
    alive=False,
)

# A fifth round: false passes are the worse error.
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
    "vanish-vllm-graph",
    "died_silently",
    "INFO 10-21 09:11:09 [api_server.py:1839] vLLM API server version 0.11.0",
    bars("Capturing CUDA graphs (mixed prefill-decode, PIECEWISE)", 67, 67),
    "(EngineCore_DP0 pid=9) INFO 10-21 09:14:09 [gpu_model_runner.py:3480] Graph capturing finished in 5 secs, took 0.62 GiB",
    alive=False,
    idle=600,
)
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
add(
    "vanish-mid-json",
    "died_silently",
    steps(JSONL) + '\n{"ts": "2025-05-05T10:01:00Z", "level": "IN',
    alive=False,
    idle=600,
)
add(
    "vanish-tgi",
    "died_silently",
    *[
        "2025-05-05T10:0%d:00.123Z  INFO shard-manager: text_generation_launcher: Waiting for shard to be ready... rank=0"
        % n
        for n in range(5)
    ],
    alive=False,
    idle=600,
)
add(
    "vanish-of-servers-after-bad-request",
    "died_silently",
    VLLM_UP,
    *['(APIServer pid=7) INFO:     10.0.0.1:1 - "POST /v1/completions HTTP/1.1" 400 Bad Request'] * 3,
    alive=False,
    idle=600,
)
add(
    "ready-then-oom",
    "failed",
    VLLM_UP,
    '(APIServer pid=7) INFO:     10.0.0.1:1 - "POST /v1/completions HTTP/1.1" 200 OK',
    "\n".join(
        "(EngineCore_DP0 pid=99) " + r if not r.startswith("@@") else "@@(EngineCore_DP0 pid=99) " + r[2:]
        for r in trace(OOM).split("\n")
    ),
    '(APIServer pid=7) INFO:     10.0.0.1:1 - "POST /v1/completions HTTP/1.1" 500 Internal Server Error',
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
add("step-zero-only", "running", "step 0 loss 10.2", idle=20)
add(
    "error-loop-alive",
    "failed",
    "listening on :8000",
    *[
        "\n".join(
            [
                f"10:0{n}:00 ERROR worker crashed, restarting",
                trace("RuntimeError: CUDA error: an illegal memory access was encountered").replace("@@", "||"),
            ]
        )
        for n in range(6)
    ],
    kind="cuda_error",
)
add("hung-gpu-100", "hung", "[rank0]: step 10 loss 2.1", "[rank0]: step 11 loss 2.1", idle=3600)
add("loss-zero-forever", "running", *[f"step {n} loss 0.0000 lr 1e-5" for n in range(1, 30)])
add("inf-then-fine", "running", *[f"step {n} loss {'inf' if n == 1 else '2.1'} lr 1e-5" for n in range(1, 30)])
add("nan-in-eval-only", "running", *[f"step {n} loss 2.1 val_loss nan" for n in range(1, 30)])
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
    "info-oom-words",
    "running",
    *[f"2025-05-05 10:00:{n:02d} INFO guard: memory ok, no OutOfMemoryError so far, step {n}" for n in range(1, 30)],
)
add(
    "error-then-fine-server",
    "ready",
    VLLM_UP,
    "(APIServer pid=7) ERROR 10-21 09:20:31 [serving_models.py:10] The model `gpt-4` does not exist.",
    '(APIServer pid=7) INFO:     10.0.0.1:1 - "POST /v1/chat/completions HTTP/1.1" 404 Not Found',
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
    "git-lfs-error-start",
    "starting",
    "fatal: not a git repository (or any parent up to mount point /)",
    "Stopping at filesystem boundary (GIT_DISCOVERY_ACROSS_FILESYSTEM not set).",
    "Loading model",
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
    "docker-pull",
    "starting",
    "Unable to find image 'vllm/vllm-openai:latest' locally",
    "latest: Pulling from vllm/vllm-openai",
    "a1b2c3: Pull complete",
    "Status: Downloaded newer image for vllm/vllm-openai:latest",
)
add(
    "conda-activate-warn",
    "running",
    "CondaError: Run 'conda init' before 'conda activate'",
    *[f"step {n} loss 2.1" for n in range(1, 9)],
)

# A sixth round: healthy logs that look ill.
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
    "healthy-eval-errors",
    "running",
    *[f"[{n}/500] wer=0.{n:03d} errors: ins={n % 3} del=1 sub=2" for n in range(1, 80)],
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
    "healthy-agent-traces",
    "running",
    *[
        "\n".join(
            [
                f"[task {n}/300] running tool python",
                "  stdout:",
                "    Traceback (most recent call last):",
                '      File "<stdin>", line 1, in <module>',
                "    NameError: name 'x' is not defined",
                f"[task {n}/300] agent retries",
                f"[task {n}/300] solved",
            ]
        )
        for n in range(1, 20)
    ],
)
add(
    "healthy-agent-trace-last",
    "running",
    *[f"[task {n}/300] solved" for n in range(1, 20)],
    "[task 20/300] tool output:",
    "Traceback (most recent call last):",
    '  File "<stdin>", line 1, in <module>',
    "NameError: name 'x' is not defined",
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
    "healthy-http-access-mix",
    "ready",
    "INFO:     Application startup complete.",
    "INFO:     Uvicorn running on http://0.0.0.0:8000 (Press CTRL+C to quit)",
    *['INFO:     10.0.0.1:1 - "GET /items/%d HTTP/1.1" %d' % (n, 500 if n % 7 == 0 else 200) for n in range(1, 40)],
)
add(
    "healthy-sglang-abort",
    "ready",
    SGL_UP,
    "[2025-05-05 10:00:24] The server is fired up and ready to roll!",
    "[2025-05-05 10:01:24] Abort request rid='x', client disconnected",
    "[2025-05-05 10:01:24 TP0] Prefill batch. #new-seq: 1, #new-token: 9, #cached-token: 0, token usage: 0.00, #running-req: 0, #queue-req: 0",
)
add(
    "healthy-warmup-fail-then-ok",
    "ready",
    "E0505 10:00:00.1 1 model_lifecycle.cc:642] failed to load 'old' version 1: Not found",
    "I0505 10:00:02.123456 1 grpc_server.cc:2558] Started GRPCInferenceService at 0.0.0.0:8001",
    "I0505 10:00:02.123456 1 http_server.cc:4725] Started HTTPService at 0.0.0.0:8000",
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
add(
    "healthy-sweep",
    "running",
    "wandb: Agent Starting Run: abc with config:",
    "wandb: \tlr: 0.1",
    steps(NANO),
    "wandb: Agent Finished Run",
    "wandb: Agent Starting Run: abd with config:",
    steps(NANO, 1, 9),
)
add("healthy-multi-epoch-done-lines", "running", *[f"epoch {e} done: loss 2.{e}" for e in range(1, 9)])
add("healthy-ends-with-done-alive", "running", steps(NANO), "Evaluation done.", alive=True)
add(
    "healthy-finished-zero-fail",
    "finished",
    *[f"[{n}/30] ok" for n in range(1, 31)],
    "Finished: 30 ok, 0 failed, 0 skipped",
    alive=False,
)
add(
    "healthy-some-failed-but-done",
    "finished",
    *[f"[{n}/30] ok" for n in range(1, 31)],
    "Done. 28 ok, 2 failed (see failures.jsonl)",
    alive=False,
)
add("healthy-exit-code-0", "finished", "starting", "work", "Process finished with exit code 0", alive=False)
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

# A seventh round: roots among much other talk.
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

# From sets of other programs: ends that are none, shutdowns behind a death, servers beside a trainer, errors lived through.
DOCS = "{d} INFO processed doc {n}"
FRAMES = ("Traceback (most recent call last):", '  File "/w/train.py", line 9, in <module>', "    main()")
RECORD = '{{"level": "{}", "msg": "{}", "{}": {}}}'


def records(last: int, every: int) -> str:
    """JSON lines of a batch job that turns a document down now and then, also in its last line."""
    rows = []
    for n in range(1, last + 1):
        bad = n % every == 0
        rows.append(
            RECORD.format("error", "document rejected", "error", '"UnicodeDecodeError: invalid start byte"')
            if bad
            else RECORD.format("info", "progress", "done", n * 128)
        )
    return "\n".join(rows)


add("vanish-maxtext", "died_silently", steps(MAXTEXT), alive=False, idle=600)
add(
    "vanish-s3-copy",
    "died_silently",
    "\r".join(f"Completed {n}.1 GiB/412.0 GiB (210.1 MiB/s) with 9 file(s) remaining" for n in range(1, 60)),
    alive=False,
    idle=600,
)
add(
    "vanish-between-epochs",
    "died_silently",
    *[f"epoch {e} start\n" + "\n".join(f"  batch {n}/12 loss 0.{e}{n}" for n in range(1, 13)) for e in range(1, 8)],
    "epoch 7 complete, evaluating",
    alive=False,
    idle=600,
)
add(
    "vanish-done-is-of-each-shard",
    "died_silently",
    *[f"[shard {n}] tokenizing\n[shard {n}] done in 3.1s" for n in range(60)],
    alive=False,
    idle=600,
)
SHUTDOWN = """(APIServer pid=7) INFO:     Shutting down
(APIServer pid=7) INFO:     Application shutdown complete.
(APIServer pid=7) INFO:     Finished server process [7]"""
add(
    "orderly-shutdown-behind-a-dead-engine",
    "failed",
    VLLM_UP,
    "(EngineCore_DP0 pid=99) ERROR 10-21 09:20:01 [core.py:710] Traceback (most recent call last):",
    "@@(EngineCore_DP0 pid=99) ERROR 10-21 09:20:01 [core.py:710] torch.AcceleratorError: CUDA error: an illegal memory access was encountered",
    "(APIServer pid=7) ERROR 10-21 09:20:01 [async_llm.py:480] AsyncLLM output_handler failed.",
    SHUTDOWN,
    alive=False,
    kind="cuda_error",
)
add(
    "orderly-shutdown-of-vllm",
    "finished",
    VLLM_UP,
    "(APIServer pid=7) INFO 10-21 09:20:01 [launcher.py:110] Shutting down FastAPI HTTP server.",
    "(APIServer pid=7) ERROR 10-21 09:20:01 [core_client.py:564] Engine core proc EngineCore_DP0 died unexpectedly, shutting down client.",
    SHUTDOWN,
    alive=False,
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
add(
    "crash-timed-by-bash",
    "failed",
    steps(NANO),
    *FRAMES,
    "@@KeyError: 'model.layers.40'",
    "",
    "real\t2m11.331s",
    "user\t1m2.101s",
    alive=False,
)
add(
    "crash-then-a-long-epilog",
    "failed",
    steps(NANO),
    *FRAMES,
    "@@RuntimeError: The size of tensor a (4096) must match the size of tensor b (2048)",
    "srun: error: n1: task 0: Exited with exit code 1",
    *[f" metric_{n}: {n}.5" for n in range(24)],
    "Job 551 finished at Tue Dec  2 10:20:00 UTC 2025",
    alive=False,
)
add(
    "trainer-with-a-server-beside-it",
    "running",
    "mlflow-1   | [2025-03-03 10:00:18 +0000] [21] [INFO] Starting gunicorn 20.1.0",
    "mlflow-1   | [2025-03-03 10:00:18 +0000] [21] [INFO] Listening at: http://0.0.0.0:5000 (21)",
    *[f"trainer-1  | 2025-03-03 10:01:{n:02d} [train] step {n}/20000 loss=3.{n:02d}" for n in range(30)],
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
add(
    "vanish-long-after-the-download",
    "died_silently",
    "Download complete.",
    *[f"tokenized {n}000 docs" for n in range(30)],
    alive=False,
    idle=600,
)
add("waiting-for-a-gpu", "hung", *[f"2025-05-05 10:{n // 2:02d}:00 waiting for free GPU (8 busy)" for n in range(90)])
add(
    "good-bench",
    "finished",
    "====== Serving Benchmark Result ======",
    "Failed requests:        0",
    "=" * 30,
    alive=False,
)
add(
    "interrupted-at-the-keyboard",
    "finished",
    steps(NANO),
    "^CTraceback (most recent call last):",
    '  File "/w/train.py", line 300, in <module>',
    "KeyboardInterrupt",
    alive=False,
)
add("error-lived-through-before", "running", records(80, 40))
add("rank-that-caught-its-own", "running",
    *[f"[default{n % 8}]:step {n // 8 * 10}: train_loss 2.{n:02d}" for n in range(64)],
    "[default2]:Traceback (most recent call last):", '[default2]:  File "/w/eval.py", line 9, in score', "[default2]:ZeroDivisionError: division by zero",
    *[f"[default{n % 8}]:step {n // 8 * 10}: train_loss 2.{n % 100:02d}" for n in range(64, 130)])  # fmt: skip
add(
    "requeued-job",
    "running",
    "0: step 10 loss 3.1",
    "slurmstepd: error: *** JOB 9 ON n4 CANCELLED AT 2025-11-10T23:00:00 DUE TO PREEMPTION ***",
    "0: resuming from step 10",
    *[f"0: step {n * 10} loss 2.1" for n in range(2, 40)],
)
add(
    "celery-task-error",
    "ready",
    "[2025-01-16 08:00:00,101: INFO/MainProcess] celery@node7 ready.",
    "[2025-01-16 08:00:03,101: ERROR/ForkPoolWorker-1] Task jobs.embed[04-ac] raised unexpected: ValueError('empty document')",
    *FRAMES,
    "ValueError: empty document",
)
add("nohup-only", "empty", "nohup: ignoring input", alive=False)
add("random-bytes", "unreadable", "", data=random.Random(4).randbytes(40000))
add(
    "safetensors-over-the-log",
    "unreadable",
    "",
    data=(40).to_bytes(8, "little") + b'{"__metadata__": {"format": "pt"}}      ' + b"text " * 99,
)
add(
    "build-error-outlived-by-other-files",
    "failed",
    *[f"[{n}/44] Building CUDA object k{n}.cu.o" for n in range(1, 20)],
    '@@/src/moe.cu(112): error: identifier "__nv_fp8x4_e4m3" is undefined',
    *[f"[{n}/44] Building CXX object b{n}.cpp.o" for n in range(20, 26)],
    "ninja: build stopped: subcommand failed.",
    alive=False,
    kind="config_error",
)
add(
    "java-heap",
    "failed",
    steps(DOCS),
    '@@Exception in thread "main" java.lang.OutOfMemoryError: Java heap space',
    "\tat org.acme.Main.main(Main.java:31)",
    alive=False,
    kind="host_oom",
)
add(
    "last-words-of-a-tool",
    "failed",
    steps(DOCS),
    "@@upload failed: ./s61 to s3://b/s61 An error occurred (ExpiredToken) when calling the PutObject operation",
    "upload failed: ./s62 to s3://b/s62 An error occurred (ExpiredToken) when calling the PutObject operation",
    alive=False,
)
add(
    "serve-constructor",
    "failed",
    "(ServeController pid=30) WARNING 2025-11-11 06:00:00,000 controller 30 -- Deployment 'LLM' has 1 replicas waiting to be scheduled.",
    "(ServeController pid=30) ERROR 2025-11-11 06:11:00,000 controller 30 -- Failed to run the user's constructor: Traceback (most recent call last):",
    '(ServeController pid=30)   File "/w/app.py", line 9, in __init__',
    "@@(ServeController pid=30) huggingface_hub.errors.RepositoryNotFoundError: 404 Client Error.",
    "RuntimeError: Deploying application llm failed: The deployment failed to start 3 times in a row.",
    alive=False,
    kind="auth",
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
BEGUN = "INFO world size 8, optimizer AdamW\nINFO downloading the data set\n"
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

# In words of no table: figures that grow, stand still or are lost, ends and surrenders, and the same words where they mean another thing.
OWN = "{n:05d}.jsonl.zst  {d} docs  6.{d}s  dupes so far {n}{d}"
CAUGHT = (*FRAMES, "orjson.JSONDecodeError: unexpected end of data: line 1 column 88", "(that one goes to the rejects)")
SOUND, LOST = "b {:05d}  mean|x| 0.{}  max 3.{}  nan 0", "b {:05d}  mean|x| nan  max nan  nan 524288"
HELD = "{:02d} Apr {:02d}:{:02d}  lock /idx/.w held by pid 4410 on node-9, sleeping 60"
OWN_STEPS = [f"  {n * 20}   {9 - n / 10:.4f}  gn   0.8  61.2k/s" for n in range(1, 40)]
SAMPLED = (
    "```",
    "ERROR: the process was killed (OOM)",
    "Fatal Python error: Segmentation fault",
    "```",
    "Lower the batch size.",
)
GUNICORN = (
    "[2025-01-09 08:00:05 +0000] [31] [INFO] Starting gunicorn 23.0.0",
    "[2025-01-09 08:00:05 +0000] [31] [INFO] Listening at: http://0.0.0.0:5000 (31)",
    "[2025-01-09 08:00:05 +0000] [33] [INFO] Booting worker with pid: 33",
)
DIED = ("[2025-01-09 13:00:12 +0000] [33] [ERROR] Exception in worker process", *FRAMES, "@@MemoryError")
AGAIN = "[2025-01-09 13:00:13 +0000] [411] [INFO] Booting worker with pid: 411"


def own(first, last):
    """Lines of a job that counts in a sentence of its own."""
    return [OWN.format(n=n, d=(n * 37) % 90 + 10) for n in range(first, last)]


def held(hours):
    """A lock waited for, minute by minute."""
    return [HELD.format(9 + n // 1440, n // 60 % 24, n % 60) for n in range(1000, 1000 + hours * 60)]


for name, state, more, lines in (
    ("counts-on-in-its-own-words", "running", {}, [*own(1, 30), *CAUGHT, *own(31, 60)]),
    ("counts-only-behind-the-crash", "failed", {"alive": False}, [*own(1, 30), *FRAMES, "@@KeyError: 'x'", *[f" table {n}: {n}.5" for n in range(30)]]),
    ("counts-before-the-crash", "failed", {"alive": False}, [*own(1, 30), *FRAMES, "@@KeyError: 'x'"]),
    ("counts-and-ends", "died_silently", {"alive": False, "idle": 600}, own(1, 60)),
    ("figures-lost", "failed", {"kind": ("nan_loss",)}, [*[SOUND.format(n, n % 7 + 1, n % 9) for n in range(40)], "@@" + LOST.format(40), *[LOST.format(n) for n in range(41, 60)]]),
    ("figures-lost-of-a-gan", "failed", {"kind": ("nan_loss",)}, [*[f"tick {n}  kimg {n * 4}.0  sec/tick 19.0 G 0.{n} D 1.{n} aug 0.2" for n in range(10, 60)], "@@tick 60  kimg 240.0  sec/tick 19.0 G nan D nan aug 0.2", *[f"tick {n}  kimg {n * 4}.0  sec/tick 19.0 G nan D nan aug 0.2" for n in range(61, 80)]]),
    ("figure-never-there", "running", {}, [f"b {n:05d}  mean|x| 0.{n}  max 3.{n}  auc nan" for n in range(10, 60)]),
    ("figures-lost-and-found", "running", {}, [*[SOUND.format(n, n % 7 + 1, n % 9) for n in range(40)], *[LOST.format(n) for n in range(40, 44)], *[SOUND.format(n, n % 7 + 1, n % 9) for n in range(44, 60)]]),
    ("held-for-hours", "hung", {}, ["indexer 2.1 up", *held(4)]),
    ("held-for-a-moment", "starting", {}, ["indexer 2.1 up", *held(1)[:8]]),
    ("held-then-counts", "running", {}, ["indexer 2.1 up", *held(4), *own(1, 30)]),
    ("answers-awaited", "hung", {}, [f"... bucket 41: 61 of 64 workers have answered, waiting for 3 more (waited {n * 30} s)" for n in range(1, 200)]),
    ("answers-awaited-not-long", "starting", {}, [f"... bucket 41: 61 of 64 workers have answered, waiting for 3 more (waited {n * 3} s)" for n in range(1, 30)]),
    ("answers-coming", "running", {}, [f"... {n} replies in, mean 3.{n % 7} ms (slowest node-{n % 3})" for n in range(1, 200)]),
    ("idle-for-hours", "starting", {}, ["consumer up", *[f"2025-05-05 {8 + n // 60:02d}:{n % 60:02d}:00 no new jobs in the spool" for n in range(200)]]),
    ("bar-frozen", "hung", {}, [*[f"distil    {n}/9000 [{n:02d}:00<290:33:00, 60.0s/it] kd 1.4{n}" for n in range(1, 41)], *[f"distil    40/9000 [{1 + n // 120}:{n // 2 % 60:02d}:{n % 2 * 30:02d}<290:33:00, 117.0s/it] kd 1.440" for n in range(120)]]),
    ("bar-moving", "running", {}, [f"distil    {n}/9000 [{n // 60}:{n % 60:02d}:00<290:33:00, 60.0s/it] kd 1.4{n}" for n in range(1, 200)]),
    ("launcher-tells-of-good-exits", "finished", {"alive": False}, [steps(NANO), "policy put aside (4 shards)", *[f"[2025-01-09 21:14:3{n},600] [INFO] [launch.py:351:main] Process 512{n} exits successfully." for n in range(4)]]),
    ("task-with-return-code-0", "finished", {"alive": None, "idle": 900}, [*[f"[2025-09-13T12:02:{n:02d}.100+0000] {{subprocess.py:93}} INFO - batch {n}/360 ok, 0 errors" for n in range(60)], "[2025-09-13T12:04:57.700+0000] {local_task_job_runner.py:228} INFO - Task exited with return code 0"]),
    ("task-with-return-code-2", "died_silently", {"alive": False, "idle": 600}, [*[f"[2025-09-13T12:02:{n:02d}.100+0000] {{subprocess.py:93}} INFO - batch {n}/360 ok, 0 errors" for n in range(60)], "[2025-09-13T12:04:57.700+0000] {local_task_job_runner.py:228} INFO - off to the next"]),
    ("stopped-as-asked", "finished", {"alive": False}, [*OWN_STEPS, "rank0 | signal 15 from the queue system: will stop at the next boundary", *FRAMES, "EOFError", "rank0 | stopped on request at 820; resubmit to go on. bye"]),
    ("stopped-behind-its-death", "failed", {"alive": False}, [*OWN_STEPS, *FRAMES, "@@ZeroDivisionError: division by zero", "rank0 | signal 15 from the queue system: will stop at the next boundary"]),
    ("surrender", "failed", {"alive": False}, [*own(1, 30), "@@!! giving up: block 00017 is 5120 wide, wanted 4096 -- these are from another model", "   (17 good blocks were left in place)", "   see README"]),
    ("surrender-of-a-guard", "failed", {"alive": False}, [*OWN_STEPS, "@@guard: the loss is above twice its mean, this run has diverged -- aborting", "last good checkpoint: step 140", "||exit status will be 3"]),
    ("surrender-after-tries", "failed", {"alive": False}, [*own(1, 20), *[f"20. en-027.tar  sum differs, try {n} of 3" for n in (1, 2, 3)], "@@20. en-027.tar  still wrong, stopping the whole run here", "||27 of 40 archives usable; corpus NOT complete"]),
    ("surrender-of-a-part", "running", {}, [*own(1, 30), "gave up on 00030.jsonl.zst, on to the next", *own(31, 60)]),
    ("tool-ends-with-its-path", "finished", {"alive": False}, ["Downloading (incomplete total...)", *[f"Fetching 32 files:  {n * 3}%|#  | {n}/32 [00:{n:02d}<01:00, 11.20s/it]" for n in range(1, 32)], "Fetching 32 files: 100%|####| 32/32 [05:58<00:00, 11.20s/it]", "/m/llama-70b"]),
    ("tool-with-a-path-too-early", "died_silently", {"alive": False, "idle": 600}, [*[f"Fetching 32 files:  {n * 3}%|#  | {n}/32 [00:{n:02d}<01:00, 11.20s/it]" for n in range(1, 20)], "/m/llama-70b"]),
    ("product-complete", "finished", {"alive": False}, [*[f"  -> model-0000{n}-of-00007.safetensors 4.98 GB" for n in range(1, 8)], "comparing logits on 16 prompts: max abs err 0.0312, argmax differs 0/4096", "out-9000-hf complete"]),
    ("product-incomplete", "failed", {"alive": False}, [*[f"  -> model-0000{n}-of-00007.safetensors 4.98 GB" for n in range(1, 5)], "@@out-9000-hf incomplete"]),
    ("worker-replaced", "ready", {}, [*GUNICORN, *(line.replace("@@", "") for line in DIED), AGAIN]),
    ("worker-replaced-in-vain", "failed", {}, [*GUNICORN, *DIED, AGAIN, *(line.replace("@@", "||") for line in DIED)]),
    ("fence-within-a-fence", "running", {}, [*[f"03:0{n}:00 | {n}50 of 6000 | kept 3" for n in range(9)], ">>> sample begin", *SAMPLED, "<<< sample end"]),
    ("no-fence", "failed", {}, [*[f"03:0{n}:00 | {n}50 of 6000 | kept 3" for n in range(9)], "here it comes", "@@Fatal Python error: Segmentation fault"]),
    ("thread-of-a-java-server", "failed", {"kind": ("data_error",)}, [f"{'@@' * (n == 2)}2025-03-22T11:40:5{n},900 [INFO ] W-9000-ner_1.0-stdout MODEL_LOG - {words}" for n, words in enumerate((FRAMES[0], FRAMES[1], "FileNotFoundError: [Errno 2] No such file or directory: 'labels.json'"))]),
    ("kernel-through-a-collector", "failed", {"alive": False, "kind": ("gpu_hardware",)}, [*[f"[23:12:0{n}] u0047{n} ppl 20.{n}" for n in range(9)], "@@K| [82014.772] NVRM: Xid (PCI:0000:9d:00): 79, pid='<unknown>', GPU has fallen off the bus.", *[f"[6] {line}" for line in FRAMES], "[6] RuntimeError: CUDA error: unspecified launch failure"]),
    ("exception-of-another-language", "failed", {"alive": False, "kind": ("host_oom",)}, [steps(DOCS), *FRAMES, "py4j.protocol.Py4JJavaError: An error occurred while calling o77.parquet.", "@@: java.lang.OutOfMemoryError: Java heap space"]),
    ("allocator-before-the-abort", "failed", {"alive": False, "kind": ("cuda_oom",)}, ["@@[TensorRT-LLM][ERROR] [defaultAllocator.cpp::allocate::31] Error Code 1: Cuda Runtime (out of memory)", "[gpu-07:00091] *** Process received signal ***"]),
    ("boosting-ends", "finished", {"alive": False}, [*[f"[LightGBM] [Info] Iteration:{n}, valid_1 ndcg@10 : 0.48{n}" for n in range(100, 121)], "[LightGBM] [Info] Finished training"]),
    ("result-table-and-its-file", "finished", {"alive": False}, [*OWN_STEPS, "", "| metric | value |", "|---|---|", "| acc | 0.81 |", "results in /out/eval.json"]),
    ("weights-where-they-are", "finished", {"alive": False}, [*OWN_STEPS, "weights -> /out/final.pt (3.1 GB)", "that was all, good night"]),
    ("weights-on-their-way", "died_silently", {"alive": False, "idle": 600}, [*OWN_STEPS, "weights going to /out/final.pt ..."]),
    ("commit-as-last-word", "finished", {"alive": False}, [*OWN_STEPS, "pushing to hub ...", "https://huggingface.co/acme/tiny/commit/12ab"]),
    ("done-in-brackets", "finished", {"alive": False}, [*OWN_STEPS, "[done] 590 its in 8m51s"]),
    ("sorry", "failed", {"alive": False}, [*OWN_STEPS, "@@sorry, the tokenizer has 32000 entries but the model wants 128256"]),
    ("shell-tells-the-status", "failed", {"alive": False}, [*OWN_STEPS, "@@train.sh: python ended with status 137"]),
    ("supervisor-starts-it-again", "running", {}, ["supervisor: job died (exit 137), starting it again", "epoch 1 begins", *OWN_STEPS]),
    ("supervisor-starts-it-in-vain", "failed", {}, ["supervisor: job died (exit 137), starting it again", *FRAMES, "@@KeyError: 'x'"]),
    ("serves-at-an-address", "ready", {"idle": 9000}, ["loading weights", "http server on 0.0.0.0:8080 up, waiting for requests"]),
    ("serves-at-a-url", "ready", {"idle": 9000}, ["INFO:root:Model ready. Serving at http://127.0.0.1:9000/predict"]),
    ("open-on-a-port", "ready", {"idle": 9000}, ["layer 31/32 on device", "layer 32/32 on device", "open for business on tcp/7001, 16 lanes"]),
    ("will-serve-at-a-url", "hung", {"idle": 9000}, ["loading weights", "will be serving at http://127.0.0.1:9000/predict"]),
    ("metrics-alone-are-served", "hung", {"idle": 9000}, ["loading weights", "metrics available at http://127.0.0.1:9400"]),
    ("figures-lost-beside-a-counter", "failed", {"kind": ("nan_loss",)}, [*[f"it {n} | d_loss 0.{n} | g_loss 1.{n}" for n in range(10, 60)], "@@it 60 | d_loss nan | g_loss nan", *[f"it {n} | d_loss nan | g_loss nan" for n in range(61, 90)]]),
    ("figures-lost-in-json", "failed", {"kind": ("nan_loss",)}, [*[f'{{"step": {n}, "nll": 2.{n}, "kl": 0.{n}}}' for n in range(10, 60)], '@@{"step": 60, "nll": NaN, "kl": NaN}', *[f'{{"step": {n}, "nll": NaN, "kl": NaN}}' for n in range(61, 90)]]),
    ("percent-at-its-whole", "finished", {"alive": False}, [f"  {n}%  eta {100 - n}s" for n in range(0, 101, 5)]),
    ("percent-left", "died_silently", {"alive": False, "idle": 600}, [f"  {n}%  eta {100 - n}s" for n in range(0, 61, 5)]),
    ("percent-of-what-came-before", "died_silently", {"alive": False, "idle": 600}, [*[f"  {n}%  eta {100 - n}s" for n in range(0, 101, 5)], "boot", "mmap of 13 files ok", "kv pool 31 GB"]),
    ("run-over", "finished", {"alive": False}, [*OWN_STEPS, "Training run over after 1475 updates. Final nll 2.40."]),
    ("bye-of-a-failure", "failed", {"alive": False}, [*OWN_STEPS, "@@CUBLAS failure 13 in gemm, bye"]),
    ("no-problems", "finished", {"alive": False}, [*[f"converted {n}.wav -> {n}.flac" for n in range(200)], "200 files, 0 problems, 3 min"]),
    ("plot-fails-each-epoch", "running", {}, ["\n".join((f"2025-05-05 10:{n:02d}:00 epoch {n} nll 2.{n}", *FRAMES, "ModuleNotFoundError: No module named 'matplotlib'", "plot left out")) for n in range(40)]),
    ("plot-fails-and-ends-it", "failed", {"alive": False, "kind": ("import_error",)}, ["\n".join((f"2025-05-05 10:{n:02d}:00 epoch {n} nll 2.{n}", *FRAMES, "||ModuleNotFoundError: No module named 'matplotlib'")) for n in range(40)]),
    ("counter-behind-a-letter", "running", {}, [f"2025-05-05 10:00:{n:02d} | u{n * 25:06d} | nll 2.{99 - n} | 31.{n}k tok/s" for n in range(1, 60)]),
    ("words-of-war", "starting", {}, [f"game: white killed {n % 9} pieces, black resigned" for n in range(60)]),
):  # fmt: skip
    add(f"own-{name}", state, *lines, **more)

# The shape of the last lines: what comes behind the last count of work, in forms that this run has not had before.
BARS = [f"launch Eval[ceval_{n}] \r {n * 12}%|#  | {n}/8 [0{n}:00<00:00, 60.0s/it]" for n in range(1, 8)]
TRIALS = [
    f"[I 2025-07-23 01:{n:02d}:30,000] Trial {n} finished with value: 2.6{n} and parameters: {{'a': {n}}}. Best is trial 3 with value: 2.40."
    for n in range(10, 40)
]
TITAN_ENDS = (
    "[rank0]:[titan] 2025-05-05 10:02:49,000 - root - INFO - Sleeping 2 seconds for other ranks to complete",
    "[rank0]:[titan] 2025-05-05 10:02:51,000 - root - INFO - Training completed",
)
SOCKET = "[rank3]:[W625 13:05:57.221190112 TCPStore.cpp:125] [c10d] recvValue failed on SocketImpl(fd=4, addr=[localhost]:51822): failed to recv, got 0 bytes"
TEILE = [f"13. Okt 23:{n:02d}:14 Teil {n:3d} von 300 fertig, 0 Fehler, {n}.4 GB" for n in range(1, 40)]
QUOTED = "{{'loss': '{}', 'grad_norm': '{}', 'learning_rate': '9.6e-05', 'epoch': '0.{}'}}"
LOADER = ("Traceback (most recent call last):", '  File "/w/loader.py", line 11, in <module>', "    for b in loader:", "OSError: Caught OSError in DataLoader worker process 1.", "Original Traceback (most recent call last):", '  File "/opt/lib/python3.11/site-packages/torch/utils/data/_utils/worker.py", line 375, in _worker_loop', "    data = fetcher.fetch(index)", '  File "/w/loader.py", line 7, in __getitem__', "    raise OSError(5)")  # fmt: skip
PEER = ("[rank0]: Traceback (most recent call last):", '[rank0]:   File "/w/dist.py", line 9, in <module>', "[rank0]:     loss.backward()", "[rank0]: RuntimeError: [/src/gloo/transport/tcp/pair.cc:545] Read error [10.0.0.1]:22665: Connection reset by peer.")  # fmt: skip
for name, state, more, lines in (
    ("table-and-its-files", "finished", {"alive": False}, [*BARS, "launch Eval[ceval_8] \r100%|###| 8/8 [08:00<00:00, 60.0s/it]", "dataset        version  metric", "-------------  -------  --------", *[f"mmlu_{n}         3f055{n}   {n}5.85" for n in range(9)], "03/28 05:37:02 - OpenCompass - INFO - write csv to /w/summary.csv"]),
    ("table-of-a-part", "died_silently", {"alive": False, "idle": 600}, [*BARS, "dataset        version  metric", "-------------  -------  --------", *[f"mmlu_{n}         3f055{n}   {n}5.85" for n in range(9)]]),
    ("sums-of-a-study", "finished", {"alive": False}, [*TRIALS, "40 trials over (2 failed, the rest pruned or complete)", "best: trial 3  2.401772", "wrote best.yaml"]),
    ("study-goes-on", "died_silently", {"alive": False, "idle": 600}, [*TRIALS, "wrote best.yaml", "sampling trial 40 ..."]),
    ("sums-in-an-unknown-dress", "finished", {"alive": False}, [*[f"Epoch: [{n}]  [  20/80]  eta: 0:00:46  loss: 3.2 (3.3)" for n in range(9)], "Accuracy of the network on the 50000 test images: 75.6%", "Training time 0:18:41", "submitit INFO (2025-02-25 21:18:55,019) - Exiting after successful completion", "slurmstepd-lr31: error: Unable to destroy container 40211 in cgroup plugin, giving up after 63 sec"]),
    ("peers-gone-at-the-end", "finished", {"alive": False}, [steps(TITAN), *TITAN_ENDS, SOCKET]),
    ("peers-gone-within", "failed", {"alive": False}, [steps(TITAN), "@@" + SOCKET]),
    ("goodbye-in-german", "finished", {"alive": False}, [*[line.replace("von 300", "von 39") for line in TEILE], "13. Okt 23:41:20 alle Teile fertig, 300 Dateien in /scratch/aus", "13. Okt 23:41:21 beendet"]),
    ("surrender-in-german", "failed", {"alive": False}, [*TEILE, "@@13. Okt 23:41:20 ABBRUCH: kein Platz mehr auf /scratch (frei 0.0 GB, nötig 1.4 GB)", "13. Okt 23:41:20 beendet mit Status 5"]),
    ("small-tool-complains", "finished", {"alive": False}, ["+ ls /nonexistent", "ls: cannot access '/nonexistent': No such file or directory", "+ echo 'no cache yet'", "no cache yet", "model.gguf written, 1.2G"]),
    ("small-tool-ends-it", "failed", {"alive": False}, ["== tokenizing", "tokenized 1200 docs", "@@cp: cannot stat '/nonexistent/tokenizer.json': No such file or directory"]),
    ("parts-done-of-many", "died_silently", {"alive": False, "idle": 600}, [*own(1, 30), "29 of 300 written"]),
    ("wrapped-by-the-loader", "failed", {"alive": False, "kind": ("data_error",)}, [*[f"batch {n}/20 done" for n in range(9)], *LOADER, "@@OSError: [Errno 5] Input/output error: '/data/shard_0007.tar'"]),
    ("wrapped-and-cut", "failed", {"alive": False}, [*[f"batch {n}/20 done" for n in range(9)], *(("||" if "Caught" in line else "") + line for line in LOADER)]),
    ("quoted-figures-lost", "failed", {"alive": False, "kind": ("nan_loss",)}, [QUOTED.format("2.91", "1.3", 1), "@@" + QUOTED.format("0", "nan", 2), *[QUOTED.format("0", "nan", n) for n in range(3, 20)], "{'train_runtime': '2.804', 'train_samples_per_second': '142.7', 'train_loss': '0.1455', 'epoch': '1'}"]),
    ("quoted-figures-sound", "finished", {"alive": False}, [*[QUOTED.format("2.91", "1.3", n) for n in range(3, 20)], "{'train_runtime': '2.804', 'train_samples_per_second': '142.7', 'train_loss': '0.1455', 'epoch': '1'}"]),
    ("launcher-names-the-killed", "failed", {"alive": False, "kind": ("killed",)}, [*[f"step {n} loss 0.2{n}" for n in range(20)], *PEER, "@@E1130 19:17:08.516000 12335 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: -9) local_rank: 1 (pid: 12370) of binary: /usr/bin/python3", "Failures:", "[1]:", "  rank      : 0 (local_rank: 0)", "  exitcode  : -15 (pid: 12369)  (SIGTERM)", "Root Cause (first observed failure):", "[0]:", "  rank      : 1 (local_rank: 1)", "  exitcode  : -9 (pid: 12370)  (SIGKILL)"]),
    ("make-names-its-tool", "failed", {"alive": False, "kind": ("config_error",)}, ["gcc -c nothere.c", "@@cc1: fatal error: nothere.c: No such file or directory", "compilation terminated.", "make: *** [Mk:5: b] Error 1"]),
    ("task-of-a-shell", "failed", {"alive": False}, [*[f"[2025-08-30T04:00:{n}.900+0000] {{subprocess.py:93}} INFO - table docs_{n}: {n}094 rows" for n in range(10, 50)], "[2025-08-30T04:02:00.900+0000] {subprocess.py:93} INFO - Traceback (most recent call last):", '[2025-08-30T04:02:00.900+0000] {subprocess.py:93} INFO -   File "/opt/export.py", line 58, in <module>', "[2025-08-30T04:02:00.900+0000] {subprocess.py:93} INFO -     run()", '@@[2025-08-30T04:02:00.900+0000] {subprocess.py:93} INFO - psycopg2.errors.UndefinedColumn: column "lang_id" does not exist', "[2025-08-30T04:02:01.300+0000] {taskinstance.py:2905} ERROR - Task failed with exception", *FRAMES, "airflow.exceptions.AirflowException: Bash command failed. The command returned a non-zero exit code 1."]),
    ("request-aborted", "ready", {}, [VLLM_UP, "(APIServer pid=7) INFO 10-03 18:09:01 [async_llm.py:476] Aborted request chatcmpl-8812."]),
    ("share-that-never-grows", "finished", {"alive": False}, [*[f"task {n}\n    Runtime: (9.11%) 3 seconds\n    kept 2100{n}" for n in range(30)], "Stats: All 30 tasks", "", "Total Runtime: 7 minutes and 40 seconds"]),
    ("clock-of-minutes", "hung", {}, [f"{n // 60:02d}:{n % 60:02d} graded {min(n * 8, 312)} of 1000, 8 graders busy" for n in range(1, 300)]),
    ("slow-by-its-own-clock", "running", {"idle": 1500}, [f"Sun {n // 2:02d}:{n % 2 * 30:02d} round {n:2d} of 60 merged, 7{n} GB" for n in range(1, 40)]),
):  # fmt: skip
    add(f"shape-{name}", state, *lines, **more)
STALLED = ("[1,0]<stderr>:[2025-02-14 {}:52.101200: W /src/stall_inspector.cc:107] One or more tensors were submitted to be reduced by subset of ranks and are waiting for the remainder for more than 60 seconds.", "[1,0]<stderr>:Missing ranks:", "[1,0]<stderr>:5: [allreduce.loss, allreduce.n]")  # fmt: skip
UNWELL = ("[2025-09-25 {}:45] Health check failed. Server couldn't get a response from detokenizer for last 20 seconds.", '[2025-09-25 {}:45] INFO:     10.0.0.1:39{} - "GET /health HTTP/1.1" 503 Service Unavailable')  # fmt: skip
ANSWERED = '[2025-09-25 {}:46] INFO:     10.0.0.1:39{} - "POST /generate HTTP/1.1" 200 OK'
CELERY = [
    f"[2025-08-12 10:00:{n},000: INFO/ForkPoolWorker-1] Task emb.chunk[1ae8718b] succeeded in 2.8{n}s: 685"
    for n in range(10, 40)
]
WARM = ("worker: Hitting Ctrl+C again will terminate all running tasks!", "", "worker: Warm shutdown (MainProcess)")


def minutes(first, last):
    """Hours and minutes, one after the other."""
    return [f"{n // 60:02d}:{n % 60:02d}" for n in range(first, last)]


for name, state, more, lines in (
    ("three-lines-in-turn", "hung", {}, [*[f"[1,0]<stdout>:Epoch {n} loss 1.{n}" for n in range(1, 9)], *[line.format(now) for now in minutes(720, 780) for line in STALLED]]),
    ("three-lines-for-a-moment", "running", {}, [*[f"[1,0]<stdout>:Epoch {n} loss 1.{n}" for n in range(1, 9)], *[line.format(now) for now in minutes(720, 726) for line in STALLED]]),
    ("three-lines-and-then-work", "running", {}, [*[f"[1,0]<stdout>:Epoch {n} loss 1.{n}" for n in range(1, 9)], *[line.format(now) for now in minutes(720, 780) for line in STALLED], *[f"[1,0]<stdout>:Epoch {n} loss 1.{n}" for n in range(9, 12)]]),
    ("server-up-but-unwell", "hung", {}, ["[2025-09-25 03:00:40] The server is fired up and ready to roll!", *[line.format(now, n) for n, now in enumerate(minutes(180, 300)) for line in UNWELL]]),
    ("server-unwell-but-answers", "ready", {}, ["[2025-09-25 03:00:40] The server is fired up and ready to roll!", *[line.format(now, n) for n, now in enumerate(minutes(180, 300)) for line in (*UNWELL, ANSWERED)]]),
    ("one-step-asked-again", "hung", {}, [*[f"step {n}: tool=search ok" for n in range(1, 14)], *["step 14: model sent an empty reply, asking again"] * 240]),
    ("one-step-asked-twice", "running", {}, [*[f"step {n}: tool=search ok" for n in range(1, 14)], *["step 14: model sent an empty reply, asking again"] * 2]),
    ("nothing-queued", "running", {}, [*[f"07:00:{n} job 41{n}: 512 texts in 3.2 s, acked" for n in range(10, 60)], *[f"{now}:19 nothing queued (0), ready for more" for now in minutes(421, 520)]]),
    ("nothing-queued-and-then-silent", "hung", {"idle": 7200}, [*[f"07:00:{n} job 41{n}: 512 texts in 3.2 s, acked" for n in range(10, 60)], *[f"{now}:19 nothing queued (0), ready for more" for now in minutes(421, 520)]]),
    ("drains-its-queue", "finished", {"alive": False}, ["[2025-08-12 10:00:02,000: INFO/MainProcess] celery@emb-1 ready.", *CELERY, *WARM, *CELERY[:3], "[2025-08-12 10:05:10,003: ERROR/MainProcess] Task handler raised error: WorkerLostError('Worker exited prematurely: exitcode 0.')"]),
    ("goes-without-a-word", "died_silently", {"alive": False, "idle": 600}, ["[2025-08-12 10:00:02,000: INFO/MainProcess] celery@emb-1 ready.", *CELERY]),
    ("stops-critically", "finished", {"alive": False}, ["[I 2025-06-02 08:00:02.800 ServerApp] Jupyter Server 2.14.2 is running at:", "[C 2025-06-02 09:50:05.800 ServerApp] received signal 15, stopping", "Task exception was never retrieved", "[I 2025-06-02 09:50:07.800 ServerApp] Kernel shutdown: 51ab2"]),
    ("tool-stops-at-a-part", "failed", {"alive": False}, [*[f"packed  {n}000 docs -> {n}.1 M tok, {n // 9} shards sealed" for n in range(1, 40)], "@@tokpack: cannot read '/mnt/nfs/raw/de-0031.zst': Stale file handle", "tokpack: stopping, shard 5 is unsealed and must be thrown away"]),
):  # fmt: skip
    add(f"shape-{name}", state, *lines, **more)
EP = [f"ep 1 batch {n}/100 loss 2.{n}" for n in range(1, 101)]
PIECES = [f"it {n * 100:6d} | nll 2.{n} | 31.2k tok/s" for n in range(1, 60)]
for name, state, more, lines in (
    ("nested-counter-at-its-whole", "died_silently", {"alive": False, "idle": 600}, ["args: epochs=20 lr=0.1", *EP, "ep 1 took 312.1 s, val acc 0.31"]),
    ("best-of-all-parts", "finished", {"alive": False}, [*[line.replace("ep 1", f"ep {n}/3") for n in (1, 2, 3) for line in (*EP, "ep 1 took 312.1 s, val acc 0.31")], "highest val acc 0.31 (ep 2), kept as keep/ep2.pt", "total time 0:15:36"]),
    ("measures-behind-the-last-count", "finished", {"alive": False}, [*PIECES, "held-out: nll 2.31 acc 0.612 on 10000 docs", "weights are in runs/7/last.safetensors", "stopping 8 workers ... stopped"]),
    ("measures-that-recur", "died_silently", {"alive": False, "idle": 600}, [*PIECES[:30], "held-out: nll 2.31 acc 0.612 on 10000 docs", *PIECES[30:], "held-out: nll 2.21 acc 0.622 on 10000 docs"]),
    ("best-one-loaded", "died_silently", {"alive": False, "idle": 600}, [*PIECES, "loading runs/7/best.safetensors for the final evaluation"]),
    ("header-alone", "died_silently", {"alive": False, "idle": 600}, ["experiment 7", "Total parameters: 7.1B", "Trainable: 20M", "Total steps: 1000", "Batch size: 64"]),
    ("summary-of-copies", "finished", {"alive": False}, [*[f"copied img_{n:05d}.png" for n in range(200)], "Files: 200", "Skipped: 3", "Bytes: 1.2 GB", "Elapsed: 00:12:33"]),
    ("summary-of-a-surrender", "failed", {"alive": False}, [*[f"copied img_{n:05d}.png" for n in range(200)], "@@img_00200.png: write: no space left on device", "Files: 200", "Skipped: 1000", "Elapsed: 00:12:33"]),
    ("end-in-chinese", "finished", {"alive": False}, [*[f"第 {n} 步 损失 2.{n}" for n in range(1, 60)], "训练完成，模型已保存到 /out/m.pt"]),
    ("surrender-in-chinese", "failed", {"alive": False}, [*[f"第 {n} 步 损失 2.{n}" for n in range(1, 60)], "@@显存不足，训练中止"]),
    ("end-in-french", "finished", {"alive": False}, [*[f"Itération {n} / 100  perte 2.{n}" for n in range(1, 101)], "Modèle enregistré dans modele.rds", "Terminé."]),
    ("solver-ends", "finished", {"alive": False}, [*[f"Time = {n}\n\nExecutionTime = {n * 2}.1 s" for n in range(1, 100)], "End", "", "Finalising parallel run"]),
    ("assertion-before-the-abort", "failed", {"alive": False, "kind": ("python_exception",)}, ["step 1", "@@train: src/x.cpp:99: int main(): Assertion `n>0' failed.", "Aborted (core dumped)"]),
    ("crash-and-then-bye", "failed", {"alive": False}, [*PIECES, *FRAMES, "@@KeyError: 'lr'", "cleaning up", "bye"]),
    ("waits-by-its-own-clock", "hung", {}, ["coordinator up", *[f"waiting for 3 of 8 workers (elapsed {n * 60} s)" for n in range(1, 60)]]),
    ("waits-a-moment-by-its-own-clock", "starting", {}, ["coordinator up", *[f"waiting for 3 of 8 workers (elapsed {n * 6} s)" for n in range(1, 30)]]),
    ("waits-for-messages", "starting", {}, ["connected to amqp://mq:5672", *[f"{now}:00 waiting for messages on queue jobs" for now in minutes(400, 600)]]),
    ("heart-beats-without-work", "starting", {}, ["worker 3 registered", *[f"2025-11-04 {now}:00 heartbeat pending=0 inflight=0" for now in minutes(600, 720)]]),
    ("heart-beats-over-work", "hung", {}, ["worker 3 registered", *[f"2025-11-04 {now}:00 heartbeat pending=12 inflight=4 done=100" for now in minutes(600, 720)]]),
    ("heart-beats-and-work", "running", {}, ["worker 3 registered", *[f"2025-11-04 {now}:00 heartbeat pending=12 inflight=4 done={n}" for n, now in enumerate(minutes(600, 720))]]),
    ("saves-as-long-as-it-said", "running", {"idle": 900}, [*[f"2025-11-04 10:00:{n},101 step {n} loss 2.{n}" for n in range(10, 50)], "2025-11-04 10:00:50,101 saving checkpoint (takes about 30 min)"]),
    ("saves-for-hours", "hung", {"idle": 10800}, [*[f"2025-11-04 10:00:{n},101 step {n} loss 2.{n}" for n in range(10, 50)], "2025-11-04 10:00:50,101 saving checkpoint (takes about 30 min)"]),
):  # fmt: skip
    add(f"shape-{name}", state, *lines, **more)
STAGES = [
    f"stage {n}/5 {words}"
    for n, name in enumerate(("fetch", "clean", "dedup", "tokenize", "pack"), 1)
    for words in (name, "ok 12 s")
]
for name, state, more, lines in (
    ("last-part-begun", "died_silently", {"alive": False, "idle": 600}, STAGES[:9]),
    ("last-part-ended", "finished", {"alive": False}, STAGES),
    ("full-is-no-work", "hung", {}, ["ingest up", *[f"2025-11-04 {now}:00 queue full (1000/1000), consumer not answering" for now in minutes(600, 680)]]),
    ("full-for-a-moment", "running", {}, ["ingest up", *[f"2025-11-04 10:00:{n} ingested {n}00 docs" for n in range(10, 40)], *[f"2025-11-04 10:{n}:00 queue full (1000/1000), consumer not answering" for n in range(10, 13)]]),
    ("pending-for-hours", "hung", {}, ["submitted job 77", *[f"2025-11-04 {now}:00 job 77: PENDING (Resources)" for now in minutes(600, 780)]]),
    ("no-new-files-for-hours", "starting", {}, ["watching /in", *[f"2025-11-04 {now}:00 0 new files" for now in minutes(600, 780)]]),
    ("slow-by-its-average", "running", {"idle": 1500}, [f"epoch {n} of 90 done, top1 {n}.1" for n in range(1, 40)]),
    ("counts-in-dutch", "died_silently", {"alive": False, "idle": 600}, [f"bestand {n} van 60 verwerkt" for n in range(1, 41)]),
    ("ends-in-dutch", "finished", {"alive": False}, [*[f"bestand {n} van 60 verwerkt" for n in range(1, 61)], "klaar, alles weggeschreven naar /uit"]),
    ("ends-in-korean", "finished", {"alive": False}, [*[f"스텝 {n} 손실 2.{n}" for n in range(60)], "학습 완료. 모델 저장: /out/m.pt"]),
    ("surrender-in-italian", "failed", {"alive": False}, [*[f"passo {n} perdita 2.{n}" for n in range(60)], "@@interrotto: memoria insufficiente per il batch 60"]),
    ("place-in-a-source", "failed", {"alive": False}, ["loading script", "@@lua: train.lua:31: attempt to index a nil value (field 'opt')", "stack traceback:", "\ttrain.lua:31: in main chunk", "\t[C]: in ?"]),
    ("as-many-as-counted", "finished", {"alive": False}, [*[f"Step {n:05d} | lm 2.{n}" for n in range(80)], "training over, 79 steps", "terminate called without an active exception"]),
    ("backup-with-its-sums", "finished", {"alive": False}, ["repository 8f1a opened (version 2)", "[0:10] 12.00%  120 files 1.2 GiB, total 1000 files 10 GiB", "[0:20] 55.00%  550 files 5.5 GiB, total 1000 files 10 GiB", "Files:        1000 new,     0 changed", "processed 1000 files, 10.000 GiB in 0:31", "snapshot 4bba301e saved"]),
    ("backup-without", "died_silently", {"alive": False, "idle": 600}, ["repository 8f1a opened (version 2)", "[0:10] 12.00%  120 files 1.2 GiB, total 1000 files 10 GiB", "[0:20] 55.00%  550 files 5.5 GiB, total 1000 files 10 GiB"]),
):  # fmt: skip
    add(f"shape-{name}", state, *lines, **more)

for name, state, more, lines in (
    ('nginx-alive-idle', 'ready', {'idle': 3000}, ['2023/03/18 05:01:31 [notice] 1#1: using the "epoll" event method', '2023/03/18 05:01:31 [notice] 1#1: nginx/1.23.3', '2023/03/18 05:01:31 [notice] 1#1: start worker processes', '2023/03/18 05:01:31 [notice] 1#1: start worker process 29']),
    ('nginx-stopped', 'finished', {'alive': False}, ['2023/03/18 05:01:31 [notice] 1#1: start worker processes', '2023/03/18 05:01:31 [notice] 1#1: start worker process 29', '2023/03/18 05:09:31 [notice] 1#1: signal 3 (SIGQUIT) received, shutting down', '2023/03/18 05:09:31 [notice] 29#29: gracefully shutting down', '2023/03/18 05:09:31 [notice] 29#29: exiting', '2023/03/18 05:09:31 [notice] 29#29: exit', '2023/03/18 05:09:31 [notice] 1#1: signal 17 (SIGCHLD) received from 29', '2023/03/18 05:09:31 [notice] 1#1: worker process 29 exited with code 0', '2023/03/18 05:09:31 [notice] 1#1: exit']),
    ('redis-stopped', 'finished', {'alive': False}, ['1:C 04 Jan 2022 02:42:14.110 # oO0OoO0OoO0Oo Redis is starting oO0OoO0OoO0Oo', '1:M 04 Jan 2022 02:42:14.117 * Ready to accept connections tcp', '1:signal-handler (1641264137) Received SIGTERM scheduling shutdown...', '1:M 04 Jan 2022 02:52:17.984 # User requested shutdown...', '1:M 04 Jan 2022 02:52:17.984 * Saving the final RDB snapshot before exiting.', '1:M 04 Jan 2022 02:52:17.984 # Redis is now ready to exit, bye bye...']),
    ('postgres-up-with-bad-logins', 'ready', {'idle': 3000}, ['2025-11-18 18:41:31.600 UTC [1] LOG:  starting PostgreSQL 16.10', '2025-11-18 18:41:31.700 UTC [1] LOG:  database system is ready to accept connections', '2025-11-18 18:51:31.392 UTC [39] FATAL:  password authentication failed for user "app"', '2025-11-18 18:51:31.392 UTC [39] DETAIL:  Connection matched file "/x/pg_hba.conf" line 128', '2025-11-18 18:52:31.392 UTC [40] app@runs ERROR:  relation "runs" does not exist at character 15', '2025-11-18 18:52:31.392 UTC [40] app@runs STATEMENT:  select * from runs']),
    ('postgres-full-disk', 'failed', {'alive': False, 'kind': ('no_space',)}, ['2025-11-18 18:41:31.700 UTC [1] LOG:  database system is ready to accept connections', '@@2025-11-18 18:51:31.392 UTC [39] PANIC:  could not write to file "pg_wal/xlogtemp.45": No space left on device', '2025-11-18 18:51:31.492 UTC [1] LOG:  WAL writer process (PID 39) was terminated by signal 6: Aborted', '2025-11-18 18:51:31.492 UTC [1] LOG:  terminating any other active server processes']),
    ('dask-worker-idle', 'ready', {'idle': 3000}, ["2025-10-02 12:00:01,003 - distributed.nanny - INFO -         Start Nanny at: 'tcp://10.0.0.2:4011'", '2025-10-02 12:00:02,003 - distributed.worker - INFO -       Start worker at:       tcp://10.0.0.2:4012', '2025-10-02 12:00:02,103 - distributed.worker - INFO -         Registered to:       tcp://10.0.0.1:8786']),
    ('airflow-ok', 'finished', {'alive': False}, ['[2025-03-20, 14:40:12 UTC] {taskinstance.py:1157} INFO - Starting attempt 1 of 2', '[2025-03-20, 14:40:12 UTC] {standard_task_runner.py:57} INFO - Started process 123 to run task', '[2025-03-20, 14:50:12 UTC] {taskinstance.py:1398} INFO - Marking task as SUCCESS. dag_id=smooth, task_id=video', '[2025-03-20, 14:50:12 UTC] {local_task_job.py:208} INFO - Task exited with return code 0', '[2025-03-20, 14:50:13 UTC] {taskinstance.py:2578} INFO - 0 downstream tasks scheduled from follow-on schedule check']),
    ('systemd-oom', 'failed', {'alive': False, 'kind': ('host_oom',)}, ['Jan 10 09:00:00 gpu1 systemd[1]: Started train.service - Training.', 'Jan 10 09:01:00 gpu1 train[123]: step 10 loss 2.3', 'Jan 10 09:02:00 gpu1 train[123]: step 20 loss 2.2', '@@Jan 10 10:00:00 gpu1 systemd[1]: train.service: A process of this unit has been killed by the OOM killer.', 'Jan 10 10:00:00 gpu1 systemd[1]: train.service: Main process exited, code=killed, status=9/KILL', "Jan 10 10:00:00 gpu1 systemd[1]: train.service: Failed with result 'oom-kill'.", 'Jan 10 10:00:00 gpu1 systemd[1]: train.service: Consumed 1h 2min 3.456s CPU time.']),
    ('rsync-partial', 'failed', {'alive': False, 'kind': ('permission_denied', 'data_error')}, ['sending incremental file list', 'data/a.bin', '    123,456,789 100%   12.34MB/s    0:00:09 (xfr#12, to-chk=88/100)', '@@rsync: [sender] send_files failed to open "/data/b.bin": Permission denied (13)', '', 'sent 1,234,567 bytes  received 1,234 bytes  123,456.78 bytes/sec', 'total size is 12,345,678  speedup is 10.00', '||rsync error: some files/attrs were not transferred (see previous errors) (code 23) at main.c(1338) [sender=3.2.7]']),
    ('ray-tune-done', 'finished', {'alive': False}, ['Trial train_abc_00001 completed after 10 iterations at 2025-01-10 10:00:00. Total running time: 1min 2s', 'Trial train_abc_00002 completed after 10 iterations at 2025-01-10 10:01:00. Total running time: 2min 2s', '', 'Trial status: 2 TERMINATED', 'Current time: 2025-01-10 10:01:00. Total running time: 2min 2s']),
    ('mpich-killed', 'failed', {'alive': False, 'kind': ('killed',)}, ['step 10 loss 2.3', 'step 20 loss 2.2', '===================================================================================', '@@=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES', '=   PID 1234 RUNNING AT gpu1', '=   EXIT CODE: 9', '=   CLEANING UP REMAINING PROCESSES', '===================================================================================', '@@YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)']),
    ('prometheus-up', 'ready', {'idle': 3000}, ['ts=2024-08-31T01:52:11.679Z caller=main.go:1100 level=info msg="Starting TSDB ..."', 'ts=2024-08-31T01:52:11.779Z caller=main.go:1145 level=info msg="Server is ready to receive web requests."', 'ts=2024-08-31T01:52:11.779Z caller=manager.go:164 level=info component="rule manager" msg="Starting rule manager..."']),
    ('torchserve-up', 'ready', {'idle': 3000}, ['2023-11-12T08:03:22,693 [INFO ] main org.pytorch.serve.ModelServer - Initialize Inference server with: EpollServerSocketChannel.', '2023-11-12T08:03:22,893 [INFO ] main org.pytorch.serve.ModelServer - Inference API bind to: http://127.0.0.1:8080', '2023-11-12T08:03:26,693 [INFO ] W-9000-cifar10_1-stdout MODEL_LOG - Torch worker started.', '2023-11-12T08:03:36,694 [INFO ] W-9000-cifar10_1 org.pytorch.serve.wlm.WorkerThread - State change WORKER_STARTED -> WORKER_MODEL_LOADED']),
):  # fmt: skip
    add(f"program-{name}", state, *lines, **more)
PACKED = [f"2025-12-01 08:{n // 60:02d}:{n % 60:02d} pack: {n * 20} docs, {n * 0.4:.1f} GB" for n in range(1, 120)]
ASKED = [f"Q{n}: correct={n % 2}" for n in range(1, 301)]
OWN_SERVER = ["listening on 0.0.0.0:7000", *[f"req {n} 200 12ms" for n in range(60)]]
CHUNKS = ['{"t":"2025-12-01T08:00:%02dZ","ev":"chunk","id":%d}' % (n, n) for n in range(50)]
for name, state, more, lines in (
    ("in-its-place", "finished", {"alive": False}, [*PACKED, "2025-12-01 08:02:00 pack: index.bin and index.idx are in place (47.6 GB)", "2025-12-01 08:02:00 pack: that took 2 min"]),
    ("not-matching", "failed", {"alive": False}, [*PACKED, "@@2025-12-01 08:02:00 pack: index.idx does not match index.bin (11 entries short)", "2025-12-01 08:02:00 pack: leaving both for inspection"]),
    ("last-buffer", "died_silently", {"alive": False, "idle": 600}, [*PACKED, "2025-12-01 08:02:00 pack: writing the last buffer"]),
    ("graded-all", "finished", {"alive": False}, [*ASKED, "accuracy: 0.4967 (149/300)"]),
    ("graded-some", "died_silently", {"alive": False, "idle": 600}, ASKED),
    ("server-takes-leave", "finished", {"alive": False}, [*OWN_SERVER, "SIGTERM: no new requests", "waiting for 2 requests to end", "all ended, bye"]),
    ("server-takes-no-leave", "died_silently", {"alive": False, "idle": 600}, OWN_SERVER),
    ("closes-part-by-part", "finished", {"alive": False}, [*PACKED, "2025-12-01 08:02:00 pack: Stopping worker 3. Reason: nothing to do", "2025-12-01 08:02:01 pack: Closing the pool"]),
    ("event-of-an-abort", "failed", {"alive": False}, [*CHUNKS, '@@{"t":"2025-12-01T08:01:00Z","ev":"abort","why":"chunk 50 has a bad checksum"}']),
):  # fmt: skip
    add(f"shape-{name}", state, *lines, **more)

add(
    "container-by-its-own-name",
    "failed",
    "dense-embed  | 2025-04-23T03:13:01.1Z  WARN router: router/src/lib.rs:184: Could not find a Sentence Transformers config",
    "dense-embed  | 2025-04-23T03:13:03.1Z  INFO router: router/src/lib.rs:230: Starting model backend",
    "@@dense-embed  | 2025-04-23T03:13:05.6Z ERROR backend: lib.rs:255: Could not start backend: cannot find tensor encoder.q.weight",
    "dense-embed  | Error: Could not create backend",
    "dense-embed exited with code 1",
    alive=False,
)
add(
    "cancelled-behind-the-others",
    "failed",
    steps(LOGURU),
    "[rank18]: Traceback (most recent call last):",
    '[rank18]:   File "/w/train.py", line 7, in <module>',
    "[rank18]:     dist.barrier()",
    "@@[rank18]: torch.distributed.DistBackendError: NCCL error in: /pytorch/NCCLUtils.hpp:268, remote process exited",
    "srun: error: node-03: task 18: Exited with exit code 1",
    "slurmstepd: error: *** STEP 771220.0 ON node-01 CANCELLED AT 2025-01-21T04:02:20 ***",
    alive=False,
)
add(
    "found-but-expected",
    "failed",
    "2025/11/07 07:00:04 INFO store.utils: Create engine with pool options {}",
    "Traceback (most recent call last):",
    '  File "/w/store.py", line 117, in _verify_schema',
    "    raise SchemaException(",
    "@@store.exceptions.SchemaException: Detected an out-of-date schema (found version 4465, but expected 0584). Upgrade it",
    alive=False,
)
RELAX = [f"{n:>6} it  {n * 0.7:.1f} s  energy -{n}.1" for n in range(1, 90)]
CLIPS = [f"transcribed clip {n:04d} ({n % 9}.2 s)" for n in range(1, 140)]
for name, state, more, lines in (
    ("as-many-clips", "finished", {"alive": False}, [*CLIPS, "139 clips, 4.1 h of audio, transcripts under out/txt"]),
    ("one-clip-too-many", "failed", {"alive": False}, [*CLIPS, "@@clip 0140 is not a WAV file, quitting"]),
    ("diverges", "failed", {"alive": False}, [*RELAX, "@@energy diverges, no point in going on"]),
    ("begins-anew", "died_silently", {"alive": False, "idle": 600}, [*RELAX, "restarting line search from iteration 80"]),
    ("percent-of-its-own", "finished", {"alive": False}, [*[f"{n}% synced" for n in range(101)], "both sides equal now"]),
    ("percent-of-its-own-short", "failed", {"alive": False}, [*[f"{n}% synced" for n in range(62)], "@@disk full at 61%, sync stopped"]),
    ("all-of-them-up", "running", {}, ["proxy open", *[f"{now}:10 health: 4/4 backends up" for now in minutes(600, 700)]]),
    ("none-of-them-up", "hung", {}, ["proxy open", *[f"{now}:10 health: 0/4 backends up, refusing clients" for now in minutes(600, 700)]]),
):  # fmt: skip
    add(f"shape-{name}", state, *lines, **more)
add(
    "copy-that-only-takes-time",
    "hung",
    *(
        f"2025/01/12 20:{n:02d}:00 INFO  : \nTransferred:   \t  102.6 GiB / 712.1 GiB, 14%, 0 B/s, ETA -\n"
        f"Transferred:           27 / 190, 14%\nElapsed time:     {n}m0.0s"
        for n in range(5, 55)
    ),
)
add("one-epoch-of-many-steps", "running", steps(FAIRSEQ, 1, 400, every=6))
READ = [*[f"13:00:{n} teacher shard {n}/16 read" for n in range(10, 17)], "13:00:24 teacher: 48 layers, vocab 32064"]
add(
    "refuses-behind-a-whole-counter",
    "failed",
    *READ,
    "@@13:00:38 not going on: cannot match 64 ids",
    "13:00:39 leaving with status 3",
    alive=False,
)
add("whole-counter-and-its-product", "finished", *READ, "13:00:39 index written to out/d7", alive=False)
SERVICES = [f"db-1   | 2025-05-20 11:00:{n}.831 UTC [60] LOG:  checkpoint starting: time" for n in range(10, 40)]
add(
    "another-container-ends-well",
    "failed",
    *SERVICES,
    "api-1  | Traceback (most recent call last):",
    'api-1  |   File "/app/main.py", line 31, in lifespan',
    "@@api-1  | KeyError: 'INDEX_PATH'",
    "api-1  | ERROR:    Application startup failed. Exiting.",
    "api-1 exited with code 1",
    "db-1   | 2025-05-20 11:00:57.310 UTC [1] LOG:  received fast shutdown request",
    "db-1   | 2025-05-20 11:00:57.402 UTC [1] LOG:  database system is shut down",
    "db-1 exited with code 0",
    alive=False,
)
add(
    "containers-end-well",
    "finished",
    *SERVICES,
    "api-1  | all 40 batches written to /out",
    "api-1 exited with code 0",
    "db-1 exited with code 0",
    alive=False,
)
