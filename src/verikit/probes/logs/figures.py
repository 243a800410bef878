# ruff: noqa: E501
"""A job's health by its own figures: losses, gradient norms, throughput, and an engine that moves none of its work."""

import math
import re

LOSS = re.compile(
    r"(?<![\w/])(?:(?:train|lm|training|avg|avr|ave|running|mean|total|policy|sft|ce)[/_ ]?)?[Ll]oss[\"']?(?: *[:=] *| +)[\"']?(?P<value>[-+]?(?:nan|NaN|NAN|inf|Inf|INF|\d[\d.]*(?:[eE][-+]?\d+)?))(?![\w/])"
)
GRAD = re.compile(
    r"(?:grad[ _-]?norm|gnorm|grad_norm|gradient norm|gn)[\"']?(?: *[:=] *| +)[\"']?(?P<value>[-+]?(?:nan|NaN|inf|Inf|\d[\d.]*(?:[eE][-+]?\d+)?))(?![\w/])"
)
SPEED = re.compile(
    r"(?P<value>\d[\d.,]*) ?(?P<unit>(?:tok(?:en)?s?|samples?|it|ex|examples|steps?|TFLOP|imgs?|seq)/(?:s|sec|second|GPU)\b)"
)
BAD = re.compile(r"nan|inf", re.I)
# An engine with work that moves none: vLLM's and SGLang's own statistics.
STATS = (
    re.compile(
        r"generation throughput: (?P<speed>[\d.]+) tokens/s, Running: (?P<running>\d+) reqs, Waiting: (?P<waiting>\d+)"
    ),
    re.compile(
        r"#running-req: (?P<running>\d+),.{0,120}gen throughput \(token/s\): (?P<speed>[\d.]+), #queue-req: (?P<waiting>\d+)"
    ),
)
SCALED = re.compile(
    r"OVERFLOW|[Oo]verflow|[Ll]oss.?scale.{0,40}(?:reduc|lower|to \d)|[Ss]kipp\w+ (?:step|update|iteration)"
)
LOST, NEVER = 10, 30
"""Logged steps in a row with a gradient norm of nan: behind finite ones, and where a scaler skips or there never were any."""

SKIPPED = re.compile(r"skipped iterations: +([1-9]\d*)")


class Figures:
    """What the figures of one run have said so far."""

    def __init__(self):
        self.losses = {"ok": 0, "bad_since": None, "bad": 0, "bad_grad": 0, "kind": ""}
        self.grads = {"ok": 0, "since": None, "nan": 0, "scaled": 0}  # the unbroken run of nan norms at the end
        self.stats = {"idle": 0, "since": None}
        self.working = {}  # of each engine of vLLM, which tells when its work is done: requests in flight when it last spoke
        self.training = {}

    def read(self, line, name):
        """Takes the figures of a line in; name: the row of PROGRESS that it counts by."""
        text = line.raw
        self._loss(line, text, name)
        if "throughput" in text:
            self._engine(line, text)

    def _loss(self, line, text, name):
        state = self.losses
        found, grad = LOSS.search(text), GRAD.search(text)
        self._grad(line, text, grad)
        if found is None and not (name == "megatron" and state["ok"] and not SKIPPED.search(text)):
            return
        bad = found is None or BAD.search(found.group("value")) is not None
        bad_grad = grad is not None and grad.group("value").lower().endswith("nan")
        # transformers logs a loss of 0.0 once it is NaN (logging_nan_inf_filter).
        bad = bad or (bad_grad and number_of(found.group("value")) == 0)
        if grad is not None:
            self.training["grad_norm"] = grad.group("value")
        if found is not None:
            self.training["loss"] = found.group("value")
        speed = SPEED.search(text)
        if speed:
            self.training["throughput"] = "%s %s" % (speed.group("value"), speed.group("unit"))
        if not bad:
            state.update(ok=state["ok"] + 1, bad=0, bad_since=None, bad_grad=0)
            return
        if not state["bad"]:
            state["bad_since"] = (line.number, line.raw[:1000], line.rank)
            value = found and found.group("value")
            words = "the gradient norm is nan, the loss %s" if value and not BAD.search(value) else "the loss is %s"
            state["kind"] = words % value if value else "the loss field has vanished"
        state["bad"] += 1
        state["bad_grad"] += bad_grad

    def _grad(self, line, text, grad):
        state = self.grads
        if grad is None:
            state["scaled"] += SCALED.search(text) is not None
        elif not grad.group("value").lower().endswith("nan"):
            state.update(ok=state["ok"] + 1, since=None, nan=0, scaled=0)
        else:
            state["since"] = state["since"] or (line.number, line.raw[:1000], line.rank)
            state["nan"] += 1

    def lost(self):
        """Since which line the gradient norm is nan, and in how many logged steps; None for a few that a loss scaler skips.

        A norm that was never a number may be one that nobody computes: it must be so for longer.
        """
        state = self.grads
        enough = NEVER if state["scaled"] or not state["ok"] else LOST
        return (state["since"], state["nan"]) if state["since"] and state["nan"] >= enough else None

    def _engine(self, line, text):
        for pattern in STATS:
            found = pattern.search(text)
            if not found:
                continue
            if pattern is STATS[0]:
                self.working[text[max(0, text.find("Engine")) :][:10]] = found.group("running", "waiting") != ("0", "0")
            stuck = number_of(found.group("speed")) == 0 and found.group("running", "waiting") != ("0", "0")
            if stuck:
                self.stats["since"] = self.stats["since"] or (line.number, line.raw[:500])
                self.stats["idle"] += 1
            else:
                self.stats = {"idle": 0, "since": None}


def number_of(text):
    """A finite float, or None for what is none: figures in logs are foreign text."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None
