"""gevent: greenlets take turns in one thread, and all of them stand still while one waits for a lock in it."""

from __future__ import annotations

import sys

from redlatch.errors import UnsupportedError
from redlatch.owners import ThisThread


def has_own_owner() -> bool | None:
    """Whether each greenlet of this thread is an owner of its own; None: no greenlets take turns here."""
    hubs = sys.modules.get("gevent._hub_local")
    if hubs is None or hubs.get_hub_if_exists() is None or _is_pooled():
        return None
    local = sys.modules.get("gevent.local")
    # Where gevent patched `threading` before it was imported here.
    return local is not None and issubclass(ThisThread, local.local)


def are_threads() -> bool:
    """Whether gevent has greenlets take the place of new threads."""
    monkey = sys.modules.get("gevent.monkey")
    return monkey is not None and bool(monkey.is_module_patched("threading"))


def share_thread(name: str) -> UnsupportedError:
    """The error of an acquire whose owner would be all greenlets of its thread."""
    return UnsupportedError(
        f"`{name}`: all greenlets of this thread would be one owner; use client.lock(…), or call "
        "gevent.monkey.patch_all() before redlatch is imported",
        name,
    )


def stand_still(name: str) -> UnsupportedError:
    """The error of a call that would have to wait in a thread where greenlets take turns."""
    return UnsupportedError(
        f"`{name}`: a wait for it here would stop all greenlets of this thread; have a gevent.threadpool.ThreadPool "
        "make the call: pool.apply(client.lock(…).lock), say, gives the hold",
        name,
    )


def _is_pooled() -> bool:
    """Whether this is a thread of a pool of gevent, where calls may wait."""
    pools = sys.modules.get("gevent.threadpool")
    return pools is not None and isinstance(sys.modules["greenlet"].getcurrent(), pools._WorkerGreenlet)
