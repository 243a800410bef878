"""Which file a module would come from under an interpreter of this host, found on disk as the import system would.

Nothing is imported: the interpreter is asked for its path and finders (see `interpreter.ask`), and the folders are read.
"""

import os

from verikit.probes import interpreter
from verikit.probes.place import CannotSee

TOLD = 10
STANDARD = ("BuiltinImporter", "FrozenImporter", "PathFinder")
# Finders that installers put first and that answer for a few names of their own only.
HARMLESS = ("DistutilsMetaFinder", "_SixMetaPathImporter", "VendorImporter", "AssertionRewritingHook")


def resolve(place, module, to=None, python="host", cwd=None, env=None):
    """Where `import module` would be answered from.

    kind        "package", "module", "extension", "namespace", "built-in", "frozen", "zip", or None: not found
    file        its file (a folder, for a namespace), `real`: with links resolved
    entry       the entry of sys.path that answered, or the editable finder; `index`: which entry it is
    owners      distributions whose RECORD lists the file: name, version, editable, whether the `content` is theirs
    literal     `__version__ = "…"` as the file itself has it
    others      further places on the path that have the name, and lose; `stale`: distributions that own one of those
    real_to     `to` with links resolved
    unknown     finders that could answer before the path, and can't be read
    """
    known = interpreter.ask(place, python, cwd, dict(env or {}))
    path = interpreter.search_path(known, "module", cwd) if cwd else known["path"]
    finder = Finder(place, known, path)
    facts = finder.module(module.split("."))
    facts["unknown"] = [
        row["name"] for row in known["finders"] if not (row["name"] in STANDARD + HARMLESS or "mapping" in row)
    ][:TOLD]
    facts.update(
        interpreter={key: known[key] for key in ("executable", "version", "how")},
        cwd=cwd,
        entries=len(path),
        module=module,
    )
    installed = interpreter.distributions(place, path)
    facts.update(owned(place, facts, installed))
    facts["real_to"] = place.realpath(to) if to else None
    facts["literal"] = literal_version(place, facts["file"]) if facts["kind"] in ("package", "module") else None
    return facts


class Finder:
    """The import system on paper."""

    def __init__(self, place, known, path):
        self.place, self.known, self.path = place, known, path
        self.suffixes = [
            *((suffix, "extension") for suffix in known["suffixes"]),
            (".py", "module"),
            (".pyc", "module"),
        ]

    def module(self, parts):
        """kind, file, entry, index, others of a dotted name."""
        found = self.top(parts[0])
        for part in parts[1:]:
            folders = found.get("folders") or []
            if found["kind"] is None or not folders:
                return self.row(None, None, lacking=part)
            parent, found = found, self.search(part, folders)
            found = dict(found, entry=parent["entry"], index=parent["index"], others=[])
            if found["kind"] is None:
                found["open"] = self.mentions_path(parent["file"])
                found["lacking"] = part
        found.pop("folders", None)
        return found

    def row(self, kind, file, entry=None, index=None, folders=(), **more):
        return dict(
            {"kind": kind, "file": file, "entry": entry, "index": index, "folders": list(folders), "others": []}, **more
        )

    def top(self, name):
        """The first finder that answers, as sys.meta_path has them; further places on the path are `others`."""
        answers = []
        # What start-up has loaded is in sys.modules, from a path without the program's own folder. Python 2 names no finders.
        path = self.known["path"] if name in self.known["loaded"] else self.path
        finders = self.known["finders"]
        if not any(finder["name"] == "PathFinder" for finder in finders):
            finders = [*finders, *({"name": each} for each in STANDARD)]
        for finder in finders:
            if finder["name"] == "BuiltinImporter" and name in self.known["builtin"]:
                answers.append(self.row("built-in", None))
            elif finder["name"] == "FrozenImporter" and name in self.known["frozen"]:
                answers.append(self.row("frozen", None))
            elif finder["name"] == "PathFinder":
                answers.append(self.search(name, path))
            elif name in finder.get("mapping", ()):
                answers.append(self.mapped(finder["mapping"][name], finder["name"]))
        answers = [each for each in answers if each["kind"]]
        if not answers:
            return self.row(None, None)
        # A namespace folder answers only if nothing on the path does, and later finders come after that.
        first = answers[0]
        losing = [each["file"] for each in answers[1:] if each["file"]] + [
            other for each in answers for other in each["others"]
        ]
        return dict(first, others=losing[:TOLD])

    def mapped(self, path, name):
        """What an editable finder points at: a package folder, or a module without its suffix."""
        for kind, file, folders in self.candidates(os.path.dirname(path), os.path.basename(path)):
            return self.row(kind, file, entry=name, folders=folders)
        return self.row(None, None)

    def search(self, name, folders):
        """The first of these folders that has the name; folders without __init__ only count if none has more."""
        answers, spaces = [], []
        for index, folder in enumerate(folders):
            if os.path.isfile(folder):
                answers += self.zipped(folder, name, index)
                continue
            found = next(iter(self.candidates(folder, name)), None)
            if found:
                answers.append(self.row(found[0], found[1], folder, index, found[2]))
            elif os.path.isdir(os.path.join(folder, name)):
                spaces.append(self.row("namespace", os.path.join(folder, name), folder, index))
        if answers:
            return dict(answers[0], others=[each["file"] for each in answers[1:]])
        if spaces:
            portions = [each["file"] for each in spaces]
            return dict(spaces[0], folders=portions, others=portions[1:])
        return self.row(None, None)

    def candidates(self, folder, name):
        """(kind, file, folders of its modules) in the order in which a folder is asked."""
        inner = os.path.join(folder, name)
        for suffix, _ in self.suffixes:
            if os.path.isfile(os.path.join(inner, "__init__" + suffix)):
                yield "package", os.path.join(inner, "__init__" + suffix), [inner]
        for suffix, kind in self.suffixes:
            if os.path.isfile(inner + suffix):
                yield kind, inner + suffix, []

    def zipped(self, archive, name, index):
        import zipfile

        try:
            with self.place.open(archive) as raw, zipfile.ZipFile(raw) as opened:
                names = set(opened.namelist())
        except (OSError, zipfile.BadZipFile, CannotSee):
            return []
        for inside in (name + "/__init__.py", name + ".py", name + "/__init__.pyc", name + ".pyc"):
            if inside in names:
                return [self.row("zip", os.path.join(archive, inside), archive, index)]
        return []

    def mentions_path(self, file):
        """Whether a package changes its own __path__, so that its modules may be anywhere."""
        try:
            with self.place.open(file) as raw:
                return b"__path__" in raw.read(1 << 20)
        except (OSError, CannotSee, TypeError):
            return False


# Who owns it.


def owned(place, facts, installed):
    """Distributions that list the file, and those that list one of the places which lose."""
    file, real = facts["file"], place.realpath(facts["file"]) if facts["file"] else None
    if not file:
        return {"real": None, "owners": [], "stale": []}
    losing = {place.realpath(each): each for each in facts["others"]}
    owners, editable, stale = [], [], []
    for row in installed:
        named = {"name": row["name"], "version": row["version"], "editable": row["editable"], "content": None}
        if row["editable"] and row["origin"] and inside(real, row["origin"]):
            editable.append(named)
            continue
        for path, digest in interpreter.records(place, row):
            if os.path.basename(path) != os.path.basename(file) and os.path.basename(path) not in {
                os.path.basename(e) for e in losing
            }:
                continue
            there = os.path.realpath(path)
            if there == real:
                owners.append(dict(named, content=matches(place, file, digest)))
                break
            if there in losing:
                stale.append(dict(named, file=losing[there]))
                break
    # An environment may lie inside an editable project: whoever lists the file goes first.
    return {"real": real, "owners": (owners or editable)[:TOLD], "stale": stale[:TOLD]}


def inside(file, origin):
    """Whether a file lies in the folder that a file:// URL names."""
    from urllib.parse import unquote, urlsplit

    folder = os.path.realpath(unquote(urlsplit(origin).path)) if origin.startswith("file:") else None
    return folder is not None and (file + os.sep).startswith(folder.rstrip(os.sep) + os.sep)


def matches(place, file, digest):
    """Whether the file has the digest that RECORD gives, None if it gives none that is known."""
    import base64
    import hashlib

    name, _, wanted = digest.partition("=")
    if name not in ("sha256", "sha384", "sha512"):
        return None
    total = hashlib.new(name)
    with place.open(file) as raw:
        for block in iter(lambda: raw.read(1 << 20), b""):
            total.update(block)
    return base64.urlsafe_b64encode(total.digest()).rstrip(b"=").decode() == wanted


def literal_version(place, file):
    """`__version__ = "…"` at the top of the file, or None."""
    import re

    try:
        with place.open(file) as raw:
            head = raw.read(1 << 18)
    except (OSError, CannotSee):
        return None
    found = re.search(rb"^__version__(?:\s*:\s*\w+)?\s*=\s*[\"']([^\"'\n]{1,80})[\"']", head, re.MULTILINE)
    return found.group(1).decode("utf-8", "replace") if found else None
