"""torch's files from before its ZIP format (torch < 1.6, or `_use_new_zipfile_serialization=False`).

Five pickles one after another (magic number, protocol 1001, sys_info, the object, the keys of its storages), then for each
key a whole number of 8 bytes, its elements, and the elements.  Nothing follows, and there is no checksum.
Source: `_legacy_save` and `_legacy_load` in torch/serialization.py.
"""

from verikit.probes.formats import torch_idiom, torch_tensors
from verikit.probes.formats.layout import BITS, Broken, plural
from verikit.probes.formats.pickle_walk import walk
from verikit.probes.place import CannotSee

MAGIC = 0x1950A86A20F9469CFC6C
PROTOCOL = 1001
SIGN = b"\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""The end of its first pickle, the magic number: among the first 32 bytes."""
FIRST, MOST = 1 << 16, 64 << 20


def structure(file, layout):
    """Storages follow each other up to the end of the file, each as long as the pickle says; tensors lie within them."""
    magic, at = next_pickle(file, 0, layout, "the magic number")
    protocol, at = next_pickle(file, at, layout, "the protocol")
    system, at = next_pickle(file, at, layout, "sys_info")
    if magic.root != MAGIC or protocol.root != PROTOCOL:
        raise Broken("bad_header", "its magic number or protocol is not torch's", 0)
    if type(system.root) is dict and system.root.get("little_endian") is False:
        layout.byteorder = "big"
    begin = file.base + at
    pickle, at = next_pickle(file, at, layout, "the pickle")
    keys, at = next_pickle(file, at, layout, "the list of storages")
    storages = torch_tensors.storages_of(pickle, layout, torch_tensors.SIX)
    starts = _storages(file, at, _names(keys.root, storages, layout), storages, layout)
    torch_tensors.tell(pickle.root, layout, starts.get, begin)


def next_pickle(file, at, layout, what):
    """(Walk, offset after it) of the pickle that begins at `at`; read in growing pieces, as its length is written nowhere."""
    size = FIRST
    while True:
        data = file.at(at, size)
        whole = size >= file.size - at
        try:
            found = walk(data, build=torch_tensors.BUILD, idioms=torch_idiom.TENSORS)
        except Broken as error:
            if whole:
                _again(data, layout, what)
                raise Broken(
                    "truncated" if error.what.find("breaks off") >= 0 else error.kind, "%s: %s" % (what, error.what)
                )
            if size >= MOST:
                raise CannotSee("bound_reached", "%s has more than %d bytes" % (what, MOST)) from None
        else:
            layout.pickled(found, what)
            return found, at + found.end
        size = min(MOST, size * 4)


def _again(data, layout, what):
    """Walks what can't be walked to its end once more, so that the names up to there are told."""
    try:
        walk(data, layout, what)
    except Broken:
        pass


def _names(keys, storages, layout):
    if type(keys) is not list or not all(type(key) in (str, int) for key in keys):
        raise Broken("bad_pickle", "the list of storages is no list of keys")
    names = [str(key) for key in keys]
    if len(set(names)) != len(names):
        layout.fault("duplicate", "a storage is listed twice")
    for key in sorted(set(storages) - set(names)):
        layout.fault("missing", "storage %s of the pickle is not in the list of storages" % key)
    for key in sorted(set(names) - set(storages)):
        raise Broken("mismatch", "storage %s is listed, but the pickle does not name it" % key)
    return names


def _storages(file, at, names, storages, layout):
    """{key: offset of its elements}, having walked over all of them."""
    starts = {}
    for done, key in enumerate(names):
        storage = storages[key]
        if at + 8 + storage.nbytes > file.size:
            rest = sum(8 + storages[other].nbytes for other in names[done:])
            layout.shortfall(at + rest, "the last %s cut" % plural(len(names) - done, "storage is", "storages are"))
            return starts
        count = int.from_bytes(file.exactly(at, 8, "the size of storage %s" % key), layout.byteorder, signed=True)
        if count * (BITS[storage.dtype] // 8) != storage.nbytes:
            what = "storage {} has {:,} elements, the pickle says {:,}"
            raise Broken("bad_size", what.format(key, count, storage.nbytes * 8 // BITS[storage.dtype]), at)
        starts[key] = file.base + at + 8
        layout.spans.add("storage ", key, file.base + at + 8, storage.nbytes)
        at += 8 + storage.nbytes
    if at < file.size:
        layout.fault("trailing", "{:,} bytes follow the last storage".format(file.size - at), at)
    return starts
