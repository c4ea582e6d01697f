"""The servers that the demo runs on: the servers that `TOPOLOGY` names, or a running one, at `REDLATCH_URL`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from failover import Cluster, Sentinel
from server import Server
from topology import Given, RedLock, Single, Topology

KINDS: dict[str, Callable[[Path], Topology]] = {
    "single": Single,
    "sentinel": Sentinel,
    "cluster": Cluster,
    "redlock": RedLock,
}


@contextmanager
def topology(folder: Path) -> Iterator[Topology]:
    """Servers that run while the `with` block runs."""
    given, kind = os.environ.get("REDLATCH_URL"), os.environ.get("TOPOLOGY") or "single"
    if kind not in KINDS:
        raise SystemExit(f"there is no TOPOLOGY={kind}; there are {', '.join(KINDS)}")
    if given:
        yield Given(given)
        return
    try:
        yield KINDS[kind](folder)
    finally:
        for server in Server.started:
            server.stop()
