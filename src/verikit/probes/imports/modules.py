"""Modules as files: where a name is defined, and what a module's loading does. Nothing is imported."""


class Resolver:
    """Tells whether two import targets are one object."""

    def same(self, one, other):
        """True, False, or None where it can't be told."""
        return one == other

    def exports(self, module):
        return None

    def missing_exports(self, module):
        return []
