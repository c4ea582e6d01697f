"""A look at Redis from the outside, without redlatch."""

from __future__ import annotations

import contextlib
import socket
import ssl
from urllib.parse import parse_qs, unquote, urlsplit


class Connection:
    """One connection that sends Redis one command at a time: enough to look at a lock from the outside."""

    def __init__(self, url: str) -> None:
        try:
            self._open(url)
        except (OSError, ValueError) as error:
            raise ConnectionError(f"the server at {shown(url)} cannot be used: {error}") from error

    def _open(self, url: str) -> None:
        parts = urlsplit(url)
        query = parse_qs(parts.query)
        database = parts.path.strip("/")
        if parts.scheme in ("unix", "redis+unix", "redis+uds", "valkey+uds"):
            database = ""
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.connect(unquote(parts.path))
        elif parts.scheme not in ("redis", "rediss", "valkey", "valkeys"):
            raise ValueError("write redis://host:6379, rediss://host:6379 or unix:///path/to/socket")
        else:
            self._socket = socket.create_connection((parts.hostname or "localhost", parts.port or 6379), timeout=5)
            if parts.scheme in ("rediss", "valkeys"):
                self._socket = _tls(query).wrap_socket(self._socket, server_hostname=parts.hostname)
        self._socket.settimeout(5)
        self._lines = self._socket.makefile("rb")
        if parts.password:
            self.ask("AUTH", *([unquote(parts.username)] if parts.username else []), unquote(parts.password))
        database = database or (query.get("db") or query.get("database") or ["0"])[0]
        if database != "0":
            self.ask("SELECT", database)
        self.ask("PING")

    def ask(self, *words: str) -> object:
        """Sends one command; returns an int, a str, a list of them, or None."""
        parts = [f"*{len(words)}\r\n".encode()]
        for word in words:
            data = word.encode()
            parts.append(b"$%d\r\n%s\r\n" % (len(data), data))
        self._socket.sendall(b"".join(parts))
        return self._reply()

    def _reply(self) -> object:
        line = self._lines.readline()
        if not line:
            raise ConnectionError("the server closed the connection")
        kind, rest = line[:1], line[1:-2].decode()
        if kind == b"-":
            raise ConnectionError(f"the server refused: {rest}")
        if kind == b"+":
            return rest
        size = int(rest)
        if kind == b":":
            return size
        if size < 0:
            return None
        if kind == b"*":
            return [self._reply() for _ in range(size)]
        return self._lines.read(size + 2)[:-2].decode()

    def close(self) -> None:
        self._lines.close()
        self._socket.close()


def _tls(query: dict[str, list[str]]) -> ssl.SSLContext:
    """TLS as redlatch takes it from the options of a URL."""
    ca, cert, key, verify = (query.get(f"tls_{name}", [None])[0] for name in ("ca", "cert", "key", "verify"))
    context = ssl.create_default_context(cafile=ca)
    if cert:
        context.load_cert_chain(cert, key)
    context.check_hostname = verify in (None, "full")
    if verify == "none":
        context.verify_mode = ssl.CERT_NONE
    return context


def shown(url: str) -> str:
    """The URL without user, password and options."""
    scheme, separator, rest = url.rpartition("://")
    return scheme + separator + rest.rpartition("@")[2].partition("?")[0]


def ask(url: str, *words: str) -> object:
    """One command, on a connection of its own."""
    connection = Connection(url)
    try:
        return connection.ask(*words)
    finally:
        connection.close()


def leftovers(url: str, name: str) -> list[str]:
    """Every key and every channel on the server whose name contains `name`."""
    connection = Connection(url)
    try:
        return _leftovers(connection, name)
    finally:
        connection.close()


def _leftovers(connection: Connection, name: str) -> list[str]:
    found: list[str] = []
    cursor = "0"
    while True:
        answer = connection.ask("SCAN", cursor, "MATCH", f"*{name}*", "COUNT", "10000")
        assert isinstance(answer, list)
        cursor = answer[0]
        found += [f"key {key}" for key in answer[1]]
        if cursor == "0":
            break
    for kind in ("CHANNELS", "SHARDCHANNELS"):
        with contextlib.suppress(ConnectionError):  # not every server has the second one
            channels = connection.ask("PUBSUB", kind, f"*{name}*")
            assert isinstance(channels, list)
            found += [f"channel {channel}" for channel in channels]
    return found
