"""HttpHealthy: a server answers as it should, asked from its own host; `HttpHealthy.openai`: its engine does, too."""

from __future__ import annotations

import os
from typing import Any, ClassVar
from urllib.parse import urlsplit

import attrs

from verikit.check import Check, Facts, Look
from verikit.errors import Cause
from verikit.finding import Finding
from verikit.probes import http as probe
from verikit.text import bounded, count, seconds
from verikit.values import number, regex, whole
from verikit.verdict import FAIL, PASS, UNKNOWN, Verdict

SPARE = 30.0
"""Seconds that a look has beyond the server's deadline: for the name to be resolved and the agent to be slow."""


class Token(str):
    """A secret on its way to the host: prints as a mask wherever a look is printed."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(probe.MASK)


def _url(value: Any) -> str:
    """An http or https URL with a host, without a password in it."""
    if not isinstance(value, str):
        raise TypeError(f"url is an http:// or https:// URL; got {value!r}")
    parts = urlsplit(value)
    try:
        plain = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        plain = False
    if not plain or not all(33 <= ord(char) <= 126 for char in value):
        raise ValueError(
            f"url is an http:// or https:// URL with a host, all of it ASCII without blanks; got {value!r}"
        )
    if parts.username or parts.password:
        raise ValueError("url holds no user or password, as reports show it; name a variable by token_env=")
    return value


def _base_url(value: Any) -> str:
    return _url(value).rstrip("/")


def _within(value: Any) -> float:
    return number("within", value, above=0)


def _status(value: Any) -> int | None:
    return None if value is None else whole("status", value, least=100, unit="an HTTP status")


def _contains(value: Any) -> str | None:
    return None if value is None else regex("contains", value)


def _variable(value: Any) -> str | None:
    if value is not None and (not isinstance(value, str) or not value.isidentifier()):
        raise ValueError("token_env is the name of an environment variable, not the token itself")
    return value


def _tokens(value: Any) -> int:
    return whole("tokens", value, least=1, unit="tokens")


def _token(variable: str | None) -> Token | None:
    """The caller's token, if the variable is set here; the host's own environment is asked otherwise."""
    found = os.environ.get(variable) if variable else None
    return Token(found) if found else None


@attrs.frozen(repr=False)
class HttpHealthy(Check):
    """The server gives a complete answer of status 2xx (or `status`) within its deadline, asked from the host itself.

    within: seconds for the whole exchange, connection to last byte.  contains: a pattern to be found in the body's first
    1 MiB.  token_env: the environment variable, here or else on the host, whose value is sent as a bearer token; it is
    in no report.  No proxy is used and no redirect followed: a 302 to a login page is no 200.
    Loads the server by one GET.  A health endpoint may answer for a dead engine; `HttpHealthy.openai` asks the engine.
    """

    openai: ClassVar[type[OpenAIHealthy]]
    withheld = ("token_env",)

    url: str = attrs.field(converter=_url)
    status: int | None = attrs.field(default=None, converter=_status, kw_only=True)
    contains: str | None = attrs.field(default=None, converter=_contains, kw_only=True)
    within: float = attrs.field(default=5.0, converter=_within, kw_only=True)
    token_env: str | None = attrs.field(default=None, converter=_variable, kw_only=True)

    def look(self) -> Look:
        asked = {"url": self.url, "within": self.within, "contains": self.contains}
        look = Look(probe.ask, token=_token(self.token_env), token_env=self.token_env, **asked)
        return look.within(self.within + SPARE)

    def judge(self, facts: Facts) -> Finding:
        unusual = _unusual(facts)
        if unusual:
            verdict, words, cause = unusual
            return Finding(verdict, f"{self.url}: {words}", facts=facts, cause=cause)
        reason = f"{self.url}: {_answered(facts)}"
        if not self._status_is_right(facts["status"]):
            return self._wrong_status(reason, facts)
        if self.contains is not None and facts["found"] is None:
            if facts["cut"]:
                words = f"{reason}; {self.contains!r} is not in its first 1 MiB, and there is more"
                return Finding(UNKNOWN, words, facts=facts, cause=Cause.BOUND_REACHED)
            return Finding(FAIL, f"{reason}; expected {self.contains!r} in it; got {_excerpt(facts)}", facts=facts)
        return Finding(PASS, reason + (f"; {self.contains!r} is in it" if self.contains else ""), facts=facts)

    def _status_is_right(self, status: int) -> bool:
        return status == self.status if self.status is not None else 200 <= status < 300

    def _wrong_status(self, reason: str, facts: Facts) -> Finding:
        reason = f"{reason}; expected {self.status or '2xx'}"
        if facts["status"] in (401, 403):
            words = f"{reason}: the server wants a token that it accepts (token_env=)"
            return Finding(UNKNOWN, words, facts=facts, cause=Cause.AUTH_FAILED)
        return Finding(FAIL, f"{reason}: {_excerpt(facts)}", facts=facts)


# What was met instead of an answer: the verdict, in words, and the cause where nothing is settled.
UNUSUAL: dict[str, tuple[Verdict, str, Cause | None]] = {
    "refused": (FAIL, "connection refused: nobody listens there (yet)", None),
    "silent": (
        FAIL,
        "accepted the connection, but gave no complete answer in {seconds}: it hangs or is overloaded",
        None,
    ),
    "cut": (FAIL, "closed the connection before its answer was complete ({why})", None),
    "no_http": (FAIL, "answers in something else than HTTP ({why})", None),
    "unresolved": (UNKNOWN, "this host can't resolve the name ({why})", Cause.UNREACHABLE),
    "unreachable": (UNKNOWN, "no connection from this host ({why})", Cause.UNREACHABLE),
    "untrusted": (UNKNOWN, "TLS gives no trusted connection from this host ({why})", Cause.UNREACHABLE),
}


def _unusual(facts: Facts) -> tuple[Verdict, str, Cause | None] | None:
    if facts["kind"] == "answered":
        return None
    verdict, words, cause = UNUSUAL[facts["kind"]]
    return verdict, words.format(seconds=seconds(facts["seconds"]), why=facts["why"]), cause


def _answered(facts: Facts) -> str:
    return f"status {facts['status']} in {seconds(facts['seconds'])}, {count(facts['bytes'], 'byte')}"


def _excerpt(facts: Facts) -> str:
    return repr(bounded(" ".join(facts["excerpt"].split()), 160)) if facts["excerpt"].strip() else "an empty body"


@attrs.frozen(repr=False)
class OpenAIHealthy(Check):
    """The server generates: health and models answer, and one tiny completion comes within its deadline from that model.

    base_url: as OpenAI clients take it, `http://127.0.0.1:8000/v1`.  health: the URL of the health endpoint, `/health`
    beside `/v1` by default; a server without one (404) is judged by the rest.  model: an id that must be listed and must
    answer; by default the first one listed.
    reasoning: True: the model's reasoning must come apart from its content, in the field `reasoning` or
    `reasoning_content`; False: there must be none; None: either.  tokens: at most so many are generated; when they all
    go into reasoning that is said ("budget spent on reasoning"): the engine works, its content was not seen.
    within: seconds for the completion.  token_env: as in HttpHealthy.
    Loads the server by one generation of `tokens` tokens.
    """

    __qualname__ = "HttpHealthy.openai"  # its name in reprs, pickles and stored claims
    withheld = ("token_env",)

    base_url: str = attrs.field(converter=_base_url)
    model: str | None = attrs.field(default=None, kw_only=True)
    reasoning: bool | None = attrs.field(default=None, kw_only=True)
    tokens: int = attrs.field(default=16, converter=_tokens, kw_only=True)
    within: float = attrs.field(default=30.0, converter=_within, kw_only=True)
    health: str | None = attrs.field(default=None, kw_only=True)
    token_env: str | None = attrs.field(default=None, converter=_variable, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self.model is not None and (not isinstance(self.model, str) or not self.model):
            raise ValueError(f"model is the id of a model, as the models endpoint lists it; got {self.model!r}")
        if self.reasoning not in (True, False, None):
            raise ValueError(
                f"reasoning is True (apart from content), False (none) or None (either); got {self.reasoning!r}"
            )
        if self.health is not None:
            _url(self.health)

    def look(self) -> Look:
        look = Look(
            probe.openai,
            base_url=self.base_url,
            health_url=self.health or self.base_url.removesuffix("/v1") + "/health",
            within=self.within,
            model=self.model,
            tokens=self.tokens,
            token=_token(self.token_env),
            token_env=self.token_env,
        )
        return look.within(self.within + 10 + SPARE)  # health and models have 5 seconds each

    def judge(self, facts: Facts) -> Finding:
        """By the first step that did not go well; the completion by its fields."""
        steps = facts["steps"]
        for step in steps[:-1] if facts["answer"] is not None else steps:
            if step["step"] == "health" and step["status"] in (404, 405):
                continue
            if step["step"] == "completion" and step is not steps[-1]:
                continue  # refused in this form, asked again in another
            found = self._step(step, facts)
            if found is not None:
                return found
        return self._completion(facts)

    def _step(self, step: Facts, facts: Facts) -> Finding | None:
        """What a step that is not as it should be means; None for one that is."""
        subject = f"{self.base_url}: {step['step']}"
        unusual = _unusual(step)
        if unusual:
            verdict, words, cause = unusual
            return Finding(verdict, f"{subject} {words}{_though_healthy(step, facts)}", facts=facts, cause=cause)
        if step["status"] in (401, 403):
            words = f"{subject} has status {step['status']}: the server wants a token that it accepts (token_env=)"
            return Finding(UNKNOWN, words, facts=facts, cause=Cause.AUTH_FAILED)
        if step["step"] == "completion" and step["status"] in (*probe.REFUSED, 429):
            words = f"{subject} was refused with status {step['status']}: {_excerpt(step)}"
            return Finding(UNKNOWN, words, facts=facts, cause=Cause.AMBIGUOUS)
        if not 200 <= step["status"] < 300:
            words = f"{subject} has status {step['status']}: {_excerpt(step)}{_though_healthy(step, facts)}"
            return Finding(FAIL, words, facts=facts)
        if step["step"] == "models" and not facts["listed"]:
            listed = ", ".join(facts["models"][:5]) or "none"
            return Finding(FAIL, f"{subject} lists {listed}; expected {self.model or 'at least one'}", facts=facts)
        return None

    def _completion(self, facts: Facts) -> Finding:
        answer, subject = facts["answer"], f"{self.base_url}: model {facts['model']}"
        if answer is None:
            words = f"{subject} gave no completion but {_excerpt(facts['steps'][-1])}"
            return Finding(FAIL, words, facts=facts)
        if "error" in answer:
            return Finding(FAIL, f"{subject} answered with an error: {answer['error']}", facts=facts)
        word = answer_word(answer)
        facts = {**facts, "word": word}
        told = f"{subject} answered in {seconds(facts['steps'][-1]['seconds'])}: {WORDS[word]}{_budget(answer, word)}"
        if word == "empty":
            return Finding(FAIL, told, facts=facts)
        if answer["model"] is None:
            return Finding(UNKNOWN, f"{told}; but not by which model", facts=facts, cause=Cause.AMBIGUOUS)
        if not _same_model(answer["model"], facts["model"]):
            return Finding(FAIL, f"{told}; but by model {answer['model']}", facts=facts)
        if self.reasoning is not None and self.reasoning is not (word in APART):
            wanted = "its reasoning in a field of its own" if self.reasoning else "no reasoning"
            return Finding(FAIL, f"{told}; expected {wanted}", facts=facts)
        if self.reasoning is False and word == "reasoning_in_content":
            return Finding(FAIL, f"{told}; expected no reasoning", facts=facts)
        return Finding(PASS, told, facts=facts, warnings=_warnings(facts, answer, word))


HttpHealthy.openai = OpenAIHealthy

WORDS = {
    "content": "content",
    "content_and_reasoning": "content, and reasoning apart from it",
    "reasoning_in_content": "reasoning inside the content (<think>): the server parses none out of it",
    "budget_spent_on_reasoning": "budget spent on reasoning, no content seen",
    "reasoning_only": "reasoning, but no content, though it ended by itself",
    "empty": "neither content nor reasoning",
}
APART = ("content_and_reasoning", "budget_spent_on_reasoning", "reasoning_only")


def answer_word(answer: Facts) -> str:
    """One word for what a completion held; its key in `WORDS`."""
    content, reasoned = answer["content"], answer["reasoning"] or answer["reasoning_content"]
    if content and content["excerpt"].lstrip().startswith("<think>"):
        return "reasoning_in_content"
    if content:
        return "content_and_reasoning" if reasoned else "content"
    if not reasoned:
        return "empty"
    return "budget_spent_on_reasoning" if answer["finish_reason"] == "length" else "reasoning_only"


def _budget(answer: Facts, word: str) -> str:
    tokens = answer["completion_tokens"]
    return f" ({count(tokens, 'token')})" if tokens and word != "content" else ""


def _same_model(answered: str, asked: str) -> bool:
    """Whether it was the model asked: by its id, or by a dated name of it as OpenAI gives them."""
    if answered == asked:
        return True
    dated = answered.removeprefix(f"{asked}-")
    return dated != answered and dated.replace("-", "").isdigit()


def _though_healthy(step: Facts, facts: Facts) -> str:
    """What makes this fault deceptive: the server calls itself healthy. See vllm#39863, vllm#16259."""
    deceptive = step["step"] == "completion" and facts["health"] is not None
    return (
        f"; though health says {facts['health']}: the engine behind it is dead, stuck or saturated" if deceptive else ""
    )


def _warnings(facts: Facts, answer: Facts, word: str) -> list[str]:
    warnings = []
    field = answer["content"] or answer["reasoning"] or answer["reasoning_content"]
    if field["kinds"] == 1 and field["length"] >= 8:
        warnings.append(
            f"the answer repeats one character ({field['excerpt'][:8]!r}…): weights or kernels may be broken"
        )
    if word == "budget_spent_on_reasoning":
        warnings.append("give more tokens= to see content, too")
    if facts["health"] is None:
        warnings.append("there is no health endpoint")
    return warnings
