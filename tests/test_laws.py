"""The algebra by its laws, one test a law, for verdicts and for what they can become."""

import pytest

from verikit.testing.laws import LAWS, check_laws, evaluate
from verikit.verdict import FAIL, PASS, UNKNOWN


@pytest.mark.parametrize("law", LAWS)
def test_law(law):
    """
    The law holds on generated trees.
    """
    LAWS[law]()


def test_a_broken_algebra_is_caught():
    """
    check_laws fails for an evaluation in which UNKNOWN counts as PASS at the root.
    """

    def wishful(check):
        verdict, span = evaluate(check)
        return (PASS if verdict is UNKNOWN else verdict), span

    with pytest.raises(AssertionError):
        check_laws(wishful, examples=60)


def test_order():
    """
    FAIL < UNKNOWN < PASS, `&` is the lower, `|` the higher, `~` the mirror image.
    """
    assert FAIL < UNKNOWN < PASS
    assert (PASS & UNKNOWN, FAIL & UNKNOWN, PASS | UNKNOWN, FAIL | UNKNOWN) == (UNKNOWN, FAIL, PASS, UNKNOWN)
    assert (~PASS, ~UNKNOWN, ~FAIL) == (FAIL, UNKNOWN, PASS)
