"""Semaphores and latches: what is taken of them is nobody's."""

from __future__ import annotations

from types import TracebackType
from typing import TypeVar

import redlatch
from redlatch import _redlatch, asks
from redlatch.aio.asking import asked
from redlatch.durations import UNSET, Seconds, Unset, optional_seconds
from redlatch.errors import RedlatchError, note
from redlatch.locks import FOR_EVER
from redlatch.permits import checked_number, checked_ttl, not_there, optional_permits
from redlatch.texts import checked
from redlatch.typings import Self

T = TypeVar("T")


class Semaphore(_redlatch.Object):
    """Permits that any task of any process takes and gives back; as an async context manager it takes one.

    Make it with `AsyncClient.get_semaphore`. Nobody holds a permit: what a process took that died is gone until
    somebody releases it. Until the permits were set (`try_set_permits`) there are none, and an acquire waits. Waiters
    of one client are served in the order in which they came. A waiter that wants more permits than there are does not
    stand in the way of one of its client that wants less; it is overtaken by some, then for at most a second by none,
    and so on. All this holds inside one client: between clients, the first to ask gets what is there.

    Every method may raise UnavailableError (it may have been carried out nevertheless), RefusedError, ClosedError, and
    ConfigError for numbers that cannot be used. Cancelling ends waiting at once and leaves nothing taken.
    """

    _client: redlatch.aio.AsyncClient
    _wait: float | None
    #: What is still to be set.
    _permits: int | None

    def __new__(cls, client: redlatch.aio.AsyncClient, name: str, permits: int | None, wait: Seconds | None) -> Self:
        semaphore = super().__new__(cls, client._native, ("semaphore", checked("the name of a semaphore", name)))
        semaphore._client = client
        semaphore._wait = optional_seconds("wait", wait, FOR_EVER)
        semaphore._permits = optional_permits(permits)
        return semaphore

    async def try_set_permits(self, permits: int, *, ttl: Seconds | None = None) -> bool:
        """Sets the count of permits unless there is one, and returns whether it did; with `ttl` it ends after that."""
        return await asked(self, asks.TRY_SET, (checked_number("permits", permits), checked_ttl(ttl)))

    async def add_permits(self, permits: int) -> None:
        """Adds permits, or takes some away for good if it is negative."""
        await asked(self, asks.ADD, (checked_number("permits", permits),))

    async def available_permits(self) -> int:
        """How many permits are available; 0 if they were never set."""
        return await asked(self, asks.COUNT)

    async def drain_permits(self) -> int:
        """Takes all permits that are available and returns how many."""
        return await asked(self, asks.DRAIN)

    async def acquire(self, permits: int = 1, *, wait: Seconds | Unset | None = UNSET) -> None:
        """Takes permits, all at once; UNSET waits as `get_semaphore` was told. Raises NotAcquiredError when it ends."""
        waiting = self._wait if wait is UNSET else wait
        if not await self.try_acquire(permits, wait=waiting):
            raise not_there(self.name, permits, waiting, await asked(self, asks.IS_SET), self._held_back())

    async def try_acquire(self, permits: int = 1, *, wait: Seconds | None = 0) -> bool:
        """Takes permits if they are there within `wait` (0: now), and returns whether it did."""
        count, waiting = checked_number("permits", permits), optional_seconds("wait", wait, FOR_EVER)
        setting = self._permits  # once: a loop of another thread may be about to forget them
        if setting is not None:
            await self.try_set_permits(setting)
            self._permits = None
        return await asked(self, asks.TAKE, (count,), wait=waiting)

    async def release(self, permits: int = 1) -> None:
        """Gives permits back, whoever took them; a semaphore that is not there begins with them."""
        await asked(self, asks.GIVE, (checked_number("permits", permits),))

    async def release_if_exists(self, permits: int = 1) -> bool:
        """Gives permits back if there is such a semaphore, and returns whether there is."""
        return await asked(self, asks.GIVE_IF_EXISTS, (checked_number("permits", permits),))

    async def delete(self) -> bool:
        """Deletes it and returns whether it was there."""
        return await asked(self, asks.DELETE)

    async def __aenter__(self) -> Self:
        """Takes one permit. Raises NotAcquiredError when the `wait` that `get_semaphore` was given ends."""
        await self.acquire()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        """Gives the permit back.

        Its errors are raised only if the body succeeded; of the body's own error they become a note.
        """
        try:
            await self.release()
        except RedlatchError as failure:
            if kind is None:
                raise
            note(error, failure)

    def __repr__(self) -> str:
        return f"<redlatch.aio.Semaphore {self.name!r} of {self._client!r}>"


class CountDownLatch(_redlatch.Object):
    """A count that others wait for to become zero; it can be set again then.

    Make it with `AsyncClient.get_count_down_latch`. Its methods raise what those of `Semaphore` do.
    """

    _client: redlatch.aio.AsyncClient

    def __new__(cls, client: redlatch.aio.AsyncClient, name: str) -> Self:
        latch = super().__new__(cls, client._native, ("latch", checked("the name of a latch", name)))
        latch._client = client
        return latch

    async def try_set_count(self, count: int) -> bool:
        """Sets what is to be counted unless something still is, and returns whether it did."""
        return await asked(self, asks.TRY_SET, (checked_number("count", count),))

    async def count_down(self) -> None:
        """Counts one down; nothing happens at zero."""
        await asked(self, asks.COUNT_DOWN)

    async def get_count(self) -> int:
        """What is left to be counted."""
        return await asked(self, asks.COUNT)

    async def wait(self, wait: Seconds | None = None) -> bool:
        """Waits until the count is zero and returns True; False if `wait` seconds are over before."""
        return await asked(self, asks.TAKE, wait=optional_seconds("wait", wait, FOR_EVER))

    async def delete(self) -> bool:
        """Deletes it, which opens it, and returns whether it was there."""
        return await asked(self, asks.DELETE)

    def __repr__(self) -> str:
        return f"<redlatch.aio.CountDownLatch {self.name!r} of {self._client!r}>"
