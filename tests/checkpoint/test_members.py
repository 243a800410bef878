"""Members of enumerations, as Python 3.11.0 to 3.11.3 pickle them: `getattr(class, "NAME")`."""

import pickle
import uuid

import pytest
import torch

from verikit import FAIL, PASS, UNKNOWN, Cause, CheckpointIntact
from verikit.testing import examine_here


class Reduced:
    """Pickles as the call that it is given."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


class Colour:
    """A team's own enumeration, by its name."""


def look(tmp_path, value, **words):
    path = tmp_path / "model.pt"
    torch.save({"w": torch.ones(2), "kind": value}, path)
    return examine_here(CheckpointIntact(path, **words))


def test_a_member_of_a_known_enumeration(tmp_path):
    """
    A member of an enumeration that checkpoints hold is data.
    """
    assert look(tmp_path, Reduced(getattr, uuid.SafeUUID, "safe")).verdict is PASS


def test_a_member_of_a_teams_own(tmp_path):
    """
    A member of a team's own class is UNKNOWN until that class is allowed, by the class's name and not by getattr's.
    """
    found = look(tmp_path, Reduced(getattr, Colour, "RED"))
    assert (found.verdict, found.cause) == (UNKNOWN, Cause.AMBIGUOUS)
    assert f"{__name__}.Colour" in found.reason
    assert "getattr" not in found.reason
    assert look(tmp_path, Reduced(getattr, Colour, "RED"), allow=[f"{__name__}.Colour"]).verdict is PASS


@pytest.mark.parametrize(
    "value",
    [
        Reduced(getattr, torch.UntypedStorage, "from_file"),
        Reduced(getattr, uuid.SafeUUID, "__init_subclass__"),
        Reduced(getattr, Reduced(getattr, uuid.SafeUUID, "safe"), "value"),
        Reduced(getattr, uuid.SafeUUID, "safe", None),
        Reduced(getattr, "text", "format"),
        getattr,
    ],
)
def test_anything_else_of_getattr_is_unsafe(tmp_path, value):
    """
    getattr on what is no enumeration, for a private name, for a default, or by itself, is an unsafe pickle.
    """
    found = look(tmp_path, value)

    assert found.verdict is FAIL
    assert "builtins.getattr" in found.reason


def test_a_member_that_is_called(tmp_path):
    """
    What getattr fetched is a value; a pickle that calls it is unsafe, also where the class is allowed.
    """
    evil = (
        b"\x80\x02cbuiltins\ngetattr\n"
        + pickle.dumps(Colour, 2)[2:-1]
        + b"X\x03\x00\x00\x00RED\x86R"
        + b"X\x02\x00\x00\x00id\x85R."
    )
    path = tmp_path / "model.pkl"
    path.write_bytes(evil)
    found = examine_here(CheckpointIntact(path, allow=[f"{__name__}.Colour"]))

    assert found.verdict is FAIL
    assert "builtins.getattr" in found.reason
