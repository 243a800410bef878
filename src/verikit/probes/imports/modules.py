"""Modules as files: where a name is defined, and what a star import brings. Files are parsed; nothing is imported.

The search path is the target's: asked from its interpreter (`probes.interpreter`) when a question first needs it.
"""

import ast
import os
import sys

from verikit.probes import interpreter
from verikit.probes.imports import placement
from verikit.probes.imports.conditions import World, constant, dotted
from verikit.probes.imports.scopes import Walk, absolute, spelled
from verikit.probes.place import CannotSee

# One object under two names that no source text shows: C code, or assignment in sys.modules.
ALIASES = {
    ("os.path", None): ("posixpath", None),
    ("os", "path"): ("posixpath", None),
    ("_io", "open"): ("builtins", "open"),
    ("io", "open"): ("builtins", "open"),
    ("six.moves", "builtins"): ("builtins", None),
    ("typing", "io"): ("typing.io", None),
}
ALIASES.update(
    {
        (module, name): ("builtins", name)
        for module in ("six.moves", "six.moves.builtins", "future.builtins")
        for name in (
            "range",
            "zip",
            "map",
            "filter",
            "input",
            "open",
            "str",
            "int",
            "round",
            "super",
            "max",
            "min",
            "chr",
        )
    }
)
# Families in which a name of one is usually, but not always, the object of another.
KIN = {"typing", "typing_extensions", "collections", "six", "attr", "attrs", "mypy_extensions"}
# Standard modules without source that a file star-imports; their names are asked from this interpreter's own copy.
C_MODULES = {
    "math",
    "cmath",
    "time",
    "itertools",
    "errno",
    "_operator",
    "_socket",
    "select",
    "_struct",
    "posix",
    "nt",
    "_ctypes",
    "sys",
    "binascii",
    "zlib",
    "array",
    "_functools",
    "_collections",
    "unicodedata",
    "_random",
    "_bisect",
    "_heapq",
    "marshal",
    "builtins",
}
REMOVED = {
    (3, 8): "macpath",
    (3, 9): "dummy_threading _dummy_thread",
    (3, 10): "formatter parser symbol",
    (3, 11): "binhex",
    (3, 12): "asynchat asyncore distutils imp smtpd",
    (
        3,
        13,
    ): "aifc audioop cgi cgitb chunk crypt imghdr lib2to3 mailcap msilib nis nntplib ossaudiodev pipes sndhdr spwd "
    "sunau telnetlib uu xdrlib",
}
ADDED = {(3, 9): "zoneinfo graphlib", (3, 11): "tomllib", (3, 14): "annotationlib compression concurrent.interpreters"}
# A tree takes some 80 times its source in memory: what is kept of other modules stays below the look's 64 MiB.
MOST_KEPT = 768 << 10
MOST_MODULE_BYTES = 4 << 20


class Found:
    """Where a module is: kind ("builtin", "frozen", "source", "package", "extension", "namespace"), its file or folders."""

    __slots__ = ("entry", "file", "folders", "kind")

    def __init__(self, kind, file=None, folders=(), entry=None):
        self.kind, self.file, self.folders, self.entry = kind, file, list(folders), entry


def untie(shared):
    """Gives back what was kept of other modules and is kept no longer."""
    for summary in shared.pop("old", ()):
        if summary is not None:
            summary.walk.forget()


def fills_itself(walk):
    """Whether a module binds names that its text does not show: exec, globals() filled by computed keys, setattr."""
    for name, call, _, arm, scope in walk.specials:
        own = scope.kind == "module" and not arm.dead
        if name == "exec" and own and len(call.args) < 2:
            return True
        if name == "setattr" and call.args and "sys" in ast.dump(call.args[0]) and "modules" in ast.dump(call.args[0]):
            return True
        if name == ".update" and _is_globals(call.func.value, own):
            return True
    return any(
        isinstance(target, ast.Subscript)
        and _is_globals(target.value, scope.kind == "module")
        and scope.name != "__getattr__"
        for target, _, _, _, scope in walk.writes
    )


def _is_globals(node, own):
    names = ("globals", "vars", "locals") if own else ("globals",)
    return isinstance(node, ast.Call) and not node.args and dotted(node.func) in names


class Summary:
    """A module's names, by its tree."""

    def __init__(self, tree, walk, file):
        self.tree, self.walk, self.file = tree, walk, file
        self.binds = walk.module.binds
        self.getattr = next((s for s in walk.module.children if s.kind == "function" and s.name == "__getattr__"), None)
        self.dynamic, self.names = fills_itself(walk), None
        self.replaced = any(
            isinstance(target, ast.Subscript)
            and dotted(target.value) in ("sys.modules", "modules")
            and "__name__" in ast.dump(target.slice)
            for target, _, _, _, _ in walk.writes
        )

    def live(self, name):
        return [bind for bind in self.binds.get(name, ()) if not bind.arm.dead and bind.kind != "annotation"]


class Resolver:
    """Finds modules as the target would, and follows names to where they are made."""

    def __init__(self, place, world, path=None, root=None, run_as="import", python="host", package=None, shared=None):
        self.place, self.world, self.path, self.python, self.package = place, world, path, python, package
        self.given = root
        self.here = os.path.dirname(os.path.abspath(path)) if path else None
        self.starts_as(run_as)
        # By the files of one tree: what the disk and the interpreter said.
        self.shared = {} if shared is None else shared
        self.summaries = self.shared.setdefault("summaries", {})
        self._listed = self.shared.setdefault("listed", {})
        self._known = self._vendored = None
        self.extra = []
        self.own_folders = frozenset()  # what the file itself puts on sys.path, sooner or later
        self.ahead = frozenset()  # those of them that it puts before everything else

    def starts_as(self, run_as):
        """From now on the program is started so; what was found along another path is forgotten."""
        self.run_as, self.root = run_as, self._start(run_as)
        self.found, self.sites, self._exports = {}, {}, {}

    def _start(self, run_as):
        """The folder that is first on sys.path."""
        if self.here is None or run_as == "script":
            return self.here
        if self.given is not None:
            return os.path.abspath(self.given)
        folder = self.here
        for _ in range(len(self.package.split(".")) if self.package else 0):
            folder = os.path.dirname(folder)
        return folder

    @property
    def known(self):
        """What the interpreter says; for a version that is not here, what this one says without its site-packages."""
        if self._known is None:
            if "known" not in self.shared:
                self.shared["known"] = self._asked()
            self._known = self.shared["known"]
            self._builtin, self._frozen = frozenset(self._known["builtin"]), frozenset(self._known["frozen"])
        return self._known

    def _asked(self):
        try:
            return interpreter.ask(self.place, self.python)
        except CannotSee:
            lib = os.path.dirname(os.__file__)
            return {
                "path": [lib, os.path.join(lib, "lib-dynload")],
                "builtin": list(sys.builtin_module_names),
                "frozen": [],
                "stdlib": list(getattr(sys, "stdlib_module_names", ())),
                "loaded": [],
                "suffixes": [".so"],
                "sites": [],
                "version": list(self.world.version),
                "guessed": True,
                "safe_path": False,
                "finders": [],
            }

    def ask(self):
        """Asks the interpreter now, where it would be asked when first needed."""
        return self.known

    def entries(self):
        """sys.path as the start would have it, and the site folders that lie beneath the root."""
        first = [self.root] if self.root else []
        if self.run_as == "script" and self.known["safe_path"]:
            first = []
        front = [each for each in reversed(self.extra) if each in self.ahead]
        back = [each for each in self.extra if each not in self.ahead]
        return front + first + back + [each for each in self.known["path"] if each not in first] + self.vendored()

    def vendored(self):
        """Folders beneath a given root that hold installed distributions (`pip install --target`), and what their .pth name."""
        if self.given is None:
            return []
        if self._vendored is None:
            rows = []
            for name in self.listed_in(self.given):
                folder = os.path.join(self.given, name)
                if any(each.endswith((".dist-info", ".egg-info", ".pth")) for each in self.listed_in(folder)):
                    rows.append(folder)
            rows += [
                row["path"]
                for row in interpreter.pth_lines(self.place, rows)
                if "path" in row and row["path"] not in rows
            ]
            self._vendored = rows
        return self._vendored

    def listed_in(self, folder):
        """The names in a folder, listed once for all files of a tree; none where it can't be listed."""
        cache = self._listed
        if folder not in cache:
            try:
                cache[folder] = frozenset(self.place.listdir(folder))
            except OSError:
                cache[folder] = frozenset()
        return cache[folder]

    # Finding.

    def find(self, name):
        """The module's `Found`, or None."""
        key = name, tuple(self.extra)
        if key not in self.found:
            self.found[key] = self._find(name)
        return self.found[key]

    def has(self, top):
        """Whether the target has a module of that name; what only stands in for its standard library shows nothing of it."""
        found = self.find(top)
        if found is None or not self.known.get("guessed"):
            return found is not None
        return bool(found.file) and not found.file.startswith(self.known["path"][0])

    def _find(self, name):
        if not name or name.startswith("."):
            return None
        if name == "os.path":  # os puts it into sys.modules itself
            return self.find("posixpath")
        top, _, rest = name.partition(".")
        if not rest:
            known = self.known
            if top in self._builtin:
                return Found("builtin")
            entries = known["path"] if top in self._frozen else self.entries()
            found = (
                self.search(top, entries)
                or self._mapped(top)
                or (self.search(top, self._near()) if top not in self._frozen else None)
            )
            if found and top in self._frozen:
                found.kind = found.kind if found.kind == "package" else "source"
            return found
        parent = self.find(name.rpartition(".")[0])
        if parent is None or not parent.folders:
            return None
        return self.search(name.rpartition(".")[2], parent.folders)

    def _near(self):
        """Folders beside or beneath the root that may be on the path as well: where nothing else has the module."""
        base = self.given
        if base is None:
            return []
        folders = [os.path.join(base, name) for name in sorted(self.listed_in(base)) if "." not in name]
        return [
            folder
            for folder in folders
            if folder not in self.own_folders and os.path.isdir(folder) and "__init__.py" not in self.listed_in(folder)
        ]

    def others(self, top, found):
        """Files of other modules of that name, which the one that is found hides."""
        beside = os.path.join(found.entry, top + ".py") if found.entry else None
        if beside and beside != found.file and top + ".py" in self.listed_in(found.entry):
            yield beside
        for folder in [*self.entries(), *self._near()]:
            other = self.search(top, [folder]) if folder != found.entry else None
            if other is not None and other.file and other.kind in ("source", "package") and other.file != found.file:
                yield other.file

    def _mapped(self, top):
        for finder in self.known.get("finders", ()):
            where = finder.get("mapping", {}).get(top)
            if where:
                return self.search(os.path.basename(where).partition(".")[0], [os.path.dirname(where)])
        return None

    def search(self, name, folders):
        """As the path finder does: package, extension, source in each folder; folders without __init__.py only at the end."""
        portions = []
        for folder in folders:
            names = self.listed_in(folder)
            if name in names and "__init__.py" in self.listed_in(os.path.join(folder, name)):
                inner = os.path.join(folder, name)
                return Found("package", os.path.join(inner, "__init__.py"), [inner], folder)
            for suffix in self.known["suffixes"]:
                if name + suffix in names:
                    return Found("extension", os.path.join(folder, name + suffix), (), folder)
            if name + ".py" in names:
                return Found("source", os.path.join(folder, name + ".py"), (), folder)
            if name in names and os.path.isdir(os.path.join(folder, name)):
                portions.append(os.path.join(folder, name))
        return Found("namespace", None, portions) if portions else None

    # Reading.

    def summary(self, name):
        """The module's Summary, or None where it has no source that parses."""
        found = self.find(name)
        if found is None or found.kind not in ("source", "package"):
            return None
        return self.read(found.file, name if found.kind == "package" else name.rpartition(".")[0])

    def read(self, file, package=None):
        if file not in self.summaries:
            self.summaries[file] = None  # a circle ends here
            self.summaries[file] = self._read(file, package)
        return self.summaries[file]

    def _read(self, file, package):
        try:
            with self.place.open(file) as raw:
                data = raw.read(MOST_MODULE_BYTES)
            self.make_room(len(data))
            tree = placement.parse(data)
        except (OSError, CannotSee, *placement.ERRORS):
            return None
        world = World(self.world.version, self.world.platform, False)
        return Summary(tree, Walk(tree, world, package or None), file)

    def make_room(self, more):
        """Forgets what was kept of other modules before it is too much."""
        self.shared["kept"] = self.shared.get("kept", 0) + more
        if self.shared["kept"] > MOST_KEPT:
            self.shared["old"] = list(self.summaries.values())  # some are still read: untied when the file is done
            self.summaries.clear()
            self.shared["kept"] = more

    def keep(self, tree, walk, size):
        """The examined file itself may be asked for by its neighbours in the tree. Whether it is kept."""
        file = os.path.abspath(self.path)
        if file in self.summaries:
            return False
        self.make_room(size)
        self.summaries[file] = Summary(tree, walk, file)
        return True

    # Names.

    def same(self, one, other):
        """Whether two targets are one object: True, False, or None where it can't be told."""
        one, other = ALIASES.get(tuple(one), tuple(one)), ALIASES.get(tuple(other), tuple(other))
        if one == other:
            return True
        first, second = self.site(one), self.site(other)
        if first is not None and second is not None:
            return first == second
        tops = {one[0].partition(".")[0], other[0].partition(".")[0]}
        kin = one[1] == other[1] and (len(tops) == 1 or tops <= KIN)
        return None if kin else False

    def site(self, target, depth=0):
        """Where the object is made: ("module", file), ("def", file, line) and the like; None where that can't be seen."""
        target = ALIASES.get(tuple(target), tuple(target))
        if target not in self.sites:
            self.sites[target] = None
            self.sites[target] = self._site(target, depth) if depth < 30 else None
        return self.sites[target]

    def _site(self, target, depth):
        module, name = target
        if module == "builtins" and name is not None:
            return "builtin", name
        found = self.find(module)
        if found is None:
            return None
        if name is None:
            return "module", found.file or module
        if found.kind in ("builtin", "extension"):
            return "c", module, name
        summary = self.summary(module)
        binds = summary.live(name) if summary else []
        if len(binds) == 1 or (binds and all(bind.imported for bind in binds)):
            sites = {self._bound(module, summary, bind, depth) for bind in binds}
            return sites.pop() if len(sites) == 1 else ("name", found.file, name)
        if binds:
            return "name", found.file, name
        if found.folders and self.find(module + "." + name):
            return self.site((module + "." + name, None), depth + 1)
        return self._elsewhere(module, summary, name, depth) if summary else None

    def _bound(self, module, summary, bind, depth):
        if bind.imported:
            return self.site(bind.target, depth + 1)
        value = getattr(bind.node, "value", None)
        text = dotted(value) if bind.kind == "assign" and value is not None else None
        if text is None or not isinstance(bind.node, ast.Assign) or not isinstance(bind.node.targets[0], ast.Name):
            return "def", summary.file, bind.line, bind.name
        head, _, tail = text.partition(".")
        if head == bind.name and not tail:
            return "builtin", head
        inner = summary.live(head)
        if len(inner) == 1 and inner[0].imported and tail and "." not in tail:
            base = inner[0].target
            owner = spelled(base)
            if self.find(owner):
                return self.site((owner, tail), depth + 1)
        if len(inner) == 1 and not tail:
            return self._bound(module, summary, inner[0], depth + 1) if depth < 30 else None
        return "def", summary.file, bind.line, bind.name

    def _elsewhere(self, module, summary, name, depth):
        """By a star import, or by the module's __getattr__."""
        for star in summary.walk.module.star:
            names = self.exports(star.target[0])
            if names is None:
                return None
            if name in names:
                return self.site((star.target[0], name), depth + 1)
        if summary.getattr is not None:
            for part in ast.walk(summary.getattr.node):
                if isinstance(part, ast.ImportFrom) and any(alias.name == name for alias in part.names):
                    package = module if self.find(module).kind == "package" else module.rpartition(".")[0]
                    return self.site((absolute(part, package), name), depth + 1)
        return None

    def exports(self, module):
        """The names that `from module import *` brings, or None where they can't be told."""
        if module not in self._exports:
            self._exports[module] = frozenset()  # a circle adds nothing
            self._exports[module] = self._exported(module)
        return self._exports[module]

    def _exported(self, module):
        found = self.find(module)
        if (
            found is not None
            and found.kind in ("builtin", "extension")
            and (module in C_MODULES or (found.kind == "builtin" and module in sys.builtin_module_names))
        ):
            return frozenset(name for name in dir(__import__(module)) if not name.startswith("_"))
        summary = self.summary(module)
        if summary is None:
            return None
        if "__all__" in summary.binds:
            listed = self.listed(summary)
            return None if listed is None else frozenset(listed)
        return self.public(summary)

    def public(self, summary):
        """The names without an underscore that a module has once it is loaded, or None where they can't be told."""
        if summary.dynamic or summary.replaced:
            return None
        names = {name for name in summary.binds if not name.startswith("_") and summary.live(name)}
        names -= {
            name
            for name, gone in summary.walk.module.dels.items()
            if all(d.order > b.order for d in gone for b in summary.live(name))
        }
        for star in summary.walk.module.star:
            more = self.exports(star.target[0])
            if more is None:
                return None
            names |= more
        return frozenset(name for name in names if not name.startswith("_"))

    def listed(self, summary):
        """What the module's __all__ holds, or None where it is not made of literals."""
        if summary.names is None:
            summary.names = (self._listed_names(summary),)
        return summary.names[0]

    def _listed_names(self, summary):
        names, walk = [], summary.walk
        live = summary.live("__all__")
        if any(bind.imported for bind in live):
            inner = self.summary(live[-1].target[0]) if len(live) == 1 and live[0].target[1] == "__all__" else None
            return None if inner is None else self.listed(inner)
        steps = [(bind.order, bind.node) for bind in live if bind.kind in ("assign", "augment")]
        steps += [
            (order, call)
            for name, call, order, arm, _ in walk.specials
            if name in (".extend", ".append", ".remove") and not arm.dead and dotted(call.func.value) == "__all__"
        ]
        for _, node in sorted(steps, key=lambda step: step[0]):
            value = node.value if not isinstance(node, ast.Call) else node.args[0] if node.args else None
            if isinstance(node, ast.Call) and node.func.attr == "remove":
                names = [name for name in names if name != constant(value)[1]]
                continue
            if isinstance(node, ast.Call) and node.func.attr == "append":
                value = ast.List(elts=[value])
            more = self._list(value, summary)
            if more is None:
                return None
            names = names + more if isinstance(node, (ast.AugAssign, ast.Call)) else more
        return names if all(isinstance(name, str) for name in names) else None

    def _list(self, value, summary):
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
            left, right = self._list(value.left, summary), self._list(value.right, summary)
            return None if left is None or right is None else left + right
        if isinstance(value, ast.ListComp) and _public(value):
            return sorted(self.public(summary) or ()) or None
        if isinstance(value, (ast.List, ast.Tuple)):
            parts = [
                self._list(e.value, summary) if isinstance(e, ast.Starred) else [constant(e)[1]] for e in value.elts
            ]
            return None if None in parts else [name for part in parts for name in part]
        text = dotted(value)
        if text and text.endswith(".__all__"):
            base = summary.live(text.partition(".")[0])
            owner = None
            if len(base) == 1 and base[0].imported:
                owner = spelled(base[0].target)
            elif not base and summary.walk.package and summary.file.endswith("__init__.py"):
                owner = "%s.%s" % (summary.walk.package, text.rpartition(".")[0])  # loading a submodule binds it
            if owner is not None:
                inner = self.summary(owner)
                return self.listed(inner) if inner is not None and "__all__" in inner.binds else None
        return None

    def missing_exports(self, module):
        """Names in a module's __all__ that it does not have: a star import of it raises."""
        summary = self.summary(module)
        if (
            summary is None
            or summary.dynamic
            or summary.replaced
            or summary.getattr is not None
            or "__all__" not in summary.binds
        ):
            return []
        listed = self.listed(summary) or []
        return [name for name in listed if self.lacks(module, name)]

    def lacks(self, module, name):
        """Whether a module certainly has no such name, nor a submodule."""
        found, summary = self.find(module), self.summary(module)
        if summary is None or summary.dynamic or summary.replaced or summary.getattr is not None:
            return False
        if (
            name in summary.binds
            or name in MODULE_ATTRIBUTES
            or any(name in s.globals and name in s.binds for s in summary.walk.scopes)
        ):
            return False
        if found.folders and (
            self.find(module + "." + name)
            or "__path__" in summary.binds
            or any("__path__" in ast.dump(t) for t, *_ in summary.walk.writes)
        ):
            return False
        for star in summary.walk.module.star:
            names = self.exports(star.target[0])
            if names is None or name in names:
                return False
        return True


MODULE_ATTRIBUTES = {
    "__name__",
    "__file__",
    "__doc__",
    "__package__",
    "__spec__",
    "__loader__",
    "__path__",
    "__dict__",
    "__builtins__",
    "__cached__",
    "__annotations__",
}


def _public(node):
    """Whether a comprehension is `[n for n in dir() if not n.startswith("_")]`, of dir(), globals() or the like."""
    if (
        len(node.generators) != 1
        or not isinstance(node.elt, ast.Name)
        or dotted(node.generators[0].target) != node.elt.id
    ):
        return False
    source, tests = node.generators[0].iter, node.generators[0].ifs
    while isinstance(source, ast.Call) and (source.args or isinstance(source.func, ast.Attribute)):
        source = source.args[0] if source.args else source.func.value  # list(globals()), globals().keys()
    own = isinstance(source, ast.Call) and dotted(source.func) in ("dir", "globals", "vars", "locals")
    return own and len(tests) == 1 and ast.dump(tests[0]) == ast.dump(_not_private(node.elt.id))


def _not_private(name):
    return ast.parse("not %s.startswith('_')" % name, mode="eval").body


def removed(version, module):
    """The version that removed a standard module, where that is not newer than this one."""
    return next(
        (since for since, names in REMOVED.items() if module in names.split() and tuple(version[:2]) >= since), None
    )


def not_yet(version, module):
    """The version that brought a standard module, where that is newer than this one."""
    return next(
        (since for since, names in ADDED.items() if module in names.split() and tuple(version[:2]) < since), None
    )
