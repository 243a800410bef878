"""What can be asked of a binding: whether it runs only sometimes, and whether it stands in for another."""

import ast


def conditional(first, second):
    """Whether the second runs only sometimes when the first has run."""
    inner, outer = second.arm.path(), set(map(id, first.arm.path()))
    return any(_optional(arm, second) for arm in inner if id(arm) not in outer)


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


def arm_optional(bind):
    return [arm for arm in bind.arm.path() if _optional(arm, bind)]


def conditional_arm(arm):
    return any(each.kind in ("if", "match", "try", "rest") for each in arm.path())


def placeholder(bind):
    """A stand-in: `x = None`."""
    value = getattr(bind.node, "value", None)
    return (
        bind.kind == "assign"
        and isinstance(value, ast.Constant)
        and (value.value is None or isinstance(value.value, bool) or value.value is ...)
    )


def asks_none(arm, name):
    """Whether the code runs only when the parameter was not given."""
    while arm is not None:
        if arm.test is not None and any(isinstance(p, ast.Name) and p.id == name for p in ast.walk(arm.test)):
            return True
        arm = arm.parent
    return False


def reads(bind, name):
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
