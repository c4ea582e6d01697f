"""A call that is cancelled at any moment leaves no lock of a system with sessions, and no place in its queue."""

from __future__ import annotations

import asyncio

import pytest

from cancelling import cancel_at_random, ways
from loops import until
from redlatch import aio
from system import System
from systems import every_lock, every_system, lock_of

pytestmark = pytest.mark.usefixtures("every_loop")


async def is_empty(system: System) -> bool:
    return system.is_empty()


@pytest.mark.parametrize("contended", [False, True], ids=["alone", "in line"])
@every_lock
async def test_cancelled_acquires_leave_nothing(system: System, name: str, get: str, contended: bool) -> None:
    stop = False

    async def contend(lock: aio.Lock) -> None:
        while not stop:
            if hold := await lock.try_lock(wait=20):
                await asyncio.sleep(0)
                await hold.release()

    async with aio.connect(system.url) as client, aio.connect(system.url) as stranger:
        # A session whose begin is cancelled would last for its time, without a node.
        await client.ping()
        lock: aio.Lock = lock_of(client, get, name)
        # One owner may take only some of them twice.
        works = ways(lock) if get in system.REENTRANT else ways(lock)[:3]
        rivals = [asyncio.create_task(contend(lock_of(of, get, name))) for of in (client, stranger) if contended]
        await cancel_at_random(works)
        stop = True
        await asyncio.gather(*rivals)
        # The clients are open: a hold or a waiter that was left would stay.
        await until(lambda: is_empty(system), "a server on which no client has or wants a lock")
        for each in (client, stranger):
            hold = await lock_of(each, get, name).lock(wait=10)
            assert system.holder(name)
            await hold.release()


@every_system
async def test_a_cancelled_waiter_leaves_the_servers_queue_at_once(system: System, name: str) -> None:
    async with aio.connect(system.url) as client, aio.connect(system.url) as stranger:
        async with stranger.lock(name):
            waiting = asyncio.create_task(client.lock(name).lock())

            async def waiters(count: int) -> bool:
                return system.waiting(name) == count

            await until(lambda: waiters(1), "a waiter in the server's queue")
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            await until(lambda: waiters(0), "the end of its wait at the server")
        async with client.lock(name, wait=10):
            pass


@every_system
async def test_a_release_that_is_cancelled_is_carried_out(system: System, name: str) -> None:
    async with aio.connect(system.url) as client:
        for _ in range(50):
            hold = await client.lock(name).lock()
            releasing = asyncio.create_task(hold.release())
            await asyncio.sleep(0)
            releasing.cancel()
            await asyncio.gather(releasing, return_exceptions=True)
            await until(lambda: is_empty(system), "a lock that is free")


@every_system
async def test_a_time_out_of_asyncio_leaves_nothing(system: System, name: str) -> None:
    async with aio.connect(system.url) as client, aio.connect(system.url) as stranger:
        async with stranger.lock(name):
            for limit in (0, 0.001, 0.02, 0.2):
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(client.lock(name).lock(), limit)
        await until(lambda: is_empty(system), "a server on which no client has or wants a lock")
        async with client.lock(name, wait=10):
            pass
