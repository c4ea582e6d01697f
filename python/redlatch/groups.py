"""One lock of several locks, all of them or a majority, and one lock of several values."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import redlatch
from redlatch import _redlatch, calls
from redlatch.checks import checked_text
from redlatch.durations import Seconds
from redlatch.errors import ArgumentTypeError, ConfigError
from redlatch.locks import Lock
from redlatch.owners import EACH, Owner
from redlatch.typings import Self

if TYPE_CHECKING:
    from redlatch.templates import Rename


class MultiLock(Lock):
    """One lock of several, which may belong to clients of other servers; see `Client.get_multi_lock`.

    It is held while every one of them is held, and lost with the first one that is lost. A question goes to all of
    them: it is locked if all are locked, for the shortest time of any. `force_unlock` takes all of them away.
    """

    _majority: ClassVar[bool] = False
    _members: tuple[Lock, ...]

    def __new__(
        cls, client: redlatch.Client, locks: Iterable[Lock], wait: Seconds | None, lease: Seconds | None, owner: Owner
    ) -> Self:
        members = tuple(locks)
        native = grouped(cls._majority, members, Lock)
        shared = is_shared(members, cls._majority)
        group = super().__new__(
            cls, client, native.group_name, wait, lease, owner_of(members, owner), (), native, shared
        )
        group._members = members
        return group

    def _is_shared(self) -> bool:
        return is_shared(self._members, self._majority)

    def _keys(self) -> list[object]:
        return [key for member in self._members for key in member._keys()]

    def _names(self) -> tuple[str, ...]:
        return tuple(name for member in self._members for name in member._names())

    def _renamed(self, rename: Rename, wait: float | None) -> Self:
        members = [member._renamed(rename, member._wait) for member in self._members]
        return MultiLock.__new__(type(self), self._client, members, wait, self._lease, self._owner)


class FasterMultiLock(Lock):
    """One lock of several values of a group, which is its `name`; see `Client.get_multi_lock`."""

    _kind: ClassVar[str] = "multi"
    _values: list[str]

    def __new__(
        cls,
        client: redlatch.Client,
        group: str,
        values: Iterable[str],
        wait: Seconds | None,
        lease: Seconds | None,
        owner: Owner,
    ) -> Self:
        checked_values = values_of(group, values)
        lock = super().__new__(cls, client, _redlatch.multi_name(group, checked_values), wait, lease, owner)
        lock._values = checked_values
        return lock

    def _keys(self) -> list[object]:
        return [(self._client._native, self.name, value) for value in self._values]

    def _renamed(self, rename: Rename, wait: float | None) -> Self:
        return FasterMultiLock.__new__(
            type(self), self._client, rename(self.name), self._values, wait, self._lease, self._owner
        )


def one_group(groups: Sequence[Any], values: Iterable[str]) -> Any:
    """Returns the only group of a list. Raises ConfigError if the list has none or several."""
    if len(groups) != 1:
        raise ConfigError(f"values={values!r} belong to one group, and {len(groups)} are given; give its name")
    return groups[0]


def values_of(group: str, values: Iterable[str]) -> list[str]:
    """Returns the values of a group as a list of texts. Raises ConfigError for other values."""
    group = checked_text("the group of a multi lock", group)
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ArgumentTypeError(f"the values of `{group}` are {values!r}; give a list of texts", group)
    return [checked_text(f"a value of `{group}`", value) for value in values]


def grouped(majority: bool, members: Sequence[Any], of: type) -> _redlatch.Client:
    """Makes the client of the core whose one lock is all of these locks, or a majority of them."""
    for lock in members:
        if not isinstance(lock, of):
            raise ArgumentTypeError(
                f"a lock of several locks has {reprlib.repr(lock)} among them; "
                "give it what `lock` or `get_lock` returns, each an argument of its own"
            )
    return calls.client(_redlatch.group(majority, list(members)))


def owner_of(members: Sequence[Any], owner: Owner) -> Owner:
    """The owner of a lock of several locks. Without `owner` it is each acquire, if that is so in all of the locks."""
    is_each = owner is None and len(members) > 0 and all(member._owner is EACH for member in members)
    return EACH if is_each else owner


def is_shared(members: Sequence[Any], majority: bool) -> bool:
    """Whether several owners can hold the lock of these locks, all or a majority of them, at the same time."""
    shared = [member._is_shared() for member in members]
    return any(shared) if majority else all(shared)


class RedLock(MultiLock):
    """One lock of a majority of several, each on a server of its own; see `redlatch.red_lock`.

    It is held while more than half of them are held. Every renewal tries to take the missing ones.
    """

    _majority: ClassVar[bool] = True
