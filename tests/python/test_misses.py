"""Acquires that missed the lock: which later release is refused, and for which caller a miss counts."""

from __future__ import annotations

import asyncio
import gc
import inspect
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Optional

import pytest

import redlatch
from callers import in_a_task, in_a_thread
from redlatch import Client, aio, misses
from redlatch.aio import AsyncClient


def test_a_miss_of_each_of_many_locks_is_remembered(client: Client, thread: ThreadPoolExecutor, name: str) -> None:
    locks = [client.lock(f"{name}:{number}") for number in range(40)]
    holds = [thread.submit(lock.lock).result() for lock in locks]
    assert [lock.try_lock() for lock in locks] == [None] * 40
    for lock, hold in zip(locks, holds):
        with pytest.raises(redlatch.NotHeldError, match="got nothing"):
            lock.release()
        hold.release()


def test_a_miss_of_an_object_that_is_gone_is_forgotten(client: Client, name: str) -> None:
    with client.lock(name):
        for _ in range(100):
            assert client.lock(name).try_lock() is None
            gc.collect()
        assert len(misses._here.get()) <= 2


class Numbers:
    """Gives the numbers 1 and 2 to two threads that ask at the same time.

    The second thread waits here until the first one has noted its miss.
    """

    def __init__(self) -> None:
        self.first_has_noted = threading.Event()
        self._both = threading.Barrier(2)

    def __next__(self) -> int:
        number = 1 + self._both.wait(20)
        assert number == 1 or self.first_has_noted.wait(20)
        return number


def test_the_first_misses_of_two_threads_at_once_are_both_remembered(
    client: Client, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = Numbers()
    monkeypatch.setattr(misses, "_numbers", numbers)
    lock = client.lock(name)
    both = threading.Barrier(2)
    told: list[object] = []

    def job() -> None:
        misses.note(lock)
        numbers.first_has_noted.set()
        both.wait(20)
        told.append(misses.answered(lock))

    threads = [threading.Thread(target=job) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(told) == 2
    assert all(told), told


def test_a_caller_that_missed_releases_a_hold_that_a_thread_took_for_it_afterwards(client: Client, name: str) -> None:
    lock = client.lock(name)
    with client.lock(name):
        assert lock.try_lock() is None
    in_a_thread(lock.lock)
    lock.release()
    assert not lock.is_locked()


def test_a_caller_that_missed_does_not_release_an_earlier_hold_of_a_thread_that_is_gone(
    client: Client, name: str
) -> None:
    lock = client.lock(name)
    holds: list[redlatch.Hold] = []
    in_a_thread(lambda: holds.append(lock.lock()))
    assert lock.try_lock() is None
    with pytest.raises(redlatch.NotHeldError, match="got nothing"):
        lock.release()
    holds[0].ensure()
    lock.release()


def test_a_caller_that_missed_does_not_release_a_later_hold_of_a_thread_that_lives(
    client: Client, thread: ThreadPoolExecutor, name: str
) -> None:
    lock = client.lock(name)
    with client.lock(name):
        assert lock.try_lock() is None
    hold = thread.submit(lock.lock).result()
    with pytest.raises(redlatch.NotHeldError, match="got nothing"):
        lock.release()
    hold.ensure()
    hold.release()


Acquire = Coroutine[Any, Any, Optional[aio.Hold]]


async def waited_for(acquire: Acquire) -> aio.Hold | None:
    return await asyncio.wait_for(acquire, 20)


async def timed_out(acquire: Acquire) -> aio.Hold | None:
    try:
        return await asyncio.wait_for(acquire, 0.05)
    except asyncio.TimeoutError:
        return None


async def gathered(acquire: Acquire) -> aio.Hold | None:
    return (await asyncio.gather(acquire))[0]


#: The ways in which asyncio awaits a coroutine in a new task, for the task that called.
WAYS: dict[str, Callable[[Acquire], Acquire]] = {
    "wait_for": waited_for,
    "wait_for that times out": timed_out,
    "create_task": lambda acquire: awaited(asyncio.create_task(acquire)),
    "gather": gathered,
    "shield": lambda acquire: awaited(asyncio.shield(acquire)),
}


async def awaited(task: asyncio.Future[aio.Hold | None]) -> aio.Hold | None:
    return await task


ACQUIRES: dict[str, Callable[[aio.Lock, float], Acquire]] = {
    "acquire": lambda lock, wait: lock.acquire(timeout=wait),
    "try_lock": lambda lock, wait: lock.try_lock(wait=wait),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("acquire", ACQUIRES)
async def test_a_miss_in_a_task_that_awaits_for_the_caller_counts_for_the_caller(
    aio_client: AsyncClient, name: str, acquire: str, way: str
) -> None:
    lock = aio_client.lock(name)
    holds: list[aio.Hold] = []
    taken, end = asyncio.Event(), asyncio.Event()

    async def other() -> None:
        holds.append(await lock.lock())
        taken.set()
        await end.wait()
        holds[0].ensure()
        await lock.release()

    task = asyncio.create_task(other())
    await taken.wait()
    wait = 20 if way == "wait_for that times out" else 0.05
    assert await WAYS[way](ACQUIRES[acquire](lock, wait)) is None
    with pytest.raises(redlatch.NotHeldError, match="got nothing"):
        await lock.release()
    end.set()
    await task
    assert not await lock.is_locked()


@pytest.mark.parametrize("way", [way for way in WAYS if way != "wait_for that times out"])
@pytest.mark.parametrize("acquire", ACQUIRES)
async def test_a_hold_that_a_task_takes_for_the_caller_belongs_to_the_caller(
    aio_client: AsyncClient, name: str, acquire: str, way: str
) -> None:
    lock = aio_client.lock(name)
    holds = [await in_a_task(aio_client.lock(name).lock)]
    assert await lock.try_lock() is None
    await holds[0].release()
    assert await WAYS[way](ACQUIRES[acquire](lock, 20)) is not None
    await lock.release()
    assert not await lock.is_locked()


async def test_a_release_in_a_new_task_counts_for_its_caller(aio_client: AsyncClient, name: str) -> None:
    readers = aio_client.get_read_write_lock(name, owner=redlatch.EACH).read_lock
    mine = await readers.lock()
    theirs: aio.Hold = await in_a_task(readers.lock)
    await asyncio.shield(readers.release())
    assert (mine.remaining > 0, theirs.remaining > 0) == (False, True)
    await theirs.release()


async def test_a_caller_that_missed_releases_a_later_hold_of_a_task_that_is_done(
    aio_client: AsyncClient, name: str
) -> None:
    lock = aio_client.lock(name)
    before: aio.Hold = await in_a_task(aio_client.lock(name).lock)
    assert await lock.try_lock() is None
    await before.release()

    async def child() -> None:
        await lock.lock()

    # The test keeps the object of the task that is done.
    task = asyncio.create_task(child())
    await task
    await lock.release()
    assert not await lock.is_locked()
    assert task.done()


@pytest.mark.parametrize("member", ["lock", "try_lock", "acquire", "unlock", "release"])
async def test_a_method_that_knows_its_caller_is_a_coroutine_function_like_others(
    aio_client: AsyncClient, name: str, member: str
) -> None:
    bound = getattr(aio_client.lock(name), member)
    for function in (bound, getattr(aio.Lock, member)):
        assert inspect.iscoroutinefunction(function)
        assert function.__name__ == member
        assert "_caller" not in inspect.signature(function).parameters
    assert inspect.ismethod(bound)
