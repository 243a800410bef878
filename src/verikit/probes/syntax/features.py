"""Stands in for an interpreter that the host lacks: its own compiler, and what each version of Python brought.

It answers True, False, or None for what it can't tell, and would rather not tell than be wrong.  The table below was
asked of real interpreters, 3.8 to 3.13; what 3.14 brought is from its release notes.
"""

import ast
import io
import re
import tokenize
import warnings

from verikit.probes.syntax import causes, driver

KNOWN = ((3, 8), (3, 14))
"""The versions that the rules speak of."""

DEEP_IN_38, DEEP, DIGITS, BLOCKS = 60, 900, 4300, 20
"""Depths past which versions differ: brackets for the parser of 3.8, the tree for all; digits of a number; nested blocks."""

LIMITS = ("MemoryError", "RecursionError", "crash", "SystemError", "OverflowError")

# Refusals that no version takes back: structure, and what is checked behind the parser.
FOR_EVER = re.compile(
    r"'(return|yield|yield from|break|continue|await)' (outside|not properly)|not properly in loop|outside loop"
    r"|duplicate argument|from __future__ imports must occur|future feature \w+ is not defined|not a chance"
    r"|nonlocal|no binding for|prior to global|is parameter and global|assigned to before global|annotated name"
    r"|with value in async generator|inside async function|inside list comprehension|inside generator expression"
    r"|Missing parentheses in call|null bytes|can only contain ASCII literal|bytes can only"
    r"|\(unicode error\) 'unicodeescape' codec can't decode bytes .*(truncated|illegal)"
    r"|expected an indented block|unexpected indent|unindent does not match|inconsistent use of tabs"
    r"|keyword argument repeated|wildcard makes remaining|multiple assignments to name|alternative patterns bind"
    r"|import \* only allowed|multiple starred expr|starred assignment target|cannot mix bytes"
    r"|leading zeros in decimal|invalid (hexadecimal|octal|binary) literal|'async (for|with)' outside"
)

# Refusals of the tokenizer, which only the strings of PEP 701 and 750 could explain.
UNLESS_FSTRINGS = re.compile(
    r"was never closed|unterminated|EOF while scanning|EOL while scanning|EOF in multi-line|unexpected EOF"
    r"|does not match opening|unmatched '|after line continuation"
)

MARKER = re.compile(r"(<{7}|>{7})( |$)|={7}$")

IN_ENCODING = ("Non-UTF-8", "encoding", "codec can't decode", "unicode error")


def stand_in(data, answer, host, target, run_as):
    """The answer that `target`, (major, minor), would give, judged by that of `host`: `ok` may be None, and `why` says why."""
    for rule in (beyond, of_bytes, of_limits, by_host_refusal, by_features, by_removals):
        found = rule(data, answer, host, target, run_as)
        if found is not None:
            return found
    return answer


def unsure(answer, why):
    return dict(answer, ok=None, why=why)


def beyond(data, answer, host, target, run_as):
    if not KNOWN[0] <= target <= KNOWN[1] or host > KNOWN[1]:
        return unsure(answer, "the rules know Python 3.8 to 3.14")
    return None


def of_bytes(data, answer, host, target, run_as):
    """NUL, and bytes that are no UTF-8: the versions read them differently."""
    if b"\0" in data and run_as == "script":
        return unsure(answer, "it holds NUL bytes, which script starts up to 3.11.3 skip") if target < (3, 12) else None
    try:
        data.decode("utf-8")
        return None
    except UnicodeDecodeError:
        pass
    if run_as != "script":
        undeclared = driver.cookie(data)[0] is None and not data.startswith(driver.MARK)
        return other_bytes(answer) if answer["ok"] and undeclared and max(host, target) >= (3, 14) else None
    if not answer["ok"] and "Non-UTF-8" in answer["message"]:
        # Refused by the lenient reader of old versions too?
        return other_bytes(answer) if driver.LENIENT.match(data).end() == len(data) else None
    return other_bytes(answer) if answer["ok"] and target >= (3, 11) > host else None


def other_bytes(answer):
    return unsure(answer, "it holds bytes that are no UTF-8, which the versions read differently")


def of_limits(data, answer, host, target, run_as):
    if not answer["ok"] and (answer["error"] in LIMITS or "too many" in answer["message"]):
        return unsure(answer, "it met a limit of Python %d.%d, which others draw elsewhere" % host)
    if re.search(rb"[0-9_]{%d}" % DIGITS, data):
        return unsure(answer, "it holds a number of over %d digits, which is a setting" % DIGITS)
    if answer["ok"]:
        return None
    return (
        unsure(answer, "digits are limited by a setting") if "integer string conversion" in answer["message"] else None
    )


def by_host_refusal(data, answer, host, target, run_as):
    """What the host refuses: an older target refuses it too, but for strings; a newer one may know better."""
    if answer["ok"]:
        return None
    message = answer["message"]
    strings = has_new_strings(data)
    if FOR_EVER.search(message) and not (strings and "indent" in message):
        return answer
    if any(words in message for words in IN_ENCODING) and "\\N" not in message and "unknown Unicode" not in message:
        return answer
    if host > target:
        line = (line_of(data, answer["line"]) or "").encode("utf-8", "replace")
        new_strings = host >= (3, 12) > target and ("-string" in message or has_new_strings(line))
        if new_strings or "__debug__" in message:
            return unsure(answer, "Python %d.%d refuses it, in words that might not hold for %d.%d" % (host + target))
        return answer
    if MARKER.match((line_of(data, answer["line"]) or "").rstrip()) or causes.other_file(data, answer):
        return answer
    if UNLESS_FSTRINGS.search(message) and not strings:
        return answer
    if "invalid character" in message or "non-printable" in message:
        return answer if assigned(message) else unsure(answer, "its characters may be new in Unicode")
    return unsure(answer, "Python %d.%d refuses it (%s), which syntax newer than that could explain" % (*host, message))


def line_of(data, number):
    """The line of that number as text, or None."""
    lines = data.splitlines() if number else []
    return lines[number - 1].decode("utf-8", "replace") if 0 < (number or 0) <= len(lines) else None


def has_new_strings(data):
    """Whether there may be an f-string or t-string: what PEP 701 and 750 changed."""
    return re.search(rb"(?i)(?<![a-z0-9_])(?:[ft]r?|r[ft])[\"']", data) is not None


def assigned(message):
    """Whether the character that is named was assigned in Unicode 3.2 already, and so is judged alike by all."""
    import unicodedata

    found = re.search(r"U\+([0-9A-Fa-f]{4,6})", message)
    return bool(found) and unicodedata.ucd_3_2_0.category(chr(int(found.group(1), 16))) != "Cn"


# What the host takes.


def by_features(data, answer, host, target, run_as):
    """The host takes it: does it use anything that came after the target?"""
    if not answer["ok"]:
        return None
    try:
        source = Source(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError, LookupError):
        return unsure(answer, "its tokens can't be had")
    if source.depth > DEEP or (target == (3, 8) and max(source.depth, source.brackets) > DEEP_IN_38):
        return unsure(answer, "it is nested deeply, and the versions draw that limit elsewhere")
    if source.blocks > BLOCKS - 1 and host >= (3, 13) > target:
        return unsure(answer, "it nests %d blocks, about as many as Python %d.%d takes" % (source.blocks, *target))
    if source.new_characters():
        return unsure(answer, "it names characters that may be new in Unicode")
    newer = sorted((row for row in source.features() if row[0] > target), key=lambda row: row[2])
    sure = [row for row in newer if row[3]]
    if sure:
        since, what, line, _ = sure[0]
        words = "%s needs Python %d.%d" % (what, *since)
        return dict(answer, ok=False, error="SyntaxError", message=words, line=line, column=None, text=None)
    if newer:
        since, what, line, _ = newer[0]
        return unsure(answer, "line %d may hold %s, which needs Python %d.%d" % (line, what, *since))
    return None


def by_removals(data, answer, host, target, run_as):
    """The host takes it, and is older: what did later versions refuse?"""
    if not answer["ok"] or host >= target:
        return None
    if host < (3, 12) <= target and risky_strings(data):
        return unsure(answer, "it holds f-strings that 3.12 and later read differently")
    if target >= (3, 13) and Source(data).odd_annotations():
        return unsure(answer, "it binds or yields inside an annotation, which later versions refuse")
    return None


def risky_strings(data):
    """f-strings with doubled braces behind a colon, nested fields or a conversion with spaces: read anew by PEP 701."""
    try:
        tokens = Source(data).tokens
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError, LookupError):
        return True
    texts = [token.string for token in tokens if token.type == tokenize.STRING]
    texts = [text for text in texts if re.match(r"(?i)(f|fr|rf)['\"]", text)]
    return any(re.search(r"\{[^{}]*:[^{}]*(\{\{|\}\}|\{[^{}]*:)|![ \t]|[ \t]![rsa]|\\N|lambda", text) for text in texts)


class Source:
    """A source that the host takes: its tree and tokens, and what can be told from them."""

    def __init__(self, data):
        if driver.cookie(data)[0] is None or driver.plain_utf8(driver.cookie(data)[0]):
            # Taken all the same: bytes that are no UTF-8 are in comments, and the tokenizer of the library minds them.
            data = data.decode("utf-8", "replace").encode("utf-8")
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of the compiler were told already
            self.tree = ast.parse(data)
        self.tokens = list(tokenize.tokenize(io.BytesIO(data).readline))
        self.pairs, self.brackets = paired(self.tokens)
        self.encoding = self.tokens[0].string
        self.lines = data.decode(self.encoding, "replace").splitlines(keepends=True)
        self.depth, self.blocks = depths(self.tree)

    def at(self, line, offset):
        """(line, column) in characters, of an offset in UTF-8 bytes as nodes have it."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return line, len(text.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "replace"))

    def bracketed(self, node):
        """Whether a node that may stand in round brackets of its own does."""
        start = self.at(node.lineno, node.col_offset)
        end = self.at(node.end_lineno, node.end_col_offset)
        close = self.pairs.get(start)
        return close is not None and (close[0], close[1] + 1) == end

    def in_brackets(self, node):
        """Whether the token before a node, which has no brackets of its own, is an opening round bracket."""
        start = self.at(node.lineno, node.col_offset)
        before = [
            token
            for token in self.tokens
            if token.end <= start and token.string.strip() and token.type != tokenize.COMMENT
        ]
        return bool(before) and before[-1].string == "("

    def features(self):
        """(since, what, line, certain) for all that came after 3.8."""
        for node in ast.walk(self.tree):
            for since, what, certain in FEATURES.get(type(node).__name__, lambda *_: ())(node, self):
                yield since, what, getattr(node, "lineno", 1), certain
        for line in self.bracketed_with():
            yield (3, 9), "`with` items in brackets", line, True
        for row in self.nested_async():
            yield row
        for row in self.new_strings():
            yield row

    def bracketed_with(self):
        """Lines of `with (a as b):`."""
        tokens = [token for token in self.tokens if token.type not in (tokenize.NL, tokenize.COMMENT)]
        for index, token in enumerate(tokens[:-1]):
            close = token.string == "with" and self.pairs.get(tokens[index + 1].start)
            if token.type != tokenize.NAME or not close:
                continue
            depth = 0
            for inner in tokens[index + 1 :]:
                if inner.start == close:
                    break
                depth += (inner.string in ("(", "[", "{")) - (inner.string in (")", "]", "}"))
                if depth == 1 and inner.type == tokenize.NAME and inner.string == "as":
                    yield token.start[0]
                    break

    def nested_async(self):
        """Asynchronous comprehensions inside others: sure where the outer one is not asynchronous itself."""
        waiting = [(self.tree, None)]
        while waiting:
            node, outer = waiting.pop()
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
                outer = None
            elif isinstance(node, COMPREHENSIONS):
                if outer is not None and asynchronous(node) and not isinstance(node, ast.GeneratorExp):
                    yield (3, 11), "an asynchronous comprehension inside another", node.lineno, not asynchronous(outer)
                first = node.generators[0].iter
                waiting.append((first, outer))
                waiting += [(child, node) for child in ast.iter_child_nodes(node) if child is not node.generators[0]]
                parts = node.generators[0]
                waiting += [(child, node) for child in [parts.target, *parts.ifs]]
                continue
            waiting += [(child, outer) for child in ast.iter_child_nodes(node)]

    def new_strings(self):
        """f-strings as only PEP 701 has them, seen by the tokens of a host that has it."""
        starts, found = [], []
        for token in self.tokens:
            kind = tokenize.tok_name[token.type]
            if kind == "FSTRING_START":
                starts.append(token)
            elif kind == "FSTRING_END":
                start = starts.pop()
                if not starts:
                    found += newer_string(self.between(start.start, token.end), start.string)
                    for what, certain in found:
                        yield (3, 12), what, start.start[0], certain
                    found = []
            elif starts and kind == "COMMENT":
                found.append(("a comment in a field of an f-string", True))
            elif "\\" in token.string and (starts if kind == "STRING" else starts[1:] and kind == "FSTRING_MIDDLE"):
                found.append(("a backslash in a field of an f-string", True))

    def between(self, start, end):
        (first, left), (last, right) = start, end
        if first == last:
            return self.lines[first - 1][left:right]
        return "".join([self.lines[first - 1][left:], *self.lines[first : last - 1], self.lines[last - 1][:right]])

    def new_characters(self):
        """Whether names or \\N escapes hold characters that Unicode 3.2 did not have."""
        import unicodedata

        old = unicodedata.ucd_3_2_0
        for token in self.tokens:
            foreign = token.type == tokenize.NAME and not token.string.isascii()
            if foreign and any(old.category(each) == "Cn" for each in token.string):
                return True
            for name in re.findall(r"\\N\{([^}]*)\}", token.string):
                try:
                    old.lookup(name)
                except KeyError:
                    return True
        return False

    def odd_annotations(self):
        odd = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)
        for node in ast.walk(self.tree):
            for name in ("annotation", "returns"):
                part = getattr(node, name, None)
                if part is not None and any(isinstance(each, odd) for each in ast.walk(part)):
                    return True
        return False


COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def asynchronous(node):
    """Whether a comprehension is asynchronous: by its own clauses, or by an await of its own."""
    waiting = list(ast.iter_child_nodes(node))
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.Await) or getattr(each, "is_async", 0):
            return True
        if not isinstance(each, COMPREHENSIONS):
            waiting += ast.iter_child_nodes(each)
    return False


def paired(tokens):
    """({start of each round bracket: start of its partner}, deepest nesting of any brackets)."""
    pairs, waiting, deepest = {}, [], 0
    for token in tokens:
        if token.type != tokenize.OP:
            continue
        if token.string in ("(", "[", "{"):
            waiting.append(token)
            deepest = max(deepest, len(waiting))
        elif token.string in (")", "]", "}") and waiting:
            start = waiting.pop()
            if token.string == ")":
                pairs[start.start] = token.start
    return pairs, deepest


BLOCK_NODES = ("For", "AsyncFor", "While", "With", "AsyncWith", "Try", "TryStar")


def depths(tree):
    """(depth of the tree, most blocks within one another in one function)."""
    deepest, most, waiting = 0, 0, [(tree, 1, 0)]
    while waiting:
        node, depth, blocks = waiting.pop()
        name = type(node).__name__
        if name in ("FunctionDef", "AsyncFunctionDef", "Lambda", "ClassDef"):
            blocks = 0
        # a `finally` and a handler take a block of their own
        blocks += (2 if name.startswith("Try") else 1) if name in BLOCK_NODES else 0
        deepest, most = max(deepest, depth), max(most, blocks)
        waiting += [(child, depth + 1, blocks) for child in ast.iter_child_nodes(node)]
    return deepest, most


def newer_string(text, opening):
    """[(what, certain)] that makes an outermost f-string one of PEP 701; opening: its prefix and quotes."""
    quotes = opening.lstrip("fFrRtTbBuU")
    body = text[len(opening) : len(text) - len(quotes)]
    if delimited_early(body, quotes):
        return [("an f-string that uses its own quotes inside a field", True)]
    if len(quotes) == 1 and "\n" in re.sub(r"\\(?s:.)", "", body):
        return [("a line break in a field of an f-string", True)]
    doubtful = any("\\" in field for field in fields_of(body, "r" in opening.lower()))
    nested = re.search(r":[^}]*\{[^}]*:", text)
    return [("what PEP 701 brought to f-strings", False)] if doubtful or nested else []


def delimited_early(body, quotes):
    """Whether the old tokenizer would end the string inside its body."""
    index = 0
    while index < len(body):
        if body[index] == "\\":
            index += 2
        elif body.startswith(quotes, index):
            return True
        else:
            index += 1
    return False


def fields_of(body, raw):
    """The text of each outermost replacement field, up to its closing brace."""
    index, depth, start = 0, 0, 0
    while index < len(body):
        here = body[index]
        if depth == 0 and here == "\\" and not raw:
            named = re.match(r"\\N\{[^}]*\}", body[index:])
            index += named.end() if named else 2
            continue
        if depth == 0 and body[index : index + 2] in ("{{", "}}"):
            index += 2
            continue
        if here == "{":
            start = index + 1 if depth == 0 else start
            depth += 1
        elif here == "}" and depth:
            depth -= 1
            if depth == 0:
                yield body[start:index]
        index += 1


# What each version brought, by the node in which it shows.


def of_decorated(node, source):
    for each in node.decorator_list:
        if not plain_decorator(each):
            yield (3, 9), "a decorator that is any expression", True
    yield from of_parameters(node, source)


def plain_decorator(node):
    node = node.func if isinstance(node, ast.Call) else node
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def of_parameters(node, source):
    parameters = getattr(node, "type_params", None) or ()
    if parameters:
        yield (3, 12), "type parameters", True
    if any(getattr(each, "default_value", None) is not None for each in parameters):
        yield (3, 13), "a default of a type parameter", True


def of_alias(node, source):
    yield (3, 12), "a `type` statement", True
    yield from of_parameters(node, source)


def of_subscript(node, source):
    inside = node.slice.value if type(node.slice).__name__ == "Index" else node.slice
    loose = isinstance(inside, ast.Tuple) and not source.bracketed(inside)
    items = inside.elts if loose else [inside]
    if any(isinstance(each, ast.Starred) for each in items):
        yield (3, 11), "a star in an index", True
    if any(isinstance(each, ast.NamedExpr) and not source.in_brackets(each) for each in items):
        yield (3, 10), "`:=` in an index without brackets", True


def of_set(node, source):
    items = node.elts if isinstance(node, ast.Set) else [node.elt]
    if any(isinstance(each, ast.NamedExpr) and not source.in_brackets(each) for each in items):
        yield (3, 9), "`:=` in a set without brackets", True


def of_for(node, source):
    loose = isinstance(node.iter, ast.Tuple) and not source.bracketed(node.iter)
    if loose and any(isinstance(each, ast.Starred) for each in node.iter.elts):
        yield (3, 9), "a star in what `for` goes through", True


def of_argument(node, source):
    if isinstance(node.annotation, ast.Starred):
        yield (3, 11), "a star in an annotation", True


def of_handler(node, source):
    if isinstance(node.type, ast.Tuple) and not source.bracketed(node.type):
        yield (3, 14), "`except` of several without brackets", True


FEATURES = {
    "FunctionDef": of_decorated,
    "AsyncFunctionDef": of_decorated,
    "ClassDef": of_decorated,
    "TypeAlias": of_alias,
    "Subscript": of_subscript,
    "Set": of_set,
    "SetComp": of_set,
    "For": of_for,
    "AsyncFor": of_for,
    "arg": of_argument,
    "ExceptHandler": of_handler,
    "Match": lambda *_: [((3, 10), "a `match` statement", True)],
    "TryStar": lambda *_: [((3, 11), "`except*`", True)],
    "TemplateStr": lambda *_: [((3, 14), "a t-string", True)],
}
