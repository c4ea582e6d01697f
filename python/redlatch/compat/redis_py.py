"""redis-py's `Lock` on redlatch's engine: the same arguments, methods and errors, and the same key in Redis.

    from redlatch.compat.redis_py import Lock

    with Lock(redis.Redis(), "report", timeout=60, blocking_timeout=5): ...
    with redis.Redis().lock("report", timeout=60, lock_class=Lock): ...

Programs with redis-py's own lock and programs with this one exclude each other. This one is better in three points. A
release wakes a waiter at once. A call whose reply was lost is repeated until its outcome is known. A lock without
`timeout` ends when its process dies: its key lives 30 s (the client's watchdog), and is renewed while the process runs.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Union

from redlatch import calls
from redlatch.blocking import Blocking
from redlatch.client import Client
from redlatch.compat.redis_clients import FOR_THREADS
from redlatch.compat.redis_errors import LockError, LockNotOwnedError
from redlatch.compat.redis_locks import Acquired, BaseLock, lasts_for, wait_of
from redlatch.durations import seconds
from redlatch.hold import Hold
from redlatch.owners import next_owner
from redlatch.typings import Self

if TYPE_CHECKING:
    from redis import Redis, RedisCluster

    Clients = Union[Client, Redis, RedisCluster]
else:
    Clients = Any  # a program may have no redis-py

__all__ = ["Lock", "LockError", "LockNotOwnedError"]


class Lock(BaseLock[Clients]):
    """A lock with the surface of redis-py's lock: it is not reentrant, and every acquire has a token of its own.

    `redis` is a `redis.Redis` or a `redis.RedisCluster`, whose settings a client of redlatch takes over, or a
    `redlatch.Client`, whose prefix goes before the name. All times are seconds as int or float:

    - `timeout`: how long an acquire lasts at most. None: it is renewed until it is released.
    - `sleep`: the pause between two tries of a waiter, if no release wakes it before.
    - `blocking`, `blocking_timeout`: whether an acquire waits, and how long at most; below `sleep` it tries once.
    - `thread_local`: whether only the thread that acquired it may release it.
    - `raise_on_release_error`: whether a block that ends without the lock raises an error, or logs a warning.

    Raises ConfigError, a ValueError, for arguments that cannot be used. All methods may raise UnavailableError,
    RefusedError and ClosedError, which are not redis-py's.
    """

    _counterparts = FOR_THREADS
    _their_module = "redis.lock"

    def acquire(
        self,
        sleep: float | None = None,
        blocking: bool | None = None,
        blocking_timeout: float | None = None,
        token: str | bytes | None = None,
    ) -> bool:
        """Acquires the lock and returns True; False if it was not free in time.

        An argument that is left out is that of the lock. With a `token` of the caller's own, redis-py's lock does the
        work: it needs a redis-py client, else UnsupportedError is raised, and it is not renewed.
        """
        sleep = self.sleep if sleep is None else sleep
        blocking = self.blocking if blocking is None else blocking
        blocking_timeout = self.blocking_timeout if blocking_timeout is None else blocking_timeout
        wait = wait_of(sleep, blocking, blocking_timeout)
        if token is not None:
            theirs = self._theirs(None)
            acquired: bool = theirs.acquire(sleep, blocking, blocking_timeout, token)
            self.local.token = theirs.local.token if acquired else self._token
            return acquired
        one = OneAcquire(self._client, self._text, sleep)
        taken: list[Hold] = []
        try:
            one._take(wait, self.timeout or None, taken)
            if taken:
                self._held.pop(self._token or b"", None)
                self._held[one.token] = Acquired(one, taken[0])
                self.local.token = one.token
            return bool(taken)
        except BaseException:
            # Ctrl-C may interrupt this function after the acquire. Its caller would not know of the lock.
            if taken:
                taken[0].__exit__(BaseException, None, None)
            raise

    def release(self) -> None:
        """Releases the lock. Raises LockError if it is not locked, LockNotOwnedError if it is not held any more."""
        token = self._locked_by("release", None)
        held = self._held.get(token)
        try:
            # First: without `thread_local` another thread may acquire as soon as it is released.
            self._held.pop(token, None)
            self.local.token = None
            with self._owned("released"):
                if held:
                    held.hold.release()
                else:
                    self._theirs(token).do_release(token)
        except BaseException:
            # Ctrl-C may interrupt this function before the release. A release that was made is not made again.
            if held:
                held.hold.__exit__(BaseException, None, None)
            raise

    def extend(self, additional_time: float, replace_ttl: bool = False) -> Literal[True]:
        """Adds `additional_time` to the time that is left. With `replace_ttl` the lock lasts that long from now on.

        Raises LockError if it is not locked, or has no `timeout`; LockNotOwnedError if it is not held any more.
        """
        token = self._locked_by("extend", self.timeout)
        more = seconds("additional_time", additional_time, "give how much longer it is to last")
        held = self._held.get(token)
        with self._owned("extended"):
            if held is None:
                self._theirs(token).do_extend(additional_time, replace_ttl)
            else:
                held.lock.last(held.hold, more if replace_ttl else held.lock.lasts() + more)
        return True

    def reacquire(self) -> Literal[True]:
        """Makes the lock last its whole `timeout` again, from now on. Raises the errors of `extend`."""
        token = self._locked_by("reacquire", self.timeout)
        held = self._held.get(token)
        with self._owned("reacquired"):
            if held is None:
                self._theirs(token).do_reacquire()
            else:
                held.lock.last(held.hold, self.timeout or 0)
        return True

    def locked(self) -> bool:
        """Whether any program has locked it."""
        left, _ = OneAcquire(self._client, self._text, self.sleep).look()
        return left != -2

    def owned(self) -> bool:
        """Whether it is locked with the token of this lock object."""
        token = self._token
        if token is None:
            return False
        held = self._held.get(token)
        if held is None:
            return bool(self._theirs(token).owned())
        _, is_owner = held.lock.look()
        return bool(is_owner == 1)

    def __enter__(self) -> Self:
        if self.acquire():
            return self
        raise self._unentered()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            self.release()
        except LockError as e:
            if self.raise_on_release_error:
                raise
            self._log_unreleased(e)

    def __repr__(self) -> str:
        return f"<redlatch.compat.redis_py.Lock {self._text!r} of {self._client!r}>"


class OneAcquire(Blocking):
    """A token lock for one acquire. The acquire is an owner of its own."""

    owner: int
    token: bytes

    def __new__(cls, client: Client, name: str, sleep: float) -> Self:
        owner = next_owner()
        pause = max(1, round(sleep * 1000))
        one = super().__new__(cls, client._native, ("token", name), (None, None), owner, [pause], None)
        one.token = f"{client.id}:{owner}".encode()
        return one

    def look(self) -> tuple[int, int]:
        """The remaining ms (-2: it is free, -1: without end), and whether this owner holds it: 1 or 0."""
        answer = calls.answer(self._run_at_once(calls.INSPECT), self.name)
        assert answer is not None, "looking never waits"
        left, items = answer
        return left, items[0]

    def lasts(self) -> float:
        """For how many seconds the owner still holds it. Raises NotHeldError if it does not, or without an end."""
        return lasts_for(self.name, *self.look())

    def last(self, hold: Hold, lease: float) -> None:
        """Makes the hold last so many seconds from now on."""
        calls.answer(hold._extend(seconds("timeout", lease, "give a time that can pass")), self.name)
