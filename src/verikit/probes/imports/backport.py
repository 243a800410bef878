"""Newer syntax in older words of the same length in lines, so that an older interpreter can read the names.

Only what changes no name's fate: `type X[T] = …` becomes `X = …`, type parameters of def and class are blanked out.
"""

import io
import tokenize


def older(data):
    """The bytes with 3.12's type statements and type parameters rewritten; unchanged where tokens can't be read."""
    encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    text = data.decode(encoding)
    try:
        tokens = [
            each
            for each in tokenize.generate_tokens(io.StringIO(text).readline)
            if each.type not in (tokenize.COMMENT, tokenize.NL)
        ]
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return data
    rows = text.split("\n")
    for at, token in enumerate(tokens[:-2]):
        first = at == 0 or tokens[at - 1].type in (
            tokenize.NEWLINE,
            tokenize.INDENT,
            tokenize.DEDENT,
            tokenize.ENCODING,
        )
        name, after = tokens[at + 1], tokens[at + 2]
        if token.string == "type" and first and name.type == tokenize.NAME and after.string in ("=", "["):
            row, (line, col) = rows[token.start[0] - 1], token.start
            kept = name.string.ljust(name.end[1] - col)
            rows[line - 1] = row[:col] + kept + row[name.end[1] :]
        if (token.string in ("def", "class", "type")) and name.type == tokenize.NAME and after.string == "[":
            _blank(rows, tokens, at + 2)
    return "\n".join(rows).encode(encoding)


def _blank(rows, tokens, at):
    depth = 0
    for token in tokens[at:]:
        depth += (token.string == "[") - (token.string == "]")
        line = token.start[0]
        if token.start[0] == token.end[0]:
            rows[line - 1] = rows[line - 1][: token.start[1]] + " " * len(token.string) + rows[line - 1][token.end[1] :]
        if not depth:
            return
