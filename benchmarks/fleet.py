"""A fleet on loopback: verikit beside raw asyncssh (one connection and one exec a host), the same probe, in one run.

    python benchmarks/fleet.py [hosts …]

The peer reads keys, known hosts and options once, as its fastest users do, and runs the probe by `python3 -I -S`.  The
embedded hosts run in processes of their own; client and hosts share this machine, so only the ratios mean something.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable

import asyncssh
import attrs

from verikit.address import SSH
from verikit.check import Look
from verikit.hosts.pool import HostPool

REPEATS = 5
AT_ONCE = 64
PROBE = "import os,json;print(json.dumps({'size':os.stat('/').st_size}))"


def probe(place, path):
    return {"size": place.stat(path).st_size}


async def ours(addresses: list[SSH]) -> list[object]:
    pool = HostPool()

    async def one(address: SSH) -> object:
        host = await pool.host(address)
        return await host.ask(Look(probe, path="/"))

    facts = await asyncio.gather(*map(one, addresses))
    await pool.close()
    return facts


async def raw(addresses: list[SSH]) -> list[object]:
    first = addresses[0]
    options = asyncssh.SSHClientConnectionOptions(
        config=None,
        username=first.user,
        client_keys=asyncssh.load_keypairs([first.keys[0]]),
        agent_path=None,
        known_hosts=asyncssh.read_known_hosts(first.known_hosts),
        encryption_algs=["aes128-gcm@openssh.com"],
        compression_algs=["none"],
    )
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(address: SSH) -> object:
        async with slots, asyncssh.connect(address.host, address.port, options=options, config=None) as connection:
            done = await connection.run(f'{sys.executable} -I -S -B -c "{PROBE}"', encoding=None, check=True)
            return json.loads(done.stdout)

    return await asyncio.gather(*map(one, addresses))


def run(act: Callable[[list[SSH]], Awaitable[list[object]]], addresses: list[SSH]) -> tuple[float, float]:
    """Seconds of wall and of this process's CPU."""
    wall, cpu = time.perf_counter(), time.process_time()
    answers = asyncio.run(act(addresses))
    assert all(answer == answers[0] for answer in answers)
    return time.perf_counter() - wall, time.process_time() - cpu


def compare(addresses: list[SSH]) -> None:
    rows: dict[str, list[tuple[float, float]]] = {"raw asyncssh": [], "verikit": []}
    acts = {"raw asyncssh": raw, "verikit": ours}
    for turn in range(REPEATS):
        for name in list(acts) if turn % 2 else reversed(list(acts)):
            rows[name].append(run(acts[name], addresses))
    medians = {name: [statistics.median(column) for column in zip(*runs, strict=True)] for name, runs in rows.items()}
    ratios = [mine / theirs for mine, theirs in zip(medians["verikit"], medians["raw asyncssh"], strict=True)]
    for name, (wall, cpu) in medians.items():
        ratio = f"{ratios[0]:6.2f} {ratios[1]:6.2f}" if name == "verikit" else f"{1:6.2f} {1:6.2f}"
        print(f"{len(addresses):>6} {name:<14} {wall * 1e3:>9.0f} {cpu * 1e3:>9.0f}  {ratio}")


def serve(count: int) -> None:
    """In a process of its own: the hosts, until its input ends."""
    from verikit.testing.loopback import embedded_ssh_hosts

    with tempfile.TemporaryDirectory() as folder, embedded_ssh_hosts(count, folder) as hosts:
        print(json.dumps([attrs.asdict(address) for address in hosts.addresses]), flush=True)
        sys.stdin.read()


def main(counts: list[int]) -> None:
    print(f"{'hosts':>6} {'':<14} {'wall ms':>9} {'cpu ms':>9}  ratios (goal for wall: at most 1.3)")
    for count in counts:
        argv = [sys.executable, __file__, "--serve", str(count)]
        with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout
            rows = json.loads(server.stdout.readline())
            compare([SSH(**{**row, "python": sys.executable}) for row in rows])
            server.communicate("")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(int(sys.argv[2]))
    else:
        main([int(word) for word in sys.argv[1:]] or [1, 10, 50])
