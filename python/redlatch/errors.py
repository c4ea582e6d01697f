"""Everything that redlatch raises, and which error each status of the native module is."""

from __future__ import annotations

import contextlib
from typing import ClassVar


class RedlatchError(Exception):
    """The base of all errors. Not getting a lock in time is an error only where a hold was promised."""

    #: The stable name of the case, the same in every language.
    code: ClassVar[str] = "error"

    def __init__(self, message: str, name: str | None = None, reason: str | None = None) -> None:
        super().__init__(message)
        #: The lock that it is about, or None.
        self.name = name
        #: What exactly happened, where `code` leaves it open, or None; see each class.
        self.reason = reason

    def __reduce__(self) -> tuple[type, tuple[str, str | None, str | None]]:
        return type(self), (str(self), self.name, self.reason)


class NotHeldError(RedlatchError, RuntimeError):
    """Something was released that is not held."""

    code = "not_held"


class LockLostError(NotHeldError):
    """The hold ended before it was released: what it guarded may have been done twice.

    `reason` is one of the words of `Hold.lost_reason`; the message has the time line.
    """

    code = "lost"


class AlreadyHeldError(RedlatchError, RuntimeError):
    """A lock that is not reentrant was acquired by an owner who holds it."""

    code = "already_held"


class NotAcquiredError(RedlatchError, TimeoutError):
    """The wait ran out, and the lock is taken: by the word of its server, or by a hold of this client.

    Raised only by what promises a hold: `with lock`, `lock(wait=…)` and decorated functions. Without such a word the
    end of a wait is UnavailableError, from `try_lock` too.
    """

    code = "not_acquired"


class UnavailableError(RedlatchError, ConnectionError):
    """The server could not be reached, or did not answer in time or during a wait.

    `reason` is `unreachable` or `timeout`.
    """

    code = "unavailable"


class NotSyncedError(RedlatchError):
    """Replicas or files did not confirm in time what was taken, as `sync` wants it; it is given back."""

    code = "not_synced"


class RefusedError(RedlatchError):
    """The server said no. `reason` is its own word: `WRONGTYPE`, `NOAUTH`, `NOPERM`, `OOM`, `READONLY`, …"""

    code = "refused"


class ConfigError(RedlatchError, ValueError):
    """An argument, option, URL or name that cannot be used."""

    code = "config"


class ArgumentTypeError(ConfigError, TypeError):
    """An argument of a type that cannot be used: a ConfigError that is a TypeError."""


class UnsupportedError(RedlatchError):
    """The server, or this release, cannot do that."""

    code = "unsupported"


class ClosedError(RedlatchError):
    """The client was closed."""

    code = "closed"


# The numbers are those of the core; 13 and 20 differ in their reason only.
BY_STATUS: dict[int, type[RedlatchError]] = {
    10: NotHeldError,
    11: LockLostError,
    12: NotAcquiredError,
    13: UnavailableError,
    14: NotSyncedError,
    15: RefusedError,
    16: ConfigError,
    17: UnsupportedError,
    18: ClosedError,
    20: UnavailableError,
    21: AlreadyHeldError,
}


def note(body: BaseException | None, told: RedlatchError) -> None:
    """Notes at the error of a block's body what went wrong at the block's end, from Python 3.11 on."""
    add_note = getattr(body, "add_note", None)
    if add_note is not None:
        # The program's own exception says more than that it takes no notes, as one of a frozen dataclass does not.
        with contextlib.suppress(Exception):
            add_note(str(told))


def error(status: int, message: str, reason: str | None, name: str | None) -> RedlatchError:
    """The error that a status from 10 on stands for."""
    return BY_STATUS.get(status, RedlatchError)(message, name, reason)
