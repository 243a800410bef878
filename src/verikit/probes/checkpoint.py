"""Checkpoints next to the data: what a file, a folder or a glob holds, and what is wrong with it.

    inspect(place, path, depth)     facts of kilobytes, for `CheckpointIntact`
    layout(place, path)             names, shapes, dtypes and offsets of every tensor, for whoever wants them

Three depths: `size` asks the file system; `structure` reads headers, directories and indexes, no tensor byte; `content`
reads every byte.  Which format a file has is told by its content (`formats.FILES`), not by its name.
"""

import os

from verikit.probes import formats
from verikit.probes.formats import pickle_names, signs
from verikit.probes.formats.layout import Broken, Layout, Window
from verikit.probes.place import CannotSee, kind_of

FILES = 4096
"""Files of one checkpoint that are looked at; more are `bound_reached`."""

LISTED = 32
"""Files that facts speak of one by one: those with something to say first."""

NAMES = 64
"""Names of one kind that facts list."""

MAGIC = frozenset("*?[")


def inspect(place, path, depth="structure"):
    """What is there and what is wrong with it, file by file.

    `files` are listed up to 32, the broken ones first; the totals count all of them.
    """
    layouts, folder = gather(place, path, depth)
    return facts_of(path, folder, layouts, depth)


# Which files.


def gather(place, path, depth):
    """({relative path: Layout}, Layout of the folder or None) of what the path names."""
    if MAGIC & set(path) and not exists(place, path):
        return _of_glob(place, path, depth)
    kind = kind_of(place.stat(path).st_mode)
    if kind == "a directory":
        return _of_folder(place, path, depth)
    return _of_file(place, path, depth)


def exists(place, path):
    """Whether there is something under that name, be it a link that leads nowhere."""
    try:
        place.stat(path, follow=False)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _of_file(place, path, depth):
    layout = read(place, path, depth)
    name = os.path.basename(path)
    layouts = {name: layout}
    for other in signs.unfinished(_siblings(place, path), name):
        if other.lower().endswith(".aria2"):
            layout.fault("temporary", "%s stands beside it: aria2 has not got all its pieces yet" % other)
        else:
            layout.warn("temporary", "%s stands beside it: a copy that was not finished" % other)
    _members(place, os.path.dirname(path), layout, layouts, depth)
    module = formats.load(layout.format) if layout.format and depth != "size" else None
    if hasattr(module, "relate"):
        told(layout, module.relate, layout, {each: layouts[each] for each in layouts if each != name})
    return layouts, None


def _siblings(place, path):
    try:
        return place.listdir(os.path.dirname(path) or ".")
    except OSError:  # a folder that may be passed through but not listed
        return []


def _of_glob(place, pattern, depth):
    import glob

    found, layouts = [], {}
    for match in glob.iglob(pattern, recursive=True):
        found.append(match)
        if len(found) > FILES:
            raise CannotSee("bound_reached", "more than %d names match %s" % (FILES, pattern))
    folder = Layout(pattern, 0, "glob")
    for match in sorted(found):
        inner, its_folder = gather(place, match, depth)
        for name, layout in inner.items():
            layouts[match if its_folder is None and len(inner) == 1 else os.path.join(match, name)] = layout
        _absorb(folder, its_folder, match)
    if not found:
        folder.fault("missing", "nothing matches it")
    return layouts, folder


def _absorb(folder, other, where):
    """Takes over what was found out about a folder within."""
    if other is None:
        return
    for row in other.faults:
        folder.fault(row["kind"], "%s: %s" % (where, row["what"]))
    for row in other.warnings:
        folder.warn(row["kind"], "%s: %s" % (where, row["what"]))
    for row in other.unknowns:
        folder.unseen(row["kind"], "%s: %s" % (where, row["what"]))


def _of_folder(place, path, depth):
    names = place.listdir(path)
    folder, layouts = Layout(path, 0, None), {}
    modules = [formats.load(name) for name in formats.of_folder(names)]
    folder.format = "+".join(formats.of_folder(names)) or "folder"
    for module in modules:
        told(folder, module.structure, place, path, names, folder)
    for name in names if not folder.members else ():
        if signs.wanted(name):
            folder.member(name, required=False)
    _members(place, path, folder, layouts, depth)
    for name in names:
        if name.lower().endswith(signs.UNFINISHED):
            _unfinished(name, layouts, folder)
    for module in modules:
        if hasattr(module, "relate") and depth != "size":
            told(folder, module.relate, folder, layouts)
    if not layouts and not folder.faults:
        folder.fault("missing", "the folder is empty") if not names else folder.unseen(
            "nothing_seen", "none of its %d names is that of a checkpoint" % len(names)
        )
    return layouts, folder


def _unfinished(name, layouts, folder):
    whole = next((other for other in layouts if name.startswith(other)), None)
    if whole is None:
        folder.fault("temporary", "%s is a file that was not finished" % name)
    elif name.lower().endswith(".aria2"):
        folder.fault("temporary", "%s: aria2 has not got all pieces of %s yet" % (name, whole))
    else:
        folder.warn("temporary", "%s stands beside %s: a copy that was not finished" % (name, whole))


def _members(place, base, owner, layouts, depth):
    """Reads the files that belong to `owner`, and those that belong to them, into `layouts`."""
    todo, done = list(owner.members), 0
    while todo:
        member = todo.pop(0)
        if member.path in layouts:
            continue
        done += 1
        if done > FILES:
            owner.unseen("bound_reached", "it has more than %d files" % FILES)
            return
        layout = _member(place, base, member, owner, depth)
        if layout is not None:
            layouts[member.path] = layout
            inner = os.path.dirname(member.path)
            todo.extend(each._replace(path=os.path.normpath(os.path.join(inner, each.path))) for each in layout.members)


def _member(place, base, member, owner, depth):
    """The Layout of one member, its expectations held against it; None where it is not there."""
    if os.path.isabs(member.path) or os.path.normpath(member.path).startswith(".."):
        owner.fault("escapes", "%s leads out of the folder" % member.path)
        return None
    try:
        layout = read(place, os.path.join(base, member.path), depth, member)
    except (FileNotFoundError, NotADirectoryError):
        if member.required:
            owner.fault("missing", "%s is missing" % member.path)
        return None
    except OSError as error:
        owner.unseen(_cause(error), "%s: %s" % (member.path, error.strerror))
        return None
    except CannotSee as error:
        owner.unseen(error.cause, error.reason)
        return None
    if member.size is not None and layout.size != member.size and layout.needed is None:
        _wrong_size(layout, member.size)
    if member.least is not None and layout.size < member.least and layout.needed is None:
        layout.shortfall(member.least, "other files of the checkpoint count on more of it")
    layout.expected = member
    return layout


def _wrong_size(layout, size):
    if layout.size < size:
        layout.shortfall(size, "its end is missing")
    else:
        layout.fault("bad_size", "{:,} bytes where {:,} are expected".format(layout.size, size))


def _cause(error):
    import errno

    return {errno.EACCES: "permission", errno.EPERM: "permission", errno.ELOOP: "unsupported"}.get(
        error.errno, "unsupported"
    )


# One file.


def read(place, path, depth, member=None):
    """The Layout of one regular file; what its format says is wrong is in there, what the system says is raised.

    member: what the checkpoint that it belongs to says of it, such as which module reads it.
    """
    if depth == "size":
        return _sized(place, path)
    with place.steady(path) as file:
        layout = Layout(path, os.fstat(file.fileno()).st_size)
        layout.mtime = os.fstat(file.fileno()).st_mtime
        window = Window(file, layout.size, path=path)
        if member is not None and member.module:
            _as_told(window, layout, member)
        else:
            _structure(window, layout)
        layout.read = window.read
    return layout


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
    """Reads a member by the module that its checkpoint names."""
    layout.format, layout.parts = member.module, member.parts
    told(layout, formats.load(member.module).structure, window, layout)


def _structure(window, layout):
    head = window.at(0, formats.HEAD)
    layout.format = formats.of_file(head, window.size)
    sign = signs.instead(head, window.size) if layout.format in (None, "safetensors", "msgpack") else None
    if sign and (layout.format is None or sign[0] == "pointer"):
        layout.format = None
        layout.fault(sign[0], sign[1])
        layout.notes.update({"pointer": sign[2]} if sign[2] else {})
        return
    wanted = signs.wanted(layout.path)
    if layout.format is None:
        _unrecognised(head, wanted, layout)
    else:
        told(layout, formats.load(layout.format).structure, window, layout)
        if wanted not in (None, "checkpoint", layout.format) and not layout.faults:
            layout.fault("mismatch", "its name says %s, its content is %s" % (wanted, layout.format))
    if layout.faults:
        layout.notes["hints"] = signs.hints(window)


def _unrecognised(head, wanted, layout):
    if wanted is None:
        raise CannotSee("unsupported", "%s is in no checkpoint format that is known here" % layout.path)
    name = "checkpoint" if wanted == "checkpoint" else "%s file" % wanted
    layout.fault("bad_header", "it is no %s: it begins with %s" % (name, head[:16].hex(" ")))


def told(layout, function, *args):
    """Calls a format module's function; what it raises becomes what it would have told."""
    try:
        function(*args)
    except Broken as error:
        layout.fault(error.kind, error.what, error.where)
    except CannotSee as error:
        if error.cause == "changed_while_reading":
            raise
        layout.unseen(error.cause, error.reason)
    except MemoryError:
        layout.unseen("bound_reached", "its metadata needs more memory than a look has")


# Facts.


def facts_of(path, folder, layouts, depth):
    """The layouts as facts: kilobytes, however many tensors and files there are."""
    files = [_file_facts(name, layout) for name, layout in layouts.items()]
    files.sort(key=lambda row: -len(row["faults"]) * 4 - len(row["unknowns"]) * 2 - len(row["warnings"]))
    return {
        "path": path,
        "kind": "file" if folder is None else folder.format,
        "depth": depth,
        "folder": None if folder is None else _told_facts(folder),
        "files": files[:LISTED],
        "count": len(files),
        "size": sum(layout.size for layout in layouts.values()),
        "read": sum(getattr(layout, "read", 0) for layout in layouts.values()),
        "tensors": sum(len(layout.tensors) for layout in layouts.values()),
        "faults": sum(len(layout.faults) for layout in layouts.values()) + (len(folder.faults) if folder else 0),
        "pickle": _pickles(layouts),
        "oldest": min((getattr(layout, "mtime", 0) for layout in layouts.values()), default=None),
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
    row.update(mtime=getattr(layout, "mtime", None))
    return row


_GRAVITY = ("harmful", "other", "harmless")


def _pickles(layouts):
    """What the pickles of all files would import: `globals` {name: {"use", "where"}}, those that matter first, `hidden`."""
    found, hidden, more = {}, [], 0
    for file, layout in layouts.items():
        more += layout.more.get("globals", 0)
        for name, use in layout.globals.items():
            found.setdefault(name, {"use": use["use"], "where": "%s in %s" % (use["where"], file)})
        hidden += [{"what": row["what"], "where": "%s in %s" % (row["where"], file)} for row in layout.hidden]
    names = sorted(found, key=lambda name: (_GRAVITY.index(pickle_names.kind(name)), name))
    kept = {name: found[name] for name in names[:NAMES]}
    lost = sum(pickle_names.kind(name) != "harmless" for name in names[NAMES:])
    return {"globals": kept, "hidden": hidden[:NAMES], "count": len(names), "more": more + lost}
