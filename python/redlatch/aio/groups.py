"""One lock of several locks, all of them or a majority, and one lock of several values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

import redlatch
from redlatch import _redlatch
from redlatch.aio.locks import Lock
from redlatch.durations import Seconds
from redlatch.groups import grouped, is_shared, owner_of, values_of
from redlatch.owners import Owner
from redlatch.typings import Self

if TYPE_CHECKING:
    from redlatch.templates import Rename


class MultiLock(Lock):
    """One lock of several, which may belong to clients of other servers; see `AsyncClient.get_multi_lock`.

    It is held while every one of them is held, and lost with the first one that is lost. A question goes to all of
    them: it is locked if all are locked, for the shortest time of any. `force_unlock` takes all of them away.
    """

    _majority: ClassVar[bool] = False
    _members: tuple[Lock, ...]

    def __new__(
        cls,
        client: redlatch.aio.AsyncClient,
        locks: Iterable[Lock],
        wait: Seconds | None,
        lease: Seconds | None,
        owner: Owner,
    ) -> Self:
        members = tuple(locks)
        native = grouped(cls._majority, members, Lock)
        group = super().__new__(cls, client, native.group_name, wait, lease, owner_of(members, owner), (), native)
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
    """One lock of several values of a group, which is its `name`; see `AsyncClient.get_multi_lock`."""

    _kind: ClassVar[str] = "multi"
    _values: list[str]

    def __new__(
        cls,
        client: redlatch.aio.AsyncClient,
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


class RedLock(MultiLock):
    """One lock of a majority of several, each on a server of its own; see `redlatch.aio.red_lock`.

    It is held while more than half of them are held. Every renewal tries to take the missing ones.
    """

    _majority: ClassVar[bool] = True
