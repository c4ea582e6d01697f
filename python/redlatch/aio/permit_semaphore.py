"""Semaphores whose permits have ids, and end by themselves or are renewed."""

from __future__ import annotations

import redlatch
from redlatch import _redlatch, asks, calls
from redlatch.aio.asking import asked
from redlatch.aio.hold import Hold
from redlatch.aio.loops import run
from redlatch.aio.permit import Permit
from redlatch.aio.tasks import this_task
from redlatch.durations import UNSET, Seconds, Unset, optional_seconds
from redlatch.locks import FOR_EVER
from redlatch.owners import next_owner
from redlatch.permit_semaphore import ENDLESS, all_halves, check_renew, halves, ids, not_out
from redlatch.permits import checked_number, not_there, optional_permits
from redlatch.texts import checked
from redlatch.typings import Self


class PermitExpirableSemaphore(_redlatch.Object):
    """Permits of which each has an id and is given back by that, once, by any task of any process that knows it.

    Make it with `AsyncClient.get_permit_expirable_semaphore`. A permit with a lease ends by itself; one without is out
    until it is given back, also when its process died; a renewed one ends when its process does. Until the permits were
    set there are none, and an acquire waits. Waiters of one client are served in the order in which they came. A waiter
    that wants more permits than there are does not stand in the way of one of its client that wants less; it is
    overtaken by some, then for at most a second by none, and so on. All this holds inside one client: between clients,
    the first to ask gets what is there.

    Only permits that are out tell it from the semaphore of `AsyncClient.get_semaphore` of the same name: do not mix
    them.

    Times are seconds or `timedelta`. Every method may raise UnavailableError (it may have been carried out
    nevertheless; permits that an acquire may have taken go back), RefusedError, ClosedError, and ConfigError for
    arguments that cannot be used. Cancelling ends waiting at once and leaves nothing taken.
    """

    _client: redlatch.aio.AsyncClient
    _renewed: _redlatch.Object
    _wait: float | None
    #: What is still to be set.
    _permits: int | None

    def __new__(cls, client: redlatch.aio.AsyncClient, name: str, permits: int | None, wait: Seconds | None) -> Self:
        name = checked("the name of a semaphore", name)
        semaphore = super().__new__(cls, client._native, ("permit_semaphore", name))
        semaphore._client = client
        semaphore._renewed = _redlatch.Object(client._native, ("permit", name))
        semaphore._wait = optional_seconds("wait", wait, FOR_EVER)
        semaphore._permits = optional_permits(permits)
        return semaphore

    async def try_set_permits(self, permits: int) -> bool:
        """Sets the count of permits unless there is one, and returns whether it did."""
        return await asked(self, asks.TRY_SET, (checked_number("permits", permits),))

    async def set_permits(self, permits: int) -> None:
        """Sets how many permits there are, those that are out among them; fewer than none may be available then."""
        await asked(self, asks.SET, (checked_number("permits", permits),))

    async def add_permits(self, permits: int) -> None:
        """Adds permits, or takes some away for good if it is negative."""
        await asked(self, asks.ADD, (checked_number("permits", permits),))

    async def available_permits(self) -> int:
        """How many permits are available; 0 if they were never set."""
        return await asked(self, asks.COUNT)

    async def acquired_permits(self) -> int:
        """How many permits are out."""
        return await asked(self, asks.OUT)

    async def get_permits(self) -> int:
        """How many permits there are, available or out; 0 if they were never set."""
        return await asked(self, asks.PERMITS)

    async def acquire(
        self, *, wait: Seconds | Unset | None = UNSET, lease: Seconds | None = None, renew: bool = False
    ) -> Permit:
        """Takes a permit, which gives itself back at the end of `async with`. Raises NotAcquiredError when `wait` ends.

        UNSET waits as `get_permit_expirable_semaphore` was told. It lasts for `lease` (None: without end); with `renew`
        it is renewed while this process lives, and has a `hold` that tells of its loss.
        """
        waiting = self._wait if wait is UNSET else wait
        permit = await self.try_acquire(wait=waiting, lease=lease, renew=renew)
        if permit is None:
            raise not_there(self.name, 1, waiting, await asked(self, asks.IS_SET), self._held_back())
        return permit

    async def acquire_many(
        self, permits: int, *, wait: Seconds | Unset | None = UNSET, lease: Seconds | None = None
    ) -> list[Permit]:
        """Takes permits, all at once; otherwise as `acquire`."""
        waiting = self._wait if wait is UNSET else wait
        taken = await self.try_acquire_many(permits, wait=waiting, lease=lease)
        if taken is None:
            raise not_there(self.name, permits, waiting, await asked(self, asks.IS_SET), self._held_back())
        return taken

    async def try_acquire(
        self, *, wait: Seconds | None = 0, lease: Seconds | None = None, renew: bool = False
    ) -> Permit | None:
        """Takes a permit as `acquire` does, if one is there within `wait` (0: now), and returns it, else None."""
        check_renew(self.name, renew, lease)
        taken = await self._take(1, wait, lease, renew)
        return taken[0] if taken else None

    async def try_acquire_many(
        self, permits: int, *, wait: Seconds | None = 0, lease: Seconds | None = None
    ) -> list[Permit] | None:
        """Takes permits, all at once, if they are there within `wait` (0: now), and returns them, else None."""
        return await self._take(checked_number("permits", permits), wait, lease, renew=False)

    async def release(self, *permits: str) -> None:
        """Gives permits back by their ids, all or none, whoever took them.

        Raises NotHeldError if one of them is not out any more. A renewed permit is better given back by itself
        (`permit.release()`): here it is lost to who holds it.
        """
        if not await self.try_release(*permits):
            raise not_out(self.name, permits)

    async def try_release(self, *permits: str) -> bool:
        """Gives permits back by their ids, all or none, and returns whether they all were still out."""
        return await asked(self, asks.TRY_GIVE, all_halves(self.name, permits))

    async def update_lease(self, permit: str, lease: Seconds | None) -> bool:
        """Has a permit last for `lease` from now on (None: without end), and returns whether it was still out."""
        return await asked(self, asks.EXTEND, halves(permit), lease=optional_seconds("lease", lease, ENDLESS))

    async def lease_time(self, permit: str) -> float | None:
        """For how many seconds a permit still lasts: `math.inf` without end, None if it is not out any more."""
        return await asked(self, asks.LEASE, halves(permit))

    async def delete(self) -> bool:
        """Deletes it, with the permits that are out, and returns whether it was there."""
        return await asked(self, asks.DELETE)

    async def _take(
        self, permits: int, wait: Seconds | None, lease: Seconds | None, renew: bool
    ) -> list[Permit] | None:
        times = optional_seconds("wait", wait, FOR_EVER), optional_seconds("lease", lease, ENDLESS)
        setting = self._permits  # once: a loop of another thread may be about to forget them
        if setting is not None:
            await self.try_set_permits(setting)
            self._permits = None
        # Each renewed permit is held by an owner of its own; this task may have any number of them.
        thing, owner = (self._renewed, next_owner()) if renew else (self, this_task().owner)
        taken = calls.answer(await run(thing, calls.ACQUIRE, owner, times, [permits]), self.name)
        if taken is None:
            return None
        hold = Hold(thing, owner, taken[0], None) if renew else None
        return [Permit(self, id, hold) for id in ids(taken[1], permits)]

    def __repr__(self) -> str:
        return f"<redlatch.aio.PermitExpirableSemaphore {self.name!r} of {self._client!r}>"
