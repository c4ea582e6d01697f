"""The leader of a group of processes, for threads."""

from __future__ import annotations

from typing import ClassVar, Final, NamedTuple

import redlatch
from redlatch import _redlatch, calls, cooperative
from redlatch.checks import checked_text
from redlatch.durations import Seconds
from redlatch.hold import Hold
from redlatch.locks import Lock
from redlatch.owners import EACH, next_owner, this_thread
from redlatch.pickling import NotPickled
from redlatch.typings import Self

#: What an observer knows before its first question.
NOTHING: Final = b""


class CurrentLeader(NamedTuple):
    """A leader, as the server knows it."""

    #: The text that it has set; empty: none.
    value: str
    #: The token of its term; None: another sort of lock has the name, or the token is not known yet.
    token: int | None


class Candidate(Lock):
    """The lock of a leader. Each acquire is a candidate of its own."""

    _kind: ClassVar[str] = "leader"

    def __new__(cls, client: redlatch.Client, name: str, value: str) -> Self:
        return super().__new__(cls, client, name, None, None, EACH, value=value)


class Leader(NotPickled, _redlatch.Object):
    """The election of a leader: of all processes that ask to lead, one does. Make it with `Client.leader`.

    `lead` waits until this process leads, and returns its term, a hold: `with leader.lead() as term:`. `term.token` is
    greater than the token of every term before, and `term.on_lost` tells of a loss. Its release resigns, and so does
    the end of the block. Losing and leading again are two terms with two tokens.

    The lock of a leader is a fenced lock of its name, and excludes the other locks of that name.

    Times are seconds or `timedelta`. Every method may raise UnavailableError, RefusedError, ClosedError, and
    ConfigError for arguments that cannot be used. Ctrl-C ends a wait at once, and no term stays.
    """

    _client: redlatch.Client
    _value: str

    def __new__(cls, client: redlatch.Client, name: str, value: str | None) -> Self:
        leader = super().__new__(cls, client._native, ("leader", checked_text("the name of a leader", name)))
        leader._client = client
        leader._value = checked_value(value)
        return leader

    @property
    def value(self) -> str:
        """The text that the others see while this process leads."""
        return self._value

    def lead(self, *, wait: Seconds | None = None) -> Hold:
        """Waits until this process leads, and returns its term. Raises NotAcquiredError when `wait` ends."""
        return self._candidate().lock(wait=wait)

    def try_lead(self, *, wait: Seconds | None = 0) -> Hold | None:
        """Leads if no other process does within `wait` (0: now), and returns the term. Returns None if one does."""
        return self._candidate().try_lock(wait=wait)

    def current(self) -> CurrentLeader | None:
        """Who leads; None: no process does."""
        outcome, texts = self._ask_leader(this_thread.owner, None)
        return present_leader(calls.answer(outcome, self.name), texts)

    def observe(self) -> Observer:
        """Begins to observe who leads. No call goes to the server before the first step."""
        return Observer(self._client, self.name)

    def _candidate(self) -> Candidate:
        # A candidate of its own: the term alone keeps the lock, whatever becomes of this object.
        return Candidate(self._client, self.name, self._value)

    def __repr__(self) -> str:
        return f"<redlatch.Leader {self.name!r} of {self._client!r}>"


class Observer(_redlatch.Object):
    """Tells who leads, and each change of that. Iterate over it: `for leader in client.leader("billing").observe():`.

    The first step gives the present leader, or None if no process leads. Each later step waits until another process
    leads than at the step before, or none. States that came and went since the last step are left out.

    A step may raise UnavailableError, RefusedError and ClosedError; the next step goes on. Ctrl-C ends a wait.
    """

    _client: redlatch.Client
    _owner: int
    _seen: bytes

    def __new__(cls, client: redlatch.Client, name: str) -> Self:
        observer = super().__new__(cls, client._native, ("leader_watch", name))
        observer._client = client
        observer._owner = next_owner()
        observer._seen = NOTHING
        return observer

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> CurrentLeader | None:
        if cooperative.is_this_thread():
            raise cooperative.would_block(self.name)
        outcome, texts = self._ask_leader(self._owner, self._seen)
        leader, self._seen = next_leader(calls.answer(outcome, self.name), texts)
        return leader

    def __repr__(self) -> str:
        return f"<redlatch.Observer of {self.name!r} of {self._client!r}>"


def checked_value(value: str | None) -> str:
    """The value of a candidate. Raises ConfigError if it is no text; the core refuses one that is too long."""
    return "" if value is None else checked_text("the value of a leader", value)


def present_leader(told: tuple[int, list[int]] | None, texts: list[bytes]) -> CurrentLeader | None:
    """Who leads, from the answer to a look at the lock."""
    assert told is not None, "a look never waits"
    left, items = told
    return None if left == -2 else leader_of(items[1], texts)


def next_leader(told: tuple[int, list[int]] | None, texts: list[bytes]) -> tuple[CurrentLeader | None, bytes]:
    """Who leads, from the answer to an observer, and the text for its next question."""
    assert told is not None, "it waits without end"
    seen = texts[0]
    # The text of a state without a holder begins with the space before its token.
    return (None if seen.startswith(b" ") else leader_of(told[0], texts)), seen


def leader_of(token: int, texts: list[bytes]) -> CurrentLeader:
    value = texts[1].decode(errors="replace") if len(texts) > 1 else ""
    return CurrentLeader(value, token if token > 0 else None)
