"""Clients of redlatch with the settings of redis-py's clients, against real servers of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import pytest
import redis
import redis.asyncio
import redis.asyncio.sentinel
import redis.cluster
import redis.sentinel

import redlatch
from certificates import certificates
from eventually import until_true
from program import run
from redlatch import aio
from redlatch.redis_settings import settings
from servers import Server, free_port


@pytest.fixture(scope="module")
def secured() -> Iterator[Server]:
    """A server that wants a password."""
    server = Server(password="secret & more")
    yield server
    server.close()


@pytest.fixture
def cluster() -> Iterator[Server]:
    """A cluster of one server."""
    server = Server(more=["--cluster-enabled", "yes", "--cluster-port", str(free_port())])
    with server.view() as view:
        view("CLUSTER", "ADDSLOTS", *map(str, range(16384)))
        until_true(lambda: "cluster_state:ok" in str(view("CLUSTER", "INFO")), "a cluster that is whole")
    yield server
    server.close()


class Watcher(Server):
    """A sentinel of one master."""

    def __init__(self, master: Server) -> None:
        self._master = master
        super().__init__()

    def _command(self) -> list[str]:
        file = self.home / "sentinel.conf"
        file.write_text(
            f"port {self.port}\nbind 127.0.0.1\nsentinel monitor shop 127.0.0.1 {self._master.port} 1\n"
            f'sentinel auth-pass shop "{self._master.password}"\n'
        )
        return ["redis-server", str(file), "--sentinel"]


@pytest.fixture
def watcher(secured: Server) -> Iterator[Watcher]:
    server = Watcher(secured)
    yield server
    server.close()


def locks(theirs: redis.Redis | redis.RedisCluster, client: redlatch.Client, name: str) -> None:
    """Fails unless a lock of our client is a key where their client looks."""
    with client, client.lock(name):
        assert theirs.exists(name) == 1
    assert theirs.exists(name) == 0


def test_the_login_the_database_and_the_name_are_taken_over(secured: Server, name: str) -> None:
    with redis.Redis(port=secured.port, password="secret & more", db=3, client_name="shop") as theirs:
        locks(theirs, redlatch.from_redis(theirs), name)
        with redlatch.from_redis(theirs) as client:
            client.ping()
            assert {entry["name"] for entry in theirs.client_list()} == {"shop"}
        theirs.ping()  # its connections are its own


def test_options_of_redlatch_come_on_top(secured: Server, name: str) -> None:
    with redis.Redis(port=secured.port, password="secret & more") as theirs:
        with redlatch.from_redis(theirs, prefix="app:", watchdog=5) as client, client.lock(name) as hold:
            assert hold.remaining <= 5
            assert theirs.exists(f"app:{name}") == 1
        with pytest.raises(redlatch.ConfigError, match="watchdog"):
            redlatch.from_redis(theirs, watchdog=-1)


async def test_a_client_for_asyncio_gives_its_settings_too(secured: Server, name: str) -> None:
    theirs = redis.asyncio.Redis(port=secured.port, password="secret & more")
    async with aio.from_redis(theirs) as client, client.lock(name):
        assert await theirs.exists(name) == 1
    await theirs.aclose()


def test_the_order_in_which_redis_py_asks_its_nodes_makes_no_other_client(cluster: Server) -> None:
    with redis.RedisCluster(host="127.0.0.1", port=cluster.port) as theirs:
        nodes = theirs.nodes_manager.startup_nodes
        other: Any = redis.cluster.ClusterNode
        nodes.update({"localhost:7": other("localhost", 7)})
        before = settings(theirs)
        theirs.nodes_manager.startup_nodes = dict(reversed(nodes.items()))
        assert settings(theirs) == before


def test_a_cluster_is_taken_over(cluster: Server, name: str) -> None:
    with redis.RedisCluster(host="127.0.0.1", port=cluster.port) as theirs:
        locks(theirs, redlatch.from_redis(theirs), name)


async def test_a_cluster_of_asyncio_is_taken_over(cluster: Server, name: str) -> None:
    async with (
        redis.asyncio.RedisCluster(host="127.0.0.1", port=cluster.port) as theirs,
        aio.from_redis(theirs) as client,
        client.lock(name),
    ):
        assert await theirs.exists(name) == 1


def test_the_master_of_sentinels_is_taken_over(watcher: Watcher, name: str) -> None:
    sentinel = redis.sentinel.Sentinel([("127.0.0.1", watcher.port)], password="secret & more")  # type: ignore[no-untyped-call]
    theirs = sentinel.master_for("shop", db=2)  # type: ignore[no-untyped-call]
    client = redlatch.from_redis(theirs)
    assert "redis+sentinel://" in repr(client)
    locks(theirs, client, name)


async def test_the_master_of_sentinels_of_asyncio_is_taken_over(watcher: Watcher, name: str) -> None:
    sentinel = redis.asyncio.sentinel.Sentinel([("127.0.0.1", watcher.port)], password="secret & more")  # type: ignore[no-untyped-call]
    theirs = sentinel.master_for("shop")
    async with aio.from_redis(theirs) as client, client.lock(name):
        assert await theirs.exists(name) == 1
    for one in (theirs, *sentinel.sentinels):
        await one.aclose()


def test_tls_is_taken_over(tmp_path: Path, name: str) -> None:
    files = certificates(tmp_path)
    server = Server(tls=(files / "host.pem", files / "host.key"))
    try:
        with redis.Redis(
            host="localhost", port=server.tls_port, ssl=True, ssl_ca_certs=str(files / "ca.pem")
        ) as theirs:
            locks(theirs, redlatch.from_redis(theirs), name)
    finally:
        server.close()


def sentinels(**options: Any) -> Any:
    addresses = [("one", 26379), ("::2", 26380)]
    return redis.sentinel.Sentinel(addresses, **options).master_for("a shop", db=2)  # type: ignore[no-untyped-call]


URLS: dict[str, tuple[Callable[[], Any], str]] = {
    "a socket": (lambda: redis.Redis(unix_socket_path="/run/a b.sock", db=2), "unix:///run/a%20b.sock?db=2"),
    "IPv6": (lambda: redis.Redis(host="::1", port=1), "redis://[::1]:1/0"),
    "TLS": (lambda: redis.Redis(host="h", ssl=True), "rediss://h:6379/0"),
    "sentinels": (sentinels, "redis+sentinel://one:26379,[::2]:26380/a%20shop/2"),
    "a login at sentinels": (
        lambda: sentinels(sentinel_kwargs={"username": "u", "password": "p&q"}),
        "redis+sentinel://one:26379,[::2]:26380/a%20shop/2?sentinel_username=u&sentinel_password=p%26q",
    ),
    "sentinels with TLS": (
        lambda: sentinels(ssl=True, sentinel_kwargs={"ssl": True}),
        "rediss+sentinel://one:26379,[::2]:26380/a%20shop/2",
    ),
}


@pytest.mark.parametrize("case", URLS)
def test_the_url_names_the_same_servers(case: str) -> None:
    make, url = URLS[case]
    assert settings(make()).url == url
    redlatch.from_redis(make()).close()


class OwnConnection(redis.Connection):
    pass


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "text": (lambda: "redis://localhost", "taken over from a str"),
    "nothing": (lambda: None, "None"),
    "a replica": (
        lambda: redis.sentinel.Sentinel([("h", 1)]).slave_for("shop"),  # type: ignore[no-untyped-call]
        "reads from replicas of 'shop'",
    ),
    "a mixture": (lambda: sentinels(ssl=True, sentinel_kwargs={}), "either to its sentinels or to their master"),
    "TLS that differs": (
        lambda: sentinels(ssl=True, ssl_ca_certs="a", sentinel_kwargs={"ssl": True}),
        "which differ from those of their master",
    ),
    "TLS data": (lambda: redis.Redis(ssl=True, ssl_ca_data="x"), "ssl_ca_data"),
    "a provider": (
        lambda: redis.Redis(credential_provider=redis.UsernamePasswordCredentialProvider("a", "b")),
        "credential_provider",
    ),
    "a connection class": (
        lambda: redis.Redis(connection_pool=redis.ConnectionPool(connection_class=OwnConnection)),
        "OwnConnection",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_settings_that_cannot_be_taken_over_are_refused_with_a_remedy(case: str) -> None:
    make, match = REFUSED[case]
    for from_redis in (redlatch.from_redis, aio.from_redis):
        with pytest.raises(redlatch.UnsupportedError, match=match) as refused:
            from_redis(make())
        assert "give" in str(refused.value) or "call redlatch.connect with a URL" in str(refused.value)


def test_without_redis_py_nothing_is_imported_and_the_error_is_the_same() -> None:
    program = """
import sys, redlatch
print("redis" in sys.modules)
sys.modules["redis"] = None
try:
    redlatch.from_redis(object())
except redlatch.UnsupportedError as error:
    print(error)
"""
    ended = run(program)
    assert ended.stderr == ""
    assert ended.stdout.startswith("False\nsettings are not taken over from")
