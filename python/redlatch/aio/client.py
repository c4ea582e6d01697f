"""The client for asyncio: what it shares with the client for threads, and its calls as coroutines."""

from __future__ import annotations

from types import TracebackType

from redlatch import _redlatch, at_exit, calls, inventory
from redlatch.aio.groups import FasterMultiLock, MultiLock, RedLock
from redlatch.aio.inventory import Locks
from redlatch.aio.job import Job
from redlatch.aio.kinds import Kinds
from redlatch.aio.leader import Leader
from redlatch.aio.locks import Lock
from redlatch.aio.loops import here, run
from redlatch.aio.permit_semaphore import PermitExpirableSemaphore
from redlatch.aio.permits import CountDownLatch, Semaphore
from redlatch.aio.read_write import ReadWriteLock
from redlatch.base_client import BaseClient
from redlatch.inventory import HeldLock
from redlatch.typings import Self


class AsyncClient(
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
    """One program's way to one server. Tasks, loops and threads may share it, and a forked child may use it.

    Make it with `redlatch.aio.connect`. As an async context manager it is closed at the end of the block.
    """

    _title = "redlatch.aio.AsyncClient"

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

    async def ping(self) -> None:
        """Asks the server for a sign of life.

        Raises UnavailableError if it gives none in time, RefusedError if it wants other credentials, ClosedError.
        """
        calls.answer(await run(self._native, calls.PING), None)

    async def evict(self, lock: HeldLock) -> bool:
        """Takes a lock away from the holder that `locks` has found, and from no other one.

        Returns True if that holder had it still: it has lost it, is told so (`deleted`), and waiters are woken. Returns
        False if it had it no more. Where an answer was lost on its way, True means that it has the lock no more. A
        later hold of the same owner looks the same. Readers lose a lock together, if the first one of `holders` still
        reads.

        Raises UnsupportedError for a lock of the kinds `multi`, `permits`, `token`, `semaphore` and `latch`, and for a
        client of MySQL, MariaDB or ZooKeeper; UnavailableError, RefusedError, ClosedError, and ConfigError for what is
        no `HeldLock`.
        """
        return inventory.was_evicted(await self._native._submit_evict(here(), *inventory.named(lock)), lock)

    async def close(self) -> None:
        """Releases every hold of this client and disconnects. Calls that wait, and later ones, raise ClosedError.

        The holders are told that they lost their locks: `closed`. If the server does not answer, closing takes as long
        as a release would. Cancelling ends the wait for it.

        The end of the program closes every client, after all threads but daemons have ended. `os._exit` and signals
        that kill do not: then each lock ends with its lease. The end of a loop closes no client.
        """
        await run(_Closing(self._native))
        at_exit.forget(self._native)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()


class _Closing:
    """The closing of a client, as a call that a task waits for. Cancelling the task does not stop it."""

    def __init__(self, native: _redlatch.Client) -> None:
        self._native = native

    def _submit(self, mailbox: _redlatch.Mailbox) -> _redlatch._Pending[_redlatch._Outcome]:
        return self._native._close(mailbox)
