"""Makes the lock for tasks that is the same as a lock for threads, which decorates a coroutine function."""

from __future__ import annotations

import redlatch
from redlatch import aio


def twin(lock: redlatch.Lock) -> aio.Lock:
    """The same lock of the same client and server, with the same times. Its owner is the task."""
    client = aio.AsyncClient(lock.client._native)
    times = (lock._wait, lock._lease, lock._owner)
    if isinstance(lock, redlatch.FasterMultiLock):
        return aio.FasterMultiLock(client, lock.name, lock._values, *times)
    same: aio.Lock
    kind = getattr(aio, next(base.__name__ for base in type(lock).__mro__ if hasattr(aio, base.__name__)))
    if isinstance(lock, redlatch.MultiLock):
        same = aio.MultiLock.__new__(kind, client, [twin(member) for member in lock._members], *times)
    else:
        same = aio.Lock.__new__(kind, client, lock.name, *times, lock._numbers)
    return same
