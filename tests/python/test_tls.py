"""Locks over TLS, and the errors of a TLS connection that fails."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import redlatch
from certificates import certificates
from redlatch import Tls
from servers import Server


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certificates(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def tls_server(files: Path) -> Iterator[Server]:
    server = Server(tls=(files / "host.pem", files / "host.key"))
    yield server
    server.close()


def connect(host: str, server: Server, tls: Tls | None) -> redlatch.Client:
    return redlatch.connect(f"rediss://{host}:{server.tls_port}?retry_for=1", response_timeout=1, tls=tls)


@pytest.mark.parametrize("trust", [("localhost", "full"), ("127.0.0.1", "ca"), ("127.0.0.1", "none")], ids=str)
def test_a_lock_works_over_tls(tls_server: Server, files: Path, name: str, trust: tuple[str, Any]) -> None:
    host, verify = trust
    tls = Tls(ca=None if verify == "none" else files / "ca.pem", verify=verify)
    with connect(host, tls_server, tls) as client, client.get_lock(name) as hold:
        hold.ensure()
        client.ping()


def test_files_of_tls_may_stand_in_the_url(tls_server: Server, files: Path, name: str) -> None:
    url = f"rediss://localhost:{tls_server.tls_port}?tls_ca={files / 'ca.pem'}"
    with redlatch.connect(url) as client, client.get_lock(name):
        pass


def test_a_server_that_cannot_prove_its_identity_is_not_used(tls_server: Server, files: Path, name: str) -> None:
    cases = [
        ("localhost", None, "no trusted authority .* tls_ca"),
        ("localhost", Tls(ca=files / "other.pem"), "no trusted authority .* tls_ca"),
        ("localhost", Tls(ca=files / "other.pem", verify="ca"), "no trusted authority .* tls_ca"),
        ("127.0.0.1", Tls(ca=files / "ca.pem"), "another host .* tls_verify=ca"),
    ]
    for host, tls, said in cases:
        with connect(host, tls_server, tls) as client:
            for call in (client.get_lock(name).lock, client.ping):
                with pytest.raises(redlatch.UnavailableError, match=said):
                    call()


def test_the_error_of_a_port_with_the_wrong_protocol_names_the_right_url(tls_server: Server, name: str) -> None:
    times = "?response_timeout=0.5&retry_for=0.5"
    for url, said in (
        (f"rediss://localhost:{tls_server.port}", "redis://"),
        (f"redis://localhost:{tls_server.tls_port}", "rediss://"),
    ):
        with redlatch.connect(url + times) as client, pytest.raises(redlatch.UnavailableError, match=f"TLS.* {said}"):
            client.get_lock(name).lock()


def test_tls_that_cannot_be_used_is_refused_by_connect(files: Path) -> None:
    bad: list[tuple[str, Any, str]] = [
        ("rediss://h", True, "redlatch.Tls"),
        ("rediss://h", Tls(ca="/no/such/file"), "/no/such/file"),
        ("rediss://h", Tls(ca=files / "ca.key"), "certificate"),
        ("rediss://h", Tls(cert=files / "host.pem"), "tls_key"),
        ("rediss://h", Tls(verify="maybe"), "maybe"),  # type: ignore[arg-type]
        ("redis://h", Tls(ca=files / "ca.pem"), "rediss://"),
    ]
    for url, tls, said in bad:
        with pytest.raises(redlatch.ConfigError, match=said):
            redlatch.connect(url, tls=tls)
