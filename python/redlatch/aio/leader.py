"""The leader of a group of processes, for tasks."""

from __future__ import annotations

from typing import ClassVar

import redlatch
from redlatch import _redlatch, calls
from redlatch.aio.hold import Hold
from redlatch.aio.locks import Lock
from redlatch.aio.loops import here
from redlatch.checks import checked_text
from redlatch.durations import Seconds
from redlatch.leader import NOTHING, CurrentLeader, checked_value, next_leader, present_leader
from redlatch.owners import EACH, next_owner
from redlatch.pickling import NotPickled
from redlatch.typings import Self


class Candidate(Lock):
    """The lock of a leader. Each acquire is a candidate of its own."""

    _kind: ClassVar[str] = "leader"

    def __new__(cls, client: redlatch.aio.AsyncClient, name: str, value: str) -> Self:
        return super().__new__(cls, client, name, None, None, EACH, value=value)


class Leader(NotPickled, _redlatch.Object):
    """The election of a leader: of all processes that ask to lead, one does. Make it with `AsyncClient.leader`.

    `lead` waits until this process leads, and returns its term, a hold: `async with await leader.lead() as term:`.
    `term.token` is greater than the token of every term before, and `term.on_lost` tells of a loss. Its release
    resigns, and so does the end of the block. Losing and leading again are two terms with two tokens.

    The lock of a leader is a fenced lock of its name, and excludes the other locks of that name.

    Times are seconds or `timedelta`. Every method may raise UnavailableError, RefusedError, ClosedError, and
    ConfigError for arguments that cannot be used. Cancelling ends a wait at once, and no term stays.
    """

    _client: redlatch.aio.AsyncClient
    _value: str

    def __new__(cls, client: redlatch.aio.AsyncClient, name: str, value: str | None) -> Self:
        leader = super().__new__(cls, client._native, ("leader", checked_text("the name of a leader", name)))
        leader._client = client
        leader._value = checked_value(value)
        return leader

    @property
    def value(self) -> str:
        """The text that the others see while this process leads."""
        return self._value

    async def lead(self, *, wait: Seconds | None = None) -> Hold:
        """Waits until this process leads, and returns its term. Raises NotAcquiredError when `wait` ends."""
        return await self._candidate().lock(wait=wait)

    async def try_lead(self, *, wait: Seconds | None = 0) -> Hold | None:
        """Leads if no other process does within `wait` (0: now), and returns the term. Returns None if one does."""
        return await self._candidate().try_lock(wait=wait)

    async def current(self) -> CurrentLeader | None:
        """Who leads; None: no process does."""
        outcome, texts = await self._submit_leader(here(), next_owner(), None)
        return present_leader(calls.answer(outcome, self.name), texts)

    def observe(self) -> Observer:
        """Begins to observe who leads. No call goes to the server before the first step."""
        return Observer(self._client, self.name)

    def _candidate(self) -> Candidate:
        # A candidate of its own: the term alone keeps the lock, whatever becomes of this object.
        return Candidate(self._client, self.name, self._value)

    def __repr__(self) -> str:
        return f"<redlatch.aio.Leader {self.name!r} of {self._client!r}>"


class Observer(_redlatch.Object):
    """Tells who leads, and each change of that.

    Iterate over it: `async for leader in client.leader("billing").observe():`.

    The first step gives the present leader, or None if no process leads. Each later step waits until another process
    leads than at the step before, or none. States that came and went since the last step are left out.

    A step may raise UnavailableError, RefusedError and ClosedError; the next step goes on. Cancelling ends a wait.
    """

    _client: redlatch.aio.AsyncClient
    _owner: int
    _seen: bytes

    def __new__(cls, client: redlatch.aio.AsyncClient, name: str) -> Self:
        observer = super().__new__(cls, client._native, ("leader_watch", name))
        observer._client = client
        observer._owner = next_owner()
        observer._seen = NOTHING
        return observer

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> CurrentLeader | None:
        outcome, texts = await self._submit_leader(here(), self._owner, self._seen)
        leader, self._seen = next_leader(calls.answer(outcome, self.name), texts)
        return leader

    def __repr__(self) -> str:
        return f"<redlatch.aio.Observer of {self.name!r} of {self._client!r}>"
