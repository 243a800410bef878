"""Marks: where a file stood before a launch."""

import pytest

from verikit.mark import Mark
from verikit.probes import files
from verikit.probes.place import CannotSee, Place

ENTRY = {"device": 1, "inode": 2, "size": 3, "now": 4.5, "crc": 6, "head": 3}


def test_mark_is_a_value():
    """
    Equal marks are equal, hash alike, and their repr rebuilds them.
    """
    one, two = Mark("/x", {"local": ENTRY}), Mark("/x", {"local": dict(reversed(ENTRY.items()))})

    assert one == two
    assert hash(one) == hash(two)
    assert eval(repr(one)) == one


def test_mark_of_each_host():
    """
    A mark answers for the hosts it was taken on, and for no other.
    """
    mark = Mark("/x", {"root@a": ENTRY})

    assert mark.for_host("root@a") == ENTRY
    assert mark.for_host("root@b") is None


@pytest.mark.parametrize("entries", [None, {"a": 3}, {"a": {"size": 3}}])
def test_malformed_mark_is_refused(entries):
    """
    A mark without what `mark` notes is wrong use.
    """
    with pytest.raises((TypeError, ValueError)):
        Mark("/x", entries)


def test_file_is_marked(tmp_path):
    """
    The probe notes size, inode and the first KiB.
    """
    path = tmp_path / "log"
    path.write_bytes(b"x" * 3000)

    noted = files.mark(Place(), str(path))

    assert (noted["size"], noted["inode"], noted["head"]) == (3000, path.stat().st_ino, 1024)


def test_absent_file_is_marked_as_empty(tmp_path):
    """
    A log that does not exist yet has a mark: everything in it will be new.
    """
    noted = files.mark(Place(), str(tmp_path / "none"))

    assert (noted["inode"], noted["size"]) == (None, 0)


def test_folder_has_no_mark(tmp_path):
    """
    A folder can't be marked.
    """
    with pytest.raises(CannotSee) as caught:
        files.mark(Place(), str(tmp_path))

    assert caught.value.cause == "unsupported"
