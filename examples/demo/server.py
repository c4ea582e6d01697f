"""The Redis of the demo: a private server on a free port, or the one that REDLATCH_URL names."""

from __future__ import annotations

import os
import random
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs, unquote, urlsplit


class Connection:
    """One connection that asks Redis a question at a time: enough to look at a lock from the outside."""

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


@contextmanager
def server() -> Iterator[str]:
    """The URL of a server that is there while the `with` block runs: `REDLATCH_URL`, else a private one."""
    given = os.environ.get("REDLATCH_URL")
    if given:
        yield given
        return
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    if program is None:
        raise SystemExit("neither redis-server nor valkey-server is on the PATH; run `make demo`, which installs one")
    with tempfile.TemporaryDirectory(prefix="redlatch-demo-server-") as folder:
        for _ in range(20):
            port = random.randrange(20000, 30000)
            command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
            # A session of its own: Ctrl-C must reach the demo only, which then ends everything in order.
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
            url = f"redis://127.0.0.1:{port}"
            try:
                if _is_up(url, process):
                    yield url
                    return
            finally:
                process.kill()
                process.wait()
    raise SystemExit(f"{program} did not start on any of 20 ports from 20000 to 29999; start it by hand to see why")


def _is_up(url: str, process: subprocess.Popen[bytes]) -> bool:
    give_up = time.monotonic() + 5
    while process.poll() is None and time.monotonic() < give_up:
        try:
            connection = Connection(url)
            # Somebody else's server may have this port: believe only our own.
            ours = f"process_id:{process.pid}\r" in str(connection.ask("INFO", "server"))
            connection.close()
            return ours
        except ConnectionError:
            time.sleep(0.01)
    return False


def leftovers(connection: Connection, name: str) -> list[str]:
    """Every key and every channel on the server whose name contains `name`."""
    found: list[str] = []
    cursor = "0"
    while True:
        answer = connection.ask("SCAN", cursor, "MATCH", f"*{name}*", "COUNT", "10000")
        assert isinstance(answer, list)
        cursor = answer[0]
        found += [f"key {key}" for key in answer[1]]
        if cursor == "0":
            break
    channels = connection.ask("PUBSUB", "CHANNELS", f"*{name}*")
    assert isinstance(channels, list)
    return found + [f"channel {channel}" for channel in channels]
