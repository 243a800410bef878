"""How a tensor is held: device, strides, storage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from verikit.spec import predicates

PLAIN: Mapping[str, Any] = {"device": "file", "stride0": False, "contiguous": True, "storage": 0, "nbytes": 0}
"""How a tensor in a file is held, where its format says nothing else."""


def held_as(part: predicates.Predicate, extra: Mapping[str, Any]) -> tuple[bool | None, str]:
    """Whether a tensor is held so, and what was seen; None where that is not known."""
    match part:
        case predicates.Not(inner):
            verdict, words = held_as(inner, extra)
            return (None if verdict is None else not verdict), words
        case predicates.All(parts) | predicates.Any_(parts):
            found = [held_as(each, extra) for each in parts]
            verdicts = [verdict for verdict, _ in found]
            deciding = isinstance(part, predicates.Any_)
            verdict = deciding if deciding in verdicts else None if None in verdicts else not deciding
            return verdict, "; ".join(dict.fromkeys(words for _, words in found))
        case predicates.Atom("real"):
            return _on(extra, lambda device: device != "meta")
        case predicates.Atom("on", devices):
            return _on(extra, lambda device: device in devices or device.partition(":")[0] in devices)
        case predicates.Atom("dense"):
            return _flag(
                extra,
                "stride0",
                False,
                "an axis has stride 0: expanded, its elements share memory",
                "no axis has stride 0",
            )
        case predicates.Atom("contiguous"):
            return _flag(extra, "contiguous", True, "not contiguous", "contiguous")
        case predicates.Atom("owned"):
            whole, own = extra.get("storage"), extra.get("nbytes")
            if whole is None or own is None:
                return None, "its storage is not known"
            return whole <= own, f"{own:,} bytes of a storage of {whole:,}"
    return None, "not known"


def _on(extra: Mapping[str, Any], holds: Callable[[str], bool]) -> tuple[bool | None, str]:
    device = extra.get("device")
    return (None, "its device is not known") if device is None else (holds(device), f"on {device}")


def _flag(extra: Mapping[str, Any], key: str, wanted: bool, bad: str, good: str) -> tuple[bool | None, str]:
    value = extra.get(key)
    return (None, "its strides are not known") if value is None else (value is wanted, good if value is wanted else bad)
