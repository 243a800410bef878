"""Hosts that lack something, for tests of probes."""

from __future__ import annotations

from verikit.probes.place import Place


class Bare(Place):
    """A host without some packages: those that make a look faster, or without which it can't be had."""

    def __init__(self, *lacks: str):
        super().__init__()
        self.lacks = lacks

    def accelerator(self, name: str):
        return None if name.partition(".")[0] in self.lacks else super().accelerator(name)
