"""The lock that many tasks may hold for reading, or one for writing."""

from __future__ import annotations

from typing import ClassVar

import redlatch
from redlatch.aio.locks import Lock
from redlatch.durations import Seconds
from redlatch.owners import Owner


class ReadLock(Lock):
    """The half that any number of owners may hold at the same time, as long as no other owner writes."""

    _kind: ClassVar[str] = "read"
    _shared: ClassVar[bool] = True


class WriteLock(Lock):
    """The half that one owner holds, while no other owner reads or writes."""

    _kind: ClassVar[str] = "write"


class ReadWriteLock:
    """Two locks of one name: many owners may read, or one may write. Make it with `AsyncClient.get_read_write_lock`.

    A writer may read as well, and still reads after it has released the lock for writing. A reader must not ask to
    write: it would wait for itself. Without an end of the wait that raises AlreadyHeldError.
    """

    def __init__(
        self, client: redlatch.aio.AsyncClient, name: str, wait: Seconds | None, lease: Seconds | None, owner: Owner
    ) -> None:
        self._read_lock = ReadLock(client, name, wait, lease, owner)
        self._write_lock = WriteLock(client, name, wait, lease, owner)

    @property
    def name(self) -> str:
        """The name of both."""
        return self._read_lock.name

    @property
    def read_lock(self) -> ReadLock:
        """The lock for reading."""
        return self._read_lock

    @property
    def write_lock(self) -> WriteLock:
        """The lock for writing."""
        return self._write_lock

    def __repr__(self) -> str:
        return f"<redlatch.aio.ReadWriteLock {self.name!r} of {self._read_lock.client!r}>"
