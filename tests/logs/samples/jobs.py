# ruff: noqa: E501
"""Data jobs, downloads, builds, sweeps and evaluations."""

from __future__ import annotations

from logs.samples.kit import DOCS, GEN, JSONL, NANO, add, bars, steps, trace

add(
    "gen-retry-cured",
    "running",
    steps(GEN),
    "2025-05-05 10:01:03 WARNING gen: request 31 failed: ConnectionError: Connection refused; retrying in 2 s (attempt 1/5)",
    steps(GEN, 31, 44, start="10:01:05"),
)
add("map-bar", "starting", "loading dataset", bars("Map (num_proc=8)", 40, 900).replace("1.20s/it", "812 examples/s"))
add("counter-at-whole", "finished", steps("{d} INFO gen: wrote {n}/30 shards"), alive=False)
add(
    "exported",
    "finished",
    "INFO Loading model",
    "INFO Exporting",
    "Successfully exported model to /out/model.onnx",
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
TRIAL = "[I 2025-05-05 {t},123] Trial {n} finished with value: 0.91 and parameters: {{'lr': 0.01}}. Best is trial 3 with value: 0.95."
add("optuna", "running", steps(TRIAL, last=20))
COMPILE = "[ {n}%] Building CUDA object CMakeFiles/k.dir/k{n}.cu.o"
add("cmake", "running", steps(COMPILE))
DASK = "{d},123 - distributed.worker - INFO - completed task {n}"
add("dask", "running", steps(DASK))
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
    "s3-auth",
    "failed",
    steps(GEN),
    trace("botocore.exceptions.NoCredentialsError: Unable to locate credentials", lib="botocore/auth.py"),
    alive=False,
    kind="auth",
)
add(
    "vanished-download-done",
    "died_silently",
    "2025-05-05 10:01:03,1 - INFO - data - Download complete",
    "2025-05-05 10:01:04,1 - INFO - data - loading tokenizer",
    alive=False,
    idle=600,
)
add(
    "hf-hub-retry",
    "starting",
    "'(ReadTimeoutError(\"HTTPSConnectionPool(host='cdn-lfs.huggingface.co', port=443): Read timed out.\"), '(Request ID: 1)')' thrown while requesting GET https://cdn-lfs.huggingface.co/x",
    "Retrying in 1s [Retry 1/5].",
    bars("Downloading shards", 2, 8),
)
add("eta-percent", "running", *[f"10:00:{n:02d} {n}% done, eta 00:10:00" for n in range(1, 60)])
add("rsync", "running", *[f"\r    {n},234,567 {n}%  110.21MB/s    0:00:20" for n in range(1, 60)])
add(
    "hours-of-info",
    "running",
    *[f"2025-05-05 {10 + n // 60:02d}:{n % 60:02d}:00 INFO crawler: fetched page {n}" for n in range(120)],
)
add("finished-with-errors", "failed", steps(NANO), "Job finished with exit code 2".join(["@@", ""]), alive=False)
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
add("frozen-download", "hung", bars("model.safetensors", 40, 100), idle=5400)
add(
    "curl-refused",
    "failed",
    "@@curl: (7) Failed to connect to 10.0.0.1 port 8000 after 0 ms: Connection refused",
    alive=False,
    kind="connection_refused",
)
add("download-quiet", "starting", "2025-05-05 10:01:05,123 - INFO - hub - Fetching 30 files", idle=500)
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
    "vanish-mid-json",
    "died_silently",
    steps(JSONL) + '\n{"ts": "2025-05-05T10:01:00Z", "level": "IN',
    alive=False,
    idle=600,
)
add(
    "git-lfs-error-start",
    "starting",
    "fatal: not a git repository (or any parent up to mount point /)",
    "Stopping at filesystem boundary (GIT_DISCOVERY_ACROSS_FILESYSTEM not set).",
    "Loading model",
)
add(
    "healthy-eval-errors",
    "running",
    *[f"[{n}/500] wer=0.{n:03d} errors: ins={n % 3} del=1 sub=2" for n in range(1, 80)],
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
    "healthy-sweep",
    "running",
    "wandb: Agent Starting Run: abc with config:",
    "wandb: \tlr: 0.1",
    steps(NANO),
    "wandb: Agent Finished Run",
    "wandb: Agent Starting Run: abd with config:",
    steps(NANO, 1, 9),
)
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
add(
    "vanish-s3-copy",
    "died_silently",
    "\r".join(f"Completed {n}.1 GiB/412.0 GiB (210.1 MiB/s) with 9 file(s) remaining" for n in range(1, 60)),
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
add(
    "vanish-long-after-the-download",
    "died_silently",
    "Download complete.",
    *[f"tokenized {n}000 docs" for n in range(30)],
    alive=False,
    idle=600,
)
add(
    "good-bench",
    "finished",
    "====== Serving Benchmark Result ======",
    "Failed requests:        0",
    "=" * 30,
    alive=False,
)
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


add("error-lived-through-before", "running", records(80, 40))
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
    "found-but-expected",
    "failed",
    "2025/11/07 07:00:04 INFO store.utils: Create engine with pool options {}",
    "Traceback (most recent call last):",
    '  File "/w/store.py", line 117, in _verify_schema',
    "    raise SchemaException(",
    "@@store.exceptions.SchemaException: Detected an out-of-date schema (found version 4465, but expected 0584). Upgrade it",
    alive=False,
)
add(
    "copy-that-only-takes-time",
    "hung",
    *(
        f"2025/01/12 20:{n:02d}:00 INFO  : \nTransferred:   \t  102.6 GiB / 712.1 GiB, 14%, 0 B/s, ETA -\n"
        f"Transferred:           27 / 190, 14%\nElapsed time:     {n}m0.0s"
        for n in range(5, 55)
    ),
)
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
