"""Bad input and bad servers of MySQL and MariaDB: typed errors that name the remedy, and nothing held."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import pytest

import redlatch
from certificates import certificates
from faces import Face
from mariadb import Mariadb, Site
from redlatch import Tls, aio
from servers import Server

both_connects = pytest.mark.parametrize("connect", [redlatch.connect, aio.connect], ids=["threads", "asyncio"])


@pytest.fixture
def system(site: Site) -> Site:
    return site


#: What such a server does not have, by the word of the error for it.
REFUSED: dict[str, tuple[str, Callable[[Any, str], Any]]] = {
    "fair": ("fair", lambda client, name: client.get_fair_lock(name).lock()),
    "fair, tried": ("fair", lambda client, name: client.get_fair_lock(name).try_lock()),
    "non-reentrant fair": ("non_reentrant_fair", lambda client, name: client.get_non_reentrant_fair_lock(name).lock()),
    "spin": ("spin", lambda client, name: client.get_spin_lock(name).lock()),
    "token": ("token", lambda client, name: client.get_token_lock(name).lock(wait=5)),
    "read": ("read", lambda client, name: client.get_read_write_lock(name).read_lock.lock()),
    "write": ("write", lambda client, name: client.get_read_write_lock(name).write_lock.lock()),
    "a question": ("write", lambda client, name: client.get_read_write_lock(name).write_lock.is_locked()),
    "values": ("multi", lambda client, name: client.get_multi_lock(name, values=["a", "b"]).lock()),
    "a fair member": (
        "fair",
        lambda client, name: client.get_multi_lock(client.get_lock(f"{name}:a"), client.get_fair_lock(name)).lock(),
    ),
    "semaphore": ("semaphore", lambda client, name: client.get_semaphore(name).acquire()),
    "semaphore with permits": ("semaphore", lambda client, name: client.get_semaphore(name, permits=1).acquire()),
    "permits": ("semaphore", lambda client, name: client.get_semaphore(name).try_set_permits(1)),
    "permit semaphore": ("permit_", lambda client, name: client.get_permit_expirable_semaphore(name).acquire()),
    "renewed": ("permit", lambda client, name: client.get_permit_expirable_semaphore(name).acquire(renew=True)),
    "latch": ("latch", lambda client, name: client.get_count_down_latch(name).try_set_count(1)),
    "latch, awaited": ("latch", lambda client, name: client.get_count_down_latch(name).wait()),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_kind_that_the_system_does_not_have_is_told_with_those_that_it_has(
    face: Face, site: Site, name: str, what: str
) -> None:
    kind, use = REFUSED[what]
    client, caller = face.client(site.url), face.caller()
    with pytest.raises(redlatch.UnsupportedError) as told:
        caller(lambda: use(client, name))
    assert f"does not have the kind {kind}" in str(told.value)
    assert "it has plain, non_reentrant, fenced" in str(told.value)
    assert "Redis has all kinds" in str(told.value)
    site.check_empty()


@pytest.mark.parametrize(
    ("login", "reason", "says"),
    [
        ({"password": "wrong-secret"}, "1045", "check the user, the password"),
        ({"user": "stranger"}, "1045", "check the user, the password"),
        ({"password": ""}, "1045", "check the user, the password"),
        ({"schema": "missing"}, "1049", "make that schema, or name another one"),
    ],
    ids=["password", "user", "no password", "schema"],
)
def test_a_login_that_the_server_refuses_is_told_without_the_password(
    face: Face, site: Site, name: str, login: dict[str, str], reason: str, says: str
) -> None:
    client, caller = face.client(site.server.url_of(**login)), face.caller()
    for call in (
        client.ping,
        client.lock(name).lock,
        client.get_fenced_lock(name).try_lock,
        client.lock(name).is_locked,
    ):
        with pytest.raises(redlatch.RefusedError, match=says) as refused:
            caller(call)
        assert refused.value.reason == reason
        assert "secret" not in str(refused.value)


def test_a_port_with_a_server_of_another_kind_is_told(face: Face, server: Server, name: str) -> None:
    caller, times = face.caller(), "?connect_timeout=1&response_timeout=1&retry_for=0"
    for url in (f"mysql://app:x@127.0.0.1:{server.port}/app{times}", f"mysql://app:x@127.0.0.1:1/app{times}"):
        with pytest.raises(redlatch.UnavailableError, match=r"mysql://127\.0\.0\.1"):
            caller(face.client(url).lock(name).lock)


def test_a_client_of_redis_at_the_port_of_mariadb_is_told(face: Face, site: Site, name: str) -> None:
    client = face.client(f"redis://127.0.0.1:{site.server.port}?connect_timeout=1&response_timeout=1&retry_for=0")
    with pytest.raises(redlatch.UnavailableError, match=r"redis://127\.0\.0\.1"):
        face.caller()(client.lock(name).lock)


def test_a_server_that_says_nothing_is_an_error_in_time(face: Face, name: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        client = face.client(f"mysql://app:x@127.0.0.1:{port}/app?retry_for=0", connect_timeout=0.5)
        begun = time.monotonic()
        with pytest.raises(redlatch.UnavailableError, match=r"did not let the client in within 500ms"):
            face.caller()(client.lock(name).lock)
        assert time.monotonic() - begun < 3


SERVER = "mysql://app:hidden@127.0.0.1:1/app"


@both_connects
@pytest.mark.parametrize(
    ("url", "options", "says"),
    [
        ("mysql://127.0.0.1/app", {}, "has no user to log in as; write mysql://user:password@host"),
        (SERVER, {"sync": redlatch.Wait(1)}, "the option sync, which is for Redis; leave it out"),
        (SERVER, {"quarantine": True}, "the option quarantine, which is for Redis; leave it out"),
        (SERVER, {"client_name": "till-4"}, "the option client_name, which is for Redis; leave it out"),
        (f"{SERVER}?database=3", {}, "the option database, which is for Redis; leave it out"),
        (f"{SERVER}?fair_wait=3", {}, "the option fair_wait, which is for Redis; leave it out"),
        (f"{SERVER}?sharded=on", {}, "leave the option sharded out"),
        (f"{SERVER}?waiters=0", {}, "from 1 to 10000; leave it out for 8"),
        (f"{SERVER}?charset=utf8", {}, "the option `charset` does not exist; there are .*waiters"),
        (SERVER, {"watchdog": 0.01}, "watchdog .* from 0.1"),
        (f"{SERVER}/more", {}, "more behind its host than the name of a schema"),
        ("mysql://app:hidden@one,two/app", {}, "several servers; name the primary"),
        ("mysql+cluster://app:hidden@one/app", {}, "write .*mysql://user@host/schema"),
        ("postgresql://app:hidden@one/app", {}, "write .*mysql://user@host/schema"),
        (SERVER, {"tls": Tls()}, "no redlatch.Tls applies; write mysqls://"),
        (SERVER.replace("mysql", "mariadb"), {"tls": Tls()}, "no redlatch.Tls applies; write mariadbs://"),
        (SERVER, {"tls": Tls(verify="none")}, "no tls option applies; write mysqls://"),
        (f"{SERVER}?tls_verify=none", {}, "no tls option applies; write mysqls://"),
        (SERVER, {"tls": True}, "give a redlatch.Tls, and rediss://, mysqls:// or zookeepers:// in the URL"),
    ],
)
def test_an_option_or_an_address_that_does_not_fit_is_refused_by_connect_with_the_remedy(
    connect: Any, url: str, options: dict[str, Any], says: str
) -> None:
    with pytest.raises(redlatch.ConfigError, match=says) as refused:
        connect(url, **options)
    assert "hidden" not in str(refused.value)


def test_the_repr_of_a_client_names_its_server_without_the_login() -> None:
    with redlatch.connect("mysql://app:hidden@localhost/shop") as client:
        assert repr(client) == f"<redlatch.Client {client.id} of mysql://localhost:3306>"


def test_the_options_of_connect_count(face: Face, site: Site, name: str) -> None:
    url = f"mariadb://127.0.0.1:{site.server.port}/missing?schema=app"
    client = face.client(url, username="app", password="secret", prefix="shop:", watchdog=2.5)
    with face.caller().inside(client.get_fenced_lock(name)) as hold:
        assert hold.token == 1
        assert 0 < hold.remaining <= 2.5
        assert site.sql.held() == [f"shop:{name}"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certificates(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def tls_server(files: Path) -> Iterator[Mariadb]:
    server = Mariadb([f"--ssl-cert={files / 'host.pem'}", f"--ssl-key={files / 'host.key'}"])
    yield server
    server.close()


def test_a_lock_works_over_tls(tls_server: Mariadb, files: Path, name: str) -> None:
    port = tls_server.port
    ca = files / "ca.pem"
    for scheme in ("mysqls", "mariadbs"):
        url = f"{scheme}://secured:secret@localhost:{port}/app"
        with redlatch.connect(url, tls=Tls(ca=ca)) as client, client.lock(name) as hold:
            hold.ensure()
        with redlatch.connect(f"{url}?tls_ca={ca}") as client, client.lock(name) as hold:
            hold.ensure()
        with redlatch.connect(url, tls=Tls(verify="none")) as client, client.lock(name) as hold:
            hold.ensure()
    # Without TLS this user is not let in.
    unsecured = f"mysql://secured:secret@localhost:{port}/app"
    with redlatch.connect(unsecured) as client, pytest.raises(redlatch.RefusedError, match="password and its rights"):
        client.lock(name).lock()


def test_a_server_that_cannot_prove_its_identity_is_not_used(tls_server: Mariadb, files: Path, name: str) -> None:
    cases = [
        ("localhost", Tls(), "no trusted authority .* tls_ca"),
        ("localhost", Tls(ca=files / "other.pem"), "no trusted authority .* tls_ca"),
        ("127.0.0.1", Tls(ca=files / "ca.pem"), "another host .* tls_verify=ca"),
    ]
    for host, tls, says in cases:
        url = f"mysqls://app:secret@{host}:{tls_server.port}/app?retry_for=0"
        with redlatch.connect(url, tls=tls) as client, pytest.raises(redlatch.UnavailableError, match=says):
            client.lock(name).lock()


def test_a_server_without_tls_is_told_with_the_remedy(face: Face, site: Site, name: str) -> None:
    client = face.client(f"mysqls://app:secret@127.0.0.1:{site.server.port}/app", tls=Tls(verify="none"))
    with pytest.raises(redlatch.UnsupportedError, match="has no TLS; write mysql://, or give it a certificate"):
        face.caller()(client.lock(name).lock)
