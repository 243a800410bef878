"""The rules N18 and N19: bindings from elsewhere, by functions that say `global`, by exec, by globals()."""

import ast

from verikit.probes.imports.bindings import asks_none, placeholder, reads
from verikit.probes.imports.conditions import constant, dotted, index_of
from verikit.probes.imports.scopes import Bind, spelled


def foreign(names):
    """A function that says `global n` binds the module's name, each time it is called."""
    for scope in names.walk.scopes:
        if scope.kind != "function":
            continue
        for name in sorted(scope.globals | scope.nonlocals):
            home = names.module if name in scope.globals else names.home(scope.parent, name)[0]
            imports = [bind for bind in home.binds.get(name, ()) if bind.imported and not bind.arm.dead]
            for bind in [*scope.binds.get(name, ()), *scope.dels.get(name, ())]:
                _from_function(names, scope, name, imports, bind, home)


def _from_function(names, scope, name, imports, bind, home):
    for first in imports:
        if bind.imported and names.resolver.same(first.target, bind.target) is not False:
            continue
        if bind.arm.dead or reads(bind, name) or bind.kind == "annotation":
            continue
        if _called(names, scope):
            verb = "deletes" if bind.kind == "del" else "rebinds"
            text = "%s, imported on line %d: %s() %s it on line %d" % (
                name,
                first.line,
                scope.name,
                verb,
                bind.line,
            )
            names.conflict("N18", name, first.line, text, bind.line, names.first_use(home, name, first.order))
        else:
            names.notes.append("%s() would rebind %s, imported on line %d" % (scope.name, name, first.line))
    if bind.imported and not imports:
        for other in home.binds.get(name, ()):
            if _taken(other, bind, name) and _called(names, scope):
                text = "%s of line %d becomes %s when %s() runs" % (
                    name,
                    other.line,
                    spelled(bind.target),
                    scope.name,
                )
                names.conflict("N18", name, bind.line, text, other.line)


def _taken(other, bind, name):
    """Whether a function that imports over it takes something away: not a stand-in, nor what it asks for first."""
    if other.kind in ("def", "class"):
        return True
    return (
        name in bind.scope.nonlocals
        and other.kind in ("assign", "parameter")
        and not (placeholder(other) or asks_none(bind.arm, name))
    )


def _called(names, scope):
    if scope.parent.kind == "class" and scope.name in names.walk.methods:
        return True
    return any(call[0] == scope.name for each in names.walk.scopes for call in each.calls if each is not scope)


def _called_at_load(names, scope):
    return any(call[0] == scope.name for call in names.module.calls)


# Bindings written as text, and dicts of all the names.


def texts(names):
    """exec of a literal, globals()[…] = …, setattr on the module: bindings written as text."""
    for target, holder, order, arm, scope in names.walk.writes:
        _written(names, target, holder, order, arm, scope)
    for name, call, order, arm, scope in names.walk.specials:
        _special(names, name, call, order, arm, scope)


def _written(names, target, holder, order, arm, scope):
    if not isinstance(target, ast.Subscript):
        return
    if not _is_namespace(target.value, scope):
        return
    known, key = constant(index_of(target))
    deleted = isinstance(holder, ast.Delete)
    if known and isinstance(key, str):
        _bind_text(names, key, "del" if deleted else "exec", holder, order, arm, scope)
    elif scope.kind == "module" or dotted(target.value) is None:
        _computed(names, holder, arm, scope, deleted)


def _is_namespace(node, scope):
    """Whether an expression is the module's own dict."""
    if isinstance(node, ast.Call) and not node.args and isinstance(node.func, ast.Name):
        return node.func.id == "globals" or (node.func.id in ("vars", "locals") and scope.kind == "module")
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        return _is_module(node.value)
    return False


def _is_module(node):
    return (
        isinstance(node, ast.Subscript)
        and dotted(node.value) in ("sys.modules", "modules")
        and dotted(index_of(node)) == "__name__"
    )


def _bind_text(names, key, kind, node, order, arm, scope):
    _late_bind(names, names.module, key, kind, node, order, arm, scope)


def _late_bind(names, home, name, kind, node, order, arm, scope, target=None):
    if scope.kind == "function":
        if not _called(names, scope):
            return
        for first in home.binds.get(name, ()):
            if first.imported and not first.arm.dead:
                text = "%s, imported on line %d, is rebound through globals() on line %d" % (
                    name,
                    first.line,
                    node.lineno,
                )
                names.conflict("N19", name, first.line, text, node.lineno, names.first_use(home, name, first.order))
        return
    bind = Bind(name, kind, node, order, arm, home, target)
    (home.dels if kind == "del" else home.binds).setdefault(name, []).append(bind)


def _computed(names, node, arm, scope, deleted=False):
    """Something that can't be read off the text may bind, or delete, any name of the module."""
    if arm.dead:
        return
    if deleted:
        _cleared(names, node)
        return
    if scope.kind == "function" and not _called_at_load(names, scope):
        names.notes.append("%s() binds names of this module by computed text, line %d" % (scope.name, node.lineno))
        return
    names.untold(node.lineno, "line %d binds names of this module by computed text" % node.lineno)


def _special(names, name, call, order, arm, scope):
    if arm.dead:
        return
    if name == "exec":
        _exec(names, call, order, arm, scope)
    elif name in ("setattr", "delattr") and call.args and _is_module(call.args[0]):
        known, key = constant(call.args[1]) if len(call.args) > 1 else (False, None)
        if known and isinstance(key, str):
            _bind_text(names, key, "exec" if name == "setattr" else "del", call, order, arm, scope)
        else:
            _computed(names, call, arm, scope)
    elif name == ".update" and _is_namespace(call.func.value, scope):
        _update(names, call, order, arm, scope)
    elif name in (".pop", ".setdefault") and _is_namespace(call.func.value, scope) and call.args:
        known, key = constant(call.args[0])
        if known and isinstance(key, str):
            if name == ".pop":
                _bind_text(names, key, "del", call, order, arm, scope)
        elif name == ".pop":
            _cleared(names, call)
        else:
            _computed(names, call, arm, scope)
    elif name == ".clear" and _is_namespace(call.func.value, scope):
        _cleared(names, call)


def _update(names, call, order, arm, scope):
    for word in call.keywords:
        if word.arg is None:
            _computed(names, call, arm, scope)
        else:
            _bind_text(names, word.arg, "exec", call, order, arm, scope)
    for argument in call.args:
        if isinstance(argument, ast.Dict) and all(
            isinstance(k, ast.Constant) and isinstance(k.value, str) for k in argument.keys
        ):
            for key in argument.keys:
                _bind_text(names, key.value, "exec", call, order, arm, scope)
        else:
            _computed(names, call, arm, scope)


def _exec(names, call, order, arm, scope):
    own = len(call.args) > 1 or call.keywords
    if own and not (len(call.args) == 2 and _is_namespace(call.args[1], scope)):
        return
    if not own and scope.kind != "module":
        return
    known, text = constant(call.args[0]) if call.args else (False, None)
    if not known or not isinstance(text, str):
        _computed(names, call, arm, scope)
        return
    try:
        inner = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    for node in inner.body:
        _exec_statement(names, node, call, order, arm, scope)


def _exec_statement(names, node, call, order, arm, scope):
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            if isinstance(node, ast.Import):
                target = (alias.name if alias.asname else alias.name.partition(".")[0], None)
            else:
                target = (node.module or "", alias.name)
            name = alias.asname or (alias.name.partition(".")[0] if isinstance(node, ast.Import) else alias.name)
            names.interesting.add(name)
            _late_bind(names, names.module, name, "exec", call, order, arm, scope, target)
    elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
        _bind_text(names, node.name, "exec", call, order, arm, scope)
    elif isinstance(node, ast.Delete):
        for target in node.targets:
            if isinstance(target, ast.Name):
                _bind_text(names, target.id, "del", call, order, arm, scope)
    else:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                _bind_text(names, part.id, "exec", call, order, arm, scope)


# A loop that clears globals(): N12.


def _cleared(names, node):
    """A loop that clears globals(): each imported name that it may mean is gone below."""
    loop = next(
        (n for n in ast.walk(names.tree) if isinstance(n, ast.For) and any(part is node for part in ast.walk(n))),
        None,
    )
    for name in sorted(names.interesting & set(names.module.binds)):
        bind = next((b for b in names.module.binds[name] if b.imported and b.line < node.lineno), None)
        if bind is None or any(b.line > node.lineno for b in names.module.binds[name]):
            continue
        told = _loop_takes(loop, node, name)
        inline, later = names.reads(names.module, name)
        lines = [each.line for each in later if not each.soft] + [
            each.line for each in inline if each.line > node.end_lineno
        ]
        if told is False or not lines:
            continue
        text = "%s, imported on line %d, is cleared from globals() on line %d and used on line %d"
        text = text % (name, bind.line, node.lineno, min(lines))
        if told:
            names.conflict("N12", name, bind.line, text, node.lineno, min(lines))
        else:
            names.untold(node.lineno, text, name)


def _loop_takes(loop, node, name):
    """Whether a loop that clears names takes this one: True, False, or None where its tests can't be read."""
    if loop is None:
        return True
    variable = loop.target.id if isinstance(loop.target, ast.Name) else None
    tests, at = [], loop
    while True:
        inner = next((n for n in at.body if any(part is node for part in ast.walk(n))), None)
        if isinstance(inner, ast.If) and any(part is node for stmt in inner.body for part in ast.walk(stmt)):
            tests.append(inner.test)
            at = inner
        else:
            break
    for part in ast.walk(loop.iter):
        for generator in getattr(part, "generators", ()):
            tests.extend(generator.ifs)
            if isinstance(generator.target, ast.Name) and variable is not None:
                tests = [_renamed(test, generator.target.id, variable) for test in tests]
    values = [_told(test, variable, name) for test in tests]
    return False if False in values else None if None in values else True


def _renamed(test, old, new):
    for part in ast.walk(test):
        if isinstance(part, ast.Name) and part.id == old:
            part.id = new
    return test


def _told(test, variable, name):
    """The test with the loop's variable being that name, if it is one of the few shapes such loops have."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _told(test.operand, variable, name)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        values = [_told(value, variable, name) for value in test.values]
        if isinstance(test.op, ast.And):
            return False if False in values else None if None in values else True
        return True if True in values else None if None in values else False
    if (
        isinstance(test, ast.Call)
        and isinstance(test.func, ast.Attribute)
        and dotted(test.func.value) == variable
        and test.args
    ):
        known, text = constant(test.args[0])
        if known and test.func.attr in ("startswith", "endswith"):
            return bool(getattr(name, test.func.attr)(text))
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _told_compare(test, variable, name)
    return None


def _told_compare(test, variable, name):
    left = test.left
    if dotted(left) == variable:
        value = name
    elif isinstance(left, ast.Subscript) and dotted(left.value) == variable:
        known, at = constant(index_of(left))
        if not known or not isinstance(at, int):
            return None
        value = name[at]
    else:
        return None
    known, other = constant(test.comparators[0])
    if not known:
        return None
    op = type(test.ops[0])
    answers = {
        ast.Eq: lambda: value == other,
        ast.NotEq: lambda: value != other,
        ast.In: lambda: value in other,
        ast.NotIn: lambda: value not in other,
    }
    return answers[op]() if op in answers else None
