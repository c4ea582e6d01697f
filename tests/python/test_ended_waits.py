"""An acquire of permits ends with its wait: no question to the server comes after it."""

from __future__ import annotations

import re
from typing import Any, Callable

import pytest

import redlatch
from redlatch import Client, aio
from servers import Server
from view import View

# The acquires of the semaphores, each with a limit of time.
ACQUIRES: dict[str, Callable[[Any, str], Any]] = {
    "semaphore": lambda client, name: client.get_semaphore(name).acquire(wait=0),
    "permits": lambda client, name: client.get_permit_expirable_semaphore(name).acquire(wait=0),
    "many permits": lambda client, name: client.get_permit_expirable_semaphore(name).acquire_many(2, wait=0),
}


def calls_of_scripts(view: View) -> int:
    """How many calls of scripts the server has counted so far."""
    found = re.search(r"cmdstat_evalsha:calls=(\d+)", str(view("INFO", "commandstats")))
    return int(found[1]) if found else 0


@pytest.mark.parametrize("kind", ACQUIRES)
def test_a_thread_that_gets_no_permit_has_asked_once(own_server: Server, name: str, kind: str) -> None:
    with redlatch.connect(own_server.url) as client, own_server.view() as view:

        def acquire() -> None:
            with pytest.raises(redlatch.NotAcquiredError):
                ACQUIRES[kind](client, name)

        acquire()  # the server learns the script
        before = calls_of_scripts(view)
        acquire()
        assert calls_of_scripts(view) - before == 1


def test_a_block_that_gets_no_permit_has_asked_once(own_server: Server, name: str) -> None:
    with redlatch.connect(own_server.url) as client, own_server.view() as view:

        def enter(client: Client) -> None:
            with pytest.raises(redlatch.NotAcquiredError), client.get_semaphore(name, wait=0):
                pass

        enter(client)
        before = calls_of_scripts(view)
        enter(client)
        assert calls_of_scripts(view) - before == 1


@pytest.mark.parametrize("kind", ACQUIRES)
async def test_a_task_that_gets_no_permit_has_asked_once(own_server: Server, name: str, kind: str) -> None:
    async with aio.connect(own_server.url) as client:

        async def acquire() -> None:
            with pytest.raises(redlatch.NotAcquiredError):
                await ACQUIRES[kind](client, name)

        await acquire()
        with own_server.view() as view:
            before = calls_of_scripts(view)
            await acquire()
            assert calls_of_scripts(view) - before == 1
