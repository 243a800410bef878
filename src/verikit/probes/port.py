"""Who listens on a TCP port of a host.

Linux: the kernel's socket tables, and /proc/PID/fd for the holders.  macOS and BSD: netstat, and lsof for the holders.
A port in no table is tried once on the loopback, since a container engine may forward it before any socket is met.
Source: proc(5) for /proc/net/tcp; state 0A is TCP_LISTEN in include/net/tcp_states.h, 06 is TCP_TIME_WAIT.
"""

import os
import re

from verikit.probes import process as processes
from verikit.probes.place import CannotSee

LISTEN, TIME_WAIT = "0A", "06"
TABLE_LIMIT = 32 << 20  # about 200,000 connections
LISTED = 16


def listeners(place, port, by=None):
    """The listening sockets of a TCP port, each with its address and the processes that hold it.

    by: a pid or a pattern; a holder is meant (`meant`) if it or one of its ancestors is that.
    sockets: {address, waiting (connections not yet accepted; None unknown), holders, uid}; holders are empty where this
    account may not see them, and `blind` counts the processes that it may not look into.
    forwarded: nobody listens, yet a connection to the loopback is accepted.  time_wait: closed connections that linger.
    """
    try:
        sockets, time_wait = _from_proc(place, port)
        source = "/proc/net/tcp"
    except (OSError, CannotSee):
        sockets, time_wait = _from_netstat(place, port), 0
        source = "netstat"
    table = processes.table_of(place) if sockets else None
    blind = 0
    if sockets:
        pids, blind = _holders(place, port, sockets, table)
        for socket in sockets:
            held = pids.get(socket.pop("inode"), [])
            rows = sorted((_holder(table, pid, by) for pid in held if pid in table), key=lambda row: not row["meant"])
            socket["holders"] = rows[:LISTED]
        # Those of strangers first: the list may be cut, and none of them must be lost.
        sockets.sort(key=lambda socket: any(holder["meant"] for holder in socket["holders"]))
    forwarded = not sockets and _accepts(port)
    return {
        "port": port,
        "sockets": sockets[:LISTED],
        "count": len(sockets),
        "forwarded": forwarded,
        "time_wait": time_wait,
        "blind": blind,
        "source": source,
        "coverage": {"sockets": min(len(sockets), LISTED), "of": len(sockets)},
    }


def _from_proc(place, port):
    sockets, time_wait, read = [], 0, 0
    for name in ("tcp", "tcp6"):
        try:
            with place.open("/proc/self/net/" + name) as file:
                text = file.read(TABLE_LIMIT + 1)
        except FileNotFoundError:  # a kernel without IPv6 has no tcp6
            continue
        if len(text) > TABLE_LIMIT:
            raise CannotSee("bound_reached", "the table of sockets is larger than %d bytes" % TABLE_LIMIT)
        read += 1
        for line in text.decode("ascii", "replace").splitlines()[1:]:
            words = line.split()
            if len(words) < 10 or int(words[1].rpartition(":")[2], 16) != port:
                continue
            time_wait += words[3] == TIME_WAIT
            if words[3] == LISTEN:
                sockets.append(
                    {
                        "address": _address(words[1].rpartition(":")[0]),
                        "waiting": int(words[4].partition(":")[2], 16),
                        "uid": int(words[7]),
                        "inode": words[9],
                    }
                )
    if not read:
        raise FileNotFoundError(2, "no socket tables", "/proc/self/net/tcp")
    return sockets, time_wait


def _address(text):
    """The kernel writes an address as words of 32 bits in the order of the machine's bytes."""
    import socket
    import struct

    words = [int(text[at : at + 8], 16) for at in range(0, len(text), 8)]
    raw = struct.pack("=%dI" % len(words), *words)
    return socket.inet_ntop(socket.AF_INET if len(raw) == 4 else socket.AF_INET6, raw)


def _from_netstat(place, port):
    try:
        ran = place.run(["netstat", "-an", "-p", "tcp"], limit=16 << 20)
    except CannotSee as error:
        raise CannotSee("unsupported", "this host has neither /proc/net/tcp nor netstat") from error
    if ran.status != 0 or ran.cut or ran.late:
        raise CannotSee("unsupported", "netstat did not answer: %s" % os.fsdecode(ran.stderr[:200]))
    found = re.findall(r"^tcp\S*\s+\d+\s+\d+\s+(\S+)[.:](\d+)\s+\S+\s+LISTEN", os.fsdecode(ran.stdout), re.M)
    return [
        {"address": address, "waiting": None, "uid": None, "inode": "lsof"}
        for address, number in found
        if int(number) == port
    ]


def _holders(place, port, sockets, table):
    """{inode: pids}, and how many processes could not be looked into."""
    if table.source != "/proc":
        return {"lsof": _by_lsof(place, port)}, 0
    wanted, found, blind = {"socket:[%s]" % socket["inode"]: socket["inode"] for socket in sockets}, {}, 0
    for pid in table.pids():
        folder = "/proc/%d/fd" % pid
        try:
            for name in place.listdir(folder):
                inode = wanted.get(_link(place, folder + "/" + name))
                if inode and pid not in found.get(inode, ()):
                    found.setdefault(inode, []).append(pid)
        except PermissionError:
            blind += 1
        except OSError:  # it ended meanwhile
            continue
    return found, blind


def _link(place, path):
    try:
        return place.readlink(path)
    except OSError:
        return ""


def _by_lsof(place, port):
    try:
        ran = place.run(["lsof", "-nP", "-iTCP:%d" % port, "-sTCP:LISTEN", "-Fp"])
    except CannotSee:
        return []
    return [int(line[1:]) for line in os.fsdecode(ran.stdout).splitlines() if re.match(r"p\d+$", line)]


def _holder(table, pid, by):
    row = table.brief(pid)
    row["meant"] = by is not None and any(_is(table, each, by) for each in table.ancestors(pid))
    return row


def _is(table, pid, by):
    if isinstance(by, int):
        return pid == by
    return bool(re.search(by, table.command(pid))) and not processes.only_mentions(table.arguments(pid), by)


def _accepts(port):
    """Whether the loopback accepts a connection. One that met itself, both ends being the same, does not count."""
    import socket

    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        try:
            with socket.socket(family, socket.SOCK_STREAM) as attempt:
                attempt.settimeout(1.0)
                attempt.connect((address, port))
                if attempt.getsockname()[:2] != attempt.getpeername()[:2]:
                    return True
        except OSError:
            continue
    return False
