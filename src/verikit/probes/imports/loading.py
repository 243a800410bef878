"""Loading, played through on paper: which module is loaded when, and what it has by then."""

import ast
import os
import re
from collections import deque

from verikit.probes.imports.conditions import World, dotted, takes, truth
from verikit.probes.imports.effects import Effects, effects_of
from verikit.probes.imports.scopes import absolute, is_fallback

MOST_STEPS = 20000
MOST_FILES = 300
MOST_DEPTH = 60
MOST_STANDARD = 600  # modules that a search through the standard library comes to
MOST_TEXT = 1 << 20
MOST_WRONG = 20
# An import statement, or the first line of a def or class at column 0, or of something else there.
IMPORTS = re.compile(
    r"^(?:(?P<later>(?:async[ \t]+def|def|class|@)(?=\W))"
    r"|(?P<indent>[ \t]*)(?:from[ \t]+(?P<module>[.\w]+)[ \t]+import[ \t]*(?P<names>\([^)]*\)|[^\n#;]*)"
    r"|import[ \t]+(?P<plain>[^\n#;]+))"
    r"|(?=[^\s#)\]}]))",
    re.M,
)
IMPORT_ERRORS = ("ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def reaches(resolver, module, names, taken=None):
    """(importer, name, what it lacks) of the first of these names that loading the module asks for by itself; or None.

    taken: what is used of the module; its functions that this does not come to ask for nothing.
    """
    said = resolver.shared.setdefault("reaches", {})
    key = module, frozenset(names), None if taken is None else frozenset(taken)
    if key not in said:
        said[key] = _reaches(resolver, module, names, taken)
    return said[key]


def _reaches(resolver, module, names, taken):
    wrong = set()  # steps that only the text takes: the search goes on without them
    for _ in range(MOST_WRONG):
        came, found = {module: None}, len(wrong)
        for name, head in _met(resolver, module, names, came, wrong):
            false = [step for step in _steps(came, name) if not _asks_for(resolver, *step)]
            lacks = None if false else _lacking(resolver, name, head, taken)
            if lacks is not None:
                return name, head, lacks
            wrong.update(false)
        if len(wrong) == found:
            break
    return None


def _met(resolver, module, names, came, wrong):
    """(importer, name) wherever the standard modules that loading one comes to ask for one of the names."""
    waiting, std = deque([module]), frozenset(resolver.known["stdlib"])
    while waiting and len(came) < MOST_STANDARD:
        name = waiting.popleft()
        if name.partition(".")[0] not in std or name.partition(".")[0] in names:
            continue
        for wanted in asks(resolver, name):
            head = wanted.partition(".")[0]
            if head in names:
                yield name, head
            elif wanted not in came and (name, wanted) not in wrong:
                came[wanted] = name
                waiting.append(wanted)


def _steps(came, name):
    """(importer, imported) from a module back to where the search began."""
    while came[name] is not None:
        yield came[name], name
        name = came[name]


def asks(resolver, name):
    """The modules that loading a standard one asks for, by its text: quick, and now and then one too many."""
    cache, found = resolver.shared.setdefault("asks", {}), resolver.find(name)
    if found is None or found.kind not in ("source", "package"):
        return ()
    if found.file not in cache:
        try:
            with resolver.place.open(found.file) as raw:
                text = raw.read(MOST_TEXT).decode("utf-8", "replace")
        except OSError:
            text = ""
        package = name if found.kind == "package" else name.rpartition(".")[0]
        cache[found.file] = tuple(_asked(text, package.split(".") if package else []))
    return cache[found.file]


def _asked(text, package):
    later, every = False, {}
    for row in IMPORTS.finditer(text):
        later = row["later"] is not None or (later and row["indent"] not in (None, ""))
        if row["indent"] is None or later:
            continue
        for wanted in _spelled_out(row, package):
            parts = wanted.split(".")
            every.update((".".join(parts[: at + 1]), None) for at in range(len(parts)))  # with the packages around it
    return every


def _spelled_out(row, package):
    if row["plain"]:
        return [each.split()[0] for each in row["plain"].split(",") if each.split()]
    rest = row["module"].lstrip(".")
    level = len(row["module"]) - len(rest)
    base = ".".join(package[: len(package) - level + 1] + ([rest] if rest else [])) if level else rest
    names = [each.split()[0] for each in row["names"].strip("() ").split(",") if each.split()]
    return [base, *("%s.%s" % (base, name) for name in names if name.isidentifier())]


def _asks_for(resolver, name, wanted):
    """Whether loading the first module loads the second, by its tree."""
    return any(_loads(each, wanted) for _, _, each in _imports(resolver, name))


def _loads(module, wanted):
    return module == wanted or module.startswith(wanted + ".")


def _imports(resolver, name):
    """(node, alias, module) of the imports that run when a module is loaded; `from a import b` as `a.b`."""
    summary, found = resolver.summary(name), resolver.find(name)
    if summary is None:
        return
    package = name if found.kind == "package" else name.rpartition(".")[0]
    for node, alias, wanted, _, arm, scope in summary.walk.imports:
        if scope.kind != "function" and not arm.dead and not is_fallback(arm):
            plain = isinstance(node, ast.Import)
            yield node, alias, wanted if plain else "%s.%s" % (absolute(node, package), alias.name)


def _lacking(resolver, name, head, taken):
    for node, alias, wanted in _imports(resolver, name):
        if wanted.partition(".")[0] == head and not getattr(node, "level", 0):
            module = wanted if isinstance(node, ast.Import) else node.module
            lacks = _lacks(resolver, resolver.summary(name), node, alias, module, taken)
            if lacks is not None:
                return lacks
    return None


def _lacks(resolver, summary, node, alias, wanted, taken):
    """What the local file does not have of what the importer takes from it."""
    local = resolver.summary(wanted)
    if local is None:
        return alias.name
    if isinstance(node, ast.ImportFrom):
        return None if alias.name == "*" or local.live(alias.name) else alias.name
    bound = alias.asname or wanted
    for statement in _reached(summary.tree, taken):
        for part in ast.walk(statement):
            if (
                isinstance(part, ast.Attribute)
                and isinstance(part.value, ast.Name)
                and part.value.id == bound
                and not part.attr.startswith("__")  # every module has those
                and not local.live(part.attr)
            ):
                return part.attr
    return None


def _reached(tree, taken):
    """The statements of a module that run at its load, or when something of one of these names is used."""
    if taken is None:
        return tree.body
    waiting, later = [], {}
    for statement in tree.body:
        _sort_out(statement, None, waiting, later)
    reached, names = [], set(taken)
    while waiting:
        reached += waiting
        names.update(p.id for s in waiting for p in ast.walk(s) if isinstance(p, ast.Name))
        waiting = [s for name in names & later.keys() for s in later.pop(name)]
    return reached


def _sort_out(statement, owner, now, later):
    """What runs at load into `now`; functions, and the methods of a class, under the name that leads to them."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        later.setdefault(owner or statement.name, []).append(statement)
        now += statement.decorator_list
    elif isinstance(statement, ast.ClassDef):
        now += statement.bases + statement.decorator_list
        for inner in statement.body:
            _sort_out(inner, owner or statement.name, now, later)
    else:
        now.append(statement)


def effects(resolver, module, depth=0, seen=None):
    """The effects of loading a module of the project, and of what it loads in its turn."""
    seen = set() if seen is None else seen
    total = Effects()
    found = resolver.find(module)
    if module in seen or depth > 4 or found is None or found.entry is None or not _own(resolver, found):
        return total
    seen.add(module)
    summary = resolver.summary(module)
    if summary is None:
        return total
    own = effects_of(summary.walk, summary.tree)
    total.reads.update(own.reads)
    total.writes.update(own.writes)
    package = module if found.kind == "package" else module.rpartition(".")[0]
    for node, _alias, wanted, _, arm, scope in summary.walk.imports:
        if scope.kind == "function" or arm.dead:
            continue
        inner = effects(
            resolver, absolute(node, package) if isinstance(node, ast.ImportFrom) else wanted, depth + 1, seen
        )
        total.reads.update(inner.reads)
        total.writes.update(inner.writes)
    return total


def _own(resolver, found):
    """Whether the file is neither the standard library's nor an installed one."""
    folder = os.path.abspath(found.entry)
    return folder not in [os.path.abspath(each) for each in resolver.known["path"]] or folder == resolver.root


class Project:
    """The Python files beneath a root, by their dotted names, and which of them load which."""

    def __init__(self, resolver, root, path, tree):
        self.resolver, self.root, self.path, self.tree = resolver, root, path, tree
        self.files = _files(root)
        self.names = {dotted_name(root, file): file for file in self.files}

    def load_edges(self, file):
        """The files of the project that loading this one asks for."""
        summary = self.resolver.read(file, self.package(file))
        if summary is None:
            return set()
        edges = set()
        for node, alias, module, _, arm, scope in summary.walk.imports:
            if scope.kind == "function" or arm.dead:
                continue
            for name in (module, "%s.%s" % (module, alias.name) if isinstance(node, ast.ImportFrom) else module):
                target = self.locate(name, file)
                if target is not None:
                    edges.add(target)
        return edges - {file}

    def package(self, file):
        name = dotted_name(self.root, file)
        return name if file.endswith("__init__.py") else name.rpartition(".")[0]

    def locate(self, name, file):
        """The project's file of that dotted name, from the root or, for a script, from its folder."""
        if name in self.names:
            return self.names[name]
        beside = os.path.relpath(os.path.dirname(file), self.root).replace(os.sep, ".")
        return (
            self.names.get("%s.%s" % (beside, name))
            if beside != "." and "__init__.py" not in os.listdir(os.path.dirname(file))
            else None
        )

    def closure(self, file):
        seen, waiting = set(), [file]
        while waiting:
            at = waiting.pop()
            for each in self.load_edges(at):
                if each not in seen:
                    seen.add(each)
                    waiting.append(each)
        return seen

    def outside(self):
        """Programs that load this file and are not loaded by it: then the start is theirs."""
        if len(self.files) > MOST_FILES:
            return []
        mine = self.closure(self.path)
        users = [
            file for file in self.files if file != self.path and file not in mine and self.path in self.closure(file)
        ]
        loaded = {each for file in users for each in self.load_edges(file)}
        starts = [file for file in users if file not in loaded] or users
        return [file for file in starts if "." not in dotted_name(self.root, file)] or starts

    def star_users(self, module):
        """Files that say `from <module> import *`."""
        for file in self.files:
            summary = self.resolver.read(file, self.package(file))
            if summary is None or file == self.path:
                continue
            for star in summary.walk.stars:
                if star.target[0] == module and not star.arm.dead:
                    yield file, summary, star


def _files(root):
    found = []
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(
            each
            for each in inner
            if not each.startswith(".") and each != "__pycache__" and not each.endswith((".dist-info", ".egg-info"))
        )
        found += [os.path.join(folder, name) for name in sorted(names) if name.endswith(".py")]
        if len(found) > MOST_FILES:
            break
    return found


def dotted_name(root, file):
    parts = os.path.relpath(file, root)[:-3].split(os.sep)
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


class Play:
    """One start, played through. `faults`: {key: (file, line, text)} of imports that find a module half loaded."""

    def __init__(self, project, trees, world):
        self.project, self.trees, self.world = project, trees, world
        self.modules, self.faults, self.steps, self.guards = {}, {}, 0, 0
        self.program = None

    def start(self, file, script):
        name = dotted_name(self.project.root, file)
        if script:
            self.program = name
            self._body("__main__", file, True)
        else:
            self.load(name, file)
        return self

    def load(self, name, asker):
        """Loads a module of the project with its packages, once."""
        parent = name.rpartition(".")[0]
        if parent:
            self.load(parent, asker)
        if name in self.modules or name not in self.project.names:
            return
        if len(self.modules) > MOST_DEPTH * 5:
            return
        if name == self.program:
            self.faults.setdefault(
                ("again", name),
                (
                    asker,
                    0,
                    "%s runs twice: as the program and, imported by name, as %s"
                    % (os.path.basename(self.project.names[name]), name),
                ),
            )
        self._body(name, self.project.names[name], False)
        if parent in self.modules:
            self.modules[parent]["names"][name.rpartition(".")[2]] = name

    def _body(self, name, file, main):
        tree = self.trees.get(file)
        if tree is None:
            summary = self.project.resolver.read(file, self.project.package(file))
            tree = summary.tree if summary is not None else None
        state = {"names": {}, "done": False, "file": file, "defs": {}, "depth": 0, "open": tree is None}
        self.modules[name] = state
        if tree is not None:
            self._block(tree.body, state, World(self.world.version, self.world.platform, main))
        state["done"] = True

    def _block(self, body, state, world):
        for node in body:
            self.steps += 1
            if self.steps > MOST_STEPS:
                return
            self._statement(node, state, world)

    def _statement(self, node, state, world):
        STATEMENTS.get(type(node), Play._other)(self, node, state, world)

    def _import(self, node, state, _):
        for alias in node.names:
            self.load(alias.name, state["file"])
            top = alias.name.partition(".")[0]
            state["names"][alias.asname or top] = alias.name if alias.asname else top

    def _function(self, node, state, world):
        for part in node.decorator_list + node.args.defaults:
            self._expression(part, state, world)
        state["names"][node.name] = None
        state["defs"][node.name] = node

    def _class(self, node, state, world):
        for part in node.decorator_list + node.bases:
            self._expression(part, state, world)
        inner = dict(state, names=dict(state["names"]))
        self._block([each for each in node.body if not isinstance(each, FUNCTIONS)], inner, world)
        state["names"][node.name] = None
        state["defs"][node.name] = next((each for each in node.body if getattr(each, "name", "") == "__init__"), None)

    def _if(self, node, state, world):
        known = truth(node.test, world)
        self._expression(node.test, state, world)
        if known is not False:
            self._block(node.body, state, world)
        if known is not True:
            self._block(node.orelse, state, world)

    def _try(self, node, state, world):
        guard = takes(node.handlers, IMPORT_ERRORS)
        self.guards += guard
        self._block(node.body, state, world)
        self.guards -= guard
        self._block(node.orelse + node.finalbody, state, world)
        self.guards += 1  # handlers run only sometimes: what they bind is bound, what they miss is forgiven
        for handler in node.handlers:
            self._block(handler.body, state, world)
        self.guards -= 1

    def _compound(self, node, state, world):
        """A loop or a `with`: its body is taken to run once."""
        for part in (getattr(node, "iter", None), getattr(node, "test", None)):
            if part is not None:
                self._expression(part, state, world)
        self._bind_all(node, state["names"])
        self._block(node.body + getattr(node, "orelse", []), state, world)

    def _delete(self, node, state, world):
        self._other(node, state, world)
        for target in node.targets:
            state["names"].pop(getattr(target, "id", None), None)

    def _assign(self, node, state, world):
        self._other(node, state, world)
        target = node.targets[0] if len(node.targets) == 1 else None
        if isinstance(node.value, ast.Name) and isinstance(target, ast.Name):
            state["names"][target.id] = state["names"].get(node.value.id)

    def _other(self, node, state, world):
        value = getattr(node, "value", None)
        self._expression(value if isinstance(value, ast.AST) else node, state, world)
        self._bind_all(node, state["names"])

    @staticmethod
    def _bind_all(node, names):
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                names[part.id] = None

    def _from(self, node, state, _):
        module = absolute(node, self.project.package(state["file"]))
        self.load(module, state["file"])
        held = self.modules.get(module)
        for alias in node.names:
            if held is None:
                state["names"][alias.asname or alias.name] = None
                continue
            if alias.name == "*":
                state["names"].update(held["names"])
                continue
            sub = "%s.%s" % (module, alias.name)
            if alias.name not in held["names"] and sub in self.project.names:
                self.load(sub, state["file"])
                held["names"].setdefault(alias.name, sub)
            if alias.name not in held["names"] and not held["done"] and not held["open"]:
                self._fault(state, node, module, alias.name)
            state["names"][alias.asname or alias.name] = held["names"].get(alias.name)
            if alias.name in held["defs"]:
                state["defs"].setdefault(alias.asname or alias.name, held["defs"][alias.name])

    def _fault(self, state, node, module, name):
        if self.guards:
            return
        text = "%s line %d needs %s of %s, which is still being loaded and has not bound it yet (a circular import)"
        where = os.path.basename(state["file"])
        self.faults.setdefault(
            (state["file"], module, name), (state["file"], node.lineno, text % (where, node.lineno, name, module))
        )

    def _expression(self, node, state, world):
        for part in _run_now(node):
            if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Load):
                self._attribute(part, state)
            elif isinstance(part, ast.Call):
                self._call(part, state, world)

    def _attribute(self, node, state):
        text = dotted(node.value)
        if text is None:
            return
        head, _, rest = text.partition(".")
        module = state["names"].get(head)
        if module is not None and rest:
            module = "%s.%s" % (module, rest)
        held = self.modules.get(module) if module else None
        if held is None or held["done"] or held["open"] or node.attr in held["names"] or node.attr.startswith("__"):
            return
        self._fault(state, node, module, node.attr)

    def _call(self, node, state, world):
        """A function of the project that is called while loading runs its own imports and reads then."""
        name, owner = dotted(node.func), state
        if name is None or state["depth"] > 6:
            return
        if "." in name:
            module = state["names"].get(name.partition(".")[0])
            owner, name = self.modules.get(module), name.rpartition(".")[2]
            if owner is None:
                return
        body = owner["defs"].get(name)
        if body is None:
            return
        home = (
            next(
                (m for m in self.modules.values() if m["defs"].get(name) is body and m["file"] != state["file"]), owner
            )
            if owner is state and name not in _defined(self.trees, state)
            else owner
        )
        inner = dict(home, names=dict(home["names"]), depth=state["depth"] + 1)
        self._block(body.body, inner, world)


STATEMENTS = {
    ast.Import: Play._import,
    ast.ImportFrom: Play._from,
    ast.FunctionDef: Play._function,
    ast.AsyncFunctionDef: Play._function,
    ast.ClassDef: Play._class,
    ast.If: Play._if,
    ast.Try: Play._try,
    getattr(ast, "TryStar", ast.Try): Play._try,  # Python 3.11 and newer
    ast.For: Play._compound,
    ast.AsyncFor: Play._compound,
    ast.While: Play._compound,
    ast.With: Play._compound,
    ast.AsyncWith: Play._compound,
    ast.Assign: Play._assign,
    ast.Delete: Play._delete,
}


def _defined(trees, state):
    tree = trees.get(state["file"])
    return (
        {each.name for each in tree.body if isinstance(each, (ast.FunctionDef, ast.ClassDef))}
        if tree is not None
        else state["defs"]
    )


def _run_now(node):
    waiting = [node]
    while waiting:
        part = waiting.pop()
        yield part
        if not isinstance(part, (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef)):
            waiting.extend(ast.iter_child_nodes(part))


def circles(project, tree_before, tree_after, world, script):
    """[(file, line, text, key)] of circular imports that a start of the program meets, and did not meet before."""
    outside = project.outside()
    starts = [(file, script) for file in outside] or [(project.path, script)]
    rows = {}
    for file, as_script in starts[:12]:
        old = (
            Play(project, {project.path: tree_before}, world).start(file, as_script).faults
            if tree_before is not None
            else {}
        )
        new = Play(project, {project.path: tree_after}, world).start(file, as_script).faults
        for key, row in new.items():
            if key not in old:
                rows.setdefault(key, row)
    return [(*row, key) for key, row in rows.items()], bool(outside)
