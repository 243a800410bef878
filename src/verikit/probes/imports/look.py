"""The look of ImportConflict: one file, read and judged next to its neighbours, never imported."""

import os
import sys

from verikit.probes.imports import placement
from verikit.probes.imports.conditions import World
from verikit.probes.imports.modules import Resolver
from verikit.probes.imports.names import Names
from verikit.probes.imports.scopes import Walk
from verikit.probes.place import CannotSee

MOST_BYTES = 16 << 20
SHOWN = 20


def inspect(place, path=None, source=None, name=None, inject=None, line=None, run_as="auto", root=None, python="host"):
    """Findings, what can't be told, notes and safe lines of one file, with or without an insertion."""
    data = source.encode("utf-8", "surrogateescape") if source is not None else read(place, path)
    tree = parsed(data, path)
    before, before_tree, added = data, tree, None
    facts = {"path": path, "lines": data.count(b"\n") + (not data.endswith(b"\n") and bool(data))}
    facts["python"] = {
        "version": "%d.%d.%d" % sys.version_info[:3],
        "executable": sys.executable,
        "stated": python != "host",
    }
    findings = []
    if inject is not None:
        facts["safe"] = placement.safe(tree, data)
        facts["line"] = line
        data, added = after(data, inject, line, path)
        try:
            tree = placement.parse(data)
        except placement.ERRORS as error:
            at = line or min(added, default=1)
            facts["findings"] = [placement.broken(before, at, inject, error)]
            return closed(facts, [], [], tree)
        findings = placement.placed(before, data, before_tree, tree, inject, line or min(added, default=1), added)
    world = World(sys.version_info[:3], sys.platform, starts(run_as, path, data))
    names = judge_names(tree, world, Resolver(), added, package_of(path, root))
    facts["findings"] = findings + names.findings
    if name is not None:
        facts["findings"] = [each for each in facts["findings"] if each["name"] == name]
        names.unknowns = [each for each in names.unknowns if each["name"] in (None, name)]
    facts["imports"] = sum(
        bind.imported for scope in names.walk.scopes for binds in scope.binds.values() for bind in binds
    )
    facts["bound"] = name is None or any(
        bind.imported for scope in names.walk.scopes for bind in scope.binds.get(name, ())
    )
    return closed(facts, names.unknowns, names.notes, tree)


def judge_names(tree, world, resolver, added, package):
    walk = Walk(tree, world, package, lazy_annotations=world.version >= (3, 14))
    return Names(walk, tree, world, resolver, added).run()


def closed(facts, unknowns, notes, tree):
    """The facts, bounded."""
    facts["count"] = len(facts["findings"])
    facts["findings"] = sorted(facts["findings"], key=lambda each: (each["line"] or 0, each["rule"]))[:SHOWN]
    facts["unknowns"], facts["notes"] = unknowns[:SHOWN], notes[:SHOWN]
    facts["coverage"] = {"lines": facts["lines"], "imports": facts.get("imports", 0)}
    return facts


def read(place, path):
    with place.steady(path) as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise CannotSee("bound_reached", "%s has more than %d bytes" % (path, MOST_BYTES))
    return data


def parsed(data, path):
    try:
        return placement.parse(data)
    except placement.ERRORS as error:
        words = "%s does not parse under Python %d.%d.%d: %s" % (
            (path or "the source",) + sys.version_info[:3] + (placement._said(error),)
        )
        raise CannotSee("unsupported", words, error=str(error)) from None


def after(data, inject, line, path):
    """The patched bytes and the set of new lines."""
    if placement.is_diff(inject):
        return placement.patched(data, inject, path or "")
    new = placement.insert(data, inject, line)
    return new, set(range(line, line + inject.rstrip("\n").count("\n") + 1))


def starts(run_as, path, data):
    """Whether the file is the program itself, so that `__name__` is "__main__"."""
    if run_as == "auto":
        packaged = path is not None and os.path.exists(
            os.path.join(os.path.dirname(os.path.abspath(path)), "__init__.py")
        )
        return not packaged and (data.startswith(b"#!") or b"__main__" in data)
    return run_as != "import"


def package_of(path, root):
    """The dotted package that a file lies in, by the __init__.py beside and above it; None for a file in none."""
    if path is None:
        return None
    folder, parts = os.path.dirname(os.path.abspath(path)), []
    while os.path.exists(os.path.join(folder, "__init__.py")) and len(parts) < 50:
        folder, part = os.path.split(folder)
        parts.insert(0, part)
    return ".".join(parts) or None
