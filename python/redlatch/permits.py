"""Semaphores and latches for threads. Their permits and counts have no owner."""

from __future__ import annotations

import reprlib
import time
from typing import TypeVar

import redlatch
from redlatch import _redlatch, calls, cooperative, queries
from redlatch.checks import checked_text
from redlatch.durations import UNSET, Seconds, Unset, optional_seconds, seconds
from redlatch.errors import ArgumentTypeError, ConfigError, NotAcquiredError, UnsupportedError
from redlatch.locks import FOR_EVER, HELD_BACK
from redlatch.owners import this_thread
from redlatch.pickling import NotPickled
from redlatch.queries import Query, run_query
from redlatch.typings import Self

T = TypeVar("T")


class Semaphore(NotPickled, _redlatch.Permits):
    """Permits that any thread of any process takes and gives back. As a context manager it takes one.

    Make it with `Client.get_semaphore`. A permit has no owner: if a process dies, the permits that it took stay out
    until another program releases them. Until the permits are set (`try_set_permits`), there are none and an acquire
    waits.

    Waiters of one client are served in the order in which they came. A waiter that wants more permits than are
    available lets waiters that want fewer pass, but then for up to a second none, and so on. Between clients there is
    no order: the first one to ask gets the permits.

    Every method may raise UnavailableError (the server may have carried out the call nevertheless), RefusedError,
    ClosedError, and ConfigError for numbers that cannot be used. Ctrl-C ends a wait at once, and no permit stays
    taken.
    """

    # The native half reads this attribute.
    _this_thread = this_thread
    _client: redlatch.Client
    _wait: float | None
    #: The count of permits that the first acquire sets.
    _permits: int | None

    def __new__(cls, client: redlatch.Client, name: str, permits: int | None, wait: Seconds | None) -> Self:
        what = ("semaphore", checked_text("the name of a semaphore", name))
        waiting = optional_seconds("wait", wait, FOR_EVER)
        semaphore = super().__new__(cls, client._native, what)
        semaphore._client = client
        semaphore._wait = waiting
        semaphore._permits = optional_permits(permits)
        return semaphore

    def try_set_permits(self, permits: int, *, ttl: Seconds | None = None) -> bool:
        """Sets the count of permits unless it was set before, and returns whether it did. It ends after `ttl`."""
        return self._query(queries.TRY_SET, checked_number("permits", permits), checked_ttl(ttl))

    def add_permits(self, permits: int) -> None:
        """Adds permits. A negative count takes permits away for good."""
        self._query(queries.ADD, checked_number("permits", permits))

    def available_permits(self) -> int:
        """How many permits are available. 0 if they were never set."""
        return self._query(queries.COUNT)

    def drain_permits(self) -> int:
        """Takes all permits that are available and returns how many."""
        return self._query(queries.DRAIN)

    def acquire(self, permits: int = 1, *, wait: Seconds | Unset | None = UNSET) -> None:
        """Takes permits, all of them or none. Raises NotAcquiredError when `wait` ends.

        UNSET stands for the wait of `get_semaphore`.
        """
        waiting = self._wait if wait is UNSET else wait
        if not self.try_acquire(permits, wait=waiting):
            raise self._not_there(permits, waiting)

    def try_acquire(self, permits: int = 1, *, wait: Seconds | None = 0) -> bool:
        """Takes permits if they are available within `wait` (0: now), and returns whether it did."""
        count = checked_number("permits", permits)
        waiting = optional_seconds("wait", wait, FOR_EVER)
        left = self._set_first(waiting)
        within = 0 if cooperative.is_this_thread() else left
        done: list[_redlatch._Outcome] = []
        try:
            self._run(calls.ACQUIRE, this_thread.owner, (within, None), [count], done)
            taken = queries.TAKE.answer(done[0], self.name)
            if not taken and within != left:
                raise cooperative.would_block(self.name)
            return taken
        except BaseException:
            # Ctrl-C may interrupt this function after the acquire. Its caller would not know of the permits.
            if calls.succeeded(done) is not None:
                self._query(queries.GIVE_BACK, count)
            raise

    def release(self, permits: int = 1) -> None:
        """Gives permits back. Any program may have taken them. A semaphore that does not exist begins with them."""
        self._query(queries.GIVE, checked_number("permits", permits))

    def release_if_exists(self, permits: int = 1) -> bool:
        """Gives permits back if the semaphore exists, and returns whether it does."""
        return self._query(queries.GIVE_IF_EXISTS, checked_number("permits", permits))

    def delete(self) -> bool:
        """Deletes the semaphore and returns whether it existed."""
        return self._query(queries.DELETE)

    def _prepare(self) -> tuple[float | None, bool]:
        """Prepares the acquire of a block. Returns what is left of its wait, and whether it may wait here."""
        return self._set_first(self._wait), not cooperative.is_this_thread()

    def _set_first(self, waiting: float | None) -> float | None:
        """Sets the permits that `get_semaphore` was given, once, within `waiting`. Returns what is left of that."""
        permits = self._permits  # read once: another thread may set it to None meanwhile
        if permits is None:
            return waiting
        begun = time.monotonic()
        run_query(self, queries.TRY_SET, (permits, 0), wait=limit_of(waiting))
        self._permits = None
        return left_of(waiting, begun)

    def _not_entered(self) -> NotAcquiredError:
        return self._not_there(1, self._wait)

    def _would_block(self) -> UnsupportedError:
        return cooperative.would_block(self.name)

    def _not_there(self, permits: int, waited: Seconds | None) -> NotAcquiredError:
        return not_there(self.name, permits, waited, self._held_back())

    def _query(self, query: Query[T], *numbers: int) -> T:
        return run_query(self, query, numbers)

    def __repr__(self) -> str:
        return f"<redlatch.Semaphore {self.name!r} of {self._client!r}>"


class CountDownLatch(NotPickled, _redlatch.Object):
    """A count whose waiters wait until it is zero. At zero it can be set again.

    Make it with `Client.get_count_down_latch`. Its methods raise what those of `Semaphore` do.
    """

    _client: redlatch.Client

    def __new__(cls, client: redlatch.Client, name: str) -> Self:
        latch = super().__new__(cls, client._native, ("latch", checked_text("the name of a latch", name)))
        latch._client = client
        return latch

    def try_set_count(self, count: int) -> bool:
        """Sets the count if it is zero, and returns whether it did."""
        return self._query(queries.TRY_SET, checked_number("count", count))

    def count_down(self) -> None:
        """Lowers the count by one, unless it is zero."""
        self._query(queries.COUNT_DOWN)

    def get_count(self) -> int:
        """The count."""
        return self._query(queries.COUNT)

    def wait(self, wait: Seconds | None = None) -> bool:
        """Waits until the count is zero, and returns True. Returns False if `wait` seconds are over before."""
        waiting = optional_seconds("wait", wait, FOR_EVER)
        within = 0 if cooperative.is_this_thread() else waiting
        is_zero = self._query(queries.TAKE, wait=within)
        if not is_zero and within != waiting:
            raise cooperative.would_block(self.name)
        return is_zero

    def delete(self) -> bool:
        """Deletes the latch, which ends all waits for it, and returns whether it existed."""
        return self._query(queries.DELETE)

    def _query(self, query: Query[T], *numbers: int, wait: float | None = 0) -> T:
        return run_query(self, query, numbers, wait=wait)

    def __repr__(self) -> str:
        return f"<redlatch.CountDownLatch {self.name!r} of {self._client!r}>"


def checked_number(what: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ArgumentTypeError(f"{what} is {reprlib.repr(value)}, it must be an int")
    if not -(2**62) < value < 2**62:
        raise ConfigError(f"{what} is {reprlib.repr(value)}, it must be an int between -2**62 and 2**62")
    return value


def optional_permits(permits: int | None) -> int | None:
    """Returns how many permits a semaphore is to have; None: another caller sets them. Raises ConfigError."""
    if permits is None:
        return None
    if checked_number("permits", permits) < 1:
        raise ConfigError(f"permits is {permits}, it must be from 1 on; leave it out if they are set elsewhere")
    return permits


def limit_of(waiting: float | None) -> float:
    """The limit of a call before an acquire with this wait. 0 stands for the limits of the client."""
    return 0 if waiting is None else waiting


def left_of(waiting: float | None, begun: float) -> float | None:
    """What is left of a wait. It does not become 0: a try without a wait has the limits of the client."""
    return max(waiting - (time.monotonic() - begun), 0.001) if waiting else waiting


def checked_ttl(ttl: Seconds | None) -> int:
    """How many ms a semaphore lives; 0: without end."""
    return 0 if ttl is None else max(1, round(seconds("ttl", ttl, "leave it out for no end") * 1000))


def not_there(name: str, permits: int, wait: Seconds | None, held_back: bool) -> NotAcquiredError:
    """The error of an acquire whose wait has ended. With `held_back` its server is in quarantine.

    It names both causes: a question to the server would take time after the end of the wait.
    """
    less = "ask for fewer" if permits > 1 else "try later"
    why = f"they are out, or were never set; wait longer, {less}, or call try_set_permits first"
    if held_back:
        why = HELD_BACK
    return NotAcquiredError(f"{permits} permits of `{name}` were not there within {wait} s: {why}", name)
