# ruff: noqa: E501
"""What labelled logs are made of: the label, the makers of lines, and the lists they go into.

A line that begins with `@@` is the root line; `||` other lines that may be named just as well.  `idle`: seconds since
the last write; `alive`: None where nobody says.  Shapes are those of the threads that the tables name.
"""

from __future__ import annotations

import random

import attrs

SAMPLES: list[Sample] = []


@attrs.frozen
class Sample:
    """One log with its label. state: what LogHealthy should call it; kind: the causes that may be named."""

    name: str
    text: str
    state: str
    alive: bool | None = True
    idle: float = 3.0
    kind: tuple[str, ...] = ()
    data: bytes | None = None

    @property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @property
    def roots(self) -> list[int]:
        return [i for i, line in enumerate(self.lines, 1) if line.startswith(("@@", "||"))]

    @property
    def raw(self) -> bytes:
        if self.data is not None:
            return self.data
        return "\n".join(line[2:] if line.startswith(("@@", "||")) else line for line in self.lines).encode()


def trace(
    error: str,
    *,
    front: str = "",
    own: str = "/home/u/train.py",
    lib: str = "torch/nn/modules/module.py",
    header: str = "",
) -> str:
    """A traceback whose last line is the root."""
    rows = [
        (header or "") + "Traceback (most recent call last):",
        f'  File "{own}", line 88, in <module>',
        "    main()",
        f'  File "/opt/py/lib/python3.11/site-packages/{lib}", line 1501, in _call_impl',
        "    return forward_call(*args, **kwargs)",
        error,
    ]
    return "\n".join(("@@" if row is rows[-1] else "") + front + row for row in rows)


def steps(form: str, first: int = 1, last: int = 30, *, start: str = "10:00:00", every: int = 2, seed: int = 0) -> str:
    """Lines of a trainer: {n} the step, {loss} a falling loss, {t} the clock, {d} date and clock."""
    rng, rows = random.Random(seed), []
    hours, minutes, seconds = (int(part) for part in start.split(":"))
    base = hours * 3600 + minutes * 60 + seconds
    for n in range(first, last + 1):
        now = base + (n - first) * every
        clock = f"{now // 3600 % 24:02d}:{now // 60 % 60:02d}:{now % 60:02d}"
        loss = 3.0 - 0.01 * n + rng.random() / 50
        rows.append(form.format(n=n, loss=f"{loss:.4f}", t=clock, d=f"2025-05-05 {clock}", of=1000, pct=n // 10))
    return "\n".join(rows)


TITAN = "[titan] {d} - root - INFO - step: {n:2d}  loss:  {loss}  grad_norm:  0.31  memory: 61.2GiB(77%)  tps: 7,021  mfu: 41.2%"
NANO = "iter {n}: loss {loss}, time 231.11ms, mfu 39.02%"
VERL = "(TaskRunner pid=4242) step:{n} - global_seqlen/min:1203 - actor/entropy:0.41 - critic/score/mean:0.{n:03d} - timing_s/step:31.2"
MAXTEXT = "completed step: {n}, seconds: 2.113, TFLOP/s/device: 171.2, Tokens/s/device: 9311.0, total_weights: 65536, loss: {loss}"
FACTORY = "{{'loss': {loss}, 'grad_norm': 0.3, 'learning_rate': 1e-05, 'epoch': 0.{n:02d}}}"
FAIRSEQ = "{d} | INFO | train_inner | epoch 001: {n:6d} / 1000 loss={loss}, ppl=8.1, wps=51233, ups=3.2, gnorm=0.9"
AXOLOTL = "{pct}%|▏  | {n}/1000 [00:11<10:00,  1.20s/it]"
JSONL = '{{"ts": "2025-05-05T{t}Z", "level": "INFO", "msg": "train", "step": {n}, "loss": {loss}}}'
LOGURU = "{d}.123 | INFO     | trainer.loop:run:88 - step {n} | loss={loss}"
GEN = "{d} INFO gen: {n}/1000 samples, 12.2 samples/s, failed=0"


def bar(words: str, n: int, of: int) -> str:
    return f"\r{words}:  {100 * n // of}%|███       | {n}/{of} [00:12<01:40,  1.20s/it, loss=1.9]"


def bars(words: str, last: int, of: int) -> str:
    return "".join(bar(words, n, of) for n in range(1, last + 1))


KERAS = "\n".join(
    f"Epoch {e}/10\n"
    + "".join(
        f"\r{i * 100:4d}/1875 [{'=' * i}>{'.' * (18 - i)}] - ETA: 5s - loss: 0.{900 - e * 20 - i}" for i in range(1, 19)
    )
    + f"\n1875/1875 [==============================] - 9s 5ms/step - loss: 0.{880 - e * 20} - accuracy: 0.7{e}"
    for e in range(1, 6)
)
ACCEL = "{d},123 - INFO - accelerate.logging - Step {n}: loss = {loss}"
DOCS = "{d} INFO processed doc {n}"
FRAMES = ("Traceback (most recent call last):", '  File "/w/train.py", line 9, in <module>', "    main()")
OWN = "{n:05d}.jsonl.zst  {d} docs  6.{d}s  dupes so far {n}{d}"
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB"
VLLM_UP = """INFO 10-21 09:11:02 [__init__.py:216] Automatically detected platform cuda.
(APIServer pid=7) INFO 10-21 09:11:09 [api_server.py:1839] vLLM API server version 0.11.0
(EngineCore_DP0 pid=99) INFO 10-21 09:11:31 [core.py:77] Initializing a V1 LLM engine (v0.11.0)
(APIServer pid=7) INFO 10-21 09:12:31 [api_server.py:1912] Starting vLLM API server 0 on http://0.0.0.0:8000
(APIServer pid=7) INFO:     Started server process [7]
(APIServer pid=7) INFO:     Waiting for application startup.
(APIServer pid=7) INFO:     Application startup complete."""
SGL_UP = """[2025-05-05 10:00:01] server_args=ServerArgs(model_path='/m', port=30000)
[2025-05-05 10:00:11 TP0] Load weight end. type=LlamaForCausalLM
[2025-05-05 10:00:21] INFO:     Started server process [77]
[2025-05-05 10:00:21] INFO:     Waiting for application startup.
[2025-05-05 10:00:21] INFO:     Application startup complete.
[2025-05-05 10:00:21] INFO:     Uvicorn running on http://0.0.0.0:30000 (Press CTRL+C to quit)"""


def own(first: int, last: int) -> list[str]:
    """Lines of a job that counts in a sentence of its own."""
    return [OWN.format(n=n, d=(n * 37) % 90 + 10) for n in range(first, last)]


def add(name: str, state: str, *parts: str, **more: object) -> None:
    """A sample of the parts, joined by ends of lines; more: the rest of its label."""
    kind = more.pop("kind", ())
    kinds = (kind,) if isinstance(kind, str) else tuple(kind)  # type: ignore[arg-type]
    SAMPLES.append(Sample(name, "\n".join(parts), state, kind=kinds, **more))  # type: ignore[arg-type]


def rows(prefix: str, *labelled: tuple[str, str, dict[str, object], list[str]]) -> None:
    """Samples of one kind, a row each: what is added to the prefix, the state, more of the label, the lines."""
    for name, state, more, lines in labelled:
        add(prefix + name, state, *lines, **more)
