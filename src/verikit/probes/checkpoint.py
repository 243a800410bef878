"""Checkpoints next to the data: what a file, a folder or a glob holds, and what is wrong with it.

    inspect(place, path, depth)     facts of kilobytes, for `CheckpointIntact`
    layout(place, path)             names, shapes, dtypes and offsets of every tensor, for whoever wants them

Three depths: `size` asks the file system; `structure` reads headers, directories and indexes, no tensor byte; `content`
reads every byte.  Which format a file has is told by its content (`formats.FILES`), not by its name.
"""

import copy
import os

from verikit.probes import formats
from verikit.probes.formats import folders, hub, json_file, pickle_names, sharded, signs
from verikit.probes.formats.folders import told
from verikit.probes.formats.layout import Broken, Layout, Window, elements, plural, uncollected
from verikit.probes.place import CannotSee, cause_of, kind_of

FILES = folders.FILES

DEEP = 3
"""Folders within folders that are looked into, where there is nothing above them."""

LISTED = 32
"""Files that facts speak of one by one: those with something to say first."""

NAMES = 64
"""Names of one kind that facts list."""

LAYOUT_BYTES = 6 << 20
"""What the rows of one answer of `layout` take, by a cautious estimate of their JSON."""

SIDE = ("json_file", "shard_index", "plain")
"""Formats of files that stand beside a checkpoint and hold none of it."""

MAGIC = frozenset("*?[")


def inspect(place, path, depth="structure", keys=None, finite=False):
    """What is there and what is wrong with it, file by file.

    keys: {name: None, a number of entries, or again keys}, looked up in all files; at content depth only what is beneath
    them is judged.  finite: NaN and Inf are looked for.
    `files` are listed up to 32, the broken ones first; the totals count all of them.
    """
    return looked(place, path, Depth(depth, keys, finite), keys)


def looked(place, path, look, keys):
    """The facts of a look that is set up already."""
    layouts, folder = gather(place, path, look)
    if look.finite and folder is not None:
        _values_elsewhere(folder, layouts)
    if folder is not None and folder.format != "glob":
        _tell_of_others(place, path, folder, layouts)
    facts = facts_of(path, folder, layouts, look)
    if keys is not None:
        facts["keys"] = [[name, wanted, found] for name, wanted, found in look_up(keys, layouts)]
        facts["top"] = sorted({key for layout in layouts.values() for key in layout.tree})[:NAMES]
    return facts


class Depth:
    """How far a look goes, and into what. wanted: {path: digests to be had of it}; seen: {path: digests that were had}."""

    def __init__(self, name, keys=None, finite=False):
        self.name, self.finite = name, finite
        self.prefixes = None if keys is None else [".".join(parts) for parts, _ in leaves(keys)]
        self.deep, self.wanted, self.seen = DEEP, {}, {}

    def deeper(self):
        """The same, one folder further in."""
        other = copy.copy(self)
        other.deep = self.deep - 1
        return other


# Layouts.


def layout(place, path, start=0):
    """Every tensor of a checkpoint: rows [name, dtype, shape, offset, nbytes, file], from number `start` on.

    `files` are [name, format, size]; a row's `file` counts in them, None: in several.  dtypes are in torch's spelling
    ("bfloat16"); offset is None for what is not in one piece of that file.  `next` is where to go on, or None: an
    answer has at most 8 MiB.
    `tree` has the top-level keys; `faults` and `unknowns` say why rows may lack.
    """
    layouts, folder = gather(place, path, Depth("structure"))
    names, rows, room, total = list(layouts), [], LAYOUT_BYTES, 0
    for row, number in _whole_tensors(layouts, folder):
        total += 1
        if total > start and room > 0:
            rows.append([row.name, row.dtype, list(row.shape), row.offset, row.nbytes, number])
            room -= 64 + len(row.name) + 12 * len(row.shape)
    everything = [*layouts.values(), *([folder] if folder is not None else [])]
    return {
        "path": path,
        "kind": "file" if folder is None else folder.format,
        "files": [[name, layouts[name].format, layouts[name].size] for name in names],
        "tensors": rows,
        "count": total,
        "next": start + len(rows) if start + len(rows) < total else None,
        "tree": {key: value for each in everything for key, value in each.tree.items()},
        "faults": [row["what"] for each in everything for row in each.faults][:NAMES],
        "unknowns": [[row["kind"], row["what"]] for each in everything for row in each.unknowns][:NAMES],
        "warnings": [row["what"] for each in everything for row in each.warnings][:NAMES],
    }


def _whole_tensors(layouts, folder):
    """(row, number of its file or None) of each tensor; one that its folder tells of is not told again by its pieces."""
    whole = {row.name: row for row in folder.tensors} if folder is not None else {}
    names, told = set(whole), set()
    for number, layout in enumerate(layouts.values()):
        for row in layout.tensors:
            if row.name not in names:
                yield row, number
            elif row.shape == whole[row.name].shape and row.name not in told:
                told.add(row.name)
                yield row, number
    for name, row in whole.items():
        if name not in told:
            yield row, None


def _count(layouts, folder):
    if folder is None or not folder.tensors:
        return sum(len(layout.tensors) for layout in layouts.values())
    return sum(1 for _ in _whole_tensors(layouts, folder))


# Keys.


def leaves(keys, above=()):
    """([name, …], what is wanted beneath) for every key that has no keys of its own beneath it."""
    for key, wanted in keys.items():
        if hasattr(wanted, "items"):
            yield from leaves(wanted, (*above, key))
        else:
            yield (*above, key), wanted


def look_up(keys, layouts):
    """(dotted name, entries wanted or None, entries found or None) for each key, over all files."""
    for parts, wanted in leaves(keys):
        found = [entries for entries in (_entries(parts, layout) for layout in layouts.values()) if entries is not None]
        yield ".".join(parts), wanted, sum(found) if found else None


def _entries(parts, layout):
    """How many entries a file has under a key: 1 for a plain value, None where there is no such key."""
    item = layout.root
    for part in parts:
        if type(item) is not dict or part not in item:
            item = None
            break
        item = item[part]
    else:
        return len(item) if type(item) in (dict, list, tuple) else 1
    name = ".".join(parts)
    beneath = sum(row.name == name or row.name.startswith(name + ".") for row in layout.tensors)
    return beneath or (1 if len(parts) == 1 and parts[0] in layout.tree else None)


# Which files.


def gather(place, path, look):
    """({relative path: Layout}, Layout of the folder or None) of what the path names."""
    if MAGIC & set(path) and not exists(place, path):
        return _of_glob(place, path, look)
    try:
        kind = kind_of(place.stat(path).st_mode)
    except FileNotFoundError:
        target = _pointed_at(place, path)
        if target is None:
            raise
        raise CannotSee("missing", "%s is a link that points to nothing: %s is not there" % (path, target)) from None
    if kind == "a directory":
        return _of_folder(place, path, look)
    return _of_file(place, path, look)


def _pointed_at(place, path):
    """Where a link points; None for what is none."""
    try:
        return place.readlink(path)
    except OSError:
        return None


def exists(place, path):
    """Whether there is something under that name, be it a link that leads nowhere."""
    try:
        place.stat(path, follow=False)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _of_file(place, path, look):
    name, told_by = os.path.basename(path), Layout(path)
    told_by.member(name, module=_by_name(name), **(hub.hash_of(place, path) if look.name == "content" else {}))
    layout = read(place, path, look, told_by.members[0])
    layout.expected = told_by.members[0]
    layouts = {name: layout}
    if len(layout.tensors) > 1 and not any(elements(row.shape) for row in layout.tensors):
        layout.warn("empty", "none of its %d tensors has an element: gathered from shards?" % len(layout.tensors))
    if name.lower().endswith(signs.UNFINISHED):
        layout.fault("temporary", "its name is that of a copy or download that was not finished")
    for other in signs.unfinished(_siblings(place, path), name):
        if other.lower().endswith(".aria2"):
            layout.fault("temporary", "%s stands beside it: aria2 has not got all its pieces yet" % other)
        else:
            layout.warn("temporary", "%s stands beside it: a copy that was not finished" % other)
    _members(place, os.path.dirname(path), layout, layouts, look, named_by=path)
    module = formats.load(layout.format) if layout.format and look.name != "size" else None
    if hasattr(module, "relate"):
        told(layout, module.relate, layout, {each: layouts[each] for each in layouts if each != name})
    return layouts, None


def _by_name(name):
    """The module of a file whose content does not say what it is: JSON is an index, ZIPs in a row are pieces, by the name."""
    return "shard_index" if name.endswith(".index.json") else "distcp" if name.endswith(".distcp") else None


def _siblings(place, path):
    try:
        return place.listdir(os.path.dirname(path) or ".")
    except OSError:  # a folder that may be passed through but not listed
        return []


def _of_glob(place, pattern, look):
    import glob

    found, files, layouts = [], [], {}
    _all_listed(pattern)
    for match in glob.iglob(pattern, recursive=True):
        found.append(match)
        if len(found) > FILES:
            raise CannotSee("bound_reached", "more than %d names match %s" % (FILES, pattern))
    folder = Layout(pattern, 0, "glob")
    for match in sorted(found):
        inner, its_folder = gather(place, match, look)
        files += [match] if its_folder is None else []
        for name, layout in inner.items():
            layouts[match if its_folder is None and len(inner) == 1 else os.path.join(match, name)] = layout
        if its_folder is not None:
            folders.pass_on(its_folder, match, folder)
    if not found:
        folder.fault("missing", "nothing matches it")
    sharded.of_glob(place, pattern, files, folder, lambda index: _named_by(place, index, look))
    return layouts, folder


def _named_by(place, path, look):
    """The files that an index names: none of them where only sizes are asked for, None for an index that can't be read."""
    if look.name == "size":
        return []
    told_by = Layout(path)
    told_by.member(path, module="shard_index")
    try:
        index = read(place, path, Depth("structure"), told_by.members[0])
    except (OSError, CannotSee):
        return None
    return sorted(set(index.root.values())) if type(index.root) is dict else None


def _all_listed(pattern):
    """Raises the OSError of a folder that the pattern looks into and that can't be listed: glob passes it over in silence."""
    import fnmatch

    fixed = pattern[: min(at for at in map(pattern.find, "*?[") if at >= 0)].rpartition("/")[0]
    base = fixed or ("/" if pattern.startswith("/") else ".")
    words = pattern[len(fixed) :].strip("/").split("/")
    last = max(at for at, word in enumerate(words) if any(mark in word for mark in "*?["))

    def refuse(error):
        if not isinstance(error, (FileNotFoundError, NotADirectoryError)):
            raise error

    for folder, inner, _ in os.walk(base, onerror=refuse):
        depth = 0 if folder == base else os.path.relpath(folder, base).count(os.sep) + 1
        if "**" not in words:
            inner[:] = [name for name in inner if depth < last and fnmatch.fnmatchcase(name, words[depth])]


def _of_folder(place, path, look):
    names = place.listdir(path)
    folder, layouts = Layout(path, 0, None), {}
    kinds = formats.of_folder(names)
    if "hub" not in kinds and hub.is_snapshot(place, path, names):
        kinds.insert(0, "hub")
    modules = [formats.load(name) for name in kinds]
    folder.format = "+".join(kinds) or "folder"
    for module in modules:
        told(folder, module.structure, place, path, names, folder)
    if not folder.members:
        _whatever(names, folder)
    if folder.members:
        json_file.beside(place, path, names, folder)
    _members(place, path, folder, layouts, look)
    if not layouts and not modules:
        _of_subfolders(place, path, names, folder, layouts, look)
    folders.unfinished(names, folder, among=layouts)
    if look.name != "size":
        for module in modules:
            if hasattr(module, "relate"):
                told(folder, module.relate, folder, layouts)
        _relate_files(layouts)
    if not layouts and not folder.faults:
        _nothing(names, folder)
    return layouts, folder


def _nothing(names, folder):
    """Why there is nothing of a checkpoint in a folder: it is empty, its weights are gone, or it is something else."""
    if not names:
        folder.fault("missing", "the folder is empty")
    elif "config.json" in names and {"generation_config.json", "model_index.json"} & set(names):
        folder.fault("missing", "the config of a model is there, its weights are not")
    else:
        folder.unseen("nothing_seen", "none of its %d names is that of a checkpoint" % len(names))


def _of_subfolders(place, path, names, folder, layouts, look):
    """What lies one folder deeper (a pipeline of models, a run with its steps), where nothing lies here."""
    for name in names if look.deep > 0 else ():
        inner = os.path.join(path, name)
        try:
            if kind_of(place.stat(inner).st_mode) != "a directory":
                continue
        except FileNotFoundError:  # a link that leads nowhere: no name of a checkpoint
            continue
        found, its_folder = _of_folder(place, inner, look.deeper())
        layouts.update((os.path.join(name, each), layout) for each, layout in found.items())
        if found or its_folder.format != "folder":
            folders.pass_on(its_folder, name, folder)
        if len(layouts) > FILES:
            raise CannotSee("bound_reached", "more than %d files in %s" % (FILES, path))


def _whatever(names, folder):
    """Members of a folder of no particular format: files by their names."""
    for name in filter(signs.wanted, names):
        folder.member(name, module=_by_name(name))  # a name that leads nowhere is a link whose blob is gone


def _relate_files(layouts):
    """Lets each file that speaks of others (an index, a model with its data beside it) be held against them."""
    for name, layout in layouts.items():
        module = formats.load(layout.format) if layout.format else None
        if hasattr(module, "relate"):
            folder = os.path.dirname(name)
            beside = {os.path.relpath(other, folder or "."): each for other, each in layouts.items() if other != name}
            told(layout, module.relate, layout, beside)


def _members(place, base, owner, layouts, look, named_by=None):
    """Reads the files that belong to `owner`, and those that belong to them, into `layouts`.

    named_by: the path of the file that names those of `owner`, where that is one.
    """
    todo, done = [(member, named_by) for member in owner.members], 0
    while todo:
        member, by = todo.pop(0)
        if member.path in layouts or (by and _led_out(place, by, os.path.join(base, member.path), member, owner)):
            continue
        done += 1
        if done > FILES:
            owner.unseen("bound_reached", "it has more than %d files" % FILES)
            return
        layout = _member(place, base, member, owner, look)
        if layout is not None:
            layouts[member.path] = layout
            inner = os.path.dirname(member.path)
            beneath = (os.path.normpath(os.path.join(inner, each.path)) for each in layout.members)
            todo.extend((each._replace(path=at), layout.path) for each, at in zip(layout.members, beneath))


def _led_out(place, by, path, member, owner):
    """Tells of bytes that a file has in another, if that is a link to anywhere but the file's own folder, or a hub's blobs.

    Whoever loads the model reads what the link leads to, as if its path had been written there (onnx refuses such links).
    """
    if member.module != "raw":
        return False
    target = place.realpath(path)
    homes = {place.realpath(os.path.dirname(by) or "."), os.path.dirname(place.realpath(by))}
    homes |= {place.realpath(home.partition("/snapshots/")[0] + "/blobs") for home in homes if "/snapshots/" in home}
    if any(target.startswith(home.rstrip("/") + "/") for home in homes):
        return False
    owner.fault("escapes", "unsafe: %s is a link that leads out of the folder, to %.200s" % (member.path, target))
    return True


def _member(place, base, member, owner, look):
    """The Layout of one member, its expectations held against it; None where it is not there."""
    if os.path.isabs(member.path) or os.path.normpath(member.path).startswith(".."):
        owner.fault("escapes", "%s leads out of the folder" % member.path)
        return None
    try:
        layout = read(place, os.path.join(base, member.path), look, member)
    except (FileNotFoundError, NotADirectoryError):
        if member.required:
            target = _pointed_at(place, os.path.join(base, member.path))
            why = "" if target is None else ": it is a link that points to nothing, %s" % target
            owner.fault("missing", "%s is missing%s" % (member.path, why))
        return None
    except OSError as error:
        owner.unseen(cause_of(error), "%s: %s" % (member.path, error.strerror))
        return None
    except CannotSee as error:
        if error.facts.get("kind") == "a directory" and member.required:
            owner.fault("missing", "%s is a directory, not the file that it should be" % member.path)
        else:
            owner.unseen(error.cause, error.reason)
        return None
    if layout.needed is None and not any(row["kind"] in signs.OTHER for row in layout.faults):
        _expected(layout, member)
    layout.expected = member
    return layout


def _expected(layout, member):
    """Its size is what the checkpoint says of it."""
    if member.size is not None and layout.size != member.size:
        _wrong_size(layout, member.size)
    elif member.least is not None and layout.size < member.least:
        layout.shortfall(member.least, "other files of the checkpoint count on more of it")


def _wrong_size(layout, size):
    if layout.size < size:
        layout.shortfall(size, "its end is missing")
    else:
        layout.fault("bad_size", "{:,} bytes where {:,} are expected".format(layout.size, size))


# One file.


def read(place, path, look, member=None):
    """The Layout of one regular file; what its format says is wrong is in there, what the system says is raised.

    member: what the checkpoint that it belongs to says of it, such as which module reads it, or its digest.
    """
    if look.name == "size":
        return _sized(place, path)
    try:
        with place.steady(path) as file:
            info = os.fstat(file.fileno())
            layout = Layout(path, info.st_size)
            layout.mtime = info.st_mtime
            window = Window(file, layout.size, path=path)
            with uncollected():
                if member is not None and member.module:
                    _as_told(window, layout, member)
                else:
                    _structure(window, layout)
            layout.read = min(window.read, layout.size)
            if look.name == "content" and not layout.faults and not _of_no_use(layout, look, member):
                told(layout, _content, place, file, layout, look, member)
    except OSError as error:
        if error.filename is None:  # from a read, which knows only a number
            error.filename = path
        raise
    return layout


def _of_no_use(layout, look, member):
    """Whether reading all of it would settle nothing: a bound was reached, and no digest of the whole is asked for."""
    return _stopped(layout) and os.path.normpath(layout.path) not in look.wanted and not _own_digests(member)


def _stopped(layout):
    """Whether a bound was reached before any of its content was read."""
    return layout.content is None and any(row["kind"] == "bound_reached" for row in layout.unknowns)


def _content(place, file, layout, look, member):
    """Reads every byte, once, for all that is to be found out from it."""
    from verikit.probes import content, digests

    own, path = _own_digests(member), os.path.normpath(layout.path)
    wanted = look.wanted.get(path, digests.NOTHING) + digests.Wanted(tuple(own), 0, ())
    wanted = digests.here(place, wanted)
    layout.content = content.compare(place, file, layout, look.prefixes, look.finite, wanted=wanted)
    found = layout.content.pop("digests", None)
    if found:
        look.seen[path] = found
    for name, digits in own.items():
        if found["digests"][name] != digits:
            layout.fault("digest", "its %s is %s, %s expected" % (name, found["digests"][name], digits))
        layout.content["compared"] = layout.size
        layout.content.setdefault("hashes", []).append(name)


def _values_elsewhere(folder, layouts):
    """Tells of numbers that only the folder's own metadata know of: chunks that are packed in ways not read here."""
    from verikit.probes.finite import judged

    held = {row.name for layout in layouts.values() for row in layout.tensors}
    missed = [
        row.name for row in folder.tensors if row.name not in held and row.nbytes and judged(row.dtype) is not False
    ]
    if missed:
        what = "values of {} are in pieces that are not looked into, {!r} first"
        folder.unseen("unsupported", what.format(plural(len(missed), "tensor", "tensors"), missed[0]))


def _tell_of_others(place, path, folder, layouts):
    """Warns of checkpoints in folders beneath, which are not those that were judged."""
    from verikit.probes import beneath

    judged = [os.path.normpath(name) for name in layouts] + [inner for inner, *_ in folder.inner]
    said = beneath.words(*beneath.unjudged(place, path, judged))
    if said:
        folder.warn("beneath", said)


def _own_digests(member):
    """{name: hex} that the checkpoint itself (a hub's cache, an LFS pointer) keeps of a file."""
    known = {} if member is None else {"sha256": member.sha256, "git-sha1": member.git_sha1, "sha1": member.sha1}
    return {name: digits for name, digits in known.items() if digits}


def _sized(place, path):
    info = place.stat(path)
    if kind_of(info.st_mode):
        with place.open(path):  # refused, with words for what it is
            pass
    layout = Layout(path, info.st_size)
    layout.mtime = info.st_mtime
    if not info.st_size:
        layout.fault("empty", "it is empty")
    return layout


def _as_told(window, layout, member):
    """Reads a member by the module that its checkpoint names, unless a pointer or a page stands in its place."""
    layout.format, layout.parts = member.module, member.parts
    sign = signs.in_place(window.at(0, formats.HEAD)) if member.module != "plain" else None
    if sign:
        _instead(sign, layout)
        return
    told(layout, formats.load(member.module).structure, window, layout)


def _structure(window, layout):
    head, wanted = window.at(0, formats.HEAD), signs.wanted(layout.path)
    layout.format = formats.of_file(head, window.size)
    if layout.format is None and wanted == "checkpoint" and _old_pickle(head):
        layout.format = "pickle_file"
    if layout.format is None and layout.path.endswith(".json") and head.strip():
        layout.format = "json_file"
    sign = signs.instead(head, window.size)
    if sign and (layout.format is None or sign[0] == "pointer"):
        layout.format = None
        _instead(sign, layout)
        return
    if layout.format is None:
        _unrecognised(head, wanted, layout)
    else:
        told(layout, formats.load(layout.format).structure, window, layout)
        if wanted not in (None, "checkpoint", layout.format) and not layout.faults:
            layout.fault("mismatch", "its name says %s, its content is %s" % (wanted, layout.format))
    if layout.faults:
        layout.notes["hints"] = signs.hints(window)
    _hollow(layout)


def _instead(sign, layout):
    """Tells what it is instead of what it should be, and what a pointer says of the file itself."""
    layout.fault(sign[0], sign[1])
    layout.notes.update({"pointer": sign[2]} if sign[2] else {})


def _hollow(layout):
    """Tensors that hold nothing: one or two are nobody's fault, weights that are all so were never gathered (ZeRO-3)."""
    if layout.notes.get("meta"):
        what = "%s on the meta device, without values" % plural(layout.notes["meta"], "tensor is", "tensors are")
        layout.warn("meta", what)
    if (
        "param_shapes" in layout.tree
    ):  # DeepSpeed's ZeRO-3 keeps the shapes there, and the elements in the optimizer's parts
        return
    if (0,) not in layout.tensors.shapes():
        return
    weights, empty = 0, []
    for row in layout.tensors:  # not in lists: 10^5 rows are 20 MB
        if row.name.endswith("weight"):
            weights += 1
            empty += [row.name] if row.shape == (0,) else []
    if len(empty) > 1 and len(empty) * 2 > weights:
        what = "%d of %d weights have no elements, %r first: placeholders of a sharded model, never gathered"
        layout.fault("empty", what % (len(empty), weights, empty[0]))


def _old_pickle(head):
    """Whether it opens as a pickle of protocol 0 or 1 does, which has no magic: by what it would do."""
    if head[:1] not in (b"c", b"(", b"]", b"}", b"i", b"d", b"l"):
        return False
    from verikit.probes.formats.pickle_walk import walk

    trial = Layout()
    try:
        walk(head, trial)
    except (Broken, CannotSee):
        return any(pickle_names.kind(name) == "harmful" for name in trial.globals)
    return True


def _unrecognised(head, wanted, layout):
    if wanted is None:
        raise CannotSee("unsupported", "%s is in no checkpoint format that is known here" % layout.path)
    name = "checkpoint" if wanted == "checkpoint" else "%s file" % wanted
    layout.fault("bad_header", "it is no %s: it begins with %s" % (name, head[:16].hex(" ")))


# Facts.


def facts_of(path, folder, layouts, look):
    """The layouts as facts: kilobytes, however many tensors and files there are."""
    files = [_file_facts(name, layout) for name, layout in layouts.items()]
    depth, loose = look.name, _loose(layouts, look)
    files.sort(key=lambda row: -len(row["faults"]) * 4 - len(row["unknowns"]) * 2 - len(row["warnings"]))
    return {
        "path": path,
        "kind": "file" if folder is None else folder.format,
        "depth": depth,
        "folder": None if folder is None else _told_facts(folder),
        "files": files[:LISTED],
        "count": len(files),
        "weights": sum(_holds(layout, depth) for layout in layouts.values()),
        "size": sum(layout.size for layout in layouts.values()),
        "read": sum(layout.read for layout in layouts.values()),
        "content": _content_facts(layouts, loose, look.finite) if depth == "content" else None,
        "loose": [len(loose), loose[0] if loose else None],
        "tensors": _count(layouts, folder),
        "faults": sum(len(layout.faults) for layout in layouts.values()) + (len(folder.faults) if folder else 0),
        "pickle": _pickles(layouts if folder is None else dict(layouts, **{"the folder": folder})),
        "oldest": min((layout.mtime for layout in layouts.values()), default=None),
    }


def _told_facts(layout):
    return {
        "format": layout.format,
        "faults": layout.faults,
        "warnings": layout.warnings,
        "unknowns": layout.unknowns,
        "more": layout.more,
        "notes": layout.notes,
        "tree": dict(list(layout.tree.items())[:NAMES]),
    }


def _file_facts(name, layout):
    row = _told_facts(layout)
    row.update(
        name=name, size=layout.size, needed=layout.needed, tensors=len(layout.tensors), records=len(layout.spans)
    )
    row.update(mtime=layout.mtime)
    return row


def _holds(layout, depth):
    """Whether a file is part of a checkpoint, not just beside it; by its name alone, where it was not opened."""
    return layout.format not in SIDE if depth != "size" else not layout.path.endswith((".json", ".txt", ".md"))


def _loose(layouts, look):
    """The files of a checkpoint of which no manifest has a digest."""
    return [
        name for name, each in layouts.items() if _has_bytes(each) and os.path.normpath(each.path) not in look.wanted
    ]


def _content_facts(layouts, loose, finite):
    """What was read and compared; `blind`: files of which not one byte could be compared or judged, by anything."""
    done = [layout.content for layout in layouts.values() if layout.content]
    seen = {os.path.normpath(each.path) for each in layouts.values() if _compared_some(each)}
    loose = [name for name in loose if not _stopped(layouts[name])]
    blind = [
        name for name in loose if not (seen & {os.path.normpath(layouts[name].path), *_data(layouts[name], finite)})
    ]
    return {
        "bytes": sum(row["bytes"] for row in done),
        "compared": sum(row["compared"] for row in done),
        "hashed": sum(row["compared"] for row in done if row.get("hashes")),
        "hashes": sorted({name for row in done for name in row.get("hashes", ())}),
        "values": sum(row["values"] for row in done),
        "by": sorted({name for row in done for name in row["by"]}),
        "threads": max((row["threads"] for row in done), default=0),
        "blind": len(blind),
        "first_blind": blind[0] if blind else None,
    }


def _data(layout, finite):
    """The files that hold the bytes of a file's tensors, ONNX's external data; none where it has some itself, unjudged."""
    if not finite and any(row.nbytes for row in layout.tensors):
        return []
    folder = os.path.dirname(layout.path)
    return [os.path.normpath(os.path.join(folder, each.path)) for each in layout.members if each.module == "raw"]


def _has_bytes(layout):
    return any(row.nbytes for row in layout.tensors) or (layout.size > 0 and layout.format not in SIDE)


def _compared_some(layout):
    """Whether anything was compared or judged; where only what is beside the tensors has a checksum, of the tensors."""
    done = layout.content
    if not done:
        return False
    return done["values"] > 0 or done["compared"] >= (layout.size if layout.notes.get("unchecked") else 1)


_GRAVITY = ("harmful", "other", "harmless")


def _pickles(layouts):
    """What the pickles of all files would import: `globals` {name: {"use", "where"}}, those that matter first, `hidden`."""
    found, hidden, more = {}, [], 0
    for file, layout in layouts.items():
        more += layout.more.get("globals", 0)
        for name, use in layout.globals.items():
            found.setdefault(name, {"use": use["use"], "where": "%s in %s" % (use["where"], file)})
        hidden += [dict(row, where="%s in %s" % (row["where"], file)) for row in layout.hidden]
    names = sorted(found, key=lambda name: (_GRAVITY.index(pickle_names.kind(name, found[name]["use"])), name))
    kept = {name: found[name] for name in names[:NAMES]}
    lost = sum(pickle_names.kind(name, found[name]["use"]) != "harmless" for name in names[NAMES:])
    return {"globals": kept, "hidden": hidden[:NAMES], "count": len(names), "more": more + lost}
