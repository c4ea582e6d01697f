"""The owner of a lock is a thread, or the owner that the caller gives."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from redlatch import Client, Hold
from view import View


def test_every_thread_is_a_new_owner(client: Client, name: str) -> None:
    owners: list[int] = []

    def work() -> None:
        with client.get_lock(name) as hold:
            owners.append(hold.owner)

    for _ in range(20):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert len(set(owners)) == 20
    assert min(owners) >= 2**40


def test_a_given_owner_is_the_same_owner_in_all_threads(
    client: Client, thread: ThreadPoolExecutor, view: View, name: str
) -> None:
    lock = client.get_lock(name, owner=42)
    with lock as outer:
        inner = thread.submit(lock.try_lock).result()
        assert isinstance(inner, Hold)
        assert (outer.owner, inner.owner) == (42, 42)
        assert view("HGETALL", name) == [f"{client.id}:42", "2"]
        assert thread.submit(lock.is_held_by_current_thread).result()
        inner.release()
    assert not lock.is_locked()


def test_owners_of_different_numbers_exclude_each_other(client: Client, name: str) -> None:
    with client.get_lock(name, owner=0):
        assert client.get_lock(name, owner=1).try_lock() is None
        assert client.get_lock(name, owner=2**40 - 1).try_lock() is None
        assert client.get_lock(name).try_lock() is None


def test_blocks_of_one_owner_in_two_threads_end_their_own_hold(
    client: Client, thread: ThreadPoolExecutor, name: str
) -> None:
    lock = client.get_lock(name, owner=7)
    with lock as mine:
        theirs = thread.submit(lock.__enter__).result()
        thread.submit(lock.__exit__, None, None, None).result()
        mine.ensure()
        assert theirs.remaining == 0.0
