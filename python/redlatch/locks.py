"""The lock for threads: Redisson's methods, `with`, `@lock`, and the contract of `threading.RLock`."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Final, Literal, Optional, TypeVar, overload

import redlatch
from redlatch import _redlatch, misses, queries
from redlatch.blocking import Blocking
from redlatch.checks import checked_text
from redlatch.decorating import Decorator, OnBusy, Skipping, check_on_busy
from redlatch.durations import UNSET, Seconds, Unset, optional_lease, optional_seconds
from redlatch.errors import ConfigError, NotAcquiredError, NotHeldError, UnsupportedError
from redlatch.hold import Hold
from redlatch.owners import EACH, Caller, Owner, checked_owner, is_gone
from redlatch.owners import caller as this_caller
from redlatch.typings import Place, Self

if TYPE_CHECKING:
    from redlatch.templates import Rename

F = TypeVar("F", bound=Callable[..., Any])
H = TypeVar("H", bound=_redlatch.Held)
T = TypeVar("T")

#: One entry for each hold: the thread or task that took it, the hold, and where its block begins.
Records = list[tuple[int, H, Optional[Place]]]

FOR_EVER: Final = "None waits for ever, 0 tries once"
HELD_BACK: Final = (
    "its server may have lost locks, and grants none until every old lease has ended (the option quarantine); try later"
)
RENEWED: Final = "None has it renewed until it is released"


class Lock(Blocking):
    """A lock of one name, held by one owner at a time among all processes that share the server.

    `Client.lock` makes each acquire an owner of its own: every acquire excludes every other one. Any thread or task may
    release it, through the same object. The end of a block releases the hold that the block began with. `release()`
    releases the latest hold that this thread or task took without a block, else the only hold that is open. Where that
    hold was lost, they raise LockLostError instead. `with lock.lock() as hold` names the hold that ends.

    `Client.get_lock` makes a reentrant lock. Its owner is the calling thread, or the `owner` that it was given. Any
    number of objects stand for the same lock. Every acquire makes a hold of its own: a lock acquired twice is free
    after two releases.

    An acquire never waits in a thread whose event loop runs: the wait would stop the loop. It raises UnsupportedError
    where it would have to wait, and where the thread would be the owner.

    Times are seconds or `timedelta`; UNSET stands for the time that `get_lock` was given. Every method may raise
    UnavailableError (the client cannot reach the server in time), RefusedError (the server said no: a key of that name
    is no lock, memory is full, …), ClosedError, and ConfigError for arguments that cannot be used. Ctrl-C ends a wait
    at once, and no hold stays.
    """

    _kind: ClassVar[str] = "plain"
    _shared: ClassVar[bool] = False

    _client: redlatch.Client
    _wait: float | None
    _lease: float | None
    _owner: Owner
    _numbers: Sequence[int]
    #: The holds of the open `with` blocks.
    _blocks: Records[Hold]
    #: The holds that were taken without a block, where each acquire is an owner.
    _taken: Records[Hold]
    #: The number of this object in `misses`; None: no acquire through it has missed yet.
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
        value: str | None = None,
    ) -> Self:
        native = native or client._native
        name = checked_text("the name of a lock", name)
        owner = checked_owner(owner)
        waiting = optional_seconds("wait", wait, FOR_EVER)
        lasting = optional_lease(lease, RENEWED)
        number = owner if isinstance(owner, int) else None
        # If each acquire is an owner: whether any thread or task may end the only hold that is open.
        ends_anywhere = None
        if owner is EACH:
            ends_anywhere = not (cls._shared if shared is None else shared)
        times = (waiting, lasting)
        what = (cls._kind, name) if value is None else (cls._kind, name, value)
        lock = super().__new__(cls, native, what, times, number, list(numbers), ends_anywhere)
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
        """The client that gave this lock."""
        return self._client

    def lock(self, *, lease: Seconds | Unset | None = UNSET, wait: Seconds | Unset | None = UNSET) -> Hold:
        """Acquires the lock and returns the hold.

        Raises NotAcquiredError when `wait` ends while another owner holds the lock, UnavailableError when the server
        gave no answer during the wait.
        """
        waited = self._wait if wait is UNSET else optional_seconds("wait", wait, FOR_EVER)
        hold = self._acquire(waited, lease)
        if hold is None:
            raise self._not_acquired(waited)
        return hold

    def try_lock(self, *, wait: Seconds | None = 0, lease: Seconds | Unset | None = UNSET) -> Hold | None:
        """Acquires the lock within `wait` (0: at the first try) and returns the hold. Returns None if it is taken.

        Raises UnavailableError when the server gave no answer during the wait.
        """
        return self._acquire(optional_seconds("wait", wait, FOR_EVER), lease)

    def force_unlock(self) -> bool:
        """Takes the lock away from its holders, with all their holds, and returns whether there was one."""
        return self._query(queries.FORCE_UNLOCK)

    def is_locked(self) -> bool:
        """Whether any owner holds it."""
        return self._query(queries.IS_LOCKED)

    def is_held_by_current_thread(self) -> bool:
        """Whether the owner holds it: the calling thread, or the owner that `get_lock` was given.

        Raises UnsupportedError if each acquire is an owner of its own.
        """
        check_has_owner(self.name, self._owner)
        return self.hold_count() > 0

    def hold_count(self) -> int:
        """How many holds the owner has. If each acquire is an owner: how many open holds this object has taken."""
        return count_held(self) if self._owner is EACH else self._query(queries.HOLD_COUNT)

    def remain_time_to_live(self) -> float | None:
        """In how many seconds it ends without another renewal: None if it is free, `math.inf` if it has no end."""
        return self._query(queries.REMAIN_TIME_TO_LIVE)

    def acquire(self, blocking: bool = True, timeout: float | Unset = UNSET) -> Hold | None:
        """Acquires as `threading.RLock.acquire` does, and returns the hold or None.

        `timeout` is in seconds, -1 waits for ever. Without it the call waits for the lock's own `wait`, and raises
        NotAcquiredError when that ends: a program that gives no time often does not look at the result. Raises
        ValueError, OverflowError and TypeError as RLock does.
        """
        hold = self._acquire(rlock_wait(blocking, timeout, self._wait), UNSET)
        if hold is None and blocking and timeout is UNSET:
            raise self._not_acquired(self._wait)
        return hold

    def locked(self) -> bool:
        """The same as `is_locked`, under its name in `threading.RLock`."""
        return self.is_locked()

    def __call__(self, function: F) -> F:
        """Decorates a function: each call runs under the lock, as in a `with` block.

        The lock's name may have arguments of the function in it, as `str.format` writes them: `order:{order_id}`. Then
        each call takes the lock of its own arguments, defaults included, and `{{` stands for a brace.

        A coroutine function holds the same lock as a task, by `redlatch.aio`: its wait does not stop the loop, and
        calls of different tasks exclude each other.

        Raises ConfigError for an argument that the function does not take, UnsupportedError for generators and
        context managers, whose bodies would run after the release. A call raises ConfigError for an argument that it
        does not have or that has no text, and UnsupportedError if it returns a coroutine, generator or future that has
        yet to run.
        """
        from redlatch import decorating

        return decorating.decorated(self, function)

    @overload
    def decorator(self, *, on_busy: Literal["skip"]) -> Skipping: ...

    @overload
    def decorator(self, *, on_busy: Literal["raise", "wait"]) -> Decorator: ...

    def decorator(self, *, on_busy: OnBusy) -> Any:
        """Returns a decorator as the lock itself is one, for calls that meet a lock that another owner holds:

        - `raise`: the call raises NotAcquiredError at once.
        - `skip`: the call returns None at once, and the function does not run.
        - `wait`: the call waits for the lock's `wait`, then it raises NotAcquiredError. The lock itself does so.

        If the lock has a `wait` of its own, `raise` and `skip` wait as long. Raises ConfigError for another word.
        """
        from redlatch import decorating

        check_on_busy(self.name, on_busy)
        return lambda function: decorating.decorated(self, function, on_busy)

    def _acquire(self, wait: float | None, lease: Seconds | Unset | None) -> Hold | None:
        lasting = self._lease if lease is UNSET else optional_lease(lease, RENEWED)
        taken: list[Hold] = []
        try:
            self._take(wait, lasting, taken)
            note_taken(self, len(taken) > 0)
            return taken[0] if taken else None
        except BaseException:
            # Ctrl-C may interrupt this function after the acquire. Its caller would not get the hold.
            if taken:
                taken[0].__exit__(BaseException, None, None)
            note_taken(self, False)
            raise

    def _names(self) -> tuple[str, ...]:
        """The names of all locks of which this one consists."""
        return (self.name,)

    def _renamed(self, rename: Rename, wait: float | None) -> Self:
        """The same lock under another name, with another wait."""
        return Lock.__new__(type(self), self._client, rename(self.name), wait, self._lease, self._owner, self._numbers)

    def _query(self, query: queries.Query[T]) -> T:
        """Asks the server a question that it answers at once, also while another owner holds the lock."""
        return query.answer(self._run_at_once(query.op), self.name)

    def _not_acquired(self, waited: float | None) -> NotAcquiredError:
        return not_acquired(self, waited)

    def _is_shared(self) -> bool:
        """Whether several owners can hold it at the same time."""
        return self._shared

    def _keys(self) -> list[object]:
        """The locks that it takes, in a form that can be compared with those of other lock objects."""
        return [(self._client._native, self.name)]

    def _not_entered(self) -> NotHeldError:
        return not_entered(self.name, "with")

    def _not_taken(self) -> NotHeldError:
        return not_taken(self.name, "with")

    def _release_of_nothing(self, meant: tuple[int, int] | None) -> NotHeldError | None:
        """The error of a release by a caller whose latest acquire missed; None: the caller may release."""
        return release_of_nothing(self, meant)

    def __repr__(self) -> str:
        return f"<redlatch.{type(self).__name__} {self.name!r} of {self._client!r}>"


def not_acquired(lock: _redlatch.Object, waited: float | None) -> NotAcquiredError:
    """The error of an acquire whose wait has ended. The thread or task that waited calls this."""
    why = "another owner holds it, of another client; wait longer or try later"
    if lock._held_back():
        why = HELD_BACK
    else:
        caller = this_caller()
        owners = lock._owners()
        if owners:
            why = "another owner holds it, a thread or task of this client; wait longer or try later"
        if any(caller.took(owner) for owner in owners):
            why = f"its own hold keeps this {caller.kind} waiting; release that hold first, or pass it on"
    return NotAcquiredError(f"`{lock.name}` was not acquired within {waited} s: {why}", lock.name)


def not_entered(name: str, block: str) -> NotHeldError:
    """The error of a block's end for which the lock object finds no hold."""
    return NotHeldError(
        f"`{name}`: no block of this lock object is open that could end here, in this thread and task; "
        f"use `{block} lock.lock() as hold` to end it elsewhere",
        name,
    )


def not_taken(name: str, block: str) -> NotHeldError:
    """The error of a release for which the lock object finds no hold."""
    return NotHeldError(
        f"`{name}` is not held through this lock object by this thread or task: it was released already, or another "
        f"object took it; release each acquire once, or its hold: `hold.release()`, `{block} lock.lock() as hold`",
        name,
    )


def note_taken(lock: Any, got: bool, caller: Caller | None = None) -> None:
    """Notes whether the caller's latest acquire through a lock object got the lock or missed it."""
    if lock._owner is not EACH:
        return
    if not got:
        misses.note(lock, caller)
    elif lock._missed is not None:
        misses.forget(lock, caller)


def release_of_nothing(lock: Any, meant: tuple[int, int] | None, caller: Caller | None = None) -> NotHeldError | None:
    """The error of a release by a caller whose latest acquire through the lock object missed; None: it may release.

    `meant` is the hold that the release would end: the thread or task that took it, and its serial number. None: no
    hold is open. A thread or task that has ended since may have taken a hold for the caller, after the miss: that one
    the caller may release.
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
    """Raises UnsupportedError for a question about the owner if each acquire is an owner of its own."""
    if owner is EACH:
        raise UnsupportedError(
            f"`{name}`: each acquire is an owner of its own, no thread or task is; ask its hold (`hold.ensure()`), or "
            "how many are open (`lock.hold_count()`)",
            name,
        )


def count_held(lock: Any) -> int:
    """How many open holds a lock object has taken."""
    return _redlatch.count_held(lock._blocks) + _redlatch.count_held(lock._taken)


def rlock_wait(blocking: bool, timeout: float | Unset, wait: float | None) -> float | None:
    """How long `acquire(blocking, timeout)` waits; without `timeout` it is `wait`. Raises the errors of RLock."""
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
