"""Tasks as callers. Programs without asyncio never import this: `asyncio` takes longer to import than all the rest."""

from __future__ import annotations

import asyncio
import weakref
from typing import TYPE_CHECKING, Any, ClassVar

from redlatch.owners import Caller, is_ours

if TYPE_CHECKING:
    from types import FrameType


class ThisTask(Caller):
    """One task as a caller."""

    kind: ClassVar[str] = "task"

    def __init__(self, task: asyncio.Task[Any]) -> None:
        super().__init__()
        place = id(task)
        # A weakref per entry is several times as fast as a weak dictionary.
        self.task = weakref.ref(task, lambda _: _tasks.pop(place, None))

    def waits_at(self) -> FrameType | None:
        """The place in the program at which it waits: that of its innermost coroutine outside of redlatch."""
        task = self.task()
        found = None
        waiting: Any = task.get_coro() if task is not None else None
        while waiting is not None:
            frame = getattr(waiting, "cr_frame", None)
            if frame is not None and not is_ours(frame):
                found = frame
            waiting = getattr(waiting, "cr_await", None)
        return found


_tasks: dict[int, ThisTask] = {}


def is_done(owner: int) -> bool:
    """Whether the task with this number as its owner is done."""
    tasks = [this.task() for this in list(_tasks.values()) if this.owner == owner]
    return any(task is None or task.done() for task in tasks)


def current(event_loop: asyncio.AbstractEventLoop) -> ThisTask | None:
    """The task that runs now in the loop of this thread; None: a callback outside of any task runs."""
    task = asyncio.current_task(event_loop)
    if task is None:
        return None
    this = _tasks.get(id(task))
    if this is None or this.task() is not task:
        this = _tasks[id(task)] = ThisTask(task)
    return this
