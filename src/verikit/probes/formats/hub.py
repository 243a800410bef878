"""What the Hugging Face hub's client leaves behind: for every file that it downloaded, the hash of its bytes.

In the cache, `models--ORG--NAME/snapshots/COMMIT/FILE` is a link to `blobs/HASH`, and the name of the blob is the SHA-256
of its bytes (64 digits: files in LFS or Xet), or their git id (40: SHA-1 of `blob LENGTH\\0` and the bytes).  In a folder
given as `local_dir`, `.cache/huggingface/download/FILE.metadata` has three lines: commit, the same hash, time.
So a full comparison needs no network.  Source: huggingface_hub, file_download.py, _local_folder.py and the guide to the cache.
"""

import os
import posixpath
import re

from verikit.probes.formats import folders, json_file, signs
from verikit.probes.place import CannotSee, kind_of

HASH = re.compile(r"^(?:[0-9a-f]{64}|[0-9a-f]{40})$")
TIME = re.compile(r"^\d{1,12}(?:\.\d+)?$")
DOWNLOAD = ".cache/huggingface/download"
FILES = 4096
DEPTH = 8


def hash_of(place, path):
    """{"sha256": …} or {"git_sha1": …} where the client left the hash of this very file; {} elsewhere."""
    try:
        target = place.readlink(path)
    except OSError:
        target = path
    found = _named(target)
    return found or _from_local_dir(place, path)


def _named(target):
    folder, name = posixpath.split(target)
    return _hash(name) if posixpath.basename(folder) == "blobs" else {}


def _hash(text):
    if not HASH.match(text):
        return {}
    return {"sha256" if len(text) == 64 else "git_sha1": text}


def _from_local_dir(place, path):
    folder, name = os.path.split(path)
    for _ in range(DEPTH):
        try:
            return _told(folders.text_of(place, os.path.join(folder or ".", DOWNLOAD), name + ".metadata"))[0]
        except (OSError, CannotSee):
            pass
        folder, _, inner = folder.rpartition("/")
        if not inner:
            break
        name = inner + "/" + name
    return {}


def _told(text):
    """(the hash in one of the client's files of metadata, whether all of its three lines are there)."""
    lines = [line.strip() for line in text.split("\n")]
    known = _hash(lines[1]) if len(lines) > 1 else {}
    return known, bool(known) and len(lines) == 3 and bool(TIME.match(lines[2]))


def is_snapshot(place, folder, names):
    """Whether a folder is one of the cache's snapshots: its files are links to blobs."""
    for name in names[:64]:
        try:
            if _named(place.readlink(os.path.join(folder, name))):
                return True
        except OSError:
            continue
    return False


def structure(place, folder, names, layout):
    """Every file that was downloaded is there, and its hash is known."""
    if ("snapshots" in names) + ("blobs" in names) + ("refs" in names) > 1:
        _repository(place, folder, names, layout)
    elif is_snapshot(place, folder, names):
        _snapshot(place, folder, layout)
    else:
        _local_dir(place, folder, layout)
        folders.everything(names, layout)


def _read(path):
    """Whether loaders read that file."""
    return posixpath.basename(path) in json_file.NAMES


def _member(layout, path, known, required=True):
    if known or signs.wanted(path):
        read_as = "json_file" if _read(path) else "template" if path.endswith(".jinja") else "plain"
        layout.member(path, required=required, module=None if signs.wanted(path) else read_as, **known)


def _repository(place, folder, names, layout):
    """The snapshot that `refs/main` names, or the only one."""
    if "blobs" not in names:
        layout.fault("missing", "the folder `blobs`, to which all files of a snapshot are links, is missing")
    blobs = place.listdir(os.path.join(folder, "blobs")) if "blobs" in names else []
    begun = [name for name in blobs if name.endswith(".incomplete")]
    if begun:
        layout.warn("temporary", "%d downloads were not finished, such as blobs/%.80s" % (len(begun), begun[0]))
    commits = place.listdir(os.path.join(folder, "snapshots")) if "snapshots" in names else []
    refs = place.listdir(os.path.join(folder, "refs")) if "refs" in names else []
    wanted = folders.text_of(place, os.path.join(folder, "refs"), "main") if "main" in refs else None
    if wanted is None and len(commits) == 1:
        wanted = commits[0]
    if not commits and wanted is None:
        layout.fault("missing", "there is no snapshot: nothing was downloaded, or it was taken away")
    elif wanted is None:
        layout.unseen("ambiguous", "%d snapshots and no refs/main: say which, by its path" % len(commits))
    elif wanted not in commits:
        layout.fault("missing", "refs/main names the snapshot %.60s, which is not there" % wanted)
    else:
        layout.notes["commit"] = wanted
        folders.all_within(place, folder, "snapshots/" + wanted, layout)


def _snapshot(place, folder, layout):
    for path in _walk(place, folder):
        try:
            target = place.readlink(os.path.join(folder, path))
        except OSError:
            _member(layout, path, {})
            continue
        known = _named(target)
        if not known and not signs.wanted(path) and not _leads(place, os.path.join(folder, path)):
            layout.fault("missing", "%s is a link that leads nowhere: to %.100s" % (path, target))
        _member(layout, path, known)


def _leads(place, path):
    try:
        place.stat(path)
    except FileNotFoundError:
        return False
    return True


def _walk(place, folder):
    """Relative paths of the files and links beneath, not through links."""
    found, waiting = [], [("", 0)]
    while waiting:
        inner, depth = waiting.pop()
        for name in place.listdir(os.path.join(folder, inner) if inner else folder):
            path = posixpath.join(inner, name) if inner else name
            kind = kind_of(place.stat(os.path.join(folder, path), follow=False).st_mode)
            if kind == "a directory" and depth < DEPTH:
                waiting.append((path, depth + 1))
            elif kind is None:
                found.append(path)
            if len(found) > FILES:
                raise CannotSee("bound_reached", "more than %d files in %s" % (FILES, folder))
    return sorted(found)


def _local_dir(place, folder, layout):
    where = os.path.join(folder, DOWNLOAD)
    if not folders.is_folder(place, folder, DOWNLOAD):
        return
    begun, known = [], set()
    for path in _walk(place, where):
        if path.endswith(".incomplete"):
            begun.append(path)
        if not path.endswith(".metadata"):
            continue
        whole = path[: -len(".metadata")]
        known.add(_short(posixpath.basename(path)))
        digits, right = _told(folders.text_of(place, where, path))
        if not right:
            what = "%s/%s has not its three lines, of commit, hash and time: it is cut, or not the client's"
            layout.warn("bad_header", what % (DOWNLOAD, path))
        _member(layout, whole, digits, required=bool(signs.wanted(whole) or _read(whole)))
    for path in begun:
        what = "a download was not finished: %s" % path
        (layout.warn if posixpath.basename(path).split(".")[0] in known else layout.fault)("temporary", what)


def _short(name):
    """What the client calls an unfinished download of a file."""
    import base64
    import hashlib

    return base64.urlsafe_b64encode(hashlib.sha1(name.encode("utf-8", "surrogateescape")).digest()).decode("ascii")


def relate(layout, members):
    """What the formats within a snapshot say of each other."""
    folders.relate_inner(layout, members)
