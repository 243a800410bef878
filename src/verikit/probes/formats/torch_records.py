"""Records of an archive that are files of their own: what `torch.save` or pickle wrote, in whichever form of theirs.

`torch.export.load` gives the bytes of sample inputs, of weights and constants whose row says `use_pickle`, and in its older
layout of all its `serialized_….pt`, to `torch.load` with weights_only=False, which takes a ZIP, the stream from before it, or a
bare pickle, whose calls are made before anything is found amiss; `opaque_obj_N` goes to `pickle.loads`.
Source: torch/export/pt2_archive/_package.py, torch/_export/serde/serialize.py (`deserialize_torch_artifact`).
"""

import io
import os

from verikit.probes.formats import pickle_file, torch_legacy
from verikit.probes.formats import zipfile_directory as zip_
from verikit.probes.formats.layout import Broken, Layout, Window
from verikit.probes.place import CannotSee

LIMIT = 64 << 20
PROTOCOLS = (b"\x80\2", b"\x80\3", b"\x80\4", b"\x80\5")
NAMED = (".pkl", ".pickle", ".pt")
OWN = (".pkl", ".pickle", ".sample_input.pt")  # under `extra/`, where programs keep what they like


def judge(file, directory, layout, unpickled=(), raw=(), walked=(), crcs=True):
    """Walks each record that is a ZIP of torch's or a pickle, by its first bytes or by its name.

    unpickled: names of records that a loader unpickles whatever they are called.  raw: of those that it takes as bare elements.
    walked: of those that are done already.
    """
    for entry, start in zip(directory.entries, directory.starts):
        told = entry.name in unpickled or _named(entry.name)
        if entry.size and entry.name not in walked and (told or entry.name not in raw):
            _record(file, entry, start, told, crcs, layout)


def _named(name):
    return name.lower().endswith(OWN if "extra/" in name else NAMED)


def _record(file, entry, start, told, crcs, layout):
    inner = Layout(os.path.join(layout.path, entry.name), entry.size)
    inner.notes["within"] = True
    try:
        _read(_window(file, entry, start, crcs), told, inner)
    except Broken as error:
        inner.fault(error.kind, error.what, error.where)
    except CannotSee as error:
        inner.unseen(error.cause, error.reason)
    inner.spans = []  # the record as a whole has a CRC
    merge(inner, entry.name, layout, placed=entry.method == zip_.STORED)


def _window(file, entry, start, crcs):
    if entry.method == zip_.STORED:
        return file.part(start, entry.stored)
    data = zip_.bytes_of(file, entry, start, LIMIT, crcs)
    return Window(io.BytesIO(data), len(data))


def _read(window, told, inner):
    """By its first bytes; what a loader unpickles, and is neither, is `Broken`."""
    from verikit.probes.formats import torch_zip

    head = window.at(0, 64)
    if head[:4] == b"PK\3\4":
        inner.format = "torch_zip"
        torch_zip.structure(window, inner)
    elif head[:2] in PROTOCOLS:
        _pickled(window, head, told, inner)
    elif told:
        _old(window, inner)


def _pickled(window, head, told, inner):
    legacy = torch_legacy.SIGN in head[:32]
    try:
        (torch_legacy if legacy else pickle_file).structure(window, inner)
    except Broken:
        if told:
            raise  # else they are raw bytes that begin like one; an unpickler would have met the names up to there


def _old(window, inner):
    """A pickle of protocol 0 or 1, which has no mark, or nothing that a loader takes."""
    try:
        pickle_file.structure(window, inner)
    except Broken as error:
        what = "it is neither a file of torch.save nor a pickle, and its loader takes nothing else: %s"
        raise Broken("bad_header", what % error.what) from None


def merge(inner, name, layout, placed=True):
    """Tells of the archive what was found out about the record of that name."""
    for rows, tell in ((inner.faults, layout.fault), (inner.unknowns, layout.unseen), (inner.warnings, layout.warn)):
        for row in rows:
            tell(row["kind"], "%s: %s" % (name, row["what"]), row["where"])
    for row in inner.tensors:
        layout.tensor("%s:%s" % (name, row.name), row.dtype, row.shape, row.offset if placed else None, row.nbytes)
    layout.arrays += [array._replace(name="%s:%s" % (name, array.name)) for array in inner.arrays if placed]
    for key, use in inner.globals.items():
        layout.globals.setdefault(key, {**use, "where": _where(name, use["where"])})
    if inner.format or inner.tree:
        layout.tree.setdefault(name, inner.notes.get("root") or "mapping of %d" % len(inner.tree))
    room = max(0, 64 - len(layout.hidden))
    layout.hidden.extend({**row, "where": _where(name, row["where"])} for row in inner.hidden[:room])


def _where(name, inner):
    return inner if inner.endswith(name) else "%s: %s" % (name, inner)
