"""One look at a log and at what belongs to it: the file, this run's text, the process, the host's clock."""

import os
import re

from verikit.probes import process as processes
from verikit.probes.logs import bookmark, clock, reading
from verikit.probes.logs.story import Story
from verikit.probes.logs.verdicts import tell
from verikit.probes.place import CannotSee

QUIET = 60.0
"""Seconds without a write after which it is worth asking whether the process still computes."""

BLANKS = b"\0\r\n\t "
LAUNCHER = re.compile(rb"^nohup: [^\n]*$", re.M)
"""What stands in a log whose program has said nothing."""

SAMPLE = 0.2
GOES_ON = 60.0
"""Seconds between a rotated file's last write and its successor's first, at most, for the one to go on in the other."""

SLACK = 5.0
"""Seconds by which a shell may open a log before its program starts."""


def inspect(
    place,
    path,
    mark=None,
    since=None,
    process=None,
    ready=(),
    named="",
    failing=(),
    ignore=(),
    done=(),
    progress=(),
    resume=None,
):
    """Facts of a log: `file`, `process`, `tied`, and what `verdicts.tell` makes of this run's text.

    mark: an entry of a Mark; only what came after it counts.  since: when the run was launched (epoch, this host's clock).
    ready, failing, ignore, done, progress: regular expressions; named: a program of the readiness table.
    resume: None for a look on its own; else what an equal look answered as `resume` (or {}): this one reads on from there.
    A missing or unreadable file is told as `state`, with what is known of the process.
    """
    asked = {"path": path, "mark": mark, "since": since, "process": process}
    patterns = {
        "ready": ready,
        "named": named,
        "failing": failing,
        "ignore": ignore,
        "done": done,
        "progress": progress,
    }
    try:
        return _inspect(place, asked, patterns, resume)
    except Anew:
        return _inspect(place, asked, patterns, {})


class Anew(Exception):
    """What the bookmark rests on is no longer so: the log is to be read as if for the first time."""


def _inspect(place, asked, patterns, resume):
    path, mark, since, process = asked["path"], asked["mark"], asked["since"], asked["process"]
    facts = {"path": os.fspath(path), "now": place.now(), "process": _process(place, process), "state": None}
    try:
        with place.open(path) as file:
            info = os.fstat(file.fileno())
            text = reading.read(place, file, path, info, mark, resume)
            facts["mark"] = _mark(place, file, info, text)
    except FileNotFoundError:
        facts.update(state="missing", coverage=_coverage(None))
        return facts
    except OSError as error:
        import errno

        if error.errno not in (errno.EACCES, errno.EPERM):
            raise
        facts.update(state="unreadable", why="permission denied", cause="permission", coverage=_coverage(None))
        return facts
    facts["file"] = {
        "size": info.st_size,
        "inode": info.st_ino,
        "device": info.st_dev,
        "mtime": info.st_mtime,
        "age": facts["now"] - info.st_mtime,
        "free": _free(path),
    }
    facts["rotated"], facts["followed"], facts["encoding"] = text.rotated, text.followed, text.encoding
    facts["coverage"] = _coverage(text)
    if text.binary:
        facts.update(state="unreadable", why=text.binary, cause="unsupported")
        return facts
    began, facts["since"] = _began(facts, mark, since)
    facts["tied"] = "mark" if mark is not None else _tie(place, path, facts, text, began)
    if facts["tied"] == "before" and since is not None:
        text.pieces = []
    _must_agree(text, facts, began)
    told = _Told(patterns, text, wanted=resume is not None)
    facts["text"], facts["blank"] = told.facts, told.blank
    place.progress(text.examined, text.size)
    if mark is None:
        _follow(place, path, facts, text, began, since, patterns)
    facts["lines_before"], facts["begins"] = text.lines_before, text.begins
    if resume is not None:
        facts["resume"] = _bookmark(place, path, info, text, told, facts, began) or text.taken_up or {}
    _computing(place, facts, process)
    _kernel(place, facts)
    return facts


def _free(path):
    """Bytes that the log's file system still takes; None where it does not say."""
    try:
        told = os.statvfs(path)
    except OSError:
        return None
    return told.f_bavail * told.f_frsize if told.f_blocks else None


class _Told:
    """What a text tells: `facts`, and whether it is `blank`.

    Where wanted also `kept`, what had been told before the bytes near the end: the last `behind` bytes, from `line` on.
    """

    def __init__(self, patterns, text, wanted=False):
        self.story, self.kept, self.behind, self.line = _story(patterns), None, 0, None
        taken = text.taken_up
        if taken:
            bookmark.take_up(self.story, taken)
        for number, data, _ in text.pieces[:-1]:
            self.story.feed(number, data)
        for number, data, which in text.pieces[-1:]:
            self.story.feed(number, data, self._settled(data) if wanted and not which else None)
        self.facts = tell(self.story, patterns["named"])
        self.blank = (not taken or taken["blank"]) and _blank(text.pieces)

    def _settled(self, data):
        def settled(place, number):
            if place:
                self.kept, self.behind = bookmark.taken(self.story), len(data) - place
                self.line = number if self.story.counted else None

        return settled


def _story(patterns):
    names = ("ignore", "failing", "ready", "done", "named", "progress")
    return Story(*(patterns[name] for name in names))


def _told(pieces, patterns):
    story = _story(patterns)
    for number, data, _ in pieces:
        story.feed(number, data)
    return tell(story, patterns["named"])


def _blank(pieces):
    """Whether the program itself has written nothing: blanks, NULs, the line of its launcher."""
    return not any(LAUNCHER.sub(b"", data[:4096]).strip(BLANKS) or data[4096:].strip(BLANKS) for _, data, _ in pieces)


# From one look to the next.


def _bookmark(place, path, info, text, told, facts, began):
    """All that the next look needs to read on from where this one's last bytes begin; None where there is nothing to gain."""
    if told.kept is None or text.with_earlier:
        return None
    try:
        with place.open(path) as file:
            again = os.fstat(file.fileno())
            same = (again.st_dev, again.st_ino) == (info.st_dev, info.st_ino) and again.st_size >= info.st_size
            row = reading.bookmark_at(file, info, text, told.behind) if same else None
    except OSError:
        return None
    if row is None:
        return None
    line = None if told.line is None else told.line - text.lines_before
    row.update(told.kept, line=line, blank=facts["blank"], tied=facts["tied"], zone=text.zone, began=began)
    row.update(() if text.when is None else {"when": text.when})
    return row


def _must_agree(text, facts, began):
    """Raises Anew unless the tie to the run is the one that the bookmark rests on."""
    taken = text.taken_up
    if taken is None:
        return
    same_run = began == taken["began"] or (None not in (began, taken["began"]) and abs(began - taken["began"]) < 1)
    if not same_run or (facts["tied"], text.zone) != (taken["tied"], taken["zone"]) or not text.pieces:
        raise Anew


# Through a rotation without a mark.


def _follow(place, path, facts, text, began, since, patterns):
    """Takes in what was rotated away since the run began, where this file holds nothing from before it.

    A failure there that no times tie to the run is left out, and told as `passed_over`, if the run may have begun anew
    since: its process lives, or no launch time was given.
    """
    alone = facts["text"]
    if text.cut or (began is None and (alone["run_start"] or facts["blank"])):
        return
    text.when = began - 1 if began is not None else _file_began(place, path, facts, text)
    chain = reading.predecessors(place, path)
    when, tied = text.when, None
    for where in chain:
        if when is None or reading.written(place, where) < when:
            break
        if text.taken_up:
            raise Anew
        text.with_earlier = True
        found = reading.ending(place, where, text)
        if found is None or reading.what_else(found.head) is not None:
            break
        if not _take(place, facts, text, found, began, since, patterns):
            break
        tied = facts["tied_earlier"]
        when = _goes_back(place, found, tied, when, began, patterns)
    if tied is None:
        return
    facts.update(text=_told(text.pieces, patterns), blank=False, rotated="rotated", followed=text.followed)
    facts.update(coverage=_coverage(text))
    if tied != "time" and alone["asked_ready"]:  # the line that is this run's for certain
        facts["text"]["asked_ready"] = alone["asked_ready"] + (text.lines_before or 0)


def _take(place, facts, text, found, began, since, patterns):
    """Puts what was rotated away in front; False where it is none of this run's, as far as that can be told."""
    tied = _tie_of_earlier(place, facts, found, began)
    piece = [(found.number, found.data, found.path)]
    if _blank(piece):
        return False
    state = (facts["process"] or {}).get("state", "gone" if since is not None else None)
    if tied != "time" and state not in ("gone", "zombie") and _told(piece, patterns)["failure"]:
        facts["passed_over"] = found.path
        return False
    text.take_before(found, 0 if found.cut else found.start)
    facts["tied_earlier"] = tied
    return True


def _goes_back(place, found, tied, when, began, patterns):
    """When a file before this one must have been written to, to be of the run as well; None where the run began in this one."""
    if began is not None:
        return None if found.cut or tied == "written" else when
    piece = (found.number, found.data, found.path)
    if found.start or _told([piece], patterns)["run_start"]:
        return None
    first, zone = _first_stamp(found.data, 0), _zone([piece], found.mtime)
    born = first[0] - zone if first is not None and zone is not None else reading.born(place, found.path)
    return born - GOES_ON if born is not None else None


def _file_began(place, path, facts, text):
    """When the other file must at least have been written to, for this one to go on where it ended: a minute before."""
    if text.taken_up:
        if "when" not in text.taken_up:
            raise Anew
        return text.taken_up["when"]
    data = text.pieces[0][1] if text.pieces else b""
    first, zone = _first_stamp(data, 0), _zone(text.pieces, facts["file"]["mtime"])
    born = first[0] - zone if first is not None and zone is not None else reading.born(place, path)
    return born - GOES_ON if born is not None else None


def _tie_of_earlier(place, facts, found, began):
    """What ties a rotated file to the run, in a word of `_tie`; cuts off what was written before it, where times tell."""
    if began is None:
        return ""
    piece = (found.number, found.data, found.path)
    zone = _zone([piece], found.mtime)
    if zone is not None:
        kept = _since([piece], began + zone)
        found.cut_before(found.start + len(found.data) - sum(len(data) for _, data, _ in kept))
        return "time"
    if facts["tied"] != "born" or found.path.endswith(reading.PACKED):
        return "written"  # a copy is younger than what it holds
    born = reading.born(place, found.path)
    return "born" if born is not None and born >= began - 1 else "written"


def _coverage(text):
    if text is None:
        return {"bytes": 0, "of": 0, "read": 0}
    return {
        "bytes": text.examined,
        "of": text.size + text.earlier,
        "before_mark": text.start,
        "skipped": text.skipped,
        "read": text.read,
    }


def _mark(place, file, info, text):
    """What `since=` takes to go on from here: an entry of a Mark, and the number of the line where it goes on."""
    import zlib

    file.seek(0)
    head = file.read(1024)
    return {
        "device": info.st_dev,
        "inode": info.st_ino,
        "size": info.st_size,
        "now": place.now(),
        "crc": zlib.crc32(head),
        "head": len(head),
        "line": text.ends_at,
    }


def _process(place, process):
    """What `processes.find` tells, less its lists; what could not be seen is told as `unseen`."""
    if process is None:
        return None
    try:
        found = processes.find(place, process)
    except CannotSee as error:
        return {"state": None, "unseen": error.reason, "cause": error.cause}
    kept = (
        "state",
        "how",
        "pid",
        "command",
        "started",
        "age",
        "why",
        "exit_status",
        "matched",
        "recycled",
        "tree_cpu_seconds",
    )
    return {key: found[key] for key in kept if key in found}


# Which part of the text is this run's.


def _began(facts, mark, since):
    """When this run began, and who says so: the caller, or the process's own start."""
    if mark is not None:
        return None, mark["now"]
    if since is not None:
        return since, since
    process = facts["process"]
    if process and process.get("started") and process["state"] not in (None, "gone", "zombie"):
        return process["started"] - SLACK, process["started"]
    return None, None


def _tie(place, path, facts, text, began):
    """What ties the text to the run, in a word; cuts off what was written before it, where that can be told.

    "before": nothing was written since.  "time": by the times written in it.  "born": the file is younger than the run.
    "written": it was written to since, but which part is new can't be told.  "": nothing ties it.
    """
    if began is None:
        return ""
    if facts["file"]["mtime"] < began - 1:
        return "before"
    last, written = _last_stamp(text.pieces), facts["file"]["mtime"]
    text.zone = zone = clock.ahead_of(last, written)
    ahead = clock.at_least_ahead(last, written) if zone is None else zone
    if ahead is not None:
        before, text.pieces = text.pieces, _since(text.pieces, began + ahead)
        if text.taken_up and text.pieces != before:
            raise Anew
        text.cut = text.cut or text.pieces != before
    if zone is not None:
        return "time"
    made = reading.born(place, path)
    return "born" if made is not None and made >= began - 1 else "written"


def _zone(pieces, written):
    """By how much the times in some text are ahead of the host's clock, by its last one; None if they don't serve."""
    return clock.ahead_of(_last_stamp(pieces), written)


def _last_stamp(pieces):
    for _, data, _ in pieces[-1:]:
        for raw in reversed(data[-8192:].split(b"\n")):
            text = raw.decode("utf-8", "replace")
            found = clock.stamp(text)
            if found and not clock.spoken_of(text):
                return found
    return None


def _since(pieces, when):
    """The pieces without the lines whose times are before `when`."""
    kept = []
    for number, data, which in pieces:
        low, high = 0, len(data)
        while high - low > 256:
            middle = data.rfind(b"\n", low, (low + high) // 2) + 1
            middle = middle if middle > low else data.find(b"\n", (low + high) // 2, high) + 1
            if middle <= low or middle >= high:
                break
            stamp = _first_stamp(data, middle)
            if stamp is not None and stamp[0] < when:
                low = middle
            else:
                high = middle
        low = _line_at(data, low, when)
        if data[low:]:
            kept.append((number + data.count(b"\n", 0, low) if number is not None else None, data[low:], which))
    return kept


def _first_stamp(data, position):
    for raw in data[position : position + 16384].split(b"\n")[:60]:
        stamp = clock.stamp(raw[:200].decode("utf-8", "replace"))
        if stamp is not None and stamp[1]:
            return stamp
    return None


def _line_at(data, low, when):
    """The first line from `low` on that does not bear an earlier time; lines without one go with the line after them."""
    kept = low
    position = low
    for raw in data[low : low + 65536].split(b"\n"):
        stamp = clock.stamp(raw[:200].decode("utf-8", "replace"))
        position += len(raw) + 1
        if stamp is not None and stamp[1]:
            if stamp[0] >= when:
                break
            kept = position
    return min(kept, len(data))


# What only the process and the kernel know.


def _computing(place, facts, process):
    """Adds `cpu` (cores in use right now) to a live process whose log is quiet: it may be buffering."""
    found = facts["process"]
    quiet = facts["blank"] or facts["file"]["age"] > QUIET or facts["tied"] == "before"
    if not found or found["state"] not in ("running", "sleeping", "disk_sleep") or not quiet:
        return
    import time

    time.sleep(SAMPLE)
    again = _process(place, process)
    if again and again.get("pid") == found["pid"] and again.get("tree_cpu_seconds") is not None:
        found["cpu"] = round(max(0.0, again["tree_cpu_seconds"] - found["tree_cpu_seconds"]) / SAMPLE, 2)


def _kernel(place, facts):
    """Adds `oom`: the kernel's word on who was killed for want of memory, where a death is to be explained."""
    found, failure = facts["process"], facts["text"]["failure"]
    gone = found is not None and found["state"] in ("gone", "zombie") and not facts["text"]["done"]
    if not ((gone and failure is None) or (failure and failure["kind"] == "killed")):
        return
    told = processes.oom_kills(place, since=facts["since"], pid=found["pid"] if found else None)
    pids = {found and found.get("pid"), failure and failure["pid"]} - {None}
    kills = [kill for kill in told["kills"] if kill["pid"] in pids]
    facts["oom"] = {"kills": kills[:4], "all": told["count"], "readable": told["readable"]}
