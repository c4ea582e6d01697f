"""The locks of `redlatch.compat.redis_py` and `redlatch.compat.redis_asyncio`: everything but their calls."""

from __future__ import annotations

import importlib
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, ClassVar, Final, Generic, NamedTuple, TypeVar

from redlatch.checks import checked_text
from redlatch.compat.redis_clients import Counterparts
from redlatch.compat.redis_errors import LockError, LockNotOwnedError, TheirLockNotOwnedError
from redlatch.durations import optional_seconds, seconds
from redlatch.errors import ConfigError, NotHeldError, UnsupportedError

R = TypeVar("R")

_log: Final = logging.getLogger("redlatch")


class Acquired(NamedTuple):
    """One acquire of a lock object that was not released."""

    lock: Any
    hold: Any


class BaseLock(Generic[R]):
    """The settings of a lock, and the token of its acquire."""

    #: The clients of redlatch for the clients of redis-py.
    _counterparts: ClassVar[Counterparts[Any]]
    #: The module of redis-py's own lock.
    _their_module: ClassVar[str]

    #: An object whose `token` is that of this thread's acquire, or without `thread_local` of the latest; None: none.
    local: Any

    def __init__(
        self,
        redis: R,
        name: str | bytes,
        timeout: float | None = None,
        sleep: float = 0.1,
        blocking: bool = True,
        blocking_timeout: float | None = None,
        thread_local: bool = True,
        raise_on_release_error: bool = True,
    ) -> None:
        self._client = self._counterparts.of(redis)
        self._text = _text(name)
        self._held: dict[bytes, Acquired] = {}
        # How an acquire waits that gives no times of its own.
        wait_of(sleep, blocking, blocking_timeout)
        self.blocking = blocking
        self.blocking_timeout = blocking_timeout
        self.sleep = sleep
        # How long the lock lasts, and whether a block that ends without it raises.
        optional_seconds("timeout", timeout, "None has it renewed")
        self.timeout = timeout
        self.raise_on_release_error = raise_on_release_error
        # Programs read these attributes of redis-py's lock.
        self.name = name
        self.redis = redis
        self.thread_local = bool(thread_local)
        self.local = _empty_local(self.thread_local)

    @property
    def _token(self) -> Any:
        # In a thread that has never acquired the lock, `local` has no such attribute.
        return getattr(self.local, "token", None)

    def _locked_by(self, what: str, timeout: float | None) -> Any:
        """The token with which it is locked. Raises LockError if there is none, or if `what` needs a timeout."""
        if self._token is None:
            raise LockError(f"`{self._text}` is not locked by this caller; acquire it before you {what} it", self._text)
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

    def _unentered(self) -> LockError:
        """The error of a block that did not get the lock."""
        return LockError(f"`{self._text}` was not acquired in time: another owner holds it; wait longer", self._text)

    def _theirs(self, token: Any) -> Any:
        """redis-py's own lock, for a token that redlatch did not make."""
        if self.redis is self._client:
            raise UnsupportedError(
                f"`{self._text}`: redlatch makes its own tokens; make the lock of a redis-py client for others",
                self._text,
            )
        of = importlib.import_module(self._their_module).Lock
        theirs = of(self.redis, self._text, timeout=self.timeout, sleep=self.sleep, thread_local=False)
        theirs.local.token = token
        return theirs

    def _log_unreleased(self, error: LockError) -> None:
        """Logs the error of a block that ended without its lock."""
        _log.warning("a block ended without its lock: %s", error)


def _empty_local(is_of_one_thread: bool) -> Any:
    """The place for the token: one for each thread, or one for all threads."""
    local = threading.local() if is_of_one_thread else SimpleNamespace()
    local.token = None
    return local


def _text(name: str | bytes) -> str:
    try:
        return checked_text("the name of a lock", name.decode() if isinstance(name, bytes) else name)
    except UnicodeDecodeError:
        raise ConfigError(f"the name of a lock is {name!r}, which is no UTF-8; use other characters") from None


def wait_of(sleep: float, blocking: bool, blocking_timeout: float | None) -> float | None:
    """How long an acquire waits; None: for ever."""
    pause = seconds("sleep", sleep, "0.1 is redis-py's own")
    wait = optional_seconds("blocking_timeout", blocking_timeout, "None waits for ever")
    if not blocking:
        return 0
    # As in redis-py, a waiter whose pause is longer than its wait tries once.
    return 0 if wait is not None and pause > wait else wait


def lasts_for(name: str, left: int, is_owner: int) -> float:
    """The seconds of these ms. Raises NotHeldError if the owner does not hold the lock, or without an end."""
    if not is_owner or left < 0:
        raise NotHeldError("its key has another token now, or none; acquire it again", name)
    return left / 1000
