"""Distributed locks over Redis for asyncio: the names of `redlatch`, with coroutines.

client = redlatch.aio.connect("redis://localhost:6379")
async with client.lock("orders:42", wait=5) as hold:
    ...

Every acquire of `lock` excludes every other one. A lock of `get_lock` belongs to the task. Cancelling a call at any
moment leaves nothing behind. A client may be used in several loops, one after the other or in several threads at once.
It needs asyncio, or a library that runs on it (uvloop, anyio's asyncio backend); under trio every call raises
UnsupportedError. Errors, `Seconds`, `Tls`, `Wait`, `WaitAof`, `EACH` and `UNSET` are those of `redlatch`.
"""

from redlatch.aio.client import AsyncClient
from redlatch.aio.client import AsyncClient as Client
from redlatch.aio.connecting import connect, from_redis, red_lock
from redlatch.aio.current import current_hold
from redlatch.aio.groups import FasterMultiLock, MultiLock, RedLock
from redlatch.aio.hold import Hold
from redlatch.aio.inventory import Locks
from redlatch.aio.job import Job
from redlatch.aio.kinds import FairLock, FencedLock, NonReentrantFairLock, NonReentrantLock, SpinLock, TokenLock
from redlatch.aio.leader import Leader, Observer
from redlatch.aio.locks import Lock
from redlatch.aio.permit import Permit
from redlatch.aio.permit_semaphore import PermitExpirableSemaphore
from redlatch.aio.permits import CountDownLatch, Semaphore
from redlatch.aio.read_write import ReadLock, ReadWriteLock, WriteLock
from redlatch.durations import UNSET, Seconds
from redlatch.errors import (
    AlreadyHeldError,
    ClosedError,
    ConfigError,
    LockLostError,
    NotAcquiredError,
    NotHeldError,
    NotSyncedError,
    RedlatchError,
    RefusedError,
    UnavailableError,
    UnsupportedError,
)
from redlatch.inventory import HeldLock, Holder
from redlatch.job import JobRun, JobStats
from redlatch.leader import CurrentLeader
from redlatch.owners import EACH
from redlatch.stats import Stats
from redlatch.sync_policy import Wait, WaitAof
from redlatch.tls import Tls

__all__ = [
    "EACH",
    "UNSET",
    "AlreadyHeldError",
    "AsyncClient",
    "Client",
    "ClosedError",
    "ConfigError",
    "CountDownLatch",
    "CurrentLeader",
    "FairLock",
    "FasterMultiLock",
    "FencedLock",
    "HeldLock",
    "Hold",
    "Holder",
    "Job",
    "JobRun",
    "JobStats",
    "Leader",
    "Lock",
    "LockLostError",
    "Locks",
    "MultiLock",
    "NonReentrantFairLock",
    "NonReentrantLock",
    "NotAcquiredError",
    "NotHeldError",
    "NotSyncedError",
    "Observer",
    "Permit",
    "PermitExpirableSemaphore",
    "ReadLock",
    "ReadWriteLock",
    "RedLock",
    "RedlatchError",
    "RefusedError",
    "Seconds",
    "Semaphore",
    "SpinLock",
    "Stats",
    "Tls",
    "TokenLock",
    "UnavailableError",
    "UnsupportedError",
    "Wait",
    "WaitAof",
    "WriteLock",
    "connect",
    "current_hold",
    "from_redis",
    "red_lock",
]
