"""WebDataset: a tar of samples, `000001.input_ids.npy` beside `000001.json`: members of one key are one sample.

Source: the webdataset README (a key is what stands before the first dot of a file's name); POSIX.1-2017, pax, for ustar and
its extended headers; GNU tar for long names. Read are the members' headers and those of the arrays in them, never a payload.
A `.npy` member is told as a tensor, `000001.input_ids`, whose bytes can be looked at; other members are counted.
"""

from verikit.probes.formats import npy, signs
from verikit.probes.formats.layout import Broken
from verikit.probes.place import CannotSee

BLOCK = 512
MOST_MEMBERS = 400_000
NAMES = 16
LONG_NAME, EXTENDED = (b"L",), (b"x", b"g")
FILES = (b"0", b"\0")


def structure(file, layout):
    """Every member is whole, and what its `.npy` header says is what its size allows."""
    keys, members, named = set(), 0, []
    for name, at, size in _members(file, layout):
        members += 1
        if members > MOST_MEMBERS:
            raise CannotSee("bound_reached", "more than {:,} members".format(MOST_MEMBERS))
        folder, _, base = name.rpartition("/")
        keys.add((folder, base.partition(".")[0]))
        if len(named) < NAMES or (signs.wanted(name) and not any(map(signs.wanted, named))):
            named.append(name)
        if name.endswith(".npy"):
            _array(file, name[:-4], at, size, layout)
    signs.around("tar", named, layout.path)
    if not layout.tensors and not layout.faults:
        first = ": it holds %.100r" % next((name for name in named if signs.wanted(name)), named[0]) if named else ""
        raise CannotSee("unsupported", "a tar archive without .npy members, and not torch's%s" % first)
    layout.notes["keys"] = {"samples": len(keys), "members": members}


def _array(file, name, at, size, layout):
    data = file.at(at, min(size, 1024))
    try:
        array = npy.header(data)
    except Broken as broken:
        if broken.kind != "truncated" or size <= len(data):
            layout.fault(broken.kind, "%s.npy: %s" % (name, broken.what), at)
            return
        data = file.at(at, min(size, npy.HEADER_LIMIT + 12))
        array = npy.header(data)
    if array.objects:
        layout.tensor(name, "object", array.shape, None, 0)
        return
    if array.length + array.nbytes != size:
        what = "{}.npy has {:,} bytes, its header says {:,}".format(name, size, array.length + array.nbytes)
        layout.fault("bad_size", what, at)
    layout.tensor(name, array.dtype, array.shape, at + array.length, array.nbytes)
    if b"'fortran_order': True" in data[: array.length] and len(array.shape) > 1:
        steps, step = [], 1
        for length in array.shape:
            steps.append(step)
            step *= length
        layout.strides[name] = tuple(steps)
    layout.orders[name] = "big" if array.big else "little"


def _members(file, layout):
    """(name, offset of its bytes, size) of each plain file, up to the blocks of zeros that end the archive."""
    at, named, sized = 0, None, None
    while True:
        head = file.at(at, BLOCK)
        if len(head) == BLOCK and not head.strip(b"\0"):
            return
        if len(head) < BLOCK:  # two blocks of zeros end it; writers that were cut have written none
            layout.shortfall(at + 2 * BLOCK, "the blocks that end the archive are missing")
            return
        if _number(head[148:156]) != sum(head[:148]) + 8 * 32 + sum(head[156:]):
            raise Broken("bad_header", "the header at byte %d has a wrong sum" % at, at)
        kind, size, begin = head[156:157], _number(head[124:136]), at + BLOCK
        if kind not in LONG_NAME + EXTENDED and sized is not None:
            size = sized
        if begin + size > file.size:
            layout.shortfall(begin + size, "the member %r is cut" % (named or _name(head)))
            return
        at = begin + -(-size // BLOCK) * BLOCK
        if kind in LONG_NAME:
            named = file.at(begin, min(size, 1 << 16)).rstrip(b"\0").decode("utf-8", "replace")
            continue
        if kind in EXTENDED:
            if kind == b"x":
                said = _said(file.at(begin, min(size, 1 << 16)))
                named, sized = said.get("path", named), int(said["size"]) if said.get("size", "").isdigit() else None
            continue
        if kind in FILES:
            yield named or _name(head), begin, size
        named = sized = None


def _name(head):
    name, prefix = (part.partition(b"\0")[0].decode("utf-8", "replace") for part in (head[:100], head[345:500]))
    return "%s/%s" % (prefix, name) if prefix and head[257:263] == b"ustar\0" else name


def _number(field):
    """A size or sum: octal, or what GNU tar writes for more than eight digits of it."""
    if field[:1] == b"\x80":
        return int.from_bytes(field[1:], "big")
    text = field.strip(b"\0 ")
    try:
        return int(text, 8) if text else 0
    except ValueError:
        raise Broken("bad_header", "no octal number: %.20r" % field) from None


def _said(data):
    """{keyword: value} of an extended header: records `length keyword=value`."""
    found, at = {}, 0
    while at < len(data):
        length, _, _ = data[at : at + 12].partition(b" ")
        if not length.isdigit() or not int(length):
            break
        key, _, value = data[at + len(length) + 1 : at + int(length) - 1].decode("utf-8", "replace").partition("=")
        found[key] = value
        at += int(length)
    return found
