# ruff: noqa: E501
"""Tracebacks in a log: gathered line by line, however ranks are woven, chained, grouped or dressed; and what they name."""

import re

from verikit.probes.logs import tables
from verikit.probes.logs.complaints import excused, excuses, handled
from verikit.probes.logs.envelopes import OF_SPEAKERS, Line
from verikit.probes.logs.rows import BENIGN, EXCEPTIONS, Kept

QUOTES, FOLLOWS = re.compile(tables.QUOTES), re.compile(tables.FOLLOWS)
HEADER = re.compile(
    r"(?P<before>.{0,160}?)(?:\+ )?(?P<group>Exception Group )?Traceback \((?:most recent call last|innermost last)\):\s*$"
)
EXC = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?::(?:\s|$)|$)")
EMPTY = re.compile(r"[\w.]+:\s*$")
BARE = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Timeout|Failure)(?:: \S|:?$)")
FRAME = re.compile(r'\s*File "(?P<file>[^"\n]{1,500})", line (?P<line>\d{1,9})(?:, in (?P<name>\S+))?')
FOREIGN = re.compile(
    r"site-packages|dist-packages|/lib/python3|<frozen|<string>|<__array_function__|/lib64/python|importlib|sgl-workspace|vllm/|/torch/"
)
GUTTER = re.compile(r"^(?: *[|+](?:-+\+?-*)? ?)+")
LEAF = re.compile(r"^ *(?:\| )*\+[-+]+ \d+ -+")
LINK = re.compile(
    r"(?:During handling of the above exception, another exception occurred|The above exception was the direct cause of the following exception):?$"
)

MESSAGE_LINES = 40
"""Lines behind an exception that may still be its message, or lead to one chained to it."""

ABOUT = re.compile(
    r"[Ee]rror|[Ee]xcept|[Ff]ail|[Cc]aught|[Tt]raceback|[Ii]gnored in|[Rr]aise|[Cc]rash|[Rr]etry|[Tt]hread|[Uu]nable|[Cc]ould not|[Cc]annot|refused|Fallback|[Ff]alling back|unavailable|[Nn]ot (?:available|installed)|[Mm]issing"
)
"""What the line above a traceback must speak of for its excuse to be that of the traceback."""

TORN = 40
"""Tracebacks of a teardown that are remembered."""

ROLES = {"fatal": 0, "root": 0, "plain": 0, "bare": 0, "unclear": 1, "cascade": 2, "messenger": 3, "weak": 4}
"""Whose word goes first: causes before effects, effects before messengers."""

CAUSES, EFFECTS = ("root", "fatal", "plain", "bare"), ("weak", "cascade", "messenger", "unclear")

EXIT = re.compile(
    r"exit ?code\)? ?[:=]? ?(-?\d{1,6})\b|\bsignal:? (\d{1,6})\b|\(exitcode: (-?\d{1,6})\b|return code = (-?\d{1,6})\b|\b(?:status|code) (-?\d{1,6})\b"
)
EXITS = {9: "killed", 11: "segfault", 6: "segfault", 4: "segfault", 7: "bus_error_shm", 15: "killed"}
PID = re.compile(r"\bpid[=:]? ?'?(\d+)|Killed process (\d+)|: line \d+: +(\d+) [KSAB]")


FAILED = re.compile(r"\b(?:[Ff]ail(?:ed|ure)|[Cc]ould not|[Cc]annot|[Uu]nable)\b")

STICKY = ("cuda_error", "gpu_hardware", "no_space", "quota")
"""Kinds that meet the next request or sample as well: no handler that goes on to it contains them."""


class Block:
    """One traceback, with the exceptions chained to it."""

    def __init__(self, line, group, before):
        self.first, self.key, self.level = line.number, line.key, line.level
        self.dressed, self.last = bool(line.dressed), line.number
        self.spoken = all(name in OF_SPEAKERS for name in line.dressed)  # by somebody who is named, and no logger
        self.rank, self.pid, self.source = line.rank, line.pid, line.source
        self.group, self.before = group, before
        self.errors, self.frames, self.message, self.wanted, self.after, self.linked = [], [], [], 1, 0, False
        self.prefix = ""  # what stands before each line of it and is no envelope that is known, digits folded
        self.head = None  # the wrapper's exception, where the block is of what it wraps
        self.contained = self.teardown = False
        self.cured = False  # whether a sentence behind it says how the job does without
        self.thread = False  # whether it ended a thread, and the process went on without it
        self.logged = ""  # the line of level ERROR that stands right above it
        self.told = True  # whether the line above it speaks of a failure, so that its excuse is of this one

    def unwrap(self):
        """What has been told so far only passes on what comes now: torch's `Original Traceback` of a worker."""
        self.head = self.head or self.errors[-1]
        self.errors, self.frames, self.message, self.linked = [], [], [], True

    @property
    def open(self):
        return len(self.errors) < self.wanted


class Tracebacks:
    """The part of a story that gathers tracebacks: blocks by who writes them, ended ones among the `signs`."""

    def __init__(self, ignore):
        self.ignore = [re.compile(one) for one in ignore]
        self.forget()

    def forget(self):
        """A run begins."""
        self.blocks, self.signs, self.previous, self.trace_excuse = {}, Kept(), None, -10
        self.torn = []  # first and last lines of tracebacks that only tell how a program is torn down

    # `Story` sets `previous`, the message before, `trace_excuse`, the last line that excused a traceback behind it, and `stops`.

    def _header(self, line, header):
        before = header.group("before").strip(" |+")
        text = line.text
        above = self.previous.text[:300] if self.previous and line.number - self.previous.number <= 1 else ""
        around = before if before.strip() else above  # what a header follows in its own line is its occasion
        indented = len(text) - len(text.lstrip(" ")) > 1 and not header.group("group")
        if len(before) > 140 or (indented and not self._group_of(line) and not (above and excused(above))):
            return False
        if before.startswith((">", "|", '"', "'", "#")):
            return False
        quoted = (
            self.previous is not None
            and not line.level  # a logger's lines are the program's own, whatever it calls them
            and QUOTES.match(self.previous.text.strip())
            and line.number - self.previous.number < 2
        )
        block = self._group_of(line) or self.blocks.get(line.key)
        if block is not None and not block.group and block.open and block.frames == [] and not block.linked:
            block.wanted += 1  # two woven together, told apart by nothing
            return True
        if block is not None and before.endswith("Original") and block.errors:
            block.unwrap()
        if block is not None and (block.linked or block.group):
            block.linked = False
            block.wanted = len(block.errors) + 1
            block.last = line.number
            return True
        if block is not None:
            self._close(block)
        block = Block(line, bool(header.group("group")), before)
        block.logged = above if above and self.previous.level >= 40 else ""
        block.teardown = line.number - self.trace_excuse <= 2
        block.contained = bool(quoted)
        if self._announced(line):
            block.contained = block.cured = quoted = True
        block.thread = "Exception in thread" in around
        for name, role, search, _, _ in BENIGN:
            if role in ("contain", "retry") and excuses(name, search, around):
                block.contained = True
            if role == "line" and name in ("expected", "ignored") and search(around):
                block.teardown = True
        if any(one.search(around) for one in self.ignore):
            block.teardown = True
        block.told = bool(ABOUT.search(around) or quoted)
        block.prefix = folded_digits(header.group("before"))
        self.blocks[line.key] = block
        return True

    def _announced(self, line):
        """Whether the line above says that what comes is of a program that a model wrote."""
        above = self.previous
        return above is not None and line.number - above.number < 2 and FOLLOWS.search(above.text.strip()) is not None

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
        if block.prefix:
            text, stripped = self._bare(block, text)
            if not stripped:
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

    @staticmethod
    def _bare(block, text):
        """A line without what stood before its traceback's header, and stripped; an empty one if it is somebody else's."""
        if folded_digits(text[: len(block.prefix)]) == block.prefix:
            text = text[len(block.prefix) :]
        elif not block.frames:
            block.prefix = ""  # it was only the occasion
        else:
            text = ""
        return text, text.strip()

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
            block.message.append((line.number, stripped[:1000], line.raw[:1000]))
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

    def tear(self, first, last):
        """Notes lines that only tell how a program is torn down."""
        self.torn = [*self.torn[-TORN:], [first, last]]

    def _close(self, block):
        self.blocks.pop(block.key, None)
        block.errors = block.errors or [block.head][: block.head is not None]
        if block.errors:
            self._finish(block)

    def _finish(self, block):
        number, text, raw, rank, pid = block.errors[0]
        if block.group:
            leaves = [error for error in block.errors if "ExceptionGroup" not in error[1][:60]]
            number, text, raw, rank, pid = (leaves or block.errors)[0]
        kind, role, name, hint = kind_of_exception(text)
        given_up = role == "stopped" and not text.startswith("KeyboardInterrupt")
        if (given_up or role in ("messenger", "cascade", "weak")) and not block.group:
            told = [(kind_of_exception(error[1]), error) for error in block.errors]
            (kind, role, name, hint), (number, text, raw, rank, pid) = min(
                told, key=lambda pair: ROLES.get(pair[0][1], 9)
            )
        for _, further, _ in block.message if role == "plain" else ():
            other = kind_of_exception("%s: %s" % (text.split(":")[0], further[:300]))
            if other[1] == "root":
                kind, role, name, hint = other
                break
        told = [row for row in block.message if role == "messenger" and "Traceback (" not in row[1]]
        for place, further, whole in told:
            others = [kind_of_exception(part) for part in further.split(": ")[:16]]
            other = next((one for one in others if one[1] == "root"), None)
            if other:  # what it passes on stands behind it: another language's exception
                (kind, role, name, hint), number, raw = other, place, whole
                break
        if kind in STICKY and not block.cured:
            block.contained = False
        head = block.head or block.errors[-1]
        ignored = any(one.search(error[1]) for error in block.errors for one in self.ignore)
        if _of_main(block) and not block.told and not ignored:
            block.contained = block.teardown = False
        rank, pid = block.rank if rank is None else rank, block.pid if pid is None else pid
        sign = sign_of(
            Line(number, raw or text, text, rank, pid, None, block.level, ()), name, role, kind,
            end=max(block.last, head[0]), first=block.first, hint=hint, trace=True, exception=text.split(":")[0][:120],
            head=head[1][:300] if head[0] != number else "", frame=own_frame(block.frames),
            contained=block.contained, thread=block.thread, main=_of_main(block), uncaught=uncaught(block), woven=len(block.errors),
        )  # fmt: skip
        if block.teardown or ignored:
            self.tear(block.first, sign["end"])
            return
        if role == "stopped" and text.startswith("KeyboardInterrupt") and not block.dressed:
            self.stops.append(block.first)  # Ctrl-C that nobody caught
        self.signs.append(sign)


def sign_of(line, name, role, kind, **more):
    """A sign of failure as the judgement takes it: what a line told, and more where it is known."""
    sign = {
        "line": line.number, "end": line.number, "first": line.number, "kind": kind, "role": role, "id": name,
        "text": line.raw[:1000], "rank": line.rank, "pid": line.pid, "hint": "", "level": line.level, "trace": False,
        "inside": False, "exception": "", "head": "", "frame": None, "contained": False, "thread": False, "main": False, "mild": False, "uncaught": False, "woven": 1,
    }  # fmt: skip
    return {**sign, **more}


def kind_of_exception(text):
    """(kind, role, id, hint) of an exception's line; role "plain" for one that no row knows."""
    for name, role, pattern, kind, hint in EXCEPTIONS:
        if pattern.match(text):
            return kind, role, name, hint
    # One without a message has it behind itself: it only wraps what comes.
    return "python_exception", "messenger" if EMPTY.match(text) else "plain", "exception", ""


def folded_digits(text):
    """A text with each digit a 0."""
    return re.sub(r"\d", "0", text)


def groups_of(pattern, text):
    found = pattern.search(text)
    return [group for group in found.groups() if group] if found else []


def by_exit(text, kind):
    """The kind that an exit status speaks of: minus the signal, 128 plus the signal, or the signal itself."""
    for group in groups_of(EXIT, text):
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


def _of_main(block):
    """Whether a bare traceback begins in the program itself: nobody between it and the interpreter caught it, as it seems."""
    outermost = {frame[3]: frame[2] for frame in reversed(block.frames)}
    return not block.level and block.spoken and "<module>" in outermost.values() and not _of_import(block)


def _of_import(block):
    """Whether a logger told of an exception that came while a module was imported: whoever imports it has caught it."""
    inner = [frame[2] for frame in block.frames if frame[3] == 0][-1:]
    name = block.errors[0][1].partition(":")[0].rpartition(".")[2] if block.errors else ""
    return name in ("ImportError", "ModuleNotFoundError") and inner == ["<module>"] and name in block.logged


def made_light_of(text, block):
    """Whether the sentence right behind a caught exception says that something failed, and that the job goes on."""
    return not _of_main(block) and FAILED.search(text) is not None and handled(text)


def uncaught(block):
    """Whether a traceback can only be one that ended its process: torch's hook for a rank, multiprocessing's for a child."""
    rank = block.rank is not None and block.source is None and block.dressed
    child = any(name == "_bootstrap" and "multiprocessing" in file for file, _, name, _ in block.frames[:1])
    return not block.level and (rank or child)
