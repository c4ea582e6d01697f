"""Semaphores for tasks whose permits have ids, and end with a lease or are renewed."""

from __future__ import annotations

import time

import redlatch
from redlatch import _redlatch, calls, queries
from redlatch.aio.hold import Hold
from redlatch.aio.loops import run
from redlatch.aio.permit import Permit
from redlatch.aio.queries import run_query
from redlatch.aio.tasks import this_task
from redlatch.checks import checked_text
from redlatch.durations import UNSET, Seconds, Unset, optional_lease, optional_seconds
from redlatch.locks import FOR_EVER
from redlatch.owners import next_owner
from redlatch.permit_semaphore import ENDLESS, all_halves, check_renew, halves, ids, not_out
from redlatch.permits import checked_number, left_of, limit_of, not_there, optional_permits
from redlatch.pickling import NotPickled
from redlatch.typings import Self


class PermitExpirableSemaphore(NotPickled, _redlatch.Object):
    """Permits with ids. Any task of any process that knows the id of a permit can give it back, once.

    Make it with `AsyncClient.get_permit_expirable_semaphore`. A permit with a lease ends with it. A permit without a
    lease stays out until it is given back, even if its process dies. A renewed permit ends with its process. Until the
    permits are set, there are none and an acquire waits.

    Waiters of one client are served in the order in which they came. A waiter that wants more permits than are
    available lets waiters that want fewer pass, but then for up to a second none, and so on. Between clients there is
    no order: the first one to ask gets the permits.

    Do not use it beside the semaphore of `AsyncClient.get_semaphore` of the same name. Both have the same keys while no
    permit is out, so a mix-up goes unnoticed.

    Times are seconds or `timedelta`. Every method may raise UnavailableError (the server may have carried out the call
    nevertheless; permits that an acquire may have taken go back), RefusedError, ClosedError, and ConfigError for
    arguments that cannot be used. Cancelling ends a wait at once, and no permit stays taken.
    """

    _client: redlatch.aio.AsyncClient
    _renewed: _redlatch.Object
    _wait: float | None
    #: The count of permits that the first acquire sets.
    _permits: int | None

    def __new__(cls, client: redlatch.aio.AsyncClient, name: str, permits: int | None, wait: Seconds | None) -> Self:
        name = checked_text("the name of a semaphore", name)
        semaphore = super().__new__(cls, client._native, ("permit_semaphore", name))
        semaphore._client = client
        semaphore._renewed = _redlatch.Object(client._native, ("permit", name))
        semaphore._wait = optional_seconds("wait", wait, FOR_EVER)
        semaphore._permits = optional_permits(permits)
        return semaphore

    async def try_set_permits(self, permits: int) -> bool:
        """Sets the count of permits unless it was set before, and returns whether it did."""
        return await run_query(self, queries.TRY_SET, (checked_number("permits", permits),))

    async def set_permits(self, permits: int) -> None:
        """Sets how many permits there are, including those that are out. The available count may become negative."""
        await run_query(self, queries.SET, (checked_number("permits", permits),))

    async def add_permits(self, permits: int) -> None:
        """Adds permits. A negative count takes permits away for good."""
        await run_query(self, queries.ADD, (checked_number("permits", permits),))

    async def available_permits(self) -> int:
        """How many permits are available. 0 if they were never set."""
        return await run_query(self, queries.COUNT)

    async def acquired_permits(self) -> int:
        """How many permits are out."""
        return await run_query(self, queries.OUT)

    async def get_permits(self) -> int:
        """How many permits there are, available or out. 0 if they were never set."""
        return await run_query(self, queries.PERMITS)

    async def acquire(
        self, *, wait: Seconds | Unset | None = UNSET, lease: Seconds | None = None, renew: bool = False
    ) -> Permit:
        """Takes a permit, which gives itself back at the end of `async with`. Raises NotAcquiredError when `wait` ends.

        UNSET stands for the wait of `get_permit_expirable_semaphore`. The permit lasts for `lease` (None: without
        end). With `renew` it is renewed while this process lives, and its `hold` tells of a loss.
        """
        waiting = self._wait if wait is UNSET else wait
        permit = await self.try_acquire(wait=waiting, lease=lease, renew=renew)
        if permit is None:
            raise not_there(self.name, 1, waiting, self._held_back())
        return permit

    async def acquire_many(
        self, permits: int, *, wait: Seconds | Unset | None = UNSET, lease: Seconds | None = None
    ) -> list[Permit]:
        """Takes permits, all of them or none; otherwise as `acquire`."""
        waiting = self._wait if wait is UNSET else wait
        taken = await self.try_acquire_many(permits, wait=waiting, lease=lease)
        if taken is None:
            raise not_there(self.name, permits, waiting, self._held_back())
        return taken

    async def try_acquire(
        self, *, wait: Seconds | None = 0, lease: Seconds | None = None, renew: bool = False
    ) -> Permit | None:
        """Takes a permit as `acquire` does, if one is available within `wait` (0: now), and returns it, else None."""
        check_renew(self.name, renew, lease)
        taken = await self._take(1, wait, lease, renew)
        return taken[0] if taken else None

    async def try_acquire_many(
        self, permits: int, *, wait: Seconds | None = 0, lease: Seconds | None = None
    ) -> list[Permit] | None:
        """Takes all of these permits if they are available within `wait` (0: now), and returns them, else None."""
        return await self._take(checked_number("permits", permits), wait, lease, renew=False)

    async def release(self, *permits: str) -> None:
        """Gives permits back by their ids, all of them or none. Any program may have taken them.

        Raises NotHeldError if one of them is not out any more. Give a renewed permit back by `permit.release()`: this
        method would tell its holder of a loss.
        """
        if not await self.try_release(*permits):
            raise not_out(self.name, permits)

    async def try_release(self, *permits: str) -> bool:
        """Gives permits back by their ids, all of them or none, and returns whether all were still out."""
        return await run_query(self, queries.TRY_GIVE, all_halves(self.name, permits))

    async def update_lease(self, permit: str, lease: Seconds | None) -> bool:
        """Makes a permit last for `lease` from now on (None: without end). Returns whether it was still out."""
        return await run_query(self, queries.EXTEND, halves(permit), lease=optional_lease(lease, ENDLESS))

    async def lease_time(self, permit: str) -> float | None:
        """For how many seconds a permit still lasts: `math.inf` without end, None if it is not out any more."""
        return await run_query(self, queries.LEASE, halves(permit))

    async def delete(self) -> bool:
        """Deletes the semaphore, with the permits that are out, and returns whether it existed."""
        return await run_query(self, queries.DELETE)

    async def _take(
        self, permits: int, wait: Seconds | None, lease: Seconds | None, renew: bool
    ) -> list[Permit] | None:
        waiting = optional_seconds("wait", wait, FOR_EVER)
        lasting = optional_lease(lease, ENDLESS)
        setting = self._permits  # read once: a loop of another thread may set it to None meanwhile
        if setting is not None:
            begun = time.monotonic()
            await run_query(self, queries.TRY_SET, (setting,), wait=limit_of(waiting))
            self._permits = None
            waiting = left_of(waiting, begun)
        # Each renewed permit has an owner of its own, because one task may have any number of them.
        thing: _redlatch.Object = self._renewed if renew else self
        owner = next_owner() if renew else this_task().owner
        taken = calls.answer(await run(thing, calls.ACQUIRE, owner, (waiting, lasting), [permits]), self.name)
        if taken is None:
            return None
        number, items = taken
        hold = Hold(thing, owner, number, None) if renew else None
        return [Permit(self, id, hold) for id in ids(items, permits)]

    def __repr__(self) -> str:
        return f"<redlatch.aio.PermitExpirableSemaphore {self.name!r} of {self._client!r}>"
