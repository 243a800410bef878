"""The rules N10, N11, N13, N17, N20 and P14: an imported name read where, or when, it is not bound.

What else makes a name local that the module imports is told by what takes it: N2, N3, N12.
"""

import ast

from verikit.probes.imports.bindings import arm_optional, conditional_arm
from verikit.probes.imports.flow import UNBOUND, Flow
from verikit.probes.imports.scopes import exclusive
from verikit.probes.imports.taken import BUILTINS, MODULE_NAMES

NAME_ERRORS = ("NameError", "Exception", "BaseException")


# Used before it is bound: P14, N11, N20.


def late(names):
    """At module level: read, or needed by a function that is called, above every line that binds it."""
    calls = [call for call in names.module.calls if not call[3].dead]
    for scope in names.walk.scopes:
        if scope.kind == "class" and scope.parent is names.module:
            calls.extend(call for call in scope.calls if not call[3].dead)
    for name in sorted(names.interesting & set(names.module.binds)):
        events = [bind for bind in names.events(names.module, name) if bind.kind != "del"]
        if not events or not any(bind.imported for bind in events):
            continue
        if (name in BUILTINS or name in MODULE_NAMES) and names.added is None:
            continue
        _late_name(names, name, events, calls)


def _late_name(names, name, events, calls):
    first = events[0]
    inline, later = names.reads(names.module, name)
    suspects = [load for load in inline if load.order < first.order and not load.arm.dead and not load.soft]
    if not first.imported and not any(arm_optional(first)):
        return
    for load in suspects:
        if not exclusive(load.arm, first.arm) and not _forgiven(names, load.arm):
            if name in BUILTINS:
                return  # the rule of builtins tells
            text = "%s is used on line %d and bound only on line %d" % (name, load.line, first.line)
            names.added_use(("P14", name, first.line, text, load.line, load.line))
            return
    readers = {id(load.scope): load for load in later if not load.soft}
    if not readers or name in BUILTINS:
        return
    for called, order, line, arm in calls:
        if order < first.order and not exclusive(arm, first.arm):
            load = _reaches(names, called, readers, set())
            if load is not None and not _forgiven(names, load.arm) and not _forgiven(names, arm):
                text = "%s() is called on line %d and uses %s, bound only on line %d" % (
                    called,
                    line,
                    name,
                    first.line,
                )
                names.added_use(("P14", name, first.line, text, line, load.line))
                return


def _reaches(names, called, readers, visited):
    """The read of the name that calling this function, or class, comes to."""
    if called in visited or len(visited) > 200:
        return None
    visited.add(called)
    for scope in names.module.children:
        if scope.name != called:
            continue
        inner = (
            [scope]
            if scope.kind == "function"
            else [c for c in scope.children if c.name in ("__init__", "__new__", "__post_init__")]
        )
        for each in inner:
            if id(each) in readers:
                return readers[id(each)]
            for call in each.calls:
                found = _reaches(names, call[0], readers, visited)
                if found is not None:
                    return found
    return None


def _forgiven(names, arm):
    """Whether a NameError there is caught. An insertion that comes too late for it is too late all the same."""
    return names.added is None and arm.caught(NAME_ERRORS)


def local_names(names):
    """In a function: a name that an import (or anything, over an imported name) makes local, read where it is unbound."""
    outer = {name for name, binds in names.module.binds.items() if any(b.imported for b in binds)}
    for scope in names.walk.scopes:
        if scope.kind != "function" or scope.name == "<lambda>":
            continue
        for name, binds in scope.binds.items():
            if name in scope.globals or name in scope.nonlocals or binds[0].kind == "parameter":
                continue
            imported = any(bind.imported for bind in binds)
            if not imported and name not in outer:
                continue
            _local(names, scope, name, binds, imported)


def _local(names, scope, name, binds, imported):
    loads = scope.loads.get(name, [])
    inner, later = [], []
    if imported or name in names.interesting:
        later = names.reads(scope, name)[1]
        readers = [load.scope.node for load in later if load.scope.parent is scope]
        inner = {load.scope.name for load in later if load.scope.parent is scope}
        inner |= {
            each
            for each, rows in scope.binds.items()
            if any(getattr(bind.node, "value", None) is node for bind in rows for node in readers)
        }
    first = binds[0]
    plain = first.arm is scope.root and first.kind not in ("annotation", "walrus") and name not in scope.dels
    if plain and not any(load.order < first.order for load in loads) and not inner:
        return
    if not loads and not inner:
        return
    flow = Flow(name, names.world, inner)
    flow.block(scope.node.body, UNBOUND)
    surely = [use for use in flow.uses if use[1] == UNBOUND]
    shadows = _shadows(scope, name)
    if (
        not surely
        and names.added is None
        and all(conditional_arm(bind.arm) for bind in names.module.binds.get(name, ()))
    ):
        shadows = False  # further out it is bound on a condition too: which of the two holds can't be read off
    wrong = surely or (flow.uses if shadows else [])
    if not wrong:
        return
    anchor = next((bind for bind in binds if bind.imported), None) or names.module.binds[name][0]
    other = next((bind for bind in binds if not bind.imported), first)
    if not surely and names.added is None and any(bind.kind == "del" for bind in binds):
        return
    dead = all(bind.arm.dead for bind in binds)
    rule = (
        "N20"
        if dead and imported
        else "N11"
        if imported
        else "N3"
        if other.kind in ("for", "with", "except", "walrus", "capture", "annotation")
        else "N2"
    )
    if imported and name in scope.dels and min(d.line for d in scope.dels[name]) < wrong[0][0]:
        rule = "N12"
    text = "%s is local to %s() because of line %d, and is not bound yet where line %d uses it" % (
        name,
        scope.name,
        (anchor if imported else other).line,
        wrong[0][0],
    )
    names.added_use((rule, name, anchor.line, text, first.line if imported else other.line, wrong[0][0]))


def _shadows(scope, name):
    """Whether the name would be found further out, were it not local."""
    at = scope.parent
    while at is not None:
        if at.kind != "class" and any(not bind.arm.dead for bind in at.binds.get(name, ())):
            return True
        at = at.parent
    return name in BUILTINS


# Classes: N10, N13.


def classes(names):
    """A method that relies on an import of its class body."""
    for scope in names.walk.scopes:
        if scope.kind != "class":
            continue
        for name, binds in scope.binds.items():
            if any(bind.imported for bind in binds) and not _shadows(scope, name):
                _unseen_by_methods(names, scope, name, next(bind for bind in binds if bind.imported))


def _unseen_by_methods(names, scope, name, bind):
    for each, line, blind in names.walk.unseen:
        if each == name and blind is scope and name not in BUILTINS:
            text = "%s, imported on line %d in the body of class %s, is not seen by the comprehension on line %d"
            names.added_use(("N10", name, bind.line, text % (name, bind.line, scope.name, line), line, line))
            return
    for inner in names.walk.scopes:
        if (
            inner.kind == "function"
            and _inside(inner, scope)
            and name in inner.loads
            and name not in names.module.binds
        ) and names.home(inner, name)[0] is names.module:
            line = inner.loads[name][0].line
            text = "%s, imported on line %d in the body of class %s, is not seen by its method on line %d"
            names.added_use(("N10", name, bind.line, text % (name, bind.line, scope.name, line), line, line))
            return


def _inside(scope, outer):
    while scope is not None:
        if scope is outer:
            return True
        scope = scope.parent
    return False


def mangled_names(names):
    for name, line, kind, private, scope in names.walk.mangled:
        binds = [bind for bind in names.module.binds.get(name, ()) if bind.imported]
        mangled = "_%s%s" % (private.lstrip("_"), name)
        if kind == "load" and binds and not _bound_as(scope, mangled):
            text = "%s, imported on line %d, is read as %s on line %d" % (name, binds[0].line, mangled, line)
            names.added_use(("N13", name, binds[0].line, text, line, line))


def _bound_as(scope, name):
    while scope is not None:
        if name in scope.binds:
            return True
        scope = scope.parent
    return False


# TYPE_CHECKING: N17.


def type_checking(names):
    for name in sorted(names.interesting & set(names.module.binds)):
        binds = [bind for bind in names.module.binds[name] if bind.kind != "annotation"]
        checking = [bind for bind in binds if bind.imported and _under_checking(bind.arm)]
        if not checking or any(not bind.arm.dead for bind in binds) or name in BUILTINS:
            continue
        if any(name in scope.globals and name in scope.binds for scope in names.walk.scopes) or _starred(names, name):
            continue
        inline, later = names.reads(names.module, name)
        for load in sorted([*inline, *later], key=lambda each: each.line):
            if (
                not load.soft
                and not load.arm.dead
                and not _forgiven(names, load.arm)
                and not _guarded_by_checking(load)
            ):
                text = "%s is imported on line %d for type checkers alone, and line %d needs it at run time"
                names.added_use(
                    (
                        "N17",
                        name,
                        checking[0].line,
                        text % (name, checking[0].line, load.line),
                        load.line,
                        load.line,
                    )
                )
                break


def _starred(names, name):
    for star in names.module.star:
        brought = names.resolver.exports(star.target[0])
        if brought is None or name in brought:
            return True
    return False


def _guarded_by_checking(load):
    scope = load.scope
    while scope is not None:
        if scope.root.dead:
            return True
        scope = scope.parent
    return False


def _under_checking(arm):
    return any(each.dead and each.test is not None and "TYPE_CHECKING" in ast.dump(each.test) for each in arm.path())
