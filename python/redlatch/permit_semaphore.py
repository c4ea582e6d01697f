"""Semaphores whose permits have ids, and end by themselves or are renewed."""

from __future__ import annotations

import itertools
import reprlib
from collections.abc import Iterator, Sequence
from typing import Final, TypeVar

import redlatch
from redlatch import _redlatch, asks, calls, turns
from redlatch.durations import UNSET, Seconds, Unset, optional_seconds
from redlatch.errors import ArgumentTypeError, ConfigError, NotHeldError
from redlatch.hold import Hold
from redlatch.locks import FOR_EVER
from redlatch.owners import next_owner, this_thread
from redlatch.permit import Permit, Renewed
from redlatch.permits import checked_number, not_there, optional_permits, run
from redlatch.texts import checked
from redlatch.typings import Self

T = TypeVar("T")

ENDLESS: Final = "None has no end"


class PermitExpirableSemaphore(_redlatch.Object):
    """Permits of which each has an id and is given back by that, once, by any thread of any process that knows it.

    Make it with `Client.get_permit_expirable_semaphore`. A permit with a lease ends by itself; one without is out until
    it is given back, also when its process died; a renewed one ends when its process does. Until the permits were set
    there are none, and an acquire waits. Waiters of one client are served in the order in which they came. A waiter
    that wants more permits than there are does not stand in the way of one of its client that wants less; it is
    overtaken by some, then for at most a second by none, and so on. All this holds inside one client: between clients,
    the first to ask gets what is there.

    Only permits that are out tell it from the semaphore of `Client.get_semaphore` of the same name: do not mix them.

    Times are seconds or `timedelta`. Every method may raise UnavailableError (it may have been carried out
    nevertheless; permits that an acquire may have taken go back), RefusedError, ClosedError, and ConfigError for
    arguments that cannot be used. Ctrl-C ends waiting at once and leaves nothing taken.
    """

    _client: redlatch.Client
    _renewed: _redlatch.Object
    _wait: float | None
    #: What is still to be set.
    _permits: int | None

    def __new__(cls, client: redlatch.Client, name: str, permits: int | None, wait: Seconds | None) -> Self:
        name = checked("the name of a semaphore", name)
        semaphore = super().__new__(cls, client._native, ("permit_semaphore", name))
        semaphore._client = client
        semaphore._renewed = _redlatch.Object(client._native, ("permit", name))
        semaphore._wait = optional_seconds("wait", wait, FOR_EVER)
        semaphore._permits = optional_permits(permits)
        return semaphore

    def try_set_permits(self, permits: int) -> bool:
        """Sets the count of permits unless there is one, and returns whether it did."""
        return self._asked(asks.TRY_SET, checked_number("permits", permits))

    def set_permits(self, permits: int) -> None:
        """Sets how many permits there are, those that are out among them; fewer than none may be available then."""
        self._asked(asks.SET, checked_number("permits", permits))

    def add_permits(self, permits: int) -> None:
        """Adds permits, or takes some away for good if it is negative."""
        self._asked(asks.ADD, checked_number("permits", permits))

    def available_permits(self) -> int:
        """How many permits are available; 0 if they were never set."""
        return self._asked(asks.COUNT)

    def acquired_permits(self) -> int:
        """How many permits are out."""
        return self._asked(asks.OUT)

    def get_permits(self) -> int:
        """How many permits there are, available or out; 0 if they were never set."""
        return self._asked(asks.PERMITS)

    def acquire(
        self, *, wait: Seconds | Unset | None = UNSET, lease: Seconds | None = None, renew: bool = False
    ) -> Permit:
        """Takes a permit, which gives itself back at the end of `with`. Raises NotAcquiredError when `wait` ends.

        UNSET waits as `get_permit_expirable_semaphore` was told. It lasts for `lease` (None: without end); with `renew`
        it is renewed while this process lives, and has a `hold` that tells of its loss.
        """
        waiting = self._wait if wait is UNSET else wait
        permit = self.try_acquire(wait=waiting, lease=lease, renew=renew)
        if permit is None:
            raise not_there(self.name, 1, waiting, self._asked(asks.IS_SET), self._held_back())
        return permit

    def acquire_many(
        self, permits: int, *, wait: Seconds | Unset | None = UNSET, lease: Seconds | None = None
    ) -> list[Permit]:
        """Takes permits, all at once; otherwise as `acquire`."""
        waiting = self._wait if wait is UNSET else wait
        taken = self.try_acquire_many(permits, wait=waiting, lease=lease)
        if taken is None:
            raise not_there(self.name, permits, waiting, self._asked(asks.IS_SET), self._held_back())
        return taken

    def try_acquire(
        self, *, wait: Seconds | None = 0, lease: Seconds | None = None, renew: bool = False
    ) -> Permit | None:
        """Takes a permit as `acquire` does, if one is there within `wait` (0: now), and returns it, else None."""
        check_renew(self.name, renew, lease)
        taken = self._take(self._renewed if renew else self, 1, wait, lease)
        return taken[0] if taken else None

    def try_acquire_many(
        self, permits: int, *, wait: Seconds | None = 0, lease: Seconds | None = None
    ) -> list[Permit] | None:
        """Takes permits, all at once, if they are there within `wait` (0: now), and returns them, else None."""
        return self._take(self, checked_number("permits", permits), wait, lease)

    def release(self, *permits: str) -> None:
        """Gives permits back by their ids, all or none, whoever took them.

        Raises NotHeldError if one of them is not out any more. A renewed permit is better given back by itself
        (`permit.release()`): here it is lost to who holds it.
        """
        if not self.try_release(*permits):
            raise not_out(self.name, permits)

    def try_release(self, *permits: str) -> bool:
        """Gives permits back by their ids, all or none, and returns whether they all were still out."""
        return self._asked(asks.TRY_GIVE, *all_halves(self.name, permits))

    def update_lease(self, permit: str, lease: Seconds | None) -> bool:
        """Has a permit last for `lease` from now on (None: without end), and returns whether it was still out."""
        return self._asked(asks.EXTEND, *halves(permit), lease=optional_seconds("lease", lease, ENDLESS))

    def lease_time(self, permit: str) -> float | None:
        """For how many seconds a permit still lasts: `math.inf` without end, None if it is not out any more."""
        return self._asked(asks.LEASE, *halves(permit))

    def delete(self) -> bool:
        """Deletes it, with the permits that are out, and returns whether it was there."""
        return self._asked(asks.DELETE)

    def _take(
        self, thing: _redlatch.Object, permits: int, wait: Seconds | None, lease: Seconds | None
    ) -> list[Permit] | None:
        waiting, lasting = optional_seconds("wait", wait, FOR_EVER), optional_seconds("lease", lease, ENDLESS)
        within = 0 if turns.are_taken_here() else waiting
        setting = self._permits  # once: another thread may be about to forget them
        if setting is not None:
            self.try_set_permits(setting)
            self._permits = None
        done: list[_redlatch._Outcome] = []
        # Each renewed permit is held by an owner of its own; this thread may have any number of them.
        owner = this_thread.owner if thing is self else next_owner()
        held = Renewed(self._client._native, self.name, owner)
        try:
            thing._run(calls.ACQUIRE, owner, (within, lasting), [permits], done)
            taken = calls.answer(done[0], self.name)
            if taken is None:
                if within != waiting:
                    raise turns.stand_still(self.name)
                return None
            hold = None if thing is self else Hold(held, owner, taken[0], None)
            return [Permit(self, id, hold) for id in ids(taken[1], permits)]
        except BaseException:
            # Ctrl-C may come between the acquire and the return of this function.
            if done and done[0][0] == 0:
                if thing is self:
                    self.try_release(*ids(done[0][2], permits))
                else:
                    Hold(held, owner, done[0][1], None).release()
            raise

    def _asked(self, ask: asks.Ask[T], *numbers: int, lease: float | None = None) -> T:
        return run(self, ask, numbers, lease=lease)

    def __repr__(self) -> str:
        return f"<redlatch.PermitExpirableSemaphore {self.name!r} of {self._client!r}>"


def check_renew(name: str, renew: bool, lease: Seconds | None) -> None:
    """Refuses a permit that is to be renewed and to end."""
    if renew and lease is not None:
        raise ConfigError(
            f"a permit of `{name}` is to be renewed and to end after {lease} s; leave one of them out", name
        )


def not_out(name: str, permits: Sequence[str]) -> NotHeldError:
    """The error of a release of permits that are not all out."""
    ids, verb = (", ".join(permits), "are" if len(permits) > 1 else "is")
    return NotHeldError(
        f"{ids} of `{name}` {verb} not out (any more): given back before, at an end, or never given; "
        "give each permit back once, within its lease",
        name,
    )


def all_halves(name: str, permits: Sequence[str]) -> Iterator[int]:
    """The ids of permits of `name` as the core takes them."""
    if not permits:
        raise ConfigError(f"release of `{name}` is given no permit; give the ids of one or more", name)
    return itertools.chain.from_iterable(map(halves, permits))


def halves(permit: str) -> list[int]:
    """The id of a permit as the core takes it: two numbers of 64 bits with a sign."""
    if not isinstance(permit, str):
        raise ArgumentTypeError(
            f"the permit is {reprlib.repr(permit)}, it must be a str of the 32 hexadecimal digits of its id"
        )
    try:
        raw = bytes.fromhex(permit)
    except ValueError:
        raw = b""
    if len(raw) != 16 or len(permit) != 32:
        raise ConfigError(f"the permit is {reprlib.repr(permit)}, it must be the 32 hexadecimal digits of its id")
    return [int.from_bytes(raw[:8], "big", signed=True), int.from_bytes(raw[8:], "big", signed=True)]


def ids(first: list[int], count: int) -> list[str]:
    """The ids of so many permits, of which the core has given the first one's halves."""
    number = (first[0] % 2**64) << 64 | first[1] % 2**64
    return [f"{(number + i) % 2**128:032x}" for i in range(count)]
