"""How calls wait in an event loop: the loop gets their results in batches, through one file descriptor."""

from __future__ import annotations

import asyncio
import weakref
from typing import TYPE_CHECKING, Any, Protocol

from redlatch import _redlatch, tasks
from redlatch.errors import UnsupportedError

if TYPE_CHECKING:
    from redlatch._redlatch import Mailbox, _Outcome, _Pending


class Thing(Protocol):
    """An object of the native module that carries out calls."""

    def _submit(self, mailbox: Mailbox, *what: Any) -> _Pending[_Outcome]: ...


# The mailbox of each loop, by the loop's id. Only the loop keeps its mailbox alive: the mailbox ends when the loop is
# closed, and holds that arrive later are released. A weakref per entry is several times as fast as a weak dictionary.
_mailboxes: dict[int, weakref.ref[Mailbox]] = {}

# By these the native module finds the loop, the task, and what belongs to each. It takes them from the object of a
# call: interpreters that share a process share the native module's own variables.
PARTS = (asyncio._get_running_loop, asyncio.current_task, _mailboxes, tasks._tasks)


def runs_here() -> bool:
    """Whether a loop runs in this thread."""
    return asyncio._get_running_loop() is not None


def here() -> Mailbox:
    """The mailbox of the loop that runs in this thread."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        raise UnsupportedError(
            "redlatch.aio needs a running event loop of asyncio, and this thread has none; "
            "under anyio choose its asyncio backend (trio has no support yet), without any loop redlatch.connect"
        ) from None
    known = _mailboxes.get(id(loop))
    mailbox = known() if known is not None else None
    return mailbox if mailbox is not None else _begin(loop)


def _begin(loop: asyncio.AbstractEventLoop) -> Mailbox:
    mailbox = _redlatch.Mailbox(loop)
    place = id(loop)

    def forget(gone: weakref.ref[Mailbox]) -> None:
        # Another loop may have the same id by now.
        if _mailboxes.get(place) is gone:
            del _mailboxes[place]

    try:
        loop.add_reader(mailbox.fileno(), mailbox.empty)
    except NotImplementedError:
        raise UnsupportedError(
            f"a {type(loop).__name__} cannot wait for a file descriptor; run redlatch.aio in a SelectorEventLoop"
        ) from None
    _mailboxes[place] = weakref.ref(mailbox, forget)
    return mailbox


def run(thing: Thing, *what: Any) -> _Pending[_Outcome]:
    """Starts a call; its caller awaits the outcome. Cancelling leaves nothing behind and does not wait."""
    return thing._submit(here(), *what)


def look_later(mailbox: Mailbox, delay: float) -> None:
    """Makes the mailbox look for long waits in `delay` seconds, unless its loop is closed by then."""
    weak = weakref.ref(mailbox)

    def look() -> None:
        here = weak()
        if here is not None:
            # An answer that came while the loop stood still ends a wait, so the mailbox delivers answers first.
            here.empty()
            here.look_for_long_waits()

    mailbox.event_loop.call_later(delay, look)
