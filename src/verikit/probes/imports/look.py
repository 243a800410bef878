"""The look of ImportConflict: one file, read and judged next to its neighbours, never imported."""

import os
import sys

from verikit.probes import interpreter
from verikit.probes.imports import backport, loading, placement
from verikit.probes.imports.conditions import World
from verikit.probes.imports.disk import Disk
from verikit.probes.imports.modules import Resolver
from verikit.probes.imports.names import Names
from verikit.probes.imports.rules import finding
from verikit.probes.imports.scopes import Walk
from verikit.probes.imports.taken import BUILTINS
from verikit.probes.place import CannotSee

MOST_BYTES = 16 << 20
SHOWN = 20
MOST_GAP = 8  # folders without __init__.py between a file and the package around it


def inspect(
    place,
    path=None,
    source=None,
    name=None,
    inject=None,
    line=None,
    run_as="auto",
    root=None,
    python="host",
    shared=None,
):
    """Findings, what can't be told, notes and safe lines of one file, with or without an insertion."""
    path = by_name(path, run_as) if path is not None else None
    if path is not None and os.path.isdir(path):
        if name is not None or inject is not None:
            raise CannotSee("unsupported", "%s is a folder; one name or one insertion is asked of one file" % path)
        from verikit.probes.imports import tree as whole

        return whole.inspect(place, path, run_as, root, python)
    data = source.encode("utf-8", "surrogateescape") if source is not None else place.read(path, MOST_BYTES)
    facts = {"path": path, "lines": data.count(b"\n") + (not data.endswith(b"\n") and bool(data))}
    version = target_version(place, python, facts)
    held = shared.get("summaries", {}).get(os.path.abspath(path)) if shared else None
    try:
        tree, data = (held.tree, data) if held else tree_of(data, version)
    except placement.ERRORS as error:
        wrong = [] if inject is not None else culprit(data, version, error)
        if not wrong:
            raise unparsed(path, error) from None
        return closed(dict(facts, bound=True, findings=wrong), [], [])
    old, added, findings = None, None, []
    if inject is not None:
        facts["safe"], facts["line"] = placement.safe(tree, data), line
        old = tree
        tree, data, added, findings = inserted(data, tree, inject, line, path, version)
        if tree is None:
            return closed(dict(facts, findings=findings), [], [])
    question = Question(place, path, data, name, added, run_as, root, python, version, shared)
    findings += question.judge(tree, old)
    return question.answered(facts, findings)


def inserted(data, tree, inject, line, path, version):
    """(tree, bytes, new lines, findings) with the insertion in its place; the tree is None if it then does not parse."""
    after_it, added = after(data, inject, line, path)
    at = line or min(added, default=1)
    try:
        new, after_it = tree_of(after_it, version)
    except placement.ERRORS as error:
        return None, after_it, added, [placement.broken(data, at, inject, error)]
    return new, after_it, added, placement.placed(data, after_it, tree, new, inject, at, added)


def safe_lines(place, path):
    """[[first, last], …]: the lines at which an import at column 0 leaves the rest of the file as it is."""
    data = place.read(path, MOST_BYTES)
    try:
        tree = placement.parse(data)
    except placement.ERRORS as error:
        raise unparsed(path, error) from None
    return placement.safe(tree, data)


class Question:
    """One file with what is asked of it."""

    def __init__(self, place, path, data, name, added, run_as, root, python, version, shared=None):
        self.place, self.path, self.name, self.added, self.root = place, path, name, added, root
        self.data, self.whole = data, shared is not None
        self.package = package_of(path, root)
        self.script = is_script(run_as, data, self.package)
        self.world = World(version, sys.platform, starts(run_as, self.script))
        self.resolver = Resolver(
            place, self.world, path, root, "script" if self.script else "import", python, self.package, shared
        )
        self.notes, self.kept = [], False

    def answered(self, facts, findings):
        """The facts, of the name that was asked for alone if one was; what is not kept of the file is forgotten."""
        names, walk = self.names, self.names.walk
        unknowns = names.unknowns
        if self.name is not None:
            findings = [each for each in findings if each["name"] == self.name]
            unknowns = [each for each in unknowns if each["name"] in (None, self.name)]
        facts["findings"] = findings
        facts["imports"] = sum(
            bind.imported for scope in walk.scopes for binds in scope.binds.values() for bind in binds
        )
        facts["bound"] = self.name is None or self.binds(self.name)
        facts["blank"] = not self.data.strip()
        facts["run_as"] = "script" if self.world.main else "import"
        if not self.kept:
            walk.forget()
        return closed(facts, unknowns, names.notes + self.notes)

    def binds(self, name):
        scopes = self.names.walk.scopes
        if name.startswith("__"):  # in a class it is bound under its mangled form
            mangled = [each for scope in scopes for each in scope.binds if each.endswith(name)]
            return any(bind.imported for scope in scopes for each in mangled for bind in scope.binds.get(each, ()))
        return any(bind.imported for scope in scopes for bind in scope.binds.get(name, ())) or any(
            name in (self.resolver.exports(star.target[0]) or ()) for star in self.names.walk.stars
        )

    def judge(self, tree, old):
        project = self.project(tree, old)
        outside = self.circles(project, tree, old) if project is not None else []
        walk = self.held(tree) or Walk(tree, self.world, self.package, self.world.version >= (3, 14))
        self.names = Names(walk, tree, self.world, self.resolver, self.added).run()
        asked = self.name is not None or self.added is not None
        if self.whole and not self.world.main and not self.kept:
            self.kept = self.resolver.keep(tree, walk, len(self.data))
        self.compiled()
        disk = Disk(self.names, self.resolver, self.path, self.added, self.script, asked).run()
        self.notes += disk.notes
        return (
            self.names.findings + self.unreached() + disk.findings + outside + (self.stars(project) if project else [])
        )

    def held(self, tree):
        """The walk of the file that a neighbour in the tree has asked for already, where it is the same one."""
        summary = self.resolver.summaries.get(os.path.abspath(self.path)) if self.whole else None
        same = summary is not None and summary.tree is tree and summary.walk.package == self.package
        if not same or self.world.main or self.world.version >= (3, 14):
            return None
        self.kept, self.world.flags = True, summary.walk.world.flags
        return summary.walk

    def compiled(self):
        """What only the compiler's later stages refuse: a late __future__, a name used above its `global`."""
        if self.name is None or any(each["rule"] == "P6" for each in self.names.findings):
            return
        try:
            placement.compiles(self.data)
        except placement.ERRORS as error:
            text = "the file does not compile: %s" % placement.said(error)
            rule = "N18" if "global" in str(error) else "P6"
            self.names.findings.append(
                finding(rule, self.name, getattr(error, "lineno", None), text, severity="breaks")
            )

    def project(self, tree, old):
        """The files around, where it is known where they begin: only then can a start be played through."""
        if self.path is None or self.root is None:
            return None
        return loading.Project(self.resolver, os.path.abspath(self.root), os.path.abspath(self.path), old or tree)

    def circles(self, project, tree, old):
        if len(project.files) > loading.MOST_FILES or not os.path.abspath(self.path).startswith(project.root + os.sep):
            return []
        rows, outside = loading.circles(project, old, tree, self.world, self.script)
        if outside and self.script:  # another program loads this file, so it is no script itself
            self.script, self.world.main = False, False
            self.resolver.starts_as("import")
        asked = self.name is not None or self.added is not None
        own = loading.dotted_name(project.root, project.path)
        mine = [row for row in rows if asked or row[0] == project.path or own in row[3]]
        bound = self.asked_name(tree)
        return [
            finding(
                "M4",
                bound(row[1] if row[0] == project.path else None),
                row[1] if row[0] == project.path else None,
                row[2],
                severity="changes" if row[3][0] == "again" else "breaks",
            )
            for row in mine
        ]

    def asked_name(self, tree):
        """The name that an import on that line binds; the name asked for, where the fault is in another file."""
        import ast

        def bound(line):
            for node in ast.walk(tree):
                if isinstance(node, (ast.Import, ast.ImportFrom)) and node.lineno == line:
                    names = [alias.asname or alias.name.partition(".")[0] for alias in node.names]
                    return self.name if self.name in names else names[0]
            return self.name

        return bound

    def unreached(self):
        """P3: an inserted import that never runs, where nothing else binds its name."""
        rows = []
        for scope in self.names.walk.scopes if self.added is not None else ():
            for name, binds in scope.binds.items():
                bound = any(each.imported and not each.arm.dead for each in binds)
                for bind in binds:
                    idle = bind.imported and bind.line in self.added and bind.arm.dead and not _checking(bind.arm)
                    if idle and not bound:
                        text = "line %d is never reached: %s would not be bound" % (bind.line, name)
                        rows.append(finding("P3", name, bind.line, text))
        return rows

    def stars(self, project):
        """N14: a public name that someone's star import of this module brings over another."""
        module = loading.dotted_name(project.root, project.path)
        summary = self.names.walk.module
        if "__all__" in summary.binds or (self.added is None and self.name is None):
            return []
        rows = []
        for name, binds in summary.binds.items():
            fresh = [b for b in binds if b.imported and not b.arm.dead and (self.added is None or b.line in self.added)]
            if (
                not fresh
                or name.startswith("_")
                or (self.name not in (None, name))
                or (self.added is not None and len(fresh) < len(binds))
            ):
                continue
            for file, other, star in project.star_users(module):
                taken = _taken(other, star, name, self.resolver, fresh[0].target)
                if taken:
                    text = "%s of line %d reaches %s through `from %s import *` on line %d and takes %s there"
                    rows.append(
                        finding(
                            "N14",
                            name,
                            fresh[0].line,
                            text % (name, fresh[0].line, os.path.basename(file), module, star.line, taken),
                        )
                    )
        return rows


def _taken(summary, star, name, resolver, target):
    """What a star import would take in its file: a name bound above, or a builtin in use."""
    binds = [bind for bind in summary.live(name) if bind.order < star.order]
    if any(bind.order > star.order for bind in summary.live(name)):
        return None
    if binds and not (binds[-1].imported and resolver.same(binds[-1].target, target)):
        return "%s of line %d" % (name, binds[-1].line)
    loads = [load for scope in summary.walk.scopes for load in scope.loads.get(name, ())]
    if name in BUILTINS and loads and not resolver.same(target, ("builtins", name)):
        return "the builtin that line %d uses" % loads[0].line
    return None


def _checking(arm):
    import ast

    return any(each.test is not None and "TYPE_CHECKING" in ast.dump(each.test) for each in arm.path())


def closed(facts, unknowns, notes):
    """The facts, bounded."""
    facts["count"] = len(facts["findings"])
    facts["findings"] = sorted(facts["findings"], key=lambda each: (each["line"] or 0, each["rule"]))[:SHOWN]
    facts["unknowns"], facts["notes"] = unknowns[:SHOWN], notes[:SHOWN]
    facts["coverage"] = {"lines": facts["lines"], "imports": facts.get("imports", 0)}
    return facts


def target_version(place, python, facts):
    """(major, minor, micro) of the interpreter that will run the file; `facts` get to know which that is."""
    if python == "host":
        version, executable = sys.version_info[:3], sys.executable
    else:
        found = interpreter.find(place, python)
        numbers = tuple(int(part) for part in python.split(".")) if found is None else ()
        version = tuple(found["version"]) if found else numbers + (0,) * (3 - len(numbers))
        executable = found["executable"] if found else None
    facts["python"] = {"version": ".".join(map(str, version)), "executable": executable, "stated": python != "host"}
    return tuple(version)


def tree_of(data, version):
    """(tree, data) under this interpreter's grammar; syntax newer than it, that the target has, is written in older words."""
    try:
        return placement.parse(data), data
    except SyntaxError:
        if version[:2] <= sys.version_info[:2]:
            raise
        older = backport.older(data)
        return placement.parse(older), older


def unparsed(path, error):
    words = "%s does not parse under Python %d.%d.%d: %s"
    words %= (path or "the source", *sys.version_info[:3], placement.said(error))
    return CannotSee("unsupported", words, error=str(error), line=getattr(error, "lineno", None))


def culprit(data, version, error):
    """The import without which a file that does not parse would: it is the one in the wrong place."""
    rows = data.split(b"\n")
    at = getattr(error, "lineno", None) or 0
    for line in (at, at - 1, at - 2, at + 1):
        if 0 < line <= len(rows) and rows[line - 1].lstrip().startswith((b"import ", b"from ")):
            rest = b"\n".join(rows[: line - 1] + rows[line:])
            try:
                tree_of(rest, version)
            except placement.ERRORS:
                continue
            return [placement.broken(rest, line, rows[line - 1].decode("utf-8", "replace"), error)]
    return []


def after(data, inject, line, path):
    """The patched bytes and the set of new lines."""
    if placement.is_diff(inject):
        return placement.patched(data, inject, path or "")
    new = placement.insert(data, inject, line)
    return new, set(range(line, line + inject.rstrip("\n").count("\n") + 1))


def by_name(path, run_as):
    """The file; `/srv/app/pkg.run`, as `-m` and import name it, is `/srv/app/pkg/run.py` where there is no such file."""
    if os.path.exists(path) or run_as == "script":
        return path
    base = os.path.join(os.path.dirname(path), *os.path.basename(path).split("."))
    for file in (
        base + ".py",
        os.path.join(base, "__main__.py") if run_as == "module" else "",
        os.path.join(base, "__init__.py"),
    ):
        if file and os.path.exists(file):
            return file
    return path


def is_script(run_as, data, package):
    """Whether the file is started by its path, so that its own folder is first on sys.path."""
    if run_as == "auto":
        return package is None and (data.startswith(b"#!") or b"__main__" in data)
    return run_as == "script"


def starts(run_as, script):
    """Whether `__name__` is "__main__". A `-m` start makes it so, and so does a script's."""
    return script or run_as == "module"


def package_of(path, root):
    """The dotted package that a file lies in: from the root, or by the __init__.py above it; None for a file in none.

    A folder without one, inside a package that has one, is a namespace part of it.
    """
    if path is None:
        return None
    folder = os.path.dirname(os.path.abspath(path))
    if root is not None and (folder + os.sep).startswith(os.path.abspath(root) + os.sep):
        inner = os.path.relpath(folder, os.path.abspath(root))
        return None if inner == "." else inner.replace(os.sep, ".")
    parts, kept, gap = [], 0, 0
    while gap < MOST_GAP and folder != os.path.dirname(folder):
        packaged = os.path.exists(os.path.join(folder, "__init__.py"))
        folder, part = os.path.split(folder)
        parts.insert(0, part)
        kept, gap = (len(parts), 0) if packaged else (kept, gap + 1)
    return ".".join(parts[len(parts) - kept :]) or None
