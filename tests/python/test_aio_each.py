"""Locks for tasks where each acquire is an owner: which hold a release or the end of a block ends, in any task."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import warnings
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

import loops
import redlatch
from callers import in_a_task
from eventually import until_true
from kinds import LOCKS
from loops import Loop
from redlatch import EACH, Client, aio
from redlatch.aio import AsyncClient
from servers import Server
from view import View

pytestmark = pytest.mark.usefixtures("every_loop")


@pytest.mark.parametrize("get", LOCKS)
async def test_every_acquire_excludes_every_other_one_in_the_same_task_too(
    aio_client: AsyncClient, name: str, get: str
) -> None:
    lock = getattr(aio_client, get)(name, owner=EACH)
    async with lock as hold:
        assert await lock.try_lock() is None
        assert await getattr(aio_client, get)(name, owner=EACH).try_lock() is None
        assert hold.remaining > 0
    assert not await lock.is_locked()


async def test_a_multi_lock_of_such_locks_has_an_owner_for_each_acquire_too(aio_client: AsyncClient, name: str) -> None:
    both = aio_client.get_multi_lock(aio_client.lock(f"{name}:a"), aio_client.lock(f"{name}:b"))
    async with both as hold:
        assert await both.try_lock() is None
        hold.ensure()
    assert not await both.is_locked()


async def test_a_release_ends_the_callers_own_latest_hold_first(aio_client: AsyncClient, name: str) -> None:
    readers = aio_client.get_read_write_lock(name, owner=EACH).read_lock
    mine = [await readers.lock(), await readers.lock()]
    theirs: list[aio.Hold] = []
    taken, end = asyncio.Event(), asyncio.Event()

    async def other() -> None:
        theirs.append(await readers.lock())
        taken.set()
        await end.wait()
        await readers.release()

    task = asyncio.create_task(other())
    await taken.wait()
    await readers.release()
    assert [hold.remaining > 0 for hold in (*mine, *theirs)] == [True, False, True]
    end.set()
    await task
    assert [hold.remaining > 0 for hold in (*mine, *theirs)] == [True, False, False]
    await readers.release()
    assert not await readers.is_locked()


async def test_a_release_by_another_caller_finds_a_lost_hold_before_an_open_one(
    aio_client: AsyncClient, view: View, name: str
) -> None:
    lock = aio_client.lock(name)
    lost: aio.Hold = await in_a_task(lock.lock)
    view("DEL", name)
    assert await lost.wait_lost(20)
    later: aio.Hold = await in_a_task(lock.lock)
    with pytest.raises(redlatch.LockLostError):
        await lock.release()
    later.ensure()
    await lock.release()
    assert not await lock.is_locked()


@pytest.mark.parametrize("get", LOCKS)
async def test_any_task_releases_the_only_open_hold(aio_client: AsyncClient, name: str, get: str) -> None:
    lock = getattr(aio_client, get)(name, owner=EACH)
    await in_a_task(lock.acquire)
    await in_a_task(lock.release)
    assert not await lock.is_locked()
    with pytest.raises(redlatch.NotHeldError, match="is not held through this lock object"):
        await lock.release()


async def test_another_task_never_releases_a_readers_hold(aio_client: AsyncClient, name: str) -> None:
    readers = aio_client.get_read_write_lock(name, owner=EACH).read_lock
    hold = await readers.lock()
    with pytest.raises(redlatch.NotHeldError, match="is not held through this lock object"):
        await in_a_task(readers.release)
    hold.ensure()
    await hold.release()


async def test_another_object_of_the_same_name_releases_nothing(aio_client: AsyncClient, name: str) -> None:
    async with aio_client.lock(name) as hold:
        with pytest.raises(redlatch.NotHeldError, match="is not held through this lock object"):
            await aio_client.lock(name).release()
        hold.ensure()


async def test_an_objects_holds_are_counted_and_no_task_is_the_owner(aio_client: AsyncClient, name: str) -> None:
    lock = aio_client.lock(name)
    async with lock:
        assert (await lock.hold_count(), await aio_client.lock(name).hold_count()) == (1, 0)
        with pytest.raises(redlatch.UnsupportedError, match="each acquire is an owner of its own"):
            await lock.is_held_by_current_thread()
    assert await lock.hold_count() == 0


@pytest.mark.parametrize("get", ["lock", "get_lock"])
async def test_a_generator_that_is_dropped_in_its_block_releases_its_hold(
    aio_client: AsyncClient, view: View, name: str, get: str
) -> None:
    async def under_the_lock() -> AsyncIterator[int]:
        async with getattr(aio_client, get)(name):
            for number in range(10):
                yield number

    async for _ in under_the_lock():
        break
    # The loop closes the generator, in a new task.
    gc.collect()
    await asyncio.to_thread(until_true, lambda: view("EXISTS", name) == 0, "a lock that is given back")


@pytest.mark.parametrize("get", ["lock", "get_lock"])
async def test_a_stack_that_another_task_closes_releases_its_hold(
    aio_client: AsyncClient, view: View, name: str, get: str
) -> None:
    stack = AsyncExitStack()
    await stack.enter_async_context(getattr(aio_client, get)(name))
    await in_a_task(stack.aclose)
    assert view("EXISTS", name) == 0


async def test_a_task_releases_a_hold_that_another_task_acquired(
    aio_client: AsyncClient, view: View, name: str
) -> None:
    lock = aio_client.lock(name)
    await asyncio.create_task(lock.acquire())
    await lock.release()
    assert view("EXISTS", name) == 0


async def test_a_release_after_a_miss_releases_nothing(aio_client: AsyncClient, name: str) -> None:
    lock = aio_client.lock(name, wait=0)
    hold: aio.Hold = await in_a_task(lock.lock)
    for miss in (lock.try_lock(), lock.acquire(timeout=0.01), missed(lock.lock()), cancelled(lock.lock(wait=None))):
        assert await miss is None
        with pytest.raises(redlatch.NotHeldError, match="got nothing"):
            await lock.release()
        hold.ensure()
    # The next release may mean the hold of the other task.
    await lock.release()
    assert not await lock.is_locked()


async def missed(acquire: Coroutine[Any, Any, aio.Hold]) -> None:
    with pytest.raises(redlatch.NotAcquiredError):
        await acquire


async def cancelled(acquire: Coroutine[Any, Any, aio.Hold]) -> None:
    this = asyncio.current_task()
    assert this is not None
    asyncio.get_running_loop().call_later(0.01, this.cancel)
    with pytest.raises(asyncio.CancelledError):
        await acquire


async def test_a_miss_of_one_task_does_not_stop_another_task_from_a_release(aio_client: AsyncClient, name: str) -> None:
    lock = aio_client.lock(name)
    await in_a_task(lock.lock)
    assert await in_a_task(lock.try_lock) is None
    await in_a_task(lock.release)
    assert not await lock.is_locked()


async def test_a_decorated_call_inside_itself_is_an_error_at_once(aio_client: AsyncClient, name: str) -> None:
    @aio_client.lock(name + ":{number}")
    async def outer(number: int, inner: int) -> None:
        if inner >= 0:
            await outer(inner, -1)

    with pytest.raises(redlatch.AlreadyHeldError, match="it would wait for itself"):
        await outer(1, 1)
    await outer(1, 2)
    assert not await aio_client.lock(name + ":1").is_locked()


async def test_a_task_that_waits_for_its_own_hold_is_warned_of_it(aio_client: AsyncClient, name: str) -> None:
    async with aio_client.lock(name):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert await aio_client.lock(name).try_lock(wait=6) is None
    told = [str(warning.message) for warning in caught if warning.category is RuntimeWarning]
    assert [f"this task has waited 5 s at {__file__}:" in text for text in told] == [True]


async def test_a_task_that_waits_for_others_is_not_warned(aio_client: AsyncClient, client: Client, name: str) -> None:
    with client.lock(name), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert await aio_client.lock(name).try_lock(wait=6) is None


async def test_a_hold_of_a_task_that_is_gone_is_not_renewed_any_more(server: Server, view: View, name: str) -> None:
    client = aio.connect(server.url, watchdog=1)

    async def takes() -> None:
        await client.get_lock(name).lock()

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        await in_a_task(takes)
        # The loop itself refers to the task for one or two iterations.
        for _ in range(10):
            await asyncio.sleep(0)
        gc.collect()
        told = [w for w in caught if w.category is ResourceWarning and f"`{name}`" in str(w.message)]
    assert len(told) == 1
    await asyncio.to_thread(until_true, lambda: view("EXISTS", name) == 0, "the end of its lease")
    await client.close()


@pytest.mark.parametrize("refuses", [False, True], ids=["in peace", "while the server refuses"])
@pytest.mark.parametrize("begin", ["lock", "hold"])
def test_a_block_that_is_dropped_after_its_loop_was_closed_releases_its_hold(
    every_loop: Loop, own_server: Server, name: str, begin: str, refuses: bool
) -> None:
    client = aio.connect(own_server.url)
    lock = client.lock(name, wait=20, lease=600)
    entered = False

    async def work() -> None:
        nonlocal entered
        async with lock if begin == "lock" else await lock.lock():
            entered = True
            await asyncio.get_running_loop().create_future()

    async def until_entered() -> None:
        while not entered:
            await asyncio.sleep(0.001)

    loop = every_loop()
    # asyncio reports a task that is destroyed while it waits, which this test does.
    loop.set_exception_handler(lambda _, told: None)
    task = loop.create_task(work())
    loop.run_until_complete(until_entered())
    loop.close()
    with own_server.view() as view:
        assert view("EXISTS", name) == 1
        if refuses:
            view("ACL", "SETUSER", "default", "-hdel")
        del task
        gc.collect()
        if refuses:
            until_true(lambda: view("ACL", "LOG") != [], "a refusal")
            view("ACL", "SETUSER", "default", "+hdel")
        until_true(lambda: view("EXISTS", name) == 0, "a lock that is given back")
    loops.run(client.close())


async def test_a_block_whose_task_is_cancelled_while_the_server_refuses_its_release_gives_the_lock_back(
    own_server: Server, name: str
) -> None:
    client = aio.connect(own_server.url)
    with own_server.view() as view:

        async def work() -> None:
            async with client.lock(name, lease=600):
                view("ACL", "SETUSER", "default", "-hdel")
                task.cancel()

        task = asyncio.ensure_future(work())
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(until_true, lambda: view("ACL", "LOG") != [], "a refusal")
        view("ACL", "SETUSER", "default", "+hdel")
        await asyncio.to_thread(until_true, lambda: view("EXISTS", name) == 0, "a lock that is given back")
    await client.close()


async def test_a_readers_hold_of_a_task_that_is_gone_is_not_renewed_any_more(
    server: Server, view: View, name: str
) -> None:
    client = aio.connect(server.url, watchdog=1)
    readers = client.get_read_write_lock(name, owner=EACH).read_lock

    async def takes() -> None:
        await readers.lock()

    await in_a_task(takes)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(10):
            await asyncio.sleep(0)
        gc.collect()
        async with readers:
            pass
    told = [w for w in caught if w.category is ResourceWarning and f"`{name}`" in str(w.message)]
    assert len(told) == 1
    await asyncio.to_thread(until_true, lambda: view("EXISTS", name) == 0, "the end of its lease")
    await client.close()


def test_a_fixture_of_pytest_asyncio_releases_its_hold(tmp_path: Path, server: Server, view: View, name: str) -> None:
    (tmp_path / "test_of_a_user.py").write_text(f"""
import pytest, pytest_asyncio
from redlatch import aio

@pytest_asyncio.fixture(params=["lock", "get_lock"])
async def locked(request):
    client = aio.connect({server.url!r})
    async with getattr(client, request.param)({name!r}) as hold:
        yield hold
    await client.close()

@pytest.mark.asyncio
async def test_it(locked):
    locked.ensure()
""")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env={**os.environ})
    assert "2 passed" in done.stdout, done.stdout + done.stderr
    assert view("EXISTS", name) == 0
