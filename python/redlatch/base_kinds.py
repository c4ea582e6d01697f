"""The getters of the kinds in `kinds`, which both clients have. Each client brings its own classes.

In this file the name of such a class, `FairLock` say, is a type variable that stands for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Callable, Generic, TypeVar

from redlatch.durations import Seconds
from redlatch.owners import Owner

SpinLock = TypeVar("SpinLock")
NonReentrantLock = TypeVar("NonReentrantLock")
FairLock = TypeVar("FairLock")
NonReentrantFairLock = TypeVar("NonReentrantFairLock")
TokenLock = TypeVar("TokenLock")
FencedLock = TypeVar("FencedLock")


class BaseKinds(Generic[SpinLock, NonReentrantLock, FairLock, NonReentrantFairLock, TokenLock, FencedLock]):
    """The kinds of lock that differ from the reentrant lock in one detail."""

    #: The client's own classes.
    _spin_lock: Callable[..., SpinLock]
    _non_reentrant_lock: Callable[..., NonReentrantLock]
    _fair_lock: Callable[..., FairLock]
    _non_reentrant_fair_lock: Callable[..., NonReentrantFairLock]
    _token_lock: Callable[..., TokenLock]
    _fenced_lock: Callable[..., FencedLock]

    def get_spin_lock(
        self,
        name: str,
        *,
        wait: Seconds | None = None,
        lease: Seconds | None = None,
        owner: Owner = None,
        backoff: Sequence[Seconds] = (),
    ) -> SpinLock:
        """Returns the reentrant lock whose waiters try again after a pause, and do not listen for a release.

        `backoff` are the pauses, in order; the last one repeats. Left out, they grow from 1 to 128 ms. The other
        arguments are those of `get_lock`.
        """
        return self._spin_lock(self, name, wait, lease, owner, backoff)

    def get_non_reentrant_lock(
        self, name: str, *, wait: Seconds | None = None, lease: Seconds | None = None, owner: Owner = None
    ) -> NonReentrantLock:
        """Returns the lock that its owner may not acquire twice. The arguments are those of `get_lock`."""
        return self._non_reentrant_lock(self, name, wait, lease, owner)

    def get_fair_lock(
        self, name: str, *, wait: Seconds | None = None, lease: Seconds | None = None, owner: Owner = None
    ) -> FairLock:
        """Returns the reentrant lock that goes to the waiter that has waited longest, in any process.

        A waiter whose process died is passed over after 5 s. A try without waiting (`try_lock()`) takes the lock only
        if no waiter is in line. The arguments are those of `get_lock`.
        """
        return self._fair_lock(self, name, wait, lease, owner)

    def get_non_reentrant_fair_lock(
        self, name: str, *, wait: Seconds | None = None, lease: Seconds | None = None, owner: Owner = None
    ) -> NonReentrantFairLock:
        """Returns the fair lock that its owner may not acquire twice. The arguments are those of `get_lock`."""
        return self._non_reentrant_fair_lock(self, name, wait, lease, owner)

    def get_token_lock(
        self, name: str, *, wait: Seconds | None = None, lease: Seconds | None = None, owner: Owner = None
    ) -> TokenLock:
        """Returns the lock that redis-py, redsync, Spring and most others write: `SET key token NX PX lease`.

        It and theirs exclude each other, so a program can move over lock by lock. A waiter notices their releases
        within 250 ms. Its owner may not acquire it twice. The arguments are those of `get_lock`.
        """
        return self._token_lock(self, name, wait, lease, owner)

    def get_fenced_lock(
        self, name: str, *, wait: Seconds | None = None, lease: Seconds | None = None, owner: Owner = None
    ) -> FencedLock:
        """Returns the reentrant lock whose every hold has a `token`. The arguments are those of `get_lock`."""
        return self._fenced_lock(self, name, wait, lease, owner)
