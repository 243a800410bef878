"""Whether a file is the bytes that it should be: its size first, which costs nothing, then its SHA-256."""

import os

from verikit.probes import digests


def inspect(place, path, size=None, sha256=False):
    """`size` of the regular file, and `sha256` in hex if that is wanted and the size is not already another.

    Loads the disk by one read of the whole file when the digest is wanted.
    """
    with place.open(path) as file:
        found = os.fstat(file.fileno()).st_size
    digest = None
    if sha256 and size in (None, found):
        found, digest = digests.digest_file(place, path, "sha256")
    read = found if digest else 0
    return {"path": os.fspath(path), "size": found, "sha256": digest, "coverage": {"bytes": read, "of": found}}
