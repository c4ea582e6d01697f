"""One acquisition of a lock."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING

from redlatch import calls
from redlatch.errors import LockLostError, NotHeldError, RedlatchError

if TYPE_CHECKING:
    from typing_extensions import Self

    from redlatch.locks import Lock


class Hold:
    """What an acquire returns: always true, and released once, by any thread.

    Questions without `()` are answered from this process's own clock and never ask Redis.
    """

    def __init__(self, lock: Lock, owner: int, number: int) -> None:
        self._lock = lock
        self._owner = owner
        self._number = number
        self._client_id = lock.client.id

    @property
    def name(self) -> str:
        """The lock's name."""
        return self._lock.name

    @property
    def owner(self) -> int:
        """The number that stands for the owner: one per thread, or what `get_lock` was given."""
        return self._owner

    @property
    def token(self) -> int | None:
        """The fencing token; None, since this kind of lock has none."""
        return None

    @property
    def lost(self) -> bool:
        """Whether the hold ended without being released. A released hold is not lost."""
        return self.lost_reason is not None

    @property
    def lost_reason(self) -> str | None:
        """Why it was lost: `expired`, `deleted`, `taken over` or `closed`; None if it was not."""
        try:
            self._look()
        except LockLostError as loss:
            return loss.reason
        except NotHeldError:
            return None
        return None

    @property
    def remaining(self) -> float:
        """For how many more seconds it is held for certain; 0.0 once it is released or lost. Renewing prolongs it."""
        try:
            return self._look()
        except NotHeldError:
            return 0.0

    @property
    def deadline(self) -> float:
        """Until when it is held for certain, on the clock of `time.monotonic`; now, once it is released or lost."""
        return time.monotonic() + self.remaining

    def ensure(self) -> None:
        """Returns only if the lock is still held, as far as this process knows.

        Raises LockLostError if it was lost, NotHeldError if it was released.
        """
        self._look()

    def release(self) -> None:
        """Gives this one hold back, whichever thread asks; outer holds of the same owner stay.

        Raises NotHeldError if it was released before, LockLostError if it was lost, UnavailableError if Redis did not
        answer; then it is not renewed any more and ends with its lease.
        """
        self._refuse_in_a_fork()
        self._lock._run(calls.RELEASE, owner=self._owner, hold=self._number)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Releases. Its errors are raised only if the body succeeded: they must not hide the body's own."""
        try:
            self.release()
        except RedlatchError:
            if kind is None:
                raise

    def _look(self) -> float:
        """The seconds that remain; no I/O."""
        self._refuse_in_a_fork()
        held = calls.answer(self._lock.client._native.look(self._number), self.name)
        if held is None:
            raise NotHeldError(f"`{self.name}` is not held by this hold, it was released; acquire it again", self.name)
        return held[0] / 1e6

    def _refuse_in_a_fork(self) -> None:
        """A forked child has a copy of this object, and a client of its own that numbers its holds anew."""
        if self._client_id != self._lock.client.id:
            raise NotHeldError(
                f"`{self.name}` is not held by this process but by the one that forked it; acquire it here", self.name
            )

    def __repr__(self) -> str:
        return f"<redlatch.Hold of {self.name!r} by {self._client_id}:{self._owner}>"
