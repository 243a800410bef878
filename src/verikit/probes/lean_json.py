"""JSON by the C functions that the json package is made of, for the agent's start.

Importing that package (with re, enum, functools, collections) takes as long as starting Python does, on every host and
before the first look.  Its functions are the same in CPython 3.8 to 3.14; where they are not, the package serves.
"""

try:
    import _json
except ImportError:  # another Python than CPython
    _json = None  # type: ignore[assignment]

CONSTANTS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": -float("inf")}


class _Settings:
    """What the scanner asks of a json.JSONDecoder."""

    strict, object_hook, object_pairs_hook, memo = True, None, None, {}
    parse_float, parse_int, parse_constant = float, int, CONSTANTS.__getitem__


def _refuse(value):
    raise TypeError("Object of type %s is not JSON serializable" % type(value).__name__)


def loads(text):
    """The value in a text that is JSON from its first character to its last."""
    try:
        return _json.make_scanner(_Settings())(text, 0)[0]
    except (AttributeError, TypeError):
        import json

        return json.loads(text)


def dumps(value, default=_refuse):
    """As json.dumps: ASCII, with surrogates as they are. TypeError or ValueError for what JSON can't carry."""
    try:
        encode = _json.make_encoder({}, default, _json.encode_basestring_ascii, None, ": ", ", ", False, False, True)
    except (AttributeError, TypeError):
        import json

        return json.dumps(value, default=default)
    return "".join(encode(value, 0))
