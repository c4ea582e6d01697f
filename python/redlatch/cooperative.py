"""Threads that the tasks of an event loop, or greenlets, share. A call that waits in such a thread stops them all."""

from __future__ import annotations

import sys

from redlatch import greenlets
from redlatch.errors import UnsupportedError


def is_this_thread() -> bool:
    """Whether a wait in this thread would stop tasks or greenlets, perhaps those that it waits for."""
    events = sys.modules.get("asyncio.events")
    # Another thread may be importing the module at this moment.
    running = getattr(events, "_get_running_loop", None)
    return (running is not None and running() is not None) or greenlets.has_own_owner() is not None


def would_block(name: str) -> UnsupportedError:
    """The error of a call that would have to wait in such a thread."""
    if greenlets.has_own_owner() is not None:
        return greenlets.would_block(name)
    return UnsupportedError(
        f"`{name}`: a wait for it here would stop the event loop of this thread; await the same of redlatch.aio, or "
        "call it in another thread",
        name,
    )
