"""JSON, JSON lines, TOML and YAML: read to the end, nothing built that the text asks for.

JSON is what Python's `json` takes; where stricter readers (RFC 8259) would not, that is a warning.  YAML is read as a
stream of events by PyYAML where the host has it: no tag constructs anything.
"""

import json
import re

from verikit.probes.place import CannotSee

LINE_BYTES = 16 << 20
SAID = 20
"""Warnings of one file that are told; the others are counted."""


def taken(warned=(), notes=()):
    """The outcome for a text that parses; warned: (message, line)."""
    rows = [{"category": "Warning", "message": words[:300], "line": line} for words, line in warned]
    return {"ok": True, "warnings": rows[:SAID], "warning_count": len(rows), "notes": list(notes)[:SAID]}


def refused(error, message, line=None, column=None, text=None, cause=None):
    """The outcome for a text that does not parse."""
    row = {"ok": False, "error": error, "message": message[:500], "line": line, "column": column, "text": text}
    return dict(row, cause=cause, warnings=[], warning_count=0, notes=[])


def deep(path):
    return CannotSee("bound_reached", "%s is nested deeper than its reader goes" % path)


# JSON.


class Reader:
    """A decoder that notes what is accepted here and refused elsewhere."""

    def __init__(self):
        self.odd = []
        self.decode = json.JSONDecoder(object_pairs_hook=self.pairs, parse_constant=self.constant).decode

    def pairs(self, rows):
        """Stands for each object: None, since the values are not needed and would take memory."""
        if len({key for key, _ in rows}) < len(rows):
            seen = set()
            for key, _ in rows:
                if key in seen:
                    self.odd.append(
                        "the key %s is there twice in one object; the last one counts" % json.dumps(key)[:80]
                    )
                seen.add(key)

    def constant(self, name):
        self.odd.append("%s is no JSON by RFC 8259: other readers refuse it" % name)

    def take(self, data):
        """The oddities of one JSON text in bytes; ValueError if it is none."""
        encoding = json.detect_encoding(data)
        self.odd = []
        if encoding == "utf-8-sig":
            self.odd.append("a byte-order mark stands first: readers of text refuse it")
        elif encoding != "utf-8":
            self.odd.append("the text is %s; RFC 8259 wants UTF-8" % encoding)
        self.decode(data.decode(encoding, "surrogatepass"))
        return self.odd


def read_json(place, path, data):
    try:
        odd = Reader().take(data)
    except RecursionError:
        raise deep(path) from None
    except ValueError as error:
        return refused_json(error, data)
    return taken((words, 1) for words in dict.fromkeys(odd))


def refused_json(error, data, line=None):
    """The outcome for bytes that are no JSON; line: of the first byte, where the text is part of a file."""
    name = type(error).__name__
    if not isinstance(error, json.JSONDecodeError):
        return refused(name, str(error), line)
    cause = None
    if error.pos >= len(error.doc.rstrip()) or "Unterminated string" in error.msg:
        cause = "the text ends in the middle of something: cut short?" if data.strip() else "there is no value at all"
    text = error.doc.splitlines()[error.lineno - 1][:300] if error.doc.strip() else None
    return refused(name, error.msg, line or error.lineno, error.colno, text, cause)


def read_jsonl(place, path, data):
    """Line by line, however long the file is; `data` is only given for a source."""
    import io

    if data is not None:
        return lines_of_json(io.BytesIO(data), path)
    with place.steady(path) as file:
        return lines_of_json(file, path)


def lines_of_json(file, path):
    reader, odd, number, records = Reader(), [], 0, 0
    line = file.readline(LINE_BYTES + 1)
    while line:
        number += 1
        if len(line) > LINE_BYTES:
            raise CannotSee("bound_reached", "%s: line %d is longer than %d MiB" % (path, number, LINE_BYTES >> 20))
        if not line.strip():
            odd.append(("a blank line: some readers refuse it", number))
        else:
            records += 1
            try:
                odd += [(words, number) for words in dict.fromkeys(reader.take(line))]
            except RecursionError:
                raise deep(path) from None
            except ValueError as error:
                return refused_json(error, line, number)
        del odd[1000:]
        line = file.readline(LINE_BYTES + 1)
    return taken(odd, [] if records else ["it holds no record"])


# TOML.


def read_toml(place, path, data):
    try:
        import tomllib as reader
    except ImportError:
        reader = place.accelerator("tomli")
    if reader is None:
        raise CannotSee("unsupported", "%s: this host's Python reads no TOML (3.11 does, or tomli)" % path)
    try:
        reader.loads(data.decode("utf-8").replace("\r\n", "\n") if not isinstance(data, str) else data)
    except RecursionError:
        raise deep(path) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return refused("UnicodeDecodeError", "TOML is UTF-8; byte 0x%02x is not" % data[error.start], line)
    except ValueError as error:
        return refused_toml(error, data)
    return taken()


def refused_toml(error, data):
    place = re.search(r"\(at (?:line (\d+), column (\d+)|end of document)\)", str(error))
    message = re.sub(r" \(at [^)]*\)$", "", str(error))
    if place and place.group(1):
        line = int(place.group(1))
        lines = data.decode("utf-8", "replace").splitlines()
        return refused(type(error).__name__, message, line, int(place.group(2)), "".join(lines[line - 1 : line])[:300])
    cause = "the text ends in the middle of something: cut short?" if place else None
    return refused(type(error).__name__, message, data.count(b"\n") + 1 if place else None, cause=cause)


# YAML.


def read_yaml(place, path, data):
    yaml = place.accelerator("yaml")
    if yaml is None:
        raise CannotSee("unsupported", "%s: this host has no reader of YAML (PyYAML)" % path)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    seen = Events()
    try:
        for event in yaml.parse(data, Loader=loader):
            seen.take(event)
    except RecursionError:
        raise deep(path) from None
    except yaml.YAMLError as error:
        return refused_yaml(error, data)
    except UnicodeDecodeError as error:
        return refused("UnicodeDecodeError", str(error))
    if seen.undefined:
        name, line = seen.undefined[0]
        return refused("ComposerError", "found undefined alias %r" % name, line)
    notes = ["it holds %d documents" % seen.documents] if seen.documents > 1 else []
    if seen.tags:
        notes.append("custom tags: %s" % ", ".join(sorted(seen.tags)[:5]))
    if not seen.documents:
        notes.append("it holds no document")
    return taken(seen.twice, notes)


def refused_yaml(error, data):
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    words = "; ".join(each for each in (getattr(error, "context", None), getattr(error, "problem", None)) if each)
    words = words or str(error).replace("\n", " ")
    if mark is None:
        return refused(type(error).__name__, words)
    lines = data.decode("utf-8", "replace").splitlines()
    text = "".join(lines[mark.line : mark.line + 1])[:300]
    cause = "a tab indents; YAML takes spaces only" if "'\\t'" in words else None
    if mark.line >= len(data.rstrip().splitlines()) and "expected" in words:
        cause = "the text ends in the middle of something: cut short?"
    return refused(type(error).__name__, words, mark.line + 1, mark.column + 1, text, cause)


class Events:
    """What a stream of YAML events tells beyond syntax: documents, custom tags, keys twice, loose aliases."""

    def __init__(self):
        self.documents, self.tags, self.twice, self.undefined = 0, set(), [], []
        self.anchors, self.within = set(), []  # within: of each open collection, [its keys or None, is a key next]

    def take(self, event):
        name = type(event).__name__
        if name == "DocumentStartEvent":
            self.documents += 1
            self.anchors = set()
        elif name == "AliasEvent":
            if event.anchor not in self.anchors:
                self.undefined.append((event.anchor, event.start_mark.line + 1))
            self.node(None, event)
        elif name in ("ScalarEvent", "MappingStartEvent", "SequenceStartEvent"):
            self.node((event.tag, event.value) if name == "ScalarEvent" else None, event)
            if event.anchor:
                self.anchors.add(event.anchor)
            if event.tag and event.tag.startswith("!"):
                self.tags.add(event.tag[:60])
            if name != "ScalarEvent":
                self.within.append([set() if name == "MappingStartEvent" else None, True])
        elif name in ("MappingEndEvent", "SequenceEndEvent"):
            self.within.pop()

    def node(self, key, event):
        """A node begins: in a mapping every other one is a key."""
        if not self.within or self.within[-1][0] is None:
            return
        keys, expected = self.within[-1]
        self.within[-1][1] = not expected
        if expected and key is not None and key[1] != "<<":
            if key in keys and len(self.twice) < 1000:
                self.twice.append(
                    ("the key %r is there twice; the last one counts" % key[1][:80], event.start_mark.line + 1)
                )
            keys.add(key)
