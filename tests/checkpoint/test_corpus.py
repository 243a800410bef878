"""CheckpointIntact on the corpus: what is good is never refused, what is broken never passes at the depth that shows it."""

from __future__ import annotations

import hashlib

import corpus
import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from verikit import FAIL, PASS, UNKNOWN, Cause
from verikit.checks.checkpoint import CheckpointIntact
from verikit.testing.here import examine_here

DEPTHS = ("size", "structure", "content", "sealed")

# Kinds whose records carry a checksum.
CHECKED = ("zip", "script", "rezipped", "folder of ZIPs")


@pytest.mark.parametrize("name", corpus.GOOD)
def test_good(tmp_path, name):
    """
    A good checkpoint passes at size and at structure; at content it passes where it has checksums, and never fails.
    """
    good = corpus.GOOD[name]
    path = good.write(tmp_path)

    size, structure, content = (
        examine_here(CheckpointIntact(path, depth=depth, allow=good.allow)) for depth in DEPTHS[:3]
    )

    assert (size.verdict, structure.verdict) == (PASS, PASS), (size.reason, structure.reason)
    assert "not compared" in structure.reason
    assert content.verdict is (PASS if good.kind in CHECKED else UNKNOWN), content.reason
    assert content.cause in (None, Cause.NOTHING_SEEN)


@pytest.mark.parametrize("name", [name for name, good in corpus.GOOD.items() if "folder" not in good.kind])
def test_damage(tmp_path, name):
    """
    A damaged file fails at the depth that can show the damage, never passes above it, and fails against its digest.
    """
    good = corpus.GOOD[name]
    path = good.write(tmp_path)
    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    wrong = []

    for damage, (change, shown) in corpus.DAMAGE.items():
        path.write_bytes(changed := change(data))
        if changed == data:
            continue
        for depth in DEPTHS[DEPTHS.index(shown[good.kind]) : 3]:
            finding = examine_here(CheckpointIntact(path, depth=depth, allow=good.allow))
            # Without a suffix, and without a head that shows a format, nothing says that it should be a checkpoint.
            nameless = finding.cause is Cause.UNSUPPORTED and not path.suffix
            if finding.verdict is not FAIL and not nameless:
                wrong.append((damage, depth, finding.verdict, finding.reason))
        sealed = examine_here(CheckpointIntact(path, digest=digest, allow=good.allow))
        if sealed.verdict is PASS:
            wrong.append((damage, "sealed", sealed.verdict, sealed.reason))

    assert not wrong


@pytest.mark.parametrize("name", corpus.FAULTS)
def test_fault(tmp_path, name):
    """
    A checkpoint that is wrong in one way fails at structure, and the reason says which.
    """
    fault = corpus.FAULTS[name]

    finding = examine_here(CheckpointIntact(fault.write(tmp_path), depth=fault.depth))

    assert finding.verdict is FAIL, finding.reason
    assert fault.word in finding.reason


@pytest.mark.parametrize("name", corpus.evil("marker"))
@pytest.mark.parametrize("where", ["alone", "in a ZIP", "in a legacy file"])
def test_evil(tmp_path, name, where):
    """
    A pickle that would do harm fails, says what it would do, and does nothing, alone or inside of torch's files.
    """
    marker = tmp_path / "marker"
    path = _placed(tmp_path, corpus.evil(str(marker))[name], where)

    finding = examine_here(CheckpointIntact(path))

    assert finding.verdict is FAIL, finding.reason
    assert "unsafe pickle: would" in finding.reason
    assert not marker.exists()


def _placed(folder, data, where):
    if where == "in a ZIP":
        return corpus.rebuilt(lambda records: {**records, "data.pkl": data})(folder)
    if where == "in a legacy file":
        good = corpus.legacy(lambda: {"step": 3})(folder)
        whole = good.read_bytes()
        at = whole.index(b"\x80\x02}q\x00X\x04\x00\x00\x00stepq")
        good.write_bytes(whole[:at] + data)
        return good
    path = folder / "state.pkl"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    "name", ["training state", "legacy", "tar", "pickle, protocol 4", "safetensors", "TorchScript"]
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_bytes(tmp_path, name, data):
    """
    Whatever is put in its place, a look ends with a finding of its own.
    """
    path = corpus.GOOD[name].write(tmp_path)
    whole = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(whole) - 1))
        new = data.draw(st.binary(max_size=8))
        whole[at : at + data.draw(st.integers(0, 8))] = new
    path.write_bytes(whole)

    finding = examine_here(CheckpointIntact(path, depth="content"))

    assert finding.cause is not Cause.PROBE_ERROR, finding.facts
