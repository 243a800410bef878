"""What files and the config say of themselves, against what a spec says that they say: `meta(key)`, `config(key)`."""

from __future__ import annotations

import json
from typing import Any

from verikit.spec import grammar, predicates
from verikit.spec.arithmetic import Inexact, Unbound
from verikit.spec.compiled import Plan
from verikit.spec.fit import laid_out
from verikit.spec.rows import Entry, Fault
from verikit.spec.solving import Solving
from verikit.spec.unfit import misfit_of, misfits
from verikit.spec.wanted import one_value


def told(solving: Solving, plan: Plan) -> None:
    """`meta(key)` in every file that it is for, and `config(key)`."""
    rule = plan.rule
    key = str(rule.name)
    if rule.kind == "config":
        try:
            _told_value(solving, plan, solving.constants._file, key, solving.constants.get(f"config.{key}").value)
        except Unbound as error:
            if not rule.optional:
                solving.cannot(error.name, plan)
    elif rule.kind == "meta":
        asked = [f for f in solving.files if (f not in solving.left if rule.file is None else solving.in_file(plan, f))]
        if not asked and not rule.optional:
            solving.tell("nothing_seen", f"{rule.key}: there is no file that could say it")
        for file in asked:
            row = solving.metadata.get(file, {})
            if row is None or file in solving.left:  # a file that could not be read is told as such
                solving.tell("unsupported", f"{file}: its metadata can't be told")
            elif key not in row:
                _not_told(solving, plan, file, f"meta({key})", "missing: not in its metadata")
            elif (text := row[key]) is None:
                solving.tell("unsupported", f"{Entry(file, key, '', ()).where}: no plain value, nor a tensor of few")
            else:
                _told_value(solving, plan, file, key, _parsed(text))


def _not_told(solving: Solving, plan: Plan, file: str, name: str, what: str) -> None:
    try:
        if not plan.rule.optional and not solving.excused(plan):
            solving.out.faults.append(Fault("meta", plan.number, file, name, what))
    except (Unbound, Inexact) as error:
        solving.not_known(plan, error)


def _told_value(solving: Solving, plan: Plan, file: str, key: str, value: Any) -> None:
    """A value out of metadata or config: equal to what is wanted, or a row of numbers with a shape and words of its own."""
    rule, name = plan.rule, f"{plan.rule.kind}({key})"
    if rule.wanted is not None:
        if json.dumps(grammar._plain(value), sort_keys=True) != rule.wanted:
            what = f"{json.dumps(grammar._plain(value))[:200]}, expected {rule.wanted}"
            solving.out.faults.append(Fault("meta", plan.number, file, name, what, cause=(plan.number,)))
        return
    row = list(value) if isinstance(value, (list, tuple)) else [value]
    if not all(isinstance(each, (int, float)) for each in row):
        solving.out.faults.append(Fault("meta", plan.number, file, name, "holds no numbers"))
        return
    entry = Entry(file, name, "i64", (len(row),) if isinstance(value, (list, tuple)) else ())
    solving.lists[file, name] = row
    for axis, position, size in laid_out(rule.value.axes, entry.shape) or () if rule.value.axes is not None else ():
        misfit = misfit_of(solving, axis, position, size, entry, {}, [size])
        if misfit is not None:
            misfits(solving, plan, entry, {}, [], [misfit], entry.shape)
    for part in predicates.conjuncts(rule.value.predicate):
        one_value(solving, plan, entry, {}, part)


def _parsed(text: str) -> Any:
    """A metadata text as the JSON that it may be."""
    try:
        return json.loads(text)
    except ValueError:
        return text
