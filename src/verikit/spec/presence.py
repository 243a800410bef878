"""What must be there: the names and files that a rule stands for, and how many of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter

from verikit.spec.arithmetic import Inexact, Unbound
from verikit.spec.compiled import Plan
from verikit.spec.names import Pattern
from verikit.spec.rows import Entry, Fault
from verikit.spec.solving import Solving


def present(solving: Solving, plan: Plan, found: list[tuple[Entry, dict[str, str]]]) -> None:
    rule = plan.rule
    if rule.forbidden:
        for entry, _ in found:
            solving.fault("forbidden", plan, entry, "unexpected: must not exist")
        return
    if rule.optional or rule.when is not None:
        return
    before = len(solving.out.faults)
    try:
        if rule.optional_if is not None and solving.excused(plan):
            return
    except (Unbound, Inexact) as error:
        _required(solving, plan, found)
        if len(solving.out.faults) > before:  # whether it may be absent is what the config does not say
            del solving.out.faults[before:]
            solving.not_known(plan, error)
        return
    _required(solving, plan, found)


def _required(solving: Solving, plan: Plan, found: list[tuple[Entry, dict[str, str]]]) -> None:
    rule = plan.rule
    try:
        if rule.file is not None:
            _present_in_files(solving, plan, found)
        else:
            _present_somewhere(solving, plan, found)
    except Unbound as error:
        solving.cannot(error.name, plan)
    except Inexact as error:
        solving.tell("ambiguous", f"{rule.key}: {error}")


def _absent_names(solving: Solving, pattern: Pattern, found: list[tuple[Entry, dict[str, str]]]) -> list[str]:
    """Names that its ranges and choices stand for and that no tensor has, in order."""
    keys, rows = pattern.combinations(solving.constant)
    here = set(map(_picked(keys), (captured for _, captured in found)))
    return [pattern.filled(dict(zip(keys, row, strict=True))) for row in rows if row not in here]


def _picked(keys: tuple[str, ...]) -> Callable[[Mapping[str, str]], tuple[str, ...]]:
    """What takes these out of a mapping, as a tuple."""
    if len(keys) > 1:
        return itemgetter(*keys)
    return (lambda found: (found[keys[0]],)) if keys else (lambda found: ())


def _present_somewhere(solving: Solving, plan: Plan, found: list[tuple[Entry, dict[str, str]]]) -> None:
    assert plan.rule.name is not None
    file = solving.files[0] if len(solving.files) == 1 and "-of-" not in solving.files[0] else ""
    for name in _absent_names(solving, plan.rule.name, found):
        solving.out.faults.append(Fault("missing", plan.number, file, name, "missing"))
    if solving.collections:
        _present_in_collection(solving, plan, plan.rule.name, found)


def _present_in_collection(
    solving: Solving, plan: Plan, pattern: Pattern, found: list[tuple[Entry, dict[str, str]]]
) -> None:
    """Files that are samples of one kind (the same names in several) must each hold what any of them holds."""
    by_file: dict[str, list[tuple[Entry, dict[str, str]]]] = {}
    for row in found:
        by_file.setdefault(row[0].file, []).append(row)
    for group, common in solving.collections:
        if group & by_file.keys():
            # Parts of a data set are called like the shards of a checkpoint; which they are an index would say.
            why = f" in a file of one kind with others: {common} is in several" if "-of-" in min(group) else ""
            _present_in_each(solving, plan, pattern, sorted(group), by_file, why)


def _present_in_each(
    solving: Solving,
    plan: Plan,
    pattern: Pattern,
    files: list[str],
    by_file: dict[str, list[tuple[Entry, dict[str, str]]]],
    why: str = "",
) -> None:
    for file in files:
        for name in _absent_names(solving, pattern, by_file.get(file, [])):
            solving.out.faults.append(Fault("missing", plan.number, file, name, f"missing{why}"))


def _present_in_files(solving: Solving, plan: Plan, found: list[tuple[Entry, dict[str, str]]]) -> None:
    file, pattern = plan.rule.file, plan.rule.name
    assert file is not None
    assert pattern is not None
    assert plan.file_regex is not None
    fitting = [
        (f, match.groupdict())
        for f in solving.files
        if (match := plan.file_regex.fullmatch(f)) and solving.in_range(file, match.groupdict())
    ]
    keys, rows = file.combinations(solving.constant)
    there = set(map(_picked(keys), (captured for _, captured in fitting)))
    for row in rows:
        if row not in there:
            name = file.filled(dict(zip(keys, row, strict=True)))
            solving.out.faults.append(Fault("missing", plan.number, name, str(pattern), "missing: no such file"))
    by_file: dict[str, list[tuple[Entry, dict[str, str]]]] = {}
    for each in found:
        by_file.setdefault(each[0].file, []).append(each)
    _present_in_each(solving, plan, pattern, [name for name, _ in fitting], by_file)


def counts(solving: Solving) -> None:
    """`files(…)` and `tensors(…)`: a number, told like the size of an axis."""
    for plan in solving.compiled.plans:
        rule = plan.rule
        if rule.kind not in ("files", "tensors"):
            continue
        if rule.kind == "files":
            n = sum(solving.in_file(plan, file) for file in solving.files)
        else:
            n = sum(
                plan.regex is not None
                and plan.regex.fullmatch(e.name) is not None
                and (plan.file_regex is None or solving.in_file(plan, e.file))
                for e in solving.entries
            )
        if rule.value.axes and rule.scope == "check" and solving.together != 1:
            solving.shares.append((plan, n))
        elif rule.value.axes:
            entry = Entry("", f"{rule.kind}({rule.file or rule.name})", "", (n,))
            found = solving.alike(plan, entry, {}, [(rule.value.axes[0], 0, n)])
            found.count = 1
            solving.alikes[plan.number, "count"] = found
            solving.sized.append((entry, {}, found))


def share(solving: Solving, plan: Plan, n: int) -> None:
    """Puts down this host's share of a count over all hosts, with what its names stand for here."""
    if not solving.together:
        why = (
            f"{plan.rule.key} is a sum over hosts, which is not made beneath |, ~ or at_least: put .on(…) inside of it"
        )
        solving.tell("ambiguous", why)
    axis, nowhere = (plan.rule.value.axes or ())[0], Entry("", "", "", ())
    own = solving.compiled.bounds.get(axis.dim or "")
    given = {}
    for name in {*axis.names(), *(own.names() if own else ())}:
        try:
            bound = solving.bound_for(name, nowhere, {})
            given[name] = [bound.value, bound.origin]
        except Unbound as error:
            if name != axis.dim:
                solving.cannot(error.name, plan)
        except Inexact as error:
            solving.not_known(plan, error)
    solving.out.shares[plan.rule.key] = {"n": n, "hosts": solving.together, "given": given}
