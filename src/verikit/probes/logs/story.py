# ruff: noqa: E501
"""What a log tells, line by line: signs of failure, tracebacks, progress, ready and end markers, ordered stops.

Most lines of a log are copies of one another but for their numbers.  Digits are folded, and a form is examined when it
is first seen; later copies cost one look into a dict.  Only what carries digits that matter (an errno, an exit code)
is looked at each time.
"""

import collections
import hashlib
import re

from verikit.probes.logs import clock, tables
from verikit.probes.logs.complaints import LOOKED_AT, cured_by, excuses, ill, kind_of_words, status
from verikit.probes.logs.ending import HEADS, folded, head_of, short_of
from verikit.probes.logs.envelopes import LEVELS, LONGEST, Line, decode, plain, undress
from verikit.probes.logs.fences import opened
from verikit.probes.logs.figures import Figures, number_of
from verikit.probes.logs.hosts import learned
from verikit.probes.logs.rows import (
    ANCHORED,
    BANNERS,
    BENIGN,
    HEARTBEAT,
    NOT_DONE,
    NOT_READY,
    PAST_STEP,
    PROGRAMS,
    PROGRESS,
    SAID,
    SETUP,
    SIGNS,
    UNFINISHED,
    Kept,
    may,
)
from verikit.probes.logs.sentences import FIGURE, MOST, NO_WORK, Lost, Sentence, key_of, kinds_of
from verikit.probes.logs.tracebacks import (
    BARE,
    CAUSES,
    HEADER,
    MESSAGE_LINES,
    PID,
    STICKY,
    Tracebacks,
    by_exit,
    groups_of,
    kind_of_exception,
    made_light_of,
    sign_of,
)

FOLD = bytes(48 if 48 <= code <= 57 else code for code in range(256))
FORMS = 20000
"""Forms kept; a log of more (free text) is still read, each new line anew."""

SMALL = 600
NEAR_END = 65536
"""Forms, and bytes before the end, that are always examined; the others only if they have one of the words below."""

# A line without any of these says nothing that the tables know. New ones cost a little for every line.
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


def digest(form):
    """Eight bytes that stand for a form."""
    return hashlib.blake2b(form, digest_size=8).digest()


def _short(raw):
    return raw if len(raw) <= 16384 else raw[:8192] + raw[-8192:]


def _of_a_program(name):
    """Whether the tables know a name before `: ` as a program's or a level."""
    return name.upper() in LEVELS or name in KNOWN or name.split("-")[0] in OF_NODES


KNOWN = {
    word
    for table in (tables.SIGNS, tables.BENIGN, tables.MARKERS, tables.PROGRESS)
    for row in table
    for word in re.findall(r"[A-Za-z][\w.-]*", row[2])
}
# Programs that the tables know with the name of a node behind their own, as `slurmstepd-n04: `.
OF_NODES = {word for row in tables.SIGNS for word in re.findall(r"([a-z]\w+)\(\?:-\[\\w\.-\]\+\)\?: ", row[2])}

PREFIX = re.compile(r"(?:[\w./<>-]{1,60}: ){1,2}|what\(\): {1,2}|[\w.-]{1,20} {2,4}(?=\S)")
ITEM = re.compile(
    r"(?!(?i:rank|worker|node|gpu|proc|host|pid|task|job|actor|learner|trainer|replica|engine|server|shard|pod|container|rollout))[\w.-]+[/#\[]\d+\]?: "
)
TALLY = re.compile(
    r"(?i)\b\w{0,24}(?:err|fail|retr|timeout|drop|reject|skip)\w{0,16}[\"']?[:=][ \"']*[\d.]+%?(?=[,;)}\s]|$)"
)
"""One field of a record that tells how much went wrong: beside others it is none of what the record is about."""

NONE = re.compile(
    r"\b\w*(?:[Ff]ail|[Ee]rr|[Rr]etr|[Tt]imeout)\w*\W{1,4}0(?![\d.])|(?<![\d.])0 \w*(?:[Ff]ail|[Ee]rr|[Rr]etr|[Tt]imeout)\w*"
)
"""A tally of what went wrong that is none."""

WATCH = "watch"
"""The plan of a line whose figures are watched, though it counts nothing that the tables know."""

REPORTED = re.compile(r"^([\w./-]+: line \d+: +\d+ [A-Z][a-z]+(?: [a-z]+){0,2}(?: +\(core dumped\))?) {2,}\S.*", re.S)
"""The end of a child, as bash reports it: behind it stands the command, whose words are none of the job's."""

DEATH = re.compile(r"\b(?:has |have )?died\b|\b(?:is|are) dead\b")
WATCHED = ("oss", "grad", "gnorm", "throughput")
DIGITS_MATTER = (b"rrno", b"xit", b"Xid", b"signal", b" code")

ASIDE = re.compile(r"\(\d[^()]{0,80}\)")
"""A figure in brackets, beside what a sentence counts."""

WENT_WRONG = re.compile(r"(?i)\b(?:fail|err|retr|skip|miss|drop|reject|lost|bad|cancel)\w*(?: \w+){0,2} ?$")
"""Before a figure: it counts what was not done."""

ROW = re.compile(r"\|.*\|$")
PREPARES = 60
"""Characters of a sentence in which its verb stands, that may be one of getting started."""

CURE_LINES, CURE_SIGNS = 5, 6
"""How far behind a complaint a sentence may stand that says how the job does without, and how many it may answer at once."""

ENGINE = 2
"""Marks the plan of an engine's statistics: when they are idle, each counts."""

WAITING = 128
"""Counting lines in a row that are read; of the earlier ones it is enough that they are there."""

RECENT = 20
"""The last signs and counts, whose containers are asked for."""

HEARD, HEARD_BYTES = 200, 400
"""Lines in forms new to the run that are kept, the last of them, and how much of each: a cause is said before its effects."""

FALLS = 3
"""Runs in a row that came to nothing by the same cause, from which the next is no new start."""

LOUD = 500
"""Signs of failure behind which a line of level ERROR is no longer searched through."""


ANNOUNCES = re.compile(r"\w\W?::?$")
MEASURED, WORKED = re.compile(tables.MEASURED), re.compile(tables.WORKED)
NO_COUNT, QUANTITY, COMPILES = re.compile(tables.NO_COUNT), re.compile(tables.QUANTITY), re.compile(tables.COMPILES)
QUANTITIES = re.compile(tables.QUANTITIES)
THING = re.compile(
    r"\W*(?!(?:[Dd]one|[Pp]rocessed|[Cc]omplete|[Ff]inished|[Gg]enerated|[Ww]rote|[Ww]ritten|[Ee]valuated|[Ss]cored|[Pp]rogress))"
)
LEAVES = re.compile(tables.LEAVES)
RELAYED = re.compile(
    r"(?i)\b(?:its|his|the job's|the child's|the program's) (?:stderr|stdout|output|log|last \w+)\b[^\n]{0,20}$|\b(?:has|have) (?:ended|failed|died|crashed|exited)\b"
)
"""What says that a program of the job's own speaks next: no fence makes that foreign."""

LET_GO = re.compile(
    r"(?:Ignor(?:ing|ed)|Skipp(?:ing|ed)|ignor(?:ing|ed)|skipp(?:ing|ed))(?: (?:this|that|it|the (?:choice|error|exception|failure|warning|file|record|sample|row|line|entry|item|shard|option)))?(?: \w+)?[.!]?$|(?i:[\w ,:'=\[\]-]{0,80}\b(?:waiting|retrying|sleeping|trying again|next try|try \d+ of \d+)(?: again)?(?: (?:for|in))? \d+(?:\.\d+)? ?(?:s|ms|sec|seconds?|min|minutes?)\b[ .…]*)$|[\w ,:'=\[\]-]{0,80}\b(?:skipped|ignored) \((?:optional|not (?:needed|required))\)$"
)
"""A short sentence that says of the line above that it is let go."""

MAKE_LET_GO = re.compile(r"make(?:\[\d+\])?: \[[^\]\n]{1,200}\] Error \d+ \(ignored\)")
"""GNU make of a recipe that may fail (`-` before it): what it said just above is let go."""

IMPORTS = re.compile(r"(?:ModuleNotFoundError|ImportError)\b")
DONE_WITHOUT = re.compile(
    r"\b(?:going on|continuing|proceeding|carrying on|doing|running|starting) without\b|\b(?:disabled|off) \(see above\)"
)
"""What a program says right behind a module that is not there, if it can do without."""

ELSE_TRUE = ("+ true", "+ :")
TO_COME = re.compile(tables.TO_COME)
THINGS = re.compile(
    r" (?:\w+ )?(?:workers?|GPUs?|ranks?|nodes?|replicas?|devices?|hosts?|processes|peers)\b(?! (?:done|finished|processed|written))"
)
TITLE = re.compile(r"\s*[-=*#~]{3,}")
EXITS_OF_JOBS, EXITS_OF_CHILDREN = re.compile(tables.EXITS_OF_JOBS), re.compile(tables.EXITS_OF_CHILDREN)
OF = next(row[2] for row in PROGRESS if row[0] == "of")


class Story(Tracebacks):
    """What has been told so far. `feed` takes pieces in order; `tell` the facts."""

    def __init__(self, ignore=(), failing=(), ready=(), done=(), program="", progress=()):
        super().__init__(ignore)
        self.failing = [re.compile(one) for one in failing]
        self.ready_patterns, self.done_patterns = [re.compile(one) for one in ready], [re.compile(one) for one in done]
        self.own_progress = [re.compile(one) for one in progress]
        self.own = bool(failing or ready or done or progress)
        self.unfenced = False  # whether lines are read that an open fence had kept
        self.opening, self.last_form, self.last = [], None, 0
        self.waiting = collections.deque(maxlen=WAITING)
        self.lines, self.forms, self.tail, self.at_end, self.counted, self.runs = 0, {}, [], True, True, 0
        self.fell = []  # the cause that ended each of the last runs, as long as it was the same and they came to nothing
        self.hosts = None  # shapes of the names that a launcher puts before each line, once they have been looked for
        # How many forms were examined, those that were not, and the plans that an earlier look made, by the forms' digests.
        self.met, self.passed_over, self.recalled = 0, [], {}
        self.reset(0)

    def reset(self, number):
        """A run begins: what was told before belongs to an earlier one."""
        self.fell = self._fell() if self.runs else []
        self.forget()
        self.progress, self.markers, self.stops = Kept(), Kept(), Kept()
        self.retry_forms, self.fences, self.figures, self.sentences, self.lost = {}, {}, Figures(), {}, Lost()
        self.heads, self.heard = {}, collections.deque(maxlen=HEARD)
        self.run_start = number
        self.runs += 1
        self.programs, self.wanted_ready, self.elastic = {}, None, {}
        self.served, self.tests = False, 0  # whether a server process was started; where tests began

    def _fell(self):
        """`fell` with the run that is over."""
        for block in list(self.blocks.values()):
            self._close(block)
        causes = [sign for sign in self.signs if sign["role"] in CAUSES and not sign["contained"]]
        done = any(event[2] != "said" and not event[6] for event in self.progress)
        if not causes or done or any(row[1] == "ready" for row in self.markers):
            return []
        words = [folded(sign["text"][:HEARD_BYTES]) for sign in (*self.fell[-1:], causes[-1])]
        return [*(self.fell[-FALLS:] if words[0] == words[-1] else ()), causes[-1]]

    # Reading.

    def feed(self, number, data, settled=None):
        """Takes one piece of whole bytes in; `number` is that of its first line (None where it is not known).

        settled: called with (place in the data, number of the line there) once all that is not near the end has been read.
        """
        counted = number is not None
        self.hosts = self.hosts or learned(data, _of_a_program)
        number = number or self.last + 1  # numbers never go back: what stands behind is told by them
        near = data.rfind(b"\n", 0, max(0, len(data) - NEAR_END)) + 1
        if near:
            number = self._read(number, data, 0, near - 1, False)
        self.counted = counted
        if settled:
            settled(near, number)
        self._read(number, data, near, len(data), True)
        self.at_end = data[-1:] == b"\n"

    def undress(self, number, raw):
        """The `Line` of some bytes of this log."""
        return undress(number, raw, self.hosts or ())

    def _read(self, number, data, position, last, near_end):
        """Reads a part of some data that ends before a line feed, or with the data."""
        self.near_end = near_end
        for form in self.passed_over:
            self.forms.pop(form, None)
        self.passed_over = []
        while position < last or (position == last and not near_end):  # a blank line may be the last before the end's
            end = data.find(b"\n", min(position + (65536 if last - position < 131072 else 262144), last), last)
            end = last if end < 0 else end
            chunk = data[position:end]
            number = self._chunk(number, chunk.split(b"\n"), chunk.translate(FOLD).split(b"\n"))
            position = end + 1
        return number

    def _chunk(self, number, lines, forms):
        known, waiting = self.forms, self.waiting
        for raw, form in zip(lines, forms):
            if len(self.opening) < 2:
                self._note_opening(form)
            elif form == self.opening[1]:
                self._opens_again(number)
            self.last_form = form
            plan = known.get(form)
            if plan is None and (self.recalled or self.met >= SMALL):
                plan = self._recall(raw, form)
            if plan.__class__ is tuple and not self.blocks and not self.fences:
                waiting.append((number, raw, plan))
                if plan[4] == ENGINE and b": 0.0" in raw:
                    self._catch_up()
            elif plan is not False or self.blocks or self.fences:
                self._catch_up()
                if plan is None:
                    self._learn(number, raw, form)
                elif self._line(number, raw, quiet=plan is False) in (False, WATCH) and plan not in (False, True):
                    self._said(number, raw, plan[0], plan[3])
            if self.own:
                self._user(number, raw)
            number += 1
        self.lines, self.last = self.lines + len(lines), number - 1
        self.tail = (self.tail + lines[-40:])[-40:]
        return number

    def _note_opening(self, form):
        """Notes the forms of the first two lines: a program begins with the same words each time."""
        if b"Traceback (" in form:
            self.opening = [None, None]  # a crash at once: it may be every rank's
        elif form.strip() and form not in self.opening:
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
        short = _short(raw)
        self.heard.append((number, raw[:HEARD_BYTES]))
        plan = self._line(number, raw)
        if plan is not None:
            self.lost.note(number, raw)
        if plan is False or plan == WATCH:
            followed = self._sentence(number, raw)
            plan = (*followed[:4], plan == WATCH) if followed else plan == WATCH
        self.met += form not in self.forms
        if len(self.forms) < FORMS:
            again = plan is not False and not isinstance(plan, tuple) and any(word in short for word in DIGITS_MATTER)
            self.forms[form] = True if again else plan

    def _recall(self, raw, form):
        """The plan for a form not met in this look: an earlier look's, or False where it is passed over; else None."""
        known = digest(form) if self.recalled else None
        if known in self.recalled:
            plan = self.forms[form] = self.recalled[known]
            return plan
        if self.met < SMALL or self.near_end:
            return None
        short = _short(raw)
        if any(word in short for word in HINTS_OF_SENSE):
            return None
        if len(self.passed_over) < FORMS:
            self.passed_over.append(form)
            self.forms[form] = False
        return False

    def _again(self, number, raw, plan):
        """A copy of a line that only counts something: its digits are read, nothing else."""
        name, role, search, setup, watched = plan
        if role == "said":
            self._said(number, raw, name, setup)
            if watched:
                text = plain(decode(raw))
                self.figures.read(Line(number, text, text, None, None, None, 0, ()), "")
            return
        text = plain(decode(raw))
        found = search(text)
        if found:
            of = found.groupdict()
            self._count(number, name, role, of.get("n"), of.get("of"), of.get("epoch"), setup, text[: clock.LOOKED_AT])
        if watched:
            self.figures.read(Line(number, text, text, None, None, None, 0, ()), name)

    def _sentence(self, number, raw):
        """The plan for copies of a line that no table knows: its figures are followed, if it has some."""
        if len(raw) > 1000 or b"\r" in raw or not FIGURE.search(raw):
            return False
        key = key_of(raw).decode("latin-1")
        if key not in self.sentences and not self._follow(number, raw, key):
            return False
        setup = SETUP.search(self.undress(number, raw).text[:PREPARES]) is not None
        self._said(number, raw, key, setup)
        return key, "said", None, setup, False

    def _follow(self, number, raw, key):
        """Begins to follow a sentence; the oldest that came only once makes room. Whether there was room."""
        if len(self.sentences) >= MOST:
            once = next((one for one, sentence in self.sentences.items() if sentence.count < 2), None)
            if once is None:
                return False
            del self.sentences[once]
        line = self.undress(number, raw)
        prefix = max(0, len(raw) - len(line.text.encode("utf-8", "replace")))
        works = re.search("[A-Za-z]", line.text) and not (
            TITLE.match(line.text)
            or line.text.startswith("\t")  # set in by a tab: of a dump
            or NO_WORK.search(NONE.sub("", self._but_tallies(line.text)))
            or QUANTITIES.search(line.text)
            or ROW.match(line.text.strip())
        )
        self.sentences[key] = Sentence(number, raw, kinds_of(raw, prefix), bool(works))
        return True

    @staticmethod
    def _but_tallies(text):
        """A record without the fields that tell of failures, if it has other figures as well."""
        rest = TALLY.sub("", text)
        return rest if re.search(r"\w[\"']?[:=][ \"']*\d", rest) else text

    def _said(self, number, raw, key, setup):
        if key not in self.sentences:  # it made room for another, and comes again
            self._follow(number, raw, key)
        sentence = self.sentences.get(key)
        grown = sentence.read(number, raw) if sentence else None
        if grown is not None:
            whole = "100" if ("%d%%" % grown).encode() in raw else None
            self._count(
                number, key[:80], "said", grown, whole, None, setup, raw[: clock.LOOKED_AT].decode("utf-8", "replace")
            )

    def _line(self, number, raw, quiet=False):
        """Reads one line; answers what its form's later copies need."""
        if not raw.strip():
            self.previous = None
            return False
        for block in list(self.blocks.values()):
            if number - block.last > (300 if block.open else MESSAGE_LINES):
                self._close(block)
        if b"\r" in raw:
            self._drawn(number, raw)
        line = self.undress(number, raw)
        if "\n" not in line.text:
            return self._say(line, quiet)
        for text in line.text.split("\n"):
            self._say(line.part(text), False)
        return True

    def _drawn(self, number, raw):
        """Reads the figures that a bar showed in its line before the last drawing."""
        raw = raw if len(raw) <= LONGEST else raw[-LONGEST:]
        for part in raw.split(b"\r")[:-1]:
            if b"oss" in part or b"grad" in part:
                text = plain(decode(part))
                self.figures.read(Line(number, text, text, None, None, None, 0, ()), "")

    # One message.

    def _say(self, line, quiet):
        text = line.text
        stripped = text.strip()
        if not stripped:
            return False
        if self._fenced(stripped, line) or self._in_block(line, text, stripped):
            return None if quiet is False else False
        self._meet(line.number, stripped)
        header = HEADER.match(text) if "Traceback (" in text else None
        plan = True
        if not (header and self._header(line, header)) and not quiet:
            plan = self._message(line, stripped)
        self.previous = line
        return plan

    def _fenced(self, stripped, line):
        """Whether a line is of a text between fences."""
        fence = self.fences.get(line.key)
        if fence is None:
            relayed = self.previous is not None and RELAYED.search(self.previous.text)
            fence = None if self.unfenced or relayed else opened(line, stripped)
            if fence is not None:
                self.fences[line.key] = fence
            return fence is not None
        if fence.closed_by(stripped):
            del self.fences[line.key]
            return True
        if fence.broken_by(line):
            self._read_after_all(line.key)
            return False
        if fence.begins_again(stripped):
            self._read_after_all(line.key)
            self.fences[line.key] = opened(line, stripped) or fence
            return True
        fence.add(line)
        return True

    def _read_after_all(self, key):
        """What stood behind a fence that nobody closed was no foreign text."""
        lines, self.unfenced = self.fences.pop(key).lines(), True
        for line in lines:
            self._say(line, False)
        self.unfenced = False

    def _meet(self, number, text):
        """Remembers where a sentence that begins so came first: its copies are no last words."""
        head = head_of(text)
        if head not in self.heads and len(self.heads) < HEADS:
            self.heads[head] = number

    # Messages.

    def _message(self, line, text):
        """Looks for everything a message can mean; answers the plan for its copies."""
        text = REPORTED.sub(r"\1", text) if ": line " in text else text
        banner = self._banner(text)
        if banner and text.startswith("Started server process"):  # of the first it is a part that comes up late
            banner, self.served = self.served, True
        if banner and line.number - self.run_start > 1 and self._told_something() and not self._another(line):
            self.reset(line.number)
        if "test session starts" in text:
            self.tests = line.number
        excuses = self._excuses(line, text)
        self._cure(line, text)
        self._program(line, text)
        if "rank" in text or "exitcode" in text or "Root Cause" in text:
            self._elastic(text)
        marker = self._marker(line, text)
        sign = None if marker == "ready" else self._sign(line, text, excuses)
        if sign and self._announced(line):
            sign["contained"] = True
        counted = None
        if marker == "done":
            return self._counter(line, text, figures=False) or True  # what it sums up is no loss of the last steps
        if (
            sign is None
            and line.level < 40
            and not ("retry" in excuses and HEARTBEAT.search(text) and not WORKED.search(text))
        ):
            counted = self._counter(line, text)
        if "retry" in excuses or (sign and sign["role"] == "soft"):
            self._retry(line, text)
            return True
        if banner or marker or sign or excuses & {"stop", "trace", "contain"} or text in ELSE_TRUE:
            return True
        if LET_GO.match(text) or MAKE_LET_GO.match(text):
            return True  # each copy of it speaks of the line above
        return counted or False

    def _excuses(self, line, text):
        roles = set()
        for name, role, search, words, _ in BENIGN.at(text, 0):
            if may(words, text) and excuses(name, search, text):
                roles.add(role)
                if role == "trace":
                    self.trace_excuse = line.number
                elif role == "stop" and not (
                    line.level >= 40 or DEATH.search(text) or TO_COME.search(text[: search(text).start()])
                ):
                    self.stops.append(line.number)
        if any(one.search(line.raw) for one in self.ignore):
            roles.add("line")
        return roles

    def _cure(self, line, text):
        """Calls contained what was complained of just before, if this sentence says that the job does without it."""
        near = [sign for sign in self.signs[-CURE_SIGNS:] if line.number - sign["end"] <= CURE_LINES]
        open_ = [block for block in self.blocks.values() if block.errors and line.number - block.last <= CURE_LINES]
        if not (near or open_):
            return
        told = [sign for sign in near if sign["role"] != "fatal" and not sign["uncaught"]]
        if text in ELSE_TRUE:  # bash -x tells what stands behind `||`
            for sign in told:
                sign["contained"] = sign["contained"] or sign["end"] == line.number - 1
        if MAKE_LET_GO.match(text):
            for sign in reversed(near):
                if sign["text"].startswith("make: ***"):
                    break  # of a recipe that may not fail
                sign["contained"] = sign["contained"] or not (sign["main"] or sign["uncaught"])
        if LET_GO.match(text):
            for sign in told:
                let_go = sign["end"] == line.number - 1 and not sign["main"] and sign["kind"] not in STICKY
                sign["contained"] = sign["contained"] or let_go
        if any(cured_by(text, sign["text"]) for sign in told):
            for sign in told:
                sign["contained"] = True
        for block in open_:
            if line.number - block.last == 1 and DONE_WITHOUT.search(text) and IMPORTS.match(block.errors[-1][1]):
                block.contained = block.told = block.cured = True
            if cured_by(text, block.errors[-1][1]) or (line.number - block.last == 1 and made_light_of(text, block)):
                block.contained = block.told = block.cured = True

    def _banner(self, text):
        """Whether a run begins here. Repeated by every rank, or before anything was told, it begins nothing new."""
        return any(pattern.match(text) for pattern in BANNERS)

    def _another(self, line):
        """Whether nothing that was told is of a line's own container: what begins beside others begins no new run."""
        if line.source is None:
            return False
        told = [sign["text"] for sign in self.signs[-RECENT:]] + [event[7] for event in self.progress[-RECENT:]]
        sources = {self.undress(0, text.encode("utf-8", "replace")).source for text in told}
        return bool(sources) and not sources & {line.source, None}

    def _told_something(self):
        return bool(self.progress or self.signs or self.markers or any(b.errors for b in self.blocks.values()))

    def _program(self, line, text):
        for _, _, search, words, program in PROGRAMS:
            if program not in self.programs and may(words, line.raw) and (search(line.raw) or search(text)):
                self.programs[program] = line.number

    def _user(self, number, raw):
        """Patterns that the caller gave: they count as they are, on every line."""
        text = plain(decode(raw))
        for pattern in self.failing:
            if pattern.search(text) and not any(one.search(text) for one in self.ignore):
                line = self.undress(number, raw)
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
        for name, role, pattern, program, _ in SAID.at(text, 0):
            if pattern.match(text) and not (role == "done" and (NOT_DONE.search(text) or short_of(text))):
                if line.level >= 40 and (role != "done" or ill(text)):
                    continue
                if name in ("own-ready", "address-ready", "grpc-ready") and NOT_READY.search(text):
                    continue
                self.markers.append((line.number, role, name, program, line.raw[:300]))
                return role
        return ""

    def _sign(self, line, text, excuses):
        if excuses & {"line", "retry"} and line.level < 50 and not (excuses == {"retry"} and line.level >= 40):
            return None
        # Foreign text behind thousands of errors is only met at its beginning.
        loud = line.level >= 40 and self.signs.total < LOUD
        # What is set in so far is of whoever quotes it; behind a frame that is set in, whatever it says.
        inner = self.previous is not None and self.previous.text.startswith("   ")
        quoted = line.text.startswith("  " if inner else "    ") and not line.dressed
        bare = BARE.match(text) if (not line.level or loud) and not quoted else None
        above = self.previous.text.lstrip() if self.previous else ""
        if bare and line.number - self.trace_excuse == 1 and above.startswith("Exception ignored") and not line.level:
            self.tear(line.number, line.number)  # what was ignored there, without a traceback
            return None
        near = text[:LOOKED_AT]
        prefix = PREFIX.match(text)
        inside = prefix.end() if prefix else 0
        for name, role, pattern, kind, hint in SIGNS.rows if loud else SIGNS.at(text, 0, inside):
            found = pattern.match(text) or (loud and pattern.search(near)) or (inside and pattern.match(text, inside))
            if found:
                if 0 < line.level < 30 and role == "unclear":
                    break  # the end of another, told as information: its status is asked for below
                if 0 < line.level < 30 and role in ("soft", "cascade") and not status(text):
                    return None
                mild = 0 < line.level < 40 and role == "root" and name not in ("kernel-oom", "slurm-oom")
                if mild:
                    role = "soft"
                if "retry" in excuses or ("contain" in excuses and kind not in STICKY):
                    role = "soft"
                if role == "fatal" and inside and ITEM.match(prefix.group()):
                    role = "plain"  # of one of many that are tried, as it says: work that goes on heals it
                sign = self._add(line, name, role, kind, hint, trace=False)
                sign["mild"] = mild
                sign["inside"] = not (pattern.match(text) or pattern.match(text, inside))
                return sign
        if self._exited(line, text) and not excuses & {"line", "retry", "contain", "trace"}:
            name = "exit-code" if LEAVES.search(text) or EXITS_OF_JOBS.match(text) else "child-code"
            return self._add(line, name, "messenger", "python_exception", "", trace=False)
        if bare and "Warning" not in bare.group():
            kind, role, name, hint = kind_of_exception(text)
            # One that ends in a colon announces another, which follows.
            plain_role = "messenger" if ANNOUNCES.search(text) else "weak" if self._of_logger(line, text) else "bare"
            role = {"plain": plain_role}.get(role, role)
            return self._add(line, name, "soft" if excuses & {"contain", "retry"} else role, kind, hint, trace=False)
        if loud and not excuses:
            kind, role, name, hint = kind_of_exception(text)
            kind = kind_of_words(near) if kind == "python_exception" else kind
            return self._add(line, "error-line", "weak", kind, hint, trace=False)
        return None

    def _of_logger(self, line, text):
        """Whether a name of an exception and no more stands right behind a line of level ERROR, which it belongs to."""
        above = self.previous
        return above is not None and above.level >= 40 and above.number == line.number - 1 and ": " not in text

    @staticmethod
    def _exited(line, text):
        """Whether a sentence is of the job's own end, with an exit status other than zero: of whatever level."""
        return (LEAVES.search(text) or EXITS_OF_JOBS.match(text) or EXITS_OF_CHILDREN.match(text)) and status(text)

    def _add(self, line, name, role, kind, hint, trace):
        kind = by_exit(line.text, kind) if name in ("elastic", "exit-code", "child-code") else kind
        pid = line.pid or next((int(one) for one in groups_of(PID, line.text) if len(one) < 10), None)
        sign = sign_of(line, name, role, kind, pid=pid, hint=hint, trace=trace)
        self.signs.append(sign)
        return sign

    def _elastic(self, text):
        if text.startswith("Root Cause (first observed failure)"):
            self.elastic = {"first": True}  # it names another than the list of all failures before it
        found = re.match(r"\s*rank\s+: (\d{1,6})\b", text)
        if found:
            self.elastic.setdefault("rank", int(found.group(1)))
        found = re.search(r"exitcode\s*: (-?\d{1,6}) \(pid: (\d{1,9})\)", text)
        if found:
            self.elastic.setdefault("exitcode", int(found.group(1)))
            self.elastic.setdefault("pid", int(found.group(2)))

    # Counters.

    def _counter(self, line, text, figures=True):
        """Counts a completed piece of work; answers the plan for copies of the line."""
        for name, role, search, words, _ in PROGRESS.at(text, 0):
            found = may(words, text) and search(text)
            if not found:
                continue
            if (
                name in ("counter", "of", "percent", "shard-file", "epoch", "step")
                and HEARTBEAT.search(text)
                and not WORKED.search(text)
            ):
                continue
            if role in ("item", "step") and UNFINISHED.search(ASIDE.sub("", text)):
                continue
            if name == "of" and (NO_COUNT.search(text[: found.start("n")]) or THINGS.match(text, found.end("of"))):
                continue
            if name == "counter" and THING.match(found.group()) and QUANTITY.search(text[: found.start() + 1]):
                continue
            if name == "counter" and not found.group("of") and WENT_WRONG.search(text[: found.start() + 1]):
                continue
            if name == "percent" and MEASURED.search(text[: found.start("n")]):
                continue
            if name in ("step", "epoch") and PAST_STEP.search(text[: found.start("n")]):
                continue
            if name == "of" and "glog" in line.dressed and line.level > 20:
                continue  # torch's compiler names its graphs so
            stage = None
            if name in ("counter", "epoch") and not found.group("of"):  # the whole may stand behind what names the part
                of = OF(text, found.end())
                stage = found.group("n") if of and name == "epoch" else None
                name, search, found = ("of", OF, of) if of else (name, search, found)
            groups = found.groupdict()
            setup = bool(SETUP.search(text[: found.start() + 12])) or (role == "bar" and bool(SETUP.search(text[:200])))
            setup = setup or COMPILES.match(text) is not None
            self._count(
                line.number,
                name,
                role,
                groups.get("n"),
                groups.get("of"),
                groups.get("epoch") or stage,
                setup,
                line.raw[: clock.LOOKED_AT],
            )
            break
        else:
            name = ""
        watched = figures and any(word in text for word in WATCHED)
        if watched or name == "megatron":
            self.figures.read(line, name)
        if not name:
            return WATCH if watched else None
        # Anchored rows see the message only without its envelopes: their copies are read in full.
        if name in ANCHORED or stage or (watched and (self.figures.losses["bad"] or self.figures.grads["nan"])):
            return True
        return (
            name,
            role,
            search,
            setup,
            ENGINE if "throughput (" in text or "throughput: " in text else watched or name == "megatron",
        )

    def _count(self, number, name, role, n, of, epoch, setup, raw):
        of = "100" if name == "percent" else of
        row = (number, name, role, number_of(n), number_of(of), number_of(epoch) or 0.0, setup, raw)
        self.progress.append(row)

    def _retry(self, line, text):
        form = re.sub(r"\d+|0x[0-9a-f]+", "0", text)[:60]
        first = self.retry_forms.get(form)
        if first and self._came_through(first[4]):
            first = self.retry_forms.pop(form) and None  # what was tried has come through since: it begins again
        if first is None and len(self.retry_forms) < 200:
            first = self.retry_forms[form] = [line.number, 0, line.raw[:1000], line.raw[: clock.LOOKED_AT], 0, ""]
        if first is not None:
            first[1] += 1
            first[4], first[5] = line.number, line.raw[: clock.LOOKED_AT]

    def _came_through(self, number):
        """Whether the last thing counted stands behind a line, and is further than its counter was before that line."""
        last = self.progress[-1] if self.progress else None
        if last is None or last[0] <= number or last[2] not in ("step", "item") or last[3] is None:
            return False
        same = [one[3] for one in self.progress[:-1] if one[0] <= number and (one[1], one[4]) == (last[1], last[4])]
        return not same or same[-1] is None or same[-1] < last[3]

    def finish(self):
        """Closes what is still open: the log may end within a traceback."""
        self.ordinary = None  # the lines of sentences that complain of nothing, once they have been asked for
        self._catch_up()
        while self.fences:  # what one kept may begin a run, which forgets the others
            self._read_after_all(next(iter(self.fences)))
        for block in list(self.blocks.values()):
            self._close(block)
