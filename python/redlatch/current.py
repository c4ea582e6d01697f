"""The hold of the decorated function that runs now, for threads."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

from redlatch.errors import NotHeldError
from redlatch.hold import Hold

if TYPE_CHECKING:
    from redlatch.held import Held

H = TypeVar("H", bound="Held")

_holds: ContextVar[Hold] = ContextVar("redlatch_hold")


def current_hold() -> Hold:
    """Returns the hold of the decorated function that runs now, the innermost one: `current_hold().ensure()`.

    Raises NotHeldError where none runs. A thread that the function starts has none.
    """
    return hold_of(_holds, "thread")


def running(hold: Hold) -> contextlib.AbstractContextManager[None]:
    """A block in which `hold` is the current hold."""
    return has_hold(_holds, hold)


def hold_of(holds: ContextVar[H], caller: str) -> H:
    """The current hold. Raises NotHeldError, which calls this thread or task `caller`, if there is none."""
    hold = holds.get(None)
    if hold is None:
        raise NotHeldError(f"no function that a lock decorates runs in this {caller}; ask for its hold inside it")
    return hold


@contextlib.contextmanager
def has_hold(holds: ContextVar[H], hold: H) -> Iterator[None]:
    """A block in which `hold` is the current hold of this context."""
    before = holds.set(hold)
    try:
        yield
    finally:
        # Python may close a coroutine in another context than its own, after the end of its loop.
        with contextlib.suppress(ValueError):
            holds.reset(before)
