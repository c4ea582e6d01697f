"""Semaphores and latches for threads never wait in a thread whose event loop runs."""

from __future__ import annotations

from typing import Any, Callable

import pytest

import redlatch
from callers import in_a_loop
from redlatch import Client


def entered(semaphore: redlatch.Semaphore) -> None:
    with semaphore:
        pass


WAITS: dict[str, Callable[[Client, str], Callable[[], Any]]] = {
    "semaphore": lambda client, name: client.get_semaphore(name).acquire,
    "semaphore, within": lambda client, name: lambda: client.get_semaphore(name).try_acquire(wait=600),
    "semaphore, a block": lambda client, name: lambda: entered(client.get_semaphore(name)),
    "permits": lambda client, name: client.get_permit_expirable_semaphore(name).acquire,
    "permits, within": lambda client, name: lambda: client.get_permit_expirable_semaphore(name).try_acquire(wait=600),
    "permits, renewed": lambda client, name: lambda: client.get_permit_expirable_semaphore(name).acquire(renew=True),
    "permits, many": lambda client, name: lambda: client.get_permit_expirable_semaphore(name).acquire_many(2),
    "latch": lambda client, name: client.get_count_down_latch(name).wait,
    "latch, within": lambda client, name: lambda: client.get_count_down_latch(name).wait(600),
}


@pytest.mark.parametrize("wait", WAITS)
def test_a_wait_that_would_stop_the_loop_is_refused(client: Client, name: str, wait: str) -> None:
    # The semaphores have no permits, and the latch must not be at zero.
    if "latch" in wait:
        client.get_count_down_latch(name).try_set_count(1)
    with pytest.raises(redlatch.UnsupportedError, match=f"`{name}`: .* would stop the event loop of this thread"):
        in_a_loop(WAITS[wait](client, name))


def test_a_free_permit_is_taken_in_a_loop_and_a_try_never_waits(client: Client, name: str) -> None:
    semaphore = client.get_semaphore(f"{name}:semaphore", permits=1)
    permits = client.get_permit_expirable_semaphore(f"{name}:permits", permits=1)
    latch = client.get_count_down_latch(f"{name}:latch")
    in_a_loop(semaphore.acquire)
    in_a_loop(permits.acquire)
    assert in_a_loop(latch.wait) is True
    latch.try_set_count(1)
    assert in_a_loop(semaphore.try_acquire) is False
    assert in_a_loop(permits.try_acquire) is None
    assert in_a_loop(lambda: latch.wait(0)) is False
    with pytest.raises(redlatch.NotAcquiredError):
        in_a_loop(lambda: semaphore.acquire(wait=0))
    with pytest.raises(redlatch.NotAcquiredError):
        in_a_loop(lambda: permits.acquire(wait=0))
    semaphore.release()
    in_a_loop(lambda: entered(semaphore))
    assert semaphore.available_permits() == 1
