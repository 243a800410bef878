"""The bytes of a log that belong to this run, through rotation: the first 64 KiB and the last 4 MiB of them.

A log grows by its nature, so it is judged up to its size at opening.  Line numbers count line feeds from the beginning
of the file, also those of the part that is skipped (up to 1 GiB of it).
"""

import os
import re
import zlib

from verikit.probes.place import CannotSee

HEAD = 64 << 10
TAIL = 4 << 20
COUNTED = 1 << 30
CHUNK = 1 << 20
MEMORY = 40 << 20
"""Bytes that unpacking may take: xz at its usual settings needs 9 MiB, at its highest 65."""
PACKED = (".gz", ".bz2", ".xz")
EARLIER = 200
"""Rotated files that are thought of, newest first."""

# What stands between a log's name and the end (or its extension): logrotate's numbers and dates (dateext, with the epoch or
# a time behind it), the suffixes of Python's RotatingFileHandler and TimedRotatingFileHandler, loguru's times, a shell's -old.
NUMBERED = re.compile(r"[.-](\d{1,4})$")
DATED = re.compile(r"[.-](\d{4}-?\d\d-?\d\d(?:[-_T.]?\d\d(?:[-:]?\d\d){0,2}(?:_\d{6})?|-\d{10})?)$")
OLD = ("-old", ".old")

# Beginnings that no text has: an archive or a program was written over the log's path.
MAGIC = (
    (b"PK\x03\x04", "a ZIP archive (a torch checkpoint is one)"),
    (b"\x7fELF", "an ELF program"),
    (b"\x80\x02", "a pickle"),
    (b"\x80\x03", "a pickle"),
    (b"\x80\x04\x95", "a pickle"),
    (b"\x80\x05\x95", "a pickle"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ", "xz data"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89PNG", "a PNG image"),
    (b"\x89HDF", "an HDF5 file"),
    (b"GGUF", "a GGUF model"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow file"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"SQLite format 3", "an SQLite database"),
)


class Text:
    """Pieces of this run's text, oldest first: (first line number, bytes, the earlier file that they are of or "").

    Lines count on from an earlier file into this one, as if it had never been rotated: `lines_before` are the earlier's.
    """

    def __init__(self):
        self.pieces, self.size, self.start, self.examined, self.skipped = [], 0, 0, 0, 0
        self.binary, self.cut = None, False  # cut: text from before the run was left out
        self.encoding, self.rotated, self.whole_lines = "utf-8", "", True
        self.followed, self.earlier, self.lines_before = [], 0, 0
        self.begins = []  # of each earlier file its path, and how many lines are counted before its first
        self.line, self.ends_at = None, None  # numbers in this file of the lines at `start`, if known, and at the end
        self.end, self.read = 0, 0  # where the last piece ends, and how many bytes of this file were read
        # The bookmark read on from; the zone of its times; when a predecessor must have been written, and whether one was.
        self.taken_up, self.zone, self.when, self.with_earlier = None, None, None, False

    def take_before(self, ending, skipped):
        """Puts the end of an earlier file in front; skipped: bytes of this run before it that are not read."""
        last = ending.last
        self.lines_before = _plus(self.lines_before, last)
        self.begins = [[path, _plus(number, last)] for path, number in self.begins] + [[ending.path, 0]]
        self.pieces = [(_plus(number, last), data, which) for number, data, which in self.pieces]
        self.pieces.insert(0, (ending.number, ending.data, ending.path))
        self.followed.append(ending.path)
        self.examined += len(ending.data)
        self.skipped += skipped
        self.earlier += len(ending.data) + skipped


def read(place, file, path, info, mark=None, bookmark=None):
    """The `Text` of an open file. mark: a dict as `files.mark` gives it; None is from the beginning.

    bookmark: what `bookmark_at` answered at an earlier look with the same mark; if it fits, only what follows it is read.
    """
    text = Text()
    text.size = info.st_size
    beginning = _at(file, 0, 4096)
    text.binary, text.encoding = what_else(beginning), encoding_of(beginning)
    if bookmark and text.binary is None and _fits(file, info, bookmark):
        _read_on(file, text, bookmark)
        return text
    if mark is not None:
        text.start = _start(place, file, path, info, mark, text)
    if text.binary is None:
        _read(file, text)
    return text


KEPT = ("start", "skipped", "cut", "rotated", "whole_lines", "followed", "begins", "earlier", "lines_before")
"""What a bookmark keeps of a `Text`."""


def bookmark_at(file, info, text, behind):
    """A place in the file, `behind` bytes of the last piece before its end, as JSON values; None if no line begins there.

    Size, inode, the first KiB and the KiB before the place tell whether the file is still the one that was read.
    """
    if text.encoding != "utf-8":
        behind = len(text.pieces[-1][1][-behind:].decode("utf-8", "replace").encode(text.encoding))
    offset = text.end - behind
    feed = "\n".encode(text.encoding)
    before = _at(file, max(0, offset - 1024), min(1024, offset))
    if not before.endswith(feed) or offset % len(feed):
        return None
    row = {name: getattr(text, name) for name in KEPT}
    row.update(_identity(file, info), offset=offset, before=zlib.crc32(before), examined=text.examined - behind)
    return row


def _identity(file, info):
    head = _at(file, 0, min(1024, info.st_size))
    return {
        "device": info.st_dev,
        "inode": info.st_ino,
        "size": info.st_size,
        "head": len(head),
        "crc": zlib.crc32(head),
    }


def _fits(file, info, bookmark):
    """Whether the file is the one with the bookmark in it, only longer, and what follows is little enough to be read whole."""
    offset = bookmark["offset"]
    same = (info.st_dev, info.st_ino) == (bookmark["device"], bookmark["inode"]) and info.st_size >= bookmark["size"]
    return (
        same
        and info.st_size - offset <= HEAD + TAIL
        and zlib.crc32(_at(file, 0, bookmark["head"])) == bookmark["crc"]
        and zlib.crc32(_at(file, max(0, offset - 1024), min(1024, offset))) == bookmark["before"]
    )


def _read_on(file, text, bookmark):
    """Reads what follows the bookmark."""
    for name in KEPT:
        setattr(text, name, bookmark[name])
    text.taken_up, text.followed = bookmark, list(bookmark["followed"])
    offset, line = bookmark["offset"], bookmark["line"]
    data = _at(file, offset, text.size - offset)
    text.read, text.end, text.examined = len(data), offset + len(data), bookmark["examined"] + len(data)
    text.ends_at = _plus(line, data.count(b"\n"))
    data = data if text.encoding == "utf-8" else _narrow(data, text.encoding)
    text.pieces = [(_plus(line, text.lines_before), data, "")]


def _plus(number, more):
    return None if number is None or more is None else number + more


def _start(place, file, path, info, mark, text):
    """Where in this file the new text begins; what was rotated away in between comes in as earlier pieces."""
    if mark["inode"] is None:  # a log to come: what was rotated since is of it
        chain = _fresh(place, predecessors(place, path), mark["now"] - 1)
        text.rotated = "replaced" if _take_chain(place, chain, text) else ""
        return 0
    same = (info.st_dev, info.st_ino) == (mark["device"], mark["inode"])
    grown = info.st_size >= mark["size"] and zlib.crc32(_at(file, 0, mark["head"])) == mark["crc"]
    if same and grown:
        text.line = mark.get("line")  # a look's own mark knows it: what was read once is not counted again
        return mark["size"]
    text.rotated = "truncated" if same else "replaced"
    chain = predecessors(place, path)
    fresh = _fresh(place, chain, mark["now"] - 1)
    # Whatever was written to since the mark is newer than the marked file, which is the oldest of those.
    marked = [n for n, where in enumerate(fresh) if _is_marked(place, where, mark)][-1:]
    marked = marked or [n for n, where in enumerate(chain) if mark["head"] and _is_marked(place, where, mark)][:1]
    if marked:
        _take_chain(place, (fresh if marked[0] < len(fresh) else chain)[: marked[0] + 1], text, mark["size"])
    return 0


def _fresh(place, chain, since):
    """The first of some files, newest first, up to one that was not written to since then."""
    fresh = []
    for where in chain:
        if written(place, where) < since:
            break
        fresh.append(where)
    return fresh


def written(place, path):
    """When a file was last written to (epoch); 0 if it can't be told."""
    try:
        return place.stat(path).st_mtime
    except OSError:
        return 0.0


def _is_marked(place, path, mark):
    """Whether a rotated file is the one that was marked, or a copy of it."""
    try:
        info = place.stat(path)
        if (info.st_dev, info.st_ino) == (mark["device"], mark["inode"]):
            return True
        with place.open(path) as file:
            return zlib.crc32(_opened(path, file).read(mark["head"]) if mark["head"] else b"") == mark["crc"]
    except (OSError, EOFError, CannotSee, zlib.error):
        return False


def _take_chain(place, chain, text, offset=0):
    """Takes rotated files in, newest first; the oldest from an offset on. Whether there was one."""
    for where in chain:
        found = ending(place, where, text)
        if found is None or what_else(found.head) is not None:
            break
        if where == chain[-1]:
            found.cut_before(min(offset, found.start + len(found.data)))
        text.take_before(found, max(0, found.start - (offset if where == chain[-1] else 0)))
    return bool(text.followed)


def predecessors(place, path):
    """The paths of the files that a log was rotated into, newest first, as their names tell: numbers, dates, packed or not."""
    folder, base = os.path.split(os.fspath(path))
    stem, extension = os.path.splitext(base)
    try:
        names = place.listdir(folder or ".")
    except OSError:
        return []
    found = [(_age(name, base, stem, extension), name) for name in names if name.startswith(stem) and name != base]
    # While a file is being packed it is there twice: the plain one sorts first, and is whole.
    once = {}
    for age, name in sorted(one for one in found if one[0]):
        once.setdefault(age, os.path.join(folder, name))
    return list(once.values())[:EARLIER]


def _age(name, base, stem, extension):
    """What sorts the names of rotated files, the newest first; None for another file's name."""
    for packed in PACKED:
        name = name[: -len(packed)] if name.endswith(packed) else name
    if name.startswith(base):
        middle = name[len(base) :]
    elif extension and name.endswith(extension):
        middle = name[len(stem) : -len(extension)]
    else:
        return None
    if middle in OLD:
        return 0, 1
    number, date = NUMBERED.match(middle), DATED.match(middle)
    if number:
        return 0, int(number.group(1))
    return (1, -int(re.sub(r"\D", "", date.group(1)).ljust(24, "0"))) if date else None


class Ending:
    """The end of a rotated file: its path, mtime, first KiB, last bytes (`data`, from byte `start` and line `number` on)."""

    def __init__(self, path, mtime, head, number, start, data):
        self.path, self.mtime, self.head, self.number, self.start, self.data = path, mtime, head, number, start, data
        self.cut = False

    def cut_before(self, position):
        """Leaves out what stands before this byte of the file."""
        gone = position - self.start
        if gone > 0:
            self.number += self.data.count(b"\n", 0, gone) if self.number is not None else 0
            self.start, self.data, self.cut = position, self.data[gone:], True

    @property
    def last(self):
        """The number of its last line; None if they were not counted."""
        if self.number is None:
            return None
        return self.number - 1 + self.data.count(b"\n") + (not self.data.endswith(b"\n") and bool(self.data))


def ending(place, path, text):
    """The `Ending` of a file, plain or packed, no longer than what may still be read for a text.

    None if it can't be read, unpacks to more than 1 GiB, or nothing more may be read: then it counts as skipped.
    """
    ahead = 0 if text.read else min(text.size, HEAD + TAIL)  # a file that is still to be read goes first
    left = HEAD + TAIL - text.examined - ahead
    try:
        with place.open(path) as file:
            info = os.fstat(file.fileno())
            if left <= 0:
                text.skipped += info.st_size
                return None
            mtime, plain = info.st_mtime, _opened(path, file)
            head, number, start, data = _plain(file, left) if plain is file else _unpacked(plain, left)
    except (OSError, EOFError, CannotSee, zlib.error):
        return None
    encoding = encoding_of(head)
    return Ending(path, mtime, head, number, start, _narrow(data, encoding) if encoding != "utf-8" else data)


def _plain(file, most):
    end = file.seek(0, 2)
    start = max(0, end - most)
    start += start % 2  # a character of UTF-16 stays whole
    return _at(file, 0, 1024), _lines_before(file, start), start, _at(file, start, end - start)


def _unpacked(plain, most):
    """As `_plain`, of what a packed file holds: unpacked piece by piece, so that memory has a bound whatever it claims."""
    head, number, start, parts, held = b"", 1, 0, [], 0
    while start <= COUNTED:
        part = plain.read(CHUNK)
        if not part:
            data = b"".join(parts)
            gone = max(0, len(data) - most)
            gone += gone % 2
            return head, number + data.count(b"\n", 0, gone), start + gone, data[gone:]
        head, held = head or part[:1024], held + len(part)
        parts.append(part)
        while held - len(parts[0]) >= most:
            held, start, number = held - len(parts[0]), start + len(parts[0]), number + parts[0].count(b"\n")
            del parts[0]
    raise CannotSee("unsupported", "it unpacks to more than 1 GiB")


def _opened(path, file):
    """What a packed file holds, as something to `read`; the file itself if its name is that of no packed one."""
    suffix = os.path.splitext(path)[1]
    if suffix not in PACKED:
        return file
    try:
        import bz2
        import gzip
    except ImportError:  # a Python built without them
        raise CannotSee("unsupported", "this Python can't unpack %s" % suffix) from None
    return {".gz": lambda: gzip.GzipFile(fileobj=file), ".bz2": lambda: bz2.BZ2File(file), ".xz": lambda: _Xz(file)}[
        suffix
    ]()


class _Xz:
    """What an xz file holds: the standard reader has no bound for the memory that a file may ask for."""

    def __init__(self, file):
        try:
            import lzma
        except ImportError:
            raise CannotSee("unsupported", "this Python can't unpack .xz") from None
        self.file, self.error = file, lzma.LZMAError
        self.unpacker = lzma.LZMADecompressor(memlimit=MEMORY)

    def read(self, size):
        """The next bytes, at most so many; none at the end."""
        while not self.unpacker.eof:
            packed = self.file.read(65536) if self.unpacker.needs_input else b""
            try:
                part = self.unpacker.decompress(packed, size)
            except self.error as error:
                raise CannotSee("unsupported", "it can't be unpacked: %s" % error) from None
            if part:
                return part
            if not packed and self.unpacker.needs_input:
                raise EOFError("the file ends before its data")
        return b""


def _at(file, position, size):
    file.seek(position)
    parts, left = [], size
    while left > 0:
        part = file.read(min(left, CHUNK))
        if not part:
            break
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _read(file, text):
    size, start = text.size, text.start
    wide = text.encoding.startswith("utf-16")
    first = text.line or _lines_before(file, start)
    if size - start <= HEAD + TAIL:
        cut = start
        pieces = [(first, _at(file, start, size - start), "")]
    else:
        cut = size - TAIL
        cut -= cut % 2 if wide else 0
        pieces = [(first, _at(file, start, HEAD), "")]
        pieces.append((_lines_before(file, cut, start, first), _at(file, cut, TAIL), ""))
        text.skipped += size - start - HEAD - TAIL
        text.whole_lines = False
    text.read = min(size - start, HEAD + TAIL)
    text.examined += text.read
    text.end = cut + len(pieces[-1][1])
    text.ends_at = _plus(pieces[-1][0], pieces[-1][1].count(b"\n"))
    if wide:
        pieces = [(number, _narrow(data, text.encoding), which) for number, data, which in pieces]
    text.pieces += [(_plus(number, text.lines_before), data, which) for number, data, which in pieces]


def _narrow(data, encoding):
    return data.decode(encoding, "replace").lstrip("\ufeff").encode("utf-8", "replace")


def _lines_before(file, position, known=0, line=1):
    """The number of the line that begins at or holds this position; None beyond what is counted.

    known: a position before it, of which the line's number is known.
    """
    if line is None or position - known > COUNTED:
        return None
    file.seek(known)
    lines, left = line, position - known
    while left > 0:
        part = file.read(min(left, CHUNK))
        if not part:
            break
        lines += part.count(b"\n")
        left -= len(part)
    return lines


def encoding_of(beginning):
    """utf-8 (with everything that is read byte by byte), or utf-16 in one of its orders."""
    if beginning[:2] == b"\xff\xfe":
        return "utf-16-le"
    if beginning[:2] == b"\xfe\xff":
        return "utf-16-be"
    sample = beginning[:1024]
    if len(sample) >= 8:
        if sample[1::2].count(0) > 0.8 * len(sample[1::2]) and sample[::2].count(0) < 0.1 * len(sample):
            return "utf-16-le"
        if sample[::2].count(0) > 0.8 * len(sample[::2]) and sample[1::2].count(0) < 0.1 * len(sample):
            return "utf-16-be"
    return "utf-8"


def what_else(beginning):
    """What these first bytes are instead of text; None for text. Blocks of NULs at the front are a truncated log's hole."""
    body = beginning.lstrip(b"\0")
    for magic, words in MAGIC:
        if body.startswith(magic):
            return words
    if not body or encoding_of(beginning) != "utf-8":
        return None
    if beginning[8:10] == b'{"' and beginning[4:8] == b"\0\0\0\0":
        return "a safetensors file"
    odd = sum(body.count(bytes([code])) for code in (*range(1, 7), *range(14, 27), *range(28, 32)))
    return "binary data" if odd > max(4, 0.03 * (len(body) - body.count(0))) else None


def born(place, path):
    """When the file was made (epoch), where the file system tells it; None otherwise."""
    try:
        ran = place.run(["stat", "-c", "%W", "--", os.fspath(path)], timeout=5.0, limit=100)
        return float(ran.stdout) or None
    except (CannotSee, OSError, ValueError):
        return None
