"""The claim itself: its fields, its reasons, its bounds."""

from __future__ import annotations

import datetime
import json
import os
import pickle
import struct

import corpus
import pytest
import torch
from safetensors.torch import save_file

from verikit import FAIL, PASS, UNKNOWN, Cause, verify
from verikit.check import Check
from verikit.checks.checkpoint import CheckpointIntact
from verikit.testing.here import examine_here


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"depth": "deep"}, "depth is one of 'size', 'structure', 'content'; got 'deep'"),
        ({"size": -1}, "size is a number of bytes, at least 0; got -1"),
        ({"digest": "sha256:xyz"}, "digest: a digest is `sha256:` and 64 hex digits"),
        ({"digest": "ab" * 33}, "digest: "),
        ({"manifest": {"schema": "other/1"}}, "manifest: "),
        ({"keys": {}}, "keys names at least one"),
        ({"keys": {"model": -3}}, "keys['model'] is a number of entries"),
        ({"keys": "model", "depth": "size"}, "keys are read from the checkpoint's metadata"),
        ({"newer_than": float("nan")}, "newer_than is a number of seconds"),
        ({"newer_than": datetime.datetime(2024, 1, 1)}, "with its time zone"),
        ({"stable_for": 0}, "stable_for is a number of seconds, above 0; got 0"),
        ({"finite": True}, 'finite=True reads every value: it takes depth="content"'),
        ({"pickle": "unsafe"}, "pickle is one of 'safe', 'any'; got 'unsafe'"),
        ({"allow": "myteam.*"}, "no patterns; got 'myteam.*'"),
        ({"allow": ("eval",)}, "full dotted names"),
    ],
)
def test_wrong_use(fields, words):
    """
    Wrong use is a ValueError where the check is built: the argument, its value, and what it takes.
    """
    with pytest.raises(ValueError) as caught:
        CheckpointIntact("model.pt", **fields)

    assert words in str(caught.value)


@pytest.mark.parametrize("fields", [{"size": 1.5}, {"digest": 7}, {"keys": 5}, {"finite": 1}, {"newer_than": "now"}])
def test_wrong_type(fields):
    """
    A value of another type is a TypeError that names the argument.
    """
    with pytest.raises(TypeError, match=next(iter(fields))):
        CheckpointIntact("model.pt", **fields)


FULL = CheckpointIntact(
    "/data/step 20k.pt",
    depth="content",
    size=17_852_470_761,
    digest="AB" * 32,
    keys={"model_state_dict": ..., "optimizer": {"state": 12}},
    newer_than=datetime.datetime(2025, 1, 1, tzinfo=datetime.timezone.utc),
    stable_for=30,
    finite=True,
    pickle="any",
    allow="myteam.config.Config",
)


def test_value():
    """
    It is a value: repr, pickle and dict give it back, it hashes, and building it looked at nothing.
    """
    assert eval(repr(FULL), {"CheckpointIntact": CheckpointIntact}) == FULL
    assert pickle.loads(pickle.dumps(FULL)) == FULL
    assert Check.from_dict(json.loads(json.dumps(FULL.to_dict()))) == FULL
    assert len({FULL, eval(repr(FULL))}) == 1
    assert FULL.digest == "sha256:" + "ab" * 32


def test_keys_are_one_form():
    """
    A name, names and a mapping to `…` say the same.
    """
    assert (
        CheckpointIntact("a", keys="m") == CheckpointIntact("a", keys=["m"]) == CheckpointIntact("a", keys={"m": ...})
    )


# What it says.


@pytest.mark.parametrize("name", ["absent.pt", "absent/model.pt", "absent*.pt"])
def test_missing(tmp_path, name):
    """
    A checkpoint that is not there is a FAIL, by name, in a folder that is not there, or under a glob.
    """
    finding = examine_here(CheckpointIntact(tmp_path / name))

    assert finding.verdict is FAIL
    assert "there is no" in finding.reason or "nothing matches" in finding.reason


def test_folder_without_a_checkpoint(tmp_path):
    """
    A folder whose files are no checkpoint is UNKNOWN, nothing_seen: nothing looked at is never a pass.
    """
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "README.md").write_text("hello")

    finding = examine_here(CheckpointIntact(tmp_path))

    assert (finding.verdict, finding.cause) == (UNKNOWN, Cause.NOTHING_SEEN)


def test_size_depth_reads_nothing(tmp_path):
    """
    At size depth no byte is read, and the reason says so.
    """
    path = corpus.torch_zip(corpus.tensors)(tmp_path)

    finding = examine_here(CheckpointIntact(path, depth="size", size=path.stat().st_size))

    assert finding.verdict is PASS
    assert finding.reason.endswith("only sizes were looked at, no byte was read")
    assert finding.facts["coverage"]["bytes"] == (0, path.stat().st_size)


@pytest.mark.parametrize("depth", ["size", "structure", "content"])
@pytest.mark.parametrize("off", [-1, 1, 10**9])
def test_other_size(tmp_path, depth, off):
    """
    Another size than the expected is a FAIL at every depth, with both numbers.
    """
    path = corpus.torch_zip(corpus.tensors)(tmp_path)
    size = path.stat().st_size

    finding = examine_here(CheckpointIntact(path, depth=depth, size=size + off))

    assert finding.verdict is FAIL
    assert f"{size:,}" in finding.reason
    assert f"{size + off:,}" in finding.reason


def test_pass_at_structure_says_its_limit(tmp_path):
    """
    A PASS at structure says that tensor bytes were not compared, and how many were read.
    """
    finding = examine_here(CheckpointIntact(corpus.torch_zip(corpus.tensors)(tmp_path)))

    assert "6 tensors (torch_zip), structure complete; tensor bytes were not compared" in finding.reason
    assert finding.facts["coverage"]["depth"] == "structure"


def test_team_class(tmp_path):
    """
    A class of the team's own is UNKNOWN, ambiguous, and the reason holds the line that settles it; any name may be a warning.
    """
    path = corpus.torch_zip(lambda: {"config": corpus.Config(), "w": torch.ones(2)})(tmp_path)

    finding, allowed, any_name = (
        examine_here(CheckpointIntact(path, **more)) for more in ({}, {"allow": corpus.OWN}, {"pickle": "any"})
    )

    assert (finding.verdict, finding.cause) == (UNKNOWN, Cause.AMBIGUOUS)
    assert f"allow=({corpus.OWN!r},) settles it" in finding.reason
    assert allowed.verdict is PASS
    assert any_name.verdict is PASS
    assert any(corpus.OWN in warning for warning in any_name.warnings)
    assert finding.facts["pickle"]["globals"][corpus.OWN]["use"] in ("called", "constructed")


def test_any_pickle_is_a_claim_about_bytes(tmp_path):
    """
    pickle="any" makes what a pickle would do a warning, and claims the bytes only.
    """
    data = corpus.evil(str(tmp_path / "marker"))["os.system"]
    (tmp_path / "state.pkl").write_bytes(data)

    finding = examine_here(CheckpointIntact(tmp_path / "state.pkl", pickle="any"))

    assert finding.verdict is PASS
    assert "the pickle would call os.system" in finding.warnings


def test_keys(tmp_path):
    """
    Keys are claimed by name, by number of entries, and beneath each other; what is lacking is named beside what is there.
    """
    path = corpus.torch_zip(lambda: {"model": {"w": torch.ones(2), "b": torch.ones(1)}, "step": 7})(tmp_path)
    claim = lambda keys: examine_here(CheckpointIntact(path, keys=keys))  # noqa: E731

    assert claim(["model", "step"]).verdict is PASS
    assert claim({"model": 2, "step": ...}).verdict is PASS
    assert claim({"model": {"w": ...}}).verdict is PASS
    assert "key 'model' has 2 entries, 3 expected" in claim({"model": 3}).reason
    assert "there is no key 'optimizer'; its top-level keys: model, step" in claim("optimizer").reason
    assert "there is no key 'model.v'" in claim({"model": {"v": ...}}).reason


def test_newer_than(tmp_path):
    """
    Written before the given time it is a FAIL, with both times.
    """
    path = corpus.torch_zip(corpus.tensors)(tmp_path)
    os.utime(path, (1_700_000_000, 1_700_000_000))

    old = examine_here(CheckpointIntact(path, newer_than=1_700_000_000))
    new = examine_here(CheckpointIntact(path, newer_than=1_699_999_999))

    assert old.reason.endswith("last written 2023-11-14 22:13:20 UTC, not after 2023-11-14 22:13:20 UTC")
    assert new.verdict is PASS


def test_glob(tmp_path):
    """
    Under a glob every match is claimed; one broken file is the FAIL, named.
    """
    for name in ("a.pt", "b.pt"):
        torch.save(corpus.tensors(), tmp_path / name)
    good = examine_here(CheckpointIntact(tmp_path / "*.pt"))
    (tmp_path / "b.pt").write_bytes((tmp_path / "b.pt").read_bytes()[:900])

    finding = examine_here(CheckpointIntact(tmp_path / "*.pt"))

    assert good.verdict is PASS
    assert "2 files" in good.reason
    assert finding.verdict is FAIL
    assert "b.pt: truncated" in finding.reason


@pytest.mark.parametrize("save", [torch.save, save_file], ids=["torch", "safetensors"])
def test_nothing_in_any_tensor(tmp_path, save):
    """
    A file none of whose tensors has an element passes with a warning; one that has some empty ones needs none.
    """
    save({"a": torch.zeros(0), "b": torch.zeros(0, 4)}, tmp_path / "none.bin")
    save({"a": torch.zeros(0), "b": torch.ones(4)}, tmp_path / "some.bin")

    none, some = (examine_here(CheckpointIntact(tmp_path / f"{name}.bin")) for name in ("none", "some"))

    assert (none.verdict, some.verdict, some.warnings) == (PASS, PASS, ())
    assert any("none of its 2 tensors has an element" in warning for warning in none.warnings)


def test_links_are_followed(tmp_path):
    """
    A symlink to a checkpoint is the checkpoint; one that leads nowhere is missing; a loop is UNKNOWN.
    """
    path = corpus.torch_zip(corpus.tensors)(tmp_path)
    (tmp_path / "link.pt").symlink_to(path)
    (tmp_path / "dangling.pt").symlink_to(tmp_path / "nothing")
    (tmp_path / "loop.pt").symlink_to(tmp_path / "loop.pt")
    verdicts = [
        examine_here(CheckpointIntact(tmp_path / f"{name}.pt")).verdict for name in ("link", "dangling", "loop")
    ]

    assert verdicts == [PASS, FAIL, UNKNOWN]


# Bounds.


def test_fifo_and_device(tmp_path):
    """
    A FIFO and a device are refused without being opened.
    """
    os.mkfifo(tmp_path / "model.safetensors")

    for path in (tmp_path / "model.safetensors", "/dev/zero"):
        for depth in ("size", "structure", "content"):
            assert examine_here(CheckpointIntact(path, depth=depth)).cause is Cause.UNSUPPORTED


def test_directory_of_more_records_than_there_are(tmp_path):
    """
    An end record that claims 10^12 records, or a directory of 2^60 bytes, is a fault that costs nothing.
    """
    data = corpus.torch_zip(corpus.tensors)(tmp_path).read_bytes()
    at = data.rindex(b"PK\6\6")
    for offset, number in ((24, 10**12), (32, 10**12), (40, 1 << 60), (48, 1 << 60)):
        (tmp_path / "x.pt").write_bytes(data[: at + offset] + struct.pack("<Q", number) + data[at + offset + 8 :])

        assert examine_here(CheckpointIntact(tmp_path / "x.pt")).verdict is FAIL


def test_large_file_of_few_bytes(tmp_path):
    """
    Of a sparse file of 20 GB only its metadata is read: less than 1 MiB.
    """
    size = 20_000_000_000
    header = json.dumps({"w": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}).encode()
    with open(tmp_path / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(8 + len(header) + size)

    finding = examine_here(CheckpointIntact(tmp_path / "model.safetensors"))

    assert finding.verdict is PASS
    assert finding.facts["read"] < 1 << 20


def test_facts_stay_small(tmp_path):
    """
    The facts about 20,000 tensors, or 300 broken files, are kilobytes.
    """
    rows = {f"t{n}": {"dtype": "F16", "shape": [1], "data_offsets": [2 * n, 2 * n + 2]} for n in range(20_000)}
    corpus.header(lambda _: rows, data=b"\1" * 40_000)(tmp_path)
    many = tmp_path / "many"
    many.mkdir()
    for number in range(300):
        (many / f"{number}.pt").write_bytes(b"PK\3\4 cut short")

    one, all_ = (examine_here(CheckpointIntact(path)) for path in (tmp_path / "model.safetensors", many))

    assert one.verdict is PASS
    assert len(str(dict(one.facts))) < 10_000
    assert all_.verdict is FAIL
    assert len(str(dict(all_.facts))) < 60_000


def test_through_the_agent(tmp_path):
    """
    The same through a real host: the modules of the formats travel with the look.
    """
    path = corpus.torch_zip(corpus._training)(tmp_path)

    report = verify(
        CheckpointIntact(path, depth="content", finite=True) & CheckpointIntact(corpus.safe(corpus.tensors)(tmp_path))
    )

    assert report.passed, str(report)
