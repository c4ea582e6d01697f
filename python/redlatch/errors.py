"""The errors that redlatch raises, and the error for each status of the native module."""

from __future__ import annotations

import contextlib
from types import TracebackType
from typing import ClassVar


class RedlatchError(Exception):
    """The base of all errors. A wait that ends without the lock is an error only in calls that promise a hold."""

    #: The stable name of the error, the same in every language.
    code: ClassVar[str] = "error"

    def __init__(self, message: str, name: str | None = None, reason: str | None = None) -> None:
        super().__init__(message)
        #: The name of the lock that it is about, or None.
        self.name = name
        #: The cause, where `code` leaves it open, or None; see each class.
        self.reason = reason

    def __reduce__(self) -> tuple[type, tuple[str, str | None, str | None]]:
        return type(self), (str(self), self.name, self.reason)


class NotHeldError(RedlatchError, RuntimeError):
    """A release of a lock or permit that its caller does not hold."""

    code = "not_held"


class LockLostError(NotHeldError):
    """The hold ended before it was released, so another holder may have done the guarded work at the same time.

    `reason` is one of the words of `Hold.lost_reason`. The message tells when each event happened.
    """

    code = "lost"


class AlreadyHeldError(RedlatchError, RuntimeError):
    """An owner acquired a lock that it holds already, and the lock is not reentrant."""

    code = "already_held"


class NotAcquiredError(RedlatchError, TimeoutError):
    """The wait ended while the lock was taken: its server said so, or another hold of this client keeps it.

    Only calls that promise a hold raise it: `with lock`, `lock(wait=…)` and decorated functions. If the server gave no
    answer during the wait, UnavailableError is raised, by `try_lock` too.
    """

    code = "not_acquired"


class UnavailableError(RedlatchError, ConnectionError):
    """The server could not be reached, or did not answer in time or during a wait.

    `reason` is `unreachable` or `timeout`.
    """

    code = "unavailable"


class NotSyncedError(RedlatchError):
    """The replicas or files that `sync` asks for did not confirm an acquire in time. The lock was given back."""

    code = "not_synced"


class RefusedError(RedlatchError):
    """The server refused a call. `reason` is the server's code: `WRONGTYPE`, `NOAUTH`, `NOPERM`, `OOM`, …"""

    code = "refused"


class ConfigError(RedlatchError, ValueError):
    """An argument, option, URL or name that cannot be used."""

    code = "config"


class ArgumentTypeError(ConfigError, TypeError):
    """An argument of a wrong type. It is a TypeError as well."""


class UnsupportedError(RedlatchError):
    """The server, or this release of redlatch, cannot do this."""

    code = "unsupported"


class ClosedError(RedlatchError):
    """The client was closed."""

    code = "closed"


# The numbers are those of the core. 13 and 20 differ only in their reason.
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
    """Adds the error of a block's end to the error of its body as a note, from Python 3.11 on."""
    add_note = getattr(body, "add_note", None)
    if add_note is not None:
        # An exception may take no notes, for example one that is a frozen dataclass. The program still gets its own
        # exception then, which matters more than the note.
        with contextlib.suppress(Exception):
            add_note(str(told))


class Noting:
    """The end of a program's block: an error in here becomes a note of the error that the program's body raised."""

    def __init__(self, kind: type[BaseException] | None, body: BaseException | None) -> None:
        self._kind = kind
        self._body = body

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> bool:
        if self._kind is None or not isinstance(error, RedlatchError):
            return False
        note(self._body, error)
        return True


def error(status: int, message: str, reason: str | None, name: str | None) -> RedlatchError:
    """The error that a status from 10 on stands for."""
    return BY_STATUS.get(status, RedlatchError)(message, name, reason)
