"""A lock for threads decorates coroutine functions: the task holds the same lock, and a wait does not stop the loop."""

from __future__ import annotations

import asyncio
import functools
from typing import Any

import pytest

import redlatch
from eventually import until_true
from redlatch import Client
from test_decorators import KINDS, held
from view import View


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_decorates_coroutine_functions(client: Client, view: View, name: str, kind: str) -> None:
    @KINDS[kind](client, name + ":{id}")
    async def work(id: int) -> bool:
        await asyncio.sleep(0)
        return KINDS[kind](client, f"{name}:{id}").is_locked()

    assert asyncio.run(work(5))
    until_true(lambda: view("EXISTS", f"{name}:5", f"{name}:5b") == 0, "a lock that is given back")


def test_a_lock_of_values_decorates_coroutine_functions(client: Client, name: str) -> None:
    @client.get_multi_lock(name, values=["a", "b"], wait=5)
    async def work() -> bool:
        return client.get_multi_lock(name, values=["b"], owner=1).try_lock() is None

    assert asyncio.run(work())
    assert client.get_multi_lock(name, values=["b"]).try_lock()


def test_calls_of_one_loop_exclude_each_other_and_the_loop_goes_on(client: Client, name: str) -> None:
    inside: list[int] = []

    @client.get_lock(name)
    async def work(number: int) -> int:
        inside.append(number)
        await asyncio.sleep(0.001)
        assert inside.pop() == number
        assert not inside
        return number

    async def main() -> list[int]:
        return await asyncio.gather(*(work(number) for number in range(50)))

    assert asyncio.run(main()) == list(range(50))


def test_a_thread_and_a_task_exclude_each_other(client: Client, name: str) -> None:
    lock = client.get_lock(name, wait=0)

    @lock
    async def work() -> str:
        return "worked"

    with lock, pytest.raises(redlatch.NotAcquiredError):
        asyncio.run(work())
    assert asyncio.run(work()) == "worked"


def test_a_cancelled_call_leaves_nothing(client: Client, stranger: Client, view: View, name: str) -> None:
    @client.get_lock(name)
    async def work() -> None: ...

    async def main() -> None:
        task = asyncio.ensure_future(work())
        while view.listeners(name) == 0:
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with stranger.get_lock(name):
        asyncio.run(main())
    until_true(lambda: view.listeners(name) == 0, "the end of the subscription")
    assert held(view, name) == []


def test_a_lock_decorates_objects_that_are_called_like_coroutine_functions(
    client: Client, view: View, name: str
) -> None:
    class Called:
        async def __call__(self, id: int) -> list[str]:
            return held(view, name)

    async def plain(id: int, more: int) -> list[str]:
        return held(view, name)

    decorated: list[Any] = [Called(), functools.partial(plain, more=1)]
    for function in decorated:
        assert asyncio.run(client.get_lock(name + ":{id}")(function)(7)) == [":7"]
    until_true(lambda: held(view, name) == [], "locks that are given back")


def test_a_closed_client_is_closed_for_its_coroutines_too(client: Client, name: str) -> None:
    @client.get_lock(name)
    async def work() -> None: ...

    client.close()
    with pytest.raises(redlatch.ClosedError):
        asyncio.run(work())
