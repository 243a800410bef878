# ruff: noqa: E501, UP031
"""Schedulers, launchers, containers and the system beneath: whose hand ended a job, and whose part of it."""

from __future__ import annotations

from logs.samples.kit import ACCEL, FRAMES, LOGURU, NANO, OOM, TITAN, VERL, add, steps, trace

add(
    "elastic-recovered",
    "running",
    steps(NANO),
    trace("RuntimeError: NCCL communicator was aborted on rank 1.", front="[rank1]: ").replace("@@", ""),
    "[default0]:Restarting worker group",
    steps(NANO, 21, 60),
)
add("compose-prefix", "running", "\n".join("trainer-1  | " + row for row in steps(TITAN).split("\n")))
add(
    "cri-prefix",
    "running",
    "\n".join(f"2025-05-05T10:00:{i:02d}.1Z stdout F " + row for i, row in enumerate(steps(NANO).split("\n"))),
)
add("srun-prefix", "running", "\n".join("%d: %s" % (i % 4, row) for i, row in enumerate(steps(LOGURU).split("\n"))))
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
    "kubelet-oomkilled",
    "failed",
    "\n".join("[pod/train-0/main] " + r for r in steps(NANO).split("\n")),
    "@@[pod/train-0/main] OOMKilled",
    kind="host_oom",
    alive=False,
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
add(
    "ssh-banner-first",
    "running",
    "Warning: Permanently added '10.0.0.3' (ED25519) to the list of known hosts.",
    "Welcome to Ubuntu 22.04 LTS",
    "*** System restart required ***",
    steps(NANO),
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
    "docker-gpu",
    "failed",
    '@@docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].',
    alive=False,
    kind="driver_mismatch",
)
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
    "preempt-spot",
    "failed",
    steps(NANO),
    "@@Spot instance interruption notice received: this instance will be terminated in 2 minutes",
    "Received SIGTERM",
    alive=False,
    kind="preempted",
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
add(
    "hung-rendezvous",
    "hung",
    "[I505 10:00:00.1 TCPStore.cpp:274] [c10d - debug] The server has started on port = 29500.",
    "rendezvous: waiting for 1 more node to join",
    idle=3600,
    kind=("stuck_init",),
)
add(
    "usr1-checkpoint-continues",
    "running",
    steps(LOGURU),
    "2025-05-05 10:01:01.1 | WARNING | trainer:sig:3 - Received SIGUSR1, saving checkpoint",
    steps(LOGURU, 31, 60, start="10:01:10"),
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
    "kernel-noise",
    "running",
    "[ 12.301234] EDAC MC0: Giving out device to module",
    "[ 13.1] ACPI Error: No handler for Region (20210730/evregion-130)",
    steps(NANO),
)
add("multi-node-srun", "running", "\n".join(f"{n % 8}: [rank{n % 8}]: step {n // 8} loss 2.{n}" for n in range(80)))
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
    "ssh-launcher-refused",
    "failed",
    "@@ssh: connect to host gpu-4 port 22: Connection refused",
    "pdsh@head: gpu-4: ssh exited with exit code 255",
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
    "killed-child-respawned",
    "running",
    *[f"done={n}/900 workers=8" for n in range(1, 30)],
    "worker 3 (pid 411) killed by signal 9, respawning",
    *[f"done={n}/900 workers=8" for n in range(30, 60)],
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
add("waiting-for-a-gpu", "hung", *[f"2025-05-05 10:{n // 2:02d}:00 waiting for free GPU (8 busy)" for n in range(90)])
add(
    "requeued-job",
    "running",
    "0: step 10 loss 3.1",
    "slurmstepd: error: *** JOB 9 ON n4 CANCELLED AT 2025-11-10T23:00:00 DUE TO PREEMPTION ***",
    "0: resuming from step 10",
    *[f"0: step {n * 10} loss 2.1" for n in range(2, 40)],
)
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
