"""A chunk of a zarr array in a file of its own, packed by Zstandard or plain; `layout.parts` is (how, bytes unpacked).

Source: the specification of zarr, version 2. A frame of Zstandard says in the headers of its blocks where it ends, and
mostly how much it unpacks to; both must be so.
"""

from verikit.probes.formats import zstd

FRAME = 64 << 20


def structure(file, layout):
    """As long as it says, and as its array says."""
    layout.span("", 0, file.size)
    how, wanted = layout.parts or (None, None)
    if how == "none" and file.size != wanted:
        layout.fault(
            "truncated" if file.size < wanted else "trailing", "{:,} bytes, {:,} expected".format(file.size, wanted)
        )
    elif how == "zstd" and file.size <= FRAME:
        end, size = zstd.extent(file.at(0, file.size))
        if end != file.size:
            layout.fault("trailing", "{:,} bytes follow the chunk".format(file.size - end), end)
        if size is not None and size != wanted:
            layout.fault("bad_size", "it unpacks to {:,} bytes, {:,} are expected".format(size, wanted))
