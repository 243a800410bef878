"""Small writers of checkpoint formats, each from its specification, and ways to break what they write.

GGUF, ONNX and Flax msgpack are written by hand here, so that the tests need neither of those packages; gguf 0.19,
onnx 1.23 and flax 0.12 read what `gguf`, `onnx_plain`, `onnx_external` and `flax` give, with the names and shapes meant,
though they would not write the same bytes.  Everything else is written by numpy, torch and safetensors themselves.
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import random
import shutil
import struct
import warnings

import numpy as np
import torch
from safetensors.torch import save_file

from verikit.probes.formats.gguf import FORMS, TYPES

Path = pathlib.Path


# GGUF.


def gguf_text(text):
    data = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(data)) + data


def gguf_value(kind, value):
    if kind == 8:
        return gguf_text(value)
    if kind == 9:
        inner, items = value
        return struct.pack("<IQ", inner, len(items)) + b"".join(gguf_value(inner, item) for item in items)
    return struct.pack("<" + {2: "H", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q"}[kind], value)


def gguf(path, keys=(), tensors=(), *, align=32, version=3, order="<", offsets=None, pad_end=True, counts=None):
    """A GGUF file; keys: (name, type, value); tensors: (name, ne, type id, bytes). `offsets` replaces the right ones."""
    keys = [("general.architecture", 8, "llama"), *keys]
    if align != 32:
        keys.append(("general.alignment", 4, align))
    head = b"GGUF" + struct.pack(order + "I", version)
    head += struct.pack(order + "QQ", *(counts or (len(tensors), len(keys))))
    for name, kind, value in keys:
        head += gguf_text(name) + struct.pack("<I", kind) + gguf_value(kind, value)
    at, places = 0, []
    for _, _, _, data in tensors:
        places.append(at)
        at += -(-len(data) // align) * align
    for (name, ne, kind, _), place in zip(tensors, offsets or places, strict=True):
        head += gguf_text(name) + struct.pack("<I", len(ne)) + struct.pack(f"<{len(ne)}Q", *ne)
        head += struct.pack("<IQ", kind, place)
    body = b""
    if tensors:
        head += bytes(-len(head) % align)
        for at, (_, _, _, data) in enumerate(tensors):
            last = at == len(tensors) - 1
            body += data + (bytes(-len(data) % align) if pad_end or not last else b"")
    path.write_bytes(head + body)
    return path


def gguf_tensors():
    values = np.arange(256, dtype=np.float32)
    return [
        ("token_embd.weight", (64, 4), 0, values.tobytes()),
        ("blk.0.norm", (5,), 1, np.ones(5, np.float16).tobytes()),
        ("blk.0.q", (256, 2), 8, bytes(range(34)) * 16),
        ("blk.0.k", (256, 1), 12, bytes(144)),
        ("scalar", (1,), 30, b"\x80\x3f"),
    ]


def gguf_of_every_type():
    """A tensor of each type, two rows of as many elements as the largest block; types that builds differ in, in each form."""
    rows = [(kind, block, size, 0) for kind, (_, block, size) in TYPES.items()]
    rows += [(kind, *form[1:]) for kind, forms in FORMS.items() for form in forms]
    return [
        (f"t{at}", (256, 2), kind, bytes(512 // block * size + more))
        for at, (kind, block, size, more) in enumerate(rows)
    ]


# ONNX: protobuf by hand.


def varint(value):
    out = b""
    while value >= 0x80:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


def field(number, value):
    """One field: a number as a varint, bytes and text with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def onnx_tensor(name, dims, kind, raw=None, external=None, floats=None):
    out = field(1, b"".join(varint(axis) for axis in dims)) if dims else b""
    out += field(2, kind)
    if floats is not None:
        out += field(4, np.asarray(floats, "<f4").tobytes())
    out += field(8, name)
    if raw is not None:
        out += field(9, raw)
    for key, value in (external or {}).items():
        out += field(13, field(1, key) + field(2, str(value)))
    return out + (field(14, 1) if external is not None else b"")


def onnx_model(path, tensors, *, opset=True, tail=b""):
    """A model whose graph has one node, with a constant, and these initializers."""
    constant = onnx_tensor("", (3,), 1, np.ones(3, "<f4").tobytes())
    node = field(2, "k") + field(4, "Constant") + field(5, field(1, "value") + field(5, constant) + field(20, 4))
    graph = field(1, node) + field(2, "g") + b"".join(field(5, tensor) for tensor in tensors)
    model = field(1, 10) + field(2, "writers") + field(7, graph)
    path.write_bytes(model + (field(8, field(1, "") + field(2, 21)) if opset else b"") + tail)
    return path


def onnx_plain(path):
    w = np.arange(12, dtype="<f4")
    return onnx_model(
        path,
        [
            onnx_tensor("w", (3, 4), 1, w.tobytes()),
            onnx_tensor("s", (), 7, np.array(3).tobytes()),
            onnx_tensor("e", (0, 3), 1, b""),
            onnx_tensor("f", (2,), 1, floats=[1, 2]),
            onnx_tensor("i4", (3,), 22, b"\x21\x03"),
        ],
    )


def onnx_external(path, *, location="model.data", length=None, offsets=(0, 4096), data=None, **more):
    size = 48
    place = {"location": location, "length": size if length is None else length, **more}
    rows = [
        onnx_tensor(name, (3, 4), 1, external={**place, "offset": at})
        for name, at in zip(("w", "v"), offsets, strict=True)
    ]
    onnx_model(path, rows)
    (path.parent / "model.data").write_bytes(np.random.default_rng(0).bytes(4096 + size) if data is None else data)
    return path


# MessagePack, as Flax writes it.


def pack(value):
    if isinstance(value, dict):
        return bytes([0x80 | len(value)]) + b"".join(pack(key) + pack(item) for key, item in value.items())
    if isinstance(value, str):
        data = value.encode()
        return (bytes([0xA0 | len(data)]) if len(data) < 32 else b"\xd9" + bytes([len(data)])) + data
    if isinstance(value, bytes):
        return b"\xc6" + struct.pack(">I", len(value)) + value
    if isinstance(value, (list, tuple)):
        return bytes([0x90 | len(value)]) + b"".join(map(pack, value))
    if isinstance(value, bool) or value is None:
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[value]
    if isinstance(value, int):
        return bytes([value]) if 0 <= value < 128 else b"\xd3" + struct.pack(">q", value)
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, np.ndarray):
        return packed_array(value.shape, value.dtype.name, value.tobytes())
    raise TypeError(value)


def packed_array(shape, dtype, data):
    inner = pack((tuple(shape), dtype, data))
    return b"\xc9" + struct.pack(">I", len(inner)) + b"\x01" + inner


def raw(path, data):
    path.write_bytes(data)
    return path


def flax(path, value=None):
    w = np.arange(12, dtype=np.float32).reshape(3, 4)
    tree = {"params": {"w": w, "b": np.zeros((), np.float16), "e": np.zeros((0, 2), np.int8)}, "step": 1000}
    path.write_bytes(pack(tree if value is None else value))
    return path


# Folders.


def state(rank=0, width=8):
    torch.manual_seed(rank)
    return {
        "layer.weight": torch.randn(width, 4),
        "layer.bias": torch.randn(width),
        "head.weight": torch.randn(3, width),
    }


def dcp(folder):
    """A distributed checkpoint, by torch itself, of one rank."""
    import torch.distributed.checkpoint as checkpoint

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = {"model": state(), "step": 7, "scalar": torch.tensor(3.0), "empty": torch.zeros(0, 3)}
        checkpoint.save(tree, checkpoint_id=str(folder))
    return folder


def dcp_safetensors(folder):
    """The same with its pieces in safetensors files, which hold tensors only."""
    import torch.distributed.checkpoint as checkpoint
    from torch.distributed.checkpoint.filesystem import SerializationFormat

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        writer = checkpoint.FileSystemWriter(str(folder), serialization_format=SerializationFormat.SAFETENSORS)
        checkpoint.save({"model": state(), "empty": torch.zeros(0, 3)}, storage_writer=writer, no_dist=True)
    return folder


def hugging_face_ranks(folder, ranks=3):
    """What HuggingFaceStorageWriter(save_distributed=True) leaves of each rank: its rows, and where they lie."""
    folder.mkdir(parents=True)
    for rank in range(ranks):
        info = json.dumps({name: {"saved_offsets": [4 * rank, 0]} for name in ("a", "b")})
        rows = {"a": torch.randn(4, 3), "b": torch.randn(4, 2)}
        metadata = {"format": "pt", "DCP_VERSION": "1.0", "DCP_SHARDING_INFO": info}
        save_file(rows, folder / f"shard-{rank + 1:05d}-model-00001-of-00001.safetensors", metadata=metadata)
    return folder


def sets_of_shards(folder):
    """Two shards that count each other, without an index."""
    folder.mkdir(parents=True)
    for number, name in enumerate("ab", 1):
        save_file({name: torch.ones(3) * number}, folder / f"model-{number:05d}-of-00002.safetensors")
    return folder


def deepspeed(root, *, ranks=4, parallel=2, step=1000, lean=False):
    """What ZeRO-1/2 leaves: model states for each model-parallel rank, flat partitions for each rank of it."""
    folder = root / f"global_step{step}"
    folder.mkdir(parents=True)
    (root / "latest").write_text(f"global_step{step}\n")
    (root / "zero_to_fp32.py").write_text("# recovers weights\n")
    for model in range(parallel):
        torch.save(
            {"module": state(model), "global_steps": step, "dp_world_size": ranks, "mp_world_size": parallel},
            folder / f"mp_rank_{model:02d}_model_states.pt",
        )
        for rank in range(ranks):
            size = 100 - (3 if lean and rank == ranks - 1 else 0)
            part = {"optimizer_state_dict": {"single_partition_of_fp32_groups": [torch.zeros(size)], "zero_stage": 2}}
            torch.save(part, folder / f"bf16_zero_pp_rank_{rank}_mp_rank_{model:02d}_optim_states.pt")
    return root


def megatron(root, step=500):
    """Megatron's torch_dist: the tracker, and an iteration that is a distributed checkpoint."""
    root.mkdir()
    (root / "latest_checkpointed_iteration.txt").write_text(str(step))
    folder = dcp(root / f"iter_{step:07d}")
    torch.save({"args": {"seq": 4096}, "iteration": step}, folder / "common.pt")
    (folder / "metadata.json").write_text(
        json.dumps({"sharded_backend": "torch_dist", "sharded_backend_version": 1, "common_backend": "torch"})
    )
    return root


def megatron_ranks(root, step=500, tensor=2, pipeline=2):
    """Megatron's older form: a folder for each tensor- and pipeline-parallel rank."""
    root.mkdir()
    (root / "latest_checkpointed_iteration.txt").write_text(str(step))
    for t in range(tensor):
        for p in range(pipeline):
            folder = root / f"iter_{step:07d}" / f"mp_rank_{t:02d}_{p:03d}"
            folder.mkdir(parents=True)
            torch.save({"model": state(t * pipeline + p), "iteration": step}, folder / "model_optim_rng.pt")
    return root


def random_state():
    """What the Trainer keeps of each rank."""
    numpy = np.random.RandomState(0).get_state()
    return {"python": random.Random(0).getstate(), "numpy": numpy, "cpu": torch.random.get_rng_state()}


def trainer(folder, *, step=500, ranks=1, weights=None, only_model=False):
    """The folder of the Trainer: weights, AdamW's state with real moments, scheduler, random state, trainer_state.json."""
    folder.mkdir(parents=True)
    weights = state() if weights is None else weights
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text('{"model_type": "llama"}')
    (folder / "trainer_state.json").write_text(json.dumps({"global_step": step, "epoch": 1.0, "log_history": []}))
    if not only_model:
        parameters = [torch.nn.Parameter(each.clone()) for each in weights.values()]
        optimizer = torch.optim.AdamW(parameters)
        sum(each.sum() for each in parameters).backward()
        optimizer.step()
        torch.save(optimizer.state_dict(), folder / "optimizer.pt")
        torch.save({"last_epoch": step, "_step_count": step + 1}, folder / "scheduler.pt")
        for rank in range(ranks):
            name = "rng_state.pth" if ranks == 1 else f"rng_state_{rank}.pth"
            torch.save(random_state(), folder / name)
    return folder


def model(folder, *, layers=4, names=None, config=None, shards=1):
    """A small causal language model as transformers saves it; `names` leaves out those of which it is false."""
    folder.mkdir(parents=True)
    torch.manual_seed(0)
    tensors = {"model.embed_tokens.weight": torch.randn(50, 8), "model.norm.weight": torch.ones(8)}
    for layer in range(layers):
        tensors[f"model.layers.{layer}.self_attn.q_proj.weight"] = torch.randn(8, 8)
        tensors[f"model.layers.{layer}.input_layernorm.weight"] = torch.ones(8)
    tensors["lm_head.weight"] = torch.randn(50, 8)
    kept = {name: each for name, each in tensors.items() if names is None or names(name)}
    told = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 4}
    told.update({"tie_word_embeddings": False, **(config or {})})
    (folder / "config.json").write_text(json.dumps(told))
    if shards == 1:
        save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
        return folder
    index = {}
    for number in range(shards):
        file = f"model-{number + 1:05d}-of-{shards:05d}.safetensors"
        part = {name: kept[name] for name in sorted(kept)[number::shards]}
        save_file(part, folder / file, metadata={"format": "pt"})
        index.update(dict.fromkeys(part, file))
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": index}))
    return folder


def pipeline(folder):
    """What a pipeline of diffusers saves: models, a scheduler, a tokenizer, and a component that it goes without."""
    index = {
        "_class_name": "StableDiffusionPipeline",
        "_diffusers_version": "0.42.1",
        "unet": ["diffusers", "UNet2DConditionModel"],
        "text_encoder": ["transformers", "CLIPTextModel"],
        "scheduler": ["diffusers", "PNDMScheduler"],
        "tokenizer": ["transformers", "CLIPTokenizer"],
        "safety_checker": [None, None],
        "requires_safety_checker": False,
    }
    for name in ("unet", "text_encoder", "scheduler", "tokenizer"):
        (folder / name).mkdir(parents=True)
    (folder / "model_index.json").write_text(json.dumps(index))
    for name, file in (("unet", "diffusion_pytorch_model.safetensors"), ("text_encoder", "model.safetensors")):
        save_file(state(), folder / name / file)
        (folder / name / "config.json").write_text(json.dumps({"_class_name": name}))
    (folder / "scheduler" / "scheduler_config.json").write_text("{}")
    (folder / "tokenizer" / "tokenizer_config.json").write_text("{}")
    return folder


def adapter_layers(count, lacks=lambda name: False):
    """An adapter of two modules in each of so many layers."""
    tensors = {}
    for layer in range(count):
        for module in ("q_proj", "v_proj"):
            base = f"base_model.model.layers.{layer}.self_attn.{module}."
            tensors.update({base + "lora_A.weight": torch.randn(4, 16), base + "lora_B.weight": torch.randn(24, 4)})
    return {name: each for name, each in tensors.items() if not lacks(name)}


def adapter_tensors(rank=4):
    base = "base_model.model.layers.0.self_attn."
    return {
        base + "q_proj.lora_A.weight": torch.randn(rank, 16),
        base + "q_proj.lora_B.weight": torch.randn(24, rank),
        base + "v_proj.lora_A.weight": torch.randn(rank, 16),
        base + "v_proj.lora_B.weight": torch.randn(8, rank),
    }


def peft(folder, *, tensors=None, rank=4, **config):
    folder.mkdir(parents=True)
    save_file(adapter_tensors(rank) if tensors is None else tensors, folder / "adapter_model.safetensors")
    (folder / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "r": rank, "lora_alpha": 8, **config}))
    return folder


COMMIT = "0123456789abcdef0123456789abcdef01234567"


def git_id(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def hub_cache(root):
    """The cache of huggingface_hub: blobs named by their hashes, a snapshot of links, refs/main. Returns the snapshot."""
    repository = root / "models--org--name"
    snapshot = repository / "snapshots" / COMMIT
    for folder in (repository / "blobs", repository / "refs", snapshot):
        folder.mkdir(parents=True)
    (repository / "refs" / "main").write_text(COMMIT)
    save_file(state(), root / "whole")
    for name, data in (("model.safetensors", (root / "whole").read_bytes()), ("config.json", b'{"a": 1}\n')):
        digest = hashlib.sha256(data).hexdigest() if name.endswith("tensors") else git_id(data)
        (repository / "blobs" / digest).write_bytes(data)
        os.symlink(f"../../blobs/{digest}", snapshot / name)
    return snapshot


def hub_local(folder):
    """A folder given as local_dir: files, and the hash of each under .cache/huggingface/download."""
    notes = folder / ".cache" / "huggingface" / "download"
    notes.mkdir(parents=True)
    save_file(state(), folder / "model.safetensors")
    (folder / "config.json").write_bytes(b'{"a": 1}\n')
    for name, digest in (
        ("model.safetensors", hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()),
        ("config.json", git_id((folder / "config.json").read_bytes())),
    ):
        (notes / (name + ".metadata")).write_text(f"{COMMIT}\n{digest}\n1700000000.0\n")
    return folder


# Breaking things.


def cut(path, left):
    """Only the first `left` bytes stay; a negative number counts from the end."""
    with open(path, "r+b") as file:
        file.truncate(left if left >= 0 else os.path.getsize(path) + left)


def append(path, data=b"\0" * 64):
    with open(path, "ab") as file:
        file.write(data)


def flip(path, at, bit=0):
    data = bytearray(Path(path).read_bytes())
    data[at] ^= 1 << bit
    Path(path).write_bytes(data)


def rewrite(path, old, new):
    """One stretch of bytes in place of another of the same length, which must be there."""
    data = Path(path).read_bytes()
    assert len(old) == len(new)
    assert old in data
    Path(path).write_bytes(data.replace(old, new, 1))


def remove(path):
    if Path(path).is_dir():
        shutil.rmtree(path)
    else:
        os.unlink(path)
