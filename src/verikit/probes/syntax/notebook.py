"""Notebooks: each code cell compiled as the kernel would, after IPython's own rewriting where the host has it.

Cells in another language (`%%bash`, `%%html`, …) are passed over, and said so; so is a notebook of another kernel.
"""

import json
import re

from verikit.probes.place import CannotSee
from verikit.probes.syntax import data as texts

# Cell magics whose body is still this kernel's Python.
PYTHON_BODIES = frozenset(
    ("time", "timeit", "capture", "prun", "debug", "memit", "mprun", "lprun", "snakeviz", "scalene")
)

# `%magic`, `!command`, both with a name to take the result, and `name?`. Anything wider could hide an error.
MAGIC = re.compile(r"^(\s*)((?:[A-Za-z_][\w.,\[\]'\" ]*=\s*)?)([%!](?!=).*|\?{1,2}[\w.*]+|[\w.*]+\?{1,2})$")


def read_notebook(place, path, data, ask):
    """ask: of the bytes of a cell, the outcome."""
    try:
        book = json.loads(data.decode("utf-8-sig"))
    except RecursionError:
        raise texts.deep(path) from None
    except ValueError as error:
        return texts.refused_json(error, data)
    cells = cells_of(book)
    if cells is None:
        return texts.refused("NotebookError", "there is no list of cells: this is JSON, and no notebook")
    language = language_of(book)
    if language != "python":
        raise CannotSee("unsupported", "%s is a notebook of %s, not of Python" % (path, language))
    return judged(place, cells, ask)


def cells_of(book):
    """The cells of a notebook of format 3 or 4, or None."""
    if not isinstance(book, dict):
        return None
    sheets = book.get("worksheets")
    if isinstance(sheets, list) and "cells" not in book:
        lists = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
        return [cell for cells in lists if isinstance(cells, list) for cell in cells]
    cells = book.get("cells")
    return cells if isinstance(cells, list) and all(isinstance(cell, dict) for cell in cells) else None


def language_of(book):
    meta = book.get("metadata") if isinstance(book.get("metadata"), dict) else {}
    for part, key in (("language_info", "name"), ("kernelspec", "language")):
        name = meta.get(part, {}).get(key) if isinstance(meta.get(part), dict) else None
        if isinstance(name, str) and name:
            return "python" if name.lower() in ("python", "ipython", "python3", "python2") else name[:40]
    return "python"


def judged(place, cells, ask):
    """The outcome for the whole notebook: its first refused cell, or that all are taken."""
    warned, passed, bad, count, asked = [], [], [], 0, 0
    for number, cell in enumerate(cells, 1):
        if cell.get("cell_type") != "code":
            continue
        source = text_of(cell)
        if source is None:
            return texts.refused("NotebookError", "cell %d has no source" % number)
        magic, source = without_magic(source)
        if magic is not None and magic not in PYTHON_BODIES:
            passed.append("cell %d (%%%%%s)" % (number, magic))
            continue
        asked += 1
        row = outcome_of(place, source, ask)
        count += row["warning_count"]
        warned += [dict(each, cell=number) for each in row["warnings"]]
        if not row["ok"]:
            bad.append(dict(row, cell=number))
    notes = (
        ["%d cells of other languages were passed over: %s" % (len(passed), ", ".join(passed[:5]))] if passed else []
    )
    if not asked:
        notes.append("it holds no cell of Python")
    result = bad[0] if bad else texts.taken()
    if len(bad) > 1:
        result = dict(result, message="%s (and %d more cells)" % (result["message"], len(bad) - 1))
    return dict(result, warnings=warned[: texts.SAID], warning_count=count, notes=notes)


def text_of(cell):
    source = cell.get("source", cell.get("input"))
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        return "".join(source)
    return source if isinstance(source, str) else None


def without_magic(source):
    """(name of the cell magic or None, the cell without its line)."""
    stripped = source.lstrip("\n")
    found = re.match(r"%%([\w.]+)[^\n]*\n?", stripped)
    if not found:
        return None, source
    return found.group(1), "\n" + stripped[found.end() :]


def outcome_of(place, source, ask):
    """What the interpreter makes of a cell: plain if it is plain Python, else after rewriting what is IPython's."""
    plain = ask(encoded(source))
    if plain["ok"]:
        return plain
    rewritten = by_ipython(place, source) or by_hand(source)
    return plain if rewritten == source else ask(encoded(rewritten))


def encoded(source):
    return source.encode("utf-8", "surrogatepass")


def by_ipython(place, source):
    """The cell as IPython would hand it to the compiler; None without IPython, or where it gives up."""
    manager = place.accelerator("IPython.core.inputtransformer2")
    try:
        return manager.TransformerManager().transform_cell(source) if manager else None
    except (SyntaxError, ValueError):
        return None


def by_hand(source):
    """The cell with its magics, shell lines and questions made into `pass`: the usual ones, without IPython."""
    lines, kept = source.split("\n"), []
    for line in lines:
        found = MAGIC.match(line)
        continued = kept and kept[-1].endswith("\\")
        if found and not continued and not line.strip().startswith("#"):
            kept.append(found.group(1) + (found.group(2) + "None" if found.group(2) else "pass"))
        else:
            kept.append(line)
    return "\n".join(kept)
