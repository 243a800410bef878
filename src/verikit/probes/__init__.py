"""What runs next to the data.

A probe is `def look(place, path, ...) -> facts`: standard library only, Python 3.8 syntax, and facts that are JSON
(scalars, lists, dicts with string keys; bytes as `{"bytes": base64}`).  Modules here import only modules from here.
An `OSError` that a probe lets through becomes the Cause that its errno stands for; what it can name better it raises as
`CannotSee(cause, reason, **facts)`.
"""
