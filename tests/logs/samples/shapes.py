# ruff: noqa: E501, UP031
"""The shape of the last lines: what comes behind the last count of work, in forms that this run has not had before."""

from __future__ import annotations

from logs.samples.kit import FRAMES, TITAN, VLLM_UP, own, rows, steps

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
rows(
    "shape-",
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
)  # fmt: skip
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


rows(
    "shape-",
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
)  # fmt: skip
EP = [f"ep 1 batch {n}/100 loss 2.{n}" for n in range(1, 101)]
PIECES = [f"it {n * 100:6d} | nll 2.{n} | 31.2k tok/s" for n in range(1, 60)]
rows(
    "shape-",
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
)  # fmt: skip
STAGES = [
    f"stage {n}/5 {words}"
    for n, name in enumerate(("fetch", "clean", "dedup", "tokenize", "pack"), 1)
    for words in (name, "ok 12 s")
]
rows(
    "shape-",
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
)  # fmt: skip
rows(
    "program-",
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
)  # fmt: skip
PACKED = [f"2025-12-01 08:{n // 60:02d}:{n % 60:02d} pack: {n * 20} docs, {n * 0.4:.1f} GB" for n in range(1, 120)]
ASKED = [f"Q{n}: correct={n % 2}" for n in range(1, 301)]
OWN_SERVER = ["listening on 0.0.0.0:7000", *[f"req {n} 200 12ms" for n in range(60)]]
CHUNKS = ['{"t":"2025-12-01T08:00:%02dZ","ev":"chunk","id":%d}' % (n, n) for n in range(50)]
rows(
    "shape-",
    ("in-its-place", "finished", {"alive": False}, [*PACKED, "2025-12-01 08:02:00 pack: index.bin and index.idx are in place (47.6 GB)", "2025-12-01 08:02:00 pack: that took 2 min"]),
    ("not-matching", "failed", {"alive": False}, [*PACKED, "@@2025-12-01 08:02:00 pack: index.idx does not match index.bin (11 entries short)", "2025-12-01 08:02:00 pack: leaving both for inspection"]),
    ("last-buffer", "died_silently", {"alive": False, "idle": 600}, [*PACKED, "2025-12-01 08:02:00 pack: writing the last buffer"]),
    ("graded-all", "finished", {"alive": False}, [*ASKED, "accuracy: 0.4967 (149/300)"]),
    ("graded-some", "died_silently", {"alive": False, "idle": 600}, ASKED),
    ("server-takes-leave", "finished", {"alive": False}, [*OWN_SERVER, "SIGTERM: no new requests", "waiting for 2 requests to end", "all ended, bye"]),
    ("server-takes-no-leave", "died_silently", {"alive": False, "idle": 600}, OWN_SERVER),
    ("closes-part-by-part", "finished", {"alive": False}, [*PACKED, "2025-12-01 08:02:00 pack: Stopping worker 3. Reason: nothing to do", "2025-12-01 08:02:01 pack: Closing the pool"]),
    ("event-of-an-abort", "failed", {"alive": False}, [*CHUNKS, '@@{"t":"2025-12-01T08:01:00Z","ev":"abort","why":"chunk 50 has a bad checksum"}']),
)  # fmt: skip
RELAX = [f"{n:>6} it  {n * 0.7:.1f} s  energy -{n}.1" for n in range(1, 90)]
CLIPS = [f"transcribed clip {n:04d} ({n % 9}.2 s)" for n in range(1, 140)]
rows(
    "shape-",
    ("as-many-clips", "finished", {"alive": False}, [*CLIPS, "139 clips, 4.1 h of audio, transcripts under out/txt"]),
    ("one-clip-too-many", "failed", {"alive": False}, [*CLIPS, "@@clip 0140 is not a WAV file, quitting"]),
    ("diverges", "failed", {"alive": False}, [*RELAX, "@@energy diverges, no point in going on"]),
    ("begins-anew", "died_silently", {"alive": False, "idle": 600}, [*RELAX, "restarting line search from iteration 80"]),
    ("percent-of-its-own", "finished", {"alive": False}, [*[f"{n}% synced" for n in range(101)], "both sides equal now"]),
    ("percent-of-its-own-short", "failed", {"alive": False}, [*[f"{n}% synced" for n in range(62)], "@@disk full at 61%, sync stopped"]),
    ("all-of-them-up", "running", {}, ["proxy open", *[f"{now}:10 health: 4/4 backends up" for now in minutes(600, 700)]]),
    ("none-of-them-up", "hung", {}, ["proxy open", *[f"{now}:10 health: 0/4 backends up, refusing clients" for now in minutes(600, 700)]]),
)  # fmt: skip
