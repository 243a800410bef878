"""Where a file stands now: what `mark` notes before a launch, so that a later look tells new text from old."""

import os
import zlib

HEAD = 1024
"""Bytes from the beginning whose checksum tells one file from another of the same inode."""


def mark(place, path):
    """Device, inode, size (bytes), checksum of the first KiB and this host's clock (`now`).

    A file that does not exist yet is a mark too: inode None, size 0.  Then all that will be there is new.
    """
    try:
        with place.open(path) as file:
            info = os.fstat(file.fileno())
            head = file.read(HEAD)
    except FileNotFoundError:
        return {"device": None, "inode": None, "size": 0, "now": place.now(), "crc": 0, "head": 0}
    head = head[: info.st_size]
    return {
        "device": info.st_dev,
        "inode": info.st_ino,
        "size": info.st_size,
        "now": place.now(),
        "crc": zlib.crc32(head),
        "head": len(head),
    }
