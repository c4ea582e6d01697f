"""A server with sessions as a test sees it, whatever its system: its holders and waiters, and the end of a session."""

from __future__ import annotations

from typing import ClassVar

from eventually import until_true


class System:
    """At the end of a test our clients have left nothing there."""

    #: The methods of a client that give such a server's exclusive locks; after a dot follows a part.
    LOCKS: ClassVar[tuple[str, ...]]
    #: Those that an owner may acquire twice, and those of which it hears that it has them.
    REENTRANT: ClassVar[tuple[str, ...]]
    NON_REENTRANT: ClassVar[tuple[str, ...]]
    #: Whether the server ends a session with its connection. If not, it lasts for its time.
    ENDS_WITH_CONNECTION: ClassVar[bool]
    #: The reasons for the loss of a lock whose session the test has ended, see `quick_url`.
    ENDED: ClassVar[tuple[str, ...]]
    #: The reasons for the loss of a lock that its own client, and another one, has released by force.
    FORCED: ClassVar[tuple[str, str]]

    @property
    def url(self) -> str:
        raise NotImplementedError

    @property
    def quick_url(self) -> str:
        """The same for tests that end sessions."""
        return self.url

    def holder(self, name: str) -> int | None:
        """The session that has the lock."""
        raise NotImplementedError

    def waiting(self, name: str) -> int:
        """How many sessions or nodes wait for the lock."""
        raise NotImplementedError

    def sessions(self) -> list[int]:
        """The sessions of our clients."""
        raise NotImplementedError

    def end(self, session: int | None) -> None:
        """Ends a session, as an administrator does or the server."""
        raise NotImplementedError

    def is_empty(self) -> bool:
        """Whether no client of ours has or wants a lock, be it closed or not."""
        raise NotImplementedError

    def check_empty(self) -> None:
        until_true(self.is_empty, "a server on which our clients have and want no lock")

    def check_left(self) -> None:
        """The test has closed its clients."""
        until_true(lambda: not self.sessions(), "a server without a session of our clients")
