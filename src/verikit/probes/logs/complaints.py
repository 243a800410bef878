# ruff: noqa: E501
"""What a job complains of in words of no table, and which of its last sentences is the root.

A sentence complains the more plainly the plainer its words, mark or level are, and tells the more the more things it names: a
path, a key, a number, an address.  The first that tells the most is the root: what comes behind it echoes it, passes an
exit status on, tidies up or takes leave.  A sentence that says what is done instead (`not found, using …`) excuses itself.
"""

import re

from verikit.probes.logs import tables
from verikit.probes.logs.rows import BENIGN, may

PLAIN, MILD = 3, 2
"""How plainly a sentence complains: in words of failure, or in words of lack and contrast."""

LOOKED_AT = 400
"""Letters of a sentence that are looked at: what takes the square of them must not take long."""

SAID_BEFORE, MORE = 0.5, 0.3
"""What a sentence weighs that does not complain, before one that only gives up; by how much less one of weaker words weighs."""

CAUSES = 12
"""Sentences around a complaint among which its causes may be listed."""

EPISODE, PAST = 8, 2
"""Sentences that do not complain, from which on a complaint before them was lived with if another comes; what it weighs less then."""

MILD_ROWS = 8
"""A mild complaint counts within so many of the last sentences: before them it was lived with."""

LAST_WORDS, COMPLAINT, HANDLED = (re.compile(one) for one in (tables.LAST_WORDS, tables.COMPLAINT, tables.HANDLED))
VAGUE = re.compile(tables.VAGUE)
PASSING = re.compile(
    r"%s|%s|%s|[\W_]{0,12}(?:[\w./-]+: ){0,2}(?:%s)ing\b"
    % (tables.ANNOUNCED, tables.CLOSING, tables.PRODUCT, tables.LEAVING)
)
LEAVES = re.compile(r"\b(?:[Ee]xit|[Aa]bort|[Qq]uitt|[Tt]erminat|[Bb]ail|[Gg]iv)ing\b(?: up| out| now)?\W*$")
TRIES = re.compile(r"\b(?:[Rr]etry|[Aa]ttempt|[Tt]ry) #?(\d{1,4}) ?(?:of|/) ?(\d{1,4})\b")
NONE_OF = re.compile(r"\b(?:[Nn]either|[Nn]one|[Nn]othing|[Nn]obody|[Nn]ever)\b")

COLUMN = re.compile(r"\b(?:skipped|dropped|ignored|discarded|rejected)[ _=:]{1,3}\d+(?= *(?:$|[|,;)\]}]))")
"""A column of a row of figures, which says nothing of what was done about a failure."""

CURED = re.compile(tables.CURED)
QUIET = re.compile(r"\[W:|\b(?:WARN(?:ING)?|INFO|NOTICE|DEBUG)\b")
WORD = re.compile(r"[A-Za-z_][\w.+-]{2,}")
COMMON = frozenset(tables.COMMON.split())
TOOL = re.compile(
    r"(?:ls|cp|mv|rm|ln|cat|grep|sed|awk|find|mkdir|rmdir|touch|chmod|chown|wget|curl|rsync|ssh|scp|test|stat|du|df|kill|which|git): "
)
"""What a small tool of a script complains of: the script may do without it, and say so by going on to its end."""

MARK, STATUS, NEGATED = re.compile(tables.MARK), re.compile(tables.STATUS), re.compile(tables.NEGATED)
OWN_KINDS = [(kind, re.compile(pattern)) for kind, pattern in tables.OWN_KINDS]
TALLY = re.compile(
    r"\b(?:\d+|[Kk]eine?) Fehler\b|\b(?:missing|unknown|skipped)[ =:]+\d+\b|\b\d+(?:\.\d+ ?%)? (?:\w+ )?(?:failed|failures?|errors?|mismatch(?:es)?)\b|\b(?:[Ff]ailed|[Ff]ailures?|[Ee]rrors?) {0,12}[=:] ?\d+\b"
    r"|\b[^\W\d]\w* ?[=:] ?(?:0(?![\d.])|[Nn]one\b)|\b(?:failed|failures?|errors?|wrong|missing|corrupt|unread\w*|exceptions?|invalid|rejected|lost|bad)(?: (?!on\b|at\b|for\b|to\b|in\b|from\b|with\b|by\b|of\b|rank\b|node\b)\w+){0,3}:? {0,24}0$|(?<![\d.])0 (?:\w+ ){0,2}left\b|(?<![\d.])(?:0|[Nn]o|[Nn]one) (?:\w+ ){0,2}(?:missing|left over|lost|bad|broken|wrong|rejected|dropped|skipped|unread\w*|unexpected|corrupt\w*)\b"
)  # fmt: skip
ENDED_SO = re.compile(
    r"\b(?:[Ff]inished|[Ee]nded|[Ee]xited|[Cc]ompleted) (?:with|in) (?:status|state)\W+\w+\W*$|(?:^|[:-] )An? (?:exception|error) (?:(?:was|has been) (?:raised|caught)|(?:has )?occurred|happened)\b(?! \()|\bdid not run successfully\b"
)
LOCATED = re.compile(r"(?:[\w.-]+: )?[\w./+-]+\.[a-z]{1,4}:\d+(?::\d+)?:? ?(?:in |[^\s\d])")
"""A place in a source, as the last words of many languages begin."""

THROWN = re.compile(r"(?:[A-Za-z_]\w*[.:$]{1,2}){0,8}\w+(?:Error|Exception): \S")

NAMES = tuple(
    re.compile(one)
    for one in (
        r"[\w.~-]*/[\w.+-]+[\w./+-]*|\b[\w-]+\.(?!\d)[a-zA-Z]\w{1,12}\b",  # a path, a file, a dotted key
        r"'[^'\n]{1,120}'|\"[^\"\n]{1,120}\"|`[^`\n]{1,120}`|\b[A-Za-z]\w*_\w+\b|\b(?!FAIL|ERR|FATAL|WARN|INFO|ABORT|NOT\b|OK\b)[A-Z]{2,}\d*\b",
        r"(?<![\w.])\d{2,}|\d+\.\d|0x[0-9a-f]+|\d[\d.,]* ?[kKMGT]i?B\b",
        r"\d{1,3}(?:\.\d{1,3}){3}|https?://|:\d{2,5}\b|\b(?:rank|node|gpu|GPU|worker|device|port|errno)[ =:#]*\d+",
    )
)
TOKEN = re.compile(r"[\w./-]*[\d_./-][\w./-]*|[^\W\d_]{6,}")

# What excuses a failure must be said of it: behind these, a plain complaint takes the excuse back; a `no` before does, too.
OF_ITS_OWN = ("ignored", "expected", "fallback", "started-again")


def excuses(name, search, text):
    """Whether a row of BENIGN that matches a text really excuses what the text says."""
    found = search(COLUMN.sub("", text) if name == "contained" else text)
    if not found:
        return False
    if name == "retry":
        return not (NEGATED.search(text[: found.start()]) or any(one == of for one, of in TRIES.findall(text)))
    if name == "contained" and LEAVES.search(text):
        return False
    if name not in OF_ITS_OWN:
        return not NEGATED.search(text[: found.start()])
    return not (NEGATED.search(text[: found.start()]) or LAST_WORDS.search(text[found.end() :]))


def excused(text, but=""):
    """Whether a sentence excuses itself. but: the row that excuses nothing here."""
    return any(name != but and may(words, text) and excuses(name, search, text) for name, _, search, words, _ in BENIGN)


def untallied(text):
    """A sentence without its tallies of what went wrong; but for one that nothing that went well outweighs."""
    return TALLY.sub(lambda found: found.group() if _most(found, text) else "", text)


def _most(found, text):
    """Whether a tally is the largest number of a sentence that has others."""
    mine = [int(one) for one in re.findall(r"(?<![\d.])\d{1,12}(?![\d.%])", found.group())]
    rest = text[: found.start()] + text[found.end() :]
    others = [int(one) for one in re.findall(r"(?<![\d.:/-])\d{1,12}(?![\d.:%/-])", rest)]
    return bool(mine and others) and max(mine) > 9 and max(mine) > max(others)


def handled(text):
    """Whether a sentence says what is done instead, and not that nothing is (`no point in retrying`)."""
    found = HANDLED.search(text)
    if found is None or NEGATED.search(text[: found.start()]):
        return False
    return not NONE_OF.search(text[: found.start()])


def ill(text):
    """Whether a sentence speaks of a failure, and does not take it back."""
    text = untallied(text)
    told = LAST_WORDS.search(text) or MARK.match(text) or status(text)
    return bool(told) and not (excused(text) or handled(text))


def cured_by(text, told):
    """Whether a sentence says that it does without what another complained of: both name the same."""
    found = CURED.search(text)
    if not found or LAST_WORDS.search(text[found.end() :]):
        return False
    return bool(set(WORD.findall(text)) & set(WORD.findall(told)) - COMMON)


def status(text):
    """The exit status other than zero that a sentence tells of; 0 for none."""
    for found in STATUS.finditer(text[:600]):
        value = next(int(one) for one in found.groups() if one is not None)
        if value:
            return value
    return 0


def plainness(text, level=0):
    """How plainly a sentence complains: PLAIN, MILD or 0."""
    bare = untallied(text)
    if handled(bare) or excused(bare, but="retry" if level >= 40 else "") or bare.startswith("raise "):
        return 0
    if (
        level >= 40
        or LAST_WORDS.search(bare)
        or MARK.match(bare)
        or THROWN.match(bare)
        or (not level and LOCATED.match(bare))
    ):
        return PLAIN
    return MILD if COMPLAINT.search(bare) else 0


def named(text):
    """How many kinds of things a sentence names, at most 2."""
    return min(2, sum(1 for one in NAMES if one.search(text)))


def vague(text):
    """Whether a sentence only passes on that something ended, or takes leave."""
    return bool(VAGUE.match(text) or ENDED_SO.search(text) or status(text))


def kind_of_words(text):
    """What a sentence in a job's own words is about, of the closed list; python_exception if it does not say."""
    return next((kind for kind, pattern in OWN_KINDS if pattern.search(text)), "python_exception")


def root_of(lines):
    """The line that is the root among some last ones, oldest first, and how plainly it complains; None if none complains."""
    texts = [line.text.strip()[:LOOKED_AT] for line in lines]
    levels = [line.level or _own_level(text) for line, text in zip(lines, texts)]
    hows = [plainness(text, level) for level, text in zip(levels, texts)]
    hows = [0 if 0 < level < 20 else how for level, how in zip(levels, hows)]
    hows = [0 if how == MILD and place < len(lines) - MILD_ROWS else how for place, how in enumerate(hows)]
    if not any(hows):
        return None
    loud = any(how == PLAIN and not 0 < level < 40 for how, level in zip(hows, levels))
    past = _past(texts, hows)
    weights = [
        _weight(texts, hows, place, loud and 0 < level < 40) - PAST * (place < past)
        for place, level in enumerate(levels)
    ]
    place = weights.index(max(weights))
    return _innermost(lines, place), min(hows[place], MILD) if 0 < levels[place] < 40 else hows[place]


def _past(texts, hows):
    """The place of the first complaint behind which there is no gap: what was said before a gap was lived with."""
    told = [place for place, how in enumerate(hows) if how == PLAIN and not vague(texts[place])]
    gaps = [two for one, two in zip(told, told[1:]) if sum(1 for how in hows[one:two] if not how) >= EPISODE]
    return gaps[-1] if gaps else 0


def _own_level(text):
    """30 for a sentence that calls itself a warning or less, in whatever place of its beginning; else 0."""
    return 30 if QUIET.search(text[:100]) else 0


def _weight(texts, hows, place, quiet):
    """How much a sentence tells of the failure; quiet: the program has a level for failures, and this is not of it."""
    text, how = texts[place], hows[place]
    if not how:
        before = place + 1 < len(texts) and hows[place + 1] and vague(texts[place + 1])
        # What stands just before a bare surrender is what it surrenders to, in whatever words.
        return SAID_BEFORE + named(text) if before and not passing(text) else 0
    if vague(text):
        return 0.5 + 0.1 * named(text)
    plain = how - MORE * (how == MILD) - MORE * (not _worded(text))
    return plain + named(text) + _echoed(text, texts[place + 1 :]) - 3 * quiet


def _worded(text):
    """Whether words complain, and not the level of the line or a tally of failures alone."""
    bare = untallied(text)
    return LAST_WORDS.search(bare) or COMPLAINT.search(bare) or MARK.match(bare) or THROWN.match(bare)


def passing(text):
    """Whether a sentence tells of work: that it begins, goes on, ended well or is tidied up."""
    return bool(PASSING.match(text) or excused(text) or handled(text))


def _innermost(lines, place):
    """The last of the causes that are listed behind a complaint, `Caused by:` and what follows; else the complaint."""
    for at in range(max(0, place - CAUSES), min(place + CAUSES, len(lines))):
        if lines[at].text.strip() == "Caused by:":
            place = at
            while place + 1 < len(lines) and lines[place + 1].number == lines[place].number + 1:
                place += 1
    return lines[place]


def _echoed(text, later):
    """Whether a thing that a sentence names is named again by a later one that complains."""
    tokens = set(TOKEN.findall(text))
    return any(tokens & set(TOKEN.findall(one)) and plainness(one) for one in later)
