"""One permit of a semaphore that gives each an id."""

from __future__ import annotations

import os
from types import TracebackType

import redlatch
from redlatch import _redlatch
from redlatch.errors import NotHeldError, Noting
from redlatch.hold import Hold
from redlatch.typings import Self


class Permit(str):
    """The id of a permit, 32 hexadecimal digits. Any program that has the id can give the permit back.

    As a context manager it gives itself back at the end of the block. Pickled or stored, it is a plain str: its other
    attributes are about the process that took it.
    """

    _semaphore: redlatch.PermitExpirableSemaphore
    _hold: Hold | None
    _process: int

    def __new__(cls, semaphore: redlatch.PermitExpirableSemaphore, id: str, hold: Hold | None) -> Self:
        permit = super().__new__(cls, id)
        permit._semaphore = semaphore
        permit._hold = hold
        permit._process = os.getpid()
        return permit

    @property
    def hold(self) -> Hold | None:
        """The hold that tells of a loss, if the permit was acquired with `renew=True`; else None."""
        return self._hold

    def release(self) -> None:
        """Gives it back. Raises NotHeldError if it is not out any more, LockLostError if it was renewed and lost."""
        if self._hold is not None:
            self._hold.release()
        elif self._process != os.getpid():
            raise taken_before_fork(self, self._semaphore.name)
        else:
            self._semaphore.release(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Gives the permit back.

        If the body raised an error, that one is raised, and an error of the release becomes a note of it.
        """
        with Noting(kind, error):
            self.release()

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return str, (str(self),)


class Renewed(_redlatch.Lock):
    """A renewed permit as the core sees it: a lock of one owner. The client and the owner determine its id."""

    def __new__(cls, native: _redlatch.Client, name: str, owner: int) -> Self:
        return super().__new__(cls, native, ("permit", name), (None, None), owner, [], None)


def taken_before_fork(permit: str, name: str) -> NotHeldError:
    """The error of a forked child that releases a permit of `name` which its parent took."""
    return NotHeldError(
        f"{permit} of `{name}` was taken by the process that forked this one; "
        "give it back by semaphore.release(permit) if that is meant",
        name,
    )
