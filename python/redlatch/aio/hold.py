"""One acquisition of a lock."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Union

from redlatch import calls, lazy, losses
from redlatch.aio.loops import here, run, runs_here
from redlatch.durations import Seconds, optional_seconds
from redlatch.errors import LockLostError, RedlatchError, UnsupportedError, note
from redlatch.held import Held
from redlatch.typings import Self

if TYPE_CHECKING:
    from redlatch._redlatch import _Outcome

#: A function, or a coroutine function.
OnLost = Callable[["Hold", LockLostError], Union[object, Coroutine[Any, Any, object]]]

# A loop keeps its tasks only weakly.
_telling: set[asyncio.Task[object]] = set()


class Hold(Held):
    """What an acquire returns: always true, and released once, by any task.

    Questions without `()` are answered from this process's own clock and never ask Redis.
    """

    async def release(self) -> None:
        """Gives this one hold back, whichever task asks; outer holds of the same owner stay.

        Raises NotHeldError if it was released before, LockLostError if it was lost, UnavailableError if Redis did not
        answer; then it is not renewed any more and ends with its lease.
        """
        await self._end(here())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        """Releases. Its errors are raised only if the body succeeded; of the body's own error they become a note."""
        if not runs_here():
            # Its loop was closed, and its coroutine goes now: nothing waits for the release.
            return self._leave()
        try:
            await self.release()
        except RedlatchError as failure:
            if kind is None:
                raise
            note(error, failure)

    def on_lost(self, callback: OnLost) -> None:
        """Has `callback(hold, error)` called once if the hold is lost, with the LockLostError that says why.

        It is called by the loop that runs now, as soon as this process knows, also if the hold is lost already; never
        if it is released. It may be a coroutine function, which runs as a task of its own. What it raises goes to the
        loop's exception handler.

        Raises NotHeldError in a forked child of the process that acquired it, UnsupportedError for generators.
        """
        losses.check_callback(self.name, callback)
        if lazy.is_lazy(callback) and not lazy.is_coroutine_function(callback):
            raise UnsupportedError(f"{callback!r} would not run when it is called; give a plain function", self.name)
        self._refuse_in_a_fork()
        run(self, calls.WATCH).add_done_callback(lambda ended: self._tell(callback, ended.claim()))

    async def wait_lost(self, wait: Seconds | None = None) -> bool:
        """Waits until the hold is lost and returns True; False if it is released, or `wait` seconds are over, before.

        `wait=None` waits as long as it is held, 0 returns at once. Cancelling ends it.

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
