"""Labelled logs of programs, wordings and twists, as text: what a person who reads them would say.

The module of each topic adds its own to the list that `kit` holds.
"""

from __future__ import annotations

from logs.samples import (
    again,
    devices,
    ends,
    errors,
    in_own_words,
    jobs,
    let_go,
    lookalikes,
    own_scripts,
    roots,
    schedulers,
    servers,
    shapes,
    silence,
    texts,
    trainers,
    twists,
)
from logs.samples.kit import SAMPLES

TOPICS = (
    trainers,
    lookalikes,
    servers,
    jobs,
    schedulers,
    devices,
    errors,
    roots,
    silence,
    ends,
    own_scripts,
    in_own_words,
    shapes,
    texts,
    twists,
    again,
    let_go,
)

__all__ = ["SAMPLES", "TOPICS"]
