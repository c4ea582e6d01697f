"""The client for threads: what it shares with the client for asyncio, and its calls that block."""

from __future__ import annotations

from types import TracebackType

from redlatch import at_exit, calls, inventory
from redlatch.base_client import BaseClient
from redlatch.groups import FasterMultiLock, MultiLock, RedLock
from redlatch.inventory import HeldLock, Locks
from redlatch.job import Job
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
        Job,
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
    _job = Job
    _locks = Locks

    def ping(self) -> None:
        """Asks the server for a sign of life.

        Raises UnavailableError if it gives none in time, RefusedError if it wants other credentials, ClosedError.
        """
        calls.answer(self._native.ping(), None)

    def evict(self, lock: HeldLock) -> bool:
        """Takes a lock away from the holder that `locks` has found, and from no other one.

        Returns True if that holder had it still: it has lost it, is told so (`deleted`), and waiters are woken. Returns
        False if it had it no more. Where an answer was lost on its way, True means that it has the lock no more. A
        later hold of the same owner looks the same. Readers lose a lock together, if the first one of `holders` still
        reads.

        Raises UnsupportedError for a lock of the kinds `multi`, `permits`, `token`, `semaphore` and `latch`, and for a
        client of MySQL, MariaDB or ZooKeeper; UnavailableError, RefusedError, ClosedError, and ConfigError for what is
        no `HeldLock`.
        """
        return inventory.was_evicted(self._native._evict(*inventory.named(lock)), lock)

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
