"""The threads and tasks that call, and the numbers of owners. No number is used twice in this process."""

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

# Programs give numbers below this one as `owner=`. The core has the same limit.
OWN_OWNERS: Final = 2**40
#: Each thread or task gets its owners from a range of so many numbers. So the number of an owner tells which of them
#: took a hold.
RANGE: Final = 2**20

_ranges = itertools.count(OWN_OWNERS, RANGE)


class Each(enum.Enum):
    """The type of `EACH`."""

    EACH = "EACH"

    def __repr__(self) -> str:
        return self.value


#: As `owner=`: every acquire is an owner of its own. It excludes every other acquire, also in the same thread or task.
EACH: Final = Each.EACH

#: An owner as a caller gives it: a number, `EACH`, or None for the thread or task.
Owner = Union[int, Each, None]


def next_owner() -> int:
    """A new owner."""
    return next(_ranges)


class Caller:
    """A thread or task that calls. The object lives as long as the thread or task does."""

    kind: ClassVar[str] = "thread"
    #: The misses of a task, see `misses`.
    misses: Misses | None = None

    def __init__(self) -> None:
        #: The number of the thread or task itself as an owner.
        self.owner = next(_ranges)
        self._next = self.owner + 1
        self._begins = {self.owner}
        #: The decorated calls that it runs now.
        self.calls: list[weakref.ref[_OneCall]] = []
        _redlatch.owner_begins(self.owner)

    def __del__(self) -> None:
        _redlatch.owner_ends(self.owner)

    def another(self) -> int:
        """A new owner, for one acquire of this caller."""
        if self._next % RANGE == 0:
            self._next = next(_ranges)
            self._begins.add(self._next)
        owner = self._next
        self._next += 1
        return owner

    def took(self, owner: int) -> bool:
        """Whether this caller took the holds of that owner."""
        return owner - owner % RANGE in self._begins

    def waits_at(self) -> FrameType | None:
        """The place in the program at which it waits. The waiting thread itself calls this."""
        return outside(sys._getframe())


class ThisThread(threading.local):
    """One thread as a caller. The OS reuses its thread idents, so redlatch numbers threads itself.

    A forked child goes on with its copy. Its clients have other ids, so the same number is another owner there.
    """

    def __init__(self) -> None:
        self.caller = Caller()
        self.owner = self.caller.owner


this_thread = ThisThread()


def caller_in(event_loop: AbstractEventLoop) -> Caller:
    """The task that runs now in the loop of this thread. If a callback outside of any task runs: the thread."""
    from redlatch import tasks  # needs asyncio, which is imported already where a loop runs

    return tasks.current(event_loop) or this_thread.caller


def caller() -> Caller:
    """The thread that runs. In a running event loop: its task."""
    events = sys.modules.get("asyncio.events")
    event_loop = events._get_running_loop() if events is not None else None
    return this_thread.caller if event_loop is None else caller_in(event_loop)


def is_gone(taker: int) -> bool:
    """Whether the thread or task with this number has ended."""
    if not _redlatch.owner_lives(taker):
        return True
    # A program may keep the object of a task that is done.
    tasks = sys.modules.get("redlatch.tasks")
    return tasks is not None and tasks.is_done(taker)


def checked_owner(owner: Owner) -> Owner:
    """Returns an owner that a caller gave. Raises ConfigError if it cannot be one."""
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
    """The first frame outside of redlatch's code, from this one outwards."""
    while frame is not None and is_ours(frame):
        frame = frame.f_back
    return frame


def is_ours(frame: FrameType) -> bool:
    """Whether the frame runs code of redlatch."""
    module = str(frame.f_globals.get("__name__"))
    return module == "redlatch" or module.startswith("redlatch.")


def warn_of_gone(name: str, owner: str) -> None:
    """Warns of a hold that no thread, task or object can release any more. The native half calls this."""
    warnings.warn(
        f"`{name}` is held by {owner}, and its thread or task and every object that could release it are gone; it is "
        "not renewed any more and ends with its lease; release each hold, best by a `with` block",
        ResourceWarning,
        stacklevel=2,
    )
