"""The lock that many owners may hold for reading, or one for writing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

import redlatch
from eventually import until_true
from redlatch import Client
from view import View


def test_many_owners_read_while_no_other_owner_writes(
    client: Client, stranger: Client, thread: ThreadPoolExecutor, view: View, name: str
) -> None:
    lock, other = client.get_read_write_lock(name), stranger.get_read_write_lock(name, wait=5)
    with lock.read_lock, other.read_lock:
        assert lock.read_lock.is_locked()
        assert not lock.write_lock.is_locked()
        assert thread.submit(lock.write_lock.try_lock).result() is None
        assert thread.submit(lock.read_lock.hold_count).result() == 0
    with other.write_lock as hold:
        assert view("HGET", name, f"{stranger.id}:{hold.owner}:write") == "1"
        assert lock.read_lock.try_lock(wait=0.05) is None
        assert lock.write_lock.is_locked()
    assert view("EXISTS", name) == 0


def test_a_writer_may_go_on_reading(client: Client, stranger: Client, view: View, name: str) -> None:
    lock, other = client.get_read_write_lock(name), stranger.get_read_write_lock(name)
    with lock.read_lock if lock.write_lock.lock() else lock.write_lock:
        lock.write_lock.unlock()
        with other.read_lock:
            assert other.write_lock.try_lock() is None
    until_true(lambda: view("KEYS", f"*{name}*") == [], "nothing left")


def test_a_reader_that_would_wait_for_itself_gets_an_error(client: Client, name: str) -> None:
    lock = client.get_read_write_lock(name)
    with lock.read_lock:
        with pytest.raises(redlatch.AlreadyHeldError, match=f"`{name}` is already held"):
            lock.write_lock.lock()
        assert lock.write_lock.try_lock(wait=0.05) is None
    assert lock.name == lock.read_lock.name == lock.write_lock.name == name
    assert "ReadWriteLock" in repr(lock)


def test_a_writer_that_leaves_wakes_every_reader(
    client: Client, stranger: Client, thread: ThreadPoolExecutor, view: View, name: str
) -> None:
    hold = stranger.get_read_write_lock(name).write_lock.lock()
    waiting = thread.submit(client.get_read_write_lock(name).read_lock.try_lock, wait=20)
    until_true(lambda: view("PUBSUB", "NUMSUB", f"redisson_rwlock:{{{name}}}")[1] == 1, "a thread that listens")  # type: ignore[index]
    hold.release()
    taken = waiting.result(timeout=10)
    assert taken is not None
    taken.release()
