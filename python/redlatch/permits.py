"""Semaphores and latches: what is taken of them is nobody's."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from typing import TypeVar

import redlatch
from redlatch import _redlatch, asks, calls, turns
from redlatch.durations import UNSET, Seconds, Unset, optional_seconds, seconds
from redlatch.errors import ArgumentTypeError, ConfigError, NotAcquiredError, UnsupportedError
from redlatch.locks import FOR_EVER, HELD_BACK
from redlatch.owners import this_thread
from redlatch.texts import checked
from redlatch.typings import Self

T = TypeVar("T")


class Semaphore(_redlatch.Permits):
    """Permits that any thread of any process takes and gives back; as a context manager it takes one.

    Make it with `Client.get_semaphore`. Nobody holds a permit: what a process took that died is gone until somebody
    releases it. Until the permits were set (`try_set_permits`) there are none, and an acquire waits. Waiters of one
    client are served in the order in which they came. A waiter that wants more permits than there are does not stand in
    the way of one of its client that wants less; it is overtaken by some, then for at most a second by none, and so on.
    All this holds inside one client: between clients, the first to ask gets what is there.

    Every method may raise UnavailableError (it may have been carried out nevertheless), RefusedError, ClosedError, and
    ConfigError for numbers that cannot be used. Ctrl-C ends waiting at once and leaves nothing taken.
    """

    # The native half looks it up.
    _this_thread = this_thread
    _client: redlatch.Client
    _wait: float | None
    #: What is still to be set.
    _permits: int | None

    def __new__(cls, client: redlatch.Client, name: str, permits: int | None, wait: Seconds | None) -> Self:
        what = ("semaphore", checked("the name of a semaphore", name))
        waiting = optional_seconds("wait", wait, FOR_EVER)
        semaphore = super().__new__(cls, client._native, what, waiting)
        semaphore._client = client
        semaphore._wait = waiting
        semaphore._permits = optional_permits(permits)
        return semaphore

    def try_set_permits(self, permits: int, *, ttl: Seconds | None = None) -> bool:
        """Sets the count of permits unless there is one, and returns whether it did; with `ttl` it ends after that."""
        return self._asked(asks.TRY_SET, checked_number("permits", permits), checked_ttl(ttl))

    def add_permits(self, permits: int) -> None:
        """Adds permits, or takes some away for good if it is negative."""
        self._asked(asks.ADD, checked_number("permits", permits))

    def available_permits(self) -> int:
        """How many permits are available; 0 if they were never set."""
        return self._asked(asks.COUNT)

    def drain_permits(self) -> int:
        """Takes all permits that are available and returns how many."""
        return self._asked(asks.DRAIN)

    def acquire(self, permits: int = 1, *, wait: Seconds | Unset | None = UNSET) -> None:
        """Takes permits, all at once; UNSET waits as `get_semaphore` was told. Raises NotAcquiredError when it ends."""
        waiting = self._wait if wait is UNSET else wait
        if not self.try_acquire(permits, wait=waiting):
            raise self._not_there(permits, waiting)

    def try_acquire(self, permits: int = 1, *, wait: Seconds | None = 0) -> bool:
        """Takes permits if they are there within `wait` (0: now), and returns whether it did."""
        count, waiting = checked_number("permits", permits), optional_seconds("wait", wait, FOR_EVER)
        within = waiting if self._prepare() else 0
        done: list[_redlatch._Outcome] = []
        try:
            self._run(calls.ACQUIRE, this_thread.owner, (within, None), [count], done)
            taken = asks.TAKE.answer(done[0], self.name)
            if not taken and within != waiting:
                raise turns.stand_still(self.name)
            return taken
        except BaseException:
            # Ctrl-C may come between the acquire and the return of this function.
            if done and done[0][0] == 0:
                self.release(permits)
            raise

    def release(self, permits: int = 1) -> None:
        """Gives permits back, whoever took them; a semaphore that is not there begins with them."""
        self._asked(asks.GIVE, checked_number("permits", permits))

    def release_if_exists(self, permits: int = 1) -> bool:
        """Gives permits back if there is such a semaphore, and returns whether there is."""
        return self._asked(asks.GIVE_IF_EXISTS, checked_number("permits", permits))

    def delete(self) -> bool:
        """Deletes it and returns whether it was there."""
        return self._asked(asks.DELETE)

    def _prepare(self) -> bool:
        """Sets the permits that `get_semaphore` was given, once. Returns whether an acquire may wait here."""
        permits = self._permits  # once: another thread may be about to forget them
        if permits is not None:
            self.try_set_permits(permits)
            self._permits = None
        return not turns.are_taken_here()

    def _not_entered(self) -> NotAcquiredError:
        return self._not_there(1, self._wait)

    def _stands_still(self) -> UnsupportedError:
        return turns.stand_still(self.name)

    def _not_there(self, permits: int, waited: Seconds | None) -> NotAcquiredError:
        return not_there(self.name, permits, waited, self._asked(asks.IS_SET), self._held_back())

    def _asked(self, ask: asks.Ask[T], *numbers: int) -> T:
        return run(self, ask, numbers)

    def __repr__(self) -> str:
        return f"<redlatch.Semaphore {self.name!r} of {self._client!r}>"


class CountDownLatch(_redlatch.Object):
    """A count that others wait for to become zero; it can be set again then.

    Make it with `Client.get_count_down_latch`. Its methods raise what those of `Semaphore` do.
    """

    _client: redlatch.Client

    def __new__(cls, client: redlatch.Client, name: str) -> Self:
        latch = super().__new__(cls, client._native, ("latch", checked("the name of a latch", name)))
        latch._client = client
        return latch

    def try_set_count(self, count: int) -> bool:
        """Sets what is to be counted unless something still is, and returns whether it did."""
        return self._asked(asks.TRY_SET, checked_number("count", count))

    def count_down(self) -> None:
        """Counts one down; nothing happens at zero."""
        self._asked(asks.COUNT_DOWN)

    def get_count(self) -> int:
        """What is left to be counted."""
        return self._asked(asks.COUNT)

    def wait(self, wait: Seconds | None = None) -> bool:
        """Waits until the count is zero and returns True; False if `wait` seconds are over before."""
        waiting = optional_seconds("wait", wait, FOR_EVER)
        within = 0 if turns.are_taken_here() else waiting
        is_zero = self._asked(asks.TAKE, wait=within)
        if not is_zero and within != waiting:
            raise turns.stand_still(self.name)
        return is_zero

    def delete(self) -> bool:
        """Deletes it, which opens it, and returns whether it was there."""
        return self._asked(asks.DELETE)

    def _asked(self, ask: asks.Ask[T], *numbers: int, wait: float | None = 0) -> T:
        return run(self, ask, numbers, wait)

    def __repr__(self) -> str:
        return f"<redlatch.CountDownLatch {self.name!r} of {self._client!r}>"


def checked_number(what: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ArgumentTypeError(f"{what} is {reprlib.repr(value)}, it must be an int")
    if not -(2**62) < value < 2**62:
        raise ConfigError(f"{what} is {reprlib.repr(value)}, it must be an int between -2**62 and 2**62")
    return value


def optional_permits(permits: int | None) -> int | None:
    """How many permits a semaphore is to have, checked; None: that is for another caller to say."""
    if permits is None:
        return None
    if checked_number("permits", permits) < 1:
        raise ConfigError(f"permits is {permits}, it must be from 1 on; leave it out if they are set elsewhere")
    return permits


def checked_ttl(ttl: Seconds | None) -> int:
    """How many ms a semaphore lives, 0 without end."""
    return 0 if ttl is None else max(1, round(seconds("ttl", ttl, "leave it out for no end") * 1000))


def not_there(name: str, permits: int, wait: Seconds | None, are_set: bool, held_back: bool) -> NotAcquiredError:
    """The error of an acquire whose wait has ended; `held_back`: its server is in quarantine."""
    less = ", or ask for fewer" if permits > 1 else " or try later"
    why = f"; wait longer{less}" if are_set else " and were never set; call try_set_permits first"
    if held_back:
        why = f": {HELD_BACK}"
    return NotAcquiredError(f"{permits} permits of `{name}` were not there within {wait} s{why}", name)


def run(
    thing: _redlatch.Object,
    ask: asks.Ask[T],
    numbers: Iterable[int],
    wait: float | None = 0,
    lease: float | None = None,
) -> T:
    """Asks on this thread, and waits for the answer."""
    done: list[_redlatch._Outcome] = []
    thing._run(ask.op, this_thread.owner, (wait, lease), list(numbers), done)
    return ask.answer(done[0], thing.name)
