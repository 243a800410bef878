"""Where a line can be inserted: the rules P, and the lines at which an import at column 0 changes nothing else.

Lines are numbered from 1 and end at "\\n", as editors and `ast` count them; text inserted at line L becomes line L.
"""

import ast
import io
import re
import textwrap
import tokenize

from verikit.probes.imports.rules import finding
from verikit.probes.imports.scopes import leaves
from verikit.probes.place import CannotSee

BOM = b"\xef\xbb\xbf"
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def insert(data, text, line):
    """The file's bytes with the text as line `line`, in the file's own line ends."""
    end = b"\r\n" if b"\r\n" in data else b"\n"
    rows = data.split(b"\n")
    if line > len(rows) + 1:
        raise CannotSee("missing", "there is no line %d to insert at: the file has %d" % (line, len(rows)))
    lines = text[:-1] if text.endswith("\n") else text
    new = lines.replace("\r\n", "\n").encode("utf-8", "surrogateescape").replace(b"\n", end)
    return b"\n".join(rows[: line - 1] + [new + (b"\r" if end == b"\r\n" else b"")] + rows[line - 1 :])


def is_diff(text):
    """Whether the text is a unified diff."""
    return any(_HUNK.match(row) for row in text.splitlines())


def patched(data, diff, name=""):
    """(the bytes after a unified diff, the set of its added lines). A hunk may have moved; its context must be there."""
    rows, added, shift = data.decode("utf-8", "surrogateescape").split("\n"), set(), 0
    crlf = b"\r\n" in data
    for start, old, new in _hunks(diff, name):
        want = [row.rstrip("\r") for row in old]
        have = [row.rstrip("\r") for row in rows]
        at = _found(have, want, start - 1 + shift if old else start + shift)
        if at is None:
            raise CannotSee("ambiguous", "the diff does not apply: its lines from %d on are not in the file" % start)
        made = [text + ("\r" if crlf and not text.endswith("\r") else "") for text, _ in new]
        rows[at : at + len(old)] = made
        added.update(at + 1 + k for k, (_, fresh) in enumerate(new) if fresh)
        shift += len(new) - len(old)
    return "\n".join(rows).encode("utf-8", "surrogateescape"), added


def _hunks(diff, name):
    """[(first old line, old lines, [(new line, whether it is new)])] of the file's own part of the diff."""
    hunks, current, mine = [], None, True
    base = name.rpartition("/")[2]
    several = sum(row.startswith("+++ ") for row in diff.splitlines()) > 1
    left = right = 0
    for row in diff.splitlines():
        head = _HUNK.match(row)
        if head and not (left or right):
            left, right = int(head.group(2) or 1), int(head.group(4) or 1)
            current = (int(head.group(1)), [], [])
            if mine:
                hunks.append(current)
        elif left or right:
            sign, text = row[:1] or " ", row[1:]
            if sign == "\\":
                continue
            if sign in " -":
                current[1].append(text)
                left -= 1
            if sign in " +":
                current[2].append((text, sign == "+"))
                right -= 1
        elif row.startswith("+++ ") and several:
            mine = row[4:].split("\t")[0].strip().rpartition("/")[2] == base
    if not hunks:
        raise CannotSee("ambiguous", "the diff has no hunk for %s" % (name or "the file"))
    return hunks


def _found(have, want, at):
    """Where the wanted lines are, nearest to `at`."""
    if not want:
        return min(max(at, 0), len(have))
    for distance in range(len(have) + 1):
        for start in (at - distance, at + distance):
            if 0 <= start <= len(have) - len(want) and have[start : start + len(want)] == want:
                return start
    return None


def safe(tree, data):
    """[[first, last], …]: the lines at which an import at column 0 leaves everything else as it is."""
    rows = data.split(b"\n")
    last = len(rows) if rows[-1] == b"" else len(rows) + 1
    blocked = bytearray(last + 2)
    for line in range(1, min(_floor(tree, data, rows), last + 1)):
        blocked[line] = 1
    ends = {}
    for node in tree.body:
        start = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
        for line in range(start + 1, min(node.end_lineno, last) + 1):
            blocked[line] = 1
        ends[node.end_lineno] = node.end_col_offset
        if leaves([node]):
            for line in range(node.end_lineno + 1, last + 1):
                blocked[line] = 1
    for line in range(2, last + 1):
        if not blocked[line] and _continued(rows[line - 2], ends.get(line - 1, 0)):
            blocked[line] = 1
    return _ranges(blocked, last)


def _floor(tree, data, rows):
    """The first line below shebang, encoding, docstring and the last __future__ import."""
    floor = 1
    if data.startswith((b"#!", BOM)):
        floor = 2
    if not data.isascii() and encoding_of(data) != "utf-8":
        floor = max(floor, 2 + (b"coding" not in rows[0]))
    for at, node in enumerate(tree.body):
        future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        text = (
            not at
            and isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        )
        if future or text:
            floor = max(floor, node.end_lineno + 1)
    return floor


def _continued(row, col):
    """Whether a line of code ends in a backslash that joins the next one to it."""
    row = row.rstrip(b"\r")
    return row.endswith(b"\\") and b"#" not in row[col:]


def _ranges(blocked, last):
    ranges = []
    for line in range(1, last + 1):
        if not blocked[line]:
            if ranges and ranges[-1][1] == line - 1:
                ranges[-1][1] = line
            else:
                ranges.append([line, line])
    return ranges


def near(ranges, line):
    """The safe range that holds the line, or the nearest one above and the nearest below."""
    above = [each for each in ranges if each[1] < line][-1:]
    below = [each for each in ranges if each[0] > line][:1]
    return [each for each in ranges if each[0] <= line <= each[1]] or [*above, *below]


def encoding_of(data):
    """The encoding that Python reads the file in; None where the declaration is wrong."""
    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0].replace("-sig", "")
    except SyntaxError:
        return None


def parse(data):
    """The tree of the file's bytes as the compiler sees it; SyntaxError and its kin pass through."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(data)


ERRORS = (SyntaxError, ValueError, MemoryError, RecursionError, OverflowError)


def broken(data, line, text, error):
    """The finding for an insertion after which the file no longer parses."""
    rule, where = _why(data, line, text, error)
    return finding(
        rule,
        None,
        line,
        "line %d lies %s: %s" % (line, where, said(error)),
        other=getattr(error, "lineno", None),
        severity="breaks",
    )


def said(error):
    return (
        "%s, line %s" % (error.msg, error.lineno)
        if isinstance(error, SyntaxError)
        else "%s: %s" % (type(error).__name__, error)
    )


def _why(data, line, text, error):
    said = str(error)
    if "__future__" in said:
        return (
            "P6",
            "above a __future__ import, or is a late one"
            if "import __future__" not in text
            else "too low for a __future__ import",
        )
    if isinstance(error, TabError) or "inconsistent use of tabs" in said:
        return "P10", "in a block whose indentation it mixes up"
    if line <= 2 and ("codec" in said or "encoding" in said or "U+FEFF" in said or "feff" in said.lower()):
        return "P8", "above the line that tells the file's encoding"
    return _inside(data, line)


def _inside(data, line):
    """Which token or bracket, opened above, the line lies in."""
    opened, decorated = [], False
    try:
        for token in tokenize.tokenize(io.BytesIO(data).readline):
            if token.start[0] >= line:
                break
            if token.type == tokenize.STRING and token.end[0] >= line:
                return "P1", "inside the string that opens on line %d" % token.start[0]
            if token.type == tokenize.OP and token.string in "([{":
                opened.append(token.start[0])
            elif token.type == tokenize.OP and token.string in ")]}" and opened:
                opened.pop()
            elif token.type == tokenize.OP and token.string == "@" and not token.line[: token.start[1]].strip():
                decorated = True
            elif token.type == tokenize.NAME and token.string in ("def", "class"):
                decorated = False
    except (tokenize.TokenError, SyntaxError, IndentationError):
        pass
    if opened:
        return "P2", "inside the bracket that opens on line %d" % opened[-1]
    rows = data.split(b"\n")
    if line >= 2 and _continued(rows[line - 2], 0):
        return "P5", "after a backslash that continues line %d" % (line - 1)
    if decorated:
        return "P4", "between a decorator and what it decorates"
    return "P3", "inside a block that the import would cut or can't stand in"


def placed(before, after, tree_before, tree_after, text, line, added):
    """Findings for an insertion that parses: inert text, lost docstrings, shebang, encoding, late __future__."""
    rows = [_late_future(after, line), _head(before, after, line)]
    statements = [node for node in ast.walk(tree_after) if isinstance(node, ast.stmt) and node.lineno in added]
    wanted = sum(1 for row in text.splitlines() if re.match(r"\s*(import|from)\s", row))
    found = sum(isinstance(node, (ast.Import, ast.ImportFrom)) for node in statements)
    if wanted and not found:
        rule, where = _inside(before, line)
        rows.append(
            finding(
                rule if rule == "P1" else "P3",
                None,
                line,
                "line %d lies %s: it would be data, and bind nothing" % (line, where),
            )
        )
    elif not _stands_alone(text) and not _otherwise_same(tree_before, tree_after, added):
        rows.append(
            finding(
                "P3", None, line, "line %d changes which block the lines below belong to" % line, severity="changes"
            )
        )
    if found or not wanted:
        rows.append(_docstring(tree_before, tree_after, line, added))
    return [row for row in rows if row is not None]


def compiles(data):
    """Runs the compiler's later stages too; nothing is executed. What they refuse passes through."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(data, "<examined>", "exec", dont_inherit=True)


def _late_future(after, line):
    try:
        compiles(after)
    except ERRORS as error:
        rule = "P6" if "__future__" in str(error) else "N18" if "global" in str(error) else "P3"
        text = "with line %d the file does not compile: %s" % (line, said(error))
        return finding(rule, None, line, text, severity="breaks")
    return None


def _head(before, after, line):
    if before.startswith(b"#!") and not after.startswith(b"#!"):
        return finding("P8", None, line, "line %d pushes the shebang off line 1" % line, severity="changes")
    if before.startswith(BOM) and not after.startswith(BOM):
        return finding("P8", None, line, "line %d stands before the byte-order mark" % line)
    if not after.isascii() and encoding_of(before) != encoding_of(after):
        words = "line %d changes the encoding that the file is read in: %s, then %s"
        return finding("P8", None, line, words % (line, encoding_of(before), encoding_of(after)), severity="changes")
    return None


def _docstring(tree_before, tree_after, line, added):
    if ast.get_docstring(tree_before, clean=False) != ast.get_docstring(tree_after, clean=False):
        text = "line %d stands above the module's docstring, which then is none: __doc__ is None" % line
        if ast.get_docstring(tree_before) is None:
            text = "line %d becomes the module's docstring" % line
        return finding("P7", None, line, text)
    for node in ast.walk(tree_after):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.body[0].lineno in added:
            rest = [each for each in node.body if each.lineno not in added][:1]
            if (
                rest
                and isinstance(rest[0], ast.Expr)
                and isinstance(rest[0].value, ast.Constant)
                and isinstance(rest[0].value.value, str)
            ):
                return finding(
                    "P3",
                    None,
                    line,
                    "line %d stands above the docstring of %s, which then is none" % (line, node.name),
                    severity="changes",
                )
    return None


def _stands_alone(text):
    try:
        ast.parse(textwrap.dedent(text))
    except ERRORS:
        return False
    return True


def _otherwise_same(before, after, added):
    return _dumps(before, set()) == _dumps(after, added)


def _dumps(tree, added):
    """The tree's text without the statements of the added lines (and without positions)."""
    import copy

    tree = copy.deepcopy(tree) if added else tree
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if isinstance(body, list) and added:
                setattr(node, field, [each for each in body if each.lineno not in added])
    return ast.dump(tree)
