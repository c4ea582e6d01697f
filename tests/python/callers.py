"""Calls a function in another thread or task, or in a thread whose event loop runs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, Callable


def in_a_thread(call: Callable[[], object]) -> None:
    """Calls in a new thread. The thread has ended when this returns."""
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()


async def in_a_task(call: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """Calls and awaits in a new task, and returns the result."""

    async def work() -> Any:
        return await call()

    return await asyncio.create_task(work())


def in_a_loop(call: Callable[[], Any]) -> Any:
    """Calls a blocking function in this thread while an event loop runs in it, and returns the result."""

    async def main() -> Any:
        return call()

    return asyncio.run(main())
