"""What running a module's body does to the process: environment variables, attributes of other modules, global settings."""

import ast
import os

from verikit.probes.imports.conditions import constant, dotted, index_of

# Calls that set something for the whole process; a second one, or code that relies on it, sees the first.
SETTERS = {
    "logging.basicConfig": "logging.basicConfig",
    "random.seed": "random",
    "sys.setrecursionlimit": "sys.setrecursionlimit",
    "locale.setlocale": "locale.setlocale",
    "warnings.simplefilter": "warnings filters",
    "warnings.filterwarnings": "warnings filters",
    "socket.setdefaulttimeout": "socket.setdefaulttimeout",
    "multiprocessing.set_start_method": "multiprocessing.set_start_method",
    "os.chdir": "the working directory",
    "signal.signal": "signal handlers",
    "faulthandler.enable": "faulthandler",
    "decimal.getcontext": "decimal context",
}
USERS = {
    "random": "random",
    "os.getcwd": "the working directory",
    "os.path.abspath": "the working directory",
    "sys.getrecursionlimit": "sys.setrecursionlimit",
    "decimal.getcontext": "decimal context",
    "warnings.warn": "warnings filters",
    "socket.getdefaulttimeout": "socket.setdefaulttimeout",
}
ENVIRONMENT_READ = ("os.environ.get", "os.getenv", "os.environ.pop")
ENVIRONMENT_SET = ("os.environ.setdefault", "os.putenv")


class Effects:
    """reads: {what: line}, writes: {what: [line]}, uses: {what: [(line, deferred)]}, which later calls rely on too."""

    def __init__(self):
        self.reads, self.writes, self.uses = {}, {}, {}

    def write(self, what, line):
        self.writes.setdefault(what, []).append(line)

    def use(self, what, line, deferred):
        self.uses.setdefault(what, []).append((line, deferred))
        if not deferred:
            self.reads.setdefault(what, line)


def effects_of(walk, tree):
    """The effects of a module's own code."""
    modules = {name: bind.target for name, binds in walk.module.binds.items() for bind in binds if bind.imported}
    body = _Body(modules, {call[0] for call in walk.module.calls})
    for node in tree.body:
        body.visit(node, False)
    return body.effects


class _Body:
    """Notes the effects of one node after the other. deferred: in a function that nothing calls at load."""

    def __init__(self, modules, called):
        self.modules, self.called, self.effects = modules, called, Effects()

    def visit(self, node, deferred):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            deferred = deferred or node.name not in self.called
        elif isinstance(node, ast.Lambda):
            deferred = True
        note = NOTED.get(type(node))
        if note is not None:
            note(self, node, deferred)
        for child in ast.iter_child_nodes(node):
            self.visit(child, deferred)

    def use(self, what, node, deferred):
        self.effects.use(what, node.lineno, deferred)

    def write(self, what, node, deferred):
        if not deferred:
            self.effects.write(what, node.lineno)

    def full(self, node):
        """The dotted name with the import resolved: `environ.get` after `from os import environ` is `os.environ.get`."""
        head, _, rest = (dotted(node) or "").partition(".")
        target = self.modules.get(head)
        if target is None:
            return None
        base = target[0] if target[1] is None else "%s.%s" % target
        return "%s.%s" % (base, rest) if rest else base

    def _subscript(self, node, deferred):
        known, key = constant(index_of(node))
        if known and self.full(node.value) == "os.environ":
            (self.use if isinstance(node.ctx, ast.Load) else self.write)(_variable(key), node, deferred)

    def _compare(self, node, deferred):
        known, key = constant(node.left)
        if known and len(node.comparators) == 1 and self.full(node.comparators[0]) == "os.environ":
            self.use(_variable(key), node, deferred)

    def _attribute(self, node, deferred):
        full = self.full(node)
        if not full:
            return
        loaded = isinstance(node.ctx, ast.Load)
        (self.use if loaded else self.write)(("attr", full), node, deferred)
        if loaded and full.startswith("random."):
            self.use(("set", "random"), node, deferred)

    def _import_from(self, node, deferred):
        if not node.level and not deferred:
            for alias in node.names:
                self.use(("attr", "%s.%s" % (node.module, alias.name)), node, deferred)

    def _name(self, node, deferred):
        if isinstance(node.ctx, ast.Load) and node.id not in self.modules:
            self.use(("attr", "builtins.%s" % node.id), node, deferred)

    def _call(self, node, deferred):
        full = self.full(node.func) or dotted(node.func)
        known, first = constant(node.args[0]) if node.args else (False, None)
        if full in ENVIRONMENT_READ and known:
            self.use(_variable(first), node, deferred)
        elif full in ENVIRONMENT_SET and known:
            self.write(_variable(first), node, deferred)
        elif full == "os.environ.update":
            for key in _keys(node):
                self.write(_variable(key), node, deferred)
        elif full == "setattr":
            self._setattr(node, deferred)
        elif full in SETTERS:
            self.use(("set", SETTERS[full]), node, deferred)
            self.write(("set", SETTERS[full]), node, deferred)
        elif full in USERS:
            self.use(("set", USERS[full]), node, deferred)
        elif full == "open" and isinstance(first, str) and not first.startswith("/"):
            self.use(("set", "the working directory"), node, deferred)

    def _setattr(self, node, deferred):
        base = self.full(node.args[0]) if len(node.args) > 1 else None
        known, name = constant(node.args[1]) if base else (False, None)
        if known:
            self.write(("attr", "%s.%s" % (base, name)), node, deferred)


NOTED = {
    ast.Subscript: _Body._subscript,
    ast.Compare: _Body._compare,
    ast.Attribute: _Body._attribute,
    ast.ImportFrom: _Body._import_from,
    ast.Name: _Body._name,
    ast.Call: _Body._call,
}


def _variable(key):
    return "env", "os.environ[%r]" % (key,)


def _keys(call):
    """The keys that `os.environ.update(…)` sets, as far as they can be read off."""
    mappings = [argument for argument in call.args if isinstance(argument, ast.Dict)]
    written = [constant(key)[1] for mapping in mappings for key in mapping.keys if key is not None]
    return [word.arg for word in call.keywords if word.arg] + written


def path_changes(walk, path):
    """[(order, folder, ahead)] of what the module puts on sys.path itself, where the folder can be read off the text.

    ahead: before everything that is there, the program's own folder included.
    """
    rows = []
    for name, call, order, arm, scope in walk.specials:
        if (
            arm.dead
            or scope.kind == "function"
            or dotted(getattr(call.func, "value", None)) not in ("sys.path", "path")
        ):
            continue
        if name in (".insert", ".append") and call.args:
            folder = folder_of(call.args[-1], path, walk)
            if folder is not None:
                rows.append((order, folder, name == ".insert" and constant(call.args[0]) == (True, 0)))
    return rows


def folder_of(node, path, walk, depth=0):
    """The folder that an expression over constants and __file__ means, or None."""
    here = os.path.abspath(path) if path else None
    if isinstance(node, ast.Constant):
        if not isinstance(node.value, str):
            return None
        return os.path.normpath(os.path.join(os.path.dirname(here or "/"), node.value))
    if isinstance(node, ast.Name):
        if node.id == "__file__":
            return here
        binds = walk.module.binds.get(node.id, ())
        if len(binds) == 1 and binds[0].kind == "assign" and depth < 8:
            return folder_of(binds[0].node.value, path, walk, depth + 1)
        return None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        base = folder_of(node.left, path, walk, depth + 1)
        known, part = constant(node.right)
        return os.path.normpath(os.path.join(base, part)) if base and known and isinstance(part, str) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        base, (known, part) = folder_of(node.left, path, walk, depth + 1), constant(node.right)
        return os.path.normpath(base + part) if base and known and isinstance(part, str) else None
    if isinstance(node, ast.Attribute) and node.attr == "parent":
        base = folder_of(node.value, path, walk, depth + 1)
        return os.path.dirname(base) if base else None
    return _folder_call(node, path, walk, depth) if isinstance(node, ast.Call) else None


def _folder_call(node, path, walk, depth):
    tail = (dotted(node.func) or "").rpartition(".")[2] or getattr(node.func, "attr", "")
    if tail in ("dirname", "abspath", "realpath", "str", "Path", "resolve", "absolute", "normpath", "fspath", "join"):
        inner = node.args[0] if node.args else getattr(node.func, "value", None)
        base = folder_of(inner, path, walk, depth + 1) if inner is not None else None
        if base is None:
            return None
        if tail == "dirname":
            return os.path.dirname(base)
        if tail == "join":
            parts = [constant(each) for each in node.args[1:]]
            return (
                os.path.normpath(os.path.join(base, *(p for _, p in parts)))
                if all(k and isinstance(p, str) for k, p in parts)
                else None
            )
        return base
    return None
