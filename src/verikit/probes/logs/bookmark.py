"""Bookmark: a place in a log and all that a `Story` had been told up to it, so that the next look reads on from there.

The place is where the bytes near the end begin: what stands before it has been read for good, whatever comes.  A story
taken up again goes on exactly as if it had never been put down.  JSON values, at most 64 KiB; a story that takes more
(tens of thousands of forms, lines of many KB) is not kept, and the next look reads its log anew.
"""

import base64
import json
import zlib

from verikit.probes.logs.envelopes import LONGEST, Line
from verikit.probes.logs.fences import Fence
from verikit.probes.logs.figures import Figures
from verikit.probes.logs.rows import PROGRESS, Kept
from verikit.probes.logs.sentences import Lost, Sentence
from verikit.probes.logs.story import digest
from verikit.probes.logs.tracebacks import Block

MOST = 65536
PLAIN = (
    "lines",
    "last",
    "counted",
    "runs",
    "run_start",
    "met",
    "wanted_ready",
    "elastic",
    "programs",
    "heads",
    "hosts",
)
LISTS = ("progress", "markers", "stops", "signs")
ALSO = ("retry_forms", "trace_excuse", "torn", "fell")
ROWS = {row[0]: row for row in PROGRESS}


def taken(story):
    """What a story was told so far, as JSON values; None where that is too much."""
    raws = [*story.opening, story.last_form, *(raw for _, raw, _ in story.waiting)]
    if any(len(raw or b"") > LONGEST for raw in raws):
        return None
    plans, codes, digests = [], [], []
    known = dict(story.recalled)
    passed = set(story.passed_over)
    known.update((digest(form), plan) for form, plan in story.forms.items() if form not in passed)
    if len(known) * 8 > MOST:
        return None
    for key, plan in known.items():
        digests.append(key)
        codes.append(_code(plan, plans))
    row = {name: getattr(story, name) for name in PLAIN + ALSO}
    row.update({name: [list(getattr(story, name)), getattr(story, name).total] for name in LISTS})
    row.update(
        opening=[_text(form) for form in story.opening],
        last_form=_text(story.last_form),
        tail=[_text(_capped(raw)) for raw in story.tail],
        heard=[[number, _text(raw)] for number, raw in story.heard],
        waiting=[[number, _text(raw), _code(plan, plans)] for number, raw, plan in story.waiting],
        previous=[story.previous.number, story.previous.text] if story.previous else None,
        blocks=[vars(block) for block in story.blocks.values()],
        fences=[[key, vars(fence)] for key, fence in story.fences.items()],
        figures=vars(story.figures),
        sentences={key: vars(sentence) for key, sentence in story.sentences.items()},
        lost=vars(story.lost),
        codes=codes,
        plans=plans,
    )
    words = base64.b64encode(zlib.compress(json.dumps(row).encode(), 1)).decode()
    forms = base64.b64encode(b"".join(digests)).decode()
    return {"told": words, "forms": forms} if len(words) + len(forms) <= MOST else None


def take_up(story, kept):
    """Tells a fresh `Story` what another had been told. kept: what `taken` answered."""
    row = json.loads(zlib.decompress(base64.b64decode(kept["told"])))
    for name in PLAIN + ALSO:
        setattr(story, name, row[name])
    for name in LISTS:
        setattr(story, name, _kept(*row[name]))
    plans = [_plan(*plan) for plan in row["plans"]]
    digests = base64.b64decode(kept["forms"])
    story.recalled = {digests[8 * n : 8 * n + 8]: _decoded(code, plans) for n, code in enumerate(row["codes"])}
    story.opening, story.last_form = [_bytes(form) for form in row["opening"]], _bytes(row["last_form"])
    story.tail = [_bytes(raw) for raw in row["tail"]]
    story.heard.extend((number, _bytes(raw)) for number, raw in row["heard"])
    story.waiting.extend((number, _bytes(raw), _decoded(code, plans)) for number, raw, code in row["waiting"])
    story.blocks = {block.key: block for block in map(_block, row["blocks"])}
    story.fences = {tuple(key): _fence(facts) for key, facts in row["fences"]}
    story.previous = _line(*row["previous"]) if row["previous"] else None
    story.figures = Figures()
    vars(story.figures).update(row["figures"])
    story.lost = Lost()
    vars(story.lost).update(row["lost"])
    story.sentences = {key: _sentence(facts) for key, facts in row["sentences"].items()}


def _text(raw):
    return None if raw is None else raw.decode("latin-1")


def _bytes(text):
    return None if text is None else text.encode("latin-1")


def _capped(raw):
    """A line as it is looked at: `decode` makes the same of it."""
    return raw if len(raw) <= LONGEST else raw[: LONGEST // 2] + b" " * 6 + raw[-LONGEST // 2 :]


def _kept(rows, total):
    kept = Kept()
    kept.extend(tuple(row) if isinstance(row, list) else row for row in rows)
    kept.total = total
    return kept


def _code(plan, plans):
    """A plan as a number: 0 for none, 1 for nothing to read, 2 for a full look, then the counters' plans."""
    if not isinstance(plan, tuple):
        return {None: 0, False: 1, True: 2}[plan]
    name, role, _, setup, watched = plan
    row = [name, setup, watched, role == "said"]
    if row not in plans:
        plans.append(row)
    return 3 + plans.index(row)


def _plan(name, setup, watched, said):
    _, role, search, _, _ = (name, "said", None, None, None) if said else ROWS[name]
    return name, role, search, setup, watched


def _decoded(code, plans):
    return (None, False, True)[code] if code < 3 else plans[code - 3]


def _fence(facts):
    fence = Fence.__new__(Fence)
    vars(fence).update(facts)
    return fence


def _block(row):
    block = Block.__new__(Block)
    vars(block).update(row, key=tuple(row["key"]))
    for name in ("errors", "frames", "message"):
        setattr(block, name, [tuple(one) for one in row[name]])
    return block


def _sentence(facts):
    sentence = Sentence.__new__(Sentence)
    vars(sentence).update(facts)
    return sentence


def _line(number, text):
    return Line(number, text, text, None, None, None, 0, ())
