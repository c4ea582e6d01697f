"""Servers whose replicas take the place of a dead master."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from server import Server
from topology import Topology

# An acquire returns once the replica has it as well: else a failover may lose it.
CONFIRMED = "retry_for=20&sync=connected(within=2.0)"
REPLICA = ["--repl-diskless-sync-delay", "0"]


class Sentinel(Topology):
    """A master and its replica, and three sentinels that watch over them."""

    def __init__(self, folder: Path) -> None:
        master = Server(folder, *REPLICA)
        replica = Server(folder, *REPLICA, "--replicaof", "127.0.0.1", str(master.port))
        self.servers = [master, replica]
        _eventually("a replica with everything", partial(_is_synced, replica))
        watch = [
            f"sentinel monitor demo 127.0.0.1 {master.port} 2",
            "sentinel down-after-milliseconds demo 500",
            "sentinel failover-timeout demo 3000",
        ]
        self.sentinels = [Server(folder, sentinel="\n".join(watch)) for _ in range(3)]
        for sentinel in self.sentinels:
            _eventually("sentinels that know all servers", partial(self._knows, sentinel, 1, 2))

    @staticmethod
    def _knows(sentinel: Server, replicas: int, others: int) -> bool:
        said = sentinel.ask("SENTINEL", "MASTER", "demo")
        assert isinstance(said, list)
        facts = dict(zip(said[::2], said[1::2]))
        return (facts["num-slaves"], facts["num-other-sentinels"]) == (str(replicas), str(others))

    @property
    def url(self) -> str:
        return f"redis+sentinel://{','.join(it.address for it in self.sentinels)}/demo?{CONFIRMED}"

    @property
    def title(self) -> str:
        return "a master with a replica and three sentinels"

    def masters(self, name: str) -> list[str]:
        found = self.sentinels[0].ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "demo")
        assert isinstance(found, list)
        return [f"redis://{found[0]}:{found[1]}"]


class Cluster(Topology):
    """Three masters, each with a replica."""

    def __init__(self, folder: Path) -> None:
        words = ["--cluster-enabled", "yes", "--cluster-port", "BUS", "--cluster-node-timeout", "1000", *REPLICA]
        self.servers = [Server(folder, *words, "--cluster-replica-validity-factor", "0") for _ in range(6)]
        for place, server in enumerate(self.servers):
            if place < 3:
                server.ask("CLUSTER", "ADDSLOTSRANGE", str(16384 * place // 3), str(16384 * (place + 1) // 3 - 1))
            first = self.servers[0]
            server.ask("CLUSTER", "MEET", "127.0.0.1", str(first.port), str(first.bus))
        for server in self.servers:
            _eventually("a cluster that is whole", partial(self._is_whole, server))
        for place in range(3):
            replica = self.servers[3 + place]
            replica.ask("CLUSTER", "REPLICATE", str(self.servers[place].ask("CLUSTER", "MYID")))
            _eventually("a replica with everything", partial(_is_synced, replica))

    @staticmethod
    def _is_whole(server: Server) -> bool:
        said = str(server.ask("CLUSTER", "INFO"))
        return "cluster_state:ok" in said and "cluster_known_nodes:6\r" in said

    @property
    def url(self) -> str:
        return f"redis+cluster://{','.join(server.address for server in self.servers[:3])}?{CONFIRMED}"

    @property
    def title(self) -> str:
        return "a cluster of three masters and three replicas"

    def masters(self, name: str) -> list[str]:
        running = next(server for server in self.servers if server.runs)
        slot, ranges = running.ask("CLUSTER", "KEYSLOT", name), running.ask("CLUSTER", "SLOTS")
        assert isinstance(slot, int)
        assert isinstance(ranges, list)
        return [f"redis://{master[0]}:{master[1]}" for first, last, master, *_ in ranges if first <= slot <= last]


def _is_synced(replica: Server) -> bool:
    return "master_link_status:up" in str(replica.ask("INFO", "replication"))


def _eventually(what: str, done: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 20
    while not done():
        if time.monotonic() > give_up:
            raise SystemExit(f"waited 20 s for {what}, in vain")
        time.sleep(0.01)
