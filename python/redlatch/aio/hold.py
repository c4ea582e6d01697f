"""One hold of a lock, for tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Union

from redlatch import calls, deferred, losses
from redlatch.aio.cancelling import Cancelling
from redlatch.aio.loops import PARTS, here, run, runs_here
from redlatch.durations import Seconds, needed_lease, optional_seconds
from redlatch.errors import LockLostError, Noting, UnsupportedError
from redlatch.held import Held
from redlatch.typings import Self

if TYPE_CHECKING:
    from redlatch._redlatch import _Outcome

#: A function, or a coroutine function.
OnLost = Callable[["Hold", LockLostError], Union[object, Coroutine[Any, Any, object]]]

# The tasks that run callbacks. A loop itself keeps its tasks only weakly.
_telling: set[asyncio.Task[object]] = set()


class Hold(Held):
    """One acquired lock, always true. Any task may release it, once.

    Properties are answered from this process's own clock, without a call to Redis.
    """

    _here = PARTS

    async def release(self) -> None:
        """Releases this one hold. Any task may do so, and the owner's other holds stay.

        Raises NotHeldError if it was released before, LockLostError if it was lost, UnavailableError if Redis did not
        answer. In the last case it is not renewed any more and ends with its lease.
        """
        ending = self._end()
        if ending is not None:
            await ending

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        """Releases the hold.

        If the body raised an error, that one is raised, and an error of the release becomes a note of it.
        """
        if not runs_here():
            # The loop was closed, and Python drops the coroutine now: no task can wait for the release.
            self._release_soon()
            return
        with Noting(kind, error):
            ending = self._end()
            if ending is not None:
                await ending

    async def extend(self, lease: Seconds) -> None:
        """Lets the hold last for `lease` from now on, in seconds or as `timedelta`: longer, or shorter.

        A hold that the watchdog renews, or whose owner has other holds of the lock, lasts at least as long as before.

        Raises LockLostError if it was lost, NotHeldError if it was released, UnavailableError if Redis did not answer:
        then it ends with the earlier of both leases.
        """
        calls.answer(await self._begin_extension(here(), needed_lease(lease)), self.name)

    def on_lost(self, callback: OnLost) -> None:
        """Calls `callback(hold, error)` once if the hold is lost. The LockLostError tells the cause.

        The loop that runs now calls it as soon as this process knows of the loss, also if the hold is lost already. A
        release never calls it. The callback may be a coroutine function, which runs as a task of its own. An exception
        of it goes to the loop's exception handler.

        Raises NotHeldError in a forked child of the process that acquired it, UnsupportedError for generators.
        """
        losses.check_callback(self.name, callback)
        if deferred.is_deferred(callback) and not deferred.is_coroutine_function(callback):
            raise UnsupportedError(f"{callback!r} would not run when it is called; give a plain function", self.name)
        self._refuse_in_a_fork()
        run(self, calls.WATCH).add_done_callback(lambda ended: self._tell(callback, ended.claim()))

    def cancelling(self) -> Cancelling:
        """Returns a block that a loss ends: `async with lock as hold, hold.cancelling():`.

        If the hold is lost, the task of the block is cancelled. Inside it gets `asyncio.CancelledError`, and the block
        raises LockLostError in its place. A release inside the block cancels nothing. Until Python 3.10 a task that is
        cancelled at the same moment for another reason gets LockLostError as well.

        Entering it raises LockLostError if the hold is lost already, NotHeldError if it was released.
        """
        return Cancelling(self)

    async def wait_lost(self, wait: Seconds | None = None) -> bool:
        """Waits until the hold is lost, and returns True. Returns False if it is released or `wait` is over before.

        `wait` is in seconds: None waits as long as the hold is held, 0 returns at once. Cancelling ends the wait.

        Raises NotHeldError in a forked child of the process that acquired it.
        """
        self._refuse_in_a_fork()
        within = optional_seconds("wait", wait, "None waits as long as it is held")
        watching = run(self, calls.WATCH)
        try:
            await asyncio.wait([watching], timeout=within)
            return self._loss(watching.claim()) is not None if watching.done() else self.lost
        finally:
            watching.cancel()

    def _tell(self, callback: OnLost, outcome: _Outcome) -> None:
        loss = self._loss(outcome)
        if loss is None:
            return
        told = callback(self, loss)
        if isinstance(told, Coroutine):
            task = asyncio.get_running_loop().create_task(told)
            _telling.add(task)
            task.add_done_callback(_telling.discard)

    def __repr__(self) -> str:
        return f"<redlatch.aio.Hold of {self.name!r} by owner {self.owner}>"
