"""The suites: compositions that a launch, a restart, a dump and a token data set are judged by."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from verikit import suites, verify
from verikit.check import Check, leaves
from verikit.testing import FakeHost
from verikit.verdict import FAIL, PASS, UNKNOWN

torch = pytest.importorskip("torch")


class Ok(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    """The URL of a server that is well."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Ok) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/health"
        server.shutdown()
        thread.join()


@pytest.fixture
def job(tmp_path):
    """A job that has written its log up to `ready` and works on: (process, path of the log)."""
    log = tmp_path / "serve.log"
    code = (
        "import sys\n"
        "log = open(sys.argv[1], 'w')\n"
        "print('model loaded, ready', file=log, flush=True)\n"
        "print('written', flush=True)\n"
        "sys.stdin.read()\n"
    )
    argv = [sys.executable, "-c", code, str(log)]
    child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"written\n"
    yield child, log
    child.stdin.close()
    child.stdout.close()
    child.kill()
    child.wait()


def test_after_launch_passes_when_all_is_well(job, server):
    """
    Log, process and server, each under its own title, on the host named.
    """
    child, log = job
    report = verify(suites.after_launch("local", log, process=child.pid, url=server, ready="model loaded, ready"))

    assert report.verdict is PASS
    for title in ("after launch", "the log is healthy", "the process is alive", "the server answers"):
        assert title in str(report)


def test_after_launch_fails_when_the_process_is_gone(job, server):
    """
    A log that says ready does not help a process that has died.
    """
    child, log = job
    child.kill()
    child.wait()
    report = verify(suites.after_launch("local", log, process=child.pid, url=server))

    assert report.verdict is FAIL
    assert f"no process has the number {child.pid}" in str(report)


def test_after_launch_asks_as_little_as_is_given():
    """
    Without process and URL the log is all; a URL that ends with /v1 is asked for a completion.
    """
    assert len(list(leaves(suites.after_launch("gpu01", "/data/a.log")))) == 1
    claim = suites.after_launch("gpu01", "/data/a.log", process="train.py", url="http://127.0.0.1:8000/v1")
    assert "HttpHealthy.openai(" in repr(claim)
    assert "ProcessAlive(pattern='train.py')" in repr(claim)
    assert Check.from_dict(json.loads(json.dumps(claim.to_dict()))) == claim


def test_before_restart(tmp_path):
    """
    The file parses, its imports are clean, and the port is free; otherwise its holder is named.
    """
    good, bad = tmp_path / "model.py", tmp_path / "broken.py"
    good.write_text("import os\n\nprint(os.sep)\n")
    bad.write_text("import os\ndef f(:\n")
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
        busy = verify(suites.before_restart("local", good, port=port))
    free = verify(suites.before_restart("local", good, port=port))

    assert (busy.verdict, free.verdict) == (FAIL, PASS)
    assert "is held by pid" in str(busy)
    assert verify(suites.before_restart("local", bad)).verdict is FAIL


@pytest.fixture
def dump(tmp_path):
    """A dump of four samples of layers 3, 31 and 59, by torch."""
    for sample in range(4):
        states = torch.randn(3, 5 + sample, 64).bfloat16()
        row = {"hidden_states": states, "input_ids": torch.arange(5 + sample), "layer_ids": [3, 31, 59]}
        torch.save(row, tmp_path / f"hs_{sample}.pt")
    return tmp_path


def dumped(dump, **fields):
    asked = {"layers": [3, 31, 59], "hidden": 64, "samples": 4, **fields}
    return verify(suites.hidden_states(dump / "hs_*.pt", **asked))


def test_hidden_states_pass(dump):
    """
    The right layers, width and number of samples pass, and a sample is said to be one.
    """
    report = dumped(dump)

    assert report.verdict is PASS
    assert "in the sample" in str(report)
    assert "hidden states of layers 3, 31, 59" in str(report)


def test_hidden_states_spread_over_hosts(dump):
    """
    With spread=True the samples are those of all hosts together.
    """
    hosts = [FakeHost("a"), FakeHost("b")]
    asked = {"layers": [3, 31, 59], "hidden": 64, "samples": 8}

    assert verify(suites.hidden_states(dump / "hs_*.pt", **asked, spread=True), on=hosts).passed
    assert verify(suites.hidden_states(dump / "hs_*.pt", **asked), on=hosts).failed


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"layers": [2, 30, 58]}, "[3, 31, 59], expected [2, 30, 58]"),
        ({"hidden": 128}, "64, expected 128"),
        ({"samples": 5}, "4, expected 5"),
        ({"layers": [3, 31]}, "3, expected 2"),
    ],
)
def test_hidden_states_fail(dump, fields, words):
    """
    Taps taken off by one, another width, a sample too few: each fails, saying what is and what should be.
    """
    report = dumped(dump, **fields)

    assert report.verdict is FAIL
    assert words in report.root.reason


def test_hidden_states_of_one_layer_twice(dump):
    """
    Two layers with equal states are one layer taken twice.
    """
    states = torch.randn(3, 5, 64).bfloat16()
    states[2] = states[0]
    torch.save({"hidden_states": states, "input_ids": torch.arange(5)}, dump / "hs_2.pt")

    assert dumped(dump, values="all").verdict is FAIL


def test_hidden_states_of_nothing(tmp_path):
    """
    No files are no pass.
    """
    assert dumped(tmp_path).verdict in (FAIL, UNKNOWN)


def test_token_dataset(tmp_path):
    """
    Ids from 0 to vocab - 1 pass; the vocabulary's size itself is one too many.
    """
    numpy = pytest.importorskip("numpy")
    numpy.save(tmp_path / "tokens_0.npy", numpy.arange(100, dtype=numpy.uint16))

    assert verify(suites.token_dataset(tmp_path / "tokens_*.npy", vocab=100)).verdict is PASS
    report = verify(suites.token_dataset(tmp_path / "tokens_*.npy", vocab=99))
    assert report.verdict is FAIL
    assert "range 0..99" in str(report)


@pytest.mark.parametrize("layers", [[], [3, 3], [-1]])
def test_layers_are_different_numbers(layers):
    """
    No layers, one twice, or a negative one: ValueError.
    """
    with pytest.raises(ValueError, match="layers"):
        suites.hidden_states("/data", layers=layers, hidden=8, samples=1)
