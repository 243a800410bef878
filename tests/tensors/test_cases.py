"""Cases as plain data: each verdict is the expected one, and its reason names what a person needs."""

from __future__ import annotations

import pathlib

import pytest
from tests.tensors import case_files
from tests.tensors.translate import checks_of

from verikit import FAIL
from verikit.testing.here import examine_here

torch = pytest.importorskip("torch")

FILES = ("cases.json", "more_cases.json")
CASES = [case for file in FILES for case in case_files.load(pathlib.Path(__file__).with_name(file))]
WORD = {"pass": "PASS", "fail": "FAIL", "error": "UNKNOWN"}


def examined(case, folder):
    """(verdict word, reason) of a case: every host by itself, then all of them together."""
    hosts = case_files.build(case)
    case_files.write(case, folder)
    findings = {}
    for host, files in hosts.items():
        subject = files["<memory>"] if "<memory>" in files else str(folder / host)
        findings[host] = alternatives(checks_of(case, subject))
    if len(findings) > 1:
        check = checks_of(case, str(folder))[0]
        together = check.across(findings)
        if together is not None:
            return "FAIL", together.reason
    worst = min(findings.items(), key=lambda row: row[1].verdict)
    return worst[1].verdict.name, f"{worst[0]}: {worst[1].reason}" if len(findings) > 1 else worst[1].reason


def alternatives(checks):
    findings = [examine_here(check) for check in checks]
    best = max(findings, key=lambda finding: finding.verdict)
    if best.verdict is FAIL and len(findings) > 1:
        return type(best)(FAIL, "; ".join(finding.reason for finding in findings), facts=best.facts)
    return best


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['id']} {case['title']}")
def test_case(case, tmp_path):
    """
    A case comes out as expected, and the reason has every fact it must have and none that it must not.
    """
    try:
        verdict, reason = examined(case, tmp_path)
    except ValueError as error:  # refused where it is built
        verdict, reason = "UNKNOWN", str(error)

    assert verdict == WORD[case["expected"]], reason
    assert verdict == "PASS" or not case_files.facts_missing(case, reason), reason
