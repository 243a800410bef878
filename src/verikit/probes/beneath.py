"""Checkpoints in folders beneath one that was judged, of which the judgement says nothing: a run's steps beside its last model.

Only names are looked at, and of those a bounded number.
"""

import os

from verikit.probes import formats
from verikit.probes.formats import signs
from verikit.probes.place import kind_of

DEEP = 3
FOLDERS = 256
NAMES = 20000
LISTED = 8
DATA = (".npy", ".npz", ".pkl", ".pickle", ".tar")
"""What lies in folders of other things as well."""


def unjudged(place, path, judged):
    """([relative paths of folders that hold checkpoints, and none of `judged`], whether all could be looked at).

    Of a folder that holds one the folders within are its own business.  Links, and folders that begin with a dot, are not
    gone into.
    """
    found, whole, left, names_left = [], True, FOLDERS, NAMES
    waiting = [("", 0)]
    while waiting:
        inner, depth = waiting.pop(0)
        names = _names(place, os.path.join(path, inner) if inner else path)
        names_left -= len(names or ())
        if names is None or names_left < 0:
            whole = False
            continue
        if inner and not _within(inner, judged) and _holds(names):
            found.append(inner)
            continue
        folders = [
            name for name in names if not name.startswith(".") and _is_folder(place, os.path.join(path, inner, name))
        ]
        left -= len(folders)
        if left < 0 or depth == DEEP:
            whole = whole and not folders
            continue
        waiting += [(os.path.join(inner, name), depth + 1) for name in folders]
    return found, whole


def words(found, whole):
    """A warning of what was found, or None."""
    if not found:
        return None
    shown = ", ".join(found[:LISTED]) + (", …" if len(found) > LISTED else "")
    count = ("" if whole else "at least ") + ("%d folder" if len(found) == 1 else "%d folders") % len(found)
    verb = "holds checkpoints" if len(found) == 1 else "hold checkpoints"
    return "%s beneath %s that this claim does not cover: %s" % (count, verb, shown)


def _names(place, folder):
    try:
        return place.listdir(folder)
    except OSError:  # one that can't be listed is not known to hold any
        return None


def _is_folder(place, path):
    try:
        return kind_of(place.stat(path, follow=False).st_mode) == "a directory"
    except OSError:
        return False


def _within(inner, judged):
    """Whether the folder, or what lies in it, was judged."""
    return any(name == inner or name.startswith(inner + os.sep) for name in judged)


def _holds(names):
    """Whether a folder is a checkpoint, by its names."""
    kept = [name for name in names if not name.lower().endswith(DATA)]
    return bool(formats.of_folder(kept)) or any(signs.wanted(name) for name in kept)
