"""Bad input and bad servers of ZooKeeper: typed errors that name the remedy, and nothing held."""

from __future__ import annotations

import logging
import math
import socket
import time
from typing import Any, Callable

import pytest
from kazoo.security import make_acl

import redlatch
from eventually import until_true
from faces import Face
from redlatch import Tls, aio
from servers import Server
from zookeeper import Tree, Zookeeper

both_connects = pytest.mark.parametrize("connect", [redlatch.connect, aio.connect], ids=["threads", "asyncio"])


@pytest.fixture
def system(tree: Tree) -> Tree:
    return tree


#: What such a server does not have, by the word of the error for it.
REFUSED: dict[str, tuple[str, Callable[[Any, str], Any]]] = {
    "spin": ("spin", lambda client, name: client.get_spin_lock(name).lock()),
    "spin, tried": ("spin", lambda client, name: client.get_spin_lock(name).try_lock()),
    "token": ("token", lambda client, name: client.get_token_lock(name).lock(wait=5)),
    "a question": ("token", lambda client, name: client.get_token_lock(name).is_locked()),
    "values": ("multi", lambda client, name: client.get_multi_lock(name, values=["a", "b"]).lock()),
    "a spin lock as a member": (
        "spin",
        lambda client, name: client.get_multi_lock(client.get_lock(f"{name}:a"), client.get_spin_lock(name)).lock(),
    ),
    "semaphore": ("semaphore", lambda client, name: client.get_semaphore(name).acquire()),
    "permits": ("semaphore", lambda client, name: client.get_semaphore(name).try_set_permits(1)),
    "latch": ("latch", lambda client, name: client.get_count_down_latch(name).try_set_count(1)),
    "latch, awaited": ("latch", lambda client, name: client.get_count_down_latch(name).wait()),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_kind_that_the_system_does_not_have_is_told_with_those_that_it_has(
    face: Face, tree: Tree, name: str, what: str
) -> None:
    kind, use = REFUSED[what]
    client, caller = face.client(tree.url), face.caller()
    with pytest.raises(redlatch.UnsupportedError) as told:
        caller(lambda: use(client, name))
    assert f"ZooKeeper does not have the kind {kind}" in str(told.value)
    assert "it has plain, non_reentrant, fenced, fair, non_reentrant_fair, read, write, permit" in str(told.value)
    assert "Redis has all kinds" in str(told.value)
    tree.check_empty()


def test_a_port_with_a_server_of_another_kind_is_told(face: Face, server: Server, name: str) -> None:
    caller, times = face.caller(), "?connect_timeout=1&response_timeout=1&retry_for=0"
    for port in (server.port, 1):
        with pytest.raises(redlatch.UnavailableError, match=r"zookeeper://127\.0\.0\.1"):
            caller(face.client(f"zookeeper://127.0.0.1:{port}{times}").lock(name).lock)


@pytest.mark.parametrize("url", ["redis://127.0.0.1", "mysql://app:x@127.0.0.1"], ids=["redis", "mysql"])
def test_a_client_of_another_system_at_the_port_of_zookeeper_is_told(
    face: Face, zookeeper: Zookeeper, name: str, url: str
) -> None:
    client = face.client(f"{url}:{zookeeper.port}?connect_timeout=1&response_timeout=1&retry_for=0")
    with pytest.raises(redlatch.UnavailableError, match=r"://127\.0\.0\.1"):
        face.caller()(client.lock(name).lock)


def test_a_server_that_says_nothing_is_an_error_in_time(face: Face, name: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        client = face.client(f"zookeeper://127.0.0.1:{port}?retry_for=0", connect_timeout=0.5)
        begun = time.monotonic()
        with pytest.raises(redlatch.UnavailableError, match=r"did not let the client in within 500ms"):
            face.caller()(client.lock(name).lock)
        assert time.monotonic() - begun < 3


def test_a_second_server_of_the_url_is_used_if_the_first_is_away(face: Face, tree: Tree, name: str) -> None:
    client = face.client(f"zookeeper://127.0.0.1:1,127.0.0.1:{tree.server.port}")
    with face.caller().inside(client.lock(name)) as hold:
        hold.ensure()


@pytest.mark.parametrize("name", ["redlatch-session", "redlatch-session/below"])
def test_a_lock_below_a_node_of_a_session_is_refused_with_a_sentence(face: Face, tree: Tree, name: str) -> None:
    tree.kazoo.create("/redlatch-session", ephemeral=True)
    with pytest.raises(redlatch.RefusedError, match="another name"):
        face.caller()(face.client(tree.url).lock(name).try_lock)
    tree.kazoo.delete("/redlatch-session")


def test_a_node_that_the_server_does_not_delete_is_named_in_the_log(
    tree: Tree, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    tree.kazoo.create("/kept", acl=[make_acl("world", "anyone", read=True, create=True)])
    try:
        with redlatch.connect(tree.url) as client, caplog.at_level(logging.WARNING):
            hold = client.lock("kept").lock()
            with pytest.raises(redlatch.RefusedError, match="ends with the session"):
                hold.release()
            until_true(lambda: "the server does not delete the node `/kept/_c_" in caplog.text, "the warning")
    finally:
        tree.kazoo.delete("/kept")


SERVER = "zookeeper://app:hidden@127.0.0.1:1/app"


@both_connects
@pytest.mark.parametrize(
    ("url", "options", "says"),
    [
        (SERVER, {"sync": redlatch.Wait(1)}, "the option sync, which is for Redis; leave it out"),
        (SERVER, {"quarantine": True}, "the option quarantine, which is for Redis; leave it out"),
        (SERVER, {"client_name": "till-4"}, "the option client_name, which is for Redis; leave it out"),
        (f"{SERVER}?schema=app", {}, "the option schema, which is for MySQL and MariaDB; leave it out"),
        (f"{SERVER}?waiters=3", {}, "the option waiters, which is for MySQL and MariaDB; leave it out"),
        (f"{SERVER}?node_format=java", {}, "the node_format `java`"),
        (f"{SERVER}?timeout=3", {}, "the option `timeout` does not exist; there are .*node_format"),
        (SERVER, {"watchdog": 0.01}, "watchdog .* from 0.1"),
        *((SERVER, {"watchdog": wrong}, r"from 0\.1 to 31536000 \(a year\)") for wrong in (0, -1, math.nan, math.inf)),
        (SERVER, {"connect_timeout": 0}, r"connect_timeout is 0 s, it must be from 0\.001 to 31536000 \(a year\)"),
        ("zookeeper://one/app", {"password": "hidden"}, "the password has no user"),
        ("zookeeper://one/app", {"username": "app"}, "the user has no password"),
        ("mysql://app:hidden@one/app?node_format=kazoo", {}, "the option node_format, which is for ZooKeeper"),
        ("zookeeper://one/a/../b", {}, "a path behind its hosts that no node of ZooKeeper can have"),
        (f"{SERVER}//more", {}, "a path behind its hosts that no node of ZooKeeper can have"),
        ("zookeeper://app:hidden@one,two:0/app", {}, "has port 0"),
        ("zookeeper://app@one/app", {}, "has no password"),
        ("zookeeper+cluster://app:hidden@one/app", {}, "write .*zookeeper://host1,host2/chroot"),
        (SERVER, {"tls": Tls()}, "no redlatch.Tls applies; write zookeepers://"),
        (SERVER, {"tls": Tls(verify="none")}, "no tls option applies; write zookeepers://"),
        (SERVER, {"tls": True}, "give a redlatch.Tls, and rediss://, mysqls:// or zookeepers:// in the URL"),
    ],
)
def test_an_option_or_an_address_that_does_not_fit_is_refused_by_connect_with_the_remedy(
    connect: Any, url: str, options: dict[str, Any], says: str
) -> None:
    with pytest.raises(redlatch.ConfigError, match=says) as refused:
        connect(url, **options)
    assert "hidden" not in str(refused.value)


def test_the_repr_of_a_client_names_its_servers_without_the_login() -> None:
    with redlatch.connect("zookeeper://app:hidden@one,two:2182/shop") as client:
        assert repr(client) == f"<redlatch.Client {client.id} of zookeeper://one:2181,two:2182/shop>"
