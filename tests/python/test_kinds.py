"""The kinds of lock that differ from the reentrant lock in one detail."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

import redlatch
from eventually import until_true
from kinds import LOCKS, NON_REENTRANT
from redlatch import Client, Lock
from view import View


#: The key of a token lock has another form; see its own test below.
@pytest.mark.parametrize("get", [get for get in LOCKS if get != "get_token_lock"])
def test_every_kind_is_a_lock_of_the_client(client: Client, stranger: Client, view: View, name: str, get: str) -> None:
    lock = getattr(client, get)(name, wait=5, lease=20)
    assert isinstance(lock, Lock)
    with lock as hold:
        assert view("HGETALL", name) == [f"{client.id}:{hold.owner}", "1"]
        assert lock.hold_count() == 1
        assert getattr(stranger, get)(name).try_lock(wait=0.05) is None
        assert getattr(stranger, get)(name).is_locked()
    assert not lock.is_locked()
    assert type(lock).__name__ in repr(lock)


def test_a_spin_lock_is_waited_for_without_listening(
    client: Client, stranger: Client, thread: ThreadPoolExecutor, view: View, name: str
) -> None:
    hold = stranger.get_spin_lock(name).lock()
    waiting = thread.submit(client.get_spin_lock(name, backoff=[0.001, timedelta(milliseconds=5)]).try_lock, wait=20)
    assert view.listeners(name) == 0
    assert not waiting.done()
    hold.release()
    taken = waiting.result(timeout=10)
    assert taken is not None
    taken.release()


def test_a_bad_backoff_is_refused(client: Client, name: str) -> None:
    with pytest.raises(redlatch.ConfigError, match=r"^backoff is -1"):
        client.get_spin_lock(name, backoff=[1, -1])


@pytest.mark.parametrize("get", NON_REENTRANT)
def test_the_owner_of_a_non_reentrant_lock_gets_an_error_at_a_second_acquire(
    client: Client, view: View, name: str, get: str
) -> None:
    lock = getattr(client, get)(name)
    with lock:
        for again in (lock.lock, lock.try_lock, lock.__enter__):
            with pytest.raises(redlatch.AlreadyHeldError, match=f"`{name}` is already held") as refused:
                again()
            assert isinstance(refused.value, RuntimeError)
            assert (refused.value.code, refused.value.name) == ("already_held", name)
        assert lock.hold_count() == 1
    assert view("EXISTS", name) == 0
    with lock:
        pass


def test_a_fair_lock_goes_to_the_waiter_that_has_waited_longest(
    client: Client, stranger: Client, view: View, name: str
) -> None:
    order: list[int] = []

    def wait(number: int) -> None:
        with (client if number % 2 else stranger).get_fair_lock(name):
            order.append(number)

    def waiting() -> int:
        count = view("LLEN", f"redisson_lock_queue:{{{name}}}")
        assert isinstance(count, int)
        return count

    with ThreadPoolExecutor(8) as pool, client.get_fair_lock(name):
        for number in range(8):
            pool.submit(wait, number)
            until_true(lambda: waiting() > number, "one more in the queue")  # noqa: B023
    assert order == list(range(8))
    assert view("KEYS", f"*{name}*") == []


def test_a_waiter_that_gives_up_leaves_the_queue_of_a_fair_lock(
    client: Client, stranger: Client, view: View, name: str
) -> None:
    with stranger.get_fair_lock(name) as hold:
        assert client.get_fair_lock(name).try_lock(wait=0.05) is None
        hold.ensure()
    until_true(lambda: view("KEYS", f"*{name}*") == [], "nothing left")


def test_the_holds_of_a_fenced_lock_are_numbered(client: Client, stranger: Client, name: str) -> None:
    lock, other = client.get_fenced_lock(name), stranger.get_fenced_lock(name)
    assert lock.get_token() == 0
    with lock as outer, lock as inner:
        assert (outer.token, inner.token) == (1, 2)
        assert other.get_token() == 2
    with other as next_one:
        assert next_one.token == 3
    assert lock.lock().token == 4
    lock.unlock()


def test_a_token_lock_has_the_key_of_other_libraries(
    client: Client, thread: ThreadPoolExecutor, view: View, name: str
) -> None:
    lock = client.get_token_lock(name)
    with lock as hold:
        assert view("GET", name) == f"{client.id}:{hold.owner}"
        assert view("SET", name, "theirs", "NX", "PX", "9000") is None
    assert view("SET", name, "theirs", "NX", "PX", "9000") == "OK"
    assert lock.try_lock() is None
    waiting = thread.submit(lock.try_lock, wait=20)
    view("DEL", name)
    taken = waiting.result(timeout=10)
    assert taken is not None
    taken.release()


def test_holds_of_other_kinds_have_no_token(client: Client, name: str) -> None:
    with client.get_lock(name) as hold:
        assert hold.token is None
