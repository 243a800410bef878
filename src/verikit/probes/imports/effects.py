"""What running a module's body does to the process: environment variables, attributes of other modules, global settings."""

import ast
import os

from verikit.probes.imports.conditions import constant, dotted

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
    "logging.getLogger": None,
    "decimal.getcontext": "decimal context",
    "warnings.warn": "warnings filters",
    "socket.getdefaulttimeout": "socket.setdefaulttimeout",
}


class Effects:
    """reads: {what: line}, writes: {what: [(order, line, deferred)]}, uses: what the code relies on, later calls included."""

    def __init__(self):
        self.reads, self.writes, self.uses = {}, {}, {}

    def write(self, what, order, line):
        self.writes.setdefault(what, []).append((order, line, False))

    def use(self, what, order, line, deferred):
        self.uses.setdefault(what, []).append((order, line, deferred))
        if not deferred:
            self.reads.setdefault(what, line)


def effects_of(walk, tree):
    """The effects of a module's own code."""
    effects = Effects()
    modules = {name: bind.target for name, binds in walk.module.binds.items() for bind in binds if bind.imported}
    called = {call[0] for call in walk.module.calls}
    for node in tree.body:
        _visit(node, effects, modules, called, False)
    return effects


def _visit(node, effects, modules, called, deferred):
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        deferred = deferred or node.name not in called
    elif isinstance(node, ast.Lambda):
        deferred = True
    _note(node, effects, modules, deferred)
    for child in ast.iter_child_nodes(node):
        _visit(child, effects, modules, called, deferred)


def _full(node, modules):
    """The dotted name with the import resolved: `environ.get` after `from os import environ` is `os.environ.get`."""
    text = dotted(node)
    if text is None:
        return None
    head, _, rest = text.partition(".")
    target = modules.get(head)
    if target is None:
        return None
    base = target[0] if target[1] is None else "%s.%s" % target
    return "%s.%s" % (base, rest) if rest else base


def _note(node, effects, modules, deferred):
    if isinstance(node, ast.Subscript) and _full(node.value, modules) == "os.environ":
        key = constant(getattr(node.slice, "value", node.slice) if type(node.slice).__name__ == "Index" else node.slice)
        if key[0]:
            what = ("env", "os.environ[%r]" % (key[1],))
            if isinstance(node.ctx, ast.Load):
                effects.use(what, node.lineno, node.lineno, deferred)
            elif not deferred:
                effects.write(what, node.lineno, node.lineno)
    elif isinstance(node, ast.Call):
        _call(node, effects, modules, deferred)
    elif isinstance(node, ast.Attribute):
        full = _full(node, modules)
        if full and isinstance(node.ctx, ast.Load):
            effects.use(("attr", full), node.lineno, node.lineno, deferred)
            if full.startswith("random."):
                effects.use(("set", "random"), node.lineno, node.lineno, deferred)
        elif full and not deferred:
            effects.write(("attr", full), node.lineno, node.lineno)
    elif (
        isinstance(node, ast.Compare)
        and len(node.comparators) == 1
        and _full(node.comparators[0], modules) == "os.environ"
    ):
        key = constant(node.left)
        if key[0]:
            effects.use(("env", "os.environ[%r]" % (key[1],)), node.lineno, node.lineno, deferred)
    elif isinstance(node, ast.ImportFrom) and not node.level and not deferred:
        for alias in node.names:
            effects.use(("attr", "%s.%s" % (node.module, alias.name)), node.lineno, node.lineno, deferred)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in modules:
        effects.use(("attr", "builtins.%s" % node.id), node.lineno, node.lineno, deferred)


def _call(node, effects, modules, deferred):
    full = _full(node.func, modules) or dotted(node.func)
    first = constant(node.args[0]) if node.args else (False, None)
    if full in ("os.environ.get", "os.getenv", "os.environ.pop") and first[0]:
        effects.use(("env", "os.environ[%r]" % (first[1],)), node.lineno, node.lineno, deferred)
    elif full in ("os.environ.setdefault", "os.putenv") and first[0] and not deferred:
        effects.write(("env", "os.environ[%r]" % (first[1],)), node.lineno, node.lineno)
    elif full == "os.environ.update" and not deferred:
        keys = [word.arg for word in node.keywords if word.arg]
        for argument in node.args:
            if isinstance(argument, ast.Dict):
                keys += [constant(key)[1] for key in argument.keys if key is not None]
        for key in keys:
            effects.write(("env", "os.environ[%r]" % (key,)), node.lineno, node.lineno)
    elif full == "setattr" and len(node.args) > 1 and not deferred:
        base, name = _full(node.args[0], modules), constant(node.args[1])
        if base and name[0]:
            effects.write(("attr", "%s.%s" % (base, name[1])), node.lineno, node.lineno)
    if full in SETTERS:
        what = ("set", SETTERS[full])
        effects.use(what, node.lineno, node.lineno, deferred)
        if not deferred:
            effects.write(what, node.lineno, node.lineno)
    elif USERS.get(full):
        effects.use(("set", USERS[full]), node.lineno, node.lineno, deferred)
    elif full == "open" and first[0] and isinstance(first[1], str) and not first[1].startswith("/"):
        effects.use(("set", "the working directory"), node.lineno, node.lineno, deferred)


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
