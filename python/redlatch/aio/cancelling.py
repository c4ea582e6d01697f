"""A block whose task is cancelled when a hold is lost."""

from __future__ import annotations

import asyncio
import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any

from redlatch import calls
from redlatch.aio.loops import run
from redlatch.errors import LockLostError, UnsupportedError

if TYPE_CHECKING:
    from redlatch.aio.hold import Hold


class Cancelling:
    """The block of `Hold.cancelling`. It is for one use."""

    _watching: Any = None
    #: Whether the block has ended. A loss that comes later cancels nothing.
    _is_over = False
    #: The loss for which the task was cancelled.
    _loss: LockLostError | None = None

    def __init__(self, hold: Hold) -> None:
        self._hold = hold

    async def __aenter__(self) -> Hold:
        hold = self._hold
        if self._watching is not None:
            raise UnsupportedError(f"`{hold.name}`: this block was begun before; call `cancelling()` again", hold.name)
        hold.ensure()
        self._watching = run(hold, calls.WATCH)
        task = asyncio.current_task()
        assert task is not None, "a coroutine that awaits this runs in a task"
        self._task = task
        if sys.version_info >= (3, 11):
            self._cancels = task.cancelling()
        self._watching.add_done_callback(self._end)
        return hold

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._is_over = True
        self._watching.cancel()
        loss = self._loss
        if loss is None:
            return
        # A task that its owner has cancelled as well is to end as cancelled. Pythons before 3.11 do not tell.
        is_cancelled_besides = False
        if sys.version_info >= (3, 11):
            is_cancelled_besides = self._task.uncancel() > self._cancels
        if kind is None or (issubclass(kind, asyncio.CancelledError) and not is_cancelled_besides):
            raise loss from error

    def _end(self, ended: Any) -> None:
        if self._is_over:
            return
        self._loss = self._hold._loss(ended.claim())
        if self._loss is not None:
            self._task.cancel()
