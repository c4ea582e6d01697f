"""`on_lost` calls a callback once, on one thread, and never after a release. `wait_lost` waits for the same events."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import redlatch
from eventually import until_true
from redlatch import Client, Hold, LockLostError
from servers import Server
from told import Told
from view import View


def lose(client: Client, view: View, name: str) -> Hold:
    """A hold whose loss its client will learn soon."""
    hold = client.get_lock(name).lock()
    view("DEL", name)
    return hold


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
    assert told.threads == ["redlatch-losses"]


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
    # The thread calls callbacks in order, so it would have called the first one before this one.
    lose(client, view, name).on_lost(last)
    last.reason()
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
    [args] = seen
    assert (args.exc_type, str(args.exc_value)) == (SystemExit, f"{name} is gone")
    assert args.thread is not None
    assert args.thread.name == "redlatch-losses"


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
    assert "threading.excepthook" in caplog.text


def test_a_callback_may_use_redlatch(client: Client, stranger: Client, view: View, name: str) -> None:
    again = Told()

    def take_again(hold: Hold, error: LockLostError) -> None:
        with stranger.get_lock(f"{name}:next", wait=5):
            hold.on_lost(again)
        hold.wait_lost()

    client.get_lock(name).lock().on_lost(take_again)
    view("DEL", name)
    assert again.reason() == "deleted"


def test_one_thread_calls_all_callbacks(client: Client, view: View, name: str) -> None:
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
    assert [thread.name for thread in threading.enumerate()].count("redlatch-losses") == 1


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
