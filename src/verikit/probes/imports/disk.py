"""The rules M and S: what is found on disk under an imported name, in which order, and what its loading does."""

import ast
import os
import sys

from verikit.probes import interpreter
from verikit.probes.imports import loading
from verikit.probes.imports.conditions import constant, dotted, index_of
from verikit.probes.imports.effects import Effects, effects_of, path_changes
from verikit.probes.imports.modules import not_yet, removed
from verikit.probes.imports.rules import finding
from verikit.probes.imports.scopes import exclusive, is_fallback

IMPORT_ERRORS = ("ImportError", "ModuleNotFoundError", "Exception", "BaseException")


class Disk:
    """Findings about the modules that a file imports. `asked`: a name or an insertion, so that its module must be there."""

    def __init__(self, names, resolver, path, added, script, asked):
        self.names, self.walk, self.resolver, self.path = names, names.walk, resolver, path
        self.added, self.script, self.asked = added, script, asked
        self.findings, self.notes = [], []
        # Each imported module's own file is read only where a question is asked of one name, or a root is given.
        self.near = asked or resolver.given is not None
        self.changes = path_changes(self.walk, path)
        self.stubs = any(
            isinstance(row[0], ast.Subscript) and dotted(row[0].value) in ("sys.modules", "modules")
            for row in self.walk.writes
        ) or any(row[0] == ".setdefault" and dotted(row[1].func.value) == "sys.modules" for row in self.walk.specials)

    def run(self):
        live = [row for row in self.walk.imports if not row[4].dead]
        self.resolver.own_folders = {folder for _, folder, _ in self.changes}
        self.resolver.ahead = {folder for _, folder, ahead in self.changes if ahead}
        for node, alias, module, order, arm, scope in live:
            if module == "__future__":
                continue
            self.resolver.extra = self.path_at(order) if scope.kind != "function" else self.path_at(None)
            guarded = is_guarded(arm)
            self._relative(node, alias, guarded)
            if not node.level if isinstance(node, ast.ImportFrom) else True:
                self._old(node, module, guarded, arm)
            if self.near:
                self._there(node, alias, module, arm, guarded, scope)
                self._elsewhere(node, alias, module, guarded)
                self._owned_twice(node, alias, module)
                self._submodule(node, module, order)
            self._shadowed(node, alias, module)
            if self.stubs:
                self._stubbed(node, module, order)
        self.resolver.extra = []
        self._indirect(live)
        if self.near:
            self._effects(live)
        return self

    def add(self, rule, name, line, message, other=None, use=None, severity=None):
        if self.names.is_added(line, other):
            self.findings.append(finding(rule, name, line, message, other, use, severity))

    def path_at(self, order):
        """Folders that the file itself has put on sys.path by then."""
        return [folder for at, folder, _ in self.changes if order is None or at < order]

    # M5, M8, M2.

    def _relative(self, node, alias, guarded):
        level = getattr(node, "level", 0)
        if not level or guarded:
            return
        bound = alias.asname or alias.name
        shown = "." * level + (node.module or "")
        if self.script:
            text = "`from %s import %s` on line %d: run as a script, the file has no parent package" % (
                shown,
                alias.name,
                node.lineno,
            )
            self.add("M5", bound, node.lineno, text)
        elif (
            self.path is not None
            and (self.resolver.given or self.resolver.package)
            and level > len([part for part in (self.resolver.package or "").split(".") if part])
        ):
            text = "`from %s import %s` on line %d goes above the top package" % (shown, alias.name, node.lineno)
            self.add("M5", bound, node.lineno, text)

    def _old(self, node, module, guarded, arm):
        version, top = self.names.world.version, module.partition(".")[0]
        since = removed(version, top)
        late = not_yet(version, top)
        if guarded or not (since or late) or self.resolver.has(top):
            return
        if self._spare(arm) if self.asked else is_fallback(arm):
            return
        bound = node.names[0].asname or node.names[0].name
        words = "was removed in Python %d.%d" % since if since else "came with Python %d.%d" % (late or (0, 0))
        text = "line %d imports %s, which %s; the target is %s" % (node.lineno, top, words, ".".join(map(str, version)))
        self.add("M8", bound.partition(".")[0], node.lineno, text)

    def _there(self, node, alias, module, arm, guarded, scope):
        """Whether the module, and the name in it, is there at all."""
        bound = alias.asname or alias.name.partition(".")[0]
        if (
            guarded
            or self._spare(arm)
            or module.startswith(".")
            or not module
            or any(row["line"] == node.lineno for row in self.findings)
        ):
            return
        found = self.resolver.find(module)
        if found is None:
            self._missing(node, module, bound, scope)
        elif isinstance(node, ast.ImportFrom) and alias.name != "*" and self.resolver.lacks(module, alias.name):
            if self._itself(found):
                return
            text = "line %d imports %s from %s, and %s has no such name" % (node.lineno, alias.name, module, found.file)
            rule = "M3" if self.owners(found) else "M2"
            if scope.kind != "function" or self.asked:
                self.add(rule, bound, node.lineno, text)
        elif (
            isinstance(node, ast.ImportFrom)
            and found.kind == "namespace"
            and alias.name != "*"
            and not self.resolver.find(module + "." + alias.name)
        ):
            if self.asked:
                self.add(
                    "M2",
                    bound,
                    node.lineno,
                    "line %d imports %s from %s, a folder that has no such module" % (node.lineno, alias.name, module),
                )
        elif found.kind == "extension":
            self._extension(node, module, bound, found)

    def _spare(self, arm):
        """Whether the code stands in for imports that are there, and so never runs."""
        rows = [each for each in arm.path() if each.kind == "try" and each.label.startswith("handler")]
        wanted = [
            row
            for each in rows
            for row in self.walk.imports
            if any(row[0] is part for statement in each.construct.body for part in ast.walk(statement))
        ]
        return bool(wanted) and all(
            self.resolver.find(module) is not None
            and not (isinstance(node, ast.ImportFrom) and self.resolver.lacks(module, alias.name))
            for node, alias, module, *_ in wanted
        )

    def _elsewhere(self, node, alias, module, guarded):
        """M2: the module lacks what the file takes from it, and another one of its name has that."""
        found = self.resolver.find(module)
        if guarded or not isinstance(node, ast.Import) or "." in module or found is None or found.file is None:
            return
        bound = alias.asname or module
        lacking = [name for name in self._attributes(bound) if self.resolver.lacks(module, name)]
        if not lacking or self._itself(found) or any(row["line"] == node.lineno for row in self.findings):
            return
        for file in self.resolver.others(module, found):
            summary = self.resolver.read(file, module)
            if summary is not None and all(summary.live(name) for name in lacking):
                text = "line %d imports %s and finds %s, which has no %s; %s has"
                text %= (node.lineno, module, found.file, sorted(lacking)[0], file)
                self.add("M2", bound, node.lineno, text)
                return

    def _itself(self, found):
        return (
            self.path is not None
            and found.file is not None
            and os.path.realpath(found.file) == os.path.realpath(self.path)
        )

    def _missing(self, node, module, bound, scope):
        later = [folder for _, folder, _ in self.changes if folder not in self.resolver.extra]
        if later and scope.kind != "function":
            here, self.resolver.extra = self.resolver.extra, self.path_at(None)
            there = self.resolver.find(module)
            self.resolver.extra = here
            if there is not None:
                text = "line %d imports %s before the file puts its folder on sys.path" % (node.lineno, module)
                self.add("S1", bound, node.lineno, text, severity="breaks")
                return
        stale = self._stale(module)
        if stale:
            self.add(
                "M2",
                bound,
                node.lineno,
                "line %d imports %s, of which only %s is left: it is not found without its source"
                % (node.lineno, module, stale),
            )
        elif self.asked and not getattr(node, "level", 0) and scope.kind != "function" and self._sure(module):
            what = "the interpreter asked" if self.resolver.known.get("guessed") else self.resolver.known["executable"]
            self.add(
                "M2", bound, node.lineno, "line %d imports %s, and %s has no such module" % (node.lineno, module, what)
            )
        elif not getattr(node, "level", 0):
            self.notes.append(
                "%s, imported on line %d, is not installed for the interpreter asked" % (module, node.lineno)
            )
        elif self.path is not None and scope.kind != "function" and self.resolver.package and self.asked:
            self.add("M2", bound, node.lineno, "line %d imports %s, which is not there" % (node.lineno, module))

    def _sure(self, module):
        return self.added is not None or self.resolver.find(module.partition(".")[0]) is not None

    def _stale(self, module):
        """A cached bytecode file whose source is gone."""
        top = module.rpartition(".")
        parent = self.resolver.find(top[0]) if top[0] else None
        folders = parent.folders if parent else [f for f in [self.resolver.root, *self.resolver.extra] if f]
        for folder in folders:
            for entry in self.resolver.listed_in(os.path.join(folder, "__pycache__")):
                if entry.startswith(top[2] + ".") and entry.endswith(".pyc"):
                    return os.path.join("__pycache__", entry)
        return None

    def _extension(self, node, module, bound, found):
        """An extension module beats a .py beside it; one that is no library can't be loaded at all."""
        source = os.path.basename(found.file).partition(".")[0] + ".py"
        if source not in self.resolver.listed_in(os.path.dirname(found.file)):
            return
        try:
            with self.resolver.place.open(found.file) as raw:
                magic = raw.read(4)
        except OSError:
            return
        if magic not in (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe") and magic[:2] != b"MZ":
            text = "line %d imports %s: %s is found before %s, and is no library"
            self.add("M2", bound, node.lineno, text % (node.lineno, module, os.path.basename(found.file), source))

    # M1: a local file before the module that is meant.

    def _shadowed(self, node, alias, module):
        top = module.partition(".")[0]
        first = self.resolver.root
        mine = (self.resolver.package or "").partition(".")[0]  # a package imports itself by name: it means itself
        if first is None or not top or top == mine or getattr(node, "level", 0) or not self._near(first, top):
            return
        found = self.resolver.find(top)
        if (
            found is None
            or found.entry is None
            or os.path.abspath(found.entry) != os.path.abspath(first)
            or self._itself(found)
        ):
            return
        if top in self.resolver.known["loaded"]:
            return
        installed = [each for each in self.resolver.known["path"] if each != first] + self.resolver.vendored()
        meant = self.resolver.search(top, installed)
        if meant is None or meant.kind == "namespace" or meant.file == found.file:
            return
        bound = alias.asname or (top if isinstance(node, ast.Import) else alias.name)
        if self._fits(node, alias, module, bound):
            self.notes.append("%s, imported on line %d, is %s, not %s" % (top, node.lineno, found.file, meant.file))
            return
        std = "the standard library's" if top in self.resolver.known["stdlib"] else meant.file
        text = "line %d imports %s, and %s is found before %s" % (node.lineno, top, found.file, std)
        self.add("M1" if top in self.resolver.known["stdlib"] else "M2", bound, node.lineno, text)

    def _near(self, folder, name):
        names = self.resolver.listed_in(folder)
        return name in names or name + ".py" in names

    def _fits(self, node, alias, module, bound):
        """Whether the local file has everything that is asked of it: then it is the one that is meant."""
        summary = self.resolver.summary(module)
        if summary is None:
            return False
        used = {alias.name} - {"*"} if isinstance(node, ast.ImportFrom) else self._attributes(bound)
        return bool(used) and not any(self.resolver.lacks(module, name) for name in used)

    def _attributes(self, bound):
        if not hasattr(self, "_used"):
            self._used = {}
            for part in ast.walk(self.names.tree):
                if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
                    self._used.setdefault(part.value.id, set()).add(part.attr)
        return self._used.get(bound, set())

    def _indirect(self, live):
        """A local file that a standard module, imported here, gets instead of its own neighbour."""
        first = self.resolver.root
        mine = self._names_like_std(first) if first is not None else None
        if not mine or os.path.abspath(first) in map(os.path.abspath, self.resolver.known["path"]):
            return
        for node, _, module, _, _arm, scope in live:
            top = module.partition(".")[0]
            if getattr(node, "level", 0) or scope.kind == "function" or top in mine:
                continue
            hit = loading.reaches(self.resolver, module, mine, self._taken(node, module))
            if hit is not None:
                _by, name, wants = hit
                text = "line %d imports %s, which loads %s and gets %s: it lacks %s"
                self.add("M1", top, node.lineno, text % (node.lineno, top, name, os.path.join(first, name), wants))

    def _taken(self, node, module):
        """The names that the file takes from a module; None where that can be any."""
        names = {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            return None if "*" in names else names
        bound = next((a.asname or a.name for a in node.names if a.name == module), module)
        if "." in bound:
            return {part.attr for part in ast.walk(self.names.tree) if isinstance(part, ast.Attribute)}
        return self._attributes(bound)

    def _names_like_std(self, folder):
        if not hasattr(self, "_mine"):
            names = self.resolver.listed_in(folder)
            mine = {n[:-3] for n in names if n.endswith(".py")} | {n for n in names if "." not in n}
            mine &= set(getattr(sys, "stdlib_module_names", mine))  # a first sieve; the target's own list decides
            mine = {
                n
                for n in mine
                if n + ".py" in names or "__init__.py" in self.resolver.listed_in(os.path.join(folder, n))
            }
            if mine:
                known = self.resolver.known
                mine &= set(known["stdlib"]) - set(known["builtin"]) - set(known["frozen"]) - set(known["loaded"])
            self._mine = mine
        return self._mine

    # M3: two distributions.

    def owners(self, found):
        """Distributions whose records name the module's file, where their hashes of it differ."""
        if (
            found is None
            or found.file is None
            or found.entry is None
            or not any(each.endswith((".dist-info", ".egg-info")) for each in self.resolver.listed_in(found.entry))
        ):
            return []
        return list(self._records(found.entry).get(os.path.realpath(found.file), ()))

    def _records(self, folder):
        """{file: [(distribution, hash)]} of the files that more than one distribution in the folder claims."""
        cache = self.resolver.__dict__.setdefault("_owned", {})
        if folder not in cache:
            claims = {}
            for row in interpreter.distributions(self.resolver.place, [folder]):
                for path, digest in interpreter.records(self.resolver.place, row):
                    if path.endswith(".py"):
                        claims.setdefault(os.path.realpath(path), []).append((row["name"], digest))
            cache[folder] = {path: rows for path, rows in claims.items() if len({digest for _, digest in rows}) > 1}
        return cache[folder]

    def _owned_twice(self, node, alias, module):
        if not self.asked and self.resolver.given is None:
            return
        found = self.resolver.find(module.partition(".")[0]) if not getattr(node, "level", 0) else None
        if found is None or found.entry is None:
            return
        bound = alias.asname or (alias.name if isinstance(node, ast.ImportFrom) else module.partition(".")[0])
        if any(row["line"] == node.lineno for row in self.findings):
            return
        rows = self.owners(self.resolver.find(module) or found) or self.owners(found)
        if rows:
            text = "line %d imports %s, whose file %s are said to own with different content"
            self.add(
                "M3", bound, node.lineno, text % (node.lineno, module, " and ".join(sorted({name for name, _ in rows})))
            )
            return
        self._stale_copy(node, module, bound, found)

    def _stale_copy(self, node, module, bound, found):
        """A copy in a site folder that hides the folder which a .pth file of an editable install names."""
        top = module.partition(".")[0]
        folders = [found.entry] + list(self.resolver.vendored())
        if found.entry not in self.resolver.known.get("sites", ()) and found.entry not in self.resolver.vendored():
            return
        for row in interpreter.pth_lines(self.resolver.place, folders):
            if "path" not in row or os.path.abspath(row["path"]) == os.path.abspath(found.entry):
                continue
            other = self.resolver.search(top, [row["path"]])
            if (
                other is not None
                and other.file
                and found.file
                and not _equal(self.resolver.place, other.file, found.file)
            ):
                text = "line %d imports %s: the copy %s hides %s, which %s makes editable"
                self.add(
                    "M3",
                    bound,
                    node.lineno,
                    text % (node.lineno, top, found.file, other.file, os.path.basename(row["file"])),
                    severity="changes",
                )
                return

    # N7: a submodule over an attribute of its package; N21.

    def _submodule(self, node, module, order):
        package, _, sub = module.rpartition(".")
        if not package or module.startswith("."):
            return
        summary = self.resolver.summary(package)
        if summary is None or self.resolver.find(module) is None:
            return
        binds = [
            bind
            for bind in summary.live(sub)
            if not bind.imported or self.resolver.site(bind.target) != self.resolver.site((module, None))
        ]
        if not binds or self._loads_itself(summary, package, module) or self._loaded_above(module, order):
            return
        text = "line %d loads the module %s, which takes the place of %s.%s of line %d in %s"
        uses = [p.lineno for p in ast.walk(self.names.tree) if isinstance(p, ast.Call) and dotted(p.func) == module]
        taken = [
            row[0].lineno
            for row in self.walk.imports
            if row[2] == package and row[1].name == sub and isinstance(row[0], ast.ImportFrom)
        ]
        if self.added is not None or uses or taken:
            self.add(
                "N7",
                package.partition(".")[0],
                node.lineno,
                text % (node.lineno, module, package, sub, binds[0].line, os.path.basename(summary.file)),
                (uses + taken + [None])[0],
            )

    def _loads_itself(self, summary, package, module):
        for node, alias, name, _, arm, scope in summary.walk.imports:
            if scope.kind == "function" or arm.dead:
                continue
            if (
                name == module
                or name.startswith(module + ".")
                or (name == package and isinstance(node, ast.ImportFrom) and package + "." + alias.name == module)
            ):
                return True
        return False

    def _loaded_above(self, module, order):
        return any(
            row[2] == module and row[3] < order and not row[4].dead and row[5].kind != "function"
            for row in self.walk.imports
        )

    def _stubbed(self, node, module, order):
        for target, holder, at, arm, where in self.walk.writes:
            if (
                isinstance(holder, ast.Delete)
                or not isinstance(target, ast.Subscript)
                or dotted(target.value) not in ("sys.modules", "modules")
            ):
                continue
            self._stub(node, module, order, constant(index_of(target)), holder, at, arm, where)
        for name, call, at, arm, where in self.walk.specials:
            if name == ".setdefault" and dotted(call.func.value) == "sys.modules" and call.args:
                self._stub(node, module, order, constant(call.args[0]), call, at, arm, where)

    def _stub(self, node, module, order, key, holder, at, arm, where):
        known, name = key
        if not known or arm.dead or not isinstance(name, str) or not (module == name or module.startswith(name + ".")):
            return
        early = where.kind == "function" and any(
            call[0] == where.name and call[1] < order for call in self.walk.module.calls
        )
        if not early and (where.kind == "function" or at > order):
            return
        if (
            exclusive(arm, self._arm_of(node))
            or self.resolver.find(name) is None
            or (self.added is None and is_conditional(arm))
        ):
            return
        if self._same_module(getattr(holder, "value", None), name):
            return
        bound = node.names[0].asname or node.names[0].name.partition(".")[0]
        text = "line %d imports %s, and line %d has put something else into sys.modules under that name"
        self.add("N21", bound, node.lineno, text % (node.lineno, module, holder.lineno), holder.lineno)

    def _same_module(self, value, name):
        """Whether what is put into sys.modules is the module of that name itself."""
        parts = [part.id for part in ast.walk(value) if isinstance(part, ast.Name)] if value is not None else []
        binds = [bind for part in parts for bind in self.walk.module.binds.get(part, ()) if bind.imported]
        return any(self.resolver.same(bind.target, (name, None)) for bind in binds)

    def _arm_of(self, node):
        return next(row[4] for row in self.walk.imports if row[0] is node)

    # S1.

    def _effects(self, live):
        """Order: a module that reads what the file sets later, or sets what the file has its own idea of."""
        mine = None  # a walk of its own over the tree, so only where another module has effects to compare it with
        patched = any(isinstance(row[0], ast.Attribute) for row in self.walk.writes) or any(
            row[0] == "setattr" for row in self.walk.specials
        )
        for node, alias, module, order, _arm, scope in live:
            if scope.kind == "function" or (self.added is not None and node.lineno not in self.added):
                continue
            if any(
                row[2] == module and row[3] < order and row[0].lineno != node.lineno
                for row in live
                if row[5].kind != "function"
            ):
                theirs = Effects()  # loaded already
            else:
                theirs = loading.effects(self.resolver, module)
            if patched and isinstance(node, ast.ImportFrom) and alias.name != "*":
                theirs.reads.setdefault(("attr", "%s.%s" % (module, alias.name)), node.lineno)
            if theirs.reads or theirs.writes:
                mine = mine or effects_of(self.walk, self.names.tree)
                self._ordered(node, alias.asname or alias.name.partition(".")[0], module, theirs, mine)
        if self.added is not None:
            self._moved(live)

    def _ordered(self, node, bound, module, theirs, mine):
        if not self._set_too_late(node, bound, module, theirs, mine) and self.added is not None:
            self._sees_it(node, bound, module, theirs, mine)

    def _set_too_late(self, node, bound, module, theirs, mine):
        """The module reads what the file sets only below the import."""
        for what in sorted(theirs.reads.keys() & mine.writes.keys(), key=str):
            later = [line for line in mine.writes[what] if line > node.lineno]
            if not later or any(line < node.lineno for line in mine.writes[what]):
                continue
            if self.added is None and (what[0] != "env" or self.resolver.given is None):
                continue
            text = "line %d loads %s, which reads %s; line %d sets it only afterwards"
            self.add("S1", bound, node.lineno, text % (node.lineno, module, what[1], later[0]), later[0])
            return True
        return False

    def _sees_it(self, node, bound, module, theirs, mine):
        """The module sets what the file relies on, and is loaded by it for the first time, or earlier than before."""
        loads = [row for row in self.walk.imports if row[2] == module and row[5].kind != "function"]
        before = min((row[0].lineno for row in loads if row[0].lineno not in self.added), default=None)
        for what in sorted(theirs.writes.keys() & mine.uses.keys(), key=str):
            for line, deferred in mine.uses[what]:
                between = line > node.lineno and (before is None or line < before)
                if line not in self.added and (between or (deferred and before is None)):
                    text = "line %d loads %s, which sets %s; line %d then sees it"
                    self.add("S1", bound, node.lineno, text % (node.lineno, module, what[1], line), line)
                    return

    def _moved(self, live):
        """An insertion that loads a module earlier, when sys.path still leads to another file."""
        for node, alias, module, order, _, scope in live:
            if node.lineno not in self.added or scope.kind == "function" or getattr(node, "level", 0):
                continue
            top = module.partition(".")[0]
            old = [
                row
                for row in live
                if row[2].partition(".")[0] == top and row[0].lineno not in self.added and row[3] > order
            ]
            for row in old[:1]:
                self.resolver.extra = self.path_at(order)
                first = self.resolver.find(top)
                self.resolver.extra = self.path_at(row[3])
                second = self.resolver.find(top)
                if first and second and first.file != second.file:
                    text = "line %d loads %s from %s; line %d would have found %s" % (
                        node.lineno,
                        top,
                        first.file,
                        row[0].lineno,
                        second.file,
                    )
                    self.add("S1", alias.asname or top, node.lineno, text, row[0].lineno)
        self.resolver.extra = []


def is_guarded(arm):
    """Whether an ImportError raised there is caught."""
    return arm.caught(IMPORT_ERRORS) or any(_suppresses(each.construct) for each in arm.path() if each.kind == "with")


def _suppresses(node):
    """Whether a `with` names contextlib.suppress, or pytest.raises."""
    words = [ast.dump(item.context_expr) for item in node.items]
    return any("suppress" in each or "raises" in each for each in words)


def is_conditional(arm):
    return any(
        each.kind in ("if", "rest", "match", "try") and (each.test is not None or each.kind != "if")
        for each in arm.path()
    )


def _equal(place, one, other):
    try:
        with place.open(one) as first, place.open(other) as second:
            return first.read(1 << 20) == second.read(1 << 20)
    except OSError:
        return True
