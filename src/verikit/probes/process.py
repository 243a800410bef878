"""Processes of a host as its kernel tells them: found by pid, by pid file, or by a pattern in the command line.

Linux: /proc, each file read once.  macOS and BSD: one run of `ps`.  Where neither answers: `unsupported`.
What is never taken for the process asked for: a grep, editor or shell that only mentions the pattern; whoever asks
and its ancestors; a thread or a younger process that has inherited the number.
Source: proc(5), ps(1); the kernel's OOM messages are those of mm/oom_kill.c.
"""

import errno
import os
import re

from verikit.probes.place import CannotSee

GONE = "gone"

STATES = {
    "R": "running",
    "S": "sleeping",
    "I": "sleeping",
    "P": "sleeping",
    "K": "sleeping",
    "W": "sleeping",
    "D": "disk_sleep",
    "U": "disk_sleep",  # macOS: uninterruptible wait
    "T": "stopped",
    "t": "stopped",  # held by a tracer
    "Z": "zombie",
    "X": GONE,
    "x": GONE,
}

LIVE = ("running", "sleeping", "disk_sleep")
"""States in which a process can still do its work."""

# Programs that hold somebody else's command line among their own arguments: they outlive the job, or only talk of it.
# A tmux server keeps the line of the first command it was ever given.
MENTIONS = (
    ("grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "awk", "gawk", "mawk", "sed"),
    ("pgrep", "pkill", "pidof", "ps", "top", "htop", "watch", "strace", "gdb", "py-spy"),
    ("tail", "head", "less", "more", "cat", "vi", "vim", "nvim", "nano", "emacs", "code"),
    ("ssh", "sshd", "scp", "rsync", "tmux", "screen", "SCREEN"),
)
SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "busybox")

# File systems stamp by a clock of their own (the last timer tick; another machine's, on NFS).
FILE_SLACK = 2.0

COMMAND_LIMIT = 1000
LISTED = 16


def find(place, process, how="auto", command=None, started_after=None):
    """The process, with its state by the kernel's word, as a dict; none is state "gone" with the reason in `why`.

    process: a pid, the path of a pid file, or a regular expression searched in command lines as `pgrep -f` does.
    how: "pid", "pidfile", "pattern"; "auto" takes an int for a pid, text for a pid file if it ends in .pid or is a
    small file that holds a number, and for a pattern otherwise.
    command: a pattern that the command line must hold too.
    started_after: seconds since the epoch by this host's clock; what began earlier is another run's.

    state: running, sleeping, disk_sleep (in the kernel, can't be killed), stopped, zombie, gone.
    pid, parent, command, started (epoch), age, cpu_seconds (all its threads), tree_cpu_seconds (with its descendants,
    also those that have ended).  children: live direct ones; child_list: the first of all of them.
    matched: how many matched a pattern, a match's descendants counting with it; others: the first of the rest.
    exit_status: negative for a signal; known of a zombie only, since the kernel tells it to nobody but the parent.
    recycled: true where the number was found on something else than the process meant, which is then in `found`.
    """
    how = _how(place, process) if how == "auto" else how
    table = table_of(place)
    asked = {"how": how, "asked": str(process), "now": table.now, "source": table.source, "since": started_after}
    chosen, why, more = _CHOOSERS[how](place, table, process)
    if chosen is not None and command is not None and not re.search(command, table.command(chosen)):
        why, more["found"] = "pid %d is another process" % chosen, table.brief(chosen)
        chosen, more["recycled"] = None, True
    if started_after is not None and how != "pattern" and chosen is not None:
        chosen, why = _young_enough(table, chosen, started_after)
    if how == "pattern":
        chosen, why, more = _choose_match(table, more.pop("matches"), started_after, more)
    facts = table.describe(chosen) if chosen is not None else None
    if facts is None:
        facts, why = {"state": GONE, "pid": None}, why or "it ended while it was looked at"
    facts.update(asked, why=why, **more)
    facts.setdefault("exit_status", None)
    facts["coverage"] = {"processes": table.seen, "of": table.seen, "hidden": table.hidden}
    return facts


def _how(place, process):
    if isinstance(process, int):
        return "pid"
    if process.isdigit():
        return "pid"
    if process.endswith(".pid") and not re.search(r"\s", process):
        return "pidfile"
    try:
        with place.open(process) as file:
            small = file.read(65)
    except (OSError, ValueError, CannotSee):
        return "pattern"
    return "pidfile" if len(small) < 65 and small.strip().isdigit() else "pattern"


# Choosing one process out of the table: each answers (pid or None, why not, further facts).


def _by_pid(place, table, process):
    return _exists(table, int(process))


def _exists(table, pid):
    if pid in table:
        owner = table.thread_of(pid)
        if owner is None:
            return pid, "", {}
        return None, "%d is no process but a thread of process %d" % (pid, owner), {"recycled": True}
    if not _unheard_of(pid):
        raise CannotSee("permission", "process %d exists, but this account may not look at it" % pid, pid=pid)
    return None, "no process has the number %d" % pid, {}


def _unheard_of(pid):
    """Whether the kernel knows no such number. Signal 0 is never delivered: it only asks."""
    try:
        os.kill(pid, 0)
    except OSError as error:
        return error.errno == errno.ESRCH
    except OverflowError:
        return True
    return False


def _by_pidfile(place, table, process):
    try:
        with place.open(process) as file:
            text = file.read(4096)
        written = place.stat(process).st_mtime
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR):
            raise
        return None, "there is no pid file %s" % process, {"pidfile": process}
    more = {"pidfile": process, "pidfile_written": written}
    words = text.split(None, 1)
    if not words:
        raise CannotSee("nothing_seen", "the pid file %s is empty" % process, **more)
    if not re.match(rb"[1-9][0-9]{0,9}$", words[0]):
        raise CannotSee("ambiguous", "the pid file %s holds no process number: %r" % (process, text[:40]), **more)
    pid = int(words[0])
    chosen, why, recycled = _exists(table, pid)
    more.update(recycled, named_pid=pid)
    started = table.started(pid) if chosen is not None else None
    if started is not None and started > written + FILE_SLACK:
        why = "pid %d was given to another process %.0f s after the pid file was written" % (pid, started - written)
        more["found"] = table.brief(pid)
        chosen, more["recycled"] = None, True
    return chosen, why, more


def _by_pattern(place, table, process):
    pattern, ours, matches, mentions = re.compile(process), table.ancestors(os.getpid()), [], []
    for pid in table.pids():
        line = table.command(pid)
        if line and pattern.search(line):
            only_talks = pid in ours or only_mentions(table.arguments(pid), process)
            (mentions if only_talks else matches).append(pid)
    if not matches and table.hidden:
        words = "no process that this account may look at matches %r; others are hidden from it" % process
        raise CannotSee("permission", words, hidden=table.hidden)
    return None, "", {"matches": matches, "mentions": len(mentions)}


_CHOOSERS = {"pid": _by_pid, "pidfile": _by_pidfile, "pattern": _by_pattern}


def only_mentions(arguments, pattern):
    """Whether these arguments only talk of a command: a grep for it, an editor in it, the shell that launched it.

    A pattern that names the program itself means it.
    """
    name = os.path.basename(arguments[0]).lstrip("-")
    if re.search(r"\b%s\b" % re.escape(name), pattern):
        return False
    if name in SHELLS:
        return any(re.match(r"-[a-z]*c$", word) for word in arguments[1:4])
    return any(name.rstrip(":") in row for row in MENTIONS)  # `tmux: server` calls itself so


def _choose_match(table, matches, started_after, more):
    """The match that stands for all: not a child of another match, of this run, alive rather than not, the youngest."""
    roots = [pid for pid in matches if not (table.ancestors(table.parent(pid)) & set(matches))]
    young = [pid for pid in roots if _young_enough(table, pid, started_after)[0] is not None]
    more["matched"] = len(roots)
    if not young:
        why = "no command line matches"
        if roots:
            _, why = _young_enough(table, max(roots, key=lambda pid: table.started(pid) or 0), started_after)
        elif more["mentions"]:
            why += "; %d only mention it (whoever asks, a shell, a grep)" % more["mentions"]
        return None, why, more
    young.sort(key=lambda pid: (table.state(pid) in LIVE, table.started(pid) or 0), reverse=True)
    more["others"] = [table.brief(pid) for pid in young[1 : LISTED + 1]]
    return young[0], "", more


def _young_enough(table, pid, started_after):
    started = table.started(pid)
    if started_after is None or started is None or started >= started_after - table.slack:
        return pid, ""
    return None, "pid %d began %.0f s too early: it is an earlier run" % (pid, started_after - started)


# The table of processes.


def table_of(place):
    """Every process of this host at one moment, by /proc or by ps."""
    try:
        with place.open("/proc/self/stat") as file:
            if _stat_fields(file.read(4096)):
                return _ProcTable(place)
    except (OSError, CannotSee):
        pass
    return _PsTable(place)


class _Table:
    """Every process of the host, at one moment: rows by pid, with the parent, the state letter and the CPU seconds."""

    source = ""
    slack = 0.1  # start times are cut to the kernel's tick, and computed from two readings of the clock
    hidden = 0  # processes of which nothing but the number may be seen

    def __contains__(self, pid):
        return pid in self.rows

    def pids(self):
        return sorted(self.rows)

    @property
    def seen(self):
        return len(self.rows)

    def parent(self, pid):
        return self.rows[pid]["parent"] if pid in self.rows else 0

    def state(self, pid):
        return self.rows[pid]["state"] if pid in self.rows else GONE

    def started(self, pid):
        return self.rows[pid]["started"] if pid in self.rows else None

    def command(self, pid):
        return " ".join(self.arguments(pid))

    def ancestors(self, pid):
        """The process and all those above it."""
        chain = set()
        while pid in self.rows and pid not in chain:
            chain.add(pid)
            pid = self.parent(pid)
        return chain

    def children(self, pid):
        return [child for child in self.pids() if self.parent(child) == pid]

    def descendants(self, pid):
        found, waiting = set(), [pid]
        by_parent = {}
        for child, row in self.rows.items():
            by_parent.setdefault(row["parent"], []).append(child)
        while waiting:
            for child in by_parent.get(waiting.pop(), ()):
                if child not in found:
                    found.add(child)
                    waiting.append(child)
        return found - {pid}

    def brief(self, pid):
        row = self.rows[pid]
        return {
            "pid": pid,
            "state": row["state"],
            "started": row["started"],
            "cpu_seconds": row["cpu"],
            "command": _shown(self.arguments(pid), 200),
        }

    def describe(self, pid):
        row, children = self.rows[pid], self.children(pid)
        tree = row["cpu"] + row.get("ended_cpu", 0.0)
        for child in self.descendants(pid):
            tree += self.rows[child]["cpu"] + self.rows[child].get("ended_cpu", 0.0)
        facts = self.brief(pid)
        facts.update(
            parent=row["parent"],
            command=_shown(self.arguments(pid), COMMAND_LIMIT),
            age=max(0.0, self.now - row["started"]) if row["started"] is not None else None,
            tree_cpu_seconds=round(tree, 2),
            children=sum(self.state(child) in LIVE for child in children),
            child_list=[self.brief(child) for child in children[:LISTED]],
        )
        return facts


class _ProcTable(_Table):
    source = "/proc"

    def __init__(self, place):
        self.place, self.now, self.rows, self._arguments = place, place.now(), {}, {}
        self.tick = float(os.sysconf("SC_CLK_TCK"))
        self.booted = self.now - _since_boot(place)
        for name in place.listdir("/proc"):
            if name.isdigit():
                self._add(int(name))
        # hidepid=2 leaves hidden processes out of the listing; number 1 always exists.
        if 1 not in self.rows and not self.hidden and not _unheard_of(1):
            self.hidden = 1

    def __contains__(self, pid):
        return pid in self.rows or self._add(pid)  # threads answer by number, though they are not listed

    def _add(self, pid):
        fields = self._read(pid, "stat", _stat_fields)
        if fields:
            self.rows[pid] = self._row(fields)
        return bool(fields)

    def _row(self, fields):
        """Fields by their numbers in proc(5), less 3: the first two are cut off with the name in brackets."""
        letter, threads = fields[0], int(fields[17])
        state = STATES.get(letter, "sleeping")
        if state == "zombie" and threads > 1:
            state = "sleeping"  # only its first thread has ended
        return {
            "state": state,
            "parent": int(fields[1]),
            "cpu": (int(fields[11]) + int(fields[12])) / self.tick,
            "ended_cpu": (int(fields[13]) + int(fields[14])) / self.tick,
            "started": round(self.booted + int(fields[19]) / self.tick, 2),
            "status": int(fields[49]) if len(fields) > 49 else 0,
        }

    def _read(self, pid, name, parse, limit=65536):
        try:
            with self.place.open("/proc/%d/%s" % (pid, name)) as file:
                return parse(file.read(limit))
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EPERM):
                self.hidden += 1
            return None

    def arguments(self, pid):
        """The words of the command line; the name in brackets for a kernel thread or a zombie, as ps writes it."""
        if pid not in self._arguments:
            raw = self._read(pid, "cmdline", bytes) or b""
            words = [os.fsdecode(word) for word in raw.rstrip(b"\0").split(b"\0")] if raw.strip(b"\0") else []
            self._arguments[pid] = words or ["[%s]" % (self._read(pid, "comm", os.fsdecode) or "?").strip()]
        return self._arguments[pid]

    def thread_of(self, pid):
        """The process of which this number is a thread; None for a process."""
        group = self._status(pid).get("Tgid")
        return int(group) if group and int(group) != pid else None

    def _status(self, pid):
        text = self._read(pid, "status", os.fsdecode) or ""
        return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)

    def describe(self, pid):
        facts = super().describe(pid)
        if facts["state"] == "zombie":
            facts["exit_status"] = self._exit_status(pid)
        return facts

    def _exit_status(self, pid):
        """What its parent has not asked for yet. To others than its owner the kernel shows 0, which says nothing."""
        raw = self.rows[pid]["status"]
        owners = set(self._status(pid).get("Uid", "").split())
        if raw == 0 and os.geteuid() != 0 and owners != {str(os.geteuid())}:
            return None
        return -(raw & 127) if raw & 127 else raw >> 8


class _PsTable(_Table):
    """As ps tells it: one line a process; start times to the second."""

    source = "ps"
    slack = 1.0
    COLUMNS = "pid=,ppid=,state=,time=,lstart=,command="

    def __init__(self, place):
        self.now, self.rows, self._arguments = place.now(), {}, {}
        try:
            ran = place.run(
                ["ps", "-A", "-ww", "-o", self.COLUMNS], env=dict(os.environ, LC_ALL="C", TZ="UTC"), limit=16 << 20
            )
        except CannotSee as error:
            raise CannotSee("unsupported", "this host has neither /proc nor ps") from error
        for line in ran.stdout.splitlines():
            self._add(line.split(None, 9))
        if not self.rows:
            raise CannotSee("unsupported", "ps answers in no form known here", stderr=os.fsdecode(ran.stderr[:300]))
        if ran.cut or ran.late:
            self.hidden = 1

    def _add(self, words):
        if len(words) < 9 or not words[0].isdigit() or self.COLUMNS.encode() in words[-1]:  # the last: ps itself
            return
        pid = int(words[0])
        self.rows[pid] = {
            "parent": int(words[1]),
            "state": STATES.get(os.fsdecode(words[2][:1]), "sleeping"),
            "cpu": _clock_seconds(os.fsdecode(words[3])),
            "started": _epoch(os.fsdecode(b" ".join(words[4:9]))),
        }
        self._arguments[pid] = os.fsdecode(words[9]).split(" ") if len(words) > 9 else ["?"]

    def arguments(self, pid):
        return self._arguments[pid]

    def thread_of(self, pid):
        return None  # ps -A lists processes only


def _stat_fields(raw):
    """The fields of /proc/PID/stat after the name, which may itself hold blanks and brackets."""
    rest = raw.decode("ascii", "replace").rpartition(")")[2].split()
    return rest if len(rest) > 19 else None


def _since_boot(place):
    import time

    try:
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    except (AttributeError, OSError):
        with place.open("/proc/uptime") as file:
            return float(file.read(100).split()[0])


def _clock_seconds(text):
    """Seconds of a CPU time as ps prints it: 1:02.50, 01:02:03 or 2-01:02:03."""
    days, _, rest = text.rpartition("-")
    total = 0.0
    for part in rest.split(":"):
        total = total * 60 + float(part)
    return total + 86400 * int(days or 0)


def _epoch(text):
    import calendar
    import time

    try:
        return float(calendar.timegm(time.strptime(text, "%a %b %d %H:%M:%S %Y")))
    except ValueError:
        return None


_SECRET_FLAG = re.compile(r"-{1,2}[\w-]*(?:key|token|passwd|password|secret|credentials?)$", re.I)


def _shown(arguments, limit):
    """The command line for a report: not what follows `--api-key` and its like; whole words, up to `limit` characters."""
    words, after_flag = [], False
    for word in arguments:
        words.append("••••" if after_flag and not word.startswith("-") else word)
        after_flag = bool(_SECRET_FLAG.match(word))
    text = " ".join(words)
    # Cut between words: half a token is not recognised as one when secrets are masked.
    return text if len(text) <= limit else text[:limit].rpartition(" ")[0] + " …"


def _short(text, limit):
    return text if len(text) <= limit else text[: limit - 2] + " …"


# The kernel's word on memory.

_OOM = re.compile(r"(?:Killed process|oom_reaper: reaped process) (\d+)(?:, UID \d+,)? ?\(([^)]*)\)")
_SINCE_BOOT = re.compile(r"^(?:<\d+>)?\[ *(\d+\.\d+)\]")
_UNIX = re.compile(r"^(\d{9,11}\.\d+) ")
_ISO = re.compile(r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:?\d\d)?")
_SYSLOG = re.compile(r"^([A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d) ")

KERNEL_PROGRAMS = (
    ("dmesg",),
    ("journalctl", "-k", "-q", "--no-pager", "-n", "5000", "-o", "short-unix"),
)
KERNEL_FILES = ("/var/log/kern.log", "/var/log/messages", "/var/log/syslog")
KERNEL_TAIL = 1 << 20


def oom_kills(place, since=None, pid=None):
    """What the kernel says of processes that it killed for want of memory; never an error when it may not be asked.

    kills: the last 16, each with pid, name, when (epoch, or None), line, source.  Those known to be before `since` are
    left out.  Inside a container the kernel's pids are still those of its host.
    cgroup: {path, oom_kill, of}: kills, without their times, in the memory group of `pid`, or of whoever asks (`of`
    is "self") when that is gone.
    sources: what could be read and what could not, in words; readable: whether any could.
    """
    kills, sources = {}, {}
    for argv in KERNEL_PROGRAMS:
        text, sources[argv[0]] = _program_text(place, argv)
        _collect(place, kills, text, argv[0], since)
    for path in KERNEL_FILES:
        text, sources[path] = _file_tail(place, path)
        _collect(place, kills, "\n".join(line for line in text.splitlines() if "kernel" in line), path, since)
    found = sorted(kills.values(), key=lambda kill: kill["when"] or 0)
    return {
        "kills": found[-LISTED:],
        "count": len(found),
        "cgroup": _cgroup_kills(place, pid, sources),
        "sources": sources,
        "readable": any(words == "read" for words in sources.values()),
    }


def _program_text(place, argv):
    try:
        ran = place.run(list(argv), timeout=3.0, limit=8 << 20, env=dict(os.environ, LC_ALL="C"))
    except (CannotSee, OSError) as error:
        return "", getattr(error, "cause", "error")
    if ran.status != 0 and not ran.stdout:
        return "", "refused: %s" % os.fsdecode(ran.stderr[:80]).strip()
    return ran.stdout.decode("utf-8", "replace"), "read" if ran.stdout else "empty"


def _file_tail(place, path):
    try:
        with place.open(path) as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - KERNEL_TAIL))
            return file.read(KERNEL_TAIL).decode("utf-8", "replace"), "read"
    except (OSError, CannotSee) as error:
        return "", os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "unsupported"


def _collect(place, kills, text, source, since):
    for line in text.splitlines():
        found = _OOM.search(line)
        if not found:
            continue
        when = _when(place, line)
        if since is not None and when is not None and when < since - 1:
            continue
        pid = int(found.group(1))
        if pid not in kills or (kills[pid]["when"] or 0) < (when or 0) - 10:  # the same kill, told by another source
            kills[pid] = {"pid": pid, "name": found.group(2), "when": when, "line": _short(line, 240), "source": source}


def _when(place, line):
    """The epoch that a kernel line bears, in the five spellings of dmesg, journalctl and syslog; None without one."""
    import calendar
    import time

    found = _SINCE_BOOT.match(line)
    if found:
        return round(place.now() - _since_boot(place) + float(found.group(1)), 3)
    found = _UNIX.match(line)
    if found:
        return float(found.group(1))
    found = _ISO.match(line)
    if found:
        moment, zone = time.strptime(found.group(1), "%Y-%m-%dT%H:%M:%S"), found.group(2)
        if not zone:
            return time.mktime(moment)
        sign, digits = (-1 if zone[0] == "-" else 1), zone[1:].replace(":", "")
        ahead = sign * (int(digits[:2]) * 3600 + int(digits[2:4]) * 60) if digits else 0
        return float(calendar.timegm(moment) - ahead)
    found = _SYSLOG.match(line)
    if not found:
        return None
    year = time.localtime(place.now()).tm_year
    when = _syslog_epoch(found.group(1), year)
    return when if when is None or when <= place.now() + 86400 else _syslog_epoch(found.group(1), year - 1)


def _syslog_epoch(text, year):
    import time

    try:
        return time.mktime(time.strptime("%d %s" % (year, text), "%Y %b %d %H:%M:%S"))
    except ValueError:  # 29 February of another year
        return None


def _cgroup_kills(place, pid, sources):
    for who in ([str(pid)] if pid else []) + ["self"]:
        text, words = _file_tail(place, "/proc/%s/cgroup" % who)
        if words == "read":
            break
    for line in text.splitlines():
        for path in _cgroup_files(line):
            counts, words = _file_tail(place, path)
            found = re.search(r"^oom_kill (\d+)$", counts, re.M)
            if found:
                sources["cgroup"] = "read"
                return {"path": path, "oom_kill": int(found.group(1)), "of": who}
    sources["cgroup"] = "no counter"
    return None


def _cgroup_files(line):
    """Where the group of one line of /proc/PID/cgroup keeps its counter; a container sees its own group at the root."""
    number, controllers, group = [*line.split(":", 2), "", ""][:3]
    if number == "0":
        roots, name = ("/sys/fs/cgroup", "/sys/fs/cgroup/unified"), "memory.events"
    elif "memory" in controllers.split(","):
        roots, name = ("/sys/fs/cgroup/memory",), "memory.oom_control"
    else:
        return []
    return [root + (part if part != "/" else "") + "/" + name for root in roots for part in (group, "/")]
