"""Every kind of host keeps to the same contract."""

import sys

from verikit import Exec, Local
from verikit.testing import check_host, embedded_ssh_hosts, real_sshd


def test_local(tmp_path):
    """
    A look on this machine goes through the agent and keeps to the contract.
    """
    check_host(Local(), tmp_path)


def test_exec(tmp_path):
    """
    An agent behind a command keeps to the contract.
    """
    check_host(Exec(["env", "A=b c"], python=sys.executable), tmp_path)


def test_embedded_ssh(tmp_path):
    """
    A host behind asyncssh's server keeps to the contract.
    """
    with embedded_ssh_hosts(1, tmp_path / "ssh") as hosts:
        (tmp_path / "data").mkdir()
        check_host(hosts.addresses[0], tmp_path / "data")


def test_openssh(tmp_path, sshd_here):
    """
    A host behind OpenSSH's own server keeps to the contract.
    """
    (tmp_path / "data").mkdir()
    with real_sshd(tmp_path / "ssh") as server:
        check_host(server.address, tmp_path / "data")
