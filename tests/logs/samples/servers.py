# ruff: noqa: E501, UP031
"""Servers of models and of anything else: up, idle, stopped, and dead while their process lives."""

from __future__ import annotations

from logs.samples.kit import FRAMES, OOM, SGL_UP, VLLM_UP, add, bars, trace

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
    "tgi-waiting",
    "starting",
    *[
        '{"timestamp":"2025-05-05T10:0%d:00Z","level":"INFO","fields":{"message":"Waiting for shard to be ready..."},"target":"text_generation_launcher","span":{"rank":0,"name":"shard-manager"}}'
        % n
        for n in range(8)
    ],
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
    "vanished-server",
    "died_silently",
    VLLM_UP,
    *['(APIServer pid=7) INFO:     10.0.0.1:1234 - "POST /v1/chat/completions HTTP/1.1" 200 OK'] * 5,
    alive=False,
    idle=600,
)
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
    "vanish-vllm-graph",
    "died_silently",
    "INFO 10-21 09:11:09 [api_server.py:1839] vLLM API server version 0.11.0",
    bars("Capturing CUDA graphs (mixed prefill-decode, PIECEWISE)", 67, 67),
    "(EngineCore_DP0 pid=9) INFO 10-21 09:14:09 [gpu_model_runner.py:3480] Graph capturing finished in 5 secs, took 0.62 GiB",
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
add(
    "error-then-fine-server",
    "ready",
    VLLM_UP,
    "(APIServer pid=7) ERROR 10-21 09:20:31 [serving_models.py:10] The model `gpt-4` does not exist.",
    '(APIServer pid=7) INFO:     10.0.0.1:1 - "POST /v1/chat/completions HTTP/1.1" 404 Not Found',
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
    "celery-task-error",
    "ready",
    "[2025-01-16 08:00:00,101: INFO/MainProcess] celery@node7 ready.",
    "[2025-01-16 08:00:03,101: ERROR/ForkPoolWorker-1] Task jobs.embed[04-ac] raised unexpected: ValueError('empty document')",
    *FRAMES,
    "ValueError: empty document",
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
