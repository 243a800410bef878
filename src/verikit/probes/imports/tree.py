"""Every Python file beneath a folder, judged in one process for each core."""

import gc
import json
import os

from verikit.probes.imports import look
from verikit.probes.imports.conditions import World
from verikit.probes.imports.modules import Resolver, untie
from verikit.probes.place import CannotSee, cause_of

MOST_FILES = 50000
MOST_SHOWN = 50


def inspect(place, path, run_as="auto", root=None, python="host"):
    """Findings of all the files of a tree, bounded and counted."""
    files = python_files(path)
    if not files:
        raise CannotSee("nothing_seen", "no Python file beneath %s" % path)
    cores = min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1, 8, len(files))
    shared = {}
    Resolver(place, World(), path, root, python=python, shared=shared).ask()  # once, before the forks
    shares = shared_out(place, files, cores)
    waiting = [forked(place, share, run_as, root, python, shared) for share in shares[1:]]
    rows = judged(place, shares[0], run_as, root, python, shared)
    for pid, pipe in waiting:
        with os.fdopen(pipe, "rb") as heard:
            said = heard.read()
        os.waitpid(pid, 0)
        if not said.endswith(b"\n"):
            raise CannotSee("probe_error", "a process that judged a part of %s ended without an answer" % path)
        more = json.loads(said.decode("ascii"))
        rows = {key: rows[key] + more[key] for key in rows}
    facts = summed(path, files, rows)
    look.target_version(place, python, facts)
    return facts


def shared_out(place, files, cores):
    """The files in as many runs of neighbours, of about the same number of bytes."""
    shares, done, sizes = [[] for _ in range(cores)], 0, [size_of(place, file) for file in files]
    total = sum(sizes) or 1
    for file, size in zip(files, sizes):
        shares[min(cores - 1, (2 * done + size) * cores // (2 * total))].append(file)
        done += size
    return [share for share in shares if share]


def size_of(place, file):
    try:
        return place.stat(file).st_size
    except OSError:
        return 0  # the look at it says what is wrong


def python_files(path):
    """The files, sorted; links to folders are not followed, hidden folders and __pycache__ left aside."""
    found = []
    for folder, inner, names in os.walk(path, onerror=_refuse):
        inner[:] = sorted(each for each in inner if not each.startswith(".") and each != "__pycache__")
        found += [os.path.join(folder, name) for name in names if name.endswith(".py")]
        if len(found) > MOST_FILES:
            raise CannotSee("bound_reached", "more than %d Python files beneath %s" % (MOST_FILES, path))
    return sorted(found)


def _refuse(error):
    """A folder that can't be listed is not passed over: what is in it was not judged."""
    raise error


def judged(place, files, run_as, root, python, shared=None, asker=None):
    """What a share of the files comes to. `asker`: the process that waits for it, where that is another."""
    rows = {"findings": [], "unknowns": [], "imports": 0, "lines": 0, "counts": [0, 0, 0], "notes": 0}
    shared = {} if shared is None else shared
    usual = gc.get_threshold()
    gc.set_threshold(100000, 10, 10)  # trees are made of many small objects, and few of them are circles
    try:
        _judged(place, files, rows, shared, asker, run_as=run_as, root=root, python=python)
    finally:
        gc.set_threshold(*usual)
    rows["counts"] = [rows["counts"]]
    return rows


def _judged(place, files, rows, shared, asker, **words):
    for at, file in enumerate(files):
        if not at % 50:
            place.progress(at, len(files), "files")
            if asker is not None and os.getppid() != asker:
                os._exit(1)  # nobody waits for this share any longer
        try:
            facts = look.inspect(place, file, shared=shared, **words)
        except CannotSee as error:
            facts = _untold(error.cause, error.reason, error.facts.get("line"))
        except OSError as error:
            facts = _untold(cause_of(error), "%s: %s" % (error.strerror, error.filename))
        untie(shared)
        for kind in ("findings", "unknowns"):
            room = MOST_SHOWN - len(rows[kind])
            rows[kind] += [dict(each, file=file) for each in facts[kind][: max(room, 0)]]
        rows["imports"] += facts.get("imports", 0)
        rows["lines"] += facts.get("lines", 0)
        rows["notes"] += len(facts.get("notes", ()))
        rows["counts"][0] += bool(facts["findings"])
        rows["counts"][1] += bool(facts["unknowns"]) and not facts["findings"]
        rows["counts"][2] += facts.get("count", 0)


def _untold(cause, message, line=None):
    return {"findings": [], "unknowns": [{"name": None, "line": line, "message": message, "cause": cause}]}


def forked(place, files, run_as, root, python, shared):
    """(pid, pipe) of a fork that judges a share and answers in one line."""
    import warnings

    heard, said = os.pipe()
    asker = os.getpid()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 3.12 warns of threads: the child parses, and ends without clean-up
        pid = os.fork()
    if not pid:
        try:
            os.close(heard)
            with os.fdopen(said, "wb") as out:
                rows = judged(type(place)(), files, run_as, root, python, shared, asker)
                out.write(json.dumps(rows).encode("ascii") + b"\n")
        finally:
            os._exit(0)
    os.close(said)
    return pid, heard


def summed(path, files, rows):
    failed, untold, total = (sum(each) for each in zip(*rows["counts"]))
    facts = {"path": path, "files": len(files), "failed": failed, "untold": untold, "count": total}
    facts["findings"] = sorted(rows["findings"], key=lambda each: (each["file"], each["line"] or 0))[:MOST_SHOWN]
    facts["unknowns"] = sorted(rows["unknowns"], key=lambda each: (each["file"], each["line"] or 0))[:MOST_SHOWN]
    facts["notes"], facts["imports"], facts["lines"] = rows["notes"], rows["imports"], rows["lines"]
    facts["coverage"] = {"files": len(files), "of": len(files), "lines": rows["lines"], "imports": rows["imports"]}
    return facts
