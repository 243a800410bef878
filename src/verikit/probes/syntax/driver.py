"""Asks the interpreter that runs this whether it takes a Python source. Any Python from 2.7 on; it imports nothing of verikit.

It is used twice: imported by the host's own interpreter, and as text for `-c` of a named one.  `compile()` answers for an
import.  A script start reads the file another way, line by line, and differs in three points (asked of 2.7 to 3.13):

  - a byte that is no UTF-8 is refused anywhere, comments too, unless a mark or a cookie names the encoding in time
    (compile() lets it pass in comments up to 3.13);
  - up to 3.11.3 a line ends at its first NUL, and the next line is glued to it (an import refuses NUL at all times);
  - Python 2 imports as it starts scripts.
"""

import re
import sys
import warnings

COOKIE = re.compile(b"^[ \t\f]*#.*?coding[:=][ \t]*([-_.a-zA-Z0-9]+)")
BLANK = re.compile(b"^[ \t\f]*(?:#.*)?$")
MARK = b"\xef\xbb\xbf"
AWAIT = 0x2000  # ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, as the cells of a notebook are compiled
SHOWN = 20
"""Warnings of one file that are told; the others are counted."""

# What the readers of lines took for UTF-8 before 3.11: lengths counted, overlong forms and surrogates let through.
LENIENT = re.compile(b"(?:[\x00-\x7f]|[\xc0-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf7][\x80-\xbf]{3})*")


def outcome(data, name, run_as="import"):
    """What this interpreter makes of the bytes: `ok`, warnings, notes; of a refusal error, message, line, column, text."""
    notes, refused = [], None
    if run_as == "script" or sys.version_info < (3,):
        data, notes = as_read_by_lines(data)
        refused = not_text(data)
    result = compiled(data, name, AWAIT if run_as == "cell" and sys.version_info >= (3, 8) else 0)
    if refused and (result["ok"] or (result["line"] or 0) >= refused["line"]):
        result.update(refused)
    result["notes"] = notes
    return result


def compiled(data, name, flags=0):
    """The outcome of compile()."""
    result = {"ok": True, "error": None, "message": None, "line": None, "column": None, "text": None}
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            compile(data, name, "exec", flags, True)
        except SyntaxError as error:
            result.update(refusal(error, error.msg, error.lineno, error.offset, error.text))
        except (ValueError, TypeError, MemoryError, RuntimeError, OverflowError, LookupError, SystemError) as error:
            # RecursionError is a RuntimeError; TypeError is how Python 2 refuses NUL; LookupError comes from codecs.
            line = data[: data.find(b"\0")].count(b"\n") + 1 if b"\0" in data else None
            result.update(refusal(error, str(error), line, None, None))
    result["warnings"] = [
        {"category": each.category.__name__, "message": text(each.message), "line": each.lineno}
        for each in heard[:SHOWN]
    ]
    result["warning_count"] = len(heard)
    return result


def refusal(error, message, line, column, shown):
    """The part of an outcome that says what was refused, and where."""
    return {
        "ok": False,
        "error": type(error).__name__,
        "message": text(message or type(error).__name__),
        "line": line or None,
        "column": column if column and column > 0 else None,
        "text": text(shown) if shown else None,
    }


def text(value):
    """Text of at most 500 characters, whatever it was."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return ("%s" % (value,))[:500]


def as_read_by_lines(data):
    """The bytes as a script start sees them, with a note if that is not all of them."""
    if b"\0" not in data or sys.version_info >= (3, 11, 4):
        return data, []
    encoding = cookie(data)[0]
    version = "%d.%d.%d" % tuple(sys.version_info[:3])
    if sys.version_info >= (3, 10) and encoding and not plain_utf8(encoding):
        return nul_kept(data, encoding), []
    line = data[: data.find(b"\0")].count(b"\n") + 1
    note = "Python %s skips what follows the NUL byte in line %d, up to the end of that line" % (version, line)
    return re.sub(b"\0[^\n]*(?:\n|$)", b"", data), [note]


def nul_kept(data, encoding):
    """The bytes where 3.10 decodes lines by a codec: they keep their NUL, harmless in a comment and refused elsewhere.

    A byte that is no UTF-8 fares exactly so under compile(): it stands in for the NUL, and the mark for the cookie.
    """
    try:
        decoded = data.decode(encoding).encode("utf-8")
    except (LookupError, UnicodeError):
        return data
    return MARK + decoded.replace(b"coding", b"c0ding", 1).replace(b"\0", b"\xff")


def not_text(data):
    """The refusal of a byte that is not in the encoding that holds where it stands, or None."""
    try:
        data.decode("ascii" if sys.version_info < (3,) else "utf-8")
        return None
    except UnicodeDecodeError:
        encoding, line_of_it = cookie(data)
    if data.startswith(MARK):
        return None
    for number, line in enumerate(lines_of(data), 1):
        if encoding and number >= line_of_it:
            return None
        if not readable(line):
            first = first_unreadable(line)
            words = "Non-UTF-8 code starting with '\\x%02x' in line %d, but no encoding declared" % (first, number)
            if sys.version_info < (3,):
                words = words.replace("Non-UTF-8 code starting with", "Non-ASCII character")
            return refusal(SyntaxError(), words, number, None, line.decode("utf-8", "replace"))
    return None


def readable(line):
    """Whether the reader of lines takes it for text."""
    if sys.version_info < (3,) or sys.version_info >= (3, 11):
        try:
            line.decode("ascii" if sys.version_info < (3,) else "utf-8")
        except UnicodeDecodeError:
            return False
        return True
    return LENIENT.match(line).end() == len(line)


def first_unreadable(line):
    """The first byte that is not text."""
    try:
        line.decode("ascii" if sys.version_info < (3,) else "utf-8")
    except UnicodeDecodeError as error:
        return bytearray(line)[error.start]
    return 0


def cookie(data):
    """(encoding, number of its line) as the first two lines declare it, or (None, 0)."""
    for number, line in enumerate(lines_of(data[:4096], most=2), 1):
        found = COOKIE.match(line)
        if found:
            return found.group(1).decode("ascii"), number
        if not BLANK.match(line):
            break
    return None, 0


def lines_of(data, most=-1):
    """Lines as the universal newlines of a script start make them."""
    lines = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    return lines if most < 0 else lines[:most]


def plain_utf8(encoding):
    """Whether the tokenizer knows this name for UTF-8 itself, without a codec."""
    name = encoding[:12].lower().replace("_", "-")
    return name == "utf-8" or name.startswith("utf-8-")


def serve(heard, said):
    """Answers requests until the end of input: a line `length run_as`, the bytes; back comes one line of JSON each."""
    import json

    while True:
        head = heard.readline().split()
        if len(head) != 2:
            return
        data = heard.read(int(head[0]))
        answer = outcome(data, "<file>", head[1].decode("ascii"))
        said.write(json.dumps(answer).encode("ascii") + b"\n")
        said.flush()


if __name__ == "__main__":
    sys.path[:] = [each for each in sys.path if each]  # nothing is imported from the working directory
    serve(getattr(sys.stdin, "buffer", sys.stdin), getattr(sys.stdout, "buffer", sys.stdout))
