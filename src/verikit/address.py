"""Addresses: values that say where a claim is looked at, and hold no connection.

`Local()` is this machine, `SSH("user@host:port")` another one, `Exec(["docker", "exec", "-i", "box"])` whatever a command
reaches.  Strings stand for them everywhere; ranges are written as Slurm writes them: `gpu[001-016,020]`.
"""

from __future__ import annotations

import itertools
import os
import re
import shlex
from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from verikit.values import number

MOST = 100_000
"""Hosts that one range may stand for; a slip such as `gpu[1-10000000]` is an error, not an hour of waiting."""

_TARGET = re.compile(
    r"(?:(?P<user>[^\s@:/\[\]]+)@)?"
    r"(?:\[(?P<v6>[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(?:%[\w.-]+)?)\]|(?P<host>[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?\.?))"
    r"(?::(?P<port>\d{1,5}))?"
)


def _paths(value: Any) -> tuple[str, ...]:
    return tuple(os.fspath(item) for item in ([value] if isinstance(value, (str, os.PathLike)) else value))


def _words(value: Any) -> tuple[str, ...]:
    if isinstance(value, (str, bytes)) or not value:
        raise TypeError(f"argv is a list of words, as in Exec(['docker', 'exec', '-i', 'box']); got {value!r}")
    words = tuple(value)
    if not all(isinstance(word, str) for word in words):
        raise TypeError(f"argv is a list of strings; got {value!r}")
    return words


class Address:
    """Base of the values that say where. `str` of one is its name in reports.

    A new kind subclasses it as a frozen attrs class and gives its opener a row in `verikit.hosts.OPENERS`.
    """

    __slots__ = ()

    @property
    def plain(self) -> bool:
        """Whether its name alone says all of it, so that the name may stand for it in stored claims."""
        return False


@attrs.frozen(repr=False)
class Local(Address):
    """This machine. python: the interpreter that looks; by default the one that runs this."""

    python: str | None = attrs.field(default=None, kw_only=True)

    def __str__(self) -> str:
        return "local"

    def __repr__(self) -> str:
        return _call(self)

    @property
    def plain(self) -> bool:
        """Whether its name alone says all of it."""
        return self == Local()


@attrs.frozen(repr=False)
class SSH(Address):
    """A host reached over SSH: `SSH("user@name")`, `SSH("user@name:2222")`, `SSH("[::1]:22")`.

    The user's OpenSSH configuration, agent, keys and `known_hosts` are honoured; what is given here goes before them.

    python: interpreter on the host; by default the first usable of `python3`, `python` and common places.
    keys: paths of private keys to try, instead of the configured ones and the agent's.
    known_hosts: path of the file that names the host's key, instead of `~/.ssh/known_hosts`.
    config: path of an OpenSSH configuration file, instead of `~/.ssh/config`; `""` reads none.
    jump: target of the host to go through, as `ProxyJump` takes it; `""` goes directly whatever the configuration says.
    agent: path of the agent's socket, instead of `$SSH_AUTH_SOCK`; `""` asks none.
    connect_timeout: seconds for the connection to be open and authenticated.

    Raises ValueError for a target that names no host.
    """

    target: str
    python: str | None = attrs.field(default=None, kw_only=True)
    keys: tuple[str, ...] = attrs.field(default=(), kw_only=True, converter=_paths)
    known_hosts: str | None = attrs.field(default=None, kw_only=True)
    config: str | None = attrs.field(default=None, kw_only=True)
    jump: str | None = attrs.field(default=None, kw_only=True)
    agent: str | None = attrs.field(default=None, kw_only=True)
    connect_timeout: float = attrs.field(default=10.0, kw_only=True)

    def __attrs_post_init__(self) -> None:
        match = _target(self.target)
        number("connect_timeout", self.connect_timeout, above=0)
        if match["port"] and not 0 < int(match["port"]) < 65536:
            raise ValueError(f"a port is a number from 1 to 65535; got {match['port']} in {self.target!r}")
        if self.jump:
            for hop in self.jump.split(","):
                _target(hop.strip())

    @property
    def user(self) -> str | None:
        """The login name, if the target says one."""
        return _target(self.target)["user"]

    @property
    def host(self) -> str:
        """The host's name or number, without brackets."""
        match = _target(self.target)
        return match["v6"] or match["host"]

    @property
    def port(self) -> int | None:
        """The port, if the target says one."""
        port = _target(self.target)["port"]
        return int(port) if port else None

    @property
    def plain(self) -> bool:
        """Whether its name alone says all of it."""
        return self == SSH(self.target)

    def __str__(self) -> str:
        return self.target

    def __repr__(self) -> str:
        return _call(self, self.target)


@attrs.frozen(repr=False)
class Exec(Address):
    """Whatever a command reaches that carries standard input and output: `Exec(["docker", "exec", "-i", "box"])`.

    The agent's start is added to `argv` as further words (`sh -c …`), so the command must run the words that follow it.
    name: how reports call it; by default the command itself.  python: as for `SSH`.
    """

    argv: tuple[str, ...] = attrs.field(converter=_words)
    name: str | None = attrs.field(default=None, kw_only=True)
    python: str | None = attrs.field(default=None, kw_only=True)

    def __str__(self) -> str:
        return self.name or shlex.join(self.argv)

    def __repr__(self) -> str:
        return _call(self, list(self.argv))


def hosts(*where: Any) -> tuple[Address, ...]:
    """Addresses from addresses, strings, range strings and iterables of these, in order, each once.

    `hosts("root@gpu[001-016,020]")` is seventeen hosts; brackets may stand anywhere in a name and more than once, commas
    outside them separate names.  Source of the form: Slurm's hostlist expressions (`scontrol show hostnames`).
    Raises ValueError for a string that names no host, an empty range, or more than 100,000 hosts.
    """
    named = list(itertools.islice(_each(where), MOST + 1))
    if len(named) > MOST:
        raise ValueError(f"at most {MOST:,} hosts can be named at once; these are more")
    return tuple(dict.fromkeys(named))


def _each(where: Iterable[Any]) -> Iterator[Address]:
    for item in where:
        if isinstance(item, Address):
            yield item
        elif isinstance(item, str):
            for name in expand(item):
                yield Local() if name == "local" else SSH(name)
        elif isinstance(item, Iterable) and not isinstance(item, (bytes, bytearray)):
            yield from _each(item)
        else:
            raise TypeError(f"a host is an address, a string or an iterable of these; got {item!r}")


def expand(text: str) -> list[str]:
    """The names that a range string stands for: `a,b[1-2]` -> `a`, `b1`, `b2`; zeros in front are kept."""
    names = [name for word in _split(text) for name in _expand_word(word, text)]
    if not names:
        raise ValueError(f"a host is `user@name:port` or a range such as `gpu[001-016]`; got {text!r}")
    if len(names) > MOST:
        raise ValueError(f"a range stands for at most {MOST:,} hosts; {text!r} stands for {len(names):,}")
    return names


def _split(text: str) -> list[str]:
    words, depth, word = [], 0, ""
    for char in text:
        depth += (char == "[") - (char == "]")
        if depth not in (0, 1):
            raise ValueError(f"brackets do not match in {text!r}")
        if char == "," and not depth:
            words.append(word.strip())
            word = ""
        else:
            word += char
    if depth:
        raise ValueError(f"brackets do not match in {text!r}")
    words.append(word.strip())
    return [word for word in words if word]


def _expand_word(word: str, text: str) -> list[str]:
    pieces: list[list[str]] = []
    total = 1
    for piece in re.split(r"(\[[^\]]*\])", word):
        inside = piece[1:-1] if piece.startswith("[") else None
        # A colon in brackets is an IPv6 address; ranges hold digits, commas and dashes.
        pieces.append([piece] if inside is None or ":" in inside else _range(inside, text))
        total *= len(pieces[-1])
        if total > MOST:
            raise ValueError(f"a range stands for at most {MOST:,} hosts; {text!r} stands for more")
    return ["".join(choice) for choice in itertools.product(*pieces)]


def _range(inside: str, text: str) -> list[str]:
    out: list[str] = []
    for item in inside.split(","):
        match = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", item)
        if not match or (match[2] and int(match[2]) < int(match[1])):
            raise ValueError(f"a range is numbers such as [001-016,020], lower ones first; got [{inside}] in {text!r}")
        low, high = int(match[1]), int(match[2] or match[1])
        if high - low >= MOST:
            raise ValueError(f"a range stands for at most {MOST:,} hosts; {text!r} stands for more")
        out += [str(number).zfill(len(match[1])) for number in range(low, high + 1)]
    return out


def fold(names: Iterable[str]) -> str:
    """Names as short as a person would write them: `gpu[001-062,064]`; each name once, in order of first appearance.

    Linear in the number of names, also where none can be folded.
    """
    # The last number of a name varies; a port, or the end of an IP address with one, is no number of a host.
    split = {name: None if re.search(r":\d+$", name) else _NUMBERED.fullmatch(name) for name in names}
    padded = {(m[1], len(m[2]), m[3]) for m in split.values() if m and len(m[2]) > 1 and m[2].startswith("0")}
    groups: dict[tuple[str, int, str], list[int]] = {}
    for name, match in split.items():
        if match is None:
            groups.setdefault((name, -1, ""), [])
        else:
            width = len(match[2]) if (match[1], len(match[2]), match[3]) in padded else 0
            groups.setdefault((match[1], width, match[3]), []).append(int(match[2]))
    return ",".join(_fold_group(*key, numbers) for key, numbers in groups.items())


_NUMBERED = re.compile(r"(.*?)(\d+)([^\d]*)", re.DOTALL)


def _fold_group(head: str, width: int, tail: str, numbers: list[int]) -> str:
    if width < 0:
        return head
    runs: list[tuple[int, int]] = []
    for value in sorted(numbers):
        if runs and value == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], value)
        else:
            runs.append((value, value))
    words = [f"{low:0{width}d}" if low == high else f"{low:0{width}d}-{high:0{width}d}" for low, high in runs]
    return f"{head}{words[0]}{tail}" if len(numbers) == 1 else f"{head}[{','.join(words)}]{tail}"


def _target(target: str) -> re.Match[str]:
    match = _TARGET.fullmatch(target) if isinstance(target, str) else None
    if match is None:
        raise ValueError(f"a host is `name`, `user@name`, `user@name:2222` or `[::1]:22`; got {target!r}")
    return match


def _call(address: Any, *first: Any) -> str:
    """The call that rebuilds an address, saying only what differs from the defaults."""
    words = [repr(item) for item in first]
    for field in attrs.fields(type(address))[len(first) :]:
        value = getattr(address, field.name)
        if value != field.default:
            words.append(f"{field.name}={value!r}")
    return f"{type(address).__name__}({', '.join(words)})"
