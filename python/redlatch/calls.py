"""The operations of the native module, and how its outcome becomes an answer or an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from redlatch import _redlatch
from redlatch.errors import error

if TYPE_CHECKING:
    from redlatch._redlatch import _Outcome

# The operations. The numbers are those of the core.
ACQUIRE: Final = 1
RELEASE: Final = 2
FORCE_RELEASE: Final = 3
INSPECT: Final = 4
PING: Final = 5
WATCH: Final = 6
EXTEND: Final = 9
TRY_SET: Final = 10
ADD: Final = 11
DRAIN: Final = 12
COUNT_DOWN: Final = 13
RELEASE_IF_EXISTS: Final = 14
DELETE: Final = 15
SET: Final = 17
LEASE: Final = 18
GIVE_BACK: Final = 20

# The status of an outcome, one of the numbers of `errors.BY_STATUS`.
CLOSED: Final = 18


def client(connected: _redlatch.Client | _Outcome) -> _redlatch.Client:
    """Returns the client. Raises the error if connecting gave one instead."""
    if isinstance(connected, _redlatch.Client):
        return connected
    status, _, _, failure = connected
    raise error(status, *(failure or ("", None)), None)


def succeeded(done: list[_Outcome]) -> tuple[int, list[int]] | None:
    """Returns `(number, items)` if the list has the outcome of a call that was done, else None. It never raises."""
    if not done:
        return None
    status, number, items, _ = done[0]
    return (number, items) if status == 0 else None


def answer(outcome: _Outcome, name: str | None) -> tuple[int, list[int]] | None:
    """Returns `(number, items)` as the operation defines them; None: not now. Raises an error about lock `name`."""
    status, number, items, failure = outcome
    if failure is not None:
        raise error(status, *failure, name)
    return (number, items) if status == 0 else None
