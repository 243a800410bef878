"""What a Python interpreter of this host says of itself: version, search path, names it never looks up on disk.

An interpreter is named as `python=` of the checks takes it:

    "host"          the one that runs the agent, with its real site-packages, environment and .pth files
    "3.9", "3.9.18" a version: the first interpreter of that version on this host
    "python3.9"     a program on PATH
    "/opt/…/python" a path on this host (a leading ~ is this user's home)

For other probes:

    find(place, python)                  -> {"executable", "version", "how"}, or None for a version that is not here
    ask(place, python, cwd, env)         -> what it knows; asked in a child that imports nothing of the project
    search_path(known, run_as, folder)   -> sys.path as a script, a `-m` or an import start would have it
    distributions(place, folders)        -> one row for each installed distribution
    records(place, row)                  -> the files that a distribution says it owns
    pth_lines(place, folders)            -> the lines of .pth files that put folders on the path, or run code at start
    brief(found)                         -> its name for a reason: `/usr/bin/python3.9 (3.9.18)`

The children are run with -B and import only what the interpreter itself has; they may be any Python from 2.7 on.
"""

import os
import re
import sys

from verikit.probes.place import CannotSee

VERSION = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?\Z")
MARK = "=verikit="

# Where interpreters live that are not on PATH, most usual first. {v}: the version as asked for; {xy}: two numbers of it.
PLACES = (
    "/usr/bin/python{xy}",
    "/usr/local/bin/python{xy}",
    "{pyenv}/versions/{v}*/bin/python{xy}",
    "~/.local/share/uv/python/cpython-{v}*/bin/python{xy}",
    "~/.local/bin/python{xy}",
    "/opt/python{xy}/bin/python{xy}",
    "/opt/python/{v}*/bin/python{xy}",
    "/opt/conda/bin/python{xy}",
    "/opt/conda/envs/*/bin/python{xy}",
    "~/miniconda3/bin/python{xy}",
    "~/miniconda3/envs/*/bin/python{xy}",
    "~/miniforge3/envs/*/bin/python{xy}",
    "~/anaconda3/envs/*/bin/python{xy}",
)

_VERSION_OF = "import sys; sys.stdout.write('" + MARK + "%d.%d.%d' % tuple(sys.version_info[:3]))"

# Python 2.7 to 3.14.  The modules at start are taken down before anything is imported, and the working directory leaves
# the path before that too: nothing of the project can get in.
_ASK = """
import sys
loaded = sorted(sys.modules)
path = list(sys.path)
safe = bool(getattr(sys.flags, "safe_path", False))
if not safe and path and path[0] == "":
    del path[0]
os = sys.modules.get("os")
meta = list(sys.meta_path)
finders = []
for each in meta:
    kind = each if isinstance(each, type) else type(each)
    row = {"name": kind.__name__, "module": str(kind.__module__)}
    home = sys.modules.get(str(kind.__module__))
    if isinstance(getattr(home, "MAPPING", None), dict):
        row["mapping"] = dict((str(k), str(v)) for k, v in home.MAPPING.items())
    finders.append(row)
before = set(sys.modules)
home = os.path.dirname(os.__file__) if os is not None else ""
sys.path[:] = [p for p in path if p == home or p.endswith(".zip") or (p.startswith(home + "/") and "-packages" not in p)]
import runpy
by_m = sorted(set(sys.modules) - before)
import json, os
try:
    import _imp as imp
except ImportError:
    import imp
builtin = sorted(sys.builtin_module_names)
named = getattr(sys, "stdlib_module_names", None)
if named is None:
    named = set(builtin)
    home = os.path.dirname(os.__file__)
    for folder in (home, os.path.join(home, "lib-dynload")):
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            stem = name.split(".")[0]
            if name.endswith((".py", ".so")) or os.path.isfile(os.path.join(folder, name, "__init__.py")):
                named.add(stem)
    named.discard("site-packages")
held = imp._frozen_module_names() if hasattr(imp, "_frozen_module_names") else sorted(named) + [
    "_frozen_importlib", "_frozen_importlib_external", "zipimport"]
if hasattr(imp, "find_frozen"):
    frozen = [name for name in held if imp.find_frozen(name)]
else:
    frozen = [name for name in held if imp.is_frozen(name)]
sites = []
try:
    import site
    sites = list(site.getsitepackages())
    if site.ENABLE_USER_SITE:
        sites.append(site.getusersitepackages())
except Exception:
    pass
known = {
    "executable": sys.executable, "version": list(sys.version_info[:3]), "release": sys.version_info[3],
    "implementation": getattr(getattr(sys, "implementation", None), "name", "cpython"),
    "path": path, "safe_path": safe, "loaded": loaded, "loaded_by_m": by_m, "builtin": builtin,
    "frozen": sorted(set(frozen)),
    "stdlib": sorted(named), "finders": finders, "sites": sites, "prefix": sys.prefix,
    "base_prefix": getattr(sys, "base_prefix", sys.prefix), "no_site": bool(sys.flags.no_site),
    "cache_tag": getattr(getattr(sys, "implementation", None), "cache_tag", None),
}
try:
    import importlib.machinery as machinery
    known["suffixes"] = list(machinery.EXTENSION_SUFFIXES)
except ImportError:
    known["suffixes"] = [row[0] for row in imp.get_suffixes() if row[2] == imp.C_EXTENSION]
sys.stdout.write("\\n%s" + json.dumps(known))
""" % (MARK,)


# Which interpreter.


def find(place, python="host"):
    """The interpreter that `python` names: `executable`, `version` ([3, 9, 18]) and `how` it was found.

    None for a version that no interpreter here has. A path or program that is not there, or does not answer as Python,
    is `CannotSee("tool_missing")`; so is an agent that does not know its own interpreter, as `no_python`.
    """
    if python in (None, "host"):
        return own()
    if VERSION.match(python):
        return _of_version(place, python)
    found = os.path.expanduser(python) if "/" in python else _on_path(python)
    if found is None or not os.path.isfile(found):
        raise CannotSee("tool_missing", "no interpreter %s on this host" % python, python=python)
    version = version_of(place, found)
    if version is None:
        raise CannotSee("tool_missing", "%s does not answer as a Python interpreter" % found, python=python)
    return {"executable": found, "version": version, "how": "as named" if "/" in python else "on PATH"}


def own():
    """The interpreter that runs this."""
    if not sys.executable:
        raise CannotSee("no_python", "the interpreter that runs the agent does not know its own path")
    return {"executable": sys.executable, "version": list(sys.version_info[:3]), "how": "the host's own"}


def brief(found):
    """Its name for a reason."""
    return "%s (%s)" % (found["executable"], ".".join(map(str, found["version"])))


def version_of(place, executable):
    """[major, minor, micro], or None for what does not answer as Python. Asked without site: nothing else runs."""
    try:
        ran = place.run([executable, "-E", "-S", "-B", "-c", _VERSION_OF], timeout=10.0, limit=1 << 16)
    except (OSError, CannotSee):
        return None
    said = ran.stdout.decode("ascii", "replace").rpartition(MARK)[2]
    return [int(part) for part in said.split(".")] if ran.status == 0 and re.match(r"\d+\.\d+\.\d+\Z", said) else None


def _of_version(place, wanted):
    numbers = [int(part) for part in wanted.split(".")]
    if list(sys.version_info[: len(numbers)]) == numbers and sys.executable:
        return own()
    tried = set()
    for candidate in _candidates(wanted):
        real = os.path.realpath(candidate)
        if real in tried or not os.access(candidate, os.X_OK):
            continue
        tried.add(real)
        version = version_of(place, candidate)
        if version is not None and version[: len(numbers)] == numbers:
            return {"executable": candidate, "version": version, "how": "found by its version"}
    return None


def _candidates(wanted):
    import glob

    xy = ".".join(wanted.split(".")[:2])
    named = _on_path("python" + xy)
    if named:
        yield named
    pyenv = os.environ.get("PYENV_ROOT") or "~/.pyenv"
    # "3.1*" would take in 3.11: a version asked for by two numbers goes on with a dot.
    exact = wanted if wanted.count(".") == 2 else wanted + "."
    for pattern in PLACES:
        for path in sorted(glob.glob(os.path.expanduser(pattern.format(v=exact, xy=xy, pyenv=pyenv)))):
            yield path


def _on_path(name):
    import shutil

    return shutil.which(name)


# What it knows.


def ask(place, python="host", cwd=None, env=None):
    """What the interpreter knows once it has started as it would start for real: with site, .pth files and environment.

    `env` adds to this host's environment, `cwd` is where it starts (relative PYTHONPATH entries count from there).

    executable, version, release, implementation, prefix, base_prefix, cache_tag, how
    path         sys.path behind its first entry, which depends on the start: see `search_path`
    safe_path    whether there is no such first entry (-P, -I, PYTHONSAFEPATH)
    builtin      modules compiled in; no file can shadow them
    frozen       modules frozen in and in use; no file can shadow them either
    stdlib       names of the standard library (top level)
    loaded       modules already loaded when the first line of a script runs: by start-up, site and .pth files
    loaded_by_m  those that `python -m` loads beside these
    finders      sys.meta_path in its order: name, module, and for an editable install its `mapping` of name to folder
    sites        site-packages folders whose .pth files are read
    suffixes     of extension modules, in order of preference

    Raises CannotSee: `tool_missing` for no such interpreter, `unsupported` if it does not start or answer.
    """
    found = find(place, python)
    if found is None:
        raise CannotSee("tool_missing", "no Python %s on this host" % python, python=python)
    surroundings = dict(os.environ, **(env or {}))
    ran = place.run(
        [found["executable"], "-B", "-c", _ASK], timeout=30.0, limit=4 << 20, cwd=cwd or "/", env=surroundings
    )
    said = ran.stdout.decode("utf-8", "replace").rpartition("\n" + MARK)[2]
    if ran.status != 0 or not said.startswith("{"):
        ending = "was stopped after 30 s" if ran.late else "ended with status %d" % ran.status
        words = ran.stderr.decode("utf-8", "replace").strip().splitlines()
        raise CannotSee(
            "unsupported", "%s %s when it was asked for its path" % (found["executable"], ending), stderr=words[-5:]
        )
    import json

    return dict(json.loads(said), executable=found["executable"], how=found["how"])


def search_path(known, run_as, folder):
    """sys.path for a start of this kind, from what `ask` answered.

    "script": `folder` is the one that holds the script (links resolved).  "module": `folder` is the working directory.
    "import": `folder` is the root that the module is imported from, None if it is on the path already.
    """
    if run_as not in ("script", "module", "import"):
        raise ValueError("run_as is 'script', 'module' or 'import'; got %r" % (run_as,))
    first = folder is not None and not (known["safe_path"] and run_as != "import")
    return [folder] * first + known["path"]


# What is installed.


def distributions(place, folders):
    """One row for each *.dist-info and *.egg-info in these folders: name, version, folder, info, editable, origin.

    `editable`: whether pip says so in direct_url.json; `origin`: the URL it then stands for.
    """
    rows = []
    for folder in _once(folders):
        try:
            names = place.listdir(folder)
        except OSError:  # a zip, or a folder on the path that is not there: usual
            continue
        for entry in names:
            if entry.endswith((".dist-info", ".egg-info")):
                rows.append(_distribution(place, folder, entry))
    return rows


def _distribution(place, folder, entry):
    info = os.path.join(folder, entry)
    stem, _, version = entry.rpartition(".")[0].partition("-")
    row = {"name": stem, "version": version, "folder": folder, "info": info, "editable": False, "origin": None}
    head = _text(place, os.path.join(info, "METADATA"), 1 << 16) or _text(
        place, os.path.join(info, "PKG-INFO"), 1 << 16
    )
    head = head or _text(place, info, 1 << 16)  # distutils wrote one plain file
    for line in (head or "").split("\n\n")[0].splitlines():
        key, _, value = line.partition(":")
        if key in ("Name", "Version"):
            row[key.lower()] = value.strip()
    origin = _text(place, os.path.join(info, "direct_url.json"), 1 << 16)
    if origin:
        import json

        try:
            said = json.loads(origin)
            row["editable"] = bool(said.get("dir_info", {}).get("editable"))
            row["origin"] = said.get("url")
        except (ValueError, AttributeError):
            pass
    return row


def records(place, row):
    """(path, hash) of each file in a distribution's RECORD: the path as an absolute one, the hash as `sha256=…` or "".

    A distribution without RECORD (egg-info, some system packages) yields the names in its installed-files.txt, if any.
    """
    import csv
    import io

    for name, base in (("RECORD", row["folder"]), ("installed-files.txt", row["info"])):
        try:
            with place.open(os.path.join(row["info"], name)) as raw:
                lines = io.TextIOWrapper(raw, encoding="utf-8", errors="surrogateescape", newline="")
                for fields in csv.reader(lines):
                    if fields and fields[0]:
                        path = os.path.normpath(os.path.join(base, fields[0]))
                        yield path, fields[1] if len(fields) > 1 else ""
            return
        except (OSError, CannotSee):
            continue


def pth_lines(place, folders):
    """The lines of the .pth files in these folders that mean something: file, line, and `path` (absolute) or `code`."""
    rows = []
    for folder in _once(folders):
        try:
            names = [name for name in place.listdir(folder) if name.endswith(".pth")]
        except OSError:
            continue
        for name in names:
            text = _text(place, os.path.join(folder, name), 1 << 20) or ""
            for number, line in enumerate(text.splitlines(), 1):
                line = line.rstrip()
                if not line or line.startswith("#"):
                    continue
                row = {"file": os.path.join(folder, name), "line": number}
                code = line.startswith(("import ", "import\t"))
                row.update({"code": line} if code else {"path": os.path.normpath(os.path.join(folder, line))})
                rows.append(row)
    return rows


def _once(folders):
    return list(dict.fromkeys(folder for folder in folders if folder))


def _text(place, path, limit):
    """The file's beginning as text, None if it can't be read: what is installed badly is not this probe's question."""
    try:
        with place.open(path) as file:
            return file.read(limit).decode("utf-8", "replace")
    except (OSError, CannotSee):
        return None
