"""redlatch's version of redis-py's lock beside the real one: errors, threads, shared keys, settings of the server."""

from __future__ import annotations

import asyncio
import pickle
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable

import pytest
import redis
import redis.asyncio
import redis.sentinel
from redis.lock import Lock as Theirs

import redlatch
from eventually import until_true
from program import run
from redlatch.compat.redis_clients import FOR_THREADS
from redlatch.compat.redis_py import Lock, LockError, LockNotOwnedError
from servers import Server
from view import View


@pytest.fixture
def theirs(server: Server) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(server.url) as client:
        yield client


def test_redis_py_makes_the_lock_by_its_lock_class(theirs: redis.Redis, view: View, name: str) -> None:
    with theirs.lock(name, timeout=5, lock_class=Lock) as lock:
        assert isinstance(lock, Lock)
        assert view("GET", name) == lock.local.token.decode()
    assert view("EXISTS", name) == 0


@pytest.mark.parametrize(
    ("error", "caught"),
    [
        (LockError, (redis.exceptions.LockError, redlatch.RedlatchError, ValueError)),
        (LockNotOwnedError, (redis.exceptions.LockNotOwnedError, LockError, redis.exceptions.RedisError)),
    ],
)
def test_the_errors_are_redis_pys_errors_too_and_can_be_pickled(
    error: type[LockError], caught: tuple[type, ...]
) -> None:
    assert all(issubclass(error, other) for other in caught)
    copy = pickle.loads(pickle.dumps(error("gone", "orders", "expired")))
    assert (str(copy), copy.name, copy.lock_name, copy.reason) == ("gone", "orders", "orders", "expired")
    assert error.__name__ in repr(copy)


MAKERS: list[tuple[Callable[..., Any], Callable[..., Any]]] = [(Lock, Theirs), (Theirs, Lock)]


@pytest.mark.parametrize(("mine", "other"), MAKERS, ids=["redlatch first", "redis-py first"])
def test_redlatchs_lock_and_the_real_one_exclude_each_other(
    theirs: redis.Redis, name: str, mine: Any, other: Any
) -> None:
    first, second = mine(theirs, name, timeout=10), other(theirs, name, timeout=10)
    assert first.acquire(blocking=False)
    assert not second.acquire(blocking=False)
    assert second.locked()
    assert (first.owned(), second.owned()) == (True, False)
    assert first.extend(5)
    assert first.reacquire()
    first.release()
    assert second.acquire(blocking=False)
    second.release()


@pytest.mark.parametrize(("mine", "other"), MAKERS, ids=["redlatch first", "redis-py first"])
def test_each_lock_can_use_the_token_of_the_other(theirs: redis.Redis, name: str, mine: Any, other: Any) -> None:
    first, second = mine(theirs, name, timeout=10), other(theirs, name, timeout=10)
    assert first.acquire(blocking=False)
    second.local.token = first.local.token
    assert second.owned()
    assert second.extend(5)
    second.release()
    with pytest.raises(redis.exceptions.LockNotOwnedError):
        first.release()


def test_a_counter_that_both_locks_guard_is_right(theirs: redis.Redis, client: redlatch.Client, name: str) -> None:
    count = [0]

    def work(make: Callable[[], Any]) -> None:
        for _ in range(25):
            with make():
                seen = count[0]
                threading.Event().wait(0.0001)
                count[0] = seen + 1

    makers: list[Callable[[], Any]] = [
        lambda: Lock(theirs, name, sleep=0.001),
        lambda: Lock(client, name, timeout=20, sleep=0.001),
        lambda: Theirs(theirs, name, timeout=20, sleep=0.001),
        lambda: client.get_token_lock(name),
    ]
    with ThreadPoolExecutor(8) as pool:
        for worker in [pool.submit(work, make) for make in makers * 2]:
            worker.result(timeout=60)
    assert count == [200]


def test_a_release_wakes_a_waiter_that_would_sleep_long(
    client: redlatch.Client, stranger: redlatch.Client, view: View, name: str
) -> None:
    first = Lock(client, name)
    assert first.acquire()
    with ThreadPoolExecutor(1) as pool:
        second = Lock(stranger, name, sleep=3600, thread_local=False)
        waiting = pool.submit(second.acquire)
        channel = f"redlatch_token_lock:{{{name}}}"
        until_true(lambda: view("PUBSUB", "NUMSUB", channel) == [channel, 1], "a waiter that listens")
        first.release()
        assert waiting.result(timeout=20) is True
        second.release()


def test_only_the_thread_that_acquired_releases_unless_thread_local_is_false(
    theirs: redis.Redis, thread: ThreadPoolExecutor, name: str
) -> None:
    lock = Lock(theirs, name)
    assert lock.acquire()
    with pytest.raises(LockError, match="not locked"):
        thread.submit(lock.release).result()
    assert thread.submit(lock.owned).result() is False
    lock.release()
    shared = Lock(theirs, name, thread_local=False)
    assert shared.acquire()
    assert thread.submit(shared.owned).result() is True
    thread.submit(shared.release).result()
    assert not shared.locked()


def test_redis_py_clients_of_one_server_share_a_client(server: Server, theirs: redis.Redis) -> None:
    with redis.Redis.from_url(server.url) as another, redis.Redis.from_url(server.url + "/1") as elsewhere:
        assert FOR_THREADS.of(theirs) is FOR_THREADS.of(another)
        assert FOR_THREADS.of(theirs) is not FOR_THREADS.of(elsewhere)


def test_the_lock_uses_the_database_password_and_name_of_the_redis_py_client(name: str) -> None:
    server = Server(password="secret")
    try:
        with redis.Redis(port=server.port, password="secret", db=3, client_name="shop") as theirs, Lock(theirs, name):
            assert theirs.exists(name) == 1
            assert {entry["name"] for entry in theirs.client_list()} == {"shop"}
    finally:
        server.close()


def test_the_lock_uses_the_socket_of_the_redis_py_client(tmp_path: Path) -> None:
    with redis.Redis(unix_socket_path=str(tmp_path / "a b.sock"), db=2) as theirs:
        assert f"unix://{tmp_path}/a b.sock" in repr(FOR_THREADS.of(theirs))


def test_the_lock_uses_the_tls_settings_of_the_redis_py_client(tmp_path: Path) -> None:
    with (
        redis.Redis(host="::1", ssl=True, ssl_ca_certs=str(tmp_path / "ca.pem")) as theirs,
        pytest.raises(redlatch.ConfigError, match=r"ca\.pem"),
    ):
        FOR_THREADS.of(theirs)
    with redis.Redis(host="::1", ssl=True, ssl_cert_reqs="none", ssl_check_hostname=False) as theirs:
        assert "rediss://" in repr(FOR_THREADS.of(theirs))


async def of_asyncio() -> object:
    return redis.asyncio.Redis()


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "text": (lambda: "redis://localhost", "give a redis.Redis"),
    "asyncio": (lambda: asyncio.run(of_asyncio()), "give a redis.Redis"),
    "a replica": (
        lambda: redis.sentinel.Sentinel([("localhost", 1)]).slave_for("shop"),  # type: ignore[no-untyped-call]
        "reads from replicas",
    ),
    "TLS data": (lambda: redis.Redis(ssl=True, ssl_ca_data="x"), "ssl_ca_data"),
    "credentials": (
        lambda: redis.Redis(credential_provider=redis.UsernamePasswordCredentialProvider("a", "b")),
        "credential_provider",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_redis_py_client_whose_settings_are_not_known_is_refused(case: str) -> None:
    make, match = REFUSED[case]
    with pytest.raises(redlatch.UnsupportedError, match=match):
        Lock(make(), "report")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"name": b"\xff"}, "no UTF-8"),
        ({"name": 5}, "must be a str"),
        ({"timeout": -1}, "timeout is -1"),
        ({"timeout": float("nan")}, "timeout is nan"),
        ({"sleep": "soon"}, "sleep is 'soon'"),
        ({"blocking_timeout": float("inf")}, "blocking_timeout is inf"),
    ],
    ids=str,
)
def test_a_lock_with_a_bad_argument_is_refused_when_it_is_made(
    client: redlatch.Client, options: dict[str, Any], match: str
) -> None:
    with pytest.raises(redlatch.ConfigError, match=match):
        Lock(client, **{"name": "report", **options})


def test_bytes_are_a_good_name_as_with_redis_py(client: redlatch.Client, view: View, name: str) -> None:
    with Lock(client, name.encode()):
        assert view("EXISTS", name) == 1


WITHOUT = """
import sys
sys.modules["redis"] = None
import redlatch
from redlatch.compat.redis_py import Lock, LockError, LockNotOwnedError
with redlatch.connect(sys.argv[1]) as client, Lock(client, sys.argv[2], timeout=5) as lock:
    try:
        Lock(client, sys.argv[2]).release()
    except ValueError as e:
        print(type(e) is LockError, e.lock_name == sys.argv[2])
    try:
        Lock("localhost", "report")
    except redlatch.UnsupportedError as e:
        print(e)
"""


def test_the_lock_works_without_redis_py(server: Server, view: View, name: str) -> None:
    ended = run(WITHOUT, server.url, name)
    assert ended.stderr == ""
    assert ended.stdout.startswith("True True\nlocks are not made of 'localhost'")
    assert view("EXISTS", name) == 0
