"""One lock of several locks, all of them or a majority, and one lock of several values."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import redlatch
from eventually import until_true
from servers import Server


@pytest.fixture
def servers() -> Iterator[list[Server]]:
    servers = [Server() for _ in range(3)]
    yield servers
    for server in servers:
        server.close()


def test_a_multi_lock_holds_all_of_its_locks_or_none(
    client: redlatch.Client, stranger: redlatch.Client, name: str
) -> None:
    a, b = client.get_lock(name + "a"), client.get_fair_lock(name + "b")
    both = client.get_multi_lock(a, b)
    with both as hold:
        assert hold.remaining > 0
        assert both.is_locked()
        assert both.is_held_by_current_thread()
        assert a.is_locked()
        assert b.is_locked()
        assert stranger.get_lock(name + "a").try_lock() is None
        hold.ensure()
    assert not a.is_locked()
    assert not b.is_locked()
    assert not both.is_locked()
    with stranger.get_fair_lock(name + "b"):
        assert both.try_lock(wait=0.05) is None
        assert not a.is_locked()


def test_a_multi_lock_waits_for_a_lock_that_is_taken(
    client: redlatch.Client, stranger: redlatch.Client, name: str, thread: ThreadPoolExecutor
) -> None:
    taken = stranger.get_lock(name + "b").lock()
    both = client.get_multi_lock(client.get_lock(name + "a"), client.get_lock(name + "b"))
    waiting = thread.submit(lambda: both.lock(wait=20).release())
    until_true(lambda: client.get_lock(name + "a").is_locked(), "the first lock taken")
    taken.release()
    waiting.result(20)
    assert not both.is_locked()


def test_any_object_of_the_same_locks_releases_a_multi_lock(client: redlatch.Client, name: str) -> None:
    def both() -> redlatch.MultiLock:
        return client.get_multi_lock(client.get_lock(name + "b"), client.get_lock(name + "a"))

    both().lock()
    assert both().hold_count() == 1
    both().unlock()
    with pytest.raises(redlatch.NotHeldError):
        both().unlock()


def test_a_multi_lock_is_lost_with_the_first_of_its_locks(
    client: redlatch.Client, stranger: redlatch.Client, name: str
) -> None:
    hold = client.get_multi_lock(client.get_lock(name + "a"), client.get_lock(name + "b")).lock()
    assert stranger.get_lock(name + "b").force_unlock()
    assert hold.wait_lost(20)
    assert hold.lost_reason == "deleted"
    with pytest.raises(redlatch.LockLostError):
        hold.release()
    assert not client.get_lock(name + "a").is_locked()


def test_multi_locks_nest(client: redlatch.Client, name: str) -> None:
    inner = client.get_multi_lock(client.get_lock(name + "a"), client.get_lock(name + "b"))
    with client.get_multi_lock(inner, client.get_lock(name + "c")):
        assert all(client.get_lock(name + end).is_locked() for end in "abc")
    assert not any(client.get_lock(name + end).is_locked() for end in "abc")


def test_bad_locks_of_a_multi_lock_are_refused_with_the_reason(client: redlatch.Client, name: str) -> None:
    lock = client.get_lock(name)
    for locks, why in [((), "has none"), ((lock, lock), "twice"), ((lock, name), "get_lock")]:
        with pytest.raises(redlatch.ConfigError, match=why):
            client.get_multi_lock(*locks)  # type: ignore[arg-type]


def test_a_red_lock_works_with_a_majority_of_its_servers(servers: list[Server], name: str) -> None:
    urls = [server.url for server in servers]
    servers[1].close()
    lock, other = redlatch.red_lock(urls, name, wait=20), redlatch.red_lock(urls, name, owner=7)
    with lock as hold:
        assert other.try_lock() is None
        hold.ensure()
    other.lock(wait=20).release()
    servers[2].close()
    with pytest.raises(redlatch.RedlatchError):
        lock.lock(wait=0.2)
    with redlatch.connect(urls[0]) as client:
        until_true(lambda: not client.get_lock(name).is_locked(), "the lock given back")


def test_red_locks_of_one_name_are_one_lock_and_share_their_clients(servers: list[Server], name: str) -> None:
    urls = [server.url for server in servers]

    def possessions() -> tuple[int, int]:
        return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))

    redlatch.red_lock(urls, name).lock()
    assert redlatch.red_lock(urls, name).hold_count() == 1
    redlatch.red_lock(urls, name).unlock()
    before = possessions()
    for number in range(200):
        with redlatch.red_lock(urls, f"{name}:{number}", wait=20):
            pass
    # Each client may open more connections meanwhile, and the clients of other tests open and close theirs.
    assert all(now < then + 60 for now, then in zip(possessions(), before))
    assert redlatch.red_lock(urls, name, watchdog=5).try_lock() is not None


def test_a_red_lock_without_servers_is_an_error_that_names_the_remedy() -> None:
    with pytest.raises(redlatch.ConfigError, match="three or five"):
        redlatch.red_lock([], "n")


def test_a_lock_of_values_excludes_another_lock_with_one_of_them(
    client: redlatch.Client, stranger: redlatch.Client, name: str
) -> None:
    with client.get_multi_lock(name, values=["x", "y"]) as hold:
        assert hold.name == name
        assert stranger.get_multi_lock(name, values=["y", "z"]).try_lock() is None
        beside = stranger.get_multi_lock(name, values=iter(["z"])).lock()
        with pytest.raises(redlatch.AlreadyHeldError, match=f"{name}: v, y"):
            client.get_multi_lock(name, values=["y", "v"]).lock()
        with client.get_multi_lock(name, values=["y", "x", "x"]) as inner:
            inner.ensure()
        hold.ensure()
        beside.release()
    assert not stranger.get_multi_lock(name, values=["x", "y", "z"]).is_locked()


def test_a_multi_lock_may_have_a_lock_of_values_among_its_locks(
    client: redlatch.Client, stranger: redlatch.Client, name: str
) -> None:
    seats = client.get_multi_lock(name, values=["x", "y"])
    order = client.get_lock(name + "order")
    both = client.get_multi_lock(seats, order)
    assert both.name == f"{name}: x, y, {name}order"
    with both:
        assert stranger.get_multi_lock(name, values=["y"]).is_locked()
        assert order.is_locked()
    assert not seats.is_locked()


def test_values_that_are_no_list_of_texts_are_refused(client: redlatch.Client, name: str) -> None:
    bad: list[tuple[Any, str]] = [
        ("xy", "give a list"),
        (5, "give a list"),
        ([], "has no values"),
        ([1], "must be a str"),
        (["\0"], "U\\+0000"),
    ]
    for values, says in bad:
        with pytest.raises(redlatch.ConfigError, match=says):
            client.get_multi_lock(name, values=values)
    with pytest.raises(redlatch.ConfigError, match="one group"):
        client.get_multi_lock(client.get_lock(name), client.get_lock(name), values=["x"])  # type: ignore[call-overload]
    with pytest.raises(redlatch.ConfigError, match="must be a str"):
        client.get_multi_lock(client.get_lock(name), values=["x"])  # type: ignore[call-overload]
