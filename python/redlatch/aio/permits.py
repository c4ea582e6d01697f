"""Semaphores and latches for tasks. Their permits and counts have no owner."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TypeVar

import redlatch
from redlatch import _redlatch, queries
from redlatch.aio.queries import run_query
from redlatch.checks import checked_text
from redlatch.durations import UNSET, Seconds, Unset, optional_seconds
from redlatch.errors import Noting
from redlatch.locks import FOR_EVER
from redlatch.permits import checked_number, checked_ttl, left_of, limit_of, not_there, optional_permits
from redlatch.pickling import NotPickled
from redlatch.typings import Self

T = TypeVar("T")


class Semaphore(NotPickled, _redlatch.Object):
    """Permits that any task of any process takes and gives back. As an async context manager it takes one.

    Make it with `AsyncClient.get_semaphore`. A permit has no owner: if a process dies, the permits that it took stay
    out until another program releases them. Until the permits are set (`try_set_permits`), there are none and an
    acquire waits.

    Waiters of one client are served in the order in which they came. A waiter that wants more permits than are
    available lets waiters that want fewer pass, but then for up to a second none, and so on. Between clients there is
    no order: the first one to ask gets the permits.

    Every method may raise UnavailableError (the server may have carried out the call nevertheless), RefusedError,
    ClosedError, and ConfigError for numbers that cannot be used. Cancelling ends a wait at once, and no permit stays
    taken.
    """

    _client: redlatch.aio.AsyncClient
    _wait: float | None
    #: The count of permits that the first acquire sets.
    _permits: int | None

    def __new__(cls, client: redlatch.aio.AsyncClient, name: str, permits: int | None, wait: Seconds | None) -> Self:
        semaphore = super().__new__(cls, client._native, ("semaphore", checked_text("the name of a semaphore", name)))
        semaphore._client = client
        semaphore._wait = optional_seconds("wait", wait, FOR_EVER)
        semaphore._permits = optional_permits(permits)
        return semaphore

    async def try_set_permits(self, permits: int, *, ttl: Seconds | None = None) -> bool:
        """Sets the count of permits unless it was set before, and returns whether it did. It ends after `ttl`."""
        return await run_query(self, queries.TRY_SET, (checked_number("permits", permits), checked_ttl(ttl)))

    async def add_permits(self, permits: int) -> None:
        """Adds permits. A negative count takes permits away for good."""
        await run_query(self, queries.ADD, (checked_number("permits", permits),))

    async def available_permits(self) -> int:
        """How many permits are available. 0 if they were never set."""
        return await run_query(self, queries.COUNT)

    async def drain_permits(self) -> int:
        """Takes all permits that are available and returns how many."""
        return await run_query(self, queries.DRAIN)

    async def acquire(self, permits: int = 1, *, wait: Seconds | Unset | None = UNSET) -> None:
        """Takes permits, all of them or none. Raises NotAcquiredError when `wait` ends.

        UNSET stands for the wait of `get_semaphore`.
        """
        waiting = self._wait if wait is UNSET else wait
        if not await self.try_acquire(permits, wait=waiting):
            raise not_there(self.name, permits, waiting, self._held_back())

    async def try_acquire(self, permits: int = 1, *, wait: Seconds | None = 0) -> bool:
        """Takes permits if they are available within `wait` (0: now), and returns whether it did."""
        count = checked_number("permits", permits)
        waiting = optional_seconds("wait", wait, FOR_EVER)
        setting = self._permits  # read once: a loop of another thread may set it to None meanwhile
        if setting is not None:
            begun = time.monotonic()
            await run_query(self, queries.TRY_SET, (setting, 0), wait=limit_of(waiting))
            self._permits = None
            waiting = left_of(waiting, begun)
        return await run_query(self, queries.TAKE, (count,), wait=waiting)

    async def release(self, permits: int = 1) -> None:
        """Gives permits back. Any program may have taken them. A semaphore that does not exist begins with them."""
        await run_query(self, queries.GIVE, (checked_number("permits", permits),))

    async def release_if_exists(self, permits: int = 1) -> bool:
        """Gives permits back if the semaphore exists, and returns whether it does."""
        return await run_query(self, queries.GIVE_IF_EXISTS, (checked_number("permits", permits),))

    async def delete(self) -> bool:
        """Deletes the semaphore and returns whether it existed."""
        return await run_query(self, queries.DELETE)

    async def __aenter__(self) -> Self:
        """Takes one permit. Raises NotAcquiredError when the `wait` of `get_semaphore` ends."""
        await self.acquire()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        """Gives the permit back.

        If the body raised an error, that one is raised, and an error of the release becomes a note of it.
        """
        with Noting(kind, error):
            await run_query(self, queries.GIVE_BACK, (1,))

    def __repr__(self) -> str:
        return f"<redlatch.aio.Semaphore {self.name!r} of {self._client!r}>"


class CountDownLatch(NotPickled, _redlatch.Object):
    """A count whose waiters wait until it is zero. At zero it can be set again.

    Make it with `AsyncClient.get_count_down_latch`. Its methods raise what those of `Semaphore` do.
    """

    _client: redlatch.aio.AsyncClient

    def __new__(cls, client: redlatch.aio.AsyncClient, name: str) -> Self:
        latch = super().__new__(cls, client._native, ("latch", checked_text("the name of a latch", name)))
        latch._client = client
        return latch

    async def try_set_count(self, count: int) -> bool:
        """Sets the count if it is zero, and returns whether it did."""
        return await run_query(self, queries.TRY_SET, (checked_number("count", count),))

    async def count_down(self) -> None:
        """Lowers the count by one, unless it is zero."""
        await run_query(self, queries.COUNT_DOWN)

    async def get_count(self) -> int:
        """The count."""
        return await run_query(self, queries.COUNT)

    async def wait(self, wait: Seconds | None = None) -> bool:
        """Waits until the count is zero, and returns True. Returns False if `wait` seconds are over before."""
        return await run_query(self, queries.TAKE, wait=optional_seconds("wait", wait, FOR_EVER))

    async def delete(self) -> bool:
        """Deletes the latch, which ends all waits for it, and returns whether it existed."""
        return await run_query(self, queries.DELETE)

    def __repr__(self) -> str:
        return f"<redlatch.aio.CountDownLatch {self.name!r} of {self._client!r}>"
