"""A call that is cancelled at any moment leaves nothing behind: no lock, permit, place in line or subscription."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from cancelling import beside_a_loaded_machine, cancel_at_random, ways
from kinds import LOCKS, NON_REENTRANT
from loops import until
from redlatch import aio
from redlatch.aio import AsyncClient
from servers import Server
from view import View

pytestmark = pytest.mark.usefixtures("every_loop")


@pytest.mark.parametrize("contended", [False, True], ids=["alone", "in line"])
@pytest.mark.parametrize("get", LOCKS)
async def test_cancelled_acquires_of_a_lock_leave_nothing(
    own_server: Server, name: str, get: str, contended: bool
) -> None:
    stop = False

    async def contend(lock: aio.Lock) -> None:
        while not stop:
            # The others do not keep it for long, however loaded the machine is.
            if hold := await lock.try_lock(wait=20):
                await asyncio.sleep(0)
                await hold.release()

    async with aio.connect(own_server.url) as client, aio.connect(own_server.url) as stranger:
        lock: aio.Lock = getattr(client, get)(name)
        works = ways(lock)[:3] if get in NON_REENTRANT else ways(lock)
        rivals = [asyncio.create_task(contend(getattr(of, get)(name))) for of in (client, stranger) if contended]
        await cancel_at_random(works)
        stop = True
        await asyncio.gather(*rivals)
        # The clients are open, so a hold that was left would be renewed.
        with own_server.view() as view:

            async def is_empty() -> bool:
                # The key of a fencing token stays for ever.
                left = [key for key in cast("list[str]", view("KEYS", f"*{name}*")) if "token" not in key]
                return not left and view.listeners(name) == 0

            await until(is_empty, "a server without a trace")
            # A request may have been on its way to the server at that moment. Its lock is released as well.
            async with lock:
                pass
            await until(is_empty, "a server without a trace")


async def test_cancelled_acquires_of_permits_leave_nothing(aio_client: AsyncClient, name: str) -> None:
    semaphore = aio_client.get_semaphore(name)
    with_ids = aio_client.get_permit_expirable_semaphore(f"{name}:ids")
    await semaphore.try_set_permits(2)
    await with_ids.try_set_permits(2)

    async def take() -> None:
        async with semaphore:
            with beside_a_loaded_machine():
                await semaphore.acquire(wait=0.01)
                await semaphore.release()

    async def take_by_id() -> None:
        with beside_a_loaded_machine():
            async with await with_ids.acquire(wait=0.01):
                await asyncio.sleep(0)

    async def take_renewed() -> None:
        async with await with_ids.acquire(renew=True):
            await asyncio.sleep(0)

    await cancel_at_random([take, take_by_id, take_renewed])

    async def are_all_there() -> bool:
        return await semaphore.available_permits() == 2 and await with_ids.available_permits() == 2

    await until(are_all_there, "all permits")


async def test_cancelled_acquires_of_a_multi_lock_leave_nothing(aio_client: AsyncClient, name: str) -> None:
    locks = [aio_client.get_lock(f"{name}{i}") for i in range(3)]

    async def all_of_them() -> None:
        async with aio_client.get_multi_lock(*locks):
            await asyncio.sleep(0)

    await cancel_at_random([all_of_them, *ways(locks[1])])

    async def are_free() -> bool:
        return not any([await lock.is_locked() for lock in locks])

    await until(are_free, "locks that are free")


async def test_a_cancelled_waiter_gives_up_its_place_at_once(aio_client: AsyncClient, view: View, name: str) -> None:
    lock = aio_client.get_fair_lock(name)
    async with lock:
        waiting = [asyncio.create_task(lock.lock()) for _ in range(3)]

        async def are_in_line() -> bool:
            return view("LLEN", f"redisson_lock_queue:{{{name}}}") == len(waiting)

        await until(are_in_line, "waiters in line")
        before = asyncio.get_running_loop().time()
        waiting[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting.pop(0)
        assert asyncio.get_running_loop().time() - before < 2
        await until(are_in_line, "one waiter less")
    for task in waiting:
        await (await task).release()


async def test_cancelling_does_not_wait_for_a_server_that_is_silent(own_server: Server, name: str) -> None:
    async with aio.connect(own_server.url) as client:
        await client.ping()
        own_server.pause()
        try:
            task = asyncio.create_task(client.get_lock(name).lock())
            await asyncio.sleep(0.01)
            task.cancel()
            done, _ = await asyncio.wait([task], timeout=2)
            assert done == {task}
        finally:
            own_server.resume()
        assert task.cancelled()
        lock = client.get_lock(name)

        async def is_free() -> bool:
            return not await lock.is_locked()

        await until(is_free, "the lock given back")


async def test_a_release_that_is_cancelled_is_carried_out(aio_client: AsyncClient, name: str) -> None:
    lock = aio_client.get_lock(name)
    for _ in range(50):
        hold = await lock.lock()
        releasing = asyncio.create_task(hold.release())
        await asyncio.sleep(0)
        releasing.cancel()
        await asyncio.gather(releasing, return_exceptions=True)

        async def is_free() -> bool:
            return not await lock.is_locked()

        await until(is_free, "a lock that is free")


async def test_a_time_out_of_asyncio_leaves_nothing(aio_client: AsyncClient, name: str) -> None:
    async with aio_client.get_lock(name):
        for limit in (0, 0.001, 0.02):
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(aio_client.get_lock(name, owner=7).lock(), limit)
    await (await aio_client.get_lock(name).lock(wait=20)).release()

    async def is_free() -> bool:
        return not await aio_client.get_lock(name).is_locked()

    await until(is_free, "a lock that is free")
