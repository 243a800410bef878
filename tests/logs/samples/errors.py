# ruff: noqa: E501
"""Failures that the program tells of itself: modules, settings, data, rights, versions."""

from __future__ import annotations

from logs.samples.kit import ACCEL, NANO, TITAN, add, steps, trace

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
add("assert-tokens", "failed", steps(ACCEL), trace("AssertionError"), alive=False, kind="python_exception")
add("enospc-shell", "failed", steps(NANO), "@@tee: /scratch/log: No space left on device", alive=False, kind="no_space")
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
    "unbound-variable",
    "failed",
    "+ cd /srv/job",
    "@@train.sh: line 7: MASTER_ADDR: unbound variable",
    alive=False,
    kind="config_error",
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
add("win-utf16ish-quota", "failed", trace("OSError: [Errno 122] Disk quota exceeded"), alive=False, kind="quota")
