"""torch's ZIP files (`.pt`, `.pth`, `.bin`, `.ckpt`; torch 1.6 and newer), TorchScript too.

Read are the directory at the end, the header of each record and the descriptor after it, and the small records:
`data.pkl` (walked, never unpickled), `byteorder`, `version`, `.data/serialization_id`.  No storage is read.
Source: torch/serialization.py and caffe2/serialize/inline_container.cc of PyTorch.

`.data/serialization_id` has 40 digits.  The last 20 are a fold over the CRC-32s of all records before it, so they prove
that the directory is the writer's (an edited, swapped, dropped or put-in record shows), and tell a file written with
CRCs off from one whose CRCs are damaged.  torch before 2.1 wrote none.
"""

import re
import struct
import zlib

from verikit.probes.formats import lightning, optimizer, signs, torch_idiom, torch_tensors, torchscript
from verikit.probes.formats import zipfile_directory as zip_
from verikit.probes.formats.layout import Broken
from verikit.probes.formats.pickle_walk import walk
from verikit.probes.place import CannotSee

PICKLE_LIMIT = 64 << 20
OWN = frozenset(("data.pkl", "byteorder", "version", ".format_version", ".storage_alignment"))
NEWEST = 10
"""Of the versions of the format, counted from 1 (`kMaxSupportedFileFormatVersion`)."""
NUMBER = re.compile(rb"\s*[+-]?[0-9]{1,20}")
SUFFIXES = (".pt", ".pth", ".bin", ".ckpt", ".pkl", ".distcp")


def structure(file, layout):
    """Storages, tensors and records of the archive, and whether they agree."""
    directory = zip_.directory(file, layout)
    if directory is None:
        _least_size(file, layout)
        return
    if not any(name.endswith("/data.pkl") for name in directory.names()) and _other(file, directory, layout):
        return
    top = _top(directory, layout)
    try:
        crcs, data = _opened(file, directory, top, layout)
    except Broken:
        _dangers(file, directory, top, layout)
        raise
    pickle = walk(data, layout, "data.pkl", build=torch_tensors.BUILD, idioms=torch_idiom.TENSORS)
    if pickle.end < len(data):
        layout.fault("trailing", "{:,} bytes follow the pickle in data.pkl".format(len(data) - pickle.end))
    del data  # megabytes, with 10^5 tensors
    _storages(file, directory, top, pickle, layout)
    if torchscript.shown(directory, top, layout):
        torchscript.judge(directory, top, layout)
    _pickles(file, directory, top, crcs, layout)
    optimizer.judge(layout)
    if lightning.MARK in layout.tree:
        lightning.judge(layout)


def _opened(file, directory, top, layout):
    """(Whether CRCs are to be believed, the bytes of data.pkl), where all that torch reads before them is right."""
    directory.refused(zip_.MINIZ, layout)
    crcs = _crcs(file, directory, top, layout)
    version(file, directory, top, crcs, layout)
    layout.byteorder = _byteorder(file, directory, top, crcs)
    layout.spans = zip_.Spans(directory, file.base, crcs)
    return crcs, zip_.content(file, directory, top + "data.pkl", PICKLE_LIMIT, crcs)


def _dangers(file, directory, top, layout):
    """What the pickles of a broken archive would do all the same: torch compares no CRC before it runs them."""
    try:
        walk(zip_.content(file, directory, top + "data.pkl", PICKLE_LIMIT, compare=False), layout, "data.pkl")
        _pickles(file, directory, top, False, layout)
    except (Broken, CannotSee):
        pass  # the names up to there are told


def _other(file, directory, layout):
    """Whether it is an archive of another kind, which is judged then."""
    from verikit.probes.formats import npz, torch_archive

    what = torch_archive.kind(directory.by_name)
    if what in ("empty", "npz") and not layout.path.endswith(SUFFIXES):
        layout.format = "npz"
        npz.records(file, directory, layout)
        return True
    if what not in ("torch.export", "torch.package"):
        return False
    top = next(iter(directory.by_name)).partition("/")[0] + "/"
    # torch.export read through zipfile up to torch 2.7, whose archives had other records.
    older = "serialized_exported_program.json" in directory.by_name
    directory.refused(zip_.ZIPFILE if older else zip_.MINIZ, layout)
    crcs = _crcs(file, directory, top, layout)
    layout.spans = zip_.Spans(directory, file.base, crcs)
    if what == "torch.package":
        version(file, directory, top, crcs, layout)
    torch_archive.structure(file, directory, what, crcs, layout)
    return True


def _top(directory, layout):
    """The folder that all records lie in, with its slash."""
    found = next((name for name in directory.names() if name.endswith("/data.pkl") and name.count("/") == 1), None)
    if found is None:
        if not any("/data/" in name or name.endswith("/version") for name in directory.names()):
            signs.around("ZIP", list(directory.names()), layout.path)
        if not layout.path.endswith(SUFFIXES) and not any("/data/" in name for name in directory.names()):
            names = list(directory.by_name)[:4]
            raise CannotSee("unsupported", "a ZIP archive that torch did not write: %s" % ", ".join(names))
        raise Broken("missing", "no record is called data.pkl")
    top = found[: -len("data.pkl")]
    own = top.encode("utf-8", "surrogateescape")
    stray = next((at for at, raw in enumerate(directory.raws()) if not raw.startswith(own)), None)
    if stray is not None:
        layout.fault("mismatch", "record %r lies outside of %r" % (directory[stray].name, top))
    return top


# CRCs.


def _crcs(file, directory, top, layout):
    """Whether the directory's CRCs are to be believed: False for a file that was written without any."""
    off = any(directory.sizes) and not any(crc for crc, size in zip(directory.crcs, directory.sizes) if size)
    if off:
        layout.notes["crc"] = "off"
        layout.warn("crc_off", "written with CRCs switched off: its bytes can only be compared by digest or manifest")
    _identity(file, directory, top, not off, layout)
    for at, (crc, size) in enumerate(zip(directory.crcs, directory.sizes)):
        if size and not crc and not off:
            layout.fault(
                "hole", "record %r was never filled: it has a size, but no CRC (skip_data)" % directory[at].name
            )
    return not off


def _identity(file, directory, top, crcs, layout):
    """Holds the directory's CRCs against the fold over them that the writer left."""
    name = top + ".data/serialization_id"
    own = directory.at(name)
    if own is None:
        return
    text = zip_.content(file, directory, name, 4096, crcs)
    if len(text) != 40 or not text.isdigit():
        layout.fault("mismatch", ".data/serialization_id is not of 40 digits")
        return
    layout.notes["serialization_id"] = text.decode("ascii")
    rows = enumerate(zip(directory.crcs, directory.sizes))
    if fold(crc for at, (crc, size) in rows if size and at != own) == int(text[20:]):
        return
    entries = [entry for entry in directory if entry.size and entry.name != name]
    if any(fold(entry.crc for entry in order) == int(text[20:]) for order in _orders(entries, top)):
        return
    if crcs and fold([0] * len(entries)) == int(text[20:]):
        what = "written with CRCs switched off, and zipped anew: its CRCs speak for its bytes from then on only"
        layout.notes["crc"] = "anew"
        layout.warn("crc_off", what)
        return
    what = "the records are not those that its writer listed in .data/serialization_id"
    if _plain(entries, top) or (
        directory.entries[0].flags & zip_.DESCRIPTOR and directory.entries[0].name == top + "data.pkl"
    ):
        layout.fault("mismatch", what)
    else:
        layout.unseen("ambiguous", what + ", perhaps because it was zipped anew in another order")


def _plain(entries, top):
    """Whether all records are of `torch.save`, so that the order in which it wrote them is known, however they lie now."""
    names = (entry.name[len(top) :] for entry in entries)
    return all(name in OWN or name.startswith(("data/", ".data/")) for name in names)


def fold(crcs):
    """c10::hash_combine over CRC-32s, 64 bits, from 0."""
    seed = 0
    for crc in crcs:
        seed ^= (crc + 0x9E3779B9 + (seed << 6) + (seed >> 2)) & 0xFFFFFFFFFFFFFFFF
    return seed


def _orders(entries, top):
    """The orders in which torch may have written these records, before they were zipped anew."""
    for key in (_number, str):
        first = {"data.pkl": 0, ".format_version": 1, ".storage_alignment": 2, "byteorder": 3, "version": 5}
        names = {entry: entry.name[len(top) :] for entry in entries}
        yield sorted(entries, key=lambda entry: (first.get(names[entry], 4), key(names[entry])))


def _number(name):
    digits = name.rpartition("/")[2]
    return (0, int(digits), "") if digits.isdigit() and len(digits) < 20 else (1, 0, name)


# Storages.


def _byteorder(file, directory, top, crcs):
    name = top + "byteorder"
    if directory.at(name) is None:
        return "little"
    order = zip_.content(file, directory, name, 4096, crcs)
    if order not in (b"little", b"big"):
        raise Broken("bad_header", "byteorder says %.20r" % order)
    return order.decode("ascii")


def version(file, directory, top, crcs, layout):
    """torch reads a number there before all else (`PyTorchStreamReader::init`), and refuses the file without one."""
    name = next((top + name for name in (".data/version", "version") if directory.at(top + name) is not None), None)
    if name is None:
        layout.fault("missing", "there is no record `version`, without which torch opens no file")
        return
    text = zip_.content(file, directory, name, 4096, crcs)
    number = NUMBER.match(text)
    if number is None or not 1 <= int(number.group()) < 10 * NEWEST:
        layout.fault("bad_header", "the record version holds no number that torch takes: %.20r" % text)
    elif int(number.group()) > NEWEST:
        what = "it is of version %d of torch's format; torch 2.13 reads up to %d"
        layout.unseen("unsupported", what % (int(number.group()), NEWEST))


def _storages(file, directory, top, pickle, layout):
    """Every storage has its record, of the right size, and every record its storage; tensors lie within them."""
    storages = torch_tensors.storages_of(pickle, layout, torch_tensors.FIVE)
    pickle.persistent = []
    records = _records(directory, top + "data/", storages, layout)
    storages.clear()

    def place_of(key):
        at = records[key]
        if at is None:
            return None
        return file.base + directory.starts[at] if stored(at) else directory[at].name

    def stored(at):
        return directory.methods[at] == zip_.STORED

    own = directory.at(top + "data.pkl")
    torch_tensors.tell(pickle.root, layout, place_of, file.base + directory.starts[own] if stored(own) else None)


def _records(directory, folder, storages, layout):
    """{key: number of the record, or None} of each storage."""
    records, strays, first = dict.fromkeys(storages), [], len(folder)
    for at, name in enumerate(directory.names()):
        if not name.startswith(folder) or name.endswith("/"):
            continue
        key = name[first:]
        if key not in records:
            strays.append(name)
            continue
        records[key] = at
        if directory.sizes[at] != storages[key].nbytes:
            what = "record data/{} has {:,} bytes, data.pkl says {:,}"
            layout.fault("bad_size", what.format(key, directory.sizes[at], storages[key].nbytes))
    for key, at in records.items():
        if at is None and storages[key].location != "meta":
            layout.fault("missing", "there is no record for storage %s" % key)
    for name in strays:
        layout.fault("mismatch", "no tensor is in record %r" % name)
    return records


def _pickles(file, directory, top, crcs, layout):
    """Every other record that is a pickle, by its name or its first bytes: whoever opens the archive may load it."""
    storages = (top + "data/").encode("utf-8", "surrogateescape")
    for at, (raw, size) in enumerate(zip(directory.raws(), directory.sizes)):
        if not size or raw.startswith(storages):
            continue
        name = directory[at].name
        name = name[len(top) :] if name.startswith(top) else name
        if name == "data.pkl" or name.startswith("data/"):
            continue
        told = name.lower().endswith((".pkl", ".pickle"))
        packed = directory.methods[at] == zip_.DEFLATED and size <= PICKLE_LIMIT
        if told or packed or file.at(directory.starts[at], 2) in _PROTOCOLS:
            data = zip_.bytes_of(file, directory[at], directory.starts[at], PICKLE_LIMIT, crcs)
            if told or data[:2] in _PROTOCOLS:
                _pickle(data, name, told, layout)


_PROTOCOLS = (b"\x80\2", b"\x80\3", b"\x80\4", b"\x80\5")


def _pickle(data, name, told, layout):
    try:
        end = walk(data, layout, name).end
    except Broken:
        if told:
            raise
        return  # raw bytes that begin like one
    if end < len(data):
        layout.fault("trailing", "{:,} bytes follow the pickle in {}".format(len(data) - end, name))


# A file without its directory.


def _least_size(file, layout):
    """How large a cut file must have been at least, by the storages that its data.pkl names, if that is whole."""
    head = file.at(0, 1 << 16)
    if len(head) < 30 or head[:4] != b"PK\3\4":
        return
    method, n, m = struct.unpack_from("<8xH16x2H", head)
    if not head[30 : 30 + n].endswith(b"/data.pkl"):
        return
    try:
        pickle = _first_pickle(file, 30 + n + m, method, layout)
        sizes = [storage.nbytes for storage in torch_tensors.storages_of(pickle, layout).values()]
    except (Broken, CannotSee, zlib.error):
        return
    if not method and sum(sizes) + 30 + n + m + pickle.end > file.size:
        layout.needed = sum(sizes) + 30 + n + m + pickle.end
        layout.notes["needed_is_least"] = True


def _first_pickle(file, begin, method, layout):
    """The walk of the pickle that begins there, whose size only the lost directory knew: most have less than a megabyte."""
    for most in (1 << 20, 1 << 23, PICKLE_LIMIT):
        data = file.at(begin, most)
        last = len(data) < most or most == PICKLE_LIMIT
        try:
            if method == 8:
                data = zlib.decompressobj(-15).decompress(data, PICKLE_LIMIT)
            pickle = walk(data, layout if last else None, "data.pkl")
        except Broken:
            if last:
                raise
            continue
        if not last:
            layout.pickled(pickle, "data.pkl")
        return pickle
    raise AssertionError("the last size is tried or raises")
