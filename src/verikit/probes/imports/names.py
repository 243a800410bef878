"""The rules N: what becomes of each imported name within its file.

`Names` holds what one file binds and reads; each group of rules is a module of functions that ask it, and tell it.
"""

import ast

from verikit.probes.imports import elsewhere, rebound, taken, unbound
from verikit.probes.imports.rules import finding


class Names:
    """The findings of one file. `added`: the lines of an insertion, or None where the file is judged as it stands."""

    def __init__(self, walk, tree, world, resolver, added=None):
        self.walk, self.tree, self.world, self.resolver, self.added = walk, tree, world, resolver, added
        self.module = walk.module
        self.findings, self.unknowns, self.notes = [], [], []
        self.interesting = self._interesting()
        self.seen = self._resolved()

    def run(self):
        self._futures()
        elsewhere.foreign(self)
        elsewhere.texts(self)  # what it finds bound is bound for all rules below
        for scope in self.walk.scopes:
            rebound.rebindings(self, scope)
        rebound.deletions(self)
        unbound.late(self)
        unbound.local_names(self)
        taken.stars(self)
        taken.builtin_names(self)
        unbound.classes(self)
        unbound.mangled_names(self)
        taken.module_names(self)
        taken.served_names(self)
        unbound.type_checking(self)
        return self

    def _futures(self):
        """P6: a `from __future__ import` with anything but the docstring and its like above it."""
        head = True
        for at, node in enumerate(self.tree.body):
            text = not at and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            future = node in self.walk.futures
            if future and not head and self.added is None:
                text = "`from __future__ import %s` on line %d does not stand at the beginning of the file"
                self.conflict("P6", node.names[0].name, node.lineno, text % (node.names[0].name, node.lineno))
            head = head and (future or text)

    # Tables.

    def _interesting(self):
        names = set()
        for scope in self.walk.scopes:
            for name, binds in scope.binds.items():
                for bind in binds:
                    if bind.target is not None:
                        names.add(name)
                        break
        return names

    def _resolved(self):
        """{(scope, name): ([reads in that scope's own run], [reads of a later call])} for the names that imports bind."""
        seen, wanted = {}, self.interesting
        for scope in self.walk.scopes:
            for name in scope.loads.keys() & wanted:
                home, inline = self.home(scope, name)
                pair = seen.setdefault((id(home), name), ([], []))
                pair[0 if inline else 1].extend(scope.loads[name])
        return seen

    def home(self, scope, name):
        """The scope whose binding a read of `name` in `scope` means, and whether it is read in that scope's own run."""
        inline, at = True, scope
        while at.kind != "module":
            if at.kind == "function" and name in at.globals:
                return self.module, False
            own = name in at.binds and name not in at.nonlocals
            if own and (at is scope or at.kind == "function"):
                return at, inline
            if at.kind == "function":
                inline = False
            at = at.parent
        return at, inline

    def reads(self, scope, name):
        return self.seen.get((id(scope), name), ([], []))

    def first_use(self, scope, name, after):
        """The line of the first read that sees what was bound at that order: in order, or in a function called later."""
        inline, later = self.reads(scope, name)
        lines = [load.line for load in inline if load.order > after and not load.soft and not load.arm.dead]
        return min(lines) if lines else min((load.line for load in later if not load.soft), default=None)

    def events(self, scope, name):
        """Bindings and deletions that run, in order."""
        every = [*scope.binds.get(name, ()), *scope.dels.get(name, ())]
        live = [each for each in every if not each.arm.dead and each.kind != "annotation"]
        return sorted(live, key=lambda each: each.order)

    def calls_by_name(self):
        if not hasattr(self, "_calls"):
            self._calls = {
                id(n.func): n for n in ast.walk(self.tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
            }
            for node in ast.walk(self.tree):
                if isinstance(node, (ast.With, ast.AsyncWith)):
                    for item in node.items:
                        if isinstance(item.context_expr, ast.Call):
                            item.context_expr.vk_with = True
        return self._calls

    # What is told.

    def is_added(self, *lines):
        return self.added is None or any(line in self.added for line in lines if line)

    def conflict(self, rule, name, line, message, other=None, use=None, severity=None):
        if self.is_added(line, other):
            self.findings.append(finding(rule, name, line, message, other, use, severity))

    def added_use(self, row):
        rule, name, line, text, other, use = row
        if self.is_added(line, other, use):
            self.findings.append(finding(rule, name, line, text, other, use))

    def untold(self, line, message, name=None):
        self.unknowns.append({"name": name, "line": line, "other": None, "message": message})
