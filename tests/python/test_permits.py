"""Semaphores and latches."""

from __future__ import annotations

import contextlib
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import redlatch
from eventually import until_true
from redlatch import Client
from servers import Server
from view import View


def test_any_client_takes_permits_and_gives_them_back(client: Client, stranger: Client, view: View, name: str) -> None:
    one, two = client.get_semaphore(name), stranger.get_semaphore(name)
    assert one.try_set_permits(5)
    assert not two.try_set_permits(9)
    one.acquire()
    one.acquire(2, wait=1)
    assert two.available_permits() == 2
    assert not two.try_acquire(3)
    assert not two.try_acquire(3, wait=0.05)
    assert two.try_acquire(2)
    two.release(4)
    assert one.drain_permits() == 4
    one.add_permits(2)
    assert view("GET", name) == "2"
    assert one.release_if_exists()
    assert one.delete()
    assert not one.release_if_exists()
    until_true(lambda: view("KEYS", f"*{name}*") == [], "nothing left")


def test_a_block_takes_one_permit(client: Client, stranger: Client, name: str) -> None:
    semaphore = client.get_semaphore(name)
    assert semaphore.try_set_permits(1, ttl=60)
    with semaphore as same:
        assert same is semaphore
        assert stranger.get_semaphore(name).available_permits() == 0
    with pytest.raises(KeyError), semaphore:
        raise KeyError
    assert semaphore.available_permits() == 1


def test_a_block_that_sets_its_permits_first_waits_no_longer_than_its_wait(own_server: Server) -> None:
    with redlatch.connect(own_server.url) as client, own_server.view() as view:
        client.get_semaphore("n").try_set_permits(1)
        client.get_semaphore("n").acquire()
        semaphore = client.get_semaphore("n", permits=1, wait=2)
        view("CLIENT", "PAUSE", "1500", "ALL")
        begun = time.monotonic()
        with pytest.raises(redlatch.NotAcquiredError), semaphore:
            pass
        assert time.monotonic() - begun < 3.25


def test_a_stack_gives_back_a_permit_that_no_block_has_taken(client: Client, name: str) -> None:
    semaphore = client.get_semaphore(name)
    semaphore.try_set_permits(1)
    for _ in range(2):
        with contextlib.ExitStack() as stack:
            semaphore.acquire()
            stack.push(semaphore)
            assert semaphore.available_permits() == 0
        assert semaphore.available_permits() == 1
        with semaphore:
            pass


def test_a_release_wakes_a_waiter(
    client: Client, stranger: Client, thread: ThreadPoolExecutor, view: View, name: str
) -> None:
    semaphore = stranger.get_semaphore(name)
    semaphore.try_set_permits(1)
    semaphore.acquire()
    waiting = thread.submit(client.get_semaphore(name).acquire, wait=20)
    until_true(lambda: view("PUBSUB", "NUMSUB", f"redisson_sc:{{{name}}}")[1] == 1, "a thread that listens")  # type: ignore[index]
    semaphore.release()
    waiting.result(timeout=10)
    assert semaphore.available_permits() == 0


def test_a_wait_that_ends_names_the_missing_permits_and_both_causes(client: Client, name: str) -> None:
    semaphore = client.get_semaphore(name)
    for _ in ("never set", "too few"):
        with pytest.raises(redlatch.NotAcquiredError) as told:
            semaphore.acquire(2, wait=0.05)
        assert str(told.value) == (
            f"2 permits of `{name}` were not there within 0.05 s: they are out, or were never set; "
            "wait longer, ask for fewer, or call try_set_permits first"
        )
        semaphore.try_set_permits(1)


BAD: list[Any] = [0, -1, 1.5, True, "1", None, 2**80]


@pytest.mark.parametrize("permits", BAD, ids=repr)
def test_bad_counts_of_permits_are_refused(client: Client, view: View, name: str, permits: Any) -> None:
    semaphore = client.get_semaphore(name)
    for call in (semaphore.acquire, semaphore.try_acquire, semaphore.release, semaphore.release_if_exists):
        with pytest.raises(redlatch.ConfigError, match=r"permits"):
            call(permits)
    with pytest.raises(redlatch.ConfigError, match=r"count"):
        client.get_count_down_latch(name).try_set_count(permits)
    assert view("EXISTS", name) == 0


def test_the_last_count_lets_all_waiters_go(
    client: Client, stranger: Client, thread: ThreadPoolExecutor, view: View, name: str
) -> None:
    latch = client.get_count_down_latch(name)
    assert latch.wait(0)
    assert latch.try_set_count(2)
    assert not latch.try_set_count(2)
    assert not latch.wait(0.05)
    waiting = thread.submit(stranger.get_count_down_latch(name).wait)
    channel = f"redisson_countdownlatch__channel__{{{name}}}"
    until_true(lambda: view("PUBSUB", "NUMSUB", channel)[1] == 1, "a thread that listens")  # type: ignore[index]
    latch.count_down()
    assert latch.get_count() == 1
    assert not waiting.done()
    latch.count_down()
    assert waiting.result(timeout=10)
    assert latch.try_set_count(1)
    assert latch.delete()
    assert name in repr(latch)
    assert name in repr(client.get_semaphore(name))
