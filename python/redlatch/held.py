"""The state of a hold as this process knows it, without a call to Redis."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from redlatch import _redlatch, calls, errors, self_waits
from redlatch.errors import LockLostError, NotHeldError
from redlatch.pickling import NotPickled

if TYPE_CHECKING:
    from redlatch._redlatch import _Outcome


class Held(NotPickled, _redlatch.Held):
    """The questions that holds of threads and of tasks answer at once."""

    _instead = "acquire the lock in the process that works under it"

    if not TYPE_CHECKING and sys.flags.dev_mode:

        def __init__(self, *taken: Any) -> None:
            self_waits.note_place(self)

    @property
    def held(self) -> bool:
        """Whether it is still held, as far as this process knows: not released, and not lost."""
        return self.remaining > 0

    @property
    def lost(self) -> bool:
        """Whether the hold ended without being released. A released hold is not lost."""
        return self.lost_reason is not None

    @property
    def lost_reason(self) -> str | None:
        """Why it was lost, None if it was not:

        - `expired`: its lease ended before it was released.
        - `deleted`: its key was deleted (`DEL`, `FLUSHALL`, `force_unlock`) and the lock is free.
        - `taken over`: another owner holds the lock.
        - `server lost its data`: the server restarted without the key.
        - `partitioned`: the server answered no renewal while the lease lasted.
        - `process was paused`: this process, or its machine, stood still and sent no renewal in time.
        - `closed`: its client was closed, or the program ended.
        - `session ended`: the session of a server of SQL that held it is over.
        """
        try:
            self._remaining()
        except LockLostError as loss:
            return loss.reason
        except NotHeldError:
            return None
        return None

    @property
    def remaining(self) -> float:
        """For how many more seconds it is certainly held. A renewal adds time. 0.0 once it is released or lost."""
        try:
            return self._remaining()
        except NotHeldError:
            return 0.0

    @property
    def deadline(self) -> float:
        """Until when it is certainly held, on the clock of `time.monotonic`. Now, once it is released or lost.

        That clock stands still while the machine is suspended. Ask again after a suspension.
        """
        return time.monotonic() + self.remaining

    def ensure(self) -> None:
        """Returns only if the lock is still held, as far as this process knows.

        Raises LockLostError if it was lost, NotHeldError if it was released.
        """
        self._remaining()

    def _remaining(self) -> float:
        """The seconds that remain. Raises the error that says why none do."""
        held = calls.answer(self._look(), self.name)
        if held is None:
            raise NotHeldError(f"`{self.name}` was released already by this hold; acquire it again", self.name)
        return held[0] / 1e6

    def _loss(self, outcome: _Outcome) -> LockLostError | None:
        """The error of this hold if the outcome of its end is a loss, else None."""
        status, _, _, failure = outcome
        if failure is None or status == calls.CLOSED:
            # The release may have learnt of a loss before, and a closed client does not watch the hold any more.
            status, _, _, failure = self._look()
        loss = errors.error(status, *failure, self.name) if failure is not None else None
        return loss if isinstance(loss, LockLostError) else None
