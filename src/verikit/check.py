"""Checks: claims as values, and the closed set of nodes that combine them.

A check is a frozen attrs value: hashable, comparable, picklable; its `repr` rebuilds it; building it does no I/O.
Leaves are open (a class with fields, `look()` and `judge()`); nodes are closed, so that the walk is one `match`.
Nodes know nothing of facts, leaves nothing of hosts or time.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, ClassVar, NoReturn, Protocol

import attrs

from verikit.address import Address, hosts
from verikit.finding import Finding
from verikit.text import count, mask, seconds
from verikit.values import Frozen, Live, exact, freeze, number, whole
from verikit.verdict import FAIL, PASS, UNKNOWN, Verdict

Facts = Any
"""What a probe answers: JSON scalars, lists, dicts with string keys."""

LOOK_SECONDS = 60.0
"""How long one look may take when its check says nothing else."""

DEPTH = 100
"""Levels of a tree: deeper is no claim that a person wrote, and to walk or print it would take more stack than Python has."""


class Host(Protocol):
    """An opened address, as a check sees it: something that answers looks."""

    @property
    def address(self) -> Any:
        """The `Address` that was opened; `str(host.address)` is its name."""

    @property
    def together(self) -> int:
        """How many hosts' findings `Check.across` will hold together; 1: there is one host alone; 0: there are several, each
        for itself, as under `|`, `~` and `at_least`."""

    async def ask(self, look: Look) -> Facts:
        """The facts; what could not be seen is raised as `Unseen`."""

    async def probe(self, function: Callable[..., Facts], /, **arguments: Any) -> Facts:
        """The facts of `Look(function, **arguments)`."""


@attrs.frozen(repr=False, init=False)
class Look:
    """A question: a probe with its arguments. Hashable, so that equal ones are asked once (1 and True are two).

    `Look(probes.disk.usage, path="/data")`; `.within(600)` gives it that many seconds instead of 60; `.resuming()` says
    that its probe can read on from where it answered the same question before.
    """

    function: Callable[..., Facts]
    arguments: Frozen = attrs.field(eq=exact)
    seconds: float
    resumes: bool = attrs.field(eq=False)

    def __init__(self, function: Callable[..., Facts], /, **arguments: Any) -> None:
        if not callable(function):
            raise TypeError(f"a look asks a probe, a function `def inspect(place, …)`; got {function!r}")
        self.__attrs_init__(function, Frozen(arguments), LOOK_SECONDS, False)

    def within(self, seconds: float) -> Look:
        """The same question, given this many seconds."""
        return self._with(seconds=number("seconds", seconds, above=0))

    def resuming(self) -> Look:
        """The same question to a probe that takes `resume`: None, or in the rounds of a waiting node what it answered under
        that name in the round before ({} in the first).

        That answer is JSON values of some KB at most, goes no further than to the next round, and may change nothing else.
        """
        return self._with(resumes=True)

    def resumed(self, resume: Mapping[str, Any]) -> Look:
        """The question as the next round asks it."""
        return self._with(arguments=Frozen({**self.arguments, "resume": resume}))

    def _with(self, **changes: Any) -> Look:
        other = Look.__new__(Look)
        kept = {
            "function": self.function,
            "arguments": self.arguments,
            "seconds": self.seconds,
            "resumes": self.resumes,
        }
        other.__attrs_init__(**{**kept, **changes})
        return other

    def __repr__(self) -> str:
        words = [self.function.__qualname__, *(f"{name}={value!r}" for name, value in self.arguments.items())]
        return f"Look({', '.join(words)})"


class Check:
    """A claim. Subclass it as a frozen attrs class with fields, `look()` and `judge()`; every check passes when all is well."""

    __slots__ = ()

    absent: ClassVar[Verdict] = UNKNOWN
    """What a missing path means: FAIL for a claim that includes existence, UNKNOWN for one about content."""

    withheld: ClassVar[tuple[str, ...]] = ()
    """Fields that stored data may not set unless whoever loads it allows them by name: what could give a secret away."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__module__ != __name__:
            REGISTERED[registered_name(cls)] = cls

    def __attrs_post_init__(self) -> None:
        """Freezes what was given: dicts, lists and sets."""
        for field in fields_of(type(self)):
            given = getattr(self, field.name)
            object.__setattr__(self, field.name, freeze(given))

    # What a leaf says of itself.

    def look(self) -> Look:
        """The question whose answer `judge` decides on."""
        raise NotImplementedError(f"{type(self).__name__} needs look() and judge(), or examine()")

    def judge(self, facts: Facts) -> Finding:
        """The finding for these facts. Pure: no I/O, no clock."""
        raise NotImplementedError(f"{type(self).__name__} needs judge()")

    async def examine(self, host: Host) -> Finding:
        """Asks and judges. Override it to ask twice; ask only `host.ask(look)` and `host.probe(function, …)`."""
        return self.judge(await host.ask(self.look()))

    def across(self, findings: Mapping[str, Finding]) -> Finding | None:
        """What the findings of several hosts say together, by host; None where there is nothing to add. Pure.

        Asked by `.on` once every host has answered: for what must be the same everywhere, and for sums over all of them,
        which `examine` then leaves out (`host.together` is not 1).
        """
        return None

    # Combining.

    def __and__(self, other: Check) -> Check:
        return AllOf((self, other)) if isinstance(other, Check) else NotImplemented

    def __or__(self, other: Check) -> Check:
        return AnyOf((self, other)) if isinstance(other, Check) else NotImplemented

    def __invert__(self) -> Check:
        return Not(self)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a check has no truth value until it is verified: `a and b` keeps only b, write `a & b` "
            "(`a | b` for or, `~a` for not, `verify(a)` for the answer)"
        )

    def then(self, other: Check) -> Check:
        """As `self & other`, but `other` runs only where this passed; else it is UNKNOWN, cause `not_run`."""
        return Then(self, other)

    def named(self, title: str) -> Check:
        """The same claim under a title of its own, kept as one part of the tree."""
        return Named(self, title)

    # Where.

    def on(self, *where: Any, at_least: int | None = None) -> Check:
        """The whole claim for each host, its unbound leaves looked at there; all must hold, or `at_least` of them.

        A host is an address, a string, a range string, or an iterable of these; each counts once.
        Raises ValueError for no hosts, for nothing unbound beneath (an inner `.on` wins), or for `at_least` out of range.
        """
        return On(self, hosts(*where), at_least)

    # When.

    def after(self, seconds: float) -> Check:
        """The same claim, looked at this many seconds later."""
        return After(self, seconds)

    def timeout(self, seconds: float) -> Check:
        """The same claim with a deadline, past which it is UNKNOWN, cause `timeout`."""
        return Timeout(self, seconds)

    def eventually(self, *, within: float, every: float = 1.0) -> Check:
        """Looks every so many seconds until the claim passes, or can't any more, or `within` seconds are over."""
        return Eventually(self, within, every)

    def consistently(self, *, during: float, every: float = 1.0) -> Check:
        """Looks every so many seconds, at both ends of `during` too; each look must pass."""
        return Consistently(self, during, every)

    # As a value.

    @property
    def title(self) -> str:
        """The claim as a report calls it: its repr, long arguments shortened."""
        return self._written(_shortened)

    @property
    def live(self) -> bool:
        """Whether it is about an object in the memory of this process."""
        return any(isinstance(getattr(self, field.name), Live) for field in fields_of(type(self)))

    def to_dict(self) -> dict[str, Any]:
        """JSON values that `from_dict` turns back into an equal check (`"schema": "verikit.check/1"`).

        Hosts are stored by name only. A live subject is a TypeError.
        """
        from verikit import stored

        return stored.to_dict(self)

    @staticmethod
    def from_dict(
        data: Mapping[str, Any], *, hosts: Mapping[str, Address] | None = None, allow: Collection[str] = ()
    ) -> Check:
        """The check that `to_dict` wrote. Builds only registered checks, and imports nothing by name.

        hosts: what the stored names of hosts stand for, where more than a plain SSH target is meant.
        allow: withheld fields (`token_env` of `HttpHealthy`) that this data may set all the same.
        Raises ValueError for an unknown check, and for `Exec`, `python=` or SSH options in the data.
        """
        from verikit import stored

        return stored.from_dict(data, hosts=hosts, allow=allow)

    def __repr__(self) -> str:
        """The call that rebuilds it, saying only what differs from the defaults."""
        return self._written(repr)

    def _written(self, written: Callable[[Any], str]) -> str:
        words, in_place = [], True
        for field in given_fields(type(self)):
            value, said = getattr(self, field.name), True
            if field.default is not attrs.NOTHING:
                said = not _is_default(self, field, value)
            in_place = in_place and said and not field.kw_only
            if said:
                words.append(written(value) if in_place else f"{field.alias}={written(value)}")
        return f"{type(self).__qualname__}({', '.join(words)})"


TITLE_WORD = 72
"""Characters of one argument in a title: a path's end tells files apart, its beginning the disk."""


def _shortened(value: Any) -> str:
    # A value may say how it wants to be called where its repr is long: `brief`.
    text = mask(getattr(value, "brief", None) or repr(value))  # before it is cut: half a secret would not be known
    return text if len(text) <= TITLE_WORD else f"{text[: TITLE_WORD // 3]}…{text[-TITLE_WORD * 2 // 3 + 1 :]}"


REGISTERED: dict[str, type[Check]] = {}
"""Leaves by the name under which they are stored; a class enters it by being defined."""


def registered_name(cls: type[Check]) -> str:
    """`CheckpointIntact` for verikit's own, `module:Class` for everybody else's."""
    own = cls.__module__.partition(".")[0] == "verikit"
    return cls.__qualname__ if own else f"{cls.__module__}:{cls.__qualname__}"


def fields_of(cls: type[Check]) -> tuple[attrs.Attribute[Any], ...]:
    """The fields of a check class. TypeError for one that is no attrs class."""
    if not attrs.has(cls):
        raise TypeError(f"a check is a frozen attrs class; write @attrs.frozen(repr=False) above {cls.__qualname__}")
    return attrs.fields(cls)  # type: ignore[no-any-return]


def given_fields(cls: type[Check]) -> list[attrs.Attribute[Any]]:
    """The fields that its call takes, under their `alias`; what is derived from them is left out."""
    return [field for field in fields_of(cls) if field.init]


def _is_default(check: Check, field: attrs.Attribute[Any], value: Any) -> bool:
    default: Any = field.default
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        default = default.factory(check) if default.takes_self else default.factory()
    default = freeze(default)
    return (type(value) is type(default) and bool(value == default)) or (value is None and default is None)


# Nodes.


class Node(Check):
    """A check made of others."""

    __slots__ = ("_levels",)

    def __attrs_post_init__(self) -> None:
        for part in parts_of(self):
            if not isinstance(part, Check):
                raise TypeError(f"{_WRITTEN.get(type(self), 'a combination')} takes checks; got {part!r}")
        object.__setattr__(self, "_levels", _own_level(self) + max(map(levels, parts_of(self))))
        if levels(self) > DEPTH:
            raise ValueError(
                f"a claim is at most {DEPTH} levels deep; what is joined by `a & b & c`, `a | b | c`, "
                "AllOf([…]) or at_least(k, …) takes one level, however many there are"
            )


def levels(check: Check) -> int:
    """How deep the tree is; a leaf is one level."""
    known: int | None = getattr(check, "_levels", None)
    # Not kept where it was not built but unpickled.
    return known or _own_level(check) + max(map(levels, parts_of(check)), default=0)


def _own_level(check: Check) -> int:
    return 0 if isinstance(check, On) else 1  # so that what can be built can be aimed


def _tuple(value: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(value)


def _seconds(*, least: float | None = None, above: float | None = None) -> Any:
    """A field that holds a number of seconds."""

    def within_bounds(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
        number(field.name, value, least=least, above=above)

    return attrs.field(validator=within_bounds)


def _title(_: Any, __: Any, value: Any) -> None:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"a title is a non-empty string; got {value!r}")


@attrs.frozen(repr=False)
class AllOf(Node):
    """Every part holds: `a & b`."""

    parts: tuple[Check, ...] = attrs.field(converter=_tuple)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "parts", _flat(AllOf, self.parts))
        super().__attrs_post_init__()

    @property
    def title(self) -> str:
        return "all of"

    def __repr__(self) -> str:
        return " & ".join(_operand(part, 1) for part in self.parts)


@attrs.frozen(repr=False)
class AnyOf(Node):
    """Some part holds: `a | b`."""

    parts: tuple[Check, ...] = attrs.field(converter=_tuple)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "parts", _flat(AnyOf, self.parts))
        super().__attrs_post_init__()

    @property
    def title(self) -> str:
        return "any of"

    def __repr__(self) -> str:
        return " | ".join(_operand(part, 0) for part in self.parts)


@attrs.frozen(repr=False)
class Not(Node):
    """The part does not hold: `~a`."""

    part: Check

    @property
    def title(self) -> str:
        return "not"

    def __repr__(self) -> str:
        return f"~{_operand(self.part, 2)}"


@attrs.frozen(repr=False)
class AtLeast(Node):
    """At least k parts hold: `at_least(k, a, b, c)`."""

    k: int
    parts: tuple[Check, ...] = attrs.field(converter=_tuple)

    def __attrs_post_init__(self) -> None:
        if whole("k", self.k, least=1, unit="checks") > len(self.parts):
            raise ValueError(f"k is a number from 1 to the number of checks, {len(self.parts)}; got {self.k}")
        super().__attrs_post_init__()

    @property
    def title(self) -> str:
        return f"at least {self.k} of"

    def __repr__(self) -> str:
        return f"at_least({', '.join([str(self.k), *map(repr, self.parts)])})"


@attrs.frozen(repr=False)
class Then(Node):
    """Both hold, the second being looked at only where the first passed: `a.then(b)`."""

    first: Check
    second: Check

    @property
    def title(self) -> str:
        return "in turn"

    def __repr__(self) -> str:
        return f"{_operand(self.first, 3)}.then({self.second!r})"


@attrs.frozen(repr=False)
class On(Node):
    """The part holds on each host, or on at least k of them: `a.on(h1, h2, at_least=k)`."""

    part: Check
    hosts: tuple[Address, ...] = attrs.field(converter=_tuple)
    at_least: int | None = None

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if not all(isinstance(host, Address) for host in self.hosts):
            raise TypeError(f"hosts is a tuple of addresses, as `.on` makes it; got {self.hosts!r}")
        if not self.hosts:
            raise ValueError("`.on` takes at least one host; got none")
        if not unbound(self.part):
            if any(leaf.live for leaf in leaves(self.part)):
                raise ValueError(f"{self.part!r} is about an object in this process, which is on no other host")
            raise ValueError(f"every part of {self.part!r} already says where it is looked at; an inner `.on` wins")
        if self.at_least is not None and whole("at_least", self.at_least, least=1, unit="hosts") > len(self.hosts):
            raise ValueError(
                f"at_least is a number from 1 to the number of hosts, {len(self.hosts)}; got {self.at_least}"
            )

    @property
    def title(self) -> str:
        return f"on {count(len(self.hosts), 'host')}" + (
            f", at least {self.at_least}" if self.at_least is not None else ""
        )

    def __repr__(self) -> str:
        words = [repr(str(host)) if host.plain else repr(host) for host in self.hosts]
        if self.at_least is not None:
            words.append(f"at_least={self.at_least}")
        return f"{_operand(self.part, 3)}.on({', '.join(words)})"


@attrs.frozen(repr=False)
class Named(Node):
    """The part under a title of its own: `a.named("…")`."""

    part: Check
    name: str = attrs.field(validator=_title)

    @property
    def title(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"{_operand(self.part, 3)}.named({self.name!r})"


@attrs.frozen(repr=False)
class After(Node):
    """The part, looked at later: `a.after(seconds)`."""

    part: Check
    seconds: float = _seconds(least=0)

    @property
    def title(self) -> str:
        return f"after {seconds(self.seconds)}"

    def __repr__(self) -> str:
        return f"{_operand(self.part, 3)}.after({self.seconds!r})"


@attrs.frozen(repr=False)
class Timeout(Node):
    """The part with a deadline: `a.timeout(seconds)`."""

    part: Check
    seconds: float = _seconds(above=0)

    @property
    def title(self) -> str:
        return f"within {seconds(self.seconds)}"

    def __repr__(self) -> str:
        return f"{_operand(self.part, 3)}.timeout({self.seconds!r})"


@attrs.frozen(repr=False)
class Eventually(Node):
    """The part comes to hold: `a.eventually(within=, every=)`."""

    part: Check
    within: float = _seconds(above=0)
    every: float = _seconds(above=0)

    @property
    def title(self) -> str:
        return f"eventually, within {seconds(self.within)}"

    def __repr__(self) -> str:
        return f"{_operand(self.part, 3)}.eventually(within={self.within!r}, every={self.every!r})"


@attrs.frozen(repr=False)
class Consistently(Node):
    """The part keeps holding: `a.consistently(during=, every=)`."""

    part: Check
    during: float = _seconds(above=0)
    every: float = _seconds(above=0)

    @property
    def title(self) -> str:
        return f"consistently, during {seconds(self.during)}"

    def __repr__(self) -> str:
        return f"{_operand(self.part, 3)}.consistently(during={self.during!r}, every={self.every!r})"


def at_least(k: int, *checks: Check) -> Check:
    """The k-th highest verdict of the checks: PASS once k of them pass. 1 <= k <= n, else ValueError."""
    return AtLeast(k, checks)


def _flat(kind: type[AllOf] | type[AnyOf], parts: tuple[Check, ...]) -> tuple[Check, ...]:
    flat = tuple(inner for part in parts for inner in (part.parts if type(part) is kind else (part,)))
    if len(flat) < 2:
        raise ValueError(f"{kind.__name__} combines at least two checks; got {len(flat)}")
    return flat


_WRITTEN: dict[type[Check], str] = {Then: "then", Not: "~"}

_BINDING = {AnyOf: 0, AllOf: 1, Not: 2}


def _operand(part: Check, least: int) -> str:
    """The part's repr, in brackets where it binds less tightly than its surroundings need."""
    return f"({part!r})" if _BINDING.get(type(part), 3) < least else repr(part)


def parts_of(check: Check) -> tuple[Check, ...]:
    """The checks directly beneath a node; none beneath a leaf."""
    match check:
        case AllOf() | AnyOf() | AtLeast():
            return check.parts
        case Then():
            return (check.first, check.second)
        case Not() | On() | Named() | After() | Timeout() | Eventually() | Consistently():
            return (check.part,)
    return ()


def leaves(check: Check) -> Iterator[Check]:
    """The leaves, from left to right."""
    beneath = parts_of(check)
    if not beneath:
        yield check
    for part in beneath:
        yield from leaves(part)


def unbound(check: Check) -> bool:
    """Whether some leaf is still to be told where to look: it is beneath no `.on`, and no object of this process."""
    if isinstance(check, On):
        return False
    beneath = parts_of(check)
    return any(unbound(part) for part in beneath) if beneath else not check.live


# Checks out of functions.


def check(function: Callable[..., Any]) -> type[Check]:
    """A check class out of one function that looks and decides next to the data.

    The function is `def name(place, field, …)`; it travels by its own source, so it imports what it needs inside.
    It returns `(holds, reason)` or `(holds, reason, facts)`, where `holds` is True, False, or None for "can't tell".

        @verikit.check
        def disk_free(place, path, min_bytes):
            "At least min_bytes are free on the file system of path."
            import os
            info = os.statvfs(path)
            free = info.f_bavail * info.f_frsize
            return free >= min_bytes, f"{free:,} bytes free on {path}, {min_bytes:,} wanted"

    Raises TypeError for a function whose first parameter is not `place`, that takes `*args` or `**kwargs`, or that a
    decorator has replaced: its own source travels, so the decorator would be lost on the way.
    """
    if hasattr(function, "__wrapped__"):
        raise TypeError(f"a decorator has replaced {function.__qualname__}; only its own source travels to the host")
    fields = _fields_of(function)

    def look(self: Any) -> Look:
        return Look(function, **{name: getattr(self, name) for name in fields})

    def judge(self: Any, facts: Facts) -> Finding:
        holds, reason, rest = _answer(function, facts)
        verdict = UNKNOWN if holds is None else PASS if holds else FAIL
        return Finding(verdict, reason, facts=rest)

    # With its names from the beginning, so that it is registered under no other one.
    names = {name: getattr(function, name) for name in ("__doc__", "__module__", "__qualname__")}
    cls = type(function.__name__, (Check,), {"look": look, "judge": judge, **names})
    return attrs.frozen(these=fields, repr=False)(cls)


def _answer(function: Callable[..., Any], facts: Facts) -> tuple[bool | None, str, Mapping[str, Any]]:
    """What it returned, in the documented form only: any other word or number would count as true."""
    match facts:
        case [True | False | None as holds, str(reason)]:
            return holds, reason, {}
        case [True | False | None as holds, str(reason), dict(rest)]:
            return holds, reason, rest
    raise TypeError(
        f"{function.__qualname__} returns (holds, reason) or (holds, reason, facts), where holds is True, False or None; "
        f"it returned {facts!r:.200}"
    )


def _fields_of(function: Callable[..., Any]) -> dict[str, Any]:
    parameters = list(inspect.signature(function).parameters.values())
    plain = all(each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY) for each in parameters)
    if not parameters or parameters[0].name != "place" or not plain:
        raise TypeError(
            f"a check function is `def name(place, field, …)` with named fields; got {function.__qualname__}"
        )
    return {
        each.name: attrs.field(
            default=attrs.NOTHING if each.default is each.empty else freeze(each.default),
            kw_only=each.kind is each.KEYWORD_ONLY,
            converter=freeze,
        )
        for each in parameters[1:]
    }
