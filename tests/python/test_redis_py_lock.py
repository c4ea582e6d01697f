"""The cases of redis-py's own lock tests, with redlatch's `Lock` of a redis-py client and of a redlatch client."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from typing import Any

import pytest
import redis

import redlatch
from redlatch.compat.redis_py import Lock, LockError, LockNotOwnedError
from servers import Server
from view import View


@pytest.fixture
def theirs(server: Server) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(server.url) as client:
        yield client


@pytest.fixture(params=["of redis-py", "of redis-py, decoding", "of redlatch"])
def of(request: pytest.FixtureRequest, server: Server, client: redlatch.Client) -> Iterator[Any]:
    if request.param == "of redlatch":
        yield client
    else:
        with redis.Redis.from_url(server.url, decode_responses="decoding" in request.param) as theirs:
            yield theirs


def ms(view: View, name: str) -> int:
    return int(str(view("PTTL", name)))


def test_an_acquired_lock_has_its_token_in_the_key_until_the_release(of: Any, view: View, name: str) -> None:
    lock = Lock(of, name)
    assert lock.acquire(blocking=False) is True
    assert view("GET", name) == lock.local.token.decode()
    lock.release()
    assert view("GET", name) is None
    assert lock.local.token is None


def test_without_a_timeout_the_key_is_renewed_instead_of_staying_for_ever(of: Any, view: View, name: str) -> None:
    with Lock(of, name):
        assert 20_000 < ms(view, name) <= 30_000


def test_locked_is_true_for_a_lock_of_any_program(of: Any, name: str) -> None:
    lock, other = Lock(of, name), Lock(of, name)
    assert lock.locked() is False
    lock.acquire(blocking=False)
    assert (lock.locked(), other.locked()) == (True, True)
    lock.release()
    assert lock.locked() is False


def test_owned_is_true_for_the_lock_objects_own_token_only(of: Any, name: str) -> None:
    one, other = Lock(of, name), Lock(of, name)
    assert one.owned() is False
    one.acquire(blocking=False)
    assert (one.owned(), other.owned()) == (True, False)
    one.release()
    assert one.owned() is False
    other.acquire(blocking=False)
    assert (one.owned(), other.owned()) == (False, True)
    other.release()
    assert (one.owned(), other.owned()) == (False, False)


def test_two_locks_of_one_name_exclude_each_other(of: Any, name: str) -> None:
    one, other = Lock(of, name), Lock(of, name)
    assert one.acquire(blocking=False)
    assert not other.acquire(blocking=False)
    one.release()
    assert other.acquire(blocking=False)
    assert not one.acquire(blocking=False)
    other.release()


def test_a_lock_is_not_reentrant_not_even_the_same_object(of: Any, name: str) -> None:
    lock = Lock(of, name)
    with lock:
        token = lock.local.token
        assert lock.acquire(blocking=False) is False
        assert lock.local.token == token


@pytest.mark.parametrize(("timeout", "least", "most"), [(10, 8000, 10_000), (9.5, 8000, 9500)])
def test_the_key_lives_for_the_timeout(of: Any, view: View, name: str, timeout: float, least: int, most: int) -> None:
    lock = Lock(of, name, timeout=timeout)
    assert lock.acquire(blocking=False)
    assert least < ms(view, name) <= most
    lock.release()


def test_a_blocking_timeout_ends_the_wait(of: Any, name: str) -> None:
    with Lock(of, name):
        began = time.monotonic()
        assert Lock(of, name, sleep=0.05, blocking_timeout=0.4).acquire() is False
        assert time.monotonic() - began >= 0.4
        assert Lock(of, name, sleep=0.05).acquire(blocking_timeout=0.01) is False
        assert Lock(of, name).acquire(sleep=0.05, blocking=True, blocking_timeout=0) is False


def test_a_waiter_with_a_sleep_beyond_its_blocking_timeout_tries_once(of: Any, name: str) -> None:
    with Lock(of, name):
        # A waiter that slept would take an hour, and the test would be ended before.
        assert Lock(of, name, sleep=4000, blocking_timeout=3600).acquire() is False


def test_a_waiter_gets_the_lock_when_its_timeout_ends(of: Any, name: str) -> None:
    assert Lock(of, name, timeout=0.3).acquire()
    later = Lock(of, name, sleep=0.01)
    assert later.acquire() is True
    later.release()


def test_a_block_has_the_lock(of: Any, view: View, name: str) -> None:
    with Lock(of, name, blocking_timeout=0.2) as lock:
        assert isinstance(lock, Lock)
        assert view("GET", name) == lock.local.token.decode()
    assert view("GET", name) is None


@pytest.mark.parametrize("options", [{"blocking_timeout": 0.15}, {"blocking": False}], ids=str)
def test_a_block_that_does_not_get_the_lock_raises_and_names_it(
    of: Any, view: View, name: str, options: dict[str, Any]
) -> None:
    view("SET", name, "another owner")
    with pytest.raises(LockError, match="not acquired") as refused, Lock(of, name, **options):
        pytest.fail("the block began without the lock")
    assert refused.value.lock_name == name
    assert view("GET", name) == "another owner"


def test_a_block_whose_lock_has_timed_out_raises_or_warns(of: Any, name: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "redlatch"), Lock(of, name, timeout=0.1, raise_on_release_error=False):
        time.sleep(0.15)
    assert "expired" in caplog.text
    with pytest.raises(LockNotOwnedError, match="expired") as lost, Lock(of, name, timeout=0.1):
        time.sleep(0.15)
    assert lost.value.reason == "expired"


def test_a_block_whose_lock_was_released_in_it_raises_or_warns(of: Any, name: str) -> None:
    with Lock(of, name, timeout=5, raise_on_release_error=False) as lock:
        lock.release()
    with pytest.raises(LockError, match="not locked"), Lock(of, name, timeout=5) as lock:
        lock.release()


def test_a_block_whose_lock_was_taken_away_raises(of: Any, view: View, name: str) -> None:
    with pytest.raises(LockNotOwnedError), Lock(of, name, timeout=10, blocking=False):
        view("SET", name, "a")
    assert view("GET", name) == "a"


def test_a_lock_that_is_not_locked_cannot_be_released(of: Any, name: str) -> None:
    with pytest.raises(LockError, match="not locked") as refused:
        Lock(of, name).release()
    assert not isinstance(refused.value, LockNotOwnedError)


def test_a_release_of_a_lock_that_another_owner_has_raises_and_forgets_the_token(
    of: Any, view: View, name: str
) -> None:
    lock = Lock(of, name)
    lock.acquire(blocking=False)
    view("SET", name, "a")
    with pytest.raises(LockNotOwnedError):
        lock.release()
    assert lock.local.token is None
    assert view("GET", name) == "a"


@pytest.mark.parametrize("more", [10, 10.5])
def test_extending_adds_to_the_time_that_is_left(of: Any, view: View, name: str, more: float) -> None:
    lock = Lock(of, name, timeout=10)
    assert lock.acquire(blocking=False)
    view("PEXPIRE", name, "7000")
    assert lock.extend(more) is True
    assert 5000 + more * 1000 < ms(view, name) <= 7000 + more * 1000
    lock.release()
    assert view("EXISTS", name) == 0


def test_extending_can_replace_the_time_that_is_left(of: Any, view: View, name: str) -> None:
    lock = Lock(of, name, timeout=10)
    assert lock.acquire(blocking=False)
    assert lock.extend(20, replace_ttl=True) is True
    assert 18_000 < ms(view, name) <= 20_000
    lock.release()


def test_an_extended_lock_outlives_its_timeout(of: Any, view: View, name: str) -> None:
    lock = Lock(of, name, timeout=0.2)
    assert lock.acquire()
    assert lock.extend(30)
    time.sleep(0.3)
    assert lock.owned()
    lock.release()


def test_reacquiring_gives_the_whole_timeout_again(of: Any, view: View, name: str) -> None:
    lock = Lock(of, name, timeout=10)
    assert lock.acquire(blocking=False)
    view("PEXPIRE", name, "5000")
    assert lock.reacquire() is True
    assert 8000 < ms(view, name) <= 10_000
    lock.release()


@pytest.mark.parametrize("prolong", [lambda lock: lock.extend(10), lambda lock: lock.reacquire()], ids=["extend", "re"])
def test_a_lock_without_a_timeout_or_a_holder_cannot_be_prolonged(of: Any, view: View, name: str, prolong: Any) -> None:
    with pytest.raises(LockError, match="not locked"):
        prolong(Lock(of, name, timeout=10))
    with Lock(of, name) as endless, pytest.raises(LockError, match="no timeout"):
        prolong(endless)
    lock = Lock(of, name, timeout=10)
    assert lock.acquire(blocking=False)
    view("SET", name, "a")
    with pytest.raises(LockNotOwnedError):
        prolong(lock)


@pytest.mark.parametrize("thread_local", [True, False])
@pytest.mark.parametrize("token", ["test", b"test"], ids=repr)
def test_an_acquire_may_use_a_token_of_the_caller(
    theirs: redis.Redis, view: View, name: str, thread_local: bool, token: Any
) -> None:
    lock = Lock(theirs, name, thread_local=thread_local)
    assert lock.acquire(blocking=False, token=token) is True
    assert (view("GET", name), lock.local.token, lock.owned()) == ("test", b"test", True)
    assert Lock(theirs, name).acquire(blocking=False, token="another") is False
    lock.release()
    assert (view("GET", name), lock.local.token) == (None, None)


def test_a_lock_may_use_a_token_of_another_process(theirs: redis.Redis, view: View, name: str) -> None:
    there, here = Lock(theirs, name, timeout=10), Lock(theirs, name, timeout=10)
    assert there.acquire()
    here.local.token = there.local.token.decode()
    assert here.extend(20, replace_ttl=True) is True
    assert 18_000 < ms(view, name) <= 20_000
    assert here.reacquire() is True
    assert 8000 < ms(view, name) <= 10_000
    here.release()
    assert view("EXISTS", name) == 0
    with pytest.raises(LockNotOwnedError):
        there.release()
    here.local.token = "of no owner"
    with pytest.raises(LockNotOwnedError):
        here.release()


def test_a_redlatch_client_refuses_a_token_of_the_caller(client: redlatch.Client, view: View, name: str) -> None:
    with pytest.raises(redlatch.UnsupportedError, match="lock of a redis-py client"):
        Lock(client, name).acquire(token="test")
    assert view("EXISTS", name) == 0
