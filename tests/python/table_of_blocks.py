"""The table of the tests of blocks, for threads and for tasks: which hold the end of a block ends."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, Callable, NamedTuple

from kinds import LOCKS
from redlatch import EACH, LockLostError
from view import View

#: A lock object, and the names of the locks that it takes.
Made = tuple[Any, list[str]]


def _group(client: Any, name: str) -> Made:
    names = [f"{name}:a", f"{name}:b"]
    return client.get_multi_lock(*map(client.lock, names)), names


def _each(get: str) -> Callable[[Any, str], Made]:
    """A lock of this getter. Each acquire is an owner of its own."""
    return lambda client, name: (getattr(client, get)(name, owner=EACH), [name])


#: The kinds that one owner holds at a time. Each acquire is an owner of its own.
EXCLUSIVE: dict[str, Callable[[Any, str], Made]] = {
    "plain": lambda client, name: (client.lock(name), [name]),
    **{get: _each(get) for get in LOCKS if get != "get_lock"},
    "write": lambda client, name: (client.get_read_write_lock(name, owner=EACH).write_lock, [name]),
    "multi": _group,
}

#: The kinds that one thread or task can acquire several times.
SHARED: dict[str, Callable[[Any, str], Made]] = {
    "read": lambda client, name: (client.get_read_write_lock(name, owner=EACH).read_lock, [name]),
    "reentrant": lambda client, name: (client.get_lock(name), [name]),
    "reentrant read": lambda client, name: (client.get_read_write_lock(name).read_lock, [name]),
}

KINDS = {**EXCLUSIVE, **SHARED}


def rows(ways: Iterable[str]) -> list[tuple[str, str, bool]]:
    """Each kind with each way to begin a block, which ends here or elsewhere.

    Some kinds differ only on the server. They get one row.
    """
    all_rows = itertools.product(KINDS, ways, (False, True))
    # A thread or task cannot end the function of another one.
    can_be = [row for row in all_rows if (row[1], row[2]) != ("function", True)]
    return [row for row in can_be if row[0] in ("plain", "multi", *SHARED) or row[1:] == ("generator", True)]


class Case(NamedTuple):
    """One case of a block, with another block of the same lock object that is open at its end."""

    #: The hold of the block is lost before its end.
    lost: bool
    #: How the other block begins: by the `with` statement of a generator, or in an ExitStack. None: there is no other.
    other: str | None
    #: The thread or task that ends the block begins the other one; else the one that began the block.
    there: bool
    #: The other block begins before the block.
    before: bool

    @property
    def other_is_lost(self) -> bool:
        """Whether the other hold is lost. An exclusive lock has one hold at a time: the earlier of two is lost."""
        return self.other is not None and self.before


def cases(kind: str, way: str) -> Iterator[Case]:
    """The cases that can occur for a kind of lock and a way to begin, and for which there is a promise."""
    for lost in (False, True):
        yield Case(lost, None, there=False, before=False)
        for other in ("generator", "stack"):
            if (way, other) == ("stack", "stack"):
                continue  # no promise says which of two stacks ends
            for there in (False, True):
                for before in (False, True):
                    if kind in EXCLUSIVE and lost == before:
                        continue  # the later one of the two holds is always held
                    if kind.startswith("reentrant") and there:
                        continue  # another thread or task is another owner of such a lock
                    if kind in SHARED and lost and before:
                        continue  # both holds would be lost, and an end of either does no harm
                    yield Case(lost, other, there, before)


class BaseRow:
    """One row of the table: a lock object, the client that it came from, and a lock object of another client."""

    def __init__(self, client: Any, view: View, lock: Any, names: list[str], theirs: Any) -> None:
        self._client = client
        self._view = view
        self._lock = lock
        self._names = names
        self._theirs = theirs

    def check_told(self, case: Case, told: type[BaseException] | None, lost: bool) -> None:
        """Fails unless the end of a block has told of a loss exactly if its hold was lost."""
        assert told is (LockLostError if lost else None), case

    def check_held(self, case: Case, *holds: Any) -> None:
        """Fails unless these holds of the lock are held, and no other one."""
        for hold in holds:
            hold.ensure()
        found = [_held(self._view, name, self._client.id) for name in self._names]
        assert found == [_owners(*holds)] * len(found), case


def _held(view: View, name: str, client: str) -> dict[str, int]:
    """How often each owner of a client holds the lock on the server."""
    if view("TYPE", name) == "string":
        return {str(view("GET", name)).removeprefix(f"{client}:"): 1}
    flat = view("HGETALL", name)
    assert isinstance(flat, list)
    fields = dict(zip(map(str, flat[::2]), flat[1::2]))
    fields.pop("mode", None)
    return {field.removeprefix(f"{client}:").removesuffix(":write"): int(str(count)) for field, count in fields.items()}


def _owners(*holds: Any) -> dict[str, int]:
    """How often each owner holds the lock if these holds are held."""
    counts: dict[str, int] = {}
    for hold in holds:
        counts[str(hold.owner)] = counts.get(str(hold.owner), 0) + 1
    return counts
