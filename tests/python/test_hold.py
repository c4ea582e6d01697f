"""The properties of a hold, and the ways in which it ends."""

from __future__ import annotations

import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

import redlatch
from eventually import until_true
from redlatch import Client, aio
from servers import Server
from view import View


def test_a_hold_knows_its_lock_owner_and_time(client: Client, name: str) -> None:
    with client.get_lock(name, lease=20) as hold:
        assert (hold.name, hold.token, hold.lost, hold.lost_reason) == (name, None, False, None)
        assert hold.owner >= 2**40
        assert 10 < hold.remaining <= 20
        assert abs(hold.deadline - time.monotonic() - hold.remaining) < 1
        hold.ensure()
        assert name in repr(hold)


def test_a_hold_is_released_by_any_thread(client: Client, thread: ThreadPoolExecutor, name: str) -> None:
    lock = client.get_lock(name)
    hold = lock.lock()
    thread.submit(hold.release).result()
    assert not lock.is_locked()


def test_a_second_release_is_an_error_and_releases_no_outer_hold(client: Client, name: str) -> None:
    lock = client.get_lock(name)
    with lock:
        inner = lock.lock()
        inner.release()
        with pytest.raises(redlatch.NotHeldError) as twice:
            inner.release()
        assert not isinstance(twice.value, redlatch.LockLostError)
        assert lock.hold_count() == 1


def test_holds_are_released_in_any_order(client: Client, name: str) -> None:
    lock = client.get_lock(name)
    outer, inner = lock.lock(), lock.lock()
    outer.release()
    inner.ensure()
    assert lock.hold_count() == 1
    inner.release()
    assert not lock.is_locked()


def test_a_released_hold_is_not_held_and_not_lost(client: Client, name: str) -> None:
    hold = client.get_lock(name).lock()
    hold.release()
    assert (hold.lost, hold.lost_reason, hold.remaining) == (False, None, 0.0)
    with pytest.raises(redlatch.NotHeldError, match=f"`{name}`"):
        hold.ensure()


def test_a_hold_tells_whether_it_is_held(client: Client, name: str) -> None:
    hold = client.lock(name, lease=0.2).lock()
    assert hold.held
    until_true(lambda: not hold.held, "the end of the lease")
    assert hold.lost
    hold = client.lock(name).lock()
    hold.release()
    assert (hold.held, hold.lost) == (False, False)


def test_an_extended_hold_outlives_its_lease_and_may_be_shortened(client: Client, view: View, name: str) -> None:
    hold = client.lock(name, lease=0.3).lock()
    hold.extend(60)
    assert 30 < hold.remaining <= 60
    assert 30_000 < int(str(view("PTTL", name))) <= 60_000
    hold.extend(timedelta(seconds=20))
    assert 10 < hold.remaining <= 20
    assert int(str(view("PTTL", name))) <= 20_000
    hold.release()
    assert view("EXISTS", name) == 0


def test_a_renewed_hold_is_not_shortened(client: Client, name: str) -> None:
    with client.lock(name) as hold:
        hold.extend(1)
        assert hold.remaining > 10
        hold.extend(600)
        assert hold.remaining > 500


def test_a_hold_that_has_ended_is_not_extended(client: Client, view: View, name: str) -> None:
    hold = client.lock(name).lock()
    hold.release()
    with pytest.raises(redlatch.NotHeldError, match=f"`{name}`") as refused:
        hold.extend(60)
    assert not isinstance(refused.value, redlatch.LockLostError)
    hold = client.lock(name).lock()
    view("DEL", name)
    with pytest.raises(redlatch.LockLostError):
        hold.extend(60)
    assert view("EXISTS", name) == 0


def test_a_hold_of_several_locks_is_extended_in_each(client: Client, view: View, name: str) -> None:
    names = [f"{name}:a", f"{name}:b"]
    with client.get_multi_lock(*map(client.lock, names), lease=5) as hold:
        hold.extend(60)
        assert all(int(str(view("PTTL", each))) > 30_000 for each in names)


async def test_a_hold_of_a_task_is_extended(aio_client: aio.Client, view: View, name: str) -> None:
    async with aio_client.lock(name, lease=5) as hold:
        assert hold.held
        await hold.extend(60)
        assert 30 < hold.remaining <= 60
        assert int(str(view("PTTL", name))) > 30_000
        await hold.extend(10)
        assert hold.remaining <= 10
    assert not hold.held
    with pytest.raises(redlatch.NotHeldError):
        await hold.extend(60)


def test_a_hold_ends_with_its_lease_and_says_so(client: Client, view: View, name: str) -> None:
    hold = client.get_lock(name).lock(lease=0.2)
    until_true(lambda: hold.lost, "the end of the lease")
    assert (hold.lost_reason, hold.remaining) == ("expired", 0.0)
    for ask in (hold.ensure, hold.release):
        with pytest.raises(redlatch.LockLostError, match=f"`{name}`") as lost:
            ask()
        assert (lost.value.code, lost.value.reason, lost.value.name) == ("lost", "expired", name)
    until_true(lambda: view("EXISTS", name) == 0, "the key's end")


def test_a_renewed_hold_learns_that_its_key_was_deleted(server: Server, view: View, name: str) -> None:
    with redlatch.connect(server.url, watchdog=0.9) as client:
        hold = client.get_lock(name).lock()
        view("DEL", name)
        until_true(lambda: hold.lost, "a renewal that finds nothing")
        assert hold.lost_reason == "deleted"
        with pytest.raises(redlatch.LockLostError):
            hold.ensure()


def test_a_renewed_hold_learns_that_it_was_taken_over(server: Server, view: View, name: str) -> None:
    with redlatch.connect(server.url, watchdog=0.9) as client:
        hold = client.get_lock(name).lock()
        view("DEL", name)
        view("HSET", name, "another:1", "1")
        until_true(lambda: hold.lost, "a renewal that finds another owner")
        assert hold.lost_reason == "taken over"
        assert view("HGETALL", name) == ["another:1", "1"]
    view("DEL", name)


def test_closing_the_client_ends_its_holds(server: Server, view: View, name: str) -> None:
    client = redlatch.connect(server.url)
    hold = client.get_lock(name).lock()
    client.close()
    assert view("EXISTS", name) == 0
    assert hold.remaining == 0.0
    with pytest.raises(redlatch.RedlatchError, match=f"`{name}`|closed"):
        hold.ensure()


def test_a_pickled_error_keeps_its_attributes(client: Client, name: str) -> None:
    with pytest.raises(redlatch.NotHeldError) as refused:
        client.get_lock(name).unlock()
    copy = pickle.loads(pickle.dumps(refused.value))
    assert (str(copy), copy.name, copy.code) == (str(refused.value), name, "not_held")
