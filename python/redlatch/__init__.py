"""Distributed locks over Redis, with the semantics and the wire format of Redisson.

client = redlatch.connect("redis://localhost:6379")
with client.lock("orders:42", wait=5) as hold:
    ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

try:
    from redlatch._redlatch import __version__
except ImportError as _error:
    from redlatch.native_error import explain as _explain

    raise _explain(_error) from _error
from redlatch.client import Client
from redlatch.connecting import connect, from_redis, red_lock
from redlatch.current import current_hold
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
from redlatch.groups import FasterMultiLock, MultiLock, RedLock
from redlatch.hold import Hold
from redlatch.inventory import HeldLock, Holder, Locks
from redlatch.job import Job, JobRun, JobStats
from redlatch.kinds import FairLock, FencedLock, NonReentrantFairLock, NonReentrantLock, SpinLock, TokenLock
from redlatch.leader import CurrentLeader, Leader, Observer
from redlatch.locks import Lock
from redlatch.owners import EACH
from redlatch.permit import Permit
from redlatch.permit_semaphore import PermitExpirableSemaphore
from redlatch.permits import CountDownLatch, Semaphore
from redlatch.read_write import ReadLock, ReadWriteLock, WriteLock
from redlatch.stats import Stats
from redlatch.sync_policy import Wait, WaitAof
from redlatch.tls import Tls

__all__ = [
    "EACH",
    "UNSET",
    "AlreadyHeldError",
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
    "__version__",
    "connect",
    "current_hold",
    "from_redis",
    "red_lock",
]


if TYPE_CHECKING:
    from redlatch import aio as aio
else:

    def __getattr__(name: str) -> Any:
        """Imports `redlatch.aio` when a program first uses it: `asyncio` takes longer to import than all the rest."""
        if name == "aio":
            import importlib

            return importlib.import_module("redlatch.aio")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
