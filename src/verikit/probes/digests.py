"""Digests of files: one pass over the bytes however many are wanted, in chunks that stay in the cache.

Names are those of hashlib, and `git-sha1` (the id git and the Hugging Face hub give to a file that is not LFS: SHA-1 of
`blob LENGTH\\0` and the bytes), `crc32`, and `blake3` where this host has the package or the program `b3sum`.
"""

import hashlib
import zlib

from verikit.probes.place import CannotSee

CHUNK = 1 << 18  # fits a level-2 cache: measured 3 times as fast to read as 1 MiB
LENGTHS = {"crc32": 8, "md5": 32, "sha1": 40, "git-sha1": 40, "sha224": 56, "sha256": 64, "blake3": 64}
LENGTHS.update({"blake2s": 64, "sha3_256": 64, "sha384": 96, "sha512": 128, "blake2b": 128, "sha3_512": 128})


class Crc32:
    """zlib's CRC-32 in the manner of hashlib."""

    def __init__(self):
        self.value = 0

    def update(self, data):
        self.value = zlib.crc32(data, self.value)

    def hexdigest(self):
        return "%08x" % self.value


def hasher(place, name, length):
    """A fresh digest for `length` bytes; a name that this host can't compute is `unsupported`."""
    if name == "crc32":
        return Crc32()
    if name == "git-sha1":
        return hashlib.sha1(b"blob %d\0" % length)
    if name == "blake3":
        module = place.accelerator("blake3")
        if module is None:
            raise CannotSee("unsupported", "blake3 needs the Python package blake3 or the program b3sum on this host")
        return module.blake3()
    if name not in LENGTHS:
        raise CannotSee("unsupported", "no digest called %s; known are %s" % (name, ", ".join(sorted(LENGTHS))))
    return hashlib.new(name)


def digest_file(place, path, names, block=0, told=None):
    """{"size", "digests": {name: hex}, "blocks": [crc32 of each `block` bytes]} of a regular file that stays as it is.

    `told` is called with the number of bytes of each chunk.
    """
    if tuple(names) == ("blake3",) and not block and place.accelerator("blake3") is None:
        return _by_program(place, path)
    with place.steady(path) as file:
        size = file.seek(0, 2)
        file.seek(0)
        hashers = {name: hasher(place, name, size) for name in names}
        blocks, crc, within, seen = [], 0, 0, 0
        for data in chunks(file, size, block):
            for each in hashers.values():
                each.update(data)
            seen += len(data)
            if block:
                crc, within = zlib.crc32(data, crc), within + len(data)
                if within == block:
                    blocks.append("%08x" % crc)
                    crc, within = 0, 0
            if told:
                told(len(data))
        if within:
            blocks.append("%08x" % crc)
    if seen != size:
        raise CannotSee("changed_while_reading", "%s gave %d of its %d bytes" % (path, seen, size))
    return {"size": size, "digests": {name: each.hexdigest() for name, each in hashers.items()}, "blocks": blocks}


def digest_range(place, file, name, begin, end):
    """The digest of the bytes from begin to end of an open file, in hex."""
    file.seek(begin)
    each = hasher(place, name, end - begin)
    for data in chunks(file, end - begin, 0):
        each.update(data)
    return each.hexdigest()


def chunks(file, length, block):
    """The next `length` bytes in chunks, none of which crosses a border of `block` bytes."""
    done = 0
    while done < length:
        most = min(CHUNK, length - done)
        if block:
            most = min(most, block - done % block)
        data = file.read(most)
        if not data:
            return
        done += len(data)
        yield data


def _by_program(place, path):
    before = place.stat(path)
    with place.open(path):  # what must not be opened (FIFO, device) is refused here
        pass
    # The name goes in as an argument after --, so that a leading - is a name; stdin would lose b3sum its memory map.
    ran = place.run(["b3sum", "--no-names", "--", path], timeout=3600.0, limit=4096)
    if ran.status != 0:
        raise CannotSee("unsupported", "b3sum ended with status %d on %s" % (ran.status, path))
    after = place.stat(path)
    if (before.st_size, before.st_mtime_ns, before.st_ino) != (after.st_size, after.st_mtime_ns, after.st_ino):
        raise CannotSee("changed_while_reading", "%s changed while b3sum read it" % path)
    return {"size": before.st_size, "digests": {"blake3": ran.stdout.decode("ascii", "replace").strip()}, "blocks": []}
