"""A wait does not keep the GIL, and any number of waiters of a client share one subscription."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import redlatch
from eventually import until_true
from redlatch import Client
from servers import Server
from view import View


def test_other_threads_run_while_the_main_thread_waits(client: Client, stranger: Client, view: View, name: str) -> None:
    hold = stranger.get_lock(name).lock()

    def release_once_a_thread_waits() -> None:
        until_true(lambda: view.listeners(name) == 1, "a thread that listens")
        hold.release()

    thread = threading.Thread(target=release_once_a_thread_waits)
    thread.start()
    mine = client.get_lock(name).try_lock(wait=20)
    thread.join()
    assert mine is not None, "the releasing thread needed the GIL meanwhile"
    mine.release()


def test_the_main_thread_runs_while_another_waits(
    client: Client, stranger: Client, view: View, thread: ThreadPoolExecutor, name: str
) -> None:
    hold = stranger.get_lock(name).lock()

    def lock_and_unlock() -> bool:
        mine = client.get_lock(name).try_lock(wait=20)
        if mine is not None:
            mine.release()
        return mine is not None

    waiting = thread.submit(lock_and_unlock)
    until_true(lambda: view.listeners(name) == 1, "a thread that listens")
    hold.release()
    assert waiting.result(timeout=60), "the releasing thread needed the GIL meanwhile"


def test_other_threads_run_during_a_round_trip(own_server: Server, thread: ThreadPoolExecutor, name: str) -> None:
    with redlatch.connect(own_server.url, response_timeout=3) as client, own_server.view() as view:
        lock = client.get_lock(name)
        lock.is_locked()
        view("CONFIG", "RESETSTAT")
        own_server.pause()
        asking = threading.Event()

        def ask() -> None:
            asking.set()
            lock.is_locked()

        answer = thread.submit(ask)
        asking.wait()
        # If the call kept the GIL, this line would run only after its time-out, and the call would be sent twice.
        own_server.resume()
        answer.result(timeout=20)
        assert "cmdstat_evalsha:calls=1," in str(view("INFO", "commandstats"))


def test_two_hundred_waiting_threads_share_one_subscription(
    client: Client, stranger: Client, view: View, name: str
) -> None:
    count = 200
    started = threading.Semaphore(0)
    done = 0

    def work(_: int) -> None:
        nonlocal done
        started.release()
        with client.get_lock(name, wait=60):
            done += 1

    hold = stranger.get_lock(name).lock()
    with ThreadPoolExecutor(count) as pool:
        results = pool.map(work, range(count))
        for _ in range(count):
            started.acquire()
        until_true(lambda: view.listeners(name) == 1, "a client that listens")
        connections = str(view("CLIENT", "LIST")).count("\n")
        assert connections <= 2 * 6 + 1
        assert done == 0
        hold.release()
        list(results)
    assert done == count
    until_true(lambda: view.listeners(name) == 0, "a subscription that is dropped")


def test_a_wait_that_is_given_up_leaves_nothing_behind(client: Client, stranger: Client, view: View, name: str) -> None:
    with stranger.get_lock(name):
        assert client.get_lock(name).try_lock(wait=0.1) is None
        until_true(lambda: view.listeners(name) == 0, "a subscription that is dropped")
    assert view("EXISTS", name) == 0


def test_closing_ends_the_wait_of_other_threads(
    server: Server, stranger: Client, thread: ThreadPoolExecutor, view: View, name: str
) -> None:
    client = redlatch.connect(server.url)
    with stranger.get_lock(name):
        waiting = thread.submit(client.get_lock(name).lock)
        until_true(lambda: view.listeners(name) == 1, "a thread that listens")
        client.close()
        assert isinstance(waiting.exception(timeout=10), redlatch.ClosedError)
