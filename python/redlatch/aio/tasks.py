"""Who asks for a lock: a number for each task, never used twice in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redlatch import tasks
from redlatch.aio.loops import here
from redlatch.errors import UnsupportedError
from redlatch.owners import Caller, caller_in

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from redlatch.tasks import ThisTask


def this_task(loop: AbstractEventLoop | None = None) -> ThisTask:
    """The task that runs now, in `loop` if that is known."""
    this = tasks.current(loop or here().event_loop)
    if this is None:
        raise UnsupportedError(
            "a lock's owner is the task that asks, and none runs here; call this in a task, or give `owner=`"
        )
    return this


def asker(loop: AbstractEventLoop) -> Caller:
    """The task that runs now in `loop`, or the thread where a callback does."""
    return caller_in(loop)
