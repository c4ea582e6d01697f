"""A real server of ZooKeeper for the tests, on a free port, and sessions of programs that know nothing of redlatch."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from servers import Private

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
        client = KazooClient(hosts=f"127.0.0.1:{self.port}", client_id=(session, password(session)))
        client.start()
        client.stop()
        client.close()

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
    """What a client has to know to enter a session. The server draws it from the session's number."""
    factor, mask = 0x5DEECE66D, (1 << 48) - 1
    state = (session ^ 0xB3415C00 ^ factor) & mask
    said = b""
    for _ in range(4):
        state = (state * factor + 0xB) & mask
        said += (state >> 16 & 0xFFFFFFFF).to_bytes(4, "little")
    return said
