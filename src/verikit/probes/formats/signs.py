"""What a file is instead of a checkpoint, by its first bytes, and what has been done to it, by its first and last.

Git-LFS pointers, error pages, archives around the file, text-mode copies, pages of zeros, names of unfinished downloads.
Source of the pointer's form: docs/spec.md of git-lfs.
"""

import re

from verikit.probes.formats.layout import Broken

STRICT = {
    ".safetensors": "safetensors",
    ".npy": "npy",
    ".npz": "npz",
    ".gguf": "gguf",
    ".onnx": "onnx",
}
"""Suffixes whose loaders take one format only."""

LOOSE = (".pt", ".pth", ".pt2", ".ckpt", ".bin", ".pkl", ".distcp", ".msgpack", ".th", ".pickle", ".t7", ".tar")
"""Suffixes that stand for a checkpoint of some kind."""

PICKLED = (".pt", ".pth", ".pt2", ".pkl", ".pickle", ".distcp", ".th", ".t7", ".tar")
"""Those of them that stand for what torch or pickle wrote; a .bin or .ckpt may be anybody's."""

# Names that a download or a save has until it is done.  An .aria2 file beside the target means that the target, though it
# has its full size from the start, still lacks pieces.
UNFINISHED = (
    ".incomplete",
    ".part",
    ".partial",
    ".aria2",
    ".tmp",
    ".temp",
    ".crdownload",
    ".download",
    ".!ut",
    ".filepart",
)

PACKED = (
    (b"\x1f\x8b", "gzip"),
    (b"\xfd7zXZ\0", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"BZh", "bzip2"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip"),
    (b"\x04\x22\x4d\x18", "lz4"),
    (b"Rar!", "RAR"),
)

OTHER = ("pointer", "error_page", "packed", "zeros")
"""Kinds of fault that say what a file is instead: it holds nothing of what it should, so nothing else is told of it."""
LINES = 3
"""Line feeds, of both ends of a broken file together, that are enough to tell a text-mode copy: one in 10^7 by chance."""
PAIRS = 4

_POINTER = re.compile(rb"^oid sha256:([0-9a-f]{64})\s*$.*?^size (\d{1,19})\s*$", re.M | re.S)


def instead(head, size):
    """(kind of fault, what it is, {what it tells of the real file}) where the head shows something else; None otherwise."""
    if size == 0:
        return "empty", "it is empty", {}
    if head.startswith(b"version https://git-lfs"):
        return _pointer(head)
    for magic, name in PACKED:
        if head.startswith(magic):
            return "packed", "it is packed by %s, and must be unpacked first" % name, {}
    return _page(head.lstrip(b"\xef\xbb\xbf \t\r\n"), head)


def _pointer(head):
    found = _POINTER.search(head)
    told = {"sha256": found.group(1).decode(), "size": int(found.group(2))} if found else {}
    what = "it is a Git-LFS pointer, not the file itself"
    if found:
        what += ": that has {:,} bytes, sha256 {}".format(told["size"], told["sha256"])
    return "pointer", what + " (git lfs pull, or download it anew)", told


def in_place(head):
    """The same of a file that its checkpoint names, whatever that should hold: a pointer, or a page that a server sent."""
    if head.startswith(b"version https://git-lfs"):
        return _pointer(head)
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return _answer(text) if text[:1] == b"<" else None


def refuse(data, name):
    """`Broken`, naming the file, where a pointer or a page stands in its place."""
    found = in_place(data[:4096])
    if found:
        raise Broken(found[0], "%s: %s" % (name, found[1]))


def around(kind, names, path):
    """`Broken` for an archive under a name that promises what it is not, naming the file that it stands around.

    A name in `.tar` promises an archive; what torch or pickle wrote is no tar of other files, whatever these are.
    """
    within = next((name for name in names if wanted(name)), None)
    if wanted(path) and not path.lower().endswith(".tar") and (within or path.lower().endswith(PICKLED)):
        what = "it is a %s archive around %.100r, and must be unpacked first"
        raise Broken("packed", what % (kind, within or next(iter(names), "nothing")))


def _answer(text):
    start = text[:512].lower()
    if start.startswith((b"<!doctype html", b"<html")) or b"<html" in start:
        return "error_page", "it is an HTML page: %s" % _excerpt(text), {}
    if start.startswith((b"<?xml", b"<error")):
        return "error_page", "it is an XML document, as object stores answer: %s" % _excerpt(text), {}
    return None


def _page(text, head):
    found = _answer(text)
    if found:
        return found
    if text[:1] in (b"{", b"[") and b"\0" not in head:
        return "error_page", "it is JSON: %s" % _excerpt(text), {}
    if head and not head.strip(b"\0"):
        return "zeros", "its first {:,} bytes are zeros".format(len(head)), {}
    if len(head) > 16 and not re.search(rb"[^\t\n\r\x20-\x7e]", head):
        return "error_page", "it is plain text: %s" % _excerpt(text), {}
    return None


def _excerpt(data):
    text = re.sub(r"\s+", " ", data[:400].decode("utf-8", "replace")).strip()
    return text[:100]


def hints(file):
    """What the first and the last bytes of a broken file show of how it came about, in words."""
    head, tail = file.at(0, 1 << 16), file.at(max(0, file.size - (1 << 16)), 1 << 16)
    told = []
    if len(head) >= 512 and not head[:512].strip(b"\0"):
        told.append("its beginning is zeros")
    if len(tail) >= 512 and not tail[-512:].strip(b"\0") and head[257:262] != b"ustar":  # a tar ends so
        told.append("its end is zeros: space that was set aside and never written, or lost in a crash")
    for data in (head, tail):
        if data.count(b"\xef\xbf\xbd") > max(8, len(data) // 200):
            told.append("bytes were taken for UTF-8 text and written back")
            break
    if _recoded(head) and _recoded(tail):
        told.append("its bytes were taken for Latin-1 text and written as UTF-8")
    lines = head.count(b"\n") + tail.count(b"\n")
    if lines >= LINES and lines == head.count(b"\r\n") + tail.count(b"\r\n"):
        told.append("each line feed has a carriage return before it: it went through a text-mode copy")
    return told


def _recoded(data):
    """Whether every byte above 127 is half of a pair that UTF-8 makes of one, controls among them, which no text has."""
    high = len(data.translate(None, _PLAIN))
    pairs = _PAIR.findall(data)
    return (
        len(pairs) >= PAIRS and high - 2 * len(pairs) < 2 and any(pair[1] < 0xA0 for pair in pairs if pair[0] == 0xC2)
    )


_PAIR = re.compile(rb"[\xc2\xc3][\x80-\xbf]")
_PLAIN = bytes(range(128))


def wanted(path):
    """The format that a name promises, `checkpoint` where it may be several, None where it promises nothing."""
    lower = path.lower()
    for suffix, name in STRICT.items():
        if lower.endswith(suffix):
            return name
    return "checkpoint" if lower.endswith(LOOSE) else None


def unfinished(names, name):
    """Which names in a folder are those of an unfinished copy of this one."""
    return [other for other in names if other != name and other.startswith(name) and _bare(other, name)]


def _bare(other, name):
    rest = other[len(name) :].lower()
    return rest.endswith(UNFINISHED) and rest.count(".") <= 2
