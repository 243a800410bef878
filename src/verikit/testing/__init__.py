"""For tests, verikit's own and yours: made-up hosts and clocks, the laws of the algebra, strategies, loopback SSH hosts.

FakeHost, ManualClock       answers and time by hand
check_laws, check_host      what every algebra of verdicts, and every kind of host, must keep to
examine_here                the finding of one check, its probe run in this process
strategies                  hypothesis strategies for verdicts, findings and trees of checks
embedded_ssh_hosts          SSH servers in this process, no root needed
real_sshd                   an OpenSSH server on loopback
"""

from __future__ import annotations

from typing import Any

from verikit.testing.clock import ManualClock
from verikit.testing.fake import FakeHost, Stated
from verikit.testing.here import examine_here

__all__ = [
    "FakeHost",
    "ManualClock",
    "Stated",
    "check_host",
    "check_laws",
    "embedded_ssh_hosts",
    "examine_here",
    "real_sshd",
    "strategies",
]

# What needs hypothesis, asyncssh or an sshd is imported when first used.
_LAZY = {
    "check_laws": ("verikit.testing.laws", "check_laws"),
    "check_host": ("verikit.testing.contract", "check_host"),
    "strategies": ("verikit.testing.strategies", None),
    "embedded_ssh_hosts": ("verikit.testing.loopback", "embedded_ssh_hosts"),
    "real_sshd": ("verikit.testing.sshd", "real_sshd"),
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'verikit.testing' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _LAZY[name]
    found = import_module(module)
    return found if attribute is None else getattr(found, attribute)
