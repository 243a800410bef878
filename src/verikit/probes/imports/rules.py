"""The rules of ImportConflict: one row each.

An import conflicts if and only if (a) the file stops compiling or loading, (b) another name's value changes where it is
used, or (c) the import's own name is not bound to what it says where code relies on it.
Severity: "breaks" raises at load or at the use, "changes" is silent.  Source: what makes Python behave so.
"""

BREAKS, CHANGES = "breaks", "changes"

RULES = {
    # id: (meaning, severity, source)
    "N1": ("two imports bind one name to different objects", CHANGES, "Language reference 7.11, the import statement"),
    "N2": ("a def, class or assignment takes the imported name", CHANGES, "Language reference 4.2.1, binding of names"),
    "N3": (
        "a loop, with, except, walrus, pattern or type statement takes the imported name",
        CHANGES,
        "Language reference 4.2.1",
    ),
    "N4": ("the import takes a name that the file had bound to something else", CHANGES, "Language reference 4.2.1"),
    "N5": ("a re-export that looks like the same object is another", CHANGES, "definition site"),
    "N6": ("two branches that can both run bind one name to different objects", CHANGES, "Language reference 8"),
    "N7": ("a module and something inside it share one name", BREAKS, "Language reference 5.4.2, submodules"),
    "N8": ("a star import takes the name", CHANGES, "Language reference 7.11, __all__"),
    "N9": ("the import takes the name of a builtin that is used", BREAKS, "Language reference 4.2.2, builtins"),
    "N10": (
        "an import in a class body is a member of the class, and nothing else",
        BREAKS,
        "Language reference 4.2.2, class blocks",
    ),
    "N11": (
        "an import in a function makes its name local to all of it",
        BREAKS,
        "Language reference 4.2.2; FAQ, UnboundLocalError",
    ),
    "N12": ("the name is deleted before it is used", BREAKS, "Language reference 7.5, del"),
    "N13": (
        "in a class, a name that begins with two underscores is another name",
        BREAKS,
        "Language reference 6.2.1, mangling",
    ),
    "N14": (
        "the import changes what a star import of this module brings",
        CHANGES,
        "Language reference 7.11, public names",
    ),
    "N15": ("the module's __getattr__ served that name", CHANGES, "PEP 562"),
    "N16": (
        "the import takes a name that Python gives to the module",
        CHANGES,
        "Language reference 5.4.5, module attributes",
    ),
    "N17": ("the name exists for type checkers alone and is used at run time", BREAKS, "PEP 484, TYPE_CHECKING"),
    "N18": ("a function rebinds the imported name by `global` or `nonlocal`", CHANGES, "Language reference 7.12"),
    "N19": ("exec or globals() rebinds the imported name", CHANGES, "Library reference, exec and globals"),
    "N20": ("an import that never runs still makes its name local", BREAKS, "Language reference 4.2.1"),
    "N21": ("sys.modules already holds something else under that name", CHANGES, "Language reference 5.3.1"),
    "P1": ("inside a string: the text is data", BREAKS, "Language reference 2.4.1"),
    "P2": ("inside brackets", BREAKS, "Language reference 2.1.6"),
    "P3": (
        "in a place of the block structure where it can't stand, or is never reached",
        BREAKS,
        "Language reference 2.1.8",
    ),
    "P4": ("between a decorator and what it decorates", BREAKS, "Language reference 8.7"),
    "P5": ("after a backslash that continues the line", BREAKS, "Language reference 2.1.5"),
    "P6": ("above a `from __future__ import`, or itself a late one", BREAKS, "Language reference 7.11.1"),
    "P7": ("above a docstring, which then is none", CHANGES, "Language reference, docstring"),
    "P8": ("moves or makes a shebang, an encoding line or a byte-order mark", BREAKS, "PEP 263; execve(2)"),
    "P10": ("mixes line ends or indentation", BREAKS, "Language reference 2.1.8, TabError"),
    "P14": ("bound too late: code above runs first", BREAKS, "Language reference 4.2.2, NameError"),
    "M1": ("a file beside the program is found before the module that is meant", BREAKS, "Library reference, sys.path"),
    "M2": ("the module that is meant is not the one that is found", BREAKS, "PEP 420; Library reference, importlib"),
    "M3": ("two distributions own one module", BREAKS, "PyPA, recording installed projects"),
    "M4": ("a circular import meets a module that is not loaded yet", BREAKS, "FAQ, circular imports"),
    "M5": ("a relative import without its package", BREAKS, "PEP 328; PEP 366"),
    "M8": ("the target's Python no longer has the module", BREAKS, "What's New in Python 3.12 and 3.13, removed"),
    "S1": ("the module acts when it is loaded, and the order now differs", CHANGES, "Language reference 5.4"),
}


def finding(rule, name, line, message, other=None, use=None, severity=None):
    """One conflict: `line` is the import's, `other` the line it meets, `use` the first use that is wrong after it."""
    return {
        "rule": rule,
        "meaning": RULES[rule][0],
        "severity": severity or RULES[rule][1],
        "name": name,
        "line": line,
        "other": other,
        "use": use,
        "message": message,
    }
