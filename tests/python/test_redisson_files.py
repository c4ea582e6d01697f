"""Configuration files of Redisson. The core's tests are about the meaning of each setting."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest

import redlatch
from certificates import MAKE
from servers import Server
from view import View

FILES = Path(__file__).parent.parent / "redisson"


@pytest.fixture
def file(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that names the test's server."""
    monkeypatch.setenv("REDLATCH_TEST_PORT", str(server.port))
    path = tmp_path / "redisson.yaml"
    path.write_text(
        "singleServerConfig:\n"
        '  address: "redis://${REDLATCH_TEST_HOST:-127.0.0.1}:${REDLATCH_TEST_PORT}"\n'
        "  clientName: till-9\n  database: 3\n  connectionPoolSize: 64\n"
        "lockWatchdogTimeout: 7000\nthreads: 16\ncodec: !<org.redisson.codec.Kryo5Codec> {}\n"
    )
    return path


def test_a_file_of_redisson_names_the_server_and_its_settings(file: Path, view: View, name: str) -> None:
    with redlatch.connect(config=file) as client, client.get_lock(name) as hold:
        assert 5 < hold.remaining <= 7
        assert "name=till-9 " in str(view("CLIENT", "LIST"))
        view("SELECT", "3")
        assert view("EXISTS", name) == 1
    with redlatch.connect(config=str(file), watchdog=20) as client, client.get_lock(name) as hold:
        assert 10 < hold.remaining <= 20, "an argument replaces the setting of the file"


def test_a_client_for_asyncio_reads_the_file_as_well(file: Path, name: str) -> None:
    async def use() -> None:
        async with redlatch.aio.connect(config=file) as client, client.get_lock(name) as hold:
            assert hold.remaining <= 7

    asyncio.run(use())


@pytest.mark.parametrize(
    ("file", "server"),
    [
        ("single.yaml", "redis://127.0.0.1:6379"),
        ("cluster.yaml", "redis+cluster://127.0.0.1:7004,127.0.0.1:7001,[::1]:7000"),
        ("sentinel.yaml", "rediss+sentinel://one.example:26379,two.example:26379/orders"),
        ("replicated.json", "rediss+replicated://one.example:6380,two.example:6380"),
        ("master-slave.yaml", "unix:///run/redis/master.sock"),
    ],
)
def test_a_client_names_the_servers_of_every_mode_of_a_file(file: str, server: str) -> None:
    assert repr(redlatch.connect(config=FILES / file)).endswith(f"of {server}>")


def test_a_setting_that_cannot_be_used_is_a_config_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "redisson.yaml"
    for text, says in [
        ("nameMapper: !<com.example.Ours> {}", r"redisson.yaml.*nameMapper is a `com.example.Ours`.*prefix"),
        ("lockWatchdogTimeout: soon", r"lockWatchdogTimeout is `soon`"),
        ("\tthreads: 4", r"line \d"),
    ]:
        path.write_text(f"singleServerConfig: {{address: 'redis://h'}}\n{text}\n")
        with pytest.raises(redlatch.ConfigError, match=says):
            redlatch.connect(config=path)
    with pytest.raises(redlatch.ConfigError, match="both name servers"):
        redlatch.connect("redis://h", config=path)


def test_a_key_store_of_java_is_refused_unless_pem_takes_its_place(tmp_path: Path) -> None:
    store = tmp_path / "trust.p12"
    path = tmp_path / "redisson.yaml"
    store.write_bytes(b"\x30\x82\x01\x00")
    path.write_text(f"singleServerConfig: {{address: 'rediss://h'}}\nsslTruststore: file:{store}\n")
    with pytest.raises(redlatch.ConfigError, match=r"trust.p12.*PKCS12.*PEM.*tls_ca"):
        redlatch.connect(config=path)
    ca = tmp_path / "ca.pem"
    words = [*MAKE.split(), "-subj", "/CN=ca", "-out", str(ca), "-keyout", str(tmp_path / "ca.key")]
    subprocess.run(words, check=True, capture_output=True)
    redlatch.connect(config=path, tls=redlatch.Tls(ca=ca))
