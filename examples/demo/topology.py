"""What the demo asks of the servers that it runs on, however many there are."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

from connection import ask, leftovers, shown
from server import Server


class Topology(ABC):
    """Servers that are there, and what the demo asks of them."""

    lease = 6  # seconds: the watchdog of the demo; longer than it takes to put a replica in the place of a dead master
    servers: Sequence[Server] = ()

    @property
    @abstractmethod
    def url(self) -> str:
        """What the workers are told; several URLs with a blank between them are a red lock."""

    @property
    def title(self) -> str:
        return shown(self.url)

    @abstractmethod
    def masters(self, name: str) -> list[str]:
        """The URLs of those who answer for a lock now."""

    def kill_a_master(self, name: str) -> str | None:
        """Kills one that answers for the lock, and says which; None: there is only one server."""
        dead = self.masters(name)[0]
        next(server for server in self.servers if server.url == dead).stop()
        return shown(dead)

    def remaining(self, name: str) -> float:
        """Seconds until the lock is free, if nobody renews it."""
        times = sorted(float(str(ask(url, "PTTL", name))) / 1000 for url in self.masters(name))
        return times[len(times) // 2]  # of a majority

    def forget(self, name: str) -> None:
        with contextlib.suppress(OSError):  # a server that has gone keeps nothing of ours
            for url in self.masters(name):
                ask(url, "DEL", name)

    def leftovers(self, name: str) -> list[str]:
        """Every key and every channel whose name contains `name`, on any server that runs."""
        return [left for server in self.servers if server.runs for left in leftovers(server.url, name)]


class Given(Topology):
    """A server that runs already."""

    lease = 3

    def __init__(self, url: str) -> None:
        ask(url, "PING")  # one that cannot be used is told now
        self._url = url

    @property
    def url(self) -> str:
        return self._url

    def masters(self, name: str) -> list[str]:
        return [self.url]

    def kill_a_master(self, name: str) -> str | None:
        return None

    def leftovers(self, name: str) -> list[str]:
        return leftovers(self.url, name)


class Single(Given):
    """One server of our own."""

    def __init__(self, folder: Path) -> None:
        self.servers = [Server(folder)]
        super().__init__(self.servers[0].url)


class RedLock(Topology):
    """Five servers that know nothing of each other."""

    def __init__(self, folder: Path) -> None:
        self.servers = [Server(folder) for _ in range(5)]

    @property
    def url(self) -> str:
        return " ".join(server.url for server in self.servers)

    @property
    def title(self) -> str:
        return f"a majority of {len(self.servers)} independent servers"

    def masters(self, name: str) -> list[str]:
        return [server.url for server in self.servers if server.runs]
