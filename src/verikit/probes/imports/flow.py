"""Whether a name is bound where one block of code reads it: definite assignment, followed statement by statement."""

import ast

from verikit.probes.imports.conditions import dotted, truth
from verikit.probes.imports.scopes import RAISING

UNBOUND, BOUND = 1, 2  # a state is the set of what may be so: 3 is "depends", 0 is "never reached"
_FORGIVING = {"NameError", "UnboundLocalError", "Exception", "BaseException"}


class Flow:
    """Follows one name through a block. `uses`: [(line, state)] where it is read and may be unbound.

    `reads(call)`: names of functions whose call reads the name too.
    """

    def __init__(self, name, world, through=()):
        self.name, self.world, self.through = name, world, frozenset(through)
        self.uses, self.guards, self.forgiven, self.breaks = [], {}, 0, []

    def block(self, body, state):
        for node in body:
            if not state:
                break
            state = self.statement(node, state)
        return state

    def statement(self, node, state):
        visit = getattr(self, "_" + type(node).__name__, None)
        return visit(node, state) if visit else self.expression(node, state)

    def expression(self, node, state):
        """Reads first, then what a walrus binds."""
        if node is None:
            return state
        bound, reads = [], []
        for part in _inline(node):
            kind = type(part)
            if kind is ast.Name and part.id == self.name and isinstance(part.ctx, ast.Load):
                reads.append(part)
            elif kind is ast.NamedExpr and part.target.id == self.name:
                bound.append(part)
            elif kind is ast.Call and type(part.func) is ast.Name and part.func.id in self.through:
                reads.append(part)
        for part in reads:
            if not (bound and _runs_after(part, bound, node)):
                self._use(part, state)
        return state if not bound else state | BOUND if all(_may_be_skipped(each, node) for each in bound) else BOUND

    def _use(self, node, state):
        if state & UNBOUND and not self.forgiven:
            self.uses.append((node.lineno, state))

    def _targets(self, target, state):
        """Binding, or reading within an attribute or index."""
        if isinstance(target, ast.Name):
            return BOUND if target.id == self.name else state
        if isinstance(target, (ast.Tuple, ast.List)):
            for item in target.elts:
                state = self._targets(item, state)
            return state
        if isinstance(target, ast.Starred):
            return self._targets(target.value, state)
        return self.expression(target, state)

    def _Import(self, node, state):
        return BOUND if any((a.asname or a.name.partition(".")[0]) == self.name for a in node.names) else state

    def _ImportFrom(self, node, state):
        return BOUND if any((a.asname or a.name) in (self.name, "*") for a in node.names) else state

    def _Assign(self, node, state):
        state = self.expression(node.value, state)
        for target in node.targets:
            state = self._targets(target, state)
        return state

    def _AugAssign(self, node, state):
        state = self.expression(node.value, state)
        if isinstance(node.target, ast.Name) and node.target.id == self.name:
            self._use(node.target, state)
        return self._targets(node.target, state)

    def _AnnAssign(self, node, state):
        if node.value is None:
            return state
        return self._targets(node.target, self.expression(node.value, state))

    def _FunctionDef(self, node, state):
        for part in (*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d)):
            state = self.expression(part, state)
        return BOUND if node.name == self.name else state

    _AsyncFunctionDef = _FunctionDef

    def _ClassDef(self, node, state):
        for part in (*node.decorator_list, *node.bases, *(word.value for word in node.keywords)):
            state = self.expression(part, state)
        for inner in node.body:
            if not isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                for part in ast.walk(inner):
                    if isinstance(part, ast.Name) and part.id == self.name and isinstance(part.ctx, ast.Load):
                        self._use(part, state)
        return BOUND if node.name == self.name else state

    def _Delete(self, node, state):
        parts = [part for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)]
        names = [part.id for part in parts if isinstance(part.ctx, ast.Del)]
        return UNBOUND if self.name in names else state

    def _If(self, node, state):
        before, state = state, self.expression(node.test, state)
        known = truth(node.test, self.world)
        key = ast.dump(node.test)
        inside = self._guarded(key, True, state)
        outside = self._guarded(key, False, state)
        if state != before and isinstance(node.test, ast.BoolOp):  # one of the two ways, every part of the test has run
            inside, outside = (BOUND, outside) if isinstance(node.test.op, ast.And) else (inside, BOUND)
        after_body = self.block(node.body, inside) if known is not False else 0
        after_else = self.block(node.orelse, outside) if known is not True else 0
        if after_body == BOUND and after_else & UNBOUND:
            self.guards[key] = True
        elif after_else == BOUND and after_body & UNBOUND:
            self.guards[key] = False
        return after_body | after_else

    def _guarded(self, key, holds, state):
        return BOUND if state == (BOUND | UNBOUND) and self.guards.get(key) is holds else state

    def _Try(self, node, state):
        forgiving = any(_forgives(handler) for handler in node.handlers)
        self.forgiven += forgiving
        after = self.block(node.body, state)
        self.forgiven -= forgiving
        within = state | after
        ends = self.block(node.orelse, after)
        for handler in node.handlers:
            entered = BOUND if handler.name == self.name else within
            left = self.block(handler.body, entered)
            ends |= UNBOUND if handler.name == self.name and left else left
        if node.finalbody:
            final = self.block(node.finalbody, ends | within)
            return final if not ends else (ends if final else 0) if final != BOUND else BOUND
        return ends

    _TryStar = _Try

    def _For(self, node, state):
        state = self.expression(node.iter, state)
        self.breaks.append(0)
        body = self.block(node.body, self._targets(node.target, state))
        broken = self.breaks.pop()
        return self.block(node.orelse, state | body) | broken

    _AsyncFor = _For

    def _While(self, node, state):
        state = self.expression(node.test, state)
        known = truth(node.test, self.world)
        self.breaks.append(0)
        body = self.block(node.body, state) if known is not False else 0
        broken = self.breaks.pop()
        return broken if known is True else self.block(node.orelse, state | body) | broken

    def _With(self, node, state):
        quiet = False
        for item in node.items:
            state = self.expression(item.context_expr, state)
            quiet = quiet or "suppress" in ast.dump(item.context_expr)
            if item.optional_vars is not None:
                state = self._targets(item.optional_vars, state)
        after = self.block(node.body, state)
        return after | state if quiet else after

    _AsyncWith = _With

    def _Match(self, node, state):
        state, ends, open_end = self.expression(node.subject, state), 0, True
        for case in node.cases:
            bound = any(
                self.name in (getattr(p, "name", None), getattr(p, "rest", None)) for p in ast.walk(case.pattern)
            )
            inner = BOUND if bound else state
            ends |= self.block(case.body, self.expression(case.guard, inner))
            if isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None:
                open_end = False
        return ends | state if open_end else ends

    def _TypeAlias(self, node, state):
        return BOUND if node.name.id == self.name else state

    def _Expr(self, node, state):
        state = self.expression(node.value, state)
        if isinstance(node.value, ast.Call) and dotted(node.value.func) in RAISING:
            return 0
        return state

    def _Return(self, node, state):
        self.expression(node.value, state)
        return 0

    def _Raise(self, node, state):
        self.expression(node, state)
        return 0

    def _Break(self, node, state):
        if self.breaks:
            self.breaks[-1] |= state
        return 0

    def _Continue(self, node, state):
        return 0

    def _Global(self, node, state):
        return state

    _Nonlocal = _Pass = _Global


def _forgives(handler):
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or (dotted(kind) or "").rpartition(".")[2] in _FORGIVING for kind in kinds)


def _may_be_skipped(walrus, node):
    """Whether an expression can be evaluated without this part of it."""
    for part in ast.walk(node):
        later = part.values[1:] if isinstance(part, ast.BoolOp) else ()
        later = (part.body, part.orelse) if isinstance(part, ast.IfExp) else later
        if any(walrus is inner for each in later for inner in ast.walk(each)):
            return True
    return False


def _runs_after(read, walruses, node):
    """Whether a read stands behind a walrus, or in the element of a comprehension that has one in its tests."""
    if any((read.lineno, read.col_offset) >= (each.end_lineno, each.end_col_offset) for each in walruses):
        return True
    for part in ast.walk(node):
        if isinstance(part, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            tests = [inner for each in part.generators for inner in ast.walk(each)]
            if any(each in tests for each in walruses) and read not in tests and read in ast.walk(part):
                return True
    return False


def _inline(node):
    """The nodes of an expression that run with it: not the bodies of lambdas, nor what a comprehension hides."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        yield part
        if isinstance(part, ast.Lambda):
            waiting.extend(part.args.defaults)
        elif isinstance(part, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            hidden = {p.id for each in part.generators for p in ast.walk(each.target) if isinstance(p, ast.Name)}
            rest = [part.generators[0].iter]
            for each in ast.iter_child_nodes(part):
                for piece in ast.walk(each):
                    if isinstance(piece, ast.NamedExpr) or (isinstance(piece, ast.Name) and piece.id not in hidden):
                        rest.append(piece)
            waiting.extend(rest)
        else:
            waiting.extend(ast.iter_child_nodes(part))
