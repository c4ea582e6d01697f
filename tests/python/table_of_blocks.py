"""Blocks of lock objects: what the tables of which block ends which hold are made of, for threads and for tasks."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, Callable, NamedTuple

from redlatch import EACH
from view import View

#: A lock object of each kind, from a client of threads or of tasks, and the names that it locks.
Made = tuple[Any, list[str]]


def _group(client: Any, name: str) -> Made:
    names = [f"{name}:a", f"{name}:b"]
    return client.get_multi_lock(*map(client.lock, names)), names


#: The kinds that one owner holds at a time, each acquire by an owner of its own.
EXCLUSIVE: dict[str, Callable[[Any, str], Made]] = {
    "plain": lambda client, name: (client.lock(name), [name]),
    "spin": lambda client, name: (client.get_spin_lock(name, owner=EACH), [name]),
    "non-reentrant": lambda client, name: (client.get_non_reentrant_lock(name, owner=EACH), [name]),
    "fair": lambda client, name: (client.get_fair_lock(name, owner=EACH), [name]),
    "non-reentrant fair": lambda client, name: (client.get_non_reentrant_fair_lock(name, owner=EACH), [name]),
    "fenced": lambda client, name: (client.get_fenced_lock(name, owner=EACH), [name]),
    "token": lambda client, name: (client.get_token_lock(name, owner=EACH), [name]),
    "write": lambda client, name: (client.get_read_write_lock(name, owner=EACH).write_lock, [name]),
    "multi": _group,
}

#: The kinds of which many acquires of one thread or task are held at once.
SHARED: dict[str, Callable[[Any, str], Made]] = {
    "read": lambda client, name: (client.get_read_write_lock(name, owner=EACH).read_lock, [name]),
    "reentrant": lambda client, name: (client.get_lock(name), [name]),
    "reentrant read": lambda client, name: (client.get_read_write_lock(name).read_lock, [name]),
}

KINDS = {**EXCLUSIVE, **SHARED}


def rows(ways: Iterable[str]) -> list[tuple[str, str, bool]]:
    """Each kind with each way to begin a block and each place of its end; kinds that only the server tells have one."""
    all_rows = itertools.product(KINDS, ways, (False, True))
    # No thread or task ends the function of another one.
    can_be = [row for row in all_rows if (row[1], row[2]) != ("function", True)]
    return [row for row in can_be if row[0] in ("plain", "multi", *SHARED) or row[1:] == ("generator", True)]


class Case(NamedTuple):
    """What becomes of a block, and which other block of the same object is open when it ends."""

    #: The hold of the block is lost before its end.
    lost: bool
    #: None, or how the other one begins: by a `with` statement of a generator, or in an ExitStack.
    other: str | None
    #: The other begins where the block ends, not where it began.
    there: bool
    #: The other begins before the block.
    before: bool

    @property
    def other_is_lost(self) -> bool:
        """An exclusive lock has one hold at a time: the earlier of two is lost."""
        return self.other is not None and self.before


def cases(kind: str, way: str) -> Iterator[Case]:
    """What can be for that kind of lock, and is promised for blocks that begin that way."""
    for lost in (False, True):
        yield Case(lost, None, there=False, before=False)
        for other in ("generator", "stack"):
            if (way, other) == ("stack", "stack"):
                continue  # only the order of the rules decides between them
            for there in (False, True):
                for before in (False, True):
                    if kind in EXCLUSIVE and lost == before:
                        continue  # the later one of two is held
                    if kind.startswith("reentrant") and there:
                        continue  # the other's owner is another one, and so is the key's holder
                    if kind in SHARED and lost and before:
                        continue  # both would be lost: no end can do harm
                    yield Case(lost, other, there, before)


def held(view: View, names: list[str], client: str) -> dict[str, int]:
    """How often each owner of that client holds the lock, as the server has it; of several locks, all the same."""
    found = [_held(view, name, client) for name in names]
    assert all(each == found[0] for each in found), found
    return found[0]


def _held(view: View, name: str, client: str) -> dict[str, int]:
    if view("TYPE", name) == "string":
        return {str(view("GET", name)).removeprefix(f"{client}:"): 1}
    flat = view("HGETALL", name)
    assert isinstance(flat, list)
    fields = dict(zip(map(str, flat[::2]), flat[1::2]))
    fields.pop("mode", None)
    return {field.removeprefix(f"{client}:").removesuffix(":write"): int(str(count)) for field, count in fields.items()}


def owners(*holds: Any) -> dict[str, int]:
    """What `held` is to say where these are held and nothing else."""
    told: dict[str, int] = {}
    for hold in holds:
        told[str(hold.owner)] = told.get(str(hold.owner), 0) + 1
    return told
