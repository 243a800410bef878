"""A plain pickle: objects without a container of their own (`pickle.dump`, scikit-learn, an optimizer kept by hand).

There is no checksum and no length: it is whole when its opcodes come to a STOP where the file ends.
Source: Lib/pickletools.py of CPython.
"""

from verikit.probes.formats import torch_tensors
from verikit.probes.formats.layout import Broken
from verikit.probes.formats.pickle_names import WRAPPERS
from verikit.probes.formats.torch_legacy import next_pickle
from verikit.probes.place import CannotSee


def structure(file, layout):
    """One pickle, or several after each other, up to the end of the file."""
    at, count = 0, 0
    while at < file.size and count < 1024:
        found, end = _next(file, at, layout)
        if not count:
            torch_tensors.tell(found.root, layout, lambda key: None, file.base + at)
        at, count = end, count + 1
    if at < file.size:
        layout.unseen("bound_reached", "more than %d pickles in one file" % count)


def _next(file, at, layout):
    """The next pickle. Arrays of joblib stand between opcodes, so what breaks off there need not be broken."""
    try:
        return next_pickle(file, at, layout, "pickle")
    except Broken as error:
        if error.kind == "out_of_band":  # whoever calls pickle.load may have them
            raise CannotSee("unsupported", error.what) from None
        if WRAPPERS.isdisjoint(layout.globals):
            raise
        raise CannotSee(
            "unsupported", "joblib's arrays stand between its opcodes: it is not read beyond the first"
        ) from None
