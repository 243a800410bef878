"""Who holds a file open for writing, by Linux's /proc.  Source: proc(5), `flags` in /proc/PID/fdinfo."""

import os
import re

from verikit.probes.place import CannotSee, kind_of

LISTED = 16
FLAGS = re.compile(rb"^flags:\s*([0-7]+)", re.MULTILINE)


def writers(place, files, owner):
    """{"pids": processes that hold one of these files open for writing, "blind": …}; None where there is no /proc.

    files: {(device, inode)}.  owner: user number of the files' owner; `blind` counts its processes that this account may
    not look into, since somebody else's is hardly a writer.
    """
    try:
        pids = [name for name in place.listdir("/proc") if name.isdigit()]
    except OSError:
        return None
    found, blind = [], 0
    for pid in pids:
        try:
            handles = place.listdir("/proc/%s/fd" % pid)
        except PermissionError:
            blind += owner_of(place, "/proc/" + pid) == owner
        except OSError:  # it ended meanwhile
            continue
        else:
            if any(_writes(place, pid, handle, files) for handle in handles):
                found.append(int(pid))
    return {"pids": found[:LISTED], "blind": blind}


def owner_of(place, path):
    """The user number of the owner; None for what is gone."""
    try:
        return place.stat(path).st_uid
    except OSError:
        return None


def _writes(place, pid, handle, files):
    try:
        info = place.stat("/proc/%s/fd/%s" % (pid, handle))
        if (info.st_dev, info.st_ino) not in files or kind_of(info.st_mode):
            return False
        with place.open("/proc/%s/fdinfo/%s" % (pid, handle)) as file:
            found = FLAGS.search(file.read(4096))
    except (OSError, CannotSee):
        return False
    return bool(found) and int(found.group(1), 8) & os.O_ACCMODE in (os.O_WRONLY, os.O_RDWR)
