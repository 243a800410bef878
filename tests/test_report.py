"""Reports: what a person sees first, what tools read, what stays out."""

import io
import json
import pathlib
import xml.etree.ElementTree as ElementTree

import attrs
import jsonschema
import pytest
from hypothesis import given, settings

import verikit.report
from verikit import FAIL, PASS, UNKNOWN, Cause, Check, Finding, Look, Report, Unseen, VerificationFailed, verify
from verikit.address import fold, hosts
from verikit.report.text import show
from verikit.testing import FakeHost, ManualClock, Stated
from verikit.testing.strategies import trees

SCHEMA = json.loads((pathlib.Path(verikit.report.__file__).parent / "report.schema.json").read_text())


def said(place, path):
    """Answered by made-up hosts."""
    raise AssertionError


@attrs.frozen(repr=False)
class Says(Check):
    """What a host says of a path."""

    path: str

    def look(self):
        return Look(said, path=self.path)

    def judge(self, facts):
        verdict, reason = facts
        return Finding({"pass": PASS, "fail": FAIL, "?": UNKNOWN}[verdict], reason, warnings=("careful",))


def on(name, verdict, reason):
    return FakeHost(name, {said: [[verdict, reason]]})


LONG = "truncated: 12.4 GiB of 16.6 GiB (17,852,470,761 bytes expected); the ZIP directory at the end is missing " * 3


@pytest.fixture(scope="module")
def mixed():
    """One FAIL, one UNKNOWN, two PASS, in an order that is not the order of importance."""
    claim = (
        Says("/ok").on(on("gpu01", "pass", "fine"))
        & Says("/q").on(on("gpu02", "?", "can't tell"))
        & (
            Says("/ok2").on(on("gpu03", "pass", "fine"))
            & Says("/root/eval/step20k.pt").on(on("root@ct129", "fail", LONG))
        )
    )
    return verify(claim)


class TestReason:
    """Result.reason"""

    def test_of_several_hosts_names_the_host(self, mixed):
        """
        Where several hosts were looked at, the reason of the whole begins with the host of the leaf that decided.
        """
        assert mixed.root.reason.startswith("on root@ct129: truncated: 12.4 GiB")
        assert mixed.deciding.reason.startswith("truncated")
        with pytest.raises(VerificationFailed, match=r"\non root@ct129 · Says"):
            mixed.raise_for_verdict()

    def test_of_one_host_does_not(self):
        """
        On a single host the reason is the leaf's own.
        """
        assert "no" == verify(Says("/x").on(on("a", "fail", "no"))).root.reason

    def test_tells_all_that_decided_each_once(self):
        """
        A claim that fails for several reasons tells each once, with the hosts it is of; one that was outvoted is left out.
        """
        rows = [("a", "fail", "cut"), ("b", "?", "gone"), ("c", "fail", "cut"), ("d", "fail", "empty")]
        report = verify(Says("/x").on(*(on(*row) for row in rows)))

        assert "on a, c: cut; on d: empty" == report.root.reason

    def test_of_alternatives_tells_each(self):
        """
        `a | b` fails by both.
        """
        a, b = Says("/a").on(on("g", "fail", "a is cut")), Says("/b").on(on("g", "fail", "b is empty"))

        assert "a is cut; b is empty" == verify(a | b).root.reason
        assert "a is fine" == verify(Says("/a").on(on("g", "pass", "a is fine")) | b).root.reason

    def test_of_what_passes_tells_all_its_hosts(self):
        """
        What passes on several hosts is told for all of them, each reason once; of other claims only the first is told.
        """
        alike = Says("/x").on(*(on(name, "pass", "fine") for name in "abc"))
        counts = Says("/x").on(*(on(f"h{n}", "pass", f"{n} files") for n in range(6)))
        other = Says("/y").on(on("z", "pass", "well"))

        assert "on a, b, c: fine" == verify(alike).root.reason
        assert "on a, b, c: fine" == verify(alike & other).root.reason
        assert "well" == verify(other & alike).root.reason
        assert (
            "on h0: 0 files; on h1: 1 files; on h2: 2 files; on h3: 3 files (and 2 more)" == verify(counts).root.reason
        )

    def test_tells_a_host_once(self):
        """
        What a host says of itself is not led in by its name twice.
        """
        report = verify(
            Says("/x").on(on("a", "?", "a: no answer"), on("b", "?", "b: no answer"), on("c", "pass", "c: fine"))
        )

        assert "on a, b: no answer" == report.root.reason

    def test_is_bounded(self):
        """
        From the eleventh on reasons, and from the fifth on hosts of the same one, are counted.
        """
        report = verify(Says("/x").on(*(on(f"h{n}", "fail", f"no {n}") for n in range(14))))

        alike = verify(Says("/x").on(*(on(f"h{n}", "fail", "no") for n in range(14))))

        assert report.root.reason.endswith("on h9: no 9 (and 4 more)")
        assert "on h0, h1, h2, h3 and 10 more hosts: no" == alike.root.reason


class TestText:
    """print(report)"""

    def test_first_five_lines_tell_it(self, mixed):
        """
        Verdict, counts, and the deciding leaf with its host and reason stand in the first five lines.
        """
        head = "\n".join(str(mixed).split("\n")[:5])

        assert head.startswith("✗ FAIL  1 fail, 1 unknown, 2 pass")
        assert "root@ct129 · Says('/root/eval/step20k.pt')" in head
        assert "truncated: 12.4 GiB of 16.6 GiB" in head

    def test_fail_then_unknown_then_pass(self, mixed):
        """
        In the tree what is broken comes first, then what could not be seen, then what is well; the deciding leaf is marked.
        """
        tree = str(mixed).split("\n\n", 1)[1]
        places = [tree.index(word) for word in ("step20k.pt", "/q", "/ok'")]

        assert places == sorted(places)
        assert tree.count("◀ decides") == 1
        assert "◀ decides" in next(line for line in tree.split("\n") if "step20k.pt" in line)
        assert "can't tell [ambiguous]" in tree
        assert "warning: careful" in tree

    def test_at_most_100_columns_and_no_colour(self, mixed):
        """
        No line is longer than 100 columns, none ends in blanks, and no escape code is in the text.
        """
        for line in str(mixed).split("\n"):
            assert len(line) <= 100
            assert line == line.rstrip()
        assert "\x1b" not in str(mixed)

    def test_colour_on_a_terminal_only(self, mixed):
        """
        `show` colours for a terminal and for nothing else.
        """

        class Terminal(io.StringIO):
            def isatty(self):
                return True

        terminal, file = Terminal(), io.StringIO()
        show(mixed, terminal)
        show(mixed, file)

        assert "\x1b[" in terminal.getvalue()
        assert file.getvalue() == f"{mixed}\n"

    def test_a_single_leaf_needs_no_tree(self):
        """
        A claim of one leaf prints its verdict, its reason in full, and its warnings.
        """
        text = str(verify(Says("/x"), on=on("gpu01", "fail", LONG)))

        assert text.count("Says('/x')") == 1
        assert text.replace("\n ", "").count("truncated") == 3
        assert "warning: careful" in text

    def test_hosts_that_say_the_same_are_folded(self):
        """
        128 hosts of which two differ make three lines, with ranges.
        """
        some = [on(f"gpu{n:03}", "fail" if n in (7, 64) else "pass", "as told") for n in range(1, 129)]
        text = str(verify(Says("/x"), on=some))

        assert "✗ gpu[007,064] · Says('/x')" in text
        assert "✓ gpu[001-006,008-063,065-128] · Says('/x')" in text
        assert len(text.split("\n")) < 15

    def test_a_thousand_different_hosts_are_bounded(self):
        """
        Parts that all differ are written out up to a bound, and the rest is counted.
        """
        some = [on(f"gpu{n:04}", "pass", f"number {n}") for n in range(1000)]
        text = str(verify(Says("/x"), on=some))

        assert "… 950 more: 950 pass" in text
        assert len(text.split("\n")) < 250

    def test_waiting_says_how_it_went(self):
        """
        A waiting node notes its looks and its window.
        """
        there = FakeHost("gpu01", {said: [["fail", "not yet"], ["fail", "not yet"], ["pass", "now"]]})
        text = str(verify(Says("/x").eventually(within=15), on=there, clock=ManualClock()))

        assert "eventually, within 15 s  ·  3 looks in 2 s of 15 s" in text

    def test_a_tree_that_passed_tells_a_leaf_first_too(self):
        """
        For a PASS the first five lines tell verdict, counts, and a deciding leaf with host and reason, however deep it is.
        """
        some = [on(f"gpu{n}", "pass", "fine") for n in (1, 2)]
        text = str(verify((Says("/x") & (Says("/y") & Says("/z")).named("both")).named("all"), on=some))

        assert text.split("\n")[:3] == [text.split("\n")[0], "gpu1 · Says('/x')", "  fine"]
        assert text.startswith("✓ PASS  0 fail, 0 unknown, 6 pass")
        assert "◀ decides" not in text

    def test_a_denied_leaf_is_told_as_claimed(self):
        """
        `~` of a leaf is one row with `not` before its title, and counts as what it tells for the claim.
        """
        free, holds = Stated("taken", verdict=FAIL), Stated("holds", verdict=PASS)
        passed, failed = verify(~free & holds), verify(~holds & free)
        rows = str(passed).split("\n")

        assert rows[0].startswith("✓ PASS  0 fail, 0 unknown, 2 pass")
        assert rows[1] == "local · not Stated('taken', verdict=FAIL)"
        assert "├── ✓ local · not Stated('taken', verdict=FAIL)" in rows
        assert "✗" not in str(passed)
        assert str(failed).startswith("✗ FAIL  2 fail, 0 unknown, 0 pass")
        assert "✗ local · not Stated('holds', verdict=PASS)  ◀ decides" in str(failed)
        assert "not Stated('holds', verdict=PASS)" in failed.deciding_part()
        assert repr(failed).startswith("<Report FAIL: local · not Stated('holds'")

    def test_a_denied_leaf_alone_needs_no_tree(self):
        """
        `~` of a single leaf prints as that leaf does, on one host and on several.
        """
        report = verify(~Says("/x"), on=on("gpu01", "fail", "nobody listens"))
        several = str(verify(~Says("/x"), on=[on(f"gpu{n}", "fail", "nobody listens") for n in (1, 2)]))

        assert str(report).split("\n")[1:] == ["gpu01 · not Says('/x')", "  nobody listens", "  warning: careful"]
        assert "└── ✓ gpu[1-2] · not Says('/x')" in several
        assert report._repr_html_().count("not Says") == 1

    @settings(max_examples=100, deadline=None)
    @given(trees(depth=3))
    def test_leaves_that_all_tell_the_same_settle_the_claim(self, tree):
        """
        Counts are of leaves as the claim takes them: if all are of one verdict, the claim is; `~` mirrors them.
        """
        report, mirrored = verify(_at_home(tree), on=_home(tree)), verify(~_at_home(tree), on=_home(tree))

        told = {verdict for verdict, n in report.counts.items() if n}
        assert len(told) > 1 or told == {report.verdict}
        assert mirrored.counts == {~verdict: n for verdict, n in report.counts.items()}

    def test_the_message_names_all_that_decided_and_nobody_else(self):
        """
        What an exception says lists each leaf that settled the verdict, also under `~`, and none that was outvoted.
        """
        bad, outvoted, good = (
            Stated("bad", verdict=FAIL),
            Stated("outvoted", verdict=FAIL),
            Stated("good", verdict=PASS),
        )
        said = verify(bad & (outvoted | good) & ~Stated("denied", verdict=PASS)).deciding_part()

        assert "bad" in said
        assert "denied" in said
        assert "outvoted" not in said

    def test_the_message_counts_what_it_leaves_out(self):
        """
        Of many hosts that decided ten are named, and the rest is counted.
        """
        some = [on(f"gpu{n:03}", "fail", "cut") for n in range(128)]

        assert verify(Says("/x"), on=some).deciding_part().endswith("… and 118 more")

    def test_the_repr_is_one_line(self, mixed):
        """
        `repr` says the verdict and why on one line, for a debugger or a failed assert; IPython prints the tree.
        """

        class Printer(list):
            text = list.append

        printer = Printer()
        mixed._repr_pretty_(printer, False)

        assert repr(mixed).startswith("<Report FAIL: root@ct129 · Says('/root/eval/step20k.pt'): truncated: 12.4 GiB")
        assert repr(mixed.leaves(PASS)[0]) == "<Result PASS: gpu01 · Says('/ok'): fine>"
        assert "\n" not in repr(mixed)
        assert printer == [str(mixed)]


class TestValuesOut:
    """What tools read."""

    @settings(max_examples=60, deadline=None)
    @given(trees(depth=4))
    def test_reports_keep_to_their_schema(self, tree):
        """
        Every report is valid under the published JSON Schema, and comes back equal from its JSON.
        """
        report = verify(_at_home(tree), on=_home(tree))
        data = json.loads(report.to_json())

        jsonschema.validate(data, SCHEMA)
        again = Report.from_dict(data)
        assert again.to_dict() == data
        assert again.verdict is report.verdict

    def test_every_cause_is_in_the_schema(self):
        """
        The schema's list of causes is the closed set.
        """
        assert set(SCHEMA["$defs"]["cause"]["enum"]) == {None, *(cause.value for cause in Cause)}

    def test_another_schema_is_refused(self):
        """
        A report of another version is a ValueError.
        """
        with pytest.raises(ValueError, match=r"schema 'verikit.report/1'"):
            Report.from_dict({"schema": "verikit.report/2"})

    def test_junit(self, mixed):
        """
        FAIL is a failure, UNKNOWN an error, what was not run is skipped; leaf and host name the case.
        """
        claim = Says("/a").on(on("h", "fail", "no\x00\x1b\ud800")).then(Says("/b").on(on("h2", "pass", "yes")))
        root = ElementTree.fromstring(verify(claim).to_junit())
        suite = root.find("testsuite")

        assert (suite.get("tests"), suite.get("failures"), suite.get("errors"), suite.get("skipped")) == (
            "2",
            "1",
            "0",
            "1",
        )
        assert suite.find("testcase/failure").get("message") == r"no\x00\x1b\ud800"
        assert suite.find("testcase").get("classname") == "Says.h"
        mixed_suite = ElementTree.fromstring(mixed.to_junit()).find("testsuite")
        assert (mixed_suite.get("failures"), mixed_suite.get("errors")) == ("1", "1")
        assert mixed_suite.find("testcase/error").get("type") == "ambiguous"

    def test_junit_of_a_denied_leaf(self):
        """
        What does not hold beneath `~` is a good case; what does is a failure with its reason.
        """
        claim = ~Says("/free").on(on("h", "fail", "nobody listens")) & ~Says("/taken").on(on("h", "pass", "pid 7"))
        suite = ElementTree.fromstring(verify(claim).to_junit()).find("testsuite")
        free, taken = suite.findall("testcase")

        assert suite.get("failures") == "1"
        assert (free.get("name"), free.find("failure")) == ("not Says('/free')", None)
        assert taken.find("failure").get("message") == "pid 7"

    def test_html_quotes_what_it_shows(self):
        """
        What a file or host says can't become markup in a notebook.
        """
        html = verify(Says("<script>alert(1)</script>"), on=on("gpu<b>", "fail", "<img src=x onerror=y>"))._repr_html_()

        assert "<script>" not in html
        assert "<img" not in html
        assert "&lt;img" in html

    def test_no_secret_leaves(self):
        """
        Tokens in reasons are masked in every form of the report.
        """
        leak = "curl -H 'Authorization: Bearer sk-abcdefghijklmnop1234567890' failed, password=hunter2hunter2"
        report = verify(Says("/x"), on=on("h", "fail", leak))

        for form in (str(report), report.to_json(), report.to_junit(), report._repr_html_()):
            assert "hunter2" not in form
            assert "abcdefghijklmnop" not in form

    def test_facts_that_json_lacks(self):
        """
        Bytes are base64, NaN and whatever else is text: a report can always be written as strict JSON.
        """

        class Odd(Says):
            def judge(self, facts):
                return Finding(PASS, "odd", facts={"b": b"\xff", "n": float("nan"), "s": {1}, 3: pathlib.Path("/x")})

        facts = json.loads(verify(Odd("/x"), on=on("h", "pass", "")).to_json(), parse_constant=pytest.fail)

        assert facts["root"]["parts"][0]["facts"] == {"b": {"bytes": "/w=="}, "n": "nan", "s": [1], "3": "/x"}

    def test_unseen_facts_are_kept(self):
        """
        What is known of a host that could not be reached stands in the facts.
        """
        down = FakeHost("h", down=Unseen("unreachable", "no route", {"phase": "tcp", "seconds": 3.0}))
        assert verify(Says("/x"), on=down).deciding.finding.facts["phase"] == "tcp"


def _home(tree):
    """Where to look at it: a made-up host, unless all of it says where."""
    from verikit.check import unbound

    return FakeHost("h") if unbound(tree) else None


def _at_home(tree):
    """The tree with every host made up."""
    from verikit.check import On, fields_of

    fields = {}
    for field in fields_of(type(tree)):
        value = getattr(tree, field.name)
        if isinstance(value, Check):
            value = _at_home(value)
        elif isinstance(value, tuple) and value and isinstance(value[0], Check):
            value = tuple(map(_at_home, value))
        elif isinstance(tree, On) and field.name == "hosts":
            value = tuple(FakeHost(str(host)) for host in value)
        fields[field.name] = value
    return type(tree)(**fields)


class TestFolding:
    """Names as short as a person would write them."""

    @settings(max_examples=200, deadline=None)
    @given(trees(depth=1))
    def test_stated_leaf(self, leaf):
        """
        A leaf's title is its repr where nothing is long.
        """
        assert isinstance(leaf, Stated)
        assert leaf.title == repr(leaf)

    @pytest.mark.parametrize(
        ("names", "folded"),
        [
            (["gpu1"], "gpu1"),
            ([f"gpu{n:03}" for n in range(1, 65) if n != 63], "gpu[001-062,064]"),
            (["a1", "b1", "a2"], "a[1-2],b1"),
            (["root@n8", "root@n9", "root@n10"], "root@n[8-10]"),
            (["127.0.0.1:22", "127.0.0.1:2222"], "127.0.0.1:22,127.0.0.1:2222"),
            (["local"], "local"),
        ],
    )
    def test_fold(self, names, folded):
        """
        Runs become ranges, widths are kept, ports and numbers alone are left as they are.
        """
        assert fold(names) == folded
        if "127" not in folded:
            assert sorted(str(host) for host in hosts(folded)) == sorted(names)

    def test_unfoldable_names_are_linear(self):
        """
        Five thousand names that can't be folded are all there.
        """
        names = [f"h{n * 37 % 100_003}-{'x' * (n % 7)}q" for n in range(5000)]
        assert fold(names).count(",") >= 4000


def test_titles_call_long_values_by_a_short_name(tmp_path):
    """
    A mark in a title is called by its path, not by its entries for every host; the repr still rebuilds it.
    """
    from verikit import LogHealthy, Mark

    taken = Mark("job.log", {f"gpu{n}": {"unseen": "unreachable", "reason": "off"} for n in range(9)})
    claim = LogHealthy("job.log", since=taken)

    assert claim.title == "LogHealthy('job.log', since=<mark of job.log>)"
    assert eval(repr(claim), {"LogHealthy": LogHealthy, "Mark": Mark}) == claim
