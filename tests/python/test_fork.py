"""A forked child is a new client: it holds nothing of its parent's, and its first call works."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

import redlatch
from forks import in_a_fork
from redlatch import Client
from servers import Server
from view import View

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")


def test_a_child_has_another_id(client: Client) -> None:
    client.ping()
    ids = {client.id, in_a_fork(lambda: client.id), in_a_fork(lambda: client.id)}
    assert len(ids) == 3


def test_a_child_is_excluded_by_its_parents_hold(client: Client, name: str) -> None:
    lock = client.get_lock(name)
    with lock as hold:
        assert in_a_fork(lambda: (lock.try_lock(), lock.is_locked(), lock.hold_count())) == "(None, True, 0)"
        hold.ensure()
        assert lock.hold_count() == 1


def test_the_first_lock_of_a_child_works(client: Client, view: View, name: str) -> None:
    def work() -> str:
        with client.get_lock(name) as hold:
            hold.ensure()
            with client.get_lock(name):
                return f"{client.get_lock(name).hold_count()} {client.get_lock(name).is_locked()}"

    client.ping()
    assert in_a_fork(work) == "2 True"
    assert view("EXISTS", name) == 0


def test_a_child_cannot_release_its_parents_hold(client: Client, name: str) -> None:
    lock = client.get_lock(name)

    def work() -> str:
        refused = []
        # The child's first hold has the number that the parent's first has; it must not be taken for it.
        with client.get_lock(f"{name}:child"):
            for call in (hold.release, hold.ensure, lock.unlock):
                try:
                    call()
                except redlatch.LockLostError:
                    refused.append("lost")
                except redlatch.NotHeldError:
                    refused.append("not held")
            return f"{refused} {hold.lost} {hold.remaining}"

    hold = lock.lock()
    assert in_a_fork(work) == "['not held', 'not held', 'not held'] False 0.0"
    hold.ensure()
    hold.release()


def test_a_child_that_ends_does_not_end_its_parents_hold(client: Client, view: View, name: str) -> None:
    with client.get_lock(name) as hold:
        in_a_fork(client.close)
        assert view("HGETALL", name) == [f"{client.id}:{hold.owner}", "1"]
    client.ping()


def test_forks_beside_busy_threads_all_work(client: Client, name: str) -> None:
    stop = False

    def busy(number: int) -> None:
        while not stop:
            with client.get_lock(f"{name}:{number}"):
                pass

    def work() -> bool:
        with client.get_lock(f"{name}:child", wait=20) as hold:
            return bool(hold)

    with ThreadPoolExecutor(3) as pool:
        threads = [pool.submit(busy, number) for number in range(3)]
        try:
            assert [in_a_fork(work) for _ in range(10)] == ["True"] * 10
        finally:
            stop = True
    for thread in threads:
        thread.result()


def lock_in_a_pool(arguments: tuple[str, str]) -> int:
    url, name = arguments
    with redlatch.connect(url) as client, client.get_lock(name, wait=30):
        return os.getpid()


def test_spawned_processes_exclude_each_other(server: Server, view: View, name: str) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert len(pool.map(lock_in_a_pool, [(server.url, name)] * 8)) == 8
    assert view("EXISTS", name) == 0
