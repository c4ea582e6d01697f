"""The redlatch clients for the servers of redis-py clients, one for each URL with its options."""

from __future__ import annotations

from typing import Callable, Generic, TypeVar

from redlatch.checks import shown
from redlatch.client import Client
from redlatch.connecting import connect
from redlatch.errors import UnsupportedError
from redlatch.redis_settings import is_for_threads, settings

C = TypeVar("C")


class Counterparts(Generic[C]):
    """The clients of one class. They live until the program ends."""

    def __init__(self, made: type[C], connect: Callable[..., C], is_for_threads: bool, theirs: str, by: str) -> None:
        self._made = made
        self._connect = connect
        self._is_for_threads = is_for_threads
        # The texts of the error: redis-py's class, and the function that makes such a client.
        self._theirs = theirs
        self._by = by
        self._clients: dict[tuple[object, ...], C] = {}

    def of(self, redis: object) -> C:
        """Returns a redlatch client as it is. For a redis-py client it returns the one client with its settings."""
        if isinstance(redis, self._made):
            return redis
        if is_for_threads(redis) is not self._is_for_threads:
            raise unfit(redis, self._theirs, self._by)
        url, options = settings(redis)
        key = (url, *sorted(options.items()))
        if key not in self._clients:
            self._clients.setdefault(key, self._connect(url, **options))  # starts nothing yet
        return self._clients[key]


FOR_THREADS = Counterparts(Client, connect, True, "redis.Redis", "redlatch.connect")


def unfit(redis: object, theirs: str, by: str) -> UnsupportedError:
    """The error of an object of which no lock is made."""
    return UnsupportedError(f"locks are not made of {shown('redis', redis)}; give a {theirs}, or what {by} returns")
