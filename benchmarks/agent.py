"""The agent: bytes shipped, time to the first facts at added latency, looks on this machine, twenty looks beside one.

python benchmarks/agent.py
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable

from verikit.address import SSH, Local
from verikit.check import Look
from verikit.hosts import open_host
from verikit.hosts.agent import Agent
from verikit.hosts.packing import core, pack, shipment
from verikit.hosts.pool import HostPool
from verikit.hosts.ssh import Shared, _start
from verikit.hosts.ssh_errors import Attempt
from verikit.probes import files
from verikit.testing.loopback import embedded_ssh_hosts
from verikit.testing.sshd import real_sshd, sshd_path

REPEATS = 7


def probe(place, path):
    info = place.stat(path)
    return {"size": info.st_size}


LOOK = Look(probe, path="/")


async def median(act: Callable[[], Awaitable[float]], repeats: int = REPEATS) -> float:
    """Milliseconds, of so many runs."""
    return statistics.median([await act() for _ in range(repeats)]) * 1e3


async def timed(awaitable: Awaitable[object]) -> float:
    started = time.perf_counter()
    await awaitable
    return time.perf_counter() - started


def bytes_shipped() -> None:
    packed = pack(files.mark)
    print(f"core on the wire              {len(core()):>8,} bytes   (goal: at most 20,000)")
    print(f"a small probe's modules       {len(shipment(packed.modules)):>8,} bytes")
    try:
        from verikit.probes import checkpoint
    except ImportError:
        return
    print(f"checkpoint probe, all formats {len(shipment(pack(checkpoint.inspect).modules)):>8,} bytes")


async def local() -> None:
    async def first() -> float:
        started = time.perf_counter()
        host = await open_host(Local())
        await host.ask(LOOK)
        seconds = time.perf_counter() - started
        await host.close()
        return seconds

    print(f"first local look              {await median(first):>8.1f} ms      (goal: at most 100)")
    host = await open_host(Local())
    await host.ask(LOOK)
    print(
        f"later local looks             {await median(lambda: timed(host.ask(LOOK)), 50):>8.2f} ms      (goal: at most 3)"
    )
    await host.close()


async def first_facts(address: SSH, late: float) -> None:
    """Round trips from an authenticated connection to the first facts, and from a warm agent to the next."""
    pool = HostPool()
    shared = Shared(pool)
    cold, warm, bare = [], [], []
    for _ in range(REPEATS):
        attempt = Attempt(address)
        connection = await shared.connect(address, attempt)
        started = time.perf_counter()
        agent = Agent(address)
        await _start(agent, address, connection)
        await agent.ask(LOOK)
        cold.append(time.perf_counter() - started)
        warm.append(await timed(agent.ask(LOOK)))
        await agent.close()
        bare.append(await _bare_exec(address, shared))
    await shared.close()
    await pool.close()
    values = [min(each) * 1e3 for each in (cold, warm, bare)]
    BASE[:] = BASE or values
    trip = 2 * late * 1e3
    trips = [f"{(value - base) / trip:.1f}" if trip else "–" for value, base in zip(values, BASE, strict=True)]
    print(f"{late * 1e3:>10.0f}", *(f"{value:>14.1f} {count:>6}" for value, count in zip(values, trips, strict=True)))


BASE: list[float] = []
"""The best without added latency: what is beyond them, divided by a round trip, is the number of round trips."""


async def _bare_exec(address: SSH, shared: Shared) -> float:
    """One exec of the same probe by the host's Python, as raw asyncssh does it."""
    connection = await shared.connect(address, Attempt(address))
    code = "import os,json;print(json.dumps({'size':os.stat('/').st_size}))"
    seconds = await timed(connection.run(f'{sys.executable} -I -S -c "{code}"', encoding=None, check=True))
    connection.close()
    await connection.wait_closed()
    return seconds


async def twenty(address: SSH) -> None:
    async def looks(count: int) -> float:
        started = time.perf_counter()
        pool = HostPool()
        host = await pool.host(address)
        await asyncio.gather(*(host.ask(Look(probe, path=path)) for path in ("/", "/usr") * (count // 2) or ("/",)))
        await pool.close()
        return time.perf_counter() - started

    runs = [(await looks(1), await looks(20)) for _ in range(REPEATS)]  # in turn: the machine may have other work
    one, many = (statistics.median(column) * 1e3 for column in zip(*runs, strict=True))
    print(f"one look {one:.1f} ms, twenty looks {many:.1f} ms: ratio {many / one:.2f} (goal: at most 1.3)")


def main() -> None:
    bytes_shipped()
    asyncio.run(local())
    print("\nfrom an authenticated connection (best of the runs; trips: round trips that latency adds)")
    heads = ("first facts ms", "trips", "next facts ms", "trips", "one exec ms", "trips")
    print(f"{'latency ms':>10}", *(f"{head:>{6 if head == 'trips' else 14}}" for head in heads))
    for late in (0.0, 0.01, 0.05):
        with tempfile.TemporaryDirectory() as folder, embedded_ssh_hosts(1, folder, latency=late) as hosts:
            asyncio.run(first_facts(pinned(hosts.addresses[0]), late))
    print("\non one embedded host, connection and close included")
    with tempfile.TemporaryDirectory() as folder, embedded_ssh_hosts(1, folder) as hosts:
        asyncio.run(twenty(pinned(hosts.addresses[0])))
    if sshd_path() is None:
        print("no sshd here: the ratio on OpenSSH's own server is not measured")
        return
    print("on one host behind OpenSSH's sshd, the same")
    with tempfile.TemporaryDirectory() as folder, real_sshd(folder) as server:
        asyncio.run(twenty(pinned(server.address)))


def pinned(address: SSH) -> SSH:
    """The address with this interpreter, so that both sides of a comparison start the same one."""
    import attrs

    return attrs.evolve(address, python=sys.executable)


if __name__ == "__main__":
    main()
