# ruff: noqa: E501
"""What a log tells, line by line: signs of failure, tracebacks, progress, ready and end markers, ordered stops.

Most lines of a log are copies of one another but for their numbers.  Digits are folded, and a form is examined when it
is first seen; later copies cost one look into a dict.  Only what carries digits that matter (an errno, an exit code)
is looked at each time.
"""

import collections
import re

from verikit.probes.logs import clock, tables
from verikit.probes.logs.envelopes import Line, decode, plain, undress

FOLD = bytes(48 if 48 <= code <= 57 else code for code in range(256))
FORMS = 20000
"""Forms kept; a log of more (free text) is still read, each new line anew."""

SMALL = 600
NEAR_END = 65536
"""Forms, and bytes before the end, that are always examined; the others only if they have one of the words below."""

# A line without any of these says nothing that the tables know. The tests hold every row of the tables to it.
HINTS_OF_SENSE = (
    b"rror", b"xcep", b"raceback", b"ail", b"ill", b"rrno", b"ault", b"bort", b"emory", b"tep", b"poch", b"ter",
    b"/", b"one", b"inish", b"omplete", b"eady", b"isten", b"tart", b"unning", b"ignal", b"SIG", b"nterrupt", b"%",
    b"Connected", b"success", b"RAM", b"ound", b"enied", b"uota", b"NCCL", b"ncc", b"Xid", b"GPU", b"panic", b"GGML",
    b"c10d", b"TCPStore", b"hut", b"it [", b"ync", b"ample", b"hard", b"oss", b"batch", b"nohup", b"Kill",
    b"CANCEL", b"exit", b"imed", b"rocess", b"raining", b"During", b"direct cause", b"```", b"~~~", b"<|", b"BEGIN", b"END",
    b"NaN", b"nan", b"inf", b"Unauth", b"token", b"roup", b"--- ", b"=== ", b"done", b"Ray ", b"orch", b"open file",
    b"equest", b"shut", b"Bye", b"bye", b"saved", b"wrote", b"Saved", b"is running", b"retr", b"Retr", b"aiting", b"ttempt",
    b"utput", b"esponse", b"ompletion", b"nswer", b"odel", b"Init", b"ointer", b"ull ", b"lost", b"rompt", b"task",
    b"item", b"file", b"doc", b"chunk", b"row", b"page", b"Aborted", b"ssert", b"Error", b"stop", b"real\t", b"^C", b"heckpoint",
    b"rmse", b"logloss", b"bandwidth", b"exec", b"INVALID", b"Exit", b"ould not", b"nknown", b"issing", b"merging", b"config", b"-> ", b"top", b"nvalid", b"ncorrect",
)  # fmt: skip


def _rows(rows):
    return [(row[0], row[1], re.compile(row[2]), row[3], row[4]) for row in rows]


def _gated(rows, column):
    """Rows whose patterns are searched: (id, role, search, words, program); one that begins with ^ is only matched."""
    gated = []
    for row in rows:
        pattern = re.compile(row[2])
        try_ = pattern.match if row[2].startswith("^") else pattern.search
        gated.append((row[0], row[1], try_, tuple(word for word in row[column].split("|") if word), row[3]))
    return gated


def _may(words, text):
    """Whether a text has one of the words that a row needs."""
    return not words or any(word in text for word in words)


EXCEPTIONS, SIGNS, BENIGN = _rows(tables.EXCEPTIONS), _rows(tables.SIGNS), _gated(tables.BENIGN, 3)
MARKERS, PROGRESS, PHASES = _rows(tables.MARKERS), _gated(tables.PROGRESS, 3), _rows(tables.PHASES)
BANNERS = [row[2] for row in MARKERS if row[1] == "start"]
SAID = [row for row in MARKERS if row[1] in ("ready", "done", "began")]
ANCHORED = {row[0] for row in tables.PROGRESS if row[2].startswith("^")}
PROGRAMS = _gated([row for row in tables.MARKERS if row[1] == "program"], 4)
NOT_DONE, BEGINS_AGAIN = re.compile(tables.NOT_DONE), re.compile(tables.BEGINS_AGAIN)
SETUP, HEARTBEAT = re.compile(tables.SETUP), re.compile(tables.HEARTBEAT)
FENCE_OPEN, FENCE_CLOSE = re.compile(tables.FENCE_OPEN + r"\s*$"), re.compile(tables.FENCE_CLOSE + r"\s*$")
QUOTES = re.compile(tables.QUOTES)

HEADER = re.compile(
    r"(?P<before>.{0,160}?)(?:\+ )?(?P<group>Exception Group )?Traceback \((?:most recent call last|innermost last)\):\s*$"
)
RICH = re.compile(r"\u256d\u2500+ Traceback ")
EXC = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?::(?:\s|$)|$)")
BARE = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Timeout|Failure)(?:: \S|:?$)")
FRAME = re.compile(r'\s*File "(?P<file>[^"\n]{1,500})", line (?P<line>\d+)(?:, in (?P<name>\S+))?')
FOREIGN = re.compile(
    r"site-packages|dist-packages|/lib/python3|<frozen|<string>|<__array_function__|/lib64/python|importlib|sgl-workspace|vllm/|/torch/"
)
GUTTER = re.compile(r"^(?: *[|+](?:-+\+?-*)? ?)+")
LEAF = re.compile(r"^ *(?:\| )*\+[-+]+ \d+ -+")
LINK = re.compile(
    r"(?:During handling of the above exception, another exception occurred|The above exception was the direct cause of the following exception):?$"
)
PREFIX = re.compile(r"(?:[\w./<>-]{1,60}: ){1,2}")
MESSAGE_LINES = 40
LOSS = re.compile(
    r"(?<![\w/])(?:(?:train|lm|training|avg|mean|total|policy|sft|ce)[/_ ]?)?[Ll]oss[\"']?(?: *[:=] *| +)[\"']?(?P<value>[-+]?(?:nan|NaN|NAN|inf|Inf|INF|\d[\d.]*(?:[eE][-+]?\d+)?))(?![\w/])"
)
GRAD = re.compile(
    r"(?:grad[ _-]?norm|gnorm|grad_norm|gradient norm|gn)[\"']?(?: *[:=] *| +)[\"']?(?P<value>[-+]?(?:nan|NaN|inf|Inf|\d[\d.]*(?:[eE][-+]?\d+)?))(?![\w/])"
)
SPEED = re.compile(
    r"(?P<value>\d[\d.,]*) ?(?P<unit>(?:tok(?:en)?s?|samples?|it|ex|examples|steps?|TFLOP|imgs?|seq)/(?:s|sec|second|GPU)\b)"
)
BAD = re.compile(r"nan|inf", re.I)
# An engine with work that moves none: vLLM's and SGLang's own statistics.
STATS = (
    re.compile(
        r"generation throughput: (?P<speed>[\d.]+) tokens/s, Running: (?P<running>\d+) reqs, Waiting: (?P<waiting>\d+)"
    ),
    re.compile(
        r"#running-req: (?P<running>\d+),.{0,120}gen throughput \(token/s\): (?P<speed>[\d.]+), #queue-req: (?P<waiting>\d+)"
    ),
)
SKIPPED = re.compile(r"skipped iterations: +([1-9]\d*)")

WATCHED = ("oss", "grad", "gnorm", "throughput")
DIGITS_MATTER = (b"rrno", b"xit", b"Xid", b"signal", b" code")

ENGINE = 2
"""Marks the plan of an engine's statistics: when they are idle, each counts."""

WAITING = 128
"""Counting lines in a row that are read; of the earlier ones it is enough that they are there."""

LOUD = 500
"""Signs of failure behind which a line of level ERROR is no longer searched through."""

KEPT = 400
"""Events of one kind kept: the first and the last half."""


ORDER = {"fatal": 0, "root": 0, "plain": 0, "unclear": 1, "cascade": 2, "messenger": 3, "weak": 4}
EXIT = re.compile(r"exit ?code\)? ?[:=]? ?(-?\d+)|\bsignal:? (\d+)|\(exitcode: (-?\d+)|return code = (-?\d+)")
EXITS = {9: "killed", 11: "segfault", 6: "segfault", 4: "segfault", 7: "bus_error_shm", 15: "killed"}
PID = re.compile(r"\bpid[=:]? ?'?(\d+)|Killed process (\d+)|: line \d+: +(\d+) [KSAB]")


class Kept(list):
    """A list that keeps its first and last elements and counts them all."""

    total = 0

    def append(self, item):
        self.total += 1
        if len(self) >= KEPT:
            del self[KEPT // 2]
        list.append(self, item)


class Block:
    """One traceback, with the exceptions chained to it."""

    def __init__(self, line, group, before):
        self.first, self.key, self.level = line.number, line.key, line.level
        self.dressed, self.last = bool(line.dressed), line.number
        self.rank, self.pid, self.source = line.rank, line.pid, line.source
        self.group, self.before = group, before
        self.errors, self.frames, self.message, self.wanted, self.after, self.linked = [], [], [], 1, 0, False
        self.contained = self.teardown = False
        self.indent = len(line.text) - len(line.text.lstrip(" "))

    @property
    def open(self):
        return len(self.errors) < self.wanted


class Story:
    """What has been told so far. `feed` takes pieces in order; `tell` the facts."""

    def __init__(self, ignore=(), failing=(), ready=(), done=(), program="", progress=()):
        self.ignore, self.failing = [re.compile(one) for one in ignore], [re.compile(one) for one in failing]
        self.ready_patterns, self.done_patterns = [re.compile(one) for one in ready], [re.compile(one) for one in done]
        self.own_progress = [re.compile(one) for one in progress]
        self.own = bool(failing or ready or done or progress)
        self.opening, self.last_form, self.last = [], None, 0
        self.waiting = collections.deque(maxlen=WAITING)
        self.forced = program
        self.lines, self.forms, self.tail, self.at_end, self.counted, self.runs = 0, {}, [], True, True, 0
        self.reset(0)

    def reset(self, number):
        """A run begins: what was told before belongs to an earlier one."""
        self.signs, self.progress, self.markers, self.stops = Kept(), Kept(), Kept(), Kept()
        self.retries, self.retry_forms = Kept(), {}
        self.blocks, self.fence = {}, None
        self.run_start = number
        self.runs += 1
        self.programs, self.wanted_ready, self.previous = {}, None, None
        self.trace_excuse = -10
        self.contains = Kept()
        self.losses = {"ok": 0, "bad_since": None, "bad": 0, "bad_grad": 0, "kind": "", "last": None}
        self.stats = {"idle": 0, "since": None}
        self.training, self.elastic = {}, {}

    # Reading.

    def feed(self, number, data):
        """Takes one piece of whole bytes in; `number` is that of its first line (None where it is not known)."""
        position, last = 0, len(data)
        counted = number is not None
        number = number or 1
        while position < last:
            end = data.find(b"\n", min(position + (65536 if last - position < 131072 else 262144), last))
            end = last if end < 0 else end
            self.near_end = position >= last - NEAR_END
            chunk = data[position:end]
            number = self._chunk(number, chunk.split(b"\n"), chunk.translate(FOLD).split(b"\n"))
            position = end + 1
        self.counted = counted
        self.at_end = data[-1:] == b"\n"

    def _chunk(self, number, lines, forms):
        known, waiting = self.forms, self.waiting
        for raw, form in zip(lines, forms):
            if len(self.opening) < 2:
                self._note_opening(form)
            elif form == self.opening[1]:
                self._opens_again(number)
            self.last_form = form
            plan = known.get(form)
            if plan.__class__ is tuple and not self.blocks and self.fence is None:
                waiting.append((number, raw, plan))
                if plan[4] == ENGINE and b": 0.0" in raw:
                    self._catch_up()
            elif plan is not False or self.blocks or self.fence is not None:
                self._catch_up()
                if plan is None:
                    self._learn(number, raw, form)
                else:
                    self._line(number, raw, quiet=plan is False)
            if self.own:
                self._user(number, raw)
            number += 1
        self.lines, self.last = self.lines + len(lines), number - 1
        self.tail = (self.tail + lines[-40:])[-40:]
        return number

    def _note_opening(self, form):
        """Notes the forms of the first two lines: a program begins with the same words each time."""
        if form.strip() and not form.startswith((b" ", b"Traceback")) and form not in self.opening:
            self.opening.append(form)

    def _opens_again(self, number):
        """A crash, and then the log's two first lines once more: another run."""
        if self.last_form == self.opening[0] and number - self.run_start > 3 and self._crashed():
            self._catch_up()
            self.reset(number - 1)

    def _crashed(self):
        blocks = any(block.errors for block in self.blocks.values())
        return blocks or any(sign["role"] in ("root", "plain", "fatal", "messenger") for sign in self.signs[-3:])

    def _catch_up(self):
        """Reads the counters that wait. Of a long row of them only the last are still there: the others said as much."""
        while self.waiting:
            self._again(*self.waiting.popleft())

    def _learn(self, number, raw, form):
        """Meets a form: what its later copies need is one of False (nothing), True (a full look), or a plan."""
        short = raw if len(raw) <= 16384 else raw[:8192] + raw[-8192:]
        few = len(self.forms) < SMALL or self.near_end
        if not few and not any(word in short for word in HINTS_OF_SENSE):
            plan = False
            if self.blocks or self.fence is not None:
                self._line(number, raw, quiet=True)
        else:
            plan = self._line(number, raw)
        if len(self.forms) < FORMS:
            again = plan is not False and not isinstance(plan, tuple) and any(word in short for word in DIGITS_MATTER)
            self.forms[form] = True if again else plan

    def _again(self, number, raw, plan):
        """A copy of a line that only counts something: its digits are read, nothing else."""
        name, role, search, setup, watched = plan
        text = plain(decode(raw))
        found = search(text)
        if found:
            of = found.groupdict()
            self._count(number, name, role, of.get("n"), of.get("of"), of.get("epoch"), setup, text[: clock.LOOKED_AT])
        if watched:
            self._watch(Line(number, text, text, None, None, None, 0, ()), name)

    def _line(self, number, raw, quiet=False):
        """Reads one line; answers what its form's later copies need."""
        if not raw.strip():
            self.previous = None
            return False
        for block in list(self.blocks.values()):
            if number - block.last > (300 if block.open else MESSAGE_LINES):
                self._close(block)
        line = undress(number, raw)
        if "\n" not in line.text:
            return self._say(line, quiet)
        for text in line.text.split("\n"):
            line.text = text
            self._say(line, False)
        return True

    # One message.

    def _say(self, line, quiet):
        text = line.text
        stripped = text.strip()
        if not stripped:
            return False
        if self._fenced(stripped, line) or self._in_block(line, text, stripped):
            return None if quiet is False else False
        header = HEADER.match(text) if "Traceback (" in text else None
        plan = True
        if not (header and self._header(line, header)) and not quiet:
            plan = self._message(line, stripped)
        self.previous = line
        return plan

    def _fenced(self, stripped, line):
        """Text that the job wrote for somebody: between fences, nothing counts."""
        if self.fence is None:
            if len(stripped) < 100 and stripped[0] in "`~<-=>[" and FENCE_OPEN.match(stripped) and not line.dressed:
                self.fence = line.number
                return True
            return False
        if FENCE_CLOSE.match(stripped):
            self.fence = None
            return True
        if line.number - self.fence > 400 or line.level or len(line.dressed) > 0:
            self.fence = None  # nobody closed it: the program speaks again
            return False
        return True

    # Tracebacks.

    def _header(self, line, header):
        before = header.group("before").strip(" |+")
        text = line.text
        indented = len(text) - len(text.lstrip(" ")) > 1 and not header.group("group")
        if len(before) > 140 or (indented and not self._group_of(line)):
            return False
        if before.startswith((">", "|", '"', "'", "#")):
            return False
        quoted = (
            self.previous is not None
            and QUOTES.match(self.previous.text.strip())
            and line.number - self.previous.number < 2
        )
        block = self._group_of(line) or self.blocks.get(line.key)
        if block is not None and not block.group and block.open and block.frames == [] and not block.linked:
            block.wanted += 1  # two woven together, told apart by nothing
            return True
        if block is not None and (block.linked or block.group):
            block.linked = False
            block.wanted = len(block.errors) + 1
            block.last = line.number
            return True
        if block is not None:
            self._close(block)
        block = Block(line, bool(header.group("group")), before)
        block.teardown = line.number - self.trace_excuse <= 2
        block.contained = bool(quoted)
        around = (
            before
            + " "
            + (self.previous.text[:300] if self.previous and line.number - self.previous.number < 3 else "")
        )
        for name, role, search, _, _ in BENIGN:
            if role in ("contain", "retry") and search(around):
                block.contained = True
            if role == "line" and name in ("expected", "ignored") and search(around):
                block.teardown = True
        if any(one.search(around) for one in self.ignore):
            block.teardown = True
        self.blocks[line.key] = block
        return True

    def _group_of(self, line):
        block = self.blocks.get(line.key)
        return block if block is not None and block.group else None

    def _in_block(self, line, text, stripped):
        """Whether the line belongs to an open traceback; takes it in if so."""
        block = self.blocks.get(line.key)
        if block is None and text[:2] == "  " and text.lstrip().startswith('File "'):
            block = self._adopt(line)
        if block is None:
            return False
        if block.group:
            return self._in_group(block, line, text)
        if stripped.startswith(("During handling", "The above exception was")) and LINK.match(stripped):
            block.linked, block.last = True, line.number
            return True
        if not block.open:
            return self._after(block, line, text, stripped)
        if text[:1] in " \t":
            self._frame(block, line, text)
            return True
        if line.number - block.last > 60:
            self._close(block)
            return False
        if (line.level or line.dressed) and not block.dressed:
            return False  # somebody else's line, woven in
        if EXC.match(stripped) and not HEADER.match(text):
            return self._error(block, line, stripped)
        return False

    def _adopt(self, line):
        """A traceback whose header was dressed and whose frames are bare."""
        for key, block in self.blocks.items():
            if not block.frames and not block.errors and line.number - block.first <= 2:
                del self.blocks[key]
                block.key, block.dressed = line.key, bool(line.dressed)
                self.blocks[line.key] = block
                return block
        return None

    def _frame(self, block, line, text):
        block.last = line.number
        found = FRAME.match(text)
        if found and len(block.frames) < 200:
            block.frames.append(
                (found.group("file"), int(found.group("line")), found.group("name") or "", len(block.errors))
            )

    def _error(self, block, line, stripped):
        block.last = line.number
        if re.match(r"(?:ray\.exceptions\.)?RayTaskError\S*: ray::", stripped):
            return True  # its remote frames follow, then the exception itself
        block.errors.append((line.number, stripped[:2000], line.raw[:1000], line.rank, line.pid))
        if not block.open:
            block.after = 0
        return True

    def _after(self, block, line, text, stripped):
        """Behind the exception's line: its further lines, a chained traceback, or somebody's next message."""
        block.after += 1
        if len(block.message) < 6 and not line.dressed:
            block.message.append(stripped[:300])
        if block.after > MESSAGE_LINES or line.number - block.last > 200:
            self._close(block)
            return False
        if "Traceback (" in text and HEADER.match(text):
            return False
        if (line.dressed and not block.dressed) or (line.level > 0 and line.level < 40):
            return False
        return text[:1] in " \t" and line.number - block.last < 4

    def _in_group(self, block, line, text):
        if HEADER.match(text):
            return False
        if LEAF.match(text):
            block.last = line.number
            return True
        found = GUTTER.match(text)
        if not found:
            if text[:1] in " \t":
                return True
            self._close(block)
            return False
        inner = text[found.end() :]
        block.last = line.number
        if inner[:1] in " \t":
            self._frame(block, line, inner)
        elif EXC.match(inner.strip()) and not HEADER.match(inner):
            block.wanted += 1
            self._error(block, line, inner.strip())
        return True

    def _close(self, block):
        self.blocks.pop(block.key, None)
        if block.errors:
            self._finish(block)

    def _finish(self, block):
        number, text, raw, rank, pid = block.errors[0]
        if block.group:
            leaves = [error for error in block.errors if "ExceptionGroup" not in error[1][:60]]
            number, text, raw, rank, pid = (leaves or block.errors)[0]
        kind, role, name, hint = kind_of_exception(text)
        if role in ("messenger", "cascade", "weak") and not block.group:
            told = [(kind_of_exception(error[1]), error) for error in block.errors]
            (kind, role, name, hint), (number, text, raw, rank, pid) = min(
                told, key=lambda pair: ORDER.get(pair[0][1], 9)
            )
        for further in block.message if role == "plain" else ():
            other = kind_of_exception("%s: %s" % (text.split(":")[0], further))
            if other[1] != "plain":
                kind, role, name, hint = other
                break
        head = block.errors[-1]
        excused = any(one.search(error[1]) for error in block.errors for one in self.ignore)
        sign = {
            "line": number, "end": max(block.last, head[0]), "first": block.first, "kind": kind, "role": role, "id": name,
            "text": raw or text, "rank": rank if rank is not None else block.rank, "pid": pid if pid is not None else block.pid,
            "hint": hint, "level": block.level, "trace": True, "exception": text.split(":")[0][:120],
            "head": head[1][:300] if head[0] != number else "", "frame": own_frame(block.frames),
            "contained": block.contained, "uncaught": uncaught(block), "woven": len(block.errors),
        }  # fmt: skip
        if block.teardown or excused:
            return
        self.signs.append(sign)

    # Messages.

    def _message(self, line, text):
        """Looks for everything a message can mean; answers the plan for its copies."""
        banner = self._banner(text)
        if banner and line.number - self.run_start > 1 and self._told_something():
            self.reset(line.number)
        excuses = self._excuses(line, text)
        self._program(line, text)
        if "rank" in text or "exitcode" in text:
            self._elastic(text)
        marker = self._marker(line, text)
        sign = None if marker == "ready" else self._sign(line, text, excuses)
        counted = None
        if sign is None and line.level < 40 and not ("retry" in excuses and HEARTBEAT.search(text)):
            counted = self._counter(line, text)
        if "retry" in excuses or (sign and sign["role"] == "soft"):
            self._retry(line, text)
            return True
        if banner or marker or sign or excuses & {"stop", "trace", "contain"}:
            return True
        return counted or False

    def _excuses(self, line, text):
        roles = set()
        for _, role, search, words, _ in BENIGN:
            if _may(words, text) and search(text):
                roles.add(role)
                if role == "trace":
                    self.trace_excuse = line.number
                elif role == "stop" and line.level < 50:
                    self.stops.append(line.number)
                elif role == "contain":
                    self.contains.append(line.number)
        if any(one.search(line.raw) for one in self.ignore):
            roles.add("line")
        return roles

    def _banner(self, text):
        """Whether a run begins here. Repeated by every rank, or before anything was told, it begins nothing new."""
        return any(pattern.match(text) for pattern in BANNERS)

    def _told_something(self):
        return bool(self.progress or self.signs or self.markers or any(b.errors for b in self.blocks.values()))

    def _program(self, line, text):
        for _, _, search, words, program in PROGRAMS:
            if program not in self.programs and _may(words, line.raw) and search(line.raw):
                self.programs[program] = line.number

    def _user(self, number, raw):
        """Patterns that the caller gave: they count as they are, on every line."""
        text = plain(decode(raw))
        for pattern in self.failing:
            if pattern.search(text) and not any(one.search(text) for one in self.ignore):
                line = undress(number, raw)
                self._add(line, "failing", "fatal", kind_of_exception(line.text.strip())[0], "", trace=False)
                break
        for pattern in self.ready_patterns:
            if pattern.search(text):
                self.wanted_ready = self.wanted_ready or number
                self.markers.append((number, "ready", "asked", "", text[:300]))
        for pattern in self.done_patterns:
            if pattern.search(text):
                self.markers.append((number, "done", "asked", "", text[:300]))
        for pattern in self.own_progress:
            found = pattern.search(text)
            if found:
                value = found.groupdict().get("n") or (found.group(1) if found.groups() else "")
                value = value if re.match(r"\d+(?:\.\d+)?$", value or "") else ""
                self._count(number, "asked", "item", value, None, None, False, text[: clock.LOOKED_AT])

    def _marker(self, line, text):
        if line.level >= 40:
            return ""
        for name, role, pattern, program, _ in SAID:
            if pattern.match(text) and not (role == "done" and NOT_DONE.search(text)):
                self.markers.append((line.number, role, name, program, line.raw[:300]))
                return role
        return ""

    def _sign(self, line, text, excuses):
        if excuses & {"line", "retry"} and line.level < 50 and not (excuses == {"retry"} and line.level >= 40):
            return None
        # Foreign text behind thousands of errors is only met at its beginning.
        loud = line.level >= 40 and self.signs.total < LOUD
        bare = BARE.match(text) if not line.level or loud else None
        for name, role, pattern, kind, hint in SIGNS:
            found = pattern.match(text) or (loud and pattern.search(text))
            if not found:
                prefix = PREFIX.match(text)
                found = prefix and pattern.match(text, prefix.end())
            if found:
                if 0 < line.level < 30 and role in ("soft", "messenger", "unclear", "cascade"):
                    return None
                if 0 < line.level < 40 and role in ("root",) and name not in ("kernel-oom", "slurm-oom"):
                    role = "soft"
                if "retry" in excuses or "contain" in excuses:
                    role = "soft"
                return self._add(line, name, role, kind, hint, trace=False)
        if bare and "Warning" not in bare.group():
            kind, role, name, hint = kind_of_exception(text)
            role = {"plain": "bare"}.get(role, role)
            return self._add(line, name, "soft" if excuses & {"contain", "retry"} else role, kind, hint, trace=False)
        if loud and not excuses:
            kind, role, name, hint = kind_of_exception(text)
            return self._add(line, "error-line", "weak", kind, hint, trace=False)
        return None

    def _add(self, line, name, role, kind, hint, trace):
        kind = by_exit(line.text, kind) if name in ("elastic", "exit-code") else kind
        pid = line.pid or next((int(one) for one in _groups(PID, line.text) if len(one) < 10), None)
        sign = {
            "line": line.number, "end": line.number, "first": line.number, "kind": kind, "role": role, "id": name,
            "text": line.raw[:1000], "rank": line.rank, "pid": pid, "hint": hint, "level": line.level,
            "trace": trace, "exception": "", "head": "", "frame": None, "contained": False, "uncaught": False, "woven": 1,
        }  # fmt: skip
        self.signs.append(sign)
        return sign

    def _elastic(self, text):
        found = re.match(r"\s*rank\s+: (\d+)", text)
        if found:
            self.elastic.setdefault("rank", int(found.group(1)))
        found = re.search(r"exitcode\s*: (-?\d+) \(pid: (\d+)\)", text)
        if found:
            self.elastic.setdefault("exitcode", int(found.group(1)))
            self.elastic.setdefault("pid", int(found.group(2)))

    # Counters.

    def _counter(self, line, text):
        """Counts a completed piece of work; answers the plan for copies of the line."""
        for name, role, search, words, _ in PROGRESS:
            found = _may(words, text) and search(text)
            if not found:
                continue
            if name in ("counter", "of", "percent", "shard-file", "epoch", "step") and HEARTBEAT.search(text):
                continue
            groups = found.groupdict()
            setup = bool(SETUP.search(text[: found.start() + 12])) or (role == "bar" and bool(SETUP.search(text[:200])))
            self._count(
                line.number,
                name,
                role,
                groups.get("n"),
                groups.get("of"),
                groups.get("epoch"),
                setup,
                line.raw[: clock.LOOKED_AT],
            )
            break
        else:
            name = ""
        watched = any(word in text for word in WATCHED)
        if watched or name == "megatron":
            self._watch(line, name)
        if not name:
            return True if watched else None
        # Anchored rows see the message only without its envelopes: their copies are read in full.
        if name in ANCHORED or (watched and self.losses["bad"]):
            return True
        return (
            name,
            role,
            search,
            setup,
            ENGINE if "throughput (" in text or "throughput: " in text else watched or name == "megatron",
        )

    def _watch(self, line, name):
        """The job's health by its own figures: losses, gradients, throughput."""
        text = line.raw
        self._loss(line, text, name)
        if "throughput" in text:
            self._engine(line, text)

    def _count(self, number, name, role, n, of, epoch, setup, raw):
        value, whole = float(n) if n else None, float(of) if of else None
        self.progress.append((number, name, role, value, whole, float(epoch) if epoch else 0.0, setup, raw))

    def _loss(self, line, text, name):
        state = self.losses
        found, grad = LOSS.search(text), GRAD.search(text)
        if found is None and not (name == "megatron" and state["ok"] and not SKIPPED.search(text)):
            return
        bad = found is None or BAD.search(found.group("value")) is not None
        bad_grad = grad is not None and grad.group("value").lower().endswith("nan")
        # transformers logs a loss of 0.0 once it is NaN (logging_nan_inf_filter).
        bad = bad or (bad_grad and float(found.group("value")) == 0)
        if grad is not None:
            self.training["grad_norm"] = grad.group("value")
        if found is not None:
            self.training["loss"] = found.group("value")
        speed = SPEED.search(text)
        if speed:
            self.training["throughput"] = "%s %s" % (speed.group("value"), speed.group("unit"))
        if not bad:
            state.update(ok=state["ok"] + 1, bad=0, bad_since=None, bad_grad=0)
            return
        if not state["bad"]:
            state["bad_since"] = (line.number, line.raw[:1000], line.rank)
            value = found and found.group("value")
            words = "the gradient norm is nan, the loss %s" if value and not BAD.search(value) else "the loss is %s"
            state["kind"] = words % value if value else "the loss field has vanished"
        state["bad"] += 1
        state["bad_grad"] += bad_grad

    def _engine(self, line, text):
        for pattern in STATS:
            found = pattern.search(text)
            if not found:
                continue
            stuck = float(found.group("speed")) == 0 and int(found.group("running")) + int(found.group("waiting")) > 0
            if stuck:
                self.stats["since"] = self.stats["since"] or (line.number, line.raw[:500])
                self.stats["idle"] += 1
            else:
                self.stats = {"idle": 0, "since": None}

    def _retry(self, line, text):
        form = re.sub(r"\d+|0x[0-9a-f]+", "0", text)[:60]
        first = self.retry_forms.get(form)
        if first is None and len(self.retry_forms) < 200:
            first = self.retry_forms[form] = [line.number, 0, line.raw[:1000], line.raw[: clock.LOOKED_AT], 0, ""]
        if first is not None:
            first[1] += 1
            first[4], first[5] = line.number, line.raw[: clock.LOOKED_AT]
        self.retries.append(line.number)

    def finish(self):
        """Closes what is still open: the log may end within a traceback."""
        self._catch_up()
        for block in list(self.blocks.values()):
            self._close(block)


def kind_of_exception(text):
    """(kind, role, id, hint) of an exception's line; role "plain" for one that no row knows."""
    for name, role, pattern, kind, hint in EXCEPTIONS:
        if pattern.match(text):
            return kind, role, name, hint
    return "python_exception", "plain", "exception", ""


def _groups(pattern, text):
    found = pattern.search(text)
    return [group for group in found.groups() if group] if found else []


def by_exit(text, kind):
    """The kind that an exit status speaks of: minus the signal, 128 plus the signal, or the signal itself."""
    for group in _groups(EXIT, text):
        status = int(group)
        signal = -status if status < 0 else status - 128 if status > 128 else status if "signal" in text else 0
        return EXITS.get(signal, "python_exception")
    return kind


def own_frame(frames):
    """The innermost frame in the user's own code, of the first exception; the innermost of all if there is none."""
    own = [frame for frame in frames if not FOREIGN.search(frame[0])]
    for frame in reversed(own or frames):
        if frame[3] == 0 or not own:
            return {"file": frame[0][-200:], "line": frame[1], "function": frame[2][:100]}
    return None


def uncaught(block):
    """Whether a traceback can only be one that ended its process: torch's hook for a rank, multiprocessing's for a child."""
    return block.rank is not None and not block.level and block.source is None and block.dressed
