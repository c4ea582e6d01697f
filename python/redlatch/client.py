"""The client for threads: what it shares with the client for asyncio, and its calls that block."""

from __future__ import annotations

from types import TracebackType

from redlatch import at_exit, calls
from redlatch.base_client import BaseClient
from redlatch.groups import FasterMultiLock, MultiLock, RedLock
from redlatch.inventory import Locks
from redlatch.kinds import Kinds
from redlatch.leader import Leader
from redlatch.locks import Lock
from redlatch.permit_semaphore import PermitExpirableSemaphore
from redlatch.permits import CountDownLatch, Semaphore
from redlatch.read_write import ReadWriteLock
from redlatch.typings import Self


class Client(
    Kinds,
    BaseClient[
        Lock,
        ReadWriteLock,
        Semaphore,
        PermitExpirableSemaphore,
        CountDownLatch,
        MultiLock,
        FasterMultiLock,
        RedLock,
        Leader,
        Locks,
    ],
):
    """One program's way to one server. Threads may share it, and a forked child may use it.

    Make it with `redlatch.connect`. As a context manager it is closed at the end of the block.
    """

    _title = "redlatch.Client"

    _lock = Lock
    _read_write_lock = ReadWriteLock
    _semaphore = Semaphore
    _permit_expirable_semaphore = PermitExpirableSemaphore
    _count_down_latch = CountDownLatch
    _multi_lock = MultiLock
    _faster_multi_lock = FasterMultiLock
    _red_lock = RedLock
    _leader = Leader
    _locks = Locks

    def ping(self) -> None:
        """Asks the server for a sign of life.

        Raises UnavailableError if it gives none in time, RefusedError if it wants other credentials, ClosedError.
        """
        calls.answer(self._native.ping(), None)

    def close(self) -> None:
        """Releases every hold of this client and disconnects. Calls that wait, and later ones, raise ClosedError.

        The holders are told that they lost their locks: `closed`. If the server does not answer, closing takes as long
        as a release would. Ctrl-C ends the wait for it.

        The end of the program closes every client, after all threads but daemons have ended. `os._exit` and signals
        that kill do not: then each lock ends with its lease.
        """
        at_exit.close(self._native)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
