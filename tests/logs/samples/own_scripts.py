# ruff: noqa: E501
"""In words of no table: figures that grow, stand still or are lost, ends and surrenders, and the same words where they mean another thing."""

from __future__ import annotations

from logs.samples.kit import DOCS, FRAMES, NANO, own, rows, steps

CAUGHT = (*FRAMES, "orjson.JSONDecodeError: unexpected end of data: line 1 column 88", "(that one goes to the rejects)")
SOUND, LOST = "b {:05d}  mean|x| 0.{}  max 3.{}  nan 0", "b {:05d}  mean|x| nan  max nan  nan 524288"
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
HELD = "{:02d} Apr {:02d}:{:02d}  lock /idx/.w held by pid 4410 on node-9, sleeping 60"


def held(hours):
    """A lock waited for, minute by minute."""
    return [HELD.format(9 + n // 1440, n // 60 % 24, n % 60) for n in range(1000, 1000 + hours * 60)]


rows(
    "own-",
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
)  # fmt: skip
