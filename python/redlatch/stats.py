"""The figures of a client."""

from __future__ import annotations

from typing import NamedTuple


class Stats(NamedTuple):
    """The figures that a client has counted since it was made, for metrics.

    The counters only grow. Each lock of a multi or red lock counts at its own client. Permits of a semaphore count as
    locks do; the waits for a latch and for the news of a leader do not count.
    """

    #: The holds that the client has now. Permits without a holder, those of a semaphore, are none.
    held: int
    #: The acquires that have no answer yet.
    waiting: int
    #: The acquires that got the lock.
    acquired: int
    #: The acquires that ended without the lock because others had it.
    not_acquired: int
    #: The acquires that ended with an error.
    failed: int
    #: The acquires that their callers gave up.
    cancelled: int
    #: The releases that gave something back, or with which the client goes on by itself.
    released: int
    #: The holds whose renewal had no answer in time; the watchdog tries again, so that most of them are not lost.
    renewals_failed: int
    #: The seconds that all acquires took until their answers.
    waited: float
    #: The seconds for which owners had locks, up to each release or loss. Nested holds count once.
    held_for: float
    #: The holds that were lost, by the word of `LockLostError.reason`; every reason is there.
    lost: dict[str, int]
