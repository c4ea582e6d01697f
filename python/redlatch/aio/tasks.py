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

    def __init__(self, task: asyncio.Task[Any]) -> None:
        place = id(task)
        # Weak by hand, which is several times as fast as a dictionary that is.
        self.task = weakref.ref(task, lambda _: _tasks.pop(place, None))
        self.owner = next_owner()
        #: The `async with lock` blocks that this task is in.
        self.entered: list[tuple[Lock, Hold]] = []


_tasks: dict[int, ThisTask] = {}


def this_task(loop: asyncio.AbstractEventLoop | None = None) -> ThisTask:
    """The task that runs now, in `loop` if that is known."""
    task = asyncio.current_task(loop or here().event_loop)
    if task is None:
        raise UnsupportedError(
            "a lock's owner is the task that asks, and none runs here; call this in a task, or give `owner=`"
        )
    this = _tasks.get(id(task))
    if this is None or this.task() is not task:
        this = _tasks[id(task)] = ThisTask(task)
    return this
