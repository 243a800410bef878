"""Manifests: what the files of a checkpoint should be, made here (`seal`), read (`parse`) and held against them (`measure`).

In memory a manifest is one form whatever it was written as:

    {"schema": "verikit.manifest/1", "source": "verikit", "name": …, "files": [row, …], "complete": bool, "notes": […]}
    row: {"path", "size", "digests": {name: hex}, "blocks": {"bytes", "crc32": […]}, "shards": [[begin, end, name, hex], …]}

`path` is relative to the checkpoint, `""` for the checkpoint itself if that is one file.  `complete`: it lists all files,
so one more is told.  Read besides verikit's own: `sha256sum`, `b3sum` and their like (GNU and BSD lines), Git-LFS
pointers, the file lists of the Hugging Face hub, and OpenSSF model-signing (the bundle, the envelope or the statement;
whole files and shards).  A signature is not verified: only what it says of the files is used.
"""

import json
import os
import posixpath
import re
from collections import namedtuple

from verikit.probes import checkpoint
from verikit.probes.content import digest_file
from verikit.probes.digests import LENGTHS, NOTHING, Wanted
from verikit.probes.formats import signs
from verikit.probes.place import CannotSee, cause_of, kind_of

SCHEMA = "verikit.manifest/1"
SUFFIX = ".verikit.json"
"""What a written manifest's name has behind that of its checkpoint."""

LIMIT = 32 << 20  # bytes of a manifest that are read
FILES = 20000
DEPTH = 16
BLOCKS = 2048  # blocks over all files: at 8 digits each they stay below 32 KiB
LEAST_BLOCK = 1 << 16
KEPT = 50  # differences of a kind that are listed; the rest are counted

# What lies in a folder and is no part of the checkpoint.
ASIDE = re.compile(r"^(?:\.git|\.cache|__pycache__|\.DS_Store|.*\.verikit\.json)$")

_GNU = re.compile(r"^(\\?)([0-9a-fA-F]{32,128}) [ *](.+)$")
_BSD = re.compile(r"^(\\?)([A-Za-z0-9-]{2,12}) \((.+)\) = ([0-9a-fA-F]{8,128})$")
_BY_LENGTH = {32: "md5", 40: "sha1", 56: "sha224", 64: "sha256", 96: "sha384", 128: "sha512"}
_HEX = re.compile(r"^[0-9a-f]+$")


# Reading.


def parse(data, name=""):
    """The manifest that these bytes are, in the one form; `name` (of its file) tells a `b3sum` file from a `sha256sum` one.

    What is no manifest is ValueError, which says what was expected.
    """
    text = data.decode("utf-8-sig", "surrogateescape")
    stripped = text.lstrip()
    if stripped[:1] in ("{", "["):
        try:
            return of_json(json.loads(text))
        except RecursionError:
            raise ValueError("a manifest nested too deeply") from None
    if stripped.startswith("version https://git-lfs"):
        return _of_pointer(text)
    return _of_sums(text, name)


def of_json(value):
    """The manifest that a JSON value is: verikit's, model-signing's, a file list of the hub, or {path: digest}."""
    if isinstance(value, (list, tuple)):
        return _of_hub(value)
    if not hasattr(value, "get"):
        raise ValueError("a manifest is a JSON object or list; got %s" % type(value).__name__)
    if value.get("schema") == SCHEMA:
        return _checked(value)
    if "schema" in value:
        raise ValueError("a manifest of the schema %r; this version reads %s" % (value["schema"], SCHEMA))
    for wrap in ("dsseEnvelope", "payload"):
        if wrap in value:
            return of_json(value[wrap] if wrap == "dsseEnvelope" else _decoded(value[wrap]))
    if "predicateType" in value:
        return _of_statement(value)
    if isinstance(value.get("siblings"), list):
        return _of_hub(value["siblings"])
    if value and all(isinstance(each, str) for each in value.values()):
        return _form("digests", [_row(path, digest=digest) for path, digest in value.items()])
    raise ValueError("no manifest that is known: an object with the keys %s" % ", ".join(sorted(map(str, value))[:8]))


def digest_of(text):
    """{name: hex} of a digest as people write it: `sha256:…`, or bare hex, whose length tells sha256 from sha512.

    40 digits may be SHA-1 or the git id that the hub uses: the name of both, `sha1|git-sha1`.
    """
    name, _, digits = text.strip().strip('"').rpartition(":")
    name, digits = name.lower().replace("_", "-"), digits.lower()
    name = {"sha-256": "sha256", "blob": "git-sha1", "git": "git-sha1", "b3": "blake3", "sha3-256": "sha3_256"}.get(
        name, name
    )
    if not name:
        name = "sha1|git-sha1" if len(digits) == 40 else _BY_LENGTH.get(len(digits), "")
    known = LENGTHS.get(name.split("|")[0])
    if not _HEX.match(digits) or len(digits) != known:
        raise ValueError(
            "a digest is `sha256:` and 64 hex digits (or %s); got %.100r"
            % (", ".join(sorted(set(LENGTHS) - {"sha256"})), text)
        )
    return {name: digits}


def _form(source, files, complete=False, **more):
    if not files:
        raise ValueError("a manifest that names no file")
    if len(files) > FILES:
        raise ValueError("a manifest of more than %d files" % FILES)
    form = {"schema": SCHEMA, "source": source, "files": files, "complete": complete, "notes": []}
    form.update(more)
    return form


def _row(path, size=None, digest=None, digests=None):
    row = {"path": path, "size": size, "digests": digests or {}}
    if digest is not None:
        row["digests"] = digest_of(digest)
    return row


def _checked(value):
    files = value.get("files")
    if not isinstance(files, (list, tuple)) or not files or len(files) > FILES:
        raise ValueError("a manifest names from 1 to %d files" % FILES)
    for row in files:
        try:
            whole = isinstance(row["path"], str) and (row.get("size") is None or row["size"] >= 0)
            for name, digits in row["digests"].items():
                digest_of(digits if "|" in name else "%s:%s" % (name, digits))
        except (TypeError, KeyError, AttributeError, IndexError):
            whole = False
        if not whole:
            raise ValueError("no row of a manifest: %.100r" % (row,))
    return value


def _decoded(payload):
    import base64
    import binascii

    try:
        return json.loads(base64.b64decode(payload).decode("utf-8"))
    except (binascii.Error, ValueError, TypeError):
        raise ValueError("a signed envelope whose payload is no base64 of JSON") from None


def _of_statement(value):
    """model_signing/signature/v1.0 and its forerunner: github.com/sigstore/model-transparency, _signing/signing.py."""
    kind, predicate = str(value["predicateType"]), value.get("predicate") or {}
    try:
        if kind.endswith("/Digests/v0.1"):
            rows = [_row(each["name"], digest="sha256:" + each["digest"]["sha256"]) for each in value["subject"]]
            form = _form("model-signing", rows, True)
        elif "model_signing/signature/" in kind:
            how = predicate["serialization"]
            rows = _resources(predicate["resources"], how["method"] == "shards")
            _root(value["subject"], predicate["resources"])
            form = _form("model-signing", rows, True, ignored=[str(path) for path in how.get("ignore_paths") or ()])
        else:
            raise ValueError("a statement of the type %.100r, which is no manifest of a model" % kind)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("a model-signing statement without %s" % error) from None
    form["notes"].append("its signature was not verified; only the digests it lists are used")
    return form


def _resources(resources, shards):
    rows = {}
    for each in resources:
        name, algorithm = each["name"], each["algorithm"].lower()
        algorithm = "sha256" if algorithm.startswith("sha256") else algorithm
        algorithm = "blake2b" if algorithm.startswith("blake2b") else algorithm
        digest = digest_of("%s:%s" % (algorithm, each["digest"]))
        if not shards:
            rows[name] = _row(name, digests=digest)
            continue
        path, begin, end = name.rsplit(":", 2)
        row = rows.setdefault(path, dict(_row(path), shards=[]))
        row["shards"].append([int(begin), int(end), algorithm, digest[algorithm]])
        row["size"] = max(row["size"] or 0, int(end))
    return list(rows.values())


def _root(subjects, resources):
    import hashlib

    root = hashlib.sha256(b"".join(bytes.fromhex(each["digest"]) for each in resources)).hexdigest()
    if len(subjects) != 1 or subjects[0]["digest"]["sha256"] != root:
        raise ValueError(
            "a model-signing statement that contradicts itself: its root digest is not that of its resources"
        )


def _of_hub(rows):
    """`/api/models/…/tree/…` and the `siblings` of a model's info: oid of git, and of LFS where a file is there."""
    files = []
    for each in rows:
        path = isinstance(each, dict) and (each.get("path") or each.get("rfilename"))
        if not path or each.get("type") == "directory":
            continue
        lfs, blob = each.get("lfs") or {}, each.get("oid") or each.get("blobId") or each.get("blob_id")
        sha256 = lfs.get("sha256") or lfs.get("oid")
        if sha256:
            files.append(_row(path, lfs.get("size", each.get("size")), "sha256:" + sha256))
        elif blob:
            files.append(_row(path, each.get("size"), "git-sha1:" + blob))
    return _form("hub", files)


def _of_pointer(text):
    pairs = dict(line.split(" ", 1) for line in text.splitlines() if " " in line)
    if not pairs.get("oid", "").startswith("sha256:") or not pairs.get("size", "").isdigit():
        raise ValueError("a Git-LFS pointer without oid or size")
    return _form("git-lfs", [_row("", int(pairs["size"]), pairs["oid"].strip())])


def _of_sums(text, name):
    blake = re.search(r"b3|blake3", name.lower())
    files = []
    for line in text.splitlines():
        if not line.strip() or line.startswith(("#", ";")):
            continue
        files.append(_sum(line.rstrip("\r"), blake))
    return _form("b3sum" if blake else "sums", files)


def _sum(line, blake):
    match = _BSD.match(line)
    if match:
        escaped, algorithm, path, digits = match.groups()
        digest = digest_of("%s:%s" % (algorithm, digits))
    else:
        match = _GNU.match(line)
        if not match:
            raise ValueError("no line of a checksum file: %.80r (wanted: HEX, two spaces, name)" % line)
        escaped, digits, path = match.groups()
        algorithm = "blake3" if blake and len(digits) == 64 else _BY_LENGTH.get(len(digits), "?")
        digest = digest_of("%s:%s" % (algorithm, digits))
    if escaped:
        path = path.replace("\\n", "\n").replace("\\r", "\r").replace("\\\\", "\\")
    return _row(path, digests=digest)


# Making.


def seal(place, path, write=False):
    """The manifest of a file or folder: size, SHA-256 and CRC-32 of each block of every file. Reads every byte.

    `layout` has what its metadata says: format, number of tensors, top-level keys, and a digest of the names, dtypes and
    shapes.  `write` puts it beside the checkpoint, as `<path>.verikit.json`, whole or not at all.
    """
    info = place.stat(path)
    folder = kind_of(info.st_mode) == "a directory"
    layout, step, notes, beside = _layout(place, path)
    names, aside = files_of(place, path) if folder else (["", *beside], [])
    where = {name: _join(path, name) if folder else _beside(path, name) for name in names}
    total = sum(place.stat(where[name]).st_size for name in names)
    block = LEAST_BLOCK
    while total // block + len(names) > BLOCKS and block < 1 << 40:
        block *= 2
    rows, before = [], 0
    for name in names:
        told = _after(place, before, total)
        found = digest_file(place, where[name], Wanted(("sha256",), block, ()), told)
        row = {"path": name, "size": found["size"], "digests": found["digests"]}
        row["blocks"] = {"bytes": block, "crc32": found["blocks"]}
        rows.append(row)
        before += found["size"]
    form = {"schema": SCHEMA, "source": "verikit", "name": os.path.basename(os.path.normpath(path)), "files": rows}
    form.update(complete=True, notes=notes, folder=folder, time=place.now(), aside=aside[:KEPT], layout=layout)
    if step is not None:
        form["step"] = step
    if write:
        form["written"] = _write(path, form)
    return form


def _after(place, before, total):
    """Tells the progress through one of several files, those before it being done."""
    return lambda done, of: place.progress(before + done, total)


# Where a checkpoint keeps its step, by who wrote it: Lightning, DeepSpeed, Megatron, everybody.
STEPS = ("global_step", "global_steps", "iteration", "step")


def _layout(place, path):
    """(layout, step or None, notes, names beside) by its own metadata; what is broken or unknown is a note, not an error.

    Names beside: of the files that a single file brings along, such as ONNX's external data or the shards of an index.
    """
    import hashlib

    try:
        layouts, folder = checkpoint.gather(place, path, checkpoint.Depth("structure"))
    except CannotSee as error:
        if error.cause == "changed_while_reading":
            raise
        return {}, None, ["sealed without its layout: %s" % error.reason], []
    parts = list(layouts.values()) + ([folder] if folder is not None else [])
    digest = hashlib.sha256()
    for row in sorted("%s %s %s\n" % (row.name, row.dtype, list(row.shape)) for part in parts for row in part.tensors):
        digest.update(row.encode("utf-8", "surrogateescape"))
    tree = {key: value for part in parts for key, value in part.tree.items()}
    layout = {
        "formats": sorted({part.format for part in layouts.values() if part.format}),
        "tensors": sum(len(part.tensors) for part in layouts.values()),
        "digest": digest.hexdigest(),
        "tree": dict(list(tree.items())[:KEPT]),
    }
    steps = [tree[key] for key in STEPS if str(tree.get(key, "")).isdigit()]
    faults = [row["what"] for part in parts for row in part.faults]
    return (
        layout,
        int(steps[0]) if steps else None,
        ["it was broken when it was sealed: %s" % faults[0]] if faults else [],
        list(layouts)[1:] if folder is None else [],
    )


def files_of(place, folder):
    """(relative paths of the regular files in a folder, links followed; names left aside): sorted, bounded, without loops."""
    found, aside, seen = [], [], set()
    waiting = [("", 0)]
    while waiting:
        inner, depth = waiting.pop()
        where = _join(folder, inner)
        info = place.stat(where)
        if (info.st_dev, info.st_ino) in seen or depth > DEPTH:
            continue
        seen.add((info.st_dev, info.st_ino))
        for name in place.listdir(where):
            path = posixpath.join(inner, name) if inner else name
            if ASIDE.match(name):
                aside.append(path)
                continue
            kind = kind_of(place.stat(_join(folder, path)).st_mode)
            if kind == "a directory":
                waiting.append((path, depth + 1))
            elif kind is None:
                found.append(path)
            else:
                raise CannotSee("unsupported", "%s is %s, not a regular file" % (_join(folder, path), kind))
        if len(found) > FILES:
            raise CannotSee("bound_reached", "more than %d files in %s" % (FILES, folder))
    if not found:
        raise CannotSee("nothing_seen", "no files in %s" % folder)
    return sorted(found), sorted(aside)


def _join(path, name):
    return os.path.join(path, name) if name else path


def _beside(path, name):
    return os.path.join(os.path.dirname(path), name) if name else path


def _write(path, form):
    """Written beside it, then renamed: nobody ever reads half of it."""
    import tempfile

    whole = os.path.normpath(path) + SUFFIX
    handle, draft = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=os.path.dirname(whole) or ".")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(form, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(draft, 0o644)
        os.replace(draft, whole)
    except BaseException:
        os.unlink(draft)
        raise
    return whole


# Holding it against a checkpoint.


def inspect(place, path, depth="structure", keys=None, finite=False, expected=()):
    """What `checkpoint.inspect` gives, and in `measured` what came of each manifest that the checkpoint is held against.

    expected: manifests, each {"manifest": its form} or {"manifest_path": where it is on this host}.  At content depth
    the digests come out of the same pass over the bytes as all the rest.
    """
    known = [_known(place, path, each) for each in expected]
    look = checkpoint.Depth(depth, keys, finite)
    for each in known:
        for where, more in wanted(place, each).items() if isinstance(each, Expected) else ():
            look.wanted[where] = look.wanted.get(where, NOTHING) + more
    facts = checkpoint.looked(place, path, look, keys)
    facts["measured"] = [
        measure(place, path, each, look.seen) if isinstance(each, Expected) else unread(each) for each in known
    ]
    return facts


def _known(place, path, each):
    """What a manifest expects of the files here; or the CannotSee that tells why that can't be said."""
    try:
        return expect(place, path, **each)
    except CannotSee as error:
        return error


Expected = namedtuple("Expected", "manifest rows resolved notes")
"""A manifest beside a checkpoint. rows: [(path on this host, row)]; resolved: {row's path: path within the checkpoint}."""


def expect(place, path, manifest=None, manifest_path=None):
    """Which files under `path` a manifest speaks of; it is given in the one form, or as the path of one on this host.

    One that can't be read, or that speaks of something else, is CannotSee.
    """
    notes = []
    if manifest is None:
        manifest = _read(place, manifest_path)
    files, resolved = _resolve(place, path, manifest, notes)
    join = _beside if "" in resolved.values() else _join
    rows = [(join(path, resolved[row["path"]]), row) for row in files]
    return Expected(manifest, rows, resolved, notes)


def wanted(place, expected):
    """{path: the digests that must be had of it}: of files that are there, in the size that is expected."""
    found = {}
    for path, row in expected.rows:
        try:
            right = row.get("size") in (None, place.stat(path).st_size)
        except OSError:
            continue
        if right:
            where = os.path.normpath(path)
            found[where] = found.get(where, NOTHING) + _digests_of(row)
    return found


def _digests_of(row):
    """What must be known of a file to hold it against a row."""
    if row.get("shards"):
        return Wanted(
            (), 0, tuple((first, last, name) for first, last, name, _ in sorted(row["shards"])) if _follow(row) else ()
        )
    names = tuple(each for name in row["digests"] for each in name.split("|"))
    return Wanted(names, (row.get("blocks") or {}).get("bytes", 0) if names else 0, ())


def _follow(row):
    """Whether the shards of a file are all of it, one after the other."""
    shards = sorted(row["shards"])
    return [first for first, *_ in shards] == [0, *(last for _, last, *_ in shards[:-1])]


def measure(place, path, expected, seen):
    """How the files under `path` differ from a manifest (`Expected`); seen: {path: what a pass over it has found}.

    differ: [{path, kind, what}], kind being missing, size or digest, of which `counts` has the numbers; a file is hashed
    only where its size is right.  extra: checkpoint files that a complete manifest does not list.  unseen: files that
    could not be compared, with the cause.  files, matched, bytes: how many there are, agree, hold the bytes compared;
    read: bytes that had to be read here, as no pass had done so.
    """
    manifest, notes = expected.manifest, list(expected.notes)
    tally = _Tally(place, sum(row.get("size") or 0 for _, row in expected.rows), seen)
    for where, row in expected.rows:
        tally.compare(where, row)
    extra = _extra(place, path, manifest, expected.resolved, notes)
    return {
        "source": manifest["source"],
        "files": len(expected.rows),
        "matched": tally.matched,
        "bytes": tally.bytes,
        "read": tally.read,
        "differ": tally.differ,
        "counts": tally.counts,
        "extra": extra,
        "unseen": tally.unseen,
        "notes": notes + [str(note) for note in manifest.get("notes") or ()],
    }


def unread(error):
    """The same for a manifest that can't be compared with anything, in the words of the CannotSee."""
    row = {"path": "", "cause": error.cause, "what": error.reason}
    found = {"source": None, "files": 0, "matched": 0, "bytes": 0, "read": 0, "differ": [], "counts": {}}
    return dict(found, extra=[], unseen=[row], notes=[])


def _read(place, path):
    try:
        data = place.read(path, LIMIT, "the manifest %s" % path)
    except (FileNotFoundError, NotADirectoryError):
        raise CannotSee("missing", "there is no manifest %s on this host" % path) from None
    except OSError as error:
        raise CannotSee(cause_of(error), "the manifest %s can't be read: %s" % (path, error.strerror)) from None
    try:
        return parse(data, os.path.basename(path))
    except ValueError as error:
        raise CannotSee("unsupported", "%s can't be read as a manifest: %s" % (path, error)) from None


def _resolve(place, path, manifest, notes):
    """(rows, {row's path: path relative to the checkpoint}): which line speaks of which file."""
    files, own = manifest["files"], os.path.basename(os.path.normpath(path))
    if kind_of(place.stat(path).st_mode) != "a directory":
        return _of_one(place, files, own, path, notes)
    if files[0]["path"] == "":
        raise CannotSee("ambiguous", "the manifest is of one file, %s is a folder" % path)
    plain = {row["path"]: _plain(row["path"], path, place) for row in files}
    for row in files:
        if plain[row["path"]] is None:
            raise CannotSee("ambiguous", "the manifest names %.200r, which is not within %s" % (row["path"], path))
    first = own + "/"
    if all(each.startswith(first) for each in plain.values()) and own not in place.listdir(path):
        plain = {name: each[len(first) :] for name, each in plain.items()}  # summed from one folder higher
    return files, plain


def _of_one(place, files, own, path, notes):
    if files[0]["path"] == "" and len(files) > 1:  # a file, and those that it brings along
        plain = {row["path"]: _plain(row["path"], os.path.dirname(path) or ".", place) for row in files[1:]}
        if None in plain.values():
            raise CannotSee("ambiguous", "the manifest names a file that is not beside %s" % path)
        return files, {"": "", **plain}
    fits = [row for row in files if row["path"] == "" or posixpath.basename(row["path"]) == own]
    if not fits and len(files) == 1:
        fits = files
        notes.append("the manifest speaks of %.200r" % files[0]["path"])
    if not fits:
        raise CannotSee("nothing_seen", "the manifest's %d lines say nothing of %s" % (len(files), own), path=path)
    if any(row["digests"] != fits[0]["digests"] for row in fits):
        raise CannotSee("ambiguous", "the manifest has %d files called %s, with different digests" % (len(fits), own))
    return fits[:1], {fits[0]["path"]: ""}


def _plain(name, folder, place):
    """The path within the folder, or None for one that leads out of it."""
    if posixpath.isabs(name):
        for root in (os.path.normpath(folder), place.realpath(folder)):
            if name.startswith(root + "/"):
                name = name[len(root) + 1 :]
                break
    plain = posixpath.normpath(name)
    return None if plain.startswith(("/", "../")) or plain in ("..", ".") or "\0" in plain else plain


def _extra(place, path, manifest, resolved, notes):
    """Checkpoint files that a manifest of all files does not list: a loader may take them in. Others are a note."""
    if not manifest.get("complete") or "" in resolved.values():
        return []
    listed, ignored = set(resolved.values()), [str(each).rstrip("/") for each in manifest.get("ignored") or ()]
    found, _ = files_of(place, path)
    more = [name for name in found if name not in listed and not _ignored(name, ignored)]
    loaded = [name for name in more if signs.wanted(name) or name.endswith(".index.json")]
    if len(more) > len(loaded):
        other = next(name for name in more if name not in loaded)
        notes.append("{:,} files are not in the manifest, such as {:.100}".format(len(more) - len(loaded), other))
    return loaded[:KEPT]


def _ignored(name, ignored):
    return any(name == each or name.startswith(each + "/") for each in ignored) or name.endswith(".sig")


class _Tally:
    def __init__(self, place, total, seen):
        self.place, self.total, self.seen = place, total, seen
        self.matched, self.bytes, self.read, self.differ, self.counts, self.unseen = 0, 0, 0, [], {}, []

    def tell(self, row, kind, what, **more):
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if self.counts[kind] <= KEPT:
            self.differ.append(dict(path=row["path"], kind=kind, what=what, **more))

    def compare(self, path, row):
        try:
            size = self.place.stat(path).st_size
        except (FileNotFoundError, NotADirectoryError):
            self.tell(row, "missing", "it is not there")
            return
        wanted = row.get("size")
        if wanted is not None and size != wanted:
            self.tell(row, "size", "{:,} bytes, {:,} expected".format(size, wanted), seen=size, expected=wanted)
            return
        try:
            self.hash(path, row)
        except CannotSee as error:
            if error.cause == "changed_while_reading":
                raise
            if len(self.unseen) < KEPT:
                self.unseen.append({"path": row["path"], "cause": error.cause, "what": error.reason})

    def hash(self, path, row):
        if not (row.get("shards") or row["digests"]):
            raise CannotSee("nothing_seen", "the manifest has no digest of %s" % (row["path"] or path))
        if row.get("shards") and not _follow(row):
            raise CannotSee("unsupported", "the shards of %s do not follow each other" % row["path"])
        found = self.found(path, _digests_of(row))
        self.bytes += found["size"]
        if (self.shards if row.get("shards") else self.whole)(row, found):
            self.matched += 1

    def found(self, path, wanted):
        """The digests: of the pass that has been over the file, or of one over it now."""
        known = self.seen.get(os.path.normpath(path))
        if known and set(wanted.names) <= set(known["digests"]) and set(wanted.shards) <= set(known["shards"]):
            return known
        found = digest_file(self.place, path, wanted, _after(self.place, self.bytes, self.total))
        self.read += found["size"]
        return found

    def whole(self, row, found):
        blocks = row.get("blocks") or {}
        for name, digits in row["digests"].items():
            seen = [found["digests"][each] for each in name.split("|")]
            if digits.lower() not in seen:
                what = "%s %s, %s expected" % (name.split("|")[0], seen[0], digits)
                at = _where(blocks, found)
                self.tell(row, "digest", what + at.pop("words", ""), **at)
                return False
        return True

    def shards(self, row, found):
        """Each shard by itself; together they are the whole file."""
        for first, last, name, digits in sorted(row["shards"]):
            if found["shards"][first, last, name] != digits.lower():
                self.tell(row, "digest", "the bytes from {:,} to {:,} differ".format(first, last), at=[first, last])
                return False
        return True


def _where(blocks, found):
    """The first block that differs, and how many do."""
    wanted, size = blocks.get("crc32") or [], blocks.get("bytes", 0)
    wrong = [index for index, pair in enumerate(zip(wanted, found["blocks"])) if pair[0] != pair[1]]
    if not wrong or found["block"] != size:
        return {}
    first = wrong[0] * size
    words = "; {:,} of {:,} blocks differ, the first from byte {:,} on".format(len(wrong), len(wanted), first)
    return {"at": [first, first + size], "blocks": [len(wrong), len(wanted)], "words": words}
