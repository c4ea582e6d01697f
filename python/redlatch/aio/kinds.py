"""The kinds of lock that differ from the reentrant lock in one detail, for tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import redlatch
from redlatch import queries
from redlatch.aio.locks import Lock
from redlatch.base_kinds import BaseKinds
from redlatch.durations import Seconds
from redlatch.kinds import delays
from redlatch.owners import Owner
from redlatch.typings import Self


class SpinLock(Lock):
    """The reentrant lock whose waiters try again after a pause; see `AsyncClient.get_spin_lock`."""

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
    """The reentrant lock that goes to the waiter that has waited longest; see `AsyncClient.get_fair_lock`."""

    _kind: ClassVar[str] = "fair"


class NonReentrantFairLock(Lock):
    """The fair lock that raises AlreadyHeldError when its owner acquires it twice."""

    _kind: ClassVar[str] = "non_reentrant_fair"


class TokenLock(Lock):
    """The lock that most libraries write, with a token in a plain key; see `AsyncClient.get_token_lock`."""

    _kind: ClassVar[str] = "token"


class FencedLock(Lock):
    """The reentrant lock that numbers its holds: `hold.token` is greater than the token of every earlier hold.

    The guarded resource compares the tokens that it receives, and refuses one that is smaller than an earlier one. So
    a holder that was paused and lost its lock does no harm.
    """

    _kind: ClassVar[str] = "fenced"

    async def get_token(self) -> int:
        """The token that was drawn last, for any owner; 0: none yet.

        A client draws tokens for its waiters in advance, so this one may belong to no hold.
        """
        return await self._query(queries.TOKEN)


class Kinds(BaseKinds[SpinLock, NonReentrantLock, FairLock, NonReentrantFairLock, TokenLock, FencedLock]):
    """What gives a client these kinds."""

    _spin_lock = SpinLock
    _non_reentrant_lock = NonReentrantLock
    _fair_lock = FairLock
    _non_reentrant_fair_lock = NonReentrantFairLock
    _token_lock = TokenLock
    _fenced_lock = FencedLock
