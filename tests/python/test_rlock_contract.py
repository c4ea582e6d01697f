"""The contract of `threading.RLock`, tested with that lock and with redlatch's."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from redlatch import Client, Hold


@pytest.fixture(params=["threading", "redlatch"])
def rlock(request: pytest.FixtureRequest, client: Client, name: str) -> Any:
    return threading.RLock() if request.param == "threading" else client.get_lock(name)


def test_a_lock_is_free_after_as_many_releases_as_acquires(rlock: Any, thread: ThreadPoolExecutor) -> None:
    assert rlock.acquire()
    assert rlock.acquire(True, 5)
    assert rlock.acquire(blocking=False)
    for _ in range(3):
        assert not thread.submit(rlock.acquire, blocking=False).result()
        rlock.release()
    assert thread.submit(rlock.acquire, False).result()
    thread.submit(rlock.release).result()


def test_a_wait_that_times_out_returns_a_false_value(rlock: Any, thread: ThreadPoolExecutor) -> None:
    with rlock:
        assert not thread.submit(rlock.acquire, timeout=0.05).result()
        assert not thread.submit(rlock.acquire, True, 0).result()


def test_a_release_of_a_lock_that_is_not_held_is_a_runtime_error(rlock: Any, thread: ThreadPoolExecutor) -> None:
    with pytest.raises(RuntimeError):
        rlock.release()
    with rlock, pytest.raises(RuntimeError):
        thread.submit(rlock.release).result()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((False, 5), ValueError),
        ((True, -5), ValueError),
        ((True, float("nan")), ValueError),
        ((True, threading.TIMEOUT_MAX * 2), OverflowError),
        ((True, "5"), TypeError),
        ((True, None), TypeError),
    ],
)
def test_bad_arguments_raise_the_same_errors(rlock: Any, arguments: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        rlock.acquire(*arguments)
    assert rlock.acquire(False), "the refused calls acquired nothing, so the lock is free"
    rlock.release()


def test_acquire_returns_the_hold(client: Client, name: str) -> None:
    hold = client.get_lock(name).acquire()
    assert isinstance(hold, Hold)
    hold.release()


def test_locked_tells_whether_any_owner_holds_the_lock(client: Client, stranger: Client, name: str) -> None:
    lock = client.get_lock(name)
    assert not lock.locked()
    with stranger.get_lock(name):
        assert lock.locked()
    if sys.version_info >= (3, 14):
        assert not threading.RLock().locked()
