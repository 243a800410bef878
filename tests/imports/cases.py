"""Small files with one import in question each, and what running them shows.

Each row: rule, whether it conflicts, the file's text, the question, and probes with what the import's line promises.
`test_cases.py` asks ImportConflict, and a child interpreter whether the row is right.
"""

# ruff: noqa: E501 - sources are kept on one line each, as they are easier to compare so.

CASES = []


def case(
    rule,
    conflict,
    text,
    name=None,
    inject=None,
    line=None,
    probe=(),
    run_as="script",
    into="main.py",
    target=None,
    python=None,
    **files,
):
    """`files`: further files, `pkg__mod` for pkg/mod.py. `probe`: (expression, what it should be) pairs, run at the end."""
    more = {
        (
            key[:-4].replace("__", "/") + "__init__.py" if key.endswith("__init") else key.replace("__", "/") + ".py"
        ): value
        for key, value in files.items()
    }
    probes = [probe] if probe and isinstance(probe[0], str) else list(probe)
    CASES.append({"rule": rule, "conflict": conflict, "files": {into: text, **more}, "name": name, "inject": inject, "line": line, "probes": probes, "run_as": run_as, "into": into, "target": target or into, "python": python})  # fmt: skip


def bad(rule, text, *args, **more):
    case(rule, True, text, *args, **more)


def good(rule, text, *args, **more):
    case(rule, False, text, *args, **more)


# N1: two imports, one name.
bad(
    "N1",
    "from json import loads\nfrom pickle import loads\ndef f(s):\n    return loads(s)\n",
    "loads",
    probe=("loads.__module__", "'json'"),
)
bad(
    "N1",
    "from collections import abc\nimport abc\ndef f():\n    return abc.Sized\n",
    "abc",
    probe=("abc.__name__", "'collections.abc'"),
)
bad("N1", "import abc\nfrom collections import abc\nclass A(abc.ABC):\n    pass\n", "abc", probe=("A", "x"))
bad(
    "N1",
    "from . import json\nimport json\ndef f():\n    return json.MINE\n",
    "json",
    probe=("f()", "1"),
    run_as="import",
    into="pkg/mod.py",
    target="pkg.mod",
    pkg__init="",
    pkg__json="MINE = 1\n",
)
bad("N1", "import os as x\nimport sys as x\ndef f():\n    return x.sep\n", "x", probe=("f()", "'/'"))
bad("N1", "import json, pickle as json\ndef f():\n    return json.__name__\n", "json", probe=("f()", "'json'"))
good(
    "N1",
    "from json import loads\nfrom json import loads\ndef f(s):\n    return loads(s)\n",
    "loads",
    probe=("loads.__module__", "'json'"),
)
good(
    "N1",
    "from json import loads\nfrom pickle import loads as ploads\ndef f(s):\n    return loads(s)\n",
    "loads",
    probe=("loads.__module__", "'json'"),
)
# N2: something else takes the name.
bad(
    "N2",
    "from json import dumps\nasync def dumps(x):\n    return x\ndef f():\n    return dumps\n",
    "dumps",
    probe=("dumps.__module__", "'json'"),
)
bad(
    "N2",
    "from decimal import Decimal\nclass Decimal:\n    pass\ndef f():\n    return Decimal(1)\n",
    "Decimal",
    probe=("f() == 1", "True"),
)
bad("N2", "import os\nos = 'linux'\ndef f():\n    return os.getpid() > 0\n", "os", probe=("f()", "True"))
bad("N2", "from stat import ST_SIZE\nST_SIZE += 1\ndef f():\n    return ST_SIZE\n", "ST_SIZE", probe=("f()", "6"))
bad("N2", "import json, re\n(json, x) = 1, 2\ndef f():\n    return json.dumps(1)\n", "json", probe=("f()", "'1'"))
bad("N2", "import json\n*json, x = 1, 2, 3\ndef f():\n    return json.dumps(1)\n", "json", probe=("f()", "'1'"))
bad(
    "N2",
    "import json\nif __name__ == '__main__':\n    json = 3\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
good(
    "N2",
    "import json\nif __name__ == '__main__':\n    json = 3\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
    run_as="import",
    target="main",
)
good(
    "N2",
    "from functools import partial\nfrom json import loads\nloads = partial(loads, parse_int=str)\ndef f(s):\n    return loads(s)\n",
    "loads",
    probe=("f('1')", "'1'"),
)
good(
    "N2",
    "from decimal import Decimal\nclass Decimal(Decimal):\n    pass\ndef f():\n    return Decimal(1)\n",
    "Decimal",
    probe=("f() == 1", "True"),
)
good("N2", "import json\njson.mine = 3\ndef f():\n    return json.dumps(json.mine)\n", "json", probe=("f()", "'3'"))
good(
    "N2",
    "from collections import OrderedDict\nORDER = OrderedDict\nORDER = {}\ndef f():\n    return OrderedDict(a=1)\n",
    "OrderedDict",
    probe=("dict(f())", "{'a': 1}"),
)
good(
    "N2",
    "from string import digits\nrow = {}\nrow[digits] = 1\ndef f():\n    return digits\n",
    "digits",
    probe=("f()", "'0123456789'"),
)
bad(
    "N2",
    "import json\ndef f():\n    if False:\n        json = 1\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
# N3: implicit binders.
bad(
    "N3",
    "import io, json\nwith io.StringIO() as json:\n    pass\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
bad(
    "N3",
    "import json\nif (json := 5) > 3:\n    pass\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
bad(
    "N3",
    "import json\ndef g(x=(json := 3)):\n    return x\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
bad(
    "N3",
    "import json\nmatch {'a': 1}:\n    case {'a': json}:\n        pass\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
bad(
    "N3",
    "import json\nmatch {'a': 1}:\n    case {'b': 1, **json} | {'a': 1, **json}:\n        pass\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
bad(
    "N3",
    "import json\nmatch 4:\n    case int() as json:\n        pass\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
bad(
    "N3",
    "import json\nmatch [1, 2, 3]:\n    case [1, *json]:\n        pass\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
bad(
    "N3",
    "import json\nfor i, json in enumerate('ab'):\n    pass\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
bad(
    "N3",
    "import json\nfor json in 'ab': pass\nelse:\n    done = 1\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
bad("N3", "import json\ndef f():\n    json: object\n    return json.dumps(1)\n", "json", probe=("f()", "'1'"))
bad(
    "N3",
    "import json\ndef f():\n    for json in ():\n        pass\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
bad(
    "N3",
    "import json\ndef f():\n    try:\n        return json.dumps(1)\n    except ValueError as json:\n        pass\n",
    "json",
    probe=("f()", "'1'"),
)
bad(
    "N3",
    "import json\ntype json = int\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
    python="3.12",
)
good(
    "N3",
    "import json\ntype Row = json.JSONDecoder\ndef f[json](x: json) -> json:\n    return x\ndef g():\n    return json.dumps(1)\n",
    "json",
    probe=("g()", "'1'"),
    python="3.12",
)
good("N3", "import json\nf = lambda json: json\ndef g():\n    return json.dumps(f(1))\n", "json", probe=("g()", "'1'"))
good(
    "N3",
    "import json\nclass P:\n    json = 3\nmatch P():\n    case P(json=3):\n        ok = 1\ndef f():\n    return json.dumps(ok)\n",
    "json",
    probe=("f()", "'1'"),
)
good(
    "N3",
    "import json, stat\nmatch 6:\n    case stat.ST_SIZE:\n        ok = 1\ndef f():\n    return json.dumps(1)\n",
    "stat",
    probe=("stat.ST_SIZE", "6"),
)
good(
    "N3",
    "import json\nROWS = {json: 1 for json in 'ab'}\nGEN = list(json for json in 'ab')\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
good(
    "N3",
    "import json\ndef f():\n    with open('/dev/null') as json:\n        return json.read()\ndef g():\n    return json.dumps(1)\n",
    "json",
    probe=("(f(), g())", "('', '1')"),
)
good(
    "N3",
    "import json\ntry:\n    x = 1\nexcept ValueError as err:\n    pass\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
# N4: the import takes what was there.
bad(
    "N4",
    "def load(x):\n    return 'mine'\ndef use():\n    return load('1')\n",
    inject="from json import loads as load",
    line=3,
    probe=("use()", "'mine'"),
)
bad(
    "N4",
    "class Path:\n    pass\ndef use():\n    return Path.__module__\n",
    inject="from pathlib import Path",
    line=3,
    probe=("use() == __name__", "True"),
)
bad(
    "N4",
    "path = '/srv'\ndef use():\n    return path + '/x'\n",
    inject="from os import path",
    line=2,
    probe=("use()", "'/srv/x'"),
)
bad(
    "N4",
    "import sys\ntotal = 3\ndef use():\n    return total\n",
    inject="import os as total",
    line=3,
    probe=("use()", "3"),
)
good(
    "N4",
    "def load(x):\n    return 'mine'\ndef use():\n    return load('1')\n",
    inject="from json import loads as _load",
    line=3,
    probe=("use()", "'mine'"),
)
bad(
    "N4",
    "from json import loads\ndef use():\n    return loads('1')\n",
    inject="from pickle import loads",
    line=1,
    probe=("loads.__module__", "'_pickle'"),
)
# N5: the same object.
good(
    "N5",
    "import os.path as p\nimport posixpath as p\ndef f():\n    return p.join('a', 'b')\n",
    "p",
    probe=("f()", "'a/b'"),
)
good(
    "N5",
    "from os import path\nimport posixpath as path\ndef f():\n    return path.join('a', 'b')\n",
    "path",
    probe=("f()", "'a/b'"),
)
good(
    "N5",
    "from concurrent.futures import ThreadPoolExecutor\nfrom concurrent.futures.thread import ThreadPoolExecutor\ndef f():\n    return ThreadPoolExecutor\n",
    "ThreadPoolExecutor",
    probe=("f().__name__", "'ThreadPoolExecutor'"),
)
good(
    "N5",
    "from json import JSONDecoder\nfrom json.decoder import JSONDecoder\ndef f():\n    return JSONDecoder\n",
    "JSONDecoder",
    probe=("f().__name__", "'JSONDecoder'"),
)
good(
    "N5",
    "from json import loads\nfrom helper import loads\ndef f(s):\n    return loads(s)\n",
    "loads",
    probe=("loads.__module__", "'json'"),
    helper="from json import loads\n",
)
good(
    "N5",
    "from json import loads\nfrom helper import loads\ndef f(s):\n    return loads(s)\n",
    "loads",
    probe=("loads.__module__", "'json'"),
    helper="import json\nloads = json.loads\n",
)
bad(
    "N5",
    "from json import loads\nfrom helper import loads\ndef f(s):\n    return loads(s)\n",
    "loads",
    probe=("loads.__module__", "'json'"),
    helper="import json\ndef loads(s):\n    return json.loads(s)\n",
)
bad(
    "N5",
    "from json import loads\nfrom helper import loads\ndef f(s):\n    return loads(s)\n",
    "loads",
    probe=("loads.__module__", "'json'"),
    helper="import functools, json\nloads = functools.partial(json.loads)\n",
)
good("N5", "import os\nimport os as _os\ndef f():\n    return os is _os\n", "os", probe=("f()", "True"))
# N6: branches.
good(
    "N6",
    "import sys\nif sys.platform == 'win32':\n    import ntpath as p\nelif sys.platform == 'none':\n    raise OSError\nelse:\n    import posixpath as p\ndef f():\n    return p.sep\n",
    "p",
    probe=("f()", "'/'"),
)
good(
    "N6",
    "import contextlib\nujson = None\nwith contextlib.suppress(ImportError):\n    import ujson_missing as ujson\ndef f():\n    return ujson\n",
    "ujson",
    probe=("f()", "None"),
)
good(
    "N6",
    "import os\nFAST = bool(os.environ.get('VK_NONE'))\nif FAST:\n    from pickle import loads\nif not FAST:\n    from json import loads\ndef f():\n    return loads('1')\n",
    "loads",
    probe=("f()", "1"),
)
good(
    "N6",
    "KIND = 'b'\nmatch KIND:\n    case 'a':\n        from pickle import loads\n    case _:\n        from json import loads\ndef f():\n    return loads('1')\n",
    "loads",
    probe=("f()", "1"),
)
bad(
    "N6",
    "try:\n    from json import loads\nexcept ImportError:\n    loads = None\nelse:\n    from pickle import loads\ndef f():\n    return loads('1')\n",
    "loads",
    probe=("f()", "1"),
)
bad(
    "N6",
    "try:\n    from json import loads\nfinally:\n    from pickle import loads\ndef f():\n    return loads('1')\n",
    "loads",
    probe=("f()", "1"),
)
bad(
    "N6",
    "try:\n    from json import loads\nexcept ImportError:\n    pass\nfrom pickle import loads\ndef f():\n    return loads('1')\n",
    "loads",
    probe=("f()", "1"),
)
bad(
    "N6",
    "import os\nA = os.sep == '/'\nB = os.linesep == '\\n'\nif A:\n    from json import loads\nif B:\n    from pickle import loads\ndef f():\n    return loads('1')\n",
    "loads",
    probe=("f()", "1"),
)
good(
    "N6",
    "try:\n    from json import loads\n    FOUND = True\nexcept ImportError:\n    FOUND = False\nif not FOUND:\n    from pickle import loads\ndef f():\n    return loads('1')\n",
    "loads",
    probe=("f()", "1"),
)
good(
    "N6",
    "import sys\nif sys.version_info < (3,):\n    from pickle import loads\nfrom json import loads\ndef f():\n    return loads('1')\n",
    "loads",
    probe=("f()", "1"),
)
# N7.
good(
    "N7",
    "import xml\nimport xml.dom\nimport xml.sax\ndef f():\n    return xml.dom.__name__, xml.sax.__name__\n",
    "xml",
    probe=("f()", "('xml.dom', 'xml.sax')"),
)
bad("N7", "import os\nimport os.path as os\ndef f():\n    return os.getpid() > 0\n", "os", probe=("f()", "True"))
bad(
    "N7",
    "import pprint\nfrom pprint import pprint\ndef f():\n    return pprint.pformat(1)\n",
    "pprint",
    probe=("f()", "'1'"),
)
bad(
    "N7",
    "import pkg\ndef f():\n    return pkg.run()\n",
    inject="import pkg.run",
    line=2,
    probe=("f()", "'function'"),
    pkg__init="def run():\n    return 'function'\n",
    pkg__run="X = 1\n",
)
good(
    "N7",
    "import pkg\ndef f():\n    return pkg.run()\n",
    inject="import pkg.run",
    line=2,
    probe=("f()", "'function'"),
    pkg__init="from .run import run\n",
    pkg__run="def run():\n    return 'function'\n",
)
good(
    "N7",
    "import pkg\ndef f():\n    return pkg.run()\n",
    inject="import pkg.other",
    line=2,
    probe=("f()", "'function'"),
    pkg__init="def run():\n    return 'function'\n",
    pkg__other="X = 1\n",
)
# N8.
good(
    "N8",
    "from helpers import *\nfrom json import loads as load\ndef f(s):\n    return load(s)\n",
    "load",
    probe=("f('1')", "1"),
    helpers="def load(s):\n    return 'helper'\n",
)
bad(
    "N8",
    "import json\nfrom helpers import *\ndef f(s):\n    return json.loads(s)\n",
    "json",
    probe=("f('1')", "1"),
    helpers="import pickle as json\n",
)
good(
    "N8",
    "import json\nfrom helpers import *\ndef f(s):\n    return json.loads(s)\n",
    "json",
    probe=("f('1')", "1"),
    helpers="import json\n",
)
bad(
    "N8",
    "from json import loads as _load\nfrom helpers import *\ndef f(s):\n    return _load(s)\n",
    "_load",
    probe=("f('1')", "1"),
    helpers="__all__ = ['_load']\ndef _load(s):\n    return 2\n",
)
good(
    "N8",
    "from json import loads as _load\nfrom helpers import *\ndef f(s):\n    return _load(s)\n",
    "_load",
    probe=("f('1')", "1"),
    helpers="def _load(s):\n    return 2\n",
)
bad(
    "N8",
    "from json import loads as load\nfrom helpers import *\ndef f(s):\n    return load(s)\n",
    "load",
    probe=("f('1')", "1"),
    helpers="__all__ = ['x']\nx = 1\n__all__ += ['load']\ndef load(s):\n    return 2\n",
)
bad(
    "N8",
    "import json\ndef f():\n    return json.dumps(1)\n",
    inject="from helpers import *",
    line=2,
    probe=("f()", "'1'"),
    helpers="__all__ = ['gone']\n",
)
bad(
    "N8",
    "def area():\n    return 'mine'\n",
    inject="from helpers import *",
    line=3,
    probe=("area()", "'mine'"),
    helpers="def area():\n    return 'theirs'\n",
)
# N9.
bad("N9", "def f():\n    return pow(2, 5, 7)\n", inject="from math import pow", line=1, probe=("f()", "4"))
bad("N9", "from math import pow\ndef f():\n    return pow(2, 5, 7)\n", "pow", probe=("f()", "4"))
bad("N9", "def f():\n    return sum([1, 2]), pow(2, 3)\n", inject="from math import *", line=1, probe=("f()", "(3, 8)"))
good("N9", "def f():\n    return len('ab')\n", inject="from os import open", line=1, probe=("f()", "2"))
good("N9", "def f():\n    return abs(-2)\n", inject="from builtins import abs", line=1, probe=("f()", "2"))
good("N9", "from gzip import open\ndef f():\n    return open.__module__\n", "open", probe=("f()", "'gzip'"))
good("N9", "from os import open\nimport sys\ndef f():\n    return open.__name__\n", "open", probe=("f()", "'open'"))
good("N9", "from math import pow as mpow\ndef f():\n    return pow(2, 5, 7)\n", "mpow", probe=("f()", "4"))
# N10.
bad(
    "N10",
    "class C:\n    import json\n    def json(self):\n        return 1\n    x = json.__name__\n",
    "json",
    probe=("C.x", "'x'"),
)
bad(
    "N10",
    "class C:\n    import json\n    def f(self):\n        return json.dumps(1)\n",
    "json",
    probe=("C().f()", "'1'"),
)
good(
    "N10",
    "import json\nclass C:\n    import json\n    def f(self):\n        return json.dumps(1)\n",
    "json",
    probe=("C().f()", "'1'"),
)
good(
    "N10",
    "class C:\n    import json\n    x = json.dumps(1)\n    def f(self):\n        return self.json.dumps(1)\n",
    "json",
    probe=("C().f()", "'1'"),
)
good(
    "N10",
    "import json\nclass C:\n    import pickle as json\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
# N11.
bad(
    "N11",
    "import os\ndef f(x=True):\n    if not x:\n        import os\n    return os.sep\n",
    "os",
    probe=("f()", "'/'"),
)
bad(
    "N11",
    "import os\ndef f():\n    try:\n        x = os.sep\n    except KeyError:\n        import os\n    return x\n",
    "os",
    probe=("f()", "'/'"),
)
bad("N11", "import os\ndef f():\n    return os.sep\n    import os\n", "os", probe=("f()", "'/'"))
bad("N11", "import os\ndef f():\n    if False:\n        import os\n    return os.sep\n", "os", probe=("f()", "'/'"))
bad("N11", "import os\ndef f():\n    x = os.sep\n    import os.path\n    return x\n", "os", probe=("f()", "'/'"))
good("N11", "import os\ndef f():\n    x = os.sep\n    import os.path as p\n    return x\n", "os", probe=("f()", "'/'"))
good(
    "N11",
    "import os\ndef f():\n    global os\n    x = os.sep\n    import os\n    return x\n",
    "os",
    probe=("f()", "'/'"),
)
bad("N11", "def f(json):\n    import json\n    return json\n", "json", probe=("f(1)", "1"))
bad(
    "N11",
    "def outer():\n    import json\n    def inner():\n        nonlocal json\n        import pickle as json\n    inner()\n    return json.dumps(1)\n",
    "json",
    probe=("outer()", "'1'"),
)
bad(
    "N11",
    "import os\ndef f():\n    def g():\n        return os.sep\n    x = g()\n    import os\n    return x\n",
    "os",
    probe=("f()", "'/'"),
)
good(
    "N11",
    "import os\ndef f():\n    def g():\n        return os.sep\n    import os\n    return g()\n",
    "os",
    probe=("f()", "'/'"),
)
bad(
    "N11",
    "import os\ndef f(x):\n    a = os.sep\n    if x:\n        b = 1\n    return a\n",
    inject="        import os",
    line=5,
    probe=("f(0)", "'/'"),
)
good(
    "N11",
    "import os\ndef f(x):\n    if x:\n        import os\n        return os.sep\n    return 1\n",
    "os",
    probe=("f(1)", "'/'"),
)
bad(
    "N11",
    "def f(x):\n    return len(x)\n    \ndef g(x):\n    y = len(x)\n    return y\n",
    inject="    from os import pathconf as len",
    line=6,
    probe=("g('ab')", "2"),
)
# N12.
bad("N12", "import os\ndef f():\n    return os.sep\ndel os\n", "os", probe=("f()", "'/'"))
bad(
    "N12",
    "import os, sys\nfor n in list(globals()):\n    if n == 'os':\n        del globals()[n]\ndef f():\n    return os.sep\n",
    "os",
    probe=("f()", "'/'"),
)
bad(
    "N12",
    "import os as _os\nfor n in [k for k in globals() if k.startswith('_os')]:\n    del globals()[n]\ndef f():\n    return _os.sep\n",
    "_os",
    probe=("f()", "'/'"),
)
good(
    "N12",
    "import os\nfor n in [k for k in globals() if k.startswith('_x')]:\n    del globals()[n]\ndef f():\n    return os.sep\n",
    "os",
    probe=("f()", "'/'"),
)
good("N12", "import os\nX = os.sep\ndel os\ndef f():\n    return X\n", "os", probe=("f()", "'/'"))
good(
    "N12",
    "import os\ndef f():\n    import os\n    x = os.sep\n    del os\n    return x\ndef g():\n    return os.sep\n",
    "os",
    probe=("(f(), g())", "('/', '/')"),
)
# N13.
bad("N13", "import os as __x\nclass C:\n    def f(self):\n        return __x.sep\n", "__x", probe=("C().f()", "'/'"))
good(
    "N13",
    "import os as __x__\nclass C:\n    def f(self):\n        return __x__.sep\n",
    "__x__",
    probe=("C().f()", "'/'"),
)
good("N13", "import os as __x\ndef f():\n    return __x.sep\n", "__x", probe=("f()", "'/'"))
good(
    "N13",
    "class C:\n    def f(self):\n        import os as __x\n        return __x.sep\n",
    "__x",
    probe=("C().f()", "'/'"),
)
# N14.
bad(
    "N14",
    "def save():\n    return 1\n",
    inject="import json",
    line=1,
    into="lib.py",
    target="main.py",
    probe=("f()", "'mine'"),
    main="json = 'mine'\nfrom lib import *\ndef f():\n    return json\n",
)
good(
    "N14",
    "def save():\n    return 1\n",
    inject="import json as _json",
    line=1,
    into="lib.py",
    target="main.py",
    probe=("f()", "'mine'"),
    main="json = 'mine'\nfrom lib import *\ndef f():\n    return json\n",
)
good(
    "N14",
    "__all__ = ['save']\ndef save():\n    return 1\n",
    inject="import json",
    line=2,
    into="lib.py",
    target="main.py",
    probe=("f()", "'mine'"),
    main="json = 'mine'\nfrom lib import *\ndef f():\n    return json\n",
)
bad(
    "N14",
    "__all__ = ['save']\ndef save():\n    return 1\n",
    inject="from json import __all__",
    line=2,
    probe=("__all__", "['save']"),
)
bad(
    "N14",
    "def save():\n    return 1\n",
    inject="from os import open",
    line=1,
    into="lib.py",
    target="main.py",
    probe=("f()", "''"),
    main="from lib import *\ndef f():\n    with open('/dev/null') as h:\n        return h.read()\n",
)
# N15.
bad(
    "N15",
    "def __getattr__(name):\n    if name == 'fast':\n        return 'served'\n    raise AttributeError(name)\n",
    inject="import json as fast",
    line=1,
    into="lib.py",
    target="main.py",
    probe=("lib.fast", "'served'"),
    main="import lib\n",
)
good(
    "N15",
    "def __getattr__(name):\n    if name == 'fast':\n        return 'served'\n    raise AttributeError(name)\n",
    inject="import json as other",
    line=1,
    into="lib.py",
    target="main.py",
    probe=("lib.fast", "'served'"),
    main="import lib\n",
)
bad(
    "N15",
    "_LAZY = {'fast': 'served'}\ndef __getattr__(name):\n    if name in _LAZY:\n        return _LAZY[name]\n    raise AttributeError(name)\n",
    inject="import json as fast",
    line=1,
    into="lib.py",
    target="main.py",
    probe=("lib.fast", "'served'"),
    main="import lib\n",
)
# N16.
bad(
    "N16",
    "import sys\ndef f():\n    return __name__\n",
    inject="from json import __name__",
    line=2,
    probe=("f()", "'__main__'"),
)
bad(
    "N16",
    "__version__ = '9'\ndef f():\n    return __version__\n",
    inject="from json import __version__",
    line=2,
    probe=("f()", "'9'"),
)
good(
    "N16",
    "__version__ = '9'\ndef f():\n    return __version__\n",
    inject="from json import __version__ as _v",
    line=2,
    probe=("f()", "'9'"),
)
bad(
    "N16",
    "import os\ndef f():\n    return os.path.basename(__file__)\n",
    inject="from json import __file__",
    line=2,
    probe=("f()", "'main.py'"),
)
# N17.
bad(
    "N17",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import json\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
bad(
    "N17",
    "import typing\nif typing.TYPE_CHECKING:\n    from decimal import Decimal\ndef f(x: Decimal):\n    return x\n",
    "Decimal",
    probe=("f(1)", "1"),
)
good(
    "N17",
    "from __future__ import annotations\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from decimal import Decimal\ndef f(x: Decimal):\n    y: Decimal = x\n    return y\n",
    "Decimal",
    probe=("f(1)", "1"),
)
good(
    "N17",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from decimal import Decimal\ndef f(x: 'Decimal'):\n    y: Decimal = x\n    return y\n",
    "Decimal",
    probe=("f(1)", "1"),
)
bad(
    "N17",
    "from __future__ import annotations\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from decimal import Decimal\ndef f(x):\n    return isinstance(x, Decimal)\n",
    "Decimal",
    probe=("f(1)", "False"),
)
# N18.
bad(
    "N18",
    "import json\ndef setup():\n    global json\n    json = 3\nsetup()\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
bad(
    "N18",
    "import json\ndef setup():\n    global json\n    import pickle as json\ndef f():\n    setup()\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
good(
    "N18",
    "json = None\ndef setup():\n    global json\n    import json\ndef f():\n    setup()\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
good(
    "N18",
    "import json\ndef setup():\n    global json\n    json = 3\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
bad(
    "N18",
    "import json\ndef f():\n    x = 1\n    global json\n    json = 3\n",
    inject="    y = json.dumps(1)",
    line=3,
    probe=("1", "1"),
)
# N19.
bad(
    "N19",
    "import json\nexec('import pickle as json')\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
good(
    "N19",
    "import json\nexec('import pickle as json', {})\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
bad("N19", "import json\nglobals()['json'] = 3\ndef f():\n    return json.dumps(1)\n", "json", probe=("f()", "'1'"))
bad("N19", "import json\nglobals().update(json=3)\ndef f():\n    return json.dumps(1)\n", "json", probe=("f()", "'1'"))
bad("N19", "import json\nvars()['json'] = 3\ndef f():\n    return json.dumps(1)\n", "json", probe=("f()", "'1'"))
good(
    "N19",
    "import json\nrow = {}\nrow.update(json=3)\nrow['json'] = 2\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
bad(
    "N19",
    "import json, sys\nsetattr(sys.modules[__name__], 'json', 3)\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
good(
    "N19",
    "import json\ndef g():\n    exec('json = 3')\ng()\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
# N20.
good(
    "N20",
    "import json\nif False:\n    import pickle as json\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
bad(
    "N20",
    "import json\ndef f():\n    while 0:\n        import json\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
# N21.
bad(
    "N21",
    "import sys, types\nsys.modules['json'] = types.ModuleType('json')\nimport json\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
bad(
    "N21",
    "import sys\nsys.modules['json'] = None\ndef f():\n    return 1\n",
    inject="import json",
    line=3,
    probe=("f()", "1"),
)
good(
    "N21",
    "import sys, types\nimport json\nsys.modules['json_x'] = types.ModuleType('x')\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
good(
    "N21",
    "import json\nimport sys, types\nsys.modules['json'] = types.ModuleType('json')\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
# Placement.
OS = "import os as _vk"
bad("P1", "X = '''a\nb\n'''\ndef f():\n    return len(X)\n", inject=OS, line=2, probe=("(f(), _vk.sep)", "(4, '/')"))
bad("P1", "X = 'a\\\nb'\ndef f():\n    return X\n", inject=OS, line=2, probe=("f()", "'ab'"))
bad("P2", "X = [\n    1,\n    2,\n]\n", inject=OS, line=3, probe=("X", "[1, 2]"))
bad("P2", "X = {\n    1: 2,\n}\n", inject=OS, line=2, probe=("X", "{1: 2}"))
bad("P2", "def f(\n    a,\n    b=1,\n):\n    return a\n", inject=OS, line=3, probe=("f(1)", "1"))
good("P2", "# a list: [1,\nX = 2\n# ]\n", inject=OS, line=2, probe=(("X", "2"), ("_vk.sep", "'/'")))
bad("P3", "def f():\n    x = 1\n    return x\n", inject=OS, line=3, probe=("f()", "1"))
bad("P3", "try:\n    x = 1\nexcept ValueError:\n    x = 2\n", inject=OS, line=3, probe=("x", "1"))
bad("P3", "match 1:\n    case 1:\n        x = 1\n    case _:\n        x = 2\n", inject=OS, line=4, probe=("x", "1"))
bad(
    "P3",
    "def f():\n    return 1\n\ndef g():\n    return 2\n",
    inject="    import os as _vk\n    global SEP\n    SEP = _vk.sep",
    line=3,
    probe=(("f()", "1"), ("SEP", "'/'")),
)
bad("P3", "def f():\n    'Help.'\n    return f.__doc__\n", inject="    import os", line=2, probe=("f()", "'Help.'"))
good("P3", "def f():\n    'Help.'\n    return f.__doc__\n", inject="    import os", line=3, probe=("f()", "'Help.'"))
bad("P3", "class C:\n    'Help.'\n    x = 1\n", inject="    import os", line=2, probe=("C.__doc__", "'Help.'"))
good(
    "P3",
    "def f():\n    return 1\n\n\ndef g():\n    return 2\n",
    inject=OS,
    line=4,
    probe=(("g()", "2"), ("_vk.sep", "'/'")),
)
good(
    "P3",
    "if True:\n    x = 1\ny = 2\n",
    inject="    import os as _vk",
    line=3,
    probe=(("(x, y)", "(1, 2)"), ("_vk.sep", "'/'")),
)
bad(
    "P3",
    "if not True:\n    x = 1\ny = 2\n",
    inject="    import os as _vk",
    line=2,
    probe=(("y", "2"), ("_vk.sep", "'/'")),
)
bad("P4", "import functools\n@functools.lru_cache\nclass C:\n    pass\n", inject=OS, line=3, probe=("1", "1"))
bad(
    "P4",
    "import functools\n@functools.wraps(len)\n@functools.lru_cache\ndef f():\n    return 1\n",
    inject=OS,
    line=3,
    probe=("f()", "1"),
)
good("P5", "# ends in a backslash \\\nX = 1\n", inject=OS, line=2, probe=(("X", "1"), ("_vk.sep", "'/'")))
bad("P5", "assert True, \\\n    'no'\nX = 1\n", inject=OS, line=2, probe=("X", "1"))
bad(
    "P6",
    "from __future__ import annotations\nfrom __future__ import division\nX = 1\n",
    inject=OS,
    line=2,
    probe=("X", "1"),
)
good(
    "P6",
    "from __future__ import annotations\nX = 1\n",
    inject="from __future__ import division",
    line=1,
    probe=("X", "1"),
)
bad("P6", "import sys\nX = 1\n", inject="from __future__ import annotations", line=2, probe=("X", "1"))
good("P6", "# c\nfrom __future__ import annotations\nX = 1\n", inject="# import os", line=1, probe=("X", "1"))
bad("P7", "#!/usr/bin/env python\n'Help.'\nX = __doc__\n", inject=OS, line=2, probe=("X", "'Help.'"))
good(
    "P7",
    "#!/usr/bin/env python\n'Help.'\nX = __doc__\n",
    inject=OS,
    line=3,
    probe=(("X", "'Help.'"), ("_vk.sep", "'/'")),
)
bad("P8", "#!/usr/bin/env python\nX = open(__file__, 'rb').read(2)\n", inject=OS, line=1, probe=("X", "b'#!'"))
bad("P8", "\ufeffX = 1\n", inject=OS, line=1, probe=("X", "1"))
good("P8", "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\nX = 'é'\n", inject=OS, line=2, probe=("X", "'é'"))
bad("P8", "X = 'é'\n", inject="# vim: set fileencoding=ascii :", line=1, probe=("X", "'é'"))
good("P10", "X = 1\r\nY = 2\r\n", inject=OS, line=2, probe=(("(X, Y)", "(1, 2)"), ("_vk.sep", "'/'")))
bad("P10", "def f():\n\tx = 1\n\treturn x\n", inject="        import os", line=3, probe=("f()", "1"))
bad("P14", "def f():\n    return json.dumps(1)\nX = f()\nimport json\n", "json", probe=("X", "'1'"))
bad("P14", "X = json.dumps(1)\nimport json\n", "json", probe=("X", "'1'"))
bad("P14", "try:\n    X = _vk.sep\nexcept NameError:\n    X = 'none'\n", inject=OS, line=5, probe=("X", "'/'"))
bad(
    "P14",
    "class C:\n    def __init__(self):\n        self.x = json.dumps(1)\nX = C()\nimport json\n",
    "json",
    probe=("X.x", "'1'"),
)
good("P14", "def f():\n    return json.dumps(1)\nimport json\nX = f()\n", "json", probe=("X", "'1'"))
# Modules.
bad(
    "M1",
    "import types\ndef f():\n    return types.ModuleType\n",
    "types",
    probe=("f().__name__", "'module'"),
    types="X = 1\n",
)
good("M1", "import time\ndef f():\n    return time.time() > 0\n", "time", probe=("f()", "True"), time="X = 1\n")
good("M1", "import abc\ndef f():\n    return abc.ABC.__name__\n", "abc", probe=("f()", "'ABC'"), abc="X = 1\n")
good(
    "M1",
    "import random\ndef f():\n    return random.Random(0).randint(5, 5)\n",
    "random",
    probe=("f()", "5"),
    pkg__random="X = 1\n",
)
bad("M1", "import logging\ndef f():\n    return logging.INFO\n", "logging", probe=("f()", "20"), string="X = 1\n")
bad(
    "M1",
    "import random\ndef f():\n    return random.Random(0).randint(5, 5)\n",
    "random",
    probe=("f()", "5"),
    run_as="import",
    target="main",
    random="X = 1\n",
)
good(
    "M1",
    "import random\ndef f():\n    return random.mine()\n",
    "random",
    probe=("f()", "1"),
    random="def mine():\n    return 1\n",
)
bad("M2", "from tool import X\n", "X", probe=("X", "1"), tool="X = 1\n", tool__init="Y = 2\n")
good("M2", "from tool import Y\n", "Y", probe=("Y", "2"), tool="X = 1\n", tool__init="Y = 2\n")
bad(
    "M4",
    "import json\nNAME = 'm'\n",
    inject="from config import LATE",
    line=1,
    into="model.py",
    target="main.py",
    probe=("config.LATE", "1"),
    main="import config\n",
    config="import model\nLATE = 1\n",
)
good(
    "M4",
    "import json\nNAME = 'm'\n",
    inject="from config import EARLY",
    line=1,
    into="model.py",
    target="main.py",
    probe=("config.EARLY", "1"),
    main="import config\n",
    config="EARLY = 1\nimport model\n",
)
good(
    "M4",
    "import json\nNAME = 'm'\n",
    inject="import config",
    line=1,
    into="model.py",
    target="main.py",
    probe=("config.LATE", "1"),
    main="import config\n",
    config="import model\nLATE = 1\n",
)
bad(
    "M4",
    "import json\nNAME = 'm'\n",
    inject="import config\nX = config.LATE",
    line=1,
    into="model.py",
    target="main.py",
    probe=("config.LATE", "1"),
    main="import config\n",
    config="import model\nLATE = 1\n",
)
good(
    "M4",
    "from . import b\nA = 1\n",
    "b",
    run_as="import",
    into="pkg/a.py",
    target="pkg.a",
    probe=("b.B", "2"),
    pkg__init="",
    pkg__b="from . import a\nB = 2\n",
)
bad(
    "M4",
    "class Row:\n    pass\nimport helper\ndef f():\n    return helper.Row is Row\n",
    "helper",
    probe=("f()", "True"),
    helper="from main import Row\n",
)
bad(
    "M5",
    "from . import util\n",
    "util",
    into="pkg/run.py",
    target="pkg/run.py",
    probe=("util.X", "1"),
    pkg__init="",
    pkg__util="X = 1\n",
)
bad(
    "M5",
    "from ..util import X\n",
    "X",
    run_as="import",
    into="pkg/run.py",
    target="pkg.run",
    probe=("X", "1"),
    pkg__init="",
    util="X = 1\n",
)
good(
    "M5",
    "from .util import X\n",
    "X",
    run_as="import",
    into="pkg/run.py",
    target="pkg.run",
    probe=("X", "1"),
    pkg__init="",
    pkg__util="X = 1\n",
)
good(
    "M5",
    "Y = 1\n",
    inject="from .util import X",
    line=1,
    into="pkg/run.py",
    target="main.py",
    probe=("pkg.run.X", "1"),
    pkg__init="",
    pkg__util="X = 1\n",
    main="import pkg.run\n",
)
bad(
    "M8",
    "import asynchat\ndef f():\n    return asynchat.__name__\n",
    "asynchat",
    probe=("f()", "'asynchat'"),
    python="3.12",
)
good(
    "M8",
    "import asynchat\ndef f():\n    return asynchat.__name__\n",
    "asynchat",
    probe=("f()", "'asynchat'"),
    python="3.9",
)
good(
    "M8",
    "try:\n    import asynchat\nexcept ImportError:\n    asynchat = None\ndef f():\n    return asynchat\n",
    "asynchat",
    probe=("f()", "None"),
    python="3.12",
)
bad(
    "S1",
    "import os\nos.environ['VK_A'] = '3'\nimport kit\nX = kit.A\n",
    inject="import kit as _k",
    line=2,
    probe=("X", "'3'"),
    kit="import os\nA = os.getenv('VK_A', 'none')\n",
)
good(
    "S1",
    "import os\nos.environ['VK_A'] = '3'\nimport kit\nX = kit.A\n",
    inject="import kit as _k",
    line=3,
    probe=("X", "'3'"),
    kit="import os\nA = os.getenv('VK_A', 'none')\n",
)
bad(
    "S1",
    "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))\nimport tool\nX = tool.X\n",
    inject="from tool import X as _x",
    line=2,
    probe=("X", "1"),
    lib__tool="X = 1\n",
)
good(
    "S1",
    "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))\nimport tool\nX = tool.X\n",
    inject="from tool import X as _x",
    line=3,
    probe=("X", "1"),
    lib__tool="X = 1\n",
)
bad(
    "S1",
    "import json\ndef f():\n    return json.dumps(1)\n",
    inject="import patcher",
    line=2,
    probe=("f()", "'1'"),
    patcher="import json\njson.dumps = lambda x: 'patched'\n",
)
good(
    "S1",
    "import json\ndef f():\n    return json.dumps(1)\n",
    inject="import helper",
    line=2,
    probe=("f()", "'1'"),
    helper="import json\nX = json.dumps(2)\n",
)
bad(
    "S1",
    "import logging\nlogging.basicConfig(level=logging.DEBUG)\nX = logging.getLogger().level\n",
    inject="import noisy",
    line=2,
    probe=("X", "10"),
    noisy="import logging\nlogging.basicConfig(level=logging.ERROR)\n",
)
bad(
    "S1",
    "import json\njson.dumps = lambda x: 'mine'\nX = json.dumps(1)\n",
    inject="from json import dumps as _d",
    line=2,
    probe=("_d(1)", "'mine'"),
)
# More shapes of the same rules.
bad("P2", "X = [\nimport os\n]\n", probe=("X", "[]"))
bad("P6", "import os\nfrom __future__ import annotations\nX = 1\n", probe=("X", "1"))
bad("N18", "import json\ndef f():\n    x = json.dumps(1)\n    global json\n    json = 3\n", "json", probe=("1", "1"))
good("N18", "X = 1\ndef f():\n    import json\n    return json.dumps(1)\n", "json", probe=("f()", "'1'"))
bad(
    "N17",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from decimal import Decimal\nclass D(Decimal):\n    pass\n",
    "Decimal",
    probe=("D", "1"),
)
bad(
    "N17",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from decimal import Decimal\ndef f(x=Decimal):\n    return x\n",
    "Decimal",
    probe=("f", "1"),
)
good(
    "N17",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from decimal import Decimal\nif TYPE_CHECKING:\n    X = Decimal\ndef f(x: 'Decimal'):\n    return x\n",
    "Decimal",
    probe=("f(1)", "1"),
)
good(
    "N17",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from decimal import Decimal\ndef f(x):\n    from decimal import Decimal\n    return Decimal(x)\n",
    "Decimal",
    probe=("f(1) == 1", "True"),
)
bad(
    "N17",
    "from typing import TYPE_CHECKING\ndef f(x):\n    return Decimal(x)\n",
    inject="if TYPE_CHECKING:\n    from decimal import Decimal",
    line=2,
    probe=("f(1) == 1", "True"),
)
bad(
    "M3",
    "from corp.io import read\nfrom corp.net import send\nOK = (read(), send())\n",
    "send",
    probe=("OK", "(1, 2)"),
    corp__init="",
    corp__io="def read():\n    return 1\n",
)
good(
    "M4",
    "import json\ndef build():\n    from config import LATE\n    return LATE\n",
    "json",
    into="model.py",
    target="main.py",
    probe=("model.build()", "1"),
    main="import config, model\n",
    config="import model\nLATE = 1\n",
)
bad(
    "M4",
    "from . import b\nfrom .b import B\nA = 1\n",
    run_as="import",
    into="pkg/a.py",
    target="pkg.a",
    probe=("B", "2"),
    pkg__init="",
    pkg__b="from .a import A\nB = 2\n",
)
bad("M4", "import b\nA = 1\n", "b", run_as="import", into="a.py", target="a", probe=("A", "1"), b="import a\nB = a.A\n")
good(
    "M4",
    "import b\nA = 1\n",
    "b",
    run_as="import",
    into="a.py",
    target="a",
    probe=("b.f()", "1"),
    b="import a\ndef f():\n    return a.A\n",
)
bad(
    "M4",
    "NAME = 1\n",
    inject="import helper",
    line=1,
    probe=("helper.Row is None", "True"),
    helper="import main\nRow = main.Gone\n",
)
good(
    "M1",
    "import random\nX = random.Random(0).randint(5, 5)\n",
    "random",
    run_as="import",
    into="pkg/mod.py",
    target="pkg.mod",
    probe=("X", "5"),
    pkg__init="",
    pkg__random="S = 1\n",
)
bad("M1", "from random import Random\nX = Random(0).randint(5, 5)\n", "Random", probe=("X", "5"), random="SEED = 1\n")
bad("M1", "import random\nX = random.Random(0).randint(5, 5)\n", "random", probe=("X", "5"), random__init="SEED = 1\n")
bad(
    "M1",
    "X = 1\n",
    inject="import random\nY = random.Random(0).randint(5, 5)",
    line=1,
    probe=("Y", "5"),
    random="SEED = 1\n",
)
good("M1", "import errno\nX = errno.ENOENT\n", "errno", probe=("X", "2"), errno="SEED = 1\n")
bad(
    "S1",
    "import os\nX = os.environ.get('VK_B', 'unset')\n",
    inject="import setter",
    line=2,
    probe=("X", "'unset'"),
    setter="import os\nos.environ['VK_B'] = 'x'\n",
)
bad(
    "S1",
    "import random\nrandom.seed(1)\nX = random.random()\n",
    inject="import kit",
    line=3,
    probe=("X", "0.13436424411240122"),
    kit="import random\nrandom.seed(2)\n",
)
bad(
    "S1",
    "import builtins\nX = len('ab')\n",
    inject="import evil",
    line=1,
    probe=("X", "2"),
    evil="import builtins\nbuiltins.len = lambda x: 9\n",
)
bad(
    "S1",
    "import os\nX = os.getcwd() != '/'\n",
    inject="import mover",
    line=1,
    probe=("X", "True"),
    mover="import os\nos.chdir('/')\n",
)
good(
    "S1",
    "import kit\nimport os\nX = os.environ.get('VK_C', 'unset')\n",
    inject="import kit as _k",
    line=2,
    probe=("X", "'x'"),
    kit="import os\nos.environ['VK_C'] = 'x'\n",
)
bad("N8", "from helpers import *\nX = 1\n", probe=("X", "1"), helpers="__all__ = ['gone']\n")
good(
    "N8",
    "from json import *\nfrom helpers import *\nX = area()\n",
    probe=("X", "2"),
    helpers="def area():\n    return 2\n",
)
bad(
    "N8",
    "def dumps(x):\n    return 'mine'\nfrom json import *\ndef f():\n    return dumps(1)\n",
    probe=("f()", "'mine'"),
)
bad(
    "N1",
    "import json\nX = json.dumps(1)\nimport pickle as json\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
good(
    "N1",
    "from json import loads\ndef f():\n    from pickle import loads\n    return loads\ndef g():\n    return loads('1')\n",
    "loads",
    probe=("g()", "1"),
)
good(
    "N5",
    "import collections.abc\nfrom collections import abc\ndef f():\n    return abc is collections.abc\n",
    "abc",
    probe=("f()", "True"),
)
good(
    "N5",
    "from xml.etree import ElementTree as ET\nimport xml.etree.ElementTree as ET\ndef f():\n    return ET.__name__\n",
    "ET",
    probe=("f()", "'xml.etree.ElementTree'"),
)
good(
    "N5",
    "from asyncio import Queue\nfrom asyncio.queues import Queue\ndef f():\n    return Queue.__name__\n",
    "Queue",
    probe=("f()", "'Queue'"),
)
bad(
    "N5",
    "from queue import Queue\nfrom asyncio import Queue\ndef f():\n    return Queue.__module__\n",
    "Queue",
    probe=("f()", "'queue'"),
)
good(
    "N6",
    "import sys\nif sys.maxsize > 2**32:\n    from json import loads\nelse:\n    def loads(s):\n        return 0\ndef f():\n    return loads('1')\n",
    "loads",
    probe=("f()", "1"),
)
good(
    "N6",
    "try:\n    import fast_missing as impl\nexcept ImportError:\n    try:\n        import faster_missing as impl\n    except ImportError:\n        import json as impl\ndef f():\n    return impl.__name__\n",
    "impl",
    probe=("f()", "'json'"),
)
good(
    "N6",
    "try:\n    import json\nexcept ImportError:\n    json = None\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
bad(
    "N6",
    "try:\n    import json\nexcept ImportError:\n    pass\njson = None\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
bad(
    "N6",
    "while True:\n    from json import loads\n    from pickle import loads\n    break\ndef f():\n    return loads('1')\n",
    "loads",
    probe=("f()", "1"),
)
bad("N2", "import json\njson: int = 3\ndef f():\n    return json.dumps(1)\n", "json", probe=("f()", "'1'"))
good(
    "N2",
    "import json\ndef f():\n    return json.dumps(1)\ndef g(json=json):\n    return json.dumps(2)\n",
    "json",
    probe=("(f(), g())", "('1', '2')"),
)
good(
    "N2",
    "from json import loads\nclass Api:\n    loads = staticmethod(loads)\n    def dumps(self):\n        return loads('1')\n",
    "loads",
    probe=("Api().dumps()", "1"),
)
bad(
    "N2",
    "from json import loads\n@staticmethod\ndef loads(x):\n    return 0\ndef f():\n    return loads('1')\n",
    "loads",
    probe=("f()", "1"),
)
good(
    "N2",
    "import functools\nfrom json import loads\n@functools.wraps(loads)\ndef loads2(x):\n    return loads(x)\n",
    "loads",
    probe=("loads2('1')", "1"),
)
bad(
    "N3",
    "import json\nx = [0 for a in (1,) if (json := a)]\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
bad(
    "N3",
    "import json\nimport contextlib\nwith contextlib.ExitStack() as (json): pass\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
good(
    "N3",
    "import json\ndef f():\n    x = [json for json in 'ab']\n    return len(x)\ndef g():\n    return json.dumps(1)\n",
    "json",
    probe=("g()", "'1'"),
)
bad(
    "N11",
    "import os\ndef f(kind):\n    match kind:\n        case 'a':\n            import os\n    return os.sep\n",
    "os",
    probe=("f('b')", "'/'"),
)
bad(
    "N11",
    "import os\nasync def f():\n    x = os.sep\n    import os\n    return x\ndef g():\n    try:\n        f().send(None)\n    except StopIteration as e:\n        return e.value\n",
    "os",
    probe=("g()", "'/'"),
)
bad(
    "N11",
    "import os\nclass C:\n    def f(self, x):\n        y = os.sep\n        if x:\n            import os\n        return y\n",
    "os",
    probe=("C().f(0)", "'/'"),
)
bad(
    "N11",
    "import os\ndef f(x):\n    with open('/dev/null'):\n        if x:\n            import os.path\n    return os.sep\n",
    "os",
    probe=("f(0)", "'/'"),
)
good(
    "N11",
    "import os\ndef f(x):\n    if x:\n        import os\n    else:\n        import os\n    return os.sep\n",
    "os",
    probe=("f(0)", "'/'"),
)
good(
    "N11",
    "import os\ndef f(x):\n    try:\n        import os\n    except ImportError:\n        raise\n    return os.sep\n",
    "os",
    probe=("f(0)", "'/'"),
)
bad("N12", "import os\nif True:\n    del os\ndef f():\n    return os.sep\n", "os", probe=("f()", "'/'"))
bad("N12", "import os\nX = 1\ndel X, os\nY = lambda: os.sep\n", "os", probe=("Y()", "'/'"))
bad("N12", "import os\nglobals().pop('os')\ndef f():\n    return os.sep\n", "os", probe=("f()", "'/'"))
bad("N19", "import json\nexec('json = 3')\ndef f():\n    return json.dumps(1)\n", "json", probe=("f()", "'1'"))
bad(
    "N19",
    "import json\nexec('def json(): pass', globals())\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
bad(
    "N19",
    "import json\ndef g():\n    globals()['json'] = 3\ng()\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
bad("P14", "import os\nX = sep\n", inject="from os import sep", line=3, probe=("X", "'/'"))
bad(
    "P14",
    "def deco(f):\n    return json.dumps(1)\n@deco\ndef g():\n    pass\nimport json\n",
    "json",
    probe=("g", "'1'"),
)
bad("P14", "def f(x=json.dumps(1)):\n    return x\nimport json\n", "json", probe=("f()", "'1'"))
good("P14", "X = lambda: json.dumps(1)\nimport json\nY = X()\n", "json", probe=("Y", "'1'"))
bad(
    "P3",
    "def f():\n    raise ValueError\n\nX = 1\n",
    inject="    import json\n    global J\n    J = json",
    line=3,
    probe=("J", "1"),
)
bad("P3", "for i in 'ab':\n    x = i\nelse:\n    y = 1\n", inject=OS, line=3, probe=("y", "1"))
bad("P3", "class C:\n    x = 1\n\n    y = 2\n", inject=OS, line=3, probe=("C.y", "2"))
good(
    "P3",
    "class C:\n    x = 1\n\n    y = 2\n",
    inject="    import os as _vk",
    line=3,
    probe=(("C.y", "2"), ("C._vk.sep", "'/'")),
)
bad("P8", "# -*- coding: latin-1 -*-\nX = 'é'\n", inject=OS, line=1, probe=("len(X)", "2"))
good("P8", "# -*- coding: latin-1 -*-\nX = 'é'\n", inject=OS, line=2, probe=("len(X)", "2"))
bad(
    "P1",
    "def f():\n    '''Doc\n\n    more'''\n    return f.__doc__.count(chr(10))\n",
    inject=OS,
    line=3,
    probe=("f()", "2"),
)
bad("P1", "X = f'''\n{1}\n'''\n", inject=OS, line=2, probe=("X", repr("\n1\n")))
SITE = "import os, sys\nsys.path.append(os.path.join(os.path.dirname(__file__), 'site'))\n"
LIB = "import os, sys\n\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), 'lib'))\nimport kit\nX = kit.V\n"
bad(
    "M2",
    SITE + "import kit\ndef f():\n    return kit.W\n",
    "kit",
    probe=("f()", "2"),
    kit="V = 1\n",
    site__kit__init="W = 2\n",
)
good(
    "M2",
    SITE + "import kit\ndef f():\n    return kit.V\n",
    "kit",
    probe=("f()", "1"),
    kit="V = 1\n",
    site__kit__init="W = 2\n",
)
bad("M2", "import kit\ndef f():\n    return kit.W\n", "kit", probe=("f()", "2"), kit="W = 2\n", kit__init="V = 1\n")
good("M2", "import kit\ndef f():\n    return kit.V\n", "kit", probe=("f()", "1"), kit="V = 2\n", kit__init="V = 1\n")
bad("S1", LIB, inject="import kit as _k", line=2, probe=("X", "'lib'"), kit="V = 'here'\n", lib__kit="V = 'lib'\n")
good("S1", LIB, inject="import kit as _k", line=4, probe=("X", "'lib'"), kit="V = 'here'\n", lib__kit="V = 'lib'\n")
good(
    "M1",
    "import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: int = 1\nX = A().x\n",
    probe=("X", "1"),
    copy="def cp(): pass\n",
)
bad(
    "M1",
    "import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: int = 1\nX = dataclasses.asdict(A())\n",
    probe=("X", "{'x': 1}"),
    copy="def cp(): pass\n",
)
bad(
    "N6",
    "import sys\nif sys.version_info >= (3,):\n    import math as np\nif sys.maxsize > 2**20:\n    import cmath as np\ndef f():\n    return np.__name__\n",
    "np",
    probe=("f()", "'math'"),
)
good(
    "N8",
    "from json import dumps as save\nfrom ops import *\ndef f():\n    return save(one)\n",
    "save",
    probe=("f()", "'1'"),
    ops__init="from .a import *\n__all__ = a.__all__ + ['two']\n__all__.remove('save')\ntwo = 2\n",
    ops__a="__all__ = ['one', 'save']\none = 1\nsave = 2\n",
)
bad(
    "N8",
    "from os import path\ndef f():\n    return path.sep\n",
    inject="from ops import *",
    line=2,
    probe=("f()", "'/'"),
    ops="import json as path\n__all__ = [n for n in dir() if not n.startswith('_')]\n",
)
good(
    "N8",
    "from os import path as _path\ndef f():\n    return _path.sep\n",
    inject="from ops import *",
    line=2,
    probe=(("f()", "'/'"), ("path.__name__", "'json'")),
    ops="import json as path, json as _path\n__all__ = [n for n in globals() if not n.startswith('_')]\n",
)
bad(
    "N18",
    "def f():\n    show = str\n    def g():\n        nonlocal show\n        from json import dumps as show\n    g()\n    return show(True)\n",
    "show",
    probe=("f()", "'True'"),
)
good(
    "N18",
    "def f():\n    show = None\n    def g():\n        nonlocal show\n        from json import dumps as show\n    g()\n    return show(True)\n",
    "show",
    probe=("f()", "'true'"),
)
bad(
    "N18",
    "import json\nclass App:\n    def boot(self):\n        global json\n        json = self\nApp().boot()\ndef f():\n    return json.dumps(1)\n",
    "json",
    probe=("f()", "'1'"),
)
good("M1", "import random\nX = random.Random(0).randint(5, 5)\n", probe=("X", "5"), string="def up(s): pass\n")
good("M1", "import asyncio\nX = asyncio.sleep.__name__\n", probe=("X", "'sleep'"), copy="def cp(): pass\n")
bad(
    "M1",
    "import multiprocessing\nX = multiprocessing.cpu_count() > 0\n",
    probe=("X", "True"),
    select="def pick(): pass\n",
)
bad(
    "M1",
    "from concurrent.futures.thread import ThreadPoolExecutor\nwith ThreadPoolExecutor(1) as pool:\n    X = pool.submit(int, 3).result()\n",
    probe=("X", "3"),
    queue="def push(): pass\n",
)
good(
    "M8",
    "try:\n    import _thread\nexcept ImportError:\n    import _dummy_thread as _thread\nX = _thread.get_ident() > 0\n",
    probe=("X", "True"),
)
good(
    "M8",
    "import sys\nPY312 = sys.version_info >= (3, 12)\nif PY312:\n    import importlib as imp\nelse:\n    import imp\nX = callable(imp.reload)\n",
    "imp",
    probe=("X", "True"),
    python="3.12",
)
good(
    "N3",
    "import json\ndef f(rows):\n    return [json for row in rows if (json := row) is not None] and json\n",
    "json",
    probe=("f([1])", "1"),
)
good(
    "N15",
    "from typing import TYPE_CHECKING as _TYPE_CHECKING\nif _TYPE_CHECKING:\n    from json import dumps\ndef __getattr__(name):\n    if name == 'dumps':\n        return 'lazy'\n    raise AttributeError(name)\n",
    run_as="import",
    target="main",
    into="main.py",
    probe=("__getattr__('dumps')", "'lazy'"),
)
bad(
    "N8",
    "from json import dumps as save\nfrom ops import *\ndef f():\n    return save(1)\n",
    "save",
    probe=("f()", "'1'"),
    ops="from names import __all__\nfrom names import save\n",
    names="__all__ = ['save']\nsave = 2\n",
)
good(
    "N8",
    "import json\nfrom ops import *\nX = json.dumps(1)\n",
    "json",
    probe=("X", "'1'"),
    ops="import json.decoder\nimport json.encoder\n",
)
bad(
    "N11",
    "import os\ndef f(n):\n    if n and (os := n):\n        pass\n    return os.sep\n",
    "os",
    probe=("f(0)", "'/'"),
)
good(
    "N11",
    "import os\ndef f(n):\n    if n and (os := n):\n        return os\n    return '/'\n",
    "os",
    probe=("f(0)", "'/'"),
)
bad(
    "N11",
    "import os\ndef f():\n    g = lambda: os.sep\n    x = g()\n    import os\n    return x\n",
    "os",
    probe=("f()", "'/'"),
)
good(
    "N11",
    "import os\ndef f(rows):\n    for os in rows:\n        del os.x\n        return os.__class__.__name__\n",
    "os",
    probe=("f([type('R', (), {'__delattr__': lambda s, n: None})()])", "'R'"),
)
bad("N10", "class A:\n    import os\n    SEPS = [os.sep for _ in 'a']\n", "os", probe=("A.SEPS", "['/']"))
good("N10", "class A:\n    import os\n    SEPS = [c for c in os.sep]\n", "os", probe=("A.SEPS", "['/']"))
good(
    "M8",
    "try:\n    from collections.abc import Iterable\nexcept ImportError:\n    from collections import Iterable\nX = Iterable.__name__\n",
    "Iterable",
    probe=("X", "'Iterable'"),
)
good(
    "M4",
    "X = 1\n",
    inject="from pkg import b",
    line=2,
    into="pkg/a.py",
    target="main.py",
    probe=("X", "1"),
    pkg__init="",
    pkg__b="from pkg.a import X\nB = X\n",
    main="from pkg.a import X\n",
)
