"""The cases of redis-py's own tests of its asyncio lock, with redlatch's `Lock` of each sort of client."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
from collections.abc import Coroutine
from typing import Any, Callable

import pytest
import redis
import redis.asyncio
from redis.asyncio.lock import Lock as Theirs

import redlatch
from loops import until
from redlatch import aio
from redlatch.compat import redis_py
from redlatch.compat.redis_asyncio import FOR_TASKS, Lock, LockError, LockNotOwnedError
from servers import Server
from view import View

#: redis-py types it as a class of its own.
CLASS: Any = Lock
#: Makes a lock of a client of redis-py, or of redlatch.
Maker = Callable[..., Lock]


@pytest.fixture(params=["of redis-py", "of redis-py, decoding", "of redlatch"])
def make(request: pytest.FixtureRequest, server: Server, aio_client: aio.Client) -> Maker:
    theirs: Any = aio_client
    if request.param != "of redlatch":
        # Only tests with tokens of their own let it connect.
        theirs = redis.asyncio.Redis.from_url(server.url, decode_responses="decoding" in request.param)
    return lambda name, **options: Lock(theirs, name, **options)


async def with_theirs(server: Server, body: Callable[[redis.asyncio.Redis], Coroutine[Any, Any, None]]) -> None:
    async with redis.asyncio.Redis.from_url(server.url) as theirs:
        await body(theirs)


def ms(view: View, name: str) -> int:
    return int(str(view("PTTL", name)))


def test_it_has_the_arguments_of_redis_pys_lock() -> None:
    for method in ("__init__", "acquire", "release", "extend", "reacquire", "locked", "owned"):
        ours, theirs = (inspect.signature(getattr(of, method)).parameters.values() for of in (Lock, Theirs))
        assert [(one.name, one.default) for one in ours] == [(one.name, one.default) for one in theirs], method


async def test_an_acquired_lock_has_its_token_in_the_key_until_the_release(make: Maker, view: View, name: str) -> None:
    lock = make(name)
    assert await lock.acquire(blocking=False) is True
    assert view("GET", name) == lock.local.token.decode()
    await lock.release()
    assert (view("GET", name), lock.local.token) == (None, None)


async def test_locked_is_about_every_program_and_owned_about_the_lock_object(make: Maker, name: str) -> None:
    one, other = make(name), make(name)
    assert (await one.locked(), await one.owned()) == (False, False)
    await one.acquire(blocking=False)
    assert (await one.locked(), await other.locked()) == (True, True)
    assert (await one.owned(), await other.owned()) == (True, False)
    await one.release()
    assert (await one.locked(), await one.owned()) == (False, False)


async def test_two_locks_of_one_name_exclude_each_other_and_no_object_is_reentrant(make: Maker, name: str) -> None:
    one, other = make(name), make(name)
    assert await one.acquire(blocking=False)
    token = one.local.token
    assert not await other.acquire(blocking=False)
    assert not await one.acquire(blocking=False)
    assert one.local.token == token
    await one.release()
    assert await other.acquire(blocking=False)
    await other.release()


@pytest.mark.parametrize(("timeout", "least", "most"), [(10, 8000, 10_000), (9.5, 8000, 9500), (None, 20_000, 30_000)])
async def test_the_key_lives_for_the_timeout_or_is_renewed(
    make: Maker, view: View, name: str, timeout: float, least: int, most: int
) -> None:
    async with make(name, timeout=timeout):
        assert least < ms(view, name) <= most


async def test_a_blocking_timeout_ends_the_wait(make: Maker, name: str) -> None:
    loop = asyncio.get_running_loop()
    async with make(name):
        began = loop.time()
        assert await make(name, sleep=0.05, blocking_timeout=0.4).acquire() is False
        assert loop.time() - began >= 0.39
        assert await make(name, sleep=0.05).acquire(blocking_timeout=0.01) is False
        # A waiter that slept would take an hour.
        assert await make(name, sleep=4000, blocking_timeout=3600).acquire() is False


async def test_a_waiter_gets_the_lock_when_its_timeout_ends_or_it_is_released(make: Maker, name: str) -> None:
    first = make(name, timeout=0.3)
    assert await first.acquire()
    later, last = make(name, sleep=0.01), make(name, sleep=3600)
    assert await later.acquire() is True
    waiting = asyncio.create_task(last.acquire())

    async def waits() -> bool:
        return bool(last._client.stats().waiting == 1)

    await until(waits, "the last one to wait")
    await later.release()
    assert await asyncio.wait_for(waiting, 30) is True
    await last.release()


@pytest.mark.parametrize("options", [{"blocking_timeout": 0.15}, {"blocking": False}], ids=str)
async def test_a_block_that_does_not_get_the_lock_raises_and_names_it(
    make: Maker, view: View, name: str, options: dict[str, Any]
) -> None:
    view("SET", name, "another owner")
    with pytest.raises(LockError, match="not acquired") as refused:
        async with make(name, **options):
            pytest.fail("the block began without the lock")
    assert refused.value.lock_name == name
    assert isinstance(refused.value, redis.exceptions.LockError)
    assert view("GET", name) == "another owner"


async def test_a_block_whose_lock_was_taken_away_raises_or_warns(
    make: Maker, view: View, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(LockNotOwnedError):
        async with make(name, timeout=10, blocking=False):
            view("SET", name, "a")
    view("DEL", name)
    with caplog.at_level(logging.WARNING, "redlatch"):
        async with make(name, timeout=10, raise_on_release_error=False):
            view("SET", name, "a")
    assert "a block ended without its lock" in caplog.text
    assert view("GET", name) == "a"


async def test_a_block_whose_lock_was_released_in_it_raises_or_warns(make: Maker, name: str) -> None:
    async with make(name, timeout=5, raise_on_release_error=False) as lock:
        await lock.release()
    with pytest.raises(LockError, match="not locked"):
        async with make(name, timeout=5) as lock:
            await lock.release()


async def test_a_lock_that_is_not_locked_or_not_owned_cannot_be_released(make: Maker, view: View, name: str) -> None:
    lock = make(name)
    with pytest.raises(LockError, match="not locked") as refused:
        await lock.release()
    assert not isinstance(refused.value, LockNotOwnedError)
    await lock.acquire(blocking=False)
    view("SET", name, "a")
    with pytest.raises(LockNotOwnedError):
        await lock.release()
    assert lock.local.token is None
    assert view("GET", name) == "a"


@pytest.mark.parametrize("more", [10, 10.5])
async def test_extending_adds_to_the_time_that_is_left_or_replaces_it(
    make: Maker, view: View, name: str, more: float
) -> None:
    lock = make(name, timeout=10)
    assert await lock.acquire(blocking=False)
    view("PEXPIRE", name, "7000")
    assert await lock.extend(more) is True
    assert 5000 + more * 1000 < ms(view, name) <= 7000 + more * 1000
    assert await lock.extend(30, replace_ttl=True) is True
    assert 28_000 < ms(view, name) <= 30_000
    view("PEXPIRE", name, "5000")
    assert await lock.reacquire() is True
    assert 8000 < ms(view, name) <= 10_000
    await lock.release()
    assert view("EXISTS", name) == 0


@pytest.mark.parametrize("prolong", [lambda lock: lock.extend(10), lambda lock: lock.reacquire()], ids=["extend", "re"])
async def test_a_lock_without_a_timeout_or_a_holder_cannot_be_prolonged(
    make: Maker, view: View, name: str, prolong: Any
) -> None:
    with pytest.raises(LockError, match="not locked"):
        await prolong(make(name, timeout=10))
    async with make(name) as endless:
        with pytest.raises(LockError, match="no timeout"):
            await prolong(endless)
    lock = make(name, timeout=10)
    assert await lock.acquire(blocking=False)
    view("SET", name, "a")
    with pytest.raises(LockNotOwnedError):
        await prolong(lock)


async def test_a_token_of_the_caller_or_of_another_process_is_left_to_redis_py(
    server: Server, view: View, name: str
) -> None:
    async def body(theirs: redis.asyncio.Redis) -> None:
        there, here = Lock(theirs, name, timeout=10), Lock(theirs, name, timeout=10)
        assert await there.acquire(token="test", blocking=False) is True
        assert (view("GET", name), there.local.token, await there.owned()) == ("test", b"test", True)
        assert await here.acquire(token=b"another", blocking=False) is False
        here.local.token = b"test"
        assert await here.extend(20, replace_ttl=True) is True
        assert 18_000 < ms(view, name) <= 20_000
        assert await here.reacquire() is True
        await here.release()
        assert view("EXISTS", name) == 0
        with pytest.raises(LockNotOwnedError):
            await there.release()

    await with_theirs(server, body)


async def test_a_failed_release_with_a_token_of_the_caller_is_made_again(server: Server, view: View, name: str) -> None:
    async with redis.asyncio.Redis.from_url(server.url, socket_timeout=0.2) as theirs:
        lock = Lock(theirs, name)
        assert await lock.acquire(token="test") is True
        server.pause()
        try:
            with pytest.raises(redis.exceptions.TimeoutError):
                await lock.release()
        finally:
            server.resume()
        assert lock.local.token == b"test"
        # The server may have carried the first one out meanwhile.
        with contextlib.suppress(LockNotOwnedError):
            await lock.release()
        assert (view("EXISTS", name), lock.local.token) == (0, None)


async def test_a_redlatch_client_refuses_a_token_of_the_caller(aio_client: aio.Client, view: View, name: str) -> None:
    with pytest.raises(redlatch.UnsupportedError, match="lock of a redis-py client"):
        await Lock(aio_client, name).acquire(token="test")
    assert view("EXISTS", name) == 0


async def test_it_excludes_the_real_lock_and_the_lock_for_threads(
    server: Server, client: redlatch.Client, name: str
) -> None:
    async def body(theirs: redis.asyncio.Redis) -> None:
        async with theirs.lock(name, timeout=5, lock_class=CLASS) as ours:
            assert isinstance(ours, Lock)
            assert not await theirs.lock(name).acquire(blocking=False)
            assert not redis_py.Lock(client, name).acquire(blocking=False)
        async with theirs.lock(name, timeout=5):
            assert not await Lock(theirs, name).acquire(blocking=False)

    await with_theirs(server, body)


async def test_a_cancelled_acquire_leaves_no_lock_behind(aio_client: aio.Client, view: View, name: str) -> None:
    for _ in range(50):
        acquiring = asyncio.create_task(Lock(aio_client, name).acquire())
        await asyncio.sleep(0)
        acquiring.cancel()
        with pytest.raises(asyncio.CancelledError):
            await acquiring
    async with Lock(aio_client, name, blocking_timeout=20):
        pass
    assert view("EXISTS", name) == 0


async def test_a_cancelled_release_is_carried_out(aio_client: aio.Client, name: str) -> None:
    for _ in range(20):
        lock = Lock(aio_client, name, timeout=60, blocking_timeout=20)
        assert await lock.acquire()
        releasing = asyncio.create_task(lock.release())
        await asyncio.sleep(0)
        releasing.cancel()
        await asyncio.wait([releasing])
    async with Lock(aio_client, name, blocking_timeout=20):
        pass


async def test_clients_of_redis_py_with_the_same_settings_share_a_client(server: Server) -> None:
    one, other = (redis.asyncio.Redis.from_url(server.url) for _ in range(2))
    assert FOR_TASKS.of(one) is FOR_TASKS.of(other)


@pytest.mark.parametrize("wrong", [lambda: redis.Redis(), lambda: "redis://localhost", lambda: None])
async def test_other_clients_are_refused(wrong: Callable[[], Any]) -> None:
    with pytest.raises(redlatch.UnsupportedError, match=r"give a redis\.asyncio\.Redis"):
        Lock(wrong(), "report")
