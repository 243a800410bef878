"""A real OpenSSH server on loopback, as the user who runs the tests; no root needed.

with real_sshd(folder) as server:
    verify(DiskFree("/data", min_bytes=10**9).on(server.address))
"""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import asyncssh
import attrs

from verikit.address import SSH
from verikit.testing.loopback import kill_group

PLACES = ("/usr/sbin/sshd", "/usr/local/sbin/sshd", "/opt/homebrew/sbin/sshd")

START = 10.0
"""Seconds for it to listen."""


@attrs.frozen
class Sshd:
    """A running server: how to reach it, its process and its log."""

    address: SSH
    process: subprocess.Popen[bytes]
    log: Path


def sshd_path() -> str | None:
    """Where this machine has its sshd, if it has one."""
    return next((path for path in (*PLACES, shutil.which("sshd") or "") if path and os.access(path, os.X_OK)), None)


@contextmanager
def real_sshd(folder: str | os.PathLike[str], options: Mapping[str, str] | None = None) -> Iterator[Sshd]:
    """A server for the length of a `with`. options: more lines for its `sshd_config`.

    Raises FileNotFoundError where there is no sshd.
    """
    program = sshd_path()
    if program is None:
        raise FileNotFoundError("no sshd on this machine (Debian: openssh-server)")
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    for name in ("host_key", "client_key"):
        key = asyncssh.generate_private_key("ssh-ed25519")
        key.write_private_key(str(home / name))
        key.write_public_key(str(home / f"{name}.pub"))
        os.chmod(home / name, 0o600)
    shutil.copy(home / "client_key.pub", home / "authorized_keys")
    _privilege_separation_folder()
    for _ in range(3):  # the free port may be another's by the time that it is taken
        port = _free_port()
        process = subprocess.Popen(
            [program, "-D", "-E", str(home / "sshd.log"), "-f", str(_config(home, port, options or {}))],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        if _listens(process, port):
            break
    else:
        raise RuntimeError(f"sshd does not start: {(home / 'sshd.log').read_text()[-2000:]}")
    (home / "known_hosts").write_text(f"[127.0.0.1]:{port} {(home / 'host_key.pub').read_text()}")
    address = SSH(
        f"{getpass.getuser()}@127.0.0.1:{port}",
        keys=[str(home / "client_key")],
        known_hosts=str(home / "known_hosts"),
        config="",
        agent="",
    )
    try:
        yield Sshd(address, process, home / "sshd.log")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(5)
        kill_group(process.pid)


def _config(home: Path, port: int, options: Mapping[str, str]) -> Path:
    rows = {
        "Port": str(port),
        "ListenAddress": "127.0.0.1",
        "HostKey": str(home / "host_key"),
        "AuthorizedKeysFile": str(home / "authorized_keys"),
        "PidFile": "none",
        "UsePAM": "no",
        "StrictModes": "no",  # the folder of a test may be anybody's to write
        "PasswordAuthentication": "no",
        "KbdInteractiveAuthentication": "no",
        "PermitRootLogin": "prohibit-password",
        **options,
    }
    path = home / "sshd_config"
    path.write_text("".join(f"{name} {value}\n" for name, value in rows.items()))
    return path


def _privilege_separation_folder() -> None:
    """As root it wants this folder, which an init script makes at boot."""
    if os.geteuid() == 0:
        os.makedirs("/run/sshd", exist_ok=True)


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def _listens(process: subprocess.Popen[bytes], port: int) -> bool:
    ends = time.monotonic() + START
    while time.monotonic() < ends and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return True
        except OSError:
            time.sleep(0.02)
    return False
