"""The lock: Redisson's methods, `with`, `@lock`, and the contract of `threading.RLock`."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Final, Optional, TypeVar

import redlatch
from redlatch import _redlatch, asks, misses
from redlatch.blocking import Blocking
from redlatch.durations import UNSET, Seconds, Unset, optional_seconds
from redlatch.errors import ConfigError, NotAcquiredError, NotHeldError, UnsupportedError
from redlatch.hold import Hold
from redlatch.owners import EACH, Caller, Owner, is_gone
from redlatch.owners import caller as this_caller
from redlatch.owners import checked as checked_owner
from redlatch.texts import checked as checked_text
from redlatch.typings import Place, Self

if TYPE_CHECKING:
    from redlatch.templates import Rename

F = TypeVar("F", bound=Callable[..., Any])
H = TypeVar("H", bound=_redlatch.Held)
T = TypeVar("T")

#: Of each hold the caller's owner, and where its block begins.
Records = list[tuple[int, H, Optional[Place]]]

FOR_EVER: Final = "None waits for ever, 0 tries once"
HELD_BACK: Final = (
    "its server may have lost locks, and grants none until their holders must have noticed (the option quarantine); "
    "try later"
)
RENEWED: Final = "None has it renewed until it is released"


class Lock(Blocking):
    """A lock of one name, held by one owner at a time among all processes that share the server.

    `Client.lock` makes it with an owner for each acquire: every acquire excludes every other one. Its end may come from
    any thread or task, through the same object: the end of a block releases what the block took; `release()` releases
    the latest hold that this thread or task took otherwise, else the only one there is. A hold that was lost is told of
    in the place of a release. `with lock.lock() as hold` names the hold that ends.

    `Client.get_lock` makes it reentrant: the owner is the calling thread, unless it was given one, and any number of
    objects stand for the same lock. Every acquire makes a hold of its own: a lock acquired twice is free after two
    releases.

    In a thread in which an event loop runs no acquire waits: that would stop the loop. Where it would have to, and
    where the thread would be the owner, it is an UnsupportedError.

    Times are seconds or `timedelta`; UNSET means what `get_lock` was given. Every method may raise UnavailableError
    (the server cannot be reached in time), RefusedError (it said no: a key of that name is no lock, memory is full, …),
    ClosedError, and ConfigError for arguments that cannot be used. Ctrl-C ends waiting at once and leaves nothing held.
    """

    _kind: ClassVar[str] = "plain"
    _shared: ClassVar[bool] = False

    _client: redlatch.Client
    _wait: float | None
    _lease: float | None
    _owner: Owner
    _numbers: Sequence[int]
    #: The open `with` blocks, and what was taken otherwise by owners for each acquire.
    _blocks: Records[Hold]
    _taken: Records[Hold]
    #: What `misses` calls this object by; None: no acquire through it got nothing yet.
    _missed: int | None = None

    def __new__(
        cls,
        client: redlatch.Client,
        name: str,
        wait: Seconds | None,
        lease: Seconds | None,
        owner: Owner,
        numbers: Sequence[int] = (),
        native: _redlatch.Client | None = None,
        shared: bool | None = None,
    ) -> Self:
        native = native or client._native
        name, owner = checked_text("the name of a lock", name), checked_owner(owner)
        waiting, lasting = optional_seconds("wait", wait, FOR_EVER), optional_seconds("lease", lease, RENEWED)
        number = owner if isinstance(owner, int) else None
        # Of each acquire: whether its end may come from any thread or task.
        each = not (cls._shared if shared is None else shared) if owner is EACH else None
        times = (waiting, lasting)
        lock = super().__new__(cls, native, (cls._kind, name), times, number, list(numbers), each)
        lock._blocks = []
        lock._taken = []
        lock._client = client
        lock._wait = waiting
        lock._lease = lasting
        lock._owner = owner
        lock._numbers = numbers
        return lock

    @property
    def client(self) -> redlatch.Client:
        """The client that it came from."""
        return self._client

    def lock(self, *, lease: Seconds | Unset | None = UNSET, wait: Seconds | Unset | None = UNSET) -> Hold:
        """Acquires the lock and returns the hold.

        Raises NotAcquiredError when `wait` ends and another owner holds the lock, UnavailableError when the server did
        not say so during the wait.
        """
        waited = self._wait if wait is UNSET else optional_seconds("wait", wait, FOR_EVER)
        hold = self._acquire(waited, lease)
        if hold is None:
            raise self._not_acquired(waited)
        return hold

    def try_lock(self, *, wait: Seconds | None = 0, lease: Seconds | Unset | None = UNSET) -> Hold | None:
        """Acquires the lock if that succeeds within `wait` (0: at the first try) and returns the hold, else None.

        Raises UnavailableError when the server did not say during the wait that the lock is taken.
        """
        return self._acquire(optional_seconds("wait", wait, FOR_EVER), lease)

    def force_unlock(self) -> bool:
        """Takes the lock away from whoever holds it, all holds at once, and returns whether somebody did."""
        return self._asked(asks.FORCE_UNLOCK)

    def is_locked(self) -> bool:
        """Whether anybody holds it."""
        return self._asked(asks.IS_LOCKED)

    def is_held_by_current_thread(self) -> bool:
        """Whether the owner holds it: the calling thread, or the owner that `get_lock` was given.

        Raises UnsupportedError where each acquire is an owner of its own.
        """
        check_has_owner(self.name, self._owner)
        return self.hold_count() > 0

    def hold_count(self) -> int:
        """How many holds the owner has; where each acquire is an owner, how many taken through this object are open."""
        return count_held(self) if self._owner is EACH else self._asked(asks.HOLD_COUNT)

    def remain_time_to_live(self) -> float | None:
        """In how many seconds it ends if nobody renews it: None if it is free, `math.inf` if it has no end."""
        return self._asked(asks.REMAIN_TIME_TO_LIVE)

    def acquire(self, blocking: bool = True, timeout: float | Unset = UNSET) -> Hold | None:
        """Acquires as `threading.RLock.acquire` does, and returns the hold or None.

        `timeout` is in seconds, -1 waits for ever. Left out, it waits as the lock was told to by `wait`, and raises
        NotAcquiredError when that wait ends: a program that asks for no time looks at no result. Raises ValueError,
        OverflowError and TypeError as RLock does.
        """
        hold = self._acquire(rlock_wait(blocking, timeout, self._wait), UNSET)
        if hold is None and blocking and timeout is UNSET:
            raise self._not_acquired(self._wait)
        return hold

    def locked(self) -> bool:
        """Is `is_locked`, under the name that `threading.RLock` has for it."""
        return self.is_locked()

    def __call__(self, function: F) -> F:
        """Decorates a function: each call runs under the lock, as in a `with` block.

        The name may ask for arguments of the function, as `str.format` writes them: `order:{order_id}`; then each call
        takes the lock of its own arguments, defaults included, and `{{` stands for a brace.

        A coroutine function holds the same lock as a task, by `redlatch.aio`: no loop waits for it, and calls of other
        tasks exclude each other.

        Raises ConfigError for an argument that the function does not take, UnsupportedError for generators and
        context managers, which would run when the lock is free again. A call raises ConfigError for an argument that it
        does not have, or that has no text, and UnsupportedError if what it returns has yet to run, or runs elsewhere.
        """
        from redlatch import decorating

        return decorating.decorated(self, function)

    def _acquire(self, wait: float | None, lease: Seconds | Unset | None) -> Hold | None:
        lasting = self._lease if lease is UNSET else optional_seconds("lease", lease, RENEWED)
        taken: list[Hold] = []
        try:
            self._take(wait, lasting, taken)
            note_taken(self, len(taken) > 0)
            return taken[0] if taken else None
        except BaseException:
            # Ctrl-C may come between the acquire and the return of this function.
            if taken:
                taken[0].__exit__(BaseException, None, None)
            note_taken(self, False)
            raise

    def _names(self) -> tuple[str, ...]:
        """The names of all locks that this one is made of."""
        return (self.name,)

    def _renamed(self, rename: Rename) -> Self:
        """The same lock under another name."""
        return Lock.__new__(
            type(self), self._client, rename(self.name), self._wait, self._lease, self._owner, self._numbers
        )

    def _asked(self, ask: asks.Ask[T]) -> T:
        """Asks what has an answer at once, whoever holds the lock."""
        return ask.answer(self._ask(ask.op), self.name)

    def _not_acquired(self, waited: float | None) -> NotAcquiredError:
        return not_acquired(self, waited)

    def _is_shared(self) -> bool:
        """Whether several owners hold it at once."""
        return self._shared

    def _keys(self) -> list[object]:
        """What it locks, to compare with what other locks do."""
        return [(self._client._native, self.name)]

    def _not_entered(self) -> NotHeldError:
        return not_entered(self.name, "with")

    def _not_taken(self) -> NotHeldError:
        return not_taken(self.name, "with")

    def _release_of_nothing(self, meant: tuple[int, int] | None) -> NotHeldError | None:
        """The error of a release by a caller whose latest acquire got nothing; None: it may release."""
        return release_of_nothing(self, meant)

    def __repr__(self) -> str:
        return f"<redlatch.{type(self).__name__} {self.name!r} of {self._client!r}>"


def not_acquired(lock: _redlatch.Object, waited: float | None) -> NotAcquiredError:
    """The error of an acquire whose wait has ended, in the thread or task that waited."""
    why = "another owner holds it; wait longer or try later"
    if lock._held_back():
        why = HELD_BACK
    else:
        caller = this_caller()
        if any(caller.took(owner) for owner in lock._owners()):
            why = f"this {caller.kind} asks for what its own hold keeps; release that first, or pass it on"
    return NotAcquiredError(f"`{lock.name}` was not acquired within {waited} s: {why}", lock.name)


def not_entered(name: str, block: str) -> NotHeldError:
    """The error of the end of a block of which the lock object does not know which hold it began with."""
    return NotHeldError(
        f"`{name}`: no block of this lock object is open that could end here, in this thread and task; "
        f"use `{block} lock.lock() as hold` to end it elsewhere",
        name,
    )


def not_taken(name: str, block: str) -> NotHeldError:
    """The error of a release of a lock object through which nothing was taken that it could mean."""
    return NotHeldError(
        f"`{name}` is not held through this lock object by this thread or task: it was released already, or another "
        f"object took it; release each acquire once, or its hold: `hold.release()`, `{block} lock.lock() as hold`",
        name,
    )


def note_taken(lock: Any, got: bool, caller: Caller | None = None) -> None:
    """Notes whether the caller's latest acquire through a lock object got something."""
    if lock._owner is EACH and not (got and lock._missed is None):
        misses.forget(lock, caller) if got else misses.note(lock, caller)


def release_of_nothing(lock: Any, meant: tuple[int, int] | None, caller: Caller | None = None) -> NotHeldError | None:
    """The error of a release by a caller whose latest acquire through the lock object got nothing.

    `meant` is the hold of another one that the release would end, its taker and its serial number; None: there is none.
    What was taken after the miss, by a thread or task that has ended since, may have been taken for the caller.
    """
    missed = misses.answered(lock, caller)
    if missed is None or (meant is not None and meant[1] > missed and is_gone(meant[0])):
        return None
    return NotHeldError(
        f"`{lock.name}`: the latest acquire of this thread or task got nothing, so its release would end the hold of "
        "another one; release only what an acquire gave: `if hold := lock.try_lock(): …`",
        lock.name,
    )


def check_has_owner(name: str, owner: Owner) -> None:
    """Refuses a question about the owner where each acquire is another one."""
    if owner is EACH:
        raise UnsupportedError(
            f"`{name}`: each acquire is an owner of its own, no thread or task is; ask its hold (`hold.ensure()`), or "
            "how many are open (`lock.hold_count()`)",
            name,
        )


def count_held(lock: Any) -> int:
    """How many holds that were taken through a lock object are open."""
    return _redlatch.count_held(lock._blocks) + _redlatch.count_held(lock._taken)


def rlock_wait(blocking: bool, timeout: float | Unset, wait: float | None) -> float | None:
    """How long `acquire(blocking, timeout)` waits, without `timeout` for `wait`; its errors are those of RLock."""
    if blocking not in (True, False):
        raise TypeError(f"blocking is {blocking!r}, it must be True or False; how long it waits is timeout=5")
    if timeout is UNSET:
        return wait if blocking else 0.0
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
        raise TypeError(f"timeout is {timeout!r}, it must be seconds as int or float; -1 waits for ever")
    if not blocking and timeout != -1:
        raise ConfigError(f"timeout is {timeout!r}, and acquire(False) waits for nothing; leave one of them out")
    if timeout == -1:
        return None if blocking else 0.0
    if math.isnan(timeout) or timeout < 0:
        raise ConfigError(f"timeout is {timeout!r}, it must be from 0 s on; -1 waits for ever")
    if timeout > threading.TIMEOUT_MAX:
        raise OverflowError(f"timeout is {timeout!r} s, the most is {threading.TIMEOUT_MAX}; -1 waits for ever")
    return float(timeout)
