"""How `connect` finds the server, and how a client describes itself."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

import redlatch
from eventually import until_true
from servers import Server
from view import View


def test_the_environment_names_the_server(monkeypatch: pytest.MonkeyPatch, server: Server) -> None:
    monkeypatch.setenv("REDIS_URL", server.url)
    monkeypatch.delenv("REDLATCH_URL", raising=False)
    with redlatch.connect() as client:
        client.ping()
    monkeypatch.setenv("REDLATCH_URL", server.url)
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1")
    with redlatch.connect() as client:
        client.ping()


def test_a_given_url_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch, server: Server) -> None:
    monkeypatch.setenv("REDLATCH_URL", "redis://127.0.0.1:1")
    with redlatch.connect(server.url) as client:
        client.ping()


def test_a_bad_url_in_the_environment_is_a_config_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDLATCH_URL", "localhost:6379")
    with pytest.raises(redlatch.ConfigError, match="localhost:6379"):
        redlatch.connect()


def test_the_database_of_the_url_is_used(server: Server, view: View, name: str) -> None:
    with redlatch.connect(f"{server.url}/3") as client, client.get_lock(name):
        assert view("EXISTS", name) == 0
        view("SELECT", "3")
        assert view("EXISTS", name) == 1


def test_the_client_name_is_in_the_servers_list(server: Server, view: View) -> None:
    with redlatch.connect(server.url, client_name="till-4") as client:
        client.ping()
        assert "name=till-4 " in str(view("CLIENT", "LIST"))
    until_true(lambda: "name=till-4 " not in str(view("CLIENT", "LIST")), "connections that are closed")


def test_a_unix_socket_is_a_way_to_the_server(tmp_path: Path, name: str) -> None:
    server = Server(more=["--unixsocket", str(tmp_path / "redis sock")])
    try:
        url = f"unix://{quote(str(tmp_path / 'redis sock'))}"
        with redlatch.connect(url) as client, client.get_lock(name), server.view() as view:
            assert view("EXISTS", name) == 1
    finally:
        server.close()


def test_a_client_that_runs_takes_another_password(name: str) -> None:
    server = Server()
    try:
        with server.view() as view:
            view("ACL", "SETUSER", "shop", "on", ">one", "~*", "&*", "+@all")
            with redlatch.connect(f"redis://shop:one@127.0.0.1:{server.port}") as client, client.get_lock(name) as hold:
                view("ACL", "SETUSER", "shop", "resetpass", ">two")
                view("CLIENT", "KILL", "USER", "shop")
                with pytest.raises(redlatch.RefusedError, match="WRONGPASS"):
                    client.ping()
                client.set_credentials("two", "shop")
                client.ping()
                hold.ensure()
    finally:
        server.close()


def test_the_repr_of_a_client_names_its_server_without_the_password() -> None:
    client = redlatch.connect("redis://user:secret@localhost:6380")
    assert repr(client) == f"<redlatch.Client {client.id} of redis://localhost:6380>"
    assert client.get_lock("orders").client is client
    assert "'orders'" in repr(client.get_lock("orders"))
    client.close()
    assert repr(client).endswith(", closed>")


def test_clients_have_ids_of_their_own() -> None:
    assert len({redlatch.connect("redis://localhost").id for _ in range(10)}) == 10
