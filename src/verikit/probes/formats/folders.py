"""What the formats of folders share: reading a small JSON file, listing what is there, and a folder within a folder."""

import json
import os
import posixpath

from verikit.probes.formats import signs
from verikit.probes.formats.layout import Broken, Layout
from verikit.probes.place import CannotSee, kind_of

FILES = 4096
"""Files of one checkpoint that are looked at; more are `bound_reached`."""

TEXT_LIMIT = 32 << 20
"""Bytes of a JSON file that are read; a trainer_state.json of 10^5 logged steps has about 20 MB."""


def text_of(place, folder, name, limit=4096):
    """A small text file, without the white space around it; longer than `limit` bytes it is `bound_reached`."""
    data = place.read(os.path.join(folder, name), limit, name)
    return data.decode("utf-8", "surrogateescape").strip()


def said_in(place, folder, name, limit=4096):
    """The same of a file without which the rest can't be found; `Broken` where a pointer or a page stands in its place."""
    data = place.read(os.path.join(folder, name), max(limit, TEXT_LIMIT), name)
    signs.refuse(data, name)
    if len(data) > limit:
        raise CannotSee("bound_reached", "%s has more than the %d bytes that are read of such a file" % (name, limit))
    return data.decode("utf-8", "surrogateescape").strip()


def json_of(place, folder, name):
    """The JSON object in a file; anything else is `Broken`, naming the file."""
    text = said_in(place, folder, name, TEXT_LIMIT)
    if not text.strip("\0"):
        raise Broken("empty", "%s is empty" % name if not text else "%s is all zeros" % name)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Broken("bad_header", "%s is no JSON, or was cut: %s" % (name, error)) from None
    if not isinstance(value, dict):
        raise Broken("bad_header", "%s is no JSON object" % name)
    return value


def everything(names, layout, prefix=""):
    """Makes members of all files whose names promise a checkpoint."""
    for name in names:
        if signs.wanted(name):
            layout.member(prefix + name)


def files(place, folder, names, layout, prefix=""):
    """The same, but for folders of such names: zero_to_fp32.py of DeepSpeed leaves a folder `pytorch_model.bin`."""
    everything(
        [name for name in names if signs.wanted(name) and not is_folder(place, folder, prefix + name)], layout, prefix
    )


def unfinished(names, layout, prefix="", among=None):
    """Copies and downloads among these names that were not finished; one beside its file may be of the past.

    among: the names of files that one may be a copy of; by default all.
    """
    for name in names:
        if name.lower().endswith(signs.UNFINISHED):
            others = names if among is None else among
            whole = next((other for other in others if other != name and name.startswith(other)), None)
            if whole is None:
                layout.fault("temporary", "%s%s is a file that was not finished" % (prefix, name))
            elif name.lower().endswith(".aria2"):
                layout.fault("temporary", "%s%s: aria2 has not got all pieces of %s yet" % (prefix, name, whole))
            else:
                what = "%s%s stands beside %s: a copy that was not finished"
                layout.warn("temporary", what % (prefix, name, whole))


def is_folder(place, folder, name):
    """Whether there is a folder of that name."""
    try:
        return kind_of(place.stat(os.path.join(folder, name)).st_mode) == "a directory"
    except OSError:
        return False


def within(place, folder, inner, module, layout):
    """Lets `module` read the folder `inner` of `folder`; what it tells, it tells `layout`."""
    path = os.path.join(folder, inner)
    own = Layout(path, 0, module.__name__.rpartition(".")[2])
    names = place.listdir(path)
    if all(each != inner for each, _, _ in layout.inner):
        unfinished(names, layout, inner + "/")
    told(own, module.structure, place, path, names, own)
    pass_on(own, inner, layout)
    for member in own.members:
        more = member._asdict()
        layout.member(posixpath.join(inner, more.pop("path")), **more)
    for row in own.tensors:
        file = row.file and posixpath.join(inner, row.file)
        layout.tensor(row.name, row.dtype, row.shape, row.offset, row.nbytes, file)
    layout.tree.update(own.tree)
    layout.notes.update(own.notes)
    layout.globals.update(own.globals)
    layout.hidden.extend(own.hidden)
    layout.inner.append((inner, module, own))


def all_within(place, folder, inner, layout):
    """The folder `inner`, as if it had been asked for by itself: by all formats that fit it."""
    from verikit.probes import formats
    from verikit.probes.formats import hub, json_file

    path = os.path.join(folder, inner)
    names = place.listdir(path)
    modules = [formats.load(name) for name in formats.of_folder(names)]
    if hub not in modules and hub.is_snapshot(place, path, names):
        modules.insert(0, hub)
    for module in modules:
        within(place, folder, inner, module, layout)
    if not modules:
        unfinished(names, layout, inner + "/")
    everything(names, layout, inner + "/")
    json_file.beside(place, path, names, layout, inner + "/")


def relate_inner(layout, members):
    """Lets the formats of the folders within judge their members against each other."""
    for inner, module, own in layout.inner:
        if hasattr(module, "relate"):
            own.faults, own.warnings, own.unknowns = [], [], []
            told(own, module.relate, own, inside(inner, members))
            pass_on(own, inner, layout)


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


def pass_on(own, inner, layout):
    """Tells a layout what was found out about a folder within it."""
    for rows, tell in ((own.faults, layout.fault), (own.warnings, layout.warn), (own.unknowns, layout.unseen)):
        for row in rows:
            tell(row["kind"], "%s: %s" % (inner, row["what"]), row["where"])


def inside(inner, members):
    """The members that lie in the folder `inner`, by their paths from there."""
    first = inner + "/"
    return {path[len(first) :]: part for path, part in members.items() if path.startswith(first)}
