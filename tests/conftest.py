"""Fixtures that many tests share; keep them few."""

from __future__ import annotations

import importlib
import os
import pathlib

import pytest


@pytest.fixture(scope="session")
def loopback(tmp_path_factory):
    """Two embedded SSH hosts, shared: `.addresses`, `.hosts`."""
    from verikit.testing.loopback import embedded_ssh_hosts

    with embedded_ssh_hosts(2, tmp_path_factory.mktemp("loopback")) as hosts:
        yield hosts


@pytest.fixture(scope="session")
def sshd_here():
    """Skips where there is no OpenSSH server; in CI there is one."""
    from verikit.testing.sshd import sshd_path

    if sshd_path() is None:
        pytest.skip("no sshd here")


@pytest.fixture(scope="session")
def sshd(tmp_path_factory, sshd_here):
    """The address of a real server, shared."""
    from verikit.testing.sshd import real_sshd

    with real_sshd(tmp_path_factory.mktemp("sshd")) as server:
        yield server.address


def pytest_configure(config):
    """Where CI runs, a part that is missing is a failure; elsewhere the tests that need it are skipped."""
    if not os.environ.get("CI"):
        return
    for module in ("numpy", "safetensors", "torch", "yaml"):
        importlib.import_module(module)
    from verikit.testing.sshd import sshd_path

    if sshd_path() is None:
        raise pytest.UsageError("CI needs an OpenSSH server: .ci/run installs it")


def pytest_report_header(config):
    """Which verikit is tested: with VERIKIT_TEST_WHEEL it must be an installed one, not the checkout."""
    import verikit

    where = pathlib.Path(verikit.__file__).parent
    checkout = pathlib.Path(__file__).parent.parent / "src"
    if os.environ.get("VERIKIT_TEST_WHEEL") and where.is_relative_to(checkout):
        raise pytest.UsageError(f"the built wheel is to be tested; {where} is the checkout")
    return f"verikit {verikit.__version__} from {where}"
