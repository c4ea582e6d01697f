"""Connecting, and what a client is."""

from __future__ import annotations

import reprlib
from types import TracebackType
from typing import TYPE_CHECKING

from redlatch import _redlatch, calls, leaving, owners
from redlatch.durations import Seconds, optional_seconds
from redlatch.errors import ConfigError, error
from redlatch.locks import FOR_EVER, RENEWED, Lock
from redlatch.tls import Tls
from redlatch.tls import options as tls_options

if TYPE_CHECKING:
    from typing_extensions import Self


def connect(
    url: str | None = None,
    *,
    watchdog: Seconds | None = None,
    prefix: str | None = None,
    client_name: str | None = None,
    response_timeout: Seconds | None = None,
    connect_timeout: Seconds | None = None,
    username: str | None = None,
    password: str | None = None,
    tls: Tls | None = None,
) -> Client:
    """Returns a client of a Redis or Valkey server; it connects at its first call (`ping()` makes one).

    `url` is `redis://[user:password@]host[:port][/database]`, `rediss://…` for TLS or `unix:///path/to/socket`; without
    it the environment's `REDLATCH_URL` is taken, then `REDIS_URL`, then `redis://localhost:6379`. What is left out
    comes from the URL's query (`?watchdog=10`), or is as follows; times are seconds or `timedelta`:

    - `watchdog` (30): the lease of holds without one of their own; they are renewed every third of it.
    - `prefix` (none): put before the name of every lock.
    - `client_name` (none): what `CLIENT LIST` calls the connections.
    - `response_timeout` (3): how long one call may stay unanswered.
    - `connect_timeout` (10): how long connecting may take.
    - `username`, `password` (none).
    - `tls` (the authorities that the system trusts): what `rediss://` trusts and shows, see `redlatch.Tls`.

    Raises ConfigError for a URL, an option or a file that cannot be used.
    """
    remedy = "leave it out for the default"
    times = {"watchdog": watchdog, "response_timeout": response_timeout, "connect_timeout": connect_timeout}
    texts = {"prefix": prefix, "client_name": client_name, "username": username, "password": password}
    texts.update(tls_options(tls))
    options = [(name, str(optional_seconds(name, time, remedy))) for name, time in times.items() if time is not None]
    options += [(name, _text(name, text)) for name, text in texts.items() if text is not None]
    native = _redlatch.connect(None if url is None else _text("url", url), options)
    if isinstance(native, _redlatch.Client):
        return Client(native)
    status, _, _, failure = native
    raise error(status, *(failure or ("", None)), None)


class Client:
    """One program's way to one server; safe to share between threads, and usable in a forked child.

    Make it with `redlatch.connect`. As a context manager it is closed at the end of the block.
    """

    def __init__(self, native: _redlatch.Client) -> None:
        self._native = native
        leaving.opened(native)

    @property
    def id(self) -> str:
        """What names this client in Redis, a UUID; a forked child has another one."""
        return self._native.id

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._native.closed

    def get_lock(
        self, name: str, *, wait: Seconds | None = None, lease: Seconds | None = None, owner: int | None = None
    ) -> Lock:
        """Returns the reentrant lock called `name`; asks nothing of Redis and acquires nothing.

        `wait` and `lease` are what the lock's methods take when they are given none, in seconds or as `timedelta`.
        `wait` is how long an acquire waits (None: for ever, 0: it tries once); `lease` is how long a hold lasts (None:
        until it is released, renewed by the watchdog while this process lives). `owner` is who holds the lock (None:
        the calling thread), an int below 2**40: the same owner of the same client may acquire it again meanwhile.

        Raises ConfigError for an argument that cannot be used.
        """
        return Lock(
            self,
            "plain",
            _text("the name of a lock", name),
            wait=optional_seconds("wait", wait, FOR_EVER),
            lease=optional_seconds("lease", lease, RENEWED),
            owner=owners.checked(owner),
        )

    def ping(self) -> None:
        """Asks the server for a sign of life.

        Raises UnavailableError if it gives none in time, RefusedError if it wants other credentials, ClosedError.
        """
        calls.answer(self._native.ping(), None)

    def close(self) -> None:
        """Gives back what this client holds and disconnects. Later calls, and those that wait, raise ClosedError.

        Whoever still holds a lock is told that it lost it: `closed`. With a server that does not answer it takes as
        long as a release would; Ctrl-C ends waiting for it.

        The end of the program closes every client, after its threads (except daemons) have ended; `os._exit` and
        signals that kill do not: then locks end with their leases.
        """
        leaving.close(self._native)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<redlatch.Client {self.id} of {self._native.server}{', closed' if self.closed else ''}>"


def _text(what: str, value: str) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"{what} is {reprlib.repr(value)}, it must be a str; decode bytes first")
    try:
        value.encode()
    except UnicodeEncodeError as e:
        raise ConfigError(
            f"{what} is {reprlib.repr(value)}, which has no UTF-8 form ({e.reason}); use other characters"
        ) from None
    return value
