"""Every byte of a file, read once: CRC-32s of its records, digests of the whole, and NaN or Inf in its tensors.

The file is cut into segments, none of which crosses the border of a record or a tensor.  Whatever wants the bytes gets
them while they are in the cache: the CRC of a record is put together from those of its segments, so any thread may take
any stretch of the file.  A digest wants the bytes in order: then one thread reads, and another hashes behind it.
A block is twice a level-2 cache: the third cache holds the rest, and threads hand each other the interpreter's lock, which
costs them more than a little Python, half as often as with blocks that fit.  It never lies in its page of memory just
behind where it lies in the file's: copied to a place 1 to 15 bytes further on in a page than where they come from, bytes
were measured to take five times as long, up to 63 bytes twice (Zen 4).
"""

import bisect
import hashlib
import mmap
import os
import threading
from contextlib import nullcontext

from verikit.probes import crc as crc32
from verikit.probes import digests, packing
from verikit.probes.formats.layout import Layout
from verikit.probes.place import CannotSee

BLOCK = 1 << 19
"""Bytes, where the cache is small or not known; at most `WIDEST`."""
WIDEST = 1 << 21
CACHE = "/sys/devices/system/cpu/cpu0/cache/index2/size"
SEGMENT = 1 << 24
RUN = 1 << 10
"""Segments that are held at a time by each thread."""
THREADS = 4
AHEAD = 3
"""Blocks that may wait to be hashed."""
PAGE = 4096
APART = PAGE // 2 + 16
"""How much further on in a page a block lies than in the file's; multiples of 32 were measured a tenth slower."""


def compare(place, file, layout, keys=None, finite=False, threads=None, wanted=digests.NOTHING, told=None):
    """Reads the file's bytes once and tells `layout` of every record that is not what its CRC says, and of values not finite.

    keys: only what lies beneath these names is judged and, unless a digest wants all, read.  wanted: `digests.Wanted`.
    told: called with (bytes done, bytes in all) instead of `place.progress`.
    Returns {"bytes", "compared", "values", "by", "threads"}, and as "digests" what was wanted.
    """
    scan = _scan(place, layout) if finite else None
    crc, by = crc32.fastest(place)
    work = _Pass(file.fileno(), layout, crc, scan, wanted, block_of(place))
    work.plan(keys, lambda name: digests.hasher(place, name, layout.size))
    threads = max(1, min(threads or THREADS, cores(), work.most))
    work.run(told or place.progress, threads)
    work.tell()
    if scan:
        scan.tell()
    values = scan.values if scan else 0
    if scan and layout.arrays:
        values += _pickled(place, file, layout, keys)
    found = {
        "bytes": work.done,
        "compared": work.compared,
        "values": values,
        "by": [by] + ([scan.by] if scan and scan.by else []),
        "threads": threads,
    }
    if wanted:
        found["digests"] = dict(work.digests(), size=layout.size)
    return found


def digest_file(place, path, wanted, told=None):
    """What is wanted of a regular file that stays as it is, in the form of `_Pass.digests` and with its "size"."""
    if wanted.names == ("blake3",) and not (wanted.block or wanted.shards) and place.accelerator("blake3") is None:
        return digests.by_program(place, path)
    with place.steady(path) as file:
        layout = Layout(path, os.fstat(file.fileno()).st_size)
        return compare(place, file, layout, wanted=wanted, told=told)["digests"]


def block_of(place):
    """Bytes that are read at once: twice as many as the level-2 cache holds, as Linux tells it."""
    try:
        with place.open(CACHE) as file:
            cache = int(file.read(32).strip().rstrip(b"K")) << 10
    except (OSError, ValueError, CannotSee):
        return BLOCK
    return min(max(BLOCK, 2 * cache), WIDEST)


def cores():
    """Processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return os.cpu_count() or 1


def _scan(place, layout):
    from verikit.probes import finite

    try:
        return finite.scanner(place, layout)
    except CannotSee as error:
        layout.unseen(error.cause, error.reason)
        return None


def _pickled(place, file, layout, keys):
    """How many values of numpy's arrays were looked at that lie in a pickle, and not beside it."""
    from verikit.probes import pickled

    try:
        return pickled.judge(place, file, layout, lambda name: keys is None or _beneath(name, keys))
    except CannotSee as error:
        layout.unseen(error.cause, error.reason)
        return 0


# What is read, and in what order.


class Segment:
    """A stretch of the file: within one record (or none), within one tensor (or none); a packed record is one.

    raw: where the CRC-32s of blocks are asked for, those of its bytes as they lie there, [(bytes, CRC), …].
    """

    __slots__ = ("area", "crc", "end", "nbytes", "offset", "raw", "span")

    def __init__(self, offset, nbytes, span, area):
        self.offset, self.nbytes, self.end, self.span, self.area = offset, nbytes, offset + nbytes, span, area
        self.crc, self.raw = 0, None

    @property
    def packed(self):
        return self.span is not None and self.span.method

    def compare(self, crc, at, view, block):
        """Takes the CRC of its next bytes: in pieces that do not cross a border of `block` bytes, if that is not 0."""
        if not block:
            self.crc = crc(view, self.crc)
            return
        self.raw = self.raw or []
        while len(view):
            piece = view[: block - at % block]
            if self.raw and at % block:
                length, value = self.raw[-1]
                self.raw[-1] = length + len(piece), crc(piece, value)
            else:
                self.raw.append((len(piece), crc(piece)))
            at, view = at + len(piece), view[len(piece) :]


class Buffer:
    """Memory for `nbytes` of a file, wherever in a page they begin."""

    def __init__(self, nbytes):
        self._pages = memoryview(mmap.mmap(-1, nbytes + PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))

    def part(self, at, nbytes):
        """So much of it, for the bytes of the file from `at` on, far in its page from where they lie in theirs."""
        begin = (at + APART) % PAGE
        return self._pages[begin : begin + nbytes]


class Lane:
    """Segments that one thread takes in the order of the file, in runs without a gap, and the digests of these bytes."""

    def __init__(self, runs, streams=()):
        self.runs, self.streams = runs, list(streams)


class Stream:
    """A digest of the bytes from `begin` to `end`."""

    def __init__(self, begin, end, name, hasher):
        self.begin, self.end, self.name, self.hasher = begin, end, name, hasher

    def take(self, at, view):
        """What there is for it in the bytes at that offset."""
        low, high = max(self.begin - at, 0), self.end - at
        if low < len(view) and high > 0:
            self.hasher.update(view if not low and high >= len(view) else view[low:high])


class _Next:
    """Of things in order, the first whose end lies behind a place."""

    def __init__(self, things, end):
        self.things, self.end = iter(things), end
        self.thing = next(self.things, None)

    def behind(self, at):
        while self.thing is not None and self.end(self.thing) <= at:
            self.thing = next(self.things, None)
        return self.thing


def _segments(layout, scan, cuts=()):
    """Segments in the order of the file, over all of it; cuts: offsets that none of them crosses, sorted."""
    spans = _Next(_ordered(layout.spans), lambda span: span.offset + span.nbytes)
    areas, cuts = _Next(scan.areas() if scan else (), lambda area: area.end), _Next(cuts, int)
    at = 0
    while at < layout.size:
        next_span, next_area, cut = spans.behind(at), areas.behind(at), cuts.behind(at)
        span = next_span if next_span is not None and next_span.offset <= at else None
        area = next_area if next_area is not None and next_area.begin <= at else None
        if span is not None and span.method:
            yield Segment(at, span.offset + span.nbytes - at, span, None)
            at = span.offset + span.nbytes
            continue
        end = min(layout.size, at + SEGMENT, layout.size if cut is None else cut)
        if next_span is not None:
            end = min(end, next_span.offset if span is None else span.offset + span.nbytes)
        if next_area is not None:
            end = min(end, next_area.begin if area is None else area.end)
        if area is not None:  # a cut within a tensor: between two of its elements
            end = max(area.cut(end), min(end, at + area.width))
        yield Segment(at, end - at, span, area)
        at = end


def _ordered(spans):
    """Spans by their offsets; those of a ZIP's directory lie so, and are not all made at once."""
    return iter(spans) if getattr(spans, "ordered", False) else sorted(spans, key=lambda span: span.offset)


def _runs(segments):
    """Segments that follow each other, together as many bytes as one thread takes at a time; packed ones by themselves."""
    run, end, room = [], None, 0
    for segment in segments:
        if run and (segment.offset != end or room <= 0 or segment.packed or len(run) == RUN):
            yield run
            run = []
        if not run:
            room = SEGMENT
        run.append(segment)
        end, room = segment.end, 0 if segment.packed else room - segment.nbytes
    if run:
        yield run


def _until(segments, end):
    """The segments that begin before there."""
    while segments.thing is not None and segments.thing.offset < end:
        yield segments.thing
        segments.behind(segments.thing.offset)


def _under(layout, keys):
    """Stretches of the file, sorted, that hold the tensors beneath these names."""
    rows = [row for row in layout.tensors if row.file is None and _beneath(row.name, keys)]
    found = [(row.offset, row.offset + row.nbytes) for row in rows if row.offset is not None]
    spans = {span.name: span for span in layout.spans} if layout.packed else {}
    for row in rows:
        span = spans.get(layout.packed.get(row.name, (None,))[0])
        if span is not None:
            found.append((span.offset, span.offset + span.nbytes))
    return sorted(found)


def _beneath(name, keys):
    return any(name == key or name.startswith(key + ".") for key in keys)


def _meets(stretches, segment):
    """Whether a record (or, where there is none, the segment itself) holds any of these bytes."""
    whole = segment.span or segment
    low, high = whole.offset, whole.offset + whole.nbytes
    at = bisect.bisect_left(stretches, (high, 0))
    return any(row[1] > low for row in stretches[max(0, at - 64) : at])


# The pass.


class _Pass:
    """The lanes, taken in turn by threads; what is known of a segment goes where it is wanted, and the segment is forgotten."""

    def __init__(self, fd, layout, crc, scan, wanted, block):
        self.fd, self.layout, self.crc, self.scan, self.wanted, self.block = fd, layout, crc, scan, wanted, block
        self.total, self.done, self.compared = layout.size, 0, 0
        self.parts, self.found, self.blocks, self.open = {}, [], [], (0, 0)
        self.lock, self.trouble = threading.Lock(), []

    def plan(self, keys, hasher):
        """Which segments there are, and which of them must be taken in order; `most`: threads that have something to do."""
        streams = [Stream(0, self.layout.size, name, hasher(name)) for name in self.wanted.names]
        shards = [Stream(begin, end, name, hasher(name)) for begin, end, name in self.wanted.shards]
        self.streams, self.whole = streams + shards, len(streams)
        packed = sum(span.method != 0 for span in self.layout.spans)
        # Shards can be hashed side by side, unless something else lies across their borders.
        apart = shards and not (streams or self.wanted.block or self.scan or packed)
        segments = _segments(self.layout, self.scan, sorted({shard.begin for shard in shards}) if apart else ())
        if keys is not None:
            segments = self._only(keys, segments)
        self.lanes, self.most = self._lanes(segments, shards if apart else ()), 2
        if apart or not self.wanted:
            self.most = len(shards) or self.total // SEGMENT + packed + 1
        self.spare = self.wanted and not apart

    def _lanes(self, segments, shards):
        if shards:
            segments = _Next(segments, lambda segment: segment.offset)
            for shard in shards:
                yield Lane(_runs(list(_until(segments, shard.end))), [shard])
        elif self.wanted:
            yield Lane(_runs(segments), self.streams)
        else:
            for run in _runs(segments):
                yield Lane([run])

    def _only(self, keys, segments):
        """Judges what lies beneath the keys; the rest is read for digests and nothing else."""
        stretches = _under(self.layout, keys)
        if not self.wanted:
            self.total = sum(each.nbytes for each in _segments(self.layout, None) if _meets(stretches, each))
        for segment in segments:
            if _meets(stretches, segment):
                yield segment
            elif self.wanted:
                segment.span = segment.area = None
                yield segment

    def run(self, told, threads):
        spare = self.spare and threads > 1
        many = 1 if self.spare else threads
        workers = [threading.Thread(target=self._work, args=(spare,), daemon=True) for _ in range(many - 1)]
        for worker in workers:
            worker.start()
        self._work(spare, lambda: told(self.done, self.total))
        for worker in workers:
            worker.join()
        if self.trouble:
            raise self.trouble[0]

    def _work(self, spare, told=None):
        """Takes lanes until there are none; `spare`: there is a processor left for hashing."""
        try:
            buffer = Buffer(self.block)
            with self.scan.quiet() if self.scan else nullcontext():
                while not self.trouble:
                    with self.lock:
                        lane = next(self.lanes, None)
                    if lane is None:
                        return
                    with _Behind(lane, self.block) if spare else _Here(lane, buffer) as hashing:
                        self._take(lane, hashing, told)
        except BaseException as error:
            self.trouble.append(error)

    def _take(self, lane, hashing, told):
        for run in lane.runs:
            if self.trouble:
                return
            (self._unpack if run[0].packed else self._read)(run, hashing)
            with self.lock:
                for segment in run:
                    self._keep(segment)
            if told:
                told()

    def _read(self, run, hashing):
        """A run of segments, block by block; a block ends between two elements."""
        at, end, turn = run[0].offset, run[-1].end, _Turn(self, run)
        while at < end:
            stop = turn.cut(at, min(at + self.block, end))
            view = self._fill(hashing.room().part(at, stop - at), at)
            turn.take(at, stop, view)
            hashing.give(at, view)
            at = stop
        turn.end()

    def _fill(self, view, offset):
        """The view, full: a read may give less than was asked for."""
        have = os.preadv(self.fd, [view], offset)
        while have < len(view):
            more = os.preadv(self.fd, [view[have:]], offset + have)
            if not more:
                raise CannotSee("changed_while_reading", "the file ended under the read, at byte %d" % (offset + have))
            have += more
        return view

    def _unpack(self, run, hashing):
        """A packed record, unpacked block by block; its own bytes are read to their end whatever is wrong with them."""
        (segment,) = run
        record, at = _Unpacked(self, segment.span), segment.offset
        while at < segment.end:
            view = self._fill(hashing.room().part(at, min(self.block, segment.end - at)), at)
            if self.wanted.block:
                segment.compare(self.crc, at, view, self.wanted.block)
            record.take(view)
            hashing.give(at, view)
            at += len(view)
        segment.crc = record.end(self.found)

    # What came of it.

    def _keep(self, segment):
        """Puts the CRCs of a record's segments together, and holds them against its own when they are all there."""
        self.done += segment.nbytes
        if self.wanted.block:
            self._in_blocks(segment.raw)
        span = segment.span
        if span is None or span.crc is None:
            return
        rows = [(segment.nbytes, segment.crc)] if segment.packed or segment.raw is None else segment.raw
        piece = (segment.offset, segment.nbytes, joined(rows)[0])
        if segment.nbytes < span.nbytes:
            left, pieces = self.parts.get(span, (span.nbytes, []))
            pieces.append(piece)
            self.parts[span] = left - segment.nbytes, pieces
            if left > segment.nbytes:
                return
            del self.parts[span]
            piece = span.offset, span.nbytes, joined([row[1:] for row in sorted(pieces)])[0]
        self.compared += span.nbytes
        if piece[2] != span.crc:
            what = "record {!r} ({:,} bytes) is not what its CRC-32 says: {:08x}, {:08x} expected"
            self.found.append((span.offset, what.format(span.name, span.nbytes, piece[2], span.crc)))

    def _in_blocks(self, raw):
        """The CRC-32 of each block, from those of its pieces; these come in the order of the file."""
        value, nbytes = self.open
        for row in raw:
            value, nbytes = joined([row], value, nbytes)
            if nbytes == self.wanted.block:
                self.blocks.append(value)
                value, nbytes = 0, 0
        self.open = value, nbytes

    def tell(self):
        """Tells the layout which records are not what their CRCs say."""
        for where, what in sorted(self.found):
            self.layout.fault("crc", what, where)

    def digests(self):
        """{"digests": {name: hex}, "block", "blocks": [hex], "shards": {(begin, end, name): hex}}"""
        return {
            "digests": {each.name: each.hasher.hexdigest() for each in self.streams[: self.whole]},
            "block": self.wanted.block,
            "blocks": ["%08x" % value for value in self.blocks + ([self.open[0]] if self.open[1] else [])],
            "shards": {(e.begin, e.end, e.name): e.hasher.hexdigest() for e in self.streams[self.whole :]},
        }


def joined(rows, crc=0, nbytes=0):
    """(CRC, bytes) of pieces [(bytes, CRC), …] put behind what there is."""
    for length, value in rows:
        crc, nbytes = (crc32.combine(crc, value, length) if nbytes else value), nbytes + length
    return crc, nbytes


class _Turn:
    """A run of segments being read: hands each the part of a block that is its own."""

    def __init__(self, work, run):
        self.crc, self.scan, self.run, self.at = work.crc, work.scan, run, 0
        self.block, self.tally = work.wanted.block, None

    def cut(self, at, stop):
        """Where a block may end: not within an element."""
        index = self.at
        while self.run[index].end < stop:
            index += 1
        segment = self.run[index]
        if segment.area is None or segment.end == stop:
            return stop
        return max(segment.area.cut(stop), at + 1)

    def take(self, at, stop, view):
        """The bytes of the file from `at` to `stop`."""
        while self.at < len(self.run):
            segment = self.run[self.at]
            begin, end = max(segment.offset, at), min(segment.end, stop)
            part = view[begin - at : end - at]
            if self.block or (segment.span is not None and segment.span.crc is not None):
                segment.compare(self.crc, begin, part, self.block)
            if segment.area is not None:
                self._values(segment.area, begin, part)
            if segment.end > stop:
                return
            self.at += 1
            if segment.end == stop:
                return

    def _values(self, area, at, part):
        if self.tally is None or self.tally.area is not area:
            self.end()
            self.tally = self.scan.tally(area)
        self.scan.block(self.tally, at, part)

    def end(self):
        """No more of the run comes."""
        if self.tally is not None:
            self.scan.add(self.tally)
            self.tally = None


class _Unpacked:
    """A packed record, unpacked as its bytes come: its CRC, and the values of its tensors."""

    def __init__(self, work, span):
        self.work, self.span, self.value, self.seen, self.broken = work, span, 0, 0, None
        self.machine = packing.Unpacker(span.method)
        self.values = work.scan.unpacked(span) if work.scan else None

    def take(self, view):
        """The next bytes as they lie there; never is more unpacked than the record says it holds."""
        machine = self.machine
        if self.broken is None and machine.over:
            self.broken = self._other()
        try:
            while not (self.broken or machine.over or self.seen > self.span.size):
                data, view = machine.pull(view, self.work.block), b""
                self.value, self.seen = self.work.crc(data, self.value), self.seen + len(data)
                if self.values:
                    self.values.feed(data)
                if machine.hungry:
                    break
        except packing.Damaged as error:
            self.broken = "can't be unpacked: %s" % error

    def _other(self):
        more = "more" if self.seen > self.span.size else "other"
        return "unpacks to %s bytes than the %d it should" % (more, self.span.size)

    def end(self, found):
        """Its CRC; the one of its directory, where `found` is told what is wrong."""
        if self.values:
            self.values.end()
        if self.broken is None and (self.seen != self.span.size or not self.machine.whole):
            self.broken = self._other()
        if self.broken is None:
            return self.value
        found.append((self.span.offset, "record %r %s" % (self.span.name, self.broken)))
        return self.span.crc


# Hashing.


def _settle():
    """Clears the upper halves of the vector registers, by an instruction at the end of OpenSSL's SHA-512.

    isal's CRC-32 leaves them in use, and SHA-256 took a third longer after it (Zen 4: 396 instead of 289 µs for 512 KiB).
    """
    hashlib.sha512(_SHORT)


_SHORT = bytes(128)


class _Here:
    """Hashes in the thread that reads, with one buffer."""

    def __init__(self, lane, buffer):
        self.streams, self.buffer = lane.streams, buffer

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def room(self):
        return self.buffer

    def give(self, at, view):
        if self.streams:
            _settle()
        for stream in self.streams:
            stream.take(at, view)


class _Behind:
    """Hashes in a thread of its own, in order, a few blocks behind the one that reads."""

    def __init__(self, lane, block):
        import queue

        self.streams, self.error = lane.streams, None
        self.full, self.free = queue.SimpleQueue(), queue.SimpleQueue()
        for _ in range(AHEAD):
            self.free.put(Buffer(block))
        self.thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.full.put(None)
        self.thread.join()
        if self.error is not None and error[0] is None:
            raise self.error

    def room(self):
        self.buffer = self.free.get()
        return self.buffer

    def give(self, at, view):
        self.full.put((at, view, self.buffer))

    def _work(self):
        _settle()  # a thread begins with the registers of the one that started it
        while True:
            row = self.full.get()
            if row is None:
                return
            try:
                for stream in self.streams if self.error is None else ():
                    stream.take(*row[:2])
            except BaseException as error:  # told at the end: until then buffers must come back
                self.error = error
            self.free.put(row[2])
