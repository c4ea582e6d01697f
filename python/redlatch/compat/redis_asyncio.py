"""The `Lock` of redis-py's asyncio half on redlatch's engine: the same arguments, methods, errors and key in Redis.

    from redlatch.compat.redis_asyncio import Lock

    async with Lock(redis.asyncio.Redis(), "report", timeout=60, blocking_timeout=5): ...
    async with redis.asyncio.Redis().lock("report", timeout=60, lock_class=Lock): ...

It excludes all programs that `redlatch.compat.redis_py` excludes, and is better in the same points. Besides, a task may
be cancelled at any moment: an acquire leaves no lock behind, and a release goes on to its end. That is not so for a
`token` of the caller's own, which redis-py's lock acquires and releases.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Union

from redlatch import calls
from redlatch.aio.client import AsyncClient
from redlatch.aio.connecting import connect
from redlatch.aio.hold import Hold
from redlatch.aio.kinds import TokenLock
from redlatch.aio.loops import here, run
from redlatch.compat.redis_clients import Counterparts
from redlatch.compat.redis_errors import LockError, LockNotOwnedError, TheirLockNotOwnedError
from redlatch.compat.redis_locks import Acquired, BaseLock, lasts_for, wait_of
from redlatch.durations import seconds
from redlatch.owners import EACH, next_owner
from redlatch.typings import Self

if TYPE_CHECKING:
    from redis.asyncio import Redis, RedisCluster

    Clients = Union[AsyncClient, Redis, RedisCluster]
else:
    Clients = Any  # a program may have no redis-py

__all__ = ["Lock", "LockError", "LockNotOwnedError"]

FOR_TASKS = Counterparts(AsyncClient, connect, False, "redis.asyncio.Redis", "redlatch.aio.connect")


class Lock(BaseLock[Clients]):
    """A lock with the surface of redis-py's lock: it is not reentrant, and every acquire has a token of its own.

    `redis` is a `redis.asyncio.Redis` or a `redis.asyncio.RedisCluster`, whose settings a client of redlatch takes
    over, or a `redlatch.aio.AsyncClient`, whose prefix goes before the name. All times are seconds as int or float:

    - `timeout`: how long an acquire lasts at most. None: it is renewed until it is released.
    - `sleep`: the pause between two tries of a waiter, if no release wakes it before.
    - `blocking`, `blocking_timeout`: whether an acquire waits, and how long at most; below `sleep` it tries once.
    - `thread_local`: whether only the thread that acquired it may release it. The tasks of a loop share a thread.
    - `raise_on_release_error`: whether a block that ends without the lock raises an error, or logs a warning.

    Raises ConfigError, a ValueError, for arguments that cannot be used. All methods may raise UnavailableError,
    RefusedError and ClosedError, which are not redis-py's.
    """

    _counterparts = FOR_TASKS
    _their_module = "redis.asyncio.lock"

    async def acquire(
        self,
        blocking: bool | None = None,
        blocking_timeout: float | None = None,
        token: str | bytes | None = None,
    ) -> bool:
        """Acquires the lock and returns True; False if it was not free in time.

        An argument that is left out is that of the lock. With a `token` of the caller's own, redis-py's lock does the
        work: it needs a redis-py client, else UnsupportedError is raised, and it is not renewed.
        """
        blocking = self.blocking if blocking is None else blocking
        blocking_timeout = self.blocking_timeout if blocking_timeout is None else blocking_timeout
        wait = wait_of(self.sleep, blocking, blocking_timeout)
        if token is not None:
            theirs = self._theirs(None)
            acquired: bool = await theirs.acquire(blocking, blocking_timeout, token)
            self.local.token = theirs.local.token if acquired else self._token
            return acquired
        one = _OneAcquire(self._client, self._text, self.sleep)
        hold = await one._take(wait, self.timeout or None, None)
        if hold is None:
            return False
        self._held.pop(self._token or b"", None)
        self.local.token = f"{self._client.id}:{hold.owner}".encode()
        self._held[self.local.token] = Acquired(one, hold)
        return True

    async def release(self) -> None:
        """Releases the lock. Raises LockError if it is not locked, LockNotOwnedError if it is not held any more."""
        token = self._locked_by("release", None)
        held = self._held.pop(token, None)
        with self._owned("released"):
            if held is not None:
                self.local.token = None
                await held.hold.release()
                return
            try:
                await self._theirs(token).do_release(token)
            except TheirLockNotOwnedError:
                self._forget(token)
                raise
            # Only now: a release by redis-py may be cancelled, and is made again then.
            self._forget(token)

    def _forget(self, token: Any) -> None:
        if self._token == token:
            self.local.token = None

    async def extend(self, additional_time: float, replace_ttl: bool = False) -> Literal[True]:
        """Adds `additional_time` to the time that is left. With `replace_ttl` the lock lasts that long from now on.

        Raises LockError if it is not locked, or has no `timeout`; LockNotOwnedError if it is not held any more.
        """
        token = self._locked_by("extend", self.timeout)
        more = seconds("additional_time", additional_time, "give how much longer it is to last")
        held = self._held.get(token)
        with self._owned("extended"):
            if held is None:
                await self._theirs(token).do_extend(additional_time, replace_ttl)
            else:
                await held.lock.last(held.hold, more if replace_ttl else await held.lock.lasts(held.hold) + more)
        return True

    async def reacquire(self) -> Literal[True]:
        """Makes the lock last its whole `timeout` again, from now on. Raises the errors of `extend`."""
        token = self._locked_by("reacquire", self.timeout)
        held = self._held.get(token)
        with self._owned("reacquired"):
            if held is None:
                await self._theirs(token).do_reacquire()
            else:
                await held.lock.last(held.hold, self.timeout or 0)
        return True

    async def locked(self) -> bool:
        """Whether any program has locked it."""
        left, _ = await _OneAcquire(self._client, self._text, self.sleep).look(next_owner())
        return left != -2

    async def owned(self) -> bool:
        """Whether it is locked with the token of this lock object."""
        token = self._token
        if token is None:
            return False
        held = self._held.get(token)
        if held is None:
            return bool(await self._theirs(token).owned())
        _, is_owner = await held.lock.look(held.hold.owner)
        return bool(is_owner == 1)

    async def __aenter__(self) -> Self:
        if await self.acquire():
            return self
        raise self._unentered()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        try:
            await self.release()
        except LockError as e:
            if self.raise_on_release_error:
                raise
            self._log_unreleased(e)

    def __repr__(self) -> str:
        return f"<redlatch.compat.redis_asyncio.Lock {self._text!r} of {self._client!r}>"


class _OneAcquire(TokenLock):
    """A token lock for one acquire. The acquire is an owner of its own."""

    def __new__(cls, client: AsyncClient, name: str, sleep: float) -> Self:
        return super().__new__(cls, client, name, None, None, EACH, [max(1, round(sleep * 1000))])

    async def look(self, owner: int) -> tuple[int, int]:
        """The remaining ms (-2: it is free, -1: without end), and whether this owner holds it: 1 or 0."""
        answer = calls.answer(await run(self, calls.INSPECT, owner, (0, None), []), self.name)
        assert answer is not None, "looking never waits"
        left, items = answer
        return left, items[0]

    async def lasts(self, hold: Hold) -> float:
        """For how many seconds the hold still lasts. Raises NotHeldError if it does not, or without an end."""
        return lasts_for(self.name, *await self.look(hold.owner))

    async def last(self, hold: Hold, lease: float) -> None:
        """Makes the hold last so many seconds from now on."""
        lasting = seconds("timeout", lease, "give a time that can pass")
        calls.answer(await hold._begin_extension(here(), lasting), self.name)
