# ruff: noqa
"""Builds the tensors and files that a case in cases.json describes.

    build(case)                                    -> {host: {file: {name: tensor}}}
    write(case, out)                               -> list of paths written

Needs torch, numpy, safetensors. Same seed -> same bytes. See README.md for the format.
"""

from __future__ import annotations

import fnmatch
import itertools
import json
import math
import os
import re
import struct
import zlib
from pathlib import Path

import numpy as np
import torch

DT = {
    n: getattr(torch, n)
    for n in (
        "float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 uint16 uint32 bool "
        "float8_e4m3fn float8_e5m2 complex64"
    ).split()
    if hasattr(torch, n)
}
ST = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "bfloat16": "BF16",
    "int64": "I64",
    "int32": "I32",
    "int16": "I16",
    "int8": "I8",
    "uint8": "U8",
    "uint16": "U16",
    "uint32": "U32",
    "bool": "BOOL",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
}
WIDTH = {
    "F64": 8,
    "F32": 4,
    "F16": 2,
    "BF16": 2,
    "I64": 8,
    "I32": 4,
    "I16": 2,
    "I8": 1,
    "U8": 1,
    "U16": 2,
    "U32": 4,
    "BOOL": 1,
    "F8_E4M3": 1,
    "F8_E5M2": 1,
}
NUM = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def expand(entries):
    """One entry per tensor: `for` = {var: [first, last]} or {var: {"in": [...]}} fills {var} in name and file."""
    for e in entries:
        loops = e.get("for") or {}
        keys = list(loops)
        spans = [r["in"] if isinstance(r, dict) else range(r[0], r[1] + 1) for r in loops.values()]
        for vals in itertools.product(*spans):
            env = dict(zip(keys, vals))
            d = {k: v for k, v in e.items() if k != "for"}
            for k in ("name", "file", "host"):
                if isinstance(d.get(k), str):
                    for a, b in env.items():
                        d[k] = d[k].replace("{%s:05d}" % a, "%05d" % b).replace("{%s}" % a, str(b))
            if env in e.get("except", []):
                continue
            yield d


def _fill(e, have):
    f = dict(e.get("fill") or {"kind": "normal"})
    shape, dt, kind = list(e["shape"]), DT[e["dtype"]], f.get("kind", "normal")
    g = torch.Generator().manual_seed(
        f.get("seed", zlib.crc32(f"{e.get('host')}|{e.get('file')}|{e['name']}".encode()))
    )
    if e.get("device") == "meta":
        return torch.empty(shape, dtype=dt, device="meta")
    if kind == "normal":
        t = torch.randn(shape, generator=g) * f.get("std", 0.02) + f.get("mean", 0.0)
    elif kind == "uniform":
        t = torch.rand(shape, generator=g) * (f["hi"] - f["lo"]) + f["lo"]
    elif kind == "randint":
        t = torch.randint(f["lo"], f["hi"] + 1, shape, generator=g)
    elif kind == "const":
        v = f["value"]
        t = torch.full(
            shape,
            NUM.get(v, v) if isinstance(v, str) else v,
            dtype=torch.float64 if isinstance(v, (float, str)) else torch.int64,
        )
    elif kind == "arange":
        n = math.prod(shape)
        t = (torch.arange(n) * f.get("step", 1) + f.get("start", 0)).reshape(shape)
    elif kind == "arange_last":
        t = (torch.arange(shape[-1]) + f.get("start", 0)).expand(shape).clone()
    elif kind == "copy":
        t = have[f["of"]].clone()
        if f.get("transpose"):
            t = t.t().contiguous()
    elif kind == "alias":
        return have[f["of"]]
    elif kind == "onehot":
        t = torch.zeros(shape)
        t.view(-1)[: f["ones"]] = 1
    elif kind == "values":
        t = torch.tensor(f["values"]).reshape(shape)
    else:
        raise ValueError(kind)
    raw = []
    for ed in e.get("edits", []):
        v = ed.get("value")
        v = NUM.get(v, v) if isinstance(v, str) else v
        if "flat" in ed:
            idx = ed["flat"] if isinstance(ed["flat"], list) else [ed["flat"]]
            t.view(-1)[torch.tensor([i % t.numel() for i in idx])] = v
        elif "at" in ed:
            t[tuple(ed["at"])] = v
        elif "index" in ed:  # a whole sub-tensor along a dim
            t.select(ed["dim"], ed["index"])[...] = t.select(ed["dim"], ed["from"]).clone() if "from" in ed else v
        elif "span" in ed:
            t.narrow(ed["dim"], ed["span"][0], ed["span"][1] - ed["span"][0])[...] = v
        elif "scale" in ed:
            s = t if "dim" not in ed else t.select(ed["dim"], ed["where"])
            s.mul_(ed["scale"])
        elif "raw_byte" in ed:
            raw.append(ed)
    t = t.to(dt)
    for ed in raw:
        t.view(torch.uint8).view(-1)[ed["offset"]] = ed["raw_byte"]
    lay = e.get("layout")
    if lay == "expanded":  # stride 0 along the first dim
        t = t[:1].expand(shape)
    elif lay == "transposed_view":  # right shape, not contiguous
        t = t.t().contiguous().t()
    elif lay == "slice_of_big":  # small view of a large storage
        big = torch.zeros(e["storage_elems"], dtype=dt)
        big[: t.numel()] = t.reshape(-1)
        t = big[: t.numel()].view(shape)
    return t


def build(case):
    out = {}
    for e in expand(case["tensors"]):
        h = out.setdefault(e.get("host", "local"), {}).setdefault(e.get("file", "<memory>"), {})
        if "python" in e:
            h[e["name"]] = e["python"]
            continue
        if e.get("sparse"):
            h[e["name"]] = ("sparse", e["dtype"], e["shape"])
            continue
        allf = {**{k: v for fs in out.values() for d in fs.values() for k, v in d.items()}, **h}
        h[e["name"]] = _fill(e, allf)
    return out


def _raw(t):
    return t.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if t.numel() else b""


def _safetensors(path, tensors, meta):
    head, off = ({"__metadata__": meta} if meta else {}), 0
    for n, t in tensors.items():
        dt, shape = (ST[t[1]], t[2]) if isinstance(t, tuple) else (ST[str(t.dtype).split(".")[1]], list(t.shape))
        size = math.prod(shape) * WIDTH[dt]
        head[n] = {"dtype": dt, "shape": shape, "data_offsets": [off, off + size]}
        off += size
    b = json.dumps(head).encode()
    b += b" " * (-len(b) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(b)) + b)
        for n, t in tensors.items():
            if isinstance(t, tuple):
                f.seek(math.prod(t[2]) * WIDTH[ST[t[1]]], os.SEEK_CUR)
            else:
                f.write(_raw(t))
        f.truncate(8 + len(b) + off)


def write(case, out):
    done, meta = [], case.get("file_metadata", {})
    for host, files in build(case).items():
        for fn, tensors in files.items():
            if fn == "<memory>":
                continue
            p = Path(out, host, fn)
            p.parent.mkdir(parents=True, exist_ok=True)
            m = {
                k: v
                for pat, d in meta.items()
                if fnmatch.fnmatch(f"{host}/{fn}", pat) or fnmatch.fnmatch(fn, pat)
                for k, v in d.items()
            }
            if fn.endswith(".safetensors"):
                _safetensors(p, tensors, m)
            elif fn.endswith((".pt", ".pth", ".bin")):
                root = dict(tensors)
                nest = case.get("pt_nest")
                if nest:
                    root = {nest: root, **case.get("pt_extra", {})}
                torch.save(root, p)
            elif fn.endswith(".npy"):
                (t,) = tensors.values()
                a = t.float().numpy() if t.dtype == torch.bfloat16 else t.numpy()
                o = case.get("npy", {}).get(fn, {})
                if o.get("fortran"):
                    a = np.asfortranarray(a)
                if o.get("byteorder"):
                    a = a.astype(a.dtype.newbyteorder(o["byteorder"]))
                if o.get("object"):
                    a = a.astype(object)
                np.save(p, a, allow_pickle=True)
            elif fn.endswith(".npz"):
                np.savez(p, **{k: v.numpy() for k, v in tensors.items()})
            else:
                raise ValueError(fn)
            done.append(p)
        d = Path(out, host)
        if case["spec"].get("config") is not None and not case.get("config_absent"):
            d.mkdir(parents=True, exist_ok=True)
            (d / "config.json").write_text(json.dumps(case["spec"]["config"], indent=1))
            done.append(d / "config.json")
        if case.get("weight_map"):
            wm = {n: f for f, ts in files.items() for n in ts}
            wm.update(case["weight_map"].get("override", {}))
            for n in case["weight_map"].get("drop", []):
                wm.pop(n)
            (d / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": wm}, indent=1))
            done.append(d / "model.safetensors.index.json")
    for dmg in case.get("damage", []):
        p = Path(out, dmg.get("host", "local"), dmg["file"])
        if "truncate_by" in dmg:
            os.truncate(p, p.stat().st_size - dmg["truncate_by"])
        if dmg.get("delete"):
            p.unlink()
            done.remove(p)
        if "set_header_length" in dmg:
            with open(p, "r+b") as f:
                f.write(struct.pack("<Q", dmg["set_header_length"]))
    return done


def facts_missing(case, text):
    """What a failure text leaves out. A fact that is a number or at most two characters long must stand alone; others are substrings."""
    low = text.lower()

    def has(f):
        f = f.lower()
        if len(f) <= 2 or re.fullmatch(r"-?\d+", f):
            return re.search(r"(?<!\w)(?<!\d\.)(?<!-)%s(?!\w)" % re.escape(f), low) is not None
        return f in low

    out = [g for g in case.get("reason_must_name", []) if not any(has(f) for f in g)]
    out += [["must not name", f] for f in case.get("reason_must_not_name", []) if has(f)]
    if len(text) > case.get("max_reason_chars", 1 << 30):
        out.append(["too long", len(text)])
    return out


def load(path):
    return json.loads(Path(path).read_text())["cases"]
