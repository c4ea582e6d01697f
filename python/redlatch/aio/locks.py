"""The lock: Redisson's methods, `async with`, `@lock`, and those of `threading.RLock` as coroutines."""

from __future__ import annotations

import sys
from collections.abc import Coroutine, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, ClassVar, TypeVar

import redlatch
from redlatch import _redlatch, asks, owners, self_waits
from redlatch.aio.asking import asked
from redlatch.aio.callers import tell_caller
from redlatch.aio.hold import Hold
from redlatch.aio.loops import here
from redlatch.aio.tasks import asker, this_task
from redlatch.durations import UNSET, Seconds, Unset, optional_seconds
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
from redlatch.owners import EACH, Caller, Owner
from redlatch.owners import checked as checked_owner
from redlatch.texts import checked as checked_text
from redlatch.typings import Place, Self

if TYPE_CHECKING:
    from redlatch.tasks import ThisTask
    from redlatch.templates import Rename

F = TypeVar("F", bound=Callable[..., Coroutine[Any, Any, Any]])
T = TypeVar("T")


class Lock(_redlatch.Object):
    """A lock of one name, held by one owner at a time among all processes that share the server.

    `AsyncClient.lock` makes it with an owner for each acquire: every acquire excludes every other one. Its end may come
    from any task, through the same object: the end of a block releases what the block took; `release()` releases the
    latest hold that this task took otherwise, else the only one there is. A hold that was lost is told of in the place
    of a release. `async with await lock.lock() as hold` names the hold that ends.

    `AsyncClient.get_lock` makes it reentrant: the owner is the calling task, unless it was given one, and any number of
    objects stand for the same lock. Every acquire makes a hold of its own: a lock acquired twice is free after two
    releases.

    Times are seconds or `timedelta`; UNSET means what `get_lock` was given. Every method may raise UnavailableError
    (the server cannot be reached in time), RefusedError (it said no: a key of that name is no lock, memory is full, …),
    ClosedError, and ConfigError for arguments that cannot be used. Cancelling ends waiting at once and leaves nothing
    held: what was on its way goes back.

    Until Python 3.12 `asyncio.wait_for` runs what it is given as another task, which is another owner: use `wait=`.
    """

    _kind: ClassVar[str] = "plain"
    _shared: ClassVar[bool] = False

    _client: redlatch.aio.AsyncClient
    _wait: float | None
    _lease: float | None
    _owner: Owner
    _numbers: Sequence[int]
    #: The open `async with` blocks, and what was taken otherwise by owners for each acquire.
    _blocks: Records[Hold]
    _taken: Records[Hold]
    #: What `misses` calls this object by; None: no acquire through it got nothing yet.
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
    ) -> Self:
        native = native or client._native
        name, owner = checked_text("the name of a lock", name), checked_owner(owner)
        waiting, lasting = optional_seconds("wait", wait, FOR_EVER), optional_seconds("lease", lease, RENEWED)
        lock = super().__new__(cls, native, (cls._kind, name), list(numbers))
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
        """The client that it came from."""
        return self._client

    async def lock(self, *, lease: Seconds | Unset | None = UNSET, wait: Seconds | Unset | None = UNSET) -> Hold:
        """Acquires the lock and returns the hold.

        Raises NotAcquiredError when `wait` ends and another owner holds the lock, UnavailableError when the server did
        not say so during the wait.
        """
        return await self._lock(None, lease=lease, wait=wait)

    async def try_lock(self, *, wait: Seconds | None = 0, lease: Seconds | Unset | None = UNSET) -> Hold | None:
        """Acquires the lock if that succeeds within `wait` (0: at the first try) and returns the hold, else None.

        Raises UnavailableError when the server did not say during the wait that the lock is taken.
        """
        return await self._try_lock(None, wait=wait, lease=lease)

    async def unlock(self) -> None:
        """Releases the owner's latest hold. Raises NotHeldError if there is none, LockLostError if it was lost.

        With an owner for each acquire it ends what was taken through this object, blocks apart: the latest hold that
        its caller took; else one that was lost, which is told and releases nothing; else the only one there is, unless
        it is a reader's.
        """
        await self._unlock(None)

    async def release(self) -> None:
        """Is `unlock`, under the name that `threading.RLock` has for it. NotHeldError is a RuntimeError."""
        await self._unlock(None)

    async def __aenter__(self) -> Hold:
        """Acquires as `lock()` does: the block is never entered without the lock."""
        # It is awaited where the statement is, so that frame calls.
        place = _redlatch.place(sys._getframe().f_back)
        hold = await self._take(self._wait, UNSET, self._blocks, place)
        if hold is None:
            raise not_acquired(self, self._wait)
        return hold

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        """Releases the hold that this block began with, in whichever task it ends; its errors, LockLostError too, only
        if the body succeeded.
        """
        frame = sys._getframe().f_back
        hold = _redlatch.ending(self._blocks, owners.caller().owner, self._ends_anywhere(), frame)
        # A coroutine that waits is not to keep the frame that waits for it.
        del frame
        if hold is None:
            raise not_entered(self.name, "async with await")
        await hold.__aexit__(kind, error, at)

    async def force_unlock(self) -> bool:
        """Takes the lock away from whoever holds it, all holds at once, and returns whether somebody did."""
        return await self._asked(asks.FORCE_UNLOCK)

    async def is_locked(self) -> bool:
        """Whether anybody holds it."""
        return await self._asked(asks.IS_LOCKED)

    async def is_held_by_current_thread(self) -> bool:
        """Whether the owner holds it: the calling task, or the owner that `get_lock` was given.

        Raises UnsupportedError where each acquire is an owner of its own.
        """
        check_has_owner(self.name, self._owner)
        return await self.hold_count() > 0

    async def hold_count(self) -> int:
        """How many holds the owner has; where each acquire is an owner, how many taken through this object are open."""
        return count_held(self) if self._owner is EACH else await self._asked(asks.HOLD_COUNT)

    async def remain_time_to_live(self) -> float | None:
        """In how many seconds it ends if nobody renews it: None if it is free, `math.inf` if it has no end."""
        return await self._asked(asks.REMAIN_TIME_TO_LIVE)

    async def acquire(self, blocking: bool = True, timeout: float | Unset = UNSET) -> Hold | None:
        """Acquires as `threading.RLock.acquire` does, and returns the hold or None.

        `timeout` is in seconds, -1 waits for ever. Left out, it waits as the lock was told to by `wait`, and raises
        NotAcquiredError when that wait ends: a program that asks for no time looks at no result. Raises ValueError,
        OverflowError and TypeError as RLock does.
        """
        return await self._acquire(None, blocking, timeout)

    async def locked(self) -> bool:
        """Is `is_locked`, under the name that `threading.RLock` has for it."""
        return await self.is_locked()

    def __call__(self, function: F) -> F:
        """Decorates a coroutine function: each call runs under the lock, as in an `async with` block.

        The name may ask for arguments of the function, as `str.format` writes them: `order:{order_id}`; then each call
        takes the lock of its own arguments, defaults included, and `{{` stands for a brace.

        Raises ConfigError for an argument that the function does not take, UnsupportedError for other functions and
        async generators, which would run when the lock is free again. A call raises ConfigError for an argument that
        it does not have, or that has no text, and UnsupportedError if what it returns has yet to run.
        """
        from redlatch.aio import decorating

        return decorating.decorated(self, function)

    async def _lock(
        self,
        calling: ThisTask | None,
        *,
        lease: Seconds | Unset | None = UNSET,
        wait: Seconds | Unset | None = UNSET,
    ) -> Hold:
        waited = self._wait if wait is UNSET else optional_seconds("wait", wait, FOR_EVER)
        hold = await self._taken_for(waited, lease, calling)
        if hold is None:
            raise not_acquired(self, waited)
        return hold

    async def _try_lock(
        self, calling: ThisTask | None, *, wait: Seconds | None = 0, lease: Seconds | Unset | None = UNSET
    ) -> Hold | None:
        return await self._taken_for(optional_seconds("wait", wait, FOR_EVER), lease, calling)

    async def _acquire(
        self, calling: ThisTask | None, blocking: bool = True, timeout: float | Unset = UNSET
    ) -> Hold | None:
        hold = await self._taken_for(rlock_wait(blocking, timeout, self._wait), UNSET, calling)
        if hold is None and blocking and timeout is UNSET:
            raise not_acquired(self, self._wait)
        return hold

    async def _unlock(self, calling: ThisTask | None) -> None:
        """Releases for the task that called, None: for that which runs."""
        if self._owner is EACH:
            mailbox = here()
            caller = calling or asker(mailbox.event_loop)
            # Only the loop keeps it alive, and no task that waits.
            del mailbox
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
            mailbox, _, owner = self._asking()
            ending = self._end(mailbox, owner)
            # Only the loop keeps it alive, and no task that waits.
            del mailbox
            await ending

    async def _taken_for(
        self, wait: float | None, lease: Seconds | Unset | None, calling: ThisTask | None
    ) -> Hold | None:
        """Acquires for no block, for the task that called, None: for that which runs. Gives None: not in time."""
        if self._owner is not EACH:
            # Its owner finds it by itself.
            return await self._take(wait, lease, None)
        caller = calling or asker(here().event_loop)
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
        """Acquires, and notes the hold in `records`, for a block that begins at that place; None: not in time.

        The hold is noted as one of `taker`, None: of the task that runs.
        """
        lasting = self._lease if lease is UNSET else optional_seconds("lease", lease, RENEWED)
        mailbox, caller, owner = self._asking()
        if self._owner is EACH:
            owner = caller.another()
            if self._is_shared():
                _redlatch.forget_gone(self._blocks)
                _redlatch.forget_gone(self._taken)
        beginning = self._begin(mailbox, Hold, caller, owner, wait, lasting)
        # Only the loop keeps it alive, and no task that waits.
        del mailbox
        hold = await beginning
        if hold is not None and records is not None:
            _redlatch.record(records, (taker or caller).owner, hold, place, sys._getframe())
        return hold

    def _ends_anywhere(self) -> bool:
        """Whether the end of a hold may come from any task, where only one is open."""
        return not (self._owner is EACH and self._is_shared())

    async def _asked(self, ask: asks.Ask[T]) -> T:
        """Asks what has an answer at once, whoever holds the lock."""
        return await asked(self, ask, owner=self._asking()[2])

    def _asking(self) -> tuple[_redlatch.Mailbox, Caller, int]:
        """Where who asks: the loop's mailbox, the task, and the owner that the lock was given, else the task's."""
        mailbox = here()
        if isinstance(self._owner, int):
            return mailbox, asker(mailbox.event_loop), self._owner
        caller = this_task(mailbox.event_loop)
        return mailbox, caller, caller.owner

    def _waits_long(self, caller: Caller) -> None:
        """An acquire of `caller` has waited 5 s."""
        self_waits.warn(self, caller)

    def _is_shared(self) -> bool:
        """Whether several owners hold it at once."""
        return self._shared

    def _keys(self) -> list[object]:
        """What it locks, to compare with what other locks do."""
        return [(self._client._native, self.name)]

    def _names(self) -> tuple[str, ...]:
        """The names of all locks that this one is made of."""
        return (self.name,)

    def _renamed(self, rename: Rename) -> Self:
        """The same lock under another name."""
        return Lock.__new__(
            type(self), self._client, rename(self.name), self._wait, self._lease, self._owner, self._numbers
        )

    def __repr__(self) -> str:
        return f"<redlatch.aio.{type(self).__name__} {self.name!r} of {self._client!r}>"


tell_caller(Lock, Lock.lock, Lock._lock)
tell_caller(Lock, Lock.try_lock, Lock._try_lock)
tell_caller(Lock, Lock.acquire, Lock._acquire)
tell_caller(Lock, Lock.unlock, Lock._unlock)
tell_caller(Lock, Lock.release, Lock._unlock)
