"""FileMatches: sizes and digests of real files."""

from __future__ import annotations

import hashlib
import os

import pytest

from verikit import verify
from verikit.checks.files import FileMatches
from verikit.errors import Cause
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS, UNKNOWN

DATA = b"weights" * 1000
DIGEST = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def file(tmp_path):
    (tmp_path / "a file").write_bytes(DATA)
    return tmp_path / "a file"


@pytest.mark.parametrize(
    ("fields", "verdict", "words"),
    [
        ({"size": 7000}, PASS, "content not read"),
        ({"sha256": DIGEST}, PASS, "as expected"),
        ({"sha256": f"sha256:{DIGEST.upper()}", "size": 7000}, PASS, "as expected"),
        ({"size": 7001}, FAIL, "6.8 KiB (7,000 bytes), expected 6.8 KiB (7,001 bytes)"),
        ({"sha256": "0" * 64}, FAIL, f"SHA-256 {DIGEST[:12]}…, expected 000000000000…"),
    ],
)
def test_size_and_digest(file, fields, verdict, words):
    """
    The right size or digest passes; a wrong one fails, saying both.
    """
    finding = examine_here(FileMatches(file, **fields))

    assert finding.verdict is verdict
    assert words in finding.reason


def test_a_wrong_size_spares_the_digest(file):
    """
    Where the size is wrong already, not a byte is read.
    """
    finding = examine_here(FileMatches(file, size=1, sha256=DIGEST))

    assert finding.verdict is FAIL
    assert finding.facts["coverage"] == {"bytes": 0, "of": 7000}


def test_one_changed_byte_fails(file):
    """
    The digest covers every byte.
    """
    data = bytearray(DATA)
    data[-1] ^= 1
    file.write_bytes(data)

    assert examine_here(FileMatches(file, size=7000, sha256=DIGEST)).verdict is FAIL


def test_a_missing_file_fails(tmp_path):
    """
    The claim includes that the file exists.
    """
    assert examine_here(FileMatches(tmp_path / "none", size=1)).verdict is FAIL


def test_what_is_no_file_is_unknown(tmp_path):
    """
    A folder, and a FIFO which would hang whoever opens it, are UNKNOWN.
    """
    os.mkfifo(tmp_path / "pipe")

    for path in (tmp_path, tmp_path / "pipe"):
        finding = examine_here(FileMatches(path, size=0, sha256=DIGEST))
        assert (finding.verdict, finding.cause) == (UNKNOWN, Cause.UNSUPPORTED)


def test_through_the_agent(file):
    """
    The claim travels: the same verdict through the host's agent.
    """
    assert verify(FileMatches(file, sha256=DIGEST)).passed


@pytest.mark.parametrize("fields", [{}, {"size": -1}, {"sha256": "abc"}, {"sha256": "g" * 64}])
def test_wrong_use_is_refused(fields):
    """
    Neither size nor digest, or a malformed one, is a ValueError.
    """
    with pytest.raises(ValueError):
        FileMatches("/data/x", **fields)
