"""The locks that are held, one after the other, for threads."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

import redlatch
from redlatch import calls
from redlatch.checks import checked_text, shown
from redlatch.errors import ArgumentTypeError
from redlatch.typings import Self

if TYPE_CHECKING:
    from redlatch._redlatch import _Outcome

#: The text that asks for the first page.
BEGINNING: Final = b""


class Holder(NamedTuple):
    """A holder of a lock, or an owner that waits for it."""

    #: The uuid of its client; of a permit, the permit's id.
    client: str
    #: The number of the owner in that client: the owner that took the lock from the server, which may have handed it on
    #: to another one of its client since. Redisson's is a thread.
    owner: str
    #: The number of its holds; 0: unknown.
    holds: int
    #: Whether it writes.
    writes: bool
    #: The seconds until its own hold ends, where holders of one lock end apart; else None.
    remaining: float | None
    #: The machine of its client. None: the client has another `client_name`, has no connection to the server any more,
    #: or is Redisson; or the server does not list its connections.
    host: str | None
    #: The process of its client, known where the machine is.
    process: int | None
    #: Whether it may be a thread of Redisson, a guess: the server lists its connections, none of them is that of a
    #: client of this library with that uuid, and the owner has a number as threads have.
    may_be_redisson: bool


class HeldLock(NamedTuple):
    """A lock that is held, as the server knows it. Redis keeps no time of acquisition, so its age is unknown."""

    #: Its name, without the client's prefix. Of a lock of several values it is the group.
    name: str
    #: `plain`, `fair`, `fenced`, `leader`, `read`, `write`, `multi`, `permits` for permits that are out, `token`,
    #: `semaphore` or `latch`. A fair lock without waiters looks like a plain one, and so do a spin lock and a
    #: non-reentrant one.
    kind: str
    #: Whether the key has the shape of that kind. `token`, `semaphore` and `latch` are guesses: other programs keep
    #: texts and numbers too.
    is_certain: bool
    #: The writer, all readers, the owners of the values, or the permits that are out. At most a hundred of them, and
    #: twenty if a scan has found the lock.
    holders: tuple[Holder, ...]
    #: The number of all its holders.
    holder_count: int
    #: The seconds until the key ends, unless it is renewed. None: it does not end by itself.
    remaining: float | None
    #: The processes that wait, or the owners in the queue of a fair lock. None: the server does not tell.
    waiting: int | None
    #: The owners in the queue of a fair lock, the next one first. As many at most as of the holders.
    queue: tuple[Holder, ...]
    #: The latest fencing token of the lock; None: it has none.
    token: int | None


def named(lock: HeldLock) -> tuple[str, str, list[tuple[str, str, bool]]]:
    """What names a lock of a listing and its holders. Raises ConfigError if it is none."""
    if not isinstance(lock, HeldLock):
        raise ArgumentTypeError(
            f"the lock to evict is {shown('lock', lock)}, it must be a HeldLock that `locks` has given"
        )
    return lock.kind, lock.name, [(holder.client, holder.owner, holder.writes) for holder in lock.holders]


def was_evicted(outcome: _Outcome, lock: HeldLock) -> bool:
    """Whether the holder had the lock still, from the outcome of an eviction. Raises its error."""
    told = calls.answer(outcome, lock.name)
    return told is not None and told[0] == 1


class Listing:
    """A way through the pages of a list of locks."""

    _client: object
    _pattern: str
    #: Asks for the next page. None: there is none.
    _next: bytes | None
    _page: Iterator[HeldLock]
    #: The names that came: a lock may move while the server is read, and come twice.
    _seen: set[str]

    def __init__(self, client: object, pattern: str) -> None:
        self._client = client
        self._pattern = checked_text("the pattern of names", pattern)
        self._next = BEGINNING
        self._page = iter(())
        self._seen = set()

    def _unseen(self) -> HeldLock | None:
        """The next lock of this page. None: the page is over."""
        for lock in self._page:
            if lock.name not in self._seen:
                self._seen.add(lock.name)
                return lock
        return None

    def _turn_page(self, told: tuple[int, list[int]] | None, texts: list[bytes]) -> None:
        assert told is not None, "a page is never refused for now"
        words = (text.decode(errors="replace") for text in islice(texts, 1, None))
        page = [_lock(words) for _ in range(told[0])]
        self._next = texts[0] or None
        self._page = iter(page)

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__qualname__} {self._pattern!r} of {self._client!r}>"


class Locks(Listing):
    """The locks that `Client.locks` finds. Iterate over it: `for lock in client.locks("orders:*"):`.

    A step may raise UnavailableError, RefusedError, ClosedError, and UnsupportedError if the server is no Redis; after
    an UnavailableError the next step goes on. One thread takes the steps.
    """

    _client: redlatch.Client

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> HeldLock:
        while True:
            lock = self._unseen()
            if lock is not None:
                return lock
            if self._next is None:
                raise StopIteration
            outcome, texts = self._client._native._ask_page(self._pattern, self._next)
            self._turn_page(calls.answer(outcome, self._pattern), texts)


def _lock(words: Iterator[str]) -> HeldLock:
    name, kind, certain, holder_count, remaining, waiting, token, held, queued = islice(words, 9)
    return HeldLock(
        name,
        kind,
        certain == "1",
        tuple(_holder(words) for _ in range(int(held))),
        int(holder_count),
        _seconds(remaining),
        _number(waiting),
        tuple(_holder(words) for _ in range(int(queued))),
        _number(token),
    )


def _holder(words: Iterator[str]) -> Holder:
    client, owner, holds, writes, remaining, host, process, may_be_redisson = islice(words, 8)
    return Holder(
        client,
        owner,
        int(holds),
        writes == "1",
        _seconds(remaining),
        host or None,
        _number(process),
        may_be_redisson == "1",
    )


def _number(word: str) -> int | None:
    """The number; None: it is unknown."""
    return int(word) if word else None


def _seconds(ms: str) -> float | None:
    return int(ms) / 1000 if ms else None
