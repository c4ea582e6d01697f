"""Connecting to a server."""

from __future__ import annotations

from redlatch import _redlatch
from redlatch.client import Client
from redlatch.durations import Seconds, optional_seconds
from redlatch.errors import error
from redlatch.texts import checked
from redlatch.tls import Tls
from redlatch.tls import options as tls_options


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
    options += [(name, checked(name, text)) for name, text in texts.items() if text is not None]
    native = _redlatch.connect(None if url is None else checked("url", url), options)
    if isinstance(native, _redlatch.Client):
        return Client(native)
    status, _, _, failure = native
    raise error(status, *(failure or ("", None)), None)
