"""Finds the files of a claim about syntax, has each parsed by its own parser, and says what was refused.

Bounds: 100,000 files; 16 MiB of one source; of refusals, warnings and unread files the first ones are told, all are counted.
"""

import os
import threading

from verikit.probes import interpreter
from verikit.probes.place import CannotSee, cause_of, kind_of
from verikit.probes.syntax import causes, notebook, shell, workers
from verikit.probes.syntax import data as texts

MOST_FILES = 100_000
MOST_BYTES = 16 << 20
TOLD = 50
SKIPPED = frozenset(
    (".git", ".hg", ".svn", "__pycache__", "node_modules", ".tox", ".venv", "venv", ".mypy_cache", ".ruff_cache")
)

SUFFIXES = {
    ".py": "python",
    ".pyi": "python",
    ".pyw": "python",
    ".ipynb": "notebook",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".toml": "toml",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".sh": "shell",
    ".bash": "shell",
}

SHEBANGS = (("python", "python"), ("bash", "shell"), ("zsh", "shell"), ("sh", "shell"))


def inspect(place, path, source=None, python="host", run_as="import", kind="auto", alone=False):
    """What the parsers say of a file, the files of a glob, or those of a tree; or of `source`, text that is not written yet.

    With `alone` nothing is compiled in this process, which may die of it.

    subject     "file", "glob", "tree" or "source"; `files` found, `examined`, `bytes` read, `others` of unknown kind,
                `skipped` folders, `kinds` examined by number
    interpreter executable, version and how it was found; None where no Python was asked about
    bad         refusals: path, kind, error, message, line, column, text, likely cause, version that refused; `bad_count` of all
    warned      warnings: path, line, category, message; `warning_count` of all
    unseen      files that could not be judged: path, cause, reason; `unseen_count` of all
    notes       what else a person should know; `empty`: files without a byte
    """
    subject, files, seen = found(place, path, kind) if source is None else of_source(path, kind)
    jobs = [job for job in files if job[1]]
    facts = {
        "subject": subject,
        "files": len(jobs),
        "others": len(files) - len(jobs),
        "skipped": sorted(seen.get("skipped", ()))[:TOLD],
        "bound": seen.get("bound", False),
        "interpreter": None,
    }
    tally = Tally(place, len(jobs))
    for error in seen.get("unread", ()):
        tally.unread(error)
    text = None if source is None else source.encode("utf-8", "surrogateescape")
    crew = None
    try:
        hands = min(workers.cores(), workers.MOST, max(1, len(jobs) // 2))
        if any(name in ("python", "notebook") for _, name in jobs):
            facts["interpreter"], crew = crew_for(place, python, hands, alone)
            tally.version = None if crew.stands_for else facts["interpreter"]["version"]
        workers.share_out(jobs, lambda job: one(place, job, text, crew, run_as, tally), hands)
    finally:
        if crew:
            crew.close()
    facts.update(tally.facts())
    return facts


def crew_for(place, python, hands, alone):
    """The interpreter's facts, and the workers that ask it. `stands_for`: a version that is not here, (major, minor)."""
    who = interpreter.find(place, python)
    stands_for = None
    if who is None:
        stands_for = [int(part) for part in python.split(".")[:2]]
        who = interpreter.find(place, "%d.%d" % tuple(stands_for))
        how = "in the place of %s" % python
        who, stands_for = (dict(who, how=how), None) if who else (dict(interpreter.own(), how=how), stands_for)
    own = interpreter.own()["executable"]
    named = who["executable"] if who["executable"] != own else None
    return dict(who, stands_for=stands_for), workers.Crew(named, own, hands, stands_for, alone)


# Finding the files.


def found(place, path, kind):
    """("file" | "glob" | "tree", [(path, kind or None)], what was passed over)."""
    try:
        mode = place.stat(path).st_mode
    except FileNotFoundError:
        if any(mark in path for mark in "*?["):
            return globbed(place, path, kind)
        raise
    if kind_of(mode) == "a directory":
        seen = {"skipped": set(), "bound": False, "unread": []}
        return "tree", [(each, kind_by_name(each, kind)) for each in tree(place, path, seen)], seen
    name = kind_of_file(place, path, kind)
    return "file", [(path, name)], {}


def globbed(place, pattern, kind):
    import glob

    names, seen = [], {"bound": False, "unread": []}
    base = pattern[: min(pattern.find(mark) for mark in "*?[" if mark in pattern)].rpartition("/")[0]
    # glob passes over folders that it can't read, without a word.
    place.listdir(base or ("/" if pattern.startswith("/") else "."))
    if "**" in pattern:
        for _ in os.walk(base or ".", onerror=seen["unread"].append):
            pass
    for each in sorted(glob.iglob(pattern, recursive=True)):
        if len(names) == MOST_FILES:
            seen["bound"] = True
            break
        if not os.path.isdir(each):
            names.append((each, kind_by_name(each, kind) or kind_by_first_line(place, each, kind)))
    return "glob", names, seen


def tree(place, top, seen):
    """The regular files beneath a folder; links to folders are not followed, folders of tools are passed over."""
    waiting, count = [top], 0
    while waiting:
        folder, beneath = waiting.pop(), []
        for name, words in entries(place, folder, seen):
            if words == "a directory":
                if name in SKIPPED:
                    seen["skipped"].add(name)
                else:
                    beneath.append(os.path.join(folder, name))
            elif words is None and not name.startswith(".#"):  # the lock of an editor, a link to nowhere
                count += 1
                if count > MOST_FILES:
                    seen["bound"] = True
                    return
                yield os.path.join(folder, name)
        waiting += reversed(beneath)


def entries(place, folder, seen):
    """(name, what it is) of what a folder holds; one that can't be read goes to `unread`."""
    try:
        names = place.listdir(folder)
    except OSError as error:
        seen["unread"].append(error)
        return
    for name in names:
        try:
            yield name, kind_of(place.stat(os.path.join(folder, name), follow=False).st_mode)
        except FileNotFoundError:
            continue


def kind_by_name(path, kind):
    """The kind that a file's name says; None if it is another than asked for, or unknown."""
    own = SUFFIXES.get(os.path.splitext(path)[1].lower())
    return own if kind in ("auto", own) else None


def kind_of_file(place, path, kind):
    """The kind of one named file: as asked for, by its name, or by its first line."""
    own = kind if kind != "auto" else SUFFIXES.get(os.path.splitext(path)[1].lower())
    if own:
        return own
    with place.open(path) as file:
        first = file.read(256).split(b"\n")[0].decode("latin-1")
    own = next((name for word, name in SHEBANGS if first.startswith("#!") and word in first), None)
    if own is None:
        raise CannotSee("unsupported", "neither the name nor the first line of %s says what it is; say kind=" % path)
    return own


def kind_by_first_line(place, path, kind):
    """As `kind_of_file`, None for what can't be told or read: it is one of many."""
    try:
        return kind_of_file(place, path, "auto") if kind == "auto" else None
    except (CannotSee, OSError):
        return None


def of_source(path, kind):
    """As `found`, for a text that has no file yet: Python, unless the name it will have says otherwise."""
    by_name = SUFFIXES.get(os.path.splitext(path or "")[1].lower(), "python")
    return "source", [(path or "<source>", by_name if kind == "auto" else kind)], {}


# One file.


def one(place, job, text, crew, run_as, tally):
    """Judges one file and enters it in the tally."""
    path, kind = job
    try:
        # JSON lines are read as a stream, whatever their size.
        data = text if text is not None else None if kind == "jsonl" else place.read(path, MOST_BYTES)
        row = PARSERS[kind](place, path, data, crew, run_as)
    except CannotSee as error:
        tally.unseen(path, error.cause, error.reason)
    except OSError as error:
        if tally.total == 1:
            raise
        tally.unread(error)
    else:
        tally.enter(path, kind, data, row, place.stat(path).st_size if data is None else len(data))


def asker(path, crew, run_as):
    """Asks the interpreter about bytes; what the rules that stand in for it can't tell is CannotSee."""

    def ask(data):
        answer = crew.outcome(data, run_as)
        if answer["ok"] is None:
            words = "%s: no Python %d.%d on this host, and %s" % (path, *crew.stands_for, answer["why"])
            raise CannotSee("tool_missing", words)
        if answer["error"] == "MemoryError" == answer["message"]:
            # Without a word it may be the parser's own stack or the memory that a look is given: the size tells them apart.
            if len(data) > workers.PLAIN_BYTES:
                raise CannotSee("bound_reached", "%s: compiling it takes more memory than a look is given" % path)
            answer = dict(answer, message="nested deeper than the parser's stack")
        return answer

    return ask


PARSERS = {
    "python": lambda place, path, data, crew, run_as: asker(path, crew, run_as)(data),
    "notebook": lambda place, path, data, crew, _: notebook.read_notebook(place, path, data, asker(path, crew, "cell")),
    "json": lambda place, path, data, *_: texts.read_json(place, path, data),
    "jsonl": lambda place, path, data, *_: texts.read_jsonl(place, path, data),
    "toml": lambda place, path, data, *_: texts.read_toml(place, path, data),
    "yaml": lambda place, path, data, *_: texts.read_yaml(place, path, data),
    "shell": lambda place, path, data, *_: shell.read_shell(place, path, data),
}


class Tally:
    """What has been seen, bounded: the first rows are kept, the rest is counted. Threads enter into it."""

    def __init__(self, place, total):
        self.place, self.total, self.lock, self.version = place, total, threading.Lock(), None
        self.rows = {"bad": [], "warned": [], "unseen": []}
        self.counts = {"bad": 0, "warning": 0, "unseen": 0}
        self.examined, self.bytes, self.kinds, self.empty, self.notes = 0, 0, {}, [], []

    def enter(self, path, kind, data, row, size):
        bad = None
        if not row["ok"]:
            bad = {key: row.get(key) for key in ("error", "message", "line", "column", "text", "cell")}
            bad.update(path=path, kind=kind, version=self.version)
            bad["text"] = bad["text"] or line_of(data or b"", None if bad["cell"] else bad["line"])
            bad["cause"] = row.get("cause") or causes.likely(data or b"", bad)
        with self.lock:
            self.examined += 1
            self.bytes += size
            self.kinds[kind] = self.kinds.get(kind, 0) + 1
            self.counts["warning"] += row.get("warning_count", len(row["warnings"]))
            if bad:
                self.counts["bad"] += 1
                self.rows["bad"].append(bad)
            for each in row["warnings"]:
                self.rows["warned"].append(dict(each, path=path))
            self.notes += ["%s: %s" % (path, note) for note in row["notes"]]
            if not size:
                self.empty.append(path)
            self.trim()
            if self.examined % 50 == 0:
                self.place.progress(self.examined, self.total, "files")

    def unseen(self, path, cause, reason):
        with self.lock:
            self.counts["unseen"] += 1
            self.rows["unseen"].append({"path": path, "cause": cause, "reason": reason})
            self.trim()

    def unread(self, error):
        """Enters what the operating system did not let us read."""
        path = os.fsdecode(error.filename) if error.filename is not None else "?"
        self.unseen(path, cause_of(error), "%s: %s" % (path, error.strerror))

    def trim(self):
        for rows in (*self.rows.values(), self.empty, self.notes):
            if len(rows) > 4 * TOLD:
                del rows[4 * TOLD :]

    def facts(self):
        told = {
            name: sorted(rows, key=lambda row: (row["path"], row.get("line") or 0))[:TOLD]
            for name, rows in self.rows.items()
        }
        counts = {name + "_count": number for name, number in self.counts.items()}
        seen = {"examined": self.examined, "bytes": self.bytes, "kinds": self.kinds}
        return dict(told, **counts, **seen, empty=sorted(self.empty)[:TOLD], notes=sorted(self.notes)[:TOLD])


def line_of(data, number):
    """The line of that number, at most 300 characters, or None."""
    if not number:
        return None
    lines = data[: 1 << 22].splitlines()
    return lines[number - 1].decode("utf-8", "replace")[:300] if number <= len(lines) else None
