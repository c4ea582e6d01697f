"""The errors of `redlatch.compat.redis_py`: redlatch's own, and redis-py's as well where that is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from redlatch.errors import RedlatchError

if TYPE_CHECKING:
    from redis.exceptions import LockError as TheirLockError
    from redis.exceptions import LockNotOwnedError as TheirLockNotOwnedError
else:
    try:
        from redis.exceptions import LockError as TheirLockError
        from redis.exceptions import LockNotOwnedError as TheirLockNotOwnedError
    except ImportError:

        class TheirLockError(ValueError):
            """Stands for redis-py's error where redis-py is not installed."""

        class TheirLockNotOwnedError(TheirLockError):
            """Stands for redis-py's error where redis-py is not installed."""


__all__ = ["LockError", "LockNotOwnedError", "TheirLockError", "TheirLockNotOwnedError"]


class LockError(RedlatchError, TheirLockError):
    """The lock was not acquired in time, or its caller releases or extends it without holding it.

    Also a `ValueError`, and a `redis.exceptions.LockError` where redis-py is installed.
    """

    def __init__(self, message: str, name: str | None = None, reason: str | None = None) -> None:
        super().__init__(message, name, reason)
        self.args = (message,)  # redis-py before 8 leaves all three arguments here
        #: The lock that it is about, under redis-py's name for the attribute.
        self.lock_name = name


class LockNotOwnedError(LockError, TheirLockNotOwnedError):
    """The lock was acquired and is not held any more: its time ran out, or another client took it away.

    Also a `redis.exceptions.LockNotOwnedError` where redis-py is installed.
    """

    code: ClassVar[str] = "not_held"
