"""What a checkpoint should be (`Manifest`), made by `seal`, and which of a run's checkpoints is the last good one.

    sealed = seal("/data/step20k.pt", on="root@gpu01")
    verify(CheckpointIntact("/root/eval/step20k.pt", manifest=sealed), on="root@ct129")      # how a relay is proved

    newest_intact("/data/runs/42", on="root@gpu01").path                                     # where to resume

Here are values and pure functions; what reads files is in `probes/manifest.py` and `probes/resume.py`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from verikit.check import Check, Facts, Look
from verikit.finding import thaw_facts
from verikit.probes import manifest as probe
from verikit.probes import resume
from verikit.text import count
from verikit.values import Frozen, freeze, path
from verikit.verdict import FAIL, PASS, Verdict

SECONDS = 24 * 3600.0
"""A whole read of a large checkpoint may take this long; `.timeout()` on the claim shortens it."""


def _form(value: Any) -> Frozen:
    if not isinstance(value, Mapping):
        raise TypeError(f"a manifest is made from the mapping that `to_dict` gives; got {type(value).__name__}")
    return Frozen(probe.of_json(thaw_facts(value)))


@attrs.frozen(repr=False)
class Manifest(Mapping[str, Any]):
    """The files of a checkpoint with their sizes and digests, and what was known of it when it was sealed.

    Built from verikit's own form, a model-signing statement, or `{path: "sha256:…"}`; `Manifest.read` takes files,
    `sha256sum` and `b3sum` ones too.  A mapping with the keys of its form, hashable, frozen; its `repr` rebuilds it,
    `to_dict` is the form `verikit.manifest/1`.
    """

    form: Frozen = attrs.field(converter=_form)

    @classmethod
    def read(cls, where: str | os.PathLike[str]) -> Manifest:
        """The manifest in a file of this machine: verikit's, checksum lines, a Git-LFS pointer, model-signing, the hub's."""
        with open(where, "rb") as file:
            return cls(probe.parse(file.read(probe.LIMIT), os.path.basename(os.fspath(where))))

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """The manifest that `to_json` wrote."""
        return cls(json.loads(text))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Manifest:
        """The manifest that `to_dict` gave."""
        return cls(data)

    def to_dict(self) -> dict[str, Any]:
        """JSON values, in the form `verikit.manifest/1`."""
        form = thaw_facts(self.form)
        assert isinstance(form, dict)
        return form

    def to_json(self) -> str:
        """The manifest as text."""
        return json.dumps(self.to_dict(), indent=1)

    @property
    def files(self) -> tuple[Mapping[str, Any], ...]:
        """Rows with path, size (None: not said), digests and, where sealed by verikit, the CRC-32 of each block."""
        files: tuple[Mapping[str, Any], ...] = self.form["files"]
        return files

    @property
    def size(self) -> int | None:
        """Bytes of all files, or None where one is not said."""
        sizes = [row.get("size") for row in self.files]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    @property
    def name(self) -> str:
        """The last part of the path that was sealed; it need not be the same elsewhere."""
        return str(self.form.get("name", ""))

    @property
    def layout(self) -> Mapping[str, Any]:
        """What was known of the tensors: format, number, and a digest of their names, dtypes and shapes."""
        layout: Mapping[str, Any] = self.form.get("layout", Frozen())
        return layout

    @property
    def step(self) -> int | None:
        """The training step, where the checkpoint or its name says one."""
        step: int | None = self.form.get("step")
        return step

    @property
    def time(self) -> float | None:
        """When it was sealed, in seconds since the epoch by that host's clock."""
        time: float | None = self.form.get("time")
        return time

    @property
    def tool(self) -> str:
        """What made it."""
        return str(self.form.get("tool", self.form["source"]))

    def __getitem__(self, key: str) -> Any:
        return self.form[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.form)

    def __len__(self) -> int:
        return len(self.form)

    @property
    def brief(self) -> str:
        """How a title calls it."""
        return f"<manifest of {count(len(self['files']), 'file')}>"

    def __repr__(self) -> str:
        return f"Manifest({self.to_dict()!r})"


def seal_look(where: str, write: bool = False) -> Look:
    """The question that is answered by the manifest of what lies at `where`."""
    return Look(probe.seal, path=path(where), write=bool(write)).within(SECONDS)


def sealed(facts: Facts, where: str) -> Manifest:
    """The manifest that `probes.manifest.seal` answered, with the tool that made it and the step its name bears."""
    from verikit._version import __version__

    step = resume.step_of(os.path.basename(os.path.normpath(where)))
    known = {"tool": f"verikit {__version__}", **({} if step is None else {"step": step})}
    return Manifest({**known, **facts})


def seal(where: str | os.PathLike[str], *, on: Any = None, write: bool = False) -> Manifest:
    """The manifest of a checkpoint here, or on one host. Reads every byte.

    write: put it beside the checkpoint too, as `<path>.verikit.json`, and at no other time.
    Raises `Unseen` if the checkpoint could not be read, ValueError for more than one host.
    """
    from verikit.verify import ask

    answers = ask(seal_look(path(where), write), on=on)
    if len(answers) != 1:
        raise ValueError(f"seal takes one host, since each may hold other bytes; got {len(answers)}")
    (facts,) = answers.values()
    return sealed(facts, path(where))


# Which checkpoint to resume from.


@attrs.frozen
class Tried:
    """A checkpoint that was looked at: its path, the step of its name, and what came of it."""

    path: str
    step: int | None
    verdict: Verdict
    reason: str


@attrs.frozen
class Newest:
    """The last good checkpoint (`path` None: there is none) and the newer ones that are not, newest first.

    looked_at: how many of `found`.  pointer: what the run's own note calls the last (`latest` and its like).
    """

    path: str | None
    step: int | None
    reason: str
    newer: tuple[Tried, ...] = ()
    looked_at: int = 0
    found: int = 0
    pointer: Mapping[str, str] = attrs.field(factory=Frozen, converter=freeze)

    def __bool__(self) -> bool:
        return self.path is not None

    def __str__(self) -> str:
        head = f"resume from {self.path}: {self.reason}" if self else f"no intact checkpoint: {self.reason}"
        return "\n".join([head, *(f"  not {row.path}: {row.verdict}: {row.reason}" for row in self.newer)])


def newest_look(folder: str) -> Look:
    """The question which checkpoints lie in a folder."""
    return Look(resume.candidates, folder=path(folder))


def newest_of(folder: str, facts: Facts, tried: list[Tried]) -> Newest | None:
    """The answer as far as it is known: None while a candidate is still to be looked at. Pure.

    tried: what came of the candidates so far, in their order.
    """
    rows = facts["rows"]
    found = len(rows) + facts["more"]
    rest = {"found": found, "looked_at": len(tried), "pointer": facts["pointer"]}
    if tried and tried[-1].verdict is PASS:
        last = tried[-1]
        return Newest(last.path, last.step, last.reason, tuple(tried[:-1]), **rest)
    if len(tried) < len(rows):
        return None
    reason = f"none of {count(found, 'candidate')} in {folder}" if found else f"nothing in {folder} is a checkpoint"
    return Newest(None, None, reason, tuple(tried), **rest)


def given_up(row: Mapping[str, Any], where: str) -> Tried | None:
    """What a name alone says: a save or download that was not finished is no checkpoint."""
    if not row["temporary"]:
        return None
    return Tried(where, row["step"], FAIL, "it bears the name of a save or download that was not finished")


def newest_intact(folder: str | os.PathLike[str], *, on: Any = None, **expectations: Any) -> Newest:
    """The last good checkpoint of a run, and why the newer ones are not.

    Candidates are the files and folders of `folder` that are checkpoints, by the step in their names, newest first; each
    is held to `CheckpointIntact(path, **expectations)` (depth "structure" if not said) until one passes.
    A checkpoint that could not be decided on is not taken.  Raises `Unseen` if the folder could not be read.
    """
    from verikit.checks.checkpoint import CheckpointIntact
    from verikit.verify import ask, verify

    where = path(folder)
    answers = ask(newest_look(where), on=on)
    if len(answers) != 1:
        raise ValueError(f"newest_intact takes one host, since each has checkpoints of its own; got {len(answers)}")
    (facts,) = answers.values()
    tried: list[Tried] = []
    while (answer := newest_of(where, facts, tried)) is None:
        row = facts["rows"][len(tried)]
        each = where if row["name"] == "." else os.path.join(where, row["name"])
        known = given_up(row, each)
        if known is None:
            claim: Check = CheckpointIntact(each, **expectations)
            leaf = verify(claim, on=on).leaves()[0]
            known = Tried(each, row["step"], leaf.verdict, leaf.reason)
        tried.append(known)
    return answer
