"""Scans values where they are: files by several threads (reading and reducing let go of the interpreter), objects in place.

`wants`: [[predicate, [[file, tensor], …]], …].  What failed comes back with its words, bounded; the rest is counted.
"""

import os
import random

from verikit.probes import packing, scan
from verikit.probes.formats import arrow_columns, parquet_pages
from verikit.probes.formats.layout import Broken, Window, elements
from verikit.probes.place import CannotSee
from verikit.probes.tensors import dtype_name, layout_of, live_tensors, odd_layout

KEPT = 200
"""Failures that are told; the rest are counted."""
AT_ONCE = 8
"""Files read at the same time: enough for a striped file system, few enough to leave the machine to its job."""
TABLES = {"arrow_ipc": arrow_columns, "parquet": parquet_pages}
"""Formats whose columns lie in pieces, and who reads them: not the formats themselves, which travel for a look at structure."""
PARTS = ("record_batches", "row_groups")
TENSORS_EACH = 64
"""Tensors of one file that one thread takes, so that a single large file is shared out too."""


def stored(place, root, wants, under="", seed=None):
    """What fails of the wants in files under `root`. seed: large tensors are looked at by drawn blocks only.

    Loads the disk: all bytes of the wanted tensors are read, eight files at a time at most.
    """
    from concurrent.futures import ThreadPoolExecutor

    for library in ("OPENBLAS", "MKL"):  # the files are what is shared out; threads beneath them only get in their way
        os.environ.setdefault(library + "_NUM_THREADS", "1")
    np = place.accelerator("numpy")
    report = Report(place, wants)
    jobs = list(jobs_of(wants))
    workers = max(1, min(AT_ONCE, 2 * (os.cpu_count() or 1), len(jobs)))
    with ThreadPoolExecutor(workers) as pool:
        for done in pool.map(lambda job: one_file(place, np, root, job, wants, under, seed), jobs):
            report.take(done)
    return report.facts()


def jobs_of(wants):
    """(file, {tensor: [numbers of wants]}), a file with many tensors in several."""
    files = {}
    for number, (_, places) in enumerate(wants):
        for file, name in places:
            files.setdefault(file, {}).setdefault(name, []).append(number)
    for file, names in files.items():
        rows = list(names.items())
        for start in range(0, len(rows), TENSORS_EACH):
            yield file, dict(rows[start : start + TENSORS_EACH])


def one_file(place, np, root, job, wants, under, seed):
    """[(want, file, tensor, verdict, words)], tensors, bytes read, bytes there."""
    file_name, names = job
    path = os.path.join(root, file_name)
    if file_name == ".":
        words = "it lies in pieces over several files, which are not read"
        return [(n, ".", name, None, words) for name, numbers in names.items() for n in numbers], len(names), 0, 0
    rows, read, there = [], 0, 0
    layout = layout_of(place, path)
    by_name = {row.name: row for row in layout.tensors}
    with place.steady(path) as file:
        for name, numbers in names.items():
            row = by_name.get(under + name) or nameless(by_name)
            predicates = [wants[number][0] for number in numbers]
            if row is None:
                answers, tensor = [(None, "it is gone")] * len(numbers), None
            else:
                tensor = stored_tensor(
                    np, layout, row, file, seed if all(map(scan.about_elements, predicates)) else None, place
                )
                relate = relation(place, np, root, layout, row, file_name, under)
                answers = guarded(np, tensor, predicates, relate)
            nbytes = nbytes_of(row, tensor) if row else 0
            there += nbytes
            read += min(tensor.read, nbytes) if isinstance(tensor, scan.Stored) else 0
            rows += [(n, file_name, name, verdict, words) for n, (verdict, words) in zip(numbers, answers)]
    return rows, len(names), read, there


def nbytes_of(row, tensor):
    """Bytes of its values; those of a column are not told by its header."""
    return row.nbytes or (tensor.count * (width_of(tensor.dtype) or 0) if isinstance(tensor, scan.Stored) else 0)


def width_of(dtype):
    """Bytes of one number, or of the least piece of packed ones; None for dtypes that are not looked at."""
    return 1 if dtype in scan.NEVER_ODD else scan.WIDTH.get(dtype)


def nameless(by_name):
    """The only tensor there is, if it has no name of its own (npy): the spec's name for it will do."""
    return by_name.get("") if len(by_name) == 1 else None


def guarded(np, tensor, predicates, relate):
    """The answers, or why there are none."""
    if isinstance(tensor, str):
        return [(None, tensor)] * len(predicates)
    try:
        return scan.judge(np, tensor, predicates, relate)
    except CannotSee as why:
        if why.cause == "changed_while_reading":
            raise
        return [(None, why.reason)] * len(predicates)
    except (Broken, packing.Damaged) as broken:
        return [(False, "its bytes are broken: %s" % broken)] * len(predicates)


def stored_tensor(np, layout, row, file, seed=None, place=None):
    """The tensor as bytes to be read in blocks, or in words why it can't be."""
    if layout.format in TABLES:
        return column(place, np, layout, row, file, seed)
    dtype = dtype_name(row.dtype)
    width = width_of(dtype)
    if width is None:
        return scan.unreadable(dtype)
    if row.name in layout.negated:
        return "it is a negative view: its values are those of its memory, turned round"
    big = layout.orders.get(row.name, layout.byteorder) == "big" and width > 1
    strides, offsets = layout.strides.get(row.name), None
    if row.offset is None:
        span, skip = packed_span(layout, row)
        if span is None:
            return "its bytes are not in one piece of the file"
        blocks = scan.unpacked_blocks(file, span, skip, row.nbytes, width)
    else:
        if seed is not None and row.nbytes > scan.WHOLE and strides is None:
            offsets = scan.drawn(seed, row.name, row.nbytes)
        blocks = scan.file_blocks(file, row.offset, row.nbytes, width, offsets)
    return (
        scan.Stored(dtype, row.shape, blocks, big) if strides is None else strided(np, dtype, row, strides, blocks, big)
    )


def column(place, np, layout, row, file, seed):
    """A column of a table, whose bytes lie in pieces; a sample of a large one is of some of its batches or row groups."""
    if place is None:
        return "columns of tables are not compared, nor read here"
    parts, chosen = sum(layout.notes["keys"].get(key, 0) for key in PARTS), None
    if seed is not None and elements(row.shape) * 8 > scan.WHOLE and parts > scan.DRAWN:
        chosen = frozenset(random.Random("%s %s" % (seed, row.name)).sample(range(parts), scan.DRAWN))
    try:
        window = Window(file, os.fstat(file.fileno()).st_size)
        dtype, found = TABLES[layout.format].column(place, np, window, layout, row, chosen)
    except CannotSee as why:
        return why.reason
    return scan.Stored(dtype, row.shape, found.blocks, ragged=found.ragged, nulls=found.nulls)


def packed_span(layout, row):
    """(the record of an archive that unpacks to its bytes or None, how far behind its beginning they are)."""
    name, skip = layout.packed.get(row.name, (None, 0))
    return next((span for span in layout.spans if span.name == name and span.method in packing.KNOWN), None), skip


def strided(np, dtype, row, strides, blocks, big):
    """A view with strides: what it touches is read, and put in order if that is small enough; see `written_out`."""
    width = width_of(dtype)
    out = written_out(row.shape, strides, width)
    shape = row.shape if out else tuple(1 if step == 0 else length for length, step in zip(row.shape, strides))
    reach = 1 + sum((length - 1) * step for length, step in zip(shape, strides)) if 0 not in shape else 0
    if np is None or not reach * width <= min(scan.WHOLE, row.nbytes):
        return "a view with strides %s over %d bytes is not read" % (list(strides), reach * width)
    data = b"".join(bytes(block) for _, block in blocks(scan.BLOCK))
    data = np.frombuffer(data[: reach * width], dtype="V%d" % width)
    whole = np.lib.stride_tricks.as_strided(data, shape, [step * width for step in strides])
    blocks = scan.buffer_blocks(np.ascontiguousarray(whole).reshape(-1).view("u1"), width)
    return scan.Stored(dtype, shape, blocks, big, once=not out)


def written_out(shape, strides, width):
    """Whether all its elements are looked at: always, unless it repeats its memory and would be large without that."""
    return elements(shape) * width <= scan.WHOLE or not any(map(repeats, shape, strides))


def repeats(length, step):
    return step == 0 and length > 1


def relation(place, np, root, layout, row, file_name, under):
    """Answers for same, tied, shared: (verdict, words)."""

    def relate(atom):
        word, other_name, other_file = atom
        path = os.path.join(root, other_file)
        other_layout = layout if other_file == file_name else layout_of(place, path)
        other = next((each for each in other_layout.tensors if each.name == under + other_name), None)
        if other is None:
            return None, "%s is gone" % other_name
        shared = other_file == file_name and row.offset is not None and row.offset == other.offset and row.nbytes > 0
        if shared or word == "shared":
            return shared, "%s the memory of %s" % ("shares" if shared else "does not share", other_name)
        with place.steady(os.path.join(root, file_name)) as mine, place.steady(path) as its:
            pair = stored_tensor(np, layout, row, mine), stored_tensor(np, other_layout, other, its)
            return equal(np, pair[0], pair[1], row, other, other_name)

    return relate


def equal(np, mine, its, row, other, other_name):
    """Whether two tensors have the same bytes."""
    if isinstance(mine, str) or isinstance(its, str):
        return None, mine if isinstance(mine, str) else its
    if (row.dtype, tuple(row.shape)) != (other.dtype, tuple(other.shape)):
        return False, "differs from %s: %s%s and %s%s" % (
            other_name,
            row.dtype,
            list(row.shape),
            other.dtype,
            list(other.shape),
        )
    width, differ, first = width_of(mine.dtype), 0, None
    for (start, a), (_, b) in zip(mine.blocks(scan.BLOCK), its.blocks(scan.BLOCK)):
        mine.read += len(a)
        if bytes(a) == bytes(b):
            continue
        units = (
            [
                bytes(memoryview(a)[k : k + width]) != bytes(memoryview(b)[k : k + width])
                for k in range(0, len(a), width)
            ]
            if np is None
            else (np.frombuffer(a, "u1").reshape(-1, width) != np.frombuffer(b, "u1").reshape(-1, width)).any(1)
        )
        differ += int(sum(units)) if np is None else int(units.sum())
        if first is None:
            first = start + (units.index(True) if np is None else int(units.argmax()))
    if not differ:
        return True, "has the values of %s" % other_name
    where = scan.index_of(first, row.shape)
    return False, "differs from {} in {:,} of {:,} values, first at {}".format(other_name, differ, mine.count, where)


class Report:
    """Answers as they come in, bounded."""

    def __init__(self, place, wants):
        self.place = place
        self.total = sum(len(places) for _, places in wants)
        self.failed, self.untold, self.held, self.more = [], [], 0, 0
        self.tensors = self.read = self.there = self.answered = 0

    def take(self, done):
        rows, tensors, read, there = done
        self.tensors, self.read, self.there = self.tensors + tensors, self.read + read, self.there + there
        for want, file, name, verdict, words in rows:
            self.answered += 1
            if verdict:
                self.held += 1
                continue
            kept = self.untold if verdict is None else self.failed
            if len(kept) < KEPT:
                kept.append([want, file, name, words])
            else:
                self.more += 1
        self.place.progress(self.answered, self.total, "tensors")

    def facts(self):
        return {
            "failed": self.failed, "untold": self.untold, "held": self.held, "more": self.more,
            "tensors": self.tensors, "read": self.read, "there": self.there,
        }  # fmt: skip


# In memory.


def live(place, subject, wants, under=""):
    """What fails of the wants in an object of this process. Tensors on a device are brought over block by block."""
    np = place.accelerator("numpy")
    report = Report(place, wants)
    tensors = {name[len(under) :]: tensor for name, tensor in live_tensors(subject.subject) if name.startswith(under)}
    for _, names in jobs_of(wants):
        for name, numbers in names.items():
            tensor = held_tensor(np, tensors[name] if name in tensors else tensors[""])
            predicates = [wants[number][0] for number in numbers]
            answers = guarded(np, tensor, predicates, live_relation(np, tensors, name))
            read = tensor.read if isinstance(tensor, scan.Stored) else 0
            report.take(
                ([(n, "", name, verdict, words) for n, (verdict, words) in zip(numbers, answers)], 1, read, read)
            )
    return report.facts()


def held_tensor(np, tensor):
    """A live tensor as bytes, or in words why not. Of a large one, axes of stride 0 are looked at once."""
    if np is None:
        return "numpy is not there to read values with"
    if str(getattr(tensor, "device", "")) == "meta":
        return "it is on meta: it has no values"
    dtype, layout = dtype_name(tensor.dtype), odd_layout(tensor)
    width = width_of(dtype)
    if width is None or layout:
        return "its layout is %s, and it has no strides" % layout if layout else scan.unreadable(dtype)
    tensor = detached(tensor)
    if callable(getattr(tensor, "stride", None)):
        out = written_out(tensor.shape, tensor.stride(), width)
        for axis, step in enumerate(tensor.stride()) if not out else ():
            if repeats(tensor.shape[axis], step):
                tensor = tensor.narrow(axis, 0, 1)
        return scan.Stored(dtype, tensor.shape, torch_blocks(tensor, width), once=not out)
    array = np.asarray(tensor)
    big, out = array.dtype.byteorder == ">", written_out(array.shape, array.strides, width)
    if out:
        array = np.ascontiguousarray(array) if 0 in array.strides else array
    else:
        array = array[tuple(slice(0, 1 if repeats(*row) else None) for row in zip(array.shape, array.strides))]
    return scan.Stored(dtype, array.shape, numpy_blocks(np, array, width), big, once=not out)


def detached(tensor):
    """Without its gradient; of a DTensor the part that is on this rank; a conjugate or negative view written out."""
    for plainer in ("detach", "to_local", "resolve_conj", "resolve_neg"):
        method = getattr(tensor, plainer, None)
        tensor = method() if callable(method) else tensor
    return tensor


def torch_blocks(tensor, width):
    """`blocks(step)` of a torch tensor; torch is not imported for it."""

    def blocks(step):
        import sys

        torch = sys.modules["torch"]
        if tensor.numel() == 0:
            return
        done = 0
        for piece in pieces(tensor, max(1, scan.WHOLE // width)):
            flat = piece.cpu().contiguous().reshape(-1)
            if flat.stride(0) != 1:  # one element of an expanded tensor
                flat = torch.empty(flat.shape, dtype=flat.dtype).copy_(flat)
            flat = flat.view(torch.uint8).numpy()
            for start, block in scan.buffer_blocks(flat, width)(step):
                yield done + start, block
            done += piece.numel()

    return blocks


def pieces(tensor, most):
    """The tensor, in order, in pieces that take little memory when they must be copied."""
    if tensor.numel() <= most or (tensor.is_contiguous() and str(tensor.device) == "cpu") or tensor.dim() == 0:
        yield tensor
        return
    rows = max(1, most * tensor.shape[0] // tensor.numel())
    for start in range(0, tensor.shape[0], rows):
        part = tensor.narrow(0, start, min(rows, tensor.shape[0] - start))
        if part.numel() <= most:
            yield part
        else:
            for inner in part:
                yield from pieces(inner, most)


def numpy_blocks(np, array, width):
    def blocks(step):
        if array.size == 0:
            return
        if array.flags["C_CONTIGUOUS"]:
            yield from scan.buffer_blocks(array.reshape(-1).view("u1").data, width)(step)
            return
        rows, done = array if array.ndim else array.reshape(1), 0
        for part in rows:
            flat = np.ascontiguousarray(part).reshape(-1).view("u1")
            for start, block in scan.buffer_blocks(flat.data, width)(step):
                yield done + start, block
            done += part.size

    return blocks


def live_relation(np, tensors, name):
    def relate(atom):
        word, other_name = atom[0], atom[1]
        mine, its = tensors[name], tensors[other_name]
        shared = mine is its or (pointer(mine) is not None and pointer(mine) == pointer(its))
        if shared or word == "shared":
            return shared, "%s the memory of %s" % ("shares" if shared else "does not share", other_name)
        pair = held_tensor(np, mine), held_tensor(np, its)
        return equal(np, pair[0], pair[1], mine, its, other_name)

    return relate


def pointer(tensor):
    """Where its first element lies, or None."""
    if callable(getattr(tensor, "data_ptr", None)) and str(tensor.device) != "meta" and tensor.numel():
        return str(tensor.device), tensor.data_ptr()
    interface = getattr(tensor, "__array_interface__", None)
    return ("cpu", interface["data"][0]) if isinstance(interface, dict) else None
