"""Why a file does not parse, where its bytes show it: a merge left half done, a cut, a mangled line end, another language."""

import re

# What a file is instead, by how it begins.
BEGINNINGS = (
    (b"version https://git-lfs.github.com/spec/", "a Git LFS pointer stands where the file should be"),
    (b"\x1f\x8b", "these are gzip data"),
    (b"PK\x03\x04", "this is a ZIP archive"),
    (b"\x7fELF", "this is an ELF binary"),
    (b"\xff\xfe", "the text is UTF-16"),
    (b"\xfe\xff", "the text is UTF-16"),
    (b"diff --git ", "this is a patch, not the patched file"),
    (b"--- a/", "this is a patch, not the patched file"),
    (b"<!DOCTYPE", "this is an HTML page (a download that ended at an error page?)"),
    (b"<!doctype", "this is an HTML page (a download that ended at an error page?)"),
    (b"<html", "this is an HTML page (a download that ended at an error page?)"),
)

CUT = (
    "was never closed",
    "unexpected EOF",
    "EOF while scanning",
    "unterminated triple-quoted",
    "unexpected end of file",
    "EOF in multi-line",
    "expected 'except' or 'finally' block",
)

MARKER = re.compile(rb"^(<{7}|>{7}|\|{7})(?: |\r?$)|^={7}\r?$", re.MULTILINE)


def likely(data, row):
    """The likely cause of a refusal, in a few words, or None.

    `row` has kind, error, message, line, text, and the version of the interpreter that refused: [3, 9, 18] or None.
    """
    for find in (other_file, marker, nul, line_ends, newer, cut, other_tongue):
        words = find(data, row)
        if words:
            return words
    return None


def other_file(data, _):
    return next((words for start, words in BEGINNINGS if data.startswith(start)), None)


def marker(data, row):
    """Conflict markers count as a cause where one stands on the refused line, or at most its neighbour."""
    lines = [data.count(b"\n", 0, found.start()) + 1 for found in MARKER.finditer(data)]
    if lines and row["line"] and any(abs(line - row["line"]) <= 1 for line in lines):
        near = min(lines, key=lambda line: abs(line - row["line"]))
        return "merge-conflict marker in line %d (%d in the file)" % (near, len(lines))
    return None


def nul(data, row):
    if b"\0" not in data:
        return None
    first = data.find(b"\0")
    rest = data[first:].strip(b"\0")
    tail = (
        "to the end of the file: space that a copy set aside and never filled" if not rest else "from byte %d" % first
    )
    return "%d NUL bytes %s" % (data.count(b"\0"), tail)


def line_ends(data, row):
    if b"\r\r\n" in data:
        return "lines end in CR CR LF: CRLF was converted to CRLF again"
    if re.search(rb"\\[ \t]+\r?\n", data) and "continuation character" in row["message"]:
        return "white space follows the backslash"
    mixed = data.count(b"\r\n")
    if mixed and mixed != data.count(b"\n") and "inconsistent" in row["message"]:
        return "CRLF and LF line ends are mixed"
    return None


# What the refused line (or the message) shows of syntax that came later: since, what the line looks like, in words.
NEWER = (
    ((3, 14), r"^\s*except\*?\s+[\w.]+\s*,\s*[\w.]+[^()]*:", "several exceptions without brackets"),
    ((3, 14), r"(?<![\w'\"])[tT][rR]?['\"]", "t-strings"),
    ((3, 12), r"^\s*(async\s+)?(def|class)\s+\w+\[", "type parameters"),
    ((3, 12), r"^\s*type\s+\w+\s*(\[.*\])?\s*=", "the `type` statement"),
    ((3, 11), r"^\s*except\s*\*", "`except*`"),
    ((3, 11), r"\[[^\]]*(?<![\w)\]])\*\w|\*\w+\s*:\s*\*", "a star in an index or annotation"),
    ((3, 10), r"^\s*(match\s+[^=]+:|case\s+.+:)\s*(#.*)?$", "the `match` statement"),
    ((3, 9), r"^\s*(async\s+)?with\s*\(", "`with` items in brackets"),
    ((3, 9), r"^\s*@", "decorators that are any expression"),
    ((3, 8), r":=", "`:=`"),
    ((3, 8), r"\bdef\s+\w+\([^)]*,\s*/", "positional-only parameters"),
    ((3, 6), r"(?<![\w'\"])([fF][rR]?|[rR][fF])['\"]", "f-strings"),
    ((3, 6), r"^\s*\w+\s*:\s*[\w\[\], .]+=", "annotated variables"),
)


def newer(data, row):
    """Syntax that came after the interpreter's version, where the refused line looks like it."""
    if not row.get("version") or row["kind"] not in ("python", "notebook") or row["error"] != "SyntaxError":
        return None
    version, text = tuple(row["version"][:2]), row["text"] or ""
    if version < (3, 12) and re.match(
        r"f-string: (expecting '}'|unmatched|expression part cannot)|f-string expression", row["message"]
    ):
        return "syntax of Python 3.12: f-strings that hold any expression"
    for since, shape, words in NEWER:
        if version < since and re.search(shape, text):
            return "syntax of Python %d.%d: %s" % (*since, words)
    return None


def cut(data, row):
    """The file ends inside something: a bracket, a string, a suite."""
    if any(words in row["message"] for words in CUT):
        return "the file ends in the middle of something: cut short, or a bracket or quote is missing"
    last = data.rstrip(b"\r\n").count(b"\n") + 1
    if row["kind"] != "python" or row["line"] is None or row["line"] < last:
        return None
    ends = data.rsplit(b"\n", 1)[-1]
    if "expected an indented block" in row["message"] or (
        ends and (row["column"] or 0) >= len(ends.decode("utf-8", "replace"))
    ):
        return "the file ends here: cut short?"
    return None


def other_tongue(data, row):
    text = (row["text"] or "").strip()
    if text.startswith(("%", "!")) and row["kind"] == "python":
        return "IPython syntax in a plain file"
    if text.startswith((">>> ", "... ")):
        return "prompts of an interactive session were copied along"
    if "Missing parentheses in call to" in row["message"] or re.match(r"(print|exec) +['\"\w]", text):
        return "Python 2 syntax"
    if re.match(r"^#!.*\b(sh|bash|zsh)\b", data[:100].decode("latin-1")):
        return "this is a shell script"
    return None
