# ruff: noqa: E501
"""What logs say, as data: signs of failure, harmless look-alikes, ready and end markers, progress.

One row each: (id, role, pattern, kind, hint, source).  A new program or failure is a new row and a line for it in
tests/logs/test_tables.py.  Patterns are case-sensitive and meet the message without its envelopes; a sign of failure
must begin the message (behind at most two `name: `), or stand anywhere in a line of level ERROR.  No leading `.*`, no
nested repetition: what a log says is foreign text.

Roles of failure signs: `root` names a cause; `unclear` is an effect with several possible causes (a bare `Killed`);
`messenger` only passes on that somebody else failed; `fatal` is a root that no later progress of other ranks heals.
hint "" is the kind's own line in HINTS.  source: where the wording was seen, as owner/repo#number where it is a thread.
"""

from verikit.probes.logs import programs

HINTS = {
    "cuda_oom": "lower the batch, sequence or memory fraction, or see what else holds the GPU (nvidia-smi)",
    "host_oom": "the host's memory ran out: fewer workers, smaller shards, or a larger memory request",
    "cuda_error": "asynchronous: rerun with CUDA_LAUNCH_BLOCKING=1 to see the real frame",
    "gpu_hardware": "drain this GPU; look at dmesg for Xid and reset or replace it",
    "driver_mismatch": "match the driver, the CUDA runtime and the GPU's architecture (nvidia-smi, torch.version.cuda)",
    "nccl_timeout": "find the rank that is behind: look for an earlier exception, a slow input or a dead peer",
    "nccl_system": "look at NCCL_DEBUG=INFO, the interface (NCCL_SOCKET_IFNAME) and InfiniBand on the named peer",
    "rendezvous": "see whether every node started, and that MASTER_ADDR and MASTER_PORT are reachable",
    "connection_refused": "start the server, or correct its address and port",
    "address_in_use": "stop what holds the port (ss -ltnp), or choose another",
    "bus_error_shm": "enlarge /dev/shm (docker --shm-size, --ipc=host) or use fewer loader workers",
    "segfault": "rerun with PYTHONFAULTHANDLER=1; suspect a native extension that does not fit its library",
    "permission_denied": "correct the owner or mode of the named path, or run as the right account",
    "no_space": "free space on the named file system (df -h, df -i)",
    "quota": "raise or clear the quota of this account on the named file system",
    "too_many_files": "raise the limit of open files (ulimit -n), or share tensors by file_system",
    "import_error": "install the module in the interpreter that runs the job, or correct its path",
    "version_mismatch": "align the versions of the packages named in the message",
    "config_error": "correct the argument or setting that the message names",
    "data_error": "look at the sample or file that the message names",
    "checkpoint_mismatch": "load a checkpoint of the same architecture, or rebuild the damaged file",
    "auth": "supply a valid token or accept the license of the repository",
    "command_not_found": "install the program, or correct PATH",
    "nan_loss": "go back to the last good checkpoint; lower the learning rate, look at the batch before the first NaN",
    "loss_scale_min": "gradients overflow at any scale: use bf16, or look for NaN in the data or the model",
    "engine_dead": "look above for the worker's own exception; restart the server",
    "time_limit": "ask for more time, or resume from the last checkpoint",
    "preempted": "submit again; resume from the last checkpoint",
    "node_failure": "submit again without this node",
    "killed": "look at dmesg and the scheduler's log: who sent the signal is not known",
    "stuck_init": "see which rank is missing (py-spy dump), and the network between the nodes",
    "stuck_step": "take py-spy dump of every rank: the one with another stack is the culprit",
    "stuck_checkpoint": "look at the storage that the checkpoint goes to",
    "retry_loop": "what it waits for never came: look at the other side",
    "python_exception": "read the innermost own frame",
}

KINDS = tuple(HINTS)
"""The closed list of causes: tools may branch on it."""

# The last line of a traceback, `Type: message`, or such a line alone at the beginning of a message.
EXCEPTIONS = (
    ("exc-child-failed", "messenger", r"(?:torch\.distributed\.elastic\.\S+\.)?ChildFailedError", "python_exception", "", "pytorch elastic"),
    ("exc-engine-dead", "messenger", r"[\w.]*(?:EngineDeadError|AsyncEngineDeadError|MQEngineDeadError)", "engine_dead", "", "vllm#11737"),
    ("exc-engine-init", "messenger", r"\w*Error: Engine (?:core|process) (?:initialization )?failed", "engine_dead", "", "vllm V1"),
    ("exc-engine-died", "messenger", r"\w*Error: (?:Engine loop has died|Background loop (?:is|has)|Engine core proc|EngineCore encountered)", "engine_dead", "", "vllm"),
    ("exc-worker-failed", "messenger", r"\w*(?:Error|Exception): (?:Worker(?:Proc)? (?:failed|initialization failed|died)|WorkerProc initialization failed)", "engine_dead", "", "vllm#44411"),
    ("exc-rank-init", "messenger", r"\w*(?:Error|Exception): (?:Rank \d+ scheduler died|Initialization failed\. Please see the error)", "engine_dead", "", "sglang"),
    ("exc-ray-oom", "root", r"ray\.exceptions\.OutOfMemoryError|OutOfMemoryError: (?:Task|Actor) was killed due to the node running low", "host_oom", "", "ray"),
    ("exc-ray-actor", "messenger", r"(?:ray\.\S+\.)?(?:ActorDiedError|RayActorError|WorkerCrashedError|ActorUnavailableError|LocalRayletDiedError|NodeDiedError)", "engine_dead", "", "Logic-RL#18"),
    ("exc-ray-task", "messenger", r"(?:ray\.exceptions\.)?RayTaskError", "python_exception", "", "verl#2398"),
    ("exc-bridge", "messenger", r"(?:[\w.]+\.)?Py4J\w*Error\b|\w*(?:Error|Exception): An error occurred while calling", "python_exception", "", "py4j"),
    ("exc-pool", "messenger", r"(?:[\w.]+\.)?(?:BrokenProcessPool|ProcessRaisedException|ProcessExitedException|CalledProcessError|SubprocessError)\b", "python_exception", "", "known"),
    ("exc-exit", "messenger", r"(?:[\w.]+\.)?\w*(?:Error|Exception|Failed|Failure)\b: [^\n]{0,160}(?:non-?zero (?:exit|return)|exit(?:ed)?(?: with)? (?:code|status) [1-9-]|return(?:ed)? code [1-9-])", "python_exception", "", "airflow, subprocess"),
    ("exc-caught", "messenger", r"(?:[\w.]+\.)?\w+: Caught \w+ in ", "python_exception", "", "torch ExceptionWrapper"),
    ("exc-worker-told", "messenger", r"RuntimeError: (?:Executor|Engine) worker (?:returned|reported)(?: an)? error", "engine_dead", "", "TensorRT-LLM"),
    ("exc-loader-worker", "messenger", r"RuntimeError: DataLoader worker \(pid\(?s?\)? [\d, ]+\) exited unexpectedly", "killed", "", "pytorch"),
    ("exc-loader-killed", "unclear", r"RuntimeError: DataLoader worker \(pid\(?s?\)? [\d, ]+\) is killed by signal: (?:Killed|Terminated)", "killed", "fewer loader workers: the kernel probably ran out of memory", "unsloth#2693"),
    ("exc-loader-bus", "root", r"RuntimeError: DataLoader worker \(pid\(?s?\)? [\d, ]+\) is killed by signal: Bus error", "bus_error_shm", "", "pytorch#5040"),
    ("exc-loader-segv", "root", r"RuntimeError: DataLoader worker \(pid\(?s?\)? [\d, ]+\) is killed by signal: (?:Segmentation fault|Aborted)", "segfault", "", "pytorch"),
    ("exc-map-died", "unclear", r"RuntimeError: One of the subprocesses has abruptly died during map operation", "host_oom", "fewer map workers: the kernel probably ran out of memory", "LlamaFactory#7079"),
    ("exc-sigterm", "stopped", r"(?:[\w.]+\.)?(?:SignalException|SignalReceived)|SystemExit: (?:0|143|None)?$|SystemExit$|KeyboardInterrupt|(?:asyncio\.(?:exceptions\.)?)?CancelledError", "killed", "", "pytorch elastic"),
    ("exc-kv-cache", "root", r"ValueError: (?:To serve at least one request|The model's max seq len|No available memory for the cache)", "config_error", "lower max_model_len, or raise gpu_memory_utilization", "vllm#25837"),
    ("exc-vllm-free", "root", r"ValueError: Free memory on device", "cuda_oom", "something else holds the GPU: see nvidia-smi, or lower gpu_memory_utilization", "vllm#19415"),
    ("exc-sgl-mem", "root", r"(?:RuntimeError|ValueError): Not enough memory\. Please try to increase --mem-fraction-static", "cuda_oom", "raise --mem-fraction-static, or use more GPUs", "sglang"),
    ("exc-java-oom", "root", r"java\.lang\.OutOfMemoryError", "host_oom", "raise the heap (-Xmx), or give the job less at once", "JVM"),
    ("exc-cuda-oom", "root", r"[\w.]*OutOfMemoryError\b|\w+(?:Error|Exception): (?:CUDA|HIP|XPU|MPS backend)[^\n]{0,40}out of memory|\w+(?:Error|Exception): cu(?:blas|dnn|da)\w*_?(?:STATUS_)?(?:ALLOC_FAILED|OUT_OF_MEMORY)", "cuda_oom", "", "pytorch"),
    ("exc-cublas-alloc", "root", r"RuntimeError: CUDA error: (?:out of memory|CUBLAS_STATUS_ALLOC_FAILED)", "cuda_oom", "", "pytorch"),
    ("exc-jax-oom", "root", r"(?:[\w.]+\.)?(?:XlaRuntimeError|JaxRuntimeError|ResourceExhaustedError|RuntimeError|InternalError|ValueError): (?:RESOURCE_EXHAUSTED|OOM when allocating|Resource exhausted)", "cuda_oom", "", "jax#13428"),
    ("exc-paddle-oom", "root", r"Out of memory error on GPU \d", "cuda_oom", "", "PaddlePaddle"),
    ("exc-host-oom", "root", r"(?:[\w.]*\.)?(?:MemoryError|_ArrayMemoryError|ArrayMemoryError)\b|[\w.]*Error: (?:\[Errno 12\]|\[enforce fail at alloc_cpu|\[enforce fail at CPUAllocator|DefaultCPUAllocator: (?:can't|not enough))|[\w.]*Error: [^\n]{0,80}Cannot allocate memory", "host_oom", "", "pytorch"),
    ("exc-ecc", "fatal", r"[\w.]+Error: CUDA error: (?:uncorrectable ECC|uncorrectable NVLink|an unknown GPU|unknown error|hardware stack error)|[\w.]+Error: No CUDA GPUs are available|[\w.]+Error: Unable to determine the device handle for", "gpu_hardware", "", "open-gpu-kernel-modules#507"),
    ("exc-driver", "root", r"[\w.]+Error: (?:The NVIDIA driver on your system is too old|CUDA error: (?:no kernel image|the provided PTX|PTX was compiled|device kernel image|CUDA driver version is insufficient|forward compatibility|system has unsupported)|Found no NVIDIA driver|Torch not compiled with CUDA|CUDA error: system not yet initialized|CUDA driver (?:version|initialization)|Unexpected error from cudaGetDeviceCount|The detected CUDA version)", "driver_mismatch", "", "fauxpilot#19"),
    ("exc-cuda", "root", r"[\w.]+Error: CUDA (?:error|driver error|kernel)|[\w.]+Error: (?:cuDNN|CUBLAS|cuBLAS|CUDNN|cusolver)\b|[\w.]+Error: [^\n]{0,60}(?:illegal memory access|device-side assert|unspecified launch failure|misaligned address)|[\w.]+Error: Triton Error \[CUDA\]|(?:[\w.]+\.)?(?:AcceleratorError|XlaRuntimeError: INTERNAL)", "cuda_error", "", "vllm#11737"),
    ("exc-nccl-timeout", "messenger", r"(?:torch\.distributed\.)?DistBackendError: [^\n]{0,80}(?:timeout|Watchdog)|[\w.]+Error: (?:\[Rank \d+\] )?(?:Watchdog caught|Caught collective operation timeout|Timed out initializing process group)|[\w.]+(?:Error|Exception): \[?[^\n]{0,60}Timed? ?out waiting \d+ms for (?:recv|send)", "nccl_timeout", "", "LlamaFactory#6269"),
    ("exc-nccl", "cascade", r"(?:torch\.distributed\.)?DistBackendError|[\w.]+Error: (?:NCCL (?:error|communicator)|NCCL Error|nccl\w*Error)", "nccl_system", "", "nccl#925"),
    ("exc-rendezvous", "root", r"(?:[\w.]+\.)?(?:Rendezvous\w*Error|DistStoreError|DistNetworkError)|[\w.]+(?:Error|Exception): (?:Timed out after \d+ seconds waiting for clients|The client socket has timed out|wait timeout after|Socket Timeout|DEADLINE_EXCEEDED|Barrier timed out|failed to connect to all addresses)|[\w.]+Error: Gang member|[\w.]+(?:Error|Exception): [^\n]{0,60}(?:heartbeat timeout|coordination service)", "rendezvous", "", "jax#23599"),
    ("exc-port", "root", r"[\w.]*(?:Error|Exception): (?:\[Errno (?:98|48)\]|[^\n]{0,120}(?:EADDRINUSE|[Aa]ddress already in use|port \d+ is already (?:in use|allocated)))|OSError: Cannot find empty port", "address_in_use", "", "torchtune#1025"),
    ("exc-refused", "root", r"ConnectionRefusedError|[\w.]*(?:Error|Exception|Timeout)\b: [^\n]{0,300}(?:Connection refused|\[Errno 111\]|Failed to establish a new connection|Max retries exceeded|Cannot connect to host|All connection attempts failed)|OSError: We couldn't connect to|(?:[\w.]+\.)?(?:ConnectError|ConnectTimeout|NameResolutionError|gaierror|ReadTimeout|MaxRetryError|NewConnectionError|LocalEntryNotFoundError|APIConnectionError|APITimeoutError)\b", "connection_refused", "", "known"),
    ("exc-no-space", "root", r"[\w.]*Error: (?:\[Errno 28\]|[^\n]{0,200}No space left on device)", "no_space", "", "known"),
    ("exc-quota", "root", r"[\w.]*Error: (?:\[Errno 122\]|[^\n]{0,200}Disk quota exceeded)", "quota", "", "known"),
    ("exc-files", "root", r"[\w.]*Error: (?:\[Errno 24\]|[^\n]{0,200}[Tt]oo many open files|received 0 items of ancdata|unable to open shared memory object [^\n]{0,80}Too many)", "too_many_files", "", "pytorch"),
    ("exc-shm", "root", r"[\w.]*Error: (?:unable to (?:write to|mmap|allocate|resize) [^\n]{0,60}(?:torch_|shm)|[^\n]{0,80}insufficient shared memory|\[Errno 28\][^\n]{0,40}/dev/shm)", "bus_error_shm", "", "pytorch#5040"),
    ("exc-permission", "root", r"(?:[\w.]+\.)?PermissionError|[\w.]*Error: (?:\[Errno 13\]|\[Errno 1\]|[^\n]{0,120}[Pp]ermission denied)", "permission_denied", "", "known"),
    ("exc-stale", "root", r"OSError: \[Errno (?:5|116|107|121)\]", "data_error", "the file system failed: look at the mount and dmesg", "known"),
    ("exc-import", "root", r"ModuleNotFoundError|ImportError|[\w.]*Error: (?:[^\n]{0,200}(?:undefined symbol|cannot open shared object file|GLIBC\w* not found|CUDA Setup failed)|Failed to import |Could not load (?:library|libtorch))|OSError: lib\w+\.so", "import_error", "", "bitsandbytes#1559"),
    ("exc-attr-import", "root", r"ValueError: (?:Tokenizer class \S+ does not exist|The checkpoint you are trying to load has model type)|AttributeError: (?:partially initialized )?module '[\w.]+' has no attribute", "version_mismatch", "", "known"),
    ("exc-version", "root", r"(?:[\w.]+\.)?(?:VersionConflict|ContextualVersionConflict|DistributionNotFound|PackageNotFoundError)|\w+Error: [^\n]{0,120}(?:requires? [\w-]+ ?[<>=!~]=|compiled (?:using|with|against) (?:NumPy|a different)|numpy\.dtype size changed|version mismatch|is not compatible with)|TypeError: [\w.]+\(\) got an unexpected keyword argument", "version_mismatch", "", "known"),
    ("exc-dagster", "messenger", r"dagster\._core\.errors\.Dagster\w*ExecutionError|dagster\._core\.definitions\.events\.(?:RetryRequested|Failure)", "python_exception", "", "dagster"),
    ("exc-jax-note", "messenger", r"(?:[\w.]+\.)?(?:SimplifiedTraceback|UnfilteredStackTrace)\b", "python_exception", "", "jax traceback_util.py"),
    ("exc-pin-thread", "messenger", r"RuntimeError: Pin memory thread exited unexpectedly", "python_exception", "", "pytorch dataloader.py"),
    ("exc-ranks", "messenger", r"(?:[\w.]+\.)?CheckpointException(?::|$)", "checkpoint_mismatch", "", "torch.distributed.checkpoint api.py"),
    ("exc-checkpoint", "root", r"(?:[\w.]+\.)?(?:SafetensorError|UnpicklingError|CheckpointingException)|RuntimeError: (?:Error\(s\) in loading state_dict|PytorchStreamReader|unexpected EOF, expected|Invalid magic number|\[enforce fail at inline_container)|\w*Error: [^\n]{0,80}(?:size mismatch for |Missing key\(s\)|Unexpected key\(s\)|checkpoint (?:is corrupt|shape mismatch|mismatch)|invalid load key)|ValueError: [^\n]{0,60}optimizer state dict", "checkpoint_mismatch", "", "known"),
    ("exc-auth", "root", r"(?:[\w.]+\.)?(?:GatedRepoError|RepositoryNotFoundError|AuthenticationError|LocalTokenNotFoundError|NoCredentialsError|InvalidClientTokenId|CommError: (?:permission denied|It appears)|UsageError: api_key)|[\w.]*(?:Error|Exception)\b[^\n]{0,120}(?:401 Client Error|403 Client Error|Unauthorized|gated repo|Invalid (?:API|api)[ _]key|Access Denied|ExpiredToken)", "auth", "", "known"),
    ("exc-loss-scale", "root", r"(?:Exception|FloatingPointError|RuntimeError|ValueError): (?:Current loss scale already at minimum|Minimum loss scale reached|loss scale (?:is )?(?:at|below) (?:its )?minimum)", "loss_scale_min", "", "Megatron-DeepSpeed#396"),
    ("exc-nan", "root", r"(?:FloatingPointError|ValueError|RuntimeError|AssertionError|Exception|[\w.]*NaN\w*(?:Error|Exception)?)\b: [^\n]{0,120}(?:(?<![\w])(?:[Nn]a[Nn]|NAN)(?![\w])|\bnan values\b|non-finite|not finite|infinite loss|probability tensor contains)", "nan_loss", "", "Megatron-LM#5782"),
    ("exc-command", "root", r"FileNotFoundError: \[Errno 2\] No such file or directory: '(?:nvcc|ninja|git|gcc|g\+\+|nvidia-smi|ffmpeg|srun|java|c\+\+)'|[\w.]*(?:Error|Exception): (?:Ninja is required|nvcc (?:was )?not found|CUDA_HOME environment variable is not set)", "command_not_found", "", "known"),
    ("exc-data", "root", r"(?:[\w.]+\.)?(?:UnicodeDecodeError|JSONDecodeError|DatasetGenerationError|DatasetGenerationCastError|CastError|UnidentifiedImageError|ArrowInvalid|BadZipFile|BadGzipFile|ParserError|DataFilesNotFoundError|EmptyDatasetError|FileFormatError|ZstdError|LibsndfileError|TarError|ReadError)\b|(?:OSError|ValueError): (?:image file is truncated|cannot identify image|Not a gzipped file)|zlib\.error", "data_error", "", "datasets"),
    ("exc-missing", "root", r"(?:[\w.]+\.)?FileNotFoundError|NotADirectoryError|IsADirectoryError|OSError: \[Errno 2\]|[\w.]*Error: (?:Incorrect path_or_model_id|Can't load the configuration of|[^\n]{0,60}is not a local folder and is not a valid model identifier)|(?:[\w.]+\.)?HFValidationError", "data_error", "the named path does not exist: correct it, or create it", "known"),
    ("exc-config", "root", r"(?:[\w.]+\.)?(?:ValidationError|ConfigurationError|ConfigAttributeError|ConfigKeyError|MissingMandatoryValue|InterpolationKeyError|ScannerError|MissingConfigException|ConfigCompositionException|ArgumentError|UsageError|ConfigError|DeepSpeedConfigError|MisconfigurationException)\b|[\w.]+Error: (?:Invalid (?:argument|value|choice|config)|Unrecognized (?:configuration|model|option)|Unknown (?:argument|option|config)|unrecognized arguments|Total number of attention heads|[^\n]{0,80}must be divisible by|[^\n]{0,60}is not supported for this model|Tensor parallel|User-specified max_model_len|world size \()", "config_error", "", "known"),
    ("exc-inner", "weak", r"(?:_?queue\.)?Empty$|StopIteration\b|StopAsyncIteration\b|GeneratorExit\b|(?:asyncio\.|concurrent\.futures\.)?(?:_base\.)?TimeoutError$", "python_exception", "", "known"),
    ("exc-system-exit", "messenger", r"SystemExit\b", "python_exception", "", "known"),
    ("exc-pipe", "cascade", r"BrokenPipeError|ConnectionResetError|ConnectionAbortedError|EOFError:?$|(?:[\w.]+\.)?(?:RemoteDisconnected|ServerDisconnectedError|IncompleteRead|ZMQError)\b|[\w.]*(?:Error|Exception): [^\n]{0,240}(?:Connection (?:reset|closed) by peer|Broken pipe)|[\w.]*Error: (?:\[Errno (?:32|104)\]|Connection (?:closed by|reset by)|Broken pipe|recvValue failed|sendBytes failed|\[[^\]]{3,120}\]:? (?:is closed|Connection closed|Connection reset)|\[[^\]]{3,120}\][^\n]{0,40}Connection closed by peer)", "python_exception", "", "known"),
)  # fmt: skip

# Lines that are no exception of Python.
SIGNS: "tuple[tuple[str, ...], ...]" = (
    ("xid", "fatal", r"NVRM: (?:Xid(?! \([^)\n]{0,40}\): (?:63|43|45)\b)|GPU at [^\n]{0,60}has fallen)|NVRM: GPU [^\n]{0,60}fallen off the bus|NVRM: [^\n]{0,60}RmInitAdapter failed|GPU [^\n]{0,60}(?:has )?fallen off the bus|(?:nvidia-nvswitch\S*: )?SXid \(PCI|NVRM: [^\n]{0,40}uncorrectable", "gpu_hardware", "", "open-gpu-kernel-modules#507"),
    ("smi-lost", "fatal", r"Unable to determine the device handle for GPU|GPU is lost|No devices were found$|[^\n]{0,60}uncorrectable ECC error (?:encountered|detected)", "gpu_hardware", "", "known"),
    ("kernel-oom", "root", r"(?:\[[\d. ]+\] )?(?:Memory cgroup out of memory|Out of memory(?: and no killable)?): Kill(?:ed)? process", "host_oom", "", "kernel mm/oom_kill.c"),
    ("kernel-oom-row", "unclear", r"(?:\[[\d. ]+\] )?oom-kill:constraint=", "host_oom", "", "kernel mm/oom_kill.c"),
    ("slurm-oom", "root", r"slurmstepd(?:-[\w.-]+)?: error: (?:\S+ )?[Dd]etected \d+ oom[-_]kill event|slurmstepd(?:-[\w.-]+)?: error: [^\n]{0,60}(?:Exceeded (?:job|step) memory limit|exceeded memory limit|oom[-_]kill)", "host_oom", "", "nextflow#5932"),
    ("srun-oom", "root", r"srun: error: [\w.-]+: tasks? [\d,\[\]-]+: Out [Oo]f [Mm]emory", "host_oom", "", "ArjunaUsers#52"),
    ("raylet-oom", "root", r"(?:[^\n]{0,60}: )?\d+ Workers? \(tasks ?/ ?actors\) killed due to memory pressure|[^\n]{0,80}killed due to memory pressure \(OOM\)|Task was killed due to the node running low on memory|Memory on the node \(IP: [^)\n]{1,120}\) [^\n]{0,400}exceeds the memory usage threshold", "host_oom", "", "verl"),
    ("container-oom", "root", r"(?:\w+: )?OOMKilled|[^\n]{0,80}[Rr]eason: OOMKilled|[^\n]{0,60}terminated with exit code 137 \(OOMKilled", "host_oom", "", "kubernetes"),
    ("slurm-time", "root", r"(?:slurmstepd|srun)(?:-[\w.-]+)?: error: (?:\S+ )?(?:\*\*\* )?(?:JOB|STEP|Job|Step)[^\n]{0,120}DUE TO TIME LIMIT|=>> PBS: job killed: walltime|TERM_RUNLIMIT|[^\n]{0,40}job (?:was )?killed (?:as|because) it (?:reached|exceeded) (?:the )?(?:wall ?time|time limit|LSF run time limit)", "time_limit", "", "desitarget#628"),
    ("slurm-preempt", "root", r"(?:slurmstepd|srun)(?:-[\w.-]+)?: error: (?:\*\*\* )?(?:JOB|STEP|Job|Step)[^\n]{0,120}DUE TO (?:PREEMPTION|JOB REQUEUE)|(?:The )?(?:[Ss]pot|[Pp]reemptible) (?:[Ii]nstance|VM|node)[^\n]{0,60}(?:interrupt|preempt|terminat|reclaim)", "preempted", "", "submitit#1708"),
    ("slurm-node", "root", r"(?:slurmstepd|srun)(?:-[\w.-]+)?: error: (?:\*\*\* )?(?:JOB|STEP|Job|Step)[^\n]{0,120}DUE TO NODE FAILURE|srun: error: Node failure on|salloc: error: Node failure", "node_failure", "", "JAX-Toolbox#398"),
    ("slurm-cancel", "unclear", r"slurmstepd(?:-[\w.-]+)?: error: \*\*\* (?:JOB|STEP) [\d._\[\]+]+ ON \S+ CANCELLED AT \S+ \*\*\*", "killed", "somebody or the scheduler cancelled it: ask sacct", "pySCENIC#456"),
    ("other-exit", "messenger", r"Execution halted$|Fortran runtime error: |Unhandled exception\. System\.|BEGIN failed--compilation aborted|Node\.js v\d+\.\d+\.\d+$|Lost atoms: |Error: Os \{ code|Successful requests: +0$", "python_exception", "read the lines above it", "R, Fortran, .NET, Perl, Node.js, LAMMPS, Rust, vllm bench"),
    ("cuda-oom", "root", r"(?:CUDA|HIP) out of memory|CUDA (?:runtime )?error: out of memory|\S{0,60}: cudaMalloc failed: out of memory|\S{0,80}(?:unable|failed) to allocate \w+ (?:\w+ )?buffer|cudaMalloc failed: out of memory|[Cc]uda [Rr]untime \(out of memory\)|torch\.(?:cuda\.)?OutOfMemoryError|RESOURCE_EXHAUSTED: Out of memory|Out of memory (?:while trying to )?allocat|Not enough memory\. Please try to increase --mem-fraction-static", "cuda_oom", "", "ollama#12634"),
    ("ggml-alloc", "root", r"ggml_\w+: (?:allocating [\d.]+ MiB on device \d+: cudaMalloc failed|failed to allocate)|ggml_gallocr_\w+: failed to allocate|alloc_tensor_range: failed to allocate|llama_(?:model_load|init_from_model|kv_cache_\w+|context)\S*: (?:error loading model: unable to allocate|failed to (?:allocate|initialize))", "cuda_oom", "", "llama.cpp#7366"),
    ("llama-load", "root", r"(?:llama_model_load\w*|gguf_init_from_file\w*): (?:error|failed)|error loading model|(?:srv +load_model|main|common_init_from_params): (?:error: )?(?:failed to load model|unable to load model|exiting due to model loading error)", "checkpoint_mismatch", "the model file is damaged or of an unknown format", "llama.cpp"),
    ("assert-device", "root", r"\S+\.(?:cu|cuh|cpp):\d+: \S[^\n]{0,200}Assertion `[^`\n]{1,300}` failed|[^\n]{0,200}: block: \[\d+,\d+,\d+\], thread: \[\d+,\d+,\d+\] Assertion", "cuda_error", "an index is out of range: check labels and embedding sizes", "TGI#2593"),
    ("assert-host", "root", r"(?:[\w./-]+: )?[\w./+-]+:\d+: [^\n]{0,200}Assertion `[^\n]{1,300}' failed", "python_exception", "an assertion of the program itself: read the line that it names", "glibc assert"),
    ("cuda-error", "root", r"CUDA error(?: \d+)?:? (?:\d+ )?(?:an illegal|device-side|unspecified|misaligned|invalid|CUBLAS|in )|CUDA error: |ggml_cuda_\w+: CUDA error|ROCm error|HIP error", "cuda_error", "", "llama.cpp"),
    ("driver", "root", r"(?:CUDA error: )?(?:no kernel image is available|the provided PTX was compiled|CUDA driver version is insufficient)|Failed to initialize NVML: Driver/library version mismatch|nvidia-container-cli: [^\n]{0,80}(?:requirement error|driver)|docker: Error response from daemon: [^\n]{0,200}(?:could not select device driver|nvidia)|NVIDIA-SMI has failed", "driver_mismatch", "", "server#2193"),
    ("watchdog-cuda", "fatal", r"(?:\[PG[^\]]{0,120}\] )?Process group watchdog thread terminated with exception: CUDA error: ", "cuda_error", "", "pytorch ProcessGroupNCCL.cpp"),
    ("watchdog", "root", r"(?:\[(?:PG|Rank)[^\]]{0,120}\] )?Watchdog caught collective operation timeout|(?:\[[^\]]{0,80}\] )?Caught collective operation timeout", "nccl_timeout", "", "LlamaFactory#6269"),
    ("watchdog-end", "messenger", r"(?:\[PG[^\]]{0,120}\] )?Process group watchdog thread terminated|(?:\[[^\]]{0,80}\] )?(?:Some NCCL operations have failed|To avoid data inconsistency|Received a dump signal|failure detected by watchdog|NCCL watchdog thread terminated)|(?:\[[^\]]{0,80}\] )?[^\n]{0,60}HeartbeatMonitor|terminate called after throwing an instance of 'c10::", "nccl_timeout", "", "pytorch#118369"),
    ("heartbeat", "messenger", r"(?:\[PG[^\]]{0,120}\] )?ProcessGroupNCCL's watchdog got stuck for \d+ seconds", "nccl_timeout", "", "pytorch"),
    ("nccl-lost", "root", r"(?:\S+:\d+:\d+ )?(?:\[\d+\] )?(?:\S+ )?NCCL WARN [^\n]{0,160}?(?:[Gg]ot completion [^\n]{0,80}with (?:status=|error )(?!0\b|5\b)\d+|retry (?:counter|count) exceeded|ibv_poll_cq\w*(?:\(\))? failed|error (?:of|in|from) ibv_poll_cq|IBV_WC_(?!SUCCESS|WR_FLUSH)\w+|vendor err (?!0\b)\d+)", "nccl_system", "the fabric lost a message for good: look at the link, the cable and the named peer", "nccl net_ib.cc"),
    ("nccl-warn", "soft", r"(?:\S+:\d+:\d+ )?(?:\[\d+\] )?(?:\S+ )?NCCL WARN (?:Call to ibv|Call to connect|NET/IB : [^\n]{0,60}(?:error|failed)|[^\n]{0,80}(?:Connection (?:refused|reset|closed)|failed))", "nccl_system", "", "nccl#925"),
    ("nccl-error", "cascade", r"(?:\S+:\d+:\d+ )?(?:\[\d+\] )?ncclSystemError|ncclRemoteError|ncclInternalError|(?:\[[^\]]{0,80}\] )?NCCL (?:error|communicator was aborted)", "nccl_system", "", "nccl#834"),
    ("c10d-socket", "root", r"\[c10d\] (?:The client socket has timed out|The server socket has failed to (?:listen|bind)|The client socket has failed to connect to any)|(?:The )?client socket has timed out after", "rendezvous", "", "pytorch#85604"),
    ("c10d-bind", "root", r"\[c10d\] The server socket (?:has failed to (?:listen|bind)|cannot be initialized)[^\n]{0,160}|(?:The server socket has )?failed to bind to [^\n]{0,80}errno: 98", "address_in_use", "", "pytorch#72816"),
    ("tcpstore", "cascade", r"\[c10d\] |TCPStore|(?:\[[^\]]{0,60}\] )?(?:sendBytes|recvValue|recvVector|sendVector) failed", "rendezvous", "", "pytorch"),
    ("jax-coord", "root", r"(?:[\w.:/ -]{0,60})?(?:Terminating process because the JAX distributed service detected fatal errors|Failed to connect to (?:distributed|coordination) service|heartbeat timeout)", "rendezvous", "", "jax#23599"),
    ("port", "root", r"\[Errno (?:98|48)\]|[^\n]{0,120}(?:EADDRINUSE|[Aa]ddress already in use)|(?:Error: )?(?:listen|bind)[^\n]{0,60}address already in use|[Pp]ort \d+ is (?:already )?in use", "address_in_use", "", "vllm#39015"),
    ("bus-shm", "root", r"(?:ERROR: )?Unexpected bus error encountered in worker", "bus_error_shm", "", "pytorch#5040"),
    ("bus", "unclear", r"(?:[\w./-]+: line \d+: +\d+ )?Bus error(?: +\(core dumped\))?", "bus_error_shm", "", "mmf#441"),
    ("terminate", "messenger", r"terminate called (?:after throwing|recursively|without)", "segfault", "a C++ exception that nobody caught: read what() says", "libstdc++"),
    ("what", "root", r"what\(\): {1,2}\S", "python_exception", "", "libstdc++"),
    ("rocm-fault", "root", r"Memory access fault by GPU|HW Exception by GPU", "cuda_error", "a kernel wrote where it may not, or the GPU hangs: read dmesg, try AMD_SERIALIZE_KERNEL=3", "ROCR-Runtime"),
    ("fatal-python", "fatal", r"Fatal Python error: (?:Segmentation fault|Aborted|Illegal instruction|Bus error|Floating)|!!!!!!! Segfault encountered !!!!!!!|(?:\[[\w.-]+:\d+\] )?\*\*\* (?:SIGSEGV|Process received signal|Aborted at|Segmentation)", "segfault", "", "TGI#2238"),
    ("segfault", "fatal", r"(?:[\w./-]+: line \d+: +\d+ )?(?:(?:Segmentation fault|Illegal instruction)(?: +\(core dumped\))?(?:$| +\S)|Aborted(?: +\(core dumped\)| {2,}\S|$))|[\w./-]+\[\d+\]: segfault at ", "segfault", "", "pytorch-lightning#20434"),
    ("killed", "unclear", r"Killed(?: {2,}\S|$)|(?:[\w./-]+: line \d+: +\d+ )Killed\b|[\w./-]+: line \d+: +\d+ (?:Terminated|Hangup)\b|(?:\w+ )?[Pp]rocess \d+ was killed|\[\d+\][ +-]+(?:Killed|Terminated)\b|srun: error: [\w.-]+: tasks? [\d,\[\]-]+: (?:Killed|Terminated)", "killed", "", "K-Net#30"),
    ("elastic-closing", "soft", r"(?:Sending process \d+ closing|Terminating process \d+ via) signal", "killed", "", "pytorch elastic"),
    ("elastic", "messenger", r"failed \(exitcode: -?\d+\)|(?:E\d{4} )?[^\n]{0,60}failed \(exitcode: |(?:torch\.\S+ )?ChildFailedError", "python_exception", "", "pytorch elastic"),
    ("status-failed", "messenger", r"(?:[\w-]+: )?(?:[Ee]nd|END|[Ee]nded|[Ff]inished|[Ff]inal|FINAL|[Oo]verall|OVERALL|[Ee]xit|[Rr]un|[Pp]ipeline)(?:,|:| with)? [Ss]tatus:? (?:FAIL|FAILED|FAILURE|ERROR|failed|failure)\b(?=\W*$|, )", "python_exception", "", "own set"),
    ("launcher-kills", "messenger", r"Killing subprocess \d+", "killed", "", "DeepSpeed launch.py"),
    ("exit-code", "messenger", r"(?:\[[^\]\n]{1,60}\] )?(?:exits with return code = -?[1-9]|[Cc]hild process unexpectedly failed|[Pp]rocess \S+ (?:exited|died|terminated) with (?:exit ?code|code|signal) ?:? ?-?[1-9])|Shard process was signaled to shutdown with signal|Shard \d+ failed to start|srun: error: [\w.-]+: tasks? [\d,\[\]-]+: (?:Exited with exit code [1-9]|Segmentation fault|Aborted)|Received sigquit from a child process|Error: Shard(?:CannotStart|Failed|sFailed)|Error: (?:Webserver|WebServer|LauncherError)\w*|npm ERR!", "killed", "", "sglang#3623"),
    ("engine-dead", "messenger", r"(?:\[[^\]]{0,40}\] )?(?:EngineCore (?:failed to start|encountered (?:a fatal|an issue))|Engine core (?:proc|died|process)|AsyncLLM output_handler failed|Engine (?:background task failed|loop (?:has died|is not running))|Worker proc \S+ died|Engine process (?:failed|died)|WorkerProc (?:failed to start|hit an exception)|Exception in worker|Shutting down FastAPI HTTP server)", "engine_dead", "", "vllm#48745"),
    ("pytest-error", "root", r"E {3,}(?:[\w.]+\.)?\w*(?:Error|Exception|Exit|Interrupt)\b", "python_exception", "read the failing test", "pytest"),
    ("pytest-failed", "messenger", r"(?:FAILED|ERROR) \S+\.py(?:::| |$)|=+ (?:\d+ \w+, )*[1-9]\d* (?:failed|errors?)\b|(?:\d+ \w+, ){0,4}[1-9]\d* (?:failed|errors?)\b[^\n]{0,80} in \d[\d.]*s|!+ (?:Interrupted|stopping after)", "python_exception", "read the failing test", "pytest"),
    ("compile", "root", r"[\w./+-]+\.(?:cu|cuh|cpp|cc|c|h|hpp|rs)[:(]\d+(?:[:,]\d+)?\)?: (?:fatal )?error(?: #?[\w-]+)?: |[\w+-]+: fatal error: |(?:clang|cc|gcc|g\+\+|c\+\+|rustc): error: |ld: |/usr/bin/ld: |nvcc fatal +:|collect2: error|error\[E\d+\]: ", "config_error", "the build failed: read the first compiler error", "gcc, nvcc, rustc"),
    ("cargo-failed", "messenger", r"test result: FAILED\.", "python_exception", "read the failing test", "cargo test"),
    ("make-stop", "messenger", r"g?make(?:\[\d+\])?: \*\*\* \[[^\]\n]{1,200}\] (?:Error \d+|Terminated|Killed|Segmentation fault)(?! \(ignored\))", "config_error", "read what its recipe said before it", "GNU make"),
    ("build-stop", "messenger", r"ninja: build stopped|FAILED: \S+|make(?:\[\d+\])?: \*\*\* |CMake Error|gmake|#\d+ ERROR: process", "config_error", "the build failed: read the first compiler error", "ninja, make, docker"),
    ("shell", "root", r"[\w./-]+: (?:line \d+: )?(?:syntax error|\S+: unbound variable|\S+: bad interpreter|bad interpreter|cannot execute|\S+: cannot execute)|exec [^\n]{1,80}: exec format error|EnvironmentNameNotFound|CondaError|(?:Could not find conda environment|Not a conda environment): |Lmod has detected the following error", "config_error", "", "bash, conda, Lmod"),
    ("slurm-submit", "root", r"(?:srun|sbatch|salloc): error: (?:Unable to (?:create step|allocate resources)|Batch job submission failed|Invalid|invalid)", "config_error", "ask for what the partition has (sinfo, scontrol show node)", "slurm"),
    ("job-state", "messenger", r".{0,60}\bstate[ =:]+(?:FAILED|TIMEOUT|OUT_OF_MEMORY|NODE_FAIL|CANCELLED)|(?:[Jj]ob|[Pp]rocess|[Cc]ommand|[Ss]cript|[Tt]raining|[Rr]un|ERROR: Job)\b.{0,60}\b(?:failed|exited|finished|terminated|ended)?,?:? ?(?:with )?(?:exit|return)(?:ed)?(?: code| status)?:?[ =:]+-?[1-9]\d*", "python_exception", "", "site epilogs"),
    ("mpi", "unclear", r"mpirun noticed that process rank", "killed", "", "Open MPI"),
    ("mpi-told", "messenger", r"(?:mpirun|prterun|mpiexec) (?:detected|has exited)|MPI_ABORT was invoked|Primary job +terminated normally, but", "python_exception", "", "Open MPI"),
    ("bare-signal", "unclear", r"(?:Terminated|Hangup|Quit|User defined signal [12]|Alarm clock|CPU time limit exceeded(?: \(core dumped\))?)$", "killed", "", "bash"),
    ("java-oom", "root", r"(?:Exception in thread \"[^\"\n]{1,120}\" )?java\.lang\.OutOfMemoryError", "host_oom", "raise the heap (-Xmx), or give the job less at once", "JVM"),
    ("caused-by", "soft", r"Caused by: (?:[\w$]+\.)+[\w$]+(?:: |$)", "python_exception", "read the innermost own frame", "JVM"),
    ("java", "root", r"Exception in thread \"[^\"\n]{1,120}\" ", "python_exception", "read the innermost own frame", "JVM"),
    ("systemd", "messenger", r"\S+\.service: (?:Main process exited, code=\w+, status=[1-9]|Failed with result|A process of this unit has been killed)", "python_exception", "", "systemd"),
    ("evicted", "root", r"(?:[^\n]{0,60}\bEvicted\b[^\n]{0,120}?)?(?:[Tt]he )?node was low on resource: |(?:The )?[Pp]od (?:\S+ )?(?:was |has been )?[Ee]victed\b", "preempted", "the node pushed the pod out: request what it uses (memory, ephemeral storage)", "kubernetes"),
    ("k8s", "messenger", r"(?:Back-off restarting failed container|CrashLoopBackOff|Error: ErrImagePull|ImagePullBackOff)", "python_exception", "read the log of the container that ended (kubectl logs --previous)", "kubernetes"),
    ("no-space", "root", r"(?:[\w./-]+: )?(?:write error|cannot create \S+|[\w./' -]{1,120}): No space left on device|No space left on device", "no_space", "", "known"),
    ("quota", "root", r"(?:[\w./' -]{1,160}: )?Disk quota exceeded", "quota", "", "known"),
    ("files", "root", r"(?:[\w./' -]{1,160}: )?Too many open files", "too_many_files", "", "known"),
    ("not-found", "root", r"(?:-?(?:bash|sh|zsh|dash)|/[\w./-]+|[\w./-]+\.sh): (?:line )?(?:\d+: )?[\w./-]+: (?:command )?not found|nohup: failed to run command|env: [^\n]{1,80}: No such file or directory|exec: \S+: executable file not found|(?:slurmstepd: error: )?execve\(\): [^\n]{1,80}: No such file|(?:-?(?:bash|sh)|(?!(?:ls|cp|mv|rm|ln|cat|grep|sed|awk|find|mkdir|touch|chmod|chown|stat|du|df|head|tail|sort|wc|tar|source): )[\w./-]+): (?:line \d+: )?[\w./-]+: No such file or directory|zsh: command not found|[\w./-]*python[\d.]*: can't open file", "command_not_found", "", "known"),
    ("denied", "root", r"(?:-?(?:bash|sh|zsh)|[\w./-]+\.sh|nohup|mkdir|cp|mv|cat|touch|ls|open|[\w./-]+): (?:(?:line )?\d+: )?(?:cannot \w+(?: \w+)? )?[^\n]{1,120}: Permission denied|Permission denied(?: \(publickey|$)", "permission_denied", "", "known"),
    ("python-no-module", "root", r"[\w./-]*python[\d.]*: (?:No module named|Error while finding module specification)", "import_error", "", "known"),
    ("usage", "root", r"(?:[\w./-]+: )error: (?:unrecognized arguments|the following arguments|argument |ambiguous option|invalid choice|the following)|(?:[\w.-]+: )?error: (?:unexpected argument|invalid value|unrecognized arguments|the following (?:required )?arguments|unknown argument)|Error: (?:No such (?:command|option)|Invalid value for|Missing (?:option|argument))|(?:Could not override|Error merging|Key) '[^'\n]{1,120}'[^\n]{0,60}(?:is not in struct)?|In 'config'|Unknown (?:option|argument)s?[: ]|unknown flag", "config_error", "", "argparse, click, clap, hydra"),
    ("auth", "root", r"(?:wandb: )?(?:ERROR )?(?:api_key not configured|Error while calling W&B API: [^\n]{0,40}(?:unauthorized|permission denied))|Cannot access gated repo|401 Client Error|Invalid (?:user )?token|Access to model [^\n]{1,80} is restricted", "auth", "", "known"),
    ("loss-scale", "root", r"(?:\[[^\]]{0,60}\] )?Current loss scale already at minimum|Minimum loss scale reached", "loss_scale_min", "", "Megatron-DeepSpeed#396"),
    ("nan-found", "root", r"(?:\[[^\]]{0,60}\] )?(?:found NaN in (?:local )?(?:grad|forward|backward)|[Ll]oss (?:is|became|went to|has become) (?:nan|NaN|inf|non-finite)|[Nn]on-finite loss|Loss is (?:nan|infinite)|NaN (?:loss|detected|encountered)|NaN or Inf found|Detected (?:NaN|nan|inf)|Model diverged)", "nan_loss", "", "Megatron-LM#5782"),
    ("refused", "soft", r"(?:curl: \(7\)|[^\n]{0,160}Connection refused|[^\n]{0,80}ECONNREFUSED|Failed to connect to)", "connection_refused", "", "known"),
    ("go-fatal", "fatal", r"(?:fatal error: )?(?:concurrent map (?:writes|reads?|iteration)|all goroutines are asleep)|fatal error: (?:unexpected signal|stack overflow|sync: )", "python_exception", "", "Go runtime"),
    ("node-heap", "fatal", r"(?:FATAL ERROR: )?[^\n]{0,120}(?:JavaScript heap out of memory|Allocation failed - process out of memory)", "host_oom", "raise --max-old-space-size, or hold less in memory", "Node.js"),
    ("given-up", "messenger", r"[\W_]{0,6}(?:[\w./-]+: )?(?:[Tt]he |[Tt]his )?(?:[Rr]un|[Jj]ob|[Tt]raining|[Ee]xperiment)(?: [\w./-]*\d[\w./-]*)? (?:is |was |has been )?(?:abandoned|given up)\b", "python_exception", "read what it said before", "own set"),
    ("etcd-space", "fatal", r"(?:panic: )?[^\n]{0,80}mvcc: database space exceeded", "no_space", "compact and defragment etcd, then disarm its alarm", "etcd"),
    ("julia-nested", "root", r"nested task error: [A-Z]\w*(?:Error|Exception)\b", "python_exception", "", "Julia"),
    ("julia-task", "messenger", r"(?:ERROR: )?(?:LoadError: )?TaskFailedException", "python_exception", "", "Julia"),
    ("xla-stuck", "soft", r"This thread has been waiting for `[^`\n]{1,120}` for \d+ seconds and may be stuck", "stuck_step", "", "XLA rendezvous.cc"),
    ("sglang-watchdog", "root", r"Watchdog timeout \(self|(?:Scheduler|Detokenizer|Tokenizer) watchdog timeout", "stuck_step", "", "SGLang"),
    ("build-failure", "messenger", r"BUILD (?:FAILURE|FAILED)\b", "config_error", "the build failed: read its first error", "Maven, Gradle, Bazel, Xcode"),
    ("go-memory", "fatal", r"fatal error: runtime: (?:cannot allocate|out of) memory|runtime: out of memory: cannot allocate", "host_oom", "", "Go runtime"),
    ("panic", "fatal", r"thread '[^'\n]{1,80}' (?:\(\d+\) )?panicked at|panic: |goroutine \d+ \[running\]|GGML_ASSERT\(|[\w./-]+\.(?:cpp|c|cu|h):\d+: GGML_ASSERT|F\d{4} \d\d:\d\d:\d\d|Check failed: ", "python_exception", "a bug in the program: keep the core dump and the lines above", "known"),
    ("oom-go", "root", r"(?:Error: )?(?:llama runner process has terminated|model requires more system memory|llama-server process died)", "cuda_oom", "", "ollama#9782"),
    ("triton-model", "root", r"(?:failed to load '[^'\n]{1,80}' version|error: creating server: |Failed to load model)", "checkpoint_mismatch", "look at the model repository's entry named", "triton"),
    ("warmup", "root", r"Initialization failed\. warmup error", "engine_dead", "", "sglang#3623"),
)  # fmt: skip

# Text that looks ill and is not: (id, role, pattern, …) with the role saying what it excuses.
#   line     the line itself
#   trace    the traceback that follows
#   retry    the line, and counts as an attempt
#   stop     an ordered stop: tracebacks behind it are teardown
#   contain  the traceback around it concerns one request or sample only
# The fourth column holds words of which a line must have one before the pattern is tried: most lines are spared it.
BENIGN: "tuple[tuple[str, ...], ...]" = (
    ("ignored", "line", r"\b(?:can|may|should|will)(?: be)? (?:safely )?(?:be )?ignored?\b|\b[Ii]gnoring (?:this|the|it|error|exception|and)\b|\(ignored\)|\bharmless\b|\b[Nn]on-?fatal\b|\bnot fatal\b|[Nn]ot an error\b|(?:: |\bis |\bwas )ignored$", "gnor|armless|fatal|Not an error", "", "sglang, inductor"),
    ("expected", "line", r"\((?:[^()\n]{0,40}\b)?(?<!not )(?<!but )(?:expected(?! \S+,? (?:but )?(?:got|found|was|is))|injected|simulated|intentional)(?:\b[^()\n]{0,40})?\)|\binjected\b|\b(?:as|is|was|were) expected\b|\bfail(?:s|ed)? as (?:it|they) (?:must|should)\b|\b(?i:expected fail, got fail)\b|\bexpected (?:failure|to fail|error)\b|\bxfail(?:ed)?\b|\b[Ss]imulat(?:ed|ing) (?:failure|fault|oom|crash|error)|\bfault[- ]injection\b|\bchaos\b", "expected|they |as it |njected|imulat|ntentional|xfail|ault|haos", "", "fault tests"),
    ("fallback", "line", r"\b[Ff]all(?:ing|s|en)? ?back\b|\b[Ff]allback\b|\b(?:Could not|Unable to) import\b|\bFailed to import from vllm\._C\b|\b[Nn]ot (?:installed|available), (?:using|skipping|disabling)\b|\boptional\b|\bis disabled\b|\bwill be disabled\b", "fall|Fall|import|ot installed|ot available|optional|disabled", "", "vllm-ascend#19"),
    ("retry", "retry", r"\b[Rr]etry(?:ing)?\b(?! (?:count(?:er)?|limit|budget) (?:was )?(?:exceeded|exhausted))|\bretries left\b|\bwill (?:retry|be retried)\b|\b[Aa]ttempt[ =:#]*\d+|\b[Rr]econnect(?:ing)?\b|\b[Bb]ack(?:ing)? ?off\b|\b\w+ing again\b|\bagain in \d|\b[Ww]aiting for (?:the )?(?:\S+ ){1,8}?(?:to (?:become|be|come|start)|ready|up)\b|\bnot ready(?: yet)?\b", "etry|etries|etried|ttempt|econnect|ack|again|aiting|ready", "", "urllib3, tenacity"),
    ("started-again", "line", r"\b(?:[Rr]e-?start|[Rr]e-?launch|[Rr]e-?spawn)(?:s|ed|ing)\b|\bstart(?:s|ed|ing)? (?:(?:it |over |them )?(?:over|again|anew)|a new (?:worker|one|child|process|replica))\b", "start|launch|spawn", "", "own set: what a supervisor says of its child"),
    ("future", "line", r"\bwill raise an? (?:error|exception)\b|\b[Dd]eprecat(?:ed|ion)\b|\b(?:Future|User|Deprecation|Runtime|Resource|Syntax|Import|Experimental|Requests\w*)Warning\b|\bfilterwarnings\b", "will raise|eprecat|Warning|filterwarnings", "", "known"),
    ("advice", "line", r"^(?:\(Background on this error|warnings\.warn\(|For debugging consider|Compile with `?TORCH_USE_CUDA_DSA|CUDA kernel errors might be asynchronously|Device-side assertion tracking|If you (?:are|suspect|see|want|encounter|get|run)|This (?:might|may|can|could|usually) |It usually means|Possible (?:causes?|reasons?)|Some (?:common|possible) causes|See documentation|Try (?:reducing|increasing|setting)|Please (?:check|see|refer|make sure|note)|Hint:|hint:|Note:|NOTE:|Tip:|Potential root causes|To (?:enable|fix|resolve|avoid|debug) |\(\d\) )", "", "", "pytorch, ray"),
    ("names", "line", r"^(?:export [A-Za-z_]\w*(?:=|$)|declare -|\+ |\w+=\S*$|[\w.]+: (?:bool|int|str|float|None|True|False)\b)", "", "", "own set"),
    ("variables", "line", r"NCCL_ASYNC_ERROR_HANDLING|crash_dump|ignore[-_]errors|on[-_]error|raise_error|errors=[\"']?(?:ignore|strict|replace|surrogate|coerce|raise)", "NCCL_ASYNC|crash_dump|error", "", "own set"),
    ("accelerate-defaults", "line", r"^The following values were not passed to `accelerate launch`", "", "", "accelerate"),
    ("ctest-skipped", "line", r"^The following tests did not run:", "", "", "ctest lists the skipped ones"),
    ("counters", "line", r"(?<!\d\.)\b(?:0|no|zero|without) (?:errors?|failures?|failed|exceptions?|warnings?)\b|\b(?:errors?|failed|failures?|exceptions?|wrong|nan iterations|exc_info)[\"']?\s*[=:]\s*(?:0\b(?!\.\d*[1-9])|\[\]|null|None|none|[\"']?<?nil>?\b|\"\")", "rror|ail|xcept|arning|rong|nan iter|exc_info", "", "own set"),
    ("tooling", "line", r"^(?:(?:fatal: )?(?:not a git repository|No names found, cannot describe)|ERROR: pip's dependency|srun: warning|mesg: |stty: |bash: cannot set terminal|bash: no job control|tput: |Lmod |perl: warning|locale: )", "", "", "known"),
    ("tool-pipe", "line", r"^(?:grep|sort|sed|cat|ls|find|tee|yes|head|cut|uniq|zcat): (?:write error|stdout|standard output): Broken pipe", "Broken pipe", "", "a reader that had enough"),
    ("tooling-inside", "line", r"pip's dependency resolver|CUDA_ERROR_COMPAT_NOT_SUPPORTED|cannot change locale", "resolver|COMPAT|locale", "", "known"),
    ("plugins", "line", r"[Uu]nable to register cu(?:FFT|DNN|BLAS)|computation placer already registered|libnccl-net\S*: cannot open|NET/Plugin|Local rendezvous is aborting with status: (?:OUT_OF_RANGE|0)|End of sequence|could not find (?:drivers|TensorRT)|TF-TRT Warning|Could not load dynamic library|cuInit: |No plugin found|OVERFLOW! (?:Rank|Skipping)|Skipping step\b|destroy_process_group\(\) was not called|has NOT been destroyed|leaked semaphore|leaked shared_memory|resource_tracker|can potentially cause a hang|Triton is not available|Error getting GPU|not a valid NVTX|Address family not supported|errno: 97|Invalid hostname|Notebook JSON is invalid", "register|libnccl|NET/Plugin|rendezvous|sequence|could not|Could not|TF-TRT|cuInit|plugin|OVERFLOW|Skipping|destroy|DESTROYED|leaked|resource|hang|Triton|GPU|NVTX|family|errno|hostname|Notebook", "", "tensorflow#62075, nccl-tests#227, DeepSpeed#931"),
    ("gc-trace", "trace", r"^Exception ignored (?:in|while)\b|^Error in atexit\._run_exitfuncs|^Exception in thread \S+(?: \(\S+\))? \(most likely raised during interpreter shutdown\)|^Batched Comm Closed|^Exception in thread (?:\S+ \(_pin_memory_loop\)|QueueFeederThread|QueueManagerThread)|^--- Logging error ---|^Error in sys\.excepthook|^Traceback below is (?:expected|harmless)", "", "", "tqdm#1677"),
    ("queued", "retry", r"\b(?:cannot be scheduled|queued and waiting|still (?:waiting|pending|queued)|is pending|[Hh]eartbeats?(?! (?:has |have |was )?(?:timed? ?out|lost|missed|failed|expired)))\b|^(?:[Ss]till )?[Ww]aiting (?:for|on|until)\b", "scheduled|queued|pending|waiting|eartbeat", "", "ray, slurm"),
    ("as-expected", "contain", r"\b(?:caught|raised|failed|died|refused|crashed) as (?:expected|intended|planned)\b", " as ", "", "own set"),
    ("contained", "contain", r"Exception in ASGI application|\bException on /\S* \[[A-Z]+\]|Exception (?:occurred|happened) during processing of request|http: panic serving|^future: <(?:Task|Future)|\b(?:halving|reducing|lowering|shrinking) (?:the )?(?:micro-?)?batch|[Ee]rror (?:(?:in|while|when|during) )?(?:preprocessing|processing|handling|parsing|serving)|\b[Bb]ad [Rr]equest\b|\b(?:skip|skipping|skipped|dropped|dropping|discarding)\b(?! iterations| ?[=:] ?\d| \d+ (?:tok|step))|\bUncaught exception (?:GET|POST)|\b[Rr]equest (?:\S{1,60} )?(?:failed|aborted)\b|\bError in request\b|\bTrial \d+ failed\b|\bTrial task failed for trial (?!\w*Trainer_)|^Task \S{1,200} (?:raised |rejected)|[Ff]ailed to (?:process|parse|decode|fetch|download|load) (?:sample|record|row|request|image|document|item|file|url|shard)|Task exception was never retrieved|Unclosed client session|\bcontinuing\b|\bmoving on\b|marking (?:it )?as failed|quarantin", "xception|rror|equest|kip|drop|discard|ailed|never|aised|nclosed|ontinuing|oving|arking|uarantin|panic|future|halving|reducing|lowering|shrinking", "", "vllm, own set"),
    ("stop", "stop", r"\b(?:[Rr]eceived|[Cc]aught|[Gg]ot) (?:signal )?(?:SIGTERM|SIGINT|SIGUSR1|signal (?:15|2)\b|termination signal|terminate signal|interrupt)|\bSIG(?:TERM|INT) received\b|\b[Ss]hut(?:ting)? ?down (?:requested|triggered|gracefully|initiated|signal|on (?:user )?request)|\b[Gg]raceful(?:ly)? (?:shutdown|stop|exit|shutting)\b(?! ?(?:timeout|period|window|is\b|enabled|handler|of\b|after|on|=|:))|^\^C|\bKeyboardInterrupt\b(?! (?:is|will|handler))|\bInterrupted by user\b|\b[Ss]top requested\b|\b[Ss]topping (?:server|all|on request)|Detected KeyboardInterrupt|shutdown triggered|operator requested (?:a )?(?:stop|shutdown)|Interrupt(?:ed)?, shutting down|signal received, (?:starting|shutting)|starting graceful shutdown|^Shutting down(?: FastAPI HTTP)?(?: server)?\.?$|Handling signal: (?:term|int|quit)|Shutdown confirmed|Signal \((?:2|15)\) received|\b[Ss]ignal (?:2|15)\b[^\n]{0,80}\b(?:stop|finish|shut|sav|exit|end)|\b(?:[Ss]topp(?:ed|ing)|[Ee]xit(?:ed|ing)|[Qq]uit(?:ting)?|[Ee]nd(?:ed|ing)) (?:on|at|by|as) (?:user |operator |your )?(?:request(?:ed)?|demand)\b|Received second interrupt|\b[Ww]arm shutdown\b|^SIG(?:TERM|INT): |Hitting Ctrl\+C again|cleaning up before exit", "SIG|ignal|hut|raceful|^C|nterrupt|trl|top|Received|received", "", "vllm#36270"),
)  # fmt: skip

# A program is told by its signature; then only its own ready markers count (its libraries have markers too, earlier).
# (id, role, pattern, program, words, source); words as above; roles: program, ready, start (a run begins), done, began (work begins),
# resumed, restarted and replaced (what had died runs again), met (the ranks found each other).
MARKERS: "tuple[tuple[str, ...], ...]" = (
    ("vllm-is", "program", r"vLLM API server version|\(EngineCore|\(APIServer|\bvllm[./ ]|vLLM", "vllm", "vLLM|vllm|(EngineCore|(APIServer", "vllm"),
    ("sglang-is", "program", r"server_args=ServerArgs|\bsglang\b|Load weight (?:begin|end)\.|Capture cuda graph begin|Init torch distributed begin", "sglang", "sglang|ServerArgs|Load weight|Capture cuda|Init torch", "sglang"),
    ("tgi-is", "program", r"text_generation_(?:launcher|router)", "tgi", "text_generation_", "TGI"),
    ("tei-is", "program", r"text_embeddings_(?:router|backend|core)", "tei", "text_embeddings_", "TEI"),
    ("llamacpp-is", "program", r"^(?:llama_model_load|llama_model_loader|ggml_cuda_init|srv +load_model|main: loading model|build: \d+ \()", "llama.cpp", "", "llama.cpp"),
    ("ollama-is", "program", r"\bOLLAMA_|source=routes\.go|ollama", "ollama", "OLLAMA|routes.go|ollama", "ollama"),
    ("triton-is", "program", r"NVIDIA Triton Inference Server|\btritonserver\b|server_id +\| triton|model_lifecycle\.cc|model_repository_manager\.cc|grpc_server\.cc|http_server\.cc", "triton", "Triton|triton|lifecycle|repository_manager|_server.cc", "Triton"),
    ("ray-is", "program", r"Ray runtime started|Local node IP: |ray start --|Started a local Ray instance", "ray", "Ray |ray |Local node", "Ray"),
    ("jupyter-is", "program", r"jupyter(?:_server|lab|hub)?|Jupyter Server", "jupyter", "upyter", "Jupyter"),
    ("tensorboard-is", "program", r"TensorBoard \d", "tensorboard", "TensorBoard", "TensorBoard"),
    ("gunicorn-is", "program", r"Starting gunicorn", "gunicorn", "gunicorn", "gunicorn"),
    ("mlflow-is", "program", r"\bmlflow\b.*server", "mlflow", "mlflow", "MLflow"),
    ("vllm-ready", "ready", r"Application startup complete\.$", "vllm", "", "vllm"),
    ("sglang-ready", "ready", r"The server is fired up and ready to roll!", "sglang", "", "sglang"),
    ("tgi-ready", "ready", r"(?:text_generation_router\S*: )(?:\S+: )?Connected$", "tgi", "", "TGI"),
    ("tei-ready", "ready", r"(?:text_embeddings_router\S*: )(?:\S+: )?(?:Ready|Starting HTTP server: [\d.:]+)$", "tei", "", "TEI"),
    ("llamacpp-ready", "ready", r"(?:main: )?server is listening on \S+ - starting the main loop|main: starting the main loop|srv +update_slots: all slots are idle|all slots are idle", "llama.cpp", "", "llama.cpp"),
    ("ollama-ready", "ready", r"(?:.{0,80})?(?:Listening on \S+:\d+|inference compute|llama runner started in)", "ollama", "", "ollama"),
    ("triton-ready", "ready", r"Started (?:HTTPService|GRPCInferenceService|Metrics Service) at", "triton", "", "Triton"),
    ("ray-ready", "ready", r"Ray runtime started\.", "ray", "", "Ray"),
    ("serve-ready", "ready", r"(?:.{0,60})?(?:Deployed app '[^']{1,80}' successfully|Application '[^']{1,80}' is ready at)", "ray", "", "Ray Serve"),
    ("jupyter-ready", "ready", r"(?:Jupyter Server \S+ is running at:|The Jupyter Notebook is running at:|JupyterHub is now running)", "jupyter", "", "Jupyter"),
    ("tensorboard-ready", "ready", r"TensorBoard \S+ at http", "tensorboard", "", "TensorBoard"),
    ("uvicorn-ready", "ready", r"Uvicorn running on http", "", "", "uvicorn"),
    ("gunicorn-ready", "ready", r"(?:Listening at: |Application startup complete\.$)", "gunicorn", "", "gunicorn"),
    ("asgi-ready", "ready", r"Application startup complete\.$", "", "", "uvicorn"),
    ("flask-ready", "ready", r"(?: ?\* )?Running on (?:http|all addresses|local URL: )|Serving HTTP on ", "", "", "Flask, gradio"),
    ("grpc-ready", "ready", r"(?:gRPC |GRPC )?[Ss]erver (?:is )?(?:now )?(?:listening|running|started|ready|up)(?: and ready)?(?:[ :.,!]|$)|Server started(?: on| at)? |[Rr]eady to (?:accept|serve|receive)|(?:[\w:]{1,60}: )?(?:\w+ ){0,3}[Ll]istening (?:on|at) (?:\S{0,80}:)?\d+\b|.{0,60}\bready to accept connections", "", "", "known"),
    ("event-ready", "ready", r"(?:[\w-]{1,40}\.)?(?:hub|server|service|app|api|gateway)\.(?:ready|serving)\b", "", "", "own set: records"),
    ("own-ready", "ready", r"^(?:[^\n]{0,80}?\b(?:[Ss]erving|[Ll]istening|[Aa]ccepting|[Aa]vailable|[Rr]eady|READY|[Oo]pen|[Rr]unning|[Ll]ive|LIVE|[Uu]p (?:on|at))\b[^\n]{0,40}?(?:https?://\S|(?:\d{1,3}(?:\.\d{1,3}){3}|localhost|\*|\]):\d|port \d|tcp/\d|(?<![\d:]):\d{4,5}\b(?![:-]))|[^\n]{0,60}?(?:https?://\S{3,80}|[\d.]{7,15}:\d{2,5}|port \d{2,5}) (?:is )?(?:now )?(?:[Uu]p|UP|ready|open|live|listening|serving)\b)", "", "", "own set"),
    ("address-ready", "ready", r"(?=[^\n]{0,140}://)(?:[^\n]{0,60}\b(?:[Gg]o to|[Bb]rowse to|[Nn]avigate to|[Vv]isit|[Oo]pen|[Pp]oint your browser (?:to|at)|[Aa]vailable (?:at|on|under)|(?:GUI|UI|[Ii]nterface|[Aa]pp(?:lication)?|[Pp]layground)(?: is)?(?: at| on|:)|(?:[Ll]ocal|[Nn]etwork|[Ee]xternal|[Pp]ublic|[Ss]erver) URL:?)[^\n]{0,40}?https?://(?![^\s/]*\.(?:com|org|io|ai|net|dev)(?:[/\s]|$))(?:localhost|[\w.*\[\]:-]+:\d{2,5})(?:/(?!#)\S{0,120})?\W{0,12}(?:$|in (?:your|a|the) (?:web )?browser))", "", "", "ComfyUI, Streamlit, Gradio, own set"),
    ("celery-ready", "ready", r"celery@\S{1,80} ready\.", "", "", "Celery"),
    ("router-ready", "ready", r"(?:[\w:]{1,80}: )?(?:src/[\w/.]{1,80}:\d+: )?(?:Router ready\b|Starting server on \S+:\d+)", "", "", "sglang router"),
    ("mlflow-ready", "ready", r"Listening at: ", "mlflow", "", "MLflow"),
    ("hf-began", "began", r"\*{5} Running training \*{5}", "", "", "transformers"),
    ("elastic-again", "resumed", r"(?:\[\w+\] )?Worker group FAILED\. \d+/\d+ attempts left; will restart", "", "", "torch elastic agent"),
    ("cargo-done", "done", r"test result: ok\. \d+ passed; 0 failed", "", "", "cargo test"),
    ("resumed", "resumed", r"(?:[^\n]{0,60}?\b)?(?:(?:[Rr]esum(?:ed|ing)|[Rr]e-?start(?:ed|ing)) (?:\w+ ){0,2}(?:from|at)\b|[Rr]estored (?:\w+ )?(?:from|step)\b|[Rr]e-?queued\b)", "", "", "own set"),
    ("megatron-began", "began", r"\[before the start of training step\]", "", "", "Megatron-LM"),
    ("nohup", "start", r"nohup: (?:ignoring input|appending output|redirecting stderr)", "", "", "coreutils"),
    ("slurm-start", "start", r"(?:Job \d+ on \S+ started|SLURM_JOB_ID[=:] ?\d+|Starting job \d+|Job started at|=+ ?(?:run|RUN|job|JOB|launch) (?:started|start|begin)(?! (?:fail|time)))", "", "", "site prologs"),
    ("script-start", "start", r"Script started on ", "", "", "script(1)"),
    ("vllm-start", "start", r"vLLM API server version", "", "", "vllm"),
    ("pytest-start", "start", r"=+ test session starts =+", "", "", "pytest"),
    ("sglang-start", "start", r"server_args=ServerArgs\(", "", "", "sglang"),
    ("launch-start", "start", r"(?:launch(?:ing)?: |(?:starting run|run started|new run(?! director)|=== start(?:ing)? (?:run|job|training)|-+ ?start(?:ing)? run)[:= ])", "", "", "own set"),
    ("restart-start", "start", r"(?:\[[^\]]{0,60}\] )?(?:Restarting (?:worker group|job|training|server)|.{0,40}worker group .{0,40}restart|Started server process \[\d+\])", "", "", "torch elastic, uvicorn"),
    ("attempt", "restarted", r"(?:\[[\w.-]{1,40}\] )?(?:[Ss]tart(?:ing)?|[Ll]aunch(?:ing)?) (?:attempt|try|life) #?\d+|(?:[\w.-]{1,40}: )?(?:[Rr]e-?)?[Ss]tarting '?[\w.-]{1,60}'? \((?:attempt|try) #?\d+", "", "", "own set: a supervisor"),
    ("died-again", "replaced", r"[^\n]{0,100}\b(?:died|killed|crashed|exited)\b[^\n]{0,60}[,;:] (?:[Rr]e-?(?:start|spawn|launch)|start)ing\b", "", "", "own set: a supervisor of children"),
    ("worker-again", "replaced", r"Booting worker with pid|(?:[\w:#-]+ ){0,3}(?:[Rr]espawn(?:ed|ing)|[Rr]estart(?:ed|ing)) (?:\w+ )?(?:worker|replica|child|process|actor)\b|(?:Adding|Started|Starting|Spawned) (?:\d+ |a )?(?:new )?(?:replicas?|workers?|child(?:ren)?)\b|(?:New|new|Replacement|replacement) (?:worker|replica|process) ", "", "", "gunicorn, Ray Serve"),
    ("hf-done", "done", r"\{'train_runtime':|Training completed\. Do not forget|\*{5} (?:train|eval|test|predict) metrics \*{5}", "", "", "transformers"),
    ("lightning-done", "done", r"`?Trainer\.(?:fit|test|validate|predict)` stopped: |Trainer was signaled to stop|Epoch \d+: 100%.{0,200}max_epochs", "", "", "Lightning"),
    ("megatron-done", "done", r"\[after training is done\]|\[exiting program (?:at|after) ", "", "", "Megatron-LM"),
    ("pytest-done", "done", r"(?:=+ )?(?:\d+ (?:passed|skipped|xfailed|xpassed|deselected|warnings?|reruns?)(?:, )?){1,6} in [\d.]+s", "", "", "pytest"),
    ("lm-eval-done", "done", r"\| *Tasks? *\| *Version *\|", "", "", "lm-eval-harness"),
    ("nccl-tests-done", "done", r"# Avg bus bandwidth +:", "", "", "nccl-tests"),
    ("gpu-burn-done", "done", r"Tested \d+ GPUs:", "", "", "gpu-burn"),
    ("slurm-done", "done", r".{0,80}(?:state COMPLETED|exit 0\b|ExitCode[=:] ?0:0|exit(?:ed)?(?: with)?(?: (?:return |exit )?code| status)?[ =:]+0\b|\bexit(?:s|ed) (?:successfully|normally|cleanly|ok|OK)\b)", "", "", "site epilogs, deepspeed"),
    ("exit-zero", "done", r"(?:\[[\w-]{1,30}\] )?(?:[\w-]+:? ){0,3}(?:(?:[Ee]xit|EXIT)(?: status| code)(?: of [\w -]{1,30})?[:= ]+0|(?:ended|finished|exited) with (?:status |code |exit code )?0)\W*$", "", "", "own set"),
    ("status-ok", "done", r"(?:[\w-]+: )?(?:(?:[Ee]nd|[Ff]inal|[Oo]verall|[Jj]ob|[Rr]un|[Pp]ipeline),? (?:[Ss]tatus|STATUS)|(?:[Ff]inal |[Oo]verall )?(?:[Vv]erdict|VERDICT))(?:: ?| )(?:OK|ok|SUCCESS|success|SUCCEEDED|succeeded|PASS|PASSED|pass)\b(?=\W*$|, )", "", "", "own set"),
    ("own-done", "done", r"(?:[\w.-]+ ){1,5}[\w.-]+: DONE\b", "", "", "own set"),
    ("generic-done", "done", r"(?:[\w.:/-]+: )?(?:={2,} ?)?(?:(?:All |all )?(?:done|Done|DONE|finished|Finished|FINISHED|completed|Completed|complete|Complete|COMPLETE|COMPLETED)(?:[.!]*$|[.!:,] +(?!\d+ ?(?:/|of\b)|\d[\d.]* ?[%kKMGT])| +(?:in|at|after|on|with|without|successfully|all|processing|training|running|writing|everything|status: (?:success|ok|done)|\W)(?:\W|$))|(?:[Tt]raining|[Ee]valuation|[Ee]val|[Jj]ob(?: \d+)?|[Rr]un|[Gg]eneration|[Ii]nference|[Ee]xport|[Pp]rocessing|[Dd]ownload|[Cc]onversion|[Pp]ipeline|[Ss]cript|[Pp]reprocessing|[Tt]okenization|[Bb]enchmark|[Ee]verything|[Aa]ll \S+(?: \S+)?)(?: \S+)? (?:is |has |have |are |was |were )?(?:done|finished|complete|completed|ended|succeeded|successful|saved|written)\b|[Ss]uccessfully (?:completed|finished|generated|saved|exported|converted|wrote|written|processed|uploaded|trained|evaluated|pushed|merged|quantized|downloaded|copied|transferred)|[Ff]inished (?:training|evaluation|all|run|in|at|after|generating|processing|successfully)|[Cc]ompleted (?:in|all|successfully)|[Ee]xiting (?:normally|cleanly|with (?:code|status) 0)|[Bb]ye[.!]?$|[Ww]all(?:clock)? time[: ]|[Tt]otal (?:time|runtime|elapsed)(?::| (?!(?:of|for|to|in|spent)\b))|[Tt]ime (?:taken|elapsed): |(?:[Rr]esults?|[Oo]utputs?|[Pp]redictions) (?:saved|written) to|(?:[Ww]rote|[Ss]aved) (?:(?:all )?(?:outputs?|results?|predictions|metrics|\d+ \w+)|final)\b|[Ss]aved final (?:model|checkpoint)|[Ff]inal (?:results?|metrics?|accuracy|score|loss|model|checkpoint)\b(?! (?:dir|path|will|name|folder|output))|[Mm]erged and saved|[Ww]rote \S+(?: \S+)? \(\d+ \w+, 0 failed)", "", "", "own set"),
    ("wandb-done", "done", r"wandb: (?:Synced|View run (?!at https?:)|Run summary|Find logs at|Run history)|wandb: 🚀 View run (?!at https?:)", "", "", "wandb"),
    ("ray-done", "done", r"Job '[^']{1,60}' succeeded", "", "", "Ray"),
    ("rsync-done", "done", r"total size is [\d.,]+\w?  speedup is ", "", "", "rsync"),
    ("cmake-done", "done", r"\[100%\] Built target |-- (?:Installing|Up-to-date): ", "", "", "CMake"),
    ("buildkit-done", "done", r"#\d+ (?:naming to|writing image|exporting manifest list) \S{1,300}(?: [\d.]+s)? done|Successfully tagged ", "", "", "docker build"),
    ("spark-done", "done", r"(?:SparkContext: )?Successfully stopped SparkContext", "", "", "Spark"),
    ("bench-done", "done", r"=+ (?:\w+ )?Serving Benchmark Result =+", "", "", "vllm, sglang"),
    ("elapsed-done", "done", r"real\t\d+m[\d.]+s", "", "", "bash time"),
)  # fmt: skip

# Counters of work done. Named groups: n, and where known of (the whole), epoch.  Heartbeats, retries and timers are not here.
# The fourth column: words as above.  Roles: step (a training step), item (a unit of a batch job), serve (an answered request), bar (any tqdm-like bar).
PROGRESS: "tuple[tuple[str, ...], ...]" = (
    ("megatron", "step", r"\biteration +(?P<n>\d+)/ *(?P<of>\d+)", "iteration", "", "Megatron-LM"),
    ("bar", "bar", r"(?P<n>\d+)/(?P<of>\d+) \[", "[", "", "tqdm"),
    ("bar-open", "bar", r"(?P<n>\d+)(?:it| \w+)? \[\d+:\d\d", "[", "", "tqdm"),
    ("hf", "step", r"^\{'(?:loss|train_loss)': .{0,200}'epoch': '?(?P<n>[\d.]+)", "", "", "transformers"),
    ("deepspeed", "step", r"\bstep=(?P<n>\d+), skipped=", "step=", "", "DeepSpeed"),
    ("verl", "step", r"\bstep:(?P<n>\d+) - ", "step:", "", "verl"),
    ("maxtext", "step", r"\bcompleted step: (?P<n>\d+)", "completed step", "", "MaxText"),
    ("epoch-batch", "step", r"\b[Ee]poch:? ?\[?(?P<epoch>\d+)\]?,? ?[\[(] *(?P<n>\d+)/ *(?P<of>\d+)", "poch", "", "PyTorch examples"),
    ("epoch-step", "step", r"\b[Ee]poch[ =:]+(?P<epoch>\d+)(?:/\d+)?[ ,|:-]+(?:[Gg]lobal )?(?:[Ss]tep|[Bb]atch|[Ii]ter(?:ation)?)[ =:]+(?P<n>\d+)", "poch", "", "known"),
    ("step", "step", r"(?:^|[^\w/-])(?:(?:global|train|opt|current)[_ ]?)?(?:[Ss]tep|STEP|[Ii]ter(?:ation)?|[Uu]pdate|[Bb]atch)[\"']?[ =:#]+\[? *(?P<n>\d+)(?: */ *(?P<of>\d+))?", "tep|TEP|ter|pdate|atch", "", "torchtitan, nanoGPT, known"),
    ("it", "step", r"(?:^|[\s|\]])(?:[Ii]t|IT)[ =:#]+(?P<n>\d+)(?: */ *(?P<of>\d+))?[ ,|:;-]+(?:[a-z]\w{0,20}[_ /-])?(?:loss|lr|ppl|nll|acc|reward|elbo|mse|err)\b", "it|It|IT", "", "own set"),
    ("epoch", "step", r"(?:^|[^\w])[Ee]poch[\"']?[ =:#]+\[? *(?P<n>\d+)(?: */ *(?P<of>\d+))?", "poch", "", "known"),
    ("pytest", "item", r"\b(?:PASSED|SKIPPED|XFAIL|FAILED|\.+) +\[ *(?P<n>\d+)%\]", "%]", "", "pytest"),
    ("sglang", "serve", r"^(?P<n>)(?:Decode|Prefill) batch", "", "", "sglang"),
    ("vllm", "serve", r"(?P<n>)Avg prompt throughput: [\d.]+ tokens/s, Avg generation throughput: (?!0\.0 )[\d.]+ tokens/s", "throughput", "", "vllm"),
    ("access", "serve", r"\"(?:POST) (?!/(?:health|metrics|ping|ready|live))\S{1,200} HTTP/[\d.]+\"? 200(?P<n>)", "POST", "", "uvicorn"),
    ("answered", "serve", r"\b(?:POST|PUT) /\S{0,200} 200\b(?P<n>)", "POST|PUT", "", "Ray Serve"),
    ("tgi", "serve", r"(?:text_generation_router\S*: )(?:\S+: )?Success(?P<n>)", "Success", "", "TGI"),
    ("llama-slot", "serve", r"^(?:slot +(?:print_timing|release)|srv +log_server_r: request: POST \S+ \S+ 200)(?P<n>)", "", "", "llama.cpp"),
    ("celery", "serve", r"^Task \S{1,200} succeeded in (?P<n>)", "", "", "Celery"),
    ("wget", "item", r"^ *(?P<n>\d+)K [ .]{10,}", "", "", "wget"),
    ("ffmpeg", "item", r"\bframe= *(?P<n>\d+) fps=", "frame=", "", "ffmpeg"),
    ("clu", "step", r"^\[(?P<n>\d+)\]:? +[\w/]*(?:loss|acc|accuracy|perplexity)\w*[=:] ?\S", "", "", "clu.metric_writers"),
    ("xgboost", "step", r"^\[(?P<n>\d+)\]\s+\w+-\w+:", "", "", "XGBoost, LightGBM"),
    ("table", "step", r"\| +(?:iterations|total_timesteps|n_updates) +\| +(?P<n>\d+)", "|", "", "stable-baselines3"),
    ("counter", "item", r"(?:^|[^\w.#])(?:[Dd]one|[Pp]rocessed|[Cc]ompleted|[Cc]omplete|[Ff]inished|[Gg]enerated|[Ww]rote|[Ww]ritten|[Pp]rogress|[Ss]amples?|[Tt]asks?|[Ss]hards?|[Ii]tems?|[Ff]iles?|[Dd]ocs?|[Dd]ocuments?|[Cc]hunks?|[Pp]rompts?|[Rr]equests?|[Rr]ows?|[Rr]ecords?|[Ee]xamples?|[Ii]mages?|[Qq]uestions?|[Pp]roblems?|[Ee]pisodes?|[Rr]ollouts?|[Ss]equences?|[Vv]ideos?|[Pp]ages?|[Pp]arts?|[Rr]ounds?|[Tt]rials?|[Ee]valuated|[Ss]cored|[Cc]ases?)[\"']?[ =:]+\[? *(?P<n>\d+)(?!\d|\.\d| ?(?:ms|s|secs?|seconds?)\b)(?: *(?:/|of:?|, \"(?:of|total)\":) *(?P<of>\d+))?", "", "", "own set"),
    ("of", "item", r"(?:^|[\s\[(=:|])(?P<n>\d+) *(?:/|(?:of|von|van|sur|di|de|из|av|af) ) *(?P<of>[1-9]\d*)(?! \d\d:\d)(?:[\s\]),:;|.]|$)", "/| of | von | van | sur | di | de | из | av | af ", "", "own set"),
    ("bytes-of", "item", r"(?<![\w.])(?P<n>\d+(?:\.\d+)?) ?(?:[KMGT]i?B)? ?/ ?\d+(?:\.\d+)? ?[KMGT]i?B\b(?=[^\n]{0,60}[KMGT]i?B/s)", "B/s", "", "own set: downloads"),
    ("percent", "item", r"(?:^|[\s\[(=:|])(?P<n>\d{1,3}(?:\.\d+)?) ?%(?: (?:done|complete)\b| (?:(?:of )?(?:the )?\w+ )?(?:merg|process|convert|copi|upload|download|sync|synchroni[sz]|scann|index|toke?ni[sz]|embedd|finish|transferr|export|import|compress|extract|unpack|decod|encod|shard|shuffl|dedup\w*|pars|verifi|check|train|evaluat|generat|scor|render|migrat|transcod|resiz|fetch|load|analy[sz]|comput)ed\b| +(?:eta|ETA)\b|[\])|,;]|\s+[\d.,]+ ?[kKMGT]?i?B/s|$)", "%", "", "known"),
    ("shard-file", "item", r"\b(?:shard|part|chunk|data)[-_]?(?P<n>\d{3,})\S* (?:written|saved|done|complete|uploaded)", "shard|part|chunk|data", "", "own set"),
)  # fmt: skip

# Counters that belong to getting started: they move, but the job's own work has not begun.
SETUP = r"(?:NCCL INFO|\b[Pp]re-?flight\b|\b[Ss]anity\b|\b[Ss]elf-?test\b|\b[Pp]re-?check|Prefetch|Restor|[Mm]igration |\b[Ss]canning |Convert\b|Dropping|Emitting|\bLoad the\b|\breading |\(num_proc=\d+\)|Downloaded (?:object|model|file|shard|weight|checkpoint|artifact)|\.(?:bin|safetensors|gguf|pth?|json|msgpack|h5|model|onnx|txt|md): +\d{1,3}%\||Loading|Capturing|Map\b|Map \(|Tokeniz|Downloading|Fetching|Filter|Generating \w+ split|Running tokenizer|Resolving|Converting|Packing|Warm|warm|Compiling|Preprocessing|Building|Extracting|Initializ|Importing|Setting up|Materializ|Grouping|Creating|Calibrat|Profiling|Saving|Reading|loading|shards? found|load(?:ed)? )"

# A compiler called by a build: its counter is of files that are compiled before the work.
COMPILES = r"\[\d+/\d+\] (?:ccache )?(?:\S*/)?(?:c\+\+|g\+\+|gcc|cc|clang\S*|nvcc|hipcc|ld|ar)(?=\s|$)"

# Before a number: what names one of many, a code, or says how many there are, and counts nothing.
NO_COUNT = r"\b(?:[Rr]ank|RANK|[Pp]rocess|[Nn]ode|[Dd]evice|[Mm]ember|MEMBER|[Rr]eplica|[Cc]odes?|[Vv]ersion|[Hh]ost|[Rr]estarts?|[Gg]uard)\W{0,3}$"
QUANTITIES = r"\b(?:[Nn]um(?:ber)?|[Cc]ount|[Ss]ize|[Ll]imit) of (?!.*\b(?:done|processed|completed|finished|written)\b)|\b[Uu]s(?:ing|ed) \(?[KMGT]i?B\b"
QUANTITY = r"\b(?:[Nn]um(?:ber)?|[Cc]ount|[Ss]ize|[Ll]imit) (?:of )?(?:\w+ ){0,3}$"

# What the log was about when it went silent, by its last lines.
PHASES = (
    ("saving", "stuck_checkpoint", r"\b[Ss]aving /?\S*(?:/ck|ckpt|checkpoint)\S*|\b(?:[Ss]aving (?:model |optimizer )?(?:checkpoint|state|model|shard)|save_checkpoint|[Cc]heckpoint (?:begin|save|saving|started)|[Ww]riting checkpoint|[Ss]tart(?:ed|ing)? (?:to )?sav|[Bb]egin(?:ning)? (?:checkpoint|save)|successfully saved checkpoint.{0,20}pending)", "", "", "dlrover#1749"),
    ("saved", "", r"\b(?:[Ss]aved|[Cc]heckpoint (?:saved|done|written|complete)|successfully saved)", "", "", "known"),
    ("init", "stuck_init", r"Init START|Init torch distributed begin|[Ii]nitializing (?:process group|distributed|the distributed)|Initializing distributed|[Ww]aiting for .{0,60}(?:rank|core engine|worker|shard|peer|node|rendezvous)|[Rr]endezvous|init_process_group|Bootstrap|Waiting for shard|Capture cuda graph begin|Capturing|Starting to load model|Loading", "", "", "fairseq#3083"),
)  # fmt: skip

# Services that others work with: their readiness is no job's where something else in the same log counts.
SIDECARS = (
    "dask-ready",
    "mlflow-ready",
    "minio-ready",
    "etcd-ready",
    "kafka-ready",
    "mongo-ready",
    "mysql-ready",
    "milvus-ready",
    "grafana-ready",
    "tensorboard-ready",
    "ray-ready",
    "prefect-ready",
)

# What looks like readiness and is none: still to come, or something beside the service.
NOT_READY = r"^(?:[Rr]ank|[Ww]orker|[Nn]ode|[Ss]hard|[Pp]eer) ?#?\d|\b(?:[Ii]ssues?|[Ll]ogs?|[Rr]esults?|[Dd]oc(?:s|umentation)|[Hh]elp|[Rr]eport|[Tt]utorial|[Gg]uide|FAQ|[Bb]ugs?|[Tt]icket|[Aa]ccess)\b(?=[^\n]{0,80}://)|\b(?:[Ss]tarting|[Ll]aunching|[Ww]aiting for (?!requests|connections|clients|work)|[Cc]onnect(?:ing|ed)|[Ww]ill|[Tt]rying|[Mm]etrics|[Dd]ashboard|[Dd]ebug\w*|[Pp]db|[Aa]dmin\w*|[Ee]xporter|[Pp]rometheus|[Mm]aintenance|[Nn]ot|[Ff]ail\w*|[Rr]endezvous|[Mm]aster|[Cc]oordinator|[Ss]tore|[Pp]roxy|[Tt]racking|[Pp]rofil\w*|[Tt]ensor[Bb]oard|[Uu]sing)\b"

# Before the words of an ordered stop: it is only announced that there may be one.
TO_COME = r"\b(?:[Rr]egister|[Ii]nstall|[Pp]ress|[Hh]it|[Tt]ype|[Ww]ill|[Ii]f|[Ww]hen|[Hh]andler|[Ss]upport|[Ee]nabl|[Aa]llow|[Tt]rap|[Ff]or a)\w*\b|\b[Oo]n $"

# What was made and is lost: behind the words of an end, they were too early.
LOST = (
    r"\b(?:[Cc]an ?not|[Cc]ould not|[Uu]nable to|[Ff]ail(?:ed|ure) to|NOT|not|never) (?:be )?(?:sav|writ|export|upload|push|publish|stor|copy|copi|rename|serializ)\w*"
    r"|\b(?:[Ss]av|[Ee]xport|[Uu]pload|[Pp]ush|[Ww]rit|[Pp]ublish)(?:e|ing)? (?:has |was )?failed|\bdisk full\b|[Nn]o space left|: command not found|^Killed$"
    r"|\b(?:sha256|checksums?|md5|hash)\b[^\n]{0,40}\b(?:mismatch|differs?)\b|\bis (?:corrupt(?:ed)?|truncated)\b"
)

# Ends that a tracker, a session or a shell also writes behind a crash.
TIDYING = ("wandb-done", "spark-done", "elapsed-done", "torchserve-done")

# Ends that a script writes, whatever became of its programs.
OF_SCRIPTS = ("generic-done", "own-done", "exit-zero", "slurm-done", "rsync-done", "last-words", *TIDYING)

# Ends that say themselves that all went well, whatever was told before: those of test suites.
PROVES = ("status-ok", "pytest-done", "cargo-done", "ctest-done", "go-test-done", "nccl-tests-done")

# Ends that were none.
UNFINISHED = r"^\W{0,4}(?:\w+ ){0,3}(?:cancell?ed|aborted|failed)\b|\b(?:prolog|[Hh]ealth ?check|[Pp]re-?flight)\b[^\n]{0,60}\b(?:exit|code)|\b[Rr]un ended early\b|\b[Cc]lean(?:ing)?[- ]?up:? (?:is )?(?:done|finished|complete)\b|\bFinished: (?!SUCCESS)[A-Z]+\b|\b(?:ended|finished|completed|done)[:,]? (?:out of|abnormally|prematurely|(?:but )?nothing|loss diverged|loss is nan)\b|\b(?:finished|processed|generated|wrote|converted)[:,]? 0 (?:files|outputs|records|rows|items|samples|documents)\b|\b(?:parked|deferred)\b|\bRun data is saved locally\b|(?<!0 )\b[Ll]ost\b|\baborted\b|\bfailed \d+ times\b|\b[Ss]kipped\W*$|\b[Nn](?:ot|OT) (?:yet |all )?(?:done|complete|finished|COMPLETE|FINISHED|DONE)|\b[Ii]ncomplete\b"
NOT_DONE = (
    UNFINISHED
    + r"|\bwith (?:\w+ )?(?:errors?|failures?|exceptions?)\b|\b(?:exit|return)(?:ed)?(?: with)?(?: code| status)?[ =:]+-?[1-9]|\b(?:ERRORS?|FAIL(?:URES?)?|errors?|failures?)=[1-9]|FAILED|TIMEOUT|CANCELLED|OUT_OF_MEMORY|[Uu]nsuccessful|(?<!x)[Ff]ailed\b(?! ?[=:]? ?0)(?<!\b0 failed)"
)

# Last words of a good end, and of a bad one.  They are asked only of the last lines of a log that has no plainer sign.
CLOSING = (
    r"[\W_]{0,12}(?:"
    + "|".join(
        (
            r"(?:[\w./-]+:? ){0,4}(?:[Ww]ritten|[Ss]aved|[Ee]xported|[Uu]ploaded|[Pp]ushed|[Dd]umped|[Ss]tored|[Pp]ublished|[Ww]rote|[Mm]erged)(?: (?:[\w.-]+ ){0,4}(?:to|in|as|into|at)|:) \S",
            r"(?:[\w./-]+:? ){0,4}(?:[Cc]omplete|[Cc]ompleted|[Ff]inished|[Ss]ucceeded|[Ss]uccessful|[Dd]one|[Ee]nded|[Pp]assed|[Cc]onverged|over|ok|DONE|PASS|COMPLETE|COMPLETED|FINISHED|SUCCESS|SUCCESSFUL|PASSED)(?: successfully| OK| ok)?(?:[\W_]{0,6}$|[.!,:;\]]| (?:in|after|at) [\w:]*\d| at \w)",
            r"(?:[Ss]uccess|SUCCESS|OK|[Gg]oodbye|[Bb]ye|fin|[Ff]inis)(?:\W|$)|(?:.{0,60}\W)?bye\W{0,3}$",
            r"[Aa]ll \w+(?: \w+)? (?:passed|ok|OK)\b",
            r".{0,60}\b(?:[Gg]ood ?(?:bye|night)|[Tt]hat(?:'s| is| was) (?:all|it)|[Aa]ll set|[Ss]ee you|[Ff]arewell|[Hh]ave a (?:nice|good|great))\b",
            r"(?:[Tt]he )?(?:[Rr]esults?|[Rr]eports?|[Oo]utputs?|[Ww]eights|[Mm]odel|[Pp]redictions|[Aa]rtifacts?|[Aa]nswers?|[Ss]cores?)(?: file| card)? ?(?:is |are |now |can be found |available )*(?:in|at|under|->|=>) \S*[/.]\S",
            r".{0,60}\b(?:[Ee]xit\w*|[Ll]eav\w*|[Qq]uit\w*|[Ss]hut\w*|[Ss]topp\w*|[Ee]nd\w*|[Ff]inish\w*|[Tt]erminat\w*) (?:cleanly|gracefully|normally|successfully|as planned)\b",
            r"https?://\S+/(?:commit|tree|blob|pull|releases?)/\S+$",
            r"(?:[\w./-]+:? ){0,3}[Nn]o (?:issues|errors|problems) found|.{0,60}\b[Pp]assed[ :=]+[1-9]\d*[,;]? (?:and )?[Ff]ailed[ :=]+0\b|.{0,120}\b(?:0|no|zero) (?:unexpected |new |real )?(?:errors?|failures?|failed|problems?|issues?|mismatch(?:es)?)(?:\W*$|[,;] )",
            r"(?:[Tt]otal|[Oo]verall|[Ee]lapsed|[Ww]all)(?: \w+)? [Tt]ime\b|[Tt]ook \d|(?:[Bb]uilt|[Rr]an \d+ \w+) in \d|[Tt]otal: \d",
            r"(?:[Ss]ummary|(?:\w+ )?[Rr]esults?|[Rr]eport|[Oo]verall)(?: \w+)?: |\w+ metrics \*",
            r".{0,60}\b[Nn]othing to do\b",
            r"(?:[Nn]othing|[Nn]o) (?:left|more|else|further)\b|[Rr]eached max|max_\w+ reached|(?:EXIT|[Ee]xit|[Ee]xiting|rc|status)[ =:]+0$",
        )
    )
    + r")"
)
# As above, of a script that only prepares: it is over where nothing else was to come.
SET_UP = r"[\W_]{0,12}(?:[\w./-]+: ){0,2}(?:[Tt]he )?(?:[Ss]et-?up|[Ii]nstall(?:ation)?|[Ee]nvironment|[Ee]nv|[Bb]ootstrap(?:ping)?|[Pp]rovision(?:ing)?|[Bb]uild)(?: [\w./-]+)? (?:is |has |was |has been )?(?:now )?(?:finished|completed?|done|ready|successful|succeeded|ok|OK)\b(?! ?[:=])"
# As above, of a trainer: its last measures, and that it stops before its counter is at its whole.  Steps and epochs may be named.
FINAL = r"[\W_]{0,12}(?:[\w./-]+:? ){0,3}(?:[Ff]inal|FINAL)(?:[ _]\w+)?[ _](?:\w+/)?(?:eval\w*|test\w*|val\w*|train\w*|dev|loss|acc\w*|score|result\w*|metric\w*|perplexity|ppl|f1\w*|bleu\w*|rouge\w*|mse|rmse|mae|auc|wer|reward|return)\b(?! (?:set|split|loader|data\w*|step|epoch|batch))[^:=]{0,40}[:=] ?\S"
EARLY = (
    r"[\W_]{0,12}(?:[\w./-]+:? ){0,4}(?:"
    r"[Ee]arly[ _-]?[Ss]topp(?:ing|ed)(?:\W{0,3}$|(?: (?:was|has been))? (?:triggered|activated|reached|at (?:step|epoch|iteration|round)\b|criteri(?:on|a) (?:is |was )?(?:met|reached))|[:,.] (?:no improvement|best|.{0,60}(?:did not improve|not improved|stopped early|[Ss]topping\b)))"
    r"|[Ss]topp(?:ing|ed) (?:training )?early\b|[^\n]{0,80}, stopping early\b"
    r"|[Ss]topping\. Best iteration|.{0,200}(?:\. Early stopping\W{0,3}$|Signaling Trainer to stop))"
)
# As above: sums, what stands at the end of a comparison, what was made and where it is, and leave that is taken.
TOTALS = r"[\W_]{0,12}(?:(?:[\w./-]+ ){0,3}(?:[Tt]ime|[Rr]untime|[Dd]uration|[Ee]lapsed)(?: \w+){0,4}[ :=]+(?:[\w-]+ )?\d|(?:[Tt]otals?|[Oo]verall|[Ii]n total|[Aa]ltogether|[Ss]ummary|SUMMARY|TOTAL)\b|(?:[\w./-]+ ){0,4}[Tt]ook \d|[Ee]nd(?:ed)? (?:time|at)\b|\d[\d,.]* (?:\w+ ){1,3}(?:over|done|in total|altogether|processed|written|total)\b|[^\n]{0,80}\bin (?:\d[\d.]* ?(?:h|m|s|hours?|min(?:utes?)?|sec(?:onds?)?)\b[ ,]*|\d+(?::\d\d){1,2}(?:\.\d+)?\b){1,3}\W*$)"
BEST = r"[\W_]{0,12}(?:[\w./-]+ ){0,2}(?:[Bb]est|[Oo]verall|[Aa]verage|[Mm]ean|[Ff]inal|[Mm]acro|[Mm]icro)\b[^=:]{0,40}[:=]? ?[^\n]{0,40}\d"
PRODUCT = r"[\W_]{0,12}(?:[\w./-]+[: ]+){0,4}(?:[Ww]rote|[Ww]ritten|[Ww]rites?|[Ss]aved?|[Ee]xported|[Uu]ploaded|[Pp]ushed|[Dd]umped|[Ss]tored|[Pp]ublished|[Mm]erged|[Pp]acked|[Cc]reated|[Rr]egistered|[Cc]ommitted|[Ss]ealed)\b[^\n]{0,80}?(?:\S+/\S+|\S+\.[a-z]\w{1,10}\b|\d[\d,.]* ?[kKMGT]i?B?\b)|\w[\w ./-]{0,80} (?:saved|written|created|uploaded|published|exported|packed|pushed|stored)\W{0,3}$|[\W_]{0,12}(?:[Aa]ll )?\d[\d,.]* [a-z]+s (?:are |is )?(?:now )?(?:in|at|under|into|to|->) \S*[/.]\w"
MEASURES = r"[\W_]{0,12}(?:[\w./-]+ ){0,2}(?:[Aa]cc(?:uracy)?|ACC|[Ff]1|[Ss]core|WER|CER|BLEU|ROUGE\S*|[Pp]ass@\d+|[Ee]xact[_ ]match|EM|mAP|AUC|[Pp]recision|[Rr]ecall)\b[^=:]{0,20}[:=] ?\d"
BYE = r"[\W_]{0,12}(?:[\w./-]+[ :]+){0,3}(?:[Gg]ood ?bye|[Bb]ye|[Ff]arewell|[Ee]xit(?:ing|ed|s)?|(?:[Ll]eaving|[Cc]losing)(?=\W*$|[.,;!])|[Ss]hut(?:ting)? down|[Ss]hutdown|[Tt]erminating|[Ee]nd of (?:run|job|script|log|program|training)|[Ff]ertig|[Aa]bgeschlossen|[Bb]eendet|[Tt]ermin[ée]e?|[Tt]erminado|[Ll]isto|[Ff]inalizado|[Cc]ompletado|[Гг]отово|[Зз]авершен\w*|[Kk]laar|[Cc]onclu[íi]do|[Ff]inito|[Gg]otowe|[Ee]nd\W*$|END\W*$)(?!\w)(?! (?:early|because|due|on error))|(?:finish|end|complete)(?=$| \w+: \d)|[\W_]{0,12}(?:[Ff]inished|[Cc]ompleted|[Ee]nded) (?!(?:the )?(?:sav|load|writ|part|step|epoch|shard|check|stage|phase|warm|compil))[A-Za-z]\w+|[^\n]{0,200}(?:完成|完了|結束|结束|已保存|保存しました|終了|완료|완성)"
LEAVING = r"[Cc]los|[Ss]topp|[Ss]hutt|[Ee]xit|[Ll]eav|[Cc]lean|[Rr]eleas|[Ff]ree|[Dd]estroy|[Tt]erminat|[Ee]nd|[Qq]uitt|[Tt]ear|[Rr]emov|[Jj]oin|[Ff]lush|[Dd]isconnect|[Uu]nload|[Dd]elet|[Ff]inali[sz]|[Ff]inish|[Uu]nmount"
ANNOUNCED = (
    r"[\W_]{0,12}(?:[\w./-]+: ){0,2}(?:(?!(?:"
    + LEAVING
    + r")ing\b|(?:[Nn]o|[Ee]very|[Aa]ny|[Ss]ome)thing|[Dd]uring|[Uu]sing)[A-Z]?[a-z]{2,}ing\b|(?:[Nn]ow|[Nn]ext|[Tt]hen|[Ww]ill|[Ss]tarts?|[Bb]egins?)\b)|[^\n]{0,300}(?:\.{3}|…|:)\s*$"
)
TEARDOWN = r"\b(?:[Dd]estroy\w*|[Cc]lean(?:ing|ed)? up|[Cc]lean-?up|[Tt]ear(?:ing)? ?down|[Uu]nmount\w*|leaked|__del__|atexit|SIGCONT|cgroup|never retrieved|recvValue failed|recvBytes|should dump|(?:at|during) interpreter shutdown|Batched Comm Closed|^frame #\d+: |[Uu]nclosed|ResourceWarning|Exception ignored)\b"
UNDERWAY = r"[\W_]{0,12}(?:[\w./-]+:? ){0,3}(?:[Ss]aving|[Ww]riting|[Uu]ploading|[Pp]ushing|[Ee]xporting|[Ee]valuating|[Mm]erging|[Gg]enerating)\b"
NO_CLOSING = r"[Cc]heckpoint|ckpt|\b(?:[Ss]teps?|[Ee]poch|[Ii]ter\w*|[Ss]hard|[Pp]art|[Cc]hunk|[Bb]atch\w*|[Rr]anks?|[Cc]ached?|[Ll]ogs?|[Cc]onfig\w*|[Tt]okenizer|[Vv]ocab|[Tt]e?mp|[Ss]tage|[Pp]hase|[Tt]ask|[Rr]ound|[Ss]ample|[Rr]equest|[Ll]oad\w*|[Ii]nit\w*|[Ss]etup|[Ss]tartup|[Ww]arm-?up|[Cc]ompil\w+|[Dd]ownload\w*|[Hh]andshake|[Cc]onnect\w*|[Ff]lush\w*|[Gg][Cc]|[Gg]raphs?|[Cc]aptur\w+|[Pp]rofiling|[Ss]tarting|[Bb]egin\w*|[Nn]ext|[Rr]emaining|[Ll]eft|[Pp]artial\w*)\b(?!\w* to do)"
LAST_WORDS = r"(?:\b(?:[Aa]bandon(?:s|ed|ing)?|not worth|[Ee]rror|ERROR|ERR!|[Ff]atal|FATAL|[Ff]ail(?:ed|ure)|FAIL(?:ED|URE)?|[Aa]bort(?:s|ed|ing)?|(?:[Dd]oes|[Dd]o|[Dd]id|[Ii]s|[Aa]re|[Ww]as|[Ww]ere|[Cc]ould|[Hh]as|[Hh]ave) (?:NOT|not(?! improve| forget))|[Cc]an ?not|[Cc]ould not|[Uu]nable to|[Ii]nvalid|[Nn]o such|not found|[Dd]enied|[Rr]efused|[Ff]orbidden|[Uu]nauthorized|timed out|[Cc]orrupt(?:ed)?|[Ee]xpired|exit (?:code|status) [1-9]|ELIFECYCLE|Wrote only|[Bb]roken pipe|[Dd]isconnect(?:ed)?|reset by peer|closed by remote host|[Uu]nreachable|[Gg]iv(?:e|es|ing|en) up|[Gg]ave up|[Bb]ail(?:s|ed|ing)? out|[Dd]iverged|[Uu]nrecoverable|[Ss]topping (?:the )?(?:whole |entire )?(?:run|job|script|here|now)|(?:exit|return) (?:status|code)(?: will be| is)?[ =:]+[1-9]|(?:with|mit|avec|con) (?:exit |return )?(?:[Ss]tatus|[Cc]ode|c[óo]digo) [1-9]\d{0,2}|rc[ =:]+[1-9]\d{0,2}|[Ss]orry|[Qq]uitting|[Nn]o route|[Nn]aN in|explod\w+|blew up|does not answer|no answer|[Nn]o licen[sc]e|[Nn](?:ot|OT) (?:complete|finished|done|COMPLETE|FINISHED|DONE)|[Ii]ncomplete|[Mm]ismatch(?:es|ed)?|(?:won't|will not|would not) (?:go on|continue|proceed|start|write|save|train|run|load)|[Rr]efus(?:e|es|ing)|[Nn]ever (?:arrived|came|returned|answered|finished|started)|I (?:stop|quit|give up) (?:here|now)|not good enough|VIOLATED|REFUSED|REJECTED|BLOCKED|m'arrête|s'arrête|[Nn]ot (?:starting|writing|saving|uploading|training) (?!point|from)|(?:[Nn]one|[Nn]othing) (?:is|was|were|will be|has been) (?:written|saved|produced|made|trained|uploaded|exported)|[Pp]anic(?:ked)?|[Cc]rash(?:ed)?|[Ee]xceeded|(?<!as it )(?:[Mm]ust|[Ss]hould) (?:not )?(?:be|have|match|equal)\b|[Uu]nknown|[Mm]issing|[Nn]o space|(?:[Dd]isk|[Dd]evice|[Vv]olume|[Ss]torage|[Mm]emory) (?:is )?(?:full|exhausted)|[Dd]iverges?|[Nn]o point|[Nn]ot (?:enough|going (?:on|ahead)|continuing|proceeding)|[Ss]tale|[Aa]bbruch|ABBRUCH|[Ff]ehler|fehlt|[Kk]eine?|[Kk]onnte|[Nn]icht|[Ee]rreur|[Éé]chec|[Ii]mpossible|[Ff]allo|[Nn]o se pud\w+|[Оо]шибка|[Ii]nterrott[oa]|[Ii]nsufficient\w*|[Nn]ão foi possível|[Ee]rro(?:re)?|[Mm]islukt|[Нн]е удалось|[Cc]an't|[Cc]ouldn't|[Ww]on't|[Dd]oesn't exist|E(?:ACCES|AGAIN|BADF|BUSY|CONN[A-Z]{3,9}|DQUOT|EXIST|FAULT|INVAL|IO|ISDIR|MFILE|NFILE|NODEV|NOENT|NOMEM|NOSPC|NOTDIR|NOTEMPTY|PERM|PIPE|ROFS|STALE|TIMEDOUT|ADDRINUSE|HOSTUNREACH|NETUNREACH))\b|見つかりません|存在しません|找不到|不存在|찾을 수 없|없습니다|失败|失敗|错误|錯誤|エラー|不足|中止|无法|無法|没法|不训练|终止|放弃|没有剩下|できません|中断|부족|실패|오류)"

# Words of lack and contrast, which complain where nothing else does; what says that it was dealt with; what only passes on
# that something ended; marks of failure; and before what an excuse is none.
COMPLAINT = r"\b(?:[Nn]o(?! (?:\w+ )?(?:loss(?:es)?|errors?|issues?|problems?|warnings?|failures?|duplicates?|changes?|conflicts?|regressions?|mismatch\w*|diff\w*|gaps?|leaks?|more|further|improvement)\b)|[Nn]obody|[Nn]ot|NOT|[Nn]ever|[Ww]ithout|[Ll]acks?|[Ll]acking|[Oo]nly|[Ii]nstead|[Rr]ather than|[Bb]ut|[Ee]xpect(?:s|ed|ing)?|[Ww]ant(?:s|ed)?|[Nn]eeds?|[Nn]eeded|[Rr]equires?d?|[Mm]ust|[Dd]iffer(?:s|ed|ent)?|vs\.?|[Ee]mpty|[Tt]runcated|[Ss]hort (?:read|write|of|by)|[Tt]oo \w+|[Ll]ost|[Gg]one|[Vv]anished|[Dd]isappeared|[Dd]ropped|[Dd]own|[Bb]ad|[Bb]roken|[Mm]alformed|[Ww]rong|[Ii]llegal|[Gg]arbled|[Dd]amaged|[Rr]ead-only|[Uu]n(?:bound|defined|set|expected|supported|resolved|available|readable|known|able|usable|handled|terminated|finished|equal|recognized|recognised|reachable)|[Oo]ver (?:the|its|\d)|[Bb]eyond|[Aa]bove|[Bb]elow|[Ll]arger|[Ss]maller|[Ff]ewer|(?:[Mm]ore|[Ll]ess) than|[Ll]imit|[Qq]uota|0 (?:bytes|entries|rows|files|items|records|results|matches|tensors|samples|documents|hits)|[Zz]ero (?:bytes|entries|rows|files|items|records|length)|[Nn]on-?finite|nan|NaN|inf|(?:HTTP|answered|returned|replied|got|status|said|code) [45]\d\d|[Ss]tuck|[Ss]talled|[Dd]ied|[Dd]ead|[Kk]illed|[Cc]onflicts?|[Cc]lash(?:es)?|[Dd]uplicates?|[Tt]wice|[Aa]lready|[Vv]iolat\w+|[Oo]verflow\w*|[Uu]nderflow\w*|[Rr]eject\w*|[Dd]isagrees?|[Ee]xhausted|[Ff]ull|[Oo]ut of (?!\d)\w+|[Ll]ocked|[Ii]nconsistent|[Bb]locked|[Ff]orbid\w*|[Rr]evoked|[Ll]eft behind|[Ii]n use|[Hh]eld by|[Tt]aken by|[Aa]ll (?:zeros?|zeroes|nan|NaN|the same)|[Ss]tops? (?:short|at)|[Tt]imes? out|[Tt]imeout(?! ?[:=]))\b|n't\b"
HANDLED = r"\b(?:sent|asked|fetched|queued|read) again\b|\b(?:succeeded|passed|worked) (?:in|on|after|at|upon) (?:a |the |its |one |\d+ )?(?:re-?tr\w+|second|2nd|third|3rd|next|another)\b|\b(?:left alone|put aside|set aside|unaffected|tried again|gone round|re-?drawn)\b|(?:[,;(—-]+ ?|(?<!rror)(?<!RROR)(?<!atal)(?<!iled): )(?:so )?(?:using|use[sd]?|assum\w+|fall\w*|skipp\w+|disabl\w+|ignor\w+|default\w*|setting|continu\w+|proceed\w+|retry\w*|trying|substitut\w+|taking|keeping|reusing|treating|tied|will (?:use|try|be|fall|retry|start|skip|continue)|again in|next try)\b|\b(?:[Ii]nstead of .{1,60} using|[Pp]roceeding without|(?<!not worth )[Cc]ontinuing|[Dd]eprecat\w+|[Rr]etrying|[Nn]ot (?:required|needed|necessary|used))\b"
# What says that a job does without something, or that all is well with it; words that say nothing of what they are about.
CURED = r"\b(?:not (?:found|installed|available)|missing|unavailable)[,;:—–-]+ ?(?:so )?us(?:ing|e) \S|[,;:—–-] ?(?:ok|OK|okay|fine|(?:that|this)(?: i|')s (?:ok|fine)|no problem|no matter)\W*$|\bis optional\b|\b[Ff]all(?:ing|s)? ?back\b|\b[Ff]ailed over\b|\b[Uu]s(?:ing|es?) [^,;]{1,60} instead\b|\b(?:[Cc]ontinuing|[Gg]oing on|[Pp]roceeding|[Cc]arrying on|[Dd]oing|[Mm]anaging) without\b|\b[Nn]ot (?:needed|required)\b"
COMMON = "error errors Error ERROR failed Failed could cannot with without from for the and using use not instead falling back warning option module file import load loading building wheel was were has have does that this line unrecognized command-line optional default"

_VAGUE = r"(?:[Ww](?:on't|ill not) (?:start|run|continue|go on|proceed)|[Nn]o \w+ (?:assembled|written|saved|started|trained|produced|made)|[Nn]ot (?:finished|complete|completed|done)|[Gg]iv(?:ing|es|en|e) up|[Gg]ave up|[Aa]bort(?:ed|ing|s)?|[Ee]xit(?:ed|ing|s)?|[Ll]eav(?:ing|es)|[Qq]uit(?:ting|s)?|[Ss]topp(?:ed|ing)|[Ss]kipp(?:ed|ing)|[Dd]ied|[Bb]ail(?:ed|ing|s) out|[Ss]hutting down|[Tt]orn down|[Cc]leaning|[Cc]leanup|[Cc]losing|[Ff]ailed|FAILED|[Cc]rashed|[Tt]erminat(?:ed|ing)|went away|lost|[Bb]ye|[Ss]orry|[Cc]annot (?:recover|continue|go on|proceed)|[Nn]ot (?:writing|going on|going ahead|continuing|saving|starting|proceeding|running|uploading)(?!.*:)|[Ee]nd(?:ed|ing)?)"
VAGUE = (
    r"[\W_]{0,12}(?:[\w.-]+:? ){0,3}?"
    + _VAGUE
    + r"(?:\W+(?:and |so |now )?"
    + _VAGUE
    + r"){0,3}\W*(?:$|\S*[/.]\S*$|[\d\W]*(?:of [\d\W]+)?$|(?:with|in) (?:status|state|code|result)\W+\w+\W*$|(?:here|now|the run|the job|early|rank \d+|peer \d+|step \d+|after \d+ \w+|job|run)\b.{0,12}$)"
)
# What a sentence in a job's own words is about, by words that stand for one kind only: the first that fits.
OWN_KINDS = (
    (
        "auth",
        r"\b(?:401|403)\b(?= |,|:|\)|$)|\b[Uu]nauthori[sz]ed\b|\b[Ff]orbidden\b|\b(?:API|api)[ _-]?key\b|\bkey_expired\b|\bour key\b|\b[Tt]okens? (?:has |is |are )?(?:expired|invalid|revoked|missing)|\b[Cc]redentials?\b|\bgated\b",
    ),
    ("quota", r"\b[Qq]uota\b"),
    (
        "no_space",
        r"\b[Nn]o space\b|\w*Storage(?: is )?[Ff]ull\b|\bfree drive\b|\b(?:[Dd]isk|[Vv]olume|[Dd]evice|[Ff]ile ?system|[Ss]cratch) (?:is )?full\b|\bENOSPC\b",
    ),
    (
        "cuda_oom",
        r"\b(?:CUDA|GPU|VRAM|vram)\b.*\b(?:out of memory|in use|OOM|not enough|does not fit|too small)\b|\b(?:out of memory|OOM)\b.*\b(?:CUDA|GPU|VRAM)\b",
    ),
    ("host_oom", r"\b[Oo]ut of memory\b|\bOOM\b|\bmemory limit\b"),
    ("permission_denied", r"\b[Pp]ermission denied\b|\bread-only\b|\bnot (?:writable|allowed to)\b|\bEACCES\b"),
    ("address_in_use", r"\bport\b.*\b(?:taken|in use|busy|already)\b|\baddress already\b|\bEADDRINUSE\b"),
    (
        "import_error",
        r"\b[Nn]o module\b|\bcannot import\b|\b(?:module|package|library|lib\w+) .*\b(?:is )?(?:not installed|missing|not found)\b",
    ),
    ("command_not_found", r"\bcommand not found\b|\bnot (?:in|on) (?:the )?PATH\b"),
    (
        "connection_refused",
        r"\brefused\b(?! to\b)|\b[Uu]nreachable\b|\bnot reachable\b|\bdoes not answer\b|\bno answer\b|\bno route\b|\bECONN\w+|\bnot healthy\b",
    ),
    ("time_limit", r"\b(?:time|wall ?time|clock) limit\b|\bwall ?time\b|\bdeadline\b|\btime budget\b"),
    (
        "nan_loss",
        r"\b[Nn]a[Nn]s?\b|\bnon-?finite\b|\bdiverg\w+|\bloss\b.*\b(?:explod\w+|blew up|above|inf)\b|\bnot finite\b",
    ),
    ("gpu_hardware", r"\bXid\b|\bECC\b|\bfallen off the bus\b"),
    (
        "cuda_error",
        r"\bCUDA error\b|\billegal memory access\b|\bcuda:\d+\b.*\b(?:refus\w+|unavailable|context|busy)\b|\bno (?:CUDA|GPU)s?\b|\bGPU \d+\b",
    ),
    (
        "version_mismatch",
        r"\bversions?\b.*\b(?:required?|requires|but|expected|needs?|older|newer|differs?|mismatch)\b",
    ),
    (
        "checkpoint_mismatch",
        r"\b(?:[Cc]heckpoints?|ckpts?|state_dict|[Ww]eights)\b.*\b(?:match\w*|mismatch\w*|differs?|shapes?|missing|corrupt\w*|damaged|truncated|load\w*|sha256|not the)\b|\bnot the weights\b",
    ),
    (
        "data_error",
        r"\b(?:files?|rows?|records?|samples?|clips|manifests?|shards?|[Dd]ata(?:set|sets)?|archives?|[Cc]hecksums?|sha256|md5|corrupt\w*|truncated|columns?|schema|labels?|json|JSON|csv|CSV|parquet|tokens|documents?|docs|images?|hold-?out|split)\b",
    ),
    (
        "config_error",
        r"\b(?:config\w*|arguments?|options?|flags?|settings?|yaml|YAML|toml|vocab\w*|must be|should be|expected|unknown|unrecogni[sz]ed|invalid|not supported|unsupported|divisible|[a-z]+_[a-z_]+ ?=)\b",
    ),
)
# How a program ends itself: it has said why before.  And exceptions that tell of no more than that something else failed.
ABORTED = r"\b(?:SIG)?ABRT\b|\bAbort|exit ?code ?:? ?-6\b|return code = -6|\b134\b|[Pp]rocess received signal"
EFFECT = r"TimeoutError|\bdid not answer\b|\b[Nn]ever(?: became)? ?[Rr]eady\b|Failed to (?:deserialize|initialize)|JSONDecodeError|EOFError|unexpected end|\btimed out\b|[Cc]onnection (?:closed|reset|aborted)|[Rr]emote (?:process|peer)|[Bb]roken pipe|CalledProcessError|non-zero exit|Error building|\bsome error\b|(?:[Cc]heck|[Ss]ee|[Rr]ead) (?:the )?(?:\w+ )?logs?\b|[45]\d\d (?:Client|Server) Error|ApiException|\b[Ii]ncomplete\b|[Ii]nvalid repository ID|Repo id must be|could not (?:start|be started)|NameResolution"
MARK = r"(?:[✗✘×❌⛔💥🛑❗]|\[(?:!!+|[xX]|FAIL(?:ED)?|ERR(?:OR)?|KO|NG)\]|!!+ |\*\*\* (?:[Ee]rror|ERROR|[Ff]ail|FAIL))"
NEGATED = r"\b(?:[Nn]o|[Nn]ot|[Cc]annot|[Cc]an't|[Nn]ever|[Ww]ithout|[Ww]on't|[Ww]ill not|[Uu]nable to)\W+(?:\w+\W+)?$|\b[Nn]o (?:point|use|sense|reason) (?:in|of|to)\W+$"
# Whose exit status is the job's own: a sentence that begins with the status, or with the word for a job.
EXITS_OF_JOBS = r"[\W_]{0,6}(?:[\w./-]+[:>] ?){0,2}(?:(?:[Tt]he )?(?:[Tt]ask|[Jj]ob|[Cc]ommand|[Pp]rocess|[Pp]rogram|[Ss]cript|[Mm]ain|[Cc]ontainer|[Ee]ntrypoint|[Tt]rain(?:er|ing)|[Aa]pp(?:lication)?|[Pp]od|[Ss]tep|[Rr]un|[Rr]ank|[Ww]orker|[Cc]hild|[Ll]auncher|[Ww]orkflow|[Pp]ipeline|[Ss]ervice)\b|[Ee]xit|EXIT|[Rr]eturn|rc\b|[Ll]eaving|[Qq]uit|[Ee]nded|[Cc]ode\b|[Ss]tatus\b|[Tt]erminated|[Ff]ailed|[Ff]inished|make(?:\[\d+\])?: \*\*\*)"
# Whose exit status is that of a child: a name with a number or a pid, or the word for one.
EXITS_OF_CHILDREN = r"[\W_]{0,6}(?:[\w./-]+[:>] ?){0,2}(?:(?:[\w./-]+ ){0,2}\(?pid\W{1,2}\d+|(?:[A-Za-z]{1,10}[-_ #]?\d{1,5}|[\w.-]*(?:proc|sub|child|work|loader|server)\w*)(?= ))"
# Programs that a script asks for and can do without: what it says next tells whether it did.
SMALL_PROGRAMS = r"nvidia-smi|rocm-smi|dcgmi|nvtop|ib\w+|lspci|lscpu|numactl|hwloc-\w+|module|ml|hostname|uptime|free|sensors|tput|figlet|notify-send|mail|sendmail|jq|bc|git|ifconfig|netstat|ip|ss|lsof|htop|pstree|column|tree|locale-gen|nproc|stty|tmux|screen|conda|mamba|direnv|starship"
# The last words of a script that takes leave with a status.
LEAVES = r"\b(?:[Ll]eav|[Ee]xit|[Qq]uitt|[Bb]ail|[Aa]bort|[Ss]topp)ing (?:out )?with (?:(?:an? )?(?:exit |return |error )?(?:code|status|rc) )?[1-9]\d{0,2}\W*$"
# An exit status, as programs and those who wait for them tell it.
STATUS = (
    r"\b(?:[Ee]xit(?:ed|s|ing)?|EXIT|[Rr]eturn(?:ed|s)?|[Ee]nd(?:ed|s)?|[Tt]erminated|[Kk]illed|[Dd]ied|[Ff]inished|[Ff]ailed|[Cc]ompleted|[Ll]eav(?:ing|es)|[Ll]eft|[Qq]uit(?:s|ting)?|[Ss]topped|returns)"
    r"(?: \w+)?(?: with| by|,)?(?: an?)?(?: non-?zero)?(?: (?:exit|return|error))?[ _-]?(?:[Cc]ode|[Ss]tatus|[Vv]alue|[Rr]c|signal)[\"']? ?[=:]?[ =:(\[]*(-?\d{1,5})(?![\d.]*[\d%/])"
    r"|\b(?:[Ee]xit(?:ed|ing|s)?|EXIT|(?:[Ll]eav(?:ing|es)|[Qq]uit(?:s|ting)?|[Ee]nd(?:ed|s|ing)?|[Rr]eturn(?:ed|s|ing)?|[Ss]topp(?:ed|ing))(?= with [1-9]))(?: with)?[ =:(]+(-?\d{1,3})\)?(?:$|[.,;)]| \()"
    r"|\b(?:[Ss]tatus|[Cc]ode)[\"']?[ =:]{1,6}(-?\d\d?|1[234]\d)(?:$|[.,;)\]/}])"
    r"|\b(?:rc|[Ee]xit[Cc]ode|exit_code|returncode|exitcode)[\"']?[ =:]{1,6}(-?\d{1,3})(?:$|[.,;)\]/}])"
    r"|\b(?:[Cc]hild|[Ww]orker|[Ss]ub-?process|[Pp]rocess|[Cc]ommand|[Ss]cript|[Jj]ob|[Ll]oader)\b[^\n]{0,40} returned (-\d{1,2}|[12]|12[6-9]|1[3-5]\d|255)(?:$|[.,;)])"
    r"|\*\*\* \[[^\]\n]{1,200}\] Error (\d{1,3})$"
)

# An end of what comes before training or serving, and what says that one of those was to come.
PREPARED = r"(?:[\w.:/-]+: )?(?:[Aa]ll )?(?:[Ss]uccessfully )?(?:[\w-]+ ){0,2}(?:[Dd]ownload|[Tt]okeniz|[Pp]re-?process|[Cc]onver(?:sion|ted)|[Ii]nstalled|[Bb]uilt|[Cc]opied|[Tt]ransferred)"
TRAINER = r"\b(?:[Tt]rain(?:er|ing)\b(?! (?:data|set|split|corpus|shard))|[Oo]ptimizers?\b|[Ll]earning[ _]rate|[Ww]orld[ _]size|torchrun\b|accelerate\b|[Dd]eep[Ss]peed|NCCL\b|init_process_group|max_(?:steps|epochs)|num_(?:train_)?epochs|per_device_|gradient_|lr[=:] ?\d|global_batch|FSDP\b|DDP\b)"

# An abort that says how far things came, or that something failed, and not of what.
NO_CAUSE = r"\b(?:[Ii]ncomplete|[Oo]nly \d+|\d+ ?(?:/|of|out of) ?\d+|[Tt]oo many (?:\w+ )?(?:errors|failures|failed|bad|skipped)|[Nn]ot all|[Ss]ome (?:\w+ ){0,2}(?:failed|were)|\d+ (?:\w+ ){0,2}(?:failed|failures?|errors?|skipped|dropped)|(?:[Rr]un|[Jj]ob|[Pp]ipeline|[Ss]tage|[Ss]tep|[Tt]ask|[Ww]orker) (?:has )?(?:failed|aborted)|[Aa]borted?)\b"

# Ends of tools that a job calls while it starts: they are its end only where nothing but the tool speaks behind them.
TOOL_ENDS = ("build-done", "packages-done", "cmake-done", "buildkit-done")

# Behind such a line no end has come yet, whatever was done before it.
BEGINS_AGAIN = r"\*{3,5} (?:Running \w+|Evaluate|Predict|Test) \*|(?:[\w./-]+: ){0,2}(?:Loading|Starting|Launching|Initializing|Resuming|Beginning|Compiling|Capturing|loading|starting|launching|initializing|resuming)\b"

# Words before a percentage that measures, and counts nothing.
MEASURED = r"\b(?:[Uu]sing|[Aa]cc(?:uracy)?|[Ff]1|[Pp]recision|[Rr]ecall|[Ss]core|[Uu]sage|[Uu]til\w*|[Mm]em(?:ory)?|[Cc][Pp][Uu]|[Gg][Pp][Uu]|[Ll]oss|[Ww][Ee][Rr]|[Cc][Ee][Rr]|[Hh]it|[Rr]ate|[Ww]in\w*|[Tt]op-?\d|[Rr]untime)\b"

# Words before a step that tell of one long past, not of one just done.
PAST_STEP = r"\b(?:[Ee]xit(?: status| code)?|[Ss]tatus|[Ll]ast|[Ll]atest|[Bb]est|[Gg]ood|[Rr]esum\w*|[Rr]estor\w*|[Ff]rom|[Ss]ince|[Uu]ntil|[Ee]very|[Aa]fter)\b[^=|]{0,40}$"

# Idle heartbeats and timers: their numbers grow while nothing is done.
HEARTBEAT = r"\b(?:[Tt]r(?:y|ies) #?\d|[Hh]eartbeat|still (?:waiting|running|alive)|keep-?alive|alive|[Ww]aiting|waited|[Ee]lapsed: |uptime|attempts?|[Rr]etr(?:y|ying|ies)(?![ =:]*0\b)|poll(?:ing)?|idle|watchdog)\b"

# Sentences whose growing figures count no work: processes and ports, attempts, what has been waited for or lost.
NO_WORK = (
    HEARTBEAT
    + r"|\b(?:pid|PID|port|ports|[Bb]ooting|[Ss]pawn\w*|[Rr]e-?start\w*|[Ff]ail\w*|[Dd]ied|[Dd]ead|[Kk]ill\w*|[Ee]rrors?|[Ss]leep\w*"
    r"|[Tt]imed? ?out|[Tt]imeouts?|[Pp]ending|[Qq]ueued?|[Ll]ock\w*|[Aa]gain|[Cc]onnect\w*|[Pp]ing|[Hh]ealth\w*)\b"
)

# Figures of work within a heartbeat.
WORKED = r"\b(?:done|processed|completed|finished|served|handled|written|answered|consumed|acked|committed)[ =:]+\d"

# What a worker says that has nothing to do: it may say so for as long as it likes.
IDLE = r"\b(\d+) ?/ ?\1 (?:\w+ ){0,2}(?:up|ready|healthy|alive|ok|OK|connected)\b|\b(?:[Ii]dle|(?:[Nn]othing|[Nn]one|[Nn]o) (?:\w+ ){0,2}(?:queued|pending|waiting|to (?:process|serve|fetch|pull|index|sync))|[Rr]eady for (?:more|work|jobs?|tasks?|requests?|the next)|[Ww]aiting for (?:new |more |the next |incoming |further )?(?:requests?|jobs?|tasks?|messages?|work|connections?|clients?|events?|commands?|input)\b(?! (?:from|of|to))|0 (?:pending|queued|waiting)|(?:pending|queued?|waiting|backlog)[ =:]+0|\b(?:0|[Nn]o) (?:new |more |pending |due |open ){0,2}(?:jobs?|tasks?|messages?|requests?|work|files?|changes|rows|events?|items|documents|docs)|[Qq]ueue (?:is )?empty|0 (?:jobs?|tasks?|messages?|requests?)|[Nn]othing to do|[Ss]tandby|[Hh]ealthy|[Hh]ealth ?check\w*|[Uu]p to date)\b"

# What says of something that should move that it does not.
BLOCKED = r"\b(?:[Bb]locked|[Hh]ang(?:s|ing)?|[Hh]ung|[Ss]tuck|[Dd]ead-?locked|[Nn]o progress|[Uu]nresponsive|[Nn]ot respond\w*|[Nn]o (?:available|free) (?:\w+ ){0,4}(?:blocks?|slots?|buffers?|memory|workers?)|[Ww]ait(?:ing|ed)? (?:for|on) (?!(?:new |more |the next |incoming |further )?(?:requests?|jobs?|tasks?|messages?|work|connections?|clients?|events?|commands?|input)\b))"

# Fences around text that a model or a user wrote.
FENCE_OPEN = r"(?:```+\w*|<{3,}$|~~~+|<\|(?:assistant|im_start|begin)[^\n]{0,40}|(?:-{3,}|={3,}|>{3,}|\[(?=(?i:begin|start))) ?(?:(?:BEGIN|begin|START|start) (?:OF )?(?:THE )?)?(?:[Mm]odel (?:output|response)|(?:MODEL |GENERATED |[Gg]enerated |RAW )?(?:OUTPUT|output) (?:of the model|from the model)|[Ss]ample|SAMPLE|[Gg]enerated|GENERATED|[Cc]ompletion|COMPLETION|[Rr]esponse|RESPONSE|[Aa]nswer|ANSWER|[Gg]eneration|GENERATION|(?:stderr|stdout) (?:of|from) (?:the )?(?:[Cc]andidate|[Ss]olution|[Ss]ubmission))\b[^\n]{0,60}|>{3} \w[\w #-]{0,40}|-{2,}8<-{2,} ?\w[^\n]{0,60}|(?:\w+ ){0,3}(?:[Ss]ample|[Cc]ompletion|[Rr]esponse|[Aa]nswer|[Oo]utput|[Gg]eneration|[Rr]ollout)(?: #?\d+)?:? ?>{3,}|<(?:output|completion|response|answer|generation|sample|model_output|think|assistant)>|[╭┌][─━]{1,80}[^\n─━]{0,60}\b(?:[Ss]ample|[Cc]ompletion|[Rr]ollout|[Gg]eneration|[Gg]enerated|[Rr]esponse|[Aa]nswer|[Pp]rompt|[Oo]utput)\b[^\n]{0,100})"
FENCE_ENDS = {
    "<<": ">>",
    "`": "`",
    "~": "~",
    "<|": "<|",
    "-": "-",
    "=": "=",
    "<": "</",
    ">": "<",
    "[": "[",
    "╭": "╰",
    "┌": "└",
}
"""What a closing fence begins with, by the beginning of the opening one: text within a fence may have fences of its own."""
FENCE_CLOSE = r"(?:```+$|>{3,}$|~~~+$|<\|(?:im_end|end)[^\n]{0,40}|-{3,} ?(?:END|end)[^\n]{0,60}|={3,} ?(?:END|end)[^\n]{0,60}|</(?:output|completion|response|answer|generation|sample|model_output|think|assistant)>|<{3,} ?(?:END|end|output|completion|response|generated|sample)?[^\n]{0,60}|\[(?:END|end)[^\]\n]{0,60}\]|\[score\][^\n]{0,40}|-{20,}|={20,}|-{2,}8<-{2,} ?(?:END|end)?[^\n]{0,60}|[╰└][─━]{4}[^\n]{0,200})"
# Where a turn of a conversation begins and ends, in the templates of models.
TURN_BEGINS = r"<\|(?:im_start|assistant|start_header_id|begin_of_text)\|?>|<start_of_turn>|<think>"
TURN_ENDS = r"<\|(?:im_end|eot_id|eom_id|end|endoftext|end_of_text)\|?>|<end_of_turn>|</think>|</s>"
FOLLOWS = r"\b(?:stderr|stdout|output|traceback|log) (?:of|from) (?:the |a |its )?(?:candidate|solution|submission|completion|generated \w+|snippet|model's \w+)\b[^\n]{0,30}(?:follows|:)$"
"""What says that the next lines are of a program that a model wrote."""

QUOTES = r"(?:[\w .#/\[\]=-]{0,80})?\b(?:[Cc]ompletion|[Oo]utput|[Rr]esponse|[Gg]enerated(?: text)?|[Aa]nswer|[Pp]rompt|[Mm]odel (?:said|output)|[Ss]ample \d+|[Pp]rediction|[Gg]eneration|assistant|user)(?: ?\(?#?\d+\)?)?:$"

# The words of known programs come first: they are the surer ones.
SIGNS, BENIGN = programs.SIGNS + SIGNS, programs.BENIGN + BENIGN
MARKERS, PROGRESS = programs.MARKERS + MARKERS, programs.PROGRESS + PROGRESS
