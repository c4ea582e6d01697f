"""The servers that the demo runs on: those that `ENGINE` or `TOPOLOGY` name, or a running Redis, at `REDLATCH_URL`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from database import OneMariadb
from failover import Cluster, Sentinel
from server import Server
from topology import Given, RedLock, Single, Topology

KINDS: dict[str, Callable[[Path], Topology]] = {
    "single": Single,
    "sentinel": Sentinel,
    "cluster": Cluster,
    "redlock": RedLock,
}
ENGINES = ("redis", "mysql")


@contextmanager
def topology(folder: Path) -> Iterator[Topology]:
    """Servers that run while the `with` block runs."""
    given, kind = os.environ.get("REDLATCH_URL"), os.environ.get("TOPOLOGY") or "single"
    engine = os.environ.get("ENGINE") or "redis"
    if kind not in KINDS:
        raise SystemExit(f"there is no TOPOLOGY={kind}; there are {', '.join(KINDS)}")
    if engine not in ENGINES:
        raise SystemExit(f"there is no ENGINE={engine}; there are {', '.join(ENGINES)}")
    if engine != "redis":
        if given or kind != "single":
            raise SystemExit(f"ENGINE={engine} has one server of its own; leave TOPOLOGY and REDLATCH_URL out")
        kind = engine
    if given:
        yield Given(given)
        return
    try:
        yield OneMariadb(folder) if kind == "mysql" else KINDS[kind](folder)
    finally:
        for server in Server.started:
            server.stop()
