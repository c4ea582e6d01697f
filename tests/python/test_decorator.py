"""What a decorated function does if another owner holds its lock, and the hold of the call that runs."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import redlatch
from redlatch import Client, aio
from servers import Server


def test_a_busy_lock_skips_the_call_or_raises_at_once(client: Client, stranger: Client, name: str) -> None:
    ran: list[str] = []

    def body(day: str) -> str:
        ran.append(day)
        return day

    skipping = client.lock(name + ":{day}").decorator(on_busy="skip")(body)
    raising = client.lock(name + ":{day}").decorator(on_busy="raise")(body)
    with stranger.lock(f"{name}:monday"):
        assert skipping("monday") is None
        with pytest.raises(redlatch.NotAcquiredError, match="within 0"):
            raising("monday")
        assert ran == []
        assert (skipping("tuesday"), raising("tuesday")) == ("tuesday", "tuesday")
    assert (skipping("monday"), raising("monday")) == ("monday", "monday")


@pytest.mark.parametrize("on_busy", ["raise", "skip"])
def test_without_an_argument_in_its_name_the_lock_is_tried_once_as_well(
    client: Client, stranger: Client, name: str, on_busy: object
) -> None:
    locked = client.lock(name).decorator(on_busy=on_busy)(lambda: 5)  # type: ignore[call-overload]
    assert locked() == 5
    with stranger.lock(name):
        if on_busy == "skip":
            assert locked() is None
        else:
            with pytest.raises(redlatch.NotAcquiredError):
                locked()


def test_waiting_is_what_the_lock_itself_does(client: Client, stranger: Client, name: str) -> None:
    entered = threading.Event()

    @client.lock(name).decorator(on_busy="wait")
    def locked() -> bool:
        return entered.is_set()

    with ThreadPoolExecutor(1) as pool:
        with stranger.lock(name):
            call = pool.submit(locked)
            while client.stats().waiting == 0:
                assert not call.done()
            entered.set()
        assert call.result(30) is True


def test_a_lock_with_a_wait_of_its_own_is_waited_for(client: Client, stranger: Client, name: str) -> None:
    skipping = client.lock(name, wait=30).decorator(on_busy="skip")(lambda: "ran")
    with ThreadPoolExecutor(1) as pool:
        with stranger.lock(name):
            call = pool.submit(skipping)
            while client.stats().waiting == 0:
                assert not call.done()
        assert call.result(30) == "ran"


def test_an_error_of_the_body_is_no_skip(client: Client, name: str) -> None:
    @client.lock(name).decorator(on_busy="skip")
    def failing() -> None:
        raise redlatch.NotAcquiredError("another lock, inside")

    with pytest.raises(redlatch.NotAcquiredError, match="another lock, inside"):
        failing()
    assert not client.lock(name).is_locked()


@pytest.mark.parametrize("on_busy", ["skipp", "", None, 5, ["skip"]])
def test_another_word_is_refused_with_the_good_ones(client: Client, aio_client: aio.Client, on_busy: object) -> None:
    for lock in (client.lock("n"), aio_client.lock("n")):
        with pytest.raises(redlatch.ConfigError, match="one of raise, skip, wait"):
            lock.decorator(on_busy=on_busy)  # type: ignore[call-overload]


@pytest.mark.parametrize("of", ["threads", "asyncio"])
def test_a_coroutine_function_is_skipped_or_raises(
    client: Client, aio_client: aio.Client, stranger: Client, name: str, of: str
) -> None:
    lock = client.lock(name) if of == "threads" else aio_client.lock(name)
    ran: list[str] = []

    async def body(word: str) -> str:
        ran.append(word)
        aio.current_hold().ensure()
        return word

    skipping = lock.decorator(on_busy="skip")(body)
    raising = lock.decorator(on_busy="raise")(body)

    async def main() -> None:
        with stranger.lock(name):
            assert await skipping("one") is None
            with pytest.raises(redlatch.NotAcquiredError):
                await raising("two")
        assert [await skipping("three"), await raising("four")] == ["three", "four"]

    asyncio.run(main())
    assert ran == ["three", "four"]


def test_several_locks_are_skipped_together(client: Client, stranger: Client, name: str) -> None:
    both = client.get_multi_lock(client.lock(f"{name}:a"), client.lock(f"{name}:b"))
    skipping = both.decorator(on_busy="skip")(lambda: "ran")
    with stranger.lock(f"{name}:b"):
        assert skipping() is None
    assert not client.lock(f"{name}:a").is_locked()
    assert skipping() == "ran"


def test_the_current_hold_is_that_of_the_innermost_call(client: Client, name: str) -> None:
    seen: list[str] = []

    @client.lock(f"{name}:inner")
    def inner() -> None:
        seen.append(redlatch.current_hold().name)

    @client.lock(f"{name}:outer")
    def outer() -> None:
        seen.append(redlatch.current_hold().name)
        inner()
        seen.append(redlatch.current_hold().name)
        redlatch.current_hold().ensure()

    outer()
    assert seen == [f"{name}:outer", f"{name}:inner", f"{name}:outer"]
    with pytest.raises(redlatch.NotHeldError, match="no function that a lock decorates runs in this thread"):
        redlatch.current_hold()


def test_a_thread_has_the_current_hold_of_its_own_calls_only(client: Client, name: str) -> None:
    @client.lock(name)
    def outer(pool: ThreadPoolExecutor) -> str:
        with pytest.raises(redlatch.NotHeldError):
            pool.submit(redlatch.current_hold).result()
        copied = contextvars.copy_context()
        return pool.submit(copied.run, redlatch.current_hold).result().name

    with ThreadPoolExecutor(1) as pool:
        assert outer(pool) == name


def test_a_task_has_the_current_hold_of_the_function_that_started_it(aio_client: aio.Client, name: str) -> None:
    async def ask() -> str:
        return aio.current_hold().name

    @aio_client.lock("{name}")
    async def outer(name: str) -> str:
        return await asyncio.create_task(ask())

    async def main() -> None:
        assert [*await asyncio.gather(outer(f"{name}:1"), outer(f"{name}:2"))] == [f"{name}:1", f"{name}:2"]
        with pytest.raises(redlatch.NotHeldError, match="in this task"):
            await ask()

    asyncio.run(main())


def test_an_error_tells_whether_this_client_or_another_one_has_the_lock(
    server: Server, client: Client, name: str
) -> None:
    with (
        redlatch.connect(server.url) as other,
        other.lock(name),
        pytest.raises(redlatch.NotAcquiredError, match="another owner holds it, of another client"),
    ):
        client.lock(name).lock(wait=0)
    with client.lock(name), ThreadPoolExecutor(1) as pool:
        call = pool.submit(client.lock(name).lock, wait=0)
        with pytest.raises(redlatch.NotAcquiredError, match="a thread or task of this client"):
            call.result()
