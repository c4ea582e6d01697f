"""During an outage every kind of lock raises UnavailableError, and does not claim that another owner holds the lock."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import redlatch
from eventually import until_true
from kinds import LOCKS
from redlatch import aio
from servers import Server, free_port

QUICK = "?connect_timeout=1&response_timeout=2&retry_for=2&watchdog=60"
WAITS = [0, 0.3, 1]


def _trying(get: str) -> Callable[[Any, float], Any]:
    return lambda client, wait: getattr(client, get)("n").try_lock(wait=wait)


# How a client for threads or for tasks tries each kind.
TRIES: dict[str, Callable[[Any, float], Any]] = {
    **{get: _trying(get) for get in LOCKS},
    "read": lambda client, wait: client.get_read_write_lock("n").read_lock.try_lock(wait=wait),
    "write": lambda client, wait: client.get_read_write_lock("n").write_lock.try_lock(wait=wait),
    "group": lambda client, wait: client.get_multi_lock(client.get_lock("n"), client.get_lock("m")).try_lock(wait=wait),
    "promised": lambda client, wait: client.get_lock("n").lock(wait=wait),
    "semaphore": lambda client, wait: client.get_semaphore("n").try_acquire(wait=wait),
    "latch": lambda client, wait: client.get_count_down_latch("n").wait(wait),
    "permits": lambda client, wait: client.get_permit_expirable_semaphore("n").try_acquire(wait=wait),
    # These set the permits first.
    "semaphore of 3": lambda client, wait: client.get_semaphore("n", permits=3).try_acquire(wait=wait),
    "permits of 3": lambda client, wait: client.get_permit_expirable_semaphore("n", permits=3).try_acquire(wait=wait),
}


@pytest.fixture(params=["nothing listens", "nothing is answered", "it stands still"])
def down(request: pytest.FixtureRequest, own_server: Server) -> Iterator[str]:
    """The URL of a server that is down."""
    if request.param == "nothing listens":
        yield f"redis://127.0.0.1:{free_port()}{QUICK}"
    elif request.param == "nothing is answered":
        with socket.create_server(("127.0.0.1", 0), backlog=128) as hole:
            yield f"redis://127.0.0.1:{hole.getsockname()[1]}{QUICK}"
    else:
        own_server.pause()
        yield own_server.url + QUICK
        own_server.resume()


def is_plain(error: BaseException, wait: float) -> None:
    assert isinstance(error, redlatch.UnavailableError), repr(error)
    assert "another owner" not in str(error)
    assert wait == 0 or "no answer came during the wait of" in str(error), error


def test_threads_get_unavailable_error_during_an_outage(down: str) -> None:
    def ask(cell: tuple[str, float]) -> None:
        kind, wait = cell
        with redlatch.connect(down) as client, pytest.raises(redlatch.RedlatchError) as told:
            TRIES[kind](client, wait)
        is_plain(told.value, wait)

    cells = [(kind, wait) for kind in TRIES for wait in WAITS]
    with ThreadPoolExecutor(len(cells)) as pool:
        list(pool.map(ask, cells))


def test_tasks_get_unavailable_error_during_an_outage(down: str) -> None:
    async def ask(kind: str, wait: float) -> None:
        async with aio.connect(down) as client:
            tried: Awaitable[object] = TRIES[kind](client, wait)
            with pytest.raises(redlatch.RedlatchError) as told:
                await tried
        is_plain(told.value, wait)

    async def table() -> None:
        await asyncio.gather(*(ask(kind, wait) for kind in TRIES for wait in WAITS))

    asyncio.run(table())


def test_an_error_names_another_owner_only_if_the_server_did(own_server: Server) -> None:
    url = own_server.url + QUICK
    with redlatch.connect(url) as holder, redlatch.connect(url) as client:
        holder.get_lock("n").lock()
        with pytest.raises(redlatch.NotAcquiredError, match="another owner holds it"):
            client.get_lock("n").lock(wait=1)
        own_server.pause()
        with pytest.raises(redlatch.UnavailableError, match="no answer came during the wait of 1s"):
            client.get_lock("n").lock(wait=1)
        own_server.resume()


def test_the_error_of_a_wait_in_quarantine_names_the_quarantine(own_server: Server) -> None:
    with redlatch.connect(own_server.url, quarantine=True, watchdog=60) as client:
        lock = client.get_lock("n")
        semaphore = client.get_semaphore("s")
        for promise in (
            lambda: lock.lock(wait=1),
            lambda: client.get_multi_lock(lock, client.get_lock("m")).lock(wait=1),
            lambda: client.get_lock("n", wait=1).__enter__(),
            lambda: semaphore.acquire(wait=1),
        ):
            with pytest.raises(redlatch.NotAcquiredError, match="quarantine") as told:
                promise()
            assert "another owner" not in str(told.value)

    async def ask() -> None:
        async with aio.connect(own_server.url, quarantine=True, watchdog=60) as client:
            with pytest.raises(redlatch.NotAcquiredError, match="quarantine"):
                await client.get_lock("n").lock(wait=1)
            with pytest.raises(redlatch.NotAcquiredError, match="quarantine"):
                await client.get_semaphore("s").acquire(wait=1)

    asyncio.run(ask())


# Longer than the server carries out a late copy of a call.
OUTAGE = 10


def test_permits_whose_block_ends_during_an_outage_come_back_after_it(own_server: Server) -> None:
    def come_back() -> None:
        time.sleep(OUTAGE)
        own_server.resume()
        until_true(lambda: view.get_semaphore("counted").available_permits() == 1, "the permit is back")
        until_true(lambda: view.get_permit_expirable_semaphore("with id").available_permits() == 1, "it is back")

    async def tasks() -> None:
        async with aio.connect(own_server.url + QUICK) as client:
            permit = await client.get_permit_expirable_semaphore("with id").acquire()
            with pytest.raises(redlatch.UnavailableError):
                async with client.get_semaphore("counted"), permit:
                    own_server.pause()
            await asyncio.to_thread(come_back)

    with redlatch.connect(own_server.url + QUICK) as client, redlatch.connect(own_server.url) as view:
        client.get_semaphore("counted").try_set_permits(1)
        client.get_permit_expirable_semaphore("with id").try_set_permits(1)
        permit = client.get_permit_expirable_semaphore("with id").acquire()
        with pytest.raises(redlatch.UnavailableError), client.get_semaphore("counted"), permit:
            own_server.pause()
        come_back()
        asyncio.run(tasks())
