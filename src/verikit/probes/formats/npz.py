"""NPZ: a ZIP archive of NPY arrays, stored or deflated, each with a CRC-32 that numpy's own reader checks.

Source: numpy/lib/_npyio_impl.py (`savez`, `savez_compressed`) and the NPY format beside this file. Read are the directory
of the archive and the first bytes of each record, as far as its array's header goes; elements are not read.
"""

from verikit.probes import packing
from verikit.probes.formats import npy
from verikit.probes.formats import zipfile_directory as zip_
from verikit.probes.formats.layout import Broken
from verikit.probes.place import CannotSee

HEAD = 1 << 12  # bytes of a record that are read for its header; NPY headers are of 128 bytes or little more

PIECE = 1 << 20  # bzip2 gives nothing before it has a whole block, of at most 900 KB and little more


def structure(file, layout):
    """The arrays by their headers: header and elements are as long as the directory says that the record is."""
    directory = zip_.directory(file, layout)
    if directory is not None:
        records(file, directory, layout)


def records(file, directory, layout):
    """Each record by itself."""
    directory.refused(zip_.ZIPFILE, layout)
    if not directory.entries:
        raise CannotSee("nothing_seen", "an archive of no records: no arrays")
    for entry, start in zip(directory.entries, directory.starts):
        if entry.stored:
            crc = entry.crc if entry.method == zip_.STORED or entry.method in packing.KNOWN else None
            layout.span(
                entry.name, file.base + start, entry.stored, crc, 0 if crc is None else entry.method, entry.size
            )
        if entry.name.endswith(".npy"):
            _array(file, entry, start, layout)
        elif not entry.name.endswith("/"):
            layout.warn("mismatch", "the record %.100r is no array" % entry.name)


def _array(file, entry, start, layout):
    name = entry.name[: -len(".npy")]
    array = npy.header(_head(file, entry, start), start)
    if array.big:
        layout.byteorder = "big"
    layout.orders[name] = "big" if array.big else "little"
    if array.objects:
        _objects(file, entry, start, array, layout)
        layout.tensor(name, "object", array.shape, None, 0)
        return
    if array.length + array.nbytes != entry.size:
        what = "the array {!r} {}{} takes {:,} bytes, its record has {:,}"
        needed = array.length + array.nbytes
        layout.fault("bad_size", what.format(name, array.dtype, list(array.shape), needed, entry.size), start)
    stored = entry.method == zip_.STORED
    if not stored:
        layout.packed[name] = entry.name, array.length
    if array.strides:
        layout.strides[name] = array.strides
    layout.tensor(name, array.dtype, array.shape, file.base + start + array.length if stored else None, array.nbytes)


def _head(file, entry, start, most=HEAD):
    """The first bytes of a record, unpacked: enough for its header."""
    data = file.at(start, min(entry.stored, max(most, PIECE) if entry.method == packing.BZIP2 else most))
    if entry.method in packing.KNOWN:
        try:
            data = packing.first(entry.method, data, most)
        except packing.Damaged as error:
            raise Broken("crc", "record %.100r can't be unpacked: %s" % (entry.name, error), start) from None
    elif entry.method != zip_.STORED:
        raise CannotSee("unsupported", "record %.100r is packed by ZIP method %d" % (entry.name, entry.method))
    if most == HEAD and len(data) >= 12:
        wide = 2 if data[6] == 1 else 4
        if 8 + wide + int.from_bytes(data[8 : 8 + wide], "little") > len(data):
            return _head(file, entry, start, npy.HEADER_LIMIT + 12)
    return data


def _objects(file, entry, start, array, layout):
    from verikit.probes.formats import pickle_walk

    if max(entry.size, entry.stored) > npy.PICKLE_LIMIT:
        layout.unseen("bound_reached", "the object array %.100r has %d bytes of pickle" % (entry.name, entry.size))
        return
    data = zip_.bytes_of(file, entry, start, npy.PICKLE_LIMIT)[array.length :]
    end = pickle_walk.walk(data, layout, "the object array %.100r" % entry.name).end
    if end < len(data):
        layout.fault("trailing", "{:,} bytes follow the pickle of {!r}".format(len(data) - end, entry.name), start)
