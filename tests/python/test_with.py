"""The lock as a context manager."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest

import redlatch
from redlatch import Client, Hold
from redlatch.aio import AsyncClient
from view import View


def test_a_block_runs_under_the_lock(client: Client, view: View, name: str) -> None:
    lock = client.get_lock(name)
    with lock as hold:
        assert isinstance(hold, Hold)
        assert hold
        assert view("EXISTS", name) == 1
    assert view("EXISTS", name) == 0


def test_blocks_of_one_thread_nest(client: Client, name: str) -> None:
    lock = client.get_lock(name)
    with lock, lock, client.get_lock(name):
        assert lock.hold_count() == 3
    assert not lock.is_locked()


def test_a_failing_block_gives_the_lock_back(client: Client, name: str) -> None:
    lock = client.get_lock(name)
    with pytest.raises(ZeroDivisionError), lock:
        _ = 1 / 0
    assert not lock.is_locked()


def test_a_block_is_never_entered_without_the_lock(client: Client, stranger: Client, name: str) -> None:
    entered = False
    with stranger.get_lock(name), pytest.raises(redlatch.NotAcquiredError), client.get_lock(name, wait=0):
        entered = True
    assert not entered


def test_a_block_with_a_lost_lock_raises_if_its_body_succeeded(client: Client, view: View, name: str) -> None:
    with pytest.raises(redlatch.LockLostError), client.get_lock(name):
        view("DEL", name)


def test_a_lost_lock_never_hides_the_error_of_the_body(client: Client, view: View, name: str) -> None:
    with pytest.raises(ZeroDivisionError), client.get_lock(name):
        view("DEL", name)
        _ = 1 / 0
    with pytest.raises(ZeroDivisionError), client.get_lock(name).lock():
        view("DEL", name)
        _ = 1 / 0


def test_the_end_of_a_block_with_a_released_hold_does_not_release_an_outer_hold(client: Client, name: str) -> None:
    lock = client.get_lock(name)
    with lock:
        with pytest.raises(redlatch.NotHeldError), lock as inner:
            inner.release()
        assert lock.hold_count() == 1


def test_blocks_of_generators_may_end_in_any_order(client: Client, name: str) -> None:
    def under(lock: redlatch.Lock) -> Iterator[None]:
        with lock:
            yield

    a, b = client.get_lock(f"{name}:a"), client.get_lock(f"{name}:b")
    first, second = under(a), under(b)
    next(first)
    next(second)
    next(first, None)
    assert (a.is_locked(), b.is_locked()) == (False, True)
    next(second, None)
    assert not b.is_locked()


def test_a_block_that_was_never_entered_cannot_end(client: Client, name: str) -> None:
    with pytest.raises(redlatch.NotHeldError, match=f"`{name}`"):
        client.get_lock(name).__exit__(None, None, None)


@dataclasses.dataclass(frozen=True)
class OutOfStock(Exception):
    """An exception that takes no attributes, and so no notes."""

    item: str


def test_an_error_of_a_body_that_takes_no_notes_is_raised_as_it_is(client: Client, name: str) -> None:
    with pytest.raises(OutOfStock), client.get_lock(name) as hold:
        client.get_lock(name).force_unlock()
        assert hold.wait_lost(20)
        raise OutOfStock("a")


async def test_an_error_of_a_tasks_body_that_takes_no_notes_is_raised_as_it_is(
    aio_client: AsyncClient, name: str
) -> None:
    with pytest.raises(OutOfStock):
        async with aio_client.get_lock(name) as hold:
            await aio_client.get_lock(name).force_unlock()
            assert await hold.wait_lost(20)
            raise OutOfStock("a")
