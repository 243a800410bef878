# ruff: noqa: E501
"""What programs, collectors and terminals put in front of a message, taken off before anything is matched.

One row an envelope: its name, and a pattern for the beginning of the line.  Groups named rank, pid, source, level say
what they say everywhere; a row without them is only cut off.  A row eats at most one blank behind itself, so that the
indentation of a traceback frame stays.  Add a row, and a line for it in tests/logs/test_envelopes.py.
"""

import re

from verikit.probes.logs.hosts import barred, host_of, shape_of

LONGEST = 16384
"""Bytes of one line that are looked at: the first and the last half. A 5 MB line costs no more than that."""

_TIME = r"\d\d?:\d\d:\d\d(?:[.,]\d+)?"
_DAY = r"(?:\d{4}[-/.]\d\d[-/.]\d\d|\d\d/\d\d/\d{2,4}|\d\d[-/]\d\d)"
_ZONE = r"(?: ?Z| ?[+-]\d\d:?\d\d| UTC)?"
_LEVEL = r"(?P<level>TRACE|DEBUG|INFO|NOTICE|SUCCESS|WARNING|WARN|ERROR|ERR|CRITICAL|CRIT|FATAL|EXCEPTION|debug|info|warning|warn|error|fatal|critical)"

ENVELOPES = (
    ("cri", r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d) (?:stdout|stderr) [FP] ?"),
    ("tag-klog", r"\[[A-Za-z][\w. :/-]{0,60}\]:? (?=\[ *\d+\.\d{6}\] )"),
    ("klog", r"(?:<\d+>)?\[ *\d+\.\d{1,9}\] ?"),
    (
        "glog",
        r"\[?(?:rank\d+\]:\[)?(?P<level>[IWEFCD])(?:\d{3,4}|\d{8}) "
        + _TIME
        + r" +(?:\d+ +)?[\w./+-]+:\d+\](?: \[[^\]]*?[Rr]ank (?P<rank>\d+)\])? ?",
    ),
    ("epoch", r"(?P<level>[IWEF])0000 00:00:\d+\.\d+ +\d+ [\w./-]+:\d+\] ?"),
    ("tensorflow", r"(?P<level>[IWEF]) [\w./+-]+\.(?:cc|cpp|cxx|cu|h):\d+\] ?"),
    ("zap-level", r"(?P<level>DEBUG|INFO|WARN|ERROR|DPANIC|PANIC|FATAL)\t"),
    ("zap-place", r"(?:[\w./-]+\t)?[\w./@-]+\.go:\d+\t"),
    ("jupyter", r"\[(?P<level>[IWECD]) \d{4}-\d\d-\d\d " + _TIME + r"(?: [\w.]+)?\] ?"),
    ("sglang", r"\[" + _DAY + r" " + _TIME + r"(?: (?:DP|PP|TP|EP)\d+)* (?:DP|PP|TP|EP)(?P<rank>\d+)\] ?"),
    ("ray-core", r"\[" + _DAY + r" " + _TIME + r" (?P<level>[IWEF]) \d+ \d+\] (?:\(\w+\) )?[\w./]+:\d+: ?"),
    ("bracketed-level-time", r"\[" + _LEVEL + r"\][ |]+" + _DAY + "[ T]" + _TIME + r"[ |:-]*"),
    ("nemo", r"\[NeMo (?P<level>[DIWEC]) " + _DAY + " " + _TIME + r" [\w.-]+:\d+\] ?"),
    ("celery", r"\[" + _DAY + " " + _TIME + r": " + _LEVEL + r"/[\w-]+\] ?"),
    ("redis", r"\d+:[A-Z] \d\d [A-Z][a-z]{2} \d{4} " + _TIME + r" [*#.-] "),
    ("worker", r"\((?P<source>[A-Za-z_][\w.:<>-]*(?= ))? ?(?:rank=(?P<rank>\d+) )?pid=(?P<pid>\d+)(?:, ip=[^)]*)?\) ?"),
    ("worker-rank", r"\((?P<source>[A-Za-z_]\w*) rank=(?P<rank>\d+)\) ?"),
    ("ray-daemon", r"\((?P<source>raylet|autoscaler|gcs_server|dashboard)(?:[ ,+][^)]*)?\) ?"),
    ("rank", r"\[(?:rank ?|Rank ?|RANK ?|default|train|trainer|GPU ?|gpu)(?P<rank>\d{1,5})\]:? ?"),
    ("mpirun", r"\[(?:\d+,)?(?P<rank>\d+)\]<std(?:out|err)>:? ?"),
    ("number-before", r"\[\d{1,7}\] ?(?=\[)"),
    ("numbered", r"\[(?P<rank>\d{1,4})\]: ?"),
    # A number from 400 to 599 is a status of HTTP rather than a rank.
    ("srun", r" {0,4}(?P<rank>(?![45]\d\d:)\d{1,5}): (?! *\w+ +\|)"),
    ("place-dash", r"[a-z_]\w{0,60}\.py:\d+ -- (?=\S)"),
    ("buildkit", r"#\d{1,4} \d+\.\d{1,3} +(?=\S)"),
    ("pod", r"\[(?P<source>pod/[\w./-]+)\] ?"),
    ("compose", r"(?P<source>[A-Za-z][\w.]*[-_][\w.-]*\d|[A-Za-z]{2,}\d{1,3}) +\| ?"),
    # A container by a name of its own: only before what begins like a line of a log, since tables have bars, too.
    (
        "compose-named",
        r"(?P<source>[A-Za-z][\w.-]{1,40}) +\| (?=\d{4}-\d\d|\d\d:\d\d|\[|\{\"|"
        + _LEVEL.replace("?P<level>", "?:")
        + r"|(?:\w+)?Error: |Traceback \()",
    ),
    ("tag-bar", r"[A-Za-z][\w.-]{0,15}\| (?=\S)"),
    ("log4j", r"[A-Za-z][\w.]*-[\w.-]*\d[\w.-]* (?:[A-Z][A-Z_]{2,40}|[a-z]\w*(?:\.\w+){1,8}) - "),
    ("log4j-main", r"main [a-z]\w*(?:\.\w+){2,8} - "),
    ("kernel", r"(?:[\w.-]+ )?kernel: ?"),
    ("user-host", r"[a-z][\w.-]{0,30}@[\w.-]{1,60}: (?=[A-Z][a-z]{2} [ \d]\d \d\d:|\d{4}-\d\d-|\[)"),
    ("month-clock", r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d (?=kernel: )"),
    ("tag-pid", r"(?<=[\d\]Z] )[a-z][\w.-]{2,40}\[\d{2,8}\]: (?=\S)"),
    ("syslog", r"[^\W\d]{3,5}\.? [ \d]\d " + _TIME + r" [\w.-]+ (?:kernel|[\w./@-]+(?:\[\d+\])?): ?"),
    (
        "syslog-iso",
        r"\d{4}-\d\d-\d\dT"
        + _TIME
        + r"(?:Z|[+-]\d\d:?\d\d) (?!"
        + _LEVEL.replace("?P<level>", "?:")
        + r"\b)[\w.-]+ (?:kernel|[\w./@-]+\[\d+\]): ?",
    ),
    ("node", r"(?:[a-z][a-z0-9]*(?:-[a-z0-9]+)*-\d+|(?:node|gpu|worker|host|rank|ip)-?[\d-]+): "),
    ("stream", r"(?:stderr|stdout|STDERR|STDOUT): "),
    (
        "logfmt",
        r'(?:(?:ts|t|time|logger|caller|component)=(?:"[^"]{0,80}"|\S{1,120}) ){0,4}level=(?P<level>\w+) '
        r'(?:(?:ts|t|time|logger|caller|component|source)=(?:"[^"]{0,80}"|\S{1,120}) ){0,4}(?:msg=)?"?',
    ),
    ("bracketed-time", r"\[" + _DAY + "[ T]" + _TIME + _ZONE + r"\] ?"),
    ("bracketed-clock", r"\[" + _TIME + r"\] ?"),
    ("time", _DAY + "[ T]" + _TIME + _ZONE + r"(?=[ \t,:|\]-]|$)[,:|]?[ \t]?(?:\| ?|- )?"),
    ("clock", _TIME + r"(?=[ \t|])[ \t](?:\| ?|- )?"),
    ("dmesg-date", r"\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d " + _TIME + r" \d{4}\] ?"),
    (
        "day-clock",
        r"(?:[^\W\d]{2,9}\.?,? )?(?:\d\d?\.? [^\W\d]{3,9}\.?,? (?:\d{4},? )?)?\d\d:\d\d(?::\d\d)?(?=[ \t])[ \t](?:\| ?|- )?",
    ),
    ("horovod", r"\[" + _DAY + " " + _TIME + r": (?P<level>[IWEF]) [\w./-]+:\d+\] "),
    (
        "compact-time",
        r"\d{8}[-T_]\d{6}(?:[.,]\d{1,6})?Z? (?:(?:(?P<level>[DIWEFC])|-) (?=\S))?(?:\[[\w.-]{1,40}\]:? )?",
    ),
    ("time-colon", r"\d{4}-\d\d-\d\d:" + _TIME + " "),
    ("source-level", r"[a-z_]\w{0,40} \| " + _LEVEL + " - "),
    (
        "trt",
        r"\[\d\d/\d\d/\d{4}-"
        + _TIME
        + r"\] (?:\[TRT(?:-LLM)?\] )?(?:\[RANK (?P<rank>\d+)\] )?\[(?P<level>[IWEV])\] (?:\[TRT\] )?",
    ),
    ("ray-cli", r"(?:VINFO|SUCC|PANIC|(?P<level>INFO|WARN|ERR)) [\w./]+\.py:\d+ -- "),
    ("tag-time", r"\[[a-z][\w-]{0,20}\] (?=\d{4}-\d\d-\d\d[ T]\d\d:)"),
    ("espnet", r"\([a-z_]\w*:\d+\) " + _LEVEL + ": "),
    (
        "transformers",
        r"\[" + _LEVEL + r"\|[^\]\s]{1,60}(?: " + _TIME + r")?\] (?:" + _DAY + " " + _TIME + r"|[\w.]{1,80}:\d+) >> ",
    ),
    ("composer", r"rank(?P<rank>\d+)\[(?P<pid>\d+)\]\[\w+\]: " + _LEVEL + r": (?:[\w.]+: )?"),
    ("submitit", "submitit " + _LEVEL + r" \(" + _DAY + " " + _TIME + r"\) - "),
    ("d2", r"\[\d\d/\d\d \d\d:\d\d:\d\d [a-zA-Z][\w.]*\]: ?"),
    ("rank-words", r"[Rr]ank[ =:]?(?P<rank>\d{1,5})(?: {2,}|: | \| )(?=\S)"),
    ("apache-time", r"\[\d\d/[A-Z][a-z]{2}(?:/\d{4})?[ :]" + _TIME + r"(?: [+-]\d{4})?\] ?"),
    ("three-letters", r"(?P<level>INF|WRN|ERR|DBG|FTL|KRN) [\w./:-]{1,60} +\| ?"),
    ("kernel-tag", r"\[(?:kern|kernel|dmesg)\] ?"),
    ("pm2", r"(?P<source>\d{1,3}\|[\w.@-]{1,40}) *\| ?"),
    ("name-colon-level", r"(?:- )?[A-Za-z_][\w.]{0,40}:(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL): ?(?=\S)"),
    (
        "name-level",
        r"(?<=\d )[A-Za-z_][\w.]{0,40} +(?P<level>DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)(?::| -|) +(?=\S)",
    ),
    ("loguru-place", r"[A-Za-z_][\w.]*:[\w<>]+:\d{1,5} - +(?=\S)"),
    ("padded-level", r"\[ +" + _LEVEL + r"\](?: - |: )"),
    ("level-source", r"\[" + _LEVEL + r":[\w.-]+\] "),
    ("airflow-day", r"\[\d{4}-\d\d-\d\d, \d\d:\d\d:\d\d [A-Z]{3,4}\] ?"),
    ("airflow", r"\{[\w./-]+\.py:\d+\} " + _LEVEL + " - "),
    (
        "postgres",
        r"\[(?P<pid>\d+)\] (?:\S{1,60}@\S{1,60} )?(?:FATAL|(?P<level>LOG|PANIC|ERROR|WARNING|NOTICE|DETAIL|HINT|STATEMENT)):  ",
    ),
    ("k8s-event", r"(?:\d+[smhd]){1,2} +(?:Normal|Warning) +[A-Z][A-Za-z]+ +[a-z]+/[\w.-]+ +"),
    ("k8s-describe", r"(?:Normal|Warning) +[A-Z][A-Za-z]+ +(?:\d+[smhd]){1,2}(?: \(x\d+ over \w+\))? +[\w-]+ +"),
    ("spring", " ?" + _LEVEL + r" \d+ --- \[[^\]]{1,60}\] \S{1,80} *: "),
    ("date", r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d " + _TIME + r"(?: [A-Z]{3,4})? \d{4}:? ?"),
    ("uptime", r"\d+\.\d\d\.\d{3}\.\d{3} (?P<level>[IWE]) "),
    ("tag", r"\[[A-Za-z][\w. -]{0,40}\] (?=" + _LEVEL.replace("?P<level>", "?:") + r"\b ?[:|-])"),
    ("level-name", r"\[(?P<level>Trace|Debug|Info|Notice|Warning|Warn|Error|Critical|Fatal)\] ?"),
    (
        "tag-level",
        r"\[[A-Za-z][\w. -]{0,40}\] ?(?=\[(?:Trace|Debug|Info|Notice|Warning|Warn|Error|Critical|Fatal|TRACE|DEBUG|INFO|WARNING|WARN|ERROR|FATAL|trace|debug|info|warning|warn|error|critical)\])",
    ),
    ("level-bracket", r"\[" + _LEVEL + r" *\](?: \[[\w./-]+:\d+(?::[\w<>]+)?\])?:? ?"),
    ("basic", _LEVEL + r":[A-Za-z_][\w.-]*:(?=\S)"),
    (
        "level",
        r" ?" + _LEVEL + r"(?: {0,9}[:|] {0,5}| - | +(?=\[[\w./-]+:\d+\])| +(?=\d\d-\d\d )| {1,5}(?=[\w./\[\"'<(-]))",
    ),
    # Behind a time: a level of one letter, and the place in a source.
    ("letter", r"(?<=[\d\]] )(?P<level>[DIWE]) {1,3}(?:\| )?(?=[^\s|])"),
    ("place-behind", r"(?<=[\d\]] )[\w/-]+\.(?:go|py|rs|cc|cpp|c|js|ts|java):\d+: "),
    ("logger-level", r"(?:- )?(?!step\b|epoch\b)[A-Za-z_][\w.]*:? - " + _LEVEL + r" - (?:[\w.]+ - )?"),
    ("level-logger", r"- " + _LEVEL + r" - (?:[\w.<>]+(?::\d+)? - )?"),
    ("bracket-name", r"\[(?:(?:PID|RANK|pid|Rank):\d+|[a-z_]\w*(?:\.\w+)+(?::\d+)?)\] ?"),
    ("place", r"\[[\w./-]+\.(?:py|cpp|cc|cu|rs|go):\d+(?::[\w<>]+)?\] ?"),
    ("place-go", r"source=[\w./-]+:\d+ (?:msg=\"?)?"),
    ("rsync-bar", r" *[\d,]+ +\d{1,3}% +[\d.]+[kMG]?B/s +\d+:\d\d:\d\d(?: \([^)\n]{1,60}\))? +(?=rsync)"),
    ("bar", r"[^\r\n]{0,200}?(?<!\d)\d{1,12}/\d{1,12} \[[^\]\r\n]{5,120}\](?=\[)"),
)
OF_SPEAKERS = ("worker", "worker-rank", "ray-daemon", "rank", "mpirun", "numbered", "srun", "pod", "compose", "host")
"""Envelopes that only say who speaks: a text, or a traceback, may stand behind them line by line."""

_COMPILED = tuple((name, re.compile(pattern)) for name, pattern in ENVELOPES)

# Which rows can begin with a character: most lines try a handful instead of all.
_STARTS = {
    "cri": "0123456789", "tag-klog": "[", "klog": "[<", "glog": "[IWEFCD", "epoch": "IWEF", "tensorflow": "IWEF", "zap-level": "DIWEPF", "jupyter": "[", "sglang": "[",
    "bracketed-level-time": "[", "celery": "[", "nemo": "[", "redis": "0123456789", "buildkit": "#", "worker": "(", "worker-rank": "(", "ray-daemon": "(", "rank": "[", "mpirun": "[",
    "number-before": "[", "numbered": "[", "srun": " 0123456789", "pod": "[", "bracketed-time": "[",
    "bracketed-clock": "[", "time": "0123456789", "clock": "0123456789", "uptime": "0123456789", "syslog-iso": "0123456789", "level-bracket": "[",
    "level-name": "[", "tag-level": "[", "tag": "[", "level": " TDINSWECFdiwefc", "place": "[", "bracket-name": "[", "basic": "TDINSWECFdiwefc", "logfmt": "tlc", "log4j-main": "m", "horovod": "[", "time-colon": "0123456789", "compact-time": "0123456789", "source-level": "abcdefghijklmnopqrstuvwxyz_", "trt": "[", "ray-cli": "VSPIWE", "tag-time": "[", "espnet": "(", "transformers": "[", "composer": "r", "submitit": "s", "d2": "[", "padded-level": "[", "level-source": "[", "airflow-day": "[", "airflow": "{", "postgres": "[", "k8s-event": "0123456789", "k8s-describe": "NW", "spring": " TDINSWECFdiwefc", "place-go": "s", "date": "SMTWF", "stream": "sS",
    "level-logger": "-", "rsync-bar": " 0123456789", "node": "abcdefghijklmnopqrstuvwxyz",
}  # fmt: skip
# Of rows that begin with a bracket: whether a digit (0), a letter (a) or a blank ( ) is the next character.
_SECONDS = {
    "klog": "0 ", "tag-klog": "a", "bracketed-level-time": "a", "celery": "0", "nemo": "a", "rank": "a", "mpirun": "0", "number-before": "0", "numbered": "0",
    "pod": "a", "bracketed-time": "0", "bracketed-clock": "0", "level-name": "a", "tag-level": "a", "tag": "a", "place": "a0",
    "bracket-name": "a", "horovod": "0", "trt": "0", "tag-time": "a", "espnet": "a", "transformers": "a", "d2": "0",
    "padded-level": " ", "level-source": "a", "airflow-day": "0", "postgres": "0", "jupyter": "a", "ray-core": "0", "sglang": "0",
    "dmesg-date": "a",
}  # fmt: skip
_TRIES = {}


def _tries(text, position):
    """The rows that may begin at a place of a text."""
    char, following = text[position], text[position + 1 : position + 2]
    key = char, ("0" if following.isdigit() else "a" if following.isalpha() else following if following == " " else "")
    if key not in _TRIES:
        bracket = char in "[(" and key[1]
        _TRIES[key] = [
            row
            for row in _COMPILED
            if char in _STARTS.get(row[0], char) and (not bracket or key[1] in _SECONDS.get(row[0], key[1]))
        ]
    return _TRIES[key]


_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_])|#033\[[0-9;]*m")
_REPEATED = re.compile(r" *\[repeated \d+x across cluster\].*$")

LEVELS = {
    "T": 10, "D": 10, "I": 20, "W": 30, "E": 40, "C": 50, "F": 50,
    "TRACE": 10, "DEBUG": 10, "INFO": 20, "NOTICE": 20, "SUCCESS": 20, "WARN": 30, "WARNING": 30, "ERR": 40,
    "INF": 20, "DBG": 10, "WRN": 30, "FTL": 50, "ERROR": 40, "EXCEPTION": 40, "CRIT": 50, "CRITICAL": 50, "FATAL": 50, "PANIC": 50,
}  # fmt: skip
"""Severity by name, as Python's logging numbers it; 0 is a line that names none."""


class Line:
    """One message: number (1-based), text without envelopes, and what the envelopes said."""

    __slots__ = ("dressed", "level", "number", "pid", "rank", "raw", "source", "text")

    def __init__(self, number, raw, text, rank, pid, source, level, dressed):
        self.number, self.raw, self.text = number, raw, text
        self.rank, self.pid, self.source, self.level = rank, pid, source, level
        self.dressed = dressed  # names of the envelopes taken off

    def part(self, text):
        """One line of a message of several, such as a traceback in a field of a record."""
        who = self.rank, self.pid, self.source, self.level
        return Line(self.number, self.raw, text, *who, [*self.dressed, "record"])

    @property
    def key(self):
        """Who wrote it: lines of one traceback share it, however the ranks are woven."""
        return self.source, self.rank, self.pid


def decode(raw):
    """A line's bytes as text: capped, NULs dropped, what a carriage return overwrote cut off."""
    if len(raw) > LONGEST:
        raw = raw[: LONGEST // 2] + b" \xe2\x80\xa6 " + raw[-LONGEST // 2 :]
    if b"\0" in raw:
        raw = raw.replace(b"\0", b"")
    if b"\r" in raw:
        raw = last_drawn(raw)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace") if raw.count(b"\xc3") else raw.decode("latin-1")


def last_drawn(raw):
    """What a terminal shows of a line that a progress bar drew again and again: its last part that is not blank."""
    for part in reversed(raw.split(b"\r")):
        if part.strip():
            return part
    return b""


def plain(text):
    """The text without terminal colours."""
    if "\x1b" in text or "#033[" in text:
        text = _ANSI.sub("", text)
    return text


def undress(number, raw, hosts=()):
    """The `Line` of some bytes. hosts: what a launcher puts in front, as `hosts.learned` found it in this log."""
    text = plain(decode(raw))
    shown, rank, pid, source, level, dressed = text, None, None, None, 0, []
    if text.startswith("{") and text.rstrip().endswith("}"):
        text, level = from_json(text)
    position = 0
    host = host_of(text) if hosts else None
    bar = barred(text, hosts) if hosts else None
    if bar is not None:
        source, position, dressed = bar[0], bar[1], ["host"]
    elif host is not None and shape_of(host) in hosts:
        position, source, dressed = len(host) + 2, host, ["host"]
    for _ in range(8):
        if position and text.startswith("{", position) and '"message"' in text and text.rstrip().endswith("}"):
            inner, level = from_json(text[position:])
            text = text[:position] + inner
        found = None
        for name, pattern in _tries(text, position) if position < len(text) else ():  # noqa: B007
            found = pattern.match(text, position)
            if found and found.end() > position:
                break
            found = None
        if not found:
            break
        dressed.append(name)
        position = found.end()
        groups = found.groupdict()
        rank = groups.get("rank") or rank
        pid = groups.get("pid") or pid
        source = groups.get("source") or source
        if groups.get("level"):
            level = LEVELS.get(groups["level"].upper(), level)
    text = text[position:]
    if "[repeated " in text:
        text = _REPEATED.sub("", text)
    if text[:1] == '"' and "glog" in dressed:
        text = text.strip('"')
    if "logfmt" in dressed:
        text = text.rstrip('"')
    return Line(number, shown, text, _number(rank), _number(pid), source, level, dressed)


def _number(text):
    return int(text) if text is not None and len(text) < 10 else None


DEALT_WITH = re.compile(
    r"(?i)(?![^\n]*\b(?:exit|abort|stop|die|dying|terminat|shut|quit|rais|fail|kill|giv)\w*\b)(?:will )?(?:be )?(?:skip|retr[yi]|ignor|fall|fell|re-?fetch|fetch\w* again|try\w* again|again|stor|keep|kept|quarantin|re-?queue|re-?schedul|continu|replac|default|use|using|drop|switch|next)"
)
"""What a record names as its action, where the job goes on."""

_NO_FIGURE = ("ts", "time", "timestamp", "pid", "line", "lineno", "line_number", "thread", "process")
MESSAGE_KEYS = ("message", "msg", "event", "text", "log", "body", "ev", "evt", "action", "m", "status", "state")
DETAIL_KEYS = ("status", "state", "result", "detail", "details", "reason", "why", "cause", "path", "file", "key")
LEVEL_KEYS = ("level", "levelname", "severity", "lvl", "lv", "log_level", "loglevel", "sev")
TRACE_KEYS = ("exc_info", "exception", "traceback", "stack_trace", "stack", "error", "err")


def from_json(text):
    """Message and severity of a JSON log line; anything else comes back as it is.

    A traceback in a field of its own stands behind the message, separated by a line feed.
    """
    import json

    try:
        row = json.loads(text)
    except (ValueError, RecursionError):
        return text, 0
    if not isinstance(row, dict):
        return text, 0
    inner = row["fields"] if isinstance(row.get("fields"), dict) else row
    message = next((inner[key] for key in MESSAGE_KEYS if isinstance(inner.get(key), str)), None)
    if message is None and isinstance(inner.get("type"), str):
        message = "record=" + inner["type"]  # a kind of record, and no sentence: it ends nothing
    trace = next((inner[key] for key in TRACE_KEYS if isinstance(inner.get(key), str) and inner[key]), None)
    if message is None and trace is None and not any(key in row for key in ("step", "loss", "iteration", "epoch")):
        return text, 0
    name = next((row[key] for key in LEVEL_KEYS if row.get(key)), "")
    target = row.get("target")
    front = (
        "%s: " % target if (isinstance(target, str) and "::" in target) or target == "text_generation_launcher" else ""
    )
    figures = ["%s: %s" % item for item in inner.items() if type(item[1]) in (int, float) and item[0] not in _NO_FIGURE]
    details = ["%s: %s" % (key, inner[key][:300]) for key in DETAIL_KEYS if isinstance(inner.get(key), str)]
    details = [one for one in details if message is None or one.split(": ", 1)[1] != message]
    body = " ".join([front + (message or "").rstrip("\n"), *details, *figures[:16]])
    level = LEVELS.get(str(name).upper(), 0)
    if level == 40 and _taken_care_of(inner):
        level = 30
    return (body + "\n" + trace if trace else body), level


def _taken_care_of(row):
    """Whether a record itself says that its failure ends nothing, or what is done about it."""
    if row.get("optional") is True or row.get("fatal") is False or row.get("handled") is True:
        return True
    return any(
        isinstance(row.get(key), str) and DEALT_WITH.match(row[key]) for key in ("action", "effect", "resolution")
    )
