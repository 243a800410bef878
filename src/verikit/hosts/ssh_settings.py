"""What an SSH connection needs to know, read once for a run: configuration, keys, known hosts, agent.

Read again for each connection they would cost more than the connection: an RSA key is 190 ms, 500 lines of known hosts
are 12 ms.  Hosts that the configuration can't tell apart share one options object.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import asyncssh
import attrs

from verikit.address import SSH

LOGIN = 15.0
"""Seconds for a login, within the time that a connection has."""

KEEPALIVE, KEEPALIVES = 15, 3

# aes-gcm runs at twice the speed of chacha20 where the CPU knows AES, which is everywhere by now.
# Lists, not comma-separated text: asyncssh expands patterns in that again for each connection.
CIPHERS = (
    "aes128-gcm@openssh.com",
    "aes256-gcm@openssh.com",
    "chacha20-poly1305@openssh.com",
    "aes256-ctr",
    "aes192-ctr",
    "aes128-ctr",
)

HOST_KEYS = (
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "rsa-sha2-512",
    "rsa-sha2-256",
)

USER_CONFIG, GLOBAL_CONFIG = "~/.ssh/config", "/etc/ssh/ssh_config"
USER_KNOWN_HOSTS = ("~/.ssh/known_hosts", "~/.ssh/known_hosts2")
GLOBAL_KNOWN_HOSTS = ("/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2")
DEFAULT_KEYS = ("id_ed25519", "id_ecdsa", "id_rsa", "id_ed25519_sk", "id_ecdsa_sk")


@attrs.define(eq=False)
class Settings:
    """For hosts that the configuration does not tell apart: options, keys in the order of trying, known hosts.

    skipped: keys that could not be used, and why.  lax: where StrictHostKeyChecking is set to less than yes.
    """

    options: asyncssh.SSHClientConnectionOptions
    keys: list[asyncssh.SSHKeyPair]
    skipped: list[str]
    known_hosts: asyncssh.SSHKnownHosts
    known_hosts_name: str
    jump: str | None
    lax: str

    def jump_for(self, address: SSH) -> SSH | None:
        """The jump host on the way there, if any; a host is not its own."""
        hops = [each.strip() for each in (self.jump or "").split(",") if each.strip()]
        if not hops or hops == ["none"]:
            return None
        last = attrs.evolve(address, target=hops[-1], python=None, jump=",".join(hops[:-1]) or None)
        itself = last.host == address.host and last.port in (None, address.port)
        return None if itself else last

    def user_for(self, address: SSH) -> str:
        return address.user or self.options.username

    @property
    def keys_tried(self) -> str:
        """What was offered, for a message."""
        names = [key.get_comment() or key.get_algorithm() for key in self.keys]
        words = f"keys tried: {', '.join(names)}" if names else "there was no key to try"
        return f"{words}; skipped: {'; '.join(self.skipped)}" if self.skipped else words

    @property
    def not_obeyed(self) -> str:
        return f" (StrictHostKeyChecking in {self.lax} is not obeyed)" if self.lax else ""

    def known_keys(self, connection: Any, address: SSH) -> list[asyncssh.SSHKey]:
        """The keys that are known for a host, by the name under which its own was looked up."""
        return list(self._known(connection, address)[0])

    def host_key_kinds(self, address: SSH) -> list[str] | tuple[()]:
        """The kinds of key to ask a host for: the known ones, then all others; () leaves the choice to the configuration.

        So a host that has changed its kind of key is refused for the key that it shows, which can be named.
        """
        keys, authorities, *_ = self._known(None, address)
        if authorities or not keys or self.options.config.get("HostKeyAlgorithms"):
            return ()
        known = [kind.decode() for key in keys for kind in key.sig_algorithms]
        return list(dict.fromkeys([*known, *HOST_KEYS]))

    def _known(self, connection: Any, address: SSH) -> Any:
        host = self.options.host_key_alias or self.options.config.get("Hostname", address.host)
        port = address.port or self.options.port
        return self.known_hosts.match(str(host), _peer(connection), None if port == 22 else port)


def _peer(connection: Any) -> str:
    peer = connection.get_extra_info("peername") if connection else None
    return peer[0] if peer else ""


class SettingsStore:
    """Settings by address, each file read once."""

    def __init__(self) -> None:
        self._settings: dict[Any, Settings] = {}
        self._configs: dict[str, _Config] = {}
        self._keys: dict[str, list[asyncssh.SSHKeyPair] | str] = {}
        self._known: dict[tuple[str, ...], asyncssh.SSHKnownHosts] = {}
        self._agents: dict[str, tuple[Any, list[asyncssh.SSHKeyPair]]] = {}

    async def of(self, address: SSH) -> Settings:
        """The settings for a host."""
        configs = [self._config(path) for path in _config_paths(address)]
        alike = tuple(config.alike(address.host) for config in configs)
        given = attrs.evolve(address, target="any", python=None, connect_timeout=1.0)
        by_name = any(config.by_name for config in configs)
        key = (given, address.user, address.port if by_name else None, alike)
        if key not in self._settings:
            self._settings[key] = await self._read(address, configs, key[2])
        return self._settings[key]

    def _config(self, path: str) -> _Config:
        if path not in self._configs:
            self._configs[path] = _Config(path)
        return self._configs[path]

    async def _read(self, address: SSH, configs: Sequence[_Config], port: int | None) -> Settings:
        # First without keys and known hosts, to learn what the configuration says of them.
        said = asyncssh.SSHClientConnectionOptions(
            config=[config.path for config in configs] or None,
            host=address.host,
            port=port or (),
            username=address.user or (),
            client_keys=None,
            known_hosts=b"",
            agent_forwarding=False,
            gss_auth=False,
            gss_kex=False,
        )
        files = _known_hosts_files(address, said.config)
        known = self._known_hosts(files)
        options = asyncssh.SSHClientConnectionOptions(said, config=None, known_hosts=known, **_ours(said.config))
        keys, skipped = await self._usable_keys(address, said.config)
        configured: Any = said.config.get("ProxyJump")
        jump = address.jump if address.jump is not None else configured
        lax = next((config.path for config in configs if config.lax), "")
        return Settings(options, keys, skipped, known, files[0], jump, lax)

    def _known_hosts(self, files: tuple[str, ...]) -> asyncssh.SSHKnownHosts:
        if files not in self._known:
            known = self._known[files] = asyncssh.SSHKnownHosts()
            for line in (line for file in files for line in _lines(file)):
                try:
                    known.load(line)
                except ValueError:
                    pass  # as OpenSSH does: a line that can't be read vouches for nobody
        return self._known[files]

    # Keys.

    async def _usable_keys(self, address: SSH, config: Any) -> tuple[list[asyncssh.SSHKeyPair], list[str]]:
        """Key pairs in the order of trying: agent keys that a key file names, key files, the agent's others."""
        paths = list(address.keys) or _identity_files(config)
        named = [_public_blob(path) for path in paths]
        held = await self._agent_keys(_agent_path(address, config))
        first = [key for key in held if key.public_data in named]
        rest = [] if address.keys or config.get("IdentitiesOnly") else [key for key in held if key not in first]
        keys, skipped = list(first), []
        for path, blob in zip(paths, named, strict=True):
            loaded = self._load(path)
            if isinstance(loaded, str):
                if loaded and blob not in [key.public_data for key in first]:
                    skipped.append(loaded)
            else:
                keys += [key for key in loaded if key.public_data not in [other.public_data for other in first]]
        return keys + rest, skipped

    def _load(self, path: str) -> list[asyncssh.SSHKeyPair] | str:
        """The key pairs in a file, or why there are none; empty for a default that is not there."""
        if path not in self._keys:
            self._keys[path] = _load(path)
        return self._keys[path]

    async def _agent_keys(self, path: str) -> list[asyncssh.SSHKeyPair]:
        if not path:
            return []
        if path not in self._agents:
            try:
                agent = await asyncssh.connect_agent(path)
                self._agents[path] = (agent, list(await agent.get_keys()))
            except (OSError, ValueError, asyncssh.Error):
                self._agents[path] = (None, [])
        return self._agents[path][1]

    async def close(self) -> None:
        for agent, _ in self._agents.values():
            if agent is not None:
                agent.close()
                await agent.wait_closed()
        self._agents.clear()


class _Config:
    """One configuration file: which of its hosts it can tell apart, without parsing it again for each."""

    def __init__(self, path: str) -> None:
        self.path = path
        text = "\n".join(_lines(path))
        self._patterns = [line.split(None, 1)[1] for line in re.findall(r"(?im)^\s*host[\s=]+\S.*$", text)]
        # A token or a Match can make anything of a name.
        self.by_name = bool(re.search(r"(?im)^\s*(match|include)\b|%[hnC]", text))
        lax = re.search(r"(?im)^\s*StrictHostKeyChecking[\s=]+\"?(no|off|accept-new)\b", text)
        self.lax = bool(lax)

    def alike(self, host: str) -> Any:
        """Equal for two hosts of which the file says the same."""
        if self.by_name:
            return host
        from asyncssh.pattern import WildcardPatternList

        return tuple(WildcardPatternList(",".join(each.split())).matches(host) for each in self._patterns)


def _config_paths(address: SSH) -> list[str]:
    if address.config is not None:
        return [address.config] if address.config else []
    return [path for path in map(os.path.expanduser, (USER_CONFIG, GLOBAL_CONFIG)) if os.access(path, os.R_OK)]


def _ours(config: Any) -> dict[str, Any]:
    """Options that verikit sets where the configuration does not."""
    options: dict[str, Any] = {"compression_algs": ["none"], "request_pty": False, "x11_forwarding": False}
    if not config.get("Ciphers"):
        options["encryption_algs"] = list(CIPHERS)
    if config.get("ServerAliveInterval") is None:
        options["keepalive_interval"] = KEEPALIVE
    if config.get("ServerAliveCountMax") is None:
        options["keepalive_count_max"] = KEEPALIVES
    return options


def _known_hosts_files(address: SSH, config: Any) -> tuple[str, ...]:
    """The files that may name a host's key; the first of them is the one to add it to."""
    if address.known_hosts is not None:
        return (os.path.expanduser(address.known_hosts),)
    files = [*(config.get("UserKnownHostsFile") or USER_KNOWN_HOSTS)]
    files += config.get("GlobalKnownHostsFile") or GLOBAL_KNOWN_HOSTS
    return tuple(os.path.expanduser(file) for file in files)


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text("utf-8", "replace").splitlines()
    except OSError:
        return []


def _identity_files(config: Any) -> list[str]:
    named = config.get("IdentityFile") or ()
    return [os.path.expanduser(path) for path in named] or [os.path.expanduser(f"~/.ssh/{key}") for key in DEFAULT_KEYS]


def _agent_path(address: SSH, config: Any) -> str:
    """Path of the agent's socket, or "" to ask none."""
    path = address.agent if address.agent is not None else config.get("IdentityAgent") or "SSH_AUTH_SOCK"
    if path == "none":
        return ""
    if path.startswith("$") or path == "SSH_AUTH_SOCK":
        return os.environ.get(path.lstrip("$").strip("{}"), "")
    return os.path.expanduser(path)


def _public_blob(path: str) -> bytes | None:
    """The public half that lies beside a key file, by which the agent's keys are recognised."""
    try:
        return asyncssh.read_public_key(f"{os.path.expanduser(path)}.pub").public_data
    except (OSError, ValueError, asyncssh.KeyImportError):
        return None


def _load(path: str) -> list[asyncssh.SSHKeyPair] | str:
    try:
        return list(asyncssh.load_keypairs([os.path.expanduser(path)]))
    except FileNotFoundError:
        return "" if os.path.basename(path) in DEFAULT_KEYS else f"{path} does not exist"
    except OSError as error:
        return f"{path}: {error.strerror}"
    except (ValueError, asyncssh.KeyImportError, asyncssh.KeyEncryptionError) as error:
        if "assphrase" in str(error):
            return f"{path} is encrypted and not in the agent (`ssh-add {path}`)"
        return f"{path}: {error}"
