"""A file of bytes whose meaning stands in another: ONNX's external data, the data files of OCDBT.

`layout.parts` are the tensors in it, as rows (name, dtype, shape, offset, bytes), where their places are known.
"""


def structure(file, layout):
    """Its tensors are where the other file says; that it is long enough is for whoever names it."""
    for row in layout.parts or ():
        layout.tensor(*row)
    layout.span("", 0, file.size)
