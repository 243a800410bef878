"""Checks as JSON and back: `"schema": "verikit.check/1"`.

Only registered checks are built, and nothing is imported by a name that the data says.  A stored claim names hosts; what a
name stands for beyond a plain SSH target (an interpreter, keys, a command) is said by whoever loads it, never by the data.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Mapping
from typing import Any

from verikit.address import SSH as SSHAddress
from verikit.address import Address, Local, expand
from verikit.check import (
    DEPTH,
    REGISTERED,
    After,
    AllOf,
    AnyOf,
    AtLeast,
    Check,
    Consistently,
    Eventually,
    Named,
    Node,
    Not,
    On,
    Then,
    Timeout,
    given_fields,
    registered_name,
)
from verikit.finding import thaw_facts
from verikit.mark import Mark
from verikit.values import Frozen, Live, freeze
from verikit.verdict import Verdict

SCHEMA = "verikit.check/1"
NODES: dict[str, type[Check]] = {
    cls.__name__: cls for cls in (AllOf, AnyOf, Not, AtLeast, Then, On, Named, After, Timeout, Eventually, Consistently)
}


def to_dict(check: Check) -> dict[str, Any]:
    """The claim as JSON values. TypeError for a live subject, or for a field that JSON can't carry."""
    return {"schema": SCHEMA, **_stored(check)}


def from_dict(
    data: Mapping[str, Any], *, hosts: Mapping[str, Address] | None = None, allow: Collection[str] = ()
) -> Check:
    """The check that `to_dict` wrote; `hosts` says what the stored names stand for, `allow` names withheld fields."""
    if not isinstance(data, Mapping) or data.get("schema") != SCHEMA:
        raise ValueError(f"a stored check is a mapping with schema {SCHEMA!r}; got {_glimpse(data)}")
    return _Loader(hosts or {}, allow).check({key: value for key, value in data.items() if key != "schema"})


# Writing.


def _stored(check: Check) -> dict[str, Any]:
    kind = type(check)
    if NODES.get(kind.__name__) is kind:
        return {"check": kind.__name__, "fields": _fields(check)}
    name = registered_name(kind)
    if REGISTERED.get(name) is not kind:
        raise TypeError(f"{kind.__qualname__} is not registered; define checks as subclasses of Check at module level")
    return {"check": name, "fields": _fields(check)}


def _fields(check: Check) -> dict[str, Any]:
    return {str(field.alias): _value(getattr(check, field.name)) for field in given_fields(type(check))}


def _value(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Check):
        return _stored(value)
    if isinstance(value, Address):
        return _stored_host(value)
    if isinstance(value, Live):
        raise TypeError(f"{value!r} belongs to this process and can't be stored; give a path instead")
    if isinstance(value, (tuple, list)):
        return [_value(item) for item in value]
    if isinstance(value, (frozenset, set)):
        return {"$set": sorted((_value(item) for item in value), key=repr)}
    if isinstance(value, Mapping):
        return {"$map": [[_value(key), _value(item)] for key, item in value.items()]}
    for tag, (kind, write, _) in TAGS.items():
        if isinstance(value, kind):
            return {tag: write(value)}
    raise TypeError(f"{value!r} can't be stored; checks hold text, numbers, mappings and sequences of these")


def _stored_host(host: Address) -> dict[str, Any]:
    # Never more than the name: a file that is read later must not bring interpreters, keys or commands with it.
    return {"host": str(host)} if host.plain else {"host": str(host), "said_by": type(host).__name__}


# Reading.


class _Loader:
    def __init__(self, hosts: Mapping[str, Address], allow: Collection[str]) -> None:
        for name, address in hosts.items():
            if not isinstance(address, Address):
                raise TypeError(f"hosts maps names to addresses; got {address!r} for {name!r}")
        self.hosts, self.allow = hosts, allow

    def check(self, data: Any, depth: int = 0) -> Check:
        if (
            not isinstance(data, Mapping)
            or not isinstance(data.get("fields"), Mapping)
            or set(data) - {"check", "fields"}
        ):
            raise ValueError(f"a stored check has `check` and `fields`; got {_glimpse(data)}")
        name, fields = data.get("check"), data["fields"]
        cls = NODES.get(str(name)) or self.registered(name)
        known = {str(field.alias) for field in given_fields(cls)}
        if set(fields) - known:
            raise ValueError(
                f"{name} has no field {min(set(fields) - known, key=str)!r}; it has {', '.join(sorted(known))}"
            )
        for field in cls.withheld:
            if fields.get(field) is not None and field not in self.allow:
                raise ValueError(
                    f"{name} would use {field}={fields[field]!r}, which data may not decide; "
                    f"if you trust it: from_dict(data, allow=({field!r},))"
                )
        return self.built(cls, {key: self.value(value, depth) for key, value in fields.items()})

    @staticmethod
    def built(kind: type[Check], fields: dict[str, Any]) -> Check:
        """The check with these fields; whatever its class says to unfit ones is a ValueError or TypeError."""
        try:
            check = kind(**fields)
        except (ValueError, TypeError):
            raise
        except Exception as error:
            raise ValueError(f"{kind.__name__} can't be built from what is stored: {error!r:.200}") from error
        if not isinstance(check, Node) and check.live:
            raise ValueError(f"a stored check is never about an object of this process; got {check!r:.200}")
        return check

    @staticmethod
    def registered(name: Any) -> type[Check]:
        import verikit

        own = str(name).partition(".")[0]
        if own in verikit.LAZY:  # verikit's own, which register when first used
            getattr(verikit, own)
        cls = REGISTERED.get(name) if isinstance(name, str) else None
        if cls is None:
            raise ValueError(f"no check {name!r} is registered; import the module that defines it first")
        return cls

    def value(self, value: Any, depth: int) -> Any:
        if depth > 3 * DEPTH:
            raise ValueError(f"a stored check is at most {DEPTH} levels deep")
        if isinstance(value, list):
            return tuple(self.value(item, depth + 1) for item in value)
        if not isinstance(value, Mapping):
            return value
        if "check" in value:
            return self.check(value, depth + 2)  # a combination is one level for its list, and two for itself
        if "host" in value:
            return self.host(value)
        if "$map" in value:
            return Frozen([(self.value(key, depth + 1), self.value(item, depth + 1)) for key, item in value["$map"]])
        if "$set" in value:
            return frozenset(self.value(item, depth + 1) for item in value["$set"])
        tag = next(iter(value), "")
        if len(value) != 1 or tag not in TAGS:
            raise ValueError(f"not a stored value: {_glimpse(value)}")
        return TAGS[tag][2](freeze(value[tag]))

    def host(self, value: Mapping[str, Any]) -> Address:
        name = value["host"]
        if name in self.hosts:
            return self.hosts[name]
        if set(value) != {"host"}:
            raise ValueError(
                f"host {name!r} is more than its name says ({', '.join(sorted(set(value) - {'host'}))}); "
                f"say what it is: from_dict(data, hosts={{{name!r}: SSH(…)}})"
            )
        if name == "local":
            return Local()
        if not isinstance(name, str) or expand(name) != [name]:
            raise ValueError(f"a stored host is the name of one host; got {name!r}")
        return SSHAddress(name)


# Values of other types that a field may hold: tag -> (type, how it is written, how it is read). A new one is one row.
TAGS: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "$mark": (Mark, lambda mark: {"path": mark.path, "entries": thaw_facts(mark.entries)}, lambda data: Mark(**data)),
    "$verdict": (Verdict, lambda verdict: verdict.name, lambda name: _verdict(name)),
    "$datetime": (datetime.datetime, lambda when: when.isoformat(), datetime.datetime.fromisoformat),
}


def _verdict(name: Any) -> Verdict:
    if name not in Verdict.__members__:
        raise ValueError(f"a stored verdict is one of {', '.join(Verdict.__members__)}; got {_glimpse(name)}")
    return Verdict[name]


def _glimpse(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else text[:119] + "…"
