"""`.distcp`: pieces of a distributed checkpoint one after the other, each a file of `torch.save`.

Where each begins and ends stands in `.metadata` (see `dcp`), and reaches this module as `layout.parts`. Behind pieces that
are no tensors there may be a file of safetensors with those that are.
Source: torch/distributed/checkpoint/filesystem.py, `_write_item`.
"""

from verikit.probes.formats import safetensors, torch_zip
from verikit.probes.formats.layout import Broken, Layout
from verikit.probes.place import CannotSee


def structure(file, layout):
    """Each piece by itself, as torch's ZIP; its faults are those of the file, with its name before them."""
    if layout.parts is None:
        raise CannotSee("unsupported", "a .distcp is examined with its folder: .metadata says where its pieces are")
    end = 0
    for piece in layout.parts:
        end = max(end, piece.offset + piece.length)
        if piece.offset + piece.length > file.size:
            layout.shortfall(piece.offset + piece.length, "it ends within the piece %.100r" % piece.name)
            return
        if piece.packed:
            layout.unseen("unsupported", "the piece %.100r is stored through a transform (compressed)" % piece.name)
            continue
        part = file.part(piece.offset, piece.length)
        _piece(part, piece, layout)
        file.read += part.read
    if file.at(end, 10)[4:] == b'\0\0\0\0{"':
        part = file.part(end, file.size - end)
        _tensors(part, layout)
        file.read += part.read


def _tensors(part, layout):
    """The file of safetensors that is the rest; its bytes have no checksum."""
    inner = Layout(layout.path, part.size, "safetensors")
    try:
        safetensors.structure(part, inner)
    except Broken as error:
        inner.fault(error.kind, error.what, error.where)
    for row in inner.faults:
        layout.fault(row["kind"], row["what"], row["where"])
    for row in inner.tensors:
        layout.tensor(row.name, row.dtype, row.shape, part.base + row.offset, row.nbytes)
    layout.needed = inner.needed and part.base + inner.needed
    layout.metadata = getattr(inner, "metadata", {})
    layout.notes["unchecked"] = bool(len(inner.tensors))


def _piece(part, piece, layout):
    head = part.at(0, 64)
    if head[:4] != b"PK\3\4" and part.at(max(0, part.size - 22), 4) != b"PK\5\6":  # either end shows what it was
        _other(head, piece, layout)
        layout.span(piece.name, part.base, part.size)
        return
    inner = Layout(layout.path, part.size, "torch_zip")
    try:
        torch_zip.structure(part, inner)
    except Broken as error:
        inner.fault(error.kind, error.what, error.where)
    _merge(inner, piece, layout)


def _other(head, piece, layout):
    """A piece that is no file of torch.save: broken for a tensor; of a planner of somebody's own, bytes may be anything."""
    if piece.at is not None or not head.strip(b"\0"):
        what = "it begins with zeros" if not head.strip(b"\0") else "it begins with %s" % head[:8].hex(" ")
        layout.fault("bad_header", "the piece %.100r is no file of torch.save: %s" % (piece.name, what), piece.offset)
    else:
        what = "the piece %.100r is of no known form; nothing tells whether it is whole"
        layout.unseen("unsupported", what % piece.name)


def _merge(inner, piece, layout):
    for rows, tell in ((inner.faults, layout.fault), (inner.unknowns, layout.unseen), (inner.warnings, layout.warn)):
        for row in rows:
            # A piece has its length; what lacks of its end was overwritten, the file was not cut.
            kind = "bad_header" if row["kind"] == "truncated" else row["kind"]
            tell(kind, "piece %.100r: %s" % (piece.name, row["what"]), piece.offset)
    for span in inner.spans:
        layout.spans.append(span._replace(name="%s:%s" % (piece.name, span.name)))
    for row in inner.tensors if piece.at is not None and len(inner.tensors) == 1 else ():
        layout.tensor(piece.name, row.dtype, row.shape, row.offset, row.nbytes)
        layout.pieces[piece.name, row.offset] = piece.at, inner.strides.get(row.name)
        if piece.sizes is not None and tuple(row.shape) != tuple(piece.sizes):
            what = "the piece %.100r has the shape %s, its chunk %s" % (piece.name, list(row.shape), list(piece.sizes))
            layout.fault("mismatch", what, piece.offset)
    for array in inner.arrays:
        layout.arrays.append(array._replace(name="%s.%s" % (piece.name, array.name) if array.name else piece.name))
    for name, use in inner.globals.items():
        layout.globals.setdefault(name, use)
    layout.hidden.extend(inner.hidden[: max(0, 64 - len(layout.hidden))])
