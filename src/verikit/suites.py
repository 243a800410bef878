"""Claims that are made so often that they have a name: plain compositions, each part with a title of its own.

What comes back is a `Check` like any other: it can be combined further, waited for, aimed at hosts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from verikit.check import AllOf, Check
from verikit.checks.http import HttpHealthy
from verikit.checks.imports import ImportConflict
from verikit.checks.log import LogHealthy
from verikit.checks.port import PortOpen
from verikit.checks.process import ProcessAlive
from verikit.checks.syntax import SyntaxValid
from verikit.checks.tensors import TensorShapeSane
from verikit.values import whole

HALF_AND_FULL = "bf16|f16|f32"


def after_launch(
    host: Any,
    log: Any,
    *,
    process: int | str | None = None,
    url: str | None = None,
    ready: str | None = None,
    since: Any = None,
) -> Check:
    """The job came up on `host`: its log is healthy, its process alive, its server answers.

    process: a pid, the path of a pid file (`….pid`), or a pattern of the command line.
    url: what `HttpHealthy` asks; one that ends with `/v1` is asked as an OpenAI-compatible server, for a completion.
    ready, since: as LogHealthy takes them.  Wait for it: `after_launch(…).eventually(within=600)`.
    """
    parts = [LogHealthy(log, ready=ready, since=since, process=process).named("the log is healthy")]
    if process is not None:
        parts.append(_alive(process).named("the process is alive"))
    if url is not None:
        served = HttpHealthy.openai(url) if url.rstrip("/").endswith("/v1") else HttpHealthy(url)
        parts.append(served.named("the server answers"))
    return _all(parts).on(host).named("after launch")


def before_restart(host: Any, file: Any, *, port: int | None = None) -> Check:
    """The patched `file` on `host` parses and imports cleanly, and the server that held `port` is gone."""
    parts = [
        SyntaxValid(file).named("the file parses"),
        ImportConflict(file).named("its imports are clean"),
    ]
    if port is not None:
        parts.append((~PortOpen(port)).named("the port is free"))
    return _all(parts).on(host).named("before restart")


def hidden_states(
    path: Any,
    *,
    layers: Sequence[int],
    hidden: int,
    samples: int,
    name: str = "hidden_states",
    values: str = "sample",
    seed: int = 0,
    spread: bool = False,
) -> Check:
    """A dump holds one file a sample, each with the states of these layers: `name: [layers, tokens, hidden]`.

    path: a folder or a glob of .pt or safetensors files.  Where files tell their `layer_ids`, those must be `layers`;
    where they hold `input_ids` or a `loss_mask`, those must have as many tokens.
    samples: files on each host; spread=True: on all hosts together, as in `.on("gpu[1-4]")`.
    values: "sample" scans tensors drawn by `seed`, "all" every one (924 GB take the disk an hour or more), "none" only
    headers.  What is scanned must be finite, not all zero, and different in every layer.
    """
    ids = _layers(layers)
    shape = f"[{len(ids)} s@file {whole('hidden', hidden, least=1, unit='features')}]"
    good = "" if values == "none" else " & finite & nonzero & planes distinct(0)"
    spec = {
        name: f"{HALF_AND_FULL}{shape}{good}",
        "input_ids?": "integer[s@file]",
        "loss_mask?": "integer|bool[s@file]",
        "meta(layer_ids)?": f"== {json.dumps(ids)}",
        "files(*)@check" if spread else "files(*)": str(whole("samples", samples, least=1, unit="files")),
    }
    title = f"hidden states of layers {', '.join(map(str, ids))}"
    return TensorShapeSane(path, spec, values=values, seed=seed).named(title)


def token_dataset(path: Any, *, vocab: int, name: str = "input_ids", values: str = "all", seed: int = 0) -> Check:
    """Token ids are integers from 0 to vocab - 1: `input_ids`, and `labels` too, where -100 is none.

    path: files of npy, safetensors, Arrow or parquet as `datasets` writes them, WebDataset tars, …, a folder or a glob.
    name: what the ids are called; `*.input_ids` in a WebDataset, `**` for every tensor.  An array of a .npy has no name,
    and is taken for them.  Other columns are not looked at.
    values: "all" reads every id (parquet answers by its statistics where it has them), "sample" some, drawn by `seed`.
    """
    ids = f"in 0..{whole('vocab', vocab, least=1, unit='ids') - 1}"
    spec = {name: f"integer[...] & {ids}", "labels?": f"integer[...] & ({ids} | == -100)"}
    spec = {name: spec[name]} if name == "**" else spec
    return TensorShapeSane(path, spec, values=values, seed=seed).named(f"token ids below {vocab:,}")


def _alive(process: int | str) -> Check:
    if isinstance(process, int):
        return ProcessAlive(pid=process)
    return ProcessAlive(pidfile=process) if process.endswith(".pid") else ProcessAlive(pattern=process)


def _all(parts: list[Check]) -> Check:
    return AllOf(tuple(parts)) if len(parts) > 1 else parts[0]


def _layers(layers: Sequence[int]) -> list[int]:
    ids = [whole("layers", layer, unit="layers") for layer in layers]
    if not ids or len(set(ids)) < len(ids):
        raise ValueError(f"layers is one or more different layer numbers; got {layers!r}")
    return ids
