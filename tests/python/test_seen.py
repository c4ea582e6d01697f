"""The view of a caller: losses, second releases, waits, wrong arguments, and clients that the program dropped."""

from __future__ import annotations

import asyncio
import importlib.metadata
import itertools
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from queue import Queue
from types import FrameType
from typing import Any, Callable

import pytest

import redlatch
from eventually import until_true
from loops import run as run_in_a_loop
from program import run
from redlatch import Client, aio
from servers import Server
from view import View

PACKAGE = Path(redlatch.__file__).parent

has_notes = pytest.mark.skipif(sys.version_info < (3, 11), reason="notes of errors came with Python 3.11")


def notes(error: BaseException) -> list[str]:
    return list(error.__dict__["__notes__"])


def test_a_hold_stays_lost_after_its_block_and_after_its_release(client: Client, view: View, name: str) -> None:
    with pytest.raises(redlatch.LockLostError), client.lock(name) as hold:
        view("DEL", name)
        until_true(lambda: hold.lost, "the loss")
    assert (hold.lost, hold.lost_reason, hold.remaining) == (True, "deleted", 0.0)
    with pytest.raises(redlatch.LockLostError):
        hold.ensure()


async def test_a_hold_of_asyncio_stays_lost_after_its_block(aio_client: aio.AsyncClient, view: View, name: str) -> None:
    with pytest.raises(redlatch.LockLostError):
        async with aio_client.lock(name) as hold:
            view("DEL", name)
            await hold.wait_lost()
    assert (hold.lost, hold.lost_reason, hold.remaining) == (True, "deleted", 0.0)


def test_a_hold_stays_lost_if_only_its_release_learnt_of_the_loss(server: Server, view: View, name: str) -> None:
    with redlatch.connect(f"{server.url}?prefix=app:") as client:
        hold = client.lock(name).lock()
        view("DEL", f"app:{name}")
        with pytest.raises(redlatch.LockLostError):
            hold.release()
        assert (hold.lost, hold.lost_reason) == (True, "deleted")


def put(told: Queue[redlatch.Hold], hold: redlatch.Hold, error: redlatch.LockLostError) -> None:
    assert error.reason == "deleted"
    told.put(hold)


def test_a_callback_that_is_added_after_the_release_of_a_lost_hold_is_called(
    client: Client, view: View, name: str
) -> None:
    for lock in (client.lock(name), client.get_lock(name), client.get_multi_lock(client.lock(name))):
        hold = lock.lock()
        view("DEL", name)
        with pytest.raises(redlatch.LockLostError):
            hold.release()
        told = Queue[redlatch.Hold]()
        hold.on_lost(partial(put, told))
        assert told.get(timeout=20) is hold
        assert hold.wait_lost(0)
        with pytest.raises(redlatch.NotHeldError, match="released"):
            hold.release()


def tell(told: asyncio.Event, *_: object) -> None:
    told.set()


async def test_a_callback_of_asyncio_that_is_added_after_the_release_of_a_lost_hold_is_called(
    aio_client: aio.AsyncClient, view: View, name: str
) -> None:
    of_aio = aio_client
    for lock in (of_aio.lock(name), of_aio.get_lock(name), of_aio.get_multi_lock(of_aio.lock(name))):
        hold = await lock.lock()
        view("DEL", name)
        with pytest.raises(redlatch.LockLostError):
            await hold.release()
        told = asyncio.Event()
        hold.on_lost(partial(tell, told))
        await asyncio.wait_for(told.wait(), 20)
        assert await hold.wait_lost(0)
        assert hold.lost_reason == "deleted"


@has_notes
def test_the_error_of_a_body_gets_a_note_about_the_loss(client: Client, view: View, name: str) -> None:
    lock = client.get_lock(name)
    for block in (lambda: client.lock(name), lambda: lock, lock.lock):
        with pytest.raises(KeyError) as failed, block():
            view("DEL", name)
            raise KeyError("the body")
        (note,) = notes(failed.value)
        assert f"`{name}` is lost" in note


@has_notes
async def test_the_error_of_a_body_of_asyncio_gets_a_note_about_the_loss(
    aio_client: aio.AsyncClient, view: View, name: str
) -> None:
    for block in (aio_client.lock(name), aio_client.get_lock(name)):
        with pytest.raises(KeyError) as failed:
            async with block:
                view("DEL", name)
                raise KeyError("the body")
        (note,) = notes(failed.value)
        assert f"`{name}` is lost" in note


@has_notes
async def test_the_error_of_a_body_gets_a_note_about_a_permit_that_is_not_held(
    client: Client, aio_client: aio.AsyncClient, view: View, name: str
) -> None:
    semaphore = client.get_permit_expirable_semaphore(name)
    of_aio = aio_client.get_permit_expirable_semaphore(name)
    semaphore.try_set_permits(1)
    with pytest.raises(KeyError) as failed, semaphore.acquire() as permit:
        semaphore.release(permit)
        raise KeyError("the body")
    assert len(notes(failed.value)) == 1
    with pytest.raises(KeyError) as failed:
        async with await of_aio.acquire() as theirs:
            await of_aio.release(theirs)
            raise KeyError("the body")
    assert len(notes(failed.value)) == 1


def test_acquire_waits_for_the_locks_own_wait(client: Client, stranger: Client, name: str) -> None:
    with stranger.lock(name):
        for lock in (client.get_lock(name, wait=0.05), client.lock(name, wait=0.05)):
            with pytest.raises(redlatch.NotAcquiredError):
                lock.acquire()
            assert lock.acquire(timeout=0.05) is None
        assert client.get_lock(name, wait=60).acquire(timeout=0.05) is None


async def test_acquire_of_asyncio_waits_for_the_locks_own_wait(
    aio_client: aio.AsyncClient, stranger: Client, name: str
) -> None:
    with stranger.get_lock(name, owner=5):
        for lock in (aio_client.get_lock(name, wait=0.05), aio_client.lock(name, wait=0.05)):
            with pytest.raises(redlatch.NotAcquiredError):
                await lock.acquire()
            assert await lock.acquire(timeout=0.05) is None


@pytest.mark.parametrize("kind", ["get_semaphore", "get_permit_expirable_semaphore"])
def test_the_first_acquire_sets_the_permits_and_a_later_one_waits_in_vain(client: Client, kind: str, name: str) -> None:
    semaphore = getattr(client, kind)(name, permits=2, wait=0.05)
    semaphore.acquire()
    semaphore.acquire()
    assert semaphore.available_permits() == 0
    with pytest.raises(redlatch.NotAcquiredError, match=f"`{name}`"):
        semaphore.acquire()
    again = getattr(client, kind)(name, permits=5, wait=0)  # changes nothing, because the permits are set
    with pytest.raises(redlatch.NotAcquiredError):
        again.acquire()


@pytest.mark.parametrize("kind", ["get_semaphore", "get_permit_expirable_semaphore"])
def test_two_threads_may_both_be_the_first_to_acquire(
    client: Client, thread: ThreadPoolExecutor, kind: str, name: str
) -> None:
    met = True
    line = 0
    while met:
        met = meet_at(line, getattr(client, kind)(f"{name}:{line}", permits=2, wait=20), thread)
        line += 1
    assert line > 5


def meet_at(line: int, semaphore: Any, thread: ThreadPoolExecutor) -> bool:
    """Acquires, and makes the other thread acquire before this one reaches that line of the package.

    Returns False if the acquire runs through fewer lines.
    """
    lines = itertools.count()
    met = False

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal met
        if event == "line" and Path(frame.f_code.co_filename).parent == PACKAGE and next(lines) == line:
            met = True
            thread.submit(semaphore.acquire).result(20)
        return trace

    sys.settrace(trace)
    try:
        semaphore.acquire()
    finally:
        sys.settrace(None)
    assert semaphore.available_permits() == (0 if met else 1)
    return met


@pytest.mark.parametrize("kind", ["get_semaphore", "get_permit_expirable_semaphore"])
async def test_the_first_acquire_of_asyncio_sets_the_permits_and_a_later_one_waits_in_vain(
    aio_client: aio.AsyncClient, kind: str, name: str
) -> None:
    semaphore = getattr(aio_client, kind)(name, permits=1, wait=0.05)
    await semaphore.acquire()
    with pytest.raises(redlatch.NotAcquiredError, match=f"`{name}`"):
        await semaphore.acquire()


def test_a_block_of_a_semaphore_raises_when_its_wait_ends(client: Client, name: str) -> None:
    one, other = client.get_semaphore(name, permits=1, wait=5), client.get_semaphore(name, wait=0.05)
    with one, pytest.raises(redlatch.NotAcquiredError), other:
        raise AssertionError("a block began without a permit")
    assert client.get_semaphore(name).available_permits() == 1


async def test_a_block_of_a_semaphore_of_asyncio_raises_when_its_wait_ends(
    aio_client: aio.AsyncClient, name: str
) -> None:
    async with aio_client.get_semaphore(name, permits=1, wait=5):
        with pytest.raises(redlatch.NotAcquiredError):
            async with aio_client.get_semaphore(name, wait=0.05):
                raise AssertionError("a block began without a permit")
    assert await aio_client.get_semaphore(name).available_permits() == 1


def test_the_error_of_a_second_release_says_that_it_was_released(client: Client, name: str) -> None:
    hold = client.lock(name).lock()
    hold.release()
    for ask in (hold.release, hold.ensure):
        with pytest.raises(redlatch.NotHeldError, match=f"`{name}` was released already by this hold"):
            ask()


async def test_the_error_of_a_second_release_of_asyncio_says_that_it_was_released(
    aio_client: aio.AsyncClient, name: str
) -> None:
    hold = await aio_client.lock(name).lock()
    await hold.release()
    with pytest.raises(redlatch.NotHeldError, match=f"`{name}` was released already by this hold"):
        await hold.release()


def test_every_error_has_the_name_without_the_prefix(server: Server, view: View, name: str) -> None:
    told: list[redlatch.RedlatchError] = []

    def tell(call: Callable[[], object]) -> None:
        with pytest.raises(redlatch.RedlatchError) as raised:
            call()
        told.append(raised.value)

    with redlatch.connect(server.url, prefix="app:") as client:
        hold = client.lock(name).lock()
        tell(client.lock(name, wait=0).lock)
        tell(client.get_lock(name).unlock)
        view("DEL", f"app:{name}")
        tell(hold.release)
        with client.get_non_reentrant_lock(name) as kept:
            tell(client.get_non_reentrant_lock(name).lock)
        tell(kept.release)
        view("SET", f"app:{name}", "of another kind")
        tell(client.get_lock(name).try_lock)
        view("DEL", f"app:{name}")
    for error in told:
        assert f"`{name}`" in str(error), repr(error)
        assert "app:" not in str(error), repr(error)
        assert error.name == name


WRONG: list[Callable[[Any], object]] = [
    lambda client: client.get_lock(5),
    lambda client: client.lock(b"bytes"),
    lambda client: client.get_lock("n", wait="5"),
    lambda client: client.lock("n", lease=True),
    lambda client: client.get_lock("n", owner="me"),
    lambda client: client.get_semaphore("n", permits="3"),
    lambda client: client.get_multi_lock("n"),
    lambda client: client.set_credentials(5),
    lambda client: client.lock("n")(5),
    lambda _: redlatch.connect(5),  # type: ignore[arg-type]
    lambda _: redlatch.connect("redis://h", tls="ca.pem"),  # type: ignore[arg-type]
    lambda _: redlatch.connect("redis://h", sync="wait"),  # type: ignore[arg-type]
    lambda _: redlatch.connect("redis://h", quarantine=1),  # type: ignore[arg-type]
    lambda _: redlatch.connect(config=5),  # type: ignore[arg-type]
    lambda _: aio.connect(5),  # type: ignore[arg-type]
    lambda _: redlatch.Client("redis://h"),
    lambda _: aio.Client("redis://h"),
]


@pytest.mark.parametrize("call", WRONG, ids=range(len(WRONG)))
def test_an_argument_of_a_wrong_type_is_a_type_error_for_every_client(
    client: Client, aio_client: aio.AsyncClient, call: Callable[[Any], object]
) -> None:
    for of in (client, aio_client):
        with pytest.raises(TypeError) as raised:
            call(of)
        assert isinstance(raised.value, redlatch.ConfigError)


def test_a_value_out_of_range_is_not_a_type_error(client: Client) -> None:
    with pytest.raises(redlatch.ConfigError) as raised:
        client.get_lock("n", wait=-1)
    assert not isinstance(raised.value, TypeError)


def test_a_refused_call_of_a_client_class_does_not_keep_the_locks_of_other_clients(
    own_server: Server, name: str
) -> None:
    ended = run(
        "import sys, redlatch\n"
        "client = redlatch.connect(sys.argv[1])\n"
        "hold = client.lock(sys.argv[2]).lock()\n"
        "try: redlatch.Client(sys.argv[1])\n"
        "except redlatch.ConfigError as error: print(error)\n",
        own_server.url,
        name,
    )
    assert "redlatch.connect(url)" in ended.stdout
    assert ended.stderr == ""
    with own_server.view() as view:
        assert view("KEYS", "*") == []


def threads() -> int:
    return len(os.listdir("/proc/self/task"))


def test_a_client_per_call_leaves_no_thread_and_no_connection(own_server: Server, name: str) -> None:
    with own_server.view() as view:
        before = threads()
        for _ in range(30):
            with redlatch.connect(own_server.url).lock(name):
                pass
        until_true(lambda: threads() <= before + 1, "the end of the clients' threads")
        until_true(lambda: len(str(view("CLIENT", "LIST")).splitlines()) == 1, "the end of the clients' connections")
        assert view("EXISTS", name) == 0


async def one_acquire(url: str, name: str) -> None:
    async with aio.connect(url).lock(name):
        pass


def test_a_client_of_asyncio_per_call_leaves_no_thread(own_server: Server, name: str) -> None:
    before = threads()
    for _ in range(30):
        run_in_a_loop(one_acquire(own_server.url, name))
    until_true(lambda: threads() <= before + 1, "the end of the clients' threads")


def test_a_client_that_the_program_dropped_renews_its_holds(own_server: Server, name: str) -> None:
    hold = redlatch.connect(own_server.url, watchdog=6).lock(name).lock()
    first = hold.deadline
    with own_server.view() as view:
        until_true(lambda: hold.deadline > first + 1, "a renewal")
        hold.ensure()
        hold.release()
        assert view("EXISTS", name) == 0


def test_the_version_is_that_of_the_package() -> None:
    assert redlatch.__version__ == importlib.metadata.version("redlatch")


def test_red_locks_with_many_different_options_leave_few_threads(own_server: Server, name: str) -> None:
    before = threads()
    for watchdog in range(20, 120):
        with redlatch.red_lock([own_server.url], name, watchdog=watchdog):
            pass
    until_true(lambda: threads() <= before + 50, "the end of the clients' threads")


async def take_red_locks(url: str, name: str) -> None:
    for watchdog in range(20, 120):
        async with aio.red_lock([url], name, watchdog=watchdog):
            pass


def test_red_locks_of_asyncio_with_many_different_options_leave_few_threads(own_server: Server, name: str) -> None:
    before = threads()
    run_in_a_loop(take_red_locks(own_server.url, name))
    until_true(lambda: threads() <= before + 50, "the end of the clients' threads")


def test_a_red_lock_keeps_its_clients_while_others_with_different_options_come(server: Server, name: str) -> None:
    lock = redlatch.red_lock([server.url], name)
    with lock as hold:
        for watchdog in range(20, 120):
            redlatch.red_lock([server.url], name, watchdog=watchdog)
        hold.ensure()
        # The other red lock has the same owner, so it does not wait.
        with redlatch.red_lock([server.url], name, wait=0):
            assert lock.hold_count() == 2
    assert not lock.is_locked()


def test_the_error_of_a_loss_has_the_programs_lock_name_even_if_it_begins_with_the_prefix(
    server: Server, view: View, name: str
) -> None:
    with redlatch.connect(server.url, prefix="app:") as client:
        hold = client.get_lock("app:" + name).lock()
        view("DEL", "app:app:" + name)
        assert hold.wait_lost(20)
        with pytest.raises(redlatch.LockLostError, match=f"`app:{name}` is lost"):
            hold.release()


def test_a_hold_of_a_multi_lock_stays_lost_after_its_release(client: Client, view: View, name: str) -> None:
    lock = client.get_multi_lock(client.get_lock(name + ":a"), client.get_lock(name + ":b"))
    hold = lock.lock()
    view("DEL", name + ":a")
    assert hold.wait_lost(20)
    with pytest.raises(redlatch.LockLostError):
        lock.unlock()
    assert hold.lost
    assert hold.lost_reason is not None
    with pytest.raises(redlatch.NotHeldError, match="already"):
        hold.release()
