"""Checks are values: they compare, hash, print, pickle and store."""

import datetime
import pickle

import attrs
import pytest
from hypothesis import given, settings

import verikit
from verikit import FAIL, PASS, SSH, Check, Exec, Finding, HttpHealthy, Local, Look, Mark, Verdict, at_least, hosts
from verikit.check import AllOf, On
from verikit.testing import Stated
from verikit.testing.strategies import trees
from verikit.values import Frozen, Live, freeze

NAMES = {**{name: getattr(verikit, name) for name in ("SSH", "Exec", "Local", "at_least", "Mark")}, "Stated": Stated}
NAMES |= {verdict.name: verdict for verdict in Verdict} | {"datetime": datetime}
a, b, c = (Stated(name) for name in "abc")


@attrs.frozen(repr=False)
class Holder(Check):
    """Holds whatever a field may hold."""

    value: object = attrs.field(converter=freeze)
    since: object = attrs.field(default=None, kw_only=True, converter=freeze)

    def look(self):
        return Look(repr, value=self.value)

    def judge(self, facts):
        return Finding(PASS, "held")


@settings(max_examples=150, deadline=None)
@given(trees(depth=5, waits=True))
def test_repr_rebuilds(check):
    """
    The repr of a tree, evaluated, is an equal tree with an equal hash.
    """
    again = eval(repr(check), NAMES)

    assert again == check
    assert hash(again) == hash(check)


@settings(max_examples=150, deadline=None)
@given(trees(depth=5, waits=True))
def test_pickle_and_dict_round_trip(check):
    """
    A tree comes back equal from pickle and from its stored form.
    """
    assert pickle.loads(pickle.dumps(check)) == check
    assert Check.from_dict(check.to_dict()) == check


@pytest.mark.parametrize(
    "value",
    [
        {"w": "3 h", "nested": {"k": [1, 2, {"x": None}]}},
        [3, 31, 59],
        Mark("/log", {"gpu1": {"device": 1, "inode": 2, "size": 3, "now": 4.5, "crc": 6, "head": 7}}),
        datetime.datetime(2026, 1, 2, 3, 4, tzinfo=datetime.timezone.utc),
        "caf\udce9.pt",
        {1: "one", 2: "two"},
        frozenset({"a", "b"}),
    ],
    ids=["mapping", "list", "mark", "moment", "not UTF-8", "keys that are numbers", "set"],
)
def test_fields_round_trip(value):
    """
    Mappings, sequences, sets, marks, moments and undecodable paths in a field survive repr, pickle and to_dict.
    """
    check = Holder(value, since=value)

    assert eval(repr(check), {**NAMES, "Holder": Holder}) == check
    assert pickle.loads(pickle.dumps(check)) == check
    import json

    assert Check.from_dict(json.loads(json.dumps(check.to_dict()))) == check


def test_what_is_given_is_frozen():
    """
    A mapping changed after the check was built does not change the check.
    """
    spec = {"w": ["a"]}
    check = Holder(spec)
    spec["w"].append("b")

    assert check == Holder({"w": ["a"]})
    assert hash(check) == hash(Holder(Frozen({"w": ("a",)})))


def test_nodes_flatten_and_named_ones_do_not():
    """
    `a & (b & c)` has three parts; a named part stays one.
    """
    assert (a & (b & c)).parts == (a, b, c) == ((a & b) & c).parts
    assert (a | (b | c)).parts == (a, b, c)
    assert len((a & (b & c).named("both")).parts) == 2
    assert AllOf((AllOf((a, b)), c)) == a & b & c


def test_truth_is_refused_with_the_line_that_was_meant():
    """
    `a and b`, `not a`, and the truth of a verdict raise TypeError and show what to write.
    """
    with pytest.raises(TypeError, match=r"write `a & b`"):
        a and b
    with pytest.raises(TypeError, match=r"`~a` for not"):
        not a
    with pytest.raises(TypeError, match=r"verdict is PASS"):
        bool(PASS)


def test_wrong_use_names_the_argument():
    """
    Wrong use raises where the check is built, naming the argument, its value and what it takes.
    """
    with pytest.raises(ValueError, match=r"k is a number from 1 to the number of checks, 2; got 3"):
        at_least(3, a, b)
    with pytest.raises(ValueError, match=r"k is .* at least 1; got 0"):
        at_least(0, a)
    with pytest.raises(ValueError, match="within is a number of seconds, above 0; got -1"):
        a.eventually(within=-1)
    with pytest.raises(TypeError, match="seconds is a number of seconds, above 0; got 'soon'"):
        a.timeout("soon")
    with pytest.raises(ValueError, match=r"seconds .* got nan"):
        a.after(float("nan"))
    with pytest.raises(ValueError, match="title is a non-empty string"):
        a.named(" ")
    with pytest.raises(TypeError, match="then takes checks; got 3"):
        a.then(3)
    with pytest.raises(TypeError, match="unsupported operand"):
        a & 3


def test_on_is_a_quantifier():
    """
    `.on` takes hosts in every form, each once; none, or nothing unbound beneath, is a ValueError.
    """
    many = a.on("gpu[1-3]", Local(), ["gpu2", "root@h:22"])

    assert isinstance(many, On)
    assert [str(host) for host in many.hosts] == ["gpu1", "gpu2", "gpu3", "local", "root@h:22"]
    with pytest.raises(ValueError, match="at least one host"):
        a.on()
    with pytest.raises(ValueError, match="at least one host"):
        a.on([])
    with pytest.raises(ValueError, match=r"an inner `\.on` wins"):
        a.on("h1").on("h2")
    with pytest.raises(ValueError, match="number of hosts, 2; got 3"):
        a.on("h1", "h2", "h1", at_least=3)


def test_live_subjects_stay_here():
    """
    A check of an object compares by identity, prints as what it is, and can't be bound, pickled or stored.
    """
    tensors = {"w": object()}
    live, same, other = Holder(Live(tensors)), Holder(Live(tensors)), Holder(Live(dict(tensors)))

    assert live == same
    assert hash(live) == hash(same)
    assert live != other
    assert repr(live) == "Holder(<live dict, 1 tensor>)"
    with pytest.raises(ValueError, match="object in this process"):
        live.on("gpu1")
    with pytest.raises(TypeError, match="belongs to this process"):
        pickle.dumps(live)
    with pytest.raises(TypeError, match="belongs to this process"):
        (live & a).to_dict()


class TestStoredAddresses:
    """A stored claim names hosts; what a name stands for is said by whoever loads it."""

    def test_plain_hosts_come_back(self):
        """
        Plain SSH targets and `local` are all their name says.
        """
        check = a.on("root@gpu1", "local", "[::1]:22")

        assert Check.from_dict(check.to_dict()) == check

    def test_options_are_not_stored_and_not_taken(self):
        """
        Interpreters, keys and commands stay out of the data, and loading needs them said again.
        """
        there = SSH("root@gpu1", python="/env/bin/python", keys=["~/.ssh/id"])
        box = Exec(["docker", "exec", "-i", "box"], name="box")
        check = a.on(there, box)
        data = check.to_dict()

        assert "/env" not in repr(data)
        assert "docker" not in repr(data)
        with pytest.raises(ValueError, match=r"'root@gpu1' is more than its name says.*from_dict\(data, hosts="):
            Check.from_dict(data)
        assert Check.from_dict(data, hosts={"root@gpu1": there, "box": box}) == check

    @pytest.mark.parametrize("extra", [{"python": "/tmp/evil"}, {"argv": ["sh"]}, {"keys": ["k"]}, {"exec": True}])
    def test_hand_made_options_are_refused(self, extra):
        """
        Data that brings an interpreter, a command or keys is refused.
        """
        data = a.on("h1").to_dict()
        data["fields"]["hosts"][0].update(extra)

        with pytest.raises(ValueError, match="more than its name says"):
            Check.from_dict(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "schema 'verikit.check/1'"),
        ({"schema": "verikit.check/9", "check": "AllOf", "fields": {}}, "schema 'verikit.check/1'"),
        ({"schema": "verikit.check/1", "check": "os.system", "fields": {"command": "true"}}, "no check 'os.system'"),
        ({"schema": "verikit.check/1", "check": "subprocess:Popen", "fields": {}}, "no check 'subprocess:Popen'"),
        ({"schema": "verikit.check/1", "check": "Not", "fields": {"part": 3, "x": 1}}, "has no field 'x'"),
        ({"schema": "verikit.check/1", "check": ["Not"], "fields": {}}, "no check"),
        ({"schema": "verikit.check/1", "check": "Not"}, "has `check` and `fields`"),
    ],
)
def test_stored_data_is_not_trusted(data, message):
    """
    Unknown schemas, checks and fields are ValueErrors; nothing is imported by name.
    """
    with pytest.raises(ValueError, match=message):
        Check.from_dict(data)


@pytest.mark.parametrize("claim", [HttpHealthy("http://h/x"), HttpHealthy.openai("http://h/v1")], ids=repr)
def test_stored_data_gives_no_secret_away(claim):
    """
    A stored claim comes back; one that would send a token somewhere needs the loader's word for it.
    """
    telling = attrs.evolve(claim, token_env="VLLM_API_KEY")

    assert Check.from_dict(claim.to_dict()) == claim
    with pytest.raises(ValueError, match=r"would use token_env='VLLM_API_KEY'.*allow=\('token_env',\)"):
        Check.from_dict(telling.to_dict())
    assert Check.from_dict(telling.to_dict(), allow=["token_env"]) == telling


def test_stored_depth_is_bounded():
    """
    A tree of a million levels is refused, not followed.
    """
    data = {"check": "verikit_is_not_reached", "fields": {}}
    for _ in range(5000):
        data = {"check": "Not", "fields": {"part": data}}

    with pytest.raises(ValueError, match="at most 100 levels"):
        Check.from_dict({"schema": "verikit.check/1", **data})


class TestAddresses:
    """Where a claim is looked at."""

    def test_ranges_are_written_as_slurm_writes_them(self):
        """
        Brackets, lists, widths, several brackets, users and ports.
        """
        assert [str(h) for h in hosts("root@gpu[001-003,020]")] == [
            f"root@gpu{n}" for n in ("001", "002", "003", "020")
        ]
        assert [str(h) for h in hosts("r[1-2]n[08-09]:22,login")] == "r1n08:22 r1n09:22 r2n08:22 r2n09:22 login".split()
        assert hosts("[::1]:22") == (SSH("[::1]:22"),)
        assert (SSH("me@[fe80::1%eth0]:2222").host, SSH("me@[::1]:22").port, SSH("me@h").user) == (
            "fe80::1%eth0",
            22,
            "me",
        )

    @pytest.mark.parametrize(
        "text",
        ["", " ", "gpu[", "gpu]", "gpu[3-1]", "gpu[a-b]", "gpu[]", "a b", "-oProxyCommand=x", "u@", "h:99999", "h:0"],
    )
    def test_what_names_no_host_is_refused(self, text):
        """
        A string that names no host is a ValueError that shows what one looks like.
        """
        with pytest.raises(ValueError, match=r"got|match"):
            hosts(text)

    def test_a_slip_is_not_a_million_hosts(self):
        """
        A range of more than 100,000 hosts is refused at once.
        """
        for text in ("gpu[1-10000000]", "a[1-1000]b[1-1000]"):
            with pytest.raises(ValueError, match="at most 100,000"):
                hosts(text)

    @pytest.mark.parametrize(
        "address", [Local(), Local(python="/p"), SSH("a@b:1", python="x"), Exec(["a", "b"], name="n")]
    )
    def test_addresses_print_as_what_rebuilds_them(self, address):
        """
        repr rebuilds an address, and pickle brings it back.
        """
        assert eval(repr(address), NAMES) == address
        assert pickle.loads(pickle.dumps(address)) == address


def test_function_checks():
    """
    `@verikit.check` makes a class of one function: fields, defaults, repr, storage; a wrong signature is refused.
    """
    small = two_fields("/data", at_most=3)

    assert repr(small) == "two_fields('/data', at_most=3)"
    assert small == two_fields("/data", at_most=3) != two_fields("/data")
    assert Check.from_dict(small.to_dict()) == small
    assert pickle.loads(pickle.dumps(small)) == small
    with pytest.raises(TypeError, match=r"`def name\(place, field"):
        verikit.check(lambda path: True)


@verikit.check
def two_fields(place, path, *, at_most=5):
    """At most so many."""
    return at_most < 4, f"{path}: {at_most}"


def test_findings_keep_their_rules():
    """
    UNKNOWN always has a cause, nothing else has one, and causes that waiting can't cure are final.
    """
    assert Finding(Verdict.UNKNOWN, "?").cause is verikit.Cause.AMBIGUOUS
    assert Finding(Verdict.UNKNOWN, "?", cause="host_key").final
    assert not Finding(Verdict.UNKNOWN, "?", cause="timeout").final
    assert Finding(FAIL, "no", final=True).can_become == (FAIL, FAIL)
    assert Finding(FAIL, "not yet").can_become == (FAIL, PASS)
    with pytest.raises(ValueError, match="cause says why a claim is UNKNOWN"):
        Finding(PASS, "fine", cause=verikit.Cause.TIMEOUT)
