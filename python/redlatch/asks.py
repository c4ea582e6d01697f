"""What can be asked about an object: the operation, and what its answer says. The same for every way of waiting."""

from __future__ import annotations

import enum
import math
from typing import TYPE_CHECKING, Callable, Final, Generic, TypeVar

from redlatch import calls

if TYPE_CHECKING:
    from redlatch._redlatch import _Outcome

T = TypeVar("T")


class _Never(enum.Enum):
    NEVER = "never"


_NEVER: Final = _Never.NEVER


class Ask(Generic[T]):
    """One question."""

    def __init__(self, op: int, read: Callable[[int, list[int]], T], not_now: T | _Never = _NEVER) -> None:
        """`read` makes the answer of the core's number and items; `not_now` is the answer where the core says so."""
        self.op = op
        self._read = read
        self._not_now = not_now

    def answer(self, outcome: _Outcome, name: str) -> T:
        """What the outcome about `name` says. Raises the error that it is."""
        told = calls.answer(outcome, name)
        if told is not None:
            return self._read(*told)
        assert not isinstance(self._not_now, _Never), f"operation {self.op} never waits"
        return self._not_now


def _number(number: int, items: list[int]) -> int:
    return number


def _one(number: int, items: list[int]) -> bool:
    return number == 1


def _done(number: int, items: list[int]) -> bool:
    return True


def _nothing(number: int, items: list[int]) -> None:
    return None


def _lasts(ms: int, items: list[int]) -> float | None:
    if ms == -2:
        return None
    return math.inf if ms == -1 else ms / 1000


# Of locks.
UNLOCK: Final = Ask(calls.RELEASE, _nothing)
FORCE_UNLOCK: Final = Ask(calls.FORCE_RELEASE, _one)
IS_LOCKED: Final = Ask(calls.INSPECT, lambda ms, items: ms != -2)
HOLD_COUNT: Final = Ask(calls.INSPECT, lambda ms, items: items[0])
REMAIN_TIME_TO_LIVE: Final[Ask[float | None]] = Ask(calls.INSPECT, _lasts)
TOKEN: Final = Ask(calls.INSPECT, lambda ms, items: items[1])

# Of semaphores and latches.
TRY_SET: Final = Ask(calls.TRY_SET, _one)
SET: Final = Ask(calls.SET, _nothing)
ADD: Final = Ask(calls.ADD, _nothing)
COUNT: Final = Ask(calls.INSPECT, _number)
IS_SET: Final = Ask(calls.INSPECT, lambda count, items: items[0] != -2)
DRAIN: Final = Ask(calls.DRAIN, _number)
TAKE: Final = Ask(calls.ACQUIRE, _done, False)
GIVE: Final = Ask(calls.RELEASE, _nothing)
GIVE_IF_EXISTS: Final = Ask(calls.RELEASE_IF_EXISTS, _done, False)
COUNT_DOWN: Final = Ask(calls.COUNT_DOWN, _nothing)
DELETE: Final = Ask(calls.DELETE, _one)

# Of permits with ids.
OUT: Final = Ask(calls.INSPECT, lambda available, items: items[1])
PERMITS: Final = Ask(calls.INSPECT, lambda available, items: 0 if items[0] == -2 else available + items[1])
TRY_GIVE: Final = Ask(calls.RELEASE, _done, False)
EXTEND: Final = Ask(calls.EXTEND, _done, False)
LEASE: Final[Ask[float | None]] = Ask(calls.LEASE, _lasts, None)
