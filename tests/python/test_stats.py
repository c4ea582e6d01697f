"""The figures of a client."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

import redlatch
from eventually import until_true
from redlatch import Client, Stats
from redlatch.aio import AsyncClient
from servers import Server
from view import View


@pytest.fixture
def fresh(server: Server) -> Client:
    return redlatch.connect(server.url)


def test_acquires_and_releases_are_counted(
    fresh: Client, stranger: Client, name: str, thread: ThreadPoolExecutor
) -> None:
    before = fresh.stats()
    assert isinstance(before, Stats)
    assert before[:8] == (0,) * 8
    assert set(before.lost.values()) == {0}
    hold = stranger.lock(name).lock()
    with pytest.raises(redlatch.NotAcquiredError):
        fresh.lock(name, wait=0.05).lock()
    waiting = thread.submit(fresh.lock(name, wait=20).lock)
    until_true(lambda: fresh.stats().waiting == 1, "a waiter")
    hold.release()
    mine = waiting.result(20)
    stats = fresh.stats()
    assert (stats.held, stats.waiting, stats.acquired, stats.not_acquired, stats.failed) == (1, 0, 1, 1, 0)
    assert stats.waited >= 0.05
    mine.release()
    stats = fresh.stats()
    assert (stats.held, stats.released) == (0, 1)
    assert stats.held_for > 0
    fresh.close()
    assert fresh.stats() == stats


def test_a_loss_is_counted_under_the_word_of_its_reason(fresh: Client, view: View, name: str) -> None:
    hold = fresh.lock(name).lock()
    view("DEL", name)
    until_true(lambda: fresh.stats().held == 0, "the loss")
    with pytest.raises(redlatch.LockLostError) as lost:
        hold.release()
    counted = fresh.stats().lost
    assert {word: count for word, count in counted.items() if count} == {lost.value.reason: 1}
    fresh.close()


async def test_tasks_are_counted_as_threads_are(aio_client: AsyncClient, client: Client, name: str) -> None:
    before = aio_client.stats()
    with client.lock(name):
        waiting = asyncio.ensure_future(aio_client.lock(name).lock())
        while aio_client.stats().waiting == 0:
            await asyncio.sleep(0.001)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    async with aio_client.lock(name):
        assert aio_client.stats().held == 1
    stats = aio_client.stats()
    assert (stats.held, stats.waiting, stats.not_acquired, stats.failed) == (0, 0, 0, 0)
    assert (stats.acquired - before.acquired, stats.cancelled - before.cancelled) == (1, 1)
    assert stats.released - before.released == 1
