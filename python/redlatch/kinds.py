"""The kinds of lock that are the reentrant one but for a detail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import redlatch
from redlatch import asks
from redlatch.durations import Seconds, seconds
from redlatch.locks import Lock
from redlatch.owners import Owner
from redlatch.texts import each
from redlatch.typings import Self


class SpinLock(Lock):
    """The reentrant lock whose waiters ask now and then; see `Client.get_spin_lock`."""

    _kind: ClassVar[str] = "spin"

    def __new__(
        cls,
        client: redlatch.Client,
        name: str,
        wait: Seconds | None,
        lease: Seconds | None,
        owner: Owner,
        backoff: Sequence[Seconds],
    ) -> Self:
        return super().__new__(cls, client, name, wait, lease, owner, delays(backoff))


def delays(backoff: Sequence[Seconds]) -> list[int]:
    """The ms between two tries."""
    given = [seconds("backoff", delay, "leave it out for 1 to 128 ms") for delay in each("backoff", backoff)]
    return [max(1, round(delay * 1000)) for delay in given]


class NonReentrantLock(Lock):
    """The lock that raises AlreadyHeldError when its owner acquires it twice; see `Client.get_non_reentrant_lock`."""

    _kind: ClassVar[str] = "non_reentrant"


class FairLock(Lock):
    """The reentrant lock that whoever has waited longest gets next; see `Client.get_fair_lock`."""

    _kind: ClassVar[str] = "fair"


class NonReentrantFairLock(Lock):
    """The fair lock that raises AlreadyHeldError when its owner acquires it twice."""

    _kind: ClassVar[str] = "non_reentrant_fair"


class TokenLock(Lock):
    """The lock that most libraries write, with a token in a plain key; see `Client.get_token_lock`."""

    _kind: ClassVar[str] = "token"


class FencedLock(Lock):
    """The reentrant lock that numbers its holds: `hold.token` is greater than that of every hold before.

    What the lock guards compares the tokens that come to it, and refuses one that is smaller than it has seen: so a
    holder that was paused and lost its lock does no harm.
    """

    _kind: ClassVar[str] = "fenced"

    def get_token(self) -> int:
        """The token that was given out last, to whoever; 0: none yet."""
        return self._asked(asks.TOKEN)
