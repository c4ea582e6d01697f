"""A forked child is a new client: it holds no lock of its parent, and its first call works."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import redlatch
from eventually import until_true
from forks import in_a_fork
from redlatch import Client
from servers import Server
from told import Told
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
        # The child's first hold has the same number as the parent's first one, and must not be mistaken for it.
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


def test_a_parents_hold_is_renewed_beside_its_children(server: Server, view: View, name: str) -> None:
    with redlatch.connect(server.url, watchdog=0.5) as client, client.get_lock(name) as hold:
        first = hold.deadline

        def work() -> bool:
            client.get_lock(f"{name}:child").lock()
            until_true(
                lambda: view_of_child("PTTL", name) == -2 or time.monotonic() > first + 1, "the time of two leases"
            )
            return view_of_child("EXISTS", name) == 1

        with server.view() as view_of_child:
            assert in_a_fork(work) == "True"
        hold.ensure()
        assert hold.deadline > first
        assert view("HGETALL", name) == [f"{client.id}:{hold.owner}", "1"]


def test_a_child_is_not_told_of_its_parents_holds(server: Server, client: Client, name: str) -> None:
    told = Told()
    hold = client.get_lock(name).lock()
    hold.on_lost(told)

    def work() -> str:
        of_child = Told()
        mine = client.get_lock(f"{name}:child").lock()
        mine.on_lost(of_child)
        view_of_child("DEL", name, f"{name}:child")
        refused = []
        for ask in (lambda: hold.on_lost(of_child), hold.wait_lost):
            try:
                ask()
            except redlatch.NotHeldError as error:
                refused.append(error.code)
        return f"{of_child.reason()} {len(of_child.calls)} {len(told.calls)} {refused}"

    with server.view() as view_of_child:
        assert in_a_fork(work) == "deleted 1 0 ['not_held', 'not_held']"
    assert told.reason() == "deleted"


def test_a_fork_in_the_middle_of_an_acquire_disturbs_neither_parent_nor_child(
    own_server: Server, thread: ThreadPoolExecutor, name: str
) -> None:
    with redlatch.connect(own_server.url) as client:
        client.ping()

        def work() -> bool:
            os.kill(own_server.pid, signal.SIGCONT)
            with client.get_lock(f"{name}:child") as hold:
                return bool(hold)

        for _ in range(10):
            own_server.pause()
            asking = threading.Event()

            def acquire(asking: threading.Event = asking) -> redlatch.Hold:
                asking.set()
                return client.get_lock(name).lock()

            answer = thread.submit(acquire)
            asking.wait()
            assert in_a_fork(work) == "True"
            thread.submit(answer.result(timeout=20).release).result()


def test_a_child_gives_back_a_permit_of_its_own_that_no_block_has_taken(client: Client, name: str) -> None:
    semaphore = client.get_semaphore(name)
    semaphore.try_set_permits(2)
    with semaphore:
        pass

    def work() -> int:
        semaphore.acquire()
        semaphore.__exit__(None, None, None)
        return semaphore.available_permits()

    assert in_a_fork(work) == "2"


def test_a_childs_copy_of_a_block_gives_no_permit_back(client: Client, name: str) -> None:
    semaphore = client.get_semaphore(name)
    semaphore.try_set_permits(2)

    def work() -> str:
        with semaphore:
            inside = semaphore.available_permits()
        try:
            semaphore.__exit__(None, None, None)
        except redlatch.NotHeldError:
            return f"{inside} {semaphore.available_permits()}"
        return "its parent's permit is back"

    with semaphore:
        assert in_a_fork(work) == "0 1"
        assert semaphore.available_permits() == 1
    assert semaphore.available_permits() == 2
