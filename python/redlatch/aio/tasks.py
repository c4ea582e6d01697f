"""The task that runs, as the owner of its locks: each has a number that no other task or thread of this process has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redlatch import tasks
from redlatch.aio.loops import here
from redlatch.errors import UnsupportedError

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from redlatch.tasks import ThisTask


def this_task(loop: AbstractEventLoop | None = None) -> ThisTask:
    """The task that runs now, in `loop` if the caller knows it."""
    this = tasks.current(loop or here().event_loop)
    if this is None:
        raise UnsupportedError(
            "a lock's owner is the task that asks, and none runs here; call this in a task, or give `owner=`"
        )
    return this
