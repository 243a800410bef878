"""Chat templates beside weights: what one in a JSON file or a file of its own reaches for is judged as in a GGUF."""

from __future__ import annotations

import hashlib
import json

import pytest
import torch
import torch.distributed.checkpoint
from safetensors.torch import save_file

from verikit import seal
from verikit.checks.checkpoint import CheckpointIntact
from verikit.errors import Cause
from verikit.testing.here import examine_here
from verikit.verdict import FAIL, PASS, UNKNOWN

HONEST = "{% for m in messages %}{{ '<|' + m['role'] + '|>' + m.content | trim }}{% endfor %}{# ''.__class__ #}"
EVIL = "{{ ''.__class__.__mro__[1].__subclasses__() }}"
COMPUTED = "{{ x|attr(y) }}"


def look(path, **claims):
    return examine_here(CheckpointIntact(str(path), **claims))


def model(folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    save_file({"w": torch.ones(3)}, folder / "model.safetensors")
    for name, text in {"config.json": "{}", **files}.items():
        (folder / name).write_text(text)
    return folder


PLACES = {
    "tokenizer_config.json": lambda text: {"tokenizer_config.json": json.dumps({"chat_template": text})},
    "one of several": lambda text: {
        "tokenizer_config.json": json.dumps({"chat_template": [{"name": "default", "template": "x"},
                                                               {"name": "tool_use", "template": text}]})
    },
    "by their names": lambda text: {"processor_config.json": json.dumps({"chat_template": {"default": text}})},
    "chat_template.json": lambda text: {"chat_template.json": json.dumps({"chat_template": text})},
    "chat_template.jinja": lambda text: {"tokenizer_config.json": "{}", "chat_template.jinja": text},
    "chat_template.jinja, by config.json": lambda text: {"chat_template.jinja": text},
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_templates_beside_weights(tmp_path, place):
    """
    Honest ones pass, one that would walk out of its variables is FAIL, one that can't be told is UNKNOWN.
    """
    honest, evil, computed = (
        model(tmp_path / str(n), PLACES[place](text)) for n, text in enumerate((HONEST, EVIL, COMPUTED))
    )

    assert look(honest).verdict is PASS, look(honest).reason
    assert look(evil).verdict is FAIL
    assert "unsafe chat template: would reach __class__ (" in look(evil).reason
    assert look(evil, pickle="any").verdict is PASS
    assert (look(computed).verdict, look(computed).cause) == (UNKNOWN, Cause.AMBIGUOUS)


ODD = {
    "a number": {"tokenizer_config.json": '{"chat_template": 5}'},
    "a list of numbers": {"tokenizer_config.json": '{"chat_template": [5, {"template": 5}, {}]}'},
    "no template": {"tokenizer_config.json": '{"chat_template": null}'},
    "an empty file": {"chat_template.jinja": ""},
    "no UTF-8": {"chat_template.jinja": "\udcff"},
}


@pytest.mark.parametrize("what", ODD)
def test_what_is_no_template(tmp_path, what):
    """
    What nothing would render says nothing.
    """
    files = {name: text for name, text in ODD[what].items() if "\udcff" not in text}
    folder = model(tmp_path / "m", files)
    for name in set(ODD[what]) - set(files):
        (folder / name).write_bytes(b"\xff" * 9)

    assert look(folder).verdict is PASS, look(folder).reason


def test_a_pointer_for_a_template(tmp_path):
    """
    A Git-LFS pointer in its place is told as such.
    """
    text = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 5000\n"

    assert "pointer" in look(model(tmp_path / "m", {"chat_template.jinja": text})).reason


def test_a_template_that_is_sealed(tmp_path):
    """
    It stands beside a checkpoint and is none of it: a seal of the folder holds, at content depth.
    """
    folder = model(tmp_path / "m", {"chat_template.jinja": HONEST})

    assert look(folder, depth="content", manifest=seal(str(folder))).verdict is PASS


def test_a_template_in_a_snapshot(tmp_path):
    """
    In the hub's cache a template is a blob with its hash: what it reaches for is judged, and its bytes are compared.
    """
    repository = tmp_path / "models--a--b"
    snapshot = repository / "snapshots" / ("c" * 40)
    for inner in (snapshot, repository / "blobs", repository / "refs"):
        inner.mkdir(parents=True)
    (repository / "refs" / "main").write_text("c" * 40)
    save_file({"w": torch.ones(3)}, tmp_path / "w")
    parts = {"model.safetensors": (tmp_path / "w").read_bytes(), "config.json": b"{}"}
    for name, data in {**parts, "chat_template.jinja": EVIL.encode()}.items():
        blob = repository / "blobs" / hashlib.sha256(data).hexdigest()
        blob.write_bytes(data)
        (snapshot / name).symlink_to(blob)

    assert "would reach __class__" in look(repository).reason
    assert "would reach __class__" in look(snapshot).reason

    (snapshot / "chat_template.jinja").resolve().write_text(HONEST)

    assert look(snapshot).verdict is PASS, look(snapshot).reason
    assert "sha256" in look(snapshot, depth="content").reason


def with_cache(folder, listed=()):
    """As the hub's client leaves a `local_dir`, with metadata for some of its files."""
    where = folder / ".cache" / "huggingface" / "download"
    where.mkdir(parents=True)
    for name in listed:
        data = (folder / name).read_bytes()
        digest = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
        (where / f"{name}.metadata").write_text(f"{'b' * 40}\n{digest}\n1700000000.5\n")
    return folder


def adapter(folder, files):
    model(folder, {"adapter_config.json": '{"peft_type": "LORA", "r": 1}', **files})
    (folder / "model.safetensors").unlink()
    (folder / "config.json").unlink()
    tensors = {"m.q.lora_A.weight": torch.ones(1, 4), "m.q.lora_B.weight": torch.ones(4, 1)}
    save_file(tensors, folder / "adapter_model.safetensors")
    return folder


def shards(folder, files):
    model(folder, files)
    (folder / "model.safetensors").unlink()
    (folder / "config.json").unlink()
    save_file({"w": torch.ones(3)}, folder / "model-00001-of-00001.safetensors")
    index = {"metadata": {}, "weight_map": {"w": "model-00001-of-00001.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder


def further(folder, files):
    """Its templates in the folder of further ones."""
    (folder / "additional_chat_templates").mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        where = "additional_chat_templates/tool.jinja" if name.endswith(".jinja") else name
        (folder / where).write_text(text)
    return model(folder, {})


def distributed(folder, files):
    torch.distributed.checkpoint.save({"w": torch.ones(4)}, checkpoint_id=folder)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


FOLDERS = {
    "a local_dir that lists nothing": lambda folder, files: with_cache(model(folder, files)),
    "a local_dir that lists others": lambda folder, files: with_cache(model(folder, files), ["model.safetensors"]),
    "an adapter": adapter,
    "shards without a config": shards,
    "further templates": further,
    "a distributed checkpoint": distributed,
}


@pytest.mark.parametrize("place", ["tokenizer_config.json", "one of several", "chat_template.jinja"])
@pytest.mark.parametrize("kind", FOLDERS)
def test_templates_of_any_folder(tmp_path, kind, place):
    """
    Whatever else a folder is, its templates are judged.
    """
    place = "chat_template.jinja" if kind == "further templates" else place
    honest, evil = (FOLDERS[kind](tmp_path / str(n), PLACES[place](text)) for n, text in enumerate((HONEST, EVIL)))

    assert look(honest).verdict is PASS, look(honest).reason
    assert look(evil).verdict is FAIL
    assert "unsafe chat template: would reach __class__ (" in look(evil).reason


@pytest.mark.parametrize("text", ['{"a":', "<html>502 Bad Gateway</html>", ""])
@pytest.mark.parametrize("name", ["tokenizer.json", "config.json", "generation_config.json"])
def test_a_cache_beside_reduces_nothing(tmp_path, name, text):
    """
    A JSON file that the client's metadata do not list is read as in a plain folder.
    """
    plain = model(tmp_path / "plain", {name: text})
    local = with_cache(model(tmp_path / "local", {name: text}), ["model.safetensors"])

    assert look(plain).verdict is look(local).verdict is FAIL
    assert look(plain).reason.partition(": ")[2] == look(local).reason.partition(": ")[2]
