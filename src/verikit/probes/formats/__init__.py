"""Checkpoint formats: how a file or folder is recognised by what it holds, and how its metadata is read.

A new format is one file beside this one and one line in `FILES` or `FOLDERS`; its module is imported only when
something of its kind is met, so that a host compiles what it needs and no more.

**A file format** is a module with one function

    structure(file, layout)     reads headers, directories and indexes through `file` (a `Window`), never tensor bytes,
                                and tells `layout` (a `Layout`) what is there and what is wrong

It is called once the file's head has been recognised by the format's row in `FILES`. It tells, with one call each:

    layout.tensor(name, dtype, shape, offset, nbytes)   a tensor and where its bytes are; dtypes in torch's spelling
    layout.span(name, offset, nbytes, crc, method)      bytes to be compared at content depth: with a CRC-32, or without
    layout.fault(kind, what, where)                     evidence that the file is broken: FAIL
    layout.warn(kind, what)                             a sign that settles nothing
    layout.unseen(cause, what)                          something that could not be seen: UNKNOWN
    layout.shortfall(needed, what)                      the file is shorter than its own metadata says: `truncated`
    layout.pickled(walk, where)                         what a pickle would do (`pickle_walk.walk`)
    layout.member(path, …)                              another file that belongs to it, examined in its turn
    layout.tree[key] = "kind"                           a top-level key, with what it is in a few words

A format with more to say about tensors that strides leave (views, ties) puts it into `layout.notes`, a dict for tools.
What can't be parsed further is `raise Broken(kind, what, where)`: the same as `fault`, and the end of the reading.
What can't be seen further is `raise CannotSee(cause, reason)`: the same as `unseen`, and the end of the reading.

**A folder format** is a module with

    structure(place, folder, names, layout)   lists what belongs together with `layout.member(path, size=, sha256=, …)`
    relate(layout, members)                   optional: judges the members, {path: Layout}, against each other

`names` are the entries of the folder, sorted. A folder may be several things at once (a Trainer folder, with sharded
weights, downloaded from the hub): every row that fits has its say, on the same layout. Members are examined as files of
their own, by their own format.
A path of a member is relative to the folder. A format that lies in subfolders lists them through `place.listdir`.

**Kinds of fault** are words that tools may branch on: `truncated`, `trailing`, `hole`, `overlap`, `bad_header`,
`bad_size`, `missing`, `mismatch`, `duplicate`, `escapes`, `crc`, `digest`, `unsafe_pickle`, `pointer`, `error_page`,
`mangled`, `temporary`, `nonfinite`, `empty`. `what` is a sentence without the path: `"tensor 'w' overlaps 'b'"`.

Python 3.8, standard library only, as all that travels to a host.
"""

from collections import namedtuple
from importlib import import_module

HEAD = 4096
"""Bytes of a file's head that rows are recognised by."""

Row = namedtuple("Row", "module fits")

# In this order: what is recognised by an exact magic first, what is recognised by shape later.  safetensors stands twice:
# its first byte is that of a length, and may be the 0x80 of a pickle, so a plausible length comes first.
FILES = (
    Row("npz", lambda head, size: _first_record(head).endswith(b".npy")),
    Row("torch_zip", lambda head, size: head[:4] in (b"PK\3\4", b"PK\5\6")),
    Row("safetensors", lambda head, size: head[4:9] in (b"\0\0\0\0{", b"\0\0\0\0 ") and head[:4] != b"\0\0\0\0"),
    Row("torch_legacy", lambda head, size: head[:1] == b"\x80" and b"\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19." in head[:32]),
    Row("pickle_file", lambda head, size: head[:1] == b"\x80" and head[1:2] <= b"\5" and size > 3),
    Row("webdataset", lambda head, size: head[257:262] == b"ustar" and not _torch_member(head)),
    Row("torch_tar", lambda head, size: head[257:262] == b"ustar"),
    Row("parquet", lambda head, size: head[:4] == b"PAR1"),
    Row("arrow_ipc", lambda head, size: head[:6] == b"ARROW1" or _arrow_message(head)),
    Row("gguf", lambda head, size: head[:4] == b"GGUF"),
    Row("npy", lambda head, size: head[:6] == b"\x93NUMPY"),
    Row("shard_index", lambda head, size: head.lstrip()[:1] == b"{" and b'"weight_map"' in head),
    Row("safetensors", lambda head, size: head[8:9] == b"{"),
    Row("onnx", lambda head, size: _model_proto(head)),
    Row("msgpack", lambda head, size: _keyed_map(head) or _packed_array(head)),
    Row("msgpack", lambda head, size: head in (b"\x80", b"\xde\0\0", b"\xdf\0\0\0\0")),  # a map of nothing, and no more
)

TRAINED = {"optimizer.pt", "scheduler.pt", "training_args.bin"}, {"optimizer.pt", "scheduler.pt", "rng_state.pth"}
"""What only the Trainer of transformers leaves together; a rank's random state has its number in its name."""

FSDP = ("pytorch_model_fsdp", "optimizer_0", "optimizer.bin")
"""In which the Trainer keeps weights and optimizer under FSDP, and accelerate's save_state by itself."""

MODELS = {"unet", "transformer", "vae"}
"""Components that pipelines of diffusers have, beside a folder called scheduler."""

# `fits` is asked with the sorted names in the folder.
FOLDERS = (
    Row("hub", lambda names: ".cache" in names or len({"snapshots", "blobs", "refs"} & set(names)) > 1),
    Row("pipeline", lambda names: "model_index.json" in names or ("scheduler" in names and MODELS & set(names))),
    Row("sharded", lambda names: any(name.endswith(".index.json") or "-of-" in name for name in names)),
    Row("dcp", lambda names: any(name in (".metadata", ".metadata.tmp") or name.endswith(".distcp") for name in names)),
    Row("deepspeed", lambda names: _deepspeed(names)),
    Row("megatron", lambda names: _megatron(names)),
    Row("trainer", lambda names: "trainer_state.json" in names or _trained(names)),
    Row("accelerate", lambda names: _accelerated(names)),
    Row("peft", lambda names: any(name.startswith(("adapter_config.json", "adapter_model.")) for name in names)),
    Row("orbax", lambda names: any(name in ("_CHECKPOINT_METADATA", "_METADATA", "manifest.ocdbt") for name in names)),
)


def _model_proto(head):
    """Whether it opens as ONNX does: field 1, a small ir_version, then a field that may follow it in ModelProto."""
    return len(head) > 2 and head[0] == 8 and 1 <= head[1] <= 64 and head[2] in b"\x12\x1a\x22\x28\x32\x3a\x42"


def _keyed_map(head):
    """Whether it opens as Flax's MessagePack does: a map, then a short text, or a small number and what is in a tree."""
    skip = {0xDE: 3, 0xDF: 5}.get(head[0], 1) if head else 0
    if not skip or not (0x81 <= head[0] <= 0x8F or head[0] in (0xDE, 0xDF)):
        return False
    first, second = head[skip : skip + 1] or b"\0", head[skip + 1 : skip + 2] or b"\0"
    if first[0] <= 0x7F:
        return 0x81 <= second[0] <= 0x8F or second in (b"\xc7", b"\xc8", b"\xc9", b"\xde", b"\xdf")
    return 0xA0 <= first[0] <= 0xBF or first in (b"\xd9", b"\xda")


def _packed_array(head):
    """Whether it opens as one array of Flax's does, without a tree around it: an extension, its length, its type, a triple."""
    skip = {0xD8: 1, 0xC7: 2, 0xC8: 3, 0xC9: 5}.get(head[0], 0) if head else 0
    return skip > 0 and head[skip : skip + 2] in (b"\1\x93", b"\3\x93")


def _arrow_message(head):
    """Whether it opens with a message of Arrow's: the mark, its size, and a FlatBuffers table near its beginning."""
    return head[:4] == b"\xff\xff\xff\xff" and head[7:8] == b"\0" and head[9:12] == b"\0\0\0" and len(head) > 16


def _torch_member(head):
    """Whether the first members of a tar are some that torch wrote; extended headers (pax) may stand before each."""
    blocks = [head[at : at + 512] for at in range(0, len(head), 512)]
    names = [block[:100].partition(b"\0")[0].rpartition(b"/")[2] for block in blocks if block[257:262] == b"ustar"]
    return names[:1] == [b""] or any(name in (b"sys_info", b"pickle", b"tensors", b"storages") for name in names)


def _first_record(head):
    """The name of the first record of a ZIP archive."""
    return head[30 : 30 + int.from_bytes(head[26:28], "little")] if head[:4] == b"PK\3\4" else b""


def _trained(names):
    """Whether these are what the Trainer leaves of a training, though its own trainer_state.json be gone."""
    plain = {"rng_state.pth" if name.startswith("rng_state") else name for name in names}
    sharded = any(name.startswith(FSDP) for name in names) and plain >= {"scheduler.pt", "rng_state.pth"}
    return sharded or any(plain >= each for each in TRAINED)


def _accelerated(names):
    """Whether it is what `save_state` of accelerate leaves, and no Trainer's folder, which has files of such names too."""
    states = (name == "optimizer.bin" or name.startswith(("random_states_", "scheduler.bin")) for name in names)
    return "trainer_state.json" not in names and not _trained(names) and any(states)


def _deepspeed(names):
    """Whether it is a step of DeepSpeed's, or has steps and says which is the latest."""
    inner = any(name.endswith(("_model_states.pt", "-model_states.pt", "optim_states.pt")) for name in names)
    steps = any(name.startswith("global_step") for name in names)
    bare = bool(names) and all(name[:11] == "global_step" and name[11:].isdigit() for name in names)
    return (
        inner or bare or ("zero_to_fp32.py" in names and (steps or "latest" in names)) or ("latest" in names and steps)
    )


def _megatron(names):
    """Whether it has iterations of Megatron's, or is one."""
    dist = "metadata.json" in names and ("common.pt" in names or ".metadata" in names)
    return (
        dist
        or "latest_checkpointed_iteration.txt" in names
        or any(name.startswith("mp_rank_") and "." not in name for name in names)
        or any(name.startswith("iter_") and name[5:].isdigit() and len(name) == 12 for name in names)
    )


def of_file(head, size):
    """The module name of the format that the first bytes of a file show, or None."""
    return next((row.module for row in FILES if row.fits(head, size)), None)


def of_folder(names):
    """The module names of the formats that the names in a folder show; a folder may be several things at once."""
    return [row.module for row in FOLDERS if row.fits(names)]


def load(module):
    """A format's module, imported when first needed."""
    return import_module("verikit.probes.formats." + module)


if False:  # Never run: `load` imports by name, and whoever packs modules for a host finds here which they are.
    from verikit.probes.formats import (  # noqa: F401
        accelerate,
        arrow_ipc,
        dcp,
        deepspeed,
        distcp,
        gguf,
        hub,
        json_file,
        megatron,
        msgpack,
        npy,
        npz,
        ocdbt,
        onnx,
        orbax,
        parquet,
        peft,
        pickle_file,
        pipeline,
        plain,
        raw,
        safetensors,
        shard_index,
        sharded,
        torch_archive,
        torch_legacy,
        torch_tar,
        torch_zip,
        trainer,
        webdataset,
        zarr_chunk,
        zstd,
    )
