"""Which thread or task asks for a lock, and the numbers of owners: none is used twice in this process."""

from __future__ import annotations

import enum
import itertools
import reprlib
import sys
import threading
import warnings
import weakref
from typing import TYPE_CHECKING, ClassVar, Final, Union

from redlatch import _redlatch
from redlatch.errors import ArgumentTypeError, ConfigError

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from types import FrameType

    from redlatch.misses import Misses
    from redlatch.self_waits import _OneCall

# Numbers below are free for callers; the core says the same.
OWN_OWNERS: Final = 2**40
#: Owners come in ranges of so many numbers, each for one thread or task: so a number tells which of them took a hold.
RANGE: Final = 2**20

_ranges = itertools.count(OWN_OWNERS, RANGE)


class Each(enum.Enum):
    """The type of `EACH`."""

    EACH = "EACH"

    def __repr__(self) -> str:
        return self.value


#: As `owner=`: every acquire is an owner of its own, and excludes every other one, in the same thread and task too.
EACH: Final = Each.EACH

#: An owner as callers give it: a number, `EACH`, or None for the thread or task.
Owner = Union[int, Each, None]


def next_owner() -> int:
    """An owner that nobody else is."""
    return next(_ranges)


class Caller:
    """A thread or a task, as one that asks for locks. It lives as long as that does."""

    kind: ClassVar[str] = "thread"
    #: What its coroutines missed, see `misses`.
    misses: Misses | None = None

    def __init__(self) -> None:
        #: What it is as an owner itself.
        self.owner = next(_ranges)
        self._next = self.owner + 1
        self._begins = {self.owner}
        #: The decorated calls that it is in.
        self.calls: list[weakref.ref[_OneCall]] = []
        _redlatch.owner_begins(self.owner)

    def __del__(self) -> None:
        _redlatch.owner_ends(self.owner)

    def another(self) -> int:
        """An owner for one acquire of this caller."""
        if self._next % RANGE == 0:
            self._next = next(_ranges)
            self._begins.add(self._next)
        owner = self._next
        self._next += 1
        return owner

    def took(self, owner: int) -> bool:
        """Whether a hold of that owner is one that this caller took."""
        return owner - owner % RANGE in self._begins

    def waits_at(self) -> FrameType | None:
        """The place in the program at which it waits; asked in that wait."""
        return outside(sys._getframe())


class ThisThread(threading.local):
    """What one thread is to redlatch. Idents of the OS are given again, so it counts for itself.

    A forked child goes on with its copy: its client has another id, so the same number is another owner.
    """

    def __init__(self) -> None:
        self.caller = Caller()
        self.owner = self.caller.owner


this_thread = ThisThread()


def caller_in(event_loop: AbstractEventLoop) -> Caller:
    """The task that runs now in the loop of this thread; a callback that is in no task is the thread."""
    from redlatch import tasks  # needs asyncio, which is imported where a loop runs

    return tasks.current(event_loop) or this_thread.caller


def caller() -> Caller:
    """Which thread asks, or in a running event loop which task."""
    events = sys.modules.get("asyncio.events")
    event_loop = events._get_running_loop() if events is not None else None
    return this_thread.caller if event_loop is None else caller_in(event_loop)


def is_gone(taker: int) -> bool:
    """Whether the thread or task that is this owner has ended."""
    if not _redlatch.owner_lives(taker):
        return True
    # A task that is done lives on as an object where a program keeps it.
    tasks = sys.modules.get("redlatch.tasks")
    return tasks is not None and tasks.is_done(taker)


def checked(owner: Owner) -> Owner:
    """An owner that a caller gave, or None for the thread's or task's own."""
    if owner is None or owner is EACH:
        return owner
    is_int = isinstance(owner, int) and not isinstance(owner, bool)
    if not is_int or not 0 <= owner < OWN_OWNERS:
        wrong = ConfigError if is_int else ArgumentTypeError
        raise wrong(
            f"owner is {reprlib.repr(owner)}, it must be an int from 0 to 2**40 - 1, or redlatch.EACH; "
            "leave it out for one per thread"
        )
    return owner


def outside(frame: FrameType | None) -> FrameType | None:
    """The first frame, from this one outwards, that is no code of redlatch."""
    while frame is not None and is_ours(frame):
        frame = frame.f_back
    return frame


def is_ours(frame: FrameType) -> bool:
    """Whether that is code of redlatch."""
    module = str(frame.f_globals.get("__name__"))
    return module == "redlatch" or module.startswith("redlatch.")


def warn_of_gone(name: str, owner: str) -> None:
    """Tells of a hold that no thread, task or object can release any more; the native half calls this."""
    warnings.warn(
        f"`{name}` is held by {owner}, and its thread or task and every object that could release it are gone; it is "
        "not renewed any more and ends with its lease; release each hold, best by a `with` block",
        ResourceWarning,
        stacklevel=2,
    )
