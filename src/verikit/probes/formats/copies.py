"""Files of ranks that must differ and do not: what one rank wrote, in the place of another's.

Tensors are told apart by the CRC-32s that their records have, so not a byte of them is read.  Zeros and ones may be
everywhere, so they prove nothing; whatever else is equal in all of two files is a copy, or the same values twice over.
Ranks that share a model have vectors, and a matrix or so, of which each keeps the same values, but not the same file.
"""

import functools

from verikit.probes import crc as crc32

LEAST = 64
"""Bytes of a tensor that is no accident."""

ONES = {"float32": b"\0\0\x80\x3f", "float64": b"\0\0\0\0\0\0\xf0\x3f", "float16": b"\0\x3c", "bfloat16": b"\x80\x3f"}


def tell(parts, layout, matrices=0):
    """Says which of `parts`, {path: Layout}, are copies.

    Of files with fewer than `matrices` tensors of two axes or more, all records must be equal, the pickle among them.
    """
    first = {}
    for path, part in sorted(parts.items()):
        print_ = None if part.faults else _fingerprint(part, matrices)
        if print_ is not None and print_ in first:
            what = (
                "%s is, record for record, %s: one rank's states in another's place, unless both have the same values"
            )
            layout.unseen("ambiguous", what % (path, first[print_]))
        elif print_ is not None:
            first[print_] = path


def _fingerprint(part, matrices):
    """(CRC-32, bytes) of its tensors, sorted, or of all its records; None where nothing in there must be its own."""
    crcs = {span.offset: span.crc for span in part.spans if span.crc and not span.method}
    rows = [(crcs[row.offset], row) for row in part.tensors if row.offset in crcs and row.nbytes]
    own = [row for crc, row in rows if row.nbytes >= LEAST and crc not in _constants(row.dtype, row.nbytes)]
    if not own:
        return None
    if sum(len(row.shape) > 1 for row in own) < matrices:
        return "all", tuple((span.crc, span.nbytes) for span in part.spans)
    return "values", tuple(sorted((crc, row.nbytes) for crc, row in rows))


def _constants(dtype, nbytes):
    """The CRC-32s of as many bytes of zeros, and of ones."""
    unit = ONES.get(dtype, b"\0")
    return {_repeated(b"\0", nbytes), _repeated(unit, nbytes // len(unit))}


@functools.lru_cache(maxsize=1024)
def _repeated(unit, count):
    """The CRC-32 of a unit, `count` times over, by doubling."""
    import zlib

    total, size, crc, nbytes = 0, 0, zlib.crc32(unit), len(unit)
    while count:
        if count & 1:
            total, size = (crc32.combine(total, crc, nbytes) if size else crc), size + nbytes
        crc, nbytes, count = crc32.combine(crc, crc, nbytes), 2 * nbytes, count >> 1
    return total
