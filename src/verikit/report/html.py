"""The report for a notebook cell: one self-contained fragment, no scripts, readable in light and dark themes."""

from __future__ import annotations

from html import escape as quote
from typing import TYPE_CHECKING

from verikit.finding import Result
from verikit.report.text import ORDER, SHOWN, SIGN, called, folded, grouped, reason_of, warnings_of
from verikit.text import seconds
from verikit.verdict import FAIL, PASS, UNKNOWN

if TYPE_CHECKING:
    from verikit.report import Report

# Middle tones: about 4:1 on white and on a dark theme's ground alike.
COLOUR = {FAIL: "#dc3a30", UNKNOWN: "#b7730f", PASS: "#2b8a3e"}
STYLE = (
    "<style>"
    ".verikit{font-family:system-ui,sans-serif;font-size:13px;line-height:1.45;max-width:60em}"
    ".verikit ul{list-style:none;margin:0;padding-left:1.3em}"
    ".verikit code{font-size:12px;background:none;color:inherit;word-break:break-word}"
    ".verikit .r{opacity:.85;padding-left:1.3em}"
    ".verikit .d{border-left:3px solid;padding:.1em .6em;margin:.3em 0}"
    ".verikit summary{cursor:pointer}"
    "</style>"
)


def page(report: Report) -> str:
    """The fragment: verdict and counts, the leaf that decided against it, then the tree, opened where it is not PASS."""
    counts = ", ".join(f"{number:,} {verdict.name.lower()}" for verdict, number in report.counts.items())
    root = folded(report.root)
    said = (*(warnings_of(root) if root.is_leaf else ()), *report.warnings)
    warnings = "".join(f"<div>warning: {quote(line)}</div>" for line in said)
    return (
        f'{STYLE}<div class="verikit"><div>{_sign(report.root)} <b>{report.verdict.name}</b> '
        f"&nbsp;{counts} · {seconds(report.root.duration)}</div>"
        f"{'' if report.passed and not root.is_leaf else _decided(root.deciding)}{_tree(report, root)}{warnings}</div>"
    )


def _decided(leaf: Result) -> str:
    where = f"<b>{quote(leaf.host)}</b> · " if leaf.host else ""
    return (
        f'<div class="d" style="border-color:{COLOUR[leaf.verdict]}">{where}<code>{quote(leaf.title)}</code>'
        f"<br>{quote(reason_of(leaf))}</div>"
    )


def _tree(report: Report, root: Result) -> str:
    if root.is_leaf:
        return ""
    return f"<ul>{_item(root, None if report.passed else root.deciding, None)}</ul>"


def _item(node: Result, deciding: Result | None, names: str | None, here: str | None = None) -> str:
    where = f"<b>{quote(names)}</b> · " if names else ""
    if node.is_leaf:
        host = "" if names or not node.host or node.host == here else f"<b>{quote(node.host)}</b> · "
        mark = f' <span style="color:{COLOUR[node.verdict]}">◀ decides</span>' if node is deciding else ""
        warned = "".join(f'<div class="r">warning: {quote(line)}</div>' for line in warnings_of(node))
        reason = f'<div class="r">{quote(reason_of(node))}</div>'
        return f"<li>{_sign(node)} {where}{host}<code>{quote(node.title)}</code>{mark}{reason}{warned}</li>"
    groups = grouped(node.parts) if node.kind == "On" else [(part, None) for part in node.parts]
    groups.sort(key=lambda group: ORDER[group[0].verdict])
    items = "".join(_item(part, deciding, each, part.host if each else here) for part, each in groups[:SHOWN])
    more = f"<li>… {len(groups) - SHOWN:,} more</li>" if len(groups) > SHOWN else ""
    opened = "" if node.verdict is PASS else " open"
    head = f"{_sign(node)} {where}{quote(called(node))}"
    return f"<li><details{opened}><summary>{head}</summary><ul>{items}{more}</ul></details></li>"


def _sign(node: Result) -> str:
    return f'<span style="color:{COLOUR[node.verdict]};font-weight:bold">{SIGN[node.verdict]}</span>'
