"""Faults that reviews found in the core, each as its whole kind: claims, their running, and what comes out of them."""

import asyncio
import builtins
import functools
import sys
import threading
from xml.etree import ElementTree

import attrs
import pytest

import verikit
from verikit import FAIL, PASS, UNKNOWN, Cause, Check, Exec, Finding, Look, Report, Session, at_least, hosts, verify
from verikit.check import DEPTH, AllOf, AnyOf, AtLeast, Eventually, Named, Not, On, Then, Timeout
from verikit.hosts import OPENERS
from verikit.testing import FakeHost, ManualClock, Stated
from verikit.text import LIMIT, bounded, clean
from verikit.values import Live, number
from worded import AlsoSays, Says, host, other, word

SECRET = "hf_abcdefghijklmnopqrstuvwxyz"


def within(seconds, call):
    """What a call returns or raises in a thread of its own; fails if it hangs."""
    said = []

    def run():
        try:
            said.append(call())
        except BaseException as error:
            said.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert said, "hangs"
    return said[0]


class TestFunctionChecks:
    """What a function of `@verikit.check` returns decides only in the documented form."""

    @pytest.mark.parametrize(
        "answer",
        [
            *(
                "ok",
                {"ok": False, "reason": "no"},
                ["no", "text"],
                [1, "one"],
                [True],
                [True, 3],
                [True, "r", 4],
                [],
                True,
            ),
            *([True, "r", {}, "more"], [{}, "r"], [float("nan"), "r"]),
        ],
        ids=repr,
    )
    def test_anything_else_is_no_pass(self, answer):
        """
        A word, a dict, a truthy thing in place of True: UNKNOWN, cause probe_error, never PASS or FAIL.
        """
        report = verify(said(), on=FakeHost("h", {FUNCTION: lambda: answer}))

        assert (report.verdict, report.deciding.cause) == (UNKNOWN, Cause.PROBE_ERROR)
        assert "(holds, reason)" in report.deciding.reason

    @pytest.mark.parametrize(("holds", "verdict"), [(True, PASS), (False, FAIL), (None, UNKNOWN)])
    def test_the_documented_form(self, holds, verdict):
        """
        True, False and None, with a reason and perhaps facts.
        """
        for answer in ([holds, "why"], [holds, "why", {"n": 1}]):
            there = FakeHost("h", {FUNCTION: lambda answer=answer: answer})
            assert verify(said(), on=there).verdict is verdict

    def test_no_decorator_is_lost_on_the_way(self):
        """
        A function that a decorator replaced is refused: its own source would travel without it, and could pass.
        """

        def contrary(function):
            @functools.wraps(function)
            def turned(*args, **options):
                return False, "turned round"

            return turned

        with pytest.raises(TypeError, match="a decorator has replaced"):
            verikit.check(contrary(_said))


def _said(place):
    return True, "said"


FUNCTION = _said
said = verikit.check(_said)


class TestWrongUse:
    """Wrong use raises where the check is built, however it is built."""

    @pytest.mark.parametrize(
        "build",
        [
            lambda a: Not(3),
            lambda a: Then(a, "b"),
            lambda a: Named(a, 3),
            lambda a: Named(a, " "),
            lambda a: Timeout(a, None),
            lambda a: Eventually(a, -1, 1),
            lambda a: Eventually(a, 1, 0),
            lambda a: On(a, ("gpu1",)),
            lambda a: On(a, ()),
            lambda a: AtLeast("1", (a,)),
            lambda a: AllOf((a, 3)),
            lambda a: a.timeout(10**400),
        ],
    )
    def test_nodes_refuse_what_the_methods_refuse(self, build):
        """
        A node built by its class is held to the same rules as one built by a method.
        """
        with pytest.raises((ValueError, TypeError)):
            build(Stated("a"))

    @pytest.mark.parametrize(
        ("kind", "fields"),
        [
            ("Not", {"part": 3}),
            ("Not", {}),
            ("Eventually", {"within": 1, "every": 0}),
            ("After", {"seconds": "x"}),
            ("Timeout", {"seconds": float("inf")}),
            ("On", {"hosts": ["gpu1"]}),
            ("On", {"hosts": [{"host": ["x"]}]}),
            ("On", {"hosts": {"$map": 3}}),
            ("Named", {"name": {"$verdict": "MAYBE"}}),
            ("Named", {"name": {"$datetime": 5}}),
            ("Named", {"name": {"$mark": {"path": 3}}}),
            ("Named", {"name": {"$set": [{"$map": []}, []]}}),
            ("AllOf", {"parts": 3}),
        ],
    )
    def test_stored_data_is_held_to_them_too(self, kind, fields):
        """
        Data that names no sound claim is a ValueError or a TypeError, and never a claim that fails later.
        """
        part = {"check": "Stated", "fields": {"name": "a"}}
        stored = {name: value for name, value in Stated("a").to_dict().items() if name != "schema"}
        fields = {**({"part": stored} if kind not in ("AllOf",) and fields else {}), **fields}
        with pytest.raises((ValueError, TypeError)):
            Check.from_dict({"schema": "verikit.check/1", "check": kind, "fields": fields})
        assert part["check"] in repr(stored)

    @pytest.mark.parametrize("subject", [[], 3, {"$map": [["w", 1]]}, None, {"$verdict": "PASS"}])
    def test_stored_data_brings_no_subject_of_its_own(self, subject):
        """
        A stored claim is about files, never about an object that the data itself would bring.
        """
        data = verikit.TensorShapeSane("/x", {"w": "3"}).to_dict()
        data["fields"]["subject"] = subject
        with pytest.raises((ValueError, TypeError)):
            Check.from_dict(data)

    @pytest.mark.parametrize("where", [("a[1-100000]", "b[1-100000]"), [f"h{n}" for n in range(100_001)]])
    def test_no_host_is_dropped(self, where):
        """
        More hosts than the bound are refused, not cut off.
        """
        with pytest.raises(ValueError, match="at most 100,000 hosts"):
            hosts(*where)

    def test_deep_trees_are_refused(self):
        """
        A tree deeper than the bound is a ValueError when it is built, that says what to write instead; one at the bound
        prints, hashes, stores and runs.
        """
        check = Stated("a", verdict=PASS)
        for _ in range(DEPTH - 1):
            check = check.named("n")

        assert Check.from_dict(check.to_dict()) == check
        assert hash(check) == hash(eval(repr(check), {"Stated": Stated, "PASS": PASS}))
        report = verify(check, on=FakeHost("h"))
        assert report.passed
        assert "Stated" in str(report).split("\n\n", 1)[1]
        assert Report.from_dict(report.to_dict()) == report
        with pytest.raises(ValueError, match=f"at most {DEPTH} levels deep"):
            ~(~check)
        with pytest.raises(ValueError, match="levels deep"):
            functools.reduce(Check.then, [Stated(str(n)) for n in range(600)])

    def test_many_parts_are_no_depth(self):
        """
        Six hundred claims joined one by one are one flat claim.
        """
        check = Stated("0", verdict=PASS)
        for n in range(1, 600):
            check = check & Stated(str(n), verdict=PASS)

        assert len(check.parts) == 600
        assert verify(check, on=FakeHost("h")).counts[PASS] == 600

    def test_numbers_beyond_floats(self):
        """
        A whole number that no float holds is a ValueError that names the argument.
        """
        with pytest.raises(ValueError, match="seconds is a number of seconds"):
            number("seconds", 10**400)


@attrs.frozen(repr=False)
class Odd(Check):
    """Fields of every kind that attrs offers."""

    first: int
    _private: int = attrs.field(default=1, kw_only=True)
    spec: dict = attrs.field(factory=dict, kw_only=True)
    second: int = attrs.field(kw_only=True)
    derived: int = attrs.field(init=False, default=7)

    @second.default
    def _twice(self):
        return self.first * 2

    def look(self):
        return Look(word, path=str(self.spec))

    def judge(self, facts):
        return Finding(PASS, "odd")


class TestFields:
    """Checks that people write, with whatever fields attrs offers."""

    @pytest.mark.parametrize(
        ("check", "text"),
        [
            (Odd(1), "Odd(1)"),
            (Odd(1, second=3, private=4), "Odd(1, private=4, second=3)"),
            (Odd(1, spec={"a": [1]}), "Odd(1, spec={'a': (1,)})"),
        ],
    )
    def test_defaults_aliases_and_mappings(self, check, text):
        """
        Defaults that look at the other fields, private names, derived fields and plain dicts print, hash and store.
        """
        assert repr(check) == text
        assert eval(text, {"Odd": Odd}) == check
        assert hash(eval(text, {"Odd": Odd})) == hash(check)
        assert Check.from_dict(check.to_dict()) == check

    def test_mappings_are_frozen_without_a_converter(self):
        """
        A mapping changed after the check was built does not change the check, whoever wrote its class.
        """
        spec = {"a": [1]}
        check = Odd(1, spec=spec)
        spec["a"].append(2)

        assert check == Odd(1, spec={"a": [1]})

    def test_a_function_inside_another_takes_no_registered_name(self):
        """
        A check function defined inside a function does not stand in for a check of the same name at module level.
        """

        @verikit.check
        def _said(place):
            return False, "another"

        assert Check.from_dict(said().to_dict()) == said()

    @pytest.mark.parametrize("broken", ["title", "__repr__", "__hash__"])
    def test_a_broken_value_is_no_exception(self, broken):
        """
        A check that can't be printed or hashed is still a finding, never an exception out of verify.
        """

        def fails(self):
            raise RuntimeError("broken")

        class Broken(Says):
            pass

        setattr(Broken, broken, property(fails) if broken == "title" else fails)
        claim = (Broken() & AlsoSays().on(host("in"))) & Broken().on(host("in")) & Broken().timeout(5)

        assert verify(claim, on=[host("a"), host("b")]).verdict in (PASS, UNKNOWN)

    def test_a_class_without_attrs(self):
        """
        A check that is no attrs class is a TypeError that says what to write.
        """

        class Bare(Check):
            def look(self):
                return Look(word, path="/x")

        with pytest.raises(TypeError, match=r"write @attrs.frozen.* above .*Bare"):
            verify(Bare(), on=host())


class TestJudges:
    """A check that goes wrong is a finding, whatever it raises or returns."""

    @pytest.mark.parametrize(
        "error",
        [
            SystemExit(3),
            pytest.fail.Exception("no"),
            RecursionError("deep"),
            asyncio.CancelledError(),
            BaseException("b"),
        ],
        ids=lambda error: type(error).__name__,
    )
    @pytest.mark.parametrize("how", ["verify", "loop", "session", "live", "stream"])
    def test_whatever_is_raised(self, error, how):
        """
        SystemExit, a test framework's outcome, a cancellation of its own: UNKNOWN, and nothing hangs.
        """
        if isinstance(error, asyncio.CancelledError) and sys.version_info < (3, 11) and how != "live":
            pytest.skip("before 3.11 a task does not tell whether it is being cancelled")

        class Raises(Says):
            def judge(self, facts):
                raise error

        async def cell():
            return verify(Raises(), on=host()).verdict

        def session():
            with Session() as session:
                return session.verify(Raises() & AlsoSays(), on=host()).verdict

        def stream():
            with Session() as session:
                return next(result.verdict for result in session.stream(Raises(), on=host()))

        calls = {
            "verify": lambda: verify(~Raises(), on=host()).verdict,
            "loop": lambda: asyncio.run(cell()),
            "session": session,
            "live": lambda: verify(Mine(error)).verdict,
            "stream": stream,
        }
        assert within(10, calls[how]) is UNKNOWN

    def test_an_order_to_stop_is_no_finding(self):
        """
        KeyboardInterrupt out of a check ends the run, and reaches the caller, also of a session, which goes on.
        """

        class Interrupts(Says):
            def judge(self, facts):
                raise KeyboardInterrupt

        with Session() as session:
            assert isinstance(within(10, lambda: session.verify(Interrupts(), on=host())), KeyboardInterrupt)
            assert within(10, lambda: session.verify(Says(), on=host()).verdict) is PASS

    @pytest.mark.parametrize("facts", [None, [1], "text", 3])
    def test_facts_are_a_mapping(self, facts):
        """
        A finding whose facts are no mapping is refused, so its check is UNKNOWN, never PASS.
        """

        class Wrong(Says):
            def judge(self, _):
                return Finding(PASS, "fine", facts=facts)

        report = verify(Wrong(), on=host())
        assert (report.verdict, report.deciding.cause) == (UNKNOWN, Cause.PROBE_ERROR)

    def test_what_a_judge_gives_can_be_written(self):
        """
        Flags and warnings of any type, and numbers of any length, come out as JSON, JUnit, HTML and text.
        """

        class Free(Says):
            def judge(self, _):
                return Finding(FAIL, "x", facts={"n": 10**5000, "m": -(10**5000)}, final=[1], warnings=[1, None])

        report = verify(Free(), on=host())

        assert "2^16609" in report.to_json()
        assert report.deciding.finding.final is True
        for form in (report.to_junit(), report._repr_html_(), str(report)):
            assert "None" in form

    def test_scalars_of_numpy_and_torch_stay_numbers(self):
        """
        Numbers and flags of numpy and torch in facts are the numbers and flags of JSON, not words for them.
        """
        numpy, torch = pytest.importorskip("numpy"), pytest.importorskip("torch")
        facts = {"n": numpy.int64(3), "x": numpy.float32(2.5), "no": numpy.bool_(False), "t": torch.tensor(4)}
        odd = {"nan": numpy.float64("nan"), "long": numpy.longdouble(2), "array": numpy.zeros(2)}

        shown = clean({**facts, **odd})

        assert {key: shown[key] for key in facts} == {"n": 3, "x": 2.5, "no": False, "t": 4}
        assert [type(shown[key]) for key in facts] == [int, float, bool, int]
        assert (shown["nan"], shown["long"], shown["array"]) == ("nan", "2.0", "[0. 0.]")

    @pytest.mark.parametrize(("reason", "facts"), [(3, {}), ("x", [1]), (None, None)])
    def test_a_bad_unseen_is_still_unseen(self, reason, facts):
        """
        An `Unseen` without words, or with odd facts, raised by a check or by a host of its own: UNKNOWN.
        """

        class Raises(Says):
            async def examine(self, host):
                raise verikit.Unseen("timeout", reason, facts)

        assert verify(Raises(), on=host()).unknown

    def test_a_live_check_that_waits(self):
        """
        A check of an object that awaits something else than its host is UNKNOWN, alone and beside others.
        """

        class Waits(Mine):
            async def examine(self, host):
                await asyncio.get_running_loop().create_future()

        class Sleeps(Mine):
            async def examine(self, host):
                await asyncio.sleep(0)

        assert verify(Waits(None)).unknown
        assert verify(Sleeps(None)).unknown
        assert verify(Sleeps(None) & Says().on(host())).unknown


@attrs.frozen(repr=False)
class Mine(Check):
    """A claim about an object in memory, whose judge raises it."""

    subject: object = attrs.field(converter=Live)

    def look(self):
        return Look(lambda place: None)

    def judge(self, facts):
        raise self.subject.subject


class TestSharing:
    """An answer serves what was due when it was asked, and nobody else."""

    @pytest.mark.parametrize("later", [lambda part: (AlsoSays() & part).after(5), lambda part: AlsoSays().then(part)])
    def test_a_bound_part_that_becomes_due_later(self, later):
        """
        Beneath an outer `.on` a bound part that becomes due later is run anew: an old PASS does not serve it.
        """
        inner = host("inner", says=["pass", "fail"])
        report = verify(Says().on(inner) & later(Says().on(inner)), on=host("outer"), clock=ManualClock())

        assert report.failed
        assert len(inner.asked) == 2

    def test_a_bound_part_runs_once_for_all_hosts(self):
        """
        However many hosts there are, a part that is due with them runs once, waiting and all.
        """
        inner = host("inner", says=["fail", "pass"])
        some = [host(f"h{n}") for n in range(5)]
        claim = AlsoSays() & Says().on(inner).eventually(within=5)

        assert verify(claim, on=some, clock=ManualClock()).passed
        assert len(inner.asked) == 2

    def test_a_bound_part_that_was_given_up_is_begun_again(self):
        """
        A deadline that ends a shared part does not end it for those who come to it later.
        """
        inner, outer = host("inner", latency=10), host("outer", latency=4)
        claim = (Says("/u") & Says().on(inner)).timeout(3) | AlsoSays().then(Says().on(inner))

        assert verify(claim, on=outer, clock=ManualClock()).passed

    def test_a_question_that_was_given_up_is_asked_again(self):
        """
        The same for a question that was given up while its host was still being opened.
        """

        @attrs.frozen(repr=False)
        class Twice(Says):
            async def examine(self, host):
                await host.probe(other, path="/x")
                return await Says.examine(self, host)

        there = SlowlyOpened("slow", {word: "pass", other: "pass"})
        report = verify(Says().timeout(1) & Twice(), on=there, clock=ManualClock())

        assert [leaf.verdict for leaf in report.leaves()] == [UNKNOWN, PASS]

    def test_equal_is_not_the_same_question(self):
        """
        1, 1.0 and True are equal in Python and different in JSON: each is a question of its own.
        """
        there = FakeHost("h", {word: lambda path: "pass" if path is True else "fail"})
        values = [True, 1, 1.0, [1], [True], {"a": 1}, {"a": True}, 0.0, -0.0, False]
        claims = [Says(verikit.values.freeze(value)) for value in values]
        report = verify(AllOf(claims), on=there)

        assert [leaf.verdict for leaf in report.leaves()] == [PASS] + [FAIL] * (len(values) - 1)
        assert len(there.asked) == len(values)
        assert Look(word, path=[1, {"a": 2}]) == Look(word, path=(1, {"a": 2}))


class Ticking(ManualClock):
    """A clock that moves on by ten seconds while a judge thinks."""

    def think(self):
        self._now += 10


@pytest.mark.parametrize(
    "claim", [lambda check: check.timeout(3), lambda check: check.eventually(within=3)], ids=["timeout", "eventually"]
)
def test_a_judge_that_thinks_past_the_deadline(claim):
    """
    An answer that is there only after the deadline is none, also where the loop could not look at the clock meanwhile.
    """
    clock = Ticking()

    class Thinks(Says):
        def judge(self, facts):
            clock.think()
            return Finding(PASS, "thought")

    report = verify(claim(Thinks()), on=host(), clock=clock)

    assert (report.verdict, report.deciding.cause) == (UNKNOWN, Cause.TIMEOUT)


class SlowlyOpened(FakeHost):
    """A made-up host that takes five seconds to open."""


async def open_slowly(address, pool):
    """The host, after five seconds."""
    from verikit.testing.fake import open_fake

    await pool.clock.sleep(5)
    return await open_fake(address, pool)


OPENERS[SlowlyOpened] = (__name__, "open_slowly")


def test_what_is_settled_before_it_began():
    """
    However deep a part lies that `short_circuit` makes pointless, and whether it has begun or not, the verdict stands.
    """
    for depth in range(30):
        part = AlsoSays()
        for n in range(depth):
            part = at_least(1, part, AlsoSays(f"/{n}"))
        claim = Says().on(host("fast", says="fail")) & part & AlsoSays("/z")
        report = verify(claim, on=host("slow", latency=9), short_circuit=True, clock=ManualClock())

        assert report.failed
        assert {leaf.cause for leaf in report.leaves(UNKNOWN)} == {Cause.CANCELLED}


class TestMirror:
    """The tree of results mirrors the tree of checks, also where nothing was run."""

    def test_cancelled_parts_keep_their_hosts(self):
        """
        What `short_circuit` cancels stands under the host where it would have been looked at.
        """
        some = [host("a", says="fail"), host("b", latency=9), host("c", latency=9)]
        report = verify(Says() & AlsoSays(), on=some, short_circuit=True, clock=ManualClock())

        assert [leaf.host for leaf in report.leaves()] == ["a", "a", "b", "b", "c", "c"]
        assert [part.host for part in report.root.parts] == ["a", "b", "c"]
        assert {leaf.cause for leaf in report.leaves(UNKNOWN)} == {Cause.CANCELLED}

    def test_what_was_not_run_keeps_its_hosts(self):
        """
        The second part of `.then` that was not run has one part for each of its own hosts.
        """
        report = verify(Says().then(AlsoSays().on("gpu1", "gpu2")), on=host("a", says="fail"))

        assert [leaf.host for leaf in report.leaves(UNKNOWN)] == ["gpu1", "gpu2"]


class TestSessions:
    """Sessions in many threads, and closed in the middle."""

    def test_first_use_by_many_threads(self):
        """
        Threads that use a new session at the same moment share one loop, and none is left behind.
        """
        before, switch = threading.active_count(), sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        try:
            for _ in range(5):
                session, there, said, ready = Session(), host(), [], threading.Barrier(6)

                def use(session=session, there=there, said=said, ready=ready):
                    ready.wait()
                    said.append(session.verify(Says(), on=there).verdict)

                threads = [threading.Thread(target=use) for _ in range(6)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join(10)
                session.close()
                assert said == [PASS] * 6
                assert there.opened == 1
        finally:
            sys.setswitchinterval(switch)
        assert threading.active_count() == before

    @pytest.mark.parametrize("how", ["verify", "verify_async", "stream"])
    def test_closed_while_somebody_waits(self, how):
        """
        Closing a session ends what runs over it: those who wait get a RuntimeError, at once.
        """
        asked = threading.Event()

        async def never(path):
            asked.set()
            await asyncio.Event().wait()

        session, there = Session(), FakeHost("h", {word: never})
        calls = {
            "verify": lambda: session.verify(Says(), on=there),
            "verify_async": lambda: asyncio.run(session.verify_async(Says(), on=there)),
            "stream": lambda: list(session.stream(Says(), on=there)),
        }
        closing = threading.Thread(target=lambda: (asked.wait(10), session.close()), daemon=True)
        closing.start()
        said = within(10, calls[how])

        assert isinstance(said, RuntimeError)
        assert "closed" in str(said)
        closing.join(10)
        assert there.cancelled

    def test_async_with_leaves_no_thread(self):
        """
        Leaving `async with` leaves no thread in the loop of whoever used it.
        """

        async def main():
            before = threading.active_count()
            async with Session() as session:
                await session.verify_async(Says(), on=host())
            return threading.active_count() - before

        assert asyncio.run(main()) == 0

    @pytest.mark.parametrize("what", ["verify", "mark", "close"])
    def test_a_check_that_uses_its_own_session(self, what):
        """
        A judge that asks, or closes, the very session it runs over does not wait for itself.
        """
        session = Session()
        calls = {
            "verify": lambda: session.verify(Says(), on=host()),
            "mark": lambda: session.mark("/x", on=host()),
            "close": session.close,
        }

        class Uses(Says):
            def judge(self, facts):
                calls[what]()
                return Finding(PASS, "used")

        said = within(10, lambda: session.verify(Uses(), on=host()))
        session.close()

        assert (said.verdict, said.deciding.cause) == (UNKNOWN, Cause.PROBE_ERROR)
        assert "would wait for itself" in said.deciding.reason

    def test_marks_of_hosts_that_share_a_name(self):
        """
        Two hosts of one name can't be told apart in a mark: wrong use, not the entry of whichever came last.
        """
        with pytest.raises(ValueError, match="two hosts are called 'box'"):
            verikit.mark("/x", on=[Exec(["a"], name="box"), Exec(["b"], name="box")])

    def test_a_strange_world_size(self, monkeypatch):
        """
        A WORLD_SIZE that is no number is nobody's wrong use of verify.
        """
        monkeypatch.setenv("WORLD_SIZE", "auto")
        monkeypatch.setenv("RANK", "0")

        assert verify(Says(), on=host())


@pytest.mark.skipif(sys.version_info < (3, 11), reason="asyncio.run of Python 3.10 always does")
def test_the_callers_loop_stays_set():
    """
    A loop that a script has set for its thread is still set after verify.
    """

    def script():
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        try:
            verify(Says(), on=host())
            return asyncio.get_event_loop_policy().get_event_loop() is loop
        finally:
            asyncio.set_event_loop(None)
            loop.close()

    assert within(10, script) is True


class TestWords:
    """Nothing that a title, a host or a reason says can dress up as something else."""

    @pytest.mark.parametrize("bad", ["\x1b[2J", "\n✓ PASS  3 pass", "\u202e", "\u2028", "\r", SECRET, "\uffff", "\x00"])
    def test_titles_hosts_and_reasons_are_one_safe_line(self, bad):
        """
        Titles, host names, time-outs and reasons are one line, escaped and masked, in every form.
        """

        class Bad(Says):
            def judge(self, facts):
                return Finding(FAIL, f"reason {bad} end", warnings=f"warning {bad}", facts={"line": bad})

        some = [host(f"h-{bad}"), host("slow", latency=9)]
        claim = (
            Bad(f"/p {bad}").named(f"t {bad}") & Says(f"/q {bad}").timeout(1) & Says().then(AlsoSays(bad).timeout(1))
        )
        report = verify(claim, on=some, clock=ManualClock())

        for form in (str(report), report.deciding_part(), report.to_json(), report.to_junit(), report._repr_html_()):
            assert bad not in form
        ElementTree.fromstring(report.to_junit())
        assert all("\n" not in leaf.reason + leaf.title + leaf.host for leaf in report.leaves())

    def test_stored_reports_are_made_safe(self):
        """
        A stored report that was made by hand prints no control characters, and what is no report is a ValueError.
        """
        data = verify(Says().named("x"), on=host()).to_dict()
        leaf = data["root"]["parts"][0]["parts"][0]
        leaf |= {
            "reason": "\x1b[2J\nx",
            "title": "\x1b]0;",
            "host": "\x1b",
            "warnings": ["\x1b"],
            "facts": {"a": "\x1b"},
        }

        report = Report.from_dict(data)
        assert "\x1b" not in str(report) + report._repr_html_() + repr(report)

    @pytest.mark.parametrize(
        "change",
        [
            lambda data: None,
            lambda data: [],
            lambda data: {"schema": data["schema"]},
            lambda data: {**data, "root": 3},
            lambda data: {**data, "root": {**data["root"], "verdict": "MAYBE"}},
            lambda data: {**data, "root": {**data["root"], "can_become": []}},
            lambda data: {**data, "root": {**data["root"], "parts": 3}},
            lambda data: {**data, "warnings": 3},
            *(
                lambda data, x=x: {**data, "root": {**data["root"], "duration": x}}
                for x in ("x", {}, 10**400, float("nan"))
            ),
            *(lambda data, x=x: {**data, "root": {**data["root"], x: 3}} for x in ("kind", "title", "host", "note")),
            lambda data: {**data, "root": _nested(data["root"], 5000)},
        ],
    )
    def test_what_is_no_report(self, change):
        """
        Data that is no report is a ValueError that says so.
        """
        with pytest.raises(ValueError, match="stored report"):
            Report.from_dict(change(verify(Says(), on=host()).to_dict()))

    @pytest.mark.parametrize("at", range(LIMIT // 2 - 40, LIMIT // 2 + 10, 7))
    @pytest.mark.parametrize("end", [False, True])
    def test_no_secret_is_cut_in_two(self, at, end):
        """
        A secret across the place where a long string is cut does not leave a half of it behind.
        """
        filler = "x " * LIMIT
        text = f"{filler[:at]} {SECRET} {filler}"
        text = text[::-1].replace(SECRET[::-1], SECRET) if end else text

        shown = clean(text)
        assert not any(SECRET[n : n + 8] in shown for n in range(len(SECRET) - 8))
        assert len(shown) <= LIMIT

    def test_a_key_without_its_end(self):
        """
        A private key of which the end was cut off is masked to the end.
        """
        assert "MIIEvQ" not in clean("-----BEGIN RSA PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASC")

    def test_bounding_twice_changes_nothing(self):
        """
        An excerpt keeps within its limit, so that it is not cut again.
        """
        for text in ("x" * 10**6, "\x1b" * 10**5, "ab" * LIMIT):
            assert clean(clean(text)) == clean(text)
            assert len(bounded(text, 300)) <= 300

    def test_masking_is_quick(self):
        """
        Hostile lines of a megabyte are masked in no time, whatever they are made of.
        """
        import time

        began = time.process_time()
        for piece in ("a-", "eyJ-", "password", "-----BEGIN ", "bearer ", "://a:", "x" * 50 + "=", "a_token"):
            clean(piece * (1_000_000 // len(piece)))
        assert time.process_time() - began < 5

    def test_in_a_notebook(self, monkeypatch):
        """
        `str(report)` is the tree in a notebook, too, where rich would display it instead.
        """
        shell = type("ZMQInteractiveShell", (), {})()
        monkeypatch.setattr(builtins, "get_ipython", lambda: shell, raising=False)
        report = verify(Says(), on=host())

        assert str(report).startswith("✓ PASS")
        assert "gpu1" in report.deciding_part()

    def test_a_deep_tree_shows_its_leaves(self):
        """
        A tree deeper than a line is wide shows its leaves nevertheless, within 100 columns.
        """
        check = Says("/deep") & Says("/deeper")
        for n in range(60):
            check = check.named(f"level {n}")
        text = str(verify(check, on=host(says="fail")))

        assert "✗ Says('/deeper')" in text
        assert max(map(len, text.split("\n"))) <= 100


def _nested(root, depth):
    for _ in range(depth):
        root = {**root, "parts": [root]}
    return root


def test_anyof_and_exec_names_stay_as_they_were():
    """
    What is harmless is shown as it is.
    """
    report = verify(AnyOf((Says("/a b/ü.pt"), AlsoSays("/é"))).named("größe"), on=host("root@gpu-01:22"))

    assert report.deciding.host == "root@gpu-01:22"
    assert "größe" in str(report)
    assert "'/a b/ü.pt'" in str(report)
    assert str(Exec(["docker", "exec", "-i", "my box"])) == "docker exec -i 'my box'"
