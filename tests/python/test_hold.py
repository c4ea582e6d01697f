"""The properties of a hold, and the ways in which it ends."""

from __future__ import annotations

import pickle
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import redlatch
from eventually import until_true
from redlatch import Client
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
