"""Who asks for a lock: a number for each task, never used twice in this process."""

from __future__ import annotations

import asyncio
import weakref
from typing import TYPE_CHECKING, Any

from redlatch.aio.loops import here
from redlatch.errors import UnsupportedError
from redlatch.owners import next_owner

if TYPE_CHECKING:
    from redlatch.aio.hold import Hold
    from redlatch.aio.locks import Lock


class ThisTask:
    """What one task is to redlatch."""

    def __init__(self) -> None:
        self.owner = next_owner()
        #: The `async with lock` blocks that this task is in.
        self.entered: list[tuple[Lock, Hold]] = []


_tasks: weakref.WeakKeyDictionary[asyncio.Task[Any], ThisTask] = weakref.WeakKeyDictionary()


def this_task() -> ThisTask:
    """The task that runs now."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        task = None
    if task is None:
        here()
        raise UnsupportedError(
            "a lock's owner is the task that asks, and none runs here; call this in a task, or give `owner=`"
        )
    this = _tasks.get(task)
    if this is None:
        this = _tasks[task] = ThisTask()
    return this
