"""The settings of redis-py's clients, as a URL and options of `connect`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Callable, Final, NamedTuple
from urllib.parse import quote

from redlatch.checks import shown
from redlatch.errors import UnsupportedError
from redlatch.tls import Tls

if TYPE_CHECKING:
    from redlatch._redlatch import Client as Native
    from redlatch.durations import Seconds
    from redlatch.sync_policy import Sync

#: The TLS settings of redis-py that redlatch has as well.
_TLS: Final = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile", "ssl_cert_reqs", "ssl_check_hostname")


class Settings(NamedTuple):
    """Where a client of redis-py connects, and how."""

    url: str
    options: dict[str, Any]


class _Classes(NamedTuple):
    """The classes of redis-py: those for threads or those for asyncio."""

    client: type
    cluster: type
    sentinel_pool: type
    #: The connections without TLS, with TLS, by a socket, and the first two behind sentinels.
    plain: type
    tls: type
    socket: type
    plain_by_sentinel: type
    tls_by_sentinel: type


def settings(redis: object) -> Settings:
    """The settings of a client of redis-py, for threads or for asyncio.

    Raises UnsupportedError for another object, and for settings that redlatch lacks.
    """
    for classes in _classes():
        if isinstance(redis, classes.cluster):
            return _of_cluster(redis, classes)
        if isinstance(redis, classes.client):
            pool: Any = redis.connection_pool  # type: ignore[attr-defined]
            return _of_sentinels(pool, classes) if isinstance(pool, classes.sentinel_pool) else _of_one(pool, classes)
    raise UnsupportedError(
        f"settings are not taken over from {shown('redis', redis)}; "
        "give a client of redis-py, or call redlatch.connect with a URL"
    )


def is_for_threads(redis: object) -> bool | None:
    """Whether a client of redis-py is for threads, and not for asyncio; None: it is no client of redis-py."""
    for classes, for_threads in zip(_classes(), (True, False)):
        if isinstance(redis, (classes.client, classes.cluster)):
            return for_threads
    return None


def client_with_settings_of(
    redis: object,
    connected: Callable[..., Native],
    *,
    watchdog: Seconds | None,
    prefix: str | None,
    sync: Sync | None,
    quarantine: bool | None,
) -> Native:
    """The core's client with the settings of a client of redis-py, and with options that only redlatch has."""
    url, options = settings(redis)
    everything = dict.fromkeys(
        ("client_name", "response_timeout", "connect_timeout", "username", "password", "tls"), None
    )
    return connected(
        url, None, **{**everything, **options}, watchdog=watchdog, prefix=prefix, sync=sync, quarantine=quarantine
    )


def _classes() -> Iterable[_Classes]:
    """The classes of redis-py, first those for threads. None where it is not installed."""
    try:
        from redis import Redis, RedisCluster, asyncio, connection, sentinel
        from redis.asyncio import connection as async_connection
        from redis.asyncio import sentinel as async_sentinel
    except ImportError:
        return
    yield _Classes(
        Redis,
        RedisCluster,
        sentinel.SentinelConnectionPool,
        connection.Connection,
        connection.SSLConnection,
        connection.UnixDomainSocketConnection,
        sentinel.SentinelManagedConnection,
        sentinel.SentinelManagedSSLConnection,
    )
    yield _Classes(
        asyncio.Redis,
        asyncio.RedisCluster,
        async_sentinel.SentinelConnectionPool,
        async_connection.Connection,
        async_connection.SSLConnection,
        async_connection.UnixDomainSocketConnection,
        async_sentinel.SentinelManagedConnection,
        async_sentinel.SentinelManagedSSLConnection,
    )


def _of_one(pool: Any, classes: _Classes) -> Settings:
    kind, given = pool.connection_class, pool.connection_kwargs
    database = given.get("db") or 0
    if kind is classes.socket:
        return Settings(f"unix://{quote(given['path'])}?db={database}", _options(given))
    is_tls = _is_tls(kind, classes.plain, classes.tls)
    address = _address(given.get("host", "localhost"), given.get("port", 6379))
    return Settings(f"{_scheme(is_tls)}://{address}/{database}", _options(given, is_tls))


def _of_sentinels(pool: Any, classes: _Classes) -> Settings:
    if not pool.is_master:
        raise UnsupportedError(
            f"the client reads from replicas of {pool.service_name!r}, which grant no locks; give that of `master_for`"
        )
    given = pool.connection_kwargs
    is_tls = _is_tls(pool.connection_class, classes.plain_by_sentinel, classes.tls_by_sentinel)
    sentinels = [sentinel.connection_pool for sentinel in pool.sentinel_manager.sentinels]
    logins = set()
    for sentinel in sentinels:
        of_sentinel = sentinel.connection_kwargs
        if _is_tls(sentinel.connection_class, classes.plain, classes.tls) != is_tls:
            raise UnsupportedError(
                "the client uses TLS either to its sentinels or to their master, and redlatch to both or none; "
                "call redlatch.connect with a URL"
            )
        if is_tls and _tls(of_sentinel) != _tls(given):
            raise _untold("the TLS settings of the sentinels, which differ from those of their master,")
        _check_credentials(of_sentinel)
        logins.add((of_sentinel.get("username"), of_sentinel.get("password")))
    if len(logins) != 1:
        raise _untold("logins that differ from sentinel to sentinel")
    username, password = logins.pop()
    parts = [
        f"{name}={quote(value, safe='')}"
        for name, value in (("sentinel_username", username), ("sentinel_password", password))
        if value
    ]
    hosts = ",".join(
        _address(sentinel.connection_kwargs["host"], sentinel.connection_kwargs["port"]) for sentinel in sentinels
    )
    url = f"{_scheme(is_tls)}+sentinel://{hosts}/{quote(pool.service_name)}/{given.get('db') or 0}"
    return Settings("?".join([url, "&".join(parts)]) if parts else url, _options(given, is_tls))


def _of_cluster(redis: Any, classes: _Classes) -> Settings:
    manager = redis.nodes_manager
    given = manager.connection_kwargs
    kind = given.get("connection_class", classes.tls if given.get("ssl") else classes.plain)
    is_tls = _is_tls(kind, classes.plain, classes.tls)
    # In an order of our own: redis-py moves a node that fails to the end.
    hosts = ",".join(sorted(_address(node.host, node.port) for node in manager.startup_nodes.values()))
    return Settings(f"{_scheme(is_tls)}+cluster://{hosts}", _options(given, is_tls))


def _options(given: Mapping[str, Any], is_tls: bool = False) -> dict[str, Any]:
    """The options of `connect` that a client of redis-py has set."""
    _check_credentials(given)
    options = {
        "username": given.get("username"),
        "password": given.get("password"),
        "client_name": given.get("client_name"),
        "response_timeout": given.get("socket_timeout"),
        "connect_timeout": given.get("socket_connect_timeout"),
        "tls": _tls(given) if is_tls else None,
    }
    return {name: value for name, value in options.items() if value is not None}


def _check_credentials(given: Mapping[str, Any]) -> None:
    if given.get("credential_provider") is not None:
        raise _untold("credential_provider")


def _is_tls(kind: type, plain: type, tls: type) -> bool:
    """Whether connections of this class use TLS. Raises UnsupportedError for a class of the program's own."""
    if kind not in (plain, tls):
        raise UnsupportedError(
            f"the client connects by {kind.__qualname__}, whose settings are not known here; "
            "call redlatch.connect with a URL"
        )
    return kind is tls


def _tls(given: Mapping[str, Any]) -> Tls:
    for name, value in given.items():
        if name.startswith("ssl_") and name not in _TLS and value:
            raise _untold(name)
    required = given.get("ssl_cert_reqs", "required")
    if required not in ("required", "none", 0, 2, None):
        raise _untold(f"ssl_cert_reqs={required!r}")
    full = given.get("ssl_check_hostname", True)
    verify = "none" if required in ("none", 0, None) else "full" if full else "ca"
    return Tls(given.get("ssl_ca_certs"), given.get("ssl_certfile"), given.get("ssl_keyfile"), verify)  # type: ignore[arg-type]


def _scheme(is_tls: bool) -> str:
    return "rediss" if is_tls else "redis"


def _address(host: str, port: object) -> str:
    return f"{f'[{host}]' if ':' in host else host}:{port}"


def _untold(setting: str) -> UnsupportedError:
    return UnsupportedError(f"{setting} of a redis-py client cannot be taken over; call redlatch.connect with a URL")
