"""The lock's own methods, seen from Redis and from other threads."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

import redlatch
from eventually import until_true
from redlatch import Client
from servers import Server
from view import View


def test_a_lock_is_a_hash_of_owner_and_count(client: Client, view: View, name: str) -> None:
    with client.get_lock(name) as hold:
        assert view("HGETALL", name) == [f"{client.id}:{hold.owner}", "1"]
    assert view("EXISTS", name) == 0


def test_a_prefix_is_put_before_the_name(server: Server, view: View, name: str) -> None:
    with redlatch.connect(server.url, prefix="shop:") as shop, shop.get_lock(name) as hold:
        assert hold.name == name
        assert view("EXISTS", f"shop:{name}") == 1


def test_the_count_in_redis_follows_every_acquire_and_release(client: Client, view: View, name: str) -> None:
    lock = client.get_lock(name)
    field = f"{client.id}:{lock.lock().owner}"
    for count in (2, 3):
        lock.lock()
        assert view("HGET", name, field) == str(count) == str(lock.hold_count())
    for count in (2, 1):
        lock.unlock()
        assert view("HGET", name, field) == str(count)
    lock.unlock()
    assert view("EXISTS", name) == 0
    assert lock.hold_count() == 0


def test_a_lock_and_an_unlock_are_one_script_call_each(own_server: Server, name: str) -> None:
    with redlatch.connect(own_server.url) as client, own_server.view() as view:
        lock = client.get_lock(name)
        with lock:
            view("CONFIG", "RESETSTAT")
        with lock:
            assert "cmdstat_evalsha:calls=2," in str(view("INFO", "commandstats"))


def test_threads_exclude_each_other(client: Client, thread: ThreadPoolExecutor, name: str) -> None:
    lock = client.get_lock(name)
    with lock:
        assert thread.submit(lock.try_lock).result() is None
        assert not thread.submit(lock.is_held_by_current_thread).result()
        assert lock.is_held_by_current_thread()
    hold = thread.submit(lock.try_lock).result()
    assert hold is not None
    assert lock.try_lock() is None
    hold.release()


def test_clients_exclude_each_other(client: Client, stranger: Client, name: str) -> None:
    with client.get_lock(name):
        other = stranger.get_lock(name)
        assert other.try_lock() is None
        assert other.is_locked()
        assert not other.is_held_by_current_thread()
        assert other.hold_count() == 0


def test_an_unguarded_count_is_right_under_the_lock(client: Client, name: str) -> None:
    count = 0

    def work(_: int) -> None:
        nonlocal count
        for _ in range(25):
            with client.get_lock(name, wait=30):
                seen = count
                client.ping()
                count = seen + 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert count == 200


def test_a_release_wakes_a_waiting_thread(
    client: Client, stranger: Client, thread: ThreadPoolExecutor, view: View, name: str
) -> None:
    hold = stranger.get_lock(name).lock()
    waiting = thread.submit(client.get_lock(name).try_lock, wait=20)
    until_true(lambda: view.listeners(name) == 1, "a thread that listens")
    hold.release()
    taken = waiting.result(timeout=10)
    assert taken is not None
    taken.release()


def test_a_wait_that_ends_is_none_or_an_error(client: Client, stranger: Client, name: str) -> None:
    with stranger.get_lock(name):
        lock = client.get_lock(name, wait=timedelta(milliseconds=50))
        assert lock.try_lock(wait=0.05) is None
        assert lock.try_lock(wait=timedelta(milliseconds=50)) is None
        for acquire in (lock.lock, lock.__enter__):
            with pytest.raises(redlatch.NotAcquiredError, match=f"`{name}`") as late:
                acquire()
            assert isinstance(late.value, TimeoutError)
            assert (late.value.code, late.value.name) == ("not_acquired", name)


def test_an_explicit_lease_is_the_time_to_live(client: Client, view: View, name: str) -> None:
    with client.get_lock(name, lease=50) as hold:
        left = view("PTTL", name)
        assert isinstance(left, int)
        assert 40_000 < left <= 50_000
        assert 40 < hold.remaining <= 50
    with client.get_lock(name, lease=50).lock(lease=timedelta(seconds=5)) as hold:
        assert 0 < hold.remaining <= 5


def test_none_as_lease_replaces_the_locks_own_lease(client: Client, name: str) -> None:
    with client.get_lock(name, lease=500).lock(lease=None) as hold:
        assert 0 < hold.remaining <= 30


def test_the_watchdog_renews_a_hold_without_a_lease(server: Server, name: str) -> None:
    with redlatch.connect(server.url, watchdog=0.6) as quick, quick.get_lock(name) as hold:
        first = hold.deadline
        until_true(lambda: hold.deadline > first + 1.2, "two renewals and more")
        hold.ensure()


def test_the_remaining_time_is_seconds_none_or_endless(client: Client, view: View, name: str) -> None:
    lock = client.get_lock(name, lease=20)
    assert lock.remain_time_to_live() is None
    with lock:
        left = lock.remain_time_to_live()
        assert left is not None
        assert 10 < left <= 20
        view("PERSIST", name)
        assert lock.remain_time_to_live() == math.inf


def test_force_unlock_takes_the_lock_from_its_holder(client: Client, stranger: Client, name: str) -> None:
    hold = client.get_lock(name).lock()
    other = stranger.get_lock(name)
    assert other.force_unlock()
    assert not other.force_unlock()
    assert not other.is_locked()
    with pytest.raises(redlatch.LockLostError, match=f"`{name}`"):
        hold.release()


def test_unlock_without_holding_is_an_error(client: Client, stranger: Client, name: str) -> None:
    with pytest.raises(redlatch.NotHeldError, match=f"`{name}` is not held by {client.id}") as refused:
        client.get_lock(name).unlock()
    assert isinstance(refused.value, RuntimeError)
    assert (refused.value.code, refused.value.name) == ("not_held", name)
    with stranger.get_lock(name) as hold, pytest.raises(redlatch.NotHeldError):
        client.get_lock(name).unlock()
    assert not hold.lost


def test_two_objects_of_one_name_are_one_lock(client: Client, name: str) -> None:
    client.get_lock(name).lock()
    assert client.get_lock(name).hold_count() == 1
    client.get_lock(name).unlock()
