"""Manifests: sealed here, held against a checkpoint there; checksum files, the hub's lists and model-signing as input."""

from __future__ import annotations

import base64
import hashlib
import json
import pickle
import shutil
import subprocess

import format_writers as w
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from verikit import verify
from verikit.checks.checkpoint import CheckpointIntact
from verikit.errors import Cause, Unseen
from verikit.manifest import Manifest, seal
from verikit.probes import content, digests
from verikit.probes import manifest as probe
from verikit.probes.place import CannotSee, Place
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS, UNKNOWN


def look(path, **claims):
    return examine_here(CheckpointIntact(str(path), **claims))


def sealed(path, **options):
    """What `seal` gives, its probe run in this process."""
    return Manifest(probe.seal(Place(), str(path), **options))


@pytest.fixture
def checkpoint(tmp_path):
    path = tmp_path / "step20k.pt"
    torch.save({"model_state_dict": {**w.state(), "large": torch.zeros(20_000)}, "step": 20000}, path)
    return path


def harm(path):
    """Turns one bit in the middle, where only the elements of a tensor are."""
    w.flip(path, path.stat().st_size // 2)


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


# Sealing.


def test_seal_and_relay(checkpoint, tmp_path):
    """
    What `seal` says of a checkpoint passes on a faithful copy under another name, and fails on one with a turned bit.
    """
    manifest = seal(checkpoint)
    copy = tmp_path / "copy.pt"
    shutil.copy(checkpoint, copy)

    assert look(copy, manifest=manifest).verdict is PASS

    harm(copy)
    found = look(copy, manifest=manifest)
    assert found.verdict is FAIL
    assert "sha256" in found.reason


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_flipped_bit_of_a_sealed_file(tmp_path, data):
    """
    A sealed file passes with no bit turned, wherever it is: padding too.
    """
    path = tmp_path / "x.gguf"
    w.gguf(path, tensors=w.gguf_tensors())
    manifest = sealed(path)

    w.flip(path, data.draw(st.integers(0, path.stat().st_size - 1)), data.draw(st.integers(0, 7)))

    assert look(path, manifest=manifest).verdict is FAIL


def test_what_only_a_manifest_shows(tmp_path):
    """
    Another checkpoint of the same layout, an older one say, passes at content, and fails with the manifest.
    """
    path, other = tmp_path / "x.pt", tmp_path / "y.pt"
    torch.save(w.state(1), path)
    torch.save(w.state(2), other)
    manifest = sealed(path)
    shutil.copy(other, path)

    assert look(path, depth="content").verdict is PASS
    assert look(path, manifest=manifest).verdict is FAIL


def test_folder(tmp_path):
    """
    A sealed folder: a file that is missing, short, changed or added is named.
    """
    path = w.trainer(tmp_path / "checkpoint-500")
    manifest = sealed(path)
    assert look(path, manifest=manifest).verdict is PASS

    shutil.copy(path / "model.safetensors", path / "model-2.safetensors")
    assert "model-2.safetensors: not in the manifest" in look(path, manifest=manifest).reason
    (path / "model-2.safetensors").unlink()

    (path / "notes.txt").write_text("mine")
    found = look(path, manifest=manifest)
    assert found.verdict is PASS
    assert any("notes.txt" in warning for warning in found.warnings)

    (path / "config.json").write_text("{}")
    assert "config.json" in look(path, manifest=manifest).reason


def test_where_the_bytes_differ(tmp_path):
    """
    The reason tells how many blocks differ and where the first is.
    """
    path = tmp_path / "x.pt"
    torch.save({"w": torch.zeros(200_000)}, path)
    manifest = sealed(path)
    w.flip(path, 300_000)

    found = look(path, manifest=manifest)

    assert f"1 of {-(-path.stat().st_size // 65536)} blocks differ, the first from byte 262,144 on" in found.reason


def test_what_is_known_beside_the_bytes(checkpoint):
    """
    A manifest tells format, number of tensors, top-level keys and the step, by the checkpoint's own word.
    """
    manifest = seal(checkpoint)

    assert manifest.layout["formats"] == ("torch_zip",)
    assert manifest.layout["tensors"] == 4
    assert set(manifest.layout["tree"]) == {"model_state_dict", "step"}
    assert (manifest.step, manifest.name) == (20000, "step20k.pt")


def test_sealing_what_is_broken(checkpoint):
    """
    A manifest of a broken checkpoint says so, wherever it is used.
    """
    w.append(checkpoint)

    manifest = seal(checkpoint)

    assert any("broken when it was sealed" in note for note in manifest["notes"])


def test_write_beside(checkpoint):
    """
    `write=True` puts the manifest beside the checkpoint, and nothing else does; its path is an expectation too.
    """
    seal(checkpoint)
    assert [path.name for path in checkpoint.parent.iterdir()] == ["step20k.pt"]

    manifest = seal(checkpoint, write=True)
    written = checkpoint.parent / "step20k.pt.verikit.json"

    assert look(checkpoint, manifest=str(written)).verdict is PASS
    assert Manifest.read(written).files == manifest.files
    harm(checkpoint)
    assert look(checkpoint, manifest=str(written)).verdict is FAIL


def test_manifest_is_a_value(checkpoint):
    """
    A manifest compares and hashes by its content, and its repr, its JSON and its pickle rebuild it.
    """
    manifest = seal(checkpoint)

    assert manifest.step == 20000
    assert manifest.size == checkpoint.stat().st_size
    assert manifest.tool.startswith("verikit ")
    for other in (
        eval(repr(manifest)),
        Manifest.from_json(manifest.to_json()),
        Manifest.from_dict(manifest.to_dict()),
        pickle.loads(pickle.dumps(manifest)),
    ):
        assert (other, hash(other)) == (manifest, hash(manifest))
    with pytest.raises(AttributeError):
        manifest.form = {}


def test_a_claim_with_a_manifest_is_a_value(checkpoint):
    """
    A check that holds a manifest round-trips through repr, pickle and to_dict.
    """
    claim = CheckpointIntact(str(checkpoint), manifest=seal(checkpoint))

    assert eval(repr(claim)) == claim
    assert pickle.loads(pickle.dumps(claim)) == claim
    assert type(claim).from_dict(json.loads(json.dumps(claim.to_dict()))) == claim


def test_seal_of_nothing(tmp_path):
    """
    What is not there can't be sealed: Unseen, with its cause.
    """
    with pytest.raises(Unseen) as caught:
        seal(tmp_path / "none.pt")

    assert caught.value.cause is Cause.MISSING


# Checksum files.


def gnu(path, name=None):
    return f"{sha256(path)}  {name or path.name}\n"


FORMS = {
    "sha256sum": lambda p: gnu(p),
    "sha256sum -b": lambda p: f"{sha256(p)} *{p.name}\n",
    "sha256sum --tag": lambda p: f"SHA256 ({p.name}) = {sha256(p)}\n",
    "sha256sum ./": lambda p: gnu(p, f"./{p.name}"),
    "sha256sum of many": lambda p: f"{'0' * 64}  other.pt\n" + gnu(p),
    "sha256sum with comment": lambda p: "# made by hand\n\n" + gnu(p),
    "sha256sum by Windows": lambda p: gnu(p).replace("\n", "\r\n"),
    "md5sum": lambda p: f"{hashlib.md5(p.read_bytes()).hexdigest()}  {p.name}\n",
    "sha1sum": lambda p: f"{hashlib.sha1(p.read_bytes()).hexdigest()}  {p.name}\n",
    "sha512sum": lambda p: f"{hashlib.sha512(p.read_bytes()).hexdigest()}  {p.name}\n",
    "LFS pointer": lambda p: (
        f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256(p)}\nsize {p.stat().st_size}\n"
    ),
    "hub's list": lambda p: json.dumps(
        [
            {
                "type": "file",
                "path": p.name,
                "size": 1,
                "oid": "a" * 40,
                "lfs": {"oid": sha256(p), "size": p.stat().st_size},
            }
        ]
    ),
    "hub's list of small files": lambda p: json.dumps([{"path": p.name, "oid": w.git_id(p.read_bytes())}]),
    "hub's model info": lambda p: json.dumps(
        {"siblings": [{"rfilename": p.name, "lfs": {"sha256": sha256(p), "size": p.stat().st_size}}]}
    ),
    "a mapping": lambda p: json.dumps({p.name: "sha256:" + sha256(p)}),
}


@pytest.mark.parametrize("name", FORMS)
def test_forms_of_expectations(checkpoint, tmp_path, name):
    """
    Whatever form the digests come in: right ones pass, wrong ones fail.
    """
    sums = tmp_path / "sums"
    sums.write_text(FORMS[name](checkpoint))

    assert look(checkpoint, manifest=str(sums)).verdict is PASS

    harm(checkpoint)
    found = look(checkpoint, manifest=str(sums))
    assert found.verdict is FAIL
    assert "expected" in found.reason


def test_name_with_a_newline(tmp_path):
    """
    sha256sum's escaped names are understood, as sha256sum itself writes them.
    """
    path = tmp_path / "a\nb\\c.pt"
    torch.save(w.state(), path)
    sums = tmp_path / "sums"
    sums.write_bytes(subprocess.run(["sha256sum", path.name], cwd=tmp_path, capture_output=True, check=True).stdout)

    assert look(path, manifest=str(sums)).verdict is PASS


def test_sums_of_a_folder_made_one_higher(tmp_path):
    """
    Sums taken one folder higher (`sha256sum run/*`) fit the folder `run`.
    """
    path = w.peft(tmp_path / "run")
    sums = tmp_path / "sums"
    sums.write_text("".join(gnu(each, f"run/{each.name}") for each in path.iterdir()))

    assert look(path, manifest=str(sums)).verdict is PASS


def test_sums_that_say_nothing_of_it(checkpoint, tmp_path):
    """
    Sums of other files are UNKNOWN, nothing_seen: never a pass.
    """
    sums = tmp_path / "sums"
    sums.write_text(f"{'0' * 64}  a.pt\n{'1' * 64}  b.pt\n")

    found = look(checkpoint, manifest=str(sums))

    assert (found.verdict, found.cause) == (UNKNOWN, Cause.NOTHING_SEEN)


def test_sums_that_leave_the_folder(tmp_path):
    """
    Lines that lead out of the folder are UNKNOWN, ambiguous, and no such file is read.
    """
    path = w.peft(tmp_path / "run")
    sums = tmp_path / "sums"
    sums.write_text(f"{'0' * 64}  ../../etc/passwd\n{'0' * 64}  a\n")

    assert look(path, manifest=str(sums)).cause is Cause.AMBIGUOUS


@pytest.mark.parametrize("text", ["", "hello\n", "{}", '{"schema": "other/1"}', "[1, 2]", '{"files": 3}', "[" * 100000])
def test_no_manifest(checkpoint, tmp_path, text):
    """
    A file that is no manifest is UNKNOWN, unsupported.
    """
    sums = tmp_path / "sums"
    sums.write_text(text)

    found = look(checkpoint, manifest=str(sums))

    assert (found.verdict, found.cause) == (UNKNOWN, Cause.UNSUPPORTED)


def test_blake3(checkpoint, tmp_path):
    """
    b3sum files are known by their name; where the host can't compute BLAKE3, that is UNKNOWN, unsupported.
    """
    sums = tmp_path / "model.b3"
    sums.write_text(f"{'0' * 64}  {checkpoint.name}\n")
    able = Place().accelerator("blake3") or shutil.which("b3sum")

    found = look(checkpoint, manifest=str(sums))

    expected = (FAIL, None) if able else (UNKNOWN, Cause.TOOL_MISSING)
    assert (found.verdict, found.cause) == expected


@pytest.mark.parametrize("form", ["sha256:{}", "{}", "SHA256:{}"])
def test_digest(checkpoint, form):
    """
    `digest=` takes a digest with its name or without.
    """
    digest = form.format(sha256(checkpoint))

    assert look(checkpoint, digest=digest).verdict is PASS
    harm(checkpoint)
    assert look(checkpoint, digest=digest).verdict is FAIL


def test_git_id(tmp_path):
    """
    Forty digits are SHA-1 or the id that git and the hub give; either passes.
    """
    path = tmp_path / "x.pt"
    torch.save(w.state(), path)

    for digest in (w.git_id(path.read_bytes()), hashlib.sha1(path.read_bytes()).hexdigest()):
        assert look(path, digest=digest).verdict is PASS
    assert look(path, digest="0" * 40).verdict is FAIL


@pytest.mark.parametrize("digest", ["sha256:abc", "xyz", "a" * 63, "nosuch:" + "a" * 64, ""])
def test_no_digest(digest):
    """
    What is no digest is refused where the check is built.
    """
    with pytest.raises(ValueError, match="digest"):
        CheckpointIntact("x.pt", digest=digest)


# model-signing.


def statement(path, *, shards=None):
    rows = []
    for each in sorted(path.iterdir()):
        data = each.read_bytes()
        for begin in range(0, len(data), shards or len(data)):
            part = data[begin : begin + (shards or len(data))]
            name = each.name if not shards else f"{each.name}:{begin}:{begin + len(part)}"
            rows.append({"name": name, "algorithm": "sha256", "digest": hashlib.sha256(part).hexdigest()})
    root = hashlib.sha256(b"".join(bytes.fromhex(row["digest"]) for row in rows)).hexdigest()
    how = {"method": "shards" if shards else "files", "hash_type": "sha256", "allow_symlinks": False}
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": path.name, "digest": {"sha256": root}}],
        "predicateType": "https://model_signing/signature/v1.0",
        "predicate": {"serialization": {**how, "ignore_paths": ["model.sig"]}, "resources": rows},
    }


def bundle(value):
    payload = base64.b64encode(json.dumps(value).encode()).decode()
    envelope = {"payload": payload, "payloadType": "application/vnd.in-toto+json", "signatures": []}
    return {"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json", "dsseEnvelope": envelope}


@pytest.mark.parametrize("shards", [None, 100])
def test_model_signing(tmp_path, shards):
    """
    An OpenSSF model-signing bundle is an expectation, by files or by shards; that its signature was not verified is said.
    """
    path = w.peft(tmp_path / "run")
    signed = tmp_path / "model.sig"
    signed.write_text(json.dumps(bundle(statement(path, shards=shards))))

    found = look(path, manifest=str(signed))
    assert found.verdict is PASS, found.reason
    assert any("signature was not verified" in warning for warning in found.warnings)

    w.flip(path / "adapter_config.json", 5)
    found = look(path, manifest=str(signed))
    assert found.verdict is FAIL
    assert "adapter_config.json" in found.reason


def test_model_signing_of_a_longer_file(tmp_path):
    """
    A file that goes on behind its last shard fails.
    """
    path = w.peft(tmp_path / "run")
    value = statement(path, shards=100)
    w.append(path / "adapter_model.safetensors")

    assert look(path, manifest=value).verdict is FAIL


def test_model_signing_that_contradicts_itself(tmp_path):
    """
    A statement whose root digest is not that of its resources is refused.
    """
    path = w.peft(tmp_path / "run")
    value = statement(path)
    value["predicate"]["resources"].pop()

    with pytest.raises(ValueError, match="contradicts itself"):
        Manifest(value)


# Digests.


@given(data=st.binary(max_size=3000), block=st.integers(1, 700))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_digests(tmp_path, data, block):
    """
    All digests of one pass are those of hashlib, whatever the blocks; there is one CRC for each block.
    """
    path = tmp_path / "x"
    path.write_bytes(data)

    found = content.digest_file(Place(), str(path), digests.Wanted(("sha256", "git-sha1", "crc32"), block, ()))

    assert found["digests"]["sha256"] == hashlib.sha256(data).hexdigest()
    assert found["digests"]["git-sha1"] == w.git_id(data)
    assert len(found["blocks"]) == -(-len(data) // block)


def test_unknown_digest(tmp_path):
    """
    A digest that no host can compute is `unsupported`.
    """
    (tmp_path / "x").write_bytes(b"x")

    with pytest.raises(CannotSee) as caught:
        content.digest_file(Place(), str(tmp_path / "x"), digests.Wanted(("whirlpool",), 0, ()))

    assert caught.value.cause == "unsupported"


def test_a_folder_that_links_to_itself(tmp_path):
    """
    A folder that links to itself is sealed once.
    """
    path = w.peft(tmp_path / "run")
    (path / "again").symlink_to(path)

    assert sorted(row["path"] for row in sealed(path).files) == ["adapter_config.json", "adapter_model.safetensors"]


def test_relay_between_two_hosts(loopback, checkpoint, tmp_path):
    """
    Sealed on one host and compared on another: only digests cross the network.
    """
    origin, target = loopback.addresses
    copy = tmp_path / "copy.pt"
    shutil.copy(checkpoint, copy)

    claim = CheckpointIntact(str(copy), manifest=seal(checkpoint, on=origin)).on(target)

    assert verify(claim).verdict is PASS
    harm(copy)
    assert verify(claim).verdict is FAIL


def test_one_host_is_sealed_at_a_time(loopback, checkpoint):
    """
    Several hosts may hold several checkpoints: sealing takes one.
    """
    with pytest.raises(ValueError, match="one host"):
        seal(checkpoint, on=loopback.addresses)
