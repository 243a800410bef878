"""Pickles walked opcode by opcode, as symbols: names stay names, calls stay calls; nothing is ever resolved or run.

    walk(data).root        what it would build: plain values as they are, the rest as `Global`, `Call`, `Persistent`
    walk(data).globals     {dotted name: how it is used}: what it would import, and whether that would be called
    walk(data).persistent  what stands outside of it: torch's storages
    walk(data).end         the offset after its STOP

Protocols 0 to 5.  Source: Lib/pickletools.py and Lib/pickle.py of CPython; where they differ from Modules/_pickle.c
(what is forgiven), the walk forgives what either does, so that nothing hides from it that an unpickler would do.  What
both refuse makes no sense: a number that is called, an item of a text that is set, a key that can't be hashed.

Bounds: opcodes, depth of marks, size of one value, memory of all, values that calls would make; beyond them
`CannotSee("bound_reached")`.  A value used a thousand times is there once.  Long texts and bytes stay in the file, as `Long`.
"""

import re
import struct

from verikit.probes.formats.layout import Broken, uncollected
from verikit.probes.formats.pickle_growth import MAKES, MAKES_LATER
from verikit.probes.formats.pickle_names import may_hold_members
from verikit.probes.place import CannotSee

OPCODES = 30 * 1000 * 1000
DEPTH = 20000
UNFOLDED = 10**9
"""Values that a pickle may come to when each use of a shared one is counted: a nest of lists that hold each other ten
times over is small until somebody prints, copies or compares it."""

MEMORY, EACH, MOST = 18 << 20, 14, 512 << 20
"""Bytes that what is built may take: so many, and so many more for each byte of the pickle, but never more than the last.

Of what torch and its trainers write, a byte stands for 2 to 5; for up to 14 in tables of short words. In a pickle of nothing
but empty dicts it is 80.
"""
SMALL = 16
"""Items of a container that are looked through each time that it is met, rather than to remember what was found."""
STRETCH = 1 << 14
"""Opcodes after which it is counted what all that is held takes."""

# What values take in CPython on 64 bits, with their place in what holds them: (itself, each item).
TUPLE, LIST, DICT = (48, 8), (64, 9), (72, 56)
NUMBER, TEXT, CALL, NAME, PLACE = 32, 56, 144, 450, 8
KEPT = 100  # in a dict or set of the walk's own

ROOM = 1 << 16
"""Numbers in the memo that even a short pickle may give out: an unpickler has room for so many."""

LONG = 1 << 16
"""Bytes of text or of a bytes object beyond which it is left where it is."""

# How a name is used, the weakest first: the strongest use is kept.
USES = ("named", "constructed", "called", "changed")
NAMED, CONSTRUCTED, CALLED, CHANGED = range(4)


GETATTR = "builtins.getattr"

NESTED = "torch.storage._load_from_bytes"
"""How a storage pickles itself outside of torch.save: as a file of torch's older format, which holds just that storage."""

NOTHING = object()
"""In the place of the name that an idiom begins with, where there is none: a value of the memo may be None."""

INSIDE = b"\x80\2\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""What that file begins with."""


def _member(args):
    """Whether these are the arguments by which Python 3.11.0 to 3.11.3 pickles a member of an enumeration."""
    if type(args) is not tuple or len(args) != 2 or type(args[0]) is not Global or type(args[1]) is not str:
        return False
    return args[1].isidentifier() and args[1][0] != "_" and may_hold_members(args[0].name)


class Global:
    """A name that an unpickler would import, `module.attribute`; `use` counts in `USES`."""

    __slots__ = ("attribute", "module", "name", "use")

    def __init__(self, module, attribute):
        self.module, self.attribute, self.name, self.use = module, attribute, module + "." + attribute, 0

    def __repr__(self):
        return "<%s>" % self.name


class Call:
    """What an unpickler would get by calling `function(*args)`, then giving it `state` and `items`.

    size: values or bytes that it would come to beyond its arguments, as far as these tell: of `list(range(n))`.
    """

    __slots__ = ("args", "function", "items", "size", "state")

    def __init__(self, function, args, size=0):
        self.function, self.args, self.state, self.items, self.size = function, args, None, None, size

    @property
    def name(self):
        """The dotted name of what is called, or `?` when that is itself the outcome of a call."""
        return self.function.name if type(self.function) is Global else "?"

    def __repr__(self):
        return "%s(…)" % self.name


class Persistent:
    """What stands outside of the pickle, by its id: a storage, in torch's files. `storage`: for whoever has looked it up."""

    __slots__ = ("id", "storage")

    def __init__(self, id):
        self.id, self.storage = id, None


class Idiom:
    """What a writer always goes on with after one name, taken at once where it comes exactly so.

    Made by `walk` for its machine, when the name is first met.  It must leave the machine as the opcodes would have.
    """

    def __init__(self, machine):
        """`machine` is not to be kept: the two would hold each other, and megabytes of pickle."""

    def take(self, machine, at):
        """The offset after the opcodes that begin at `at`, what they build now on the stack in place of the name;
        None, and nothing changed, where they are others."""
        raise NotImplementedError


class Long:
    """A text or bytes object too long to be copied: its kind, offset and size in the pickle."""

    __slots__ = ("kind", "nbytes", "offset")

    def __init__(self, kind, offset, nbytes):
        self.kind, self.offset, self.nbytes = kind, offset, nbytes


class Walk:
    """The outcome of `walk`; `hidden`: what it would import in ways that no plain name shows."""

    def __init__(self):
        self.root, self.end, self.protocol = None, 0, 0
        self.names, self.hidden, self.persistent, self.buffers = {}, [], [], 0

    @property
    def globals(self):
        """{dotted name: its strongest use}"""
        return {item.name: USES[item.use] for item in self.names.values()}


def walk(data, layout=None, where="", start=0, opcodes=OPCODES, build=None, idioms=None):
    """What the pickle that begins at `start` of `data` would build and import; `layout` is told of the names.

    build: {dotted name: function of the arguments} for calls that the reader knows a smaller form of, or None from it.
    idioms: {dotted name: `Idiom`} for names that a writer always goes on from in the same opcodes.

    A pickle that ends too early, or makes no sense to any unpickler, is `Broken("bad_pickle", what, offset)`, and one
    whose values lie in buffers that no file has is `Broken("out_of_band", …)`;
    the names up to there are told all the same: an unpickler would have met them before it gave up.
    """
    machine = _Machine(data, start, build, idioms)
    try:
        with uncollected():
            machine.run(opcodes)
            _bounded_nest([machine.walk.root, machine.hashed], machine.left())
        if machine.walk.buffers:
            what = "%d of its values are in buffers that whoever loads it must give beside it (NEXT_BUFFER)"
            raise Broken("out_of_band", what % machine.walk.buffers)
    except (IndexError, struct.error) as error:
        raise Broken("bad_pickle", _broken_off(machine, error), machine.at) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Broken(
            "bad_pickle", "the pickle makes no sense at byte %d: %s" % (machine.at, error), machine.at
        ) from None
    finally:
        machine.settle()
        if layout is not None:
            layout.pickled(machine.walk, where)
    return machine.walk


class _Cut(IndexError):
    """The pickle has fewer bytes than an opcode takes."""


def _broken_off(machine, error):
    """Why the walk ended on an index that is not there: the bytes are at their end, or the stack is."""
    at, data = machine.at, machine.data
    short = data[at : at + 1] in (b"q", b"h", b"K") and at + 1 >= len(data)
    if isinstance(error, (_Cut, struct.error)) or at >= len(data) or short:
        return "the pickle breaks off at byte %d" % at
    return "the pickle makes no sense at byte %d: it takes more from the stack than lies there" % at


def _bounded_nest(root, room):
    """Refuses what is nested too deep, or unfolds to too much; each container is entered once. room: bytes left for it."""
    known = {}  # {id: (values that it unfolds to, levels)}
    path = [[None, iter(root), 0, 0]]
    while path:
        here = path[-1]
        for part in here[1]:
            if type(part) not in _NESTS:
                continue
            found = known.get(id(part)) or _shallow(part)
            if found is None:
                known[id(part)] = 1, 1  # for when it holds itself
                path.append([id(part), iter(_held(part)), 0, 0])
                break
            _add(here, found)
        else:
            path.pop()
            if path:
                known[here[0]] = found = 1 + here[2], 1 + here[3]
                _add(path[-1], found)
        if len(known) * 2 * KEPT > room:
            raise CannotSee("bound_reached", "a pickle of more than {:,} containers".format(len(known)))
        if len(path) > DEPTH:
            raise CannotSee("bound_reached", "a pickle nested more than %d deep" % DEPTH)


def _add(here, found):
    here[2] += found[0]
    here[3] = max(here[3], found[1])
    if here[2] > UNFOLDED:
        raise CannotSee("bound_reached", "a pickle that unfolds to more than {:,} values".format(UNFOLDED))
    if here[3] > DEPTH:
        raise CannotSee("bound_reached", "a pickle nested more than %d deep" % DEPTH)


def _shallow(item):
    """What a small container without others in it unfolds to, or a call with such; most are so, and need not be remembered."""
    if type(item) is not Call:
        return None if len(item) > SMALL or any(type(part) in _NESTS for part in _held(item)) else (1, 1)
    parts = [part for part in _held(item) if type(part) in _NESTS]
    return None if any(type(part) is Call or not _shallow(part) for part in parts) else (1 + len(parts), 2)


def _held(item):
    if type(item) is dict:
        return item.values()
    return (item.args, item.state, item.items) if type(item) is Call else item


_NESTS = frozenset((dict, list, tuple, Call))


class _Machine:
    """The stack, the marks and the memo of an unpickler."""

    def __init__(self, data, start, build, idioms=None):
        self.data, self.at, self.stack, self.marks = data, start, [], []
        self.room, self.taken, self.made = min(MOST, MEMORY + EACH * len(data)), 0, 0
        self.memo, self.asked = {}, _asked(data)  # only what may be fetched again is kept
        self.numbered, self.beyond = 0, set()  # numbers given out so far: all below the one, and those
        self.build = dict(_PLAIN, **build) if build else _PLAIN
        self.idioms, self.idiom, self.begins = idioms or {}, None, NOTHING
        self.walk = Walk()
        self.names, self.members, self.inside, self.level = self.walk.names, 0, 0, 0
        self.hashed = []  # nests that are keys, or of sets: an unpickler walks all that they unfold to

    def run(self, opcodes):
        for done in range(0, opcodes, STRETCH):
            if self.stretch(min(STRETCH, opcodes - done)):
                return
            self.left()
        raise CannotSee("bound_reached", "a pickle of more than %d opcodes" % opcodes)

    def stretch(self, opcodes):
        """Takes so many opcodes; whether the last was STOP."""
        # A state dict of 10^5 tensors has 3,200,000 opcodes: the ten commonest are handled here, in the order
        # of how often torch writes them, the others by table.
        data, memo, table, at, end = self.data, self.memo, _TABLE, self.at, len(self.data)
        asked, most, taken = self.asked, len(self.asked), 0
        unpack_int = struct.Struct("<i").unpack_from
        unpack_size = struct.Struct("<I").unpack_from
        try:
            for _ in range(opcodes):
                op = data[at]
                if op == 0x72 or op == 0x71:  # LONG_BINPUT, BINPUT
                    if op == 0x72:
                        index, at = unpack_size(data, at + 1)[0], at + 5
                    else:
                        index, at = data[at + 1], at + 2
                    item = self.stack[-1]
                    if index == self.numbered and not (index < most and asked[index]) and not self.beyond:
                        self.numbered += 1
                    else:
                        self.remember(index, item)
                elif op == 0x4B:  # BININT1
                    self.stack.append(data[at + 1])
                    at += 2
                elif op == 0x68:  # BINGET
                    index = data[at + 1]
                    if index not in memo:
                        raise _unset(index)
                    at += 2
                    item = memo[index]
                    self.stack.append(item)
                    if item is self.begins:
                        at = self.idiom.take(self, at) or at
                elif op == 0x58:  # BINUNICODE
                    size = unpack_size(data, at + 1)[0]
                    if at + 5 + size > end:
                        raise _Cut
                    at += 5
                    self.stack.append(
                        data[at : at + size].decode("utf-8", "surrogatepass") if size < LONG else Long("text", at, size)
                    )
                    at += size
                    taken += TEXT + (size if size < LONG else 0)
                elif op == 0x28:  # MARK
                    self.marks.append(self.stack)
                    self.stack = []
                    at += 1
                    if len(self.marks) > DEPTH:
                        raise CannotSee("bound_reached", "a pickle nested more than %d deep" % DEPTH)
                elif op == 0x74:  # TUPLE
                    items = tuple(self.stack)
                    self.stack = self.marks.pop()
                    self.stack.append(items)
                    taken += TUPLE[0] + len(items) * TUPLE[1]
                    at += 1
                elif op == 0x86:  # TUPLE2
                    second = self.stack.pop()
                    self.stack[-1] = (self.stack[-1], second)
                    taken += TUPLE[0] + 2 * TUPLE[1]
                    at += 1
                elif op == 0x52:  # REDUCE
                    args = self.stack.pop()
                    self.stack[-1] = self.called(self.stack[-1], args)
                    at += 1
                elif op == 0x4A:  # BININT
                    self.stack.append(unpack_int(data, at + 1)[0])
                    taken += NUMBER
                    at += 5
                elif op == 0x2E:  # STOP
                    self.walk.root, self.walk.end = self.stack.pop(), at + 1
                    return True
                else:
                    self.at = at + 1
                    table[op](self)
                    at = self.at
            return False
        finally:
            self.at = min(at, end)
            self.taken += taken

    # Bounds.

    def left(self):
        """The bytes that are left for what is built; refuses what takes more."""
        left = self.room - self.taken - PLACE * (len(self.stack) + sum(map(len, self.marks)))
        if left < 0:
            what = "a pickle of {:,} bytes whose values take more than {:,} MiB"
            raise CannotSee("bound_reached", what.format(len(self.data), self.room >> 20))
        return left

    def makes(self, size):
        """So many values or bytes would be made by a call, beside those that opcodes push."""
        self.made += size
        if self.made > UNFOLDED:
            raise CannotSee("bound_reached", "a pickle that unfolds to more than {:,} values".format(UNFOLDED))

    # Reading.

    def take(self, size):
        data = self.data[self.at : self.at + size]
        if size < 0 or len(data) < size:
            raise _Cut
        self.at += size
        return data

    def number(self, form, size):
        return struct.unpack(form, self.take(size))[0]

    def line(self):
        end = self.data.find(b"\n", self.at)
        if end < 0:
            raise _Cut
        line, self.at = self.data[self.at : end], end + 1
        return line

    def long(self, kind, size):
        """Text or bytes of that size, or where they are."""
        if size > len(self.data) - self.at:
            raise _Cut
        if size >= LONG:
            self.at += size
            return Long(kind, self.at - size, size)
        self.taken += size
        data = bytes(self.take(size))
        return data.decode("utf-8", "surrogatepass") if kind == "text" else data

    # Memo.

    def remember(self, index, item):
        if index < self.numbered or index in self.beyond:
            self.begins = NOTHING  # an idiom counts on what a number stood for
        elif index == self.numbered and not self.beyond:
            self.numbered += 1
        elif index > max(len(self.data), ROOM):
            # C makes room for all numbers up to the greatest: 2^31 of them are 16 GiB.
            raise CannotSee("bound_reached", "a pickle of %d bytes that numbers a value %d" % (len(self.data), index))
        else:
            self.beyond.add(index)
            self.taken += KEPT
        if index < len(self.asked) and self.asked[index]:
            self.memo[index] = item
            self.taken += KEPT

    def recall(self, index):
        if index not in self.memo:
            raise _unset(index)
        self.stack.append(self.memo[index])

    def memoize(self):
        # MEMOIZE numbers by how many there are; PUT may have left numbers out before.
        self.remember(self.numbered + len(self.beyond), self.stack[-1])

    # Building.

    def marked(self):
        items, self.stack = self.stack, self.marks.pop()
        return items

    def named(self, module, attribute):
        """The global, one object for each name."""
        if type(module) is not str or type(attribute) is not str:
            self.walk.hidden.append("a name that is computed when it is loaded")
            module, attribute = "?", "?"
        elif not (module + attribute).isprintable():
            raise ValueError("a name with control characters")
        key = module, attribute
        item = self.names.get(key)
        if item is None:
            item = self.names[key] = Global(*_today(module, attribute))
            self.taken += NAME
            if item.name in self.idioms:
                self.idiom, self.begins = self.idioms[item.name](self), item
        if "." in attribute and len(self.walk.hidden) < 64:
            self.walk.hidden.append("%s, reached through %s" % (attribute, module))
        return item

    def called(self, function, args, how=CALLED):
        """The outcome of a call, as a symbol; plain containers as themselves."""
        if type(args) in _NO_ARGUMENTS and type(function) is Global and function.module.startswith("__torch__"):
            args = (args,)  # TorchScript makes a value of its enums so, and reads it with an unpickler of its own
        if type(args) in _NO_ARGUMENTS:
            raise TypeError("arguments that are a %s" % type(args).__name__)
        if type(function) is Global:
            if function.name == GETATTR and _member(args):
                self.members += 1
                args[0].use = max(args[0].use, CONSTRUCTED)
                return Call(function, args)
            if function.name == NESTED:
                storage = self.nested(args)
                if storage is not None:
                    return storage
            if function.use < how:
                function.use = how
            build = self.build.get(function.name)
            plain = build(args) if build else None
            if plain is not None:
                if plain and type(plain) in _HASHING:
                    self.made_plain(plain)
                return plain
            return self.call(function, args)
        if type(function) is Call and function.name == GETATTR:
            function.function.use = CALLED  # a member is a value; what is called was a method
        elif type(function) in _VALUES:
            raise TypeError("a %s is called" % type(function).__name__)
        self.taken += CALL
        return Call(function, args)

    def call(self, function, args):
        """A call of a name, which may make more than its arguments hold."""
        self.taken += CALL
        size = MAKES[function.name](args) if function.name in MAKES else 0
        if size and function.name not in MAKES_LATER:
            self.makes(size)
        return Call(function, args, size)

    def made_plain(self, plain):
        """A dict or list in place of a call: a copy of what the arguments hold."""
        self.taken += len(plain) * (DICT if type(plain) is dict else LIST)[1]
        self.set_of(plain)
        if self.taken > self.room:
            self.left()

    def nested(self, args):
        """The storage in a file of torch's that is the argument, all pickles of which are walked; None: it is none."""
        item = args[0] if type(args) is tuple and len(args) == 1 else None
        if type(item) is Long and item.kind == "bytes":
            item = self.data[item.offset : item.offset + min(item.nbytes, LONG)]
        if type(item) is not bytes or not item.startswith(INSIDE) or self.level:  # there is none within another
            return None
        roots, at = [], 0
        for _ in range(5):  # magic number, protocol, sys_info, the storage, the list of storages
            machine = _Machine(item, at, None)
            machine.level, machine.room, machine.made = 1, self.left(), self.made
            try:
                machine.run(LONG)
            finally:
                machine.settle()
                self.join(machine.walk)
                self.taken, self.made = self.taken + machine.taken, machine.made
                self.walk.buffers += machine.walk.buffers
            roots.append(machine.walk.root)
            at = machine.walk.end
        if type(roots[3]) is not Persistent:
            return None
        self.inside += 1
        return roots[3]

    def join(self, walk):
        """The names of a pickle within are names of this one."""
        for key, item in walk.names.items():
            known = self.names.setdefault(key, item)
            known.use = max(known.use, item.use)
        self.walk.hidden.extend(walk.hidden[: max(0, 64 - len(self.walk.hidden))])

    def settle(self):
        """At the end: what was only called in ways that are seen through is no name of its own."""
        seen = {GETATTR: self.members, NESTED: self.inside}  # members of enumerations, storages
        for key in [key for key, item in self.names.items() if not item.use and seen.get(item.name)]:
            del self.names[key]

    def set_items(self, target, items):
        """`target[key] = value` for the flat list key, value, key, value …"""
        self.taken += len(items) * DICT[1] // 2
        if type(target) is dict:
            for at in range(0, len(items), 2):
                target[self.keyed(items[at])] = items[at + 1]
        elif type(target) is Call:
            self.taken += len(items) // 2 * (TUPLE[0] + TUPLE[1])
            target.items = target.items or []
            target.items.extend((items[at], items[at + 1]) for at in range(0, len(items), 2))
        elif type(target) is list:
            for at in range(0, len(items), 2):
                if type(items[at]) in _VALUES:  # what is no number in its range, an unpickler refuses too
                    target[items[at]] = items[at + 1]
        elif items and type(target) in _FIXED:
            raise TypeError("an item of a %s is set" % type(target).__name__)
        else:
            _changed(target)

    def keyed(self, item):
        key = _key(item)
        if key is not item and type(item) is tuple:
            self.hashed.append(item)
        elif type(item) is dict:
            raise TypeError("a key that is a dict")
        return key

    def set_of(self, items):
        self.hashed.extend(_keys_of(items))
        return items

    def extend(self, target, items):
        self.taken += len(items) * LIST[1]
        if type(target) is list:
            target.extend(items)
        elif type(target) is Call:
            target.items = target.items or []
            target.items.extend(items)
        elif items and (type(target) in _FIXED or type(target) is dict):
            raise TypeError("items are appended to a %s" % type(target).__name__)
        else:
            _changed(target)


def _unset(index):
    return ValueError("it fetches number %d of the memo, which was never set" % index)


def _asked(data):
    """A byte for each number of the memo, 1 where it may be asked for again: the rest need not be kept. More than will be.

    Each array's arguments are put there and never fetched; at 10^5 tensors that is half of all memory.
    """
    asked, most = bytearray(b"\1" * 256), max(len(data), ROOM)
    for number in _fetched(data):
        if 0 <= number <= most:
            if number >= len(asked):
                asked.extend(bytes(number + 1 - len(asked)))
            asked[number] = 1
    return asked


def _fetched(data):
    for match in _LONG_GET.finditer(data):
        yield int.from_bytes(match.group(1), "little")
    for match in _TEXT_GET.finditer(data):
        try:
            yield _index(match.group(1))
        except ValueError:  # no number: no fetch
            continue


# Any byte may be an opcode, so matches may overlap. Digits are whatever int() takes for some.
_LONG_GET = re.compile(rb"j(?=(....))", re.S)
_TEXT_GET = re.compile(rb"g(?=([0-9_+ \t\r\v\f]{1,4000})\n)")


def _index(digits):
    """A number of the memo, in decimal digits."""
    if len(digits) > 4000:
        raise ValueError("a number of %d digits" % len(digits))
    return int(digits)


def _changed(target):
    """Notes that an attribute or item of something imported would be set: of a module, a class, a registry."""
    if type(target) is Global:
        target.use = CHANGED


def _key(item):
    """The item fit to be a key: what can't be hashed here, or only deeply, is known by its identity."""
    if type(item) in _ATOMS:
        return item
    if type(item) is tuple and len(item) <= 16 and all(type(part) in _ATOMS for part in item):
        return item
    return Persistent(item)


_ATOMS = frozenset((str, int, float, bool, bytes, type(None), Global))

# What an unpickler has as it is: a dict may also be an OrderedDict, a list a set, bytes a bytearray.
_NO_ARGUMENTS = frozenset((int, float, bool, type(None)))
_FIXED = _NO_ARGUMENTS | {str, tuple}
_VALUES = _FIXED | {dict, list, bytes, Long}


def _keys_of(plain):
    """The nests among the keys of what `_PLAIN` made: a dict from pairs, a list for a set."""
    keys = (key.id if type(key) is Persistent else key for key in plain)
    return [key for key in keys if type(key) is tuple]


_HASHING = frozenset((dict, list))


def _today(module, attribute):
    """A name as Python 3 resolves it: old pickles say `__builtin__`, `copy_reg`, `commands`."""
    import _compat_pickle

    new = _compat_pickle.NAME_MAPPING.get((module, attribute))
    if new is None:
        new = _compat_pickle.IMPORT_MAPPING.get(module, module), attribute
    return new


def _pairs(args):
    """The dict of `OrderedDict(…)`: empty, or from a list of pairs."""
    if args == ():
        return {}
    rows = args[0] if type(args) is tuple and len(args) == 1 else None
    if type(rows) is list and all(type(pair) in (list, tuple) and len(pair) == 2 for pair in rows):
        return {_key(key): value for key, value in rows}
    return None


def _default_dict(args):
    return {} if type(args) is tuple and len(args) <= 1 else None


def _set(args):
    return list(args[0]) if type(args) is tuple and len(args) == 1 and type(args[0]) is list else None


_PLAIN = {
    "collections.OrderedDict": _pairs,
    "builtins.dict": _pairs,
    "collections.defaultdict": _default_dict,
    "builtins.set": _set,
    "builtins.frozenset": _set,
}


# Opcodes that are rare in checkpoints.


def _unknown(machine):
    raise ValueError("there is no opcode 0x%02x" % machine.data[machine.at - 1])


def _push(value, takes=0):
    def push(machine):
        machine.taken += takes
        machine.stack.append(value() if callable(value) else value)

    return push


def _pushed(read, takes=TEXT):
    def push(machine):
        item = read(machine)  # before the stack is looked up: reading may put another in its place
        machine.taken += takes
        machine.stack.append(item)

    return push


def _tuple(size):
    def build(machine):
        if len(machine.stack) < size:
            raise IndexError
        machine.taken += TUPLE[0] + size * TUPLE[1]
        machine.stack[-size:] = [tuple(machine.stack[-size:])]

    return build


def _int_line(machine):
    line = machine.line()
    if line in (b"00", b"01"):
        return line == b"01"
    return _decimal(line.rstrip(b"L"))


def _decimal(digits):
    if len(digits) > 4000:  # int() of a long text takes its length squared
        raise ValueError("a number of %d digits" % len(digits))
    return int(digits, 0) if digits[:1] != b"0" else int(digits or b"0")


def _string_line(machine):
    return _text(machine, "latin-1", machine.line().strip()[1:-1])


def _unicode_line(machine):
    return _text(machine, "raw-unicode-escape", machine.line())


def _text(machine, encoding, line):
    return line.decode(encoding) if len(line) < LONG else Long("text", machine.at - 1 - len(line), len(line))


def _binary_long(form, size):
    return lambda machine: int.from_bytes(_bounded(machine, machine.number(form, size)), "little", signed=True)


def _bounded(machine, size):
    if size > LONG:
        raise CannotSee("bound_reached", "a number of %d bytes in a pickle" % size)
    return machine.take(size)


def _sized(kind, form, size):
    return lambda machine: machine.long(kind, machine.number(form, size))


def _old_string(form, size):
    return lambda machine: bytes(_bounded(machine, machine.number(form, size))).decode("latin-1")


def _global(machine):
    module = machine.line().decode("utf-8")
    return machine.named(module, machine.line().decode("utf-8"))


def _stack_global(machine):
    attribute, module = machine.stack.pop(), machine.stack.pop()
    return machine.named(module, attribute)


def _extension(form, size):
    def read(machine):
        code = machine.number(form, size)
        if len(machine.walk.hidden) < 64:
            machine.walk.hidden.append("extension code %d of copyreg" % code)
        return machine.named("copyreg", "_extension_registry")

    return read


def _inst(machine):
    function = _global(machine)
    args = tuple(machine.marked())
    return machine.called(function, args)


def _obj(machine):
    items = machine.marked()
    return machine.called(items[0], tuple(items[1:]))


def _new_object(machine):
    args, cls = machine.stack.pop(), machine.stack.pop()
    return machine.called(cls, args, CONSTRUCTED)


def _new_object_ex(machine):
    kwargs, args, cls = machine.stack.pop(), machine.stack.pop(), machine.stack.pop()
    return machine.called(cls, (args, kwargs), CONSTRUCTED)


def _build(machine):
    state, target = machine.stack.pop(), machine.stack[-1]
    brought = any(type(part) is dict and "__setstate__" in part for part in (state, *_halves(state)))
    if brought and len(machine.walk.hidden) < 64:
        machine.walk.hidden.append("a __setstate__ that the pickle itself brings along")
    if type(target) is Call:
        target.state = state
    elif (type(target) in _FIXED or type(target) is list) and _sets(state):
        raise TypeError("the state of a %s is set" % type(target).__name__)
    else:
        _changed(target)


def _sets(state):
    """Whether a state sets anything for sure: a dict, or two of an object with slots, that are not empty."""
    return any(bool(half) and type(half) in _VALUES for half in (_halves(state) or (state,)))


def _halves(state):
    """The two dicts of the state of an object with slots."""
    return state if type(state) is tuple and len(state) == 2 else ()


def _dict(machine):
    items, target = machine.marked(), {}
    machine.set_items(target, items)
    return target


def _set_item(machine):
    value, key = machine.stack.pop(), machine.stack.pop()
    machine.set_items(machine.stack[-1], [key, value])


def _set_items(machine):
    items = machine.marked()
    machine.set_items(machine.stack[-1], items)


def _append(machine):
    item = machine.stack.pop()
    machine.extend(machine.stack[-1], [item])


def _add_items(machine):
    items = machine.marked()
    machine.extend(machine.stack[-1], machine.set_of(items))


def _appends(machine):
    items = machine.marked()
    machine.extend(machine.stack[-1], items)


def _persistent(machine, name):
    item = Persistent(name)
    machine.walk.persistent.append(item)
    return item


def _next_buffer(machine):
    machine.walk.buffers += 1
    return Persistent("buffer")


def _read_only(machine):
    if type(machine.stack[-1]) in _VALUES - {bytes, Long}:
        raise TypeError("a %s is no buffer" % type(machine.stack[-1]).__name__)


def _pop(machine):
    # On an empty stack C pops the mark, as POP_MARK does.
    if machine.stack:
        machine.stack.pop()
    else:
        machine.marked()


_TABLE = [_unknown] * 256
for _op, _act in {
    b"0": _pop,
    b"1": lambda machine: machine.marked(),
    b"2": lambda machine: machine.stack.append(machine.stack[-1]),
    b"F": _pushed(lambda machine: float(machine.line()), NUMBER),
    b"I": _pushed(_int_line, NUMBER),
    b"L": _pushed(_int_line, NUMBER),
    b"M": _pushed(lambda machine: machine.number("<H", 2), NUMBER),
    b"G": _pushed(lambda machine: machine.number(">d", 8), NUMBER),
    b"N": _push(None),
    b"\x88": _push(True),
    b"\x89": _push(False),
    b")": _push(()),
    b"]": _push(list, LIST[0]),
    b"}": _push(dict, DICT[0]),
    b"\x8f": _push(list, LIST[0]),
    b"\x8a": _pushed(_binary_long("<B", 1)),
    b"\x8b": _pushed(_binary_long("<i", 4)),
    b"S": _pushed(_string_line),
    b"T": _pushed(_old_string("<i", 4)),
    b"U": _pushed(_old_string("<B", 1)),
    b"V": _pushed(_unicode_line),
    b"\x8c": _pushed(_sized("text", "<B", 1)),
    b"\x8d": _pushed(_sized("text", "<Q", 8)),
    b"C": _pushed(_sized("bytes", "<B", 1)),
    b"B": _pushed(_sized("bytes", "<I", 4)),
    b"\x8e": _pushed(_sized("bytes", "<Q", 8)),
    b"\x96": _pushed(_sized("bytes", "<Q", 8)),
    b"\x97": _pushed(_next_buffer),
    b"\x98": _read_only,
    b"l": _pushed(lambda machine: machine.marked()),
    b"d": _pushed(_dict),
    b"\x91": _pushed(lambda machine: machine.set_of(machine.marked())),
    b"\x85": _tuple(1),
    b"\x87": _tuple(3),
    b"c": _pushed(_global),
    b"\x93": _pushed(_stack_global),
    b"\x82": _pushed(_extension("<B", 1)),
    b"\x83": _pushed(_extension("<H", 2)),
    b"\x84": _pushed(_extension("<i", 4)),
    b"i": _pushed(_inst),
    b"o": _pushed(_obj),
    b"\x81": _pushed(_new_object),
    b"\x92": _pushed(_new_object_ex),
    b"b": _build,
    b"s": _set_item,
    b"u": _set_items,
    b"a": _append,
    b"e": _appends,
    b"\x90": _add_items,
    b"P": _pushed(lambda machine: _persistent(machine, machine.line().decode("utf-8", "replace"))),
    b"Q": _pushed(lambda machine: _persistent(machine, machine.stack.pop())),
    b"g": lambda machine: machine.recall(_index(machine.line())),
    b"j": lambda machine: machine.recall(machine.number("<I", 4)),
    b"p": lambda machine: machine.remember(_index(machine.line()), machine.stack[-1]),
    b"\x94": lambda machine: machine.memoize(),
}.items():
    _TABLE[_op[0]] = _act


def _protocol(machine):
    machine.walk.protocol = machine.number("<B", 1)
    if machine.walk.protocol > 5:
        raise ValueError("protocol %d" % machine.walk.protocol)


def _frame(machine):
    """How many bytes belong together: an unpickler reads them all before it looks at the first."""
    if int.from_bytes(machine.take(8), "little") > len(machine.data) - machine.at:
        raise _Cut


_TABLE[0x80] = _protocol
_TABLE[0x95] = _frame
