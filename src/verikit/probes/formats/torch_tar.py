"""torch's oldest files (torch < 0.2): a tar with `sys_info`, `pickle`, `tensors` and `storages`.

Each member's header has a sum of its own bytes; the members' data have none.
Source: `legacy_load` in torch/serialization.py; the ustar format in POSIX.1-2017, pax.
"""

import struct

from verikit.probes.formats import torch_tensors
from verikit.probes.formats.layout import BITS, Broken, elements
from verikit.probes.formats.pickle_walk import Global, walk
from verikit.probes.formats.torch_legacy import next_pickle
from verikit.probes.formats.torch_tensors import TYPED, describe
from verikit.probes.place import CannotSee

BLOCK, RECORD = 512, 10240
MEMBERS = 64
NEEDED = ("pickle", "storages", "tensors")
FILES = (b"0", b"\0", b"7")
EXTENDED = (b"x", b"g", b"L", b"K")
"""Kinds of header that tell of the member after them: of POSIX's pax, and of GNU's tar."""
PROTOCOLS = (b"\x80\2", b"\x80\3", b"\x80\4", b"\x80\5")


def structure(file, layout):
    """The members are there and whole; storages and tensors agree with each other."""
    members = _members(file, layout)
    lacking = [name for name in NEEDED if name not in members]
    if len(lacking) == len(NEEDED):
        raise CannotSee("unsupported", "a tar archive that torch did not write: %s" % ", ".join(list(members)[:4]))
    for name in lacking:
        layout.fault("missing", "the member %r is missing" % name)
    if lacking or any(row["kind"] in ("truncated", "bad_header") for row in layout.faults):
        return
    _others(members, layout)
    storages = _storages(members["storages"], layout)
    known = set(storages) | _tensors(members["tensors"], storages, layout)
    data = members["pickle"].at(0, members["pickle"].size)
    pickle = walk(data, layout, "pickle")
    if pickle.end < len(data):
        layout.fault("trailing", "{:,} bytes follow the pickle".format(len(data) - pickle.end))
    _named(pickle, known)
    root = pickle.root
    layout.root = root
    layout.arrays += [array._replace(origin=members["pickle"].base) for array in torch_tensors.arrays(root)]
    layout.tree.update({str(key): describe(value) for key, value in root.items()} if type(root) is dict else {})


def _named(pickle, known):
    """Holds what the pickle names by number against the tensors and storages that the other members have."""
    for item in pickle.persistent:
        if type(item.id) is tuple:  # a class with its source
            continue
        number = int(item.id) if type(item.id) is int or (type(item.id) is str and item.id.isdigit()) else item.id
        if number not in known:
            raise Broken(
                "missing", "the pickle names %.40r, which is no tensor or storage of the other members" % (item.id,)
            )


def _others(members, layout):
    """What pickles would do that torch does not read: sys_info, and whatever else is one. Whoever opens the archive may."""
    for name, member in members.items():
        if name not in NEEDED and (name == "sys_info" or member.at(0, 2) in PROTOCOLS):
            try:
                walk(member.at(0, member.size), layout, name)
            except Broken:
                continue  # its names up to there are told


def _members(file, layout):
    """{name: Window}, up to the two blocks of zeros that end an archive."""
    members, at = {}, 0
    while len(members) < MEMBERS:
        head = file.at(at, BLOCK)
        if len(head) < BLOCK or not head.strip(b"\0"):
            break
        name, size, kind = _name(head), _octal(head[124:136]), head[156:157]
        if _octal(head[148:156]) != sum(head[:148]) + 8 * 32 + sum(head[156:]):
            raise Broken("bad_header", "the header at byte %d has a wrong sum" % at, at)
        if at + BLOCK + size > file.size:
            layout.shortfall(at + BLOCK + size, "the member %r is cut" % name)
        if kind not in EXTENDED:
            _judge(name, kind, name in members, layout)
            members[name] = file.part(at + BLOCK, size)
        at += BLOCK + -(-size // BLOCK) * BLOCK
    end = file.at(at, 2 * BLOCK)
    # tar and Python pad to whole records; other programs end with the two blocks, and so may a file that was cut.
    if file.size % RECORD and file.size - at == 2 * BLOCK:
        what = "it ends with its last block, short of the multiple of {:,} bytes that tar writes: by another program, or cut"
        layout.unseen("ambiguous", what.format(RECORD))
    elif file.size % RECORD and not layout.needed:
        layout.fault("bad_size", "its size is no multiple of {:,} bytes, as tar writes them".format(RECORD), file.size)
    elif len(end) < 2 * BLOCK and not layout.needed:
        layout.shortfall(at + 2 * BLOCK, "the two blocks that end the archive are missing")
    rest = file.at(at, min(file.size - at, 1 << 20))
    if file.size - at > RECORD + 2 * BLOCK:
        layout.warn(
            "trailing", "{:,} bytes of zeros follow the archive: more than tar pads with".format(file.size - at)
        )
    if rest.strip(b"\0"):
        layout.fault("trailing", "bytes that belong to no member follow the archive", at)
    return members


def _name(head):
    """The name in full: POSIX has room for its folders in a field of their own."""
    folders = head[345:500].partition(b"\0")[0] if head[257:263] == b"ustar\0" else b""
    raw = folders + b"/" * bool(folders) + head[:100].partition(b"\0")[0]
    return raw.decode("utf-8", "replace")


def _judge(name, kind, again, layout):
    """One member among the others: torch takes the files it needs out of the archive, by their names."""
    if again:
        layout.fault("duplicate", "two members are called %r" % name)
    if ".." in name.replace("\\", "/").split("/") or name.startswith("/"):
        layout.fault("escapes", "the member %r leaves the folder" % name)
    if name in NEEDED and kind not in FILES:
        layout.fault("bad_header", "the member %r is no file, but a link or folder" % name)


def _octal(field):
    text = field.strip(b"\0 ")
    if not text or text.strip(b"01234567"):
        raise Broken("bad_header", "a tar header with a number that is none")
    return int(text, 8)


def _storages(file, layout):
    """{key: (dtype, elements, offset)}, views of storages among them."""
    count, at = next_pickle(file, 0, layout, "storages")
    if type(count.root) is not int:
        raise Broken("bad_pickle", "the number of storages is no number")
    storages = {}
    for _ in range(min(count.root, 1 << 20)):
        row, at = next_pickle(file, at, layout, "storages")
        key, dtype = _storage(row.root)
        count = int.from_bytes(file.exactly(at, 8, "the size of a storage"), "little", signed=True)
        nbytes = count * (BITS[dtype] // 8)
        if count < 0 or at + 8 + nbytes > file.size:
            raise Broken("bad_size", "storage %s has %d elements, more than the member holds" % (key, count), at)
        storages[key] = dtype, count, file.base + at + 8
        layout.span("storage %s" % key, file.base + at + 8, nbytes)
        at += 8 + nbytes
    views, at = next_pickle(file, at, layout, "storages")
    _add_views(views.root, storages, layout)
    if at != file.size:
        layout.fault("trailing", "{:,} bytes follow the last storage".format(file.size - at), file.base + at)
    return storages


def _add_views(rows, storages, layout):
    """Storages that are parts of others: rows of (key, key of the whole, first element, elements)."""
    if type(rows) is not list:
        raise Broken("bad_pickle", "the views of storages are no list")
    for row in rows:
        if type(row) is not tuple or len(row) != 4 or not all(type(item) is int and item >= 0 for item in row[2:]):
            raise Broken("bad_pickle", "a view of a storage that is not told by two keys, offset and size")
        if _key(row[1]) not in storages:
            raise Broken("missing", "a view of storage %s, which is not there" % row[1])
        dtype, count, start = storages[row[1]]
        if row[2] + row[3] > count:
            what = "a view of storage {} reaches to element {:,} of {:,}"
            layout.fault("bad_size", what.format(row[1], row[2] + row[3], count))
        storages[_key(row[0])] = dtype, min(row[3], max(0, count - row[2])), start + row[2] * (BITS[dtype] // 8)


def _key(item):
    if type(item) not in (int, str):
        raise Broken("bad_pickle", "a key that is neither a number nor a text")
    return item


def _storage(root):
    if type(root) is not tuple or len(root) != 3 or type(root[2]) is not Global:
        raise Broken("bad_pickle", "a storage that is not told by key, location and type")
    dtype = TYPED.get(root[2].attribute[: -len("Storage")])
    if dtype is None:
        raise Broken("bad_pickle", "a storage of an unknown kind, %s" % root[2].name)
    return _key(root[0]), dtype


def _tensors(file, storages, layout):
    """The keys of all tensors, each of which lies within its storage."""
    keys = set()
    count, at = next_pickle(file, 0, layout, "tensors")
    if type(count.root) is not int:
        raise Broken("bad_pickle", "the number of tensors is no number")
    for _ in range(min(count.root, 1 << 20)):
        row, at = next_pickle(file, at, layout, "tensors")
        if type(row.root) is not tuple or len(row.root) != 3 or _key(row.root[1]) not in storages:
            raise Broken("mismatch", "a tensor of a storage that is not there")
        (ndim,) = struct.unpack("<i4x", file.exactly(at, 8, "a tensor"))
        if not 0 <= ndim <= 64:
            raise Broken("bad_header", "a tensor of %d dimensions" % ndim, file.base + at)
        numbers = struct.unpack("<%dq" % (2 * ndim + 1), file.exactly(at + 8, 16 * ndim + 8, "a tensor"))
        at += 16 * ndim + 16
        keys.add(_key(row.root[0]))
        _view(str(row.root[0]), storages[row.root[1]], numbers[:ndim], numbers[ndim:-1], numbers[-1], layout)
    if at != file.size:
        layout.fault("trailing", "{:,} bytes follow the last tensor".format(file.size - at), file.base + at)
    return keys


def _view(name, storage, shape, strides, offset, layout):
    dtype, count, start = storage
    reach = 0 if 0 in shape else 1 + sum((length - 1) * stride for length, stride in zip(shape, strides))
    if min(shape + strides, default=0) < 0 or offset < 0 or offset + reach > count:
        layout.fault("bad_size", "tensor %s reaches beyond its storage of %d elements" % (name, count))
    width = BITS[dtype] // 8
    layout.tensor(name, dtype, shape, start + offset * width, reach * width)
    if strides != tuple(elements(shape[axis + 1 :]) for axis in range(len(shape))):
        layout.strides[name] = strides
