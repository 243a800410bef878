"""The public names, pinned: what is added shows here, what goes away breaks here."""

import inspect

import verikit
import verikit.testing

PROMISED = """
CheckpointIntact ImportConflict LogHealthy SyntaxValid TensorShapeSane
verify verify_async Session mark Local SSH Exec hosts at_least
Check Look Verdict Finding Result Report Cause VerikitError VerificationFailed Undecided
check
""".split()


def test_promised_names():
    """
    Every name of the design's contract can be imported from the package.
    """
    for name in PROMISED:
        assert hasattr(verikit, name), name
        assert name in verikit.__all__, name


def test_functions_are_not_hidden_by_their_modules():
    """
    check, hosts, mark and verify are functions, whatever module of that name was imported later.
    """
    import verikit.check
    import verikit.hosts.base
    import verikit.mark
    import verikit.verify

    for name in ("check", "hosts", "mark", "verify", "verify_async", "at_least"):
        assert inspect.isfunction(getattr(verikit, name)), name


def test_star_import_brings_everything():
    """
    `from verikit import *` brings all of `__all__`, lazy ones too.
    """
    space = {}
    exec("from verikit import *", space)

    assert set(verikit.__all__) <= set(space)


def test_checks_are_the_classes_of_their_name():
    """
    A lazily imported check is the class of that name, and documented.
    """
    for name in verikit.LAZY:
        thing = getattr(verikit, name)
        assert thing.__name__ == name
        assert thing.__doc__, name


def test_public_signatures():
    """
    The signatures that other people's tools call.
    """

    def parameters(function):
        return list(inspect.signature(function).parameters)

    assert parameters(verikit.verify)[:3] == ["check", "on", "short_circuit"]
    assert parameters(verikit.mark) == ["path", "on"]
    assert parameters(verikit.Check.eventually) == ["self", "within", "every"]
    assert parameters(verikit.Check.consistently) == ["self", "during", "every"]
    assert parameters(verikit.Check.on) == ["self", "where", "at_least"]
    assert parameters(verikit.at_least) == ["k", "checks"]


def test_testing_names():
    """
    What verikit.testing promises is there.
    """
    for name in verikit.testing.__all__:
        assert getattr(verikit.testing, name) is not None, name
