"""The lock for tasks: Redisson's methods, `async with`, `@lock`, and the methods of `threading.RLock` as coroutines."""

from __future__ import annotations

import sys
from collections.abc import Coroutine, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Literal, TypeVar, overload

import redlatch
from redlatch import _redlatch, owners, queries, self_waits
from redlatch.aio.callers import tell_caller
from redlatch.aio.hold import Hold
from redlatch.aio.loops import PARTS, here
from redlatch.aio.queries import run_query
from redlatch.aio.tasks import this_task
from redlatch.checks import checked_text
from redlatch.decorating import Decorator, OnBusy, Skipping, check_on_busy
from redlatch.durations import UNSET, Seconds, Unset, optional_lease, optional_seconds
from redlatch.locks import (
    FOR_EVER,
    RENEWED,
    Records,
    check_has_owner,
    count_held,
    not_acquired,
    not_entered,
    not_taken,
    note_taken,
    release_of_nothing,
    rlock_wait,
)
from redlatch.owners import EACH, Caller, Owner, caller_in, checked_owner
from redlatch.pickling import NotPickled
from redlatch.typings import Place, Self

if TYPE_CHECKING:
    from redlatch.tasks import ThisTask
    from redlatch.templates import Rename

F = TypeVar("F", bound=Callable[..., Coroutine[Any, Any, Any]])
T = TypeVar("T")


class Lock(NotPickled, _redlatch.Object):
    """A lock of one name, held by one owner at a time among all processes that share the server.

    `AsyncClient.lock` makes each acquire an owner of its own: every acquire excludes every other one. Any task may
    release it, through the same object. The end of a block releases the hold that the block began with. `release()`
    releases the latest hold that this task took without a block, else the only hold that is open. Where that hold was
    lost, they raise LockLostError instead. `async with await lock.lock() as hold` names the hold that ends.

    `AsyncClient.get_lock` makes a reentrant lock. Its owner is the calling task, or the `owner` that it was given. Any
    number of objects stand for the same lock. Every acquire makes a hold of its own: a lock acquired twice is free
    after two releases.

    Times are seconds or `timedelta`; UNSET stands for the time that `get_lock` was given. Every method may raise
    UnavailableError (the client cannot reach the server in time), RefusedError (the server said no: a key of that name
    is no lock, memory is full, …), ClosedError, and ConfigError for arguments that cannot be used. Cancelling ends a
    wait at once, and no hold stays: the client releases one that arrives later.

    Until Python 3.12 `asyncio.wait_for` runs the call in another task, which is another owner: use `wait=`.
    """

    _here = PARTS

    _kind: ClassVar[str] = "plain"
    _shared: ClassVar[bool] = False

    _client: redlatch.aio.AsyncClient
    _wait: float | None
    _lease: float | None
    _owner: Owner
    _numbers: Sequence[int]
    #: The holds of the open `async with` blocks.
    _blocks: Records[Hold]
    #: The holds that were taken without a block, where each acquire is an owner.
    _taken: Records[Hold]
    #: The number of this object in `misses`; None: no acquire through it has missed yet.
    _missed: int | None = None

    def __new__(
        cls,
        client: redlatch.aio.AsyncClient,
        name: str,
        wait: Seconds | None,
        lease: Seconds | None,
        owner: Owner,
        numbers: Sequence[int] = (),
        native: _redlatch.Client | None = None,
        value: str | None = None,
    ) -> Self:
        native = native or client._native
        name = checked_text("the name of a lock", name)
        owner = checked_owner(owner)
        waiting = optional_seconds("wait", wait, FOR_EVER)
        lasting = optional_lease(lease, RENEWED)
        what = (cls._kind, name) if value is None else (cls._kind, name, value)
        lock = super().__new__(cls, native, what, list(numbers))
        lock._blocks = []
        lock._taken = []
        lock._client = client
        lock._wait = waiting
        lock._lease = lasting
        lock._owner = owner
        lock._numbers = numbers
        return lock

    @property
    def client(self) -> redlatch.aio.AsyncClient:
        """The client that gave this lock."""
        return self._client

    async def lock(self, *, lease: Seconds | Unset | None = UNSET, wait: Seconds | Unset | None = UNSET) -> Hold:
        """Acquires the lock and returns the hold.

        Raises NotAcquiredError when `wait` ends while another owner holds the lock, UnavailableError when the server
        gave no answer during the wait.
        """
        return await self._lock(lease=lease, wait=wait)

    async def try_lock(self, *, wait: Seconds | None = 0, lease: Seconds | Unset | None = UNSET) -> Hold | None:
        """Acquires the lock within `wait` (0: at the first try) and returns the hold. Returns None if it is taken.

        Raises UnavailableError when the server gave no answer during the wait.
        """
        return await self._try_lock(wait=wait, lease=lease)

    async def unlock(self) -> None:
        """Releases the owner's latest hold. Raises NotHeldError if the owner has none, LockLostError if it was lost.

        If each acquire is an owner, it ends a hold that was taken through this object, and not by a block. That is the
        caller's own latest hold; else one that was lost, for which it raises LockLostError and releases nothing; else
        the only one that is open, unless that is a reader's.
        """
        await self._unlock()

    async def release(self) -> None:
        """The same as `unlock`, under its name in `threading.RLock`. NotHeldError is a RuntimeError."""
        await self._unlock()

    async def __aenter__(self) -> Hold:
        """Acquires as `lock()` does. The block is never entered without the lock."""
        # The frame of the `async with` statement awaits this coroutine, so it is the calling frame.
        place = _redlatch.place(sys._getframe().f_back)
        hold = await self._take(self._wait, UNSET, self._blocks, place)
        if hold is None:
            raise not_acquired(self, self._wait)
        return hold

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        """Releases the hold that this block began with, in any task.

        If the body raised an error, that one is raised, and an error of the release becomes a note of it.
        """
        frame = sys._getframe().f_back
        hold = _redlatch.ending(self._blocks, owners.caller().owner, self._ends_anywhere(), frame)
        # While this coroutine waits, it must not keep alive the frame that awaits it.
        del frame
        if hold is None:
            raise not_entered(self.name, "async with await")
        await hold.__aexit__(kind, error, at)

    async def force_unlock(self) -> bool:
        """Takes the lock away from its holders, with all their holds, and returns whether there was one."""
        return await self._query(queries.FORCE_UNLOCK)

    async def is_locked(self) -> bool:
        """Whether any owner holds it."""
        return await self._query(queries.IS_LOCKED)

    async def is_held_by_current_thread(self) -> bool:
        """Whether the owner holds it: the calling task, or the owner that `get_lock` was given.

        Raises UnsupportedError if each acquire is an owner of its own.
        """
        check_has_owner(self.name, self._owner)
        return await self.hold_count() > 0

    async def hold_count(self) -> int:
        """How many holds the owner has. If each acquire is an owner: how many open holds this object has taken."""
        return count_held(self) if self._owner is EACH else await self._query(queries.HOLD_COUNT)

    async def remain_time_to_live(self) -> float | None:
        """In how many seconds it ends without another renewal: None if it is free, `math.inf` if it has no end."""
        return await self._query(queries.REMAIN_TIME_TO_LIVE)

    async def acquire(self, blocking: bool = True, timeout: float | Unset = UNSET) -> Hold | None:
        """Acquires as `threading.RLock.acquire` does, and returns the hold or None.

        `timeout` is in seconds, -1 waits for ever. Without it the call waits for the lock's own `wait`, and raises
        NotAcquiredError when that ends: a program that gives no time often does not look at the result. Raises
        ValueError, OverflowError and TypeError as RLock does.
        """
        return await self._acquire(blocking, timeout)

    async def locked(self) -> bool:
        """The same as `is_locked`, under its name in `threading.RLock`."""
        return await self.is_locked()

    def __call__(self, function: F) -> F:
        """Decorates a coroutine function: each call runs under the lock, as in an `async with` block.

        The lock's name may have arguments of the function in it, as `str.format` writes them: `order:{order_id}`. Then
        each call takes the lock of its own arguments, defaults included, and `{{` stands for a brace.

        Raises ConfigError for an argument that the function does not take, UnsupportedError for other functions and
        async generators, whose bodies would run after the release. A call raises ConfigError for an argument that it
        does not have or that has no text, and UnsupportedError if it returns a coroutine, generator or future that has
        yet to run.
        """
        from redlatch.aio import decorating

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
        from redlatch.aio import decorating

        check_on_busy(self.name, on_busy)
        return lambda function: decorating.decorated(self, function, on_busy)

    async def _lock(
        self,
        *,
        lease: Seconds | Unset | None = UNSET,
        wait: Seconds | Unset | None = UNSET,
        _calling: ThisTask | None = None,
    ) -> Hold:
        waited = self._wait if wait is UNSET else optional_seconds("wait", wait, FOR_EVER)
        hold = await self._taken_for(waited, lease, _calling)
        if hold is None:
            raise not_acquired(self, waited)
        return hold

    async def _try_lock(
        self,
        *,
        wait: Seconds | None = 0,
        lease: Seconds | Unset | None = UNSET,
        _calling: ThisTask | None = None,
    ) -> Hold | None:
        return await self._taken_for(optional_seconds("wait", wait, FOR_EVER), lease, _calling)

    async def _acquire(
        self, blocking: bool = True, timeout: float | Unset = UNSET, *, _calling: ThisTask | None = None
    ) -> Hold | None:
        usual = blocking is True and timeout is UNSET
        waited = self._wait if usual else rlock_wait(blocking, timeout, self._wait)
        if self._owner is None:
            beginning = self._begin_own(Hold, waited, self._lease)
            await beginning
            hold = beginning.claim()
        else:
            hold = await self._taken_for(waited, UNSET, _calling)
        if hold is None and blocking and timeout is UNSET:
            raise not_acquired(self, self._wait)
        return hold

    async def _unlock(self, *, _calling: ThisTask | None = None) -> None:
        """Releases for the task `_calling`, None: for the task that runs."""
        if self._owner is EACH:
            caller = _calling or caller_in(here().event_loop)
            _redlatch.forget_released(self._taken)
            if self._missed is not None:
                meant = _redlatch.hold_meant(self._taken, caller.owner, self._ends_anywhere())
                is_own = meant is not None and meant[0] == caller.owner
                error = None if is_own else release_of_nothing(self, meant, caller)
                if error is not None:
                    raise error
            hold = _redlatch.ending(self._taken, caller.owner, self._ends_anywhere())
            if hold is None:
                raise not_taken(self.name, "async with await")
            await hold.release()
        else:
            ending = self._end(self._owner)
            if ending is not None:
                await ending

    async def _taken_for(
        self, wait: float | None, lease: Seconds | Unset | None, calling: ThisTask | None
    ) -> Hold | None:
        """Acquires without a block, for the task `calling`, None: for the task that runs. None: not in time."""
        if self._owner is not EACH:
            # The owner's release finds the hold without a record.
            return await self._take(wait, lease, None)
        caller = calling or caller_in(here().event_loop)
        hold = None
        try:
            hold = await self._take(wait, lease, self._taken, taker=caller)
            return hold
        finally:
            note_taken(self, hold is not None, caller)

    async def _take(
        self,
        wait: float | None,
        lease: Seconds | Unset | None,
        records: Records[Hold] | None,
        place: Place | None = None,
        taker: Caller | None = None,
    ) -> Hold | None:
        """Acquires, and returns the hold; None: not in time.

        Notes the hold in `records` as one of `taker`, None: of the task that runs. `place` is where its block begins.
        """
        lasting = self._lease if lease is UNSET else optional_lease(lease, RENEWED)
        if self._owner is None:
            beginning = self._begin_own(Hold, wait, lasting)
            await beginning
            hold = beginning.claim()
            if hold is not None and records is not None:
                _redlatch.record(records, hold.owner, hold, place, sys._getframe())
            return hold
        mailbox, caller, owner = self._context()
        if self._owner is EACH:
            owner = caller.another()
            if self._is_shared():
                _redlatch.forget_gone(self._blocks)
                _redlatch.forget_gone(self._taken)
        beginning = self._begin(mailbox, Hold, caller, owner, wait, lasting)
        # A task that waits must not keep the mailbox alive: it ends with its loop.
        del mailbox
        await beginning
        hold = beginning.claim()
        if hold is not None and records is not None:
            _redlatch.record(records, (taker or caller).owner, hold, place, sys._getframe())
        return hold

    def _ends_anywhere(self) -> bool:
        """Whether any task may end the only hold that is open. Of readers it would end another reader's."""
        return not (self._owner is EACH and self._is_shared())

    async def _query(self, query: queries.Query[T]) -> T:
        """Asks the server a question that it answers at once, also while another owner holds the lock."""
        _, _, owner = self._context()
        return await run_query(self, query, owner=owner)

    def _context(self) -> tuple[_redlatch.Mailbox, Caller, int]:
        """The mailbox of the running loop, its task, and the owner: the one that the lock was given, else the task."""
        mailbox = here()
        if isinstance(self._owner, int):
            return mailbox, caller_in(mailbox.event_loop), self._owner
        caller = this_task(mailbox.event_loop)
        return mailbox, caller, caller.owner

    def _waits_long(self, caller: Caller) -> None:
        """Warns `caller`, whose acquire has waited 5 s, if its own hold keeps the lock. The native half calls this."""
        self_waits.warn(self, caller)

    def _is_shared(self) -> bool:
        """Whether several owners can hold it at the same time."""
        return self._shared

    def _keys(self) -> list[object]:
        """The locks that it takes, in a form that can be compared with those of other lock objects."""
        return [(self._client._native, self.name)]

    def _names(self) -> tuple[str, ...]:
        """The names of all locks of which this one consists."""
        return (self.name,)

    def _renamed(self, rename: Rename, wait: float | None) -> Self:
        """The same lock under another name, with another wait."""
        return Lock.__new__(type(self), self._client, rename(self.name), wait, self._lease, self._owner, self._numbers)

    def __repr__(self) -> str:
        return f"<redlatch.aio.{type(self).__name__} {self.name!r} of {self._client!r}>"


tell_caller(Lock, Lock.lock, Lock._lock)
tell_caller(Lock, Lock.try_lock, Lock._try_lock)
tell_caller(Lock, Lock.acquire, Lock._acquire)
tell_caller(Lock, Lock.unlock, Lock._unlock)
tell_caller(Lock, Lock.release, Lock._unlock)
