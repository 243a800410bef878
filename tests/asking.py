"""Looks put to real hosts: opened, asked and closed in a loop of their own."""

from __future__ import annotations

import asyncio

import pytest

import looks
from verikit.check import Look
from verikit.errors import Unseen
from verikit.hosts import open_host


def on(address, steps, **options):
    """What `steps(host)` returns on an opened host; closing it leaves nothing to warn of."""

    async def main():
        host = await open_host(address, **options)
        try:
            return await steps(host)
        finally:
            assert await host.close() == []

    return asyncio.run(main())


def ask(address, look: Look):
    """The facts."""
    return on(address, lambda host: host.ask(look))


def unseen(address, look: Look | None = None, **options) -> Unseen:
    """Why a look could not be answered; options: those of `open_host`."""
    with pytest.raises(Unseen) as caught:
        on(address, lambda host: host.ask(look or Look(looks.echo)), **options)
    return caught.value
