"""The servers that the demo runs on, one or several, and the questions that it asks them."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

from connection import ask, leftovers, shown
from server import Server


class Topology(ABC):
    """Running servers, and the questions of the demo."""

    lease = 6  # seconds: the watchdog of the demo; longer than it takes to put a replica in the place of a dead master
    renewal = ""  # how a holder keeps its lock, in words; empty: by its lease
    rest = ""  # how the lock of a dead holder ends, in words; empty: with its lease
    session = 0.0  # seconds for which the session of a dead holder lasts, on a system that has sessions
    nothing = "no key, no channel"
    servers: Sequence[Server] = ()

    @property
    @abstractmethod
    def url(self) -> str:
        """The URL for the workers; several with a blank between them are a red lock."""

    @property
    def title(self) -> str:
        return shown(self.url)

    @property
    def has_sessions(self) -> bool:
        """Whether a lock lasts as long as its holder's session, and has no lease at the server."""
        return bool(self.rest)

    @abstractmethod
    def masters(self, name: str) -> list[str]:
        """The URLs of the servers that decide about a lock now."""

    def kill_a_master(self, name: str) -> str | None:
        """Kills a server that decides about the lock, and returns its address; None: there is only one server."""
        dead = self.masters(name)[0]
        next(server for server in self.servers if server.url == dead).stop()
        return shown(dead)

    def remaining(self, name: str) -> float:
        """Seconds until the lock of a dead holder is free."""
        times = sorted(float(str(ask(url, "PTTL", name))) / 1000 for url in self.masters(name))
        return times[len(times) // 2]  # of a majority

    def forget(self, name: str) -> None:
        with contextlib.suppress(OSError):  # a dead server keeps nothing of ours
            for url in self.masters(name):
                ask(url, "DEL", name)

    def leftovers(self, name: str) -> list[str]:
        """Every key and every channel whose name contains `name`, on any server that runs."""
        return [left for server in self.servers if server.runs for left in leftovers(server.url, name)]


class Given(Topology):
    """A server that runs already."""

    lease = 3

    def __init__(self, url: str) -> None:
        ask(url, "PING")  # an unusable server fails here
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
