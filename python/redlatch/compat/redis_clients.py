"""Makes the redlatch client for the server of a redis-py client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redlatch.checks import shown
from redlatch.client import Client
from redlatch.connecting import connect
from redlatch.errors import UnsupportedError
from redlatch.redis_settings import settings

if TYPE_CHECKING:
    from redis import Redis

#: One client for each URL with its options, until the program ends.
_clients: dict[tuple[object, ...], Client] = {}


def client_of(redis: Client | Redis) -> Client:
    """Returns a redlatch client as it is. For a `redis.Redis` it returns the one client with the same settings."""
    if isinstance(redis, Client):
        return redis
    if not _is_redis(redis):
        raise UnsupportedError(
            f"locks are not made of {shown('redis', redis)}; give a redis.Redis, or what redlatch.connect returns"
        )
    url, options = settings(redis)
    key = (url, *sorted(options.items()))
    if key not in _clients:
        _clients.setdefault(key, connect(url, **options))  # starts nothing yet
    return _clients[key]


def _is_redis(redis: object) -> bool:
    try:
        from redis import Redis
    except ImportError:
        return False
    return isinstance(redis, Redis)
