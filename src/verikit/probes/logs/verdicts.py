"""What the told adds up to: what failed, what its figures say, where the job stands. Text only: no clock, no process."""

from verikit.probes.logs import tables
from verikit.probes.logs.ending import end_of
from verikit.probes.logs.envelopes import Line
from verikit.probes.logs.healing import counts, crash_loop, fallen, met, resolved
from verikit.probes.logs.motion import idle, last_line, phase, progress, retry, times
from verikit.probes.logs.outcome import done_of, ordered_stop, ready_of, trains
from verikit.probes.logs.roots import last_said, root, suspect
from verikit.probes.logs.tracebacks import sign_of

IDLE_STATS = 6


def tell(story, forced=""):
    """JSON facts of what a `Story` tells of the last run."""
    story.finish()
    ready, end = ready_of(story, forced), end_of(story)
    done = done_of(story, end)
    signs = [sign for sign in story.signs if sign["role"] != "stopped"]
    stop = ordered_stop(story, signs, ready)
    good = end.good if ready is None else end.leaves and end.line > ready["line"]
    ended = done or ({"line": end.line, "marker": "last-words"} if good else None)
    counting = [sign for sign in signs if counts(story, sign, ready, ended, stop)]
    open_ = [sign for sign in signs if not met(story, sign)]
    failure = (
        _nan(story) or crash_loop(story) or root(story, signs, counting, lambda sign: resolved(story, sign, ready), end)
    )
    return {
        "failure": _shown(story, failure),
        "fallen": _shown(story, None if ready else fallen(story)),
        "suspect": None if failure else _shown(story, suspect(story, open_, stop, done, end)),
        "last_words": last_said(story, end),
        "signs": {"seen": story.signs.total, "resolved": sum(1 for sign in signs if resolved(story, sign, ready))},
        "ready": ready,
        "trains": trains(story, ready),
        "done": done,
        "closed": failure is None and good,
        "ending": end.told(),
        "stop": stop,
        "progress": progress(story),
        "training": _training(story),
        "retry": retry(story, None if trains(story, ready) else ready),
        "idle": idle(story),
        "stats": story.figures.stats if story.figures.stats["idle"] >= IDLE_STATS else None,
        "phase": phase(story),
        "run_start": story.run_start,
        "runs": story.runs,
        "programs": sorted(story.programs),
        "asked_ready": story.wanted_ready,
        "lines": story.lines,
        "last": story.last,
        "ends_in_line": not story.at_end,
        "last_line": last_line(story),
        "times": times(story),
    }


def _nan(story):
    return _nan_loss(story) or _nan_figures(story)


def _nan_figures(story):
    """Figures of a sentence in its own words that were numbers, and are nan in each copy since."""
    first = story.lost.at_end(story.tail)
    if first is None:
        return None
    number, raw = first
    line = Line(number, raw, raw, None, None, None, 0, ())
    what = "figures that were numbers are nan since: " + raw.strip()[:200]
    return sign_of(line, "figures", "fatal", "nan_loss", what=what)


def _nan_loss(story):
    state, since = story.figures.losses, story.figures.grads["since"]
    enough = 2 if state["bad_grad"] or "vanished" not in state["kind"] else 5
    lost = story.figures.lost()
    if state["bad_since"] and state["bad"] >= enough:
        told, times = min(state["bad_since"], since or state["bad_since"], key=lambda row: row[0]), state["bad"]
        words = "%s in the last %d losses logged" % (state["kind"], times)
    elif lost is not None:
        told, words = lost[0], "the gradient norm is nan in the last %d steps logged" % lost[1]
    else:
        return None
    number, raw, rank = told
    return sign_of(Line(number, raw, raw, rank, None, None, 0, ()), "loss", "fatal", "nan_loss", what=words)


def _shown(story, sign):
    if sign is None:
        return None
    rank, pid = sign["rank"], sign["pid"]
    if rank is None and story.elastic.get("rank") is not None:
        rank, pid = story.elastic["rank"], pid or story.elastic.get("pid")
    elif rank is not None and story.elastic.get("rank") == rank:
        pid = pid or story.elastic.get("pid")
    return {
        "kind": sign["kind"],
        "line": sign["line"] if story.counted else None,
        "excerpt": sign["text"].strip()[:400],
        "rank": rank,
        "pid": pid,
        "hint": sign["hint"] or tables.HINTS[sign["kind"]],
        "pattern": sign["id"],
        "role": sign["role"],
        "frame": sign["frame"],
        "headline": sign["head"],
        "what": sign.get("what", ""),
        "contained": bool(sign.get("contained")),
    }


def _training(story):
    facts = dict(story.figures.training)
    if story.figures.losses["bad"]:
        facts["bad_losses"] = story.figures.losses["bad"]
    return facts
