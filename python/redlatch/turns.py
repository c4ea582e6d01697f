"""Threads in which the tasks of an event loop, or greenlets, take turns: all of them stand still while a call waits."""

from __future__ import annotations

import sys

from redlatch import greenlets
from redlatch.errors import UnsupportedError


def are_taken_here() -> bool:
    """Whether a wait in this thread would stop others that are to do what it waits for."""
    events = sys.modules.get("asyncio.events")
    # Another thread may be importing it just now.
    running = getattr(events, "_get_running_loop", None)
    return (running is not None and running() is not None) or greenlets.has_own_owner() is not None


def stand_still(name: str) -> UnsupportedError:
    """The error of a call that would have to wait in such a thread."""
    if greenlets.has_own_owner() is not None:
        return greenlets.stand_still(name)
    return UnsupportedError(
        f"`{name}`: a wait for it here would stop the event loop of this thread; await the same of redlatch.aio, or "
        "call it in another thread",
        name,
    )
