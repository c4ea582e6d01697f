"""The cases of python-redis-lock's own tests, with redlatch's `Lock`, and with both locks beside each other."""

from __future__ import annotations

import functools
import inspect
import pickle
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis
import redis_lock

import redlatch
from eventually import until_true
from program import run
from redlatch.compat import python_redis_lock as compat
from redlatch.compat.python_redis_lock import Lock, NotAcquired, reset_all
from servers import Server
from view import View

Theirs: Any = redis_lock.Lock


@pytest.fixture(params=[False, True], ids=["bytes", "text"])
def of(request: pytest.FixtureRequest, server: Server) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(server.url, decode_responses=request.param) as client:
        yield client


def waits(lock: Any, view: View) -> bool:
    """Whether an acquire of the lock object waits. Of python-redis-lock's: whether one client of the server blocks."""
    if isinstance(lock, Lock):
        return lock._client.stats().waiting == 1
    return "blocked_clients:1\r" in str(view("INFO", "clients"))


def ms(view: View, name: str) -> int:
    return int(str(view("PTTL", f"lock:{name}")))


def test_it_has_the_arguments_of_python_redis_locks_lock() -> None:
    for method in ("__init__", "acquire", "release", "extend", "locked", "get_owner_id", "reset"):
        ours, theirs = (inspect.signature(getattr(of, method)).parameters.values() for of in (Lock, Theirs))
        assert [(one.name, one.default) for one in ours] == [(one.name, one.default) for one in theirs], method


def test_a_block_has_the_lock_and_the_key_has_its_id(of: redis.Redis, view: View, name: str) -> None:
    lock = Lock(of, name)
    assert (lock.get_owner_id(), lock.locked()) == (None, False)
    with lock as same:
        assert same is lock
        assert view("GET", f"lock:{name}") == lock.id == lock.get_owner_id()
        assert lock.locked()
        assert Lock(of, name).get_owner_id() == lock.id
    assert (lock.get_owner_id(), lock.locked(), view("EXISTS", f"lock:{name}")) == (None, False, 0)


def test_a_lock_object_can_be_used_again(of: redis.Redis, name: str) -> None:
    lock = Lock(of, name)
    for _ in range(5):
        assert lock.acquire(blocking=False)
        lock.release()


def test_without_expire_it_is_renewed_and_with_expire_it_ends(of: redis.Redis, view: View, name: str) -> None:
    with Lock(of, name):
        assert 20_000 < ms(view, name) <= 30_000
    lock = Lock(of, name, expire=1)
    assert lock.acquire()
    assert ms(view, name) <= 1000
    with Lock(of, name):
        with pytest.raises(NotAcquired, match="expired") as lost:
            lock.release()
        assert lost.value.reason == "expired"


def test_a_lock_with_auto_renewal_outlives_its_expire(of: redis.Redis, name: str) -> None:
    lock = Lock(of, name, expire=1, auto_renewal=True)
    assert lock.acquire()
    assert not Lock(of, name).acquire(timeout=2)
    assert lock.get_owner_id() == lock.id
    lock.release()


def test_a_lock_that_is_not_free_is_not_acquired(of: redis.Redis, name: str) -> None:
    with Lock(of, name):
        assert Lock(of, name).acquire(blocking=False) is False
        assert Lock(of, name).acquire(timeout=1) is False
        with pytest.raises(NotAcquired, match="another owner holds it"), Lock(of, name, blocking=False):
            pytest.fail("the block began without the lock")


def test_a_second_acquire_by_the_same_object_is_an_error(of: redis.Redis, name: str) -> None:
    with Lock(of, name) as lock, pytest.raises(compat.AlreadyAcquired):
        lock.acquire()


def test_a_release_without_the_lock_is_an_error_and_takes_nothing(of: redis.Redis, view: View, name: str) -> None:
    with pytest.raises(NotAcquired, match="acquire it first"):
        Lock(of, name).release()
    lock = Lock(of, name)
    lock.acquire()
    view("SET", f"lock:{name}", "another")
    with pytest.raises(NotAcquired):
        lock.release()
    assert view("GET", f"lock:{name}") == "another"


def test_extending_lets_it_last_from_now_on(of: redis.Redis, view: View, name: str) -> None:
    lock = Lock(of, name, expire=100)
    with pytest.raises(NotAcquired):
        lock.extend()
    lock.acquire()
    lock.extend(500)
    assert 400_000 < ms(view, name) <= 500_000
    lock.extend()
    assert ms(view, name) <= 100_000
    view("DEL", f"lock:{name}")
    with pytest.raises(NotAcquired):
        lock.extend()


def test_a_lock_without_expire_cannot_be_extended(of: redis.Redis, name: str) -> None:
    with Lock(of, name) as lock:
        with pytest.raises(compat.NotExpirable):
            lock.extend(5)
        with pytest.raises(TypeError):
            lock.extend()


@pytest.mark.parametrize(
    ("options", "given", "error"),
    [
        ({}, {"blocking": False, "timeout": 5}, "TimeoutNotUsable"),
        ({}, {"timeout": -1}, "InvalidTimeout"),
        ({"expire": 5}, {"timeout": 6}, "TimeoutTooLarge"),
    ],
)
def test_a_timeout_that_cannot_be_used_is_an_error(
    of: redis.Redis, name: str, options: Any, given: Any, error: str
) -> None:
    with pytest.raises(getattr(compat, error)) as refused:
        Lock(of, name, **options).acquire(**given)
    assert isinstance(refused.value, getattr(redis_lock, error))
    assert isinstance(refused.value, (redlatch.ConfigError, RuntimeError))


@pytest.mark.parametrize(
    "options",
    [{"expire": -1}, {"expire": "5"}, {"auto_renewal": True}, {"id": 5}, {"name": 5}, {"name": b"\xff"}],
    ids=str,
)
def test_a_lock_with_a_bad_argument_is_refused_when_it_is_made(of: redis.Redis, options: dict[str, Any]) -> None:
    with pytest.raises(redlatch.ConfigError):
        Lock(of, **{"name": "report", **options})


@pytest.mark.parametrize("make", [Lock, Theirs], ids=["of redlatch", "of python-redis-lock"])
def test_a_reset_takes_the_lock_from_its_holder_and_wakes_a_waiter(
    of: redis.Redis, view: View, name: str, make: Any
) -> None:
    first, second = Lock(of, name), make(of, name)
    assert first.acquire()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(second.acquire, timeout=30)
        until_true(lambda: waits(second, view), "the waiter")
        Lock(of, name).reset()
        assert waiting.result(20)
    with pytest.raises(NotAcquired):
        first.release()
    second.release()


def test_all_locks_can_be_reset(own_server: Server) -> None:
    with redis.Redis.from_url(own_server.url) as of:
        holders: list[Any] = [Lock(of, "a"), Lock(of, "b:c"), Theirs(of, "d")]
        assert all(holder.acquire() for holder in holders)
        of.set("lockless", "stays")
        reset_all(of)
        assert not any(holder.locked() for holder in holders)
        assert of.get("lockless") == b"stays"


def test_the_two_locks_exclude_each_other_and_wake_each_other(of: redis.Redis, view: View, name: str) -> None:
    for first, second in ((Lock, Theirs), (Theirs, Lock)):
        one, other = first(of, name), second(of, name)
        assert one.acquire(blocking=False)
        assert not other.acquire(blocking=False)
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(other.acquire, timeout=30)
            until_true(functools.partial(waits, other, view), "the waiter")
            one.release()
            assert waiting.result(20)
        other.release()


def test_an_unprotected_counter_survives_threads_with_either_lock(of: redis.Redis, name: str) -> None:
    count = [0]

    def work(make: Any) -> None:
        for _ in range(20):
            with make(of, name):
                seen = count[0]
                threading.Event().wait(0.0001)
                count[0] = seen + 1

    with ThreadPoolExecutor(6) as pool:
        for worker in [pool.submit(work, make) for make in (Lock, Theirs) * 3]:
            worker.result(60)
    assert count == [120]


def test_an_id_of_another_process_is_left_to_python_redis_lock(of: redis.Redis, view: View, name: str) -> None:
    lock = Lock(of, name, id="mine", expire=60)
    assert lock.id == "mine"
    assert lock.acquire(blocking=False)
    assert view("GET", f"lock:{name}") == "mine"
    Lock(of, name, id=b"mine").extend(30)
    assert ms(view, name) <= 30_000
    Lock(of, name, id="mine").release()
    assert not lock.locked()
    with Lock(of, name) as ours:
        Lock(of, name, id=ours.id).release()
        assert not ours.locked()
        until_true(lambda: ours._hold is not None and not ours._hold.held, "the loss")
        with pytest.raises(NotAcquired):
            ours.release()
        assert ours.acquire()


def test_the_errors_are_those_of_both_libraries_and_can_be_pickled() -> None:
    for name in compat.__all__:
        error = getattr(compat, name)
        if inspect.isclass(error) and issubclass(error, Exception):
            assert issubclass(error, (getattr(redis_lock, name), redlatch.RedlatchError))
            copy = pickle.loads(pickle.dumps(error("gone", "orders", "expired")))
            assert (str(copy), copy.name, copy.reason) == ("gone", "orders", "expired")


def test_other_clients_are_refused(client: redlatch.Client) -> None:
    for wrong in (client, "redis://localhost", None):
        with pytest.raises(redlatch.UnsupportedError, match=r"give a redis\.Redis"):
            Lock(wrong, "report")  # type: ignore[arg-type]


WITHOUT = """
import sys
sys.modules["redis_lock"] = None
import redis, redlatch
from redlatch.compat.python_redis_lock import Lock, NotAcquired
with redis.Redis.from_url(sys.argv[1]) as client:
    with Lock(client, sys.argv[2]) as lock:
        print(lock.locked())
    try:
        lock.release()
    except RuntimeError as error:
        print(type(error) is NotAcquired)
    try:
        Lock(client, sys.argv[2], id="mine")
    except redlatch.UnsupportedError as error:
        print(error)
"""


def test_the_lock_works_without_python_redis_lock(server: Server, name: str) -> None:
    ended = run(WITHOUT, server.url, name)
    assert ended.stderr == ""
    assert ended.stdout.startswith("True\nTrue\n")
    assert "which is not installed" in ended.stdout
