# ruff: noqa: E501
"""What known programs log, word for word: when they are ready, count, end, fail, or only sound alarming.

Rows of the tables in `tables.py`, in the same six columns, for the programs whose words are told by their sources and
manuals.  Nearly all alternatives begin with at least three fixed characters, so that a line is only tried against the rows
whose beginning it has.  Every row has a line of its program, and the opposite, in tests/logs/program_lines.py.
"""

SIGNS = (
    ("nginx-bind", "root", r"nginx: \[emerg\] bind\(\) to \S{1,80} failed \(98|\[emerg\] \d+#\d+: bind\(\) to \S{1,80} failed \(98", "address_in_use", "", "nginx"),
    ("nginx-emerg", "root", r"nginx: \[emerg\] |\[emerg\] \d+#\d+: ", "config_error", "nginx -t tells the file and line", "nginx"),
    ("redis-bind", "root", r"Warning: Could not create server TCP listening socket \S{1,80} bind: Address already in use", "address_in_use", "", "redis"),
    ("redis-listen", "messenger", r"Failed listening on port \d+ \(\w+\), aborting", "address_in_use", "", "redis"),
    ("redis-load", "root", r"Fatal error loading the DB|Bad file format reading the append only file|Wrong signature trying to load DB from file", "data_error", "", "redis"),
    ("redis-bug", "fatal", r"=== REDIS BUG REPORT START", "segfault", "", "redis"),
    ("postgres-disk", "root", r"could not (?:write to|extend|create|fsync) file \"[^\"]{1,200}\": No space left on device", "no_space", "", "PostgreSQL"),
    ("postgres-data", "root", r"could not locate a valid checkpoint record|database files are incompatible with server|data directory \"[^\"]{1,200}\" has (?:wrong ownership|invalid permissions)|could not open file \"pg_\S{1,100}\": No such file", "data_error", "", "PostgreSQL"),
    ("postgres-start", "root", r"could not create lock file |could not create any TCP/IP sockets|could not access directory \"|could not load server certificate file |could not map anonymous shared memory|unrecognized configuration parameter \"", "config_error", "", "PostgreSQL"),
    ("celery-child", "unclear", r"Process '[^'\n]{1,60}' pid:\d+ exited with 'signal 9 \(SIGKILL\)'|Task handler raised error: WorkerLostError\('Worker exited prematurely: signal 9", "killed", "", "Celery"),
    ("celery-broker", "soft", r"consumer: Cannot connect to ", "connection_refused", "", "Celery"),
    ("ollama-memory", "root", r"Error: model requires more system memory|model requires more system memory", "host_oom", "", "ollama"),
    ("container-status", "messenger", r"[a-z][\w.]{0,40}[-_][\w.-]{0,40}\d exited with code [1-9]\d{0,2}$", "python_exception", "", "docker compose"),
    ("k8s-oom", "root", r"Reason: +OOMKilled", "host_oom", "", "kubernetes"),
    ("k8s-image", "root", r"Error: ImagePullBackOff|Error: ErrImagePull|Failed to pull image \"", "config_error", "correct the image's name, or its pull secret", "kubernetes"),
    ("torchserve-worker", "messenger", r"Backend worker process died\.|Load model failed: |Worker disconnected\. WORKER_STARTED", "engine_dead", "", "TorchServe"),
)  # fmt: skip

BENIGN = (
    ("postgres-session", "contain", r"^(?:the database system is (?:starting up|shutting down|not yet accepting)|password authentication failed for user|terminating connection due to administrator command|(?:role|database) \"[^\"]{1,80}\" does not exist|background worker \"[^\"]{1,80}\" \(PID \d+\) exited with exit code 1)", "system is|authentication|terminating|does not exist|background worker", "", "PostgreSQL"),
    ("redis-advice", "line", r"^(?:WARNING:? )?(?:Memory overcommit must|overcommit_memory is set|The TCP backlog|you have Transparent Huge Pages)", "overcommit|backlog|Transparent", "", "redis"),
    ("dask-advice", "line", r"^(?:Unmanaged memory use is high|Event loop was unresponsive|full garbage collections took)", "Unmanaged|Event loop|garbage", "", "dask.distributed"),
    ("probe-not-yet", "retry", r"^(?:Readiness|Startup) probe failed: ", "probe failed", "", "kubernetes"),
    ("daemon-stop", "stop", r"^(?:worker: (?:Warm|Cold) shutdown|received (?:fast|smart|immediate) shutdown request|User requested shutdown|\[notice\] \d+#\d+: (?:signal (?:3|15) \(SIG\w+\) received|gracefully shutting down)|Received SIGTERM, exiting gracefully|Received SIGTERM\. Terminating subprocesses|Shutting down: Master)", "shutdown|hutting down|received|SIGTERM", "", "Celery, PostgreSQL, redis, nginx, Prometheus, Airflow, gunicorn"),
)  # fmt: skip

MARKERS = (
    ("bento-is", "program", r"Starting production HTTP BentoServer", "bentoml", "BentoServer", "BentoML"),
    ("torchserve-is", "program", r"org\.pytorch\.serve\.", "torchserve", "org.pytorch.serve", "TorchServe"),
    ("bento-ready", "ready", r"\[entry_service:[^\]\n]{1,80}\] Service \S{1,80} initialized|\[service:[^\]\n]{1,80}\] Service \S{1,80} initialized", "bentoml", "", "BentoML"),
    ("torchserve-ready", "ready", r"State change WORKER_STARTED -> WORKER_MODEL_LOADED", "torchserve", "", "TorchServe"),
    ("torchserve-done", "done", r"Torchserve stopped\.", "", "", "TorchServe"),
    ("nginx-ready", "ready", r"\[notice\] \d+#\d+: start worker processes", "", "", "nginx"),
    ("nginx-done", "done", r"\[notice\] \d+#\d+: exit$", "", "", "nginx"),
    ("redis-done", "done", r"Redis is now ready to exit|Valkey is now ready to exit", "", "", "redis"),
    ("postgres-done", "done", r"database system is shut down", "", "", "PostgreSQL"),
    ("mysql-ready", "ready", r"0 \[System\] \[MY-010931\] ", "", "", "MySQL"),
    ("mongo-ready", "ready", r"Waiting for connections", "", "", "MongoDB"),
    ("kafka-ready", "ready", r"\[KafkaServer id=\d+\] started|\[KafkaRaftServer nodeId=\d+\] Kafka Server started", "", "", "Kafka"),
    ("spring-ready", "ready", r"Started \w{1,80} in [\d.]+ seconds \((?:JVM|process) running for", "", "", "Spring Boot"),
    ("airflow-done", "done", r"Task exited with return code 0|Marking task as SUCCESS", "", "", "Airflow"),
    ("dask-ready", "ready", r"Scheduler at: +\w+://|Registered to: +\w+://", "", "", "dask.distributed"),
    ("dask-done", "done", r"End worker$|End scheduler$|Stopped scheduler at |Stopped worker at ", "", "", "dask.distributed"),
    ("grafana-ready", "ready", r"HTTP Server Listen\b", "", "", "Grafana"),
    ("prometheus-done", "done", r"See you next time!", "", "", "Prometheus"),
    ("milvus-ready", "ready", r"---Milvus Proxy successfully initialized and ready to serve", "", "", "Milvus"),
    ("etcd-ready", "ready", r"embed: ready to serve client requests|I \| embed: ready to serve client requests", "", "", "etcd"),
    ("minio-ready", "ready", r"API: https?://", "", "", "MinIO"),
    ("streamlit-ready", "ready", r"You can now view your Streamlit app in your browser", "", "", "Streamlit"),
    ("prefect-ready", "ready", r"Check out the dashboard at https?://", "", "", "Prefect"),
    ("jupyter-done", "done", r"Shutdown confirmed", "", "", "Jupyter"),
)  # fmt: skip

PROGRESS = (
    ("gin", "serve", r"^\[GIN\] [\d/]{10} - [\d:]{8} \| 200 \| {1,20}\S{1,20} \| {1,20}\S{1,60} \| POST (?P<n>)", "", "", "Ollama"),
)  # fmt: skip
