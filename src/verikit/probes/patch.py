"""Whether lines are in a file: how often, and where; and the same for each hunk of a unified diff."""

import re

from verikit.probes.place import CannotSee

MOST_BYTES = 64 << 20
TOLD = 20
"""Places that are told; the others are counted."""

HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def occurrences(place, path, text):
    """Where the lines of `text` stand in the file, one after the other: `count`, `at` (line numbers), `lines` of the file.

    `loosely`: where they stand if white space at both ends of a line does not count; `inside`: lines that hold a text of one
    line in their middle.  Line ends don't count.
    """
    lines, wanted = lines_of(place, path), split(text.encode("utf-8", "surrogateescape"))
    at = starts(lines, wanted)
    loose = [] if at else starts([line.strip() for line in lines], [line.strip() for line in wanted])
    inside = []
    if not at and not loose and len(wanted) == 1 and wanted[0].strip():
        inside = [number for number, line in enumerate(lines, 1) if wanted[0].strip() in line]
    return {"count": len(at), "at": at[:TOLD], "loosely": loose[:TOLD], "inside": inside[:TOLD], "lines": len(lines)}


def hunks(place, path, diff):
    """For each hunk of the diff that is about this file: where its new lines stand, and its old ones, context included.

    `hunks`: rows of `line` (where the diff puts it), `new` and `old` (line numbers), `added` (lines that hold the added block
    alone, if `new` is empty), `adds` and `removes`; `lines` of the file.
    """
    lines = lines_of(place, path)
    rows = []
    for hunk in hunks_for(diff, path):
        new, old = starts(lines, hunk["new"]), starts(lines, hunk["old"])
        added = [] if new else [at for block in hunk["blocks"] for at in starts(lines, block)]
        row = {"line": hunk["line"], "new": new[:TOLD], "new_count": len(new), "old": old[:TOLD], "added": added[:TOLD]}
        rows.append(dict(row, adds=hunk["adds"], removes=hunk["removes"]))
    return {"hunks": rows, "lines": len(lines)}


def lines_of(place, path):
    return split(place.read(path, MOST_BYTES))


def split(data):
    """The lines, without their ends (LF or CR LF), and without a byte-order mark."""
    data = data[3:] if data.startswith(b"\xef\xbb\xbf") else data
    lines = [line[:-1] if line.endswith(b"\r") else line for line in data.split(b"\n")]
    return lines[:-1] if lines and not lines[-1] else lines


def starts(lines, wanted):
    """The numbers of the lines at which all of `wanted` stand in a row."""
    if not wanted:
        return []
    first, size = wanted[0], len(wanted)
    return [at + 1 for at, line in enumerate(lines) if line == first and lines[at : at + size] == wanted]


# The diff.


def hunks_for(diff, path):
    """The hunks about the file of that name; about the only file, if the diff has one. None is CannotSee("ambiguous")."""
    files = files_of(diff)
    if len(files) == 1:
        return files[0][1]
    name = path.rpartition("/")[2]
    named = [found for found in files if found[0].rpartition("/")[2] == name]
    if len(named) > 1:  # the same name in several folders: the longest common ending wins
        named.sort(key=lambda found: common_ending(found[0], path), reverse=True)
        if common_ending(named[0][0], path) == common_ending(named[1][0], path):
            named = []
    if not named:
        raise CannotSee(
            "ambiguous", "the diff is about %d files, and %s is not clearly one of them" % (len(files), path)
        )
    return named[0][1]


def common_ending(one, other):
    """How many folders and names two paths share, counted from their ends."""
    count = 0
    for left, right in zip(reversed(one.split("/")), reversed(other.split("/"))):
        if left != right:
            break
        count += 1
    return count


def files_of(diff):
    """[(new path, hunks)] of a unified diff; ValueError for a hunk that is not as long as it says."""
    files, lines, index = [], diff.split("\n"), 0
    while index < len(lines):
        line = lines[index]
        found = HUNK.match(line)
        if line.startswith("+++ "):
            files.append((line[4:].split("\t")[0].strip(), []))
            index += 1
        elif found:
            if not files:
                files.append(("", []))
            hunk, index = hunk_at(lines, index + 1, found)
            files[-1][1].append(hunk)
        else:
            index += 1
    return [found for found in files if found[1]]


def hunk_at(lines, index, head):
    """(the hunk that begins there, the index behind it)."""
    olds, news = int(head.group(2) or 1), int(head.group(4) or 1)
    old, new, blocks, block = [], [], [], []
    adds = removes = 0
    while len(old) < olds or len(new) < news:
        if index == len(lines):
            raise ValueError(
                "hunk %s is cut: %d lines of %d are there" % (head.group(), len(old) + len(new), olds + news)
            )
        mark, text = lines[index][:1], lines[index][1:].rstrip("\r").encode("utf-8", "surrogateescape")
        index += 1
        if mark == "\\":
            continue
        if mark not in ("+", "-", " ", ""):
            raise ValueError("hunk %s has a line that begins with %r" % (head.group(), mark))
        if mark == "+":
            block.append(text)
        elif block:
            blocks.append(block)
            block = []
        adds, removes = adds + (mark == "+"), removes + (mark == "-")
        if mark != "-":
            new.append(text)
        if mark != "+":
            old.append(text)
    blocks += [block] if block else []
    line = int(head.group(3)) or 1
    return {"line": line, "old": old, "new": new, "blocks": blocks, "adds": adds, "removes": removes}, index
