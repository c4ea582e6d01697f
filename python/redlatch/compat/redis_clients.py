"""Makes the redlatch clients for the servers of redis-py clients, one for each URL with its options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

from redlatch.checks import shown
from redlatch.client import Client
from redlatch.connecting import connect
from redlatch.errors import UnsupportedError
from redlatch.redis_settings import is_for_threads, settings

if TYPE_CHECKING:
    from redis import Redis, RedisCluster

#: They live until the program ends.
_clients: dict[tuple[object, ...], Client] = {}


def client_of(redis: Client | Redis | RedisCluster) -> Client:
    """Returns a redlatch client as it is. For a client of redis-py it returns the one client with the same settings."""
    if isinstance(redis, Client):
        return redis
    if is_for_threads(redis) is not True:
        raise unfit(redis, "redis.Redis", "redlatch.connect")
    client: Client = shared(redis, _clients, connect)
    return client


def shared(redis: object, clients: dict[tuple[object, ...], Any], connect: Callable[..., Any]) -> Any:
    """The client with the settings of a client of redis-py. It is made at the first call."""
    url, options = settings(redis)
    key = (url, *sorted(options.items()))
    if key not in clients:
        clients.setdefault(key, connect(url, **options))  # starts nothing yet
    return clients[key]


def unfit(redis: object, theirs: str, ours: str) -> UnsupportedError:
    """The error of an object of which no lock is made."""
    return UnsupportedError(f"locks are not made of {shown('redis', redis)}; give a {theirs}, or what {ours} returns")
