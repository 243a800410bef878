"""The rules N: what becomes of each imported name within its file."""

import ast
import builtins
import os

from verikit.probes.imports.conditions import constant, dotted, index_of
from verikit.probes.imports.flow import UNBOUND, Flow
from verikit.probes.imports.rules import finding
from verikit.probes.imports.scopes import Bind, exclusive, spelled

BUILTINS = frozenset(dir(builtins))
# What Python binds in every module before its first line runs, or reads off it afterwards.
MODULE_NAMES = ("__name__", "__file__", "__doc__", "__package__", "__spec__", "__loader__", "__path__", "__builtins__")
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


NAME_ERRORS = ("NameError", "Exception", "BaseException")


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
        self._foreign()
        self._texts()
        for scope in self.walk.scopes:
            self._rebindings(scope)
        self._deletions()
        self._late()
        self._locals()
        self._stars()
        self._builtins()
        self._classes()
        self._mangled()
        self._module_names()
        self._served()
        self._type_checking()
        return self

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
                home, inline = self._home(scope, name)
                pair = seen.setdefault((id(home), name), ([], []))
                pair[0 if inline else 1].extend(scope.loads[name])
        return seen

    def _home(self, scope, name):
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

    def is_added(self, *lines):
        return self.added is None or any(line in self.added for line in lines if line)

    def conflict(self, rule, name, line, message, other=None, use=None, severity=None):
        if self.is_added(line, other):
            self.findings.append(finding(rule, name, line, message, other, use, severity))

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

    # One name bound twice: N1 to N7, N12, N19.

    def _rebindings(self, scope):
        for name in scope.binds:
            if name not in self.interesting or len(scope.binds[name]) + len(scope.dels.get(name, ())) < 2:
                continue
            if scope.kind == "function" and (name in scope.globals or name in scope.nonlocals):
                continue
            events = self.events(scope, name)
            for at, first in enumerate(events):
                if first.kind != "del":
                    self._followed(scope, name, first, events[at + 1 :])

    def _followed(self, scope, name, first, later):
        """The first binding with what comes after it, up to what surely replaces it."""
        for second in later:
            if second.kind == "del":
                if not exclusive(first.arm, second.arm) and not _conditional(first, second):
                    return
                continue
            if exclusive(first.arm, second.arm):
                continue
            optional = _conditional(first, second)
            if first.imported or second.imported:
                self._pair(scope, name, first, second, optional)
            if not optional:
                return

    def _pair(self, scope, name, first, second, optional):
        if second.imported and self.added is None and optional and _asks_none(second.arm, name):
            return
        if first.imported and second.imported:
            same = self.resolver.same(first.target, second.target)
            if same:
                if self.added is not None and self.is_added(first.line, second.line):
                    self.notes.append(
                        "%s is imported again as the same object: lines %d and %d" % (name, first.line, second.line)
                    )
                return
            if same is None and not optional:
                self._untold(name, first, second)
                return
        elif self._meant(scope, name, first, second):
            return
        if (
            optional
            and self.added is None
            and not _independent(first, second)
            and (second.imported or _placeholder(second))
        ):
            self.notes.append(
                "%s is bound on line %d and, on a condition, again on line %d" % (name, first.line, second.line)
            )
            return
        if optional and self.added is None and second.kind in ("assign", "def", "class"):
            self.notes.append(
                "%s is bound on line %d and, on a condition, again on line %d" % (name, first.line, second.line)
            )
            return
        if self.added is None and self._only_annotations(scope, name):
            self.notes.append(
                "%s is bound on lines %d and %d, and read in annotations alone" % (name, first.line, second.line)
            )
            return
        if self.added is None and scope.kind == "function" and self._unread(scope, name):
            self.notes.append("%s is bound on lines %d and %d, and read nowhere" % (name, first.line, second.line))
            return
        rule, message = self._words(scope, name, first, second)
        line, other = (first.line, second.line) if first.imported else (second.line, first.line)
        self.conflict(rule, name, line, message, other, self.first_use(scope, name, second.order))

    def _only_annotations(self, scope, name):
        inline, later = self.reads(scope, name)
        return bool(inline or later) and all(load.soft for load in [*inline, *later])

    def _unread(self, scope, name):
        """Whether no code sees the local name, by its spelling or through a text or a dict of all the names."""
        inner = [scope]
        for each in inner:
            inner += each.children
        whole = {"eval", "exec", "locals", "vars", "dir"}
        return not any(self.reads(scope, name)) and all(whole.isdisjoint(each.loads) for each in inner)

    def _untold(self, name, first, second):
        if self.is_added(first.line, second.line):
            self.unknowns.append(
                {
                    "name": name,
                    "line": first.line,
                    "other": second.line,
                    "message": "whether %s of line %d and of line %d are one object can't be told: %s or %s was not found"
                    % (name, first.line, second.line, spelled(first.target), spelled(second.target)),
                }
            )

    def _meant(self, scope, name, first, second):
        """Whether one of the two bindings shows that the other is known: a stand-in, a wrapper, a default."""
        if second.imported:
            if _placeholder(first) or self._itself(second, name):
                return True
            return first.kind == "parameter" and _asks_none(second.arm, name)
        if _reads(second, name):
            return True
        if (
            second.kind == "augment"
            and self.added is None
            and not self.reads(scope, name)[1]
            and scope.kind == "module"
        ):
            return True  # an imported text or list is added to, and only code below reads it
        return any(_reads(second, saved) for saved in self._saved(scope, name, first, second))

    def _itself(self, bind, name):
        """Whether a module imports, by its own name, what it has bound under that name itself."""
        own = self.resolver.path is not None and not self.world.main and bind.target[1] == name
        found = self.resolver.find(bind.target[0]) if own else None
        return found is not None and found.file is not None and os.path.samefile(found.file, self.resolver.path)

    def _saved(self, scope, name, first, second):
        """Names that keep the old object: `_json = json` between the two."""
        kept = []
        for other, binds in scope.binds.items():
            for bind in binds:
                between = bind.kind == "assign" and first.order < bind.order < second.order
                if between and any(isinstance(p, ast.Name) and p.id == name for p in ast.walk(bind.node.value)):
                    kept.append(other)
        return kept

    def _words(self, scope, name, first, second):
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

    def _deletions(self):
        for scope in self.walk.scopes:
            for name in sorted(scope.dels.keys() & self.interesting):
                if scope.kind == "function":
                    continue  # the flow of the function tells
                self._deleted(scope, name)

    def _deleted(self, scope, name):
        events = self.events(scope, name)
        for at, gone in enumerate(events):
            if gone.kind != "del":
                continue
            before = [each for each in events[:at] if not exclusive(each.arm, gone.arm)]
            again = [each for each in events[at + 1 :] if each.kind != "del" and not exclusive(gone.arm, each.arm)]
            if not before or not any(each.imported for each in events[:at]):
                continue
            bound = next((each for each in reversed(events[:at]) if each.imported), None)
            if isinstance(gone.node, ast.ExceptHandler):
                continue_after = [each for each in again if not _conditional(gone, each)]
                bound = next(
                    (each for each in events[:at] if each.imported and not exclusive(each.arm, gone.arm)), None
                )
                if (
                    bound is None
                    or any(f["name"] == name and f["other"] == gone.line for f in self.findings)
                    or continue_after
                ):
                    continue
            if _conditional(bound, gone) and self.added is None and not isinstance(gone.node, ast.ExceptHandler):
                continue
            use = self._use_after_deletion(scope, name, gone, again)
            if use is not None:
                text = "%s, imported on line %d, is deleted on line %d and used on line %d" % (
                    name,
                    bound.line,
                    gone.line,
                    use,
                )
                self.added_use(("N12", name, bound.line, text, gone.line, use))

    def added_use(self, row):
        rule, name, line, text, other, use = row
        if self.is_added(line, other, use):
            self.findings.append(finding(rule, name, line, text, other, use))

    def _use_after_deletion(self, scope, name, gone, again):
        until = min((each.order for each in again), default=None)
        inline, later = self.reads(scope, name)
        for load in sorted(inline, key=lambda each: each.order):
            if (
                load.order > gone.order
                and (until is None or load.order < until)
                and not load.arm.dead
                and not load.soft
            ) and not exclusive(gone.arm, load.arm):
                return load.line
        if until is not None:
            return None
        alive = [load.line for load in later if not load.soft and not self._dies(load.scope)]
        return min(alive, default=None)

    def _dies(self, scope):
        """Whether the function that reads is itself deleted, so that nobody can call it."""
        while scope.parent is not None and scope.parent.kind != "module":
            scope = scope.parent
        return scope.name in self.module.dels

    # Bindings from elsewhere: functions with `global`, exec, globals(): N18, N19.

    def _foreign(self):
        """A function that says `global n` binds the module's name, each time it is called."""
        for scope in self.walk.scopes:
            if scope.kind != "function":
                continue
            for name in sorted(scope.globals | scope.nonlocals):
                home = self.module if name in scope.globals else self._home(scope.parent, name)[0]
                imports = [bind for bind in home.binds.get(name, ()) if bind.imported and not bind.arm.dead]
                for bind in [*scope.binds.get(name, ()), *scope.dels.get(name, ())]:
                    self._from_function(scope, name, imports, bind, home)

    def _from_function(self, scope, name, imports, bind, home):
        for first in imports:
            if bind.imported and self.resolver.same(first.target, bind.target) is not False:
                continue
            if bind.arm.dead or _reads(bind, name) or bind.kind == "annotation":
                continue
            if self._called(scope):
                verb = "deletes" if bind.kind == "del" else "rebinds"
                text = "%s, imported on line %d: %s() %s it on line %d" % (
                    name,
                    first.line,
                    scope.name,
                    verb,
                    bind.line,
                )
                self.conflict("N18", name, first.line, text, bind.line, self.first_use(home, name, first.order))
            else:
                self.notes.append("%s() would rebind %s, imported on line %d" % (scope.name, name, first.line))
        if bind.imported and not imports:
            for other in home.binds.get(name, ()):
                if self._taken(other, bind, name) and self._called(scope):
                    text = "%s of line %d becomes %s when %s() runs" % (
                        name,
                        other.line,
                        spelled(bind.target),
                        scope.name,
                    )
                    self.conflict("N18", name, bind.line, text, other.line)

    @staticmethod
    def _taken(other, bind, name):
        """Whether a function that imports over it takes something away: not a stand-in, nor what it asks for first."""
        if other.kind in ("def", "class"):
            return True
        return (
            name in bind.scope.nonlocals
            and other.kind in ("assign", "parameter")
            and not (_placeholder(other) or _asks_none(bind.arm, name))
        )

    def _called(self, scope):
        if scope.parent.kind == "class" and scope.name in self.walk.methods:
            return True
        return any(call[0] == scope.name for each in self.walk.scopes for call in each.calls if each is not scope)

    def _called_at_load(self, scope):
        return any(call[0] == scope.name for call in self.module.calls)

    def _texts(self):
        """exec of a literal, globals()[…] = …, setattr on the module: bindings written as text."""
        for target, holder, order, arm, scope in self.walk.writes:
            self._written(target, holder, order, arm, scope)
        for name, call, order, arm, scope in self.walk.specials:
            self._special(name, call, order, arm, scope)

    def _written(self, target, holder, order, arm, scope):
        if not isinstance(target, ast.Subscript):
            return
        if not self._is_namespace(target.value, scope):
            return
        known, key = constant(index_of(target))
        deleted = isinstance(holder, ast.Delete)
        if known and isinstance(key, str):
            self._bind_text(key, "del" if deleted else "exec", holder, order, arm, scope)
        elif scope.kind == "module" or dotted(target.value) is None:
            self._computed(holder, arm, scope, deleted)

    def _is_namespace(self, node, scope):
        """Whether an expression is the module's own dict."""
        if isinstance(node, ast.Call) and not node.args and isinstance(node.func, ast.Name):
            return node.func.id == "globals" or (node.func.id in ("vars", "locals") and scope.kind == "module")
        if isinstance(node, ast.Attribute) and node.attr == "__dict__":
            return self._is_module(node.value)
        return False

    def _is_module(self, node):
        return (
            isinstance(node, ast.Subscript)
            and dotted(node.value) in ("sys.modules", "modules")
            and dotted(index_of(node)) == "__name__"
        )

    def _bind_text(self, key, kind, node, order, arm, scope):
        self._late_bind(self.module, key, kind, node, order, arm, scope)

    def _late_bind(self, home, name, kind, node, order, arm, scope, target=None):
        if scope.kind == "function":
            if not self._called(scope):
                return
            for first in home.binds.get(name, ()):
                if first.imported and not first.arm.dead:
                    text = "%s, imported on line %d, is rebound through globals() on line %d" % (
                        name,
                        first.line,
                        node.lineno,
                    )
                    self.conflict("N19", name, first.line, text, node.lineno, self.first_use(home, name, first.order))
            return
        bind = Bind(name, kind, node, order, arm, home, target)
        (home.dels if kind == "del" else home.binds).setdefault(name, []).append(bind)

    def _computed(self, node, arm, scope, deleted=False):
        """Something that can't be read off the text may bind, or delete, any name of the module."""
        if arm.dead:
            return
        if deleted:
            self._cleared(node)
            return
        if scope.kind == "function" and not self._called_at_load(scope):
            self.notes.append("%s() binds names of this module by computed text, line %d" % (scope.name, node.lineno))
            return
        self.untold(node.lineno, "line %d binds names of this module by computed text" % node.lineno)

    def untold(self, line, message, name=None):
        self.unknowns.append({"name": name, "line": line, "other": None, "message": message})

    def _cleared(self, node):
        """A loop that clears globals(): each imported name that it may mean is gone below."""
        loop = next(
            (n for n in ast.walk(self.tree) if isinstance(n, ast.For) and any(part is node for part in ast.walk(n))),
            None,
        )
        for name in sorted(self.interesting & set(self.module.binds)):
            bind = next((b for b in self.module.binds[name] if b.imported and b.line < node.lineno), None)
            if bind is None or any(b.line > node.lineno for b in self.module.binds[name]):
                continue
            told = _loop_takes(loop, node, name)
            inline, later = self.reads(self.module, name)
            lines = [each.line for each in later if not each.soft] + [
                each.line for each in inline if each.line > node.end_lineno
            ]
            if told is False or not lines:
                continue
            text = "%s, imported on line %d, is cleared from globals() on line %d and used on line %d"
            text = text % (name, bind.line, node.lineno, min(lines))
            if told:
                self.conflict("N12", name, bind.line, text, node.lineno, min(lines))
            else:
                self.untold(node.lineno, text, name)

    def _special(self, name, call, order, arm, scope):
        if arm.dead:
            return
        if name == "exec":
            self._exec(call, order, arm, scope)
        elif name in ("setattr", "delattr") and call.args and self._is_module(call.args[0]):
            known, key = constant(call.args[1]) if len(call.args) > 1 else (False, None)
            if known and isinstance(key, str):
                self._bind_text(key, "exec" if name == "setattr" else "del", call, order, arm, scope)
            else:
                self._computed(call, arm, scope)
        elif name == ".update" and self._is_namespace(call.func.value, scope):
            self._update(call, order, arm, scope)
        elif name in (".pop", ".setdefault") and self._is_namespace(call.func.value, scope) and call.args:
            known, key = constant(call.args[0])
            if known and isinstance(key, str):
                if name == ".pop":
                    self._bind_text(key, "del", call, order, arm, scope)
            elif name == ".pop":
                self._cleared(call)
            else:
                self._computed(call, arm, scope)
        elif name == ".clear" and self._is_namespace(call.func.value, scope):
            self._cleared(call)

    def _update(self, call, order, arm, scope):
        for word in call.keywords:
            if word.arg is None:
                self._computed(call, arm, scope)
            else:
                self._bind_text(word.arg, "exec", call, order, arm, scope)
        for argument in call.args:
            if isinstance(argument, ast.Dict) and all(
                isinstance(k, ast.Constant) and isinstance(k.value, str) for k in argument.keys
            ):
                for key in argument.keys:
                    self._bind_text(key.value, "exec", call, order, arm, scope)
            else:
                self._computed(call, arm, scope)

    def _exec(self, call, order, arm, scope):
        own = len(call.args) > 1 or call.keywords
        if own and not (len(call.args) == 2 and self._is_namespace(call.args[1], scope)):
            return
        if not own and scope.kind != "module":
            return
        known, text = constant(call.args[0]) if call.args else (False, None)
        if not known or not isinstance(text, str):
            self._computed(call, arm, scope)
            return
        try:
            inner = ast.parse(text)
        except (SyntaxError, ValueError):
            return
        for node in inner.body:
            self._exec_statement(node, call, order, arm, scope)

    def _exec_statement(self, node, call, order, arm, scope):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                if isinstance(node, ast.Import):
                    target = (alias.name if alias.asname else alias.name.partition(".")[0], None)
                else:
                    target = (node.module or "", alias.name)
                name = alias.asname or (alias.name.partition(".")[0] if isinstance(node, ast.Import) else alias.name)
                self.interesting.add(name)
                self._late_bind(self.module, name, "exec", call, order, arm, scope, target)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
            self._bind_text(node.name, "exec", call, order, arm, scope)
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self._bind_text(target.id, "del", call, order, arm, scope)
        else:
            for part in ast.walk(node):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                    self._bind_text(part.id, "exec", call, order, arm, scope)

    # Used before it is bound: P14, N11, N20.

    def _late(self):
        """At module level: read, or needed by a function that is called, above every line that binds it."""
        calls = [call for call in self.module.calls if not call[3].dead]
        for scope in self.walk.scopes:
            if scope.kind == "class" and scope.parent is self.module:
                calls.extend(call for call in scope.calls if not call[3].dead)
        for name in sorted(self.interesting & set(self.module.binds)):
            events = [bind for bind in self.events(self.module, name) if bind.kind != "del"]
            if not events or not any(bind.imported for bind in events):
                continue
            if (name in BUILTINS or name in MODULE_NAMES) and self.added is None:
                continue
            self._late_name(name, events, calls)

    def _late_name(self, name, events, calls):
        first = events[0]
        inline, later = self.reads(self.module, name)
        suspects = [load for load in inline if load.order < first.order and not load.arm.dead and not load.soft]
        if not first.imported and not any(_arm_optional(first)):
            return
        for load in suspects:
            if not exclusive(load.arm, first.arm) and not self._forgiven(load.arm):
                if name in BUILTINS:
                    return  # the rule of builtins tells
                text = "%s is used on line %d and bound only on line %d" % (name, load.line, first.line)
                self.added_use(("P14", name, first.line, text, load.line, load.line))
                return
        readers = {id(load.scope): load for load in later if not load.soft}
        if not readers or name in BUILTINS:
            return
        for called, order, line, arm in calls:
            if order < first.order and not exclusive(arm, first.arm):
                load = self._reaches(called, readers, set())
                if load is not None and not self._forgiven(load.arm) and not self._forgiven(arm):
                    text = "%s() is called on line %d and uses %s, bound only on line %d" % (
                        called,
                        line,
                        name,
                        first.line,
                    )
                    self.added_use(("P14", name, first.line, text, line, load.line))
                    return

    def _reaches(self, called, readers, visited):
        """The read of the name that calling this function, or class, comes to."""
        if called in visited or len(visited) > 200:
            return None
        visited.add(called)
        for scope in self.module.children:
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
                    found = self._reaches(call[0], readers, visited)
                    if found is not None:
                        return found
        return None

    def _forgiven(self, arm):
        """Whether a NameError there is caught. An insertion that comes too late for it is too late all the same."""
        return self.added is None and arm.caught(NAME_ERRORS)

    def _locals(self):
        """In a function: a name that an import (or anything, over an imported name) makes local, read where it is unbound."""
        outer = {name for name, binds in self.module.binds.items() if any(b.imported for b in binds)}
        for scope in self.walk.scopes:
            if scope.kind != "function" or scope.name == "<lambda>":
                continue
            for name, binds in scope.binds.items():
                if name in scope.globals or name in scope.nonlocals or binds[0].kind == "parameter":
                    continue
                imported = any(bind.imported for bind in binds)
                if not imported and name not in outer:
                    continue
                self._local(scope, name, binds, imported)

    def _local(self, scope, name, binds, imported):
        loads = scope.loads.get(name, [])
        inner, later = [], []
        if imported or name in self.interesting:
            later = self.reads(scope, name)[1]
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
        flow = Flow(name, self.world, inner)
        flow.block(scope.node.body, UNBOUND)
        surely = [use for use in flow.uses if use[1] == UNBOUND]
        shadows = self._shadows(scope, name)
        if (
            not surely
            and self.added is None
            and all(_conditional_arm(bind.arm) for bind in self.module.binds.get(name, ()))
        ):
            shadows = False  # further out it is bound on a condition too: which of the two holds can't be read off
        wrong = surely or (flow.uses if shadows else [])
        if not wrong:
            return
        anchor = next((bind for bind in binds if bind.imported), None) or self.module.binds[name][0]
        other = next((bind for bind in binds if not bind.imported), first)
        if not surely and self.added is None and any(bind.kind == "del" for bind in binds):
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
        self.added_use((rule, name, anchor.line, text, first.line if imported else other.line, wrong[0][0]))

    def _shadows(self, scope, name):
        """Whether the name would be found further out, were it not local."""
        at = scope.parent
        while at is not None:
            if at.kind != "class" and any(not bind.arm.dead for bind in at.binds.get(name, ())):
                return True
            at = at.parent
        return name in BUILTINS

    # Star imports: N8.

    def _stars(self):
        for star in self.walk.stars:
            if star.arm.dead:
                continue
            names = self.resolver.exports(star.target[0])
            if names is None:
                self._dark_star(star)
                continue
            missing = self.resolver.missing_exports(star.target[0])
            if missing:
                text = "__all__ of %s names %s, which it does not have: the star import of line %d raises"
                self.conflict(
                    "N8", missing[0], star.line, text % (star.target[0], missing[0], star.line), severity="breaks"
                )
            self._star_takes(star, names)

    def _star_takes(self, star, names):
        scope = star.scope
        for name in sorted(names & set(scope.binds)):
            before = [b for b in self.events(scope, name) if b.order < star.order and not exclusive(b.arm, star.arm)]
            if not before or before[-1].kind == "del":
                continue
            first = before[-1]
            if not first.imported and self.added is None and first.kind != "def" and first.kind != "class":
                continue
            if any(b.order > star.order and not _conditional(star, b) for b in self.events(scope, name)):
                continue  # bound anew below, and judged there
            same = self.resolver.same(first.target, (star.target[0], name)) if first.imported else False
            if same or (_conditional(first, star) and self.added is None) or _placeholder(first):
                continue
            if same is None:
                self.untold(
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
            self.conflict(
                "N8",
                name,
                first.line if first.imported else star.line,
                text,
                star.line if first.imported else first.line,
                self._any_use(name),
            )
        if self.added is None or star.line in self.added:
            self._star_builtins(star, names)

    def _any_use(self, name):
        return min((load.line for scope in self.walk.scopes for load in scope.loads.get(name, ())), default=None)

    def _star_builtins(self, star, names):
        for name in sorted(names & BUILTINS - {"__doc__", "__name__"}):
            if name in self.module.binds or self.resolver.same((star.target[0], name), ("builtins", name)):
                continue
            loads = [
                load
                for scope in self.walk.scopes
                for load in scope.loads.get(name, ())
                if self._home(scope, name)[0] is self.module
            ]
            shape = self._builtin_shape(loads, (star.target[0], name))
            if loads and (self.added is not None or shape is not None):
                text = "`from %s import *` on line %d takes the builtin %s, used on line %d"
                line = (shape or loads[0]).line
                self.conflict("N9", name, star.line, text % (star.target[0], star.line, name, line), None, line)

    def _dark_star(self, star):
        """A star import from a module that can't be found may take any name bound above it."""
        above = [
            name
            for name in sorted(self.interesting & set(star.scope.binds))
            if any(b.imported and b.order < star.order for b in star.scope.binds[name])
            and not any(b.order > star.order for b in star.scope.binds[name])
            and not name.startswith("_")
        ]
        if above or self.added:
            text = "which names `from %s import *` on line %d brings can't be told: "
            text += "the module was not found, or fills itself as it runs"
            self.unknowns.append(
                {
                    "name": None,
                    "line": star.line,
                    "other": None,
                    "message": text % (star.target[0], star.line),
                    "takes": sorted(above)[:50],
                }
            )

    # Builtins: N9.

    def _builtins(self):
        for scope in self.walk.scopes:
            for name in sorted(scope.binds.keys() & BUILTINS):
                for bind in scope.binds[name]:
                    if bind.imported and not bind.arm.dead and name not in MODULE_NAMES:
                        self._builtin(scope, name, bind)
                        break

    def _builtin(self, scope, name, bind):
        if scope.kind == "class" or self.resolver.same(bind.target, ("builtins", name)):
            return
        inline, later = self.reads(scope, name)
        loads = [
            load
            for load in [*inline, *later]
            if not load.soft and not load.arm.dead and not exclusive(bind.arm, load.arm)
        ]
        if _conditional_arm(bind.arm) and self.added is None:
            return
        if self.added is not None:
            if loads and bind.line in self.added:
                old = [load for load in loads if load.line not in self.added]
                if old:
                    text = "%s of line %d takes the builtin's name, which line %d uses" % (
                        spelled(bind.target),
                        bind.line,
                        old[0].line,
                    )
                    self.conflict("N9", name, bind.line, text, None, old[0].line)
            return
        early = [load for load in inline if load.order < bind.order]
        shape = early[0] if early else self._builtin_shape(loads, bind.target)
        if shape is not None:
            text = "%s of line %d takes the name of the builtin that line %d means" % (
                spelled(bind.target),
                bind.line,
                shape.line,
            )
            self.conflict("N9", name, bind.line, text, None, shape.line)
        elif loads:
            self.notes.append("line %d imports %s over the builtin" % (bind.line, name))

    def _builtin_shape(self, loads, target):
        """The first call that only the builtin takes."""
        calls = self._calls_by_name()
        for load in loads:
            call = calls.get(id(load.node))
            if call is not None and _only_builtin(load.node.id, call, target):
                return load
        return None

    def _calls_by_name(self):
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

    # Classes: N10, N13.

    def _classes(self):
        """A method that relies on an import of its class body."""
        for scope in self.walk.scopes:
            if scope.kind != "class":
                continue
            for name, binds in scope.binds.items():
                if any(bind.imported for bind in binds) and not self._shadows(scope, name):
                    self._unseen_by_methods(scope, name, next(bind for bind in binds if bind.imported))

    def _unseen_by_methods(self, scope, name, bind):
        for each, line, blind in self.walk.unseen:
            if each == name and blind is scope and name not in BUILTINS:
                text = "%s, imported on line %d in the body of class %s, is not seen by the comprehension on line %d"
                self.added_use(("N10", name, bind.line, text % (name, bind.line, scope.name, line), line, line))
                return
        for inner in self.walk.scopes:
            if (
                inner.kind == "function"
                and _inside(inner, scope)
                and name in inner.loads
                and name not in self.module.binds
            ) and self._home(inner, name)[0] is self.module:
                line = inner.loads[name][0].line
                text = "%s, imported on line %d in the body of class %s, is not seen by its method on line %d"
                self.added_use(("N10", name, bind.line, text % (name, bind.line, scope.name, line), line, line))
                return

    def _mangled(self):
        for name, line, kind, private, scope in self.walk.mangled:
            binds = [bind for bind in self.module.binds.get(name, ()) if bind.imported]
            mangled = "_%s%s" % (private.lstrip("_"), name)
            if kind == "load" and binds and not self._bound_as(scope, mangled):
                text = "%s, imported on line %d, is read as %s on line %d" % (name, binds[0].line, mangled, line)
                self.added_use(("N13", name, binds[0].line, text, line, line))

    def _bound_as(self, scope, name):
        while scope is not None:
            if name in scope.binds:
                return True
            scope = scope.parent
        return False

    # What Python gives to a module, and what a module serves: N14 to N16.

    def _module_names(self):
        for name in MODULE_NAMES:
            for bind in self.module.binds.get(name, ()):
                if not bind.imported or bind.arm.dead:
                    continue
                loads = [load.line for scope in self.walk.scopes for load in scope.loads.get(name, ())]
                if name == "__doc__" and not loads and (self.added is None or ast.get_docstring(self.tree) is None):
                    continue
                text = "line %d takes %s, which Python gives to this module" % (bind.line, name)
                self.conflict("N16", name, bind.line, text, None, min(loads, default=None))
        for bind in self.module.binds.get("__all__", ()):
            if (
                bind.imported
                and not bind.arm.dead
                and len(self.module.binds["__all__"]) == 1
                and self.added is not None
            ):
                text = "line %d makes __all__ of %s the list of what a star import of this module brings"
                self.conflict("N14", "__all__", bind.line, text % (bind.line, bind.target[0]))

    def _served(self):
        """PEP 562: a binding hides what the module's __getattr__ served under that name."""
        serve = next((s for s in self.module.children if s.kind == "function" and s.name == "__getattr__"), None)
        if serve is None:
            return
        served = {
            part.value
            for part in ast.walk(serve.node)
            if isinstance(part, ast.Constant) and isinstance(part.value, str)
        }
        for name in serve.loads:
            for bind in self.module.binds.get(name, ()):
                value = getattr(bind.node, "value", None)
                if bind.kind == "assign" and isinstance(value, (ast.Dict, ast.Tuple, ast.List, ast.Set, ast.Call)):
                    served |= {
                        p.value for p in ast.walk(value) if isinstance(p, ast.Constant) and isinstance(p.value, str)
                    }
        for name in sorted(served & self.interesting & set(self.module.binds)):
            for bind in self.module.binds[name]:
                if self.added is None and _conditional_arm(bind.arm):
                    continue
                if bind.imported and not bind.arm.dead and _serves(serve.node, name, self.module):
                    text = "%s, bound on line %d, hides what __getattr__ on line %d serves under that name"
                    self.conflict(
                        "N15", name, bind.line, text % (name, bind.line, serve.node.lineno), serve.node.lineno
                    )
                    break

    # TYPE_CHECKING: N17.

    def _type_checking(self):
        for name in sorted(self.interesting & set(self.module.binds)):
            binds = [bind for bind in self.module.binds[name] if bind.kind != "annotation"]
            checking = [bind for bind in binds if bind.imported and _under_checking(bind.arm)]
            if not checking or any(not bind.arm.dead for bind in binds) or name in BUILTINS:
                continue
            if any(name in scope.globals and name in scope.binds for scope in self.walk.scopes) or self._starred(name):
                continue
            inline, later = self.reads(self.module, name)
            for load in sorted([*inline, *later], key=lambda each: each.line):
                if (
                    not load.soft
                    and not load.arm.dead
                    and not self._forgiven(load.arm)
                    and not self._guarded_by_checking(load)
                ):
                    text = "%s is imported on line %d for type checkers alone, and line %d needs it at run time"
                    self.added_use(
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

    def _starred(self, name):
        for star in self.module.star:
            names = self.resolver.exports(star.target[0])
            if names is None or name in names:
                return True
        return False

    def _guarded_by_checking(self, load):
        scope = load.scope
        while scope is not None:
            if scope.root.dead:
                return True
            scope = scope.parent
        return False


def _conditional(first, second):
    """Whether the second runs only sometimes when the first has run."""
    inner, outer = second.arm.path(), set(map(id, first.arm.path()))
    return any(_optional(arm, second) for arm in inner if id(arm) not in outer)


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


def _optional(arm, bind):
    if arm.kind in ("if", "rest") and arm.test is not None:
        return True
    if arm.kind == "match":
        return bind.kind != "capture"
    return arm.kind == "try" and (
        (arm.label.startswith("handler") and bind.kind not in ("except", "del"))
        or (arm.label == "body" and bind.imported)
        or (arm.label == "else" and bind.kind == "del")
    )


def _arm_optional(bind):
    return [arm for arm in bind.arm.path() if _optional(arm, bind)]


def _conditional_arm(arm):
    return any(each.kind in ("if", "match", "try", "rest") for each in arm.path())


def _placeholder(bind):
    """A stand-in: `x = None`."""
    value = getattr(bind.node, "value", None)
    return (
        bind.kind == "assign"
        and isinstance(value, ast.Constant)
        and (value.value is None or isinstance(value.value, bool) or value.value is ...)
    )


def _asks_none(arm, name):
    """Whether the code runs only when the parameter was not given."""
    while arm is not None:
        if arm.test is not None and any(isinstance(p, ast.Name) and p.id == name for p in ast.walk(arm.test)):
            return True
        arm = arm.parent
    return False


def _reads(bind, name):
    """Whether the new value is made from the old one."""
    node = bind.node
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        parts = [*node.decorator_list, *node.args.defaults]
    elif isinstance(node, ast.ClassDef):
        parts = [*node.decorator_list, *node.bases, *(word.value for word in node.keywords)]
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        parts = [node.iter]
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        parts = [item.context_expr for item in node.items]
    elif bind.kind in ("assign", "walrus", "exec") and getattr(node, "value", None) is not None:
        parts = [node.value]
    else:
        return False
    return any(isinstance(p, ast.Name) and p.id == name for part in parts for p in ast.walk(part))


def _inside(scope, outer):
    while scope is not None:
        if scope is outer:
            return True
        scope = scope.parent
    return False


def _under_checking(arm):
    return any(each.dead and each.test is not None and "TYPE_CHECKING" in ast.dump(each.test) for each in arm.path())


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
