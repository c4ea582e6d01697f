"""The hold of the decorated coroutine function that runs now."""

from __future__ import annotations

from contextlib import AbstractContextManager
from contextvars import ContextVar

from redlatch.aio.hold import Hold
from redlatch.current import has_hold, hold_of

_holds: ContextVar[Hold] = ContextVar("redlatch_aio_hold")


def current_hold() -> Hold:
    """Returns the hold of the decorated function that runs now, the innermost one: `current_hold().ensure()`.

    Raises NotHeldError where none runs. A task that the function starts has the hold of its function.
    """
    return hold_of(_holds, "task")


def running(hold: Hold) -> AbstractContextManager[None]:
    """A block in which `hold` is the current hold."""
    return has_hold(_holds, hold)
