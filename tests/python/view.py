"""A bare connection to a server, by which tests look at keys."""

from __future__ import annotations

import socket
from types import TracebackType
from typing import Union

Reply = Union[str, int, None, list["Reply"]]


class View:
    """Sends commands and returns replies. It knows the channels of locks, and nothing else of them."""

    def __init__(self, port: int, password: str | None = None) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self._lines = self._socket.makefile("rb")
        if password is not None:
            self("AUTH", password)

    def __call__(self, *words: str) -> Reply:
        parts = [f"${len(word.encode())}\r\n{word}\r\n" for word in words]
        self._socket.sendall(f"*{len(words)}\r\n{''.join(parts)}".encode())
        return self._reply()

    def listeners(self, lock: str) -> int:
        """How many connections listen for the release of a lock."""
        channel = f"redisson_lock__channel:{{{lock}}}"
        reply = self("PUBSUB", "NUMSUB", channel)
        assert isinstance(reply, list)
        assert isinstance(reply[1], int)
        return reply[1]

    def close(self) -> None:
        self._lines.close()
        self._socket.close()

    def __enter__(self) -> View:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _reply(self) -> Reply:
        line = self._lines.readline().decode()
        if not line:
            raise ConnectionError("the server closed the connection")
        mark = line[0]
        rest = line[1:-2]
        if mark == "-":
            raise RuntimeError(rest)
        if mark == ":":
            return int(rest)
        if mark == "$":
            return None if rest == "-1" else self._lines.read(int(rest) + 2)[:-2].decode(errors="surrogateescape")
        if mark == "*":
            return [self._reply() for _ in range(int(rest))]
        return rest
