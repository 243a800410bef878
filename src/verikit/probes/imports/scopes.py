"""One walk over a file's tree: which scope binds, reads and deletes which name, in what order, on which branch.

The walk is the only one over the whole tree, so it is written for speed; everything else asks its tables.
"""

import ast
from collections import deque

from verikit.probes.imports.conditions import atoms, contradict, dotted, flags, takes, truth

RAISING = ("sys.exit", "exit", "quit", "os._exit", "os.abort")


class Arm:
    """A stretch of code that runs or doesn't as a whole: one branch of an `if`, a handler, a loop's body."""

    __slots__ = ("_known", "construct", "dead", "depth", "holds", "kind", "label", "leaves", "parent", "test")

    def __init__(self, parent, construct, kind, label, test=None, holds=True, dead=False, leaves=False):
        self.parent, self.construct, self.kind, self.label = parent, construct, kind, label
        self.test, self.holds, self.leaves, self._known = test, holds, leaves, None
        self.dead = dead or (parent is not None and parent.dead)
        self.depth = 0 if parent is None else parent.depth + 1

    def known(self):
        """What its test says, as atoms."""
        if self._known is None:
            self._known = atoms(self.test, self.holds) if self.test is not None else {}
        return self._known

    def path(self):
        """The arms from the outermost to this one."""
        steps, arm = [], self
        while arm is not None:
            steps.append(arm)
            arm = arm.parent
        return steps[::-1]

    def caught(self, names):
        """Whether an exception of one of these names, raised there, is caught by a `try` around it."""
        tries = [arm for arm in self.path() if arm.kind == "try" and arm.label == "body"]
        return any(takes(arm.construct.handlers, names) for arm in tries)


class Bind:
    """One place where a name is bound (or deleted). `target` of an import: (module, attribute or None)."""

    __slots__ = ("arm", "end", "kind", "line", "name", "node", "order", "scope", "target")

    def __init__(self, name, kind, node, order, arm, scope, target=None):
        self.name, self.kind, self.node, self.order = name, kind, node, order
        self.arm, self.scope, self.target = arm, scope, target
        self.line = getattr(node, "lineno", 0)
        self.end = getattr(node, "end_lineno", self.line)

    @property
    def imported(self):
        return self.target is not None


class Load:
    """One read of a name. `soft`: in an annotation that is never evaluated."""

    __slots__ = ("arm", "line", "node", "order", "scope", "soft")

    def __init__(self, node, order, arm, scope, soft):
        self.line, self.order, self.arm, self.scope, self.soft, self.node = node.lineno, order, arm, scope, soft, node


class Scope:
    """A module, class or function body."""

    __slots__ = (
        "binds",
        "calls",
        "children",
        "dels",
        "globals",
        "kind",
        "loads",
        "name",
        "node",
        "nonlocals",
        "params",
        "parent",
        "root",
        "star",
    )

    def __init__(self, kind, name, node, parent):
        self.kind, self.name, self.node, self.parent = kind, name, node, parent
        self.binds, self.loads, self.dels, self.calls = {}, {}, {}, []
        self.globals, self.nonlocals, self.children, self.star, self.params = set(), set(), [], [], set()
        self.root = Arm(None, node, "root", kind)
        if parent is not None:
            parent.children.append(self)


def exclusive(one, other):
    """Whether two arms never run in one pass through their scope."""
    first, second = one.path(), other.path()
    at = 0
    while at < len(first) and at < len(second) and first[at] is second[at]:
        at += 1
    if (
        at < len(first)
        and at < len(second)
        and first[at].construct is second[at].construct
        and _apart(first[at], second[at])
    ):
        return True
    if any(arm.leaves for arm in first[at:]):  # the earlier one ends in raise, return or exit
        return True
    return any(
        contradict(a.known(), b.known())
        for a in first[at:]
        if a.test is not None
        for b in second[at:]
        if b.test is not None
    )


def _apart(one, other):
    if one.kind in ("if", "match"):
        return one.label != other.label
    if one.kind == "try":
        labels = {one.label, other.label}
        return "final" not in labels and labels != {"body", "else"} and len(labels) == 2
    return False


def is_fallback(arm):
    """Whether the code is what stands in when something else could not be had."""
    return any(each.kind == "try" and each.label.startswith("handler") for each in arm.path())


def leaves(body):
    """Whether a block always ends by leaving: return, raise, continue, break, exit."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, (ast.Return, ast.Raise, ast.Continue, ast.Break)):
        return True
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        return dotted(last.value.func) in RAISING
    if isinstance(last, ast.If):
        return leaves(last.body) and leaves(last.orelse)
    if isinstance(last, (ast.With, ast.AsyncWith)):
        return leaves(last.body)
    return False


_SKIPPED = {"ctx", "op", "ops", "type_comment", "kind", "type_ignores"}
_FIELDS = {
    cls: tuple(field for field in cls._fields if field not in _SKIPPED)
    for cls in vars(ast).values()
    if isinstance(cls, type) and issubclass(cls, ast.AST)
}
_NAME, _CONSTANT, _ATTRIBUTE, _CALL = ast.Name, ast.Constant, ast.Attribute, ast.Call
SPECIAL_METHODS = {"update", "pop", "clear", "setdefault", "insert", "append", "extend", "remove"}
SPECIAL_CALLS = {"exec", "eval", "setattr", "globals", "vars", "locals", "delattr", "__import__"}


class Walk:
    """The tables of one file: `module` (its outermost scope), `scopes`, `specials` (calls that act on names by text)."""

    def __init__(self, tree, world, package=None, lazy_annotations=False):
        self.world, self.package = world, package
        world.flags = flags(tree, world)
        self.order = 0
        self.specials, self.mangled, self.futures, self.scopes, self.stars = [], [], [], [], []
        self.imports = []  # (node, alias, module as written in full, order, arm, scope)
        self.writes = []
        self.blind, self.unseen = None, []  # reads in a comprehension that do not see the class around it
        self.methods = set()  # names of the methods that are called
        self.waiting = deque()
        self.private = None
        self.shadows = []
        self.lazy = lazy_annotations or any(
            isinstance(node, ast.ImportFrom)
            and node.module == "__future__"
            and any(a.name == "annotations" for a in node.names)
            for node in tree.body
        )
        self.module = self.scope = self._new("module", "<module>", tree, None)
        self.arm = self.module.root
        self.block(tree.body)
        while self.waiting:
            self._function(*self.waiting.popleft())

    def _new(self, kind, name, node, parent):
        scope = Scope(kind, name, node, parent)
        self.scopes.append(scope)
        return scope

    def forget(self):
        """Unties the tables once nobody reads them: scopes and what they hold know each other, and would stay in memory."""
        for scope in self.scopes:
            for table in (scope.binds, scope.loads, scope.dels, scope.calls, scope.children, scope.star):
                table.clear()
            scope.parent = None

    # Statements.

    def block(self, body):
        arm = self.arm
        for at, node in enumerate(body):
            self.statement(node)
            if at + 1 < len(body) and type(node) in _LEAVING:  # what stands below is never reached
                self.arm = Arm(self.arm, node, "unreachable", "after", dead=True)
        self.arm = arm

    def statement(self, node):
        self.order += 1
        visit = _STATEMENTS.get(type(node))
        if visit is None:
            self.expression(node)
        else:
            visit(self, node)

    def bind(self, name, kind, node, target=None, scope=None):
        if self.private is not None and name[:2] == "__" and name[-2:] != "__":
            self.mangled.append((name, node.lineno, kind, self.private, self.scope))
            name = "_%s%s" % (self.private.lstrip("_"), name)
        bind = Bind(name, kind, node, self.order, self.arm, scope or self.scope, target)
        self.order += 1
        (scope or self.scope).binds.setdefault(name, []).append(bind)
        return bind

    def _import(self, node):
        for alias in node.names:
            self.imports.append((node, alias, alias.name, self.order, self.arm, self.scope))
            if alias.asname:
                self.bind(alias.asname, "import", node, (alias.name, None))
            else:
                self.bind(alias.name.partition(".")[0], "import", node, (alias.name.partition(".")[0], None))

    def _import_from(self, node):
        module = absolute(node, self.package)
        if node.module == "__future__" and not node.level:
            self.futures.append(node)
        for alias in node.names:
            self.imports.append((node, alias, module, self.order, self.arm, self.scope))
            if alias.name == "*":
                self.scope.star.append(Bind("*", "star", node, self.order, self.arm, self.scope, (module, "*")))
                self.stars.append(self.scope.star[-1])
            else:
                self.bind(alias.asname or alias.name, "import", node, (module, alias.name))

    def _target(self, node, kind, holder):
        kind_of = type(node)
        if kind_of is _NAME:
            self.bind(node.id, kind, holder)
        elif kind_of in (ast.Tuple, ast.List):
            for item in node.elts:
                self._target(item, kind, holder)
        elif kind_of is ast.Starred:
            self._target(node.value, kind, holder)
        else:
            if kind_of is ast.Subscript or kind_of is _ATTRIBUTE:
                self.writes.append((node, holder, self.order, self.arm, self.scope))
            self.expression(node)

    def _assign(self, node):
        self.expression(node.value)
        for target in node.targets:
            self._target(target, "assign", node)

    def _augment(self, node):
        self.expression(node.value)
        if isinstance(node.target, _NAME):
            self._load(node.target)
        self._target(node.target, "augment", node)

    def _annotated(self, node):
        if node.value is not None:
            self.expression(node.value)
        self._annotation(node.annotation, self.scope.kind == "function")
        if node.value is not None:
            self._target(node.target, "assign", node)
        elif isinstance(node.target, _NAME):
            if self.scope.kind == "function" and node.simple:
                self.bind(node.target.id, "annotation", node)
        else:
            self.expression(node.target)

    def _annotation(self, node, never=False):
        if node is None:
            return
        if never or self.lazy:
            kept, self._soft = self._soft, True
            self.expression(node)
            self._soft = kept
        else:
            self.expression(node)

    _soft = False

    def _def(self, node):
        for decorator in node.decorator_list:
            self.expression(decorator)
            name = dotted(decorator)
            if name and "." not in name:
                self.scope.calls.append((name, self.order, node.lineno, self.arm))
        args = node.args
        for default in args.defaults:
            self.expression(default)
        for default in args.kw_defaults:
            if default is not None:
                self.expression(default)
        generic = bool(getattr(node, "type_params", None))
        for each in _parameters(args):
            self._annotation(each.annotation, generic and False)
        self._annotation(node.returns)
        self.bind(node.name, "def", node)
        self._later(node, node.name, node.body)

    def _later(self, node, name, body):
        scope = self._new("function", name, node, self.scope)
        self.waiting.append((scope, node, body, self.private, list(self.shadows)))

    def _function(self, scope, node, body, private, shadows):
        self.scope, self.arm, self.private, self.shadows, self._soft = scope, scope.root, private, shadows, False
        self.blind = None
        for each in _parameters(node.args):
            scope.params.add(each.arg)
            self.order += 1
            bind = Bind(each.arg, "parameter", each, self.order, scope.root, scope)
            scope.binds.setdefault(each.arg, []).append(bind)
        if isinstance(body, list):
            self.block(body)
        else:
            self.expression(body)

    def _class(self, node):
        for decorator in node.decorator_list:
            self.expression(decorator)
        for base in node.bases:
            self.expression(base)
        for word in node.keywords:
            self.expression(word.value)
        outer, arm, private = self.scope, self.arm, self.private
        self.scope, self.private = self._new("class", node.name, node, outer), node.name
        self.scope.root.parent, self.scope.root.depth = arm, arm.depth + 1
        self.scope.root.dead = arm.dead
        self.arm = self.scope.root
        self.block(node.body)
        self.scope, self.arm, self.private = outer, arm, private
        self.bind(node.name, "class", node)

    def _within(self, body, construct, kind, label, test=None, holds=True, dead=False):
        if not body:
            return
        outer = self.arm
        self.arm = Arm(outer, construct, kind, label, test, holds, dead, leaves(body))
        self.block(body)
        self.arm = outer

    def _if(self, node):
        self.expression(node.test)
        known = truth(node.test, self.world)
        # A test whose outcome is known is no condition, except that a dead branch keeps what kept it from running.
        self._within(node.body, node, "if", "body", None if known else node.test, True, known is False)
        self._within(node.orelse, node, "if", "else", None if known is False else node.test, False, known is True)
        if known is None and not node.orelse and leaves(node.body):
            # `if x: return` above: from here on the test does not hold
            self.arm = Arm(self.arm, node, "rest", "rest", node.test, False)

    def _try(self, node):
        self._within(node.body, node, "try", "body")
        for at, handler in enumerate(node.handlers):
            outer = self.arm
            self.arm = Arm(outer, node, "try", "handler%d" % at, leaves=leaves(handler.body))
            if handler.type is not None:
                self.expression(handler.type)
            if handler.name:
                self.bind(handler.name, "except", handler)
            self.block(handler.body)
            if handler.name:
                self._delete_name(handler.name, handler)
            self.arm = outer
        self._within(node.orelse, node, "try", "else")
        self._within(node.finalbody, node, "try", "final")

    def _for(self, node):
        self.expression(node.iter)
        outer = self.arm
        self.arm = Arm(outer, node, "loop", "body")
        self._target(node.target, "for", node)
        self.block(node.body)
        self.arm = outer
        self._within(node.orelse, node, "loop", "else")

    def _while(self, node):
        self.expression(node.test)
        self._within(node.body, node, "loop", "body", dead=truth(node.test, self.world) is False)
        self._within(node.orelse, node, "loop", "else")

    def _with(self, node):
        for item in node.items:
            self.expression(item.context_expr)
            if item.optional_vars is not None:
                self._target(item.optional_vars, "with", node)
        self._within(node.body, node, "with", "body")

    def _match(self, node):
        self.expression(node.subject)
        for at, case in enumerate(node.cases):
            outer = self.arm
            self.arm = Arm(outer, node, "match", "case%d" % at, leaves=leaves(case.body))
            for part in ast.walk(case.pattern):
                name = getattr(part, "rest", None) or (
                    getattr(part, "name", None) if not isinstance(part, ast.Name) else None
                )
                if isinstance(name, str):
                    self.bind(name, "capture", part)
                elif isinstance(part, _NAME):
                    self._load(part)
            if case.guard is not None:
                self.expression(case.guard)
            self.block(case.body)
            self.arm = outer

    def _delete(self, node):
        for target in node.targets:
            if isinstance(target, _NAME):
                self._delete_name(target.id, node)
            elif isinstance(target, (ast.Tuple, ast.List)):
                self._delete(target_list(target, node))
            else:
                self.writes.append((target, node, self.order, self.arm, self.scope))
                self.expression(target)

    def _delete_name(self, name, node):
        self.order += 1
        self.scope.dels.setdefault(name, []).append(Bind(name, "del", node, self.order, self.arm, self.scope))

    def _global(self, node):
        self.scope.globals.update(node.names)

    def _nonlocal(self, node):
        self.scope.nonlocals.update(node.names)

    def _type_alias(self, node):
        self.bind(node.name.id, "type", node)

    def _lambda(self, node):
        for default in node.args.defaults:
            self.expression(default)
        for default in node.args.kw_defaults:
            if default is not None:
                self.expression(default)
        self._later(node, "<lambda>", node.body)

    # Expressions.

    def _load(self, node):
        name = node.id
        if self.shadows and any(name in names for names in self.shadows):
            return
        if self.private is not None and name[:2] == "__" and name[-2:] != "__":
            self.mangled.append((name, node.lineno, "load", self.private, self.scope))
            name = "_%s%s" % (self.private.lstrip("_"), name)
        self.order += 1
        if self.blind is not None:
            self.unseen.append((name, node.lineno, self.blind))
        load = Load(node, self.order, self.arm, self.scope, self._soft)
        loads = self.scope.loads
        if name in loads:
            loads[name].append(load)
        else:
            loads[name] = [load]

    def expression(self, node):
        kind = type(node)
        while kind is _ATTRIBUTE:
            node = node.value
            kind = type(node)
        if kind is _NAME:
            self._load(node)
            return
        if kind is _CONSTANT:
            if self._soft is False or not isinstance(node.value, str):
                return
            return
        visit = _EXPRESSIONS.get(kind)
        if visit is not None:
            visit(self, node)
            return
        for field in _FIELDS[kind]:
            value = getattr(node, field, None)
            if type(value) is list:
                for item in value:
                    if item is not None and type(item) is not str:
                        self.expression(item)
            elif isinstance(value, ast.AST):
                self.expression(value)

    def _call(self, node):
        func = node.func
        if type(func) is _NAME:
            self.scope.calls.append((func.id, self.order, node.lineno, self.arm))
            if func.id in SPECIAL_CALLS:
                self.specials.append((func.id, node, self.order, self.arm, self.scope))
        elif type(func) is _ATTRIBUTE:
            self.methods.add(func.attr)
            if func.attr in SPECIAL_METHODS:
                self.specials.append(("." + func.attr, node, self.order, self.arm, self.scope))
        self.expression(func)
        for argument in node.args:
            self.expression(argument)
        for word in node.keywords:
            self.expression(word.value)

    def _walrus(self, node):
        self.expression(node.value)
        kept, self.shadows = self.shadows, []
        self.bind(node.target.id, "walrus", node)
        self.shadows = kept

    def _comprehension(self, node):
        first = node.generators[0]
        self.expression(first.iter)
        names = set()
        for each in node.generators:
            names.update(part.id for part in ast.walk(each.target) if isinstance(part, _NAME))
        self.shadows = [*self.shadows, names]
        home = self.scope
        while self.scope.kind == "class":  # the rest does not see the names of a class body
            self.blind, self.scope = self.scope, self.scope.parent
        for at, each in enumerate(node.generators):
            if at:
                self.expression(each.iter)
            if not isinstance(each.target, (_NAME, ast.Tuple)):
                self.expression(each.target)
            for test in each.ifs:
                self.expression(test)
        if isinstance(node, ast.DictComp):
            self.expression(node.key)
            self.expression(node.value)
        else:
            self.expression(node.elt)
        self.shadows = self.shadows[:-1]
        if self.scope is not home:
            self.scope, self.blind = home, None


def target_list(target, node):
    """`del (a, b)` as `del a, b`."""
    made = ast.Delete(targets=target.elts)
    return ast.copy_location(made, node)


def _parameters(args):
    every = [*getattr(args, "posonlyargs", ()), *args.args, *args.kwonlyargs]
    return every + [each for each in (args.vararg, args.kwarg) if each is not None]


def spelled(target):
    """A target as people write it: `os.path`, `json.loads`."""
    module, name = target
    return module if name is None else (module + name if module.endswith(".") else "%s.%s" % (module, name))


def absolute(node, package):
    """The module that an import-from names: dots resolved where the package is known, else kept."""
    if not node.level:
        return node.module or ""
    parts = (package or "").split(".") if package else []
    if package and len(parts) >= node.level:
        base = parts[: len(parts) - node.level + 1]
        return ".".join(base + ([node.module] if node.module else []))
    return "." * node.level + (node.module or "")


_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_STATEMENTS = {
    ast.Import: Walk._import,
    ast.ImportFrom: Walk._import_from,
    ast.Assign: Walk._assign,
    ast.AugAssign: Walk._augment,
    ast.AnnAssign: Walk._annotated,
    ast.FunctionDef: Walk._def,
    ast.AsyncFunctionDef: Walk._def,
    ast.ClassDef: Walk._class,
    ast.If: Walk._if,
    ast.Try: Walk._try,
    ast.For: Walk._for,
    ast.AsyncFor: Walk._for,
    ast.While: Walk._while,
    ast.With: Walk._with,
    ast.AsyncWith: Walk._with,
    ast.Delete: Walk._delete,
    ast.Global: Walk._global,
    ast.Nonlocal: Walk._nonlocal,
}
for _name, _visit in (("TryStar", Walk._try), ("Match", Walk._match), ("TypeAlias", Walk._type_alias)):
    if hasattr(ast, _name):  # 3.11, 3.10, 3.12
        _STATEMENTS[getattr(ast, _name)] = _visit
_EXPRESSIONS = {
    ast.Call: Walk._call,
    ast.Lambda: Walk._lambda,
    ast.NamedExpr: Walk._walrus,
    ast.ListComp: Walk._comprehension,
    ast.SetComp: Walk._comprehension,
    ast.DictComp: Walk._comprehension,
    ast.GeneratorExp: Walk._comprehension,
}
