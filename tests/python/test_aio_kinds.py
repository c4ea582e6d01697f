"""Every kind of lock in asyncio, with a client for threads on the same keys."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, Callable

import pytest

import loops
import redlatch
from eventually import until_true
from kinds import FENCED, LOCKS, NON_REENTRANT
from redlatch import Client, aio
from redlatch.aio import AsyncClient
from servers import Server
from view import View


@pytest.mark.parametrize("get", LOCKS)
async def test_a_task_and_a_thread_exclude_each_other(
    aio_client: AsyncClient, client: Client, name: str, get: str
) -> None:
    ours: aio.Lock = getattr(aio_client, get)(name)
    theirs: redlatch.Lock = getattr(client, get)(name, owner=1)
    async with ours as hold:
        assert type(ours).__name__ == type(theirs).__name__
        assert theirs.is_locked()
        assert theirs.try_lock() is None
        assert hold.remaining > 0
    with theirs:
        assert await ours.try_lock(wait=0.02) is None
        waiting = asyncio.create_task(ours.lock(wait=20))
        await asyncio.sleep(0)
    await (await waiting).release()
    assert not theirs.is_locked()


async def test_a_release_of_a_task_wakes_a_thread(
    aio_client: AsyncClient, client: Client, view: View, name: str
) -> None:
    hold = await aio_client.get_lock(name).lock()
    waiting = asyncio.create_task(asyncio.to_thread(client.get_lock(name).lock, wait=20))
    await asyncio.to_thread(until_true, lambda: view.listeners(name) == 1, "a thread that listens")
    await hold.release()
    (await waiting).release()


@pytest.mark.parametrize("get", NON_REENTRANT)
async def test_a_task_gets_an_error_at_a_second_acquire_of_a_non_reentrant_lock(
    aio_client: AsyncClient, name: str, get: str
) -> None:
    lock: aio.Lock = getattr(aio_client, get)(name)
    async with lock:
        with pytest.raises(redlatch.AlreadyHeldError):
            await lock.lock()


@pytest.mark.parametrize("get", FENCED)
async def test_fencing_tokens_grow(aio_client: AsyncClient, client: Client, name: str, get: str) -> None:
    lock = getattr(aio_client, get)(name)
    assert await lock.get_token() == 0
    async with lock as first:
        pass
    with getattr(client, get)(name, owner=1) as between:
        pass
    async with lock as last:
        assert await lock.get_token() == last.token
    assert first.token is not None
    assert between.token is not None
    assert last.token is not None
    assert first.token < between.token < last.token


async def test_many_tasks_read_or_one_task_writes(aio_client: AsyncClient, name: str) -> None:
    both = aio_client.get_read_write_lock(name)

    async def read() -> object:
        return await both.read_lock.try_lock()

    async with both.read_lock:
        hold = await asyncio.create_task(both.read_lock.lock())
        assert await asyncio.create_task(both.write_lock.try_lock()) is None
        await hold.release()
    async with both.write_lock:
        assert await asyncio.create_task(read()) is None
        async with both.read_lock:
            assert await both.read_lock.hold_count() == 1


async def test_a_multi_lock_takes_all_of_its_locks_or_none(aio_client: AsyncClient, client: Client, name: str) -> None:
    a, b = aio_client.get_lock(name + "a"), aio_client.get_fair_lock(name + "b")
    both = aio_client.get_multi_lock(a, b)
    async with both:
        assert client.get_lock(name + "a").is_locked()
        assert client.get_fair_lock(name + "b").is_locked()
    with client.get_fair_lock(name + "b", owner=1):
        assert await both.try_lock(wait=0.05) is None
        assert not await a.is_locked()
    with pytest.raises(redlatch.ConfigError, match="get_lock"):
        aio_client.get_multi_lock(client.get_lock(name))  # type: ignore[call-overload]


async def test_a_lock_of_values_excludes_another_lock_with_one_of_them(
    aio_client: AsyncClient, client: Client, name: str
) -> None:
    async with aio_client.get_multi_lock(name, values=["a", "b"]) as hold:
        assert hold.name == name
        assert client.get_multi_lock(name, values=["b", "c"], owner=1).try_lock() is None
        async with aio_client.get_multi_lock(name, values=["c"]):
            pass
    client.get_multi_lock(name, values=["b", "c"], owner=1).lock().release()

    @aio_client.get_multi_lock(name + "{end}", values=["a"])
    async def decorated(end: str) -> object:
        return client.get_multi_lock(name + end, values=["a", "b"], owner=1).try_lock()

    assert await decorated("x") is None
    with pytest.raises(redlatch.ConfigError, match="belong to one group"):
        aio_client.get_multi_lock(name, name, values=["a"])  # type: ignore[call-overload]


@pytest.fixture
def servers() -> Iterator[list[Server]]:
    servers = [Server() for _ in range(3)]
    yield servers
    for server in servers:
        server.close()


async def test_a_red_lock_works_with_a_majority_of_its_servers(servers: list[Server], name: str) -> None:
    urls = [server.url for server in servers]
    servers[1].close()
    lock, other = aio.red_lock(urls, name, wait=20), aio.red_lock(urls, name)
    async with lock as hold:
        assert await asyncio.create_task(other.try_lock()) is None
        hold.ensure()
    await other.client.close()
    with pytest.raises(redlatch.ConfigError, match="three or five"):
        aio.red_lock([], name)


async def test_permits_are_taken_and_given_back(aio_client: AsyncClient, client: Client, name: str) -> None:
    semaphore, theirs = aio_client.get_semaphore(name), client.get_semaphore(name)
    with pytest.raises(redlatch.NotAcquiredError, match="were never set"):
        await semaphore.acquire(wait=0)
    assert await semaphore.try_set_permits(3)
    assert not await semaphore.try_set_permits(4)
    async with semaphore:
        assert theirs.available_permits() == 2
        assert not await semaphore.try_acquire(3)
        waiting = asyncio.create_task(semaphore.acquire(3, wait=20))
    await waiting
    assert await semaphore.available_permits() == 0
    await semaphore.release(3)
    await semaphore.add_permits(-1)
    assert await semaphore.drain_permits() == 2
    assert await semaphore.release_if_exists(2)
    assert await semaphore.delete()
    assert not await semaphore.release_if_exists()


async def test_permits_of_tasks_have_ids_and_leases(aio_client: AsyncClient, client: Client, name: str) -> None:
    semaphore, theirs = aio_client.get_permit_expirable_semaphore(name), client.get_permit_expirable_semaphore(name)
    assert await semaphore.try_set_permits(3)
    async with await semaphore.acquire(lease=20) as permit:
        assert isinstance(permit, str)
        left = await semaphore.lease_time(permit)
        assert left is not None
        assert 15 < left <= 20
        assert await semaphore.update_lease(permit, None)
        assert (await semaphore.acquired_permits(), theirs.available_permits()) == (1, 2)
    many = await semaphore.acquire_many(3)
    assert await semaphore.try_acquire() is None
    with pytest.raises(redlatch.NotAcquiredError):
        await semaphore.acquire_many(2, wait=0)
    theirs.release(*many)
    with pytest.raises(redlatch.NotHeldError, match="are not out"):
        await semaphore.release(*many)
    assert not await semaphore.try_release(many[0])
    await semaphore.set_permits(1)
    await semaphore.add_permits(1)
    assert await semaphore.get_permits() == 2
    with pytest.raises(redlatch.ConfigError, match="leave one of them out"):
        await semaphore.acquire(lease=1, renew=True)
    with pytest.raises(redlatch.ConfigError, match="32 hexadecimal"):
        await semaphore.release("5")
    assert await semaphore.delete()


async def test_a_renewed_permit_tells_of_its_loss(aio_client: AsyncClient, name: str) -> None:
    semaphore = aio_client.get_permit_expirable_semaphore(name)
    await semaphore.try_set_permits(2)
    async with await semaphore.acquire(renew=True) as kept:
        assert kept.hold is not None
        lost = await semaphore.acquire(renew=True)
        assert lost.hold is not None
        await semaphore.release(lost)
        assert await lost.hold.wait_lost(20)
        kept.hold.ensure()
    assert await semaphore.available_permits() == 2


async def test_a_latch_lets_all_waiters_go_at_zero(aio_client: AsyncClient, client: Client, name: str) -> None:
    latch = aio_client.get_count_down_latch(name)
    assert await latch.try_set_count(2)
    assert not await latch.wait(0)
    waiting = [asyncio.create_task(latch.wait(20)) for _ in range(5)]
    await latch.count_down()
    assert await latch.get_count() == 1
    client.get_count_down_latch(name).count_down()
    assert await asyncio.gather(*waiting) == [True] * 5
    assert not await latch.delete()


CALLS: list[Callable[[AsyncClient, Any], Any]] = [
    lambda client, bad: client.get_lock("n").lock(wait=bad),
    lambda client, bad: client.get_lock("n").lock(lease=bad),
    lambda client, bad: client.get_lock("n").try_lock(wait=bad),
    lambda client, bad: client.get_semaphore("n").try_set_permits(1, ttl=bad),
    lambda client, bad: client.get_semaphore("n").try_acquire(wait=bad),
    lambda client, bad: client.get_count_down_latch("n").wait(bad),
    lambda client, bad: client.get_permit_expirable_semaphore("n").try_acquire(lease=bad),
]


@pytest.mark.parametrize("call", CALLS)
async def test_bad_times_are_refused(
    aio_client: AsyncClient, view: View, call: Callable[[AsyncClient, Any], Any]
) -> None:
    for bad in (-1, float("nan"), float("inf"), "5", b"5", True, 10**400):
        with pytest.raises(redlatch.ConfigError, match=r"^(wait|lease|ttl) is "):
            await call(aio_client, bad)
    assert view("EXISTS", "n") == 0


def test_bad_names_and_owners_are_refused(server: Server) -> None:
    client = aio.connect(server.url)
    getters = {get for get in dir(client) if get.startswith("get_")} - {"get_multi_lock", "get_red_lock"}
    for name in (None, 5, b"bytes", "lone \udc80 surrogate"):
        for get in getters:
            with pytest.raises(redlatch.ConfigError, match=r"^the name of a \w+ is "):
                getattr(client, get)(name)
    with pytest.raises(redlatch.ConfigError, match="owner is -1"):
        client.get_lock("n", owner=-1)
    with pytest.raises(redlatch.ConfigError, match="has 10000000 bytes"):
        loops.run(client.get_lock("n" * 10**7).lock())
    with pytest.raises(redlatch.ConfigError, match="is empty"):
        loops.run(client.get_lock("").lock())
    loops.run(client.close())
