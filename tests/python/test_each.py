"""Locks where each acquire is an owner: which hold a release or the end of a block ends, on any thread."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from typing import Any, Callable

import pytest

import redlatch
from callers import in_a_loop, in_a_thread
from eventually import until_true
from kinds import LOCKS
from redlatch import EACH, Client, Hold, self_waits
from view import View


@pytest.mark.parametrize("get", LOCKS)
def test_every_acquire_excludes_every_other_one_in_the_same_thread_too(client: Client, name: str, get: str) -> None:
    lock = getattr(client, get)(name, owner=EACH)
    with lock as hold:
        assert lock.try_lock() is None
        assert getattr(client, get)(name, owner=EACH).try_lock() is None
        assert hold.remaining > 0
    assert not lock.is_locked()


def test_a_multi_lock_of_such_locks_has_an_owner_for_each_acquire_too(client: Client, name: str) -> None:
    both = client.get_multi_lock(client.lock(f"{name}:a"), client.lock(f"{name}:b"))
    with both as hold:
        assert both.try_lock() is None
        assert client.get_multi_lock(client.lock(f"{name}:b")).try_lock() is None
        hold.ensure()
    with client.get_multi_lock(client.lock(f"{name}:a"), client.get_lock(f"{name}:b")) as outer:
        assert outer.owner == client.get_lock(name).lock().owner
    client.get_lock(name).release()


def test_one_of_many_threads_gets_the_lock(client: Client, name: str) -> None:
    lock = client.lock(name)
    with ThreadPoolExecutor(4) as pool:
        holds = [hold for hold in pool.map(lambda _: lock.try_lock(), range(4)) if hold is not None]
    assert len(holds) == 1
    lock.release()
    assert not lock.is_locked()


def test_a_release_ends_the_callers_own_latest_hold_first(
    client: Client, thread: ThreadPoolExecutor, name: str
) -> None:
    readers = client.get_read_write_lock(name, owner=EACH).read_lock
    mine = [readers.lock(), readers.lock()]
    theirs = thread.submit(readers.lock).result()
    readers.release()
    assert [hold.remaining > 0 for hold in (*mine, theirs)] == [True, False, True]
    thread.submit(readers.release).result()
    assert [hold.remaining > 0 for hold in (*mine, theirs)] == [True, False, False]
    readers.release()
    assert not readers.is_locked()


def test_a_release_that_finds_a_lost_hold_raises_and_releases_nothing(
    client: Client, thread: ThreadPoolExecutor, view: View, name: str
) -> None:
    lock = client.lock(name)
    lost = lock.lock()
    view("DEL", name)
    assert lost.wait_lost(20)
    later = thread.submit(lock.lock).result()
    with pytest.raises(redlatch.LockLostError):
        lock.release()
    later.ensure()
    # The second release of the same thread ends the only hold that is open.
    lock.release()
    assert not lock.is_locked()


def test_a_release_by_another_caller_finds_a_lost_hold_before_an_open_one(
    client: Client, thread: ThreadPoolExecutor, view: View, name: str
) -> None:
    lock = client.lock(name)
    lost = thread.submit(lock.lock).result()
    view("DEL", name)
    assert lost.wait_lost(20)
    with ThreadPoolExecutor(1) as other:
        later = other.submit(lock.lock).result()
        with pytest.raises(redlatch.LockLostError):
            lock.release()
        later.ensure()
        lock.release()
    assert not lock.is_locked()


@pytest.mark.parametrize("get", LOCKS)
def test_any_thread_releases_the_only_open_hold(
    client: Client, thread: ThreadPoolExecutor, name: str, get: str
) -> None:
    lock = getattr(client, get)(name, owner=EACH)
    lock.acquire()
    thread.submit(lock.release).result()
    assert not lock.is_locked()
    with pytest.raises(redlatch.NotHeldError, match="is not held through this lock object"):
        lock.release()


def test_another_thread_never_releases_a_readers_hold(client: Client, thread: ThreadPoolExecutor, name: str) -> None:
    readers = client.get_read_write_lock(name, owner=EACH).read_lock
    hold = readers.lock()
    with pytest.raises(redlatch.NotHeldError, match="is not held through this lock object"):
        thread.submit(readers.release).result()
    hold.ensure()
    with hold:
        pass
    assert not readers.is_locked()


def test_another_object_of_the_same_name_releases_nothing(client: Client, name: str) -> None:
    with client.lock(name) as hold:
        with pytest.raises(redlatch.NotHeldError, match="is not held through this lock object"):
            client.lock(name).release()
        hold.ensure()


def test_a_release_never_ends_the_hold_of_a_block_nor_a_block_that_of_an_acquire(client: Client, name: str) -> None:
    readers = client.get_read_write_lock(name, owner=EACH).read_lock
    with readers as of_block:
        with pytest.raises(redlatch.NotHeldError):
            readers.release()
        taken = readers.lock()
    assert of_block.remaining == 0
    taken.ensure()
    readers.release()


def test_an_objects_holds_are_counted_and_no_thread_is_the_owner(client: Client, name: str) -> None:
    lock = client.lock(name)
    assert lock.hold_count() == 0
    with lock:
        assert (lock.hold_count(), client.lock(name).hold_count()) == (1, 0)
        with pytest.raises(redlatch.UnsupportedError, match="each acquire is an owner of its own"):
            lock.is_held_by_current_thread()
    assert lock.hold_count() == 0


def test_a_release_of_the_lock_never_ends_a_hold_that_was_released_by_itself(client: Client, name: str) -> None:
    lock = client.lock(name)
    for _ in range(50):
        lock.lock().release()
    with pytest.raises(redlatch.NotHeldError):
        lock.release()
    lock.lock()
    lock.release()


@pytest.mark.parametrize("get", ["lock", "get_lock"])
def test_a_block_that_ends_on_another_thread_releases_its_hold(
    client: Client, thread: ThreadPoolExecutor, view: View, name: str, get: str
) -> None:
    def under_the_lock() -> Iterator[None]:
        with getattr(client, get)(name):
            yield

    for _ in range(10):
        generator = under_the_lock()
        next(generator)
        assert view("EXISTS", name) == 1
        thread.submit(next, generator, None).result()
        assert view("EXISTS", name) == 0


@pytest.mark.parametrize("get", ["lock", "get_lock"])
def test_blocks_of_one_object_on_many_threads_end_their_own_holds(client: Client, name: str, get: str) -> None:
    readers = client.get_read_write_lock(name, owner=EACH if get == "lock" else None).read_lock
    inside = threading.Barrier(4)

    def work(_: int) -> bool:
        with readers as hold:
            inside.wait(20)
            hold.ensure()
            inside.wait(20)
        return hold.lost

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [False] * 4
    assert not readers.is_locked()


def test_a_thread_whose_loop_runs_is_no_owner(client: Client, view: View, name: str) -> None:
    lock = client.get_lock(name)
    for call in (lock.lock, lock.try_lock, lock.acquire, lock.__enter__):
        with pytest.raises(redlatch.UnsupportedError, match=r"client\.lock\(…\), or await a lock of redlatch\.aio"):
            in_a_loop(call)
    assert view("EXISTS", name) == 0


def test_an_acquire_in_a_loop_takes_a_free_lock_and_never_waits(client: Client, stranger: Client, name: str) -> None:
    lock = client.lock(name, wait=600)
    in_a_loop(lock.lock).release()
    with stranger.lock(name):
        for call in (lock.lock, lambda: lock.try_lock(wait=5), lock.__enter__):
            with pytest.raises(redlatch.UnsupportedError, match="would stop the event loop of this thread"):
                in_a_loop(call)
        assert in_a_loop(lock.try_lock) is None


def test_a_decorated_call_inside_itself_is_an_error_at_once(client: Client, name: str) -> None:
    entered: list[int] = []

    @client.lock(name + ":{number}")
    def outer(number: int, inner: int) -> None:
        entered.append(number)
        if inner >= 0:
            outer(inner, -1)

    with pytest.raises(
        redlatch.AlreadyHeldError, match=r"it would wait for itself; call the function without its lock"
    ):
        outer(1, 1)
    outer(1, 2)
    assert entered == [1, 1, 2]
    assert not client.lock(name + ":1").is_locked()


def test_a_decorated_call_that_a_signal_interrupts_does_not_block_a_later_call(client: Client, name: str) -> None:
    lock = client.lock(name, wait=20)

    @lock
    def job() -> str:
        return "done"

    # The exception of a signal handler can come between the call and its block, or at the end of the block.
    call = self_waits.one_call(lock, job)
    call.__enter__()
    with pytest.raises(redlatch.AlreadyHeldError):
        job()
    del call
    assert job() == "done"


def test_a_thread_that_waits_for_its_own_hold_is_warned_of_it(client: Client, name: str) -> None:
    with client.lock(name), pytest.raises(RuntimeWarning, match=rf"this thread has waited 5 s at .*{__file__}:\d+ in "):
        client.lock(name).lock(wait=20)
    assert not client.lock(name).is_locked()


def test_in_development_mode_the_warning_says_where_the_hold_was_taken(server: Any, name: str) -> None:
    text = f"""
import redlatch, warnings
client = redlatch.connect({server.url!r})
def takes():
    return client.lock({name!r}).lock()
hold = takes()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert client.lock({name!r}).try_lock(wait=6) is None
print([str(warning.message) for warning in caught])
hold.release()
"""
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", text], capture_output=True, text=True, timeout=60, check=False
    )
    assert " in takes" in done.stdout, done.stderr


def test_a_thread_that_waits_for_others_is_not_warned(client: Client, stranger: Client, name: str) -> None:
    with stranger.lock(name), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert client.lock(name).try_lock(wait=6) is None


@contextmanager
def told_of(name: str) -> Iterator[list[str]]:
    """The warnings of holds that nothing can release any more."""
    told: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield told
        gc.collect()
        told += [str(w.message) for w in caught if w.category is ResourceWarning and f"`{name}`" in str(w.message)]


class Inside:
    """Counts how many callers are inside at the same time."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._now = self.most = 0

    def __enter__(self) -> None:
        with self._mutex:
            self._now += 1
            self.most = max(self.most, self._now)

    def __exit__(self, *_: object) -> None:
        with self._mutex:
            self._now -= 1


def test_a_hold_of_a_thread_that_is_gone_is_not_renewed_any_more(server: Any, view: View, name: str) -> None:
    with redlatch.connect(server.url, watchdog=1) as client:
        with told_of(name) as told:
            in_a_thread(lambda: client.get_lock(name).lock())
        assert len(told) == 1
        assert client.id in told[0]
        until_true(lambda: view("EXISTS", name) == 0, "the end of its lease")


def test_a_hold_without_a_thread_or_object_is_not_renewed_any_more(server: Any, view: View, name: str) -> None:
    with redlatch.connect(server.url, watchdog=1) as client:
        with told_of(name) as told:
            client.lock(name).lock()
        assert len(told) == 1
        until_true(lambda: view("EXISTS", name) == 0, "the end of its lease")


TAKES: dict[str, Callable[[redlatch.Lock], object]] = {
    "lock": lambda readers: readers.lock(),
    "a stack": lambda readers: ExitStack().enter_context(readers),
}


@pytest.mark.parametrize("take", TAKES)
def test_a_readers_hold_of_a_thread_that_is_gone_is_not_renewed_any_more(
    server: Any, view: View, name: str, take: str
) -> None:
    with redlatch.connect(server.url, watchdog=1) as client:
        readers = client.get_read_write_lock(name, owner=EACH).read_lock
        in_a_thread(lambda: TAKES[take](readers))
        with told_of(name) as told, readers:
            pass
        assert len(told) == 1
        until_true(lambda: view("EXISTS", name) == 0, "the end of its lease")


def test_a_readers_hold_is_renewed_while_its_generator_lives_although_its_thread_is_gone(
    server: Any, name: str
) -> None:
    def reading(readers: redlatch.Lock) -> Iterator[Hold]:
        with readers as hold:
            yield hold

    with redlatch.connect(server.url, watchdog=1) as client:
        readers = client.get_read_write_lock(name, owner=EACH).read_lock
        generator = reading(readers)
        in_a_thread(lambda: next(generator))
        with told_of(name) as told, readers:
            pass
        assert told == []
        assert readers.hold_count() == 1
        next(generator, None)
        assert not readers.is_locked()


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="objects go when their last name goes")
def test_a_hold_that_a_thread_or_an_object_can_still_release_is_renewed(server: Any, name: str) -> None:
    with redlatch.connect(server.url, watchdog=1) as client:
        kept: list[Hold] = []
        lock = client.lock(f"{name}:lock")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            in_a_thread(lambda: kept.append(client.get_lock(f"{name}:hold").lock()))
            in_a_thread(lambda: lock.lock())
            in_a_thread(lambda: client.get_lock(f"{name}:given", owner=7).lock())
            client.get_lock(f"{name}:own").lock()
            gc.collect()
        kept[0].ensure()
        kept[0].release()
        lock.release()
        client.get_lock(f"{name}:given", owner=7).release()
        client.get_lock(f"{name}:own").release()


def test_a_thread_that_missed_never_ends_the_hold_of_another_thread(client: Client, name: str) -> None:
    lock = client.lock(name)
    inside = Inside()
    told: list[tuple[bool, bool]] = []

    def job(_: int) -> None:
        for _ in range(20):
            got = None
            try:
                got = lock.acquire(timeout=0.005)
                if got:
                    with inside:
                        time.sleep(0.01)
            finally:
                try:
                    lock.release()
                    told.append((got is not None, True))
                except redlatch.NotHeldError:
                    told.append((got is not None, False))

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(job, range(6)))
    assert (inside.most, {got == released for got, released in told}) == (1, {True})
    assert {got for got, _ in told} == {True, False}
    assert not lock.is_locked()


def lock_in_vain(lock: redlatch.Lock) -> None:
    with pytest.raises(redlatch.NotAcquiredError):
        lock.lock(wait=0)


MISSES: dict[str, Callable[[redlatch.Lock], object]] = {
    "acquire": lambda lock: lock.acquire(False),
    "acquire with a time-out": lambda lock: lock.acquire(timeout=0.01),
    "try_lock": lambda lock: lock.try_lock(),
    "lock": lock_in_vain,
}


@pytest.mark.parametrize("miss", MISSES)
def test_a_release_after_a_miss_releases_nothing(
    client: Client, thread: ThreadPoolExecutor, name: str, miss: str
) -> None:
    lock = client.lock(name)
    hold = thread.submit(lock.lock).result()
    MISSES[miss](lock)
    with pytest.raises(redlatch.NotHeldError, match="got nothing"):
        lock.release()
    hold.ensure()
    # The next release may mean the hold of the other thread.
    lock.release()
    assert not lock.is_locked()


def test_a_miss_of_one_request_does_not_stop_another_request_of_the_thread_from_a_release(
    client: Client, thread: ThreadPoolExecutor, name: str
) -> None:
    lock = client.lock(name)
    thread.submit(lock.lock).result()
    # `asyncio.to_thread` and the thread pools of Starlette and asgiref call in such a context.
    assert copy_context().run(lock.try_lock) is None
    copy_context().run(lock.release)
    assert not lock.is_locked()


def test_an_acquire_that_got_the_lock_ends_the_effect_of_an_earlier_miss(
    client: Client, thread: ThreadPoolExecutor, name: str
) -> None:
    lock = client.lock(name)
    with client.lock(name):
        assert lock.try_lock() is None
    lock.lock().release()
    thread.submit(lock.lock).result()
    lock.release()
    assert not lock.is_locked()


def test_a_miss_of_one_thread_does_not_take_the_report_of_a_loss_from_another_thread(
    client: Client, thread: ThreadPoolExecutor, name: str
) -> None:
    lock = client.lock(name)
    lost = thread.submit(lock.lock).result()
    client.lock(name).force_unlock()
    assert lost.wait_lost(20)
    with ThreadPoolExecutor(1) as other:
        later = other.submit(lock.lock).result()
        assert lock.try_lock() is None
        with pytest.raises(redlatch.NotHeldError, match="got nothing"):
            lock.release()
        with pytest.raises(redlatch.LockLostError):
            thread.submit(lock.release).result()
        later.ensure()
        other.submit(lock.release).result()
    assert not lock.is_locked()
