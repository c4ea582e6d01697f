"""Cancels calls of asyncio at random moments."""

from __future__ import annotations

import asyncio
import random
from contextlib import AbstractContextManager, suppress
from typing import Any, Callable

import redlatch
from redlatch import aio

ROUNDS = 400


def beside_a_loaded_machine() -> AbstractContextManager[None]:
    """Lets a wait of a few ms end without a word of the server, which is an error of its own."""
    return suppress(redlatch.UnavailableError)


async def cancel_at_random(works: list[Callable[[], Any]]) -> int:
    """Starts the works again and again and cancels each at a random moment. Returns how many had ended before."""
    ended = 0
    for _ in range(ROUNDS):
        task = asyncio.create_task(random.choice(works)())
        if random.random() < 0.5:
            for _ in range(random.randrange(8)):
                await asyncio.sleep(0)
        else:
            await asyncio.sleep(random.uniform(0, 0.002))
        ended += not task.cancel()
        with suppress(asyncio.CancelledError, redlatch.NotAcquiredError):
            await task
    return ended


def ways(lock: aio.Lock) -> list[Callable[[], Any]]:
    """The ways to hold a lock for a while."""

    async def enter() -> None:
        async with lock:
            await asyncio.sleep(0)

    async def enter_a_hold() -> None:
        with beside_a_loaded_machine():
            async with await lock.lock(wait=0.01):
                pass

    async def give_up() -> None:
        with beside_a_loaded_machine():
            hold = await lock.try_lock(wait=0.001)
            if hold:
                await hold.release()

    async def twice() -> None:
        async with lock, lock:
            pass

    @lock
    async def decorated() -> None: ...

    return [enter, enter_a_hold, give_up, twice, decorated]
