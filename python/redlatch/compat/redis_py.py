"""redis-py's `Lock` on redlatch's engine: the same arguments, methods and errors, and the same key in Redis.

    from redlatch.compat.redis_py import Lock

    with Lock(redis.Redis(), "report", timeout=60, blocking_timeout=5): ...
    with redis.Redis().lock("report", timeout=60, lock_class=Lock): ...

Programs that use redis-py's own and this one exclude each other. What is better here: a waiter is woken by the release
of another one, a call whose reply was lost is repeated until its outcome is known, and a lock without `timeout` does
not stay for ever when its process dies: the key lives 30 s (the client's watchdog) and is renewed while the process
lives.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace, TracebackType
from typing import TYPE_CHECKING, Any, Literal

from redlatch import calls
from redlatch.blocking import Blocking
from redlatch.client import Client
from redlatch.compat.redis_clients import client_of
from redlatch.compat.redis_errors import LockError, LockNotOwnedError, TheirLockNotOwnedError
from redlatch.durations import optional_seconds, seconds
from redlatch.errors import ConfigError, NotHeldError, UnsupportedError
from redlatch.hold import Hold
from redlatch.owners import next_owner
from redlatch.texts import checked
from redlatch.typings import Self

if TYPE_CHECKING:
    from redis import Redis
else:
    try:
        from redis import Redis
    except ImportError:
        Redis = Any  # a client of redlatch serves as well

__all__ = ["Lock", "LockError", "LockNotOwnedError"]

_log = logging.getLogger("redlatch")


class Lock:
    """A lock with the surface of redis-py's: it is not reentrant, and every acquire has a token of its own.

    `redis` is a `redis.Redis` of one server, of which a client of redlatch takes the settings over, or a
    `redlatch.Client`, whose prefix goes before the name. All times are seconds as int or float:

    - `timeout`: how long an acquire lasts at most; None has it renewed until it is released.
    - `sleep`: how long a waiter lets pass between two questions, when nobody tells it of a release.
    - `blocking`, `blocking_timeout`: whether an acquire waits, and how long at most; below `sleep` it asks once.
    - `thread_local`: whether only the thread that acquired it may release it.
    - `raise_on_release_error`: whether a block that ends without the lock raises, or logs a warning.

    Raises ConfigError, a ValueError, for what cannot be used; all methods may raise UnavailableError, RefusedError and
    ClosedError, which are not redis-py's.
    """

    #: What holds `token`: the one that this thread, or without `thread_local` anybody, acquired it with; None: none.
    local: Any

    def __init__(
        self,
        redis: Client | Redis,
        name: str | bytes,
        timeout: float | None = None,
        sleep: float = 0.1,
        blocking: bool = True,
        blocking_timeout: float | None = None,
        thread_local: bool = True,
        raise_on_release_error: bool = True,
    ) -> None:
        self._client = client_of(redis)
        self._text = _text(name)
        self._held: dict[bytes, tuple[_OneAcquire, Hold]] = {}
        # How an acquire waits that is not told otherwise.
        _wait(sleep, blocking, blocking_timeout)
        self.blocking = blocking
        self.blocking_timeout = blocking_timeout
        self.sleep = sleep
        # How long it lasts, and what a block does that ends without it.
        optional_seconds("timeout", timeout, "None has it renewed")
        self.timeout = timeout
        self.raise_on_release_error = raise_on_release_error
        # The rest is as it was given: programs read it.
        self.name = name
        self.redis = redis
        self.thread_local = bool(thread_local)
        self.local = _empty_local(self.thread_local)

    def acquire(
        self,
        sleep: float | None = None,
        blocking: bool | None = None,
        blocking_timeout: float | None = None,
        token: str | bytes | None = None,
    ) -> bool:
        """Acquires the lock and returns True; False if it was not free in time.

        What is left out is as the lock was made. A `token` of the caller's own is set, asked for and released by
        redis-py itself: it takes a redis-py client, else it raises UnsupportedError, and is not renewed.
        """
        sleep = self.sleep if sleep is None else sleep
        blocking = self.blocking if blocking is None else blocking
        blocking_timeout = self.blocking_timeout if blocking_timeout is None else blocking_timeout
        wait = _wait(sleep, blocking, blocking_timeout)
        if token is not None:
            theirs = self._theirs(None)
            acquired: bool = theirs.acquire(sleep, blocking, blocking_timeout, token)
            self.local.token = theirs.local.token if acquired else self._token
            return acquired
        one = _OneAcquire(self._client, self._text, sleep)
        taken: list[Hold] = []
        try:
            one._take(wait, self.timeout or None, taken)
            if taken:
                self._held.pop(self._token or b"", None)
                self._held[one.token] = one, taken[0]
                self.local.token = one.token
            return bool(taken)
        except BaseException:
            # Ctrl-C may come between the acquire and the return of this function.
            if taken:
                taken[0].__exit__(BaseException, None, None)
            raise

    def release(self) -> None:
        """Releases the lock. Raises LockError if it is not locked, LockNotOwnedError if it is not held any more."""
        token = self._locked_by("release", None)
        held = self._held.get(token)
        try:
            with self._owned("released"):
                held[1].release() if held else self._theirs(token).do_release(token)
        except BaseException:
            # Ctrl-C may come before the release; one that was made already is not made again.
            if held:
                held[1].__exit__(BaseException, None, None)
            raise
        finally:
            self._held.pop(token, None)
            self.local.token = None

    def extend(self, additional_time: float, replace_ttl: bool = False) -> Literal[True]:
        """Has the lock last `additional_time` longer than now, or with `replace_ttl` that long from now on.

        Raises LockError if it is not locked, or has no `timeout`; LockNotOwnedError if it is not held any more.
        """
        token = self._locked_by("extend", self.timeout)
        more = seconds("additional_time", additional_time, "give how much longer it is to last")
        held = self._held.get(token)
        with self._owned("extended"):
            if held is None:
                self._theirs(token).do_extend(additional_time, replace_ttl)
            else:
                held[0].last(held[1], more if replace_ttl else held[0].lasts() + more)
        return True

    def reacquire(self) -> Literal[True]:
        """Has the lock last its whole `timeout` again. Raises as `extend` does."""
        token = self._locked_by("reacquire", self.timeout)
        held = self._held.get(token)
        with self._owned("reacquired"):
            if held is None:
                self._theirs(token).do_reacquire()
            else:
                held[0].last(held[1], self.timeout or 0)
        return True

    def locked(self) -> bool:
        """Whether anybody has locked it."""
        return _OneAcquire(self._client, self._text, self.sleep).look()[0] != -2

    def owned(self) -> bool:
        """Whether it is locked with the token that this lock has."""
        token = self._token
        if token is None:
            return False
        held = self._held.get(token)
        return held[0].look()[1] == 1 if held else bool(self._theirs(token).owned())

    def __enter__(self) -> Self:
        if self.acquire():
            return self
        raise LockError(f"`{self._text}` was not acquired in time: somebody else has it; wait longer", self._text)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            self.release()
        except LockError as e:
            if self.raise_on_release_error:
                raise
            _log.warning("a block ended without its lock: %s", e)

    def __repr__(self) -> str:
        return f"<redlatch.compat.redis_py.Lock {self._text!r} of {self._client!r}>"

    @property
    def _token(self) -> Any:
        # A thread that has acquired nothing has no attribute either.
        return getattr(self.local, "token", None)

    def _locked_by(self, what: str, timeout: float | None) -> Any:
        """The token by which it is locked; `timeout` must be one, unless it does not matter."""
        if self._token is None:
            raise LockError(f"`{self._text}` is not locked by who asks to {what} it; acquire it first", self._text)
        if timeout is None and what != "release":
            raise LockError(f"`{self._text}` has no timeout, so there is none to {what}; it is renewed", self._text)
        return self._token

    @contextmanager
    def _owned(self, done: str) -> Iterator[None]:
        try:
            yield
        except (NotHeldError, TheirLockNotOwnedError) as e:
            message = f"`{self._text}` cannot be {done}, it is not held any more: {e}"
            raise LockNotOwnedError(message, self._text, getattr(e, "reason", None)) from e

    def _theirs(self, token: Any) -> Any:
        """redis-py's own lock, for tokens that redlatch has not made."""
        if isinstance(self.redis, Client):
            raise UnsupportedError(
                f"`{self._text}`: a redlatch.Client makes its own tokens; make the lock of a redis.Redis for others",
                self._text,
            )
        from redis.lock import Lock as Theirs

        theirs = Theirs(self.redis, self._text, timeout=self.timeout, thread_local=False)
        theirs.local.token = token
        return theirs


class _OneAcquire(Blocking):
    """A token lock for one acquire, by an owner whom nobody else is."""

    owner: int
    token: bytes

    def __new__(cls, client: Client, name: str, sleep: float) -> Self:
        owner = next_owner()
        asks = [max(1, round(sleep * 1000))]
        one = super().__new__(cls, client._native, ("token", name), (None, None), owner, asks, None)
        one.token = f"{client.id}:{owner}".encode()
        return one

    def look(self) -> tuple[int, int]:
        """The remaining ms (-2: nobody has it, -1: no end), and whether the owner has it: 1 or 0."""
        answer = calls.answer(self._ask(calls.INSPECT), self.name)
        assert answer is not None, "looking never waits"
        return answer[0], answer[1][0]

    def lasts(self) -> float:
        """For how many seconds the owner still has it. Raises NotHeldError if it has not, or without an end."""
        left, held = self.look()
        if not held or left < 0:
            raise NotHeldError("its key is another one now", self.name)
        return left / 1000

    def last(self, hold: Hold, lease: float) -> None:
        """Has the hold last so many seconds from now on."""
        calls.answer(hold._extend(seconds("timeout", lease, "give a time that can pass")), self.name)


def _empty_local(is_of_one_thread: bool) -> Any:
    """Where the token will be: of each thread its own, or one of all."""
    local = threading.local() if is_of_one_thread else SimpleNamespace()
    local.token = None
    return local


def _text(name: str | bytes) -> str:
    try:
        return checked("the name of a lock", name.decode() if isinstance(name, bytes) else name)
    except UnicodeDecodeError:
        raise ConfigError(f"the name of a lock is {name!r}, which is no UTF-8; use other characters") from None


def _wait(sleep: float, blocking: bool, blocking_timeout: float | None) -> float | None:
    """How long an acquire waits; None: for ever."""
    pause = seconds("sleep", sleep, "0.1 is redis-py's own")
    wait = optional_seconds("blocking_timeout", blocking_timeout, "None waits for ever")
    if not blocking:
        return 0
    # As redis-py: who would still sleep at the end asks once.
    return 0 if wait is not None and pause > wait else wait
