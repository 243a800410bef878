# ruff: noqa: E501, UP031
"""Twists of what is known: prefixes that no table has, summaries that are no results, errors that were lived with, and ends in other words."""

from __future__ import annotations

from logs.samples.kit import MAXTEXT, NANO, add, rows, steps, trace


def behind(name: str, text: str) -> str:
    """Each line of a text behind the name of a host, as a launcher puts it there; the mark of a root stays in front."""
    marked = [(line[:2], line[2:]) if line.startswith(("@@", "||")) else ("", line) for line in text.split("\n")]
    return "\n".join(f"{mark}{name}: {line}" for mark, line in marked)


# The name of a host before `: `, whatever its spelling: learned from the log.

WATCHDOG = "[rank33]:[E502 18:08:36.113 ProcessGroupNCCL.cpp:2027] [PG ID 0 PG GUID 0(default_pg) Rank 33] Process group watchdog thread terminated with exception: NCCL error: remote process exited or there was a network error, NCCL version 2.21.5"
ELASTIC = """torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
pretrain.py FAILED
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2025-05-02_18:08:36
  host      : %s
  rank      : 33 (local_rank: 1)
  exitcode  : -6 (pid: 8121)
  error_file: <N/A>
  traceback : Signal 6 (SIGABRT) received by PID 8121
============================================================"""

for name in ("n04", "10.4.0.4", "gpu-b3", "c12.cluster.local", "atlas", "dgx0012-ib"):
    add(
        "host-before-steps-" + name,
        "failed",
        behind(name, steps("step {n} | loss {loss} | 412.1 TFLOPs | {t}")),
        behind(name, trace("ValueError: batch 31 has 0 tokens")),
        behind(name, ELASTIC % name),
        alive=False,
    )
add(
    "hosts-of-one-launch",
    "failed",
    *[f"n{n:02d}: NCCL INFO comm 0x55 rank {n} nranks 8 busId 1b000 - Init COMPLETE" for n in range(8)],
    behind("n00", steps("step {n} | loss {loss} | {t}")),
    "@@n05: RuntimeError: The size of tensor a (4096) must match the size of tensor b (4097)",
    behind("n00", WATCHDOG),
    behind("n00", ELASTIC % "n05"),
    alive=False,
)

# A summary of failures is no table of results, whatever stands before its rows.

rows(
    "failure-summary-behind-",
    *[
        (
            name,
            "failed",
            {"alive": False},
            [
                *[front + line for line in steps(NANO).split("\n")],
                *[front + line for line in (ELASTIC % "n04").split("\n")],
            ],
        )
        for name, front in (("brackets", "[n04] "), ("bar", "n04 | "), ("dash", "n04 - "), ("nothing", ""))
    ],
)
add(
    "own-failure-summary",
    "failed",
    steps("unit {n}/1000 ok"),
    "",
    "state    : FAILED",
    "unit     : 31",
    "host     : c7",
    "elapsed  : 62.1 s",
    alive=False,
)

add(
    "names-and-values-alone",
    "died_silently",
    steps("unit {n}/1000 ok"),
    "unit     : 31",
    "host     : c7",
    "elapsed  : 62.1 s",
    "memory   : 61.2 GiB",
    alive=False,
)

# NCCL's own word on a completion that cannot be mended is the root of what the watchdog says later.

for name, words in (
    ("status", "NET/IB: Got completion from peer 10.4.0.9<43112> with status=12 opcode=32605 len=0 vendor err 129 (Recv)"),
    ("error", "NET/IB : Got completion from peer 10.4.0.9<43112> with error 4, opcode 2, len 0, vendor err 81"),
    ("poll", "[Proxy Progress] Call to ibv_poll_cq failed: transport retry counter exceeded"),
    ("name", "NET/IB : Got async event, completion IBV_WC_RETRY_EXC_ERR on mlx5_1"),
):  # fmt: skip
    add(
        "nccl-lost-" + name,
        "failed",
        steps(NANO),
        f"@@c4:8120:8455 [0] transport/net_ib.cc:2231 NCCL WARN {words}",
        "c4:8120:8455 [0] NCCL INFO transport/net.cc:1298 -> 6",
        WATCHDOG,
        "terminate called after throwing an instance of 'c10::DistBackendError'",
        kind="nccl_system",
        alive=False,
    )

# What is said again and again once a server is up: stuck where work was in flight or the words are of something stuck.

UP = (
    "INFO 10-06 10:00:02 [api_server.py:1971] Starting vLLM API server 0 on http://0.0.0.0:8000",
    "INFO:     Application startup complete.",
)


def stats(minute: int, running: int) -> str:
    speed = "353.7" if running else "0.0"
    return f"INFO 10-06 10:{minute:02d}:03 [loggers.py:127] Engine 000: Avg prompt throughput: {speed} tokens/s, Avg generation throughput: {speed} tokens/s, Running: {running} reqs, Waiting: 0 reqs, GPU KV cache usage: 31.0%"


def each_minute(words: str, times: int = 45) -> list[str]:
    return [f"INFO 10-06 {11 + n // 60:02d}:{n % 60:02d}:23 {words}" for n in range(times)]


BUSY = [stats(n, 8) for n in range(3, 17)]
rows(
    "up-and-then-",
    ("blocked", "hung", {}, [*UP, *BUSY, stats(18, 0), *each_minute("[queue.py:66] no free slots in the broadcast ring since 60 seconds, a reader may be hanging")]),
    ("waits-for-a-rank", "hung", {}, [*UP, stats(18, 0), *each_minute("[mp.py:12] waiting for rank 3 to answer")]),
    ("in-flight-and-no-more-figures", "hung", {}, [*UP, *BUSY, *each_minute('10.0.0.1:55120 - "GET /health HTTP/1.1" 200 OK')]),
    ("idle-and-asked-for-its-health", "ready", {}, [*UP, *BUSY, stats(18, 0), *each_minute('10.0.0.1:55120 - "GET /health HTTP/1.1" 200 OK')]),
    ("idle-and-waits-for-work", "ready", {}, [*UP, stats(18, 0), *each_minute("[q.py:3] waiting for requests")]),
)  # fmt: skip

# A gradient norm of nan: for long it is a failure, whatever the loss; for a few steps, or where a scaler speaks, it is none.


def logged(first: int, last: int, norm: str, loss: str = "1.51") -> list[str]:
    return [f"{{'loss': {loss}, 'grad_norm': {norm}, 'learning_rate': 1e-05, 'epoch': {n / 100:.2f}}}" for n in range(first, last)]  # fmt: skip


SCALER = [row for n in range(16) for row in (f"OVERFLOW! Rank 0 Skipping step. Attempted loss scale: {2 ** (32 - n)}, reducing to {2 ** (31 - n)}", f"step {n} loss 2.1{n} grad norm: nan")]  # fmt: skip
rows(
    "norm-is-nan-",
    ("for-long", "failed", {"kind": "nan_loss"}, [*logged(1, 30, "1.2"), "@@" + logged(30, 31, "nan")[0], *logged(31, 60, "nan")]),
    ("and-then-the-loss-is-lost", "failed", {"kind": "nan_loss"}, [*logged(1, 30, "1.2"), "@@" + logged(30, 31, "nan", "2.4")[0], *logged(31, 60, "nan", "0.0")]),
    ("for-five-steps", "running", {}, [*logged(1, 30, "1.2"), *logged(30, 35, "nan")]),
    ("for-a-while", "running", {}, [*logged(1, 30, "1.2"), *logged(30, 45, "nan"), *logged(45, 47, "1.1")]),
    ("while-a-scaler-looks-for-its-scale", "running", {}, SCALER),
    ("since-ever", "failed", {"kind": "nan_loss"}, logged(1, 60, "nan")),
)  # fmt: skip

# An address to open is readiness, and cures what was lived with before; one of somewhere else is none.

LIVED_WITH = (
    trace("ModuleNotFoundError: No module named 'insightface'", own="/opt/ui/nodes.py")
    .replace("@@", "")
    .replace("in <module>", "in load_node")
)
for name, words in (
    ("go-to", "To see the GUI go to: http://0.0.0.0:8188"),
    ("open", "Open http://localhost:3000 in your browser"),
    ("ui-at", "Web UI available at http://10.0.0.3:9000/ui"),
    ("local-url", "Local URL: http://localhost:8501"),
    ("visit", "Ready! Please visit http://gpu-7:7860/"),
):
    add("address-" + name, "ready", "loading 31 nodes", LIVED_WITH, "", "31 nodes, 1 not imported", "", words)
for name, words in (
    ("of-a-forum", "for help go to https://discuss.example.org/t/import-errors"),
    ("of-a-run", "View run calm-sea-3 at https://tracker.example.ai/runs/3"),
    ("still-to-come", "Starting UI at http://10.0.0.1:8265"),
):
    add("address-" + name, "failed", "loading 31 nodes", trace("ModuleNotFoundError: No module named 'insightface'"), "", words, alive=False)  # fmt: skip

# What only prepares the work is starting; a service beside the job is not the job.

rows(
    "prepares-",
    ("prefetch", "starting", {}, [f"[09/04/2025-08:20:{n:02d}] [TRT-LLM] [I] Prefetching /m/model-{n:05d}-of-00040.safetensors to memory..." for n in range(1, 30)]),
    ("convert", "starting", {}, [f"Convert to engine format:  {n}%|███       | {n}/100 [00:19<00:32,  1.54it/s]" for n in range(1, 30)]),
    ("compile", "starting", {}, ["Building extension module fused_adam...", "[1/3] /usr/local/cuda/bin/nvcc -DTORCH_EXTENSION_NAME=fused_adam -c a.cu -o a.o", "[2/3] c++ -MMD -MF b.o.d -c b.cpp -o b.o"]),
    ("quantities", "starting", {}, [row for n in range(12) for row in (f"> total number of sequences: {2210000 + n}", f"Maximum number of tokens per request: {512 + n}")]),
    ("restore", "starting", {}, [f"Restoring optimizer shard {n} of 64 from /ckpt" for n in range(1, 20)]),
    ("parameter-table", "starting", {}, [f"| block_{n}/mlp/kernel | (1024, 4096) | 4,194,304 | 1.2e-05 |" for n in range(24)]),
    ("downloads-by-name", "starting", {}, [f"model-00003.safetensors:  {n}%|##        | {n * 30}M/3.0G [00:35<00:15, 46.3MB/s]" for n in range(1, 90, 3)]),
)  # fmt: skip
TRACKER = (
    "mlflow-1   | [2025-06-03 07:00:19 +0000] [21] [INFO] Starting gunicorn 23.0.0",
    "mlflow-1   | [2025-06-03 07:00:19 +0000] [21] [INFO] Listening at: http://0.0.0.0:5000 (21)",
)
DATABASE = ("db-1       | 2025-06-15 09:00:05 UTC [1] LOG:  database system is ready to accept connections",)
SCHEDULER = ("2025-01-30 20:00:04,131 - distributed.scheduler - INFO -   Scheduler at: tcp://10.0.3.7:8786",)
rows(
    "beside-it-",
    ("a-tracker", "running", {}, [*TRACKER, *[f"trainer-1  | 2025-06-03 07:01:{n:02d} step {n} loss 2.{n}" for n in range(10, 40)]]),
    ("a-tracker-while-it-loads", "starting", {}, [*TRACKER, *[f"trainer-1  | 2025-06-03 07:01:{n:02d} loading shard {n}/64" for n in range(10, 40)]]),
    ("a-database", "running", {}, [*DATABASE, *[f"tuner-1    | [I 2025-06-15 09:{n:02d}:55,118] Trial {n} finished with value: 0.8{n}" for n in range(10, 40)]]),
    ("a-scheduler", "running", {}, [*SCHEDULER, *[f"2025-01-30 20:01:{n:02d},842 - features.build - INFO - partition {n}/240 written (199.1 MB)" for n in range(10, 40)]]),
    ("a-database-of-a-server", "ready", {}, [*DATABASE, "api-1      | INFO:     Application startup complete."]),
)  # fmt: skip

# Ends.

MAKE = ("> compiling dataset index builder ...", "make: Entering directory '/opt/m/datasets'", "make: Nothing to be done for 'default'.", "make: Leaving directory '/opt/m/datasets'")  # fmt: skip
rows(
    "ends-",
    ("of-a-tool-and-then-it-aborts", "failed", {"alive": False}, [*MAKE, "building the model ...", "@@no metadata file in /ckpt/m13b/latest", "||>> '--exit-on-missing-checkpoint' is set, exiting <<", "srun: error: c17: tasks 0-7: Exited with exit code 1"]),
    ("of-a-tool-and-then-nothing", "died_silently", {"alive": False}, [*MAKE, "building the model ...", " > number of parameters on rank 0: 3296158720", "setting up the optimizer with lr=2e-05"]),
    ("of-an-installer-that-lists", "finished", {"alive": False}, ["Resolved 41 packages in 1.2s", "Prepared 2 packages in 3.10s", "Installed 2 packages in 12ms", " + numpy==2.1.0", " + torch==2.7.0"]),
    ("with-children-that-failed", "finished", {"alive": False}, [*[row for n in range(1, 31) for row in (f"sample {n} exited with code {n % 2}", f"{n}/30 judged")], "sample 31 exited with code 1", "pass@1: 0.50", "Done."]),
    ("of-a-build", "finished", {"alive": False}, ["make: Entering directory '/opt/m'", "cc -c a.c", "cc -c b.c", "make: Nothing to be done for 'install'.", "make: Leaving directory '/opt/m'"]),
    ("with-a-part-written", "failed", {"alive": False}, [*[f"[ {n}/1200] /raw/{n:05d}.parquet" for n in range(60)], "@@id 64211 is not in the vocabulary (64000)", "closing 48 procs", "wrote 60 of 1200 files", "exit 4"]),
    ("leaving-with-a-status", "failed", {"alive": False}, [*[f"unit {n} done" for n in range(30)], "@@unit 30: checksum does not match the manifest", "leaving with 2"]),
    ("with-a-status-of-three", "failed", {"alive": False}, [*[f"unit {n} done" for n in range(30)], "@@unit 30: checksum does not match the manifest", "status 3"]),
    ("set-up-with-no-failures", "finished", {"alive": False}, ["checking for gcc... gcc", "smoke test: 1 gpu, matmul ok", "setup finished in 811 s, 0 failures"]),
    ("set-up-complete", "finished", {"alive": False}, ["creating the venv", "installing 41 wheels", "Setup complete."]),
    ("environment-ready", "finished", {"alive": False}, ["creating the venv", "installing 41 wheels", "environment ready"]),
    ("set-up-of-a-trainer", "died_silently", {"alive": False}, ["world size 8, lr=3e-4", "building the optimizer", "setup complete"]),
    ("all-drills-passed", "finished", {"alive": False}, [*[f"drill {n:02d} PASS" for n in range(1, 21)], "drills: 20, passed 20, failed 0"]),
    ("some-drills-failed", "failed", {"alive": False}, [*[f"drill {n:02d} PASS" for n in range(1, 21)], "drills: 21, passed 20, failed 1", "exit 1"]),
)  # fmt: skip

# What was lived with, and then was not: the abort has no cause of its own.

DROPPED = trace("openai.AuthenticationError: Error code: 401 - {'error': {'message': 'Incorrect API key provided'}}")
for name, words in (
    ("incomplete", "RuntimeError: incomplete judging"),
    ("only-so-many", "RuntimeError: only 30 of 1200 pairs were judged"),
    ("too-many", "RuntimeError: too many failures"),
):
    add(
        "lived-with-until-" + name,
        "failed",
        steps("{d} INFO judge: {n}/1200 judged"),
        "2025-05-05 10:01:02 ERROR judge: pair 31 dropped",
        DROPPED,
        "2025-05-05 10:01:03 WARNING judge: cancelling 15 outstanding requests",
        trace(words).replace("@@", ""),
        alive=False,
        kind="auth",
    )
add(
    "lived-with-for-good",
    "failed",
    "2025-05-05 09:59:02 ERROR judge: pair 31 dropped",
    DROPPED.replace("@@", ""),
    steps("{d} INFO judge: {n}/1200 judged"),
    trace("RuntimeError: incomplete judging"),
    alive=False,
)

# The exit status of a child, in the program's own words.

for name, words, kind in (
    ("status", "w5 (pid 31177) ended with status 139 on unit 31", "segfault"),
    ("code", "worker 5 exited with code 139", "segfault"),
    ("signal", "loader-3 was killed by signal 11", "segfault"),
    ("returned", "child 7 returned 1", "python_exception"),
):
    add(
        "child-told-by-" + name,
        "failed",
        steps("{t} unit {n} ok"),
        f"@@10:01:02 {words}",
        "10:01:03 pool: stopping 5 workers",
        *[f"10:01:04 w{n} bye" for n in range(4)],
        alive=False,
        kind=kind,
    )
    add("child-replaced-" + name, "running", steps("{t} unit {n} ok"), f"10:01:02 {words}", "10:01:03 pool: putting the unit back", steps("{t} unit {n} ok", 31, 60, start="10:01:04"))  # fmt: skip

# Errors that the next sentence takes back, and a run that was put back into the queue and went on.

rows(
    "cured-by-",
    ("ok", "starting", {}, ["gcc: error: unrecognized command-line option '-mavx10.1'", "configure: compiler does not accept -mavx10.1, ok", "checking for x... yes"]),
    ("optional", "starting", {}, [*LIVED_WITH.split("\n"), "insightface is optional: falling back to mediapipe", "reading the graph"]),
    ("instead", "starting", {}, ["ERROR: could not load libfused.so", "libfused.so is missing, using the slow kernels instead", "reading the graph"]),
    ("something-else", "failed", {"alive": False}, ["@@ModuleNotFoundError: No module named 'insightface'", "numpy is optional: falling back to lists", "reading the graph"]),
)  # fmt: skip
REQUEUED = (
    "slurmstepd: error: *** JOB 55120 ON g04 CANCELLED AT 2025-05-05T10:01:02 DUE TO JOB REQUEUE ***",
    "srun: error: g04: task 0: Terminated",
    "== job 55120 restart 1 on g09 ==",
)
rows(
    "requeued-",
    ("and-goes-on", "running", {}, [*steps("{d} it {n} loss {loss}").split("\n"), *REQUEUED, "resumed from /ckpt/it30.pt", *steps("{d} it {n} loss {loss}", 31, 37, start="10:05:00").split("\n")]),
    ("and-counts-long", "running", {}, [*steps("{d} it {n} loss {loss}").split("\n"), *REQUEUED, *steps("{d} it {n} loss {loss}", 31, 60, start="10:05:00").split("\n")]),
    ("and-not-back-yet", "failed", {"alive": False, "kind": "preempted"}, [*steps("{d} it {n} loss {loss}").split("\n"), "@@" + REQUEUED[0], REQUEUED[1]]),
)  # fmt: skip

# A traceback that is quoted set in, what a library says of threads, and the shapes of an exception group.


def quoted(words: str, error: str, indent: str = "   ") -> list[str]:
    """A traceback as one quotes it: set in, behind the words that say why it is there."""
    return [words, *(indent + row.removeprefix("@@") for row in trace(error).split("\n"))]


GROUP = """  + Exception Group Traceback (most recent call last):
  |   File "/home/u/synth/main.py", line 71, in main
  |     async with asyncio.TaskGroup() as tg:
  | ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/home/u/synth/worker.py", line 40, in one
    |     raise self._status_error(response) from None
@@    | PermissionError: the key of this project is disabled
    +---------------- 2 ----------------
    | Traceback (most recent call last):
    |   File "/home/u/synth/worker.py", line 40, in one
    |     raise self._status_error(response) from None
    | RuntimeError: the session is closed
    +------------------------------------"""
OK_ROWS = steps("{t} INFO synth: ok={n} rejected=3 errors=0")
LOG_TIMEOUT = [
    "@@OSError: [Errno 116] Stale file handle",
    *steps(NANO, 31, 40).split("\n"),
    *trace("TimeoutError: the writer did not drain in 600 s").replace("@@", "").split("\n"),
]
rows(
    "quoted-",
    ("as-expected", "finished", {"alive": False}, [*quoted(" caught as expected:", "FloatingPointError: loss is nan"), "recovered, loss as the reference's", "all 4 cases passed"]),
    ("as-expected-deep", "finished", {"alive": False}, [*quoted("refused as expected:", "ValueError: no such key", "      "), "all 4 cases passed"]),
    ("for-no-reason", "failed", {"alive": False}, [*steps(NANO).split("\n"), *quoted("the worker ended:", "FloatingPointError: loss is nan")]),
)  # fmt: skip
rows(
    "group-behind-",
    ("a-retry", "failed", {"alive": False}, [OK_ROWS, "10:01:03 WARNING client: Retrying request in 0.9 seconds (429 Too Many Requests)", "10:01:05 INFO synth: ok=31 rejected=3 errors=0", GROUP]),
    ("work-alone", "failed", {"alive": False}, [OK_ROWS, GROUP, "Unclosed client session"]),
)  # fmt: skip
rows(
    "thread-",
    ("that-one-waited-for", "failed", {"alive": False}, [steps(NANO), "Exception in thread ckpt-writer:", *trace("OSError: x").split("\n")[:-1], *LOG_TIMEOUT]),
    ("beside-a-cause-of-its-own", "failed", {"alive": False}, [steps(NANO), "Exception in thread ckpt-writer:", *trace("OSError: [Errno 116] Stale file handle").replace("@@", "").split("\n"), steps(NANO, 31, 40), trace("ValueError: batch 41 has 0 tokens")]),
)  # fmt: skip
rows(
    "told-by-",
    ("loguru-as-caught", "failed", {"alive": False}, ["2025-05-05 10:01:02.000 | ERROR    | ex.base:_run:108 - An error has been caught in function '_run', process 'Worker-3' (1871), thread 'MainThread' (140):", *trace("EOFError: Compressed file ended before the end-of-stream marker was reached").split("\n")]),
    ("an-init-container", "failed", {"alive": False}, ["@@[init] fatal error: An error occurred (AccessDenied) when calling the ListObjectsV2 operation: not authorized for s3://models/a", "[init] + exit 0", "[vllm] INFO 05-05 10:00:22 [api_server.py:1787] vLLM API server version 0.10.1.1", *(f"[vllm] {row}" for row in trace("x").split("\n")[:-1]), "[vllm] huggingface_hub.errors.HFValidationError: Repo id must be in the form 'repo_name' or 'namespace/repo_name': '/mnt/models'."]),
    ("pip-in-a-quote", "failed", {"alive": False}, ["  error: subprocess-exited-with-error", "  × python setup.py egg_info did not run successfully.", "  │ exit code: 1", "  ╰─> [5 lines of output]", "      Traceback (most recent call last):", '        File "/tmp/p/setup.py", line 198, in <module>', "          raise OSError('CUDA_HOME environment variable is not set. '", "@@      OSError: CUDA_HOME environment variable is not set.", "      [end of output]", "error: metadata-generation-failed"]),
    ("absl-of-a-peer", "failed", {"alive": False}, [steps(MAXTEXT), "@@E0000 00:00:1756865847.211030    4402 coordination_service.cc:1358] /job:w/task:5 has been set to ERROR in coordination service: UNAVAILABLE: Task /job:w/task:5 heartbeat timeout.", "E0000 00:00:1756865847.621030    4390 agent.cc:408] Polling for error from coordination service encountered unknown error: CANCELLED: CANCELLED", "Fatal Python error: Aborted"]),
)  # fmt: skip
rows(
    "lived-with-",
    ("a-client-that-tries-again", "starting", {}, ["E0000 00:00:1751484689.955014    1204 coordination_client.cc:118] Failed to connect to coordination service at a:1234 (DEADLINE_EXCEEDED); will be retried", "I0702 19:31:51.426228 140218 distributed.py:106] Connecting to JAX distributed service on a:1234"]),
    ("a-workflow-that-ignores", "finished", {"alive": False}, ["[9c/77aa01] Submitted process > EMBED (batch_72)", "[9d/1fa2c0] NOTE: Process `QC (batch_72)` terminated with an error exit status (1) -- Error is ignored", "[ac/77aa01] Submitted process > EMBED (batch_80)", "", "Completed at: 29-Oct-2025 09:48:02", "Duration    : 48m 1s", "CPU hours   : 61.4 (1.2% failed)", "Succeeded   : 191", "Failed      : 1"]),
    ("a-path-that-will-be-ignored", "running", {}, ["[NeMo E 2025-05-05 10:00:27 exp_manager:707] explicit_log_dir: /r/g and at least one of exp_dir: None, or version: None. Note that they will be ignored.", steps(NANO)]),
    ("percents-of-words", "running", {}, [*(f"[dedup] {n}% buckets merged, dropped={n * 8}" for n in range(5, 30, 5)), "ValueError: bucket 7 is empty, putting it back", *(f"[dedup] {n}% buckets merged, dropped={n * 8}" for n in range(30, 60, 5))]),
)  # fmt: skip

# What a container, a program or a rank says among others: names before a bar, turns of a conversation, dumps by rank.

PODS = [f"[pod/slice-{n % 4}/jax] completed step: {n}, seconds: 2.1, loss: 3.0" for n in range(1, 30)]
TURN = [
    "(Rollout pid=88) First sample: reward=0 response=<|im_start|>assistant",
    "(Rollout pid=88) Segmentation fault (core dumped)",
    "(Trainer pid=89) step 19: {'train/loss': 0.3}",
    "(Rollout pid=88) so the bound must be j < m.",
    "(Rollout pid=88) <|im_end|>",
]
OTHERS = ["(Trainer pid=89) step %d: {'train/loss': 0.3}" % n for n in range(1, 19)]
BARS = [
    f"12:08:{n:02d} {'vllm.1' if n % 2 else 'grpo.1'}    | {'INFO:     200 OK' if n % 2 else {'loss': 0.1 + n}}"
    for n in range(30)
]
OOM = trace("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB.").split("\n")
MILVUS = [
    f'milvus-standalone  | [2025/02/11 03:12:{n:02d}.742 +00:00] [INFO] [rootcoord/root_coord.go:1711] ["done to flush segments"] ["numSegments"={n}]'
    for n in range(10, 30)
]
rows(
    "among-others-",
    ("a-peer-in-a-pod", "failed", {"alive": False}, [*PODS, "[pod/slice-2/jax] W1203 10:07:20.9 312 io.cc:1] read failed, retry 2 of 2", *(f"[pod/slice-2/jax] {row}" for row in trace("x").split("\n")[:-1]), "@@[pod/slice-2/jax] PermissionError: no access to gs://a/b", "[pod/slice-1/jax] E1203 10:07:24.950792     411 coordination_service_agent.cc:392] Polled an error from coordination service: UNAVAILABLE", "[pod/slice-1/jax] *** SIGABRT received by PID 1 (TID 411) on cpu 37 from PID 1; ***", "[pod/slice-1/jax] Fatal Python error: Aborted"]),
    ("a-turn-that-ends", "running", {}, [*OTHERS, *TURN, "(Trainer pid=89) step 20: {'train/loss': 0.3}"]),
    ("a-turn-that-does-not-end", "failed", {"alive": None}, [steps(NANO), "sample: <|im_start|>assistant The answer is", *trace("ValueError: no tokens").split("\n")]),
    ("a-turn-of-the-same-that-speaks-again", "failed", {"alive": False}, [steps("{d} it {n} loss {loss}"), "<think>", "Killed", "2025-05-05 10:02:00 [ERROR] the tokenizer has no pad token", "@@2025-05-05 10:02:00 [ERROR] ValueError: no pad token in /m/tokenizer.json"]),
    ("behind-an-aligned-bar", "failed", {"alive": False}, [*BARS, *(f"12:09:42 vllm.1    | {row}" if not row.startswith("@@") else f"@@12:09:42 vllm.1    | {row[2:]}" for row in OOM[:3]), "12:09:42 grpo.1    |   4%|▍         | 23/600 [09:01<3:41:12, 23.0s/it]", *(f"12:09:42 vllm.1    | {row}" if not row.startswith("@@") else f"@@12:09:42 vllm.1    | {row[2:]}" for row in OOM[3:]), "12:09:43 grpo.1    | [rank0]: Exception: Request failed: 500, Internal Server Error", "12:09:44 system    | grpo.1 stopped (rc=1)"]),
    ("a-panic-behind-a-bar", "failed", {"alive": False, "kind": "no_space"}, [*MILVUS, "@@milvus-standalone  | panic: failed to update tso: etcdserver: mvcc: database space exceeded", "milvus-standalone  | ", "milvus-standalone exited with code 2"]),
    ("dumped-by-rank", "failed", {"alive": False}, [*(f"[batch={n}/900]: loss 2.{n}" for n in range(1, 20)), "ERROR:composer.cli.launcher:Rank 5 crashed with exit code 1.", *("----------Begin global rank %d STDERR----------\n[rank%d]:[W1106 09:02:17.89 TCPStore.cpp:122] [c10d] recvValue failed on SocketImpl(fd=60): failed to recv, got 0 bytes\n----------End global rank %d STDERR----------" % (n, n, n) for n in range(1, 5)), "----------Begin global rank 5 STDERR----------", "2024-11-06 09:02:15,911: rank5[4415][MainThread]: DEBUG: composer.utils.file_helpers: retry 2 of 2", trace("ValueError: Checksum failure: /tmp/shard.00731.mds.zstd"), "----------End global rank 5 STDERR----------", *("----------Begin global rank %d STDERR----------\n----------End global rank %d STDERR----------" % (n, n) for n in range(6, 8))]),
    ("a-notebook-that-is-run", "failed", {"alive": False, "kind": "cuda_oom"}, [*trace("papermill.exceptions.PapermillExecutionError: ").replace("@@", "").split("\n"), "-" * 70, 'Exception encountered at "In [15]":', "-" * 70, "||OutOfMemoryError                          Traceback (most recent call last)", "Cell In[15], line 12", "---> 12 trainer.train()", "", "@@OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", "", "upload failed: out/a.ipynb to s3://b/a.ipynb An error occurred (ExpiredToken) when calling the PutObject operation"]),
    ("a-part-of-a-script", "failed", {"alive": False}, ["== quant.sh: 1/2 quantize ==", *(f"Quantizing layers.{n} using 512 samples" for n in range(9)), trace("LinAlgError: the input is not positive-definite"), "== quant.sh: 2/2 smoke test ==", *trace("OSError: /q/out does not appear to have a file named config.json").replace("@@", "").split("\n"), "quant.sh: smoke test failed, nothing uploaded"]),
    ("a-server-that-starts-its-worker-again", "failed", {"alive": False, "kind": "import_error"}, [*("%s [INFO ] W-9001-r_2.1-stdout MODEL_LOG - %s" % (at, row.removeprefix("@@")) if not (row.startswith("@@") and at.endswith("12,755")) else "@@%s [INFO ] W-9001-r_2.1-stdout MODEL_LOG - %s" % (at, row[2:]) for at in ("2025-04-02T08:11:12,755", "2025-04-02T08:11:19,632") for row in ["Backend worker process died.", *trace("ImportError: the SentencePiece library was not found").split("\n")]), "entrypoint.sh: workers: 0 READY after 50 s, giving up", "2025-04-02T08:11:54,161 [INFO ] main org.pytorch.serve.ModelServer - Torchserve stopped.", 'Exception in thread "W-9001-stderr" java.io.IOException: Stream closed']),
    ("tasks-lost-before-the-job", "failed", {"alive": False}, [*(f"25/07/01 23:04:{n:02d} INFO TaskSetManager: Finished task {n}.0 in stage 3.0 (TID {n}) in 49 ms on d1 (executor 5) ({n}/512)" for n in range(10, 20)), *(f"{'@@' if n == 0 else ''}25/07/01 23:04:2{n} WARN TaskSetManager: Lost task 71.{n} in stage 3.0 (TID 97{n}) (10.0.6.14 executor 4): java.io.FileNotFoundException: /local/shuffle_5d (Too many open files)" for n in range(4)), "25/07/01 23:04:28 ERROR TaskSetManager: Task 71 in stage 3.0 failed 4 times; aborting job", *trace("py4j.protocol.Py4JJavaError: An error occurred while calling o211.parquet.").replace("@@", "").split("\n"), "25/07/01 23:04:30 INFO SparkContext: Successfully stopped SparkContext", "25/07/01 23:04:30 ERROR TransportRequestHandler: Error sending result to /10.9.1.3:40118; closing connection", "java.nio.channels.ClosedChannelException"]),
    ("a-compiler-behind-warnings", "failed", {"alive": False}, ["2025-Jan-15 07:20:31.0112 41220:41980 [0] nccl_net_ofi_init:1415 CCOM WARN NET/OFI aws-ofi-nccl initialization failed", *(f"2025-01-15 07:2{n}:21.000142:  41220  INFO ||CACHE||: Compile cache path: /var/tmp/c{n}" for n in range(1, 6)), "@@2025-01-15T07:27:05Z ERROR 42871 [ncc]: [NCC_EOOM001] memory needed for the model's activation tensors exceeds the limit: 26.113 GB required, 16.000 GB available", "2025-01-15T07:27:05Z ERROR 42871 [ncc]: Artifacts stored in: /tmp/w/9a1c/", "[rank0]: Traceback (most recent call last):", '[rank0]:   File "/home/u/run.py", line 203, in <module>', "[rank0]: RuntimeError: Bad StatusOr access: INTERNAL: Command 'ncc compile' returned non-zero exit status 70."]),
    ("an-end-that-a-crash-follows", "failed", {"alive": False, "kind": "killed"}, [*(f"[05/29 12:11:{n:02d} d2.utils.events]:  eta: 11:33:43  iter: {n}9  total_loss: 1.7" for n in range(10, 30)), "ERROR [05/29 12:13:26 d2.engine.train_loop]: Exception during training:", trace("RuntimeError: DataLoader worker (pid 40233) is killed by signal: Killed. "), "[05/29 12:13:26 d2.engine.hooks]: Total training time: 0:12:55 (0:00:06 on hooks)", *trace("RuntimeError: DataLoader worker (pid 40233) is killed by signal: Killed. ").replace("@@", "").split("\n")]),
    ("tests-that-were-skipped", "finished", {"alive": False}, [*(f"{n}/20 Test #{n}: a{n} ......   Passed     0.{n} sec" for n in range(1, 21)), "", "100% tests passed, 0 tests failed out of 20", "", "Total Test time (real) =  168.03 sec", "", "The following tests did not run:", "	 12 - oom_handler.cuda (Skipped)"]),
)  # fmt: skip
STUCK = "1 in flight (group 63), waiting (%02d:00 elapsed) | trainer: idle, waiting for batch 37"
add(
    "idle-beside-a-counter-that-stands",
    "hung",
    *[f"08:{n:02d}:00 INFO | Rollouts {n * 10}/512 done" for n in range(10)],
    "08:10:00 INFO | Rollouts 511/512 done",
    *[f"08:{n:02d}:00 INFO | Rollouts 511/512 done, {STUCK % (n - 10)}" for n in range(11, 59)],
)
NAN_BAR = "\r".join(
    f"steps:  {n}%|███▌      | {n}/100 [11:15<18:54,  1.10s/it, avr_loss={'nan' if n > 40 else 0.09}]"
    for n in range(1, 61)
)
add("nan-within-one-drawn-line", "failed", "epoch 1/10", "@@" + NAN_BAR, kind="nan_loss")
YOLO = "\r".join(
    f"  %d/100      9.03G      %s      %s     23        640: {n * 25:3d}%%|{'█' * n}{' ' * (4 - n)}| {n * 4}/16 [00:0{n}<00:01,  4.51it/s]"
    for n in range(5)
)
add("nan-columns-of-drawn-lines", "failed", *[("@@" if e == 4 else "||" if e > 4 else "") + YOLO % ((e, *(["nan"] * 2 if e > 3 else ["1.2", "2.3"])) * 5) for e in range(1, 8)], kind="nan_loss")  # fmt: skip

# What looks like a cause or an end and is none: a small tool's complaint, advice at the start, a tracker's first words, a summary.

IMPORT = "ImportError: /e/flash_attn_2_cuda.cpython-311-x86_64-linux-gnu.so: undefined symbol: _ZN3c105ErrorC2E"
WANDB = [
    "wandb: Tracking run with wandb version 0.19.8",
    "wandb: Run data is saved locally in /h/wandb/run-2",
    "wandb: Syncing run dpo-r3",
    "[INFO|trainer.py:2414] 2025-09-25 18:01:49,113 >> ***** Running training *****",
]
TRITON = "triton-1  | E0515 13:40:09.4335{n} 1 {what}"
rows(
    "beside-the-cause-",
    ("a-small-tool", "failed", {"alive": False, "kind": "import_error"}, ["df: /root/.triton/autotune: No such file or directory", trace(IMPORT)]),
    ("a-launchers-defaults", "failed", {"alive": False, "kind": "auth"}, ["The following values were not passed to `accelerate launch` and had defaults used instead:", "	`--num_processes` was set to a value of `2`", trace("requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://hub/m/config.json")]),
    ("what-a-server-makes-of-it", "failed", {"alive": False}, ["triton-1  | W0515 13:40:04.533549 1 metrics.cc:706] \"Unable to get power limit for GPU 0.\"", "@@" + TRITON.format(n=1, what='logging.cc:40] "IRuntime::deserializeCudaEngine: Error Code 6: API Usage Error (The engine plan file is generated on an incompatible device, expecting compute 8.9 got compute 8.0, please rebuild.)"'), TRITON.format(n=2, what="model_lifecycle.cc:654] \"failed to load 'reranker' version 1: Internal: unable to load plan file to auto complete config: /models/reranker/1/model.plan\""), "triton-1  | error: creating server: Internal - failed to load all models", "triton-1 exited with code 1"]),
    ("a-warning-before-it", "failed", {"alive": False}, ["2025-06-11 07:02:16.231807551 [W:onnxruntime:log, tensorrt_execution_provider.h:92 log] CUDA lazy loading is not enabled in /opt/ort/config.json", "@@" + "E0612 07:14:11.400000 1 model_lifecycle.cc:654] \"failed to load 'ranker' version 1: Internal: onnx runtime error 1: Load model from /models/ranker/1/model.onnx failed: protobuf parsing failed\""]),
)  # fmt: skip
add("bar-at-zero-behind-a-trackers-words", "hung", *WANDB, "  0%|          | 0/381 [00:00<?, ?it/s]", idle=4200.0)
TASK = "(TaskRunner pid=7788) "
QUOTE = [
    TASK + row
    for row in (
        "[response] Let me run it:",
        "```",
        "Segmentation fault (core dumped)",
        "RuntimeError: NCCL communicator was aborted on rank 3.",
        "```",
        "[score] 1.0",
    )
]
add("quoted-by-a-worker", "running", *[f"{TASK}step:{n} - actor/entropy:0.22" for n in range(9)], *QUOTE, f"{TASK}step:9 - actor/entropy:0.2")  # fmt: skip

# What a script does without, what a program says it tried again, and a linker's complaint that stopped nothing.

rows(
    "or-else-",
    ("true", "finished", {"alive": False}, [steps("EM sub_iter={n} obj={loss}"), "Saving vocabs: out/u.vocab", "+ notify-send built", "build.sh: line 41: notify-send: command not found", "+ true", "+ echo 'ALL DONE'", "ALL DONE"]),
    ("stop", "failed", {"alive": False}, [steps("EM sub_iter={n} obj={loss}"), "+ sentencepiece-train a.txt", "@@build.sh: line 41: sentencepiece-train: command not found", "+ echo 'cleanup: done'", "cleanup: done"]),
    ("unbound", "failed", {"alive": False}, ["[00:00:23] configs 1-2 done, uploading curves", "@@./sweep.sh: line 88: ENTITY: unbound variable", "[00:00:23] cleanup: releasing lock /ckpt/.lock", "[00:00:23] cleanup: done"]),
    ("tried-again", "failed", {"alive": False}, ['{"level": "error", "event": "s3.get failed", "key": "m/tokenizer.json", "attempt": 1, "max_attempts": 5}', '{"level": "info", "event": "dataset.open", "rows": 120}', '@@{"level": "critical", "event": "preflight.abort", "detail": "logits have 152064 columns but lm_head has 151936; refusing to start"}', '{"level": "info", "event": "bye"}']),
    ("linked", "failed", {"alive": False, "kind": "import_error"}, ["/usr/bin/ld: cannot find -lcufile: No such file or directory", "collect2: error: ld returned 1 exit status", trace(IMPORT)]),
    ("refused-again-and-again", "failed", {"alive": False}, [*(f"2025-10-01T10:5{n}:27.9Z [info     ] shard.stored    shard=11{n} rows=98315" for n in range(9)), *(f"{'@@' if n == 0 else '||'}2025-10-01T11:0{n}:32.9Z [error    ] put.refused   shard=120 attempt={n + 1} reason='ExpiredToken: The token has expired.' http=400" for n in range(3)), "2025-10-01T11:05:18.0Z [error    ] breaker.open   parked=6 limit=5"]),
    ("abandoned", "failed", {"alive": False}, [*(f"ep {n:02d} | train 4.7 | dev ppl {140 - n} | 41s  *best" for n in range(1, 9)), "@@!! dev ppl 8412.7 is over the ceiling (400), this run is not worth continuing", "||!! run 0231 abandoned after 11 of 60 epochs", "   best model so far: ep 07 -> runs/0231/best.pt", "total 7m 34s"]),
    ("nested-task", "failed", {"alive": False}, [*(f"[ Info: 21:17:{n:02d} t = {n}.50 / 40.0   dt = 1.0e-4" for n in range(10, 18)), "||ERROR: LoadError: TaskFailedException", "", "@@    nested task error: DomainError with -1.3041e-7:", "    sqrt was called with a negative real argument", "    Stacktrace:"]),
    ("rsync-behind-its-bar", "failed", {"alive": False, "kind": "no_space"}, ["curl: (22) The requested URL returned error: 404", "    no delta manifest for today, using the full one", "laion/part-00175.tar", "@@    284,164,096  41%  101.33MB/s    0:00:03  rsync: [receiver] write failed on \"/m/part-00175.tar\": No space left on device (28)", "rsync error: error in file IO (code 11) at receiver.c(380) [receiver=3.2.7]"]),
    ("asked-again", "hung", {}, [*(f"2025-09-30 {20 + n // 120}:{n // 2 % 60:02d}:{n % 2 * 30:02d},000 INFO  [main] o.lease.LeaseClient - lease 'kg' is held by idx-77@nodeC, asking again in 30 s (ask #{n})" for n in range(180))]),
    ("minus-nan", "failed", {"kind": "nan_loss"}, [*(f"sweep  {n}50  obj  2.{n}e+01  |r|  2.1e-01  |dx| 4.0e-03  cg 12" for n in range(10, 20)), *(f"{'@@' if n == 20 else '||'}sweep  {n}50  obj         -nan  |r|       -nan  |dx|     nan  cg   1" for n in range(20, 40))]),
)  # fmt: skip

rows(
    "at-last-",
    ("status-nought", "finished", {"alive": False}, ["1|60|Loss: 0.33911: 100%|██████████| 60/60 [11:02<00:00, 11.0s/it]", "Exception in thread NetStatThr:", *trace("BrokenPipeError: [Errno 32] Broken pipe").replace("@@", "").replace("in <module>", "in run").split("\n"), "run_dpo.sh: exit status 0"]),
    ("stuck-ranks", "hung", {}, [*(f"it {n} | elbo -1981.7" for n in range(100, 120)), *(f"E1019 01:{34 + n // 3:02d}:{n % 3 * 20:02d}.480689 307 rendezvous.cc:81] This thread has been waiting for `all-reduce start; RunId: 88101` for {n * 20} seconds and may be stuck: Expected 8 threads" for n in range(1, 57))]),
    ("message-behind", "failed", {"alive": False}, ["[gsm8k] 3 responses hit the token limit, filtered as [invalid]", trace("ValueError: "), "################", "The metric executes untrusted model-generated code.", "", "ERROR 08-05 17:05:01 [core_client.py:564] Engine core proc EngineCore_0 died unexpectedly, shutting down client."]),
    ("weights-of-another", "failed", {"alive": False, "kind": "checkpoint_mismatch"}, ["[inference] 03:22:38   ERROR (EngineCore_DP0 pid=771) Invocation of collective_rpc method failed", *(f"[inference] {row}" if not row.startswith("@@") else f"@@[inference] {row[2:]}" for row in trace("safetensors_rust.SafetensorError: Error while deserializing header: incomplete metadata, file not fully covered").split("\n")), "[orchestrator] httpx.HTTPStatusError: Server error '500 Internal Server Error' for url 'http://10.0.0.9:8000/u'"]),
    ("aborts-held-back", "failed", {"alive": False}, [steps(NANO), *(row for n in (1, 2) for row in (f"request {n} failed, retrying", *trace(f"TimeoutError: peer {n} timed out, Aborted").replace("@@", "||").replace("in <module>", "in ask").split("\n"))), "Fatal Python error: Aborted"]),
)  # fmt: skip

# Two texts that nobody closed, and the program begins again within the first.
add(
    "a-run-that-begins-within-a-text",
    "failed",
    steps(NANO),
    "(W pid=1) one <|im_start|>assistant hi",
    "(V pid=2) two <|im_start|>assistant ho",
    "(W pid=1) nohup: ignoring input",
    "(V pid=2) so it is",
    trace("ValueError: no tokens"),
    alive=False,
)
