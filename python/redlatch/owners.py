"""Who asks for a lock: a number for each thread, never used twice in this process."""

from __future__ import annotations

import itertools
import reprlib
import threading
from typing import TYPE_CHECKING, Final

from redlatch.errors import ConfigError

if TYPE_CHECKING:
    from redlatch.hold import Hold
    from redlatch.locks import Lock

# Numbers below are free for callers; the core says the same.
OWN_OWNERS: Final = 2**40

_numbers = itertools.count(OWN_OWNERS)


def next_owner() -> int:
    """An owner that nobody else is."""
    return next(_numbers)


class ThisThread(threading.local):
    """What one thread is to redlatch. Idents of the OS are given again, so it counts for itself.

    A forked child goes on with its copy: its client has another id, so the same number is another owner.
    """

    def __init__(self) -> None:
        self.owner = next_owner()
        #: The `with lock` blocks that this thread is in.
        self.entered: list[tuple[Lock, Hold]] = []


this_thread = ThisThread()


def checked(owner: int | None) -> int | None:
    """An owner that a caller gave, or None for the thread's own."""
    if owner is None:
        return None
    if isinstance(owner, bool) or not isinstance(owner, int) or not 0 <= owner < OWN_OWNERS:
        raise ConfigError(
            f"owner is {reprlib.repr(owner)}, it must be an int from 0 to 2**40 - 1; leave it out for one per thread"
        )
    return owner
