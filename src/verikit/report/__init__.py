"""Report: a root result with what people and tools do with it.

A new form is one file `(Report) -> str` beside this one and one method here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from verikit.errors import Undecided, VerificationFailed
from verikit.finding import Result
from verikit.text import line
from verikit.verdict import FAIL, PASS, UNKNOWN, Verdict

SCHEMA = "verikit.report/1"


def _lines(warnings: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(line, warnings))


@attrs.frozen(repr=False)
class Report:
    """What a verification found. `print` it for a tree that a person reads at a glance.

    root: the result of the whole claim.  warnings: what could not be tidied up on the way, in words.
    `bool(report)` is true for PASS, false for FAIL, and raises `Undecided` for UNKNOWN.
    """

    root: Result
    warnings: tuple[str, ...] = attrs.field(default=(), converter=_lines)

    @property
    def verdict(self) -> Verdict:
        """The verdict on the whole claim."""
        return self.root.verdict

    @property
    def passed(self) -> bool:
        """Whether the claim holds."""
        return self.verdict is PASS

    @property
    def failed(self) -> bool:
        """Whether the evidence shows that it does not."""
        return self.verdict is FAIL

    @property
    def unknown(self) -> bool:
        """Whether the evidence could not be had."""
        return self.verdict is UNKNOWN

    @property
    def deciding(self) -> Result:
        """The leaf that settled the verdict."""
        return self.root.deciding

    @property
    def counts(self) -> dict[Verdict, int]:
        """Leaves by what they tell for the claim, FAIL first: what does not hold beneath a `~` counts as PASS."""
        found = [leaf.verdict for leaf in self.root.as_claimed()]
        return {verdict: found.count(verdict) for verdict in (FAIL, UNKNOWN, PASS)}

    def leaves(self, verdict: Verdict | None = None) -> list[Result]:
        """The results that carry evidence, in the order of the claim; of one verdict of their own, if named."""
        return list(self.root.leaves(verdict))

    def __bool__(self) -> bool:
        if self.unknown:
            raise Undecided(f"the claim is neither true nor false\n{self.deciding_part()}", self)
        return self.passed

    def raise_for_verdict(self) -> None:
        """Raises `VerificationFailed` on FAIL and `Undecided` on UNKNOWN, with the deciding part of the tree as message."""
        if not self.passed:
            raise (VerificationFailed if self.failed else Undecided)(self.deciding_part(), self)

    def deciding_part(self) -> str:
        """The first lines of `print(report)`: the verdict, the counts, and every leaf that decided it."""
        from verikit.report.text import deciding_part

        return deciding_part(self)

    def __str__(self) -> str:
        from verikit.report.text import tree

        return tree(self)

    def __repr__(self) -> str:
        """One line, so that a failed `assert report.passed` tells why: the verdict and what decided it."""
        from verikit.report.text import folded

        leaf = folded(self.root).deciding
        return f"<Report {self.verdict.name}: {leaf.host + ' · ' if leaf.host else ''}{leaf.title}: {leaf.reason}>"

    def _repr_pretty_(self, printer: Any, _: bool) -> None:
        printer.text(str(self))  # the last line of a cell, in an IPython that shows no HTML

    def show(self) -> None:
        """Prints the report to standard output, in colour if that is a terminal; `print(report)` never colours."""
        from verikit.report.text import show

        show(self)

    def __rich__(self) -> Any:
        from verikit.report.text import rich_tree

        return rich_tree(self)

    def _repr_html_(self) -> str:
        from verikit.report.html import page

        return page(self)

    def to_dict(self) -> dict[str, Any]:
        """JSON values in the form `verikit.report/1`; `report.schema.json` beside this file describes it."""
        from verikit._version import __version__

        return {
            "schema": SCHEMA,
            "verikit": __version__,
            "verdict": self.verdict.name,
            "counts": {verdict.name: number for verdict, number in self.counts.items()},
            "started": self.root.started,
            "duration": self.root.duration,
            "warnings": list(self.warnings),
            "root": self.root.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Report:
        """The report that `to_dict` wrote. Raises ValueError for another schema."""
        if not isinstance(data, Mapping) or data.get("schema") != SCHEMA:
            raise ValueError(f"a stored report is a mapping with schema {SCHEMA!r}; got {data!r:.120}")
        try:
            return cls(Result.from_dict(data["root"]), warnings=tuple(map(str, data.get("warnings", ()))))
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"this is no stored report: {error!r:.200}") from error

    def to_json(self, *, indent: int | None = None) -> str:
        """`to_dict` as JSON text: ASCII, one line unless `indent` is given."""
        return json.dumps(self.to_dict(), indent=indent)

    def to_junit(self, *, suite: str = "verikit") -> str:
        """JUnit XML: one test case a leaf, as `counts` takes it.

        FAIL is a failure, UNKNOWN an error; what was `not_run` or `cancelled` is skipped.
        """
        from verikit.report.junit import document

        return document(self, suite)
