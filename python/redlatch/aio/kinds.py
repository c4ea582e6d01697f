"""The kinds of lock that are the reentrant one but for a detail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import redlatch
from redlatch import asks
from redlatch.aio.locks import Lock
from redlatch.durations import Seconds
from redlatch.kinds import delays
from redlatch.owners import Owner
from redlatch.typings import Self


class SpinLock(Lock):
    """The reentrant lock whose waiters ask now and then; see `AsyncClient.get_spin_lock`."""

    _kind: ClassVar[str] = "spin"

    def __new__(
        cls,
        client: redlatch.aio.AsyncClient,
        name: str,
        wait: Seconds | None,
        lease: Seconds | None,
        owner: Owner,
        backoff: Sequence[Seconds],
    ) -> Self:
        return super().__new__(cls, client, name, wait, lease, owner, delays(backoff))


class NonReentrantLock(Lock):
    """The lock that raises AlreadyHeldError when its owner acquires it twice.

    See `AsyncClient.get_non_reentrant_lock`.
    """

    _kind: ClassVar[str] = "non_reentrant"


class FairLock(Lock):
    """The reentrant lock that whoever has waited longest gets next; see `AsyncClient.get_fair_lock`."""

    _kind: ClassVar[str] = "fair"


class NonReentrantFairLock(Lock):
    """The fair lock that raises AlreadyHeldError when its owner acquires it twice."""

    _kind: ClassVar[str] = "non_reentrant_fair"


class TokenLock(Lock):
    """The lock that most libraries write, with a token in a plain key; see `AsyncClient.get_token_lock`."""

    _kind: ClassVar[str] = "token"


class FencedLock(Lock):
    """The reentrant lock that numbers its holds: `hold.token` is greater than that of every hold before.

    What the lock guards compares the tokens that come to it, and refuses one that is smaller than it has seen: so a
    holder that was paused and lost its lock does no harm.
    """

    _kind: ClassVar[str] = "fenced"

    async def get_token(self) -> int:
        """The token that was given out last, to whoever; 0: none yet."""
        return await self._asked(asks.TOKEN)
