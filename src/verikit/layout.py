"""Names, shapes, dtypes and places of a checkpoint's tensors, without loading it: `checkpoint_layout`.

layout = checkpoint_layout("/data/step20k.pt", on="root@gpu01")
layout.tree                        # {"model_state_dict": "mapping of 391", "step": "20000"}
layout["model_state_dict.lm_head.weight"].shape
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from verikit.check import Facts, Look
from verikit.probes import checkpoint as probe
from verikit.text import count
from verikit.values import Frozen, freeze
from verikit.values import path as as_path


@attrs.frozen
class TensorAt:
    """One tensor: dtype in torch's spelling (`"bfloat16"`), and where its bytes lie.

    offset: bytes from the beginning of `file`; None for a tensor that is packed, or has no bytes (meta).
    nbytes: from its first element to its last; with strides that is not shape × dtype.
    file: its name within the checkpoint; None for a tensor that is in several.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    offset: int | None
    nbytes: int
    file: str | None


@attrs.frozen(repr=False)
class CheckpointLayout(Mapping[str, TensorAt]):
    """The tensors of a checkpoint by name, in the order of its files.

    files: {name: (format, size in bytes)}.  tree: top-level keys, each with what it is in a few words.
    faults: what is wrong with it, so that tensors may lack; `CheckpointIntact` judges them.
    """

    path: str
    tensors: Mapping[str, TensorAt]
    files: Mapping[str, tuple[str | None, int]]
    tree: Mapping[str, str] = attrs.field(factory=Frozen, converter=freeze)
    faults: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> TensorAt:
        return self.tensors[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tensors)

    def __len__(self) -> int:
        return len(self.tensors)

    def __repr__(self) -> str:
        return f"<layout of {self.path}: {count(len(self), 'tensor')} in {count(len(self.files), 'file')}>"


def layout_look(path: str | os.PathLike[str], start: int = 0) -> Look:
    """The question for the tensors from number `start` on; an answer has at most 8 MiB, and `next` says where to go on."""
    return Look(probe.layout, path=as_path(path), start=start).within(120)


def layout_of(answers: list[Facts]) -> CheckpointLayout:
    """The layout that the answers to `layout_look` make up. Pure."""
    first = answers[0]
    names = [row[0] for row in first["files"]]
    rows = (row for facts in answers for row in facts["tensors"])
    tensors = {name: _tensor(name, names, *rest) for name, *rest in rows}
    files = {name: (format, size) for name, format, size in first["files"]}
    unseen = tuple(what for _, what in first["unknowns"])
    return CheckpointLayout(first["path"], tensors, files, first["tree"], tuple(first["faults"]) + unseen)


def _tensor(
    name: str, names: list[str], dtype: str, shape: Any, offset: int | None, nbytes: int, file: Any
) -> TensorAt:
    return TensorAt(name, dtype, tuple(shape), offset, nbytes, None if file is None else names[file])


def checkpoint_layout(path: str | os.PathLike[str], *, on: Any = None) -> CheckpointLayout:
    """The tensors of a checkpoint here, or on one host, from headers and directories alone; no tensor byte is read.

    Every format that `CheckpointIntact` knows, with torch or without.  Raises `Unseen` if it could not be read,
    ValueError for more than one host.
    """
    from verikit.verify import ask

    answers: list[Facts] = []
    start: int | None = 0
    while start is not None:
        told = ask(layout_look(path, start), on=on)
        if len(told) != 1:
            raise ValueError(f"checkpoint_layout takes one host, since each may hold another; got {len(told)}")
        answers.append(next(iter(told.values())))
        start = answers[-1]["next"]
    return layout_of(answers)
