"""The servers that the demo runs on: those that `ENGINE` or `TOPOLOGY` name, or a running Redis, at `REDLATCH_URL`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from database import OneMariadb
from failover import Cluster, Sentinel
from keeper import OneZookeeper
from server import Server
from topology import Given, RedLock, Single, Topology

KINDS: dict[str, Callable[[Path], Topology]] = {
    "single": Single,
    "sentinel": Sentinel,
    "cluster": Cluster,
    "redlock": RedLock,
}
#: The systems beside Redis.
ENGINES: dict[str, Callable[[Path], Topology]] = {"mysql": OneMariadb, "zookeeper": OneZookeeper}


@contextmanager
def topology(folder: Path) -> Iterator[Topology]:
    """Servers that run while the `with` block runs."""
    given, kind = os.environ.get("REDLATCH_URL"), os.environ.get("TOPOLOGY") or "single"
    engine = os.environ.get("ENGINE") or "redis"
    if kind not in KINDS:
        raise SystemExit(f"there is no TOPOLOGY={kind}; there are {', '.join(KINDS)}")
    if engine not in ("redis", *ENGINES):
        raise SystemExit(f"there is no ENGINE={engine}; there are redis, {', '.join(ENGINES)}")
    if engine != "redis" and (given or kind != "single"):
        raise SystemExit(f"ENGINE={engine} has one server of its own; leave TOPOLOGY and REDLATCH_URL out")
    if given:
        yield Given(given)
        return
    try:
        yield ENGINES.get(engine, KINDS[kind])(folder)
    finally:
        for server in Server.started:
            server.stop()
