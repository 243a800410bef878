"""The rules N8, N9 and N14 to N16: names that the file's text does not bind, taken, brought or hidden by an import.

They are the builtins, what Python gives to a module, what a star import brings, and what a module's __getattr__ serves.
"""

import ast
import builtins

from verikit.probes.imports.bindings import conditional, conditional_arm, placeholder
from verikit.probes.imports.conditions import constant
from verikit.probes.imports.scopes import exclusive, spelled

BUILTINS = frozenset(dir(builtins))
# What Python binds in every module before its first line runs, or reads off it afterwards.
MODULE_NAMES = ("__name__", "__file__", "__doc__", "__package__", "__spec__", "__loader__", "__path__", "__builtins__")


# Star imports: N8.


def stars(names):
    for star in names.walk.stars:
        if star.arm.dead:
            continue
        brought = names.resolver.exports(star.target[0])
        if brought is None:
            _dark_star(names, star)
            continue
        missing = names.resolver.missing_exports(star.target[0])
        if missing:
            text = "__all__ of %s names %s, which it does not have: the star import of line %d raises"
            names.conflict(
                "N8", missing[0], star.line, text % (star.target[0], missing[0], star.line), severity="breaks"
            )
        _star_takes(names, star, brought)


def _star_takes(names, star, brought):
    scope = star.scope
    for name in sorted(brought & set(scope.binds)):
        before = [b for b in names.events(scope, name) if b.order < star.order and not exclusive(b.arm, star.arm)]
        if not before or before[-1].kind == "del":
            continue
        first = before[-1]
        if not first.imported and names.added is None and first.kind != "def" and first.kind != "class":
            continue
        if any(b.order > star.order and not conditional(star, b) for b in names.events(scope, name)):
            continue  # bound anew below, and judged there
        same = names.resolver.same(first.target, (star.target[0], name)) if first.imported else False
        if same or (conditional(first, star) and names.added is None) or placeholder(first):
            continue
        if same is None:
            names.untold(
                star.line,
                "whether `from %s import *` brings another %s can't be told" % (star.target[0], name),
                name,
            )
            continue
        text = "%s of line %d is taken by `from %s import *` on line %d" % (
            name,
            first.line,
            star.target[0],
            star.line,
        )
        names.conflict(
            "N8",
            name,
            first.line if first.imported else star.line,
            text,
            star.line if first.imported else first.line,
            _any_use(names, name),
        )
    if names.added is None or star.line in names.added:
        _star_builtins(names, star, brought)


def _any_use(names, name):
    return min((load.line for scope in names.walk.scopes for load in scope.loads.get(name, ())), default=None)


def _star_builtins(names, star, brought):
    for name in sorted(brought & BUILTINS - {"__doc__", "__name__"}):
        if name in names.module.binds or names.resolver.same((star.target[0], name), ("builtins", name)):
            continue
        loads = [
            load
            for scope in names.walk.scopes
            for load in scope.loads.get(name, ())
            if names.home(scope, name)[0] is names.module
        ]
        shape = _builtin_shape(names, loads, (star.target[0], name))
        if loads and (names.added is not None or shape is not None):
            text = "`from %s import *` on line %d takes the builtin %s, used on line %d"
            line = (shape or loads[0]).line
            names.conflict("N9", name, star.line, text % (star.target[0], star.line, name, line), None, line)


def _dark_star(names, star):
    """A star import from a module that can't be found may take any name bound above it."""
    above = [
        name
        for name in sorted(names.interesting & set(star.scope.binds))
        if any(b.imported and b.order < star.order for b in star.scope.binds[name])
        and not any(b.order > star.order for b in star.scope.binds[name])
        and not name.startswith("_")
    ]
    if above or names.added:
        text = "which names `from %s import *` on line %d brings can't be told: "
        text += "the module was not found, or fills itself as it runs"
        names.unknowns.append(
            {
                "name": None,
                "line": star.line,
                "other": None,
                "message": text % (star.target[0], star.line),
                "takes": sorted(above)[:50],
            }
        )


# Builtins: N9.


def builtin_names(names):
    for scope in names.walk.scopes:
        for name in sorted(scope.binds.keys() & BUILTINS):
            for bind in scope.binds[name]:
                if bind.imported and not bind.arm.dead and name not in MODULE_NAMES:
                    _builtin(names, scope, name, bind)
                    break


def _builtin(names, scope, name, bind):
    if scope.kind == "class" or names.resolver.same(bind.target, ("builtins", name)):
        return
    inline, later = names.reads(scope, name)
    loads = [
        load for load in [*inline, *later] if not load.soft and not load.arm.dead and not exclusive(bind.arm, load.arm)
    ]
    if conditional_arm(bind.arm) and names.added is None:
        return
    if names.added is not None:
        if loads and bind.line in names.added:
            old = [load for load in loads if load.line not in names.added]
            if old:
                text = "%s of line %d takes the builtin's name, which line %d uses" % (
                    spelled(bind.target),
                    bind.line,
                    old[0].line,
                )
                names.conflict("N9", name, bind.line, text, None, old[0].line)
        return
    early = [load for load in inline if load.order < bind.order]
    shape = early[0] if early else _builtin_shape(names, loads, bind.target)
    if shape is not None:
        text = "%s of line %d takes the name of the builtin that line %d means" % (
            spelled(bind.target),
            bind.line,
            shape.line,
        )
        names.conflict("N9", name, bind.line, text, None, shape.line)
    elif loads:
        names.notes.append("line %d imports %s over the builtin" % (bind.line, name))


def _builtin_shape(names, loads, target):
    """The first call that only the builtin takes."""
    calls = names.calls_by_name()
    for load in loads:
        call = calls.get(id(load.node))
        if call is not None and _only_builtin(load.node.id, call, target):
            return load
    return None


def _only_builtin(name, call, target):
    """Whether a call has a shape that the builtin takes and its namesake doesn't."""
    texts = [constant(argument)[1] for argument in call.args]
    if name == "open" and target[0] in ("os", "posix"):
        return (
            getattr(call, "vk_with", False)
            or any(isinstance(t, str) for t in texts[1:2])
            or len(call.args) == 1
            or any(w.arg in ("mode", "encoding", "newline", "errors") for w in call.keywords)
        )
    if name == "open":
        return False
    if name == "pow" and target[0] in ("math", "cmath"):
        return len(call.args) == 3 or any(word.arg == "mod" for word in call.keywords)
    if name == "filter" and target[0] == "fnmatch":
        return (
            bool(call.args)
            and not isinstance(call.args[0], (ast.Call, ast.List))
            and (
                isinstance(call.args[0], ast.Lambda) or (texts[:1] == [None] and isinstance(call.args[0], ast.Constant))
            )
        )
    if name in ("sum", "any", "all", "min", "max", "sorted") and target[0] not in ("builtins",):
        return any(isinstance(argument, ast.GeneratorExp) for argument in call.args)
    return False


# What Python gives to a module, and what a module serves: N14 to N16.


def module_names(names):
    for name in MODULE_NAMES:
        for bind in names.module.binds.get(name, ()):
            if not bind.imported or bind.arm.dead:
                continue
            loads = [load.line for scope in names.walk.scopes for load in scope.loads.get(name, ())]
            if name == "__doc__" and not loads and (names.added is None or ast.get_docstring(names.tree) is None):
                continue
            text = "line %d takes %s, which Python gives to this module" % (bind.line, name)
            names.conflict("N16", name, bind.line, text, None, min(loads, default=None))
    for bind in names.module.binds.get("__all__", ()):
        if bind.imported and not bind.arm.dead and len(names.module.binds["__all__"]) == 1 and names.added is not None:
            text = "line %d makes __all__ of %s the list of what a star import of this module brings"
            names.conflict("N14", "__all__", bind.line, text % (bind.line, bind.target[0]))


def served_names(names):
    """PEP 562: a binding hides what the module's __getattr__ served under that name."""
    serve = next((s for s in names.module.children if s.kind == "function" and s.name == "__getattr__"), None)
    if serve is None:
        return
    served = {
        part.value for part in ast.walk(serve.node) if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }
    for name in serve.loads:
        for bind in names.module.binds.get(name, ()):
            value = getattr(bind.node, "value", None)
            if bind.kind == "assign" and isinstance(value, (ast.Dict, ast.Tuple, ast.List, ast.Set, ast.Call)):
                served |= {p.value for p in ast.walk(value) if isinstance(p, ast.Constant) and isinstance(p.value, str)}
    for name in sorted(served & names.interesting & set(names.module.binds)):
        for bind in names.module.binds[name]:
            if names.added is None and conditional_arm(bind.arm):
                continue
            if bind.imported and not bind.arm.dead and _serves(serve.node, name, names.module):
                text = "%s, bound on line %d, hides what __getattr__ on line %d serves under that name"
                names.conflict("N15", name, bind.line, text % (name, bind.line, serve.node.lineno), serve.node.lineno)
                break


def _serves(node, name, module):
    """Whether __getattr__ does something for that name: compares with it, or finds it in a table."""
    for part in ast.walk(node):
        if isinstance(part, ast.Compare):
            texts = {p.value for p in ast.walk(part) if isinstance(p, ast.Constant)}
            tables = {p.id for p in ast.walk(part) if isinstance(p, ast.Name)}
        elif isinstance(part, ast.Subscript) or (isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute)):
            texts, tables = set(), {p.id for p in ast.walk(part) if isinstance(p, ast.Name)}
            if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Dict):
                texts = {p.value for p in part.value.keys if isinstance(p, ast.Constant)}
        elif type(part).__name__ == "MatchValue" and isinstance(part.value, ast.Constant):
            texts, tables = {part.value.value}, set()
        else:
            continue
        if name in texts:
            return True
        for table in tables:
            for bind in module.binds.get(table, ()):
                value = getattr(bind.node, "value", None)
                keys = value.keys if isinstance(value, ast.Dict) else getattr(value, "elts", [])
                if any(isinstance(key, ast.Constant) and key.value == name for key in keys):
                    return True
    return False
