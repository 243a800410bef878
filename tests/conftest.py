"""Fixtures that many tests share; keep them few."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def loopback(tmp_path_factory):
    """Two embedded SSH hosts, shared: `.addresses`, `.hosts`."""
    from verikit.testing.loopback import embedded_ssh_hosts

    with embedded_ssh_hosts(2, tmp_path_factory.mktemp("loopback")) as hosts:
        yield hosts
