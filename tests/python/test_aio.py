"""Locks in asyncio: blocks, owners, holds, decorators."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import AsyncIterator
from typing import Any

import pytest

import redlatch
from eventually import until_true
from redlatch import Client, aio
from redlatch.aio import AsyncClient
from view import View

pytestmark = pytest.mark.usefixtures("every_loop")


async def test_a_block_runs_under_the_lock(aio_client: AsyncClient, view: View, name: str) -> None:
    lock = aio_client.get_lock(name)
    async with lock as hold:
        assert isinstance(hold, aio.Hold)
        assert hold
        assert view("HGETALL", name) == [f"{aio_client.id}:{hold.owner}", "1"]
    assert view("EXISTS", name) == 0


async def test_a_client_connects_at_its_first_call_and_ends_with_its_block(server: Any, name: str) -> None:
    async with aio.connect(server.url) as client:
        assert isinstance(client, AsyncClient)
        await client.ping()
        hold = await client.get_lock(name).lock()
    assert client.closed
    assert (hold.lost, hold.lost_reason) == (True, "closed")
    with pytest.raises(redlatch.ClosedError):
        await client.get_lock(name).lock()


@pytest.mark.parametrize("get", ["lock", "get_lock"])
async def test_a_method_has_its_own_name_and_signature(aio_client: AsyncClient, name: str, get: str) -> None:
    lock = getattr(aio_client, get)(name)
    for method, parameters in {"acquire": ["blocking", "timeout"], "unlock": [], "release": []}.items():
        bound = getattr(lock, method)
        assert inspect.iscoroutinefunction(bound)
        assert (bound.__name__, list(inspect.signature(bound).parameters)) == (method, parameters)


async def test_blocks_of_one_task_nest(aio_client: AsyncClient, name: str) -> None:
    lock = aio_client.get_lock(name)
    async with lock, lock, aio_client.get_lock(name):
        assert await lock.hold_count() == 3
    assert not await lock.is_locked()


async def test_every_task_is_an_owner_of_its_own(aio_client: AsyncClient, name: str) -> None:
    lock = aio_client.get_lock(name)

    async def other() -> tuple[bool, object]:
        return await lock.is_held_by_current_thread(), await lock.try_lock()

    async with lock:
        assert await lock.is_held_by_current_thread()
        # A task inherits the context of the task that starts it, but not its holds.
        assert await asyncio.create_task(other()) == (False, None)
        assert await contextvars.copy_context().run(asyncio.create_task, other()) == (False, None)


async def test_tasks_exclude_each_other(aio_client: AsyncClient, name: str) -> None:
    inside, most = 0, 0

    async def work() -> None:
        nonlocal inside, most
        for _ in range(20):
            async with aio_client.get_lock(name):
                inside += 1
                most = max(most, inside)
                await asyncio.sleep(0)
                inside -= 1

    await asyncio.gather(*(work() for _ in range(10)))
    assert most == 1


async def test_a_hold_is_released_by_any_task(aio_client: AsyncClient, name: str) -> None:
    lock = aio_client.get_lock(name)
    hold = await lock.lock()

    async def other() -> None:
        with pytest.raises(redlatch.NotHeldError, match=f"`{name}`"):
            await lock.unlock()
        await hold.release()

    await asyncio.create_task(other())
    assert not await lock.is_locked()
    with pytest.raises(redlatch.NotHeldError):
        await hold.release()


async def test_an_owner_that_is_given_is_the_same_in_every_task(aio_client: AsyncClient, name: str) -> None:
    lock = aio_client.get_lock(name, owner=7)
    async with lock as hold:
        assert hold.owner == 7
        again = await asyncio.create_task(lock.lock())
        assert await lock.hold_count() == 2
        await asyncio.create_task(lock.unlock())
        with pytest.raises(redlatch.NotHeldError):
            await again.release()


async def test_a_block_is_never_entered_without_the_lock(aio_client: AsyncClient, client: Client, name: str) -> None:
    entered = False
    with client.lock(name):
        for wait in (0, 0.05):
            with pytest.raises(redlatch.NotAcquiredError, match=f"`{name}` was not acquired within"):
                async with aio_client.get_lock(name, wait=wait):
                    entered = True
        assert await aio_client.get_lock(name).try_lock() is None
        assert await aio_client.get_lock(name).acquire(False) is None
    assert not entered


async def test_an_error_of_the_release_never_hides_one_of_the_body(
    aio_client: AsyncClient, view: View, name: str
) -> None:
    lock = aio_client.get_lock(name)
    with pytest.raises(redlatch.LockLostError):
        async with lock:
            view("DEL", name)
    for block in (lock, await lock.lock()):
        with pytest.raises(ZeroDivisionError):
            async with block:
                view("DEL", name)
                _ = 1 / 0


async def test_blocks_of_generators_may_end_in_any_order(aio_client: AsyncClient, name: str) -> None:
    async def under(lock: aio.Lock) -> AsyncIterator[None]:
        async with lock:
            yield

    a, b = aio_client.get_lock(f"{name}:a"), aio_client.get_lock(f"{name}:b")
    first, second = under(a), under(b)
    await first.__anext__()
    await second.__anext__()
    assert [_ async for _ in first] == []
    assert (await a.is_locked(), await b.is_locked()) == (False, True)
    assert [_ async for _ in second] == []
    assert not await b.is_locked()


async def test_a_block_that_ends_in_another_task_releases_its_hold(aio_client: AsyncClient, name: str) -> None:
    lock = aio_client.get_lock(name)
    await lock.__aenter__()

    async def leave() -> None:
        await lock.__aexit__(None, None, None)

    await asyncio.create_task(leave())
    assert not await lock.is_locked()
    with pytest.raises(redlatch.NotHeldError, match="no block of this lock object is open"):
        await leave()


async def test_a_lock_of_asyncio_keeps_the_contract_of_rlock(aio_client: AsyncClient, name: str) -> None:
    lock = aio_client.get_lock(name)
    assert await lock.acquire()
    assert await lock.acquire(timeout=1)
    assert await lock.locked()
    await lock.release()
    await lock.release()
    assert not await lock.locked()
    with pytest.raises(RuntimeError):
        await lock.release()
    with pytest.raises(ValueError, match="leave one of them out"):
        await lock.acquire(False, 1)


async def test_a_lock_answers_questions_about_its_state(aio_client: AsyncClient, client: Client, name: str) -> None:
    lock = aio_client.get_lock(name)
    assert await lock.remain_time_to_live() is None
    hold = await lock.lock(lease=20)
    left = await lock.remain_time_to_live()
    assert left is not None
    assert 15 < left <= 20
    assert 15 < hold.remaining <= 20
    hold.ensure()
    assert await lock.force_unlock()
    assert not await lock.force_unlock()
    assert lock.client is aio_client
    assert name in repr(lock)
    assert "redlatch.aio" in repr(hold)


async def test_a_decorated_coroutine_function_runs_under_the_lock(aio_client: AsyncClient, name: str) -> None:
    lock = aio_client.get_lock(name)

    @lock
    async def count(extra: int, *, more: int = 0) -> int:
        """Counts."""
        return await lock.hold_count() + extra + more

    assert await count(10, more=100) == 111
    assert (count.__name__, count.__doc__) == ("count", "Counts.")
    assert not await lock.is_locked()


async def test_a_decorating_lock_is_named_by_the_arguments_of_each_call(aio_client: AsyncClient, name: str) -> None:
    @aio_client.get_fair_lock(name + ":{order}")
    async def locked(order: int) -> tuple[bool, bool]:
        locks = aio_client.get_fair_lock(f"{name}:{order}"), aio_client.get_fair_lock(f"{name}:0")
        return await locks[0].is_held_by_current_thread(), await locks[1].is_locked()

    assert await asyncio.gather(*(locked(order) for order in range(1, 5))) == [(True, False)] * 4
    with pytest.raises(redlatch.ConfigError, match="does not take"):

        @aio_client.get_lock("{order}")
        async def nothing() -> None: ...


async def test_a_function_that_would_run_without_the_lock_is_not_decorated(aio_client: AsyncClient, name: str) -> None:
    async def generator() -> AsyncIterator[None]:
        yield

    for function in (generator, len, lambda: None):
        with pytest.raises(redlatch.UnsupportedError, match=f"`{name}` cannot decorate"):
            aio_client.get_lock(name)(function)  # type: ignore[type-var]
    with pytest.raises(redlatch.ConfigError, match="not 5"):
        aio_client.get_lock(name)(5)  # type: ignore[type-var]


async def test_a_task_that_blocks_its_loop_does_not_keep_back_requests_of_other_tasks(
    aio_client: AsyncClient, client: Client, name: str
) -> None:
    async def release(lock: str, releasing: asyncio.Event) -> None:
        hold = await aio_client.get_lock(lock).lock()
        releasing.set()
        await hold.release()

    async def block_until_released(lock: str, releasing: asyncio.Event) -> None:
        async with aio_client.get_lock(f"{lock}:other"):
            await releasing.wait()
            until_true(lambda: taken(lock), "a lock that was released")

    def taken(lock: str) -> bool:
        hold = client.lock(lock).try_lock()
        if hold is not None:
            hold.release()
        return hold is not None

    for i in range(100):
        releasing = asyncio.Event()
        await asyncio.gather(release(f"{name}:{i}", releasing), block_until_released(f"{name}:{i}", releasing))
