"""URLs of several servers. The core's tests are about what such servers do, these about what Python passes on."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import redlatch
from eventually import until_true
from servers import Server, free_port


@pytest.fixture
def cluster() -> Iterator[str]:
    """The URL of a cluster of one server."""
    server = Server(more=["--cluster-enabled", "yes", "--cluster-port", str(free_port())])
    try:
        with server.view() as view:
            view("CLUSTER", "ADDSLOTS", *map(str, range(16384)))
            until_true(lambda: "cluster_state:ok" in str(view("CLUSTER", "INFO")), "a cluster that is whole")
        yield f"redis+cluster://127.0.0.1:{server.port}"
    finally:
        server.close()


def test_a_cluster_has_locks_whose_waiters_are_woken(cluster: str, name: str, thread: ThreadPoolExecutor) -> None:
    with redlatch.connect(cluster) as client, redlatch.connect(cluster) as other:
        with client.get_lock(name) as hold:
            hold.ensure()
            waiting = thread.submit(lambda: other.get_lock(name).lock(wait=20).release())
        waiting.result(20)
        with pytest.raises(redlatch.ConfigError, match=r"no \{tag\}"):
            client.get_fenced_lock("a{b").lock()


def test_a_master_among_replicas_is_found(server: Server, name: str) -> None:
    replica = Server(more=["--replicaof", "127.0.0.1", str(server.port)])
    try:
        url = f"redis+replicated://127.0.0.1:{replica.port},127.0.0.1:{server.port}"
        with redlatch.connect(url) as client, client.get_lock(name), server.view() as view:
            assert view("EXISTS", name) == 1
    finally:
        replica.close()


def test_urls_that_name_several_servers_in_a_wrong_way_are_refused() -> None:
    for url, says in [
        ("redis://a,b", "names several servers"),
        ("redis+sentinel://a,b", "names no master"),
        ("redis+cluster://a/3", "the database is 3"),
        ("redis+cluster://a,:1", "names no host|cannot be read"),
        ("redis+ring://a", "has the scheme"),
    ]:
        with pytest.raises(redlatch.ConfigError, match=says):
            redlatch.connect(url)
