"""safetensors: u64 length N, N bytes of JSON, then the bytes of the tensors, without hole or overlap, to the end.

Source: the section "Format" of the safetensors README, and its reader, safetensors/src/tensor.rs:
the header is at most 100 MB, opens with `{`, may be padded with spaces; offsets count from the end of the header.
The reader passes over fields of an entry that it does not know, and takes `"__metadata__": null` for none.
There is no checksum: at content depth only expectations (digest, manifest) and values can tell right bytes from wrong.
"""

import json
import re

from verikit.probes.formats.layout import BITS, SHARED, Broken, elements, plural

HEADER_LIMIT = 100000000
DTYPES = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64", "I32": "int32",
    "I16": "int16", "I8": "int8", "U64": "uint64", "U32": "uint32", "U16": "uint16", "U8": "uint8", "BOOL": "bool",
    "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "F8_E8M0": "float8_e8m0fnu", "F4": "float4_e2m1",
    "F8_E4M3FNUZ": "float8_e4m3fnuz", "F8_E5M2FNUZ": "float8_e5m2fnuz",
    "F6_E2M3": "float6_e2m3", "F6_E3M2": "float6_e3m2", "C64": "complex64",
}  # fmt: skip


FIELDS = {"dtype", "shape", "data_offsets"}
LEVELS = 126
"""Of lists and maps, from an entry's own braces on, that the reference's JSON goes into."""

MOST = 1.7976931348623157e308
"""The largest number that 64 bits of floating point hold."""

_ESCAPES = re.compile(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)")
"""Escapes in JSON, pairs of surrogates as one; the group is half of a pair."""


class _Pairs(tuple):
    """A JSON object as its pairs, in order: a repeated key stays visible."""

    __slots__ = ()


def structure(file, layout):
    """Names, dtypes, shapes and offsets, from the header alone, and every invariant that the format states."""
    length = int.from_bytes(file.exactly(0, 8, "the header's length"), "little")
    if length > HEADER_LIMIT:
        raise Broken(
            "bad_header", "the header claims {:,} bytes, the format allows {:,}".format(length, HEADER_LIMIT), 0
        )
    if 8 + length > file.size:
        layout.shortfall(8 + length, "it ends inside its header")
        return
    _tensors(_header(file, length), 8 + length, layout)
    _tiling(layout, 8 + length)


def _header(file, length):
    """The header as pairs, each entry that is in order as (form, where it begins)."""
    data = file.exactly(8, length, "the header")
    if data[:1] not in (b"{", b" "):
        raise Broken("bad_header", "the header does not open with '{'", 8)
    try:
        text = data.decode("utf-8")
        del data  # megabytes, with 10^5 tensors
        header = json.loads(text, object_pairs_hook=_Forms().entry, parse_constant=_no_json)
        if type(header) is tuple:  # tensors called dtype, shape and data_offsets
            header = json.loads(text, object_pairs_hook=_Pairs, parse_constant=_no_json)
    except (ValueError, RecursionError) as error:
        raise Broken("bad_header", "the header is no JSON: %s" % error, 8) from None
    if type(header) is not _Pairs:
        raise Broken("bad_header", "the header is no JSON object", 8)
    if "\\u" in text:  # Python's JSON takes half a surrogate pair, the reference does not
        half = next((match for match in _ESCAPES.finditer(text) if match.group(1)), None)
        if half:
            raise Broken("bad_header", "half a surrogate pair, %s, which is no text" % half.group(), 8)
    return header


def _no_json(word):
    raise ValueError("%s is no value" % word)


class _Forms:
    """What tensors of a kind have in common, (dtype, shape, bytes), kept once for all of them."""

    def __init__(self):
        self._known = {}

    def entry(self, pairs):
        """A JSON object: (form, where it begins) of a tensor that is in order, any other as `_Pairs`."""
        if len(pairs) != 3:
            return _Pairs(pairs)
        row = dict(pairs)
        form = self._form(row) if row.keys() == FIELDS else None
        return _Pairs(pairs) if form is None else (form, row["data_offsets"][0])

    def _form(self, row):
        dtype, shape, offsets = row["dtype"], row["shape"], row["data_offsets"]
        if not (_naturals(shape) and _naturals(offsets) and len(offsets) == 2 and type(dtype) is str):
            return None
        wanted = dtype, tuple(shape), offsets[1] - offsets[0]
        form = self._known.get(wanted)
        if form is None and _problem(row) is None:
            if len(self._known) >= SHARED:
                self._known.clear()
            form = self._known[wanted] = (DTYPES[dtype], wanted[1], wanted[2])
        return form


def _tensors(header, start, layout):
    seen, more = set(), {}
    for name, entry in header:
        if name in seen:
            layout.fault("duplicate", "the header has %r twice" % name)
        seen.add(name)
        if name == "__metadata__":
            _metadata(entry, layout)
        elif type(entry) is tuple:
            (dtype, shape, nbytes), begin = entry
            layout.tensors.add("", name, dtype, shape, start + begin, nbytes)
        else:
            _other(name, entry, start, layout, more)
    for field, (count, first) in more.items():
        what = "%s a field that the format does not have, %.100r, %.100r first; the reference passes over it"
        layout.warn("unchecked", what % (plural(count, "entry has", "entries have"), field, first))


def _other(name, entry, start, layout, more):
    """An entry with fields beside the three, counted in `more`: {field: [entries, the first]}; or a faulty one."""
    row = _fields(entry)
    problem = _problem(row) or _untaken(entry)
    if problem:
        layout.fault("bad_header", "tensor %r: %s" % (name, problem))
        return
    begin, end = row["data_offsets"]
    layout.tensors.add("", name, DTYPES[row["dtype"]], tuple(row["shape"]), start + begin, end - begin)
    for field in dict(entry).keys() - FIELDS:
        if field in more or len(more) < SHARED:
            more.setdefault(field, [0, name])[0] += 1


def _fields(entry):
    """The fields that a tensor's entry must have, if they are there, once each."""
    pairs = [(key, value) for key, value in entry if key in FIELDS] if type(entry) is _Pairs else []
    return dict(pairs) if len(pairs) == len(FIELDS) == len(dict(pairs)) else None


def _untaken(value, levels=LEVELS):
    """Why the reference takes no header with such a value in it, though no field asks for it, in words, or None."""
    if type(value) in (list, _Pairs) and not levels:
        return "its entry has more than %d levels" % LEVELS
    if type(value) in (list, tuple, _Pairs):  # a tuple is a key and its value
        inner = (_untaken(each, levels - (type(value) is not tuple)) for each in value)
        return next(filter(None, inner), None)
    if type(value) in (int, float) and not -MOST <= value <= MOST:
        return "a number beyond what 64 bits of floating point hold"
    return None


def _metadata(entry, layout):
    if entry is None:
        return
    if type(entry) is not _Pairs or any(type(value) is not str for _, value in entry):
        layout.fault("bad_header", "__metadata__ is not a mapping of text to text")
    else:
        layout.notes["metadata"] = {key: value[:200] for key, value in entry[:32]}
        layout.metadata = dict(
            entry
        )  # whole, for whoever compares it: a list of 61 layer ids has more than 200 letters


def _problem(row):
    """What is wrong with the fields of one tensor's entry, in words, or None."""
    if row is None:
        return "its entry has not dtype, shape and data_offsets, once each"
    dtype, shape, offsets = row["dtype"], row["shape"], row["data_offsets"]
    if type(dtype) is not str or dtype not in DTYPES:
        return "unknown dtype %.40r" % (dtype,)
    if not _naturals(shape) or not _naturals(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        return "shape and data_offsets must be whole numbers, not negative, in order"
    bits = elements(shape) * BITS[DTYPES[dtype]]
    if bits >= 1 << 64 or bits % 8 or (not bits and _overflows(shape)):
        return "%s %s has no size in bytes" % (dtype, shape)
    if bits // 8 != offsets[1] - offsets[0]:
        return "{} {} takes {:,} bytes, its offsets span {:,}".format(
            dtype, list(shape), bits // 8, offsets[1] - offsets[0]
        )
    return None


def _overflows(shape):
    """Whether the product leaves 64 bits on its way to a 0, as the reference multiplies: axis by axis."""
    product = 1
    for length in shape:
        product *= length
        if product >= 1 << 64:
            return True
    return False


def _naturals(value):
    if type(value) is not list:
        return False
    for item in value:  # noqa: SIM110 - a generator costs more than the loop, twice for each of 10^5 tensors
        if type(item) is not int or not 0 <= item < 1 << 64:
            return False
    return True


def _tiling(layout, start):
    """The tensors cover the bytes after the header exactly, in some order, and end where the file ends."""
    end, before = start, None
    for offset, nbytes, number in layout.tensors.in_order():
        if offset != end:
            kind, off = "hole" if offset > end else "overlap", abs(offset - end)
            between = "the header" if before is None else repr(layout.tensors[before].name)
            what = "{} of {:,} bytes between {} and {!r}"
            layout.fault(kind, what.format(kind, off, between, layout.tensors[number].name), offset)
        end, before = max(end, offset + nbytes), number
    if layout.size < end:
        layout.shortfall(end, "the tensors from %r on are cut" % _first_cut(layout))
    elif layout.size > end and not any(fault["kind"] == "bad_header" for fault in layout.faults):
        layout.fault("trailing", "{:,} bytes follow the last tensor".format(layout.size - end), end)


def _first_cut(layout):
    cut = [row for row in layout.tensors if row.offset + row.nbytes > layout.size]
    return min(cut, key=lambda row: row.offset).name
