"""How claims are run: hosts, sharing, short circuit, waiting. Hosts are made up and the clock is turned by hand."""

import asyncio
import sys
import threading
import warnings

import attrs
import pytest
from hypothesis import given, settings

import verikit
from verikit import FAIL, PASS, UNKNOWN, Cause, Check, Finding, Look, Session, Unseen, at_least, verify, verify_async
from verikit.check import On, fields_of, unbound
from verikit.errors import Undecided, VerificationFailed
from verikit.testing import FakeHost, ManualClock, Stated
from verikit.testing.laws import evaluate
from verikit.testing.strategies import trees
from verikit.values import Live
from worded import AlsoSays, Says, host, word


def shape(result):
    """The verdicts of a tree, nested as it is."""
    return (result.verdict, *map(shape, result.parts)) if result.parts else result.verdict


class TestHosts:
    """`.on` quantifies; inner bindings win; a dead host costs once."""

    def test_every_host_must_hold(self):
        """
        A claim on several hosts is as good as its worst host; each host is a part that carries its name.
        """
        report = verify(Says().on(host("a"), host("b", says="fail"), host("c", says="?")))

        assert report.verdict is FAIL
        assert [(part.host, part.verdict) for part in report.root.parts] == [("a", PASS), ("b", FAIL), ("c", UNKNOWN)]
        assert report.deciding.host == "b"
        assert report.deciding.reason == "/x says fail"

    def test_at_least_some_hosts(self):
        """
        `at_least=k` needs k hosts, and is UNKNOWN while the rest could still make it so.
        """
        hosts = [host("a"), host("b", says="fail"), host("c", says="?")]

        assert verify(Says().on(*hosts, at_least=1)).verdict is PASS
        assert verify(Says().on(*hosts, at_least=2)).verdict is UNKNOWN
        assert verify(Says().on(*hosts, at_least=3)).verdict is FAIL

    def test_not_within_on_is_not_on_within_not(self):
        """
        `(~a).on(h1, h2)` asks that it fails everywhere, `~(a.on(h1, h2))` that it fails somewhere.
        """
        hosts = [host("a"), host("b", says="fail")]

        assert verify((~Says()).on(*hosts)).verdict is FAIL
        assert verify(~(Says().on(*hosts))).verdict is PASS

    def test_inner_binding_wins_and_runs_once(self):
        """
        A bound part beneath an outer `.on` is looked at on its own host, once for all.
        """
        inner, outer = host("inner"), [host(f"h{n}") for n in range(3)]
        report = verify(AlsoSays().on(inner) & Says(), on=outer)

        assert report.passed
        assert len(inner.asked) == 1
        assert [len(h.asked) for h in outer] == [1, 1, 1]

    def test_a_dead_host_costs_one_opening(self):
        """
        Several checks on a host that is down open it once; all are UNKNOWN with that cause, the other host unharmed.
        """
        down = host("down", down=Unseen("unreachable", "down: no route to host"))
        report = verify(Says() & AlsoSays() & Says("/y"), on=[down, host("up")])

        assert report.verdict is UNKNOWN
        assert down.opened == 1
        assert [leaf.finding.cause for leaf in report.leaves(UNKNOWN)] == [Cause.UNREACHABLE] * 3
        assert len(report.leaves(PASS)) == 3

    def test_nothing_unbound_for_on(self):
        """
        `verify(on=)` for a claim that is bound throughout is wrong use.
        """
        with pytest.raises(ValueError, match=r"an inner `\.on` wins"):
            verify(Says().on(host()), on="gpu2")
        with pytest.raises(TypeError, match=r"verify takes one check, several combined as `a & b`"):
            verify("claim")


@attrs.frozen(repr=False)
class Alike(Says):
    """Passes on each host; what the hosts say must be the same."""

    def judge(self, facts):
        return Finding(PASS, f"says {facts}", facts={"said": facts})

    def across(self, findings):
        said = {host: finding.facts["said"] for host, finding in findings.items()}
        return Finding(FAIL, f"hosts differ: {said}") if len(set(said.values())) > 1 else None


class TestAcross:
    """What must be the same everywhere is compared once every host has answered."""

    def test_hosts_that_differ(self):
        """
        Each host passes by itself; together they fail, in a part of their own without a host.
        """
        report = verify(Says("/y") & Alike(), on=[host("a", says="pass"), host("b", says="pass")])
        assert report.passed
        differs = [FakeHost("a", {word: lambda path: "pass"}), FakeHost("b", {word: lambda path: path[1:]})]
        report = verify((Says("/pass") & Alike("/other")).named("both"), on=differs)

        assert report.failed
        assert report.deciding.reason == "hosts differ: {'a': 'pass', 'b': 'other'}"
        assert report.deciding.host is None
        assert [part.verdict for part in report.root.parts] == [PASS, PASS, FAIL]
        assert "Alike('/other'), hosts together" in str(report)

    @pytest.mark.parametrize(
        "turn", [lambda a: ~a, lambda a: a | Says("/pass"), lambda a: at_least(1, a, Says("/pass"))]
    )
    def test_only_where_every_host_is_needed(self, turn):
        """
        Beneath `~`, `|` and `at_least`, and for `at_least` hosts, a host that differs may be meant.
        """
        differs = [FakeHost(name, {word: name}) for name in ("pass", "?")]
        assert len(verify(turn(Alike()), on=differs).root.parts) == 2
        assert verify(Alike().on(*differs, at_least=1)).passed

    @pytest.mark.parametrize(
        ("claim", "together"),
        [
            (lambda a, hosts: a.on(*hosts), 3),
            (lambda a, hosts: (a & Says("/pass")).named("both").on(*hosts), 3),
            (lambda a, hosts: Says("/pass").then(a).timeout(9).on(*hosts), 3),
            (lambda a, hosts: a.eventually(within=9).on(*hosts), 3),
            (lambda a, hosts: a.on(*hosts) | Says("/pass").on(hosts[0]), 3),
            (lambda a, hosts: (~a).on(*hosts), 0),
            (lambda a, hosts: (a | Says("/pass")).on(*hosts), 0),
            (lambda a, hosts: at_least(1, a, Says("/pass")).on(*hosts), 0),
            (lambda a, hosts: a.on(*hosts, at_least=2), 0),
            (lambda a, hosts: (~a).on(hosts[0]), 1),
            (lambda a, hosts: a.on(hosts[0]), 1),
        ],
    )
    def test_a_leaf_knows(self, claim, together):
        """
        A leaf is told how many hosts' findings are held together: all, none where each speaks for itself, or it is alone.
        """
        told = []

        class Tells(Alike):
            async def examine(self, host):
                told.append(host.together)
                return await super().examine(host)

        verify(claim(Tells("/pass"), [host(name, says="pass") for name in "abc"]), clock=ManualClock())

        assert set(told) == {together}

    def test_waiting_ends_with_the_last_looks(self):
        """
        Hosts that wait by themselves are compared by their last looks; a claim on all of them waits for a round that agrees.
        """
        late = [FakeHost("a", {word: ["pass", "pass"]}), FakeHost("b", {word: ["?", "pass"]})]
        assert verify(Alike().on(*late).eventually(within=9), clock=ManualClock()).passed
        late = [FakeHost("a", {word: "pass"}), FakeHost("b", {word: "?"})]
        assert verify(Alike().eventually(within=9), on=late, clock=ManualClock()).failed

    def test_nothing_is_settled_before(self):
        """
        With short_circuit, hosts that pass by themselves do not settle what they may still fail together.
        """
        differs = [FakeHost(name, {word: name}) for name in ("pass", "?")]
        slow = host("slow", latency=100)
        report = verify(Alike().on(*differs) | Says().on(slow), short_circuit=True, clock=ManualClock())

        assert report.passed
        assert not slow.cancelled

    def test_a_stream_says_it_last(self):
        """
        A stream gives each host's result, and then what they say together.
        """
        differs = [FakeHost(name, {word: name}) for name in ("pass", "?")]
        with Session() as session:
            results = list(session.stream(Alike(), on=differs))

        assert [(result.host, result.verdict) for result in results[:2]] != []
        assert (results[2].host, results[2].verdict) == (None, FAIL)

    def test_a_bug_in_comparing_is_a_finding(self):
        """
        An exception in `across` is UNKNOWN, cause probe_error.
        """

        class Broken(Alike):
            def across(self, findings):
                return {}["x"]

        report = verify(Broken(), on=[host("a"), host("b")])
        assert (report.verdict, report.deciding.cause) == (UNKNOWN, Cause.PROBE_ERROR)


class TestAskedOnce:
    """An answer serves every equal leaf that was due when the question was asked, never one that became due later."""

    def test_equal_leaves_share_one_look(self):
        """
        However deep they sit, equal looks on one host are asked once.
        """
        there = host()
        report = verify((Says() & AlsoSays()) | (Says() & (Says() | ~Says().named("x"))), on=there)

        assert report.passed
        assert sorted(look.function.__name__ for look in there.asked) == ["other", "word"]

    def test_what_becomes_due_later_is_asked_anew(self):
        """
        `.then` and `.after` make their leaf due later, so it gets an answer of its own.
        """
        there = host(says=["pass", "fail"])
        report = verify(Says().then(Says()), on=there, clock=ManualClock())

        assert shape(report.root.parts[0]) == (FAIL, PASS, FAIL)
        assert len(there.asked) == 2
        later = host(says=["pass", "fail"])
        assert verify(Says() & Says().after(3), on=later, clock=ManualClock()).failed
        assert len(later.asked) == 2

    def test_rounds_that_fall_together_share(self):
        """
        Two waiting nodes with the same rhythm ask once a round.
        """
        there = host(says=["fail", "fail", "pass"])
        claim = Says().eventually(within=9, every=2) & Says().named("b").eventually(within=9, every=2)
        report = verify(claim, on=there, clock=ManualClock())

        assert report.passed
        assert len(there.asked) == 3

    def test_each_round_asks_anew(self):
        """
        A waiting node beside a plain leaf: the first round is shared, later ones are not served by old answers.
        """
        there = host(says=["fail", "pass"])
        report = verify(Says() | Says().eventually(within=9), on=there, clock=ManualClock())

        assert shape(report.root.parts[0]) == (PASS, FAIL, (PASS, PASS))
        assert len(there.asked) == 2


class TestThen:
    """`a.then(b)` folds as `&`, but b runs only where a passed."""

    def test_second_runs_only_after_a_pass(self):
        """
        After FAIL or UNKNOWN the second is UNKNOWN, cause not_run, and is not asked.
        """
        for said, verdict in (("fail", FAIL), ("?", UNKNOWN)):
            there = host(says=said)
            report = verify(Says().then(AlsoSays()), on=there)
            second = report.leaves()[1]

            assert report.verdict is verdict
            assert (second.verdict, second.finding.cause) == (UNKNOWN, Cause.NOT_RUN)
            assert f"is {verdict}" in second.reason
            assert len(there.asked) == 1

    def test_per_host(self):
        """
        Each host decides for itself whether its second part runs.
        """
        good, bad = host("good"), host("bad", says="fail")
        verify(Says().then(AlsoSays()), on=[good, bad])

        assert (len(good.asked), len(bad.asked)) == (2, 1)


class TestShortCircuit:
    """`short_circuit` stops as soon as the root verdict is settled."""

    def test_a_fail_ends_the_rest(self):
        """
        A slow part is cancelled, on its host too, once it can't matter; it is UNKNOWN, cause cancelled.
        """
        slow = host("slow", latency=1000)
        report = verify(
            Says().on(host("fast", says="fail")) & AlsoSays().on(slow), short_circuit=True, clock=ManualClock()
        )

        assert report.verdict is FAIL
        assert report.leaves()[1].finding.cause is Cause.CANCELLED
        assert len(slow.cancelled) == 1
        assert report.root.duration < 1

    def test_deep_in_the_tree(self):
        """
        What settles the root through `~`, `|` and titles cancels across the tree.
        """
        slow, fast = host("slow", latency=1000), host("fast")
        claim = ~((Says().on(fast).named("x") | AlsoSays().on(slow)) & (Says().on(fast) | AlsoSays("/z").on(slow)))
        report = verify(claim, short_circuit=True, clock=ManualClock())

        assert report.verdict is FAIL
        assert len(slow.cancelled) == 2

    def test_unknown_can_settle(self):
        """
        Two UNKNOWNs settle `at_least(1)` of nothing else; one that may still pass keeps the rest running.
        """
        slow = host("slow", latency=5)
        report = verify(
            at_least(1, Says().on(host("q", says="?")), AlsoSays().on(slow)), short_circuit=True, clock=ManualClock()
        )

        assert report.passed
        assert not slow.cancelled

    def test_without_it_everything_is_shown(self):
        """
        Without short_circuit every part runs, since a person fixing things wants every fault at once.
        """
        slow = host("slow", latency=5, also="fail")
        report = verify(Says().on(host("fast", says="fail")) & AlsoSays().on(slow), clock=ManualClock())

        assert [leaf.verdict for leaf in report.leaves()] == [FAIL, FAIL]


class TestWaiting:
    """Waiting asks a clock; these tests turn it by hand."""

    def test_eventually_passes_when_it_comes_true(self):
        """
        Looks every so often and ends at the first PASS, keeping what was seen before.
        """
        clock, there = ManualClock(), host(says=["fail", "fail", "fail", "pass"])
        report = verify(Says().eventually(within=15, every=0.5), on=there, clock=clock)

        assert report.passed
        assert report.root.duration == 1.5
        waiting = report.root.parts[0]
        assert [(look.verdict, look.reason) for look in waiting.earlier] == [(FAIL, "/x says fail")]
        assert "4 looks in 1.5 s of 15 s" in waiting.note

    def test_not_yet_is_a_fail(self):
        """
        At the end of the window the last completed look stands.
        """
        report = verify(Says().eventually(within=15, every=0.5), on=host(says="fail"), clock=ManualClock())

        assert report.failed
        assert report.root.duration == 15
        assert report.deciding.reason == "/x says fail"

    def test_a_final_fail_ends_the_wait(self):
        """
        Once the claim can't come true any more, waiting ends: the verdict comes when the job dies.
        """
        there = host(says=["fail", "fail", "gone", "pass"])
        report = verify(Says().eventually(within=600, every=1), on=there, clock=ManualClock())

        assert report.failed
        assert report.root.duration == 2
        assert report.root.can_become == (FAIL, FAIL)

    def test_an_alternative_keeps_the_wait_alive(self):
        """
        A final FAIL beside an alternative that may still pass does not end the wait.
        """
        there = host(says="gone", also=["fail", "fail", "pass"])
        report = verify((Says() | AlsoSays()).eventually(within=60), on=there, clock=ManualClock())

        assert report.passed
        assert report.root.duration == 2

    def test_final_causes_end_the_wait(self):
        """
        A refused host key is not tried again; an unreachable host is.
        """
        refused = host(down=Unseen("host_key", "changed"))
        report = verify(Says().eventually(within=60), on=refused, clock=ManualClock())
        assert (report.deciding.cause, refused.opened, report.root.duration) == (Cause.HOST_KEY, 1, 0)
        away = host(down=Unseen("unreachable", "no route"))
        report = verify(Says().eventually(within=5), on=away, clock=ManualClock())
        assert (report.deciding.cause, away.opened, report.root.duration) == (Cause.UNREACHABLE, 5, 5)

    def test_no_look_in_the_second_half_is_a_timeout(self):
        """
        A look that never ends within the window is given up on, and the claim is UNKNOWN, not "not yet".
        """
        there = FakeHost("gpu1", {word: ["fail", _never]})
        report = verify(Says().eventually(within=10, every=1), on=there, clock=ManualClock())

        assert report.verdict is UNKNOWN
        assert report.deciding.cause is Cause.TIMEOUT
        assert "second half" in report.deciding.reason
        assert report.root.duration == 10
        assert len(there.cancelled) == 1

    def test_a_rhythm_longer_than_the_window_still_looks_again(self):
        """
        With `every` longer than `within` there is a look in the second half.
        """
        there = host(says=["fail", "pass"])
        report = verify(Says().eventually(within=10, every=60), on=there, clock=ManualClock())

        assert report.passed
        assert 5 <= report.root.duration <= 10

    def test_each_host_waits_by_itself(self):
        """
        Under `verify(on=)` hosts may pass in different rounds; `a.on(…).eventually()` wants one round in which all hold.
        """

        def hosts():
            return [host("a", says=["pass", "fail"]), host("b", says=["fail", "pass"])]

        assert verify(Says().eventually(within=5), on=hosts(), clock=ManualClock()).passed
        assert verify(Says().on(*hosts()).eventually(within=5), clock=ManualClock()).failed

    def test_consistently_looks_at_both_ends(self):
        """
        A window of 60 s looked at every 25 s has looks at 0, 25, 50 and 60, and states its longest gap.
        """
        there = host()
        report = verify(Says().consistently(during=60, every=25), on=there, clock=ManualClock())

        assert report.passed
        assert len(there.asked) == 4
        assert "4 looks over 60 s of 60 s, longest gap 25 s" in report.root.parts[0].note

    def test_consistently_ends_at_the_first_fail(self):
        """
        One FAIL is enough, and is the reason.
        """
        there = host(says=["pass", "?", "fail", "pass"])
        report = verify(Says().consistently(during=60, every=1), on=there, clock=ManualClock())

        assert report.failed
        assert report.root.duration == 2
        assert report.deciding.reason == "/x says fail"

    def test_consistently_doubts_what_it_did_not_see(self):
        """
        One UNKNOWN look makes the window UNKNOWN, after the rest was looked at for a FAIL.
        """
        there = host(says=["pass", "?", "pass"])
        report = verify(Says().consistently(during=10, every=1), on=there, clock=ManualClock())

        assert report.unknown
        assert report.root.duration == 10

    def test_timeouts_nest(self):
        """
        `a.timeout(2).eventually(within=15)` bounds each look; `a.eventually(within=15).timeout(5)` all of them.
        """
        there = FakeHost("gpu1", {word: [_never, _never, "pass"]})
        report = verify(Says().timeout(2).eventually(within=15, every=1), on=there, clock=ManualClock())
        assert report.passed
        assert report.root.duration == 4
        there = host(says="fail")
        report = verify(Says().eventually(within=15).timeout(5), on=there, clock=ManualClock())
        assert report.deciding.cause is Cause.TIMEOUT
        assert "within 5 s" in report.deciding.reason
        assert report.root.duration == 5

    def test_a_timed_out_look_is_ended_on_its_host(self):
        """
        A deadline ends the remote work, too; a shared look goes on while somebody still waits for it.
        """
        there = FakeHost("gpu1", {word: _never})
        assert verify(Says().timeout(3), on=there, clock=ManualClock()).unknown
        assert len(there.cancelled) == 1
        shared = host(latency=5)
        report = verify(Says().timeout(3) & Says(), on=shared, clock=ManualClock())
        assert shape(report.root.parts[0]) == (UNKNOWN, UNKNOWN, PASS)
        assert not shared.cancelled


async def _never(path):
    await asyncio.Event().wait()


class TestFaults:
    """What goes wrong on the way is a finding."""

    def test_a_bug_in_a_check_is_a_finding(self):
        """
        An exception in judge is UNKNOWN, cause probe_error, with the traceback; `~` does not turn it into a PASS.
        """
        report = verify(~Says(), on=host(says="what?"))

        assert report.unknown
        assert report.deciding.cause is Cause.PROBE_ERROR
        assert "KeyError" in report.deciding.reason
        assert "in judge" in report.deciding.finding.facts["traceback"]

    @pytest.mark.parametrize("absent", [UNKNOWN, FAIL])
    def test_missing_means_what_the_claim_says(self, absent):
        """
        A missing path is FAIL for a claim that includes existence, and UNKNOWN for one about content, also under `~`.
        """

        class About(Says):
            pass

        About.absent = absent
        gone = host(says=FileNotFoundError(2, "No such file", "/x"))
        report = verify(About(), on=gone)

        assert report.verdict is absent
        assert "there is no /x" in report.deciding.reason
        assert verify(~About(), on=gone).verdict is ~absent

    def test_a_judge_that_forgets_to_answer(self):
        """
        A judge that returns no Finding is probe_error.
        """

        class Forgets(Says):
            def judge(self, facts):
                return facts == "pass"

        report = verify(Forgets(), on=host())
        assert (report.verdict, report.deciding.cause) == (UNKNOWN, Cause.PROBE_ERROR)

    def test_secrets_and_control_characters_stay_out(self):
        """
        Reasons and facts are masked and escaped before anybody keeps them.
        """

        class Leaks(Says):
            def judge(self, facts):
                line = "export HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz \x1b[31mred\x00"
                return Finding(FAIL, line, facts={"line": line})

        leaf = verify(Leaks(), on=host()).deciding
        for text in (leaf.reason, leaf.finding.facts["line"]):
            assert "hf_abc" not in text
            assert "\x1b" not in text
            assert r"\x1b[31mred\x00" in text


class TestReports:
    """What a report does in Python code."""

    def test_truth(self):
        """
        A report is true for PASS, false for FAIL, and raises Undecided for UNKNOWN.
        """
        assert verify(Says(), on=host())
        assert not verify(Says(), on=host(says="fail"))
        with pytest.raises(Undecided, match=r"says \?"):
            bool(verify(Says(), on=host(says="?")))

    def test_raising(self):
        """
        raise_for_verdict raises by verdict, with the deciding part as message and the report attached.
        """
        verify(Says(), on=host()).raise_for_verdict()
        with pytest.raises(VerificationFailed, match="gpu1") as failed:
            verify(Says(), on=host(says="fail")).raise_for_verdict()
        assert failed.value.report.failed
        with pytest.raises(Undecided, match="ambiguous"):
            verify(Says(), on=host(says="?")).raise_for_verdict()


class TestPlaces:
    """The sync and async forms, in every place people call them from."""

    def test_inside_a_running_loop(self):
        """
        `verify` works inside a coroutine (a notebook cell), and leaves no thread.
        """

        async def cell():
            return verify(Says(), on=host(latency=0.001))

        before = threading.active_count()
        assert asyncio.run(cell()).passed
        assert threading.active_count() == before

    def test_native(self):
        """
        `verify_async` runs in the loop that awaits it.
        """
        assert asyncio.run(verify_async(Says(), on=host())).passed

    def test_several_threads(self):
        """
        Threads verify at the same time, alone and over one session.
        """
        reports = []
        with Session() as session:
            there = host()
            calls = [lambda: reports.append(verify(Says(), on=host()))] * 4
            calls += [lambda: reports.append(session.verify(Says(), on=there))] * 4
            threads = [threading.Thread(target=call) for call in calls]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        assert len(reports) == 8
        assert all(reports)
        assert there.opened == 1

    def test_live_subjects_are_examined_in_the_calling_thread(self):
        """
        Also when the rest of the claim runs in another thread's loop.
        """
        seen = []

        def whose(place, subject):
            seen.append(threading.current_thread())
            return True

        @attrs.frozen(repr=False)
        class Mine(Check):
            subject: object = attrs.field(converter=Live)

            def look(self):
                return Look(whose, subject=self.subject)

            def judge(self, facts):
                return Finding(PASS, "seen")

        async def cell(session):
            verify(Mine([1]) & Says().on(host()))
            await session.verify_async(Mine([2]) & Says().on(host()))

        verify(Mine([0]))
        verify(Mine([0]).eventually(within=1) & Says().on(host()))
        with Session() as session:
            session.verify(Mine([3]) & Says().on(host()))
            asyncio.run(cell(session))

        assert len(seen) == 5
        assert set(seen) == {threading.current_thread()}


class TestSession:
    """Hosts stay open between verifications."""

    def test_hosts_stay_open(self):
        """
        Two verifications over one session open a host once.
        """
        there = host()
        with Session() as session:
            assert session.verify(Says(), on=there)
            assert session.verify(AlsoSays(), on=there)

        assert there.opened == 1

    def test_async_form(self):
        """
        `async with`, `verify_async` and `async for` from any loop.
        """

        async def main():
            async with Session() as session:
                first = await session.verify_async(Says(), on=host())
                return first, [result.host async for result in session.stream(Says(), on=[host("a"), host("b")])]

        first, streamed = asyncio.run(main())
        assert first.passed
        assert sorted(streamed) == ["a", "b"]

    def test_stream_gives_hosts_as_they_finish(self):
        """
        A fast host's result comes before a slow one's, each with its host's name.
        """
        with Session(clock=ManualClock()) as session:
            slow, fast = host("slow", latency=9), host("fast", says="fail")
            results = list(session.stream(Says() & AlsoSays(), on=[slow, fast]))

        assert [(result.host, result.verdict) for result in results] == [("fast", FAIL), ("slow", PASS)]

    def test_leaving_a_stream_ends_the_rest(self):
        """
        Breaking out of the loop cancels what still runs; the session goes on.
        """
        slow = FakeHost("slow", {word: _never})
        with Session() as session:
            for result in session.stream(Says(), on=[slow, host("fast")]):
                assert result.host == "fast"
                break
            assert len(slow.cancelled) == 1
            assert session.verify(Says(), on=host())

    def test_closed(self):
        """
        A closed session says so.
        """
        session = Session()
        with session:
            pass
        with pytest.raises(RuntimeError, match="closed"):
            session.verify(Says(), on=host())


def test_mark_notes_each_host(tmp_path):
    """
    `mark` gives inode, size and clock for each host; a host that is down is kept with its cause.
    """
    log = tmp_path / "a.log"
    log.write_text("before\n")
    taken = verikit.mark(log, on=[FakeHost("a"), FakeHost("b", down=Unseen("unreachable", "off"))])

    assert taken.for_host("a")["size"] == 7
    assert taken.for_host("a")["inode"] == log.stat().st_ino
    assert taken.for_host("a")["now"] > 0
    assert taken.for_host("b") == {"unseen": "unreachable", "reason": "off"}
    assert taken.for_host("c") is None


def test_ranks_are_warned_once(monkeypatch):
    """
    In a job of many ranks, verify says once that each would open its own connections.
    """
    monkeypatch.setattr(sys.modules["verikit.verify"], "_ranks_warned", False)
    monkeypatch.setenv("WORLD_SIZE", "8")
    monkeypatch.setenv("RANK", "3")

    with pytest.warns(RuntimeWarning, match="each of 8 ranks"):
        verify(Says(), on=host())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        verify(Says(), on=host())


def _made_up(check, hosts):
    """The same tree, its hosts replaced by made-up ones."""
    fields = {}
    for field in fields_of(type(check)):
        value = getattr(check, field.name)
        if isinstance(value, Check):
            value = _made_up(value, hosts)
        elif isinstance(value, tuple) and value and isinstance(value[0], Check):
            value = tuple(_made_up(part, hosts) for part in value)
        elif isinstance(check, On) and field.name == "hosts":
            value = tuple(hosts.setdefault(str(each), FakeHost(str(each))) for each in value)
        fields[field.name] = value
    return type(check)(**fields)


@settings(max_examples=60, deadline=None)
@given(trees(depth=5))
def test_concurrent_and_sequential_walks_agree(tree):
    """
    The walk without a loop comes to the same verdict as the one with tasks.
    """
    on = FakeHost("here") if unbound(tree) else None
    report = verify(_made_up(tree, {}), on=on)

    assert (report.root.verdict, report.root.can_become) == evaluate(tree)


def test_stated_keeps_its_word():
    """
    The leaf that tests are built on comes to the verdict it names.
    """
    for verdict in (PASS, FAIL, UNKNOWN):
        assert verify(Stated("a", verdict=verdict), on=FakeHost("h")).verdict is verdict
