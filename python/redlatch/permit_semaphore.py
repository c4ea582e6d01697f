"""Semaphores for threads whose permits have ids, and end with a lease or are renewed."""

from __future__ import annotations

import itertools
import reprlib
import time
from collections.abc import Iterator, Sequence
from typing import Final, TypeVar

import redlatch
from redlatch import _redlatch, calls, cooperative, queries
from redlatch.checks import checked_text
from redlatch.durations import UNSET, Seconds, Unset, optional_lease, optional_seconds
from redlatch.errors import ArgumentTypeError, ConfigError, NotHeldError
from redlatch.hold import Hold
from redlatch.locks import FOR_EVER
from redlatch.owners import next_owner, this_thread
from redlatch.permit import Permit, Renewed
from redlatch.permits import checked_number, left_of, limit_of, not_there, optional_permits
from redlatch.pickling import NotPickled
from redlatch.queries import Query, run_query
from redlatch.typings import Self

T = TypeVar("T")

ENDLESS: Final = "None has no end"


class PermitExpirableSemaphore(NotPickled, _redlatch.Object):
    """Permits with ids. Any thread of any process that knows the id of a permit can give it back, once.

    Make it with `Client.get_permit_expirable_semaphore`. A permit with a lease ends with it. A permit without a lease
    stays out until it is given back, even if its process dies. A renewed permit ends with its process. Until the
    permits are set, there are none and an acquire waits.

    Waiters of one client are served in the order in which they came. A waiter that wants more permits than are
    available lets waiters that want fewer pass, but then for up to a second none, and so on. Between clients there is
    no order: the first one to ask gets the permits.

    Do not use it beside the semaphore of `Client.get_semaphore` of the same name. Both have the same keys while no
    permit is out, so a mix-up goes unnoticed.

    Times are seconds or `timedelta`. Every method may raise UnavailableError (the server may have carried out the call
    nevertheless; permits that an acquire may have taken go back), RefusedError, ClosedError, and ConfigError for
    arguments that cannot be used. Ctrl-C ends a wait at once, and no permit stays taken.
    """

    _client: redlatch.Client
    _renewed: _redlatch.Object
    _wait: float | None
    #: The count of permits that the first acquire sets.
    _permits: int | None

    def __new__(cls, client: redlatch.Client, name: str, permits: int | None, wait: Seconds | None) -> Self:
        name = checked_text("the name of a semaphore", name)
        semaphore = super().__new__(cls, client._native, ("permit_semaphore", name))
        semaphore._client = client
        semaphore._renewed = _redlatch.Object(client._native, ("permit", name))
        semaphore._wait = optional_seconds("wait", wait, FOR_EVER)
        semaphore._permits = optional_permits(permits)
        return semaphore

    def try_set_permits(self, permits: int) -> bool:
        """Sets the count of permits unless it was set before, and returns whether it did."""
        return self._query(queries.TRY_SET, checked_number("permits", permits))

    def set_permits(self, permits: int) -> None:
        """Sets how many permits there are, including those that are out. The available count may become negative."""
        self._query(queries.SET, checked_number("permits", permits))

    def add_permits(self, permits: int) -> None:
        """Adds permits. A negative count takes permits away for good."""
        self._query(queries.ADD, checked_number("permits", permits))

    def available_permits(self) -> int:
        """How many permits are available. 0 if they were never set."""
        return self._query(queries.COUNT)

    def acquired_permits(self) -> int:
        """How many permits are out."""
        return self._query(queries.OUT)

    def get_permits(self) -> int:
        """How many permits there are, available or out. 0 if they were never set."""
        return self._query(queries.PERMITS)

    def acquire(
        self, *, wait: Seconds | Unset | None = UNSET, lease: Seconds | None = None, renew: bool = False
    ) -> Permit:
        """Takes a permit, which gives itself back at the end of `with`. Raises NotAcquiredError when `wait` ends.

        UNSET stands for the wait of `get_permit_expirable_semaphore`. The permit lasts for `lease` (None: without
        end). With `renew` it is renewed while this process lives, and its `hold` tells of a loss.
        """
        waiting = self._wait if wait is UNSET else wait
        permit = self.try_acquire(wait=waiting, lease=lease, renew=renew)
        if permit is None:
            raise not_there(self.name, 1, waiting, self._held_back())
        return permit

    def acquire_many(
        self, permits: int, *, wait: Seconds | Unset | None = UNSET, lease: Seconds | None = None
    ) -> list[Permit]:
        """Takes permits, all of them or none; otherwise as `acquire`."""
        waiting = self._wait if wait is UNSET else wait
        taken = self.try_acquire_many(permits, wait=waiting, lease=lease)
        if taken is None:
            raise not_there(self.name, permits, waiting, self._held_back())
        return taken

    def try_acquire(
        self, *, wait: Seconds | None = 0, lease: Seconds | None = None, renew: bool = False
    ) -> Permit | None:
        """Takes a permit as `acquire` does, if one is available within `wait` (0: now), and returns it, else None."""
        check_renew(self.name, renew, lease)
        taken = self._take(self._renewed if renew else self, 1, wait, lease)
        return taken[0] if taken else None

    def try_acquire_many(
        self, permits: int, *, wait: Seconds | None = 0, lease: Seconds | None = None
    ) -> list[Permit] | None:
        """Takes all of these permits if they are available within `wait` (0: now), and returns them, else None."""
        return self._take(self, checked_number("permits", permits), wait, lease)

    def release(self, *permits: str) -> None:
        """Gives permits back by their ids, all of them or none. Any program may have taken them.

        Raises NotHeldError if one of them is not out any more. Give a renewed permit back by `permit.release()`: this
        method would tell its holder of a loss.
        """
        if not self.try_release(*permits):
            raise not_out(self.name, permits)

    def try_release(self, *permits: str) -> bool:
        """Gives permits back by their ids, all of them or none, and returns whether all were still out."""
        return self._query(queries.TRY_GIVE, *all_halves(self.name, permits))

    def update_lease(self, permit: str, lease: Seconds | None) -> bool:
        """Makes a permit last for `lease` from now on (None: without end). Returns whether it was still out."""
        return self._query(queries.EXTEND, *halves(permit), lease=optional_lease(lease, ENDLESS))

    def lease_time(self, permit: str) -> float | None:
        """For how many seconds a permit still lasts: `math.inf` without end, None if it is not out any more."""
        return self._query(queries.LEASE, *halves(permit))

    def delete(self) -> bool:
        """Deletes the semaphore, with the permits that are out, and returns whether it existed."""
        return self._query(queries.DELETE)

    def _take(
        self, thing: _redlatch.Object, permits: int, wait: Seconds | None, lease: Seconds | None
    ) -> list[Permit] | None:
        waiting = optional_seconds("wait", wait, FOR_EVER)
        lasting = optional_lease(lease, ENDLESS)
        setting = self._permits  # read once: another thread may set it to None meanwhile
        if setting is not None:
            begun = time.monotonic()
            run_query(self, queries.TRY_SET, (setting,), wait=limit_of(waiting))
            self._permits = None
            waiting = left_of(waiting, begun)
        within = 0 if cooperative.is_this_thread() else waiting
        done: list[_redlatch._Outcome] = []
        # Each renewed permit has an owner of its own, because one thread may have any number of them.
        owner = this_thread.owner if thing is self else next_owner()
        held = Renewed(self._client._native, self.name, owner)
        try:
            thing._run(calls.ACQUIRE, owner, (within, lasting), [permits], done)
            taken = calls.answer(done[0], self.name)
            if taken is None:
                if within != waiting:
                    raise cooperative.would_block(self.name)
                return None
            number, items = taken
            hold = None if thing is self else Hold(held, owner, number, None)
            return [Permit(self, id, hold) for id in ids(items, permits)]
        except BaseException:
            # Ctrl-C may interrupt this function after the acquire. Its caller would not get the permits.
            interrupted = calls.succeeded(done)
            if interrupted is not None:
                number, items = interrupted
                if thing is self:
                    self.try_release(*ids(items, permits))
                else:
                    Hold(held, owner, number, None).release()
            raise

    def _query(self, query: Query[T], *numbers: int, lease: float | None = None) -> T:
        return run_query(self, query, numbers, lease=lease)

    def __repr__(self) -> str:
        return f"<redlatch.PermitExpirableSemaphore {self.name!r} of {self._client!r}>"


def check_renew(name: str, renew: bool, lease: Seconds | None) -> None:
    """Raises ConfigError for a permit that is to be renewed and also to end with a lease."""
    if renew and lease is not None:
        raise ConfigError(
            f"a permit of `{name}` is to be renewed and to end after {lease} s; leave one of them out", name
        )


def not_out(name: str, permits: Sequence[str]) -> NotHeldError:
    """The error of a release of permits that are not all out."""
    ids = ", ".join(permits)
    verb = "are" if len(permits) > 1 else "is"
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
    """The id of a permit as the core takes it: two signed numbers of 64 bits."""
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
    """The ids of `count` permits. They follow each other; `first` is the first one, in halves as the core gives it."""
    number = (first[0] % 2**64) << 64 | first[1] % 2**64
    return [f"{(number + i) % 2**128:032x}" for i in range(count)]
