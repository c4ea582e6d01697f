"""The places of programs and the costs of one window: servers and programs, modes, and counts."""

from __future__ import annotations

import itertools
import os
import time

from harness import machine
from harness.peers import ENGINES
from harness.program import Fleet, Program
from harness.server import Redis, Server, engine, sent

Figures = dict[str, float]
FREE, ONE_CPU, TWO_CPUS, FAR = "", "client and server on one CPU", "client and server on different CPUs", "0.5 ms away"
DELAY = 500  # µs, each way
PATIENCE = 15
LEAD = 30_000_000  # ns from an order to its beginning, so that all processes have read it
names = itertools.count()


class Bench:
    """Every server and every program that was started so far."""

    def __init__(self) -> None:
        self.redis = Redis()
        self._servers: dict[str, Server] = {"redis": self.redis}
        self._distant: dict[str, str] = {}
        self._proxies: list[Program] = []
        self._fleet = Fleet()

    def server(self, peer: str) -> Server:
        system = ENGINES.get(peer, "redis")
        if system not in self._servers:
            self._servers[system] = engine(system)
        return self._servers[system]

    def take(self, peer: str, mode: str, count: int = 1) -> list[Program]:
        url = self.server(peer).url
        fresh_ones, programs = self._fleet.take(peer, self._far(url) if mode == FAR else url, count)
        for program in fresh_ones:
            # Another row measures the start.
            program.tell("first", name=fresh())
            program.hear(PATIENCE)
        return programs

    def _far(self, url: str) -> str:
        """The same server's address, a way off."""
        if url not in self._distant:
            self._proxies.append(Program("distance", url))
            self._proxies[-1].tell("open", delay=DELAY)
            (port,) = self._proxies[-1].hear(PATIENCE)["port"]
            self._distant[url] = f"{url.rpartition(':')[0]}:{port}"
        return self._distant[url]

    def close(self) -> None:
        self._fleet.close()
        for proxy in self._proxies:
            proxy.close()
        for server in self._servers.values():
            server.close()


class Window:
    """The use between `with` and its end: CPU seconds of clients, server and other processes, and commands by name."""

    def __init__(self, server: Server, programs: list[Program], mode: str = FREE) -> None:
        self._server, self._programs = server, programs
        pinned = mode in (ONE_CPU, TWO_CPUS)
        for program in programs:
            machine.pin(program.pid, machine.CPUS[:1] if pinned else machine.CPUS)
        # Some servers have a process for each connection.
        self._servers = machine.family(server.pid)
        for pid in self._servers:
            machine.pin(pid, {ONE_CPU: machine.CPUS[:1], TWO_CPUS: machine.CPUS[1:2]}.get(mode, machine.CPUS))

    def __enter__(self) -> Window:
        self._start, self._before = time.monotonic(), self._used()
        self.commands = self._server.commands()
        return self

    def __exit__(self, broken: object, *_: object) -> None:
        if broken:
            return
        self.commands = self._server.commands() - self.commands
        used = (after - before for before, after in zip(self._before, self._used()))
        self.client, self.server, own, busy = used
        self.seconds = time.monotonic() - self._start
        self.foreign = max(0.0, busy - own - self.client - self.server) / self.seconds

    def _used(self) -> tuple[float, float, float, float]:
        clients = sum(machine.cpu_seconds(program.pid) for program in self._programs)
        own = machine.cpu_seconds(os.getpid())
        servers = sum(machine.cpu_seconds(pid) for pid in self._servers if machine.lives(pid))
        return clients, servers, own, machine.busy_seconds()

    def each(self, count: int) -> Figures:
        """The cost of one of so many acquisitions."""
        scripts = self.commands["evalsha"] + self.commands["eval"]
        costs = {"scripts": scripts, "commands": sent(self.commands), "all": sum(self.commands.values())}
        times = {"cpu": self.client * 1e6, "server_cpu": self.server * 1e6}
        times["both_cpu"] = times["cpu"] + times["server_cpu"]
        return {**{name: cost / max(count, 1) for name, cost in {**costs, **times}.items()}, "foreign": self.foreign}


def fresh() -> str:
    """A name that no lock had before, so that no waiter of an earlier row listens to it."""
    return f"bench:{next(names)}"
