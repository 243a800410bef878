"""The bytes of a log that belong to this run, through rotation: the first 64 KiB and the last 4 MiB of them.

A log grows by its nature, so it is judged up to its size at opening.  Line numbers count line feeds from the beginning
of the file, also those of the part that is skipped (up to 1 GiB of it).
"""

import os
import zlib

from verikit.probes.place import CannotSee

HEAD = 64 << 10
TAIL = 4 << 20
COUNTED = 1 << 30
CHUNK = 1 << 20
PREDECESSORS = (".1", ".1.gz", ".0", "-old", ".old")

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
        self.line, self.ends_at = None, None  # numbers in this file of the lines at `start`, if known, and at the end
        self.end, self.read = 0, 0  # where the last piece ends, and how many bytes of this file were read
        # The bookmark read on from; the zone of its times; when a predecessor must have been written, and whether one was.
        self.taken_up, self.zone, self.when, self.with_earlier = None, None, None, False

    def take_before(self, ending, skipped):
        """Puts the end of an earlier file in front; skipped: bytes of this run before it that are not read."""
        last = ending.last
        self.lines_before = last
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


KEPT = ("start", "skipped", "cut", "rotated", "whole_lines", "followed", "earlier", "lines_before")
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
    if mark["inode"] is None:
        return 0
    same = (info.st_dev, info.st_ino) == (mark["device"], mark["inode"])
    grown = info.st_size >= mark["size"] and zlib.crc32(_at(file, 0, mark["head"])) == mark["crc"]
    if same and grown:
        text.line = mark.get("line")  # a look's own mark knows it: what was read once is not counted again
        return mark["size"]
    text.rotated = "truncated" if same else "replaced"
    for suffix in PREDECESSORS:
        if _earlier(place, os.fspath(path) + suffix, mark, text):
            break
    return 0


def _earlier(place, path, mark, text):
    """Takes the end of a predecessor in, if it is the file that was marked."""
    found = _ending(place, path)
    if found is None or zlib.crc32(found.head[: mark["head"]]) != mark["crc"]:
        return False
    if mark["head"] == 0 and found.mtime < mark["now"] - 1:  # an empty file is like any other: this one is older
        return False
    found.cut_before(min(mark["size"], found.start + len(found.data)))
    text.take_before(found, max(0, found.start - mark["size"]))
    return True


def predecessor(place, path, since):
    """The `Ending` of the file that was rotated away, if it was written to since then (epoch); else None."""
    for suffix in PREDECESSORS:
        where = os.fspath(path) + suffix
        try:
            fresh = place.stat(where).st_mtime >= since
        except OSError:
            continue
        found = _ending(place, where) if fresh else None
        if found is not None and what_else(found.head) is None:
            return found
    return None


class Ending:
    """The end of a rotated file: its path, mtime, first KiB, last MiB (`data`, from byte `start` and line `number` on)."""

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


def _ending(place, path):
    """The `Ending` of a file, plain or gzip; None if it can't be read, or unpacks to more than 1 GiB."""
    try:
        with place.open(path) as file:
            mtime = os.fstat(file.fileno()).st_mtime
            head, number, start, data = _unpacked(file) if path.endswith(".gz") else _plain(file)
    except (OSError, EOFError, CannotSee, zlib.error):
        return None
    encoding = encoding_of(head)
    return Ending(path, mtime, head, number, start, _narrow(data, encoding) if encoding != "utf-8" else data)


def _plain(file):
    end = file.seek(0, 2)
    start = max(0, end - CHUNK)
    return _at(file, 0, 1024), _lines_before(file, start), start, _at(file, start, end - start)


def _unpacked(file):
    """As `_plain`, of what a gzip file holds: unpacked piece by piece, so that memory has a bound whatever it claims."""
    import gzip

    head, number, start, data = b"", 1, 0, b""
    with gzip.GzipFile(fileobj=file) as plain:
        while start <= COUNTED:
            part = plain.read(CHUNK)
            if not part:
                return head, number, start, data
            head, data = head or part[:1024], data + part
            gone = max(0, len(data) - CHUNK)
            number, start, data = number + data.count(b"\n", 0, gone), start + gone, data[gone:]
    raise CannotSee("unsupported", "it unpacks to more than 1 GiB")


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
