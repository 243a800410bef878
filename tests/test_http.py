"""HttpHealthy against real servers on the loopback: good ones, hanging ones, liars, and some that speak no HTTP."""

from __future__ import annotations

import json
import pickle
import socket
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verikit import verify
from verikit.checks.http import HttpHealthy, OpenAIHealthy
from verikit.errors import Cause
from verikit.probes import http as probe
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS, UNKNOWN

SECRET = "tok-5up3r-s3cr3t-v4lue"


class Answers(BaseHTTPRequestHandler):
    """Answers by the table `server.routes`: path -> (status, body), or a function of the handler that does it all."""

    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        self.sent = json.loads(self.rfile.read(length)) if length else None
        self.server.requests.append((self.command, self.path, dict(self.headers), self.sent))
        route = self.server.routes.get(self.path, (404, "no such page"))
        if callable(route):
            route = route(self)
        if route is not None:
            self.reply(*route)

    do_GET = do_POST = answer

    def reply(self, status, body, **headers):
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", headers.pop("length", str(len(data))))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass  # clients that leave early are what these tests are about


@contextmanager
def serving(routes):
    """A server with its URL as `url`, its requests as `requests`; `open_up` lets go of whoever hangs."""
    server = Server(("127.0.0.1", 0), Answers)
    server.routes, server.requests, server.open_up = routes, [], threading.Event()
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.open_up.set()
        server.shutdown()
        thread.join()
        server.server_close()


def hang(handler):
    """Says nothing until the test is over."""
    handler.server.open_up.wait()


@contextmanager
def speaking(data, keep=False):
    """A server of raw bytes: reads a request, sends the data, and closes unless told to keep the connection."""
    over = threading.Event()

    def serve():
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            connection.recv(65536)
            connection.sendall(data)
            if keep:
                over.wait()

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/health"
        finally:
            over.set()
            thread.join()


def unused():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def test_a_complete_answer_passes():
    """
    Status 200 with a whole body passes; the time and the bytes are told.
    """
    with serving({"/health": (200, "ok")}) as server:
        finding = examine_here(HttpHealthy(server.url + "/health"))

    assert finding.verdict is PASS
    assert "status 200 in" in finding.reason
    assert "2 bytes" in finding.reason


def test_nobody_listens():
    """
    A refused connection is FAIL, not final: the server may yet come.
    """
    finding = examine_here(HttpHealthy(f"http://127.0.0.1:{unused()}/health"))

    assert (finding.verdict, finding.final) == (FAIL, False)
    assert "connection refused" in finding.reason


def test_a_server_that_hangs_fails_at_its_deadline():
    """
    A server that accepts and says nothing is FAIL when its time is over, not UNKNOWN, and not later.
    """
    with serving({"/health": hang}) as server:
        began = time.monotonic()
        finding = examine_here(HttpHealthy(server.url + "/health", within=0.2))

    assert finding.verdict is FAIL
    assert "no complete answer in" in finding.reason
    assert time.monotonic() - began < 5


def test_a_server_that_trickles_meets_the_same_deadline():
    """
    A byte now and then does not prolong the deadline.
    """

    def trickle(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        while not handler.server.open_up.wait(0.02):
            handler.wfile.write(b".")

    with serving({"/health": trickle}) as server:
        finding = examine_here(HttpHealthy(server.url + "/health", within=0.3))

    assert finding.verdict is FAIL
    assert finding.facts["kind"] == "silent"


def test_a_backlog_that_is_never_accepted_fails():
    """
    A process that listens but never accepts hangs, too: its kernel accepts for it.
    """
    with socket.create_server(("127.0.0.1", 0)) as server:
        finding = examine_here(HttpHealthy(f"http://127.0.0.1:{server.getsockname()[1]}/", within=0.2))

    assert finding.verdict is FAIL
    assert finding.facts["kind"] == "silent"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n", "no_http"),
        (b"\x00\x01\x02\xff" * 50, "no_http"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf", "cut"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhal", "cut"),
        (b"", "cut"),
    ],
)
def test_garbage_and_half_an_answer_fail(data, kind):
    """
    What is no HTTP, and an answer that ends before its length, is FAIL whatever its status line said.
    """
    with speaking(data) as url:
        finding = examine_here(HttpHealthy(url))

    assert (finding.verdict, finding.facts["kind"]) == (FAIL, kind)


@pytest.mark.parametrize("status", [500, 503, 404, 302])
def test_another_status_fails(status):
    """
    What is not 2xx fails, a redirect to a login page among it, and the body's beginning is told.
    """
    with serving({"/health": (status, "Model is loading")}) as server:
        finding = examine_here(HttpHealthy(server.url + "/health"))

    assert finding.verdict is FAIL
    assert f"status {status}" in finding.reason
    assert "expected 2xx: 'Model is loading'" in finding.reason


def test_a_wanted_status_passes():
    """
    `status=` takes the place of 2xx.
    """
    with serving({"/old": (410, "")}) as server:
        assert examine_here(HttpHealthy(server.url + "/old", status=410)).verdict is PASS
        assert examine_here(HttpHealthy(server.url + "/old")).verdict is FAIL


@pytest.mark.parametrize("status", [401, 403])
def test_a_server_that_wants_a_token_is_unknown(status):
    """
    Whether it is healthy can't be seen without the token: UNKNOWN, final, so that nobody is retried into a ban.
    """
    with serving({"/health": (status, "")}) as server:
        finding = examine_here(HttpHealthy(server.url + "/health"))

    assert (finding.verdict, finding.cause, finding.final) == (UNKNOWN, Cause.AUTH_FAILED, True)


def test_a_name_that_does_not_resolve_is_unknown():
    """
    A host name that this host can't resolve says nothing of the server. `.invalid` never resolves (RFC 2606).
    """
    finding = examine_here(HttpHealthy("http://nowhere.invalid/health"))

    assert (finding.verdict, finding.cause) == (UNKNOWN, Cause.UNREACHABLE)


def test_a_server_without_tls_is_not_trusted():
    """
    An https URL of a server that speaks plain HTTP, or has no trusted certificate, says nothing of its health: UNKNOWN.
    """
    with speaking(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n") as url:
        finding = examine_here(HttpHealthy(url.replace("http:", "https:")))

    assert (finding.verdict, finding.cause) == (UNKNOWN, Cause.UNREACHABLE)
    assert "TLS" in finding.reason


def test_a_tls_server_that_hangs_fails():
    """
    A TLS handshake that is never answered is silence.
    """
    with speaking(b"", keep=True) as url:
        finding = examine_here(HttpHealthy(url.replace("http:", "https:"), within=0.2))

    assert (finding.verdict, finding.facts["kind"]) == (FAIL, "silent")


def test_a_body_must_contain():
    """
    `contains` is searched in the body; without it the answer does not pass.
    """
    with serving({"/health": (200, '{"status": "ready"}')}) as server:
        good = examine_here(HttpHealthy(server.url + "/health", contains=r'"status":\s*"ready"'))
        bad = examine_here(HttpHealthy(server.url + "/health", contains="healthy"))

    assert good.verdict is PASS
    assert bad.verdict is FAIL
    assert "expected 'healthy' in it" in bad.reason


def test_a_body_past_the_bound_is_not_decided():
    """
    What lies beyond the first MiB was not looked at: UNKNOWN, unless the pattern came before.
    """
    with serving({"/big": (200, "x" * (2 << 20) + "needle")}) as server:
        finding = examine_here(HttpHealthy(server.url + "/big", contains="needle"))
        early = examine_here(HttpHealthy(server.url + "/big", contains="xxx"))

    assert (finding.verdict, finding.cause) == (UNKNOWN, Cause.BOUND_REACHED)
    assert early.verdict is PASS


def test_a_token_is_sent_and_never_told(monkeypatch):
    """
    The variable's value goes out as a bearer token; neither finding, check nor look shows it, though the server echoes it.
    """
    monkeypatch.setenv("VERIKIT_TEST_TOKEN", SECRET)

    def echo(handler):
        sent = handler.headers["Authorization"]
        handler.reply(200, f"{'x' * 285} you sent {sent}", **{"Content-Type": f"text/{sent}"})

    with serving({"/echo": echo}) as server:
        check = HttpHealthy(server.url + "/echo", token_env="VERIKIT_TEST_TOKEN", contains="sent.*")
        finding = examine_here(check)

    assert finding.verdict is PASS
    assert server.requests[0][2]["Authorization"] == f"Bearer {SECRET}"
    for shown in (repr(finding), repr(check), repr(check.look()), str(pickle.dumps(check))):
        assert SECRET not in shown


@pytest.mark.parametrize("value", [None, "", "two words", "line\r\nbreak"])
def test_no_token_to_send_is_unknown(monkeypatch, value):
    """
    An unset variable, or one that holds no token, is UNKNOWN, and its value is not told.
    """
    monkeypatch.delenv("VERIKIT_TEST_TOKEN", raising=False)
    if value is not None:
        monkeypatch.setenv("VERIKIT_TEST_TOKEN", value)

    finding = examine_here(HttpHealthy("http://127.0.0.1:9/", token_env="VERIKIT_TEST_TOKEN"))

    assert finding.verdict is UNKNOWN
    assert finding.cause in (Cause.MISSING, Cause.UNSUPPORTED)
    assert "VERIKIT_TEST_TOKEN" in finding.reason
    assert "words" not in finding.reason


def test_proxies_of_the_environment_are_not_used(monkeypatch):
    """
    The server is asked directly: a proxy would answer for it.
    """
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{unused()}")

    with serving({"/health": (200, "ok")}) as server:
        assert examine_here(HttpHealthy(server.url + "/health")).verdict is PASS


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000",
        "ftp://host/",
        "http://",
        "http://h:99999/",
        "http://a b/",
        "http://user:pw@h/",
        "http://h/\r\nX",
        "http://h/é",
    ],
)
def test_a_malformed_url_is_refused(url):
    """
    What is no http URL, and one that holds a password, is a ValueError.
    """
    with pytest.raises(ValueError, match="url"):
        HttpHealthy(url)


# The OpenAI form.

MODELS = {"object": "list", "data": [{"id": "kimi-k2"}, {"id": "drafter"}]}


def completion(model="kimi-k2", finish="stop", tokens=2, **message):
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return {"object": "chat.completion", "model": model, "choices": [choice], "usage": {"completion_tokens": tokens}}


def openai(chat, **routes):
    """Routes of a server whose health and models are well, and which answers chats so."""
    default = {"/health": (200, ""), "/v1/models": (200, MODELS), "/v1/chat/completions": chat}
    return {**default, **routes}


def asked(routes, **fields):
    """The finding of HttpHealthy.openai, and what the server was asked."""
    with serving(routes) as server:
        finding = examine_here(HttpHealthy.openai(server.url + "/v1", **fields))
    return finding, server.requests


def test_a_server_that_generates_passes():
    """
    Health, models and one tiny completion: three requests, the last for few tokens.
    """
    finding, requests = asked(openai((200, completion(content="OK"))), model="kimi-k2")

    assert finding.verdict is PASS
    assert "model kimi-k2 answered in" in finding.reason
    assert [path for _, path, _, _ in requests] == ["/health", "/v1/models", "/v1/chat/completions"]
    assert requests[2][3]["max_tokens"] == 16
    assert finding.facts["word"] == "content"


def test_the_first_model_is_asked_by_default():
    """
    Without `model=` the first id that is listed must answer.
    """
    finding, requests = asked(openai((200, completion(content="OK"))))

    assert finding.verdict is PASS
    assert requests[2][3]["model"] == "kimi-k2"


@pytest.mark.parametrize(
    "chat", [hang, (500, {"error": {"message": "EngineCore encountered an issue"}}), (503, "engine dead")]
)
def test_a_dead_engine_behind_a_healthy_face_fails(chat):
    """
    Health says 200 while completions hang or break: FAIL, and the reason says both.
    """
    finding, _ = asked(openai(chat), within=0.3)

    assert finding.verdict is FAIL
    assert "though health says 200" in finding.reason


def test_a_server_that_still_loads_fails_at_its_health():
    """
    Health 503 is FAIL, and neither models nor a completion are asked of a server that loads.
    """
    finding, requests = asked(openai((200, completion(content="OK")), **{"/health": (503, "loading")}))

    assert (finding.verdict, finding.final) == (FAIL, False)
    assert "health has status 503: 'loading'" in finding.reason
    assert len(requests) == 1


def test_a_health_that_hangs_fails():
    """
    A health endpoint that does not answer fails by itself.
    """
    finding, requests = asked(openai((200, completion(content="OK")), **{"/health": hang}), within=0.2)

    assert finding.verdict is FAIL
    assert ": health accepted the connection" in finding.reason
    assert len(requests) == 1


def test_a_server_without_health_is_judged_by_the_rest():
    """
    Not every server has /health: its absence is a warning.
    """
    finding, _ = asked(openai((200, completion(content="OK")), **{"/health": (404, "")}))

    assert finding.verdict is PASS
    assert finding.warnings == ("there is no health endpoint",)


def test_a_model_that_is_not_listed_fails():
    """
    The wrong model is up: FAIL naming those that are, without a completion.
    """
    finding, requests = asked(openai((200, completion(content="OK"))), model="llama")

    assert finding.verdict is FAIL
    assert "lists kimi-k2, drafter; expected llama" in finding.reason
    assert len(requests) == 2


@pytest.mark.parametrize("models", [{"data": []}, {}, [], "nonsense", {"data": [{"name": 1}, 7]}])
def test_no_models_at_all_fails(models):
    """
    An empty or malformed list of models is FAIL: nothing was asked, so nothing passes.
    """
    finding, _ = asked(openai((200, completion(content="OK")), **{"/v1/models": (200, models)}))

    assert finding.verdict is FAIL
    assert "lists none" in finding.reason


def test_another_model_that_answers_fails():
    """
    The answer must be by the model asked.
    """
    finding, _ = asked(openai((200, completion(model="drafter", content="OK"))), model="kimi-k2")

    assert finding.verdict is FAIL
    assert "but by model drafter" in finding.reason


def test_a_dated_name_is_the_same_model():
    """
    OpenAI answers by the dated name of the model asked.
    """
    finding, _ = asked(openai((200, completion(model="kimi-k2-2026-08-06", content="OK"))), model="kimi-k2")

    assert finding.verdict is PASS


def test_an_answer_without_a_model_is_unknown():
    """
    Who answered was not told: UNKNOWN, never a pass.
    """
    finding, _ = asked(openai((200, completion(model=None, content="OK"))))

    assert (finding.verdict, finding.cause) == (UNKNOWN, Cause.AMBIGUOUS)


REASONED = {
    "reasoning": {"reasoning": "They want OK.", "content": "OK"},
    "reasoning_content": {"reasoning_content": "They want OK.", "content": "OK"},
}


@pytest.mark.parametrize("message", REASONED.values(), ids=REASONED)
def test_reasoning_apart_from_content(message):
    """
    Either field counts as reasoning apart; `reasoning=True` demands it, `reasoning=False` refuses it.
    """
    routes = openai((200, completion(**message)))

    for wanted, verdict in ((None, PASS), (True, PASS), (False, FAIL)):
        finding, _ = asked(routes, reasoning=wanted)
        assert finding.verdict is verdict
        assert finding.facts["word"] == "content_and_reasoning"


def test_reasoning_inside_content():
    """
    `<think>` within the content: the server runs without a reasoning parser.
    """
    routes = openai((200, completion(content="<think>They want OK.</think>OK")))

    for wanted, verdict in ((None, PASS), (True, FAIL), (False, FAIL)):
        finding, _ = asked(routes, reasoning=wanted)
        assert finding.verdict is verdict
        assert "reasoning inside the content" in finding.reason


def test_a_budget_spent_on_reasoning_is_its_own_word():
    """
    Reasoning that used up the tokens is no silence: the engine works, and the reason says that content was not seen.
    """
    message = {"content": None, "reasoning": "The user wants", "finish": "length", "tokens": 16}
    finding, _ = asked(openai((200, completion(**message))), reasoning=True)

    assert finding.verdict is PASS
    assert finding.facts["word"] == "budget_spent_on_reasoning"
    assert "budget spent on reasoning, no content seen (16 tokens)" in finding.reason
    assert "tokens=" in finding.warnings[0]


@pytest.mark.parametrize(
    "body",
    [
        completion(content=""),
        completion(content=None, finish="length"),
        {"choices": []},
        {},
        [],
        "not json at all",
        {"error": {"message": "engine dead"}},
        {"object": "error", "message": "engine dead"},
        {"choices": [{"message": {"content": 7}}]},
        {"choices": "?"},
    ],
)
def test_an_answer_without_text_fails(body):
    """
    Status 200 without any generated text is FAIL, whatever else the body holds.
    """
    finding, _ = asked(openai((200, body)))

    assert finding.verdict is FAIL


WORDS = ["id", "data", "model", "choices", "message", "content", "reasoning", "usage", "finish_reason", "error", "text"]
ANY = st.recursive(
    st.sampled_from([None, True, 0, 1.5, "", "x", "kimi-k2", {"content": "OK"}, [{"message": {"content": "OK"}}]]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
    max_leaves=10,
)


@given(st.just(MODELS) | ANY, ANY)
def test_whatever_json_comes_there_is_a_finding(models, chat):
    """
    JSON of any shape leads to a finding, and passes only with text of the model asked.
    """
    bodies = {"/health": "", "/v1/models": models, "/v1/chat/completions": chat}

    def answered(url, within, secret=None, data=None):
        got = probe.Exchange(url)
        got.kind, got.status, got.body = "answered", 200, json.dumps(bodies[url.removeprefix("http://h")]).encode()
        return got

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(probe, "exchange", answered)
        finding = examine_here(HttpHealthy.openai("http://h/v1"))

    if finding.verdict is PASS:
        answer = finding.facts["answer"]
        assert answer["model"] == finding.facts["model"]
        assert any(answer[field] for field in ("content", "reasoning", "reasoning_content"))


def test_one_repeated_character_is_a_warning():
    """
    `!!!!!!!!` is what a model with broken weights or kernels says.
    """
    finding, _ = asked(openai((200, completion(content="!" * 16))))

    assert finding.verdict is PASS
    assert "repeats one character" in finding.warnings[0]


def test_what_one_server_refuses_another_demands():
    """
    A refused form of the request is asked again in the next: max_completion_tokens, then a plain completion.
    """

    def newer(handler):
        good = "max_completion_tokens" in handler.sent
        return (200, completion(content="OK")) if good else (400, "Unsupported parameter: 'max_tokens'")

    base = {"/v1/completions": (200, {"model": "kimi-k2", "choices": [{"text": "OK", "finish_reason": "length"}]})}
    assert asked(openai(newer))[0].verdict is PASS
    finding, _ = asked(openai((400, "no chat template"), **base))
    assert finding.verdict is PASS
    assert finding.facts["way"] == "/completions"


@pytest.mark.parametrize(
    ("status", "cause"), [(400, Cause.AMBIGUOUS), (429, Cause.AMBIGUOUS), (401, Cause.AUTH_FAILED)]
)
def test_a_refused_request_settles_nothing(status, cause):
    """
    A server that refuses the request itself has not shown its engine: UNKNOWN.
    """
    finding, _ = asked(openai((status, "no")))

    assert (finding.verdict, finding.cause) == (UNKNOWN, cause)


def test_the_token_goes_to_every_step_and_no_report(monkeypatch):
    """
    All requests carry the token, and the finding does not, though the server quotes it.
    """
    monkeypatch.setenv("VERIKIT_TEST_TOKEN", SECRET)
    finding, requests = asked(
        openai((200, completion(content=f"OK {SECRET}"))), token_env="VERIKIT_TEST_TOKEN", model="kimi-k2"
    )

    assert finding.verdict is PASS
    assert {headers["Authorization"] for _, _, headers, _ in requests} == {f"Bearer {SECRET}"}
    assert SECRET not in repr(finding)


def test_the_check_is_a_value():
    """
    Its repr rebuilds it by the name under which it is documented, and it pickles.
    """
    check = HttpHealthy.openai("http://127.0.0.1:8000/v1/", model="kimi-k2", reasoning=True)

    assert repr(check) == "HttpHealthy.openai('http://127.0.0.1:8000/v1', model='kimi-k2', reasoning=True)"
    assert eval(repr(check), {"HttpHealthy": HttpHealthy}) == check
    assert pickle.loads(pickle.dumps(check)) == check
    assert HttpHealthy.openai is OpenAIHealthy


def test_through_the_agent(monkeypatch):
    """
    Asked by the host's agent: the token comes from here, and the report does not tell it.
    """
    monkeypatch.setenv("VERIKIT_TEST_TOKEN", SECRET)
    routes = openai((200, completion(content=f"OK {SECRET}", reasoning="hm")))
    with serving(routes) as server:
        report = verify(HttpHealthy.openai(server.url + "/v1", reasoning=True, token_env="VERIKIT_TEST_TOKEN"))
        hangs = verify(HttpHealthy(f"http://127.0.0.1:{unused()}/") | HttpHealthy(server.url + "/none"))

    assert report.passed
    assert hangs.failed
    assert server.requests[0][2]["Authorization"] == f"Bearer {SECRET}"
    assert SECRET not in report.to_json() + str(report)
