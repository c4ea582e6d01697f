"""How calls wait in an event loop: their ends come in batches, through one file descriptor."""

from __future__ import annotations

import asyncio
import itertools
import os
import weakref
from typing import TYPE_CHECKING, Any, Protocol, Union

from redlatch import _redlatch
from redlatch.errors import UnsupportedError

if TYPE_CHECKING:
    from redlatch._redlatch import _Outcome, _To

#: How a call ended; what it has taken goes back unless somebody claims it.
Ended = Union["_Outcome", _redlatch.Taken]


class Thing(Protocol):
    """What can be asked."""

    def _submit(self, to: _To, *what: Any) -> int: ...
    def _cancel(self, ticket: int) -> None: ...


class Calls:
    """The calls of one loop that are under way.

    Nothing but the loop keeps this alive, so that it goes when the loop is closed: then its mailbox has what still
    comes given back.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._mailbox = _redlatch.Mailbox()
        self._keys = itertools.count()
        self._waiting: dict[int, tuple[asyncio.Future[Ended], Thing, int]] = {}
        # What came last: the loop may be closed before those who wait for it have run.
        self._came: list[tuple[int, Ended]] = []
        self._process = os.getpid()
        try:
            loop.add_reader(self._mailbox.fileno(), self._deliver)
        except NotImplementedError:
            raise UnsupportedError(
                f"a {type(loop).__name__} cannot wait for a file descriptor; run redlatch.aio in a SelectorEventLoop"
            ) from None

    def begin(self, thing: Thing, *what: Any) -> tuple[asyncio.Future[Ended], int]:
        """Has a call carried out: the future of its end, and the ticket to cancel it by."""
        key, future = next(self._keys), self._loop.create_future()
        ticket = thing._submit((self._mailbox, key), *what)
        self._waiting[key] = future, thing, ticket
        return future, ticket

    def _deliver(self) -> None:
        self._came = self._mailbox.empty()
        for key, ended in self._came:
            future = self._waiting.pop(key)[0]
            # Where nobody waits any more it is dropped, and what was taken goes back.
            if not future.done():
                future.set_result(ended)

    def __del__(self) -> None:
        # Somebody may keep a task of a closed loop, which stays where it waits; a forked child has only a copy.
        if self._process == os.getpid():
            for _, thing, ticket in self._waiting.values():
                thing._cancel(ticket)
            for _, ended in self._came:
                give_back(ended)


# Weak by hand, which is several times as fast as a dictionary that is.
_calls: dict[int, weakref.ref[Calls]] = {}


def here() -> Calls:
    """The calls of the loop that runs in this thread."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        raise UnsupportedError(
            "redlatch.aio needs a running event loop of asyncio, and this thread has none; "
            "under anyio choose its asyncio backend (trio has no support yet), without any loop redlatch.connect"
        ) from None
    known = _calls.get(id(loop))
    calls = known() if known is not None else None
    return calls if calls is not None else _begin(loop)


def _begin(loop: asyncio.AbstractEventLoop) -> Calls:
    calls, place = Calls(loop), id(loop)

    def forget(gone: weakref.ref[Calls]) -> None:
        # Another loop may have that place by now.
        if _calls.get(place) is gone:
            del _calls[place]

    _calls[place] = weakref.ref(calls, forget)
    return calls


async def run(thing: Thing, *what: Any) -> _Outcome:
    """Has a call carried out and waits for its outcome. Cancelling leaves nothing behind, without waiting for it."""
    future, ticket = here().begin(thing, *what)
    try:
        ended = await future
    except BaseException:
        # Cancelled, or thrown away together with its loop.
        thing._cancel(ticket)
        if future.done() and not future.cancelled():
            # It ended just before.
            give_back(future.result())
        raise
    return claim(ended)


def claim(ended: Ended) -> _Outcome:
    """The outcome, for somebody who gives back what was taken."""
    return ended if isinstance(ended, tuple) else ended.claim()


def give_back(ended: Ended) -> None:
    """Gives back what was taken, if anything was."""
    if not isinstance(ended, tuple):
        ended.give_back()
