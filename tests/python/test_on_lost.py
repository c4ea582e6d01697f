"""`on_lost` calls a callback once, beside others, and never after a release. `wait_lost` waits for the same events."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Callable

import pytest

import redlatch
from eventually import until_true
from program import run
from redlatch import Client, Hold, LockLostError
from servers import Server
from told import Told
from view import View

#: For how many seconds a callback blocks if its test does not end it: longer than any test.
LONG = 600


def lose(client: Client, view: View, name: str) -> Hold:
    """A hold whose loss its client will learn soon."""
    hold = client.get_lock(name).lock()
    view("DEL", name)
    return hold


def count(name: str) -> int:
    """How many threads of this name there are."""
    return [thread.name for thread in threading.enumerate()].count(name)


def count_callers() -> int:
    """How many threads call callbacks."""
    return count("redlatch-callback")


def test_a_callback_gets_the_hold_and_the_error(client: Client, view: View, name: str) -> None:
    told = Told()
    hold = client.get_lock(name).lock()
    hold.on_lost(told)
    view("DEL", name)
    told.reason()
    [(which, error)] = told.calls
    assert which is hold
    assert (type(error), error.name, error.code) == (LockLostError, name, "lost")
    assert f"`{name}` is lost" in str(error)
    assert told.threads == ["redlatch-callback"]


def test_a_callback_is_called_once_even_if_a_loss_is_noticed_in_two_ways(client: Client, view: View, name: str) -> None:
    told, later = Told(), Told()
    hold = client.get_lock(name).lock(lease=0.5)
    hold.on_lost(told)
    view("DEL", name)
    assert told.reason() == "deleted"
    with pytest.raises(LockLostError):
        hold.release()
    # The lease of the first hold ends before that of this one.
    client.get_lock(name).lock(lease=0.5).on_lost(later)
    later.reason()
    assert len(told.calls) == 1


def test_a_hold_may_have_many_callbacks(client: Client, view: View, name: str) -> None:
    callbacks = [Told() for _ in range(20)]
    hold = client.get_lock(name).lock()
    for told in callbacks:
        hold.on_lost(told)
    view("DEL", name)
    assert {told.reason() for told in callbacks} == {"deleted"}


def test_every_hold_of_a_reentrant_lock_learns_of_the_loss(client: Client, view: View, name: str) -> None:
    outer, inner = Told(), Told()
    lock = client.get_lock(name)
    lock.lock().on_lost(outer)
    lock.lock().on_lost(inner)
    view("DEL", name)
    assert {outer.reason(), inner.reason()} == {"deleted"}


def test_a_callback_that_is_added_after_the_loss_is_called_too(client: Client, view: View, name: str) -> None:
    told = Told()
    hold = lose(client, view, name)
    until_true(lambda: hold.lost, "the loss")
    hold.on_lost(told)
    assert told.reason() == "deleted"


def test_a_callback_that_is_added_after_the_client_was_closed_is_called_too(server: Server, name: str) -> None:
    told, never = Told(), Told()
    client = redlatch.connect(server.url)
    released = client.get_lock(f"{name}:released").lock()
    released.release()
    hold = client.get_lock(name).lock()
    client.close()
    released.on_lost(never)
    hold.on_lost(told)
    assert told.reason() == "closed"
    assert not never.calls


@pytest.mark.parametrize("way", ["release", "unlock", "with"])
def test_a_released_hold_calls_no_callback(client: Client, view: View, name: str, way: str) -> None:
    never, last = Told(), Told()
    lock = client.get_lock(name)
    if way == "with":
        with lock as hold:
            hold.on_lost(never)
    else:
        hold = lock.lock()
        hold.on_lost(never)
        if way == "release":
            hold.release()
        else:
            lock.unlock()
    hold.on_lost(never)
    view("DEL", name)
    # Callbacks begin in order, so the first one would have begun before this one.
    lose(client, view, name).on_lost(last)
    last.reason()
    until_true(lambda: count_callers() == 0, "the end of all callbacks")
    assert not never.calls


def test_a_callback_that_raises_does_not_stop_other_callbacks(
    client: Client, view: View, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", seen.append)
    told = Told()

    def fail(hold: Hold, error: LockLostError) -> None:
        raise SystemExit(f"{hold.name} is gone")

    hold = lose(client, view, name)
    hold.on_lost(fail)
    hold.on_lost(told)
    told.reason()
    until_true(lambda: len(seen) > 0, "the report of the exception")
    [args] = seen
    assert (args.exc_type, str(args.exc_value)) == (SystemExit, f"{name} is gone")
    assert args.thread is not None
    assert args.thread.name == "redlatch-callback"


def test_an_excepthook_that_raises_does_not_stop_other_callbacks(
    client: Client, view: View, name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    told = Told()

    def fail(*_: object) -> None:
        raise ValueError("no")

    monkeypatch.setattr(threading, "excepthook", fail)
    hold = lose(client, view, name)
    hold.on_lost(fail)
    hold.on_lost(told)
    told.reason()
    until_true(lambda: "threading.excepthook" in caplog.text, "the report of the exception")


def test_a_callback_may_use_redlatch(client: Client, stranger: Client, view: View, name: str) -> None:
    again, ended = Told(), threading.Event()

    def take_again(hold: Hold, error: LockLostError) -> None:
        with stranger.get_lock(f"{name}:next", wait=5):
            hold.on_lost(again)
        hold.wait_lost()
        ended.set()

    client.get_lock(name).lock().on_lost(take_again)
    view("DEL", name)
    assert again.reason() == "deleted"
    assert ended.wait(LONG)


def lose_many(
    client: Client, view: View, name: str, callbacks: Sequence[Callable[[Hold, LockLostError], object]]
) -> None:
    """Loses a hold for each of the callbacks. The losses become known one after the other, in this order."""
    for number, callback in enumerate(callbacks):
        hold = lose(client, view, f"{name}:{number}")
        until_true(lambda hold=hold: hold.lost, "the loss")  # type: ignore[misc]
        hold.on_lost(callback)


def test_a_callback_that_blocks_delays_no_other_one(client: Client, view: View, name: str) -> None:
    end, told = threading.Event(), [Told() for _ in range(5)]
    ended: list[bool] = []
    try:
        lose_many(client, view, name, [lambda hold, error: ended.append(end.wait(LONG)), *told])
        assert {each.reason() for each in told} == {"deleted"}
        assert not ended
    finally:
        end.set()


def test_64_callbacks_run_at_once_and_others_begin_when_these_end(client: Client, view: View, name: str) -> None:
    end, late = threading.Event(), [Told() for _ in range(10)]
    running: list[int] = []

    def block(hold: Hold, error: LockLostError) -> None:
        running.append(0)
        end.wait(LONG)

    try:
        lose_many(client, view, name, [*[block] * 64, *late])
        until_true(lambda: len(running) == 64, "64 callbacks that run")
        assert not any(told.calls for told in late)
    finally:
        end.set()
    assert {told.reason() for told in late} == {"deleted"}


def test_the_threads_of_callbacks_end_with_them(client: Client, view: View, name: str) -> None:
    def work(number: int) -> str | None:
        told = Told()
        hold = client.get_lock(f"{name}:{number}").lock()
        hold.on_lost(told)
        view_of_all("DEL", f"{name}:{number}")
        return told.reason()

    one_at_a_time = threading.Lock()

    def view_of_all(*words: str) -> None:
        with one_at_a_time:
            view(*words)

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(work, range(40))) == {"deleted"}
    until_true(lambda: count_callers() == 0, "the end of the threads")
    assert count("redlatch-losses") == 1


def test_a_callback_waits_while_the_system_gives_no_thread(
    client: Client, view: View, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, refused = Told(), threading.Event()
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name == "redlatch-callback":
            refused.set()
            raise RuntimeError("can't start new thread")
        start(thread)

    hold = client.get_lock(name).lock()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        hold.on_lost(told)
        view("DEL", name)
        assert refused.wait(20)
        assert not told.calls
    assert told.reason() == "deleted"


def test_callbacks_are_called_although_the_system_gives_no_thread_for_good(
    client: Client, view: View, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = [Told() for _ in range(20)]
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name == "redlatch-callback":
            raise RuntimeError("can't start new thread")
        start(thread)

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        lose_many(client, view, name, told)
        assert {each.reason() for each in told} == {"deleted"}
    assert {thread for each in told for thread in each.threads} == {"redlatch-losses"}
    later = Told()
    lose(client, view, name).on_lost(later)
    later.reason()
    assert later.threads == ["redlatch-callback"]


INTERRUPTED = """
import sys, threading, redlatch
lock = redlatch.connect(sys.argv[1]).get_lock(sys.argv[2])
hold, told, start = lock.lock(), threading.Event(), threading.Thread.start

def interrupt(thread):
    if thread.name == "redlatch-losses":
        threading.Thread.start = start
        if sys.argv[3] == "after":
            start(thread)
        raise KeyboardInterrupt
    start(thread)

threading.Thread.start = interrupt
try:
    hold.on_lost(lambda hold, error: None)
except KeyboardInterrupt:
    print("interrupted")
hold.on_lost(lambda hold, error: (print(error.reason), told.set()))
lock.force_unlock()
print(told.wait(20))
"""


@pytest.mark.parametrize("moment", ["before", "after"])
def test_ctrl_c_while_the_first_callback_is_added_loses_no_later_callback(
    server: Server, name: str, moment: str
) -> None:
    ended = run(INTERRUPTED, server.url, name, moment)
    assert (ended.stdout, ended.stderr) == ("interrupted\ndeleted\nTrue\n", "")


def test_a_callback_that_cannot_be_called_is_refused(client: Client, name: str) -> None:
    async def later(hold: Hold, error: LockLostError) -> None: ...

    with client.get_lock(name) as hold:
        with pytest.raises(redlatch.ConfigError, match=f"`{name}`"):
            hold.on_lost("telephone")  # type: ignore[arg-type]
        with pytest.raises(redlatch.UnsupportedError, match="plain function"):
            hold.on_lost(later)


def test_wait_lost_is_true_once_the_hold_is_lost(
    client: Client, view: View, thread: ThreadPoolExecutor, name: str
) -> None:
    hold = client.get_lock(name).lock()
    waiting = thread.submit(hold.wait_lost)
    view("DEL", name)
    assert waiting.result(timeout=20) is True
    assert hold.wait_lost() is True
    assert hold.wait_lost(0) is True


def test_wait_lost_is_false_when_its_time_is_over(client: Client, thread: ThreadPoolExecutor, name: str) -> None:
    with client.get_lock(name) as hold:
        for wait in (0, 0.01, 0.12):
            assert hold.wait_lost(wait) is False
            assert thread.submit(hold.wait_lost, wait).result(timeout=20) is False
        with pytest.raises(redlatch.ConfigError):
            hold.wait_lost(-1)


def test_wait_lost_is_false_when_the_hold_is_released(client: Client, name: str) -> None:
    hold = client.get_lock(name).lock()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(hold.wait_lost)
        hold.release()
        assert waiting.result(timeout=20) is False
    assert hold.wait_lost() is False


def test_wait_lost_is_true_when_the_client_is_closed(server: Server, thread: ThreadPoolExecutor, name: str) -> None:
    client = redlatch.connect(server.url)
    hold = client.get_lock(name).lock()
    waiting = thread.submit(hold.wait_lost)
    client.close()
    assert waiting.result(timeout=20) is True
    assert hold.wait_lost() is True


WATCHER = """
import sys, redlatch
client = redlatch.connect(sys.argv[1])
hold = client.get_lock(sys.argv[2]).lock()
try:
    print("waits", flush=True)
    hold.wait_lost()
except KeyboardInterrupt:
    print("left", hold.lost, flush=True)
    hold.release()
"""


def test_ctrl_c_ends_wait_lost_and_not_the_hold(server: Server, view: View, name: str) -> None:
    command = [sys.executable, "-c", WATCHER, server.url, name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "waits\n"
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "left False\n"
        assert child.wait(timeout=20) == 0
    assert view("EXISTS", name) == 0
