"""The report as a tree for people: at most 100 columns, the verdict and what decided it first.

The plain form is complete; colours are added where `show` meets a terminal, or where rich prints the report.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TextIO

import attrs

from verikit.address import fold
from verikit.finding import TOLD, Result
from verikit.text import bounded, seconds
from verikit.verdict import FAIL, PASS, UNKNOWN

if TYPE_CHECKING:
    from rich.console import Console, Group
    from rich.text import Text

    from verikit.report import Report

WIDTH = 100
SIGN = {FAIL: "✗", UNKNOWN: "?", PASS: "✓"}
STYLE = {FAIL: "bold red", UNKNOWN: "bold yellow", PASS: "green"}
ORDER = {FAIL: 0, UNKNOWN: 1, PASS: 2}
DECIDES = "◀ decides"
SHOWN = 50
"""Parts of one node that are written out, after equal ones are folded; the rest is counted."""

DEEP = 16
"""Levels that are set in, four columns each; what lies deeper is shown by its leaves alone."""


def tree(report: Report) -> str:
    """The whole report as plain text."""
    return _plain(_whole(report))


def deciding_part(report: Report) -> str:
    """Verdict, counts, and the leaves that share the deciding verdict."""
    return _plain(_head(report, folded(report.root), full=True))


def rich_tree(report: Report) -> Group:
    """The whole report as something that rich prints."""
    return _whole(report)


def show(report: Report, file: TextIO | None = None) -> None:
    """Prints the report, in colour where it goes to a terminal."""
    out = file or sys.stdout
    if out.isatty():
        _console(out, colour=True).print(_whole(report))
    else:
        out.write(tree(report) + "\n")


def _plain(content: Any) -> str:
    out = io.StringIO()
    _console(out, colour=False).print(content)
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip("\n").split("\n"))


def _console(out: TextIO, colour: bool) -> Console:
    from rich.console import Console

    # legacy_windows and the rest of rich's guesses about the surroundings must not change what is written.
    settings: dict[str, Any] = {"force_jupyter": False}
    settings |= {} if colour else {"color_system": None, "force_terminal": False}
    return Console(file=out, width=WIDTH, highlight=False, markup=False, emoji=False, soft_wrap=False, **settings)


def _whole(report: Report) -> Group:
    from rich.console import Group
    from rich.text import Text

    root = folded(report.root)
    lines: list[Any] = [_head(report, root, full=root.is_leaf)]
    if root.is_leaf:
        lines += [_set_in(f"warning: {each}", 2, "yellow") for each in warnings_of(root)]
    else:
        lines += [Text(""), *_branches(report, root)]
    lines += [Text(f"warning: {warning}", style="yellow") for warning in report.warnings]
    return Group(*lines)


def _first(report: Report) -> Text:
    from rich.text import Text

    counts = ", ".join(f"{number:,} {verdict.name.lower()}" for verdict, number in report.counts.items())
    return Text.assemble(
        (f"{SIGN[report.verdict]} {report.verdict.name}", STYLE[report.verdict]),
        f"  {counts}  ·  {seconds(report.root.duration)}",
    )


def _head(report: Report, root: Result, full: bool) -> Group:
    from rich.console import Group

    deciding = list(root.deciders()) if full else [root.deciding]
    lines: list[Any] = [_first(report)]
    on = "on " if root.several_hosts and not report.passed else ""
    for leaf in deciding[:TOLD]:
        reason = reason_of(leaf) if full else bounded_line(reason_of(leaf), 2 * WIDTH)
        lines += [_one_line(_who(leaf, on)), _set_in(reason, 2)]
    if len(deciding) > TOLD:
        lines += [f"… and {len(deciding) - TOLD:,} more"]
    return Group(*lines)


def _who(leaf: Result, on: str) -> str:
    where = f"{on}{leaf.host} · " if leaf.host else ""
    return f"{where}{leaf.title}"


def reason_of(leaf: Result) -> str:
    cause = f" [{leaf.finding.cause}]" if leaf.finding and leaf.finding.cause else ""
    return f"{leaf.reason}{cause}"


def _one_line(text: str) -> Text:
    from rich.text import Text

    return Text(" ".join(text.split()), no_wrap=True, overflow="ellipsis")


def _set_in(text: str, by: int, style: str = "") -> Any:
    from rich.padding import Padding
    from rich.text import Text

    return Padding(Text(text, style, overflow="fold"), (0, 0, 0, by), expand=False)


def bounded_line(text: str, limit: int) -> str:
    """At most `limit` characters, cut at the end with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _branches(report: Report, root: Result) -> list[Any]:
    from rich.tree import Tree

    deciding = None if report.passed else root.deciding
    trunk = Tree(_label(root, deciding), guide_style="dim")
    _grow(trunk, root, deciding, root.host)
    return [trunk]


def folded(node: Result) -> Result:
    """The tree as it is shown: `~` of a leaf is one row with it, and a single host is named on what was looked at there."""
    if node.is_leaf:
        return node
    parts = tuple(map(folded, node.parts))
    if len(parts) == 1 and node.kind == "On" and not node.note:
        return parts[0]
    if len(parts) == 1 and node.kind == "Not" and parts[0].is_leaf:
        return parts[0].denied()
    same = all(new is old for new, old in zip(parts, node.parts, strict=True))
    return node if same else attrs.evolve(node, parts=parts)


def _grow(branch: Any, node: Result, deciding: Result | None, here: str | None = None, level: int = 1) -> None:
    if node.is_leaf:
        return
    parts = node.parts if level < DEEP else node.leaves()
    groups = grouped(node.parts) if node.kind == "On" else [(part, None) for part in parts]
    groups.sort(key=lambda group: ORDER[group[0].verdict])
    for part, names in groups[:SHOWN]:
        _grow(branch.add(_label(part, deciding, names, here)), part, deciding, part.host or here, level + 1)
    if len(groups) > SHOWN:
        left = [part.verdict for part, _ in groups[SHOWN:]]
        branch.add(
            f"… {len(left):,} more: " + ", ".join(f"{left.count(v):,} {v.name.lower()}" for v in sorted(set(left)))
        )


def grouped(parts: Iterable[Result]) -> list[tuple[Result, str | None]]:
    """Hosts that say the same, folded: one part for all of them, and their names."""
    groups: dict[Any, list[Result]] = {}
    for part in parts:
        groups.setdefault(_said(part, part.host), []).append(part)
    return [(members[0], fold(each.host for each in members if each.host) or None) for members in groups.values()]


def _said(node: Result, host: str | None) -> Any:
    bound = node.host if node.host != host else None
    reason = node.finding.reason if node.finding else ""
    return node.verdict, node.title, bound, reason, tuple(_said(part, host) for part in node.parts)


def _label(node: Result, deciding: Result | None, names: str | None = None, here: str | None = None) -> Any:
    from rich.console import Group
    from rich.text import Text

    head = Text(overflow="fold")
    head.append(f"{SIGN[node.verdict]} ", STYLE[node.verdict])
    where = names or (node.host if node.host != here else None)
    if where:
        head.append(f"{bounded_line(where, 200)} · ", "bold")
    head.append(called(node))
    if node is deciding:
        head.append(f"  {DECIDES}", STYLE[node.verdict])
    return Group(head, *_details(node)) if node.is_leaf else head


def called(node: Result) -> str:
    """A node's title, and what it notes of its waiting."""
    return bounded(node.title, 300) + (f"  ·  {node.note}" if node.note else "")


def _details(leaf: Result) -> Iterator[Any]:
    """What stands beneath a leaf's title: its reason, its warnings."""
    yield _set_in(reason_of(leaf), 2)
    for warning in warnings_of(leaf):
        yield _set_in(f"warning: {warning}", 2, "yellow")


def warnings_of(leaf: Result) -> tuple[str, ...]:
    return leaf.finding.warnings[:5] if leaf.finding else ()
