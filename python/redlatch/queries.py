"""The questions about locks, semaphores and latches: for each the operation of the core, and what its answer means.

Threads and tasks ask the same questions. `run_query` asks on the calling thread, `redlatch.aio.queries` in a task.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Callable, Final, Generic, TypeVar

from redlatch import calls
from redlatch.owners import this_thread

if TYPE_CHECKING:
    from redlatch import _redlatch
    from redlatch._redlatch import _Outcome

T = TypeVar("T")


class _Never(enum.Enum):
    NEVER = "never"


_NEVER: Final = _Never.NEVER


class Query(Generic[T]):
    """One question."""

    def __init__(self, op: int, read: Callable[[int, list[int]], T], not_now: T | _Never = _NEVER) -> None:
        """`read` makes the answer from the core's number and items; `not_now` is the answer where the core says so."""
        self.op = op
        self._read = read
        self._not_now = not_now

    def answer(self, outcome: _Outcome, name: str) -> T:
        """Returns the answer that an outcome about `name` contains. Raises its error if it is one."""
        told = calls.answer(outcome, name)
        if told is not None:
            return self._read(*told)
        assert not isinstance(self._not_now, _Never), f"operation {self.op} never waits"
        return self._not_now


def run_query(
    thing: _redlatch.Object,
    query: Query[T],
    numbers: Iterable[int] = (),
    *,
    wait: float | None = 0,
    lease: float | None = None,
) -> T:
    """Asks the server, blocks the calling thread until it answers, and returns the answer."""
    done: list[_Outcome] = []
    thing._run(query.op, this_thread.owner, (wait, lease), list(numbers), done)
    return query.answer(done[0], thing.name)


def _number(number: int, items: list[int]) -> int:
    return number


def _is_one(number: int, items: list[int]) -> bool:
    return number == 1


def _true(number: int, items: list[int]) -> bool:
    return True


def _nothing(number: int, items: list[int]) -> None:
    return None


def _seconds_left(ms: int, items: list[int]) -> float | None:
    if ms == -2:
        return None
    return math.inf if ms == -1 else ms / 1000


# Of locks.
FORCE_UNLOCK: Final = Query(calls.FORCE_RELEASE, _is_one)
IS_LOCKED: Final = Query(calls.INSPECT, lambda ms, items: ms != -2)
HOLD_COUNT: Final = Query(calls.INSPECT, lambda ms, items: items[0])
REMAIN_TIME_TO_LIVE: Final[Query[float | None]] = Query(calls.INSPECT, _seconds_left)
TOKEN: Final = Query(calls.INSPECT, lambda ms, items: items[1])

# Of semaphores and latches.
TRY_SET: Final = Query(calls.TRY_SET, _is_one)
SET: Final = Query(calls.SET, _nothing)
ADD: Final = Query(calls.ADD, _nothing)
COUNT: Final = Query(calls.INSPECT, _number)
DRAIN: Final = Query(calls.DRAIN, _number)
TAKE: Final = Query(calls.ACQUIRE, _true, False)
GIVE: Final = Query(calls.RELEASE, _nothing)
# Goes on after an outage that its call has met: its caller does not give the permits back again.
GIVE_BACK: Final = Query(calls.GIVE_BACK, _nothing)
GIVE_IF_EXISTS: Final = Query(calls.RELEASE_IF_EXISTS, _true, False)
COUNT_DOWN: Final = Query(calls.COUNT_DOWN, _nothing)
DELETE: Final = Query(calls.DELETE, _is_one)

# Of permits with ids.
OUT: Final = Query(calls.INSPECT, lambda available, items: items[1])
PERMITS: Final = Query(calls.INSPECT, lambda available, items: 0 if items[0] == -2 else available + items[1])
TRY_GIVE: Final = Query(calls.RELEASE, _true, False)
EXTEND: Final = Query(calls.EXTEND, _true, False)
LEASE: Final[Query[float | None]] = Query(calls.LEASE, _seconds_left, None)
