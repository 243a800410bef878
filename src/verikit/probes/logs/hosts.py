"""The name before `: ` or a bar on every line, as pdsh, clush, mpirun, DeepSpeed or compose put it there: learned from the log.

Names of hosts have no spelling of their own, so none is known beforehand.  A shape (a name with its digits folded) is a
launcher's prefix where few names of that shape stand before many lines that say different things.  A name without a
digit may be that of a program or a logger as well; it needs one more sign: that lines behind it begin as a log's own do,
or that several such names say the same.
"""

import re

SAMPLE = 65536
"""Bytes from the beginning of a log that are learned from."""

LINES, SHARE = 8, 0.6
"""So many lines at least have a prefix, and such a share of all that are not blank."""

PER_NAME, FORMS, SAME = 3, 3, 3
"""Lines for each name on the average, different sentences behind them, and sentences that several names say."""

ALONE = 0.9
"""The share of all lines before which one name without a digit stands, for it to need no other sign."""

DRESSED = 0.5
"""The share of lines that go on as a log's line begins, for a name without a digit."""

NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,62}(?=: )")
BAR = re.compile(r"((?:\d\d:\d\d:\d\d )?(?P<name>[A-Za-z][\w.-]{0,62}) *)\| ?")
"""A container's or a program's name before a bar, in one column for all: docker compose, foreman, honcho, overmind."""

COLOUR = re.compile(r"\x1b\[[\d;]*m")
DIGITS = re.compile(r"\d+")
BEGINS = re.compile(r"\[?\d{2,4}[-/:.]\d\d|\[(?:rank ?)?\d|\[?(?:DEBUG|INFO|WARN|ERROR|[IWEF]\d{4} )|\{\"|Traceback \(")


def host_of(text):
    """The name before the first `: `, if a text begins with one."""
    found = NAME.match(text)
    return found.group() if found else None


def shape_of(name):
    """A name with its digits folded."""
    return DIGITS.sub("0", name)


def learned(data, known):
    """The shapes of the names of hosts that stand before the lines of some text, sorted.

    known: says of a name that it is a program's or a level's.
    """
    found, lines, bars = {}, 0, {}
    for text in data[:SAMPLE].decode("utf-8", "replace").split("\n"):
        text = text[text.rfind("\r", 0, -1) + 1 :]
        text = COLOUR.sub("", text)
        lines += bool(text.strip())
        bar = BAR.match(text)
        if bar:
            bars.setdefault(bar.end(1), []).append((bar.group("name"), text[bar.end() :]))
        name = host_of(text)
        if name is not None and not known(name):
            found.setdefault(shape_of(name), []).append((name, text[len(name) + 2 :]))
    kept = {shape: rows for shape, rows in found.items() if _like_hosts(shape, rows)}
    plain = [shape for shape in kept if "0" not in shape]
    alone = len(plain) == 1 and len(kept[plain[0]]) >= ALONE * lines
    if plain and not alone and not _speaks_for_plain([row for shape in plain for row in kept[shape]]):
        kept = {shape: rows for shape, rows in kept.items() if "0" in shape}
    many = sum(len(rows) for rows in kept.values())
    enough = max(LINES, SHARE * lines)
    columns = ["|%d" % column for column, rows in bars.items() if len(rows) >= enough and _like_hosts("", rows)]
    return columns or (sorted(kept) if many >= enough else [])


def barred(text, shapes):
    """(name, where the message begins) for a line behind a name and a bar in the column learned; else None."""
    bar = BAR.match(text)
    return (bar.group("name"), bar.end()) if bar and "|%d" % bar.end(1) in shapes else None


def _like_hosts(shape, rows):
    """Whether few names say many different things."""
    names = {name for name, _ in rows}
    forms = {DIGITS.sub("0", said[:80]) for _, said in rows}
    number = re.match(r"[0._-]+$", shape) and shape.count(".") != 3
    return len(rows) >= PER_NAME * len(names) and len(forms) >= FORMS and not number


def _speaks_for_plain(rows):
    """Whether lines behind names without digits begin as a log's own do, or are the same behind several names."""
    begin = sum(1 for _, said in rows if BEGINS.match(said))
    names = {}
    for name, said in rows:
        names.setdefault(DIGITS.sub("0", said[:80]), set()).add(name)
    same = sum(1 for one in names.values() if len(one) > 1)
    return begin >= max(LINES, DRESSED * len(rows)) or same >= SAME
