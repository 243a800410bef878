"""CRC-32 by the fastest means that this host has, and the CRC of a whole from those of its parts.

`combine` lets one long record be read by several threads.  A CRC is a polynomial over GF(2), reflected, modulo
0xEDB88320; appending n bytes multiplies it by x^(8n).  Source: crc32_combine in zlib's crc32.c.
"""

import zlib

POLYNOMIAL = 0xEDB88320
ONE = 1 << 31
"""The polynomial 1, in the reflected order of bits."""


def fastest(place):
    """(function crc32(data, value=0), the name of where it is from): isal, zlib-ng, or the standard library's zlib."""
    for module, inner in (("isal", "isal_zlib"), ("zlib_ng", "zlib_ng")):
        if place.accelerator(module) is not None:
            found = place.accelerator(module + "." + inner)
            if found is not None:
                return found.crc32, module
    return zlib.crc32, "zlib"


def combine(first, second, length):
    """The CRC-32 of two pieces put together: of the first, of the second, and the bytes in the second."""
    return _times(_shift(length), first) ^ second


_SHIFTS = {0: ONE}


def _shift(length):
    """x^(8 * length); the lengths of pieces come again and again."""
    known = _SHIFTS.get(length)
    if known is None:
        if len(_SHIFTS) > 4096:
            _SHIFTS.clear()
            _SHIFTS[0] = ONE
        known = _SHIFTS[length] = _power(8 * length)
    return known


def _power(exponent):
    square, result = ONE >> 1, ONE
    while exponent:
        if exponent & 1:
            result = _times(square, result)
        square = _times(square, square)
        exponent >>= 1
    return result


def _times(a, b):
    """The product of two polynomials, reduced."""
    product, bit = 0, ONE
    while bit:
        if a & bit:
            product ^= b
        bit >>= 1
        b = (b >> 1) ^ POLYNOMIAL if b & 1 else b >> 1
    return product
