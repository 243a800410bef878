"""Prefixes of programs and collectors: what is left of a line without them, and what they say of its writer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verikit.probes.logs.envelopes import undress

ROWS = [
    ("step 3", "step 3", None, None, 0),
    ("[1]<stderr>:boom", "boom", 1, None, 0),
    ("2025-01-10 10:00:00,123\tSUCC scripts.py:923 -- Ray runtime started.", "Ray runtime started.", None, None, 0),
    ("[01/10/2025-10:00:00] [E] [TRT] Error[4]: x", "Error[4]: x", None, None, 40),
    ("2025-01-10:10:00:00,123 INFO     [evaluator.py:206] Saving", "Saving", None, None, 20),
    ("2025-01-10T10:00:00.123+0000 | finalize | INFO - Compression", "Compression", None, None, 20),
    ("[2025-01-10 10:00:00,123] [    INFO]: --- LOADING", "--- LOADING", None, None, 20),
    ("2025-01-10T10:00:00+0000 gpu7 llama-server[880]: main: exit", "main: exit", None, None, 0),
    ("2025-01-10T10:00:00.123456+01:00 gpu7 kernel: NVRM: Xid", "NVRM: Xid", None, None, 0),
    ("2025-01-10T10:00:00Z INFO server[1]: up", "server[1]: up", None, None, 20),
    ("2025-01-10 10:00:00.123456: E external/xla/a.cc:73] Slow", "Slow", None, None, 40),
    ("20250110-100000 E [dedup] bucket 7: bad", "bucket 7: bad", None, None, 40),
    ("20250110-100000 - [dedup] DONE in=3", "DONE in=3", None, None, 0),
    ("2025-06-11T02:00:01.331Z\tWARN\tckptsync/watch.go:71\tinotify limit low", "inotify limit low", None, None, 30),
    ("2025-06-11T02:00:01.331Z\tFATAL\tsync\tckptsync/main.go:140\tloop ended", "loop ended", None, None, 50),
    (
        "[2025-05-06 14:24:50.931] [engine] [error] rope.cu:214 cudaGetLastError()",
        "rope.cu:214 cudaGetLastError()",
        None,
        None,
        40,
    ),
    (
        "[dmesg-tail node-b17] [812341.993310] NVRM: Xid (PCI:0000:9b:00): 79",
        "NVRM: Xid (PCI:0000:9b:00): 79",
        None,
        None,
        0,
    ),
    ("gpumon@dgx-031: Jan 30 04:14:24 kernel: NVRM: Xid", "NVRM: Xid", None, None, 0),
    ("2025-01-10 10:00:00 W slow disk", "slow disk", None, None, 30),
    ("2025/01/10 10:00:00 main.go:71: bind: permission denied", "bind: permission denied", None, None, 0),
    ("2025-01-10 10:00:00,100 ERROR state.py:485 -- An exception", "An exception", None, None, 40),
    ("#7 4.110 ERROR: No matching", "No matching", None, None, 40),
    ("[NeMo W 2025-01-10 10:00:00 base_model:1186] The model", "The model", None, None, 30),
    ("404: no such model", "404: no such model", None, None, 0),
    ("[2025-01-10 10:00:00.123456: W /tmp/horovod/common/stall.cc:107] One", "One", None, None, 30),
    ("[rank0]:[titan] 2025-06-01 10:00:00,123 - root - INFO - step: 1", "step: 1", 0, None, 20),
    ("2025-01-10 10:00:00,123 (trainer:444) INFO: The training", "The training", None, None, 20),
    ("[INFO|trainer.py:2643] 2025-01-10 10:00:00,123 >> Saving", "Saving", None, None, 20),
    ("[INFO|2025-01-10 10:00:00] llamafactory.hparams.parser:157 >> rank", "rank", None, None, 20),
    ("2025-01-10 10:00:00,123: rank3[12][MainThread]: INFO: composer.utils: Done", "Done", 3, 12, 20),
    ("submitit INFO (2025-01-10 10:00:00,123) - Job", "Job", None, None, 20),
    ("[10/02 12:00:01 d2.engine.hooks]: Total", "Total", None, None, 0),
    ("[2025-01-10 10:00:00,123] [    INFO] - loss: 1.2", "loss: 1.2", None, None, 20),
    ("[INFO:swift] End", "End", None, None, 20),
    ("[2023-05-08, 19:36:33 UTC] {local_task_job.py:154} INFO - Task exited", "Task exited", None, None, 20),
    ("2025-11-18 18:41:31.392 UTC [39] LOG:  ready", "ready", None, 39, 0),
    ("2025-11-18 18:41:31.392 UTC [39] app@runs ERROR:  relation", "relation", None, 39, 40),
    (
        'ts=2024-08-31T01:52:11.779Z caller=main.go:1145 level=info msg="Server is ready"',
        "Server is ready",
        None,
        None,
        20,
    ),
    ('level=warn ts=2024-08-31T01:52:11.779Z caller=main.go:9 msg="x"', "x", None, None, 30),
    ("12s   Warning   Failed   pod/a-0   Error: x", "Error: x", None, None, 0),
    ("Warning  BackOff  2m (x6 over 3m)  kubelet  Back-off x", "Back-off x", None, None, 0),
    ("2025-10-02 12:00:01.003  INFO 1 --- [   main] com.a.B   : Started B", "Started B", None, None, 20),
    ("2023-11-12T08:03:26,694 [INFO ] main org.pytorch.serve.ModelServer - stopped", "stopped", None, None, 20),
    ("INFO:hf-to-gguf:Model exported", "Model exported", None, None, 20),
    ("[2025-01-16 08:00:00,101: ERROR/ForkPoolWorker-1] Task x raised", "Task x raised", None, None, 40),
    ("1:M 02 Dec 2025 10:00:00.101 * Ready to accept", "Ready to accept", None, None, 0),
    ("2025-12-01 10:00:51 [export] FATAL: index", "index", None, None, 50),
    ("[2025-05-05 10:02:00,101] [INFO] [axolotl.cli] [PID:7] [RANK:0] Success!", "Success!", None, None, 20),
    ("submitit INFO (2025-02-25 21:18:55,017) - Job completed", "Job completed", None, None, 20),
    ("[2025-08-30T04:02:00.900+0000] {subprocess.py:93} INFO -   File", "  File", None, None, 20),
    ("[INFO:swift] End time", "End time", None, None, 20),
    ("[1,0]<stderr>:[2025-02-14 12:06:52.101200: W /src/stall_inspector.cc:107] One", "One", 0, None, 30),
    ("[rank0]:[titan] 2025-06-25 13:05:51,000 - root - INFO - Training completed", "Training completed", 0, None, 20),
    ("13. Okt 23:09:20 Teil 3", "Teil 3", None, None, 0),
    ("Sun 20:36 round 41 of 60", "round 41 of 60", None, None, 0),
    ("04:28 graded 3", "graded 3", None, None, 0),
    ("10/10 06:01:00 - mmengine - INFO - Epoch", "Epoch", None, None, 20),
    ('I0417 09:11:21.325201 1 http_server.cc:4725] "Started HTTPService"', "Started HTTPService", None, None, 20),
    ("2025-10-21 09:11:02,123 INFO gen: done=3", "gen: done=3", None, None, 20),
    ("INFO 10-21 09:11:02 [core.py:77] Waiting", "Waiting", None, None, 20),
    ("(EngineCore_DP0 pid=441) ERROR 10-21 09:11:02 [core.py:718]   File", "  File", None, 441, 40),
    ("(EngineCore_DP0 pid=4) (Worker_TP1 pid=12) ERROR 10-21 09:12:00 [x.py:5] boom", "boom", None, 12, 40),
    ("(VllmWorker rank=1 pid=77) ERROR 10-21 09:12:00 [x.py:5] boom", "boom", 1, 77, 40),
    ("[2025-05-21 19:03:56 TP2] Scheduler hit", "Scheduler hit", 2, None, 0),
    ("[2025-05-21 19:03:56 DP2 TP3] Scheduler hit", "Scheduler hit", 3, None, 0),
    ("[rank3]: Traceback", "Traceback", 3, None, 0),
    ("[default5]:Traceback", "Traceback", 5, None, 0),
    ("[80746] [rank0]: boom", "boom", 0, None, 0),
    ("[rank4]:[E321 02:07:08.703000754 ProcessGroupNCCL.cpp:632] [Rank 4] Watchdog", "Watchdog", 4, None, 40),
    ("12: [rank7]: boom", "boom", 7, None, 0),
    ("worker-1: boom", "boom", None, None, 0),
    ("[1,3]<stderr>:boom", "boom", 3, None, 0),
    ("trainer-1  | boom", "boom", None, None, 0),
    ("2025-05-05T10:00:00.123456789Z stderr F boom", "boom", None, None, 0),
    ("May  5 10:01:00 gpu-b3 kernel: NVRM: Xid", "NVRM: Xid", None, None, 0),
    ("Mai  5 10:01:00 gpu-b3 train[44]: boom", "boom", None, None, 0),
    ("[ 9412.301234] NVRM: Xid", "NVRM: Xid", None, None, 0),
    ("E0000 00:00:1736163964.081234    1234 cuda_dnn.cc:8310] Unable", "Unable", None, None, 40),
    ("W0702 18:40:11.613000 55120 torch/distributed/run.py:766] Setting", "Setting", None, None, 30),
    ("[E 2025-03-11 08:15:42.442 ServerApp] Notebook", "Notebook", None, None, 40),
    ("[2025-04-28 06:51:00,847] [INFO] [real_accelerator.py:239:get_accelerator] Setting", "Setting", None, None, 20),
    (
        'time=2025-05-05T10:00:00.001+02:00 level=INFO source=routes.go:1238 msg="Listening"',
        "Listening",
        None,
        None,
        20,
    ),
    ("\x1b[36m(TaskRunner pid=4242)\x1b[0m step:1", "step:1", None, 4242, 0),
    (
        "#033[2m2024-10-16T10:41:00.252639Z#033[0m  INFO text_generation_launcher: Args",
        "text_generation_launcher: Args",
        None,
        None,
        20,
    ),
    (
        "2025-05-05 10:00:00.123 | INFO     | trainer.loop:run:88 - step 3",
        "step 3",
        None,
        None,
        20,
    ),
    ("2025-08-29 05:00:31,045 - trainer - INFO - step=100", "step=100", None, None, 20),
    ("[pod/train-0/main] boom", "boom", None, None, 0),
    ('{"ts": "x", "level": "ERROR", "msg": "boom", "step": 3}', "boom step: 3", None, None, 40),
    (
        '{"level":"INFO","fields":{"message":"Connected"},"target":"text_generation_router::server"}',
        "text_generation_router::server: Connected",
        None,
        None,
        20,
    ),
    ("a\rb\r  50%| 3/6 [00:01", "  50%| 3/6 [00:01", None, None, 0),
    ("boom [repeated 7x across cluster]", "boom", None, None, 0),
    ('  File "x.py", line 3', '  File "x.py", line 3', None, None, 0),
    ("Error: ShardCannotStart", "Error: ShardCannotStart", None, None, 0),
]


@pytest.mark.parametrize(("raw", "text", "rank", "pid", "level"), ROWS)
def test_undressed(raw, text, rank, pid, level):
    """
    The message stands alone, with rank, pid and severity taken from what was around it.
    """
    line = undress(1, raw.encode())

    assert (line.text, line.rank, line.pid, line.level) == (text, rank, pid, level)


@given(st.binary(max_size=400))
def test_any_bytes(raw):
    """
    Whatever the bytes are, something is made of them.
    """
    assert isinstance(undress(1, raw.replace(b"\n", b"")).text, str)
