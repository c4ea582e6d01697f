"""A real server of ZooKeeper for the tests, on a free port, and sessions of programs that know nothing of redlatch."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from eventually import until_true
from servers import Private
from system import System

#: The request by which a client ends its session.
END_SESSION = -11
#: Starts a server, for the tests of every language.
PROGRAM = Path(__file__).parent.parent / "zookeeper" / "server"


class Zookeeper(Private):
    """A running server. Its ticks are short, so sessions from 0.2 s on are possible."""

    def __init__(self, more: Sequence[str] = ()) -> None:
        """`more` are further lines of its configuration, such as `minSessionTimeout=4000`."""
        self._more = more
        super().__init__("zookeeper", within=60)

    @property
    def url(self) -> str:
        return f"zookeeper://127.0.0.1:{self.port}"

    @contextmanager
    def kazoo(self, timeout: float = 10) -> Iterator[KazooClient]:
        """A session of another program."""
        client = KazooClient(hosts=f"127.0.0.1:{self.port}", timeout=timeout)
        client.start()
        try:
            yield client
        finally:
            client.stop()
            client.close()

    def word(self, command: str, within: float = 5) -> str:
        """The answer to a command of four letters, such as `mntr`."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=within) as connection:
            connection.sendall(command.encode())
            return b"".join(iter(lambda: connection.recv(65536), b"")).decode()

    def sessions(self) -> list[int]:
        """The sessions that have not ended, whether a client is connected or not."""
        # Behind this line come the sessions with nodes of theirs, a second time.
        told = self.word("dump").split("ephemeral nodes dump")[0]
        return sorted({int(word, 16) for word in told.split() if word.startswith("0x")})

    def expire(self, session: int) -> None:
        """Ends a session of any client, as the server does when its time is over."""
        enter = struct.pack(">iqiQi16s?", 0, 0, 10_000, session, 16, password(session), False)
        leave = struct.pack(">ii", 1, END_SESSION)
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as connection:
            # At once: its client, which is cut off then, would enter the session again.
            connection.sendall(b"".join(struct.pack(">i", len(packet)) + packet for packet in (enter, leave)))
            while connection.recv(65536):
                pass

    def _command(self) -> list[str]:
        self._begun = time.monotonic()
        return [str(PROGRAM), str(self.home), str(self.port), *self._more]

    def _answers(self) -> bool | None:
        try:
            # A server that is not quite ready leaves a question without an answer, for ever. One that starts slowly
            # answers slowly, too.
            patience = min(max((time.monotonic() - self._begun) / 4, 0.1), 5)
            if f"dataDir={self.home}/" not in self.word("conf", within=patience):
                return None
            return "Mode: " in self.word("srvr", within=patience) or None
        except OSError:
            return None


class Tree(System):
    """The server of ZooKeeper as one test sees it."""

    LOCKS = (
        "lock",
        "get_lock",
        "get_non_reentrant_lock",
        "get_fenced_lock",
        "get_fair_lock",
        "get_non_reentrant_fair_lock",
        "get_read_write_lock.write_lock",
    )
    REENTRANT = ("get_lock", "get_fenced_lock", "get_fair_lock", "get_read_write_lock.write_lock")
    NON_REENTRANT = ("get_non_reentrant_lock", "get_non_reentrant_fair_lock")
    ENDS_WITH_CONNECTION = False
    ENDED = ("session ended", "deleted")
    FORCED = ("deleted", "deleted")

    def __init__(self, server: Zookeeper, kazoo: KazooClient) -> None:
        self.server = server
        self.kazoo = kazoo

    @property
    def url(self) -> str:
        return self.server.url

    @property
    def quick_url(self) -> str:
        """The same for tests that end sessions.

        A client that enters its session while the rig ends it may see its node go first, or hear of the end only by its
        next sign of life, of which it gives four in the session's time.
        """
        return f"{self.url}?watchdog=4"

    def queue(self, name: str) -> list[str]:
        """The nodes of those that have a lock or wait for it, in their order."""
        return queue(self.kazoo, f"/{name}")

    def holder(self, name: str) -> int | None:
        """The session that has the first node of a queue."""
        nodes = self.queue(name)
        return owner(self.kazoo, f"/{name}/{nodes[0]}") if nodes else None

    def waiting(self, name: str) -> int:
        return max(len(self.queue(name)) - 1, 0)

    def nodes(self) -> list[str]:
        """The nodes of all sessions."""
        told = self.server.word("dump").split("ephemeral nodes dump")[1].split("Connections dump")[0]
        return [word for word in told.split() if word.startswith("/")]

    def sessions(self) -> list[int]:
        view, _ = self.kazoo.client_id
        return [session for session in self.server.sessions() if session != view]

    def end(self, session: int | None) -> None:
        """As the server does when its time is over."""
        assert session is not None

        def is_over() -> bool:
            # Its client may enter it again meanwhile, and then the rig is out of it.
            with suppress(ConnectionError):
                self.server.expire(session)
            return session not in self.server.sessions()

        until_true(is_over, "the end of a session")

    def is_empty(self) -> bool:
        return not self.nodes()


def owner(client: KazooClient, path: str) -> int | None:
    """The session with which a node ends; None: no session, or there is no such node."""
    stat = client.exists(path)
    return stat.ephemeralOwner or None if stat else None


def queue(client: KazooClient, path: str) -> list[str]:
    """The children of a node by the numbers at the end of their names; none: it has none, or there is no such node."""
    try:
        return sorted(client.get_children(path), key=lambda name: name[-10:])
    except NoNodeError:
        return []


def password(session: int) -> bytes:
    """The secret by which a client enters a session. The server draws it from the session's number."""
    factor, mask = 0x5DEECE66D, (1 << 48) - 1
    state = (session ^ 0xB3415C00 ^ factor) & mask
    said = b""
    for _ in range(4):
        state = (state * factor + 0xB) & mask
        said += (state >> 16 & 0xFFFFFFFF).to_bytes(4, "little")
    return said
