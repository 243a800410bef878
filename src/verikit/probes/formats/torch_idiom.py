"""The opcodes in which torch pickles a tensor, taken at once: 29 of them, alike but for a key and the numbers of the memo.

    (( storage type key  location elements t Q  offset (sizes) (strides)  requires_grad OrderedDict)R  t R

after the name `torch._utils._rebuild_tensor_v2`; each text, tuple and result is numbered as it is made, or is not.
Protocols 2 to 5, as Python's own picklers write them.  Whatever differs is left to the walk.
Source: torch/_tensor.py (`__reduce_ex__`), Lib/pickle.py.
"""

import re
import struct

from verikit.probes.formats.layout import SHARED, Broken
from verikit.probes.formats.pickle_walk import CALLED, DEPTH, Global, Idiom
from verikit.probes.formats.torch_tensors import View, storage_named, view_of

NUMBERS = 7
"""What is numbered: the key, the storage's id, sizes, strides, the OrderedDict, the arguments, the tensor."""

TAKES = 160
"""Bytes of memory of a `View` and its key, in the lists that hold it."""

_GET = b"(?:h.|j....)"
_INT = b"(?:K.|M..|J....)"
_SIZES = b"\\(?" + _INT + b"*[\x85\x86\x87t)]"  # with MARK and TUPLE, or of the one opcode for as many


def _pattern(text, number):
    """Each part begins with other bytes than may follow the part before it: there is one way to match, that of the opcodes."""
    parts = (
        b"\\(\\((" + _GET + _GET + b")" + text + b"([0-9]+)" + number,
        b"(" + _GET + _INT + b"N?t)" + number + b"Q",
        b"(" + _INT + _SIZES + b")" + number + b"(" + _SIZES + b")" + number,
        b"([\x88\x89]" + _GET + b"\\)R)" + number + b"t" + number + b"R" + number,
    )
    return re.compile(b"".join(parts), re.S)


# Protocol 4 brought short texts, and MEMOIZE, which takes the next number.
_MATCH = {
    False: _pattern(b"X(.)\0\0\0", b"(?:r(....))?").match,
    True: _pattern(b"\x8c(.)", b"(\x94)?").match,
}
_PACK = [struct.Struct("<%dI" % count).pack for count in range(NUMBERS + 1)]


class Tensor(Idiom):
    """`_rebuild_tensor_v2` with a storage of its own, numbers that fit, and no hooks."""

    def __init__(self, machine):
        super().__init__(machine)
        self.implied = machine.walk.protocol >= 4
        self.match, self.width, self.forms = _MATCH[self.implied], 1 if self.implied else 4, {}

    def take(self, machine, at):
        """See `Idiom`: the name on the stack becomes a `View`."""
        found = self.match(machine.data, at)
        if found is None:
            return None
        word, size, key, a, pid, b, sizes, c, strides, d, hooks, e, f, g = found.groups(b"")
        numbered = a + b + c + d + e + f + g
        numbers = range(machine.numbered, machine.numbered + len(numbered) // self.width)
        if not self.implied and numbered != _PACK[len(numbers)](*numbers):
            return None
        if machine.beyond or machine.asked.find(1, numbers.start, numbers.stop) >= 0 or size[0] != len(key):
            return None
        opcodes = word, pid, sizes, strides, hooks
        form = self.forms.get(opcodes) or self._learn(machine, opcodes)
        if form is None or len(machine.marks) + 2 > DEPTH:
            return None
        machine.numbered = numbers.stop
        machine.taken += TAKES
        machine.stack[-1] = view = View(key.decode("ascii"), form)
        machine.walk.persistent.append(view)
        return found.end()

    def _learn(self, machine, opcodes):
        """The `Form` that these opcodes stand for; None where the memo's values are not those that torch puts there.

        What is learnt stays so: a memo of which a number is given out anew ends the idiom.
        """
        word, pid, sizes, strides, hooks = opcodes
        read = [_values(part, machine.memo) for part in (word, pid[:-1], sizes, strides, hooks[1:-2])]
        if [len(values) for values in read] not in ([2, 2, 2, 1, 1], [2, 3, 2, 1, 1]):
            return None
        (word, kind), (location, elements, *rest), (offset, shape), (strides,), (hook,) = read
        if word != "storage" or type(location) is not str or type(shape) is not tuple or type(strides) is not tuple:
            return None
        if type(hook) is not Global or hook.name != "collections.OrderedDict":
            return None
        if min(hook.use, machine.begins.use) < CALLED:  # the walk notes it where they first come
            return None
        try:
            storage = storage_named((word, kind, "", location, elements, *rest))
        except Broken:
            return None
        if len(self.forms) >= SHARED:
            self.forms.clear()
        form = self.forms[opcodes] = view_of(storage[1].dtype, shape, strides, storage, offset).form
        return form


def _values(opcodes, memo):
    """What these few opcodes leave on the stack: [] where they need, or leave, more than their own."""
    values, mark, at = [], None, 0
    while at < len(opcodes):
        op, at = opcodes[at : at + 1], at + 1
        if op in _NUMBERS:
            number = int.from_bytes(opcodes[at : at + _NUMBERS[op]], "little", signed=op == b"J")
            values.append(memo.get(number) if op in (b"h", b"j") else number)
            at += _NUMBERS[op]
        elif op == b"(":
            mark = len(values)
        elif op == b"N":  # where legacy files say that a storage is no view of another
            values.append(None)
        elif op == b"t":
            if mark is None:
                return []
            values[mark:], mark = [tuple(values[mark:])], None
        else:
            begin = len(values) - _TUPLES[op]
            if begin < 0:
                return []
            values[begin:] = [tuple(values[begin:])]
    return values if mark is None else []


_NUMBERS = {b"h": 1, b"K": 1, b"M": 2, b"j": 4, b"J": 4}
_TUPLES = {b")": 0, b"\x85": 1, b"\x86": 2, b"\x87": 3}

TENSORS = {"torch._utils._rebuild_tensor_v2": Tensor}
"""For `walk(…, idioms=TENSORS)`."""
