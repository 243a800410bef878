"""JUnit XML, as CI systems read it: one suite a report, one test case a leaf and host.

Source of the form: the schema that Jenkins' xUnit plugin publishes (junit-10.xsd): testsuites/testsuite/testcase with
failure, error and skipped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

from verikit.errors import Cause
from verikit.finding import Result
from verikit.text import escape
from verikit.verdict import FAIL, UNKNOWN

if TYPE_CHECKING:
    from verikit.report import Report

NOT_REACHED = (Cause.NOT_RUN, Cause.CANCELLED)


def document(report: Report, suite: str) -> str:
    """The report as an XML document."""
    leaves = list(report.root.as_claimed())
    skipped = sum(_cause(leaf) in NOT_REACHED for leaf in leaves)
    counts = {
        "tests": str(len(leaves)),
        "failures": str(report.counts[FAIL]),
        "errors": str(report.counts[UNKNOWN] - skipped),
        "skipped": str(skipped),
        "time": f"{report.root.duration:.3f}",
    }
    root = ElementTree.Element("testsuites", {"name": escape(suite), **counts})
    cases = ElementTree.SubElement(root, "testsuite", {"name": escape(suite), **counts})
    for leaf in leaves:
        _case(cases, leaf)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


def _case(cases: ElementTree.Element, leaf: Result) -> None:
    where = escape(leaf.host or "memory")
    attributes = {"classname": f"{leaf.kind}.{where}", "name": escape(leaf.title), "time": f"{leaf.duration:.3f}"}
    case = ElementTree.SubElement(cases, "testcase", attributes)
    cause = _cause(leaf)
    said = {"message": escape(leaf.reason), "type": str(cause or leaf.verdict.name)}
    if leaf.verdict is FAIL:
        ElementTree.SubElement(case, "failure", said)
    elif cause in NOT_REACHED:
        ElementTree.SubElement(case, "skipped", said)
    elif leaf.verdict is UNKNOWN:
        ElementTree.SubElement(case, "error", said)
    if leaf.finding and leaf.finding.warnings:
        ElementTree.SubElement(case, "system-out").text = escape("\n".join(leaf.finding.warnings))


def _cause(leaf: Result) -> Cause | None:
    return leaf.finding.cause if leaf.finding else None
