"""What the test of an `if` says about this run: known here and now, or in contradiction to another test."""

import ast
import operator

COMPARE = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
# Each operator with the one that says the same or the contrary: `a < b` is never true together with `a >= b`.
CANONICAL = {
    ast.GtE: ("<", False),
    ast.Lt: ("<", True),
    ast.Gt: (">", True),
    ast.LtE: (">", False),
    ast.Eq: ("==", True),
    ast.NotEq: ("==", False),
    ast.Is: ("is", True),
    ast.IsNot: ("is", False),
    ast.In: ("in", True),
    ast.NotIn: ("in", False),
}


class World:
    """What is known of the run: the target's version, its platform, and whether the file is the program itself."""

    def __init__(self, version=(3, 11), platform="linux", main=False):
        self.version, self.platform, self.main = tuple(version), platform, main
        self.flags = {}  # names of the file that hold a known outcome: `PY312 = sys.version_info >= (3, 12)`


def dotted(node):
    """`a.b.c` of a chain of attributes, else None."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    parts.append(node.id)
    return ".".join(reversed(parts))


def constant(node):
    """(True, value) of a literal, a tuple of literals included."""
    try:
        return True, ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False, None


def index_of(node):
    """What stands in the brackets of a Subscript; before Python 3.9 it is wrapped."""
    index = node.slice
    return getattr(index, "value", index) if type(index).__name__ == "Index" else index


def takes(handlers, names):
    """Whether one of these `except` clauses takes an exception of one of the names, or any at all."""
    return any(each.type is None or any("'%s'" % name in ast.dump(each.type) for name in names) for each in handlers)


def _value(node, world):
    """(True, value) of what an expression is in that world."""
    name = dotted(node)
    if name == "sys.version_info":
        return True, world.version + (0, "final", 0)[: 5 - len(world.version)]
    if name == "sys.version_info.major":
        return True, world.version[0]
    if name == "sys.version_info.minor":
        return True, world.version[1]
    if name == "sys.platform":
        return True, world.platform
    if name == "os.name":
        return True, "nt" if world.platform == "win32" else "posix"
    if name == "__name__":
        return (True, "__main__") if world.main else (False, None)
    if isinstance(node, ast.Subscript) and dotted(node.value) == "sys.version_info":
        return _version_part(node.slice, world)
    return constant(node)


def _version_part(index, world):
    full = world.version + (0,) * (3 - len(world.version))
    if isinstance(index, ast.Slice) and index.lower is None and isinstance(index.upper, ast.Constant):
        return True, full[: index.upper.value]
    index = getattr(index, "value", None)
    if isinstance(index, ast.Constant):  # Python 3.8 wraps it in ast.Index
        index = index.value
    return (True, full[index]) if isinstance(index, int) and index < len(full) else (False, None)


KNOWN = {"TYPE_CHECKING": False, "__debug__": True, "six.PY2": False, "six.PY3": True, "PY2": False, "PY3": True}


def truth(test, world):
    """True or False where the test's outcome is known in that world, else None."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = truth(test.operand, world)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        return _fold(isinstance(test.op, ast.And), [truth(value, world) for value in test.values])
    if isinstance(test, ast.Compare):
        return _compared(test, world)
    name = dotted(test)
    if name in KNOWN:
        return KNOWN[name]
    if name in world.flags:
        return world.flags[name]
    if name is not None and name.endswith(".TYPE_CHECKING"):
        return False
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.Call) and dotted(test.func) == "sys.platform.startswith" and test.args:
        known, prefix = constant(test.args[0])
        return world.platform.startswith(prefix) if known else None
    return None


def flags(tree, world):
    """{name: outcome} of the names that a module binds to typing.TYPE_CHECKING or, once, to a comparison known here."""
    known, seen = {}, set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module in ("typing", "typing_extensions"):
            known.update((each.asname, False) for each in node.names if each.name == "TYPE_CHECKING" and each.asname)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            outcome = _compared(node.value, world) if isinstance(node.value, ast.Compare) else None
            if outcome is not None and name not in seen:
                known[name] = outcome
            elif name in known:
                del known[name]
            seen.add(name)
    return known


def _fold(every, values):
    if every:
        return False if False in values else None if None in values else True
    return True if True in values else None if None in values else False


def _compared(test, world):
    if len(test.ops) != 1:
        return None
    compare = COMPARE.get(type(test.ops[0]))
    name, other = dotted(test.left), constant(test.comparators[0])
    if name == "__name__" and other == (True, "__main__") and compare in (operator.eq, operator.ne):
        return world.main == (compare is operator.eq)
    left, right = _value(test.left, world), _value(test.comparators[0], world)
    if compare is None or not (left[0] and right[0]):
        return None
    try:
        return bool(compare(left[1], right[1]))
    except TypeError:
        return None


def atoms(test, holds):
    """What is known when a test holds (or not): {key: value}, where one key with two values is a contradiction."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return atoms(test.operand, not holds)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) == holds:
        known = {}
        for value in test.values:
            known.update(atoms(value, holds))
        return known
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in CANONICAL:
        return _compare_atoms(test, holds)
    return {ast.dump(test): holds}


def _compare_atoms(test, holds):
    sign, positive = CANONICAL[type(test.ops[0])]
    left, right = ast.dump(test.left), ast.dump(test.comparators[0])
    known = {(sign, left, right): positive == holds}
    if sign == "==" and positive == holds and isinstance(test.comparators[0], ast.Constant):
        known["=", left] = repr(test.comparators[0].value)
    return known


def contradict(one, other):
    """Whether two sets of atoms can't hold together."""
    return any(key in other and other[key] != value for key, value in one.items())
