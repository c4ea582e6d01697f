"""One permit of a semaphore that gives each an id."""

from __future__ import annotations

import os
from types import TracebackType

import redlatch
from redlatch.aio.hold import Hold
from redlatch.errors import Noting
from redlatch.permit import taken_before_fork
from redlatch.typings import Self


class Permit(str):
    """The id of a permit, 32 hexadecimal digits. Any program that has the id can give the permit back.

    As an async context manager it gives itself back at the end of the block. Pickled or stored, it is a plain str:
    its other attributes are about the process that took it.
    """

    _semaphore: redlatch.aio.PermitExpirableSemaphore
    _hold: Hold | None
    _process: int

    def __new__(cls, semaphore: redlatch.aio.PermitExpirableSemaphore, id: str, hold: Hold | None) -> Self:
        permit = super().__new__(cls, id)
        permit._semaphore = semaphore
        permit._hold = hold
        permit._process = os.getpid()
        return permit

    @property
    def hold(self) -> Hold | None:
        """The hold that tells of a loss, if the permit was acquired with `renew=True`; else None."""
        return self._hold

    async def release(self) -> None:
        """Gives it back. Raises NotHeldError if it is not out any more, LockLostError if it was renewed and lost."""
        if self._hold is not None:
            await self._hold.release()
        elif self._process != os.getpid():
            raise taken_before_fork(self, self._semaphore.name)
        else:
            await self._semaphore.release(self)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        """Gives the permit back.

        If the body raised an error, that one is raised, and an error of the release becomes a note of it.
        """
        with Noting(kind, error):
            await self.release()

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return str, (str(self),)
