"""HTTP asked from the host itself: no proxy, no redirect followed, no cookie; the whole exchange bounded in time and bytes.

What a server does is told apart as `kind`:
    answered   a complete response
    refused    nobody accepts the connection
    silent     the connection stands, but the answer did not come, or not to its end, in time
    cut        the server closed before its answer was complete
    no_http    what came is no HTTP
and what was met on the way there: unresolved, unreachable, untrusted (TLS).
"""

import json
import os
import re
import time

from verikit.probes.place import CannotSee

BODY_LIMIT = 1 << 20
EXCERPT = 300
MASK = "••••"


class Exchange:
    """One request and what came of it: `kind`, `status`, `headers`, `body`, `cut` (the body had more), `why`, `seconds`."""

    def __init__(self, url):
        self.url, self.kind, self.status, self.headers, self.body = url, "refused", None, {}, b""
        self.cut, self.why, self.seconds = False, "", 0.0

    @property
    def text(self):
        return self.body.decode("utf-8", "replace")

    def facts(self):
        """For a report: the answer without its body, of which there is an excerpt."""
        return {
            "url": self.url,
            "kind": self.kind,
            "status": self.status,
            "seconds": round(self.seconds, 3),
            "bytes": len(self.body),
            "cut": self.cut,
            "content_type": self.headers.get("content-type"),
            "excerpt": self.text[:EXCERPT],
            "why": self.why,
        }


def ask(place, url, within, token=None, token_env=None, contains=None):
    """One GET: the facts of its `Exchange`, with `found`, the text that `contains` matched in the body (None: nowhere).

    Loads the server by one request.  Reads at most 1 MiB of body.  `token` goes out as a bearer token; without it the
    variable `token_env` of this host's environment is taken.
    """
    secret = _secret(token, token_env)
    got = exchange(url, within, secret)
    facts = got.facts()
    found = re.search(contains, got.text) if contains is not None else None
    facts["found"] = found.group()[:EXCERPT] if found else None
    facts["coverage"] = {"requests": 1, "of": 1, "bytes": len(got.body)}
    return _masked(facts, secret)


def _secret(token, token_env):
    """The bearer token, fit to be a header: an error of http.client would quote it."""
    if token_env is None:
        return None
    found = (token or os.environ.get(token_env) or "").strip()
    if not found:
        raise CannotSee("missing", "no variable %s in the environment, neither here nor on the host" % token_env)
    if not re.match(r"[\x21-\x7e]+$", found):
        raise CannotSee(
            "unsupported", "the variable %s holds no bearer token: blanks or letters beyond ASCII" % token_env
        )
    return found


def _masked(value, secret):
    """The facts without the secret, wherever the server put it."""
    if not secret:
        return value
    if isinstance(value, str):
        return value.replace(secret, MASK)
    if isinstance(value, dict):
        return {key: _masked(item, secret) for key, item in value.items()}
    return [_masked(item, secret) for item in value] if isinstance(value, list) else value


def exchange(url, within, secret=None, data=None):
    """The `Exchange` of a GET, or of a POST of `data` as JSON, ended after `within` seconds whatever trickles in."""
    import http.client
    import threading

    got, began = Exchange(url), time.monotonic()
    connection, target = _connection(url, within)
    late, sockets = threading.Event(), []

    def end():  # a socket's own timeout starts anew with each byte
        late.set()
        for each in sockets:
            _shut(each)

    timer = threading.Timer(within, end)
    timer.daemon = True
    timer.start()
    try:
        connection.connect()
        sockets.append(connection.sock)  # http.client drops it as soon as the headers are read
        _send(connection, target, secret, data)
        _take(connection.getresponse(), got)
    except (OSError, http.client.HTTPException, UnicodeError) as error:
        got.kind, got.why = _met(error, bool(sockets), connection.host)
        if isinstance(error, http.client.IncompleteRead):
            got.body = error.partial[:BODY_LIMIT]
    finally:
        timer.cancel()
        connection.close()
    if late.is_set() and sockets:
        got.kind, got.why = "silent", "no complete answer in %g s" % within
    got.seconds = time.monotonic() - began
    if secret:  # before anything is cut out of it: half a token is not found again
        got.body, got.why = got.body.replace(secret.encode(), MASK.encode()), got.why.replace(secret, MASK)
    return got


def _met(error, connected, host):
    """(kind, in words) of what came instead of an answer."""
    import http.client
    import ssl

    if isinstance(error, ssl.SSLError):
        return "untrusted", str(error)
    if isinstance(error, http.client.IncompleteRead):
        return "cut", "the body ended too early"
    if isinstance(error, (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError)):
        return "cut", str(error)
    if isinstance(error, (http.client.HTTPException, UnicodeError)):
        return "no_http", "%s: %s" % (type(error).__name__, str(error)[:EXCERPT])
    return _kind_of(error, connected, host), str(error)


def _connection(url, within):
    import http.client
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    target = (parts.path or "/") + ("?" + parts.query if parts.query else "")
    return kind(parts.hostname, parts.port, timeout=within), target


def _shut(connected):
    import socket

    try:
        socket.socket.shutdown(connected, socket.SHUT_RDWR)  # beneath TLS, which would wait for the other side
    except OSError:  # closed already
        pass


def _send(connection, target, secret, data):
    headers = {"Accept": "*/*", "User-Agent": "verikit", "Connection": "close"}
    if secret:
        headers["Authorization"] = "Bearer " + secret
    body = None
    if data is not None:
        headers["Content-Type"], body = "application/json", json.dumps(data).encode()
    connection.request("GET" if data is None else "POST", target, body=body, headers=headers)


def _take(answer, got):
    got.status, got.headers = answer.status, {name.lower(): value for name, value in answer.getheaders()}
    _read_body(answer, got)
    got.kind = "answered"


def _read_body(answer, got):
    body = bytearray()
    while len(body) <= BODY_LIMIT:
        data = answer.read(65536)
        if not data:
            # http.client takes an early end for the end when it is read in pieces; the length that is left tells.
            if answer.length:
                got.body = bytes(body)
                raise _cut(body, answer.length)
            break
        body += data
    got.body, got.cut = bytes(body[:BODY_LIMIT]), len(body) > BODY_LIMIT


def _cut(body, missing):
    import http.client

    return http.client.IncompleteRead(bytes(body), missing)


def _kind_of(error, connected, host):
    import errno
    import socket

    if isinstance(error, socket.gaierror):
        return "unresolved"
    if isinstance(error, ConnectionRefusedError):
        return "refused"
    if isinstance(error, socket.timeout):  # on the loopback nothing gets lost: the server does not accept
        return "silent" if connected or _is_loopback(host) else "unreachable"
    if error.errno in (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL):
        return "unreachable"
    return "cut" if connected else "unreachable"


def _is_loopback(host):
    return host == "localhost" or host == "::1" or host.startswith("127.")


# Servers that speak OpenAI's protocol.

PROMPT = "Reply with the single word OK."

# How a tiny completion may be asked for: what one server refuses another demands.  Tried in this order while the answer
# is that the request itself is wrong.
WAYS = (
    ("/chat/completions", "max_tokens"),
    ("/chat/completions", "max_completion_tokens"),  # OpenAI's newer models
    ("/completions", "max_tokens"),  # a base model has no chat template
)
REFUSED = (400, 404, 405, 422, 501)


def openai(place, base_url, health_url, within, model=None, tokens=16, token=None, token_env=None):
    """Asks a server of OpenAI's protocol three things: its health, its models, and one tiny completion.

    Loads the server: one generation of at most `tokens` tokens.  steps: the exchanges, in order; health is None where
    there is no such endpoint.  models: the first ids; model: the one that was asked.
    answer: what the completion held, by field: content, reasoning, reasoning_content (lengths and excerpts), and
    `model`, `finish_reason`, `completion_tokens`.
    """
    secret = _secret(token, token_env)
    facts = {"steps": [], "models": [], "model": model, "answer": None, "way": None}

    def step(name, url, seconds, data=None):
        got = exchange(url, seconds, secret, data)
        facts["steps"].append(dict(got.facts(), step=name))
        return got

    brief = min(within, 5.0)
    health = step("health", health_url, brief) if health_url else None
    absent = health is None or health.status in (404, 405)
    facts["health"] = None if absent else health.status
    if absent or _went_well(health):
        listed = step("models", base_url + "/models", brief)
        ids = _model_ids(listed)
        facts["models"], facts["model_count"] = ids[:20], len(ids)
        facts["listed"] = model in ids if model is not None else bool(ids)
        facts["model"] = model if model is not None else (ids[0] if ids else None)
        if facts["listed"]:
            _complete(step, base_url, within, tokens, facts)
    facts["coverage"] = {"steps": len({row["step"] for row in facts["steps"]}), "of": 3 if health_url else 2}
    return _masked(facts, secret)


def _went_well(got):
    return got is not None and got.kind == "answered" and 200 <= got.status < 300


def _complete(step, base_url, within, tokens, facts):
    ends = time.monotonic() + within
    for path, limit in WAYS:
        data = {"model": facts["model"], limit: tokens, "stream": False}
        data.update({"messages": [{"role": "user", "content": PROMPT}]} if "chat" in path else {"prompt": PROMPT})
        got = step("completion", base_url + path, max(0.5, ends - time.monotonic()), data)
        facts["way"] = path
        if got.status not in REFUSED:
            break
    if _went_well(got):
        facts["answer"] = _answer(got)


def _json(got):
    try:
        return json.loads(got.text)
    except (ValueError, RecursionError):
        return None


def _model_ids(got):
    """The ids that the models endpoint lists; none for any other answer."""
    rows = _json(got) if _went_well(got) else None
    rows = rows.get("data") if isinstance(rows, dict) else None
    rows = rows if isinstance(rows, list) else []
    return [row["id"] for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)]


def _answer(got):
    """The fields of a completion; None if the body is none."""
    row = _json(got)
    if not isinstance(row, dict):
        return None
    if row.get("error") or row.get("object") == "error":
        return {"error": str(row.get("error") or row.get("message"))[:EXCERPT]}
    choices = row.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    message = choice.get("message") if isinstance(choice.get("message"), dict) else {"content": choice.get("text")}
    usage = row.get("usage") if isinstance(row.get("usage"), dict) else {}
    fields = {name: _field(message.get(name)) for name in ("content", "reasoning", "reasoning_content")}
    return {
        "model": row.get("model") if isinstance(row.get("model"), str) else None,
        "finish_reason": choice.get("finish_reason") if isinstance(choice.get("finish_reason"), str) else None,
        "completion_tokens": usage.get("completion_tokens")
        if isinstance(usage.get("completion_tokens"), int)
        else None,
        **fields,
    }


def _field(text):
    """Length, excerpt, and how many different characters a field holds; None if it is empty or no text."""
    if not isinstance(text, str) or not text.strip():
        return None
    return {"length": len(text), "excerpt": text[:80], "kinds": len(set(text.strip()))}
