"""Every byte of a file, read once: CRC-32s of its records, digests of the whole, and NaN or Inf in its tensors.

The file is cut into segments, none of which crosses the border of a record or a tensor.  Whatever wants the bytes gets
them while they are in the cache: the CRC of a record is put together from those of its segments, so any thread may take
any stretch of the file.  A digest wants the bytes in order: then one thread reads, and another hashes behind it.
A block fits half of a level-2 cache, with what the kernel copies it from in the other: of 512 KiB, blocks of 256 were
measured three times as fast to read as of 1024.
"""

import bisect
import os
import threading
from contextlib import nullcontext

from verikit.probes import crc as crc32
from verikit.probes import digests, packing
from verikit.probes.formats.layout import Layout
from verikit.probes.place import CannotSee

BLOCK = 1 << 18
"""Bytes, where the cache is small or not known; at most `WIDEST`."""
WIDEST = 1 << 20
CACHE = "/sys/devices/system/cpu/cpu0/cache/index2/size"
SEGMENT = 1 << 24
THREADS = 4
AHEAD = 8
"""Blocks that may wait to be hashed."""


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
    threads = max(1, min(threads or THREADS, cores(), len(work.lanes) + bool(wanted.names or wanted.shards)))
    work.run(told or place.progress, threads)
    work.judge()
    if scan:
        scan.tell()
    found = {
        "bytes": work.done,
        "compared": sum(span.nbytes for span in work.spans() if span.crc is not None),
        "values": scan.values if scan else 0,
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
    """Bytes that are read at once: half of the level-2 cache, as Linux tells it."""
    try:
        with place.open(CACHE) as file:
            cache = int(file.read(32).strip().rstrip(b"K")) << 10
    except (OSError, ValueError, CannotSee):
        return BLOCK
    return min(max(BLOCK, cache // 2), WIDEST)


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


# What is read, and in what order.


class Segment:
    """A stretch of the file: within one record (or none), within one tensor (or none); a packed record is one.

    raw: where the CRC-32s of blocks are asked for, those of its bytes as they lie there, [(bytes, CRC), …].
    """

    __slots__ = ("area", "crc", "nbytes", "offset", "raw", "span")

    def __init__(self, offset, nbytes, span, area):
        self.offset, self.nbytes, self.span, self.area, self.crc, self.raw = offset, nbytes, span, area, 0, None

    @property
    def end(self):
        return self.offset + self.nbytes

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


def _segments(layout, scan, cuts=()):
    """Segments in the order of the file, over all of it; cuts: offsets that none of them crosses, sorted."""
    borders = sorted((span.offset, span.offset + span.nbytes, span) for span in layout.spans)
    areas = scan.areas if scan else []
    at, a, s, c = 0, 0, 0, 0
    while at < layout.size:
        while s < len(borders) and borders[s][1] <= at:
            s += 1
        while a < len(areas) and areas[a].end <= at:
            a += 1
        while c < len(cuts) and cuts[c] <= at:
            c += 1
        span = borders[s][2] if s < len(borders) and borders[s][0] <= at else None
        area = areas[a] if a < len(areas) and areas[a].begin <= at else None
        if span is not None and span.method:
            yield Segment(at, span.offset + span.nbytes - at, span, None)
            at = span.offset + span.nbytes
            continue
        ends = [layout.size, at + SEGMENT, cuts[c] if c < len(cuts) else layout.size]
        ends += [borders[s][1] if span is not None else borders[s][0]] if s < len(borders) else []
        ends += [area.end if area is not None else areas[a].begin] if a < len(areas) else []
        end = min(end for end in ends if end > at)
        if area is not None:  # a cut within a tensor: between two of its elements
            end = max(area.cut(end), min(end, at + area.width))
        yield Segment(at, end - at, span, area)
        at = end


def _runs(segments):
    """Segments that follow each other, together as many bytes as one thread takes at a time; packed ones by themselves."""
    run, end, room = [], None, 0
    for segment in segments:
        if run and (segment.offset != end or room <= 0 or segment.packed):
            yield run
            run = []
        if not run:
            room = SEGMENT
        run.append(segment)
        end, room = segment.end, 0 if segment.packed else room - segment.nbytes
    if run:
        yield run


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
    """The lanes, taken in turn by threads."""

    def __init__(self, fd, layout, crc, scan, wanted, block):
        self.fd, self.layout, self.crc, self.scan, self.wanted, self.block = fd, layout, crc, scan, wanted, block
        self.segments, self.lanes, self.total, self.done, self.next = [], [], 0, 0, 0
        self.lock, self.trouble = threading.Lock(), []

    def plan(self, keys, hasher):
        """Which segments there are, and which of them must be taken in order."""
        streams = [Stream(0, self.layout.size, name, hasher(name)) for name in self.wanted.names]
        shards = [Stream(begin, end, name, hasher(name)) for begin, end, name in self.wanted.shards]
        # Shards can be hashed side by side, unless something else lies across their borders.
        apart = not streams and not self.scan and not any(span.method for span in self.layout.spans)
        cuts = sorted({shard.begin for shard in shards}) if apart else ()
        self.segments = list(_segments(self.layout, self.scan, cuts))
        if keys is not None:
            self._only(keys)
        self.total = sum(segment.nbytes for segment in self.segments)
        self.streams, self.whole = streams + shards, len(streams)
        if shards and apart:
            self.lanes = [Lane(list(_runs(self._within(shard))), [shard]) for shard in shards]
        elif self.streams:
            self.lanes = [Lane(list(_runs(self.segments)), self.streams)]
        else:
            self.lanes = [Lane([run]) for run in _runs(self.segments)]

    def _only(self, keys):
        """Judges what lies beneath the keys; the rest is read for digests and nothing else."""
        stretches = _under(self.layout, keys)
        meets = [_meets(stretches, segment) for segment in self.segments]
        if not self.wanted:
            self.segments = [segment for segment, met in zip(self.segments, meets) if met]
            return
        for segment, met in zip(self.segments, meets):
            if not met:
                segment.span = segment.area = None

    def _within(self, shard):
        begins = [each.offset for each in self.segments]
        return self.segments[bisect.bisect_left(begins, shard.begin) : bisect.bisect_left(begins, shard.end)]

    def run(self, told, threads):
        spare = threads > len(self.lanes)
        many = min(threads, len(self.lanes))
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
            buffer = memoryview(bytearray(self.block))
            with self.scan.quiet() if self.scan else nullcontext():
                while not self.trouble:
                    with self.lock:
                        at, self.next = self.next, self.next + 1
                    if at >= len(self.lanes):
                        return
                    lane = self.lanes[at]
                    with _Behind(lane, self.block) if spare and lane.streams else _Here(lane, buffer) as hashing:
                        self._take(lane, hashing, told)
        except BaseException as error:
            self.trouble.append(error)

    def _take(self, lane, hashing, told):
        for run in lane.runs:
            if self.trouble:
                return
            (self._unpack if run[0].packed else self._read)(run, hashing)
            with self.lock:
                self.done += sum(segment.nbytes for segment in run)
            if told:
                told()

    def _read(self, run, hashing):
        """A run of segments, block by block; a block ends between two elements."""
        at, end, turn = run[0].offset, run[-1].end, _Turn(self, run)
        while at < end:
            stop = turn.cut(at, min(at + self.block, end))
            view = self._fill(hashing.room()[: stop - at], at)
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
            view = self._fill(hashing.room()[: min(self.block, segment.end - at)], at)
            if self.wanted.block:
                segment.compare(self.crc, at, view, self.wanted.block)
            record.take(view)
            hashing.give(at, view)
            at += len(view)
        segment.crc = record.end()

    # What came of it.

    def spans(self):
        """The records of which every byte was read."""
        seen = {}
        for segment in self.segments:
            if segment.span is not None:
                seen[segment.span] = seen.get(segment.span, 0) + segment.nbytes
        return [span for span, nbytes in seen.items() if nbytes == span.nbytes]

    def judge(self):
        """Puts the CRCs of each record's segments together and holds them against its own."""
        whole = {}
        for segment in self.segments:
            span = segment.span
            if span is not None and span.crc is not None:
                crc, nbytes = whole.get(span, (0, 0))
                rows = [(segment.nbytes, segment.crc)] if segment.packed or segment.raw is None else segment.raw
                whole[span] = joined(rows, crc, nbytes)
        for span, (crc, nbytes) in whole.items():
            if nbytes == span.nbytes and crc != span.crc:
                what = "record {!r} ({:,} bytes) is not what its CRC-32 says: {:08x}, {:08x} expected"
                self.layout.fault("crc", what.format(span.name, span.nbytes, crc, span.crc), span.offset)

    def digests(self):
        """{"digests": {name: hex}, "block", "blocks": [hex], "shards": {(begin, end, name): hex}}"""
        return {
            "digests": {each.name: each.hasher.hexdigest() for each in self.streams[: self.whole]},
            "block": self.wanted.block,
            "blocks": ["%08x" % value for value in self._blocks()] if self.wanted.block else [],
            "shards": {(e.begin, e.end, e.name): e.hasher.hexdigest() for e in self.streams[self.whole :]},
        }

    def _blocks(self):
        """The CRC-32 of each block, from those of its segments."""
        value, nbytes = 0, 0
        for row in (row for segment in self.segments for row in segment.raw or ()):
            value, nbytes = joined([row], value, nbytes)
            if nbytes == self.wanted.block:
                yield value
                value, nbytes = 0, 0
        if nbytes:
            yield value


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

    def end(self):
        """Its CRC; the one of its directory, where it is told here what is wrong."""
        if self.values:
            self.values.end()
        if self.broken is None and (self.seen != self.span.size or not self.machine.whole):
            self.broken = self._other()
        if self.broken is None:
            return self.value
        self.work.layout.fault("crc", "record %r %s" % (self.span.name, self.broken), self.span.offset)
        return self.span.crc


# Hashing.


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
        for stream in self.streams:
            stream.take(at, view)


class _Behind:
    """Hashes in a thread of its own, in order, a few blocks behind the one that reads."""

    def __init__(self, lane, block):
        import queue

        self.streams, self.error = lane.streams, None
        self.full, self.free = queue.SimpleQueue(), queue.SimpleQueue()
        for _ in range(AHEAD):
            self.free.put(memoryview(bytearray(block)))
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
