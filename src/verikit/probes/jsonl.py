"""Every line of a JSON-lines file, parsed in bounded memory; the faults that half-written and merged files have.

A line ends at LF and nowhere else.  What is counted, with the first line of each: see `KINDS`.
Source: RFC 8259 for the values; jsonlines.org for the lines.
"""

import json
import os
import re
import zlib

from verikit.probes import handles
from verikit.probes.place import CannotSee

KINDS = (
    "nul",  # NUL bytes: a block that the file system never got to write
    "bom",  # a byte-order mark, at the beginning or where a file was appended
    "not_utf8",
    "cut_last",  # the last line has no end and can't be parsed
    "fused",  # several records in one line: a newline got lost between two writers
    "not_json",
    "too_deep",
    "not_object",
    "missing_field",
    "empty_field",
    "unbalanced",
    "duplicate_id",
    "too_long",  # not parsed: it would take more memory than a look has; undecided, no fault
)

LINE_LIMIT = 12 << 20
PARSE_LIMIT = 48 << 20  # bytes that one line may take: as read, joined, decoded and parsed
NODE = 88  # bytes of an empty dict or list with its slot, the most that two characters can cost
ASTRAL = re.compile(rb"[\xf0-\xff]")  # the first byte of what takes four bytes a character once decoded
DIGITS = re.compile(rb"[0-9]{4300}")  # Python itself refuses longer numbers
READ = 1 << 18
SLOTS = 1 << 22  # 32 MiB: 3.7 million ids
EVERY = 1 << 24  # bytes between two words of progress


def inspect(place, path, required=(), balanced=(), unique=None, count=None, live=False):
    """What the lines of the file are: `records` (lines that are no blank), `good` ones, and `faults` by kind.

    faults: {kind: {count, line, offset, what}} with the line (1-based) and byte offset of the first.
    required: fields, dotted for nested ones, that must be there and not be empty.  unique: a field whose values must
    differ.  balanced: pairs of words that must open and close in each text.
    count: a file whose lines that are not blank are counted too, as `expected`.
    live: the file is being written: it is judged up to its size at the opening, and `writers` are those who have it open.
    gzip is read through; the size is that of the file as it lies.
    """
    tally = _Tally(required, balanced, unique)
    opened = place.open(path) if live else place.steady(path)
    with opened as file:
        info = os.fstat(file.fileno())
        source = _Source(file, info.st_size)
        for number, offset, line, ended in _lines(source, place):
            tally.line(number, offset, line, ended)
        facts = tally.facts(source)
        first = facts["faults"].get("duplicate_id")
        if first:
            first["what"] += _first_holder(file, info.st_size, unique, tally.repeated, first["line"])
    facts["path"], facts["size"] = os.fspath(path), info.st_size
    facts["written"], facts["now"] = info.st_mtime, place.now()
    asked = live and "cut_last" in facts["faults"]
    facts["writers"] = handles.writers(place, {(info.st_dev, info.st_ino)}, info.st_uid) if asked else None
    facts["grew"] = live and place.stat(path).st_size > info.st_size
    facts["expected"] = _count_lines(place, count) if count is not None else None
    facts["coverage"] = {
        "lines": tally.lines - tally.skipped,
        "of": tally.lines,
        "bytes": source.read,
        "of_bytes": source.size,
    }
    return facts


class _Source:
    """The bytes of a file up to its size at the opening, unpacked if they are gzip."""

    def __init__(self, file, size):
        self.file, self.size, self.read, self.broken = file, size, 0, None
        file.seek(0)
        self.packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        self.unpacker = zlib.decompressobj(31) if self.packed else None

    def chunks(self):
        while self.read < self.size:
            data = self.file.read(min(READ, self.size - self.read))
            if not data:
                return
            self.read += len(data)
            if self.broken:
                continue
            for chunk in self._unpacked(data) if self.packed else (data,):
                if chunk:
                    yield chunk
        if self.packed and not self.broken and not self.unpacker.eof:
            self.broken = "the gzip stream is cut"

    def _unpacked(self, data):
        try:
            while True:
                out = self.unpacker.decompress(data, READ)
                yield out
                data = self.unpacker.unconsumed_tail
                if self.unpacker.eof:
                    data = self.unpacker.unused_data
                    if not data:
                        return
                    self.unpacker = zlib.decompressobj(31)  # gzip files may be appended to each other
                elif not data and len(out) < READ:
                    return
        except zlib.error as error:
            self.broken = "the gzip stream is damaged: %s" % error


def _lines(source, place):
    """(number, offset, line, ended) of each line; of one longer than LINE_LIMIT the line is None."""
    number, offset, pending, length, told = 1, 0, [], 0, 0
    for chunk in source.chunks():
        if source.read - told >= EVERY:
            told = source.read
            place.progress(source.read, source.size)
        begin = 0
        while True:
            end = chunk.find(b"\n", begin)
            piece = chunk[begin:] if end < 0 else chunk[begin:end]
            length += len(piece)
            if length > LINE_LIMIT:
                pending = None
            elif piece and pending is not None:
                pending.append(piece)
            if end < 0:
                break
            yield number, offset, None if pending is None else b"".join(pending), True
            number, offset, pending, length, begin = number + 1, offset + length + 1, [], 0, end + 1
    if length:
        yield number, offset, None if pending is None else b"".join(pending), False


class _Tally:
    """What was found so far: the faults by kind, and the digests of the ids."""

    def __init__(self, required, balanced, unique):
        self.required, self.balanced, self.unique = [tuple(name.split(".")) for name in required], balanced, unique
        self.lines = self.blank = self.good = self.skipped = 0
        self.faults, self.by_name = {}, {}
        self.ids = _Digests() if unique else None
        self.repeated = None
        self.object_needed = bool(required or unique)

    def line(self, number, offset, line, ended):
        self.lines += 1
        if line is None:
            self.skipped += 1
            return self.fault("too_long", number, offset, "longer than %d bytes" % LINE_LIMIT)
        if not line.strip():
            self.blank += 1
            return None
        found = self._parse(number, offset, line, ended)
        if found is not None and self._content(number, offset, found[0]):
            self.good += 1
        return None

    def fault(self, kind, number, offset, what, name=None):
        row = self.faults.setdefault(kind, {"count": 0, "line": number, "offset": offset, "what": what})
        row["count"] += 1
        if name is not None:
            names = row.setdefault("by", {})
            names[name] = names.get(name, 0) + 1

    def _parse(self, number, offset, line, ended):
        """The value of the line in a tuple, or None with its fault counted."""
        if b"\0" in line:
            what = "%d NUL bytes from byte %d on" % (line.count(b"\0"), offset + line.index(b"\0"))
            if number == 1 and line[:2] in (b"\xff\xfe", b"\xfe\xff"):
                what = "UTF-16: its byte-order mark and NUL bytes"
            return self.fault("nul", number, offset, what)
        if line.startswith(b"\xef\xbb\xbf"):
            self.fault("bom", number, offset, "UTF-8 byte-order mark")
            return None
        if _cost(line) > PARSE_LIMIT:
            self.skipped += 1
            return self.fault("too_long", number, offset, "%d bytes of too many small values" % len(line))
        if len(line) >= 4300 and DIGITS.search(line):
            return self.fault("not_json", number, offset, "a number of more than 4,300 digits")
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            kind = "not_utf8" if ended else "cut_last"
            return self.fault(
                kind, number, offset, "byte 0x%02x at byte %d of the line" % (line[error.start], error.start)
            )
        try:
            return (_DECODER.decode(text),)
        except RecursionError:
            return self.fault("too_deep", number, offset, "nested more deeply than Python's own reader goes")
        except ValueError as error:
            kind, what = _kind_of(text, error, ended)
            return self.fault(kind, number, offset, what)

    def _content(self, number, offset, value):
        """Whether the record is as it should be; its faults are counted."""
        before = sum(row["count"] for row in self.faults.values())
        if not isinstance(value, dict) and self.object_needed:
            self.fault("not_object", number, offset, "a %s" % _type_name(value))
        elif isinstance(value, dict):
            for name in self.required:
                self._field(number, offset, value, name)
            if self.unique:
                self._identity(number, offset, value)
        for text in _texts(value) if self.balanced else ():
            for begins, ends in self.balanced:
                what = _imbalance(text, begins, ends)
                if what:
                    self.fault("unbalanced", number, offset, what, begins)
        return before == sum(row["count"] for row in self.faults.values())

    def _field(self, number, offset, value, name):
        shown = ".".join(name)
        there, found = _get(value, name)
        if not there:
            self.fault("missing_field", number, offset, "no field %s" % shown, shown)
        elif found is None or (isinstance(found, str) and not found.strip()) or found in ([], {}):
            self.fault("empty_field", number, offset, "field %s is %s" % (shown, json.dumps(found)[:20]), shown)

    def _identity(self, number, offset, value):
        there, found = _get(value, tuple(self.unique.split(".")))
        if not there:
            return self.fault("missing_field", number, offset, "no field %s" % self.unique, self.unique)
        if self.ids.add(_digest(found)):
            return None
        if "duplicate_id" not in self.faults:
            self.repeated = found
        what = "%s %s" % (self.unique, json.dumps(found)[:60])
        return self.fault("duplicate_id", number, offset, what)

    def facts(self, source):
        return {
            "lines": self.lines,
            "records": self.lines - self.blank,
            "blank": self.blank,
            "good": self.good,
            "faults": {kind: self.faults[kind] for kind in KINDS if kind in self.faults},
            "ids": len(self.ids.seen) if self.ids and not self.ids.full else None,
            "ids_full": bool(self.ids and self.ids.full),
            "gzip": source.packed,
            "broken": source.broken,
        }


class _Digests:
    """A set of 64-bit digests in at most 8 * SLOTS bytes: open addressing, grown by doubling."""

    def __init__(self):
        self.slots, self.used, self.full = _zeros(1 << 10), 0, False

    @property
    def seen(self):
        return range(self.used)

    def add(self, digest):
        """False if it was there; what comes when the set is full counts as new, and `full` says that it was not kept."""
        mask = len(self.slots) - 1
        at = digest & mask
        while self.slots[at]:
            if self.slots[at] == digest:
                return False
            at = (at + 1) & mask
        if self.used * 8 >= len(self.slots) * 7:
            self.full = True
            return True
        self.slots[at] = digest
        self.used += 1
        if self.used * 3 >= len(self.slots) * 2 and len(self.slots) < SLOTS:
            self._grow()
        return True

    def _grow(self):
        old, self.slots = self.slots, _zeros(2 * len(self.slots))
        mask = len(self.slots) - 1
        for digest in old:
            if digest:
                at = digest & mask
                while self.slots[at]:
                    at = (at + 1) & mask
                self.slots[at] = digest


def _zeros(length):
    from array import array

    return array("Q", bytes(8 * length))


def _digest(value):
    """64 bits of a JSON value, never 0; equal values, however their keys are ordered, have equal ones."""
    import hashlib

    text = json.dumps(value, sort_keys=True).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") or 1


def _constant(name):
    raise ValueError("%s is no JSON" % name)


_DECODER = json.JSONDecoder(parse_constant=_constant)
_GAP = re.compile(r"\s*,?\s*")


def _kind_of(text, error, ended):
    """(kind, what) of a line that is no JSON value: cut, several in one, or simply wrong."""
    message = str(error)[:120]
    starts, at = 0, _GAP.match(text).end()
    try:
        while at < len(text):
            _, at = _DECODER.raw_decode(text, at)
            starts += 1
            at = _GAP.match(text, at).end()
    except (ValueError, RecursionError):
        pass
    if starts > 1 or (starts == 1 and text[at : at + 1] in ("{", "[")):
        whole = at >= len(text)
        return (
            "fused",
            "%d records in one line" % starts if whole else "a record begins where another has not ended its line",
        )
    if not ended:
        return "cut_last", "%d characters without an end: %s" % (len(text), message)
    middle = text.find('{"', 1)
    while middle > 0:  # a record that was cut, and the next one written behind it
        try:
            _DECODER.raw_decode(text, middle)
        except (ValueError, RecursionError):
            break
        if text[middle - 1 : middle] not in ("[", ":", ",", " "):
            return "fused", "a cut record, and another from character %d on" % (middle + 1)
        middle = text.find('{"', middle + 1)
    return "not_json", message


def _cost(line):
    """Bytes that the line takes at most: each value its node, each text one, two or four bytes a character, twice."""
    values = line.count(b",") + line.count(b"[") + line.count(b"{") + 1
    wide = 1 if line.isascii() else 4 if ASTRAL.search(line) else 2
    return NODE * values + 2 * len(line) + 2 * wide * len(line)


def _get(value, name):
    for part in name:
        if not isinstance(value, dict) or part not in value:
            return False, None
        value = value[part]
    return True, value


def _texts(value):
    """Every text within a JSON value."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)


def _imbalance(text, begins, ends):
    """How the pair is out of balance in a text; None if each one that opens is closed after it."""
    opened, closed = text.count(begins), text.count(ends)
    if not opened and not closed:
        return None
    if opened != closed:
        return "%d %s and %d %s in one text" % (opened, begins, closed, ends)
    depth = 0
    for found in re.finditer("%s|%s" % (re.escape(begins), re.escape(ends)), text):
        depth += 1 if found.group() == begins else -1
        if depth < 0:
            return "%s before its %s" % (ends, begins)
    return None


def _type_name(value):
    names = {list: "list", str: "text", bool: "truth value", type(None): "null"}
    return names.get(type(value), "number")


def _first_holder(file, size, unique, wanted, before):
    """` as in line N`: where a repeated id was met first. A second reading, up to the repetition at most."""
    for number, _, line, _ in _lines(_Source(file, size), _Silent()):
        if number >= before:
            return ""
        try:
            there, found = _get(_DECODER.decode(line.decode("utf-8")), tuple(unique.split(".")))
        except (ValueError, RecursionError, AttributeError):
            continue
        if there and found == wanted:
            return " as in line %d" % number
    return ""


class _Silent:
    def progress(self, done, total):
        pass


def _count_lines(place, path):
    """Lines of a file that are not blank."""
    with place.steady(path) as file:
        source = _Source(file, os.fstat(file.fileno()).st_size)
        lines = sum(line is None or bool(line.strip()) for _, _, line, _ in _lines(source, place))
    if source.broken:
        raise CannotSee("truncated_reply", "%s: %s" % (os.fspath(path), source.broken))
    return lines
