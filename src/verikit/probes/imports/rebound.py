"""The rules N1 to N7 and N12: one name that the text binds twice, or deletes before it is used.

In a class body, over a parameter and by exec the second binding has rules of its own: N10, N11, N19.
"""

import ast
import os

from verikit.probes.imports.bindings import asks_none, conditional, placeholder, reads
from verikit.probes.imports.scopes import exclusive, spelled

RULE_OF_KIND = {
    "for": "N3",
    "with": "N3",
    "except": "N3",
    "walrus": "N3",
    "capture": "N3",
    "type": "N3",
    "def": "N2",
    "class": "N2",
    "assign": "N2",
    "augment": "N2",
    "exec": "N19",
    "del": "N12",
}
WORDS = {
    "for": "a for loop",
    "with": "a with statement",
    "except": "an except clause",
    "walrus": "a walrus",
    "capture": "a match pattern",
    "type": "a type statement",
    "def": "a def",
    "class": "a class",
    "assign": "an assignment",
    "augment": "an augmented assignment",
    "exec": "exec or globals()",
    "parameter": "a parameter",
    "import": "an import",
}


def rebindings(names, scope):
    for name in scope.binds:
        if name not in names.interesting or len(scope.binds[name]) + len(scope.dels.get(name, ())) < 2:
            continue
        if scope.kind == "function" and (name in scope.globals or name in scope.nonlocals):
            continue
        events = names.events(scope, name)
        for at, first in enumerate(events):
            if first.kind != "del":
                _followed(names, scope, name, first, events[at + 1 :])


def _followed(names, scope, name, first, later):
    """The first binding with what comes after it, up to what surely replaces it."""
    for second in later:
        if second.kind == "del":
            if not exclusive(first.arm, second.arm) and not conditional(first, second):
                return
            continue
        if exclusive(first.arm, second.arm):
            continue
        optional = conditional(first, second)
        if first.imported or second.imported:
            _pair(names, scope, name, first, second, optional)
        if not optional:
            return


def _pair(names, scope, name, first, second, optional):
    if second.imported and names.added is None and optional and asks_none(second.arm, name):
        return
    if first.imported and second.imported:
        same = names.resolver.same(first.target, second.target)
        if same:
            if names.added is not None and names.is_added(first.line, second.line):
                names.notes.append(
                    "%s is imported again as the same object: lines %d and %d" % (name, first.line, second.line)
                )
            return
        if same is None and not optional:
            _untold(names, name, first, second)
            return
    elif _meant(names, scope, name, first, second):
        return
    if (
        optional
        and names.added is None
        and not _independent(first, second)
        and (second.imported or placeholder(second))
    ):
        names.notes.append(
            "%s is bound on line %d and, on a condition, again on line %d" % (name, first.line, second.line)
        )
        return
    if optional and names.added is None and second.kind in ("assign", "def", "class"):
        names.notes.append(
            "%s is bound on line %d and, on a condition, again on line %d" % (name, first.line, second.line)
        )
        return
    if names.added is None and _only_annotations(names, scope, name):
        names.notes.append(
            "%s is bound on lines %d and %d, and read in annotations alone" % (name, first.line, second.line)
        )
        return
    if names.added is None and scope.kind == "function" and _unread(names, scope, name):
        names.notes.append("%s is bound on lines %d and %d, and read nowhere" % (name, first.line, second.line))
        return
    rule, message = _words(scope, name, first, second)
    line, other = (first.line, second.line) if first.imported else (second.line, first.line)
    names.conflict(rule, name, line, message, other, names.first_use(scope, name, second.order))


def _only_annotations(names, scope, name):
    inline, later = names.reads(scope, name)
    return bool(inline or later) and all(load.soft for load in [*inline, *later])


def _unread(names, scope, name):
    """Whether no code sees the local name, by its spelling or through a text or a dict of all the names."""
    inner = [scope]
    for each in inner:
        inner += each.children
    whole = {"eval", "exec", "locals", "vars", "dir"}
    return not any(names.reads(scope, name)) and all(whole.isdisjoint(each.loads) for each in inner)


def _untold(names, name, first, second):
    if names.is_added(first.line, second.line):
        names.unknowns.append(
            {
                "name": name,
                "line": first.line,
                "other": second.line,
                "message": "whether %s of line %d and of line %d are one object can't be told: %s or %s was not found"
                % (name, first.line, second.line, spelled(first.target), spelled(second.target)),
            }
        )


def _meant(names, scope, name, first, second):
    """Whether one of the two bindings shows that the other is known: a stand-in, a wrapper, a default."""
    if second.imported:
        if placeholder(first) or _itself(names, second, name):
            return True
        return first.kind == "parameter" and asks_none(second.arm, name)
    if reads(second, name):
        return True
    if second.kind == "augment" and names.added is None and not names.reads(scope, name)[1] and scope.kind == "module":
        return True  # an imported text or list is added to, and only code below reads it
    return any(reads(second, saved) for saved in _saved(scope, name, first, second))


def _itself(names, bind, name):
    """Whether a module imports, by its own name, what it has bound under that name itself."""
    own = names.resolver.path is not None and not names.world.main and bind.target[1] == name
    found = names.resolver.find(bind.target[0]) if own else None
    return found is not None and found.file is not None and os.path.samefile(found.file, names.resolver.path)


def _saved(scope, name, first, second):
    """Names that keep the old object: `_json = json` between the two."""
    kept = []
    for other, binds in scope.binds.items():
        for bind in binds:
            between = bind.kind == "assign" and first.order < bind.order < second.order
            if between and any(isinstance(p, ast.Name) and p.id == name for p in ast.walk(bind.node.value)):
                kept.append(other)
    return kept


def _words(scope, name, first, second):
    if first.imported and second.imported:
        rule = "N1"
        if spelled(first.target).startswith(spelled(second.target) + ".") or spelled(second.target).startswith(
            spelled(first.target) + "."
        ):
            rule = "N7"
        elif first.arm is not second.arm and (first.arm.depth or second.arm.depth):
            rule = "N6"
        return rule, "%s is %s on line %d, then %s on line %d" % (
            name,
            spelled(first.target),
            first.line,
            spelled(second.target),
            second.line,
        )
    if second.imported:
        rule = "N11" if first.kind == "parameter" else "N10" if scope.kind == "class" else "N4"
        return rule, "%s, bound by %s on line %d, becomes %s on line %d" % (
            name,
            WORDS[first.kind],
            first.line,
            spelled(second.target),
            second.line,
        )
    rule = "N10" if scope.kind == "class" else RULE_OF_KIND.get(second.kind, "N2")
    return rule, "%s, imported on line %d, is taken by %s on line %d" % (
        name,
        first.line,
        WORDS[second.kind],
        second.line,
    )


def _independent(first, second):
    """Whether each of two imports has a condition of its own, so that both may run.

    `if is_cuda: … if is_npu: …` names what the machine is: of such tests one holds.
    """
    ours, theirs = first.arm.path(), second.arm.path()
    shared = {id(arm) for arm in ours} & {id(arm) for arm in theirs}
    tests = [[arm.test for arm in path if arm.kind == "if" and id(arm) not in shared] for path in (ours, theirs)]
    return first.imported and second.imported and all(tests) and not all(any(map(_platform, each)) for each in tests)


def _platform(test):
    if test is None:  # its outcome is known: it held
        return False
    names = [getattr(part, "id", None) or getattr(part, "attr", None) or "" for part in ast.walk(test)]
    return any(name.lstrip("_").lower().startswith("is_") for name in names)


# Deleted before it is used: N12.


def deletions(names):
    for scope in names.walk.scopes:
        for name in sorted(scope.dels.keys() & names.interesting):
            if scope.kind == "function":
                continue  # the flow of the function tells
            _deleted(names, scope, name)


def _deleted(names, scope, name):
    events = names.events(scope, name)
    for at, gone in enumerate(events):
        if gone.kind != "del":
            continue
        before = [each for each in events[:at] if not exclusive(each.arm, gone.arm)]
        again = [each for each in events[at + 1 :] if each.kind != "del" and not exclusive(gone.arm, each.arm)]
        if not before or not any(each.imported for each in events[:at]):
            continue
        bound = next((each for each in reversed(events[:at]) if each.imported), None)
        if isinstance(gone.node, ast.ExceptHandler):
            continue_after = [each for each in again if not conditional(gone, each)]
            bound = next((each for each in events[:at] if each.imported and not exclusive(each.arm, gone.arm)), None)
            if (
                bound is None
                or any(f["name"] == name and f["other"] == gone.line for f in names.findings)
                or continue_after
            ):
                continue
        if conditional(bound, gone) and names.added is None and not isinstance(gone.node, ast.ExceptHandler):
            continue
        use = _use_after_deletion(names, scope, name, gone, again)
        if use is not None:
            text = "%s, imported on line %d, is deleted on line %d and used on line %d" % (
                name,
                bound.line,
                gone.line,
                use,
            )
            names.added_use(("N12", name, bound.line, text, gone.line, use))


def _use_after_deletion(names, scope, name, gone, again):
    until = min((each.order for each in again), default=None)
    inline, later = names.reads(scope, name)
    for load in sorted(inline, key=lambda each: each.order):
        if (
            load.order > gone.order and (until is None or load.order < until) and not load.arm.dead and not load.soft
        ) and not exclusive(gone.arm, load.arm):
            return load.line
    if until is not None:
        return None
    alive = [load.line for load in later if not load.soft and not _dies(names, load.scope)]
    return min(alive, default=None)


def _dies(names, scope):
    """Whether the function that reads is itself deleted, so that nobody can call it."""
    while scope.parent is not None and scope.parent.kind != "module":
        scope = scope.parent
    return scope.name in names.module.dels
