"""Modules out of memory, at the far end: nothing is written on a host, and no verikit that it may have is imported.

This file is the head of what the stub executes (`hosts.packing.core`); it must not import verikit itself.
"""

import sys

Spec = type(sys.__spec__)  # importlib.machinery.ModuleSpec, without the price of importing importlib


class Memory:
    """Finder and loader of the modules that were sent, by name: (is a package, file name, source)."""

    def __init__(self):
        self.codes = {}
        self.sources = {"verikit": (True, "<verikit>", ""), "verikit.probes": (True, "<verikit.probes>", "")}

    def find_spec(self, name, path=None, target=None):
        if name in self.sources:
            return Spec(name, self, origin=self.sources[name][1], is_package=self.sources[name][0])
        if name.startswith("verikit."):
            raise ModuleNotFoundError(
                "%s was not sent: a probe imports what it needs by an import statement" % name, name=name
            )
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        exec(self.code(module.__name__), module.__dict__)

    def code(self, name):
        """The compiled source; compiled once, and by that nothing of it runs."""
        if name not in self.codes:
            _, file, text = self.sources[name]
            self.codes[name] = compile(text, file, "exec")
        return self.codes[name]

    def get_source(self, name):
        """The text, for tracebacks."""
        return self.sources[name][2]


def start(sources, nonce):
    """Puts the sources within reach of `import`, and runs the agent until its input ends."""
    memory = Memory()
    memory.sources.update(sources)
    sys.meta_path.insert(0, memory)
    from verikit.probes import agent

    agent.main(memory, nonce)
