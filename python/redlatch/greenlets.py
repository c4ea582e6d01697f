"""gevent: many greenlets share one thread. If one of them waits for a lock in that thread, all of them stop."""

from __future__ import annotations

import sys

from redlatch.errors import UnsupportedError
from redlatch.owners import ThisThread


def has_own_owner() -> bool | None:
    """Whether each greenlet of this thread is an owner of its own; None: greenlets do not share this thread."""
    hubs = sys.modules.get("gevent._hub_local")
    if hubs is None or hubs.get_hub_if_exists() is None or _is_pooled():
        return None
    local = sys.modules.get("gevent.local")
    # True if gevent patched `threading` before redlatch imported it.
    return local is not None and issubclass(ThisThread, local.local)


def are_threads() -> bool:
    """Whether gevent starts a greenlet where a program starts a thread."""
    monkey = sys.modules.get("gevent.monkey")
    return monkey is not None and bool(monkey.is_module_patched("threading"))


def share_thread(name: str) -> UnsupportedError:
    """The error of an acquire for which all greenlets of the thread would be one owner."""
    return UnsupportedError(
        f"`{name}`: all greenlets of this thread would be one owner; use client.lock(…), or call "
        "gevent.monkey.patch_all() before redlatch is imported",
        name,
    )


def would_block(name: str) -> UnsupportedError:
    """The error of a call that would have to wait in a thread that greenlets share."""
    return UnsupportedError(
        f"`{name}`: a wait for it here would stop all greenlets of this thread; have a gevent.threadpool.ThreadPool "
        "make the call: pool.apply(client.lock(…).lock), say, gives the hold",
        name,
    )


def _is_pooled() -> bool:
    """Whether this thread belongs to a thread pool of gevent. Calls may wait there."""
    pools = sys.modules.get("gevent.threadpool")
    return pools is not None and isinstance(sys.modules["greenlet"].getcurrent(), pools._WorkerGreenlet)
