"""Times written in logs, as far as they serve: differences within one log, and whether they are this host's clock."""

import calendar
import re
import time

_FULL = re.compile(r"(\d{4})[-/.](\d\d)[-/.](\d\d)[T _](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?")
_US = re.compile(r"(\d\d)/(\d\d)/(\d{4}) (\d\d):(\d\d):(\d\d)")
_MONTH_DAY = re.compile(r"\b(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)")
_GLOG = re.compile(r"[IWEF](\d{3,4}) (\d\d):(\d\d):(\d\d)")
_DAY_MONTH = re.compile(
    r"\b(\d\d?) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* (?:\d{4} )?(\d\d):(\d\d)(?::(\d\d))?"
)
MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"
_CLOCK = re.compile(r"(?:^|[\s\[|])(\d\d):(\d\d):(\d\d)(?:[.,]\d+)?(?=[\s\],|]|$)")
# Without seconds only at the beginning, perhaps behind the name of a day: elsewhere it is a duration, or a ratio.
_MINUTE = re.compile(r"\[?(?:[^\W\d]{2,9}\.?,? )?(\d\d):(\d\d)(?=[\s\],|])")
_FOREIGN = re.compile(
    r"\[?(?:[^\W\d]{2,9}\.?,? )?\d\d?\.? [^\W\d]{3,9}\.?,? (?:\d{4},? )?(\d\d):(\d\d)(?::(\d\d))?(?=[\s\],|])"
)
LOOKED_AT = 160
DAY = 86400
ZONES = 14 * 3600
"""How far apart, in seconds, two clocks of one machine may be: a time zone."""


def stamp(text):
    """(seconds, whether a date is among them) of the time at the beginning of a line; None without one.

    Dates without a year are of 2000; a zone other than UTC is taken off.
    """
    text = text[:LOOKED_AT]
    found = _FULL.search(text)
    if found:
        return _epoch(found.group(1, 2, 3, 4, 5, 6), found.group(8)), True
    found = _US.search(text)
    if found:
        month, day, year = found.group(1, 2, 3)
        return _epoch((year, month, day, *found.group(4, 5, 6)), None), True
    found = _MONTH_DAY.search(text)
    if found:
        return _epoch(("2000", *found.groups()), None), False
    found = _GLOG.search(text)
    if found:
        day = found.group(1)
        return _epoch(("2000", day[:-2], day[-2:], *found.group(2, 3, 4)), None), False
    found = _DAY_MONTH.search(text)
    if found:
        day, month, hours, minutes, seconds = found.groups()
        return _epoch(("2000", MONTHS.index(month) // 3 + 1, day, hours, minutes, seconds or 0), None), False
    found = _CLOCK.search(text) or _FOREIGN.match(text) or _MINUTE.match(text)
    if found:
        hours, minutes, seconds = (int(part or 0) for part in (*found.groups(), 0)[:3])
        return float(hours * 3600 + minutes * 60 + seconds), False
    return None


def _epoch(parts, zone):
    try:
        year, month, day, hours, minutes, seconds = (int(part) for part in parts)
        if not (1 <= month <= 12 and 1 <= day <= 31 and hours < 24 and minutes < 60 and seconds < 61):
            return 0.0
        when = float(calendar.timegm((year, month, day, hours, minutes, seconds)))
    except (ValueError, OverflowError):
        return 0.0
    if zone and zone != "Z":
        digits = zone[1:].replace(":", "")
        ahead = int(digits[:2]) * 3600 + int(digits[2:]) * 60
        when -= ahead if zone[0] == "+" else -ahead
    return when


_SPENT = re.compile(r"(\d+(?:\.\d+)?) ?(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?)(?![A-Za-z])")
_BAR = re.compile(r"\[(?:(\d+):)?(\d+):(\d\d)<")


_PROSE = re.compile(r"[A-Za-z]{2,}:? (?:[a-z]{2,}:? )+$")


def spoken_of(text):
    """Whether the date in a line is one that a sentence speaks of (`next run at …`), and not the line's own."""
    found = _FULL.search(text[:LOOKED_AT])
    return found is not None and _PROSE.search(text[: found.start()]) is not None


def own(text):
    """Seconds by the clock that a sentence itself has, as in `waited 9000 s` or `+116m5s`; 0 without one."""
    return sum(float(number) * {"s": 1, "m": 60, "h": 3600}[unit[0]] for number, unit in _SPENT.findall(text))


def bar(text):
    """Seconds since a progress bar began, as it says itself; 0 where it does not."""
    found = _BAR.search(text)
    hours, minutes, seconds = (int(part or 0) for part in found.groups()) if found else (0, 0, 0)
    return float(hours * 3600 + minutes * 60 + seconds)


def between(earlier, later):
    """Seconds from one line's time to another's; over midnight where they are clock times only. None if either lacks."""
    if earlier is None or later is None:
        return None
    if earlier[1] != later[1]:  # two dialects in one log: what the poorer one lacks is taken from neither
        poorer = min(earlier[0], later[0])
        earlier, later = ((_without(one, poorer >= DAY), False) for one in (earlier, later))
    gap = later[0] - earlier[0]
    if gap < -60 and not later[1] and later[0] < 86400:
        gap += 86400
    return gap


def _without(stamp_, dated):
    """The seconds of a stamp as one without a year has them, or (not dated) as a clock has."""
    seconds, with_year = stamp_
    if not dated:
        return seconds % DAY
    if not with_year:
        return seconds
    when = time.gmtime(seconds)
    return float(calendar.timegm((2000, *when[1:6])))


def ahead_of(stamp_, written):
    """How far a log's clock is from the file's, if that is a time zone (a multiple of 15 minutes up to 14 hours) or nothing.

    stamp_: of the last line; written: the file's mtime. None where the two do not go together.
    """
    if stamp_ is None or not stamp_[1]:
        return None
    gap = stamp_[0] - written
    zone = round(gap / 900.0) * 900
    if abs(zone) > ZONES or abs(gap - zone) > 120:
        return None
    return float(zone)


def at_least_ahead(stamp_, written):
    """How far a log's clock is from the file's at the least, where it is another machine's; arguments as of `ahead_of`.

    The last line was written when the file was, or before: what bears an earlier time than that allows is of no later run.
    """
    if stamp_ is None or not stamp_[1] or abs(stamp_[0] - written) <= ZONES:
        return None
    return stamp_[0] - written - 60


def local(seconds):
    """A UTC time as people write it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
