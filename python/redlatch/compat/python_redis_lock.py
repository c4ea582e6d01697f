"""python-redis-lock's `Lock` on redlatch's engine: the same arguments, methods and errors, and the same key in Redis.

    from redlatch.compat.python_redis_lock import Lock

    with Lock(redis.Redis(), "report", expire=60, auto_renewal=True): ...

Programs with python-redis-lock and programs with this lock exclude each other, and a release wakes the waiters of both.
A waiter of this lock hears of a release by python-redis-lock within 0.1 s. This one is better in three points. A lock
without `expire` ends when its process dies: its key lives 30 s (the client's watchdog), and is renewed while the
process runs. Renewal takes no thread for each lock. A call whose reply was lost is repeated until its outcome is known.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Final

from redlatch import calls, queries
from redlatch.checks import checked_text, shown
from redlatch.client import Client
from redlatch.compat.redis_clients import FOR_THREADS, unfit
from redlatch.compat.redis_py import OneAcquire
from redlatch.errors import ArgumentTypeError, ConfigError, NotHeldError, Noting, RedlatchError, UnsupportedError
from redlatch.hold import Hold
from redlatch.typings import Self

if TYPE_CHECKING:
    from redis import Redis

    TheirLock: Any
    TheirAlreadyAcquired = RuntimeError
    TheirInvalidTimeout = RuntimeError
    TheirNotAcquired = RuntimeError
    TheirNotExpirable = RuntimeError
    TheirTimeoutNotUsable = RuntimeError
    TheirTimeoutTooLarge = RuntimeError
else:
    Redis = Any  # for type hints that a program reads
    try:
        from redis_lock import AlreadyAcquired as TheirAlreadyAcquired
        from redis_lock import InvalidTimeout as TheirInvalidTimeout
        from redis_lock import Lock as TheirLock
        from redis_lock import NotAcquired as TheirNotAcquired
        from redis_lock import NotExpirable as TheirNotExpirable
        from redis_lock import TimeoutNotUsable as TheirTimeoutNotUsable
        from redis_lock import TimeoutTooLarge as TheirTimeoutTooLarge
    except ImportError:
        TheirLock = None
        TheirAlreadyAcquired = TheirInvalidTimeout = TheirNotAcquired = RuntimeError
        TheirNotExpirable = TheirTimeoutNotUsable = TheirTimeoutTooLarge = RuntimeError

__all__ = [
    "AlreadyAcquired",
    "InvalidTimeout",
    "Lock",
    "NotAcquired",
    "NotExpirable",
    "TimeoutNotUsable",
    "TimeoutTooLarge",
    "reset_all",
]

#: How long a waiter pauses between two tries if no release by redlatch wakes it before, in seconds.
_PAUSE: Final = 0.1


class AlreadyAcquired(RedlatchError, TheirAlreadyAcquired):
    """The lock object holds its lock already. Also a `redis_lock.AlreadyAcquired` where that is installed."""

    code: ClassVar[str] = "already_held"


class NotAcquired(RedlatchError, TheirNotAcquired):
    """The lock is not held by this id. Also a `redis_lock.NotAcquired` where that is installed."""

    code: ClassVar[str] = "not_held"


class NotExpirable(RedlatchError, TheirNotExpirable):
    """The lock has no `expire` that could be extended. Also a `redis_lock.NotExpirable` where that is installed."""

    code: ClassVar[str] = "config"


class TimeoutNotUsable(ConfigError, TheirTimeoutNotUsable):
    """`timeout` with `blocking=False`. Also a `redis_lock.TimeoutNotUsable` where that is installed."""


class InvalidTimeout(ConfigError, TheirInvalidTimeout):
    """A negative `timeout`. Also a `redis_lock.InvalidTimeout` where that is installed."""


class TimeoutTooLarge(ConfigError, TheirTimeoutTooLarge):
    """A `timeout` beyond `expire`. Also a `redis_lock.TimeoutTooLarge` where that is installed."""


class Lock:
    """A lock with the surface of python-redis-lock's: it is not reentrant, and belongs to its lock object.

    `redis_client` is a `redis.Redis`, whose settings a client of redlatch takes over; its own connections wake the
    waiters of python-redis-lock. Times are whole seconds:

    - `expire`: how long an acquire lasts at most. None: it is renewed until it is released.
    - `id`: the value of the key. One of the caller's own is left to python-redis-lock, which must be installed.
    - `auto_renewal`: whether a lock with `expire` is renewed as well, every third of it.
    - `strict`: accepted; only a `redis.Redis` will do.
    - `signal_expire`: for how many milliseconds the signal to python-redis-lock's waiters lives.
    - `blocking`: whether a block waits for the lock.

    Raises ConfigError, a ValueError, for arguments that cannot be used. All methods may raise UnavailableError,
    RefusedError and ClosedError, and redis-py's errors in their place.
    """

    def __init__(
        self,
        redis_client: Redis,
        name: str,
        expire: float | None = None,
        id: str | bytes | None = None,
        auto_renewal: bool = False,
        strict: bool = True,
        signal_expire: int = 1000,
        blocking: bool = True,
    ) -> None:
        if isinstance(redis_client, Client):
            raise unfit(redis_client, "redis.Redis", "redis.Redis.from_url")
        del strict
        self._redis: Any = redis_client
        self._client = FOR_THREADS.of(redis_client)
        self._name = checked_text("the name of a lock", name)
        self._expire = _whole("expire", expire)
        if auto_renewal and self._expire is None:
            raise ConfigError(
                f"`{name}` has auto_renewal and no expire; give one, or leave both out: it is renewed", name
            )
        self._auto_renewal = auto_renewal
        self._signal_expire = signal_expire
        self.blocking = blocking
        self._one = OneAcquire(self._client, f"lock:{name}", _PAUSE)
        self._hold: Hold | None = None
        self._theirs: Any = None if id is None else self._made_by_them(id)

    @property
    def id(self) -> str:
        """The value of the key while this lock object holds it."""
        return str(self._theirs.id) if self._theirs is not None else self._one.token.decode()

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        """Acquires the lock and returns True; False if it was not free in time.

        `timeout` is in whole seconds, None or 0 waits for ever. Raises AlreadyAcquired if this lock object holds it,
        TimeoutNotUsable, InvalidTimeout and TimeoutTooLarge for a `timeout` that cannot be used.
        """
        if self._theirs is not None:
            return bool(self._theirs.acquire(blocking, timeout))
        if self._owned():
            raise AlreadyAcquired(f"`{self._name}` is held by this lock object; release it first", self._name)
        wait = self._wait(blocking, timeout)
        taken: list[Hold] = []
        try:
            self._one._take(wait, self._expire, taken)
            if taken and self._auto_renewal and self._expire is not None:
                calls.answer(taken[0]._renew(self._expire), self._name)
            self._hold = taken[0] if taken else None
            return bool(taken)
        except BaseException:
            # Ctrl-C may interrupt this function after the acquire. Its caller would not know of the lock.
            if taken:
                taken[0].__exit__(BaseException, None, None)
            raise

    def release(self) -> None:
        """Releases the lock. Raises NotAcquired if this id does not hold it."""
        if self._theirs is not None:
            self._theirs.release()
            return
        hold = self._hold
        if hold is None:
            raise self._not_acquired()
        try:
            hold.release()
        except NotHeldError as e:
            raise self._not_acquired(e) from e
        except BaseException:
            # Ctrl-C may interrupt this function before the release. A release that was made is not made again.
            hold.__exit__(BaseException, None, None)
            raise
        finally:
            self._hold = None
        self._signal()

    def extend(self, expire: float | None = None) -> None:
        """Lets the lock last for `expire` whole seconds from now on; None: its own `expire`.

        Raises NotAcquired if this id does not hold it, NotExpirable if it has no `expire`.
        """
        if self._theirs is not None:
            self._theirs.extend(expire)
            return
        lasting = _whole("expire", expire) or self._expire
        if lasting is None:
            raise ArgumentTypeError(
                f"`{self._name}` has no expire of its own; give extend how long it is to last", self._name
            )
        if self._hold is None:
            raise self._not_acquired()
        if self._expire is None:
            raise NotExpirable(f"`{self._name}` has no expire, so there is none to extend; it is renewed", self._name)
        try:
            self._one.last(self._hold, lasting)
        except NotHeldError as e:
            raise self._not_acquired(e) from e

    def locked(self) -> bool:
        """Whether any program has locked it."""
        left, _ = self._one.look()
        return left != -2

    def get_owner_id(self) -> str | None:
        """The value of the key: the id of the lock object that holds it. None: it is free."""
        owner = self._redis.get(f"lock:{self._name}")
        return owner.decode("ascii", "replace") if isinstance(owner, bytes) else owner

    def reset(self) -> None:
        """Takes the lock away from its holder."""
        queries.FORCE_UNLOCK.answer(self._one._run_at_once(queries.FORCE_UNLOCK.op), self._name)
        self._signal()

    def __enter__(self) -> Self:
        if self.acquire(blocking=self.blocking):
            return self
        raise NotAcquired(f"`{self._name}` was not acquired: another owner holds it; wait, or try later", self._name)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with Noting(kind, error):
            self.release()

    def __repr__(self) -> str:
        return f"<redlatch.compat.python_redis_lock.Lock {self._name!r} of {self._client!r}>"

    def _wait(self, blocking: bool, timeout: float | None) -> float | None:
        """How long an acquire waits; None: for ever."""
        if not blocking and timeout is not None:
            raise TimeoutNotUsable(
                f"`{self._name}`: blocking=False waits for nothing; leave the timeout out", self._name
            )
        wait = _whole("timeout", timeout, InvalidTimeout)
        if wait is not None and self._expire is not None and not self._auto_renewal and wait > self._expire:
            raise TimeoutTooLarge(
                f"`{self._name}`: timeout is {wait:g} s and expire {self._expire:g} s; let it be no longer", self._name
            )
        return wait if blocking else 0

    def _owned(self) -> bool:
        _, is_owner = self._one.look()
        return bool(is_owner == 1)

    def _not_acquired(self, cause: NotHeldError | None = None) -> NotAcquired:
        told = f": {cause}" if cause else "; acquire it first"
        return NotAcquired(
            f"`{self._name}` is not held by this lock object{told}", self._name, getattr(cause, "reason", None)
        )

    def _signal(self) -> None:
        """Wakes the waiters of python-redis-lock, as its own release does."""
        signal(self._redis, self._name, self._signal_expire)

    def _made_by_them(self, id: str | bytes) -> Any:
        if not isinstance(id, (str, bytes)):
            raise ArgumentTypeError(f"id is {shown('id', id)}; give a str or bytes, or leave it out", self._name)
        if TheirLock is None:
            raise UnsupportedError(
                f"`{self._name}`: an id of your own is left to python-redis-lock, which is not installed; leave it out",
                self._name,
            )
        return TheirLock(
            self._redis,
            self._name,
            expire=self._expire,
            id=id,
            auto_renewal=self._auto_renewal,
            signal_expire=self._signal_expire,
        )


def reset_all(redis_client: Redis) -> None:
    """Takes all locks of python-redis-lock's names (`lock:*`) away from their holders. It reads all keys."""
    redis: Any = redis_client
    client = FOR_THREADS.of(redis_client)
    for key in list(redis.scan_iter("lock:*")):
        name = key.decode() if isinstance(key, bytes) else key
        client.get_token_lock(name).force_unlock()
        signal(redis, name.partition(":")[2], 1000)


def signal(redis: Any, name: str, expire: int) -> None:
    """Wakes a waiter of python-redis-lock, which then tries again."""
    key = f"lock-signal:{name}"
    with redis.pipeline() as pipeline:
        pipeline.delete(key).lpush(key, 1).pexpire(key, expire).execute()


def _whole(what: str, value: Any, wrong: type[ConfigError] = ConfigError) -> float | None:
    """Whole seconds, as python-redis-lock takes them; None for None and 0."""
    if not value and not isinstance(value, str):
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ArgumentTypeError(f"{what} is {shown(what, value)}; give whole seconds, or leave it out")
    if not 0 < value < 3_000_000_000:
        raise wrong(f"{what} is {value} s; give whole seconds from 1 on, or leave it out")
    return float(int(value)) or None
