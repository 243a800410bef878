"""SSH hosts: against embedded servers always, against a real sshd where there is one (in CI: always)."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import asyncssh
import attrs
import pytest

import looks
from asking import ask, on, unseen
from processes import noted, running, until
from verikit import SSH, Cause
from verikit.check import Look
from verikit.errors import Unseen
from verikit.hosts import open_host
from verikit.hosts.pool import HostPool
from verikit.testing.loopback import embedded_ssh_hosts, known_hosts_line


@pytest.fixture(params=["embedded", "sshd"])
def address(request) -> SSH:
    """Both kinds of server, in turn."""
    if request.param == "embedded":
        return request.getfixturevalue("loopback").addresses[0]
    return request.getfixturevalue("sshd")


# What works.


def test_look_on_a_host(address):
    """
    A look runs on the host, under its own Python, and the host says which.
    """

    async def steps(host):
        return await host.ask(Look(looks.who)), host.python, host.pid

    answer, python, agent = on(address, steps)

    assert python.startswith(".".join(map(str, answer["python"])))
    assert answer["parent"] == agent != os.getpid()


def test_values_there_and_back(address):
    """
    Text that is no UTF-8, and replies of a megabyte, arrive as they were sent.
    """
    value = ["a\udcff\udc80", "█" * 160_000, None]

    assert ask(address, Look(looks.echo, value=value)) == {"value": value}


def test_paths_on_a_host(address, tmp_path):
    """
    A path may hold anything that a file name can.
    """
    path = os.path.join(os.fsencode(tmp_path), b'-rf it\'s "x"\n $(id) \xff')
    with open(path, "wb") as file:
        file.write(b"abc")

    assert ask(address, Look(looks.size, path=os.fsdecode(path))) == {"size": 3}


def test_many_at_once(address):
    """
    Thirty looks at once on one host are answered, through one connection.
    """

    async def steps(host):
        return await asyncio.gather(*(host.ask(Look(looks.echo, value=value)) for value in range(30)))

    assert [each["value"] for each in on(address, steps)] == list(range(30))


def test_full_standard_error(address):
    """
    A look that floods standard error is answered.
    """
    assert ask(address, Look(looks.loud, size=3 << 20)) == {"printed": 3 << 20}


def test_one_connection_one_command(loopback):
    """
    However many looks, a host sees one connection and one command, and each module travels once.
    """
    host = loopback.hosts[1]
    before = host.connections, len(host.commands)

    async def steps(opened):
        await opened.ask(Look(looks.echo))
        sent = opened.sent
        await asyncio.gather(*(opened.ask(Look(looks.who)) for _ in range(10)))
        return opened.sent - sent

    later = on(host.address, steps)

    assert (host.connections, len(host.commands)) == (before[0] + 1, before[1] + 1)
    assert later < 10 * 150


# Looks that end otherwise.


@pytest.mark.parametrize("probe", [looks.sleep, looks.deaf, looks.backtrack])
def test_deadline_on_a_host(address, tmp_path, probe):
    """
    A look past its deadline is a timeout, and its processes on the host are gone.
    """
    note = str(tmp_path / "note")

    async def steps(host):
        with pytest.raises(Unseen) as caught:
            await host.ask(Look(probe, note=note).within(0.5))
        return caught.value, await host.ask(Look(looks.echo, value=1))

    error, after = on(address, steps)

    assert error.cause is Cause.TIMEOUT
    assert after == {"value": 1}
    assert until(lambda: not any(map(running, noted(note))), 2)


def test_cancelled_on_a_host(address, tmp_path):
    """
    Cancelling ends the look on the host within 2 s, and the connection stays of use.
    """
    note = str(tmp_path / "note")

    async def steps(host):
        task = asyncio.create_task(host.ask(Look(looks.deaf, note=note)))
        await asyncio.to_thread(noted, note)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        gone = await asyncio.to_thread(until, lambda: not any(map(running, noted(note))), 2)
        return gone, await host.ask(Look(looks.echo, value=1))

    assert on(address, steps) == (True, {"value": 1})


def test_nothing_left_after_close(address, tmp_path):
    """
    Once a host is closed, its agent and looks are gone.
    """
    note = str(tmp_path / "note")

    async def main():
        host = await open_host(address)
        task = asyncio.create_task(host.ask(Look(looks.sleep, note=note)))
        await asyncio.to_thread(noted, note)
        warnings = await host.close()
        await asyncio.gather(task, return_exceptions=True)
        return warnings, host.pid

    warnings, agent = asyncio.run(main())

    assert warnings == []
    assert until(lambda: not any(map(running, [agent, *noted(note)])), 2)


def test_connection_lost_under_a_look(tmp_path):
    """
    A connection that is lost fails exactly the looks that wait, says so when closed, and leaves nothing on the host.
    """
    note = str(tmp_path / "note")
    with embedded_ssh_hosts(1, tmp_path / "hosts") as hosts:

        async def main():
            host = await open_host(hosts.addresses[0])
            answered = await host.ask(Look(looks.echo, value=1))
            task = asyncio.create_task(host.ask(Look(looks.deaf, note=note)))
            await asyncio.to_thread(noted, note)
            await asyncio.to_thread(hosts.drop_connections)
            with pytest.raises(Unseen) as caught:
                await task
            return answered, caught.value, host.alive, await host.close(), host.pid

        answered, error, alive, warnings, agent = asyncio.run(main())
        gone = until(lambda: not any(map(running, [agent, *noted(note)])), 2)

    assert answered == {"value": 1}
    assert error.cause is Cause.CONNECTION_LOST
    assert not alive
    assert gone
    assert len(warnings) == 1
    assert f"process {agent}, could not be confirmed gone" in warnings[0]


def test_agent_killed_on_a_host(address):
    """
    An agent that is killed is connection_lost, never an empty answer.
    """

    async def main():
        host = await open_host(address)
        await host.ask(Look(looks.echo))
        task = asyncio.create_task(host.ask(Look(looks.quit_at_once, status=0)))
        os.kill(host.pid, signal.SIGKILL)
        with pytest.raises(Unseen) as caught:
            await task
        await host.close()
        return caught.value

    assert asyncio.run(main()).cause is Cause.CONNECTION_LOST


# Host keys and authentication.


def rewritten(address: SSH, tmp_path, text: str) -> SSH:
    (tmp_path / "known_hosts").write_text(text)
    return attrs.evolve(address, known_hosts=str(tmp_path / "known_hosts"))


def test_unknown_host_key(address, tmp_path):
    """
    A host whose key is not known is refused, with its fingerprint and the file to add it to.
    """
    error = unseen(rewritten(address, tmp_path, ""))

    assert error.cause is Cause.HOST_KEY
    assert "the host key is unknown: ssh-ed25519 SHA256:" in error.reason
    assert f"is not in {tmp_path}/known_hosts" in error.reason
    assert str(address) in error.reason


def test_changed_host_key(address, tmp_path):
    """
    A host whose key is another than the known one is refused, and told apart from an unknown one.
    """
    other = asyncssh.generate_private_key("ssh-ed25519")
    line = f"[127.0.0.1]:{address.port} {other.export_public_key().decode()}"
    error = unseen(rewritten(address, tmp_path, line))

    assert error.cause is Cause.HOST_KEY
    assert "the host key has changed" in error.reason
    assert other.get_fingerprint() in error.reason


def test_changed_to_another_kind(address, tmp_path):
    """
    A host that no longer has a key of the known kind is refused as changed, with the key that it has now.
    """
    other = asyncssh.generate_private_key("ecdsa-sha2-nistp256")
    line = f"[127.0.0.1]:{address.port} {other.export_public_key().decode()}"

    error = unseen(rewritten(address, tmp_path, line))

    assert error.cause is Cause.HOST_KEY
    assert "the host key has changed: it now shows ssh-ed25519 SHA256:" in error.reason


def test_no_known_hosts_file(address):
    """
    Without a file of known hosts no host is known.
    """
    error = unseen(attrs.evolve(address, known_hosts="/nowhere/known_hosts"))

    assert error.cause is Cause.HOST_KEY


def test_broken_line_in_known_hosts(address, tmp_path):
    """
    A line that can't be read vouches for nobody, and spoils no other.
    """
    text = "garbage\n|1|x|y ssh-rsa AAAA\n" + Path(address.known_hosts).read_text()

    assert ask(rewritten(address, tmp_path, text), Look(looks.echo, value=1)) == {"value": 1}


def test_strict_checking_is_not_switched_off(address, tmp_path):
    """
    `StrictHostKeyChecking no` is not obeyed, and the refusal says so.
    """
    config = tmp_path / "config"
    config.write_text("Host *\n  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n")
    error = unseen(attrs.evolve(address, config=str(config), known_hosts=None))

    assert error.cause is Cause.HOST_KEY
    assert f"StrictHostKeyChecking in {config} is not obeyed" in error.reason


def test_wrong_key(address, tmp_path):
    """
    A key that the host does not accept is auth_failed, with the user and what was tried; it is final.
    """
    asyncssh.generate_private_key("ssh-ed25519", comment="stranger").write_private_key(str(tmp_path / "key"))
    error = unseen(attrs.evolve(address, keys=[str(tmp_path / "key")]))

    assert error.cause is Cause.AUTH_FAILED
    assert f"refused for user {address.user}: keys tried: stranger" in error.reason


def test_encrypted_key(address, tmp_path):
    """
    A key behind a passphrase is skipped without a prompt, and the message says how to make it usable.
    """
    if not shutil.which("ssh-keygen"):
        pytest.skip("no ssh-keygen here")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", str(tmp_path / "locked")], check=True)
    error = unseen(attrs.evolve(address, keys=[str(tmp_path / "locked")]))

    assert error.cause is Cause.AUTH_FAILED
    assert f"ssh-add {tmp_path}/locked" in error.reason


def test_missing_key(address):
    """
    A key file that is not there is named.
    """
    error = unseen(attrs.evolve(address, keys=["/nowhere/key"]))

    assert error.cause is Cause.AUTH_FAILED
    assert "/nowhere/key does not exist" in error.reason


def test_key_from_the_agent(address, tmp_path):
    """
    Keys that an ssh-agent holds are used, also for an encrypted key file whose public half lies beside it.
    """
    if not shutil.which("ssh-agent"):
        pytest.skip("no ssh-agent here")
    locked = str(tmp_path / "locked")
    shutil.copy(address.keys[0], locked)
    os.chmod(locked, 0o600)
    shutil.copy(f"{address.keys[0]}.pub", f"{locked}.pub")
    subprocess.run(["ssh-keygen", "-q", "-p", "-P", "", "-N", "secret", "-f", locked], check=True)
    path = str(tmp_path / "agent")
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", path], stdout=subprocess.DEVNULL)
    try:
        assert until(lambda: os.path.exists(path))
        subprocess.run(["ssh-add", "-q", address.keys[0]], check=True, env={**os.environ, "SSH_AUTH_SOCK": path})
        held = attrs.evolve(address, keys=(), agent=path)
        named = attrs.evolve(address, keys=[locked], agent=path)

        assert ask(held, Look(looks.echo, value=1)) == {"value": 1}
        assert ask(named, Look(looks.echo, value=2)) == {"value": 2}
    finally:
        agent.terminate()
        agent.wait()


# The user's configuration.


def test_configuration_is_honoured(address, tmp_path):
    """
    An alias of the OpenSSH configuration brings its host name, user, port, key and known hosts.
    """
    config = tmp_path / "config"
    config.write_text(
        f"Host box\n  HostName 127.0.0.1\n  User {address.user}\n  Port {address.port}\n"
        f"  IdentityFile {address.keys[0]}\n  UserKnownHostsFile {address.known_hosts}\n"
        "Host *\n  User nobody\n  Port 9\n"
    )
    alias = SSH("box", config=str(config), agent="")

    assert ask(alias, Look(looks.echo, value=1)) == {"value": 1}


def test_bad_configuration(address, tmp_path):
    """
    A configuration that can't be read is said, with its line.
    """
    (tmp_path / "config").write_text("Host *\n  Port many\n")
    error = unseen(attrs.evolve(address, config=str(tmp_path / "config")))

    assert error.cause is Cause.UNSUPPORTED
    assert "OpenSSH configuration" in error.reason


def test_hosts_alike_share_settings(tmp_path):
    """
    Settings are built once for hosts that the configuration does not tell apart, and anew for those that it does.
    """
    from verikit.hosts.ssh_settings import SettingsStore

    config = tmp_path / "config"
    config.write_text("Host gpu*\n  User root\nHost login\n  User me\n")

    async def main():
        store = SettingsStore()
        names = ["gpu1", "gpu2", "login", "other"]
        return [await store.of(SSH(name, config=str(config), agent="", known_hosts="/dev/null")) for name in names]

    first, second, third, fourth = asyncio.run(main())

    assert first is second
    assert [each.options.username for each in (first, third)] == ["root", "me"]
    assert fourth not in (first, third)


# Jump hosts.


def test_jump_host_is_shared(loopback):
    """
    Hosts behind one jump host are reached through one connection to it.
    """
    first, second = loopback.hosts
    behind = [attrs.evolve(second.address, jump=str(first.address), python=python) for python in (None, sys.executable)]
    before = first.connections

    async def main():
        pool = HostPool()
        opened = await asyncio.gather(*map(pool.host, behind))
        answers = [await host.ask(Look(looks.who)) for host in opened]
        return answers, await pool.close()

    answers, warnings = asyncio.run(main())

    assert {each["cwd"] for each in answers} == {str(second.home)}
    assert first.connections == before + 1
    assert warnings == []


def test_jump_by_configuration(loopback, tmp_path):
    """
    `ProxyJump` in the configuration is followed, by its aliases too, and a jump host does not go through itself.
    """
    first, second = loopback.hosts
    (tmp_path / "config").write_text(
        f"Host door\n  HostName 127.0.0.1\n  Port {first.port}\nHost room\n  HostName 127.0.0.1\n  Port {second.port}\n"
        f"Host *\n  User tester\n  ProxyJump door\n"
    )
    room = attrs.evolve(second.address, target="room", config=str(tmp_path / "config"))
    before = first.connections

    assert ask(room, Look(looks.who))["cwd"] == str(second.home)
    assert first.connections == before + 1


def test_jump_in_a_circle(tmp_path):
    """
    Jump hosts that lead to each other are refused, not followed for ever.
    """
    (tmp_path / "config").write_text("Host one\n  ProxyJump two\nHost two\n  ProxyJump one\n")
    error = unseen(SSH("one", config=str(tmp_path / "config"), agent=""))

    assert error.cause is Cause.UNSUPPORTED
    assert "ProxyJump goes in a circle: one through two through one" in error.reason


def test_jump_host_down(loopback):
    """
    A jump host that is down is unreachable, and named; so is a host that the jump host can't reach.
    """
    first, second = loopback.hosts
    no_jump = unseen(attrs.evolve(second.address, jump="tester@127.0.0.1:1"))
    no_host = unseen(attrs.evolve(second.address, target="tester@127.0.0.1:1", jump=str(first.address)))

    assert no_jump.cause is no_host.cause is Cause.UNREACHABLE
    assert "through tester@127.0.0.1:1: connection refused" in no_jump.reason
    assert "the jump host could not reach it" in no_host.reason


def test_two_jumps(loopback, tmp_path):
    """
    A host may lie behind two others.
    """
    first, second = loopback.hosts
    behind = attrs.evolve(
        second.address, target=f"tester@localhost:{second.port}", jump=f"{second.address},{first.address}"
    )
    text = Path(second.address.known_hosts).read_text() + known_hosts_line(second).replace("127.0.0.1", "localhost")
    (tmp_path / "known_hosts").write_text(text)

    answer = ask(attrs.evolve(behind, known_hosts=str(tmp_path / "known_hosts")), Look(looks.who))

    assert answer["cwd"] == str(second.home)


# Forks.


def test_fork_while_connected(sshd):
    """
    A forked child says no word on its parent's connection, whatever it collects, and does not hold it open.

    Against a real server only: one inside this process would have its own descriptors held by the child.
    """
    release, hold = os.pipe()

    async def main():
        host = await open_host(sshd)
        await host.ask(Look(looks.echo))
        pid = os.fork()
        if not pid:
            import gc

            gc.collect()
            os.close(hold)
            os.read(release, 1)
            os._exit(0)
        answer = await host.ask(Look(looks.echo, value=1))
        return pid, answer, await host.close(), host.pid

    pid, answer, warnings, agent = asyncio.run(main())
    gone = until(lambda: not running(agent), 2)
    os.close(hold)
    os.close(release)
    os.waitpid(pid, 0)

    assert answer == {"value": 1}
    assert warnings == []
    assert gone


# Pools.


def test_dead_host_costs_one_attempt(tmp_path):
    """
    All who wait for a host share one attempt; a final failure is never tried again, another one is.
    """
    with embedded_ssh_hosts(1, tmp_path, refuse=True) as hosts:
        [host], [address] = hosts.hosts, hosts.addresses

        async def main():
            pool = HostPool()
            first = await asyncio.gather(*(pool.host(address) for _ in range(5)), return_exceptions=True)
            again = await asyncio.gather(pool.host(address), return_exceptions=True)
            await pool.close()
            return first + again

        failures = asyncio.run(main())

    assert {each.cause for each in failures} == {Cause.AUTH_FAILED}
    assert host.connections == 1


def test_host_is_opened_again_after_loss(tmp_path):
    """
    A pool opens a host again whose connection was lost, and still says at the end what became of the first.
    """
    with embedded_ssh_hosts(1, tmp_path) as hosts:

        async def main():
            pool = HostPool()
            host = await pool.host(hosts.addresses[0])
            await host.ask(Look(looks.echo))
            await asyncio.to_thread(hosts.drop_connections)
            with pytest.raises(Unseen):
                await host.ask(Look(looks.echo))
            other = await pool.host(hosts.addresses[0])
            answer = await other.ask(Look(looks.echo, value=1))
            return answer, await pool.close()

        answer, warnings = asyncio.run(main())

    assert answer == {"value": 1}
    assert len(warnings) == 1
    assert "could not be confirmed gone" in warnings[0]


def test_pool_closes_what_is_being_opened(loopback):
    """
    Closing a pool ends the attempts under way.
    """

    async def main():
        pool = HostPool()
        task = asyncio.create_task(pool.host(loopback.addresses[0]))
        await asyncio.sleep(0)
        await pool.close()
        return await asyncio.gather(task, return_exceptions=True)

    [outcome] = asyncio.run(main())

    assert isinstance(outcome, asyncio.CancelledError)


# The table of exceptions.


def test_every_exception_has_a_cause():
    """
    Every exception that asyncssh can raise is in the table of causes by its own row, or by one of its family where all
    of the family come from parts of asyncssh that are not used.
    """
    from verikit.hosts.ssh_errors import CAUSES

    kinds = [each for each in vars(asyncssh).values() if isinstance(each, type) and issubclass(each, BaseException)]
    families = (asyncssh.SFTPError,)
    lacking = [kind.__name__ for kind in kinds if kind not in CAUSES and not issubclass(kind, families)]

    assert len(kinds) > 40
    assert lacking == []


def test_known_hosts_line_names_the_port(loopback):
    """
    The helper writes the line that OpenSSH would.
    """
    host = loopback.hosts[0]

    assert known_hosts_line(host).startswith(f"[127.0.0.1]:{host.port} ssh-ed25519 AAAA")
