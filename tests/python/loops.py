"""Runs coroutines of tests in event loops."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Callable, TypeVar

import uvloop

T = TypeVar("T")

#: Makes a new loop.
Loop = Callable[[], asyncio.AbstractEventLoop]
LOOPS: dict[str, Loop] = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


def run(main: Coroutine[Any, Any, T], make: Loop = asyncio.new_event_loop) -> T:
    """Runs a coroutine to its end, in a new loop. Fails if that takes more than a minute."""
    loop = make()
    try:
        return loop.run_until_complete(asyncio.wait_for(main, 60))
    finally:
        loop.run_until_complete(_end())
        loop.close()


async def _end() -> None:
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    loop = asyncio.get_running_loop()
    await loop.shutdown_asyncgens()
    await loop.shutdown_default_executor()


async def until(look: Callable[[], Coroutine[Any, Any, bool]], what: str) -> None:
    """Returns as soon as `look` answers True. Fails if it does not within 15 s."""
    end = asyncio.get_running_loop().time() + 15
    while not await look():
        assert asyncio.get_running_loop().time() < end, f"waited 15 s in vain for {what}"
        await asyncio.sleep(0.005)
