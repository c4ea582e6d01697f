"""What a client is, and the locks that it gives: as `redlatch.client`, for asyncio."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any, NoReturn, overload

from redlatch import _redlatch, at_exit, calls
from redlatch.aio.groups import FasterMultiLock, MultiLock, RedLock
from redlatch.aio.kinds import FairLock, FencedLock, NonReentrantFairLock, NonReentrantLock, SpinLock, TokenLock
from redlatch.aio.locks import Lock
from redlatch.aio.loops import run
from redlatch.aio.permit_semaphore import PermitExpirableSemaphore
from redlatch.aio.permits import CountDownLatch, Semaphore
from redlatch.aio.read_write import ReadWriteLock
from redlatch.checks import checked_text
from redlatch.durations import Seconds
from redlatch.groups import one_group
from redlatch.owners import EACH, Owner
from redlatch.typings import Self


class AsyncClient:
    """One program's way to one server; for any number of tasks, loops and threads, and for a forked child.

    Make it with `redlatch.aio.connect`. As an async context manager it is closed at the end of the block.
    """

    def __init__(self, native: object = None) -> None:
        self._native = at_exit.register(native)

    def __del__(self) -> None:
        native = getattr(self, "_native", None)  # `__init__` may have raised
        if native is not None:
            at_exit.drop(native)

    @property
    def id(self) -> str:
        """What names this client in Redis, a UUID; a forked child has another one."""
        return self._native.id

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._native.closed

    def lock(self, name: str, *, wait: Seconds | None = None, lease: Seconds | None = None) -> Lock:
        """Returns the lock called `name` that every acquire holds for itself; asks nothing of Redis, acquires nothing.

        It excludes every other acquire, of the same thread and task as well, and its end may come from any of them: see
        `Lock`. `wait` is how long an acquire waits, in seconds or as `timedelta` (None: for ever, 0: it tries once);
        `lease` is how long a hold lasts (None: until it is released, renewed by the watchdog while this process lives).

        Raises ConfigError for an argument that cannot be used.
        """
        return Lock(self, name, wait, lease, EACH)

    def get_lock(
        self, name: str, *, wait: Seconds | None = None, lease: Seconds | None = None, owner: Owner = None
    ) -> Lock:
        """Returns Redisson's reentrant lock called `name`; asks nothing of Redis and acquires nothing.

        `wait` and `lease` are what the lock's methods take when they are given none, in seconds or as `timedelta`.
        `wait` is how long an acquire waits (None: for ever, 0: it tries once); `lease` is how long a hold lasts (None:
        until it is released, renewed by the watchdog while this process lives). `owner` is what holds the lock (None:
        the calling task), an int below 2**40: the same owner of the same client may acquire it again meanwhile. With
        `owner=redlatch.EACH` every acquire is an owner of its own, as with `lock`.

        Raises ConfigError for an argument that cannot be used.
        """
        return Lock(self, name, wait, lease, owner)

    def get_spin_lock(
        self,
        name: str,
        *,
        wait: Seconds | None = None,
        lease: Seconds | None = None,
        owner: Owner = None,
        backoff: Sequence[Seconds] = (),
    ) -> SpinLock:
        """Returns the reentrant lock whose waiters ask now and then instead of being told of a release.

        `backoff` are the times between two tries, the last of them again and again; left out, they grow from 1 to
        128 ms. All else is as with `get_lock`.
        """
        return SpinLock(self, name, wait, lease, owner, backoff)

    def get_non_reentrant_lock(
        self, name: str, *, wait: Seconds | None = None, lease: Seconds | None = None, owner: Owner = None
    ) -> NonReentrantLock:
        """Returns the lock that its owner may not acquire twice; all else is as with `get_lock`."""
        return NonReentrantLock(self, name, wait, lease, owner)

    def get_fair_lock(
        self, name: str, *, wait: Seconds | None = None, lease: Seconds | None = None, owner: Owner = None
    ) -> FairLock:
        """Returns the reentrant lock that whoever has waited longest gets next, in whichever process.

        A waiter that died is passed over after 5 s. A try without waiting (`try_lock()`) takes the lock only if nobody
        waits. All else is as with `get_lock`.
        """
        return FairLock(self, name, wait, lease, owner)

    def get_non_reentrant_fair_lock(
        self, name: str, *, wait: Seconds | None = None, lease: Seconds | None = None, owner: Owner = None
    ) -> NonReentrantFairLock:
        """Returns the fair lock that its owner may not acquire twice; all else is as with `get_fair_lock`."""
        return NonReentrantFairLock(self, name, wait, lease, owner)

    def get_read_write_lock(
        self, name: str, *, wait: Seconds | None = None, lease: Seconds | None = None, owner: Owner = None
    ) -> ReadWriteLock:
        """Returns the locks called `name` for many readers or one writer; the arguments are those of `get_lock`."""
        return ReadWriteLock(self, name, wait, lease, owner)

    def get_token_lock(
        self, name: str, *, wait: Seconds | None = None, lease: Seconds | None = None, owner: Owner = None
    ) -> TokenLock:
        """Returns the lock that redis-py, redsync, Spring and most others write: `SET key token NX PX lease`.

        So a program can move over lock by lock: they exclude each other. Their releases are noticed within 250 ms. Its
        owner may not acquire it twice; all else is as with `get_lock`.
        """
        return TokenLock(self, name, wait, lease, owner)

    def get_semaphore(self, name: str, *, permits: int | None = None, wait: Seconds | None = None) -> Semaphore:
        """Returns the semaphore called `name`; asks nothing of Redis.

        `permits` is how many there are: the first acquire of this object sets them unless they were set before (None:
        another caller does, by `try_set_permits`; until then an acquire waits). `wait` is how long a `with` block and
        an `acquire` wait if they are given none, in seconds or as `timedelta` (None: for ever, 0: they try once).

        Raises ConfigError for an argument that cannot be used.
        """
        return Semaphore(self, name, permits, wait)

    def get_permit_expirable_semaphore(
        self, name: str, *, permits: int | None = None, wait: Seconds | None = None
    ) -> PermitExpirableSemaphore:
        """Returns the semaphore called `name` whose permits have ids and may have leases; asks nothing of Redis.

        The arguments are those of `get_semaphore`.
        """
        return PermitExpirableSemaphore(self, name, permits, wait)

    def get_count_down_latch(self, name: str) -> CountDownLatch:
        """Returns the latch called `name`; asks nothing of Redis."""
        return CountDownLatch(self, name)

    def get_fenced_lock(
        self, name: str, *, wait: Seconds | None = None, lease: Seconds | None = None, owner: Owner = None
    ) -> FencedLock:
        """Returns the reentrant lock whose every hold has a `token`; all else is as with `get_lock`."""
        return FencedLock(self, name, wait, lease, owner)

    @overload
    def get_multi_lock(
        self,
        *locks: Lock,
        values: None = None,
        wait: Seconds | None = None,
        lease: Seconds | None = None,
        owner: Owner = None,
    ) -> MultiLock: ...

    @overload
    def get_multi_lock(
        self,
        group: str,
        /,
        *,
        values: Iterable[str],
        wait: Seconds | None = None,
        lease: Seconds | None = None,
        owner: Owner = None,
    ) -> FasterMultiLock: ...

    def get_multi_lock(
        self,
        *locks: Any,
        values: Iterable[str] | None = None,
        wait: Seconds | None = None,
        lease: Seconds | None = None,
        owner: Owner = None,
    ) -> MultiLock | FasterMultiLock:
        """Returns one lock of all of these, of this client and of others: an acquire takes all of them or none.

        They are taken one after the other, in an order that is the same everywhere, and none is kept for long while
        another one is waited for. `wait`, `lease` and `owner` are as with `get_lock`, but each acquire is an owner of
        its own where all the locks are such as `lock` gives; what else they say of these does not matter. Raises
        ConfigError if there is no lock, or one of them twice.

        `get_multi_lock(group, values=[…])` is one lock of all these values of a group, taken in one call: it excludes
        whoever wants one of them, in whatever set. One owner may hold several sets that have no value in common; for
        one that has, AlreadyHeldError is raised. A Redisson with its StringCodec shares the group.
        """
        if values is not None:
            return FasterMultiLock(self, one_group(locks, values), values, wait, lease, owner)
        return MultiLock(self, locks, wait, lease, owner)

    def get_red_lock(
        self, *locks: Lock, wait: Seconds | None = None, lease: Seconds | None = None, owner: Owner = None
    ) -> RedLock:
        """Returns one lock of a majority of these, each of a client of another server; `redlatch.aio.red_lock` makes
        those.

        The arguments are as with `get_multi_lock`.
        """
        return RedLock(self, locks, wait, lease, owner)

    def set_credentials(self, password: str, username: str | None = None) -> None:
        """Logs in with these from now on: without `username` as the server's default user.

        Connections that are open stay as they are; whatever takes their place uses these, and what is held and waited
        for goes on. It asks nothing of Redis: a password that is wrong raises RefusedError (`WRONGPASS`) where a new
        connection is needed.

        Raises ConfigError for what cannot be a password or a user, and for a user without a password.
        """
        name = None if username is None else checked_text("username", username)
        self._native.set_credentials(checked_text("password", password), name)

    async def ping(self) -> None:
        """Asks the server for a sign of life.

        Raises UnavailableError if it gives none in time, RefusedError if it wants other credentials, ClosedError.
        """
        calls.answer(await run(self._native, calls.PING), None)

    async def close(self) -> None:
        """Gives back what this client holds and disconnects. Later calls, and those that wait, raise ClosedError.

        Whoever still holds a lock is told that it lost it: `closed`. With a server that does not answer it takes as
        long as a release would; cancelling ends waiting for it.

        The end of the program closes every client, after its threads (except daemons) have ended; `os._exit` and
        signals that kill do not: then locks end with their leases. The end of a loop closes none.
        """
        await run(_Closing(self._native))
        at_exit.forget(self._native)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    def __reduce__(self) -> NoReturn:
        raise at_exit.not_pickled()

    def __repr__(self) -> str:
        return f"<redlatch.aio.AsyncClient {self.id} of {self._native.server}{', closed' if self.closed else ''}>"


class _Closing:
    """Closing a client, as what waits for it sees it: nothing ends that before its time."""

    def __init__(self, native: _redlatch.Client) -> None:
        self._native = native

    def _submit(self, mailbox: _redlatch.Mailbox) -> _redlatch._Pending[_redlatch._Outcome]:
        return self._native._close(mailbox)
