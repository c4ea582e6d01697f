"""A call for a lock of ZooKeeper that is cancelled at any moment leaves no lock, and no place in the server's queue."""

from __future__ import annotations

import asyncio

import pytest

from cancelling import cancel_at_random, ways
from loops import until
from redlatch import aio
from zookeeper import LOCKS, REENTRANT, Tree, lock_of

pytestmark = pytest.mark.usefixtures("every_loop")


async def is_empty(tree: Tree) -> bool:
    return not tree.nodes()


@pytest.mark.parametrize("contended", [False, True], ids=["alone", "in line"])
@pytest.mark.parametrize("get", LOCKS)
async def test_cancelled_acquires_leave_nothing(tree: Tree, name: str, get: str, contended: bool) -> None:
    stop = False

    async def contend(lock: aio.Lock) -> None:
        while not stop:
            if hold := await lock.try_lock(wait=20):
                await asyncio.sleep(0)
                await hold.release()

    async with aio.connect(tree.url) as client, aio.connect(tree.url) as stranger:
        # A session whose begin is cancelled would last for its time, without a node.
        await client.ping()
        lock: aio.Lock = lock_of(client, get, name)
        # One owner may take only some of them twice.
        works = ways(lock) if get in REENTRANT else ways(lock)[:3]
        rivals = [asyncio.create_task(contend(lock_of(of, get, name))) for of in (client, stranger) if contended]
        await cancel_at_random(works)
        stop = True
        await asyncio.gather(*rivals)
        # The clients are open: a hold or a waiter that was left would stay.
        await until(lambda: is_empty(tree), "a server on which no client has or wants a lock")
        for each in (client, stranger):
            hold = await lock_of(each, get, name).lock(wait=10)
            assert len(tree.queue(name)) == 1
            await hold.release()


async def test_a_cancelled_waiter_leaves_the_servers_queue_at_once(tree: Tree, name: str) -> None:
    async with aio.connect(tree.url) as client, aio.connect(tree.url) as stranger:
        async with stranger.lock(name):
            waiting = asyncio.create_task(client.lock(name).lock())

            async def standing(count: int) -> bool:
                return len(tree.queue(name)) == count

            await until(lambda: standing(2), "a waiter in the server's queue")
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            await until(lambda: standing(1), "the end of its wait at the server")
        async with client.lock(name, wait=10):
            pass


async def test_a_release_that_is_cancelled_is_carried_out(tree: Tree, name: str) -> None:
    async with aio.connect(tree.url) as client:
        for _ in range(50):
            hold = await client.lock(name).lock()
            releasing = asyncio.create_task(hold.release())
            await asyncio.sleep(0)
            releasing.cancel()
            await asyncio.gather(releasing, return_exceptions=True)
            await until(lambda: is_empty(tree), "a lock that is free")


async def test_a_wait_for_a_permit_that_is_cancelled_leaves_nothing(tree: Tree, name: str) -> None:
    async with aio.connect(tree.url) as client, aio.connect(tree.url) as stranger:
        await client.get_permit_expirable_semaphore(name).set_permits(1)
        permit = await stranger.get_permit_expirable_semaphore(name).acquire(renew=True)
        permits = client.get_permit_expirable_semaphore(name)
        for limit in (0, 0.001, 0.02, 0.2):
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(permits.acquire(wait=None, renew=True), limit)

        async def is_alone() -> bool:
            return len(tree.nodes()) == 1

        await until(is_alone, "a server on which no client wants a permit")
        await permit.release()
        await (await permits.acquire(wait=10, renew=True)).release()
