"""Makes the redlatch client for the server of a redis-py client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from redlatch.checks import shown
from redlatch.client import Client
from redlatch.connecting import connect
from redlatch.errors import UnsupportedError
from redlatch.tls import Tls

if TYPE_CHECKING:
    from redis import Redis

#: One client for each URL with its options, until the program ends.
_clients: dict[tuple[object, ...], Client] = {}

# The TLS settings of redis-py that redlatch has as well.
_TLS = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile", "ssl_cert_reqs", "ssl_check_hostname")


def client_of(redis: Client | Redis) -> Client:
    """Returns a redlatch client as it is. For a `redis.Redis` it returns the one client with the same settings."""
    if isinstance(redis, Client):
        return redis
    url, options = _settings(redis)
    key = (url, *sorted(options.items()))
    if key not in _clients:
        _clients.setdefault(key, connect(url, **options))  # starts nothing yet
    return _clients[key]


def _settings(redis: object) -> tuple[str, dict[str, Any]]:
    try:
        from redis import Redis
        from redis.connection import Connection, SSLConnection, UnixDomainSocketConnection
    except ImportError:
        raise _unknown(redis) from None
    if not isinstance(redis, Redis):
        raise _unknown(redis)
    kind = redis.connection_pool.connection_class
    given = redis.connection_pool.connection_kwargs
    if kind not in (Connection, SSLConnection, UnixDomainSocketConnection):
        raise UnsupportedError(
            f"the client connects by {kind.__qualname__}, whose settings are not known here; "
            "give the redlatch.Client of its server"
        )
    if given.get("credential_provider") is not None:
        raise _untold("credential_provider")
    options = {
        "username": given.get("username"),
        "password": given.get("password"),
        "client_name": given.get("client_name"),
        "response_timeout": given.get("socket_timeout"),
        "connect_timeout": given.get("socket_connect_timeout"),
    }
    if kind is UnixDomainSocketConnection:
        return f"unix://{quote(given['path'])}?db={given.get('db') or 0}", _without_none(options)
    host = given.get("host", "localhost")
    address = f"{f'[{host}]' if ':' in host else host}:{given.get('port', 6379)}/{given.get('db') or 0}"
    if kind is Connection:
        return f"redis://{address}", _without_none(options)
    return f"rediss://{address}", _without_none({**options, "tls": _tls(given)})


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


def _without_none(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _untold(setting: str) -> UnsupportedError:
    return UnsupportedError(
        f"{setting} of a redis-py client cannot be taken over; give the redlatch.Client of its server"
    )


def _unknown(redis: object) -> UnsupportedError:
    return UnsupportedError(
        f"locks are not made of {shown('redis', redis)}; "
        "give a redis.Redis of one server, or what redlatch.connect returns"
    )
