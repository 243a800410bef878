"""Whether a file or folder has come to rest: nothing of it has changed for a while, and nobody is writing it.

ctime is the kernel's own note of the last change of bytes, size, name or mode, and no program sets it back.  So a file
whose ctime lies further in the past than the wanted rest has had it already, and no waiting is needed.  Otherwise one
look is taken, the time waited out next to the data, and a second look taken: all of `state_of` is the same.

A clock of the file server that runs ahead makes ctime younger, never older, than it is; one that runs behind is met by
the second look as soon as any ctime lies in the last minute of this host's clock, or in its future.
"""

import os
import re
import time

from verikit.probes import handles
from verikit.probes.place import CannotSee, kind_of, state_of

FILES = 20000
DEPTH = 16
LISTED = 16
SLACK = 5.0  # seconds by which clocks of a file server and its client commonly differ

# Names that downloads and saves bear until they are whole.
TEMPORARY = re.compile(
    r"(?:\.(?:incomplete|part|partial|aria2|crdownload|download|filepart|tmp|temp|swp)|\.!ut|~|\.tmp\.\w+"
    r"|\.orbax-checkpoint-tmp(?:-\d+)?)$|^\.(?!metadata$|cache$|git).+\.[A-Za-z0-9]{6}$|^tmp-checkpoint-|^\.~|\.distcp\.tmp$",
    re.I,
)


def rest(place, path, stable_for, wait=time.sleep):
    """{"rested": seconds since the last change, "waited", "changed": [[name, what]], "temporary", "writers", "blind", "files"}.

    `rested` counts to the second look, where there was one.  `blind`: processes of its owner whose open
    files this account may not see; None where that can't be told.
    """
    first = states(place, path)
    rested = place.now() - max(row[5] for row in first.values()) / 1e9
    waited, changed = 0.0, []
    if rested < stable_for + SLACK:
        begun = time.monotonic()
        wait(stable_for)
        waited = time.monotonic() - begun
        second = states(place, path)
        changed = _changes(first, second)
        rested = max(waited, place.now() - max(row[5] for row in second.values()) / 1e9) if not changed else 0.0
        first = second
    held = handles.writers(place, {row[:2] for row in first.values()}, handles.owner_of(place, path))
    return {
        "files": len(first),
        "bytes": sum(row[2] for row in first.values()),
        "rested": round(rested, 3),
        "waited": round(waited, 3),
        "changed": changed[:LISTED],
        "changes": len(changed),
        "temporary": temporary(place, path),
        "writers": ["%s (pid %d)" % (_name(place, pid), pid) for pid in held["pids"]] if held else [],
        "blind": held["blind"] if held else None,
    }


def states(place, path):
    """{relative name: (device, inode, size, mtime_ns, ctime_ns, newer of both)}: of a file, or a folder and what is in it."""
    found, waiting, seen = {}, [("", 0)], set()
    while waiting:
        inner, depth = waiting.pop()
        where = os.path.join(path, inner) if inner else path
        try:
            info = place.stat(where)
        except FileNotFoundError:
            if not inner:
                raise
            continue  # it went while we looked: the next look, or its absence, shows
        state = state_of(info)
        found[inner] = (*state, max(state[3], state[4]))
        if len(found) > FILES:
            raise CannotSee("bound_reached", "more than %d files in %s" % (FILES, path))
        if kind_of(info.st_mode) == "a directory" and depth < DEPTH and state[:2] not in seen:
            seen.add(state[:2])
            waiting.extend((os.path.join(inner, name) if inner else name, depth + 1) for name in place.listdir(where))
    return found


def _changes(first, second):
    rows = [[name, "came"] for name in sorted(set(second) - set(first))]
    rows += [[name, "went"] for name in sorted(set(first) - set(second))]
    for name in sorted(set(first) & set(second)):
        before, after = first[name], second[name]
        if before[:5] != after[:5]:
            what = "size %d -> %d" % (before[2], after[2]) if before[2] != after[2] else "touched"
            rows.append([name, "replaced" if before[1] != after[1] else what])
    return rows


def temporary(place, path):
    """Names beside or within it that a download or a save in progress bears."""
    own = os.path.basename(os.path.normpath(path))
    folder = kind_of(place.stat(path).st_mode) == "a directory"
    where = path if folder else os.path.dirname(path) or "."
    found = []
    for name in place.listdir(where):
        # Beside one file, only what bears its name: others may be writing other files there.
        if TEMPORARY.search(name) and (folder or own in name or (name.startswith(".") and name[1:].startswith(own))):
            found.append(name)
    if folder and TEMPORARY.search(own):
        found.append(own)
    return found[:LISTED]


def _name(place, pid):
    try:
        with place.open("/proc/%d/comm" % pid) as file:
            return file.read(64).decode("utf-8", "replace").strip()
    except (OSError, CannotSee):
        return "?"
